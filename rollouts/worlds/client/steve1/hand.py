"""A hand at the keyboard and the mouse: opens screens, moves the cursor, clicks, and looks what came of it.

Everything here is a generator that yields the keys of a tick and is sent the observation after it (`Doing`).
It knows of the world what the observation says: which slots hold what, and whether a screen is open. What
lies on the cursor, in a grid or in a furnace is not told.
"""

import math
from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Final

from rollouts.protocols import Keys, Observation
from rollouts.worlds.client.steve1.layout import DEGREES_A_PIXEL, Spot, Window, slot
from warehouse.domains import Domain

Doing = Generator[Keys, Observation, None]
Point = tuple[float, float, float]
_REST: Final = Keys()
_OPENS: Final = 20
"""ticks that a screen may take to open or to close"""
_SETTLES: Final = 10
"""ticks that what was clicked may take to show in the slots"""
_DOWN: Final = (60.0, 45.0)
"""degrees down at which the ground is looked at: just before the feet, and a step further, where no body
stands however close it is to the edge of its cell"""
_UP: Final = -30.0
"""where nothing is in reach that a key could be used on"""
_TURN: Final = 90.0
_HEWING: Final = (25, 50, 100)
"""ticks of hitting after which a piece of a wall may have made way; stone takes 23 by a wooden pickaxe"""
_TAKING: Final = 120
"""ticks of hitting after which a station is left where it stands"""
_FETCHING: Final = 12
"""ticks of walking over what it left"""


class GivenUpError(Exception):
    """What was to be done cannot be; `signal` and `name` are those of the trace contract."""

    def __init__(self, signal: str | None, name: str | None, text: str) -> None:
        super().__init__(text)
        self.signal, self.name = signal, name


class Hand:
    """What it holds on to from tick to tick: the last observation and where the cursor is."""

    def __init__(
        self, domain: Domain, window: Window, now: Observation, standing: dict[str, Point] | None = None
    ) -> None:
        """`standing` is where on the ground it has put stations down that were not taken back, by name; it is
        kept up to date."""
        self.domain = domain
        self.now = now
        self.standing = {} if standing is None else standing
        self.hurries = False
        """whether what it does is wanted no more: it puts things back and makes nothing new"""
        self._window = window
        self._cursor = window.middle

    @property
    def at_screen(self) -> bool:
        """Whether a screen is open, as far as the world tells."""
        return self.now.gui not in (None, "none")

    @property
    def slots(self) -> Mapping[int, tuple[str, int]]:
        """What the slots hold; see `needs_slots`."""
        self.needs_slots()
        assert self.now.slots is not None
        return self.now.slots

    def needs_slots(self) -> None:
        """`GivenUpError` where the world does not tell what is in which slot."""
        if self.now.slots is None:
            raise GivenUpError("invalid_action", None, "the hand needs slots, which this world does not tell")

    def count(self, items: Iterable[str]) -> int:
        """How many of these are held."""
        return sum(self.now.inventory.get(item, 0) for item in items)

    def slot_of(self, item: str) -> int | None:
        """The slot with most of an item, the first of several; None without one."""
        held = [(-count, number) for number, (name, count) in self.slots.items() if name == item]
        return min(held)[1] if held else None

    def best_tool(self, blocks: frozenset[str]) -> str | None:
        """The best tool held for these blocks, of the class that breaks them so that they leave something;
        None where no tool is needed, or none is held."""
        domain = self.domain
        classes = {domain.harvest[block][0] for block in blocks if block in domain.harvest}
        fit = [tool for tool in sorted(self.now.inventory) if domain.tools.get(tool, ("",))[0] in classes]
        return max(fit, key=lambda tool: domain.tool_tiers.index(domain.tools[tool][1]), default=None)

    def tick(self, keys: Keys = _REST) -> Doing:
        """One tick under these keys."""
        self.now = yield keys

    def wait(self, ticks: int, until: Callable[[], bool]) -> Doing:
        """Rests until something holds, for so many ticks at most."""
        for _ in range(ticks):
            if until():
                return
            yield from self.tick()

    def press(self, *keys: str) -> Doing:
        """Presses keys for a tick, and lets go."""
        yield from self.tick(Keys(tuple(sorted(keys))))
        yield from self.tick()

    # On a screen

    def open_own(self) -> Doing:
        """Opens the inventory."""
        yield from self.close()
        yield from self.press("inventory")
        yield from self._opened("the inventory did not open")

    def _opened(self, otherwise: str) -> Doing:
        yield from self.wait(_OPENS, lambda: self.at_screen)
        if not self.at_screen:
            raise GivenUpError("action_timeout", None, otherwise)
        self._cursor = self._window.middle

    def close(self) -> Doing:
        """Closes whatever screen is open; the inventory's key does that on all of them."""
        for _ in range(2):
            if not self.at_screen:
                return
            yield from self.press("inventory")
            yield from self.wait(_OPENS, lambda: not self.at_screen)

    def point(self, spot: Spot) -> Doing:
        """Moves the cursor to a slot of the screen."""
        x, y = self._window.pixel(spot)
        across, down = x - self._cursor[0], y - self._cursor[1]
        if across or down:
            yield from self.tick(Keys((), down * DEGREES_A_PIXEL, across * DEGREES_A_PIXEL))
        self._cursor = (x, y)

    def click(self, spot: Spot) -> Doing:
        """Takes, puts or swaps the whole stack."""
        yield from self.point(spot)
        yield from self.press("attack")

    def put_one(self, spot: Spot) -> Doing:
        """Puts down one of what is on the cursor."""
        yield from self.point(spot)
        yield from self.press("use")

    def move_over(self, spot: Spot) -> Doing:
        """Moves a stack to the other side of the screen: what the shift key does to a click."""
        yield from self.point(spot)
        yield from self.tick(Keys(("sneak",)))
        yield from self.tick(Keys(("attack", "sneak")))
        yield from self.tick(Keys(("sneak",)))
        yield from self.tick()

    def put(self, item: str, spots: Iterable[Spot]) -> Doing:
        """Puts one of an item on each of these spots, from its own slots, and the rest back."""
        left = list(spots)
        while left:
            source = self.slot_of(item)
            if source is None:
                raise GivenUpError("missing_item", item, f"missing item {item}")
            count = min(self.slots[source][1], len(left))
            yield from self.click(slot(source))
            for spot in left[:count]:
                yield from self.put_one(spot)
            yield from self.click(slot(source))
            yield from self.tick()
            left = left[count:]

    # Before the eyes

    def to_bar(self, item: str) -> Doing:
        """Brings an item to the bar, and takes it in the hand. `GivenUpError` without one."""
        source = self.slot_of(item)
        if source is None:
            raise GivenUpError("missing_item", item, f"missing item {item}")
        if source > 8:
            free = next((number for number in range(9) if number not in self.slots), 8)
            yield from self.open_own()
            yield from self.click(slot(source))
            yield from self.click(slot(free))
            yield from self.click(slot(source))  # puts down what lay there, or does nothing
            yield from self.close()
            source = free
        yield from self.press(f"hotbar.{source + 1}")

    def look(self, pitch: float, turn: float = 0.0) -> Doing:
        """Looks so many degrees down from level, and turns by so many to the right."""
        yield from self.tick(Keys((), pitch - self.now.pitch, turn))

    def look_at(self, point: Point) -> Doing:
        """Turns to a point."""
        across, ahead = point[0] - self.now.x, point[2] - self.now.z
        down = self.now.y + self.domain.eye_height - point[1]
        turn = math.degrees(math.atan2(-across, ahead)) - self.now.yaw
        pitch = math.degrees(math.atan2(down, math.hypot(across, ahead)))
        yield from self.look(pitch, (turn + 180) % 360 - 180)

    def _looked_at(self) -> Point:
        """Where on level ground it looks."""
        turn = math.radians(self.now.yaw)
        away = self.domain.eye_height / math.tan(math.radians(self.now.pitch))
        return self.now.x - away * math.sin(turn), self.now.y, self.now.z + away * math.cos(turn)

    def _in_reach(self, point: Point) -> bool:
        eyes = self.now.x, self.now.y + self.domain.eye_height, self.now.z
        return math.dist(eyes, point) <= self.domain.reach

    def look_up(self) -> Doing:
        """Looks at what no key does anything to."""
        yield from self.look(_UP)

    def place(self, item: str) -> Doing:
        """Puts a block on the ground beside the body, ahead first; where a wall is all around, in its place.
        `GivenUpError` without the item, or without room."""
        yield from self.close()
        yield from self.to_bar(item)
        before = self.count((item,))
        for pitch in _DOWN:
            for side in range(4):
                yield from self.look(pitch, _TURN if side else 0.0)
                if (yield from self._put_before(item, before)):
                    return
        for ticks in _HEWING:
            if (tool := self.best_tool(frozenset({self.domain.smelting_station}))) is not None:
                yield from self.to_bar(tool)
            yield from self.look(_DOWN[0])
            for _ in range(ticks):
                yield from self.tick(Keys(("attack",)))
            yield from self.to_bar(item)
            if (yield from self._put_before(item, before)):
                return
        raise GivenUpError("no_room", item, f"no room to place the {item}")

    def _put_before(self, item: str, before: int) -> Generator[Keys, Observation, bool]:
        """Whether what is in the hand was put down where it looks. `GivenUpError` if it has to hurry."""
        if self.hurries:
            raise GivenUpError(None, item, f"the {item} is wanted no more")
        yield from self.press("use")
        yield from self.wait(_SETTLES, lambda: self.at_screen or self.count((item,)) < before)
        # What stands there already has opened instead.
        yield from self.close()
        placed = self.count((item,)) < before
        if placed and item in self.domain.stations:
            self.standing[item] = self._looked_at()
        return placed

    def open_station(self, station: str) -> Doing:
        """Opens the station that it has put down if that is in reach still, else puts one down beside the
        body and opens that. `GivenUpError` where there is none, or no room."""
        yield from self.close()
        there = self.standing.get(station)
        if there is not None and self._in_reach(there):
            yield from self.look_at(there)
            yield from self.press("use")
            yield from self.wait(_SETTLES, lambda: self.at_screen)
            if self.at_screen:
                self._cursor = self._window.middle
                return
        if self.slot_of(station) is None:
            raise GivenUpError("missing_station", station, f"no {station} is at hand")
        yield from self.place(station)
        yield from self.press("use")
        yield from self._opened(f"the {station} did not open")

    def take_back(self, station: str) -> Doing:
        """Breaks the station that is looked at and picks it up; what takes too long is left standing."""
        before = self.count((station,))
        for tick in range(_TAKING):
            if self.count((station,)) > before:
                self.standing.pop(station, None)
                break
            keys = ("attack", "forward") if tick % 40 >= 40 - _FETCHING else ("attack",)
            yield from self.tick(Keys(keys))
        yield from self.tick()
