"""Frozen evaluation: a snapshot and the empty store in the same worlds, and nothing learnt from either.

Everything is below `evaluation/` of the data home, a home of its own with traces, rollouts and model answers,
so that no fold, no Inducer and no confidence ever sees it:

    evaluation/traces/<build>/<group>          source "frozen": with the build's snapshot
    evaluation/traces/empty-store/<group>      source "empty": without any knowledge, shared by all builds
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import polars as pl

from rollouts.backends import RolloutBackend
from rollouts.differences import by_planner, difference
from rollouts.episode import Episode
from rollouts.exercise import Exercise
from rollouts.lineage import episodes_of
from rollouts.protocols import EpisodeSpec
from rollouts.rates import Paired, counted, paired, pairs_of, weighted
from rollouts.recorder import Batch, episode_id_of
from rollouts.rounds import Crew, roll_out
from rollouts.seeds import is_for_evaluation
from rollouts.worlds.registry import WORLDS
from warehouse.snapshots import Snapshot
from warehouse.trace_store import trace_store

FROZEN: Final = "frozen"
EMPTY: Final = "empty"
NOBODY: Final = "empty-store"
"""The build that the empty store's episodes are filed under."""
ALL: Final = "all (weighted)"


class Evaluated(NamedTuple):
    """The episodes of both arms."""

    frozen: pl.DataFrame
    empty: pl.DataFrame

    @property
    def pairs(self) -> Paired:
        return paired(self.frozen, self.empty)


def evaluation_home(home: Path) -> Path:
    """The data home of evaluation episodes."""
    return home / "evaluation"


class Frozen(NamedTuple):
    """A build's snapshot, and what it is evaluated in: group -> what is played there."""

    build: str
    snapshot: Snapshot
    exercises: Mapping[str, Exercise]


def evaluate(
    home: Path, asked: Sequence[Frozen], backend: RolloutBackend
) -> dict[tuple[str, str], Evaluated]:
    """Plays what is missing of every snapshot's arm and of the empty store's, and gives the episodes of both
    by (build, group). Nothing outside of `evaluation/` is written.

    All of it is played in one go, so that the backend's processes have work until the last episodes.
    `ValueError` unless all exercises are of one agent and one configuration.
    """
    exercises = [exercise for each in asked for exercise in each.exercises.values()]
    if len({exercise.config_hash for exercise in exercises}) != 1:
        raise ValueError("what is evaluated in one go has to be of one agent and one configuration")
    empty = {
        group: exercise.evaluation(NOBODY, None)
        for each in asked
        for group, exercise in each.exercises.items()
    }
    frozen = {
        (each.build, group): exercise.evaluation(each.build, each.snapshot.snapshot_id)
        for each in asked
        for group, exercise in each.exercises.items()
    }
    batches = [Batch(evaluation_home(home), EMPTY, specs) for specs in empty.values()]
    batches += [Batch(evaluation_home(home), FROZEN, specs) for specs in frozen.values()]
    what = f"evaluation, all arms: {', '.join(empty)}"
    roll_out(batches, backend, _crew_of_all_arms(exercises[0], asked), what)
    found = {}
    for (build, group), specs in frozen.items():
        arms = stored(home, build, group)
        found[build, group] = Evaluated(_own(arms.frozen, specs), _own(arms.empty, empty[group]))
    return found


def stored(home: Path, build: str, group: str) -> Evaluated:
    """All episodes that are stored of a build's last evaluation in a group, and of the empty store there."""
    own = evaluation_home(home)
    return Evaluated(episodes_of(own, build, group, FROZEN), episodes_of(own, NOBODY, group, EMPTY))


def _crew_of_all_arms(exercise: Exercise, asked: Sequence[Frozen]) -> Crew:
    """Agents that know what their episode's snapshot holds, and nothing where it names none."""
    cold = exercise.crew(())
    knowing = {each.snapshot.snapshot_id: exercise.crew(each.snapshot.entries) for each in asked}

    def begin(spec: EpisodeSpec) -> Episode:
        return (cold if spec.snapshot_id is None else knowing[spec.snapshot_id]).begin(spec)

    return replace(cold, begin=begin)


def _own(episodes: pl.DataFrame, specs: list[EpisodeSpec]) -> pl.DataFrame:
    return episodes.filter(pl.col("episode_id").is_in([episode_id_of(spec) for spec in specs]))


def comparison(
    home: Path, build: str, tasks: Mapping[str, int], difficulty: Mapping[str, str] | None = None
) -> pl.DataFrame:
    """The groups of a build that were evaluated, one row each; one for each level of `difficulty` (group ->
    level) that has several of them, and one for all: shares of success with and without knowledge, and their
    difference with its bootstrap interval.

    `tasks` says how many tasks of each group are counted; the shares and differences of several groups are
    means weighted by them, their k, n and Wilson intervals those of all pairs.
    """
    pairs = stored_pairs(home, build, tasks)
    played = [group for group in tasks if group in set(pairs["group"])]
    together = {group: [group] for group in played}
    levels = difficulty or {}
    for level in dict.fromkeys(levels[group] for group in played if group in levels):
        together[f"{level} (weighted)"] = [group for group in played if levels.get(group) == level]
    together[ALL] = played
    rows = [
        {"group": name, **_compared(pairs.filter(pl.col("group").is_in(own)), own, tasks)}
        for name, own in together.items()
        if len(own) > 1 or name in played
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def stored_pairs(home: Path, build: str, groups: Collection[str]) -> pl.DataFrame:
    """The pairs (`rates.pairs_of`) that are stored of a build's evaluation, with the column `group`."""
    found = ((group, stored(home, build, group)) for group in groups)
    return pl.concat([pairs_of(*arms).with_columns(group=pl.lit(group)) for group, arms in found])


def by_planner_seed(home: Path, build: str, groups: Collection[str]) -> pl.DataFrame:
    """`differences.by_planner` over the stored pairs of these groups."""
    return by_planner(stored_pairs(home, build, groups))


def _compared(pairs: pl.DataFrame, groups: list[str], tasks: Mapping[str, int]) -> dict[str, object]:
    own = {group: tasks[group] for group in groups}
    parts = {group: counted(pairs.filter(pl.col("group") == group)) for group in groups}
    shares = {
        arm: weighted((getattr(part, arm).share, own[group]) for group, part in parts.items())
        for arm in ("empty", "frozen")
    }
    found = difference(pairs, own)
    interval = {"difference": found.share, "difference_low": found.low, "difference_high": found.high}
    return {"tasks": sum(own.values()), **counted(pairs).row(), **shares, **interval, "drawn": found.drawn}


def shared_worlds(home: Path, evaluated_in: Path | None = None) -> pl.DataFrame:
    """Worlds that are on the wrong side: (world, world_seed) that training and evaluation have in common, or
    whose seed is of the other kind. Empty where nothing is. `evaluated_in` is the evaluation's home, where it
    is not below `home`."""
    columns = ["world", "world_seed"]
    trained, asked = (
        trace_store(of).scan("episodes").drop_nulls(columns).select(columns).unique().collect()
        for of in (home, evaluated_in or evaluation_home(home))
    )
    wrong = [
        trained.join(asked, on=columns).with_columns(why=pl.lit("in both")),
        *(
            frame.filter(
                pl.Series(
                    [is_for_evaluation(seed) is not wanted for seed in frame["world_seed"]], dtype=pl.Boolean
                )
            ).with_columns(why=pl.lit(why))
            for frame, wanted, why in (
                (
                    trained.filter(pl.col("world").is_in(sorted(WORLDS))),
                    False,
                    "trained in an evaluation world",
                ),
                (asked, True, "evaluated in a training world"),
            )
        ),
    ]
    return pl.concat(wrong).sort([*columns, "why"])
