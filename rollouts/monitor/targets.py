"""What counts as an attempt's target, from the domain, as frames that can be joined."""

from collections.abc import Callable
from functools import lru_cache

import polars as pl

from rollouts.monitor.runs import KEY
from warehouse.domains import Domain


def accepted_items(attempts: pl.DataFrame, domain: Domain) -> pl.DataFrame:
    """(episode_id, attempt, item): the items whose gain shows that the attempt's target was got."""
    return _named(attempts, "item", lambda kind, target: domain.accepts(target, kind))


def seen_names(attempts: pl.DataFrame, domain: Domain) -> pl.DataFrame:
    """(episode_id, attempt, name): the blocks and entities whose sight is the sight of the target."""
    return _named(attempts, "name", lambda kind, target: _looks(domain, kind, target))


@lru_cache(maxsize=4096)
def _looks(domain: Domain, kind: str, target: str) -> frozenset[str]:
    if kind == "combat":
        return frozenset({target})
    items = domain.accepts(target, kind) | domain.expand(target) | {target}
    blocks = {block for block, products in domain.drops.items() if set(products) & items}
    return frozenset(blocks | (items & domain.blocks) | {target})


def _named(attempts: pl.DataFrame, column: str, names: Callable[[str, str], frozenset[str]]) -> pl.DataFrame:
    aims = attempts.select(*KEY, "kind", "target").drop_nulls()
    rows = [
        {"kind": kind, "target": target, column: name}
        for kind, target in aims.select("kind", "target").unique(maintain_order=True).iter_rows()
        for name in sorted(names(kind, target))
    ]
    table = pl.DataFrame(rows, schema={"kind": aims.schema["kind"], "target": pl.String, column: pl.String})
    return aims.join(table, on=["kind", "target"]).select(*KEY, column)
