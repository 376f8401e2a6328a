"""What is told of an entry whose status changed between two snapshots: the change, and the reason of then."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from pipeline.command.difference import differences
from pipeline.command.named import named_snapshot
from tests.test_fold import Curated, curate, make_home
from tests.test_log import remedy, skill
from warehouse import log
from warehouse.analysis import publish
from warehouse.build_evidence import Evidence
from warehouse.entries import Decision, Entry, Reason, Status, Turn
from warehouse.fold import rebuild, store_after
from warehouse.rollback import note_rollback
from warehouse.snapshots import publish_snapshot, published_snapshot

SKILL = skill("b1").entry_id
TURNS: dict[str, tuple[Status, Turn]] = {
    "b2": ("demoted", "demoted"),
    "b3": ("active", "restored"),
    "b4": ("retired", "rejected"),
    "b5": ("active", "restored"),
    "b6": ("demoted", "demoted"),
}
"""build -> what becomes of the skill there"""


def scripted(evidence: Evidence, store: Mapping[str, Entry]) -> Curated:
    """The small Curator, that changes the status of the skill as it is told, with the build as its reason."""
    pass_ = curate(evidence, store)
    if evidence.build not in TURNS:
        return pass_
    status, verdict = TURNS[evidence.build]
    entry = pass_.store[SKILL].model_copy(update={"status": status})
    said = Decision(
        decision_id=f"turn in {evidence.build}",
        build=evidence.build,
        candidate_id=SKILL,
        entry_id=SKILL,
        verdict=verdict,
        reasons=(Reason(rule="fading", detail=f"in {evidence.build}"),),
    )
    return Curated({**pass_.store, SKILL: entry}, (*pass_.decisions, said), pass_.backtests)


def published(home: Path, builds: list[str]) -> None:
    rebuild(home, scripted)
    for build in builds:
        publish_snapshot(home, build, store_after(home, build))
    publish(home)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Six builds, in each of which but the first the skill has another status than before."""
    home = make_home(tmp_path)
    for build in ("b3", "b4", "b5", "b6"):
        log.append(home, "candidates", build, log.candidate_rows([remedy(build, ("f" * 20,))]))
    published(home, ["b1", *TURNS])
    return home


def told(home: Path, old: str, new: str) -> tuple[str, str | None, str | None, str | None]:
    """(change, status before, status after, why) of the skill."""
    sides = [(name, named_snapshot(home, name)) for name in (old, new)]
    (row,) = (row for row in differences(home, *sides) if row["entry_id"] == SKILL)
    return row["change"], row["status_before"], row["status_after"], row["why"]


def test_a_change_of_status_is_named_with_its_reason(home: Path) -> None:
    assert told(home, "b1", "b2") == ("demoted", "active", "demoted", "in b2")
    assert told(home, "b2", "b3") == ("restored", "demoted", "active", "in b3")
    assert told(home, "b3", "b4") == ("retired", "active", None, "in b4")
    assert told(home, "b4", "b5") == ("restored", None, "active", "in b5")


def test_the_reason_is_the_last_up_to_the_second_snapshot(home: Path) -> None:
    assert told(home, "b1", "b4") == ("retired", "active", None, "in b4")
    assert told(home, "b1", "b6") == ("demoted", "active", "demoted", "in b6")
    ids = [str(published_snapshot(home, build)) for build in ("b1", "b2")]
    assert told(home, *ids) == ("demoted", "active", "demoted", "in b2"), "named by their ids"


def test_what_was_not_decided_on_the_way_has_no_reason(home: Path) -> None:
    assert told(home, "b2", "b1") == ("restored", "demoted", "active", None)
    assert told(home, "b4", "b1") == ("added", None, "active", None)
    assert told(home, "b5", "b4") == ("removed", "active", None, None)


def test_a_rollback_comes_after_what_its_build_decided(home: Path) -> None:
    """Build b6 is set back to b4, which does not hold the skill."""
    own = str(published_snapshot(home, "b6"))
    note_rollback(home, "b6", named_snapshot(home, "b4"))
    published(home, [*TURNS])
    before = published_snapshot(home, "b4")
    assert published_snapshot(home, "b6") == before

    assert told(home, own, "b6") == (
        "withdrawn",
        "demoted",
        None,
        f"build b6 was set back to snapshot {before}",
    )
    assert told(home, "b3", "b4") == ("retired", "active", None, "in b4")
    assert told(home, "b5", own) == ("demoted", "active", "demoted", "in b6")
    assert told(home, "b3", str(before)) == ("retired", "active", None, "in b4"), "the nearest of the two"
