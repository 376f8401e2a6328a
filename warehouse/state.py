"""The flat state that triggers and checks are evaluated on: one value per declared state field.

Unknown stays unknown. A field that the source could not observe has no value and decides nothing, which is
why every question here has three answers: true, false and None.

The families `inventory`, `near` and `seen` stand for many fields. A state lists the members that are there
and, under the family's own name (`inventory.*`), what holds for all others: 0 or false where the source
sees, nothing where it does not.

>>> state = flatten_state({"inventory": [{"name": "rope", "count": 2}], "near": None}, kind="craft")
>>> value_of(state, "inventory.rope"), value_of(state, "inventory.lamp"), value_of(state, "near.bench")
(2, 0, None)
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from warehouse.domains.model import Domain
from warehouse.knowledge import Check, Predicate, Scalar

Value = Scalar | tuple[str, ...] | None
State = Mapping[str, Value]

MISSING: Final = "missing"
"""The one field with several values: every thing that the evidence says was missing. `eq` and `in` ask
whether one of them fits, `ne` whether none does."""

OUTCOMES: Final = ("failure_type", MISSING, "progress", "stagnant")
"""The fields that an attempt shows only while it runs or afterwards."""

_PLAIN: Final = ("health", "hunger", "gui", "equipped", "alive")
_FLAGS: Final = ("near", "seen")
_EVERYTHING_ELSE: Final = "*"


def flatten_state(row: Mapping[str, Any] | None, **extra: Any) -> dict[str, Value]:
    """A `state_before` or `state_after` struct of the contract as field -> value; None gives no field.

    `extra` adds what is known of the attempt (kind, target, failure_type, missing, progress, stagnant) or of
    the place (biome, ...); a list becomes a sorted tuple. An extra that is None is unknown.
    """
    state: dict[str, Value] = {}
    if row is not None:
        state |= {name: row.get(name) for name in _PLAIN}
        state["ypos"] = row.get("y")
        state |= _counts(row.get("inventory"))
        for family in _FLAGS:
            state |= _presence(family, row.get(family))
    state |= {name: _plain(value) for name, value in extra.items()}
    return {name: state[name] for name in sorted(state)}


def value_of(state: State, field: str, domain: Domain | None = None) -> Value:
    """The value of `field`, None if unknown.

    A tag's field (`inventory.#<tag>`) is the sum over its members, or whether any of them is there; that
    takes the `domain`, without which it is unknown.
    """
    if field in state:
        return state[field]
    family, dot, member = field.partition(".")
    if not dot:
        return None
    if member.startswith("#"):
        return _of_tag(state, family, member, domain)
    return state.get(f"{family}.{_EVERYTHING_ELSE}")


def holds(predicate: Predicate, state: State, domain: Domain | None = None) -> bool | None:
    """Whether `predicate` is true in `state`; None where the field is unknown.

    A comparison of things that have no order, or of a flag with a number, is false.
    """
    value = value_of(state, predicate.field, domain)
    if value is None:
        return None
    wanted = predicate.value if isinstance(predicate.value, tuple) else (predicate.value,)
    if predicate.op in ("eq", "in", "ne"):
        values = value if isinstance(value, tuple) else (value,)
        found = any(_same(one, other) for one in values for other in wanted)
        return not found if predicate.op == "ne" else found
    if len(wanted) != 1 or not (_is_number(value) and _is_number(wanted[0])):
        return False
    return _ORDER[predicate.op](value, wanted[0])


def matches(trigger: Iterable[Predicate], state: State, domain: Domain | None = None) -> bool | None:
    """Whether all predicates hold: false as soon as one is false, None if none is and one is unknown."""
    return _all(holds(predicate, state, domain) for predicate in trigger)


def check_holds(check: Check, state: State, domain: Domain) -> bool | None:
    """Whether a check of the domain's types is met in `state`; None where the state cannot tell.

    Raises `ValueError` for a type that the domain does not have or that cannot be evaluated on a state.
    """
    if check.type not in domain.check_types or check.type not in CHECKS:
        raise ValueError(f"no check type {check.type!r}; known: {', '.join(sorted(domain.check_types))}")
    return CHECKS[check.type](check, state, domain)


def _counts(amounts: Iterable[Mapping[str, Any]] | None) -> dict[str, Value]:
    if amounts is None:
        return {}
    counts: dict[str, int] = {}
    for amount in amounts:
        field = f"inventory.{amount['name']}"
        counts[field] = counts.get(field, 0) + int(amount["count"])
    return {**counts, f"inventory.{_EVERYTHING_ELSE}": 0}


def _presence(family: str, names: Iterable[str] | None) -> dict[str, Value]:
    if names is None:
        return {}
    return {**{f"{family}.{name}": True for name in names}, f"{family}.{_EVERYTHING_ELSE}": False}


def _plain(value: Any) -> Value:
    if isinstance(value, list | tuple | set | frozenset):
        return tuple(sorted({str(each) for each in value}))
    plain: Scalar | None = value
    return plain


def _of_tag(state: State, family: str, tag: str, domain: Domain | None) -> Value:
    if domain is None:
        return None
    members = sorted(domain.tags.get(tag[1:], frozenset()))
    values = [value_of(state, f"{family}.{member}") for member in members]
    if any(value is True for value in values):
        return True
    if not values or any(value is None for value in values):
        return None
    if all(value is False for value in values):
        return False
    return sum(value for value in values if isinstance(value, int | float))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same(one: Any, other: Any) -> bool:
    # True == 1 in Python; a flag is never a count here.
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _all(answers: Iterable[bool | None]) -> bool | None:
    known: bool | None = True
    for answer in answers:
        if answer is False:
            return False
        if answer is None:
            known = None
    return known


_ORDER: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "lt": lambda value, bound: bool(value < bound),
    "le": lambda value, bound: bool(value <= bound),
    "gt": lambda value, bound: bool(value > bound),
    "ge": lambda value, bound: bool(value >= bound),
}


def _amount_of(check: Check, state: State, domain: Domain) -> float | None:
    """How many of a check's item (or of a `#tag`'s members together) the state holds."""
    amounts = [value_of(state, f"inventory.{item}") for item in sorted(domain.expand(check.name or ""))]
    known = [float(amount) for amount in amounts if isinstance(amount, int | float)]
    return sum(known) if known and len(known) == len(amounts) else None


def _at_least(value: Value, bound: float | None) -> bool | None:
    return None if not isinstance(value, int | float) or bound is None else value >= bound


def _inverted(answer: bool | None) -> bool | None:
    return None if answer is None else not answer


def _inv_ge(check: Check, state: State, domain: Domain) -> bool | None:
    return _at_least(_amount_of(check, state, domain), check.value)


def _inv_lt(check: Check, state: State, domain: Domain) -> bool | None:
    return _inverted(_inv_ge(check, state, domain))


def _ypos_ge(check: Check, state: State, domain: Domain) -> bool | None:
    return _at_least(value_of(state, "ypos"), check.value)


def _ypos_le(check: Check, state: State, domain: Domain) -> bool | None:
    height = value_of(state, "ypos")
    return None if not isinstance(height, int | float) or check.value is None else height <= check.value


def _path_clear(check: Check, state: State, domain: Domain) -> bool | None:
    """Whether the way is free shows in the ticks that follow, never in one state."""
    return None


def _gui_closed(check: Check, state: State, domain: Domain) -> bool | None:
    return holds(Predicate(field="gui", op="eq", value="none"), state)


def _station_near(check: Check, state: State, domain: Domain) -> bool | None:
    return holds(Predicate(field=f"near.{check.name}", op="eq", value=True), state, domain)


def _alive(check: Check, state: State, domain: Domain) -> bool | None:
    return holds(Predicate(field="alive", op="eq", value=True), state)


CHECKS: Final[Mapping[str, Callable[[Check, State, Domain], bool | None]]] = {
    "inv_ge": _inv_ge,
    "inv_lt": _inv_lt,
    "ypos_ge": _ypos_ge,
    "ypos_le": _ypos_le,
    "path_clear": _path_clear,
    "gui_closed": _gui_closed,
    "station_near": _station_near,
    "alive": _alive,
}
"""Check type -> its evaluation; a domain may offer any of these."""
