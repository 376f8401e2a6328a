"""What a window shows against its definition, cell by cell, at the world's edges too."""

import math
from typing import Final

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollouts.protocols import Action
from rollouts.worlds.techtree import TechTree
from rollouts.worlds.techtree.state import OPAQUE
from rollouts.worlds.techtree.view_kernel import fill_around, fill_window, nearest_in_view
from tests.techtree_stage import DOMAIN

AIR, STONE, GLASS, WALL, UNKNOWN = range(5)
TRAITS: Final = np.array([0, OPAQUE, 0, OPAQUE, OPAQUE], np.uint8)
SIZE: Final = (5, 4, 6)
SIDE, TALL = 2, 1
WINDOW: Final = (2 * SIDE + 1, 2 * TALL + 1, 2 * SIDE + 1)
Blocks = npt.NDArray[np.uint16]

worlds = st.lists(
    st.sampled_from([AIR, STONE, STONE, STONE, GLASS]),
    min_size=math.prod(SIZE),
    max_size=math.prod(SIZE),
).map(lambda numbers: np.array(numbers, np.uint16).reshape(SIZE))
corners = st.tuples(*(st.integers(-size - 2, size + 2) for size in SIZE))


def shown(blocks: Blocks, x: int, y: int, z: int) -> int:
    """What a window shows of a cell."""
    nx, ny, nz = SIZE
    if not (0 <= x < nx and 0 <= z < nz):
        return WALL
    if not 0 <= y < ny:
        return UNKNOWN if y < 0 else AIR
    beside = [(x - 1, y, z), (x + 1, y, z), (x, y - 1, z), (x, y, z - 1), (x, y, z + 1)]
    inside = [at for at in beside if 0 <= at[0] < nx and at[1] >= 0 and 0 <= at[2] < nz]
    near = [(x, y, z), *inside, *([(x, y + 1, z)] if y + 1 < ny else [])]
    lit = y + 1 == ny or any(not TRAITS[blocks[at]] & OPAQUE for at in near)
    return int(blocks[x, y, z]) if lit else UNKNOWN


def window(blocks: Blocks, corner: tuple[int, ...]) -> Blocks:
    out = np.full(WINDOW, 99, np.uint16)
    fill_window(blocks, TRAITS, *corner, AIR, WALL, UNKNOWN, out)
    return out


@settings(max_examples=150, deadline=None)
@given(worlds, corners)
def test_a_window_shows_every_cell_as_it_is_defined(blocks: Blocks, corner: tuple[int, int, int]) -> None:
    told = [shown(blocks, *(np.array(corner) + at).tolist()) for at in np.ndindex(WINDOW)]
    assert window(blocks, corner).reshape(-1).tolist() == told


@settings(max_examples=150, deadline=None)
@given(
    worlds, corners, st.tuples(*(st.integers(0, n - 1) for n in SIZE)), st.sampled_from([AIR, STONE, GLASS])
)
def test_around_a_changed_block_a_window_is_mended_to_a_new_one(
    blocks: Blocks, corner: tuple[int, int, int], cell: tuple[int, int, int], now: int
) -> None:
    mended = window(blocks, corner)
    blocks[cell] = now
    fill_around(blocks, TRAITS, *corner, *cell, UNKNOWN, mended)
    assert mended.tolist() == window(blocks, corner).tolist()


changes = st.lists(
    st.tuples(
        st.integers(-12, 12), st.integers(-6, 4), st.integers(-12, 12), st.sampled_from(["air", "stone"])
    ),
    max_size=7,
)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(changes, st.integers(0, 8)), min_size=1, max_size=5))
def test_a_world_shows_its_blocks_as_they_are_after_every_step(
    steps: list[tuple[list[tuple[int, int, int, str]], int]],
) -> None:
    world = TechTree(DOMAIN)
    seen = world.reset(3)
    play, lookup = world.play, world.play.catalogue
    for put, ticks in steps:
        for x, y, z, name in put:
            cell = (math.floor(seen.x) + x, math.floor(seen.y) + y, math.floor(seen.z) + z)
            if play.inside(cell):
                play.put(cell, name)
        # Without a tick of walking the corner of the window stays, and the window is mended.
        seen = world.step(Action(forward=min(1, ticks), yaw=40.0), max(1, ticks)).observation
        assert seen.window is not None
        anew = np.empty_like(seen.window.blocks)
        numbers = lookup.air, lookup.wall, lookup.unknown
        fill_window(play.blocks, lookup.traits, *seen.window.origin, *numbers, anew)
        assert seen.window.blocks.tolist() == anew.tolist()


def test_blocks_that_change_together_are_shown() -> None:
    """As a stage builds: not one by one, so that no window can be mended."""
    world = TechTree(DOMAIN)
    seen = world.reset(3)
    play, lookup = world.play, world.play.catalogue
    x, y, z = (math.floor(at) for at in (seen.x, seen.y, seen.z))
    play.blocks[x + 2 : x + 4, y : y + 3, z : z + 3] = lookup.block["glass"]
    play.version += 1
    seen = world.step(Action()).observation
    assert seen.window is not None
    at = tuple(np.array((x + 2, y + 1, z + 1)) - seen.window.origin)
    assert seen.window.palette[seen.window.blocks[at]] == "glass"


def test_a_window_that_is_too_deep_is_refused() -> None:
    out = np.zeros((1, 1, 63), np.uint16)
    with pytest.raises(ValueError, match="62"):
        fill_window(np.zeros(SIZE, np.uint16), TRAITS, 0, 0, 0, AIR, WALL, UNKNOWN, out)


places = st.tuples(*(st.floats(-2.0, size + 2.0) for size in SIZE))


@settings(max_examples=80, deadline=None)
@given(worlds, st.lists(places, max_size=4), st.sets(st.sampled_from([AIR, STONE, GLASS, WALL])))
def test_the_nearest_on_a_way_is_that_of_its_windows(
    blocks: Blocks, way: list[tuple[float, ...]], names: set[int]
) -> None:
    eye, best, last = 1.62, math.inf, None
    for place in way:
        corner = tuple(math.floor(at) - by for at, by in zip(place, (SIDE, TALL, SIDE), strict=True))
        if corner == last:
            continue
        last = corner
        for at in np.argwhere(np.isin(window(blocks, corner), sorted(names))).tolist():
            middle = [start + step + 0.5 for start, step in zip(corner, at, strict=True)]
            best = min(best, math.dist(middle, (place[0], place[1] + eye, place[2])))
    wanted = np.array([number in names for number in range(len(TRAITS))])
    points = np.array(way).reshape(-1, 3)
    found = nearest_in_view(blocks, TRAITS, points, eye, SIDE, TALL, AIR, WALL, UNKNOWN, wanted)
    assert found == pytest.approx(best, rel=1e-12)
