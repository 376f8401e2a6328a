"""The studies as one HTML page, from their stored tables. Sentences are computed; none says more than the
intervals do."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import jinja2
import polars as pl
from markupsafe import Markup

from rollouts import report
from rollouts.report.charts import Chart, Charts
from rollouts.report.success import LEAST_PAIRS
from rollouts.report.tables import Column, interval, percent, points, table
from rollouts.studies.charts import accumulation_chart, curricula_chart, overhead_chart, remedies_chart
from rollouts.studies.plan import StudyPlan, read_figures, read_plan, studies_home
from rollouts.studies.success import COLD_START
from warehouse.shards import write_bytes

TABLES: Final = ("accumulation", "curricula", "endings", "remedies", "overhead")
_K: Final = (
    Column("of", "k / n", "amount"),
    Column("share", "share", "share"),
    Column("interval", "95 % Wilson", "interval"),
)
_DIFFERENCE: Final = (
    Column("difference", "points", "difference", "difference"),
    Column("difference_interval", "95 % bootstrap", "points", "difference"),
    Column("only_first", "only here", "count", "pairs won"),
    Column("only_second", "only there", "count", "pairs won"),
    Column("mcnemar_p", "McNemar p", "p"),
    Column("effect", "shown?", "effect"),
)
_OTHER: Final = (
    Column("other_of", "k / n", "amount", "the other"),
    Column("other_share", "share", "share", "the other"),
    Column("other_interval", "95 % Wilson", "interval", "the other"),
)
COLUMNS: Final[Mapping[str, tuple[Column, ...]]] = {
    "accumulation": (
        Column("name", "group"),
        Column("episodes", "M", "count"),
        Column("build", "build", "id"),
        *_K,
        *_DIFFERENCE,
    ),
    "curricula": (
        Column("curriculum", "curriculum", "id"),
        Column("progress", "of its training", "share"),
        Column("episodes", "episodes", "count"),
        *_K,
        *_DIFFERENCE,
    ),
    "endings": (
        Column("curriculum", "curriculum", "id"),
        Column("other", "against", "id"),
        Column("of", "checkpoint"),
        Column("shown_of", "k / n", "amount"),
        *_K[1:],
        *_OTHER,
        *_DIFFERENCE,
    ),
    "remedies": (Column("name", "group"), *_K, *_OTHER, *_DIFFERENCE),
    "overhead": (
        Column("episodes", "M", "count"),
        Column("skills", "skills", "count"),
        Column("remedies", "remedies", "count"),
        Column("tokens", "mean", "figure", "retrieved tokens in a prompt"),
        Column("tokens_interval", "95 %", "amount", "retrieved tokens in a prompt"),
        Column("tokens_most", "most", "count", "retrieved tokens in a prompt"),
        Column("prompts", "prompts", "count", "retrieved tokens in a prompt"),
        Column("calls", "mean", "figure", "model calls in an episode"),
        Column("calls_interval", "95 %", "amount", "model calls in an episode"),
        Column("calls_most", "most", "count", "model calls in an episode"),
        Column("played", "episodes", "count", "model calls in an episode"),
        Column("median_ms", "median", "figure", "a retrieval, ms"),
        Column("times", "5 – 95 %", "amount", "a retrieval, ms"),
        Column("retrievals", "timed", "count", "a retrieval, ms"),
    ),
}


class Shown(NamedTuple):
    """A study as it is shown: its table's rows, its figure, and what it says."""

    rows: pl.DataFrame
    chart: Chart
    said: tuple[str, ...]


def shown(name: str, rows: pl.DataFrame, more: pl.DataFrame | None = None) -> Shown:
    """A study from its table; `more` are the `endings` of the curricula."""
    match name:
        case "accumulation":
            return Shown(rows, accumulation_chart(rows), _of_accumulation(rows))
        case "curricula":
            assert more is not None
            return Shown(rows, curricula_chart(rows), _of_endings(more))
        case "remedies":
            return Shown(rows, remedies_chart(rows), _of_remedies(rows))
        case "overhead":
            return Shown(rows, overhead_chart(rows), _of_overhead(rows))
    raise KeyError(name)


def report_file(own: Path) -> Path:
    """Where the page of a scale's studies is, below `studies_home`."""
    return own / "report" / "index.html"


def write_page(home: Path, scale: str, caveat: str) -> Path:
    """Writes the page from the studies' tables; `NotMadeError` names the command where one is missing. The
    same tables give the same bytes; the times among them are of the run that measured them."""
    plan = read_plan(home, scale)
    held = {name: read_figures(home, scale, name) for name in TABLES}
    studies = {name: shown(name, held[name], held["endings"]) for name in TABLES if name != "endings"}
    charts = Charts()
    text = (
        _environment()
        .get_template("studies.html.j2")
        .render(
            plan=plan,
            stand_ins=caveat,
            cold_start=COLD_START,
            studies=studies,
            least_pairs=LEAST_PAIRS,
            charts={name: charts.svg(study.chart, name) for name, study in studies.items()},
            tables={name: drawn(name, rows) for name, rows in held.items()},
            excluded=max(
                count for name in TABLES if name != "overhead" for count in held[name]["excluded"].to_list()
            ),
        )
    )
    path = report_file(studies_home(home, scale))
    write_bytes(path, text.encode())
    return path


def drawn(name: str, rows: pl.DataFrame) -> Markup:
    """A study's table as markup."""
    if name == "overhead":
        ready = rows.with_columns(
            tokens_interval=_range("tokens_low", "tokens_high"),
            calls_interval=_range("calls_low", "calls_high"),
            times=_range("p05_ms", "p95_ms"),
        )
        return table(ready, COLUMNS[name], name)
    label = "shown_of" if name == "endings" else "of"
    ready = rows.with_columns(
        pl.format("{} / {}", "k", "n").alias(label),
        pl.format("{} / {}", "other_k", "n").alias("other_of"),
        interval("low", "high", "interval"),
        interval("other_low", "other_high", "other_interval"),
        interval("difference_low", "difference_high", "difference_interval"),
    )
    return table(ready, COLUMNS[name], name)


def _range(low: str, high: str) -> pl.Expr:
    return pl.format("{} – {}", pl.col(low).round(1), pl.col(high).round(1))


def _of_accumulation(rows: pl.DataFrame) -> tuple[str, ...]:
    """One sentence for each checkpoint of all groups together."""
    whole = rows.filter(pl.col("name") == rows["name"][0])
    return tuple(
        f"After {row['episodes']} episodes {_rate(row)} succeed, with the empty store "
        f"{_rate(row, 'other_')}: {_gain(row)}."
        for row in whole.filter(pl.col("episodes") > 0).iter_rows(named=True)
    )


def _of_endings(rows: pl.DataFrame) -> tuple[str, ...]:
    return tuple(
        f"{row['curriculum']} against {row['other']}, {row['of']}: {_rate(row)} against "
        f"{_rate(row, 'other_')}: {_gain(row)}."
        for row in rows.iter_rows(named=True)
    )


def _of_remedies(rows: pl.DataFrame) -> tuple[str, ...]:
    return tuple(
        f"{row['name']}: with remedies {_rate(row)}, without them {_rate(row, 'other_')}: {_gain(row)}; "
        f"{row['only_first']} pairs are won only with them and {row['only_second']} only without."
        for row in rows.iter_rows(named=True)
    )


def _of_overhead(rows: pl.DataFrame) -> tuple[str, ...]:
    first, last = rows.row(0, named=True), rows.row(-1, named=True)
    said = [f"From 0 to {last['episodes']} episodes the store grows to {last['skills']} skills and "
            f"{last['remedies']} remedies."]  # fmt: skip
    if last["tokens"] is not None:
        said.append(
            f"A prompt then holds {last['tokens']:.0f} retrieved tokens in the mean and "
            f"{last['tokens_most']} at most, of the 512 that all knowledge in a prompt may take."
        )
    said.append(
        f"An episode asks its model {first['calls']:.1f} times with the empty store and {last['calls']:.1f} "
        "times at the end."
    )
    if last["median_ms"] is not None:
        said.append(
            f"Half of {last['retrievals']} retrievals took at most {last['median_ms']:.1f} ms, and 95 % at "
            f"most {last['p95_ms']:.1f} ms: times of the machine that played, and of whatever else it did."
        )
    return tuple(said)


def _rate(row: Mapping[str, Any], of: str = "") -> str:
    return f"{row[f'{of}k']} of {row['n']} ({percent(row[f'{of}share'])})"


def _gain(row: Mapping[str, Any]) -> str:
    low, high = row["difference_low"], row["difference_high"]
    drawn = "no interval" if low is None else f"95 % bootstrap {points(low)} to {points(high)}"
    verdict = {"helped": "more, as far as these episodes show", "hurt": "less, as far as these episodes show"}
    few = row["only_first"] + row["only_second"] < LEAST_PAIRS
    nothing = f"no difference shown{', too few pairs differ' if few else ''}"
    return f"{points(row['difference'])} points ({drawn}), {verdict.get(row['effect'], nothing)}"


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([Path(__file__).parent, Path(report.__file__).parent]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"percent": percent}
    return environment


def of_plan(plan: StudyPlan) -> str:
    """What was played, in a sentence."""
    made = sum(course.total for course in plan.courses)
    return (
        f"{made} training episodes in {len(plan.courses)} curricula; every checkpoint is asked in "
        f"{plan.accumulation.worlds} worlds for each of {len(plan.accumulation.tasks)} hard tasks or "
        f"{plan.compared[0].worlds} for each of {len(plan.compared[0].tasks)} Diamond tasks, by "
        f"{plan.planners} planner seeds in turn."
    )
