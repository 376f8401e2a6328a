"""What relevance is made of: a situation, the features of an entry, their weights, and the columns in which
an index keeps them. The formula that joins them is `warehouse.retrieval`'s.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warehouse.domains.model import Domain
from warehouse.entries import Entry
from warehouse.knowledge import Predicate, RemedyContent, Scalar, SkillContent
from warehouse.places import NOWHERE, Place
from warehouse.state import MISSING, State, Value, holds
from warehouse.vocabulary import NO_FAILURE

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# The three parts of `about` add up to 1. What is being done now outranks what it is done for, and both
# outrank what went wrong elsewhere: a remedy for the same failure of an unrelated action is a last resort.
SUBGOAL: Final = 0.45
GOAL: Final = 0.30
FAILURE: Final = 0.25

OTHER_KIND: Final = 0.6
"""A remedy for mining an ore still says something to who smelts it, but less than one for smelting it."""
ANY_TARGET: Final = 0.3
"""What is said of no target in particular, about a subgoal that has one."""
INDIRECT: Final = 0.8
"""Things an entry yields, or names as missing, against the thing it is about."""
RECENCY: Final = 0.8
"""Each older distinct failure counts this much of the next: the last one is what has to be repaired."""

UNKNOWN_TRIGGER: Final = 0.5
"""A trigger of which nothing is known is worth half of one that holds."""
UNMET: Final = 0.4
"""A trigger is a conjunction, so one violated predicate leaves at most this. It does not disqualify: a plan
is made before its later steps' preconditions hold, and their knowledge is wanted already."""
UNMET_SHARE: Final = 0.4
"""Taken off in proportion to the violated share: nothing met and all violated leaves .04."""
TRIGGER_WEIGHT: Final = 2
CONDITION_WEIGHT: Final = 1
"""Preconditions and applicability say when the content works, the trigger when to think of it."""
INVENTORY_WEIGHT: Final = 2
"""What is held is known exactly in every source and decides whether steps can be carried out; positions and
vital signs change on the way."""

PLACE: Final = 0.2
"""How much of the relevance hangs on place: worlds differ, so it orders entries that are otherwise alike."""
DEPTH_BAND: Final = 0.4
BIOME: Final = 0.3
NEARBY: Final = 0.3
"""Parts of PLACE, 1 together. The band of depth decides what is found there in every world; a biome decides
less, and few sources tell it; distance says most, but only within one world."""
NEARBY_BLOCKS: Final = 32.0
"""Distance in blocks at which nearness to the evidence has fallen to a half: in sight, a short walk away."""
TRUST: Final = 0.5
"""How much of the relevance hangs on confidence: a doubtful entry about this beats a sure one about that."""

OF_ATTEMPT: Final = frozenset({"kind", "target", "failure_type", "missing", "progress", "stagnant"})
"""Fields that tell of an attempt, not of the world. `about` weighs the attempt at hand against the one that
an entry tells of; a difference there must not count again as a violated trigger."""


@dataclass(frozen=True)
class Context:
    """The situation c that knowledge is wanted for. Whatever is None or empty is unknown.

    `goal_target` is the goal's item; without it the goal's text is read with the domain. `kind` and `target`
    are the subgoal at hand, none when a whole plan is wanted. `state` is flat (`warehouse.state`). `failures`
    are the recent failure types, oldest first.
    """

    goal: str = ""
    goal_target: str | None = None
    kind: str | None = None
    target: str | None = None
    state: State = field(default_factory=dict)
    failures: tuple[str, ...] = ()
    place: Place = NOWHERE


def located(place: Place, domain: Domain) -> Place:
    """`place` with the depth band that its height lies in, unless it names one."""
    if place.position is None or place.depth_band is not None:
        return place
    return replace(place, depth_band=domain.depth_band(place.position[1]))


def state_of(context: Context, place: Place) -> dict[str, Value]:
    """The context's flat state; what it lacks of attempt and place is taken from the rest of the context."""
    last = next((failure for failure in reversed(context.failures) if failure != NO_FAILURE), None)
    rest: dict[str, Value] = {
        "kind": context.kind,
        "target": context.target,
        "failure_type": last,
        "depth": place.depth_band,
        "biome": place.biome,
    }
    state = dict(context.state)
    return state | {name: value for name, value in rest.items() if state.get(name) is None}


class Ranked(NamedTuple):
    """An entry and its relevance in (0, 1]."""

    entry: Entry
    relevance: float


class Subject(NamedTuple):
    """What an entry is about: its target, and the things that it yields or that it says are missing."""

    target: str | None
    others: tuple[str, ...]


def subject_of(content: SkillContent | RemedyContent) -> Subject:
    """What knowledge of this content is about."""
    if isinstance(content, SkillContent):
        target, others = content.target, [amount.name for amount in content.effects if amount.count > 0]
    else:
        target, others = content.risk.target, list(content.risk.missing)
    return Subject(target, tuple(sorted({name for name in others if name != target})))


def kind_and_failure(content: SkillContent | RemedyContent) -> tuple[str | None, str | None]:
    """The action kind (None: any) and, of a remedy, the failure type that such knowledge is for."""
    if isinstance(content, SkillContent):
        return content.kind, None
    return content.risk.kind, content.risk.failure_type


def conditions_of(entry: Entry) -> dict[Predicate, int]:
    """The predicates of an entry and what each weighs in `trigger`, the heavier role where it has two."""
    content = entry.content
    weights = dict.fromkeys(content.applicability, CONDITION_WEIGHT)
    if isinstance(content, SkillContent):
        weights |= dict.fromkeys(content.preconditions, CONDITION_WEIGHT)
    weights |= dict.fromkeys(entry.trigger, TRIGGER_WEIGHT)
    return {
        predicate: weight * (INVENTORY_WEIGHT if predicate.field.startswith("inventory.") else 1)
        for predicate, weight in weights.items()
    }


def expand(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """The members of half-open ranges, and for each the number of the range that it is from."""
    lengths = last - first
    owner = np.repeat(np.arange(len(first)), lengths)
    offset = np.repeat(first - (np.cumsum(lengths) - lengths), lengths)
    return offset + np.arange(len(owner)), owner


def _starts(lengths: Sequence[int]) -> Ints:
    """Where each run begins in the runs laid end to end, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(np.array(lengths, dtype=np.int64))]).astype(np.int64)


class Reading(NamedTuple):
    """A state as the columns see it: a number per field of the store, NaN where it is unknown."""

    values: Floats
    state: State
    odd: NDArray[np.bool_]
    """predicates that are no plain comparison in this state, and are left to `warehouse.state.holds`"""


# Truth by operator and by the sign of value - bound: below, equal, above.
_OPS: Final = ("eq", "ne", "lt", "le", "gt", "ge")
_TRUTH: Final = np.array(
    [[-1, 1, -1], [1, -1, 1], [1, -1, -1], [1, 1, -1], [-1, -1, 1], [-1, 1, 1]], dtype=np.int8
)
_FIRST_ORDER: Final = _OPS.index("lt")
# Text and flags are compared by code. Codes lie below every number a state can hold, so that no number equals
# one; a code that the store does not know lies below them all.
_CODES: Final = -float(1 << 52)
_FOREIGN: Final = -np.inf


class Conditions:
    """The predicates of all rows, each distinct one held once, and how a state meets those of a row."""

    def __init__(self, entries: Sequence[Entry], domain: Domain) -> None:
        self._domain = domain
        known: dict[tuple[str, str, str], int] = {}
        self._distinct: list[Predicate] = []
        of_row: list[int] = []
        weights: list[int] = []
        lengths: list[int] = []
        for entry in entries:
            conditions = conditions_of(entry)
            lengths.append(len(conditions))
            weights += conditions.values()
            for predicate in conditions:
                # repr tells True, 1 and 1.0 apart, which as dictionary keys are one.
                number = known.setdefault(
                    (predicate.field, predicate.op, repr(predicate.value)), len(self._distinct)
                )
                if number == len(self._distinct):
                    self._distinct.append(predicate)
                of_row.append(number)
        self._starts = _starts(lengths)
        self._of_row = np.array(of_row, dtype=np.int64)
        self._weights = np.array(weights, dtype=np.float64)
        owner = np.repeat(np.arange(len(lengths)), lengths)
        self._totals = np.bincount(owner, self._weights, minlength=len(lengths))
        self._compile()

    def _compile(self) -> None:
        self._fields: dict[str, int] = {}
        self._codes: dict[tuple[bool, str], float] = {}
        for each in self._distinct:
            self._fields.setdefault(each.field, len(self._fields))
        families: dict[str, list[int]] = {}
        for name, number in self._fields.items():
            family, dot, _ = name.partition(".")
            if dot:
                families.setdefault(f"{family}.*", []).append(number)
        self._families = {name: np.array(members, dtype=np.int64) for name, members in families.items()}
        plain = [_is_plain(each) for each in self._distinct]
        self._odd = ~np.array(plain, dtype=np.bool_)
        self._field = np.array([self._fields[each.field] for each in self._distinct], dtype=np.int64)
        self._op = np.array(
            [
                _OPS.index(each.op) if is_plain else 0
                for each, is_plain in zip(self._distinct, plain, strict=True)
            ],
            dtype=np.int64,
        )
        self._bound = np.array(
            [
                self._encode(each.value) if is_plain else 0.0
                for each, is_plain in zip(self._distinct, plain, strict=True)
            ],
            dtype=np.float64,
        )
        self._of_attempt = np.array([each.field in OF_ATTEMPT for each in self._distinct], dtype=np.bool_)

    def _encode(self, value: Scalar | tuple[Scalar, ...]) -> float:
        if isinstance(value, bool | str):
            key = (isinstance(value, bool), str(value))
            return self._codes.setdefault(key, _CODES - len(self._codes))
        assert isinstance(value, int | float)
        return float(value)

    def read(self, state: State) -> Reading:
        """The values of the store's fields in a flat state."""
        values = np.full(len(self._fields), np.nan)
        odd = self._odd
        # Families first: what holds for all other members gives way to what is said of one.
        for name in self._families.keys() & state.keys():
            values[self._families[name]] = self._lookup(state[name])
        for name, value in state.items():
            at = self._fields.get(name)
            if at is None:
                continue
            if isinstance(value, tuple):
                odd = odd | (self._field == at)
            else:
                values[at] = self._lookup(value)
        return Reading(values, state, odd)

    def _lookup(self, value: Value) -> float:
        if value is None:
            return float(np.nan)
        if isinstance(value, bool | str):
            return self._codes.get((isinstance(value, bool), str(value)), _FOREIGN)
        assert not isinstance(value, tuple)
        return float(value)

    def met(self, rows: Ints, reading: Reading) -> Floats:
        """The factor `trigger` of each row, in (0, 1]."""
        pairs, owner = expand(self._starts[rows], self._starts[rows + 1])
        truth = self._truth(self._of_row[pairs], reading)
        weights = self._weights[pairs]
        total = self._totals[rows]
        met = np.bincount(owner, weights * (truth > 0), minlength=len(rows)) / total
        unmet = np.bincount(owner, weights * (truth < 0), minlength=len(rows)) / total
        factor = UNKNOWN_TRIGGER + (1.0 - UNKNOWN_TRIGGER) * met - UNMET_SHARE * unmet
        return np.where(unmet > 0.0, factor * UNMET, factor)

    def _truth(self, predicates: Ints, reading: Reading) -> NDArray[np.int8]:
        """1 where a predicate holds, -1 where it is violated, 0 where that is unknown or says nothing."""
        value = reading.values[self._field[predicates]]
        op = self._op[predicates]
        known = ~np.isnan(value)
        sign = np.where(known, np.sign(value - self._bound[predicates]), 0.0).astype(np.int64)
        truth = np.where(known, _TRUTH[op, sign + 1], np.int8(0))
        # What has no order is neither above nor below.
        truth[(value <= _CODES) & (op >= _FIRST_ORDER)] = -1
        odd = reading.odd[predicates]
        if odd.any():
            numbers, back = np.unique(predicates[odd], return_inverse=True)
            answers = [holds(self._distinct[number], reading.state, self._domain) for number in numbers]
            signs = [0 if answer is None else 1 if answer else -1 for answer in answers]
            truth[odd] = np.array(signs, dtype=np.int8)[back]
        truth[(truth < 0) & self._of_attempt[predicates]] = 0
        return truth


def _is_plain(predicate: Predicate) -> bool:
    if isinstance(predicate.value, tuple) or predicate.field == MISSING or ".#" in predicate.field:
        return False
    return predicate.op in ("eq", "ne") or (
        predicate.op != "in" and not isinstance(predicate.value, bool | str)
    )


class EvidencePlaces:
    """Where the entry of each row was learnt, and how near that is to a place."""

    def __init__(self, of_rows: Sequence[Sequence[Place]]) -> None:
        places = [place for row in of_rows for place in row]
        self._starts = _starts([len(row) for row in of_rows])
        self._codes: dict[tuple[str, str | None], int] = {}
        self._band = self._column(("band", each.depth_band) for each in places)
        self._biome = self._column(("biome", each.biome) for each in places)
        self._world = self._column(("world", each.world) for each in places)
        unknown = (np.nan, np.nan, np.nan)
        self._position = np.array([each.position or unknown for each in places], dtype=np.float64).reshape(
            -1, 3
        )

    def _column(self, names: Iterable[tuple[str, str | None]]) -> Ints:
        """Codes of the names, -1 where unknown; a name looked up in vain is -2: unknown equals nothing."""
        codes = [-1 if key[1] is None else self._codes.setdefault(key, len(self._codes)) for key in names]
        return np.array(codes, dtype=np.int64)

    def nearness(self, rows: Ints, place: Place) -> Floats:
        """The factor `place` of each row, by the nearest piece of its evidence; `1 - PLACE` without any."""
        pairs, owner = expand(self._starts[rows], self._starts[rows + 1])
        near = np.zeros(len(rows))
        if len(pairs):
            np.maximum.at(near, owner, self._likeness(pairs, place))
        return (1.0 - PLACE) + PLACE * near

    def _likeness(self, pairs: Ints, place: Place) -> Floats:
        likeness: Floats = DEPTH_BAND * (self._band[pairs] == self._codes.get(("band", place.depth_band), -2))
        likeness += BIOME * (self._biome[pairs] == self._codes.get(("biome", place.biome), -2))
        if place.position is not None and place.world is not None:
            apart = self._position[pairs] - np.array(place.position)
            square = apart[:, 0] * apart[:, 0] + apart[:, 1] * apart[:, 1] + apart[:, 2] * apart[:, 2]
            nearby = NEARBY / (1.0 + np.sqrt(square) / NEARBY_BLOCKS)
            same = self._world[pairs] == self._codes.get(("world", place.world), -2)
            likeness += np.where(same & ~np.isnan(nearby), nearby, 0.0)
        return likeness

    def bound(self, first: Ints, last: Ints) -> Floats:
        """The most that `nearness` can be in ranges of rows: `1 - PLACE` where nothing has evidence."""
        some = self._starts[last] > self._starts[first]
        most = (DEPTH_BAND + BIOME) + NEARBY
        return (1.0 - PLACE) + PLACE * np.where(some, most, 0.0)
