"""Recordings in the trace contract itself: Parquet tables written by our own worlds, or by anyone who follows
`warehouse.records`. A table is `<name>.parquet` or every file in `<name>/`.

Each row is held against the contract. A row that breaks a rule, or that belongs to no episode or attempt of
the folder, is quarantined with the rule's name; the rest is kept. Ids are kept as they are; `build` is the
build that they are imported into. A partition of our own store may be given: its quarantine and findings
come along, and of its shards only those are read that its manifest lists, since the others are outdated.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import new_class
from typing import BinaryIO, Final, cast

import dataframely as dy
import polars as pl
import pyarrow.parquet as pq

from rollouts.ingest import quality
from rollouts.ingest.protocol import Recording, Row, quarantined
from rollouts.ingest.walk import Walk, any_file, file_size, files_below, is_folder, left_over
from warehouse.domains import Domain
from warehouse.records import TABLES, TRACE_TABLES, arrange, empty, from_rows, polars_schema
from warehouse.shards import MANIFEST, DamagedShardError, read_manifest

FORMAT: Final = "native"
LARGEST_TABLE: Final = 1 << 24
"""rows of one file, and values of one of its columns: ten days of ticks; larger tables are cut into shards"""
MOST_ROWS: Final = 200
"""broken rows of one file that are told one by one; the rest is summed up"""
_MAGIC: Final = b"PAR1"
_ROW: Final = "row_in_file"
_FILE: Final = "file"
_KEY_RULE: Final = "primary_key"
_ATTEMPT: Final = ["episode_id", "attempt"]
_QUARANTINE: Final = "quarantine"
_FINDINGS: Final = "data_quality"
_READ: Final = (*TRACE_TABLES, _FINDINGS)
# Beside the manifest our own store keeps a lock, and drafts of files that a crash left behind.
_OWN_FILE: Final = re.compile(rf"^(?:\.?{re.escape(MANIFEST)}(?:\.lock)?|\.draft\..+|\..+\.tmp)$")


class NativeImporter:
    """Reads folders of contract tables."""

    name = FORMAT

    def recognises(self, folder: Path) -> bool:
        """Is there a Parquet file in the place of the episodes table, with an episode id in it?"""
        if not is_folder(folder):
            return folder.name == "episodes.parquet" and _is_episodes(folder)
        shards = any_file(folder / "episodes", (".parquet",), _is_episodes)
        return shards or _is_episodes(folder / "episodes.parquet")

    def read(self, folder: Path, build: str, domain: Domain) -> Iterator[Recording]:
        """Every episode, by id, with the rows of all tables that belong to it; then the quarantine."""
        walk = files_below(folder)
        told = walk.quarantine(FORMAT)
        outdated = _outdated(walk, told)
        tables = {table: _read_table(walk, outdated, table, told) for table in _READ}
        _drop_orphans(tables, told)
        _add_findings(tables)
        parts = {
            table: frame.drop(_ROW, _FILE).partition_by("episode_id", as_dict=True)
            for table, frame in tables.items()
        }
        for (episode_id,) in sorted(parts["episodes"]):
            mine = {table: parts[table].get((episode_id,), empty(table)) for table in _READ}
            mine["episodes"] = mine["episodes"].with_columns(build=pl.lit(build))
            yield Recording(
                ticks=arrange("ticks", mine.pop("ticks")),
                **{table: arrange(table, frame).to_dicts() for table, frame in mine.items()},
            )
        before = _read_table(walk, outdated, _QUARANTINE, told).drop(_ROW, _FILE)
        used = {path for table in (*_READ, _QUARANTINE) for path, _ in _table_files(walk, table)}
        for relative, path in walk.named().items():
            if relative in outdated:
                reason = "a shard that the manifest no longer lists"
                size = file_size(path)
                told.append(quarantined(relative, FORMAT, reason, size=size, ignored=True))
            elif path not in used:
                told.append(left_over(path, relative, FORMAT, side=bool(_OWN_FILE.match(path.name))))
        yield Recording(quarantine=[*before.to_dicts(), *told])


def _table_files(walk: Walk, table: str) -> list[tuple[Path, str]]:
    """The table's files, the one that holds it whole before its shards."""
    named = walk.named()
    whole = f"{table}.parquet"
    return [
        *((path, whole) for path in [named.get(whole)] if path is not None),
        *(
            (path, relative)
            for relative, path in named.items()
            if relative.startswith(f"{table}/") and path.suffix == ".parquet" and path.name[0] != "."
        ),
    ]


def _outdated(walk: Walk, told: list[Row]) -> set[str]:
    """The shards of a partition of our own that its manifest does not list; none without such a manifest."""
    if not is_folder(walk.root):
        return set()
    try:
        sources = (read_manifest(walk.root) or {})["sources"]
        listed = {
            f"{table}/{shard['file']}"
            for tables in sources.values()
            for table, shards in tables.items()
            for shard in shards
        }
    except DamagedShardError as error:
        reason = f"not valid JSON, so every shard is read: {error.__cause__}"
        told.append(quarantined(MANIFEST, FORMAT, reason, position=0))
        return set()
    except (OSError, KeyError, TypeError, AttributeError):
        return set()  # someone else's manifest, or one that cannot be read, which the walk tells
    shards = {relative for table in (*_READ, _QUARANTINE) for _, relative in _table_files(walk, table)}
    return {relative for relative in shards - listed if "/" in relative}


def _add_findings(tables: dict[str, pl.DataFrame]) -> None:
    """Looks for contradictions in these recordings too, beside the findings that came with them. Their clocks
    and counters are changes already, so only what the tables themselves show can be found."""
    found = quality.findings(
        tables["ticks"],
        tables["inventory_changes"],
        counters=pl.DataFrame(schema=quality.TOTALS),
        clocks=pl.DataFrame(schema=quality.TOTALS),
        ends=_declared_ends(tables),
    )
    rows = from_rows(_FINDINGS, found).with_columns(
        pl.lit(None, pl.Int64).alias(_ROW), pl.lit(None, pl.String).alias(_FILE)
    )
    both = pl.concat([tables[_FINDINGS], rows])
    tables[_FINDINGS] = both.unique(list(polars_schema(_FINDINGS)), keep="first", maintain_order=True)


def _declared_ends(tables: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """The last tick that each episode has by its own row."""
    inside = tables["ticks"].join(tables["episodes"].select("episode_id", "n_ticks"), on="episode_id")
    last = inside.filter(pl.col("tick") < pl.col("n_ticks")).sort("episode_id", "tick")
    return (
        last.group_by("episode_id", maintain_order=True)
        .agg(pl.col("attempt").last(), pl.col("tick").last())
        .with_columns(what=pl.lit("the last tick by the episode's own count"))
        # Polars takes a schema here too; its annotation asks for a mapping that may have selectors for keys.
        .cast(quality.ENDS)  # type: ignore[arg-type]
    )


def _is_episodes(path: Path) -> bool:
    try:
        with path.open("rb") as handle:
            if handle.read(len(_MAGIC)) != _MAGIC:
                return False
            handle.seek(0)
            return "episode_id" in pl.read_parquet_schema(handle)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return False


def _read_table(walk: Walk, outdated: set[str], table: str, quarantine: list[Row]) -> pl.DataFrame:
    """The rows of a table that keep the contract, with the file and the row they came from."""
    places = {_ROW: pl.Int64, _FILE: pl.String}
    frames = [pl.DataFrame(schema={**polars_schema(table), **places})]
    for path, relative in _table_files(walk, table):
        if relative in outdated:
            continue
        kept = _read_file(path, relative, table, quarantine)
        if kept is not None:
            frames.append(kept)
    frame = pl.concat(frames)
    keys = TABLES[table].schema.primary_key()
    if not keys:
        return frame
    first = pl.struct(keys).is_first_distinct()
    _tell(frame.filter(~first), _KEY_RULE, frame.filter(first), quarantine)
    return frame.filter(first)


def _read_file(path: Path, relative: str, table: str, quarantine: list[Row]) -> pl.DataFrame | None:
    size = file_size(path)

    def refuse(reason: str) -> None:
        quarantine.append(quarantined(relative, FORMAT, reason, position=0, size=size))

    try:
        with path.open("rb") as handle:  # a path would be read as a pattern
            values = _most_values(handle)
            if values > LARGEST_TABLE:
                refuse(f"{values} rows or values in one table, more than {LARGEST_TABLE}: cut it into shards")
                return None
            handle.seek(0)
            frame = pl.read_parquet(handle)
    # The Parquet decoder is foreign code: on damaged bytes it raises errors of its own, and panics, which are
    # no `Exception`. Whatever it is becomes the reason.
    except (Exception, pl.exceptions.PanicException) as error:
        words = str(error).splitlines() or [type(error).__name__]
        refuse("empty file" if size == 0 else f"not readable as Parquet: {words[0]}")
        return None
    columns = TABLES[table].schema.columns()
    missing = [name for name, column in columns.items() if not column.nullable and name not in frame.columns]
    if missing:
        refuse(f"without the required column {', '.join(missing)}")
        return None
    unknown = [name for name in frame.columns if name not in columns]
    if unknown:
        reason = f"columns that the contract does not know, left out: {', '.join(unknown)}"
        quarantine.append(quarantined(relative, FORMAT, reason, kept=frame.height, size=size, ignored=True))
    whole = frame.select(
        *(
            pl.col(name) if name in frame.columns else pl.lit(None, dtype).alias(name)
            for name, dtype in polars_schema(table).items()
        ),
        pl.int_range(pl.len(), dtype=pl.Int64).alias(_ROW),
    )
    try:
        kept, broken = _sift(table, whole)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        refuse(f"a column is of another type: {str(error).splitlines()[0]}")
        return None
    for told, (row, rules) in enumerate(broken):
        if told == MOST_ROWS:
            reason = f"{len(broken) - told} more rows that break the contract"
            quarantine.append(quarantined(relative, FORMAT, reason, kept=kept.height, size=size))
            break
        reason = f"row {row} breaks the rule {', '.join(rules)}"
        quarantine.append(quarantined(relative, FORMAT, reason, position=row, kept=kept.height, size=size))
    return kept.with_columns(pl.lit(relative).alias(_FILE))


def _most_values(handle: BinaryIO) -> int:
    """How many rows a Parquet file says it has, or values in the column that has most. A few bytes can stand
    for any number of equal values, so this is asked before they are unpacked."""
    told = pq.read_metadata(handle)
    columns: list[int] = [0] * told.num_columns
    for group in range(told.num_row_groups):
        for column in range(told.num_columns):
            columns[column] += told.row_group(group).column(column).num_values
    return max(int(told.num_rows), *columns, 0)


def _sift(table: str, frame: pl.DataFrame) -> tuple[pl.DataFrame, list[tuple[int, list[str]]]]:
    """The rows that keep the contract, and for each of the others its number and the rules that it breaks.

    Of rows that differ from a good one in nothing but coming later with the same key, the first is good.
    """
    schema = _with_row(table)
    good, failed = schema.filter(frame, cast=True)
    kept: pl.DataFrame = good
    broken: list[tuple[int, list[str]]] = []
    doubles: list[int] = []
    details = failed.details()
    rules = [name for name in details.columns if name == _KEY_RULE or "|" in name]
    for row in details.select(_ROW, *rules).iter_rows(named=True):
        hurt = [rule for rule in rules if row[rule] == "invalid"]
        if hurt == [_KEY_RULE]:
            doubles.append(row[_ROW])
        else:
            broken.append((row[_ROW], hurt))
    if doubles:
        keys = TABLES[table].schema.primary_key()
        same = frame.filter(pl.col(_ROW).is_in(doubles))
        first = same.filter(pl.struct(keys).is_first_distinct())
        rescued, _ = schema.filter(first, cast=True)
        kept = pl.concat([kept, rescued]).sort(_ROW)
        again = set(doubles) - set(rescued[_ROW].to_list())
        broken += [(row, [_KEY_RULE]) for row in again]
    return kept, sorted(broken)


@cache
def _with_row(table: str) -> type[dy.Schema]:
    """A table's schema with the row's number beside its columns, so that a broken row can be named."""
    base = TABLES[table].schema
    more = {_ROW: dy.Int64(nullable=False)}
    made = new_class(f"{base.__name__}InFile", (base,), exec_body=lambda body: body.update(more))
    return cast("type[dy.Schema]", made)


def _drop_orphans(tables: dict[str, pl.DataFrame], quarantine: list[Row]) -> None:
    """Takes out, and tells, the rows whose episode or attempt is not there."""
    attempts = tables["attempts"]
    for table in _READ[1:]:
        frame = tables[table]
        of_episode = table in ("attempts", _FINDINGS)
        owners, keys = (tables["episodes"], ["episode_id"]) if of_episode else (attempts, _ATTEMPT)
        kept = frame.join(owners.select(keys), on=keys, how="semi", maintain_order="left")
        lost = frame.join(owners.select(keys), on=keys, how="anti", maintain_order="left")
        _tell(lost, f"its {'episode' if of_episode else 'attempt'} is missing", kept, quarantine)
        tables[table] = kept
        if table == "attempts":
            attempts = kept


def _tell(lost: pl.DataFrame, rule: str, kept: pl.DataFrame, quarantine: list[Row]) -> None:
    """One quarantine row for each file that loses rows to a rule between files."""
    left = dict(kept.group_by(_FILE).len().iter_rows())
    counts = lost.group_by(_FILE, maintain_order=True).agg(pl.len(), pl.col(_ROW).min())
    for relative, many, first in counts.sort(_FILE).iter_rows():
        reason = f"{many} rows, the first of them row {first}, break the rule: {rule}"
        quarantine.append(quarantined(relative, FORMAT, reason, position=first, kept=left.get(relative, 0)))
