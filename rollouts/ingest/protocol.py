"""What an importer of foreign recordings is.

An importer reads one format. It never raises on bad input: what it cannot read becomes a quarantine row, and
everything readable in the same file is kept. It says what the recording shows and what the agent claims; it
judges nothing that Monitor judges.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, ParamSpec, Protocol

import polars as pl

from warehouse.domains import Domain
from warehouse.records import TRACE_TABLES, arrange, from_rows

Row = dict[str, Any]
P = ParamSpec("P")


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
    """`text` with control characters and undecodable bytes escaped, safe for a terminal and for a store.

    A byte of a file name that is no text reaches Python as a half character (U+DC80 to U+DCFF) and is shown
    as the byte that it is.

    >>> printable("a\\tb\\udcff")
    'a\\\\x09b\\\\xff'
    """
    return text if text.isprintable() else "".join(map(_escaped, text))


def _escaped(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if char.isprintable():
        return char
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def spared(
    relative: str, source: str, read: Callable[P, Recording], *args: P.args, **kwargs: P.kwargs
) -> Recording:
    """What `read` makes of the file `relative`; where it raises, the error as the file's quarantine row.

    An importer reads on past everything that it knows can be wrong. This is for what nobody thought of: it
    costs that file, whose row names the error, and not the run.
    """
    try:
        return read(*args, **kwargs)
    except Exception as error:
        reason = f"the importer failed on this file: {type(error).__name__}: {error}"
        return Recording(quarantine=[quarantined(relative, source, reason)])


def merge(recordings: Iterable[Recording]) -> dict[str, pl.DataFrame]:
    """The recordings' rows as one frame per table of the trace contract, quarantine and data_quality too.

    Where a value fits no column of the store, its row alone is left out and told in quarantine with its file.
    """
    held = list(recordings)
    try:
        return _together(held)
    except _UNFIT:  # one of them: only now is it worth a frame per row to find which
        return _together([_fitting(recording) for recording in held])


_NAMES: Final = (*TRACE_TABLES, "quarantine", "data_quality")
# Polars meets a foreign value in many places, each with an error of its own; a panic is no `Exception`.
_UNFIT: Final = (Exception, pl.exceptions.PanicException)


def _together(recordings: list[Recording]) -> dict[str, pl.DataFrame]:
    rows: dict[str, list[Row]] = {name: [] for name in _NAMES}
    frames: dict[str, list[pl.DataFrame]] = {name: [] for name in _NAMES}
    for recording in recordings:
        for name in _NAMES:
            part = getattr(recording, name)
            # Rows are gathered over the episodes first: a frame per episode and table would be slow.
            if isinstance(part, pl.DataFrame):
                frames[name].append(arrange(name, part))
            else:
                rows[name] += part
    return {name: arrange(name, pl.concat([*frames[name], from_rows(name, rows[name])])) for name in _NAMES}


def _fitting(recording: Recording) -> Recording:
    """The recording without the rows that fit no table, which its quarantine names."""
    kept = Recording()
    lost: list[Row] = []
    files = Files.of(recording.episodes, recording.attempts)
    for name in _NAMES:
        part = getattr(recording, name)
        if _problem(name, part) is None:
            setattr(kept, name, part)
            continue
        whole = part.to_dicts() if isinstance(part, pl.DataFrame) else part
        problems = [_problem(name, [row]) for row in whole]
        setattr(kept, name, [row for row, problem in zip(whole, problems, strict=True) if problem is None])
        for row, problem in zip(whole, problems, strict=True):
            if problem is not None:
                where = files.of_row(row) if "episode_id" in row else (printable(str(row.get("path"))), "")
                lost.append(quarantined(*where, f"{name}: a row that fits no table: {problem}"))
    kept.quarantine = [*kept.quarantine, *lost]
    return kept


def _problem(table: str, part: list[Row] | pl.DataFrame) -> str | None:
    """Why rows do not fit their table; None: they do."""
    try:
        if isinstance(part, pl.DataFrame):
            arrange(table, part)
        else:
            from_rows(table, part)
    except _UNFIT as error:
        return (str(error).splitlines() or [""])[0] or type(error).__name__
    return None


@dataclass(frozen=True)
class Files:
    """Which file an episode or an attempt was read from, for telling where a row came from."""

    episodes: dict[Any, str]
    attempts: dict[tuple[Any, Any], str]

    @classmethod
    def of(cls, episodes: Iterable[Row], attempts: Iterable[Row]) -> "Files":
        """From rows of the two tables."""
        return cls(
            {row.get("episode_id"): str(row.get("source")) for row in episodes},
            {
                (row.get("episode_id"), row.get("attempt")): row["source"]
                for row in attempts
                if row.get("source") is not None
            },
        )

    def of_row(self, row: Row) -> tuple[str, str]:
        """(file, format) of a row of any table: of its attempt, else of its episode, whose source is written
        as `format:file`."""
        episode = self.episodes.get(row.get("episode_id"), str(row.get("source") or ""))
        source, _, path = episode.partition(":")
        attempt = self.attempts.get((row.get("episode_id"), row.get("attempt"))) or row.get("source")
        is_episode = "attempt" not in row
        return (path if is_episode or not attempt else str(attempt)) or "unknown file", source
