"""What speaks against each candidate before it meets the store: the gates of a pass, in their order.

    checks      V_schema ... V_evidence and repeats_action, eq. 6 (warehouse/acceptance.py)
    transient   a failure that may have been one bad seed (warehouse/lifecycle.py)
    back-test   its conditions, held against the record (warehouse/backtest.py)
    review      a reviewer's verdict
    try-out     carried out in its own situations, with it and without (warehouse/tryouts.py)

The first gate that refuses says why; those behind it are not asked.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from warehouse.acceptance import reasons_against
from warehouse.backtest import Backtest, Bounds, backtests
from warehouse.domains.model import Domain
from warehouse.entries import Reason, Review, TryOut
from warehouse.facts import FeedbackFact
from warehouse.knowledge import Candidate
from warehouse.lifecycle import Circumstances, LifeSettings, transient_reasons
from warehouse.tryouts import reasons_tried, tallies


class Hearing(NamedTuple):
    """What was found. `reasons`: every candidate -> what speaks against it, empty where nothing does;
    `tested`: those that reached the back-test, in the order of their ids."""

    reasons: dict[str, tuple[Reason, ...]]
    tested: dict[str, Backtest]


def hear(
    candidates: Mapping[str, Candidate],
    newcomers: Collection[str],
    facts: Mapping[str, FeedbackFact],
    domain: Domain,
    life: LifeSettings,
    bounds: Bounds | None,
    reviews: Iterable[Review],
    imported: Collection[str],
    tryouts: Iterable[TryOut],
) -> Hearing:
    """Asks every gate about `candidates`, which are by id; see `warehouse.curator.curate`.

    `newcomers` are those whose entry is not in the store. Only they can fail the back-test: what is in the
    store is judged by its use, for from then on the record shows what it prevents, and the better it works,
    the worse it would look. Without `bounds` nothing is back-tested.
    """
    circumstances = Circumstances(facts.values())
    refusals: defaultdict[str, list[Reason]] = defaultdict(list)
    for review in sorted(reviews, key=lambda one: (one.candidate_id, one.model, one.request_id)):
        if review.verdict == "rejected":
            said = Reason(rule="review", detail=f"{review.model}: {review.reason}")
            refusals[review.candidate_id].append(said)
    reasons = {
        one: reasons_against(candidate, facts, domain) or transient_reasons(candidate, circumstances, life)
        for one, candidate in candidates.items()
    }
    sound = {one: candidate for one, candidate in candidates.items() if not reasons[one]}
    tested = backtests(sound, facts, domain, bounds, imported) if bounds else {}
    tried = tallies(tryouts)
    for one, candidate in sound.items():
        if one in newcomers and one in tested and tested[one].verdict == "rejected":
            reasons[one] = (Reason(rule="backtest", detail=tested[one].detail),)
        else:
            reasons[one] = tuple(refusals[one]) or reasons_tried(candidate.entry_id, tried)
    return Hearing(reasons, tested)
