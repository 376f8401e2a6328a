"""Rounds: one call of Monitor and of the model for all, and nothing of the order of reports in the record."""

import random
from collections.abc import Iterator, Sequence

import pytest

from prompts.language_model import ModelAnswer, ModelRequest
from rollouts import rounds
from rollouts.backends import Addressed, Done, InProcess, Lost, Reported
from rollouts.monitor import monitor
from rollouts.recorder import EpisodeRecord, plan_shards, trace_of
from rollouts.rounds import FEW, Crew, play
from tests.fake_world import FakeModel, crew, kit, spec
from warehouse.domains import Domain


class Shuffling:
    """A backend that reports in an order of its own, and plays several shards at once."""

    def __init__(self, inner: InProcess, seed: int, side_by_side: int) -> None:
        self.inner = inner
        self.order = random.Random(seed)
        self.side_by_side = side_by_side
        self.finished: list[str] = []
        self.orders: list[int] = []

    def play(self, orders: Sequence[Addressed]) -> Iterator[Reported]:
        mixed = list(orders)
        self.orders.append(len(mixed))
        self.order.shuffle(mixed)
        return self.inner.play(mixed)

    open_at_once = None

    def finish(self, done: Done) -> None:
        self.finished.append(done.shard)
        self.inner.finish(done)


def records(backend: Shuffling | InProcess, loop: Crew, episodes: int = 20) -> list[EpisodeRecord]:
    shards = plan_shards([spec(seed) for seed in range(episodes)])
    ended = [each.record for each in play(shards, backend, loop)]
    return sorted(ended, key=lambda record: record.episode_id)


def test_neither_the_order_of_reports_nor_of_shards_can_be_seen(minecraft: Domain) -> None:
    plain = records(InProcess(kit(minecraft)), crew(minecraft))
    for seed, at_once in ((1, 1), (2, 2)):
        mixed = records(Shuffling(InProcess(kit(minecraft)), seed, at_once), crew(minecraft))
        assert [each.answers for each in mixed] == [each.answers for each in plain]
        for name, frame in trace_of(plain).frames().items():
            assert frame.equals(trace_of(mixed).frames()[name]), name


def test_every_round_has_one_call_of_monitor_and_one_of_the_model(
    minecraft: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[int] = []

    def counted(trace, domain, settings, earlier):  # type: ignore[no-untyped-def]
        judged.append(trace.episodes.height)
        return monitor(trace, domain, settings, earlier)

    monkeypatch.setattr(rounds, "monitor", counted)
    model = FakeModel()
    backend = Shuffling(InProcess(kit(minecraft)), 0, 2)
    ended = records(backend, crew(minecraft, model))
    assert model.batches[0] == 20  # all plans are asked for together
    assert len(judged) <= len(backend.orders)
    assert len(model.batches) <= len(backend.orders)
    assert sum(model.batches) == sum(record.budget.used for record in ended)
    assert sorted(backend.finished) == [shard.name for shard in plan_shards([spec(s) for s in range(20)])]


def test_one_tables_worlds_have_their_orders_before_the_other_is_judged(minecraft: Domain) -> None:
    came: list[str] = []

    class Ahead(Shuffling):
        def play(self, orders: Sequence[Addressed]) -> Iterator[Reported]:
            came.append(f"ordered {len(orders)}")
            return super().play(orders)

    class Noting(FakeModel):
        def generate(self, requests: Sequence[ModelRequest]) -> list[ModelAnswer]:
            came.append(f"asked {len(requests)}")
            return super().generate(requests)

    backend = Ahead(InProcess(kit(minecraft)), 3, 4)
    apart = records(backend, crew(minecraft, Noting()), FEW + 1)
    assert came[:6] == ["ordered 32", "ordered 32", "asked 32", "ordered 32", "asked 32", "ordered 32"]
    together = records(InProcess(kit(minecraft)), crew(minecraft), FEW + 1)
    for name, frame in trace_of(together).frames().items():
        assert frame.equals(trace_of(apart).frames()[name]), name


def test_requests_are_asked_in_the_order_of_the_episodes(minecraft: Domain) -> None:
    asked: list[tuple[int, ...]] = []

    class Noting(FakeModel):
        def generate(self, requests: Sequence[ModelRequest]) -> list[ModelAnswer]:
            asked.append(tuple(request.situation.seed for request in requests))  # type: ignore[attr-defined]
            return super().generate(requests)

    ended = records(Shuffling(InProcess(kit(minecraft)), 3, 2), crew(minecraft, Noting()))
    rank = {record.spec.world_seed: place for place, record in enumerate(ended)}
    for batch in asked:
        assert sorted(batch, key=rank.__getitem__) == list(batch)


def test_each_planner_seed_may_have_a_model_of_its_own(minecraft: Domain) -> None:
    models = {0: FakeModel(), 1: FakeModel()}
    one = crew(minecraft)
    records(InProcess(kit(minecraft)), Crew(one.begin, lambda role, seed: models[seed], minecraft), 6)
    assert models[0].batches[0] == models[1].batches[0] == 3


class Losing(Shuffling):
    """A backend that loses the worlds of some episodes, a number of times each."""

    def __init__(self, inner: InProcess, seeds: set[int], times: int) -> None:
        super().__init__(inner, 0, 1)
        self.left = dict.fromkeys(sorted(seeds), times)
        self.opened = 0

    def play(self, orders: Sequence[Addressed]) -> Iterator[Reported]:
        for each in orders:
            spec_ = getattr(each.order, "spec", None)
            if spec_ is not None:
                self.opened += 1
                self.seed_of = {**getattr(self, "seed_of", {}), each.episode_id: spec_.world_seed}
            seed = self.seed_of[each.episode_id]
            if spec_ is None and self.left.get(seed, 0):
                self.left[seed] -= 1
                yield Reported(each.episode_id, Lost("gone"))
            else:
                yield from self.inner.play([each])


def test_an_environment_that_fails_once_is_tried_again_and_leaves_no_trace_of_it(minecraft: Domain) -> None:
    plain = records(InProcess(kit(minecraft)), crew(minecraft), 4)
    again = records(Losing(InProcess(kit(minecraft)), {1, 3}, 1), crew(minecraft), 4)
    assert {each.spec.world_seed: each.tries for each in again} == {0: 1, 1: 2, 2: 1, 3: 2}
    for name, frame in trace_of(plain).frames().items():
        assert frame.equals(trace_of(again).frames()[name]), name


def test_an_environment_that_fails_twice_ends_the_episode_with_the_attempt_it_broke(
    minecraft: Domain,
) -> None:
    ended = records(Losing(InProcess(kit(minecraft)), {1}, 2), crew(minecraft), 4)
    (lost,) = [each for each in ended if each.spec.world_seed == 1]
    assert (lost.end_reason, lost.tries) == ("infrastructure", 2)
    assert [each.run.end_reason for each in lost.attempts] == ["infrastructure"]
    assert lost.attempts[0].run.events["text"].to_list() == ["gone"]
    assert all(each.end_reason != "infrastructure" for each in ended if each is not lost)
