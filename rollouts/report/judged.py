"""Monitor's feedback on evaluation episodes.

Evaluation is never learnt from, so nobody asks for its feedback while it is played; a report does. It is
judged once and kept below the evaluation's own home, `evaluation/feedback/`, where no fold and no Inducer
looks."""

from collections.abc import Iterable
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
from rollouts.trace import LazyTrace
from warehouse.domains import Domain
from warehouse.ids import digest, file_digest
from warehouse.trace_store import feedback_store, scan_shards, trace_store

KEY: Final = ["episode_id", "attempt"]


def judged_attempts(arms: Arms, domain: Domain) -> pl.DataFrame:
    """Every attempt of `arms`, one row each: `arm`, `group`, its columns of the trace contract that a report
    uses, and its feedback. Sorted by arm, group, episode and attempt."""
    own = evaluation_home(arms.home)
    _judge_missing(own, {place[1:] for place in arms.places()}, domain)
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


def _judge_missing(own: Path, places: Iterable[tuple[str, str, str]], domain: Domain) -> None:
    """Judges and keeps what is not kept yet of these (build, group, source); all of it in one call, since a
    call costs Monitor nearly the same for a few episodes as for hundreds."""
    traces, store = trace_store(own), feedback_store(own)
    kept = {place: _kept(own, *place) for place in places}
    missing = [place for place in sorted(kept) if _name(own, *place, domain) not in kept[place]]
    if not missing:
        return
    rows = monitor_shards([LazyTrace.joined(stored_trace(traces, *place) for place in missing)], domain)
    for build, group, source in missing:
        ids = traces.episode_ids(build, group, source)
        name = _name(own, build, group, source, domain)
        judged = rows.filter(pl.col("episode_id").is_in(sorted(ids)))
        store.write_source(build, group, name, {"feedback": judged}, ids)
        for outdated in sorted(each for each in kept[build, group, source] if each != name):
            store.drop_source(build, group, outdated)


def _kept(own: Path, build: str, group: str, source: str) -> set[str]:
    """The names under which feedback on this source is kept, whatever it was judged from."""
    named = (each for of_group, each in feedback_store(own).sources(build) if of_group == group)
    return {each for each in named if each.rpartition("-")[0] == source}


def _name(own: Path, build: str, group: str, source: str, domain: Domain) -> str:
    """A source's feedback is named by what it was judged from and by whom: other traces or another Monitor
    give another name."""
    shards = sorted(
        (part.table, shard.sha256)
        for part in trace_store(own).parts(builds=[build])
        if (part.group, part.source) == (group, source)
        for shard in part.shards
    )
    return f"{source}-{digest([shards, _monitor_digest(domain.name)])[:12]}"


def _feedback(own: Path, build: str, group: str, source: str, domain: Domain) -> pl.DataFrame:
    """A source's feedback as it is kept."""
    place = group, _name(own, build, group, source, domain)
    parts = feedback_store(own).parts("feedback", [build])
    shards = [shard for part in parts if (part.group, part.source) == place for shard in part.shards]
    return scan_shards("feedback", shards).collect()


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
