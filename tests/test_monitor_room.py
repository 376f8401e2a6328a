"""Room in a pack, against the built-in world's own pack."""

from collections.abc import Mapping

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from rollouts.monitor import DEFAULTS
from rollouts.monitor.case import Case
from rollouts.monitor.room import room_at
from rollouts.monitor.watch import watch
from rollouts.worlds.techtree.catalogue import catalogue
from rollouts.worlds.techtree.pack import SLOTS, Pack
from tests.monitor_scenes import Try, scene, stand
from warehouse.domains import Domain, load_domain

DOMAIN = load_domain("minecraft")
ITEMS = ("oak_log", "stick", "snowball", "stone_pickaxe", "bucket", "dirt", "cobblestone")


def test_the_domain_and_the_world_agree_on_stacks_and_slots(minecraft: Domain) -> None:
    assert minecraft.slots == SLOTS
    stack = catalogue(minecraft).stack
    # What the game's later versions added is not in the world's table; it stacks like most things.
    different = {
        item for item in minecraft.items if stack(item) != minecraft.stacks.get(item, minecraft.stack)
    }
    assert different == set()


def room(held: Mapping[str, int], changes: list[tuple[int, str, int]], item: str, tick: int) -> int:
    trace = scene(Try(path=stand(20), held=held, changes=changes))
    case = Case(
        attempts=trace.attempts,
        events=trace.events,
        sightings=trace.sightings,
        inventory_changes=trace.inventory_changes,
        watched=watch(trace.ticks, DOMAIN, DEFAULTS),
        domain=DOMAIN,
        settings=DEFAULTS,
    )
    asked = trace.attempts.select("episode_id", "attempt", tick=pl.lit(tick, pl.Int32), item=pl.lit(item))
    return int(room_at(asked, case)["room"].item())


@given(st.lists(st.tuples(st.sampled_from(ITEMS), st.integers(1, 200)), max_size=12), st.sampled_from(ITEMS))
@settings(max_examples=40, deadline=None)
def test_room_is_that_of_a_pack_that_was_filled_from_empty(adds: list[tuple[str, int]], item: str) -> None:
    pack = Pack(catalogue(DOMAIN).stack)
    for each, count in adds:
        pack.add(each, count)
    assert room(dict(pack.counts), [], item, 5) == pack.room(item)


def test_changes_before_the_tick_count_and_those_at_it_do_not() -> None:
    nothing_left = dict.fromkeys(sorted(DOMAIN.items - set(DOMAIN.stacks))[:35], 1)
    assert room(nothing_left, [(5, "bucket", 1)], "bucket", 5) == 16
    assert room(nothing_left, [(4, "bucket", 1)], "bucket", 5) == 15
    assert room(nothing_left, [(4, "bucket", 1), (4, "bucket", -1)], "bucket", 5) == 16


def test_a_domain_that_does_not_say_leaves_it_open() -> None:
    from dataclasses import replace

    trace = scene(Try(path=stand(5)))
    silent = replace(DOMAIN, slots=0)
    watched = watch(trace.ticks, silent, DEFAULTS)
    case = Case(
        trace.attempts, trace.events, trace.sightings, trace.inventory_changes, watched, silent, DEFAULTS
    )
    asked = trace.attempts.select("episode_id", "attempt", tick=pl.lit(3, pl.Int32), item=pl.lit("dirt"))
    assert room_at(asked, case)["room"].to_list() == [None]
