"""The built-in world `techtree`: a seeded voxel world with Minecraft's rules in small (docs/techtree.md).

`TechTree` is imported when it is asked for: who only reads the parameters needs no compiled kernels.
"""

from typing import TYPE_CHECKING

from rollouts.worlds.techtree.settings import Settings

if TYPE_CHECKING:
    from rollouts.worlds.techtree.world import TechTree

__all__ = ["Settings", "TechTree"]


def __getattr__(name: str) -> object:
    if name != "TechTree":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rollouts.worlds.techtree.world import TechTree

    return TechTree
