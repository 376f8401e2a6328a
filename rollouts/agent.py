"""Agents, put together from replaceable parts: what is asked of one, and the rows that describe them.

`agents.toml` has a row per agent. A part that a row switches off is left out; nothing else changes, so that
two rows differ in what their names say and in nothing beside it.
"""

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, Protocol, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from prompts.language_model import ModelAnswer, ModelRequest
from prompts.planning import Goal
from prompts.tokens import TokenCounter
from rollouts.adaptor import Adaptor
from rollouts.budget import CallBudget
from rollouts.goal_alone import goal_as_plan
from rollouts.planner import (
    Asked,
    Moment,
    Outcome,
    Plan,
    Planner,
    PlanningFailure,
    Recall,
    Retry,
    Timed,
)
from rollouts.protocols import EpisodeSpec
from rollouts.sightings import Row
from warehouse.domains import Domain
from warehouse.entries import Entry
from warehouse.facts import FeedbackFact
from warehouse.ids import derive_id
from warehouse.places import Place, world_of
from warehouse.retrieval import Index
from warehouse.state import flatten_state
from warehouse.tasks import Task
from warehouse.toml_file import TomlFileError, read_toml

AGENTS: Final = Path(__file__).with_name("agents.toml")
FULL: Final = "full"
"""the row that gives what another leaves out"""

Planning = Literal["model", "none"]
Feedback = Literal["typed", "text", "binary", "none"]
Knowledge = Literal["skills", "remedies", "both", "none"]
Memory = Literal["episode", "none"]


class AgentFileError(ValueError):
    """The agents' file says something that no agent can be; the text names file, row and key."""


class AgentRow(BaseModel):
    """What an agent is made of."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str
    doc: str = Field(min_length=1, description="what the row is for, in a sentence")
    planning: Planning = Field(
        description="whether a model breaks the goal into subgoals, or the goal is the only subgoal"
    )
    feedback: Feedback = Field(
        description="what the agent is told of an attempt: e of eq. 1, y with the evidence in words, y "
        "alone, or nothing"
    )
    knowledge: Knowledge = Field(description="kinds of entry that are retrieved from the snapshot")
    curation: bool = Field(description="whether its snapshot holds what Curator accepted, or every candidate")
    repair: bool = Field(description="whether a plan is repaired (eq. 8) or carried out to its end")
    memory: Memory = Field(
        description="whether a repair knows of the episode's earlier attempts and remedies"
    )
    executor: str = Field(min_length=1, description="name of the low-level policy")

    @model_validator(mode="after")
    def _repairs_from_feedback(self) -> "AgentRow":
        if self.repair and self.feedback == "none":
            raise ValueError("repair: true needs feedback: an agent that is told nothing cannot know when")
        if self.planning == "none" and (self.repair or self.knowledge != "none"):
            raise ValueError('planning: none asks nobody, and so needs repair = false and knowledge = "none"')
        return self

    @property
    def types(self) -> frozenset[str]:
        """The types of entry that it may be shown."""
        both = frozenset({"skill", "remedy"})
        return {"both": both, "skills": frozenset({"skill"}), "remedies": frozenset({"remedy"})}.get(
            self.knowledge, frozenset()
        )

    def config_hash(self, world: str, settings: Mapping[str, Any], **parts: Any) -> str:
        """The configuration that an episode is played in: this row without its words, the world with its
        settings, and whatever else decides (planner, domain, Monitor's parameters)."""
        own = self.model_dump(exclude={"name", "doc"})
        return derive_id("configuration", [own, world, settings, parts])


def load_agents(path: Path = AGENTS) -> dict[str, AgentRow]:
    """The agents of a file by name, in its order. `AgentFileError` says what is wrong, and what would do."""
    try:
        rows = read_toml(path)
    except TomlFileError as error:
        raise AgentFileError(str(error)) from error
    if not isinstance(rows.get(FULL), dict):
        raise AgentFileError(f"{path}: needs a row [{FULL}], from which the others take what they leave out")
    agents = {}
    for name, row in rows.items():
        if not isinstance(row, dict):
            raise AgentFileError(f"{path}: {name} stands outside a row; a row begins with [its name]")
        given = {key: value for key, value in rows[FULL].items() if key != "doc"} | row
        try:
            agents[name] = AgentRow.model_validate({**given, "name": name})
        except ValidationError as error:
            raise AgentFileError(f"{path}: [{name}] {_fault(error, given)}") from error
    return agents


def agent_row(name: str, path: Path = AGENTS) -> AgentRow:
    """The row of that name; `AgentFileError` lists the names there are."""
    rows = load_agents(path)
    if name not in rows:
        raise AgentFileError(f"{path}: no row [{name}]; there are: {', '.join(rows)}")
    return rows[name]


def _fault(error: ValidationError, given: Mapping[str, Any]) -> str:
    fault = error.errors(include_url=False)[0]
    key = str(fault["loc"][0]) if fault["loc"] else ""
    match fault["type"]:
        case "extra_forbidden":
            known = ", ".join(name for name in AgentRow.model_fields if name != "name")
            return f"{key}: no such key; there are: {known}"
        case "missing":
            return f"{key}: is missing"
        case "literal_error":
            allowed = ", ".join(get_args(AgentRow.model_fields[key].annotation))
            return f"{key}: {given[key]!r} is none of {allowed}"
        case "bool_type":
            return f"{key}: {given[key]!r} is none of true, false"
    return f"{key}: {fault['msg']}" if key else fault["msg"].removeprefix("Value error, ")


@dataclass(frozen=True)
class Situation:
    """What an episode shows its agent when it wants a plan; an agent looks at what its parts allow."""

    episode_id: str
    spec: EpisodeSpec
    task: Task
    state: Row
    """the contract's state now"""
    plan: Plan | None
    """the plan that has to be repaired; None where there is none yet"""
    outcomes: Mapping[str, bool | None]
    """subgoal id -> y of its last attempt, for steps that were attempted or found to be had already"""
    facts: tuple[FeedbackFact, ...]
    """typed feedback of all attempts so far"""
    budget: CallBudget


@dataclass(frozen=True)
class Conclusion:
    """What an agent came to: a plan, or why there is none; and the episode's budget after it."""

    plan: Plan | PlanningFailure
    budget: CallBudget


Thought = Generator[ModelRequest, ModelAnswer, Conclusion]
"""Yields requests, is sent their answers, returns what it came to. Nobody waits inside of one."""


class Agent(Protocol):
    """What decides, between the attempts of one episode."""

    @property
    def repairs(self) -> bool:
        """Whether it wants to be asked for repairs."""
        ...

    def plan(self, situation: Situation) -> Thought:
        """A whole plan."""
        ...

    def repair(self, situation: Situation) -> Thought:
        """A plan with a new suffix, eq. 8. Only asked for while the budget holds a repair."""
        ...


@dataclass(frozen=True)
class Parts:
    """What the agents of a batch share: nothing in here changes while they play."""

    row: AgentRow
    domain: Domain
    planner: Planner
    adaptor: Adaptor

    @classmethod
    def of(
        cls,
        row: AgentRow,
        domain: Domain,
        entries: Iterable[Entry],
        counter: TokenCounter,
        timed: Callable[[Timed], None] | None = None,
    ) -> Self:
        """The parts that a row names, over a snapshot's entries, each of which says where it was learnt.
        `timed` is told what each retrieval took."""
        shown = [entry for entry in entries if entry.type in row.types]
        recall = Recall(Index.build(shown, domain), counter, timed=timed)
        executors = (row.executor,)
        return cls(row, domain, Planner(domain, recall, executors), Adaptor(domain, recall, executors))


class ComposedAgent:
    """The agent of one episode, put together from parts. It remembers the episode's temporary remedies."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._temporary: list[Entry] = []

    @property
    def repairs(self) -> bool:
        """See `Agent`."""
        return self._parts.row.repair

    def plan(self, situation: Situation) -> Thought:
        """See `Agent`. Without planning nothing is asked, and no call is spent."""
        row, planner = self._parts.row, self._parts.planner
        if row.planning == "none":
            domain, given = self._parts.domain, situation
            plan = goal_as_plan(given.episode_id, given.spec, given.task, domain, row.executor)
            return Conclusion(plan, situation.budget)
        return (yield from _asked(planner.request(self._moment(situation)), planner.read))

    def repair(self, situation: Situation) -> Thought:
        """See `Agent`. Where the last failure can be diagnosed, that is asked first."""
        assert situation.plan is not None
        adaptor, moment = self._parts.adaptor, self._moment(situation)
        if self._parts.row.memory == "none":
            self._temporary.clear()
        if (request := adaptor.diagnosis(moment)) is not None:
            moment = replace(moment, budget=moment.budget.diagnosed())
            remedy = adaptor.remedy(request, (yield request), situation.spec.build)
            self._temporary += [] if remedy is None else [remedy]
        asked = adaptor.request(moment, situation.plan, situation.outcomes, self._temporary)
        return (yield from _asked(asked, adaptor.read))

    def _moment(self, situation: Situation) -> Moment:
        """The situation as far as the agent's parts let it see."""
        row, spec, task = self._parts.row, situation.spec, situation.task
        told = tuple(fact for fact in map(_TOLD[row.feedback], situation.facts) if fact is not None)
        state = situation.state
        return Moment(
            episode_id=situation.episode_id,
            goal=Goal(text=task.instruction, any_of=task.any_of, count=task.count),
            state=flatten_state(state),
            facts=told if row.memory == "episode" else told[-1:],
            place=Place((state["x"], state["y"], state["z"]), world=world_of(spec.world, spec.world_seed)),
            budget=situation.budget,
        )


def _asked(asked: Asked, read: Callable[[Asked, ModelAnswer], Outcome]) -> Thought:
    """Asks until there is a plan or none to be had."""
    while True:
        outcome = read(asked, (yield asked.request))
        match outcome:
            case Retry(again):
                asked = again
            case PlanningFailure():
                return Conclusion(outcome, outcome.budget)
            case Plan():
                return Conclusion(outcome, asked.budget)


def _success_alone(fact: FeedbackFact) -> FeedbackFact:
    """A feedback row of which only y, and what was tried, is told."""
    return FeedbackFact(
        feedback_id=fact.feedback_id,
        episode_id=fact.episode_id,
        attempt=fact.attempt,
        build=fact.build,
        kind=fact.kind,
        target=fact.target,
        needed=fact.needed,
        y=fact.y,
    )


def _words_alone(fact: FeedbackFact) -> FeedbackFact:
    """As `_success_alone`, with a sentence of what shows how it went, and no field that could be matched."""
    return replace(_success_alone(fact), evidence=fact.evidence)


_TOLD: Final[Mapping[Feedback, Callable[[FeedbackFact], FeedbackFact | None]]] = {
    "typed": lambda fact: fact,
    "text": _words_alone,
    "binary": _success_alone,
    "none": lambda fact: None,
}
