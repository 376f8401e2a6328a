"""The worlds `minestudio` and `minerl`: the `World` protocol over a process that holds the simulator."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rollouts.protocols import Action, Advance, Observation, Truth
from rollouts.worlds.client.keys import keys_of
from rollouts.worlds.client.readings import Reader, columns, picture
from rollouts.worlds.client.settings import WORKERS, Settings
from rollouts.worlds.worker_link import WorkerError, WorkerLink
from warehouse.vocabulary import OBSERVABLES

_SEEDS: Final = 2**31
_GOODBYE_S: Final = 20.0
"""how long the simulator may take to end its game: it asks, waits, and ends it then"""
_TOLD: Final = {
    "position": ("x", "y", "z"),
    "rotation": ("yaw", "pitch"),
    "vitals": ("health", "hunger"),
    "gui": ("gui",),
    "equipped": ("equipped",),
    "counters": ("counters",),
    "messages": ("messages",),
}
"""what a world observes -> what the first reading tells then"""
_ALWAYS: Final = frozenset({"inventory", "actions"})


class ClientWorld:
    """Minecraft itself, behind MineStudio's or MineRL's simulator: a tick is a step of the simulator.

    Actions are keys (`Action.keys`), or those that move a body and turn its head; what else an action may
    ask for does nothing here. There is no window of blocks, but a picture. A view that is turned by an
    action's yaw or pitch takes a tick of its own. The game is not deterministic to the tick; nothing is
    replayed.

    Raises `WorkerError` from every method that needs the process, where it has died, hangs, or says that its
    game is lost.
    """

    def __init__(self, name: str, settings: Settings, worker: Path | None = None) -> None:
        """`worker` is the script that the interpreter runs; tests bring their own."""
        self.name = name
        self.observes: tuple[str, ...] = ()
        self._settings = settings
        self._script = worker or WORKERS / f"{name}_worker.py"
        self._film: str | None = None
        self._link: WorkerLink | None = None
        self._tick = 0
        self._reader: Reader | None = None
        self._now: Observation | None = None

    @property
    def pid(self) -> int | None:
        """The process's id, while there is one."""
        return None if self._link is None else self._link.pid

    def film_as(self, episode_id: str) -> None:
        """From the next reset on, the game's window is filmed under this name, where the settings want it."""
        if self._settings.film:
            self._film = str(Path(self._settings.film).absolute() / f"{episode_id}.mp4")

    def reset(self, seed: int) -> Observation:
        """A new process, and in it a new game from the seed. Tick 0 is the tick at which the player stands
        there, after the frames in which the window is still empty."""
        self.close()
        chosen = self._settings
        self._link = WorkerLink(
            [str(chosen.interpreter(self.name)), str(self._script)],
            self._script.parent,
            chosen.silence_s,
            chosen.reply_s,
            goodbye_s=_GOODBYE_S,
        )
        told = self._link.ask("begin", seed=seed % _SEEDS, film=self._film, **self._asked())["reading"]
        self._tick = 0
        self._reader = Reader(told)
        self.observes = tuple(
            name
            for name in OBSERVABLES
            if name in _ALWAYS or (name in _TOLD and all(told.get(each) is not None for each in _TOLD[name]))
        )
        self._now = self._observed(told)
        return self._now

    def step(self, action: Action, ticks: int = 1) -> Advance:
        """Holds keys for at most `ticks` ticks; `ValueError` for fewer than 1. Fewer pass when the inventory,
        the screen, the hand or the health changed, and while the view is turned."""
        if ticks < 1:
            raise ValueError(f"{ticks} ticks")
        if self._link is None or self._reader is None or self._now is None:
            raise RuntimeError("reset the world first")
        keys = keys_of(action, self._now)
        turns = action.keys is None and (keys.pitch or keys.yaw)
        told = self._link.ask(
            "step", held=keys.held, pitch=keys.pitch, yaw=keys.yaw, ticks=1 if turns else ticks
        )["readings"]
        read, events, changes = [], [], []
        for each in told:
            self._tick += 1
            happened, changed = self._reader.read(each, keys, self._tick)
            events += happened
            changes += changed
            read.append(self._reader.now)
        if told[-1].get("done") and self._reader.now.alive is not False:
            raise WorkerError("the game ended, and not by the player's death")
        self._now = self._observed(told[-1])
        return Advance(self._now, columns(read, [keys] * len(read)), tuple(events), tuple(changes))

    def replay(self, actions: Iterable[tuple[Action, int]]) -> Observation:
        """`NotImplementedError`: the same keys do not lead to the same tick."""
        raise NotImplementedError(f"episodes of {self.name} cannot be replayed")

    def truths(self, since_tick: int) -> Sequence[Truth]:
        """None: the game does not say why something failed."""
        return ()

    def close(self) -> None:
        """Ends the process, and with it the game."""
        if self._link is not None:
            self._link.close()
            self._link = None

    def _asked(self) -> dict[str, Any]:
        """What a worker is told of the settings: all but what is this side's business."""
        own = {"python", "film", "games", "silence_s", "reply_s"}
        return {name: value for name, value in vars(self._settings).items() if name not in own}

    def _observed(self, told: Mapping[str, Any]) -> Observation:
        assert self._reader is not None
        now = self._reader.now
        return Observation(
            tick=self._tick,
            x=now.x,
            y=now.y,
            z=now.z,
            yaw=now.yaw,
            pitch=now.pitch,
            health=None if math.isnan(now.health) else now.health,
            hunger=None if math.isnan(now.hunger) else now.hunger,
            alive=now.alive,
            gui=now.gui,
            inventory=now.inventory,
            equipped=now.equipped,
            frame=picture(told, self._settings.frame),
            slots=now.slots,
        )
