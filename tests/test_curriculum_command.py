"""`mineevolve curriculum` as a person uses it."""

from pathlib import Path

import pytest
from typer.testing import Result

from rollouts.evaluation import EMPTY, FROZEN, NOBODY, evaluation_home
from rollouts.lineage import TRAINING, episodes_of
from tests.small_curriculum import small_settings
from tests.test_command import call, words
from tests.test_loop import shards
from warehouse.snapshots import published_snapshot


def curriculum(home: Path, *arguments: str) -> Result:
    own = str(home.parent / "curricula")
    return call(home, "curriculum", *arguments, MINEEVOLVE_CURRICULA=own)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    home = small_settings(tmp_path_factory.mktemp("curriculum")).home
    return home, curriculum(home, "run", "small", "--builds", "2", "--workers", "0")


def test_run_makes_the_builds_and_asks_every_snapshot_in_a_home_of_its_own(run: tuple[Path, Result]) -> None:
    home, result = run
    assert result.exit_code == 0, result.output
    own = home / "curricula" / "small"
    assert not (home / "traces").exists()
    for build in ("0001", "0002"):
        assert episodes_of(own, build, "wooden", TRAINING).height == 3
        frozen = episodes_of(evaluation_home(own), build, "wooden", FROZEN)
        assert frozen["snapshot_id"].to_list() == [published_snapshot(own, build)] * 2
    assert episodes_of(evaluation_home(own), NOBODY, "wooden", EMPTY).height == 2
    assert "stand-ins" in result.output
    assert (own / "report" / "index.html").is_file()


def test_run_again_plays_nothing_and_changes_nothing(run: tuple[Path, Result]) -> None:
    home, _ = run
    before = shards(home / "curricula" / "small")
    again = curriculum(home, "run", "small", "--builds", "2", "--workers", "0")
    assert again.exit_code == 0, again.output
    assert shards(home / "curricula" / "small") == before


def test_a_curriculum_that_was_changed_after_it_was_begun_is_refused(run: tuple[Path, Result]) -> None:
    home, _ = run
    path = home.parent / "curricula" / "small.toml"
    text = path.read_text(encoding="utf-8")
    try:
        path.write_text(text.replace("episodes = 3", "episodes = 4"), encoding="utf-8")
        result = curriculum(home, "run", "small")
        assert result.exit_code == 2
        assert "was begun as something else" in words(result)
    finally:
        path.write_text(text, encoding="utf-8")


def test_list_show_and_check_speak_of_ones_own_and_of_mistakes(tmp_path: Path) -> None:
    home = small_settings(tmp_path).home
    listed = words(curriculum(home, "list"))
    assert "small 3 8" in listed
    assert "nightly 1 and so on 70" in listed
    shown = words(curriculum(home, "show", "small"))
    assert "2 3 6 no wooden 3" in shown
    assert "wooden_06" in curriculum(home, "show", "small", "--build", "3").output
    assert curriculum(home, "show", "small", "--build", "4").exit_code == 2
    assert curriculum(home, "check").exit_code == 0
    (tmp_path / "curricula" / "bad.toml").write_text("doc = 3", encoding="utf-8")
    checked = curriculum(home, "check")
    assert checked.exit_code == 1
    assert "bad.toml: " in checked.output
    assert "curricula with a mistake in them: 1" in words(checked)
    assert "bad" in curriculum(home, "list").output
    unknown = curriculum(home, "run", "nothing")
    assert unknown.exit_code == 2
    assert "no curriculum nothing; there are: accumulation" in words(unknown)
    assert not home.exists()
