"""The inbox: what machines hand in is taken in once, whole, and in whatever order it came."""

import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.good_cases import DOMAIN, Case, log_skill, planks_skill, station_remedy, tool_remedy
from tests.test_fold import curate, make_home, tables
from warehouse import log
from warehouse.curator import CuratorSettings
from warehouse.database import fetch, writer
from warehouse.exchange import facts_imported
from warehouse.facts import FeedbackFact
from warehouse.fold import all_builds, curator, fold_build, rebuild, store_after
from warehouse.ids import derive_id, file_digest
from warehouse.inbox import COLUMNS, hand_in, take_in, waiting
from warehouse.knowledge import Candidate
from warehouse.log_tables import load_put_aside
from warehouse.snapshots import publish_snapshot

CASES = (planks_skill("oak"), log_skill("birch"), station_remedy("oak", "pickaxe"), tool_remedy("iron_ore"))
REAL = curator(DOMAIN, CuratorSettings())
Proposed = tuple[list[Candidate], dict[str, FeedbackFact]]


def proposed(*numbers: int, build: str = "b1", cases: tuple[Case, ...] = CASES) -> Proposed:
    """A candidate for each number, all of other evidence, taking turns with what they say."""
    candidates, facts = [], {}
    for number in numbers:
        case = cases[number % len(cases)]
        again = {one: derive_id("feedback", [one, number]) for one in case.candidate.support}
        for old, new in again.items():
            fact = case.facts[old]
            facts[new] = replace(
                fact, feedback_id=new, episode_id=derive_id("episode", [fact.episode_id, number])
            )
        changes = {"support": tuple(again.values()), "build": build, "request_id": f"request {number}"}
        candidates.append(Candidate.model_validate({**dict(case.candidate), **changes}))
    return candidates, facts


def logged(home: Path) -> dict[str, str]:
    """The files of the log, each with its hash."""
    return {
        path.relative_to(home).as_posix(): file_digest(path) for path in (home / "log").rglob("*.parquet")
    }


def test_what_is_handed_in_is_decided_by_the_evidence_that_comes_along(tmp_path: Path) -> None:
    candidates, facts = proposed(0, 1, 2, 3)

    (shard,) = hand_in(tmp_path, candidates, facts)
    taken = take_in(tmp_path)
    fold_build(tmp_path, "b1", REAL)

    assert (shard.candidates, shard.facts) == (4, len(facts))
    assert (taken.candidates, taken.facts, taken.shards) == ({"b1": 4}, len(facts), 1)
    assert {entry.entry_id for entry in store_after(tmp_path, "b1")} == {one.entry_id for one in candidates}
    assert log.candidates_of(log.read(tmp_path, "candidates")) == sorted(
        candidates, key=lambda one: one.candidate_id
    )
    assert facts_imported(log.read(tmp_path, "imports")) == facts
    assert waiting(tmp_path) == []


def test_without_its_evidence_a_candidate_is_not_believed(tmp_path: Path) -> None:
    candidates, _ = proposed(0)

    hand_in(tmp_path, candidates, {})
    take_in(tmp_path)
    fold_build(tmp_path, "b1", REAL)

    assert store_after(tmp_path, "b1") == ()
    (reasons,) = tables(tmp_path, "decisions")["decisions"]["reasons"].to_list()
    assert {reason["rule"] for reason in reasons} == {"evidence"}


def test_of_the_same_feedback_a_home_believes_its_own(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    own = log.candidates_of(log.read(home, "candidates", ["b1"]))
    (told,) = [one for one in own if one.type == "remedy"]
    lie = {
        one: FeedbackFact(feedback_id=one, episode_id="e" * 20, attempt=0, failure_type="DEATH")
        for one in told.support
    }
    hand_in(home, [told.model_copy(update={"request_id": "elsewhere"})], lie)
    take_in(home)
    seen = {}

    def watch(evidence, store):  # type: ignore[no-untyped-def]
        seen.update(evidence.facts)
        return curate(evidence, store)

    fold_build(home, "b1", watch)

    assert {seen[one].failure_type for one in told.support} == {"MISSING_TOOL"}


def test_handed_in_again_it_is_there_once(tmp_path: Path) -> None:
    candidates, facts = proposed(0, 1)
    first = hand_in(tmp_path, candidates, facts)
    assert hand_in(tmp_path, list(reversed(candidates)), facts) == first
    take_in(tmp_path)
    before = logged(tmp_path)

    hand_in(tmp_path, candidates, facts)
    take_in(tmp_path)

    assert logged(tmp_path) == before
    assert log.read(tmp_path, "candidates").height == 2


@settings(max_examples=15)
@given(st.permutations(range(6)), st.sets(st.integers(1, 5)))
def test_neither_the_order_nor_the_times_of_taking_in_matter(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], pauses: set[int]
) -> None:
    home, straight = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("straight")
    for number in range(6):
        hand_in(straight, *proposed(number, number + 10, build=f"b{number % 2}"))
    take_in(straight)

    for place, number in enumerate(order):
        if place in pauses:
            take_in(home)
        hand_in(home, *proposed(number, number + 10, build=f"b{number % 2}"))
    take_in(home)

    assert logged(home) == logged(straight)


def test_what_is_for_other_builds_waits(tmp_path: Path) -> None:
    for build in ("b1", "b2"):
        hand_in(tmp_path, *proposed(0, build=build))

    assert take_in(tmp_path, ["b2"]).candidates == {"b2": 1}

    assert [path.parent.name for path in waiting(tmp_path)] == ["b1"]
    assert set(log.read(tmp_path, "candidates")["build"]) == {"b2"}


def test_an_empty_inbox_leaves_no_trace(tmp_path: Path) -> None:
    assert take_in(tmp_path).shards == 0
    assert list(tmp_path.iterdir()) == []


def written(home: Path, rows: list[tuple[str, str, str]], build: str = "b1") -> Path:
    """A shard of these rows, under the name that is right for them."""
    path = home / "inbox" / build / f"{derive_id('inbox', [build, rows])}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(rows, schema=COLUMNS, orient="row").write_parquet(path)
    return path


def bad_shards(home: Path) -> dict[Path, str]:
    """Shards with one fault each, and what is said of them."""
    (candidate,), facts = proposed(0)
    record, one = candidate.model_dump_json(), candidate.candidate_id
    (path,) = [shard.path for shard in hand_in(home, [candidate], facts)]
    inbox = path.parent
    whole = path.read_bytes()
    path.unlink()
    found = {}
    for said, name, content in (
        ("cannot be read as Parquet", f"{'1' * 20}.parquet", whole[: len(whole) // 2]),
        ("cannot be read as Parquet", f"{'2' * 20}.parquet", b""),
        ("its rows are not the ones that it was named for", f"{'3' * 20}.parquet", whole),
        ("is no shard", "candidates.parquet", whole),
    ):
        (inbox / name).write_bytes(content)
        found[inbox / name] = said
    pl.DataFrame({"name": ["x"]}).write_parquet(inbox / f"{'4' * 20}.parquet")
    found[inbox / f"{'4' * 20}.parquet"] = "has the columns"
    for said, rows in {
        "row 0, candidate": [("candidate", "0" * 20, record)],
        "row 1, fact": [("candidate", one, record), ("fact", "0" * 20, "{}")],
        "stands there twice": [("candidate", one, record)] * 2,
        "neither a candidate nor a fact": [("rumour", "0" * 20, "{}")],
        "is of build b1, not b2": [("candidate", one, record)],
    }.items():
        found[written(home, rows, "b2" if "b2" in said else "b1")] = said
    return found


def test_a_bad_shard_is_put_aside_with_its_reason_and_kept(tmp_path: Path) -> None:
    bad = bad_shards(tmp_path)
    content = {path: path.read_bytes() for path in bad}
    good, facts = proposed(1)
    hand_in(tmp_path, good, facts)

    taken = take_in(tmp_path)
    for build in ("b1", "b2"):
        fold_build(tmp_path, build, REAL)

    assert taken.candidates == {"b1": 1}, "what is good is taken in beside them"
    reasons = {one.file: one.reason for one in taken.put_aside}
    assert set(reasons) == set(bad)
    assert [path for path, said in bad.items() if said not in reasons[path]] == []
    for one in taken.put_aside:
        assert one.kept_at.read_bytes() == content[one.file]
        assert one.kept_at.is_relative_to(tmp_path / "quarantine" / "inbox")
    with writer(tmp_path) as con:
        rows = fetch(con, "FROM quarantine").sort("path")
    assert rows.select("path", "reason", "size").rows() == sorted(
        (one.kept_at.relative_to(tmp_path).as_posix(), one.reason, len(content[one.file]))
        for one in taken.put_aside
    )
    assert set(rows.select("kept", "severity", "source").rows()) == {(0, "quarantined", "inbox")}
    assert waiting(tmp_path) == []


def test_the_log_alone_gives_the_same_again(tmp_path: Path) -> None:
    bad_shards(tmp_path)
    hand_in(tmp_path, *proposed(*range(8)))
    take_in(tmp_path)
    load_put_aside(tmp_path, "b2")
    fold_build(tmp_path, "b1", REAL)
    publish_snapshot(tmp_path, "b1", store_after(tmp_path, "b1"))
    before = tables(tmp_path)
    shutil.rmtree(tmp_path / "inbox")

    rebuild(tmp_path, REAL)

    for name, frame in tables(tmp_path).items():
        assert frame.equals(before[name]), name
    assert set(before["quarantine"]["build"]) == {"b1", "b2"}
    assert before["builds"]["build"].to_list() == all_builds(tmp_path) == ["b1"], "nothing was proposed in b2"


def test_a_build_that_names_no_folder_is_refused(tmp_path: Path) -> None:
    candidates, facts = proposed(0, build="../b1")

    with pytest.raises(ValueError, match="cannot name a folder"):
        hand_in(tmp_path, candidates, facts)

    assert list(tmp_path.rglob("*.parquet")) == []
