"""What an inventory shows was gained: success from evidence alone.

A result that appeared counts, even when a later observation lacks it; a number that flickers up for a single
observation while nothing that could yield it was done does not (recorders count a crafting grid twice).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

Inventory = Mapping[str, int]


class Observed(NamedTuple):
    """An inventory at a tick, and the things that actions at that tick are known to have yielded."""

    tick: int
    inventory: Inventory
    yielded: frozenset[str] = frozenset()


def largest_gain(
    baseline: Inventory, observed: Sequence[Observed], accepts: Iterable[str], *, each: bool = False
) -> int | None:
    """The largest rise over the baseline of the accepted items' sum (`each`: of any one of them).

    Returns items, at least 0; None without an observation or without anything accepted. A rise counts when
    it is still there at the next tick, when it is the last observation, or when an action at that tick
    yielded it.
    """
    items = sorted(set(accepts))
    if not items or not observed:
        return None
    last_of_tick = list({step.tick: step for step in observed}.values())
    yields: dict[int, set[str]] = {}
    for step in observed:
        yields.setdefault(step.tick, set()).update(step.yielded)
    groups = [[item] for item in items] if each else [items]
    best = 0
    for group in groups:
        base = sum(baseline.get(item, 0) for item in group)
        rises = [sum(step.inventory.get(item, 0) for item in group) - base for step in last_of_tick]
        for index, rise in enumerate(rises):
            explained = bool(yields[last_of_tick[index].tick] & set(group))
            if index + 1 == len(rises) or explained:
                best = max(best, rise)
            else:
                best = max(best, min(rise, rises[index + 1]))
    return best


def changes(baseline: Inventory, observed: Sequence[Observed]) -> list[tuple[int, int, str, int, int]]:
    """Every change of an item from one observation to the next: (tick, seq, item, delta, count after)."""
    rows = []
    before = dict(baseline)
    for seq, step in enumerate(observed):
        for item in sorted(before.keys() | step.inventory.keys()):
            delta = step.inventory.get(item, 0) - before.get(item, 0)
            if delta:
                rows.append((step.tick, seq, item, delta, step.inventory.get(item, 0)))
        before = dict(step.inventory)
    return rows


def amounts(inventory: Inventory) -> list[dict[str, object]]:
    """An inventory as the contract's list of named amounts, sorted by name."""
    return [{"name": item, "count": inventory[item]} for item in sorted(inventory) if inventory[item]]
