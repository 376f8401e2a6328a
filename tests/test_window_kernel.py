"""The compiled loops against the definitions that they are made from, over windows drawn at random."""

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st

from rollouts.executors.geometry import Cell, Point, cells_between
from rollouts.window_kernel import LEVEL, RISKY, SOLID, first_solid, ground, level_run, nearest_squares

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


@settings(max_examples=30, deadline=None)
@given(blocks, inside)
def test_the_nearest_cell_of_each_entry(window: npt.NDArray[np.uint16], eye: Point) -> None:
    squares = np.empty(len(TRAITS))
    nearest_squares(window, *(start + 0.5 - at for start, at in zip(ORIGIN, eye, strict=True)), squares)
    for entry in (AIR, STONE, WATER):
        distances = [math.dist(eye, cell.centre()) for cell, block in cells(window) if block == entry]
        assert math.isclose(math.sqrt(squares[entry]), min(distances, default=math.inf), rel_tol=1e-12)


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
    squares, again = np.empty(3), np.empty(3)
    nearest_squares(window, 0.5, 0.5, 0.5, squares)
    window.flags.writeable = False
    nearest_squares(window, 0.5, 0.5, 0.5, again)
    assert squares.tolist() == again.tolist() == [0.75 + 2.0, 0.75, math.inf]
