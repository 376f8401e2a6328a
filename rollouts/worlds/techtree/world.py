"""The world `techtree`: the `World` protocol over the records, the kernel and the rules."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rollouts.protocols import Action, Advance, Observation, Trial, Truth
from rollouts.worlds.techtree import hands
from rollouts.worlds.techtree.catalogue import catalogue
from rollouts.worlds.techtree.crafting import screen_for
from rollouts.worlds.techtree.generation import generate
from rollouts.worlds.techtree.kernel import advance
from rollouts.worlds.techtree.outcomes import decay, follow
from rollouts.worlds.techtree.play import Play
from rollouts.worlds.techtree.settings import Settings
from rollouts.worlds.techtree.state import NOTICED, STRETCH
from rollouts.worlds.techtree.verdict import verdict
from rollouts.worlds.techtree.view import observe
from warehouse import vocabulary as v
from warehouse.domains import Domain

# The kernel's output columns, in its order; the contract's names.
_COLUMNS: Final = ("x", "y", "z", "yaw", "pitch", "health", "hunger", "alive")
_WIDTH: Final = np.float32
_REST: Final = Action()


class TechTree:
    """A seeded voxel world with Minecraft's rules in small: a stand-in, docs/techtree.md says for what.

        world = TechTree(load_domain("minecraft"))
        seen = world.reset(seed=7)
        seen = world.step(Action(forward=1), ticks=20).observation

    Rows, events and changes of a step carry the ticks `observation.tick - n + 1` to `observation.tick`; the
    first tick after a reset is 1. A craft, a load, a collection or a trade keeps a screen open for some ticks
    (`[hands]` in techtree.toml), during which other inputs do nothing; what it yields comes with the last.
    """

    name = "techtree"

    def __init__(self, domain: Domain, settings: Settings | None = None) -> None:
        self._catalogue = catalogue(domain)
        self._settings = settings or Settings()
        hidden = () if self._settings.messages else ("messages",)
        self.observes: tuple[str, ...] = tuple(name for name in v.OBSERVABLES if name not in hidden)
        self._out = np.zeros((len(_COLUMNS), STRETCH), _WIDTH)
        self._play: Play | None = None

    @property
    def play(self) -> Play:
        """The world's inside, for tests and for proofs about tasks; `RuntimeError` before the first reset.

        An agent never gets at it.
        """
        if self._play is None:
            raise RuntimeError("reset the world first")
        return self._play

    def reset(self, seed: int) -> Observation:
        """A new world from a seed (0 <= seed < 2^62), the agent at its spawn point, tick 0."""
        self._play = generate(self._catalogue, self._settings, seed)
        seen = observe(self._play)
        self._keep_track(_REST, seen)
        return seen

    def truths(self, since_tick: int) -> Sequence[Truth]:
        """What failed from `since_tick` on, in order."""
        return [truth for truth in self.play.truths if truth.tick >= since_tick]

    def verdict(self, trial: Trial) -> Truth:
        """Why an attempt that has just ended failed: see verdict.py."""
        return verdict(self.play, trial)

    def replay(self, actions: Iterable[tuple[Action, int]]) -> Observation:
        """From the last reset's seed through (action, ticks that passed) to the same observation."""
        seen = self.reset(self.play.seed)
        for action, ticks in actions:
            left = ticks
            while left > 0:
                done = self.step(action, left)
                seen = done.observation
                left -= len(done.ticks["x"])
        return seen

    def step(self, action: Action, ticks: int = 1) -> Advance:
        """Holds an action for at most `ticks` ticks; `ValueError` for fewer than 1.

        It returns after fewer when something was noticed: see `Advance`.
        """
        if ticks < 1:
            raise ValueError(f"{ticks} ticks")
        play = self.play
        play.events, play.changes, play.message = [], [], None
        rows: list[dict[str, npt.NDArray[Any]]] = []
        passed, noticed = 0, False
        while passed < ticks and not noticed:
            play.now = int(play.body["tick"]) + 1
            decay(play)
            noticed = self._act(action)
            screen, held = play.screen, play.pack.held_item
            done, flags = self._pass(action, ticks - passed)
            play.now = int(play.body["tick"])
            if action.attack and int(play.body["mine_x"]) >= 0:
                cell = int(play.body["mine_x"]), int(play.body["mine_y"]), int(play.body["mine_z"])
                play.struck[play.block(cell)] = play.now
            if flags:
                follow(play, flags)
            # An operation opens, ends or closes a screen; each is noticed.
            noticed = bool(noticed or flags & NOTICED or play.screen != screen)
            noticed = play.note_pack() or noticed
            rows.append(self._rows(action, done, screen, held, patch=bool(flags)))
            passed += done
        seen = observe(play)
        self._keep_track(action, seen)
        return Advance(seen, _joined(rows), tuple(play.events), tuple(play.changes))

    def _keep_track(self, action: Action, seen: Observation) -> None:
        """What the inner truth of an attempt is told from (verdict.py)."""
        play = self.play
        play.trail.append((seen.tick, seen.x, seen.y, seen.z))
        if action != _REST:
            play.acted = seen.tick
        if seen.window is not None:
            play.met.update(dict.fromkeys((each.name for each in seen.window.entities), seen.tick))

    def _act(self, action: Action) -> bool:
        """What is done in an instant, before the tick; whether a screen opened or closed by it."""
        play, body = self.play, self.play.body
        if not body["alive"]:
            return False
        before = play.screen
        if action.close_gui:
            play.close_screen()
        if not int(body["screen"]):
            if action.yaw is not None:
                body["yaw"] = action.yaw
            if action.pitch is not None:
                body["pitch"] = min(90.0, max(-90.0, action.pitch))
        if action.equip is not None:
            hands.equip(play, action.equip)
        if play.pending is None:
            self._operate(action)
        return play.screen != before

    def _operate(self, action: Action) -> None:
        """Crafts, smelts, collects, places or uses, whichever comes first in this order."""
        play, domain, cost = self.play, self.play.domain, self.play.parameters["hands"]
        if action.craft is not None:
            if action.craft in domain.items:
                self._begin("craft", screen_for(play, action.craft), cost["craft_ticks"], action.craft)
            else:
                play.refuse("INVALID_ACTION", action.craft)
        elif action.smelt is not None:
            self._begin("smelt", self._furnace_screen(), cost["smelt_ticks"], *action.smelt)
        elif action.collect:
            self._begin("collect", self._furnace_screen(), cost["collect_ticks"])
        elif not play.body["screen"] and not play.body["use_wait"]:
            if action.place is not None:
                hands.place(play, action.place)
                play.body["use_wait"] = cost["use_wait"]
            elif action.use and hands.use(play):
                play.body["use_wait"] = cost["use_wait"]

    def _furnace_screen(self) -> str:
        at_furnace = self.play.station(self.play.domain.smelting_station) is not None
        return "furnace" if at_furnace else "inventory"

    def _begin(self, kind: str, screen: str, ticks: int, *names: str) -> None:
        """Begins an operation on a screen. A table or furnace that was opened before serves, and stays."""
        play = self.play
        serving = {"craft": ("inventory", "crafting_table")}.get(kind, ("furnace",))
        kept = play.kept_open and play.screen in serving
        play.open_screen(play.screen if kept else screen, ticks)
        play.kept_open = kept
        play.pending = (kind, names)

    def _pass(self, action: Action, ticks: int) -> tuple[int, int]:
        """Lets ticks pass under the action's held inputs: how many, and the flags of the last."""
        play, state, lookup = self.play, self.play.state, self.play.catalogue
        free = not int(play.body["screen"]) and bool(play.body["alive"])
        held = play.pack.held_item
        blow = lookup.strike(held)
        state.controls[0] = (
            blow.damage,
            action.forward if free else 0,
            action.strafe if free else 0,
            action.jump and free,
            action.sneak and free,
            action.sprint and free,
            action.attack and free,
            free and action.use and not int(play.body["use_wait"]) and self._can_eat(held),
            blow.recharge,
        )
        done, flags = advance(
            self._span(action, ticks),
            play.blocks,
            lookup.traits,
            lookup.speed(held),
            lookup.rules,
            lookup.creature_table,
            state.body,
            state.controls,
            state.mobs,
            state.items,
            state.furnaces,
            self._out,
        )
        return int(done), int(flags)

    def _span(self, action: Action, ticks: int) -> int:
        """How many ticks may pass before the host has to look again: one while an instant act is held."""
        play = self.play
        instant = action.use or action.close_gui or action.collect
        named = (action.place, action.craft, action.smelt)
        other = action.equip is not None and action.equip != play.pack.held_item
        if instant or other or any(name is not None for name in named):
            return 1
        until = play.decays[0][0] - int(play.body["tick"]) if play.decays else ticks
        return max(1, min(ticks, STRETCH, until))

    def _can_eat(self, held: str | None) -> bool:
        return (
            held in self.play.domain.foods and float(self.play.body["food"]) < self.play.domain.spawn_hunger
        )

    def _rows(
        self, action: Action, n: int, screen: str, held: str | None, *, patch: bool
    ) -> dict[str, npt.NDArray[Any]]:
        """The columns of the ticks that passed; `patch` brings the last one up to what followed it."""
        play = self.play
        rows: dict[str, npt.NDArray[Any]] = dict(zip(_COLUMNS, self._out[:, :n].copy(), strict=True))
        rows["alive"] = rows["alive"] > 0
        rows["equipped"] = _constant(held or hands.BARE)[:n]
        rows["gui"] = _constant(screen)[:n]
        rows["action"] = _constant(action.name())[:n]
        if patch:
            rows["hunger"][-1] = play.body["food"]
            rows["equipped"] = _with_last(rows["equipped"], play.pack.held_item or hands.BARE)
            rows["gui"] = _with_last(rows["gui"], play.screen)
        return rows


@cache
def _constant(text: str) -> npt.NDArray[Any]:
    """A read-only column of one text; steps take slices of it."""
    column = np.full(STRETCH, text, dtype=object)
    column.flags.writeable = False
    return column


def _with_last(column: npt.NDArray[Any], text: str) -> npt.NDArray[Any]:
    if column[-1] == text:
        return column
    changed = column.copy()
    changed[-1] = text
    return changed


def _joined(rows: list[dict[str, npt.NDArray[Any]]]) -> dict[str, npt.NDArray[Any]]:
    if len(rows) == 1:
        return rows[0]
    return {name: np.concatenate([part[name] for part in rows]) for name in rows[0]}
