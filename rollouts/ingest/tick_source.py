"""What the importers of tick-level recordings share: from a `Track` and the spans of its attempts to rows of
the trace contract, and the walk over a folder of recordings.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl

from rollouts.ingest import quality
from rollouts.ingest.gains import Observed, amounts, largest_gain
from rollouts.ingest.protocol import Recording, Row, printable, quarantined
from rollouts.ingest.tick_columns import LARGEST_COUNT, LARGEST_FLOAT, MOTION, VITALS, Change, Track
from warehouse.domains import Domain
from warehouse.records import arrange

SIDE_SUFFIXES: Final = frozenset({".mp4", ".avi", ".png", ".jpg", ".npy", ".zip", ".md", ".txt", ".log"})
_SIDE_NAMES: Final = ("license", "licence", "readme", "notice", "copying", ".git", ".ds_store")
_PROBES: Final = 40  # files looked at before a folder is taken to be of another format
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
    """The rise of the accepted items over the inventory at the first row of `span` (rows, inclusive), by the
    rules of `gains.largest_gain`. None without an inventory, or where nothing is accepted."""
    first, last = span
    start = Held(track).at(first)
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


def assemble(track: Track, episode: Row, spans: Sequence[Span], source: str | None) -> Recording:
    """The recording of one episode. `episode` holds its id, source and whatever else is known of it; the
    spans cover the track's rows without a gap. `source` is the file that the attempts were read from."""
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


def files_below(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every regular file below a folder (or the file itself) with its relative name, in a fixed order. Links
    to folders are not followed: they may lead in a circle."""
    if folder.is_file():
        yield folder, folder.name
        return
    for at, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(at, name)
            if _is_regular(path):
                yield path, path.relative_to(folder).as_posix()


def _is_regular(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # what may not be looked at is told when it is read
        return True


def file_size(path: Path) -> int | None:
    """Bytes; None where the file may not be looked at."""
    try:
        return path.stat().st_size
    except OSError:
        return None


def any_file(folder: Path, suffixes: tuple[str, ...], is_one: Callable[[Path], bool]) -> bool:
    """Is one of the folder's first files with such a name of the format, by its content?"""
    probed = 0
    for path, _ in files_below(folder):
        if path.name.endswith(suffixes):
            if is_one(path):
                return True
            probed += 1
            if probed >= _PROBES:
                return False
    return False


def left_over(path: Path, relative: str, source: str, side: bool = False) -> Recording:
    """A file that belongs to no recording: a known side file (`side`: of this format) is ignored, anything
    else is quarantined."""
    side = side or path.suffix.lower() in SIDE_SUFFIXES or path.name.lower().startswith(_SIDE_NAMES)
    size = file_size(path)
    reason = "known side file" if side else "another format"
    if not side and size == 0:
        reason = "empty file"
    return Recording(
        quarantine=[
            quarantined(relative, source, reason, position=None if side else 0, size=size, ignored=side)
        ]
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
