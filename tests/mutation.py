"""What mutators of candidates have in common: what a mutator is, how a case is changed in one place, and what
its evidence shows, so that a fault is put in only where it is one.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Literal

from tests.good_cases import DOMAIN, Case
from warehouse.entries import Rule
from warehouse.facts import FeedbackFact, Segment, segments
from warehouse.grammar import action_of, conditions_of, same_action, steps_of
from warehouse.knowledge import Predicate, RemedyContent, Risk, SkillContent, Step
from warehouse.state import State, holds

Sort = Literal[
    "malformed",
    "untriggerable",
    "unknown name",
    "impossible recipe or action",
    "wrong tool tier",
    "wrong order",
    "vague",
    "too broad",
    "repeats what failed",
    "no or wrong evidence",
    "contradicts a proven entry",
]
Apply = Callable[[Case, Random], Case | None]


@dataclass(frozen=True)
class Mutator:
    """One fault: what sort of fault it is, what it does to a case, and the rule of eq. 6 that it breaks.

    `apply` returns None for a case in which it has nothing to change, or in which the change would be no
    fault.
    """

    name: str
    sort: Sort
    rule: Rule
    apply: Apply


def mutators(sort: Sort, rule: Rule, *functions: Apply) -> list[Mutator]:
    """Mutators of one sort, each named as its function is."""
    return [Mutator(function.__name__, sort, rule, function) for function in functions]


# --- a case, changed in one place


def with_steps(case: Case, steps: Iterable[Step]) -> Case:
    """The case with other steps, or another repair."""
    name = "steps" if isinstance(case.candidate.content, SkillContent) else "repair"
    return case.with_content(**{name: tuple(steps)})


def changed_step(case: Case, place: int, **changes: Any) -> Case:
    """The case with one step changed."""
    steps = list(steps_of(case.candidate.content))
    steps[place] = steps[place].model_copy(update=changes)
    return with_steps(case, steps)


def any_step(case: Case, random: Random, **changes: Any) -> Case:
    """The case with one of its steps changed."""
    return changed_step(case, random.randrange(len(steps_of(case.candidate.content))), **changes)


def added(case: Case, *predicates: Predicate) -> Case:
    """The case with more conditions in its trigger."""
    return case.with_candidate(trigger=(*case.candidate.trigger, *predicates))


def with_risk(case: Case, **changes: Any) -> Case | None:
    """The case of a remedy with another risk; None for a skill."""
    risk = risk_of(case)
    return None if risk is None else case.with_content(risk=Risk.model_validate({**dict(risk), **changes}))


def one_fact(case: Case, random: Random, **changes: Any) -> Case:
    """The case with one of the cited facts changed."""
    cited = random.choice(case.candidate.support)
    return replace(case, facts={**case.facts, cited: replace(case.facts[cited], **changes)})


def without(case: Case, *cited: str) -> Case:
    """The case without these citations."""
    return case.with_candidate(support=tuple(one for one in case.candidate.support if one not in cited))


# --- what a case says, and what its evidence shows


def risk_of(case: Case) -> Risk | None:
    """A remedy's risk; None for a skill."""
    content = case.candidate.content
    return content.risk if isinstance(content, RemedyContent) else None


def skill_of(case: Case) -> SkillContent | None:
    """A skill's content; None for a remedy."""
    content = case.candidate.content
    return content if isinstance(content, SkillContent) else None


def cited_segments(case: Case) -> list[Segment]:
    """The segments that a skill cites, each up to its last success at what the skill is for."""
    action = action_of(case.candidate.content)
    found = []
    for segment in segments(cited_facts(case)):
        ends = [place for place, subgoal in enumerate(segment.subgoals, 1) if subgoal == action]
        if ends:
            found.append(Segment(segment.members[: ends[-1]]))
    return found


def cited_facts(case: Case) -> list[FeedbackFact]:
    """The facts that the candidate cites."""
    return [case.facts[one] for one in case.candidate.support]


def situations(case: Case) -> list[State]:
    """The states that the candidate's conditions are held against."""
    if skill_of(case) is None:
        return [fact.situation for fact in cited_facts(case)]
    return [segment.joined.situation for segment in cited_segments(case)]


def untrue(case: Case, predicates: Iterable[Predicate]) -> list[Predicate]:
    """Those that the evidence shows to be false, in one of its states at least."""
    states = situations(case)
    return [one for one in predicates if any(holds(one, state, DOMAIN) is False for state in states)]


def unseen(case: Case, *names: str) -> list[str]:
    """Those that neither the evidence nor the candidate mentions, nor the rules need for anything cited."""
    mentioned = repr(cited_facts(case)) + repr(case.candidate)
    targets = {fact.target for fact in cited_facts(case)} | {step.target for step in _steps(case)}
    needed = set().union(*(DOMAIN.prerequisites(target) for target in targets if target))
    return [name for name in names if name not in mentioned and name not in needed]


def granted(case: Case) -> set[str]:
    """The members of families that the conditions name, such as the items of the inventory."""
    return {one.field.partition(".")[2] for one in conditions_of(case.candidate) if "." in one.field}


def is_retry(step: Step, case: Case) -> bool:
    """Whether a step is the action that a remedy is about, or a skill's goal."""
    return same_action((step.kind, step.target), action_of(case.candidate.content), DOMAIN)


def _steps(case: Case) -> tuple[Step, ...]:
    return steps_of(case.candidate.content)
