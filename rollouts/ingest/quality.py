"""Where a recording contradicts itself: findings over the tables of the trace contract, as columns.

Every function takes frames of one or many episodes and returns the finding's rows; nothing is dropped or
mended because of them.
"""

from typing import Final

import polars as pl

from rollouts.ingest.protocol import Row

NOOP_RUN: Final = 40  # ticks; what a running jump leaves of its speed is gone within 1 s, so 2 s is no glide
NOOP_SPEED: Final = 0.02  # blocks per tick, sideways; below it is the jitter of a body at rest in water

TOTALS: Final = {
    "episode_id": pl.String,
    "attempt": pl.Int32,
    "tick": pl.Int32,
    "name": pl.String,
    "before": pl.Int64,
    "after": pl.Int64,
}
"""a total that changed: counters and clocks"""
ENDS: Final = {"episode_id": pl.String, "attempt": pl.Int32, "tick": pl.Int32, "what": pl.String}
"""a moment at which a recording is over, by its own word"""
_FOUND: Final = ("episode_id", "attempt", "tick", "finding", "detail")
# Inputs that explain why something leaves the inventory on its own.
_GIVING_UP: Final = r"(?:^|\+)(?:use|drop|place:|equip:)"
_CLICK: Final = r"(?:^|\+)attack(?:\+|$)"


def findings(
    ticks: pl.DataFrame,
    inventory_changes: pl.DataFrame,
    *,
    counters: pl.DataFrame,
    clocks: pl.DataFrame,
    ends: pl.DataFrame,
) -> list[Row]:
    """All findings as rows of `data_quality`, sorted by episode, tick and finding.

    `ticks` and `inventory_changes` are contract tables, `counters` and `clocks` have the columns `TOTALS`,
    `ends` has `ENDS`.
    """
    found = pl.concat(
        [
            runs_on_after_end(ticks, ends),
            noop_while_moving(ticks),
            went_back(counters, "counter_backwards"),
            went_back(clocks, "time_backwards"),
            result_vanished(ticks, inventory_changes),
        ]
    )
    return found.sort("episode_id", "tick", "finding", "detail").to_dicts()


def went_back(totals: pl.DataFrame, finding: str) -> pl.DataFrame:
    """A total that can only rise, and fell."""
    return totals.filter(pl.col("after") < pl.col("before")).select(
        "episode_id",
        "attempt",
        "tick",
        finding=pl.lit(finding),
        detail=pl.format("{} went back from {} to {}", "name", "before", "after"),
    )


def runs_on_after_end(ticks: pl.DataFrame, ends: pl.DataFrame) -> pl.DataFrame:
    """A recording that goes on after an end it reported, at the first tick after it."""
    order = ticks.sort("episode_id", "tick").select(
        "episode_id",
        "tick",
        pl.col("tick", "attempt").shift(-1).over("episode_id").name.suffix("_next"),
        left=(pl.len() - 1 - pl.int_range(pl.len())).over("episode_id"),
    )
    later = ends.join(order, on=["episode_id", "tick"], maintain_order="left").filter(pl.col("left") > 0)
    return later.select(
        "episode_id",
        pl.col("attempt_next").alias("attempt"),
        pl.col("tick_next").alias("tick"),
        finding=pl.lit("runs_on_after_end"),
        detail=pl.format("{} observations after {} at tick {}", "left", "what", "tick"),
    )


def noop_while_moving(ticks: pl.DataFrame) -> pl.DataFrame:
    """A long stretch without input in which the body keeps moving sideways: inputs are missing, or something
    carries it. Falling is not moving sideways."""
    sideways = (
        pl.col("x").cast(pl.Float64).diff().pow(2) + pl.col("z").cast(pl.Float64).diff().pow(2)
    ).sqrt()
    steps = (
        ticks.sort("episode_id", "tick")
        .with_columns(step=sideways.over("episode_id"))
        .with_columns(adrift=((pl.col("action") == "noop") & (pl.col("step") >= NOOP_SPEED)).fill_null(False))
        .with_columns(run=pl.struct("episode_id", "adrift").rle_id())
    )
    runs = (
        steps.filter("adrift")
        .group_by("run", maintain_order=True)
        .agg(
            pl.col("episode_id").first(),
            pl.col("attempt").first(),
            pl.col("tick").first(),
            pl.col("tick").last().alias("last"),
            pl.len(),
            pl.col("step").sum().round(1),
        )
        .filter(pl.col("len") >= NOOP_RUN)
    )
    return runs.select(
        "episode_id",
        "attempt",
        "tick",
        finding=pl.lit("noop_while_moving"),
        detail=pl.format(
            "{} ticks without input, to tick {}, moved {} blocks sideways", "len", "last", "step"
        ),
    )


def result_vanished(ticks: pl.DataFrame, inventory_changes: pl.DataFrame) -> pl.DataFrame:
    """A gain that is gone at the very next tick, with nothing that explains it: no other item came in its
    place, no input gave it away, and no click in an open screen picked it up."""
    by_item = inventory_changes.sort("episode_id", "item", "tick").with_columns(
        pl.col("tick", "delta", "count", "attempt").shift(-1).over("episode_id", "item").name.suffix("_next")
    )
    gone = by_item.filter(
        (pl.col("delta") > 0)
        & (pl.col("tick_next") == pl.col("tick") + 1)
        & (pl.col("count_next") <= pl.col("count") - pl.col("delta"))
    )
    gains = inventory_changes.filter(pl.col("delta") > 0).select(
        "episode_id", pl.col("tick").alias("tick_next")
    )
    excused = ticks.filter(
        pl.col("action").str.contains(_GIVING_UP)
        | (pl.col("action").str.contains(_CLICK) & (pl.col("gui") != "none"))
    ).select("episode_id", pl.col("tick").alias("tick_next"))
    keys = ["episode_id", "tick_next"]
    return (
        gone.join(gains, on=keys, how="anti")
        .join(excused, on=keys, how="anti")
        .select(
            "episode_id",
            pl.col("attempt_next").alias("attempt"),
            pl.col("tick_next").alias("tick"),
            finding=pl.lit("result_vanished"),
            detail=pl.format(
                "{}: {} at tick {}, {} at the next",
                "item",
                "count",
                "tick",
                "count_next",
            ),
        )
        .select(_FOUND)
    )
