"""How long retrieval takes at 1,000, 10,000 and 100,000 entries: `python -m bench.retrieval`.

The stores are synthetic, made from the domain's own items with a fixed seed: skills and remedies whose
triggers name what a real one does (kind, target, failure type, inventory), learnt at up to three places. A
query is a whole `retrieve` (rank, knapsack), each in a situation of its own. The cost of an entry is drawn
beforehand: counting tokens is the caller's and is remembered per entry.

The kinship of a goal is worked out when it is first asked for, then remembered. "new goals" is the median of
queries to an index that has answered none before, nearly all for goals new to it; p50 and p95 are of other
situations, after every item was a goal once: what a process meets that serves many episodes of few tasks.
"""

import random
import sys
import time
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from warehouse.domains import Domain, load_domain
from warehouse.entries import Entry
from warehouse.ids import derive_id
from warehouse.kinship import kinship_of
from warehouse.knowledge import Amount, Op, Predicate, RemedyContent, Risk, SkillContent, Step
from warehouse.retrieval import Context, Index, Place, retrieve
from warehouse.state import flatten_state

SIZES: Final = (1_000, 10_000, 100_000)
GOALS_MS: Final = {1_000: 1.0, 10_000: 2.0, 100_000: 5.0}
"""p50 per query, on two modest cores"""
QUERIES: Final = 300
FEW_GOALS: Final = 40
"""Also measured: stores about few items, where far more entries are about each goal."""
BUDGET: Final = 512
SEED: Final = 7
MEDIAN_COST: Final = 90
"""tokens of a typical rendered entry"""


class Measured(NamedTuple):
    """One row of the table: seconds and milliseconds of wall time."""

    entries: int
    n_goals: int | None
    build_s: float
    new_goals_ms: float
    p50_ms: float
    p95_ms: float
    goal_ms: float

    @property
    def met(self) -> bool:
        """Whether the median reaches the goal."""
        return self.p50_ms <= self.goal_ms


class Synthetic:
    """Draws entries, places and situations about `n_goals` of a domain's items; one seed, one sequence."""

    def __init__(self, domain: Domain, seed: int, n_goals: int | None = None) -> None:
        self._domain = domain
        self._random = random.Random(seed)
        goals = sorted(item for item in domain.items if domain.prerequisites(item))
        self._goals = goals if n_goals is None else self._random.sample(goals, n_goals)
        self._needs = {goal: sorted(domain.prerequisites(goal)) for goal in self._goals}
        self._biomes = [f"biome_{number}" for number in range(20)]

    def entry(self, number: int) -> Entry:
        """A skill or a remedy about an item that can be got; `number` makes its id unlike all others."""
        draw = self._random
        item = draw.choice(self._goals)
        kind, target = self._domain.sources(item)[0]
        needs = self._needs[item]
        trigger = [
            Predicate(field="kind", op="eq", value=kind),
            Predicate(field="target", op="eq", value=target),
        ]
        trigger += [self._held(draw.choice(needs)) for _ in range(draw.randint(1, 3))]
        content: SkillContent | RemedyContent
        if draw.random() < 0.5:
            content = SkillContent.model_construct(
                kind=kind,
                target=target,
                preconditions=tuple(self._held(draw.choice(needs)) for _ in range(draw.randint(0, 2))),
                steps=(Step.model_construct(kind=kind, target=target),),
                effects=(Amount.model_construct(name=item, count=1),),
            )
        else:
            failure = draw.choice(self._domain.failure_types)
            trigger.append(Predicate(field="failure_type", op="eq", value=failure))
            missing = (draw.choice(needs),) if failure.startswith("MISSING") else ()
            content = RemedyContent.model_construct(
                risk=Risk.model_construct(kind=kind, target=target, failure_type=failure, missing=missing),
                repair=(Step.model_construct(kind=kind, target=target),),
            )
        # Constructed without validation: the rows are well-formed by construction, and 100,000 are many.
        return Entry.model_construct(
            entry_id=derive_id("bench", number),
            domain=self._domain.name,
            type="skill" if isinstance(content, SkillContent) else "remedy",
            trigger=tuple(trigger),
            content=content,
            confidence=draw.betavariate(4, 2),
            status="active",
            first_build="bench",
            last_build="bench",
        )

    def place(self) -> Place:
        """Somewhere in one of ten worlds."""
        draw = self._random
        position = (draw.uniform(-500, 500), draw.uniform(5, 90), draw.uniform(-500, 500))
        return Place(position=position, biome=draw.choice(self._biomes), world=f"world {draw.randrange(10)}")

    def places(self) -> list[Place]:
        """Where an entry was learnt: one to three places."""
        return [self.place() for _ in range(self._random.randint(1, 3))]

    def context(self) -> Context:
        """On the way to a goal: a subgoal that it needs, some of the needed things held, up to 3 failures."""
        draw = self._random
        goal = draw.choice(self._goals)
        needs = self._needs[goal]
        kind, target = self._domain.sources(draw.choice([goal, *needs]))[0]
        held = sorted(draw.sample(needs, min(len(needs), draw.randint(0, 8))))
        place = self.place()
        assert place.position is not None
        state = flatten_state(
            {
                "y": place.position[1],
                "health": 20.0,
                "hunger": 18.0,
                "alive": True,
                "inventory": [{"name": item, "count": draw.randint(1, 16)} for item in held],
                "near": draw.sample(sorted(self._domain.stations), 1),
            }
        )
        failures = tuple(draw.choices(self._domain.failure_types, k=draw.randint(0, 3)))
        return Context(
            goal_target=goal, kind=kind, target=target, state=state, failures=failures, place=place
        )

    def cost(self) -> int:
        """Tokens of an entry's block."""
        return max(20, round(self._random.gauss(MEDIAN_COST, MEDIAN_COST / 3)))

    def _held(self, item: str) -> Predicate:
        short: tuple[Op, int] = ("lt", 1)
        op, count = self._random.choice((short, ("ge", 1), ("ge", 3)))
        return Predicate(field=f"inventory.{item}", op=op, value=count)


def measure(size: int, domain: Domain, n_goals: int | None = None, queries: int = QUERIES) -> Measured:
    """Time `queries` retrievals from a store of `size` entries about `n_goals` items (None: all)."""
    synthetic = Synthetic(domain, SEED, n_goals)
    entries = [synthetic.entry(number) for number in range(size)]
    evidence = {entry.entry_id: synthetic.places() for entry in entries}
    costs = {entry.entry_id: synthetic.cost() for entry in entries}
    first, later = ([synthetic.context() for _ in range(queries)] for _ in range(2))
    kinship_of.cache_clear()
    started = time.perf_counter()
    index = Index.build(entries, domain, evidence)
    build_s = time.perf_counter() - started

    def once(context: Context) -> float:
        began = time.perf_counter()
        found = retrieve(index, context, BUDGET, lambda entry: costs[entry.entry_id])
        took = time.perf_counter() - began
        assert found.tokens <= BUDGET
        return 1000 * took

    new_goals = np.median([once(context) for context in first])
    for item in sorted(domain.items):
        index.rank(Context(goal_target=item))
    p50, p95 = np.percentile([once(context) for context in later], [50, 95])
    goal_ms = GOALS_MS.get(size, float("inf"))
    return Measured(size, n_goals, build_s, float(new_goals), float(p50), float(p95), goal_ms)


def report(rows: Sequence[Measured]) -> Table:
    """The figures as a table."""
    table = Table(title=f"retrieve: {QUERIES} queries, budget {BUDGET} tokens, seed {SEED}")
    for heading in ("entries", "items", "build s", "new goals ms", "p50 ms", "p95 ms", "goal p50 ms", "met?"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            f"{row.entries:,}",
            "all" if row.n_goals is None else str(row.n_goals),
            f"{row.build_s:.2f}",
            f"{row.new_goals_ms:.2f}",
            f"{row.p50_ms:.2f}",
            f"{row.p95_ms:.2f}",
            f"{row.goal_ms:g}",
            "yes" if row.met else "no",
        )
    return table


def main() -> int:
    """Measure every size and print the table; 1 if a goal is missed."""
    domain = load_domain("minecraft")
    rows = [measure(size, domain, n_goals) for n_goals in (None, FEW_GOALS) for size in SIZES]
    Console().print(report(rows))
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
