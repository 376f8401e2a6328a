"""What `mineevolve study` does: the same training and evaluation under several conditions, in one table.

    studies/<study>/<condition>/<what is played>/    a data home of its own for each condition
    studies/<study>.parquet                          k of n by condition, group and arm, of the last study

What is played is part of the path, so that a study with other tasks, worlds or planner seeds never learns
from the episodes of this one, and this one, asked again, plays only what is missing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pipeline.command.console import MISUSED, err, explained, fail, out, show
from pipeline.command.rollouts import begin, evaluate, task_counts, told, with_progress
from pipeline.settings import MOST_TRIED, Settings

if TYPE_CHECKING:
    import polars as pl

    from warehouse.domains import Domain

LEAST_PLANNERS: Final = 5
NO_GATE: Final[dict[str, Any]] = {"tryouts": 0.0, "backtest": False}
"""The settings under which new knowledge passes Curator's checks and nothing else."""
CURATIONS: Final[dict[str, dict[str, Any]]] = {
    "checks": {},
    "backtest": {"backtest": True},
    "tryouts": {"tryouts": MOST_TRIED},
    "both": {"backtest": True, "tryouts": MOST_TRIED},
}
"""Ways to take new knowledge in: what each switches on beside the checks."""
CURATED: Final = """
    SELECT
        (SELECT count(*) FROM candidate_decisions) AS candidates,
        (SELECT count(*) FROM knowledge WHERE status = 'active') AS entries,
        (SELECT sum(n_ticks)::BIGINT FROM episodes) AS ticks,
        (SELECT coalesce(sum(ticks + lead / 2), 0)::BIGINT FROM tryouts) AS tried_at_most,
        (
            SELECT coalesce(string_agg(rule || ' ' || refused, ', ' ORDER BY rule), '')
            FROM (
                SELECT rule, count(*) AS refused
                FROM candidate_decisions, unnest(rules) AS broken(rule)
                WHERE verdict = 'rejected' GROUP BY ALL
            )
        ) AS refused_by
"""
"""What curation left, and the game ticks that try-outs took. The arms of a pair share the way to their
situation, and pairs may, so they took no more than this."""


@dataclass(frozen=True)
class Condition:
    """One way to play and learn: its value in the table, its folder's name, and what it changes of
    ExerciseConfig and of the settings."""

    value: float | str
    folder: str
    changes: dict[str, Any]
    settings: dict[str, Any] = field(default_factory=dict)


def across_planners(named: str | None, groups: Sequence[str], options: dict[str, Any]) -> None:
    """Evaluates a build's snapshot with several planner seeds and shows how much they differ."""
    settings, build, suite, _ = begin(named, groups, options)
    evaluate(named, groups, options, {})
    import polars as pl

    from rollouts.evaluation import by_planner_seed

    chosen = list(groups or suite.groups)
    seeds = by_planner_seed(settings.home, build, chosen)
    if len(chosen) > 1:
        parts = [
            by_planner_seed(settings.home, build, [group]).select(
                pl.lit(group).alias("group"), "planner_seed", "pairs", "difference"
            )
            for group in chosen
        ]
        show(pl.concat(parts), "The difference by group and planner seed")
    signs = seeds["difference"].sign()
    better, worse = int((signs > 0).sum()), int((signs < 0).sum())
    out.print(
        f"Of {seeds.height} planner seeds, {better} did better with knowledge, {worse} worse, "
        f"{seeds.height - better - worse} the same."
    )
    if seeds.height < LEAST_PLANNERS:
        out.print(f"[yellow]Report at least {LEAST_PLANNERS} planner seeds; these are {seeds.height}.[/]")


def across_misconceptions(groups: Sequence[str], shares: str, builds: int, options: dict[str, Any]) -> None:
    """A condition for each share of misconceptions."""
    from prompts.engines.models import model_row

    settings = Settings()
    row = model_row(settings.model, settings.models.expanduser())
    if row.engine != "rules":
        raise fail(f"misconceptions are drawn for the stand-in `rules`; {row.name} has its own", MISUSED)
    given = _listed(shares, "--shares")
    with explained(ValueError, code=MISUSED):
        values = sorted({float(each) for each in given})
    if wrong := [share for share in values if not 0 <= share <= 1]:
        raise fail(f"a share lies between 0 and 1, not {wrong[0]:g}", MISUSED)
    conditions = [Condition(share, f"{share:g}", {"misconceptions": share}) for share in values]
    _study("misconceptions", "misconceptions", conditions, groups, builds, options)


def across_curations(groups: Sequence[str], ways: str, builds: int, options: dict[str, Any]) -> None:
    """A condition for each way of taking new knowledge in, and what each refused."""
    names = _listed(ways, "--ways")
    if unknown := [name for name in names if name not in CURATIONS]:
        raise fail(f"there is no way {unknown[0]}; there are: {', '.join(CURATIONS)}", MISUSED)
    conditions = [Condition(name, name, {}, NO_GATE | CURATIONS[name]) for name in names]
    homes = _study("curation", "curation", conditions, groups, builds, options)
    import polars as pl

    from pipeline.command.ask import query

    rows = [
        query(home, CURATED).select(pl.lit(name).alias("curation"), pl.all())
        for name, home in zip(names, homes, strict=True)
    ]
    show(pl.concat(rows), "What each way left, and what it took in game ticks")


def across_agents(groups: Sequence[str], agents: str, builds: int, options: dict[str, Any]) -> None:
    """A condition for each agent."""
    conditions = [Condition(name, name, {"agent": name}) for name in _listed(agents, "--agents")]
    _study("agents", "agent", conditions, groups, builds, options)


def _listed(text: str, option: str) -> list[str]:
    """The words between commas, each once."""
    found = list(dict.fromkeys(each.strip() for each in text.split(",") if each.strip()))
    if not found:
        raise fail(f"{option} names nothing", MISUSED)
    return found


def _study(
    study: str,
    column: str,
    conditions: Sequence[Condition],
    groups: Sequence[str],
    builds: int,
    options: dict[str, Any],
) -> list[Path]:
    """Plays and shows all conditions; their data homes, with an analysis.duckdb each."""
    settings, _, suite, config = begin(None, groups, options)
    import polars as pl

    from rollouts.evaluation import comparison
    from rollouts.exercise import STAND_INS
    from warehouse.domains import load_domain

    domain = load_domain(settings.domain)
    chosen = list(groups or suite.groups)
    tasks = task_counts(suite, chosen, options["tasks"])
    homes = [_home(settings, study, each, domain, chosen, config) for each in conditions]
    each_task = config["episodes"] * (builds + 2 * config["planners"])
    err.print(
        f"{len(conditions)} conditions, {sum(tasks.values()) * each_task} episodes each; what is there "
        "already is not played again"
    )
    tables: list[pl.DataFrame] = []
    for number, (condition, home) in enumerate(zip(conditions, homes, strict=True), 1):
        err.print(f"[bold]{column} {condition.value}[/] ({number} of {len(conditions)})")
        own = settings.model_copy(update={"data": home} | condition.settings)
        last = _play(own, chosen, builds, config | condition.changes)
        found = comparison(home, last, tasks, suite.difficulty)
        tables.append(found.with_columns(pl.lit(condition.value).alias(column)))
    figures = pl.concat(tables, how="vertical_relaxed")
    path = settings.home / "studies" / f"{study}.parquet"
    _write(_rows(figures.filter(pl.col("group").is_in(chosen)), column), path)
    shown = figures.select(
        column, "group", "pairs", "empty", "frozen", "difference",
        low="difference_low", high="difference_high",
    )  # fmt: skip
    show(shown, f"Empty store and frozen snapshot after {builds} training builds; 95 % bootstrap")
    out.print(
        f"The same worlds and planner seeds in every row. Figures with Wilson intervals: {path}\n{STAND_INS} "
        "McNemar's test is left out here: it would be descriptive.",
        soft_wrap=True,
    )
    if len(homes) > 1:
        values = [each.value for each in conditions]
        against = _against_first(values, homes, last, tasks).rename({"condition": column})
        show(against, f"Frozen snapshots against that of {column} {values[0]}; 95 % bootstrap")
    return homes


def _against_first(
    values: Sequence[float | str], homes: Sequence[Path], build: str, tasks: dict[str, int]
) -> "pl.DataFrame":
    """How much more often than in the first condition the snapshot of each other one succeeds, on the same
    tasks, worlds and planner seeds."""
    import polars as pl

    from rollouts.differences import difference
    from rollouts.evaluation import stored
    from rollouts.rates import counted, pairs_of

    def frozen(home: Path, group: str) -> pl.DataFrame:
        return stored(home, build, group).frozen

    rows = []
    for value, home in zip(values[1:], homes[1:], strict=True):
        parts = [
            pairs_of(frozen(home, group), frozen(homes[0], group)).with_columns(group=pl.lit(group))
            for group in tasks
        ]
        pairs = pl.concat(parts)
        both, found = counted(pairs), difference(pairs, tasks)
        row = {"pairs": both.n, "only_here": both.only_frozen, "only_there": both.only_empty}
        rows.append(
            {"condition": value, **row, "difference": found.share, "low": found.low, "high": found.high}
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def _play(settings: Settings, groups: Sequence[str], builds: int, config: dict[str, Any]) -> str:
    """Trains the builds and evaluates the last one in a study's own data home; that build."""
    from pipeline import launch

    build = ""
    with told():
        for build in (f"{number:04d}" for number in range(1, builds + 1)):
            with_progress(partial(launch.train_build, settings, build, groups, config))
            with err.status(f"build {build}: learning"):
                launch.learn_from_rollouts(settings, build, config.get("misconceptions"), config["workers"])
        with_progress(partial(launch.evaluate_snapshot, settings, build, groups, config))
        launch.publish_analysis(settings)
    return build


def _home(
    settings: Settings,
    study: str,
    condition: Condition,
    domain: "Domain",
    groups: Sequence[str],
    config: dict[str, Any],
) -> Path:
    """The data home of a condition, after everything that decides what is played there."""
    from assets.exercise_config import ExerciseConfig
    from rollouts.agent import AgentFileError
    from rollouts.exercise import ExerciseError
    from warehouse.ids import digest

    played = ExerciseConfig(**config | condition.changes)
    with explained(AgentFileError, ExerciseError, code=MISUSED):
        exercises = played.exercises(domain, groups)
    specs = [spec for exercise in exercises.values() for spec in exercise.training("0001", None)]
    parts = [[s.task_id, s.world_seed, s.planner_seed, s.horizon, s.config_hash] for s in specs]
    content = digest([parts, played.planners])[:12]
    return settings.home / "studies" / study / condition.folder / content


def _rows(figures: "pl.DataFrame", column: str) -> "pl.DataFrame":
    """(column, group, arm, k, n, low, high), two rows per condition and group."""
    import polars as pl

    arms = [
        figures.select(
            column,
            "group",
            arm=pl.lit(arm),
            k=pl.col(f"{arm}_k").cast(pl.Int64),
            n=pl.col("pairs").cast(pl.Int64),
            low=pl.col(f"{arm}_low").cast(pl.Float64),
            high=pl.col(f"{arm}_high").cast(pl.Float64),
        )
        for arm in ("empty", "frozen")
    ]
    return pl.concat(arms).sort(column, "group", "arm", maintain_order=True)


def _write(rows: "pl.DataFrame", path: Path) -> None:
    from warehouse.shards import replacing

    with replacing(path) as temporary:
        rows.write_parquet(temporary, compression="zstd")
