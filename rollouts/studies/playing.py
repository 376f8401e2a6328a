"""The frozen evaluation of all studies: every checkpoint of every curriculum, the last checkpoint of the
accumulation without its remedies, and the empty store, all in the same worlds.

It is stored below the studies' own `evaluation/`, once for all curricula: the empty store is played once, and
the backend's processes have work until the last episodes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from rollouts.backends import RolloutBackend
from rollouts.episode import Episode
from rollouts.evaluation import EMPTY, FROZEN, NOBODY, evaluation_home
from rollouts.exercise import Exercise
from rollouts.lineage import episodes_of
from rollouts.planner import Timed
from rollouts.protocols import EpisodeSpec
from rollouts.recorder import Batch, episode_id_of
from rollouts.rounds import roll_out
from rollouts.studies.plan import WITHOUT, Checkpoint, Course, StudyPlan, course_home, filed_as
from warehouse import telemetry
from warehouse.entries import Entry
from warehouse.snapshots import load_snapshot
from warehouse.trace_store import trace_store

Exercises = Callable[[Course, str], Mapping[str, Exercise]]
"""(course, agent) -> group -> what its checkpoints are asked there"""


class Arm(NamedTuple):
    """Episodes that are played with one snapshot, or with none, by one agent."""

    filed: str
    source: str
    specs: Mapping[str, list[EpisodeSpec]]
    """by group"""
    exercise: Exercise
    entries: tuple[Entry, ...] = ()


@dataclass
class Watch:
    """Keeps what each retrieval took, for telemetry."""

    rows: list[dict[str, Any]] = field(default_factory=list)

    def of(self, filed: str) -> Callable[[Timed], None]:
        """What a crew's retrievals are told to."""

        def note(timed: Timed) -> None:
            self.rows.append({"at": telemetry.now(), "build": filed, **timed._asdict()})

        return note


def arms(own: Path, plan: StudyPlan, exercises: Exercises) -> list[Arm]:
    """All that is played. `load_snapshot`'s errors where a snapshot is gone or damaged."""
    frozen: list[Arm] = []
    asked: dict[str, dict[tuple[str, int, int], EpisodeSpec]] = {}
    for course in plan.courses:
        own_exercises = exercises(course, plan.agent)
        for group, exercise in own_exercises.items():
            # Curricula that ask the same tasks share worlds, the first ones: no world is played twice.
            asked.setdefault(group, {}).update(
                ((spec.task_id, spec.world_seed, spec.planner_seed), spec)
                for spec in exercise.evaluation(NOBODY, None)
            )
        frozen += [
            _frozen(own, course, checkpoint, own_exercises, filed_as(course, checkpoint))
            for checkpoint in course.checkpoints
        ]
    course = plan.accumulation
    without = filed_as(course, course.last, WITHOUT)
    empty = {group: [specs[key] for key in sorted(specs)] for group, specs in asked.items()}
    return [
        Arm(NOBODY, EMPTY, empty, frozen[0].exercise),
        *frozen,
        _frozen(own, course, course.last, exercises(course, WITHOUT), without),
    ]


def _frozen(
    own: Path, course: Course, checkpoint: Checkpoint, exercises: Mapping[str, Exercise], filed: str
) -> Arm:
    snapshot = load_snapshot(course_home(own, course.name) / "snapshots" / checkpoint.snapshot_id)
    specs = {
        group: exercise.evaluation(filed, checkpoint.snapshot_id) for group, exercise in exercises.items()
    }
    return Arm(filed, FROZEN, specs, next(iter(exercises.values())), snapshot.entries)


def play(own: Path, held: Sequence[Arm], backend: RolloutBackend) -> None:
    """Plays what is missing of these arms. What retrievals took is written at the end, however it ends."""
    home = evaluation_home(own)
    batches = [Batch(home, arm.source, specs) for arm in held for specs in arm.specs.values()]
    watch = Watch()
    crews = {arm.filed: arm.exercise.crew(arm.entries, watch.of(arm.filed)) for arm in held}

    def begin(spec: EpisodeSpec) -> Episode:
        return crews[spec.build].begin(spec)

    # Whom an episode asks is the same in every arm: they differ in what is retrieved for the question.
    crew = replace(next(iter(crews.values())), begin=begin)
    try:
        roll_out(batches, backend, crew, "frozen evaluation of all studies")
    finally:
        telemetry.append_retrievals(own, watch.rows)


def episodes_with(own: Path, filed: str, tasks: Sequence[str]) -> pl.DataFrame:
    """The stored episodes of an arm in these tasks."""
    home = evaluation_home(own)
    source = EMPTY if filed == NOBODY else FROZEN
    groups = [group for group, name in trace_store(home).sources(filed) if name == source]
    frames = [episodes_of(home, filed, group, source) for group in groups]
    return pl.concat(frames).filter(pl.col("task_id").is_in(tasks))


def played(held: Sequence[Arm]) -> pl.DataFrame:
    """(arm, group, episodes): how much there is of each, in their order."""
    rows = [
        {"arm": arm.filed, "group": group, "episodes": len({episode_id_of(spec) for spec in specs})}
        for arm in held
        for group, specs in arm.specs.items()
    ]
    return pl.DataFrame(rows)
