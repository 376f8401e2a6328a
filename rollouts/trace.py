"""A trace: the tables of the trace contract that belong together, as frames."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import polars as pl

from warehouse.records import TRACE_TABLES, arrange, empty


@dataclass(frozen=True)
class Trace:
    """Frames of the trace contract (warehouse/records.py), each in its stored order."""

    episodes: pl.DataFrame
    attempts: pl.DataFrame
    ticks: pl.DataFrame
    events: pl.DataFrame
    sightings: pl.DataFrame
    inventory_changes: pl.DataFrame

    @classmethod
    def of(cls, frames: Mapping[str, pl.DataFrame]) -> Self:
        """A trace from frames by table name; a table that is absent is empty."""
        return cls(
            **{name: arrange(name, frames[name]) if name in frames else empty(name) for name in TRACE_TABLES}
        )

    def frames(self) -> dict[str, pl.DataFrame]:
        """The frames by table name."""
        return {name: getattr(self, name) for name in TRACE_TABLES}
