"""The page that says whether frozen knowledge helped."""

from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import Field

from assets.analysis_warehouse import analysis_warehouse
from assets.evaluation_rollouts import evaluation_rollouts
from assets.exercise_config import LearningModel
from assets.resources import DataHome
from rollouts.exercise import caveat
from rollouts.report import report_file, write_report
from warehouse.suites import DEFAULT_SUITE, find_suite


class ReportConfig(dg.Config):
    """Where the page goes, and the suite that says what was not played."""

    out: str | None = Field(default=None, description="the page's file; none: report/index.html")
    suite: str = Field(
        default=DEFAULT_SUITE, description="a suite that ships with the domain, or a JSON file"
    )


@dg.asset(
    deps=[
        analysis_warehouse,
        dg.AssetDep(evaluation_rollouts, partition_mapping=dg.AllPartitionMapping()),
    ],
    group_name="evaluation",
    kinds={"html", "altair"},
    code_version="1",
    owners=["team:mineevolve"],
    description="report/index.html, one self-contained page: whether frozen knowledge helped, by group, "
    "snapshot and planner seed; what attempts fail of before and after; how the store grew; which entries "
    "were useful or harmful, with their lineage. Monitor judges the evaluation's episodes for it, and what "
    "it found is kept beside them.",
)
def loop_report(
    context: dg.AssetExecutionContext, config: ReportConfig, home: DataHome, model: LearningModel
) -> dg.MaterializeResult[Any]:
    domain = home.domain
    path = Path(config.out) if config.out else report_file(home.root)
    suite = find_suite(config.suite, domain)
    verdict = write_report(home.root, domain, suite, path)
    return dg.MaterializeResult(
        metadata={
            "path": dg.MetadataValue.path(str(path)),
            "verdict": verdict.headline,
            "figures": verdict.figures,
            "by group": dg.MetadataValue.md("\n".join(f"- {line}" for line in verdict.groups) or "one group"),
            "note": caveat(model.row, home.venue.world),
        }
    )
