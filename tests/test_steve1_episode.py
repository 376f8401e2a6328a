"""Whole episodes by the executor `steve1` in the game's own client: the client's world over a worker whose
game is a model of the screens (tests/screen_worker.py), and a policy that does nothing."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from prompts.engines.beliefs import standin_settings
from prompts.tokens import PieceCounter
from rollouts.agent import ComposedAgent, Conclusion, Parts, Situation, Thought, agent_row
from rollouts.attempt import StageKit
from rollouts.backends import InProcess
from rollouts.episode import Episode
from rollouts.exercise import planners
from rollouts.monitor import monitor
from rollouts.planner import Plan
from rollouts.protocols import EpisodeSpec, Keys, Subgoal
from rollouts.recorder import Cast, EpisodeRecord, plan_shards, trace_of
from rollouts.rounds import Crew, crew_of, play
from rollouts.worlds.client.settings import Settings
from rollouts.worlds.client.steve1.executor import Steve1Executor
from rollouts.worlds.client.world import ClientWorld
from warehouse.domains import Domain
from warehouse.knowledge import Check
from warehouse.suites import DEFAULT_SUITE, find_suite

WORKER = Path(__file__).with_name("screen_worker.py")


class Resting:
    def act(self, episode: str, text: str, seed: int, step: int, frame: npt.NDArray[np.uint8]) -> Keys:
        return Keys()

    def forget(self, episode: str) -> None:
        pass


def world(spec: EpisodeSpec, domain: Domain) -> ClientWorld:
    return ClientWorld("minestudio", Settings(python=sys.executable), WORKER)


@pytest.fixture
def backend(minecraft: Domain) -> Iterator[InProcess]:
    kit = StageKit(minecraft, world, lambda spec, domain: Steve1Executor(domain, 0, Resting()))
    made = InProcess(kit, open_at_once=1)
    yield made
    made.close()


def played(backend: InProcess, crew: Crew) -> EpisodeRecord:
    spec = EpisodeSpec(
        build="b1",
        group="wooden",
        task_id="wooden_00",
        goal="Craft a wooden pickaxe",
        world="minestudio",
        world_seed=4,
        planner_seed=0,
        horizon=1200,
        snapshot_id=None,
        config_hash="c" * 20,
    )
    (ended,) = play(plan_shards([spec]), backend, crew)
    return ended.record


def test_the_usual_plan_puts_the_table_down_first_and_ends_in_a_pickaxe(
    backend: InProcess, minecraft: Domain
) -> None:
    parts = Parts.of(agent_row("full"), minecraft, (), PieceCounter())
    right = standin_settings().with_misconceptions(0.0)
    crew = crew_of(parts, find_suite(DEFAULT_SUITE, minecraft), planners(minecraft, right))
    record = played(backend, crew)
    trace = trace_of([record])
    assert (record.end_reason, record.tries) == ("success", 1)
    assert ("use", "crafting_table") in [*zip(trace.attempts["kind"], trace.attempts["target"], strict=True)]
    feedback = monitor(trace, minecraft)
    assert set(feedback["failure_type"].drop_nulls().cast(str)) == {"NONE"}


class Forgetful(ComposedAgent):
    """Leaves the table out of its plan."""

    def plan(self, situation: Situation) -> Thought:
        yield from ()
        wanted = ("#planks", 12), ("stick", 4), ("wooden_pickaxe", 1)
        steps = tuple(
            Subgoal(
                f"make_{item.removeprefix('#')}",
                f"craft {item}",
                "craft",
                item,
                count,
                checks=(Check(type="inv_ge", name=item, value=float(count)),),
            )
            for item, count in wanted
        )
        return Conclusion(Plan("forgetful", steps), situation.budget.spend("plan"))


def test_a_craft_without_a_table_is_understood(backend: InProcess, minecraft: Domain) -> None:
    suite = find_suite(DEFAULT_SUITE, minecraft)
    parts = Parts.of(agent_row("full"), minecraft, (), PieceCounter())

    def begin(each: EpisodeSpec) -> Episode:
        cast = Cast("full", "rules", "steve1")
        return Episode(each, suite.task(each.task_id), Forgetful(parts), cast, minecraft)

    right = standin_settings().with_misconceptions(0.0)
    record = played(backend, Crew(begin, planners(minecraft, right), minecraft))
    feedback = monitor(trace_of([record]), minecraft)
    assert feedback["failure_type"].cast(str).to_list()[:3] == ["NONE", "NONE", "MISSING_STATION"]
    assert record.budget.repairs >= 1
