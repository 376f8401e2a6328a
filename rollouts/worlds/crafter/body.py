"""What the executor's behaviours share: the present observation, what was seen, and how to get about."""

from collections.abc import Callable, Collection, Generator
from math import floor
from typing import Final

from rollouts.protocols import Action, Move, Observation, Subgoal
from rollouts.worlds.crafter.atlas import DUG_AWAY, SIDES, Atlas, Cell, beside
from warehouse.domains import Domain

Doing = Generator[Move, None, bool]
"""A behaviour under way: yields moves, finds the new observation in the body after each, ends with whether it
did what it is for."""

HOSTILE: Final = frozenset({"zombie", "skeleton"})
_PATIENCE: Final = 12
"""moves in a row on the way to one cell after which another way is looked for"""


class Body:
    """The executor's own view of itself."""

    observation: Observation
    subgoal: Subgoal

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.atlas = Atlas()

    def begin(self, subgoal: Subgoal, observation: Observation) -> None:
        """A new subgoal."""
        self.subgoal = subgoal
        self.observe(observation)

    def observe(self, observation: Observation) -> None:
        """The observation after the last move."""
        self.observation = observation
        self.atlas.look(observation)

    @property
    def at(self) -> Cell:
        """The cell that the body stands in."""
        return floor(self.observation.x), floor(self.observation.z)

    @property
    def side(self) -> Cell:
        """The side that it looks to."""
        return SIDES[round(self.observation.yaw / 90.0) % 4]

    @property
    def ahead(self) -> Cell:
        """The cell before it."""
        return self.at[0] + self.side[0], self.at[1] + self.side[1]

    def held(self, names: Collection[str]) -> int:
        """How many of these items are carried, together."""
        return sum(self.observation.inventory.get(name, 0) for name in names)

    def breaks(self) -> set[str]:
        """What can be dug away with the tools that are held."""
        return {
            name
            for name in DUG_AWAY
            if name not in self.domain.harvest or self.held(self.domain.fit_tools(name))
        }

    def is_near(self, station: str) -> bool:
        """Whether a station stands in the three by three cells around the body."""
        east, south = self.at
        around = ((east + a, south + b) for a in (-1, 0, 1) for b in (-1, 0, 1))
        return any(self.atlas.material(cell) == station for cell in around)

    def press(self, cell: Cell) -> Move:
        """A step towards a cell beside the body: it goes there, or turns where something is in the way."""
        side = cell[0] - self.at[0], cell[1] - self.at[1]
        return Move(Action(forward=1, yaw=_YAWS[SIDES.index(side)]), 1)

    def go(self, goals: Callable[[], Collection[Cell]], until: Callable[[], bool]) -> Doing:
        """Walks to the nearest of `goals`, which are asked for again on the way, or until `until` holds.
        False where no way is known, or too many ways were blocked."""
        failed = 0
        while failed < _PATIENCE:
            if until():
                return True
            way = self.atlas.way(self.at, set(goals()), self.breaks())
            if way is None:
                return False
            if not way:
                return True
            came = yield from self._enter(way[0])
            failed = 0 if came else failed + 1
        return False

    def _enter(self, cell: Cell) -> Doing:
        """One cell further: digs or strikes away what is in it."""
        for _ in range(_PATIENCE):
            if self.at == cell:
                return True
            if cell not in beside(self.at):
                return False
            blocked = self.atlas.material(cell) in DUG_AWAY or self.atlas.crowd.get(cell) in HOSTILE
            yield Move(Action(attack=True), 1) if blocked and self.ahead == cell else self.press(cell)
            if cell in self.atlas.crowd and self.atlas.crowd[cell] not in HOSTILE:
                return False
        return self.at == cell

    def face(self, cell: Cell) -> Doing:
        """Looks at a cell beside the body that cannot be walked into."""
        for _ in range(_PATIENCE):
            if self.ahead == cell:
                return True
            if cell not in beside(self.at):
                return False
            yield self.press(cell)
        return False

    def go_to_face(self, cells: Callable[[], Collection[Cell]], until: Callable[[], bool]) -> Doing:
        """Stands beside the nearest of some cells, and looks at it. False where it cannot be got to."""

        def next_to() -> set[Cell]:
            return {side for cell in cells() for side in beside(cell)}

        if not (yield from self.go(next_to, until)):
            return False
        here = [cell for cell in beside(self.at) if cell in set(cells())]
        return bool(here) and (yield from self.face(here[0]))

    def explore(self, until: Callable[[], bool]) -> Doing:
        """Goes to the nearest edge of what is known, and on, until `until` holds. False without one."""
        while not until():
            if not self.atlas.frontier():
                return False
            before = self.observation.tick
            went = yield from self.go(self.atlas.frontier, until)
            if not went or self.observation.tick == before:
                return until()
        return True


_YAWS: Final = (0.0, 90.0, 180.0, -90.0)
"""of `SIDES`"""
