"""What an attempt's ticks show of its movement: how far it went, whether it ran in circles, what it pressed.

Coordinates are cast to float64 before any variance: at 30,000 blocks from the origin, float32 squares have
lost the whole of a small movement.
"""

from collections.abc import Iterable
from functools import reduce
from operator import add
from typing import Final

import polars as pl

from rollouts.monitor.runs import KEY, as_lists, attempt_starts, bounds, keys
from rollouts.monitor.settings import MonitorSettings

AXES: Final = ("x", "y", "z")
_MOVING: Final = r"(?:^|\+)(?:forward|back|left|right)(?:\+|$)"
_CELL_BITS: Final = {"x": 38, "z": 12, "y": 0}  # room for 67 million blocks sideways, 4,096 up


def motion(ticks: pl.DataFrame, begins: pl.Series, settings: MonitorSettings) -> pl.DataFrame:
    """Per attempt, in order: `variance` (sum of the per-axis population variances of position, blocks
    squared, eq. 2), `variance_last` (the same over the last 20 s), `extent` (largest side of the box that
    holds the path, blocks), `cell_loop` (see `cell_loops`), `n_ticks`, `first_tick`, `last_tick`, `pressing`
    (share of ticks with a movement key; null without actions) and `acted` (was any key pressed).

    Ticks are sorted by (episode_id, tick); `begins` is their `attempt_starts`. Null where the source has no
    position.
    """
    edges = bounds(begins)
    return (
        keys(ticks, edges)
        .hstack(_spread(ticks, edges, settings))
        .hstack(_pressed(ticks, begins))
        .join(cell_loops(ticks, begins), on=KEY, how="left", maintain_order="left")
    )


def _spread(ticks: pl.DataFrame, edges: list[int], settings: MonitorSettings) -> pl.DataFrame:
    wide = as_lists(ticks.select("tick", *(pl.col(axis).cast(pl.Float64) for axis in AXES)), edges)
    last = pl.element().last()
    # An attempt has one row per tick, so no more than the last `recent_ticks` rows are recent.
    recent = (
        pl.col("tick")
        .list.tail(settings.recent_ticks)
        .list.agg((pl.element() > last - settings.recent_ticks).sum())
    )
    return wide.with_columns(recent=recent).select(
        variance=_in_order(pl.col(axis).list.var(ddof=0) for axis in AXES),
        variance_last=_in_order(pl.col(axis).list.tail(pl.col("recent")).list.var(ddof=0) for axis in AXES),
        extent=pl.max_horizontal([pl.col(axis).list.max() - pl.col(axis).list.min() for axis in AXES]),
        n_ticks=pl.col("tick").list.len().cast(pl.Int32),
        first_tick=pl.col("tick").list.first(),
        last_tick=pl.col("tick").list.last(),
    )


def _in_order(terms: Iterable[pl.Expr]) -> pl.Expr:
    """Their sum, added one after the other: `sum_horizontal` leaves the order open, and with it the last bit,
    so that one attempt and many would differ."""
    return reduce(add, terms)


def _pressed(ticks: pl.DataFrame, begins: pl.Series) -> pl.DataFrame:
    """The same keys are held for many ticks: a row per change of them, with its length, is enough."""
    action = pl.col("action")
    changed = begins | ticks.select(action.ne_missing(action.shift(1))).to_series()
    rows = changed.arg_true()
    words = ticks["action"].gather(rows)
    moves = words.unique().drop_nulls()
    held = pl.DataFrame(
        {
            "ticks": rows.shift(-1, fill_value=ticks.height).cast(pl.Int64) - rows.cast(pl.Int64),
            "known": words.is_not_null(),
            "moving": words.is_in(moves.filter(moves.str.contains(_MOVING)).implode()),
            "acted": words != "noop",
        }
    )
    per_attempt = as_lists(
        held.select(
            "acted",
            known=pl.col("ticks") * pl.col("known"),
            moving=pl.col("ticks") * pl.col("moving").fill_null(False),
        ),
        bounds(begins.gather(rows)),
    )
    return per_attempt.select(
        pressing=(pl.col("moving").list.sum() / pl.col("known").list.sum()).fill_nan(None),
        acted=pl.col("acted").list.any(),
    )


def cell_loops(ticks: pl.DataFrame, begins: pl.Series) -> pl.DataFrame:
    """Per attempt `cell_loop` = 1 - (different cells entered) / (cells entered), over one-block cells; no row
    for an attempt without a position.

    0 for standing still, 1/2 for going somewhere and back, near 1 for pacing up and down.
    """
    located = ticks
    if ticks["x"].null_count():
        located = ticks.filter(pl.col("x").is_not_null())
        begins = attempt_starts(located)
    cells = located.select(pl.col(axis).floor() for axis in AXES)
    moved = pl.any_horizontal(pl.col(axis) != pl.col(axis).shift(1) for axis in AXES)
    entered = cells.select(*AXES, begins=begins).filter(pl.col("begins") | moved)
    packed = entered.select(
        pl.sum_horizontal(
            pl.col(axis).cast(pl.Int64) * (1 << bits) for axis, bits in _CELL_BITS.items()
        ).alias("cell")
    )
    per_attempt = as_lists(packed, bounds(entered["begins"]))
    cell = pl.col("cell").list
    return keys(located, bounds(begins)).hstack(
        per_attempt.select(cell_loop=1 - cell.n_unique() / cell.len())
    )
