"""Words that the inventory contradicts: "not enough planks" while holding them, "no pickaxe" with one held.

Observations outrank the agent's words: what is contradicted is no shortage, and may be why the agent stopped.
"""

from typing import Final

import polars as pl

from rollouts.monitor.case import Case
from rollouts.monitor.runs import KEY
from warehouse.domains import Domain

_SAID: Final = ("missing_requirement", "missing_tool")
_PLACE: Final = [*KEY, "seq"]


def contradicted(case: Case) -> pl.DataFrame:
    """(episode_id, attempt, seq) of words about a lack that the inventory at that moment contradicts:

    - "not enough X" while holding as many X as are named, else as some recipe of the target needs of X;
    - "not enough materials" while holding everything that some recipe of the target needs;
    - "no pickaxe", "need a stone pickaxe" while holding one, or a better one.
    """
    said = (
        case.events.select(*_PLACE, "tick", "signal", "name", "count")
        .with_columns(pl.col("signal").cast(pl.String))
        .filter(pl.col("signal").is_in(list(_SAID)))
    )
    if said.is_empty():
        return said.select(_PLACE)
    wants = said.filter(pl.col("signal") == "missing_requirement")
    found = [_enough(wants, case), _everything(wants, case), _tool_at_hand(said, case)]
    return pl.concat(found).unique(maintain_order=True)


def _enough(wants: pl.DataFrame, case: Case) -> pl.DataFrame:
    """Of one thing, as many as were wanted."""
    named = wants.filter(pl.col("name").is_not_null())
    needs = _needs(case.attempts, named["name"].unique(maintain_order=True).to_list(), case.domain)
    return (
        named.join(held_at(named, case), on=[*_PLACE, "name"])
        .join(needs, on=[*KEY, "name"], how="left")
        .filter(pl.col("held") >= pl.coalesce("count", "recipe_needs"))
        .select(_PLACE)
    )


def _everything(wants: pl.DataFrame, case: Case) -> pl.DataFrame:
    """Of every ingredient of one recipe of the target, as many as it needs."""
    unnamed = wants.filter(pl.col("name").is_null()).drop("name", "count")
    targets = case.attempts.select(*KEY, "target").drop_nulls()
    rows = [
        {"target": target, "recipe": number, "name": name, "each": count}
        for target in targets["target"].unique(maintain_order=True)
        for number, recipe in enumerate(case.domain.recipes.get(target, ()))
        for name, count in recipe.ingredients
    ]
    schema = {"target": pl.String, "recipe": pl.Int32, "name": pl.String, "each": pl.Int32}
    needed = unnamed.join(targets, on=KEY).join(pl.DataFrame(rows, schema=schema), on="target")
    return (
        needed.join(held_at(needed, case), on=[*_PLACE, "name"])
        .group_by([*_PLACE, "recipe"], maintain_order=True)
        .agg(enough=(pl.col("held") >= pl.col("each")).all())
        .filter("enough")
        .select(_PLACE)
        .unique(maintain_order=True)
    )


def _tool_at_hand(said: pl.DataFrame, case: Case) -> pl.DataFrame:
    """A tool of the class that was named, of at least its tier."""
    named = said.filter((pl.col("signal") == "missing_tool") & pl.col("name").is_not_null())
    rows = [
        {"wanted": wanted, "name": tool}
        for wanted in named["name"].unique(maintain_order=True)
        for tool in _as_good_as(wanted, case.domain)
    ]
    fit = pl.DataFrame(rows, schema={"wanted": pl.String, "name": pl.String})
    asked = named.select(*_PLACE, "tick", wanted="name").join(fit, on="wanted")
    return asked.join(held_at(asked, case).filter(pl.col("held") > 0), on=[*_PLACE, "name"]).select(_PLACE)


def _as_good_as(wanted: str, domain: Domain) -> list[str]:
    """The tools of a class, or of a tool's class and at least its tier."""
    if wanted in domain.tool_classes:
        return sorted(domain.tool_classes[wanted])
    if wanted not in domain.tools:
        return []
    of_class, tier = domain.tools[wanted]
    lowest = domain.tool_tiers.index(tier)
    return sorted(
        tool
        for tool, (other, level) in domain.tools.items()
        if other == of_class and domain.tool_tiers.index(level) >= lowest
    )


def _needs(attempts: pl.DataFrame, names: list[str], domain: Domain) -> pl.DataFrame:
    """(episode_id, attempt, name, recipe_needs): the least that one craft of the target needs of a thing,
    by its own name or by a tag that it belongs to."""
    rows = []
    for target in attempts["target"].drop_nulls().unique(maintain_order=True):
        ingredients = [part for recipe in domain.recipes.get(target, ()) for part in recipe.ingredients]
        for name in names:
            items = domain.expand(name) or frozenset({name})
            counts = [count for other, count in ingredients if items & (domain.expand(other) or {other})]
            if counts:
                rows.append({"target": target, "name": name, "recipe_needs": min(counts)})
    table = pl.DataFrame(rows, schema={"target": pl.String, "name": pl.String, "recipe_needs": pl.Int32})
    return attempts.select(*KEY, "target").join(table, on="target").select(*KEY, "name", "recipe_needs")


def held_at(said: pl.DataFrame, case: Case) -> pl.DataFrame:
    """(episode_id, attempt, seq, name, held): how many of the thing that a row of `said` names (keys, tick,
    seq, name) were held when it was said."""
    members = pl.DataFrame(
        [
            {"name": name, "item": item}
            for name in said["name"].drop_nulls().unique(maintain_order=True)
            for item in sorted(case.domain.expand(name) or {name})
        ],
        schema={"name": pl.String, "item": pl.String},
    )
    wanted = said.select(*KEY, "tick", "seq", "name").unique(maintain_order=True).join(members, on="name")
    baseline = (
        case.attempts.select(*KEY, held=pl.col("state_before").struct.field("inventory"))
        .drop_nulls("held")
        .explode("held")
        .drop_nulls("held")
        .unnest("held")
        .rename({"name": "item", "count": "before"})
    )
    changes = case.inventory_changes.select(
        *KEY, "item", "delta", changed_at=pl.col("tick"), changed_seq=pl.col("seq")
    )
    gained = (
        wanted.join(changes, on=[*KEY, "item"], how="inner")
        .filter(
            (pl.col("changed_at") < pl.col("tick"))
            | ((pl.col("changed_at") == pl.col("tick")) & (pl.col("changed_seq") <= pl.col("seq")))
        )
        .group_by([*KEY, "seq", "item"])
        .agg(pl.col("delta").sum())
    )
    return (
        wanted.join(baseline, on=[*KEY, "item"], how="left")
        .join(gained, on=[*KEY, "seq", "item"], how="left")
        .group_by([*KEY, "seq", "name"], maintain_order=True)
        .agg((pl.col("before").fill_null(0) + pl.col("delta").fill_null(0)).sum().alias("held"))
    )
