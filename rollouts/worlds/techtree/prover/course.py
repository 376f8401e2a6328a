"""A course through one world: the actions of a proof, one after the other, until the task's oracle is met or
its time is over. Everything that changes the world goes through `do`, and so through `World.step`."""

import math
from typing import Final

from rollouts.executors.geometry import Cell, Look, Point, look_at
from rollouts.protocols import Action, Advance
from rollouts.worlds.techtree.hands import sight
from rollouts.worlds.techtree.play import Play
from rollouts.worlds.techtree.space import look_at_mob
from rollouts.worlds.techtree.state import SOLID, TARGET
from rollouts.worlds.techtree.world import TechTree
from warehouse.tasks import Task, accepts

# Points of a cube that a look may aim at: the middle, then a grid that reaches near its edges.
_AIMS: Final = (
    (0.5, 0.5, 0.5),
    *((x, y, z) for x in (0.08, 0.5, 0.92) for y in (0.08, 0.5, 0.92) for z in (0.08, 0.5, 0.92)),
)
_PATIENCE: Final = 600
"""ticks after which a block that does not break is given up"""
_SCREENS: Final = 40
"""ticks that an operation on a screen takes at most"""
# Tools of these tiers are made of what lies about; better ones are kept for the blocks that ask for them.
_CHEAP: Final = ("wooden", "stone")


class Ended(Exception):
    """The course is over: the task is done, its time is up, or the body died."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Course:
    """One task in one world, and the actions so far. `solved_at` is the tick at which the oracle was met."""

    def __init__(self, world: TechTree, task: Task, seed: int) -> None:
        world.reset(seed)
        self.world = world
        self.task = task
        self.actions: list[tuple[Action, int]] = []
        self.happened: set[str] = set()
        self.solved_at: int | None = None

    @property
    def play(self) -> Play:
        return self.world.play

    @property
    def tick(self) -> int:
        return int(self.play.body["tick"])

    @property
    def place(self) -> Point:
        """The middle of the soles."""
        body = self.play.body
        return Point(float(body["x"]), float(body["y"]), float(body["z"]))

    @property
    def eye(self) -> Point:
        x, y, z = self.place
        return Point(x, y + self.play.parameters["rules"]["eye"], z)

    @property
    def feet(self) -> Cell:
        """The cell that the feet are in; a hair below a block's top counts as on it."""
        x, y, z = self.place
        return Point(x, y + 0.01, z).cell()

    @property
    def grounded(self) -> bool:
        return bool(self.play.body["grounded"])

    def held(self, item: str) -> int:
        return self.play.pack.counts.get(item, 0)

    def do(self, action: Action, ticks: int = 1) -> Advance:
        """Holds an action; raises `Ended` at the tick at which the task is done, or cannot be any more."""
        # A success counts at ticks before the horizon.
        left = self.task.horizon_ticks - 1 - self.tick
        if left < 1:
            raise Ended("out of time")
        done = self.world.step(action, min(ticks, left))
        self.actions.append((action, len(done.ticks["x"])))
        self.happened.update(event.name for event in done.events if event.kind == "game" and event.name)
        if accepts(self.task, done.observation.inventory, self.happened):
            self.solved_at = done.observation.tick
            raise Ended("done")
        if not done.observation.alive:
            raise Ended("died")
        return done

    def rest(self, ticks: int) -> None:
        """Does nothing for so long, whatever happens."""
        until = self.tick + ticks
        while self.tick < until:
            self.do(Action(), until - self.tick)

    # Looking -----------------------------------------------------------------------------------------------

    def aim(self, cell: Cell) -> Look | None:
        """Where to look so that the world's own look meets the block of a cell within reach."""
        eye = self.eye
        for part in _AIMS:
            at = look_at(eye, Point(cell.x + part[0], cell.y + part[1], cell.z + part[2]))
            if self._meets(at) == cell:
                return at
        return None

    def aim_to_place(self, cell: Cell) -> Look | None:
        """Where to look so that a block that is put down comes into an empty cell."""
        eye = self.eye
        for support in cell.neighbours():
            if not self.play.inside(support) or not self.play.traits(support) & SOLID:
                continue
            for part in _AIMS[1:]:
                at = look_at(eye, Point(support.x + part[0], support.y + part[1], support.z + part[2]))
                seen = self._sight(at)
                if seen is not None and seen[0] == support and seen[1] == cell:
                    return at
        return None

    def _meets(self, at: Look) -> Cell | None:
        seen = self._sight(at)
        return None if seen is None else seen[0]

    def _sight(self, at: Look) -> tuple[Cell, Cell] | None:
        """The block that a look meets and the cell before it; the body turns for the asking, and back."""
        body = self.play.body
        before = float(body["yaw"]), float(body["pitch"])
        body["yaw"], body["pitch"] = at
        seen = sight(self.play, TARGET)
        body["yaw"], body["pitch"] = before
        return None if seen is None else (Cell(*seen.cell), Cell(*seen.before))

    def faces_creature(self, at: Look, row: int) -> bool:
        """Whether a blow or a use in this direction meets the creature of that row."""
        play, body = self.play, self.play.body
        before = float(body["yaw"]), float(body["pitch"])
        body["yaw"], body["pitch"] = at
        rules = play.parameters["rules"]
        table = play.catalogue.creature_table
        met, far = look_at_mob(play.state.mobs, table, play.state.body[0], rules["eye"], rules["strike"])
        block = sight(play, TARGET)
        body["yaw"], body["pitch"] = before
        if int(met) != row:
            return False
        return block is None or far <= _gap(self.eye, block.cell)

    # Hands -------------------------------------------------------------------------------------------------

    def tool_for(self, block: str) -> str | None:
        """What to break a block with: the fastest cheap tool that gets its drop, else the fastest at all."""
        known, domain = self.play.catalogue, self.play.domain
        number = known.block[block]
        tools = [tool for tool in sorted(domain.tools) if self.held(tool)]

        def worth(tool: str | None) -> tuple[bool, float, bool]:
            cheap = tool is None or domain.tools[tool][1] in _CHEAP
            # Two blows' difference is not worth a good tool's wear.
            return known.harvests(tool, block), float(known.speed(tool)[number]) * (4 if cheap else 1), cheap

        return max([None, *tools], key=worth)

    def dig(self, cell: Cell) -> bool:
        """Breaks what is in a cell, again where sand comes down into it; whether the cell is free."""
        started = self.tick
        while self.play.traits(cell) & (SOLID | TARGET) and self.tick - started < _PATIENCE:
            at = self.aim(cell)
            if at is None:
                if not self.unveil(cell.centre()):
                    return False
                continue
            tool = self.tool_for(self.play.block(cell))
            self.do(Action(attack=True, equip=tool or "none", yaw=at.yaw, pitch=at.pitch), 40)
        return not self.play.traits(cell) & SOLID

    def unveil(self, point: Point) -> bool:
        """Breaks a plant or the like that hides a point; False where nothing or something else does."""
        at = look_at(self.eye, point)
        seen = self._meets(at)
        if seen is None or self.play.traits(seen) & SOLID:
            return False
        self.do(Action(attack=True, yaw=at.yaw, pitch=at.pitch), 10)
        return True

    def put(self, item: str, cell: Cell) -> bool:
        """Puts a block into an empty cell."""
        at = self.aim_to_place(cell)
        if at is None or not self.held(item):
            return False
        while self.play.body["use_wait"]:
            self.rest(1)
        self.do(Action(place=item, yaw=at.yaw, pitch=at.pitch))
        return bool(self.play.traits(cell) & SOLID)

    def operate(self, action: Action) -> None:
        """Begins an operation on a screen and waits for its end."""
        self.do(action)
        started = self.tick
        while self.play.pending is not None and self.tick - started < _SCREENS:
            self.do(Action(), 10)


def _gap(eye: Point, cell: tuple[int, int, int]) -> float:
    """Blocks from the eyes to the middle of a cell."""
    return math.dist(eye, [at + 0.5 for at in cell])
