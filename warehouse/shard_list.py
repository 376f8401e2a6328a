"""Which files the warehouse is made from, as rows of its table `shards`."""

from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

import polars as pl

from warehouse import log
from warehouse.trace_store import Part

SHARD_COLUMNS: Final = pl.Schema(
    {
        **dict.fromkeys(
            ("store", "build", "task_group", "source_name", "table_name", "file", "sha256"), pl.String()
        ),
        "rows": pl.Int64(),
    }
)


def listed(home: Path, store: str, part: Part) -> list[dict[str, Any]]:
    """The files of one part of a trace or feedback store."""
    return [
        {
            "store": store,
            "build": part.build,
            "task_group": part.group,
            "source_name": part.source,
            "table_name": part.table,
            "file": str(shard.path.relative_to(home)),
            "sha256": shard.sha256,
            "rows": shard.rows,
        }
        for shard in part.shards
    ]


def log_listed(home: Path, build: str, kinds: Collection[str]) -> list[dict[str, Any]]:
    """The files of the log of a build that are of these kinds."""
    return [
        {
            "store": "log",
            "build": build,
            "table_name": shard.kind,
            "file": str(shard.path.relative_to(home)),
            "rows": pl.scan_parquet(shard.path, glob=False).select(pl.len()).collect().item(),
        }
        for shard in log.shards(home, [build])
        if shard.kind in kinds
    ]
