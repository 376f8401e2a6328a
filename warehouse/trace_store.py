"""Trajectories and feedback on disk: `traces/` and `feedback/` below the data home.

    <store>/<build>/<group>/manifest.json      {"sources": {source: {table: [{file, sha256, rows}, ...]}}}
    <store>/<build>/<group>/<table>/<hash>.parquet

A source is what one import or one batch of rollouts brought. Writing a source of the same name again
replaces its part of the manifest and nothing else; the old shards stay on the disk, so a query that reads
them goes on. A partition's files are the ones its manifest lists, never the ones that happen to lie there.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any, Final, NamedTuple

import polars as pl

from warehouse.database import exclusive
from warehouse.records import TRACE_TABLES, arrange, empty, polars_schema
from warehouse.shards import (
    EPISODES_PER_SHARD,
    MANIFEST,
    DamagedShardError,
    read_manifest,
    verify_file,
    write_manifest,
    write_shard,
)

STORED_TRACE_TABLES: Final = (*TRACE_TABLES, "quarantine", "data_quality")
FOLDER_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class DuplicateEpisodeError(ValueError):
    """An episode would be stored twice and count twice as evidence."""


class Shard(NamedTuple):
    """A file that a manifest lists."""

    path: Path
    sha256: str
    rows: int


class Part(NamedTuple):
    """One table of one source in one partition, its shards in the order of their episodes."""

    build: str
    group: str
    source: str
    table: str
    shards: tuple[Shard, ...]


@dataclass(frozen=True)
class ShardStore:
    """Partitions (build, group) of contract tables below `root`."""

    root: Path
    tables: tuple[str, ...]

    def write_source(
        self,
        build: str,
        group: str,
        source: str,
        frames: Mapping[str, pl.DataFrame],
        episodes: Sequence[str] | None = None,
    ) -> dict[str, list[dict[str, Any]]]:
        """Stores a source's tables, 16 episodes a shard, and commits them; what the manifest now says of it.

        `episodes` is the list that every table is cut along; without it, those of the `episodes` frame. The
        same frames give the same bytes. `ValueError` for a row of an episode outside the list, a table of
        another store or a name that is no folder's; `DuplicateEpisodeError` for an episode that another
        source or build already has.
        """
        for name in (build, group):
            if not FOLDER_NAME.fullmatch(name):
                raise ValueError(f"{name!r} cannot name a folder: letters, digits, '.', '_' and '-' only")
        if unknown := sorted(set(frames) - set(self.tables)):
            raise ValueError(f"{self.root.name} does not store {unknown}; it stores {list(self.tables)}")
        listed = sorted(episodes if episodes is not None else frames["episodes"]["episode_id"].to_list())
        folder = self.root / build / group
        with exclusive(folder / f".{MANIFEST}.lock", str(folder)):
            if "episodes" in self.tables:
                self._refuse_duplicates(listed, (build, group, source))
            shards = {
                table: _write_table(folder / table, table, frames[table], listed) for table in sorted(frames)
            }
            sources = _sources(folder)
            sources[source] = shards
            write_manifest(folder, {"sources": sources})
        return shards

    def drop_source(self, build: str, group: str, source: str) -> None:
        """Takes a source out of its partition's manifest; its shards stay until they are collected."""
        folder = self.root / build / group
        with exclusive(folder / f".{MANIFEST}.lock", str(folder)):
            sources = _sources(folder)
            if source not in sources:
                raise ValueError(f"{folder} has no source {source!r}; it has {sorted(sources)}")
            del sources[source]
            write_manifest(folder, {"sources": sources})

    def parts(self, table: str | None = None, builds: Collection[str] | None = None) -> Iterator[Part]:
        """What the manifests list, in the order (build, group, source, table); all builds by default."""
        for folder in sorted(path.parent for path in self.root.glob(f"*/*/{MANIFEST}")):
            build, group = folder.parts[-2:]
            if builds is not None and build not in builds:
                continue
            sources = _sources(folder)
            for source in sorted(sources):
                for name, shards in sorted(sources[source].items()):
                    if table in (None, name):
                        yield Part(build, group, source, name, _shards(folder / name, shards))

    def scan(self, table: str, builds: Collection[str] | None = None) -> pl.LazyFrame:
        """A table's rows of these builds (of all by default), partition after partition, in stored order."""
        return scan_shards(table, [shard for part in self.parts(table, builds) for shard in part.shards])

    def builds(self) -> list[str]:
        """The builds that have a committed partition, sorted."""
        return sorted({path.parts[-3] for path in self.root.glob(f"*/*/{MANIFEST}")})

    def sources(self, build: str) -> list[tuple[str, str]]:
        """The (group, source) pairs of a build, sorted."""
        return sorted({(part.group, part.source) for part in self.parts(builds=[build])})

    def episode_ids(self, build: str, group: str, source: str) -> list[str]:
        """The sorted episode list that a source was cut along; for a store that has the `episodes` table."""
        for part in self.parts("episodes", [build]):
            if (part.group, part.source) == (group, source):
                return sorted(scan_shards("episodes", part.shards).collect()["episode_id"])
        raise ValueError(f"{self.root / build / group} has no source {source!r}")

    def verify(self, builds: Collection[str] | None = None, tables: Collection[str] | None = None) -> int:
        """Reads every listed file and compares its hash; how many there are. `DamagedShardError` names the
        first file that is missing or differs."""
        count = 0
        for part in self.parts(builds=builds):
            if tables is None or part.table in tables:
                for shard in part.shards:
                    verify_file(shard.path, shard.sha256)
                    count += 1
        return count

    def row_counts(self, builds: Collection[str] | None = None) -> pl.DataFrame:
        """The figures of row conservation, one row per part: (build, group, source, table, shards,
        rows_listed by the manifest, rows_stored in the files)."""
        rows = [
            {
                **{name: getattr(part, name) for name in ("build", "group", "source", "table")},
                "shards": len(part.shards),
                "rows_listed": sum(shard.rows for shard in part.shards),
                "rows_stored": scan_shards(part.table, part.shards).select(pl.len()).collect().item(),
            }
            for part in self.parts(builds=builds)
        ]
        names = dict.fromkeys(("build", "group", "source", "table"), pl.String)
        counts = dict.fromkeys(("shards", "rows_listed", "rows_stored"), pl.Int64)
        return pl.DataFrame(rows, schema={**names, **counts}, orient="row")

    def unlisted(self) -> list[Path]:
        """Shards that no manifest lists any more, sorted: what `mineevolve gc` may remove."""
        listed = {shard.path for part in self.parts() for shard in part.shards}
        return sorted(path for path in self.root.glob("*/*/*/*.parquet") if path not in listed)

    def _refuse_duplicates(self, episodes: list[str], own: tuple[str, str, str]) -> None:
        wanted = set(episodes)
        if len(wanted) != len(episodes):
            raise DuplicateEpisodeError(f"source {own[2]!r} brings an episode twice")
        for part in self.parts("episodes"):
            if part[:3] == own:
                continue
            held = scan_shards("episodes", part.shards).select("episode_id").collect()["episode_id"]
            if twice := sorted(wanted.intersection(held)):
                raise DuplicateEpisodeError(
                    f"source {own[2]!r} brings {len(twice)} of the episodes (first: {twice[0]}) that build "
                    f"{part.build!r}, group {part.group!r} already has from source {part.source!r}; none may "
                    f"count twice as evidence. Leave {own[2]!r} out, or take the other out first: "
                    f"`mineevolve drop {quote(part.source)} --build {part.build}`"
                )


def trace_store(home: Path) -> ShardStore:
    """The trajectories of a data home, with what could not be read and what contradicts itself."""
    return ShardStore(home / "traces", STORED_TRACE_TABLES)


def feedback_store(home: Path) -> ShardStore:
    """The feedback of a data home; write it with the `episode_ids` of the trace source that it judges."""
    return ShardStore(home / "feedback", ("feedback",))


def scan_shards(table: str, shards: Sequence[Shard]) -> pl.LazyFrame:
    """The rows of these shards one after the other; `DamagedShardError` if a file is gone."""
    if not shards:
        return empty(table).lazy()
    for shard in shards:
        if not shard.path.exists():
            raise DamagedShardError(f"{shard.path} is missing")
    return pl.scan_parquet([shard.path for shard in shards], glob=False)


def _sources(folder: Path) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """What a partition's manifest lists, nothing where there is none; `DamagedShardError` names one that is
    no manifest."""
    manifest = read_manifest(folder)
    if manifest is None:
        return {}
    try:
        sources: dict[str, dict[str, list[dict[str, Any]]]] = manifest["sources"]
        for tables in sources.values():
            for name, shards in tables.items():
                _shards(folder / name, shards)
    except (AttributeError, KeyError, TypeError) as error:
        raise DamagedShardError(
            f"{folder / MANIFEST} is damaged: it is no list of sources and shards"
        ) from error
    return sources


def _shards(folder: Path, listed: list[dict[str, Any]]) -> tuple[Shard, ...]:
    return tuple(Shard(folder / shard["file"], shard["sha256"], shard["rows"]) for shard in listed)


def _write_table(folder: Path, table: str, frame: pl.DataFrame, episodes: list[str]) -> list[dict[str, Any]]:
    """A table cut along the episode list; a stretch of episodes without rows has no shard."""
    if "episode_id" not in polars_schema(table):
        return [write_shard(folder, frame, table)] if frame.height else []
    stored = arrange(table, frame)
    held = set(episodes)
    if strangers := sorted(set(stored["episode_id"].to_list()) - held, key=str):
        raise ValueError(f"{table} has rows of an episode that the source does not list: {strangers[0]}")
    written = []
    for start in range(0, len(episodes), EPISODES_PER_SHARD):
        stretch = episodes[start : start + EPISODES_PER_SHARD]
        # Stored order begins with the episode, so a stretch of the sorted list is a slice of the rows.
        rows = stored.filter(pl.col("episode_id").is_between(pl.lit(stretch[0]), pl.lit(stretch[-1])))
        if rows.height:
            written.append(write_shard(folder, rows, table))
    return written
