"""The published database: every view says what the recordings say, and reading it never meets a lock."""

import multiprocessing
import shutil
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path

import duckdb
import polars as pl
import pytest
from scipy.stats import binomtest

from tests.test_fold import Curated, cited, curate, make_home
from tests.test_log import remedy, skill
from tests.test_trace_store import episode_id, make_traces, store_source
from warehouse import log
from warehouse.analysis import ANALYSIS, VIEWS, NotPublishedError, publish, query, ticks_view_is_stale
from warehouse.build_evidence import Evidence
from warehouse.database import SQL, WAREHOUSE, DamagedDatabaseError, writer
from warehouse.entries import Entry
from warehouse.fold import fold_build, rebuild
from warehouse.trace_store import trace_store

SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data home of two builds, folded and published; read-only for the tests."""
    home = make_home(tmp_path_factory.mktemp("data"))
    rebuild(home, curate)
    publish(home)
    return home


def test_every_table_view_and_column_says_what_it_holds(published: Path) -> None:
    silent = query(
        published,
        """
        SELECT table_name, NULL AS column_name FROM duckdb_tables() WHERE comment IS NULL
        UNION ALL
        SELECT view_name, NULL FROM duckdb_views() WHERE NOT internal AND comment IS NULL
        UNION ALL
        SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal AND comment IS NULL
        """,
    )

    assert silent.rows() == []


def test_every_view_has_a_file_and_every_file_a_view(published: Path) -> None:
    found = query(published, "SELECT view_name FROM duckdb_views() WHERE NOT internal")["view_name"]

    assert set(found) == {*VIEWS, "ticks"}
    assert {path.stem for path in (SQL / "views").glob("*.sql")} == {*VIEWS, "ticks", "wilson"}


def test_the_interval_is_wilsons(published: Path) -> None:
    rows = query(
        published,
        "SELECT k, n, wilson_low(k, n) AS low, wilson_high(k, n) AS high "
        "FROM (SELECT unnest([0, 1, 25, 210, 7]) AS k, unnest([3, 1, 210, 210, 13]) AS n)",
    )

    for row in rows.iter_rows(named=True):
        wanted = binomtest(row["k"], row["n"]).proportion_ci(method="wilson")
        assert (row["low"], row["high"]) == pytest.approx((wanted.low, wanted.high), abs=1e-6)
    assert query(published, "SELECT wilson_low(0, 0) AS low").item() is None


def test_success_rates_leave_the_undecided_and_the_crashed_out_of_n(published: Path) -> None:
    rates = query(published, "SELECT * FROM success_rates WHERE level = 'target' ORDER BY target")

    figures = rates.select("target", "k", "n", "undecided", "infrastructure", "attempts").rows()
    # 26 episodes of three attempts; the third attempt of every fifth episode of a build crashed.
    assert figures == [("#logs", 0, 0, 21, 5, 26), ("oak_log", 0, 26, 0, 0, 26), ("stick", 26, 26, 0, 0, 26)]
    assert rates["rate"].to_list() == [None, 0.0, 1.0]
    assert rates["low"][0] is None
    every = query(published, "SELECT k, n, attempts FROM success_rates WHERE level = 'all'")
    assert every.rows() == [(26, 52, 78)]
    levels = query(published, "SELECT DISTINCT level FROM success_rates ORDER BY level")["level"].to_list()
    assert levels == [
        "all", "kind", "source", "source+kind", "source+target", "source+task", "target", "task",
    ]  # fmt: skip


def test_failure_mix_counts_first_and_further_causes(published: Path) -> None:
    mix = query(
        published, "SELECT kind, failure_type, attempts, of_attempts, share, as_cause FROM failure_mix"
    )

    assert mix.rows() == [
        ("mine", "MISSING_TOOL", 26, 31, pytest.approx(26 / 31), 26),
        ("mine", "INFRASTRUCTURE", 5, 31, pytest.approx(5 / 31), 0),
    ]


def test_hotspots_are_cells_and_subgoals(published: Path) -> None:
    spots = query(published, "FROM stagnation_hotspots")

    assert set(spots["target"]) == {"oak_log"}
    assert spots.select("cell_x", "cell_y", "cell_z", "region_x", "region_z").unique().sort(
        "cell_x"
    ).rows() == [
        (0, 64, -16, 0, -128),
        (16, 64, -16, 0, -128),
        (32, 64, -16, 0, -128),
    ]
    assert spots["stagnant"].sum() == 26
    assert spots["failure_type"].to_list() == ["MISSING_TOOL"] * 3
    assert spots["stagnant_ticks"].sum() == 26 * 4


def test_claims_stand_beside_the_evidence(published: Path) -> None:
    claims = query(
        published, "SELECT * FROM claims_vs_evidence WHERE episode_id = $1", [episode_id("b1", 0)]
    ).rows(named=True)

    made, boasted, unknown = claims
    assert made["verdict"] == "labelled failed against evidence"
    assert boasted["verdict"] == "claimed without evidence"
    assert (unknown["verdict"], unknown["held_before"]) == ("undecided", None), "a tag is no item's name"
    assert (made["held_before"], made["held_after"], made["gained"], made["needed"]) == (0, 4, 4, 4)
    assert made["inventory_change"] == "+4 stick"
    assert made["message"] is None
    assert (boasted["gained"], boasted["held_after"]) == (0, 0)
    assert boasted["message"] == "Got 3 oak logs!"
    assert boasted["inventory_change"] is None
    assert boasted["file"] == "000_1.json"


def test_remedy_triggers_say_why_and_what_came_of_it(published: Path) -> None:
    due = query(published, "FROM remedy_triggers")

    assert due.height == 26
    assert set(due["trigger"]) == {"stagnation"}
    assert due["short_of"].to_list() == [["wooden_axe"]] * 26
    assert due.filter(pl.col("candidates") > 0)["active_entries"].to_list() == [1] * 4


def test_lineage_leads_from_an_entry_to_the_words_in_the_recording(published: Path) -> None:
    lineage = query(
        published,
        "SELECT * FROM knowledge_lineage WHERE entry_id = $1 AND build = 'b1'",
        [remedy("b1").entry_id],
    ).rows(named=True)

    assert {one["feedback_id"] for one in lineage} == set(cited("b1", 1, 2))
    first = lineage[0]
    assert (first["type"], first["target"], first["failure_type"]) == ("remedy", "oak_log", "MISSING_TOOL")
    assert first["decided_in"] == "b1"
    assert first["candidate_id"] == remedy("b1", cited("b1", 1, 2), request_id="b1").candidate_id
    assert first["engine"] == "rules"
    assert (first["attempt"], first["start_tick"], first["end_tick"]) == (1, 5, 9)
    assert (first["evidence_tick"], first["evidence_seq"]) == (8, 8)
    assert first["evidence_text"] == "No axe of wood or better", "the words come from the event"
    assert first["file"].endswith("_1.json")


def test_lineage_of_a_success_leads_to_the_end_of_the_attempt(published: Path) -> None:
    lineage = query(published, "SELECT * FROM knowledge_lineage WHERE entry_id = $1", [skill("b1").entry_id])

    assert lineage.height == 6
    assert lineage["evidence_tick"].to_list() == [4] * 6
    assert sorted(lineage["decided_in"]) == ["b1"] * 3 + ["b2"] * 3


def test_growth_is_counted_build_by_build(published: Path) -> None:
    growth = query(published, "SELECT * EXCLUDE (mean_confidence, snapshot_id) FROM knowledge_growth")

    assert growth.rows() == [("b1", 3, 2, 1, 0, 2, 0, 0), ("b2", 3, 2, 1, 0, 2, 0, 0)]


def test_quarantine_counts_the_records_of_a_file_once(tmp_path: Path) -> None:
    traces = make_traces("b1", 1)
    second = traces["quarantine"].with_columns(position=pl.lit(30, dtype=pl.Int64))
    traces["quarantine"] = pl.concat([traces["quarantine"], second])
    store_source(tmp_path, "b1", "voyage", traces)
    rebuild(tmp_path, curate)
    publish(tmp_path)

    summary = query(tmp_path, "FROM quarantine_summary").row(0, named=True)

    assert (summary["files"], summary["places"], summary["kept"], summary["bytes"]) == (1, 2, 3, 40)
    assert (summary["source"], summary["format"], summary["example"]) == (
        "voyage",
        "synthetic",
        "broken.json",
    )


def test_findings_come_with_their_place(published: Path) -> None:
    finding = query(published, "SELECT * FROM data_quality_findings WHERE build = 'b1'").row(0, named=True)

    assert finding["finding"] == "result_vanished"
    assert (finding["file"], finding["subgoal"], finding["tick"]) == ("000_1.json", "mine 3 oak_log", 5)


def test_ticks_are_the_rows_of_the_manifests(published: Path) -> None:
    stored = trace_store(published).scan("ticks").collect()

    assert query(published, "SELECT count(*) FROM ticks").item() == stored.height
    columns = query(published, "FROM ticks LIMIT 0").columns
    assert columns == stored.columns


def test_a_home_without_anything_can_be_asked_everything(tmp_path: Path) -> None:
    rebuild(tmp_path, curate)
    publish(tmp_path)

    for name in (*VIEWS, "ticks"):
        assert query(tmp_path, f"FROM {name}").is_empty(), name
    assert not ticks_view_is_stale(tmp_path)


def test_what_is_not_published_is_said(tmp_path: Path) -> None:
    assert ticks_view_is_stale(tmp_path)
    with pytest.raises(NotPublishedError, match="`mineevolve run`"):
        query(tmp_path, "FROM success_rates")


def test_reading_needs_neither_the_writers_file_nor_its_lock(published: Path, tmp_path: Path) -> None:
    home = shutil.copytree(published, tmp_path / "data")
    with writer(home):
        assert query(home, "SELECT k FROM success_rates WHERE level = 'all'").item() == 26
    (home / WAREHOUSE).unlink()
    assert query(home, "SELECT k FROM success_rates WHERE level = 'all'").item() == 26
    with pytest.raises(duckdb.InvalidInputException, match="read-only"):
        query(home, "DELETE FROM episodes")


def test_a_moved_home_is_noticed_and_published_again(published: Path, tmp_path: Path) -> None:
    first = shutil.copytree(published, tmp_path / "o'ne")
    publish(first)
    assert not ticks_view_is_stale(first)
    home = first.rename(tmp_path / "two")
    assert ticks_view_is_stale(home)
    with pytest.raises(NotPublishedError, match="mineevolve doctor"):
        query(home, "SELECT count(*) FROM ticks")

    publish(home)

    assert not ticks_view_is_stale(home)
    assert query(home, "SELECT count(*) FROM ticks").item() == 26 * 15


def test_a_failed_publication_leaves_the_old_one(published: Path, tmp_path: Path) -> None:
    home = shutil.copytree(published, tmp_path / "data")
    before = (home / ANALYSIS).read_bytes()
    (home / WAREHOUSE).write_bytes(b"broken" * 1000)

    with pytest.raises(DamagedDatabaseError):
        publish(home)

    assert (home / ANALYSIS).read_bytes() == before
    assert not list(home.glob(".*.tmp*"))


def _read_ticks(home: Path, line: Connection) -> None:
    """An analyst: opens the database, reads some ticks, waits, reads on, then reads all again."""
    with duckdb.connect(home / ANALYSIS, read_only=True) as con:
        cursor = con.execute("SELECT tick FROM ticks")
        read = len(cursor.fetchmany(10))
        line.send("reading")
        line.recv()
        while rows := cursor.fetchmany(10_000):
            read += len(rows)
        line.send((read, con.sql("SELECT count(*) FROM ticks").fetchall()[0][0]))


def test_an_analysts_query_survives_a_rebuild_of_its_partition(tmp_path: Path) -> None:
    store_source(tmp_path, "b1", "voyage", make_traces("b1", 40, ticks=400))
    rebuild(tmp_path, curate)
    publish(tmp_path)
    ours, theirs = SPAWN.Pipe()
    analyst = SPAWN.Process(target=_read_ticks, args=(tmp_path, theirs))
    analyst.start()
    assert ours.recv() == "reading"

    store_source(tmp_path, "b1", "voyage", make_traces("b1", 3, ticks=2))
    fold_build(tmp_path, "b1", curate)
    assert ticks_view_is_stale(tmp_path)
    publish(tmp_path)

    ours.send("go on")
    assert ours.recv() == (40 * 3 * 400, 40 * 3 * 400)
    analyst.join()
    assert analyst.exitcode == 0
    assert query(tmp_path, "SELECT count(*) FROM ticks").item() == 3 * 3 * 2


def test_lineage_of_a_merge_leads_to_the_candidates_of_all_that_went_into_it(tmp_path: Path) -> None:
    store_source(tmp_path, "b1", "voyage", make_traces("b1", 4))
    first = skill("b1", target="torch", support=cited("b1", 0, 1))
    second = skill("b1", target="bowl", support=cited("b1", 0, 2))
    log.append(tmp_path, "candidates", "b1", log.candidate_rows([first, second]))

    def merging(evidence: Evidence, store: Mapping[str, Entry]) -> Curated:
        """Makes one entry of the two, under an id of its own."""
        curated = curate(evidence, store)
        parts, decisions = curated.store, curated.decisions
        whole = skill("b1", target="ladder").entry_id
        merged = parts[second.entry_id].model_copy(
            update={"entry_id": whole, "merged_from": tuple(sorted(parts))}
        )
        gone = {"status": "merged", "merged_into": whole}
        return Curated(
            {whole: merged} | {one: part.model_copy(update=gone) for one, part in parts.items()},
            tuple(one.model_copy(update={"merged_into": whole}) for one in decisions),
            curated.backtests,
        )

    rebuild(tmp_path, merging)
    publish(tmp_path)

    lineage = query(tmp_path, "FROM knowledge_lineage WHERE status = 'active'")
    assert set(lineage["candidate_id"]) == {first.candidate_id, second.candidate_id}
    assert lineage.select("candidate_id", "feedback_id").is_unique().all()
    assert query(tmp_path, "SELECT merged, active FROM knowledge_growth").rows() == [(2, 1)]
    tested = query(tmp_path, "SELECT entry_id, stands_in, status FROM candidate_backtests ORDER BY entry_id")
    whole = skill("b1", target="ladder").entry_id
    assert tested.rows() == [(one, whole, "active") for one in sorted((first.entry_id, second.entry_id))]
