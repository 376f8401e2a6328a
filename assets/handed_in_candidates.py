"""Candidates that other machines handed in."""

from typing import Any

import dagster as dg
import polars as pl

from assets import columns, metadata
from assets.partitions import builds
from assets.resources import DataHome
from warehouse.inbox import take_in


@dg.asset(
    partitions_def=builds,
    group_name="knowledge",
    kinds={"python", "parquet"},
    code_version="1",
    owners=["team:mineevolve"],
    description="What other machines handed in for the build, with the evidence that it cites, taken from "
    "the inbox into the immutable log. A shard that cannot be read is put into quarantine with the reason. "
    "Nothing is knowledge before Curator has accepted it.",
)
def handed_in_candidates(context: dg.AssetExecutionContext, home: DataHome) -> dg.MaterializeResult[Any]:
    taken = take_in(home.root, [context.partition_key])
    put_aside = [(one.file.name, one.reason) for one in taken.put_aside]
    schema = dict.fromkeys(("shard", "reason"), pl.String)
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": sum(taken.candidates.values()),
            "shards": taken.shards,
            "evidence": taken.facts,
            "put aside": metadata.table(pl.DataFrame(put_aside, schema=schema, orient="row"), rows=50),
            **columns.handed_in(),
        }
    )
