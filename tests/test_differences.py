"""The paired difference: its formula, and its interval against independent ways to get it."""

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap

from rollouts.differences import BOTH, PLANNERS, TASKS, Difference, by_planner, difference

Row = tuple[str, int, bool, bool, bool]
ROW = st.tuples(st.sampled_from("abcd"), st.integers(0, 2), st.booleans(), st.booleans(), st.booleans())


def pairs_from(rows: list[Row], group: str | None = None) -> pl.DataFrame:
    """(task, planner seed, success, success of the empty store, broken) as pairs."""
    names = ["task_id", "planner_seed", "success", "success_empty", "broken"]
    types = [pl.String, pl.Int64, pl.Boolean, pl.Boolean, pl.Boolean]
    frame = pl.DataFrame(rows, schema=dict(zip(names, types, strict=True)), orient="row")
    return frame if group is None else frame.with_columns(group=pl.lit(group))


def won(tasks: dict[tuple[str, int], tuple[int, int]], pairs: int) -> pl.DataFrame:
    """(task, planner seed) -> how many of so many pairs the frozen and the empty arm won."""
    return pairs_from(
        [
            (task, seed, number < frozen, number < empty, False)
            for (task, seed), (frozen, empty) in tasks.items()
            for number in range(pairs)
        ]
    )


@settings(deadline=None, max_examples=50)
@given(st.lists(ROW, max_size=30), st.randoms(use_true_random=False))
def test_the_share_is_that_of_whole_pairs_and_the_interval_holds_what_it_must(
    rows: list[Row], random: np.random.Generator
) -> None:
    whole = [row for row in rows if not row[4]]
    found = difference(pairs_from(rows), replicates=200)
    if not whole:
        assert found == Difference(None)
        return
    gain = sum(with_it for _, _, with_it, _, _ in whole) - sum(without for _, _, _, without, _ in whole)
    assert found.share == pytest.approx(gain / len(whole))
    several = (len({row[0] for row in whole}) > 1, len({row[1] for row in whole}) > 1)
    names = {(True, True): BOTH, (True, False): TASKS, (False, True): PLANNERS, (False, False): ""}
    assert found.drawn == names[several]
    assert (found.low is None) is (found.high is None) is (not any(several))
    if found.low is not None and found.high is not None:
        assert -1 <= found.low <= found.high <= 1
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[arg-type]
    assert difference(pairs_from(shuffled), replicates=200) == found
    swapped = difference(pairs_from([(t, p, b, a, x) for t, p, a, b, x in rows]), replicates=200)
    if found.low is not None and found.high is not None:
        assert (swapped.low, swapped.high) == pytest.approx((-found.high, -found.low))


def test_with_one_planner_seed_it_is_the_usual_bootstrap_over_tasks() -> None:
    gains = [4, 3, 0, -1, 2, 1, 0, 4, -2, 1]
    table = {(f"t{at}", 0): (max(gain, 0), max(-gain, 0)) for at, gain in enumerate(gains)}
    found = difference(won(table, 4))
    usual = bootstrap(
        (np.array(gains) / 4,), np.mean, n_resamples=20_000, method="percentile", rng=1
    ).confidence_interval
    assert found.drawn == TASKS
    assert (found.low, found.high) == pytest.approx((usual.low, usual.high), abs=0.02)


def test_the_two_way_interval_is_that_of_all_draws() -> None:
    gains = np.array([[2, 0, 1], [0, 0, 2]])
    table = {(f"t{t}", s): (int(gains[t, s]), 0) for t, s in product(range(2), range(3))}
    every = [
        np.mean([gains[t, s] / 2 for t in tasks for s in seeds])
        for tasks in product(range(2), repeat=2)
        for seeds in product(range(3), repeat=3)
    ]
    found = difference(won(table, 2), replicates=40_000)
    assert found.drawn == BOTH
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(every, [0.025, 0.975])), abs=0.04)


def test_planner_seeds_that_disagree_widen_it() -> None:
    """Five seeds, of which the first alone wins everything: drawing pairs or tasks would hide that."""
    table = {(f"t{t}", s): (3 if s == 0 else 0, 0) for t in range(8) for s in range(5)}
    found = difference(won(table, 3))
    assert found.share == pytest.approx(0.2)
    assert (found.low, found.high) == (0.0, pytest.approx(0.6))


def test_groups_are_weighted_by_their_tasks() -> None:
    one = won({("a", 0): (4, 0), ("b", 0): (4, 0)}, 4).with_columns(group=pl.lit("one"))
    other = won({("c", 0): (0, 1)}, 4).with_columns(group=pl.lit("other"))
    both = pl.concat([one, other])
    assert difference(both).share == pytest.approx((2 * 1 + 1 * -0.25) / 3)
    assert difference(both, {"one": 2, "other": 6}).share == pytest.approx((2 * 1 + 6 * -0.25) / 8)


def test_each_planner_seed_stands_alone() -> None:
    rows = by_planner(won({("a", 3): (2, 0), ("b", 3): (0, 0), ("a", 1): (0, 1)}, 2))
    assert rows.select("planner_seed", "pairs", "difference").rows() == [(1, 2, -0.5), (3, 4, 0.5)]
    assert rows["low"].to_list() == [None, 0.0]
    assert by_planner(pairs_from([])).is_empty()


def test_it_says_what_was_drawn() -> None:
    assert str(Difference(None)) == "no pair"
    assert "one task and one planner seed" in str(difference(won({("a", 0): (1, 0)}, 2)))
    assert "over tasks" in str(difference(won({("a", 0): (1, 0), ("b", 0): (1, 0)}, 2)))
