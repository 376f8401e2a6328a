"""Success with and without frozen knowledge: rates, pairs, averages weighted by tasks, and a verdict in
words.

Every figure is of pairs: the same task, world, planner seed and configuration, once with the empty store and
once with the last snapshot. A pair that the infrastructure ended on one side is in neither.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

import polars as pl

from rollouts.differences import Difference, difference
from rollouts.rates import Paired, counted, together, weighted
from rollouts.report.arms import Arms

OVERALL: Final = "all groups"
LEVEL_NAMES: Final = {"easy": "easy groups", "hard": "hard groups"}
ALPHA: Final = 0.05
LEAST_PAIRS: Final = 6
"""With fewer pairs that differ, McNemar's exact test cannot fall below `ALPHA`: 2 · 0.5⁵ = 0.0625."""

Effect = Literal["helped", "hurt", "no difference shown"]


@dataclass(frozen=True)
class Compared:
    """Both arms on a set of pairs. `empty` and `frozen` are shares of success: of the pairs in one group,
    and the mean over groups weighted by their tasks in several. `gain` is frozen − empty, with its
    bootstrap interval."""

    name: str
    tasks: int
    pairs: Paired
    empty: float | None
    frozen: float | None
    gain: Difference
    members: tuple[str, ...] = ()
    """the groups that an average is over"""

    @property
    def is_average(self) -> bool:
        return bool(self.members)

    @property
    def differing(self) -> int:
        """Pairs of which one side succeeded and the other did not."""
        return self.pairs.only_frozen + self.pairs.only_empty

    @property
    def effect(self) -> Effect:
        """What these pairs show. A difference counts as shown when the exact test and the interval agree:
        the test takes pairs for independent, which those of one task are not, and the interval is too
        narrow where there are few tasks."""
        low, high = self.gain.low, self.gain.high
        if low is None or high is None or self.pairs.p >= ALPHA:
            return "no difference shown"
        if low > 0 and self.pairs.only_frozen > self.pairs.only_empty:
            return "helped"
        if high < 0 and self.pairs.only_frozen < self.pairs.only_empty:
            return "hurt"
        return "no difference shown"

    def row(self) -> dict[str, object]:
        """As columns of a table."""
        own: dict[str, object] = {"name": self.name, "tasks": self.tasks, **self.pairs.row()}
        return own | {
            "both": self.pairs.both,
            "neither": self.pairs.neither,
            "empty": self.empty,
            "frozen": self.frozen,
            "difference": self.gain.share,
            "difference_low": self.gain.low,
            "difference_high": self.gain.high,
            "effect": self.effect,
            "is_average": self.is_average,
        }


@dataclass(frozen=True)
class Success:
    """The last snapshot against the empty store: by group, and averages over several."""

    groups: tuple[Compared, ...]
    averages: tuple[Compared, ...]

    @property
    def overall(self) -> Compared:
        """Over all groups; the group itself where there is one."""
        return self.averages[-1] if self.averages else self.groups[0]

    @property
    def all(self) -> tuple[Compared, ...]:
        """Groups, then averages."""
        return (*self.groups, *self.averages)


def success(arms: Arms) -> Success:
    """By group; easy, hard and overall averages where they are over more than one group, or are not the same
    as another."""
    groups = [_of_group(arms, group) for group in arms.groups]
    known = [each for each in groups if each.pairs.n + each.pairs.excluded]
    averages = []
    for level, name in LEVEL_NAMES.items():
        of_level = [each for each in known if arms.suite.difficulty.get(each.name) == level]
        if of_level and len(of_level) < len(known):
            averages.append(_average(arms, name, of_level))
    if len(known) > 1:
        averages.append(_average(arms, OVERALL, known))
    return Success(tuple(known), tuple(averages))


def by_task(arms: Arms) -> pl.DataFrame:
    """One row per task, groups in the suite's order: group, task_id, goal, k and n of both arms, intervals,
    pairs that differ."""
    own = ["group", "task_id", "goal"]
    rows = [
        {**dict(zip(own, key, strict=True)), **counted(pairs).row()}
        for key, pairs in arms.pairs.group_by(own, maintain_order=True)
    ]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return frame.sort(pl.col("group").cast(pl.Enum(arms.groups)), "task_id")


def by_planner_seed(arms: Arms) -> pl.DataFrame:
    """(planner_seed, pairs, empty, frozen, difference, only_frozen, only_empty): shares weighted by the tasks
    of the groups, as the overall average's are."""
    rows = []
    for (seed,), pairs in arms.pairs.group_by(["planner_seed"], maintain_order=True):
        parts = {str(group): counted(own) for (group,), own in pairs.group_by(["group"], maintain_order=True)}
        all_of = together(parts.values())
        empty, frozen = (
            weighted((getattr(part, side).share, arms.tasks[group]) for group, part in parts.items())
            for side in ("empty", "frozen")
        )
        difference = None if empty is None or frozen is None else frozen - empty
        figures = {"empty": empty, "frozen": frozen, "difference": difference}
        rows.append({"planner_seed": seed, **all_of.row(), **figures})
    return pl.DataFrame(rows, infer_schema_length=None).sort("planner_seed")


def _of_group(arms: Arms, group: str) -> Compared:
    pairs = arms.pairs.filter(pl.col("group") == group)
    cells = counted(pairs)
    tasks = arms.tasks[group]
    return Compared(group, tasks, cells, cells.empty.share, cells.frozen.share, difference(pairs))


def _average(arms: Arms, name: str, parts: Iterable[Compared]) -> Compared:
    held = list(parts)
    members = tuple(part.name for part in held)
    empty, frozen = (
        weighted((getattr(part, side), part.tasks) for part in held) for side in ("empty", "frozen")
    )
    return Compared(
        name=name,
        tasks=sum(part.tasks for part in held),
        pairs=together(part.pairs for part in held),
        empty=empty,
        frozen=frozen,
        gain=difference(arms.pairs.filter(pl.col("group").is_in(members)), arms.tasks),
        members=members,
    )
