"""What follows when a tick of the kernel raised a flag: drops, kills, pick-ups, meals, deaths, and what the
world itself notes of failures."""

import heapq

import numpy as np

from rollouts.worlds.techtree import crafting, furnaces, hands
from rollouts.worlds.techtree.catalogue import Drop
from rollouts.worlds.techtree.play import Cell, Play
from rollouts.worlds.techtree.state import (
    ATE,
    BROKE,
    DIED,
    HIT,
    LOST,
    SCREEN,
    STALLED,
    STUCK,
    TOUCHED,
    UNFUELLED,
    of_thing,
    real,
    whole,
)

_EXHAUSTION = real("exhaustion")
_STUCK, _MINE_X, _MINE_Y, _MINE_Z = map(whole, ("stuck", "mine_x", "mine_y", "mine_z"))
_ITEM, _COUNT, _WEAR, _REFUSED, _TOUCHED = map(of_thing, ("item", "count", "wear", "refused", "touched"))
_LOST = {1: "burnt", 2: "vanished", 3: "not picked up"}


def follow(play: Play, flags: int) -> None:
    """Acts on the flags of the tick that has just passed."""
    if flags & BROKE:
        _broke(play)
    if flags & HIT:
        _hit(play)
    if flags & ATE:
        _ate(play)
    if flags & TOUCHED:
        _touched(play)
    if flags & SCREEN:
        _finish(play)
    if flags & LOST:
        _lost(play)
    if flags & STUCK:
        play.notice("NAV_STUCK", f"within {play.parameters['rules']['stuck_radius']} blocks")
        play.state.wholes[_STUCK] = 0
    if flags & STALLED:
        play.notice("GUI_STALL", play.screen)
    if flags & UNFUELLED:
        play.notice("NO_FUEL", "")
    if flags & DIED:
        _died(play)


def decay(play: Play) -> None:
    """Leaves whose time has come fall."""
    while play.decays and play.decays[0][0] < play.now:
        _, cell = heapq.heappop(play.decays)
        if play.block(cell) in play.catalogue.named(play.parameters["decay"]["blocks"]):
            leaf = play.block(cell)
            play.put(cell, play.catalogue.palette[play.catalogue.air])
            _scatter(play, cell, leaf, wanted=False)


def _broke(play: Play) -> None:
    wholes = play.state.wholes
    cell = (wholes[_MINE_X], wholes[_MINE_Y], wholes[_MINE_Z])
    name, held = play.block(cell), play.pack.held_item
    play.put(cell, play.catalogue.palette[play.catalogue.air])
    play.state.reals[_EXHAUSTION] += play.parameters["hands"]["mine_exhaustion"]
    wholes[_STUCK] = 0
    play.achieved = play.now
    play.count("mine_block", name)
    if name == play.domain.smelting_station:
        furnaces.spill(play, cell)
    if name == play.parameters["wash"]["station"]:
        play.water.pop(cell, None)
    breaking = play.catalogue.breaking(held, name)
    _let_fall(play, cell, name, breaking.drops, wanted=True)
    if breaking.lacks_tool:
        play.notice("MISSING_TOOL", name)
    if breaking.wear:
        hands.wear(play, breaking.wear)
    above = (cell[0], cell[1] + 1, cell[2])
    if play.inside(above) and play.block(above) in play.catalogue.unsteady:
        _uproot(play, above)
        hands.settle(play, cell)
    if breaking.holds_leaves:
        _loosen_leaves(play, cell)


def _uproot(play: Play, cell: Cell) -> None:
    """A plant over a broken block comes off, with what it leaves; so does the next one of a stalk."""
    while play.inside(cell) and play.block(cell) in play.parameters["rooted"]["blocks"]:
        plant = play.block(cell)
        play.put(cell, play.catalogue.palette[play.catalogue.air])
        _scatter(play, cell, plant, wanted=True)
        cell = (cell[0], cell[1] + 1, cell[2])


def _scatter(play: Play, cell: Cell, name: str, *, wanted: bool) -> None:
    """What a block leaves falls into its cell."""
    _let_fall(play, cell, name, play.catalogue.block_drops(name), wanted=wanted)


def _let_fall(play: Play, cell: Cell, name: str, drops: tuple[Drop, ...], *, wanted: bool) -> None:
    for drop in _drawn(play, name, drops, cell):
        count = play.amount(drop.least, drop.most, 11, *cell)
        if count:
            play.drop(cell[0] + 0.5, cell[1] + 0.3, cell[2] + 0.5, drop.item, count, wanted=wanted)


def _drawn(play: Play, source: str, drops: tuple[Drop, ...], cell: Cell) -> list[Drop]:
    """The drops that luck grants; a rare one may come in place of a usual one."""
    if len(drops) == 1 and drops[0].luck >= 1:
        return [*drops]
    rare = [drop for n, drop in enumerate(drops) if drop.luck < 1 and play.luck(30 + n, *cell) < drop.luck]
    replaced = play.parameters["instead"].get(source, []) if rare else []
    usual = [drop for drop in drops if drop.luck >= 1 and drop.item not in replaced]
    # Of the drops that stand for one another only one comes.
    return usual + (rare[:1] if replaced else rare)


def _loosen_leaves(play: Play, cell: Cell) -> None:
    """A log is gone: the leaves around it that no other log holds are set to fall."""
    rule = play.parameters["decay"]
    leaves, logs = play.catalogue.among(rule["blocks"]), play.catalogue.among(rule["holders"])
    reach = rule["reach"]
    low = [max(0, at - 2 * reach) for at in cell]
    high = [min(size, at + 2 * reach + 1) for at, size in zip(cell, play.blocks.shape, strict=True)]
    around = play.blocks[low[0] : high[0], low[1] : high[1], low[2] : high[2]]
    held_by = np.argwhere(logs[around]) + low
    near = np.argwhere(leaves[around]) + low
    near = near[np.abs(near - cell).max(axis=1) <= reach]
    gaps = np.abs(near[:, None, :] - held_by[None, :, :]).sum(axis=2)
    due = {at for _, at in play.decays}
    for x, y, z in near[(gaps > reach).all(axis=1)].tolist():
        leaf = (x, y, z)
        if leaf in due:
            continue
        wait = play.amount(rule["least"], rule["most"], 12, *leaf)
        heapq.heappush(play.decays, (play.now + wait, leaf))


def _hit(play: Play) -> None:
    mob = play.state.mobs[int(play.body["hit"])]
    play.struck[play.catalogue.creatures[int(mob["kind"])]] = play.now
    held = play.pack.held_item
    if held is not None and held in play.domain.tools:
        sword = play.domain.tools[held][0] == "sword"
        hands.wear(play, play.parameters["wear"]["sword_strike" if sword else "tool_strike"])
    if float(mob["health"]) > 0:
        return
    name = play.catalogue.creatures[int(mob["kind"])]
    mob["kind"] = -1
    play.count("kill_entity", name)
    place = (int(mob["x"]), int(mob["y"]), int(mob["z"]))
    for drop in _drawn(play, name, play.catalogue.creature_drops(name), place):
        count = play.amount(drop.least, drop.most, 13 + len(drop.item), *place)
        if count:
            play.drop(float(mob["x"]), float(mob["y"]) + 0.4, float(mob["z"]), drop.item, count)


def _touched(play: Play) -> None:
    things = play.state.things
    for row in play.state.items["touched"].nonzero()[0].tolist():
        things[row, _TOUCHED] = 0
        item, count = play.catalogue.items[things[row, _ITEM]], things[row, _COUNT]
        taken = play.pack.add(item, count, things[row, _WEAR])
        things[row, _COUNT] = count - taken
        if taken:
            play.count("pickup", item, taken)
        if taken < count:
            things[row, _REFUSED] = 1
            play.refuse("INVENTORY_FULL", item)


def _lost(play: Play) -> None:
    for row in np.flatnonzero(play.state.items["lost"]):
        thing = play.state.items[int(row)]
        how, item = int(thing["lost"]), play.catalogue.items[int(thing["item"])]
        if int(thing["wanted"]):
            play.notice("TARGET_UNREACHABLE", f"{item} {_LOST[how]}")
        thing["lost"] = thing["wanted"] = 0
        if how != 3:
            thing["count"] = 0


def _ate(play: Play) -> None:
    food = play.pack.held_item
    if food is None:
        return
    points = play.domain.food_points[food]
    body = play.body
    body["food"] = min(play.domain.spawn_hunger, float(body["food"]) + points)
    gained = points * play.catalogue.saturation(food)
    body["saturation"] = min(float(body["food"]), float(body["saturation"]) + gained)
    play.pack.take_held()
    if food in play.parameters["remains"]:
        play.give(play.parameters["remains"][food], 1)
    play.count("use_item", food)


def _finish(play: Play) -> None:
    """A screen's time is over: what was begun on it is done, and it closes unless it was open before."""
    pending, kept = play.pending, play.kept_open
    play.pending = None
    if pending is not None:
        kind, names = pending
        if kind == "craft":
            crafting.craft(play, *names)
        elif kind == "smelt":
            furnaces.smelt(play, *names)
        elif kind == "collect":
            furnaces.collect(play)
        else:
            hands.trade(play, *names)
    if not kept:
        play.close_screen()


def _died(play: Play) -> None:
    body = play.body
    play.refuse("DEATH", "")
    play.close_screen()
    x, y, z = float(body["x"]), float(body["y"]) + 0.5, float(body["z"])
    for slot in play.pack.empty():
        play.drop(x, y, z, slot.item, slot.count, slot.wear, wanted=False)
