"""What a run in a Minecraft world may choose for itself."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

WORKER: Final = Path(__file__).with_name("worker")
"""the folder of the Node worker"""


@dataclass(frozen=True)
class Settings:
    """Where and how fast is played.

    Without a `host` every episode has a server of its own, embedded in its worker: a new world from the
    episode's seed, whose time passes only while a step is asked for, `speed` times as fast as the game's (0:
    as fast as the processor goes). With a `host` it is that server's world as it stands and goes on:
    `username` joins it, with an account where `auth` is "microsoft", and says `commands` in the chat when an
    episode begins.

    `silence_s` is how long a worker may say nothing at all, `reply_s` how long one answer may take; then the
    episode's environment counts as failed. `node` is the program that runs the worker.
    """

    host: str = ""
    port: int = 25565
    username: str = "mineevolve"
    auth: Literal["offline", "microsoft"] = "offline"
    commands: tuple[str, ...] = ()
    speed: float = 0.0
    silence_s: float = 30.0
    reply_s: float = 180.0
    node: str = "node"
