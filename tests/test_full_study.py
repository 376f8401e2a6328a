"""All studies in one job, on curricula that are played in seconds: what is played, stored and shown."""

import re
import shutil
from pathlib import Path

import dagster as dg
import pytest
from scipy.stats import binomtest
from typer.testing import Result

from assets.resources import DataHome
from assets.studies import studies_ask_in_new_worlds
from pipeline import launch
from pipeline.definitions import definitions
from pipeline.full_study import Scale, ScaleError, curricula, scale_row, scales, size
from pipeline.settings import Settings
from rollouts.evaluation import NOBODY, evaluation_home
from rollouts.exercise import STAND_INS
from rollouts.studies.plan import NotMadeError, course_home, filed_as, read_figures, read_plan, studies_home
from rollouts.studies.playing import episodes_with
from tests.test_command import call, words
from tests.test_loop import shards
from warehouse import telemetry
from warehouse.snapshots import published_snapshot

TINY = """
doc = "A few episodes."
planners = 2
horizon_cap = 300

[[builds]]
repeat = {builds}
play = [{{ groups = ["wooden"], tasks = ["wooden_06", "wooden_10"], episodes = {episodes} }}]

[evaluate]
groups = ["wooden"]
tasks = {asked}
"""
NAMES = ("accumulation", "diamond_only", "pretrain_freeze", "mixed")


def tiny_settings(folder: Path) -> Settings:
    """Settings whose curricula of the studies' names are played in seconds."""
    own = folder / "curricula"
    own.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        builds, episodes = (2, 40) if name == "accumulation" else (1, 20)
        asked = '["wooden_06", "wooden_10"]' if name == "accumulation" else '["wooden_06"]'
        text = TINY.format(builds=builds, episodes=episodes, asked=asked)
        (own / f"{name}.toml").write_text(text, encoding="utf-8")
    return Settings(data=folder / "home", curricula=own, workers=0)


def study(settings: Settings, *arguments: str) -> Result:
    return call(settings.home, "study", "full", *arguments, MINEEVOLVE_CURRICULA=str(settings.curricula))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Settings, Result]:
    settings = tiny_settings(tmp_path_factory.mktemp("studies"))
    return settings, study(settings, "--scale", "small", "--workers", "0")


def test_the_job_makes_the_curricula_and_asks_every_checkpoint(made: tuple[Settings, Result]) -> None:
    settings, result = made
    assert result.exit_code == 0, result.output
    plan = read_plan(settings.home, "small")
    own = studies_home(settings.home, "small")
    assert [course.name for course in plan.courses] == list(NAMES)
    # 0.05 of 40 and of 20 episodes
    assert [point.episodes for point in plan.accumulation.checkpoints] == [2, 4]
    assert [course.total for course in plan.compared] == [1, 1, 1]
    for course in plan.courses:
        for point in course.checkpoints:
            assert published_snapshot(course_home(own, course.name), point.build) == point.snapshot_id
            frozen = episodes_with(own, filed_as(course, point), course.tasks)
            assert frozen["snapshot_id"].unique().to_list() == [point.snapshot_id]
            assert frozen["task_id"].to_list() == ["wooden_06"]  # one task of each group
            assert frozen["agent"].unique().to_list() == ["full"]
    last = plan.accumulation.last
    without = episodes_with(own, filed_as(plan.accumulation, last, "skills_only"), ["wooden_06"])
    assert without["snapshot_id"].unique().to_list() == [last.snapshot_id]
    assert without["agent"].unique().to_list() == ["skills_only"]
    assert episodes_with(own, NOBODY, ["wooden_06"]).height == 1
    assert not (settings.home / "traces").exists()
    asked = size(settings, "small")
    assert asked.training == 7
    assert asked.evaluation == 7  # 2 + 3 checkpoints, the last one without remedies, the empty store


def test_every_study_has_k_n_and_intervals(made: tuple[Settings, Result]) -> None:
    settings, _ = made
    for name, rows in (("accumulation", 3), ("curricula", 4), ("endings", 3 + 6), ("remedies", 1)):
        table = read_figures(settings.home, "small", name)
        assert table.height == rows, name
        for row in table.iter_rows(named=True):
            known = binomtest(row["k"], row["n"]).proportion_ci(method="wilson")
            assert (row["low"], row["high"]) == pytest.approx((known.low, known.high))
            assert row["n"] == 1
    cold = read_figures(settings.home, "small", "curricula").filter(curriculum="cold_start")
    own = studies_home(settings.home, "small")
    assert cold["k"].to_list() == [int(episodes_with(own, NOBODY, ["wooden_06"])["success"].sum())]
    assert cold["difference"].to_list() == [None]


def test_overhead_is_read_from_what_was_stored(made: tuple[Settings, Result]) -> None:
    settings, _ = made
    own = studies_home(settings.home, "small")
    rows = read_figures(settings.home, "small", "overhead")
    assert rows["episodes"].to_list() == [0, 2, 4]
    assert rows.select("skills", "remedies").row(0) == (0, 0)
    assert rows["tokens"][0] == 0
    assert (rows["prompts"] >= 1).all()
    assert (rows["calls"] >= 1).all()
    timed = telemetry.read_retrievals(own).group_by("build").len()
    counted = dict(timed.iter_rows())
    assert rows["retrievals"].to_list() == [
        counted[NOBODY], counted["accumulation-0001"], counted["accumulation-0002"]
    ]  # fmt: skip
    assert (rows["median_ms"] > 0).all()


def test_the_page_and_the_assets_show_all_studies(made: tuple[Settings, Result]) -> None:
    settings, result = made
    page = (studies_home(settings.home, "small") / "report" / "index.html").read_text(encoding="utf-8")
    sections = re.findall(r'<section id="(\w+)">(.*?)</section>', page, re.DOTALL)
    assert [name for name, _ in sections] == ["accumulation", "curricula", "remedies", "overhead"]
    for name, text in sections:
        assert "<svg" in text, name
        assert "<table" in text, name
        assert STAND_INS in text, name
    assert "far too few episodes" in page
    assert "<script" not in page
    assert "stand-ins" in result.output
    with dg.DagsterInstance.from_config(str(launch.prepare(settings))) as instance:
        for asset in (
            "accumulation_curve",
            "curriculum_comparison",
            "remedy_effectiveness",
            "knowledge_overhead",
        ):
            event = instance.get_latest_materialization_event(dg.AssetKey(asset))
            assert event is not None
            assert event.asset_materialization is not None
            said = event.asset_materialization.metadata
            assert str(said["figure"].value).startswith("![")
            assert STAND_INS in str(said["figure"].value)
            assert said["note"].value == STAND_INS
            table, schema = said["table"], said["dagster/column_schema"]
            assert isinstance(table, dg.TableMetadataValue)
            assert len(table.records) == said["dagster/row_count"].value
            assert isinstance(schema, dg.TableSchemaMetadataValue)
            assert [column.name for column in schema.schema.columns if not column.description] == []


def test_no_curriculum_is_asked_in_a_world_that_it_was_trained_in(made: tuple[Settings, Result]) -> None:
    settings, _ = made
    home = DataHome(path=str(settings.home))
    checked = studies_ask_in_new_worlds(home)
    assert checked.passed
    assert checked.metadata["curricula"].value == 4
    own = studies_home(settings.home, "small")
    folder = own / "curricula" / "mixed"
    kept = folder.rename(own / "kept")
    try:
        # The evaluation's own episodes in the place of what was trained.
        shutil.copytree(evaluation_home(own) / "traces", folder / "traces")
        assert not studies_ask_in_new_worlds(home).passed
    finally:
        shutil.rmtree(folder)
        kept.rename(folder)


def test_again_nothing_is_played_and_the_tables_are_the_same(made: tuple[Settings, Result]) -> None:
    settings, _ = made
    own = studies_home(settings.home, "small")
    homes = [evaluation_home(own), *(course_home(own, name) for name in NAMES)]
    before = [shards(home) for home in homes]
    tables = {
        name: read_figures(settings.home, "small", name) for name in ("accumulation", "remedies", "overhead")
    }
    again = study(settings, "--scale", "small", "--workers", "0")
    assert again.exit_code == 0, again.output
    assert [shards(home) for home in homes] == before
    for name, table in tables.items():
        assert read_figures(settings.home, "small", name).equals(table), name


def test_a_curriculum_that_was_changed_after_it_was_begun_is_refused(made: tuple[Settings, Result]) -> None:
    settings, _ = made
    path = settings.curricula / "mixed.toml"
    text = path.read_text(encoding="utf-8")
    try:
        path.write_text(text.replace("episodes = 20", "episodes = 60"), encoding="utf-8")
        result = study(settings, "--scale", "small")
        assert result.exit_code == 1
        assert "was begun as something else" in words(result)
    finally:
        path.write_text(text, encoding="utf-8")


def test_the_full_scale_is_the_papers_checkpoints_and_fits_its_budget() -> None:
    settings = Settings()
    found = curricula(settings, scale_row("full"))
    assert [curriculum.name for curriculum in found] == list(NAMES)
    ends = []
    for curriculum in found:
        planned = (curriculum.build(number) for number in range(1, curriculum.written + 1))
        counts = [sum(build.episodes.values()) for build in planned if build]
        ends.append([sum(counts[: n + 1]) for n in range(len(counts))])
    assert ends[0] == [50, 100, 200, 400]
    assert ends[1:] == [[40, 80, 120, 160, 200]] * 3
    planned_size = size(settings, "full")
    # 400 + 3 x 200; 42 hard tasks in 2 worlds and 7 Diamond tasks in 5, the empty store's shared
    assert planned_size.training == 1000
    assert planned_size.evaluation == 42 * 2 * 6 + 7 * 5 * 16 - 7 * 2


def test_the_job_holds_all_assets_of_the_studies() -> None:
    job = definitions(Settings()).resolve_job_def("full_study")
    keys = {key.to_user_string() for key in job.asset_layer.executable_asset_keys}
    assert keys == {
        "study_builds", "study_rollouts", "accumulation_curve", "curriculum_comparison",
        "remedy_effectiveness", "knowledge_overhead", "studies_report",
    }  # fmt: skip


def test_what_cannot_be_studied_is_refused_before_anything_is_played(tmp_path: Path) -> None:
    settings = tiny_settings(tmp_path)
    unknown = study(settings, "--scale", "huge")
    assert unknown.exit_code == 2
    assert "no scale huge; there are: full, small" in words(unknown)
    dry = study(settings, "--scale", "small", "--dry-run")
    assert dry.exit_code == 0
    assert "7 training episodes and 7 evaluation episodes" in words(dry)
    for old, new, said in (
        ("horizon_cap = 300", "horizon_cap = 400", "suite, seed and horizon_cap"),
        ("planners = 2", 'planners = 2\nagent = "no_repair"', "not of no_repair"),
        ("planners = 2", 'planners = 2\nafter_last = "repeat"', "needs a last build"),
        ('tasks = ["wooden_06"]', 'tasks = ["wooden_10"]', "the same tasks"),
    ):
        path = settings.curricula / "mixed.toml"
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(old, new), encoding="utf-8")
        refused = study(settings, "--scale", "small")
        assert refused.exit_code == 2, said
        assert said in words(refused)
        path.write_text(text, encoding="utf-8")
    assert not settings.home.exists()


def test_a_scale_file_with_a_mistake_says_where(tmp_path: Path) -> None:
    path = tmp_path / "scales.toml"
    path.write_text('[full]\ndoc = "x"\ntraining = 2.0\n', encoding="utf-8")
    with pytest.raises(ScaleError, match=r"scales\.toml"):
        scales(path)
    assert all(isinstance(row, Scale) for row in scales().values())


def test_before_anything_was_made_the_command_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotMadeError, match="mineevolve study full --scale small"):
        read_plan(tmp_path, "small")
    with pytest.raises(NotMadeError, match="`mineevolve study full`"):
        read_figures(tmp_path, "full", "remedies")
