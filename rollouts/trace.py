"""A trace: the tables of the trace contract that belong together, as frames."""

from collections.abc import Iterable, Mapping, Sequence
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
        """A trace from frames by table name; a table that is absent is empty.

        Where an attempt begins at the tick at which the one before it ended, its row comes second.
        """
        given = dict(frames)
        if "ticks" in given:
            given["ticks"] = given["ticks"].sort("attempt", maintain_order=True)
        return cls(
            **{name: arrange(name, given[name]) if name in given else empty(name) for name in TRACE_TABLES}
        )

    def frames(self) -> dict[str, pl.DataFrame]:
        """The frames by table name."""
        return {name: getattr(self, name) for name in TRACE_TABLES}


@dataclass(frozen=True)
class LazyTrace:
    """A trace that is not read yet: every table but the ticks as one query, the ticks as several.

    The rows of a tick query are in stored order, and an episode's ticks are in one of these queries only, as
    in the shards that the trace store writes.
    """

    tables: Mapping[str, pl.LazyFrame]
    ticks: Sequence[pl.LazyFrame]

    @classmethod
    def joined(cls, traces: Iterable[Self]) -> Self:
        """Traces of different episodes as one."""
        parts = list(traces)
        names = [name for name in TRACE_TABLES if any(name in part.tables for part in parts)]
        return cls(
            tables={
                name: pl.concat([part.tables[name] for part in parts if name in part.tables])
                for name in names
            },
            ticks=[ticks for part in parts for ticks in part.ticks],
        )

    def without_ticks(self) -> Trace:
        """The trace, read, as if it had no ticks."""
        names = [name for name in TRACE_TABLES if name != "ticks" and name in self.tables]
        return Trace.of(dict(zip(names, pl.collect_all(self.tables[name] for name in names), strict=True)))
