"""`mineevolve sql`: what is printed, what is written, and what is said when it cannot be."""

import json
from pathlib import Path

import polars as pl
import pytest

from tests.test_command import call, words
from tests.test_pipeline import recordings, run


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("sql")
    run(root / "home", [recordings(root / "run")])
    return root / "home"


@pytest.mark.parametrize(
    ("ending", "read"), [("csv", pl.read_csv), ("parquet", pl.read_parquet), ("json", pl.read_json)]
)
def test_sql_writes_files(home: Path, tmp_path: Path, ending: str, read) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / f"out.{ending}"
    result = call(home, "sql", "SELECT 1 AS one, 'x' AS two", "--output", str(path))
    assert result.exit_code == 0, result.output
    assert read(path).rows() == [(1, "x")]


def test_sql_prints_all_rows_into_a_pipe(home: Path) -> None:
    text = "SELECT range AS number, [range] AS list FROM range(150)"
    as_json = json.loads(call(home, "sql", text, "--format", "json").output)
    assert as_json == [{"number": number, "list": [number]} for number in range(150)]
    as_csv = call(home, "sql", text, "--format", "csv").output
    assert pl.read_csv(as_csv.encode()).rows()[149] == (149, "[149]")
    as_parquet = call(home, "sql", text, "--format", "parquet").stdout_bytes
    assert pl.read_parquet(as_parquet)["list"].to_list()[149] == [149]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("SELECT 1", "--format", "xml"), "use table, csv, json or parquet"),
        (("SELECT 'a'::BLOB AS data", "--format", "csv"), "bytes in column 'data'"),
        ((), "harlequin needs a terminal; ask with a query"),
    ],
)
def test_sql_says_in_one_line_what_cannot_be_printed(
    home: Path, arguments: tuple[str, ...], said: str
) -> None:
    result = call(home, "sql", *arguments)
    assert result.exit_code == 2
    assert said in words(result)


def test_without_harlequin_a_query_is_what_there_is(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.command.ask.find_spec", lambda name: None)
    result = call(home, "sql")
    assert result.exit_code == 2
    assert "harlequin is not installed" in words(result)
    assert call(home, "sql", "FROM failure_mix").exit_code == 0


def test_sql_errors_are_one_line_and_nothing_is_written(home: Path) -> None:
    result = call(home, "sql", "SELECT nonsense FROM failure_mix")
    assert result.exit_code == 1
    assert "nonsense" in result.output
    assert "Traceback" not in result.output
    assert call(home, "sql", "DROP VIEW failure_mix").exit_code == 1
    assert call(home, "sql", "FROM failure_mix").exit_code == 0


def test_sql_before_the_first_run_says_what_to_do(tmp_path: Path) -> None:
    result = call(tmp_path, "sql", "SELECT 1")
    assert result.exit_code == 2
    assert "mineevolve run" in result.output


def test_sql_refuses_what_gives_no_rows(home: Path) -> None:
    for text in ("", "  ", ";", "/* nothing */", "SET threads = 1"):
        result = call(home, "sql", text)
        assert result.exit_code == 2, text
        assert "the query" in result.output


def test_sql_prints_every_type_and_every_name_as_it_is(home: Path) -> None:
    result = call(
        home,
        "sql",
        'SELECT INTERVAL 90 MINUTE AS "[/x]", \':x: a:x:b\' AS ":x:", [INTERVAL 1 DAY] AS days, '
        "union_value(a := 1) AS one, TIME '10:00' AS one, TIMESTAMPTZ '2020-01-01 00:00+00' AS at",
    )
    assert result.exit_code == 0, result.output
    for said in ("01:30:00", "[/x]", ":x: a:x:b", "1 day", "10:00:00", "2020-01-01 00:00:00+00:00"):
        assert said in words(result)


def test_sql_writes_lists_into_a_csv_file_as_json(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    text = "SELECT [{'name': 'é', 'count': 1}] AS items, NULL::INTEGER[] AS none, INTERVAL 1 DAY AS d"
    assert call(home, "sql", text, "--output", str(path)).exit_code == 0
    row = pl.read_csv(path).row(0)
    assert (json.loads(row[0]), *row[1:]) == ([{"name": "é", "count": 1}], None, "1 day")


@pytest.mark.parametrize(
    ("text", "output", "code", "said"),
    [
        ("SELECT 1", "no/such/out.csv", 2, "there is no folder"),
        ("SELECT 1", "out.xlsx", 2, "use .csv, .parquet or .json"),
        ("SELECT 1", "folder.csv", 1, "is a directory"),
        ("SELECT 'a'::BLOB AS data", "out.csv", 2, "bytes in column 'data'"),
        ("SELECT ['a'::BLOB] AS data", "out.json", 2, "bytes in column 'data'"),
    ],
)
def test_sql_says_why_a_file_cannot_be_written(
    home: Path, tmp_path: Path, text: str, output: str, code: int, said: str
) -> None:
    (tmp_path / "folder.csv").mkdir()
    result = call(home, "sql", text, "--output", str(tmp_path / output))
    assert result.exit_code == code
    assert said in words(result)
