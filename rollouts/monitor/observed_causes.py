"""Causes that nobody names: what the ticks, counters, sightings and inventory show by themselves."""

import polars as pl

from rollouts.monitor.motion import KEY
from rollouts.monitor.settings import MonitorSettings
from rollouts.monitor.targets import accepted_items, seen_names
from rollouts.trace import Trace
from warehouse.domains import Domain

_ITEMS = pl.List(pl.Struct({"name": pl.String, "count": pl.Int32}))


def _as_cause(frame: pl.DataFrame, type_: str, **evidence: pl.Expr) -> pl.DataFrame:
    """Rows of `frame` as causes of one type; evidence columns that are not given are null."""
    unknown = {
        "tick": pl.lit(None, pl.Int32),
        "seq": pl.lit(None, pl.Int32),
        "name": pl.lit(None, pl.String),
        "count": pl.lit(None, pl.Int32),
        "items": pl.lit(None, _ITEMS),
        "text": pl.lit(None, pl.String),
    }
    return frame.select(
        *KEY, pl.lit(type_).alias("type"), *[expr.alias(name) for name, expr in (unknown | evidence).items()]
    )


def infrastructure(
    trace: Trace, attempts: pl.DataFrame, domain: Domain, settings: MonitorSettings
) -> pl.DataFrame:
    """The source recorded nothing of the attempt, or says that the environment ended it."""
    ended = attempts.filter(pl.col("end_reason") == "infrastructure")
    return _as_cause(
        ended,
        "INFRASTRUCTURE",
        tick=pl.col("end_tick"),
        text=pl.when(pl.col("n_ticks").fill_null(0) == 0)
        .then(pl.lit("no event was recorded"))
        .otherwise(pl.lit("the recording or its environment broke off")),
    )


def death(trace: Trace, attempts: pl.DataFrame, domain: Domain, settings: MonitorSettings) -> pl.DataFrame:
    """alive = false, an attempt that ended in death, or health and hunger both jumping to what a new life
    starts with, with nothing eaten (also when the attempt went on afterwards)."""
    same = pl.all_horizontal(pl.col(key) == pl.col(key).shift(1) for key in KEY)
    respawned = (
        same
        & (pl.col("health") == domain.spawn_health)
        & (pl.col("hunger") == domain.spawn_hunger)
        & (pl.col("health").shift(1) < domain.spawn_health)
        & (pl.col("hunger").shift(1) < domain.spawn_hunger)
    )
    vitals = (
        trace.ticks.lazy()
        .select(
            *KEY,
            "tick",
            health_before=pl.col("health").shift(1),
            hunger_before=pl.col("hunger").shift(1),
            tick_before=pl.col("tick").shift(1),
            dead=(pl.col("alive") == False).fill_null(False),  # noqa: E712  (null is neither)
            respawned=respawned.fill_null(False),
        )
        .filter(pl.col("dead") | pl.col("respawned"))
        .collect()
    )
    eaten = trace.inventory_changes.filter(
        (pl.col("delta") < 0) & pl.col("item").is_in(sorted(domain.foods)) & (pl.col("count") > 0)
    ).select(*KEY, eaten_at=pl.col("tick"))
    fed = (
        vitals.filter("respawned")
        .join(eaten, on=KEY)
        .filter((pl.col("eaten_at") > pl.col("tick_before")) & (pl.col("eaten_at") <= pl.col("tick")))
        .select(*KEY, "tick")
    )
    shown = vitals.join(fed, on=[*KEY, "tick"], how="anti")
    by_ticks = _as_cause(
        shown,
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
    ended = attempts.filter(pl.col("end_reason") == "death")
    return pl.concat(
        [
            by_ticks,
            _as_cause(ended, "DEATH", tick=pl.col("end_tick"), text=pl.lit("the attempt ended in death")),
        ]
    )


def wrong_tool(
    trace: Trace, attempts: pl.DataFrame, domain: Domain, settings: MonitorSettings
) -> pl.DataFrame:
    """A block was broken with a tool that cannot harvest it, and its drop did not come in."""
    broken = trace.events.filter(
        (pl.col("kind").cast(pl.String) == "counter") & pl.col("name").str.starts_with("mine_block:")
    ).with_columns(block=pl.col("name").str.strip_prefix("mine_block:"))
    if broken.is_empty():
        return _as_cause(broken, "MISSING_TOOL")
    fit = pl.DataFrame(
        [
            {"block": block, "tool": tool}
            for block in broken["block"].unique(maintain_order=True)
            for tool in sorted(domain.fit_tools(block))
        ],
        schema={"block": pl.String, "tool": pl.String},
    )
    held = trace.ticks.select(*KEY, "tick", "equipped").sort("tick")
    with_tool = (
        broken.filter(pl.col("block").is_in(fit["block"].unique().to_list()))
        .sort("tick")
        .join_asof(held, on="tick", by=KEY, check_sortedness=False)
        .drop_nulls("equipped")
        .join(fit, left_on=["block", "equipped"], right_on=["block", "tool"], how="anti")
    )
    got = (
        trace.inventory_changes.join(accepted_items(trace.attempts, domain), on=[*KEY, "item"])
        .filter(pl.col("delta") > 0)
        .select(KEY)
        .unique()
    )
    return _as_cause(
        with_tool.join(got, on=KEY, how="anti"),
        "MISSING_TOOL",
        tick=pl.col("tick"),
        seq=pl.col("seq"),
        name=pl.col("block"),
        text=pl.format("{} was broken with {} and gave no drop", "block", "equipped"),
    )


def gui_stall(
    trace: Trace, attempts: pl.DataFrame, domain: Domain, settings: MonitorSettings
) -> pl.DataFrame:
    """A GUI stayed open and nothing in the inventory changed: to the attempt's end, or for 5 s."""
    rows = trace.ticks.lazy().with_row_index("row").with_columns(last=pl.col("tick").max().over(KEY))
    open_rows = rows.filter(pl.col("gui").cast(pl.String).is_in(["none"]).not_()).select(
        *KEY, "row", "tick", "last"
    )
    moved = trace.inventory_changes.lazy().select(*KEY, "tick", changed=pl.lit(True)).unique()
    stalls = (
        open_rows.join(moved, on=[*KEY, "tick"], how="left", maintain_order="left")
        .with_columns(
            breaks=(
                (pl.col("row").cast(pl.Int64) - pl.col("row").cast(pl.Int64).shift(1)).ne_missing(1)
                | pl.any_horizontal(pl.col(key).ne_missing(pl.col(key).shift(1)) for key in KEY)
                | pl.col("changed").fill_null(False)
            )
        )
        .with_columns(run=pl.col("breaks").cum_sum())
        .group_by([*KEY, "run"], maintain_order=True)
        .agg(
            pl.col("tick").min().alias("opened"),
            pl.col("tick").max().alias("seen_open"),
            pl.col("last").first(),
            pl.len().alias("observations"),
        )
        .with_columns(duration=pl.col("seen_open") - pl.col("opened") + 1)
        .filter(
            (pl.col("duration") >= settings.gui_stall)
            | (
                (pl.col("seen_open") == pl.col("last"))
                & (pl.col("observations") >= settings.gui_stall_at_end)
            )
        )
        .collect()
    )
    return _as_cause(
        stalls,
        "GUI_STALL",
        tick=pl.col("opened"),
        count=pl.col("duration").cast(pl.Int32),
        text=pl.format("a GUI was open for {} ticks and nothing changed", "duration"),
    )


def target_not_found(
    trace: Trace, attempts: pl.DataFrame, domain: Domain, settings: MonitorSettings
) -> pl.DataFrame:
    """A source that can see never saw the target, while the agent covered ground."""
    searching = _seekers(attempts).filter(pl.col("extent") >= settings.searched)
    seen = trace.sightings.filter("visible").select(*KEY, "name").unique()
    found = seen_names(attempts, domain).join(seen, on=[*KEY, "name"]).select(KEY).unique()
    touched = _touched(trace, attempts, domain)
    return _as_cause(
        searching.join(found, on=KEY, how="anti").join(touched, on=KEY, how="anti"),
        "TARGET_NOT_FOUND",
        tick=pl.col("last_tick"),
        name=pl.col("target"),
        text=pl.format("never in view over {} blocks", pl.col("extent").round(1)),
    )


def target_unreachable(
    trace: Trace, attempts: pl.DataFrame, domain: Domain, settings: MonitorSettings
) -> pl.DataFrame:
    """The target was in view, known to be out of reach, the agent moved and never came within reach."""
    names = seen_names(attempts, domain)
    looks = trace.sightings.filter("visible").join(names, on=[*KEY, "name"])
    reached = looks.filter(pl.col("in_reach")).select(KEY).unique()
    far = (
        looks.filter(~pl.col("in_reach")).sort([*KEY, "tick"]).unique(KEY, keep="first", maintain_order=True)
    )
    moving = _seekers(attempts).filter(pl.col("extent") >= settings.hardly_moved).select(KEY)
    touched = _touched(trace, attempts, domain)
    return _as_cause(
        far.join(moving, on=KEY).join(reached, on=KEY, how="anti").join(touched, on=KEY, how="anti"),
        "TARGET_UNREACHABLE",
        tick=pl.col("tick"),
        name=pl.col("name"),
        text=pl.format("seen at {} blocks and never within reach", pl.col("distance").round(1)),
    )


def stuck(trace: Trace, attempts: pl.DataFrame, domain: Domain, settings: MonitorSettings) -> pl.DataFrame:
    """The agent pressed to move and hardly did, or ran through the same cells again and again."""
    duration = pl.col("last_tick") - pl.col("first_tick")
    pressed = (
        (pl.col("pressing") >= settings.pressing_share)
        & (pl.col("extent") < settings.hardly_moved)
        & (duration >= settings.stuck_ticks)
    )
    circled = (pl.col("cell_loop") >= settings.loop_score) & (duration >= settings.stuck_ticks)
    held = attempts.filter(
        pl.col("kind").cast(pl.String).is_in(["mine", "combat", "move", "use"])
        & (pressed.fill_null(False) | circled.fill_null(False))
    )
    return _as_cause(
        held,
        "NAV_STUCK",
        tick=pl.col("last_tick"),
        text=pl.format(
            "stayed within {} blocks; {} of its cells were entered before",
            pl.col("extent").round(1),
            pl.col("cell_loop").round(2),
        ),
    )


def no_action(
    trace: Trace, attempts: pl.DataFrame, domain: Domain, settings: MonitorSettings
) -> pl.DataFrame:
    """Observations, but no acting event, no error, no pressed key, and nothing that moved or changed."""
    acting = pl.concat(
        [
            trace.events.filter(
                (pl.col("kind").cast(pl.String) != "game") | pl.col("signal").is_not_null()
            ).select(KEY),
            trace.inventory_changes.select(KEY),
        ]
    ).unique()
    idle = attempts.filter(
        (pl.col("n_ticks") > 0)
        & ~pl.col("acted").fill_null(False)
        & (pl.col("extent").fill_null(0) < settings.hardly_moved)
        & (pl.col("end_reason") != "infrastructure")
    )
    return _as_cause(
        idle.join(acting, on=KEY, how="anti"),
        "NO_ACTION",
        tick=pl.col("last_tick"),
        text=pl.format("{} observations and no action", "n_ticks"),
    )


def timeout(trace: Trace, attempts: pl.DataFrame, domain: Domain, settings: MonitorSettings) -> pl.DataFrame:
    """The budget ended while progress was still being made."""
    ended = attempts.filter(
        pl.col("end_reason").cast(pl.String).is_in(["timeout", "horizon"])
        & (pl.col("progress_last") >= settings.epsilon_progress)
    )
    return _as_cause(
        ended,
        "TIMEOUT",
        tick=pl.col("end_tick"),
        text=pl.format("progress over the last 20 s was {}", pl.col("progress_last").round(3)),
    )


def _seekers(attempts: pl.DataFrame) -> pl.DataFrame:
    """Attempts that go to something and whose source can see."""
    return attempts.filter(
        pl.col("kind").cast(pl.String).is_in(["mine", "combat"])
        & pl.col("target").is_not_null()
        & pl.col("observes").list.contains("sightings")
    )


def _touched(trace: Trace, attempts: pl.DataFrame, domain: Domain) -> pl.DataFrame:
    """(episode_id, attempt) of attempts that got something of their target, or acted on it with success."""
    gains = trace.inventory_changes.filter(pl.col("delta") > 0).join(
        accepted_items(attempts, domain), on=[*KEY, "item"]
    )
    names = seen_names(attempts, domain)
    done = (
        trace.events.filter(pl.col("signal").cast(pl.String) == "done")
        .with_columns(name=pl.col("name").str.split(":").list.last())
        .join(names, on=[*KEY, "name"])
    )
    return pl.concat([gains.select(KEY), done.select(KEY)]).unique()
