"""Kind `combat`: find a creature, run after it, hit it as often as a weapon allows, take what it leaves."""

from typing import Final

from rollouts.executors.body import Body, Doing
from rollouts.executors.digging import pick_up
from rollouts.executors.geometry import Point, distance, flat_distance, look_at, yaw_to
from rollouts.executors.goals import creatures_for, gained
from rollouts.executors.searching import explore
from rollouts.executors.walking import step, swim, walk
from rollouts.protocols import Action, Move, Seen

HIT_REACH: Final = 2.7
"""blocks from the eyes to a creature's middle"""
COOLDOWN: Final = 13
"""ticks between two hits, so that each has its full strength"""
LOST: Final = 5.0
"""blocks; a creature that was so near when it was hit and is gone counts as killed"""
ESCAPES: Final = 4
"""creatures that got away after which it gives up"""
_MIDDLE: Final = 0.6
"""height of a creature's middle above its feet, in blocks"""


def combat(body: Body) -> Doing:
    """Kills creatures of the target until the count is held (or, of creatures that leave nothing, killed)."""
    target = body.subgoal.target
    prey = creatures_for(body.domain, target) if target else frozenset()
    if target is None or not prey:
        return False
    items = body.domain.accepts(target, "combat")
    by_items = bool(items) or body.asked("inv_ge")
    done = gained(body, items)
    kills = escapes = 0
    yield from body.equip(_weapon(body))
    while not (by_items and done()):
        if not (yield from explore(body, lambda: nearest(body, prey) is not None)):
            return False
        hunt = _Hunt(body, prey)
        if not (yield from hunt.kill()):
            escapes += 1
            if escapes >= ESCAPES:
                return False
            body.turn(90.0)
            yield from _leave(body, prey)
            continue
        kills += 1
        yield from pick_up(body, hunt.struck or body.scene.place, items, body.held(items))
        if not by_items and kills >= body.subgoal.count:
            return True
    return True


def nearest(body: Body, names: frozenset[str]) -> Seen | None:
    """The nearest creature in view of those named."""
    place = body.scene.place
    found = [seen for seen in body.scene.entities if seen.name in names]
    return min(found, key=lambda seen: (distance(place, place_of(seen)), seen), default=None)


def place_of(seen: Seen) -> Point:
    return Point(seen.x, seen.y, seen.z)


def within_reach(body: Body, seen: Seen | None) -> bool:
    """It can be hit, or used, from here."""
    if seen is None:
        return False
    middle = Point(seen.x, seen.y + _MIDDLE, seen.z)
    return distance(body.scene.eye, middle) <= HIT_REACH and body.scene.sees(middle)


def go_to_creature(body: Body, names: frozenset[str], patience: int = 120) -> Doing:
    """Runs after the nearest creature in view until it is in reach; False when it is lost or out of reach."""

    def goal() -> Point | None:
        seen = nearest(body, names)
        return place_of(seen) if seen is not None else None

    return (yield from walk(body, goal, lambda: within_reach(body, nearest(body, names)), patience))


class _Hunt:
    """One creature, from the first sight to the last hit."""

    def __init__(self, body: Body, prey: frozenset[str]) -> None:
        self.body = body
        self.prey = prey
        self.struck: Point | None = None
        self.struck_at = -COOLDOWN

    def kill(self) -> Doing:
        """Hits until it is gone; False when it cannot be got at."""
        body = self.body
        while True:
            seen = nearest(body, self.prey)
            if self.struck is not None and (seen is None or distance(place_of(seen), self.struck) > LOST):
                return True
            if seen is None:
                return False
            self.struck = place_of(seen) if self.struck is not None else None
            if not within_reach(body, seen):
                if not (yield from go_to_creature(body, self.prey)):
                    return self.struck is not None and nearest(body, self.prey) is None
            elif body.tick - self.struck_at < COOLDOWN:
                yield self._keep_up(place_of(seen))
            else:
                self.struck, self.struck_at = place_of(seen), body.tick
                look = look_at(body.scene.eye, Point(seen.x, seen.y + _MIDDLE, seen.z))
                yield Move(Action(attack=True, yaw=look.yaw, pitch=look.pitch), 1)

    def _keep_up(self, place: Point) -> Move:
        body = self.body
        left = COOLDOWN - (body.tick - self.struck_at)
        yaw, gap = yaw_to(body.scene.place, place), flat_distance(body.scene.place, place)
        if gap <= 1.5:
            return Move(Action(yaw=yaw), min(left, 4))
        move = swim(body, yaw) if body.scene.is_risky(body.scene.feet) else step(body.scene, yaw, gap - 1.0)
        return Move(move.action, min(left, move.ticks))


def _leave(body: Body, prey: frozenset[str]) -> Doing:
    """Goes on for a leg, so that another creature than the one that got away may be the nearest."""
    at = body.scene.place
    return (yield from explore(body, lambda: flat_distance(at, body.scene.place) >= 12.0))


def _weapon(body: Body) -> str | None:
    """The held tool of the highest tier, those left out of the class that most blocks ask for: a domain does
    not say what a weapon is. Among equals the choice is by name and means nothing."""
    domain = body.domain
    asked = [tool_class for tool_class, _ in domain.harvest.values()]
    digging = max(sorted(set(asked)), key=asked.count, default="")
    tools = frozenset(domain.tools) - domain.tool_classes.get(digging, frozenset())
    tiers = domain.tool_tiers
    return max(
        (tool for tool in tools if body.held((tool,))),
        key=lambda tool: (tiers.index(domain.tools[tool][1]), tool),
        default=None,
    )
