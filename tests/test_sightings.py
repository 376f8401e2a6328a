"""What is in view: the nearest of each name, and rows only for what changed."""

import numpy as np
import pytest

from rollouts.protocols import Observation, Seen, Window
from rollouts.sightings import Lookout, Thing, View, changes, names_in, stations_near
from tests.fake_world import FakeWorld
from warehouse.domains import Domain

PALETTE = ("unknown", "air", "oak_log", "furnace", "vibranium_ore")


def seen(*blocks: tuple[int, int, str], entities: tuple[Seen, ...] = (), x: float = 0.5) -> Observation:
    """An observation with blocks at (x, y) in the plane z = 0; everything else is air."""
    cells = np.full((21, 5, 1), 1, dtype=np.uint16)
    for at, height, name in blocks:
        cells[at + 10, height, 0] = PALETTE.index(name)
    first = FakeWorld().reset(0)
    return first._replace(x=x, y=0.0, z=0.5, window=Window(cells, (-10, 0, 0), PALETTE, entities))


def looked(lookout: Lookout, observation: Observation) -> View:
    view = lookout.look(observation)
    assert view is not None
    return view


def test_the_nearest_of_each_name_counts_from_the_eyes(minecraft: Domain) -> None:
    view = looked(Lookout(minecraft), seen((3, 1, "oak_log"), (7, 1, "oak_log"), (2, 0, "furnace")))
    assert view[Thing("block", "oak_log")] == pytest.approx(np.hypot(3.0, minecraft.eye_height - 1.5))
    assert view[Thing("station", "furnace")] == pytest.approx(np.hypot(2.0, minecraft.eye_height - 0.5))
    assert list(view) == sorted(view)
    assert names_in(view) == ["air", "furnace", "oak_log"]
    assert stations_near(view, minecraft.reach) == ["furnace"]


def test_what_is_hidden_or_no_thing_of_the_domain_is_not_seen(minecraft: Domain) -> None:
    view = looked(Lookout(minecraft), seen((3, 1, "unknown"), (4, 1, "vibranium_ore")))
    assert names_in(view) == ["air"]


def test_entities_are_seen_at_their_own_places(minecraft: Domain) -> None:
    cows = (Seen("cow", 9.5, 0.0, 0.5), Seen("cow", 4.5, minecraft.eye_height, 0.5))
    view = looked(Lookout(minecraft), seen(entities=cows))
    assert view[Thing("entity", "cow")] == pytest.approx(4.0)


def test_a_lookout_sees_what_moved_broke_or_came(minecraft: Domain) -> None:
    lookout = Lookout(minecraft)
    there = Thing("block", "oak_log")
    first = looked(lookout, seen((7, 1, "oak_log")))
    nearer = looked(lookout, seen((7, 1, "oak_log"), x=4.5))
    broken = looked(lookout, seen(x=4.5))
    came = looked(lookout, seen(x=4.5, entities=(Seen("cow", 4.5, 0.0, 0.5),)))
    assert first[there] > minecraft.reach > nearer[there]
    assert there not in broken
    assert Thing("entity", "cow") in came


def test_only_changes_of_sight_and_reach_make_rows(minecraft: Domain) -> None:
    lookout = Lookout(minecraft)
    views = [looked(lookout, seen((7, 1, "oak_log"), x=x)) for x in (0.5, 1.5, 4.5)] + [
        lookout.look(seen(x=4.5))
    ]
    rows = []
    before: View = {}
    for tick, view in enumerate(views):
        rows += [row for row in changes(before, view, tick, minecraft.reach) if row["name"] == "oak_log"]
        before = view
    assert [(row["tick"], row["in_reach"], row["visible"]) for row in rows] == [
        (0, False, True),
        (2, True, True),
        (3, None, False),
    ]
    assert rows[2]["distance"] is None


def test_a_view_is_the_same_object_while_nothing_of_it_makes_a_row(minecraft: Domain) -> None:
    lookout = Lookout(minecraft)
    cow, far = Seen("cow", 9.5, 0.0, 0.5), Seen("cow", 10.5, 0.0, 0.5)
    there = Thing("block", "oak_log")
    first = looked(lookout, seen((7, 1, "oak_log")))
    was = first[there]
    assert looked(lookout, seen((7, 1, "oak_log"), x=1.5)) is first
    assert first[there] < was, "its distances are those of now"
    crowd = looked(lookout, seen((7, 1, "oak_log"), x=1.5, entities=(cow,)))
    assert crowd is not first
    assert looked(lookout, seen((7, 1, "oak_log"), x=2.5, entities=(cow, far))) is crowd
    assert crowd[there] == first[there] < was - 1.5
    assert crowd[Thing("entity", "cow")] == pytest.approx(7.0, abs=0.3)
    reached = looked(lookout, seen((7, 1, "oak_log"), x=6.5, entities=(cow, far)))
    assert reached is not crowd
    assert looked(lookout, seen((7, 1, "oak_log"), x=6.5)) is not first


def test_without_a_window_nothing_is_known(minecraft: Domain) -> None:
    assert Lookout(minecraft).look(seen()._replace(window=None)) is None
