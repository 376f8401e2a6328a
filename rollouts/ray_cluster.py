"""Actors of a Ray cluster that hold worlds. Nothing else of this project imports Ray.

    with ray_pool(stage_kit(domain, "scripted"), actors=0) as pool:     # as many as the cluster has room for
        roll_out(batches, pool, crew)

Every node needs this package, in the same version, and what its worlds need: Ray sends objects, no code.
"""

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from rollouts.actors import ActorLostError, ActorPool, NoActorError
from rollouts.attempt import StageKit
from rollouts.backends import Addressed, Done, Reported, Stages, WorkerCrashedError

_PATIENCE_S: Final = 5.0
"""How long a cluster's head may take to accept a connection."""
_DOES_NOT_RESTART: Final = {"max_restarts": 0, "max_task_retries": 0}
"""Ray would bring an actor back without its worlds; what is lost is begun anew by whoever plays."""


class RayMissingError(RuntimeError):
    """Ray is not installed."""


class _Worlds:
    """The actor: the open episodes of one process."""

    def __init__(self, kit: StageKit) -> None:
        self._stages = Stages(kit)

    def carry_out(self, addressed: Addressed) -> Reported:
        return self._stages.carry_out(addressed)

    def write(self, home: Path, write: Callable[[], Any]) -> Any:
        # Not made here: it would be a folder that nobody looks into, on a node that does not share the home.
        return write() if home.is_dir() else None

    def finish(self, done: Done) -> None:
        self._stages.finish(done)


class RayCluster:
    """Actors with a processor each, and a GPU where `gpus` is 1, spread over the nodes (`Cluster`)."""

    def __init__(self, ray: Any, kit: StageKit, gpus: int) -> None:
        self._ray = ray
        self._kit = ray.put(kit)
        options = {
            "num_cpus": 1,
            "num_gpus": gpus,
            "max_concurrency": kit.side_by_side,
            "scheduling_strategy": "SPREAD",
            **_DOES_NOT_RESTART,
        }
        self._worlds = ray.remote(**options)(_Worlds)

    def start(self) -> Any:
        return self._worlds.remote(self._kit)

    def arrival(self, actor: Any) -> Any:
        return actor.__ray_ready__.remote()

    def carry_out(self, actor: Any, addressed: Addressed) -> Any:
        return actor.carry_out.remote(addressed)

    def write(self, actor: Any, home: Path, write: Callable[[], Any]) -> Any:
        return actor.write.remote(home, write)

    def finish(self, actor: Any, done: Done) -> None:
        actor.finish.remote(done)

    def end(self, actor: Any) -> None:
        self._ray.kill(actor)

    def done(self, tasks: Sequence[Any], at_least: int, wait_s: float | None) -> Sequence[Any]:
        if at_least:
            self._ray.wait(tasks, num_returns=at_least, timeout=wait_s)
        found, _ = self._ray.wait(tasks, num_returns=len(tasks), timeout=0)
        return list(found)

    def result(self, task: Any) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(task)
        except errors.RayTaskError as error:
            raise WorkerCrashedError(str(error)) from error
        except errors.RayError as error:
            # The class alone: the text has addresses and process ids in it, and this may be stored.
            raise ActorLostError(type(error).__name__) from error


@contextmanager
def ray_pool(
    kit: StageKit,
    actors: int,
    shards_each: int = 1,
    address: str = "",
    *,
    policy: bool = False,
    open_each: int | None = None,
) -> Iterator[ActorPool]:
    """A pool of actors for the length of a block, after which none is left.

    `address` is the cluster's; without one it is the cluster that this machine belongs to, or else one of
    this machine's own that ends with the block. `actors` 0: one per GPU where the executor has a `policy` and
    the cluster has GPUs, one per processor otherwise. `RayMissingError`; `NoActorError` where the cluster
    cannot be reached or has no room.
    """
    with _connected(address) as ray:
        has = ray.cluster_resources()
        gpus = 1 if policy and has.get("GPU", 0) >= 1 else 0
        wanted = actors or int(has.get("GPU" if gpus else "CPU", 0))
        if wanted < 1:
            raise NoActorError("the cluster has no processor to start an actor on")
        pool = ActorPool(RayCluster(ray, kit, gpus), wanted, shards_each, open_each)
        try:
            yield pool
        finally:
            pool.close()


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    """Ray, connected for the length of the block; a connection that was there before is used and kept."""
    # Nothing of what is run here is told to anybody.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise RayMissingError(
            "the backend ray needs Ray: `pip install 'mineevolve[ray]'` brings it, on every node"
        ) from error
    if ray.is_initialized():
        yield ray
        return
    _refuse_silence(address)
    try:
        ray.init(address=address or None, include_dashboard=False, log_to_driver=False, logging_level="error")
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise NoActorError(f"no Ray cluster at {address or 'this machine'}: {error}") from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _refuse_silence(address: str) -> None:
    """`NoActorError` where nobody listens at an address. Ray would ask there for many minutes."""
    host, colon, port = address.rpartition(":")
    if not (colon and port.isdigit()):
        return  # "auto" and the like
    try:
        socket.create_connection((host.strip("[]"), int(port)), _PATIENCE_S).close()
    except OSError as error:
        raise NoActorError(f"nobody answers at {address}, where a Ray cluster should be: {error}") from error
