"""Actors that hold worlds, without a cluster: what is bounded, who holds which shard, what a loss means."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from rollouts import actors
from rollouts.actors import UNDER_WAY, ActorLostError, ActorPool, NoActorError
from rollouts.attempt import Opening, StageKit
from rollouts.backends import Addressed, Done, Go, InProcess, Lost, Open, Stages
from rollouts.pools import SHARDS_EACH
from rollouts.recorder import Batch, EpisodeRecord, plan_shards, trace_of
from rollouts.rounds import play, roll_out
from tests.fake_world import chop, crew, kit, spec, task
from tests.test_backends import contents
from warehouse.domains import Domain
from warehouse.shards import EPISODES_PER_SHARD


@dataclass(eq=False)
class FakeTask:
    actor: "FakeActor"
    addressed: Addressed | None = None
    report: Any = None
    write: Any = None


@dataclass(eq=False)
class FakeActor:
    stages: Stages
    room: bool = True
    alive: bool = True
    tasks: list[FakeTask] = field(default_factory=list)
    """not done yet"""
    did: list[str] = field(default_factory=list)
    """the episodes of its orders"""


class FakeCluster:
    """Actors that work only when somebody waits for them, one task of each at a time, the last actor first.

    `room` is for how many actors it has room; `fatal` are (episode, number of the attempt) at which an actor
    dies, once each.
    """

    def __init__(self, kit: StageKit, room: int = 100, fatal: Sequence[tuple[str, int]] = ()) -> None:
        self.kit = kit
        self.room = room
        self.fatal = list(fatal)
        self.actors: list[FakeActor] = []
        self.most_under_way = 0
        self.opened: list[str] = []
        self.ended: list[FakeActor] = []
        self.wrote: list[FakeActor] = []
        self.write_kills = 0
        self.shares_home = True

    def start(self) -> FakeActor:
        alive = [each for each in self.actors if each.room and each.alive]
        self.actors.append(FakeActor(Stages(self.kit), room=len(alive) < self.room))
        return self.actors[-1]

    def arrival(self, actor: FakeActor) -> FakeTask:
        return FakeTask(actor)

    def carry_out(self, actor: FakeActor, addressed: Addressed) -> FakeTask:
        assert actor.room, "an actor that is not there was given an order"
        actor.tasks.append(FakeTask(actor, addressed))
        self.most_under_way = max(self.most_under_way, len(actor.tasks))
        return actor.tasks[-1]

    def write(self, actor: FakeActor, home: Path, write: Callable[[], Any]) -> FakeTask:
        self.wrote.append(actor)
        if self.write_kills:
            self.write_kills -= 1
            actor.alive = False
        return FakeTask(actor, write=write, report=write() if actor.alive and self.shares_home else None)

    def finish(self, actor: FakeActor, done: Done) -> None:
        actor.stages.finish(done)

    def end(self, actor: FakeActor) -> None:
        actor.alive = False
        self.ended.append(actor)

    def done(self, tasks: Sequence[FakeTask], at_least: int, wait_s: float | None) -> list[FakeTask]:
        if any(task.addressed for task in tasks):
            for actor in reversed(self.actors):
                self._work(actor)
        return [task for task in tasks if self._is_done(task)]

    def _is_done(self, task: FakeTask) -> bool:
        if task.write is not None:
            return True
        if task.addressed is None:
            return task.actor.room
        return task.report is not None or not task.actor.alive

    def _work(self, actor: FakeActor) -> None:
        if not actor.tasks or not actor.alive:
            return
        addressed = actor.tasks[0].addressed
        assert addressed is not None
        order = addressed.order
        if isinstance(order, Open):
            self.opened.append(addressed.episode_id)
        if isinstance(order, Go) and (addressed.episode_id, order.attempt) in self.fatal:
            self.fatal.remove((addressed.episode_id, order.attempt))
            actor.alive = False
            return
        actor.did.append(addressed.episode_id)
        actor.tasks.pop(0).report = actor.stages.carry_out(addressed)

    def result(self, task: FakeTask) -> Any:
        if (task.addressed is not None and task.report is None) or (task.write and not task.actor.alive):
            raise ActorLostError("FakeDeath")
        return task.report


def records(backend: ActorPool | InProcess, domain: Domain, episodes: int) -> list[EpisodeRecord]:
    shards = plan_shards([spec(seed) for seed in range(episodes)])
    ended = [each.record for each in play(shards, backend, crew(domain))]
    return sorted(ended, key=lambda record: record.episode_id)


def same_trace(one: list[EpisodeRecord], other: list[EpisodeRecord]) -> bool:
    theirs = trace_of(other).frames()
    return all(frame.equals(theirs[name]) for name, frame in trace_of(one).frames().items())


@pytest.mark.parametrize("how", ["", "lost", "no home"])
def test_a_shard_is_written_by_its_actor_or_else_by_who_plays(
    tmp_path: Path, minecraft: Domain, how: str
) -> None:
    specs = [spec(seed) for seed in range(40)]
    roll_out([Batch(tmp_path / "here", "run", specs)], InProcess(kit(minecraft)), crew(minecraft))
    cluster = FakeCluster(kit(minecraft))
    cluster.write_kills, cluster.shares_home = (1 if how == "lost" else 0), how != "no home"
    batch = Batch(tmp_path / "there", "run", specs)
    outcome = roll_out([batch], ActorPool(cluster, 2), crew(minecraft))
    assert list(outcome.commits.values()) == ["written"] * len(batch.shards)
    assert len(cluster.wrote) == len(batch.shards)
    assert len(set(cluster.wrote)) == 2
    # Episodes of a lost actor were begun twice, which is told beside the traces.
    folder = "traces" if how == "lost" else "."
    assert contents(tmp_path / "there" / folder) == contents(tmp_path / "here" / folder)


def opening(episode_id: str, shard: str = "s") -> Addressed:
    return Addressed(shard, episode_id, Open(spec(), task()))


def test_actors_play_what_this_process_plays(minecraft: Domain) -> None:
    plain = records(InProcess(kit(minecraft)), minecraft, 40)
    for number in (1, 2):
        pool = ActorPool(FakeCluster(kit(minecraft)), number, 2)
        assert pool.side_by_side == 2 * number
        assert same_trace(records(pool, minecraft, 40), plain)


def test_a_lost_actors_episodes_are_begun_anew_once_and_leave_no_trace_of_it(minecraft: Domain) -> None:
    plain = records(InProcess(kit(minecraft)), minecraft, 40)
    victim = next(each.episode_id for each in plain if len(each.attempts) > 2)
    cluster = FakeCluster(kit(minecraft), fatal=[(victim, 2)])
    pool = ActorPool(cluster, 2)
    survived = records(pool, minecraft, 40)
    assert same_trace(survived, plain)
    tries = {each.episode_id: each.tries for each in survived}
    assert tries[victim] == 2
    assert set(tries.values()) == {1, 2}  # the other actor's episodes were not disturbed
    assert {each: cluster.opened.count(each) for each in tries} == tries
    assert len(cluster.actors) == 3
    assert len(cluster.ended) == 1


def test_a_world_that_kills_every_actor_is_infrastructure(minecraft: Domain) -> None:
    plain = records(InProcess(kit(minecraft)), minecraft, 4)
    victim = plain[0].episode_id
    ended = records(ActorPool(FakeCluster(kit(minecraft), fatal=[(victim, 0), (victim, 0)]), 1), minecraft, 4)
    (lost,) = [each for each in ended if each.episode_id == victim]
    assert (lost.end_reason, lost.tries) == ("infrastructure", 2)
    told = lost.attempts[-1].run.events["text"].to_list()
    assert told == ["the actor that stepped this world is gone: FakeDeath"]


def test_no_more_is_under_way_than_allowed(minecraft: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actors, "UNDER_WAY", 3)
    cluster = FakeCluster(kit(minecraft))
    pool = ActorPool(cluster, 1)
    first = pool.play([opening(f"e{number}") for number in range(8)])
    second = pool.play([opening(f"f{number}") for number in range(8)])
    assert len(cluster.actors[0].tasks) == 3
    assert [each.episode_id for each in first] == [f"e{number}" for number in range(8)]
    assert [each.episode_id for each in second] == [f"f{number}" for number in range(8)]
    assert cluster.most_under_way == 3
    assert cluster.opened == [f"{which}{number}" for which in "ef" for number in range(8)]


def test_what_waited_for_a_lost_actor_goes_to_one_that_is_there(
    minecraft: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actors, "UNDER_WAY", 1)
    cluster = FakeCluster(kit(minecraft), room=2)
    pool = ActorPool(cluster, 2)
    opened = list(pool.play([opening("a", "s"), opening("b", "t")]))
    assert all(isinstance(each.report, Opening) for each in opened)
    cluster.fatal = [("a", 0)]
    cluster.room = 1  # and none for the one that shall take its place
    orders = [Addressed("s", "a", Go(0, chop(1))), opening("c", "s"), Addressed("t", "b", Go(0, chop(1)))]
    reports = {each.episode_id: each.report for each in pool.play(orders)}
    assert isinstance(reports["a"], Lost)
    assert isinstance(reports["c"], Opening)
    assert not isinstance(reports["b"], Lost)
    assert pool.actors == [cluster.actors[1]]


def test_an_actor_that_comes_late_gets_new_shards(minecraft: Domain) -> None:
    cluster = FakeCluster(kit(minecraft), room=1)
    pool = ActorPool(cluster, 2)
    list(pool.play([opening("a", "s")]))
    assert len(pool.actors) == 1
    cluster.actors[1].room = True
    list(pool.play([opening("b", "t")]))
    assert [each.did for each in cluster.actors] == [["a"], ["b"]]


def test_a_finished_shard_is_forgotten(minecraft: Domain) -> None:
    pool = ActorPool(FakeCluster(kit(minecraft)), 1)
    list(pool.play([opening("e")]))
    pool.finish(Done("s"))
    (report,) = pool.play([Addressed("s", "e", Go(0, chop(1)))])
    assert isinstance(report.report, Lost)


def test_without_room_there_is_no_pool(minecraft: Domain) -> None:
    with pytest.raises(NoActorError, match="no room for an actor"):
        ActorPool(FakeCluster(kit(minecraft), room=0), 2)
    with pytest.raises(ValueError, match="needs an actor, not 0"):
        ActorPool(FakeCluster(kit(minecraft)), 0)


def test_all_actors_end_with_the_pool(minecraft: Domain) -> None:
    cluster = FakeCluster(kit(minecraft), room=1)
    pool = ActorPool(cluster, 2)
    pool.close()
    assert cluster.ended == cluster.actors


def test_one_tables_episodes_are_never_held_up_by_the_bound() -> None:
    assert UNDER_WAY * 2 >= SHARDS_EACH * EPISODES_PER_SHARD
