"""The life of an entry: what never becomes one, when one moves down, expires or has to make room, and what
brings it back.

    candidate ──(seen in one world alone)──> rejected: transient
       │ accepted
       v
    active ──(late uses are mostly lost)──> demoted ──(hardly any is won)──> retired: fading
       ^  <──(wins half of them again)──────┘
       │
       ├──(offered in n builds, confirmed in none of them)─> retired: expired ──(new evidence)──> active
       └──(the domain's store is full)─────────────────────> retired: capacity ──(room again)───> active

Everything here is a pure function of evidence and settings, worked out anew in each pass of Curator, so a
status is never a matter of how often somebody looked. What was demoted stays in snapshots and is found after
whatever is as relevant and active (warehouse/retrieval.py): only use can show that it helps again.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

import polars as pl

from warehouse.confidence import Outcomes, together
from warehouse.domains.model import Domain
from warehouse.entries import Entry, Reason, Status
from warehouse.facts import INFRASTRUCTURE, FeedbackFact
from warehouse.grammar import Action, action_of, known_names
from warehouse.knowledge import Candidate, RemedyContent

OF_THE_RULES: Final = frozenset(
    {
        "INVALID_ACTION",
        "INVENTORY_FULL",
        "MISSING_STATION",
        "MISSING_TOOL",
        "NO_FUEL",
        "MISSING_INGREDIENT",
        "PREMATURE_STOP",
    }
)
"""Failure types whose evidence names what the action lacked, or what the agent did: they come again in any
world. Every other type says what happened there and then, which one world can bring about alone."""


class Occasion(NamedTuple):
    """A build in which an action was attempted, by an agent that was given the knowledge of a snapshot."""

    build: str
    snapshot_id: str


Occasions = Mapping[Action, Sequence[Occasion]]
"""action -> the occasions to confirm something about it, in order"""


@dataclass(frozen=True)
class LifeSettings:
    """How patient Curator is with what it accepted. All figures were set before any evaluation was read.

    `recent_uses`: late outcomes are those of the last builds that together hold so many episodes of use;
    builds are taken whole, since their episodes have no order. Twelve are enough for a rate, and few enough
    to notice that the world changed. `sure`: how probable it must be that the rate of wins is below a bound.
    `demote_below`: a plan with the entry fails more often than not. Four losses without a win are enough.
    `retire_below`: three of four fail; ten losses without a win. Between the two it can recover.
    `expire_after`: builds in which the entry was offered and its action attempted, and which neither brought
    evidence for it nor a won use of it: five times others were right without it. One that never comes up
    costs nothing and does not expire. `capacity`: served entries of a domain; twice the largest store that
    the bench curates into, far above what experience has filled. `worlds_of_a_failure`: so many worlds must
    have shown a failure that is not of the rules before a remedy for it is knowledge.
    """

    recent_uses: int = 12
    sure: float = 0.95
    demote_below: float = 0.5
    retire_below: float = 0.25
    expire_after: int = 5
    capacity: int = 20_000
    worlds_of_a_failure: int = 2


# What never becomes knowledge


class Circumstances:
    """In how many worlds a failure was seen, over all feedback that there is, whoever cites it."""

    def __init__(self, facts: Iterable[FeedbackFact]) -> None:
        self._worlds: defaultdict[tuple[str | None, str | None, str], set[str]] = defaultdict(set)
        for fact in facts:
            failure = fact.failure_type
            if fact.y is False and failure and failure != INFRASTRUCTURE and failure not in OF_THE_RULES:
                for kind in (fact.kind, None):
                    for target in (fact.target, None):
                        self._worlds[kind, target, failure].add(_world_of(fact))

    def worlds(self, candidate: Candidate) -> int:
        """In how many different worlds the failure that a remedy is for was seen. One seed is one world,
        however many episodes were played in it; an episode in a world that is not known stands for itself."""
        content = candidate.content
        if not isinstance(content, RemedyContent):
            return 0
        return len(self._worlds.get((*action_of(content), content.risk.failure_type), ()))


def transient_reasons(
    candidate: Candidate, circumstances: Circumstances, settings: LifeSettings
) -> tuple[Reason, ...]:
    """Why a remedy is for a failure that may have been one bad seed; none for a skill, and none for a failure
    that the rules of the game bring about anywhere."""
    content = candidate.content
    if not isinstance(content, RemedyContent) or content.risk.failure_type in OF_THE_RULES:
        return ()
    worlds = circumstances.worlds(candidate)
    if worlds >= settings.worlds_of_a_failure:
        return ()
    kind, target = action_of(content)
    action = " ".join(name for name in (kind, target) if name) or "anything"
    detail = (
        f"{content.risk.failure_type} at {action} was seen in {worlds} of {settings.worlds_of_a_failure} "
        "worlds: it may be one bad seed"
    )
    return (Reason(rule="transient", detail=detail),)


def _world_of(fact: FeedbackFact) -> str:
    known = fact.place.world if fact.place is not None else None
    return known or f"episode {fact.episode_id}"


# Late outcomes of use


def late(record: Mapping[str, Outcomes], recent_uses: int) -> Outcomes:
    """The outcomes of the last builds that hold at least `recent_uses` episodes of use, or of all."""
    taken: list[Outcomes] = []
    for build in sorted(record, reverse=True):
        if together(taken).uses >= recent_uses:
            break
        taken.append(record[build])
    return together(taken)


@lru_cache(maxsize=4096)
def probability_below(bound: float, outcomes: Outcomes) -> float:
    """That the rate of wins is below `bound`, given outcomes and nothing else: the distribution function of
    Beta(1 + wins, 1 + losses).

    >>> round(probability_below(0.5, Outcomes(uses=4, wins=0)), 3)
    0.969
    """
    from scipy.special import betainc  # a fifth of a second that no reader of the store should wait for

    return float(betainc(1 + outcomes.wins, 1 + outcomes.uses - outcomes.wins, bound))


def standing(
    entry: Entry, record: Mapping[str, Outcomes], settings: LifeSettings
) -> tuple[Status, tuple[Reason, ...]]:
    """Whether an entry is active, demoted or retired by its late outcomes of use, `record` by build, and why
    it is not active.

    What is demoted already is so until half of its late uses are won: it does not go up and down on one.
    """
    outcomes = late(record, settings.recent_uses)
    lost = f"lost {outcomes.uses - outcomes.wins} of its last {outcomes.uses} episodes of use"
    for bound, status in ((settings.retire_below, "retired"), (settings.demote_below, "demoted")):
        probability = probability_below(bound, outcomes)
        if probability >= settings.sure:
            detail = f"{lost}: it wins less than {bound:.0%} with probability {probability:.3f}"
            return ("retired" if status == "retired" else "demoted"), (Reason(rule="fading", detail=detail),)
    if entry.status == "demoted" and 2 * outcomes.wins < outcomes.uses:
        return "demoted", (Reason(rule="fading", detail=f"{lost}, still more than half"),)
    return "active", ()


# Expiry


def occasions(
    episodes: pl.DataFrame, attempts: pl.DataFrame, learnt: Iterable[str]
) -> dict[Action, tuple[Occasion, ...]]:
    """The occasions in frames of the contract. None is an attempt that the infrastructure ended, one of an
    episode without a snapshot (a recording, a cold start), nor one of a build that is not among those that
    were `learnt` from: such a build can confirm nothing."""
    found = (
        attempts.lazy()
        .filter(pl.col("end_reason").cast(pl.String) != "infrastructure")
        .join(episodes.lazy().select("episode_id", "build", "snapshot_id"), on="episode_id")
        .filter(pl.col("snapshot_id").is_not_null(), pl.col("build").is_in(sorted(learnt)))
        .select(pl.col("kind").cast(pl.String), "target", "build", "snapshot_id")
        .unique()
        .sort("kind", "target", "build", "snapshot_id")
        .collect()
    )
    named: defaultdict[Action, list[Occasion]] = defaultdict(list)
    for kind, target, build, snapshot_id in found.iter_rows():
        named[kind, target].append(Occasion(build, snapshot_id))
    return {action: tuple(each) for action, each in named.items()}


class Calendar:
    """Which builds had the occasion to confirm what.

    `offered`: snapshot id -> the ids of its entries. `set_back`: the last build that was set back to an
    earlier snapshot. What confirmed its entries until then was taken back with the rest, so that no occasion
    up to it counts against them.
    """

    def __init__(
        self,
        attempted: Occasions,
        domain: Domain,
        offered: Mapping[str, Collection[str]],
        set_back: str | None = None,
    ) -> None:
        self._domain = domain
        self._offered = offered
        self._occasions: defaultdict[Action, set[Occasion]] = defaultdict(set)
        for (kind, target), had in attempted.items():
            for action in ((kind, target), (kind, None), (None, target), (None, None)):
                self._occasions[action] |= {each for each in had if each.build > (set_back or "")}

    def builds_since(self, entry: Entry, build: str) -> list[str]:
        """The builds after `build` in which an entry was offered and the action that it is about attempted,
        in order. A tag stands for its members, and what was merged into an entry for the entry."""
        kind, target = action_of(entry.content)
        named = {target} if target is None else {target, *known_names(target, self._domain)}
        kin = {entry.entry_id, *entry.merged_from}
        had = set().union(*(self._occasions.get((kind, name), set()) for name in named))
        return sorted(
            {
                each.build
                for each in had
                if each.build > build and not kin.isdisjoint(self._offered.get(each.snapshot_id, ()))
            }
        )


def confirmed_in(entry: Entry, record: Mapping[str, Outcomes]) -> str:
    """The last build that brought evidence for an entry, or a use of it that was won."""
    return max([entry.last_build, *(build for build, outcomes in record.items() if outcomes.wins)])


def expiry_reasons(
    entry: Entry, record: Mapping[str, Outcomes], calendar: Calendar, settings: LifeSettings
) -> tuple[Reason, ...]:
    """Why an entry has expired, if it has."""
    last = confirmed_in(entry, record)
    since = calendar.builds_since(entry, last)
    if len(since) < settings.expire_after:
        return ()
    detail = (
        f"last confirmed in build {last}; {len(since)} builds since were offered it and did not "
        f"(the last: {since[-1]})"
    )
    return (Reason(rule="expired", detail=detail),)


# Capacity


def crowded_out(
    served: Iterable[Entry], records: Mapping[str, Mapping[str, Outcomes]], settings: LifeSettings
) -> dict[str, tuple[Reason, ...]]:
    """The entries, by id, that have to make room in their domain, and why.

    Of the served entries those stay that come first by: active before demoted, higher confidence, more
    independent episodes, confirmed later, smaller id.
    """
    domains: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in served:
        domains[entry.domain].append(entry)
    out: dict[str, tuple[Reason, ...]] = {}
    for domain, entries in sorted(domains.items()):
        if len(entries) <= settings.capacity:
            continue
        # Sorts are stable, so the least telling comes first; a build's name cannot be negated.
        entries.sort(key=lambda each: each.entry_id)
        entries.sort(key=lambda each: confirmed_in(each, records.get(each.entry_id, {})), reverse=True)
        entries.sort(key=lambda each: (each.status == "demoted", -each.confidence, -each.support_episodes))
        for place, entry in enumerate(entries[settings.capacity :], settings.capacity + 1):
            detail = (
                f"{domain} has room for {settings.capacity} entries, and this is number {place} of "
                f"{len(entries)} by confidence ({entry.confidence:.3f}), evidence and last confirmation"
            )
            out[entry.entry_id] = (Reason(rule="capacity", detail=detail),)
    return out
