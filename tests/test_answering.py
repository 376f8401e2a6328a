"""A model behind the Dagster graph: the books it leaves, nothing asked twice, no loss by a bad server."""

from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import polars as pl
import pytest

from pipeline import launch
from pipeline.settings import Settings
from prompts.answering import answering
from prompts.engines.models import OpenAIRow, RulesRow
from tests.engine_contract import answers_of_the_stand_in, questions
from tests.model_server import MODEL, ModelServer, serving
from tests.test_pipeline import recordings
from warehouse import log, telemetry
from warehouse.analysis import query
from warehouse.domains import Domain

OWN = """
[own]
engine = "openai"
model = "{model}"
base_url = "{url}"
retries = 1
timeout_s = 2.0
price_in = 1.0
price_out = 2.0
"""


@pytest.fixture(scope="module")
def by_the_stand_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data home in which the stand-in has learnt: its answers are what the server says."""
    root = tmp_path_factory.mktemp("standin")
    settings = Settings(data=root / "home")
    launch.import_traces(settings, "0000", [recordings(root / "run")])
    copytree(settings.home, root / "imported")
    launch.learn_knowledge(settings, "0000")
    return root


@pytest.fixture
def server(by_the_stand_in: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.001)
    answers = log.read(by_the_stand_in / "home", "answers")
    with serving(dict(zip(answers["user"], answers["raw"], strict=True))) as started:
        yield started


def learnt(by_the_stand_in: Path, server: ModelServer, home: Path) -> Settings:
    """What the server's model makes of the same recordings."""
    copytree(by_the_stand_in / "imported", home, dirs_exist_ok=True)
    (home / "models.toml").write_text(OWN.format(model=MODEL, url=server.url))
    settings = Settings(data=home, model="own", models=home / "models.toml")
    launch.learn_knowledge(settings, "0000")
    return settings


def told(home: Path) -> pl.DataFrame:
    """What candidates say, without who said it."""
    rows = log.read(home, "candidates")
    return rows.select("entry_id", "kind", "target", "support").sort("entry_id")


def test_a_served_model_leaves_complete_books_and_is_asked_once(
    by_the_stand_in: Path, server: ModelServer, tmp_path: Path
) -> None:
    settings = learnt(by_the_stand_in, server, tmp_path)
    answers, took = log.read(tmp_path, "answers"), telemetry.read(tmp_path)
    assert told(tmp_path).equals(told(by_the_stand_in / "home"))
    assert answers.height == took.height == len(server.bodies) > 0
    assert sorted(answers["cache_key"]) == sorted(took["cache_key"])
    assert (set(answers["tokens_in"]), set(answers["tokens_out"])) == ({40}, {7})
    assert took["cost"].to_list() == pytest.approx([(40 * 1 + 7 * 2) / 1e6] * took.height)
    assert took.select("at", "build", "seconds", "tokens_reused", "model").null_count().row(0) == (0,) * 5
    assert not took["cached"].any()

    shards = sorted((tmp_path / "log").rglob("*.parquet"))
    launch.learn_knowledge(settings, "0000")
    launch.publish_analysis(settings)
    usage = query(tmp_path, "FROM model_usage")
    assert usage["answers"].sum() == usage["asked"].sum() == usage["remembered"].sum() == answers.height
    assert usage["tokens_in"].sum() == 40 * answers.height
    assert set(usage["reused"]) == {30 / 40}
    assert usage["cost"].sum() == pytest.approx(took["cost"].sum())
    assert len(server.bodies) == answers.height
    later = telemetry.read(tmp_path)[took.height :]
    assert later["cached"].to_list() == [True] * answers.height
    assert later["cost"].null_count() == answers.height
    assert sorted((tmp_path / "log").rglob("*.parquet")) == shards

    # Learning from rollouts asks the same model: only the stand-in has another mind there.
    launch.learn_from_rollouts(settings, "0000")
    assert telemetry.read(tmp_path)[2 * took.height :]["cached"].to_list() == [True] * answers.height


@pytest.mark.parametrize("way", ["500", "half a body", "close", "hang", "half an answer"])
def test_a_bad_server_loses_no_run_and_no_candidate(
    by_the_stand_in: Path, server: ModelServer, tmp_path: Path, way: str
) -> None:
    told_of = log.read(by_the_stand_in / "home", "answers").filter(pl.col("error").is_null())
    one = told_of["user"][0]
    server.misbehave(one, way)
    settings = learnt(by_the_stand_in, server, tmp_path)
    first = log.read(tmp_path, "answers")
    [failed] = first.filter(pl.col("user") == one)["error"].to_list()
    assert failed == {"hang": "timeout", "half an answer": "invalid_json"}.get(way, "engine")
    assert first.height >= len(server.answers)
    assert set(told(tmp_path)["entry_id"]) < set(told(by_the_stand_in / "home")["entry_id"])
    if failed != "invalid_json":  # which is the model's own answer, and remembered as such
        server.misbehave(one, "well")
        launch.learn_knowledge(settings, "0000")
        assert told(tmp_path).equals(told(by_the_stand_in / "home"))
        assert log.read(tmp_path, "answers").height == first.height + 1


def test_what_answers_took_is_written_even_when_the_step_fails(minecraft: Domain, tmp_path: Path) -> None:
    requests = questions(minecraft)
    with serving(answers_of_the_stand_in(minecraft, requests)) as server:
        row = OpenAIRow(name="own", engine="openai", model=MODEL, base_url=server.url)

        def fail_after_asking() -> None:
            with answering(row, minecraft, tmp_path, "b1") as models:
                models(0).generate(requests)
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail_after_asking()
    assert telemetry.read(tmp_path).height == len(requests)


def test_the_stand_in_takes_nothing_and_remembers_nothing(minecraft: Domain, tmp_path: Path) -> None:
    with answering(RulesRow(name="rules", engine="rules"), minecraft, tmp_path, "b1") as models:
        assert models(0).name.startswith("rules-standin/")
        models(0).generate(questions(minecraft))
    assert list(tmp_path.iterdir()) == []
