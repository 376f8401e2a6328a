"""Goal progress, the p_goal of eq. 2."""

from typing import Any

import pytest

from tests.monitor_scenes import Row, Try, judge
from warehouse.domains import Domain


def goal(minecraft: Domain, **more: Any) -> float | None:
    value: float | None = judge(Try(**more), minecraft)["progress_goal"]
    return value


@pytest.mark.parametrize(("gained", "needed", "share"), [(0, 4, 0), (1, 4, 0.25), (3, 4, 0.75), (9, 4, 1)])
def test_a_relative_goal_is_the_share_of_the_gain(
    gained: int, needed: int, share: float, minecraft: Domain
) -> None:
    assert goal(minecraft, gained=gained, needed=needed) == share


def test_it_varies_and_a_success_is_all_of_it(minecraft: Domain) -> None:
    assert goal(minecraft, success=True, gained=1, needed=1) == 1
    assert goal(minecraft, success=True, gained=None, needed=None) == 1
    assert goal(minecraft, gained=None, needed=None) is None


PLACE = {
    "y": 40.0,
    "gui": "none",
    "inventory": [{"name": "oak_planks", "count": 2}, {"name": "dirt", "count": 3}],
}


@pytest.mark.parametrize(
    ("check", "share"),
    [
        ({"type": "inv_ge", "name": "dirt", "value": 4}, 0.75),
        ({"type": "inv_ge", "name": "dirt", "value": 2}, 1),
        ({"type": "inv_ge", "name": "stone", "value": 2}, 0),
        ({"type": "inv_ge", "name": "#planks", "value": 4}, 0.5),
        ({"type": "inv_ge", "name": "dirt", "value": 0}, 1),
        ({"type": "inv_lt", "name": "dirt", "value": 4}, 1),
        ({"type": "inv_lt", "name": "dirt", "value": 3}, 0),
        ({"type": "ypos_le", "value": 40}, 1),
        ({"type": "ypos_le", "value": 39}, 0),
        ({"type": "ypos_ge", "value": 40}, 1),
        ({"type": "ypos_ge", "value": 41}, 0),
        ({"type": "gui_closed"}, 1),
        ({"type": "path_clear"}, None),  # no state after an attempt tells
    ],
)
def test_an_absolute_goal_is_the_share_of_the_bound_that_the_state_reaches(
    check: Row, share: float | None, minecraft: Domain
) -> None:
    assert goal(minecraft, gained=None, checks=[check], after=PLACE) == share


def test_several_checks_count_alike(minecraft: Domain) -> None:
    checks = [
        {"type": "inv_ge", "name": "dirt", "value": 4},
        {"type": "inv_ge", "name": "stone", "value": 1},
        {"type": "ypos_le", "value": 50},
        {"type": "path_clear"},
    ]
    assert goal(minecraft, gained=None, checks=checks, after=PLACE) == pytest.approx((0.75 + 0 + 1) / 3)


def test_what_the_state_does_not_say_counts_neither_way(minecraft: Domain) -> None:
    checks = [{"type": "inv_ge", "name": "dirt", "value": 4}, {"type": "ypos_le", "value": 50}]
    assert goal(minecraft, gained=None, checks=checks, after={"y": 40.0}) == 1
    assert goal(minecraft, gained=None, checks=checks, after={}) is None
