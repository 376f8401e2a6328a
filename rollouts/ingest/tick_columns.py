"""Tick-level observations value by value: what one recorded observation says, in whatever form it has.

The formats differ in names and nesting; what is read here is common to all of them: numbers that may be 0-d
arrays (written as 1-lists), inventories as slots or as stacks, cumulative counters, pressed inputs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, NamedTuple

import polars as pl

from rollouts.ingest.protocol import Row, quarantined

LARGEST_COUNT: Final = 2**31 - 1
LARGEST_FLOAT: Final = 3.4e38  # what the store's Float32 holds
NOTHING: Final = frozenset({"", "none", "air", "null"})
"""how the formats write an empty slot or an empty hand"""
MOST_UNREAD: Final = 100
"""names whose values cannot be read that are told one by one, for one file"""
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
    """A finite number that fits the store, also from a 0-d array written as a 1-list; None for everything
    else."""
    if type(value) is float:  # most of what a recording holds
        return value if -LARGEST_FLOAT <= value <= LARGEST_FLOAT else None
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    # Compared before it is converted: an int may be too large for a float.
    if isinstance(value, int | float) and -LARGEST_FLOAT <= value <= LARGEST_FLOAT:
        return float(value)
    return None


def count(value: Any) -> int | None:
    """A whole, non-negative number that fits the store; None for everything else, 1.7 included."""
    real = number(value)
    return int(real) if real is not None and 0 <= real <= LARGEST_COUNT and real.is_integer() else None


def flag(value: Any) -> bool | None:
    """True or False, also as 0, 1 or a 1-list; None for everything else."""
    real = number(value)
    return None if real is None else real != 0


class Unread:
    """Values that are there and cannot be read: how many of each name, and where the first of them is."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, int | None]] = {}
        self._untold = 0

    def note(self, name: str, offset: int | None, many: int = 1) -> None:
        """`offset` is the byte of the object that holds the value, None in a file without such places."""
        if name in self._found:
            before, first = self._found[name]
            self._found[name] = (before + many, first)
        elif len(self._found) < MOST_UNREAD:
            self._found[name] = (many, offset)
        else:
            self._untold += many

    def quarantine(self, path: str, source: str, kept: int, size: int | None) -> list[Row]:
        """A quarantine row for each name."""
        rows = [
            quarantined(
                path,
                source,
                f"{name}: cannot be read {times(many)}, taken as unknown there",
                position=offset,
                kept=kept,
                size=size,
            )
            for name, (many, offset) in self._found.items()
        ]
        if self._untold:
            reason = f"values of other names: cannot be read {times(self._untold)}, taken as unknown there"
            rows.append(quarantined(path, source, reason, kept=kept, size=size))
        return rows


def times(many: int) -> str:
    """ "once", "2 times" """
    return "once" if many == 1 else f"{many} times"


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

    Sorted by item; empty slots are left out. None when it is no inventory, or when an amount in it cannot be
    read: a part of an inventory would show losses and gains that nobody had.
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
        if name is None or (isinstance(name, str) and name in NOTHING):
            continue
        amount = count(many)
        if amount is None or not isinstance(name, str):
            return None
        if amount:
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


def pressed(action: Mapping[str, Any], unread: Unread, offset: int | None = None) -> frozenset[str]:
    """The inputs of one action: keys that are down, "camera" when the view turned, and the choices that a
    format offers as an input of their own ("craft:planks"). What is neither number nor choice is noted."""
    inputs = set()
    for key, value in action.items():
        if value == 0:  # the usual case: 20 of 21 keys are up
            continue
        if key == CAMERA:
            axes = value if isinstance(value, list) else [value]
            turns = [number(axis) for axis in axes]
            if any(turns):
                inputs.add(CAMERA)
            if None in turns:
                unread.note(f"input {key}", offset)
        elif isinstance(value, str):
            if value not in NOTHING:
                inputs.add(f"{key}:{plain(value)}")
        else:
            down = number(value)
            if down:
                inputs.add(key)
            elif down is None and value is not None:
                unread.note(f"input {key}", offset)
    return frozenset(inputs)


def action_text(inputs: Iterable[str]) -> str:
    """Inputs in the contract's form: sorted, joined by "+"; "noop" when there is none."""
    return "+".join(sorted(inputs)) or NOOP
