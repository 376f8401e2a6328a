"""What MineStudio's simulator talks to, without the game: Malmo's protocol on a loopback port, and behind it
a game of a few lines. Everything of the simulator is real but that it starts no game of its own
(tests/stubbed_game/sitecustomize.py sends it here).

    with served(Meadow()) as game:
        ...                     # a worker with the environment that `game.environment(folder)` gives
"""

import json
import os
import socket
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any, Final, Protocol

import numpy as np

STUB: Final = Path(__file__).with_name("stubbed_game")
WINDOW: Final = (640, 360)
_PLACE: Final = ("x", "y", "z")
_HANDS: Final = ("mainhand", "offhand", "head", "chest", "legs", "feet")


class Game(Protocol):
    """What is played: its state after a tick, by the names of a reading."""

    def tick(self, held: frozenset[str], pitch: float, yaw: float) -> Mapping[str, Any]: ...


@dataclass
class Meadow:
    """A body that walks and turns, and a log that comes off after 10 ticks of attacking. It dies, or the game
    ends, or breaks off the connection, at the tick that is asked for."""

    item: str = "oak_log"
    dies_at: int | None = None
    ends_at: int | None = None
    breaks_at: int | None = None
    now: int = 0
    x: float = 0.5
    yaw: float = -90.0
    pitch: float = 0.0
    hits: int = 0
    logs: int = 0
    screen: bool = False
    seen: list[tuple[frozenset[str], float, float]] = field(default_factory=list)

    def tick(self, held: frozenset[str], pitch: float, yaw: float) -> Mapping[str, Any]:
        self.now += 1
        self.seen.append((held, pitch, yaw))
        if self.now == self.breaks_at:
            raise ConnectionError
        self.x += 0.2 * ("forward" in held) - 0.2 * ("back" in held)
        self.yaw, self.pitch = self.yaw + yaw, self.pitch + pitch
        self.screen ^= "inventory" in held
        self.hits = self.hits + 1 if "attack" in held else 0
        self.logs += self.hits > 0 and self.hits % 10 == 0
        dead = self.dies_at is not None and self.now >= self.dies_at
        return {
            "x": self.x,
            "y": 64.0,
            "z": 0.5,
            "yaw": self.yaw,
            "pitch": self.pitch,
            "health": 0.0 if dead else 20.0,
            "hunger": 18.0,
            "gui": self.screen,
            "slots": {0: (self.item, self.logs)} if self.logs else {},
            "equipped": self.item if self.logs else "air",
            "counters": {"mine_block": {self.item: self.logs}, "custom": {"jump": self.now}},
            "done": self.now == self.ends_at,
        }


class Served:
    """A game on a port of this machine; one client at a time, each of which goes on in the same game."""

    def __init__(self, game: Game, window: tuple[int, int], old: bool) -> None:
        self.game = game
        self.window = window
        self.old = old
        self.missions: list[str] = []
        self.tokens: list[str] = []
        self.commands: list[str] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._state: Mapping[str, Any] = game.tick(frozenset(), 0.0, 0.0)
        Thread(target=self._serve, daemon=True).start()

    def environment(self, folder: Path) -> dict[str, str]:
        """What a worker needs to find this game, with MineStudio's own folder below `folder`."""
        jar = folder / "minestudio" / "engine" / "build" / "libs" / "mcprec-6.13.jar"
        jar.parent.mkdir(parents=True, exist_ok=True)
        jar.touch()
        launcher = folder / "programs" / "xvfb-run"
        launcher.parent.mkdir(exist_ok=True)
        launcher.touch(0o755)
        return {
            "MINESTUDIO_DIR": str(folder / "minestudio"),
            "STUBBED_GAME": str(self._listener.getsockname()[1]),
            "PYTHONPATH": str(STUB),
            "PATH": os.pathsep.join([str(launcher.parent), os.environ["PATH"]]),
        }

    def close(self) -> None:
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            with client:
                try:
                    self._talk(client)
                except (OSError, EOFError):
                    continue

    def _talk(self, client: socket.socket) -> None:
        while True:
            said = _heard(client).decode()
            if said.startswith("<Quit"):
                _say(client, struct.pack("!I", 1))
            elif said.startswith("<MissionInit"):
                self.missions.append(said)
                self.tokens.append(_heard(client).decode())
                _say(client, struct.pack("!I", 1))
            elif said.startswith("<Peek"):
                _say(client, _pixels(self._state, self.window))
                _say(client, _info(self._state, self.old))
                _say(client, struct.pack("!b", 0))
            elif said.startswith("<StepClient"):
                commands = said[said.index(">") + 1 : said.rindex("<")]
                self.commands.append(commands)
                self._state = self.game.tick(*_inputs(commands))
                _say(client, _pixels(self._state, self.window))
                _say(client, struct.pack("!dbb", 0.0, bool(self._state.get("done")), 1))
                _say(client, _info(self._state, self.old))


@contextmanager
def served(game: Game, window: tuple[int, int] = WINDOW, old: bool = False) -> Iterator[Served]:
    """The game in a window of this width and height, until the block ends; an `old` one speaks as MineRL
    0.4.4's game does."""
    made = Served(game, window, old)
    try:
        yield made
    finally:
        made.close()


def _inputs(commands: str) -> tuple[frozenset[str], float, float]:
    held, pitch, yaw = set(), 0.0, 0.0
    for line in commands.splitlines():
        name, *values = line.split()
        if name == "camera":
            pitch, yaw = (float(value) for value in values)
        elif values == ["1"]:
            held.add(name)
    return frozenset(held), pitch, yaw


def _pixels(state: Mapping[str, Any], window: tuple[int, int]) -> bytes:
    """A picture that tells where the body stands, looks, and what is on the screen, as the game sends it:
    RGB, the lowest row first."""
    width, height = window
    shade = (np.arange(width) / 2 + state["x"] * 20 + state["yaw"]) % 256
    picture = np.empty((height, width, 3), np.uint8)
    picture[..., 0] = shade
    picture[..., 1] = ((np.arange(height) / 2 + state["pitch"] * 3) % 256)[:, None]
    picture[..., 2] = 200 if state["gui"] else 40
    return picture[::-1].tobytes()


def _info(state: Mapping[str, Any], old: bool) -> bytes:
    slots = state["slots"]

    def worn(item: str) -> Any:
        told = {"type": item, "damage": 0, "maxDamage": 0, "metadata": 0}
        return told if old else json.dumps(told)

    return json.dumps(
        {
            **{f"{axis}pos": state[axis] for axis in _PLACE},
            "yaw": state["yaw"],
            "pitch": state["pitch"],
            "isGuiOpen": state["gui"],
            "health": state["health"],
            "food_level": state["hunger"],
            "inventory": [
                {
                    "slot_id": slot,
                    "type": slots[slot][0] if slot in slots else "none",
                    "quantity": slots[slot][1] if slot in slots else 0,
                    "metadata": 0,
                }
                for slot in range(36)
            ],
            "equipped_items": {**dict.fromkeys(_HANDS, worn("air")), "mainhand": worn(state["equipped"])},
            **state["counters"],
            "sun_brightness": 1.0,
            "sky_light_level": 1.0,
            "light_level": 15,
            "can_see_sky": 1,
            "biome_rainfall": 0.5,
            "biome_temperature": 0.5,
            "is_raining": 0,
            "biome_id": 4,
            "sea_level": 63,
        }
    ).encode()


def _heard(client: socket.socket) -> bytes:
    (length,) = struct.unpack("!I", _exactly(client, 4))
    return _exactly(client, length)


def _exactly(client: socket.socket, count: int) -> bytes:
    got = b""
    while len(got) < count:
        more = client.recv(count - len(got))
        if not more:
            raise EOFError
        got += more
    return got


def _say(client: socket.socket, message: bytes) -> None:
    client.sendall(struct.pack("!I", len(message)) + message)
