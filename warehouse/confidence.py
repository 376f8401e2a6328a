"""How far an entry can be trusted: a Beta posterior over the outcomes of its use, started from its support.

confidence = mean of Beta(1 + wins + supporting episodes, 1 + losses)
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from warehouse.entries import Entry, Usage
from warehouse.ids import FLOAT_PLACES


class Outcomes(NamedTuple):
    """Episodes in which an entry was used with a decided outcome, and how many of them it won."""

    uses: int
    wins: int


class Interval(NamedTuple):
    """An equal-tailed credible interval of an entry's success rate, in [0, 1]."""

    low: float
    high: float


def confidence(support_episodes: int, wins: int, losses: int) -> float:
    """The posterior mean, in (0, 1), to the places that storage keeps: a reread entry is no other entry.

    >>> confidence(support_episodes=2, wins=0, losses=0)
    0.75
    """
    return round((1 + wins + support_episodes) / (2 + wins + support_episodes + losses), FLOAT_PLACES)


def interval(entry: Entry, mass: float = 0.9) -> Interval:
    """The central interval of the posterior that holds `mass` of it."""
    from scipy.stats import beta  # half a second that no reader of the store should wait for

    won, lost = 1 + entry.wins + entry.support_episodes, 1 + entry.uses - entry.wins
    low, high = beta.interval(mass, won, lost)
    return Interval(float(low), float(high))


def outcomes_by_entry(usage: Iterable[Usage], holder: Mapping[str, str]) -> dict[str, Outcomes]:
    """Entry id -> its outcomes, from the whole log of uses.

    An episode counts once, however often the entry was used in it: repeats inside one episode are not
    independent. It is won if more of its decided uses were won than lost. `holder` maps the id of an entry
    that was merged to the entry that now stands for it, whose episodes are then counted together.
    """
    balance: defaultdict[tuple[str, str], dict[str, bool]] = defaultdict(dict)
    for use in sorted(usage, key=lambda each: (each.episode_id, each.feedback_id, str(each.won))):
        if use.won is not None:
            # Two merged entries used in one attempt are one use of what they became.
            balance[holder.get(use.entry_id, use.entry_id), use.episode_id][use.feedback_id] = use.won
    outcomes: dict[str, Outcomes] = {}
    for (entry_id, _), uses in balance.items():
        so_far = outcomes.get(entry_id, Outcomes(0, 0))
        won = 2 * sum(uses.values()) > len(uses)
        outcomes[entry_id] = Outcomes(so_far.uses + 1, so_far.wins + won)
    return outcomes
