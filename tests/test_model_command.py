"""`mineevolve model score` as a person uses it."""

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner, Result

from pipeline.command import app
from rollouts.model_score.judging import QUESTIONS
from rollouts.worlds.techtree import situations
from tests.model_server import MODEL, serving
from warehouse import telemetry

CHOSEN = ("a furnace with the table still in the pack", "a log with a screen open", "waiting for logs")


@pytest.fixture(autouse=True)
def _few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three of the situations: all of them are played in the tests of the scoring itself."""
    text = situations.SITUATIONS.read_text()
    head, *rows = text.split("[[situation]]\n")
    few = [row for row in rows if any(f'"{name}"' in row for name in CHOSEN)]
    path = tmp_path / "situations.toml"
    path.write_text("[[situation]]\n".join([head, *few]))
    monkeypatch.setattr(situations, "SITUATIONS", path)


def call(folder: Path, *arguments: str, **environment: str) -> Result:
    settings = {
        "MINEEVOLVE_DATA": str(folder / "home"),
        "MINEEVOLVE_MODELS": str(folder / "models.toml"),
        "COLUMNS": "100",
    }
    return CliRunner().invoke(app, ["model", "score", *arguments], env=settings | environment)


def served(folder: Path, url: str) -> None:
    (folder / "models.toml").write_text(
        f'[own]\nengine = "openai"\nmodel = "{MODEL}"\nbase_url = "{url}"\nretries = 0\n'
    )


def words(result: Result) -> str:
    return " ".join(result.output.split())


def test_the_stand_in_is_scored_and_said_to_be_one(tmp_path: Path) -> None:
    result = call(tmp_path, "--all", "--out", str(tmp_path / "rules.parquet"))
    assert result.exit_code == 0, result.output
    assert max(map(len, result.output.splitlines())) <= 100 or "model_scores" in result.output
    assert all(question in result.output for question in QUESTIONS.values())
    assert "rules is a stand-in for a language model" in words(result)
    assert "techtree, in which repairs are carried out, is a stand-in for the game" in words(result)
    verdicts = pl.read_parquet(tmp_path / "rules.parquet")
    assert verdicts["situation"].to_list() == list(CHOSEN)
    assert verdicts["valid"].to_list() == [True] * 3
    kept = list((tmp_path / "home" / "model_scores").glob("*/verdicts.parquet"))
    assert len(kept) == 1
    assert pl.read_parquet(kept[0]).equals(verdicts)


def test_a_models_answers_are_remembered_and_noted(tmp_path: Path) -> None:
    with serving({}) as server:
        served(tmp_path, server.url)
        first = call(tmp_path, "--model", "own", "--out", str(tmp_path / "own.csv"))
        asked = len(server.bodies)
        second = call(tmp_path, "--model", "own")
        assert (first.exit_code, second.exit_code) == (0, 0), first.output + second.output
        assert asked == len(server.bodies), "the second run asks nobody"
    took = telemetry.read(tmp_path / "home")
    assert took["build"].unique().to_list() == ["model-score"]
    assert took["cached"].to_list().count(False) == asked
    assert pl.read_csv(tmp_path / "own.csv").height == 3
    assert "is a stand-in for a language model" not in words(first)


def test_a_model_that_cannot_be_asked_is_one_line(tmp_path: Path) -> None:
    served(tmp_path, "http://127.0.0.1:1/v1")
    result = call(tmp_path, "--model", "own")
    assert result.exit_code == 1
    assert "own gave no answer: " in words(result)
    assert "`mineevolve doctor` says if it can be asked" in words(result)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--model", "oracle"), "no model 'oracle'; there are: rules"),
        (("--out", "score.xls"), "the name must end in .csv, .json, .parquet"),
    ],
    ids=["model", "ending"],
)
def test_what_is_called_wrongly_exits_with_2(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    result = call(tmp_path, *arguments)
    assert result.exit_code == 2
    assert said in words(result)
