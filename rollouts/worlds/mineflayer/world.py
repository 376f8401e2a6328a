"""The world `mineflayer`: the `World` protocol over a Node worker, one for each episode."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rollouts.protocols import Action, Advance, Observation, Seen, Truth, Window, WorldEvent
from rollouts.worlds.mineflayer.messages import read_error
from rollouts.worlds.mineflayer.settings import WORKER, Settings
from rollouts.worlds.mineflayer.tables import server_tables
from rollouts.worlds.worker_link import WorkerLink
from warehouse.domains import Domain
from warehouse.vocabulary import OBSERVABLES

_SEEDS: Final = 2**31 - 1
_COLUMNS: Final = {
    "x": np.float32,
    "y": np.float32,
    "z": np.float32,
    "yaw": np.float32,
    "pitch": np.float32,
    "health": np.float32,
    "hunger": np.float32,
    "alive": np.bool_,
    "equipped": object,
    "gui": object,
    "action": object,
}
"""what the worker says of a tick, in its order"""


class MineflayerWorld:
    """Minecraft 1.16.5 by its protocol: the worker plays, and this side writes down what came of it.

    A tick is one step of the player's physics. Actions are whole errands (`Action.errand`), which the worker
    carries out with mineflayer and its path finder, tick by tick, or keys that move the body and turn its
    head; what else an action may ask for does nothing here. A game over a network is not deterministic to the
    tick, so that nothing can be replayed.

    Raises `WorkerError` from every method that needs the worker, where it has died, hangs or lost its server.
    """

    name = "mineflayer"
    observes: tuple[str, ...] = OBSERVABLES

    def __init__(self, domain: Domain, settings: Settings | None = None, worker: Path | None = None) -> None:
        """`worker` is the script that node runs; tests bring their own."""
        self._domain = domain
        self._settings = settings or Settings()
        self._script = worker or WORKER / "main.js"
        self._link: WorkerLink | None = None
        self._tick = 0
        self._palette: tuple[str, ...] = ()
        self._window: Window | None = None

    @property
    def pid(self) -> int | None:
        """The worker's process id, while there is one."""
        return None if self._link is None else self._link.pid

    def reset(self, seed: int) -> Observation:
        """A new worker, and in it the player at the spawn point: of a new world from the seed, or of the
        user's own server as it stands. Tick 0 is the tick at which he stands there."""
        self.close()
        chosen = self._settings
        self._link = WorkerLink(
            [chosen.node, str(self._script)], self._script.parent, chosen.silence_s, chosen.reply_s
        )
        self._tick, self._window = 0, None
        answer = self._link.ask(
            "begin",
            embedded=not chosen.host,
            host=chosen.host,
            port=chosen.port,
            username=chosen.username,
            auth=chosen.auth,
            commands=chosen.commands,
            speed=chosen.speed,
            seed=seed % _SEEDS + 1,
            tables=None if chosen.host else server_tables(self._domain),
        )
        self._palette = tuple(answer["palette"])
        return self._observed(answer["last"], answer["now"])

    def step(self, action: Action, ticks: int = 1) -> Advance:
        """Goes on with an errand, or holds keys, for at most `ticks` ticks; `ValueError` for fewer than 1."""
        if ticks < 1:
            raise ValueError(f"{ticks} ticks")
        answer = self._worker().ask("step", ticks=ticks, errand=action.errand, keys=_keys(action))
        before, rows = self._tick, answer["ticks"]
        self._tick += len(rows)
        events = tuple(self._event(before + 1 + at, *said) for at, *said in answer["events"])
        changes = tuple((before + 1 + at, item, delta, count) for at, item, delta, count in answer["changes"])
        return Advance(self._observed(rows[-1], answer["now"]), _columns(rows), events, changes)

    def replay(self, actions: Iterable[tuple[Action, int]]) -> Observation:
        """`NotImplementedError`: the same actions do not lead to the same tick."""
        raise NotImplementedError("episodes of mineflayer cannot be replayed")

    def truths(self, since_tick: int) -> Sequence[Truth]:
        """None: the game does not say why something failed."""
        return ()

    def close(self) -> None:
        """Ends the worker, and with it the embedded server."""
        if self._link is not None:
            self._link.close()
            self._link = None

    def _worker(self) -> WorkerLink:
        if self._link is None:
            raise RuntimeError("reset the world first")
        return self._link

    def _event(
        self, tick: int, kind: str, name: str | None, count: int | None, text: str | None, signal: str | None
    ) -> WorldEvent:
        if kind == "error" and text is not None:
            return read_error(tick, name, text, self._domain)
        return WorldEvent(tick, kind, name, count, text, signal)

    def _observed(self, row: Sequence[Any], now: Mapping[str, Any]) -> Observation:
        entities = tuple(Seen(*each) for each in now["entities"])
        told = now["window"]
        if told is not None:
            blocks = np.frombuffer(base64.b64decode(told["blocks"]), "<u2").reshape(told["size"])
            origin = tuple(told["origin"])
        else:
            assert self._window is not None
            blocks, origin = self._window.blocks, self._window.origin
        self._window = Window(blocks, origin, self._palette, entities)
        x, y, z, yaw, pitch, health, hunger, alive, equipped, gui, _ = row
        return Observation(
            tick=self._tick,
            x=x,
            y=y,
            z=z,
            yaw=yaw,
            pitch=pitch,
            health=health,
            hunger=hunger,
            alive=alive,
            gui=gui,
            inventory=now["inventory"],
            equipped=equipped,
            window=self._window,
            busy=now["busy"],
        )


def _keys(action: Action) -> dict[str, Any]:
    return {
        "forward": action.forward,
        "strafe": action.strafe,
        "jump": action.jump,
        "sneak": action.sneak,
        "sprint": action.sprint,
        "yaw": action.yaw,
        "pitch": action.pitch,
    }


def _columns(rows: Sequence[Sequence[Any]]) -> dict[str, npt.NDArray[Any]]:
    return {
        name: np.array(values, kind)
        for (name, kind), values in zip(_COLUMNS.items(), zip(*rows, strict=True), strict=True)
    }
