"""`mineevolve tasks`."""

from typing import Annotated

import typer

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
) -> None:
    """Prove every oracle: it accepts its target, and rejects one too few and every other item.

    Exits with 1 when an oracle is wrong.

    Example: `mineevolve tasks lint --all`
    """
    import polars as pl

    from pipeline.command.console import FAILED, MISUSED, explained, fail, out, show
    from pipeline.settings import Settings
    from warehouse.domains import load_domain
    from warehouse.suites import find_suite
    from warehouse.tasks import lint as lint_tasks

    domain = load_domain(Settings().domain)
    with explained(OSError, ValueError, code=MISUSED):
        tasks = find_suite(suite, domain).tasks
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
