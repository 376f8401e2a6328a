"""The writer's file: one writer at a time, migrations in order, damage named."""

import multiprocessing
from multiprocessing.synchronize import Event
from pathlib import Path

import duckdb
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from warehouse.database import (
    WAREHOUSE,
    BusyError,
    DamagedDatabaseError,
    MigrationError,
    fetch,
    insert,
    migrate,
    opened,
    quoted,
    transaction,
    writer,
)

SPAWN = multiprocessing.get_context("spawn")


def _hold(home: Path, holding: Event, release: Event) -> None:
    with writer(home):
        holding.set()
        release.wait()


def _hold_without_lock(path: Path, holding: Event, release: Event) -> None:
    with opened(path):
        holding.set()
        release.wait()


def test_a_second_writer_waits_and_then_says_what_to_do(tmp_path: Path) -> None:
    holding, release = SPAWN.Event(), SPAWN.Event()
    other = SPAWN.Process(target=_hold, args=(tmp_path, holding, release))
    other.start()
    holding.wait()
    try:
        with (
            pytest.raises(BusyError, match=r"another process is writing .*warehouse\.duckdb \(waited 0\.2 s"),
            writer(tmp_path, wait_s=0.2),
        ):
            pass
        with pytest.raises(BusyError, match=r"writing .*\(waited 0\.2 s"), writer(tmp_path, wait_s=0.2):
            pass
        with pytest.raises(BusyError, match=r"Wait until .*analysis\.duckdb"), writer(tmp_path, wait_s=0):
            pass
    finally:
        release.set()
        other.join()

    with writer(tmp_path) as con:
        assert con.sql("SELECT count(*) FROM episodes").fetchall() == [(0,)]


def test_a_killed_writer_does_not_keep_the_lock(tmp_path: Path) -> None:
    holding, release = SPAWN.Event(), SPAWN.Event()
    other = SPAWN.Process(target=_hold, args=(tmp_path, holding, release))
    other.start()
    holding.wait()
    other.kill()
    other.join()

    with writer(tmp_path, wait_s=5) as con:
        assert fetch(con, "FROM builds").is_empty()


def test_a_program_that_opened_the_file_is_named(tmp_path: Path) -> None:
    with writer(tmp_path):
        pass
    holding, release = SPAWN.Event(), SPAWN.Event()
    other = SPAWN.Process(target=_hold_without_lock, args=(tmp_path / WAREHOUSE, holding, release))
    other.start()
    holding.wait()
    try:
        with pytest.raises(BusyError, match=r"another program has .* open"), writer(tmp_path):
            pass
    finally:
        release.set()
        other.join()


@pytest.mark.parametrize("content", [b"no database at all" * 1000, None])
def test_a_damaged_file_is_named_and_left_as_it_is(tmp_path: Path, content: bytes | None) -> None:
    with writer(tmp_path):
        pass
    path = tmp_path / WAREHOUSE
    path.write_bytes(content or path.read_bytes()[:7000])
    damaged = path.read_bytes()

    with pytest.raises(DamagedDatabaseError, match="mineevolve warehouse rebuild"), writer(tmp_path):
        pass

    assert path.read_bytes() == damaged


def test_migrations_are_applied_once_in_order(tmp_path: Path) -> None:
    folder = tmp_path / "migrations"
    folder.mkdir()
    (folder / "002_second.sql").write_text("ALTER TABLE things ADD COLUMN colour VARCHAR;")
    (folder / "001_first.sql").write_text("CREATE TABLE things (name VARCHAR);")
    with opened(tmp_path / "x.duckdb") as con:
        assert migrate(con, folder) == ["001_first", "002_second"]
        assert migrate(con, folder) == []
        (folder / "003_third.sql").write_text("DROP TABLE things;")
        assert migrate(con, folder) == ["003_third"]


def test_a_migration_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = tmp_path / "migrations"
    folder.mkdir()
    (folder / "001_first.sql").write_text("CREATE TABLE things (name VARCHAR); SELECT nonsense;")
    with opened(tmp_path / "x.duckdb") as con:
        with pytest.raises(duckdb.Error):
            migrate(con, folder)
        (folder / "001_first.sql").write_text("CREATE TABLE things (name VARCHAR);")
        assert migrate(con, folder) == ["001_first"]


def test_a_migration_that_changed_or_went_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "migrations"
    folder.mkdir()
    first = folder / "001_first.sql"
    first.write_text("CREATE TABLE things (name VARCHAR);")
    with opened(tmp_path / "x.duckdb") as con:
        migrate(con, folder)
        first.write_text("CREATE TABLE things (name INTEGER);")
        with pytest.raises(MigrationError, match="001_first has changed"):
            migrate(con, folder)
        first.unlink()
        with pytest.raises(MigrationError, match="does not have it"):
            migrate(con, folder)


def test_a_transaction_is_all_or_nothing(tmp_path: Path) -> None:
    with writer(tmp_path) as con:
        with pytest.raises(duckdb.Error, match="colour"), transaction(con):
            con.execute(
                "INSERT INTO builds (build, snapshot_id) VALUES ('b1', 's1'); SELECT colour FROM builds"
            )
        assert fetch(con, "FROM builds").is_empty()


def test_rows_go_in_by_name_and_strange_columns_do_not(tmp_path: Path) -> None:
    with writer(tmp_path) as con:
        insert(con, "builds", pl.DataFrame({"snapshot_id": ["s1"], "build": ["b1"]}))
        assert fetch(con, "SELECT build, snapshot_id FROM builds").rows() == [("b1", "s1")]
        with pytest.raises(duckdb.BinderException, match="colour"):
            insert(con, "builds", pl.DataFrame({"snapshot_id": ["s1"], "build": ["b2"], "colour": ["red"]}))


@given(st.text(st.characters(exclude_characters="\0", codec="utf-8")))
@example("it's")
@example("'; DROP TABLE builds; --")
def test_quoted_text_stays_one_literal(text: str) -> None:
    assert duckdb.sql(f"SELECT {quoted(text)}").fetchall() == [(text,)]
