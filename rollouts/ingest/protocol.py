"""What an importer of foreign recordings is.

An importer reads one format. It never raises on bad input: what it cannot read becomes a quarantine row, and
everything readable in the same file is kept. It says what the recording shows and what the agent claims; it
judges nothing that Monitor judges.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from warehouse.domains import Domain
from warehouse.records import TRACE_TABLES, arrange, from_rows

Row = dict[str, Any]


@dataclass
class Recording:
    """One imported episode, or what is wrong with a file: rows of the trace contract as plain values."""

    episodes: list[Row] = field(default_factory=list)
    attempts: list[Row] = field(default_factory=list)
    ticks: list[Row] | pl.DataFrame = field(default_factory=list)
    events: list[Row] = field(default_factory=list)
    sightings: list[Row] = field(default_factory=list)
    inventory_changes: list[Row] = field(default_factory=list)
    quarantine: list[Row] = field(default_factory=list)
    data_quality: list[Row] = field(default_factory=list)

    def frame(self, table: str) -> pl.DataFrame:
        """A table of this recording as a contract frame."""
        rows = getattr(self, table)
        return rows if isinstance(rows, pl.DataFrame) else from_rows(table, rows)


class Importer(Protocol):
    """Reads one recording format."""

    name: str
    """the format's name, as `--format` takes it"""

    def recognises(self, folder: Path) -> bool:
        """Does the *content* of this folder (or file) look like this format? Cheap: a few small reads."""
        ...

    def read(self, folder: Path, build: str, domain: Domain) -> Iterator[Recording]:
        """Every episode below `folder`, in a fixed order, one `Recording` each; files that gave no episode
        come as recordings with nothing but quarantine rows."""
        ...


def quarantined(
    path: str,
    source: str,
    reason: str,
    *,
    position: int | None = None,
    kept: int = 0,
    size: int | None = None,
    ignored: bool = False,
) -> Row:
    """A quarantine row. `path` is relative to the imported folder; control characters are escaped."""
    return {
        "path": printable(path),
        "source": source,
        "position": position,
        "reason": printable(reason),
        "kept": kept,
        "size": size,
        "severity": "ignored" if ignored else "quarantined",
    }


def printable(text: str) -> str:
    """`text` with control characters and undecodable bytes escaped, safe for a terminal and for a store."""
    return "".join(
        char if char.isprintable() and not 0xD800 <= ord(char) <= 0xDFFF else f"\\x{ord(char):02x}"
        for char in text
    )


def merge(recordings: Iterable[Recording]) -> dict[str, pl.DataFrame]:
    """The recordings' rows as one frame per table of the trace contract, quarantine and data_quality too."""
    names = (*TRACE_TABLES, "quarantine", "data_quality")
    rows: dict[str, list[Row]] = {name: [] for name in names}
    frames: dict[str, list[pl.DataFrame]] = {name: [] for name in names}
    for recording in recordings:
        for name in names:
            part = getattr(recording, name)
            # Rows are gathered over the episodes first: a frame per episode and table would be slow.
            if isinstance(part, pl.DataFrame):
                frames[name].append(arrange(name, part))
            else:
                rows[name] += part
    return {name: arrange(name, pl.concat([*frames[name], from_rows(name, rows[name])])) for name in names}
