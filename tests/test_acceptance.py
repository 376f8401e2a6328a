"""The rules of eq. 6 that look at one candidate alone."""

from dataclasses import replace

import pytest

from tests.case_templates import run, sticks_segment, tool_segment
from tests.good_cases import (
    DOMAIN,
    Case,
    case_of,
    check,
    fact,
    fuel_remedy,
    log_skill,
    state,
    station_remedy,
    step,
    stuck_remedy,
    tool_remedy,
    where,
    wooden_tool_skill,
)
from warehouse.acceptance import generic_faults, predicate_faults, reasons_against
from warehouse.entries import Rule
from warehouse.evidence import evidence_faults
from warehouse.facts import NO_EVIDENCE, Cause, FeedbackFact
from warehouse.knowledge import Amount, Candidate, Predicate, RemedyContent, Risk, SkillContent, Step
from warehouse.platitudes import is_platitude


def rules(case: Case) -> set[Rule]:
    return {reason.rule for reason in reasons_against(case.candidate, case.facts, DOMAIN)}


def _remedy(failure_type: str, *trigger: Predicate) -> Candidate:
    risk = Risk(kind="mine", target="oak_log", failure_type=failure_type)
    return Candidate(
        domain="minecraft",
        type="remedy",
        trigger=trigger,
        content=RemedyContent(risk=risk, repair=(step("move", "oak_log"), step("mine", "oak_log"))),
        build="b1",
    )


# The four that the public implementation accepts (FACTS.md, "Measured here").


def test_the_mood_of_the_village_elder_is_no_state_field() -> None:
    case = stuck_remedy("oak")
    moody = (where("mood_of_the_village_elder", "eq", "sour"),)
    assert "match" in rules(case.with_candidate(trigger=moody))
    assert "match" in rules(case.with_candidate(trigger=(*case.candidate.trigger, *moody)))


def test_nobody_crafts_a_vibranium_pickaxe() -> None:
    content = SkillContent(
        kind="craft", target="vibranium_pickaxe", steps=(step("craft", "vibranium_pickaxe"),)
    )
    case = wooden_tool_skill("oak", "pickaxe").with_candidate(content=content)
    assert "exec" in rules(case)
    assert "match" in rules(case.with_candidate(trigger=(where("target", "eq", "vibranium_pickaxe"),)))


def test_sad_is_no_failure_type() -> None:
    candidate = _remedy("SAD", where("failure_type", "eq", "SAD"), where("target", "eq", "oak_log"))
    assert "match" in {reason.rule for reason in reasons_against(candidate, {}, DOMAIN)}
    case = stuck_remedy("oak")
    assert "match" in rules(case.with_content(risk=Risk(kind="mine", target="oak_log", failure_type="SAD")))


def test_knowledge_without_feedback_is_unsupported() -> None:
    assert rules(stuck_remedy("oak").with_candidate(support=())) == {"unsupported"}


@pytest.mark.parametrize(
    "predicate",
    [
        where("failure_type", "eq", "NAV_STUCK"),
        where("kind", "in", ("mine", "craft")),
        where("inventory.oak_log", "ge", 3),
        where("inventory.#logs", "lt", 1),
        where("near.furnace", "eq", False),
        where("seen.cow", "ne", True),
        where("target", "eq", "#logs"),
        where("missing", "in", ("stick", "furnace")),
        where("health", "lt", 7.5),
        where("biome", "eq", "desert"),
        where("depth", "eq", "deep"),
    ],
)
def test_predicates_that_match_a_field(predicate: Predicate) -> None:
    assert predicate_faults(predicate, DOMAIN) == []


@pytest.mark.parametrize(
    "predicate",
    [
        where("mood", "eq", 1),
        where("inventory", "ge", 1),
        where("inventory.*", "ge", 1),
        where("inventory.cow", "ge", 1),
        where("near.stone", "eq", True),
        where("seen.vibranium", "eq", True),
        where("inventory.#no_such_tag", "ge", 1),
        where("failure_type", "eq", "SAD"),
        where("failure_type", "gt", "DEATH"),
        where("alive", "lt", True),
        where("alive", "eq", "yes"),
        where("alive", "eq", 1),
        where("ypos", "ge", True),
        where("ypos", "in", 3),
        where("ypos", "eq", (3,)),
        where("kind", "in", ()),
        where("target", "eq", "philosophers_stone"),
        where("missing", "in", ("stick", "courage")),
    ],
)
def test_predicates_that_match_no_field(predicate: Predicate) -> None:
    assert predicate_faults(predicate, DOMAIN)


def test_preconditions_and_applicability_must_match_too() -> None:
    case = log_skill("oak")
    assert rules(case.with_content(preconditions=(where("mood", "eq", 1),))) == {"match"}
    assert rules(case.with_content(applicability=(where("mood", "eq", 1),))) == {"match"}
    pair = {
        "preconditions": (where("ypos", "gt", 70),),
        "applicability": (where("ypos", "lt", 60),),
    }
    assert "match" in rules(case.with_content(**pair))


@pytest.mark.parametrize(
    ("trigger", "generic"),
    [
        ([where("alive", "eq", True)], True),
        ([where("failure_type", "eq", "NAV_STUCK")], True),
        ([where("failure_type", "eq", "NAV_STUCK"), where("alive", "eq", True)], True),
        ([where("failure_type", "eq", "NAV_STUCK"), where("inventory.stick", "ge", 0)], True),
        ([where("failure_type", "in", DOMAIN.failure_types), where("hunger", "lt", 5)], True),
        ([where("kind", "ne", "wait"), where("hunger", "lt", 5)], True),
        ([where("inventory.stick", "ge", 1), where("hunger", "lt", 5)], True),
        ([where("failure_type", "eq", "NAV_STUCK"), where("failure_type", "ne", "DEATH")], True),
        ([where("kind", "eq", "craft"), where("target", "eq", "stick")], False),
        ([where("failure_type", "eq", "NAV_STUCK"), where("stagnant", "eq", True)], False),
        ([where("failure_type", "eq", "DEATH"), where("alive", "eq", False)], False),
        ([where("target", "eq", "stick"), where("health", "gt", 0)], True),
        ([where("target", "eq", "stick"), where("health", "ge", 1)], True),
        ([where("target", "eq", "stick"), where("health", "ne", 0)], True),
        ([where("target", "eq", "stick"), where("health", "gt", 5)], False),
        ([where("target", "eq", "stick"), where("failure_type", "ne", "INFRASTRUCTURE")], True),
        ([where("target", "eq", "stick"), where("inventory.dirt", "le", 36 * 64)], True),
        ([where("target", "eq", "stick"), where("inventory.dirt", "lt", 36 * 64)], False),
    ],
)
def test_triggers_that_pin_nothing(trigger: list[Predicate], generic: bool) -> None:
    assert bool(generic_faults(trigger, DOMAIN)) == generic


@pytest.mark.parametrize(
    "note",
    [
        "Try again.",
        "try the task again until it works",
        "Be more careful!",
        "be careful",
        "Just keep trying.",
        "Pay attention",
        "Do better next time",
        "Make sure it works",
        "Think step by step",
        "Don't give up",
        "Check the inventory and try again",
        "Do it right this time",
        "Gather the necessary resources before crafting.",
        "Make sure to have all required materials and tools",
        "Learn from previous mistakes",
        "The action failed. Retry the action.",
        '","',
        "...",
    ],
)
def test_platitudes(note: str) -> None:
    assert is_platitude(note, DOMAIN)


@pytest.mark.parametrize(
    "note",
    [
        "",
        "agent repeats movement near obstacle without collecting target item",
        "the attempt failed because no crafting table stood in reach",
        "Crafted without a crafting_table; try again after placing one.",
        "hits the ore with too weak a pickaxe, so that it breaks without a drop",
        "runs against the same obstacle again and again",
        "gathered too few resources: the furnace takes eight cobblestone",
        "use the right pickaxe: stone or better",
    ],
)
def test_notes_that_say_something(note: str) -> None:
    assert not is_platitude(note, DOMAIN)


def test_steps_that_say_nothing() -> None:
    case = stuck_remedy("oak")
    assert "specific" in rules(case.with_content(repair=(step("mine"), step("mine", "oak_log"))))
    assert "specific" in rules(case.with_content(repair=(step("move"), step("mine", "oak_log"))))
    assert "specific" in rules(case.with_content(repair=(step("wait", None, 5),)))
    waits = (step("wait", None, 5, check("gui_closed")), step("mine", "oak_log"))
    assert rules(case.with_content(repair=waits)) == set()


@pytest.mark.parametrize("name", ["oak_log", "#logs"])
def test_doing_the_same_again_is_no_repair(name: str) -> None:
    case = stuck_remedy("oak")
    again = (step("mine", "oak_log", 3), step("mine", name))
    assert ("repeats_action" in rules(case.with_content(repair=again))) == (name == "oak_log")


def test_to_wait_for_nothing_before_doing_the_same_again_is_no_repair() -> None:
    case = stuck_remedy("oak")
    again = step("mine", "oak_log", 3)
    assert rules(case.with_content(repair=(step("wait", None, 5), again))) == {"repeats_action"}
    assert rules(case.with_content(repair=(step("wait", None, 5, check("gui_closed")), again))) == set()
    # To do nothing at all is V_spec's matter.
    assert rules(case.with_content(repair=(step("wait", None, 5),))) == {"specific"}


def test_a_list_takes_in_only_what_was_seen() -> None:
    case = stuck_remedy("oak")
    kept = [each for each in case.candidate.trigger if each.field != "target"]
    two = where("target", "in", ("birch_log", "oak_log"))
    assert rules(case.with_candidate(trigger=(*kept, where("target", "in", ("oak_log",))))) == set()
    wide = case.with_candidate(trigger=(*kept, two))
    assert faults(wide) == ["no cited attempt shows target birch_log"]
    birch = fact(7, "mine", "birch_log", state({}), failure_type="NAV_STUCK", stagnant=True)
    both = wide.with_candidate(support=(*case.candidate.support, birch.feedback_id))
    seen = {**case.facts, birch.feedback_id: birch}
    wider = both.with_content(risk=Risk(kind="mine", target=None, failure_type="NAV_STUCK"))
    assert not any("no cited attempt" in one for one in evidence_faults(wider.candidate, seen, DOMAIN))
    also = where("failure_type", "in", ("DEATH", "NAV_STUCK"))
    assert faults(case.with_candidate(trigger=(*case.candidate.trigger, also))) == [
        "no cited attempt shows failure_type DEATH"
    ]


def test_a_remedy_for_any_action_must_not_repeat_that_of_its_evidence() -> None:
    case = stuck_remedy("oak")
    risk = Risk(kind=None, target=None, failure_type="NAV_STUCK")
    assert rules(case.with_content(risk=risk)) == set()
    assert "repeats_action" in rules(case.with_content(risk=risk, repair=(step("mine", "oak_log"),)))


def test_all_reasons_are_collected() -> None:
    case = log_skill("oak").with_candidate(
        trigger=(where("mood", "eq", 1),), support=("0" * 20,), verification=()
    )
    broken = case.with_content(steps=(step("craft", "vibranium_pickaxe"), step("mine")))
    assert rules(broken) == {"schema", "match", "exec", "specific", "evidence"}


# V_evidence


def faults(case: Case) -> list[str]:
    return evidence_faults(case.candidate, case.facts, DOMAIN)


def case_steps(case: Case) -> tuple[Step, ...]:
    assert isinstance(case.candidate.content, SkillContent)
    return case.candidate.content.steps


def test_every_citation_has_to_bear_the_claim_out() -> None:
    case = station_remedy("oak", "axe", rows=3)
    assert faults(case) == []
    cited = case.candidate.support[1]
    other = fact(1, "craft", "bowl", state({}), failure_type="MISSING_STATION", missing=("crafting_table",))
    facts = {**case.facts, cited: other}
    assert len(evidence_faults(case.candidate, facts, DOMAIN)) == 2  # another target, a trigger that is false


def test_what_a_source_cannot_see_contradicts_nothing() -> None:
    case = station_remedy("oak", "axe")
    blind = {
        one: fact(
            number,
            "craft",
            "wooden_axe",
            state({}) | {"near": None, "seen": None, "inventory": None},
            feedback_id=one,
            failure_type="MISSING_STATION",
            missing=("crafting_table",),
        )
        for number, one in enumerate(case.candidate.support)
    }
    assert evidence_faults(case.candidate, blind, DOMAIN) == []


def test_an_unknown_change_shows_no_effect() -> None:
    case = log_skill("oak")
    (cited,) = case.candidate.support
    known = case.facts[cited]
    unknown = replace(known, delta_inventory=None)
    assert any("effect" in fault for fault in evidence_faults(case.candidate, {cited: unknown}, DOMAIN))


def test_a_skill_may_rest_on_the_last_attempts_of_a_segment() -> None:
    case = sticks_segment("oak")
    assert faults(case) == []
    first = [one for one, known in case.facts.items() if known.kind == "mine"]
    rest = tuple(one for one in case.candidate.support if one not in first)
    without_the_first = {
        "trigger": (*case.candidate.trigger, where("inventory.oak_log", "ge", 1)),
        "support": rest,
    }
    shorter = case.with_candidate(**without_the_first).with_content(
        steps=case_steps(case)[1:], effects=(Amount(name="oak_log", count=-1), Amount(name="stick", count=4))
    )
    assert faults(shorter) == []
    assert any(
        "oak_log ge 1 did not hold" in fault
        for fault in faults(case.with_candidate(trigger=without_the_first["trigger"]))
    ), "conditions are on the state before the first cited attempt"


def test_a_skill_has_to_repeat_its_segment_in_order() -> None:
    case = tool_segment("oak", "axe")
    planks, sticks, table, place, axe = case_steps(case)
    # Nothing keeps the table from being made first, but this is not what was seen.
    assert rules(case.with_content(steps=(planks, table, sticks, place, axe))) == {"evidence"}
    assert rules(case.with_content(steps=(planks, sticks, sticks, table, place, axe))) == set()


def test_an_attempt_at_the_end_s_own_subgoal_may_stand_inside_a_segment() -> None:
    gain = {"oak_planks": 4, "oak_log": -1}
    facts = run(
        30,
        state({"oak_log": 3}),
        ("craft", "oak_planks", gain),
        ("craft", "stick", {"oak_planks": -2, "stick": 4}),
        ("craft", "oak_planks", gain),
    )
    steps = tuple(step(known.kind or "", known.target) for known in facts)
    content = SkillContent(
        kind="craft", target="oak_planks", steps=steps, effects=(Amount(name="oak_planks", count=6),)
    )
    trigger = [where("target", "eq", "oak_planks"), where("inventory.oak_log", "ge", 2)]
    case = case_of(content, facts, trigger, check("inv_ge", "oak_planks", 4.0))
    assert rules(case) == set()
    alone = case.with_candidate(support=(facts[0].feedback_id,))
    assert any("oak_planks +6" in fault for fault in faults(alone)), "one attempt shows only what it brought"


def test_a_repair_may_not_use_a_station_that_was_seen_to_be_away() -> None:
    case = tool_remedy("iron_ore")
    assert faults(case) == []
    bare = {
        one: replace(known, state_before={**known.state_before, "near.crafting_table": False})
        for one, known in case.facts.items()
    }
    (fault,) = evidence_faults(case.candidate, bare, DOMAIN)
    assert "crafting_table" in fault


def test_a_way_is_cleared_only_where_something_was_seen_to_be_in_it() -> None:
    def reasons(fact: FeedbackFact) -> list[str]:
        repair = (step("move", None, 1, check("path_clear")), step("mine", "iron_ore"))
        risk = Risk(kind="mine", target="iron_ore", failure_type=fact.failure_type or "")
        candidate = Candidate(
            domain="minecraft",
            type="remedy",
            trigger=(where("target", "eq", "iron_ore"),),
            content=RemedyContent(risk=risk, repair=repair),
            support=(fact.feedback_id,),
            build="b1",
        )
        return evidence_faults(candidate, {fact.feedback_id: fact}, DOMAIN)

    searched = fact(0, "mine", "iron_ore", state({}), failure_type="TARGET_NOT_FOUND")
    assert [reason.rpartition(": ")[2] for reason in reasons(searched)] == [
        "does not show that anything was in the way"
    ]
    stopped = Cause("NAV_STUCK", None, None, {}, NO_EVIDENCE)
    assert reasons(replace(searched, causes=(stopped,))) == []
    assert reasons(replace(searched, stagnant=True)) == [], "it hardly moved"
    assert reasons(replace(searched, failure_type="NAV_STUCK")) == []


def test_a_skill_begins_with_what_leads_to_its_end() -> None:
    sticks = ("craft", "stick", {"oak_planks": -2, "stick": 4})
    facts = run(31, state({"oak_planks": 2}), sticks, ("mine", "oak_log", {"oak_log": 3}))
    content = SkillContent(
        kind="mine",
        target="oak_log",
        count=3,
        steps=(step("craft", "stick", 4), step("mine", "oak_log", 3)),
        effects=(Amount(name="oak_log", count=3), Amount(name="stick", count=4)),
    )
    trigger = [where("kind", "eq", "mine"), where("target", "eq", "oak_log")]
    case = case_of(content, facts, trigger, check("inv_ge", "oak_log", 3.0))
    [fault] = faults(case)
    assert fault.endswith("attempt 0, craft stick, leads to nothing that comes after it")
    alone = case.with_candidate(support=(facts[-1].feedback_id,)).with_content(
        steps=content.steps[1:], effects=content.effects[:1]
    )
    assert faults(alone) == []


def test_steps_may_name_what_the_rules_lead_to() -> None:
    case = tool_remedy("iron_ore")
    grounded = [
        (step("mine", "oak_log"), step("craft", "stone_pickaxe")),
        (step("mine", "birch_log"), step("craft", "stone_pickaxe")),
        (step("mine", "cobblestone"), step("craft", "stone_pickaxe")),
        (step("craft", "iron_pickaxe"),),
    ]
    for steps in grounded:
        assert faults(case.with_content(repair=(*steps, step("mine", "iron_ore")))) == []
    for stray in (step("combat", "ghast"), step("use", "villager"), step("craft", "cake")):
        assert faults(case.with_content(repair=(stray, *grounded[0])))


def test_steps_may_name_what_the_recording_names() -> None:
    case = stuck_remedy("oak")
    digging = (step("mine", "dirt"), step("mine", "oak_log"))
    assert faults(case.with_content(repair=digging))
    cited = case.candidate.support[0]
    seen = state({}, seen=["dirt"])
    told = fact(0, "mine", "oak_log", seen, feedback_id=cited, failure_type="NAV_STUCK", stagnant=True)
    assert evidence_faults(case.with_content(repair=digging).candidate, {cited: told}, DOMAIN) == [
        f"no feedback {case.candidate.support[1]}"
    ]


def test_fuel_may_be_anything_that_is_found_and_burns() -> None:
    case = fuel_remedy("iron_ore")
    for burns in ("coal_ore", "oak_log", "spruce_log"):
        assert faults(case.with_content(repair=(step("mine", burns), step("smelt", "iron_ingot")))) == []
    assert faults(case.with_content(repair=(step("mine", "dirt"), step("smelt", "iron_ingot"))))
