"""Why a craft or a smelting that was tried gave nothing, where nobody says so: what it needed, by the recipes
of the domain, beside what was held and what stood in reach at that moment.

A try is seen in the keys: "craft" or "smelt" in an attempt to craft or smelt something. What was tried is the
attempt's target. A try is in vain when the inventory does not change before the next one.
"""

from typing import Final

import polars as pl

from rollouts.monitor.case import Case
from rollouts.monitor.contradictions import held_at
from rollouts.monitor.evidence import as_cause, no_causes
from rollouts.monitor.room import room_at
from rollouts.monitor.runs import KEY
from warehouse.domains import Domain

_TRY: Final = [*KEY, "seq"]
_PARTS: Final = pl.Schema(
    {
        "target": pl.String(),
        "way": pl.Int32(),
        "makes": pl.String(),
        "makes_count": pl.Int64(),
        "stations": pl.List(pl.String()),
        "name": pl.String(),
        "each": pl.Int64(),
    }
)


def tried_causes(case: Case) -> pl.DataFrame:
    """MISSING_STATION, MISSING_INGREDIENT, NO_FUEL, INVENTORY_FULL, RECIPE_FAIL or SMELT_FAIL for tries in
    vain."""
    tries = _in_vain(case)
    return pl.concat([_crafts(tries.filter(act="craft"), case), _smeltings(tries.filter(act="smelt"), case)])


def _in_vain(case: Case) -> pl.DataFrame:
    """(KEY, tick, act, target, seq) of the attempt's own tries after which nothing changed until the next
    one. `seq` tells them apart and is below that of any change, so that what is held is what was held before
    the tick."""
    own = case.attempts.select(*KEY, "target", act=pl.col("kind").cast(pl.String)).drop_nulls("target")
    tries = (
        case.watched.makings.join(own, on=[*KEY, "act"])
        .sort([*KEY, "tick"])
        .with_columns(
            until=pl.col("tick").shift(-1).over(KEY),
            seq=-1 - pl.int_range(pl.len(), dtype=pl.Int32).over(KEY),
        )
    )
    changes = case.inventory_changes.select(*KEY, changed_at=pl.col("tick"))
    came = (
        tries.join(changes, on=KEY)
        .filter(
            (pl.col("changed_at") >= pl.col("tick"))
            & (pl.col("changed_at") < pl.col("until")).fill_null(True)
        )
        .select(_TRY)
        .unique()
    )
    return tries.join(came, on=_TRY, how="anti").drop("until")


# Crafting --------------------------------------------------------------------------------------------------


def _crafts(tries: pl.DataFrame, case: Case) -> pl.DataFrame:
    """Each try by the way that was least short of anything, the first of these. Of a target with several
    members it was the one that had come in this attempt before, where one had."""
    if tries.is_empty():
        return no_causes()
    parts = _recipes(tries, case.domain)
    before = _made_before(tries, case)
    needed = tries.join(before, on=_TRY, how="left").join(parts, on="target")
    needed = needed.filter((pl.col("made") == pl.col("makes")).fill_null(True))
    held = held_at(needed, case)
    short = (pl.col("each") - pl.col("held")).clip(lower_bound=0)
    ways = (
        needed.join(held, on=[*_TRY, "name"])
        .with_columns(short=short)
        .group_by([*_TRY, "tick", "way", "makes", "makes_count", "stations"])
        .agg(
            short=pl.col("short").sum(),
            items=pl.struct("name", pl.col("short").cast(pl.Int32).alias("count"))
            .filter(pl.col("short") > 0)
            .sort_by(pl.col("name").filter(pl.col("short") > 0)),
        )
        .filter(pl.col("short") == pl.col("short").min().over(_TRY))
        .sort([*_TRY, "way"])
        .with_columns(alike=pl.col("items").over(_TRY, mapping_strategy="join"))
        .unique(_TRY, keep="first", maintain_order=True)
    )
    ways = _at_stations(_alike(ways, case.domain), case)
    ways = room_at(ways.with_columns(item=pl.col("makes")), case)
    # A source that cannot see leaves open whether there was a table.
    whole = (pl.col("short") == 0) & (pl.col("lacks") == "")
    is_full = whole & (pl.col("room") < pl.col("makes_count")).fill_null(False)
    return pl.concat(
        [
            as_cause(
                ways.filter(pl.col("lacks") != ""),
                "MISSING_STATION",
                tick=pl.col("tick"),
                name=pl.col("lacks"),
                text=pl.format("{} was tried and needs a station; none was in reach", "makes"),
            ),
            as_cause(
                ways.filter(pl.col("short") > 0),
                "MISSING_INGREDIENT",
                tick=pl.col("tick"),
                name=pl.col("items").list.first().struct.field("name"),
                items=pl.col("items"),
                text=pl.format("{} was tried and materials were short", "makes"),
            ),
            as_cause(
                ways.filter(is_full),
                "INVENTORY_FULL",
                tick=pl.col("tick"),
                name=pl.col("makes"),
                text=pl.format("{} was tried and the inventory had room for {}", "makes", "room"),
            ),
            as_cause(
                ways.filter(whole & ~is_full),
                "RECIPE_FAIL",
                tick=pl.col("tick"),
                name=pl.col("makes"),
                text=pl.format("{} was tried with everything it needs and did not come", "makes"),
            ),
        ]
    )


def _alike(ways: pl.DataFrame, domain: Domain) -> pl.DataFrame:
    """Where several ways were as short as the first, each of one thing: short of what any of them takes (logs
    and not those of the wood that comes first), if there is a tag for these."""
    named = pl.col("alike").list.eval(pl.element().list.eval(pl.element().struct.field("name")))
    single = pl.col("alike").list.eval(pl.element().list.len() == 1).list.all()
    ways = ways.with_columns(
        names=pl.when(single).then(named.list.eval(pl.element().list.first()).list.unique().list.sort())
    ).drop("alike")
    tags = {
        names: domain.narrowest_tag(frozenset().union(*map(domain.expand, names)))
        for names in sorted({tuple(each) for each in ways["names"].drop_nulls() if len(each) > 1})
    }
    common = pl.DataFrame(
        {"names": [list(names) for names in tags], "tag": list(tags.values())},
        schema={"names": pl.List(pl.String), "tag": pl.String},
    )
    count = pl.col("items").list.first().struct.field("count")
    return (
        ways.join(common, on="names", how="left", maintain_order="left")
        .with_columns(
            items=pl.when(pl.col("tag").is_null())
            .then("items")
            .otherwise(pl.concat_list(pl.struct(name="tag", count=count)))
        )
        .drop("names", "tag")
    )


def _recipes(tries: pl.DataFrame, domain: Domain) -> pl.DataFrame:
    """(target, way, makes, makes_count, stations, name, each): every ingredient of every way to craft a
    target, or a member of it."""
    rows = [
        {
            "target": target,
            "way": way,
            "makes": recipe.item,
            "makes_count": recipe.count,
            "stations": list(domain.stations_of(recipe)),
            "name": name,
            "each": each,
        }
        for target in tries["target"].unique(maintain_order=True)
        for way, recipe in enumerate(
            recipe for item in sorted(domain.expand(target)) for recipe in domain.recipes.get(item, ())
        )
        for name, each in recipe.ingredients
    ]
    return pl.DataFrame(rows, schema=_PARTS)


def _made_before(tries: pl.DataFrame, case: Case) -> pl.DataFrame:
    """(KEY, seq, made): the last thing of the target's that had come in before the try; no row for none."""
    gains = case.gains.select(*KEY, made="item", made_at="tick", made_seq="seq")
    return (
        tries.join(gains, on=KEY)
        .filter(pl.col("made_at") < pl.col("tick"))
        .sort([*_TRY, "made_at", "made_seq"])
        .group_by(_TRY, maintain_order=True)
        .agg(pl.col("made").last())
    )


def _at_stations(tries: pl.DataFrame, case: Case) -> pl.DataFrame:
    """`lacks`: the first of the `stations` that was not in reach at the tick, "" where all were; null where
    the source cannot see."""
    tries = tries.with_columns(lacks=pl.lit(""))
    for station in tries["stations"].list.explode().unique(maintain_order=True).drop_nulls():
        needed = pl.col("stations").list.contains(station)
        lack = (
            pl.when(pl.col("lacks") != "")
            .then("lacks")
            .when("at_station")
            .then(pl.lit(""))
            .when(~pl.col("at_station"))
            .then(pl.lit(station))
        )
        tries = _with_station(tries, station, case)
        tries = tries.with_columns(lacks=pl.when(needed).then(lack).otherwise("lacks")).drop("at_station")
    return tries


def _with_station(tries: pl.DataFrame, station: str, case: Case) -> pl.DataFrame:
    """`at_station`: whether the station was in reach at the tick; null where the source cannot see."""
    sees = case.attempts.select(*KEY, sees=pl.col("observes").list.contains("sightings"))
    looks = (
        case.sightings.filter(pl.col("name") == station)
        .sort("tick")
        .select(*KEY, "tick", reached=pl.col("in_reach").fill_null(False) & pl.col("visible"))
    )
    return (
        tries.sort("tick")
        .join_asof(looks, on="tick", by=KEY, check_sortedness=False)
        .join(sees, on=KEY, how="left", maintain_order="left")
        .with_columns(at_station=pl.when("sees").then(pl.col("reached").fill_null(False)))
        .drop("sees", "reached")
        .sort(_TRY)
    )


# Smelting --------------------------------------------------------------------------------------------------


def _smeltings(tries: pl.DataFrame, case: Case) -> pl.DataFrame:
    """The same key puts in and takes out. While more was put in than came out, a try in vain is a piece that
    is waited for: then the fuel that was given did not suffice for it, or it had no room, or it is not done
    yet. Else it is a piece that could not be put in."""
    if tries.is_empty():
        return no_causes()
    station = case.domain.smelting_station
    tries = _with_station(_with_contents(tries, case), station, case)
    products = case.accepted.sort([*KEY, "item"]).unique(KEY, keep="first")
    tries = room_at(tries.join(products, on=KEY), case)
    waits = pl.col("inside") > 0
    is_full = waits & (pl.col("room") < 1).fill_null(False)
    loads = tries.filter(~waits)
    no_input = (pl.col("inputs") < 1) & pl.col("at_station").fill_null(True)
    no_fuel = (pl.col("inputs") > 0) & (pl.col("fuels") < 1) & pl.col("at_station").fill_null(True)
    whole = pl.col("at_station") & (pl.col("inputs") > 0) & (pl.col("fuels") > 0)
    burnt_down = tries.filter(waits & ~is_full & (pl.col("fuel_worth") < pl.col("loaded")))
    return pl.concat(
        [
            as_cause(
                loads.filter(~pl.col("at_station")),
                "MISSING_STATION",
                tick=pl.col("tick"),
                name=pl.lit(station),
                text=pl.format("{} was tried and needs a station; none was in reach", "item"),
            ),
            as_cause(
                loads.filter(no_fuel),
                "NO_FUEL",
                tick=pl.col("tick"),
                text=pl.format("{} was tried without anything that burns", "item"),
            ),
            as_cause(
                burnt_down,
                "NO_FUEL",
                tick=pl.col("tick"),
                text=pl.format("fuel for {} of {} that were put in", pl.col("fuel_worth"), "loaded"),
            ),
            as_cause(
                loads.filter(no_input),
                "MISSING_INGREDIENT",
                tick=pl.col("tick"),
                name=pl.col("source"),
                text=pl.format("{} was tried with nothing to make it of", "item"),
            ),
            as_cause(
                tries.filter(is_full),
                "INVENTORY_FULL",
                tick=pl.col("tick"),
                name=pl.col("item"),
                text=pl.format("{} was done and the inventory had no room", "item"),
            ),
            as_cause(
                loads.filter(whole),
                "SMELT_FAIL",
                tick=pl.col("tick"),
                name=pl.col("item"),
                text=pl.format("{} was tried with everything it needs and was not taken", "item"),
            ),
        ]
    )


def _with_contents(tries: pl.DataFrame, case: Case) -> pl.DataFrame:
    """What had gone in and come out before the try, and what was held: `loaded`, `inside` (pieces),
    `fuel_worth` (pieces that the spent fuel suffices for), `inputs`, `fuels` (held), `source` (an input)."""
    domain = case.domain
    rows = [
        {"target": target, "name": source}
        for target in tries["target"].unique(maintain_order=True)
        for source, product in sorted(domain.smelting.items())
        if product in domain.accepts(target, "smelt")
    ]
    sources = pl.DataFrame(rows, schema={"target": pl.String, "name": pl.String})
    fuels = pl.DataFrame(
        {"name": sorted(domain.fuels), "worth": [domain.fuels[fuel] for fuel in sorted(domain.fuels)]},
        schema={"name": pl.String, "worth": pl.Float64},
    )
    given = tries.join(sources, on="target")
    burning = tries.join(fuels, how="cross")
    held_inputs = held_at(given, case).group_by(_TRY).agg(inputs=pl.col("held").sum())
    held_fuels = held_at(burning, case).group_by(_TRY).agg(fuels=pl.col("held").sum())
    changes = case.inventory_changes.select(*KEY, "delta", name="item", changed_at="tick")

    def spent(rows: pl.DataFrame) -> pl.DataFrame:
        before = rows.join(changes, on=[*KEY, "name"])
        return before.filter((pl.col("changed_at") < pl.col("tick")) & (pl.col("delta") < 0))

    loaded = spent(given).group_by(_TRY).agg(loaded=-pl.col("delta").sum())
    burnt = spent(burning).group_by(_TRY).agg(fuel_worth=-(pl.col("delta") * pl.col("worth")).sum())
    gained = (
        tries.join(case.accepted.rename({"item": "name"}), on=KEY)
        .join(changes, on=[*KEY, "name"])
        .filter((pl.col("changed_at") < pl.col("tick")) & (pl.col("delta") > 0))
        .group_by(_TRY)
        .agg(gained=pl.col("delta").sum())
    )
    first = sources.group_by("target", maintain_order=True).agg(source=pl.col("name").first())
    return (
        tries.join(first, on="target", how="left")
        .join(held_inputs, on=_TRY, how="left")
        .join(held_fuels, on=_TRY, how="left")
        .join(loaded, on=_TRY, how="left")
        .join(burnt, on=_TRY, how="left")
        .join(gained, on=_TRY, how="left")
        .with_columns(pl.col("inputs", "fuels", "loaded", "fuel_worth", "gained").fill_null(0))
        .with_columns(inside=pl.col("loaded") - pl.col("gained"))
    )
