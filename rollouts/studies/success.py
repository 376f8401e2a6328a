"""Success in the studies: k of n with Wilson intervals, and paired differences with bootstrap intervals.

A point is only worth something beside another of the same worlds: an episode counts in a study if every arm
of it was played in its world by its planner, and the infrastructure ended none of them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from pathlib import Path
from typing import Final

import polars as pl

from rollouts.differences import difference
from rollouts.evaluation import NOBODY
from rollouts.rates import INFRASTRUCTURE_END, counted, pairs_of, together, weighted
from rollouts.report.success import Compared
from rollouts.studies.plan import WITHOUT, StudyPlan, filed_as
from rollouts.studies.playing import episodes_with
from warehouse.tasks import Suite

COLD_START: Final = "cold_start"
TOGETHER: Final = "all groups"
_KEY: Final = ["task_id", "world_seed", "planner_seed"]
_INTEGERS: Final = ("tasks", "k", "n", "excluded", "other_k", "only_first", "only_second", "episodes")
_WORDS: Final = ("name", "build", "curriculum", "other", "of", "drawn", "effect")


@dataclass(frozen=True)
class Asked:
    """Arms on the worlds that they have in common: arm -> its episodes. `excluded` worlds were asked and are
    in no arm, since one of them lacks them or the infrastructure ended it there."""

    arms: Mapping[str, pl.DataFrame]
    group_of: Mapping[str, str]
    excluded: int

    def compared(self, name: str, first: str, second: str, groups: Iterable[str] = ()) -> Compared:
        """`first` against `second` in these groups (all of them by default). As columns, `frozen` is the
        first and `empty` the second."""
        return self.over(name, [first], second, groups)

    def over(self, name: str, firsts: Iterable[str], second: str, groups: Iterable[str] = ()) -> Compared:
        """Several arms, each against `second`, and all of their pairs together."""
        pairs = pl.concat(
            pairs_of(_same_config(self.arms[first]), _same_config(self.arms[second])) for first in firsts
        ).with_columns(group=pl.col("task_id").replace_strict(self.group_of, return_dtype=pl.String))
        wanted = list(groups)
        if wanted:
            pairs = pairs.filter(pl.col("group").is_in(wanted))
        held = pairs.group_by("group").agg(tasks=pl.col("task_id").n_unique().cast(pl.Int64)).sort("group")
        tasks = dict(held.iter_rows())
        parts = {group: counted(pairs.filter(pl.col("group") == group)) for group in tasks}
        first, other = (
            weighted((getattr(part, arm).share, tasks[group]) for group, part in parts.items())
            for arm in ("frozen", "empty")
        )
        return Compared(
            name=name,
            tasks=sum(tasks.values()),
            pairs=together(parts.values()),
            empty=other,
            frozen=first,
            gain=difference(pairs, tasks),
            members=tuple(tasks) if len(tasks) > 1 else (),
        )


def asked(own: Path, arms: Mapping[str, str], tasks: Iterable[str], suite: Suite) -> Asked:
    """The stored arms (name -> what its episodes are filed as) in these tasks."""
    wanted = list(tasks)
    held = {name: episodes_with(own, filed, wanted) for name, filed in arms.items()}
    whole = [
        frame.filter(pl.col("end_reason").cast(pl.String) != INFRASTRUCTURE_END) for frame in held.values()
    ]
    common = reduce(
        lambda known, frame: known.join(frame.select(_KEY), on=_KEY, how="semi"), whole, whole[0].select(_KEY)
    )
    # The first arm may have been asked in more worlds, for another study of the same tasks.
    narrowest = min(frame.height for frame in held.values())
    return Asked(
        {name: frame.join(common, on=_KEY, how="semi") for name, frame in held.items()},
        {task.id: task.group for task in suite.tasks if task.id in wanted},
        narrowest - common.height,
    )


def accumulation(own: Path, plan: StudyPlan, suite: Suite) -> pl.DataFrame:
    """One row per checkpoint and group, and for all groups together, M = 0 first: `name`, `episodes` (M),
    `build`, then the columns of `_row`; the difference is to M = 0."""
    course = plan.accumulation
    filed = {0: NOBODY} | {each.episodes: filed_as(course, each) for each in course.checkpoints}
    found = asked(own, {str(m): name for m, name in filed.items()}, course.tasks, suite)
    groups = _groups(found, suite)
    rows = []
    for name, members in _together_and_one_by_one(groups, suite):
        for m in filed:
            build = next((each.build for each in course.checkpoints if each.episodes == m), None)
            compared = found.compared(name, str(m), "0", members)
            rows.append({"name": name, "episodes": m, "build": build} | _row(compared, found, is_base=m == 0))
    return _table(rows)


def curricula(own: Path, plan: StudyPlan, suite: Suite) -> pl.DataFrame:
    """One row per curriculum and checkpoint: `curriculum`, `progress` (share of its training episodes, 0 to
    1), `episodes`, then the columns of `_row`; the difference is to the cold start.

    The cold start learns nothing: its store is the empty one at every checkpoint, and in the same worlds its
    episodes are the same ones. So it has the same figures in each row, of episodes that were played once.
    """
    found, filed = _of_curricula(own, plan, suite)
    rows = []
    steps = sorted(
        {point.episodes / course.total for course in plan.compared for point in course.checkpoints}
    )
    cold = found.compared(COLD_START, COLD_START, COLD_START)
    for step in steps:
        own_row = {"curriculum": COLD_START, "progress": step, "episodes": None}
        rows.append(own_row | _row(cold, found, is_base=True))
    for course in plan.compared:
        for point in course.checkpoints:
            compared = found.compared(course.name, filed[course.name, point.build], COLD_START)
            row = {"progress": point.episodes / course.total, "episodes": point.episodes}
            rows.append({"curriculum": course.name} | row | _row(compared, found))
    return _table(rows)


def endings(own: Path, plan: StudyPlan, suite: Suite) -> pl.DataFrame:
    """Curricula two by two: `curriculum` against `other`, at the last checkpoint and (`of` "all checkpoints")
    over all of them, where the other one is the cold start; then the columns of `_row`."""
    found, filed = _of_curricula(own, plan, suite)
    last = {course.name: filed[course.name, course.last.build] for course in plan.compared}
    last[COLD_START] = COLD_START
    rows = []
    for course in plan.compared:
        whole = [filed[course.name, point.build] for point in course.checkpoints]
        compared = found.over(course.name, whole, COLD_START)
        about = {"curriculum": course.name, "other": COLD_START, "of": "all checkpoints"}
        rows.append(about | _row(compared, found))
    for first, second in combinations(last, 2):
        compared = found.compared(first, last[first], last[second])
        rows.append({"curriculum": first, "other": second, "of": "the last one"} | _row(compared, found))
    return _table(rows)


def _of_curricula(own: Path, plan: StudyPlan, suite: Suite) -> tuple[Asked, dict[tuple[str, str], str]]:
    filed = {
        (course.name, point.build): filed_as(course, point)
        for course in plan.compared
        for point in course.checkpoints
    }
    tasks = dict.fromkeys(task for course in plan.compared for task in course.tasks)
    arms = {name: name for name in filed.values()} | {COLD_START: NOBODY}
    return asked(own, arms, tasks, suite), filed


def remedies(own: Path, plan: StudyPlan, suite: Suite) -> pl.DataFrame:
    """The last checkpoint of the accumulation with its remedies and without them, one row per group and one
    for all: `name`, then the columns of `_row`. The second arm is shown the skills alone; the temporary
    remedy that a repair gets from the failure at hand is on in both."""
    course = plan.accumulation
    both = {"with": filed_as(course, course.last), "without": filed_as(course, course.last, WITHOUT)}
    found = asked(own, both, course.tasks, suite)
    return _table(
        [
            {"name": name} | _row(found.compared(name, "with", "without", members), found)
            for name, members in _together_and_one_by_one(_groups(found, suite), suite)
        ]
    )


def _together_and_one_by_one(groups: list[str], suite: Suite) -> list[tuple[str, list[str]]]:
    """Names and their groups: all together first, where there are several."""
    levels = {suite.difficulty.get(group) for group in groups}
    together_as = f"{levels.pop()} groups" if len(levels) == 1 and None not in levels else TOGETHER
    several = [(together_as, groups)] if len(groups) > 1 else []
    return [*several, *((group, [group]) for group in groups)]


def _groups(found: Asked, suite: Suite) -> list[str]:
    held = {found.group_of[task] for frame in found.arms.values() for task in frame["task_id"]}
    return [group for group in suite.groups if group in held]


def _row(compared: Compared, found: Asked, *, is_base: bool = False) -> dict[str, object]:
    """`tasks`; `k` of `n`, `share` (weighted by tasks), `low` and `high` (Wilson, of all pairs); `other_k`
    and the rest of the arm that it is compared with; `difference` with its bootstrap interval; pairs that
    only one of the two won; McNemar's p; `effect`. What is compared with itself has no comparison."""
    pairs, gain = compared.pairs, compared.gain
    low, high = pairs.frozen.interval or (None, None)
    other_low, other_high = pairs.empty.interval or (None, None)
    row: dict[str, object] = {
        "tasks": compared.tasks,
        "k": pairs.frozen.k,
        "n": pairs.n,
        "share": compared.frozen,
        "low": low,
        "high": high,
        "excluded": found.excluded,
    }
    beside: dict[str, object] = {
        "other_k": pairs.empty.k,
        "other_share": compared.empty,
        "other_low": other_low,
        "other_high": other_high,
        "difference": gain.share,
        "difference_low": gain.low,
        "difference_high": gain.high,
        "drawn": gain.drawn,
        "only_first": pairs.only_frozen,
        "only_second": pairs.only_empty,
        "mcnemar_p": pairs.p,
        "effect": compared.effect,
    }
    return row | (dict.fromkeys(beside) if is_base else beside)


def _table(rows: list[dict[str, object]]) -> pl.DataFrame:
    # By name and not by what is there: a column of unknown values keeps its type.
    kinds = {
        name: pl.Int64() if name in _INTEGERS else pl.String() if name in _WORDS else pl.Float64()
        for name in rows[0]
    }
    return pl.DataFrame(rows, schema=kinds, orient="row")


def _same_config(episodes: pl.DataFrame) -> pl.DataFrame:
    # Arms of two agents differ in their configuration by what is studied, and in nothing else.
    return episodes.with_columns(config_hash=pl.lit("the same but for what is studied"))
