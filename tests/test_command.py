"""The `mineevolve` command as a person and a script use it."""

import json
import os
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner, Result

from pipeline.command import app
from tests.test_pipeline import recordings, run
from warehouse.snapshots import list_snapshots

RUNNER = CliRunner()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("command")
    run(root / "home", [recordings(root / "run")])
    return root / "home"


def call(home: Path, *arguments: str) -> Result:
    environment = {"MINEEVOLVE_DATA": str(home), "MINEEVOLVE_TRACES": "", "COLUMNS": "100"}
    os.environ.pop("MINEEVOLVE_TRACES", None)
    return RUNNER.invoke(app, list(arguments), env=environment)


@pytest.fixture(autouse=True)
def _keep_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MINEEVOLVE_TRACES", raising=False)


def entry(home: Path, kind: str) -> str:
    listed = call(
        home, "sql", f"SELECT entry_id FROM knowledge WHERE type = '{kind}'", "--output", str(home / "e.json")
    )
    assert listed.exit_code == 0, listed.output
    return str(json.loads((home / "e.json").read_text())[0]["entry_id"])


def test_run_shows_what_came_of_it(tmp_path: Path) -> None:
    result = call(tmp_path / "home", "run", "--traces", str(recordings(tmp_path / "run")))
    assert result.exit_code == 0, result.output
    for said in ("5 attempts", "1 files or records in quarantine", "MISSING_STATION", "Knowledge by build"):
        assert said in result.output


def test_ingest_judges_without_learning_and_strict_reports_quarantine(tmp_path: Path) -> None:
    folder = str(recordings(tmp_path / "run"))
    result = call(tmp_path / "home", "ingest", folder, "--strict")
    assert result.exit_code == 3
    assert list_snapshots(tmp_path / "home") == []
    assert call(tmp_path / "home", "sql", "FROM failure_mix").exit_code == 0


@pytest.mark.parametrize("command", ["run --traces", "ingest"])
def test_a_wrong_path_is_refused_before_anything_is_written(tmp_path: Path, command: str) -> None:
    result = call(tmp_path / "home", *command.split(), str(tmp_path / "nowhere"))
    assert result.exit_code == 2
    assert "does not exist; give the folder that holds the recordings" in " ".join(result.output.split())
    assert not (tmp_path / "home").exists()


def test_an_unknown_format_is_named_with_the_known_ones(tmp_path: Path) -> None:
    result = call(tmp_path / "home", "ingest", str(recordings(tmp_path / "run")), "--format", "voyagr")
    assert result.exit_code == 2
    assert "voyager" in result.output


@pytest.mark.parametrize(
    ("ending", "read"), [("csv", pl.read_csv), ("parquet", pl.read_parquet), ("json", pl.read_json)]
)
def test_sql_writes_files(home: Path, tmp_path: Path, ending: str, read) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / f"out.{ending}"
    result = call(home, "sql", "SELECT 1 AS one, 'x' AS two", "--output", str(path))
    assert result.exit_code == 0, result.output
    assert read(path).rows() == [(1, "x")]


def test_sql_errors_are_one_line_and_nothing_is_written(home: Path) -> None:
    result = call(home, "sql", "SELECT nonsense FROM failure_mix")
    assert result.exit_code == 1
    assert "nonsense" in result.output
    assert "Traceback" not in result.output
    assert call(home, "sql", "DROP VIEW failure_mix").exit_code == 1
    assert call(home, "sql", "FROM failure_mix").exit_code == 0


def test_sql_before_the_first_run_says_what_to_do(tmp_path: Path) -> None:
    result = call(tmp_path, "sql", "SELECT 1")
    assert result.exit_code == 2
    assert "mineevolve run" in result.output


def test_knowledge_can_be_listed_shown_and_explained(home: Path) -> None:
    remedy = entry(home, "remedy")
    assert remedy[:12] in call(home, "knowledge", "list", "--type", "remedy").output
    shown = call(home, "knowledge", "show", remedy[:8])
    assert "crafting_table" in shown.output
    explained = call(home, "knowledge", "explain", remedy)
    assert explained.exit_code == 0
    for said in ("decision", "candidate", "feedback", "ticks 0–40", "Craft_1_wooden_pickaxe_20240101_000000"):
        assert said in explained.output
    unknown = call(home, "knowledge", "show", "ffffffffff")
    assert unknown.exit_code == 2
    assert "mineevolve knowledge list" in " ".join(unknown.output.split())


def test_snapshots_can_be_listed_verified_and_compared(home: Path) -> None:
    (folder,) = list_snapshots(home)
    assert folder.name in call(home, "snapshot", "list").output
    assert call(home, "snapshot", "verify").exit_code == 0
    assert "0 entries differ" in call(home, "snapshot", "diff", folder.name, folder.name[:6]).output
    assert call(home, "snapshot", "verify", "zz").exit_code == 2


def test_a_damaged_snapshot_is_found(tmp_path: Path) -> None:
    run(tmp_path / "home", [recordings(tmp_path / "run")])
    (folder,) = list_snapshots(tmp_path / "home")
    shard = next(folder.glob("*.parquet"))
    shard.write_bytes(b"")
    result = call(tmp_path / "home", "snapshot", "verify")
    assert result.exit_code == 1
    assert "damaged" in result.output
    assert call(tmp_path / "home", "doctor").exit_code == 1


def test_doctor_and_rebuild(home: Path) -> None:
    before = call(home, "snapshot", "list").output
    assert call(home, "doctor").exit_code == 0
    (home / "warehouse.duckdb").write_bytes(b"not a database")
    assert call(home, "doctor").exit_code == 1
    rebuilt = call(home, "warehouse", "rebuild")
    assert rebuilt.exit_code == 0, rebuilt.output
    assert call(home, "snapshot", "list").output == before
    assert call(home, "doctor").exit_code == 0


def test_gc_removes_only_what_a_repeated_import_replaced(tmp_path: Path) -> None:
    folder = recordings(tmp_path / "run")
    home = tmp_path / "home"
    assert call(home, "ingest", str(folder)).exit_code == 0
    assert "0 shards" in call(home, "gc").output
    next((folder / "ckpt" / "events").glob("Craft_a_*")).unlink()
    assert call(home, "ingest", str(folder)).exit_code == 0
    before = list(home.glob("traces/*/*/*/*.parquet"))
    assert "could be removed" in call(home, "gc", "--dry-run").output
    assert list(home.glob("traces/*/*/*/*.parquet")) == before
    assert "0 shards" not in call(home, "gc").output
    assert call(home, "doctor").exit_code == 0


def test_monitor_score_exits_with_one_when_a_goal_is_missed(home: Path, tmp_path: Path) -> None:
    label = {
        "file": "Craft_1_wooden_pickaxe_20240101_000000",
        "success": False,
        "claimed": False,
        "failure_type": "MISSING_STATION",
    }
    labels = tmp_path / "labels.json"
    labels.write_text(json.dumps([label]))
    assert call(home, "monitor", "score", str(labels)).exit_code == 0
    labels.write_text(json.dumps([label | {"failure_type": "DEATH"}]))
    missed = call(home, "monitor", "score", str(labels))
    assert missed.exit_code == 1
    assert "Disagreements" in missed.output
    assert call(home, "monitor", "score", str(tmp_path / "none.json")).exit_code == 2


def test_tasks_lint_reports_a_wrong_oracle(tmp_path: Path) -> None:
    task = {
        "id": "wooden_00", "group": "wooden", "kind": "craft", "instruction": "Craft a wooden pickaxe",
        "horizon_ticks": 2400, "any_of": ["wooden_pickaxe"], "count": 1, "verifiable_by": "inventory",
    }  # fmt: skip
    suite = tmp_path / "suite.json"
    body = {"source": "test", "ticks_per_minute": 1200, "rule": "test"}
    suite.write_text(json.dumps(body | {"tasks": [task]}))
    good = call(tmp_path, "tasks", "lint", str(suite), "--all")
    assert good.exit_code == 0, good.output
    assert "1 of 1 oracles are exact" in good.output
    suite.write_text(json.dumps(body | {"tasks": [task | {"any_of": ["vibranium_pickaxe"]}]}))
    assert call(tmp_path, "tasks", "lint", str(suite)).exit_code in (1, 2)


@pytest.mark.parametrize(
    "command",
    ["", "run", "ingest", "sql", "doctor", "gc", "ui", "knowledge list", "knowledge show",
     "knowledge explain", "snapshot list", "snapshot verify", "snapshot diff", "tasks lint", "monitor score",
     "warehouse rebuild"],
)  # fmt: skip
def test_help_has_an_example(tmp_path: Path, command: str) -> None:
    result = call(tmp_path, *command.split(), "--help")
    assert result.exit_code == 0
    if command:
        assert f"mineevolve {command}" in " ".join(result.output.split())
        assert "Example" in result.output
