"""Snapshots: what is known at one point, frozen. Immutable, named by its content, whole or not there.

    snapshots/<snapshot id>/entries.parquet, support.parquet, manifest.json (written last)
    snapshots/builds/<build>.json            which snapshot a build published
    snapshots/uncurated/<build>.json         and which of its candidates as they came (warehouse/uncurated.py)

The id is a hash over the entries themselves, so a new Parquet writer does not change it; the manifest lists
each file's own hash, so a damaged file is named and never taken for an empty store. That entries are
uncurated is part of the hash: an arm that plays with them can never be taken for one that does not.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson
import polars as pl
from pydantic import ValidationError

from warehouse.entries import SERVED, Entry
from warehouse.ids import BUILD_NAME, ID_LENGTH, digest_lines, file_digest
from warehouse.log import KNOWLEDGE_COLUMNS, knowledge_columns
from warehouse.shards import (
    MANIFEST,
    ROW_GROUP,
    ZSTD_LEVEL,
    DamagedShardError,
    read_manifest,
    replacing,
    verify_file,
    write_bytes,
    write_manifest,
)

ENTRIES: Final = "entries.parquet"
SUPPORT: Final = "support.parquet"
ENTRY_COLUMNS: Final = pl.Schema(
    {
        "entry_id": pl.String(),
        **KNOWLEDGE_COLUMNS,
        "confidence": pl.Float64(),
        "support": pl.Int32(),
        "support_episodes": pl.Int32(),
        "uses": pl.Int32(),
        "wins": pl.Int32(),
        "status": pl.String(),
        "merged_from": pl.List(pl.String),
        "merged_into": pl.String(),
        "first_build": pl.String(),
        "last_build": pl.String(),
        "version": pl.Int32(),
        "record": pl.String(),
    }
)
"""Columns of stored entries. `record` is the entry as JSON, from which it is read back; `support`
counts feedback rows, `support_episodes` the independent episodes behind them."""
SUPPORT_COLUMNS: Final = pl.Schema(dict.fromkeys(("entry_id", "feedback_id", "episode_id"), pl.String()))
_COMPARED: Final = pl.Schema(
    {
        "status": pl.String(),
        "support_episodes": pl.Int32(),
        "uses": pl.Int32(),
        "wins": pl.Int32(),
        "confidence": pl.Float64(),
        "version": pl.Int32(),
    }
)
_POINTERS: Final = {True: "builds", False: "uncurated"}
"""whether a snapshot is curated -> the folder that names it by build"""
_NOT_CURATED: Final = {"curated": False}


@dataclass(frozen=True)
class Snapshot:
    """A loaded snapshot: its entries by id, active or demoted; `curated` is false where they are candidates
    as they came."""

    snapshot_id: str
    path: Path
    entries: tuple[Entry, ...]
    curated: bool = True


def freeze(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """What a snapshot of these entries holds: the served ones by id, their evidence in a fixed order."""
    return tuple(
        sorted((normal(entry) for entry in entries if entry.status in SERVED), key=lambda one: one.entry_id)
    )


def normal(entry: Entry) -> Entry:
    """`entry` as it reads back from storage: its evidence sorted and once each."""
    unique = {(one.feedback_id, one.episode_id): one for one in entry.support}
    ordered = entry.model_copy(update={"support": tuple(unique[key] for key in sorted(unique))})
    return Entry.model_validate_json(_record(ordered))


def snapshot_id_of(entries: Iterable[Entry], curated: bool = True) -> str:
    """The id of a snapshot of these entries: 20 hex digits over their canonical JSON lines, before which a
    line says so where they are not curated."""
    head: list[Any] = [] if curated else [_NOT_CURATED]
    return digest_lines([*head, *freeze(entries)])[:ID_LENGTH]


def entry_rows(entries: Iterable[Entry]) -> pl.DataFrame:
    """Entries as rows of `ENTRY_COLUMNS`, in the order given."""
    rows = [
        {
            **entry.model_dump(
                include={"entry_id", "confidence", "uses", "wins", "status", "merged_into", "version"}
            ),
            **knowledge_columns(entry.domain, entry.trigger, entry.content),
            "support": len(entry.support),
            "support_episodes": entry.support_episodes,
            "merged_from": list(entry.merged_from),
            "first_build": entry.first_build,
            "last_build": entry.last_build,
            "record": _record(entry).decode(),
        }
        for entry in entries
    ]
    return pl.DataFrame(rows, schema=ENTRY_COLUMNS, orient="row")


def support_rows(entries: Iterable[Entry]) -> pl.DataFrame:
    """Which feedback, of which episode, stands behind which entry."""
    rows = [(entry.entry_id, one.feedback_id, one.episode_id) for entry in entries for one in entry.support]
    return pl.DataFrame(rows, schema=SUPPORT_COLUMNS, orient="row")


def write_snapshot(home: Path, entries: Iterable[Entry], curated: bool = True) -> Path:
    """Freezes the served entries below `home/snapshots`; the snapshot's folder.

    The same entries give the same folder with the same bytes. A folder that is already there is verified and
    left alone: `DamagedShardError` names the file that is not whole.
    """
    frozen = freeze(entries)
    snapshot_id = snapshot_id_of(frozen, curated)
    folder = home / "snapshots" / snapshot_id
    if (folder / MANIFEST).exists():
        load_snapshot(folder)
        return folder
    files = {
        name: _write_file(folder / name, frame)
        for name, frame in ((ENTRIES, entry_rows(frozen)), (SUPPORT, support_rows(frozen)))
    }
    write_manifest(
        folder,
        {
            "snapshot_id": snapshot_id,
            "curated": curated,
            "entries": len(frozen),
            "skills": sum(entry.type == "skill" for entry in frozen),
            "remedies": sum(entry.type == "remedy" for entry in frozen),
            "files": files,
        },
    )
    return folder


def load_snapshot(folder: Path) -> Snapshot:
    """The snapshot in `folder`, every file checked against its hash and the entries against the id.

    `DamagedShardError` names what is missing or differs; `FileNotFoundError` when nothing was committed
    there.
    """
    manifest = _verified_manifest(folder)
    try:
        records = pl.read_parquet(folder / ENTRIES, columns=["record"], glob=False)["record"]
        entries = tuple(Entry.model_validate_json(record) for record in records)
    except (OSError, pl.exceptions.PolarsError, ValidationError) as error:
        raise DamagedShardError(f"{folder / ENTRIES} cannot be read: {error}") from error
    # Older manifests do not say: all there was then was curated.
    curated = manifest.get("curated", True)
    found = snapshot_id_of(entries, curated)
    if not found == manifest["snapshot_id"] == folder.name:
        raise DamagedShardError(
            f"{folder} is damaged: its entries make snapshot {found}, its manifest says "
            f"{manifest['snapshot_id']}"
        )
    return Snapshot(found, folder, entries, curated)


def verify_snapshots(home: Path) -> int:
    """Loads every committed snapshot; how many there are. Raises what `load_snapshot` raises."""
    return len([load_snapshot(folder) for folder in list_snapshots(home)])


def list_snapshots(home: Path) -> list[Path]:
    """The folders of the committed snapshots, sorted by id."""
    folders = (path.parent for path in (home / "snapshots").glob(f"*/{MANIFEST}"))
    return sorted(folder for folder in folders if folder.name not in _POINTERS.values())


def entry_ids(home: Path) -> dict[str, frozenset[str]]:
    """Snapshot id -> the ids of its entries, of every committed snapshot."""
    found = {}
    for folder in list_snapshots(home):
        try:
            ids = pl.read_parquet(folder / ENTRIES, columns=["entry_id"], glob=False)["entry_id"]
        except (OSError, pl.exceptions.PolarsError) as error:
            raise DamagedShardError(f"{folder / ENTRIES} cannot be read: {error}") from error
        found[folder.name] = frozenset(ids)
    return found


def publish_snapshot(home: Path, build: str, entries: Iterable[Entry], curated: bool = True) -> Path:
    """Writes the snapshot and names it as the one that `build` published; the snapshot's folder. A build has
    one of each sort, with a pointer of its own.

    An earlier snapshot of the same build stays where it is: later builds may have been made from it.
    """
    _refuse_name(build)
    folder = write_snapshot(home, entries, curated)
    point_at(home, build, folder.name, curated)
    return folder


def point_at(home: Path, build: str, snapshot_id: str, curated: bool = True) -> None:
    """Names a snapshot as the one that `build` publishes; `ValueError` if the build cannot name a file."""
    _refuse_name(build)
    named = orjson.dumps({"build": build, "snapshot_id": snapshot_id}, option=orjson.OPT_INDENT_2)
    write_bytes(pointer(home, build, curated), named)


def published_snapshot(home: Path, build: str, curated: bool = True) -> str | None:
    """The id of the snapshot of that sort that `build` published; None when it published none."""
    path = pointer(home, build, curated)
    if not path.exists():
        return None
    try:
        return str(orjson.loads(path.read_bytes())["snapshot_id"])
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise DamagedShardError(f"{path} is damaged: {error}") from error


def pointer(home: Path, build: str, curated: bool = True) -> Path:
    """The file that names the snapshot which a build published."""
    return home / "snapshots" / _POINTERS[curated] / f"{build}.json"


def pointers(home: Path) -> list[tuple[str, bool]]:
    """(build, curated) of every file that names a published snapshot, sorted."""
    return sorted(
        (path.stem, curated)
        for curated, folder in _POINTERS.items()
        for path in (home / "snapshots" / folder).glob("*.json")
    )


def diff(old: Snapshot, new: Snapshot) -> pl.DataFrame:
    """What changed between two snapshots, one row per entry that differs, sorted by (change, entry_id).

    `change` is added, demoted, restored (active again), merged (gone, and an entry of `new` was made from
    it), removed (retired) or, for anything else, changed; the status and each figure of the evidence stand
    as `<name>_before` and `<name>_after`, null on the side without the entry.
    """
    before = {entry.entry_id: entry for entry in old.entries}
    after = {entry.entry_id: entry for entry in new.entries}
    absorbed = {one for entry in new.entries for one in entry.merged_from}
    rows: list[dict[str, Any]] = []
    for entry_id in sorted(before.keys() | after.keys()):
        was, now = before.get(entry_id), after.get(entry_id)
        if was == now:
            continue
        shown = now or was
        assert shown is not None
        columns = knowledge_columns(shown.domain, shown.trigger, shown.content)
        rows.append(
            {
                "change": "merged" if now is None and entry_id in absorbed else _change(was, now),
                "entry_id": entry_id,
                **{name: columns[name] for name in ("type", "kind", "target", "failure_type")},
                **{f"{name}_before": getattr(was, name, None) for name in _COMPARED},
                **{f"{name}_after": getattr(now, name, None) for name in _COMPARED},
            }
        )
    strings = ("change", "entry_id", "type", "kind", "target", "failure_type")
    figures = {f"{name}_{side}": dtype for side in ("before", "after") for name, dtype in _COMPARED.items()}
    schema = {**dict.fromkeys(strings, pl.String()), **figures}
    return pl.DataFrame(rows, schema=schema, orient="row").sort("change", "entry_id")


def _change(was: Entry | None, now: Entry | None) -> str:
    if was is None:
        return "added"
    if now is None:
        return "removed"
    if was.status == now.status:
        return "changed"
    return "demoted" if now.status == "demoted" else "restored"


def _record(entry: Entry) -> bytes:
    # Floats are not rounded here as in an id: an entry that reads back another than it was would look changed
    # to the next pass of Curator, and would get a new version.
    return orjson.dumps(entry.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS)


def _verified_manifest(folder: Path) -> dict[str, Any]:
    manifest = read_manifest(folder)
    if manifest is None:
        raise FileNotFoundError(
            f"{folder} has no {MANIFEST}: no snapshot was committed there; "
            "`mineevolve snapshot list` shows those that were"
        )
    try:
        listed = {name: manifest["files"][name]["sha256"] for name in (ENTRIES, SUPPORT)}
    except (KeyError, TypeError) as error:
        raise DamagedShardError(f"{folder / MANIFEST} is damaged: it lacks {error}") from error
    for name, sha256 in listed.items():
        verify_file(folder / name, sha256)
    return manifest


def _write_file(path: Path, frame: pl.DataFrame) -> dict[str, Any]:
    with replacing(path) as temporary:
        frame.write_parquet(
            temporary, compression="zstd", compression_level=ZSTD_LEVEL, row_group_size=ROW_GROUP
        )
    return {"sha256": file_digest(path), "rows": frame.height}


def _refuse_name(build: str) -> None:
    if not BUILD_NAME.fullmatch(build):
        raise ValueError(f"{build!r} cannot name a file: letters, digits, '.', '_' and '-' only")
