"""Monitor against the inner truth of techtree. `python -m bench.monitor_truth --help`

Two kinds of attempts are compared: those of whole episodes of the stand-in planner, with its misconceptions,
over all task groups; and probes (bench/truth_probes.py), subgoals in a world with something in their way. The
development worlds have even seeds and are what Monitor's rules were made on; the exam's are odd, with planner
seeds of their own, and are what is reported.
"""

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from typing import Annotated, Final

import polars as pl
import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from bench.truth_probes import Probe, probes
from rollouts.agent import agent_row
from rollouts.attempt import Stage, StageKit
from rollouts.backends import InProcess, stage_kit
from rollouts.budget import CallBudget
from rollouts.executors.registry import executor
from rollouts.exercise import STAND_INS, Exercise
from rollouts.monitor import monitor
from rollouts.monitor.agreement import FEW, GOAL, TruthAgreement, agreement
from rollouts.protocols import EpisodeSpec
from rollouts.recorder import TRUTHS, AttemptRecord, Cast, EpisodeRecord, plan_shards, trace_of
from rollouts.rounds import play
from rollouts.seeds import evaluation_seeds, training_seeds
from rollouts.worlds.techtree import Settings
from rollouts.worlds.techtree.stages import StagedWorld
from rollouts.worlds.techtree.unwinnable import UNWINNABLE
from warehouse.domains import Domain, load_domain
from warehouse.suites import DEFAULT_SUITE, find_suite
from warehouse.tasks import Suite

Judged = tuple[pl.DataFrame, pl.DataFrame]
"""Monitor's feedback, and the truths of the same attempts"""
HORIZON_CAP: Final = 6000
"""ticks that an episode may last here: 5 minutes, so that many different ones fit"""


@dataclass(frozen=True)
class Range:
    """Where the worlds and planners of a side come from: development and exam never share any."""

    name: str
    is_exam: bool

    def worlds(self, of: str, count: int) -> tuple[int, ...]:
        """Even seeds for development, odd ones for the exam."""
        if self.is_exam:
            return evaluation_seeds(0, of, count)
        return training_seeds(0, "monitor truth", of, count)

    def planner(self, number: int) -> int:
        return 2 * number + self.is_exam


DEVELOPMENT: Final = Range("development", False)
EXAM: Final = Range("exam", True)


@dataclass(frozen=True)
class Size:
    """How much is played: worlds per probe, and tasks per group with a world and a planner each."""

    worlds: int = 4
    tasks: int = 5


def probe_records(
    domain: Domain, side: Range, size: Size, *, messages: bool, of: Sequence[Probe] | None = None
) -> Iterator[EpisodeRecord]:
    """Every probe in its worlds; each is an episode of one attempt."""
    for probe in probes() if of is None else of:
        for seed in side.worlds(probe.name, size.worlds):
            yield _probed(domain, probe, seed, messages=messages)


def _probed(domain: Domain, probe: Probe, seed: int, *, messages: bool) -> EpisodeRecord:
    horizon = round(probe.goal.timeout_s * 20) + 100
    spec = EpisodeSpec(
        build="probes",
        group="probes",
        task_id=probe.name,
        goal=probe.goal.condition,
        world="techtree",
        world_seed=seed,
        planner_seed=0,
        horizon=horizon,
        snapshot_id=None,
        config_hash="messages" if messages else "silent",
    )
    kit = StageKit(
        domain,
        lambda spec, domain: StagedWorld(domain, Settings(messages=messages), probe.pack, probe.stage),
        lambda spec, domain: executor("scripted", domain, spec.world_seed),
    )
    stage = Stage(spec, UNWINNABLE, kit)
    opening = stage.open()
    run = stage.run(0, probe.goal)
    return EpisodeRecord(
        spec=spec,
        cast=Cast("none", "none", "scripted"),
        observes=opening.observes,
        attempts=(AttemptRecord(run, probe.goal, "probe"),),
        end_reason="plan_exhausted",
        success_tick=None,
        budget=CallBudget(),
    )


def played_records(
    domain: Domain,
    suite: Suite,
    side: Range,
    size: Size,
    *,
    messages: bool,
    horizon_cap: int = HORIZON_CAP,
) -> Iterator[EpisodeRecord]:
    """Whole episodes of all groups: so many tasks of each, each in a world and with a planner of its own."""
    row = agent_row("full")
    kit = stage_kit(domain, row.executor)
    for group in suite.groups:
        exercise = Exercise.of_group(domain, suite, group, [], row, horizon_cap=horizon_cap)
        specs = [
            replace(
                spec,
                world_seed=side.worlds(spec.task_id, 1)[0],
                planner_seed=side.planner(number),
                settings={"messages": messages},
                config_hash=f"{spec.config_hash} {messages}",
            )
            for number, spec in enumerate(_spread(exercise.training("truth", None), size.tasks))
        ]
        for ended in play(plan_shards(specs), InProcess(kit), exercise.crew(())):
            yield ended.record


def _spread(specs: Sequence[EpisodeSpec], count: int) -> list[EpisodeSpec]:
    """`count` of them, as far from each other in the list as can be; the first of each task."""
    tasks = list({spec.task_id: spec for spec in reversed(specs)}.values())[::-1]
    step = max(1, len(tasks) // count)
    return tasks[::step][:count]


def judged(records: Sequence[EpisodeRecord], domain: Domain) -> Judged:
    """Monitor's feedback on these episodes, and the truths of their attempts."""
    rows = [
        (record.episode_id, each.run.attempt, *truth)
        for record in records
        for each in record.attempts
        for truth in each.run.truths
    ]
    return monitor(trace_of(records), domain), pl.DataFrame(rows, schema=TRUTHS, orient="row")


def measured(
    domain: Domain,
    side: Range,
    size: Size,
    what: str,
    *,
    messages: bool,
    horizon_cap: int = HORIZON_CAP,
) -> Judged:
    """Monitor's feedback and the truths, of "probes" or of "episodes"."""
    if what == "probes":
        records = list(probe_records(domain, side, size, messages=messages))
    else:
        suite = find_suite(DEFAULT_SUITE, domain)
        played = played_records(domain, suite, side, size, messages=messages, horizon_cap=horizon_cap)
        records = list(played)
    return judged(records, domain)


def _measured(job: tuple[Range, Size, str, bool]) -> Judged:
    side, size, what, messages = job
    return measured(load_domain("minecraft"), side, size, what, messages=messages)


def report(side: Range, result: TruthAgreement, *, messages: bool, console: Console) -> None:
    """The confusion matrix, the figures by class, and what they come to."""
    how = "with explanatory messages" if messages else "without explanatory messages"
    console.print(f"\n[bold]Monitor against the inner truth, {side.name} worlds, {how}[/]")
    console.print(_table(result.matrix, "truth (rows) against Monitor (columns, by number)"))
    few = pl.when(pl.col("support") < FEW).then(pl.lit(f"fewer than {FEW}"))
    console.print(_table(result.by_class.with_columns(note=few), "by failure type"))
    console.print(result.summary)


def _table(frame: pl.DataFrame, title: str) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name, dtype in frame.schema.items():
        table.add_column(name, justify="right" if dtype.is_numeric() else "left")
    for row in frame.iter_rows():
        table.add_row(
            *("" if cell is None else f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row)
        )
    return table


def main(side: Range = EXAM, size: Size = Size(), workers: int = 2) -> int:
    """Measures and prints; 1 where the goal is missed without messages, else 0."""
    console = Console(width=100, highlight=False)
    jobs = [(side, size, what, messages) for messages in (False, True) for what in ("probes", "episodes")]
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        parts = list(pool.map(_measured, jobs))
    results = {
        messages: agreement(
            pl.concat(part[0] for part, job in zip(parts, jobs, strict=True) if job[3] is messages),
            pl.concat(part[1] for part, job in zip(parts, jobs, strict=True) if job[3] is messages),
        )
        for messages in (True, False)
    }
    for messages, result in results.items():
        report(side, result, messages=messages, console=console)
    console.print(STAND_INS)
    reached = results[False].macro_f1
    return 0 if reached is not None and reached >= GOAL else 1


def command(
    exam: Annotated[
        bool,
        typer.Option("--exam/--development", help="The worlds that are reported, or those to work with."),
    ] = True,
    worlds: Annotated[int, typer.Option(min=1, help="Worlds per probe.")] = Size().worlds,
    tasks: Annotated[int, typer.Option(min=1, help="Episodes per task group.")] = Size().tasks,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 2,
) -> None:
    """Monitor against the inner truth of techtree: confusion matrix, F1 by failure type, macro-F1."""
    raise typer.Exit(main(EXAM if exam else DEVELOPMENT, Size(worlds, tasks), workers))


if __name__ == "__main__":
    typer.run(command)
