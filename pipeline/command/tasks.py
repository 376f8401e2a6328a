"""`mineevolve tasks`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import polars as pl

    from warehouse.domains import Domain
    from warehouse.tasks import Task

app = typer.Typer(help="The task suite and its oracles.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Commands on the task suite."""


@app.command()
def lint(
    suite: Annotated[
        str, typer.Argument(help="a suite that ships with the domain, or a JSON file")
    ] = "tech_tree",
    every: Annotated[bool, typer.Option("--all", help="list every task, not only the exceptions")] = False,
    world: Annotated[
        str | None, typer.Option(help="prove which tasks can be done in this world, instead of the oracles")
    ] = None,
    group: Annotated[
        list[str] | None, typer.Option(help="only this group; may be given several times")
    ] = None,
    task: Annotated[list[str] | None, typer.Option(help="only this task; may be given several times")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="with --world: prove in the worlds of so many seeds")] = 3,
    workers: Annotated[int, typer.Option(min=0, help="with --world: processes; 0: this one")] = 2,
    written: Annotated[
        Path | None,
        typer.Option("--out", help="with --world: write the proofs to this .parquet or .json file"),
    ] = None,
) -> None:
    """Prove every oracle: it accepts its target, and rejects one too few and every other item.

    With `--world`, prove instead that each task can be done there within its horizon: a plan from true facts
    is carried out with real path finding, in the worlds of several seeds, and its actions are checked by a
    replay. What cannot be done is listed with the reason.

    Exits with 1 when an oracle is wrong, or when a task that claims to be reachable is not solved on a
    majority of the seeds, or one that claims not to be has a way.

    Examples:

    * `mineevolve tasks lint --all`
    * `mineevolve tasks lint --world techtree --group gold --seeds 5`
    * `mineevolve tasks lint --world techtree --task armor_10 --out proofs.parquet`
    """
    from pipeline.command.console import MISUSED, explained, fail
    from pipeline.settings import Settings
    from warehouse.domains import load_domain
    from warehouse.suites import find_suite

    domain = load_domain(Settings().domain)
    with explained(OSError, ValueError, code=MISUSED):
        loaded = find_suite(suite, domain)
    chosen = [
        each for each in loaded.tasks if (not group or each.group in group) and (not task or each.id in task)
    ]
    if strangers := sorted(set(group or ()) - set(loaded.groups)):
        raise fail(f"no group {', '.join(strangers)}; there are: {', '.join(loaded.groups)}", MISUSED)
    if strangers := sorted(set(task or ()) - {each.id for each in chosen}):
        raise fail(f"no task {', '.join(strangers)} in {suite} or its chosen groups", MISUSED)
    if world is None and written is not None:
        raise fail("--out writes proofs: name the world with --world", MISUSED)
    if world is None:
        _lint_oracles(chosen, domain, every=every)
    else:
        _prove(world, chosen, seeds, workers, written)


def _lint_oracles(tasks: "list[Task]", domain: "Domain", *, every: bool) -> None:
    import polars as pl

    from pipeline.command.console import FAILED, fail, out, show
    from warehouse.tasks import lint as lint_tasks

    results = lint_tasks(tasks, domain)
    shown = [result for result in results if every or not result.ok or result.exception]
    frame = pl.DataFrame(
        [
            {
                "task": result.task_id,
                "oracle": "exact" if result.ok else "WRONG",
                "accepts": ", ".join(result.accepted),
                "rejects": result.rejected,
                "verdict": result.verdict,
            }
            for result in shown
        ],
        schema={
            "task": pl.String,
            "oracle": pl.String,
            "accepts": pl.String,
            "rejects": pl.Int64,
            "verdict": pl.String,
        },
    )
    show(frame, "Every task" if every else "Exceptions")
    wrong = [result.task_id for result in results if not result.ok]
    exceptions = sum(1 for result in results if result.exception)
    out.print(
        f"{len(results) - len(wrong)} of {len(results)} oracles are exact; {exceptions} exceptions reported."
    )
    if wrong:
        raise fail(f"wrong oracles: {', '.join(wrong)}", FAILED)


def _prove(world: str, tasks: "list[Task]", seeds: int, workers: int, written: Path | None) -> None:
    import polars as pl

    from pipeline.command.console import FAILED, MISUSED, explained, fail, out, own_terminal, show
    from pipeline.settings import Settings
    from rollouts.progress import followed, progress_on
    from rollouts.proofs import NoProverError, disagreements, proof_rows, provers, verdicts

    if written is not None and written.suffix not in (".parquet", ".json"):
        raise fail(f"--out {written}: the name must end in .parquet or .json", MISUSED)
    pairs = [(each, seed) for each in tasks for seed in range(seeds)]
    with (
        explained(NoProverError, code=MISUSED),
        progress_on(own_terminal()),
        provers(world, Settings().domain, min(workers, len(pairs))) as prove,
    ):
        proofs = proof_rows(followed(prove(pairs), f"proofs in {world}", len(pairs)))
    table = verdicts(proofs)
    shown = table.select(
        "task_id",
        "group",
        pl.format("{} of {}", "solved", "tried").alias("solved"),
        pl.when(pl.col("ticks").is_not_null()).then(pl.format("{} of {}", "ticks", "horizon")).alias("ticks"),
        "verdict",
        "reason",
    )
    show(shown, f"Proofs in {world}, seeds 0 to {seeds - 1}; ticks: the median of what was solved")
    count = dict(table.group_by("verdict").len().iter_rows())
    claims = proofs.filter(pl.col("claim") != "unreachable")
    out.print(
        f"{count.get('solvable', 0)} of {table.height} tasks can be done on a majority of {seeds} seeds "
        f"({claims['solved'].sum()} of {claims.height} proofs); {count.get('unreachable', 0)} are "
        f"unreachable, as they say. {world} is a stand-in for the game.",
        soft_wrap=True,
    )
    if written is not None:
        _write(proofs, written)
    if wrong := disagreements(table):
        raise fail(f"the world and the suite disagree about {', '.join(wrong)}", FAILED)


def _write(proofs: "pl.DataFrame", path: Path) -> None:
    from pipeline.command.console import explained, out
    from warehouse.shards import replacing

    with explained(OSError), replacing(path) as temporary:
        if path.suffix == ".json":
            proofs.write_json(temporary)
        else:
            proofs.write_parquet(temporary)
    out.print(f"{proofs.height} proofs are in {path}.", soft_wrap=True)
