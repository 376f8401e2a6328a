"""One world being played: its records, its pack, and what has come of the ticks so far. The rules
(crafting.py, furnaces.py, hands.py, outcomes.py) are functions over a `Play`."""

import math
from copy import deepcopy
from typing import Any, Final

import numpy as np

from rollouts.protocols import Seen, Truth, Window, WorldEvent
from rollouts.worlds.techtree.catalogue import Catalogue
from rollouts.worlds.techtree.compiled import chance
from rollouts.worlds.techtree.pack import Pack
from rollouts.worlds.techtree.scene_kernel import let_fall
from rollouts.worlds.techtree.settings import Settings
from rollouts.worlds.techtree.state import LAVA, MAX_ITEMS, MAX_MOBS, WATER, State, whole
from warehouse.vocabulary import GUIS

Cell = tuple[int, int, int]
NO_SCREEN: Final = GUIS.index("none")
_NOTHING: Final = Seen("", 0.0, 0.0, 0.0)
_MADE_WITH_IT: Final = frozenset(
    {"catalogue", "domain", "parameters", "settings", "seed", "state", "blocks", "body"}
    | {"view", "altered", "seen_version", "crowd"}
)
"""what a copy of a play has when it is made: the state, and a view that it makes anew when it looks"""
_SCREEN, _SCREEN_LEFT, _SCREEN_STILL, _STUCK = map(whole, ("screen", "screen_left", "screen_still", "stuck"))
# Ticks in which the same refusal is one refusal: the key is still held.
_SAME_REFUSAL: Final = 20
# What a message about a refusal says, where messages are on: signal and words.
_SAID: Final = {
    "DEATH": ("died", "You died!"),
    "INVALID_ACTION": ("invalid_action", "Unknown or impossible: {}"),
    "INVENTORY_FULL": ("inventory_full", "Your inventory is full: {}"),
    "MISSING_STATION": ("missing_station", "You need a {} nearby"),
    "MISSING_TOOL": ("missing_tool", "A better tool is needed for {}"),
    "NO_FUEL": ("missing_fuel", "The furnace has no fuel"),
    "MISSING_INGREDIENT": ("missing_item", "You are short of {}"),
    "SMELT_FAIL": ("result_failed", "The furnace does not take it: {}"),
    "TARGET_UNREACHABLE": ("out_of_reach", "Out of reach: {}"),
}


class Crowd:
    """What of creatures and things was near when it was last looked (view.py): what has not changed since
    need not be made anew. A row per creature, then one per thing."""

    def __init__(self) -> None:
        rows = MAX_MOBS + MAX_ITEMS
        self.known = np.full((rows, 4), np.nan)
        self.known_at = self.known.data
        """kind or item, x, y and z, as they were when it was last near"""
        self.seen: list[Seen] = [_NOTHING] * rows
        """the same as is shown"""
        self.rows = np.empty(rows, np.int64)
        self.rows_at = self.rows.data
        self.count = 0
        """the first `count` of `rows` are those that are near"""
        self.fresh = np.empty(rows, np.int64)
        self.fresh_at = self.fresh.data
        """scratch"""
        self.entities: tuple[Seen, ...] = ()
        """what is near"""


class Play:
    """The state of one world from a reset on, and the notes of the step under way."""

    def __init__(self, catalogue: Catalogue, settings: Settings, state: State, seed: int) -> None:
        self.catalogue = catalogue
        self.domain = catalogue.domain
        self.parameters = catalogue.parameters
        self.settings = settings
        self.seed = seed
        self.state = state
        self.blocks = state.blocks
        self.body: Any = state.body[0]
        self.pack = Pack(catalogue.stack)
        self.pending: tuple[str, tuple[str, ...]] | None = None
        """the screen operation under way: what, and with what"""
        self.kept_open = False
        """the screen was opened by itself and outlives an operation"""
        self.water: dict[Cell, int] = {}
        """how often each cauldron's water still washes"""
        self.shorn: set[int] = set()
        self.decays: list[tuple[int, Cell]] = []
        """leaves that fall, and when; soonest first"""
        self.truths: list[Truth] = []
        self.trail: list[tuple[int, float, float, float]] = []
        """where the body was after each step: tick, x, y, z; for the inner truth, as are the next four"""
        self.struck: dict[str, int] = {}
        """block or creature -> the last tick at which the hands were on one"""
        self.met = np.full(len(catalogue.creatures) + len(catalogue.items), -1, np.int64)
        """the last tick at which each kind of creature, and then each item, was in view"""
        self.acted = -1
        """the last tick at which anything was pressed"""
        self.achieved = -1
        """the last tick at which a block broke or the pack changed"""
        self.events: list[WorldEvent] = []
        self.changes: list[tuple[int, str, int, int]] = []
        self.message: str | None = None
        self.version = 0
        """rises with every block that changes, so that a view can be kept until then"""
        self.altered: list[Cell] = []
        """the cells that changed since the view was made, where they were put one by one"""
        self.view: Window | None = None
        self.seen_version = -1
        """the version of the blocks in it"""
        self.crowd = Crowd()
        self.now = 0
        """the tick that is being made"""
        self._refused: dict[tuple[str, str], int] = {}

    def copy(self) -> "Play":
        """The same play, to be gone on with by itself. What never changes (the catalogue, the settings) is
        shared."""
        other = Play(self.catalogue, self.settings, self.state.copy(), self.seed)
        shared = {id(each): each for each in (self.catalogue, self.domain, self.parameters, self.settings)}
        for name, value in vars(self).items():
            if name not in _MADE_WITH_IT:
                setattr(other, name, deepcopy(value, shared))
        return other

    # Notes -------------------------------------------------------------------------------------------------

    def count(self, group: str, name: str, count: int = 1) -> None:
        """A counter rises, named as MineRL's: `group:name`."""
        self.events.append(WorldEvent(self.now, "counter", f"{group}:{name}", count))

    def happen(self, name: str) -> None:
        """Something happened that a task may ask for."""
        self.events.append(WorldEvent(self.now, "game", name))

    def notice(self, failure_type: str, detail: str) -> bool:
        """The inner truth of something that went wrong by itself, of which no game says a word (a block that
        broke without its drop, legs that get nowhere); whether it is new."""
        key = (failure_type, detail)
        last = self._refused.get(key)
        self._refused[key] = self.now
        if last is not None and self.now - last < _SAME_REFUSAL:
            return False
        self.truths.append(Truth(self.now, failure_type, detail))
        return True

    def refuse(self, failure_type: str, detail: str, signal: str | None = None) -> None:
        """The inner truth of why an act was refused; said aloud only where messages are on, and then with
        `signal` where the failure's usual one would say less."""
        if self.notice(failure_type, detail) and self.settings.messages and failure_type in _SAID:
            usual, words = _SAID[failure_type]
            self.message = words.format(detail)
            self.events.append(WorldEvent(self.now, "game", detail, None, self.message, signal or usual))

    def refusals(self, since_tick: int) -> list[Truth]:
        """What was refused at or after a tick. A refusal that was noted just before it and went on is among
        them, with the last tick at which it was the case."""
        noted = [truth for truth in self.truths if truth.tick >= since_tick]
        held = {(truth.failure_type, truth.detail) for truth in noted}
        return noted + [
            Truth(tick, *key) for key, tick in self._refused.items() if tick >= since_tick and key not in held
        ]

    def note_pack(self) -> bool:
        """Writes the pack's changes down; whether there were any. Things that found no room may fit now."""
        if not self.pack.changes:
            return False
        rows = self.pack.flush()
        self.changes.extend((self.now, item, delta, left) for item, delta, left in rows)
        if rows:
            self.achieved = self.now
            wholes = self.state.wholes
            wholes[_SCREEN_STILL] = wholes[_STUCK] = 0
            self.state.items["refused"] = 0
        return bool(rows)

    def last_met(self, name: str) -> int:
        """The last tick at which a creature, or a thing that lay about, of this name was in view; -1 for
        never."""
        kinds, item = self.catalogue.creatures, self.catalogue.item
        rows = [kinds.index(name)] if name in kinds else []
        rows += [len(kinds) + item[name]] if name in item else []
        return max((int(self.met[row]) for row in rows), default=-1)

    def luck(self, purpose: int, *where: int) -> float:
        """A number in [0, 1) that depends on the seed, the tick, the purpose and the place alone."""
        place = where[0] * 4096 + where[1] * 64 + where[2] if len(where) == 3 else sum(where)
        return float(chance(self.seed, self.now, purpose, place))

    def amount(self, least: int, most: int, purpose: int, *where: int) -> int:
        """A whole number from `least` to `most`, both included."""
        if most == least:
            return least
        return least + int(self.luck(purpose, *where) * (most - least + 1))

    # Blocks ------------------------------------------------------------------------------------------------

    def inside(self, cell: Cell) -> bool:
        """Whether the world has such a cell."""
        (x, y, z), (nx, ny, nz) = cell, self.blocks.shape
        return bool(0 <= x < nx and 0 <= y < ny and 0 <= z < nz)

    def block(self, cell: Cell) -> str:
        """The name of the block in a cell of the world."""
        return self.catalogue.palette[self.blocks.item(cell)]

    def put(self, cell: Cell, name: str) -> None:
        """Puts a block into a cell of the world; what was there is gone."""
        self.blocks[cell] = self.catalogue.block[name]
        self.version += 1
        self.altered.append(cell)

    def traits(self, cell: Cell) -> int:
        """The traits of the block in a cell of the world."""
        return self.catalogue.traits.item(self.blocks.item(cell))

    def is_fluid(self, cell: Cell) -> bool:
        """Whether water or lava is there."""
        return bool(self.traits(cell) & (WATER | LAVA))

    def station(self, name: str) -> Cell | None:
        """The nearest block of that name within reach of the eyes; None if there is none."""
        rules = self.parameters["rules"]
        eye = (float(self.body["x"]), float(self.body["y"]) + rules["eye"], float(self.body["z"]))
        reach = math.ceil(rules["reach"])
        low = [max(0, math.floor(at) - reach) for at in eye]
        high = [max(0, math.floor(at) + reach + 1) for at in eye]
        near = self.blocks[low[0] : high[0], low[1] : high[1], low[2] : high[2]]
        found = np.argwhere(near == self.catalogue.block[name])
        best: tuple[float, Cell] | None = None
        for row in found:
            cell = (int(row[0]) + low[0], int(row[1]) + low[1], int(row[2]) + low[2])
            away = math.dist(eye, [at + 0.5 for at in cell])
            if away <= rules["reach"] and (best is None or (away, cell) < best):
                best = (away, cell)
        return best[1] if best else None

    # Things ------------------------------------------------------------------------------------------------

    def give(self, item: str, count: int) -> None:
        """Puts things into the pack; what finds no room falls to the ground."""
        left = count - self.pack.add(item, count)
        if left:
            self.refuse("INVENTORY_FULL", item)
            body = self.body
            self.drop(float(body["x"]), float(body["y"]) + 1.0, float(body["z"]), item, left)

    def drop(
        self, x: float, y: float, z: float, item: str, count: int, wear: int = 0, wanted: bool = True
    ) -> None:
        """Lets things fall. `wanted` says that an act of the agent broke them loose. When too many lie about
        the oldest is gone."""
        cost, state = self.parameters["hands"], self.state
        number, toss, wait = self.catalogue.item[item], cost["toss"], cost["pick_up_wait"]
        seed, now = self.seed, self.now
        let_fall(seed, now, x, y, z, toss, number, count, wear, wait, int(wanted), state.body, state.items)

    # Screens -----------------------------------------------------------------------------------------------

    def open_screen(self, screen: str, ticks: int) -> None:
        """Shows a screen, for `ticks` ticks or, at 0, until it is closed."""
        wholes = self.state.wholes
        wholes[_SCREEN], wholes[_SCREEN_LEFT], wholes[_SCREEN_STILL] = GUIS.index(screen), ticks, 0
        self.kept_open = ticks == 0

    def close_screen(self) -> None:
        """Takes the screen away, and with it an operation under way."""
        self.state.wholes[_SCREEN], self.state.wholes[_SCREEN_LEFT] = NO_SCREEN, 0
        self.pending, self.kept_open = None, False

    @property
    def screen(self) -> str:
        """The screen that is shown, "none" without one."""
        return GUIS[self.state.wholes[_SCREEN]]
