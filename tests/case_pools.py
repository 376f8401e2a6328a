"""Good candidates to put faults into: what was accepted from recordings and from a small build that was
played, the hand-written cases, and variants of all of them that are as good.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from prompts.engines.rules import RulesStandIn
from prompts.inducer import induce
from rollouts.ingest.importing import discover_all, import_source
from rollouts.monitor.feedback import monitor
from rollouts.trace import Trace
from tests.case_templates import sticks_segment, tool_segment
from tests.good_cases import (
    DOMAIN,
    LOWEST_PICKAXE,
    TOOLS,
    WOODS,
    Case,
    fuel_remedy,
    ingot_skill,
    ingredient_remedy,
    log_skill,
    planks_skill,
    station_remedy,
    stuck_remedy,
    tool_remedy,
    where,
    wooden_tool_skill,
)
from tests.mutation import added, situations
from warehouse.curator import curate
from warehouse.domains import Domain
from warehouse.facts import FeedbackFact, facts_from
from warehouse.ids import derive_id
from warehouse.knowledge import Candidate
from warehouse.state import holds
from warehouse.trace_store import ShardStore, feedback_store, trace_store

_WOOD = re.compile(rf"(?<![a-z])({'|'.join(sorted(WOODS, key=len, reverse=True))})(?=_|\b)")
Variant = Callable[[Case, Random], Case | None]


def template_cases() -> list[Case]:
    """Every hand-written case, with the first of its names."""
    wood, tool = WOODS[0], TOOLS[0]
    return [
        *(station_remedy(each, tool) for each in WOODS[:2]),
        ingredient_remedy(wood, tool),
        *(tool_remedy(ore) for ore in sorted(LOWEST_PICKAXE)),
        fuel_remedy("iron_ore"),
        stuck_remedy(wood),
        planks_skill(wood),
        wooden_tool_skill(wood, tool),
        log_skill(wood),
        ingot_skill("gold_ore"),
        sticks_segment(wood),
        tool_segment(wood, tool),
    ]


def recorded_cases(folders: Sequence[Path], domain: Domain) -> list[Case]:
    """What Curator accepts of what the stand-in makes of recordings."""
    facts: dict[str, FeedbackFact] = {}
    build = "b1"
    for source in discover_all(folders):
        frames = import_source(source, build, domain).frames
        feedback = monitor(Trace.of(frames), domain)
        facts |= facts_from(feedback, frames["attempts"], frames["events"], frames["episodes"])
    return accepted(facts, build, domain)


def stored_cases(home: Path, build: str, domain: Domain) -> list[Case]:
    """What Curator accepts of what the stand-in makes of a build that was played."""
    traces, feedback = trace_store(home), feedback_store(home)
    facts = facts_from(
        _rows(feedback, "feedback", build),
        *(_rows(traces, table, build) for table in ("attempts", "events", "episodes")),
    )
    return accepted(facts, build, domain)


def _rows(store: ShardStore, table: str, build: str) -> Any:
    return store.scan(table, [build]).collect()


def accepted(facts: Mapping[str, FeedbackFact], build: str, domain: Domain) -> list[Case]:
    """The accepted candidates of a build, each with the facts that it cites."""
    candidates = induce(facts, domain, RulesStandIn(domain), build).candidates
    by_id = {one.candidate_id: one for one in candidates}
    decisions = curate(candidates, facts, {}, (), domain).decisions
    good = [by_id[one.candidate_id] for one in decisions if one.verdict == "accepted"]
    return [Case(one, {cited: facts[cited] for cited in one.support}) for one in good]


# --- variants


def as_it_was(case: Case, random: Random) -> Case:
    """Just what was accepted."""
    return case


def of_other_woods(case: Case, random: Random) -> Case | None:
    """The same in a forest of other trees: each wood is exchanged for another, wherever it is named."""
    if not _WOOD.search(repr(case)):
        return None
    others = list(WOODS)
    while any(one == other for one, other in zip(WOODS, others, strict=True)):
        random.shuffle(others)
    table = dict(zip(WOODS, others, strict=True))
    return _renamed(case, lambda text: _WOOD.sub(lambda found: table[found[1]], text))


def of_other_episodes(case: Case, random: Random) -> Case:
    """The same, seen in other episodes."""
    salt = random.random()
    ids = {one: derive_id("feedback", [salt, one]) for one in case.facts}
    ids |= {fact.episode_id: derive_id("episode", [salt, fact.episode_id]) for fact in case.facts.values()}
    return _renamed(case, lambda text: ids.get(text, text))


def with_a_true_condition(case: Case, random: Random) -> Case | None:
    """Asks for one thing more, which held wherever it was learnt."""
    known = [where("alive", "eq", True), where("hunger", "ge", 1), where("ypos", "ge", 1)]
    known += [where("gui", "eq", "none"), where("inventory.cake", "lt", 1)]
    true = [each for each in known if all(holds(each, state, DOMAIN) for state in situations(case))]
    return added(case, random.choice(true)) if true and len(case.candidate.trigger) < 16 else None


VARIANTS: tuple[Variant, ...] = (as_it_was, of_other_woods, of_other_episodes, with_a_true_condition)


def _renamed(case: Case, rename: Callable[[str], str]) -> Case:
    candidate = Candidate.model_validate(_each(case.candidate.model_dump(), rename))
    facts = [_each(fact, rename) for fact in case.facts.values()]
    return replace(case, candidate=candidate, facts={fact.feedback_id: fact for fact in facts})


def _each(value: Any, rename: Callable[[str], str]) -> Any:
    """`value` with every text in it renamed."""
    if isinstance(value, str):
        return rename(value)
    if isinstance(value, Mapping):
        return {rename(key): _each(value[key], rename) for key in value}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*_all(value, rename))
    if isinstance(value, tuple | list):
        return type(value)(_all(value, rename))
    if is_dataclass(value) and not isinstance(value, type):
        changed = {each.name: _each(getattr(value, each.name), rename) for each in fields(value)}
        return replace(value, **changed)
    return value


def _all(values: Iterable[Any], rename: Callable[[str], str]) -> list[Any]:
    return [_each(value, rename) for value in values]
