"""How many ticks a second STEVE-1 plays, by the episodes that it sees at once.

    python -m bench.steve1 --device cpu --steps 20
    python -m bench.steve1 --weights /models/steve1 --precision bfloat16

The pictures are noise, so this is the policy alone: encoding a picture for its process, the pass through the
network, drawing the keys. A game makes 20 ticks a second of each episode. Without --weights they are the
random ones of `make test-steve1`: a policy of half the published one's width, and less than its work. For
its own, `tests/steve1_model.py FOLDER --wide` makes a folder.
"""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from rollouts.worlds.client.steve1.policy import Policy, PolicySettings
from rollouts.worlds.worker_link import WorkerError

BATCHES: Final = (1, 4, 16)
STEPS: Final = 100
WARM: Final = 5
"""ticks of each episode that are played before the clock runs"""
RANDOM: Final = Path(__file__).parents[1] / ".venv-minestudio" / "steve1-random"
PICTURES: Final = 8


@dataclass(frozen=True)
class Played:
    """So many episodes at once, for so many ticks each, by a network of so many parameters; `bytes_used` at
    most until then."""

    batch: int
    steps: int
    seconds: float
    bytes_used: int
    parameters: int

    @property
    def per_second(self) -> float:
        """Ticks a second, all episodes together."""
        return self.batch * self.steps / self.seconds


def measure(settings: PolicySettings, batch: int, steps: int, worker: Path | None = None) -> Played:
    """Plays noise with a policy of its own; `worker` is another script, for tests. `WorkerError` where it
    cannot."""
    policy = Policy(settings) if worker is None else Policy(settings, worker)
    frames = np.random.default_rng(0).integers(0, 255, (PICTURES, 128, 128, 3), dtype=np.uint8)

    def play(number: int, first: int, ticks: int) -> None:
        for step in range(first, first + ticks):
            policy.act(f"e{number}", "mine log", number, step, frames[step % PICTURES])

    try:
        with ThreadPoolExecutor(batch) as threads:
            list(threads.map(lambda number: play(number, 0, WARM), range(batch)))
            began = time.perf_counter()
            list(threads.map(lambda number: play(number, WARM, steps), range(batch)))
            seconds = time.perf_counter() - began
        return Played(batch, steps, seconds, policy.memory(), policy.parameters)
    finally:
        policy.close()


def report(rows: list[Played], settings: PolicySettings, weights: str) -> Table:
    """The figures as a table, a size of the batch in each row."""
    size = f"{rows[0].parameters / 1e6:.0f} M parameters"
    table = Table(title=f"STEVE-1 ({weights}, {size}), {settings.precision} on {settings.device}")
    for heading in ("episodes at once", "ticks/s", "ticks/s of each", "memory at most, MiB"):
        table.add_column(heading, justify="right")
    for row in rows:
        each = row.per_second / row.batch
        table.add_row(str(row.batch), f"{row.per_second:.1f}", f"{each:.1f}", f"{row.bytes_used / 2**20:.0f}")
    return table


def main(
    weights: Annotated[
        str,
        typer.Option(help="Folder of MineStudio's checkpoint; none: the random one of `make test-steve1`."),
    ] = "",
    device: Annotated[str, typer.Option(help="PyTorch's name of what it runs on.")] = "cuda",
    precision: Annotated[str, typer.Option(help="float32, bfloat16 or float16.")] = "float32",
    batch: Annotated[list[int] | None, typer.Option(help="Episodes at once; may be given again.")] = None,
    steps: Annotated[int, typer.Option(min=1, help="Ticks of each episode.")] = STEPS,
) -> None:
    """Ticks a second of STEVE-1 by the size of its batch, and the memory that it takes: the GPU's, or its
    process's without one. Exit code 1 where it cannot be measured."""
    chosen = PolicySettings(weights or str(RANDOM), device, precision, batch=max(batch or BATCHES))
    try:
        rows = [measure(chosen, size, steps) for size in batch or BATCHES]
    except (WorkerError, ValueError) as error:
        print(f"STEVE-1: not measured: {error}", file=sys.stderr)
        raise typer.Exit(1) from error
    Console(width=100).print(report(rows, chosen, "your weights" if weights else "random, half as wide"))


if __name__ == "__main__":
    typer.run(main)
