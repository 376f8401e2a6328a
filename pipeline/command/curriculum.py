"""`mineevolve curriculum`."""

from pathlib import Path
from typing import Annotated

import typer

from pipeline.command.options import Backend, RayAddress, Workers, where

app = typer.Typer(
    help="Curricula: what the builds of a store are made from, and in which order (docs/curricula.md).",
    no_args_is_help=True,
)
Name = Annotated[str, typer.Argument(help="a curriculum's name, or a TOML file")]


@app.callback()
def _group() -> None:
    """Curricula."""


@app.command("list")
def list_curricula() -> None:
    """List the curricula that ship with the project, and your own (in MINEEVOLVE_CURRICULA).

    Example: `mineevolve curriculum list`
    """
    from pipeline.command.curricula import listed

    listed()


@app.command()
def show(
    name: Name,
    build: Annotated[
        int | None, typer.Option(min=1, help="show the tasks of the build of this number")
    ] = None,
) -> None:
    """Show what each build of a curriculum plays, and what its snapshots are asked.

    Examples:

    * `mineevolve curriculum show mixed`
    * `mineevolve curriculum show accumulation --build 4`
    """
    from pipeline.command.curricula import shown

    shown(name, build)


@app.command()
def check(
    name: Annotated[list[str] | None, typer.Argument(help="names or TOML files (default: all)")] = None,
) -> None:
    """Check curricula: a mistake is named with its file, its key and what is allowed there.

    Examples:

    * `mineevolve curriculum check`
    * `mineevolve curriculum check curricula/mine.toml`
    """
    from pipeline.command.curricula import checked

    checked(name or [])


@app.command()
def run(
    name: Name,
    builds: Annotated[
        int | None, typer.Option(min=1, help="only so many builds from the first on (default: all of them)")
    ] = None,
    evaluate: Annotated[
        bool, typer.Option("--evaluate/--no-evaluate", help="ask every snapshot, frozen, when all are made")
    ] = True,
    workers: Workers = 2,
    backend: Backend = None,
    ray_address: RayAddress = None,
    out: Annotated[
        Path | None, typer.Option(help="its data home (default: curricula/NAME in the data home)")
    ] = None,
) -> None:
    """Make the builds of a curriculum, evaluate each of their snapshots, and write the report.

    A curriculum has a data home of its own, so that nothing is learnt from another one's episodes. Run it
    again after it was stopped and it goes on where it was; what is whole is not done again.

    Examples:

    * `mineevolve curriculum run mixed`
    * `mineevolve curriculum run nightly --builds 2 --no-evaluate`
    """
    from pipeline.command.curricula import made

    made(name, builds, workers, out, where(backend, ray_address), evaluate=evaluate)
