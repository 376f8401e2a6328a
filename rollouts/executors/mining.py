"""Kind `mine`: find, walk up, break, pick up; under the ground: stairs down, then a tunnel."""

from itertools import islice
from typing import Final

from rollouts.executors.body import Body, Doing
from rollouts.executors.digging import dig, go_down, go_level, go_up, pick_up
from rollouts.executors.geometry import Cell, Point, distance, flat_distance, yaw_to
from rollouts.executors.goals import blocks_for, gained
from rollouts.executors.searching import explore, tunnel
from rollouts.executors.walking import DEEPEST_DROP, PATIENCE, walk
from rollouts.executors.ways import clear_way, descend

IN_PASSING: Final = 6.0
"""blocks; on its way down it turns to a target that is as near as this"""
SHALLOW: Final = 8.0
"""blocks that it digs down for what needs a tool and is not in sight, when the subgoal names no depth"""
TUNNELLED: Final = 48
"""steps of tunnelling towards a target that is seen"""
FRUITLESS: Final = 3
"""blocks in a row that broke and gave nothing, where no luck is needed, after which it gives up"""
STUCK_AT: Final = 3
"""places in a row that it got stuck on the way to, after which it gives up"""
SAME_PLACE: Final = 4.0
"""blocks; what is so near to a target tried in vain, and as much out of sight, is not tried on its own"""
_ABOUT: Final = 3.0
_TRIED: Final = 12
"""nearest targets in view that a line of sight is looked for to"""
_SHORT_TRY: Final = 80
"""ticks of walking without coming nearer before it digs its way to what needs a tool"""


def mine(body: Body) -> Doing:
    """Breaks blocks of the target until the count is held; ends early when nothing more is found or reached.

    With the check path_clear it opens the way ahead instead.
    """
    if body.asked("path_clear"):
        return (yield from clear_way(body))
    target = body.subgoal.target
    wanted = blocks_for(body.domain, target) if target else frozenset()
    if target is None or not wanted:
        return False
    items = body.domain.accepts(target, "mine")
    miner = _Miner(body, wanted, items or body.domain.expand(target))
    return (yield from miner.work())


class _Miner:
    """One attempt at mining: what to break, and which of it was tried in vain."""

    def __init__(self, body: Body, wanted: frozenset[str], items: frozenset[str]) -> None:
        self.body = body
        self.wanted = wanted
        self.items = items
        self.done = gained(body, items)
        self.vain: set[Cell] = set()
        self.fruitless = self.stuck = 0
        rare = body.domain.rare_drops
        self.lucky = any(items & rare.get(block, frozenset()) for block in wanted)
        depth = body.check("ypos_le")
        self.depth = float(depth) if isinstance(depth, int | float) else None
        # What needs a tool is part of the ground, so the way to it may be dug.
        of_the_ground = all(block in body.domain.harvest for block in wanted)
        if self.depth is None and of_the_ground and self._is_down():
            self.depth = body.observation.y
        self.digs = self.depth is not None or of_the_ground

    def _is_down(self) -> bool:
        """It has dug itself down to about here, in this attempt or an earlier one."""
        dug_to = self.body.memory.dug_to
        return dug_to is not None and self.body.observation.y <= dug_to + _ABOUT

    def target(self) -> Cell | None:
        """The block to break next: the nearest that can be worked on from here, else the nearest in view,
        else a remembered one."""
        scene = self.body.scene
        cells = list(islice((cell for cell in scene.where(self.wanted) if cell not in self.vain), _TRIED))
        for cell in cells:
            if scene.aim(cell) is not None:
                return cell
        if cells:
            return cells[0]
        if self.digs:
            return None
        found = self.body.find(self.wanted)
        return found if found is not None and found not in self.vain else None

    def near_target(self) -> bool:
        cell = self.target()
        return cell is not None and flat_distance(self.body.scene.place, cell.centre()) <= IN_PASSING

    def work(self) -> Doing:
        body = self.body
        if self.depth is not None and body.observation.y > self.depth:
            yield from descend(body, self.depth, self.near_target)
        while not self.done():
            if self.fruitless >= FRUITLESS and not self.lucky:
                return False
            cell = self.target()
            if cell is None:
                if not (yield from self.search()):
                    return False
            elif (yield from self.take(cell)):
                self.stuck = 0
            else:
                self.leave(cell)
                if self.stuck >= STUCK_AT or (self.stuck and self.target() is None):
                    return False
        return True

    def leave(self, cell: Cell) -> None:
        """Tries this one no more, nor what is beside it and just as hidden."""
        scene, tried = self.body.scene, cell.centre()
        self.vain.add(cell)
        for other in scene.where(self.wanted):
            if distance(tried, other.centre()) <= SAME_PLACE and scene.aim(other) is None:
                self.vain.add(other)

    def search(self) -> Doing:
        """Goes where a target may come into view: down and on under the ground, or over it."""
        body = self.body
        if self.digs and self.depth is None:
            self.depth = body.observation.y - (0.0 if self._is_down() else SHALLOW)
        if self.depth is not None and body.observation.y > self.depth:
            if not (yield from descend(body, self.depth, self.near_target)):
                return False
            if self.near_target():
                return True
        if self.digs:
            return (yield from tunnel(body, lambda: self.target() is not None))
        return (yield from explore(body, lambda: self.target() is not None))

    def take(self, cell: Cell) -> Doing:
        """Breaks the block at a cell and picks up what falls; False when it cannot be got at."""
        body = self.body
        if not (yield from self.approach(cell)):
            return False
        before = body.held(self.items)
        if cell == body.scene.feet.up(-1) and body.scene.drop(cell, DEEPEST_DROP + 1) > DEEPEST_DROP:
            # One does not dig away what one stands on over a hole.
            return False
        if not (yield from dig(body, cell)):
            return False
        ground = Point(cell.x + 0.5, body.scene.place.y, cell.z + 0.5)
        got = yield from pick_up(body, ground, self.items, before)
        self.fruitless = 0 if got else self.fruitless + 1
        return True

    def approach(self, cell: Cell) -> Doing:
        """Comes to where the block can be worked on; False when stuck on the way."""
        body = self.body
        goal = cell.centre()
        if self.depth is None:
            there = yield from walk(
                body,
                lambda: goal if self._may_be_there(cell) else None,
                lambda: body.scene.aim(cell) is not None,
                _SHORT_TRY if self.digs else PATIENCE,
            )
            if there or not self.digs:
                # Under what hangs too high one is not stuck.
                below = flat_distance(body.scene.place, goal) <= 1.0
                self.stuck += not there and not below and self._may_be_there(cell)
                return there
        return (yield from self.dig_towards(cell))

    def _may_be_there(self, cell: Cell) -> bool:
        return not self.body.scene.covers(cell) or self.body.scene.name(cell) in self.wanted

    def dig_towards(self, cell: Cell) -> Doing:
        """Under the ground: a tunnel straight at the block, a step at a time."""
        body = self.body
        for _ in range(TUNNELLED):
            if body.scene.aim(cell) is not None:
                return True
            feet = body.scene.feet
            heading = yaw_to(feet.centre(), cell.centre())
            if feet.x == cell.x and feet.z == cell.z:
                heading = body.memory.heading
            go = go_up if cell.y > feet.y + 2 else go_down if cell.y < feet.y - 1 else go_level
            if not (yield from go(body, heading)) and body.scene.feet == feet:
                break
        return body.scene.aim(cell) is not None
