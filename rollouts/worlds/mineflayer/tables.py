"""What the embedded server is told of the game: the domain's own tables. minecraft-data, which it has the
recipes from, says nothing of furnaces and is wrong about drops."""

from collections.abc import Mapping
from typing import Any

from warehouse.domains import Domain


def server_tables(domain: Domain) -> Mapping[str, Any]:
    """Rules by name, to be written as JSON: what blocks drop always (`drops`: one item) and with luck
    (`rare`), the `tools` without which they drop nothing, what furnaces make (`smelting`), how many pieces a
    fuel is worth (`fuels`), how many points a food (`foods`), what creatures leave (`entity_drops`)."""
    usual = {
        block: [item for item in items if item not in domain.rare_drops.get(block, frozenset())][:1]
        for block, items in domain.drops.items()
    }
    return {
        "drops": {block: items for block, items in sorted(usual.items()) if items},
        "rare": {name: sorted(items) for name, items in sorted(domain.rare_drops.items())},
        "tools": {block: sorted(domain.fit_tools(block)) for block in sorted(domain.harvest)},
        "smelting": dict(sorted(domain.smelting.items())),
        "fuels": dict(sorted(domain.fuels.items())),
        "foods": dict(sorted(domain.food_points.items())),
        "entity_drops": {name: list(items) for name, items in sorted(domain.entity_drops.items())},
    }
