"""Tables of the trace contract, whole and damaged."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rollouts.ingest import native
from rollouts.ingest.native import NativeImporter
from rollouts.ingest.protocol import quarantined
from rollouts.sample import write_sample
from tests.tick_files import Tables, read_checked
from warehouse.domains import Domain
from warehouse.records import TABLES, TRACE_TABLES, from_rows
from warehouse.trace_store import trace_store

IMPORTER = NativeImporter()


def load(folder: Path, domain: Domain) -> Tables:
    return read_checked(IMPORTER, folder, domain)


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    return write_sample(tmp_path / "sample")


def told(tables: dict[str, pl.DataFrame]) -> list[tuple[str, str]]:
    return tables["quarantine"].select("path", "reason").rows()


def change(folder: Path, table: str, frame: pl.DataFrame | None = None) -> pl.DataFrame:
    path = folder / f"{table}.parquet"
    if frame is not None:
        frame.write_parquet(path)
    return pl.read_parquet(path)


def test_whole_tables_come_back_as_they_are(sample: Path, minecraft: Domain) -> None:
    assert IMPORTER.recognises(sample)
    tables = load(sample, minecraft)
    assert tables["quarantine"].is_empty()
    for table in TRACE_TABLES:
        there = change(sample, table)
        if table == "episodes":
            there = there.with_columns(build=pl.lit("b1"))
        assert tables[table].sort(TABLES[table].sort_by).equals(there), table


def test_a_table_may_be_a_folder_of_shards_beside_a_manifest(sample: Path, minecraft: Domain) -> None:
    ticks = change(sample, "ticks")
    (sample / "ticks.parquet").unlink()
    (sample / "ticks").mkdir()
    ticks.head(2000).write_parquet(sample / "ticks" / "b[1].parquet")
    ticks.slice(2000).write_parquet(sample / "ticks" / "a.parquet")
    (sample / "manifest.json").write_text("{}")
    tables = load(sample, minecraft)
    assert tables["ticks"].height == ticks.height
    assert tables["quarantine"]["severity"].to_list() == ["ignored"]


def test_a_row_that_breaks_a_rule_is_told_with_the_rule(sample: Path, minecraft: Domain) -> None:
    events = change(sample, "events")
    row = events.head(1)
    bad = [
        row.with_columns(kind=pl.lit("shout"), attempt=pl.lit(7, pl.Int32)),
        row.with_columns(tick=pl.lit(-4, pl.Int32), seq=pl.lit(99, pl.Int32)),
    ]
    texts = [frame.with_columns(pl.col("kind", "signal").cast(pl.String)) for frame in (events, *bad)]
    change(sample, "events", pl.concat(texts))
    tables = load(sample, minecraft)
    assert tables["events"].height == events.height
    assert told(tables) == [
        ("events.parquet", f"row {events.height} breaks the rule kind|dtype"),
        ("events.parquet", f"row {events.height + 1} breaks the rule tick|min"),
    ]
    assert tables["quarantine"]["position"].to_list() == [events.height, events.height + 1]
    assert tables["quarantine"]["kept"].to_list() == [events.height] * 2


def test_of_two_rows_with_one_key_the_first_stays(sample: Path, minecraft: Domain) -> None:
    attempts = change(sample, "attempts")
    change(sample, "attempts", pl.concat([attempts, attempts.head(1)]))
    tables = load(sample, minecraft)
    assert tables["attempts"].height == attempts.height
    assert told(tables) == [("attempts.parquet", f"row {attempts.height} breaks the rule primary_key")]


def test_a_second_copy_of_a_shard_adds_nothing(sample: Path, minecraft: Domain) -> None:
    (sample / "episodes").mkdir()
    (sample / "episodes" / "copy.parquet").write_bytes((sample / "episodes.parquet").read_bytes())
    tables = load(sample, minecraft)
    assert tables["episodes"].height == change(sample, "episodes").height
    assert told(tables)[0][0] == "episodes/copy.parquet"


def test_rows_without_their_episode_or_attempt_are_told(sample: Path, minecraft: Domain) -> None:
    episodes, attempts = change(sample, "episodes"), change(sample, "attempts")
    gone = episodes["episode_id"][0]
    change(sample, "episodes", episodes.slice(1))
    tables = load(sample, minecraft)
    assert gone not in tables["attempts"]["episode_id"]
    assert gone not in tables["ticks"]["episode_id"]
    lost = attempts.filter(pl.col("episode_id") == gone).height
    words = dict(told(tables))
    assert words["attempts.parquet"].startswith(f"{lost} rows, the first of them row 0")
    assert words["attempts.parquet"].endswith("its episode is missing")
    assert words["ticks.parquet"].endswith("its attempt is missing")


def test_columns_that_may_be_absent_become_null_and_others_are_required(
    sample: Path, minecraft: Domain
) -> None:
    change(
        sample, "attempts", change(sample, "attempts").drop("label", "checks").with_columns(mood=pl.lit(1))
    )
    change(sample, "ticks", change(sample, "ticks").drop("tick"))
    tables = load(sample, minecraft)
    assert tables["attempts"]["label"].null_count() == tables["attempts"].height
    assert tables["ticks"].is_empty()
    assert told(tables) == [
        ("attempts.parquet", "columns that the contract does not know, left out: mood"),
        ("ticks.parquet", "without the required column tick"),
    ]


def test_a_column_of_another_type_is_told_and_a_narrower_one_is_read(sample: Path, minecraft: Domain) -> None:
    change(sample, "sightings", change(sample, "sightings").with_columns(tick=pl.lit([1, 2])))
    change(sample, "ticks", change(sample, "ticks").with_columns(pl.col("x", "y", "z").cast(pl.Float64)))
    tables = load(sample, minecraft)
    assert tables["sightings"].is_empty()
    assert tables["ticks"].height
    assert told(tables)[0][1].startswith("a column is of another type")


@pytest.mark.parametrize("content", [b"", b"PAR1", b"not parquet at all"])
def test_a_file_that_is_no_parquet_is_told_and_the_rest_is_kept(
    sample: Path, minecraft: Domain, content: bytes
) -> None:
    (sample / "events.parquet").write_bytes(content)
    tables = load(sample, minecraft)
    assert tables["events"].is_empty()
    assert tables["attempts"].height
    assert [path for path, _ in told(tables)] == ["events.parquet"]


def test_a_truncated_file_is_told(sample: Path, minecraft: Domain) -> None:
    whole = (sample / "ticks.parquet").read_bytes()
    (sample / "ticks.parquet").write_bytes(whole[: len(whole) // 2])
    assert told(load(sample, minecraft))[0][1].startswith("not readable as Parquet")


def test_only_tables_of_the_contract_are_recognised(tmp_path: Path) -> None:
    assert not IMPORTER.recognises(tmp_path)
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "episodes.parquet")
    assert not IMPORTER.recognises(tmp_path)
    (tmp_path / "episodes.parquet").write_bytes(b"PAR1")
    assert not IMPORTER.recognises(tmp_path)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_bytes_make_the_importer_raise(sample: Path, minecraft: Domain, data: st.DataObject) -> None:
    whole = write_sample(sample)
    path = whole / f"{data.draw(st.sampled_from(TRACE_TABLES))}.parquet"
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(0, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    IMPORTER.recognises(whole)
    load(whole, minecraft)


def test_our_own_store_comes_back_whole(sample: Path, tmp_path: Path, minecraft: Domain) -> None:
    frames = load(sample, minecraft)
    episode = frames["episodes"]["episode_id"][0]
    finding = {
        "episode_id": episode,
        "attempt": 0,
        "tick": 1,
        "finding": "time_backwards",
        "detail": "the clock of the source, which is not stored",
    }
    aside = quarantined("p.jsonl", "vpt", "truncated JSON", position=17, kept=3, size=40)
    frames["data_quality"] = from_rows("data_quality", [finding])
    frames["quarantine"] = from_rows("quarantine", [aside])
    store = trace_store(tmp_path / "home")
    folder = store.root / "b1" / "imported"
    store.write_source("b1", "imported", "sample", frames)
    again = load(folder, minecraft)
    for table in TRACE_TABLES:
        assert again[table].equals(frames[table]), table
    assert again["data_quality"].equals(frames["data_quality"])
    kept = again["quarantine"].filter(severity="quarantined")
    assert kept.equals(frames["quarantine"])
    ignored = again["quarantine"].filter(severity="ignored")["path"].to_list()
    assert ignored == [".manifest.json.lock", "manifest.json"]


def test_a_shard_that_the_manifest_no_longer_lists_is_outdated(
    sample: Path, tmp_path: Path, minecraft: Domain
) -> None:
    frames = load(sample, minecraft)
    store = trace_store(tmp_path / "home")
    folder = store.root / "b1" / "imported"
    store.write_source("b1", "imported", "sample", frames)
    words = frames["attempts"].with_columns(condition=pl.lit("said anew"))
    store.write_source("b1", "imported", "sample", {**frames, "attempts": words})
    again = load(folder, minecraft)
    assert again["attempts"]["condition"].unique().to_list() == ["said anew"]
    rows = again["quarantine"].filter(pl.col("path").str.starts_with("attempts/")).rows(named=True)
    assert [(row["severity"], row["reason"]) for row in rows] == [
        ("ignored", "a shard that the manifest no longer lists")
    ]
    (folder / "manifest.json").write_text('{"sources": ')
    assert any("not valid JSON" in reason for _, reason in told(load(folder, minecraft)))


def test_contradictions_are_looked_for_here_too(sample: Path, minecraft: Domain) -> None:
    assert load(sample, minecraft)["data_quality"].is_empty()
    episodes = change(sample, "episodes")
    change(sample, "episodes", episodes.with_columns(n_ticks=pl.lit(3, pl.Int32)))
    findings = load(sample, minecraft)["data_quality"]
    assert findings["finding"].unique().to_list() == ["runs_on_after_end"]
    assert findings.height == episodes.height


def test_a_table_of_more_values_than_any_shard_is_refused_before_it_is_unpacked(
    sample: Path, minecraft: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = load(sample, minecraft)
    equal = change(sample, "ticks").head(1).with_columns(action=pl.lit("noop"))
    change(sample, "ticks", pl.concat([equal] * 20_000))
    assert (sample / "ticks.parquet").stat().st_size < 100_000
    monkeypatch.setattr(native, "LARGEST_TABLE", 15_000)

    tables = load(sample, minecraft)

    assert told(tables)[0][1].startswith("20000 rows or values in one table, more than 15000")
    assert tables["ticks"].is_empty()
    assert tables["attempts"].height == whole["attempts"].height


def test_so_is_one_of_few_rows_with_endless_lists(
    sample: Path, minecraft: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    episodes = change(sample, "episodes")
    endless = pl.lit(["inventory"] * 20_000, episodes["observes"].dtype)
    change(sample, "episodes", episodes.with_columns(observes=endless))
    monkeypatch.setattr(native, "LARGEST_TABLE", 15_000)
    reasons = [reason for path, reason in told(load(sample, minecraft)) if path == "episodes.parquet"]
    assert len(reasons) == 1
    assert "rows or values in one table, more than 15000" in reasons[0]
