"""Scoring a model's remedies: what a right answer gets, what others get, and what is kept of it."""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from prompts.language_model import ANSWER_LOG, ModelAnswer, ModelRequest
from prompts.responses import failed_answer
from rollouts.model_score.judging import QUESTIONS, Score, score
from rollouts.model_score.playing import Failure, failures
from rollouts.model_score.recording import record
from rollouts.rates import Rate
from rollouts.worlds.techtree.situations import load_situations
from tests.known_answers import Scripted, abstains, again, proposal, right
from warehouse.domains import Domain

ONE = "a furnace with the table still in the pack"


@pytest.fixture(scope="module")
def failed(minecraft: Domain) -> list[Failure]:
    """All situations, failed."""
    return failures(load_situations(), minecraft)


@pytest.fixture(scope="module")
def few(failed: list[Failure]) -> list[Failure]:
    """One situation of each failure type."""
    return list({failure.fact.failure_type: failure for failure in reversed(failed)}.values())


def shares(scored: Score) -> dict[str, int]:
    return {question: rate.k for question, rate in scored.rates.items()}


def test_who_knows_the_answers_scores_forty_of_forty(failed: list[Failure], minecraft: Domain) -> None:
    scored = score(failed, Scripted(failed, right), minecraft)
    wrong = scored.verdicts.filter(~pl.col("all_four"))
    assert wrong.is_empty(), wrong.select("situation", *QUESTIONS, "why_not").to_dicts()
    assert scored.rates == dict.fromkeys(QUESTIONS, Rate(40, 40))
    assert scored.table["low"].to_list() == pytest.approx([40 / (40 + 1.959964**2)] * 5)


def test_doing_it_again_is_no_remedy(few: list[Failure], minecraft: Domain) -> None:
    scored = score(few, Scripted(few, again), minecraft)
    assert shares(scored) == {"valid": len(few), "accepted": 0, "cause": 0, "removed": 0, "all_four": 0}


def test_an_abstention_is_well_formed_and_helps_nobody(few: list[Failure], minecraft: Domain) -> None:
    scored = score(few, Scripted(few, abstains), minecraft)
    assert shares(scored) == {"valid": len(few), "accepted": 0, "cause": 0, "removed": 0, "all_four": 0}
    assert scored.verdicts["why_not"][0] == "abstained: Nothing shows what would help."
    assert scored.verdicts["tries"].to_list() == [1] * len(few)


def test_what_is_no_document_is_asked_for_once_more(few: list[Failure], minecraft: Domain) -> None:
    scored = score(few, Scripted(few, lambda failure, request: "Try harder!"), minecraft)
    assert set(shares(scored).values()) == {0}
    assert scored.verdicts["tries"].to_list() == [2] * len(few)
    assert scored.answers.height == 2 * len(few)
    assert scored.answers["raw"].unique().to_list() == ["Try harder!"]

    def mends(failure: Failure, request: ModelRequest) -> str:
        return right(failure, request) if "+again" in request.template else "Try harder!"

    assert set(shares(score(few, Scripted(few, mends), minecraft)).values()) == {len(few)}


def test_a_lost_connection_says_nothing_of_the_model(few: list[Failure], minecraft: Domain) -> None:
    class Flaky(Scripted):
        def generate(self, requests: Sequence[ModelRequest]) -> list[ModelAnswer]:
            lost = failed_answer(requests[0], self.name, "engine", "connection lost") if requests else None
            return ([lost] if lost else []) + super().generate(requests[1:])

    scored = score(few, Flaky(few, right), minecraft)
    assert scored.unanswered == 1
    assert scored.rates["all_four"] == Rate(len(few) - 1, len(few) - 1)
    assert scored.by_failure_type["n"].sum() == len(few) - 1
    assert scored.verdicts.row(0, named=True)["why_not"] == "engine: connection lost"


@pytest.mark.parametrize(
    ("trigger", "note", "expected"),
    [
        ({"failure_type": "MISSING_STATION"}, "A station is lacking.", False),
        ({"failure_type": "MISSING_STATION"}, "No crafting table stands in reach.", True),
        ({"near.crafting_table": False}, "A station is lacking.", True),
        ({"missing": "crafting_table"}, "A station is lacking.", True),
        ({"missing": "furnace"}, "No crafting table stands in reach.", False),
        ({"near.crafting_table": True}, "No crafting table stands in reach.", False),
    ],
    ids=["unnamed", "in words", "in a condition", "as missing", "another is missing", "false there"],
)
def test_the_cause_has_to_be_named_and_nothing_false_said(
    failed: list[Failure],
    minecraft: Domain,
    trigger: dict[str, str | bool],
    note: str,
    expected: bool,
) -> None:
    (failure,) = (each for each in failed if each.situation.name == ONE)
    step = {"kind": "use", "target": "crafting_table", "count": 1, "checks": []}

    def say(_failure: Failure, request: ModelRequest) -> str:
        return proposal(request, {"kind": "craft", **trigger}, note, [step])

    scored = score([failure], Scripted([failure], say), minecraft)
    row = scored.verdicts.row(0, named=True)
    assert (row["cause"], row["removed"]) == (expected, True)
    assert row["repair"] == ["use crafting_table x1"]


def test_the_same_score_is_kept_in_the_same_place(
    few: list[Failure], minecraft: Domain, tmp_path: Path
) -> None:
    one, other = (score(few[:3], Scripted(few, right), minecraft) for _ in range(2))
    assert record(tmp_path, one) == record(tmp_path, other)
    assert record(tmp_path, dataclasses.replace(one, model="another")) != record(tmp_path, one)
    kept = pl.read_parquet(record(tmp_path, one) / "answers.parquet")
    assert set(kept.columns) == set(ANSWER_LOG)
    assert [json.loads(value)["decision"] for value in kept["value"]] == ["propose"] * 3
    assert pl.read_parquet(record(tmp_path, one) / "verdicts.parquet").equals(one.verdicts)
