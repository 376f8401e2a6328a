"""What try-outs say of an entry, with which errors, and what Curator makes of it."""

from collections.abc import Iterable
from functools import cache
from itertools import product
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.good_cases import DOMAIN, Case, log_skill, station_remedy
from warehouse.curator import Curation, curate
from warehouse.entries import Review, TryOut
from warehouse.tryouts import Sequential, Tally, finding, reasons_tried, rules, tallies

TEST = rules().test
Arm = Literal["with", "without"]
PAIR = st.tuples(st.sampled_from((True, False, None)), st.sampled_from((True, False, None)))


def arm(entry_id: str, number: int, which: Arm, success: bool | None) -> TryOut:
    return TryOut(
        entry_id=entry_id,
        situation=f"s{number}",
        episode_id="e",
        world_seed=2 * number,
        arm=which,
        success=success,
        lead=0,
        ticks=10,
    )


def pairs(entry_id: str, outcomes: Iterable[tuple[bool | None, bool | None]]) -> list[TryOut]:
    """Rows of pairs (success with it, without it)."""
    return [
        arm(entry_id, number, which, success)
        for number, (won, lost) in enumerate(outcomes)
        for which, success in (("with", won), ("without", lost))
    ]


@given(st.lists(PAIR, max_size=12), st.randoms(use_true_random=False))
def test_pairs_are_counted_whatever_the_order_and_undecided_ones_are_none(
    outcomes: list[tuple[bool | None, bool | None]], order: object
) -> None:
    rows = [*pairs("one", outcomes), arm("one", 99, "with", success=True)]
    order.shuffle(rows)  # type: ignore[attr-defined]
    tally = tallies(rows).get("one", Tally())
    assert tally == Tally(
        both=outcomes.count((True, True)),
        only_with=outcomes.count((True, False)),
        only_without=outcomes.count((False, True)),
        neither=outcomes.count((False, False)),
    )
    assert tally.pairs == sum(None not in pair for pair in outcomes)


def test_entries_and_worlds_are_kept_apart() -> None:
    rows = [*pairs("one", [(True, False)] * 2), *pairs("other", [(False, False)])]
    elsewhere = [row.model_copy(update={"world_seed": 8}) for row in pairs("one", [(True, True)])]
    assert tallies([*rows, *elsewhere]) == {
        "one": Tally(both=1, only_with=2),
        "other": Tally(neither=1),
    }


@pytest.mark.parametrize(
    ("tally", "expected"),
    [
        (Tally(), "undecided"),
        (Tally(only_with=3), "helpful"),
        (Tally(only_with=2, both=4), "undecided"),
        (Tally(only_with=4, only_without=2), "undecided"),
        (Tally(only_with=1, only_without=4), "harmful"),
        (Tally(only_without=3), "harmful"),
        (Tally(only_without=2, neither=2), "undecided"),
        (Tally(only_without=2, neither=3), "futile"),
        (Tally(neither=5), "futile"),
        (Tally(neither=5, both=1), "undecided"),
    ],
)
def test_the_finding(tally: Tally, expected: str) -> None:
    assert finding(tally, Sequential(net=3, futile=5, most=6, batch=3)) == expected


def chance(say: str, shares: dict[tuple[bool, bool], float], after: Iterable[int]) -> float:
    """The exact chance that pairs that come out with these shares are found to be so at one of the looks."""
    looks = set(after)

    @cache
    def from_here(tally: Tally) -> float:
        found = finding(tally, TEST) if tally.pairs in looks else "undecided"
        if found != "undecided" or tally.pairs == max(looks):
            return float(found == say)
        return sum(
            share * from_here(Tally(*(count + (place == index) for index, count in enumerate(tally))))
            for place, share in ((2 * (not won) + (not lost), share) for (won, lost), share in shares.items())
        )

    return from_here(Tally())


@pytest.mark.parametrize("rest", [0.0, 0.5])
@pytest.mark.parametrize("looks", [range(1, 40), (3, 6)], ids=["after every pair", "as it is played"])
def test_the_errors_are_as_small_as_the_parameters_say(rest: float, looks: Iterable[int]) -> None:
    """`rest` is the share of pairs whose arms agree; of the others three of four go one way."""
    differing = {(True, False): 0.75 * (1 - rest), (False, True): 0.25 * (1 - rest), (True, True): rest}
    assert chance("harmful", differing, looks) <= 1 / 27
    turned = {(lost, won): share for (won, lost), share in differing.items()}
    assert chance("helpful", turned, looks) <= 1 / 27
    works_half_the_time = {(True, False): 0.5, (False, False): 0.5}
    assert chance("futile", works_half_the_time, looks) <= 1 / 32
    # And they find what there is to be found.
    assert chance("futile", {(False, False): 1.0}, looks) == 1.0
    assert chance("harmful", {(False, True): 1.0}, looks) == 1.0


def curated(case: Case, rows: Iterable[TryOut], reviews: Iterable[Review] = ()) -> Curation:
    return curate([case.candidate], case.facts, {}, (), DOMAIN, reviews=reviews, tryouts=rows)


@pytest.mark.parametrize(
    "case", [station_remedy("oak", "pickaxe"), log_skill("oak")], ids=["remedy", "skill"]
)
@pytest.mark.parametrize("outcome", list(product((True, False), repeat=2)))
def test_curator_refuses_what_did_harm_or_never_helped_and_says_how_often(
    case: Case, outcome: tuple[bool, bool]
) -> None:
    one = case.candidate.entry_id
    after = curated(case, pairs(one, [outcome] * 6))
    (decision,) = after.decisions
    if outcome[0]:
        assert (decision.verdict, decision.reasons) == ("accepted", ())
        # What was tried out stands beside the confidence and does not enter it.
        assert after.store == curated(case, ()).store
        return
    found = "harmful" if outcome[1] else "futile"
    (reason,) = decision.reasons
    assert (decision.verdict, reason.rule) == ("rejected", "tryout")
    assert reason.detail.startswith(f"{found} in 6 pairs")
    assert after.store == {}
    assert reasons_tried("another entry", tallies(pairs(one, [outcome] * 6))) == ()


def test_what_a_review_refuses_is_refused_for_that() -> None:
    case = station_remedy("oak", "pickaxe")
    refusal = Review(
        candidate_id=case.candidate.candidate_id,
        entry_id=case.candidate.entry_id,
        verdict="rejected",
        reason="no",
        request_id="r",
        model="m",
        template="t",
    )
    rows = pairs(case.candidate.entry_id, [(False, True)] * 3)
    assert [reason.rule for reason in curated(case, rows, [refusal]).decisions[0].reasons] == ["review"]
