"""`python -m rollouts.worlds.mineflayer`: whether a player gets into an embedded world."""

import sys

from rollouts.worlds.registry import UnknownWorldError, world
from rollouts.worlds.worker_link import WorkerError
from warehouse.domains import load_domain


def main() -> int:
    """0 where he does; says what he sees."""
    try:
        made = world("mineflayer", load_domain("minecraft"), {})
        seen = made.reset(0)
    except (UnknownWorldError, WorkerError) as error:
        print(error, file=sys.stderr)
        return 1
    assert seen.window is not None
    names = sorted({seen.window.palette[index] for index in set(seen.window.blocks.ravel().tolist())})
    print(f"a player stands at {seen.x:.1f} {seen.y:.1f} {seen.z:.1f} and sees {', '.join(names[:8])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
