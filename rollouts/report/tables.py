"""The page's tables. Every cell is escaped; the page has one style sheet for all of them."""

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, NamedTuple

import polars as pl
from great_tables import GT, loc, style
from markupsafe import Markup, escape

Kind = Literal[
    "text",  # words
    "id",  # a name or an id, in the typewriter's letters
    "entry",  # an entry's id, as a link to its lineage
    "effect",  # a verdict
    "count",
    "amount",  # figures that are words already
    "figure",  # two places
    "p",
    "share",  # in percent
    "difference",  # of shares, in percentage points
    "interval",  # {low, high} of a share
    "points",  # {low, high} of a difference
]
MISSING: Final = "–"
LEAST_P: Final = 0.001
"""below which a p is not written out"""
_LEFT: Final = ("text", "entry", "effect", "id")
_SIGNS: Final = {"helped": "▲", "hurt": "▼"}


class Column(NamedTuple):
    """A column of a frame as a table shows it. `under` is a heading over several columns."""

    name: str
    label: str
    kind: Kind = "text"
    under: str = ""


def table(
    frame: pl.DataFrame, columns: Sequence[Column], name: str, strong: pl.Series | None = None
) -> Markup:
    """The frame's rows as a table; `name` is not used twice on a page. `strong` marks rows of importance.

    An interval's cell is a struct of low and high, shares both.
    """
    shown = GT(frame.select(column.name for column in columns), id=name)
    for column in columns:
        shown = shown.fmt(_cell(column.kind), columns=[column.name]).cols_align(
            "left" if column.kind in _LEFT else "right", columns=[column.name]
        )
    shown = shown.sub_missing(missing_text=MISSING).cols_label(
        cases={column.name: column.label for column in columns}
    )
    for heading in dict.fromkeys(column.under for column in columns if column.under):
        of_heading = [column.name for column in columns if column.under == heading]
        shown = shown.tab_spanner(heading, columns=of_heading, id=f"{name}-{heading}")
    if strong is not None and strong.any():
        rows = strong.arg_true().to_list()
        shown = shown.tab_style(style.text(weight="bold"), loc.body(rows=rows))
    html = shown.as_raw_html()
    # The library puts its style sheet, 8 KB, before each table.
    end = "</table>"
    return Markup(html[html.index("<table") : html.rindex(end) + len(end)])


def interval(low: str, high: str, name: str) -> pl.Expr:
    """A column for `interval` cells; null where its ends are."""
    both = pl.struct(low=low, high=high)
    return pl.when(pl.col(low).is_not_null()).then(both).alias(name)


def percent(share: float | None) -> str:
    """A share as people read it."""
    return MISSING if share is None else f"{100 * share:.0f} %"


def points(difference: float | None) -> str:
    """A difference of shares, in percentage points."""
    if difference is None:
        return MISSING
    rounded = round(100 * difference)
    return f"{rounded:+d}".replace("-", "−") if rounded else "0"


def _cell(kind: Kind) -> Callable[[Any], str]:
    def formatted(value: Any) -> str:
        return MISSING if value is None else _FORMATS[kind](value)

    return formatted


def _interval(ends: dict[str, float]) -> str:
    low, high = (100 * ends[end] for end in ("low", "high"))
    return f"{low:.0f} – {high:.0f}"


def _points(ends: dict[str, float]) -> str:
    return f"{points(ends['low'])} to {points(ends['high'])}"


def _effect(effect: str) -> str:
    sign = _SIGNS.get(effect)
    said = f"{sign} {effect}" if sign else "none shown"
    return f'<span class="effect {effect if sign else "none"}">{escape(said)}</span>'


def _entry(entry_id: str) -> str:
    return f'<a href="#entry-{escape(entry_id)}"><code>{escape(entry_id[:8])}</code></a>'


_FORMATS: Final[dict[Kind, Callable[[Any], str]]] = {
    "text": lambda value: str(escape(value)),
    "amount": lambda value: str(escape(value)),
    "count": lambda value: f"{value:,}".replace(",", " "),
    "share": percent,
    "difference": points,
    "figure": lambda value: f"{value:.2f}",
    "p": lambda value: "< 0.001" if value < LEAST_P else f"{value:.3f}",
    "interval": _interval,
    "points": _points,
    "entry": _entry,
    "effect": _effect,
    "id": lambda value: f"<code>{escape(value)}</code>",
}
