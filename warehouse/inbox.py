"""The inbox: candidates that other machines hand in, until one curation takes them into the log.

    inbox/<build>/<content id>.parquet

A shard holds candidates of one build together with the facts that they cite, in one file: neither arrives
without the other, and V_evidence can be decided where the recordings never were. As in an import
(warehouse/exchange.py) nothing is believed because it was handed in, and where the home has the same feedback
itself, its own word counts.

Shards are written to a temporary name, renamed, and named by the hash of their rows; so are those of the log.
Hence a machine that was killed hands the same in again, whoever takes shards in and is killed takes them in
again, and neither gives anything twice; what the log holds in the end follows from the set of shards and not
from when they came. A shard is removed once its rows are in the log and on the disk.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import polars as pl
from pydantic import ValidationError

from warehouse import log
from warehouse.database import LOCK_WAIT_S, exclusive
from warehouse.exchange import fact_as_json, fact_of, fault_of
from warehouse.facts import FeedbackFact
from warehouse.ids import BUILD_NAME, derive_id
from warehouse.knowledge import Candidate
from warehouse.quarantine import place_for, set_aside
from warehouse.shards import ROW_GROUP, ZSTD_LEVEL, replacing, sync_folder
from warehouse.writing import reached, refusals_explained

FOLDER: Final = "inbox"
CANDIDATES_PER_SHARD: Final = 1000
MOST_BYTES: Final = 256 << 20
"""a larger shard is not even opened"""
COLUMNS: Final = pl.Schema(dict.fromkeys(("part", "id", "record"), pl.String()))
"""`part` is candidate or fact, `record` its JSON"""
_CANDIDATE: Final = "candidate"
_FACT: Final = "fact"
_NAME: Final = re.compile(r"[0-9a-f]{20}\.parquet")


class HandedIn(NamedTuple):
    """A shard of the inbox, and how much it holds."""

    path: Path
    candidates: int
    facts: int


class PutAside(NamedTuple):
    """A shard that could not be read: where it lay and is kept now, and why."""

    file: Path
    kept_at: Path
    reason: str


class Taken(NamedTuple):
    """What was taken from the inbox into the log: candidates by build, with how many facts, from how many
    shards; and the shards that were put aside."""

    candidates: dict[str, int]
    facts: int
    shards: int
    put_aside: tuple[PutAside, ...]


class _BadShardError(ValueError):
    """Why a shard is not what was handed in."""


class _Content(NamedTuple):
    candidates: list[Candidate]
    facts: dict[str, tuple[FeedbackFact, str]]


def hand_in(home: Path, candidates: Iterable[Candidate], facts: Mapping[str, FeedbackFact]) -> list[HandedIn]:
    """Puts candidates into the inbox of the data home `home`, with those of `facts` (by feedback id) that
    they cite; the shards, which are on the disk when this returns.

    Any number of processes may do so at once. What is handed in again is there once. A candidate whose facts
    are not at hand is handed in without: the home may have its feedback itself.
    """
    by_build: dict[str, dict[str, Candidate]] = {}
    for candidate in candidates:
        by_build.setdefault(candidate.build, {})[candidate.candidate_id] = candidate
    return [
        _write(home, build, [ids[one] for one in sorted(ids)[start : start + CANDIDATES_PER_SHARD]], facts)
        for build, ids in sorted(by_build.items())
        for start in range(0, len(ids), CANDIDATES_PER_SHARD)
    ]


def waiting(home: Path, builds: Collection[str] | None = None) -> list[Path]:
    """The shards that lie in the inbox, for these builds (all by default), in the order in which they are
    taken in."""
    return sorted(
        path
        for path in (home / FOLDER).glob("*/*")
        if not path.name.startswith(".")
        and path.is_file()
        and BUILD_NAME.fullmatch(path.parent.name)
        and (builds is None or path.parent.name in builds)
    )


def is_named_as_one(path: Path) -> bool:
    """Whether a file of the inbox has a shard's name; one that has none lies there by mistake."""
    return _NAME.fullmatch(path.name) is not None and not path.is_symlink()


def take_in(home: Path, builds: Collection[str] | None = None, wait_s: float = LOCK_WAIT_S) -> Taken:
    """Takes what lies in the inbox, for these builds (all by default), into the log, and removes it there.

    A shard is taken whole or not at all. One that is no shard is put into quarantine, with a row of the log
    that says why, and the rest is taken. One process at a time: `BusyError` after `wait_s` seconds. Raises as
    `log.append` does where the log itself is damaged.
    """
    if not waiting(home, builds):
        return Taken({}, 0, 0, ())
    candidates: dict[str, int] = {}
    facts = shards = 0
    put_aside = []
    with exclusive(home / FOLDER / ".lock", f"what lies in {home / FOLDER}", wait_s):
        for path in waiting(home, builds):
            build = path.parent.name
            try:
                content = _read(path)
            except _BadShardError as fault:
                put_aside.append(_put_aside(home, path, str(fault)))
                continue
            _note(home, build, path.stem, content)
            _remove(path)
            candidates[build] = candidates.get(build, 0) + len(content.candidates)
            facts += len(content.facts)
            shards += 1
    return Taken(candidates, facts, shards, tuple(put_aside))


def _write(
    home: Path, build: str, candidates: list[Candidate], known: Mapping[str, FeedbackFact]
) -> HandedIn:
    cited = sorted({one for candidate in candidates for one in candidate.support} & known.keys())
    rows = [(_CANDIDATE, one.candidate_id, one.model_dump_json()) for one in candidates]
    rows += [(_FACT, one, fact_as_json(known[one]).decode()) for one in cited]
    path = home / FOLDER / build / f"{_content_id(build, rows)}.parquet"
    if not BUILD_NAME.fullmatch(build):
        raise ValueError(f"{build!r} cannot name a folder: letters, digits, '.', '_' and '-' only")
    with replacing(path) as temporary:
        pl.DataFrame(rows, schema=COLUMNS, orient="row").write_parquet(
            temporary, compression="zstd", compression_level=ZSTD_LEVEL, row_group_size=ROW_GROUP
        )
    return HandedIn(path, len(candidates), len(cited))


def _content_id(build: str, rows: list[tuple[str, str, str]]) -> str:
    return derive_id("inbox", [build, rows])


def _read(path: Path) -> _Content:
    """What a shard holds; `_BadShardError` says what in it is wrong."""
    build = path.parent.name
    if not is_named_as_one(path):
        raise _BadShardError("is no shard: a shard is named by the 20 digits of its content")
    if path.stat().st_size > MOST_BYTES:
        raise _BadShardError(f"is larger than {MOST_BYTES >> 20} MiB")
    try:
        frame = pl.read_parquet(path, glob=False)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise _BadShardError(f"cannot be read as Parquet: {error}") from error
    if frame.schema != COLUMNS:
        raise _BadShardError(f"has the columns {dict(frame.schema)}, not {dict(COLUMNS)}")
    rows = frame.rows()
    if _content_id(build, rows) != path.stem:
        raise _BadShardError("is damaged: its rows are not the ones that it was named for")
    content = _Content([], {})
    seen: set[tuple[str, str]] = set()
    for number, (part, one, record) in enumerate(rows):
        try:
            _take_row(content, part, one, record, build)
            if (part, one) in seen:
                raise ValueError("stands there twice")
        except ValueError as error:
            said = fault_of(error) if isinstance(error, ValidationError) else str(error)
            raise _BadShardError(f"row {number}, {part} {one}: {said}") from error
        seen.add((part, one))
    return content


def _take_row(content: _Content, part: str, one: str, record: str, build: str) -> None:
    if part == _FACT:
        fact = fact_of(record)
        if fact.feedback_id != one:
            raise ValueError(f"is of feedback {fact.feedback_id}")
        content.facts[one] = (fact, record)
    elif part == _CANDIDATE:
        candidate = Candidate.model_validate_json(record)
        if candidate.candidate_id != one:
            raise ValueError(f"its content makes {candidate.candidate_id}")
        if candidate.build != build:
            raise ValueError(f"is of build {candidate.build}, not {build}")
        content.candidates.append(candidate)
    else:
        raise ValueError("is neither a candidate nor a fact")


def _note(home: Path, build: str, shard_id: str, content: _Content) -> None:
    """Logs what a shard holds; what it rests on goes first, as in an import."""
    rows = [
        (build, shard_id, None, feedback_id, fact.episode_id, record)
        for feedback_id, (fact, record) in sorted(content.facts.items())
    ]
    log.append(home, "imports", build, pl.DataFrame(rows, schema=log.KINDS["imports"].schema, orient="row"))
    log.append(home, "candidates", build, log.candidate_rows(content.candidates))


def _remove(path: Path) -> None:
    with refusals_explained(path):
        reached("taken", path)
        path.unlink()
        reached("removed", path)
        sync_folder(path.parent)


def _put_aside(home: Path, path: Path, reason: str) -> PutAside:
    """The row comes before the move: killed between the two, the same is done again."""
    build, kept_at = path.parent.name, place_for(home, path)
    row = {
        "build": build,
        "kept_at": kept_at.relative_to(home).as_posix(),
        "position": None,
        "reason": reason,
        "size": path.stat().st_size,
    }
    log.append(home, "put_aside", build, pl.DataFrame([row], schema=log.KINDS["put_aside"].schema))
    return PutAside(path, set_aside(home, path), reason)
