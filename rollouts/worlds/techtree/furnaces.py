"""Furnaces: putting in, taking out. What burns and smelts per tick is the kernel's."""

from typing import Any, Final

import numpy as np

from rollouts.worlds.techtree.play import Cell, Play

# What the kernel counts a fuel's worth in.
_NOTHING: Final = -1


def smelt(play: Play, source: str, fuel: str) -> None:
    """Puts one `source` into a furnace in reach, and one `fuel` if none burns; notes why it cannot be.

    Where the source is used up and a cold furnace still holds some, the fuel alone is put in.
    """
    domain, pack = play.domain, play.pack
    if source not in domain.items or (fuel and fuel not in domain.items) or source not in domain.smelting:
        play.refuse("INVALID_ACTION", source if source not in domain.smelting else fuel)
        return
    cell = play.station(domain.smelting_station)
    if cell is None:
        play.refuse("MISSING_STATION", domain.smelting_station)
    oven = furnace_at(play, cell) if cell else None
    burning = oven is not None and int(oven["burn"]) > 0
    held = pack.counts.get(fuel, 0) - (fuel == source)
    lacks_fuel = not burning and (fuel not in domain.fuels or held < 1)
    if lacks_fuel:
        play.refuse("NO_FUEL", fuel)
    waiting = oven is not None and int(oven["n_in"]) > 0
    fuel_only = waiting and not burning and source not in pack.counts
    if source not in pack.counts and not fuel_only:
        play.refuse("MISSING_INGREDIENT", f"1 {source}")
        return
    if oven is None or lacks_fuel:
        return
    if not fuel_only:
        if not _takes(play, oven, source):
            play.refuse("SMELT_FAIL", source)
            return
        pack.take(source, 1)
        oven["input"], oven["n_in"] = play.catalogue.item[source], int(oven["n_in"]) + 1
    if not burning:
        pack.take(fuel, 1)
        oven["burn"] = round(domain.fuels[fuel] * play.parameters["rules"]["smelt_ticks"])
        if fuel in play.parameters["remains"]:
            play.give(play.parameters["remains"][fuel], 1)
    oven["cold"] = 0


def collect(play: Play) -> None:
    """Takes what a furnace in reach has made; notes why there is nothing, where that is a failure."""
    cell = play.station(play.domain.smelting_station)
    if cell is None:
        play.refuse("MISSING_STATION", play.domain.smelting_station)
        return
    oven = furnace_at(play, cell)
    made = int(oven["n_out"])
    if made:
        item = play.catalogue.items[int(oven["output"])]
        taken = play.pack.add(item, made)
        oven["n_out"] = made - taken
        if taken < made:
            play.refuse("INVENTORY_FULL", item)
        if taken:
            play.count("craft_item", item, taken)
    elif int(oven["n_in"]) and not int(oven["burn"]):
        # What waits is named: the fire may have gone out over somebody else's sand.
        play.notice("NO_FUEL", f"under {play.catalogue.items[int(oven['input'])]}")


def furnace_at(play: Play, cell: Cell) -> Any:
    """The record of the furnace in a cell; a new one takes the first free row, or the last."""
    rows = play.state.furnaces
    here = (rows["used"] == 1) & (rows["x"] == cell[0]) & (rows["y"] == cell[1]) & (rows["z"] == cell[2])
    found = np.flatnonzero(here)
    if len(found):
        return rows[int(found[0])]
    free = np.flatnonzero(rows["used"] == 0)
    place = int(free[0]) if len(free) else len(rows) - 1
    row = rows[place]
    for name in rows.dtype.names or ():
        row[name] = 0
    row["x"], row["y"], row["z"], row["used"] = *cell, 1
    row["input"] = row["output"] = _NOTHING
    play.body["n_furnaces"] = max(int(play.body["n_furnaces"]), place + 1)
    return row


def spill(play: Play, cell: Cell) -> None:
    """A furnace is broken: what it held falls out."""
    oven = furnace_at(play, cell)
    for kind, count in (("input", "n_in"), ("output", "n_out")):
        if int(oven[count]):
            item = play.catalogue.items[int(oven[kind])]
            play.drop(cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5, item, int(oven[count]))
    oven["used"] = 0


def _takes(play: Play, oven: Any, source: str) -> bool:
    """Whether the furnace's slots are free for one more of `source` and its product."""
    stack = play.parameters["rules"]["stack"]
    product = play.catalogue.item[play.domain.smelting[source]]
    same_input = int(oven["n_in"]) == 0 or int(oven["input"]) == play.catalogue.item[source]
    same_output = int(oven["n_out"]) == 0 or int(oven["output"]) == product
    if same_input and same_output and int(oven["n_in"]) < stack:
        oven["output"] = product
        return True
    return False
