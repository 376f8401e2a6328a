"""Eight machines hand in at once while curation runs, one of them is killed, and so is curation."""

from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from tests.faults import CHILDREN, PATIENCE_S, killed_at
from tests.test_inbox import REAL, logged, proposed
from warehouse import log
from warehouse.fold import fold_build, store_after
from warehouse.inbox import hand_in, take_in, waiting

pytestmark = pytest.mark.faults

MACHINES = 8
EACH = 1250
AT_ONCE = 250


def machine(home: Path, number: int) -> None:
    """What one machine does: it hands in its candidates in several goes, and it may do so again."""
    for first in range(number * EACH, (number + 1) * EACH, AT_ONCE):
        hand_in(home, *proposed(*range(first, first + AT_ONCE)))


def curation(home: Path, machines_are_done: Event) -> None:
    """Takes in and folds, again and again, until there is nothing more to come."""
    last = False
    while not last:
        last = machines_are_done.is_set()
        if take_in(home).shards:
            fold_build(home, "b1", REAL)


def test_of_ten_thousand_candidates_none_is_lost_and_none_is_there_twice(tmp_path: Path) -> None:
    home, in_sequence = tmp_path / "home", tmp_path / "in_sequence"
    done = CHILDREN.Event()
    machines = [CHILDREN.Process(target=machine, args=(home, number)) for number in range(1, MACHINES)]
    for each in machines:
        each.start()
    # The first is killed with its third shard half written, and then curation with a shard in the log that
    # lies in the inbox still; both start again from the beginning, as a person would start them.
    killed_at(12, machine, home, 0)
    killed_at(40, curation, home, done)
    curator = CHILDREN.Process(target=curation, args=(home, done))
    again = CHILDREN.Process(target=machine, args=(home, 0))
    for each in (curator, again):
        each.start()
    for each in (*machines, again):
        each.join(PATIENCE_S)
    done.set()
    curator.join(PATIENCE_S)
    assert [each.exitcode for each in (*machines, again, curator)] == [0] * (MACHINES + 1)

    for number in range(MACHINES):
        machine(in_sequence, number)
    take_in(in_sequence)
    fold_build(in_sequence, "b1", REAL)

    assert logged(home) == logged(in_sequence)
    assert waiting(home) == []
    ids = log.read(home, "candidates")["candidate_id"]
    assert (len(ids), ids.n_unique()) == (MACHINES * EACH, MACHINES * EACH)
    stored = store_after(home, "b1")
    assert stored == store_after(in_sequence, "b1")
    assert sum(entry.support_episodes for entry in stored) > MACHINES * EACH
