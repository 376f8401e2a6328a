"""A small world for the tests of the scripted executor, hand-made block by block: enough of the game's
mechanics to walk, fall, break, place, craft, smelt, eat and hit, none of its terrain. Its own tests are at
the end.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from rollouts.executors.geometry import EYE_HEIGHT, Cell, Point, cells_between
from rollouts.executors.registry import executor
from rollouts.protocols import (
    Action,
    Advance,
    Executor,
    Move,
    Observation,
    Seen,
    Subgoal,
    Truth,
    Window,
    World,
    WorldEvent,
)
from warehouse.domains import load_domain
from warehouse.knowledge import Check

DOMAIN = load_domain("minecraft")
OPEN = {"air", "water", "grass"}
HALF, TALL = 0.3, 1.8
RADIUS = 12
LOW, SIDE, HIGH = 20, 80, 100
"""the grid holds y from LOW to HIGH, x and z from -SIDE to SIDE"""


@dataclass
class Creature:
    """Stands still and dies after so many hits."""

    name: str
    place: Point
    hits: int = 3
    drop: str | None = None


@dataclass
class FakeWorld:
    """`blocks` over a floor of `floor` below y = 64; the body starts at (0.5, 64, 0.5).

    Everything breaks after `toughness` ticks unless it is `unbreakable`; a block drops what the domain says,
    if a fit tool is in hand. `blocks` may be changed until the first observation; later ones go by `put`.
    """

    blocks: dict[Cell, str] = field(default_factory=dict)
    inventory: Counter[str] = field(default_factory=Counter)
    creatures: list[Creature] = field(default_factory=list)
    floor: str = "dirt"
    toughness: int = 10
    unbreakable: frozenset[str] = frozenset({"bedrock"})
    name: str = "fake"
    observes: tuple[str, ...] = ("position", "inventory")

    def __post_init__(self) -> None:
        self.blocks, self.inventory = dict(self.blocks), Counter(self.inventory)
        self.x, self.y, self.z, self.vy = 0.5, 64.0, 0.5, 0.0
        self.yaw = self.pitch = 0.0
        self.health, self.hunger, self.tick = 20.0, 10.0, 0
        self.equipped: str | None = None
        self.gui = "none"
        self.drops: list[tuple[str, Point]] = []
        self.furnace: list[tuple[str, int]] = []
        self.breaking: tuple[Cell, int] | None = None
        self.eating = 0
        self.used: list[tuple[str | None, str | None]] = []
        """(held, looked at) of every use"""
        self.crafts = 0
        self.changes = 0
        self.palette = ["unknown", "air", self.floor]
        self.grid: npt.NDArray[np.uint16] | None = None

    def reset(self, seed: int) -> Observation:
        raise NotImplementedError

    def replay(self, actions: Iterable[tuple[Action, int]]) -> Observation:
        raise NotImplementedError

    def truths(self, since_tick: int) -> Sequence[Truth]:
        return ()

    def at(self, cell: Cell) -> str:
        return self.blocks.get(cell, self.floor if cell.y < 64 else "air")

    def solid(self, cell: Cell) -> bool:
        return self.at(cell) not in OPEN

    def put(self, cell: Cell, name: str) -> None:
        self.blocks[cell] = name
        self.changes += 1
        if self.grid is not None:
            self.grid[cell.x + SIDE, cell.y - LOW, cell.z + SIDE] = self._index(name)

    def _index(self, name: str) -> int:
        if name not in self.palette:
            self.palette.append(name)
        return self.palette.index(name)

    def step(self, action: Action, ticks: int = 1) -> Advance:
        before = self._noticed()
        for _ in range(ticks):
            blocked = self._tick(action)
            if blocked or self._noticed() != before:
                break
        events: tuple[WorldEvent, ...] = ()
        return Advance(self.observe(), {}, events)

    def _noticed(self) -> tuple[object, ...]:
        return self.changes, dict(self.inventory), len(self.creatures), self.gui, self.equipped

    def _tick(self, action: Action) -> bool:
        self.tick += 1
        self.gui = "none" if action.close_gui else self.gui
        self.yaw = self.yaw if action.yaw is None else action.yaw
        self.pitch = self.pitch if action.pitch is None else action.pitch
        if action.equip is not None and self.inventory[action.equip]:
            self.equipped = action.equip
        self._hands(action)
        blocked = self._legs(action)
        self._pick_up()
        self.furnace = [(item, left - 1) for item, left in self.furnace]
        return blocked

    def _hands(self, action: Action) -> None:
        target = self.looked_at()
        if action.attack and (hit := self._creature_looked_at()):
            hit.hits -= 1
            if hit.hits <= 0:
                self.creatures.remove(hit)
                if hit.drop:
                    self.drops.append((hit.drop, hit.place))
        elif action.attack and target is not None and self.at(target) not in self.unbreakable:
            done = self.breaking[1] + 1 if self.breaking and self.breaking[0] == target else 1
            self.breaking = (target, done)
            if done >= self.toughness:
                self._break(target)
        else:
            self.breaking = None
        if action.craft is not None:
            self._craft(action.craft)
        if action.smelt is not None and self.near("furnace"):
            source, fuel = action.smelt
            if self.inventory[source] and self.inventory[fuel] > (source == fuel):
                self.inventory[source] -= 1
                self.inventory[fuel] -= 1
                self.furnace.append((DOMAIN.smelting[source], 200))
        if action.collect:
            self.inventory.update(item for item, left in self.furnace if left <= 0)
            self.furnace = [(item, left) for item, left in self.furnace if left > 0]
        if action.place is not None and self.inventory[action.place] and target is not None:
            free = self._cell_before(target)
            if free is not None and not self._body_in(free):
                self.put(free, action.place)
                self.inventory[action.place] -= 1
        self.eating = self.eating + 1 if action.use and self.equipped in DOMAIN.foods else 0
        if self.eating == 32 and self.equipped:
            self.inventory[self.equipped] -= 1
        if action.use:
            creature = self._creature_looked_at()
            looked = creature.name if creature else self.at(target) if target else None
            self.used.append((self.equipped, looked))
            self.gui = "other" if looked in DOMAIN.stations else self.gui

    def _break(self, cell: Cell) -> None:
        name = self.at(cell)
        self.put(cell, "air")
        self.breaking = None
        fit = DOMAIN.fit_tools(name)
        if DOMAIN.drops[name] and (not fit or self.equipped in fit):
            self.drops.append((DOMAIN.drops[name][0], Point(cell.x + 0.5, cell.y, cell.z + 0.5)))

    def _craft(self, item: str) -> None:
        self.crafts += 1
        for recipe in DOMAIN.recipes.get(item, ()):
            if recipe.needs_table and not self.near("crafting_table"):
                continue
            used: Counter[str] = Counter()
            for name, count in recipe.ingredients:
                held = [each for each in sorted(DOMAIN.expand(name)) if self.inventory[each] >= count]
                used.update(dict.fromkeys(held[:1], count))
            if len(used) == len(recipe.ingredients):
                self.inventory.subtract(used)
                self.inventory[item] += recipe.count
                return

    def near(self, station: str) -> bool:
        eye = Point(self.x, self.y + EYE_HEIGHT, self.z)
        return any(
            name == station and math.dist(eye, cell.centre()) <= 4.5 for cell, name in self.blocks.items()
        )

    def _legs(self, action: Action) -> bool:
        wet = self.at(Point(self.x, self.y + 0.4, self.z).cell()) == "water"
        grounded = self._hits(0.0, -0.01, 0.0)
        if action.jump and (grounded or wet):
            self.vy = 0.12 if wet else 0.42
        pace = (0.1 if wet else 0.2158) * action.forward
        angle = math.radians(self.yaw)
        dx, dz = -math.sin(angle) * pace, math.cos(angle) * pace
        moved = 0.0
        for way in ((0.0, self.vy, 0.0), (dx, 0.0, 0.0), (0.0, 0.0, dz)):
            share = next(
                (s / 20 for s in range(20, 0, -1) if not self._hits(*(w * s / 20 for w in way))), 0.0
            )
            self.x, self.y, self.z = self.x + way[0] * share, self.y + way[1] * share, self.z + way[2] * share
            moved += math.hypot(way[0], way[2]) * share
            if way[1] and share < 1.0:
                self.vy = 0.0
                self.y = round(self.y, 1) if abs(self.y - round(self.y)) < 0.06 else self.y
        self.vy = max(self.vy - 0.08, -0.1 if wet else -1.5)
        blocked = bool(action.forward) and moved < 0.02
        if blocked and wet:
            self.vy = 0.3
        return blocked and not wet

    def _hits(self, dx: float, dy: float, dz: float) -> bool:
        x, y, z = self.x + dx, self.y + dy, self.z + dz
        return any(
            self.solid(Point(x + sx, y + up, z + sz).cell())
            for sx in (-HALF, HALF)
            for sz in (-HALF, HALF)
            for up in (0.001, 0.9, TALL)
        )

    def _pick_up(self) -> None:
        lying = []
        for item, place in self.drops:
            cell = place.cell()
            while not self.solid(cell.up(-1)) and cell.y > 0:
                cell = cell.up(-1)
            rests = Point(place.x, float(cell.y), place.z)
            if abs(rests.x - self.x) < 1.3 and abs(rests.z - self.z) < 1.3 and -1.0 < rests.y - self.y < 2.0:
                self.inventory[item] += 1
            else:
                lying.append((item, rests))
        self.drops = lying

    def _line(self) -> list[Cell]:
        yaw, pitch = math.radians(self.yaw), math.radians(self.pitch)
        eye = Point(self.x, self.y + EYE_HEIGHT, self.z)
        way = (-math.sin(yaw) * math.cos(pitch), -math.sin(pitch), math.cos(yaw) * math.cos(pitch))
        return list(cells_between(eye, Point(*(at + 4.5 * w for at, w in zip(eye, way, strict=True)))))

    def looked_at(self) -> Cell | None:
        return next((cell for cell in self._line() if self.solid(cell)), None)

    def _cell_before(self, target: Cell) -> Cell | None:
        line = self._line()
        at = line.index(target)
        return line[at - 1] if at else None

    def _creature_looked_at(self) -> Creature | None:
        cells = self._line()[:8]
        for creature in self.creatures:
            own = creature.place.cell()
            near = math.dist((self.x, self.y, self.z), creature.place) <= 4.0
            if near and (own in cells or own.up() in cells):
                return creature
        return None

    def _body_in(self, cell: Cell) -> bool:
        return (
            cell.x - HALF < self.x < cell.x + 1 + HALF
            and cell.z - HALF < self.z < cell.z + 1 + HALF
            and cell.y - TALL < self.y < cell.y + 1
        )

    def _view(self, origin: Cell) -> npt.NDArray[np.uint16]:
        """The blocks from `origin` on; what is solid on all six sides is unknown."""
        if self.grid is None:
            self.grid = np.full((2 * SIDE, HIGH - LOW, 2 * SIDE), 1, np.uint16)
            self.grid[:, : 64 - LOW, :] = self.palette.index(self.floor)
            for cell, name in self.blocks.items():
                self.grid[cell.x + SIDE, cell.y - LOW, cell.z + SIDE] = self._index(name)
        i, j, k = origin.x + SIDE, origin.y - LOW, origin.z + SIDE
        size = 2 * RADIUS + 1
        around = self.grid[i - 1 : i + size + 1, j - 1 : j + size + 1, k - 1 : k + size + 1]
        solid = np.array([name not in OPEN for name in self.palette])[around]
        buried = solid[1:-1, 1:-1, 1:-1].copy()
        for axis in range(3):
            for by in (1, -1):
                buried &= np.roll(solid, by, axis)[1:-1, 1:-1, 1:-1]
        return np.where(buried, 0, around[1:-1, 1:-1, 1:-1]).astype(np.uint16)

    def observe(self) -> Observation:
        feet = Point(self.x, self.y + 0.1, self.z).cell()
        origin = Cell(feet.x - RADIUS, feet.y - RADIUS, feet.z - RADIUS)
        entities = [Seen(each.name, *each.place) for each in self.creatures]
        entities += [Seen(item, *place) for item, place in self.drops]
        return Observation(
            tick=self.tick,
            x=self.x,
            y=self.y,
            z=self.z,
            yaw=self.yaw,
            pitch=self.pitch,
            health=self.health,
            hunger=self.hunger,
            alive=True,
            gui=self.gui,
            inventory={item: count for item, count in self.inventory.items() if count > 0},
            equipped=self.equipped if self.equipped and self.inventory[self.equipped] else None,
            window=Window(self._view(origin), tuple(origin), tuple(self.palette), tuple(entities)),
        )


def subgoal(
    kind: str, target: str | None, count: int = 1, *checks: Check, words: str = "", timeout_s: float = 60.0
) -> Subgoal:
    return Subgoal(
        "s1", words or f"{kind} {target}", kind, target, count=count, timeout_s=timeout_s, checks=checks
    )


def wall(x: int | None, z: int | None, height: int, width: int = 12, name: str = "stone") -> dict[Cell, str]:
    """A wall along z at `x`, or along x at `z`, centred on the other axis and standing on the floor."""
    cells = {}
    for side in range(-width, width + 1):
        for y in range(64, 64 + height):
            cells[Cell(x, y, side) if x is not None else Cell(side, y, z or 0)] = name
    return cells


def carry_out(
    world: World, goal: Subgoal, first: Observation, policy: Executor | None = None, limit: int = 1200
) -> tuple[Observation, bool, list[Move]]:
    """Runs a subgoal for at most `limit` ticks; the last observation, whether the executor ended by itself,
    and its moves."""
    acting = policy or executor("scripted", DOMAIN, 0)
    acting.start(goal, first)
    seen, moves, end = first, [], first.tick + limit
    while seen.tick < end and seen.alive:
        move = acting.act(seen)
        if move is None:
            return seen, True, moves
        assert move.ticks >= 1
        moves.append(move)
        seen = world.step(move.action, min(move.ticks, end - seen.tick)).observation
    return seen, False, moves


def test_body_stands_on_the_floor_and_walks() -> None:
    world = FakeWorld()
    seen = world.step(Action(forward=1, yaw=0.0), 20).observation
    assert seen.y == 64.0
    assert 4.0 < seen.z - 0.5 < 4.6


def test_body_jumps_onto_one_block_and_not_onto_two() -> None:
    for height, top in ((1, 65.0), (2, 64.0)):
        world = FakeWorld(wall(None, 2, height))
        for _ in range(30):
            world.step(Action(forward=1, jump=True, yaw=0.0), 1)
        for _ in range(20):
            world.step(Action(), 1)
        assert world.y == (top if world.z < 2.9 else 64.0)
        assert (world.z > 1.8) == (height == 1)


def test_a_block_breaks_and_its_drop_is_taken() -> None:
    world = FakeWorld({Cell(0, 65, 1): "oak_log"})
    seen = world.step(Action(attack=True, yaw=0.0, pitch=0.0), 40).observation
    assert seen.tick == 10
    assert world.step(Action(), 5).observation.inventory == {"oak_log": 1}
