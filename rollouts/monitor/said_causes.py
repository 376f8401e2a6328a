"""Causes that a message or a result names. The wording was read by the importer; here a signal meets the
attempt: does the inventory agree, did the run go on, was the thing seen after all?"""

from typing import Final

import polars as pl

from rollouts.monitor.case import Case
from rollouts.monitor.contradictions import contradicted, held_at
from rollouts.monitor.evidence import EVIDENCE, no_causes
from rollouts.monitor.runs import KEY
from warehouse.domains import Domain

# Signals whose mere occurrence in a failed attempt is the condition.
DIRECT: Final = {
    "died": "DEATH",
    "invalid_action": "INVALID_ACTION",
    "inventory_full": "INVENTORY_FULL",
    "missing_station": "MISSING_STATION",
    "missing_tool": "MISSING_TOOL",
    "missing_fuel": "NO_FUEL",
    "missing_item": "MISSING_INGREDIENT",
    "drop_lost": "TARGET_UNREACHABLE",
    "out_of_reach": "TARGET_UNREACHABLE",
    "path_blocked": "NAV_STUCK",
}


def said_causes(case: Case) -> pl.DataFrame:
    """Every cause that an event names, with that event as its evidence."""
    events = case.events.filter(pl.col("signal").is_not_null()).with_columns(pl.col("signal").cast(pl.String))
    if events.is_empty():
        return no_causes()
    direct = (
        events.filter(pl.col("signal").is_in(list(DIRECT)))
        .join(contradicted(case), on=[*KEY, "seq"], how="anti")
        .with_columns(type=pl.col("signal").replace_strict(DIRECT, return_dtype=pl.String))
    )
    parts = [
        direct,
        _lost_connection(events, case),
        _unmet_requirement(events, case),
        _failed_result(events, case),
        _absent(events, case),
    ]
    return pl.concat([part.select(*KEY, "type", *EVIDENCE) for part in parts])


def _lost_connection(events: pl.DataFrame, case: Case) -> pl.DataFrame:
    """A lost connection ends the environment only if nothing works any more after it."""
    works = pl.concat(
        [
            events.filter(pl.col("signal") == "done").select(*KEY, "tick", "seq"),
            case.inventory_changes.select(*KEY, "tick", "seq"),
        ]
    )
    last = (
        works.sort([*KEY, "tick", "seq"])
        .unique(KEY, keep="last", maintain_order=True)
        .rename({"tick": "works_at", "seq": "works_seq"})
    )
    works_after = (pl.col("works_at") > pl.col("tick")) | (
        (pl.col("works_at") == pl.col("tick")) & (pl.col("works_seq") > pl.col("seq"))
    )
    return (
        events.filter(pl.col("signal") == "connection_lost")
        .join(last, on=KEY, how="left")
        .filter(~works_after.fill_null(False))
        .with_columns(type=pl.lit("INFRASTRUCTURE"))
    )


def _unmet_requirement(events: pl.DataFrame, case: Case) -> pl.DataFrame:
    """The agent's own word that something is short, unless its inventory shows that it held enough."""
    said = events.filter(pl.col("signal") == "missing_requirement")
    return said.join(contradicted(case), on=[*KEY, "seq"], how="anti").with_columns(
        type=pl.lit("MISSING_INGREDIENT")
    )


def _failed_result(events: pl.DataFrame, case: Case) -> pl.DataFrame:
    """A craft or smelt that was carried out and gave nothing: for want of materials if the inventory before
    it shows that they were short for the number tried, else a failure of the recipe or the smelting."""
    parts = pl.col("name").str.split(":")
    failed = events.filter(pl.col("signal") == "result_failed").with_columns(
        # A result without its verb is of what the attempt was about.
        verb=pl.when(parts.list.len() > 1).then(parts.list.first()),
        thing=parts.list.last(),
    )
    if failed.is_empty():
        return failed.with_columns(type=pl.lit("UNKNOWN"))
    wanted = failed.join(_ways(failed, case.domain), on=["verb", "thing"]).select(
        *KEY, "tick", "seq", "way", name="ingredient", wanted=pl.col("each") * pl.col("count").fill_null(1)
    )
    # The message follows the try: what the try used up is counted as held again by looking one event back.
    held = held_at(wanted.with_columns(seq=pl.col("seq") - 1), case).with_columns(seq=pl.col("seq") + 1)
    short = (
        wanted.join(held, on=[*KEY, "seq", "name"])
        .group_by([*KEY, "seq", "way"])
        .agg(enough=(pl.col("held") >= pl.col("wanted")).all())
        .group_by([*KEY, "seq"])
        .agg(short=~pl.col("enough").any())
    )
    kinds = case.attempts.select(*KEY, aim=pl.col("kind").cast(pl.String))
    return (
        failed.join(short, on=[*KEY, "seq"], how="left")
        .join(kinds, on=KEY, how="left")
        .with_columns(
            type=pl.when(pl.col("short").fill_null(False))
            .then(pl.lit("MISSING_INGREDIENT"))
            .when(pl.coalesce("verb", "aim") == "smelt")
            .then(pl.lit("SMELT_FAIL"))
            .otherwise(pl.lit("RECIPE_FAIL"))
        )
    )


def _ways(failed: pl.DataFrame, domain: Domain) -> pl.DataFrame:
    """(verb, thing, way, ingredient, each): for each thing that was tried, the ways to make it and what
    one try of each way needs."""
    rows: list[dict[str, object]] = []
    for verb, thing in failed.select("verb", "thing").unique(maintain_order=True).iter_rows():
        if verb == "smelt":
            ways: list[tuple[tuple[str, int], ...]] = [
                ((given, 1),) for given, product in sorted(domain.smelting.items()) if product == thing
            ]
        else:
            ways = [recipe.ingredients for recipe in domain.recipes.get(thing, ())]
        rows += [
            {"verb": verb, "thing": thing, "way": way, "ingredient": name, "each": each}
            for way, ingredients in enumerate(ways)
            for name, each in ingredients
        ]
    schema = {
        "verb": pl.String,
        "thing": pl.String,
        "way": pl.Int32,
        "ingredient": pl.String,
        "each": pl.Int32,
    }
    return pl.DataFrame(rows, schema=schema)


def _absent(events: pl.DataFrame, case: Case) -> pl.DataFrame:
    """A search that found nothing, unless what was searched for came into view in the same attempt."""
    absent = events.filter(pl.col("signal") == "target_absent")
    sighted = case.sightings.filter("visible").select(*KEY, "name").unique()
    target_seen = case.looks.join(sighted, on=[*KEY, "name"]).select(KEY).unique()
    unnamed = absent.filter(pl.col("name").is_null()).join(target_seen, on=KEY, how="anti")
    named = absent.filter(pl.col("name").is_not_null()).join(sighted, on=[*KEY, "name"], how="anti")
    return pl.concat([unnamed, named]).with_columns(type=pl.lit("TARGET_NOT_FOUND"))
