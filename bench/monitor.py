"""Monitor over millions of ticks against a bare scan of the same files. `python -m bench monitor --help`

The bare scan is `scan_parquet` of all files and the sum of every numeric column that Monitor uses, streaming,
with as many threads. Each is the best of three passes in a process of its own, so that the peak memory is its
own too.
"""

import multiprocessing
import resource
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

import polars as pl
from rich.console import Console
from rich.table import Table

from bench.made_traces import make_files
from rollouts.monitor import monitor_shards
from rollouts.monitor.watch import NEEDED
from rollouts.trace import LazyTrace
from warehouse.domains import load_domain
from warehouse.records import polars_schema

TICKS: Final = 20_000_000
FILES: Final = 16
PASSES: Final = 3
GOAL_RATIO: Final = 2.5
GOAL_MB: Final = 500.0
NUMERIC: Final = [name for name in NEEDED if polars_schema("ticks")[name].is_numeric()]

Paths = Mapping[str, Sequence[Path]]


class Pass(NamedTuple):
    """One way of going over all ticks: the best of its passes, and the most memory its process ever held."""

    seconds: float
    cpu_seconds: float
    peak_mb: float
    rows_out: int


class Measured(NamedTuple):
    """Monitor beside the bare scan."""

    ticks: int
    threads: int
    scan: Pass
    monitor: Pass

    @property
    def ratio(self) -> float:
        return self.monitor.seconds / self.scan.seconds

    @property
    def met(self) -> bool:
        return self.ratio <= GOAL_RATIO and self.monitor.peak_mb <= GOAL_MB


def bare_scan(paths: Paths) -> int:
    """Reads and sums the numeric columns; the number of rows that come out."""
    ticks = pl.scan_parquet(list(paths["ticks"]), glob=False)
    return ticks.select(pl.col(NUMERIC).sum()).collect(engine="streaming").height


def monitored(paths: Paths) -> int:
    """Monitor over the same files; the number of feedback rows."""
    shard = LazyTrace(
        tables={name: pl.scan_parquet(list(files), glob=False) for name, files in paths.items()},
        ticks=[pl.scan_parquet(path, glob=False) for path in paths["ticks"]],
    )
    return monitor_shards([shard], load_domain("minecraft")).height


def measure(folder: Path, ticks: int = TICKS, files: int = FILES) -> Measured:
    """Makes the files if they are not there, and goes over them both ways."""
    paths = make_files(folder / f"monitor-{ticks}-{files}", ticks, files, load_domain("minecraft"))
    scan, monitor = (_in_own_process(work, paths) for work in (bare_scan, monitored))
    return Measured(ticks, pl.thread_pool_size(), scan, monitor)


def _in_own_process(work: Callable[[Paths], int], paths: Paths) -> Pass:
    # A forked child would start with this process's memory.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(_best_of, work, paths).result()


def _best_of(work: Callable[[Paths], int], paths: Paths) -> Pass:
    def once() -> tuple[float, float, int]:
        started, cpu = time.perf_counter(), time.process_time()
        rows = work(paths)
        return time.perf_counter() - started, time.process_time() - cpu, rows

    seconds, cpu_seconds, rows = min(once() for _ in range(PASSES))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000  # the kernel says KiB
    return Pass(seconds, cpu_seconds, peak, rows)


def report(measured: Measured) -> Table:
    """The figures as a table."""
    title = f"Monitor: {measured.ticks:,} ticks, {measured.threads} threads, best of {PASSES}"
    table = Table(title=title)
    for heading in ("", "wall s", "CPU s", "M rows/s", "peak MB", "ratio", "goal", "met?"):
        table.add_column(heading, justify="right" if heading else "left")
    goal = f"{GOAL_RATIO:g}x, {GOAL_MB:g}MB"
    verdict = "yes" if measured.met else "no"
    for name, each, last in (
        ("bare scan", measured.scan, ("1", "", "")),
        ("Monitor", measured.monitor, (f"{measured.ratio:.2f}", goal, verdict)),
    ):
        rate = measured.ticks / each.seconds
        table.add_row(
            name,
            f"{each.seconds:.2f}",
            f"{each.cpu_seconds:.2f}",
            f"{rate / 1e6:.1f}",
            f"{each.peak_mb:.0f}",
            *last,
        )
    return table


def main(folder: Path, ticks: int = TICKS) -> int:
    """Measure and print the table; 1 if a goal is missed."""
    measured = measure(folder, ticks)
    Console().print(report(measured))
    return 0 if measured.met else 1
