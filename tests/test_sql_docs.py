"""docs/sql.md: every query in it runs, and it describes the columns that there are.

python -m tests.test_sql_docs DATA_HOME LOOP_HOME

writes the columns and the outputs of two published data homes: one of the recordings, one of a loop.
"""

import re
import sys
from pathlib import Path

import polars as pl
import pytest

from tests.test_fold import curate, make_home
from warehouse.analysis import VIEWS, publish, query
from warehouse.fold import rebuild

PAGE = Path(__file__).parent.parent / "docs" / "sql.md"
COLUMNS = re.compile(r"(<!-- columns of (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
TABLES = re.compile(r"(<!-- tables -->\n)(.*?)(<!-- end -->)", re.DOTALL)
EXAMPLE = re.compile(
    r"(```sql\n(.*?)```\n\n<!-- output(?: of a (?P<loop>loop))? -->\n)(?P<shown>.*?)(<!-- end -->)", re.DOTALL
)
WIDEST = 60

DESCRIBED = """
    SELECT c.column_name AS "column", c.data_type AS type, c.comment AS holds
    FROM duckdb_columns() AS c
    WHERE c.table_name = $1 AND NOT c.internal
    ORDER BY c.column_index
"""


def written(page: str, home: Path, loop: Path) -> str:
    """`page` with the columns, the tables and the outputs that the data homes have now."""
    page = COLUMNS.sub(lambda found: f"{found[1]}{described(home, found[2])}{found[4]}", page)
    page = TABLES.sub(lambda found: f"{found[1]}{listed(home)}{found[3]}", page)

    def answered(found: re.Match[str]) -> str:
        return f"{found[1]}{markdown(query(loop if found['loop'] else home, found[2]))}{found[5]}"

    return EXAMPLE.sub(answered, page)


def described(home: Path, view: str) -> str:
    """What a view answers, and its columns."""
    answers = query(home, "SELECT comment FROM duckdb_views() WHERE view_name = $1", [view]).item()
    return f"{answers}.\n\n{markdown(query(home, DESCRIBED, [view]), widest=400)}"


def listed(home: Path) -> str:
    """The tables with what a row of each is."""
    sql = 'SELECT table_name AS "table", comment AS holds FROM duckdb_tables() ORDER BY table_name'
    return markdown(query(home, sql), widest=400)


def markdown(rows: pl.DataFrame, widest: int = WIDEST) -> str:
    """`rows` as a Markdown table; long texts are cut, NULL stays empty."""
    lines = [
        rows.columns,
        ["---"] * rows.width,
        *([cell(value, widest) for value in row] for row in rows.rows()),
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def cell(value: object, widest: int) -> str:
    """One value on one line."""
    if value is None:
        return ""
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    text = f"{value:.3f}" if isinstance(value, float) else str(value)
    text = " ".join(text.replace("|", "\\|").split())
    return text if len(text) <= widest else f"{text[: widest - 1]}…"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make_home(tmp_path_factory.mktemp("data"))
    rebuild(made, curate)
    publish(made)
    return made


def examples() -> list[tuple[str, str]]:
    return [(found[2], found["shown"]) for found in EXAMPLE.finditer(PAGE.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(("sql", "output"), examples())
def test_every_query_runs_and_gives_the_columns_that_are_shown(home: Path, sql: str, output: str) -> None:
    shown = output.splitlines()[0]

    assert shown == f"| {' | '.join(query(home, sql).columns)} |"


def test_the_page_answers_at_least_fifteen_questions() -> None:
    page = PAGE.read_text(encoding="utf-8")
    parts = re.split(r"^### ", page, flags=re.MULTILINE)[1:]

    assert len(parts) >= 15
    assert all(part.partition("\n")[0].endswith("?") for part in parts)
    assert all("```sql" in part for part in parts)


def test_every_sql_block_has_its_output() -> None:
    assert PAGE.read_text(encoding="utf-8").count("```sql") == len(examples())


def test_the_page_describes_the_views_as_they_are(home: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert {found[2] for found in COLUMNS.finditer(page)} == {*VIEWS, "ticks"}
    for found in COLUMNS.finditer(page):
        assert found[3] == described(home, found[2]), f"write the page again: {__doc__}"
    for found in TABLES.finditer(page):
        assert found[2] == listed(home), f"write the page again: {__doc__}"


if __name__ == "__main__":
    given = (Path(argument) for argument in sys.argv[1:3])
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), *given), encoding="utf-8")
