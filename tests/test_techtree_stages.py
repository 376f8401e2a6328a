"""Stages: what is put into a world before an attempt, by name."""

import pytest

from rollouts.protocols import Action
from rollouts.worlds.techtree import Settings
from rollouts.worlds.techtree.stages import StagedWorld, feet, stage_of
from warehouse.domains import Domain

ROWS = (["box", "stone", 2, 0, -1, 3, 1, 1], ["block", "furnace", 1, 0, 0], ["body", 3, 7])


def staged(minecraft: Domain, *rows: list[str | int], **pack: int) -> StagedWorld:
    return StagedWorld(minecraft, Settings(ground="flat"), pack, stage_of(rows))


def test_a_stage_is_set_at_every_reset_and_nobody_sees_it_happen(minecraft: Domain) -> None:
    world = staged(minecraft, *ROWS, bread=2)
    first = world.reset(0)
    world.step(Action(attack=True), 20)
    again = world.reset(0)
    for seen in (first, again):
        assert (seen.tick, seen.inventory, seen.health, seen.hunger) == (0, {"bread": 2}, 3.0, 7.0)
        assert seen.message is None
    advance = world.step(Action(), 1)
    assert advance.changes == ()
    assert advance.events == ()


def test_a_box_holds_every_cell_between_its_corners_and_ends_with_the_world(minecraft: Domain) -> None:
    world = staged(minecraft, ["box", "stone", 2, 0, -1, 3, 1, 1], ["box", "sand", -200, 0, 5, 200, 0, 5])
    world.reset(0)
    play = world.play
    x, y, z = feet(play)
    block = play.catalogue.block
    assert int((play.blocks[x - 1 : x + 6, y : y + 4, z - 3 : z + 4] == block["stone"]).sum()) == 2 * 2 * 3
    assert play.block((x + 3, y + 1, z - 1)) == "stone"
    assert int((play.blocks == block["sand"]).sum()) == play.blocks.shape[0]


def test_an_unknown_stage_is_named() -> None:
    with pytest.raises(ValueError, match="no stage 'volcano'; there are: block, box, body, creature"):
        stage_of([["volcano", 1]])
