"""The warehouse as a fold: the same shards give the same knowledge, whatever the order of work."""

import multiprocessing
import os
import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from tests.good_cases import DOMAIN
from tests.test_log import remedy, skill
from tests.test_trace_store import make_feedback, make_traces, store_source
from warehouse import log
from warehouse.backtest import Backtest, backtests
from warehouse.build_evidence import Evidence, StaleFeedbackError
from warehouse.database import WAREHOUSE, fetch, writer
from warehouse.entries import Decision, Entry, Reason, Review, Support, TryOut, Usage
from warehouse.fold import (
    CurateBuild,
    all_builds,
    fold_build,
    rebuild,
    store_after,
)
from warehouse.ids import derive_id
from warehouse.knowledge import Candidate
from warehouse.records import TABLES, polars_schema
from warehouse.shards import DamagedShardError
from warehouse.snapshots import load_snapshot, publish_snapshot, snapshot_id_of
from warehouse.trace_store import trace_store

DERIVED = (
    "decisions",
    "backtests",
    "knowledge",
    "knowledge_versions",
    "knowledge_support",
    "builds",
    "snapshots",
)


@dataclass(frozen=True)
class Curated:
    store: dict[str, Entry]
    decisions: tuple[Decision, ...]
    backtests: tuple[Backtest, ...]


def curate(evidence: Evidence, store: Mapping[str, Entry]) -> Curated:
    """A small Curator for these tests: whatever cites known feedback is in, the same entry gains support."""
    known = dict(evidence.feedback.select("feedback_id", "episode_id").iter_rows())
    entries = dict(store)
    decisions = []
    for candidate in evidence.candidates:
        cited = [Support(feedback_id=one, episode_id=known[one]) for one in candidate.support if one in known]
        old = entries.get(candidate.entry_id)
        if cited:
            entries[candidate.entry_id] = _supported(candidate, cited, old, evidence.build)
        decisions.append(
            Decision(
                decision_id=derive_id("decision", [evidence.build, candidate.candidate_id]),
                build=evidence.build,
                candidate_id=candidate.candidate_id,
                entry_id=candidate.entry_id,
                verdict="accepted" if cited else "rejected",
                reasons=() if cited else (Reason(rule="unsupported", detail="no such feedback"),),
            )
        )
    for entry_id in sorted({use.entry_id for use in evidence.usage}):
        outcomes = [use.won for use in evidence.usage if use.entry_id == entry_id]
        weight = {"uses": len(outcomes), "wins": outcomes.count(True)}
        entries[entry_id] = entries[entry_id].model_copy(update=weight)
    accepted = {one.candidate_id for one in decisions if one.verdict == "accepted"}
    sound = {one.candidate_id: one for one in evidence.candidates if one.candidate_id in accepted}
    tested = backtests(sound, evidence.facts, DOMAIN, imported=evidence.only_imported)
    return Curated(entries, tuple(decisions), tuple(tested.values()))


def _supported(candidate: Candidate, cited: list[Support], old: Entry | None, build: str) -> Entry:
    support = tuple({*cited, *(old.support if old else ())})
    episodes = len({one.episode_id for one in support})
    return Entry(
        entry_id=candidate.entry_id,
        domain=candidate.domain,
        type=candidate.type,
        trigger=candidate.trigger,
        content=candidate.content,
        support=support,
        uses=old.uses if old else 0,
        wins=old.wins if old else 0,
        confidence=(1 + episodes) / (3 + episodes),
        first_build=old.first_build if old else build,
        last_build=build,
        version=old.version + 1 if old else 1,
    )


def attempted(build: str, attempt: int, count: int) -> list[tuple[str, str]]:
    """(feedback, episode) of one attempt of each of the first episodes of `make_traces(build, …)`."""
    rows = make_feedback(make_traces(build, count)).filter(attempt=attempt)
    return sorted(rows.select("feedback_id", "episode_id").iter_rows())


def cited(build: str, attempt: int, count: int) -> tuple[str, ...]:
    """The feedback of one attempt of each of those episodes."""
    return tuple(feedback for feedback, _ in attempted(build, attempt, count))


def make_home(home: Path) -> Path:
    """Two builds of synthetic traces, their feedback and their log: skills, remedies, one that has no
    evidence, and a use in the second build of what the first learned."""
    for build, episodes in (("b1", 20), ("b2", 6)):
        store_source(home, build, "voyage", make_traces(build, episodes))
        proposed = [
            skill(build, support=cited(build, 0, 3)),
            remedy(build, cited(build, 1, 2), request_id=build),
            skill(build, target="vibranium_pickaxe", support=("f" * 20,)),
        ]
        log.append(home, "candidates", build, log.candidate_rows(proposed))
    uses = [
        Usage(entry_id=skill("b1").entry_id, feedback_id=feedback, episode_id=episode, won=won)
        for (feedback, episode), won in zip(attempted("b2", 0, 2), (True, None), strict=True)
    ]
    log.append(home, "usage", "b2", log.usage_rows("b2", uses))
    log.append(home, "answers", "b1", answers("b1"))
    return home


def answers(build: str) -> pl.DataFrame:
    """One model answer of the log."""
    schema = log.KINDS["answers"].schema
    row = {name: "text" for name, dtype in schema.items() if dtype == pl.String}
    row |= {"build": build, "error": None, "error_detail": None, "tokens_in": 30, "tokens_out": None}
    return pl.DataFrame([row], schema=schema)


def tables(home: Path, *names: str) -> dict[str, pl.DataFrame]:
    """Whole tables of the warehouse, their rows in a fixed order."""
    with writer(home) as con:
        every = [name for (name,) in con.sql("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()]
        return {
            name: fetch(con, f"FROM {name} ORDER BY ALL") for name in names or every if name != "migrations"
        }


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return make_home(tmp_path)


def test_the_tables_are_the_columns_of_the_contract(tmp_path: Path) -> None:
    added = {"episodes": ["task_group", "source_name"], "quarantine": ["build", "task_group", "source_name"]}
    with writer(tmp_path) as con:
        for name in set(TABLES) - {"ticks"}:
            con.register("contract", pl.DataFrame(schema=polars_schema(name)))
            wanted = dict(con.sql("SELECT column_name, column_type FROM (DESCRIBE FROM contract)").fetchall())
            found = dict(con.sql(f"SELECT column_name, column_type FROM (DESCRIBE {name})").fetchall())
            texts = {column: _enums_as_text(kind) for column, kind in wanted.items()}
            assert found == texts | dict.fromkeys(added.get(name, []), "VARCHAR"), name


def _enums_as_text(kind: str) -> str:
    return re.sub(r"ENUM\([^)]*\)", "VARCHAR", kind)


def test_everything_on_the_disk_is_in_the_warehouse(home: Path) -> None:
    report = rebuild(home, curate)

    assert list(report.snapshot_ids) == all_builds(home) == ["b1", "b2"]
    stored = trace_store(home)
    for name in ("episodes", "attempts", "events", "sightings", "inventory_changes", "data_quality"):
        assert report.rows[name] == stored.scan(name).collect().height, name
    assert report.rows["feedback"] == report.rows["attempts"]
    assert report.rows["quarantine"] == 2
    assert report.rows["candidates"] == report.rows["decisions"] == 6
    assert report.rows["backtests"] == 4, "of what nothing stands behind there is none"
    assert report.rows["knowledge"] == 2, "the second build cites the same two entries again"
    assert report.rows["knowledge_usage"] == 2
    assert report.rows["model_calls"] == 1
    assert report.rows["evaluations"] == 0
    listed = tables(home, "shards")["shards"]
    assert all((home / file).exists() for file in listed["file"])


def test_a_build_is_back_tested_on_itself_and_on_those_before_it(home: Path) -> None:
    rebuild(home, curate)

    with writer(home) as con:
        found = fetch(
            con,
            "SELECT b.build, c.type, b.attempts, b.fired + b.quiet + b.unknown AS told, b.candidate_id "
            "FROM backtests AS b JOIN candidates AS c USING (candidate_id) ORDER BY b.build, c.type",
        )

    assert found["told"].to_list() == found["attempts"].to_list()
    asked = {(build, type_): attempts for build, type_, attempts, *_ in found.rows()}
    assert asked["b2", "skill"] > asked["b1", "skill"] > 0, found


def test_a_curator_that_tests_nothing_leaves_no_figures(home: Path) -> None:
    class Untested:
        def __init__(self, curated: Curated) -> None:
            self.store, self.decisions = curated.store, curated.decisions

    report = rebuild(home, lambda evidence, store: Untested(curate(evidence, store)))

    assert report.rows["backtests"] == 0
    assert report.rows["decisions"] == 6


def test_values_survive_the_way_into_the_warehouse(home: Path) -> None:
    rebuild(home, curate)

    stored = tables(home, "attempts", "feedback")

    for name, frame in stored.items():
        wanted = make_feedback(make_traces("b1", 20)) if name == "feedback" else make_traces("b1", 20)[name]
        ids = wanted["episode_id"].unique().to_list()
        found = frame.filter(pl.col("episode_id").is_in(ids)).sort("episode_id", "attempt")
        assert found.to_dicts() == wanted.to_dicts()


def test_folding_build_by_build_and_rebuilding_give_the_same(home: Path) -> None:
    reports = [fold_build(home, build, curate) for build in ("b1", "b2")]
    folded = tables(home)

    rebuilt = rebuild(home, curate)

    assert {**reports[0].snapshot_ids, **reports[1].snapshot_ids} == rebuilt.snapshot_ids
    assert reports[1].rows == rebuilt.rows
    for name, frame in tables(home).items():
        assert_frame_equal(frame, folded[name])


def test_the_order_in_which_builds_are_folded_does_not_matter(home: Path) -> None:
    fold_build(home, "b2", curate)
    fold_build(home, "b1", curate)
    folded = tables(home)

    rebuild(home, curate)

    for name, frame in tables(home).items():
        assert_frame_equal(frame, folded[name])


def test_folding_a_build_again_changes_nothing(home: Path) -> None:
    rebuild(home, curate)
    before = tables(home)

    fold_build(home, "b1", curate)

    for name, frame in tables(home).items():
        assert_frame_equal(frame, before[name])


def test_new_traces_of_a_build_replace_the_old_ones(home: Path) -> None:
    rebuild(home, curate)

    store_source(home, "b1", "voyage", make_traces("b1", 7))
    fold_build(home, "b1", curate)

    folded = tables(home)
    assert folded["episodes"].group_by("build").len().sort("build").rows() == [("b1", 7), ("b2", 6)]
    assert folded["attempts"].height == folded["feedback"].height == 3 * 13
    rebuild(home, curate)
    for name, frame in tables(home).items():
        assert_frame_equal(frame, folded[name])


def test_a_use_counts_only_while_its_episode_is_there(
    home: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Playing a build in another way replaces its episodes; the log keeps the uses of those before."""
    rebuild(home, curate)
    fresh = tmp_path_factory.mktemp("fresh")
    for kept in ("b1", "b2"):
        store_source(fresh, kept, "voyage", make_traces(kept, 20 if kept == "b1" else 3))
        rows = log.read(home, "candidates", [kept])
        log.append(fresh, "candidates", kept, rows)
    store_source(home, "b2", "voyage", make_traces("b2", 3))
    gone = {episode for _, episode in attempted("b2", 0, 6)} - {
        episode for _, episode in attempted("b2", 0, 3)
    }
    lost = [
        Usage(entry_id=skill("b1").entry_id, feedback_id=one, episode_id=one, won=False)
        for one in sorted(gone)
    ]
    log.append(home, "usage", "b2", log.usage_rows("b2", lost))
    log.append(
        fresh, "usage", "b2", log.read(home, "usage").filter(~pl.col("episode_id").is_in(sorted(gone)))
    )

    assert fold_build(home, "b2", curate).snapshot_ids["b2"] == rebuild(fresh, curate).snapshot_ids["b2"]

    assert_frame_equal(tables(home, "knowledge")["knowledge"], tables(fresh, "knowledge")["knowledge"])
    counted = tables(home, "knowledge_usage")["knowledge_usage"]
    assert set(counted["episode_id"]) & gone == set()
    assert counted.height == log.read(fresh, "usage").height < log.read(home, "usage").height
    folded = tables(home)
    rebuild(home, curate)
    for name, frame in tables(home).items():
        assert_frame_equal(frame, folded[name])


def test_a_try_out_counts_while_the_episode_of_its_situation_is_in_this_build_or_an_earlier_one(
    home: Path,
) -> None:
    """What is drawn from an earlier build's episode is tried out there, and said in the log of its own."""
    places = {"own": attempted("b2", 0, 1)[0][1], "earlier": attempted("b1", 0, 1)[0][1], "gone": "gone"}
    rows = [
        TryOut(
            entry_id="e", situation=name, episode_id=episode, world_seed=0, arm="with", success=True,
            lead=0, ticks=9,
        )
        for name, episode in places.items()
    ]  # fmt: skip
    log.append(home, "tryouts", "b2", log.tryout_rows("b2", rows))
    seen: dict[str, set[str]] = {}

    def watch(evidence: Evidence, store: Mapping[str, Entry]) -> Curated:
        seen[evidence.build] = {one.situation for one in evidence.tryouts}
        return curate(evidence, store)

    rebuild(home, watch)

    assert seen == {"b1": set(), "b2": {"own", "earlier"}}
    assert set(tables(home, "tryouts")["tryouts"]["situation"]) == seen["b2"]


def test_reviews_reach_curation_of_their_build_and_the_warehouse(home: Path) -> None:
    """They are written between two passes: folding the build again reads them, and so does a rebuild."""
    proposed = log.candidates_of(log.read(home, "candidates", ["b2"]))[0]
    verdict = Review(
        candidate_id=proposed.candidate_id,
        entry_id=proposed.entry_id,
        verdict="rejected",
        reason="no",
        request_id="r",
        model="m",
        template="curator_v1",
    )
    tried = TryOut(
        entry_id=proposed.entry_id,
        situation="s",
        episode_id=attempted("b2", 0, 1)[0][1],
        world_seed=2,
        arm="with",
        success=True,
        lead=0,
        ticks=9,
    )
    rebuild(home, curate)
    log.append(home, "reviews", "b2", log.review_rows("b2", [verdict]))
    log.append(home, "tryouts", "b2", log.tryout_rows("b2", [tried]))
    seen = {}

    def watch(evidence: Evidence, store: Mapping[str, Entry]) -> Curated:
        seen[evidence.build] = evidence.reviews
        return curate(evidence, store)

    report = fold_build(home, "b2", watch)

    assert seen == {"b2": (verdict,)}
    assert (report.rows["reviews"], report.rows["tryouts"]) == (1, 1)
    folded = tables(home)
    rebuild(home, watch)
    assert seen == {"b1": (), "b2": (verdict,)}
    for name, frame in tables(home).items():
        assert_frame_equal(frame, folded[name])


def test_the_store_after_each_build_is_kept(home: Path) -> None:
    report = rebuild(home, curate)

    first, second = store_after(home, "b1"), store_after(home, "b2")

    assert [entry.uses for entry in first] == [0, 0]
    assert sorted(entry.uses for entry in second) == [0, 2]
    assert {entry.entry_id: entry.support_episodes for entry in second} == {
        skill("b1").entry_id: 6,
        remedy("b1").entry_id: 4,
    }
    assert report.snapshot_ids == {"b1": snapshot_id_of(first), "b2": snapshot_id_of(second)}
    with pytest.raises(ValueError, match="build 'b3' is not in the warehouse"):
        store_after(home, "b3")


def test_the_store_is_handed_on_exactly(home: Path) -> None:
    """A confidence that came back rounded would look like a change, and give a new version in every build."""
    returned: dict[str, float] = {}
    handed_on: list[dict[str, float]] = []

    def watch(evidence: Evidence, store: Mapping[str, Entry]) -> Curated:
        handed_on.append({entry_id: entry.confidence for entry_id, entry in store.items()})
        made = curate(evidence, store)
        if evidence.build == "b1":
            returned.update({entry_id: entry.confidence for entry_id, entry in made.store.items()})
        return made

    fold_build(home, "b1", watch)
    fold_build(home, "b2", watch)
    rebuild(home, watch)

    assert 2 / 3 in returned.values()
    assert handed_on == [{}, returned, {}, returned]


def test_a_published_snapshot_outlives_its_build(home: Path) -> None:
    old_id = rebuild(home, curate).snapshot_ids["b1"]
    publish_snapshot(home, "b1", store_after(home, "b1"))
    log.append(
        home, "candidates", "b1", log.candidate_rows([skill("b1", target="torch", support=cited("b1", 0, 1))])
    )

    new_id = fold_build(home, "b1", curate).snapshot_ids["b1"]

    assert new_id != old_id
    assert load_snapshot(home / "snapshots" / old_id).snapshot_id == old_id
    folded = tables(home, "snapshots", "snapshot_entries", "builds")
    assert {old_id, new_id} <= set(folded["snapshots"]["snapshot_id"])
    assert old_id not in set(folded["builds"]["snapshot_id"])
    rebuild(home, curate)
    for name, frame in tables(home, *folded).items():
        assert_frame_equal(frame, folded[name])


def test_curation_sees_its_own_build_and_the_ones_before(home: Path) -> None:
    seen = {}

    def watch(evidence: Evidence, store: Mapping[str, Entry]) -> Curated:
        seen[evidence.build] = (
            sorted(evidence.episodes["build"].unique()),
            {one.build for one in evidence.candidates},
            len(evidence.usage),
            evidence.events.height > 0,
        )
        return curate(evidence, store)

    rebuild(home, watch)

    assert seen == {"b1": (["b1"], {"b1"}, 0, True), "b2": (["b1", "b2"], {"b2"}, 2, True)}


def test_a_damaged_snapshot_is_named_and_nothing_is_overwritten(home: Path) -> None:
    rebuild(home, curate)
    folder = publish_snapshot(home, "b1", store_after(home, "b1"))
    damaged = folder / "entries.parquet"
    damaged.write_bytes(damaged.read_bytes()[:-40])
    before = {path: path.read_bytes() for path in (damaged, folder / "manifest.json", home / WAREHOUSE)}

    for fold in (lambda: rebuild(home, curate), lambda: fold_build(home, "b2", curate)):
        with pytest.raises(DamagedShardError, match=r"entries\.parquet is damaged"):
            fold()

    assert {path: path.read_bytes() for path in before} == before


def test_a_damaged_trace_shard_leaves_the_warehouse_as_it_was(home: Path) -> None:
    rebuild(home, curate)
    before = (home / WAREHOUSE).read_bytes()
    (shard,) = next(trace_store(home).parts("events", ["b2"])).shards
    shard.path.write_bytes(shard.path.read_bytes()[:-20])

    with pytest.raises(DamagedShardError, match=f"{shard.path.name} is damaged"):
        rebuild(home, curate)

    assert (home / WAREHOUSE).read_bytes() == before
    assert not list(home.glob("*.tmp")) + list(home.glob(".*.tmp"))


def test_feedback_older_than_its_traces_is_refused(home: Path) -> None:
    trace_store(home).write_source("b1", "imported", "voyage", make_traces("b1", 3))

    with pytest.raises(StaleFeedbackError, match="make the feedback of that build again"):
        rebuild(home, curate)


def test_an_error_in_curation_leaves_the_warehouse_as_it_was(home: Path) -> None:
    fold_build(home, "b1", curate)
    before = tables(home)

    def fail(evidence: Evidence, store: Mapping[str, Entry]) -> Curated:
        raise RuntimeError("no opinion")

    with pytest.raises(RuntimeError, match="no opinion"):
        fold_build(home, "b2", fail)

    for name, frame in tables(home).items():
        assert_frame_equal(frame, before[name])


def _killed_in(home: Path, fold: str, when: str) -> None:
    """Folds with a Curator, or an insertion, that ends the process on the spot."""
    import warehouse.fold

    def die(*_: object) -> Curated:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    judge: CurateBuild = die if when == "curation" else curate
    if when == "writing":
        warehouse.fold._insert_snapshots = die  # type: ignore[assignment]
    if fold == "rebuild":
        rebuild(home, judge)
    else:
        fold_build(home, "b2", judge)


@pytest.mark.parametrize("fold", ["rebuild", "fold_build"])
@pytest.mark.parametrize("when", ["curation", "writing"])
def test_a_kill_leaves_the_old_state(home: Path, fold: str, when: str) -> None:
    fold_build(home, "b1", curate)
    before = tables(home)
    child = multiprocessing.get_context("spawn").Process(target=_killed_in, args=(home, fold, when))
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL

    for name, frame in tables(home).items():
        assert_frame_equal(frame, before[name])

    rebuild(home, curate)
    assert tables(home, "builds")["builds"].height == 2
    assert not list(home.glob(".*.tmp*")), "what the killed process left is cleared away"


def test_a_damaged_warehouse_is_rebuilt(home: Path) -> None:
    wanted = rebuild(home, curate)
    (home / WAREHOUSE).write_bytes((home / WAREHOUSE).read_bytes()[:9000])

    assert rebuild(home, curate) == wanted


def test_an_empty_home_has_an_empty_warehouse(tmp_path: Path) -> None:
    report = rebuild(tmp_path, curate)

    assert report.snapshot_ids == {}
    assert set(report.rows.values()) == {0}
