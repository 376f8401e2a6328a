"""Causes that nobody names: what ticks, counters, sightings and the inventory show."""

from typing import Any

import pytest

from rollouts.monitor import DEFAULTS
from tests.monitor_scenes import Row, Try, judge, judged, pace, says, scene, sees, stand, types, walk
from warehouse.domains import Domain

MOVING: Row = {"action": "forward"}
FAR: Row = {"path": walk(200, 40), "ticks": MOVING, "end": "timeout"}
JUMP: Row = {"health": [4.0] * 10 + [20.0] * 10, "hunger": [9.0] * 10 + [20.0] * 10}


class TestDeath:
    def test_not_alive(self, minecraft: Domain) -> None:
        row = judge(Try(ticks={"alive": [True] * 12 + [False] + [True] * 7}), minecraft)
        assert (row["failure_type"], row["failure_evidence"]["tick"]) == ("DEATH", 12)

    def test_health_and_hunger_jump_to_their_spawn_values(self, minecraft: Domain) -> None:
        row = judge(Try(ticks=JUMP), minecraft)
        assert (row["failure_type"], row["failure_evidence"]["tick"]) == ("DEATH", 10)
        assert "health 4.0 and hunger 9.0" in row["failure_evidence"]["text"]

    def test_one_of_them_alone_does_not(self, minecraft: Domain) -> None:
        for other in ({"hunger": 9.0}, {"hunger": [9.0] * 10 + [19.0] * 10}, {"hunger": 20.0}):
            assert "DEATH" not in types(judge(Try(ticks=JUMP | other), minecraft))

    @pytest.mark.parametrize(
        "meal",
        [
            {"held": {"bread": 3}, "changes": [(10, "bread", -1)]},
            {"held": {"bread": 1}, "changes": [(10, "bread", -1)]},
        ],
    )
    def test_a_meal_explains_the_jump(self, meal: Row, minecraft: Domain) -> None:
        assert "DEATH" not in types(judge(Try(ticks=JUMP, **meal), minecraft))

    def test_food_that_went_with_everything_else_was_not_eaten(self, minecraft: Domain) -> None:
        lost = Try(
            ticks=JUMP,
            held={"bread": 3, "dirt": 5},
            changes=[(10, "bread", -3), (10, "dirt", -5)],
        )
        assert judge(lost, minecraft)["failure_type"] == "DEATH"

    def test_a_meal_at_another_time_explains_nothing(self, minecraft: Domain) -> None:
        earlier = Try(ticks=JUMP, held={"bread": 3}, changes=[(4, "bread", -1)])
        assert judge(earlier, minecraft)["failure_type"] == "DEATH"

    def test_a_jump_between_two_attempts_is_in_neither(self, minecraft: Domain) -> None:
        low, full = {"health": 4.0, "hunger": 9.0}, {"health": 20.0, "hunger": 20.0}
        rows = judged(scene(Try(ticks=low), Try(ticks=full)), minecraft)
        assert not any("DEATH" in types(row) for row in rows)

    @pytest.mark.parametrize("end", ["horizon", "timeout"])
    def test_the_end_of_the_budget_is_no_death(self, end: str, minecraft: Domain) -> None:
        assert "DEATH" not in types(judge(Try(end=end, path=walk(200, 40), ticks=MOVING), minecraft))
        assert judge(Try(end="death"), minecraft)["failure_type"] == "DEATH"


class TestTool:
    def broke(self, equipped: Any, minecraft: Domain, **more: Any) -> list[str]:
        counter = {"tick": 10, "kind": "counter", "name": "mine_block:iron_ore", "count": 1}
        return types(judge(Try(ticks={"equipped": equipped}, events=[counter], **more), minecraft))

    @pytest.mark.parametrize("tool", ["wooden_pickaxe", "", "iron_shovel"])
    def test_a_block_broken_with_an_unfit_tool_gives_no_drop(self, tool: str, minecraft: Domain) -> None:
        assert self.broke(tool, minecraft) == ["MISSING_TOOL"]

    def test_what_counts_is_the_tool_in_hand_at_that_moment(self, minecraft: Domain) -> None:
        fit_then = ["wooden_pickaxe"] * 8 + ["stone_pickaxe"] * 12
        unfit_then = ["stone_pickaxe"] * 8 + ["wooden_pickaxe"] * 12
        assert "MISSING_TOOL" not in self.broke(fit_then, minecraft)
        assert self.broke(unfit_then, minecraft) == ["MISSING_TOOL"]

    def test_not_if_the_target_came_in_or_the_hand_is_unknown(self, minecraft: Domain) -> None:
        assert self.broke("wooden_pickaxe", minecraft, changes=[(11, "iron_ore", 1)]) == []
        assert self.broke(None, minecraft) == []


class TestGui:
    def row(self, gui: Any, ticks: int, minecraft: Domain, **more: Any) -> Row:
        return judge(Try("craft", "stick", path=stand(ticks), ticks={"gui": gui}, **more), minecraft)

    def opened(self, ticks: int, open_for: int) -> list[str]:
        return ["none"] * (ticks - open_for) + ["inventory"] * open_for

    def test_open_to_the_end_is_a_stall_and_just_opened_is_none(self, minecraft: Domain) -> None:
        at_least = DEFAULTS.gui_stall_at_end
        stalled = self.row(self.opened(60, at_least), 60, minecraft)
        assert (stalled["failure_type"], stalled["failure_evidence"]["tick"]) == ("GUI_STALL", 60 - at_least)
        assert stalled["failure_evidence"]["count"] == at_least
        assert "GUI_STALL" not in types(self.row(self.opened(60, at_least - 1), 60, minecraft))

    @pytest.mark.parametrize(
        ("open_for", "stalled"), [(DEFAULTS.gui_stall, True), (DEFAULTS.gui_stall - 1, False)]
    )
    def test_closed_again_it_is_a_stall_after_five_seconds(
        self, open_for: int, stalled: bool, minecraft: Domain
    ) -> None:
        gui = ["none"] * 5 + ["furnace"] * open_for + ["none"] * 5
        assert ("GUI_STALL" in types(self.row(gui, len(gui), minecraft))) == stalled

    def test_a_change_of_the_inventory_starts_the_clock_again(self, minecraft: Domain) -> None:
        gui = ["inventory"] * 150 + ["none"] * 5
        assert "GUI_STALL" in types(self.row(gui, 155, minecraft))
        assert "GUI_STALL" not in types(self.row(gui, 155, minecraft, changes=[(75, "dirt", 1)]))
        late = self.row(gui, 155, minecraft, changes=[(20, "dirt", 1)])
        assert (late["failure_evidence"]["tick"], late["failure_evidence"]["count"]) == (20, 130)

    def test_another_gui_starts_the_clock_again(self, minecraft: Domain) -> None:
        gui = ["inventory"] * 75 + ["crafting_table"] * 75 + ["none"] * 5
        assert "GUI_STALL" not in types(self.row(gui, 155, minecraft))

    def test_an_unknown_gui_is_no_open_one(self, minecraft: Domain) -> None:
        assert "GUI_STALL" not in types(self.row(None, 200, minecraft))

    def test_a_gui_does_not_stay_open_across_attempts(self, minecraft: Domain) -> None:
        one = Try("craft", "stick", path=stand(3), ticks={"gui": "inventory"})
        assert not any("GUI_STALL" in types(row) for row in judged(scene(one, one, one), minecraft))


class TestTarget:
    def test_never_in_view_over_some_distance(self, minecraft: Domain) -> None:
        row = judge(Try(**FAR), minecraft)
        assert row["failure_type"] == "TARGET_NOT_FOUND"
        assert row["failure_evidence"]["name"] == "iron_ore"
        near = judge(Try(**FAR | {"path": walk(200, DEFAULTS.searched - 1)}), minecraft)
        assert "TARGET_NOT_FOUND" not in types(near)

    def test_a_source_that_cannot_see_does_not_say_so(self, minecraft: Domain) -> None:
        row = judge(Try(**FAR), minecraft, observes=["position", "inventory"])
        assert "TARGET_NOT_FOUND" not in types(row)

    def test_in_view_and_never_in_reach(self, minecraft: Domain) -> None:
        row = judge(Try(**FAR, sightings=[sees("iron_ore", 30)]), minecraft)
        assert (row["failure_type"], row["failure_evidence"]["tick"]) == ("TARGET_UNREACHABLE", 30)

    @pytest.mark.parametrize(
        "reached",
        [
            {"sightings": [sees("iron_ore", 30), sees("iron_ore", 90, in_reach=True)]},
            {"sightings": [sees("iron_ore", 30)], "changes": [(90, "iron_ore", 1)]},
            {"sightings": [sees("iron_ore", 30)], "events": [says("done", 90, name="mine:iron_ore")]},
        ],
    )
    def test_reached_after_all(self, reached: Row, minecraft: Domain) -> None:
        row = judge(Try(needed=5, **FAR, **reached), minecraft)
        assert not {"TARGET_UNREACHABLE", "TARGET_NOT_FOUND"} & set(types(row))

    def test_in_view_without_a_step_towards_it_is_not_unreachable(self, minecraft: Domain) -> None:
        row = judge(Try(path=stand(200), sightings=[sees("iron_ore")]), minecraft)
        assert "TARGET_UNREACHABLE" not in types(row)


class TestStuck:
    def test_pressing_to_move_without_moving(self, minecraft: Domain) -> None:
        row = judge(Try("move", None, path=stand(200), ticks=MOVING), minecraft)
        assert row["failure_type"] == "NAV_STUCK"

    def test_running_in_circles(self, minecraft: Domain) -> None:
        row = judge(Try("move", None, path=pace(200), ticks={"action": "jump"}), minecraft)
        assert row["failure_type"] == "NAV_STUCK"

    @pytest.mark.parametrize(
        "otherwise",
        [
            {"kind": "craft", "target": "stick"},  # a craft that failed while standing still
            {"path": stand(50)},  # too short to tell
            {"ticks": {"action": "attack"}},  # stood on purpose
            {"path": walk(200, 40)},
        ],
    )
    def test_not_otherwise(self, otherwise: Row, minecraft: Domain) -> None:
        told: Row = {"kind": "move", "target": None, "path": stand(200), "ticks": MOVING} | otherwise
        assert "NAV_STUCK" not in types(judge(Try(**told), minecraft))


class TestNoAction:
    def test_only_observations(self, minecraft: Domain) -> None:
        assert judge(Try(ticks={"action": "noop"}), minecraft)["failure_type"] == "NO_ACTION"
        assert judge(Try(), minecraft)["failure_type"] == "NO_ACTION"

    @pytest.mark.parametrize(
        "acted",
        [
            {"ticks": {"action": ["noop"] * 19 + ["attack"]}},
            {"path": walk(20, 5)},
            {"events": [says("started", name="mine:iron_ore")]},
            {"changes": [(5, "dirt", 1)]},
        ],
    )
    def test_anything_done_is_an_action(self, acted: Row, minecraft: Domain) -> None:
        assert "NO_ACTION" not in types(judge(Try(**acted), minecraft))

    def test_without_observations_nothing_is_known_of_actions(self, minecraft: Domain) -> None:
        assert judge(Try(path=[]), minecraft)["failure_type"] == "UNKNOWN"


class TestTimeout:
    def test_progress_to_the_end(self, minecraft: Domain) -> None:
        row = judge(Try("move", None, path=walk(600, 60), ticks=MOVING, end="horizon"), minecraft)
        assert row["failure_type"] == "TIMEOUT"

    def test_no_progress_over_the_last_20_s(self, minecraft: Domain) -> None:
        path = [*walk(200, 40), *[(40.5, 64.0, 0.5)] * 500]
        row = judge(Try("move", None, path=path, ticks=MOVING, end="timeout"), minecraft)
        assert "TIMEOUT" not in types(row)
        assert row["progress"] > DEFAULTS.epsilon_progress > row["progress_last"]
