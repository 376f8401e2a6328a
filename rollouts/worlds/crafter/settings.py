"""What a run in Crafter may choose for itself."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """`images` lets the game draw its picture at every step, which nobody here looks at. Crafter draws the
    noise of its nights from the numbers that also move its creatures, so that with and without pictures a
    world goes different ways from its first dusk on. With them it is the published game; without it is
    faster.
    """

    images: bool = True
