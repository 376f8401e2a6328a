"""A client's worker whose game is the model of tests/screen_game.py, with three logs in the bag."""

import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "rollouts" / "worlds" / "client" / "workers")]

import lines  # noqa: E402

from tests.screen_game import ScreenGame  # noqa: E402

GAME = ScreenGame({20: ("oak_log", 3)})


def reading() -> dict[str, Any]:
    state = GAME.state()
    held: dict[str, int] = {}
    for item, count in state["slots"].values():
        held[item] = held.get(item, 0) + count
    slots = {str(slot): list(stack) for slot, stack in state["slots"].items()}
    return {**state, "alive": True, "slots": slots, "inventory": held, "counters": {}}


FRAME = lines.encoded(np.zeros((128, 128, 3), np.uint8))


def begin(request: dict[str, Any]) -> dict[str, Any]:
    return {"reading": {**reading(), "frame": FRAME}}


def step(request: dict[str, Any]) -> dict[str, Any]:
    readings = []
    for _ in range(request["ticks"]):
        GAME.tick(frozenset(request["held"]), request["pitch"], request["yaw"])
        readings.append(reading())
    readings[-1]["frame"] = FRAME
    return {"readings": readings}


if __name__ == "__main__":
    lines.serve({"begin": begin, "step": step}, close=lambda: None)
