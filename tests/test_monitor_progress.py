"""Progress and stagnation, eq. 2 and 3, against a reference in plain Python."""

import statistics
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollouts.monitor import DEFAULTS, MonitorSettings
from tests.monitor_scenes import Point, Try, judge, judged, pace, scene, stand, together, walk
from warehouse.domains import Domain
from warehouse.vocabulary import OBSERVABLES

coordinate = st.integers(-4000, 4000).map(lambda n: n / 16)  # exact in float32
points = st.lists(st.tuples(coordinate, coordinate, coordinate), min_size=1, max_size=30)
changes = st.lists(
    st.tuples(st.integers(0, 0), st.sampled_from(["dirt", "stick"]), st.integers(1, 9)), max_size=4
)


def eq2(
    path: Sequence[Point], gains: Sequence[tuple[int, str, int]], gained: int, needed: int, s: MonitorSettings
) -> float:
    """p = lx*Var/(ex+Var) + lv*|dv|/(ev+|dv|) + lg*p_goal"""
    var: float = sum(statistics.pvariance(axis) for axis in zip(*path, strict=True))
    dv = sum(abs(delta) for _, _, delta in gains)
    return (
        s.lambda_move * var / (s.epsilon_move + var)
        + s.lambda_inventory * dv / (s.epsilon_inventory + dv)
        + s.lambda_goal * min(gained / needed, 1)
    )


@given(points, changes, st.integers(0, 12), st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_progress_is_eq_2(
    minecraft: Domain, path: list[Point], gains: list[tuple[int, str, int]], gained: int, needed: int
) -> None:
    row = judge(Try(path=path, changes=gains, gained=gained, needed=needed), minecraft)
    p = eq2(path, gains, gained, needed, DEFAULTS)
    assert row["progress"] == pytest.approx(p, abs=1e-9)
    assert row["stagnant_paper"] == (row["progress"] < DEFAULTS.epsilon_progress)


def test_other_weights_are_used(minecraft: Domain) -> None:
    ours = MonitorSettings(lambda_move=0.1, lambda_inventory=0.2, lambda_goal=0.7, epsilon_move=5.0)
    each = Try(path=walk(40, 39), changes=[(3, "dirt", 2)], gained=1, needed=4)
    row = judged(scene(each), minecraft, ours)[0]
    assert row["progress"] == pytest.approx(eq2(each.path, each.changes, 1, 4, ours), abs=1e-9)  # type: ignore[arg-type]


def test_the_net_change_counts_not_the_comings_and_goings(minecraft: Domain) -> None:
    row = judge(Try(changes=[(1, "dirt", 5), (2, "dirt", -5), (3, "stick", 1)]), minecraft)
    assert row["progress_inventory"] == pytest.approx(1 / 2)


def test_a_part_that_the_source_cannot_see_is_unknown_not_zero(minecraft: Domain) -> None:
    blind = judge(Try(path=[None] * 20, changes=[(3, "dirt", 1)]), minecraft)
    assert blind["progress_move"] is None
    weights = DEFAULTS.lambda_inventory + DEFAULTS.lambda_goal
    assert blind["progress"] == pytest.approx(DEFAULTS.lambda_inventory * 0.5 / weights)
    poor = judge(Try(path=walk(40, 9)), minecraft, observes=[o for o in OBSERVABLES if o != "inventory"])
    assert poor["progress_inventory"] is None
    nothing = judge(Try(path=[None], gained=None, needed=None), minecraft, observes=["messages"])
    assert (nothing["progress"], nothing["stagnant"]) == (None, None)


def test_without_a_verdict_there_is_no_progress(minecraft: Domain) -> None:
    row = judge(Try(success=None, path=walk(40, 9)), minecraft)
    for name in ("progress", "progress_move", "progress_inventory", "progress_goal", "progress_last"):
        assert row[name] is None
    assert (row["stagnant"], row["stagnant_paper"]) == (None, None)


class TestStagnation:
    """Stagnant: y = 0 and (p low, or p low over the last 20 s, or the loop score high)."""

    def test_a_success_never_is(self, minecraft: Domain) -> None:
        row = judge(Try(success=True, path=stand(500)), minecraft)
        assert (row["stagnant"], row["stagnant_paper"]) == (False, False)

    def test_low_progress(self, minecraft: Domain) -> None:
        row = judge(Try(path=stand(500)), minecraft)
        assert (row["stagnant"], row["stagnant_paper"]) == (True, True)

    def test_low_progress_over_the_last_20_s(self, minecraft: Domain) -> None:
        far = (40.5, 64.0, 0.5)
        row = judge(Try(path=[*walk(300, 40), *[far] * DEFAULTS.recent_ticks]), minecraft)
        assert (row["stagnant"], row["stagnant_paper"]) == (True, False)
        still_moving = judge(Try(path=[*[far] * 500, *walk(300, 40)]), minecraft)
        assert (still_moving["stagnant"], still_moving["stagnant_paper"]) == (False, False)

    def test_the_last_20_s_are_ticks_not_observations(self, minecraft: Domain) -> None:
        trace = scene(Try(path=walk(20, 40)))
        sparse = trace.ticks.with_columns(tick=trace.ticks["tick"] * 100)
        late = trace.__class__.of(trace.frames() | {"ticks": sparse})
        recent = walk(20, 40)[-4:]
        move = sum(statistics.pvariance(axis) for axis in zip(*recent, strict=True))
        p = DEFAULTS.lambda_move * move / (DEFAULTS.epsilon_move + move)
        assert judged(late, minecraft)[0]["progress_last"] == pytest.approx(p, abs=1e-6)

    def test_late_gains_of_the_target_are_progress(self, minecraft: Domain) -> None:
        path = stand(900)
        early = judge(Try(path=path, needed=4, gained=2, changes=[(10, "iron_ore", 2)]), minecraft)
        late = judge(Try(path=path, needed=4, gained=2, changes=[(890, "iron_ore", 2)]), minecraft)
        assert early["progress"] == late["progress"]
        assert (early["stagnant"], late["stagnant"]) == (True, False)
        assert early["progress_last"] == 0
        assert late["progress_last"] == pytest.approx(0.4 * 2 / 3 + 0.2 * 2 / 4)

    def test_running_in_circles(self, minecraft: Domain) -> None:
        wide = [(0.5 + 3 * (n % 2), 64.0, 0.5) for n in range(300)]
        row = judge(Try(path=wide), minecraft)
        assert row["progress"] > DEFAULTS.epsilon_progress
        assert row["loop_score"] == pytest.approx(1 - 2 / 300)
        assert (row["stagnant"], row["stagnant_paper"]) == (True, False)


class TestLoopScore:
    def scores(self, minecraft: Domain, *tries: Try) -> list[float]:
        return [row["loop_score"] for row in judged(scene(*tries), minecraft)]

    def test_the_same_subgoal_again_and_again(self, minecraft: Domain) -> None:
        again = Try(path=walk(20, 9))
        scores = self.scores(minecraft, *[again] * 9)
        assert scores == [pytest.approx(min(n, 7) / 7) for n in range(9)]

    @pytest.mark.parametrize("between", [Try(condition="another", path=walk(20, 9)), Try(success=True)])
    def test_another_subgoal_or_a_success_begins_anew(self, between: Try, minecraft: Domain) -> None:
        again = Try(path=walk(20, 9))
        assert self.scores(minecraft, again, again, between, again)[-1] == 0

    def test_tries_that_the_environment_ended_do_not_count(self, minecraft: Domain) -> None:
        again, broken = Try(path=walk(20, 9)), Try(path=[], end="infrastructure")
        assert self.scores(minecraft, again, broken, broken, again)[-1] == pytest.approx(1 / 7)

    def test_a_subgoal_without_words_or_target_repeats_too(self, minecraft: Domain) -> None:
        vague = Try(kind=None, target=None, condition=None, path=walk(20, 9))
        assert self.scores(minecraft, vague, vague)[-1] == pytest.approx(1 / 7)

    def test_repeats_do_not_reach_into_another_episode(self, minecraft: Domain) -> None:
        one = Try(path=pace(1))
        rows = judged(together(scene(one, episode="one"), scene(one, episode="two")), minecraft)
        assert [row["loop_score"] for row in rows] == [0, 0]
