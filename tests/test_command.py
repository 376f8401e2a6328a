"""The `mineevolve` command as a person and a script use it."""

import ast
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner, Result

from pipeline.command import app
from rollouts.backends import InProcess, stage_kit
from rollouts.monitor import monitor
from rollouts.recorder import Batch
from rollouts.rounds import roll_out
from rollouts.trace import Trace
from tests.fake_world import crew, spec, subgoal, task
from tests.test_pipeline import recordings, run
from tests.voyager_files import event, write_run
from warehouse import log
from warehouse.analysis import ANALYSIS, query
from warehouse.domains import Domain
from warehouse.entries import Review
from warehouse.knowledge import Check
from warehouse.records import TRACE_TABLES
from warehouse.snapshots import list_snapshots, published_snapshot
from warehouse.trace_store import ShardStore, feedback_store, trace_store

RUNNER = CliRunner()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("command")
    run(root / "home", [recordings(root / "run")])
    return root / "home"


def call(home: Path, *arguments: str, typed: str = "", **environment: str) -> Result:
    # No test here needs the recorded traces: the folder of the others must not matter to any command.
    settings = {"MINEEVOLVE_DATA": str(home), "MINEEVOLVE_TRACES": "/nowhere/at all", "COLUMNS": "100"}
    return RUNNER.invoke(app, list(arguments), env=settings | environment, input=typed)


def words(result: Result) -> str:
    return " ".join(result.output.split())


def pig(root: Path) -> Path:
    """A second source of recordings, with one episode."""
    return write_run(root, {"Kill_1_pig._20240101_000000": [event("observe", 40)]})


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


def test_run_without_traces_takes_the_sample_and_then_what_the_build_has(tmp_path: Path) -> None:
    first = call(tmp_path / "home", "run")
    assert first.exit_code == 0, first.output
    assert "sample that ships with the project" in words(first)
    again = call(tmp_path / "home", "run")
    assert "build 0000 learns again from what it has, sample" in words(again)


def test_an_expected_failure_is_one_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = recordings(tmp_path / "run")
    assert call(tmp_path / "home", "ingest", str(folder)).exit_code == 0
    capfd.readouterr()
    shutil.copytree(folder, tmp_path / "copy")
    result = call(tmp_path / "home", "ingest", str(tmp_path / "copy"), "--build", "0001")
    assert result.exit_code == 1
    assert len(result.output.splitlines()) == 1, result.output
    assert "`mineevolve drop run --build 0000`" in result.output
    assert "warehouse." not in result.output, "a person wants the message, not the class"
    assert capfd.readouterr().err == ""


def test_a_defect_keeps_its_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ShardStore, "write_source", lambda *_: 1 // 0)
    result = call(tmp_path / "home", "ingest", str(recordings(tmp_path / "run")))
    assert result.exit_code == 1
    assert "in imported_trajectories\n" in result.output
    assert result.output.endswith("ZeroDivisionError: integer division or modulo by zero\n")


@pytest.mark.parametrize("manifest", ["{", "[]", "{}", '{"sources": {"run": {"ticks": [{}]}}}'])
def test_a_damaged_manifest_is_named(tmp_path: Path, manifest: str) -> None:
    folder = str(recordings(tmp_path / "run"))
    path = tmp_path / "home" / "traces" / "0000" / "imported" / "manifest.json"
    path.parent.mkdir(parents=True)
    path.write_text(manifest)
    for command in (["ingest", folder], ["run"], ["doctor"], ["gc"], ["monitor", "score", folder]):
        result = call(tmp_path / "home", *command)
        assert result.exit_code in (1, 2)
        if command[0] != "monitor":
            assert str(path) in result.output
        assert not isinstance(result.exception, Exception), result.exception


@pytest.mark.parametrize("build", ["../x", "", ".hidden", "a b", "a/b"])
@pytest.mark.parametrize("command", ["run", "ingest run", "drop run", "monitor score labels.json"])
def test_a_build_that_cannot_name_a_folder_is_refused_at_once(
    tmp_path: Path, command: str, build: str
) -> None:
    result = call(tmp_path / "home", *command.split(), "--build", build)
    assert result.exit_code == 2
    assert "cannot name a build" in words(result)
    assert not (tmp_path / "home").exists()


def test_so_is_one_from_the_environment(tmp_path: Path) -> None:
    result = call(tmp_path / "home", "run", MINEEVOLVE_BUILD="../x")
    assert result.exit_code == 2
    assert "MINEEVOLVE_BUILD is '../x'" in result.output


def test_a_dropped_source_no_longer_counts(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", recordings(tmp_path / "run")
    both = call(home, "run", "--traces", str(folder), "--traces", str(pig(tmp_path / "pig")))
    assert both.exit_code == 0, both.output
    assert query(home, "FROM knowledge WHERE status = 'active'").height > 0

    assert call(home, "drop", "run", typed="n\n").exit_code == 1
    assert trace_store(home).sources("0000") == [("imported", "pig"), ("imported", "run")]
    dropped = call(home, "drop", "run", "--yes")
    assert dropped.exit_code == 0, dropped.output
    assert "episodes: 4, attempts: 5" in dropped.output
    assert "mineevolve run --build 0000" in dropped.output
    assert feedback_store(home).scan("feedback").collect().height == 1

    assert call(home, "run").exit_code == 0
    assert query(home, "FROM knowledge WHERE status = 'active'").is_empty()
    assert query(home, "FROM attempts").height == 1
    # The same episodes may now belong to another build.
    assert call(home, "ingest", str(folder), "--build", "0001").exit_code == 0


def test_the_last_source_of_a_build_can_be_dropped(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert call(home, "run", "--traces", str(recordings(tmp_path / "run"))).exit_code == 0
    dropped = call(home, "drop", "run", typed="y\n")
    assert "`mineevolve warehouse rebuild`" in dropped.output, "`run` would import the sample"
    assert call(home, "warehouse", "rebuild").exit_code == 0
    assert query(home, "FROM knowledge WHERE status = 'active'").is_empty()
    assert call(home, "doctor").exit_code == 0


def test_what_cannot_be_dropped_is_said_with_what_there_is(home: Path) -> None:
    for more in ([], ["--build", "0009"], ["--group", "wooden"]):
        result = call(home, "drop", "nothing" if not more else "run", "--yes", *more)
        assert result.exit_code == 2
        assert "has no source" in result.output
    assert "it has run (group imported)" in call(home, "drop", "nothing").output


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


def test_two_folders_of_one_name_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    folders = [str(recordings(tmp_path / parent / "logs")) for parent in ("a", "b")]
    result = call(tmp_path / "home", "ingest", *folders)
    assert result.exit_code == 2
    assert "logs" in result.output
    assert not (tmp_path / "home").exists()


def test_an_unknown_format_is_named_with_the_known_ones(tmp_path: Path) -> None:
    result = call(tmp_path / "home", "ingest", str(recordings(tmp_path / "run")), "--format", "voyagr")
    assert result.exit_code == 2
    assert "voyager" in result.output


def test_knowledge_can_be_listed_shown_and_explained(home: Path) -> None:
    remedy = entry(home, "remedy")
    assert remedy[:12] in call(home, "knowledge", "list", "--type", "remedy").output
    shown = call(home, "knowledge", "show", remedy[:8])
    assert "crafting_table" in shown.output
    assert "Back-test: its conditions before attempts of other episodes" in shown.output
    listed = words(call(home, "knowledge", "backtests"))
    assert remedy[:8] in listed.partition("Rejected: 0 candidates")[0]
    assert "undecided, fired on" in listed
    explained = call(home, "knowledge", "explain", remedy)
    assert explained.exit_code == 0
    for said in ("decision", "candidate", "feedback", "ticks 0–40", "Craft_1_wooden_pickaxe_20240101_000000"):
        assert said in explained.output
    for said in ("never used in training", "holds where", "States"):
        assert said in explained.output
    page = home / "entry.html"
    assert call(home, "knowledge", "explain", remedy, "--html", str(page)).exit_code == 0
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert "is a folder" in words(call(home, "knowledge", "explain", remedy, "--html", str(home)))
    unknown = call(home, "knowledge", "show", "ffffffffff")
    assert unknown.exit_code == 2
    assert "mineevolve knowledge list" in " ".join(unknown.output.split())


def test_a_proposal_that_a_reviewer_refused_is_shown_with_the_reason(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home, tmp_path / "home")
    [proposed, *_] = log.candidates_of(log.read(home, "candidates"))
    verdict = Review(
        candidate_id=proposed.candidate_id,
        entry_id=proposed.entry_id,
        verdict="rejected",
        reason="it would not [b]help[/b]",
        request_id="r",
        model="reviewer",
        template="curator_v1",
    )
    log.append(tmp_path / "home", "reviews", "0000", log.review_rows("0000", [verdict]))
    assert call(tmp_path / "home", "warehouse", "rebuild").exit_code == 0
    for named in (proposed.entry_id[:8], proposed.candidate_id):
        shown = call(tmp_path / "home", "knowledge", "show", named)
        assert shown.exit_code == 0, shown.output
        assert f"{proposed.type} {proposed.entry_id} (rejected)" in words(shown)
        assert "review: reviewer: it would not [b]help[/b]" in words(shown)
        assert "craft wooden_pickaxe" in words(shown)
        assert "back-test: undecided, fired on 0 in 0 episodes" in words(shown)
    listed = words(call(tmp_path / "home", "knowledge", "backtests"))
    accepted, _, rejected = listed.partition("Rejected: 1 candidates")
    assert proposed.candidate_id[:8] in rejected
    assert "it would not" in rejected
    assert "[b]help[/b]" in rejected
    assert proposed.entry_id[:8] not in accepted


def test_snapshots_can_be_listed_verified_and_compared(home: Path) -> None:
    folder, other = (
        home / "snapshots" / str(published_snapshot(home, "0000", each)) for each in (True, False)
    )
    assert list_snapshots(home) == sorted([folder, other])
    lines = call(home, "snapshot", "list").output.splitlines()
    for name, curated in ((folder.name, "yes"), (other.name, "no")):
        (line,) = [line for line in lines if name in line]
        assert curated in line
        assert "0000" in line
    assert call(home, "snapshot", "verify").exit_code == 0
    assert "nothing differs" in call(home, "snapshot", "diff", folder.name, folder.name[:6]).output
    assert call(home, "snapshot", "verify", "zz").exit_code == 2


def test_a_damaged_snapshot_is_found(tmp_path: Path) -> None:
    """Both that a build published: one of what Curator accepted, one of the candidates as they came."""
    run(tmp_path / "home", [recordings(tmp_path / "run")])
    folders = list_snapshots(tmp_path / "home")
    assert len(folders) == 2
    for folder in folders:
        next(folder.glob("*.parquet")).write_bytes(b"")
    result = call(tmp_path / "home", "snapshot", "verify")
    assert result.exit_code == 1
    assert "2 of 2 snapshots are damaged" in words(result)
    assert "remove that folder, then `mineevolve run --build BUILD`" in words(result)
    assert call(tmp_path / "home", "doctor").exit_code == 1
    for folder in folders:
        shutil.rmtree(folder)
    assert call(tmp_path / "home", "run", "--build", "0000").exit_code == 0
    assert list_snapshots(tmp_path / "home") == folders
    assert call(tmp_path / "home", "snapshot", "verify").exit_code == 0


def test_a_home_without_snapshots_is_not_called_verified(tmp_path: Path) -> None:
    result = call(tmp_path, "snapshot", "verify")
    assert result.exit_code == 2
    assert "holds no snapshot yet: run `mineevolve run` first" in words(result)


@pytest.mark.parametrize("keep", [0, 300_000])
def test_a_damaged_analysis_copy_is_named_and_published_anew(home: Path, keep: int) -> None:
    path = home / ANALYSIS
    path.write_bytes(path.read_bytes()[:keep] or b"nothing")
    for command in (["sql", "FROM failure_mix"], ["knowledge", "list"]):
        asked = call(home, *command)
        assert asked.exit_code == 1
        assert "is damaged" in words(asked)
        assert "`mineevolve doctor` makes it anew" in words(asked)
    examined = call(home, "doctor")
    assert examined.exit_code == 0, examined.output
    assert "published anew, it was damaged" in words(examined)
    assert "up to date" in call(home, "doctor").output
    assert call(home, "sql", "FROM failure_mix").exit_code == 0


def test_a_doctor_reports_on_everything_whatever_is_broken(tmp_path: Path) -> None:
    home = tmp_path / "home"
    run(home, [recordings(tmp_path / "run")])
    for name in ("warehouse.duckdb", ANALYSIS, "traces/0000/imported/manifest.json"):
        (home / name).write_bytes(b"nothing")
    result = call(home, "doctor")
    assert result.exit_code == 1
    assert "3 of 11 examinations" in result.output
    assert "`mineevolve ingest FOLDER` writes it anew" in words(result)
    assert "`mineevolve warehouse rebuild` makes it anew" in words(result)


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
    for asked in ([], [label | {"file": "Mine_1_dirt"}]):
        labels.write_text(json.dumps(asked))
        nothing = call(home, "monitor", "score", str(labels))
        assert nothing.exit_code == 2
        assert f"none of the {len(asked)} files" in words(nothing)
        assert "goal missed" not in nothing.output
    absent = call(home, "monitor", "score", str(labels), "--build", "0009")
    assert absent.exit_code == 2
    assert "build 0009 holds no attempts" in words(absent)


def test_monitor_truth_shows_matrix_and_figures(home: Path, tmp_path: Path, minecraft: Domain) -> None:
    no_truth = call(home, "monitor", "truth")
    assert no_truth.exit_code == 2
    assert "no unsuccessful attempt whose inner truth is known" in words(no_truth)
    steps = [subgoal("craft", "stick", Check(type="inv_ge", name="stick", value=4.0))]
    loop = crew(minecraft, row="no_repair", subgoals=steps, wanted=task(64))
    played = tmp_path / "home"
    batch = Batch(played, "training", [replace(spec(0, horizon=200), world="techtree")])
    roll_out([batch], InProcess(stage_kit(minecraft, "scripted")), loop)
    trace = {name: trace_store(played).scan(name).collect() for name in TRACE_TABLES}
    feedback = monitor(Trace.of(trace), minecraft)
    feedback_store(played).write_source(
        batch.build,
        batch.group,
        "training",
        {"feedback": feedback},
        trace["episodes"]["episode_id"].to_list(),
    )
    shown = call(played, "monitor", "truth", "--build", batch.build)
    assert shown.exit_code == 0, shown.output
    assert "1 MISSING_INGREDIENT" in shown.output
    assert "The same type in 1 of 1 attempts" in words(shown)
    assert "stand-ins" in shown.output


def test_monitor_score_misses_no_goal_that_no_label_asks_about(home: Path, tmp_path: Path) -> None:
    label = {"file": "Craft_1_wooden_pickaxe_20240101_000400", "success": True, "claimed": False}
    labels = tmp_path / "labels.json"
    labels.write_text(json.dumps([label | {"failure_type": "NONE"}]))
    assert call(home, "monitor", "score", str(labels)).exit_code == 0


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
    ["", "run", "ingest", "drop", "sql", "doctor", "gc", "ui", "knowledge list", "knowledge show",
     "knowledge backtests", "knowledge hand-in", "knowledge take-in", "knowledge explain", "snapshot list",
     "snapshot verify", "snapshot diff", "tasks lint", "monitor score", "warehouse rebuild", "study planners",
     "study misconceptions", "study agents", "study curation"],
)  # fmt: skip
def test_help_has_an_example(tmp_path: Path, command: str) -> None:
    result = call(tmp_path, *command.split(), "--help")
    assert result.exit_code == 0
    if command:
        assert f"mineevolve {command}" in " ".join(result.output.split())
        assert "Example" in result.output


def test_every_command_that_a_text_names_exists() -> None:
    root = Path(__file__).parents[1]
    texts = {path: path.read_text() for path in (root / "README.md", *root.glob("docs/*.md"))}
    modules = [*root.glob("pipeline/**/*.py"), *map((root / "warehouse").joinpath, NAMING_COMMANDS)]
    for path in modules:
        nodes = ast.walk(ast.parse(path.read_text()))
        texts[path] = "\n".join(node.value for node in nodes if _is_text(node))
    groups = {name: getattr(one, "commands", {}) for name, one in get_command(app).commands.items()}  # type: ignore[attr-defined]
    named = 0
    for path, text in texts.items():
        for command, further in re.findall(
            r"mineevolve ([a-z]+(?:-[a-z]+)*)(?: ([a-z]+(?:-[a-z]+)*))?", text
        ):
            assert command in groups, f"{path.name}: mineevolve {command}"
            assert not groups[command] or further in ("", *groups[command]), (
                f"{path.name}: {command} {further}"
            )
            named += 1
    assert named > 50


NAMING_COMMANDS = ("analysis.py", "database.py", "fold.py", "repair.py", "trace_store.py", "writing.py")


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
