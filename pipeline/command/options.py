"""Options that several commands share."""

from enum import StrEnum
from typing import Annotated

import typer


class BackendName(StrEnum):
    """Where worlds are stepped."""

    LOCAL = "local"
    RAY = "ray"


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
Workers = Annotated[
    int,
    typer.Option(
        min=0,
        help="processes that step worlds; 0: this one does, and with Ray as many as the cluster has room for",
    ),
]
Cap = Annotated[
    int | None, typer.Option("--horizon-cap", min=1, help="end every episode after so many ticks")
]
AnyModel = Annotated[bool, typer.Option("--any-model", help="play with knowledge that another model learnt")]
WorldSeed = Annotated[int, typer.Option("--seed", help="the seed that world seeds are derived from")]
Backend = Annotated[
    BackendName | None,
    typer.Option(
        help="where worlds are stepped: processes of this machine, or actors of a Ray cluster "
        "(docs/scale.md); default: MINEEVOLVE_BACKEND, or local"
    ),
]
RayAddress = Annotated[
    str | None,
    typer.Option(
        help="with --backend ray: the cluster (default: MINEEVOLVE_RAY_ADDRESS, or that of this machine, "
        "which is started where there is none)"
    ),
]


def where(backend: BackendName | None, ray_address: str | None) -> dict[str, str]:
    """The settings that these two options take the place of."""
    chosen = {"backend": backend and backend.value, "ray_address": ray_address}
    return {name: value for name, value in chosen.items() if value is not None}
