"""Outcomes by distinct episode, and what they do to confidence."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.good_cases import DOMAIN, station_remedy
from warehouse.confidence import Outcomes, confidence, interval, outcomes_by_entry
from warehouse.curator import curate
from warehouse.entries import Usage


def use(entry: str, episode: str, feedback: str, won: bool | None) -> Usage:
    return Usage(entry_id=entry, feedback_id=feedback, episode_id=episode, won=won)


@pytest.mark.parametrize(
    ("support", "wins", "losses", "mean"), [(0, 0, 0, 0.5), (1, 0, 0, 2 / 3), (2, 1, 2, 4 / 7)]
)
def test_confidence_is_the_mean_of_the_posterior(support: int, wins: int, losses: int, mean: float) -> None:
    assert confidence(support, wins, losses) == pytest.approx(mean, abs=1e-6)


@settings(deadline=None)
@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 20))
def test_wins_raise_and_losses_lower_it(support: int, wins: int, losses: int) -> None:
    now = confidence(support, wins, losses)
    assert confidence(support, wins + 1, losses) > now > confidence(support, wins, losses + 1)


def test_an_episode_counts_once() -> None:
    log = [
        use("k", "e1", "f1", True),
        use("k", "e1", "f2", True),
        use("k", "e1", "f3", False),
        use("k", "e2", "f4", True),
        use("k", "e2", "f5", False),
        use("k", "e3", "f6", None),
        use("other", "e3", "f6", True),
    ]
    assert outcomes_by_entry(log, {}) == {"k": Outcomes(2, 1), "other": Outcomes(1, 1)}
    assert outcomes_by_entry(reversed(log), {}) == outcomes_by_entry(log, {})


def test_merged_entries_share_their_episodes() -> None:
    log = [use("a", "e1", "f1", True), use("b", "e1", "f1", True), use("b", "e2", "f2", False)]
    assert outcomes_by_entry(log, {"a": "m", "b": "m"}) == {"m": Outcomes(2, 1)}


def test_the_interval_holds_the_mean_and_narrows() -> None:
    widths = []
    for rows in (1, 4, 16):
        case = station_remedy("oak", "axe", rows)
        (entry,) = curate([case.candidate], case.facts, {}, [], DOMAIN).store.values()
        low, high = interval(entry)
        assert 0 < low < entry.confidence < high < 1
        widths.append(high - low)
    assert widths == sorted(widths, reverse=True)
