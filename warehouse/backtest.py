"""Back-test: what a candidate's conditions would have said before recorded attempts that it was not drawn
from, against what then happened (eq. 6 asks only whether its own evidence bears it out).

Of the conditions, those are asked that can be known before an attempt; what only the attempt itself shows
(failure type, what was missing, progress, stagnation) is left out. A candidate *fires* on an attempt at the
action it is about whose state before meets them all. A field that is unknown decides nothing: where the
answer hangs on one, the attempt neither fires nor stays quiet, and is counted as unknown.

- A remedy says that attempts fail in a certain way. A firing is a *hit* when the attempt failed with its
  failure type (`failure_causes` counts too: the cascade must not hide a cause) and lacked what it names.
- A skill says that its action succeeds there. A firing is a hit when the attempt succeeded.

    precision = hits / fired          recall = hits / (hits + missed)

Held out are all attempts of an episode that the candidate cites, not the cited ones alone: what else happened
in it, the retry above all, happened to the same agent in the same place, and would confirm the candidate (or
refute it) once more with what it was drawn from. For the same reason the bounds count episodes: each weighs
1, with the share of its firings that are hits, in a Wilson interval.

A candidate passes when its precision surely reaches the bound, or its conditions single the outcome out: one
that finds a rare failure where it is surely more frequent than elsewhere says something, however often
nothing happens. It is rejected when its precision is surely below the bound. Between the two nothing is
decided, so that noise rejects nobody.

Nothing is decided either, and the figures are kept, where

- it fired fewer than `min_firings` times;
- no condition on the state is left beside the action. Precision is then how often this failure comes, or how
  often the action succeeds, which is no fault of the candidate: it claims nothing about the state before;
- a skill has steps beside its own action: an attempt at the action alone, in its conditions, did not do what
  the skill says, and its failure is the very case that the skill is for.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from warehouse.acceptance import is_telling
from warehouse.domains.model import Domain
from warehouse.facts import INFRASTRUCTURE, FeedbackFact
from warehouse.grammar import Action, action_of, conditions_of, in_order, known_names
from warehouse.ids import FLOAT_PLACES
from warehouse.knowledge import Candidate, Predicate, RemedyContent, SkillContent, exactly
from warehouse.state import OUTCOMES, holds

_ACTION_FIELDS: Final = ("kind", "target")
_Z_95: Final = 1.959963984540054
"""the normal distribution's two-sided 95 % quantile"""

BacktestVerdict = Literal["passed", "rejected", "undecided"]
Answers = npt.NDArray[np.int8]
"""per attempt: `_FALSE`, `_UNKNOWN` or `_TRUE`, so that of several the least is what they say together"""
_FALSE: Final = 0
_UNKNOWN: Final = 1
_TRUE: Final = 2
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Bounds:
    """What a candidate has to show in a back-test. Chosen beforehand for plausibility, not from results.

    `min_firings`: fewer decide nothing. `min_precision`, of a remedy: a failed attempt costs its time-out and
    a repair of the plan, a needless repair a few steps; at one failure in four firings the two are about
    even. `min_success`, of a skill: what fails nine times in ten where its conditions hold was luck, or its
    conditions lack what mattered; hard things are allowed to be hard, so the bound is low.
    """

    min_firings: int = 5
    min_precision: float = 0.25
    min_success: float = 0.10


DEFAULT_BOUNDS: Final = Bounds()


class Interval(NamedTuple):
    """An interval of a share, in [0, 1]."""

    low: float
    high: float


class Backtest(NamedTuple):
    """The back-test of one candidate. Counts are of attempts; `episodes` are those in which it fired.

    Of `attempts` (decided, at its action, held out) it fired on `fired`, stayed quiet on `quiet`, and of
    `unknown` the state does not tell. `successes` are among the fired, `missed` are the outcomes that it
    speaks of among the quiet. `precision`, its 95 % bounds and `recall` are null where nothing fired, or
    there is nothing to recall.
    """

    build: str
    candidate_id: str
    verdict: BacktestVerdict
    detail: str
    attempts: int
    fired: int
    episodes: int
    hits: int
    successes: int
    quiet: int
    missed: int
    unknown: int
    precision: float | None
    precision_low: float | None
    precision_high: float | None
    recall: float | None


def wilson(hits: float, trials: float) -> Interval:
    """The 95 % score interval of a share (Wilson, JASA 22, 1927), for weights that need not be whole.

    `trials` is at least as much as `hits` and above 0, else `ValueError`.

    >>> wilson(3, 40).high < 0.2
    True
    """
    if not 0 <= hits <= trials or trials == 0:
        raise ValueError(f"no share: {hits} of {trials}")
    share, square = hits / trials, _Z_95 * _Z_95
    centre = share + square / (2 * trials)
    spread = _Z_95 * math.sqrt(share * (1 - share) / trials + square / (4 * trials * trials))
    scale = 1 + square / trials
    return Interval(max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale))


def backtests(
    candidates: Mapping[str, Candidate],
    facts: Mapping[str, FeedbackFact],
    domain: Domain,
    bounds: Bounds = DEFAULT_BOUNDS,
    imported: Collection[str] = (),
) -> dict[str, Backtest]:
    """Candidate id -> its back-test, sorted by id, of `candidates` by id that have passed the checks.

    `facts` are the recorded attempts, the cited ones included. `imported` are those that came with knowledge
    from elsewhere: chosen because they support it, they are a sample of nothing and are left out.
    """
    recorded = _Recorded(facts, domain, frozenset(imported))
    groups: defaultdict[_Question, list[str]] = defaultdict(list)
    for one, candidate in candidates.items():
        groups[_question(candidate)].append(one)
    found = {}
    for question, group in groups.items():
        # One tally at a time: it is worked out once for all that ask the same, and then forgotten.
        tally = recorded.tally(question)
        for one in group:
            own = recorded.episodes_of(candidates[one].support)
            found[one] = _judged(one, candidates[one], question, tally.without(own), domain, bounds)
    return {one: found[one] for one in sorted(found)}


class _Question(NamedTuple):
    """What a back-test asks of the record. `failure_type` is null for a skill, which asks for success."""

    action: Action
    conditions: tuple[Predicate, ...]
    failure_type: str | None
    missing: tuple[str, ...]


class _Figures(NamedTuple):
    """A tally without the candidate's own episodes; the shares are sums over episodes."""

    attempts: int
    fired: int
    hits: int
    successes: int
    quiet: int
    missed: int
    unknown: int
    episodes: int
    hit_share: float
    quiet_episodes: int
    missed_share: float


class _Tally:
    """Counts of one question, shape (episode, answer, outcome, success)."""

    def __init__(self, group: "_Group", met: Answers, outcome: Flags) -> None:
        self._names = group.names
        cells = ((group.episodes * 3 + met) * 2 + outcome) * 2 + group.succeeded
        counts = np.bincount(cells, minlength=12 * len(group.names))
        self._counts = counts.reshape(-1, 3, 2, 2)

    def without(self, own: Iterable[str]) -> _Figures:
        """The figures of all episodes but these."""
        left_out = sorted({self._names[one] for one in own if one in self._names})
        counts = np.delete(self._counts, left_out, axis=0) if left_out else self._counts
        per_outcome = counts.sum(axis=3)
        fired, quiet = per_outcome[:, _TRUE], per_outcome[:, _FALSE]
        episodes, hit_share = _by_episode(fired)
        quiet_episodes, missed_share = _by_episode(quiet)
        return _Figures(
            attempts=int(counts.sum()),
            fired=int(fired.sum()),
            hits=int(fired[:, 1].sum()),
            successes=int(counts[:, _TRUE, :, 1].sum()),
            quiet=int(quiet.sum()),
            missed=int(quiet[:, 1].sum()),
            unknown=int(per_outcome[:, _UNKNOWN].sum()),
            episodes=episodes,
            hit_share=hit_share,
            quiet_episodes=quiet_episodes,
            missed_share=missed_share,
        )


class _Group:
    """The recorded attempts at one action, with what was already asked of them."""

    def __init__(self, facts: list[FeedbackFact], domain: Domain) -> None:
        self._facts = facts
        self._domain = domain
        self.names = {one: code for code, one in enumerate(dict.fromkeys(each.episode_id for each in facts))}
        self.episodes = np.array([self.names[each.episode_id] for each in facts], dtype=np.int64)
        self.succeeded = np.array([each.y is True for each in facts], dtype=np.bool_)
        self._answers: dict[object, Answers] = {}
        self._failed: dict[tuple[str, tuple[str, ...]], Flags] = {}

    def met(self, conditions: Iterable[Predicate]) -> Answers:
        """Whether all conditions hold: false as soon as one is false, unknown if none is and one is."""
        all_met = np.full(len(self._facts), _TRUE, dtype=np.int8)
        for predicate in conditions:
            all_met = np.minimum(all_met, self._answer(predicate))
        return all_met

    def outcome(self, failure_type: str | None, missing: tuple[str, ...]) -> Flags:
        """Which attempts succeeded; with a failure type, which failed so for want of all that is named."""
        if failure_type is None:
            return self.succeeded
        key = failure_type, missing
        if key not in self._failed:
            shows = [_failed_so(fact, failure_type, missing, self._domain) for fact in self._facts]
            self._failed[key] = np.array(shows, dtype=np.bool_)
        return self._failed[key]

    def _answer(self, predicate: Predicate) -> Answers:
        key = exactly(predicate)
        if key not in self._answers:
            told = (holds(predicate, fact.state_before, self._domain) for fact in self._facts)
            coded = [_UNKNOWN if one is None else _TRUE if one else _FALSE for one in told]
            self._answers[key] = np.array(coded, dtype=np.int8)
        return self._answers[key]


class _Recorded:
    """All recorded attempts that are evidence of anything, by action."""

    def __init__(self, facts: Mapping[str, FeedbackFact], domain: Domain, imported: frozenset[str]) -> None:
        self._domain = domain
        self._episode_of = {one: fact.episode_id for one, fact in facts.items()}
        self._by_action: defaultdict[Action, list[FeedbackFact]] = defaultdict(list)
        self._groups: dict[Action, _Group] = {}
        for one in sorted(facts):
            fact = facts[one]
            if one not in imported and fact.y is not None and fact.failure_type != INFRASTRUCTURE:
                self._by_action[fact.kind, fact.target].append(fact)

    def episodes_of(self, support: Iterable[str]) -> set[str]:
        return {self._episode_of[one] for one in support if one in self._episode_of}

    def tally(self, question: _Question) -> _Tally:
        group = self._group(question.action)
        outcome = group.outcome(question.failure_type, question.missing)
        return _Tally(group, group.met(question.conditions), outcome)

    def _group(self, action: Action) -> _Group:
        """The attempts at an action; None in it stands for any."""
        if action not in self._groups:
            kind, target = action
            exact = kind is not None and target is not None
            keys = [action] if exact else [key for key in self._by_action if _is_such(key, action)]
            found = [fact for key in keys for fact in self._by_action.get(key, ())]
            self._groups[action] = _Group(sorted(found, key=lambda fact: fact.feedback_id), self._domain)
        return self._groups[action]


def _is_such(action: Action, asked: Action) -> bool:
    return all(want is None or want == have for have, want in zip(action, asked, strict=True))


def _question(candidate: Candidate) -> _Question:
    content = candidate.content
    conditions = tuple(each for each in in_order(conditions_of(candidate)) if each.field not in OUTCOMES)
    if isinstance(content, RemedyContent):
        risk = content.risk
        return _Question(action_of(content), conditions, risk.failure_type, risk.missing)
    return _Question(action_of(content), conditions, None, ())


def _failed_so(fact: FeedbackFact, failure_type: str, missing: Iterable[str], domain: Domain) -> bool:
    """Whether an attempt failed with this type for want of all that is named, as V_evidence reads it."""
    if fact.y is not False:
        return False
    if failure_type != fact.failure_type and all(cause.type != failure_type for cause in fact.causes):
        return False
    shown = set(fact.missing).union(*(known_names(name, domain) for name in fact.missing))
    return all(name in shown or known_names(name, domain) & shown for name in missing)


def _by_episode(counts: npt.NDArray[np.int64]) -> tuple[int, float]:
    """Of counts of shape (episode, no or yes): in how many episodes there are any, and the sum of the shares
    of yes."""
    there = counts[counts.any(axis=1)]
    return len(there), float((there[:, 1] / there.sum(axis=1)).sum())


def _judged(
    candidate_id: str,
    candidate: Candidate,
    question: _Question,
    figures: _Figures,
    domain: Domain,
    bounds: Bounds,
) -> Backtest:
    interval = wilson(figures.hit_share, figures.episodes) if figures.episodes else None
    verdict, why = _verdict(candidate, question, figures, domain, bounds)
    return Backtest(
        build=candidate.build,
        candidate_id=candidate_id,
        verdict=verdict,
        detail=f"{_told(figures, question)}: {why}",
        attempts=figures.attempts,
        fired=figures.fired,
        episodes=figures.episodes,
        hits=figures.hits,
        successes=figures.successes,
        quiet=figures.quiet,
        missed=figures.missed,
        unknown=figures.unknown,
        precision=_share(figures.hits, figures.fired),
        precision_low=None if interval is None else round(interval.low, FLOAT_PLACES),
        precision_high=None if interval is None else round(interval.high, FLOAT_PLACES),
        recall=_share(figures.hits, figures.hits + figures.missed),
    )


def _verdict(
    candidate: Candidate, question: _Question, figures: _Figures, domain: Domain, bounds: Bounds
) -> tuple[BacktestVerdict, str]:
    if figures.fired < bounds.min_firings:
        return "undecided", f"fewer than {bounds.min_firings} firings decide nothing"
    if not any(_tells_of_the_state(each, domain) for each in question.conditions):
        return "undecided", "no condition on the state before is left to be tested"
    if isinstance(candidate.content, SkillContent) and not _is_one_action(candidate.content):
        return "undecided", "an attempt at the action alone does not do what the skill says"
    asked = bounds.min_success if question.failure_type is None else bounds.min_precision
    among = wilson(figures.hit_share, figures.episodes)
    if among.low >= asked:
        return "passed", f"at least {among.low:.2f} of the episodes, {asked:g} are asked for"
    if figures.quiet_episodes:
        elsewhere = wilson(figures.missed_share, figures.quiet_episodes)
        if among.low > elsewhere.high:
            return "passed", f"surely rarer where it does not fire, at most {elsewhere.high:.2f}"
    if among.high >= asked:
        return (
            "undecided",
            f"{among.low:.2f} to {among.high:.2f} of the episodes, and {asked:g} are asked for",
        )
    return "rejected", f"at most {among.high:.2f} of the episodes, and {asked:g} are asked for"


def _tells_of_the_state(predicate: Predicate, domain: Domain) -> bool:
    return predicate.field not in _ACTION_FIELDS and is_telling(predicate, domain)


def _is_one_action(content: SkillContent) -> bool:
    """Whether all that a skill does is its own action, so that any attempt at that does what it says."""
    return all((step.kind, step.target) == action_of(content) for step in content.steps)


def _told(figures: _Figures, question: _Question) -> str:
    """The figures in words."""
    if question.failure_type is None:
        return f"fired on {figures.fired} in {figures.episodes} episodes, {figures.successes} succeeded"
    return (
        f"fired on {figures.fired} in {figures.episodes} episodes, {figures.hits} failed so, "
        f"{figures.successes} succeeded"
    )


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, FLOAT_PLACES) if whole else None
