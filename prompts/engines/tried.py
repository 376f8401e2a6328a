"""What an episode has tried, as far as a request's recent feedback tells: what failed last, and which repairs
of it were followed by the same failure again. Who reads that does not give the same answer twice.
"""

from collections.abc import Iterable, Sequence

from prompts.planning import Seen
from warehouse.domains import Domain
from warehouse.grammar import known_names
from warehouse.knowledge import Step

Action = tuple[str, str | None]
"""kind and target"""


class Tried:
    """The recent attempts of an episode, oldest first.

    `failing` is the action that the last attempt failed at, `failure` how; both None where it did not fail.
    """

    def __init__(self, recent: Sequence[Seen], facts: Domain) -> None:
        last = recent[-1] if recent else None
        self.failing: Action | None = None
        self.failure: str | None = None
        self._since: list[set[Action]] = []
        self._stations = facts.stations
        self._built_in_place = facts.built_in_place
        self._recent = recent
        if last is None or last.y is not False or last.kind is None:
            return
        self.failing, self.failure = (last.kind, last.target), last.failure_type
        for row in recent:
            action = (row.kind or "", row.target)
            same = row.y is False and row.failure_type == self.failure
            if same and speaks_of(self.failing, action, facts):
                self._since.append(set())
            elif self._since:
                self._since[-1].add(action)

    def in_vain(self, steps: Iterable[Step]) -> bool:
        """Whether all of `steps` were taken between two failures of the kind at hand: they did not help."""
        actions = {(step.kind, step.target) for step in steps}
        return any(actions <= taken for taken in self._since[:-1])

    @property
    def futile(self) -> frozenset[Action]:
        """What failed since anything changed: an attempt that failed without a move or a change of the pack
        leaves the state as it was, and what failed in it fails in it again. An attempt of which that is not
        known may have changed something."""
        failed: set[Action] = set()
        for row in reversed(self._recent):
            if row.y is not False or row.progress != 0 or row.change is None or any(row.change.values()):
                break
            failed.add((row.kind or "", row.target))
        return frozenset(failed)

    @property
    def placed(self) -> frozenset[str]:
        """Stations that were put somewhere."""
        return frozenset(
            row.target
            for row in self._recent
            if row.y and row.target and (row.kind == "use" or self._is_built(row))
        )

    @property
    def lost(self) -> frozenset[str]:
        """Stations that the last try to get back to failed, none having been put down since."""
        lost: set[str] = set()
        for row in self._recent:
            if row.target not in self._stations or not (row.kind in ("use", "move") or self._is_built(row)):
                continue
            if row.y:
                lost.discard(row.target)
            elif row.y is False and row.kind == "move":
                lost.add(row.target)
        return frozenset(lost)

    def _is_built(self, row: Seen) -> bool:
        return row.kind == "craft" and row.target in self._built_in_place


def speaks_of(risk: Action, action: Action, facts: Domain) -> bool:
    """Whether what is said of `risk` is said of `action`: same kind, same target or a member of it; an empty
    kind or target of the risk stands for any."""
    if risk[0] and risk[0] != action[0]:
        return False
    if risk[1] is None or risk[1] == action[1]:
        return True
    one, other = known_names(risk[1], facts), known_names(action[1] or "", facts)
    return bool(one and other) and (one <= other or other <= one)
