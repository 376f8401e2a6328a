"""Faults that show in the candidate itself: V_schema, V_match, V_spec, repeats_action."""

from random import Random

from tests.good_cases import DOMAIN, Case, step, where
from tests.mutation import (
    Mutator,
    added,
    changed_step,
    mutators,
    risk_of,
    skill_of,
    unseen,
    with_risk,
    with_steps,
)
from warehouse.grammar import steps_of
from warehouse.knowledge import Amount, Predicate, Scalar

# --- V_schema


def other_domain(case: Case, random: Random) -> Case:
    return case.with_candidate(domain="chess")


def unverified(case: Case, random: Random) -> Case | None:
    return None if skill_of(case) is None else case.with_candidate(verification=())


def empty_effect(case: Case, random: Random) -> Case | None:
    skill = skill_of(case)
    if skill is None or not skill.effects:
        return None
    return case.with_content(effects=(skill.effects[0].model_copy(update={"count": 0}), *skill.effects[1:]))


def unknown_effect(case: Case, random: Random) -> Case | None:
    skill = skill_of(case)
    if skill is None:
        return None
    return case.with_content(effects=(*skill.effects, Amount(name="vibranium_pickaxe", count=1)))


# --- V_match


def unknown_field(case: Case, random: Random) -> Case:
    return added(case, where("mood_of_the_village_elder", "eq", random.choice(("sour", "mild"))))


def unknown_member(case: Case, random: Random) -> Case:
    family = random.choice(("inventory", "near", "seen"))
    value: Scalar = 0 if family == "inventory" else False
    return added(case, where(f"{family}.vibranium_pickaxe", "eq", value))


def bad_enum(case: Case, random: Random) -> Case:
    field = random.choice(("failure_type", "kind", "gui", "depth"))
    return added(case, where(field, random.choice(("eq", "ne")), "SAD"))


def bad_failure_type(case: Case, random: Random) -> Case | None:
    return with_risk(case, failure_type=random.choice(("SAD", "NONE", "nav_stuck")))


def unknown_value(case: Case, random: Random) -> Case:
    return added(case, where(random.choice(("target", "equipped", "missing")), "ne", "vibranium_pickaxe"))


def unknown_missing(case: Case, random: Random) -> Case | None:
    risk = risk_of(case)
    return None if risk is None else with_risk(case, missing=(*risk.missing, "courage"))


def wrong_op(case: Case, random: Random) -> Case:
    return added(case, where("kind", random.choice(("lt", "ge")), "craft"))


def wrong_type(case: Case, random: Random) -> Case:
    wrong = [where("health", "ge", "high"), where("alive", "eq", 1), where("inventory.stick", "lt", True)]
    return added(case, random.choice(wrong))


def one_value_for_a_list(case: Case, random: Random) -> Case:
    wrong = [where("kind", "in", "craft"), where("kind", "eq", ("craft", "mine")), where("gui", "in", ())]
    return added(case, random.choice(wrong))


def unsatisfiable(case: Case, random: Random) -> Case:
    item, bound = random.choice(("dirt", "torch")), random.randint(1, 9)
    return added(case, where(f"inventory.{item}", "ge", bound), where(f"inventory.{item}", "lt", bound))


def two_kinds_at_once(case: Case, random: Random) -> Case:
    one, other = random.sample(sorted(DOMAIN.kinds), 2)
    return added(case, where("kind", "eq", one), where("kind", "eq", other))


def out_of_range(case: Case, random: Random) -> Case:
    beyond = [
        where("health", "gt", DOMAIN.spawn_health),
        where("hunger", "lt", 0),
        where("progress", "gt", 1.0),
        where("inventory.dirt", "ge", DOMAIN.slots * DOMAIN.stack + random.randint(1, 9)),
    ]
    return added(case, random.choice(beyond))


def condition_against_the_trigger(case: Case, random: Random) -> Case | None:
    """Applies only where its own trigger does not hold."""
    pinned = [one for one in case.candidate.trigger if one.op == "eq" and one.field != "missing"]
    if not pinned:
        return None
    denied = random.choice(pinned)
    return case.with_content(applicability=(Predicate(field=denied.field, op="ne", value=denied.value),))


# --- V_spec


def _target(case: Case) -> str:
    skill, risk = skill_of(case), risk_of(case)
    return (skill.target if skill is not None else risk.target if risk is not None else None) or "stick"


def always_true_trigger(case: Case, random: Random) -> Case:
    generic = [
        (where("alive", "eq", True),),
        (where("inventory.stick", "ge", 0),),
        (where("alive", "eq", True), where("health", "ge", 0), where("inventory.dirt", "gt", -1)),
        (where("health", "gt", 1), where("hunger", "gt", 1)),
    ]
    return case.with_candidate(trigger=random.choice(generic))


def too_broad_a_trigger(case: Case, random: Random) -> Case:
    """Pins one thing at most; whatever stands beside it holds nearly everywhere."""
    target = where("target", "eq", _target(case))
    broad = [
        (target,),
        (target, where("alive", "eq", True)),
        (target, where("progress", "le", 1.0)),
        (target, where("health", "gt", 0)),
        (target, where("inventory.dirt", "le", DOMAIN.slots * DOMAIN.stack)),
        (target, where("failure_type", "ne", "INFRASTRUCTURE")),
        (where("kind", "in", tuple(DOMAIN.kinds)), where("alive", "ne", False)),
        (where("kind", "ne", "wait"), where("hunger", "le", 20)),
    ]
    return case.with_candidate(trigger=random.choice(broad))


def failure_alone(case: Case, random: Random) -> Case | None:
    """A remedy for everything that fails so, whatever was tried."""
    risk = risk_of(case)
    if risk is None:
        return None
    return case.with_candidate(trigger=(where("failure_type", "eq", risk.failure_type),))


def generic_note(case: Case, random: Random) -> Case | None:
    notes = (
        "Try again.",
        "be more careful",
        "Just keep trying until it works!",
        '","',
        "Retry the action",
        "...",
        "Check the inventory and try again",
        "Plan better",
        "Do it right this time",
    )
    return with_risk(case, note=random.choice(notes))


def no_target(case: Case, random: Random) -> Case | None:
    steps = steps_of(case.candidate.content)
    named = [place for place, each in enumerate(steps) if each.target is not None]
    return changed_step(case, random.choice(named), target=None, checks=()) if named else None


def only_waits(case: Case, random: Random) -> Case | None:
    return None if risk_of(case) is None else with_steps(case, [step("wait", None, random.randint(1, 9))])


# --- not repeats_action


def repeats(case: Case, random: Random) -> Case | None:
    risk = risk_of(case)
    if risk is None or risk.kind is None or risk.target is None:
        return None
    return with_steps(case, [step(risk.kind, risk.target, random.randint(1, 9))] * random.randint(1, 3))


def waits_and_repeats(case: Case, random: Random) -> Case | None:
    """Waits for nothing in particular, and does again what failed."""
    risk = risk_of(case)
    if risk is None or risk.kind is None or risk.target is None:
        return None
    again = step(risk.kind, risk.target, random.randint(1, 9))
    return with_steps(case, [step("wait", None, random.randint(1, 9)), again])


# --- too broad for what it says


def of_more_targets(case: Case, random: Random) -> Case | None:
    """Its trigger takes in another target than it speaks of and was seen at."""
    others = unseen(case, "diamond_ore", "cake", "iron_trapdoor", "bookshelf", "lapis_ore")
    if not others:
        return None
    kept = [one for one in case.candidate.trigger if one.field != "target"]
    named = tuple(sorted((_target(case), random.choice(others))))
    return case.with_candidate(trigger=(*kept, where("target", "in", named)))


def of_more_failures(case: Case, random: Random) -> Case | None:
    """A remedy whose trigger takes in failures that it does not speak of."""
    risk = risk_of(case)
    if risk is None:
        return None
    others = [one for one in DOMAIN.failure_types if one != risk.failure_type]
    named = tuple(sorted((risk.failure_type, *random.sample(others, random.randint(1, 3)))))
    kept = [one for one in case.candidate.trigger if one.field != "failure_type"]
    return case.with_candidate(trigger=(*kept, where("failure_type", "in", named)))


FAULTS_OF_FORM: tuple[Mutator, ...] = (
    *mutators("malformed", "schema", other_domain, unverified, empty_effect),
    *mutators("malformed", "match", wrong_op, wrong_type, one_value_for_a_list),
    *mutators("unknown name", "schema", unknown_effect),
    *mutators("unknown name", "match", unknown_field, unknown_member, bad_enum, bad_failure_type),
    *mutators("unknown name", "match", unknown_value, unknown_missing),
    *mutators("untriggerable", "match", unsatisfiable, two_kinds_at_once, out_of_range),
    *mutators("untriggerable", "match", condition_against_the_trigger),
    *mutators("vague", "specific", generic_note, no_target, only_waits),
    *mutators("too broad", "specific", always_true_trigger, too_broad_a_trigger, failure_alone),
    *mutators("too broad", "evidence", of_more_targets, of_more_failures),
    *mutators("repeats what failed", "repeats_action", repeats, waits_and_repeats),
)
