"""A situation played: into its failure, and from there on with a repair or without."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from prompts.inducer import requests_for
from prompts.language_model import ModelRequest
from prompts.situations import RemedySituation
from rollouts.attempt import Stage, StageKit, checks_hold
from rollouts.attempt_run import AttemptRun
from rollouts.budget import CallBudget
from rollouts.executors.registry import executor
from rollouts.monitor import monitor
from rollouts.progress import followed
from rollouts.protocols import EpisodeSpec, Subgoal
from rollouts.recorder import AttemptRecord, Cast, EpisodeRecord, trace_of
from rollouts.rehearsal import subgoal_of
from rollouts.worlds.techtree.situations import Situation
from rollouts.worlds.techtree.unwinnable import UNWINNABLE
from warehouse.domains import Domain
from warehouse.facts import FeedbackFact, facts_from
from warehouse.ids import digest
from warehouse.knowledge import Step

BUILD: Final = "model-score"
"""what the feedback and the answers call the build that they are of"""
EXECUTOR: Final = "scripted"
_ENDLESS: Final = 10**9
_PLAYED: Final = {"goal", "pack", "stage", "earlier", "attempts", "seed", "ground"}
"""what of a situation decides how it fails; the right answer to it is no part of what is asked"""


class UnfitSituationError(RuntimeError):
    """A situation does not come to what it is for: its attempts do not fail, or no remedy is due for them."""


@dataclass(frozen=True)
class Failure:
    """A situation in which the attempts failed, as Monitor judged them, and what Inducer asks about them."""

    situation: Situation
    facts: tuple[FeedbackFact, ...]
    """of all attempts, in order"""
    request: ModelRequest

    @property
    def fact(self) -> FeedbackFact:
        """The failure that is asked about: the last attempt."""
        return self.facts[-1]


def failures(situations: Sequence[Situation], domain: Domain) -> list[Failure]:
    """All situations, failed, in the order given. Monitor judges all of them in one call.

    `UnfitSituationError` names a situation whose last attempt is no failure that a remedy is due for.
    """
    each_in_turn = followed(situations, "situations played", len(situations))
    played = [(situation, _record(situation, domain)) for situation in each_in_turn]
    trace = trace_of([record for _, record in played])
    facts = facts_from(monitor(trace, domain), trace.attempts, trace.events, trace.episodes)
    by_episode: dict[str, list[FeedbackFact]] = {}
    for fact in facts.values():
        by_episode.setdefault(fact.episode_id, []).append(fact)
    return [_failure(situation, by_episode[record.episode_id], domain) for situation, record in played]


def _failure(situation: Situation, found: Sequence[FeedbackFact], domain: Domain) -> Failure:
    facts = tuple(sorted(found, key=lambda fact: fact.attempt))
    for request in requests_for(facts, domain):
        asked = request.situation
        if isinstance(asked, RemedySituation) and asked.cited[-1].feedback_id == facts[-1].feedback_id:
            return Failure(situation, facts, request)
    raise UnfitSituationError(f"{situation.name}: no remedy is due for its last attempt, {facts[-1]}")


def _record(situation: Situation, domain: Domain) -> EpisodeRecord:
    stage = _Staged(situation, domain)
    runs = list(stage.fail())
    return EpisodeRecord(
        spec=stage.spec,
        cast=Cast("none", "none", EXECUTOR),
        observes=stage.observes,
        attempts=tuple(AttemptRecord(run, subgoal, "situation") for run, subgoal in runs),
        end_reason="death" if runs[-1][0].end_reason == "death" else "plan_exhausted",
        success_tick=None,
        budget=CallBudget(),
    )


def succeeds_after(situation: Situation, repair: Sequence[Step], domain: Domain) -> bool:
    """Whether the subgoal can be reached from the failing state after `repair`; without steps, whether the
    attempt merely had to be repeated.

    The failing state is the one that the last attempt left, with all that the executor remembers; where that
    attempt ended in death, the one before it. The steps are carried out one after the other, whatever comes
    of each; then the subgoal is tried once more, unless its checks hold already.
    """
    stage = _failed_alive(situation, domain)
    for number, step in enumerate(repair, start=1):
        stage.run(subgoal_of(step, number))
    return stage.holds() if repair and stage.holds() else stage.run(situation.goal.subgoal).success is True


def _failed_alive(situation: Situation, domain: Domain) -> "_Staged":
    """The situation after its attempts; without the last of them where that was deadly."""
    stage = _Staged(situation, domain)
    runs = list(stage.fail())
    if runs[-1][0].end_reason != "death":
        return stage
    again = _Staged(situation, domain)
    for _ in islice(again.fail(), len(runs) - 1):
        pass
    return again


class _Staged:
    """The world and the executor of one situation."""

    def __init__(self, situation: Situation, domain: Domain) -> None:
        self._situation = situation
        self._domain = domain
        self.spec = EpisodeSpec(
            build=BUILD,
            group="situations",
            task_id=situation.name,
            goal=situation.goal.subgoal.condition,
            world="techtree",
            world_seed=situation.seed,
            planner_seed=0,
            horizon=_ENDLESS,
            snapshot_id=None,
            config_hash=digest(situation.model_dump(include=_PLAYED)),
        )
        kit = StageKit(
            domain,
            lambda spec, domain: situation.world(domain),
            lambda spec, domain: executor(EXECUTOR, domain, spec.world_seed),
        )
        self._stage = Stage(self.spec, UNWINNABLE, kit)
        self._opening = self._stage.open()
        self._attempt = 0
        self._state = self._opening.state

    @property
    def observes(self) -> tuple[str, ...]:
        """What the world shows."""
        return self._opening.observes

    def run(self, subgoal: Subgoal) -> AttemptRun:
        """The next attempt. A world that fails is a defect here, and no failure of anybody's repair."""
        run = self._stage.run(self._attempt, subgoal)
        if run.end_reason == "infrastructure":
            raise RuntimeError(f"{self._situation.name}: the world failed: {run.events['text'].to_list()}")
        self._attempt += 1
        self._state = run.state_after
        return run

    def fail(self) -> Iterator[tuple[AttemptRun, Subgoal]]:
        """The attempts that the situation consists of."""
        wanted = (*self._situation.earlier, *(self._situation.goal,) * self._situation.attempts)
        for subgoal in (each.subgoal for each in wanted):
            yield self.run(subgoal), subgoal

    def holds(self) -> bool:
        """Whether the subgoal's checks hold now."""
        return checks_hold(self._situation.goal.subgoal, self._state, self._domain) is True
