"""V_exec: can the executor carry out what a piece of knowledge says, step by step and in this order.

The order is simulated by the domain's rules over what the conditions grant, what they deny and what earlier
steps yield. It is a question of existence, not of amounts. What nothing speaks of is assumed to be there, so
an order is only faulted where the knowledge itself shows that it cannot work; a station that a skill relies
on is the exception, because it does not travel with the agent.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from warehouse.domains.model import Domain, Recipe
from warehouse.grammar import (
    Action,
    action_faults,
    action_of,
    blocks_for,
    check_faults,
    conditions_of,
    known_names,
    same_action,
    step_faults,
    steps_of,
    yields_of,
)
from warehouse.knowledge import Candidate, RemedyContent, SkillContent, Step
from warehouse.regions import regions_of


def execution_faults(candidate: Candidate, domain: Domain) -> list[str]:
    """Everything that keeps a candidate from being carried out; empty: V_exec holds."""
    content, steps = candidate.content, steps_of(candidate.content)
    faults: list[str] = []
    for place, step in enumerate(steps, 1):
        faults += [f"step {place}: {fault}" for fault in step_faults(step, domain)]
    faults += [fault for check in candidate.verification for fault in check_faults(check, domain)]
    kind, target = action_of(content)
    if kind is not None and (target is not None or isinstance(content, SkillContent)):
        faults += [f"what it is about: {fault}" for fault in action_faults(kind, target, domain)]
    last = (steps[-1].kind, steps[-1].target)
    if isinstance(content, SkillContent) and not same_action(last, (kind, target), domain):
        faults.append(f"the steps do not end in what the skill is for, {kind} {target}")
    return faults or order_faults(candidate, domain)


def order_faults(candidate: Candidate, domain: Domain, away: Iterable[str] = ()) -> list[str]:
    """Steps that cannot be carried out where they stand, because of what the knowledge itself says.

    `away` are stations that are known from elsewhere to be out of reach at the start.
    """
    return _Simulation(candidate, domain, away=set(away)).faults()


class _Need(NamedTuple):
    """Something a step takes: any of `options`; `expected` are those a later step would be meant to bring."""

    options: frozenset[str]
    expected: frozenset[str]


class _Fault(NamedTuple):
    """Why a step cannot be carried out; `late`: a later step would bring what it needs."""

    detail: str
    late: bool = False


@dataclass
class _Simulation:
    """One walk through a candidate's steps."""

    candidate: Candidate
    domain: Domain
    have: set[str] = field(default_factory=set)
    supplied: set[str] = field(default_factory=set)
    """that part of `have` which earlier steps yield"""
    absent: set[str] = field(default_factory=set)
    near: set[str] = field(default_factory=set)
    away: set[str] = field(default_factory=set)
    short: frozenset[str] = frozenset()
    """what the failing action lacked: its retry needs a step that supplies it"""
    retried: Action | None = None

    def faults(self) -> list[str]:
        self._read_conditions()
        content = self.candidate.content
        if isinstance(content, RemedyContent):
            self._read_risk(content)
        steps, found = steps_of(content), list[str]()
        for place, step in enumerate(steps):
            faults = self._step(step, steps[place + 1 :])
            if self._is_retry(step):
                faults += self._retried_too_soon(step, steps[:place], steps[place + 1 :])
            found += [f"step {place + 1}: {fault.detail}" for fault in faults]
            self.supplied |= yields_of(step, self.domain)
            self.have |= self.supplied
            if step.target is not None and self.domain.brings_into_reach(step.kind, step.target):
                self.near.add(step.target)
        return found

    def _read_conditions(self) -> None:
        for name, region in sorted(regions_of(conditions_of(self.candidate), self.domain).items()):
            family, _, member = name.partition(".")
            if family == "inventory":
                things = known_names(member, self.domain)
                self.have |= things if 0 not in region else frozenset()
                self.absent |= things if region.values == frozenset({0}) else frozenset()
            elif name == "equipped":
                self.have.update(str(value) for value in region.values or ())
            elif family == "near":
                (self.near if True in region else self.away).update(known_names(member, self.domain))

    def _read_risk(self, content: RemedyContent) -> None:
        domain, risk = self.domain, content.risk
        self.retried = (risk.kind, risk.target)
        names = frozenset(name for missing in risk.missing for name in known_names(missing, domain))
        if risk.failure_type == "MISSING_STATION":
            self.away |= names & domain.stations
        elif risk.failure_type == "MISSING_TOOL" and risk.target is not None:
            self.short = names | _fit_tools(risk.target, domain)
        elif risk.failure_type == "NO_FUEL":
            self.short = names | frozenset(domain.fuels)
        elif risk.failure_type == "MISSING_INGREDIENT":
            self.short = names

    def _retried_too_soon(
        self, step: Step, earlier: tuple[Step, ...], later: tuple[Step, ...]
    ) -> list[_Fault]:
        """Whether the failing action comes again while all is as it was, or before a later step mends it."""
        action = f"{step.kind} {step.target}"
        if not earlier:
            return [_Fault(f"{action} comes again before anything has changed", late=True)] if later else []
        return [
            _Fault(f"{action} comes again before {name} is supplied", late=self._supplies(later, name))
            for name in self._lacked()
            if not self._supplies(earlier, name)
            and (self._supplies(later, name) or self._must_be_supplied(name))
        ]

    def _lacked(self) -> tuple[str, ...]:
        content = self.candidate.content
        return content.risk.missing if isinstance(content, RemedyContent) else ()

    def _failed_for(self, failure_type: str) -> bool:
        content = self.candidate.content
        return isinstance(content, RemedyContent) and content.risk.failure_type == failure_type

    def _must_be_supplied(self, name: str) -> bool:
        """Whether the failure itself says that nothing but a supply of `name` lets the action succeed."""
        if self._failed_for("MISSING_STATION"):
            return name in self.domain.stations
        return self._failed_for("MISSING_TOOL") and name in self.domain.tools

    def _supplies(self, steps: tuple[Step, ...], name: str) -> bool:
        """Whether some step puts what was missing in reach: a station in place, a tool of its class."""
        if name in self.domain.stations and self._failed_for("MISSING_STATION"):
            return any(
                step.target == name and self.domain.brings_into_reach(step.kind, name) for step in steps
            )
        if name in self.domain.tools and self._failed_for("MISSING_TOOL"):
            fit = self.domain.tool_classes[self.domain.tools[name][0]]
            return any((yields_of(step, self.domain) | {step.target}) & fit for step in steps)
        names = known_names(name, self.domain)
        return any(yields_of(step, self.domain) & names for step in steps)

    def _step(self, step: Step, later: tuple[Step, ...]) -> list[_Fault]:
        if step.target is None:
            return []
        match step.kind:
            case "craft":
                return self._craft(step, later)
            case "smelt":
                return self._smelt(step, later)
            case "mine":
                return self._mine(step, later)
            case "use":
                things = known_names(step.target, self.domain)
                if things & self.near:
                    return []
                return self._lacking(step, [_Need(things & self.domain.items, things)], later)
        return []

    def _craft(self, step: Step, later: tuple[Step, ...]) -> list[_Fault]:
        names = known_names(step.target or "", self.domain)
        ways = [recipe for name in sorted(names) for recipe in self.domain.recipes.get(name, ())]
        have, expand = self.have, self.domain.expand
        supplied = [way for way in ways if all(have & expand(name) for name, _ in way.ingredients)]
        faults = [self._recipe(step, way, later) for way in supplied or ways]
        # Recipes are alternatives, and one without a fault is enough; but where a later step brings what one
        # of them needs, that one is meant, and the others are no excuse for its order.
        meant = [each for each in faults if any(fault.late for fault in each)] or faults
        return min(meant, key=len, default=[])

    def _recipe(self, step: Step, recipe: Recipe, later: tuple[Step, ...]) -> list[_Fault]:
        options = [self.domain.expand(name) for name, _ in recipe.ingredients]
        faults = self._lacking(step, [_Need(each, each) for each in options], later)
        for station in self.domain.stations_of(recipe):
            faults += self._station(step, station, later)
        return faults

    def _smelt(self, step: Step, later: tuple[Step, ...]) -> list[_Fault]:
        products = known_names(step.target or "", self.domain)
        inputs = frozenset(given for given, made in self.domain.smelting.items() if made in products)
        needs = [_Need(inputs, inputs)]
        if self._is_retry(step) and frozenset(self.domain.fuels) <= self.short:
            needs.append(_Need(frozenset(self.domain.fuels), frozenset()))
        return self._lacking(step, needs, later) + self._station(step, self.domain.smelting_station, later)

    def _mine(self, step: Step, later: tuple[Step, ...]) -> list[_Fault]:
        tools = _fit_tools(step.target or "", self.domain)
        if not tools:
            return []
        tiers = self.domain.tool_tiers
        lowest = min(tiers.index(self.domain.tools[tool][1]) for tool in tools)
        # A better tool made later is progress, not a tool that came too late.
        expected = frozenset(tool for tool in tools if tiers.index(self.domain.tools[tool][1]) == lowest)
        return self._lacking(step, [_Need(tools, expected)], later)

    def _station(self, step: Step, station: str, later: tuple[Step, ...]) -> list[_Fault]:
        if station in self.near:
            return []
        what = f"{step.kind} {step.target} needs a {station} in reach"
        if isinstance(self.candidate.content, SkillContent):
            return [_Fault(f"{what}, and nothing puts one there")]
        # One that is carried is not in reach; only where the action failed may another have stood there.
        carried = station in self.have and not self._is_retry(step)
        placed = any(
            each.kind != "move"
            and each.target == station
            and self.domain.brings_into_reach(each.kind, station)
            for each in later
        )
        if station in self.away or placed or carried:
            return [_Fault(f"{what}, and it is not there yet")]
        return []

    def _lacking(self, step: Step, needs: Iterable[_Need], later: tuple[Step, ...]) -> list[_Fault]:
        faults = []
        for need in needs:
            # Where it failed there was too little of this, so that what the conditions grant is no supply.
            is_short = bool(need.options & self.short) and self._is_retry(step)
            if not need.options or need.options & (self.supplied if is_short else self.have):
                continue
            what = f"{step.kind} {step.target} needs {_any_of(need.options)}"
            if need.options <= self.absent or is_short:
                faults.append(_Fault(f"{what}, which is missing and nothing supplies"))
            elif self._comes_too_late(step, need.expected, later):
                faults.append(_Fault(f"{what}, which only a later step yields", late=True))
        return faults

    def _comes_too_late(self, step: Step, expected: frozenset[str], later: tuple[Step, ...]) -> bool:
        """Whether a later step brings what is needed here, and could have come first."""
        own = yields_of(step, self.domain)
        for each in later:
            for thing in sorted(yields_of(each, self.domain) & expected):
                if not self.domain.prerequisites(thing) & own:
                    return True
        return False

    def _is_retry(self, step: Step) -> bool:
        return self.retried is not None and same_action((step.kind, step.target), self.retried, self.domain)


def _fit_tools(target: str, domain: Domain) -> frozenset[str]:
    """Tools one of which is needed to get `target` by mining; empty if some block of it needs none."""
    fitting = [domain.fit_tools(block) for block in sorted(blocks_for(target, domain))]
    return frozenset().union(*fitting) if fitting and all(fitting) else frozenset()


def _any_of(names: frozenset[str]) -> str:
    listed = sorted(names)
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:3])}{', …' if len(listed) > 3 else ''}"
