"""What an attempt showed, as frames of the trace contract without their keys."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rollouts.protocols import Advance
from rollouts.sightings import Row
from rollouts.tick_rows import NUMBERS, TEXTS, TickRows, coded, numbers_of
from warehouse.records import TABLES, polars_schema

_KEYS: Final = ("episode_id", "attempt")
EVIDENCE: Final = ("ticks", "events", "sightings", "inventory_changes")
"""tables of the contract that an attempt fills by itself"""


def tick_frame(advances: Sequence[Advance]) -> pl.DataFrame:
    """The ticks of several advances, one after the other, in the contract's columns but the keys; a column
    that a world does not give is null. The last row of an advance is that of its observation."""
    if not advances:
        return rows_of("ticks", [])
    rows = [advance.ticks for advance in advances]
    counts = [each.height if isinstance(each, TickRows) else len(next(iter(each.values()))) for each in rows]
    ends = np.array([advance.observation.tick + 1 for advance in advances])
    # Every tick's distance from the end of its advance.
    ticks = np.repeat(ends - np.cumsum(counts), counts) + np.arange(sum(counts))
    given = _given([each for each in rows if isinstance(each, TickRows)], rows)
    given["tick"] = pl.Series("tick", ticks)
    return pl.DataFrame(
        [
            given[name].cast(kind) if name in given else pl.Series(name, [None] * len(ticks), dtype=kind)
            for name, kind in _columns("ticks").items()
        ]
    )


def _given(noted: Sequence[TickRows], rows: Sequence[Mapping[str, npt.NDArray[Any]]]) -> dict[str, pl.Series]:
    """The columns that a world gives; `noted` are those of the rows that are `TickRows`: all or none."""
    if len(noted) < len(rows):
        return {name: _series(name, np.concatenate([each[name] for each in rows])) for name in rows[0]}
    stretches = [stretch for each in noted for stretch in each.stretches]
    given = {
        name: pl.Series(name, row > 0 if name == "alive" else row)
        for name, row in zip(NUMBERS, numbers_of(stretches), strict=True)
    }
    for name in TEXTS:
        texts, codes = coded(stretches, name)
        given[name] = pl.Series(name, texts)[codes]
    return given


def _series(name: str, values: npt.NDArray[Any]) -> pl.Series:
    """The values; what was not told is null, NaN in an array of numbers and None in one of objects."""
    if values.dtype == object:
        return pl.Series(name, values.tolist())
    return pl.Series(name, values, nan_to_null=True)


def rows_of(table: str, rows: Sequence[Row]) -> pl.DataFrame:
    """Rows of one attempt as a frame, in stored order; a column that a row does not name is null."""
    # There are few, and Python sorts them before Polars has planned how to.
    return pl.DataFrame(sorted(rows, key=_order(table)), schema=_columns(table), orient="row")


@cache
def _order(table: str) -> Callable[[Row], tuple[Any, ...]]:
    """What the rows of an attempt are sorted by: as Polars would, nulls first and enums in their order."""
    names = [name for name in TABLES[table].sort_by if name not in _KEYS]
    ranks = [
        {value: rank for rank, value in enumerate(kind.categories)} if isinstance(kind, pl.Enum) else None
        for kind in map(_columns(table).__getitem__, names)
    ]

    def order(row: Row) -> tuple[Any, ...]:
        values = [
            value if rank is None or value is None else rank[value]
            for value, rank in zip(map(row.get, names), ranks, strict=True)
        ]
        return tuple((value is not None, value) for value in values)

    return order


@cache
def _columns(table: str) -> dict[str, pl.DataType]:
    return {name: kind for name, kind in polars_schema(table).items() if name not in _KEYS}
