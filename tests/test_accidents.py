"""A process is killed, a disk is full, a clock jumps: nothing accepted is lost, and the next run mends it."""

import errno
import os
import shutil
from pathlib import Path

import polars as pl
import pytest

from tests.faults import killed_at, points_of, refused_at
from tests.test_inbox import REAL, proposed
from tests.test_trace_store import make_feedback, make_traces
from warehouse import telemetry
from warehouse.analysis import publish, query
from warehouse.database import fetch, writer
from warehouse.fold import fold_build, rebuild, store_after
from warehouse.ids import file_digest
from warehouse.inbox import hand_in, take_in
from warehouse.repair import leftovers, sweep
from warehouse.snapshots import publish_snapshot
from warehouse.trace_store import feedback_store, trace_store
from warehouse.uncurated import uncurated_store
from warehouse.writing import WriteRefusedError

pytestmark = pytest.mark.faults

STORED = ("traces", "feedback", "log", "snapshots", "quarantine")


def gather(home: Path) -> None:
    """Everything that is written before a build is learnt from; whoever is stopped in it does it again."""
    hand_in(home, *proposed(0, 1, 2, 3))
    traces = make_traces("b1", 2)
    trace_store(home).write_source("b1", "imported", "voyage", traces)
    feedback = {"feedback": make_feedback(traces)}
    episodes = traces["episodes"]["episode_id"].to_list()
    feedback_store(home).write_source("b1", "imported", "voyage", feedback, episodes)
    take_in(home)


def learn(home: Path) -> None:
    """Everything that is written when builds are learnt from, and made anew; likewise."""
    for build in ("b1", "b2"):
        fold_build(home, build, REAL)
        publish_snapshot(home, build, store_after(home, build))
        publish_snapshot(home, build, uncurated_store(home, build), curated=False)
    rebuild(home, REAL)
    publish(home)


def begun(home: Path) -> Path:
    """A home in which other machines have handed in, in part what is no shard."""
    hand_in(home, *proposed(4, 5, 6, 7, build="b2"))
    for build in ("b1", "b2"):
        shard = home / "inbox" / build / f"{'1' * 20}.parquet"
        shard.parent.mkdir(parents=True, exist_ok=True)
        shard.write_bytes(b"no shard")
    return home


def files(home: Path) -> dict[str, str]:
    """Every file that is promised to be the same, with its hash."""
    return {
        path.relative_to(home).as_posix(): file_digest(path)
        for folder in STORED
        for path in (home / folder).rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


def held(home: Path) -> dict[str, pl.DataFrame]:
    """What the warehouse holds, and what analysts are shown of it."""
    with writer(home) as con:
        names = [name for (name,) in con.sql("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()]
        tables = {name: fetch(con, f"FROM {name} ORDER BY ALL") for name in names}
    return tables | {"shown": query(home, "FROM candidate_decisions ORDER BY ALL")}


def first_of_each(points: list[tuple[str, str]]) -> list[int]:
    """The places at which a point is reached for the first time for a sort of file; of a commit also the
    last, for the first one only makes the tables."""
    places = {point: place for place, point in reversed(list(enumerate(points)))}
    last = {place for place, (point, _) in enumerate(points[:-1]) if point == "commit"}
    return sorted({*places.values(), *sorted(last)[-1:]})


@pytest.fixture(scope="module")
def gathered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[tuple[str, str]]]:
    home = begun(tmp_path_factory.mktemp("gathered"))
    return home, points_of(gather, home)


@pytest.fixture(scope="module")
def learnt(
    gathered: tuple[Path, object], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[tuple[str, str]]]:
    home = tmp_path_factory.mktemp("learnt") / "home"
    shutil.copytree(gathered[0], home)
    return home, points_of(learn, home)


Stage = tuple[Path, list[tuple[str, str]]]


def same(home: Path, undisturbed: Path) -> None:
    assert files(home) == files(undisturbed)
    wanted, found = held(undisturbed), held(home)
    assert [name for name in wanted if not found[name].equals(wanted[name])] == []


def recovered(home: Path, number: int, kind: str) -> None:
    """After the next run nothing is left of a writer that was killed."""
    assert all(".tmp" in path.name for path in leftovers(home)), (number, kind)
    list(sweep(home))
    assert list(home.rglob(".*.tmp*")) == []


def test_work_that_is_done_twice_changes_nothing(learnt: Stage, tmp_path: Path) -> None:
    home, _ = learnt
    copy = tmp_path / "home"
    shutil.copytree(home, copy)

    gather(copy)
    learn(copy)

    same(copy, home)
    assert {entry.status for build in ("b1", "b2") for entry in store_after(home, build)} == {"active"}
    assert query(home, "FROM candidate_decisions WHERE verdict = 'accepted'").height == 8


def test_a_writer_that_is_killed_while_it_gathers_loses_nothing(gathered: Stage, tmp_path: Path) -> None:
    undisturbed, points = gathered
    for number in first_of_each(points):
        home = begun(tmp_path / f"{number}")
        killed_at(number, gather, home)

        gather(home)

        assert files(home) == files(undisturbed), points[number]
        recovered(home, number, str(points[number]))


def test_a_writer_that_is_killed_while_it_learns_loses_nothing(
    gathered: Stage, learnt: Stage, tmp_path: Path
) -> None:
    undisturbed, points = learnt
    for number in first_of_each(points):
        home = tmp_path / f"{number}"
        shutil.copytree(gathered[0], home)
        killed_at(number, learn, home)

        learn(home)

        same(home, undisturbed)
        recovered(home, number, str(points[number]))


def refusals(code: int) -> str:
    return "Make room" if code == errno.ENOSPC else "Give this user the right to write"


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS])
def test_a_refused_write_is_named_with_what_to_do_and_loses_nothing(
    gathered: Stage, tmp_path: Path, code: int
) -> None:
    undisturbed, points = gathered
    for number in first_of_each(points):
        home = begun(tmp_path / f"{number}")
        with pytest.raises(WriteRefusedError, match=refusals(code)) as refused, refused_at(number, code):
            gather(home)
        assert "\n" not in str(refused.value)
        assert "then run the same command again" in str(refused.value)

        gather(home)

        assert files(home) == files(undisturbed), points[number]


def test_so_is_one_of_the_databases(gathered: Stage, learnt: Stage, tmp_path: Path) -> None:
    undisturbed, points = learnt
    for number in first_of_each(points):
        if not points[number][1].endswith(".duckdb"):
            continue
        home = tmp_path / f"{number}"
        shutil.copytree(gathered[0], home)
        with pytest.raises(WriteRefusedError, match=r"duckdb\S* could not be written"), refused_at(number):
            learn(home)

        learn(home)

        same(home, undisturbed)


def test_a_clock_that_jumps_changes_nothing_that_is_stored(
    learnt: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hours = iter(range(10**6))

    def jumping() -> float:
        return 1.7e9 + (-1) ** next(hours) * 3.6e8

    monkeypatch.setattr("time.time", jumping)
    monkeypatch.setattr("time.time_ns", lambda: int(jumping() * 1e9))
    home = begun(tmp_path)
    gather(home)
    for path in home.rglob("*.parquet"):
        os.utime(path, (jumping(), jumping()))
    learn(home)

    same(home, learnt[0])


def test_telemetry_of_one_moment_is_kept_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time_ns", lambda: 17 * 10**17)
    rows = [{"at": telemetry.now(), "build": "b1", "seconds": 0.1, "active": 1, "retrieved": 1}]

    for _ in range(3):
        telemetry.append_retrievals(tmp_path, rows)

    assert telemetry.read_retrievals(tmp_path).height == 3
