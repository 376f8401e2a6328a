"""The compiled loops against the definitions that they are made from, over windows drawn at random."""

import math
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st

from rollouts.executors.geometry import Cell, Point, cells_between
from rollouts.window_kernel import (
    LEVEL,
    RISKY,
    SOLID,
    find_cells,
    first_solid,
    ground,
    level_run,
    nearest_cells,
    nearest_places,
)

AIR, STONE, WATER = range(3)
TRAITS = np.array([0, SOLID, RISKY], np.uint8)
ORIGIN = (-3, 60, 5)
SHAPE = (7, 5, 6)

blocks = st.lists(
    st.sampled_from([AIR, AIR, AIR, STONE, WATER]), min_size=math.prod(SHAPE), max_size=math.prod(SHAPE)
).map(lambda numbers: np.array(numbers, np.uint16).reshape(SHAPE))
inside = st.tuples(
    *(st.floats(start, start + size, exclude_max=True) for start, size in zip(ORIGIN, SHAPE, strict=True))
).map(lambda at: Point(*at))


def traits(window: npt.NDArray[np.uint16], cell: Cell) -> int:
    at = tuple(part - start for part, start in zip(cell, ORIGIN, strict=True))
    if not all(0 <= part < size for part, size in zip(at, SHAPE, strict=True)):
        return SOLID
    return int(TRAITS[window[at]])


def cells(window: npt.NDArray[np.uint16]) -> Iterator[tuple[Cell, int]]:
    for at in np.ndindex(*SHAPE):
        yield Cell(*(part + start for part, start in zip(at, ORIGIN, strict=True))), int(window[at])


@settings(max_examples=40, deadline=None)
@given(blocks, inside, inside)
def test_the_first_solid_cell_is_that_of_the_line(
    window: npt.NDArray[np.uint16], eye: Point, end: Point
) -> None:
    expected = next((cell for cell in cells_between(eye, end) if traits(window, cell) & SOLID), None)
    found, *cell = first_solid(window, TRAITS, *ORIGIN, *eye, *end)
    assert (Cell(*cell) if found else None) == expected


def nearest(window: npt.NDArray[np.uint16], eye: Point, entries: Iterable[int]) -> dict[int, float]:
    gaps = {
        entry: [math.dist(eye, cell.centre()) for cell, block in cells(window) if block == entry]
        for entry in entries
    }
    return {entry: min(each) for entry, each in gaps.items() if each}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(blocks, inside), min_size=1, max_size=3))
def test_the_nearest_cell_of_each_known_entry_and_whether_the_outline_is_the_same(
    looks: list[tuple[npt.NDArray[np.uint16], Point]],
) -> None:
    reach = 3.0
    known = np.array([False, True, True])
    squares, near = np.full(len(TRAITS), np.inf), np.empty(len(TRAITS))
    found = np.empty(len(TRAITS), np.int64)
    count, before = 0, dict[int, bool]()
    for window, eye in looks:
        corner = (start + 0.5 - at for start, at in zip(ORIGIN, eye, strict=True))
        count, same = nearest_cells(window, *corner, reach, known, squares, count, found, near)
        wanted = nearest(window, eye, (STONE, WATER))
        told = dict(zip(found[:count].tolist(), near[:count].tolist(), strict=True))
        assert list(told) == list(wanted)
        assert all(math.isclose(told[entry], wanted[entry], rel_tol=1e-12) for entry in wanted)
        outline = {entry: gap <= reach for entry, gap in told.items()}
        assert same is (outline == before)
        before = outline


@settings(max_examples=30, deadline=None)
@given(blocks, st.sets(st.sampled_from([AIR, STONE, WATER])), st.sampled_from([0, 5, 500]))
def test_the_cells_that_hold_what_is_wanted_as_many_as_there_is_room_for(
    window: npt.NDArray[np.uint16], wanted: set[int], room: int
) -> None:
    members = np.array([entry in wanted for entry in range(len(TRAITS))])
    out = np.empty((room, 3), np.int64)
    places = np.argwhere(members[window])
    assert find_cells(window, members, out) == len(places)
    assert out[: len(places)].tolist() == places[:room].tolist()


@settings(max_examples=30, deadline=None)
@given(blocks)
def test_the_place_nearest_to_the_middle_is_the_last_of_equally_near_ones(
    window: npt.NDArray[np.uint16],
) -> None:
    places = np.empty((len(TRAITS), 3), np.int64)
    nearest_places(window, np.empty(len(TRAITS)), places)
    middle = [(size - 1) / 2 for size in SHAPE]
    for entry in (AIR, STONE, WATER):
        own = np.argwhere(window == entry).tolist()
        best = min(own, key=lambda at: (math.dist(at, middle), [-part for part in at]), default=[-1] * 3)
        assert places[entry].tolist() == best


@settings(max_examples=40, deadline=None)
@given(blocks, inside, st.floats(0.0, 6.3), st.floats(0.3, 6.0))
def test_a_level_run_ends_before_the_first_step_that_is_not_level(
    window: npt.NDArray[np.uint16], place: Point, angle: float, limit: float
) -> None:
    feet, ux, uz, look = place.cell(), -math.sin(angle), math.cos(angle), 0.7
    length = level_run(window, TRAITS, *ORIGIN, *feet, *place, ux, uz, look, limit, 0.3, 3)
    steps = round(length / look)
    assert math.isclose(length, steps * look)

    def is_level(at: float) -> bool:
        x, z = place.x + ux * at, place.z + uz * at
        met = ground(window, TRAITS, *ORIGIN, *feet, x + ux * look, z + uz * look, 0.3, 3)
        return met == LEVEL and traits(window, Point(x, place.y - 1.0, z).cell()) == SOLID

    assert all(is_level(step * look) for step in range(1, steps))
    assert length >= limit or not is_level(length)


def test_a_window_that_may_not_be_written_to_is_read_by_the_same_code() -> None:
    window = np.full(SHAPE, AIR, np.uint16)
    window[0, 0, 0] = STONE
    out = np.empty((4, 3), np.int64)
    members = np.array([False, True, False])
    counts = [find_cells(window, members, out)]
    window.flags.writeable = members.flags.writeable = False
    counts.append(find_cells(window, members, out))
    assert counts == [1, 1]
    assert len(find_cells.signatures) == 1  # type: ignore[attr-defined]  # numba's
