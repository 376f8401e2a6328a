"""Who plays in a Minecraft world: hands every subgoal to the worker as one errand, and waits until it is
done.

What an errand needs to know of the game (which blocks leave an item, what a furnace takes) is the domain's.
The moves themselves are mineflayer's.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from rollouts.executors.goals import blocks_for, creatures_for
from rollouts.executors.using import verb_of
from rollouts.protocols import Action, Move, Observation, Subgoal
from warehouse.domains import Domain

_GLANCE: Final = 20
"""ticks between two looks at an errand that is under way"""
Errand = Mapping[str, Any]


class MineflayerExecutor:
    """See the module. `seed` decides which way is explored first."""

    name: str = "scripted"

    def __init__(self, domain: Domain, seed: int) -> None:
        self._domain = domain
        self._heading = 45 * (seed % 8) - 180
        self._number = 0
        self._errand: Errand | None = None
        self._begun = False

    def start(self, subgoal: Subgoal, observation: Observation) -> None:
        """Makes an errand of the subgoal; an unknown kind, or a target that means nothing, is given up at
        once."""
        self._number += 1
        self._begun = False
        make = _KINDS.get(subgoal.kind)
        errand = make(subgoal, observation.inventory, self._domain) if make is not None else None
        self._errand = (
            None
            if errand is None
            else {
                "kind": subgoal.kind,
                "target": subgoal.target,
                "count": subgoal.count,
                "heading": self._heading,
                **errand,
                "number": self._number,
            }
        )

    def act(self, observation: Observation) -> Move | None:
        """On with the errand; None when it is done or given up, or the agent is dead."""
        if self._errand is None or observation.alive is False or (self._begun and not observation.busy):
            return None
        self._begun = True
        return Move(Action(errand=self._errand), _GLANCE)


def _mine(subgoal: Subgoal, held: Mapping[str, int], domain: Domain) -> Errand | None:
    target = subgoal.target or ""
    blocks = blocks_for(domain, target) if target else frozenset()
    items = domain.accepts(target, "mine") or domain.expand(target)
    if not blocks or not items:
        return None
    return {
        "blocks": sorted(blocks),
        **_asked(subgoal, items, held, domain),
        "depth": _check(subgoal, "ypos_le"),
        "ground": all(block in domain.harvest for block in blocks),
        "lucky": any(items & domain.rare_drops.get(block, frozenset()) for block in blocks),
    }


def _craft(subgoal: Subgoal, held: Mapping[str, int], domain: Domain) -> Errand | None:
    items = domain.expand(subgoal.target or "")
    if not items:
        return None
    return _asked(subgoal, items, held, domain) | {"tables": [domain.crafting_station]}


def _smelt(subgoal: Subgoal, held: Mapping[str, int], domain: Domain) -> Errand | None:
    named = sorted(domain.expand(subgoal.target or ""))
    made = frozenset(domain.smelting.values())
    products = [item for item in named if item in made] or [
        domain.smelting[item] for item in named if item in domain.smelting
    ]
    if not products:
        return None
    product = products[0]
    spared = domain.stations | frozenset(domain.tools)
    return _asked(subgoal, frozenset({product}), held, domain) | {
        "product": product,
        "sources": sorted(source for source, result in domain.smelting.items() if result == product),
        "fuels": {fuel: worth for fuel, worth in sorted(domain.fuels.items()) if fuel not in spared},
        "furnaces": [domain.smelting_station],
    }


def _use(subgoal: Subgoal, held: Mapping[str, int], domain: Domain) -> Errand | None:
    target = subgoal.target or ""
    items = domain.expand(target)
    if not items and target not in domain.stations:
        return None
    carried = any(held.get(item) for item in items)
    default = (
        "eat"
        if items & domain.foods
        else "open"
        if target in domain.stations and not carried
        else "place"
        if target in domain.blocks
        else "equip"
    )
    return {
        "verb": verb_of(subgoal.condition) or default,
        "items": sorted(items),
        "stations": [target] if target in domain.stations else [],
    }


def _combat(subgoal: Subgoal, held: Mapping[str, int], domain: Domain) -> Errand | None:
    creatures = creatures_for(domain, subgoal.target or "")
    return {"creatures": sorted(creatures)} if creatures else None


def _move(subgoal: Subgoal, held: Mapping[str, int], domain: Domain) -> Errand:
    near = next((check.name for check in subgoal.checks if check.type == "station_near"), None)
    target = near or subgoal.target
    return {
        "depth": _check(subgoal, "ypos_le"),
        "height": _check(subgoal, "ypos_ge"),
        "stations": sorted(blocks_for(domain, target)) if target else [],
        "creatures": sorted(creatures_for(domain, target)) if target else [],
    }


def _wait(subgoal: Subgoal, held: Mapping[str, int], domain: Domain) -> Errand:
    return {}


def _check(subgoal: Subgoal, kind: str) -> float | None:
    return next((check.value for check in subgoal.checks if check.type == kind), None)


def _asked(
    subgoal: Subgoal, items: frozenset[str], held: Mapping[str, int], domain: Domain
) -> dict[str, Any]:
    """Of which items how many have to be held in the end, all together: what the checks ask for, else the
    count on top of what is held."""
    for check in subgoal.checks:
        if check.type == "inv_ge" and (named := domain.expand(check.name or "") & items):
            return {"items": sorted(named), "wanted": int(check.value or 1)}
    return {"items": sorted(items), "wanted": sum(held.get(item, 0) for item in items) + subgoal.count}


_KINDS: Final[Mapping[str, Callable[[Subgoal, Mapping[str, int], Domain], Errand | None]]] = {
    "mine": _mine,
    "craft": _craft,
    "smelt": _smelt,
    "use": _use,
    "combat": _combat,
    "move": _move,
    "wait": _wait,
}
