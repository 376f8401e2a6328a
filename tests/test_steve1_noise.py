"""How STEVE-1's actions are drawn."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rollouts.worlds.client.steve1.noise import drawn

EVEN = {"buttons": np.zeros(8641), "camera": np.zeros(121)}


@given(st.integers(0, 2**63), st.integers(0, 10**6))
def test_the_same_tick_draws_the_same_whatever_else_is_drawn(seed: int, step: int) -> None:
    assert drawn(EVEN, seed, step) == drawn(dict(reversed(EVEN.items())), seed, step)


def test_logits_are_drawn_by_their_softmax() -> None:
    odds = np.array([0.6, 0.3, 0.1])
    counts = np.bincount([drawn({"a": np.log(odds)}, 5, step)["a"] for step in range(20_000)], minlength=3)
    assert np.allclose(counts / 20_000, odds, atol=0.02)


def test_one_tick_is_drawn_independently_of_the_one_before() -> None:
    # Two of many, as likely and four apart: by noise that only moves on they would take turns.
    logits = np.full(64, -50.0)
    logits[[8, 12]] = 0.0
    first = np.array([drawn({"a": logits}, 9, step)["a"] == 8 for step in range(20_000)], float)
    correlation = np.corrcoef(first[:-1], first[1:])[0, 1]
    assert abs(correlation) < 0.03
    assert abs(first.mean() - 0.5) < 0.02


def test_episodes_are_drawn_apart() -> None:
    ticks = range(50)
    assert [drawn(EVEN, 1, step) for step in ticks] != [drawn(EVEN, 2, step) for step in ticks]
