"""Which snapshot a build begins with, and which trace it left: knowledge handed on from build to build."""

from pathlib import Path
from typing import Final, NamedTuple

import polars as pl

from rollouts.monitor import monitor_shards
from rollouts.planner import Attempted, usage_from
from rollouts.trace import LazyTrace
from warehouse.domains import Domain
from warehouse.entries import Usage
from warehouse.facts import facts_from
from warehouse.records import TRACE_TABLES
from warehouse.snapshots import Snapshot, load_snapshot, published_snapshot
from warehouse.trace_store import ShardStore, scan_shards, trace_store

TRAINING: Final = "training"
"""The source that training is stored under, in each build and group."""


class NoSnapshotError(ValueError):
    """A build has to publish a snapshot first; the text names the command."""


def previous_snapshot(home: Path, build: str, curated: bool = True) -> Snapshot | None:
    """What the build before this one published, of what Curator accepted or of all candidates; None where
    this is the first.

    `NoSnapshotError` where there is a build before it that has published nothing: skipping it would hide that
    its knowledge is missing.
    """
    earlier = build_before(home, build)
    return published(home, earlier, f"before build {build} can begin", curated) if earlier else None


def build_before(home: Path, build: str) -> str | None:
    """The build that this one begins with the knowledge of; None where it is the first."""
    earlier = _builds_before(home, build)
    return earlier[-1] if earlier else None


class Stale(NamedTuple):
    """A build that was trained with other knowledge than the build before it publishes now."""

    build: str
    trained_with: str | None
    """the snapshot that it was played with; None: with nothing"""
    before: str | None
    """the build before it; None where there is none any more"""
    published: str | None
    """what that one publishes now; None: nothing"""

    def __str__(self) -> str:
        was = f"snapshot {self.trained_with}" if self.trained_with else "no knowledge"
        now = f"snapshot {self.published}" if self.published else "nothing"
        if self.before is None:
            return f"build {self.build} was trained with {was}, and there is no build before it any more"
        of = f" of build {self.before}" if self.trained_with else ""
        which = "which" if self.trained_with else f"and build {self.before}"
        return f"build {self.build} was trained with {was}{of}, {which} now publishes {now}"


def stale_builds(home: Path) -> list[Stale]:
    """The trained builds whose training knew something else than the build before them publishes now, sorted.

    That is no fault: materializing a build again gives it a new generation, and what a later build was made
    from stays as it is. But the later build no longer
    follows from the earlier one, and a person has to know.
    """
    found = []
    for build in trace_store(home).builds():
        played = _trained_with(home, build)
        earlier = _builds_before(home, build) if played else []
        before = earlier[-1] if earlier else None
        now = None if before is None else published_snapshot(home, before)
        found += [Stale(build, each, before, now) for each in played if each != now]
    return found


def _trained_with(home: Path, build: str) -> list[str | None]:
    """The snapshots that a build's training was played with, none first; empty where nothing was trained."""
    store = trace_store(home)
    groups = sorted({group for group, source in store.sources(build) if source == TRAINING})
    held = [episodes_of(home, build, group, TRAINING)["snapshot_id"] for group in groups]
    return pl.concat(held).unique().sort().to_list() if held else []


def _builds_before(home: Path, build: str) -> list[str]:
    """The builds before this one that hold episodes or have published, sorted."""
    store = trace_store(home)
    pointers = (path.stem for path in (home / "snapshots" / "builds").glob("*.json"))
    held = {each for each in store.builds() if store.sources(each)}
    return sorted(each for each in held.union(pointers) if each < build)


def published(home: Path, build: str, wanted: str, curated: bool = True) -> Snapshot:
    """The snapshot that a build published, of what Curator accepted or of all candidates. `NoSnapshotError`
    says what to run where it published none."""
    snapshot_id = published_snapshot(home, build, curated)
    if snapshot_id is None:
        sort = "snapshot" if curated else "uncurated snapshot"
        raise NoSnapshotError(
            f"build {build} has published no {sort}, and needs one {wanted}: run `{_command(home, build)}`"
        )
    return load_snapshot(home / "snapshots" / snapshot_id)


def _command(home: Path, build: str) -> str:
    """What gives a build its snapshot, from what it has."""
    sources = trace_store(home).sources(build)
    groups = sorted({group for group, source in sources if source == TRAINING})
    if sources and not groups:
        return f"mineevolve run --build {build}"
    return " ".join(["mineevolve train --build", build, *(f"--group {group}" for group in groups)])


def stored_trace(store: ShardStore, build: str, group: str, source: str) -> LazyTrace:
    """A source's trace, not read yet."""
    parts = {
        part.table: part.shards
        for part in store.parts(builds=[build])
        if (part.group, part.source) == (group, source)
    }
    return LazyTrace(
        tables={name: scan_shards(name, parts.get(name, ())) for name in TRACE_TABLES},
        ticks=[scan_shards("ticks", [shard]) for shard in parts.get("ticks", ())],
    )


def usage_of(home: Path, domain: Domain, build: str, group: str, source: str) -> list[Usage]:
    """How the stored entries fared that this source's attempts were planned with.

    Read from what is stored, so that a batch that was resumed has the usage of one that was not.
    """
    trace = stored_trace(trace_store(home), build, group, source)
    attempts = trace.tables["attempts"].collect()
    if not attempts["knowledge_used"].list.len().sum():
        return []
    facts = facts_from(
        monitor_shards([trace], domain),
        attempts,
        trace.tables["events"].collect(),
        trace.tables["episodes"].collect(),
    )
    rows = attempts.select("episode_id", "attempt", "knowledge_used").iter_rows()
    used = {(episode_id, attempt): tuple(knowledge) for episode_id, attempt, knowledge in rows}
    return usage_from(
        Attempted(fact, used[fact.episode_id, fact.attempt], is_evaluation=False) for fact in facts.values()
    )


def episodes_of(home: Path, build: str, group: str, source: str) -> pl.DataFrame:
    """A source's episodes."""
    return stored_trace(trace_store(home), build, group, source).tables["episodes"].collect()
