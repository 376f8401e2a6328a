"""The review behind the Dagster graph: off it leaves no trace; on, what is refused stays out, nobody is asked
twice, and a bad model loses nothing."""

from collections.abc import Iterator
from pathlib import Path
from shutil import copytree, rmtree

import dagster as dg
import polars as pl
import pytest

from assets.resources import Reviewer
from pipeline import launch
from pipeline.resources import resources
from pipeline.settings import Settings
from tests.model_server import MODEL, ModelServer, serving
from tests.test_answering import OWN
from tests.test_pipeline import recordings, stored
from warehouse import log, telemetry
from warehouse.analysis import query
from warehouse.curator import CuratorSettings
from warehouse.domains import Domain
from warehouse.fold import curator, rebuild
from warehouse.snapshots import published_snapshot

KEEP = '{"reason": "the records bear it out", "verdict": "keep"}'
REJECT = '{"reason": "a table does not help here", "verdict": "reject"}'


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`imported` has feedback alone; `off` has learnt without a review, `on` with the stand-in's."""
    root = tmp_path_factory.mktemp("review")
    launch.import_traces(Settings(data=root / "imported"), "0000", [recordings(root / "run")])
    for name, reviewer in (("off", ""), ("on", "rules")):
        copytree(root / "imported", root / name)
        launch.learn_knowledge(Settings(data=root / name, reviewer=reviewer), "0000")
    return root


@pytest.fixture
def server(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A reviewer that keeps everything."""
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.001)
    with serving(dict.fromkeys(questions(root / "on"), KEEP)) as started:
        yield started


def questions(home: Path) -> list[str]:
    """What a reviewer was asked; the remedies first."""
    asked = log.read(home, "answers").filter(pl.col("role") == "curator")["user"].to_list()
    return sorted(asked, key=lambda text: ("- remedy" not in text, text))


def learnt(root: Path, home: Path, server: ModelServer) -> Settings:
    """What comes of the recordings where a served model reviews what the stand-in proposed."""
    copytree(root / "imported", home, dirs_exist_ok=True)
    (home / "models.toml").write_text(OWN.format(model=MODEL, url=server.url))
    settings = Settings(data=home, reviewer="own", models=home / "models.toml")
    launch.learn_knowledge(settings, "0000")
    launch.publish_analysis(settings)
    return settings


def snapshot(home: Path) -> str | None:
    return published_snapshot(home, "0000")


def said(result: dg.ExecuteInProcessResult) -> dict[str, object]:
    (made,) = result.asset_materializations_for_node("candidate_reviews")
    return {name: value.value for name, value in made.metadata.items()}


def test_it_is_off_by_default_and_then_leaves_no_trace(root: Path) -> None:
    assert not Settings(data=root / "off").reviewer
    assert not Reviewer().is_on
    assert not (root / "off" / "log" / "reviews").exists()
    assert log.read(root / "off", "answers").filter(pl.col("role") == "curator").is_empty()
    result = launch.learn_knowledge(Settings(data=root / "off"), "0000")
    assert said(result) == {
        "review": "off: MINEEVOLVE_REVIEWER names a model to ask",
        "verdicts of earlier runs": 0,
    }


def test_a_review_that_keeps_everything_changes_no_byte_of_the_knowledge(root: Path) -> None:
    without, with_review = stored(root / "off"), stored(root / "on")
    added = {name: digest for name, digest in with_review.items() if without.get(name) != digest}
    assert {Path(name).parts[:2] for name in added} == {("log", "reviews"), ("log", "answers")}
    assert set(without) < set(with_review)
    verdicts = log.read(root / "on", "reviews")
    assert verdicts.height == log.read(root / "on", "candidates").height == len(questions(root / "on")) > 1
    assert set(verdicts["verdict"]) == {"accepted"}


def test_the_same_review_gives_the_same_bytes(root: Path, tmp_path: Path) -> None:
    copytree(root / "imported", tmp_path / "again")
    settings = Settings(data=tmp_path / "again", reviewer="rules")
    launch.learn_knowledge(settings, "0000")
    assert stored(settings.home) == stored(root / "on")
    launch.learn_knowledge(settings, "0000")
    assert stored(settings.home) == stored(root / "on")


def test_what_is_refused_stays_out_and_is_kept_with_its_reason(
    root: Path, server: ModelServer, tmp_path: Path, minecraft: Domain
) -> None:
    remedy = questions(root / "on")[0]
    server.answers[remedy] = REJECT
    settings = learnt(root, tmp_path, server)
    rows = query(tmp_path, "FROM candidate_decisions ORDER BY verdict DESC")
    assert set(rows["verdict"][1:]) == {"accepted"}
    no = rows.row(0, named=True)
    assert (no["type"], no["verdict"], no["review"]) == ("remedy", "rejected", "rejected")
    assert no["rules"] == ["review"]
    assert no["reasons"].startswith("review: openai/")
    assert no["reasons"].endswith(": a table does not help here")
    kept = query(tmp_path, "SELECT entry_id FROM knowledge")["entry_id"].to_list()
    assert sorted([*kept, no["entry_id"]]) == sorted(rows["entry_id"])
    assert snapshot(tmp_path) != snapshot(root / "off")

    # The log carries it: neither a rebuild nor a run without a reviewer lets it in.
    curate = curator(minecraft, CuratorSettings())
    assert rebuild(tmp_path, curate).snapshot_ids["0000"] == snapshot(tmp_path)
    off = launch.learn_knowledge(Settings(data=tmp_path), "0000")
    assert said(off)["verdicts of earlier runs"] == rows.height
    assert snapshot(tmp_path) != snapshot(root / "off")
    # Verdicts are taken back by taking their shards away.
    rmtree(settings.home / "log" / "reviews")
    assert rebuild(tmp_path, curate).snapshot_ids["0000"] == snapshot(root / "off")


def test_nobody_is_asked_twice_and_the_books_are_complete(
    root: Path, server: ModelServer, tmp_path: Path
) -> None:
    settings = learnt(root, tmp_path, server)
    before, asked = stored(tmp_path), len(server.bodies)
    assert asked == len(questions(root / "on"))
    took = telemetry.read(tmp_path)
    assert set(took["role"]) == {"curator"}
    calls = query(tmp_path, "FROM model_calls WHERE role = 'curator'")
    assert sorted(calls["cache_key"]) == sorted(took["cache_key"])
    result = launch.learn_knowledge(settings, "0000")
    assert len(server.bodies) == asked
    assert telemetry.read(tmp_path)[took.height :]["cached"].to_list() == [True] * asked
    assert stored(tmp_path) == before
    assert said(result)["answers remembered"] == said(result)["kept"] == asked


@pytest.mark.parametrize("way", ["500", "hang", "half an answer", "refuse"])
def test_a_bad_reviewer_refuses_nothing_and_costs_nothing(
    root: Path, server: ModelServer, tmp_path: Path, way: str
) -> None:
    lost, refused = questions(root / "on")[:2]
    server.answers[refused] = REJECT
    server.misbehave(lost, way)
    learnt(root, tmp_path, server)
    errors = query(tmp_path, "SELECT DISTINCT error FROM model_calls WHERE role = 'curator'")
    expected = {"hang": "timeout", "half an answer": "invalid_json", "refuse": "refusal"}
    assert set(errors["error"]) == {None, expected.get(way, "engine")}
    rows = query(tmp_path, "FROM candidate_decisions")
    assert rows.height == log.read(root / "on", "candidates").height
    assert rows.filter(pl.col("review").is_null())["verdict"].to_list() == ["accepted"]
    assert rows.filter(pl.col("review") == "rejected")["verdict"].to_list() == ["rejected"]


def test_a_reviewer_that_there_is_not_is_named_before_anything_is_done(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no model 'nobody'; there are: rules"):
        launch.import_traces(Settings(data=tmp_path, reviewer="nobody"), "0000", [tmp_path])
    assert list(tmp_path.iterdir()) == []


def test_the_setting_reaches_the_asset(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MINEEVOLVE_REVIEWER", "rules")
    reviewer = resources(Settings(data=tmp_path))["reviewer"]
    assert isinstance(reviewer, Reviewer)
    assert (reviewer.is_on, reviewer.row) == (True, "rules")
