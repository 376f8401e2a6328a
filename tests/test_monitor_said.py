"""Causes that a message names, and what the observations make of it."""

import pytest

from rollouts.monitor.said_causes import DIRECT
from tests.monitor_scenes import Row, Try, judge, judged, says, scene, sees, types
from warehouse.domains import Domain

CRAFT: Row = {"kind": "craft", "target": "stick"}


@pytest.mark.parametrize(("signal", "failure_type"), DIRECT.items())
def test_a_message_that_names_a_condition_is_its_evidence(
    signal: str, failure_type: str, minecraft: Domain
) -> None:
    row = judge(Try(events=[says("started", 2, name="mine:iron_ore"), says(signal, 7)]), minecraft)
    assert row["failure_type"] == failure_type
    assert (row["failure_evidence"]["tick"], row["failure_evidence"]["seq"]) == (7, 1)


class TestConnection:
    LOST = says("connection_lost", 5)

    def test_a_lost_connection_after_which_nothing_works_is_infrastructure(self, minecraft: Domain) -> None:
        row = judge(Try(events=[says("done", 3, name="mine:iron_ore"), self.LOST]), minecraft)
        assert row["failure_type"] == "INFRASTRUCTURE"

    def test_it_has_no_verdict_and_does_not_count_in_windows(self, minecraft: Domain) -> None:
        failed = Try(events=[says("path_blocked")])
        rows = judged(scene(failed, failed, Try(events=[self.LOST]), failed, failed), minecraft)
        nulls = ("y", "progress", "progress_last", "progress_goal", "stagnant", "stagnant_paper")
        assert [rows[2][name] for name in nulls] == [None] * len(nulls)
        assert [row["window_failure_rate"] for row in rows] == [None, None, None, None, 1.0]
        assert not rows[2]["remedy_due"]

    @pytest.mark.parametrize(
        "works",
        [
            {"events": [LOST, says("done", 6, name="mine:iron_ore")]},
            {"events": [LOST, says("done", 5, name="mine:iron_ore")]},
            {"events": [LOST], "changes": [(6, "iron_ore", 1)]},
        ],
    )
    def test_not_if_things_still_work_after_it(self, works: Row, minecraft: Domain) -> None:
        row = judge(Try(**works), minecraft)
        assert row["failure_type"] == "UNKNOWN"
        assert row["y"] is False

    def test_one_action_that_timed_out_while_the_run_went_on_is_not_it(self, minecraft: Domain) -> None:
        row = judge(Try(events=[says("action_timeout"), says("done", 9, name="mine:dirt")]), minecraft)
        assert row["y"] is False
        assert types(row) == []


class TestRequirement:
    WANTS = says("missing_requirement", 5, name="oak_planks")

    @pytest.mark.parametrize("held", [{}, {"oak_planks": 1}, {"birch_planks": 9}])
    def test_the_agents_word_that_something_is_short_counts(
        self, held: dict[str, int], minecraft: Domain
    ) -> None:
        row = judge(Try(**CRAFT, events=[says(**{**self.WANTS, "count": 2})], held=held), minecraft)
        assert row["failure_type"] == "MISSING_INGREDIENT"

    def test_held_is_what_was_held_when_it_was_said(self, minecraft: Domain) -> None:
        wants = says(**{**self.WANTS, "count": 2})
        later = judge(Try(**CRAFT, events=[wants], changes=[(8, "oak_planks", 4)]), minecraft)
        earlier = judge(Try(**CRAFT, events=[wants], changes=[(3, "oak_planks", 4)]), minecraft)
        assert later["failure_type"] == "MISSING_INGREDIENT"
        assert earlier["failure_type"] == "PREMATURE_STOP"

    def test_a_tag_is_held_by_any_of_its_members(self, minecraft: Domain) -> None:
        wants = says("missing_requirement", name="#planks")
        held = {"oak_planks": 1, "birch_planks": 1}
        assert judge(Try(**CRAFT, events=[wants], held=held), minecraft)["failure_type"] == "PREMATURE_STOP"

    def test_words_about_a_thing_that_the_recipe_does_not_name_decide_nothing(
        self, minecraft: Domain
    ) -> None:
        row = judge(
            Try(**CRAFT, events=[says("missing_requirement", name="dirt")], held={"dirt": 9}), minecraft
        )
        assert row["failure_type"] == "MISSING_INGREDIENT"


class TestFailedResult:
    def tried(self, verb: str, thing: str, held: dict[str, int], minecraft: Domain, count: int = 1) -> str:
        event = says("result_failed", name=f"{verb}:{thing}", count=count)
        failure: str = judge(Try(kind=verb, target=thing, events=[event], held=held), minecraft)[
            "failure_type"
        ]
        return failure

    def test_with_all_materials_it_is_the_recipe(self, minecraft: Domain) -> None:
        assert self.tried("craft", "bucket", {"iron_ingot": 3}, minecraft) == "RECIPE_FAIL"

    def test_short_of_materials_it_is_them(self, minecraft: Domain) -> None:
        assert self.tried("craft", "bucket", {"iron_ingot": 2}, minecraft) == "MISSING_INGREDIENT"
        assert self.tried("craft", "bucket", {"iron_ingot": 3}, minecraft, 2) == "MISSING_INGREDIENT"

    def test_every_material_has_to_be_there(self, minecraft: Domain) -> None:
        held = {"stick": 5, "iron_ingot": 0}
        assert self.tried("craft", "iron_pickaxe", held, minecraft) == "MISSING_INGREDIENT"
        assert self.tried("craft", "iron_pickaxe", {"stick": 2, "iron_ingot": 3}, minecraft) == "RECIPE_FAIL"

    def test_smelting_fails_by_its_own_name(self, minecraft: Domain) -> None:
        assert self.tried("smelt", "iron_ingot", {"iron_ore": 1}, minecraft) == "SMELT_FAIL"
        assert self.tried("smelt", "iron_ingot", {}, minecraft) == "MISSING_INGREDIENT"

    def test_a_result_without_its_verb_is_of_what_the_attempt_was_about(self, minecraft: Domain) -> None:
        event = says("result_failed", name="iron_ore")
        row = judge(Try(kind="smelt", target="iron_ingot", events=[event]), minecraft)
        assert row["failure_type"] == "SMELT_FAIL"


class TestAbsentTarget:
    def test_a_search_that_found_nothing(self, minecraft: Domain) -> None:
        assert judge(Try(events=[says("target_absent")]), minecraft)["failure_type"] == "TARGET_NOT_FOUND"

    @pytest.mark.parametrize("name", [None, "iron_ore"])
    def test_not_if_the_target_was_in_view(self, name: str | None, minecraft: Domain) -> None:
        row = judge(Try(events=[says("target_absent", name=name)], sightings=[sees("iron_ore")]), minecraft)
        assert "TARGET_NOT_FOUND" not in types(row)

    def test_the_sight_of_something_else_changes_nothing(self, minecraft: Domain) -> None:
        row = judge(Try(events=[says("target_absent")], sightings=[sees("coal_ore")]), minecraft)
        assert row["failure_type"] == "TARGET_NOT_FOUND"
