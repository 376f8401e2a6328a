"""Eq. 6, the part that looks at one candidate alone:

    V_schema and V_match and V_exec and V_spec and V_evidence and not repeats_action

Each rule is a function that returns every reason it finds; none is hidden behind another. C_conflict, which
looks at the store, is in warehouse/conflicts.py.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

from warehouse.domains.model import Domain, StateField
from warehouse.entries import Reason, Rule
from warehouse.evidence import evidence_faults
from warehouse.execution import execution_faults
from warehouse.facts import FeedbackFact
from warehouse.grammar import action_of, conditions_of, in_order, known_names, same_action, steps_of
from warehouse.knowledge import Candidate, Op, Predicate, RemedyContent, Scalar, SkillContent, exactly
from warehouse.platitudes import is_platitude
from warehouse.regions import always_holds, contradictions

PINS: Final = ("kind", "target", "failure_type")
"""Fields one of which a trigger must fix: they say which action, on what, or which failure it is about."""

_OPS: Final[Mapping[str, tuple[str, ...]]] = {
    "number": ("eq", "ne", "lt", "le", "gt", "ge", "in"),
    "enum": ("eq", "ne", "in"),
    "text": ("eq", "ne", "in"),
    "flag": ("eq", "ne"),
}
_THINGS: Final = ("target", "missing", "equipped")
"""Text fields that hold a name of the domain; what the others hold, no list of the domain says."""


def reasons_against(
    candidate: Candidate, facts: Mapping[str, FeedbackFact], domain: Domain
) -> tuple[Reason, ...]:
    """Every reason to reject a candidate that can be told without the store, in the order of eq. 6."""
    return (
        *schema_reasons(candidate, domain),
        *match_reasons(candidate, domain),
        *exec_reasons(candidate, domain),
        *specific_reasons(candidate, domain),
        *evidence_reasons(candidate, facts, domain),
        *repetition_reasons(candidate, facts, domain),
    )


def schema_reasons(candidate: Candidate, domain: Domain) -> tuple[Reason, ...]:
    """V_schema: what its form requires and the record types cannot say by themselves."""
    content, found = candidate.content, []
    if candidate.domain != domain.name:
        found.append(f"is for domain {candidate.domain!r}, not {domain.name!r}")
    if isinstance(content, SkillContent):
        if not candidate.verification:
            found.append("a skill needs a check that verifies it")
        names = Counter(effect.name for effect in content.effects)
        found += [f"two effects on {name}" for name, times in sorted(names.items()) if times > 1]
        found += [f"an effect of 0 on {effect.name}" for effect in content.effects if effect.count == 0]
        unknown = [effect.name for effect in content.effects if not domain.expand(effect.name)]
        found += [f"an effect on the unknown {name!r}" for name in unknown]
    return _reasons("schema", found)


def match_reasons(candidate: Candidate, domain: Domain) -> tuple[Reason, ...]:
    """V_match: every condition can be matched to the domain's state fields, and all of them at once."""
    conditions = in_order(conditions_of(candidate))
    found = [fault for predicate in conditions for fault in predicate_faults(predicate, domain)]
    if not found:
        found += [
            f"no value of {field} satisfies the conditions" for field in contradictions(conditions, domain)
        ]
    if isinstance(candidate.content, RemedyContent):
        risk = candidate.content.risk
        if risk.failure_type not in domain.failure_types:
            found.append(f"unknown failure type {risk.failure_type!r}")
        found += [f"unknown thing {name!r} missing" for name in risk.missing if not known_names(name, domain)]
    return _reasons("match", found)


def exec_reasons(candidate: Candidate, domain: Domain) -> tuple[Reason, ...]:
    """V_exec: every step is in the executor's grammar, in an order that can be carried out."""
    return _reasons("exec", execution_faults(candidate, domain))


def specific_reasons(candidate: Candidate, domain: Domain) -> tuple[Reason, ...]:
    """V_spec: the trigger pins a situation, the steps name their targets, the words say something."""
    found, steps = [], steps_of(candidate.content)
    found += generic_faults(candidate.trigger, domain)
    for place, step in enumerate(steps, 1):
        sort = domain.kinds.get(step.kind, "none")
        if step.target is None and sort != "none" and (sort != "place" or not step.checks):
            found.append(f"step {place}: {step.kind} does not say what")
    if all(domain.kinds.get(step.kind) == "none" and not step.checks for step in steps):
        found.append("the steps do nothing and wait for nothing in particular")
    if isinstance(candidate.content, RemedyContent) and is_platitude(candidate.content.risk.note, domain):
        found.append(f"says nothing of its own: {candidate.content.risk.note!r}")
    return _reasons("specific", found)


def evidence_reasons(
    candidate: Candidate, facts: Mapping[str, FeedbackFact], domain: Domain
) -> tuple[Reason, ...]:
    """V_evidence, and that there is any evidence at all."""
    if not candidate.support:
        return _reasons("unsupported", ["cites no feedback"])
    return _reasons("evidence", evidence_faults(candidate, facts, domain))


def repetition_reasons(
    candidate: Candidate, facts: Mapping[str, FeedbackFact], domain: Domain
) -> tuple[Reason, ...]:
    """Whether a remedy's repair is only the failing action again."""
    if not isinstance(candidate.content, RemedyContent):
        return ()
    kind, target = action_of(candidate.content)
    cited = [facts[one] for one in candidate.support if one in facts]
    failing = sorted({(kind or fact.kind or "", target or fact.target or "") for fact in cited})
    if kind is not None and target is not None:
        failing = [(kind, target)]
    # A wait for nothing in particular changes nothing.
    repair = [
        (step.kind, step.target or "")
        for step in candidate.content.repair
        if step.checks or domain.kinds.get(step.kind) != "none"
    ]
    found = [
        f"the repair only does again what failed, {' '.join(action).strip()}"
        for action in failing
        if repair and all(same_action(step, action, domain) for step in repair)
    ]
    return _reasons("repeats_action", found)


def generic_faults(trigger: Iterable[Predicate], domain: Domain) -> list[str]:
    """Why a trigger does not pin a situation, which takes an action, target or failure and one thing more."""
    telling = [predicate for predicate in trigger if is_telling(predicate, domain)]
    found = []
    if not any(predicate.field in PINS and predicate.op in ("eq", "in") for predicate in telling):
        found.append(f"the trigger fixes none of {', '.join(PINS)}")
    if len({predicate.field for predicate in telling}) < 2:
        found.append("the trigger says too little to pin a situation")
    return found


def may_stand(trigger: Iterable[Predicate], domain: Domain) -> bool:
    """Whether a trigger passes V_match and V_spec by itself."""
    given = list(trigger)
    faults = [fault for predicate in given for fault in predicate_faults(predicate, domain)]
    return not (faults or contradictions(given, domain) or generic_faults(given, domain))


def predicate_faults(predicate: Predicate, domain: Domain) -> list[str]:
    """Why a predicate cannot be matched to a state field, if it cannot."""
    return list(_predicate_faults(*exactly(predicate), domain))


def is_telling(predicate: Predicate, domain: Domain) -> bool:
    """Whether a predicate tells situations apart: it does not hold always, nor of every living agent, nor of
    all actions but one."""
    return _is_telling(*exactly(predicate), domain)


# Candidates say the same of many things: what was worked out of a predicate is remembered.


@lru_cache(maxsize=1 << 16)
def _predicate_faults(
    field: str, op: Op, value: Scalar | tuple[Scalar, ...], kinds: object, domain: Domain
) -> tuple[str, ...]:
    return tuple(_faults_of(Predicate(field=field, op=op, value=value), domain))


@lru_cache(maxsize=1 << 16)
def _is_telling(
    field: str, op: Op, value: Scalar | tuple[Scalar, ...], kinds: object, domain: Domain
) -> bool:
    predicate = Predicate(field=field, op=op, value=value)
    if predicate_faults(predicate, domain):
        return True  # V_match's matter; to call it generic too would blame the wrong rule
    if field in PINS and op == "ne":
        return False  # one action or failure less leaves all the others
    return not (_holds_while_alive(predicate) or always_holds(predicate, domain))


def _faults_of(predicate: Predicate, domain: Domain) -> list[str]:
    declared = domain.field(predicate.field)
    if declared is None:
        return [f"no state field {predicate.field!r}"]
    if predicate.op not in _OPS[declared.kind]:
        return [f"{predicate.op} does not fit {predicate.field}, a {declared.kind}"]
    several = isinstance(predicate.value, tuple)
    if several != (predicate.op == "in"):
        return [f"{predicate.field} {predicate.op} takes {'a list' if not several else 'one value'}"]
    values = predicate.value if isinstance(predicate.value, tuple) else (predicate.value,)
    if not values:
        return [f"{predicate.field} in nothing"]
    return [fault for value in values for fault in _value_faults(predicate.field, declared, value, domain)]


def _value_faults(field: str, declared: StateField, value: Scalar, domain: Domain) -> list[str]:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    match declared.kind:
        case "number" if not is_number:
            return [f"{field} is a number, not {value!r}"]
        case "flag" if not isinstance(value, bool):
            return [f"{field} is true or false, not {value!r}"]
        case "enum" if value not in declared.values:
            return [f"{field} cannot be {value!r}"]
        case "text" if not isinstance(value, str) or not value:
            return [f"{field} is a name, not {value!r}"]
        case "text" if field in _THINGS and not known_names(str(value), domain):
            return [f"{field} names the unknown {value!r}"]
    return []


def _holds_while_alive(predicate: Predicate) -> bool:
    """Whether a predicate says no more than that the agent lives."""
    if predicate.field == "alive":
        return (predicate.op == "eq") == (predicate.value is True)
    value = predicate.value
    if predicate.field == "health" and predicate.op in ("gt", "ge") and isinstance(value, int | float):
        # The last half heart is 1 of 20 points; a recorded fraction of it is life too.
        return not value > 0 or (predicate.op == "ge" and value <= 1)
    return predicate.field == "health" and predicate.op == "ne" and predicate.value == 0


def _reasons(rule: Rule, details: list[str]) -> tuple[Reason, ...]:
    return tuple(Reason(rule=rule, detail=detail) for detail in dict.fromkeys(details))
