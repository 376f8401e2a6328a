"""200 episodes on a Ray cluster of two nodes on this machine, an actor killed on the way: what is stored is
what the local pool stores."""

import builtins
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from rollouts.actors import ActorPool, NoActorError
from rollouts.agent import agent_row
from rollouts.attempt import StageKit
from rollouts.backends import Addressed, Done, Reported, RolloutBackend, WorkerCrashedError, stage_kit
from rollouts.exercise import Exercise, hands
from rollouts.pools import pools_kept
from rollouts.ray_cluster import RayMissingError, ray_pool
from rollouts.recorder import Batch
from rollouts.rounds import roll_out
from tests.test_backends import broken_executor, contents
from warehouse.domains import Domain
from warehouse.suites import DEFAULT_SUITE, find_suite

EPISODES = 200
HORIZON = 120
ROW = agent_row("full")


def batch_of(home: Path, domain: Domain, episodes: int) -> tuple[Batch, Exercise]:
    suite = find_suite(DEFAULT_SUITE, domain)
    tasks = [task.id for task in suite.tasks if task.group == "wooden"][:5]
    exercise = Exercise.of_group(
        domain, suite, "wooden", tasks, ROW, episodes=episodes // len(tasks), planners=2, horizon_cap=HORIZON
    )
    return Batch(home, "run", exercise.training("b1", None)), exercise


def play(home: Path, domain: Domain, backend: RolloutBackend, episodes: int = EPISODES) -> None:
    batch, exercise = batch_of(home, domain, episodes)
    roll_out([batch], backend, exercise.crew(()))


class Deadly:
    """An actor pool of which the first actor is killed when so many reports have been read."""

    def __init__(self, pool: ActorPool, after: int) -> None:
        self.pool = pool
        self.side_by_side = pool.side_by_side
        self.open_at_once = pool.open_at_once
        self.left = after
        self.killed: Any = None

    def play(self, orders: Sequence[Addressed]) -> Iterator[Reported]:
        reports = self.pool.play(orders)

        def read() -> Iterator[Reported]:
            for reported in reports:
                self.left -= 1
                if self.left == 0:
                    import ray

                    self.killed = self.pool.actors[0]
                    ray.kill(self.killed)
                yield reported

        return read()

    def finish(self, done: Done) -> None:
        self.pool.finish(done)

    def store(self, shard: str, home: Path, write: Callable[[], Any]) -> Callable[[], Any]:
        return self.pool.store(shard, home, partial(by_whom, write, home.with_name("writers")))


def by_whom(write: Callable[[], Any], folder: Path) -> Any:
    """Notes in which process a shard was written."""
    folder.mkdir(exist_ok=True)
    (folder / str(os.getpid())).touch()
    return write()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes with a processor each. Ray takes 127.0.0.1 for a name of this machine's address in the
    network, and the loopback device has more addresses."""
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": 100 << 20}
    head = {**node, "node_ip_address": "127.0.0.2", "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args=head)
    made.add_node(**node, node_ip_address="127.0.0.3", num_gpus=1)  # by name only
    try:
        yield made
    finally:
        made.shutdown()


@pytest.mark.ray
def test_episodes_of_a_killed_actor_are_played_again_and_nothing_else_shows(
    cluster: Any, tmp_path: Path, minecraft: Domain
) -> None:
    with hands(minecraft, ROW, 2) as pool:
        play(tmp_path / "local", minecraft, pool)
    with ray_pool(stage_kit(minecraft, ROW.executor), 0, 4, cluster.address) as actors:
        assert len(actors.actors) == 2
        deadly = Deadly(actors, EPISODES)
        play(tmp_path / "ray", minecraft, deadly)
        assert deadly.killed is not None
        assert deadly.killed not in actors.actors
    writers = {int(path.name) for path in (tmp_path / "writers").iterdir()}
    assert writers
    assert os.getpid() not in writers, "the actors write, not the driver"
    local, ray = contents(tmp_path / "local" / "traces"), contents(tmp_path / "ray" / "traces")
    assert local
    assert ray == local
    ours, theirs = (batch_of(tmp_path / name, minecraft, EPISODES)[0] for name in ("local", "ray"))
    for table in ("moves", "truths"):
        assert theirs.beside(table).equals(ours.beside(table)), table
    # How often an episode was begun is the one thing that shows.
    budgets = ours.beside("budgets")
    played_twice = theirs.beside("budgets").filter(pl.col("tries") == 2).height
    assert budgets["tries"].to_list() == [1] * EPISODES
    assert 0 < played_twice < EPISODES
    assert theirs.beside("budgets").drop("tries").equals(budgets.drop("tries"))


@pytest.mark.ray
def test_the_same_bytes_as_in_one_process_where_nothing_is_lost(
    cluster: Any, tmp_path: Path, minecraft: Domain
) -> None:
    with hands(minecraft, ROW, 0) as here:
        play(tmp_path / "here", minecraft, here, 20)
    with pools_kept():
        for name in ("ray", "again"):
            with hands(minecraft, ROW, 0, cluster.address) as actors:
                play(tmp_path / name, minecraft, actors, 20)
    assert contents(tmp_path / "ray") == contents(tmp_path / "here")
    assert contents(tmp_path / "again") == contents(tmp_path / "here")


@pytest.mark.ray
def test_whose_executor_has_a_policy_gets_an_actor_for_each_gpu(
    cluster: Any, tmp_path: Path, minecraft: Domain
) -> None:
    import ray

    with ray_pool(stage_kit(minecraft, "scripted"), 0, 1, cluster.address, policy=True) as actors:
        assert actors.side_by_side == len(actors.actors) == 1
        assert ray.available_resources().get("GPU", 0) == 0
        play(tmp_path, minecraft, actors, 5)


@pytest.mark.ray
def test_an_error_of_our_own_is_told_with_its_traceback(
    cluster: Any, tmp_path: Path, minecraft: Domain
) -> None:
    kit = StageKit(minecraft, stage_kit(minecraft, "scripted").world, broken_executor)
    with ray_pool(kit, 1, 1, cluster.address) as actors, pytest.raises(WorkerCrashedError, match="a mistake"):
        play(tmp_path, minecraft, actors, 5)


@pytest.mark.ray
def test_where_nobody_answers_there_is_no_cluster(minecraft: Domain) -> None:
    with (
        pytest.raises(NoActorError, match=r"nobody answers at 127\.0\.0\.2:1"),
        ray_pool(stage_kit(minecraft, "scripted"), 1, 1, "127.0.0.2:1"),
    ):
        pass


def test_without_ray_the_error_says_what_to_install(
    minecraft: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without_ray(name: str, *rest: Any, **more: Any) -> Any:
        if name == "ray":
            raise ImportError("No module named 'ray'")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without_ray)
    with (
        pytest.raises(RayMissingError, match=r"pip install 'mineevolve\[ray\]'"),
        hands(minecraft, ROW, 0, ""),
    ):
        pass
