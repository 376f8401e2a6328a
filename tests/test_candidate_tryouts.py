"""Try-outs behind the Dagster graph: off they leave no trace; on, what they find reaches Curator, the analyst
and the command, and a second run plays nothing."""

from contextlib import closing
from pathlib import Path
from shutil import copytree, rmtree

import dagster as dg
import duckdb
import polars as pl
import pytest
from typer.testing import CliRunner

from pipeline import launch
from pipeline.command import app
from pipeline.settings import Settings
from tests.test_pipeline import recordings, stored
from tests.test_training_rollouts import GROUP, config
from warehouse import log, tryouts
from warehouse.analysis import ANALYSIS, query
from warehouse.curator import CuratorSettings
from warehouse.domains import Domain
from warehouse.fold import curator, rebuild
from warehouse.snapshots import published_snapshot
from warehouse.tryouts import Cost, Rules, Sequential

BUILD = "0001"
SMALL = Rules(test=Sequential(net=3, futile=5, most=6, batch=3), cost=Cost(arm_ticks=200, lead_ticks=150))
"""what fits into a build of two tasks"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`played` has feedback alone; `off` has learnt without try-outs."""
    root = tmp_path_factory.mktemp("tryouts")
    launch.train_build(Settings(data=root / "played"), BUILD, [GROUP], config(root, episodes=3))
    copytree(root / "played", root / "off")
    launch.learn_from_rollouts(Settings(data=root / "off", tryouts=0), BUILD)
    return root


@pytest.fixture(scope="module")
def on(root: Path) -> Path:
    """Learnt with try-outs, as small as the build is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rollouts.tryout.rules", lambda: SMALL)
        copytree(root / "played", root / "on")
        settings = Settings(data=root / "on")
        first = said(launch.learn_from_rollouts(settings, BUILD))
        before = stored(root / "on")
        again = said(launch.learn_from_rollouts(settings, BUILD))
        assert stored(root / "on") == before
        launch.publish_analysis(settings)
    assert first["arms played"] == again["arms remembered"]
    assert again["arms played"] == 0
    assert first["game ticks spent"] == again["game ticks spent"]
    return root / "on"


def said(result: dg.ExecuteInProcessResult) -> dict[str, object]:
    (made,) = result.asset_materializations_for_node("candidate_tryouts")
    return {name: value.value for name, value in made.metadata.items() if hasattr(value, "value")}


def test_off_they_leave_no_trace(root: Path) -> None:
    assert not (root / "off" / "log" / "tryouts").exists()
    result = launch.learn_from_rollouts(Settings(data=root / "off", tryouts=0), BUILD)
    assert said(result) == {
        "try-outs": "off: MINEEVOLVE_TRYOUTS gives them a share of the build's game ticks",
        "rows of earlier runs": 0,
    }


def test_they_are_on_by_default_and_never_take_more_than_is_allowed(on: Path) -> None:
    rows = log.read(on, "tryouts", [BUILD])
    assert rows.height > 0
    ticks = query(on, "SELECT sum(n_ticks)::BIGINT FROM episodes").item()
    ways = rows.group_by("episode_id", "world_seed").agg(pl.col("lead").max())["lead"].sum()
    assert ways + rows["ticks"].sum() <= Settings().tryouts * ticks
    assert (rows["world_seed"] % 2 == 0).all()


def test_they_add_rows_of_the_log_and_nothing_else_unless_something_is_refused(root: Path, on: Path) -> None:
    without, with_them = stored(root / "off"), stored(on)
    added = {name for name, digest in with_them.items() if without.get(name) != digest}
    refused = query(on, "SELECT count(*) FROM tryout_outcomes WHERE refused").item()
    kinds = {Path(name).parts[:2] for name in added} - {("analysis.duckdb",)}
    assert refused or kinds == {("log", "tryouts")}


def test_an_analyst_sees_what_came_of_each(on: Path) -> None:
    rows = log.read(on, "tryouts")
    counted = tryouts.tallies(log.tryouts_of(rows))
    shown = query(on, "FROM tryout_outcomes")
    assert set(shown["entry_id"]) == set(rows["entry_id"])
    for row in shown.iter_rows(named=True):
        pairs = (row["both_arms"], row["only_with"], row["only_without"], row["neither_arm"])
        assert pairs == tuple(counted.get(row["entry_id"], tryouts.Tally()))
        assert row["pairs"] == sum(pairs)
        own = rows.filter(entry_id=row["entry_id"])
        assert 2 * (row["pairs"] + row["undecided"]) == own.height
        assert row["ticks"] == own["ticks"].sum()
        decided = own.group_by("situation", "world_seed").agg(pl.col("success").is_not_null().all())
        assert row["world_seeds"] == sorted(set(decided.filter("success")["world_seed"]))


def test_what_did_harm_is_refused_with_its_counts_now_and_in_a_rebuild(
    root: Path, tmp_path: Path, minecraft: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    copytree(root / "off", home)
    candidate = log.candidates_of(log.read(home, "candidates"))[0]
    episode_id = pl.read_parquet(next((home / "traces").rglob("episodes/*.parquet")))["episode_id"][0]
    rows = [
        {"entry_id": candidate.entry_id, "situation": f"s{number}", "episode_id": episode_id}
        | {"world_seed": 2 * number, "arm": arm, "success": arm == "without", "lead": 0, "ticks": 9}
        for number in range(3)
        for arm in ("with", "without")
    ]
    # One arm alone is no pair, and its world is none that anything was seen in.
    rows.append({**rows[0], "situation": "half", "world_seed": 100})
    log.append(home, "tryouts", BUILD, pl.DataFrame(rows).with_columns(build=pl.lit(BUILD)))
    curate = curator(minecraft, CuratorSettings())
    rebuilt = rebuild(home, curate).snapshot_ids[BUILD]
    assert rebuilt != published_snapshot(home, BUILD)
    settings = Settings(data=home, tryouts=0)
    launch.learn_from_rollouts(settings, BUILD)
    launch.publish_analysis(settings)
    assert published_snapshot(home, BUILD) == rebuilt
    (no,) = query(
        home, "FROM candidate_decisions WHERE candidate_id = $1", [candidate.candidate_id]
    ).iter_rows(named=True)
    assert (no["verdict"], no["rules"]) == ("rejected", ["tryout"])
    assert no["reasons"].startswith("tryout: harmful in 3 pairs")
    assert query(home, "SELECT entry_id FROM tryout_outcomes WHERE refused").item() == candidate.entry_id

    monkeypatch.setenv("MINEEVOLVE_DATA", str(home))
    monkeypatch.setenv("COLUMNS", "100")  # the first test that prints decides for all of its process
    shown = CliRunner().invoke(app, ["knowledge", "show", candidate.entry_id])
    assert shown.exit_code == 0
    assert "Tried out in 3 worlds: harmful, 3 pairs" in shown.output
    # What was merged into an entry was tried out for it as well.
    other = query(home, "SELECT entry_id FROM knowledge ORDER BY entry_id LIMIT 1").item()
    with closing(duckdb.connect(home / ANALYSIS)) as con:
        con.execute(
            "UPDATE knowledge SET merged_from = [$1] WHERE entry_id = $2", [candidate.entry_id, other]
        )
    shown = CliRunner().invoke(app, ["knowledge", "show", other])
    assert "Tried out in 3 worlds: harmful, 3 pairs" in shown.output
    # They are taken back by taking their shards away.
    rmtree(home / "log" / "tryouts")
    assert rebuild(home, curate).snapshot_ids[BUILD] == published_snapshot(root / "off", BUILD)


def test_rows_of_an_episode_that_there_is_no_more_do_not_count(
    root: Path, tmp_path: Path, minecraft: Domain
) -> None:
    home = tmp_path / "home"
    copytree(root / "off", home)
    candidate = log.candidates_of(log.read(home, "candidates"))[0]
    rows = [
        {"entry_id": candidate.entry_id, "situation": f"s{number}", "episode_id": "gone"}
        | {"world_seed": 2 * number, "arm": arm, "success": arm == "without", "lead": 0, "ticks": 9}
        for number in range(3)
        for arm in ("with", "without")
    ]
    log.append(home, "tryouts", BUILD, pl.DataFrame(rows).with_columns(build=pl.lit(BUILD)))
    report = rebuild(home, curator(minecraft, CuratorSettings()))
    assert report.snapshot_ids[BUILD] == published_snapshot(home, BUILD)
    assert report.rows["tryouts"] == 0


def test_a_build_of_recordings_says_that_it_has_none(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "home")
    launch.import_traces(settings, "0000", [recordings(tmp_path / "run")])
    assert said(launch.learn_knowledge(settings, "0000")) == {
        "try-outs": "none: nothing of this build was played in a world that can be seeded"
    }


def test_more_than_the_limit_cannot_be_asked_for(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"less than or equal to 0\.15"):
        Settings(data=tmp_path, tryouts=0.2)
