"""What ticks show of movement, against a reference in plain Python."""

import math
import statistics
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollouts.monitor import DEFAULTS
from rollouts.monitor.motion import cell_loops
from rollouts.monitor.motion import motion as motion_of
from rollouts.monitor.runs import attempt_starts, whole_attempts
from tests.monitor_scenes import Point, Row, Try, pace, scene, stand, walk
from warehouse.records import arrange, from_rows

MOVES = {"forward", "back", "left", "right"}
WORDS = ("noop", "forward", "attack+forward", "forwards", "left+sprint", "jump", None)


def motion(ticks: pl.DataFrame) -> pl.DataFrame:
    return motion_of(ticks, attempt_starts(ticks), DEFAULTS)


def ticks_of(*paths: Sequence[Point | None], **columns: Any) -> pl.DataFrame:
    return scene(*(Try(path=path, ticks=columns) for path in paths)).ticks


def reference(rows: Sequence[Row]) -> Row:
    """`motion` of one attempt, said plainly."""
    last = max(row["tick"] for row in rows)
    places = [row for row in rows if row["x"] is not None]
    recent = [row for row in places if row["tick"] > last - DEFAULTS.recent_ticks]
    words = [row["action"] for row in rows if row["action"] is not None]
    end = [row for row in rows if row["tick"] > last - DEFAULTS.stuck_ticks]
    late = [row for row in end if row["x"] is not None]
    last_words = [row["action"] for row in end if row["action"] is not None]
    cells = [tuple(math.floor(row[axis]) for axis in "xyz") for row in places]
    entered = [cell for cell, _ in groupby(cells)]
    return {
        "variance": variance(places),
        "variance_last": variance(recent),
        "extent": max((max(p[a] for p in places) - min(p[a] for p in places)) for a in "xyz")
        if places
        else None,
        "extent_last": max((max(p[a] for p in late) - min(p[a] for p in late)) for a in "xyz")
        if late
        else None,
        "n_ticks": len(rows),
        "first_tick": min(row["tick"] for row in rows),
        "last_tick": last,
        "pressing": sum(bool(MOVES & set(word.split("+"))) for word in words) / len(words) if words else None,
        "pressing_last": sum(bool(MOVES & set(word.split("+"))) for word in last_words) / len(last_words)
        if last_words
        else None,
        "acted": any(word != "noop" for word in words),
        "attacked": any("attack" in word.split("+") for word in words),
        "used": any("use" in word.split("+") for word in words),
        "cell_loop": 1 - len(set(entered)) / len(entered) if entered else None,
    }


def variance(places: Sequence[Row]) -> float | None:
    return sum(statistics.pvariance([p[a] for p in places]) for a in "xyz") if places else None


@st.composite
def tick_rows(draw: st.DrawFn) -> list[list[Row]]:
    """A few attempts' ticks: gaps in time, places unknown here and there, steps of all sizes."""
    attempts = []
    for episode in range(draw(st.integers(1, 3))):
        tick = draw(st.integers(0, 30))
        for attempt in range(draw(st.integers(1, 3))):
            rows = []
            far = draw(st.sampled_from([0.0, 29_000.25, -3.5]))
            for _ in range(draw(st.integers(1, 12))):
                known = draw(st.integers(0, 9)) > 0
                offset = st.integers(-40, 40).map(lambda eighths: eighths / 8)
                place = {axis: far + draw(offset) for axis in "xyz"} if known else dict.fromkeys("xyz")
                rows.append(
                    {
                        "episode_id": f"{episode:020x}",
                        "attempt": attempt,
                        "tick": tick,
                        "action": draw(st.sampled_from(WORDS)),
                        **place,
                    }
                )
                tick += draw(st.sampled_from([1, 1, 1, 2, 150]))
            attempts.append(rows)
    return attempts


@given(tick_rows())
@settings(max_examples=60, deadline=None)
def test_motion_is_what_the_reference_says(attempts: list[list[Row]]) -> None:
    frame = from_rows("ticks", [row for rows in attempts for row in rows])
    found = motion(frame).to_dicts()
    assert len(found) == len(attempts)
    for row, rows in zip(found, attempts, strict=True):
        assert (row["episode_id"], row["attempt"]) == (rows[0]["episode_id"], rows[0]["attempt"])
        for name, value in reference(rows).items():
            # float32 coordinates are exact here, so the rest is float64 arithmetic
            assert row[name] == (pytest.approx(value, abs=1e-9, rel=1e-9) if value else value), name


@given(tick_rows(), st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_batches_of_any_size_come_out_as_whole_attempts(attempts: list[list[Row]], size: int) -> None:
    frame = from_rows("ticks", [row for rows in attempts for row in rows])
    batches = [frame.slice(start, size) for start in range(0, frame.height, size)]
    pieces = list(whole_attempts(batches, enough=size))
    assert arrange("ticks", pl.concat(pieces)).equals(frame)
    held = [set(piece.select("episode_id", "attempt").iter_rows()) for piece in pieces]
    assert sum(len(keys) for keys in held) == len(set().union(*held)) == len(attempts)
    assert all(attempt_starts(piece).sum() == len(keys) for piece, keys in zip(pieces, held, strict=True))


def test_episodes_that_meet_without_a_step_back_in_time_are_told_apart() -> None:
    rows = [{"episode_id": f"{n // 3:020x}", "attempt": 0, "tick": n} for n in range(6)]
    assert attempt_starts(from_rows("ticks", rows)).to_list() == [True, False, False, True, False, False]


def test_no_ticks_no_rows() -> None:
    assert motion(scene().ticks).is_empty()


def test_variance_far_from_the_origin_keeps_small_movements() -> None:
    path = [(29_000_000.0 + 2 * (tick % 2), 64.0, 0.0) for tick in range(100)]
    assert motion(ticks_of(path))["variance"].item() == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(
    ("path", "loop"),
    [
        (stand(50), 0.0),
        (walk(50, 20), 0.0),
        ([*walk(50, 9), *reversed(walk(50, 9))], 1 - 10 / 19),
        (pace(100), 1 - 2 / 100),
        ([None, *stand(3), None], 0.0),
    ],
)
def test_loops_are_cells_entered_again(path: Sequence[Point | None], loop: float) -> None:
    ticks = ticks_of(path)
    assert cell_loops(ticks, attempt_starts(ticks))["cell_loop"].to_list() == [pytest.approx(loop)]


def test_an_attempt_without_a_position_has_no_loop_score() -> None:
    assert motion(ticks_of([None, None]))["cell_loop"].to_list() == [None]


@pytest.mark.parametrize(("action", "share", "acted"), [
    ("noop", 0.0, False),
    ("forward+jump", 1.0, True),
    ("jump+left", 1.0, True),
    ("leftover", 0.0, True),
    (None, None, False),
    (["noop", None, "back", "back"], 2 / 3, True),
])  # fmt: skip
def test_pressing_is_the_share_of_ticks_with_a_movement_key(
    action: Any, share: float | None, acted: bool
) -> None:
    row = motion(ticks_of(stand(4), action=action)).row(0, named=True)
    assert (row["pressing"], bool(row["acted"])) == (share, acted)
