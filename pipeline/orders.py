"""Orders: which build of which curriculum is to be played, written down before it is begun.

    orders/<build>.json     what the build plays, what its snapshot is asked, and whether it is learnt from

An order is written once and never changed, so that a build that was begun is completed as it was begun,
whatever the settings say by then. What there is of a build is read from the store: neither a clock nor a
note decides whether it is whole. So whoever is asked to do the next build, once or ten times, does the same
one until it is whole, and then the one after it.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from assets.exercise_config import ExerciseConfig
from pipeline.curricula import Curriculum, PlannedBuild, chosen
from rollouts.evaluation import EMPTY, FROZEN, NOBODY, evaluation_home
from rollouts.lineage import TRAINING, episodes_of
from warehouse.database import LOCK_WAIT_S, exclusive
from warehouse.domains import Domain
from warehouse.shards import DamagedShardError, write_bytes
from warehouse.snapshots import published_snapshot
from warehouse.trace_store import feedback_store, trace_store

_DIGITS: Final = 4
_OF_AN_EPISODE: Final = ("task_id", "world_seed", "planner_seed", "horizon", "snapshot_id", "agent")


class OrderError(ValueError):
    """A build cannot be ordered, or not as it is asked for; the text says what can be done."""


class Order(BaseModel):
    """What a build is to be."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    build: str
    curriculum: str
    number: int
    """the build's place in the curriculum, from 1"""
    model: str
    """the row of the model that plays and learns"""
    learning: dict[str, Any] | None = None
    """what else decides what is learnt, by the names of the settings; null in orders that do not say"""
    update_store: bool
    groups: tuple[str, ...]
    training: dict[str, Any]
    """ExerciseConfig of its training, without the number of workers"""
    asked: tuple[str, ...]
    """the groups that its snapshot is evaluated in"""
    evaluation: dict[str, Any]
    """ExerciseConfig of its evaluation, without the number of workers"""

    def is_as(self, wanted: "Order") -> bool:
        """Whether the build was begun as it is wanted now. How it is evaluated may have changed since; what
        an older order does not say does not count."""
        kept: dict[str, Any] = {"asked": self.asked, "evaluation": self.evaluation}
        if self.learning is None:
            kept["learning"] = None
        return self == wanted.model_copy(update=kept)


def order_of(
    curriculum: Curriculum,
    planned: PlannedBuild,
    build: str,
    model: str,
    learning: Mapping[str, Any] | None = None,
) -> Order:
    """The order for a build of a curriculum, under this name, with this model and these settings of what is
    learnt."""
    row = curriculum.row
    played = {"suite": row.suite, "agent": row.agent, "seed": row.seed, "horizon_cap": row.horizon_cap}
    evaluated = row.evaluate
    asked = chosen(curriculum.suite, evaluated.groups, evaluated.tasks)
    return Order(
        build=build,
        curriculum=curriculum.name,
        number=planned.number,
        model=model,
        learning=None if learning is None else dict(learning),
        update_store=planned.update_store,
        groups=planned.groups,
        training=_stated(
            **played,
            tasks=list(planned.episodes),
            worlds=dict(planned.episodes),
            planners=row.planners,
            update_store=planned.update_store,
        ),
        asked=tuple(group for group in curriculum.suite.groups if any(task.group == group for task in asked)),
        evaluation=_stated(
            **played,
            tasks=[task.id for task in asked],
            episodes=evaluated.worlds,
            planners=evaluated.planners,
            crossed=evaluated.crossed,
        ),
    )


def _stated(**config: Any) -> dict[str, Any]:
    return {key: value for key, value in config.items() if value is not None}


def read_order(home: Path, build: str) -> Order | None:
    """The order for a build; None where it was never ordered."""
    path = _path(home, build)
    if not path.is_file():
        return None
    try:
        return Order.model_validate(orjson.loads(path.read_bytes()))
    except (orjson.JSONDecodeError, ValidationError) as error:
        raise DamagedShardError(f"{path} is damaged: {error}") from error


def read_orders(home: Path) -> list[Order]:
    """All orders, sorted by build."""
    builds = sorted(path.stem for path in (home / "orders").glob("*.json"))
    return [order for build in builds if (order := read_order(home, build))]


def place_order(home: Path, order: Order) -> Order:
    """Writes an order down, unless the build has one: that one stays. The order that there is."""
    with exclusive(_lock(home), str(home / "orders")):
        found = read_order(home, order.build)
        if found is None:
            write_bytes(
                _path(home, order.build),
                orjson.dumps(order.model_dump(mode="json"), option=orjson.OPT_INDENT_2),
            )
        return found or order


def due(
    home: Path, curriculum: Curriculum, model: str, learning: Mapping[str, Any] | None = None
) -> Order | None:
    """The order to be worked on now: the first that is not whole, whatever curriculum it is of, or else a
    new one for the curriculum's next build. None when the curriculum is at its end.

    Asked again before that build is whole, it answers the same. `OrderError` where no next build can be
    named.
    """
    orders = read_orders(home)
    for order in orders:
        if not is_whole(home, order):
            return order
    done = sum(order.curriculum == curriculum.name for order in orders)
    planned = curriculum.build(done + 1)
    if planned is None:
        return None
    return place_order(home, order_of(curriculum, planned, next_build(home), model, learning))


def next_build(home: Path) -> str:
    """The name of the build after the last that was begun: ordered, played or published. A build that holds
    recordings alone was not begun: what a watched folder brought waits there for the next build.

    >>> next_build(Path("nowhere"))
    '0001'
    """
    pointers = (path.stem for path in (home / "snapshots" / "builds").glob("*.json"))
    played = (build for build, _ in _trained_partitions(home))
    begun = sorted({order.build for order in read_orders(home)}.union(pointers, played))
    if not begun:
        return f"{1:0{_DIGITS}}"
    last = begun[-1]
    following = f"{int(last) + 1:0{len(last)}}" if last.isdecimal() and last.isascii() else ""
    if following <= last:
        raise OrderError(
            f"the last build is called {last!r}, and builds that are made by themselves are numbered and "
            "come after it in sorted order: there is no such number. Use another data home "
            "(MINEEVOLVE_DATA)."
        )
    return following


def is_trained(home: Path, order: Order) -> bool:
    """Whether all groups of the build were played and judged."""
    judged = feedback_store(home).sources(order.build)
    return all((group, TRAINING) in judged for group in order.groups)


def is_whole(home: Path, order: Order) -> bool:
    """Whether the build was played, judged and has published."""
    return published_snapshot(home, order.build) is not None and is_trained(home, order)


def is_evaluated(home: Path, order: Order, domain: Domain) -> bool:
    """Whether every episode of the order's evaluation is there, played with the snapshot that the build
    publishes now, and every one of the empty store."""
    snapshot_id = published_snapshot(home, order.build)
    if snapshot_id is None:
        return False
    exercises = ExerciseConfig(**order.evaluation).exercises(domain, order.asked)
    own = evaluation_home(home)
    for group, exercise in exercises.items():
        for build, source, snapshot in ((order.build, FROZEN, snapshot_id), (NOBODY, EMPTY, None)):
            # By what makes an episode, and not by its id: that is of a configuration which holds the model,
            # and a model has to be started to be named.
            wanted = {
                (spec.task_id, spec.world_seed, spec.planner_seed, spec.horizon, snapshot, exercise.row.name)
                for spec in exercise.evaluation(build, snapshot)
            }
            held = set(episodes_of(own, build, group, source).select(_OF_AN_EPISODE).iter_rows())
            if not wanted <= held:
                return False
    return True


@contextmanager
def working_on(home: Path, wait_s: float = LOCK_WAIT_S) -> Iterator[None]:
    """Held by whoever makes a build of this home; `BusyError` when another process still does after
    `wait_s`."""
    with exclusive(home / "orders" / ".work.lock", f"the builds of {home}", wait_s):
        yield


def _trained_partitions(home: Path) -> set[tuple[str, str]]:
    store = trace_store(home)
    return {
        (build, group)
        for build in store.builds()
        for group, source in store.sources(build)
        if source == TRAINING
    }


def _path(home: Path, build: str) -> Path:
    return home / "orders" / f"{build}.json"


def _lock(home: Path) -> Path:
    return home / "orders" / ".orders.lock"
