"""The built-in `rules` engine: A STAND-IN FOR A LANGUAGE MODEL, with no weights and no language.

It answers Inducer's roles, planner, adaptor and reviewer from a request's structured situation and from one
copy of the domain's facts, and from nothing else: no state of the world, no true facts beside the copy. A
seed can make the copy wrong (prompts/engines/beliefs.py) and some diagnoses too, so that a study can ask what
feedback is worth to somebody who is mistaken. Its figures say nothing of what a language model would do.

Its answers are JSON text read by the same parser as any model's; the same request gets the same bytes.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import orjson

from prompts.engines.beliefs import (
    Beliefs,
    Heights,
    StandInSettings,
    believe,
    diagnosed,
    standin_settings,
    within_reach,
)
from prompts.engines.planner import plan_for, repair_for_plan
from prompts.engines.repairs import AbstainedError, repair_for
from prompts.engines.reviewer import verdict_on
from prompts.engines.skills import routine_for
from prompts.language_model import ModelAnswer, ModelRequest
from prompts.planning import PlanSituation, RepairSituation
from prompts.responses import failed_answer, read_answer
from prompts.review import ReviewSituation
from prompts.segments import SegmentSituation
from prompts.situations import RemedySituation, SkillSituation
from prompts.tokens import PieceCounter
from warehouse.domains import Domain
from warehouse.ids import digest
from warehouse.knowledge import Check, Predicate, Step

_SENTENCE = 240


class RulesStandIn:
    """A `LanguageModel` without a model.

    `misconceptions` is the share (0 to 1) of the copy's facts that `seed` makes wrong, `wrong_diagnoses` that
    of the failures which it explains by another cause. `heights` is what could be known of where things are
    found. Token counts are `PieceCounter`'s estimates.
    """

    def __init__(
        self,
        domain: Domain,
        seed: int = 0,
        misconceptions: float = 0.0,
        wrong_diagnoses: float = 0.0,
        heights: Mapping[str, Heights] | None = None,
        settings: StandInSettings | None = None,
    ) -> None:
        if not 0 <= wrong_diagnoses <= 1:
            raise ValueError(f"a share lies between 0 and 1, not {wrong_diagnoses}")
        self._settings = settings or standin_settings()
        self._beliefs = believe(domain, seed, misconceptions, heights)
        self._facts = self._beliefs.facts
        self._seed = seed
        self._wrong_diagnoses = wrong_diagnoses
        self._counter = PieceCounter()
        self._counted: dict[str, int] = {}

    @classmethod
    def for_rollouts(
        cls,
        domain: Domain,
        seed: int,
        heights: Mapping[str, Heights] | None = None,
        settings: StandInSettings | None = None,
    ) -> "RulesStandIn":
        """The stand-in that rollouts are planned by: as wrong as standin.toml (or `settings`) says."""
        used = settings or standin_settings()
        return cls(domain, seed, used.beliefs.misconceptions, used.inducer.wrong_diagnoses, heights, used)

    @property
    def beliefs(self) -> Beliefs:
        """What it takes for true; `beliefs.wrong` lists its misconceptions."""
        return self._beliefs

    @cached_property
    def name(self) -> str:
        """`rules-standin`, the domain, and the digest of what it believes and of everything else that decides
        its answers."""
        # The seed decides nothing beyond the beliefs where no diagnosis is wrong.
        mistakes = [self._wrong_diagnoses, self._seed] if self._wrong_diagnoses else []
        farthest = self._settings.beliefs.farthest_effort
        known = [self._beliefs.content_hash, mistakes, farthest, self._settings.timeouts]
        return f"rules-standin/{self._facts.name}/{digest(known)[:12]}"

    @cached_property
    def _within_reach(self) -> Beliefs:
        return within_reach(self._beliefs, self._settings.beliefs.farthest_effort)

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
                case RepairSituation():
                    content = repair_for_plan(situation, self._within_reach, self._settings.timeouts)
                case PlanSituation():
                    content = plan_for(situation, self._within_reach, self._settings.timeouts)
                case ReviewSituation():
                    content = verdict_on(situation)
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
            tokens_in=self._tokens_of_system(request.system) + self._counter.count(request.user),
            tokens_out=self._counter.count(raw),
        )

    def _tokens_of_system(self, text: str) -> int:
        # One text per template, and longer than all else that is counted.
        if text not in self._counted:
            self._counted[text] = self._counter.count(text)
        return self._counted[text]

    def _remedy(self, situation: RemedySituation) -> dict[str, Any]:
        repair = repair_for(diagnosed(situation, self._seed, self._wrong_diagnoses), self._facts)
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
        what = "runs of attempts" if isinstance(situation, SegmentSituation) else "attempts"
        return {
            "decision": "propose",
            "why": f"{len(situation.cited)} {what} reached the target by these steps.",
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
