"""What `mineevolve study full` does."""

import os
from functools import partial
from time import monotonic

from pipeline.command.console import MISUSED, err, explained, out, show
from pipeline.command.rollouts import told, with_progress
from pipeline.settings import Settings


def full_study(scale: str, workers: int, *, dry_run: bool) -> None:
    """Runs the job and shows what the studies say; with `dry_run` only how much it plays."""
    os.environ.setdefault("DAGSTER_DISABLE_TELEMETRY", "yes")
    settings = Settings()
    from pipeline.curricula import CurriculumFileError, UnknownCurriculumError
    from pipeline.full_study import ScaleError, size
    from rollouts.exercise import caveat

    with explained(ScaleError, CurriculumFileError, UnknownCurriculumError, code=MISUSED):
        planned = size(settings, scale)
    err.print(
        f"{planned.training} training episodes and {planned.evaluation} evaluation episodes below "
        f"{settings.home / 'studies' / scale}; what is there already is not played again.",
        soft_wrap=True,
        markup=False,
    )
    err.print(caveat(settings.model, settings.venue.world), soft_wrap=True, style="dim")
    if dry_run:
        return
    from pipeline import launch

    started = monotonic()
    with told():
        with_progress(partial(launch.full_study, settings, scale, workers))
    err.print(f"all studies: {monotonic() - started:.0f} s", markup=False)
    _shown(settings, scale)


def _shown(settings: Settings, scale: str) -> None:
    from rollouts.exercise import caveat
    from rollouts.studies.page import report_file
    from rollouts.studies.plan import read_figures, studies_home

    home = settings.home
    success = ["k", "n", "share", "low", "high"]
    gain = {"difference": "difference", "from": "difference_low", "to": "difference_high"}
    rows = read_figures(home, scale, "accumulation")
    whole = rows.filter(rows["name"] == rows["name"][0])
    show(
        whole.select("episodes", *success, **gain),
        f"Accumulation, {rows['name'][0]}: success after so many training episodes",
    )
    rows = read_figures(home, scale, "curricula")
    show(rows.select("curriculum", "progress", *success, **gain), "Curricula, on the Diamond tasks")
    rows = read_figures(home, scale, "remedies")
    show(
        rows.select("name", "n", **{"with": "k", "without": "other_k"} | gain),
        "Remedies: episodes that succeeded with and without them",
    )
    rows = read_figures(home, scale, "overhead")
    show(
        rows.select("episodes", "skills", "remedies", "tokens", "prompts", "calls", "played", "median_ms"),
        "Overhead: mean tokens retrieved into a prompt, mean calls in an episode, time of a retrieval",
    )
    out.print(
        "Intervals: 95 % Wilson of k / n, 95 % bootstrap of differences (with − without, or to the "
        f"empty store). {caveat(settings.model, settings.venue.world)}",
        soft_wrap=True,
    )
    out.print(f"The report: {report_file(studies_home(home, scale))}", markup=False, soft_wrap=True)
