"""Why an attempt failed, from the world's own knowledge: its notes of what was refused, where the body went,
what could be seen from there, what it laid hands on. One failure type per attempt, for scoring Monitor.

The types are those of the failure table, and so is the rule: the first row that holds. Two things are asked
of a note before it counts. It has to be about what the attempt was for: grass that finds no room in a full
pack, or stone that was broken by hand on the way to a tree, fails nobody. And it has to hold still: a wall
that was got past is no reason.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from rollouts.protocols import Trial, Truth
from rollouts.worlds.techtree.play import Play
from rollouts.worlds.techtree.view_kernel import nearest_in_view

_RECENT: Final = 400
"""20 s, the stretch over which progress is asked for (DECISIONS 12)"""
_SMALL: Final = 2.0
"""blocks; a body that stayed within so many did not go anywhere"""
_SOUGHT: Final = ("mine", "combat", "use", "move")


def verdict(play: Play, trial: Trial) -> Truth:
    """The attempt's failure type, and in `detail` what of; UNKNOWN where the world knows no reason."""
    case = _Case(play, trial)
    for rule in _RULES:
        found = rule(case)
        if found is not None:
            return found
    return case.truth("UNKNOWN", "")


@dataclass(frozen=True)
class _Case:
    """One attempt, and what the world knows of it."""

    play: Play
    trial: Trial

    def truth(self, failure_type: str, detail: str) -> Truth:
        return Truth(self.play.now, failure_type, detail, "attempt")

    def notes(self, failure_type: str) -> Iterator[Truth]:
        """What was refused during the attempt."""
        return (note for note in self.refusals if note.failure_type == failure_type)

    @cached_property
    def refusals(self) -> list[Truth]:
        """All that was."""
        return self.play.refusals(self.trial.since)

    @cached_property
    def items(self) -> frozenset[str]:
        """What it was to yield."""
        target, domain = self.trial.target, self.play.domain
        if target is None:
            return frozenset()
        return domain.accepts(target, self.trial.kind) or domain.expand(target)

    @cached_property
    def blocks(self) -> frozenset[str]:
        """The blocks that it was after."""
        target, domain = self.trial.target, self.play.domain
        if target is None or self.trial.kind == "combat":
            return frozenset()
        named = domain.tags.get(target[1:], frozenset()) if target.startswith("#") else frozenset({target})
        yielding = {block for block, drops in domain.drops.items() if self.items.intersection(drops)}
        return frozenset((yielding if self.trial.kind == "mine" else frozenset()) | (named & domain.blocks))

    @cached_property
    def creatures(self) -> frozenset[str]:
        """The creatures that it was after."""
        target, domain = self.trial.target, self.play.domain
        if target is None or self.trial.kind == "mine":
            return frozenset()
        if target in domain.entities:
            return frozenset({target})
        return frozenset(
            name for name, drops in domain.entity_drops.items() if self.items.intersection(drops)
        )

    @cached_property
    def trail(self) -> list[tuple[int, float, float, float]]:
        """Where the body was, from the last place before the attempt on."""
        trail = self.play.trail
        return trail[max(0, bisect_left(trail, (self.trial.since,)) - 1) :]

    def extent(self, since: int = 0) -> float:
        """The longest side of the box that holds the way, in blocks."""
        places = [place[1:] for place in self.trail if place[0] >= since]
        return max((max(side) - min(side) for side in zip(*places, strict=True)), default=0.0)

    @cached_property
    def is_sought(self) -> bool:
        """Whether it was about something out there, and not about something in the pack."""
        kind, target = self.trial.kind, self.trial.target
        if kind not in _SOUGHT or target is None or not (self.blocks or self.creatures):
            return False
        return kind != "use" or (
            target in self.play.domain.entities | self.play.domain.stations
            and not self.play.pack.counts.get(target)
        )

    @cached_property
    def got_to(self) -> bool:
        """It laid hands on what it was after; for a walk: came within reach of it."""
        names = self.blocks | self.creatures
        if any(self.play.struck.get(name, -1) >= self.trial.since for name in names):
            return True
        return self.trial.kind == "move" and self.nearest <= self.play.parameters["rules"]["reach"]

    @cached_property
    def nearest(self) -> float:
        """How near to the eyes a block that it was after came into view, infinite for never; 0 for a
        creature that did."""
        if any(self.play.last_met(name) >= self.trial.since for name in self.creatures):
            return 0.0
        play, view = self.play, self.play.parameters["view"]
        lookup = play.catalogue
        wanted = np.zeros(len(lookup.palette), np.bool_)
        wanted[[lookup.block[name] for name in self.blocks if name in lookup.block]] = True
        return nearest_in_view(
            play.blocks,
            lookup.traits,
            np.array([place[1:] for place in self.trail]).reshape(-1, 3),
            float(play.parameters["rules"]["eye"]),
            view["radius"],
            view["radius_y"],
            lookup.air,
            lookup.wall,
            lookup.unknown,
            wanted,
        )


def _death(case: _Case) -> Truth | None:
    return next((case.truth("DEATH", "") for _ in case.notes("DEATH")), None)


def _impossible(case: _Case) -> Truth | None:
    """It names what there is not, or what this kind of action cannot be about."""
    target, kind, domain = case.trial.target, case.trial.kind, case.play.domain
    if target is not None:
        known = domain.expand(target) or target in domain.blocks | domain.entities
        aims = {
            "mine": bool(case.blocks),
            "combat": bool(case.creatures),
            "smelt": bool(domain.accepts(target, "smelt")),
            "craft": any(domain.recipes.get(item) for item in domain.expand(target)),
        }
        if (not known and kind != "move") or not aims.get(kind, True):
            return case.truth("INVALID_ACTION", f"{kind} {target}")
    return next((case.truth("INVALID_ACTION", note.detail) for note in case.notes("INVALID_ACTION")), None)


def _full(case: _Case) -> Truth | None:
    for note in case.notes("INVENTORY_FULL"):
        if note.detail in case.items or note.detail in case.play.domain.smelting.values():
            return case.truth("INVENTORY_FULL", note.detail)
    return None


def _station(case: _Case) -> Truth | None:
    return next((case.truth("MISSING_STATION", note.detail) for note in case.notes("MISSING_STATION")), None)


def _tool(case: _Case) -> Truth | None:
    """A block of the target broke without its drop. Others that were in the way did not need to drop."""
    for note in case.notes("MISSING_TOOL"):
        if note.detail in case.blocks or note.detail not in case.play.domain.blocks:
            return case.truth("MISSING_TOOL", note.detail)
    return None


def _short(case: _Case) -> Truth | None:
    """Fuel or materials; a furnace that went out elsewhere is nothing to an attempt that smelts nothing."""
    if case.trial.kind == "smelt":
        # By definition fuel is what is missing only where there were input and furnace; and what waits in a
        # cold furnace may be somebody else's.
        other = {*case.notes("MISSING_STATION"), *case.notes("MISSING_INGREDIENT")}
        lacking = {note.tick for note in other}
        for note in case.notes("NO_FUEL"):
            _, under, source = note.detail.rpartition("under ")
            own = not under or case.play.domain.smelting.get(source) in case.items
            if own and note.tick not in lacking:
                return case.truth("NO_FUEL", note.detail)
    for note in case.notes("MISSING_INGREDIENT"):
        return case.truth("MISSING_INGREDIENT", note.detail)
    return None


def _stalled(case: _Case) -> Truth | None:
    for failure_type in ("GUI_STALL", "SMELT_FAIL"):
        for note in case.notes(failure_type):
            return case.truth(failure_type, note.detail)
    return None


def _absent(case: _Case) -> Truth | None:
    """Nothing of the kind came into view from anywhere on a way that led beyond the first view."""
    radius = case.play.parameters["view"]["radius"]
    if case.is_sought and not case.got_to and math.isinf(case.nearest) and case.extent() >= radius:
        return case.truth("TARGET_NOT_FOUND", str(case.trial.target))
    return None


def _unreached(case: _Case) -> Truth | None:
    """In view and never laid hands on; or its drop was lost, or was left lying. A drop that broke loose just
    before the time was over was not left."""
    for note in case.notes("TARGET_UNREACHABLE"):
        # A block that finds no room is no target that is not got to: no row of the table is about it.
        if note.detail.split()[0] in case.items:
            return case.truth("TARGET_UNREACHABLE", note.detail)
    lies = case.play.state.items
    for row in np.flatnonzero((lies["count"] > 0) & (lies["wanted"] > 0)):
        item = case.play.catalogue.items[int(lies[row]["item"])]
        own = int(lies[row]["age"]) <= case.play.now - case.trial.since
        if item in case.items and own and case.trial.end_reason == "agent_stopped":
            return case.truth("TARGET_UNREACHABLE", f"{item} not picked up")
    if case.is_sought and not case.got_to and math.isfinite(case.nearest) and case.extent() >= _SMALL:
        return case.truth("TARGET_UNREACHABLE", str(case.trial.target))
    return None


def _stuck(case: _Case) -> Truth | None:
    """It pressed on in one place and gave up no farther from there than one can see. Whose time was over may
    just have been held up there, unless it was there still and nothing had come of it since."""
    gave_up = case.trial.end_reason == "agent_stopped"
    radius = case.play.parameters["view"]["radius"] if gave_up else _SMALL
    first, *_, last = [*case.trail, *case.trail[-1:]]
    for note in case.notes("NAV_STUCK"):
        at = max((place for place in case.trail if place[0] <= note.tick), default=first)
        got_past = not gave_up and case.play.achieved > note.tick
        if math.dist(at[1:], last[1:]) <= radius and not got_past:
            return case.truth("NAV_STUCK", note.detail)
    return None


def _idle(case: _Case) -> Truth | None:
    return None if case.play.acted >= case.trial.since else case.truth("NO_ACTION", "")


def _late(case: _Case) -> Truth | None:
    """Its time was over while something still came of what it did: blocks broke, the pack changed, or new
    ground was covered."""
    if case.trial.end_reason not in ("timeout", "horizon"):
        return None
    since = max(case.trial.since, case.play.now - _RECENT)
    if case.play.achieved >= since or case.extent(since) >= _SMALL:
        return case.truth("TIMEOUT", case.trial.end_reason)
    return None


_RULES: Final = (
    _death,
    _impossible,
    _full,
    _station,
    _tool,
    _short,
    _stalled,
    _absent,
    _unreached,
    _stuck,
    _idle,
    _late,
)
