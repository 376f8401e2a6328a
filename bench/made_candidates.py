"""Made-up candidates with the feedback that they cite, for measuring Curator.

They look like what an Inducer hands in: for every item of the domain the ways in which getting it fails and
succeeds, each situation seen in some attempts, and candidates whose conditions are what the attempts that
they cite have in common (so much held, a station away, not too hungry). Some repeat what was proposed before
from other evidence; one in five has a fault: no evidence, a condition that does not hold in it, a thing that
does not exist, an effect that nobody saw. The same seed gives the same candidates.
"""

import random
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from warehouse.domains import Domain
from warehouse.domains.model import Recipe
from warehouse.facts import NO_EVIDENCE, Cause, FeedbackFact, ObservedStep
from warehouse.ids import derive_id
from warehouse.knowledge import (
    Amount,
    Candidate,
    Check,
    Op,
    Predicate,
    RemedyContent,
    Risk,
    Scalar,
    SkillContent,
    Step,
)
from warehouse.state import flatten_state

FAULTY: Final = 0.2
"""share of the candidates that have a fault"""
FACTS_PER_CANDIDATE: Final = 0.5
"""attempts that are made up for each candidate; most are cited by several"""
MOST_CITED: Final = 3
ATTEMPTS: Final = 4
"""attempts of an episode, on the average"""


class Made(NamedTuple):
    """Candidates, in no order, and the facts that they cite by feedback id."""

    candidates: tuple[Candidate, ...]
    facts: dict[str, FeedbackFact]


class Situation(NamedTuple):
    """One way for an action to go: `failure` is null where it succeeds. `held` are the things that its
    attempts hold some of, `lacked` those they lack, `steps` what a candidate says to do."""

    kind: str
    target: str
    failure: str | None
    held: tuple[str, ...]
    lacked: tuple[str, ...]
    near: tuple[str, ...]
    away: str | None
    steps: tuple[Step, ...]


def situations(domain: Domain) -> list[Situation]:
    """Every situation that is made up, in a fixed order."""
    found: list[Situation] = []
    for item in sorted(domain.recipes):
        found += _crafting(item, domain.recipes[item][0], domain)
    for block in sorted(domain.blocks):
        if domain.drops.get(block):
            found += _mining(block, domain)
    return found


def make(domain: Domain, count: int, seed: int, build: str) -> Made:
    """`count` candidates of `build`, and their facts."""
    draw = random.Random(seed)
    every = situations(domain)
    # What is played most is proposed most: a third of the situations has two thirds of the candidates.
    weights = [2.0 if number % 3 else 4.0 for number in range(len(every))]
    pools: dict[int, list[FeedbackFact]] = {}
    numbers = iter(range(1 << 60))
    episodes = max(1, round(count * FACTS_PER_CANDIDATE / ATTEMPTS))
    chosen = draw.choices(range(len(every)), weights, k=count)
    candidates = []
    for place in chosen:
        pool = pools.setdefault(place, [])
        if not pool or draw.random() < FACTS_PER_CANDIDATE:
            number = next(numbers)
            pool.append(_fact(every[place], draw, f"{build}/{number}", f"{build}/{number % episodes}"))
        cited = draw.sample(pool, min(len(pool), draw.randint(1, MOST_CITED)))
        candidate = _candidate(every[place], cited, draw, domain, build)
        if draw.random() < FAULTY:
            candidate = draw.choice(_FAULTS)(candidate)
        candidates.append(candidate)
    facts = {fact.feedback_id: fact for pool in pools.values() for fact in pool}
    return Made(tuple(candidates), facts)


def _crafting(item: str, recipe: Recipe, domain: Domain) -> Iterator[Situation]:
    needs = tuple(sorted(min(domain.expand(name)) for name, _ in recipe.ingredients if domain.expand(name)))
    table = domain.crafting_station
    near = (table,) if recipe.needs_table else ()
    make_it = Step(kind="craft", target=item, count=recipe.count)
    yield Situation("craft", item, None, needs, (), near, None, (make_it,))
    if recipe.needs_table and item != table:
        put = (Step(kind="craft", target=table), Step(kind="use", target=table), make_it)
        yield Situation("craft", item, "MISSING_STATION", (*needs, "oak_planks"), (table,), (), table, put)
    for name in needs[:2]:
        sources = domain.sources(name)
        if sources and name != item:
            kind, target = sources[0]
            rest = tuple(each for each in needs if each != name)
            get = (Step(kind=kind, target=target, count=4), make_it)
            yield Situation("craft", item, "MISSING_INGREDIENT", rest, (name,), near, None, get)


def _mining(block: str, domain: Domain) -> Iterator[Situation]:
    dig = Step(kind="mine", target=block, count=1)
    tools = domain.fit_tools(block)
    lowest = min(tools, key=lambda tool: (domain.tool_tiers.index(domain.tools[tool][1]), tool), default=None)
    held = () if lowest is None else (lowest,)
    yield Situation("mine", block, None, held, (), (), None, (dig,))
    clear = Step(kind="move", target=None, checks=(Check(type="path_clear"),))
    yield Situation("mine", block, "NAV_STUCK", held, (), (), None, (clear, dig))
    if lowest is not None and lowest in domain.recipes:
        tool = (Step(kind="craft", target=lowest), dig)
        near = (domain.crafting_station,)
        yield Situation("mine", block, "MISSING_TOOL", ("stick",), (lowest,), near, None, tool)


def _fact(one: Situation, draw: random.Random, number: str, episode: str) -> FeedbackFact:
    """An attempt in a situation, with some of everything that it holds."""
    known = {"kind": one.kind, "target": one.target}
    held = {name: draw.randint(8, 64) for name in one.held}
    row = {
        "y": float(draw.randint(5, 90)),
        "health": float(draw.randint(6, 20)),
        "hunger": float(draw.randint(4, 20)),
        "alive": True,
        "gui": "none",
        "near": list(one.near),
        "seen": [*one.near, one.target],
    }
    succeeded = one.failure is None
    gain = dict.fromkeys(_gained(one), 64) if succeeded else {}
    after = {name: held.get(name, 0) + gain.get(name, 0) for name in {*held, *gain}}
    cause = None if succeeded else Cause(one.failure or "", (one.lacked or (None,))[0], None, {}, NO_EVIDENCE)
    return FeedbackFact(
        feedback_id=derive_id("bench feedback", number),
        episode_id=derive_id("bench episode", episode),
        attempt=int(number.rpartition("/")[2]),
        kind=one.kind,
        target=one.target,
        needed=1,
        y=succeeded,
        failure_type=one.failure or "NONE",
        missing=one.lacked,
        causes=() if cause is None else (cause,),
        progress=1.0 if succeeded else 0.1,
        stagnant=one.failure == "NAV_STUCK",
        state_before=flatten_state({**row, "inventory": _amounts(held)}, **known),
        state_after=flatten_state({**row, "inventory": _amounts(after)}, **known),
        delta_inventory=gain,
        steps=(ObservedStep(one.kind, one.target, 64),) if succeeded else (),
    )


def _gained(one: Situation) -> tuple[str, ...]:
    return (one.target,)


def _amounts(counts: dict[str, int]) -> list[dict[str, Any]]:
    return [{"name": name, "count": count} for name, count in sorted(counts.items())]


def _candidate(
    one: Situation, cited: list[FeedbackFact], draw: random.Random, domain: Domain, build: str
) -> Candidate:
    """What the cited attempts have in common, as somebody might say it."""
    about = [_where("kind", "eq", one.kind), _where("target", "eq", one.target)]
    if one.failure is not None:
        about.append(_where("failure_type", "eq", one.failure))
    conditions = [_least(f"inventory.{name}", cited) for name in one.held]
    conditions += [_where(f"inventory.{name}", "lt", 1) for name in one.lacked if name in domain.items]
    conditions += [_where(f"near.{name}", "eq", True) for name in one.near]
    if one.away is not None:
        conditions.append(_where(f"near.{one.away}", "eq", False))
    more = [_least("hunger", cited), _least("health", cited), _least("ypos", cited)]
    trigger = [*about, *conditions, *draw.sample(more, draw.randint(0, 1))]
    content: SkillContent | RemedyContent
    checks: tuple[Check, ...] = ()
    if one.failure is None:
        name = _gained(one)[0]
        gives = domain.accepts(one.target, one.kind)
        content = SkillContent(
            kind=one.kind,
            target=one.target,
            preconditions=tuple(conditions),
            steps=one.steps,
            effects=(Amount(name=name, count=draw.randint(1, 4)),) if name in domain.items else (),
        )
        checks = (Check(type="inv_ge", name=name if name in domain.items else min(gives), value=1.0),)
    else:
        risk = Risk(kind=one.kind, target=one.target, failure_type=one.failure, missing=one.lacked)
        content = RemedyContent(risk=risk, repair=one.steps)
    return Candidate(
        domain=domain.name,
        type="skill" if one.failure is None else "remedy",
        trigger=tuple(trigger),
        content=content,
        verification=checks,
        support=tuple(fact.feedback_id for fact in cited),
        build=build,
        request_id=derive_id("bench request", [one.kind, one.target, one.failure, draw.random()]),
    )


def _where(field: str, op: Op, value: Scalar) -> Predicate:
    return Predicate(field=field, op=op, value=value)


def _least(field: str, cited: list[FeedbackFact]) -> Predicate:
    """What all cited attempts had at least of something."""
    values = [fact.state_before.get(field) for fact in cited]
    return _where(field, "ge", min(value for value in values if isinstance(value, int | float)))


def _changed(candidate: Candidate, **changes: Any) -> Candidate:
    return Candidate.model_validate({**dict(candidate), **changes})


_FAULTS: Final[tuple[Callable[[Candidate], Candidate], ...]] = (
    lambda one: _changed(one, support=()),
    lambda one: _changed(one, support=(derive_id("nowhere", one.request_id),)),
    lambda one: _changed(one, trigger=(*one.trigger, _where("inventory.vibranium", "ge", 1))),
    lambda one: _changed(one, trigger=(*one.trigger, _where("gui", "eq", "furnace"))),
    lambda one: _changed(one, trigger=one.trigger[:1]),
)
