"""The state machine of one episode: plan, carry out, be judged, repair where due, until something ends it.

It is written as a generator, so that it reads from top to bottom: it yields what it needs next (an answer of
the model, an attempt in the world) and is sent what came of it. Who steps worlds and asks models, and how
many episodes do so side by side, is none of its business (rollouts/rounds.py).
"""

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from prompts.language_model import ModelAnswer, ModelRequest, answer_row
from rollouts.agent import Agent, Situation, Thought
from rollouts.attempt import Opening, checks_hold
from rollouts.attempt_run import AttemptRun, lost
from rollouts.backends import Go
from rollouts.budget import CallBudget
from rollouts.planner import Plan, PlanningFailure
from rollouts.protocols import EpisodeSpec, Subgoal
from rollouts.recorder import AttemptRecord, Cast, EpisodeRecord, episode_id_of
from rollouts.sightings import Row
from warehouse.domains import Domain
from warehouse.facts import FeedbackFact
from warehouse.tasks import Task

OBTAINING: Final = frozenset({"mine", "craft", "smelt"})
"""Kinds whose checks say what is to be had: where it is had already, there is nothing to attempt. The others
are for doing something, which a state that pleases does not make superfluous."""


class Judged(NamedTuple):
    """An attempt with what Monitor says of it."""

    run: AttemptRun
    fact: FeedbackFact


Demand = ModelRequest | Go
Course = Generator[Demand, ModelAnswer | Judged, str]
"""Yields demands, is sent answers to requests and judged attempts, returns the episode's end reason."""


@dataclass
class _Standing:
    """A plan and how far it has been carried out."""

    plan: Plan
    at: int = 0


class Episode:
    """One episode as it is played. `course` may be run once."""

    def __init__(self, spec: EpisodeSpec, task: Task, agent: Agent, cast: Cast, domain: Domain) -> None:
        self.spec = spec
        self.task = task
        self.episode_id = episode_id_of(spec)
        self.end_reason: str | None = None
        self._agent = agent
        self._cast = cast
        self._domain = domain
        self._observes: tuple[str, ...] = ()
        self._state: Row = {}
        self._attempts: list[AttemptRecord] = []
        self._facts: list[FeedbackFact] = []
        self._outcomes: dict[str, bool | None] = {}
        self._answers: list[Row] = []
        self._budget = CallBudget()
        self._success_tick: int | None = None
        self._under_way: tuple[Subgoal, str] | None = None

    def open(self, opening: Opening) -> None:
        """The world is there."""
        self._state, self._observes = opening.state, opening.observes

    def course(self) -> Course:
        """Plays the episode."""
        reason = yield from self._played()
        self.end_reason = reason
        return reason

    def arrived(self, run: AttemptRun) -> None:
        """An attempt has ended; it is part of the record before Monitor sees it."""
        assert self._under_way is not None
        subgoal, plan_id = self._under_way
        self._attempts.append(AttemptRecord(run, subgoal, plan_id))
        self._state = run.state_after
        self._success_tick = run.won_at

    def give_up(self, why: str) -> None:
        """The environment failed and left no report: the attempt under way, if any, is recorded as lost."""
        if self._under_way is not None and len(self._attempts) == self._next_attempt:
            self.arrived(lost(self._next_attempt, self._state, self._tick, why))
        self.end_reason = "infrastructure"

    def answered(self, request: ModelRequest, answer: ModelAnswer) -> None:
        """A model's answer, for the log."""
        self._answers.append(answer_row(request, answer, self.spec.build))

    def record(self, tries: int = 1) -> EpisodeRecord:
        """The episode as far as it has got."""
        return EpisodeRecord(
            spec=self.spec,
            cast=self._cast,
            observes=self._observes,
            attempts=tuple(self._attempts),
            end_reason=self.end_reason or "recording_end",
            success_tick=self._success_tick,
            budget=self._budget,
            answers=tuple(self._answers),
            tries=tries,
        )

    def latest(self) -> EpisodeRecord:
        """The episode as if its last attempt were its only one: what Monitor has not seen yet."""
        return replace(self.record(), attempts=tuple(self._attempts[-1:]))

    def judged(self) -> list[tuple[object, ...]]:
        """The attempts that Monitor has judged, as rows of its `EARLIER`."""
        return [
            (
                self.episode_id,
                fact.attempt,
                each.subgoal.kind,
                each.subgoal.target,
                each.subgoal.condition,
                each.run.success,
                each.run.end_reason,
                fact.y,
                fact.stagnant,
                fact.failure_type,
            )
            for each, fact in zip(self._attempts, self._facts, strict=False)
        ]

    @property
    def _next_attempt(self) -> int:
        return len(self._facts)

    @property
    def _tick(self) -> int:
        return self._attempts[-1].run.end_tick if self._attempts else 0

    def _played(self) -> Course:
        plan = yield from self._thought(self._agent.plan(self._situation(None)))
        if isinstance(plan, PlanningFailure):
            return _no_plan(plan)
        now = _Standing(plan)
        while True:
            self._skip_what_is_had(now)
            if now.at == len(now.plan.subgoals):
                if not (self._agent.repairs and self._budget.can_repair):
                    return "plan_exhausted"
            else:
                fact = yield from self._attempted(now)
                if (reason := self._ended()) is not None:
                    return reason
                if fact.y is not False or not self._agent.repairs:
                    now.at += 1
                    continue
                if not self._budget.can_repair:
                    return "call_budget"
            repaired = yield from self._thought(self._agent.repair(self._situation(now)))
            if isinstance(repaired, PlanningFailure):
                return _no_plan(repaired)
            now = _Standing(repaired, repaired.kept)
            kept = {subgoal.subgoal_id for subgoal in repaired.subgoals[: repaired.kept]}
            self._outcomes = {name: y for name, y in self._outcomes.items() if name in kept}

    def _skip_what_is_had(self, now: _Standing) -> None:
        """Passes over steps that ask for what is had already: nothing is attempted and nothing recorded."""
        while now.at < len(now.plan.subgoals):
            subgoal = now.plan.subgoals[now.at]
            if subgoal.kind not in OBTAINING or not checks_hold(subgoal, self._state, self._domain):
                return
            self._outcomes[subgoal.subgoal_id] = True
            now.at += 1

    def _attempted(self, now: _Standing) -> Generator[Demand, ModelAnswer | Judged, FeedbackFact]:
        subgoal = now.plan.subgoals[now.at]
        self._under_way = subgoal, now.plan.plan_id
        judged = yield Go(self._next_attempt, subgoal)
        assert isinstance(judged, Judged)
        self._under_way = None
        self._facts.append(judged.fact)
        self._outcomes[subgoal.subgoal_id] = judged.fact.y
        return judged.fact

    def _ended(self) -> str | None:
        """What the last attempt ended beside itself, if anything. Success comes first: it counts at any tick
        before the horizon, whatever happened at the same tick."""
        run = self._attempts[-1].run
        if run.won_at is not None:
            return "success"
        if run.end_reason in ("infrastructure", "death"):
            return run.end_reason
        return "horizon" if run.end_tick >= self.spec.horizon else None

    def _thought(self, thought: Thought) -> Generator[Demand, ModelAnswer | Judged, Plan | PlanningFailure]:
        """Lets the agent ask until it has a plan, or has none."""
        answer: ModelAnswer | None = None
        while True:
            try:
                asked = thought.send(answer)  # type: ignore[arg-type]  # the first send of a generator is None
            except StopIteration as done:
                self._budget = done.value.budget
                plan: Plan | PlanningFailure = done.value.plan
                return plan
            reply = yield asked
            assert isinstance(reply, ModelAnswer)
            self.answered(asked, reply)
            answer = reply

    def _situation(self, now: _Standing | None) -> Situation:
        return Situation(
            episode_id=self.episode_id,
            spec=self.spec,
            task=self.task,
            state=self._state,
            plan=None if now is None else now.plan,
            outcomes=dict(self._outcomes),
            facts=tuple(self._facts),
            budget=self._budget,
        )


def _no_plan(failure: PlanningFailure) -> str:
    return "infrastructure" if failure.is_infrastructure else "planning_failure"
