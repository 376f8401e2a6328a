"""What a conjunction of predicates allows, field by field, as sets: the calculus behind "can this trigger
ever hold", "does it always hold", "do these two overlap" and "is their union itself a trigger".

Fields are taken to be independent, save that a tag's count is at least any of its members'. The sets are over
known values: a field that is unknown satisfies no predicate.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Final

from warehouse.domains.model import Domain
from warehouse.knowledge import Op, Predicate, Scalar, exactly
from warehouse.state import MISSING

_ENUMERABLE: Final = 4096


@dataclass(frozen=True)
class Region:
    """The values one field may have: an interval, cut down to `members` if there are any, less `excluded`.

    Values without an order have no bounds. `whole` intervals hold integers only and are kept closed.
    """

    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False
    whole: bool = False
    members: frozenset[Scalar] | None = None
    excluded: frozenset[Scalar] = frozenset()

    def __contains__(self, value: Scalar) -> bool:
        if value in self.excluded or (self.members is not None and value not in self.members):
            return False
        if isinstance(value, str | bool):
            return True
        above = value > self.low if self.low_open else value >= self.low
        below = value < self.high if self.high_open else value <= self.high
        return above and below and (not self.whole or float(value).is_integer())

    @cached_property
    def values(self) -> frozenset[Scalar] | None:
        """Every value, where they can be listed; None where they are too many."""
        if self.members is not None:
            return frozenset(value for value in self.members if value in self)
        if self.low > self.high or (self.low == self.high and (self.low_open or self.high_open)):
            return frozenset()
        if self.low == self.high:
            return frozenset(value for value in (self.low,) if value in self)
        if self.whole and self.high - self.low < _ENUMERABLE:
            return frozenset(n for n in range(int(self.low), int(self.high) + 1) if n in self)
        return None

    @property
    def empty(self) -> bool:
        """Whether no value is left."""
        return self.values == frozenset()

    def narrowed(self, predicate: Predicate) -> "Region":
        """What is left when `predicate` must hold too."""
        value = predicate.value
        if isinstance(value, tuple):
            return self._among(value)
        match predicate.op:
            case "eq" | "in":
                return self._among((value,))
            case "ne":
                return replace(self, excluded=self.excluded | {value})
        if isinstance(value, str | bool):
            return replace(self, members=frozenset())
        return self._bounded(predicate.op, float(value))

    def within(self, other: "Region") -> bool:
        """Whether every value here is also in `other`."""
        if other is self:
            return True
        values = self.values
        if values is not None:
            return all(value in other for value in values)
        if other.members is not None or (other.whole and not self.whole):
            return False
        low = self.low > other.low or (self.low == other.low and (self.low_open or not other.low_open))
        high = self.high < other.high or (self.high == other.high and (self.high_open or not other.high_open))
        return low and high and not any(value in self for value in other.excluded)

    def joined(self, other: "Region") -> "Region | None":
        """The union, where it is again a region of listed values or one unbroken interval; else None."""
        if self.within(other) or other.within(self):
            return other if self.within(other) else self
        if self.members is not None and other.members is not None:
            return Region(
                whole=self.whole, members=(self.values or frozenset()) | (other.values or frozenset())
            )
        if self.members is not None or other.members is not None or self.excluded or other.excluded:
            return None
        first, second = sorted((self, other), key=lambda region: (region.low, region.low_open))
        step = 1 if self.whole else 0
        touches = second.low < first.high + step or (
            second.low == first.high + step and not (first.high_open and second.low_open)
        )
        if not touches:
            return None
        last = max((self, other), key=lambda region: (region.high, not region.high_open))
        return replace(first, high=last.high, high_open=last.high_open)

    def _among(self, values: Iterable[Scalar]) -> "Region":
        wanted = frozenset(values)
        return replace(self, members=wanted if self.members is None else self.members & wanted)

    def _bounded(self, op: str, bound: float) -> "Region":
        is_open = op in ("lt", "gt")
        if op in ("lt", "le"):
            if self.whole:
                bound, is_open = (math.ceil(bound) - 1 if is_open else math.floor(bound)), False
            tighter = bound < self.high or (bound == self.high and is_open)
            return replace(self, high=bound, high_open=is_open) if tighter else self
        if self.whole:
            bound, is_open = (math.floor(bound) + 1 if is_open else math.ceil(bound)), False
        tighter = bound > self.low or (bound == self.low and is_open)
        return replace(self, low=bound, low_open=is_open) if tighter else self


Regions = Mapping[str, Region]


def universe(field: str, domain: Domain) -> Region:
    """Every value that the domain lets `field` have; all values for a field that nothing declares."""
    declared = domain.field(field)
    if declared is None:
        return Region()
    if declared.kind == "flag":
        return Region(members=frozenset((False, True)))
    if declared.kind == "enum" and declared.values:
        return Region(members=frozenset(declared.values))
    if declared.kind == "number":
        if declared.members:
            most = domain.slots * domain.stack or math.inf
            return Region(low=0, high=most, whole=True)
        tops = {"health": domain.spawn_health, "hunger": domain.spawn_hunger, "progress": 1.0}
        return Region(low=0, high=tops[field]) if field in tops else Region()
    return Region()


def regions_of(predicates: Iterable[Predicate], domain: Domain) -> dict[str, Region]:
    """What `predicates` together allow each field that they name.

    `missing` has several values at once: each thing that a predicate asks it for is a flag of its own.
    """
    regions: dict[str, Region] = {}
    for predicate in predicates:
        field, asked, alone = _alone(*exactly(predicate), domain)
        so_far = regions.get(field)
        regions[field] = alone if so_far is None else so_far.narrowed(asked)
    return regions


def contradictions(predicates: Iterable[Predicate], domain: Domain) -> list[str]:
    """The fields that can have no value when all `predicates` hold, sorted; empty: they can all hold."""
    regions = regions_of(predicates, domain)
    found = {field for field, region in regions.items() if region.empty}
    for field, region in regions.items():
        family, _, tag = field.partition(".#")
        members = domain.tags.get(tag, frozenset()) if tag else frozenset()
        for member in sorted(members):
            other = regions.get(f"{family}.{member}")
            if other is not None and _exceeds(other, region):
                found.add(field)
    return sorted(found)


def overlap(one: Iterable[Predicate], other: Iterable[Predicate], domain: Domain) -> bool:
    """Whether some state satisfies both conjunctions."""
    return not contradictions([*one, *other], domain)


def implies(one: Iterable[Predicate], other: Iterable[Predicate], domain: Domain) -> bool:
    """Whether every state with `one` has `other` too: `one` names each field of `other`, as narrowly."""
    return _all_within(regions_of(one, domain), regions_of(other, domain))


def always_holds(predicate: Predicate, domain: Domain) -> bool:
    """Whether `predicate` is true of every value that its field can have."""
    field, _, alone = _alone(*exactly(predicate), domain)
    return field == predicate.field and universe(field, domain).within(alone)


def union(
    one: tuple[Predicate, ...], other: tuple[Predicate, ...], domain: Domain
) -> tuple[Predicate, ...] | None:
    """A trigger that holds exactly where `one` or `other` does, or None where no conjunction says that.

    There is one if either implies the other, or if they differ in a single field whose two sets join to one.
    """
    return joined(one, regions_of(one, domain), other, regions_of(other, domain), domain)


def joined(
    one: tuple[Predicate, ...],
    left: Regions,
    other: tuple[Predicate, ...],
    right: Regions,
    domain: Domain,
) -> tuple[Predicate, ...] | None:
    """`union` of two triggers whose regions are known."""
    if _all_within(left, right):
        return other
    if _all_within(right, left):
        return one
    if left.keys() != right.keys():
        return None
    differing = [
        field for field in sorted(left) if left[field] is not right[field] and left[field] != right[field]
    ]
    if len(differing) != 1 or domain.field(differing[0]) is None:
        return None
    field = differing[0]
    region = left[field].joined(right[field])
    if region is None:
        return None
    spoken = _spoken(field, region, universe(field, domain))
    kept = tuple(predicate for predicate in one if predicate.field != field)
    return (*kept, *spoken) if spoken else None


def _all_within(narrow: Regions, wide: Regions) -> bool:
    return all(field in narrow and narrow[field].within(region) for field, region in wide.items())


@lru_cache(maxsize=1 << 16)
def _alone(
    field: str, op: Op, value: Scalar | tuple[Scalar, ...], kinds: object, domain: Domain
) -> tuple[str, Predicate, Region]:
    """The field that a predicate (`exactly`) asks, how it asks it, and what it allows it by itself."""
    name, asked = _asked(Predicate(field=field, op=op, value=value))
    start = universe(field, domain) if name == field else Region(members=frozenset((False, True)))
    return name, asked, start.narrowed(asked)


def _asked(predicate: Predicate) -> tuple[str, Predicate]:
    values = predicate.value if isinstance(predicate.value, tuple) else (predicate.value,)
    if predicate.field != MISSING:
        return predicate.field, predicate
    # "one of several" says nothing of any single one, so it becomes a flag under the whole list.
    name = f"{MISSING}={'|'.join(sorted(map(str, values)))}"
    return name, Predicate(field=MISSING, op="eq", value=predicate.op != "ne")


def _exceeds(member: Region, of_tag: Region) -> bool:
    """Whether one member alone is more than its whole tag may be: counts, and flags likewise."""
    return _extreme(member, min, member.low) > _extreme(of_tag, max, of_tag.high)


def _extreme(region: Region, pick: Callable[[Iterable[float]], float], bound: float) -> float:
    numbers = [float(value) for value in region.values or () if isinstance(value, int | float)]
    return pick(numbers) if numbers else bound


def _spoken(field: str, region: Region, everything: Region) -> tuple[Predicate, ...]:
    """`region` as predicates on `field`; none where it has no bound to speak of."""
    values = region.values if region.members is not None or region.low == region.high else None
    if values is not None:
        listed = tuple(sorted(map(_plain, values), key=lambda value: (str(type(value)), value)))
        if len(listed) == 1:
            return (Predicate(field=field, op="eq", value=listed[0]),)
        return (Predicate(field=field, op="in", value=listed),)
    spoken: list[Predicate] = []
    if region.low > everything.low or region.low_open:
        op: Op = "gt" if region.low_open else "ge"
        spoken.append(Predicate(field=field, op=op, value=_plain(region.low)))
    if region.high < everything.high or region.high_open:
        op = "lt" if region.high_open else "le"
        spoken.append(Predicate(field=field, op=op, value=_plain(region.high)))
    return tuple(spoken)


def _plain(value: Scalar) -> Scalar:
    return int(value) if isinstance(value, float) and value.is_integer() else value
