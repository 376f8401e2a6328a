"""An analyst in a process of their own: they never block a build, and a build never breaks their query."""

import multiprocessing
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path

import duckdb
import pytest

from tests.test_command import call, words
from tests.test_fold import cited, curate, make_home
from tests.test_log import skill
from warehouse import log
from warehouse.analysis import ANALYSIS, publish, query
from warehouse.fold import fold_build, rebuild

SPAWN = multiprocessing.get_context("spawn")
COUNT = "SELECT count(*) FROM knowledge_growth JOIN builds USING (build), ticks"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = make_home(tmp_path)
    rebuild(made, curate)
    publish(made)
    return made


def _analyst(home: Path, line: Connection, read_only: bool) -> None:
    """Keeps one connection with a query half read and asks it again and again until told to stop."""
    with closing(duckdb.connect(home / ANALYSIS, read_only=read_only)) as con:
        half_read = con.cursor().execute("SELECT tick FROM ticks")
        half_read.fetchmany(5)
        seen = {con.sql(COUNT).fetchall()[0][0]}
        line.send("reading")
        asked = 0
        while not line.poll():
            seen.add(con.sql(COUNT).fetchall()[0][0])
            asked += 1
        line.recv()
        line.send((seen, asked, 5 + len(half_read.fetchall())))


@pytest.mark.parametrize("read_only", [True, False], ids=["read-only", "open to write"])
def test_a_build_and_an_analyst_do_not_meet(home: Path, read_only: bool) -> None:
    ticks = query(home, "SELECT count(*) FROM ticks").item()
    ours, theirs = SPAWN.Pipe()
    analyst = SPAWN.Process(target=_analyst, args=(home, theirs, read_only))
    analyst.start()
    try:
        assert ours.poll(120)
        assert ours.recv() == "reading"

        for target in ("torch", "bowl", "ladder"):
            learnt = skill("b2", target=target, support=cited("b2", 0, 1))
            log.append(home, "candidates", "b2", log.candidate_rows([learnt]))
            # Nobody is waited for: a lock that the analyst held would end this at once.
            fold_build(home, "b2", curate, wait_s=0)
            publish(home, wait_s=0)

        assert query(home, "SELECT count(*) FROM knowledge").item() == 5
        ours.send("stop")
        assert ours.poll(120)
        seen, asked, read = ours.recv()
    finally:
        analyst.join(30)
        analyst.kill()
    assert seen == {2 * ticks}, "an open connection goes on with what it opened"
    assert asked > 0
    assert read == ticks


def _holds(path: Path, line: Connection) -> None:
    with closing(duckdb.connect(path)):
        line.send("open")
        line.recv()


def test_a_file_that_somebody_opened_to_write_is_not_called_damaged(home: Path) -> None:
    ours, theirs = SPAWN.Pipe()
    other = SPAWN.Process(target=_holds, args=(home / ANALYSIS, theirs))
    other.start()
    try:
        assert ours.poll(120)
        ours.recv()
        result = call(home, "sql", "FROM knowledge_growth")
        assert result.exit_code == 1
        assert "open to write" in words(result)
        assert "damaged" not in result.output
    finally:
        ours.send("close")
        other.join(30)
        other.kill()
    assert call(home, "sql", "FROM knowledge_growth").exit_code == 0
