"""Small traces for tests of Monitor, said in few words: a scene is one episode, a try is one attempt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import polars as pl

from rollouts.monitor import DEFAULTS, MonitorSettings, monitor
from rollouts.trace import Trace
from warehouse.domains import Domain
from warehouse.ids import derive_id
from warehouse.records import from_rows
from warehouse.vocabulary import OBSERVABLES

Row = dict[str, Any]
Point = tuple[float, float, float]
STANDING: Final[Point] = (0.5, 64.0, 0.5)


def stand(ticks: int) -> list[Point]:
    """So many ticks in one place."""
    return [STANDING] * ticks


def walk(ticks: int, blocks: float) -> list[Point]:
    """A straight way of `blocks` blocks along x in so many ticks."""
    return [(0.5 + blocks * tick / max(ticks - 1, 1), 64.0, 0.5) for tick in range(ticks)]


def pace(ticks: int) -> list[Point]:
    """Up and down between two cells, one step a tick."""
    return [(0.5 + tick % 2, 64.0, 0.5) for tick in range(ticks)]


@dataclass
class Try:
    """One attempt. Ticks in `events`, `sightings` and `changes` count from its own start."""

    kind: str | None = "mine"
    target: str | None = "iron_ore"
    needed: int | None = 1
    success: bool | None = False
    gained: int | None = 0
    claimed: bool = False
    condition: str | None = "the subgoal"
    end: str = "agent_stopped"
    path: Sequence[Point | None] = field(default_factory=lambda: stand(20))
    ticks: Mapping[str, Any] = field(default_factory=dict)
    """other tick columns, each one value for all ticks or a list"""
    events: Sequence[Row] = ()
    sightings: Sequence[Row] = ()
    changes: Sequence[tuple[int, str, int]] = ()
    """(tick, item, delta)"""
    held: Mapping[str, int] = field(default_factory=dict)
    """what was held before"""
    after: Row | None = None
    checks: Sequence[Row] | None = None


def says(signal: str, tick: int = 5, **more: Any) -> Row:
    """An event that says this."""
    return {"tick": tick, "kind": "chat", "signal": signal, "text": f"it said {signal}"} | more


def sees(name: str, tick: int = 5, **more: Any) -> Row:
    """A sight of a block."""
    return {
        "tick": tick,
        "kind": "block",
        "name": name,
        "distance": 9.0,
        "in_reach": False,
        "visible": True,
    } | more


def scene(*tries: Try, episode: str = "scene", observes: Sequence[str] = OBSERVABLES) -> Trace:
    """The trace of one episode, its attempts one after the other."""
    tables: dict[str, list[Row]] = {
        name: [] for name in ("episodes", "attempts", "ticks", "events", "sightings", "inventory_changes")
    }
    key: Row = {"episode_id": derive_id("episode", episode)}
    tables["episodes"].append(
        key
        | {
            "source": "test",
            "build": "b",
            "observes": sorted(observes, key=OBSERVABLES.index),
            "n_ticks": 0,
            "end_reason": "horizon",
        }
    )
    start = 0
    for number, each in enumerate(tries):
        key = key | {"attempt": number}
        _add_try(tables, each, key, start)
        start += max(len(each.path), 1)
    return Trace.of({name: from_rows(name, rows) for name, rows in tables.items()})


def _add_try(tables: dict[str, list[Row]], each: Try, key: Row, start: int) -> None:
    held = dict(each.held)
    before = {"inventory": _amounts(held)}
    length = len(each.path)
    for tick, place in enumerate(each.path):
        position = dict(zip("xyz", place, strict=True)) if place else {}
        columns = {
            name: value[tick] if isinstance(value, list) else value for name, value in each.ticks.items()
        }
        tables["ticks"].append(key | {"tick": start + tick} | position | columns)
    for seq, event in enumerate(each.events):
        tables["events"].append(key | {"seq": seq} | event | {"tick": start + event["tick"]})
    for sight in each.sightings:
        tables["sightings"].append(key | sight | {"tick": start + sight["tick"]})
    for seq, (tick, item, delta) in enumerate(each.changes):
        held[item] = held.get(item, 0) + delta
        tables["inventory_changes"].append(
            key | {"tick": start + tick, "seq": seq, "item": item, "delta": delta, "count": held[item]}
        )
    after = {"inventory": _amounts(held)} if each.after is None else each.after
    tables["attempts"].append(
        key
        | {
            "condition": each.condition,
            "kind": each.kind,
            "target": each.target,
            "needed": each.needed,
            "relative": True,
            "start_tick": start,
            "end_tick": start + max(length - 1, 0),
            "success": each.success,
            "gained": each.gained,
            "claimed": each.claimed,
            "end_reason": each.end,
            "state_before": before,
            "state_after": after,
            "checks": [{"name": None, "value": None} | check for check in each.checks]
            if each.checks is not None
            else None,
        }
    )


def _amounts(held: Mapping[str, int]) -> list[Row]:
    return [{"name": name, "count": count} for name, count in sorted(held.items()) if count]


def together(*traces: Trace) -> Trace:
    """Several traces as one."""
    return Trace.of(
        {name: pl.concat([trace.frames()[name] for trace in traces]) for name in traces[0].frames()}
    )


def judged(trace: Trace, domain: Domain, settings: MonitorSettings = DEFAULTS) -> list[Row]:
    """Monitor's rows as plain values."""
    return monitor(trace, domain, settings).to_dicts()


def judge(each: Try, domain: Domain, observes: Sequence[str] = OBSERVABLES) -> Row:
    """Monitor's row of a single attempt."""
    return judged(scene(each, observes=observes), domain)[0]


def types(row: Row) -> list[str]:
    """The types of a row's causes, in their order."""
    return [cause["type"] for cause in row["failure_causes"]]
