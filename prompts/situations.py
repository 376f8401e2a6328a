"""What the Inducer shows a model: all that is known of one situation, as closed records.

A situation is drawn from feedback alone. The domain serves to read names (is this a declared field, which
verb is which kind) and never to fill in what a recording does not show: that a recipe needs a station reaches
a situation only through a failure for want of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from warehouse.domains import Domain
from warehouse.facts import FeedbackFact
from warehouse.knowledge import Predicate, Record, Scalar, Step
from warehouse.state import holds, value_of

StateValue = Scalar | tuple[str, ...] | None
TEXT_KEPT: Final = 400
"""characters of a recorded text that a situation keeps"""
_FAMILIES: Final = ("inventory", "near", "seen")
_SHOWN_PER_FAMILY: Final = 24
_SHORTAGES: Final = ("MISSING_STATION", "MISSING_TOOL", "NO_FUEL", "MISSING_INGREDIENT")
_SUBGOAL_FIELDS: Final = ("kind", "target")


class CauseSeen(Record):
    """A failure type that the evidence of one row supports; `items` is what was short, and by how much."""

    type: str
    name: str | None
    items: dict[str, int]
    text: str | None


class Cited(Record):
    """One feedback row of a situation, under the label by which an answer cites it."""

    label: str
    feedback_id: str
    episode_id: str
    attempt: int
    stagnant: bool
    state: dict[str, StateValue]
    """before the attempt, flat (warehouse/state.py)"""
    change: dict[str, int] | None
    """of the inventory, net; null where it is unknown"""
    steps: tuple[Step, ...]
    """what was seen to be done, consecutive repeats added up"""
    causes: tuple[CauseSeen, ...]
    evidence: str | None

    @property
    def done(self) -> list[str]:
        """The steps in few words."""
        return [f"{step.kind} {step.target or ''} x{step.count}" for step in self.steps]

    @property
    def feedback_ids(self) -> tuple[str, ...]:
        """Everything that an answer cites with this label."""
        return (self.feedback_id,)

    @property
    def used(self) -> dict[str, int] | None:
        """Item -> how many of those held before it were used up; null where it is unknown."""
        return None if self.change is None else {name: -count for name, count in self.change.items()}


class Holding(Record):
    """A predicate that was measured to hold before every cited attempt in which its field is known."""

    predicate: Predicate
    known: int
    """cited rows in which the field is known, at least 1"""


class RemedySituation(Record):
    """One way of failing at one thing."""

    domain: str
    kind: str
    target: str | None
    failure_type: str
    missing: tuple[str, ...]
    short: dict[str, int]
    """what was missing -> the largest amount short in a cited row, where rows say how much"""
    needed: int
    """the smallest number that was asked for"""
    rows: int
    episodes: int
    holding: tuple[Holding, ...]
    cited: tuple[Cited, ...]


class SkillSituation(Record):
    """One way of reaching one thing: the same target by the same order of kinds of action."""

    domain: str
    kind: str
    target: str | None
    order: tuple[str, ...]
    needed: int
    gains: dict[str, int]
    """item (or the target's `#tag`) -> the smallest gain, where every cited row gained some"""
    rows: int
    episodes: int
    holding: tuple[Holding, ...]
    cited: tuple[Cited, ...]


def observed_steps(fact: FeedbackFact, domain: Domain) -> tuple[Step, ...] | None:
    """What was seen to be done, in the executor's grammar, consecutive repeats added up.

    None when one of the recorded steps cannot be read: a sequence with a hole in it is not the sequence.
    """
    steps: list[Step] = []
    for seen in fact.steps:
        name = _known_name(seen.name, domain)
        kind = domain.kind_of(seen.kind, seen.name or "") if seen.kind else None
        if kind is None and name is not None and not seen.kind:
            kind = domain.kind_of_obtain(name)
        if kind is None or (name is None and domain.kinds[kind] != "none"):
            return None
        last = steps[-1] if steps else None
        if last is not None and (last.kind, last.target) == (kind, name):
            steps[-1] = Step(kind=kind, target=name, count=last.count + max(1, seen.count))
        else:
            steps.append(Step(kind=kind, target=name, count=max(1, seen.count)))
    return tuple(steps)


def decisive_missing(fact: FeedbackFact) -> tuple[str, ...]:
    """What was missing for the failure type itself, sorted; an attempt can lack other things beside it."""
    names: set[str] = set()
    for cause in fact.causes:
        if cause.type == fact.failure_type:
            names |= set(cause.items) or ({cause.name} if cause.name else set())
    named = tuple(sorted(names & set(fact.missing)))
    return named or (fact.missing if fact.failure_type in _SHORTAGES else ())


def cite(facts: Sequence[FeedbackFact], domain: Domain) -> tuple[Cited, ...]:
    """The rows under labels f1, f2, … in the order given."""
    return tuple(_cited(f"f{position}", fact, domain) for position, fact in enumerate(facts, start=1))


def remedy_situation(
    facts: Sequence[FeedbackFact], cited: tuple[Cited, ...], domain: Domain
) -> RemedySituation:
    """The situation that all of `facts` share; `cited` are those of them that a model gets to see."""
    first = facts[0]
    missing = decisive_missing(first)
    short: dict[str, int] = {}
    total: dict[str, int] = {}
    for row in cited:
        for cause in row.causes:
            for name, amount in cause.items.items():
                if name in missing and amount > 0:
                    short[name] = max(short.get(name, 0), amount)
                    before = value_of(row.state, f"inventory.{name}")
                    if isinstance(before, int | float):
                        total[name] = max(total.get(name, 0), int(before) + amount)
    return RemedySituation(
        domain=domain.name,
        kind=first.kind or "",
        target=first.target,
        failure_type=first.failure_type or "",
        missing=missing,
        short=dict(sorted(short.items())),
        needed=min(fact.needed or 1 for fact in facts),
        rows=len(facts),
        episodes=len({fact.episode_id for fact in facts}),
        holding=measured(_around_a_failure(first, missing, total, domain), cited, domain),
        cited=cited,
    )


def skill_situation(
    facts: Sequence[FeedbackFact], cited: tuple[Cited, ...], domain: Domain
) -> SkillSituation:
    """The situation that all of `facts` share; `cited` are those of them that a model gets to see."""
    first = facts[0]
    return SkillSituation(
        domain=domain.name,
        kind=first.kind or "",
        target=first.target,
        order=tuple(step.kind for step in cited[0].steps),
        needed=min(fact.needed or 1 for fact in facts),
        gains=_shared([row.change for row in cited], first.target, domain),
        rows=len(facts),
        episodes=len({fact.episode_id for fact in facts}),
        holding=measured(_before_a_success(cited, domain), cited, domain),
        cited=cited,
    )


def net_change(fact: FeedbackFact) -> dict[str, int] | None:
    """What an attempt changed in the inventory, what came and went left out; None where it is unknown."""
    change = fact.delta_inventory
    return None if change is None else {name: change[name] for name in sorted(change) if change[name]}


def measured(predicates: Iterable[Predicate], cited: Sequence[Cited], domain: Domain) -> tuple[Holding, ...]:
    """Those of `predicates` that name a declared field and hold wherever it is known, known at least once."""
    found: dict[str, Holding] = {}
    for predicate in predicates:
        if domain.field(predicate.field) is None:
            continue
        answers = [holds(predicate, row.state, domain) for row in cited]
        known = sum(answer is not None for answer in answers)
        if known and not any(answer is False for answer in answers):
            found[predicate.model_dump_json()] = Holding(predicate=predicate, known=known)
    return tuple(found[key] for key in sorted(found))


def held(cited: Sequence[Cited]) -> dict[str, int]:
    """Item -> the number that every cited row with a known inventory holds at least, above 0."""
    known = [row.state for row in cited if value_of(row.state, "inventory.*") is not None]
    names = sorted({field for state in known for field in state if field.startswith("inventory.")})
    least: dict[str, int] = {}
    for field in names:
        amounts = [value_of(state, field) for state in known]
        smallest = min(int(amount) for amount in amounts if isinstance(amount, int | float))
        if smallest > 0:
            least[field.removeprefix("inventory.")] = smallest
    return least


def stations_near(cited: Sequence[Cited], domain: Domain) -> frozenset[str]:
    """Stations known to be in reach in some cited row, and in no row known not to be."""
    near = (Predicate(field=f"near.{station}", op="eq", value=True) for station in sorted(domain.stations))
    return frozenset(each.predicate.field.removeprefix("near.") for each in measured(near, cited, domain))


def readable(state: Mapping[str, StateValue]) -> dict[str, Any]:
    """A flat state as a model reads it: one object or list per family, unknown fields left out."""
    shown: dict[str, Any] = {
        field: value
        for field, value in state.items()
        if value is not None and "." not in field and field not in _SUBGOAL_FIELDS
    }
    for family in _FAMILIES:
        if value_of(state, f"{family}.*") is None:
            shown[family] = "unknown"
            continue
        members = {
            field.partition(".")[2]: value
            for field, value in state.items()
            if field.startswith(f"{family}.") and not field.endswith(".*") and value
        }
        names = sorted(members)[:_SHOWN_PER_FAMILY]
        shown[family] = {name: members[name] for name in names} if family == "inventory" else names
    return shown


def _cited(label: str, fact: FeedbackFact, domain: Domain) -> Cited:
    return Cited(
        label=label,
        feedback_id=fact.feedback_id,
        episode_id=fact.episode_id,
        attempt=fact.attempt,
        stagnant=bool(fact.stagnant),
        state=dict(sorted(fact.state_before.items())),
        change=net_change(fact),
        steps=observed_steps(fact, domain) or (),
        causes=tuple(
            CauseSeen(
                type=cause.type,
                name=cause.name,
                items=dict(sorted(cause.items.items())),
                text=_kept(cause.evidence.text),
            )
            for cause in fact.causes
        ),
        evidence=_kept(fact.evidence.text),
    )


def _around_a_failure(
    fact: FeedbackFact, missing: tuple[str, ...], total: Mapping[str, int], domain: Domain
) -> list[Predicate]:
    """Conditions worth measuring: on what was missing, on the target, on what stood in the way.

    `total` is what was held and what was short of it together, where rows say so.
    """
    found = [Predicate(field="gui", op="ne", value="none")]
    for name in missing:
        found.append(Predicate(field=f"inventory.{name}", op="lt", value=total.get(name, 1)))
        found.append(Predicate(field=f"near.{name}", op="eq", value=False))
        if name in domain.stations or name in domain.tools:
            # Held and yet missing: not placed, or not in the hand.
            found.append(Predicate(field=f"inventory.{name}", op="ge", value=1))
    if fact.target is not None:
        found += [Predicate(field=f"seen.{fact.target}", op="eq", value=value) for value in (False, True)]
    return found


def _before_a_success(cited: Sequence[Cited], domain: Domain) -> list[Predicate]:
    """Conditions worth measuring: what every row used up, the tools that all held, the stations near them."""
    used = _used_up([row.used for row in cited], domain)
    found = [Predicate(field=f"inventory.{name}", op="ge", value=count) for name, count in used.items()]
    found += [
        Predicate(field=f"inventory.{name}", op="ge", value=1)
        for name in sorted(held(cited))
        if name in domain.tools
    ]
    found += [Predicate(field=f"near.{name}", op="eq", value=True) for name in sorted(domain.stations)]
    return found


def _used_up(rows: Sequence[Mapping[str, int] | None], domain: Domain) -> dict[str, int]:
    """What every row used up, with its smallest amount: items that are the same in all, and for the others
    the smallest tags that each row used something of (logs, where each row had another wood)."""
    shared = _shared(rows, None, domain)
    rest = [
        {name: count for name, count in row.items() if count > 0 and name not in shared}
        for row in rows
        if row is not None
    ]
    for tag in sorted(domain.tags, key=lambda each: (len(domain.tags[each]), each)):
        members = domain.tags[tag]
        amounts = [sum(count for name, count in row.items() if name in members) for row in rest]
        if amounts and all(amounts):
            shared[f"#{tag}"] = min(amounts)
            rest = [{name: row[name] for name in row if name not in members} for row in rest]
    return shared


def _shared(rows: Iterable[Mapping[str, int] | None], target: str | None, domain: Domain) -> dict[str, int]:
    """Item -> its smallest amount, where it is above 0 in every row that is known; a `#tag` target too."""
    known = [row for row in rows if row is not None]
    if not known:
        return {}
    common = {name for name in known[0] if all(row.get(name, 0) > 0 for row in known)}
    shared = {name: min(row[name] for row in known) for name in sorted(common)}
    if target is not None and target.startswith("#"):
        members = domain.expand(target)
        total = min(sum(row.get(name, 0) for name in sorted(members)) for row in known)
        if total > 0:
            shared[target] = total
    return shared


def _known_name(name: str | None, domain: Domain) -> str | None:
    if name is None:
        return None
    known = name in domain.items or name in domain.blocks or name in domain.entities
    return name if known or (name.startswith("#") and name[1:] in domain.tags) else None


def _kept(text: str | None) -> str | None:
    # A lone surrogate has no UTF-8 form and could be neither hashed nor sent.
    return None if text is None else text.encode("utf-8", "replace").decode("utf-8")[:TEXT_KEPT]
