"""Candidates that other machines handed in."""

from collections.abc import Iterator
from typing import Any

import dagster as dg
import polars as pl

from assets import columns, metadata
from assets.partitions import builds
from assets.resources import DataHome
from warehouse.fold import all_builds
from warehouse.inbox import take_in
from warehouse.log_tables import load_put_aside


@dg.asset(
    partitions_def=builds,
    group_name="knowledge",
    kinds={"python", "parquet"},
    code_version="1",
    output_required=False,
    owners=["team:mineevolve"],
    description="What other machines handed in for the build, with the evidence that it cites, taken from "
    "the inbox into the immutable log. A shard that cannot be read is put into quarantine with the reason. "
    "Nothing is knowledge before Curator has accepted it. Where that was all that there is of the build, the "
    "run ends here.",
)
def handed_in_candidates(
    context: dg.AssetExecutionContext, home: DataHome
) -> Iterator[dg.MaterializeResult[Any]]:
    build = context.partition_key
    taken = take_in(home.root, [build])
    if taken.put_aside and build not in all_builds(home.root):
        load_put_aside(home.root, build)
        return
    put_aside = [(one.file.name, one.reason) for one in taken.put_aside]
    schema = dict.fromkeys(("shard", "reason"), pl.String)
    yield dg.MaterializeResult(
        metadata={
            "dagster/row_count": sum(taken.candidates.values()),
            "shards": taken.shards,
            "evidence": taken.facts,
            "put aside": metadata.table(pl.DataFrame(put_aside, schema=schema, orient="row"), rows=50),
            **columns.handed_in(),
        }
    )
