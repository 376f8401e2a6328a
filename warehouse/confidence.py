"""How far an entry can be trusted: a Beta posterior over the outcomes of its use, started from its support.

    confidence = mean of Beta(1 + wins + min(supporting episodes, START), 1 + losses)

Support starts the posterior and does not fill it. The episodes behind a remedy show that the failure is real,
not that the repair mends it, and those behind a skill were chosen because they ended well. Counted in full
they would put an entry that nobody has tried above every entry that was tried often.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from warehouse.entries import Entry, Usage
from warehouse.ids import FLOAT_PLACES

START: Final = 2
"""The most that support weighs, in won uses. Two: the second independent episode shows that the first was no
accident, and a third says the same again. So an entry starts between .667 and .75, and after a handful of
uses these say more than its start does."""


class Outcomes(NamedTuple):
    """Episodes in which an entry was used with a decided outcome, and how many of them it won."""

    uses: int
    wins: int


NEVER_USED: Final = Outcomes(0, 0)


class Interval(NamedTuple):
    """An equal-tailed credible interval of an entry's success rate, in [0, 1]."""

    low: float
    high: float


def confidence(support_episodes: int, wins: int, losses: int) -> float:
    """The posterior mean, in (0, 1), to the places that storage keeps: a reread entry is no other entry.

    >>> confidence(support_episodes=2, wins=0, losses=0)
    0.75
    >>> confidence(support_episodes=13, wins=0, losses=0)
    0.75
    >>> confidence(support_episodes=13, wins=1, losses=3)
    0.5
    """
    started = 1 + wins + min(support_episodes, START)
    return round(started / (started + 1 + losses), FLOAT_PLACES)


def interval(entry: Entry, mass: float = 0.9) -> Interval:
    """The central interval of the posterior that holds `mass` of it."""
    from scipy.stats import beta  # half a second that no reader of the store should wait for

    won = 1 + entry.wins + min(entry.support_episodes, START)
    lost = 1 + entry.uses - entry.wins
    low, high = beta.interval(mass, won, lost)
    return Interval(float(low), float(high))


def outcomes_by_build(usage: Iterable[Usage], holder: Mapping[str, str]) -> dict[str, dict[str, Outcomes]]:
    """Entry id -> build -> its outcomes there, builds in order, from the whole log of uses. A use whose build
    is unknown stands before all others, under the empty name.

    An episode counts once, however often the entry was used in it: repeats inside one episode are not
    independent. It is won if more of its decided uses were won than lost. `holder` maps the id of an entry
    that was merged to the entry that now stands for it, whose episodes are then counted together.
    """
    balance: defaultdict[tuple[str, str, str], dict[str, bool]] = defaultdict(dict)
    for use in sorted(usage, key=lambda each: (each.episode_id, each.feedback_id, str(each.won))):
        if use.won is not None:
            # Two merged entries used in one attempt are one use of what they became.
            key = holder.get(use.entry_id, use.entry_id), use.build or "", use.episode_id
            balance[key][use.feedback_id] = use.won
    outcomes: defaultdict[str, dict[str, Outcomes]] = defaultdict(dict)
    for entry_id, build, episode in sorted(balance):
        uses = balance[entry_id, build, episode]
        so_far = outcomes[entry_id].get(build, NEVER_USED)
        won = 2 * sum(uses.values()) > len(uses)
        outcomes[entry_id][build] = Outcomes(so_far.uses + 1, so_far.wins + won)
    return dict(outcomes)


def together(outcomes: Iterable[Outcomes]) -> Outcomes:
    """Outcomes of several builds added up."""
    counted = list(outcomes)
    return Outcomes(sum(one.uses for one in counted), sum(one.wins for one in counted))


def outcomes_by_entry(usage: Iterable[Usage], holder: Mapping[str, str]) -> dict[str, Outcomes]:
    """Entry id -> its outcomes of all builds, counted as `outcomes_by_build` does."""
    by_build = outcomes_by_build(usage, holder)
    return {entry_id: together(builds.values()) for entry_id, builds in by_build.items()}
