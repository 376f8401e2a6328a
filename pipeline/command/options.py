"""Options that several commands share."""

from typing import Annotated

import typer

Build = Annotated[str | None, typer.Option(help="the build to work on; builds are folded in sorted order")]
Groups = Annotated[
    list[str] | None, typer.Option("--group", help="a task group; may be given several times (default: all)")
]
SuiteName = Annotated[str, typer.Option(help="a suite that ships with the domain, or a JSON file")]
Tasks = Annotated[
    list[str] | None, typer.Option("--task", help="only this task of the group; may be given several times")
]
Episodes = Annotated[int, typer.Option(min=1, help="worlds per task")]
Planners = Annotated[int, typer.Option(min=1, help="planner seeds, each with its own misconceptions")]
Agent = Annotated[str, typer.Option(help="a row of rollouts/agents.toml")]
Workers = Annotated[int, typer.Option(min=0, help="processes that step worlds; 0: this one does")]
Cap = Annotated[
    int | None, typer.Option("--horizon-cap", min=1, help="end every episode after so many ticks")
]
AnyModel = Annotated[bool, typer.Option("--any-model", help="play with knowledge that another model learnt")]
WorldSeed = Annotated[int, typer.Option("--seed", help="the seed that world seeds are derived from")]
