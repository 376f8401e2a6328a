"""What is put into a world to stand in an attempt's way: walls, pits, moats, full packs, cold furnaces. Each
stage is a function of a world that was just made; places are blocks from where the body stands.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import floor
from typing import Final

from rollouts.protocols import Observation
from rollouts.worlds.techtree.furnaces import furnace_at
from rollouts.worlds.techtree.generation import add_creature
from rollouts.worlds.techtree.play import Cell, Play
from rollouts.worlds.techtree.settings import Settings
from rollouts.worlds.techtree.view import observe
from rollouts.worlds.techtree.world import TechTree
from warehouse.domains import Domain

SLOTS: Final = 36
Stage = Callable[[Play], None]


class StagedWorld(TechTree):
    """techtree, with a stage set and things in the pack at every reset."""

    def __init__(self, domain: Domain, settings: Settings, pack: Mapping[str, int], stage: Stage) -> None:
        super().__init__(domain, settings)
        self._pack = pack
        self._stage = stage

    def reset(self, seed: int) -> Observation:
        """A world from the seed in which the stage is set; nothing of that is seen to happen."""
        super().reset(seed)
        for item, count in self._pack.items():
            self.play.pack.add(item, count)
        self._stage(self.play)
        self.play.pack.flush()
        self.play.trail.clear()
        seen = observe(self.play)
        self.play.trail.append((seen.tick, seen.x, seen.y, seen.z))
        return seen


def feet(play: Play) -> Cell:
    """The cell that the body stands in."""
    body = play.body
    return floor(float(body["x"])), floor(float(body["y"])), floor(float(body["z"]))


def both(*stages: Stage) -> Stage:
    """One stage after the other."""

    def set_all(play: Play) -> None:
        for stage in stages:
            stage(play)

    return set_all


def block(name: str, dx: int, dy: int, dz: int) -> Stage:
    """A block at a place as seen from the feet."""

    def put(play: Play) -> None:
        x, y, z = feet(play)
        play.put((x + dx, y + dy, z + dz), name)

    return put


def full_pack(*spared: str) -> Stage:
    """Every free slot holds a full stack of something that nobody asked for."""

    def fill(play: Play) -> None:
        sizes = play.catalogue.stack
        junk = [item for item in sorted(play.domain.items) if sizes(item) == 64 and item not in spared]
        first = play.seed // 2 % (len(junk) - SLOTS)
        for item in junk[first : first + SLOTS]:
            if play.pack.room(item):
                play.pack.add(item, 64)

    return fill


def ground(radius: int, depth: int = 12) -> Stage:
    """A plain of stone under the open sky, level with the feet, without creatures."""

    def level(play: Play) -> None:
        x, y, z = feet(play)
        around = range(-radius, radius + 1)
        for dx, dz in ((dx, dz) for dx in around for dz in around):
            for dy in range(-depth, 16):
                cell = (x + dx, y + dy, z + dz)
                if play.inside(cell):
                    play.put(cell, "stone" if dy < 0 else "air")
        play.state.mobs["kind"] = -1

    return level


def moat(what: str, inner: int, outer: int, depth: int, dx: int) -> Stage:
    """A ring of `what` around the place `dx` blocks east of the feet: square, from `inner` to `outer` blocks
    off, so many deep."""

    def dig(play: Play) -> None:
        x, y, z = feet(play)
        around = range(-outer, outer + 1)
        for i, k in ((i, k) for i in around for k in around):
            if max(abs(i), abs(k)) >= inner:
                for dy in range(-depth, 0):
                    play.put((x + dx + i, y + dy, z + k), what)

    return dig


def walls(name: str, radius: int, height: int) -> Stage:
    """A square of walls around the feet."""

    def build(play: Play) -> None:
        x, y, z = feet(play)
        around = range(-radius, radius + 1)
        for i, k in ((i, k) for i in around for k in around):
            if max(abs(i), abs(k)) == radius:
                for dy in range(-1, height):
                    play.put((x + i, y + dy, z + k), name)

    return build


def moved(dx: int, dy: int, dz: int) -> Stage:
    """The body is somewhere else."""

    def move(play: Play) -> None:
        body = play.body
        body["x"], body["y"], body["z"] = body["x"] + dx, body["y"] + dy, body["z"] + dz
        body["stuck_x"], body["stuck_y"], body["stuck_z"] = body["x"], body["y"], body["z"]

    return move


def pit(depth: int) -> Stage:
    """A hole of one block under the feet with walls that nothing breaks; the body stands at its bottom."""

    def dig(play: Play) -> None:
        x, y, z = feet(play)
        for dy in range(-depth - 1, 0):
            for i, k in ((i, k) for i in (-1, 0, 1) for k in (-1, 0, 1)):
                inside = i == k == 0 and dy >= -depth
                play.put((x + i, y + dy, z + k), "air" if inside else "bedrock")
        moved(0, -depth, 0)(play)

    return dig


def creature(kind: str, dx: int, dz: int) -> Stage:
    """A creature that stands there."""

    def add(play: Play) -> None:
        x, y, z = feet(play)
        add_creature(play, kind, x + dx + 0.5, float(y), z + dz + 0.5)
        play.state.mobs[int(play.body["n_mobs"]) - 1]["left"] = 10**9

    return add


def screen(name: str) -> Stage:
    """A screen is open."""
    return lambda play: play.open_screen(name, 0)


def loaded_furnace(source: str) -> Stage:
    """The furnace beside the feet holds something else, and is cold."""

    def load(play: Play) -> None:
        x, y, z = feet(play)
        play.put((x + 1, y, z), "furnace")
        oven = furnace_at(play, (x + 1, y, z))
        oven["input"], oven["n_in"] = play.catalogue.item[source], 4
        oven["output"], oven["cold"] = play.catalogue.item[play.domain.smelting[source]], 1

    return load


def hungry(play: Play) -> None:
    """Close to death."""
    play.body["health"] = 2.0


def box(name: str, *corners: int) -> Stage:
    """Every cell between two corners (dx, dy, dz, dx, dy, dz), both included, holds the block."""
    low, high = corners[:3], corners[3:]

    def fill(play: Play) -> None:
        spans = zip(feet(play), low, high, play.blocks.shape, strict=True)
        cells = tuple(slice(max(0, at + a), min(size, at + b + 1)) for at, a, b, size in spans)
        play.blocks[cells] = play.catalogue.block[name]
        play.version += 1

    return fill


def body(health: float, food: float) -> Stage:
    """Health and hunger are at these values, saturation is used up."""

    def weaken(play: Play) -> None:
        play.body["health"], play.body["food"], play.body["saturation"] = health, food, 0.0

    return weaken


STAGES: Final[Mapping[str, Callable[..., Stage]]] = {
    "block": block,
    "box": box,
    "body": body,
    "creature": creature,
    "full_pack": full_pack,
    "ground": ground,
    "loaded_furnace": loaded_furnace,
    "moat": moat,
    "moved": moved,
    "screen": screen,
    "walls": walls,
}
"""The stages that a data file may ask for, by name."""


def stage_of(rows: Iterable[Sequence[str | int]]) -> Stage:
    """Stages written as rows, such as ["block", "crafting_table", 1, 0, 0], one after the other.

    `ValueError` for a name that no stage has.
    """
    stages = []
    for name, *arguments in rows:
        if name not in STAGES:
            raise ValueError(f"no stage {name!r}; there are: {', '.join(STAGES)}")
        stages.append(STAGES[str(name)](*arguments))
    return both(*stages)
