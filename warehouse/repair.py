"""Mends what can be mended without loss: from what else holds it, or because nothing rests on it.

Whatever is put back is proven by its hash: a shard of the log has to be named by its rows, a snapshot by its
entries. What is damaged is moved to `quarantine/` and kept; what nothing else holds stays where it is, is
named, and the command that makes it anew is said. Of the trajectories nothing here makes anything anew.
"""

from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import duckdb
import polars as pl

from warehouse import log
from warehouse.analysis import ANALYSIS
from warehouse.build_evidence import StaleFeedbackError
from warehouse.database import CONFIG, WAREHOUSE, fetch, statement
from warehouse.entries import Entry
from warehouse.fold import CurateBuild, rebuild
from warehouse.log import LogShard
from warehouse.log_tables import INBOX, LOG_TABLES
from warehouse.quarantine import place_for, set_aside
from warehouse.shards import DamagedShardError, write_bytes
from warehouse.snapshots import (
    ENTRIES,
    list_snapshots,
    load_snapshot,
    pointer,
    pointers,
    publish_snapshot,
    published_snapshot,
    snapshot_id_of,
    write_snapshot,
)
from warehouse.telemetry import telemetry_files
from warehouse.uncurated import uncurated_store
from warehouse.writing import is_gone

_LEARNT: Final = ("answers", "candidates", "reviews")
"""what learning a build gives again"""


class Found(NamedTuple):
    """Something that was not as it should be: what, and what was done about it or can be done."""

    what: str
    said: str
    mended: bool = True


def leftovers(home: Path) -> list[Path]:
    """What writers left half written that were killed on this machine, sorted. None of it is ever read."""
    return sorted(path for path in home.rglob(".*.tmp*") if path.is_file() and is_gone(_writer_of(path)))


def sweep(home: Path) -> Iterator[Found]:
    """Removes the leftovers of killed writers."""
    gone = leftovers(home)
    for path in gone:
        path.unlink(missing_ok=True)
    if gone:
        yield Found(f"{len(gone)} files that killed writers left half written", "removed")


def mend_telemetry(home: Path) -> Iterator[Found]:
    """Puts unreadable files of the telemetry aside: nothing rests on it, but publishing reads it."""
    for path in damaged_telemetry(home):
        yield Found(
            f"{path} cannot be read", f"out of the way; it is kept as {_below(home, set_aside(home, path))}"
        )


def damaged_telemetry(home: Path) -> list[Path]:
    """The files of the telemetry that cannot be read."""
    found = []
    for path in telemetry_files(home):
        try:
            pl.read_parquet(path, glob=False)
        except (OSError, pl.exceptions.PolarsError):
            found.append(path)
    return found


def log_faults(home: Path) -> list[tuple[LogShard, str]]:
    """The shards of the log that are damaged, and those that the warehouse was made from and that are gone,
    each with what is wrong."""
    found = []
    there = set()
    for shard in log.shards(home):
        there.add(shard.path)
        try:
            log.read_shard(shard)
        except (DamagedShardError, ValueError) as error:
            found.append((shard, str(error)))
    for file in _listed(home):
        path = home / file
        if path not in there:
            shard = LogShard(path.parts[-2], path.parts[-3], path.stem, path)
            found.append((shard, f"{path} is gone, and the warehouse was made from it"))
    return sorted(found)


def mend_log(home: Path) -> Iterator[Found]:
    """Puts back shards of the log whose rows the warehouse, or its published copy, still holds."""
    for shard, fault in log_faults(home):
        rows = _rows_of(home, shard)
        if rows is None:
            yield Found(fault, _advice(home, shard), mended=False)
            continue
        kept = ""
        if shard.path.exists():
            kept = f"; what was damaged is kept as {_below(home, set_aside(home, shard.path))}"
        log.append(home, shard.kind, shard.build, rows)
        yield Found(fault, f"written again from the warehouse, with the same id{kept}")


def snapshot_faults(home: Path) -> list[tuple[Path, str]]:
    """The folders of snapshots that are damaged, each with what is wrong."""
    found = []
    named = set()
    for build, curated in pointers(home):
        with suppress(DamagedShardError):  # mend_pointers
            named.add(home / "snapshots" / str(published_snapshot(home, build, curated)))
    for folder in sorted({*list_snapshots(home), *named}):
        try:
            load_snapshot(folder)
        except (DamagedShardError, FileNotFoundError) as error:
            found.append((folder, str(error)))
    return found


def mend_warehouse(home: Path, curate: CurateBuild, fault: str) -> Iterator[Found]:
    """Makes a damaged warehouse anew from the shards, and then mends the snapshots from it. A fold reads the
    published snapshots, so those that are damaged are out of its way meanwhile."""
    apart = [(folder, set_aside(home, folder)) for folder, _ in snapshot_faults(home) if folder.exists()]
    said, mended = "made anew from the shards", True
    try:
        rebuild(home, curate)
    except (DamagedShardError, StaleFeedbackError) as error:
        said, mended = f"cannot be made anew from the shards before they are whole: {error}", False
    finally:
        for folder, kept in apart:
            kept.rename(folder)
    yield Found(fault, said, mended)
    yield from mend_snapshots(home)


def pointer_faults(home: Path) -> list[tuple[str, bool, str]]:
    """(build, curated, what is wrong) of the damaged files that name published snapshots."""
    found = []
    for build, curated in pointers(home):
        try:
            published_snapshot(home, build, curated)
        except DamagedShardError as error:
            found.append((build, curated, str(error)))
    return found


def mend_pointers(home: Path) -> Iterator[Found]:
    """Has a build publish again what it froze to by the warehouse, where the file that names its snapshot is
    damaged."""
    for build, curated, fault in pointer_faults(home):
        column = "snapshot_id" if curated else "uncurated_snapshot_id"
        rows = next(_asked(home, f"SELECT {column} AS id FROM builds WHERE build = $1", [build]), None)
        snapshot_id = None if rows is None or rows.is_empty() else rows["id"][0]
        frozen = None if snapshot_id is None else _entries_of(home, home / "snapshots" / snapshot_id)
        if frozen is None:
            yield Found(fault, f"`mineevolve run --build {build}` publishes it anew", mended=False)
        else:
            # Copied and written over, not moved: of a file that is gone, because a repair was killed between
            # the two, nobody would know. The snapshot may be gone already, and is then frozen anew.
            damaged = pointer(home, build, curated)
            kept = place_for(home, damaged)
            write_bytes(kept, damaged.read_bytes())
            publish_snapshot(home, build, frozen[1], curated)
            yield Found(
                fault,
                f"build {build} publishes {snapshot_id} again, which its knowledge freezes to; what was "
                f"damaged is kept as {_below(home, kept)}",
            )


def mend_snapshots(home: Path) -> Iterator[Found]:
    """Freezes damaged snapshots anew, under the same id: from their own entries where these are whole, or
    from the warehouse."""
    for folder, fault in snapshot_faults(home):
        again = _entries_of(home, folder)
        if again is None:
            yield Found(fault, "neither its entries nor the warehouse give it again", mended=False)
            continue
        curated, entries = again
        kept = ""
        if folder.exists():
            kept = f"; what was damaged is kept as {_below(home, set_aside(home, folder))}"
        write_snapshot(home, entries, curated)
        yield Found(fault, f"frozen anew, with the same id{kept}")


def _writer_of(leftover: Path) -> str:
    """The writer in `.NAME.WRITER.tmp`, or what DuckDB put behind that."""
    return leftover.name.partition(".tmp")[0].rpartition(".")[2]


def _below(home: Path, path: Path) -> str:
    return path.relative_to(home).as_posix()


def _listed(home: Path) -> list[str]:
    answers = _asked(home, "SELECT file FROM shards WHERE store = 'log' ORDER BY file")
    return next((rows["file"].to_list() for rows in answers), [])


def _asked(home: Path, sql: str, params: list[Any] | None = None) -> Iterator[pl.DataFrame]:
    """What the warehouse answers, and then its published copy; one that cannot be read answers nothing."""
    for name in (WAREHOUSE, ANALYSIS):
        if not (home / name).exists():
            continue
        try:
            with closing(duckdb.connect(home / name, read_only=True, config=CONFIG)) as con:
                rows = fetch(con, sql, params)
        except duckdb.Error:
            continue
        yield rows


def _rows_of(home: Path, lost: LogShard) -> pl.DataFrame | None:
    """The rows of a lost shard, as a database still holds them; None where none holds just these."""
    known = log.KINDS[lost.kind]
    others = [
        log.read_shard(one).select(known.key)
        for one in log.shards(home, [lost.build])
        if one.kind == lost.kind and one.path != lost.path and _is_whole(one)
    ]
    elsewhere = pl.concat(others) if others else pl.DataFrame(schema=known.schema).select(known.key)
    for every in _held(home, lost):
        held = every.join(elsewhere, on=known.key, how="anti", nulls_equal=True)
        rows = log.in_order(lost.kind, held)
        if log.content_id(lost.kind, lost.build, rows) == lost.shard_id:
            return rows
    return None


def _held(home: Path, lost: LogShard) -> Iterator[pl.DataFrame]:
    """All rows of a kind and build that a database holds, as the log has them."""
    schema = log.KINDS[lost.kind].schema
    if lost.kind == "put_aside":
        columns, table = (
            "build, path AS kept_at, position, reason, size",
            f"quarantine WHERE source = '{INBOX}' AND",
        )
    else:
        columns, table = ", ".join(f'"{name}"' for name in schema), f"{LOG_TABLES[lost.kind]} WHERE"
    for found in _asked(home, f"SELECT {columns} FROM {table} build = $1", [lost.build]):
        yield found.select(pl.col(name).cast(dtype) for name, dtype in schema.items())


def _is_whole(shard: LogShard) -> bool:
    try:
        log.read_shard(shard)
    except (DamagedShardError, ValueError):
        return False
    return True


def _advice(home: Path, shard: LogShard) -> str:
    if shard.kind in _LEARNT:
        again = f"`mineevolve run --build {shard.build}` learns it anew from the build's feedback"
    elif shard.kind == "tryouts":
        again = f"`mineevolve run --build {shard.build}` learns the build again and plays them anew"
    elif shard.kind == "imports":
        again = (
            "`mineevolve knowledge import FILE`, or `knowledge hand-in` where it came from, brings it again"
        )
    elif shard.kind == "evaluations":
        again = f"`mineevolve evaluate --build {shard.build}` makes it anew from the episodes"
    else:
        again = "nothing makes it anew: what it said will be missing"
    where = _below(home, shard.path)
    return (
        f"no database holds its rows. Put a copy of {where} back; or move it to {home / 'quarantine'}, and "
        f"then {again}"
    )


def _entries_of(home: Path, folder: Path) -> tuple[bool, tuple[Entry, ...]] | None:
    """Whether a snapshot is curated, and its entries; None where nothing gives them."""
    own = _own_entries(folder)
    for curated in (True, False):
        if own is not None and snapshot_id_of(own, curated) == folder.name:
            return curated, own
    for curated, entries in _folded(home, folder.name):
        if snapshot_id_of(entries, curated) == folder.name:
            return curated, entries
    return None


def _own_entries(folder: Path) -> tuple[Entry, ...] | None:
    try:
        records = pl.read_parquet(folder / ENTRIES, columns=["record"], glob=False)["record"]
        return tuple(Entry.model_validate_json(record) for record in records)
    except (OSError, ValueError, pl.exceptions.PolarsError):
        return None


def _folded(home: Path, snapshot_id: str) -> Iterator[tuple[bool, tuple[Entry, ...]]]:
    """What the builds freeze to that have this snapshot by the warehouse."""
    builds = (
        "SELECT build, snapshot_id = $1 AS curated FROM builds "
        "WHERE $1 IN (snapshot_id, uncurated_snapshot_id)"
    )
    for rows in _asked(home, builds, [snapshot_id]):
        for build, curated in rows.sort("build").iter_rows():
            if curated:
                for records in _asked(home, statement("fold/store_after"), [build]):
                    yield True, tuple(Entry.model_validate_json(one) for one in records["record"])
            else:
                yield False, uncurated_store(home, build)
