"""The notebook's standard plots: a question, the query that answers it, and how the answer is drawn.

from pipeline.notebook.plots import PLOTS
frame = query(home, PLOTS["failure_mix"].sql)
PLOTS["failure_mix"].draw(frame)
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

import altair as alt
import polars as pl

Chart: TypeAlias = Any
"""a chart of altair, whose operators are not typed"""
_EMPTY: Final = "#767676"
_FROZEN: Final = "#0072b2"
_WIDTH: Final = 620


class Plot(NamedTuple):
    """A standard plot; `none_yet` says what gives it rows."""

    question: str
    sql: str
    draw: Callable[[pl.DataFrame], Chart]
    none_yet: str


def _rates(rows: pl.DataFrame) -> Chart:
    y = alt.Y("kind:N", sort="-x", title=None)
    base = alt.Chart(rows)
    bars = base.mark_rule(strokeWidth=2).encode(x=_share("low:Q"), x2="high:Q", y=y)
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=_share("rate:Q", "attempts that succeeded, with 95 % Wilson intervals"),
        y=y,
        tooltip=["kind", "k", "n", "undecided", "infrastructure"],
    )
    return (bars + points).properties(width=_WIDTH, height={"step": 26})


def _failures(rows: pl.DataFrame) -> Chart:
    return (
        alt.Chart(rows)
        .mark_bar()
        .encode(
            x=alt.X("attempts:Q", title="unsuccessful attempts"),
            y=alt.Y("failure_type:N", sort="-x", title=None),
            color=alt.Color("kind:N", title="subgoal"),
            tooltip=["failure_type", "kind", "attempts"],
        )
        .properties(width=_WIDTH, height={"step": 20})
    )


def _hotspots(rows: pl.DataFrame) -> Chart:
    return (
        alt.Chart(rows)
        .mark_circle(opacity=0.7)
        .encode(
            x=alt.X("cell_x:Q", title="x, blocks", scale=alt.Scale(zero=False)),
            y=alt.Y("cell_z:Q", title="z, blocks", scale=alt.Scale(zero=False)),
            size=alt.Size("stagnant:Q", title="stagnant attempts"),
            color=alt.Color("kind:N", title="subgoal"),
            tooltip=["source", "kind", "target", "stagnant", "attempts", "failure_type", "cell_y"],
        )
        .properties(width=_WIDTH, height=380)
    )


def _growth(rows: pl.DataFrame) -> Chart:
    statuses = pl.concat(
        rows.select("build", status=pl.lit(name), entries=pl.col(name))
        for name in ("active", "demoted", "retired")
    )
    return (
        alt.Chart(statuses)
        .mark_line(point=True)
        .encode(
            x=alt.X("build:O", title="after build"),
            y=alt.Y("entries:Q", title="entries"),
            color=alt.Color("status:N", title=None),
            tooltip=["build", "status", "entries"],
        )
        .properties(width=_WIDTH, height=220)
    )


def _frozen(rows: pl.DataFrame) -> Chart:
    arms = pl.concat(
        rows.select(
            "build", "task_group", "pairs", arm=pl.lit(label), share=arm, low=f"{arm}_low", high=f"{arm}_high"
        )
        for arm, label in (("empty", "empty store"), ("frozen", "frozen knowledge"))
    )
    scale = alt.Scale(domain=["empty store", "frozen knowledge"], range=[_EMPTY, _FROZEN])
    colour = alt.Color("arm:N", title=None, scale=scale)
    y, offset = alt.Y("build:O", title="build"), alt.YOffset("arm:N")
    base = alt.Chart(arms).encode(y=y, yOffset=offset, color=colour)
    bars = base.mark_rule(strokeWidth=2).encode(x=_share("low:Q"), x2="high:Q")
    points = base.mark_point(filled=True, size=60, opacity=1).encode(
        x=_share("share:Q", "success, 95 % Wilson"), tooltip=["task_group", "build", "arm", "share", "pairs"]
    )
    panel = (bars + points).properties(width=180, height={"step": 16})
    return panel.facet(facet=alt.Facet("task_group:N", title=None), columns=3)


def _claims(rows: pl.DataFrame) -> Chart:
    return (
        alt.Chart(rows)
        .mark_bar()
        .encode(
            x=alt.X("attempts:Q", title="attempts with a claim or a label"),
            y=alt.Y("verdict:N", sort="-x", title=None, axis=alt.Axis(labelLimit=240)),
            color=alt.Color("source:N", title=None),
            tooltip=["verdict", "source", "attempts"],
        )
        .properties(width=_WIDTH, height={"step": 22})
    )


def _uses(rows: pl.DataFrame) -> Chart:
    return (
        alt.Chart(rows)
        .mark_circle(opacity=0.7, size=70)
        .encode(
            x=alt.X("uses:Q", title="uses with a known outcome"),
            y=_share("confidence:Q", "confidence", axis=alt.Y),
            color=alt.Color("type:N", title=None),
            tooltip=["type", "kind", "target", "failure_type", "uses", "wins", "support_episodes"],
        )
        .properties(width=_WIDTH, height=300)
    )


def _share(field: str, title: str | None = None, axis: Callable[..., Any] = alt.X) -> Any:
    return axis(field, title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"))


PLOTS: Final = {
    "success_rates": Plot(
        "How often do attempts succeed, by kind of subgoal?",
        "SELECT kind, k, n, rate, low, high, undecided, infrastructure FROM success_rates\n"
        "WHERE level = 'kind' AND kind IS NOT NULL AND n > 0 ORDER BY kind",
        _rates,
        "`mineevolve run` or `mineevolve train`",
    ),
    "failure_mix": Plot(
        "What do attempts fail of?",
        "SELECT failure_type, coalesce(kind, 'unknown') AS kind, sum(attempts)::BIGINT AS attempts\n"
        "FROM failure_mix WHERE failure_type IS NOT NULL GROUP BY ALL ORDER BY ALL",
        _failures,
        "`mineevolve run` or `mineevolve train`",
    ),
    "stagnation_hotspots": Plot(
        "Where do attempts get stuck, and at what?",
        "SELECT source, cell_x, cell_y, cell_z, kind, target, attempts, stagnant, failure_type\n"
        "FROM stagnation_hotspots WHERE cell_x IS NOT NULL ORDER BY ALL",
        _hotspots,
        "attempts that stagnate",
    ),
    "claims_vs_evidence": Plot(
        "Do claims and labels agree with the evidence?",
        "SELECT verdict, source, count(*) AS attempts FROM claims_vs_evidence GROUP BY ALL ORDER BY ALL",
        _claims,
        "recordings whose agents say what they did",
    ),
    "knowledge_growth": Plot(
        "How does the store grow?",
        "SELECT build, active, demoted, retired FROM knowledge_growth ORDER BY build",
        _growth,
        "`mineevolve run` or `mineevolve loop`",
    ),
    "uses": Plot(
        "How did the entries fare that were used?",
        "SELECT entry_id, type, kind, target, failure_type, uses, wins, confidence, support_episodes\n"
        "FROM knowledge WHERE status IN ('active', 'demoted') ORDER BY entry_id",
        _uses,
        "`mineevolve run` or `mineevolve loop`",
    ),
    "success_by_group": Plot(
        "Does frozen knowledge help?",
        "SELECT build, task_group, pairs, empty, empty_low, empty_high, frozen, frozen_low, frozen_high\n"
        "FROM success_by_group WHERE is_current\n"
        "QUALIFY row_number() OVER (PARTITION BY build, task_group ORDER BY pairs DESC, evaluation_id) = 1\n"
        "ORDER BY task_group, build",
        _frozen,
        "`mineevolve evaluate` or `mineevolve loop`",
    ),
}
"""Name -> plot, in the order of the notebook."""
