"""Recorded runs of other people's agents, in the trace contract."""

from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
from pydantic import Field

from assets import columns, metadata
from assets.partitions import IMPORTED, build_and_group, builds_and_groups
from assets.resources import DataHome
from rollouts.ingest.importing import Import, discover_all, import_source
from rollouts.sample import write_sample
from warehouse.trace_store import ShardStore, trace_store


class ImportConfig(dg.Config):
    """What to import. Without paths, the sources that the build already has are kept as they are, and a
    build that has none gets the small sample that ships with the project."""

    paths: list[str] = Field(default_factory=list)
    format: str | None = None


@dg.asset(
    partitions_def=builds_and_groups,
    group_name="traces",
    kinds={"polars", "parquet"},
    code_version="1",
    owners=["team:mineevolve"],
    description="Foreign recordings as episodes, attempts, ticks, events, sightings and inventory changes "
    "(warehouse/records.py). What could not be read stands in quarantine, what contradicts itself in "
    "data_quality. Only the group 'imported' is filled from recordings.",
)
def imported_trajectories(
    context: dg.AssetExecutionContext, config: ImportConfig, home: DataHome
) -> dg.MaterializeResult[Any]:
    build, group = build_and_group(context)
    if group != IMPORTED:
        raise dg.Failure(
            f"recordings belong to the group '{IMPORTED}', not to '{group}'", allow_retries=False
        )
    store = trace_store(home.root)
    paths = [Path(path) for path in config.paths]
    if not paths and not store.sources(build):
        context.log.warning("no traces were given: importing the sample that ships with the project")
        paths = [write_sample(home.root / "sample")]
    imports = []
    for source in discover_all(paths, config.format):
        imported = import_source(source, build, home.domain)
        if gone := replaced(store, build, group, imported):
            context.log.warning(
                f"{source.name}: {source.folder} has none of the {gone} episodes that were stored under this "
                "name, and takes their place. If they came from another folder of the same name, rename one."
            )
        store.write_source(build, group, source.name, imported.frames)
        context.log.info(f"{source.name}: {imported.counts()}")
        imports.append(imported)
    return dg.MaterializeResult(
        metadata={
            "sources": metadata.table(_summary(imports)),
            "stored": metadata.table(store.row_counts([build]), rows=100),
            "put aside": metadata.table(_put_aside(imports), rows=100),
            **columns.traces(),
            "dagster/row_count": sum(imported.frames["attempts"].height for imported in imports),
        }
    )


def replaced(store: ShardStore, build: str, group: str, imported: Import) -> int:
    """How many episodes the store holds under the source's name, where the source has none of them: they
    came from another folder, it seems."""
    name = imported.source.name
    if (group, name) not in store.sources(build):
        return 0
    held = store.episode_ids(build, group, name)
    return 0 if set(held) & set(imported.frames["episodes"]["episode_id"]) else len(held)


def _summary(imports: list[Import]) -> pl.DataFrame:
    return pl.DataFrame(
        [{"source": one.source.name, "format": one.source.importer.name} | one.counts() for one in imports]
    )


def _put_aside(imports: list[Import]) -> pl.DataFrame:
    frames = [
        one.frames["quarantine"].select("path", "position", "reason", "kept", "severity") for one in imports
    ]
    return pl.concat(frames).with_columns(pl.col("severity").cast(pl.String)) if frames else pl.DataFrame()
