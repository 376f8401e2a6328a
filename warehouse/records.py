"""The trace contract: what an episode, an attempt, a tick, an event, a sighting, an inventory change and a
feedback row *are*. One class per Parquet table; `TABLES` lists them with their sort order.

Unknown is null. Ticks are game ticks (20 per second), counted from the start of the episode; positions are
in blocks, health and hunger in half-hearts and half-shanks (0-20). `Schema.filter(frame, cast=True)` splits a
frame into rows that keep the contract and rows that do not, with the reasons.
"""

from functools import cache
from typing import Final, NamedTuple

import dataframely as dy
import polars as pl

from warehouse import vocabulary as v

TICKS_PER_SECOND: Final = 20
_ID: Final = r"^[0-9a-f]{20}$"


def _id(*, primary_key: bool = False, nullable: bool = False) -> dy.String:
    return dy.String(primary_key=primary_key, nullable=nullable, regex=_ID)


def _amounts() -> dy.Column:
    """Named amounts, sorted by name: an inventory, a shortage, a change."""
    return dy.List(
        dy.Struct({"name": dy.String(nullable=False), "count": dy.Int32(nullable=False)}), nullable=True
    )


def _state() -> dy.Column:
    """A state as a trigger sees it; `near` and `seen` are null where the source cannot see."""
    return dy.Struct(
        {
            "x": dy.Float32(nullable=True),
            "y": dy.Float32(nullable=True),
            "z": dy.Float32(nullable=True),
            "health": dy.Float32(nullable=True),
            "hunger": dy.Float32(nullable=True),
            "gui": dy.Enum(list(v.GUIS), nullable=True),
            "equipped": dy.String(nullable=True),
            "alive": dy.Bool(nullable=True),
            "inventory": _amounts(),
            "near": dy.List(dy.String(nullable=False), nullable=True),
            "seen": dy.List(dy.String(nullable=False), nullable=True),
        },
        nullable=True,
    )


def _evidence() -> dict[str, dy.Column]:
    """Where in the recording something was decided: a tick, the event there if it was one, and its words."""
    return {
        "tick": dy.Int32(nullable=True),
        "seq": dy.Int32(nullable=True),
        "name": dy.String(nullable=True),
        "count": dy.Int32(nullable=True),
        "items": _amounts(),
        "text": dy.String(nullable=True),
    }


class Episodes(dy.Schema):
    """One row per episode: one uninterrupted try at a task in one world."""

    episode_id = _id(primary_key=True)
    source = dy.String(
        nullable=False, description="format and source-relative path, or the world that made it"
    )
    build = dy.String(nullable=False)
    task_id = dy.String(nullable=True)
    goal = dy.String(nullable=True, description="the task in words")
    world = dy.String(nullable=True)
    world_seed = dy.Int64(nullable=True)
    agent = dy.String(nullable=True)
    planner = dy.String(nullable=True)
    executor = dy.String(nullable=True)
    planner_seed = dy.Int64(nullable=True)
    snapshot_id = dy.String(nullable=True)
    observes = dy.List(dy.Enum(list(v.OBSERVABLES), nullable=False), nullable=False)
    horizon = dy.Int32(nullable=True, min=1, description="ticks")
    n_ticks = dy.Int32(nullable=False, min=0)
    success = dy.Bool(nullable=True, description="by the task's oracle; null where no oracle applies")
    success_tick = dy.Int32(nullable=True)
    end_reason = dy.Enum(list(v.EPISODE_ENDS), nullable=False)
    config_hash = dy.String(nullable=True)


class Attempts(dy.Schema):
    """One row per subgoal attempt; `attempt` counts from 0 inside its episode."""

    episode_id = _id(primary_key=True)
    attempt = dy.Int32(primary_key=True, min=0)
    source = dy.String(
        nullable=True, description="source-relative path of the file that this attempt was read from"
    )
    plan_id = dy.String(nullable=True)
    subgoal_id = dy.String(nullable=True)
    condition = dy.String(nullable=True, description="the subgoal in words")
    kind = dy.Enum(list(v.KINDS), nullable=True)
    target = dy.String(nullable=True, description="canonical name or #tag of the domain")
    needed = dy.Int32(nullable=True, min=1, description="how many were asked for")
    relative = dy.Bool(
        nullable=True, description="needed is a gain over the baseline (true) or a total (false)"
    )
    executor_hint = dy.String(nullable=True)
    mode = dy.String(nullable=True)
    timeout_s = dy.Float32(nullable=True, min=0, description="seconds")
    checks = dy.List(
        dy.Struct(
            {
                "type": dy.String(nullable=False),
                "name": dy.String(nullable=True),
                "value": dy.Float32(nullable=True),
            }
        ),
        nullable=True,
    )
    start_tick = dy.Int32(nullable=True, min=0)
    end_tick = dy.Int32(nullable=True, min=0)
    success = dy.Bool(nullable=True, description="by evidence alone; null where the evidence cannot decide")
    gained = dy.Int32(nullable=True, description="how many of the target the evidence shows, of `needed`")
    claimed = dy.Bool(nullable=True, description="did the agent say that the asked result exists")
    label = dy.Bool(nullable=True, description="what the source itself says")
    label_basis = dy.Enum(list(v.LABEL_BASES), nullable=True)
    end_reason = dy.Enum(list(v.ATTEMPT_ENDS), nullable=False)
    state_before = _state()
    state_after = _state()
    knowledge_used = dy.List(dy.String(nullable=False), nullable=True)


class Ticks(dy.Schema):
    """One row per observation. Where a source reports several states for one tick, the last stands here."""

    episode_id = _id()
    attempt = dy.Int32(nullable=False, min=0)
    tick = dy.Int32(nullable=False, min=0)
    x = dy.Float32(nullable=True)
    y = dy.Float32(nullable=True)
    z = dy.Float32(nullable=True)
    yaw = dy.Float32(nullable=True, description="degrees")
    pitch = dy.Float32(nullable=True, description="degrees")
    health = dy.Float32(nullable=True)
    hunger = dy.Float32(nullable=True)
    alive = dy.Bool(nullable=True)
    equipped = dy.String(nullable=True)
    gui = dy.Enum(list(v.GUIS), nullable=True)
    action = dy.String(
        nullable=True, description="pressed inputs, sorted, joined by '+'; 'noop' when none was"
    )


class Events(dy.Schema):
    """One row per message, counter change or result. `signal` is what its words say; `name`, `count` and
    `items` are the things it names."""

    episode_id = _id(primary_key=True)
    attempt = dy.Int32(primary_key=True, min=0)
    tick = dy.Int32(nullable=False, min=0)
    seq = dy.Int32(primary_key=True, min=0, description="position in the attempt's recording, from 0")
    kind = dy.Enum(list(v.EVENT_KINDS), nullable=False)
    name = dy.String(nullable=True)
    count = dy.Int32(nullable=True)
    text = dy.String(nullable=True, description="as recorded")
    signal = dy.Enum(list(v.SIGNALS), nullable=True)
    items = _amounts()


class Sightings(dy.Schema):
    """One row per change of what is in view: `in_reach` null means gone from view."""

    episode_id = _id()
    attempt = dy.Int32(nullable=False, min=0)
    tick = dy.Int32(nullable=False, min=0)
    kind = dy.Enum(list(v.SIGHTING_KINDS), nullable=False)
    name = dy.String(nullable=False)
    distance = dy.Float32(nullable=True, description="blocks")
    in_reach = dy.Bool(nullable=True)
    visible = dy.Bool(nullable=False)


class InventoryChanges(dy.Schema):
    """One row per item that changed at a tick. `count` is what is held after it; the attempt's baseline is
    the inventory in `attempts.state_before`."""

    episode_id = _id(primary_key=True)
    attempt = dy.Int32(primary_key=True, min=0)
    tick = dy.Int32(primary_key=True, min=0)
    seq = dy.Int32(primary_key=True, min=0)
    item = dy.String(primary_key=True)
    delta = dy.Int32(nullable=False)
    count = dy.Int32(nullable=False, min=0)


class Feedback(dy.Schema):
    """Typed execution feedback e = (z, y, ds, dv, f, p, l), eq. 1; one row per attempt."""

    feedback_id = _id(primary_key=True)
    episode_id = _id()
    attempt = dy.Int32(nullable=False, min=0)
    z = dy.String(nullable=True, description="the subgoal in words")
    y = dy.Bool(nullable=True, description="success by evidence; null: undecided, or the environment failed")
    delta_state = dy.List(
        dy.Struct(
            {
                "name": dy.String(nullable=False),
                "before": dy.Float64(nullable=True),
                "after": dy.Float64(nullable=True),
            }
        ),
        nullable=True,
    )
    delta_inventory = _amounts()
    failure_type = dy.Enum([*v.FAILURE_TYPES, v.NO_FAILURE], nullable=True)
    failure_causes = dy.List(
        dy.Struct({"type": dy.Enum(list(v.FAILURE_TYPES), nullable=False), **_evidence()}), nullable=True
    )
    failure_evidence = dy.Struct(_evidence(), nullable=True)
    progress = dy.Float64(nullable=True, min=0, max=1, description="p of eq. 2")
    progress_move = dy.Float64(nullable=True, min=0, max=1)
    progress_inventory = dy.Float64(nullable=True, min=0, max=1)
    progress_goal = dy.Float64(nullable=True, min=0, max=1)
    progress_last = dy.Float64(nullable=True, min=0, max=1, description="p over the last 20 s")
    stagnant = dy.Bool(nullable=True)
    stagnant_paper = dy.Bool(nullable=True, description="eq. 3 alone")
    loop_score = dy.Float64(nullable=True, min=0, max=1)
    window_failure_rate = dy.Float64(nullable=True, min=0, max=1)
    remedy_due = dy.Bool(nullable=False)
    skill_due = dy.Bool(nullable=False)
    deadlock = dy.Bool(nullable=False, description="the last 8 attempts show a deadlock, this one ending it")


class Quarantine(dy.Schema):
    """Input that could not be read: where it is and why. Nothing is skipped without a row here."""

    path = dy.String(nullable=False, description="source-relative; control characters escaped")
    source = dy.String(nullable=False, description="format it was read as")
    position = dy.Int64(nullable=True, min=0, description="byte offset in the file; null where there is none")
    reason = dy.String(nullable=False)
    kept = dy.Int64(nullable=False, min=0, description="records of the same file that were readable and kept")
    size = dy.Int64(nullable=True, min=0, description="bytes of the file")
    severity = dy.Enum(["quarantined", "ignored"], nullable=False)


class DataQuality(dy.Schema):
    """A recording that contradicts itself: a finding, with the tick at which it shows."""

    episode_id = _id()
    attempt = dy.Int32(nullable=True, min=0)
    tick = dy.Int32(nullable=True, min=0)
    finding = dy.Enum(list(v.FINDINGS), nullable=False)
    detail = dy.String(nullable=False)


class Table(NamedTuple):
    """A table of the contract: its schema and the order in which its rows are stored."""

    schema: type[dy.Schema]
    sort_by: tuple[str, ...]


TABLES: Final[dict[str, Table]] = {
    "episodes": Table(Episodes, ("episode_id",)),
    "attempts": Table(Attempts, ("episode_id", "attempt")),
    "ticks": Table(Ticks, ("episode_id", "tick")),
    "events": Table(Events, ("episode_id", "attempt", "tick", "seq")),
    "sightings": Table(Sightings, ("episode_id", "attempt", "tick", "kind", "name")),
    "inventory_changes": Table(InventoryChanges, ("episode_id", "attempt", "tick", "seq", "item")),
    "feedback": Table(Feedback, ("episode_id", "attempt")),
    "quarantine": Table(Quarantine, ("path", "position", "reason")),
    "data_quality": Table(DataQuality, ("episode_id", "attempt", "tick", "finding", "detail")),
}
TRACE_TABLES: Final = ("episodes", "attempts", "ticks", "events", "sightings", "inventory_changes")


@cache
def polars_schema(table: str) -> pl.Schema:
    """Column names and Polars types of a table of the contract."""
    return TABLES[table].schema.create_empty().schema


def empty(table: str) -> pl.DataFrame:
    """A frame of no rows with a table's columns."""
    return pl.DataFrame(schema=polars_schema(table))


def from_rows(table: str, rows: list[dict[str, object]]) -> pl.DataFrame:
    """Rows of plain values as a frame of the table's columns, in its order; a column that a row does not
    name is null."""
    schema = polars_schema(table)
    frame = pl.DataFrame(rows, schema=schema, orient="row") if rows else pl.DataFrame(schema=schema)
    return arrange(table, frame)


def arrange(table: str, frame: pl.DataFrame) -> pl.DataFrame:
    """`frame` with the table's columns in order and its rows in the stored order."""
    schema = polars_schema(table)
    return (
        frame.select(pl.col(name).cast(dtype) for name, dtype in schema.items())
        .sort(TABLES[table].sort_by, nulls_last=True, maintain_order=True)
        .rechunk()
    )
