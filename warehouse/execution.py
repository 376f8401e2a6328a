"""V_exec: can the executor carry out what a piece of knowledge says, step by step and in this order.

The order is simulated by the domain's rules over what the conditions grant, what they deny and what earlier
steps yield. It is a question of existence, not of amounts. What nothing speaks of is assumed to be there, so
an order is only faulted where the knowledge itself shows that it cannot work; a station that a skill relies
on is the exception, because it does not travel with the agent.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from warehouse.domains.model import Domain, Recipe
from warehouse.entries import Entry
from warehouse.knowledge import Candidate, Check, Predicate, RemedyContent, SkillContent, Step
from warehouse.regions import regions_of
from warehouse.state import CHECKS

Action = tuple[str | None, str | None]

_CHECK_NAMES: Final = ("item", "station", "block", "entity", "name")
"""Arguments of a check that name something; every other argument is a number."""


def steps_of(content: SkillContent | RemedyContent) -> tuple[Step, ...]:
    """What knowledge of this content tells to do."""
    return content.steps if isinstance(content, SkillContent) else content.repair


def action_of(content: SkillContent | RemedyContent) -> Action:
    """The action that knowledge of this content is about; None in it stands for any."""
    if isinstance(content, SkillContent):
        return content.kind, content.target
    return content.risk.kind, content.risk.target


def conditions_of(knowledge: Candidate | Entry) -> tuple[Predicate, ...]:
    """Everything that must hold for knowledge to be used: trigger, applicability, preconditions."""
    content = knowledge.content
    more = content.preconditions if isinstance(content, SkillContent) else ()
    return (*knowledge.trigger, *content.applicability, *more)


def known_names(name: str, domain: Domain) -> frozenset[str]:
    """The items, blocks and entities behind a name or a `#tag`; empty for an unknown one."""
    if name.startswith("#"):
        return domain.tags.get(name[1:], frozenset())
    known = (
        name in domain.items or name in domain.blocks or name in domain.entities or name in domain.stations
    )
    return frozenset({name}) if known else frozenset()


def blocks_for(target: str, domain: Domain) -> frozenset[str]:
    """The blocks that mining `target` (a block, an item or a `#tag`) may mean."""
    names = known_names(target, domain)
    blocks = names & domain.blocks
    return blocks or frozenset(block for block, drops in domain.drops.items() if names & set(drops))


def yields_of(step: Step, domain: Domain) -> frozenset[str]:
    """The items that a step may bring."""
    if step.target is None:
        return frozenset()
    gained = domain.accepts(step.target, step.kind)
    if step.kind == "mine":
        gained |= {item for block in blocks_for(step.target, domain) for item in domain.drops.get(block, ())}
    return gained


def same_action(one: Action, other: Action, domain: Domain) -> bool:
    """Whether doing `one` is doing `other`: same kind, same target or a member of it, or the same result."""
    if one[0] != other[0]:
        return False
    if one[1] == other[1]:
        return True
    if one[1] is None or other[1] is None or one[0] is None:
        return False
    if known_names(one[1], domain) and known_names(one[1], domain) <= known_names(other[1], domain):
        return True
    gained = domain.accepts(one[1], one[0])
    return bool(gained) and gained <= domain.accepts(other[1], one[0])


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
    if isinstance(content, SkillContent) and not any(
        same_action((step.kind, step.target), (kind, target), domain) for step in steps
    ):
        faults.append(f"no step does what the skill is for, {kind} {target}")
    return faults or order_faults(candidate, domain)


def step_faults(step: Step, domain: Domain) -> list[str]:
    """What is wrong with one step by itself: its action, and its checks. A target that is merely left out is
    V_spec's to say."""
    faults = [] if step.target is None else action_faults(step.kind, step.target, domain)
    if step.kind not in domain.kinds and step.target is None:
        faults.append(f"unknown kind {step.kind!r}")
    return faults + [fault for check in step.checks for fault in check_faults(check, domain)]


def action_faults(kind: str, target: str | None, domain: Domain) -> list[str]:
    """Why `kind target` is no action of the domain's grammar, if it is none."""
    sort = domain.kinds.get(kind)
    if sort is None:
        return [f"unknown kind {kind!r}"]
    if target is None:
        return [] if sort in ("none", "place") else [f"{kind} needs a target"]
    if sort == "none":
        return [f"{kind} takes no target, and has {target!r}"]
    names = known_names(target, domain)
    if not names:
        return [f"unknown target {target!r}"]
    if kind == "craft" and not any(name in domain.recipes for name in names):
        return [f"no recipe makes {target!r}"]
    if kind == "smelt" and not names & frozenset(domain.smelting.values()):
        return [f"smelting gives no {target!r}"]
    if kind == "mine" and not blocks_for(target, domain):
        return [f"mining gives no {target!r}"]
    if sort == "entity" and not names & domain.entities:
        return [f"{target!r} is no entity"]
    return []


def check_faults(check: Check, domain: Domain) -> list[str]:
    """What is wrong with a check: its type, or its arguments."""
    arguments = domain.check_types.get(check.type)
    if arguments is None or check.type not in CHECKS:
        return [f"unknown check {check.type!r}"]
    faults: list[str] = []
    named = [argument for argument in arguments if argument in _CHECK_NAMES]
    if bool(named) != (check.name is not None):
        faults.append(f"check {check.type} takes {'a' if named else 'no'} name")
    if (len(arguments) > len(named)) != (check.value is not None):
        faults.append(f"check {check.type} takes {'a' if len(arguments) > len(named) else 'no'} number")
    if named and check.name is not None and not _is_argument(check.name, named[0], domain):
        faults.append(f"check {check.type}: {check.name!r} is no {named[0]}")
    if "n" in arguments and check.value is not None and (check.value < 0 or check.value % 1):
        faults.append(f"check {check.type}: {check.value} is no count")
    return faults


def _is_argument(name: str, argument: str, domain: Domain) -> bool:
    match argument:
        case "item":
            return bool(domain.expand(name))
        case "station":
            return name in domain.stations
        case "block":
            return bool(known_names(name, domain) & domain.blocks)
        case "entity":
            return name in domain.entities
    return bool(known_names(name, domain))


def order_faults(candidate: Candidate, domain: Domain) -> list[str]:
    """Steps that cannot be carried out where they stand, because of what the knowledge itself says."""
    return _Simulation(candidate, domain).faults()


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
            found += [f"step {place + 1}: {fault.detail}" for fault in faults]
            self.have |= yields_of(step, self.domain)
            if step.kind == "use" and step.target in self.domain.stations:
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
        if recipe.needs_table:
            faults += self._station(step, self.domain.crafting_station, later)
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
        placed = any(each.kind == "use" and each.target == station for each in later)
        if station in self.away or placed:
            return [_Fault(f"{what}, and it is not there yet")]
        return []

    def _lacking(self, step: Step, needs: Iterable[_Need], later: tuple[Step, ...]) -> list[_Fault]:
        faults = []
        for need in needs:
            if not need.options or need.options & self.have:
                continue
            what = f"{step.kind} {step.target} needs {_any_of(need.options)}"
            short = self.short if self._is_retry(step) else frozenset[str]()
            if need.options <= self.absent | short:
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
