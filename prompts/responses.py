"""What a model may answer in the two Inducer roles, and how its text becomes a candidate.

Every string and every list is bounded, names are limited to the characters that names have, unknown fields
are refused: an answer that was talked into something by a recording can still only say things of this shape.
All fields are required, since guided decoding and strict endpoints want it so; "nothing" is null or []. A
proposal and an abstention are variants of the schema, told apart by `decision`: guided decoding can write
neither an abstention with a remedy beside it nor a proposal without one.

A model does not restate what the situation already fixes (kind, target, failure type, what was missing); it
cites evidence by the labels of the prompt, and a label that was not there is an error.
"""

import re
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    StringConstraints,
    ValidationError,
)

from prompts.language_model import AnswerError, ErrorReason, ModelAnswer, ModelRequest, Spent
from prompts.situations import RemedySituation, SkillSituation
from warehouse.knowledge import (
    Amount,
    Candidate,
    Category,
    Check,
    Op,
    Predicate,
    RemedyContent,
    Risk,
    Scope,
    SkillContent,
    Step,
)

MAX_STEPS: Final = 12
MAX_COUNT: Final = 2304
_DETAIL_LENGTH: Final = 400
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_FENCED: Final = re.compile(r"\A```(?:json)?\s*\n(?P<body>.*?)\n?```\Z", re.DOTALL)
_CUT_OFF: Final = ("length", "max_tokens")
_DECLINED: Final = ("refusal", "content_filter")


def _one_line(text: str) -> str:
    if _CONTROL.search(text):
        raise ValueError("control characters are not allowed")
    return text


# The bound is inside the pattern because grammar compilers ignore maxLength beside a pattern.
NameText = Annotated[str, StringConstraints(pattern=r"^#?[a-z0-9_]{1,80}$")]
FieldText = Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,40}(\.#?[a-z0-9_]{1,80})?$")]
ValueText = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_#.-]{1,80}$")]
LabelText = Annotated[str, StringConstraints(pattern=r"^f[0-9]{1,4}$")]
Sentence = Annotated[str, StringConstraints(min_length=1, max_length=240), AfterValidator(_one_line)]
Whole = Annotated[int, Field(ge=-1_000_000, le=1_000_000)]
Real = Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]
Value = bool | Whole | Real | ValueText


class Answer(BaseModel):
    """Base of the response models: closed to unknown fields and strict about types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class PredicateAnswer(Answer):
    """One condition on a state field."""

    field: FieldText
    op: Op
    value: Value | Annotated[tuple[Value, ...], Field(min_length=1, max_length=16)]

    def stored(self) -> Predicate:
        """The record; a whole number is stored as an integer, so that 1 and 1.0 are one condition."""
        if isinstance(self.value, tuple):
            return Predicate(field=self.field, op=self.op, value=tuple(_plain(each) for each in self.value))
        return Predicate(field=self.field, op=self.op, value=_plain(self.value))


class CheckAnswer(Answer):
    """One verification."""

    type: NameText
    name: NameText | None
    value: Real | None

    def stored(self) -> Check:
        """The record."""
        return Check(type=self.type, name=self.name, value=None if self.value is None else float(self.value))


class StepAnswer(Answer):
    """One subgoal in the executor's grammar."""

    kind: Literal["mine", "craft", "smelt", "use", "combat", "move", "wait"]
    target: NameText | None
    count: Annotated[int, Field(ge=1, le=MAX_COUNT)]
    checks: Annotated[tuple[CheckAnswer, ...], Field(max_length=4)]

    def stored(self) -> Step:
        """The record."""
        return Step(
            kind=self.kind,
            target=self.target,
            count=self.count,
            checks=tuple(check.stored() for check in self.checks),
        )


class AmountAnswer(Answer):
    """So many of an item, negative where it is used up."""

    name: NameText
    count: Whole


Predicates = Annotated[tuple[PredicateAnswer, ...], Field(max_length=12)]
Steps = Annotated[tuple[StepAnswer, ...], Field(min_length=1, max_length=MAX_STEPS)]
Checks = Annotated[tuple[CheckAnswer, ...], Field(max_length=8)]
Labels = Annotated[tuple[LabelText, ...], Field(min_length=1, max_length=64)]


class RemedyProposal(Answer):
    """A remedy: when it applies, what goes wrong, the steps that remove the cause."""

    trigger: Annotated[tuple[PredicateAnswer, ...], Field(min_length=1, max_length=12)]
    risk_pattern: Sentence
    repair: Steps
    verification: Checks
    applicability: Predicates
    scope: Scope
    category: Category
    support: Labels


class SkillProposal(Answer):
    """A skill: when it applies, what must hold, the steps, what they bring and how that is checked."""

    trigger: Annotated[tuple[PredicateAnswer, ...], Field(min_length=1, max_length=12)]
    preconditions: Predicates
    steps: Steps
    effects: Annotated[tuple[AmountAnswer, ...], Field(max_length=24)]
    verification: Checks
    applicability: Predicates
    scope: Scope
    category: Category
    support: Labels


class ProposedRemedy(Answer):
    """An answer that proposes a remedy."""

    decision: Literal["propose"]
    why: Sentence
    remedy: RemedyProposal


class NoRemedy(Answer):
    """An answer that abstains."""

    decision: Literal["abstain"]
    why: Sentence
    remedy: None


class ProposedSkill(Answer):
    """An answer that proposes a skill."""

    decision: Literal["propose"]
    why: Sentence
    skill: SkillProposal


class NoSkill(Answer):
    """An answer that abstains."""

    decision: Literal["abstain"]
    why: Sentence
    skill: None


def _any_of(schema: dict[str, Any]) -> None:
    # What sets variants apart is a constant, so "any of" says as much as "one of", and more engines know it.
    schema["anyOf"] = schema.pop("oneOf")
    del schema["discriminator"]


_DECIDED: Final = Field(discriminator="decision")
_VARIANTS: Final = ConfigDict(frozen=True, strict=True, json_schema_extra=_any_of)


class RemedyResponse(RootModel[Annotated[ProposedRemedy | NoRemedy, _DECIDED]]):
    """The whole answer in the remedy role: a remedy or an abstention."""

    model_config = _VARIANTS


class SkillResponse(RootModel[Annotated[ProposedSkill | NoSkill, _DECIDED]]):
    """The whole answer in the skill role: a skill or an abstention."""

    model_config = _VARIANTS


def read_answer(
    request: ModelRequest,
    model: str,
    raw: str,
    *,
    finish_reason: str = "stop",
    tokens_in: int | None = None,
    tokens_out: int | None = None,
    spent: Spent | None = None,
) -> ModelAnswer:
    """A model's text as an answer to `request`; whatever is wrong with it becomes the answer's error.

    Engines call this with their own `finish_reason`. An answer cut off at its limit is an error even where
    what came before the cut happens to parse: nobody knows what would have followed.
    """
    text = _storable(raw)
    value, error = _parse(text, request.response, finish_reason)
    return ModelAnswer(
        request_id=request.request_id,
        model=model,
        raw=text,
        value=value,
        error=error,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        spent=spent or Spent(),
    )


def failed_answer(
    request: ModelRequest, model: str, reason: ErrorReason, detail: str, raw: str = ""
) -> ModelAnswer:
    """The answer for a request that got no text, or (as `raw`) none that belongs to an answer."""
    return ModelAnswer(request.request_id, model, raw=_storable(raw), error=_error(reason, detail))


def candidate_from(request: ModelRequest, answer: ModelAnswer, build: str) -> Candidate | AnswerError:
    """The candidate that `answer` proposes, or why there is none.

    Whether its predicates, steps and evidence are any good is Curator's to say: what is well-formed gets
    there, so that a rejection is recorded with its reason.
    """
    if answer.error is not None:
        return answer.error
    situation, value = request.situation, answer.value
    try:
        match situation, value:
            case RemedySituation(), RemedyResponse(root=ProposedRemedy(remedy=remedy)):
                return _remedy(situation, remedy, answer, build)
            case SkillSituation(), SkillResponse(root=ProposedSkill(skill=skill)):
                return _skill(situation, skill, answer, build)
    except UncitedError as error:
        return _error("citation", str(error))
    except ValidationError as error:
        return _error("schema", _first_fault(error))
    return _error("schema", f"a {type(value).__name__} is no answer to a {type(situation).__name__}")


class UncitedError(ValueError):
    """An answer cites a label that its prompt does not have."""


def _remedy(
    situation: RemedySituation, proposal: RemedyProposal, answer: ModelAnswer, build: str
) -> Candidate:
    return Candidate(
        domain=situation.domain,
        type="remedy",
        trigger=tuple(each.stored() for each in proposal.trigger),
        content=RemedyContent(
            risk=Risk(
                kind=situation.kind,
                target=situation.target,
                failure_type=situation.failure_type,
                missing=situation.missing,
                note=proposal.risk_pattern,
            ),
            repair=tuple(step.stored() for step in proposal.repair),
            applicability=tuple(each.stored() for each in proposal.applicability),
            scope=proposal.scope,
            category=proposal.category,
        ),
        verification=tuple(check.stored() for check in proposal.verification),
        support=_cited(situation, proposal.support),
        build=build,
        request_id=answer.request_id,
        engine=answer.model,
    )


def _skill(situation: SkillSituation, proposal: SkillProposal, answer: ModelAnswer, build: str) -> Candidate:
    return Candidate(
        domain=situation.domain,
        type="skill",
        trigger=tuple(each.stored() for each in proposal.trigger),
        content=SkillContent(
            kind=situation.kind,
            target=situation.target,
            count=situation.needed,
            preconditions=tuple(each.stored() for each in proposal.preconditions),
            steps=tuple(step.stored() for step in proposal.steps),
            effects=tuple(Amount(name=each.name, count=each.count) for each in proposal.effects),
            applicability=tuple(each.stored() for each in proposal.applicability),
            scope=proposal.scope,
            category=proposal.category,
        ),
        verification=tuple(check.stored() for check in proposal.verification),
        support=_cited(situation, proposal.support),
        build=build,
        request_id=answer.request_id,
        engine=answer.model,
    )


def _cited(situation: RemedySituation | SkillSituation, labels: tuple[str, ...]) -> tuple[str, ...]:
    known = {row.label: row.feedback_ids for row in situation.cited}
    unknown = sorted(set(labels) - set(known))
    if unknown:
        raise UncitedError(f"no such feedback in the request: {', '.join(unknown)}")
    return tuple(feedback_id for label in labels for feedback_id in known[label])


def _parse(
    text: str, response: type[BaseModel], finish_reason: str
) -> tuple[BaseModel | None, AnswerError | None]:
    if finish_reason in _CUT_OFF:
        return None, _error("length", f"cut off after {len(text)} characters")
    if finish_reason in _DECLINED:
        return None, _error("refusal", text)
    body = text.strip()
    fenced = _FENCED.match(body)
    if fenced:
        body = fenced["body"].strip()
    if not body:
        return None, _error("empty", "")
    try:
        value = response.model_validate_json(body)
    except ValidationError as error:
        broken = error.errors(include_url=False, include_input=False)[0]["type"] == "json_invalid"
        return None, _error("invalid_json" if broken else "schema", _first_fault(error))
    if isinstance(value, RemedyResponse | SkillResponse) and isinstance(value.root, NoRemedy | NoSkill):
        return None, _error("abstained", value.root.why)
    return value, None


def _plain(value: bool | int | float | str) -> bool | int | float | str:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _first_fault(error: ValidationError) -> str:
    # Without the input: it is the model's text, which the answer's row keeps whole.
    fault = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in fault["loc"]) or "answer"
    return f"{where}: {fault['msg']}"


def _error(reason: ErrorReason, detail: str) -> AnswerError:
    return AnswerError(reason=reason, detail=_storable(detail)[:_DETAIL_LENGTH])


def _storable(text: str) -> str:
    # A lone surrogate has no UTF-8 form and could be neither hashed nor stored.
    return text.encode("utf-8", "replace").decode("utf-8")
