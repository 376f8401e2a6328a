"""A small model of Minecraft's screens: slots, a cursor that the mouse moves, clicks, grids, a furnace, and
flat ground around a body that looks where it is turned. It is no game; where things are and what clicks do is
written down here a second time, from the game's own container classes, so that a hand that aims beside a slot
misses it. What the server says (a grid's result, a station's screen) comes ticks later; what is on the cursor
when a screen closes is thrown away; what is broken lies on the ground for a while.

`tick` is what tests/malmo_game.py serves to MineStudio's real simulator.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from rollouts.protocols import Keys, Observation

Stack = tuple[str, int]
Place = tuple[str, int]
"""("own", slot), ("grid", cell) or ("result" | "input" | "fuel" | "output", 0)"""

RECIPES: Final[list[tuple[tuple[str, ...], dict[str, str], Stack]]] = [
    (("L",), {"L": "oak_log"}, ("oak_planks", 4)),
    (("P", "P"), {"P": "oak_planks"}, ("stick", 4)),
    (("PP", "PP"), {"P": "oak_planks"}, ("crafting_table", 1)),
    (("PPP", " S ", " S "), {"P": "oak_planks", "S": "stick"}, ("wooden_pickaxe", 1)),
    (("CCC", " S ", " S "), {"C": "cobblestone", "S": "stick"}, ("stone_pickaxe", 1)),
    (("CCC", "C C", "CCC"), {"C": "cobblestone"}, ("furnace", 1)),
    (("C", "S"), {"C": "coal", "S": "stick"}, ("torch", 4)),
    (("I I", " I "), {"I": "iron_ingot"}, ("bucket", 1)),
]
MELTS: Final = {"iron_ore": "iron_ingot", "oak_log": "charcoal"}
BURNS: Final = {"coal": 1600, "oak_planks": 300, "oak_log": 300}
STATIONS: Final = ("crafting_table", "furnace")
BREAKING: Final = {"crafting_table": (75, 75), "furnace": (350, 53), "stone": (150, 23)}
"""ticks by hand, where nothing but a table is left of it, and with a wooden pickaxe"""
TOOLS: Final = ("_pickaxe", "_axe", "_shovel", "_hoe", "_sword")
EYES: Final = 1.62
BODY: Final = 0.3
"""blocks from its middle to its sides"""
LATE: Final = 2
"""ticks until the server's word is there"""
LYING: Final = 10
"""ticks until what lies on the ground can be picked up"""
MEALS: Final = ("bread", "cooked_beef")
EATING: Final = 32
AROUND: Final = [(x, z) for x in (-1, 0, 1) for z in (-1, 0, 1) if x or z]


@dataclass
class ScreenGame:
    """`scale` is the width of a GUI pixel; `cells` are blocks that stand on the ground, and the body is at
    `x`, `z` in the cell 0, 0. It may ignore clicks, open no screen, or take no block."""

    slots: dict[int, Stack] = field(default_factory=dict)
    width: int = 640
    height: int = 360
    scale: int = 1
    deaf: bool = False
    shut: bool = False
    walled: bool = False
    screen: str | None = None
    grid: dict[int, Stack] = field(default_factory=dict)
    oven: dict[str, Stack] = field(default_factory=dict)
    cursor: Stack | None = None
    mouse: tuple[float, float] = (0.0, 0.0)
    bar: int = 0
    cells: dict[tuple[int, int], str] = field(default_factory=dict)
    x: float = 0.5
    z: float = 0.5
    lying: list[tuple[int, Stack]] = field(default_factory=list)
    lost: Counter[str] = field(default_factory=Counter)
    opens: tuple[int, str] = (0, "")
    shows: int = 0
    eaten: int = 0
    pitch: float = 0.0
    yaw: float = 0.0
    hits: int = 0
    hit: tuple[int, int] | None = None
    flame: int = 0
    melted: int = 0
    now: int = 0
    last: frozenset[str] = frozenset()
    clicks: int = 0
    missed: int = 0

    def tick(self, held: frozenset[str], pitch: float, yaw: float) -> Mapping[str, Any]:
        self.now += 1
        pressed, self.last = held - self.last, held
        self._burn()
        self._arrive()
        if self.screen is None:
            self.pitch, self.yaw = min(90.0, max(-90.0, self.pitch + pitch)), self.yaw + yaw
            self._before_the_eyes(held, pressed)
        else:
            x, y = self.mouse[0] + yaw / 0.15, self.mouse[1] + pitch / 0.15
            self.mouse = (min(self.width, max(0.0, x)), min(self.height, max(0.0, y)))
            self._on_screen(held, pressed)
        return self.state()

    def state(self) -> Mapping[str, Any]:
        return {
            "x": self.x,
            "y": 64.0,
            "z": self.z,
            "yaw": self.yaw,
            "pitch": self.pitch,
            "health": 20.0,
            "hunger": 20.0,
            "gui": self.screen is not None,
            "slots": dict(self.slots),
            "equipped": self.slots.get(self.bar, ("air", 0))[0],
            "counters": {},
        }

    @property
    def ahead(self) -> str | None:
        """The station that stands here, the first of several."""
        return next((block for block in self.cells.values() if block in STATIONS), None)

    # In the world

    def _arrive(self) -> None:
        at, screen = self.opens
        if at == self.now and self.screen is None:
            self._open(screen)
        self.lying = [(at, stack) for at, stack in self.lying if at > self.now or not self._stow(stack)]

    def _before_the_eyes(self, held: frozenset[str], pressed: frozenset[str]) -> None:
        for key in sorted(pressed):
            if key.startswith("hotbar."):
                self.bar = int(key[7:]) - 1
        if "inventory" in pressed and not self.shut:
            self._open("inventory")
            return
        cell = self._aim()
        there = None if cell is None else self.cells.get(cell)
        hand = self.slots.get(self.bar, ("", 0))[0]
        if "use" in pressed and there in STATIONS:
            self.opens = (self.now + LATE, there)
        elif "use" in pressed and cell is not None and there is None and self._takes(hand, cell):
            self.cells[cell] = hand
            self._lose(("own", self.bar), 1)
        meal = "use" in held and hand in MEALS and there not in STATIONS
        self.eaten = self.eaten + 1 if meal else 0
        if self.eaten == EATING:
            self._lose(("own", self.bar), 1)
        self.hits = self.hits + 1 if "attack" in held and cell == self.hit else 0
        self.hit = cell
        if cell is not None and there is not None and self.hits:
            by_hand, by_pickaxe = BREAKING[there]
            pickaxe = hand.endswith("_pickaxe")
            if self.hits >= (by_pickaxe if pickaxe else by_hand):
                del self.cells[cell]
                if there in STATIONS and (pickaxe or there == "crafting_table"):
                    self.lying.append((self.now + LYING, (there, 1)))

    def _aim(self) -> tuple[int, int] | None:
        """The cell of the block that is looked at, or of the ground where none is; None for the sky."""
        down, turn = math.radians(self.pitch), math.radians(self.yaw)
        for step in range(1, 450):
            away = step / 100
            height = EYES - away * math.sin(down)
            x = self.x - away * math.cos(down) * math.sin(turn)
            z = self.z + away * math.cos(down) * math.cos(turn)
            cell = math.floor(x), math.floor(z)
            if height < 0 or (height < 1 and cell in self.cells):
                return cell
        return None

    def _takes(self, hand: str, cell: tuple[int, int]) -> bool:
        """Whether what is in the hand can be put there: a station, where the body does not stand."""
        return (
            hand in STATIONS
            and not self.walled
            and any(
                abs(place - corner - 0.5) >= 0.5 + BODY
                for place, corner in zip((self.x, self.z), cell, strict=True)
            )
        )

    def _open(self, screen: str) -> None:
        self.screen, self.mouse = screen, (self.width / 2, self.height / 2)

    # On a screen

    def _on_screen(self, held: frozenset[str], pressed: frozenset[str]) -> None:
        if "inventory" in pressed:
            for stack in self.grid.values():
                self._stow(stack)
            if self.cursor is not None:
                self.lost[self.cursor[0]] += self.cursor[1]
            self.grid, self.cursor, self.screen = {}, None, None
            return
        if self.deaf or not pressed & {"attack", "use"}:
            return
        self.clicks += 1
        place = self._under()
        if place is None:
            self.missed += 1
        elif "attack" in pressed:
            self._shift(place) if "sneak" in held else self._left(place)
        else:
            self._right(place)

    def _under(self) -> Place | None:
        left, top = (self.width // self.scale - 176) // 2, (self.height // self.scale - 166) // 2
        x, y = self.mouse[0] / self.scale - left, self.mouse[1] / self.scale - top

        def inside(at: tuple[int, int]) -> bool:
            return at[0] <= x < at[0] + 16 and at[1] <= y < at[1] + 16

        for column in range(9):
            if inside((8 + column * 18, 142)):
                return "own", column
            for row in range(3):
                if inside((8 + column * 18, 84 + row * 18)):
                    return "own", 9 + row * 9 + column
        side, first, result = (
            (2, (98, 18), (154, 28)) if self.screen == "inventory" else (3, (30, 17), (124, 35))
        )
        if self.screen == "furnace":
            spots = {"input": (56, 17), "fuel": (56, 53), "output": (116, 35)}
            return next(((name, 0) for name, at in spots.items() if inside(at)), None)
        if inside(result):
            return "result", 0
        for row in range(side):
            for column in range(side):
                if inside((first[0] + column * 18, first[1] + row * 18)):
                    return "grid", row * 3 + column
        return None

    def _at(self, place: Place) -> Stack | None:
        kind, number = place
        if kind == "own":
            return self.slots.get(number)
        if kind == "grid":
            return self.grid.get(number)
        if kind == "result":
            return self._result() if self.now >= self.shows else None
        return self.oven.get(kind)

    def _set(self, place: Place, stack: Stack | None) -> None:
        kind, number = place
        where: dict[Any, Stack] = self.slots if kind == "own" else self.grid if kind == "grid" else self.oven
        key = number if kind in ("own", "grid") else kind
        if kind == "grid":
            self.shows = self.now + LATE
        if stack is None or stack[1] == 0:
            where.pop(key, None)
        else:
            where[key] = stack

    def _lose(self, place: Place, count: int) -> None:
        stack = self._at(place)
        assert stack is not None
        self._set(place, (stack[0], stack[1] - count))

    def _left(self, place: Place) -> None:
        there, mine = self._at(place), self.cursor
        if place[0] == "result":
            if there is not None and mine is None:
                self.cursor = there
                self._spend()
        elif there is not None and mine is not None and there[0] == mine[0]:
            moved = min(_most(mine[0]) - there[1], mine[1])
            self._set(place, (there[0], there[1] + moved))
            self.cursor = (mine[0], mine[1] - moved) if mine[1] > moved else None
        else:
            self._set(place, mine)
            self.cursor = there

    def _right(self, place: Place) -> None:
        there, mine = self._at(place), self.cursor
        if mine is None:
            if there is not None and place[0] != "result":
                half = (there[1] + 1) // 2
                self.cursor = (there[0], half)
                self._set(place, (there[0], there[1] - half))
        elif there is None or (there[0] == mine[0] and there[1] < _most(mine[0])):
            self._set(place, (mine[0], (there[1] if there else 0) + 1))
            self.cursor = (mine[0], mine[1] - 1) if mine[1] > 1 else None

    def _shift(self, place: Place) -> None:
        if place[0] == "result" and self._at(place) is not None:
            while (made := self._result()) is not None and self._stow(made):
                self._spend()
        elif place[0] != "own" and (there := self._at(place)) is not None and self._stow(there):
            self._set(place, None)

    def _stow(self, stack: Stack) -> bool:
        """Puts a stack into the player's slots; False where there is no room."""
        for number in (*range(9, 36), *range(9)):
            there = self.slots.get(number)
            if there is not None and there[0] == stack[0] and there[1] + stack[1] <= _most(stack[0]):
                self.slots[number] = (stack[0], there[1] + stack[1])
                return True
        for number in (*range(9), *range(9, 36)):
            if number not in self.slots:
                self.slots[number] = stack
                return True
        return False

    def _result(self) -> Stack | None:
        if not self.grid:
            return None
        rows, columns = [cell // 3 for cell in self.grid], [cell % 3 for cell in self.grid]
        lying = tuple(
            tuple(
                self.grid.get(row * 3 + column, ("", 0))[0]
                for column in range(min(columns), max(columns) + 1)
            )
            for row in range(min(rows), max(rows) + 1)
        )
        for shape, key, made in RECIPES:
            if lying == tuple(tuple(key.get(cell, "") for cell in line) for line in shape):
                return made
        return None

    def _spend(self) -> None:
        for cell in list(self.grid):
            self._lose(("grid", cell), 1)

    def _burn(self) -> None:
        source = self.oven.get("input")
        if source is None or source[0] not in MELTS:
            self.melted = 0
            return
        if self.flame == 0 and (fuel := self.oven.get("fuel")) is not None:
            self.flame = BURNS[fuel[0]]
            self._lose(("fuel", 0), 1)
        if self.flame:
            self.flame -= 1
            self.melted += 1
        if self.melted == 200:
            self.melted = 0
            done = self.oven.get("output", (MELTS[source[0]], 0))
            self._lose(("input", 0), 1)
            self._set(("output", 0), (done[0], done[1] + 1))


def _most(item: str) -> int:
    """How many of an item share a slot."""
    return 1 if item.endswith(TOOLS) else 16 if item == "bucket" else 64


def seen(game: ScreenGame) -> Observation:
    """What a world over this game would observe now."""
    state = game.state()
    held: dict[str, int] = {}
    for item, count in state["slots"].values():
        held[item] = held.get(item, 0) + count
    return Observation(
        tick=game.now,
        x=game.x,
        y=64.0,
        z=game.z,
        yaw=game.yaw,
        pitch=game.pitch,
        health=20.0,
        hunger=20.0,
        alive=True,
        gui="none" if game.screen is None else "other",
        inventory=held,
        equipped=state["equipped"],
        frame=np.zeros((128, 128, 3), np.uint8),
        slots=state["slots"],
    )


def played(game: ScreenGame, keys: Keys) -> Observation:
    """A tick under these keys."""
    game.tick(frozenset(keys.held), keys.pitch, keys.yaw)
    return seen(game)
