"""Which entries were used in evaluation, what became of those episodes, and where an entry comes from."""

from pathlib import Path

import polars as pl
import pytest

from prompts.rendering import render_entry
from rollouts.evaluation import NOBODY
from rollouts.planner import TEMPORARY
from rollouts.report import read_arms
from rollouts.report.lineage import EVIDENCE_SHOWN, lineages
from rollouts.report.usefulness import SHOWN, Usefulness, usefulness
from tests.made_evaluation import Played, episode_id, suite, write
from tests.test_fold import cited, curate, make_home
from tests.test_log import remedy, skill
from tests.test_snapshots import entry
from warehouse import log
from warehouse.analysis import publish
from warehouse.entries import Entry
from warehouse.fold import rebuild
from warehouse.snapshots import write_snapshot

TASKS = ("won", "lost", "both", "neither", "broken")
EMPTY = {"won": False, "lost": True, "both": True, "neither": False, "broken": None}
FROZEN = {"won": True, "lost": False, "both": True, "neither": False, "broken": True}


def found_in(
    home: Path, entries: list[Entry], *uses: tuple[str, list[str] | None, bool | None]
) -> Usefulness:
    """Attempts of the frozen episodes: (task, entries that it names, y)."""
    snapshot = write_snapshot(home, entries).name
    write(home, NOBODY, "wooden", [Played(task, EMPTY[task]) for task in TASKS])
    write(home, "0001", "wooden", [Played(task, FROZEN[task], snapshot=snapshot) for task in TASKS])
    judged = pl.DataFrame(
        [
            ("0001", episode_id("0001", Played(task, None)), number, names, y)
            for number, (task, names, y) in enumerate(uses)
        ],
        schema={
            "arm": pl.String,
            "episode_id": pl.String,
            "attempt": pl.Int32,
            "knowledge_used": pl.List(pl.String),
            "y": pl.Boolean,
        },
        orient="row",
    )
    return usefulness(read_arms(home, suite(("wooden", task) for task in TASKS)), judged)


def test_uses_are_counted_by_attempt_and_outcomes_by_episode(tmp_path: Path) -> None:
    good, bad, idle = entry("stick"), entry("torch"), entry("ladder")
    found = found_in(
        tmp_path,
        [good, bad, idle],
        ("won", [good.entry_id, good.entry_id, f"{TEMPORARY}{idle.entry_id}"], True),
        ("won", [good.entry_id], False),
        ("both", [good.entry_id, bad.entry_id], None),
        ("lost", [bad.entry_id], False),
        ("neither", [], False),
        ("neither", None, False),
        # The pair is excluded, and with it what was used there.
        ("broken", [bad.entry_id], True),
    )
    columns = ["entry_id", "attempts", "succeeded", "failed", "episodes", "won", "lost"]
    assert found.used.select(columns).rows() == [
        (good.entry_id, 3, 1, 1, 2, 1, 0),
        (bad.entry_id, 2, 0, 1, 2, 0, 1),
    ]
    assert found.useful["entry_id"].to_list() == [good.entry_id]
    assert found.harmful["entry_id"].to_list() == [bad.entry_id]
    assert (found.unused, found.episodes_with) == (1, 3)
    assert found.used["target"].to_list() == ["stick", "torch"]


def test_trust_is_by_use_in_training(tmp_path: Path) -> None:
    entries = [entry(f"t{n}", uses=n, wins=n, confidence=n / 10) for n in range(6)]
    found = found_in(tmp_path, entries, ("won", [entries[0].entry_id], True))
    assert found.trusted["target"].to_list() == ["t5", "t4", "t3"]
    assert found.distrusted["target"].to_list() == ["t1", "t2"]
    assert found.shown()[0] == entries[0].entry_id
    assert sorted(found.shown()) == sorted(each.entry_id for each in entries)


def test_what_was_demoted_is_told_from_what_was_active(tmp_path: Path) -> None:
    active, demoted = entry("stick"), entry("torch", uses=4, status="demoted")
    found = found_in(tmp_path, [active, demoted], ("won", [active.entry_id, demoted.entry_id], True))
    assert dict(found.used.select("target", "status").iter_rows()) == {"stick": "active", "torch": "demoted"}
    assert found.trained["status"].to_list() == ["demoted"]


def test_lists_end_where_a_reader_would(tmp_path: Path) -> None:
    entries = [entry(f"t{n}") for n in range(SHOWN + 3)]
    found = found_in(tmp_path, entries, *(("won", [each.entry_id], True) for each in entries))
    assert found.useful.height == SHOWN
    assert found.used.height == SHOWN + 3
    assert found.harmful.is_empty()
    assert found.trained.is_empty()
    assert found.trusted.is_empty()


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = make_home(tmp_path_factory.mktemp("data"))
    rebuild(home, curate)
    publish(home)
    return home


def test_an_entry_leads_back_to_the_ticks_it_rests_on(published: Path) -> None:
    known = {each.entry_id: each for each in (entry(), entry("torch"))}
    learnt = remedy("b1")
    own = entry().model_copy(
        update={
            "entry_id": learnt.entry_id,
            "type": "remedy",
            "trigger": learnt.trigger,
            "content": learnt.content,
            "verification": (),
        }
    )
    known |= {own.entry_id: own}
    (found,) = lineages(published, known, [own.entry_id, "0" * 20])
    assert found.text == render_entry(own)
    assert found.command == f"mineevolve knowledge explain {own.entry_id}"
    assert (found.status, found.version) == ("active", 2)
    assert found.decisions["decided_in"].to_list() == ["b1", "b2"]
    assert set(found.decisions["engine"]) == {"rules"}
    wanted = {*cited("b1", 1, 2), *cited("b2", 1, 2)}
    assert set(found.evidence["feedback_id"]) == wanted
    assert found.evidence_rows == len(wanted)
    first = found.evidence.row(0, named=True)
    assert (first["attempt"], first["start_tick"], first["end_tick"]) == (1, 5, 9)
    assert first["failure_type"] == "MISSING_TOOL"
    assert first["evidence_text"] == "No axe of wood or better"


def test_what_the_store_no_longer_has_is_said(published: Path) -> None:
    gone = entry("torch")
    (found,) = lineages(published, {gone.entry_id: gone}, [gone.entry_id])
    assert (found.status, found.version, found.evidence_rows) == (None, None, 0)


def test_long_evidence_is_cut_and_counted(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    log.append(home, "candidates", "b1", log.candidate_rows([skill("b1", support=cited("b1", 0, 15))]))
    rebuild(home, curate)
    publish(home)
    own = entry().model_copy(update={"entry_id": skill("b1").entry_id})
    (found,) = lineages(home, {own.entry_id: own}, [own.entry_id])
    assert found.evidence.height == EVIDENCE_SHOWN
    assert found.evidence_rows >= 15
