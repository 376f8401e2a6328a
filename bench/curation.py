"""How long Curator takes: builds of 10,000 and of 100,000 candidates, into a store of 10,000 entries.

python -m bench.curation                         both sizes, a table, exit code 1 if the goal is missed
python -m bench.curation --candidates 10000      1,000 and 10,000
python -m bench.curation --store 1000            into a smaller store

The candidates are made up (bench/made_candidates.py), and so are the attempts that they cite; the store is
what Curator makes of earlier builds, of every status. "fold s" is all of `warehouse.fold.fold_build`: the log
is read, curated, frozen and written to the warehouse; "curate s" is the share of the pass itself (checks,
back-test, conflicts, merging). Seconds are of the processor's time, so that a busy machine measures much the
same. Each size runs in a process of its own, so that its memory is its own: "before MB" is the peak before
the fold, with candidates, attempts and store, "peak MB" the one after it. The goal is that ten times the
candidates take at most fifteen times as long.
"""

import multiprocessing
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Final, NamedTuple

import typer
from rich.console import Console
from rich.table import Table

from bench.made_candidates import make
from warehouse import log
from warehouse.build_evidence import Evidence
from warehouse.curator import Curation, curate
from warehouse.domains import load_domain
from warehouse.entries import Entry
from warehouse.facts import FeedbackFact
from warehouse.fold import fold_build

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
    store: int
    active: int
    accepted: int
    tested: int
    curate_s: float
    fold_s: float
    before_mb: float
    peak_mb: float


class _House:
    """A data home whose builds have made-up candidates, and its store."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._domain = load_domain("minecraft")
        self._facts: dict[str, FeedbackFact] = {}
        self.last = Curation({}, ())
        self.curate_s = 0.0

    def hand_in(self, count: int, seed: int, build: str) -> None:
        """Make a build's candidates and log them."""
        made = make(self._domain, count, seed, build)
        self._facts |= made.facts
        log.append(self._home, "candidates", build, log.candidate_rows(made.candidates))

    def fold(self, build: str) -> None:
        """Fold a build that is later than those before it."""
        fold_build(self._home, build, self._curate)

    def _curate(self, evidence: Evidence, store: Mapping[str, Entry]) -> Curation:
        started = time.process_time()
        self.last = curate(evidence.candidates, self._facts, store, (), self._domain)
        self.curate_s = time.process_time() - started
        return self.last


def measure(size: int, entries: int) -> Measured:
    """Fold one build of `size` candidates into a store of at least `entries`."""
    with TemporaryDirectory() as folder:
        house, builds = _House(Path(folder)), 0
        while len(house.last.store) < entries:
            house.hand_in(BATCH, SEED + builds, f"{builds:04d}")
            house.fold(f"{builds:04d}")
            builds += 1
        store = house.last.store
        house.hand_in(size, SEED - 1, f"{builds:04d}")
        before = _peak_mb()
        started = time.process_time()
        house.fold(f"{builds:04d}")
        fold_s = time.process_time() - started
    verdicts = Counter(decision.verdict for decision in house.last.decisions)
    return Measured(
        candidates=size,
        store=len(store),
        active=sum(entry.status == "active" for entry in store.values()),
        accepted=verdicts["accepted"],
        tested=len(house.last.backtests),
        curate_s=house.curate_s,
        fold_s=fold_s,
        before_mb=before,
        peak_mb=_peak_mb(),
    )


def report(rows: Sequence[Measured]) -> Table:
    """The figures as a table."""
    table = Table(
        title=f"Curator: one build into {rows[0].store:,} entries, {rows[0].active:,} of them active"
    )
    for heading in ("candidates", "tested", "accepted", "curate s", "fold s", "before MB", "peak MB"):
        table.add_column(heading, justify="right")
    for row in rows:
        counts = (row.candidates, row.tested, row.accepted)
        figures = (f"{row.curate_s:.1f}", f"{row.fold_s:.1f}", f"{row.before_mb:,.0f}", f"{row.peak_mb:,.0f}")
        table.add_row(*(f"{count:,}" for count in counts), *figures)
    return table


def main(candidates: int = CANDIDATES, entries: int = STORE) -> int:
    """Measure `candidates` and a tenth of them and print the table; 1 if the goal is missed."""
    small, large = (_measured_apart(size, entries) for size in (candidates // 10, candidates))
    console = Console()
    console.print(report([small, large]))
    curated, folded = large.curate_s / small.curate_s, large.fold_s / small.fold_s
    is_met = max(curated, folded) <= MOST_TIMES
    verdict = f"goal: at most {MOST_TIMES:g} times, {'met' if is_met else 'missed'}"
    console.print(
        f"ten times the candidates: {curated:.1f} times curate, {folded:.1f} times fold ({verdict})"
    )
    return 0 if is_met else 1


def _measured_apart(size: int, entries: int) -> Measured:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(measure, size, entries).result()


def _peak_mb() -> float:
    # Not ru_maxrss: that counts the parent's memory too, which a child has until it starts its own program.
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    lines = dict(line.split(":", 1) for line in status.splitlines())
    return int(lines["VmHWM"].split()[0]) / 1000  # KiB


def run(
    candidates: Annotated[
        int, typer.Option(min=10, help="How many candidates the larger size has.")
    ] = CANDIDATES,
    store: Annotated[int, typer.Option(min=1, help="How many entries the store has.")] = STORE,
) -> None:
    """Measure Curator; exit code 1 if the goal is missed."""
    raise typer.Exit(main(candidates, store))


if __name__ == "__main__":
    typer.run(run)
