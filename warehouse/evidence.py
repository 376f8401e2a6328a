"""V_evidence: does the cited feedback exist, belong to the situation, and show what is claimed?

A remedy is held against each attempt that it cites. A skill is held against segments (warehouse/facts.py): in
each, the attempts that it cites have to be the last ones, without a gap, up to a success at what the skill is
for, and together, as if they were one attempt, they have to show everything that it says.
"""

from collections.abc import Iterable, Mapping

from warehouse.domains.model import Domain
from warehouse.execution import order_faults
from warehouse.facts import INFRASTRUCTURE, FeedbackFact, Segment, segments
from warehouse.grammar import (
    blocks_for,
    check_faults,
    conditions_of,
    in_order,
    known_names,
    same_action,
    steps_of,
)
from warehouse.knowledge import Candidate, RemedyContent, SkillContent, Step
from warehouse.serving import leading_up
from warehouse.state import check_holds, holds, value_of

_VITALS = ("health", "hunger")
_LISTED = ("kind", "target", "failure_type")
"""fields of which a list takes in as many situations as it has values"""
_WAY_CLEARED = "path_clear"
_IN_THE_WAY = frozenset({"NAV_STUCK", "TARGET_UNREACHABLE"})
"""failure types that say that something was in the way"""


def evidence_faults(candidate: Candidate, facts: Mapping[str, FeedbackFact], domain: Domain) -> list[str]:
    """Everything in which the citations do not bear a candidate out; empty: V_evidence holds."""
    content = candidate.content
    faults = [f"no feedback {cited}" for cited in candidate.support if cited not in facts]
    cited_facts = [facts[cited] for cited in candidate.support if cited in facts]
    if isinstance(content, SkillContent):
        faults += _skill_faults(candidate, content, cited_facts, domain)
    else:
        for fact in cited_facts:
            found = _situation_faults(candidate, fact, domain) + _remedy_faults(content, fact, domain)
            faults += _about(fact, found)
    faults += _wider_than_shown(candidate, cited_facts)
    return (
        faults + _out_of_reach(candidate, cited_facts, domain) + _stray_steps(candidate, cited_facts, domain)
    )


def _wider_than_shown(candidate: Candidate, facts: list[FeedbackFact]) -> list[str]:
    """Actions and failures that a condition lists, and that none of the cited attempts was or had: what was
    seen of one says nothing of the others. Where no attempt's is known, nothing is said against it."""
    found = []
    for predicate in sorted(set(conditions_of(candidate)), key=str):
        if predicate.field not in _LISTED or not isinstance(predicate.value, tuple):
            continue
        shown = {fact.situation.get(predicate.field) for fact in facts} - {None}
        strange = sorted(str(value) for value in predicate.value if value not in shown)
        if shown and strange:
            found.append(f"no cited attempt shows {predicate.field} {', '.join(strange)}")
    return found


def _about(fact: FeedbackFact, faults: Iterable[str]) -> list[str]:
    return [f"{fact.feedback_id}: {fault}" for fault in faults]


def _situation_faults(candidate: Candidate, fact: FeedbackFact, domain: Domain) -> list[str]:
    if fact.failure_type == INFRASTRUCTURE:
        return ["the environment failed, which says nothing about the agent"]
    found, situation = [], fact.situation
    for predicate in in_order(conditions_of(candidate)):
        if holds(predicate, situation, domain) is False:
            found.append(f"{predicate.field} {predicate.op} {predicate.value} did not hold")
    return found


def _skill_faults(
    candidate: Candidate, content: SkillContent, cited: list[FeedbackFact], domain: Domain
) -> list[str]:
    found: list[str] = []
    action = (content.kind, content.target)
    for fact in cited:
        if fact.y is not True:
            found += _about(fact, [*_situation_faults(candidate, fact, domain), "is no success"])
    for segment in segments(cited):
        ends = [place for place, subgoal in enumerate(segment.subgoals, 1) if subgoal == action]
        cut = ends[-1] if ends else 0
        for fact in segment.members[cut:]:
            what = f"is about {fact.kind} {fact.target}, not {content.kind} {content.target}"
            found += _about(fact, [f"{what}, and in no cited segment that ends there"])
        if cut:
            shown = Segment(segment.members[:cut])
            found += _about(shown.end, _segment_faults(candidate, content, shown, domain))
    return found


def _segment_faults(
    candidate: Candidate, content: SkillContent, segment: Segment, domain: Domain
) -> list[str]:
    fact = segment.joined
    found = _situation_faults(candidate, fact, domain)
    if content.count > _shown_count(content, fact, domain):
        found.append(f"does not show {content.count} of {content.target}")
    for effect in content.effects:
        change = _change(effect.name, fact, domain)
        shown = change is not None and change * effect.count > 0 and abs(change) >= abs(effect.count)
        if not shown:
            found.append(f"does not show the effect {effect.name} {effect.count:+d}")
    for check in candidate.verification:
        if check_faults(check, domain):
            continue  # V_exec's matter
        if check_holds(check, fact.state_after, domain) is False:
            found.append(f"ends in a state that does not pass {check.type} {check.name} {check.value}")
    return found + _not_repeated(content, segment, domain) + _idle(segment, domain)


def _not_repeated(content: SkillContent, segment: Segment, domain: Domain) -> list[str]:
    """Attempts of a longer segment that no step repeats, in the order of the segment.

    Without them the skill would claim what they brought, and leave out how.
    """
    if len(segment.members) == 1:
        return []
    found, place = [], 0
    for member in segment.members:
        later = range(place, len(content.steps))
        repeats = [each for each in later if _repeats(content.steps[each], member, domain)]
        if repeats:
            place = repeats[0]
        else:
            found.append(f"attempt {member.attempt}, {member.kind} {member.target}, has no step in its place")
    return found


def _idle(segment: Segment, domain: Domain) -> list[str]:
    """Attempts at the beginning of a segment that brought nothing towards its end."""
    idle = len(segment.members) - len(leading_up(segment, domain).members)
    return [
        f"attempt {member.attempt}, {member.kind} {member.target}, leads to nothing that comes after it"
        for member in segment.members[:idle]
    ]


def _repeats(step: Step, member: FeedbackFact, domain: Domain) -> bool:
    """Whether a step does what an attempt was for, or something that was seen to be done in it."""
    action = (step.kind, step.target)
    done = [(member.kind, member.target)]
    for seen in member.steps:
        done.append((domain.kind_of(seen.kind, seen.name or "") if seen.kind else step.kind, seen.name))
    return any(same_action(action, each, domain) or same_action(each, action, domain) for each in done)


def _remedy_faults(content: RemedyContent, fact: FeedbackFact, domain: Domain) -> list[str]:
    risk, types, found = content.risk, {cause.type for cause in fact.causes}, []
    if risk.kind is not None and risk.kind != fact.kind:
        found.append(f"is about {fact.kind}, not {risk.kind}")
    if risk.target is not None and risk.target != fact.target:
        found.append(f"is about {fact.target}, not {risk.target}")
    if fact.y is not False and fact.stagnant is not True:
        found.append("neither failed nor stagnated")
    if risk.failure_type != fact.failure_type:
        found.append(f"failed with {fact.failure_type}, not {risk.failure_type}")
    clears = any(check.type == _WAY_CLEARED for step in content.repair for check in step.checks)
    if clears and not fact.stagnant and not {fact.failure_type, *types} & _IN_THE_WAY:
        found.append("does not show that anything was in the way")
    shown = set(fact.missing).union(*(known_names(name, domain) for name in fact.missing))
    for name in risk.missing:
        if name not in shown and not known_names(name, domain) & shown:
            found.append(f"does not show that {name} was missing")
    return found


def _out_of_reach(candidate: Candidate, facts: list[FeedbackFact], domain: Domain) -> list[str]:
    """Steps of a repair at a station that the cited states show out of reach, with none that mends this."""
    if not isinstance(candidate.content, RemedyContent):
        return []
    away = [
        station
        for station in sorted(domain.stations)
        if any(value_of(fact.state_before, f"near.{station}") is False for fact in facts)
    ]
    if not away:
        return []
    found = order_faults(candidate, domain, away)
    known = set(order_faults(candidate, domain)) if found else set()
    return [fault for fault in found if fault not in known]


def _change(name: str, fact: FeedbackFact, domain: Domain) -> int | None:
    if fact.delta_inventory is None:
        return None
    names = known_names(name, domain) if name.startswith("#") else frozenset({name})
    return sum(fact.delta_inventory.get(each, 0) for each in names)


def _shown_count(content: SkillContent, fact: FeedbackFact, domain: Domain) -> int:
    """How many of the skill's target a row shows, by the most telling of: what a success was asked for, the
    gain, what was held at the end, what was seen to be done."""
    accepted = domain.accepts(content.target or "", content.kind)
    delta = fact.delta_inventory or {}
    held = [fact.state_after.get(f"inventory.{item}") for item in accepted]
    done = [step.count for step in fact.steps if step.name in accepted or step.name == content.target]
    return max(
        fact.needed or 1,
        sum(max(delta.get(item, 0), 0) for item in accepted),
        sum(count for count in held if isinstance(count, int)),
        sum(done),
    )


def _stray_steps(candidate: Candidate, facts: list[FeedbackFact], domain: Domain) -> list[str]:
    """Steps on things that neither occur in the cited evidence nor lead to what it lacked or aimed at."""
    if not facts:
        return []
    seen, words = _observed(facts)
    reachable: set[str] | None = None
    stray = []
    for place, step in enumerate(steps_of(candidate.content), 1):
        if step.target is None or not known_names(step.target, domain):
            continue
        things = _things_of(step, domain)
        if things & seen or any(name in words or name.replace("_", " ") in words for name in sorted(things)):
            continue
        if reachable is None:
            reachable = _reachable(candidate, facts, domain)
        if not things & reachable:
            stray.append(f"step {place}: nothing cited leads to {step.target}")
    return stray


def _observed(facts: Iterable[FeedbackFact]) -> tuple[set[str], str]:
    """The names that occur in the facts, and their recorded words in lower case."""
    names: set[str | None] = set()
    words: list[str] = []
    for fact in facts:
        names |= {fact.target, *fact.missing, *(fact.delta_inventory or {})}
        names |= {step.name for step in fact.steps}
        for cause in fact.causes:
            names |= {cause.name, *cause.items}
            words.append(cause.evidence.text or "")
        words.append(fact.evidence.text or "")
        for state in (fact.state_before, fact.state_after):
            names |= {field.partition(".")[2] for field, value in state.items() if value and "." in field}
    return {name for name in names if name}, "\n".join(words).lower()


def _things_of(step: Step, domain: Domain) -> frozenset[str]:
    """What a step is on, and what it is done for: the target, its members, what they leave."""
    target = step.target or ""
    gained = domain.accepts(target, step.kind) if step.kind in ("mine", "combat") else frozenset()
    return frozenset({target}) | known_names(target, domain) | gained


def _reachable(candidate: Candidate, facts: Iterable[FeedbackFact], domain: Domain) -> set[str]:
    """Everything that the domain's rules need for the cited targets and for what they lacked."""
    content = candidate.content
    ends: set[str] = set()
    for fact in facts:
        named = [name for name in (fact.target, *fact.missing) if name]
        ends |= {each for name in named for each in (name, *known_names(name, domain))}
        ends |= domain.accepts(fact.target or "", fact.kind or "")
        if fact.kind == "mine":
            blocks = blocks_for(fact.target or "", domain)
            ends |= blocks.union(*(domain.fit_tools(block) for block in sorted(blocks)))
        if fact.kind == "smelt":
            ends |= {domain.smelting_station} | _raw_fuels(domain)
    weak = any(one.field in _VITALS and one.op in ("lt", "le") for one in conditions_of(candidate))
    if weak or (isinstance(content, RemedyContent) and content.risk.failure_type == "DEATH"):
        ends |= domain.foods
    closed = _with_needs(ends, domain)
    # Recipes take any member of a tag; what stands in for a cheapest ingredient counts as well as it does.
    stand_ins = {
        member
        for item in sorted(closed & domain.recipes.keys())
        for recipe in domain.recipes[item]
        for name, _ in recipe.ingredients
        if domain.expand(name) & closed
        for member in domain.expand(name)
    }
    return _with_needs(closed | stand_ins, domain)


def _raw_fuels(domain: Domain) -> set[str]:
    """Fuels that are found or smelted; what else is made of wood burns too, but is made for other ends."""
    return {fuel for fuel in domain.fuels if domain.sources(fuel) and domain.sources(fuel)[0][0] != "craft"}


def _with_needs(items: set[str], domain: Domain) -> set[str]:
    return items.union(*(domain.prerequisites(item) for item in sorted(items)))
