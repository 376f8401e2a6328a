"""The report as one HTML page: what is known of the closed loop, put into a template.

The template escapes everything that it is given; only what charts.py and tables.py drew is markup.
"""

from dataclasses import dataclass
from typing import Any, Final

import polars as pl
from markupsafe import Markup

from prompts.tokens import TokenCounter
from rollouts.exercise import caveat_of
from rollouts.report import columns as c
from rollouts.report.accumulation import Accumulation, accumulation
from rollouts.report.arms import Arms, unfinished
from rollouts.report.charts import (
    Charts,
    accumulation_chart,
    failure_chart,
    growth_chart,
    misconceptions_chart,
    success_chart,
)
from rollouts.report.effort import Effort, effort
from rollouts.report.environment import environment
from rollouts.report.failures import Failures, failures
from rollouts.report.growth import growth, rejections
from rollouts.report.judged import judged_attempts
from rollouts.report.lineage import Lineage, lineages
from rollouts.report.parameters import Parameters, parameters
from rollouts.report.study import misconceptions
from rollouts.report.success import OVERALL, Success, by_planner_seed, by_task, success
from rollouts.report.tables import interval, table
from rollouts.report.usefulness import Usefulness, usefulness
from rollouts.report.verdict import Verdict, verdict
from warehouse.domains import Domain
from warehouse.snapshots import published_snapshot
from warehouse.vocabulary import NO_FAILURE

TEMPLATE: Final = "report.html.j2"


@dataclass(frozen=True)
class Findings:
    """Everything that the page shows, as figures."""

    arms: Arms
    success: Success
    verdict: Verdict
    by_task: pl.DataFrame
    by_seed: pl.DataFrame
    accumulation: Accumulation
    failures: Failures
    growth: pl.DataFrame
    rejections: pl.DataFrame
    usefulness: Usefulness
    lineages: list[Lineage]
    effort: Effort
    parameters: list[Parameters]
    misconceptions: pl.DataFrame | None
    warnings: tuple[str, ...]


def findings(arms: Arms, domain: Domain, counter: TokenCounter) -> Findings:
    """Computes them from a data home. Attempts that Monitor has not judged yet are judged, and that is kept.

    `NotPublishedError` where the home has no analysis.duckdb, `DamagedShardError` for a file that is not
    whole."""
    home = arms.home
    judged = judged_attempts(arms, domain)
    of_groups = success(arms)
    failed = failures(arms, judged)
    used = usefulness(arms, judged)
    return Findings(
        arms=arms,
        success=of_groups,
        verdict=verdict(arms, of_groups, failed, used),
        by_task=by_task(arms),
        by_seed=by_planner_seed(arms),
        accumulation=accumulation(arms),
        failures=failed,
        growth=growth(home, counter),
        rejections=rejections(home),
        usefulness=used,
        lineages=lineages(home, used.entries, used.shown()),
        effort=effort(arms),
        parameters=[each for each in parameters() if each.concerns(set(arms.episodes["world"]))],
        misconceptions=misconceptions(home),
        warnings=tuple(_warnings(arms)),
    )


def rendered(found: Findings) -> str:
    """The page. The same findings give the same text."""
    return (
        environment()
        .get_template(TEMPLATE)
        .render(
            found=found,
            stand_ins=caveat_of(found.arms.episodes["planner"], found.arms.episodes["world"]),
            charts=_charts(found),
            tables=_tables(found),
        )
    )


def _warnings(arms: Arms) -> list[str]:
    """What a reader has to know before trusting a comparison."""
    said = []
    frozen = arms.of(arms.last)
    snapshots = frozen["snapshot_id"].drop_nulls().unique().sort().to_list()
    if len(snapshots) > 1:
        said.append(
            f"The groups of build {arms.last} were played with different snapshots: {', '.join(snapshots)}."
        )
    now = [published_snapshot(arms.home, arms.last, curated) for curated in (True, False)]
    if snapshots and not set(now) & set(snapshots):
        said.append(
            f"Build {arms.last} was evaluated with snapshot {snapshots[-1]} and publishes {now[0] or 'none'} "
            f"now: run `mineevolve evaluate --build {arms.last}` to compare that one."
        )
    said += [
        f"{shards} shards of {build}, {group}, {source} are played and the rest is not: they are left out "
        "until the same `mineevolve evaluate` is run to its end."
        for build, group, source, shards in unfinished(arms.home)
    ]
    alone = frozen.height - arms.pairs.height
    if alone:
        said.append(
            f"{alone} episodes of build {arms.last} have no counterpart with the empty store in the same "
            "configuration, and are left out."
        )
    if frozen["config_hash"].n_unique() > 1:
        said.append("Not all groups were played with the same configuration; pairs are, each in itself.")
    return said


def _charts(found: Findings) -> dict[str, Markup]:
    charts = Charts()
    rows = pl.DataFrame([each.row() for each in found.success.all], infer_schema_length=None)
    drawn = {"success": charts.svg(success_chart(rows), "Success by group, empty store and frozen knowledge")}
    points = found.accumulation.points
    if points.height:
        names = tuple(dict.fromkeys(points.filter(pl.col("name") != OVERALL)["name"]))
        drawn["accumulation"] = charts.svg(
            accumulation_chart(points, names, OVERALL), "Success by snapshot, overall and by group"
        )
    if found.failures.mix.height:
        drawn["failures"] = charts.svg(failure_chart(found.failures.mix), "Failed attempts by type")
    if found.growth["skills"].drop_nulls().len():
        drawn["growth"] = charts.svg(growth_chart(found.growth), "Entries of the snapshots by build")
    if found.misconceptions is not None and found.misconceptions.height:
        drawn["misconceptions"] = charts.svg(
            misconceptions_chart(found.misconceptions), "Success by the share of wrong facts"
        )
    return drawn


def _tables(found: Findings) -> dict[str, Markup]:
    rows = pl.DataFrame([each.row() for each in found.success.all], infer_schema_length=None)
    used = found.usefulness
    drawn = {
        "success": table(_with_intervals(rows), c.SUCCESS, "success", rows["is_average"]),
        "pairs": table(rows, c.PAIRS, "pairs", rows["is_average"]),
        "by_task": table(_with_intervals(found.by_task), c.BY_TASK, "by-task"),
        "by_seed": table(_with_intervals(found.by_seed), c.BY_SEED, "by-seed"),
        "accumulation": table(
            found.accumulation.points.with_columns(interval("low", "high", "interval")),
            c.ACCUMULATION,
            "accumulation",
        ),
        "mix": table(found.failures.mix, c.MIX, "mix"),
        "ends": table(found.failures.ends, c.ENDS, "ends"),
        "stagnation": table(_stagnation(found.failures), c.STAGNATION, "stagnation"),
        "growth": table(found.growth.with_columns(pl.col("snapshot_id").str.head(12)), c.GROWTH, "growth"),
        "rejections": table(found.rejections, c.REJECTIONS, "rejections"),
        "useful": table(used.useful, c.USED, "useful"),
        "harmful": table(used.harmful, c.USED, "harmful"),
        "used": table(used.used, c.USED, "used"),
        "trusted": table(used.trusted, c.TRAINED, "trusted"),
        "distrusted": table(used.distrusted, c.TRAINED, "distrusted"),
        "effort": table(found.effort.arms, c.EFFORT, "effort"),
        "groups": table(found.effort.groups, c.GROUPS, "groups"),
        "parameters": table(_parameters(found.parameters), c.PARAMETERS, "parameters"),
    }
    for number, lineage in enumerate(found.lineages):
        drawn[f"evidence-{number}"] = table(_evidence(lineage), c.EVIDENCE, f"evidence-{number}")
        drawn[f"decisions-{number}"] = table(lineage.decisions, c.DECISIONS, f"decisions-{number}")
    if found.misconceptions is not None:
        sweep = found.misconceptions.with_columns(interval("low", "high", "interval"))
        drawn["misconceptions"] = table(sweep, c.SWEEP, "misconceptions")
    return drawn


def _with_intervals(rows: pl.DataFrame) -> pl.DataFrame:
    """Adds what tables of both arms show: intervals, and k of n in one cell."""
    shown = rows.with_columns(
        interval(f"{arm}_low", f"{arm}_high", f"{arm}_interval") for arm in ("empty", "frozen")
    ).with_columns(
        pl.format("{} / {}", f"{arm}_k", "pairs").alias(f"{arm}_of") for arm in ("empty", "frozen")
    )
    if "difference_low" in shown.columns:
        return shown.with_columns(interval("difference_low", "difference_high", "difference_interval"))
    return shown


def _stagnation(failed: Failures) -> pl.DataFrame:
    rows = [
        {
            "rule": rule,
            **{
                f"{arm}_{figure}": value
                for arm in ("empty", "frozen")
                for figure, value in _rate(getattr(getattr(failed, arm), name))
            },
        }
        for name, rule in (
            ("stagnant", "ℓ: eq. 3, or no progress in the last 20 s, or going round in loops"),
            ("stagnant_paper", "eq. 3 alone, as in the paper"),
        )
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _rate(rate: Any) -> tuple[tuple[str, object], ...]:
    return (("of", f"{rate.k} / {rate.n}"), ("share", rate.share))


def _parameters(files: list[Parameters]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {
                "path": each.path,
                "sha256": each.sha256[:16],
                "changes": each.changes,
                "last": each.versions[-1].reason if each.is_recorded else "changed here, and not recorded",
            }
            for each in files
        ]
    )


def _evidence(lineage: Lineage) -> pl.DataFrame:
    found = pl.col("failure_type").cast(pl.String)
    return lineage.evidence.with_columns(
        found=pl.when(found == NO_FAILURE).then(pl.lit("success")).otherwise(found),
        ticks=pl.format("{} – {}", pl.col("start_tick"), pl.col("end_tick")),
        where=pl.concat_str(pl.lit("build "), "build", pl.lit(", "), "source", ignore_nulls=True),
        said=pl.col("evidence_text").str.slice(0, 160),
    )
