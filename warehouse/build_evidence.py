"""What curation of a build may read: everything that the shards hold of it and of the builds before it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from warehouse import log
from warehouse.entries import Review, TryOut, Usage
from warehouse.exchange import facts_imported
from warehouse.facts import FeedbackFact, facts_from
from warehouse.knowledge import Candidate
from warehouse.records import from_rows
from warehouse.snapshots import entry_ids
from warehouse.trace_store import feedback_store, trace_store


class StaleFeedbackError(RuntimeError):
    """Feedback speaks of attempts that the traces no longer hold."""


@dataclass(frozen=True)
class Evidence:
    """What curation of one build may read: the candidates, with the reviews of the build's own, and the
    outcomes of use, trajectories and feedback of this build and of those before it. `imported` are facts that
    came with knowledge from elsewhere, by feedback id."""

    build: str
    proposed: tuple[Candidate, ...]
    """by this build and those before it"""
    reviews: tuple[Review, ...]
    usage: tuple[Usage, ...]
    episodes: pl.DataFrame
    attempts: pl.DataFrame
    events: pl.DataFrame
    feedback: pl.DataFrame
    imported: Mapping[str, FeedbackFact] = field(default_factory=dict)
    tryouts: tuple[TryOut, ...] = ()
    """of this build and of those before it"""
    offered: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """snapshot id -> the ids of its entries, which those could use who played with it"""
    set_back: str | None = None
    """the last build before this one that was set back to an earlier snapshot"""

    @property
    def facts(self) -> dict[str, FeedbackFact]:
        """What each piece of feedback says, by its id; of the same feedback the home's own word counts."""
        return {
            **self.imported,
            **facts_from(self.feedback, self.attempts, self.events, self.episodes),
        }

    @property
    def episode_of(self) -> dict[str, str]:
        """Feedback id -> episode, of the home's own feedback and of what was imported."""
        own = dict(self.feedback.select("feedback_id", "episode_id").iter_rows())
        return {one: fact.episode_id for one, fact in self.imported.items()} | own

    @property
    def only_imported(self) -> frozenset[str]:
        """The feedback that the home knows of from elsewhere alone."""
        return frozenset(self.imported) - frozenset(self.feedback["feedback_id"])

    @property
    def learnt(self) -> frozenset[str]:
        """The builds that were learnt from: they proposed something, or logged how knowledge fared."""
        used = {use.build for use in self.usage if use.build is not None}
        return frozenset(used.union(candidate.build for candidate in self.proposed))

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The build's own, which are to be decided."""
        return tuple(candidate for candidate in self.proposed if candidate.build == self.build)


def evidence_by_build(home: Path, builds: Sequence[str], first: str) -> Iterator[Evidence]:
    """The evidence of each of `builds` (in sorted order) from `first` on; those before it count as evidence.

    Raises `StaleFeedbackError` for feedback older than its traces, `DamagedShardError` for a shard of the log
    that is not what its name says.
    """
    traces, feedback = trace_store(home), feedback_store(home)
    candidates, usage = log.read(home, "candidates", builds), log.read(home, "usage", builds)
    reviews, imports = log.read(home, "reviews", builds), log.read(home, "imports", builds)
    tryouts = log.read(home, "tryouts", builds)
    set_back, offered = sorted(set(log.read(home, "rollbacks", builds)["build"])), entry_ids(home)
    frames = {name: from_rows(name, []) for name in ("episodes", "attempts", "events", "feedback")}
    for build in builds:
        for name, so_far in frames.items():
            scan = (feedback if name == "feedback" else traces).scan(name, [build])
            frames[name] = pl.concat([so_far, scan.collect()])
        if build < first:
            continue
        evidence = Evidence(
            build,
            tuple(log.candidates_of(candidates.filter(pl.col("build") <= build))),
            tuple(log.reviews_of(reviews.filter(pl.col("build") == build))),
            tuple(log.usage_of(held(usage.filter(pl.col("build") <= build), frames["episodes"]))),
            **frames,
            imported=facts_imported(imports.filter(pl.col("build") <= build)),
            tryouts=tuple(log.tryouts_of(held(tryouts.filter(pl.col("build") <= build), frames["episodes"]))),
            offered=offered,
            set_back=max((one for one in set_back if one < build), default=None),
        )
        _refuse_stale(evidence)
        yield evidence


def held(rows: pl.DataFrame, episodes: pl.DataFrame) -> pl.DataFrame:
    """The uses, or try-outs, that count: those of episodes that there are. The log only grows, and keeps
    those of episodes that a build was rid of since, by training it in another way or by taking a source
    out."""
    return rows.join(episodes, on="episode_id", how="semi")


def _refuse_stale(evidence: Evidence) -> None:
    keys = ["episode_id", "attempt"]
    orphans = evidence.feedback.join(evidence.attempts, on=keys, how="anti")
    if orphans.height:
        raise StaleFeedbackError(
            f"{orphans.height} feedback rows up to build {evidence.build!r} are of attempts that the traces "
            f"do not hold (first: episode {orphans['episode_id'][0]}, attempt {orphans['attempt'][0]}). The "
            "traces were imported again since: make the feedback of that build again."
        )
