"""Importing a folder of recordings: find its importer, read it, hold every row against the contract."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import polars as pl

from rollouts.ingest.protocol import Importer, merge, printable, quarantined
from rollouts.ingest.registry import UnknownFormatError, importer_for
from rollouts.progress import followed
from warehouse.domains import Domain
from warehouse.records import TABLES, TRACE_TABLES, arrange, from_rows


class Source(NamedTuple):
    """A folder of recordings with the name that it is stored under and the importer that reads it."""

    name: str
    folder: Path
    importer: Importer


@dataclass(frozen=True)
class Import:
    """What a folder gave: frames by table name (quarantine and data_quality included)."""

    source: Source
    frames: dict[str, pl.DataFrame]

    def counts(self) -> dict[str, int]:
        """Rows per table, and how many files or records were put aside."""
        counts = {name: frame.height for name, frame in self.frames.items()}
        bad = self.frames["quarantine"]["severity"].cast(pl.String)
        counts["quarantine"] = int((bad == "quarantined").sum())
        counts["ignored"] = int((bad == "ignored").sum())
        return counts


_MOST_CHILDREN: Final = 1000


def discover(path: Path, format_name: str | None = None) -> list[Source]:
    """The sources at `path`: the folder itself, or each of its child folders where these are recordings of
    different formats.

    Raises `FileNotFoundError` for no such path, `UnknownFormatError` where nothing is recognised.
    """
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist; give the folder that holds the recordings")
    if format_name is None and path.is_dir():
        children = _recognised_children(path)
        if len({source.importer.name for source in children}) > 1:
            return children
    folder = path.resolve()
    return [Source(printable(folder.name), folder, importer_for(path, format_name))]


def _recognised_children(path: Path) -> list[Source]:
    found = []
    for child in sorted(path.iterdir())[:_MOST_CHILDREN]:
        if child.is_dir():
            try:
                found.append(Source(printable(child.name), child.resolve(), importer_for(child)))
            except UnknownFormatError:
                continue
    return found


def import_source(source: Source, build: str, domain: Domain) -> Import:
    """Reads a source. Rows that break the contract go to quarantine with the rule that they break, and so do
    rows whose episode or attempt did not survive; the rest is kept."""
    recordings = source.importer.read(source.folder, build, domain)
    return Import(source, _checked(merge(followed(recordings, f"importing {source.name}")), source))


def _checked(frames: dict[str, pl.DataFrame], source: Source) -> dict[str, pl.DataFrame]:
    """The frames without the rows that break the contract, which stand in quarantine instead."""
    kept: dict[str, pl.DataFrame] = {}
    broken: list[dict[str, object]] = []
    for table in (*TRACE_TABLES, "data_quality"):
        valid, failure = TABLES[table].schema.filter(frames[table], cast=True)
        if len(failure):
            broken.append(
                quarantined(
                    source.name,
                    source.importer.name,
                    f"{table}: {len(failure)} rows break {', '.join(sorted(failure.counts()))}",
                    kept=valid.height,
                )
            )
        kept[table] = pl.DataFrame(valid)
    for table, key in _PARENTS.items():
        parent = kept["episodes" if key == ["episode_id"] else "attempts"]
        orphans = kept[table].join(parent, on=key, how="anti", nulls_equal=True)
        if orphans.height:
            broken.append(
                quarantined(
                    source.name,
                    source.importer.name,
                    f"{table}: {orphans.height} rows belong to nothing that was kept",
                    kept=kept[table].height - orphans.height,
                )
            )
            kept[table] = kept[table].join(parent, on=key, how="semi")
    kept["quarantine"] = pl.concat([frames["quarantine"], from_rows("quarantine", broken)])
    return {name: arrange(name, frame) for name, frame in kept.items()}


_PARENTS: Final = {
    "attempts": ["episode_id"],
    "ticks": ["episode_id", "attempt"],
    "events": ["episode_id", "attempt"],
    "sightings": ["episode_id", "attempt"],
    "inventory_changes": ["episode_id", "attempt"],
    "data_quality": ["episode_id"],
}
