"""Worlds by name: where a domain is played, and what a world needs."""

import pytest

from rollouts.agent import agent_row
from rollouts.exercise import Exercise
from rollouts.worlds.registry import UnknownWorldError, Venue, open_at_once, side_by_side, venue_of, world
from warehouse.domains import Domain
from warehouse.suites import DEFAULT_SUITE, find_suite


def test_a_domain_has_a_usual_world_and_may_have_others() -> None:
    assert venue_of("minecraft") == Venue("techtree")
    assert venue_of("minecraft", "mineflayer", {"speed": 8}) == Venue("mineflayer", {"speed": 8})
    with pytest.raises(UnknownWorldError, match="minecraft is not played in 'crafter', but in: techtree"):
        venue_of("minecraft", "crafter")
    with pytest.raises(UnknownWorldError, match="no world to play chess in"):
        venue_of("chess")


def test_dear_worlds_are_few_at_a_time() -> None:
    assert open_at_once(Venue("techtree")) is None
    assert open_at_once(Venue("mineflayer")) == 2
    assert open_at_once(Venue("mineflayer", {"host": "example.org"})) == 1


def test_a_world_says_what_it_lacks(minecraft: Domain) -> None:
    with pytest.raises(UnknownWorldError, match="mineflayer has no setting colour; it has: host, port"):
        world("mineflayer", minecraft, {"colour": "red"})
    with pytest.raises(UnknownWorldError, match="make world-mineflayer"):
        world("mineflayer", minecraft, {"node": "no-such-program"})


def test_the_games_own_client_is_played_by_a_policy() -> None:
    there = venue_of("minecraft", "minestudio", {"games": 3}, {"weights": "/models/steve1"})
    assert (there.executor, there.executor_settings) == ("steve1", {"weights": "/models/steve1"})
    assert open_at_once(there) == 3


def test_worlds_that_are_processes_are_stepped_side_by_side() -> None:
    assert side_by_side(Venue("minestudio", {"games": 3})) == 3
    assert side_by_side(Venue("mineflayer")) == 2
    assert side_by_side(Venue("mineflayer", {"host": "example.org"})) == side_by_side(Venue("techtree")) == 1


def test_a_client_says_what_it_lacks(minecraft: Domain) -> None:
    with pytest.raises(UnknownWorldError, match=r"minestudio: frame is a width and a height, such as \[128"):
        world("minestudio", minecraft, {"frame": 128})
    with pytest.raises(
        UnknownWorldError, match="of its own at /no/python: make world-minestudio, or the set"
    ):
        world("minestudio", minecraft, {"python": "/no/python"})


def test_where_things_are_is_no_part_of_a_configuration(minecraft: Domain) -> None:
    suite, row = find_suite(DEFAULT_SUITE, minecraft), agent_row("full")

    def hashed(settings: dict[str, object], **hands: object) -> str:
        there = venue_of("minecraft", "minestudio", settings, hands)
        return Exercise.of_group(minecraft, suite, "wooden", ["wooden_00"], row, venue=there).config_hash

    assert hashed({"film": "a"}) == hashed({"film": "b", "python": "c", "games": 2})
    assert hashed({}) != hashed({"biome": "forest"})
    assert hashed({}, weights="a") != hashed({}, weights="b")
    assert hashed({}, weights="a", device="cpu") == hashed({}, weights="a", device="cuda")


def test_episodes_are_played_where_they_are_told_to(minecraft: Domain) -> None:
    suite, row = find_suite(DEFAULT_SUITE, minecraft), agent_row("full")
    usual = Exercise.of_group(minecraft, suite, "wooden", ["wooden_00"], row)
    there = Exercise.of_group(
        minecraft, suite, "wooden", ["wooden_00"], row, venue=Venue("mineflayer", {"speed": 8})
    )
    assert {spec.world for spec in usual.training("b1", None)} == {"techtree"}
    assert {spec.world for spec in there.training("b1", None)} == {"mineflayer"}
    assert {spec.settings["speed"] for spec in there.training("b1", None)} == {8}
    assert there.config_hash != usual.config_hash
