"""Single faults for good candidates: a mutator changes one thing and names the rule of eq. 6 that it breaks.

A mutator returns None for a case in which it has nothing to change.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tests.good_cases import DOMAIN, Case, check, state, step, success, where
from warehouse.entries import Rule
from warehouse.facts import Segment, segments
from warehouse.grammar import yields_of
from warehouse.ids import derive_id
from warehouse.knowledge import Amount, Predicate, RemedyContent, Risk, Scalar, SkillContent, Step


@dataclass(frozen=True)
class Mutator:
    """One fault: what it does to a case, and the rule that it breaks."""

    name: str
    rule: Rule
    apply: Callable[[Case, Random], Case | None]


# --- what mutators have in common


def _steps(case: Case) -> list[Step]:
    content = case.candidate.content
    return list(content.steps if isinstance(content, SkillContent) else content.repair)


def _with_steps(case: Case, steps: list[Step]) -> Case:
    name = "steps" if isinstance(case.candidate.content, SkillContent) else "repair"
    return case.with_content(**{name: tuple(steps)})


def _changed_step(case: Case, random: Random, **changes: Any) -> Case:
    steps = _steps(case)
    place = random.randrange(len(steps))
    steps[place] = steps[place].model_copy(update=changes)
    return _with_steps(case, steps)


def _added(case: Case, *predicates: Predicate) -> Case:
    return case.with_candidate(trigger=(*case.candidate.trigger, *predicates))


def _risk(case: Case) -> Risk | None:
    content = case.candidate.content
    return content.risk if isinstance(content, RemedyContent) else None


def _skill(case: Case) -> SkillContent | None:
    content = case.candidate.content
    return content if isinstance(content, SkillContent) else None


def _with_risk(case: Case, **changes: Any) -> Case | None:
    risk = _risk(case)
    return None if risk is None else case.with_content(risk=Risk.model_validate({**dict(risk), **changes}))


def _one_fact(case: Case, random: Random, **changes: Any) -> Case:
    cited = random.choice(case.candidate.support)
    return replace(case, facts={**case.facts, cited: replace(case.facts[cited], **changes)})


def _segment(case: Case, random: Random, least: int) -> Segment | None:
    """One of the segments that a skill cites, if they have so many members."""
    if _skill(case) is None:
        return None
    long = [each for each in segments(case.facts.values()) if len(each.members) >= least]
    return random.choice(long) if long else None


def _without(case: Case, *cited: str) -> Case:
    return case.with_candidate(support=tuple(one for one in case.candidate.support if one not in cited))


# --- V_match


def _unknown_field(case: Case, random: Random) -> Case:
    return _added(case, where("mood_of_the_village_elder", "eq", random.choice(("sour", "mild"))))


def _unknown_member(case: Case, random: Random) -> Case:
    family = random.choice(("inventory", "near", "seen"))
    value: Scalar = 0 if family == "inventory" else False
    return _added(case, where(f"{family}.vibranium_pickaxe", "eq", value))


def _bad_enum(case: Case, random: Random) -> Case:
    field = random.choice(("failure_type", "kind", "gui", "depth"))
    return _added(case, where(field, random.choice(("eq", "ne")), "SAD"))


def _bad_failure_type(case: Case, random: Random) -> Case | None:
    return _with_risk(case, failure_type=random.choice(("SAD", "NONE", "nav_stuck")))


def _unknown_value(case: Case, random: Random) -> Case:
    return _added(case, where(random.choice(("target", "equipped", "missing")), "ne", "vibranium_pickaxe"))


def _wrong_op(case: Case, random: Random) -> Case:
    return _added(case, where("kind", random.choice(("lt", "ge")), "craft"))


def _wrong_type(case: Case, random: Random) -> Case:
    wrong = [where("health", "ge", "high"), where("alive", "eq", 1), where("inventory.stick", "lt", True)]
    return _added(case, random.choice(wrong))


def _unsatisfiable(case: Case, random: Random) -> Case:
    item, bound = random.choice(("dirt", "torch")), random.randint(1, 9)
    return _added(case, where(f"inventory.{item}", "ge", bound), where(f"inventory.{item}", "lt", bound))


# --- V_exec


def _unknown_target(case: Case, random: Random) -> Case:
    return _changed_step(case, random, target="vibranium_pickaxe")


def _unknown_kind(case: Case, random: Random) -> Case:
    return _changed_step(case, random, kind=random.choice(("teleport", "place", "obtain")))


def _no_such_action(case: Case, random: Random) -> Case:
    wrong = [("craft", "oak_log"), ("smelt", "oak_planks"), ("mine", "iron_pickaxe"), ("combat", "stone")]
    kind, target = random.choice([*wrong, ("wait", "stone")])
    return _changed_step(case, random, kind=kind, target=target)


def _retry_first(case: Case, random: Random) -> Case | None:
    steps = _steps(case)
    if len(steps) < 2 or any(each.kind == "move" for each in steps):
        return None
    return _with_steps(case, [steps[-1], *steps[:-1]])


def _table_not_placed(case: Case, random: Random) -> Case | None:
    steps = [each for each in _steps(case) if each.kind != "use"]
    return None if len(steps) == len(_steps(case)) else _with_steps(case, steps)


def _goal_left_out(case: Case, random: Random) -> Case | None:
    steps = _steps(case)
    return None if _skill(case) is None or len(steps) < 2 else _with_steps(case, steps[:-1])


def _swapped(case: Case, random: Random) -> Case | None:
    """What a step needs comes after it."""
    steps = _steps(case)
    bound = []
    for place in range(len(steps) - 1):
        brings, needs = yields_of(steps[place], DOMAIN), steps[place + 1].target or ""
        placed = steps[place].kind == "use" and place == len(steps) - 2
        if _skill(case) is not None and (placed or brings & {needs, *DOMAIN.prerequisites(needs)}):
            bound.append(place)
    if not bound:
        return None
    place = random.choice(bound)
    steps[place : place + 2] = [steps[place + 1], steps[place]]
    return _with_steps(case, steps)


def _wrong_check(case: Case, random: Random) -> Case:
    wrong = [
        check("inv_ge", None, 1.0),
        check("inv_ge", "stick"),
        check("inv_ge", "vibranium_pickaxe", 1.0),
        check("inv_lt", "stick", 0.5),
        check("inv_ge", "stick", -1.0),
        check("station_near", "stick"),
        check("alive", "stick"),
        check("ypos_le", None, None),
        check("mood_ge", None, 1.0),
    ]
    chosen = random.choice(wrong)
    if random.random() < 0.5:
        return _changed_step(case, random, checks=(chosen,))
    return case.with_candidate(verification=(*case.candidate.verification, chosen))


# --- V_spec


def _generic_trigger(case: Case, random: Random) -> Case:
    first = case.candidate.content
    target = first.target if isinstance(first, SkillContent) else first.risk.target
    generic = [
        (where("alive", "eq", True),),
        (where("inventory.stick", "ge", 0),),
        (where("alive", "eq", True), where("health", "ge", 0), where("inventory.dirt", "gt", -1)),
        (where("target", "eq", target or ""),),
        (where("target", "eq", target or ""), where("alive", "eq", True)),
        (where("target", "eq", target or ""), where("progress", "le", 1.0)),
        (where("health", "gt", 1), where("hunger", "gt", 1)),
        (where("kind", "in", tuple(DOMAIN.kinds)), where("alive", "ne", False)),
    ]
    return case.with_candidate(trigger=random.choice(generic))


def _generic_note(case: Case, random: Random) -> Case | None:
    notes = (
        "Try again.",
        "be more careful",
        "Just keep trying until it works!",
        '","',
        "Retry the action",
        "...",
    )
    return _with_risk(case, note=random.choice(notes))


def _no_target(case: Case, random: Random) -> Case:
    return _changed_step(case, random, target=None, checks=())


def _only_waits(case: Case, random: Random) -> Case | None:
    return None if _risk(case) is None else _with_steps(case, [step("wait", None, random.randint(1, 9))])


# --- V_evidence


def _missing_feedback(case: Case, random: Random) -> Case:
    stranger = derive_id("feedback", random.random())
    return case.with_candidate(support=(*case.candidate.support, stranger))


def _infrastructure(case: Case, random: Random) -> Case:
    return _one_fact(case, random, failure_type="INFRASTRUCTURE", y=random.choice((None, False)))


def _wrong_outcome(case: Case, random: Random) -> Case:
    if _skill(case) is None:
        return _one_fact(case, random, y=True, stagnant=None, failure_type="NONE")
    return _one_fact(case, random, y=random.choice((None, False)), failure_type="UNKNOWN")


def _wrong_failure_type(case: Case, random: Random) -> Case | None:
    risk = _risk(case)
    if risk is None:
        return None
    other = random.choice([each for each in DOMAIN.failure_types if each != risk.failure_type])
    changed = _with_risk(case, failure_type=other)
    trigger = [each for each in case.candidate.trigger if each.field != "failure_type"]
    return changed and changed.with_candidate(trigger=(*trigger, where("failure_type", "eq", other)))


def _unseen_missing(case: Case, random: Random) -> Case | None:
    risk = _risk(case)
    more = random.choice(("diamond", "bucket", "anvil"))
    return None if risk is None else _with_risk(case, missing=(*risk.missing, more))


def _other_subject(case: Case, random: Random) -> Case | None:
    risk = _risk(case)
    other = random.choice(("torch", "bowl", "chest"))
    if risk is not None:
        return _with_risk(case, kind="craft", target=other)
    return case.with_content(kind="craft", target=other)


def _effect(case: Case, amount: Callable[[Amount], Amount]) -> Case | None:
    skill = _skill(case)
    return (
        None if skill is None else case.with_content(effects=(amount(skill.effects[0]), *skill.effects[1:]))
    )


def _too_much(case: Case, random: Random) -> Case | None:
    more = random.randint(2, 64)
    return _effect(case, lambda each: each.model_copy(update={"count": each.count * more}))


def _wrong_sign(case: Case, random: Random) -> Case | None:
    return _effect(case, lambda each: each.model_copy(update={"count": -each.count}))


def _unseen_effect(case: Case, random: Random) -> Case | None:
    name = random.choice(("diamond", "bucket", "leather"))
    return _effect(case, lambda each: each.model_copy(update={"name": name}))


def _count_too_large(case: Case, random: Random) -> Case | None:
    skill = _skill(case)
    return None if skill is None else case.with_content(count=skill.count + random.randint(9, 64))


def _not_verified(case: Case, random: Random) -> Case | None:
    failing = [check("inv_ge", "diamond", 1.0), check("inv_lt", "stick", 0.0), check("ypos_ge", None, 200.0)]
    if _skill(case) is None:
        return None
    return case.with_candidate(verification=(random.choice(failing),))


def _contradicted(case: Case, random: Random) -> Case:
    untrue = [where("inventory.diamond", "ge", 1), where("ypos", "gt", 200), where("health", "lt", 5)]
    return _added(
        case, random.choice([*untrue, where("near.loom", "eq", True), where("seen.sand", "eq", True)])
    )


def _contradicted_condition(case: Case, random: Random) -> Case:
    return case.with_content(applicability=(where("inventory.diamond", "ge", random.randint(1, 9)),))


def _stray_step(case: Case, random: Random) -> Case:
    stray = random.choice(
        (
            step("combat", "ghast"),
            step("craft", "white_banner"),
            step("mine", "pumpkin"),
            step("use", "lectern"),
        )
    )
    steps = _steps(case)
    steps.insert(random.randrange(len(steps)), stray)
    return _with_steps(case, steps)


def _outside_success(case: Case, random: Random) -> Case | None:
    """Cites a success that no cited end takes in: after it, before a gap, or of another episode."""
    segment = _segment(case, random, 1)
    if segment is None:
        return None
    known = random.choice(
        [
            {"episode_id": segment.end.episode_id, "attempt": segment.end.attempt + 1},
            {"episode_id": segment.end.episode_id, "attempt": segment.members[0].attempt - 2},
            {"episode_id": derive_id("episode", "elsewhere"), "attempt": 0},
        ]
    )
    other = replace(success(90, "craft", "bowl", state({"torch": 1}), {"bowl": 4}), **known)
    more = replace(case, facts={**case.facts, other.feedback_id: other})
    return more.with_candidate(support=(*case.candidate.support, other.feedback_id))


def _middle_left_out(case: Case, random: Random) -> Case | None:
    segment = _segment(case, random, 3)
    return segment and _without(case, random.choice(segment.members[1:-1]).feedback_id)


def _uncited_effect(case: Case, random: Random) -> Case | None:
    """Claims what only the first attempt brought, and does not cite it."""
    segment, skill = _segment(case, random, 2), _skill(case)
    if segment is None or skill is None:
        return None
    first = segment.members[0]
    item, count = max((first.delta_inventory or {}).items(), key=lambda change: change[1])
    others = [each for each in skill.effects if each.name != item]
    claiming = case.with_content(effects=(*others, Amount(name=item, count=count)))
    return _without(claiming, first.feedback_id)


def _member_without_step(case: Case, random: Random) -> Case | None:
    """Cites an attempt of a segment that no step repeats."""
    steps = _steps(case)
    return _with_steps(case, steps[1:]) if _segment(case, random, 2) else None


# --- the rest


def _repeats(case: Case, random: Random) -> Case | None:
    risk = _risk(case)
    if risk is None or risk.kind is None:
        return None
    return _with_steps(case, [step(risk.kind, risk.target, random.randint(1, 9))] * random.randint(1, 3))


def _no_support(case: Case, random: Random) -> Case:
    return case.with_candidate(support=())


def _other_domain(case: Case, random: Random) -> Case:
    return case.with_candidate(domain="chess")


def _unverified(case: Case, random: Random) -> Case | None:
    return None if _skill(case) is None else case.with_candidate(verification=())


def _empty_effect(case: Case, random: Random) -> Case | None:
    return _effect(case, lambda each: each.model_copy(update={"count": 0}))


def _mutators(rule: Rule, *functions: Callable[[Case, Random], Case | None]) -> list[Mutator]:
    return [Mutator(function.__name__.strip("_"), rule, function) for function in functions]


MUTATORS: tuple[Mutator, ...] = (
    *_mutators("schema", _other_domain, _unverified, _empty_effect),
    *_mutators("match", _unknown_field, _unknown_member, _bad_enum, _bad_failure_type, _unknown_value),
    *_mutators("match", _wrong_op, _wrong_type, _unsatisfiable),
    *_mutators("exec", _unknown_target, _unknown_kind, _no_such_action, _retry_first, _table_not_placed),
    *_mutators("exec", _goal_left_out, _wrong_check, _swapped),
    *_mutators("specific", _generic_trigger, _generic_note, _no_target, _only_waits),
    *_mutators("evidence", _missing_feedback, _infrastructure, _wrong_outcome, _wrong_failure_type),
    *_mutators("evidence", _unseen_missing, _other_subject, _too_much, _wrong_sign, _unseen_effect),
    *_mutators(
        "evidence", _count_too_large, _not_verified, _contradicted, _contradicted_condition, _stray_step
    ),
    *_mutators("evidence", _outside_success, _middle_left_out, _uncited_effect, _member_without_step),
    *_mutators("repeats_action", _repeats),
    *_mutators("unsupported", _no_support),
)
