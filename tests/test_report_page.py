"""The page: its numbers are those of the episodes, its bytes those of the data, and it runs nothing."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest
from scipy.stats import binomtest
from typer.testing import CliRunner, Result

from pipeline.command import app
from prompts.tokens import EntryCost, PieceCounter
from rollouts.budget import REPAIRS
from rollouts.evaluation import NOBODY, evaluation_home
from rollouts.exercise import STAND_INS
from rollouts.report import read_arms, report_file, write_report
from rollouts.report.page import Findings, findings, rendered
from rollouts.report.parameters import parameters
from rollouts.report.study import MISCONCEPTIONS, misconceptions_file
from rollouts.report.tables import Column, interval, percent, points, table
from tests.made_evaluation import Played, suite, write
from tests.test_fold import curate, make_home
from tests.test_report_effort import keep
from tests.test_report_failures import attempt
from warehouse.analysis import publish, query
from warehouse.domains import Domain
from warehouse.entries import Entry
from warehouse.fold import rebuild
from warehouse.snapshots import publish_snapshot

HOSTILE = "<script>alert('x')</script>"
SUITE = suite([("wooden", "a"), ("wooden", "b"), ("wooden", HOSTILE), ("stone", "c"), ("iron", "never")])
OUTCOMES = {
    NOBODY: {"a": False, "b": True, HOSTILE: True, "c": False},
    "b1": {"a": False, "b": True, HOSTILE: True, "c": True},
    "b2": {"a": True, "b": True, HOSTILE: None, "c": True},
}


class Tables(HTMLParser):
    """The texts of a page's tables, by the name that they were drawn with; and what could run or load."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self._own: list[list[str]] = []
        self._name = ""
        self._in_cell = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        given = dict(attrs)
        if own := given.get("id"):
            self.ids.append(own)
        if tag == "a" and (target := given.get("href")):
            self.links.append(target)
        if tag == "table":
            self._own = []
        if tag == "th" and self._own is not self.tables.get(self._name):
            name = (given.get("id") or "").rpartition("-")[0]
            self._name = name
            self.tables[name] = self._own
        if tag == "tr":
            self._own.append([])
        if tag == "td":
            self._in_cell = True
            self._own[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "td":
            self._in_cell = False

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self._own[-1][-1] += data

    def rows(self, name: str) -> dict[str, list[str]]:
        """A table's rows by their first cell, without its headings."""
        return {row[0]: row[1:] for row in self.tables[name] if row}


def entries_of(home: Path) -> list[Entry]:
    return [
        Entry.model_validate_json(record)
        for record in query(home, "SELECT record FROM knowledge ORDER BY entry_id")["record"]
    ]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two builds that learnt, and an evaluation of both against the empty store; nothing was played."""
    home = make_home(tmp_path_factory.mktemp("data"))
    rebuild(home, curate)
    publish(home)
    entries = entries_of(home)
    snapshots = {build: publish_snapshot(home, build, entries).name for build in ("b1", "b2")}
    named = entries[0].entry_id
    for build, outcomes in OUTCOMES.items():
        for group, tasks in (("wooden", ("a", "b", HOSTILE)), ("stone", ("c",))):
            episodes = [Played(task, outcomes[task], snapshot=snapshots.get(build)) for task in tasks]
            attempts = [
                attempt(of, 0, bool(played.won), "success" if played.won else "timeout")
                | {"knowledge_used": [named] if build == "b2" else []}
                for of, played in enumerate(episodes)
            ]
            write(home, build, group, episodes, attempts)
    keep(home, NOBODY, "empty", "0000-aa", ("a", REPAIRS, 1, 1), ("b", 0, 0, 1))
    keep(home, "b2", "frozen", "0000-aa", ("a", 2, 1, 1), ("b", 0, 0, 1))
    return home


@pytest.fixture(scope="module")
def found(home: Path, minecraft: Domain) -> Findings:
    return findings(read_arms(home, SUITE), minecraft, PieceCounter())


@pytest.fixture(scope="module")
def page(found: Findings) -> str:
    return rendered(found)


def wilson(k: int, n: int) -> str:
    ends = binomtest(k, n).proportion_ci(method="wilson")
    return f"{100 * ends.low:.0f} – {100 * ends.high:.0f}"


def test_every_section_says_how_to_read_it_and_the_stand_ins_come_first(page: str) -> None:
    assert page.index(STAND_INS) < page.index('id="verdict"')
    sections = ["verdict", "success", "accumulation", "failures", "growth", "entries", "effort", "parameters"]
    places = [page.index(f'id="{section}"') for section in sections]
    assert places == sorted(places)
    for section, start in zip(sections[1:], places[1:], strict=True):
        assert "How to read it" in page[start : page.index("</section>", start)], section


def test_success_is_what_the_episodes_say(page: str) -> None:
    shown = Tables(page)
    # wooden: the pair of the hostile task is broken; two pairs are left of three tasks.
    expected = ["3", "1 / 2", "50 %", wilson(1, 2), "2 / 2", "100 %", wilson(2, 2), "+50"]
    assert shown.rows("success")["wooden"][:8] == expected
    assert shown.rows("success")["stone"][:8] == [
        "1",
        "0 / 1",
        "0 %",
        wilson(0, 1),
        "1 / 1",
        "100 %",
        wilson(1, 1),
        "+100",
    ]
    overall = shown.rows("success")["all groups"]
    assert (overall[0], overall[2], overall[5]) == ("4", percent(3 / 4 * 0.5), "100 %")
    assert shown.rows("pairs")["all groups"] == ["3", "1", "2", "0", "0", "0.500", "1"]
    tasks = {row[1]: row for row in shown.tables["by-task"] if row}
    assert tasks["c"] == ["stone", "c", "Make c", "0 / 1", "0 %", "1 / 1", "100 %", "1", "0", "0"]
    assert tasks[HOSTILE][-1] == "1"
    assert shown.rows("accumulation")
    curve = [row for row in shown.tables["accumulation"] if row and row[0] == "all groups"]
    assert [row[4] for row in curve] == [percent(3 / 8), percent((3 * 0.5 + 1) / 4), "100 %"]


def test_failures_growth_effort_and_parameters_are_what_is_stored(
    page: str, home: Path, found: Findings
) -> None:
    shown = Tables(page)
    ((kind, before, share, after, _),) = [row for row in shown.tables["mix"] if row]
    assert (kind, before, share, after) == (found.failures.mix["failure_type"][0], "2", "100 %", "0")
    assert shown.rows("ends") == {"horizon": ["2", "0"], "success": ["1", "3"]}
    growth = shown.rows("growth")["b2"]
    cost = EntryCost(PieceCounter())
    tokens = sum(cost(entry) for entry in entries_of(home))
    assert growth[:8] == ["3", "2", "1", "0", "2", "0", "1", "1"]
    assert growth[10] == str(tokens)
    assert shown.rows("rejections")["b1"] == ["unsupported", "1"]
    # Planned are 3 wooden tasks and 1 of stone, one world each.
    assert shown.rows("effort")["empty"] == ["4", "4", "2", "2", "8", "0", "1", "5.00", "9", "9", "1", "0"]
    assert shown.rows("effort")["b2"] == ["4", "4", "2", "2", "2", "0", "1", "2.00", "3", "9", "0", "0"]
    assert shown.rows("parameters") == {
        each.path: [each.sha256[:16], str(each.changes), each.versions[-1].reason]
        for each in parameters()
        if each.is_recorded  # what is not is test_report_parameters' business
    }


def test_entries_are_counted_and_lead_to_their_lineage(page: str, home: Path) -> None:
    shown = Tables(page)
    named = entries_of(home)[0]
    row = shown.rows("useful")[named.entry_id[:8]]
    # Used in three episodes of counted pairs, of which the empty store failed two.
    assert row[4:11] == ["active", "3", "2", "0", "3", "3", "0"]
    assert f'id="entry-{named.entry_id}"' in page
    assert f"mineevolve knowledge explain {named.entry_id}" in page
    assert "association, not an effect" in page


def test_it_is_self_contained_and_nothing_in_it_runs(page: str) -> None:
    shown = Tables(page)
    assert not {"script", "img", "iframe", "link", "object", "embed"} & shown.tags
    assert not {name for name in shown.attributes if name.startswith("on") or name in ("src", "xlink:href")}
    # The names of SVG's vocabularies are no addresses.
    elsewhere = re.sub(r'xmlns(:xlink)?="[^"]*"', "", page)
    assert "http" not in elsewhere
    assert not re.search(r"url\((?!#)|@import", elsewhere)
    assert len(shown.ids) == len(set(shown.ids))
    assert {link[1:] for link in shown.links} <= set(shown.ids)
    assert all(link.startswith("#") for link in shown.links)
    assert not re.search(r"url\(#(?!chart\d)", page)


def test_recorded_text_never_becomes_markup(found: Findings, page: str) -> None:
    assert "<script" not in page
    assert "&lt;script&gt;alert(" in page
    lineage = found.lineages[0]
    evidence = lineage.evidence.with_columns(
        evidence_text=pl.lit('<img src=x onerror="a()">'),
        source=pl.lit("</td><b>"),
        file=pl.lit("{{ 7 * 7 }}"),
    )
    decisions = lineage.decisions.with_columns(engine=pl.lit("<i>engine</i>"))
    hostile = replace(lineage, text="</code></pre><b>{{ 7 * 7 }}", evidence=evidence, decisions=decisions)
    warned = replace(found, lineages=[hostile], warnings=("<b>warned</b>",))
    shown = rendered(warned)
    assert not {"img", "b", "i"} & Tables(shown).tags
    assert "&lt;/code&gt;&lt;/pre&gt;&lt;b&gt;{{ 7 * 7 }}" in shown


def test_the_same_data_gives_the_same_bytes_judged_or_not(home: Path, page: str, minecraft: Domain) -> None:
    out = home / "elsewhere" / "page.html"
    said = write_report(home, minecraft, SUITE, out)
    assert out.read_text(encoding="utf-8") == page
    assert said.headline in page
    for path in sorted((evaluation_home(home) / "feedback").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    write_report(home, minecraft, SUITE)
    assert report_file(home).read_bytes() == out.read_bytes()
    assert not list(out.parent.glob(".*")), "written by a rename"


def test_a_sweep_is_shown_where_a_study_wrote_one(home: Path, minecraft: Domain, page: str) -> None:
    assert "No sweep" in page
    path = misconceptions_file(home)
    rows = [
        (share, "wooden", arm, k, 10, 0.1, 0.9)
        for share in (0.0, 0.5)
        for arm, k in (("empty", 3), ("frozen", 6))
    ]
    path.parent.mkdir()
    pl.DataFrame(rows, schema=MISCONCEPTIONS, orient="row").write_parquet(path)
    try:
        swept = rendered(findings(read_arms(home, SUITE), minecraft, PieceCounter()))
    finally:
        path.unlink()
    shown = [row for row in Tables(swept).tables["misconceptions"] if row]
    assert shown[-1] == ["wooden", "50 %", "frozen", "6", "10", "60 %", "10 – 90"]
    assert "No sweep" not in swept


def test_what_weakens_a_comparison_is_said_on_top(home: Path, tmp_path: Path, minecraft: Domain) -> None:
    from shutil import copytree

    own = tmp_path / "home"
    copytree(home, own)
    publish_snapshot(own, "b2", entries_of(home)[:1])
    write(own, "b2", "stone", [Played("c", True, snapshot=None), Played("c", True, world=9)])
    found = findings(read_arms(own, SUITE), minecraft, PieceCounter())
    page = rendered(found)
    said = " ".join(found.warnings)
    assert "publishes" in said
    assert "1 episodes of build b2 have no counterpart" in said
    for warning in found.warnings:
        assert page.index(warning[:30]) < page.index('id="verdict"')


def call(home: Path, *arguments: str) -> Result:
    return CliRunner().invoke(
        app, ["report", *arguments], env={"MINEEVOLVE_DATA": str(home), "COLUMNS": "100"}
    )


def test_the_command_writes_the_page_and_says_what_it_says(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    result = call(home, "--out", str(out))
    assert result.exit_code == 0, result.output
    said = " ".join(result.output.split())
    assert "no difference that these episodes can show" in said
    assert "are stand-ins" in said
    assert result.output.rstrip().endswith(str(out))
    assert "<h1>Did frozen knowledge help?</h1>" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [([], "run `mineevolve train --build 0001`"), (["--suite", "nowhere.json"], "no suite nowhere.json")],
)
def test_without_an_evaluation_the_command_says_what_to_run(
    arguments: list[str], said: str, tmp_path: Path
) -> None:
    result = call(tmp_path / "home", *arguments)
    assert result.exit_code == 2, result.output
    assert said in " ".join(result.output.split())
    assert not (tmp_path / "home").exists()


def cells(frame: pl.DataFrame, column: Column) -> Iterator[str]:
    return (row[0] for row in Tables(str(table(frame, [column], "t"))).tables["t"] if row)


def test_cells_read_as_a_person_writes_them() -> None:
    ends = pl.DataFrame(
        {"low": [0.104, None], "high": [0.997, None]}, schema={"low": pl.Float64, "high": pl.Float64}
    )
    assert list(cells(ends.with_columns(interval("low", "high", "i")), Column("i", "I", "interval"))) == [
        "10 – 100",
        "–",
    ]
    assert list(cells(pl.DataFrame({"n": [1234567, None]}), Column("n", "N", "count"))) == ["1 234 567", "–"]
    assert list(cells(pl.DataFrame({"p": [0.0004, 0.05]}), Column("p", "P", "p"))) == ["< 0.001", "0.050"]
    assert [points(value) for value in (0.123, -0.2, -0.001, None)] == ["+12", "−20", "0", "–"]
    assert [percent(value) for value in (0.0, 1.0, None)] == ["0 %", "100 %", "–"]
