"""What one piece of feedback says, as Curator and Inducer read it: the attempt, its outcome, what was
missing, the states around it and the steps that were seen to be done; and the segments of successes that a
skill is drawn from.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import polars as pl

from warehouse.places import Place, world_of
from warehouse.state import State, flatten_state
from warehouse.vocabulary import NO_FAILURE

INFRASTRUCTURE: Final = "INFRASTRUCTURE"
_ATTEMPT: Final = ("episode_id", "attempt")
# What a shortage's signal says it is short of: the thing itself, or a list of things with amounts.
_NAMED_SHORTAGES: Final = ("missing_station", "missing_tool", "missing_fuel")
_LISTED_SHORTAGES: Final = ("missing_item", "missing_requirement")
_SHORTAGE_CAUSES: Final = ("MISSING_STATION", "MISSING_TOOL", "NO_FUEL", "MISSING_INGREDIENT")


@dataclass(frozen=True)
class ObservedStep:
    """Something that was seen to be done: its kind in the recording's verb, the object, how often or many."""

    kind: str
    name: str | None
    count: int


class Evidence(NamedTuple):
    """Where in the recording something was decided: a tick, the event there if it was one, and its words."""

    tick: int | None
    seq: int | None
    text: str | None


NO_EVIDENCE: Final = Evidence(None, None, None)


@dataclass(frozen=True)
class Cause:
    """One failure type that the evidence supports; `items` are what was short, by name."""

    type: str
    name: str | None
    count: int | None
    items: Mapping[str, int]
    evidence: Evidence


@dataclass(frozen=True)
class FeedbackFact:
    """One feedback row with what its attempt shows.

    `y` is null when undecided. `failure_type` is "NONE" for a success. `missing` are the things that the
    evidence says were missing, sorted; empty for a success, whatever was short on the way to it.
    `state_before` is flat and knows what is known before the attempt, its kind and target included;
    `delta_inventory` and `needed` are null when unknown. `place` is where the attempt began, null when
    unknown. `build` and the place's world are null unless the episodes were given.
    """

    feedback_id: str
    episode_id: str
    attempt: int
    build: str | None = None
    kind: str | None = None
    target: str | None = None
    needed: int | None = None
    y: bool | None = None
    failure_type: str | None = None
    missing: tuple[str, ...] = ()
    causes: tuple[Cause, ...] = ()
    progress: float | None = None
    stagnant: bool | None = None
    remedy_due: bool = False
    skill_due: bool = False
    state_before: State = field(default_factory=dict)
    state_after: State = field(default_factory=dict)
    delta_inventory: Mapping[str, int] | None = None
    steps: tuple[ObservedStep, ...] = ()
    evidence: Evidence = NO_EVIDENCE
    place: Place | None = None

    @property
    def situation(self) -> State:
        """`state_before` with what the attempt itself showed: what a trigger is evaluated on."""
        shown = flatten_state(
            None,
            failure_type=self.failure_type,
            missing=self.missing,
            progress=self.progress,
            stagnant=self.stagnant,
        )
        return {**self.state_before, **shown}


@dataclass(frozen=True)
class Segment:
    """Consecutive successes of one episode, in order and at least one, each at another subgoal than the next.

    An attempt at the subgoal of the one before it begins a segment of its own: four successes at one thing
    are four ways to get it and not one way with four parts.
    """

    members: tuple[FeedbackFact, ...]

    @property
    def end(self) -> FeedbackFact:
        """The last attempt, which says what the segment reached."""
        return self.members[-1]

    @property
    def feedback_ids(self) -> tuple[str, ...]:
        """Of all members, in order."""
        return tuple(member.feedback_id for member in self.members)

    @property
    def subgoals(self) -> tuple[tuple[str | None, str | None], ...]:
        """(kind, target) of all members, in order."""
        return tuple((member.kind, member.target) for member in self.members)

    @cached_property
    def joined(self) -> FeedbackFact:
        """The segment as if it were one attempt at its end's subgoal; of one member, that member.

        It starts in the state before the first member and ends in the one after the last; its change of the
        inventory is Δv = Σ Δv_i, null as soon as one Δv_i is unknown; an item whose changes cancel stays, as
        0. Its steps are the members' in order, the subgoal itself where nothing was seen of how it was done.
        Everything else is the end's, its id too.
        """
        if len(self.members) == 1:
            return self.end
        subgoal = {"kind": self.end.kind, "target": self.end.target}
        return replace(
            self.end,
            causes=tuple(cause for member in self.members for cause in member.causes),
            state_before=MappingProxyType({**self.members[0].state_before, **subgoal}),
            delta_inventory=self._change(),
            steps=tuple(step for member in self.members for step in _steps_or_subgoal(member)),
        )

    @cached_property
    def drawn(self) -> Mapping[str, int] | None:
        """Item -> how many of those held before the segment it uses up, at least 1; null where a change is
        unknown.

        That is max over k of -(Δv_1 + … + Δv_k): what an earlier member made is no draw on what was held,
        and what a later one makes comes too late to spare it.
        """
        so_far: dict[str, int] = {}
        lowest: dict[str, int] = {}
        for member in self.members:
            if member.delta_inventory is None:
                return None
            for item, change in member.delta_inventory.items():
                so_far[item] = so_far.get(item, 0) + change
                lowest[item] = min(lowest.get(item, 0), so_far[item])
        return MappingProxyType({item: -lowest[item] for item in sorted(lowest) if lowest[item] < 0})

    def _change(self) -> Mapping[str, int] | None:
        total: dict[str, int] = {}
        for member in self.members:
            if member.delta_inventory is None:
                return None
            for item, change in member.delta_inventory.items():
                total[item] = total.get(item, 0) + change
        return MappingProxyType({item: total[item] for item in sorted(total)})


def segments(facts: Iterable[FeedbackFact]) -> tuple[Segment, ...]:
    """Every success among `facts` in exactly one segment, ordered by (episode, attempt).

    A segment is as long as it can be: it breaks at a failure, at an undecided attempt, at one that is not
    among `facts`, and between two attempts whose subgoals are the same or not known to differ.
    """
    runs: list[list[FeedbackFact]] = []
    for fact in sorted(facts, key=lambda fact: (fact.episode_id, fact.attempt)):
        if fact.y is not True:
            continue
        if runs and _goes_on(runs[-1][-1], fact):
            runs[-1].append(fact)
        else:
            runs.append([fact])
    return tuple(Segment(tuple(run)) for run in runs)


def _goes_on(one: FeedbackFact, other: FeedbackFact) -> bool:
    known = one.kind is not None and other.kind is not None
    following = one.episode_id == other.episode_id and one.attempt + 1 == other.attempt
    return following and known and (one.kind, one.target) != (other.kind, other.target)


def _steps_or_subgoal(fact: FeedbackFact) -> tuple[ObservedStep, ...]:
    return fact.steps or (ObservedStep(fact.kind or "", fact.target, fact.needed or 1),)


def facts_from(
    feedback: pl.DataFrame,
    attempts: pl.DataFrame,
    events: pl.DataFrame,
    episodes: pl.DataFrame | None = None,
) -> dict[str, FeedbackFact]:
    """Feedback id -> fact, sorted by id, from frames of the contract (warehouse/records.py).

    A feedback row without its attempt keeps what the feedback says. `episodes` adds builds and worlds.
    """
    rows = (
        feedback.lazy()
        .join(
            attempts.lazy().select(*_ATTEMPT, "kind", "target", "needed", "state_before", "state_after"),
            on=_ATTEMPT,
            how="left",
        )
        .join(_signalled(events, ("done",), "done"), on=_ATTEMPT, how="left")
        .join(
            _signalled(events, (*_NAMED_SHORTAGES, *_LISTED_SHORTAGES), "shortages"), on=_ATTEMPT, how="left"
        )
    )
    if episodes is None:
        unknown = pl.lit(None, dtype=pl.String)
        rows = rows.with_columns(build=unknown, world=unknown, world_seed=unknown)
    else:
        told = episodes.lazy().select("episode_id", "build", "world", "world_seed")
        rows = rows.join(told, on="episode_id", how="left")
    table = rows.sort("feedback_id").collect()
    return {row["feedback_id"]: _fact(row) for row in table.iter_rows(named=True)}


def _signalled(events: pl.DataFrame, signals: tuple[str, ...], column: str) -> pl.LazyFrame:
    """The events with one of these signals as one list per attempt, in the order of the recording."""
    return (
        events.lazy()
        .filter(pl.col("signal").cast(pl.String).is_in(signals))
        .sort(*_ATTEMPT, "tick", "seq")
        .group_by(_ATTEMPT, maintain_order=True)
        .agg(pl.struct("signal", "name", "count", "items").alias(column))
    )


def _fact(row: Mapping[str, Any]) -> FeedbackFact:
    causes = tuple(_cause(cause) for cause in row["failure_causes"] or ())
    delta = row["delta_inventory"]
    return FeedbackFact(
        feedback_id=row["feedback_id"],
        episode_id=row["episode_id"],
        attempt=row["attempt"],
        build=row["build"],
        kind=row["kind"],
        target=row["target"],
        needed=row["needed"],
        y=row["y"],
        failure_type=NO_FAILURE if row["y"] and row["failure_type"] is None else row["failure_type"],
        missing=() if row["y"] else _missing(causes, row["shortages"] or ()),
        causes=causes,
        progress=row["progress"],
        stagnant=row["stagnant"],
        remedy_due=row["remedy_due"],
        skill_due=row["skill_due"],
        state_before=MappingProxyType(
            flatten_state(row["state_before"], kind=row["kind"], target=row["target"])
        ),
        state_after=MappingProxyType(
            flatten_state(row["state_after"], kind=row["kind"], target=row["target"])
        ),
        delta_inventory=None if delta is None else _amounts(delta),
        steps=tuple(_step(event) for event in row["done"] or ()),
        evidence=_evidence(row["failure_evidence"] or {}),
        place=_place(row),
    )


def _place(row: Mapping[str, Any]) -> Place | None:
    before = row["state_before"] or {}
    x, y, z = (before.get(axis) for axis in ("x", "y", "z"))
    if x is None or y is None or z is None:
        return None
    return Place((float(x), float(y), float(z)), world=world_of(row["world"], row["world_seed"]))


def _cause(cause: Mapping[str, Any]) -> Cause:
    return Cause(
        cause["type"], cause["name"], cause["count"], _amounts(cause["items"] or ()), _evidence(cause)
    )


def _evidence(row: Mapping[str, Any]) -> Evidence:
    return Evidence(row.get("tick"), row.get("seq"), row.get("text"))


def _amounts(amounts: Iterable[Mapping[str, Any]]) -> Mapping[str, int]:
    totals: dict[str, int] = {}
    for amount in sorted(amounts, key=lambda each: (each["name"], each["count"])):
        totals[amount["name"]] = totals.get(amount["name"], 0) + amount["count"]
    return MappingProxyType(totals)


def _missing(causes: Iterable[Cause], shortages: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    names: set[str | None] = set()
    for cause in causes:
        if cause.type in _SHORTAGE_CAUSES:
            names |= set(cause.items) or {cause.name}
    for event in shortages:
        if event["signal"] in _NAMED_SHORTAGES:
            names.add(event["name"])
        names |= {item["name"] for item in event["items"] or ()}
    return tuple(sorted(name for name in names if name))


def _step(event: Mapping[str, Any]) -> ObservedStep:
    kind, colon, name = (event["name"] or "").partition(":")
    count = 1 if event["count"] is None else event["count"]
    return ObservedStep(kind, name, count) if colon else ObservedStep("", kind or None, count)
