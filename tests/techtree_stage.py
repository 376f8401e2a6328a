"""A stage for the tests of `techtree`: flat worlds, things put where they are needed, actions held."""

from rollouts.protocols import Action, Advance, Truth
from rollouts.worlds.techtree import Settings, TechTree
from rollouts.worlds.techtree.generation import add_creature
from rollouts.worlds.techtree.play import Cell
from warehouse.domains import load_domain

DOMAIN = load_domain("minecraft")
GROUND = 64
"""y of the feet on the flat world; the body starts in the middle of the column (64, 64)"""
DOWN = 90.0


def flat(*, messages: bool = False) -> TechTree:
    """A flat world of grass with nothing on it, just reset."""
    world = TechTree(DOMAIN, Settings(messages=messages, ground="flat"))
    world.reset(0)
    return world


def give(world: TechTree, **items: int) -> None:
    """Puts items into the pack, without a trace."""
    for item, count in items.items():
        world.play.pack.add(item, count)
    world.play.pack.flush()


def wall(world: TechTree, name: str, *cells: Cell) -> None:
    """Puts blocks down."""
    for cell in cells:
        world.play.put(cell, name)


def creature(world: TechTree, kind: str, x: float, z: float, *, still: bool = True) -> int:
    """A creature on the ground, asleep unless it may wander; its row."""
    add_creature(world.play, kind, x, float(GROUND), z)
    row = int(world.play.body["n_mobs"]) - 1
    if still:
        world.play.state.mobs[row]["left"] = 10**9
    return row


def hold(world: TechTree, action: Action, ticks: int) -> list[Advance]:
    """Holds an action for exactly so many ticks, over whatever is noticed meanwhile."""
    parts = []
    while ticks > 0:
        parts.append(world.step(action, ticks))
        ticks -= len(parts[-1].ticks["x"])
    return parts


def operate(world: TechTree, action: Action) -> list[Advance]:
    """Begins an operation on a screen and waits for its end."""
    parts = [world.step(action)]
    while world.play.pending is not None:
        parts.append(world.step(Action(), 20))
    return parts


def names(parts: list[Advance]) -> list[str]:
    """The names of all events."""
    return [event.name or "" for part in parts for event in part.events]


def failures(world: TechTree) -> list[tuple[str, str]]:
    """The inner truths so far, without their ticks."""
    return [(truth.failure_type, truth.detail) for truth in all_truths(world)]


def all_truths(world: TechTree) -> list[Truth]:
    """The inner truths so far."""
    return list(world.truths(0))
