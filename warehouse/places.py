"""Where something happened or is wanted, as far as a recording tells."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Place:
    """Where: position in blocks, names of depth band and biome, and `world`, which tells worlds apart.

    Distances count only between places of one known world (`world_of`). None is unknown.
    """

    position: tuple[float, float, float] | None = None
    depth_band: str | None = None
    biome: str | None = None
    world: str | None = None


NOWHERE: Final = Place()


def world_of(name: str | None, seed: int | None) -> str | None:
    """What tells a world from all others: its name and its seed; None unless both are known."""
    return None if name is None or seed is None else f"{name}/{seed}"
