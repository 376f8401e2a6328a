"""MineRL's environments as a worker; lines.py says what it is asked, docs/worlds.md what a reading is.

It runs in MineRL's interpreter (Python 3.8 and up), by its path; a script named `minerl` would be taken for
the package. MineRL 1.0.2 is what it is made for, whose environments have the keys of a keyboard and a mouse;
what an older one has beside them (craft, equip, place) stays at "none".
"""

from __future__ import annotations

import os
from typing import Any

import lines
import numpy as np

GROUPS = (
    "use_item",
    "drop",
    "pickup",
    "break_item",
    "craft_item",
    "mine_block",
    "damage_dealt",
    "entity_killed_by",
    "kill_entity",
)
"""totals that an environment may hand out"""
EMPTY_FRAMES = 20
"""ticks after a reset in which the window is still empty"""


class Game:
    """One game: what was asked of it, and what it says."""

    def __init__(self) -> None:
        self.environment: Any = None
        self.size = (128, 128)
        self.film: lines.Film | None = None
        self.noted: tuple[Any, ...] = ()

    def begin(self, request: dict[str, Any]) -> dict[str, Any]:
        """Starts the game in a new world from the seed."""
        if not os.environ.get("DISPLAY"):
            lines.want("xvfb-run", "xvfb")
            os.environ["MINERL_HEADLESS"] = "1"
        import gym
        import minerl  # noqa: F401  (it is what makes the environments known)

        self.environment = gym.make(request["environment"])
        self.environment.seed(request["seed"])
        self.size = tuple(request["frame"])
        seen = self.environment.reset()
        info: dict[str, Any] = {}
        for _ in range(EMPTY_FRAMES):
            seen, done, info = self._tick(self._still())
            if done:
                raise RuntimeError("the game ended before the player stood there")
        if request["film"]:
            height, width = np.asarray(seen["pov"]).shape[:2]
            self.film = lines.Film(request["film"], (width, height))
        reading = self._reading(seen, info, done=False)
        self.noted = _noted(reading)
        return {"reading": {**reading, "frame": self._frame(seen)}}

    def step(self, request: dict[str, Any]) -> dict[str, Any]:
        """Holds keys for some ticks, or until something is worth a look."""
        action = self._still()
        missing = sorted(set(request["held"]) - set(action))
        if missing:
            raise ValueError(f"this environment has no key {', '.join(missing)}")
        action.update(dict.fromkeys(request["held"], 1))
        action["camera"] = np.array([request["pitch"], request["yaw"]], np.float32)
        readings: list[dict[str, Any]] = []
        while True:
            seen, done, info = self._tick(dict(action))
            reading = self._reading(seen, info, done)
            readings.append(reading)
            before, self.noted = self.noted, _noted(reading)
            if reading["done"] or self.noted != before or len(readings) == request["ticks"]:
                reading["frame"] = self._frame(seen)
                return {"readings": readings}

    def close(self) -> None:
        """Ends the game."""
        if self.film is not None:
            self.film.close()
        if self.environment is not None:
            self.environment.close()

    def _tick(self, action: dict[str, Any]) -> tuple[dict[str, Any], bool, dict[str, Any]]:
        """One step of the environment: what was observed, whether the game is over, and its info."""
        seen, _, done, info = self.environment.step(action)
        if "error" in info:
            # What was observed is drawn at random then.
            raise RuntimeError(f"the game is lost: {info['error']}")
        return seen, bool(done), info

    def _still(self) -> dict[str, Any]:
        """The action of an environment in which nothing is done: no key down, and "none" where it chooses."""
        space = self.environment.action_space
        return dict(space.noop() if hasattr(space, "noop") else space.no_op())

    def _frame(self, seen: dict[str, Any]) -> str:
        import cv2

        return str(lines.encoded(cv2.resize(np.ascontiguousarray(seen["pov"]), self.size)))

    def _reading(self, seen: dict[str, Any], info: dict[str, Any], done: bool) -> dict[str, Any]:
        if self.film is not None:
            self.film.add(np.ascontiguousarray(seen["pov"]))
        place = seen.get("location_stats") or info.get("location_stats") or {}
        life = seen.get("life_stats") or {}
        opened = seen.get("isGuiOpen", info.get("isGuiOpen"))
        alive = _number(life.get("is_alive"))
        counted = [group for group in GROUPS if group in seen]
        return {
            **{name: _number(place.get(key)) for name, key in _PLACE.items()},
            "health": _number(life.get("life")),
            "hunger": _number(life.get("food")),
            "alive": None if alive is None else bool(alive),
            "gui": None if opened is None else bool(np.asarray(opened)),
            "slots": None,
            "inventory": _counts(seen["inventory"], but=("none", "air")),
            "equipped": _name(((seen.get("equipped_items") or {}).get("mainhand") or {}).get("type")),
            "counters": {
                f"{group}:{thing}": total
                for group in counted
                for thing, total in _counts(seen[group]).items()
            }
            if counted
            else None,
            "messages": None,
            "done": done,
        }


_PLACE = {"x": "xpos", "y": "ypos", "z": "zpos", "yaw": "yaw", "pitch": "pitch"}


def _number(value: Any) -> float | None:
    """Numbers are numbers, or arrays without dimensions."""
    return None if value is None else float(np.asarray(value))


def _name(value: Any) -> str | None:
    return None if value is None else str(np.asarray(value))


def _counts(told: dict[str, Any], but: tuple[str, ...] = ()) -> dict[str, int]:
    """Those of the counts that are not zero, by name."""
    names = [name for name in sorted(told) if name not in but]
    totals = np.array([np.asarray(told[name]) for name in names], dtype=np.int64).reshape(len(names))
    return {names[at]: int(totals[at]) for at in np.flatnonzero(totals)}


def _noted(reading: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(reading[name] for name in ("inventory", "gui", "equipped", "health"))


if __name__ == "__main__":
    game = Game()
    lines.serve({"begin": game.begin, "step": game.step}, game.close)
