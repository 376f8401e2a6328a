"""Tick-level observations gathered into a `Track`: columns, changes of inventories and counters, screens."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import polars as pl

from rollouts.ingest.tick_columns import (
    DEATHS,
    MOTION,
    VITALS,
    Change,
    Track,
    Unread,
    action_text,
    count,
    counter_name,
    flag,
    number,
    tally,
)
from warehouse import vocabulary as v

LONGEST_FLICKER: Final = 20
"""observations (1 s) after which a counter that fell and is back at its old total was not reset: nobody does
everything again in a second"""
# A container's screen comes from the server and shows a few ticks after the click; the agent's own inventory
# opens at once. So an opening with a click this close before it is not told apart by the inventory key.
_SERVER_LAG: Final = 4  # ticks; 3 in the recordings at hand

T = TypeVar("T")


class CounterLog:
    """Cumulative counters as changes. The first totals seen of a group are its baseline."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self._last: dict[str, dict[str, Any]] = {}
        self._known: dict[str, dict[str, int | None]] = {}
        self._fallen: dict[str, tuple[int, int]] = {}
        self.seen = False

    def update(self, row: int, group: str, totals: Mapping[str, Any]) -> list[str]:
        """Notes what changed in a group of counters; `group` "" means that the keys name their own. Returns
        the names of totals that are there and cannot be read: their last known total stays, and without one
        the next that can be read is their baseline."""
        last = self._last.get(group)
        self.seen = self.seen or bool(totals)
        try:
            changed = totals.items() - (last.items() if last is not None else ())
        except TypeError:  # a list among the values has no hash
            totals = {key: _hashable(total) for key, total in totals.items()}
            changed = totals.items() - (last.items() if last is not None else ())
        known = self._known.setdefault(group, {})
        unread = []
        for key, total in sorted(changed, key=lambda pair: pair[0]):
            name = counter_name(f"{group}:{key}" if group else key)
            if name is None or total is None:
                continue
            after = count(total)
            if after is None:
                known.setdefault(key, None)
                unread.append(name)
                continue
            before = known.get(key, 0)
            known[key] = after
            if last is not None and before is not None and after != before:
                self._change(row, name, before, after)
        self._last.setdefault(group, {}).update(changed)
        return unread

    def _change(self, row: int, name: str, before: int, after: int) -> None:
        """A total that falls and is back at once never fell: what it had before is not gained again."""
        fell_at, peak = self._fallen.pop(name, (row, 0))
        if after < before:
            self._fallen[name] = (row, before)
        elif peak and row - fell_at <= LONGEST_FLICKER and after >= peak:
            before = peak
        if after != before:
            self.changes.append(Change(row, name, before, after))


def _hashable(total: Any) -> Any:
    """The number that a total is; for anything else that is there, a word that is none."""
    if total is None:
        return None
    real = number(total)
    return "unreadable" if real is None else real


@dataclass
class Columns:
    """Observations gathered one by one; `track` turns them into columns."""

    tick: list[int] = field(default_factory=list)
    values: dict[str, list[float | None]] = field(
        default_factory=lambda: {name: [] for name in (*MOTION, *VITALS)}
    )
    alive: list[bool | None] = field(default_factory=list)
    equipped: list[str | None] = field(default_factory=list)
    gui_open: list[bool | None] = field(default_factory=list)
    gui_told: list[str | None] = field(default_factory=list)
    inputs: list[frozenset[str] | None] = field(default_factory=list)
    inventories: list[tuple[int, dict[str, int]]] = field(default_factory=list)
    messages: list[tuple[int, str]] = field(default_factory=list)
    counters: CounterLog = field(default_factory=CounterLog)
    saw_messages: bool = False
    unread: Unread = field(default_factory=Unread)
    offset: int | None = None
    """byte offset of the observation that is being read"""
    _raw_inventory: Any = None
    _said: dict[str, str] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return len(self.tick)

    def number(self, name: str, value: Any) -> float | None:
        """`tick_columns.number`, noting under `name` what is there and no number."""
        return self._noting(name, value, number(value))

    def flag(self, name: str, value: Any) -> bool | None:
        """`tick_columns.flag`, noting under `name` what is there and no flag."""
        return self._noting(name, value, flag(value))

    def mapping(self, name: str, value: Any) -> Mapping[str, Any]:
        """The value where it is an object, else an empty one, noting under `name` what is none."""
        return value if isinstance(value, dict) else self._noting(name, value, None) or {}

    def _noting(self, name: str, value: Any, reading: T | None) -> T | None:
        if reading is None and value is not None:
            self.unread.note(name, self.offset)
        return reading

    def count(self, group: str, totals: Any) -> None:
        """Notes the cumulative counters of the row to come; `group` "" means that the keys name their own."""
        if totals is not None:
            for name in self.counters.update(self.rows, group, self.mapping(group or "stats", totals)):
                self.unread.note(name, self.offset)

    def hold(self, inventory: Any) -> None:
        """Notes the inventory of the row to come, where it differs from the one before. One that cannot be
        read is unknown: the last known one stays, and without one the next that can be read is the first."""
        if inventory is None or inventory == self._raw_inventory:
            return
        held = self._noting("inventory", inventory, tally(inventory))
        if held is None:
            return
        self._raw_inventory = inventory
        if not self.inventories or self.inventories[-1][1] != held:
            self.inventories.append((self.rows, held))

    def say(self, speaker: str, text: Any) -> None:
        """Notes a message of the row to come, where it differs from the speaker's last."""
        if not isinstance(text, str):
            return
        self.saw_messages = True
        if text.strip() and self._said.get(speaker) != text:
            self.messages.append((self.rows, text))
        self._said[speaker] = text

    def track(self) -> Track:
        """The gathered observations as a track."""
        counters = [change for change in self.counters.changes if change.name != DEATHS]
        deaths = {
            change.row
            for change in self.counters.changes
            if change.name == DEATHS and change.after > change.before
        }
        before: bool | None = None
        for row, alive in enumerate(self.alive):
            if alive is False and before is not False:
                deaths.add(row)
            before = alive
        guis = name_guis(self.gui_open, self.gui_told, self.inputs, counters)
        columns = {
            "tick": pl.Series(self.tick, dtype=pl.Int32),
            **{name: pl.Series(values, dtype=pl.Float64) for name, values in self.values.items()},
            "alive": pl.Series(self.alive, dtype=pl.Boolean),
            "equipped": pl.Series(self.equipped, dtype=pl.String),
            "gui": pl.Series(guis, dtype=pl.Enum(list(v.GUIS))),
            "action": pl.Series(
                [None if inputs is None else action_text(inputs) for inputs in self.inputs], dtype=pl.String
            ),
        }
        ticks = pl.DataFrame(columns)
        seen = {
            "messages": self.saw_messages,
            "counters": self.counters.seen,
            "inventory": bool(self.inventories),
        }
        return Track(
            ticks=ticks,
            inventories=self.inventories,
            counters=counters,
            messages=self.messages,
            deaths=sorted(deaths),
            observes=observed(ticks, seen),
        )


def observed(ticks: pl.DataFrame, seen: Mapping[str, bool]) -> list[str]:
    """What the source lets one observe, in the vocabulary's order: by its columns, and as `seen` adds."""
    columns = {
        "position": ("x", "y", "z"),
        "rotation": ("yaw", "pitch"),
        "vitals": VITALS,
        "gui": ("gui",),
        "equipped": ("equipped",),
        "actions": ("action",),
    }
    told = {
        what
        for what, names in columns.items()
        if any(ticks[name].null_count() < ticks.height for name in names)
    }
    told |= {what for what, yes in seen.items() if yes}
    return [what for what in v.OBSERVABLES if what in told]


def name_guis(
    opened: list[bool | None],
    told: list[str | None],
    inputs: list[frozenset[str] | None],
    counters: Iterable[Change],
) -> list[str | None]:
    """Which screen is open at each row. A source mostly tells only *that* one is: its name is known where the
    source tells it, where the agent's use of a station was counted just then, or where the inventory key
    opened it with no click before that could have opened another. Otherwise it is "other"."""
    stations = {
        change.row: change.name.partition(":")[2]
        for change in counters
        if change.name.startswith("interact_with:") and change.after > change.before
    }
    names: list[str | None] = []
    name = "none"
    for row, is_open in enumerate(opened):
        if is_open is None:
            names.append(None)
            continue
        if not is_open:
            name = "none"
        elif told[row] is not None:
            name = told[row] or "other"
        elif name == "none":
            recent = range(max(0, row - _SERVER_LAG), row + 1)
            station = next((stations[at] for at in reversed(recent) if at in stations), None)
            clicked = any("use" in (inputs[at] or ()) for at in recent)
            if station is not None:
                name = station if station in v.GUIS else "other"
            else:
                name = "inventory" if "inventory" in (inputs[row] or ()) and not clicked else "other"
        names.append(name)
    return names
