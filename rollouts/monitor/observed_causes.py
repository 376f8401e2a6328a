"""Causes that nobody names: what the ticks, counters, sightings and inventory show by themselves."""

import polars as pl

from rollouts.monitor.case import Case
from rollouts.monitor.evidence import as_cause, no_causes
from rollouts.monitor.runs import KEY


def infrastructure(case: Case) -> pl.DataFrame:
    """The source recorded nothing of the attempt, or says that the environment ended it."""
    ended = case.attempts.filter(pl.col("end_reason") == "infrastructure")
    return as_cause(
        ended,
        "INFRASTRUCTURE",
        tick=pl.col("end_tick"),
        text=pl.when(pl.col("n_ticks").fill_null(0) == 0)
        .then(pl.lit("no event was recorded"))
        .otherwise(pl.lit("the recording or its environment broke off")),
    )


def death(case: Case) -> pl.DataFrame:
    """alive = false, an attempt that ended in death, or health and hunger both jumping to what a new life
    starts with, with nothing eaten (also when the attempt went on afterwards)."""
    signs = case.watched.deaths
    meals = _meals(case).select(*KEY, eaten_at=pl.col("tick"))
    fed = (
        signs.filter(~pl.col("dead"))
        .join(meals, on=KEY)
        .filter((pl.col("eaten_at") > pl.col("tick_before")) & (pl.col("eaten_at") <= pl.col("tick")))
        .select(*KEY, "tick")
    )
    by_ticks = as_cause(
        signs.join(fed, on=[*KEY, "tick"], how="anti"),
        "DEATH",
        tick=pl.col("tick"),
        text=pl.when(pl.col("dead"))
        .then(pl.lit("alive = false"))
        .otherwise(
            pl.format(
                "health {} and hunger {} jumped to their spawn values with nothing eaten",
                pl.col("health_before").round(1),
                pl.col("hunger_before").round(1),
            )
        ),
    )
    ended = case.attempts.filter(pl.col("end_reason") == "death")
    return pl.concat(
        [
            by_ticks,
            as_cause(ended, "DEATH", tick=pl.col("end_tick"), text=pl.lit("the attempt ended in death")),
        ]
    )


def _meals(case: Case) -> pl.DataFrame:
    """Changes that are a meal: food went down. A death takes whole stacks, and all of them at once, so a
    stack that is gone is a meal only if nothing else changed."""
    changed = pl.len().over([*KEY, "tick"])
    return case.inventory_changes.with_columns(changed=changed).filter(
        (pl.col("delta") < 0)
        & pl.col("item").is_in(sorted(case.domain.foods))
        & ((pl.col("count") > 0) | (pl.col("changed") == 1))
    )


def gui_stall(case: Case) -> pl.DataFrame:
    """A GUI stayed open and nothing in it or in the inventory changed: to the attempt's end, or for 5 s."""
    until_end = pl.col("to_end") & (pl.col("length") >= case.settings.gui_stall_at_end)
    stalls = (
        _still_screens(case)
        .filter((pl.col("length") >= case.settings.gui_stall) | until_end)
        .sort([*KEY, "opened"])
    )
    return as_cause(
        stalls,
        "GUI_STALL",
        tick=pl.col("opened"),
        count=pl.col("length"),
        text=pl.format("a GUI was open for {} ticks and nothing changed", "length"),
    )


def _still_screens(case: Case) -> pl.DataFrame:
    """Stretches with a GUI open, cut where the inventory changed: KEY, `opened`, `length` in
    ticks, `to_end`."""
    screens = case.watched.screens.with_row_index("screen")
    changes = case.inventory_changes.select(*KEY, changed_at=pl.col("tick")).unique()
    cuts = (
        screens.join(changes, on=KEY)
        .filter((pl.col("changed_at") > pl.col("opened")) & (pl.col("changed_at") <= pl.col("seen_open")))
        .with_columns(opened=pl.col("changed_at"))
        .drop("changed_at")
    )
    next_cut = pl.col("opened").shift(-1).over("screen")
    return (
        pl.concat([screens, cuts])
        .sort("screen", "opened")
        .with_columns(
            length=pl.coalesce(next_cut, pl.col("seen_open") + 1) - pl.col("opened"),
            to_end=pl.col("to_end") & next_cut.is_null(),
        )
        .drop("screen")
    )


def target_not_found(case: Case) -> pl.DataFrame:
    """A source that can see never saw the target, while the agent covered ground."""
    searching = _seekers(case).filter(pl.col("extent") >= case.settings.searched)
    if searching.is_empty():
        return no_causes()
    seen = case.sightings.filter("visible").select(*KEY, "name").unique()
    found = case.looks.join(seen, on=[*KEY, "name"]).select(KEY).unique()
    return as_cause(
        searching.join(found, on=KEY, how="anti").join(case.touched, on=KEY, how="anti"),
        "TARGET_NOT_FOUND",
        tick=pl.col("last_tick"),
        name=pl.col("target"),
        text=pl.format("never in view over {} blocks", pl.col("extent").round(1)),
    )


def target_unreachable(case: Case) -> pl.DataFrame:
    """The target was in view, known to be out of reach, the agent moved and never got to it: it never came
    within reach, or it pressed on before it to the end and never laid hands on it (distance alone is no reach
    where something stands between)."""
    moving = _seekers(case).filter(pl.col("extent") >= case.settings.hardly_moved).select(KEY)
    if moving.is_empty():
        return no_causes()
    looks = case.sightings.filter("visible").join(case.looks, on=[*KEY, "name"])
    kind = pl.col("kind").cast(pl.String)
    hands_on = (
        pl.when(kind.is_in(["mine", "combat"]))
        .then("attacked")
        .when(kind == "use")
        .then("used")
        .otherwise(True)
    )
    able = case.attempts.filter(hands_on.fill_null(True) | ~_pressing_on(case)).select(KEY)
    reached = looks.filter(pl.col("in_reach")).select(KEY).unique().join(able, on=KEY, how="semi")
    far = (
        looks.filter(~pl.col("in_reach"))
        .sort([*KEY, "tick"], maintain_order=True)
        .unique(KEY, keep="first", maintain_order=True)
    )
    return as_cause(
        far.join(moving, on=KEY).join(reached, on=KEY, how="anti").join(case.touched, on=KEY, how="anti"),
        "TARGET_UNREACHABLE",
        tick=pl.col("tick"),
        name=pl.col("name"),
        text=pl.format("seen at {} blocks and never within reach", pl.col("distance").round(1)),
    )


def stuck(case: Case) -> pl.DataFrame:
    """The agent pressed to move and hardly did, in all of the attempt or at its end, or ran through the same
    cells again and again."""
    duration = pl.col("last_tick") - pl.col("first_tick")
    pressed = (
        (pl.col("pressing") >= case.settings.pressing_share)
        & (pl.col("extent") < case.settings.hardly_moved)
        & (duration >= case.settings.stuck_ticks)
    )
    circled = (pl.col("cell_loop") >= case.settings.loop_score) & (duration >= case.settings.stuck_ticks)
    held = case.attempts.filter(
        pl.col("kind").cast(pl.String).is_in(["mine", "combat", "move", "use"])
        & pl.any_horizontal(each.fill_null(False) for each in (pressed, _pressing_on(case), circled))
    )
    return as_cause(
        held,
        "NAV_STUCK",
        tick=pl.col("last_tick"),
        text=pl.format(
            "stayed within {} blocks, {} at the end; {} of its cells were entered before",
            pl.col("extent").round(1),
            pl.col("extent_last").round(1),
            pl.col("cell_loop").round(2),
        ),
    )


def _pressing_on(case: Case) -> pl.Expr:
    """Whether it pressed to move at the end and hardly did."""
    return (
        (pl.col("pressing_last") >= case.settings.pressing_share)
        & (pl.col("extent_last") < case.settings.hardly_moved)
        & (pl.col("last_tick") - pl.col("first_tick") >= case.settings.stuck_ticks)
    ).fill_null(False)


def no_action(case: Case) -> pl.DataFrame:
    """Observations, but no acting event, no error, no pressed key, and nothing that moved or changed; or a
    planned step whose executor stopped before a single tick had passed."""
    acting = pl.concat(
        [
            case.events.filter(
                (pl.col("kind").cast(pl.String) != "game") | pl.col("signal").is_not_null()
            ).select(KEY),
            case.inventory_changes.select(KEY),
        ]
    ).unique()
    idle = case.attempts.filter(
        ((pl.col("n_ticks") > 0) | ((pl.col("end_reason") == "agent_stopped") & ~pl.col("relative")))
        & ~pl.col("acted").fill_null(False)
        & (pl.col("extent").fill_null(0) < case.settings.hardly_moved)
        & (pl.col("end_reason") != "infrastructure")
    )
    return as_cause(
        idle.join(acting, on=KEY, how="anti"),
        "NO_ACTION",
        tick=pl.coalesce("last_tick", "end_tick"),
        text=pl.format("{} observations and no action", pl.col("n_ticks").fill_null(0)),
    )


def timeout(case: Case) -> pl.DataFrame:
    """The budget ended while progress was still being made: the body or the inventory had changed over the
    last 20 s, or a block had broken (who digs through stone by hand stands still meanwhile)."""
    ended = case.attempts.filter(pl.col("end_reason").cast(pl.String).is_in(["timeout", "horizon"]))
    broke = (
        case.events.filter(pl.col("name").str.starts_with("mine_block:"))
        .join(ended.select(*KEY, "end_tick"), on=KEY)
        .filter(pl.col("tick") > pl.col("end_tick") - case.settings.recent_ticks)
        .group_by(KEY)
        .agg(broke=pl.len())
    )
    going_on = (
        ended.join(broke, on=KEY, how="left", maintain_order="left")
        .with_columns(pl.col("broke").fill_null(0))
        .filter((pl.col("progress_last") >= case.settings.epsilon_progress) | (pl.col("broke") > 0))
    )
    return as_cause(
        going_on,
        "TIMEOUT",
        tick=pl.col("end_tick"),
        text=pl.format(
            "progress over the last 20 s was {}; {} blocks broke",
            pl.col("progress_last").round(3),
            "broke",
        ),
    )


def _seekers(case: Case) -> pl.DataFrame:
    """Attempts that go to something out there and whose source can see. To use something is to go to it if
    it is a creature or a station that is not carried."""
    kind = pl.col("kind").cast(pl.String)
    places = sorted(case.domain.entities | case.domain.stations)
    carried = (
        case.attempts.select(*KEY, "target", held=pl.col("state_before").struct.field("inventory"))
        .explode("held")
        .filter(pl.col("held").struct.field("name") == pl.col("target"))
        .select(KEY)
    )
    to_use = case.attempts.filter((kind == "use") & pl.col("target").is_in(places)).join(
        carried, on=KEY, how="anti", maintain_order="left"
    )
    to_go = case.attempts.filter(
        kind.is_in(["mine", "combat"])
        | ((kind == "move") & pl.col("target").is_in([*places, *sorted(case.domain.blocks)]))
    )
    return pl.concat([to_go, to_use]).filter(
        pl.col("target").is_not_null() & pl.col("observes").list.contains("sightings")
    )
