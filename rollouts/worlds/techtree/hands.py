"""What the hands do in an instant: taking something in hand, putting a block down, using what is held on what
is looked at. Striking, breaking and chewing take time and are the kernel's."""

from typing import Any, Final, NamedTuple

from rollouts.worlds.techtree.play import Cell, Play
from rollouts.worlds.techtree.space import look, look_at_mob
from rollouts.worlds.techtree.state import LAVA, SOLID, TARGET, WATER
from warehouse.domains import Trade

BARE: Final = "none"


class Sight(NamedTuple):
    """A block that is looked at: its cell, and the cell on this side of it."""

    cell: Cell
    before: Cell


def sight(play: Play, stops: int = TARGET) -> Sight | None:
    """The block in the line of sight within reach; `stops` are the traits that the look does not pass."""
    rules = play.parameters["rules"]
    traits = play.catalogue.traits
    found = look(play.blocks, traits, play.state.body[0], rules["eye"], rules["reach"], stops)
    if found[6] < 0:
        return None
    return Sight((found[0], found[1], found[2]), (found[3], found[4], found[5]))


def creature_in_sight(play: Play) -> int | None:
    """The row of the creature in the line of sight and in reach of a blow; None without one."""
    rules, state = play.parameters["rules"], play.state
    table = play.catalogue.creature_table
    row, _ = look_at_mob(state.mobs, table, state.body[0], rules["eye"], rules["strike"])
    return int(row) if row >= 0 else None


def equip(play: Play, item: str) -> None:
    """Takes `item` in hand; "none" empties the hand."""
    if item == BARE:
        play.pack.hand = None
    elif item not in play.domain.items:
        play.refuse("INVALID_ACTION", item)
    elif not play.pack.hold(item):
        play.refuse("MISSING_TOOL" if item in play.domain.tools else "MISSING_INGREDIENT", f"1 {item}")


def place(play: Play, item: str) -> None:
    """Puts a block down against what is looked at, or into what gives way; notes why it cannot be."""
    block = play.catalogue.placed_as(item) if item in play.domain.items else None
    if block is None:
        play.refuse("INVALID_ACTION", item)
        return
    if item not in play.pack.counts:
        play.refuse("MISSING_INGREDIENT", f"1 {item}")
        return
    seen = sight(play)
    if seen is None:
        play.refuse("TARGET_UNREACHABLE", f"nothing to put {item} against", "no_room")
        return
    yields = play.block(seen.cell) in play.parameters["yielding"]["blocks"]
    cell = seen.cell if yields else seen.before
    if not play.inside(cell) or (not yields and play.traits(cell) & TARGET):
        play.refuse("TARGET_UNREACHABLE", f"no room for {item}", "no_room")
        return
    if play.catalogue.traits[play.catalogue.block[block]] & SOLID and _occupied(play, cell):
        play.refuse("TARGET_UNREACHABLE", f"no room for {item}", "no_room")
        return
    play.put(cell, block)
    play.pack.take(item, 1)
    play.count("use_item", item)
    settle(play, cell)


def use(play: Play) -> bool:
    """Uses what is held on what is looked at. True if that did something, or tried to; eating is then off."""
    held = play.pack.held_item
    row = creature_in_sight(play)
    if row is not None:
        play.struck[play.catalogue.creatures[int(play.state.mobs[row]["kind"])]] = play.now
    if row is not None and _use_on_creature(play, row, held):
        return True
    seen = sight(play)
    if seen is not None:
        name = play.block(seen.cell)
        play.struck[name] = play.now
        wash = play.parameters["wash"]
        if name == wash["station"] and (held in wash["items"] or held in wash["fills"]):
            _at_cauldron(play, seen.cell, str(held))
            return True
        screen = play.parameters["screens"].get(name)
        if screen:
            play.open_screen(screen, 0)
            return True
        if _use_on_block(play, seen.cell, held):
            return True
    fluid = sight(play, TARGET | WATER | LAVA)
    return fluid is not None and play.is_fluid(fluid.cell) and _use_on_block(play, fluid.cell, held)


def wear(play: Play, amount: int) -> None:
    """Wears what is in the hand; it breaks when its uses are up."""
    held = play.pack.held
    if held is None or not play.catalogue.durability(held.item):
        return
    held.wear += amount
    if held.wear >= play.catalogue.durability(held.item):
        item = held.item
        play.pack.take_held()
        play.count("break_item", item)


def settle(play: Play, cell: Cell) -> None:
    """Lets sand and the like above an emptied cell, or in a cell over nothing, drop at once."""
    falling = play.parameters["falling"]["blocks"]
    x, y, z = cell
    for height in range(y, play.blocks.shape[1]):
        at = (x, height, z)
        name = play.block(at)
        if name not in falling:
            if height == y:
                continue
            return
        floor = height
        while floor > 0 and not play.traits((x, floor - 1, z)) & SOLID:
            floor -= 1
        if floor != height:
            play.put(at, play.catalogue.palette[play.catalogue.air])
            play.put((x, floor, z), name)


def _occupied(play: Play, cell: Cell) -> bool:
    """Whether the body or a creature stands in a cell."""
    rules = play.parameters["rules"]
    if _overlaps(cell, play.body, rules["half"], rules["height"]):
        return True
    table = play.catalogue.creature_table
    for mob in play.state.mobs[: int(play.body["n_mobs"])]:
        kind = int(mob["kind"])
        if kind >= 0 and _overlaps(cell, mob, float(table[kind]["half"]), float(table[kind]["height"])):
            return True
    return False


def _overlaps(cell: Cell, box: Any, half: float, height: float) -> bool:
    x, y, z = float(box["x"]), float(box["y"]), float(box["z"])
    return (
        x - half < cell[0] + 1
        and x + half > cell[0]
        and z - half < cell[2] + 1
        and z + half > cell[2]
        and y < cell[1] + 1
        and y + height > cell[1]
    )


def _use_on_creature(play: Play, row: int, held: str | None) -> bool:
    creature = play.catalogue.creatures[int(play.state.mobs[row]["kind"])]
    if creature in play.catalogue.domain.trades:
        play.open_screen("other", play.parameters["hands"]["trade_ticks"])
        play.pending = ("trade", (creature,))
        return True
    for use_ in _uses(play, held, creature):
        if use_.get("once") and row in play.shorn:
            return False
        if use_.get("once"):
            play.shorn.add(row)
        mob = play.state.mobs[row]
        given = play.amount(*use_.get("amount", (1, 1)), 22, row)
        _pay(play, str(held), use_)
        if use_.get("spends"):
            play.give(use_["gives"], given)
        else:
            play.drop(float(mob["x"]), float(mob["y"]) + 0.5, float(mob["z"]), use_["gives"], given)
        return True
    return False


def _use_on_block(play: Play, cell: Cell, held: str | None) -> bool:
    for use_ in _uses(play, held, play.block(cell)):
        play.put(cell, use_["becomes"])
        _pay(play, str(held), use_)
        if "gives" in use_:
            play.give(use_["gives"], 1)
        return True
    return False


def _uses(play: Play, held: str | None, on: str) -> list[dict[str, Any]]:
    return [
        row
        for row in play.parameters["uses"]
        if on in row["on"] and held in play.catalogue.named(row["held"])
    ]


def _pay(play: Play, held: str, use_: dict[str, Any]) -> None:
    play.count("use_item", held)
    if use_.get("spends"):
        play.pack.take_held(use_["spends"])
    wear(play, use_.get("wears", 0))


def trade(play: Play, creature: str) -> None:
    """The end of a trade: what is asked for goes, what is given comes. The first offer that can be paid."""
    offers = play.catalogue.domain.trades[creature]
    short = [_short(play, offer) for offer in offers]
    if all(short):
        play.refuse("MISSING_INGREDIENT", short[0])
        return
    offer = offers[short.index("")]
    for item, asked in offer.price:
        play.pack.take(item, asked)
    play.give(offer.item, offer.count)
    play.count("custom", "traded_with_villager")
    play.happen(play.parameters["trade"]["event"])


def _short(play: Play, offer: Trade) -> str:
    """What is lacking of an offer's price, as the first item of it and how many; "" where it can be paid."""
    lacking = ((item, asked - play.pack.counts.get(item, 0)) for item, asked in offer.price)
    return next((f"{number} {item}" for item, number in lacking if number > 0), "")


def _at_cauldron(play: Play, cell: Cell, held: str) -> None:
    wash = play.parameters["wash"]
    left = play.water.get(cell, 0)
    if held in wash["fills"]:
        if left < wash["water"]:
            play.water[cell] = wash["water"]
            play.pack.take_held()
            play.give(wash["fills"][held], 1)
            play.count("use_item", held)
        return
    if left < 1:
        play.refuse("MISSING_INGREDIENT", "1 water")
        return
    play.water[cell] = left - 1
    play.count("custom", "clean_armor")
    play.happen(wash["event"])
