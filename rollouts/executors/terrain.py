"""What one can walk through, told from the domain's tables and from walking into it.

A domain does not say which of its blocks are solid. What can be neither held nor broken into anything is no
solid thing: air, liquids, fire. Air is what the head is in at the start; of the others a careful policy keeps
away without knowing what they do. Plants and the like are taken for solid until the body has stood in one.
"""

from collections.abc import Sequence
from typing import Final

from warehouse.domains import Domain

UNKNOWN: Final = "unknown"
"""what a window holds for cells that cannot be seen"""


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
        self._tables: dict[tuple[str, ...], tuple[list[bool], list[bool]]] = {}

    def breathe(self, name: str, around: Sequence[str]) -> None:
        """The head is in `name` at the start of an episode; `around` are the names in view, commonest first.

        If the head is in a solid block, the commonest thing in view that can be air is taken for it.
        """
        self._air.update([each for each in (name, *around) if each in self._airy][:1])
        self._tables.clear()

    def tables(self, palette: tuple[str, ...]) -> tuple[list[bool], list[bool]]:
        """For every name of a palette: whether it is solid, whether it is a risk."""
        if palette not in self._tables:
            solid = [not self.is_open(name) for name in palette]
            self._tables[palette] = solid, [self.is_risky(name) for name in palette]
        return self._tables[palette]

    def stand_in(self, name: str) -> None:
        """The body is in `name`, so it is open."""
        if name != UNKNOWN and name not in self._airy and name not in self._entered:
            self._entered.add(name)
            self._tables.clear()

    def is_air(self, name: str) -> bool:
        return name in self._air

    def is_open(self, name: str) -> bool:
        """One can walk, see and reach through it."""
        return name in self._airy or name in self._entered

    def is_risky(self, name: str) -> bool:
        """Open and no air, or a thing like it: a liquid, a fire."""
        return name in self._airy and name not in self._air
