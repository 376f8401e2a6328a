"""What a run in the game's own client may choose for itself."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, Self

_HOME: Final = Path(__file__).parents[3]
"""where `make world-minestudio` and `make world-minerl` put their interpreters"""
WORKERS: Final = Path(__file__).with_name("workers")
"""the folder of the scripts that those interpreters run"""


def interpreter(named: str, world: str) -> Path:
    """The interpreter that a setting names, by a path or as a program; the one of `make world-WORLD` where it
    names none."""
    if not named:
        return _HOME / f".venv-{world}" / "bin" / "python"
    path = Path(named).expanduser()
    # A worker is started in its own folder, from which another path would lead elsewhere.
    return path.absolute() if len(path.parts) > 1 else path


@dataclass(frozen=True)
class Settings:
    """How the client is started and looked at.

    `python` is the interpreter that has the simulator; empty is that of `make world-NAME`. `frame` is the
    width and height of the picture that an executor gets, made from a window of 640 × 360. `biome` is
    where the player is put, where the simulator can choose. With a folder `film`, each episode's window goes
    there as EPISODE.mp4, 20 pictures a second. `games` is how many of them a process of rollouts has open
    side by side: their executors share a policy, which sees all their pictures at once. `silence_s` is how
    long the simulator may say nothing at all, `reply_s` how long one answer may take (to start the game takes
    minutes); then the episode's environment counts as failed.
    """

    python: str = ""
    frame: tuple[int, int] = (128, 128)
    biome: str = ""
    film: str = ""
    games: int = 4
    silence_s: float = 60.0
    reply_s: float = 900.0

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """The settings as JSON gives them, with lists for pairs. `ValueError` for a pair that is none."""
        pairs = {field.name for field in fields(cls) if field.type in ("tuple[int, int]", tuple[int, int])}
        for name in sorted(pairs & set(given)):
            pair = given[name]
            if not (
                isinstance(pair, list | tuple)
                and len(pair) == 2
                and all(isinstance(side, int) and side > 0 for side in pair)
            ):
                raise ValueError(f"{name} is a width and a height, such as [128, 128], not {pair!r}")
        chosen: dict[str, Any] = {
            name: tuple(value) if name in pairs else value for name, value in given.items()
        }
        return cls(**chosen)

    def interpreter(self, world: str) -> Path:
        """The interpreter of the world of this name."""
        return interpreter(self.python, world)


@dataclass(frozen=True)
class MineRLSettings(Settings):
    """`environment` is the id of one of MineRL's environments. It chooses no biome: `biome` says
    nothing here."""

    environment: str = "MineRLHumanSurvival-v0"
