"""What try-outs say of an entry: its pairs, counted, and a sequential test over those whose arms differ.

    d = pairs that only the arm with the entry won - pairs that only the arm without it won

    helpful    d >= net
    harmful    d <= -net
    futile     it was never reached with the entry, in at least `futile` pairs
    undecided  everything else, no pair at all included

tryouts.toml has the bounds, and what errors they allow. How a try-out is played is in rollouts/tryout.py.
"""

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Final, Literal, NamedTuple

from pydantic import Field

from warehouse.entries import Reason, TryOut
from warehouse.knowledge import Record

FILE: Final = Path(__file__).parent / "tryouts.toml"
Finding = Literal["helpful", "harmful", "futile", "undecided"]


class Sequential(Record):
    """The test, see tryouts.toml. All four are numbers of pairs."""

    net: int = Field(ge=1)
    futile: int = Field(ge=1)
    most: int = Field(ge=1)
    batch: int = Field(ge=1)


class Cost(Record):
    """What a try-out may take, in game ticks."""

    arm_ticks: int = Field(ge=1)
    lead_ticks: int = Field(ge=0)


class Rules(Record):
    """The parameters of try-outs."""

    test: Sequential
    cost: Cost


class Tally(NamedTuple):
    """Pairs of an entry in which both arms were decided, by who reached the subgoal."""

    both: int = 0
    only_with: int = 0
    only_without: int = 0
    neither: int = 0

    @property
    def pairs(self) -> int:
        """All of them."""
        return sum(self)

    def __str__(self) -> str:
        return (
            f"{self.pairs} pairs: its goal was reached only with it in {self.only_with}, only without it in "
            f"{self.only_without}, in both arms in {self.both}, in neither in {self.neither}"
        )


@cache
def rules() -> Rules:
    """The parameters that ship."""
    return Rules.model_validate(tomllib.loads(FILE.read_text(encoding="utf-8")))


def tallies(tryouts: Iterable[TryOut]) -> dict[str, Tally]:
    """Entry id -> its pairs. An arm without its other one, or an undecided arm, makes no pair."""
    arms: dict[tuple[str, str, int], dict[str, bool | None]] = {}
    for one in tryouts:
        arms.setdefault((one.entry_id, one.situation, one.world_seed), {})[one.arm] = one.success
    counted: dict[str, list[int]] = {}
    for (entry_id, _, _), pair in sorted(arms.items()):
        won, lost = pair.get("with"), pair.get("without")
        if won is not None and lost is not None:
            # In the order of the tally's fields.
            counted.setdefault(entry_id, [0, 0, 0, 0])[2 * (not won) + (not lost)] += 1
    return {entry_id: Tally(*counts) for entry_id, counts in counted.items()}


def finding(tally: Tally, test: Sequential) -> Finding:
    """What the pairs say.

    >>> finding(Tally(both=1, only_with=3), rules().test)
    'helpful'
    """
    lead = tally.only_with - tally.only_without
    if abs(lead) >= test.net:
        return "helpful" if lead > 0 else "harmful"
    with_it = tally.both + tally.only_with
    return "futile" if not with_it and tally.pairs >= test.futile else "undecided"


def reasons_tried(entry_id: str, pairs: Mapping[str, Tally]) -> tuple[Reason, ...]:
    """Why an entry that was tried out is rejected; nothing where it helped, or where nothing was decided."""
    tally = pairs.get(entry_id, Tally())
    found = finding(tally, rules().test)
    if found not in ("harmful", "futile"):
        return ()
    return (Reason(rule="tryout", detail=f"{found} in {tally}"),)
