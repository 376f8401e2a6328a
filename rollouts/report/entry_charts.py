"""The charts of an entry's page: where its evidence was walked, and how it has fared."""

from collections.abc import Mapping
from typing import Any, Final

import altair as alt
import polars as pl

from rollouts.report.charts import Chart

_LEAST_SPAN: Final = 8.0
"""blocks that a map shows at least: one who stood still is a dot on a map and not a line across it"""
_MARGIN: Final = 0.08
_SIDE: Final = 250
_ACROSS: Final = 3
_MARKS: Final = {"start": "circle", "end": "square", "evidence": "diamond"}
_FILLS: Final = {"start": "#c8c8c8", "end": "#0072b2", "evidence": "#f0b429"}
_SIZES: Final = {"start": 80, "end": 130, "evidence": 48}
"""of two marks in one place the later is smaller and lies on top"""
_OUTCOMES: Final = {"won": "#0072b2", "lost": "#d55e00", "undecided": "#c4c4c4"}
_STATUSES: Final = {
    "active": "#0072b2",
    "demoted": "#e69f00",
    "retired": "#d55e00",
    "merged": "#767676",
    "withdrawn": "#999999",
}


def map_chart(paths: pl.DataFrame, marks: pl.DataFrame) -> Chart:
    """`Explanation.paths` from above, one map each, north (-z) up and as many blocks across as down."""
    panels = [
        _map(paths.filter(pl.col("map") == number), marks.filter(pl.col("map") == number))
        for number in paths["map"].unique().sort()
    ]
    return alt.concat(*panels, columns=_ACROSS, spacing=24)


def _map(path: pl.DataFrame, marks: pl.DataFrame) -> Chart:
    first = path.row(0, named=True)
    low, high = _height(path, "min"), _height(path, "max")
    height = "" if low is None else f", y {low}" if low == high else f", y {low} to {high}"
    title = f"{first['map']}: build {first['build']}, attempt {first['attempt']}{height}"
    across, down = _ends(path["x"]), _ends(path["z"])
    span = max(across[1] - across[0], down[1] - down[0], _LEAST_SPAN) * (1 + 2 * _MARGIN)
    x = alt.X("x:Q", title="x, blocks", scale=_scale(across, span), axis=_axis())
    z = alt.Y("z:Q", title="z, blocks", scale=_scale(down, span, reverse=True), axis=_axis())
    line = alt.Chart(path.select("tick", "x", "z")).mark_line(color="#6c8ea4", strokeWidth=1.5)
    placed = marks.sort(pl.col("mark").replace_strict({name: place for place, name in enumerate(_MARKS)}))
    dots = alt.Chart(placed).mark_point(strokeWidth=1.4, stroke="#222222", opacity=1)
    legend = alt.Legend(title=None, orient="bottom")
    drawn = line.encode(x=x, y=z, order="tick:Q") + dots.encode(
        x=x,
        y=z,
        shape=alt.Shape("mark:N", scale=_by_mark(_MARKS), legend=legend),
        fill=alt.Fill("mark:N", scale=_by_mark(_FILLS), legend=legend),
        size=alt.Size("mark:N", scale=_by_mark(_SIZES), legend=legend),
    )
    return drawn.properties(width=_SIDE, height=_SIDE, title=alt.Title(title, fontSize=12))


def life_chart(versions: pl.DataFrame, by_build: pl.DataFrame) -> Chart:
    """Confidence after each build that changed the entry, and below it the episodes of use of each build."""
    builds = pl.concat([versions["build"], by_build["build"]]).unique().sort().to_list()
    angle = alt.Axis(labelAngle=0 if len(builds) <= 8 else -40)
    x = alt.X("build:O", sort=builds, scale=alt.Scale(domain=builds), title=None, axis=angle)
    width = max(220, min(640, 46 * len(builds)))
    base = alt.Chart(versions.select("build", "confidence", "status"))
    scale = alt.Scale(domain=[0, 1])
    y = alt.Y("confidence:Q", title="confidence", scale=scale, axis=_axis(values=[0, 0.5, 1]))
    statuses = [name for name in _STATUSES if name in set(versions["status"])]
    colour = alt.Color(
        "status:N",
        scale=alt.Scale(domain=statuses, range=[_STATUSES[name] for name in statuses]),
        legend=alt.Legend(title=None, orient="top"),
    )
    line = base.mark_line(color="#b5b5b5", interpolate="step-after").encode(x=x, y=y)
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(x=x, y=y, color=colour)
    upper = line + dots
    upper = upper.properties(width=width, height=110)
    if by_build.is_empty():
        return upper
    bars = pl.concat(
        by_build.select("build", outcome=pl.lit(name), episodes=pl.col(name), place=pl.lit(place))
        for place, name in enumerate(_OUTCOMES)
    ).filter(pl.col("episodes") > 0)
    most = int(by_build.select(pl.sum_horizontal(*_OUTCOMES).max()).item())
    step = max(1, -(-most // 5))
    axis = _axis(values=list(range(0, most + step, step)), format="d")
    named = [name for name in _OUTCOMES if by_build[name].sum()]
    lower = (
        alt.Chart(bars)
        .mark_bar(width={"band": 0.6})
        .encode(
            x=x,
            y=alt.Y("episodes:Q", title="episodes of use", axis=axis),
            order="place:Q",
            color=alt.Color(
                "outcome:N",
                scale=alt.Scale(domain=named, range=[_OUTCOMES[name] for name in named]),
                legend=alt.Legend(title=None, orient="top"),
            ),
        )
        .properties(width=width, height=110)
    )
    return alt.vconcat(upper, lower, spacing=14).resolve_scale(color="independent")


def _by_mark(values: Mapping[str, Any]) -> alt.Scale:
    return alt.Scale(domain=list(values), range=list(values.values()))


def _height(path: pl.DataFrame, which: str) -> int | None:
    found: Any = getattr(path["y"], which)()
    return None if found is None else round(float(found))


def _ends(column: pl.Series) -> tuple[float, float]:
    low: Any = column.min()
    high: Any = column.max()
    return float(low), float(high)


def _scale(ends: tuple[float, float], span: float, *, reverse: bool = False) -> alt.Scale:
    middle = (ends[0] + ends[1]) / 2
    domain = [middle - span / 2, middle + span / 2]
    return alt.Scale(domain=domain, reverse=reverse, nice=False, zero=False)


def _axis(**more: Any) -> alt.Axis:
    return alt.Axis(**{"tickCount": 5, "format": "d", "grid": True, **more})
