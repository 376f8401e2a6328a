"""Crafter itself, and all that is read of its inside: the one module that needs the package."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from crafter import constants
from crafter.env import Env
from crafter.objects import Plant

from rollouts.protocols import Seen

MATERIALS: Final[tuple[str, ...]] = ("unknown", *constants.materials)
"""by the number that stands for each in the game's map"""
ACTIONS: Final[Mapping[str, int]] = {name: number for number, name in enumerate(constants.actions)}
VITALS: Final = ("health", "food", "drink", "energy")
"""what Crafter counts in its inventory and nobody carries"""
CARRIED: Final[tuple[str, ...]] = tuple(item for item in constants.items if item not in VITALS)
_WIDE, _HIGH = 4, 3
"""cells to the left and right, and up and down, that the game's picture shows: nine by seven"""
LAYER: Final = 0.5
"""the height of everything: the middle of the one layer of cells"""


class Ahead(NamedTuple):
    """What the body looks at: the material, and whether something stands on it."""

    material: str | None
    occupied: bool


class Game(Env):  # type: ignore[misc]  # the package has no types
    """A Crafter environment that goes the same way in every process."""

    def __init__(self, *, images: bool) -> None:
        super().__init__(length=None, seed=0)
        self._images = images

    def begin(self, seed: int) -> None:
        """A new world. The same as the first episode of `crafter.Env(seed=seed)`."""
        self._seed, self._episode = seed, 0
        self.reset()

    def _obs(self) -> Any:
        return super()._obs() if self._images else None

    def _balance_chunk(self, chunk: Any, objs: Any) -> None:
        # Crafter goes through a set of objects, whose order is that of their addresses in memory: which of
        # several creatures vanishes would differ from run to run. Here they come in the order of their birth.
        number = self._world._obj_map
        super()._balance_chunk(chunk, sorted(objs, key=lambda each: int(number[tuple(each.pos)])))

    @property
    def player(self) -> Any:
        """The body: `inventory`, `achievements`, `facing`, `sleeping`, `pos`."""
        return self._player

    def ahead(self) -> Ahead:
        """What lies before the body."""
        x, z = (int(at) + step for at, step in zip(self._player.pos, self._player.facing, strict=True))
        material, thing = self._world[x, z]
        return Ahead(material, thing is not None)

    def cells(self) -> tuple[npt.NDArray[np.uint16], tuple[int, int, int]]:
        """The materials of the cells that the picture shows, (9, 1, 7), as numbers of `MATERIALS`, and the
        cell of the first of them; 0 beyond the edge of the world."""
        x, z = (int(at) for at in self._player.pos)
        west, north = x - _WIDE, z - _HIGH
        shown = np.zeros((2 * _WIDE + 1, 1, 2 * _HIGH + 1), np.uint16)
        left, top = max(west, 0), max(north, 0)
        inside = self._world._mat_map[left : x + _WIDE + 1, top : z + _HIGH + 1]
        width, height = inside.shape
        shown[left - west : left - west + width, 0, top - north : top - north + height] = inside
        return shown, (west, 0, north)

    def creatures(self) -> Iterator[Seen]:
        """Who and what stands in these cells, in the order of the cells, the body left out."""
        x, z = (int(at) for at in self._player.pos)
        left, top = max(x - _WIDE, 0), max(z - _HIGH, 0)
        shown = self._world._obj_map[left : x + _WIDE + 1, top : z + _HIGH + 1]
        for column, row in np.argwhere(shown).tolist():
            thing = self._world._objects[shown[column, row]]
            if thing is not self._player:
                yield Seen(_name(thing), left + column + 0.5, LAYER, top + row + 0.5)


def _name(thing: Any) -> str:
    # The picture shows whether a plant is ripe.
    return "ripe_plant" if isinstance(thing, Plant) and thing.ripe else type(thing).__name__.lower()
