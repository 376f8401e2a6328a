"""Monitor's feedback on evaluation episodes.

Evaluation is never learnt from, so nobody asks for its feedback while it is played; a report does. It is
judged once and kept below the evaluation's own home, `evaluation/feedback/`, where no fold and no Inducer
looks."""

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

import polars as pl

import rollouts.monitor
import warehouse.domains
from rollouts.evaluation import evaluation_home
from rollouts.lineage import stored_trace
from rollouts.monitor import monitor_shards
from rollouts.report.arms import Arms
from warehouse.domains import Domain
from warehouse.ids import digest, file_digest
from warehouse.trace_store import feedback_store, scan_shards, trace_store

KEY: Final = ["episode_id", "attempt"]


def judged_attempts(arms: Arms, domain: Domain) -> pl.DataFrame:
    """Every attempt of `arms`, one row each: `arm`, `group`, its columns of the trace contract that a report
    uses, and its feedback. Sorted by arm, group, episode and attempt."""
    own = evaluation_home(arms.home)
    frames = [
        stored_trace(trace_store(own), build, group, source)
        .tables["attempts"]
        .select(*KEY, "kind", "target", "condition", "start_tick", "end_tick", "end_reason", "knowledge_used")
        .collect()
        .join(_feedback(own, build, group, source, domain), on=KEY, validate="1:1")
        .with_columns(arm=pl.lit(arm), group=pl.lit(group))
        for arm, build, group, source in arms.places()
    ]
    return pl.concat(frames).sort("arm", "group", *KEY)


def _feedback(own: Path, build: str, group: str, source: str, domain: Domain) -> pl.DataFrame:
    """A source's feedback, from what is kept or from Monitor."""
    traces, store = trace_store(own), feedback_store(own)
    shards = sorted(
        (part.table, shard.sha256)
        for part in traces.parts(builds=[build])
        if (part.group, part.source) == (group, source)
        for shard in part.shards
    )
    # Named by what it was judged from and by whom: other traces or another Monitor give another name.
    name = f"{source}-{digest([shards, _monitor_digest(domain.name)])[:12]}"
    kept = {each for of_group, each in store.sources(build) if of_group == group}
    if name not in kept:
        rows = monitor_shards([stored_trace(traces, build, group, source)], domain)
        store.write_source(build, group, name, {"feedback": rows}, traces.episode_ids(build, group, source))
        for outdated in sorted(each for each in kept if each.rpartition("-")[0] == source):
            store.drop_source(build, group, outdated)
    parts = (part for part in store.parts("feedback", [build]) if (part.group, part.source) == (group, name))
    return scan_shards("feedback", [shard for part in parts for shard in part.shards]).collect()


@cache
def _monitor_digest(domain: str) -> str:
    """What Monitor decides by: its rules and the domain's data, as they are installed."""
    folders = (files(rollouts.monitor), files(warehouse.domains), files(warehouse.domains) / domain)
    listed = [
        (path.name, file_digest(path))
        for folder in folders
        for path in sorted(Path(str(folder)).iterdir())
        if path.is_file() and path.suffix != ".pyc"
    ]
    return digest(listed)
