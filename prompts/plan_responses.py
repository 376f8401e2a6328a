"""What a model may answer as planner and as adaptor: the paper's plan and repair schemas, bounded and closed.

Knowledge is cited by the labels of the prompt, the first `LABEL_LENGTH` digits of an entry's id: per subgoal
in `knowledge`, and in a repair as its `repair_source` too. A label that the prompt did not show is a fault.

What a plan says is held against the action grammar and nothing else. Whether an action can work (whether
something can be crafted, say) is for the world to show: a validator that knew it would tell the planner what
only feedback may tell.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from prompts.responses import Answer, CheckAnswer, NameText, Sentence
from warehouse.domains import Domain
from warehouse.grammar import check_faults, known_names

MAX_SUBGOALS: Final = 12
LABEL_LENGTH: Final = 8
SHORTEST_TIMEOUT, LONGEST_TIMEOUT = 1.0, 600.0

SubgoalId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_]{1,40}$")]
KnowledgeLabel = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8}$")]
Labels = Annotated[tuple[KnowledgeLabel, ...], Field(max_length=16)]


class SubgoalAnswer(Answer):
    """One step: an action in the executor's grammar, and the checks by which it counts as done."""

    subgoal_id: SubgoalId
    condition: Sentence
    task_kind: Literal["mine", "craft", "smelt", "use", "combat", "move", "wait"]
    target: NameText | None
    count: Annotated[int, Field(ge=1, le=2304)]
    executor_hint: NameText
    mode: Literal["move", "stay"]
    timeout_s: Annotated[float, Field(ge=SHORTEST_TIMEOUT, le=LONGEST_TIMEOUT)]
    checks: Annotated[tuple[CheckAnswer, ...], Field(min_length=1, max_length=4)]
    rationale: Sentence
    knowledge: Labels

    @property
    def cited(self) -> tuple[str, ...]:
        """The labels of what this step was planned with."""
        return self.knowledge


class RepairSubgoalAnswer(SubgoalAnswer):
    """A step of a repaired suffix, and the entry that it repairs by; null for none."""

    repair_source: KnowledgeLabel | None

    @property
    def cited(self) -> tuple[str, ...]:
        """The labels of what this step was planned with, its source first."""
        source = () if self.repair_source is None else (self.repair_source,)
        return tuple(dict.fromkeys((*source, *self.knowledge)))


class PlanResponse(Answer):
    """A whole plan."""

    plan_id: SubgoalId
    subgoals: Annotated[tuple[SubgoalAnswer, ...], Field(min_length=1, max_length=MAX_SUBGOALS)]
    global_constraints: Annotated[tuple[Sentence, ...], Field(max_length=8)]


class RepairResponse(Answer):
    """A repaired plan: the frozen prefix by its ids, and a new suffix."""

    plan_id: SubgoalId
    kept_prefix: Annotated[tuple[SubgoalId, ...], Field(max_length=200)]
    repaired_suffix: Annotated[tuple[RepairSubgoalAnswer, ...], Field(min_length=1, max_length=MAX_SUBGOALS)]
    active_remedies_used: Labels


def plan_faults(
    plan: PlanResponse, shown: Collection[str], executors: Sequence[str], domain: Domain
) -> list[str]:
    """Everything in a plan that the grammar or its own request forbids, in order; empty for a good one.

    `shown` are the labels of the knowledge in the request, `executors` the executors that it named.
    """
    return _Inspection(shown, executors, domain).faults(plan.subgoals, ())


def repair_faults(
    repair: RepairResponse,
    kept: tuple[str, ...],
    shown: Collection[str],
    executors: Sequence[str],
    domain: Domain,
) -> list[str]:
    """As `plan_faults`; the prefix must be the frozen one, `kept`, and what was used must have been shown."""
    inspection = _Inspection(shown, executors, domain)
    faults = []
    if repair.kept_prefix != kept:
        faults.append(f"kept_prefix must be {list(kept)}, as it was given")
    faults += inspection.uncited(repair.active_remedies_used, "active_remedies_used")
    return faults + inspection.faults(repair.repaired_suffix, kept)


class _Inspection:
    """What an answer's subgoals are held against."""

    def __init__(self, shown: Collection[str], executors: Sequence[str], domain: Domain) -> None:
        self._shown = frozenset(shown)
        self._executors = executors
        self._domain = domain

    def faults(self, subgoals: Sequence[SubgoalAnswer], taken: Iterable[str]) -> list[str]:
        """What is wrong with `subgoals`, whose ids must differ from each other and from those `taken`."""
        found: list[str] = []
        ids = set(taken)
        for subgoal in subgoals:
            name = subgoal.subgoal_id
            faults = ["the id is used twice"] if name in ids else []
            faults += _action_faults(subgoal.task_kind, subgoal.target, self._domain)
            for check in subgoal.checks:
                faults += check_faults(check.stored(), self._domain)
            if subgoal.executor_hint not in self._executors:
                faults.append(f"executor_hint must be one of {list(self._executors)}")
            faults += self.uncited(subgoal.cited, "knowledge")
            found += [f"{name}: {fault}" for fault in faults]
            ids.add(name)
        return found

    def uncited(self, labels: Iterable[str], where: str) -> list[str]:
        """Labels that the request did not show."""
        unknown = sorted(set(labels) - self._shown)
        return [f"{where} cites {', '.join(unknown)}, which was not shown"] if unknown else []


def _action_faults(kind: str, target: str | None, domain: Domain) -> list[str]:
    """Why this is no action of the grammar: by kinds and names, never by what the world's rules allow."""
    sort = domain.kinds.get(kind)
    if sort is None:
        return [f"unknown kind {kind!r}"]
    if target is None:
        return [] if sort in ("none", "place") else [f"{kind} needs a target"]
    if sort == "none":
        return [f"{kind} takes no target"]
    names = known_names(target, domain)
    if not names:
        return [f"unknown target {target!r}"]
    if sort == "entity" and not names & domain.entities:
        return [f"{target!r} is no entity"]
    if sort in ("item", "block") and not names & (domain.items | domain.blocks):
        return [f"{target!r} is neither an item nor a block"]
    return []
