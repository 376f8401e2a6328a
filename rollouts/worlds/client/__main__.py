"""`python -m rollouts.worlds.client minestudio`: whether the simulator is there, and its game.

python -m rollouts.worlds.client minestudio            # whether the interpreter can import it
python -m rollouts.worlds.client minestudio --play     # starts the game, and says what the player sees
"""

import argparse
import subprocess
import sys
from typing import Final

from rollouts.worlds.client.settings import WORKERS, Settings
from rollouts.worlds.registry import UnknownWorldError, world
from rollouts.worlds.worker_link import WorkerError
from warehouse.domains import load_domain

_IMPORTS: Final = {"minestudio": "from minestudio.simulator import MinecraftSim", "minerl": "import minerl"}


def main() -> int:
    """0 where it is; says what is missing."""
    asked = argparse.ArgumentParser(description="Whether a simulator of the game is there, and its game.")
    asked.add_argument("world", choices=sorted(_IMPORTS))
    asked.add_argument("--play", action="store_true", help="start the game and look at its first picture")
    chosen = asked.parse_args()
    python = Settings().interpreter(chosen.world)
    if not chosen.play:
        if not python.exists():
            print(f"no interpreter at {python}: make world-{chosen.world}", file=sys.stderr)
            return 1
        command = [str(python), "-c", _IMPORTS[chosen.world]]
        done = subprocess.run(command, cwd=WORKERS, capture_output=True, text=True, check=False)
        if done.returncode:
            print(done.stderr.strip()[-600:], file=sys.stderr)
            return 1
        print(f"{chosen.world} can be imported; --play starts its game")
        return 0
    try:
        made = world(chosen.world, load_domain("minecraft"), {})
        seen = made.reset(0)
    except (UnknownWorldError, WorkerError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"a player stands at {seen.x:.1f} {seen.y:.1f} {seen.z:.1f}; seen: {', '.join(made.observes)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
