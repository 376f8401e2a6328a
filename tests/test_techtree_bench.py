"""The bench's rows: what counts as reached. Nothing is timed here."""

import pytest

from bench.techtree import Measured, report


@pytest.mark.parametrize(
    ("figure", "unit", "goal", "met"),
    [
        (120_000.0, "ticks/s", 100_000.0, True),
        (90_000.0, "ticks/s", 100_000.0, False),
        (12.0, "ms", 50.0, True),
        (51.0, "ms", 50.0, False),
        (1.0, "ticks/s", None, True),
    ],
)
def test_more_ticks_and_fewer_milliseconds_are_better(
    figure: float, unit: str, goal: float | None, met: bool
) -> None:
    row = Measured("what", figure, unit, goal)
    assert row.met is met
    assert report([row]).row_count == 1
