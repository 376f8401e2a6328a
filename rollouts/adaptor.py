"""Adaptor: local repair of a plan, eq. 8: z' = (z_1:i, Repair(goal, state, prefix, knowledge, remedies)).

A repair takes up to two questions, each in a round of its own: a diagnosis, which the configured Inducer
answers with a temporary remedy for the failure at hand, and the repair itself, which sees that remedy. The
temporary remedy lives for the episode and is never stored; it is the same in every arm, cold start included.

    request = adaptor.diagnosis(moment)                       # None: nothing can be learnt from this failure
    remedy = adaptor.remedy(request, answer, build)           # None: the Inducer abstained
    asked = adaptor.request(moment, plan, outcomes, temporary)
    outcome = adaptor.read(asked, answer)                     # Plan, Retry or PlanningFailure
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from prompts.inducer import remedy_request_for
from prompts.language_model import ModelAnswer, ModelRequest
from prompts.planning import PlanStep, RepairSituation, Standing, recent_feedback, repair_request
from prompts.responses import candidate_from
from prompts.situations import RemedySituation
from rollouts.planner import (
    Asked,
    Moment,
    Outcome,
    Plan,
    Recall,
    context_of,
    of_type,
    read_outcome,
    recorded_as,
)
from rollouts.protocols import Subgoal
from warehouse.confidence import confidence
from warehouse.domains import Domain
from warehouse.entries import Entry, Support
from warehouse.knowledge import Candidate
from warehouse.state import State, check_holds


class Adaptor:
    """Asks for repairs."""

    def __init__(self, domain: Domain, recall: Recall, executors: tuple[str, ...] = ("scripted",)) -> None:
        self._domain = domain
        self._recall = recall
        self._executors = executors

    def diagnosis(self, moment: Moment) -> ModelRequest | None:
        """The Inducer's request for the failure that the episode's last attempt ended in; None where that was
        none, or one that says nothing about acting.

        A repair may be wanted before eq. 5 makes the failure due (a plan that is used up, say); the last
        attempt counts as due here.
        """
        if not moment.facts:
            return None
        *earlier, last = sorted(moment.facts, key=lambda fact: fact.attempt)
        return remedy_request_for(replace(last, remedy_due=True), earlier, self._domain)

    def remedy(self, request: ModelRequest, answer: ModelAnswer, build: str) -> Entry | None:
        """The temporary remedy that an answer proposes; None where it proposes none that can be read.

        Nobody has curated it: that is what makes it temporary.
        """
        candidate = candidate_from(request, answer, build)
        if not isinstance(candidate, Candidate) or candidate.type != "remedy":
            return None
        situation = request.situation
        assert isinstance(situation, RemedySituation)
        episode_of = {row.feedback_id: row.episode_id for row in situation.cited}
        return Entry(
            entry_id=candidate.entry_id,
            domain=candidate.domain,
            type=candidate.type,
            trigger=candidate.trigger,
            content=candidate.content,
            verification=candidate.verification,
            support=tuple(
                Support(feedback_id=each, episode_id=episode_of[each]) for each in candidate.support
            ),
            confidence=confidence(support_episodes=1, wins=0, losses=0),
            first_build=build,
            last_build=build,
        )

    def request(
        self,
        moment: Moment,
        plan: Plan,
        outcomes: Mapping[str, bool | None],
        temporary: Sequence[Entry] = (),
    ) -> Asked:
        """The question for a repair of `plan`; `BudgetSpentError` where none is left.

        `outcomes` has the success of each subgoal that was attempted, by id, null for undecided; `temporary`
        are the episode's remedies, oldest first.
        """
        budget = moment.budget.spend("repair")
        steps, kept = standing_plan(plan, outcomes, moment.state, self._domain)
        failing = steps[kept] if kept < len(steps) else None
        latest = list({entry.entry_id: entry for entry in reversed(temporary)}.values())
        own = self._recall.fitting(latest)
        kind, target = (None, None) if failing is None else (failing.kind, failing.target)
        known = self._recall.recall(context_of(moment, kind, target), own).entries
        stored = {entry.entry_id for entry in known}
        own = tuple(entry for entry in own if entry.entry_id not in stored)
        situation = RepairSituation(
            domain=self._domain.name,
            goal=moment.goal,
            state=dict(moment.state),
            skills=of_type(known, "skill"),
            remedies=of_type(known, "remedy"),
            recent=recent_feedback(moment.facts),
            executors=self._executors,
            calls_left=budget.remaining,
            plan=steps,
            kept=kept,
            repair=budget.repairs,
            temporary=own,
        )
        return Asked(
            episode_id=moment.episode_id,
            request=repair_request(situation, self._domain),
            situation=situation,
            budget=budget,
            recorded=recorded_as(known, own),
            kept=plan.subgoals[:kept],
        )

    def read(self, asked: Asked, answer: ModelAnswer) -> Outcome:
        """What came of it; `ValueError` for an answer to another request."""
        return read_outcome(asked, answer, self._domain)


def standing_plan(
    plan: Plan, outcomes: Mapping[str, bool | None], state: State, domain: Domain
) -> tuple[tuple[PlanStep, ...], int]:
    """Every step of `plan` with how it stands, and the length of the prefix to keep.

    The prefix ends before the first step that is neither done nor met already. A step is done when its
    attempt was not unsuccessful: what it brought may since have been used up by later steps. It is met
    without that when all its checks hold in `state` now, absolute; a check that a state cannot decide meets
    nothing.
    """
    steps = tuple(_stands(subgoal, outcomes, state, domain) for subgoal in plan.subgoals)
    kept = next(
        (place for place, step in enumerate(steps) if step.standing not in ("done", "holds")), len(steps)
    )
    return steps, kept


def _stands(subgoal: Subgoal, outcomes: Mapping[str, bool | None], state: State, domain: Domain) -> PlanStep:
    answers = [check_holds(check, state, domain) for check in subgoal.checks]
    holds = False if False in answers else None if None in answers or not answers else True
    attempted = subgoal.subgoal_id in outcomes
    standing: Standing = "open"
    if attempted and outcomes[subgoal.subgoal_id] is not False:
        standing = "done"
    elif holds:
        standing = "holds"
    elif attempted:
        standing = "failed"
    return PlanStep(
        subgoal_id=subgoal.subgoal_id,
        kind=subgoal.kind,
        target=subgoal.target,
        count=subgoal.count,
        checks=subgoal.checks,
        standing=standing,
        holds_now=holds,
    )
