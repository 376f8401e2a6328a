"""What the report is about: the stored episodes of the empty store and of every frozen snapshot, as one
frame.

An arm is `EMPTY` or the name of the build whose snapshot was frozen; the last build is the one that is
compared with the empty store throughout."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import polars as pl

from rollouts.evaluation import EMPTY, FROZEN, NOBODY, evaluation_home
from rollouts.lineage import TRAINING, episodes_of
from rollouts.rates import INFRASTRUCTURE_END, PAIRED_BY
from warehouse.shards import MANIFEST
from warehouse.tasks import Suite
from warehouse.trace_store import trace_store

PLACE: Final = ("arm", "build", "group", "filed_as")
BROKEN: Final = pl.col("end_reason").cast(pl.String) == INFRASTRUCTURE_END
"""Ended by the infrastructure: the episode says nothing of the agent."""


class NotEvaluatedError(RuntimeError):
    """There is no evaluation to report; the text names the command that makes one."""


@dataclass(frozen=True)
class Arms:
    """`episodes`: the columns of the trace contract, and where they are filed (`PLACE`: the arm, and the
    build, group and source below the evaluation's home). Sorted by arm, group and episode."""

    home: Path
    suite: Suite
    episodes: pl.DataFrame

    @cached_property
    def builds(self) -> tuple[str, ...]:
        """The builds whose frozen snapshot was played, in order."""
        return tuple(sorted(set(self.episodes["arm"]) - {EMPTY}))

    @property
    def last(self) -> str:
        """The latest of them."""
        return self.builds[-1]

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The groups that were played with the last snapshot, in the suite's order."""
        return in_order(self.suite, self.of(self.last)["group"])

    def of(self, arm: str) -> pl.DataFrame:
        """An arm's episodes."""
        return self.episodes.filter(pl.col("arm") == arm)

    @cached_property
    def pairs(self) -> pl.DataFrame:
        """The last snapshot's episodes that have a counterpart with the empty store, one row each: `group`,
        what they have in common (`PAIRED_BY`), `goal`, `success` and `success_empty`, `episode_id` and
        `episode_id_empty`, and `broken` where the infrastructure ended one of the two."""
        own = ["group", *PAIRED_BY, "goal", "success", "episode_id", "broken"]
        frozen, empty = (self.of(arm).with_columns(broken=BROKEN).select(own) for arm in (self.last, EMPTY))
        return (
            frozen.join(empty.drop("goal"), on=["group", *PAIRED_BY], suffix="_empty")
            .with_columns(broken=pl.col("broken") | pl.col("broken_empty"))
            .drop("broken_empty")
            .sort("group", *PAIRED_BY)
        )

    @cached_property
    def tasks(self) -> dict[str, int]:
        """Group -> its tasks that have a pair, counted or not: what it weighs in an average."""
        counted = self.pairs.group_by("group").agg(pl.col("task_id").n_unique().cast(pl.Int64))
        held = dict(counted.iter_rows())
        return {group: held.get(group, 0) for group in self.groups}

    @cached_property
    def whole(self) -> pl.DataFrame:
        """The pairs that count."""
        return self.pairs.filter(~pl.col("broken")).drop("broken")

    def places(self) -> Iterator[tuple[str, str, str, str]]:
        """(arm, build, group, source) of everything that was read, in order."""
        yield from self.episodes.select(PLACE).unique().sort(PLACE).iter_rows()


def in_order(suite: Suite, groups: Iterable[str]) -> tuple[str, ...]:
    """Groups, each once, in the suite's order; those that it does not have follow by name."""
    held = set(groups)
    return (*(group for group in suite.groups if group in held), *sorted(held - set(suite.groups)))


def read_arms(home: Path, suite: Suite) -> Arms:
    """The evaluation's episodes. `NotEvaluatedError` where there are none of a frozen snapshot, or none that
    the empty store played as well."""
    own = evaluation_home(home)
    store = trace_store(own)
    frames = [
        episodes_of(own, build, group, source).with_columns(
            arm=pl.lit(EMPTY if build == NOBODY else build), group=pl.lit(group), filed_as=pl.lit(source)
        )
        for build in store.builds()
        for group, source in store.sources(build)
        if source == (EMPTY if build == NOBODY else FROZEN)
    ]
    held = [frame for frame in frames if frame.height]
    if {frame["arm"][0] == EMPTY for frame in held} != {True, False}:
        raise NotEvaluatedError(f"no evaluation to report: run `{_command(home, suite)}` first")
    arms = Arms(home, suite, pl.concat(held, how="vertical_relaxed").sort("arm", "group", "episode_id"))
    if arms.pairs.is_empty():
        raise NotEvaluatedError(
            f"the snapshot of build {arms.last} and the empty store were not played in the same way (tasks, "
            f"seeds and configuration): run `mineevolve evaluate --build {arms.last}` again"
        )
    return arms


def unfinished(home: Path) -> list[tuple[str, str, str, int]]:
    """(build, group, source, shards) of evaluation batches that were begun and are no source of the trace
    store yet: they were stopped, or are played at this moment."""
    own = evaluation_home(home)
    store = trace_store(own)
    whole = {(build, *source) for build in store.builds() for source in store.sources(build)}
    shards: Counter[tuple[str, str, str]] = Counter()
    for path in (own / "rollouts").glob(f"*/*/*/*/{MANIFEST}"):
        build, group, source = path.parts[-5:-2]
        shards[build, group, source] += 1
    return [(*place, number) for place, number in sorted(shards.items()) if place not in whole]


def _command(home: Path, suite: Suite) -> str:
    """What would make an evaluation of what there is."""
    store = trace_store(home)
    played = {
        build: sorted({group for group, source in store.sources(build) if source == TRAINING})
        for build in store.builds()
    }
    trained = [build for build, groups in played.items() if groups]
    if not trained:
        return "mineevolve train --build 0001` and `mineevolve evaluate --build 0001"
    groups = (f"--group {group}" for group in in_order(suite, played[trained[-1]]))
    return " ".join([f"mineevolve evaluate --build {trained[-1]}", *groups])
