"""Kinship: distances in a domain's prerequisite graph, which change with its recipes."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warehouse.domains import load_domain
from warehouse.kinship import DECAY, SIBLING_STEPS, Kinship, kinship_of

DOMAIN = load_domain("minecraft")
KINSHIP = kinship_of(DOMAIN)


def test_each_need_is_a_step_further_than_what_needs_it() -> None:
    steps = KINSHIP.distances("iron_pickaxe")
    chain = ("iron_pickaxe", "iron_ingot", "iron_ore", "stone_pickaxe", "wooden_pickaxe")
    assert [steps[thing] for thing in chain] == [0, 1, 2, 3, 4]
    assert steps["stick"] == steps["crafting_table"] == 1


def test_things_that_the_goal_does_not_need_are_absent() -> None:
    assert not {"bread", "diamond", "iron_block", "iron_nugget"} & KINSHIP.distances("iron_pickaxe").keys()


def test_a_block_is_as_near_as_the_item_that_is_taken_from_it() -> None:
    steps = KINSHIP.distances("stone_pickaxe")
    assert steps["stone"] == steps["cobblestone"] == 1
    assert KINSHIP.distances("leather")["cow"] == 0


def test_a_rare_drop_makes_no_kin() -> None:
    assert "zombie" not in KINSHIP.distances("iron_ingot")


def test_a_block_as_goal_needs_what_its_item_needs() -> None:
    steps = KINSHIP.distances("diamond_ore")
    assert (steps["diamond"], steps["iron_pickaxe"]) == (0, 1)


def test_a_tag_is_as_near_as_its_nearest_member_and_stands_for_its_members() -> None:
    assert KINSHIP.distances("stick")["#planks"] == KINSHIP.distances("stick")["oak_planks"] == 1
    assert KINSHIP.distances("#logs")["birch_log"] == 0


def test_members_of_an_ingredient_tag_are_siblings() -> None:
    assert KINSHIP.distances("oak_log")["birch_log"] == SIBLING_STEPS
    assert "stick" not in KINSHIP.distances("oak_log")


def test_an_unknown_goal_is_akin_to_itself_alone() -> None:
    assert KINSHIP.distances("the mood of the village elder") == {"the mood of the village elder": 0}


def test_nearness_decays_with_the_distance() -> None:
    near = KINSHIP.nearness("iron_pickaxe")
    assert near["iron_pickaxe"] == 1.0
    assert near["wooden_pickaxe"] == pytest.approx(DECAY**4)


def test_a_changed_recipe_changes_the_distances() -> None:
    [bread] = [each for each in DOMAIN.recipes["bread"] if each.item == "bread"]
    changed = replace(bread, ingredients=(("iron_ingot", 1),))
    other = Kinship(replace(DOMAIN, recipes={**DOMAIN.recipes, "bread": (changed,)}))
    assert "iron_ore" not in KINSHIP.distances("bread")
    assert other.distances("bread")["iron_ore"] == 2


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(DOMAIN.items)))
def test_every_prerequisite_is_reached_and_none_at_distance_zero(item: str) -> None:
    steps = KINSHIP.distances(item)
    needed = DOMAIN.prerequisites(item)
    assert needed <= steps.keys()
    assert all(steps[thing] >= 1 for thing in needed - {item})
