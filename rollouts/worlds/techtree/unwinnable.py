"""A task for episodes that are about their subgoals alone. Not in a module of the world, whose kernels
take more than a second to load."""

from typing import Final

from warehouse.tasks import Task

UNWINNABLE: Final = Task(
    id="nothing",
    group="stages",
    kind="wait",
    instruction="nothing that can be had",
    horizon_ticks=1,
    any_of=("nether_star",),
    count=64,
    verifiable_by="inventory",
)
"""nothing in this world wins it"""
