"""One entry as one page: whole, harmless, and the same for the same data."""

import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from rollouts.report.entry_page import ROWS, rendered_entry, write_entry_page
from rollouts.report.explanation import Explanation
from tests.test_explanation import home, of_skill

__all__ = ["home"]
HOSTILE = "<script>alert(1)</script>{{ 7 * 7 }}"


@pytest.fixture(scope="module")
def found(home: Path) -> Explanation:
    return of_skill(home)


def test_the_page_has_everything_and_loads_nothing(found: Explanation) -> None:
    page = rendered_entry(found)
    for heading in ("What it says", "What it rests on", "Back-test", "Try-out", "Use and outcomes"):
        assert f"<h2>{heading}</h2>" in page
    for heading in ("Neighbours", "Conflicts", "Decisions over time"):
        assert f"<h2>{heading}</h2>" in page
    assert page.count("<svg") == 2, "the maps, and confidence by build"
    assert "<script" not in page
    loads = re.findall(r'(?:src|href|url)\s*[=(]\s*["\']?([^"\'\s)>]+)', page)
    assert {target[0] for target in loads if not target.startswith("http://www.w3.org/")} == {"#"}
    for attempt in found.evidence["feedback_id"]:
        assert attempt[:12] in page
    assert all(predicate.replace("<", "&lt;").replace(">", "&gt;") in page for predicate in found.trigger)


def test_what_was_recorded_is_text_and_nothing_else(found: Explanation) -> None:
    said = found.evidence.with_columns(
        evidence_tick=pl.lit(1), evidence_text=pl.lit(HOSTILE), file=pl.lit(HOSTILE)
    )
    decided = found.decisions.with_columns(reasons=pl.lit(HOSTILE))
    page = rendered_entry(replace(found, text=HOSTILE, evidence=said, decisions=decided))
    assert "<script" not in page
    assert "alert(1)" in page
    assert "{{ 7 * 7 }}" in page


def test_what_is_not_known_is_said(found: Explanation) -> None:
    none = found.paths.clear()
    bare = replace(
        found,
        paths=none,
        marks=found.marks.clear(),
        backtests=found.backtests.clear(),
        uses=found.uses.clear(),
        by_build=found.by_build.clear(),
        versions=found.versions.head(1),
    )
    page = rendered_entry(bare)
    for said in (
        "No positions were recorded",
        "None of its candidates was back-tested",
        "Not tried out",
        "never used in training",
    ):
        assert said in page
    assert "<svg" not in page


def test_a_long_table_is_cut_and_says_so(found: Explanation) -> None:
    more = pl.concat([found.decisions] * ROWS)
    assert f"The first {ROWS} of {more.height}." in rendered_entry(replace(found, decisions=more))


def test_the_same_data_gives_the_same_bytes(found: Explanation, tmp_path: Path) -> None:
    for name in ("one.html", "two.html"):
        write_entry_page(found, tmp_path / name)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()
