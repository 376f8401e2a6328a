"""Where things are on the screens of Minecraft 1.16.5, and what lies where on its crafting grids.

Positions are those of the game's container screens, in GUI pixels from the upper left corner of a screen of
176 × 166, which stands in the middle of the window. A slot is 16 pixels wide.
"""

import json
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

SCREEN: Final = (176, 166)
_HALF: Final = 8
_BAR: Final = 9
DEGREES_A_PIXEL: Final = 0.15
"""how far the mouse turns the view for a pixel of the window, at 50 % sensitivity; on a screen it moves the
cursor by that pixel instead"""

Spot = tuple[int, int]


class Grid(NamedTuple):
    """A crafting grid: its side in cells, where its first cell is, and where the result."""

    side: int
    first: Spot
    result: Spot

    def cell(self, row: int, column: int) -> Spot:
        """Where a cell is."""
        return self.first[0] + 18 * column, self.first[1] + 18 * row


OWN_GRID: Final = Grid(2, (98, 18), (154, 28))
TABLE_GRID: Final = Grid(3, (30, 17), (124, 35))
FURNACE_INPUT: Final[Spot] = (56, 17)
FURNACE_FUEL: Final[Spot] = (56, 53)
FURNACE_OUTPUT: Final[Spot] = (116, 35)


class Window(NamedTuple):
    """The game's window in pixels, and how many of them a GUI pixel is wide."""

    width: int = 640
    height: int = 360
    scale: int = 1

    @property
    def middle(self) -> tuple[float, float]:
        """Where the cursor is when a screen opens."""
        return self.width / 2, self.height / 2

    def pixel(self, spot: Spot) -> tuple[float, float]:
        """The window's pixel in the middle of the slot at a spot of the screen."""
        left = (self.width // self.scale - SCREEN[0]) // 2
        top = (self.height // self.scale - SCREEN[1]) // 2
        return (left + spot[0] + _HALF) * self.scale, (top + spot[1] + _HALF) * self.scale


def slot(number: int) -> Spot:
    """Where a slot of the player's own is on every screen: 0-8 the bar, 9-35 the bag. `ValueError` for
    another."""
    if not 0 <= number < 36:
        raise ValueError(f"no slot {number}")
    if number < _BAR:
        return 8 + 18 * number, 142
    row, column = divmod(number - _BAR, 9)
    return 8 + 18 * column, 84 + 18 * row


class Shape(NamedTuple):
    """A recipe's grid: for each of its rows what lies in each cell, an index into the ingredients or None."""

    ingredients: tuple[str, ...]
    rows: tuple[tuple[int | None, ...], ...]
    """empty where the recipe has no shape"""


@cache
def shapes() -> dict[tuple[str, frozenset[str]], Shape]:
    """(item, ingredients) -> how they lie, for every recipe of shapes.json."""
    rows = json.loads(Path(__file__).with_name("shapes.json").read_text(encoding="utf-8"))
    return {
        (item, frozenset(ingredients)): Shape(
            tuple(ingredients),
            tuple(tuple(None if cell == " " else ord(cell) - ord("A") for cell in line) for line in grid),
        )
        for item, ingredients, grid in rows
    }
