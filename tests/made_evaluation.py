"""Evaluations that were never played: their outcomes are written down, so a test knows what to find."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from rollouts.evaluation import EMPTY, FROZEN, NOBODY, evaluation_home
from rollouts.report.arms import Arms, read_arms
from warehouse.ids import derive_id
from warehouse.records import from_rows
from warehouse.tasks import Suite
from warehouse.trace_store import trace_store

GROUPS = ("wooden", "stone", "iron")
DIFFICULTY = {"wooden": "easy", "stone": "easy", "iron": "hard"}


class Played(NamedTuple):
    """An episode: whether it succeeded, or None where the infrastructure ended it."""

    task: str
    won: bool | None
    world: int = 1
    seed: int = 0
    config: str = "c"
    snapshot: str | None = None
    horizon: int = 2400


def suite(tasks: Iterable[tuple[str, str]]) -> Suite:
    """A suite of (group, task), each with a horizon of 2400 ticks."""
    return Suite.model_validate(
        {
            "source": "test",
            "rule": "test",
            "ticks_per_minute": 1200,
            "difficulty": DIFFICULTY,
            "tasks": [
                {
                    "id": task,
                    "group": group,
                    "kind": "craft",
                    "instruction": f"Make {task}",
                    "horizon_ticks": 2400,
                    "any_of": ["stick"],
                    "count": 1,
                    "verifiable_by": "inventory",
                }
                for group, task in tasks
            ],
        }
    )


def write(
    home: Path, build: str, group: str, episodes: Iterable[Played], attempts: Iterable[dict[str, Any]] = ()
) -> None:
    """Files episodes as an arm's: those of `NOBODY` as the empty store's, others as a build's frozen ones.
    An attempt names its episode by `of`, its place in the list."""
    held = list(episodes)
    ids = [episode_id(build, each) for each in held]
    rows: list[dict[str, object]] = [
        {
            "episode_id": own,
            "source": "techtree",
            "build": build,
            "task_id": each.task,
            "goal": f"Make {each.task}",
            "world": "techtree",
            "world_seed": each.world,
            "planner_seed": each.seed,
            "snapshot_id": each.snapshot,
            "observes": ["inventory"],
            "horizon": each.horizon,
            "n_ticks": 100,
            "success": bool(each.won),
            "end_reason": {True: "success", False: "horizon", None: "infrastructure"}[each.won],
            "config_hash": each.config,
        }
        for own, each in zip(ids, held, strict=True)
    ]
    of_attempts = [{"episode_id": ids[row["of"]], "relative": False} | row for row in attempts]
    frames = {
        "episodes": from_rows("episodes", rows),
        "attempts": from_rows(
            "attempts", [{key: row[key] for key in row if key != "of"} for row in of_attempts]
        ),
    }
    source = EMPTY if build == NOBODY else FROZEN
    trace_store(evaluation_home(home)).write_source(build, group, source, frames)


def episode_id(build: str, played: Played) -> str:
    """As `write` names it."""
    return derive_id("episode", [build, played.task, played.world, played.seed, played.config])


def arms_of(home: Path, **groups: tuple[list[bool | None], list[bool | None]]) -> Arms:
    """One world for each task and two arms: outcomes with the empty store and with build 0001's snapshot."""
    for group, (empty, frozen) in groups.items():
        for build, outcomes in ((NOBODY, empty), ("0001", frozen)):
            write(home, build, group, [Played(f"{group}{n}", won) for n, won in enumerate(outcomes)])
    asked = [
        (group, f"{group}{n}") for group in GROUPS if group in groups for n in range(len(groups[group][0]))
    ]
    return read_arms(home, suite(asked))
