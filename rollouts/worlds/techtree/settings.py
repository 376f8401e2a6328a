"""What of the world can be set: techtree.toml, and the few things a run may choose for itself."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

PARAMETERS: Final = Path(__file__).with_name("techtree.toml")


@cache
def parameters() -> dict[str, Any]:
    """The tables of techtree.toml, read once; not to be changed."""
    return tomllib.loads(PARAMETERS.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Settings:
    """What a run chooses.

    `messages` adds game-like messages about what was refused; the measured runs have none, as MineRL has
    none. `ground` "flat" makes a plain of grass over stone without anything on it, for tests. `start` is the
    column (x, z) to start in, on top of the ground there, in the same world; None is the world's own.
    """

    messages: bool = False
    ground: Literal["grown", "flat"] = "grown"
    start: tuple[int, int] | None = None
