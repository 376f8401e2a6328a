"""The bench of the engine vllm with the vllm of tests/fake_vllm in it: both ways are asked the same."""

from pathlib import Path

import pytest

from bench import model
from prompts.engines.models import VllmRow
from tests.conftest import ROOT
from warehouse.domains import Domain

QUESTIONS, REPETITIONS = 3, 2


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory, minecraft: Domain) -> model.Measured:
    folder: Path = tmp_path_factory.mktemp("model")
    (folder / "answers.json").write_text("{}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT / "tests" / "fake_vllm"))
        row = VllmRow(name="own", engine="vllm", model=str(folder))
        told: list[str] = []
        measured = model.measure(row, minecraft, QUESTIONS, REPETITIONS, told.append)
        assert len(told) == 1 + REPETITIONS
        return measured


def test_both_ways_are_asked_the_same(measured: model.Measured) -> None:
    assert len(measured.pairs) == REPETITIONS
    for engine, straight in measured.pairs:
        assert engine.tokens_in == straight.tokens_in > 0
        assert engine.tokens_reused == straight.tokens_reused
        assert engine.tokens_out == straight.tokens_out == QUESTIONS
        assert 0 <= engine.chat_s < engine.seconds
    assert measured.alike == QUESTIONS * REPETITIONS


def test_every_repetition_begins_with_new_questions(measured: model.Measured) -> None:
    cold, known = (pair.engine for pair in measured.pairs)
    # The fake knows a system turn once it has seen it; in the first repetition that is not yet so.
    assert known.tokens_reused > cold.tokens_reused > 0
    assert known.tokens_reused < known.tokens_in


def test_a_rate_counts_only_with_the_same_answers(measured: model.Measured) -> None:
    engine, straight = measured.pairs[0]
    quick = model.Pair(engine._replace(seconds=1.0), straight._replace(seconds=1.0))
    other = model.Pair(quick.engine._replace(said=(("", 1), *engine.said[1:])), quick.straight)
    slow = model.Pair(engine._replace(seconds=2.0), quick.straight)
    verdicts = {
        name: measured._replace(pairs=pairs)
        for name, pairs in {"same": (quick,), "other": (quick, other), "slow": (quick, slow)}.items()
    }
    assert {name: each.met for name, each in verdicts.items()} == {
        "same": True,
        "other": False,
        "slow": False,
    }
    assert verdicts["slow"].ratio == pytest.approx(2 / 3)
    assert "5 of 6 answers the same" in model.verdict(verdicts["other"])
    assert model.report(verdicts["other"]).row_count == 2


def test_without_its_environment_it_says_what_makes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(model, "ENVIRONMENT", tmp_path / ".venv-vllm")
    assert model.main() == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "not measured" in said
    assert "make test-vllm" in said
