"""Which tasks can be done in a world at all: proofs over many seeds, and what they say of each task.

    with provers("techtree", "minecraft", workers=2) as prove:
        rows = proof_rows(prove([(task, seed) for task in suite.tasks for seed in range(3)]))
    verdicts(rows)

A proof is a sequence of actions that ends in the task's oracle being met before its horizon; it is found
with true facts and real path finding, and checked by a replay. It says nothing of any agent: what a proof can
do an agent may fail to do, and what no proof was found for may still be possible.
"""

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from typing import Any, Final, NamedTuple

import polars as pl

from rollouts.worlds.registry import venue_of
from warehouse.domains import Domain, load_domain
from warehouse.tasks import Task


class Proved(NamedTuple):
    """What came of one proof: see `rollouts.worlds.techtree.prover.Proof`, whose actions are left out."""

    task: Task
    seed: int
    solved: bool
    tick: int
    reason: str
    possible: bool
    n_actions: int
    steps: tuple[tuple[int, str], ...]


Prove = Callable[[Sequence[tuple[Task, int]]], Iterator[Proved]]
"""(task, seed) pairs -> their proofs, as they come"""

PROOFS: Final[dict[str, pl.DataType | type[pl.DataType]]] = {
    "task_id": pl.String,
    "group": pl.String,
    "world_seed": pl.Int64,
    "claim": pl.String,
    "solved": pl.Boolean,
    "possible": pl.Boolean,
    "tick": pl.Int32,
    "horizon": pl.Int32,
    "n_actions": pl.Int32,
    "reason": pl.String,
    "steps": pl.List(pl.Struct({"tick": pl.Int32, "what": pl.String})),
}
"""One row per proof. `claim` is what the suite says of the task (its `verifiable_by`), `possible` whether the
world has a source of all that the task needs, `tick` when the oracle was met, or when the try ended."""


class NoProverError(ValueError):
    """Nobody can prove anything about the world of that name."""


def prove_in(world: str, domain: Domain, task: Task, seed: int) -> Proved:
    """One proof, in this process. `NoProverError` for a world that has no prover."""
    if world not in PROVERS:
        raise NoProverError(f"no proofs for world {world!r}; there are for: {', '.join(sorted(PROVERS))}")
    return PROVERS[world](domain, task, seed)


def _techtree(domain: Domain, task: Task, seed: int) -> Proved:
    from rollouts.worlds.techtree.prover import prove

    proof = prove(domain, task, seed)
    return Proved(
        task, seed, proof.solved, proof.tick, proof.reason, proof.possible, len(proof.actions), proof.steps
    )


PROVERS: Final[dict[str, Callable[[Domain, Task, int], Proved]]] = {"techtree": _techtree}


@contextmanager
def provers(world: str, domain: str, workers: int) -> Iterator[Prove]:
    """Proofs in so many processes, or in this one where `workers` is 0.

    `NoProverError` for a world that has no prover, or is none of the domain.
    """
    if world not in PROVERS:
        raise NoProverError(f"no proofs for world {world!r}; there are for: {', '.join(sorted(PROVERS))}")
    if venue_of(domain).world != world:
        raise NoProverError(f"{world} is no world of the domain {domain}")
    if workers == 0:
        own = load_domain(domain)
        yield lambda pairs: (prove_in(world, own, task, seed) for task, seed in pairs)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(domain,))
    try:
        yield lambda pairs: (
            done.result() for done in as_completed(pool.submit(_one, world, *pair) for pair in pairs)
        )
    finally:
        pool.shutdown(cancel_futures=True)


_OWN: dict[str, Domain] = {}


def _begin(domain: str) -> None:
    """A worker reads its domain once, and ends when the process that began it is gone."""
    _OWN["domain"] = load_domain(domain)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def _one(world: str, task: Task, seed: int) -> Proved:
    return prove_in(world, _OWN["domain"], task, seed)


def proof_rows(proofs: Iterable[Proved]) -> pl.DataFrame:
    """The proofs as `PROOFS`, sorted by task and seed."""
    rows: list[dict[str, Any]] = [
        {
            "task_id": proof.task.id,
            "group": proof.task.group,
            "world_seed": proof.seed,
            "claim": proof.task.verifiable_by,
            "solved": proof.solved,
            "possible": proof.possible,
            "tick": proof.tick,
            "horizon": proof.task.horizon_ticks,
            "n_actions": proof.n_actions,
            "reason": proof.reason or None,
            "steps": [{"tick": tick, "what": what} for tick, what in proof.steps],
        }
        for proof in proofs
    ]
    return pl.DataFrame(rows, schema=PROOFS).sort("task_id", "world_seed")


def verdicts(proofs: pl.DataFrame) -> pl.DataFrame:
    """One row per task of `proofs`: task_id, group, solved, tried, ticks (median of the solved), horizon,
    verdict and reason.

    `verdict` is "solvable" (on a majority of the seeds), "unreachable" (the suite says so, and no seed has a
    way), or, where the world and the suite disagree, "NOT SOLVED" or "REACHABLE".
    """
    unreachable = pl.col("claim").first() == "unreachable"
    solved = pl.col("solved").sum()
    majority = 2 * solved > pl.len()
    return (
        proofs.group_by("task_id")
        .agg(
            pl.col("group").first(),
            solved.cast(pl.Int64).alias("solved"),
            pl.len().cast(pl.Int64).alias("tried"),
            pl.col("tick").filter("solved").median().cast(pl.Int64).alias("ticks"),
            pl.col("horizon").first().cast(pl.Int64),
            pl.when(unreachable & ~pl.col("possible").any())
            .then(pl.lit("unreachable"))
            .when(unreachable)
            .then(pl.lit("REACHABLE"))
            .when(majority)
            .then(pl.lit("solvable"))
            .otherwise(pl.lit("NOT SOLVED"))
            .alias("verdict"),
            pl.col("reason").drop_nulls().unique().sort().str.join("; ").alias("reason"),
        )
        .with_columns(pl.col("reason").replace("", None))
        .sort("task_id")
    )


def disagreements(table: pl.DataFrame) -> list[str]:
    """The tasks of `verdicts` of which the suite says one thing and the proofs another."""
    wrong = table.filter(pl.col("verdict").is_in(["NOT SOLVED", "REACHABLE"]))
    return wrong["task_id"].to_list()
