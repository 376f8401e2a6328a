"""The built-in `rules` engine: A STAND-IN FOR A LANGUAGE MODEL, with no weights and no language.

It answers the Inducer roles from a request's structured situation and from one copy of the domain's facts,
and from nothing else: no state of the world, no true facts beside the copy. The copy can be made wrong by a
seed (prompts/engines/misconceptions.py), so that a study can ask what feedback is worth to somebody who is
mistaken. Its figures say nothing of what a language model would do.

Its answers are JSON text read by the same parser as any model's; the same request gets the same bytes.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import orjson

from prompts.engines.misconceptions import corrupted
from prompts.engines.repairs import AbstainedError, repair_for
from prompts.engines.skills import routine_for
from prompts.language_model import ModelAnswer, ModelRequest
from prompts.responses import failed_answer, read_answer
from prompts.situations import RemedySituation, SkillSituation
from prompts.tokens import PieceCounter
from warehouse.domains import Domain
from warehouse.ids import digest
from warehouse.knowledge import Check, Predicate, Step

_SENTENCE = 240


class RulesStandIn:
    """A `LanguageModel` without a model.

    `misconceptions` is the share (0 to 1) of the copy's recipes and tool tiers that `seed` makes wrong. Token
    counts are `PieceCounter`'s estimates.
    """

    def __init__(self, domain: Domain, seed: int = 0, misconceptions: float = 0.0) -> None:
        self._facts = corrupted(domain, seed, misconceptions)
        self._counter = PieceCounter()

    @cached_property
    def name(self) -> str:
        """`rules-standin`, the domain, and the digest of the copy's facts, which decide every answer."""
        facts = self._facts
        known = [
            [facts.name, facts.version, facts.smelting, facts.fuels, facts.drops, facts.harvest],
            [facts.tags, facts.tools, facts.stations, facts.entity_drops, facts.rare_drops],
            [facts.block_effort, facts.entity_effort, facts.smelting_station, facts.crafting_station],
            [
                [recipe.item, recipe.count, recipe.ingredients, recipe.needs_table]
                for item in sorted(facts.recipes)
                for recipe in facts.recipes[item]
            ],
        ]
        return f"rules-standin/{facts.name}/{digest(known)[:12]}"

    def generate(self, requests: Sequence[ModelRequest]) -> list[ModelAnswer]:
        """One answer per request, in order; a role that it does not know gets an `engine` error."""
        return [self._answer(request) for request in requests]

    def _answer(self, request: ModelRequest) -> ModelAnswer:
        situation = request.situation
        try:
            match situation:
                case RemedySituation():
                    content = self._remedy(situation)
                case SkillSituation():
                    content = self._skill(situation)
                case _:
                    detail = f"the stand-in does not answer the role {request.role}"
                    return failed_answer(request, self.name, "engine", detail)
        except AbstainedError as reason:
            role = "remedy" if isinstance(situation, RemedySituation) else "skill"
            content = {"decision": "abstain", "why": str(reason)[:_SENTENCE], role: None}
        raw = orjson.dumps(content).decode()
        return read_answer(
            request,
            self.name,
            raw,
            tokens_in=self._counter.count(request.system) + self._counter.count(request.user),
            tokens_out=self._counter.count(raw),
        )

    def _remedy(self, situation: RemedySituation) -> dict[str, Any]:
        repair = repair_for(situation, self._facts)
        trigger = [*_about(situation), _equals("failure_type", situation.failure_type)]
        if len(situation.missing) == 1:
            trigger.append(_equals("missing", situation.missing[0]))
        prerequisite = repair.category == "missing_prerequisite"
        return {
            "decision": "propose",
            "why": repair.note[:_SENTENCE],
            "remedy": {
                "trigger": [*trigger, *map(_predicate, repair.trigger)],
                "risk_pattern": repair.note[:_SENTENCE],
                "repair": [_step(step) for step in repair.steps],
                "verification": [_check(check) for check in repair.verification],
                "applicability": [_predicate(each) for each in repair.applicability],
                "scope": "unfinished_plan_suffix" if prerequisite else "subgoal_local",
                "category": repair.category,
                "support": [row.label for row in situation.cited],
            },
        }

    def _skill(self, situation: SkillSituation) -> dict[str, Any]:
        routine = routine_for(situation, self._facts)
        return {
            "decision": "propose",
            "why": f"{len(situation.cited)} attempts reached the target by these steps.",
            "skill": {
                "trigger": [*_about(situation), *map(_predicate, routine.preconditions)],
                "preconditions": [_predicate(each) for each in routine.preconditions],
                "steps": [_step(step) for step in routine.steps],
                "effects": [{"name": name, "count": count} for name, count in routine.effects],
                "verification": [_check(check) for check in routine.verification],
                "applicability": [],
                "scope": "subgoal_local",
                "category": "generic",
                "support": [row.label for row in situation.cited],
            },
        }


def _about(situation: RemedySituation | SkillSituation) -> list[dict[str, Any]]:
    about = [_equals("kind", situation.kind)]
    return about if situation.target is None else [*about, _equals("target", situation.target)]


def _equals(field: str, value: str) -> dict[str, Any]:
    return {"field": field, "op": "eq", "value": value}


def _predicate(predicate: Predicate) -> dict[str, Any]:
    return {"field": predicate.field, "op": predicate.op, "value": predicate.value}


def _check(check: Check) -> dict[str, Any]:
    return {"type": check.type, "name": check.name, "value": check.value}


def _step(step: Step) -> dict[str, Any]:
    return {
        "kind": step.kind,
        "target": step.target,
        "count": step.count,
        "checks": [_check(check) for check in step.checks],
    }
