"""Where worlds are stepped: in this process, or in a pool of processes that own whole shards.

A backend is handed orders and gives back one report for each. It decides nothing: the same orders give the
same reports, whatever the number of processes.
"""

import multiprocessing
import traceback
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final, NamedTuple, Protocol

from rollouts.attempt import Opening, Stage, StageKit, WorldFailure
from rollouts.attempt_run import AttemptRun
from rollouts.protocols import EpisodeSpec, Executor, Filming, Subgoal, World
from warehouse.domains import Domain
from warehouse.ids import digest
from warehouse.tasks import Task

_PATIENCE_S: Final = 5.0
"""How long a worker that was told to end may take before it is ended."""


class Open(NamedTuple):
    """Make an episode's world. An episode that is opened again starts anew."""

    spec: EpisodeSpec
    task: Task


class Go(NamedTuple):
    """Step one attempt to its end."""

    attempt: int
    subgoal: Subgoal


class Branch(NamedTuple):
    """Begin an episode where another one of the same shard stands now, which is left as it is."""

    of: str


class Lost(NamedTuple):
    """The environment failed before anything could be recorded of the order; `why` is what is known of it."""

    why: str


Order = Open | Go | Branch
Report = Opening | AttemptRun | Lost


class Addressed(NamedTuple):
    """An order to one episode of one shard."""

    shard: str
    episode_id: str
    order: Order


class Done(NamedTuple):
    """An episode of a shard that has ended; None: all of them."""

    shard: str
    episode_id: str | None = None


class Reported(NamedTuple):
    """What came of the order to an episode."""

    episode_id: str
    report: Report


def stage_kit(
    domain: Domain, executor_name: str, settings: Mapping[str, Any] | None = None, side_by_side: int = 1
) -> StageKit:
    """The kit of the registered worlds and executors; `settings` are the executor's."""
    hands = partial(_registered_executor, executor_name, dict(settings or {}))
    return StageKit(domain, _registered_world, hands, side_by_side)


def _registered_world(spec: EpisodeSpec, domain: Domain) -> World:
    from rollouts.recorder import episode_id_of
    from rollouts.worlds.registry import world

    made = world(spec.world, domain, spec.settings)
    if isinstance(made, Filming):
        made.film_as(episode_id_of(spec))
    return made


def _registered_executor(
    name: str, settings: Mapping[str, Any], spec: EpisodeSpec, domain: Domain
) -> Executor:
    from rollouts.executors.registry import executor

    # Of what is played alone, so that two agents who play the same have the same hands.
    seed = int(digest([spec.task_id, spec.world_seed, spec.planner_seed])[:8], 16)
    return executor(name, domain, seed, spec.world, settings)


class RolloutBackend(Protocol):
    """Something that steps worlds."""

    @property
    def side_by_side(self) -> int:
        """How many shards are worth playing at the same time."""
        ...

    @property
    def open_at_once(self) -> int | None:
        """How many worlds may be open at the same time; None: any number."""
        ...

    def play(self, orders: Sequence[Addressed]) -> Iterator[Reported]:
        """One report per order, each as soon as it is there, in no particular order; all have been carried
        out when the iteration ends. A shard has one order per episode at a time.

        Orders may be given before the reports on earlier ones are read; reports are read in the order in
        which the orders were given.
        """
        ...

    def finish(self, done: Done) -> None:
        """An episode has ended, or all of a shard: the worlds can be forgotten."""
        ...


class Stages:
    """The open episodes of one process."""

    def __init__(self, kit: StageKit) -> None:
        self._kit = kit
        self._open: dict[str, dict[str, Stage]] = {}

    def carry_out_all(self, orders: Sequence[Addressed]) -> Iterator[Reported]:
        """The reports on some orders, each as soon as it is there."""
        if self._kit.side_by_side == 1:
            yield from map(self.carry_out, orders)
            return
        with ThreadPoolExecutor(self._kit.side_by_side) as threads:
            for done in as_completed([threads.submit(self.carry_out, each) for each in orders]):
                yield done.result()

    def carry_out(self, addressed: Addressed) -> Reported:
        """The report on an order."""
        shard, episode_id, order = addressed
        stages = self._open.setdefault(shard, {})
        match order:
            case Open(spec, task):
                self.finish(Done(shard, episode_id))
                stage = Stage(spec, task, self._kit)
                try:
                    opening = stage.open()
                except WorldFailure as failure:
                    stage.close()
                    return Reported(episode_id, Lost(str(failure)))
                stages[episode_id] = stage
                return Reported(episode_id, opening)
            case Go(attempt, subgoal):
                if episode_id not in stages:
                    return Reported(episode_id, Lost("the process that held this episode's world is gone"))
                return Reported(episode_id, stages[episode_id].run(attempt, subgoal))
            case Branch(of):
                if of not in stages:
                    return Reported(episode_id, Lost("the process that held this episode's world is gone"))
                stages[episode_id] = stages[of].copy()
                return Reported(episode_id, stages[episode_id].now())

    def finish(self, done: Done) -> None:
        """Closes and forgets the world of an episode, or all of a shard's."""
        stages = self._open.get(done.shard, {})
        for episode_id in list(stages) if done.episode_id is None else [done.episode_id]:
            if episode_id in stages:
                stages.pop(episode_id).close()
        if done.episode_id is None:
            self._open.pop(done.shard, None)

    def close(self) -> None:
        """Closes every world."""
        for shard in list(self._open):
            self.finish(Done(shard))


class InProcess:
    """Steps worlds in this process, `side_by_side` shards at a time: more make the rounds fewer."""

    def __init__(self, kit: StageKit, side_by_side: int = 1, open_at_once: int | None = None) -> None:
        self.side_by_side = side_by_side
        self.open_at_once = open_at_once
        self._stages = Stages(kit)

    def play(self, orders: Sequence[Addressed]) -> Iterator[Reported]:
        """See `RolloutBackend`."""
        return self._stages.carry_out_all(orders)

    def finish(self, done: Done) -> None:
        """See `RolloutBackend`."""
        self._stages.finish(done)

    def close(self) -> None:
        """Closes every world that is still open."""
        self._stages.close()


@dataclass
class _Worker:
    process: SpawnProcess
    pipe: Connection
    shards: set[str] = field(default_factory=set)
    """of which it holds open episodes"""
    owes: dict[str, None] = field(default_factory=dict)
    """episodes whose reports are still to come, in the order of the orders"""
    died: dict[str, int | None] = field(default_factory=dict)
    """episodes that were owed by a process that ended, with its exit code: not told yet"""


class WorkerCrashedError(RuntimeError):
    """A worker met an error of this code, not of a world; the text is its traceback."""


class LocalPool:
    """Steps worlds in `workers` processes of this machine, each owning `shards_each` whole shards at a time.

    Use it as `with local_pool(kit, workers) as pool`. A worker that dies is replaced; what it held is
    reported lost. Processes are ended by their id, and end by themselves when this process is gone.
    """

    def __init__(
        self, kit: StageKit, workers: int, shards_each: int = 1, open_each: int | None = None
    ) -> None:
        if workers < 1:
            raise ValueError(f"a pool needs a worker, not {workers}")
        self._kit = kit
        self._shards_each = shards_each
        self.open_at_once = None if open_each is None else open_each * workers
        self._context = multiprocessing.get_context("spawn")
        self._workers = [self._started() for _ in range(workers)]
        for worker in self._workers:
            self._equip(worker)

    @property
    def side_by_side(self) -> int:
        """So many shards as the workers can own."""
        return len(self._workers) * self._shards_each

    @property
    def pids(self) -> list[int]:
        """The ids of the worker processes."""
        return [worker.process.pid for worker in self._workers if worker.process.pid is not None]

    def play(self, orders: Sequence[Addressed]) -> Iterator[Reported]:
        """See `RolloutBackend`. A shard stays with the worker that got its first order. The workers have
        their orders when this returns."""
        shared = self._shared_out(orders)
        for worker, own in shared:
            worker.owes |= dict.fromkeys(each.episode_id for each in own)
            # The death of a worker is noticed below, where its pipe is read.
            with suppress(OSError):
                worker.pipe.send(own)
        return self._reports([(worker, {each.episode_id for each in own}) for worker, own in shared])

    def _reports(self, awaited: Sequence[tuple[_Worker, set[str]]]) -> Iterator[Reported]:
        """The reports on some orders. Those on later ones are left in the pipes."""
        while busy := [(worker, own) for worker, own in awaited if own]:
            told = [reported for worker, own in busy for reported in _mourned(worker, own)]
            if not told:
                ready = wait([worker.pipe for worker, _ in busy])
                told = [each for worker, _ in busy if worker.pipe in ready for each in self._heard(worker)]
            for reported in told:
                for _, own in busy:
                    own.discard(reported.episode_id)
                yield reported

    def finish(self, done: Done) -> None:
        """See `RolloutBackend`."""
        for worker in self._workers:
            if done.shard in worker.shards:
                if done.episode_id is None:
                    worker.shards.remove(done.shard)
                with suppress(OSError):
                    worker.pipe.send(done)

    def close(self) -> None:
        """Ends the workers."""
        for worker in self._workers:
            worker.pipe.close()  # a worker whose pipe ends has nothing more to do
        for worker in self._workers:
            _end(worker.process)

    def _started(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_work, args=(theirs,), daemon=True)
        process.start()
        theirs.close()  # so that its end of the pipe is open in the worker alone, and its death shows
        return _Worker(process, ours)

    def _equip(self, worker: _Worker) -> None:
        # Not with the process's arguments: those are read before the next process can be started.
        with suppress(OSError):
            worker.pipe.send(self._kit)

    def _shared_out(self, orders: Sequence[Addressed]) -> list[tuple[_Worker, list[Addressed]]]:
        """The orders by worker; a new shard goes to the worker with the fewest, the first of them."""
        owners = {shard: worker for worker in self._workers for shard in worker.shards}
        own: dict[int, list[Addressed]] = {}
        for each in orders:
            if each.shard not in owners:
                owner = min(self._workers, key=lambda worker: len(worker.shards))
                owner.shards.add(each.shard)
                owners[each.shard] = owner
            own.setdefault(id(owners[each.shard]), []).append(each)
        return [(worker, own[id(worker)]) for worker in self._workers if id(worker) in own]

    def _heard(self, worker: _Worker) -> list[Reported]:
        try:
            told = worker.pipe.recv()
        except (EOFError, OSError):
            self._bury(worker)
            return []
        if isinstance(told, str):
            raise WorkerCrashedError(told)
        del worker.owes[told.episode_id]
        return [told]

    def _bury(self, worker: _Worker) -> None:
        """Replaces a dead worker; what it owed is lost."""
        worker.pipe.close()
        code = _end(worker.process)
        worker.died |= dict.fromkeys(worker.owes, code)
        worker.owes.clear()
        fresh = self._started()
        worker.process, worker.pipe = fresh.process, fresh.pipe
        self._equip(worker)


def _mourned(worker: _Worker, awaited: set[str]) -> list[Reported]:
    """The losses among these episodes."""
    return [
        Reported(
            episode_id,
            Lost(f"the process that stepped this world ended, exit code {worker.died.pop(episode_id)}"),
        )
        for episode_id in [each for each in worker.died if each in awaited]
    ]


def _end(process: SpawnProcess) -> int | None:
    """Waits for a process that has no reason to go on, ends it if it does nevertheless; its exit code."""
    process.join(_PATIENCE_S)
    if process.is_alive():
        process.kill()
        process.join()
    code = process.exitcode
    process.close()
    return code


@contextmanager
def local_pool(
    kit: StageKit, workers: int, shards_each: int = 1, open_each: int | None = None
) -> Iterator[LocalPool]:
    """A pool for the length of a block, each of whose workers has at most about `open_each` worlds open; no
    process of it is left when the block ends, however it ends."""
    pool = LocalPool(kit, workers, shards_each, open_each)
    try:
        yield pool
    finally:
        pool.close()


def _work(pipe: Connection) -> None:
    """A worker process: its kit and then orders in, reports out, until its pipe ends.

    Reports leave by a thread of their own: a pipe holds less than one of them, and who waited for the reader
    would not step worlds while the reader judges.
    """
    outbox: SimpleQueue[Reported | str | None] = SimpleQueue()
    sender = Thread(target=_post, args=(pipe, outbox), daemon=True)
    sender.start()
    with suppress(EOFError, OSError, KeyboardInterrupt):
        stages = Stages(pipe.recv())
        try:
            while True:
                told = pipe.recv()
                if isinstance(told, Done):
                    stages.finish(told)
                else:
                    for reported in stages.carry_out_all(told):
                        outbox.put(reported)
        except (EOFError, OSError):
            raise
        except Exception:
            # What is no failure of a world is an error of this code, and for the process that began it all.
            # It has to be out before this process ends: a worker that just ends counts as a lost world.
            outbox.put(traceback.format_exc())
            outbox.put(None)
            sender.join()
        finally:
            stages.close()


def _post(pipe: Connection, outbox: "SimpleQueue[Reported | str | None]") -> None:
    with suppress(OSError):
        while (told := outbox.get()) is not None:
            pipe.send(told)
