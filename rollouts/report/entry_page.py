"""One entry as one HTML page: the template, and what is drawn into it.

    mineevolve knowledge explain 85e8592d --html entry.html

Like the report (docs/report.md) it is a single file without scripts that loads nothing; the template escapes
everything that it is given, and only what charts.py and tables.py drew is markup.
"""

from pathlib import Path
from typing import Final

import polars as pl
from markupsafe import Markup

from rollouts.report import entry_columns as c
from rollouts.report.charts import Charts
from rollouts.report.entry_charts import life_chart, map_chart
from rollouts.report.environment import environment
from rollouts.report.explanation import CREDIBLE, Explanation
from rollouts.report.tables import table
from warehouse.shards import write_bytes
from warehouse.vocabulary import NO_FAILURE

TEMPLATE: Final = "entry.html.j2"
ROWS: Final = 40
"""rows of one table on the page; the command and the warehouse have all"""
_SAID: Final = 200
_DIGITS: Final = 12


def write_entry_page(found: Explanation, out: Path) -> None:
    """Writes the page, all of it or nothing. The same explanation gives the same bytes."""
    write_bytes(out, rendered_entry(found).encode())


def rendered_entry(found: Explanation) -> str:
    """The page."""
    frames = _frames(found)
    tables = {
        name: table(frame.head(ROWS), _COLUMNS[name], name)
        for name, frame in frames.items()
        if not frame.is_empty()
    }
    left_out = {name: frame.height for name, frame in frames.items() if frame.height > ROWS}
    return (
        environment()
        .get_template(TEMPLATE)
        .render(
            found=found,
            entry=found.entry,
            credible=CREDIBLE,
            charts=_charts(found),
            tables=tables,
            left_out=left_out,
            rows=ROWS,
        )
    )


def _charts(found: Explanation) -> dict[str, Markup]:
    charts, drawn = Charts(), {}
    if found.paths.height:
        drawn["map"] = charts.svg(
            map_chart(found.paths, found.marks), "Where the evidence was walked, from above"
        )
    if found.versions.height > 1 or found.by_build.height:
        drawn["life"] = charts.svg(
            life_chart(found.versions, found.by_build), "Confidence and episodes of use by build"
        )
    return drawn


def _frames(found: Explanation) -> dict[str, pl.DataFrame]:
    kind = pl.col("failure_type").cast(pl.String)
    shown = pl.when(kind == NO_FAILURE).then(pl.lit("success")).otherwise(kind)
    frames = {
        "evidence": found.evidence.with_columns(
            found=shown,
            ticks=pl.format("{} – {}", "start_tick", "end_tick"),
            where=pl.coalesce("file", "source"),
            world=pl.concat_str(
                "world", pl.col("world_seed").cast(pl.String), separator="/", ignore_nulls=True
            ),
            said=pl.concat_str(
                pl.format("tick {}: ", "evidence_tick"), pl.col("evidence_text").str.slice(0, _SAID)
            ),
        ),
        "backtests": found.backtests,
        "tryouts": found.tryouts,
        "uses": found.uses.with_columns(
            outcome=pl.when(pl.col("won")).then(pl.lit("won")).when(~pl.col("won")).then(pl.lit("lost")),
            found=shown,
        ),
        "neighbours": found.neighbours,
        "conflicts": found.conflicts.with_columns(
            about=pl.concat_str("type", "kind", "target", "failure_type", separator=" ", ignore_nulls=True)
        ),
        "decisions": found.decisions,
        "versions": found.versions,
    }
    return {name: _short(frame) for name, frame in frames.items()}


def _short(frame: pl.DataFrame) -> pl.DataFrame:
    """Ids to as many digits as single one out among millions; every command takes them so."""
    ids = [name for name in frame.columns if name.endswith("_id") or name == "merged_into"]
    return frame.with_columns(pl.col(ids).str.head(_DIGITS))


_COLUMNS: Final = {
    "evidence": c.EVIDENCE,
    "backtests": c.BACKTESTS,
    "tryouts": c.TRYOUTS,
    "uses": c.USES,
    "neighbours": c.NEIGHBOURS,
    "conflicts": c.CONFLICTS,
    "decisions": c.DECISIONS,
    "versions": c.VERSIONS,
}
