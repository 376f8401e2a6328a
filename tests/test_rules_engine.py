"""The stand-in: what it does about each failure, what it refuses to invent, and that it knows nothing beside
the feedback and its own copy of the facts."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from prompts.engines.errands import Errand, NoWayError, TooLongError, alternatives
from prompts.engines.rules import RulesStandIn
from prompts.inducer import induce, requests_for
from tests.test_inducer import failure, state, success
from warehouse.acceptance import reasons_against
from warehouse.domains import Domain, Recipe
from warehouse.facts import FeedbackFact
from warehouse.knowledge import Candidate, RemedyContent, SkillContent
from warehouse.vocabulary import FAILURE_TYPES, KINDS

TABLE, PICK = {"crafting_table": 0}, {"wooden_pickaxe": 0}


def induced(domain: Domain, *facts: FeedbackFact, engine: RulesStandIn | None = None) -> Candidate | str:
    """The one candidate of one situation, or the reason for abstaining."""
    found = induce(facts, domain, engine or RulesStandIn(domain), "b1")
    if found.candidates:
        [candidate] = found.candidates
        return candidate
    [answer] = found.answers
    assert answer.error is not None
    assert answer.error.reason == "abstained"
    return answer.error.detail


def repair(domain: Domain, *facts: FeedbackFact, engine: RulesStandIn | None = None) -> list[str]:
    found = induced(domain, *facts, engine=engine)
    assert isinstance(found, Candidate), found
    assert isinstance(found.content, RemedyContent)
    assert reasons_against(found, {fact.feedback_id: fact for fact in facts}, domain) == ()
    return [f"{step.kind} {step.target} {step.count}" for step in found.content.repair]


def test_a_station_in_the_inventory_is_placed(minecraft: Domain) -> None:
    before = state({"crafting_table": 1}, near=[])
    fact = failure("craft", "stone_axe", "MISSING_STATION", missing=TABLE, before=before)
    assert repair(minecraft, fact) == ["use crafting_table 1", "craft stone_axe 1"]


def test_a_station_that_is_not_held_is_made_from_what_is(minecraft: Domain) -> None:
    fact = failure(
        "craft", "stone_axe", "MISSING_STATION", missing=TABLE, before=state({"oak_planks": 6}, near=[])
    )
    assert repair(minecraft, fact) == [
        "craft crafting_table 1",
        "use crafting_table 1",
        "craft stone_axe 1",
    ]
    bare = failure("craft", "stone_axe", "MISSING_STATION", missing=TABLE, before=state({}, near=[]))
    assert repair(minecraft, bare) == [
        "mine #logs 1",
        "craft #planks 4",
        "craft crafting_table 1",
        "use crafting_table 1",
        "craft stone_axe 1",
    ]


def test_a_station_is_not_what_its_own_making_lacks(minecraft: Domain) -> None:
    # As every failure is taken for another one here: that of short planks for that of a missing table.
    engine = RulesStandIn(minecraft, wrong_diagnoses=1.0)
    before = state({"oak_planks": 3}, near=[])
    fact = failure("craft", "crafting_table", "MISSING_INGREDIENT", missing={"#planks": 4}, before=before)
    assert "does not say which station" in str(induced(minecraft, fact, engine=engine))


def test_what_a_repair_relies_on_is_its_applicability(minecraft: Domain) -> None:
    fact = failure(
        "craft", "stone_axe", "MISSING_STATION", missing=TABLE, before=state({"oak_planks": 6}, near=[])
    )
    found = induced(minecraft, fact)
    assert isinstance(found, Candidate)
    relied_on = [(each.field, each.op, each.value) for each in found.content.applicability]
    assert relied_on == [("inventory.oak_planks", "ge", 4)]


def test_a_tool_is_made_with_its_table(minecraft: Domain) -> None:
    before = state({"oak_planks": 3, "stick": 2, "crafting_table": 1}, near=[])
    fact = failure("mine", "stone", "MISSING_TOOL", missing=PICK, before=before)
    assert repair(minecraft, fact) == ["use crafting_table 1", "craft wooden_pickaxe 1", "mine stone 1"]


def test_a_tool_that_feedback_does_not_name_comes_from_the_copy(minecraft: Domain) -> None:
    before = state({"cobblestone": 3, "stick": 2}, near=["crafting_table"])
    fact = failure("mine", "iron_ore", "MISSING_TOOL", before=before)
    assert repair(minecraft, fact) == ["craft stone_pickaxe 1", "mine iron_ore 1"]


def test_each_missing_ingredient_is_got_by_its_cheapest_source(minecraft: Domain) -> None:
    before = state({"wooden_pickaxe": 1, "stick": 1, "oak_planks": 2}, near=["crafting_table"])
    fact = failure(
        "craft", "stone_pickaxe", "MISSING_INGREDIENT", missing={"cobblestone": 3, "stick": 1}, before=before
    )
    assert repair(minecraft, fact) == ["mine stone 3", "craft stick 4", "craft stone_pickaxe 1"]


def test_fuel_is_named_by_feedback_or_the_least_effort(minecraft: Domain) -> None:
    before = state({"raw_iron": 3, "wooden_pickaxe": 1}, near=["furnace"])
    named = failure("smelt", "iron_ingot", "NO_FUEL", missing={"coal": 0}, before=before, needed=3)
    assert repair(minecraft, named) == ["mine coal_ore 1", "smelt iron_ingot 3"]
    unnamed = failure("smelt", "iron_ingot", "NO_FUEL", before=before, needed=3)
    assert repair(minecraft, unnamed) == ["mine #logs_that_burn 2", "smelt iron_ingot 3"]


def test_a_station_that_stands_is_gone_back_to_after_gathering(minecraft: Domain) -> None:
    errand = Errand(minecraft, {"stick": 2, "wooden_pickaxe": 1}, near=["crafting_table"])
    errand.have("stone_pickaxe")
    actions = [f"{step.kind} {step.target}" for step in errand.steps]
    assert actions == ["mine stone", "move crafting_table", "craft stone_pickaxe"]


@pytest.mark.parametrize(
    ("fact", "steps"),
    [
        (failure("mine", "coal_ore", "TARGET_NOT_FOUND"), ["move coal_ore 1", "mine coal_ore 1"]),
        (
            failure("mine", "coal_ore", "TARGET_UNREACHABLE"),
            ["move None 1", "move coal_ore 1", "mine coal_ore 1"],
        ),
        (failure("mine", "coal_ore", "NAV_STUCK"), ["move None 1", "mine coal_ore 1"]),
        (failure("move", "coal_ore", "NAV_STUCK"), ["move None 1", "move coal_ore 1"]),
        (failure("mine", "coal_ore", "NAV_STUCK", named="dirt"), ["mine dirt 1", "mine coal_ore 1"]),
        (failure("craft", "stick", "GUI_STALL", before=state(gui="other")), ["wait None 1", "craft stick 1"]),
        (
            failure("mine", "stick", "INVALID_ACTION", before=state({"oak_planks": 2})),
            ["craft stick 4"],
        ),
    ],
    ids=lambda value: f"{value.failure_type} {value.kind}" if isinstance(value, FeedbackFact) else "",
)
def test_what_stands_in_the_way_is_taken_away(
    minecraft: Domain, fact: FeedbackFact, steps: list[str]
) -> None:
    assert repair(minecraft, fact) == steps


@pytest.mark.parametrize(
    ("fact", "reason"),
    [
        (failure("mine", "stone", "DEATH"), "does not show what would help"),
        (failure("mine", "stone", "TIMEOUT"), "does not show what would help"),
        (failure("mine", "stone", "PREMATURE_STOP"), "does not show what would help"),
        (failure("craft", "stick", "RECIPE_FAIL"), "does not show what would help"),
        (failure("craft", "stick", "INVALID_ACTION"), "the action was right"),
        (failure("combat", "cow", "INVALID_ACTION"), "does not show a right way"),
        (failure("move", "coal_ore", "TARGET_NOT_FOUND"), "nothing says where to search instead"),
        (failure("use", "chest", "MISSING_STATION"), "does not say which station"),
        (failure("use", "chest", "MISSING_TOOL"), "which tool was missing"),
        (failure("craft", "iron_axe", "MISSING_INGREDIENT", missing={"iron_ingot": 3}), "more than 12 steps"),
        (failure("use", "chest", "MISSING_INGREDIENT", missing={"bedrock": 1}), "nothing is known to yield"),
    ],
    ids=lambda value: f"{value.failure_type} {value.kind}" if isinstance(value, FeedbackFact) else "",
)
def test_without_a_cause_that_can_be_removed_it_abstains(
    minecraft: Domain, fact: FeedbackFact, reason: str
) -> None:
    found = induced(minecraft, fact)
    assert isinstance(found, str), found
    assert reason in found


@example(kind="mine", target="#logs", failure_type="NO_FUEL", missing={}, held={})  # oak logs burn
@given(
    kind=st.sampled_from(KINDS),
    target=st.sampled_from(["stone", "stick", "crafting_table", "cow", "iron_ingot", "#logs"]),
    failure_type=st.sampled_from(
        [each for each in FAILURE_TYPES if each not in ("UNKNOWN", "INFRASTRUCTURE")]
    ),
    missing=st.dictionaries(
        st.sampled_from(["stick", "stone", "crafting_table", "coal", "wooden_pickaxe", "bedrock", "cow"]),
        st.integers(0, 3),
        max_size=2,
    ),
    held=st.dictionaries(st.sampled_from(["oak_log", "coal", "crafting_table", "stick"]), st.integers(1, 9)),
)
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_remedy_only_repeats_what_failed(
    minecraft: Domain,
    kind: str,
    target: str,
    failure_type: str,
    missing: dict[str, int],
    held: dict[str, int],
) -> None:
    fact = failure(kind, target, failure_type, missing=missing, before=state(held, near=[]))
    found = induced(minecraft, fact)
    if isinstance(found, Candidate):
        assert isinstance(found.content, RemedyContent)
        assert any((step.kind, step.target) != (kind, target) for step in found.content.repair)
        rules = {reason.rule for reason in reasons_against(found, {fact.feedback_id: fact}, minecraft)}
        assert not rules & {"repeats_action", "unsupported", "specific"}


def routine(domain: Domain, *facts: FeedbackFact) -> SkillContent:
    found = induced(domain, *facts)
    assert isinstance(found, Candidate), found
    assert reasons_against(found, {fact.feedback_id: fact for fact in facts}, domain) == ()
    assert isinstance(found.content, SkillContent)
    return found.content


def test_a_skill_is_what_all_successes_did_used_and_gained(minecraft: Domain) -> None:
    done = [
        ("craft", "stick", 2),
        ("craft", "stick", 2),
        ("place", "crafting_table", 1),
        ("craft", "torch", 4),
    ]

    def torches(episode: str, gain: int, lost: Mapping[str, int]) -> FeedbackFact:
        return success(
            "craft",
            "torch",
            done,
            {"torch": gain, "coal": -1, **lost},
            episode=episode,
            before=state({"coal": 3, "oak_planks": 4, "dirt": 30, "crafting_table": 1}, near=[]),
        )

    facts = [
        torches("e1", 4, {"oak_planks": -2, "dirt": -9}),
        torches("e2", 8, {"oak_planks": -4, "dirt": -5}),
    ]
    content = routine(minecraft, *facts)
    assert [f"{step.kind} {step.target} {step.count}" for step in content.steps] == [
        "craft stick 4",
        "use crafting_table 1",
        "craft torch 4",
    ]
    assert [(each.name, each.count) for each in content.effects] == [("torch", 4)]
    needs = {(each.field, each.op, each.value) for each in content.preconditions}
    assert needs == {("inventory.coal", "ge", 1), ("inventory.oak_planks", "ge", 2)}


def test_what_was_used_up_of_unlike_kinds_is_needed_by_its_tag(minecraft: Domain) -> None:
    def sticks(wood: str) -> FeedbackFact:
        return success(
            "craft",
            "stick",
            [("craft", f"{wood}_planks", 4), ("craft", "stick", 4)],
            {f"{wood}_log": -1, f"{wood}_planks": 2, "stick": 4},
            episode=wood,
            before=state({f"{wood}_log": 3}),
        )

    content = routine(minecraft, sticks("oak"), sticks("birch"))
    assert [(each.field, each.op, each.value) for each in content.preconditions] == [
        ("inventory.#logs_that_burn", "ge", 1)
    ]


def test_unlike_objects_become_their_tag_or_nothing(minecraft: Domain) -> None:
    def logs(episode: str, log: str) -> FeedbackFact:
        return success(
            "mine", "#logs", [("mine", log, 2)], {log: 2}, episode=episode, before=state({}), needed=2
        )

    content = routine(minecraft, logs("e1", "oak_log"), logs("e2", "birch_log"))
    assert [step.target for step in content.steps] == [
        minecraft.narrowest_tag(frozenset({"oak_log", "birch_log"}))
    ]
    assert [(each.name, each.count) for each in content.effects] == [("#logs", 2)]
    unlike = [
        success("use", "chest", [("place", thing, 1)], {thing: 1}, episode=thing, before=state({}))
        for thing in ("anvil", "cow")
    ]
    assert "unlike things" in str(induced(minecraft, *unlike))


@pytest.mark.parametrize(
    ("steps", "change", "reason"),
    [
        ([], {"torch": 4}, "no step was seen"),
        ([("mine", "coal_ore", 1)], {"torch": 4}, "no observed step is craft torch"),
        ([("craft", "torch", 4)], {}, "nothing that all successes gained"),
        ([("craft", "torch", 1), ("craft", "stick", 1)] * 7, {"torch": 4}, "more than a skill may have"),
    ],
)
def test_a_success_that_does_not_show_how_gives_no_skill(
    minecraft: Domain, steps: list[tuple[str, str, int]], change: dict[str, int], reason: str
) -> None:
    fact = success("craft", "torch", steps, change, before=state({}, near=[]))
    assert reason in str(induced(minecraft, fact))


def other_table(domain: Domain) -> Domain:
    """The domain with one recipe changed: a crafting table is made of dirt."""
    recipe = Recipe("crafting_table", 1, (("dirt", 2),), needs_table=False)
    return replace(domain, recipes={**domain.recipes, "crafting_table": (recipe,)})


def test_a_changed_recipe_reaches_answers_only_through_the_copy_or_through_feedback(
    minecraft: Domain,
) -> None:
    changed = other_table(minecraft)
    before = state({}, near=[])
    station = failure("craft", "stone_axe", "MISSING_STATION", missing=TABLE, before=before)

    # The world's recipe changed, the engine's copy did not: same requests, same answers, byte for byte.
    believer = RulesStandIn(minecraft)
    assert induce([station], changed, believer, "b1") == induce([station], minecraft, believer, "b1")
    # The copy changed: so does the answer.
    steps = [
        f"{s.kind} {s.target}" for s in content_of(induced(minecraft, station, engine=RulesStandIn(changed)))
    ]
    assert steps == ["mine dirt", "craft crafting_table", "use crafting_table", "craft stone_axe"]
    # Feedback from the changed world says what was short: the copy's planks are not mentioned.
    short = failure("craft", "crafting_table", "MISSING_INGREDIENT", missing={"dirt": 2}, before=before)
    steps = [f"{s.kind} {s.target}" for s in content_of(induced(changed, short, engine=believer))]
    assert steps == ["mine dirt", "craft crafting_table"]


def content_of(found: Candidate | str) -> Any:
    assert isinstance(found, Candidate), found
    assert isinstance(found.content, RemedyContent)
    return found.content.repair


def test_requests_do_not_depend_on_recipes_drops_or_tools(minecraft: Domain) -> None:
    facts = [
        failure("craft", "stone_axe", "MISSING_STATION", missing=TABLE, before=state({"stick": 1}, near=[])),
        failure("mine", "iron_ore", "MISSING_TOOL", episode="e1", before=state({"stick": 1})),
        success("craft", "stick", [("craft", "stick", 4)], {"stick": 4}, episode="e2", before=state({})),
    ]
    bare = replace(minecraft, recipes={}, harvest={}, smelting={}, block_effort={}, entity_effort={})
    ids = [[each.request_id for each in requests_for(facts, domain)] for domain in (minecraft, bare)]
    assert ids[0] == ids[1]


def test_the_same_request_gets_the_same_bytes(minecraft: Domain) -> None:
    facts = [failure("craft", "stone_axe", "MISSING_STATION", missing=TABLE, before=state({}, near=[]))]
    requests = requests_for(facts, minecraft)
    one, other = RulesStandIn(minecraft), RulesStandIn(minecraft)
    assert one.generate(requests) == other.generate(requests)
    assert one.name == other.name


def test_a_mistaken_copy_says_so_in_its_name_and_still_answers(minecraft: Domain) -> None:
    mistaken = RulesStandIn(minecraft, seed=3, misconceptions=0.5)
    assert mistaken.name != RulesStandIn(minecraft).name
    for item in sorted(minecraft.recipes)[::25]:
        fact = failure("craft", item, "MISSING_STATION", missing=TABLE, before=state({}, near=[]))
        induced(minecraft, fact, engine=mistaken)


def test_an_errand_that_ends_has_what_was_wanted(minecraft: Domain) -> None:
    for item in sorted(minecraft.items)[::20]:
        errand = Errand(minecraft, {})
        try:
            errand.acquire(item, 2)
        except NoWayError:
            continue
        assert 1 <= len(errand.steps) <= 12
        totals = [check.value or 0 for step in errand.steps for check in step.checks if check.name == item]
        assert max(totals) >= 2
        assert errand.available(item) == max(totals) - 2, "what was wanted is set aside"


def test_a_way_that_is_too_long_is_not_traded_for_a_worse_one(minecraft: Domain) -> None:
    with pytest.raises(TooLongError):
        Errand(minecraft, {}).have("iron_pickaxe")


def test_many_things_are_named_by_the_tags_that_hold_nothing_else(minecraft: Domain) -> None:
    logs = minecraft.tags["logs"]
    assert alternatives(minecraft, [*logs, "coal"]) == ["#logs", "coal"]
