"""What counts as an attempt's target, from the domain, as frames that can be joined."""

import polars as pl

from warehouse.domains import Domain

KEY = ["episode_id", "attempt"]


def accepted_items(attempts: pl.DataFrame, domain: Domain) -> pl.DataFrame:
    """(episode_id, attempt, item): the items whose gain shows that the attempt's target was got."""
    pairs = attempts.select("kind", "target").drop_nulls().unique(maintain_order=True)
    rows = [
        {"kind": kind, "target": target, "item": item}
        for kind, target in pairs.iter_rows()
        for item in sorted(domain.accepts(target, kind))
    ]
    table = pl.DataFrame(rows, schema={"kind": pairs.schema["kind"], "target": pl.String, "item": pl.String})
    return attempts.select(*KEY, "kind", "target").join(table, on=["kind", "target"]).select(*KEY, "item")


def seen_names(attempts: pl.DataFrame, domain: Domain) -> pl.DataFrame:
    """(episode_id, attempt, name): the blocks and entities whose sight is the sight of the target."""
    pairs = attempts.select("kind", "target").drop_nulls().unique(maintain_order=True)
    rows = []
    for kind, target in pairs.iter_rows():
        items = domain.accepts(target, kind) | domain.expand(target) | {target}
        blocks = {block for block, products in domain.drops.items() if set(products) & items}
        names = {target} if kind == "combat" else blocks | (items & domain.blocks) | {target}
        rows += [{"kind": kind, "target": target, "name": name} for name in sorted(names)]
    table = pl.DataFrame(rows, schema={"kind": pairs.schema["kind"], "target": pl.String, "name": pl.String})
    return attempts.select(*KEY, "kind", "target").join(table, on=["kind", "target"]).select(*KEY, "name")
