"""What both arms were given and what they used: model calls, seeds, worlds, ticks, episodes."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from rollouts.evaluation import EMPTY, evaluation_home
from rollouts.recorder import kept_beside
from rollouts.report.arms import Arms

CALLS: Final = ("plans", "repairs", "retries", "diagnoses", "used")


@dataclass(frozen=True)
class Effort:
    """`arms`, of the empty store and of the last snapshot: episodes played and `planned`; how many have their
    calls `recorded`, and of those the calls by kind, `used_mean` and `used_most` per episode of so many
    `allowed`, episodes that have `spent` all, and `tried_again`, whose environment failed once.

    `groups`: tasks played and in the suite, worlds per task, planner seeds and how
    many of them play each world, episodes played and planned per
    arm, the shortest and the longest horizon in ticks, and how many tasks were `capped` below the suite's.
    """

    arms: pl.DataFrame
    groups: pl.DataFrame
    planner_seeds: tuple[int, ...]
    configurations: tuple[str, ...]
    suite_tasks: int

    @property
    def is_crossed(self) -> bool:
        """Every world was played by every planner seed; else they took turns."""
        return bool((self.groups["per_world"] == self.groups["planner_seeds"]).all())

    @property
    def scope(self) -> str:
        """What was played, in a sentence."""
        played, worlds = self.groups["tasks"].sum(), self.groups["worlds"].max()
        return (
            f"Played: {played} of the suite’s {self.suite_tasks} tasks ({', '.join(self.groups['group'])}), "
            f"{_number(worlds, 'world')} for each, {_number(len(self.planner_seeds), 'planner seed')}"
            f"{'' if self.is_crossed else ' in turn'}."
        )


def effort(arms: Arms) -> Effort:
    """Of the last snapshot's episodes and of the empty store's on the same seeds, counted or not. `planned`
    is the full grid: every task in as many worlds as any of its group has, each by as many planner seeds."""
    last = arms.of(arms.last)
    shared = arms.pairs.select(episode_id="episode_id_empty")
    empty = arms.of(EMPTY).join(shared, on="episode_id", how="semi")
    groups = _groups(arms, last)
    beside = pl.concat(
        kept_beside(evaluation_home(arms.home), build, group, source, "budgets")
        for _, build, group, source in arms.places()
    ).unique("episode_id")
    rows = [
        {"arm": arm, "episodes": episodes.height, "planned": groups["planned"].sum()}
        | _calls(beside.join(episodes, on="episode_id", how="semi"))
        for arm, episodes in ((EMPTY, empty), (arms.last, last))
    ]
    return Effort(
        arms=pl.DataFrame(rows, infer_schema_length=None),
        groups=groups,
        planner_seeds=tuple(last["planner_seed"].drop_nulls().unique().sort()),
        configurations=tuple(last["config_hash"].drop_nulls().unique().sort()),
        suite_tasks=len(arms.suite.tasks),
    )


def _calls(budgets: pl.DataFrame) -> dict[str, object]:
    return budgets.select(
        pl.len().cast(pl.Int64).alias("recorded"),
        *(pl.col(call).sum().cast(pl.Int64) for call in CALLS),
        pl.col("used").mean().alias("used_mean"),
        pl.col("used").max().alias("used_most"),
        (pl.col("used") + pl.col("remaining")).max().alias("allowed"),
        (pl.col("remaining") == 0).sum().cast(pl.Int64).alias("spent"),
        (pl.col("tries") > 1).sum().cast(pl.Int64).alias("tried_again"),
    ).row(0, named=True)


def _groups(arms: Arms, last: pl.DataFrame) -> pl.DataFrame:
    asked = pl.DataFrame(
        [(task.group, task.id, task.horizon_ticks) for task in arms.suite.tasks],
        schema={"group": pl.String, "task_id": pl.String, "full": pl.Int64},
        orient="row",
    )
    by_task = last.group_by("group", "task_id").agg(
        worlds=pl.col("world_seed").n_unique().cast(pl.Int64),
        episodes=pl.len().cast(pl.Int64),
        low=pl.col("horizon").min(),
        high=pl.col("horizon").max(),
    )
    seeds = last.group_by("group").agg(planner_seeds=pl.col("planner_seed").n_unique().cast(pl.Int64))
    world = last.group_by("group", "task_id", "world_seed").agg(
        per_world=pl.col("planner_seed").n_unique().cast(pl.Int64)
    )
    return (
        by_task.join(asked, on=["group", "task_id"], how="left")
        .group_by("group")
        .agg(
            tasks=pl.len().cast(pl.Int64),
            worlds=pl.col("worlds").max(),
            episodes=pl.col("episodes").sum(),
            horizon_low=pl.col("low").min(),
            horizon_high=pl.col("high").max(),
            capped=(pl.col("low") < pl.col("full")).sum().cast(pl.Int64),
        )
        .join(seeds, on="group")
        .join(world.group_by("group").agg(pl.col("per_world").max()), on="group")
        .join(asked.group_by("group").agg(suite_tasks=pl.len().cast(pl.Int64)), on="group", how="left")
        .with_columns(planned=pl.col("tasks") * pl.col("worlds") * pl.col("per_world"))
        .sort(pl.col("group").cast(pl.Enum(arms.groups)))
    )


def _number(count: object, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"
