"""Causes that the subgoal itself carries: it names what there is not, uses what is not carried, or trades
without the price."""

from functools import lru_cache

import polars as pl

from rollouts.monitor.case import Case
from rollouts.monitor.evidence import as_cause, no_causes
from rollouts.monitor.runs import KEY
from rollouts.monitor.targets import seen_names
from warehouse.domains import Domain


def impossible(case: Case) -> pl.DataFrame:
    """A planned subgoal is handed to the executor as it is, so it is the action: its target is unknown, or
    nothing that its kind can be about (mining an ingot, smelting planks, crafting what has no recipe)."""
    planned = case.attempts.filter(~pl.col("relative").fill_null(True) & pl.col("target").is_not_null())
    aims = planned.select(pl.col("kind").cast(pl.String), "target").unique(maintain_order=True)
    wrong = [pair for pair in aims.drop_nulls().iter_rows() if not _possible(case.domain, *pair)]
    table = pl.DataFrame(wrong, schema={"kind_": pl.String, "target": pl.String}, orient="row")
    return as_cause(
        planned.with_columns(kind_=pl.col("kind").cast(pl.String)).join(table, on=["kind_", "target"]),
        "INVALID_ACTION",
        tick=pl.col("start_tick"),
        name=pl.col("target"),
        text=pl.format("there is no way to {} {}", "kind_", "target"),
    )


@lru_cache(maxsize=4096)
def _possible(domain: Domain, kind: str, target: str) -> bool:
    items = domain.expand(target)
    match kind:
        case "craft":
            return any(domain.recipes.get(item) for item in items)
        case "smelt":
            return bool(domain.accepts(target, kind))
        case "mine":
            named = domain.tags.get(target[1:], frozenset()) if target.startswith("#") else {target}
            return bool(named & domain.blocks) or any(items & set(made) for made in domain.drops.values())
        case "combat":
            left = domain.entity_drops.values()
            return target in domain.entities or any(items & set(made) for made in left)
        case "use":
            return bool(items) or target in domain.blocks | domain.entities | domain.stations
    return True


def not_carried(case: Case) -> pl.DataFrame:
    """A thing was to be used that was never carried, and "use" was pressed all the same. What stands in view
    is used where it stands."""
    uses = case.attempts.filter(
        (pl.col("kind").cast(pl.String) == "use")
        & pl.col("target").is_in(sorted(case.domain.items))
        & pl.col("used").fill_null(False)
        & pl.col("state_before").struct.field("inventory").is_not_null()
    )
    if uses.is_empty():
        return no_causes()
    before = (
        uses.select(*KEY, "target", held=pl.col("state_before").struct.field("inventory"))
        .explode("held")
        .filter(pl.col("held").struct.field("name") == pl.col("target"))
    )
    came = case.inventory_changes.join(
        uses.select(*KEY, "target"), left_on=[*KEY, "item"], right_on=[*KEY, "target"]
    )
    in_view = case.sightings.filter("visible").join(
        seen_names(uses.filter(pl.col("target").is_in(sorted(case.domain.stations))), case.domain),
        on=[*KEY, "name"],
    )
    there = pl.concat([before.select(KEY), came.select(KEY), in_view.select(KEY)]).unique()
    return as_cause(
        uses.join(there, on=KEY, how="anti"),
        "MISSING_INGREDIENT",
        tick=pl.col("first_tick"),
        name=pl.col("target"),
        text=pl.format("{} was to be used and was not carried", "target"),
    )


def unpaid(case: Case) -> pl.DataFrame:
    """A creature that trades was used where it stood in reach, its price was never held, and nothing came."""
    rows = [
        {"target": creature, "offer": number, "item": item, "price": price}
        for creature, offers in sorted(case.domain.trades.items())
        for number, offer in enumerate(offers)
        for item, price in offer.price
    ]
    prices = pl.DataFrame(
        rows, schema={"target": pl.String, "offer": pl.Int32, "item": pl.String, "price": pl.Int32}
    )
    met = case.sightings.filter(pl.col("visible") & pl.col("in_reach")).select(*KEY, target="name").unique()
    asked = case.attempts.filter(
        (pl.col("kind").cast(pl.String) == "use")
        & pl.col("used").fill_null(False)
        & pl.col("state_before").struct.field("inventory").is_not_null()
    ).join(met, on=[*KEY, "target"], how="semi")
    if asked.is_empty():
        return no_causes()
    held = (
        asked.select(*KEY, held=pl.col("state_before").struct.field("inventory"))
        .explode("held")
        .drop_nulls("held")
        .unnest("held")
        .rename({"name": "item", "count": "before"})
    )
    gained = (
        case.inventory_changes.filter(pl.col("delta") > 0)
        .group_by([*KEY, "item"])
        .agg(gained=pl.col("delta").sum())
    )
    short = (
        asked.select(*KEY, "target", "first_tick")
        .join(prices, on="target")
        .join(held, on=[*KEY, "item"], how="left")
        .join(gained, on=[*KEY, "item"], how="left")
        .with_columns(count=pl.col("price") - pl.col("before").fill_null(0) - pl.col("gained").fill_null(0))
    )
    payable = (
        short.group_by([*KEY, "offer"])
        .agg(paid=(pl.col("count") <= 0).all())
        .filter("paid")
        .select(KEY)
        .unique()
    )
    return as_cause(
        short.filter(pl.col("count") > 0).join(payable, on=KEY, how="anti"),
        "MISSING_INGREDIENT",
        tick=pl.col("first_tick"),
        name=pl.col("item"),
        count=pl.col("count").cast(pl.Int32),
        text=pl.format("{} asks for {} {}", "target", "price", "item"),
    )
