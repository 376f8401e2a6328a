"""The scripted executor of Crafter: a low-level policy without learning, for the game's six kinds of subgoal.

It knows what it has seen in the episode and nothing else, walks the shortest way through that, and goes to
the nearest edge of it where it has to search. It keeps itself alive beside: strikes back, drinks, eats and
sleeps when it has to. Given the same observations it makes the same moves. What it does not do is plan: a
subgoal whose prerequisites are not met is tried and fails.
"""

from collections.abc import Callable
from typing import Final

from rollouts.protocols import Move, Observation, Subgoal
from rollouts.worlds.crafter.behaviours import KINDS
from rollouts.worlds.crafter.body import Body, Doing
from rollouts.worlds.crafter.survival import need
from warehouse.domains import Domain

IDLE_LIMIT: Final = 50
"""moves in a row during which no tick passes, after which the subgoal is given up"""


class CrafterExecutor:
    """See the module. `seed` decides nothing: of equally short ways the order of the sides decides."""

    name: str = "scripted"

    def __init__(self, domain: Domain, seed: int) -> None:
        self._domain = domain
        self._body = Body(domain)
        self._doing: Doing | None = None
        self._need: Doing | None = None
        self._last_tick = -1
        self._still = 0

    def start(self, subgoal: Subgoal, observation: Observation) -> None:
        """Begins a subgoal. An observation from before the last one seen begins a new episode, and nothing is
        remembered of the old. An unknown kind is given up at once."""
        if observation.tick < self._last_tick:
            self._body, self._need = Body(self._domain), None
        self._last_tick, self._still = observation.tick, 0
        self._body.begin(subgoal, observation)
        behaviour: Callable[[Body], Doing] | None = KINDS.get(subgoal.kind)
        self._doing = None if behaviour is None else behaviour(self._body)

    def act(self, observation: Observation) -> Move | None:
        """The next move; None when the subgoal is done or given up, or the agent is dead."""
        if self._doing is None or not observation.alive:
            return None
        self._still = self._still + 1 if observation.tick == self._last_tick else 0
        self._last_tick = observation.tick
        self._body.observe(observation)
        if self._still >= IDLE_LIMIT:
            return None
        if self._need is None:
            self._need = need(self._body)
        if self._need is not None:
            move = next(self._need, None)
            if move is not None:
                return move
            self._need = None
        move = next(self._doing, None)
        if move is None:
            self._doing = None
        return move
