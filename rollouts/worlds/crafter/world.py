"""The world `crafter`: the `World` protocol over the published game."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rollouts.protocols import Action, Advance, Observation, Truth, Window, WorldEvent
from rollouts.worlds.crafter.game import ACTIONS, CARRIED, LAYER, MATERIALS, Game
from rollouts.worlds.crafter.settings import Settings
from warehouse.domains import Domain

_YAWS: Final[Mapping[tuple[int, int], float]] = {(0, 1): 0.0, (-1, 0): 90.0, (0, -1): 180.0, (1, 0): -90.0}
"""facing (east, south) -> yaw as the protocol has it: 0 looks to +z, 90 to -x"""
_STEPS: Final = ("move_down", "move_left", "move_up", "move_right")
"""by quarters of yaw"""
_PLACED: Final[Mapping[str, str]] = {"stone": "place_stone", "sapling": "place_plant"}
_KINDS: Final = {"x": np.float32, "y": np.float32, "z": np.float32, "yaw": np.float32} | {
    "health": np.float32,
    "hunger": np.float32,
    "alive": np.bool_,
    "action": object,
}


class CrafterWorld:
    """Crafter (danijar/crafter 1.8.3) with its own rules and its own worlds; a tick is one step of the game.

        world = CrafterWorld(load_domain("crafter"))
        seen = world.reset(seed=7)
        seen = world.step(Action(forward=1, yaw=90.0), ticks=20).observation

    x points east, z south (the game's x and y), and y is the middle of the one layer of cells, always. The
    agent sees the nine by seven cells of the game's picture, in the dark as well as by day. It turns by
    walking, as in the game: a yaw without a step does nothing. What the game has not (screens, a thing in
    hand, a pitch, messages) is not observed and stays null.
    """

    name = "crafter"
    observes: tuple[str, ...] = (
        "position",
        "rotation",
        "vitals",
        "inventory",
        "actions",
        "counters",
        "sightings",
    )

    def __init__(self, domain: Domain, settings: Settings | None = None) -> None:
        self._domain = domain
        self.game = Game(images=(settings or Settings()).images)
        """the game's own state; nothing that an agent may look into"""
        self._seed: int | None = None
        self._tick = 0
        self._seen: Observation | None = None

    def reset(self, seed: int) -> Observation:
        """A new world from a seed, the agent in its middle, tick 0."""
        self.game.begin(seed)
        self._seed, self._tick = seed, 0
        self._seen = self._observed(self._held())
        return self._seen

    def truths(self, since_tick: int) -> Sequence[Truth]:
        """None: Crafter says nothing of why something failed."""
        return ()

    def replay(self, actions: Iterable[tuple[Action, int]]) -> Observation:
        """From the last reset's seed through (action, ticks that passed) to the same observation."""
        seen = self.reset(self._begun())
        for action, ticks in actions:
            left = ticks
            while left > 0:
                done = self.step(action, left)
                left -= done.observation.tick - seen.tick
                seen = done.observation
        return seen

    def step(self, action: Action, ticks: int = 1) -> Advance:
        """Holds an action for at most `ticks` ticks; `ValueError` for fewer than 1. Fewer pass when something
        is worth a look: an event, a change of what is held, a step that was not made."""
        if ticks < 1:
            raise ValueError(f"{ticks} ticks")
        self._begun()
        assert self._seen is not None
        events: list[WorldEvent] = []
        changes: list[tuple[int, str, int, int]] = []
        rows: list[tuple[Any, ...]] = []
        held, name = dict(self._seen.inventory), action.name()
        for _ in range(ticks):
            before = len(events), len(changes)
            moved = self._pass(action, events)
            now = self._held()
            changes += [
                (self._tick, item, now.get(item, 0) - held.get(item, 0), now.get(item, 0))
                for item in CARRIED
                if now.get(item, 0) != held.get(item, 0)
            ]
            held = now
            rows.append((*self._body(), name))
            if not moved or (len(events), len(changes)) != before:
                break
        self._seen = self._observed(held)
        return Advance(self._seen, _columns(rows), tuple(events), tuple(changes))

    def _begun(self) -> int:
        if self._seed is None:
            raise RuntimeError("reset the world first")
        return self._seed

    def _pass(self, action: Action, events: list[WorldEvent]) -> bool:
        """One tick: notes what happened, and says whether a step that was asked for was made. Nothing happens
        any more once the agent is dead."""
        self._tick += 1
        player = self.game.player
        if player.health <= 0:
            return False
        wanted = self._wanted(action)
        ahead, was = self.game.ahead().material, tuple(int(at) for at in player.pos)
        vitals, counted = dict(player.inventory), dict(player.achievements)
        self.game.step(ACTIONS[wanted])
        for achievement, count in player.achievements.items():
            if count > counted[achievement]:
                events += _counters(self._tick, achievement, ahead)
        lost = int(vitals["health"]) - int(player.health)
        if lost > 0:
            events.append(WorldEvent(self._tick, "game", "hurt", lost))
        for vital in ("drink", "energy"):
            if player.inventory[vital] != vitals[vital]:
                events.append(WorldEvent(self._tick, "game", vital, int(player.inventory[vital])))
        if player.health <= 0:
            events.append(WorldEvent(self._tick, "game", "died", None, None, "died"))
        return not wanted.startswith("move_") or was != tuple(int(at) for at in player.pos)

    def _wanted(self, action: Action) -> str:
        """The one of the game's actions that an action asks for: of several inputs the first of making,
        placing, sleeping, doing and walking. What the game has no action for does nothing."""
        if action.craft is not None:
            in_place = action.craft in self._domain.built_in_place
            name = f"{'place' if in_place else 'make'}_{action.craft}"
            return name if name in ACTIONS else "noop"
        if action.place is not None:
            return _PLACED.get(action.place, "noop")
        if action.sleep:
            return "sleep"
        if action.attack or action.use:
            return "do"
        if not action.forward and not action.strafe:
            return "noop"
        yaw = _YAWS[self._facing()] if action.yaw is None else action.yaw
        aside = {-1: -90.0, 0: 0.0, 1: 90.0}[action.strafe]
        turned = aside if not action.forward else 0.0 if action.forward > 0 else 180.0
        return _STEPS[round((yaw + turned) / 90.0) % 4]

    def _facing(self) -> tuple[int, int]:
        east, south = self.game.player.facing
        return int(east), int(south)

    def _held(self) -> dict[str, int]:
        inventory = self.game.player.inventory
        return {item: int(inventory[item]) for item in CARRIED if inventory[item]}

    def _body(self) -> tuple[Any, ...]:
        """x, y, z, yaw, health, hunger, alive."""
        player = self.game.player
        x, z = player.pos
        health = float(player.health)
        hunger = float(player.inventory["food"])
        return x + 0.5, LAYER, z + 0.5, _YAWS[self._facing()], health, hunger, health > 0

    def _observed(self, held: Mapping[str, int]) -> Observation:
        x, y, z, yaw, health, hunger, alive = self._body()
        cells, origin = self.game.cells()
        last = self._seen.window if self._seen is not None else None
        # The same array as long as nothing in it has changed, so that nobody has to look twice.
        if last is not None and last.origin == origin and np.array_equal(last.blocks, cells):
            window = last._replace(entities=tuple(self.game.creatures()))
        else:
            window = Window(cells, origin, MATERIALS, tuple(self.game.creatures()))
        inventory = self.game.player.inventory
        return Observation(
            tick=self._tick,
            x=float(x),
            y=y,
            z=float(z),
            yaw=yaw,
            pitch=0.0,
            health=health,
            hunger=hunger,
            alive=alive,
            gui=None,
            inventory=held,
            equipped=None,
            window=window,
            vitals={
                "drink": float(inventory["drink"]),
                "energy": float(inventory["energy"]),
                "asleep": float(self.game.player.sleeping),
            },
        )


def _columns(rows: Sequence[tuple[Any, ...]]) -> dict[str, npt.NDArray[Any]]:
    return {
        name: np.array(values, kind)
        for (name, kind), values in zip(_KINDS.items(), zip(*rows, strict=True), strict=True)
    }


def _counters(tick: int, achievement: str, ahead: str | None) -> Iterable[WorldEvent]:
    """The game's own counter, and what it says in the words of the contract's counters."""
    yield WorldEvent(tick, "counter", achievement, 1)
    verb, _, thing = achievement.partition("_")
    said = {
        "collect": f"mine_block:{ahead}",
        "make": f"craft_item:{thing}",
        "defeat": f"kill_entity:{thing}",
    }.get(verb)
    if achievement == "collect_drink":
        said = f"use_item:{ahead}"
    elif achievement == "eat_cow":
        said = f"kill_entity:{thing}"
    elif achievement == "eat_plant":
        said = "use_item:ripe_plant"
    elif verb == "place":
        item = {"stone": "stone", "plant": "sapling"}.get(thing)
        said = f"craft_item:{thing}" if item is None else f"use_item:{item}"
    if said is not None:
        yield WorldEvent(tick, "counter", said, 1)
