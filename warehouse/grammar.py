"""The executor's grammar: which actions and checks there are, what they are on, and what they bring."""

from collections.abc import Iterable
from typing import Final

from warehouse.domains.model import Domain
from warehouse.entries import Entry
from warehouse.knowledge import Candidate, Check, Predicate, RemedyContent, SkillContent, Step
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


def in_order(predicates: Iterable[Predicate]) -> list[Predicate]:
    """Each predicate once, ordered by field, operator and value."""
    # Spelt as pydantic spells a record, at a tenth of its time.
    unique = dict.fromkeys(predicates)
    spelt = {f"field={each.field!r} op={each.op!r} value={each.value!r}": each for each in unique}
    return [spelt[one] for one in sorted(spelt)]


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
