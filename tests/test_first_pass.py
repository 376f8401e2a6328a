"""The pass before a review: what curation will start from, and which candidates are new to it."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.test_fold import Curated, attempted, curate, make_home
from tests.test_log import remedy, skill
from warehouse import log
from warehouse.build_evidence import Evidence
from warehouse.entries import Entry, Review
from warehouse.first_pass import Undecided, newcomers, undecided
from warehouse.fold import fold_build, rebuild
from warehouse.knowledge import Candidate


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return make_home(tmp_path)


def refusal(candidate: Candidate) -> Review:
    return Review(
        candidate_id=candidate.candidate_id,
        entry_id=candidate.entry_id,
        verdict="rejected",
        reason="no",
        request_id="r",
        model="m",
        template="curator_v1",
    )


@pytest.mark.parametrize("build", ["b1", "b2"])
@pytest.mark.parametrize("folded", [True, False], ids=["folded before", "not folded"])
def test_it_starts_from_what_the_fold_of_the_build_starts_from(home: Path, build: str, folded: bool) -> None:
    """Whether or not the build, or a later one, was folded already."""
    fold_build(home, "b1", curate)
    if folded:
        rebuild(home, curate)
    seen = {}

    def watch(evidence: Evidence, store: Mapping[str, Entry]) -> Curated:
        seen[evidence.build] = Undecided(evidence, store)
        return curate(evidence, store)

    before = undecided(home, build)
    fold_build(home, build, watch)

    assert before.store == seen[build].store
    for name, value in vars(before.evidence).items():
        other = getattr(seen[build].evidence, name)
        assert value.equals(other) if hasattr(value, "equals") else value == other


def test_only_what_would_be_accepted_and_is_new_is_named(home: Path) -> None:
    rebuild(home, curate)
    first, second = undecided(home, "b1"), undecided(home, "b2")

    # The third candidate of each build cites feedback that there is not.
    assert {each.entry_id for each in newcomers(first, curate, ())} == {
        skill("b1").entry_id,
        remedy("b1", attempted_in("b1"), request_id="b1").entry_id,
    }
    assert first.store == {}
    # What the second build proposes is in the store: more evidence for it needs no second opinion.
    assert newcomers(second, curate, ()) == ()
    assert [each.build for each in newcomers(second._replace(store={}), curate, ())] == ["b2", "b2"]


def test_an_entry_that_was_retired_or_merged_is_not_new(home: Path) -> None:
    rebuild(home, curate)
    second = undecided(home, "b2")
    worn = {one: entry.model_copy(update={"status": "retired"}) for one, entry in second.store.items()}
    assert newcomers(second._replace(store=worn), curate, ()) == ()


def test_it_is_made_under_the_reviews_that_it_is_given_and_no_others(home: Path) -> None:
    build = undecided(home, "b1")
    known = refusal(build.evidence.candidates[0])
    log.append(home, "reviews", "b1", log.review_rows("b1", [known]))
    seen = []

    def watch(evidence: Evidence, store: Mapping[str, Entry]) -> Curated:
        seen.append(evidence.reviews)
        return curate(evidence, store)

    build = undecided(home, "b1")
    assert build.evidence.reviews == (known,)
    newcomers(build, watch, ())
    newcomers(build, watch, [known])
    assert seen == [(), (known,)]


def attempted_in(build: str) -> tuple[str, ...]:
    return tuple(feedback for feedback, _ in attempted(build, 1, 2))
