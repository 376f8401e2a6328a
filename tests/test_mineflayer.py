"""The world `mineflayer` with its embedded server: the game's rules as far as it has them, and whole
episodes.

Marked `mineflayer`: needs Node 20 and the worker's packages (`make test-mineflayer`).
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import psutil
import pytest

from prompts.engines.beliefs import standin_settings
from prompts.tokens import PieceCounter
from rollouts.agent import ComposedAgent, Conclusion, Parts, Situation, Thought, agent_row
from rollouts.attempt import AttemptRun, Stage
from rollouts.backends import Addressed, Go, InProcess, Reported, stage_kit
from rollouts.episode import Episode
from rollouts.exercise import planners
from rollouts.monitor import monitor
from rollouts.planner import Plan
from rollouts.protocols import EpisodeSpec, Subgoal
from rollouts.recorder import Cast, EpisodeRecord, plan_shards, trace_of
from rollouts.rounds import Crew, crew_of, play
from rollouts.worlds.mineflayer.settings import WORKER
from rollouts.worlds.mineflayer.tables import server_tables
from rollouts.worlds.mineflayer.world import MineflayerWorld
from tests.test_worker_link import gone
from warehouse.domains import Domain
from warehouse.knowledge import Check
from warehouse.suites import DEFAULT_SUITE, find_suite

pytestmark = pytest.mark.mineflayer
PICKAXE = "wooden_00"


def spec(task_id: str = PICKAXE, world_seed: int = 4, horizon: int = 2400, **settings: object) -> EpisodeSpec:
    return EpisodeSpec(
        build="b1",
        group="wooden",
        task_id=task_id,
        goal="Craft a wooden pickaxe",
        world="mineflayer",
        world_seed=world_seed,
        planner_seed=0,
        horizon=horizon,
        snapshot_id=None,
        config_hash="c" * 20,
        settings=settings,
    )


@pytest.fixture
def backend(minecraft: Domain) -> Iterator[InProcess]:
    made = InProcess(stage_kit(minecraft, "scripted"), open_at_once=2)
    yield made
    made.close()


def crew(domain: Domain) -> Crew:
    """The whole agent with a planner that believes nothing wrong, and nothing learnt yet."""
    parts = Parts.of(agent_row("full"), domain, (), PieceCounter())
    right = standin_settings().with_misconceptions(0.0)
    return crew_of(parts, find_suite(DEFAULT_SUITE, domain), planners(domain, right))


def played(each: EpisodeSpec, backend: InProcess, loop: Crew) -> EpisodeRecord:
    (ended,) = play(plan_shards([each]), backend, loop)
    return ended.record


def wish(kind: str, target: str, count: int = 1) -> Subgoal:
    checks = (Check(type="inv_ge", name=target, value=float(count)),) if kind != "use" else ()
    return Subgoal(f"{kind}_{target.lstrip('#')}", f"{kind} {target}", kind, target, count, checks=checks)


@pytest.fixture
def stage(minecraft: Domain) -> Iterator[Stage]:
    suite = find_suite(DEFAULT_SUITE, minecraft)
    long = spec("diamond_00", horizon=20_000)
    made = Stage(long, suite.task(long.task_id), stage_kit(minecraft, "scripted"))
    made.open()
    yield made
    made.close()


def run(stage: Stage, *subgoals: Subgoal) -> list[AttemptRun]:
    return [stage.run(attempt, subgoal) for attempt, subgoal in enumerate(subgoals)]


def held(attempt: AttemptRun) -> dict[str, int]:
    return {each["name"]: each["count"] for each in attempt.state_after["inventory"]}


def test_a_wooden_pickaxe_from_an_empty_inventory(backend: InProcess, minecraft: Domain) -> None:
    record = played(spec(), backend, crew(minecraft))
    assert (record.end_reason, record.tries) == ("success", 1)
    assert record.success_tick is not None
    assert record.success_tick < 2400
    trace = trace_of([record])
    assert trace.ticks["tick"].to_list() == list(range(1, trace.ticks.height + 1)), "a row for every tick"
    assert {"crafting_table", "none"} <= set(trace.ticks["gui"].cast(str).unique())
    feedback = monitor(trace, minecraft)
    assert feedback["y"].to_list()[:-1] == [True] * (feedback.height - 1)
    assert not workers()


class Forgetful(ComposedAgent):
    """Leaves the table out of its plan; whatever it does about that is the whole method's."""

    def plan(self, situation: Situation) -> Thought:
        yield from ()
        steps = wish("mine", "#logs", 3), wish("craft", "#planks", 8), wish("craft", "stick", 4)
        plan = Plan("forgetful", (*steps, wish("craft", "wooden_pickaxe")))
        return Conclusion(plan, situation.budget.spend("plan"))


def test_a_craft_without_a_table_is_understood_and_repaired(backend: InProcess, minecraft: Domain) -> None:
    right = crew(minecraft)
    parts = Parts.of(agent_row("full"), minecraft, (), PieceCounter())
    suite = find_suite(DEFAULT_SUITE, minecraft)

    def begin(each: EpisodeSpec) -> Episode:
        cast = Cast("full", "rules", "scripted")
        return Episode(each, suite.task(each.task_id), Forgetful(parts), cast, minecraft)

    record = played(spec(), backend, Crew(begin, right.model, minecraft))
    assert record.end_reason == "success"
    assert record.budget.repairs >= 1
    feedback = monitor(trace_of([record]), minecraft)
    failed = feedback.filter(~pl.col("y"))
    assert failed["failure_type"].cast(str).to_list()[0] == "MISSING_STATION"
    kinds = [(each.subgoal.kind, each.subgoal.target) for each in record.attempts]
    assert ("use", "crafting_table") in kinds[kinds.index(("craft", "wooden_pickaxe")) :], "the repair"


def test_a_worker_that_is_killed_in_mid_episode_is_tried_again(minecraft: Domain) -> None:
    class Deadly(InProcess):
        """Kills the worker before the second attempt of the first try."""

        killed = 0

        def play(self, orders: Sequence[Addressed]) -> Iterator[Reported]:
            for each in orders:
                if isinstance(each.order, Go) and each.order.attempt == 1 and self.killed < self.deaths:
                    self.killed += 1
                    for worker in workers():
                        os.kill(worker.pid, signal.SIGKILL)
            return super().play(orders)

        def __init__(self, deaths: int) -> None:
            super().__init__(stage_kit(minecraft, "scripted"), open_at_once=1)
            self.deaths = deaths

    once = Deadly(1)
    record = played(spec(), once, crew(minecraft))
    assert (record.end_reason, record.tries, once.killed) == ("success", 2, 1)
    twice = Deadly(2)
    record = played(spec(), twice, crew(minecraft))
    assert (record.end_reason, record.tries) == ("infrastructure", 2)
    assert record.attempts[-1].run.success is None
    trace = trace_of([record])
    assert monitor(trace, minecraft)["failure_type"].cast(str).to_list()[-1] == "INFRASTRUCTURE"
    assert not workers()


def test_the_rules_of_the_game_hold(stage: Stage) -> None:
    bare, *more = run(
        stage,
        wish("mine", "cobblestone"),
        wish("mine", "#logs", 6),
        wish("craft", "#planks", 16),
        wish("craft", "crafting_table"),
        wish("use", "crafting_table"),
        wish("craft", "stick", 4),
        wish("craft", "wooden_pickaxe"),
        Subgoal("down", "move down", "move", None, checks=(Check(type="ypos_le", value=60.0),)),
        wish("mine", "cobblestone", 11),
        Subgoal("back", "go to the table", "move", "crafting_table"),
        wish("craft", "furnace"),
        wish("use", "furnace"),
        wish("smelt", "charcoal"),
    )
    assert not held(bare).get("cobblestone"), "stone gives nothing to a bare hand"
    assert "missing_tool" in bare.events["signal"].cast(str).to_list()
    wanted = [each.success for each in more if each.success is not None]
    assert wanted == [True] * len(wanted)
    last = more[-1]
    assert held(last)["charcoal"] == 1
    assert last.end_tick - last.start_tick >= 200, "a furnace takes its time"
    assert "furnace" in last.ticks["gui"].cast(str).to_list()


def test_the_same_seed_is_the_same_world_and_another_is_another(minecraft: Domain) -> None:
    world = MineflayerWorld(minecraft)
    windows = []
    for seed in (3, 3, 5):
        seen = world.reset(seed)
        assert (seen.x, seen.z, seen.health, seen.hunger) == (0.5, 0.5, 20.0, 20.0)
        assert not seen.inventory
        assert seen.window is not None
        windows.append(seen.window)
    world.close()
    assert np.array_equal(windows[0].blocks, windows[1].blocks)
    assert windows[0].origin != windows[2].origin or not np.array_equal(windows[0].blocks, windows[2].blocks)
    names = {windows[0].palette[index] for index in np.unique(windows[0].blocks)}
    assert {"grass_block", "air", "unknown"} <= names
    assert "diamond_ore" not in names, "what lies in the ground is not seen"


def test_a_worker_that_never_ends_ends_with_its_parent() -> None:
    """One that is lost in a loop sees neither signals of its own nor the end of its stdin."""
    loop = f"require({str(WORKER / 'watchdog.js')!r}).watch(); console.log(process.pid); for (;;) ;"
    code = f"import subprocess; subprocess.run(['node', '-e', {loop!r}])"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert psutil.pid_exists(pid)
        parent.kill()
        assert gone(pid)


def test_a_server_of_ones_own_is_joined_and_played_on(backend: InProcess, minecraft: Domain) -> None:
    with subprocess.Popen(
        ["node", str(Path(__file__).with_name("mineflayer_server.js"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            assert server.stdin is not None
            assert server.stdout is not None
            server.stdin.write(json.dumps(server_tables(minecraft)))
            server.stdin.close()
            port = int(server.stdout.readline())
            record = played(spec(host="127.0.0.1", port=port), backend, crew(minecraft))
        finally:
            server.kill()
    assert (record.end_reason, record.tries) == ("success", 1)


def test_the_servers_rules_by_themselves() -> None:
    rules = Path(__file__).with_name("mineflayer_rules.js")
    done = subprocess.run(["node", "--test", str(rules)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def workers() -> list[psutil.Process]:
    return [each for each in psutil.Process().children(recursive=True) if each.name().startswith("node")]
