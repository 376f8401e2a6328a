"""What both arms were given and what they used: model calls, seeds, worlds, ticks, episodes."""

from dataclasses import dataclass

import polars as pl

from rollouts.evaluation import EMPTY, evaluation_home
from rollouts.recorder import kept_beside
from rollouts.report.arms import Arms
from warehouse.tasks import Suite

CALLS = ("plans", "repairs", "retries", "diagnoses", "used")


@dataclass(frozen=True)
class Effort:
    """`arms`: (arm, episodes, planned, plans, repairs, retries, diagnoses, used, used_mean, used_most,
    allowed, spent: episodes without a call left, tried_again: episodes whose environment failed once).
    `groups`: (group, tasks, suite_tasks, worlds, planner_seeds, episodes, planned, horizon_low,
    horizon_high, capped: tasks whose horizon is below the suite's); what only a suite's file can say is
    null without one."""

    arms: pl.DataFrame
    groups: pl.DataFrame
    planner_seeds: tuple[int, ...]
    configurations: tuple[str, ...]
    suite_tasks: int | None

    @property
    def scope(self) -> str:
        """What was played, in a sentence."""
        tasks = int(self.groups["tasks"].sum())
        of_suite = "" if self.suite_tasks is None else f" of the suite’s {self.suite_tasks}"
        worlds = int(self.groups["worlds"].max())  # type: ignore[arg-type]
        return (
            f"Played: {tasks}{of_suite} tasks ({', '.join(self.groups['group'])}), "
            f"{_number(worlds, 'world')} for each, {_number(len(self.planner_seeds), 'planner seed')}."
        )


def effort(arms: Arms, suite: Suite | None = None) -> Effort:
    """Of the last snapshot's episodes and of the empty store's on the same tasks, counted or not. `planned`
    is the full grid of an arm: every task with every world of it and every planner seed."""
    last = arms.of(arms.last)
    empty = arms.of(EMPTY).join(
        arms.pairs.select("episode_id_empty"), left_on="episode_id", right_on="episode_id_empty", how="semi"
    )
    grid = last.group_by("group", "task_id").agg(worlds=pl.col("world_seed").n_unique().cast(pl.Int64))
    seeds = last["planner_seed"].n_unique()
    planned = int(grid["worlds"].sum()) * seeds
    beside = pl.concat(
        kept_beside(evaluation_home(arms.home), build, group, source, "budgets")
        for _, build, group, source in arms.places()
    ).unique("episode_id")
    rows = [
        {"arm": arm, "planned": planned, **_calls(episodes, beside)}
        for arm, episodes in ((EMPTY, empty), (arms.last, last))
    ]
    return Effort(
        arms=pl.DataFrame(rows, infer_schema_length=None),
        groups=_groups(arms, last, suite),
        planner_seeds=tuple(last["planner_seed"].drop_nulls().unique().sort()),
        configurations=tuple(last["config_hash"].drop_nulls().unique().sort()),
        suite_tasks=None if suite is None else len(suite.tasks),
    )


def _number(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"


def _calls(episodes: pl.DataFrame, beside: pl.DataFrame) -> dict[str, object]:
    own = beside.join(episodes, on="episode_id", how="semi")
    most = (own["used"] + own["remaining"]).max()
    return {
        "episodes": episodes.height,
        "recorded": own.height,
        **{call: int(own[call].sum()) for call in CALLS},
        "used_mean": own["used"].mean(),
        "used_most": own["used"].max(),
        "allowed": most,
        "spent": int((own["remaining"] == 0).sum()),
        "tried_again": int((own["tries"] > 1).sum()),
    }


def _groups(arms: Arms, last: pl.DataFrame, suite: Suite | None) -> pl.DataFrame:
    rows = []
    for group in arms.groups:
        own = last.filter(pl.col("group") == group)
        worlds = own.group_by("task_id").agg(worlds=pl.col("world_seed").n_unique().cast(pl.Int64))["worlds"]
        horizons = own.select("task_id", "horizon").unique()
        full = (
            {}
            if suite is None
            else {task.id: task.horizon_ticks for task in suite.tasks if task.group == group}
        )
        known = [(full[task], horizon) for task, horizon in horizons.iter_rows() if task in full]
        rows.append(
            {
                "group": group,
                "tasks": len(worlds),
                "suite_tasks": len(full) or None,
                "worlds": int(worlds.max()),  # type: ignore[arg-type]
                "planner_seeds": own["planner_seed"].n_unique(),
                "episodes": own.height,
                "planned": int(worlds.sum()) * own["planner_seed"].n_unique(),
                "horizon_low": horizons["horizon"].min(),
                "horizon_high": horizons["horizon"].max(),
                "capped": sum(horizon < whole for whole, horizon in known) if full else None,
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)
