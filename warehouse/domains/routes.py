"""How things are got: the sources of an item, the cheapest first, and everything on the way to it.

Effort is counted in steps, not in items: a way costs its own step plus the cheapest way to each thing that
it needs (ingredients, station, tool, fuel). That is enough to order sources, and since a need is always
cheaper than what needs it, the cheapest ways form a graph without cycles.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import networkx

    from warehouse.domains.model import Domain

_STEP = 1.0
# Behind every dependable way, however long, and still ahead of none at all.
_LUCK = 1000.0
# Drops are listed with the usual one first; one further down is a little less to be counted on.
_LATER = 0.125


class Way(NamedTuple):
    """One way to get an item: an action, its own effort, and needs, each met by any one of its members."""

    kind: str
    target: str
    effort: float
    needs: tuple[frozenset[str], ...]


class Routes:
    """The ways through one domain; computed on first use, then remembered."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain

    @cached_property
    def _ways(self) -> dict[str, tuple[Way, ...]]:
        ways: dict[str, list[Way]] = {item: [] for item in sorted(self._domain.items)}
        for item, way in (*self._broken(), *self._killed(), *self._smelted(), *self._crafted()):
            ways[item].append(way)
        return {item: tuple(found) for item, found in ways.items()}

    def _broken(self) -> Iterator[tuple[str, Way]]:
        domain = self._domain
        for block, effort in sorted(domain.block_effort.items()):
            tools = domain.fit_tools(block)
            needs = (tools,) if tools else ()
            for item, extra in self._odds(block, domain.drops[block]):
                yield item, Way("mine", block, effort + extra, needs)

    def _killed(self) -> Iterator[tuple[str, Way]]:
        domain = self._domain
        for entity, effort in sorted(domain.entity_effort.items()):
            for item, extra in self._odds(entity, domain.entity_drops.get(entity, ())):
                yield item, Way("combat", entity, effort + extra, ())

    def _odds(self, source: str, drops: tuple[str, ...]) -> Iterator[tuple[str, float]]:
        """Each drop with the effort that it costs beyond reaching its source."""
        rare = self._domain.rare_drops.get(source, frozenset())
        for place, item in enumerate(drops):
            yield item, _LUCK if item in rare else place * _LATER

    def _smelted(self) -> Iterator[tuple[str, Way]]:
        domain = self._domain
        station = frozenset({domain.smelting_station})
        for before, after in sorted(domain.smelting.items()):
            # What is left of a molten tool is scrap: nobody makes one to melt it, however cheap it seems.
            effort = _LUCK if before in domain.tools else _STEP
            yield after, Way("smelt", after, effort, (frozenset({before}), station, frozenset(domain.fuels)))

    def _crafted(self) -> Iterator[tuple[str, Way]]:
        domain = self._domain
        for item, recipes in sorted(domain.recipes.items()):
            for recipe in recipes:
                needs = tuple(domain.expand(name) for name, _ in recipe.ingredients)
                needs += tuple(frozenset({station}) for station in domain.stations_of(recipe))
                yield item, Way("craft", item, _STEP, needs)

    @cached_property
    def _cost(self) -> dict[str, float]:
        """Item -> effort of its cheapest way; infinite when there is none."""
        cost = dict.fromkeys(self._ways, inf)
        # Costs only ever fall, and each is a sum of positive efforts along some chain of distinct items, so
        # the sweeps reach a fixed point after at most as many rounds as the longest such chain.
        changed = True
        while changed:
            changed = False
            for item, ways in self._ways.items():
                best = min((_total(way, cost) for way in ways), default=inf)
                if best < cost[item]:
                    cost[item] = best
                    changed = True
        return cost

    @cached_property
    def _graph(self) -> networkx.DiGraph[str]:
        """Item -> what its cheapest ways need; an edge for each equally cheap way and alternative."""
        import networkx

        graph: networkx.DiGraph[str] = networkx.DiGraph()
        graph.add_nodes_from(self._ways)
        for item, ways in self._ways.items():
            if self._cost[item] == inf:
                continue
            for way in ways:
                if _total(way, self._cost) == self._cost[item]:
                    graph.add_edges_from((item, need) for need in self._cheapest(way.needs))
        return graph

    def _cheapest(self, needs: tuple[frozenset[str], ...]) -> Iterator[str]:
        for alternatives in needs:
            least = min(self._cost[item] for item in alternatives)
            yield from sorted(item for item in alternatives if self._cost[item] == least)

    @cached_property
    def _prerequisites(self) -> dict[str, frozenset[str]]:
        return {}

    @cached_property
    def _sources(self) -> dict[str, tuple[tuple[str, str], ...]]:
        return {}

    def prerequisites(self, name: str) -> frozenset[str]:
        """All that the cheapest ways to `name` need; see `Domain.prerequisites`."""
        if name not in self._prerequisites:
            import networkx

            known = self._domain.expand(name)
            start = list(self._cheapest((known,))) if known else []
            found = (networkx.descendants(self._graph, item) for item in start)
            self._prerequisites[name] = frozenset().union(*found)
        return self._prerequisites[name]

    def effort(self, name: str) -> float:
        """Effort, in steps, of the cheapest way to `name` (item or `#tag`); infinite when there is none."""
        return min((self._cost[item] for item in self._domain.expand(name)), default=inf)

    def sources(self, name: str) -> tuple[tuple[str, str], ...]:
        """The ways to `name` as (kind, target), cheapest first; see `Domain.sources`."""
        if name not in self._sources:
            best: dict[tuple[str, str], float] = {}
            for item in self._domain.expand(name):
                for way in self._ways[item]:
                    cost = _total(way, self._cost)
                    action = (way.kind, way.target)
                    if cost < best.get(action, inf):
                        best[action] = cost
            self._sources[name] = tuple(sorted(best, key=lambda action: (best[action], action)))
        return self._sources[name]

    def kind_of_obtain(self, target: str) -> str | None:
        """The kind of the cheapest way to `target`; see `Domain.kind_of_obtain`."""
        domain = self._domain
        found = self.sources(target)
        if found:
            return found[0][0]
        if domain.expand(target):
            return None
        if target in domain.blocks:
            return "mine"
        return "combat" if target in domain.entities else None

    def accepts(self, target: str, kind: str) -> frozenset[str]:
        """The items that show that `target` was got by `kind`; see `Domain.accepts`."""
        domain = self._domain
        action = domain.kind_aliases.get(kind, kind)
        if action == "obtain":
            action = self.kind_of_obtain(target) or "craft"
        if action == "smelt":
            product = self.product_of(target)
            return domain.expand(product) if product else frozenset()
        match domain.kinds.get(action):
            case "block":
                names = domain.tags.get(target[1:], frozenset()) if target.startswith("#") else {target}
                return frozenset().union(*(self._yield_of(name) for name in names))
            case "entity" if target in domain.entities:
                return frozenset(domain.entity_drops.get(target, ()))
            case "item" | "entity":
                return domain.expand(target)
        return frozenset()

    def product_of(self, name: str) -> str | None:
        """What smelting `name` aims at: `name` if a furnace makes it, else what a furnace makes of it.

        None when it makes nothing of it, or different things of a tag's members.
        """
        smelting = self._domain.smelting
        if name in self._products:
            return name
        products = {smelting[item] for item in self._domain.expand(name) if item in smelting}
        return products.pop() if len(products) == 1 else None

    @cached_property
    def _products(self) -> frozenset[str]:
        return frozenset(self._domain.smelting.values())

    def _yield_of(self, name: str) -> frozenset[str]:
        """What breaking block `name` can leave, itself included if it can be carried; or the item `name`."""
        domain = self._domain
        dropped = domain.drops.get(name, ())
        if dropped and dropped[0] == name:
            # What usually yields itself is wanted for itself; what falls out by luck is something else.
            return frozenset(dropped) - domain.rare_drops.get(name, frozenset())
        return frozenset(dropped) | domain.expand(name)


def _total(way: Way, cost: dict[str, float]) -> float:
    """The effort of `way`, its needs met in the cheapest manner."""
    total = way.effort
    for alternatives in way.needs:
        total += min((cost[item] for item in alternatives), default=inf)
    return total
