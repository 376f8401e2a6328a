"""Retrieval, eq. 7: of all knowledge the set S that maximises the sum of r(c, k) with sum of tokens(k) <= B.

    r(c, k) = about(c, k) * trigger(c, k) * place(c, k) * trust(k)                            in [0, 1]

    about   = likeness of kind * (SUBGOAL * kin(target, k) + FAILURE * recency(failure of k))
              + GOAL * kin(goal, k)
    trigger = how far the predicates of k hold in the state; unknown fields change nothing
    place   = depth band, biome and distance to the evidence, at most a fifth
    trust   = confidence, at most a half; the least there is, or less, for what was demoted

`about` is a factor and not a summand, so that no entry about something else gets into a prompt by its
confidence or by where it was learnt. It depends on three discrete features alone: entries that share them
form blocks of rows, blocks are found through postings (thing -> subjects -> blocks, failure type -> blocks),
and the other factors are worked out only in blocks whose upper bound can still reach the best k. The bound
is exact (products of non-negative floats, taken in one order, round monotonically), so the ranking is that of
scoring every entry.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from warehouse.domains.model import Domain
from warehouse.entries import SERVED, Entry
from warehouse.kinship import kinship_of
from warehouse.places import Place
from warehouse.retrieval_index import (
    ANY_TARGET,
    FAILURE,
    GOAL,
    INDIRECT,
    OTHER_KIND,
    RECENCY,
    SUBGOAL,
    TRUST,
    Conditions,
    Context,
    EvidencePlaces,
    Floats,
    Ints,
    Ranked,
    Subject,
    expand,
    kind_and_failure,
    located,
    state_of,
    subject_of,
)
from warehouse.vocabulary import NO_FAILURE

__all__ = ["CANDIDATES", "Context", "Index", "Place", "Ranked", "Retrieved", "knapsack", "retrieve"]

CANDIDATES: Final = 16
"""The most relevant entries, among which the knapsack chooses (the authors' top-K)."""
BLOCK_ROWS: Final = 64
"""Rows that share one bound: more make the bound loose, fewer make the list of bounds long."""
FIRST_BLOCKS: Final = 128
"""Blocks scored before the bound is put to use: several times k rows, so that it is near its final value."""
WAVE_GROWTH: Final = 4
"""Each further wave is so much larger: few passes even where no bound helps."""
DEMOTED: Final = 1.0 - TRUST
"""What the trust in a demoted entry is multiplied by: of two that differ in nothing else, the active one
comes first however little it is trusted, since trust in that is never less than this."""
_EXACT: Final = 1_000_000_000
"""Relevance is added up in units of 1e-9: sums of integers do not depend on their order."""


class Index:
    """The served entries of one snapshot, laid out for `rank`. Immutable; may be shared between threads.

    Rows are entries sorted by (subject, kind, failure, trust from high to low, id) and cut into blocks
    of at most `BLOCK_ROWS` that share subject, kind and failure.
    """

    def __init__(
        self, entries: Sequence[Entry], domain: Domain, evidence: Mapping[str, Sequence[Place]]
    ) -> None:
        self._domain = domain
        self._kinship = kinship_of(domain)
        self._kin_of: dict[str, tuple[Ints, Floats]] = {}
        self._subjects: dict[Subject, int] = {}
        self._kinds: dict[str | None, int] = {}
        self._failures: dict[str | None, int] = {}
        keys = np.array([self._key_of(entry) for entry in entries], dtype=np.int64).reshape(-1, 3)
        trust = np.array([_trust(entry) for entry in entries], dtype=np.float64)
        id_rank = np.empty(len(entries), dtype=np.int64)
        id_rank[sorted(range(len(entries)), key=lambda row: entries[row].entry_id)] = np.arange(len(entries))
        order = np.lexsort((id_rank, -trust, keys[:, 2], keys[:, 1], keys[:, 0]))
        self._entries = [entries[row] for row in order]
        self._id_rank = id_rank[order]
        self._trust = trust[order]
        self._conditions = Conditions(self._entries, domain)
        self._places = EvidencePlaces(
            [[located(place, domain) for place in evidence.get(each.entry_id, ())] for each in self._entries]
        )
        self._lay_blocks(keys[order])
        self._lay_postings()

    @classmethod
    def build(
        cls,
        entries: Iterable[Entry],
        domain: Domain,
        evidence: Mapping[str, Sequence[Place]] | None = None,
    ) -> "Index":
        """An index of the served entries. `evidence` says where each entry (by id) was learnt; without it
        that is where the attempts that support it began.

        Raises `ValueError` for an id that occurs twice and for an entry of another domain.
        """
        served = [entry for entry in entries if entry.status in SERVED]
        if len({entry.entry_id for entry in served}) < len(served):
            raise ValueError("an entry id occurs twice")
        foreign = {entry.domain for entry in served} - {domain.name}
        if foreign:
            raise ValueError(f"entries of {sorted(foreign)} cannot be indexed with domain {domain.name!r}")
        return cls(
            served, domain, {each.entry_id: each.places for each in served} if evidence is None else evidence
        )

    def __len__(self) -> int:
        return len(self._entries)

    def rank(self, context: Context, k: int = CANDIDATES) -> list[Ranked]:
        """The `k` most relevant entries, most relevant first, ties by entry id; none of relevance 0."""
        place = located(context.place, self._domain)
        reading = self._conditions.read(state_of(context, place))
        blocks, about = self._candidates(context)
        first, last = self._first[blocks], self._last[blocks]
        # Within a block trust falls, so its first row has the most.
        bound = about * self._places.bound(first, last) * self._trust[first]
        rows = np.empty(0, dtype=np.int64)
        scores = np.empty(0, dtype=np.float64)
        waiting = np.flatnonzero(bound > 0.0) if k > 0 else np.empty(0, dtype=np.int64)
        size = FIRST_BLOCKS
        while len(waiting):
            wave, waiting = _highest(waiting, bound, size)
            members, owner = expand(first[wave], last[wave])
            found = about[wave][owner] * self._conditions.met(members, reading)
            found = found * self._places.nearness(members, place) * self._trust[members]
            rows = np.concatenate([rows, members[found > 0.0]])
            scores = np.concatenate([scores, found[found > 0.0]])
            best = np.lexsort((self._id_rank[rows], -scores))[:k]
            rows, scores = rows[best], scores[best]
            if len(rows) == k:
                # Equal bounds stay: the id may decide for them.
                waiting = waiting[bound[waiting] >= scores[-1]]
            size *= WAVE_GROWTH
        return [Ranked(self._entries[row], float(score)) for row, score in zip(rows, scores, strict=True)]

    def _key_of(self, entry: Entry) -> tuple[int, int, int]:
        kind, failure = kind_and_failure(entry.content)
        return (
            self._subjects.setdefault(subject_of(entry.content), len(self._subjects)),
            self._kinds.setdefault(kind, len(self._kinds)),
            self._failures.setdefault(failure, len(self._failures)),
        )

    def _lay_blocks(self, keys: Ints) -> None:
        """Cut the rows, whose keys these are, into blocks: half-open ranges, and the key that each shares."""
        rows = len(keys)
        starts = np.flatnonzero(np.r_[True, (keys[1:] != keys[:-1]).any(axis=1)]) if rows else keys[:, 0]
        lengths = np.diff(np.r_[starts, rows])
        pieces = -(-lengths // BLOCK_ROWS)
        number, owner = expand(np.zeros_like(pieces), pieces)
        self._first = starts[owner] + number * BLOCK_ROWS
        self._last = np.minimum(self._first + BLOCK_ROWS, (starts + lengths)[owner])
        self._subject, self._kind, self._failure = keys[self._first].T

    def _lay_postings(self) -> None:
        """Thing -> subjects about it, subject -> its run of blocks, failure type -> its blocks."""
        about: dict[str, list[tuple[int, float]]] = {}
        for subject, code in self._subjects.items():
            for thing, likeness in (*((other, INDIRECT) for other in subject.others), (subject.target, 1.0)):
                if thing is not None:
                    about.setdefault(thing, []).append((code, likeness))
        self._about = {
            thing: (np.array([code for code, _ in found]), np.array([likeness for _, likeness in found]))
            for thing, found in about.items()
        }
        self._blocks_of_subject = np.searchsorted(self._subject, np.arange(len(self._subjects) + 1))
        by_failure = np.argsort(self._failure, kind="stable")
        cuts = np.searchsorted(self._failure[by_failure], np.arange(len(self._failures) + 1))
        self._blocks_of_failure = [
            by_failure[cuts[code] : cuts[code + 1]] for code in range(len(self._failures))
        ]

    def _candidates(self, context: Context) -> tuple[Ints, Floats]:
        """The blocks that are about anything in the context, and `about` of each."""
        to_target = self._kin(context.target)
        if context.target is not None or context.kind is not None:
            unbound = self._subjects.get(Subject(None, ()))
            if unbound is not None:
                to_target[unbound] = 1.0 if context.target is None else ANY_TARGET
        to_goal = self._kin(self._goal_of(context))
        recent = self._recent(context.failures)
        likeness = np.full(len(self._kinds), 1.0 if context.kind is None else OTHER_KIND)
        for kind in (None, context.kind):
            if kind in self._kinds:
                likeness[self._kinds[kind]] = 1.0
        near = (to_target > 0.0) | (to_goal > 0.0)
        subjects = np.flatnonzero(near)
        blocks, _ = expand(self._blocks_of_subject[subjects], self._blocks_of_subject[subjects + 1])
        failed = [self._blocks_of_failure[code] for code in np.flatnonzero(recent)]
        others = np.concatenate([*failed, np.empty(0, dtype=np.int64)])
        blocks = np.concatenate([blocks, others[~near[self._subject[others]]]])
        subject = self._subject[blocks]
        at_hand = SUBGOAL * to_target[subject] + FAILURE * recent[self._failure[blocks]]
        return blocks, likeness[self._kind[blocks]] * at_hand + GOAL * to_goal[subject]

    def _kin(self, goal: str | None) -> Floats:
        """Per subject: kinship of `goal` with the nearest of the things that the subject is about."""
        kin = np.zeros(len(self._subjects))
        if goal is not None:
            if goal not in self._kin_of:
                self._kin_of[goal] = self._akin(goal)
            codes, nearness = self._kin_of[goal]
            kin[codes] = nearness
        return kin

    def _akin(self, goal: str) -> tuple[Ints, Floats]:
        """The subjects that are akin to `goal`, and how near each is."""
        steps = [
            (*self._about[thing], near)
            for thing, near in self._kinship.nearness(goal).items()
            if thing in self._about
        ]
        if not steps:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float64)
        kin = np.zeros(len(self._subjects))
        values = np.concatenate([likeness * near for _, likeness, near in steps])
        np.maximum.at(kin, np.concatenate([codes for codes, _, _ in steps]), values)
        codes = np.flatnonzero(kin)
        return codes, kin[codes]

    def _goal_of(self, context: Context) -> str | None:
        if context.goal_target is not None or not context.goal:
            return context.goal_target
        verb, _, phrase = context.goal.strip().partition(" ")
        kind = self._domain.kind_of(verb, phrase)
        reading = self._domain.read_target(phrase, kind) if kind is not None else None
        return reading.target if reading is not None else None

    def _recent(self, failures: Sequence[str]) -> Floats:
        """Per failure type of the store: 1 for the last failure, `RECENCY` for the one before that, ..."""
        recent = np.zeros(len(self._failures))
        distinct = dict.fromkeys(failure for failure in reversed(failures) if failure != NO_FAILURE)
        for age, failure in enumerate(distinct):
            if failure in self._failures:
                recent[self._failures[failure]] = RECENCY**age
        return recent


def _trust(entry: Entry) -> float:
    trust = (1.0 - TRUST) + TRUST * entry.confidence
    return trust * DEMOTED if entry.status == "demoted" else trust


def _highest(among: Ints, bound: Floats, size: int) -> tuple[Ints, Ints]:
    """The `size` members of the highest bound, and the rest."""
    if len(among) <= size:
        return among, among[:0]
    split = np.argpartition(-bound[among], size - 1)
    return among[split[:size]], among[split[size:]]


@dataclass(frozen=True)
class Retrieved:
    """What a prompt gets: entries most relevant first (the order they are rendered in), their relevance, the
    tokens that they take, and those that the knapsack chose and the count of the final text dropped again.
    """

    entries: tuple[Entry, ...]
    relevance: tuple[float, ...]
    tokens: int
    dropped: tuple[Entry, ...] = ()


def retrieve(
    index: Index,
    context: Context,
    budget: int,
    cost: Callable[[Entry], int],
    measure: Callable[[Sequence[Entry]], int] | None = None,
) -> Retrieved:
    """The best set within `budget` tokens, eq. 7.

    `cost` is the tokens of one rendered entry, separator included; `measure` those of the final text of
    several. A joined text can take more than the sum of its parts; while it exceeds the budget, the entry of
    the lowest relevance per token is dropped. Without `measure` the sum stands. Raises `ValueError` for a
    cost below 0.
    """
    ranked = index.rank(context, CANDIDATES)
    costs = [cost(each.entry) for each in ranked]
    chosen = knapsack([each.relevance for each in ranked], costs, budget)

    def tokens_of(numbers: Sequence[int]) -> int:
        if not numbers or measure is None:
            return sum(costs[number] for number in numbers)
        return measure([ranked[number].entry for number in numbers])

    dropped: list[int] = []
    tokens = tokens_of(chosen)
    while chosen and tokens > budget:
        # On a tie the later in the ranking goes.
        worst = min(chosen, key=lambda at: (ranked[at].relevance / max(costs[at], 1), -at))
        chosen.remove(worst)
        dropped.append(worst)
        tokens = tokens_of(chosen)
    return Retrieved(
        entries=tuple(ranked[number].entry for number in chosen),
        relevance=tuple(ranked[number].relevance for number in chosen),
        tokens=tokens,
        dropped=tuple(ranked[number].entry for number in dropped),
    )


def knapsack(values: Sequence[float], costs: Sequence[int], budget: int) -> list[int]:
    """The numbers, ascending, of the items whose values add up to the most at a total cost within `budget`.

    Exact: dynamic programming over the integer cost, on values in units of 1e-9. Of equally good sets the one
    that holds the earlier item is taken. Raises `ValueError` for a cost or a value below 0.
    """
    if any(cost < 0 for cost in costs) or any(value < 0 for value in values):
        raise ValueError("costs and values must not be negative")
    worth = [round(value * _EXACT) for value in values]
    room = min(budget, sum(costs))
    if room < 0:
        return []
    # best[i][t]: the most that items i, i + 1, ... are worth within t tokens.
    best = np.zeros((len(worth) + 1, room + 1), dtype=np.int64)
    for item in range(len(worth) - 1, -1, -1):
        best[item] = best[item + 1]
        if costs[item] <= room:
            with_it = worth[item] + best[item + 1, : room + 1 - costs[item]]
            np.maximum(best[item, costs[item] :], with_it, out=best[item, costs[item] :])
    chosen: list[int] = []
    left = room
    for item, (value, cost) in enumerate(zip(worth, costs, strict=True)):
        if value > 0 and cost <= left and value + best[item + 1, left - cost] == best[item, left]:
            chosen.append(item)
            left -= cost
    return chosen
