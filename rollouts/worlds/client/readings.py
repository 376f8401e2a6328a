"""What a client's worker says of a tick, in the words of the trace contract.

A reading is a JSON object (docs/worlds.md says what is in it). The game tells totals since the world began
("mine_block:stone": 12); what happened at a tick is how far they rose. It tells that a screen is open and not
which.
"""

import base64
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from rollouts.ingest.tick_columns import counter_name, hand, plain, tally
from rollouts.protocols import Keys, WorldEvent
from warehouse.vocabulary import GUIS

_CLICKS: Final = 5
"""ticks that a click may take to open a screen"""
_USED: Final = "interact_with:"


class Reading(NamedTuple):
    """A tick as it was read; what the simulator does not tell is None, a number NaN."""

    x: float
    y: float
    z: float
    yaw: float
    pitch: float
    health: float
    hunger: float
    alive: bool | None
    gui: str | None
    equipped: str | None
    inventory: Mapping[str, int]
    slots: Mapping[int, tuple[str, int]] | None


COLUMNS: Final = {
    "x": np.float32,
    "y": np.float32,
    "z": np.float32,
    "yaw": np.float32,
    "pitch": np.float32,
    "health": np.float32,
    "hunger": np.float32,
    "alive": object,
    "gui": object,
    "equipped": object,
}
"""the contract's columns, which are the reading's first fields"""


class Reader:
    """Reads one episode's ticks, one after the other."""

    def __init__(self, first: Mapping[str, Any]) -> None:
        """`first` is what is told of the tick at which the player stands there: nothing has happened yet."""
        self._totals = _totals(first)
        self._screen = "none"
        self._clicks: deque[bool] = deque(maxlen=_CLICKS)
        self.now = self._read(first, Keys(), frozenset())

    def read(
        self, told: Mapping[str, Any], keys: Keys, tick: int
    ) -> tuple[list[WorldEvent], list[tuple[int, str, int, int]]]:
        """Takes a tick in that passed under these keys: what happened at it, and what changed in the
        inventory, as `Advance` has them."""
        before, totals = self.now, _totals(told)
        rose = {
            name: total - self._totals.get(name, 0)
            for name, total in sorted(totals.items())
            if total > self._totals.get(name, 0)
        }
        self._totals = totals
        self.now = self._read(told, keys, frozenset(rose))
        events = [WorldEvent(tick, "counter", name, many) for name, many in rose.items()]
        events += [WorldEvent(tick, "game", None, None, text) for text in told.get("messages") or ()]
        if self.now.alive is False and before.alive is not False:
            events.append(WorldEvent(tick, "game", "died", None, None, "died"))
        return events, list(_changes(before.inventory, self.now.inventory, tick))

    def _read(self, told: Mapping[str, Any], keys: Keys, rose: frozenset[str]) -> Reading:
        held = tally(told.get("inventory"))
        if held is None:
            raise ValueError("no inventory that can be read")
        slots = told.get("slots")
        x, y, z, yaw, pitch, health, hunger = (_number(told.get(name)) for name in list(COLUMNS)[:7])
        return Reading(
            x=x,
            y=y,
            z=z,
            yaw=yaw,
            pitch=pitch,
            health=health,
            hunger=hunger,
            alive=told.get("alive"),
            gui=self._named(told.get("gui"), keys, rose),
            equipped=hand(told.get("equipped")),
            inventory=held,
            slots=None
            if slots is None
            else {int(slot): (plain(item), int(many)) for slot, (item, many) in slots.items()},
        )

    def _named(self, is_open: bool | None, keys: Keys, rose: frozenset[str]) -> str | None:
        """Which screen is open: the station whose use was counted just then, the inventory where its key was
        pressed and nothing was clicked that could have opened another; otherwise "other"."""
        self._clicks.append("use" in keys.held)
        if is_open is None:
            return None
        if not is_open:
            self._screen = "none"
            return self._screen
        stations = [name.removeprefix(_USED) for name in sorted(rose) if name.startswith(_USED)]
        if stations:
            self._screen = stations[0] if stations[0] in GUIS else "other"
        elif self._screen == "none":
            own = "inventory" in keys.held and not any(self._clicks)
            self._screen = "inventory" if own else "other"
        return self._screen


def picture(told: Mapping[str, Any], frame: tuple[int, int]) -> npt.NDArray[np.uint8] | None:
    """The picture of a reading, (height, width, 3) in RGB for a `frame` of width and height; None without
    one. `ValueError` where it has another size."""
    if told.get("frame") is None:
        return None
    width, height = frame
    return np.frombuffer(base64.b64decode(told["frame"]), np.uint8).reshape(height, width, 3)


def columns(readings: Sequence[Reading], keys: Sequence[Keys]) -> dict[str, npt.NDArray[Any]]:
    """The columns of the contract's ticks for some readings and the keys that they passed under."""
    values = zip(*(reading[: len(COLUMNS)] for reading in readings), strict=True)
    made = {
        name: np.array(column, kind) for (name, kind), column in zip(COLUMNS.items(), values, strict=True)
    }
    return made | {"action": np.array([each.name() for each in keys], object)}


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


def _totals(told: Mapping[str, Any]) -> dict[str, int]:
    """The counters of achievements, by the contract's names."""
    named = ((counter_name(key), total) for key, total in (told.get("counters") or {}).items())
    return {name: int(total) for name, total in named if name is not None}


def _changes(
    before: Mapping[str, int], after: Mapping[str, int], tick: int
) -> Iterator[tuple[int, str, int, int]]:
    for item in sorted(before.keys() | after.keys()):
        delta = after.get(item, 0) - before.get(item, 0)
        if delta:
            yield tick, item, delta, after.get(item, 0)
