"""Monitor over a stored source: from its trajectories to its feedback, which is stored beside them."""

from pathlib import Path

import polars as pl

from rollouts.monitor import monitor_shards
from rollouts.trace import LazyTrace
from warehouse.domains import Domain
from warehouse.records import TRACE_TABLES
from warehouse.trace_store import feedback_store, scan_shards, trace_store


def judge_source(home: Path, domain: Domain, build: str, group: str, source: str) -> pl.DataFrame:
    """The feedback of a source, one row per attempt; stored when this returns. The same trajectories give the
    same bytes."""
    traces = trace_store(home)
    parts = {
        part.table: part.shards
        for part in traces.parts(builds=[build])
        if (part.group, part.source) == (group, source)
    }
    trace = LazyTrace(
        tables={name: scan_shards(name, parts[name]) for name in TRACE_TABLES if name in parts},
        ticks=[scan_shards("ticks", [shard]) for shard in parts.get("ticks", ())],
    )
    rows = monitor_shards([trace], domain)
    episodes = traces.episode_ids(build, group, source)
    feedback_store(home).write_source(build, group, source, {"feedback": rows}, episodes)
    return rows
