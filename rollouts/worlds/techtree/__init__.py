"""The built-in world `techtree`: a seeded voxel world with Minecraft's rules in small (docs/techtree.md)."""

from rollouts.worlds.techtree.settings import Settings
from rollouts.worlds.techtree.world import TechTree

__all__ = ["Settings", "TechTree"]
