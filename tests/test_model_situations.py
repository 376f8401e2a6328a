"""The situations that models are scored on: each fails as it says, and fails again without a repair."""

from pathlib import Path

import pytest

from prompts.inducer import NOT_THE_AGENTS, requests_for
from rollouts.model_score.playing import Failure, UnfitSituationError, failures, subgoal_of, succeeds_after
from rollouts.worlds.techtree.situations import SituationFileError, load_situations
from warehouse.domains import Domain
from warehouse.knowledge import Check, Step

SITUATIONS = load_situations()
UNMADE = {"INVALID_ACTION", "RECIPE_FAIL", "PREMATURE_STOP"}
"""Curator accepts no remedy for the first; the others do not happen in techtree to the scripted executor."""


@pytest.fixture(scope="module")
def failed(minecraft: Domain) -> list[Failure]:
    """All situations, failed."""
    return failures(SITUATIONS, minecraft)


def test_there_are_forty_of_every_failure_type_that_can_be_made(minecraft: Domain) -> None:
    assert len(SITUATIONS) == 40
    told = {name for situation in SITUATIONS for name in situation.failure}
    assert told == set(minecraft.failure_types) - NOT_THE_AGENTS - UNMADE


def test_each_fails_as_it_says_and_is_asked_about_once(failed: list[Failure]) -> None:
    for failure in failed:
        fact, situation = failure.fact, failure.situation
        assert fact.y is False, situation.name
        assert fact.failure_type in situation.failure, situation.name
        assert any(each.remedy_due for each in failure.facts), situation.name
        assert failure.request.role == "inducer_remedy"
    assert len({failure.request.request_id for failure in failed}) == len(failed)


def test_a_request_is_what_inducer_would_ask(failed: list[Failure], minecraft: Domain) -> None:
    for failure in failed[::8]:
        assert failure.request in requests_for(failure.facts, minecraft)


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.name)
def test_without_a_repair_it_fails_again(situation, minecraft: Domain) -> None:  # type: ignore[no-untyped-def]
    assert not succeeds_after(situation, (), minecraft)


def test_waiting_mends_nothing_but_an_open_screen(minecraft: Domain) -> None:
    several = [situation for situation in SITUATIONS[::3] if "TIMEOUT" not in situation.failure]
    mended = {
        failure
        for situation in several
        if succeeds_after(situation, (Step(kind="wait"),), minecraft)
        for failure in situation.failure
    }
    assert mended == {"GUI_STALL"}


def test_the_same_situation_fails_the_same_way(failed: list[Failure], minecraft: Domain) -> None:
    chosen = [failure for failure in failed if failure.fact.failure_type in ("DEATH", "NAV_STUCK")]
    again = failures([failure.situation for failure in chosen], minecraft)
    assert [each.facts for each in again] == [each.facts for each in chosen]
    assert [each.request.request_id for each in again] == [each.request.request_id for each in chosen]


def test_a_step_is_handed_on_as_it_stands() -> None:
    check = Check(type="station_near", name="furnace")
    step = Step(kind="move", target="blast_furnace", count=2, checks=(check,))
    subgoal = subgoal_of(step, 3)
    assert (subgoal.subgoal_id, subgoal.condition) == ("repair_3", "move blast furnace")
    assert (subgoal.kind, subgoal.target, subgoal.count, subgoal.checks) == (
        "move",
        "blast_furnace",
        2,
        (check,),
    )


def test_a_situation_that_does_not_fail_is_no_situation(minecraft: Domain) -> None:
    table = next(each for each in SITUATIONS if each.name.endswith("and no table"))
    easy = table.model_copy(update={"stage": (("block", "crafting_table", 1, 0, 0),)})
    with pytest.raises(UnfitSituationError, match="and no table: no remedy is due"):
        failures([easy], minecraft)


ROW = """
[[situation]]
name = "{name}"
rule = "r"
goal = {{ kind = "mine", target = "oak_log", seconds = 1 }}
{more}
failure = ["TIMEOUT"]
repair = [{{ kind = "wait" }}]
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            ROW.format(name="a", more='stage = [["volcano", 1]]'),
            "situation 1: no stage 'volcano'; there are",
        ),
        (ROW.format(name="a", more='stage = [["block", "stone"]]'), "situation 1: .*missing 3 required"),
        (ROW.format(name="a", more="") * 2, "situation 2: the name 'a' is taken"),
        (ROW.format(name="a", more="mood = 1"), "situation 1: .*mood"),
    ],
    ids=["stage", "arguments", "twice", "key"],
)
def test_a_wrong_row_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "situations.toml"
    path.write_text(text)
    with pytest.raises(SituationFileError, match=f"(?s){said}"):
        load_situations(path)
