"""The benches, one after the other; exit code 1 if a goal is missed.

python -m bench                            all
python -m bench --skip retrieval           leave one out
python -m bench --ticks 1000000            Monitor over fewer ticks
"""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bench import (
    backends,
    crafter,
    curation,
    executor,
    loop,
    model,
    monitor,
    monitor_truth,
    retrieval,
    techtree,
    worlds,
)


class Bench(StrEnum):
    """What can be measured."""

    MONITOR = "monitor"
    RETRIEVAL = "retrieval"
    CURATION = "curation"
    TRUTH = "truth"
    TECHTREE = "techtree"
    EXECUTOR = "executor"
    LOOP = "loop"
    BACKENDS = "backends"
    MODEL = "model"
    CRAFTER = "crafter"
    WORLDS = "worlds"


EXAMPLES = """
Examples:

  python -m bench                             all

  python -m bench --skip retrieval            leave one out

  python -m bench --ticks 1000000             Monitor over fewer ticks
"""


def run(
    skip: Annotated[list[Bench] | None, typer.Option(help="Leave a bench out; may be given twice.")] = None,
    ticks: Annotated[
        int, typer.Option(min=monitor.FILES, help="How many ticks Monitor goes over.")
    ] = monitor.TICKS,
    executor_seeds: Annotated[
        int, typer.Option(min=1, help="How many worlds the executor is tried in.")
    ] = 10,
    folder: Annotated[Path, typer.Option(help="Where the made-up traces are kept.")] = Path("data/bench"),
) -> None:
    """Measure Monitor against a bare scan of its files, retrieval, Curator's passes, Monitor against
    the inner truth, the built-in world and its executor, the closed loop and its backends, where
    `make test-vllm` has made its environment the engine vllm against vllm itself, Crafter with recording
    against bare Crafter, and every world with one and two processes; exit code 1 if a goal is missed."""
    left_out = skip or []
    missed = 0
    if Bench.MONITOR not in left_out:
        missed += monitor.main(folder, ticks)
    if Bench.RETRIEVAL not in left_out:
        missed += retrieval.main()
    if Bench.CURATION not in left_out:
        missed += curation.main()
    if Bench.TRUTH not in left_out:
        missed += monitor_truth.main()
    if Bench.TECHTREE not in left_out:
        missed += techtree.main()
    if Bench.EXECUTOR not in left_out:
        executor.main(executor_seeds)
    if Bench.LOOP not in left_out:
        missed += loop.main()
    if Bench.BACKENDS not in left_out:
        backends.main()
    if Bench.MODEL not in left_out:
        missed += model.main()
    if Bench.CRAFTER not in left_out:
        missed += crafter.main()
    if Bench.WORLDS not in left_out:
        worlds.main()
    raise typer.Exit(1 if missed else 0)


app = typer.Typer(add_completion=False, rich_markup_mode=None)
app.command(epilog=EXAMPLES)(run)

if __name__ == "__main__":
    sys.exit(app())
