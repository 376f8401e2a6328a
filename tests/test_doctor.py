"""`mineevolve doctor --repair`: what can be mended without loss is, and the rest is named with what to do."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rollouts.judging import judge_source
from tests.faults import CHILDREN, killed_at, points_of
from tests.test_accidents import begun, files, first_of_each, gather, held, learn
from tests.test_command import call, words
from tests.test_inbox import REAL, proposed
from warehouse import log, telemetry
from warehouse.analysis import ANALYSIS
from warehouse.database import WAREHOUSE, exclusive, lock_of
from warehouse.domains import Domain
from warehouse.entries import TryOut
from warehouse.inbox import hand_in, take_in
from warehouse.repair import mend_log, mend_pointers, mend_warehouse
from warehouse.snapshots import list_snapshots, pointer, published_snapshot
from warehouse.trace_store import feedback_store
from warehouse.writing import writer_name

pytestmark = pytest.mark.faults


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, minecraft: Domain) -> Path:
    home = begun(tmp_path_factory.mktemp("whole"))
    gather(home)
    judge_source(home, minecraft, "b1", "imported", "voyage")
    telemetry.append_retrievals(
        home, [{"at": telemetry.now(), "build": "b1", "seconds": 0.1, "active": 1, "retrieved": 1}]
    )
    learn(home)
    return home


@pytest.fixture
def home(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "home"))


def garbage(path: Path) -> None:
    path.write_bytes(b"this is not what it was")


def half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def gone(path: Path) -> None:
    path.unlink()


def same(home: Path, whole: Path) -> None:
    """The home is what it was, but for what is kept in quarantine beside it."""
    assert {name: one for name, one in files(home).items() if not name.startswith("quarantine/")} == {
        name: one for name, one in files(whole).items() if not name.startswith("quarantine/")
    }
    wanted, found = held(whole), held(home)
    assert [name for name in wanted if not found[name].equals(wanted[name])] == []


def kept(home: Path) -> list[bytes]:
    """The content of what is kept in quarantine."""
    return [path.read_bytes() for path in (home / "quarantine").rglob("*") if path.is_file()]


def test_nothing_is_touched_where_nothing_is_wrong(home: Path, whole: Path) -> None:
    result = call(home, "doctor", "--repair")

    assert result.exit_code == 0, result.output
    assert "mended" not in result.output
    assert files(home) == files(whole)


@pytest.mark.parametrize("harm", [garbage, half, gone])
def test_a_damaged_warehouse_is_made_anew(home: Path, whole: Path, harm: Callable[[Path], None]) -> None:
    harm(home / WAREHOUSE)
    found = call(home, "doctor")
    assert found.exit_code == 1
    assert "`mineevolve warehouse rebuild` makes it anew" in words(found)

    repaired = call(home, "doctor", "--repair")

    assert repaired.exit_code == 0, repaired.output
    assert "made anew from the shards" in words(repaired)
    same(home, whole)


def test_one_with_damage_in_the_middle_is_found_too(home: Path, whole: Path) -> None:
    path = home / WAREHOUSE
    content = bytearray(path.read_bytes())
    for place in range(len(content) // 3, len(content) - 8, 4096):
        content[place : place + 8] = b"\xff" * 8
    path.write_bytes(content)
    assert call(home, "doctor").exit_code == 1

    assert call(home, "doctor", "--repair").exit_code == 0

    same(home, whole)


@pytest.mark.parametrize("harm", [garbage, gone])
@pytest.mark.parametrize("name", ["entries.parquet", "support.parquet", "manifest.json"])
def test_a_damaged_snapshot_is_frozen_anew_under_its_id(
    home: Path, whole: Path, name: str, harm: Callable[[Path], None]
) -> None:
    for folder in list_snapshots(home):
        harm(folder / name)
    found = call(home, "doctor")
    assert found.exit_code == 1
    assert "`mineevolve doctor --repair`" in words(found)

    repaired = call(home, "doctor", "--repair")

    assert repaired.exit_code == 0, repaired.output
    assert words(repaired).count("frozen anew, with the same id") == len(list_snapshots(whole))
    same(home, whole)
    if harm is garbage:
        assert b"this is not what it was" in kept(home)


def test_snapshots_and_warehouse_are_mended_together(home: Path, whole: Path) -> None:
    for folder in list_snapshots(home):
        garbage(folder / "entries.parquet")
    for name in (WAREHOUSE, ANALYSIS):
        garbage(home / name)

    repaired = call(home, "doctor", "--repair")

    assert repaired.exit_code == 0, repaired.output
    same(home, whole)


def test_a_snapshot_that_nothing_gives_again_stays_and_is_named(home: Path) -> None:
    """One of an earlier generation: its build has learnt otherwise since."""
    (old,) = {published_snapshot(home, "b1")}
    hand_in(home, *proposed(8, 9))
    take_in(home)
    learn(home)
    folder = home / "snapshots" / str(old)
    garbage(folder / "entries.parquet")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    repaired = call(home, "doctor", "--repair")

    assert repaired.exit_code == 1
    assert "not mended" in repaired.output
    assert "`mineevolve run --build BUILD`" in words(repaired)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("harm", [garbage, half, gone])
@pytest.mark.parametrize("kind", ["candidates", "imports", "put_aside"])
def test_a_lost_shard_of_the_log_is_written_again_from_the_warehouse(
    home: Path, whole: Path, kind: str, harm: Callable[[Path], None]
) -> None:
    shard = next(one for one in log.shards(home) if one.kind == kind)
    harm(shard.path)
    found = call(home, "doctor")
    assert found.exit_code == 1
    assert shard.path.name in words(found)

    repaired = call(home, "doctor", "--repair")

    assert repaired.exit_code == 0, repaired.output
    assert "written again from the warehouse, with the same id" in words(repaired)
    same(home, whole)
    assert len(kept(home)) == len(kept(whole)) + (harm is not gone)


def test_the_published_copy_serves_where_the_warehouse_is_damaged_too(home: Path, whole: Path) -> None:
    garbage(next(one.path for one in log.shards(home) if one.kind == "candidates"))
    garbage(home / WAREHOUSE)

    repaired = call(home, "doctor", "--repair")

    assert repaired.exit_code == 0, repaired.output
    same(home, whole)


def test_a_shard_that_nothing_holds_stays_and_is_named(home: Path) -> None:
    hand_in(home, *proposed(8, 9))
    take_in(home)
    folded = set(files(home)) & {one.path.relative_to(home).as_posix() for one in log.shards(home)}
    for name in (WAREHOUSE, ANALYSIS):
        assert (home / name).exists()
    (new,) = [one for one in log.shards(home) if one.kind == "candidates" and _rows(one) == 2]
    garbage(new.path)

    repaired = call(home, "doctor", "--repair")

    assert repaired.exit_code == 1
    assert str(new.path) in words(repaired)
    assert "`mineevolve run --build b1`" in words(repaired)
    assert new.path.read_bytes() == b"this is not what it was"
    assert folded <= set(files(home))


def test_of_lost_try_outs_it_is_said_that_learning_plays_them_anew(home: Path) -> None:
    row = {"entry_id": "e", "situation": "s", "episode_id": "x", "world_seed": 0, "arm": "with"}
    tried = TryOut(**row, success=True, lead=0, ticks=9)
    shard = log.append(home, "tryouts", "b1", log.tryout_rows("b1", [tried]))
    assert shard is not None
    garbage(shard)

    (found,) = mend_log(home)

    assert not found.mended
    assert "`mineevolve run --build b1` learns the build again and plays them anew" in found.said


def _rows(shard: log.LogShard) -> int:
    return log.read_shard(shard).height


def test_damaged_feedback_is_judged_again(home: Path, whole: Path) -> None:
    (shard,) = _listed_feedback(home)
    garbage(shard)
    found = call(home, "doctor")
    assert found.exit_code == 1
    assert "`mineevolve doctor --repair`" in words(found)

    repaired = call(home, "doctor", "--repair")

    assert repaired.exit_code == 0, repaired.output
    assert "judged again from the trajectories, the same" in words(repaired)
    same(home, whole)


def _listed_feedback(home: Path) -> list[Path]:
    return [shard.path for part in feedback_store(home).parts() for shard in part.shards]


def test_damaged_trajectories_are_named_and_left(home: Path) -> None:
    shard = next((home / "traces").rglob("attempts/*.parquet"))
    garbage(shard)
    garbage(_listed_feedback(home)[0])

    repaired = call(home, "doctor", "--repair")

    assert repaired.exit_code == 1
    assert str(shard) in words(repaired)
    assert "`mineevolve ingest FOLDER` writes it anew" in words(repaired)
    assert "its trajectories are damaged, too" in words(repaired)
    assert shard.read_bytes() == b"this is not what it was"


@pytest.mark.parametrize("curated", [True, False])
def test_a_build_whose_pointer_is_damaged_publishes_again(home: Path, whole: Path, curated: bool) -> None:
    garbage(pointer(home, "b1", curated))
    assert call(home, "doctor").exit_code == 1

    repaired = call(home, "doctor", "--repair")

    assert repaired.exit_code == 0, repaired.output
    same(home, whole)


def test_damaged_telemetry_is_put_out_of_the_way(home: Path) -> None:
    (path,) = telemetry.telemetry_files(home)
    garbage(path)
    assert call(home, "doctor").exit_code == 1

    assert call(home, "doctor", "--repair").exit_code == 0

    assert not path.exists()
    assert b"this is not what it was" in kept(home)


def test_what_killed_writers_left_goes_and_what_others_write_stays(home: Path) -> None:
    killed_at(1, _write, home)
    (left,) = home.rglob(".*.tmp*")
    machine = writer_name().partition("-")[0]
    living = left.with_name(f".x.parquet.{machine}-{os.getpid()}.tmp")
    elsewhere = left.with_name(".x.parquet.00000000-1.tmp")
    for path in (living, elsewhere):
        path.write_bytes(b"half")

    assert "1 files of killed writers" in words(call(home, "doctor"))
    repaired = call(home, "doctor", "--repair")

    assert repaired.exit_code == 0
    assert "1 files that killed writers left half written: removed" in words(repaired)
    assert not left.exists()
    assert living.exists() and elsewhere.exists()  # noqa: PT018


def mend_store(home: Path) -> None:
    """What a repair writes."""
    for mending in (mend_log(home), mend_warehouse(home, REAL, "damaged"), mend_pointers(home)):
        list(mending)


def test_a_repair_that_is_killed_is_finished_by_the_next_one(whole: Path, tmp_path: Path) -> None:
    harmed = Path(shutil.copytree(whole, tmp_path / "harmed"))
    garbage(next(one.path for one in log.shards(harmed) if one.kind == "candidates"))
    for folder in list_snapshots(harmed):
        garbage(folder / "entries.parquet")
    garbage(pointer(harmed, "b1"))
    garbage(harmed / WAREHOUSE)
    points = points_of(mend_store, shutil.copytree(harmed, tmp_path / "undisturbed"))
    assert {point for point, _ in points} >= {"begun", "written", "moved", "put aside", "commit"}
    for number in first_of_each(points):
        home = Path(shutil.copytree(harmed, tmp_path / f"{number}"))
        killed_at(number, mend_store, home)

        mend_store(home)

        same(home, whole)


def _write(home: Path) -> None:
    hand_in(home, *proposed(8))


def _hold(home: Path, holding) -> None:  # type: ignore[no-untyped-def]
    with exclusive(lock_of(home), "it"):
        holding.set()
        time.sleep(600)


def test_nothing_is_repaired_while_somebody_writes_and_a_stale_lock_keeps_nobody(home: Path) -> None:
    holding = CHILDREN.Event()
    other = CHILDREN.Process(target=_hold, args=(home, holding))
    other.start()
    holding.wait()
    busy = call(home, "doctor", "--repair")
    assert busy.exit_code == 1
    assert "Wait until that run has ended" in words(busy)
    assert len(busy.output.splitlines()) == 1
    assert other.pid is not None
    os.kill(other.pid, signal.SIGKILL)
    other.join()

    assert lock_of(home).exists()
    assert call(home, "doctor", "--repair").exit_code == 0


LIMITED = """
import os, resource, sys, tempfile
from typer.testing import CliRunner
from pipeline.command import app
# Once well and once not, so that everything is loaded before it cannot be any more.
for command in ("warehouse rebuild", "snapshot verify"):
    CliRunner().invoke(app, command.split(), env={{"MINEEVOLVE_DATA": tempfile.mkdtemp()}})
{limit}
sys.argv = ["mineevolve", "warehouse", "rebuild"]
app()
"""


def _limited(home: Path, limit: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"MINEEVOLVE_DATA": str(home), "COLUMNS": "100"}
    return subprocess.run(
        [sys.executable, "-c", LIMITED.format(limit=limit)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("most", [50_000, 300_000, 1_000_000])
def test_a_file_that_may_not_grow_any_more_is_named_in_one_line(home: Path, whole: Path, most: int) -> None:
    """The system's own refusal, in the middle of what DuckDB writes. Closing a database says nothing of it:
    what did not fit would be missing from the file that takes the old one's place."""
    result = _limited(home, f"resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, {most}))")

    assert result.returncode == 1
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr
    assert "could not be written: file too large" in result.stderr
    assert "then run the same command again" in result.stderr
    same(home, whole)


def test_a_folder_that_may_not_be_written_to_is_named_in_one_line(whole: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        shutil.copytree(whole, home)
        for path in (Path(folder), home, *home.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        try:
            result = _limited(home, "os.geteuid() or os.setuid(65534)")
        finally:
            for path in (Path(folder), home, *home.rglob("*")):
                path.chmod(0o755 if path.is_dir() else 0o644)

        assert result.returncode == 1
        assert len(result.stderr.strip().splitlines()) == 1, result.stderr
        assert "could not be written: permission denied" in result.stderr
        assert "or name another data home in MINEEVOLVE_DATA" in result.stderr
        same(home, whole)
