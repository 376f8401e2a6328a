"""Faults that show against what a candidate cites, or against what the store has proven: V_evidence, support,
C_conflict."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

from tests.good_cases import DOMAIN, Case, check, state, step, stored, success, where
from tests.mutation import (
    Mutator,
    added,
    cited_facts,
    cited_segments,
    mutators,
    one_fact,
    risk_of,
    skill_of,
    unseen,
    untrue,
    with_risk,
    with_steps,
    without,
)
from warehouse.entries import Entry, Support
from warehouse.facts import Segment
from warehouse.grammar import check_faults, steps_of
from warehouse.ids import derive_id
from warehouse.knowledge import Amount, Check, Predicate, SkillContent, Step
from warehouse.state import check_holds

# --- citations


def no_support(case: Case, random: Random) -> Case:
    return case.with_candidate(support=())


def missing_feedback(case: Case, random: Random) -> Case:
    stranger = derive_id("feedback", random.random())
    return case.with_candidate(support=(*case.candidate.support, stranger))


def only_unknown_feedback(case: Case, random: Random) -> Case:
    return case.with_candidate(support=(derive_id("feedback", random.random()),))


def infrastructure(case: Case, random: Random) -> Case:
    return one_fact(case, random, failure_type="INFRASTRUCTURE", y=random.choice((None, False)))


def wrong_outcome(case: Case, random: Random) -> Case:
    if skill_of(case) is None:
        return one_fact(case, random, y=True, stagnant=None, failure_type="NONE")
    return one_fact(case, random, y=random.choice((None, False)), failure_type="UNKNOWN")


def wrong_failure_type(case: Case, random: Random) -> Case | None:
    risk = risk_of(case)
    if risk is None:
        return None
    other = random.choice([each for each in DOMAIN.failure_types if each != risk.failure_type])
    changed = with_risk(case, failure_type=other)
    trigger = [each for each in case.candidate.trigger if each.field != "failure_type"]
    return changed and changed.with_candidate(trigger=(*trigger, where("failure_type", "eq", other)))


def unseen_missing(case: Case, random: Random) -> Case | None:
    risk, more = risk_of(case), unseen(case, "diamond", "bucket", "anvil", "loom")
    if risk is None or not more:
        return None
    return with_risk(case, missing=(*risk.missing, random.choice(more)))


def other_subject(case: Case, random: Random) -> Case | None:
    others = unseen(case, "torch", "bowl", "chest", "ladder", "barrel")
    if not others:
        return None
    other = random.choice(others)
    if skill_of(case) is None:
        return with_risk(case, kind="craft", target=other)
    return case.with_content(kind="craft", target=other)


# --- what a skill claims


def too_much(case: Case, random: Random) -> Case | None:
    return _effect(case, lambda each, most: (most + random.randint(1, 64)) * (1 if each.count > 0 else -1))


def wrong_sign(case: Case, random: Random) -> Case | None:
    return _effect(case, lambda each, most: -each.count)


def _effect(case: Case, count: Callable[[Amount, int], int]) -> Case | None:
    """The first effect with another count, which may depend on the largest change that is cited."""
    skill = skill_of(case)
    if skill is None or not skill.effects:
        return None
    first = skill.effects[0]
    changes = [abs((each.joined.delta_inventory or {}).get(first.name, 0)) for each in cited_segments(case)]
    if first.name.startswith("#"):
        return None
    changed = first.model_copy(update={"count": count(first, max(changes, default=0))})
    return case.with_content(effects=(changed, *skill.effects[1:]))


def unseen_effect(case: Case, random: Random) -> Case | None:
    skill, names = skill_of(case), unseen(case, "diamond", "bucket", "leather", "emerald")
    if skill is None or not names:
        return None
    return case.with_content(effects=(*skill.effects, Amount(name=random.choice(names), count=1)))


def count_too_large(case: Case, random: Random) -> Case | None:
    """Claims more of its target than was asked for, gained, held and done, all taken together."""
    skill = skill_of(case)
    if skill is None:
        return None
    most = skill.count
    for segment in cited_segments(case):
        fact = segment.joined
        held = [value for name, value in fact.state_after.items() if name.startswith("inventory.")]
        most += fact.needed or 1
        most += sum(value for value in held if isinstance(value, int))
        most += sum(max(each, 0) for each in (fact.delta_inventory or {}).values())
        most += sum(each.count for each in fact.steps)
    return case.with_content(count=most + random.randint(1, 64))


def not_verified(case: Case, random: Random) -> Case | None:
    """Verified by a check that the cited ends do not pass."""
    ends = [segment.end for segment in cited_segments(case)]
    wrong = [check("inv_ge", "diamond", 1.0), check("inv_lt", "stick", 0.0), check("ypos_ge", None, 200.0)]
    failing = [
        each for each in wrong if any(check_holds(each, end.state_after, DOMAIN) is False for end in ends)
    ]
    if skill_of(case) is None or not failing:
        return None
    return case.with_candidate(verification=(random.choice(failing),))


# --- conditions that did not hold


def contradicted(case: Case, random: Random) -> Case | None:
    claims = [
        where("inventory.diamond", "ge", 1),
        where("ypos", "gt", 200),
        where("health", "lt", 5),
        where("near.loom", "eq", True),
        where("seen.sand", "eq", True),
        where("equipped", "eq", "trident"),
    ]
    false = untrue(case, claims)
    return added(case, random.choice(false)) if false else None


def contradicted_condition(case: Case, random: Random) -> Case | None:
    false = untrue(case, [where("inventory.diamond", "ge", random.randint(1, 9)), where("ypos", "gt", 200)])
    return case.with_content(applicability=(random.choice(false),)) if false else None


def other_kind_in_the_trigger(case: Case, random: Random) -> Case | None:
    """Asks for another kind of action than the one that was seen."""
    kept = [one for one in case.candidate.trigger if one.field != "kind"]
    kinds = untrue(case, [where("kind", "eq", kind) for kind in sorted(DOMAIN.kinds)])
    return case.with_candidate(trigger=(*kept, random.choice(kinds))) if kinds else None


# --- steps that nothing bears out


def stray_step(case: Case, random: Random) -> Case | None:
    strange = {
        "ghast": step("combat", "ghast"),
        "white_banner": step("craft", "white_banner"),
        "pumpkin": step("mine", "pumpkin"),
        "lectern": step("use", "lectern"),
    }
    names = unseen(case, *strange)
    if not names:
        return None
    steps = list(steps_of(case.candidate.content))
    steps.insert(random.randrange(len(steps)), strange[random.choice(names)])
    return with_steps(case, steps) if len(steps) <= 12 else None


def member_without_step(case: Case, random: Random) -> Case | None:
    """Cites an attempt of a segment that no step repeats."""
    steps = list(steps_of(case.candidate.content))
    cited = cited_segments(case)
    if skill_of(case) is None or not cited or any(len(each.members) != len(steps) for each in cited):
        return None
    return with_steps(case, steps[1:]) if len(steps) > 1 and steps[0] not in steps[1:] else None


# --- segments


def _segment(case: Case, random: Random, least: int) -> Segment | None:
    """One of the segments that a skill cites, if they have so many members."""
    if skill_of(case) is None:
        return None
    long = [each for each in cited_segments(case) if len(each.members) >= least]
    return random.choice(long) if long else None


def outside_success(case: Case, random: Random) -> Case | None:
    """Cites a success that no cited end takes in: after it, before a gap, or of another episode."""
    segment, names = _segment(case, random, 1), unseen(case, "bowl", "ladder", "barrel")
    if segment is None or not names:
        return None
    known = random.choice(
        [
            {"episode_id": segment.end.episode_id, "attempt": segment.end.attempt + 1},
            {"episode_id": segment.end.episode_id, "attempt": segment.members[0].attempt - 2},
            {"episode_id": derive_id("episode", "elsewhere"), "attempt": 0},
        ]
    )
    taken = {(fact.episode_id, fact.attempt) for fact in cited_facts(case)}
    if (known["episode_id"], known["attempt"]) in taken:
        return None
    other = replace(success(90, "craft", names[0], state({"torch": 1}), {names[0]: 4}), **known)
    more = replace(case, facts={**case.facts, other.feedback_id: other})
    return more.with_candidate(support=(*case.candidate.support, other.feedback_id))


def middle_left_out(case: Case, random: Random) -> Case | None:
    segment, skill = _segment(case, random, 3), skill_of(case)
    if segment is None or skill is None or (skill.kind, skill.target) in segment.subgoals[:-1]:
        return None
    return without(case, random.choice(segment.members[1:-1]).feedback_id)


def uncited_effect(case: Case, random: Random) -> Case | None:
    """Claims what only the first attempt brought, and does not cite it."""
    segment, skill = _segment(case, random, 2), skill_of(case)
    if segment is None or skill is None:
        return None
    first, rest = segment.members[0], segment.members[1:]
    gains = {item: count for item, count in (first.delta_inventory or {}).items() if count > 0}
    later = {item: sum((each.delta_inventory or {}).get(item, 0) for each in rest) for item in gains}
    alone = sorted(item for item in gains if later[item] < gains[item])
    if not alone:
        return None
    item = random.choice(alone)
    others = [each for each in skill.effects if each.name != item]
    claiming = case.with_content(effects=(*others, Amount(name=item, count=gains[item])))
    return without(claiming, first.feedback_id)


# --- against what is proven


def _proven(
    case: Case, content: object, trigger: tuple[Predicate, ...], verification: tuple[Check, ...] = ()
) -> Entry:
    """An entry that four episodes more stand behind than behind the case."""
    episodes = [derive_id("episode", ["proven", number]) for number in range(len(case.facts) + 4)]
    support = tuple(
        sorted(
            (Support(feedback_id=derive_id("feedback", each), episode_id=each) for each in episodes),
            key=lambda one: one.feedback_id,
        )
    )
    entry = stored(content, *trigger, verification=verification)
    return entry.model_copy(update={"support": support})


def _against(case: Case, entry: Entry) -> Case:
    return replace(case, store={entry.entry_id: entry})


def against_a_proven_order(case: Case, random: Random) -> Case | None:
    """A proven remedy does the same steps for the same failure in another order."""
    steps = steps_of(case.candidate.content)
    actions = [(each.kind, each.target) for each in steps]
    if risk_of(case) is None or len(set(actions)) < 2:
        return None
    other = (*steps[1:], steps[0])
    if [(each.kind, each.target) for each in other] == actions:
        return None
    content = case.candidate.content.model_copy(update={"repair": other})
    return _against(case, _proven(case, content, case.candidate.trigger))


def against_a_proven_end(case: Case, random: Random) -> Case | None:
    """A proven skill for the same action ends where this one's check cannot hold."""
    held = [
        each
        for each in case.candidate.verification
        if each.type == "inv_ge" and each.value and not check_faults(each, DOMAIN)
    ]
    skill = skill_of(case)
    if skill is None or not held:
        return None
    chosen = random.choice(held)
    opposite = Check(type="inv_lt", name=chosen.name, value=chosen.value)
    more = where("alive", "eq", True)  # so that it is another entry, which holds in the same states
    content = skill.model_copy(update={"applicability": (*skill.applicability, more)})
    return _against(case, _proven(case, content, case.candidate.trigger, (opposite,)))


def against_a_proven_skill(case: Case, random: Random) -> Case | None:
    """Does something else instead of an action that a proven skill brings about."""
    risk, names = risk_of(case), unseen(case, "birch_log", "spruce_log", "sand", "gravel", "pumpkin")
    if risk is None or risk.kind != "mine" or risk.missing or not names:
        return None
    if not risk.target or risk.target.startswith("#"):
        return None
    other = random.choice(names)
    if DOMAIN.prerequisites(risk.target) & {other} or DOMAIN.fit_tools(risk.target):
        return None
    # What it does instead was seen, so that nothing else speaks against it.
    seen = {
        one: replace(fact, state_before={**fact.state_before, f"seen.{other}": True})
        for one, fact in case.facts.items()
    }
    steps = (Step(kind="mine", target=risk.target),)
    content = SkillContent(kind="mine", target=risk.target, steps=steps)
    trigger = (where("kind", "eq", "mine"), where("target", "eq", risk.target))
    instead = with_steps(replace(case, facts=seen), [step("mine", other)])
    return _against(instead, _proven(case, content, trigger))


FAULTS_OF_EVIDENCE: tuple[Mutator, ...] = (
    *mutators("no or wrong evidence", "unsupported", no_support),
    *mutators("no or wrong evidence", "evidence", missing_feedback, only_unknown_feedback, infrastructure),
    *mutators("no or wrong evidence", "evidence", wrong_outcome, wrong_failure_type, unseen_missing),
    *mutators("no or wrong evidence", "evidence", other_subject, too_much, wrong_sign, unseen_effect),
    *mutators("no or wrong evidence", "evidence", count_too_large, not_verified, contradicted),
    *mutators("no or wrong evidence", "evidence", contradicted_condition, other_kind_in_the_trigger),
    *mutators("no or wrong evidence", "evidence", stray_step, member_without_step, outside_success),
    *mutators("no or wrong evidence", "evidence", middle_left_out, uncited_effect),
    *mutators("contradicts a proven entry", "conflict", against_a_proven_order, against_a_proven_end),
    *mutators("contradicts a proven entry", "conflict", against_a_proven_skill),
)
