"""A world, an executor, an agent and a model that are made for tests: small, deterministic, importable by a
worker process, and able to fail on request.

The world is a straight way along x. Logs stand on it at places that the seed decides; who stands before one
and attacks for `CHOP` ticks has it. Settings of an episode (`EpisodeSpec.settings`):

    crash_at       the world raises at this tick
    deadly_at      the agent dies at this x
    kill_process   path of a file: the process that reaches `kill_at` kills itself unless the file exists,
                   and makes it first where `kill_once` is set
    villager_at    an event named "trade" at this x
"""

import os
import signal
import time
from collections.abc import Iterable, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from prompts.language_model import Message, ModelAnswer, ModelRequest
from rollouts.agent import Agent, AgentRow, Conclusion, Situation, Thought, agent_row
from rollouts.attempt import StageKit
from rollouts.backends import local_pool
from rollouts.episode import Episode
from rollouts.planner import Plan
from rollouts.protocols import (
    Action,
    Advance,
    EpisodeSpec,
    Executor,
    Move,
    Observation,
    Subgoal,
    Truth,
    Window,
    World,
    WorldEvent,
)
from rollouts.recorder import Batch, Cast
from rollouts.rounds import Crew, roll_out
from warehouse.domains import Domain, load_domain
from warehouse.knowledge import Check, Record
from warehouse.tasks import Task

CHOP = 10
SPEED = 0.25
LOG = "oak_log"
PALETTE = ("unknown", "air", "grass_block", LOG)


class FakeWorld:
    name = "fake"
    observes = ("position", "rotation", "vitals", "gui", "inventory", "equipped", "actions", "sightings")

    def __init__(self, settings: dict[str, Any] | None = None) -> None:
        self.settings = settings or {}

    def reset(self, seed: int) -> Observation:
        if self.settings.get("no_reset"):
            raise ConnectionError("no world today")
        rng = np.random.default_rng(seed)
        self.logs = sorted(3 + 4 * index + int(rng.integers(0, 3)) for index in range(6))
        self.tick, self.x, self.held, self.alive, self.chopped = 0, 0.5, {}, True, 0
        self.traded = False
        self.failed: list[Truth] = []
        return self._seen()

    def step(self, action: Action, ticks: int = 1) -> Advance:
        rows: dict[str, list[Any]] = {
            name: []
            for name in (
                *("tick", "x", "y", "z", "yaw", "pitch", "health", "hunger"),
                *("alive", "equipped", "gui", "action"),
            )
        }
        events: list[WorldEvent] = []
        changes: list[tuple[int, str, int, int]] = []
        for _ in range(ticks):
            self._misbehave()
            self.tick += 1
            before = self.x
            if action.forward > 0 and not any(0 < log - self.x < 1 for log in self.logs):
                self.x += SPEED
            stopped = action.forward > 0 and self.x == before
            self.chopped = self.chopped + 1 if action.attack and self._log_ahead() is not None else 0
            if self.chopped == CHOP:
                log = self._log_ahead()
                assert log is not None
                self.logs.remove(log)
                self.chopped = 0
                self.held[LOG] = self.held.get(LOG, 0) + 1
                changes.append((self.tick, LOG, 1, self.held[LOG]))
                events.append(WorldEvent(self.tick, "action_result", f"mine:{LOG}", 1, signal="done"))
            if self.x >= self.settings.get("villager_at", np.inf) and not self.traded:
                self.traded = True
                events.append(WorldEvent(self.tick, "game", "trade"))
            self.alive = self.x < self.settings.get("deadly_at", np.inf)
            if stopped:
                self.failed.append(Truth(self.tick, "NAV_STUCK", "a log stands in the way"))
            for name, value in self._row(action).items():
                rows[name].append(value)
            if changes or events or stopped or not self.alive:
                break
        columns = {name: np.array(values) for name, values in rows.items()}
        return Advance(self._seen(), columns, tuple(events), tuple(changes))

    def replay(self, actions: Iterable[tuple[Action, int]]) -> Observation:
        raise NotImplementedError

    def truths(self, since_tick: int) -> Sequence[Truth]:
        return [truth for truth in self.failed if truth.tick >= since_tick]

    def _misbehave(self) -> None:
        time.sleep(float(os.environ.get("FAKE_WORLD_PAUSE", "0")) / CHOP)
        if self.tick >= self.settings.get("crash_at", np.inf):
            raise ConnectionError(f"the server closed the connection at tick {self.tick}")
        if self.tick >= self.settings.get("kill_at", np.inf):
            mark = Path(self.settings["kill_process"])
            if not mark.exists():
                if self.settings.get("kill_once"):
                    mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)

    def _log_ahead(self) -> int | None:
        return next((log for log in self.logs if 0 < log - self.x < 1), None)

    def _row(self, action: Action) -> dict[str, Any]:
        return {
            "tick": self.tick,
            "x": self.x,
            "y": 64.0,
            "z": 0.5,
            "yaw": -90.0,
            "pitch": 0.0,
            "health": 20.0 if self.alive else 0.0,
            "hunger": 20.0,
            "alive": self.alive,
            "equipped": "air",
            "gui": "none",
            "action": action.name(),
        }

    def _seen(self) -> Observation:
        blocks = np.full((9, 3, 3), 1, dtype=np.uint16)
        blocks[:, 0, :] = 2
        start = int(self.x) - 4
        for log in self.logs:
            if 0 <= log - start < 9:
                blocks[log - start, 1, 1] = 3
        return Observation(
            tick=self.tick,
            x=self.x,
            y=64.0,
            z=0.5,
            yaw=-90.0,
            pitch=0.0,
            health=20.0 if self.alive else 0.0,
            hunger=20.0,
            alive=self.alive,
            gui="none",
            inventory=dict(self.held),
            equipped="air",
            window=None if self.settings.get("blind") else Window(blocks, (start, 63, -1), PALETTE),
        )


class FakeExecutor:
    """Walks on and chops what stands in the way. `patience` is after how many moves it gives up."""

    name = "fake"

    def __init__(self, patience: int = 10_000) -> None:
        self.patience = patience

    def start(self, subgoal: Subgoal, observation: Observation) -> None:
        self.kind = subgoal.kind
        self.moves = 0
        self.walked_from: float | None = None

    def act(self, observation: Observation) -> Move | None:
        self.moves += 1
        if self.moves > self.patience or self.kind == "craft":
            return None
        if self.kind == "wait":
            return Move(Action(), 20)
        if self.walked_from == observation.x and self.kind == "mine":
            self.walked_from = None
            return Move(Action(attack=True), CHOP)
        self.walked_from = observation.x
        return Move(Action(forward=1), 7)


class Question(Record):
    """What the fake agent asks: how many logs to want, for a seed."""

    seed: int
    repair: int


class Number(Record):
    value: int


class FakeModel:
    """Answers with a number that depends on the question alone, and remembers how it was asked."""

    name = "fake-model"

    def __init__(self) -> None:
        self.batches: list[int] = []

    def generate(self, requests: Sequence[ModelRequest]) -> list[ModelAnswer]:
        self.batches.append(len(requests))
        answers = []
        for request in requests:
            question = request.situation
            assert isinstance(question, Question)
            value = Number(value=1 + (question.seed + question.repair) % 3)
            answers.append(ModelAnswer(request.request_id, self.name, value.model_dump_json(), value))
        return answers


class FakeAgent:
    """Asks the model how many logs to get, and plans to get them; a repair asks again."""

    def __init__(self, row: AgentRow, subgoals: Sequence[Subgoal] = ()) -> None:
        self.repairs = row.repair
        self.subgoals = tuple(subgoals)

    def plan(self, situation: Situation) -> Thought:
        return self._think(situation, "plan")

    def repair(self, situation: Situation) -> Thought:
        return self._think(situation, "repair")

    def _think(self, situation: Situation, call: Any) -> Thought:
        budget = situation.budget.spend(call)
        answer = yield question_of(situation.spec.world_seed, budget.repairs)
        assert isinstance(answer.value, Number)
        kept = ()
        if situation.plan is not None:
            kept = tuple(
                takewhile(
                    lambda step: situation.outcomes.get(step.subgoal_id, False) is not False,
                    situation.plan.subgoals,
                )
            )
        suffix = self.subgoals or (
            chop(answer.value.value, f"chop_{budget.used}", seconds=2.0),  # enough for one log
            subgoal("move", f"walk_{budget.used}", seconds=2.0),
        )
        return Conclusion(Plan(f"plan_{budget.used}", (*kept, *suffix), len(kept)), budget)


def question_of(seed: int, repair: int) -> ModelRequest:
    question = Question(seed=seed, repair=repair)
    text = question.model_dump_json()
    return ModelRequest("planner", "fake_v1", (Message("user", text),), question, Number)


def subgoal(kind: str, name: str, *checks: Check, seconds: float = 10.0, **more: Any) -> Subgoal:
    target = {"mine": LOG, "craft": "stick", "combat": "cow"}.get(kind)
    return Subgoal(name, f"{kind} it", kind, target, checks=checks, timeout_s=seconds, **more)


def chop(count: int, name: str = "chop", seconds: float = 10.0) -> Subgoal:
    return subgoal("mine", name, Check(type="inv_ge", name=LOG, value=float(count)), seconds=seconds)


def task(count: int = 3, event: str | None = None) -> Task:
    return Task(
        id="logs",
        group="wooden",
        kind="mine",
        instruction=f"Get {count} logs",
        horizon_ticks=400,
        any_of=(LOG,),
        count=count,
        verifiable_by="event" if event else "inventory",
        note=f'needs the event "{event}"' if event else "",
        accepted=frozenset({LOG}),
    )


def spec(seed: int = 0, horizon: int = 400, **settings: Any) -> EpisodeSpec:
    return EpisodeSpec(
        build="b1",
        group="wooden",
        task_id="logs",
        goal="Get logs",
        world="fake",
        world_seed=seed,
        planner_seed=seed % 2,
        horizon=horizon,
        snapshot_id=None,
        config_hash="c" * 20,
        settings=settings,
    )


def make_world(spec: EpisodeSpec, domain: Domain) -> World:
    return FakeWorld(dict(spec.settings))


def make_executor(spec: EpisodeSpec, domain: Domain) -> Executor:
    return FakeExecutor(spec.settings.get("patience", 10_000))


def kit(domain: Domain | None = None) -> StageKit:
    return StageKit(domain or load_domain("minecraft"), make_world, make_executor)


CAST = Cast(agent="full", planner="fake-model", executor="fake")


def crew(
    domain: Domain,
    model: FakeModel | None = None,
    row: str = "full",
    subgoals: Sequence[Subgoal] = (),
    wanted: Task | None = None,
) -> Crew:
    """Fake agents before a real loop, real Monitor and real recorder."""
    asked = model or FakeModel()
    agent: Agent = FakeAgent(agent_row(row), subgoals)
    return Crew(
        begin=lambda each: Episode(each, wanted or task(), agent, CAST, domain),
        model=lambda role, seed: asked,
        domain=domain,
    )


def main(home: str, episodes: int, workers: int, pause_s: float) -> None:
    """A batch in a process of its own, to be killed; `pause_s` is slept in each step and seen in nothing."""
    os.environ["FAKE_WORLD_PAUSE"] = str(pause_s)
    domain = load_domain("minecraft")
    with local_pool(kit(domain), workers) as pool:
        roll_out([Batch(Path(home), "run", [spec(seed) for seed in range(episodes)])], pool, crew(domain))
