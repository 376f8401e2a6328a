"""The executor `scripted`: a low-level policy without learning, for all seven kinds of subgoal.

It sees the window and what it saw earlier in the episode, walks greedily and has no luck of its own: given
the same observations it makes the same moves. docs/executors.md says what it does and what it leaves.
"""

import hashlib
from collections.abc import Callable
from copy import copy, deepcopy
from typing import Final

from rollouts.executors.body import Body, Doing
from rollouts.executors.fighting import combat
from rollouts.executors.making import craft, smelt
from rollouts.executors.mining import mine
from rollouts.executors.moving import move, wait
from rollouts.executors.using import use
from rollouts.protocols import Move, Observation, Subgoal
from warehouse.domains import Domain

KINDS: Final[dict[str, Callable[[Body], Doing]]] = {
    "mine": mine,
    "craft": craft,
    "smelt": smelt,
    "use": use,
    "combat": combat,
    "move": move,
    "wait": wait,
}
IDLE_LIMIT: Final = 200
"""moves in a row during which no tick passes, after which the subgoal is given up"""


class ScriptedExecutor:
    """See the module. `seed` decides the heading that is explored first, one of eight, and nothing else."""

    name: str = "scripted"

    def __init__(self, domain: Domain, seed: int) -> None:
        self._domain = domain
        self._heading = 45.0 * (hashlib.sha256(f"heading {seed}".encode()).digest()[0] % 8) - 180.0
        self._body = Body(domain, self._heading)
        self._doing: Doing | None = None
        self._last_tick = -1
        self._still = 0

    def start(self, subgoal: Subgoal, observation: Observation) -> None:
        """Begins a subgoal. An observation from before the last one seen begins a new episode, and nothing is
        remembered of the old. An unknown kind is given up at once."""
        if observation.tick < self._last_tick:
            self._body = Body(self._domain, self._heading)
        self._last_tick = observation.tick
        self._still = 0
        self._body.subgoal = subgoal
        behaviour = KINDS.get(subgoal.kind)
        self._body.observe(observation)
        self._doing = behaviour(self._body) if behaviour is not None else None

    def copy(self) -> "ScriptedExecutor":
        """See `Branching`. What it is doing is not taken along: the next subgoal begins anew."""
        other = copy(self)
        other._body = deepcopy(self._body, {id(self._domain): self._domain})
        other._doing = None
        return other

    def act(self, observation: Observation) -> Move | None:
        """The next move; None when the subgoal is done or given up, or the agent is dead."""
        if self._doing is None or observation.alive is False:
            return None
        self._still = self._still + 1 if observation.tick == self._last_tick else 0
        self._last_tick = observation.tick
        self._body.observe(observation)
        try:
            return next(self._doing) if self._still < IDLE_LIMIT else None
        except StopIteration:
            self._doing = None
            return None
