"""Good candidates, each with the evidence that bears it out.

tests/case_templates.py draws from them and from those that rest on segments; tests/mutators.py puts faults
into them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from warehouse.domains import load_domain
from warehouse.entries import Entry
from warehouse.facts import FeedbackFact, ObservedStep
from warehouse.ids import derive_id
from warehouse.knowledge import (
    Amount,
    Candidate,
    Check,
    Predicate,
    RemedyContent,
    Risk,
    Scalar,
    SkillContent,
    Step,
    entry_id,
)
from warehouse.state import flatten_state

DOMAIN = load_domain("minecraft")
WOODS = ("oak", "birch", "spruce", "jungle", "acacia", "dark_oak")
TOOLS = ("pickaxe", "axe", "shovel", "sword", "hoe")
LOWEST_PICKAXE = {
    "coal_ore": "wooden_pickaxe",
    "iron_ore": "stone_pickaxe",
    "gold_ore": "iron_pickaxe",
    "diamond_ore": "iron_pickaxe",
}
OpName = Literal["eq", "ne", "lt", "le", "gt", "ge", "in"]


@dataclass(frozen=True)
class Case:
    """A candidate, the facts among which its citations are, and the store that it would come into."""

    candidate: Candidate
    facts: Mapping[str, FeedbackFact]
    store: Mapping[str, Entry] = field(default_factory=dict)

    def with_candidate(self, **changes: Any) -> "Case":
        """The case with another candidate, validated anew so that its lists are in order."""
        return replace(self, candidate=Candidate.model_validate({**dict(self.candidate), **changes}))

    def with_content(self, **changes: Any) -> "Case":
        """The case with another content."""
        content = self.candidate.content
        return self.with_candidate(content=type(content).model_validate({**dict(content), **changes}))


def where(field: str, op: OpName, value: Scalar | tuple[Scalar, ...]) -> Predicate:
    """A predicate."""
    return Predicate(field=field, op=op, value=value)


def step(kind: str, target: str | None = None, count: int = 1, *checks: Check) -> Step:
    """A step."""
    return Step(kind=kind, target=target, count=count, checks=checks)


def check(type_: str, name: str | None = None, value: float | None = None) -> Check:
    """A check."""
    return Check(type=type_, name=name, value=value)


def state(inventory: Mapping[str, int], near: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    """A state struct of the contract, of an agent in good health on the ground."""
    row: dict[str, Any] = {"y": 64.0, "health": 20.0, "hunger": 18.0, "alive": True, "gui": "none"}
    amounts = [{"name": name, "count": count} for name, count in sorted(inventory.items())]
    return {**row, "inventory": amounts, "near": list(near), "seen": list(near), **more}


def fact(number: int, kind: str, target: str, before: dict[str, Any], **more: Any) -> FeedbackFact:
    """A failed attempt at `kind target`; `number` is its episode."""
    known = {"kind": kind, "target": target}
    values: dict[str, Any] = {
        # The state is part of it, so that cases that are drawn together never speak of each other's facts.
        "feedback_id": derive_id("feedback", [number, kind, target, before]),
        "episode_id": derive_id("episode", number),
        "attempt": number,
        **known,
        "needed": 1,
        "y": False,
        "stagnant": False,
        "progress": 0.05,
        "state_before": flatten_state(before, **known),
        "state_after": flatten_state(before, **known),
        "delta_inventory": {},
        **more,
    }
    return FeedbackFact(**values)


def success(
    number: int, kind: str, target: str, before: dict[str, Any], gain: dict[str, int]
) -> FeedbackFact:
    """An attempt that got `target`, with this net change of the inventory."""
    held = {amount["name"]: amount["count"] for amount in before["inventory"]}
    after = {name: held.get(name, 0) + gain.get(name, 0) for name in {*held, *gain}}
    return fact(
        number,
        kind,
        target,
        before,
        y=True,
        failure_type="NONE",
        progress=1.0,
        needed=max(gain.get(target, 1), 1),
        delta_inventory=gain,
        state_after=flatten_state({**before, "inventory": _amounts(after)}, kind=kind, target=target),
        steps=(ObservedStep(kind, target, max(gain.get(target, 1), 1)),),
    )


def _amounts(counts: Mapping[str, int]) -> list[dict[str, Any]]:
    return [{"name": name, "count": count} for name, count in sorted(counts.items())]


def case_of(content: Any, facts: list[FeedbackFact], trigger: list[Predicate], *checks: Check) -> Case:
    """The case of a candidate that cites all of `facts`."""
    candidate = Candidate(
        domain=DOMAIN.name,
        type="skill" if isinstance(content, SkillContent) else "remedy",
        trigger=tuple(trigger),
        content=content,
        verification=checks,
        support=tuple(each.feedback_id for each in facts),
        build="b1",
    )
    return Case(candidate, {each.feedback_id: each for each in facts})


def stored(content: Any, *trigger: Predicate, verification: tuple[Check, ...] = ()) -> Entry:
    """An entry as the store holds it, of high confidence; its evidence does not matter."""
    type_: Any = "skill" if isinstance(content, SkillContent) else "remedy"
    return Entry(
        entry_id=entry_id(DOMAIN.name, type_, trigger, content),
        domain=DOMAIN.name,
        type=type_,
        trigger=trigger,
        content=content,
        verification=verification,
        confidence=0.8,
        first_build="b1",
        last_build="b1",
    )


def station_remedy(wood: str, tool: str, rows: int = 2) -> Case:
    """No crafting table in reach when a wooden tool was to be made."""
    target = f"wooden_{tool}"
    facts = [
        fact(
            number,
            "craft",
            target,
            state({f"{wood}_planks": 8, "stick": 2 + number}),
            failure_type="MISSING_STATION",
            missing=("crafting_table",),
        )
        for number in range(rows)
    ]
    risk = Risk(
        kind="craft",
        target=target,
        failure_type="MISSING_STATION",
        missing=("crafting_table",),
        note="crafted without a crafting table in reach",
    )
    repair = (step("craft", "crafting_table"), step("use", "crafting_table"), step("craft", target))
    trigger = [
        where("kind", "eq", "craft"),
        where("target", "eq", target),
        where("failure_type", "eq", "MISSING_STATION"),
        where("near.crafting_table", "eq", False),
    ]
    return case_of(RemedyContent(risk=risk, repair=repair), facts, trigger)


def ingredient_remedy(wood: str, tool: str) -> Case:
    """No sticks when a tool was to be made."""
    target = f"stone_{tool}"
    facts = [
        fact(
            number,
            "craft",
            target,
            state({"cobblestone": 3, f"{wood}_log": 1 + number}, ("crafting_table",)),
            failure_type="MISSING_INGREDIENT",
            missing=("stick",),
        )
        for number in range(2)
    ]
    risk = Risk(
        kind="craft", target=target, failure_type="MISSING_INGREDIENT", missing=("stick",), note="no sticks"
    )
    repair = (step("craft", f"{wood}_planks", 4), step("craft", "stick", 2), step("craft", target))
    trigger = [
        where("target", "eq", target),
        where("failure_type", "eq", "MISSING_INGREDIENT"),
        where("inventory.stick", "lt", 2),
    ]
    return case_of(RemedyContent(risk=risk, repair=repair), facts, trigger)


def tool_remedy(ore: str) -> Case:
    """No pickaxe that is good enough when an ore was to be mined."""
    tool = LOWEST_PICKAXE[ore]
    facts = [
        fact(
            number,
            "mine",
            ore,
            state({"stick": 4}, ("crafting_table",), y=12.0),
            failure_type="MISSING_TOOL",
            missing=(tool,),
        )
        for number in range(3)
    ]
    risk = Risk(kind="mine", target=ore, failure_type="MISSING_TOOL", missing=(tool,))
    repair = (step("craft", tool), step("mine", ore))
    trigger = [
        where("kind", "eq", "mine"),
        where("target", "eq", ore),
        where("missing", "eq", tool),
        where("ypos", "le", 40),
    ]
    return case_of(RemedyContent(risk=risk, repair=repair), facts, trigger)


def fuel_remedy(ore: str) -> Case:
    """Nothing to burn in the furnace."""
    target = DOMAIN.smelting[ore]
    facts = [
        fact(
            7,
            "smelt",
            target,
            state({ore: 3}, ("furnace",)),
            failure_type="NO_FUEL",
            missing=(),
            stagnant=True,
        )
    ]
    risk = Risk(kind="smelt", target=target, failure_type="NO_FUEL")
    repair = (step("mine", "coal_ore", 2), step("smelt", target, 3))
    trigger = [
        where("failure_type", "eq", "NO_FUEL"),
        where("kind", "in", ("smelt",)),
        where("hunger", "gt", 4),
    ]
    return case_of(RemedyContent(risk=risk, repair=repair), facts, trigger)


def stuck_remedy(wood: str) -> Case:
    """The way to a tree is blocked."""
    target = f"{wood}_log"
    facts = [
        fact(number, "mine", target, state({}), failure_type="NAV_STUCK", stagnant=True)
        for number in range(2)
    ]
    risk = Risk(
        kind="mine",
        target=target,
        failure_type="NAV_STUCK",
        note="runs against the same obstacle again and again",
    )
    repair = (step("move", None, 1, check("path_clear")), step("mine", target))
    trigger = [
        where("target", "eq", target),
        where("failure_type", "eq", "NAV_STUCK"),
        where("stagnant", "eq", True),
    ]
    return case_of(RemedyContent(risk=risk, repair=repair), facts, trigger)


def planks_skill(wood: str) -> Case:
    """Planks from logs."""
    log, planks = f"{wood}_log", f"{wood}_planks"
    facts = [
        success(number, "craft", planks, state({log: 2 + number}), {planks: 4, log: -1})
        for number in range(2)
    ]
    content = SkillContent(
        kind="craft",
        target=planks,
        count=4,
        preconditions=(where(f"inventory.{log}", "ge", 1),),
        steps=(step("craft", planks, 4),),
        effects=(Amount(name=planks, count=4), Amount(name=log, count=-1)),
    )
    trigger = [where("kind", "eq", "craft"), where("target", "eq", planks)]
    return case_of(content, facts, trigger, check("inv_ge", planks, 4.0))


def wooden_tool_skill(wood: str, tool: str) -> Case:
    """A wooden tool from logs alone."""
    log, planks, target = f"{wood}_log", f"{wood}_planks", f"wooden_{tool}"
    facts = [
        success(number, "craft", target, state({log: 4}), {target: 1, log: -3, "stick": 2})
        for number in (3, 4)
    ]
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
        effects=(Amount(name=target, count=1), Amount(name=log, count=-3)),
    )
    trigger = [where("target", "eq", target), where(f"inventory.{log}", "ge", 3)]
    return case_of(content, facts, trigger, check("inv_ge", target, 1.0), check("alive"))


def log_skill(wood: str) -> Case:
    """Logs with bare hands."""
    target = f"{wood}_log"
    facts = [success(9, "mine", target, state({}), {target: 5})]
    content = SkillContent(
        kind="mine",
        target=target,
        count=3,
        steps=(step("mine", target, 3),),
        effects=(Amount(name=target, count=3),),
    )
    trigger = [where("kind", "eq", "mine"), where("target", "eq", target)]
    return case_of(content, facts, trigger, check("inv_ge", target, 3.0))


def ingot_skill(ore: str) -> Case:
    """Ingots beside a furnace."""
    target = DOMAIN.smelting[ore]
    before = state({ore: 3, "coal": 2}, ("furnace",))
    facts = [success(number, "smelt", target, before, {target: 3, ore: -3, "coal": -1}) for number in (5, 6)]
    content = SkillContent(
        kind="smelt",
        target=target,
        count=3,
        preconditions=(where("near.furnace", "eq", True), where(f"inventory.{ore}", "ge", 3)),
        steps=(step("smelt", target, 3),),
        effects=(Amount(name=target, count=3),),
    )
    trigger = [where("target", "eq", target), where("near.furnace", "eq", True)]
    return case_of(content, facts, trigger, check("inv_ge", target, 3.0), check("station_near", "furnace"))
