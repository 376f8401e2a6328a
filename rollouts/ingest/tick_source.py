"""What the importers of tick-level recordings share: from a `Track` and the spans of its attempts to rows of
the trace contract.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl

from rollouts.ingest import quality
from rollouts.ingest.gains import Observed, amounts, largest_gain
from rollouts.ingest.protocol import Recording, Row, printable
from rollouts.ingest.tick_columns import LARGEST_COUNT, LARGEST_FLOAT, MOTION, VITALS, Change, Track
from warehouse.domains import Domain
from warehouse.records import arrange

_LONGEST_GAP: Final = 72_000  # ticks: an hour
_YIELDING: Final = frozenset({"craft_item", "mine_block", "pickup"})
_VERBS: Final = {"pickup": "obtain", "picked_up": "obtain"}  # counter words that no one says


@dataclass(frozen=True)
class Span:
    """The rows `first` to `last` (inclusive) of a track are one attempt; the rest is as in the contract."""

    first: int
    last: int
    end_reason: str
    kind: str | None = None
    target: str | None = None
    condition: str | None = None
    needed: int | None = None
    success: bool | None = None
    gained: int | None = None
    label: bool | None = None


@dataclass(frozen=True)
class Task:
    """What a recording was made for, as far as its name tells."""

    text: str | None
    kind: str | None
    target: str | None
    accepts: frozenset[str]
    needed: int | None = None
    counter: str = ""
    """the cumulative counter that counts exactly this"""


def read_task(verb: str, thing: str, domain: Domain, needed: int = 1) -> Task:
    """A task named by a counter and its object ("craft_item", "netherite_scrap").

    The text keeps the source's own words. A craft that only a furnace can do has the kind smelt; an object
    that the domain doesn't know stays as it is, and accepts nothing.
    """
    text = " ".join(f"{verb} {thing}".replace("_", " ").split())
    phrase = thing.replace("_", " ")
    kinds = (domain.kind_of(word, phrase) for word in (_VERBS.get(verb, verb), verb.partition("_")[0]))
    kind = next((kind for kind in kinds if kind is not None), None)
    if kind == "craft" and thing not in domain.recipes and thing in domain.smelting.values():
        kind = "smelt"
    counter = f"{verb}:{thing}"
    reading = domain.read_target(phrase, kind) if kind else None
    if reading is None:
        return Task(text or None, kind, thing or None, frozenset(), needed, counter)
    return Task(text, kind, reading.target, reading.accepts, needed, counter)


class Held:
    """The inventory at any row of a track."""

    def __init__(self, track: Track) -> None:
        self._rows = [row for row, _ in track.inventories]
        self._held = [held for _, held in track.inventories]

    def at(self, row: int) -> dict[str, int] | None:
        """Item -> count at a row; None before the first inventory that was recorded."""
        place = int(np.searchsorted(self._rows, row, side="right")) - 1
        return self._held[place] if place >= 0 else None


class Gain(NamedTuple):
    """How many of a target were got, and the row at which the number asked for was reached, if it was."""

    many: int
    reached: int | None


def inventory_gain(track: Track, accepts: frozenset[str], span: tuple[int, int], needed: int) -> Gain | None:
    """The rise of the accepted items over the inventory at the first row of `span` (rows, inclusive), or
    over the first one known after it, by the rules of `gains.largest_gain`. None without an inventory, or
    where nothing is accepted."""
    first, last = span
    start = Held(track).at(first)
    if start is None and track.inventories and track.inventories[0][0] <= last:
        first, start = track.inventories[0]
    if start is None or not accepts:
        return None
    yields: dict[int, set[str]] = {}
    for change in track.counters:
        group, _, thing = change.name.partition(":")
        if change.after > change.before and group in _YIELDING:
            yields.setdefault(change.row, set()).add(thing)
    inside = [(row, held) for row, held in track.inventories if first < row <= last]
    steps = [Observed(first, start)]
    for place, (row, held) in enumerate(inside):
        steps.append(Observed(row, held, frozenset(yields.get(row, ()))))
        following = inside[place + 1][0] if place + 1 < len(inside) else last + 1
        if row + 1 < following:
            steps.append(Observed(row + 1, held))  # seen again, unchanged: no flicker
    many = largest_gain(start, steps, accepts) or 0
    if many < needed:
        return Gain(many, None)
    rises = [sum(step.inventory.get(item, 0) - start.get(item, 0) for item in accepts) for step in steps]
    for place, (step, rise) in enumerate(zip(steps, rises, strict=True)):
        stays = place + 1 == len(rises) or rises[place + 1] >= needed or bool(step.yielded & accepts)
        if rise >= needed and stays:
            return Gain(many, step.tick)
    return Gain(many, None)


def counter_gain(track: Track, names: frozenset[str], needed: int) -> Gain:
    """How often the named counters rose."""
    total, reached = 0, None
    for change in track.counters:
        if change.name in names and change.after > change.before:
            total += change.after - change.before
            if reached is None and total >= needed:
                reached = change.row
    return Gain(min(total, LARGEST_COUNT), reached)


def one_attempt(
    track: Track,
    task: Task,
    gain: Gain | None,
    success: bool | None,
    episode: Row,
    source: str,
    *,
    label: bool | None = None,
    truncated: bool = False,
) -> Recording:
    """The recording of an episode whose whole track is one attempt at one task; see `assemble`."""
    last = track.ticks.height - 1
    end = "success" if success else "death" if track.deaths else "agent_stopped"
    span = Span(
        0,
        last,
        end,
        kind=task.kind,
        target=task.target,
        condition=task.text,
        needed=task.needed,
        success=success,
        gained=gain.many if gain is not None else None,
        label=label,
    )
    reached = gain.reached if gain is not None and success else None
    episode |= {
        "goal": task.text,
        "success": success,
        "success_tick": track.ticks["tick"][reached] if reached is not None else None,
        "end_reason": end if end != "agent_stopped" else "recording_end",
    }
    return assemble(track, episode, [span], source, truncated=truncated)


def assemble(
    track: Track, episode: Row, spans: Sequence[Span], source: str | None, *, truncated: bool = False
) -> Recording:
    """The recording of one episode. `episode` holds its id, source and whatever else is known of it; the
    spans cover the track's rows without a gap. `source` is the file that the attempts were read from.

    `truncated`: the file breaks off inside an observation. What came after it is not known, so the attempt
    that it breaks off ends as infrastructure and its success is open, unless it was already shown or the
    agent's death had ended it.
    """
    spans = list(spans)
    if truncated and not spans[-1].success and spans[-1].last not in track.deaths:
        spans[-1] = replace(spans[-1], success=None, end_reason="infrastructure")
        episode = {**episode, "success": None, "end_reason": "infrastructure"}
    episode_id = episode["episode_id"]
    numbers = np.zeros(track.ticks.height, dtype=np.int32)
    for attempt, span in enumerate(spans):
        numbers[span.first : span.last + 1] = attempt
    ticks = arrange(
        "ticks",
        track.ticks.with_columns(
            pl.lit(episode_id).alias("episode_id"),
            pl.Series("attempt", numbers),
            *(_storable(name) for name in (*MOTION, *VITALS)),
        ),
    )
    times = track.ticks["tick"].to_list()
    owner = numbers.tolist()
    recording = Recording(ticks=ticks)
    recording.episodes.append(
        {"observes": track.observes, "n_ticks": times[-1] + 1 if times else 0, **episode}
    )
    held = Held(track)
    for attempt, span in enumerate(spans):
        baseline = span.first if attempt == 0 else span.first - 1
        recording.attempts.append(
            {
                "episode_id": episode_id,
                "attempt": attempt,
                "source": source,
                "condition": span.condition,
                "kind": span.kind,
                "target": span.target,
                "needed": span.needed,
                "relative": None if span.needed is None else True,
                "start_tick": times[span.first],
                "end_tick": times[span.last],
                "success": span.success,
                "gained": span.gained,
                "label": span.label,
                "label_basis": None if span.label is None else "exact",
                "end_reason": span.end_reason,
                "state_before": _state(ticks, held, baseline),
                "state_after": _state(ticks, held, span.last),
            }
        )
    recording.events = _events(track, episode_id, owner, times)
    recording.inventory_changes = _inventory_changes(track, episode_id, owner, times)
    recording.data_quality = quality.findings(
        ticks,
        recording.frame("inventory_changes"),
        counters=_totals(track.counters, episode_id, owner, times),
        clocks=_totals(track.clocks, episode_id, owner, times),
        ends=_ends(track, episode_id, owner, times),
    )
    return recording


def _storable(name: str) -> pl.Expr:
    column = pl.col(name).cast(pl.Float64)
    return pl.when(column.is_finite() & (column.abs() <= LARGEST_FLOAT)).then(column).alias(name)


def _state(ticks: pl.DataFrame, held: Held, row: int) -> Row:
    seen = ticks.row(row, named=True)
    inventory = held.at(row)
    return {
        **{name: seen[name] for name in ("x", "y", "z", "health", "hunger", "gui", "equipped", "alive")},
        "inventory": None if inventory is None else amounts(inventory),
        "near": None,
        "seen": None,
    }


def _events(track: Track, episode_id: str, owner: list[int], times: list[int]) -> list[Row]:
    found: list[tuple[int, Row]] = [
        (change.row, {"kind": "counter", "name": change.name, "count": change.after - change.before})
        for change in track.counters
        if change.after > change.before
    ]
    found += [(row, {"kind": "game", "text": printable(text)}) for row, text in track.messages]
    found += [
        (row, {"kind": "game", "name": "reward", "text": f"{reward:g}"}) for row, reward in track.rewards
    ]
    found += [(row, {"kind": "game", "signal": "died"}) for row in track.deaths]
    found.sort(key=lambda pair: pair[0])
    seq: dict[int, int] = {}
    events: list[Row] = []
    for row, event in found:
        attempt = owner[row]
        events.append(
            {
                "episode_id": episode_id,
                "attempt": attempt,
                "tick": times[row],
                "seq": seq.setdefault(attempt, 0),
                **event,
            }
        )
        seq[attempt] += 1
    return events


def _inventory_changes(track: Track, episode_id: str, owner: list[int], times: list[int]) -> list[Row]:
    rows: list[Row] = []
    for (_, before), (row, after) in pairwise(track.inventories):
        for item in sorted(before.keys() | after.keys()):
            delta = after.get(item, 0) - before.get(item, 0)
            if delta:
                rows.append(
                    {
                        "episode_id": episode_id,
                        "attempt": owner[row],
                        "tick": times[row],
                        "seq": 0,
                        "item": item,
                        "delta": delta,
                        "count": after.get(item, 0),
                    }
                )
    return rows


def _totals(changes: list[Change], episode_id: str, owner: list[int], times: list[int]) -> pl.DataFrame:
    return pl.DataFrame(
        [(episode_id, owner[c.row], times[c.row], c.name, c.before, c.after) for c in changes],
        schema=quality.TOTALS,
        orient="row",
    )


def _ends(track: Track, episode_id: str, owner: list[int], times: list[int]) -> pl.DataFrame:
    ends = [*track.ends, *((row, "the agent's death") for row in track.deaths)]
    return pl.DataFrame(
        [(episode_id, owner[row], times[row], what) for row, what in ends], schema=quality.ENDS, orient="row"
    )


def order_ticks(recorded: Sequence[Any]) -> tuple[list[int], list[int]]:
    """Ticks from the start of the recording, strictly rising, and the rows where the recorded ones fell back.

    A recorded gap is kept (ticks were lost); a step back, a repeat or a leap of over an hour is one tick.
    """
    known = np.array([np.nan if value is None else value for value in recorded], dtype=np.float64)
    if known.size == 0:
        return [], []
    with np.errstate(invalid="ignore"):
        steps = np.diff(known)
        fallen = np.flatnonzero(steps < 0) + 1
        kept = np.where((steps >= 1) & (steps <= _LONGEST_GAP), steps, 1)
    times = np.concatenate([[0], np.cumsum(kept)])
    if times[-1] > LARGEST_COUNT:
        times = np.arange(known.size)
    return times.astype(np.int64).tolist(), fallen.tolist()
