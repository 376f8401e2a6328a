"""Importing a folder of recordings: find its importer, read it, hold every row against the contract."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import polars as pl

from rollouts.ingest.protocol import (
    Files,
    Importer,
    Recording,
    Row,
    merge,
    printable,
    quarantined,
)
from rollouts.ingest.registry import UnknownFormatError, importer_for
from rollouts.ingest.walk import files_below, is_folder, left_over
from rollouts.progress import followed
from warehouse.domains import Domain
from warehouse.records import TABLES, TRACE_TABLES, arrange, from_rows

MOST_CHILDREN: Final = 1000
"""child folders whose format is looked for one by one"""


class SameNameError(ValueError):
    """Two folders would be stored under one name, and the second would replace the first."""


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


def discover_all(paths: Sequence[Path], format_name: str | None = None) -> list[Source]:
    """The sources at all paths, each folder once; see `discover`.

    A source is stored under its folder's own name, whatever else is imported with it: so the same folder,
    imported again, replaces itself and nothing else. Two folders of one name in one call are therefore
    refused (`SameNameError`) instead of being told apart by a longer name, which a later import of one of
    them alone would not have.
    """
    sources: dict[str, Source] = {}
    for path in paths:
        for source in discover(path, format_name):
            other = sources.setdefault(source.name, source)
            if other.folder != source.folder:
                both = " and ".join(printable(str(one.folder)) for one in (other, source))
                raise SameNameError(
                    f"{both} would both be stored as {source.name!r}, the second in place of the first. "
                    "Rename one of the folders, or give one folder that holds both."
                )
    return list(sources.values())


def discover(path: Path, format_name: str | None = None) -> list[Source]:
    """The sources at `path`: the folder itself, or each of its child folders where these are recordings of
    different formats, and then a last one for all that belongs to none of them, whose quarantine lists it.

    Raises `FileNotFoundError` for no such path, `UnknownFormatError` where nothing is recognised or where
    there are too many child folders to look for their formats.
    """
    try:
        found = path.exists()
    except OSError as error:
        raise UnknownFormatError(f"{path} cannot be read: {error.strerror}") from error
    if not found:
        raise FileNotFoundError(f"{path} does not exist; give the folder that holds the recordings")
    folder = path.resolve()
    if format_name is None and is_folder(path):
        children = _recognised_children(path)
        if len({source.importer.name for source in children}) > 1:
            rest = Leftovers({source.folder for source in children})
            if rest.rows(folder):
                children.append(Source(f"{printable(folder.name)} (left over)", folder, rest))
            return children
    return [Source(printable(folder.name), folder, importer_for(path, format_name))]


def _recognised_children(path: Path) -> list[Source]:
    try:
        # Links are not followed, as nowhere below: they may lead in a circle, or to a folder twice.
        children = sorted(child for child in path.iterdir() if is_folder(child) and not child.is_symlink())
    except OSError as error:
        raise UnknownFormatError(f"{path} cannot be read: {error.strerror}") from error
    if len(children) > MOST_CHILDREN:
        raise UnknownFormatError(
            f"{path} holds {len(children)} folders, too many to look for the format of each; "
            "name the format of them all with --format, or give fewer at a time"
        )
    found = []
    for child in children:
        try:
            found.append(Source(printable(child.name), child.resolve(), importer_for(child)))
        except UnknownFormatError:
            continue  # `Leftovers` tells it
    return found


@dataclass
class Leftovers:
    """Stands as the importer of what lies beside recordings of different formats and belongs to none."""

    read_elsewhere: set[Path]
    """the child folders that are sources of their own"""
    name: str = "unrecognised"

    def recognises(self, folder: Path) -> bool:
        """No folder by its content: `discover` says which."""
        return False

    def read(self, folder: Path, build: str, domain: Domain) -> Iterator[Recording]:
        """Nothing but quarantine rows."""
        yield Recording(quarantine=self.rows(folder))

    def rows(self, folder: Path) -> list[Row]:
        """A row for each file, and for each thing that is none."""
        walk = files_below(folder, without=self.read_elsewhere)
        return [
            *(left_over(path, relative, self.name) for relative, path in walk.named().items()),
            *walk.quarantine(self.name),
        ]


def import_source(source: Source, build: str, domain: Domain) -> Import:
    """Reads a source. Rows that break the contract go to quarantine with the file that they are from and the
    rule that they break, and so do rows whose episode or attempt did not survive; the rest is kept."""
    recordings = followed(_read_on(source, build, domain), f"importing {source.name}")
    return Import(source, _checked(merge(recordings), source))


def _read_on(source: Source, build: str, domain: Domain) -> Iterator[Recording]:
    """The source's recordings; an importer that fails ends the source with a quarantine row, not the run."""
    try:
        yield from source.importer.read(source.folder, build, domain)
    except Exception as error:
        reason = f"the importer failed, and what comes after is not read: {type(error).__name__}: {error}"
        yield Recording(quarantine=[quarantined(".", source.importer.name, reason)])


def _checked(frames: dict[str, pl.DataFrame], source: Source) -> dict[str, pl.DataFrame]:
    """The frames without the rows that break the contract, which stand in quarantine instead."""
    kept: dict[str, pl.DataFrame] = {}
    files = Files.of(
        frames["episodes"].select("episode_id", "source").to_dicts(),
        frames["attempts"].select("episode_id", "attempt", "source").to_dicts(),
    )
    broken: list[Row] = []
    for table in (*TRACE_TABLES, "data_quality"):
        valid, failure = TABLES[table].schema.filter(frames[table], cast=True)
        kept[table] = pl.DataFrame(valid)
        if len(failure):
            broken += _tell(table, pl.DataFrame(failure.details()), files)
    for table, key in _PARENTS.items():
        parent = kept["episodes" if key == ["episode_id"] else "attempts"]
        orphans = kept[table].join(parent, on=key, how="anti", nulls_equal=True)
        if orphans.height:
            broken += _by_file(table, orphans, "belong to nothing that was kept", files)
            kept[table] = kept[table].join(parent, on=key, how="semi")
    kept["quarantine"] = pl.concat([frames["quarantine"], from_rows("quarantine", broken)])
    return {name: arrange(name, frame) for name, frame in kept.items()}


def _tell(table: str, details: pl.DataFrame, files: Files) -> list[Row]:
    """Quarantine rows for the rows of a table that break rules: one for each file and set of rules."""
    rules = [name for name in details.columns if name not in TABLES[table].schema.columns()]
    broken = pl.concat_list(
        pl.when(pl.col(rule).cast(pl.String) == "invalid").then(pl.lit(rule)) for rule in rules
    )
    told = details.with_columns(rules_broken=broken.list.drop_nulls().list.join(", "))
    rows = []
    for (words,), part in sorted(told.partition_by("rules_broken", as_dict=True).items()):
        rows += _by_file(table, part, f"break {words}", files)
    return rows


def _by_file(table: str, frame: pl.DataFrame, what: str, files: Files) -> list[Row]:
    """A quarantine row for each file that rows of a table are from."""
    keys = [name for name in ("episode_id", "attempt") if name in frame.columns]
    many: dict[tuple[str, str], int] = {}
    for row in frame.select(*keys).iter_rows(named=True):
        where = files.of_row(row)
        many[where] = many.get(where, 0) + 1
    return [
        quarantined(path, source, f"{table}: {count} rows {what}")
        for (path, source), count in sorted(many.items())
    ]


_PARENTS: Final = {
    "attempts": ["episode_id"],
    "ticks": ["episode_id", "attempt"],
    "events": ["episode_id", "attempt"],
    "sightings": ["episode_id", "attempt"],
    "inventory_changes": ["episode_id", "attempt"],
    "data_quality": ["episode_id"],
}
