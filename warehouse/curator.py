"""Curator: what becomes of candidate knowledge, eq. 6.

    Accept = V_schema and V_match and V_exec and V_spec and V_evidence
             and not repeats_action and not C_conflict

What passes the checks has to pass the other gates too: warehouse/hearing.py.

One pass is a pure function of the candidates, the facts, the store and the log of uses: the order of the
candidates changes nothing, and a candidate that comes again changes nothing. Every candidate gets a decision,
with all the reasons against it; nothing is dropped in silence.

An entry's status follows from its evidence and is worked out anew in each pass:

    active    it is used
    demoted   its late uses are mostly lost: it is used where nothing else is as relevant
    merged    another entry, `merged_into`, says the same and more
    retired   it contradicts knowledge of high confidence that outweighs it, its use was lost too often, it
              was not confirmed for long, or the store is full (warehouse/lifecycle.py)
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from warehouse.acceptance import may_stand
from warehouse.backtest import DEFAULT_BOUNDS, Backtest, Bounds
from warehouse.confidence import Outcomes, confidence, outcomes_by_build, together
from warehouse.conflicts import ConflictIndex
from warehouse.domains.model import Domain
from warehouse.entries import SERVED, Decision, Entry, Reason, Review, Support, TryOut, Usage, in_order
from warehouse.facts import FeedbackFact
from warehouse.hearing import hear
from warehouse.ids import derive_id
from warehouse.knowledge import Candidate
from warehouse.lifecycle import (
    Calendar,
    LifeSettings,
    confirmed_in,
    crowded_out,
    expiry_reasons,
    late,
    standing,
)
from warehouse.merging import combined, merged_id, merges
from warehouse.ruling import Ruling, loss, precedence, turn, worn_out


@dataclass(frozen=True)
class CuratorSettings:
    """How strict a pass is.

    `min_support_episodes`: independent episodes that must stand behind a new entry. `high_confidence`: from
    here on an entry is not contradicted by a weaker one; .75 is two supporting episodes without a loss.
    `retire_below`: an entry of less confidence is retired. `life` says what becomes of entries with time.
    `backtest`: what a newcomer has to show against the record; None leaves the back-test out. `build` names
    the build of decisions about entries that no candidate of the pass proposes; None takes the entry's own
    last build.
    """

    min_support_episodes: int = 1
    high_confidence: float = 0.75
    retire_below: float = 0.25
    life: LifeSettings = field(default_factory=LifeSettings)
    backtest: Bounds | None = DEFAULT_BOUNDS
    build: str | None = None


def curator_settings(*, backtest: bool) -> CuratorSettings:
    """The settings of a pipeline that has the back-test switched on, or off."""
    return CuratorSettings(backtest=DEFAULT_BOUNDS if backtest else None)


class Curation(NamedTuple):
    """The store after a pass, by entry id, and its decisions in the order of their candidates' ids.

    Behind those of the candidates stand decisions about entries that the pass retired, demoted or restored;
    their `candidate_id` is the entry's id. `backtests` are of the candidates that passed the checks, in the
    order of their ids.
    """

    store: dict[str, Entry]
    decisions: tuple[Decision, ...]
    backtests: tuple[Backtest, ...] = ()


def curate(
    candidates: Iterable[Candidate],
    facts: Mapping[str, FeedbackFact],
    store: Mapping[str, Entry],
    usage: Iterable[Usage],
    domain: Domain,
    settings: CuratorSettings | None = None,
    reviews: Iterable[Review] = (),
    imported: Collection[str] = (),
    calendar: Calendar | None = None,
    tryouts: Iterable[TryOut] = (),
) -> Curation:
    """One pass over `candidates`.

    `usage` is the whole log of uses, of earlier builds too: outcomes are counted anew, by distinct episode,
    so that a merge can add them up and a repeated pass does not count twice. One verdict among `reviews` that
    refuses a candidate is enough; one that accepts it changes nothing. `imported` are the facts that came
    with knowledge from elsewhere: evidence for it, but no part of the record that it is tested on.
    `calendar` says which builds had the occasion to confirm what; without it nothing expires. `tryouts` is
    everything that was tried out so far; what they found harmful or futile is refused.
    """
    by_id = {ids.candidate: (candidate, ids.entry) for candidate in candidates for ids in [candidate.ids]}
    proposals = {one: by_id[one][0] for one in sorted(by_id)}
    proposed = {one: by_id[one][1] for one in proposals}
    given = settings or CuratorSettings()
    newcomers = {one for one, entry_id in proposed.items() if entry_id not in store}
    reasons, tested = hear(
        proposals, newcomers, facts, domain, given.life, given.backtest, reviews, imported, tryouts
    )
    pass_ = _Pass(
        proposals,
        proposed,
        facts,
        store,
        tuple(usage),
        domain,
        given,
        reasons,
        tuple(tested.values()),
        calendar or Calendar({}, domain, {}),
    )
    return pass_.run()


@dataclass
class _Pass:
    """The steps of one pass, each building on those before it."""

    candidates: dict[str, Candidate]
    proposed: Mapping[str, str]
    """candidate -> the entry that it proposes"""
    facts: Mapping[str, FeedbackFact]
    store: Mapping[str, Entry]
    usage: tuple[Usage, ...]
    domain: Domain
    settings: CuratorSettings
    reasons: dict[str, tuple[Reason, ...]]
    """candidate -> what speaks against it"""
    tested: tuple[Backtest, ...]
    calendar: Calendar
    holder: dict[str, str] = field(default_factory=dict)
    """entry that was merged -> the entry that stands for it now"""
    rejected_new: dict[str, list[str]] = field(default_factory=dict)
    """new entry that is not stored -> the entries it lost to"""
    records: dict[str, dict[str, Outcomes]] = field(default_factory=dict)
    """entry -> build -> outcomes of its use there"""

    def run(self) -> Curation:
        self.holder = {
            one: entry.merged_into for one, entry in self.store.items() if entry.merged_into is not None
        }
        pool, first = self._settled(self._weighed(self._pool()))
        merged = {one: entry for one, entry in self.store.items() if entry.status == "merged"}
        pool = self._merged(pool, merged)
        pool, ruling = self._settled(self._weighed(pool), first)
        pool = self._within_capacity(pool, ruling)
        after = {one: self._versioned(entry) for one, entry in {**merged, **pool}.items()}
        return Curation(
            {one: after[one] for one in sorted(after)},
            self._decisions(after, ruling),
            self.tested,
        )

    def _standing_for(self, entry_id: str) -> str:
        while entry_id in self.holder:
            entry_id = self.holder[entry_id]
        return entry_id

    def _pool(self) -> dict[str, Entry]:
        """The store's entries that were not merged, and the new ones, with all their support."""
        pool = {one: entry for one, entry in self.store.items() if entry.status != "merged"}
        groups: defaultdict[str, list[str]] = defaultdict(list)
        for one in self.candidates:
            if not self.reasons[one]:
                groups[self._standing_for(self.proposed[one])].append(one)
        for entry_id, group in sorted(groups.items()):
            known = pool.get(entry_id)
            entry = self._supported(entry_id, [self.candidates[one] for one in group], known)
            if known is None and entry.support_episodes < self.settings.min_support_episodes:
                detail = (
                    f"{entry.support_episodes} of {self.settings.min_support_episodes} episodes support it"
                )
                for one in group:
                    self.reasons[one] = (Reason(rule="unsupported", detail=detail),)
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
                else _with(known, support=in_order({*known.support, *found}), last_build=builds[-1])
            )
        first = group[0]
        return Entry(
            entry_id=entry_id,
            domain=first.domain,
            type=first.type,
            trigger=first.trigger,
            content=first.content,
            verification=first.verification,
            support=in_order(found),
            confidence=0.0,
            first_build=builds[0],
            last_build=builds[-1],
        )

    def _weighed(self, pool: Mapping[str, Entry]) -> dict[str, Entry]:
        """The pool with outcomes and confidence from the log of uses."""
        resolved = {one: self._standing_for(one) for one in self.holder}
        self.records = outcomes_by_build(self.usage, resolved)
        weighed = {}
        for one, entry in pool.items():
            uses, wins = together(self.records.get(one, {}).values())
            mean = confidence(entry.support_episodes, wins, uses - wins)
            weighed[one] = _with(entry, uses=uses, wins=wins, confidence=mean)
        return weighed

    def _settled(
        self, pool: dict[str, Entry], so_far: Ruling | None = None
    ) -> tuple[dict[str, Entry], Ruling]:
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

    def _ruling(self, pool: Mapping[str, Entry]) -> Ruling:
        """Who stands against whom. Those speak first that are believed first; what was demoted speaks last,
        and nothing loses to it."""
        ruling, index = Ruling(), ConflictIndex(self.domain)
        for entry in pool.values():
            self._aged(entry, ruling)
        order = sorted(pool.values(), key=lambda each: (each.entry_id in ruling.demoted, precedence(each)))
        for entry in order:
            if entry.entry_id in ruling.out:
                continue
            opponents = index.against(entry)
            for other in opponents:
                ruling.disagrees[entry.entry_id].add(other.entry_id)
                ruling.disagrees[other.entry_id].add(entry.entry_id)
            stronger = [
                one
                for one in opponents
                if one.confidence >= self.settings.high_confidence and one.entry_id not in ruling.demoted
            ]
            if stronger:
                ruling.lost_to[entry.entry_id] = [one.entry_id for one in stronger]
            else:
                index.add(entry)
        return ruling

    def _aged(self, entry: Entry, ruling: Ruling) -> None:
        """Notes what time and use have made of an entry (warehouse/lifecycle.py)."""
        one, record, life = entry.entry_id, self.records.get(entry.entry_id, {}), self.settings.life
        if entry.confidence < self.settings.retire_below:
            ruling.out[one] = worn_out(entry)
        elif expired := expiry_reasons(entry, record, self.calendar, life):
            ruling.out[one] = expired
        elif record:
            status, reasons = standing(entry, record, life)
            if status != "active":
                (ruling.out if status == "retired" else ruling.demoted)[one] = reasons

    def _within_capacity(self, pool: dict[str, Entry], ruling: Ruling) -> dict[str, Entry]:
        """The pool with those entries retired for which there is no room."""
        served = [entry for entry in pool.values() if entry.status in SERVED]
        crowded = crowded_out(served, self.records, self.settings.life)
        ruling.out |= crowded
        return {
            one: _with(entry, status="retired") if one in crowded else entry for one, entry in pool.items()
        }

    def _merged(self, pool: dict[str, Entry], merged: dict[str, Entry]) -> dict[str, Entry]:
        """The pool after merging; what was merged moves to `merged`."""
        active = [entry for entry in pool.values() if entry.status == "active"]
        for merge in merges(active, self.domain, lambda trigger: may_stand(trigger, self.domain)):
            target = merged_id(merge, pool)
            taken = target in self.store or target in pool
            if taken and target not in merge.sources:
                continue  # a retired entry says just this: it does not come back by way of others
            sources = [pool.pop(one) for one in merge.sources]
            pool[target] = combined(target, merge, sources)
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

    def _decisions(self, after: Mapping[str, Entry], ruling: Ruling) -> tuple[Decision, ...]:
        decisions = [self._decision(one, after, ruling) for one in self.candidates]
        for one, entry in after.items():
            said = turn(self.store.get(one), entry)
            if said is None:
                continue
            build = self.settings.build or entry.last_build
            reasons = self._restored(entry) if said == "restored" else ruling.reasons_of(one)
            decisions.append(
                Decision(
                    decision_id=derive_id("decision", [build, one]),
                    build=build,
                    candidate_id=one,
                    entry_id=one,
                    verdict=said,
                    reasons=reasons,
                    conflict_with=tuple(ruling.lost_to.get(one, ())),
                )
            )
        return tuple(decisions)

    def _restored(self, entry: Entry) -> tuple[Reason, ...]:
        record = self.records.get(entry.entry_id, {})
        uses, wins = late(record, self.settings.life.recent_uses)
        detail = (
            f"confidence {entry.confidence:.3f}, last confirmed in build {confirmed_in(entry, record)}, "
            f"{wins} of its last {uses} episodes of use won"
        )
        return (Reason(rule="restored", detail=detail),)

    def _decision(self, one: str, after: Mapping[str, Entry], ruling: Ruling) -> Decision:
        build, proposed = self.candidates[one].build, self.proposed[one]
        reasons = self.reasons[one]
        entry_id = self._standing_for(proposed)
        against: tuple[str, ...] = ()
        if not reasons:
            against = tuple(sorted(ruling.disagrees.get(entry_id, set())))
            if entry_id in self.rejected_new:
                against = tuple(self.rejected_new[entry_id])
                reasons = loss(against)
            elif after[entry_id].status == "retired":
                against = tuple(ruling.lost_to.get(entry_id, []))
                reasons = ruling.reasons_of(entry_id)
        accepted = not reasons
        return Decision(
            decision_id=derive_id("decision", [build, one]),
            build=build,
            candidate_id=one,
            entry_id=proposed,
            verdict="accepted" if accepted else "rejected",
            reasons=reasons,
            merged_into=entry_id if accepted and entry_id != proposed else None,
            conflict_with=against,
        )


def _with(entry: Entry, **changes: Any) -> Entry:
    """`entry` with other values, itself where they are what it has. They come from this module and are of
    the right types: nothing is validated again, since a pass does this several times to every entry."""
    if all(getattr(entry, name) == value for name, value in changes.items()):
        return entry
    return entry.model_copy(update=changes)
