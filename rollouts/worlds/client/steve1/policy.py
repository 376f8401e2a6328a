"""The process that has STEVE-1 in it, and the batches that it is asked in.

Executors of several episodes, each in a thread of its own, ask one policy. An ask waits for the others: a
batch goes out when everybody of the last one has asked again, when `batch` are there, or after a moment.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from shutil import which
from threading import Condition
from time import monotonic
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from rollouts.protocols import Keys
from rollouts.worlds.client.settings import interpreter
from rollouts.worlds.client.workers.lines import encoded
from rollouts.worlds.worker_link import WorkerError, WorkerLink

WORKER: Final = Path(__file__).with_name("worker.py")
PATIENCE_S: Final = 0.02
"""how long an ask waits for others at least; a tick of the game takes longer"""
_SHARE: Final = 0.5
"""... and at most, as a share of what the last batch took: to go without who is late costs a batch of
his own, and the moving of states"""
CHECKPOINT: Final = ("config.json", "model.safetensors")
_MAKE: Final = "make world-minestudio"


@dataclass(frozen=True)
class PolicySettings:
    """Which weights play, and on what.

    `weights` is the folder of MineStudio's checkpoint. `device` is PyTorch's name of it; there is no falling
    back to another. `precision` is float32, bfloat16 or float16. `cond_scale` is how far the text draws the
    policy (classifier-free guidance; 0 halves the work and lets the text in once). `batch` is how many
    episodes are seen at once at most. `python` is the interpreter; empty is that of `make world-minestudio`.
    """

    weights: str
    device: str = "cuda"
    precision: str = "float32"
    cond_scale: float = 4.0
    batch: int = 16
    python: str = ""
    silence_s: float = 60.0
    reply_s: float = 300.0

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "PolicySettings":
        """The settings as JSON gives them; `ValueError` for one that there is not, and without weights."""
        known = [each.name for each in fields(cls)]
        if unknown := sorted(set(given) - set(known)):
            raise ValueError(f"steve1 has no setting {', '.join(unknown)}; it has: {', '.join(known)}")
        if not given.get("weights"):
            raise ValueError(
                "steve1 needs the setting weights, the folder of MineStudio's checkpoint: "
                """MINEEVOLVE_EXECUTOR_SETTINGS='{"weights": "/models/steve1"}'"""
            )
        return cls(**given)

    def check_here(self) -> None:
        """`ValueError` where this machine has no interpreter for it, or no weights."""
        self.interpreter()
        folder = Path(self.weights).expanduser()
        if missing := [name for name in CHECKPOINT if not (folder / name).is_file()]:
            raise ValueError(
                f"no STEVE-1 in {folder}: {' and '.join(missing)} missing. Put MineStudio's checkpoint there "
                f"({', '.join(CHECKPOINT)}, and CLIP's tokenizer in tokenizer/), or name its folder"
            )

    def interpreter(self) -> Path:
        """The interpreter that has MineStudio. `ValueError` where it is not there."""
        found = interpreter(self.python, "minestudio")
        if which(found) is None:
            raise ValueError(f"steve1 needs an interpreter of its own at {found}: {_MAKE}, or python")
        return found


class ActingPolicy(Protocol):
    """Something that plays by pictures."""

    def act(self, episode: str, text: str, seed: int, step: int, frame: npt.NDArray[np.uint8]) -> Keys:
        """What an episode's next tick is played with; `frame` is (128, 128, 3) in RGB, `seed` and `step`
        decide what is drawn. `WorkerError` where the policy is lost."""
        ...

    def forget(self, episode: str) -> None:
        """The episode has ended."""
        ...


@dataclass(eq=False)
class _Ask:
    request: dict[str, Any]
    answer: Keys | None = None
    error: Exception | None = None

    @property
    def done(self) -> bool:
        return self.answer is not None or self.error is not None


@dataclass
class _Table:
    """Who waits, and who was together last."""

    waiting: deque[_Ask] = field(default_factory=deque)
    last: frozenset[str] = frozenset()
    busy: bool = False
    """whether a batch is on its way"""
    patience_s: float = PATIENCE_S
    back_at: float = 0.0
    """when the last batch came back; who asked while it was away waits for those who were in it"""


class Policy:
    """One process with the weights, which begins at the first ask (`ActingPolicy`). Threads may share it."""

    def __init__(self, settings: PolicySettings, worker: Path = WORKER) -> None:
        """`worker` is the script that the interpreter runs; tests bring their own."""
        self._settings = settings
        self._worker = worker
        self._link: WorkerLink | None = None
        self.parameters = 0
        """of the network, once it is loaded"""
        self._number = 0
        """of the process"""
        self._known: dict[str, int] = {}
        """episode -> the process that remembers it"""
        self._turn = Condition()
        self._table = _Table()

    def act(self, episode: str, text: str, seed: int, step: int, frame: npt.NDArray[np.uint8]) -> Keys:
        """See `ActingPolicy`. After an error the next ask begins a new process, and what an episode asks that
        the last one remembered is an error too, until it is forgotten."""
        ask = _Ask({"episode": episode, "text": text, "seed": seed, "step": step, "frame": encoded(frame)})
        asked_at = monotonic()
        with self._turn:
            self._table.waiting.append(ask)
            self._turn.notify_all()
        while True:
            with self._turn:
                while not ask.done and not self._may_go(asked_at):
                    left = self._until(asked_at) - monotonic()
                    self._turn.wait(None if self._table.busy else max(0.0, left))
                if ask.done:
                    break
                size = min(self._settings.batch, len(self._table.waiting))
                batch = [self._table.waiting.popleft() for _ in range(size)]
                self._table.busy = True
            self._send(batch)
        if isinstance(ask.error, WorkerError):
            raise WorkerError(str(ask.error)) from ask.error
        if ask.error is not None:
            raise ask.error
        assert ask.answer is not None
        return ask.answer

    def forget(self, episode: str) -> None:
        """See `ActingPolicy`."""
        with self._turn:
            self._turn.wait_for(lambda: not self._table.busy)
            self._table.last -= {episode}
            self._known.pop(episode, None)
            if self._link is not None:
                try:
                    self._link.ask("forget", episode=episode)
                except WorkerError:
                    self._link = None

    def memory(self) -> int:
        """Bytes that were in use at most: on the GPU, or by the process without one."""
        with self._turn:
            self._turn.wait_for(lambda: not self._table.busy)
            return int(self._started().ask("memory")["bytes"])

    def close(self) -> None:
        """Ends the process."""
        with self._turn:
            if self._link is not None:
                self._link.close()
                self._link = None

    def _until(self, asked_at: float) -> float:
        """How long an ask waits for others."""
        return max(asked_at, self._table.back_at) + self._table.patience_s

    def _may_go(self, asked_at: float) -> bool:
        """Whether a batch is due, of which whoever asks takes care."""
        table = self._table
        if table.busy or not table.waiting:
            return False
        there = {ask.request["episode"] for ask in table.waiting}
        full = len(table.waiting) >= self._settings.batch
        return full or (bool(table.last) and table.last <= there) or monotonic() >= self._until(asked_at)

    def _send(self, batch: list[_Ask]) -> None:
        answers: list[Keys] = []
        error: Exception | None = None
        began = monotonic()
        try:
            # By name: who is together stays in one order, and their states where they are.
            batch.sort(key=lambda ask: str(ask.request["episode"]))
            link = self._started()
            batch = [ask for ask in batch if self._remembers(ask)]
            began = monotonic()  # to load the weights takes longer than any batch
            told = link.ask("act", asks=[ask.request for ask in batch])["actions"] if batch else []
            answers = [Keys(tuple(each["held"]), each["pitch"], each["yaw"]) for each in told]
        except Exception as lost:  # whatever it is, all of them wait for it
            error = lost
        with self._turn:
            if error is not None:
                self._link = None
            for at, ask in enumerate(batch):
                ask.answer, ask.error = (answers[at], None) if error is None else (None, error)
            there = frozenset(ask.request["episode"] for ask in batch) if error is None else frozenset[str]()
            self._table.last = there
            self._table.patience_s = max(PATIENCE_S, _SHARE * (monotonic() - began)) if there else PATIENCE_S
            self._table.back_at = monotonic()
            self._table.busy = False
            self._turn.notify_all()

    def _remembers(self, ask: _Ask) -> bool:
        """Whether the process knows all that this episode has seen; if not, that is the ask's error."""
        if self._known.setdefault(ask.request["episode"], self._number) == self._number:
            return True
        ask.error = WorkerError("the policy that remembered this episode is gone")
        return False

    def _started(self) -> WorkerLink:
        if self._link is None:
            self._number += 1
            chosen = self._settings
            link = WorkerLink(
                [str(chosen.interpreter()), str(self._worker)],
                self._worker.parent,
                chosen.silence_s,
                chosen.reply_s,
            )
            loaded = link.ask(
                "load",
                weights=str(Path(chosen.weights).expanduser().absolute()),
                device=chosen.device,
                precision=chosen.precision,
                cond_scale=chosen.cond_scale,
            )
            self.parameters = int(loaded["parameters"])
            self._link = link
        return self._link


@cache
def policy_of(settings: PolicySettings) -> Policy:
    """The policy with these settings, one in each process. It ends with the process."""
    return Policy(settings)
