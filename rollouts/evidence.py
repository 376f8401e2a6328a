"""What an attempt showed, as frames of the trace contract without their keys."""

from collections.abc import Sequence
from functools import cache
from typing import Final

import numpy as np
import polars as pl

from rollouts.protocols import Advance
from rollouts.sightings import Row
from warehouse.records import TABLES, polars_schema

_KEYS: Final = ("episode_id", "attempt")
EVIDENCE: Final = ("ticks", "events", "sightings", "inventory_changes")
"""tables of the contract that an attempt fills by itself"""


def tick_frame(advances: Sequence[Advance]) -> pl.DataFrame:
    """The ticks of several advances, one after the other, in the contract's columns but the keys; a column
    that a world does not give is null. The last row of an advance is that of its observation."""
    if not advances:
        return rows_of("ticks", [])
    counts = [len(next(iter(advance.ticks.values()))) for advance in advances]
    ends = [advance.observation.tick + 1 for advance in advances]
    ticks = np.concatenate([np.arange(end - n, end) for end, n in zip(ends, counts, strict=True)])
    columns = [
        pl.Series(name, np.concatenate([advance.ticks[name] for advance in advances])).cast(kind)
        if name in advances[0].ticks
        else pl.Series(name, [None] * len(ticks), dtype=kind)
        for name, kind in _columns("ticks").items()
        if name != "tick"
    ]
    return pl.DataFrame([pl.Series("tick", ticks, dtype=pl.Int32), *columns]).select(list(_columns("ticks")))


def rows_of(table: str, rows: Sequence[Row]) -> pl.DataFrame:
    """Rows of one attempt as a frame, in stored order; a column that a row does not name is null."""
    frame = pl.DataFrame(rows, schema=_columns(table), orient="row")
    return frame.sort([name for name in TABLES[table].sort_by if name not in _KEYS], maintain_order=True)


@cache
def _columns(table: str) -> dict[str, pl.DataType]:
    return {name: kind for name, kind in polars_schema(table).items() if name not in _KEYS}
