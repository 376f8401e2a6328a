"""The whole Dagster graph on a real instance: what comes out, twice the same, and what its checks notice."""

import os
from pathlib import Path

import dagster as dg
import orjson
import polars as pl
import pytest

from assets.checks import feedback_for_every_attempt, snapshot_hash
from assets.partitions import IMPORTED
from assets.resources import DataHome
from pipeline import launch
from pipeline.settings import Settings
from tests.voyager_files import event, write_run
from warehouse.analysis import query
from warehouse.ids import file_digest
from warehouse.snapshots import list_snapshots
from warehouse.trace_store import feedback_store, trace_store

NO_TABLE = (
    "In your program code: throw new Error(`No crafting table nearby`);\nNo crafting table nearby\n"
    'at line 3:await craftItem(bot, "wooden_pickaxe", 1); in your code'
)
PLANKS = {"oak_planks": 9, "stick": 4}
PICKAXE = {"oak_planks": 2, "stick": 2, "wooden_pickaxe": 1}


def recordings(root: Path) -> Path:
    """Two episodes in which a table is missing, and one in which it is there; a broken file beside them."""
    failing = [event("onError", 20, NO_TABLE, PLANKS), event("observe", 40, None, PLANKS)]
    working = [
        event("onChat", 20, "Placing crafting_table on dirt at (1, 2, 3)", {"crafting_table": 1} | PLANKS),
        event("onChat", 30, "Placed crafting_table", PLANKS),
        event("onChat", 31, "I can make wooden_pickaxe", PLANKS),
        event("onChat", 33, "I did the recipe for wooden_pickaxe 1 times", PICKAXE),
        event("observe", 53, None, PICKAXE),
    ]
    return write_run(
        root,
        {
            "Craft_1_wooden_pickaxe_20240101_000000": failing,
            "Craft_1_wooden_pickaxe_20240101_000100": failing,
            "Mine_1_dirt_block_20240101_000200": [event("observe", 40, None, PLANKS)],
            "Craft_a_wooden_pickaxe_20240101_000300": failing,
            "Craft_1_wooden_pickaxe_20240101_000400": working,
            "Kill_1_cow._20240101_000500": b'[["onChat", {"sta',
        },
        {"completed": [], "failed": ["Craft 1 wooden pickaxe"]},
    )


def run(home: Path, paths: list[Path], build: str = "0000") -> Settings:
    settings = Settings(data=home)
    launch.import_traces(settings, build, paths)
    launch.learn_knowledge(settings, build)
    launch.publish_analysis(settings)
    return settings


def stored(home: Path) -> dict[str, str]:
    """Every file below a data home that is promised to be the same on the same input, with its hash."""
    files = (
        path for folder in ("traces", "feedback", "log", "snapshots") for path in (home / folder).rglob("*")
    )
    return {path.relative_to(home).as_posix(): file_digest(path) for path in files if path.is_file()}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("small")
    run(root / "home", [recordings(root / "run")])
    return root / "home"


def test_a_missing_table_becomes_an_accepted_remedy_with_its_evidence(small: Path) -> None:
    remedies = query(
        small,
        "SELECT DISTINCT k.entry_id, k.support_episodes, l.file, l.evidence_text FROM knowledge AS k "
        "JOIN knowledge_lineage AS l USING (entry_id) "
        "WHERE k.type = 'remedy' AND list_contains(k.missing, 'crafting_table') ORDER BY l.file",
    )
    assert remedies["support_episodes"].unique().to_list() == [2]
    assert remedies["file"].str.contains("Craft_").all()
    assert remedies["evidence_text"].str.contains("No crafting table nearby").all()
    assert remedies.height == 3


def test_a_success_becomes_a_skill(small: Path) -> None:
    skills = query(small, "SELECT target, steps FROM knowledge WHERE type = 'skill' AND status = 'active'")
    assert skills["target"].to_list() == ["wooden_pickaxe"]
    steps = [(step["kind"], step["target"]) for step in skills["steps"][0]]
    assert steps == [("use", "crafting_table"), ("craft", "wooden_pickaxe")]


def test_what_could_not_be_read_is_counted(small: Path) -> None:
    assert query(small, "SELECT path, reason FROM quarantine WHERE severity = 'quarantined'").height == 1


def test_every_attempt_has_feedback(small: Path) -> None:
    key = ["episode_id", "attempt"]
    attempts = trace_store(small).scan("attempts").select(key).collect()
    assert attempts.equals(feedback_store(small).scan("feedback").select(key).collect())
    assert attempts.height == 5


def test_the_same_input_gives_the_same_bytes(small: Path, tmp_path: Path) -> None:
    run(tmp_path / "home", [recordings(tmp_path / "run")])
    assert stored(tmp_path / "home") == stored(small)


def test_running_again_changes_nothing(small: Path, tmp_path: Path) -> None:
    folder = recordings(tmp_path / "run")
    run(tmp_path / "home", [folder])
    before = stored(tmp_path / "home")
    run(tmp_path / "home", [folder])
    assert stored(tmp_path / "home") == before


def test_a_second_import_leaves_the_first_in_place(tmp_path: Path) -> None:
    first = recordings(tmp_path / "one")
    second = write_run(tmp_path / "two", {"Kill_1_pig._20240101_000000": [event("observe", 40)]})
    settings = Settings(data=tmp_path / "home")
    launch.import_traces(settings, "0000", [first])
    launch.import_traces(settings, "0000", [second])
    assert [source for _, source in trace_store(settings.home).sources("0000")] == ["one", "two"]
    assert feedback_store(settings.home).scan("feedback").collect().height == 6


def test_checks_pass_and_notice_what_is_wrong(small: Path, tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "home")
    launch.import_traces(settings, "0000", [recordings(tmp_path / "run")])
    result = launch.learn_knowledge(settings, "0000")
    assert {check.check_name: check.passed for check in result.get_asset_check_evaluations()} == {
        "snapshot_hash": True,
        "trained_with_the_published_snapshot": True,
    }
    folder, _ = list_snapshots(settings.home)
    shard = next(folder.glob("*.parquet"))
    shard.write_bytes(shard.read_bytes()[:-9])
    manifest = settings.home / "feedback" / "0000" / IMPORTED / "manifest.json"
    listed = orjson.loads(manifest.read_bytes())
    listed["sources"]["run"]["feedback"] = []
    manifest.write_bytes(orjson.dumps(listed))
    home = DataHome(path=str(settings.home))
    assert not snapshot_hash(home).passed
    assert not feedback_for_every_attempt(home).passed


def test_a_failed_step_is_named(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "home")
    with pytest.raises(launch.RunFailedError, match="import_traces failed in imported_trajectories"):
        launch.import_traces(settings, "0000", [tmp_path / "nowhere"])


def test_without_traces_the_sample_is_used(tmp_path: Path) -> None:
    settings = run(tmp_path / "home", [])
    episodes = trace_store(settings.home).scan("episodes").collect()
    assert episodes["source"].str.starts_with("sample:").all()
    assert query(settings.home, "SELECT * FROM knowledge WHERE type = 'remedy'").height >= 1
    lineage = query(
        settings.home,
        "SELECT entry_id, attempt FROM knowledge_lineage "
        "WHERE file = 'sample:pickaxe-oak-river' AND type = 'skill' ORDER BY attempt",
    )
    assert lineage["entry_id"].n_unique() == 1
    assert lineage["attempt"].to_list() == [0, 1, 2, 3, 4, 5], "a skill leads to every attempt of its segment"


def test_the_instance_keeps_the_warehouse_to_one_writer(small: Path) -> None:
    with dg.DagsterInstance.from_config(str(small / "dagster")) as instance:
        config = instance.get_concurrency_config()
        assert config.pool_config.default_pool_limit == 1
        assert str(config.pool_config.pool_granularity.value) == "op"
        assert instance.run_monitoring_enabled


def test_real_runs(traces: Path, tmp_path: Path) -> None:
    """What the recorded runs have to show, through the real graph."""
    settings = run(tmp_path, [traces / "voyager_questllama", traces / "minestudio_openha"])
    assert "DAGSTER_HOME" not in os.environ
    counts = query(
        tmp_path,
        "SELECT e.source_name, count(*) AS n FROM attempts JOIN episodes AS e USING (episode_id) "
        "GROUP BY ALL ORDER BY ALL",
    )
    assert counts.rows() == [("minestudio_openha", 8), ("voyager_questllama", 161)]
    claims = query(tmp_path, "FROM claims_vs_evidence WHERE verdict <> 'agrees'")
    axes = claims.filter(pl.col("subgoal") == "Craft 1 stone axe")
    assert axes["verdict"].to_list() == ["labelled failed against evidence"] * 4
    pickaxe = claims.filter(pl.col("file").str.ends_with("20240506_191105"))
    assert pickaxe["verdict"].to_list() == ["claimed without evidence"]
    stalled = query(
        tmp_path,
        "SELECT DISTINCT failure_type FROM attempt_outcomes "
        "WHERE source = 'minestudio_openha' AND kind <> 'mine'",
    )
    assert set(stalled["failure_type"]) <= {"GUI_STALL", "RECIPE_FAIL"}
    remedies = query(
        tmp_path,
        "SELECT DISTINCT l.evidence_text FROM knowledge AS k JOIN knowledge_lineage AS l USING (entry_id) "
        "WHERE k.type = 'remedy' AND k.status = 'active' AND list_contains(k.missing, 'crafting_table')",
    )
    assert remedies["evidence_text"].str.contains("No crafting table nearby").any()
    assert settings.home == tmp_path.resolve()
    accepted = query(
        tmp_path,
        "SELECT count(*) AS accepted, count(b.candidate_id) AS tested FROM decisions AS d "
        "LEFT JOIN candidate_backtests AS b USING (candidate_id) WHERE d.verdict = 'accepted'",
    )
    assert accepted["accepted"].item() == accepted["tested"].item() > 0
