"""Frozen evaluation: a snapshot and the empty store in the same worlds, and nothing learnt from either.

Everything is below `evaluation/` of the data home, a home of its own with traces, rollouts and model answers,
so that no fold, no Inducer and no confidence ever sees it:

    evaluation/traces/<build>/<group>          source "frozen": with the build's snapshot
    evaluation/traces/empty-store/<group>      source "empty": without any knowledge, shared by all builds
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from rollouts.backends import RolloutBackend
from rollouts.exercise import Exercise
from rollouts.lineage import episodes_of
from rollouts.protocols import EpisodeSpec
from rollouts.rates import Paired, paired, together, weighted
from rollouts.recorder import Batch, episode_id_of
from rollouts.rounds import roll_out
from rollouts.seeds import is_for_evaluation
from warehouse.snapshots import Snapshot
from warehouse.trace_store import trace_store

FROZEN: Final = "frozen"
EMPTY: Final = "empty"
NOBODY: Final = "empty-store"
"""The build that the empty store's episodes are filed under."""
ALL: Final = "all (weighted)"


@dataclass(frozen=True)
class Evaluated:
    """The episodes of both arms."""

    frozen: pl.DataFrame
    empty: pl.DataFrame

    @property
    def pairs(self) -> Paired:
        return paired(self.frozen, self.empty)


def evaluation_home(home: Path) -> Path:
    """The data home of evaluation episodes."""
    return home / "evaluation"


def evaluate(
    home: Path, build: str, snapshot: Snapshot, exercises: Mapping[str, Exercise], backend: RolloutBackend
) -> dict[str, Evaluated]:
    """Plays what is missing of both arms, all groups side by side, and gives their episodes by group. Nothing
    outside of `evaluation/` is written."""
    own = evaluation_home(home)
    found: dict[str, dict[str, pl.DataFrame]] = {group: {} for group in exercises}
    for filed, source, snapshot_id, entries in (
        (NOBODY, EMPTY, None, ()),
        (build, FROZEN, snapshot.snapshot_id, snapshot.entries),
    ):
        specs = {group: each.evaluation(filed, snapshot_id) for group, each in exercises.items()}
        batches = [Batch(own, source, own_specs) for own_specs in specs.values()]
        crew = next(iter(exercises.values())).crew(entries)
        roll_out(batches, backend, crew, f"evaluation, {source}: {', '.join(exercises)}")
        for group, own_specs in specs.items():
            found[group][source] = _own(episodes_of(own, filed, group, source), own_specs)
    return {group: Evaluated(arms[FROZEN], arms[EMPTY]) for group, arms in found.items()}


def _own(episodes: pl.DataFrame, specs: list[EpisodeSpec]) -> pl.DataFrame:
    return episodes.filter(pl.col("episode_id").is_in([episode_id_of(spec) for spec in specs]))


def comparison(home: Path, build: str, tasks: Mapping[str, int]) -> pl.DataFrame:
    """The groups of a build that were evaluated, one row each, and one for all of them: shares of success
    with and without knowledge. `tasks` says how many tasks of each group are counted; the last row's shares
    are the mean weighted by them, its k, n and interval those of all pairs."""
    own = evaluation_home(home)
    rows: list[dict[str, object]] = []
    parts: dict[str, Paired] = {}
    for group in tasks:
        frozen = episodes_of(own, build, group, FROZEN)
        if frozen.is_empty():
            continue
        parts[group] = paired(frozen, episodes_of(own, NOBODY, group, EMPTY))
        rows.append({"group": group, "tasks": tasks[group], **parts[group].row()})
    if len(rows) > 1:
        shares = {
            arm: weighted((getattr(part, arm).share, tasks[group]) for group, part in parts.items())
            for arm in ("empty", "frozen")
        }
        total = sum(tasks[group] for group in parts)
        rows.append({"group": ALL, "tasks": total, **together(parts.values()).row(), **shares})
    return pl.DataFrame(rows, infer_schema_length=None)


def shared_worlds(home: Path) -> pl.DataFrame:
    """Worlds that are on the wrong side: (world, world_seed) that training and evaluation have in common, or
    whose seed is of the other kind. Empty where nothing is."""
    columns = ["world", "world_seed"]
    trained, asked = (
        trace_store(of).scan("episodes").drop_nulls(columns).select(columns).unique().collect()
        for of in (home, evaluation_home(home))
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
                (trained.filter(pl.col("world") == "techtree"), False, "trained in an evaluation world"),
                (asked, True, "evaluated in a training world"),
            )
        ),
    ]
    return pl.concat(wrong).sort([*columns, "why"])
