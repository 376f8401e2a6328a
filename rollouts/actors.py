"""Worlds in actors of a cluster: who holds which shard, how much is under way, and what becomes of a loss.

The cluster itself is behind a protocol; rollouts/ray_cluster.py keeps it with Ray.

    orders -> the host of their shard -> at most `UNDER_WAY` at once as tasks of its actor -> reports

An actor that is gone is replaced by another. What it was asked is reported lost and is not asked again here:
whoever plays (rollouts/rounds.py) begins a lost episode anew, once.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from rollouts.backends import Addressed, Done, Lost, Reported
from rollouts.progress import note

UNDER_WAY: Final = 64
"""Orders that an actor has at once, done or not, before the first of them is fetched: what bounds the reports
that lie in the cluster's memory. It is half of what eight shards can ask for, so that an actor has work while
the episodes of the other table are judged."""
ARRIVAL_S: Final = 60.0
"""How long is waited for actors that the cluster has no room for yet."""

_T = TypeVar("_T")
Actor = Any
Task = Any


class ActorLostError(RuntimeError):
    """The actor of a task is gone, or what it answered; the text says how."""


class NoActorError(RuntimeError):
    """The cluster gives no actor; the text says why."""


class Cluster(Protocol):
    """Something that runs actors. An actor carries out its tasks one after the other, as they were given."""

    def start(self) -> Actor:
        """A new actor. It may be used at once, and begins when the cluster has room for it."""
        ...

    def arrival(self, actor: Actor) -> Task:
        """A task that is done when the actor is there."""
        ...

    def carry_out(self, actor: Actor, addressed: Addressed) -> Task:
        """An order, as a task."""
        ...

    def write(self, actor: Actor, home: Path, write: Callable[[], Any]) -> Task:
        """A call of `write`, as a task; its result is None where `home` is not there."""
        ...

    def finish(self, actor: Actor, done: Done) -> None:
        """Lets the actor close and forget an episode, or all of a shard."""
        ...

    def end(self, actor: Actor) -> None:
        """Ends an actor, wherever it is."""
        ...

    def done(self, tasks: Sequence[Task], at_least: int, wait_s: float | None) -> Sequence[Task]:
        """The tasks that are done or have failed; waits until so many are, or for so long."""
        ...

    def result(self, task: Task) -> Any:
        """What came of a task that is done. `ActorLostError`; `WorkerCrashedError` for an error of this code,
        with its traceback."""
        ...


@dataclass
class _Host:
    actor: Actor
    arrival: Task
    shards: set[str] = field(default_factory=set)
    """of which it holds open episodes"""
    waiting: deque[Addressed] = field(default_factory=deque)
    under_way: dict[Task, Addressed] = field(default_factory=dict)


class ActorPool:
    """Steps worlds in `actors` actors, each holding `shards_each` whole shards at a time and at most about
    `open_each` worlds open (`RolloutBackend`).

    `NoActorError` where the cluster has room for none of them. Those that it has no room for yet get shards
    as soon as they are there.
    """

    def __init__(
        self, cluster: Cluster, actors: int, shards_each: int = 1, open_each: int | None = None
    ) -> None:
        if actors < 1:
            raise ValueError(f"a pool needs an actor, not {actors}")
        self.side_by_side = actors * shards_each
        self.open_at_once = None if open_each is None else open_each * actors
        self._cluster = cluster
        self._hosts: list[_Host] = []
        self._coming = [self._started() for _ in range(actors)]
        self._heard: dict[str, Reported] = {}
        """reports that nobody has read yet, by episode"""
        self._welcome(at_least=actors, wait_s=ARRIVAL_S)
        if self._coming:
            note(f"{len(self._hosts)} of {actors} actors are there; the others join when there is room")

    @property
    def actors(self) -> list[Actor]:
        """The actors that are there."""
        return [host.actor for host in self._hosts]

    def play(self, orders: Sequence[Addressed]) -> Iterator[Reported]:
        """See `RolloutBackend`. A shard stays with the actor that got its first order. The first orders
        are under way when this returns."""
        self._welcome(at_least=0, wait_s=0)
        for each in orders:
            self._host_of(each.shard).waiting.append(each)
        self._hand_out()
        return self._reports(dict.fromkeys(each.episode_id for each in orders))

    def _reports(self, awaited: dict[str, None]) -> Iterator[Reported]:
        """The reports on these episodes. What is heard of others meanwhile is kept for whoever asked."""
        while awaited:
            for episode_id in [each for each in awaited if each in self._heard]:
                del awaited[episode_id]
                yield self._heard.pop(episode_id)
            if awaited:
                self._hear()

    def finish(self, done: Done) -> None:
        """See `RolloutBackend`."""
        for host in self._hosts:
            if done.shard in host.shards:
                if done.episode_id is None:
                    host.shards.remove(done.shard)
                self._cluster.finish(host.actor, done)

    def store(self, shard: str, home: Path, write: Callable[[], _T]) -> Callable[[], _T | None]:
        """See `rounds.Storing`: the actor that holds the shard writes it, or the one with the fewest."""
        host = next((each for each in self._hosts if shard in each.shards), None)
        host = host or min(self._hosts, key=lambda each: len(each.shards))
        task = self._cluster.write(host.actor, home, write)

        def written() -> _T | None:
            self._cluster.done([task], 1, None)
            try:
                said: _T | None = self._cluster.result(task)
            except ActorLostError:
                return None
            return said

        return written

    def close(self) -> None:
        """Ends the actors."""
        for host in (*self._hosts, *self._coming):
            self._cluster.end(host.actor)

    def _started(self) -> _Host:
        actor = self._cluster.start()
        return _Host(actor, self._cluster.arrival(actor))

    def _welcome(self, at_least: int, wait_s: float) -> None:
        """Takes the actors in that have arrived; waits for so many of them, or for so long. `NoActorError`
        where there is none then, and where one cannot begin."""
        if self._coming:
            arrived = self._cluster.done([host.arrival for host in self._coming], at_least, wait_s)
            for host in [each for each in self._coming if each.arrival in arrived]:
                try:
                    self._cluster.result(host.arrival)
                except ActorLostError as error:
                    raise NoActorError(f"an actor cannot begin: {error.__cause__ or error}") from error
                self._coming.remove(host)
                self._hosts.append(host)
        if not self._hosts:
            raise NoActorError(
                f"the cluster had no room for an actor within {wait_s:g} s: give it more, or ask for less"
            )

    def _host_of(self, shard: str) -> _Host:
        """Who holds a shard; a new one goes to the host with the fewest, the first of them."""
        for host in self._hosts:
            if shard in host.shards:
                return host
        host = min(self._hosts, key=lambda each: len(each.shards))
        host.shards.add(shard)
        return host

    def _hand_out(self) -> None:
        for host in self._hosts:
            while host.waiting and len(host.under_way) < UNDER_WAY:
                each = host.waiting.popleft()
                host.under_way[self._cluster.carry_out(host.actor, each)] = each

    def _hear(self) -> None:
        """Fetches what is done, at least one report, and hands out what there is room for now."""
        hosts = {task: host for host in self._hosts for task in host.under_way}
        for task in self._cluster.done(list(hosts), at_least=1, wait_s=None):
            host = hosts[task]
            if host not in self._hosts:
                continue
            episode_id = host.under_way[task].episode_id
            try:
                self._heard[episode_id] = self._cluster.result(task)
            except ActorLostError as error:
                self._bury(host, str(error))
            else:
                del host.under_way[task]
        self._hand_out()

    def _bury(self, host: _Host, why: str) -> None:
        """Replaces a host whose actor is gone; what was under way there is lost, and what waited goes to
        whoever holds the shard now."""
        self._hosts.remove(host)
        self._cluster.end(host.actor)
        for each in host.under_way.values():
            lost = Lost(f"the actor that stepped this world is gone: {why}")
            self._heard[each.episode_id] = Reported(each.episode_id, lost)
        self._coming.append(self._started())
        if not self._hosts:
            self._welcome(at_least=1, wait_s=ARRIVAL_S)
        for each in host.waiting:
            self._host_of(each.shard).waiting.append(each)
