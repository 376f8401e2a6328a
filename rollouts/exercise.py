"""What is played in a build: which tasks, in which worlds, by whom. Training and evaluation share all of it
but the worlds, so that what is measured is what was trained.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import product
from typing import Any, Final, Self

from prompts.engines.beliefs import Heights, StandInSettings, standin_settings
from prompts.engines.models import RULES
from prompts.engines.rules import RulesStandIn
from prompts.language_model import LanguageModel
from prompts.tokens import PieceCounter, TokenCounter
from rollouts.agent import AgentRow, Parts
from rollouts.backends import InProcess, RolloutBackend, stage_kit
from rollouts.monitor import DEFAULTS
from rollouts.planner import Timed
from rollouts.pools import SHARDS_EACH, shared_pool
from rollouts.protocols import EpisodeSpec
from rollouts.rounds import Crew, crew_of
from rollouts.seeds import evaluation_seeds, training_seeds
from rollouts.worlds.registry import Venue, deciding, open_at_once, side_by_side, venue_of
from warehouse.domains import Domain
from warehouse.entries import Entry
from warehouse.ids import derive_id
from warehouse.tasks import Suite, Task

STAND_INS: Final = (
    "World and planner are stand-ins: techtree is a small model of the game, and the planner is a rule "
    "engine with seeded misconceptions. These figures say nothing of a language model in Minecraft."
)
WORLD_STANDS_IN: Final = (
    "The world is a stand-in: techtree is a small model of the game. These figures say nothing of Minecraft."
)


PLAYERS_STAND_IN: Final = (
    "Planner and low-level policy are stand-ins: a rule engine with seeded misconceptions, and scripted "
    "moves. The world is the published game. The figures say nothing of a language model or a trained agent."
)
POLICY_STANDS_IN: Final = (
    "The low-level policy is a stand-in: scripted moves. These figures say nothing of a trained agent."
)
SERVER_STANDS_IN: Final = (
    "Low-level policy: mineflayer's path finder and scripts. The world speaks Minecraft's protocol; unless "
    "it is a server of your own, it is an open server with part of the game's rules (docs/worlds.md)."
)
RULES_PLAN: Final = "The planner is a stand-in: a rule engine with seeded misconceptions."
CLIENT: Final = (
    "The game itself. Low-level policy: STEVE-1 with your weights, and a scripted hand on screens."
)
_BY_WORLD: Final = {
    "techtree": (STAND_INS, WORLD_STANDS_IN),
    "crafter": (PLAYERS_STAND_IN, POLICY_STANDS_IN),
    "mineflayer": (
        f"{RULES_PLAN} {SERVER_STANDS_IN}",
        SERVER_STANDS_IN,
    ),
    "minestudio": (f"{RULES_PLAN} {CLIENT}", CLIENT),
    "minerl": (f"{RULES_PLAN} {CLIENT}", CLIENT),
}
"""what is said of figures from a world: with the rule engine as planner, and with a model"""


def caveat(model: str, world: str) -> str:
    """What has to be said beside every figure of rollouts in a world that are planned by the model of this
    row."""
    return _said(world, by_rules=model == RULES)


def caveat_of(planners: Iterable[str | None], worlds: Iterable[str | None]) -> str:
    """The same for rollouts that there are, by the planners and the worlds in their records."""
    models = [planner for planner in planners if planner and not planner.startswith("rules-standin/")]
    played = sorted({world for world in worlds if world in _BY_WORLD}) or ["techtree"]
    return " ".join(dict.fromkeys(_said(world, by_rules=not models) for world in played))


def _said(world: str, *, by_rules: bool) -> str:
    return _BY_WORLD[world][0 if by_rules else 1]


@dataclass(frozen=True)
class Mind:
    """Whom agents ask if not the stand-in: the model of a planner seed, and what counts its tokens."""

    by_seed: Callable[[int], LanguageModel]
    counter: TokenCounter

    @property
    def name(self) -> str:
        """What the model is called where its answers are kept, whatever seed it draws by."""
        return self.by_seed(0).name


class ExerciseError(ValueError):
    """What was asked for cannot be played; the text says what can."""


@dataclass(frozen=True)
class Exercise:
    """Tasks of one group, how often and by whom they are played.

    `episodes` are worlds per task (in training, `worlds` may say otherwise). Training gives each world to
    one planner seed in turn, evaluation crosses worlds and planner seeds, or takes turns as well where it
    is not `crossed`; of these worlds, only the first `frozen_worlds` are played with a snapshot, where that
    is given. `horizon_cap` shortens the tasks' horizons, for small runs.
    """

    domain: Domain
    suite: Suite
    tasks: tuple[Task, ...]
    row: AgentRow
    episodes: int = 3
    planners: int = 1
    crossed: bool = True
    frozen_worlds: int | None = None
    seed: int = 0
    horizon_cap: int | None = None
    standin: StandInSettings = field(default_factory=standin_settings)
    """how wrong the planner is; studies change it"""
    mind: Mind | None = None
    """null: the stand-in, with a mind of its own for each planner seed"""
    worlds: Mapping[str, int] = field(default_factory=dict)
    """task -> its training worlds, where they are not `episodes`"""
    venue: Venue | None = None
    """null: the domain's usual world"""

    @classmethod
    def of_group(
        cls,
        domain: Domain,
        suite: Suite,
        group: str,
        named: Sequence[str],
        row: AgentRow,
        standin: StandInSettings | None = None,
        mind: Mind | None = None,
        worlds: Mapping[str, int] | None = None,
        venue: Venue | None = None,
        **figures: int | bool | None,
    ) -> Self:
        """The group's tasks, or those of them that are named. `ExerciseError` for one that is not its own."""
        own = {task.id: task for task in suite.tasks if task.group == group}
        if strangers := sorted(set(named) - set(own)):
            raise ExerciseError(f"group {group} has no task {', '.join(strangers)}; it has: {', '.join(own)}")
        tasks = tuple(task for task in own.values() if not named or task.id in named)
        if not tasks:
            raise ExerciseError(f"the suite has no group {group}; it has: {', '.join(suite.groups)}")
        wrong = standin or standin_settings()
        own_worlds = {task.id: worlds[task.id] for task in tasks if worlds and task.id in worlds}
        # `figures` are fields of several types, told apart by name alone.
        more: dict[str, Any] = {"worlds": own_worlds, "venue": venue, **figures}
        if venue is not None and venue.executor:
            row = row.model_copy(update={"executor": venue.executor})
        return cls(domain, suite, tasks, row, standin=wrong, mind=mind, **more)

    def training(self, build: str, snapshot_id: str | None) -> list[EpisodeSpec]:
        """The episodes of a build, with the knowledge of the snapshot."""
        return [
            self._spec(build, task, world_seed, planner_seed, snapshot_id)
            for task in self.tasks
            for world_seed, planner_seed in self._in_turn(
                training_seeds(self.seed, build, task.id, self.worlds.get(task.id, self.episodes)),
                [build, task.id],
            )
        ]

    def evaluation(self, build: str, snapshot_id: str | None) -> list[EpisodeSpec]:
        """The evaluation's episodes with the knowledge of the snapshot: the same worlds for every build."""
        return [
            self._spec(build, task, world_seed, planner_seed, snapshot_id)
            for task in self.tasks
            for world_seed, planner_seed in self._asked(
                task, self.episodes if snapshot_id is None else self.frozen_worlds or self.episodes
            )
        ]

    def _asked(self, task: Task, count: int) -> list[tuple[int, int]]:
        worlds = evaluation_seeds(self.seed, task.id, count)
        if self.crossed:
            return list(product(worlds, range(self.planners)))
        return self._in_turn(worlds, [task.id])

    def _in_turn(self, worlds: Sequence[int], of: list[str]) -> list[tuple[int, int]]:
        """(world, planner seed), one planner after the other. Who begins is drawn: with fewer worlds than
        planners, all of them have their turn over the tasks."""
        first = int(derive_id("first planner", of), 16)
        return [(world, (first + number) % self.planners) for number, world in enumerate(worlds)]

    def crew(self, entries: Iterable[Entry], timed: Callable[[Timed], None] | None = None) -> Crew:
        """Agents that know these entries; `timed` is told what each of their retrievals took."""
        mind = self.mind
        parts = Parts.of(self.row, self.domain, entries, mind.counter if mind else PieceCounter(), timed)
        models = (lambda role, seed: mind.by_seed(seed)) if mind else planners(self.domain, self.standin)
        return crew_of(parts, self.suite, models)

    @property
    def where(self) -> Venue:
        """The world that is played in."""
        return self.venue or venue_of(self.domain.name)

    @property
    def config_hash(self) -> str:
        """All that decides how an episode goes, beside its seeds and its snapshot."""
        hands = deciding(self.where.executor_settings)
        return self.row.config_hash(
            self.where.world,
            deciding(self.where.settings),
            domain=self.domain.name,
            planner=self.mind.name if self.mind else self.standin.model_dump(mode="json"),
            monitor=asdict(DEFAULTS),
            horizon_cap=self.horizon_cap,
            **({"hands": hands} if hands else {}),
        )

    def _spec(
        self, build: str, task: Task, world_seed: int, planner_seed: int, snapshot_id: str | None
    ) -> EpisodeSpec:
        horizon = task.horizon_ticks
        return EpisodeSpec(
            build=build,
            group=task.group,
            task_id=task.id,
            goal=task.instruction,
            world=self.where.world,
            settings=self.where.settings,
            world_seed=world_seed,
            planner_seed=planner_seed,
            horizon=horizon if self.horizon_cap is None else min(horizon, self.horizon_cap),
            snapshot_id=snapshot_id,
            config_hash=self.config_hash,
        )


def planners(domain: Domain, standin: StandInSettings | None = None) -> Callable[[str, int], LanguageModel]:
    """(role, planner seed) -> the stand-in of that seed, one for all roles: who plans also diagnoses."""

    @cache
    def of_seed(planner_seed: int) -> LanguageModel:
        return stand_in(domain, planner_seed, standin)

    return lambda role, planner_seed: of_seed(planner_seed)


def stand_in(domain: Domain, planner_seed: int, standin: StandInSettings | None = None) -> RulesStandIn:
    """The planner, adaptor and Inducer of that seed, as wrong as standin.toml (or `standin`) says."""
    heights = ore_heights() if domain.depth_bands else {}
    return RulesStandIn.for_rollouts(domain, planner_seed, heights, standin)


@cache
def ore_heights() -> dict[str, Heights]:
    """Where ores lie, which players read in a table: what the stand-in's copy of it is made from."""
    from rollouts.worlds.techtree.settings import parameters

    heights: dict[str, Heights] = {}
    for vein in parameters()["veins"]:
        name, low, high = vein["block"], float(vein["low"]), float(vein["high"])
        if name.endswith("_ore"):
            known = heights.get(name, Heights(low, high))
            heights[name] = Heights(min(low, known.lowest), max(high, known.highest))
    return heights


@contextmanager
def hands(
    domain: Domain, row: AgentRow, workers: int, cluster: str | None = None, venue: Venue | None = None
) -> Iterator[RolloutBackend]:
    """Where worlds are stepped: in so many processes, or in this one where it is 0; with the address of a Ray
    `cluster` in so many actors there, or in as many as it has room for (`pools.shared_pool`). `venue` is what
    is played in; the domain's usual world if null."""
    where = venue or venue_of(domain.name)
    executor, settings = where.executor or row.executor, where.executor_settings
    open_each, at_once = open_at_once(where), side_by_side(where)
    if workers == 0 and cluster is None:
        kit = stage_kit(domain, executor, settings, at_once)
        with closing(InProcess(kit, SHARDS_EACH, open_each)) as here:
            yield here
        return
    with shared_pool(domain, executor, workers, open_each, cluster, settings, at_once) as pool:
        yield pool
