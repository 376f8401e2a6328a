"""Random small traces in the contract, for properties that hold for every trace."""

import dataclasses
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from rollouts.trace import Trace
from tests.monitor_scenes import Point, Row, Try, says, scene, sees
from warehouse.vocabulary import ATTEMPT_ENDS, GUIS, OBSERVABLES, SIGNALS

AIMS = (
    ("mine", "iron_ore"),
    ("mine", "#logs"),
    ("craft", "stick"),
    ("smelt", "iron_ingot"),
    ("combat", "cow"),
    ("move", None),
    (None, None),
)
NAMES = (None, "iron_ore", "oak_planks", "craft:stick", "smelt:iron_ingot", "mine:iron_ore")
ITEMS = ("iron_ore", "oak_planks", "bread", "stick")
CHECKS: tuple[Row, ...] = (
    {"type": "inv_ge", "name": "#planks", "value": 2},
    {"type": "ypos_le", "value": 63},
    {"type": "path_clear"},
)


def stretches(values: st.SearchStrategy[Any], length: int) -> st.SearchStrategy[list[Any]]:
    """Values that stay the same for a while, as most columns of a recording do."""
    pieces = st.lists(st.tuples(values, st.integers(1, 60)), min_size=1, max_size=4)

    def spread(drawn: list[tuple[Any, int]]) -> list[Any]:
        long = [value for value, times in drawn for _ in range(times)]
        return (long * length)[:length]

    return pieces.map(spread)


@st.composite
def tries(draw: st.DrawFn) -> Try:
    """One attempt of anything between nothing and 150 ticks."""
    kind, target = draw(st.sampled_from(AIMS))
    length = draw(st.sampled_from([0, 1, 2, 7, 120, 150]))

    def maybe(make: Callable[[], Any]) -> Any:
        return make() if draw(st.booleans()) else ()

    place = st.one_of(st.none(), st.tuples(*[st.integers(-24, 24).map(lambda n: n / 4)] * 3))
    path: list[Point | None] = draw(stretches(place, length))
    columns = {
        "health": draw(stretches(st.sampled_from([20.0, 4.0, None]), length)),
        "hunger": draw(stretches(st.sampled_from([20.0, 9.0]), length)),
        "alive": draw(stretches(st.sampled_from([True, True, None, False]), length)),
        "gui": draw(stretches(st.sampled_from([*GUIS, None]), length)),
        "action": draw(stretches(st.sampled_from(["noop", "forward", "attack", None]), length)),
        "equipped": draw(stretches(st.sampled_from(["", "stone_pickaxe", None]), length)),
    }
    moment = st.integers(0, max(length - 1, 0))
    spoken = st.builds(
        says,
        st.sampled_from(SIGNALS),
        moment,
        name=st.sampled_from(NAMES),
        count=st.sampled_from([None, 1, 3]),
    )
    broken = st.fixed_dictionaries(
        {
            "tick": moment,
            "kind": st.just("counter"),
            "name": st.just("mine_block:iron_ore"),
            "count": st.just(1),
        }
    )
    changes = draw(st.lists(st.tuples(moment, st.sampled_from(ITEMS), st.integers(-1, 2)), max_size=3))
    return Try(
        kind=kind,
        target=target,
        needed=draw(st.sampled_from([None, 1, 4])),
        gained=draw(st.sampled_from([None, 0, 2])),
        success=draw(st.sampled_from([True, False, False, None])),
        claimed=draw(st.booleans()),
        condition=draw(st.sampled_from(["a", "b", None])),
        end=draw(st.sampled_from(ATTEMPT_ENDS)),
        path=path,
        ticks=columns,
        events=sorted(
            maybe(lambda: draw(st.lists(st.one_of(spoken, broken), max_size=3))),
            key=lambda event: event["tick"],
        ),
        sightings=maybe(
            lambda: draw(st.lists(st.builds(sees, st.sampled_from(["iron_ore", "cow"]), moment), max_size=2))
        ),
        changes=sorted((change for change in changes if change[2]), key=lambda change: change[0]),
        held=dict.fromkeys(ITEMS, 8),
        checks=draw(st.sampled_from([None, CHECKS])),
    )


@st.composite
def episodes(draw: st.DrawFn) -> list[Trace]:
    """A few episodes, each a trace of its own."""
    seen = st.sampled_from([OBSERVABLES, ("position",), ("inventory", "messages")])
    return [
        scene(*draw(st.lists(tries(), max_size=5)), episode=f"episode {number}", observes=draw(seen))
        for number in range(draw(st.integers(1, 4)))
    ]


def first_attempts(each: Trace, count: int) -> Trace:
    """The trace as it was when so many attempts were over."""
    return attempts_between(each, 0, count)


def attempts_between(each: Trace, first: int, end: int) -> Trace:
    """The trace without the attempts before `first`, and without `end` and those after it."""
    return dataclasses.replace(
        each,
        **{
            name: frame.filter((frame["attempt"] >= first) & (frame["attempt"] < end))
            for name, frame in each.frames().items()
            if "attempt" in frame.columns
        },
    )
