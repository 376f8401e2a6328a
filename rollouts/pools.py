"""Pools of worker processes that outlive one batch.

Starting a worker costs more processor time than playing a short episode: it imports numba and reads the
compiled kernels. Whoever plays several batches, one after the other, keeps the workers:

    with pools_kept():
        for build in builds:
            play(build)         # every `shared_pool` in here that asks for the same pool gets the same

Outside of such a block a pool lives as long as its own block, and no process is left after it.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any, Final, NamedTuple

from rollouts.backends import RolloutBackend, local_pool, stage_kit
from rollouts.executors.registry import POLICIES
from warehouse.domains import Domain

SHARDS_EACH: Final = 8
"""Shards that a worker has open at a time. A round costs the parent nearly the same for 16 episodes as for
128 (Monitor's many small queries), and a round waits for its longest attempt: the more episodes share both,
the less of them there is. An open world takes 2.6 MB."""


class _Wanted(NamedTuple):
    """What makes two pools the same."""

    domain: Domain
    executor: str
    workers: int
    open_each: int | None
    cluster: str | None
    settings: str
    """the executor's, as JSON"""
    side_by_side: int


class _Kept:
    """The pools of one `pools_kept` block."""

    def __init__(self) -> None:
        self._open: dict[_Wanted, tuple[RolloutBackend, ExitStack]] = {}

    @contextmanager
    def pool(self, wanted: _Wanted) -> Iterator[RolloutBackend]:
        """The pool that is kept, or a new one. After an error it is not kept: its workers may still owe
        reports to whoever asked for them."""
        if wanted not in self._open:
            stack = ExitStack()
            self._open[wanted] = stack.enter_context(_new(wanted)), stack
        pool, stack = self._open[wanted]
        try:
            yield pool
        except BaseException:
            del self._open[wanted]
            stack.close()
            raise

    def close(self) -> None:
        """Ends all workers."""
        for _, stack in self._open.values():
            stack.close()
        self._open.clear()


_KEPT: ContextVar[_Kept | None] = ContextVar("pools that are kept", default=None)


@contextmanager
def pools_kept() -> Iterator[None]:
    """Pools that are asked for in this block live until its end, however it ends."""
    kept = _Kept()
    token = _KEPT.set(kept)
    try:
        yield
    finally:
        _KEPT.reset(token)
        kept.close()


@contextmanager
def shared_pool(
    domain: Domain,
    executor: str,
    workers: int,
    open_each: int | None = None,
    cluster: str | None = None,
    settings: Mapping[str, Any] | None = None,
    side_by_side: int = 1,
) -> Iterator[RolloutBackend]:
    """A pool of `workers` processes with the registered worlds and an executor by name, with its settings,
    each with at most about `open_each` worlds open and `side_by_side` of them stepped at the same time;
    `ValueError` for less than one process. With the address of a Ray `cluster` they are actors there
    (`ray_pool`, which says what 0 of them and the empty address mean)."""
    wanted = _Wanted(
        domain,
        executor,
        workers,
        open_each,
        cluster,
        json.dumps(dict(settings or {}), sort_keys=True),
        side_by_side,
    )
    kept = _KEPT.get()
    with _new(wanted) if kept is None else kept.pool(wanted) as pool:
        yield pool


@contextmanager
def _new(wanted: _Wanted) -> Iterator[RolloutBackend]:
    kit = stage_kit(wanted.domain, wanted.executor, json.loads(wanted.settings), wanted.side_by_side)
    if wanted.cluster is None:
        with local_pool(kit, wanted.workers, SHARDS_EACH, wanted.open_each) as pool:
            yield pool
        return
    from rollouts.ray_cluster import ray_pool

    policy = wanted.executor in POLICIES
    with ray_pool(
        kit, wanted.workers, SHARDS_EACH, wanted.cluster, policy=policy, open_each=wanted.open_each
    ) as actors:
        yield actors
