"""What is said to a planner and to an adaptor: a structured situation, and the prompt rendered from it.

The domain serves to read names and to describe the action grammar, never to say what the world's rules are:
how something is got reaches a request through knowledge or not at all. Recorded text is quoted as data.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from pydantic import Field

from prompts.language_model import Message, ModelRequest
from prompts.plan_responses import LABEL_LENGTH, PlanResponse, RepairResponse
from prompts.rendering import render, render_knowledge, render_system
from prompts.situations import StateValue
from warehouse.domains import Domain
from warehouse.entries import Entry
from warehouse.facts import FeedbackFact
from warehouse.knowledge import Check, Record

PLANNER_TEMPLATE: Final = "planner_v1"
ADAPTOR_TEMPLATE: Final = "adaptor_v1"
MAX_TOKENS: Final = 3072
"""of an answer: twelve subgoals of some 150 tokens each, and what joins them"""
RECENT: Final = 8
"""attempts of which the typed feedback is shown, as many as the deadlock window"""
_SHOWN_CAUSES: Final = 4
_TEXT_KEPT: Final = 240

Standing = Literal["done", "holds", "failed", "open"]


class Goal(Record):
    """What an episode is for: a task's words, which only their reader interprets, and when it counts as
    reached. `any_of` are items and `#tag`s, `count` of them together; empty where only words are known."""

    text: str = Field(max_length=400)
    any_of: tuple[str, ...] = ()
    count: int = Field(default=1, ge=1)


class Seen(Record):
    """Typed feedback of one attempt, eq. 1, as a planner reads it."""

    attempt: int
    kind: str | None
    target: str | None
    needed: int | None
    y: bool | None
    failure_type: str | None
    missing: tuple[str, ...]
    causes: tuple[str, ...]
    progress: float | None
    stagnant: bool | None
    change: dict[str, int] | None
    evidence: str | None


class PlanStep(Record):
    """A step of the plan as it stands. `holds_now`: whether its checks hold in the state, null if unknown."""

    subgoal_id: str
    kind: str
    target: str | None
    count: int
    checks: tuple[Check, ...]
    standing: Standing
    holds_now: bool | None


class PlanSituation(Record):
    """Everything that a planner is shown."""

    domain: str
    goal: Goal
    state: dict[str, StateValue]
    """flat (warehouse/state.py)"""
    skills: tuple[Entry, ...] = ()
    remedies: tuple[Entry, ...] = ()
    recent: tuple[Seen, ...] = ()
    executors: tuple[str, ...] = ("scripted",)
    calls_left: int = Field(ge=0)
    """after this one, schema retries included"""
    fault: str | None = None
    """what was wrong with the answer before, on a retry"""

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All knowledge that is shown."""
        return (*self.skills, *self.remedies)

    @property
    def labels(self) -> frozenset[str]:
        """The labels under which it is shown."""
        return frozenset(entry.entry_id[:LABEL_LENGTH] for entry in self.entries)


class RepairSituation(PlanSituation):
    """Everything that an adaptor is shown: `plan` as it stands, its first `kept` steps frozen."""

    plan: tuple[PlanStep, ...]
    kept: int = Field(ge=0)
    repair: int = Field(ge=1)
    """the how manieth repair of the episode this is"""
    temporary: tuple[Entry, ...] = ()
    """remedies induced from this episode's own failures, the latest first"""

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All knowledge that is shown."""
        return (*self.temporary, *self.skills, *self.remedies)

    @property
    def kept_ids(self) -> tuple[str, ...]:
        """Ids of the frozen prefix."""
        return tuple(step.subgoal_id for step in self.plan[: self.kept])

    @property
    def failing(self) -> PlanStep | None:
        """The first step after the prefix; null where the plan is used up."""
        return self.plan[self.kept] if self.kept < len(self.plan) else None


def seen_of(fact: FeedbackFact) -> Seen:
    """A feedback row as a planner reads it."""
    change = None
    if fact.delta_inventory is not None:
        change = {name: fact.delta_inventory[name] for name in sorted(fact.delta_inventory)}
    return Seen(
        attempt=fact.attempt,
        kind=fact.kind,
        target=fact.target,
        needed=fact.needed,
        y=fact.y,
        failure_type=fact.failure_type,
        missing=fact.missing,
        causes=tuple(cause.type for cause in fact.causes[:_SHOWN_CAUSES]),
        progress=None if fact.progress is None else round(fact.progress, 2),
        stagnant=fact.stagnant,
        change=change,
        evidence=_kept(fact.evidence.text),
    )


def recent_feedback(facts: Sequence[FeedbackFact], window: int = RECENT) -> tuple[Seen, ...]:
    """The last `window` attempts of an episode, oldest first."""
    rows = sorted(facts, key=lambda fact: fact.attempt)
    return tuple(seen_of(fact) for fact in rows[-window:])


def plan_request(situation: PlanSituation, domain: Domain) -> ModelRequest:
    """The question for a whole plan."""
    blocks = {
        "skills": render_knowledge(situation.skills),
        "remedies": render_knowledge(situation.remedies),
    }
    return ModelRequest(
        role="planner",
        template=PLANNER_TEMPLATE,
        messages=_messages(PLANNER_TEMPLATE, situation, blocks, domain),
        situation=situation,
        response=PlanResponse,
        max_tokens=MAX_TOKENS,
    )


def repair_request(situation: RepairSituation, domain: Domain) -> ModelRequest:
    """The question for a repaired suffix, eq. 8."""
    blocks = {
        "temporary": render_knowledge(situation.temporary),
        "skills": render_knowledge(situation.skills),
        "remedies": render_knowledge(situation.remedies),
    }
    return ModelRequest(
        role="adaptor",
        template=ADAPTOR_TEMPLATE,
        messages=_messages(ADAPTOR_TEMPLATE, situation, blocks, domain),
        situation=situation,
        response=RepairResponse,
        max_tokens=MAX_TOKENS,
    )


def _messages(
    template: str, situation: PlanSituation, blocks: Mapping[str, str], domain: Domain
) -> tuple[Message, ...]:
    return (
        Message("system", render_system(template, domain)),
        Message("user", render(f"{template}.user", situation=situation, blocks=blocks)),
    )


def _kept(text: str | None) -> str | None:
    # A lone surrogate has no UTF-8 form and could be neither hashed nor sent.
    return None if text is None else text.encode("utf-8", "replace").decode("utf-8")[:_TEXT_KEPT]
