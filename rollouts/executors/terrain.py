"""What one can walk through, told from the domain's tables and from walking into it.

A domain does not say which of its blocks are solid. What can be neither held nor broken into anything is no
solid thing: air, liquids, fire. Air is what the head is in at the start; of the others a careful policy keeps
away without knowing what they do. Plants and the like are taken for solid until the body has stood in one.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from rollouts.window_kernel import RISKY, SOLID, Traits
from warehouse.domains import Domain

UNKNOWN: Final = "unknown"
"""what a window holds for cells that cannot be seen"""


class Palette(NamedTuple):
    """What is known of the entries of a window's palette, by their index."""

    names: tuple[str, ...]
    solid: list[bool]
    risky: list[bool]
    traits: Traits
    """`SOLID` and `RISKY` as bits, for the kernels"""
    unknown: int
    """the index of "unknown"; -1 without one"""


class Terrain:
    """Which blocks are open, and which of these are not to be entered. Learned over an episode."""

    def __init__(self, domain: Domain) -> None:
        self._airy = frozenset(
            block
            for block in domain.blocks
            if not domain.drops[block] and block not in domain.harvest and block not in domain.items
        )
        self._air: set[str] = set()
        self._entered: set[str] = set()
        self._palette: Palette | None = None
        self._members: dict[frozenset[str], npt.NDArray[np.bool_] | None] = {}
        self._members_of: tuple[str, ...] = ()

    def breathe(self, name: str, around: Sequence[str]) -> None:
        """The head is in `name` at the start of an episode; `around` are the names in view, commonest first.

        If the head is in a solid block, the commonest thing in view that can be air is taken for it.
        """
        self._air.update([each for each in (name, *around) if each in self._airy][:1])
        self._palette = None

    def palette(self, names: tuple[str, ...]) -> Palette:
        """What is known by now of the names of a palette."""
        # A world's windows share one palette, and looking at which it is takes less than comparing its names.
        if self._palette is None or self._palette.names is not names:
            solid = [not self.is_open(name) for name in names]
            risky = [self.is_risky(name) for name in names]
            traits = np.array(solid, np.uint8) * SOLID | np.array(risky, np.uint8) * RISKY
            unknown = names.index(UNKNOWN) if UNKNOWN in names else -1
            self._palette = Palette(names, solid, risky, traits.astype(np.uint8), unknown)
        return self._palette

    def members(self, palette: tuple[str, ...], names: frozenset[str]) -> npt.NDArray[np.bool_] | None:
        """Which entries of a palette are among `names`; None where none is."""
        if self._members_of is not palette:
            self._members_of = palette
            self._members.clear()
        if names not in self._members:
            table = np.array([name in names for name in palette])
            self._members[names] = table if table.any() else None
        return self._members[names]

    def stand_in(self, name: str) -> None:
        """The body is in `name`, so it is open."""
        if name != UNKNOWN and name not in self._airy and name not in self._entered:
            self._entered.add(name)
            self._palette = None

    def is_air(self, name: str) -> bool:
        return name in self._air

    def is_open(self, name: str) -> bool:
        """One can walk, see and reach through it."""
        return name in self._airy or name in self._entered

    def is_risky(self, name: str) -> bool:
        """Open and no air, or a thing like it: a liquid, a fire."""
        return name in self._airy and name not in self._air
