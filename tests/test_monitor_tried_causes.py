"""Crafts and smeltings that gave nothing, without anybody's word on why."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.monitor_scenes import Row, Try, judge, stand, types
from warehouse.domains import Domain

TABLE = {
    "tick": 0,
    "kind": "station",
    "name": "crafting_table",
    "distance": 2.0,
    "in_reach": True,
    "visible": True,
}
FURNACE = TABLE | {"name": "furnace"}


def keys(length: int, *presses: int, word: str = "craft") -> Mapping[str, Any]:
    """What was pressed: `word` at these ticks, else nothing."""
    return {"action": [word if tick in presses else "noop" for tick in range(length)]}


def craft(target: str, held: Mapping[str, int], domain: Domain, *sightings: Row, **more: Any) -> Row:
    tries = more.pop("presses", (5, 15))
    return judge(
        Try("craft", target, path=stand(30), ticks=keys(30, *tries), held=held, sightings=sightings, **more),
        domain,
    )


def smelt(target: str, held: Mapping[str, int], domain: Domain, *sightings: Row, **more: Any) -> Row:
    length = more.pop("length", 30)
    ticks = keys(length, *more.pop("presses", (5, 15)), word="smelt")
    return judge(
        Try("smelt", target, path=stand(length), ticks=ticks, held=held, sightings=sightings, **more), domain
    )


def junk(slots: int, domain: Domain) -> dict[str, int]:
    """So many full stacks of what neither burns nor smelts nor makes sticks."""
    used = {*domain.fuels, *domain.smelting, *domain.smelting.values(), "stick"}
    names = [item for item in sorted(domain.items - used) if domain.stacks.get(item, domain.stack) == 64]
    return dict.fromkeys(names[:slots], 64)


class TestCraft:
    def test_without_a_table_in_reach_a_station_is_missing(self, minecraft: Domain) -> None:
        held = {"oak_planks": 3, "stick": 2, "crafting_table": 1}
        row = craft("wooden_pickaxe", held, minecraft)
        assert types(row) == ["MISSING_STATION"], "one in the inventory is not in reach"
        assert (row["failure_evidence"]["tick"], row["failure_evidence"]["name"]) == (5, "crafting_table")
        far = TABLE | {"in_reach": False, "distance": 7.0}
        assert types(craft("wooden_pickaxe", held, minecraft, far)) == ["MISSING_STATION"]

    def test_with_a_table_what_is_short_is_named(self, minecraft: Domain) -> None:
        row = craft("wooden_pickaxe", {"oak_planks": 1, "birch_planks": 1, "stick": 1}, minecraft, TABLE)
        assert row["failure_type"] == "MISSING_INGREDIENT"
        assert row["failure_evidence"]["items"] == [
            {"name": "#planks", "count": 1},
            {"name": "stick", "count": 1},
        ]

    def test_both_can_be_missing_and_the_first_row_counts(self, minecraft: Domain) -> None:
        row = craft("wooden_pickaxe", {"stick": 2}, minecraft)
        assert set(types(row)) == {"MISSING_STATION", "MISSING_INGREDIENT"}
        assert row["failure_type"] == "MISSING_STATION"

    def test_of_many_ways_none_is_named_before_the_others(self, minecraft: Domain) -> None:
        row = craft("#planks", {}, minecraft)
        assert row["failure_evidence"]["items"] == [{"name": "#logs", "count": 1}]
        assert row["failure_evidence"]["name"] == "#logs"
        own = craft("oak_planks", {"birch_log": 1}, minecraft)
        assert own["failure_evidence"]["items"] == [{"name": "#oak_logs", "count": 1}]

    def test_by_hand_no_table_is_needed(self, minecraft: Domain) -> None:
        assert types(craft("stick", {"oak_planks": 1}, minecraft)) == ["MISSING_INGREDIENT"]

    def test_who_sees_nothing_does_not_know_of_a_table(self, minecraft: Domain) -> None:
        held = {"oak_planks": 3, "stick": 2}
        each = Try("craft", "wooden_pickaxe", path=stand(30), ticks=keys(30, 5), held=held)
        row = judge(each, minecraft, observes=["position", "inventory", "actions"])
        assert row["failure_type"] == "UNKNOWN"

    def test_a_full_pack_has_no_room_for_the_result(self, minecraft: Domain) -> None:
        full = junk(35, minecraft)
        row = craft("stick", full | {"oak_planks": 64}, minecraft)
        assert row["failure_type"] == "INVENTORY_FULL"
        assert "INVENTORY_FULL" not in types(craft("stick", full | {"oak_planks": 1}, minecraft))
        room = craft("stick", dict(list(full.items())[:34]) | {"oak_planks": 64}, minecraft)
        assert room["failure_type"] == "RECIPE_FAIL"

    def test_with_everything_there_the_recipe_failed(self, minecraft: Domain) -> None:
        assert craft("stick", {"oak_planks": 2}, minecraft)["failure_type"] == "RECIPE_FAIL"

    def test_a_try_that_gave_something_was_not_in_vain(self, minecraft: Domain) -> None:
        changes = [(10, "oak_planks", -2), (10, "stick", 4), (20, "stick", 1)]
        assert types(craft("stick", {"oak_planks": 2}, minecraft, changes=changes, needed=8)) == []

    def test_what_is_held_is_what_was_held_at_the_try(self, minecraft: Domain) -> None:
        changes = [(10, "oak_planks", -2), (10, "stick", 4)]
        row = craft("stick", {"oak_planks": 2}, minecraft, changes=changes, needed=8)
        assert types(row) == ["MISSING_INGREDIENT"]
        assert row["failure_evidence"]["tick"] == 15

    def test_of_a_tag_what_came_before_is_what_was_tried_again(self, minecraft: Domain) -> None:
        held = {"birch_log": 1, "oak_log": 5}
        changes = [(10, "birch_log", -1), (10, "birch_planks", 4)]
        row = craft("#planks", held, minecraft, changes=changes, needed=8)
        assert row["failure_type"] == "MISSING_INGREDIENT"
        assert row["failure_evidence"]["items"] == [{"name": "#birch_logs", "count": 1}]

    @pytest.mark.parametrize(("kind", "word"), [("mine", "craft"), ("craft", "attack")])
    def test_only_tries_of_an_attempt_to_craft_count(self, kind: str, word: str, minecraft: Domain) -> None:
        each = Try(kind, "stick", path=stand(30), ticks=keys(30, 5, word=word))
        assert "MISSING_INGREDIENT" not in types(judge(each, minecraft))


class TestSmelt:
    @pytest.mark.parametrize(
        ("held", "seen", "expected"),
        [
            ({"iron_ore": 1, "coal": 1}, (), "MISSING_STATION"),
            ({"iron_ore": 1}, (FURNACE,), "NO_FUEL"),
            ({"coal": 1}, (FURNACE,), "MISSING_INGREDIENT"),
            ({}, (FURNACE,), "MISSING_INGREDIENT"),
            ({}, (), "MISSING_STATION"),
            ({"iron_ore": 1, "coal": 1}, (FURNACE,), "SMELT_FAIL"),
        ],
    )
    def test_fuel_is_missing_only_beside_input_and_furnace(
        self, held: Mapping[str, int], seen: tuple[Row, ...], expected: str, minecraft: Domain
    ) -> None:
        assert types(smelt("iron_ingot", held, minecraft, *seen)) == [expected]

    def test_fuel_for_fewer_pieces_than_were_put_in(self, minecraft: Domain) -> None:
        changes = [(9, "iron_ore", -1), (9, "stick", -1)]
        held = {"iron_ore": 1, "stick": 1}
        row = smelt("iron_ingot", held, minecraft, FURNACE, changes=changes, length=230, presses=(5, 210))
        assert row["failure_type"] == "NO_FUEL"

    def test_a_piece_that_is_waited_for_is_no_failure_yet(self, minecraft: Domain) -> None:
        changes = [(9, "iron_ore", -1), (9, "coal", -1)]
        held = {"iron_ore": 1, "coal": 1}
        row = smelt("iron_ingot", held, minecraft, FURNACE, changes=changes, length=230, presses=(5, 210))
        assert types(row) == []

    def test_a_finished_piece_without_room(self, minecraft: Domain) -> None:
        full = junk(34, minecraft)
        changes = [(9, "iron_ore", -1), (9, "coal", -1)]
        held = full | {"iron_ore": 64, "coal": 64}
        row = smelt("iron_ingot", held, minecraft, FURNACE, changes=changes, length=230, presses=(5, 210))
        assert row["failure_type"] == "INVENTORY_FULL"
