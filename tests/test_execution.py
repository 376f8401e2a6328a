"""V_exec: the grammar, and orders that can and cannot be carried out."""

import pytest

from tests.good_cases import DOMAIN, check, planks_skill, station_remedy, step, where, wooden_tool_skill
from warehouse.execution import execution_faults, order_faults
from warehouse.grammar import action_faults, check_faults, same_action, yields_of
from warehouse.knowledge import Candidate, Check, Predicate, RemedyContent, Risk, SkillContent, Step


def skill(target: str, steps: list[Step], *preconditions: Predicate, kind: str = "craft") -> Candidate:
    content = SkillContent(kind=kind, target=target, steps=tuple(steps), preconditions=preconditions)
    return Candidate(
        domain="minecraft",
        type="skill",
        trigger=(where("target", "eq", target), where("kind", "eq", kind)),
        content=content,
        build="b1",
    )


def remedy(risk: Risk, *repair: Step) -> Candidate:
    return Candidate(
        domain="minecraft",
        type="remedy",
        trigger=(where("failure_type", "eq", risk.failure_type), where("target", "eq", risk.target or "")),
        content=RemedyContent(risk=risk, repair=repair),
        build="b1",
    )


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("craft", "stick"),
        ("craft", "#planks"),
        ("smelt", "iron_ingot"),
        ("mine", "stone"),
        ("mine", "cobblestone"),
        ("mine", "coal"),
        ("mine", "#logs"),
        ("use", "crafting_table"),
        ("use", "bread"),
        ("use", "villager"),
        ("combat", "cow"),
        ("move", "iron_ore"),
        ("move", None),
        ("wait", None),
    ],
)
def test_actions_of_the_grammar(kind: str, target: str | None) -> None:
    assert action_faults(kind, target, DOMAIN) == []


@pytest.mark.parametrize(
    ("kind", "target", "why"),
    [
        ("teleport", "stone", "unknown kind"),
        ("place", "crafting_table", "unknown kind"),
        ("craft", "vibranium_pickaxe", "unknown target"),
        ("craft", "#no_such_tag", "unknown target"),
        ("craft", "diamond_ore", "no recipe"),
        ("smelt", "stick", "smelting gives no"),
        ("mine", "stone_pickaxe", "mining gives no"),
        ("combat", "stone", "no entity"),
        ("wait", "stone", "takes no target"),
        ("craft", None, "needs a target"),
    ],
)
def test_what_is_no_action(kind: str, target: str | None, why: str) -> None:
    (fault,) = action_faults(kind, target, DOMAIN)
    assert why in fault


@pytest.mark.parametrize(
    ("one", "faulty"),
    [
        (check("inv_ge", "#planks", 3.0), False),
        (check("inv_lt", "stick", 0.0), False),
        (check("ypos_le", None, -12.5), False),
        (check("path_clear"), False),
        (check("station_near", "furnace"), False),
        (check("inv_ge", "stick"), True),
        (check("inv_ge", None, 3.0), True),
        (check("inv_ge", "stick", 1.5), True),
        (check("inv_ge", "cow", 1.0), True),
        (check("station_near", "stick"), True),
        (check("path_clear", "stick"), True),
        (check("gui_closed", None, 1.0), True),
        (check("ypos_le", "stick", 1.0), True),
        (check("is_happy"), True),
    ],
)
def test_checks(one: Check, faulty: bool) -> None:
    assert bool(check_faults(one, DOMAIN)) == faulty


TABLE, PLACED = step("craft", "crafting_table"), step("use", "crafting_table")
PICKAXE = step("craft", "wooden_pickaxe")


@pytest.mark.parametrize(
    ("steps", "preconditions", "why"),
    [
        ([TABLE, PLACED, PICKAXE], [], None),
        ([PICKAXE], [where("near.crafting_table", "eq", True)], None),
        ([PICKAXE], [], "in reach"),
        ([TABLE, PICKAXE], [], "in reach"),
        ([PICKAXE, TABLE, PLACED], [], "in reach"),
        ([TABLE, PICKAXE], [where("inventory.crafting_table", "ge", 1)], "in reach"),
        ([PLACED, TABLE, PLACED, PICKAXE], [], "only a later step"),
        ([PLACED, PICKAXE], [where("inventory.crafting_table", "eq", 0)], "missing"),
        ([PLACED, PICKAXE, step("craft", "stick")], [], "only a later step"),
        ([PLACED, PICKAXE, step("craft", "stick")], [where("inventory.stick", "ge", 2)], None),
        ([PLACED, PICKAXE], [where("inventory.#planks", "lt", 1)], "missing"),
        ([PLACED, PICKAXE], [where("inventory.oak_planks", "lt", 1)], None),
        ([step("craft", "oak_planks"), PLACED, PICKAXE], [where("inventory.#planks", "lt", 1)], None),
    ],
)
def test_orders_of_crafting(steps: list[Step], preconditions: list[Predicate], why: str | None) -> None:
    faults = order_faults(skill("wooden_pickaxe", steps, *preconditions), DOMAIN)
    assert bool(faults) == (why is not None)
    assert why is None or why in " ".join(faults)


@pytest.mark.parametrize(
    ("steps", "faulty"),
    [
        (["mine iron_ore", "craft stone_pickaxe"], True),
        (["craft stone_pickaxe", "mine iron_ore"], False),
        # The pickaxe that is made is made of what is mined: some other one must have been there.
        (["mine cobblestone", "craft stone_pickaxe", "mine iron_ore"], False),
        # A better tool later is progress, not a tool that came too late.
        (["mine coal_ore", "craft stone_pickaxe", "mine iron_ore"], False),
        (["craft oak_planks", "mine oak_log"], True),
        (["mine oak_log", "craft oak_planks", "mine oak_log"], False),
        # Sticks can be made of bamboo, but the planks show what is meant.
        (["craft stick", "craft oak_planks"], True),
        (["craft oak_planks", "craft stick"], False),
        (["smelt iron_ingot", "mine iron_ore"], True),
        (["use bread", "craft bread"], True),
    ],
)
def test_orders_of_getting(steps: list[str], faulty: bool) -> None:
    table, furnace = where("near.crafting_table", "eq", True), where("near.furnace", "eq", True)
    parsed = [step(kind, target) for kind, target in (words.split() for words in steps)]
    assert bool(order_faults(skill("iron_ore", parsed, table, furnace, kind="mine"), DOMAIN)) == faulty


RETRY, STONE = step("craft", "wooden_pickaxe"), step("mine", "stone")


@pytest.mark.parametrize(
    ("risk", "repair", "faulty"),
    [
        (("craft", "wooden_pickaxe", "MISSING_STATION", "crafting_table"), [TABLE, PLACED, RETRY], False),
        (("craft", "wooden_pickaxe", "MISSING_STATION", "crafting_table"), [RETRY, TABLE, PLACED], True),
        (("craft", "wooden_pickaxe", "MISSING_STATION", "crafting_table"), [TABLE, RETRY], True),
        (("mine", "stone", "MISSING_STATION", "crafting_table"), [TABLE, STONE], True),
        (("mine", "stone", "MISSING_STATION", "crafting_table"), [TABLE, PLACED, STONE], False),
        (("mine", "stone", "MISSING_STATION", "crafting_table"), [STONE, TABLE, PLACED], True),
        (("mine", "stone", "MISSING_STATION", "crafting_table"), [TABLE, PLACED], False),
        (("mine", "oak_log", "NAV_STUCK", "dirt"), [step("mine", "oak_log"), step("mine", "dirt")], True),
        (("mine", "oak_log", "NAV_STUCK", "dirt"), [step("mine", "dirt"), step("mine", "oak_log")], False),
        # The station was there: the game asked for sticks.
        (("craft", "wooden_pickaxe", "MISSING_INGREDIENT", "stick"), [step("craft", "stick"), RETRY], False),
        (("craft", "wooden_pickaxe", "MISSING_INGREDIENT", "stick"), [TABLE, RETRY], True),
        (("craft", "stone_axe", "MISSING_TOOL", "wooden_pickaxe"),
         [step("craft", "wooden_pickaxe"), step("craft", "stone_axe")], False),
        (("craft", "stone_axe", "MISSING_TOOL", "wooden_pickaxe"),
         [step("use", "wooden_pickaxe"), step("craft", "stone_axe")], False),
        (("craft", "stone_axe", "MISSING_TOOL", "wooden_pickaxe"),
         [step("craft", "stick"), step("craft", "stone_axe")], True),
        (("mine", "iron_ore", "MISSING_TOOL", "stone_pickaxe"),
         [step("craft", "stone_pickaxe"), step("mine", "iron_ore")], False),
        (("mine", "iron_ore", "MISSING_TOOL", "stone_pickaxe"),
         [step("craft", "diamond_pickaxe"), step("mine", "iron_ore")], False),
        (("mine", "iron_ore", "MISSING_TOOL", "stone_pickaxe"),
         [step("craft", "wooden_pickaxe"), step("mine", "iron_ore")], True),
        (("smelt", "iron_ingot", "NO_FUEL", "coal"),
         [step("mine", "oak_log"), step("smelt", "iron_ingot")], False),
        (("smelt", "iron_ingot", "NO_FUEL", "coal"),
         [step("mine", "iron_ore"), step("smelt", "iron_ingot")], True),
    ],
)  # fmt: skip
def test_repairs_supply_what_was_short(
    risk: tuple[str, str, str, str], repair: list[Step], faulty: bool
) -> None:
    kind, target, failure, missing = risk
    pattern = Risk(kind=kind, target=target, failure_type=failure, missing=(missing,))
    assert bool(order_faults(remedy(pattern, *repair), DOMAIN)) == faulty


def test_what_the_conditions_grant_was_not_enough_where_it_failed() -> None:
    pattern = Risk(
        kind="craft", target="wooden_pickaxe", failure_type="MISSING_INGREDIENT", missing=("oak_planks",)
    )
    few = where("inventory.oak_planks", "ge", 1)
    for steps, faulty in (
        ([step("craft", "stick"), RETRY], True),
        ([step("craft", "#planks"), RETRY], False),
    ):
        candidate = remedy(pattern, *steps)
        candidate = candidate.model_copy(update={"trigger": (*candidate.trigger, few)})
        assert bool(order_faults(candidate, DOMAIN)) == faulty


def test_a_station_that_is_known_to_be_away_has_to_be_placed_or_gone_to() -> None:
    pattern = Risk(kind="mine", target="iron_ore", failure_type="MISSING_TOOL", missing=("stone_pickaxe",))
    made, mined = step("craft", "stone_pickaxe"), step("mine", "iron_ore")
    assert order_faults(remedy(pattern, made, mined), DOMAIN) == []
    assert order_faults(remedy(pattern, made, mined), DOMAIN, away=["crafting_table"])
    held = where("inventory.crafting_table", "ge", 1)
    carried = remedy(pattern, made, mined)
    assert order_faults(carried.model_copy(update={"trigger": (*carried.trigger, held)}), DOMAIN)
    for mending in (PLACED, step("move", "crafting_table")):
        assert order_faults(remedy(pattern, mending, made, mined), DOMAIN, away=["crafting_table"]) == []


def test_every_fault_of_a_candidate_is_named() -> None:
    steps = [step("teleport", "stone"), step("craft", "vibranium_pickaxe"), step("wait", None, 1, check("x"))]
    faults = execution_faults(skill("stick", steps), DOMAIN)
    assert len(faults) == 4
    assert "do not end in what the skill is for" in faults[-1]


def test_the_good_ones_can_be_carried_out() -> None:
    for case in (planks_skill("oak"), wooden_tool_skill("birch", "axe"), station_remedy("oak", "hoe")):
        assert execution_faults(case.candidate, DOMAIN) == []


def test_what_counts_as_the_same_action() -> None:
    assert same_action(("mine", "oak_log"), ("mine", "#logs"), DOMAIN)
    assert not same_action(("mine", "#logs"), ("mine", "oak_log"), DOMAIN)
    assert same_action(("mine", "coal"), ("mine", "coal_ore"), DOMAIN)
    assert not same_action(("mine", "oak_log"), ("mine", "birch_log"), DOMAIN)
    assert not same_action(("craft", "stick"), ("mine", "stick"), DOMAIN)
    assert not same_action(("move", None), ("move", "stone"), DOMAIN)


def test_what_steps_yield() -> None:
    assert "cobblestone" in yields_of(step("mine", "stone"), DOMAIN)
    assert yields_of(step("craft", "stick"), DOMAIN) == {"stick"}
    assert yields_of(step("use", "crafting_table"), DOMAIN) == frozenset()
    assert "beef" in yields_of(step("combat", "cow"), DOMAIN)
