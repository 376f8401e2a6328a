"""What was done in an attempt, as rows: which inputs were held, and for how long."""

from typing import Any, Final

import polars as pl
from orjson import dumps, loads

from rollouts.protocols import Action, Keys, Move

MOVES: Final = pl.Schema({"seq": pl.Int32(), "ticks": pl.Int32(), "action": pl.String()})
"""Inputs that were held, as JSON of those that were not at rest, and the ticks that passed under them."""
_RESTS: Final = Action()


def written(action: Action) -> str:
    """The inputs of an action that are not at rest, as JSON."""
    held = zip(Action._fields, action, _RESTS, strict=True)
    # Most are the very objects of rest, which is faster to see than that they are equal.
    inputs = {name: value for name, value, rest in held if value is not rest and value != rest}
    if action.keys is not None:
        inputs["keys"] = action.keys._asdict()
    return dumps(inputs).decode()


def moves_of(rows: pl.DataFrame) -> list[Move]:
    """The moves that rows of `MOVES` hold, in the order of the rows."""
    moves = []
    for action, ticks in rows.select("action", "ticks").iter_rows():
        inputs: dict[str, Any] = loads(action)
        if "smelt" in inputs:
            inputs["smelt"] = tuple(inputs["smelt"])
        if "keys" in inputs:
            keys = inputs["keys"]
            inputs["keys"] = Keys(tuple(keys["held"]), keys["pitch"], keys["yaw"])
        moves.append(Move(Action(**inputs), ticks))
    return moves
