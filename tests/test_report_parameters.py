"""The record of parameter files: no change goes unseen."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from prompts.engines.beliefs import SETTINGS_FILE
from rollouts.report.parameters import ROOT, parameters, recorded
from rollouts.worlds.techtree.settings import PARAMETERS
from warehouse.ids import file_digest
from warehouse.tryouts import FILE as TRYOUTS_FILE


def test_every_parameter_file_is_in_the_state_that_was_recorded_last() -> None:
    """Who changes one adds its new hash and the reason to rollouts/parameters.toml."""
    found = parameters()
    assert {ROOT / each.path for each in found} == {PARAMETERS, SETTINGS_FILE, TRYOUTS_FILE}
    for each in found:
        assert each.is_recorded, (
            f"{each.path} now has sha256 {each.sha256}: add it to rollouts/parameters.toml"
        )
        assert each.changes == len(each.versions) - 1
        assert len({version.sha256 for version in each.versions}) == len(each.versions)


def test_the_figures_of_a_world_concern_those_who_played_there() -> None:
    own = {each.path: each.concerns({"techtree"}) for each in parameters()}
    assert set(own.values()) == {True}
    assert [path for path in own if PARAMETERS.samefile(ROOT / path)] == [
        each.path for each in parameters() if not each.concerns({"crafter", None})
    ]


def record(folder: Path, *hashes: str) -> Path:
    path = folder / "parameters.toml"
    versions = "".join(f'\n[[files.versions]]\nsha256 = "{each}"\nreason = "r"\n' for each in hashes)
    path.write_text(f'[[files]]\npath = "p.toml"\n{versions}')
    recorded.cache_clear()
    return path


def test_changes_are_counted_whether_they_were_recorded_or_not(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text("a = 1\n")
    own, other = file_digest(tmp_path / "p.toml"), "0" * 64
    counted = [
        (each.changes, each.is_recorded)
        for hashes in ((own,), (other, own), (other,), (own, other))
        for each in parameters(record(tmp_path, *hashes), tmp_path)
    ]
    # The last one was put back by hand: its state is not the one that the record ends with.
    assert counted == [(0, True), (1, True), (1, False), (2, False)]


def test_a_record_without_a_hash_is_refused(tmp_path: Path) -> None:
    for hashes in ((), ("abc",)):
        with pytest.raises(ValidationError):
            parameters(record(tmp_path, *hashes), tmp_path)
