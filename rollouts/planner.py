"""Planner: from the moment an episode stands at to a plan, over any `LanguageModel`.

Asking is split from answering, so that an episode loop in rounds can gather the requests of all its episodes,
ask the model once, and hand the answers back:

    asked = planner.request(moment)
    [answer] = model.generate([asked.request])
    outcome = planner.read(asked, answer)      # Plan, Retry (ask once more) or PlanningFailure

Nothing here holds state between calls; the budget after a call is in `Asked` and belongs to the episode.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Final, NamedTuple

from prompts.language_model import NOT_THE_MODELS, ErrorReason, ModelAnswer, ModelRequest
from prompts.plan_responses import (
    LABEL_LENGTH,
    PlanResponse,
    RepairResponse,
    SubgoalAnswer,
    plan_faults,
    repair_faults,
)
from prompts.planning import (
    Goal,
    PlanSituation,
    RepairSituation,
    plan_request,
    recent_feedback,
    repair_request,
)
from prompts.rendering import render_knowledge
from prompts.tokens import EntryCost, TokenCounter
from rollouts.budget import CallBudget
from rollouts.protocols import Subgoal
from warehouse.domains import Domain
from warehouse.entries import Entry, Usage
from warehouse.facts import INFRASTRUCTURE, FeedbackFact
from warehouse.ids import derive_id
from warehouse.places import NOWHERE, Place
from warehouse.retrieval import Context, Index, Retrieved, retrieve
from warehouse.state import State

KNOWLEDGE_TOKENS: Final = 512
"""B of eq. 7: tokens that the knowledge in one prompt may take, temporary remedies included"""
TEMPORARY: Final = "temporary:"
"""before the id of a remedy that lives for one episode; it is never stored, so its use is no usage"""


@dataclass(frozen=True)
class Plan:
    """Subgoals in order; the first `kept` of them are the prefix that a repair kept.

    `plan_id` is derived from the request and its answer. `constraints` are the plan's own rules in words,
    `remedies` the ids of the remedies that a repair says it follows.
    """

    plan_id: str
    subgoals: tuple[Subgoal, ...]
    kept: int = 0
    constraints: tuple[str, ...] = ()
    remedies: tuple[str, ...] = ()


@dataclass(frozen=True)
class Moment:
    """Where an episode stands: its goal, the flat state (warehouse/state.py), the feedback so far."""

    episode_id: str
    goal: Goal
    state: State
    facts: tuple[FeedbackFact, ...] = ()
    place: Place = NOWHERE
    budget: CallBudget = field(default_factory=CallBudget)


@dataclass(frozen=True)
class Asked:
    """A question on its way. `budget` is the episode's after this call; `recorded` is what each label of the
    prompt stands for in `Subgoal.knowledge`."""

    episode_id: str
    request: ModelRequest
    situation: PlanSituation
    budget: CallBudget
    recorded: Mapping[str, tuple[str, ...]]
    kept: tuple[Subgoal, ...] = ()
    is_retry: bool = False


@dataclass(frozen=True)
class Retry:
    """The answer could not be used for the reason in `fault`; `asked` is to be asked in the next round."""

    asked: Asked
    fault: str


@dataclass(frozen=True)
class PlanningFailure:
    """There is no plan: the answer could not be used, and the retry neither, or none was left."""

    reason: ErrorReason
    detail: str
    budget: CallBudget

    @property
    def is_infrastructure(self) -> bool:
        """The engine failed, which says nothing about the method."""
        return self.reason in NOT_THE_MODELS


Outcome = Plan | Retry | PlanningFailure


class Timed(NamedTuple):
    """How long one retrieval took, counting of tokens included, over how many entries, and how many it gave.
    Telemetry: nothing that is stored or hashed may depend on it."""

    seconds: float
    active: int
    retrieved: int


class Recall:
    """What a snapshot knows for a moment, eq. 7: the best set within a budget of real tokens. `timed` is told
    of every retrieval what it took."""

    def __init__(
        self,
        index: Index,
        counter: TokenCounter,
        budget: int = KNOWLEDGE_TOKENS,
        timed: Callable[[Timed], None] | None = None,
    ) -> None:
        self._index = index
        self._timed = timed
        self._counter = counter
        self._cost = EntryCost(counter)
        self._budget = budget

    def fitting(self, entries: Iterable[Entry]) -> tuple[Entry, ...]:
        """The first of `entries` that together stay within the budget."""
        chosen: list[Entry] = []
        for entry in entries:
            if self.tokens_of([*chosen, entry]) > self._budget:
                break
            chosen.append(entry)
        return tuple(chosen)

    def recall(self, context: Context, beside: Sequence[Entry] = ()) -> Retrieved:
        """The most relevant entries within what `beside`, which the prompt shows as well, leaves."""
        started = perf_counter()
        left = self._budget - self.tokens_of(beside)
        found = retrieve(self._index, context, left, self._cost, self.tokens_of)
        if self._timed is not None:
            self._timed(Timed(perf_counter() - started, len(self._index), len(found.entries)))
        return found

    def tokens_of(self, entries: Sequence[Entry]) -> int:
        """Tokens of the final text of `entries`, skills and remedies under their own headings."""
        parts = ([entry for entry in entries if entry.type == kind] for kind in ("skill", "remedy"))
        return sum(self._counter.count(render_knowledge(part)) for part in parts if part)


class Planner:
    """Asks for whole plans."""

    def __init__(self, domain: Domain, recall: Recall, executors: tuple[str, ...] = ("scripted",)) -> None:
        self._domain = domain
        self._recall = recall
        self._executors = executors

    def request(self, moment: Moment) -> Asked:
        """The question for the episode's plan; `BudgetSpentError` where it has had one."""
        budget = moment.budget.spend("plan")
        known = self._recall.recall(context_of(moment)).entries
        situation = PlanSituation(
            domain=self._domain.name,
            goal=moment.goal,
            state=dict(moment.state),
            skills=of_type(known, "skill"),
            remedies=of_type(known, "remedy"),
            recent=recent_feedback(moment.facts),
            executors=self._executors,
            calls_left=budget.remaining,
        )
        request = plan_request(situation, self._domain)
        return Asked(moment.episode_id, request, situation, budget, recorded_as(known))

    def read(self, asked: Asked, answer: ModelAnswer) -> Outcome:
        """What came of it; `ValueError` for an answer to another request."""
        return read_outcome(asked, answer, self._domain)


def context_of(moment: Moment, kind: str | None = None, target: str | None = None) -> Context:
    """What knowledge is wanted for: the goal, the subgoal at hand, the state and the recent failures."""
    return Context(
        goal=moment.goal.text,
        goal_target=moment.goal.any_of[0] if moment.goal.any_of else None,
        kind=kind,
        target=target,
        state=moment.state,
        failures=tuple(row.failure_type for row in recent_feedback(moment.facts) if row.failure_type),
        place=moment.place,
    )


def of_type(entries: Iterable[Entry], kind: str) -> tuple[Entry, ...]:
    """The skills or the remedies among `entries`, in their order."""
    return tuple(entry for entry in entries if entry.type == kind)


def recorded_as(stored: Iterable[Entry], temporary: Iterable[Entry] = ()) -> dict[str, tuple[str, ...]]:
    """Label -> the ids that it stands for; two entries with one label are both meant by it."""
    recorded: dict[str, tuple[str, ...]] = {}
    ids = [entry.entry_id for entry in stored]
    for entry_id, written in [
        *((each, each) for each in ids),
        *((e.entry_id, f"{TEMPORARY}{e.entry_id}") for e in temporary),
    ]:
        label = entry_id[:LABEL_LENGTH]
        recorded[label] = (*recorded.get(label, ()), written)
    return recorded


def read_outcome(asked: Asked, answer: ModelAnswer, domain: Domain) -> Outcome:
    """An answer to a planner's or an adaptor's request as a plan; else a retry if one is due and left."""
    if answer.request_id != asked.request.request_id:
        raise ValueError(f"answer to {answer.request_id} paired with request {asked.request.request_id}")
    value = answer.value
    if answer.error is not None:
        reason, detail = answer.error.reason, answer.error.detail
        if reason in NOT_THE_MODELS:
            return PlanningFailure(reason, detail, asked.budget)
        fault = f"{reason}: {detail}" if detail else reason
    else:
        reason, fault = "schema", "; ".join(_faults(asked, value, domain))
        if not fault:
            return _plan(asked, value)
    if asked.is_retry or not asked.budget.can_repair:
        return PlanningFailure(reason, fault, asked.budget)
    return Retry(_again(asked, fault, domain), fault)


def _faults(asked: Asked, value: object, domain: Domain) -> list[str]:
    situation = asked.situation
    shown, executors = situation.labels, situation.executors
    match situation, value:
        case RepairSituation(), RepairResponse():
            return repair_faults(value, situation.kept_ids, shown, executors, domain)
        case PlanSituation(), PlanResponse():
            return plan_faults(value, shown, executors, domain)
    return [f"a {type(value).__name__} is no answer to a {type(situation).__name__}"]


def _again(asked: Asked, fault: str, domain: Domain) -> Asked:
    budget = asked.budget.spend("retry")
    situation = asked.situation.model_copy(update={"fault": fault, "calls_left": budget.remaining})
    if isinstance(situation, RepairSituation):
        request = repair_request(situation, domain)
    else:
        request = plan_request(situation, domain)
    return replace(asked, request=request, situation=situation, budget=budget, is_retry=True)


def _plan(asked: Asked, value: object) -> Plan:
    plan_id = derive_id("plan", [asked.episode_id, asked.request.request_id, value])
    if isinstance(value, RepairResponse):
        new = tuple(_subgoal(each, asked.recorded) for each in value.repaired_suffix)
        return Plan(
            plan_id=plan_id,
            subgoals=(*asked.kept, *new),
            kept=len(asked.kept),
            remedies=tuple(
                entry_id for label in value.active_remedies_used for entry_id in asked.recorded[label]
            ),
        )
    assert isinstance(value, PlanResponse)
    subgoals = tuple(_subgoal(each, asked.recorded) for each in value.subgoals)
    return Plan(plan_id, subgoals, constraints=value.global_constraints)


def _subgoal(answer: SubgoalAnswer, recorded: Mapping[str, tuple[str, ...]]) -> Subgoal:
    return Subgoal(
        subgoal_id=answer.subgoal_id,
        condition=answer.condition,
        kind=answer.task_kind,
        target=answer.target,
        count=answer.count,
        executor_hint=answer.executor_hint,
        mode=answer.mode,
        timeout_s=answer.timeout_s,
        checks=tuple(check.stored() for check in answer.checks),
        rationale=answer.rationale,
        knowledge=tuple(entry_id for label in answer.cited for entry_id in recorded[label]),
    )


class Attempted(NamedTuple):
    """An attempt as far as knowledge is concerned: its feedback, what its subgoal was planned with, and
    whether its episode was an evaluation."""

    fact: FeedbackFact
    knowledge: tuple[str, ...]
    is_evaluation: bool


def usage_from(attempts: Iterable[Attempted]) -> list[Usage]:
    """The outcomes of the use of stored entries, by (episode, attempt) and then in the order of citation.

    Evaluation gives none: what is measured there must not move what is measured. A temporary remedy is not
    stored and has none. `won` is null where success is undecided or the environment failed.
    """
    rows = sorted(attempts, key=lambda each: (each.fact.episode_id, each.fact.attempt))
    return [
        Usage(
            entry_id=entry_id,
            feedback_id=row.fact.feedback_id,
            episode_id=row.fact.episode_id,
            won=None if row.fact.failure_type == INFRASTRUCTURE else row.fact.y,
        )
        for row in rows
        if not row.is_evaluation
        for entry_id in dict.fromkeys(row.knowledge)
        if not entry_id.startswith(TEMPORARY)
    ]
