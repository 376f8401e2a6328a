"""The page's charts, as SVG that lies in the page: no script, no network, the same bytes for the same data.

Two colours that people with any colour vision tell apart, and two shapes beside them: a hollow grey circle is
the empty store, a filled blue one frozen knowledge.
"""

import re
from collections.abc import Mapping
from itertools import count
from typing import Any, Final, TypeAlias

import altair as alt
import polars as pl
import vl_convert as vlc
from markupsafe import Markup, escape

ARM_NAMES: Final = {"empty": "empty store", "frozen": "frozen knowledge"}
_COLOURS: Final = {"empty store": "#767676", "frozen knowledge": "#0072b2"}
_FILLS: Final = {"empty store": "#ffffff", "frozen knowledge": "#0072b2"}
Chart: TypeAlias = Any
"""a chart of altair, whose operators are not typed"""
_ROW: Final = 46
_INK: Final = "#333333"
_FONT: Final = "Helvetica, Arial, sans-serif"
_SHARE_AXIS: Final[dict[str, Any]] = {"format": "%", "values": [0, 0.25, 0.5, 0.75, 1], "grid": True}


class Charts:
    """Draws charts for one page: what a chart's elements are called is not used twice on it."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def svg(self, chart: Chart, title: str) -> Markup:
        """A chart as markup, with `title` for those who do not see it."""
        drawn = vlc.vegalite_to_svg(_configured(chart).to_dict())
        number = next(self._numbers)
        # Every picture counts its clip paths from nought.
        own = re.sub(r'(\bid="|url\(#)', rf"\g<1>chart{number}-", drawn)
        label = f'<svg role="img" aria-label="{escape(title)}" class="chart" '
        return Markup(own.replace("<svg ", label, 1))


def success_chart(rows: pl.DataFrame) -> Chart:
    """`Compared.row` of groups and averages: shares of both arms with Wilson intervals, and their
    difference."""
    order = rows["name"].to_list()
    arms = pl.concat(
        rows.select(
            "name",
            arm=pl.lit(label),
            share=arm,
            # An average over groups is no share of pairs: it has no Wilson interval.
            low=pl.when(~pl.col("is_average")).then(f"{arm}_low"),
            high=pl.when(~pl.col("is_average")).then(f"{arm}_high"),
        )
        for arm, label in ARM_NAMES.items()
    ).drop_nulls("share")
    y = _row(order, alt.Axis(ticks=False, domain=False, labelPadding=8))
    offset = alt.YOffset("arm:N", sort=list(_COLOURS), scale=alt.Scale(paddingOuter=0.6))
    base = alt.Chart(arms)
    bars = (
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=2, opacity=0.8)
        .encode(
            x=alt.X("low:Q", title="episodes that succeeded"),
            x2="high:Q",
            y=y,
            yOffset=offset,
            color=_colour(),
        )
    )
    points = base.mark_point(size=64, strokeWidth=2, opacity=1).encode(
        x=alt.X("share:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(**_SHARE_AXIS)),
        y=y,
        yOffset=offset,
        color=_colour(),
        fill=_fill(),
    )
    shares = (bars + points).properties(
        width=430, height=_ROW * len(order), title="Success, with 95 % Wilson intervals"
    )
    return alt.hconcat(shares, _differences(rows, order), spacing=24).resolve_scale(color="shared")


def _differences(rows: pl.DataFrame, order: list[str]) -> Chart:
    base = alt.Chart(rows.select("name", "difference", "difference_low", "difference_high"))
    y = _row(order, None)
    reach = max(
        0.1, *(abs(value) for value in _known(rows, "difference", "difference_low", "difference_high"))
    )
    scale = alt.Scale(domain=[-reach, reach], nice=True)
    nought = (
        alt.Chart(pl.DataFrame({"x": [0.0]})).mark_rule(color="#999999").encode(x=alt.X("x:Q", scale=scale))
    )
    bars = (
        base.transform_filter("isValid(datum.difference_low)")
        .mark_rule(strokeWidth=2, color=_INK)
        .encode(x=alt.X("difference_low:Q", scale=scale), x2="difference_high:Q", y=y)
    )
    points = base.mark_point(shape="diamond", size=70, filled=True, color=_INK, opacity=1).encode(
        x=alt.X(
            "difference:Q",
            scale=scale,
            title="◂ hurts · percentage points · helps ▸",
            axis=alt.Axis(labelExpr="format(100 * datum.value, '+.0f')", tickCount=4, grid=True),
        ),
        y=y,
    )
    return (nought + bars + points).properties(
        width=300, height=_ROW * len(order), title="Frozen − empty, with 95 % bootstrap intervals"
    )


def accumulation_chart(points: pl.DataFrame, groups: tuple[str, ...], overall: str) -> Chart:
    """`Accumulation.points`: the overall average first, then each group with its intervals."""
    labelled = points.with_columns(
        after=pl.when(pl.col("step") == 0).then(pl.lit("empty")).otherwise(pl.col("arm"))
    )
    order = labelled.sort("step")["after"].unique(maintain_order=True).to_list()
    has_overall = overall in set(labelled["name"])
    names = [*([overall] if has_overall else []), *groups]
    x = alt.X("after:O", sort=order, title=None, axis=alt.Axis(labelAngle=-40 if len(order) > 4 else 0))
    y = alt.Y("share:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(title=None, **_SHARE_AXIS))
    panels = []
    for name in names:
        base = alt.Chart(labelled.filter(pl.col("name") == name))
        colour = _INK if name == overall else _COLOURS["frozen knowledge"]
        line = base.mark_line(color=colour, strokeWidth=2).encode(x=x, y=y)
        dots = base.mark_point(color=colour, filled=True, size=46, opacity=1).encode(x=x, y=y)
        bars = (
            base.transform_filter("isValid(datum.low)")
            .mark_rule(color=colour, opacity=0.45, strokeWidth=2)
            .encode(x=x, y=alt.Y("low:Q"), y2="high:Q")
        )
        panels.append((bars + line + dots).properties(width=190, height=130, title=name))
    return alt.concat(*panels, columns=4, spacing=20)


def failure_chart(mix: pl.DataFrame) -> Chart:
    """`Failures.mix`: failed attempts by type, both arms."""
    order = mix["failure_type"].to_list()
    bars = pl.concat(
        mix.select("failure_type", arm=pl.lit(label), attempts=pl.col(arm))
        for arm, label in ARM_NAMES.items()
    )
    base = alt.Chart(bars).encode(
        x=alt.X(
            "attempts:Q", stack=None, title="failed attempts", axis=_whole_numbers(bars["attempts"].max())
        ),
        y=alt.Y("failure_type:N", sort=order, title=None, axis=alt.Axis(labelLimit=220)),
        yOffset=alt.YOffset("arm:N", sort=list(_COLOURS)),
    )
    drawn = base.mark_bar().encode(color=_colour())
    numbers = base.mark_text(align="left", dx=4, fontSize=11, color=_INK).encode(text="attempts:Q")
    return (drawn + numbers).properties(width=620, height={"step": 14})


def growth_chart(growth: pl.DataFrame) -> Chart:
    """`growth`: entries of each build's snapshot, skills and remedies."""
    kinds = {"skills": "#009e73", "remedies": "#cc79a7"}
    bars = pl.concat(
        growth.select("build", kind=pl.lit(kind), entries=pl.col(kind), place=pl.lit(place))
        for place, kind in enumerate(kinds)
    ).drop_nulls("entries")
    base = alt.Chart(bars).encode(y=alt.Y("build:O", title="after build"), order="place:Q")
    held = (growth["active"] + growth["demoted"]).max()
    x = alt.X("entries:Q", title="entries of the snapshot", axis=_whole_numbers(held))
    scale = alt.Scale(domain=list(kinds), range=list(kinds.values()))
    drawn = base.mark_bar(height={"band": 0.6}).encode(
        x=x, color=alt.Color("kind:N", scale=scale, legend=_legend())
    )
    return drawn.properties(width=620, height={"step": 26})


def misconceptions_chart(sweep: pl.DataFrame) -> Chart:
    """`misconceptions`: success of both arms by the share of wrong facts, a panel for each group."""
    named = sweep.with_columns(arm=pl.col("arm").replace(ARM_NAMES))
    x = alt.X("misconceptions:Q", title="share of wrong facts", axis=alt.Axis(format="%", tickCount=5))
    panels = []
    for group in named["group"].unique(maintain_order=True):
        base = alt.Chart(named.filter(pl.col("group") == group))
        y = alt.Y("share:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(**_SHARE_AXIS))
        band = base.mark_area(opacity=0.15).encode(x=x, y="low:Q", y2="high:Q", color=_colour())
        line = base.mark_line(strokeWidth=2).encode(x=x, y=y, color=_colour())
        dots = base.mark_point(size=50, strokeWidth=2, opacity=1).encode(
            x=x, y=y, color=_colour(), fill=_fill()
        )
        panels.append((band + line + dots).properties(width=260, height=150, title=group))
    return alt.concat(*panels, columns=3, spacing=20)


def _row(order: list[str], axis: alt.Axis | None) -> alt.Y:
    """A group's row, at the same height in every panel."""
    return alt.Y("name:N", sort=order, title=None, axis=axis, scale=alt.Scale(type="band", padding=0))


def _colour() -> alt.Color:
    return alt.Color("arm:N", scale=_scale(_COLOURS), legend=_legend())


def _fill() -> alt.Fill:
    return alt.Fill("arm:N", scale=_scale(_FILLS), legend=_legend())


def _scale(colours: Mapping[str, str]) -> alt.Scale:
    return alt.Scale(domain=list(colours), range=list(colours.values()))


def _legend() -> alt.Legend:
    return alt.Legend(title=None, orient="top", symbolSize=70, symbolStrokeWidth=2, symbolOpacity=1)


def _whole_numbers(most: Any) -> alt.Axis:
    """An axis from 0 to `most` with whole numbers on it, about eight."""
    step = max(1, -(-int(most or 0) // 8))
    return alt.Axis(format="d", values=list(range(0, int(most or 0) + step, step)))


def _known(rows: pl.DataFrame, *columns: str) -> list[float]:
    return [value for column in columns for value in rows[column].drop_nulls()]


def _configured(chart: Chart) -> Any:
    return (
        chart.configure(font=_FONT, background="transparent")
        .configure_view(stroke=None)
        .configure_axis(
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            labelColor=_INK,
            titleColor=_INK,
            gridColor="#e6e6e6",
            domainColor="#bbbbbb",
            tickColor="#bbbbbb",
            labelLimit=240,
        )
        .configure_title(fontSize=13, anchor="start", color=_INK, fontWeight="bold", offset=8)
        .configure_legend(labelFontSize=12, labelColor=_INK)
    )
