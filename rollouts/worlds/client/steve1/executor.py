"""Who plays in the game's own client: STEVE-1 for what has to be seen and done (mine, fight, walk), a
scripted hand for what is done on a screen (craft, smelt) or with what is held (place, equip, eat).

An attempt ends as soon as its checks hold or its time is over, which may be with a screen open and a station
standing there. The hand tidies up when the next subgoal begins, and makes nothing more of the old one.
"""

import os
import tomllib
from collections.abc import Mapping
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, Final

from rollouts.executors.goals import blocks_for, creatures_for
from rollouts.executors.using import verb_of
from rollouts.protocols import Action, Keys, Move, Observation, Subgoal, WorldEvent
from rollouts.worlds.client.steve1.hand import Doing, GivenUpError, Hand, Point
from rollouts.worlds.client.steve1.layout import Window
from rollouts.worlds.client.steve1.making import craft, smelt
from rollouts.worlds.client.steve1.policy import ActingPolicy, PolicySettings, policy_of
from warehouse.domains import Domain

_NUMBERS: Final = count()
_EATING: Final = 40
"""ticks that the use key is held for a meal"""
_SHOWS: Final = 10


class Steve1Executor:
    """See the module. `seed` decides what is drawn from the policy; an executor is of one episode."""

    name: str = "steve1"

    def __init__(self, domain: Domain, seed: int, policy: ActingPolicy, window: Window | None = None) -> None:
        self._domain = domain
        self._seed = seed
        self._policy = policy
        self._window = window or Window()
        # Only for the policy's memory, and never stored.
        self._episode = f"{os.getpid()}-{next(_NUMBERS)}"
        self._step = 0
        self._subgoal: Subgoal | None = None
        """one that has not been begun"""
        self._hand: Hand | None = None
        self._standing: dict[str, Point] = {}
        self._doing: Doing | None = None
        self._left: Doing | None = None
        """what was cut short, and has to put back what it took"""
        self._tidies = False
        """whether what is being done leaves a screen or a station behind if it is cut short"""
        self._why: GivenUpError | None = None

    def start(self, subgoal: Subgoal, observation: Observation) -> None:
        """A new subgoal. The policy goes on with what it remembers of the episode."""
        if self._hand is not None and self._doing is not None and self._tidies:
            self._hand.hurries = True
            self._left = self._doing
        self._subgoal, self._doing, self._why = subgoal, None, None

    def act(self, observation: Observation) -> Move | None:
        """One tick's keys; None when the subgoal is done or given up, or the player is dead."""
        if observation.alive is False:
            return None
        keys = self._tidied(observation) or self._done_next(observation)
        return None if keys is None else Move(Action(keys=keys), 1)

    def why(self, observation: Observation) -> WorldEvent | None:
        """Why the hand gave up, if it did."""
        if self._why is None:
            return None
        return WorldEvent(observation.tick, "error", self._why.name, None, str(self._why), self._why.signal)

    def close(self) -> None:
        """The episode has ended."""
        if self._step:
            self._policy.forget(self._episode)

    def _tidied(self, now: Observation) -> Keys | None:
        """On with what was cut short; None when it has put everything back, or can not."""
        if self._left is not None:
            try:
                return self._left.send(now)
            except (StopIteration, GivenUpError):
                self._left = None
        return None

    def _done_next(self, now: Observation) -> Keys | None:
        """On with the subgoal."""
        try:
            if self._subgoal is not None:
                subgoal, self._subgoal = self._subgoal, None
                self._tidies = subgoal.kind in ("craft", "smelt")
                self._hand = Hand(self._domain, self._window, now, self._standing)
                self._doing = self._done(subgoal, self._hand)
                return next(self._doing)
            if self._doing is not None:
                return self._doing.send(now)
        except StopIteration:
            self._doing = None
        except GivenUpError as error:
            self._doing, self._why = None, error
        return None

    def _done(self, subgoal: Subgoal, hand: Hand) -> Doing:
        """The subgoal, tick by tick."""
        domain, target = self._domain, subgoal.target or ""
        if subgoal.kind in ("craft", "smelt", "use"):
            hand.needs_slots()
        if subgoal.kind == "craft":
            items = domain.expand(target)
            yield from craft(hand, items, _wanted(subgoal, items, hand, domain))
        elif subgoal.kind == "smelt":
            product = _product(domain, target)
            yield from smelt(hand, product, _wanted(subgoal, frozenset({product}), hand, domain))
        elif subgoal.kind == "use":
            yield from _use(subgoal, hand, domain)
        elif subgoal.kind == "wait":
            yield from hand.close()
            while True:
                yield from hand.tick()
        else:
            yield from hand.close()
            tool = hand.best_tool(blocks_for(domain, target)) if subgoal.kind == "mine" and target else None
            if tool is not None and hand.now.slots is not None and hand.now.equipped != tool:
                yield from hand.to_bar(tool)
            text = text_for(subgoal, domain)
            while True:
                yield from hand.tick(self._seen(text, hand.now))

    def _seen(self, text: str, now: Observation) -> Keys:
        if now.frame is None:
            raise GivenUpError("invalid_action", None, "steve1 plays by pictures, which this world has not")
        self._step += 1
        return self._policy.act(self._episode, text, self._seed, self._step, now.frame)


def make(domain: Domain, seed: int, settings: Mapping[str, Any]) -> Steve1Executor:
    """An executor with the process's policy of these settings. `ValueError` for a setting that is none, and
    where the interpreter or the weights are not here."""
    chosen = PolicySettings.of(settings)
    chosen.check_here()
    return Steve1Executor(domain, seed, policy_of(chosen))


def text_for(subgoal: Subgoal, domain: Domain) -> str:
    """What STEVE-1 is told of a subgoal: a verb and a thing, else the words of words.toml for what the
    condition says, else the condition itself."""
    told = _words()
    target = subgoal.target or ""
    if not target:
        said = subgoal.condition.lower()
        return next((text for word, text in told["without"].items() if word in said), said)
    thing = told["names"].get(target) or target.removeprefix("#").replace("_", " ")
    kind = subgoal.kind
    if kind == "mine" and not blocks_for(domain, target) and creatures_for(domain, target):
        kind = "combat"
    return f"{told['verbs'].get(kind, kind)} {thing}"


def _use(subgoal: Subgoal, hand: Hand, domain: Domain) -> Doing:
    """Puts an item down, eats it, opens it, or takes it in the hand, by the condition's verb."""
    target = subgoal.target or ""
    items = [item for item in sorted(domain.expand(target)) if hand.count((item,))]
    said = verb_of(subgoal.condition)
    if target in domain.stations and (said == "open" or (said is None and not items)):
        yield from hand.open_station(target)
        return
    if not items:
        raise GivenUpError("missing_item", target or None, f"missing item {target}")
    item = items[0]
    default = "eat" if item in domain.foods else "place" if item in domain.blocks else "equip"
    verb = said or default
    if verb == "place":
        yield from hand.place(item)
        return
    yield from hand.close()
    yield from hand.to_bar(item)
    if verb == "equip":
        return
    before = hand.count((item,))
    yield from hand.look_up()
    for _ in range(_EATING):
        yield from hand.tick(Keys(("use",)))
    yield from hand.wait(_SHOWS, lambda: hand.count((item,)) < before)
    if hand.count((item,)) >= before:
        raise GivenUpError("result_failed", item, f"{verb} {item}: nothing changed")


def _wanted(subgoal: Subgoal, items: frozenset[str], hand: Hand, domain: Domain) -> int:
    """How many of these have to be held in the end: what the checks ask for, else the count on top of what is
    held."""
    for check in subgoal.checks:
        if check.type == "inv_ge" and domain.expand(check.name or "") & items:
            return int(check.value or 1)
    return hand.count(items) + subgoal.count


def _product(domain: Domain, target: str) -> str:
    """What is to come out of a furnace: the target itself, or what is made of it. `GivenUpError` without."""
    named = sorted(domain.expand(target))
    made = frozenset(domain.smelting.values())
    for item in named:
        if item in made:
            return item
    for item in named:
        if item in domain.smelting:
            return domain.smelting[item]
    raise GivenUpError("invalid_action", target or None, f"nothing is smelted to {target}")


@cache
def _words() -> dict[str, dict[str, str]]:
    with Path(__file__).with_name("words.toml").open("rb") as file:
        return tomllib.load(file)
