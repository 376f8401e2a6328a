"""Tick-level observations as columns: what one recorded observation says, read from whatever form it has.

The formats differ in names and nesting; what is read here is common to all of them: numbers that may be 0-d
arrays (written as 1-lists), inventories as slots or as stacks, cumulative counters, pressed inputs.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, NamedTuple

import polars as pl

from warehouse import vocabulary as v

LARGEST_COUNT: Final = 2**31 - 1
LARGEST_FLOAT: Final = 3.4e38  # what the store's Float32 holds
NOTHING: Final = frozenset({"", "none", "air", "null"})
"""how the formats write an empty slot or an empty hand"""
EMPTY_HAND: Final = "none"
NOOP: Final = "noop"
CAMERA: Final = "camera"
MOTION: Final = ("x", "y", "z", "yaw", "pitch")
VITALS: Final = ("health", "hunger")
COUNTERS: Final = (
    "mine_block",
    "craft_item",
    "kill_entity",
    "use_item",
    "pickup",
    "drop",
    "break_item",
    "entity_killed_by",
    "interact_with",
)
_COUNTER_ALIASES: Final = {
    "mined": "mine_block",
    "crafted": "craft_item",
    "killed": "kill_entity",
    "used": "use_item",
    "picked_up": "pickup",
    "dropped": "drop",
    "broken": "break_item",
    "killed_by": "entity_killed_by",
}
DEATHS: Final = "deaths"
# A container's screen comes from the server and shows a few ticks after the click; the agent's own inventory
# opens at once. So an opening with a click this close before it is not told apart by the inventory key.
_SERVER_LAG: Final = 4  # ticks; 3 in the recordings at hand


class Change(NamedTuple):
    """A total that changed: at which row of the track, from what to what."""

    row: int
    name: str
    before: int
    after: int


@dataclass
class Track:
    """One recording's observations, in time order.

    `ticks` has a row for every observation, with the contract's tick columns less the two ids; the other
    lists name rows of it. `inventories` and `counters` hold changes only, the first inventory being the
    baseline. `clocks` are steps back of a recorded clock; `ends` are rows after which the recording itself
    says that it is over.
    """

    ticks: pl.DataFrame
    inventories: list[tuple[int, dict[str, int]]] = field(default_factory=list)
    counters: list[Change] = field(default_factory=list)
    messages: list[tuple[int, str]] = field(default_factory=list)
    deaths: list[int] = field(default_factory=list)
    clocks: list[Change] = field(default_factory=list)
    ends: list[tuple[int, str]] = field(default_factory=list)
    rewards: list[tuple[int, float]] = field(default_factory=list)
    observes: list[str] = field(default_factory=list)


def number(value: Any) -> float | None:
    """A finite number, also from a 0-d array written as a 1-list; None for everything else."""
    if type(value) is float:  # most of what a recording holds
        return value if -LARGEST_FLOAT <= value <= LARGEST_FLOAT else None
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, int | float):
        real = float(value)
        return real if math.isfinite(real) and abs(real) <= LARGEST_FLOAT else None
    return None


def count(value: Any) -> int | None:
    """A whole, non-negative number that fits the store; None for everything else."""
    real = number(value)
    return int(real) if real is not None and 0 <= real <= LARGEST_COUNT else None


def flag(value: Any) -> bool | None:
    """True or False, also as 0, 1 or a 1-list; None for everything else."""
    real = number(value)
    return None if real is None else real != 0


@lru_cache(maxsize=1 << 16)
def plain(name: str) -> str:
    """A name without its namespace: "minecraft:stone" and "minecraft.stone" are "stone"."""
    return name.removeprefix("minecraft:").removeprefix("minecraft.")


@lru_cache(maxsize=1 << 16)
def counter_name(key: str) -> str | None:
    """A counter's name as "<group>:<thing>"; None for what counts no achievement (distances walked, clocks):
    the ticks show that already, and it changes at every one of them.

    >>> counter_name("minecraft.mined:minecraft.stone"), counter_name("minecraft.custom:minecraft.jump")
    ('mine_block:stone', None)
    """
    group, _, thing = key.partition(":")
    group, thing = plain(group), plain(thing)
    if group == "custom":
        if thing == DEATHS:
            return DEATHS
        return f"interact_with:{thing[14:]}" if thing.startswith("interact_with_") else None
    group = _COUNTER_ALIASES.get(group, group)
    return f"{group}:{thing}" if group in COUNTERS and thing else None


def tally(value: Any) -> dict[str, int] | None:
    """An inventory as item -> count, from {slot: {type, quantity}}, [{type, quantity}] or {item: count}.

    Sorted by item; empty slots are left out. None when it is no inventory at all.
    """
    if isinstance(value, Mapping):
        stacks: Iterable[tuple[Any, Any]] = value.items()
    elif isinstance(value, list):
        stacks = enumerate(value)
    else:
        return None
    held: dict[str, int] = {}
    for slot, stack in stacks:
        name, many = (
            (stack.get("type"), stack.get("quantity", 1)) if isinstance(stack, Mapping) else (slot, stack)
        )
        amount = count(many)
        if not isinstance(name, str) or not amount or name in NOTHING:
            continue
        item = plain(name)
        held[item] = min(held.get(item, 0) + amount, LARGEST_COUNT)
    return dict(sorted(held.items()))


def hand(value: Any) -> str | None:
    """The item in the main hand, from "name" or {type: name}; "none" for an empty hand, None when untold."""
    if isinstance(value, Mapping):
        value = value.get("type")
    if not isinstance(value, str):
        return None
    name = plain(value)
    return EMPTY_HAND if name in NOTHING else name


def pressed(action: Mapping[str, Any]) -> frozenset[str]:
    """The inputs of one action: keys that are down, "camera" when the view turned, and the choices that a
    format offers as an input of their own ("craft:planks")."""
    inputs = set()
    for key, value in action.items():
        if value == 0:  # the usual case: 20 of 21 keys are up
            continue
        if key == CAMERA:
            axes = value if isinstance(value, list) else [value]
            if any(number(axis) for axis in axes):
                inputs.add(CAMERA)
        elif isinstance(value, str):
            if value not in NOTHING:
                inputs.add(f"{key}:{plain(value)}")
        elif number(value):
            inputs.add(key)
    return frozenset(inputs)


def action_text(inputs: Iterable[str]) -> str:
    """Inputs in the contract's form: sorted, joined by "+"; "noop" when there is none."""
    return "+".join(sorted(inputs)) or NOOP


class CounterLog:
    """Cumulative counters as changes. The first totals seen of a group are its baseline."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self._last: dict[str, dict[str, float]] = {}
        self.seen = False

    def update(self, row: int, group: str, totals: Mapping[str, Any]) -> None:
        """Notes what changed in a group of counters; `group` "" means that the keys name their own."""
        last = self._last.get(group)
        self.seen = self.seen or bool(totals)
        try:
            changed = totals.items() - (last.items() if last is not None else ())
        except TypeError:  # a list among the values has no hash
            totals = {key: value for key in totals if (value := number(totals[key])) is not None}
            changed = totals.items() - (last.items() if last is not None else ())
        if last is None:
            self._last[group] = dict(changed)
            return
        for key, total in sorted(changed, key=lambda pair: pair[0]):
            name = counter_name(f"{group}:{key}" if group else key)
            after = count(total)
            if name is None or after is None:
                continue
            before = count(last.get(key)) or 0
            if after != before:
                self.changes.append(Change(row, name, before, after))
        last.update(changed)


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
    _raw_inventory: Any = None
    _said: dict[str, str] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return len(self.tick)

    def hold(self, inventory: Any) -> None:
        """Notes the inventory of the row to come, where it differs from the one before."""
        if inventory is None or inventory == self._raw_inventory:
            return
        held = tally(inventory)
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
