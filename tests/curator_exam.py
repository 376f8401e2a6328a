"""Curator's exam: bad candidates, each wrong in one way, and good ones (docs/knowledge.md).

    python -m tests.curator_exam ../shared/traces/voyager_questllama     a fresh seed, which is printed
    python -m tests.curator_exam ../shared/traces/voyager_questllama --seed 7 --each 5 --played

A pool is what was accepted somewhere. Every mutator is applied to cases of every pool, `each` times where
it finds something to break, and so is every variant that leaves a good candidate good.
"""

import os
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Annotated, NamedTuple

import polars as pl
import typer

from tests.case_pools import VARIANTS, recorded_cases, stored_cases, template_cases
from tests.good_cases import DOMAIN, Case
from tests.mutation import Apply
from tests.mutators import MUTATORS
from warehouse.curator import curate
from warehouse.ids import canonical_bytes

SEED = "MINEEVOLVE_EXAM_SEED"
Pools = Mapping[str, Sequence[Case]]


class Mark(NamedTuple):
    """One candidate of the exam: where it came from, what was done to it, the rules that refused it."""

    pool: str
    by: str
    sort: str
    expected: str | None
    """the rule that should refuse it; None for a good one"""
    rules: frozenset[str]
    case: Case

    @property
    def accepted(self) -> bool:
        return not self.rules

    def __str__(self) -> str:
        return f"{self.pool}/{self.by}: {canonical_bytes(self.case.candidate).decode()}"


def fresh_seed() -> int:
    """The seed that the environment asks for, else one that nobody has seen."""
    return int(os.environ.get(SEED) or secrets.randbits(32))


def bad(pools: Pools, seed: int, each: int) -> list[Mark]:
    """Candidates with one fault each, and what Curator says of them."""
    return [
        _mark(pool, mutator.name, mutator.sort, mutator.rule, case)
        for pool, cases in pools.items()
        for mutator in MUTATORS
        for case in _drawn(cases, mutator.apply, f"{seed}/{pool}/{mutator.name}", each)
    ]


def good(pools: Pools, seed: int, each: int) -> list[Mark]:
    """Accepted candidates and variants of them, and what Curator says of them."""
    return [
        _mark(pool, variant.__name__, "good", None, case)
        for pool, cases in pools.items()
        for variant in VARIANTS
        for case in _drawn(cases, variant, f"{seed}/{pool}/{variant.__name__}", each)
    ]


def _drawn(cases: Sequence[Case], apply: Apply, seed: str, each: int) -> list[Case]:
    """The first `each` different cases that `apply` makes of a shuffled pool."""
    random = Random(seed)
    found: dict[bytes, Case] = {}
    for case in random.sample(cases, len(cases)):
        made = apply(case, random)
        if made is not None:
            found.setdefault(canonical_bytes(made.candidate), made)
        if len(found) == each:
            break
    return list(found.values())


def _mark(pool: str, by: str, sort: str, expected: str | None, case: Case) -> Mark:
    made = curate([case.candidate], case.facts, case.store, (), DOMAIN)
    decision = next(one for one in made.decisions if one.candidate_id == case.candidate.candidate_id)
    return Mark(pool, by, sort, expected, frozenset(reason.rule for reason in decision.reasons), case)


def table(marks: Iterable[Mark]) -> pl.DataFrame:
    """A row for each mutator or variant: how many there were, how many got in, what refused the others."""
    rows: dict[tuple[str, str], list[Mark]] = {}
    for mark in marks:
        rows.setdefault((mark.sort, mark.by), []).append(mark)
    return pl.DataFrame(
        [
            {
                "sort": sort,
                "fault": by,
                "n": len(some),
                "accepted": sum(mark.accepted for mark in some),
                "refused_by": ", ".join(
                    f"{rule} {times}"
                    for rule, times in Counter(rule for mark in some for rule in mark.rules).most_common()
                ),
            }
            for (sort, by), some in rows.items()
        ]
    )


def played_cases(home: Path) -> list[Case]:
    """What is accepted of a small build of the built-in world: wooden and stone tasks, one world each."""
    from pipeline import launch
    from pipeline.settings import Settings

    settings, build, groups = Settings(data=home), "0001", ("wooden", "stone")
    launch.train_build(settings, build, groups, {"episodes": 1, "workers": 0, "horizon_cap": 4800})
    return stored_cases(home, build, DOMAIN)


def main(
    traces: Annotated[list[Path], typer.Argument(help="folders of recordings")],
    seed: Annotated[int | None, typer.Option(help="by default one that nobody has seen")] = None,
    each: Annotated[int, typer.Option(min=1, help="candidates per mutator and pool")] = 3,
    played: Annotated[bool, typer.Option(help="also from a small build of the built-in world")] = False,
) -> None:
    """Prints which faults Curator refuses, and by which rule; exits with 1 where it accepts one."""
    from pipeline.command.console import out, show

    chosen = fresh_seed() if seed is None else seed
    pools: dict[str, Sequence[Case]] = {"hand-written": template_cases()}
    pools["recorded"] = recorded_cases(traces, DOMAIN)
    if played:
        with TemporaryDirectory() as home:
            pools["played"] = played_cases(Path(home))
    wrong, right = bad(pools, chosen, each), good(pools, chosen, each * 4)
    show(table(wrong), f"Bad candidates, seed {chosen}")
    show(table(right), "Good candidates")
    let_in = [mark for mark in wrong if mark.accepted]
    turned_away = [mark for mark in right if not mark.accepted]
    for mark in (*let_in, *turned_away):
        out.print(f"{'accepted' if mark.accepted else 'refused'}: {mark}", markup=False, soft_wrap=True)
    sizes = ", ".join(f"{pool} {len(cases)}" for pool, cases in pools.items())
    out.print(f"pools: {sizes}")
    out.print(f"{len(let_in)} of {len(wrong)} bad candidates accepted")
    out.print(f"{len(right) - len(turned_away)} of {len(right)} good candidates accepted")
    raise typer.Exit(1 if let_in else 0)


if __name__ == "__main__":
    typer.run(main)
