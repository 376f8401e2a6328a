"""Knowledge carried out where it was drawn from: what pairs come to, what they cost, and that they can be had
again."""

import random
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import polars as pl
import pytest

from rollouts.backends import Addressed, Branch, Done, Go, InProcess, Lost, Reported, RolloutBackend
from rollouts.seeds import is_for_evaluation
from rollouts.tryout import TriedOut, try_out
from tests.tried_world import HURRIED, MAKES_STICKS, STICKS, backend, by_pair, evidence_of, remedy, skill
from warehouse.build_evidence import Evidence
from warehouse.domains import Domain
from warehouse.knowledge import Candidate, Step
from warehouse.tryouts import Tally, rules

SEEDS = (0, 2, 4)
ENOUGH = 2000.0
"""a share of these few ticks that no try-out here comes near"""


@pytest.fixture(scope="module")
def evidence(minecraft: Domain) -> Evidence:
    """Sticks were wanted of nothing, three times; then a log in too short a time."""
    return evidence_of(minecraft, [STICKS, HURRIED], SEEDS)


@pytest.fixture(scope="module")
def right(evidence: Evidence) -> Candidate:
    return remedy(evidence, STICKS, *MAKES_STICKS)


@pytest.fixture(scope="module")
def tried(evidence: Evidence, right: Candidate, minecraft: Domain) -> TriedOut:
    """The right remedy, tried out."""
    return tried_out([right], evidence, minecraft)


def tried_out(
    candidates: Sequence[Candidate],
    evidence: Evidence,
    domain: Domain,
    share: float = ENOUGH,
    stepping: RolloutBackend | None = None,
) -> TriedOut:
    def opened() -> AbstractContextManager[RolloutBackend]:
        return nullcontext(stepping or backend(domain))

    return try_out(candidates, evidence, domain, share, "scripted", opened)


def test_what_helps_is_found_to_help_in_as_few_pairs_as_can_decide(
    tried: TriedOut, right: Candidate, evidence: Evidence
) -> None:
    (entry,) = tried.entries
    assert (entry.finding, entry.tally) == ("helpful", Tally(only_with=3))
    assert {row.entry_id for row in tried.rows} == {right.entry_id}
    assert sorted({row.world_seed for row in tried.rows}) == list(SEEDS)
    assert {row.episode_id for row in tried.rows} == set(evidence.episodes["episode_id"])
    for pair in by_pair(tried.rows).values():
        assert pair["with"].success is True
        assert pair["without"].success is False
        assert pair["with"].lead == pair["without"].lead
        assert 0 < pair["with"].ticks <= rules().cost.arm_ticks
    assert (tried.lost, tried.remembered) == (0, 0)


def test_what_does_harm_is_found_to_do_harm(evidence: Evidence, minecraft: Domain) -> None:
    """Who waits and waits has no time left for what so many more tries bring to who gets on with it."""
    idle = remedy(evidence, HURRIED, *[Step(kind="wait")] * 9)
    (entry,) = tried_out([idle], evidence, minecraft).entries
    assert entry.finding == "harmful"
    assert (entry.tally.only_with, entry.tally.both) == (0, 0)


def test_what_never_leads_there_is_futile_once_enough_worlds_have_shown_it(
    evidence: Evidence, minecraft: Domain
) -> None:
    found = tried_out([remedy(evidence, STICKS, Step(kind="mine", target="dirt"))], evidence, minecraft)
    (entry,) = found.entries
    assert entry.finding == "futile"
    assert entry.tally == Tally(neither=entry.tally.pairs)
    assert rules().test.futile <= entry.tally.pairs <= rules().test.most
    # More than it was drawn from: the same decisions fail in the same way elsewhere.
    worlds = [seed for _, seed in by_pair(found.rows)]
    elsewhere = set(worlds) - set(SEEDS)
    assert len(elsewhere) >= rules().test.futile - len(SEEDS)
    assert len(worlds) == len(set(worlds))  # no two pairs of one world
    assert not any(map(is_for_evaluation, elsewhere))


def test_a_situation_that_does_not_come_about_elsewhere_says_nothing(
    evidence: Evidence, minecraft: Domain
) -> None:
    """Of one episode, whose trigger holds in no other world."""
    told = remedy(evidence, STICKS, Step(kind="mine", target="dirt"), cited=1)
    never = replace_trigger(told, "inventory.diamond")
    found = tried_out([never], evidence, minecraft)
    (entry,) = found.entries
    assert (entry.finding, entry.tally) == ("undecided", Tally(neither=1))
    pairs = by_pair(found.rows)
    assert len(pairs) == 3
    assert sorted(str(row.success) for row in found.rows) == ["False"] * 2 + ["None"] * 4


def replace_trigger(candidate: Candidate, field: str) -> Candidate:
    (first, *rest) = candidate.trigger
    other = first.model_copy(update={"field": field, "op": "ge", "value": 1})
    return Candidate.model_validate({**dict(candidate), "trigger": (other, *rest)})


def test_a_skill_is_tried_out_from_where_its_way_begins(minecraft: Domain) -> None:
    way = [replace(HURRIED, subgoal_id="logs", timeout_s=60.0), replace(STICKS, subgoal_id="made")]
    planks = replace(STICKS, subgoal_id="planks", target="#planks", checks=())
    known = evidence_of(minecraft, [way[0], planks, way[1]], SEEDS[:1])
    steps = (*MAKES_STICKS, Step(kind="craft", target="stick", count=4))
    (entry,) = tried_out([skill(known, way[1], *steps)], known, minecraft).entries
    assert entry.finding == "helpful"
    assert tried_out([skill(known, way[1], steps[-1])], known, minecraft).entries[0].situations == 0


class Watched:
    """A backend that shuffles its reports, remembers what it was told, and loses what `loses` says."""

    def __init__(self, inner: InProcess, seed: int = 0, loses: str = "nothing") -> None:
        self.inner = inner
        self.side_by_side = inner.side_by_side
        self.order = random.Random(seed)
        self.loses = loses
        self.orders: list[Addressed] = []

    def play(self, orders: Sequence[Addressed]) -> Iterator[Reported]:
        self.orders += orders
        mixed = list(orders)
        self.order.shuffle(mixed)
        for each in mixed:
            if self.loses in each.episode_id and isinstance(each.order, Go):
                yield Reported(each.episode_id, Lost("gone"))
            else:
                yield from self.inner.play([each])

    def finish(self, done: Done) -> None:
        self.inner.finish(done)


def test_the_rows_are_the_same_however_many_play_side_by_side(
    tried: TriedOut, right: Candidate, evidence: Evidence, minecraft: Domain
) -> None:
    for seed, at_once in ((1, 1), (2, 3)):
        again = tried_out([right], evidence, minecraft, stepping=Watched(backend(minecraft, at_once), seed))
        assert sorted(again.rows, key=str) == sorted(tried.rows, key=str)
        assert again.spent == tried.spent


def test_what_was_played_is_not_played_again(
    tried: TriedOut, right: Candidate, evidence: Evidence, minecraft: Domain
) -> None:
    def nobody() -> AbstractContextManager[RolloutBackend]:
        raise AssertionError("nothing is left to play")

    remembers = replace(evidence, tryouts=tried.rows)
    again = try_out([right], remembers, minecraft, ENOUGH, "scripted", nobody)
    assert again.rows == ()
    assert (again.entries, again.spent) == (tried.entries, tried.spent)
    # And what was interrupted is completed.
    part = [row for row in tried.rows if row.world_seed == SEEDS[0]]
    rest = tried_out([right], replace(evidence, tryouts=tuple(part)), minecraft)
    assert sorted([*part, *rest.rows], key=str) == sorted(tried.rows, key=str)


@pytest.mark.parametrize("share", [0.0, 40.0, 55.0, 120.0])
def test_no_more_is_stepped_than_the_share_allows(
    right: Candidate, evidence: Evidence, minecraft: Domain, share: float
) -> None:
    watched = Watched(backend(minecraft))
    found = tried_out([right], evidence, minecraft, share, watched)
    assert found.budget == int(share * evidence.episodes["n_ticks"].sum())
    ways = {(row.episode_id, row.world_seed): row.lead for row in found.rows}
    assert found.spent == sum(ways.values()) + sum(row.ticks for row in found.rows) <= found.budget
    if not share:
        assert watched.orders == []


def test_a_pair_that_loses_an_arm_has_no_rows(
    right: Candidate, evidence: Evidence, minecraft: Domain, tried: TriedOut
) -> None:
    name = next(row.episode_id for row in tried.rows if row.world_seed == SEEDS[0])
    watched = Watched(backend(minecraft), loses=f"{name}-{SEEDS[0]}/{right.entry_id}/with")
    found = tried_out([right], evidence, minecraft, stepping=watched)
    assert found.lost == 1
    assert name not in {row.episode_id for row in found.rows if row.world_seed == SEEDS[0]}
    assert found.entries[0].tally.only_with >= 2


def test_both_arms_begin_in_the_world_that_the_way_led_to(
    right: Candidate, evidence: Evidence, minecraft: Domain
) -> None:
    watched = Watched(backend(minecraft))
    tried_out([right], evidence, minecraft, stepping=watched)
    branches = [each for each in watched.orders if isinstance(each.order, Branch)]
    assert len(branches) == 2 * len(SEEDS)
    assert all(each.order.of == each.shard for each in branches)  # type: ignore[union-attr]


def test_an_episode_that_does_not_come_out_as_recorded_is_no_situation(
    right: Candidate, evidence: Evidence, minecraft: Domain
) -> None:
    other = evidence.attempts.with_columns(end_tick=pl.col("end_tick") + (pl.col("attempt") == 0))
    found = tried_out([right], replace(evidence, attempts=other), minecraft)
    assert not {row.world_seed for row in found.rows} & set(SEEDS)
    assert found.lost == len(SEEDS)


def test_recordings_have_no_world_to_go_back_to(
    right: Candidate, evidence: Evidence, minecraft: Domain
) -> None:
    recorded = evidence.episodes.with_columns(
        world=pl.lit(None, pl.String), world_seed=pl.lit(None, pl.Int64)
    )
    found = tried_out([right], replace(evidence, episodes=recorded), minecraft)
    assert (found.budget, found.rows) == (0, ())
    assert [(each.situations, each.finding) for each in found.entries] == [(0, "undecided")]


def test_worlds_of_evaluation_are_never_gone_into(
    right: Candidate, evidence: Evidence, minecraft: Domain
) -> None:
    odd = evidence.episodes.with_columns(world_seed=pl.col("world_seed") + 1)
    found = tried_out([right], replace(evidence, episodes=odd), minecraft)
    assert found.rows == ()
