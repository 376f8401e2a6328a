"""The studies' figures. Shares are of episodes that succeeded; bars are the intervals of the tables."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import altair as alt
import polars as pl

from rollouts.report.charts import Chart
from rollouts.studies.success import COLD_START

_INK: Final = "#333333"
_ROW: Final = 46
_BLUE: Final = "#0072b2"
_GREY: Final = "#767676"
_OTHERS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_SHARE: Final[Mapping[str, Any]] = MappingProxyType(
    {"format": "%", "values": [0, 0.25, 0.5, 0.75, 1], "grid": True}
)
_APART: Final = 0.012
"""by which curves are set apart sideways, so that their bars can be told apart"""


def accumulation_chart(rows: pl.DataFrame) -> Chart:
    """`success.accumulation`: success by M, a panel for all groups together and one for each."""
    panels = []
    names = rows["name"].unique(maintain_order=True).to_list()
    for name in names:
        is_together = len(names) > 1 and name == names[0]
        colour = _INK if is_together else _BLUE
        base = alt.Chart(rows.filter(pl.col("name") == name).select("episodes", "share", "low", "high"))
        x = alt.X(
            "episodes:Q",
            title="training episodes, M",
            axis=alt.Axis(values=rows["episodes"].unique().sort().to_list()),
        )
        panels.append(_curve(base, x, colour).properties(width=230, height=140, title=name))
    return alt.concat(*panels, columns=3, spacing=20)


def curricula_chart(rows: pl.DataFrame) -> Chart:
    """`success.curricula`: success by the share of training, a curve for each curriculum."""
    names = rows["curriculum"].unique(maintain_order=True).to_list()
    shown = rows.select("curriculum", "share", "low", "high", "progress").with_columns(
        at=pl.col("progress")
        + _APART
        * (
            pl.col("curriculum").replace_strict({name: n for n, name in enumerate(names)})
            - (len(names) - 1) / 2
        )
    )
    scale = alt.Scale(
        domain=names, range=[_GREY if name == COLD_START else _other(names, name) for name in names]
    )
    colour = alt.Color("curriculum:N", scale=scale, legend=alt.Legend(title=None, orient="top"))
    steps = rows["progress"].unique().sort().to_list()
    x = alt.X(
        "at:Q",
        title="share of the training episodes",
        scale=alt.Scale(domain=[0, 1.05]),
        axis=alt.Axis(format="%", values=steps),
    )
    base = alt.Chart(shown)
    y = _share_axis(alt.Axis(title="Diamond episodes that succeeded", **_SHARE))
    bars = base.mark_rule(opacity=0.5, strokeWidth=2).encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=colour)
    line = base.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour)
    shape = alt.Shape("curriculum:N", scale=alt.Scale(domain=names), legend=None)
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(x=x, y=y, color=colour, shape=shape)
    return (bars + line + dots).properties(width=560, height=260)


def remedies_chart(rows: pl.DataFrame) -> Chart:
    """`success.remedies`: both arms with Wilson intervals, and the difference with bootstrap ones."""
    order = rows["name"].to_list()
    arms = pl.concat(
        [
            rows.select("name", "share", "low", "high", arm=pl.lit("with remedies")),
            rows.select(
                "name", share="other_share", low="other_low", high="other_high", arm=pl.lit("without them")
            ),
        ]
    )
    # Both panels have a name's row at the same height.
    place = alt.Scale(type="band", padding=0)
    height = _ROW * len(order)
    y = alt.Y("name:N", sort=order, title=None, scale=place)
    offset = alt.YOffset("arm:N", sort=["without them", "with remedies"], scale=alt.Scale(paddingOuter=0.6))
    scale = alt.Scale(domain=["without them", "with remedies"], range=[_GREY, _BLUE])
    colour = alt.Color("arm:N", scale=scale, legend=alt.Legend(title=None, orient="top"))
    base = alt.Chart(arms)
    bars = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q"), x2="high:Q", y=y, yOffset=offset, color=colour
    )
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(
        x=alt.X(
            "share:Q",
            title="episodes that succeeded",
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(**_SHARE),
        ),
        y=y,
        yOffset=offset,
        color=colour,
    )
    shares = (bars + dots).properties(width=330, height=height, title="Success, with 95 % Wilson intervals")
    gains = alt.Chart(rows.select("name", "difference", "difference_low", "difference_high"))
    row = alt.Y("name:N", sort=order, title=None, axis=None, scale=place)
    axis = alt.Axis(labelExpr="format(100 * datum.value, '+.0f')", grid=True)
    nought = alt.Chart(pl.DataFrame({"x": [0.0]})).mark_rule(color="#999999").encode(x="x:Q")
    spread = (
        gains.transform_filter("isValid(datum.difference_low)")
        .mark_rule(strokeWidth=2, color=_INK)
        .encode(x=alt.X("difference_low:Q"), x2="difference_high:Q", y=row)
    )
    points = gains.mark_point(shape="diamond", filled=True, size=70, color=_INK, opacity=1).encode(
        x=alt.X("difference:Q", title="◂ hurt · percentage points · help ▸", axis=axis), y=row
    )
    differences = (nought + spread + points).properties(
        width=230, height=height, title="With − without, 95 % bootstrap"
    )
    return alt.hconcat(shares, differences, spacing=20)


def overhead_chart(rows: pl.DataFrame) -> Chart:
    """`overhead.overhead`: entries, tokens, calls and times by M, a panel for each."""
    x = alt.X("episodes:Q", title="training episodes, M", axis=alt.Axis(values=rows["episodes"].to_list()))
    kinds = {"skills": "#009e73", "remedies": "#cc79a7"}
    entries = pl.concat(rows.select("episodes", entries=pl.col(kind), kind=pl.lit(kind)) for kind in kinds)
    scale = alt.Scale(domain=list(kinds), range=list(kinds.values()))
    colour = alt.Color("kind:N", scale=scale, legend=alt.Legend(title=None, orient="top"))
    counted = (
        alt.Chart(entries).mark_line(point=True).encode(x=x, y=alt.Y("entries:Q", title=None), color=colour)
    )
    panels = [counted.properties(width=230, height=140, title="active entries")]
    for value, low, high, title in (
        ("tokens", "tokens_low", "tokens_high", "retrieved tokens in a prompt, mean"),
        ("calls", "calls_low", "calls_high", "model calls in an episode, mean"),
        ("median_ms", "p05_ms", "p95_ms", "a retrieval in ms, median (5 – 95 %)"),
    ):
        base = alt.Chart(rows.select("episodes", share=value, low=low, high=high).drop_nulls("share"))
        panels.append(_curve(base, x, _BLUE, of_shares=False).properties(width=230, height=140, title=title))
    return alt.concat(*panels, columns=2, spacing=20)


def _curve(base: Chart, x: alt.X, colour: str, *, of_shares: bool = True) -> Chart:
    y = _share_axis(alt.Axis(title=None, **_SHARE)) if of_shares else alt.Y("share:Q", title=None)
    bars = (
        base.transform_filter("isValid(datum.low)")
        .mark_rule(color=colour, opacity=0.45, strokeWidth=2)
        .encode(x=x, y=alt.Y("low:Q"), y2="high:Q")
    )
    line = base.mark_line(color=colour, strokeWidth=2).encode(x=x, y=y)
    dots = base.mark_point(color=colour, filled=True, size=46, opacity=1).encode(x=x, y=y)
    return bars + line + dots


def _share_axis(axis: alt.Axis) -> alt.Y:
    return alt.Y("share:Q", scale=alt.Scale(domain=[0, 1]), axis=axis)


def _other(names: Sequence[str], name: str) -> str:
    return _OTHERS[[each for each in names if each != COLD_START].index(name) % len(_OTHERS)]
