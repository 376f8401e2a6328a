"""`mineevolve tasks` as a person uses it: proofs in a world."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner, Result

from pipeline.command import app

LOG = {
    "id": "wooden_08", "group": "wooden", "kind": "mine", "instruction": "Chop a log", "horizon_ticks": 2400,
    "any_of": ["oak_log"], "count": 1, "verifiable_by": "inventory",
}  # fmt: skip
HELMET = LOG | {"id": "armor_09", "group": "armor", "any_of": ["turtle_helmet"]}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return written(tmp_path, LOG, HELMET | {"verifiable_by": "unreachable", "note": "needs five scutes"})


def written(folder: Path, *tasks: dict[str, Any]) -> Path:
    path = folder / "suite.json"
    body = {"source": "test", "ticks_per_minute": 1200, "rule": "test", "tasks": list(tasks)}
    path.write_text(json.dumps(body))
    return path


def lint(suite: Path, *options: str) -> Result:
    arguments = ["tasks", "lint", str(suite), "--seeds", "1", "--workers", "0", *options]
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "100", "MINEEVOLVE_DATA": str(suite.parent)})


@pytest.mark.parametrize("name", ["proofs.parquet", "proofs.json"])
def test_what_can_be_done_is_proved_and_what_cannot_stays_so(suite: Path, name: str) -> None:
    out = suite.parent / name
    result = lint(suite, "--world", "techtree", "--out", str(out))
    said = " ".join(result.output.split())
    assert result.exit_code == 0, result.output
    assert "1 of 2 tasks can be done on a majority of 1 seeds (1 of 1 proofs); 1 are unreachable" in said
    assert "scute comes from nothing in this world" in said
    table = [line for line in result.output.splitlines() if line.startswith(" ")]
    assert 0 < max(map(len, table)) <= 100
    proofs = pl.read_parquet(out) if out.suffix == ".parquet" else pl.read_json(out)
    assert proofs.select("task_id", "solved").rows() == [("armor_09", False), ("wooden_08", True)]


def test_a_task_that_claims_to_be_reachable_and_is_not_fails(tmp_path: Path) -> None:
    result = lint(written(tmp_path, LOG | {"horizon_ticks": 20}, HELMET), "--world", "techtree")
    assert result.exit_code == 1
    assert "armor_09, wooden_08" in " ".join(result.output.split())


def test_group_and_task_choose(suite: Path) -> None:
    result = lint(suite, "--world", "techtree", "--group", "wooden", "--task", "wooden_08")
    assert result.exit_code == 0, result.output
    assert "1 of 1 tasks" in result.output
    assert "armor_09" not in result.output


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--world", "nether"], "techtree"),
        (["--group", "copper"], "there are: wooden, armor"),
        (["--group", "wooden", "--task", "armor_09"], "no task armor_09"),
        (["--world", "techtree", "--out", "proofs.csv"], ".parquet or .json"),
        (["--out", "proofs.json"], "--world"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(suite: Path, options: list[str], said: str) -> None:
    result = lint(suite, *options)
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())
