"""MineStudio's simulator as a worker; lines.py says what it is asked, docs/worlds.md what a reading is.

It runs in MineStudio's interpreter (`make world-minestudio`), by its path; a script named `minestudio` would
be taken for the package.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import lines
import numpy as np

GROUPS = ("use_item", "pickup", "break_item", "craft_item", "mine_block", "kill_entity", "custom")
"""totals that the simulator hands out"""
WINDOW = (640, 360)
"""what the policies that are played with were trained on, and where the scripted hand aims"""
KEYS = frozenset(
    ["attack", "back", "drop", "forward", "inventory", "jump", "left", "right", "sneak", "sprint", "use"]
    + [f"hotbar.{number}" for number in range(1, 10)]
)


class Game:
    """One game: what was asked of it, and what it says."""

    def __init__(self) -> None:
        self.simulator: Any = None
        self.film: lines.Film | None = None
        self.noted: tuple[Any, ...] = ()

    def begin(self, request: dict[str, Any]) -> dict[str, Any]:
        """Starts the game in a new world from the seed."""
        _engine()
        # Its launcher brings a screen of its own, on the processor or, where that is asked for, on the GPU.
        if os.environ.get("MINESTUDIO_GPU_RENDER") == "1":
            lines.want("vglrun", "VirtualGL")
        else:
            lines.want("xvfb-run", "xvfb")
        from minestudio.simulator import MinecraftSim

        self.simulator = MinecraftSim(
            action_type="env",
            obs_size=tuple(request["frame"]),
            render_size=WINDOW,
            seed=request["seed"],
            preferred_spawn_biome=request["biome"] or None,
        )
        if request["film"]:
            self.film = lines.Film(request["film"], WINDOW)
        # The simulator passes over the frames that are still empty.
        picture, info = self.simulator.reset()
        _refuse_loss(info)
        reading = self._reading(info, done=False)
        self.noted = _noted(reading)
        return {"reading": {**reading, "frame": lines.encoded(picture["image"])}}

    def step(self, request: dict[str, Any]) -> dict[str, Any]:
        """Holds keys for some ticks, or until something is worth a look."""
        unknown = sorted(set(request["held"]) - KEYS)
        if unknown:
            raise ValueError(f"no such key: {', '.join(unknown)}")
        readings: list[dict[str, Any]] = []
        while True:
            action = self.simulator.noop_action()
            action.update(dict.fromkeys(request["held"], 1))
            action["camera"] = np.array([request["pitch"], request["yaw"]], np.float32)
            picture, _, terminated, truncated, info = self.simulator.step(action)
            _refuse_loss(info)
            reading = self._reading(info, done=bool(terminated or truncated))
            readings.append(reading)
            before, self.noted = self.noted, _noted(reading)
            if reading["done"] or self.noted != before or len(readings) == request["ticks"]:
                reading["frame"] = lines.encoded(picture["image"])
                return {"readings": readings}

    def close(self) -> None:
        """Ends the game."""
        if self.film is not None:
            self.film.close()
        if self.simulator is not None:
            self.simulator.close()

    def _reading(self, info: dict[str, Any], done: bool) -> dict[str, Any]:
        if self.film is not None:
            self.film.add(info["pov"])
        place = info.get("location_stats") or {}
        slots = {
            str(slot): [stack["type"], int(stack["quantity"])]
            for slot, stack in sorted(info["inventory"].items(), key=lambda item: int(item[0]))
            if stack["type"] not in ("none", "air") and int(stack["quantity"]) > 0
        }
        held: dict[str, int] = {}
        for item, count in slots.values():
            held[item] = held.get(item, 0) + count
        health = _number(info.get("health"))
        return {
            **{name: _number(place.get(key)) for name, key in _PLACE.items()},
            "health": health,
            "hunger": _number(info.get("food_level")),
            "alive": None if health is None else health > 0,
            "gui": bool(info["is_gui_open"]) if "is_gui_open" in info else None,
            "slots": slots,
            "inventory": held,
            "equipped": ((info.get("equipped_items") or {}).get("mainhand") or {}).get("type"),
            "counters": _totals(info),
            "messages": None,
            "done": done,
        }


_PLACE = {"x": "xpos", "y": "ypos", "z": "zpos", "yaw": "yaw", "pitch": "pitch"}


def _refuse_loss(info: dict[str, Any]) -> None:
    """`RuntimeError` where the connection to the game is lost: what was observed is drawn at random then."""
    if "error" in info:
        raise RuntimeError(f"the game is lost: {info['error']}")


def _number(value: Any) -> float | None:
    """The simulator's numbers are numbers, or arrays without dimensions."""
    return None if value is None else float(np.asarray(value))


def _totals(info: dict[str, Any]) -> dict[str, int]:
    return {
        f"{group}:{thing}": int(np.asarray(total))
        for group in GROUPS
        for thing, total in sorted((info.get(group) or {}).items())
        if int(np.asarray(total)) > 0
    }


def _noted(reading: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(reading[name] for name in ("slots", "gui", "equipped", "health"))


def _engine() -> None:
    """`RuntimeError` where the game is not there. The simulator would ask at a prompt whether to fetch it."""
    from minestudio.utils import get_mine_studio_dir

    folder = Path(get_mine_studio_dir())
    if not (folder / "engine" / "build" / "libs" / "mcprec-6.13.jar").exists():
        raise RuntimeError(
            f"no game in {folder}: set MINESTUDIO_DIR to a folder that stays, and let "
            f"`{sys.executable} -m minestudio.simulator.entry -y` fetch it there (it needs Java 8)"
        )


if __name__ == "__main__":
    game = Game()
    lines.serve({"begin": game.begin, "step": game.step}, game.close)
