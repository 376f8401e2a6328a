"""The domain `crafter`: its facts are those of the installed game, and its tasks can be judged."""

import pytest
from crafter import constants

from warehouse.domains import Domain, load_domain
from warehouse.suites import find_suite
from warehouse.tasks import accepts, lint

VITALS = {"health", "food", "drink", "energy"}


@pytest.fixture(scope="module")
def domain() -> Domain:
    return load_domain("crafter")


def test_what_can_be_carried_or_built_is_an_item(domain: Domain) -> None:
    assert domain.items == set(constants.items) - VITALS | domain.built_in_place
    assert domain.blocks == set(constants.materials)


def test_a_block_yields_what_the_game_gives_for_it(domain: Domain) -> None:
    for block, rule in constants.collect.items():
        given = set(rule["receive"]) - VITALS
        lucky = rule.get("probability", 1) < 1
        assert set(domain.drops[block]) == given, block
        assert domain.rare_drops.get(block, frozenset()) == (given if lucky else set()), block


def test_a_block_takes_the_tool_that_the_game_asks_for_or_a_better_one(domain: Domain) -> None:
    for block, rule in constants.collect.items():
        assert (block in domain.harvest) == bool(rule["require"]), block
        for tool in rule["require"]:
            tiers = [f"{tier}_pickaxe" for tier in ("wood", "stone", "iron")]
            assert domain.fit_tools(block) == set(tiers[tiers.index(tool) :]), block


def test_every_recipe_is_the_game_s(domain: Domain) -> None:
    for item, rule in constants.make.items():
        (recipe,) = domain.recipes[item]
        assert dict(recipe.ingredients) == rule["uses"], item
        assert recipe.count == rule["gives"], item
        assert set(domain.stations_of(recipe)) == set(rule["nearby"]), item
    for station in domain.built_in_place:
        (recipe,) = domain.recipes[station]
        assert dict(recipe.ingredients) == constants.place[station]["uses"], station
        assert domain.stations_of(recipe) == (), station
    assert set(domain.recipes) == set(constants.make) | domain.built_in_place


def test_there_is_a_way_to_everything(domain: Domain) -> None:
    assert {item for item in domain.items if not domain.sources(item)} == set()
    assert {"iron_pickaxe", "stone_pickaxe", "wood_pickaxe", "table", "furnace"} <= domain.prerequisites(
        "diamond"
    )


@pytest.mark.parametrize(
    ("phrase", "kind", "target"),
    [
        ("wood", "mine", "tree"),
        ("a log", "mine", "tree"),
        ("the workbench", "craft", "table"),
        ("ripe plant", "use", "ripe_plant"),
        ("2 diamonds", "mine", "diamond"),
    ],
)
def test_everyday_names_are_read(domain: Domain, phrase: str, kind: str, target: str) -> None:
    reading = domain.read_target(phrase, kind)
    assert reading is not None
    assert reading.target == target


def test_the_tasks_are_the_achievements_each_once(domain: Domain) -> None:
    suite = find_suite("tech_tree", domain)
    shown = []
    for task in suite.tasks:
        if task.event is not None:
            shown.append(task.event)
        else:
            (item,) = task.any_of
            shown += sorted({f"collect_{item}", f"make_{item}"} & set(constants.achievements))
    assert sorted(shown) == sorted(constants.achievements)


def test_every_oracle_is_exact(domain: Domain) -> None:
    assert [row.task_id for row in lint(find_suite("tech_tree", domain).tasks, domain) if not row.ok] == []


def test_an_event_alone_is_asked_for_and_no_inventory_stands_in_for_it(domain: Domain) -> None:
    task = next(each for each in find_suite("tech_tree", domain).tasks if each.event == "place_table")
    assert accepts(task, {}, ["place_table"])
    assert not accepts(task, {"table": 1, "wood": 9}, ["place_stone"])
