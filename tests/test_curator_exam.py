"""Curator's exam with a seed that nobody has seen: no bad candidate gets in, and good ones do.

A failure names the seed; MINEEVOLVE_EXAM_SEED=<seed> repeats it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.case_pools import recorded_cases, template_cases
from tests.curator_exam import SEED, Mark, bad, fresh_seed, good, played_cases, table
from tests.good_cases import DOMAIN, Case
from tests.mutators import MUTATORS

LEAST_BAD, LEAST_GOOD, LEAST_ACCEPTED = 60, 40, 38


@pytest.fixture(scope="module")
def recorded(traces: Path) -> list[Case]:
    return recorded_cases(sorted(folder for folder in traces.iterdir() if folder.is_dir()), DOMAIN)


def examined(pools: Mapping[str, Sequence[Case]], each: int) -> tuple[list[Mark], list[Mark]]:
    """The marks of bad and of good candidates; what must not be fails with the seed."""
    seed = fresh_seed()
    wrong, right = bad(pools, seed, each), good(pools, seed, 4 * each)
    again = f"repeat with {SEED}={seed}"
    let_in = "\n".join(str(mark) for mark in wrong if mark.accepted)
    assert not let_in, f"bad candidates were accepted; {again}\n{let_in}"
    other = [f"{sorted(mark.rules)} {mark}" for mark in wrong if mark.expected not in mark.rules]
    assert not other, f"refused by another rule than the broken one; {again}\n" + "\n".join(other)
    turned_away = [f"{sorted(mark.rules)} {mark}" for mark in right if not mark.accepted]
    share = len(right) * LEAST_ACCEPTED / LEAST_GOOD
    assert len(right) - len(turned_away) >= share, f"{again}\n" + "\n".join(turned_away)
    return wrong, right


def test_no_bad_candidate_made_of_recorded_ones_is_accepted_and_the_good_are(recorded: list[Case]) -> None:
    wrong, right = examined({"hand-written": template_cases(), "recorded": recorded}, each=1)
    assert {mark.by for mark in wrong} == {mutator.name for mutator in MUTATORS}
    of_recorded = [mark for mark in wrong if mark.pool == "recorded"]
    assert len(of_recorded) >= 50
    assert len(wrong) >= LEAST_BAD
    assert len([mark for mark in right if mark.pool == "recorded"]) >= 12
    rows = table(wrong)
    assert rows["n"].sum() == len(wrong)
    assert rows["accepted"].sum() == 0


@pytest.mark.faults
def test_no_bad_candidate_made_of_played_ones_is_accepted_and_the_good_are(
    tmp_path: Path, recorded: list[Case]
) -> None:
    played = played_cases(tmp_path)
    assert {case.candidate.type for case in played} == {"skill", "remedy"}
    wrong, right = examined({"recorded": recorded, "played": played}, each=3)
    assert len([mark for mark in wrong if mark.pool == "played"]) >= LEAST_BAD
    assert len([mark for mark in right if mark.pool == "played"]) >= LEAST_GOOD
