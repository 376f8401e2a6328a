"""What a person wants to see of a materialization: schemas, tables, a small plot."""

import base64
from collections.abc import Iterable, Mapping
from io import BytesIO
from typing import Any

import dagster as dg
import polars as pl


def table_schema(frame: pl.DataFrame, descriptions: Mapping[str, str] | None = None) -> dg.TableSchema:
    """A frame's columns as Dagster shows them."""
    notes = descriptions or {}
    return dg.TableSchema(
        columns=[
            dg.TableColumn(name=name, type=_brief_type(dtype), description=notes.get(name))
            for name, dtype in frame.schema.items()
        ]
    )


def table(frame: pl.DataFrame, rows: int = 25) -> dg.TableMetadataValue:
    """The first rows of a frame of plain values as a table."""
    records = [
        dg.TableRecord({name: _plain(value) for name, value in row.items()})
        for row in frame.head(rows).iter_rows(named=True)
    ]
    return dg.MetadataValue.table(records=records, schema=table_schema(frame)) if records else _nothing()


def bars(frame: pl.DataFrame, category: str, amount: str, title: str) -> dg.MarkdownMetadataValue:
    """A bar chart of `amount` per `category`, in the frame's order, as an embedded picture."""
    import altair as alt

    if frame.is_empty():
        return dg.MetadataValue.md("nothing to plot")
    # A count has no halves: ticks are whole numbers, nine at most.
    highest = max(frame[amount].to_list())
    step = max(1, -(-highest // 8))
    ticks = list(range(0, highest + step, step))
    chart = (
        alt.Chart(frame.select(category, amount), title=title)
        .mark_bar(color="#33658a")
        .encode(
            x=alt.X(f"{amount}:Q", title=amount.replace("_", " "), axis=alt.Axis(values=ticks, format="d")),
            y=alt.Y(f"{category}:N", sort=None, title=None),
        )
        .properties(width=420, height={"step": 18})
    )
    return _picture(chart, title)


def intervals(frame: pl.DataFrame, category: str, series: str, title: str) -> dg.MarkdownMetadataValue:
    """Shares k / n with their intervals [low, high] by `category`, one colour per `series`, as an embedded
    picture. Rows with n = 0 have no share and are left out."""
    import altair as alt

    shown = frame.filter(pl.col("n") > 0).select(
        category, series, "low", "high", share=pl.col("k") / pl.col("n")
    )
    if shown.is_empty():
        return dg.MetadataValue.md("nothing to plot")
    base = alt.Chart(shown).encode(
        y=alt.Y(f"{category}:N", title=None),
        yOffset=alt.YOffset(f"{series}:N"),
        color=alt.Color(f"{series}:N", title=None, scale=alt.Scale(range=["#8d99ae", "#33658a"])),
    )
    axis = alt.Scale(domain=[0, 1])
    bars = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title="share", scale=axis), x2="high:Q")
    points = base.mark_point(filled=True, size=50, opacity=1).encode(x=alt.X("share:Q", scale=axis))
    return _picture((bars + points).properties(title=title, width=420, height={"step": 14}), title)


def _picture(chart: Any, title: str) -> dg.MarkdownMetadataValue:
    picture = BytesIO()
    chart.save(picture, format="png", scale_factor=2)
    encoded = base64.b64encode(picture.getvalue()).decode()
    return dg.MetadataValue.md(f"![{title}](data:image/png;base64,{encoded})")


def counts(values: Iterable[tuple[str, int]]) -> dict[str, Any]:
    """Row counts as metadata entries, one per name."""
    return {name: dg.MetadataValue.int(count) for name, count in values}


def figure(chart: Any, title: str, note: str) -> dg.MarkdownMetadataValue:
    """A chart of altair as an embedded picture, with what has to be said beside it."""
    return dg.MetadataValue.md(f"{_picture(chart, title).md_str}\n\n*{note}*")


def _brief_type(dtype: pl.DataType) -> str:
    """A type without the members of its enums and structs, which would fill the page."""
    if isinstance(dtype, pl.List):
        # Of a schema's list the inner type is an instance; Polars' annotation allows for the class as well.
        return f"List({_brief_type(dtype.inner)})"  # type: ignore[arg-type]
    return type(dtype).__name__ if isinstance(dtype, pl.Enum | pl.Struct) else str(dtype)


def _plain(value: Any) -> str | int | float | bool | None:
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _nothing() -> Any:
    return dg.MetadataValue.md("no rows")
