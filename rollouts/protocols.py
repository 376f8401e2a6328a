"""What a world, an executor and a rollout backend are. Small on purpose: an agent is put together from parts
that keep these protocols, so that an ablation is another part and never a fork.

Coordinates are blocks, y upwards; yaw and pitch are degrees as in the game (yaw 0 looks to +z, 90 to -x;
pitch 90 looks down). Time is game ticks, 20 per second.

What is made at every step is a named tuple: a frozen dataclass sets each field by a call, and takes four
times as long to make.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, Literal, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from warehouse.knowledge import Check


class Seen(NamedTuple):
    """An entity in the window: its name and position."""

    name: str
    x: float
    y: float
    z: float


_NONE: Final[Mapping[str, float]] = {}
"""shared by all observations of worlds whose bodies need no more than health and hunger"""


class Window(NamedTuple):
    """What is around the agent: block indices into `palette`, and entities.

    `blocks[i, j, k]` is the block at (origin[0] + i, origin[1] + j, origin[2] + k). Cells that the agent
    cannot see, because they are buried, hold the palette's "unknown".
    """

    blocks: npt.NDArray[np.uint16]
    origin: tuple[int, int, int]
    palette: tuple[str, ...]
    entities: tuple[Seen, ...] = ()


class Observation(NamedTuple):
    """What an agent observes after a tick: what MineRL's structured observation carries, and a window for
    executors that use one."""

    tick: int
    x: float
    """NaN, like the other coordinates and angles, where the world does not tell"""
    y: float
    z: float
    yaw: float
    pitch: float
    health: float | None
    hunger: float | None
    alive: bool | None
    """None, like health and hunger, where the world does not tell; only False is dead"""
    gui: str | None
    """the screen that is open; None in a world that has no screens"""
    inventory: Mapping[str, int]
    equipped: str | None
    message: str | None = None
    window: Window | None = None
    vitals: Mapping[str, float] = _NONE
    """what else the body needs, beside health and hunger, by name"""
    busy: bool = False
    """whether an errand is under way"""
    frame: npt.NDArray[np.uint8] | None = None
    """what the game shows, (height, width, 3) in RGB, where a world has a picture"""
    slots: Mapping[int, tuple[str, int]] | None = None
    """slot -> (item, count) of those that hold something, 0-8 the bar and 9-35 the bag; None where untold"""


class Keys(NamedTuple):
    """What hands do at the game's own client during a tick, as MineRL's actions say it."""

    held: tuple[str, ...] = ()
    """keys and buttons that are down, by MineRL's names, sorted: attack, back, drop, forward, hotbar.1 to
    hotbar.9, inventory, jump, left, right, sneak, sprint, use"""
    pitch: float = 0.0
    """degrees that the mouse turns the view down by in the tick; moves the cursor where a screen is open"""
    yaw: float = 0.0
    """the same to the right"""

    def name(self) -> str:
        """The inputs as the trace contract writes them: sorted, joined by '+', 'noop' when there are none."""
        return "+".join(sorted((*self.held, *(("camera",) if self.pitch or self.yaw else ())))) or "noop"


class Action(NamedTuple):
    """Inputs that are held during a tick. GUI operations are given by what they make, as MineRL's older
    action spaces do; the world takes the time that they take and shows the GUI meanwhile."""

    forward: int = 0
    """-1 back, 1 forward"""
    strafe: int = 0
    """-1 left, 1 right"""
    jump: bool = False
    sneak: bool = False
    sprint: bool = False
    attack: bool = False
    use: bool = False
    """use what is held on what is looked at: eat, till, shear, open a station, trade"""
    yaw: float | None = None
    pitch: float | None = None
    """look there from this tick on; None keeps the direction"""
    equip: str | None = None
    craft: str | None = None
    """craft this item once, in the inventory's grid or at a table in reach"""
    smelt: tuple[str, str] | None = None
    """(input, fuel): put one of the input, and fuel if none burns, into a furnace in reach"""
    collect: bool = False
    """take what a furnace in reach has finished"""
    place: str | None = None
    """put this block down where one looks"""
    close_gui: bool = False
    sleep: bool = False
    """lie down; the world says when one wakes"""
    errand: Mapping[str, Any] | None = None
    """a whole subgoal, for a world that carries it out itself: goes on as long as actions name the same
    one"""
    keys: Keys | None = None
    """just these, for a world that is the game's own client; nothing else of the action counts then"""

    def name(self) -> str:
        """The inputs as the trace contract writes them: sorted, joined by '+', 'noop' when there are none."""
        if self.keys is not None:
            return self.keys.name()
        return _named(
            self.attack,
            self.forward < 0,
            self.yaw is not None or self.pitch is not None,
            self.craft is not None,
            self.forward > 0,
            self.jump,
            self.strafe < 0,
            self.strafe > 0,
            self.smelt is not None or self.collect,
            self.sleep,
            self.sneak,
            self.sprint,
            self.use or self.place is not None,
        )


_INPUTS: Final = (
    "attack",
    "back",
    "camera",
    "craft",
    "forward",
    "jump",
    "left",
    "right",
    "smelt",
    "sleep",
    "sneak",
    "sprint",
    "use",
)


@cache
def _named(*pressed: bool) -> str:
    return "+".join(name for name, held in zip(_INPUTS, pressed, strict=True) if held) or "noop"


@dataclass(frozen=True, slots=True)
class WorldEvent:
    """Something that happened at a tick: a row of the contract's events without its keys."""

    tick: int
    kind: str
    name: str | None
    count: int | None = None
    text: str | None = None
    signal: str | None = None


class Truth(NamedTuple):
    """What the world itself knows of why something failed. Never shown to an agent or to Monitor."""

    tick: int
    failure_type: str
    detail: str
    scope: Literal["event", "attempt"] = "event"
    """a note of what was refused or went wrong at a tick, or the one reason why an attempt failed"""


class Trial(NamedTuple):
    """An attempt that did not succeed, as a world is asked why."""

    kind: str
    target: str | None
    since: int
    """its first tick"""
    end_reason: str


class Advance(NamedTuple):
    """What came of an action: a row per tick that passed, the events, and the observation after the last.

    Fewer ticks pass than were asked for when something happened that an agent would notice: a block broke,
    an item came or went, damage, a GUI opened or closed, a movement was blocked.
    """

    observation: Observation
    ticks: Mapping[str, npt.NDArray[Any]]
    """columns of the contract's `ticks`, one entry per tick, without the keys"""
    events: tuple[WorldEvent, ...] = ()
    changes: tuple[tuple[int, str, int, int], ...] = ()
    """inventory changes: (tick, item, delta, count after)"""


class World(Protocol):
    """Where rollouts happen. A world is deterministic: the same seed and actions give the same ticks."""

    name: str
    observes: tuple[str, ...]

    def reset(self, seed: int) -> Observation:
        """A new world from a seed, the agent at its spawn point, tick 0."""
        ...

    def step(self, action: Action, ticks: int = 1) -> Advance:
        """Holds an action for at most `ticks` ticks; `ticks` times one tick gives the same rows."""
        ...

    def replay(self, actions: Iterable[tuple[Action, int]]) -> Observation:
        """From the last reset's seed through recorded (action, ticks) to the same observation."""
        ...

    def truths(self, since_tick: int) -> Sequence[Truth]:
        """The inner truth about everything that failed since a tick, in order; for scoring Monitor only."""
        ...


@runtime_checkable
class Branching(Protocol):
    """A world, or an executor between two subgoals, that can go on in two ways from where it stands."""

    def copy(self) -> Self:
        """Another one in the same state: the same actions (observations) give the same from here on, and
        neither notices what becomes of the other."""
        ...


@runtime_checkable
class Insider(Protocol):
    """A world that can say why an attempt in it failed; the game itself is none."""

    def verdict(self, trial: Trial) -> Truth:
        """Why an attempt that has just ended failed, a truth of scope "attempt"; for scoring Monitor only."""
        ...


@runtime_checkable
class Closable(Protocol):
    """A world or an executor that holds something beside memory (a process, a connection) until closed."""

    def close(self) -> None:
        """Gives it back. May be called again."""
        ...


@runtime_checkable
class Filming(Protocol):
    """A world that can film what it shows."""

    def film_as(self, episode_id: str) -> None:
        """From the next reset on it films this episode, if it is to film at all."""
        ...


@dataclass(frozen=True, slots=True)
class Subgoal:
    """One step of a plan."""

    subgoal_id: str
    condition: str
    kind: str
    target: str | None
    count: int = 1
    executor_hint: str = "scripted"
    mode: str = "move"
    timeout_s: float = 60.0
    checks: tuple[Check, ...] = ()
    rationale: str = ""
    knowledge: tuple[str, ...] = ()
    """ids of the entries that this step was planned with"""


class Move(NamedTuple):
    """What an executor wants: an action, held for at most so many ticks."""

    action: Action
    ticks: int


class Executor(Protocol):
    """Turns a subgoal into actions, from observations alone."""

    name: str

    def start(self, subgoal: Subgoal, observation: Observation) -> None:
        """A new subgoal begins; nothing is remembered of the last but what was seen of the world."""
        ...

    def act(self, observation: Observation) -> Move | None:
        """The next move; None when the executor gives the subgoal up."""
        ...


@runtime_checkable
class Explaining(Protocol):
    """An executor that says why it gave a subgoal up, where a world has no words for it."""

    def why(self, observation: Observation) -> WorldEvent | None:
        """Why `act` just answered None: an event of kind "error" at the observation's tick; None where the
        subgoal is done, or nothing is to be said."""
        ...


@dataclass(frozen=True)
class EpisodeSpec:
    """One episode to run: a task in a world with a seed, by an agent with a planner seed."""

    build: str
    group: str
    task_id: str
    goal: str
    world: str
    world_seed: int
    planner_seed: int
    horizon: int
    snapshot_id: str | None
    config_hash: str
    settings: Mapping[str, Any] = field(default_factory=dict)
