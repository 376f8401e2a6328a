"""Answers so closely bounded that a model which is guided by their schema has to come to an end: a token is
at least one character, and none of these is longer than `LONGEST` characters.

The model of the vllm tests fills whatever list it may; these make it write something whole, on any machine.
Each is also an answer in the words of its role's own response model, so what was said can be read as one.
"""

from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from prompts.plan_responses import KnowledgeLabel, PlanResponse, SubgoalAnswer
from prompts.responses import CheckAnswer, PredicateAnswer, ProposedRemedy, RemedyProposal, StepAnswer

LONGEST: Final = 800

Word = Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,12}$")]


class BriefPredicate(PredicateAnswer):
    field: Word
    value: Word


class BriefCheck(CheckAnswer):
    type: Word
    name: Word


Check = Annotated[tuple[BriefCheck, ...], Field(min_length=1, max_length=1)]
Condition = Annotated[tuple[BriefPredicate, ...], Field(min_length=1, max_length=1)]


class BriefStep(StepAnswer):
    target: Word
    checks: Check


class BriefRemedy(RemedyProposal):
    trigger: Condition
    risk_pattern: Word
    repair: Annotated[tuple[BriefStep, ...], Field(min_length=1, max_length=1)]
    verification: Check
    applicability: Condition
    support: Annotated[tuple[Literal["f1"], ...], Field(min_length=1, max_length=1)]


class BriefProposal(ProposedRemedy):
    why: Word
    remedy: BriefRemedy


class BriefSubgoal(SubgoalAnswer):
    subgoal_id: Word
    condition: Word
    target: Word
    executor_hint: Word
    checks: Check
    rationale: Word
    knowledge: Annotated[tuple[KnowledgeLabel, ...], Field(max_length=1)]


class BriefPlan(PlanResponse):
    plan_id: Word
    subgoals: Annotated[tuple[BriefSubgoal, ...], Field(min_length=1, max_length=1)]
    global_constraints: Annotated[tuple[Word, ...], Field(max_length=1)]
