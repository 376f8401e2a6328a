"""A proof: plan, do the first step, plan again from what is there, until the oracle is met."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from typing import Final

from rollouts.executors.geometry import Cell, distance
from rollouts.protocols import Action
from rollouts.worlds.techtree.prover import gathering
from rollouts.worlds.techtree.prover.course import Course, Ended
from rollouts.worlds.techtree.prover.plan import Facts, NoWayError, Planner, Step
from rollouts.worlds.techtree.prover.stations import Stations
from rollouts.worlds.techtree.prover.travel import around, go
from rollouts.worlds.techtree.settings import Settings
from rollouts.worlds.techtree.world import TechTree
from warehouse.domains import Domain
from warehouse.tasks import Task, accepts

_LIVES: Final = 4
"""steps in a row that may fail before a proof is given up"""
_SURFACE: Final = 56
"""y above which spare tools are seen to, before it goes down"""
_DIGGER: Final = "stone_pickaxe"
_SPARE_USES: Final = 200
"""uses of the digger that a way down and some tunnels take"""
_SPARE_STICKS: Final = 4


@dataclass(frozen=True)
class Proof:
    """What came of the try to do a task in the world of a seed.

    `tick` is that at which the oracle was met, or at which it ended; `reason` says why it was not met, ""
    where it was. `possible` is false where this world has no source of something that the task needs.
    `actions` are all that was done, `steps` what for, each with the tick at which it began.
    """

    task: Task
    seed: int
    solved: bool
    tick: int
    reason: str = ""
    possible: bool = True
    actions: tuple[tuple[Action, int], ...] = ()
    steps: tuple[tuple[int, str], ...] = ()


def prove(domain: Domain, task: Task, seed: int) -> Proof:
    """Tries to do `task` in the world of `seed`. What is solved was also checked by a replay (`checked`)."""
    course = Course(TechTree(domain, Settings()), task, seed)
    steps: list[tuple[int, str]] = []
    try:
        reason, possible = _carry_out(course, steps), True
    except NoWayError as error:
        reason, possible = str(error), False
    except Ended as ended:
        reason, possible = "" if course.solved_at is not None else _stopped(ended, steps), True
    actions = tuple(course.actions)
    solved = course.solved_at is not None
    if solved and not checked(domain, task, seed, actions):
        solved, reason = False, "its actions do not give the same when they are replayed"
    return Proof(task, seed, solved, course.tick, reason, possible, actions, tuple(steps))


def checked(domain: Domain, task: Task, seed: int, actions: Iterable[tuple[Action, int]]) -> bool:
    """Whether these actions alone, in a new world of that seed, meet the task's oracle with their last tick
    and before the horizon."""
    world = TechTree(domain, Settings())
    seen = world.reset(seed)
    happened: set[str] = set()
    for action, ticks in actions:
        left = ticks
        while left > 0:
            done = world.step(action, left)
            seen = done.observation
            left -= len(done.ticks["x"])
            happened.update(event.name for event in done.events if event.kind == "game" and event.name)
    return seen.tick < task.horizon_ticks and accepts(task, seen.inventory, happened)


def _stopped(ended: Ended, steps: list[tuple[int, str]]) -> str:
    at = f' at "{steps[-1][1]}"' if steps else ""
    return f"{ended.why}{at}"


def _carry_out(course: Course, steps: list[tuple[int, str]]) -> str:
    """Does step after step; ends by `Ended`, or with the reason why it gave up."""
    facts = Facts(course.play)
    stations = Stations(course)
    failed = 0
    while True:
        plan = _plan(course, facts, stations)
        if not plan:
            return "nothing is left to do, and the oracle is not met"
        step = plan[0]
        steps.append((course.tick, str(step)))
        try:
            _do(course, stations, facts, step, plan[1:])
            failed = 0
        except gathering.StuckError as error:
            failed += 1
            if failed >= _LIVES:
                return f'{error}, at "{step}"'
            course.rest(20)


def _plan(course: Course, facts: Facts, stations: Stations) -> list[Step]:
    """What is to be done from here on, in order. Who goes down to ores takes spare pickaxes along, and sticks
    for another: they wear out there, and no tree grows there."""
    steps = _worked_out(course, Planner(facts, course.play.pack.counts, stations.close()))
    ores = any(step.kind == "mine" and step.target.endswith("_ore") for step in steps)
    if not ores or course.feet.y < _SURFACE:
        return steps
    planner = Planner(facts, course.play.pack.counts, stations.close())
    planner.reserve("stick", _SPARE_STICKS)
    planner.get(_DIGGER, course.held(_DIGGER) + _spares(course))
    return _worked_out(course, planner)


def _worked_out(course: Course, planner: Planner) -> list[Step]:
    """What the planner has so far, and what the task takes."""
    facts = planner.facts
    special = _special(course, planner)
    if not special:
        accepted = sorted(course.task.accepted)
        item = min(accepted, key=lambda each: (facts.effort(each), -facts.there.get(each, 0), each))
        planner.get(item, course.task.count)
    return planner.merged() + special


def _spares(course: Course) -> int:
    """How many more pickaxes it takes until those that are held last long enough."""
    durability = course.play.catalogue.durability(_DIGGER)
    slots = course.play.pack.slots
    uses = sum(durability - slot.wear for slot in slots if slot and slot.item == _DIGGER)
    return max(0, ceil((_SPARE_USES - uses) / durability))


def _special(course: Course, planner: Planner) -> list[Step]:
    """For a task that an event decides: what the interaction takes, and the interaction."""
    event, rules = course.task.event, course.play.parameters
    if event is None or event in course.happened:
        return []
    if event == rules["trade"]["event"]:
        trades = course.play.catalogue.domain.trades
        creature, offer = next(
            (creature, offer)
            for creature in sorted(trades)
            for offer in trades[creature]
            if offer.item in course.task.accepted
        )
        for item, asked in offer.price:
            planner.get(item, asked)
        return [Step("trade", offer.item, 1, creature)]
    if event == rules["wash"]["event"]:
        item = next(each for each in rules["wash"]["items"] if each in course.task.accepted)
        planner.get(item, 1)
        return [Step("wash", item, 1, rules["wash"]["station"])]
    for item, named in sorted(rules["repair"]["events"].items()):
        if named == event:
            planner.get(item, 2)
            return [Step("repair", item, 1)]
    raise NoWayError(f'no interaction of this world gives the event "{event}"')


def _do(course: Course, stations: Stations, facts: Facts, step: Step, later: list[Step]) -> None:
    """Carries one step out; `StuckError` where that fails."""
    if step.kind in ("mine", "kill", "trade", "wash"):
        stations.take_along(_needed(facts, later))
    if step.kind == "mine":
        gathering.mine(course, _blocks_for(course, facts, step), step.item, step.count)
    elif step.kind == "kill":
        gathering.kill(course, step.target, step.item, step.count)
    elif step.kind == "craft":
        recipe = facts.recipe(step.item)
        if recipe.needs_table:
            stations.be_at(course.play.domain.crafting_station)
        before = course.held(step.item)
        for _ in range(step.count):
            course.operate(Action(craft=step.item))
        if course.held(step.item) <= before:
            raise gathering.StuckError(f"crafting {step.item} gave nothing")
    elif step.kind == "smelt":
        _smelt(course, stations, step)
    elif step.kind == "trade":
        _trade(course, step)
    elif step.kind == "wash":
        _wash(course, step)
    else:
        course.operate(Action(craft=step.item))


def _needed(facts: Facts, later: list[Step]) -> frozenset[str]:
    """The stations that later steps ask for."""
    domain = facts.domain
    tables = {
        domain.crafting_station for s in later if s.kind == "craft" and facts.recipe(s.item).needs_table
    }
    ovens = {domain.smelting_station for step in later if step.kind == "smelt"}
    return frozenset(tables | ovens)


def _blocks_for(course: Course, facts: Facts, step: Step) -> list[str]:
    """The blocks that give the item with what is held and take no more effort than the planned one."""
    held = [tool for tool in course.play.domain.tools if course.held(tool)]
    efforts = facts.domain.block_effort
    return [
        block
        for block, drops in sorted(facts.drops.drops.items())
        if step.item in drops
        and efforts.get(block, 99.0) <= efforts.get(step.target, 0.0)
        and any(course.play.catalogue.harvests(tool, block) for tool in (None, *held))
    ]


def _smelt(course: Course, stations: Stations, step: Step) -> None:
    """Loads a furnace, waits, takes out; fuel as it burns down."""
    domain, play = course.play.domain, course.play
    oven = stations.be_at(domain.smelting_station)
    wanted = course.held(step.item) + step.count
    loaded = 0
    for _ in range(40 * step.count):
        if course.held(step.item) >= wanted:
            return
        row = stations.oven(oven)
        more = loaded < step.count and course.held(step.target) > 0
        if more or (int(row["n_in"]) and not int(row["burn"])):
            before = course.held(step.target)
            course.operate(Action(smelt=(step.target, step.fuel)))
            loaded += before - course.held(step.target)
        elif int(row["n_out"]) and (
            not int(row["n_in"]) or course.held(step.item) + int(row["n_out"]) >= wanted
        ):
            course.operate(Action(collect=True))
        elif int(row["n_in"]):
            left = int(row["n_in"]) * play.parameters["rules"]["smelt_ticks"] - int(row["progress"])
            course.rest(max(1, min(left, int(row["burn"]) or left)))
        else:
            break
    raise gathering.StuckError(f"the furnace gave no {step.item}")


def _trade(course: Course, step: Step) -> None:
    """Goes to the one who trades and uses him."""
    row = gathering.nearest_creature(course, step.target)
    if row is None:
        raise gathering.StuckError(f"no {step.target} is left")
    at = gathering.approach(course, row)
    if at is None:
        raise gathering.StuckError(f"there is no way to the {step.target}")
    course.do(Action(use=True, yaw=at.yaw, pitch=at.pitch))
    course.rest(course.play.parameters["hands"]["trade_ticks"] + 2)


def _wash(course: Course, step: Step) -> None:
    """Goes to a cauldron with water and uses what is to be washed on it."""
    filled = [Cell(*cell) for cell, left in sorted(course.play.water.items()) if left > 0]
    if not filled:
        raise gathering.StuckError(f"no {step.target} with water is left")
    cell = min(filled, key=lambda each: (distance(course.place, each.centre()), each))
    if not go(course, around(cell), [cell]):
        raise gathering.StuckError(f"there is no way to the {step.target}")
    at = course.aim(cell)
    if at is None:
        raise gathering.StuckError(f"the {step.target} is hidden")
    course.do(Action(equip=step.item))
    course.do(Action(use=True, yaw=at.yaw, pitch=at.pitch))
