"""Good candidates that rest on segments, and the strategies that draw good candidates of every sort.

`cases()` draws one of the templates, with its wood, tool or ore exchanged for another.
"""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from tests.good_cases import (
    LOWEST_PICKAXE,
    TOOLS,
    WOODS,
    Case,
    case_of,
    check,
    fuel_remedy,
    ingot_skill,
    ingredient_remedy,
    log_skill,
    planks_skill,
    state,
    station_remedy,
    step,
    stuck_remedy,
    success,
    tool_remedy,
    where,
    wooden_tool_skill,
)
from warehouse.facts import FeedbackFact
from warehouse.knowledge import Amount, SkillContent


def run(number: int, before: dict[str, Any], *done: tuple[str, str, dict[str, int]]) -> list[FeedbackFact]:
    """Successes (kind, target, net change) in a row in episode `number`, each from where the last one ended;
    a station that is used stands in reach from then on."""
    found = []
    held = {amount["name"]: amount["count"] for amount in before["inventory"]}
    near: tuple[str, ...] = tuple(before["near"])
    for attempt, (kind, target, gain) in enumerate(done):
        fact = success(number, kind, target, state(held, near), gain)
        found.append(replace(fact, attempt=attempt, skill_due=attempt == len(done) - 1))
        held = {name: held.get(name, 0) + gain.get(name, 0) for name in {*held, *gain}}
        near = (*near, target) if kind == "use" else near
    return found


def sticks_segment(wood: str) -> Case:
    """From a tree to sticks over three subgoals, in two episodes."""
    log, planks = f"{wood}_log", f"{wood}_planks"
    facts = [
        each
        for number in (10, 11)
        for each in run(
            number,
            state({}),
            ("mine", log, {log: 2 + number % 2}),
            ("craft", planks, {log: -1, planks: 4}),
            ("craft", "stick", {planks: -2, "stick": 4}),
        )
    ]
    content = SkillContent(
        kind="craft",
        target="stick",
        count=4,
        steps=(step("mine", log, 2), step("craft", planks, 4), step("craft", "stick", 4)),
        effects=(Amount(name="stick", count=4), Amount(name=planks, count=2), Amount(name=log, count=1)),
    )
    trigger = [where("kind", "eq", "craft"), where("target", "eq", "stick")]
    return case_of(content, facts, trigger, check("inv_ge", "stick", 4.0))


def tool_segment(wood: str, tool: str) -> Case:
    """A wooden tool from logs, over the table that it takes."""
    log, planks, target = f"{wood}_log", f"{wood}_planks", f"wooden_{tool}"
    facts = run(
        12,
        state({log: 4}),
        ("craft", planks, {log: -3, planks: 12}),
        ("craft", "stick", {planks: -2, "stick": 4}),
        ("craft", "crafting_table", {planks: -4, "crafting_table": 1}),
        ("use", "crafting_table", {"crafting_table": -1}),
        ("craft", target, {planks: -3, "stick": -2, target: 1}),
    )
    content = SkillContent(
        kind="craft",
        target=target,
        preconditions=(where(f"inventory.{log}", "ge", 3),),
        steps=(
            step("craft", planks, 12),
            step("craft", "stick", 4),
            step("craft", "crafting_table"),
            step("use", "crafting_table"),
            step("craft", target),
        ),
        effects=(Amount(name=target, count=1), Amount(name="stick", count=2), Amount(name=log, count=-3)),
    )
    trigger = [where("target", "eq", target), where(f"inventory.{log}", "ge", 3)]
    return case_of(content, facts, trigger, check("inv_ge", target, 1.0))


def templates() -> tuple[st.SearchStrategy[Case], ...]:
    """One strategy per template; it exchanges names for others of the same sort."""
    wood, tool = st.sampled_from(WOODS), st.sampled_from(TOOLS)
    ore = st.sampled_from(("iron_ore", "gold_ore"))
    return (
        st.builds(station_remedy, wood, tool),
        st.builds(ingredient_remedy, wood, tool),
        st.builds(tool_remedy, st.sampled_from(sorted(LOWEST_PICKAXE))),
        st.builds(fuel_remedy, ore),
        st.builds(stuck_remedy, wood),
        st.builds(planks_skill, wood),
        st.builds(wooden_tool_skill, wood, tool),
        st.builds(log_skill, wood),
        st.builds(ingot_skill, ore),
        st.builds(sticks_segment, wood),
        st.builds(tool_segment, wood, tool),
    )


def cases() -> st.SearchStrategy[Case]:
    """Good cases of every template."""
    return st.one_of(*templates())
