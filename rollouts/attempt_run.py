"""What one attempt at one subgoal leaves, however it was stepped (rollouts/attempt.py) or lost."""

from dataclasses import dataclass

import polars as pl

from rollouts.evidence import rows_of
from rollouts.moves import MOVES
from rollouts.protocols import Truth
from rollouts.sightings import Row


@dataclass(frozen=True)
class AttemptRun:
    """What an attempt showed, without what is known of it elsewhere (its subgoal's text, its plan).

    The frames are the contract's in stored order, without `episode_id` and `attempt`. `success` is by the
    subgoal's checks on `state_after`, null where they cannot tell or the attempt was cut short. `won_at` is
    the tick at which the task's oracle was met.
    """

    attempt: int
    start_tick: int
    end_tick: int
    success: bool | None
    end_reason: str
    state_before: Row
    state_after: Row
    ticks: pl.DataFrame
    events: pl.DataFrame
    sightings: pl.DataFrame
    inventory_changes: pl.DataFrame
    moves: pl.DataFrame
    """`MOVES`: what was done, which is what `World.replay` takes"""
    won_at: int | None = None
    truths: tuple[Truth, ...] = ()


def lost(attempt: int, state: Row, tick: int, why: str) -> AttemptRun:
    """The record of an attempt of which the environment left nothing but that it failed at `tick`."""
    return AttemptRun(
        attempt=attempt,
        start_tick=tick,
        end_tick=tick,
        success=None,
        end_reason="infrastructure",
        state_before=state,
        state_after=state,
        ticks=rows_of("ticks", []),
        events=rows_of("events", [failure_event(tick, 0, why)]),
        sightings=rows_of("sightings", []),
        inventory_changes=rows_of("inventory_changes", []),
        moves=pl.DataFrame(schema=MOVES),
    )


def failure_event(tick: int, seq: int, why: str) -> Row:
    """The row of `events` that says that the environment failed."""
    return {
        "tick": tick,
        "seq": seq,
        "kind": "error",
        "name": None,
        "count": None,
        "text": why,
        "signal": "connection_lost",
    }
