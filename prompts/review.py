"""Curator's review: a model's second opinion on what has passed the checks, before it is kept.

A reviewer can refuse a candidate, with a reason, and can do nothing else. It is asked of the candidates that
Curator would accept into the store as new entries (warehouse/first_pass.py). Where it says keep, or says
nothing that can be used, the candidate stands as the checks decided.

A request shows the candidate as a planner would read it, at most `WINDOW` of the attempts that it cites, and
a summary of what is known already: the entries of the store that eq. 7 finds nearest to it, of at most
`SUMMARY_TOKENS` tokens together.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from prompts.inducer import most_telling
from prompts.language_model import LanguageModel, Message, ModelAnswer, ModelRequest
from prompts.rendering import render, render_entry, render_knowledge, render_system
from prompts.responses import Answer, Sentence
from prompts.second_try import second_try
from prompts.situations import Cited, cite
from prompts.tokens import EntryCost, TokenCounter
from warehouse.domains import Domain
from warehouse.entries import Entry, Review, Support
from warehouse.facts import FeedbackFact
from warehouse.grammar import action_of
from warehouse.knowledge import Candidate, Record, RemedyContent
from warehouse.proposed import as_entry
from warehouse.retrieval import Context, Index, retrieve

TEMPLATE: Final = "curator_v1"
WINDOW: Final = 6
"""cited attempts that one request shows"""
SUMMARY_TOKENS: Final = 512
"""of the summary of what is known, as the B of eq. 7"""
MAX_TOKENS: Final = 256


class Witness(Cited):
    """One attempt that the candidate cites, and how it ended."""

    kind: str | None
    target: str | None
    needed: int | None
    y: bool | None
    failure_type: str | None


class ReviewSituation(Record):
    """Everything that a reviewer is shown."""

    domain: str
    proposed: Entry
    """as it would come into the store by this candidate alone"""
    rows: int
    episodes: int
    cited: tuple[Witness, ...]
    known: tuple[Entry, ...]
    """of the store before the build, the nearest first"""
    active: int
    """entries that the store has in use"""


class ReviewResponse(Answer):
    """The whole answer. The reason comes first, so that the verdict follows from it."""

    reason: Sentence
    verdict: Literal["keep", "reject"]


@dataclass(frozen=True)
class Reviewed:
    """What was asked, what came back (one answer per request, in order), and the verdicts that came of it.

    An answer without a verdict has an error that says why. Second tries follow the first ones. `asked` counts
    the candidates.
    """

    requests: tuple[ModelRequest, ...] = ()
    answers: tuple[ModelAnswer, ...] = ()
    verdicts: tuple[Review, ...] = ()
    asked: int = 0


class Summary:
    """What a store knows about a piece of knowledge, eq. 7 within `budget` tokens of the rendered text."""

    def __init__(
        self, store: Iterable[Entry], domain: Domain, counter: TokenCounter, budget: int = SUMMARY_TOKENS
    ) -> None:
        self._index = Index.build((entry for entry in store if entry.domain == domain.name), domain)
        self._counter = counter
        self._cost = EntryCost(counter)
        self._budget = budget

    @property
    def active(self) -> int:
        """Entries that are in use, from which it is drawn."""
        return len(self._index)

    def about(self, entry: Entry) -> tuple[Entry, ...]:
        """The nearest to what `entry` is about, the nearest first; its place and state play no part."""
        kind, target = action_of(entry.content)
        risk = entry.content.risk if isinstance(entry.content, RemedyContent) else None
        context = Context(kind=kind, target=target, failures=(risk.failure_type,) if risk else ())
        return retrieve(self._index, context, self._budget, self._cost, self._tokens_of).entries

    def _tokens_of(self, entries: Sequence[Entry]) -> int:
        return self._counter.count(render_knowledge(entries))


def review(
    standing: Callable[[Sequence[Review]], Sequence[Candidate]],
    facts: Mapping[str, FeedbackFact],
    store: Iterable[Entry],
    domain: Domain,
    model: LanguageModel,
    counter: TokenCounter,
) -> Reviewed:
    """The verdicts on the candidates that `standing` gives: those that would be accepted under these reviews.

    All are asked about together, and then once more those whose answers the model can mend. Where a refusal
    lets in a candidate that had stood back behind the refused one, that one is asked about as well. `facts`
    has everything that they cite; `store` is what the build starts from.
    """
    summary = Summary(store, domain, counter)
    so_far = Reviewed()
    asked: set[str] = set()
    while fresh := [each for each in standing(so_far.verdicts) if each.candidate_id not in asked]:
        asked |= {each.candidate_id for each in fresh}
        so_far = _joined(so_far, _asked(fresh, facts, summary, domain, model))
    return so_far


def review_request(
    candidate: Candidate, facts: Mapping[str, FeedbackFact], summary: Summary, domain: Domain
) -> ModelRequest:
    """The question about one candidate; all that it cites must be among `facts`."""
    cited = [facts[one] for one in candidate.support]
    support = (Support(feedback_id=fact.feedback_id, episode_id=fact.episode_id) for fact in cited)
    proposed = as_entry(candidate, support)
    situation = ReviewSituation(
        domain=domain.name,
        proposed=proposed,
        rows=len(cited),
        episodes=proposed.support_episodes,
        cited=_witnesses(most_telling(cited, WINDOW), domain),
        known=summary.about(proposed),
        active=summary.active,
    )
    blocks = {"proposal": render_entry(proposed), "known": render_knowledge(situation.known)}
    return ModelRequest(
        role="curator",
        template=TEMPLATE,
        messages=(
            Message("system", render_system(TEMPLATE, domain)),
            Message("user", render(f"{TEMPLATE}.user", situation=situation, **blocks)),
        ),
        situation=situation,
        response=ReviewResponse,
        max_tokens=MAX_TOKENS,
    )


def _asked(
    candidates: Sequence[Candidate],
    facts: Mapping[str, FeedbackFact],
    summary: Summary,
    domain: Domain,
    model: LanguageModel,
) -> Reviewed:
    pairs = [(each, review_request(each, facts, summary, domain)) for each in candidates]
    first = list(zip(pairs, model.generate([request for _, request in pairs]), strict=True))
    mended = [
        (candidate, again)
        for (candidate, request), answer in first
        if answer.error is not None and (again := second_try(request, answer.error)) is not None
    ]
    second = zip(mended, model.generate([request for _, request in mended]), strict=True)
    tries = [*first, *second]
    return Reviewed(
        requests=tuple(request for (_, request), _ in tries),
        answers=tuple(answer for _, answer in tries),
        verdicts=tuple(
            _verdict(candidate, request, answer, answer.value)
            for (candidate, request), answer in tries
            if isinstance(answer.value, ReviewResponse)
        ),
        asked=len(candidates),
    )


def _verdict(
    candidate: Candidate, request: ModelRequest, answer: ModelAnswer, said: ReviewResponse
) -> Review:
    return Review(
        candidate_id=candidate.candidate_id,
        entry_id=candidate.entry_id,
        verdict="rejected" if said.verdict == "reject" else "accepted",
        reason=said.reason,
        request_id=request.request_id,
        model=answer.model,
        template=request.template,
    )


def _witnesses(facts: Sequence[FeedbackFact], domain: Domain) -> tuple[Witness, ...]:
    return tuple(
        Witness(
            **dict(row),
            kind=fact.kind,
            target=fact.target,
            needed=fact.needed,
            y=fact.y,
            failure_type=fact.failure_type,
        )
        for row, fact in zip(cite(facts, domain), facts, strict=True)
    )


def _joined(one: Reviewed, other: Reviewed) -> Reviewed:
    return Reviewed(
        requests=one.requests + other.requests,
        answers=one.answers + other.answers,
        verdicts=one.verdicts + other.verdicts,
        asked=one.asked + other.asked,
    )
