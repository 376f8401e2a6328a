"""The stand-in's misconceptions: drawn once, persistent, growing with their share, alike for things alike."""

import itertools

import pytest
from pydantic import ValidationError

from prompts.engines.beliefs import (
    SETTINGS_FILE,
    Beliefs,
    Heights,
    StandInSettings,
    believe,
    diagnosed,
    standin_settings,
    within_reach,
)
from prompts.inducer import requests_for
from prompts.situations import RemedySituation
from tests.test_inducer import failure, state
from warehouse.domains import Domain
from warehouse.vocabulary import FAILURE_TYPES

HEIGHTS = {"iron_ore": Heights(5, 60), "diamond_ore": Heights(5, 15)}


def test_nobody_is_mistaken_at_share_0(minecraft: Domain) -> None:
    beliefs = believe(minecraft, seed=7, share=0, heights=HEIGHTS)
    assert beliefs.facts is minecraft
    assert beliefs.wrong == ()
    assert dict(beliefs.heights) == HEIGHTS


def test_misconceptions_persist_and_differ_by_seed(minecraft: Domain) -> None:
    one, same, other = (believe(minecraft, seed, 0.2, HEIGHTS) for seed in (3, 3, 4))
    assert one.content_hash == same.content_hash
    assert one.wrong == same.wrong
    assert one.content_hash != other.content_hash


def test_a_larger_share_only_adds(minecraft: Domain) -> None:
    wrong = [set(believe(minecraft, 5, share, HEIGHTS).wrong) for share in (0.05, 0.2, 0.5, 1.0)]
    for smaller, larger in itertools.pairwise(wrong):
        assert smaller < larger


def test_the_share_is_about_what_is_asked_for(minecraft: Domain) -> None:
    everything = len(believe(minecraft, 1, 1.0).wrong)
    for seed in range(4):
        found = len(believe(minecraft, seed, 0.2).wrong)
        assert 0.15 * everything < found < 0.25 * everything


def test_every_kind_of_misconception_occurs_and_changes_the_copy(minecraft: Domain) -> None:
    wrong: list[str] = []
    for seed in range(6):
        beliefs = believe(minecraft, seed, 0.5, HEIGHTS)
        wrong += beliefs.wrong
        assert_told(minecraft, beliefs)
    for what in (
        "the station is forgotten",
        "of ingredient",
        "ingredient 2 is forgotten",
        "no pickaxe instead of",
        "golden pickaxe instead of stone",
        "iron pickaxe instead of stone",
        "it takes no fuel",
        "it lasts twice as long",
        "it is forgotten",
        "too high",
    ):
        assert any(what in each for each in wrong), what


def assert_told(domain: Domain, beliefs: Beliefs) -> None:
    """What is listed is what is different."""
    changed = {
        f"tool:{block}"
        for block in domain.harvest
        if beliefs.facts.harvest.get(block) != domain.harvest[block]
    }
    changed |= {f"smelting:{product}" for product in beliefs.without_fuel}
    changed |= {f"height:{block}" for block in HEIGHTS if beliefs.heights.get(block) != HEIGHTS[block]}
    listed = {each.partition(": ")[0] for each in beliefs.wrong}
    assert {each for each in listed if each.split(":")[0] in ("tool", "smelting", "height")} == changed


def test_things_that_are_alike_are_mistaken_alike(minecraft: Domain) -> None:
    planks = sorted(minecraft.tags["planks"])
    for seed in range(30):
        facts = believe(minecraft, seed, 0.5).facts
        shapes = {
            (
                tuple(number for _, number in facts.recipes[each][0].ingredients),
                facts.recipes[each][0].needs_table,
            )
            for each in planks
        }
        assert len(shapes) == 1
        assert len({facts.fuels[each] for each in minecraft.tags["coals"]}) == 1


def test_another_dimension_is_not_planned_with(minecraft: Domain) -> None:
    farthest = standin_settings().beliefs.farthest_effort
    near = within_reach(believe(minecraft), farthest).facts
    assert "nether_gold_ore" in minecraft.block_effort
    assert "nether_gold_ore" not in near.block_effort
    assert near.sources("gold_ingot")[0] == ("smelt", "gold_ingot")
    assert near.recipes == minecraft.recipes


@pytest.mark.parametrize("share", [-0.1, 1.5])
def test_a_share_outside_0_to_1_is_refused(minecraft: Domain, share: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        believe(minecraft, 1, share)


def test_the_settings_say_why() -> None:
    settings = standin_settings()
    assert 0 < settings.inducer.wrong_diagnoses < settings.beliefs.misconceptions < 1
    lines = SETTINGS_FILE.read_text(encoding="utf-8").splitlines()
    for at, line in enumerate(lines):
        if line and not line.startswith(("#", "[", "per_item", "per_effort", "most")):
            assert lines[at - 1].startswith("#"), f"{line!r} has no reason above it"
    changed = settings.model_dump()
    changed["beliefs"]["misconceptions"] = 0.3
    assert StandInSettings.model_validate(changed).settings_hash != settings.settings_hash
    with pytest.raises(ValidationError):
        StandInSettings.model_validate({**changed, "unread": 1})


def test_timeouts_grow_with_count_effort_and_failures() -> None:
    timeouts = standin_settings().timeouts
    once = timeouts.of("mine", 3, 1.0, 0)
    assert once == 40 + 18 + 10
    assert timeouts.of("mine", 4, 1.0, 0) > once
    assert timeouts.of("mine", 3, 2.0, 0) > once
    assert timeouts.of("mine", 3, 1.0, 1) == round(once * timeouts.again)
    assert timeouts.of("mine", 64, 8.0, 4) == timeouts.most


def situation_of(domain: Domain, failure_type: str, episode: str) -> RemedySituation:
    fact = failure("craft", "stone_axe", failure_type, episode=episode, before=state({}, near=[]))
    [request] = requests_for([fact], domain)
    assert isinstance(request.situation, RemedySituation)
    return request.situation


def test_a_wrong_diagnosis_is_rare_repeatable_and_of_another_kind(minecraft: Domain) -> None:
    shown = [situation_of(minecraft, "MISSING_STATION", f"e{number}") for number in range(200)]
    understood = [diagnosed(each, 5, 0.1) for each in shown]
    assert understood == [diagnosed(each, 5, 0.1) for each in shown]
    mistaken = [each for each in understood if each.failure_type != "MISSING_STATION"]
    assert 8 <= len(mistaken) <= 35
    assert {each.failure_type for each in mistaken} == {"MISSING_INGREDIENT"}
    assert {each.missing for each in mistaken} == {()}
    assert [diagnosed(each, 5, 0.0) for each in shown] == shown


def test_what_a_failure_is_taken_for_is_a_failure_type(minecraft: Domain) -> None:
    for failure_type in FAILURE_TYPES:
        if failure_type in ("INFRASTRUCTURE", "UNKNOWN"):
            continue
        shown = situation_of(minecraft, failure_type, "e0")
        understood = diagnosed(shown, 1, 1.0)
        assert understood.failure_type in FAILURE_TYPES
