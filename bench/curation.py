"""How long one pass of Curator takes: 10,000 and 100,000 candidates into a store of 10,000 entries.

python -m bench.curation                         both sizes, a table, exit code 1 if the goal is missed
python -m bench.curation --candidates 10000      1,000 and 10,000
python -m bench.curation --store 1000            into a smaller store

The candidates are made up (bench/made_candidates.py); the store is what Curator makes of earlier ones, of
every status. Each size runs in a process of its own, so that its memory is its own: "before MB" is the peak
before the pass, with candidates, feedback and store, "peak MB" the one after it. Seconds are of the
processor's time, so that a busy machine measures much the same. The goal is that ten times the candidates
take at most fifteen times as long.
"""

import multiprocessing
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer
from rich.console import Console
from rich.table import Table

from bench.made_candidates import make
from warehouse.curator import curate
from warehouse.domains import Domain, load_domain
from warehouse.entries import Entry
from warehouse.facts import FeedbackFact

CANDIDATES: Final = 100_000
"""of the larger size; the smaller has a tenth of them"""
STORE: Final = 10_000
BATCH: Final = 2_500
"""candidates of one build of those that the store is made of"""
MOST_TIMES: Final = 15.0
"""times as long for ten times the candidates"""
SEED: Final = 11


class Measured(NamedTuple):
    """One row of the table: counts, seconds and megabytes."""

    candidates: int
    facts: int
    store: int
    active: int
    accepted: int
    tested: int
    after: int
    seconds: float
    before_mb: float
    peak_mb: float


def stored(domain: Domain, size: int) -> tuple[dict[str, Entry], dict[str, FeedbackFact]]:
    """A store of at least `size` entries and the facts behind it, made build by build."""
    store: dict[str, Entry] = {}
    facts: dict[str, FeedbackFact] = {}
    for number in range(1 << 20):
        made = make(domain, BATCH, SEED + number, f"b{number:04d}")
        facts |= made.facts
        store = curate(made.candidates, facts, store, (), domain).store
        if len(store) >= size:
            break
    return store, facts


def measure(size: int, entries: int) -> Measured:
    """Time one pass over `size` candidates into a store of at least `entries`."""
    domain = load_domain("minecraft")
    store, facts = stored(domain, entries)
    made = make(domain, size, SEED - 1, "new")
    facts |= made.facts
    before = _peak_mb()
    started = time.process_time()
    result = curate(made.candidates, facts, store, (), domain)
    seconds = time.process_time() - started
    verdicts = Counter(decision.verdict for decision in result.decisions)
    return Measured(
        candidates=size,
        facts=len(facts),
        store=len(store),
        active=sum(entry.status == "active" for entry in store.values()),
        accepted=verdicts["accepted"],
        tested=len(result.backtests),
        after=len(result.store),
        seconds=seconds,
        before_mb=before,
        peak_mb=_peak_mb(),
    )


def report(rows: Sequence[Measured]) -> Table:
    """The figures as a table."""
    table = Table(title=f"curate: one pass, seed {SEED}, seconds of processor time")
    for heading in (
        "candidates",
        "facts",
        "store",
        "active",
        "accepted",
        "tested",
        "after",
        "s",
        "ms each",
        "before MB",
        "peak MB",
    ):
        table.add_column(heading, justify="right")
    for row in rows:
        counts = (row.candidates, row.facts, row.store, row.active, row.accepted, row.tested, row.after)
        table.add_row(
            *(f"{count:,}" for count in counts),
            f"{row.seconds:.1f}",
            f"{1000 * row.seconds / row.candidates:.2f}",
            f"{row.before_mb:,.0f}",
            f"{row.peak_mb:,.0f}",
        )
    return table


def main(candidates: int = CANDIDATES, entries: int = STORE) -> int:
    """Measure `candidates` and a tenth of them and print the table; 1 if the goal is missed."""
    rows = [_measured_apart(size, entries) for size in (candidates // 10, candidates)]
    times = rows[-1].seconds / rows[0].seconds
    console = Console()
    console.print(report(rows))
    met = times <= MOST_TIMES
    goal = f"goal: at most {MOST_TIMES:g} times"
    console.print(
        f"ten times the candidates: {times:.1f} times the time ({goal}, {'met' if met else 'missed'})"
    )
    return 0 if met else 1


def _measured_apart(size: int, entries: int) -> Measured:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(measure, size, entries).result()


def _peak_mb() -> float:
    # Not ru_maxrss: that counts the parent's memory too, which a child has until it starts its own program.
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    lines = dict(line.split(":", 1) for line in status.splitlines())
    return int(lines["VmHWM"].split()[0]) / 1000  # KiB


def run(
    candidates: Annotated[int, typer.Option(min=10, help="How many candidates the larger size has.")] = (
        CANDIDATES
    ),
    store: Annotated[int, typer.Option(min=1, help="How many entries the store has.")] = STORE,
) -> None:
    """Measure one pass of Curator; exit code 1 if the goal is missed."""
    raise typer.Exit(main(candidates, store))


if __name__ == "__main__":
    typer.run(run)
