"""World seeds: even ones are for training, odd ones for evaluation, so that no world can be both.

    training seed    2 * ((h(seed, build, task) + i) mod 2^30)         i = 0, 1, ...
    evaluation seed  2 * ((h(seed, task) + i) mod 2^30) + 1

Training worlds differ from build to build, so that a build sees something new. Evaluation worlds do not: the
empty store and every snapshot are asked the same. Consecutive numbers from a hashed start, and not a hash
each, because no two episodes of a task may share a world.
"""

from typing import Final

from warehouse.ids import derive_id

SPAN: Final = 2**30
"""How many worlds there are of either kind."""


def training_seeds(seed: int, build: str, task_id: str, count: int) -> tuple[int, ...]:
    """The first `count` training worlds of a task in a build, each once."""
    return tuple(2 * each for each in _consecutive(["training", seed, build, task_id], count))


def evaluation_seeds(seed: int, task_id: str, count: int) -> tuple[int, ...]:
    """The first `count` evaluation worlds of a task, each once; the same for every build."""
    return tuple(2 * each + 1 for each in _consecutive(["evaluation", seed, task_id], count))


def is_for_evaluation(world_seed: int) -> bool:
    """Whether a world is one of those that nothing may be learnt from."""
    return world_seed % 2 == 1


def _consecutive(of: list[str | int], count: int) -> list[int]:
    if not 0 <= count <= SPAN:
        raise ValueError(f"there are {SPAN} worlds, and {count} were asked for")
    start = int(derive_id("world seeds", of), 16)
    return [(start + number) % SPAN for number in range(count)]
