"""Inducer: from a build's typed feedback to candidate knowledge, through a language model.

Eq. 5 has been worked out by Monitor (`remedy_due`, `skill_due`); here the due feedback is sorted into
situations and each situation becomes one request, whatever the number of attempts behind it:

- a remedy's situation is (kind, target, failure type, what was missing for it). Once one of its attempts is
  due, the other failures of the same situation are evidence too;
- a skill's situation is (kind, target, order of the kinds of step that were seen to be done) of a segment
  (warehouse/facts.py) that ends in a due success, with the sequence of its subgoals where it has several. It
  is cited as a whole, from the first attempt on that leads to its end (warehouse/serving.py). Of one with
  more steps than a skill may have, or with a step that cannot be read, as much is told as can be, from its
  end.

A request shows at most `WINDOW` rows, a segment's counted singly. The most informative attempt of each
episode comes first, then second attempts, so that what an answer cites is spread over independent episodes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from prompts.language_model import AnswerError, LanguageModel, Message, ModelAnswer, ModelRequest
from prompts.rendering import render, render_system
from prompts.responses import MAX_STEPS, RemedyResponse, SkillResponse, candidate_from
from prompts.second_try import second_try
from prompts.segments import cite_segments, segment_situation
from prompts.situations import (
    RemedySituation,
    SkillSituation,
    cite,
    decisive_missing,
    observed_steps,
    remedy_situation,
    skill_situation,
)
from warehouse.domains import Domain
from warehouse.facts import FeedbackFact, Segment, segments
from warehouse.knowledge import Candidate
from warehouse.serving import leading_up
from warehouse.vocabulary import NO_FAILURE

WINDOW: Final = 12
"""feedback rows that one request shows"""
MAX_TOKENS: Final = 1024
REMEDY_TEMPLATE: Final = "inducer_remedy_v1"
SKILL_TEMPLATE: Final = "inducer_skill_v1"
SEGMENT_TEMPLATE: Final = "inducer_segment_v1"
NOT_THE_AGENTS: Final = frozenset({"INFRASTRUCTURE", "UNKNOWN", NO_FAILURE})
"""failure types from which nothing can be learnt about acting"""


class Skipped(NamedTuple):
    """A due row from which nothing can be induced, and why."""

    feedback_id: str
    reason: str


@dataclass(frozen=True)
class Induction:
    """What was asked, what came back (one answer per request, in order), and the candidates that came of it.

    An answer without a candidate has an error that says why. Second tries follow the first ones. `skipped`
    are the due rows that no request covers.
    """

    requests: tuple[ModelRequest, ...]
    answers: tuple[ModelAnswer, ...]
    candidates: tuple[Candidate, ...]
    skipped: tuple[Skipped, ...] = ()


def induce(
    facts: Mapping[str, FeedbackFact] | Iterable[FeedbackFact],
    domain: Domain,
    model: LanguageModel,
    build: str,
    window: int = WINDOW,
) -> Induction:
    """Candidates from the feedback of `build`; feedback of other builds in `facts` is not induced again.

    The model is asked all requests together, and then once more those whose answers it can mend.
    """
    rows = facts.values() if isinstance(facts, Mapping) else facts
    own = _in_order(fact for fact in rows if fact.build == build)
    requests = requests_for(own, domain, window)
    unfit = ((fact, _unfit(fact, domain)) for fact in own if fact.remedy_due or fact.skill_due)
    tries = tried(requests, model, build)
    skipped = tuple(Skipped(fact.feedback_id, reason) for fact, reason in unfit if reason)
    return Induction(
        requests=tuple(each.request for each in tries),
        answers=tuple(each.answer for each in tries),
        candidates=tuple(each.outcome for each in tries if isinstance(each.outcome, Candidate)),
        skipped=skipped,
    )


class Tried(NamedTuple):
    """A request with its answer, and what became of it; an error is the answer's too."""

    request: ModelRequest
    answer: ModelAnswer
    outcome: Candidate | AnswerError


def tried(requests: Sequence[ModelRequest], model: LanguageModel, build: str) -> list[Tried]:
    """Inducer's requests, asked together; behind them, asked together too, second tries of those whose
    answers the model can mend."""
    first = _asked(requests, model, build)
    mended = [
        again
        for each in first
        if isinstance(each.outcome, AnswerError)
        and (again := second_try(each.request, each.outcome)) is not None
    ]
    return [*first, *_asked(mended, model, build)]


def _asked(requests: Sequence[ModelRequest], model: LanguageModel, build: str) -> list[Tried]:
    tries = []
    for request, answer in zip(requests, model.generate(requests), strict=True):
        outcome = candidate_from(request, answer, build)
        if isinstance(outcome, AnswerError):
            answer = replace(answer, value=None, error=outcome)
        tries.append(Tried(request, answer, outcome))
    return tries


def requests_for(facts: Iterable[FeedbackFact], domain: Domain, window: int = WINDOW) -> list[ModelRequest]:
    """One request per situation that is due in `facts`, remedies first, each kind in the order of its keys.

    The order of `facts` does not matter, and `build` is not looked at.
    """
    rows = _in_order(facts)
    fit = [fact for fact in rows if _unfit(fact, domain) is None]
    return [*_remedy_requests(fit, domain, window), *_skill_requests(segments(rows), domain, window)]


def remedy_request_for(
    failure: FeedbackFact, earlier: Iterable[FeedbackFact], domain: Domain, window: int = WINDOW
) -> ModelRequest | None:
    """The request for the situation of one failure, with the `earlier` failures of that situation as further
    evidence; None where nothing can be induced from it, or a window full of others tells more."""
    if failure.y is not False or _unfit(failure, domain) is not None:
        return None
    alike = [
        fact
        for fact in earlier
        if fact.y is False and _remedy_key(fact) == _remedy_key(failure) and _unfit(fact, domain) is None
    ]
    request = _remedy_request(_in_order([*alike, failure]), domain, window)
    assert isinstance(request.situation, RemedySituation)
    shown = {row.feedback_id for row in request.situation.cited}
    return request if failure.feedback_id in shown else None


def _remedy_requests(rows: Sequence[FeedbackFact], domain: Domain, window: int) -> list[ModelRequest]:
    groups: dict[tuple[str, str, str, tuple[str, ...]], list[FeedbackFact]] = {}
    for fact in rows:
        if fact.y is False:
            groups.setdefault(_remedy_key(fact), []).append(fact)
    return [
        _remedy_request(group, domain, window)
        for _, group in sorted(groups.items())
        if any(fact.remedy_due for fact in group)
    ]


def _remedy_key(fact: FeedbackFact) -> tuple[str, str, str, tuple[str, ...]]:
    return (fact.kind or "", fact.target or "", fact.failure_type or "", decisive_missing(fact))


def _remedy_request(group: Sequence[FeedbackFact], domain: Domain, window: int) -> ModelRequest:
    situation = remedy_situation(group, cite(most_telling(group, window), domain), domain)
    return ModelRequest(
        role="inducer_remedy",
        template=REMEDY_TEMPLATE,
        messages=_messages(REMEDY_TEMPLATE, situation, domain),
        situation=situation,
        response=RemedyResponse,
        max_tokens=MAX_TOKENS,
    )


def _skill_requests(found: Iterable[Segment], domain: Domain, window: int) -> list[ModelRequest]:
    groups: dict[tuple[Any, ...], list[Segment]] = {}
    for segment in found:
        if segment.end.skill_due and _unfit(segment.end, domain) is None:
            told = _told(segment, domain)
            groups.setdefault(_skill_key(told, domain), []).append(told)
    requests = []
    for _, group in sorted(groups.items()):
        template, situation = _skill_situation(group, domain, window)
        requests.append(
            ModelRequest(
                role="inducer_skill",
                template=template,
                messages=_messages(template, situation, domain),
                situation=situation,
                response=SkillResponse,
                max_tokens=MAX_TOKENS,
            )
        )
    return requests


def _skill_key(segment: Segment, domain: Domain) -> tuple[Any, ...]:
    order = tuple(step.kind for step in observed_steps(segment.joined, domain) or ())
    several = segment.subgoals if len(segment.members) > 1 else ()
    subgoals = tuple((kind or "", target or "") for kind, target in several)
    return (segment.end.kind or "", segment.end.target or "", order, subgoals)


def _skill_situation(group: Sequence[Segment], domain: Domain, window: int) -> tuple[str, SkillSituation]:
    """The template and the situation of segments with one key, which have equally many members."""
    shown = max(1, window // len(group[0].members))
    rows = [segment.joined for segment in group]
    chosen = most_telling(rows, shown)
    if len(group[0].members) == 1:
        return SKILL_TEMPLATE, skill_situation(rows, cite(chosen, domain), domain)
    by_end = {segment.end.feedback_id: segment for segment in group}
    cited = cite_segments([by_end[fact.feedback_id] for fact in chosen], domain)
    return SEGMENT_TEMPLATE, segment_situation(group, cited, domain)


def _told(segment: Segment, domain: Domain) -> Segment:
    """The longest end of a segment whose steps can all be read and are no more than a skill may have, without
    what leads to nothing at its beginning; its last attempt is always told."""
    told = Segment(segment.members[-1:])
    for first in reversed(range(len(segment.members) - 1)):
        longer = Segment(segment.members[first:])
        steps = observed_steps(longer.joined, domain)
        if steps is None or len(steps) > MAX_STEPS:
            break
        told = longer
    return leading_up(told, domain)


def _unfit(fact: FeedbackFact, domain: Domain) -> str | None:
    """Why nothing can be induced from a row, if nothing can."""
    if fact.y is None:
        return "it is undecided whether the attempt succeeded"
    if fact.y is False and (fact.failure_type is None or fact.failure_type in NOT_THE_AGENTS):
        return f"{fact.failure_type or 'no failure type'} says nothing about acting"
    takes = domain.kinds.get(fact.kind or "")
    if takes is None or (fact.target is None and takes != "none"):
        # Without its object an action is any action of its kind, and nothing specific can be said of that.
        return "the subgoal's action or its target is unknown"
    if fact.y is True and observed_steps(fact, domain) is None:
        return "a step that was seen to be done cannot be read"
    return None


def _in_order(facts: Iterable[FeedbackFact]) -> list[FeedbackFact]:
    return sorted(facts, key=lambda fact: (fact.episode_id, fact.attempt))


def most_telling(group: Iterable[FeedbackFact], limit: int) -> list[FeedbackFact]:
    """At most `limit` rows to show: first the best of each episode, then the second best, in stored order."""
    by_episode: dict[str, list[FeedbackFact]] = {}
    for fact in sorted(group, key=_rank):
        by_episode.setdefault(fact.episode_id, []).append(fact)
    turns = [
        (turn, _rank(fact), fact) for episode in by_episode.values() for turn, fact in enumerate(episode)
    ]
    chosen = [fact for _, _, fact in sorted(turns, key=lambda each: each[:2])[:limit]]
    return sorted(chosen, key=lambda fact: (fact.episode_id, fact.attempt))


def _rank(fact: FeedbackFact) -> tuple[Any, ...]:
    """Due rows first, then those that know more of the state and have words, then the latest attempts."""
    known = sum(value is not None for value in fact.state_before.values())
    due = fact.remedy_due or fact.skill_due
    return (not due, -known, fact.evidence.text is None, -fact.attempt, fact.episode_id)


def _messages(
    template: str, situation: RemedySituation | SkillSituation, domain: Domain
) -> tuple[Message, ...]:
    return (
        Message("system", render_system(template, domain)),
        Message("user", render(f"{template}.user", situation=situation)),
    )
