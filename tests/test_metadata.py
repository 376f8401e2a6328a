"""Tables and plots as a person sees them of a materialization."""

import base64
import re

import dagster as dg
import polars as pl

from assets import metadata

RATES = {"task_id": ["a", "a"], "arm": ["empty", "frozen"], "low": [0.0, 0.2], "high": [0.3, 0.8]}


def is_picture(value: dg.MarkdownMetadataValue, title: str) -> bool:
    found = re.fullmatch(rf"!\[{title}\]\(data:image/png;base64,(.+)\)", value.value or "")
    return found is not None and base64.b64decode(found[1]).startswith(b"\x89PNG")


def test_counts_become_bars_and_nothing_says_so() -> None:
    counts = pl.DataFrame({"failure_type": ["DEATH", "NO_FUEL"], "attempts": [0, 17]})
    assert is_picture(metadata.bars(counts, "failure_type", "attempts", "failures"), "failures")
    assert is_picture(metadata.bars(counts.head(1), "failure_type", "attempts", "failures"), "failures")
    assert metadata.bars(counts.clear(), "failure_type", "attempts", "failures").value == "nothing to plot"


def test_shares_have_their_intervals_and_nothing_is_plotted_of_no_pairs() -> None:
    rates = pl.DataFrame(RATES | {"k": [1, 5], "n": [10, 10]})
    assert is_picture(metadata.intervals(rates, "task_id", "arm", "success"), "success")
    none = rates.with_columns(k=0, n=0, low=None, high=None)
    assert metadata.intervals(none, "task_id", "arm", "success").value == "nothing to plot"
