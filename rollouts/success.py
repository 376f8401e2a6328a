"""What a frozen evaluation came to, as rows: success of both arms by group, by task and by planner seed."""

from collections.abc import Iterator
from typing import Any, Final

import polars as pl

from rollouts.differences import difference
from rollouts.evaluation import EMPTY, FROZEN, Evaluated
from rollouts.rates import PAIRED_BY, counted, pairs_of
from warehouse import log
from warehouse.ids import derive_id

ROWS: Final = log.KINDS["evaluations"].schema
LEVELS: Final = {"group": None, "task": "task_id", "planner": "planner_seed"}
"""level -> the column that it splits a group's pairs by"""


class UnpairedError(ValueError):
    """The arms do not hold the same episodes; the text names the command that plays what is missing."""


def success_rows(build: str, group: str, evaluated: Evaluated, difficulty: str | None = None) -> pl.DataFrame:
    """An evaluation as rows of the `evaluations` log (docs/sql.md has the columns): a group's, each task's
    and each planner seed's, two rows each, one per arm. The comparison stands in the frozen arm's row.

    `UnpairedError` unless the frozen episodes are of one snapshot and one configuration and each has its
    counterpart.
    """
    frozen, empty = evaluated
    again = f"`mineevolve evaluate --build {build} --group {group}` plays what is missing"
    pairs = pairs_of(frozen, empty)
    if frozen.is_empty() or pairs.height != frozen.height:
        raise UnpairedError(
            f"{frozen.height - pairs.height} of {frozen.height} episodes with the snapshot of build {build} "
            f"have no counterpart with the empty store in group {group}: {again}"
        )
    kept = frozen.select("snapshot_id", "config_hash").unique()
    if kept.height != 1:
        raise UnpairedError(
            f"the evaluation of build {build} in group {group} is of {kept.height} snapshots or "
            f"configurations: {again}"
        )
    snapshot_id, config_hash = kept.row(0)
    shared = {
        "evaluation_id": _evaluation_id(build, group, snapshot_id, evaluated),
        "build": build,
        "task_group": group,
        "difficulty": difficulty,
        "config_hash": config_hash,
    }
    rows = [
        shared | row | {"snapshot_id": snapshot_id if row["arm"] == FROZEN else None}
        for level, column in LEVELS.items()
        for part in _parts(pairs, column)
        for row in _both_arms(level, column, part)
    ]
    return pl.DataFrame(rows, schema=ROWS, orient="row")


def _parts(pairs: pl.DataFrame, column: str | None) -> Iterator[pl.DataFrame]:
    if column is None:
        yield pairs
        return
    for value in pairs[column].unique().sort():
        yield pairs.filter(pl.col(column) == value)


def _both_arms(level: str, column: str | None, pairs: pl.DataFrame) -> Iterator[dict[str, Any]]:
    outcome = counted(pairs)
    found = difference(pairs)
    worlds = pairs.group_by("task_id").agg(pl.col("world_seed").n_unique())["world_seed"].max()
    about = {
        "level": level,
        "tasks": pairs["task_id"].n_unique(),
        "worlds": worlds,
        "planner_seeds": pairs["planner_seed"].n_unique(),
        "excluded": outcome.excluded,
    }
    if column is not None:
        about[column] = pairs[column][0]
    compared = {
        "only_frozen": outcome.only_frozen,
        "only_empty": outcome.only_empty,
        "mcnemar_p": outcome.p,
        "difference": found.share,
        "difference_low": found.low,
        "difference_high": found.high,
        "drawn": found.drawn or None,
    }
    for arm, rate, beside in ((EMPTY, outcome.empty, {}), (FROZEN, outcome.frozen, compared)):
        low, high = rate.interval or (None, None)
        yield about | {"arm": arm, "k": rate.k, "n": rate.n, "low": low, "high": high} | beside


def _evaluation_id(build: str, group: str, snapshot_id: str | None, evaluated: Evaluated) -> str:
    # With the outcomes: should the same episode ever end in another way, the log must keep both statements.
    ends = [*PAIRED_BY, "success", "end_reason"]
    arms = [
        arm.select(pl.col(ends).cast(pl.String), "episode_id").sort("episode_id").rows() for arm in evaluated
    ]
    return derive_id("evaluation", [build, group, snapshot_id, arms])
