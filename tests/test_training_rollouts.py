"""Training and frozen evaluation through the real jobs: what comes out, and what must not."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import orjson
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.stats import binomtest
from typer.testing import CliRunner, Result

from assets.checks import trained_with_the_published_snapshot
from assets.evaluation_rollouts import seeds_are_disjoint
from assets.resources import DataHome
from assets.success_rates import evaluation_is_no_evidence
from pipeline import launch
from pipeline.command import app
from pipeline.settings import Settings
from prompts.engines.beliefs import standin_settings
from rollouts.agent import agent_row
from rollouts.evaluation import (
    EMPTY,
    FROZEN,
    NOBODY,
    Frozen,
    comparison,
    evaluate,
    evaluation_home,
    shared_worlds,
)
from rollouts.exercise import Exercise, ExerciseError, hands, ore_heights, planners, stand_in
from rollouts.lineage import (
    TRAINING,
    NoSnapshotError,
    episodes_of,
    previous_snapshot,
    published,
    stale_builds,
    usage_of,
)
from rollouts.rates import Paired, Rate, paired, success_rate, together, weighted
from rollouts.recorder import episode_id_of
from rollouts.seeds import SPAN, evaluation_seeds, is_for_evaluation, training_seeds
from tests.test_fold import tables
from warehouse import log
from warehouse.analysis import publish, query
from warehouse.curator import CuratorSettings
from warehouse.domains import Domain
from warehouse.fold import curator, rebuild, store_after
from warehouse.ids import file_digest
from warehouse.snapshots import load_snapshot, publish_snapshot, published_snapshot
from warehouse.tasks import Suite, Task
from warehouse.trace_store import feedback_store, trace_store

ANY_SEED = st.integers(min_value=-(2**40), max_value=2**40)
GROUP = "wooden"
SUITE = Suite(
    source="test",
    rule="test",
    ticks_per_minute=1200,
    tasks=tuple(
        Task(
            id=name,
            group=GROUP,
            kind="craft",
            instruction=text,
            horizon_ticks=2400,
            any_of=(target,),
            count=1,
            verifiable_by="inventory",
        )
        for name, text, target in (
            ("table", "Craft a crafting table", "crafting_table"),
            ("pickaxe", "Craft a wooden pickaxe", "wooden_pickaxe"),
        )
    ),
)


def stored(home: Path) -> dict[str, str]:
    """Every file below a data home but Dagster's, with its hash."""
    return {
        path.relative_to(home).as_posix(): file_digest(path)
        for path in sorted(home.rglob("*"))
        if path.is_file() and path.relative_to(home).parts[0] != "dagster" and not path.name.startswith(".")
    }


def config(folder: Path, **more: Any) -> dict[str, Any]:
    suite = folder / "suite.json"
    named = [task.model_dump(mode="json", exclude={"accepted"}) for task in SUITE.tasks]
    whole = SUITE.model_dump(mode="json", exclude={"tasks"}) | {"tasks": named}
    suite.write_bytes(orjson.dumps(whole))
    return {"suite": str(suite), "episodes": 2, "workers": 0, "horizon_cap": 1200} | more


def train(home: Path, build: str, chosen: dict[str, Any]) -> dict[str, Any]:
    """Trains a build; the metadata of what was played."""
    settings = Settings(data=home)
    (result,) = launch.train_build(settings, build, [GROUP], chosen)
    launch.learn_from_rollouts(settings, build)
    (made,) = result.asset_materializations_for_node("training_rollouts")
    return {name: value.value for name, value in made.metadata.items() if hasattr(value, "value")}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two builds."""
    folder = tmp_path_factory.mktemp("trained")
    chosen = config(folder)
    notes = [train(folder / "home", build, chosen) for build in ("0001", "0002")]
    assert notes[0]["knowledge"].startswith("none")
    assert notes[1]["knowledge"] == f"snapshot {published_snapshot(folder / 'home', '0001')}"
    assert "stand-ins" in notes[0]["note"]
    return folder / "home"


def test_training_gives_trajectories_feedback_candidates_and_a_snapshot(
    trained: Path, minecraft: Domain
) -> None:
    key = ["episode_id", "attempt"]
    traces = trace_store(trained)
    episodes = traces.scan("episodes", ["0001"]).collect()
    assert episodes.height == 4
    assert episodes["success"].any()
    assert set(episodes["horizon"]) == {1200}
    attempts = traces.scan("attempts").select(key).collect()
    assert attempts.equals(feedback_store(trained).scan("feedback").select(key).collect())
    candidates = log.candidates_of(log.read(trained, "candidates", ["0001"]))
    assert candidates
    assert {candidate.engine for candidate in candidates} == {planners(minecraft)("remedy", 0).name}
    snapshot_id = published_snapshot(trained, "0001")
    assert snapshot_id is not None
    assert load_snapshot(trained / "snapshots" / snapshot_id).entries


def test_the_second_build_plays_with_the_first_ones_snapshot_and_its_use_is_logged(
    trained: Path, minecraft: Domain
) -> None:
    first, second = (episodes_of(trained, build, GROUP, TRAINING) for build in ("0001", "0002"))
    assert first["snapshot_id"].unique().to_list() == [None]
    assert second["snapshot_id"].unique().to_list() == [published_snapshot(trained, "0001")]
    assert not set(first["world_seed"]) & set(second["world_seed"])
    usage = log.read(trained, "usage")
    assert set(usage["build"]) == {"0002"}
    assert set(usage["episode_id"]) <= set(second["episode_id"])
    fed = feedback_store(trained).scan("feedback").collect()
    won = dict(fed.select("feedback_id", "y").iter_rows())
    assert all(won[row["feedback_id"]] == row["won"] for row in usage.iter_rows(named=True))
    again = usage_of(trained, minecraft, "0002", GROUP, TRAINING)
    assert len(again) == usage.height > 0


def test_twice_the_same_bytes_whatever_the_number_of_processes(trained: Path, tmp_path: Path) -> None:
    chosen = config(tmp_path, workers=1)
    for build in ("0001", "0002"):
        train(tmp_path / "home", build, chosen)
    made, wanted = (
        # Of the database the rows are promised, not the bytes.
        {path: own for path, own in stored(home).items() if not path.startswith(("evaluation/", "warehouse"))}
        for home in (tmp_path / "home", trained)
    )
    assert made == wanted
    assert {path.split("/")[0] for path in made} == {"feedback", "log", "rollouts", "snapshots", "traces"}


def test_a_batch_that_is_whole_is_not_played_again(trained: Path, tmp_path: Path) -> None:
    before = stored(trained)
    notes = train(trained, "0002", config(tmp_path))
    assert (notes["shards"], notes["shards found whole"]) == (1, 1)
    after = stored(trained)
    assert {path: own for path, own in after.items() if not path.startswith("warehouse")} == {
        path: own for path, own in before.items() if not path.startswith("warehouse")
    }


def test_a_build_trained_again_in_another_way_is_as_if_it_had_never_been_otherwise(tmp_path: Path) -> None:
    """What the episodes that are gone said for and against an entry does not count. Nor is the agent without
    curation left out: it plays with the candidates of the build before as they came."""
    chosen = config(tmp_path, tasks=["table"], episodes=1, horizon_cap=500)
    first, fresh = tmp_path / "first", tmp_path / "fresh"
    train(first, "0001", chosen)
    shutil.copytree(first, fresh)
    train(first, "0002", chosen)
    other = chosen | {"agent": "no_curation"}
    notes = train(first, "0002", other)
    train(fresh, "0002", other)

    assert notes["uses in replaced episodes, which do not count"] > 0
    assert notes["knowledge"] == f"snapshot {published_snapshot(fresh, '0001', curated=False)}"
    assert log.read(fresh, "usage").height < log.read(first, "usage").height
    assert published_snapshot(first, "0002") == published_snapshot(fresh, "0002")
    assert published_snapshot(first, "0002", curated=False) == published_snapshot(
        fresh, "0002", curated=False
    )
    assert store_after(first, "0002") == store_after(fresh, "0002")
    assert any(entry.uses for entry in store_after(fresh, "0002"))


def test_evaluation_plays_the_agents_own_sort_of_snapshot(trained: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(trained / "snapshots", home / "snapshots")
    chosen = config(tmp_path, tasks=["table"], episodes=1, horizon_cap=100)
    for agent in ("no_curation", "full"):
        launch.evaluate_snapshot(Settings(data=home), "0002", [GROUP], chosen | {"agent": agent})
        frozen = episodes_of(evaluation_home(home), "0002", GROUP, FROZEN)
        wanted = published_snapshot(home, "0002", curated=agent == "full")
        assert frozen["snapshot_id"].unique().to_list() == [wanted]
        assert frozen["agent"].cast(str).unique().to_list() == [agent]


def test_evaluation_writes_no_knowledge_and_compares_both_arms(trained: Path, tmp_path: Path) -> None:
    before = stored(trained)
    settings = Settings(data=trained)
    (result,) = launch.evaluate_snapshot(settings, "0002", [GROUP], config(tmp_path, planners=2))
    after = stored(trained)
    new = sorted(set(after) - set(before))
    assert {path.split("/")[0] for path in new} == {"evaluation", "log"}
    (logged,) = (path for path in new if path.startswith("log/"))
    assert logged.startswith("log/evaluations/0002/")
    changed = {path for path, own in before.items() if after[path] != own}
    assert changed == {"warehouse.duckdb"}
    own = evaluation_home(trained)
    frozen, empty = episodes_of(own, "0002", GROUP, FROZEN), episodes_of(own, NOBODY, GROUP, EMPTY)
    assert frozen.height == empty.height == 8
    assert frozen["snapshot_id"].unique().to_list() == [published_snapshot(trained, "0002")]
    assert empty["snapshot_id"].unique().to_list() == [None]
    assert log.read(own, "usage").is_empty()
    pairs = paired(frozen, empty)
    assert pairs.n == 8
    assert pairs.frozen == success_rate(frozen)
    shown = comparison(trained, "0002", {GROUP: 2, "stone": 10})
    assert shown["pairs"].to_list() == [8]
    assert {check.check_name: check.passed for check in result.get_asset_check_evaluations()} == {
        "seeds_are_disjoint": True,
        "evaluation_is_no_evidence": True,
    }


def test_evaluation_moves_no_confidence_though_knowledge_was_used_in_it(
    trained: Path, minecraft: Domain, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    shutil.copytree(trained, home, ignore=shutil.ignore_patterns("dagster", "evaluation"))
    before = tables(home)
    launch.evaluate_snapshot(Settings(data=home), "0002", [GROUP], config(tmp_path))
    attempts = trace_store(evaluation_home(home)).scan("attempts", ["0002"]).collect()
    assert attempts["knowledge_used"].list.len().sum() > 0, "else this test would show nothing"
    after = tables(home)
    changed = {name for name, rows in after.items() if not rows.equals(before[name])}
    assert changed == {"evaluations", "shards"}
    report = rebuild(home, curator(minecraft, CuratorSettings()))
    anew = tables(home)
    assert {name for name, rows in anew.items() if not rows.equals(after[name])} == set()
    assert report.snapshot_ids["0002"] == published_snapshot(home, "0002")


def test_an_evaluation_episode_among_the_evidence_is_noticed(trained: Path, tmp_path: Path) -> None:
    assert evaluation_is_no_evidence(home=DataHome(path=str(trained))).passed
    episodes = episodes_of(trained, "0001", GROUP, TRAINING)
    for home in (tmp_path, evaluation_home(tmp_path)):
        trace_store(home).write_source("b", GROUP, FROZEN, {"episodes": episodes})
    assert not evaluation_is_no_evidence(home=DataHome(path=str(tmp_path))).passed


def test_builds_and_groups_are_evaluated_in_one_go_as_they_are_one_by_one(
    trained: Path, minecraft: Domain, tmp_path: Path
) -> None:
    snapshots = {build: published(trained, build, "here") for build in ("0001", "0002")}
    other = SUITE.tasks[0].model_copy(update={"id": "other", "group": "stone"})
    suite = SUITE.model_copy(update={"tasks": (*SUITE.tasks, other)})
    full = agent_row("full")
    played = {
        group: Exercise.of_group(minecraft, suite, group, tasks, full, episodes=1, horizon_cap=600)
        for group, tasks in ((GROUP, ["table"]), ("stone", []))
    }
    with hands(minecraft, full, 0) as backend:
        asked = [Frozen(build, snapshot, played) for build, snapshot in snapshots.items()]
        found = evaluate(tmp_path / "all", asked, backend)
        for (build, group), arms in found.items():
            own = Frozen(build, snapshots[build], {group: played[group]})
            alone = evaluate(tmp_path / "each", [own], backend)[build, group]
            assert alone.frozen.equals(arms.frozen)
            assert alone.empty.equals(arms.empty)
            assert set(arms.frozen["snapshot_id"]) == {snapshots[build].snapshot_id}
        mixed = played | {GROUP: replace(played[GROUP], horizon_cap=50)}
        with pytest.raises(ValueError, match="one configuration"):
            evaluate(tmp_path / "all", [Frozen("0001", snapshots["0001"], mixed)], backend)
    assert len(found) == 4
    assert found["0001", "stone"].frozen["task_id"].to_list() == ["other"]


def test_a_build_whose_forerunner_published_anew_is_stale(trained: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(trained, home, ignore=shutil.ignore_patterns("dagster", "evaluation"))
    assert stale_builds(home) == []
    assert trained_with_the_published_snapshot(home=DataHome(path=str(home))).passed
    publish(home)
    lineage = query(home, "SELECT build, trained_with, build_before, is_stale FROM training_lineage")
    old = published_snapshot(home, "0001")
    assert lineage.rows() == [("0001", None, None, False), ("0002", old, "0001", False)]

    publish_snapshot(home, "0001", ())

    new = published_snapshot(home, "0001")
    (found,) = stale_builds(home)
    assert str(found) == (
        f"build 0002 was trained with snapshot {old} of build 0001, which now publishes snapshot {new}"
    )
    result = trained_with_the_published_snapshot(home=DataHome(path=str(home)))
    assert (result.passed, result.severity) == (False, dg.AssetCheckSeverity.WARN)
    said = call(home, "doctor")
    assert said.exit_code == 0, said.output
    assert str(found) in " ".join(said.output.split())


def test_a_build_needs_the_snapshot_of_the_one_before(trained: Path, tmp_path: Path) -> None:
    home, chosen = tmp_path / "home", config(tmp_path, tasks=["table"], episodes=1, horizon_cap=100)
    launch.train_build(Settings(data=home), "0001", [GROUP], chosen)
    with pytest.raises(launch.RunFailedError, match="`mineevolve train --build 0001 --group wooden`"):
        launch.train_build(Settings(data=home), "0002", [GROUP], chosen)
    with pytest.raises(launch.RunFailedError, match="build 0001 has published no snapshot"):
        launch.evaluate_snapshot(Settings(data=home), "0001", [GROUP], chosen)
    assert previous_snapshot(home, "0000") is None
    publish_snapshot(home, "0001", ())
    found = previous_snapshot(home, "0005")
    assert found is not None
    assert found.snapshot_id == published_snapshot(home, "0001")


def test_a_build_of_recordings_is_told_its_own_command(tmp_path: Path) -> None:
    launch.import_traces(Settings(data=tmp_path), "0000", [])
    with pytest.raises(NoSnapshotError, match="`mineevolve run --build 0000`"):
        previous_snapshot(tmp_path, "0001")


def test_imported_is_not_played(tmp_path: Path) -> None:
    with pytest.raises(launch.RunFailedError, match="filled from recordings"):
        launch.train_build(Settings(data=tmp_path / "home"), "0001", ["imported"], config(tmp_path))


def test_a_world_on_the_wrong_side_is_noticed(trained: Path, tmp_path: Path) -> None:
    assert shared_worlds(trained).is_empty()
    episodes = episodes_of(trained, "0001", GROUP, TRAINING)
    trace_store(evaluation_home(tmp_path)).write_source("b", GROUP, FROZEN, {"episodes": episodes})
    wrong = shared_worlds(tmp_path)
    assert set(wrong["why"]) == {"evaluated in a training world"}
    trace_store(tmp_path).write_source("b", GROUP, TRAINING, {"episodes": episodes})
    assert set(shared_worlds(tmp_path)["why"]) == {"evaluated in a training world", "in both"}
    result = seeds_are_disjoint(home=DataHome(path=str(tmp_path)))
    assert not result.passed


@given(ANY_SEED, ANY_SEED, st.text(), st.text(), st.integers(0, 50), st.integers(0, 50))
def test_training_and_evaluation_worlds_are_disjoint(
    one: int, other: int, build: str, task: str, trained: int, asked: int
) -> None:
    training, evaluation = training_seeds(one, build, task, trained), evaluation_seeds(other, task, asked)
    assert not set(training) & set(evaluation)
    assert len(set(training)) == len(training) == trained
    assert len(set(evaluation)) == len(evaluation) == asked
    assert all(0 <= seed < 2 * SPAN for seed in (*training, *evaluation))
    assert not any(map(is_for_evaluation, training))
    assert all(map(is_for_evaluation, evaluation))


def test_more_worlds_than_there_are_cannot_be_had() -> None:
    with pytest.raises(ValueError, match="there are"):
        training_seeds(0, "b", "t", SPAN + 1)


def call(home: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), env={"MINEEVOLVE_DATA": str(home), "COLUMNS": "100"})


def test_the_commands_show_rates_with_intervals_and_say_what_the_figures_are(tmp_path: Path) -> None:
    suite = config(tmp_path)["suite"]
    chosen = ["--group", GROUP, "--suite", suite, "--task", "table", "--episodes", "1", "--workers", "0"]
    result = call(tmp_path / "home", "train", "--build", "0001", *chosen, "--horizon-cap", "600")
    assert result.exit_code == 0, result.output
    said = " ".join(result.output.split())
    for part in ("began with an empty store", "95 % Wilson", "Knowledge by build", "are stand-ins"):
        assert part in said
    result = call(tmp_path / "home", "evaluate", "--build", "0001", *chosen, "--horizon-cap", "600")
    assert result.exit_code == 0, result.output
    said = " ".join(result.output.split())
    for part in ("the empty store and its frozen snapshot", "McNemar", "nothing was learnt", "are stand-ins"):
        assert part in said
    assert query(tmp_path / "home", "SELECT pairs FROM success_by_group").rows() == [(1,)]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--group", "nether"], "no group nether; there are: wooden"),
        (["--task", "boat"], "no task boat"),
        (["--agent", "nobody"], "no row [nobody]"),
        (["--suite", "/nowhere.json"], "nowhere.json"),
    ],
)
def test_a_wrong_name_ends_a_command_before_it_starts(
    arguments: list[str], said: str, tmp_path: Path
) -> None:
    suite = config(tmp_path)["suite"]
    for command in ("train", "evaluate"):
        result = call(tmp_path / "home", command, "--suite", suite, *arguments)
        assert result.exit_code == 2, result.output
        assert said in result.output
    assert not (tmp_path / "home").exists()


def exercise(domain: Domain, **more: Any) -> Exercise:
    return Exercise.of_group(domain, SUITE, GROUP, (), agent_row("full"), **more)


def test_evaluation_crosses_planners_and_training_takes_turns(minecraft: Domain) -> None:
    played = exercise(minecraft, episodes=4, planners=3)
    training, evaluation = played.training("b", None), played.evaluation("b", "s")
    assert [spec.planner_seed for spec in training[:4]] == [0, 1, 2, 0]
    worlds = {(spec.world_seed, spec.planner_seed) for spec in evaluation if spec.task_id == "table"}
    assert len(worlds) == 12
    assert len({episode_id_of(spec) for spec in (*training, *evaluation)}) == 8 + 24


def test_the_share_of_misconceptions_is_part_of_the_configuration(minecraft: Domain) -> None:
    usual = exercise(minecraft)
    same, other = (
        exercise(minecraft, standin=standin_settings().with_misconceptions(share))
        for share in (standin_settings().beliefs.misconceptions, 0.5)
    )
    assert usual.config_hash == same.config_hash != other.config_hash
    wrong = [len(stand_in(minecraft, 0, each.standin).beliefs.wrong) for each in (usual, other)]
    assert wrong[0] < wrong[1]
    with pytest.raises(ValidationError):
        standin_settings().with_misconceptions(1.5)


def test_a_shorter_horizon_is_another_episode(minecraft: Domain) -> None:
    whole, cut = (exercise(minecraft, horizon_cap=cap).training("b", None)[0] for cap in (None, 50))
    assert (whole.horizon, cut.horizon) == (2400, 50)
    assert episode_id_of(whole) != episode_id_of(cut)


def test_what_cannot_be_played_says_what_can(minecraft: Domain) -> None:
    full = agent_row("full")
    with pytest.raises(ExerciseError, match="no task nothing; it has: table, pickaxe"):
        Exercise.of_group(minecraft, SUITE, GROUP, ["nothing"], full)
    with pytest.raises(ExerciseError, match="no group stone; it has: wooden"):
        Exercise.of_group(minecraft, SUITE, "stone", (), full)


def test_what_is_known_of_ores_is_the_games(minecraft: Domain) -> None:
    assert tuple(ore_heights()["diamond_ore"]) == (0, 15)
    assert "dirt" not in ore_heights()


def arm(*ends: str) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "task_id": ["t"] * len(ends),
            "world_seed": list(range(len(ends))),
            "planner_seed": [0] * len(ends),
            "config_hash": ["c"] * len(ends),
            "success": [end == "success" for end in ends],
            "end_reason": list(ends),
        }
    )


def test_pairs_are_compared_and_broken_ones_left_out_of_both() -> None:
    frozen = arm("success", "success", "success", "horizon", "death", "infrastructure", "success")
    empty = arm("success", "horizon", "death", "success", "death", "success", "infrastructure")
    found = paired(frozen, empty)
    assert found == Paired(both=1, only_frozen=2, only_empty=1, neither=1, excluded=2)
    assert (found.frozen, found.empty) == (Rate(3, 5), Rate(2, 5))
    assert found.p == binomtest(2, 3, 0.5).pvalue
    assert together([found, found]) == Paired(2, 4, 2, 2, 4)
    assert success_rate(frozen) == Rate(4, 6)


def test_rates_without_an_episode_say_so() -> None:
    assert (Rate(0, 0).share, Rate(0, 0).interval, str(Rate(0, 0))) == (None, None, "no episode")
    assert str(Rate(1, 2)) == "1/2 = 0.500 (95 % Wilson 0.095 to 0.905)"
    assert Paired(1, 0, 0, 1).p == 1.0
    assert weighted([(1.0, 1), (0.5, 3), (None, 9)]) == 0.625
    assert weighted([]) is None
