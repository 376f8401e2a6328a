"""What the behaviours of one executor share: the domain, the present scene, what was seen so far, and the
subgoal at hand."""

from collections.abc import Collection, Generator, Iterable
from dataclasses import dataclass, field
from typing import Final

from rollouts.executors.geometry import Cell, Point, flat_distance, wrapped
from rollouts.executors.scene import Scene
from rollouts.executors.terrain import Terrain
from rollouts.protocols import Action, Move, Observation, Subgoal
from warehouse.domains import Domain

Doing = Generator[Move, None, bool]
"""A behaviour under way: yields moves, finds the new scene in the body after each, ends with whether it
did what it is for."""

MEMORY_RADIUS: Final = 48.0
"""blocks; what was seen farther off than this is not gone back to"""
_RESCAN: Final = 3.0
"""blocks of walking after which the whole window is read into memory again"""


@dataclass
class Memory:
    """What was seen of the world in this episode, and where the way was blocked."""

    seen: dict[str, Cell] = field(default_factory=dict)
    """block -> where one was last seen"""
    heading: float = 0.0
    """yaw that is explored in when nothing is in sight"""
    reroutes: int = 0
    blocked_at: Point | None = None
    blocked_goal: Point | None = None
    """where the last walk got stuck, and where to it led"""
    dug_to: float | None = None
    """the height that it last dug itself down to"""
    scanned_at: Point | None = None
    """where the whole window was last read"""
    feet: Cell | None = None


class Body:
    """The executor's own view of itself."""

    scene: Scene
    subgoal: Subgoal

    def __init__(self, domain: Domain, heading: float) -> None:
        self.domain = domain
        self.terrain = Terrain(domain)
        self.memory = Memory(heading=heading)
        self.steady = True
        """the height did not change since the observation before"""
        self._last: Observation | None = None

    def observe(self, observation: Observation) -> None:
        """Reads an observation: the scene, what it teaches of the terrain, and what is worth remembering."""
        self.scene = scene = Scene(observation, self.terrain)
        memory = self.memory
        if self._last is not None and self._last.tick != observation.tick:
            self.steady = self._last.y == observation.y
        self._last = observation
        if memory.scanned_at is None:
            self.terrain.breathe(scene.name(scene.feet.up()), scene.names())
        elif memory.feet != scene.feet and observation.y % 1.0 < 0.05:
            # On a slab or on a path the feet are inside the block that carries them, and who began inside a
            # block did not walk in: neither is an opening.
            self.terrain.stand_in(scene.name(scene.feet))
        memory.feet = scene.feet
        if memory.scanned_at is None or flat_distance(memory.scanned_at, scene.place) > _RESCAN:
            memory.scanned_at = scene.place
            memory.seen.update(scene.nearest_of_each())

    @property
    def observation(self) -> Observation:
        return self.scene.observation

    @property
    def tick(self) -> int:
        return self.scene.observation.tick

    def held(self, items: Iterable[str]) -> int:
        """How many of `items` are carried, together."""
        inventory = self.scene.observation.inventory
        return sum(inventory.get(item, 0) for item in items)

    def check(self, kind: str) -> float | str | None:
        """The value (or else the name) of the subgoal's first check of this type; None without one."""
        for check in self.subgoal.checks:
            if check.type == kind:
                return check.value if check.value is not None else check.name
        return None

    def asked(self, kind: str) -> bool:
        """The subgoal has a check of this type."""
        return any(check.type == kind for check in self.subgoal.checks)

    def amounts_reached(self) -> bool | None:
        """Whether every inv_ge check holds now; None when the subgoal has none."""
        wanted = [check for check in self.subgoal.checks if check.type == "inv_ge"]
        if not wanted:
            return None
        return all(self.held(self.domain.expand(c.name or "")) >= (c.value or 1) for c in wanted)

    def find(self, names: Collection[str]) -> Cell | None:
        """The nearest cell in view that holds one of `names`, else the nearest remembered one."""
        scene, memory = self.scene, self.memory
        in_view = next(iter(scene.where(names)), None)
        if in_view is not None:
            return in_view
        best = None
        for name in sorted(names):
            cell = memory.seen.get(name)
            if cell is None:
                continue
            if scene.covers(cell) and scene.name(cell) != name:
                del memory.seen[name]
            else:
                gap = flat_distance(scene.place, cell.centre())
                if gap <= MEMORY_RADIUS and (best is None or gap < best[0]):
                    best = (gap, cell)
        return best[1] if best else None

    def best_tool(self, block: str) -> str | None:
        """The held tool of the highest tier in the class that the domain names for a block."""
        rule = self.domain.harvest.get(block)
        return self.best_of(self.domain.tool_classes[rule[0]]) if rule else None

    def best_of(self, tools: Iterable[str]) -> str | None:
        """The held one of `tools` with the highest tier; None when none is held."""
        tiers, of = self.domain.tool_tiers, self.domain.tools
        ours = [tool for tool in sorted(tools) if self.held((tool,))]
        return max(ours, key=lambda tool: tiers.index(of[tool][1]), default=None)

    def turn(self, by: float) -> None:
        """Explore another way from now on."""
        self.memory.heading = wrapped(self.memory.heading + by)

    def equip(self, item: str | None) -> Doing:
        """Takes an item in hand if it is held and not there yet."""
        if item is not None and self.held((item,)) and self.observation.equipped != item:
            yield Move(Action(equip=item), 1)
        return self.observation.equipped == item

    def rest(self, ticks: int) -> Doing:
        """Does nothing for so long, or until something happens."""
        yield Move(Action(), ticks)
        return True

    def until_tick(self, tick: int) -> Doing:
        """Does nothing until a tick, whatever happens."""
        while self.tick < tick:
            yield Move(Action(), tick - self.tick)
        return True

    def close_screen(self) -> Doing:
        """Closes a screen that is open."""
        for _ in range(3):
            if self.observation.gui == "none":
                break
            yield Move(Action(close_gui=True), 2)
        return self.observation.gui == "none"
