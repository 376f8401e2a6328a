"""What became of the blocks that were broken: no drop for want of a tool, no room for it, or it was left. And
those that did not break, where a block does not without a fit tool."""

import polars as pl

from rollouts.monitor.case import Case
from rollouts.monitor.evidence import as_cause, no_causes
from rollouts.monitor.room import room_at
from rollouts.monitor.runs import KEY
from warehouse.domains import Domain


def broken_causes(case: Case) -> pl.DataFrame:
    """MISSING_TOOL, INVENTORY_FULL or TARGET_UNREACHABLE (a drop that was broken loose and not collected)
    for the blocks of the attempt's target. Other blocks were in the way, and need not have dropped."""
    broken = _broken(case)
    unbroken = _struck_in_vain(case)
    if broken.is_empty():
        return unbroken
    return pl.concat([_wrong_tool(broken, case), _left_behind(broken, case), unbroken])


def _struck_in_vain(case: Case) -> pl.DataFrame:
    """A block of the target that takes a tool was in reach and struck, and no fit tool was held at any time
    of the attempt, where a block does not break without one."""
    if not case.domain.unyielding:
        return no_causes()
    struck = case.attempts.filter(
        (pl.col("kind").cast(pl.String) == "mine") & pl.col("attacked").fill_null(False)
    ).join(case.touched, on=KEY, how="anti")
    tools = _tools(sorted(case.domain.harvest), case.domain)
    reached = (
        case.sightings.filter(pl.col("in_reach") & pl.col("visible"))
        .join(case.looks, on=[*KEY, "name"])
        .join(struck.select(KEY), on=KEY, how="semi")
        .filter(pl.col("name").is_in(tools["block"].unique().to_list()))
        .sort([*KEY, "tick", "name"])
        .unique([*KEY, "name"], keep="first", maintain_order=True)
    )
    before = (
        struck.select(*KEY, held=pl.col("state_before").struct.field("inventory"))
        .explode("held")
        .drop_nulls("held")
        .select(*KEY, tool=pl.col("held").struct.field("name"))
    )
    came = case.inventory_changes.select(*KEY, tool="item")
    fit = pl.concat([before, came]).join(tools, on="tool").select(*KEY, name="block").unique()
    knows = case.attempts.filter(pl.col("state_before").struct.field("inventory").is_not_null()).select(KEY)
    return as_cause(
        reached.join(knows, on=KEY, how="semi").join(fit, on=[*KEY, "name"], how="anti"),
        "MISSING_TOOL",
        tick=pl.col("tick"),
        name=pl.col("name"),
        text=pl.format("{} was struck without a tool that breaks it, and did not break", "name"),
    )


def _broken(case: Case) -> pl.DataFrame:
    """(KEY, tick, seq, block, equipped, fit): the target's blocks that broke; `fit` is null where it is not
    known what was held."""
    counted = (
        case.events.filter(
            (pl.col("kind").cast(pl.String) == "counter") & pl.col("name").str.starts_with("mine_block:")
        )
        .select(*KEY, "tick", "seq", block=pl.col("name").str.strip_prefix("mine_block:"))
        .join(case.looks, left_on=[*KEY, "block"], right_on=[*KEY, "name"])
        .sort("tick", "seq")
    )
    if counted.is_empty():
        return counted
    held = case.watched.equipment.sort("tick", maintain_order=True)
    needed = _tools(counted["block"].unique(maintain_order=True).to_list(), case.domain)
    fits = needed.with_columns(fit=pl.lit(True))
    bare = ~pl.col("block").is_in(needed["block"].unique().to_list())
    return (
        counted.join_asof(held, on="tick", by=KEY, check_sortedness=False)
        .join(fits, left_on=["block", "equipped"], right_on=["block", "tool"], how="left")
        .with_columns(
            fit=pl.when(bare)
            .then(True)
            .when(pl.col("equipped").is_not_null())
            .then(pl.col("fit").fill_null(False))
        )
    )


def _tools(blocks: list[str], domain: Domain) -> pl.DataFrame:
    return pl.DataFrame(
        [{"block": block, "tool": tool} for block in blocks for tool in sorted(domain.fit_tools(block))],
        schema={"block": pl.String, "tool": pl.String},
    )


def _wrong_tool(broken: pl.DataFrame, case: Case) -> pl.DataFrame:
    """A block was broken with a tool that cannot harvest it, and nothing of the target came in after."""
    unfit = broken.filter(~pl.col("fit"))
    last = case.gains.group_by(KEY).agg(gained_at=pl.col("tick").max())
    return as_cause(
        unfit.join(last, on=KEY, how="left").filter((pl.col("gained_at") < pl.col("tick")).fill_null(True)),
        "MISSING_TOOL",
        tick=pl.col("tick"),
        seq=pl.col("seq"),
        name=pl.col("block"),
        text=pl.format("{} was broken with {} and gave no drop", "block", "equipped"),
    )


def _left_behind(broken: pl.DataFrame, case: Case) -> pl.DataFrame:
    """More blocks gave their drop than drops came in. One that broke just before the time was over could
    still have been picked up."""
    ends = case.attempts.select(*KEY, "end_tick", "end_reason")
    dropped = (
        broken.filter("fit")
        .join(_usual_drops(case), on=[*KEY, "block"])
        .join(ends, on=KEY)
        .filter(
            (pl.col("end_reason") == "agent_stopped")
            | (pl.col("tick") <= pl.col("end_tick") - case.settings.drop_late)
        )
    )
    gained = case.gains.group_by(KEY).agg(gained=pl.col("delta").sum())
    last = (
        dropped.sort([*KEY, "tick", "seq"])
        .group_by(KEY, maintain_order=True)
        .agg(pl.len().alias("broke"), pl.col("tick", "seq", "block", "item").last())
        .join(gained, on=KEY, how="left")
        .with_columns(pl.col("gained").fill_null(0))
        .filter(pl.col("broke") > pl.col("gained"))
    )
    placed = room_at(last, case).with_columns(full=(pl.col("room") < 1).fill_null(False))
    words = pl.format("{} blocks gave their drop and {} came in", "broke", "gained")
    return pl.concat(
        [
            as_cause(
                placed.filter(full),
                type_,
                tick=pl.col("tick"),
                seq=pl.col("seq"),
                name=pl.col("item"),
                count=(pl.col("broke") - pl.col("gained")).cast(pl.Int32),
                text=words,
            )
            for type_, full in (("INVENTORY_FULL", pl.col("full")), ("TARGET_UNREACHABLE", ~pl.col("full")))
        ]
    )


def _usual_drops(case: Case) -> pl.DataFrame:
    """(KEY, block, item): what a block of the target always leaves, where that is what is wanted."""
    domain = case.domain
    usual = pl.DataFrame(
        [
            {"block": block, "item": drops[0]}
            for block, drops in sorted(domain.drops.items())
            if drops and drops[0] not in domain.rare_drops.get(block, frozenset())
        ],
        schema={"block": pl.String, "item": pl.String},
    )
    return case.accepted.join(usual, on="item").select(*KEY, "block", "item")
