"""One way to the situations that knowledge is tried out in, and the arms that begin there."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from rollouts.attempt import Opening
from rollouts.attempt_run import AttemptRun
from rollouts.backends import Addressed, Branch, Go, Open, Report
from rollouts.budget import CallBudget
from rollouts.monitor import monitor
from rollouts.protocols import Subgoal
from rollouts.recorder import AttemptRecord, Cast, EpisodeRecord, trace_of
from rollouts.rehearsal import Course, with_steps, without_steps
from rollouts.sightings import Row
from rollouts.situations import Past, Trial, in_world
from rollouts.worlds.techtree.unwinnable import UNWINNABLE
from warehouse.domains import Domain
from warehouse.entries import TryOut
from warehouse.facts import FeedbackFact, facts_from
from warehouse.records import TICKS_PER_SECOND
from warehouse.state import flatten_state, matches

ARMS: Final = {"with": with_steps, "without": without_steps}
_COMPARED: Final = ("start_tick", "end_tick", "success", "end_reason", "state_before", "state_after")
"""what says that the same decisions led to the same"""
Playing = Generator[list[Addressed], Mapping[str, Report], None]


class Journey:
    """One episode's decisions carried out again in one world, with a stop at every situation on the way."""

    def __init__(
        self, past: Past, world_seed: int, trials: Sequence[Trial], domain: Domain, arm_ticks: int
    ) -> None:
        self.rows: list[TryOut] = []
        self._past = past
        self._spec = in_world(past, world_seed)
        self._at_home = world_seed == past.spec.world_seed
        self._trials = sorted(trials, key=lambda trial: (trial.place, trial.entry_id))
        self._domain = domain
        self._limit = arm_ticks
        self._runs: list[AttemptRun] = []
        self._observes: tuple[str, ...] = ()
        self.name = f"{trials[0].episode_id}-{world_seed}"

    def playing(self) -> Playing:
        """Yields orders, is sent the reports on them. What has no row at the end was lost."""
        opening = yield from self._ordered(Open(self._spec, UNWINNABLE))
        if not isinstance(opening, Opening):
            return
        state, tick, self._observes = opening.state, 0, opening.observes
        while self._trials:
            place = len(self._runs)
            here = [trial for trial in self._trials if trial.place == place]
            self._trials = [trial for trial in self._trials if trial.place > place]
            if here and self._at_home and not self._as_it_was():
                return
            if here and not self._at_home:
                come = [trial for trial in here if self._has_come(trial, state)]
                self._never_came([trial for trial in here if trial not in come], tick)
                here = come
            if here:
                yield from self._tried(here, state, tick)
            if not self._trials:
                return
            run = yield from self._ordered(Go(place, self._in_time(self._past.subgoals[place], tick)))
            if not isinstance(run, AttemptRun) or run.end_reason == "infrastructure":
                return
            self._runs.append(run)
            state, tick = run.state_after, run.end_tick
            if not self._at_home:
                # Its time is over, or its life is.
                beyond = [trial for trial in self._trials if tick > trial.lead or run.end_reason == "death"]
                self._never_came(beyond, tick)
                self._trials = [trial for trial in self._trials if trial not in beyond]

    def _in_time(self, subgoal: Subgoal, tick: int) -> Subgoal:
        """The subgoal, in another world with no more time than is left for the way."""
        if self._at_home:
            return subgoal
        left = max(trial.lead for trial in self._trials) - tick
        return replace(subgoal, timeout_s=min(subgoal.timeout_s, max(0, left) / TICKS_PER_SECOND))

    def _ordered(self, order: Open | Go) -> Generator[list[Addressed], Mapping[str, Report], Report]:
        reports = yield [Addressed(self.name, self.name, order)]
        return reports[self.name]

    def _tried(self, trials: Sequence[Trial], state: Row, tick: int) -> Playing:
        """Both arms of each, side by side."""
        courses = {
            f"{self.name}/{trial.entry_id}/{arm}": Course(
                subgoals(trial.steps, trial.goal), trial.goal, state, tick, self._limit, self._domain
            )
            for trial in trials
            for arm, subgoals in ARMS.items()
        }
        came = yield [Addressed(self.name, name, Branch(self.name)) for name in courses]
        for name, report in came.items():
            courses[name].lost = not isinstance(report, Opening)
        number = len(self._runs)
        while orders := [
            Addressed(self.name, name, Go(number, subgoal))
            for name, course in sorted(courses.items())
            if (subgoal := course.next()) is not None
        ]:
            number += 1
            for name, report in (yield orders).items():
                if isinstance(report, AttemptRun):
                    courses[name].heard(report)
                else:
                    courses[name].lost = True
        for trial in trials:
            pair = {arm: courses[f"{self.name}/{trial.entry_id}/{arm}"] for arm in ARMS}
            if not any(course.lost for course in pair.values()):
                self.rows += [
                    self._row(trial, arm, course.success, tick, course.ticks) for arm, course in pair.items()
                ]

    def _never_came(self, trials: Sequence[Trial], tick: int) -> None:
        self.rows += [self._row(trial, arm, None, tick, 0) for trial in trials for arm in ARMS]

    def _row(self, trial: Trial, arm: str, success: bool | None, lead: int, ticks: int) -> TryOut:
        return TryOut.model_validate(
            {
                "entry_id": trial.entry_id,
                "situation": trial.situation,
                "episode_id": trial.episode_id,
                "world_seed": trial.world_seed,
                "arm": arm,
                "success": success,
                "lead": lead,
                "ticks": ticks,
            }
        )

    def _as_it_was(self) -> bool:
        """Whether the attempts so far are, by what is stored of them, those that were recorded."""
        again = trace_of([self._record()]).attempts.select(_COMPARED)
        return again.equals(self._past.attempts.select(_COMPARED).head(again.height))

    def _has_come(self, trial: Trial, state: Row) -> bool:
        """Whether a situation of another world is one of the entry: its trigger holds, and what has failed
        in its own world has failed here."""
        if not trial.failed:
            flat = flatten_state(state, kind=trial.goal.kind, target=trial.goal.target)
            return matches(trial.wanted or (), flat, self._domain) is True
        last = self._judged()
        return last.y is False and matches(trial.wanted or (), last.situation, self._domain) is True

    def _judged(self) -> FeedbackFact:
        """Monitor's word on the last attempt."""
        trace = trace_of([self._record()])
        facts = facts_from(monitor(trace, self._domain), trace.attempts, trace.events, trace.episodes)
        return max(facts.values(), key=lambda fact: fact.attempt)

    def _record(self) -> EpisodeRecord:
        pairs = zip(self._runs, self._past.subgoals, strict=False)
        return EpisodeRecord(
            spec=self._spec,
            cast=Cast("none", "none", "none"),
            observes=self._observes,
            attempts=tuple(AttemptRecord(run, subgoal, "try-out") for run, subgoal in pairs),
            end_reason="recording_end",
            success_tick=None,
            budget=CallBudget(),
        )
