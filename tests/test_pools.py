"""Pools that outlive a batch: the same workers again, and none of them after the block."""

import os
from contextlib import suppress

from rollouts.pools import pools_kept, shared_pool
from warehouse.domains import load_domain

MINECRAFT = load_domain("minecraft")


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_kept_pool_is_the_same_for_the_next_batch_and_gone_after_the_block() -> None:
    with pools_kept():
        with shared_pool(MINECRAFT, "scripted", 1) as first:
            pids = first.pids
        with shared_pool(MINECRAFT, "scripted", 1) as second:
            assert second.pids == pids
        assert all(map(is_there, pids))
    assert not any(map(is_there, pids))


def test_without_the_block_a_pool_ends_with_its_batch() -> None:
    with shared_pool(MINECRAFT, "scripted", 1) as pool:
        pids = pool.pids
    assert not any(map(is_there, pids))


def interrupted() -> list[int]:
    """A batch that an error ends; the workers that it had."""
    pids: list[int] = []
    with suppress(RuntimeError), shared_pool(MINECRAFT, "scripted", 1) as pool:
        pids = pool.pids
        raise RuntimeError("in between")
    return pids


def test_after_an_error_the_next_batch_gets_new_workers() -> None:
    with pools_kept():
        pids = interrupted()
        assert not any(map(is_there, pids))
        with shared_pool(MINECRAFT, "scripted", 1) as pool:
            assert pool.pids != pids
