"""Where things are on the game's screens, and how recipes lie on its grids."""

import pytest

from rollouts.worlds.client.steve1.layout import OWN_GRID, Window, shapes, slot
from warehouse.domains import Domain


def test_every_slot_of_the_player_is_somewhere_else() -> None:
    spots = [slot(number) for number in range(36)]
    assert len(set(spots)) == 36
    assert slot(0) == (8, 142)
    assert slot(9) == (8, 84)
    assert slot(35) == (152, 120)
    for wrong in (-1, 36):
        with pytest.raises(ValueError, match="no slot"):
            slot(wrong)


def test_a_screen_stands_in_the_middle_at_every_scale() -> None:
    assert Window().pixel(OWN_GRID.result) == (232 + 154 + 8, 97 + 28 + 8)
    assert Window(1280, 720, 2).pixel(OWN_GRID.result) == (2 * (232 + 154 + 8), 2 * (97 + 28 + 8))


def test_every_recipe_of_the_domain_lies_somewhere_and_fits(minecraft: Domain) -> None:
    for item, recipes in minecraft.recipes.items():
        for recipe in recipes:
            shape = shapes()[item, frozenset(name for name, _ in recipe.ingredients)]
            side = 3 if recipe.needs_table else 2
            assert len(shape.rows) <= side
            assert all(len(row) <= side for row in shape.rows)
            if shape.rows:
                lying = [shape.ingredients[cell] for row in shape.rows for cell in row if cell is not None]
                assert {name: lying.count(name) for name in lying} == dict(recipe.ingredients)
            else:
                assert sum(count for _, count in recipe.ingredients) <= side * side


def test_known_shapes() -> None:
    pickaxe = shapes()["wooden_pickaxe", frozenset({"#planks", "stick"})]
    assert pickaxe.rows == ((0, 0, 0), (None, 1, None), (None, 1, None))
    assert pickaxe.ingredients == ("#planks", "stick")
    assert shapes()["oak_planks", frozenset({"#oak_logs"})].rows == ()
