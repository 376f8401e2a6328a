"""Curator: what becomes of candidate knowledge, eq. 6.

    Accept = V_schema and V_match and V_exec and V_spec and V_evidence
             and not repeats_action and not C_conflict

One pass is a pure function of the candidates, the facts, the store and the log of uses: the order of the
candidates changes nothing, and a candidate that comes again changes nothing. Every candidate gets a decision,
with all the reasons against it; nothing is dropped in silence.

An entry's status follows from its evidence and is worked out anew in each pass:

    active    it is used
    merged    another entry, `merged_into`, says the same and more
    retired   it contradicts knowledge of high confidence that outweighs it, or its use was lost too often
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from warehouse.acceptance import may_stand, reasons_against
from warehouse.confidence import Outcomes, confidence, outcomes_by_entry
from warehouse.conflicts import ConflictIndex
from warehouse.domains.model import Domain
from warehouse.entries import Decision, Entry, Reason, Review, Support, TryOut, Usage
from warehouse.facts import FeedbackFact
from warehouse.ids import derive_id
from warehouse.knowledge import Candidate
from warehouse.merging import Merge, merged_id, merges
from warehouse.tryouts import Tally, reasons_tried, tallies


@dataclass(frozen=True)
class CuratorSettings:
    """How strict a pass is.

    `min_support_episodes`: independent episodes that must stand behind a new entry. `high_confidence`: from
    here on an entry is not contradicted by a weaker one; .75 is two supporting episodes without a loss.
    `retire_below`: an entry of less confidence is retired. `build` names the build of decisions about entries
    that no candidate of the pass proposes; None takes the entry's own last build.
    """

    min_support_episodes: int = 1
    high_confidence: float = 0.75
    retire_below: float = 0.25
    build: str | None = None


class Curation(NamedTuple):
    """The store after a pass, by entry id, and its decisions in the order of their candidates' ids.

    Behind those of the candidates stand decisions about entries that the pass retired; their `candidate_id`
    is the entry's id.
    """

    store: dict[str, Entry]
    decisions: tuple[Decision, ...]


def curate(
    candidates: Iterable[Candidate],
    facts: Mapping[str, FeedbackFact],
    store: Mapping[str, Entry],
    usage: Iterable[Usage],
    domain: Domain,
    settings: CuratorSettings | None = None,
    reviews: Iterable[Review] = (),
    tryouts: Iterable[TryOut] = (),
) -> Curation:
    """One pass over `candidates`.

    `usage` is the whole log of uses, of earlier builds too: outcomes are counted anew, by distinct episode,
    so that a merge can add them up and a repeated pass does not count twice. One verdict among `reviews` that
    refuses a candidate is enough; one that accepts it changes nothing. `tryouts` is everything that was tried
    out so far; what they found harmful or futile is refused (warehouse/tryouts.py).
    """
    by_id = {candidate.candidate_id: candidate for candidate in candidates}
    proposals = {one: by_id[one] for one in sorted(by_id)}
    refused: defaultdict[str, list[Review]] = defaultdict(list)
    for review in sorted(reviews, key=lambda one: (one.candidate_id, one.model, one.request_id)):
        if review.verdict == "rejected":
            refused[review.candidate_id].append(review)
    ours, tried = settings or CuratorSettings(), tallies(tryouts)
    pass_ = _Pass(proposals, facts, store, tuple(usage), domain, ours, refused, tried)
    return pass_.run()


@dataclass
class _Ruling:
    """How the entries of a pool stand to each other: who lost, to whom, and who merely disagrees."""

    lost_to: dict[str, list[str]] = field(default_factory=dict)
    disagrees: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    worn_out: set[str] = field(default_factory=set)

    def status_of(self, entry_id: str) -> str:
        return "retired" if entry_id in self.lost_to or entry_id in self.worn_out else "active"


@dataclass
class _Pass:
    """The steps of one pass, each building on those before it."""

    candidates: dict[str, Candidate]
    facts: Mapping[str, FeedbackFact]
    store: Mapping[str, Entry]
    usage: tuple[Usage, ...]
    domain: Domain
    settings: CuratorSettings
    refused: Mapping[str, list[Review]]
    """candidate -> the reviews that refuse it"""
    tried: Mapping[str, Tally]
    """entry -> what came of trying it out"""
    reasons: dict[str, tuple[Reason, ...]] = field(default_factory=dict)
    holder: dict[str, str] = field(default_factory=dict)
    """entry that was merged -> the entry that stands for it now"""
    rejected_new: dict[str, list[str]] = field(default_factory=dict)
    """new entry that is not stored -> the entries it lost to"""

    def run(self) -> Curation:
        self.reasons = {
            one: reasons_against(candidate, self.facts, self.domain)
            or tuple(
                Reason(rule="review", detail=f"{review.model}: {review.reason}")
                for review in self.refused.get(one, ())
            )
            or reasons_tried(candidate.entry_id, self.tried)
            for one, candidate in self.candidates.items()
        }
        self.holder = {
            one: entry.merged_into for one, entry in self.store.items() if entry.merged_into is not None
        }
        pool, first = self._settled(self._weighed(self._pool()))
        merged = {one: entry for one, entry in self.store.items() if entry.status == "merged"}
        pool = self._merged(pool, merged)
        pool, ruling = self._settled(self._weighed(pool), first)
        after = {one: self._versioned(entry) for one, entry in {**merged, **pool}.items()}
        return Curation({one: after[one] for one in sorted(after)}, self._decisions(after, ruling))

    def _standing_for(self, entry_id: str) -> str:
        while entry_id in self.holder:
            entry_id = self.holder[entry_id]
        return entry_id

    def _pool(self) -> dict[str, Entry]:
        """The store's entries that were not merged, and the new ones, with all their support."""
        pool = {one: entry for one, entry in self.store.items() if entry.status != "merged"}
        groups: defaultdict[str, list[Candidate]] = defaultdict(list)
        for one, candidate in self.candidates.items():
            if not self.reasons[one]:
                groups[self._standing_for(candidate.entry_id)].append(candidate)
        for entry_id, group in sorted(groups.items()):
            known = pool.get(entry_id)
            entry = self._supported(entry_id, group, known)
            if known is None and entry.support_episodes < self.settings.min_support_episodes:
                detail = (
                    f"{entry.support_episodes} of {self.settings.min_support_episodes} episodes support it"
                )
                for candidate in group:
                    self.reasons[candidate.candidate_id] = (Reason(rule="unsupported", detail=detail),)
                continue
            pool[entry_id] = entry
        return pool

    def _supported(self, entry_id: str, group: list[Candidate], known: Entry | None) -> Entry:
        cited = sorted({feedback for candidate in group for feedback in candidate.support})
        facts = [self.facts[one] for one in cited]
        found = {
            Support(feedback_id=fact.feedback_id, episode_id=fact.episode_id, place=fact.place)
            for fact in facts
        }
        builds = sorted(candidate.build for candidate in group)
        if known is not None:
            return (
                known
                if found <= set(known.support)
                else _with(known, support=_in_order({*known.support, *found}), last_build=builds[-1])
            )
        first = group[0]
        return Entry(
            entry_id=entry_id,
            domain=first.domain,
            type=first.type,
            trigger=first.trigger,
            content=first.content,
            verification=first.verification,
            support=_in_order(found),
            confidence=0.0,
            first_build=builds[0],
            last_build=builds[-1],
        )

    def _weighed(self, pool: Mapping[str, Entry]) -> dict[str, Entry]:
        """The pool with outcomes and confidence from the log of uses."""
        resolved = {one: self._standing_for(one) for one in self.holder}
        outcomes = outcomes_by_entry(self.usage, resolved)
        weighed = {}
        for one, entry in pool.items():
            uses, wins = outcomes.get(one, Outcomes(0, 0))
            mean = confidence(entry.support_episodes, wins, uses - wins)
            weighed[one] = _with(entry, uses=uses, wins=wins, confidence=mean)
        return weighed

    def _settled(
        self, pool: dict[str, Entry], so_far: _Ruling | None = None
    ) -> tuple[dict[str, Entry], _Ruling]:
        """The pool with each entry's status. New entries that lose leave it."""
        ruling = self._ruling(pool)
        for one, ids in (so_far.disagrees if so_far else {}).items():
            ruling.disagrees[self._standing_for(one)] |= {self._standing_for(each) for each in ids}
        settled = {}
        for one, entry in pool.items():
            if one in ruling.lost_to and one not in self.store and not entry.merged_from:
                self.rejected_new[one] = ruling.lost_to[one]
            else:
                settled[one] = _with(entry, status=ruling.status_of(one))
        return settled, ruling

    def _ruling(self, pool: Mapping[str, Entry]) -> _Ruling:
        """Who stands against whom. The more confident speaks first; of equals, the older."""
        ruling, index = _Ruling(), ConflictIndex(self.domain)
        for entry in sorted(pool.values(), key=_precedence):
            if entry.confidence < self.settings.retire_below:
                ruling.worn_out.add(entry.entry_id)
                continue
            opponents = index.against(entry)
            for other in opponents:
                ruling.disagrees[entry.entry_id].add(other.entry_id)
                ruling.disagrees[other.entry_id].add(entry.entry_id)
            stronger = [one for one in opponents if one.confidence >= self.settings.high_confidence]
            if stronger:
                ruling.lost_to[entry.entry_id] = [one.entry_id for one in stronger]
            else:
                index.add(entry)
        return ruling

    def _merged(self, pool: dict[str, Entry], merged: dict[str, Entry]) -> dict[str, Entry]:
        """The pool after merging; what was merged moves to `merged`."""
        active = [entry for entry in pool.values() if entry.status == "active"]
        for merge in merges(active, self.domain, lambda trigger: may_stand(trigger, self.domain)):
            target = merged_id(merge, pool)
            taken = target in self.store or target in pool
            if taken and target not in merge.sources:
                continue  # a retired entry says just this: it does not come back by way of others
            sources = [pool.pop(one) for one in merge.sources]
            pool[target] = _combined(target, merge, sources)
            for source in sources:
                if source.entry_id != target:
                    self.holder[source.entry_id] = target
                    merged[source.entry_id] = _with(source, status="merged", merged_into=target)
        return pool

    def _versioned(self, entry: Entry) -> Entry:
        before = self.store.get(entry.entry_id)
        if before is None or before == entry:
            return entry
        return _with(entry, version=before.version + 1)

    def _decisions(self, after: Mapping[str, Entry], ruling: _Ruling) -> tuple[Decision, ...]:
        decisions = [self._decision(one, after, ruling) for one in self.candidates]
        for one, entry in after.items():
            before = self.store.get(one)
            if before is not None and before.status == "active" and entry.status == "retired":
                build = self.settings.build or entry.last_build
                lost_to = ruling.lost_to.get(one, [])
                decisions.append(
                    Decision(
                        decision_id=derive_id("decision", [build, one]),
                        build=build,
                        candidate_id=one,
                        entry_id=one,
                        verdict="rejected",
                        reasons=_loss(entry, lost_to),
                        conflict_with=tuple(lost_to),
                    )
                )
        return tuple(decisions)

    def _decision(self, one: str, after: Mapping[str, Entry], ruling: _Ruling) -> Decision:
        candidate, reasons = self.candidates[one], self.reasons[one]
        entry_id = self._standing_for(candidate.entry_id)
        against: tuple[str, ...] = ()
        if not reasons:
            against = tuple(sorted(ruling.disagrees.get(entry_id, set())))
            if entry_id in self.rejected_new:
                against = tuple(self.rejected_new[entry_id])
                reasons = _loss(None, list(against))
            elif after[entry_id].status == "retired":
                against = tuple(ruling.lost_to.get(entry_id, []))
                reasons = _loss(after[entry_id], list(against))
        accepted = not reasons
        return Decision(
            decision_id=derive_id("decision", [candidate.build, one]),
            build=candidate.build,
            candidate_id=one,
            entry_id=candidate.entry_id,
            verdict="accepted" if accepted else "rejected",
            reasons=reasons,
            merged_into=entry_id if accepted and entry_id != candidate.entry_id else None,
            conflict_with=against,
        )


def _combined(entry_id: str, merge: Merge, sources: list[Entry]) -> Entry:
    """The entry that `merge` makes, with the evidence of all its sources; its weight is worked out later."""
    own = next((source for source in sources if source.entry_id == entry_id), None)
    others = {source.entry_id for source in sources} - {entry_id}
    builds = sorted(build for each in sources for build in (each.first_build, each.last_build))
    return Entry(
        entry_id=entry_id,
        domain=sources[0].domain,
        type=sources[0].type,
        trigger=merge.trigger,
        content=merge.content,
        verification=sources[0].verification,
        support=_in_order({support for source in sources for support in source.support}),
        confidence=0.0,
        merged_from=tuple(sorted(others | set(own.merged_from if own else ()))),
        first_build=builds[0],
        last_build=builds[-1],
        version=own.version if own else 1,
    )


def _loss(entry: Entry | None, lost_to: list[str]) -> tuple[Reason, ...]:
    if lost_to:
        return tuple(
            Reason(rule="conflict", detail=f"contradicts {one}, which is of high confidence")
            for one in lost_to
        )
    detail = (
        f"lost {entry.uses - entry.wins} of {entry.uses} episodes of use"
        if entry
        else "nothing stands behind it"
    )
    return (Reason(rule="unsupported", detail=detail),)


def _precedence(entry: Entry) -> tuple[float, str, str]:
    return (-entry.confidence, entry.first_build, entry.entry_id)


def _in_order(support: Iterable[Support]) -> tuple[Support, ...]:
    return tuple(sorted(support, key=lambda each: (each.feedback_id, each.episode_id)))


def _with(entry: Entry, **changes: Any) -> Entry:
    """`entry` with other values, validated again."""
    return Entry.model_validate({**dict(entry), **changes})
