"""The world `techtree`: the `World` protocol over the records, the kernel and the rules."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from rollouts.protocols import Action, Advance, Observation, Trial, Truth
from rollouts.tick_rows import NUMBERS, Sheet, Stretch, TickRows
from rollouts.worlds.techtree import hands
from rollouts.worlds.techtree.catalogue import catalogue
from rollouts.worlds.techtree.crafting import screen_for
from rollouts.worlds.techtree.generation import generate
from rollouts.worlds.techtree.kernel import advance
from rollouts.worlds.techtree.outcomes import decay, follow
from rollouts.worlds.techtree.play import Play
from rollouts.worlds.techtree.settings import Settings
from rollouts.worlds.techtree.state import NOTICED, STRETCH, real, whole
from rollouts.worlds.techtree.verdict import verdict
from rollouts.worlds.techtree.view import observe
from warehouse import vocabulary as v
from warehouse.domains import Domain
from warehouse.vocabulary import GUIS

_REST: Final = Action()
_HUNGER: Final = NUMBERS.index("hunger")
_YAW, _PITCH, _FOOD = map(real, ("yaw", "pitch", "food"))
_TICK, _ALIVE, _SCREEN, _USE_WAIT, _MINE_X, _MINE_Y, _MINE_Z = map(
    whole, ("tick", "alive", "screen", "use_wait", "mine_x", "mine_y", "mine_z")
)


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
        self._cost = self._catalogue.parameters["hands"]
        self._sheet = _blank()
        self._noted = 0
        """the ticks that have their rows in it"""
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

    def copy(self) -> "TechTree":
        """See `Branching`."""
        other = TechTree(self._catalogue.domain, self._settings)
        other._play = self.play.copy()
        return other

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
        wholes, pack = play.state.wholes, play.pack
        play.events, play.changes, play.message = [], [], None
        stretches: list[Stretch] = []
        passed, noticed = 0, False
        instant, name = _is_instant(action), action.name()
        while passed < ticks and not noticed:
            play.now = wholes[_TICK] + 1
            if play.decays:
                decay(play)
            before = wholes[_SCREEN]
            if wholes[_ALIVE]:
                self._act(play, action, instant)
            screen, held = wholes[_SCREEN], pack.held_item
            noticed = screen != before
            # Whatever is done in an instant is done at every tick; taking in hand ends with having.
            span = 1 if instant or (action.equip is not None and action.equip != held) else ticks - passed
            first, done, flags = self._pass(play, action, held, span)
            play.now = wholes[_TICK]
            if action.attack and wholes[_MINE_X] >= 0:
                cell = wholes[_MINE_X], wholes[_MINE_Y], wholes[_MINE_Z]
                play.struck[play.block(cell)] = play.now
            texts = last = (held or hands.BARE, GUIS[screen], name)
            if flags:
                follow(play, flags)
                self._sheet[_HUNGER, first + done - 1] = play.state.reals[_FOOD]
                last = (pack.held_item or hands.BARE, GUIS[wholes[_SCREEN]], name)
            # An operation opens, ends or closes a screen; each is noticed.
            noticed = bool(noticed or flags & NOTICED or wholes[_SCREEN] != screen)
            if pack.changes:
                noticed = play.note_pack() or noticed
            stretches.append(Stretch(self._sheet, first, first + done, texts, last))
            passed += done
        seen = observe(play)
        self._keep_track(action, seen)
        return Advance(seen, TickRows(stretches), tuple(play.events), tuple(play.changes))

    def _keep_track(self, action: Action, seen: Observation) -> None:
        """What the inner truth of an attempt is told from (verdict.py)."""
        play = self.play
        tick = seen.tick
        play.trail.append((tick, seen.x, seen.y, seen.z))
        # The usual inputs first: comparing all of them takes a while.
        if action.attack or action.forward or action != _REST:
            play.acted = tick

    def _act(self, play: Play, action: Action, instant: bool) -> None:
        """What is done before the tick: looking, taking in hand, and what is done in an instant."""
        if action.close_gui:
            play.close_screen()
        if not play.state.wholes[_SCREEN]:
            reals = play.state.reals
            if action.yaw is not None:
                reals[_YAW] = action.yaw
            if action.pitch is not None:
                reals[_PITCH] = min(90.0, max(-90.0, action.pitch))
        if action.equip is not None and action.equip != play.pack.held_item:
            hands.equip(play, action.equip)
        if instant and play.pending is None:
            self._operate(action)

    def _operate(self, action: Action) -> None:
        """Crafts, smelts, collects, places or uses, whichever comes first in this order."""
        play, cost = self.play, self._cost
        if action.craft is not None:
            if action.craft in play.domain.items:
                self._begin("craft", screen_for(play, action.craft), cost["craft_ticks"], action.craft)
            else:
                play.refuse("INVALID_ACTION", action.craft)
        elif action.smelt is not None:
            self._begin("smelt", self._furnace_screen(), cost["smelt_ticks"], *action.smelt)
        elif action.collect:
            self._begin("collect", self._furnace_screen(), cost["collect_ticks"])
        elif action.place is not None or action.use:
            wholes = play.state.wholes
            if wholes[_SCREEN] or wholes[_USE_WAIT]:
                return
            if action.place is not None:
                hands.place(play, action.place)
                wholes[_USE_WAIT] = cost["use_wait"]
            elif hands.use(play):
                wholes[_USE_WAIT] = cost["use_wait"]

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

    def _pass(self, play: Play, action: Action, held: str | None, ticks: int) -> tuple[int, int, int]:
        """Lets at most so many ticks pass under the action's held inputs: where in the sheet they begin, how
        many they are, and the flags of the last."""
        state, lookup = play.state, self._catalogue
        wholes = state.wholes
        free = not wholes[_SCREEN] and wholes[_ALIVE] != 0
        blow = lookup.strike(held)
        state.controls[0] = (
            blow.damage,
            action.forward if free else 0,
            action.strafe if free else 0,
            action.jump and free,
            action.sneak and free,
            action.sprint and free,
            action.attack and free,
            free and action.use and not wholes[_USE_WAIT] and self._can_eat(held),
            blow.recharge,
        )
        span = min(ticks, STRETCH)
        if play.decays:
            span = max(1, min(span, play.decays[0][0] - wholes[_TICK]))
        first = self._room(span)
        done, flags = advance(
            span,
            first,
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
            self._sheet,
        )
        self._noted = first + done
        return first, done, flags

    def _room(self, span: int) -> int:
        """Where the sheet has room for so many ticks. A full one is left to those who have its rows."""
        if self._noted + span > self._sheet.shape[1]:
            self._sheet, self._noted = _blank(), 0
        return self._noted

    def _can_eat(self, held: str | None) -> bool:
        return (
            held in self.play.domain.foods and float(self.play.body["food"]) < self.play.domain.spawn_hunger
        )


def _is_instant(action: Action) -> bool:
    """Whether it asks for what is done in an instant, before a tick: the host looks at every tick then."""
    return (
        action.use
        or action.close_gui
        or action.collect
        or not (action.place is None and action.craft is None and action.smelt is None)
    )


def _blank() -> Sheet:
    return np.empty((len(NUMBERS), 4 * STRETCH), np.float32)
