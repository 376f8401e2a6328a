"""Episodes that a served model plans: recorded with its name, and never asked twice."""

import json
from pathlib import Path
from typing import Any

import pytest

from assets.exercise_config import LearningModel
from assets.resources import DataHome
from prompts.tokens import PieceCounter
from rollouts.agent import load_agents
from rollouts.backends import InProcess, stage_kit
from rollouts.exercise import STAND_INS, Exercise, Mind, caveat, caveat_of
from rollouts.lineage import TRAINING, episodes_of
from rollouts.recorder import Batch
from rollouts.rounds import roll_out
from rollouts.worlds.registry import WORLDS
from tests.model_server import MODEL, ModelServer, serving
from tests.test_exercise import SUITE
from warehouse import log, telemetry
from warehouse.domains import Domain
from warehouse.ids import file_digest

STEP: dict[str, Any] = {
    "subgoal_id": "a1",
    "condition": "stand still",
    "task_kind": "wait",
    "target": None,
    "count": 1,
    "executor_hint": "scripted",
    "mode": "stay",
    "timeout_s": 1.0,
    "checks": [{"type": "inv_ge", "name": "oak_log", "value": 1.0}],
    "rationale": "to see what comes",
    "knowledge": [],
}
ANSWERS = {
    "PlanResponse": {"plan_id": "p1", "subgoals": [STEP], "global_constraints": []},
    "RepairResponse": {
        "plan_id": "p2",
        "kept_prefix": [],
        "repaired_suffix": [{**STEP, "repair_source": None}],
        "active_remedies_used": [],
    },
    "RemedyResponse": {"decision": "abstain", "why": "Nothing is shown.", "remedy": None},
}


def model_of(server: ModelServer, folder: Path, **changes: str) -> LearningModel:
    own = {"engine": "openai", "model": MODEL, "base_url": server.url, **changes}
    file = folder / "models.toml"
    file.write_text("[own]\n" + "\n".join(f"{key} = {json.dumps(value)}" for key, value in own.items()))
    return LearningModel(row="own", file=str(file))


def exercise(domain: Domain, mind: Mind | None) -> Exercise:
    row = load_agents()["full"]
    return Exercise.of_group(
        domain, SUITE, "wooden", [], row, episodes=4, planners=2, horizon_cap=200, mind=mind
    )


def played(model: LearningModel, home: Path, domain: Domain) -> Batch:
    """The episodes of a build, planned by the model."""
    with model.mind(DataHome(path=str(home)), "0001") as mind:
        what = exercise(domain, mind)
        batch = Batch(home, TRAINING, what.training("0001", None))
        roll_out([batch], InProcess(stage_kit(domain, what.row.executor)), what.crew(()))
    return batch


def test_episodes_are_planned_by_the_model_and_asked_once(minecraft: Domain, tmp_path: Path) -> None:
    with serving({name: json.dumps(answer) for name, answer in ANSWERS.items()}) as server:
        model = model_of(server, tmp_path)
        batch = played(model, tmp_path / "one", minecraft)
        episodes = episodes_of(tmp_path / "one", "0001", "wooden", TRAINING)
        assert episodes.height == 4
        assert episodes["planner"].str.starts_with("openai/small@127.0.0.1/").all()
        answers = log.read(tmp_path / "one", "answers")
        assert {"planner", "adaptor", "inducer_remedy"} <= set(answers["role"])
        took = telemetry.read(tmp_path / "one")
        assert (~took["cached"]).sum() == len(server.bodies)
        assert set(answers["cache_key"]) == set(took["cache_key"])
        # Played anew where the answers are known: the same bytes, and nobody is asked.
        asked = len(server.bodies)
        (tmp_path / "two").mkdir()
        (tmp_path / "one" / "cache").rename(tmp_path / "two" / "cache")
        again = played(model, tmp_path / "two", minecraft)
        assert len(server.bodies) == asked
        assert [shard.name for shard in again.shards] == [shard.name for shard in batch.shards]
        assert stored(tmp_path / "two") == stored(tmp_path / "one")


def stored(home: Path) -> dict[str, str]:
    files = (path for folder in ("traces", "log", "rollouts") for path in (home / folder).rglob("*"))
    return {
        path.relative_to(home).as_posix(): file_digest(path)
        for path in files
        if path.is_file() and not path.name.startswith(".")
    }


def test_a_dead_server_ends_episodes_for_the_infrastructure_and_not_as_failures(
    minecraft: Domain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.001)
    with serving({}) as server:
        server.misbehave("", "500")
        played(model_of(server, tmp_path), tmp_path / "home", minecraft)
    episodes = episodes_of(tmp_path / "home", "0001", "wooden", TRAINING)
    assert episodes["end_reason"].cast(str).to_list() == ["infrastructure"] * 4
    assert set(log.read(tmp_path / "home", "answers")["error"]) == {"engine"}


def test_who_plans_is_part_of_the_configuration(minecraft: Domain, tmp_path: Path) -> None:
    hashes = set()
    with serving({}) as server:
        for changes in ({}, {"model": "larger"}):
            home = DataHome(path=str(tmp_path))
            with model_of(server, tmp_path, **changes).mind(home, "b1") as mind:
                hashes.add(exercise(minecraft, mind).config_hash)
    assert len(hashes | {exercise(minecraft, None).config_hash}) == 3


def test_tokens_are_counted_by_the_tokenizer_that_the_row_names(tmp_path: Path) -> None:
    home = DataHome(path=str(tmp_path))
    with serving({}) as server:
        with model_of(server, tmp_path).mind(home, "b1") as mind:
            assert mind is not None
            assert isinstance(mind.counter, PieceCounter)
        missing = model_of(server, tmp_path, tokenizer=str(tmp_path / "tokenizer.json"))
        with pytest.raises(FileNotFoundError, match="tokenizer"), missing.mind(home, "b1"):
            pass


def test_the_stand_in_keeps_a_mind_for_each_planner_and_its_own_caveat(tmp_path: Path) -> None:
    with LearningModel().mind(DataHome(path=str(tmp_path)), "b1") as mind:
        assert mind is None
    assert caveat("rules", "techtree") == STAND_INS
    assert "planner" not in caveat("own", "techtree")
    assert "stand-in" in caveat("own", "techtree")
    assert "open server" in caveat("rules", "mineflayer")
    for world in WORLDS:
        assert "stand-in" in caveat("rules", world), "whatever is played in, something is said of the planner"
    assert "stand-in" not in caveat("own", "minestudio")
    assert caveat_of(["rules-standin/minecraft/0", None], ["techtree"]) == STAND_INS
    assert caveat_of(["rules-standin/minecraft/0", "vllm/m/0"], ["techtree"]) == caveat("own", "techtree")
