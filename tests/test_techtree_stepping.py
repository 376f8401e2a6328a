"""A block of ticks is the same as its ticks one by one; a seed and actions give the same bytes; a record of
actions leads back to the same observation."""

import heapq
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rollouts.protocols import Action, Observation
from rollouts.worlds.techtree import TechTree
from rollouts.worlds.techtree.generation import add_creature
from tests.techtree_stage import DOMAIN, give

YAWS = st.sampled_from([None, 0.0, 37.5, 90.0, 180.0, 275.0])
PITCHES = st.sampled_from([None, -30.0, 0.0, 35.0, 60.0, 90.0])
# Not `st.builds`, which would draw a named tuple's other fields too.
MOVES = st.fixed_dictionaries(
    {
        "forward": st.sampled_from([-1, 0, 1, 1]),
        "strafe": st.sampled_from([-1, 0, 0, 1]),
        "jump": st.booleans(),
        "sneak": st.sampled_from([False, False, True]),
        "sprint": st.booleans(),
        "attack": st.booleans(),
        "yaw": YAWS,
        "pitch": PITCHES,
    }
).map(lambda held: Action(**held))
ACTS = st.sampled_from(
    [
        Action(use=True, pitch=-60.0),
        Action(use=True, equip="bread"),
        Action(equip="stone_pickaxe"),
        Action(equip="diamond"),
        Action(craft="oak_planks"),
        Action(craft="stone_pickaxe"),
        Action(craft="no_such_thing"),
        Action(place="crafting_table", pitch=50.0),
        Action(place="furnace", pitch=50.0),
        Action(smelt=("iron_ore", "coal")),
        Action(smelt=("iron_ore", "stick")),
        Action(collect=True),
        Action(close_gui=True),
        Action(forward=1, use=True, yaw=0.0, pitch=12.0),
        Action(forward=1, place="furnace", yaw=0.0, pitch=25.0),
        Action(forward=1, equip="bread", use=True, yaw=0.0, pitch=-20.0),
        Action(),
    ]
)
SCRIPT = st.lists(st.tuples(MOVES | ACTS, st.integers(1, 90)), min_size=1, max_size=12)


def _at_spawn(world: TechTree) -> None:
    body = world.play.body
    for n, kind in enumerate(("cow", "chicken", "sheep")):
        add_creature(world.play, kind, body["x"] + 1.5 * n - 1.5, float(body["y"]), body["z"] + 2.0)


def _falling(world: TechTree) -> None:
    world.play.body["y"] += 9.0
    world.play.body["grounded"] = 0


def _in_lava(world: TechTree) -> None:
    body = world.play.body
    world.play.put((int(body["x"]), int(body["y"]), int(body["z"])), "lava")


def _starving(world: TechTree) -> None:
    world.play.body["food"], world.play.body["saturation"], world.play.body["health"] = 0.0, 0.0, 5.0


def _healing(world: TechTree) -> None:
    world.play.body["food"], world.play.body["saturation"], world.play.body["health"] = 20.0, 6.0, 5.0


def _dying(world: TechTree) -> None:
    _in_lava(world)
    world.play.body["health"] = 5.0


def _under_falling_leaves(world: TechTree) -> None:
    """Leaves all around that fall one after the other, sticks, saplings and all."""
    body = world.play.body
    x, y, z = int(body["x"]), int(body["y"]), int(body["z"])
    for n in range(120):
        cell = (x - 5 + n % 11, y + 2 + n // 60, z - 3 + n // 11 % 6)
        world.play.put(cell, "oak_leaves")
        heapq.heappush(world.play.decays, (2 + 3 * n, cell))


def _before_a_table(world: TechTree) -> None:
    """A table and a villager that come into reach only after some steps."""
    body = world.play.body
    x, y, z = int(body["x"]), int(body["y"]), int(body["z"])
    for k in range(7):
        for up in range(3):
            world.play.put((x, y + up, z + k), "air")
        world.play.put((x, y - 1, z + k), "dirt")
    world.play.put((x, y, z + 7), "crafting_table")
    add_creature(world.play, "villager", x + 0.5, float(y), z + 5.5)


SCENES: list[Callable[[TechTree], None]] = [
    _at_spawn,
    _falling,
    _in_lava,
    _starving,
    _healing,
    _dying,
    _under_falling_leaves,
    _before_a_table,
]


def _set_up(seed: int, scene: Callable[[TechTree], None]) -> TechTree:
    world = TechTree(DOMAIN)
    world.reset(seed)
    scene(world)
    give(world, oak_log=5, bread=3, stone_pickaxe=1, crafting_table=1, furnace=1, iron_ore=2, coal=1, stick=1)
    return world


def _inside(world: TechTree) -> tuple[object, ...]:
    play = world.play
    return (
        play.state.bytes(),
        play.pack.state(),
        play.pending,
        play.kept_open,
        sorted(play.decays),
        play.water,
    )


def _plain(seen: Observation) -> tuple[object, ...]:
    """An observation that can be compared: arrays compare by their bytes."""
    assert seen.window is not None
    window = (seen.window.blocks.tobytes(), seen.window.origin, seen.window.entities)
    return seen._replace(window=None), window


def _columns(rows: list[dict[str, npt.NDArray[np.generic]]]) -> dict[str, list[object]]:
    return {name: np.concatenate([row[name] for row in rows]).tolist() for name in rows[0]}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(script=SCRIPT, seed=st.integers(0, 5), scene=st.sampled_from(SCENES))
def test_a_block_of_ticks_equals_its_ticks_one_by_one(
    script: list[tuple[Action, int]], seed: int, scene: Callable[[TechTree], None]
) -> None:
    by_block, by_tick = _set_up(seed, scene), _set_up(seed, scene)
    for action, ticks in script:
        whole = by_block.step(action, ticks)
        singles = [by_tick.step(action, 1) for _ in range(len(whole.ticks["x"]))]
        assert _columns([dict(whole.ticks)]) == _columns([dict(one.ticks) for one in singles])
        assert whole.events == tuple(event for one in singles for event in one.events)
        assert whole.changes == tuple(change for one in singles for change in one.changes)
        assert _plain(whole.observation) == _plain(singles[-1].observation)
        assert _inside(by_block) == _inside(by_tick)
    assert by_block.truths(0) == by_tick.truths(0)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(script=SCRIPT, seed=st.integers(0, 2**62 - 1))
def test_recorded_actions_lead_back_to_the_same_observation(
    script: list[tuple[Action, int]], seed: int
) -> None:
    world = TechTree(DOMAIN)
    last = world.reset(seed)
    record = []
    for action, ticks in script:
        done = world.step(action, ticks)
        record.append((action, len(done.ticks["x"])))
        last = done.observation
    before = _inside(world)
    assert _plain(world.replay(record)) == _plain(last)
    assert _inside(world) == before


def test_the_same_seed_gives_the_same_world_and_another_seed_another() -> None:
    one, two, three = (_set_up(seed, _at_spawn) for seed in (4, 4, 5))
    assert _inside(one) == _inside(two)
    assert one.play.blocks.tobytes() != three.play.blocks.tobytes()


@pytest.mark.parametrize("ticks", [0, -3])
def test_a_step_needs_a_tick(ticks: int) -> None:
    world = TechTree(DOMAIN)
    world.reset(0)
    with pytest.raises(ValueError, match="ticks"):
        world.step(Action(), ticks)


def test_nothing_works_before_the_first_reset() -> None:
    with pytest.raises(RuntimeError, match="reset"):
        TechTree(DOMAIN).step(Action())


def test_every_tick_has_its_row() -> None:
    world = TechTree(DOMAIN)
    world.reset(3)
    done = world.step(Action(), 3000)
    assert {len(column) for column in done.ticks.values()} == {done.observation.tick}
    assert set(done.ticks["action"]) == {"noop"}
    assert done.observation.tick == 3000
