"""What an attempt's ticks show of its movement: how far it went, whether it ran in circles, what it pressed.

Coordinates are cast to float64 before any variance: at 30,000 blocks from the origin, float32 squares have
lost the whole of a small movement.
"""

from collections.abc import Iterable
from functools import reduce
from operator import add
from typing import Final

import numpy as np
import polars as pl

from rollouts.monitor.runs import KEY, as_lists, attempt_starts, bounds, keys
from rollouts.monitor.settings import MonitorSettings

AXES: Final = ("x", "y", "z")
_MOVING: Final = r"(?:^|\+)(?:forward|back|left|right)(?:\+|$)"
_ATTACK: Final = r"(?:^|\+)attack(?:\+|$)"
_USE: Final = r"(?:^|\+)use(?:\+|$)"
_CELL_BITS: Final = {"x": 38, "z": 12, "y": 0}  # room for 67 million blocks sideways, 4,096 up


def motion(ticks: pl.DataFrame, begins: pl.Series, settings: MonitorSettings) -> pl.DataFrame:
    """Per attempt, in order: `variance` (sum of the per-axis population variances of position, blocks
    squared, eq. 2), `variance_last` (the same over the last 20 s), `extent` (largest side of the box that
    holds the path, blocks), `extent_last` (the same over the last `stuck_ticks`), `cell_loop` (see
    `cell_loops`), `n_ticks`, `first_tick`, `last_tick`, `pressing` (share of ticks with a movement key; null
    without actions), `pressing_last` (over the last `stuck_ticks`), `acted` (was any key pressed), `attacked`
    and `used` (was that one).

    Ticks are sorted by (episode_id, tick); `begins` is their `attempt_starts`. Null where the source has no
    position.
    """
    edges = bounds(begins)
    spread = _spread(ticks, edges, settings)
    return (
        keys(ticks, edges)
        .hstack(spread.drop("late"))
        .hstack(_pressed(ticks, begins, edges, spread["late"]))
        .join(cell_loops(ticks, begins), on=KEY, how="left", maintain_order="left")
    )


def _spread(ticks: pl.DataFrame, edges: list[int], settings: MonitorSettings) -> pl.DataFrame:
    wide = as_lists(ticks.select("tick", *(pl.col(axis).cast(pl.Float64) for axis in AXES)), edges)
    last = pl.element().last()

    def rows_of_last(span: int) -> pl.Expr:
        # An attempt has one row per tick, so no more than the last `span` rows are of the last `span` ticks.
        return pl.col("tick").list.tail(span).list.agg((pl.element() > last - span).sum())

    def side(values: pl.Expr) -> pl.Expr:
        return values.list.max() - values.list.min()

    recent = rows_of_last(settings.recent_ticks)
    late = rows_of_last(settings.stuck_ticks)
    return wide.with_columns(recent=recent, late=late).select(
        "late",
        variance=_in_order(pl.col(axis).list.var(ddof=0) for axis in AXES),
        variance_last=_in_order(pl.col(axis).list.tail(pl.col("recent")).list.var(ddof=0) for axis in AXES),
        extent=pl.max_horizontal([side(pl.col(axis)) for axis in AXES]),
        extent_last=pl.max_horizontal([side(pl.col(axis).list.tail(pl.col("late"))) for axis in AXES]),
        n_ticks=pl.col("tick").list.len().cast(pl.Int32),
        first_tick=pl.col("tick").list.first(),
        last_tick=pl.col("tick").list.last(),
    )


def _in_order(terms: Iterable[pl.Expr]) -> pl.Expr:
    """Their sum, added one after the other: `sum_horizontal` leaves the order open, and with it the last bit,
    so that one attempt and many would differ."""
    return reduce(add, terms)


def _pressed(ticks: pl.DataFrame, begins: pl.Series, edges: list[int], late: pl.Series) -> pl.DataFrame:
    """The same keys are held for many ticks: a row per change of them, with its length, is enough.

    `late` is how many of an attempt's rows, at its end, are of its last `stuck_ticks`.
    """
    action = pl.col("action")
    changed = begins | ticks.select(action.ne_missing(action.shift(1))).to_series()
    rows = changed.arg_true()
    words = ticks["action"].gather(rows)
    moves = words.unique().drop_nulls()
    runs = bounds(begins.gather(rows))
    late_from = pl.Series(edges[1:], dtype=pl.Int64) - late.cast(pl.Int64)
    ends = rows.shift(-1, fill_value=ticks.height).cast(pl.Int64)

    def one_of(pattern: str) -> pl.Series:
        return words.is_in(moves.filter(moves.str.contains(pattern)).implode()).fill_null(False)

    held = pl.DataFrame(
        {
            "begin": rows.cast(pl.Int64),
            "end": ends,
            "late_from": np.repeat(late_from.to_numpy(), np.diff(runs)),
            "known": words.is_not_null(),
            "moving": one_of(_MOVING),
            "acted": words != "noop",
            "attacked": one_of(_ATTACK),
            "used": one_of(_USE),
        }
    ).with_columns(
        ticks=pl.col("end") - pl.col("begin"),
        late=(pl.col("end") - pl.max_horizontal("begin", "late_from")).clip(lower_bound=0),
    )
    per_attempt = as_lists(
        held.select(
            "acted",
            "attacked",
            "used",
            known=pl.col("ticks") * pl.col("known"),
            moving=pl.col("ticks") * pl.col("moving"),
            known_last=pl.col("late") * pl.col("known"),
            moving_last=pl.col("late") * pl.col("moving"),
        ),
        runs,
    )
    return per_attempt.select(
        pressing=(pl.col("moving").list.sum() / pl.col("known").list.sum()).fill_nan(None),
        pressing_last=(pl.col("moving_last").list.sum() / pl.col("known_last").list.sum()).fill_nan(None),
        acted=pl.col("acted").list.any(),
        attacked=pl.col("attacked").list.any(),
        used=pl.col("used").list.any(),
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
