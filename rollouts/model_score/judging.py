"""What a model's answers to the situations are worth: four questions each, and none is answered by opinion.

    valid      the answer is a document of the schema that was asked for (an abstention is one)
    accepted   Curator takes its remedy into an empty store, eq. 6
    cause      the remedy's conditions hold where the attempt failed, and it names what the cause was
    removed    carried out from the failing state, the repair lets the subgoal succeed, by its exact check

An answer without a remedy has none of the last three. An answer that the engine failed to give says nothing
of the model, and counts nowhere.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from prompts.inducer import Tried, tried
from prompts.language_model import NOT_THE_MODELS, ErrorReason, LanguageModel, answer_row
from prompts.situations import RemedySituation
from rollouts.executors.goals import named_in
from rollouts.model_score.playing import BUILD, Failure, succeeds_after
from rollouts.progress import followed
from rollouts.rates import Rate
from rollouts.worlds.techtree.situations import Situation
from warehouse.curator import CuratorSettings, curate
from warehouse.domains import Domain
from warehouse.grammar import conditions_of, known_names
from warehouse.knowledge import Candidate, Predicate, RemedyContent
from warehouse.lifecycle import LifeSettings
from warehouse.state import holds

QUESTIONS: Final[Mapping[str, str]] = {
    "valid": "schema-valid",
    "accepted": "accepted by Curator",
    "cause": "right failure cause",
    "removed": "repair removes the cause",
    "all_four": "all four",
}
VERDICTS: Final = pl.Schema(
    {
        "situation": pl.String(),
        "failure_type": pl.String(),
        "tries": pl.Int32(),
        **dict.fromkeys(QUESTIONS, pl.Boolean()),
        "repair": pl.List(pl.String()),
        "why_not": pl.String(),
        "request_id": pl.String(),
    }
)
"""A row per situation. `failure_type` is Monitor's; the verdicts are null where the engine failed; `why_not`
is the answer's error, or Curator's reasons."""
_NO_DOCUMENT: Final[frozenset[ErrorReason]] = frozenset(
    {"length", "empty", "invalid_json", "schema", "refusal"}
)
_ALONE: Final = CuratorSettings(backtest=None, life=LifeSettings(worlds_of_a_failure=1))


@dataclass(frozen=True)
class Score:
    """How a model answered, situation by situation."""

    model: str
    verdicts: pl.DataFrame
    """`VERDICTS`, in the order of the situations"""
    answers: pl.DataFrame
    """every answer, second tries included, with the columns of the answer log"""

    @property
    def unanswered(self) -> int:
        """Situations that the engine gave no answer to; they are in no figure."""
        return int(self.verdicts["valid"].is_null().sum())

    @property
    def rates(self) -> dict[str, Rate]:
        """k of n for each question."""
        given = self.verdicts.drop_nulls("valid")
        return {name: Rate(int(given[name].sum()), given.height) for name in QUESTIONS}

    @property
    def table(self) -> pl.DataFrame:
        """A row per question: k, n, share, 95 % Wilson interval."""
        rows = []
        for name, rate in self.rates.items():
            low, high = rate.interval or (None, None)
            rows.append((QUESTIONS[name], rate.k, rate.n, rate.share, low, high))
        schema = {"question": pl.String, "k": pl.Int64, "n": pl.Int64}
        schema |= dict.fromkeys(("share", "low", "high"), pl.Float64)
        return pl.DataFrame(rows, schema=schema, orient="row")

    @property
    def by_failure_type(self) -> pl.DataFrame:
        """A row per failure type, in the order of its first situation: n, and k of each question."""
        return (
            self.verdicts.drop_nulls("valid")
            .group_by("failure_type", maintain_order=True)
            .agg(
                pl.len().cast(pl.Int64).alias("n"), *(pl.col(name).sum().cast(pl.Int64) for name in QUESTIONS)
            )
        )


def score(failures: Sequence[Failure], model: LanguageModel, domain: Domain) -> Score:
    """Asks about every failure as Inducer does, second tries included, and judges what comes back."""
    tries = tried([failure.request for failure in failures], model, BUILD)
    given: dict[str, list[Tried]] = {}
    for each in tries:
        given.setdefault(_about(each), []).append(each)
    rows = [
        _verdict(failure, given[failure.fact.feedback_id], domain)
        for failure in followed(failures, "repairs carried out", len(failures))
    ]
    answers = [answer_row(each.request, each.answer, BUILD) for each in tries]
    return Score(
        model=model.name,
        verdicts=pl.DataFrame(rows, schema=VERDICTS, orient="row"),
        answers=pl.DataFrame(answers, infer_schema_length=None),
    )


def _about(each: Tried) -> str:
    """The failure that was asked about: a second try has another request and the same situation."""
    situation = each.request.situation
    assert isinstance(situation, RemedySituation)
    return situation.cited[-1].feedback_id


def _verdict(failure: Failure, tries: Sequence[Tried], domain: Domain) -> tuple[object, ...]:
    last = tries[-1]
    error = last.answer.error
    found: list[bool | None] = [None] * len(QUESTIONS)
    repair: list[str] | None = None
    why = None if error is None else ": ".join(filter(None, (error.reason, error.detail)))
    if isinstance(last.outcome, Candidate):
        refused = refusals(failure, last.outcome, domain)
        right = is_right_cause(failure, last.outcome, domain)
        removed = is_removed(failure.situation, last.outcome, domain)
        found = [True, not refused, right, removed, not refused and right and removed]
        repair = _told(last.outcome)
        why = "; ".join(refused) or None
    elif error is None or error.reason not in NOT_THE_MODELS:
        found = [error is None or error.reason not in _NO_DOCUMENT, False, False, False, False]
    fact = failure.fact
    return (
        failure.situation.name,
        fact.failure_type,
        len(tries),
        *found,
        repair,
        why,
        failure.request.request_id,
    )


def _told(candidate: Candidate) -> list[str]:
    content = candidate.content
    assert isinstance(content, RemedyContent)
    return [" ".join(filter(None, (step.kind, step.target, f"x{step.count}"))) for step in content.repair]


def refusals(failure: Failure, candidate: Candidate, domain: Domain) -> tuple[str, ...]:
    """Why Curator does not take a candidate into an empty store; empty where it does. It is asked about one
    failure alone, so that nothing is held against it that takes other worlds to know."""
    facts = {fact.feedback_id: fact for fact in failure.facts}
    (decision,) = curate([candidate], facts, {}, (), domain, _ALONE).decisions
    return tuple(f"{reason.rule}: {reason.detail}" for reason in decision.reasons)


def is_right_cause(failure: Failure, candidate: Candidate, domain: Domain) -> bool:
    """Whether a remedy says why the attempt failed.

    None of its conditions may be false where it failed. Where a thing was lacking, a condition or the note on
    the risk has to name it; elsewhere a condition has to be about the failure type, and fix a right one, or
    about one of the fields that show the cause.
    """
    conditions = conditions_of(candidate)
    state, situation = failure.fact.situation, failure.situation
    if any(holds(each, state, domain) is False for each in conditions):
        return False
    if situation.names:
        things = _things(situation.names, domain)
        note = candidate.content.risk.note if isinstance(candidate.content, RemedyContent) else ""
        said = named_in(note, frozenset(name.removeprefix("#") for name in (*situation.names, *things)))
        return bool(said) or any(_things(_named_by(each), domain) & things for each in conditions)
    return any(_shows(each, situation) for each in conditions)


def _named_by(predicate: Predicate) -> Iterable[str]:
    """The things that a condition is about."""
    family, _, member = predicate.field.partition(".")
    if member:
        return (member,)
    values = predicate.value if isinstance(predicate.value, tuple) else (predicate.value,)
    return tuple(str(value) for value in values) if family in ("missing", "equipped") else ()


def _things(names: Iterable[str], domain: Domain) -> frozenset[str]:
    return frozenset().union(*(known_names(name, domain) for name in names))


def _shows(predicate: Predicate, situation: Situation) -> bool:
    if predicate.field == "failure_type" and predicate.op in ("eq", "in"):
        values = predicate.value if isinstance(predicate.value, tuple) else (predicate.value,)
        return set(values) <= set(situation.failure)
    return predicate.field.partition(".")[0] in situation.fields


def is_removed(situation: Situation, candidate: Candidate, domain: Domain) -> bool:
    """Whether the subgoal succeeds after a remedy's repair; see `succeeds_after`."""
    content = candidate.content
    return isinstance(content, RemedyContent) and succeeds_after(situation, content.repair, domain)
