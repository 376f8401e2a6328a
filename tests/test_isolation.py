"""What one model learnt is not given to another unless somebody asks for it."""

from pathlib import Path

import pytest

from pipeline import launch
from pipeline.settings import Settings
from rollouts.isolation import OtherModelError, learnt_with, model_of, refuse_other_models
from tests.test_fold import curate
from tests.test_log import remedy, skill
from warehouse import log
from warehouse.fold import rebuild, store_after
from warehouse.snapshots import publish_snapshot

QWEN = "openai/qwen3@localhost/0123456789ab"


def propose(home: Path, build: str, *engines: str) -> None:
    rows = [skill(build, target=f"{n}").model_copy(update={"engine": e}) for n, e in enumerate(engines)]
    log.append(home, "candidates", build, log.candidate_rows(rows))


def test_a_model_is_its_engine_and_its_name() -> None:
    assert model_of(QWEN) == model_of("openai/qwen3@localhost/ba9876543210")
    assert model_of("vllm/Qwen3-8B/0123456789ab") == "vllm/Qwen3-8B"
    assert model_of("rules") == model_of("rules-standin/minecraft/0123456789ab")
    assert (
        len({model_of(one) for one in (QWEN, "openai/qwen3@elsewhere/0123456789ab", "rules", "unknown")}) == 4
    )


def test_a_build_remembers_the_models_of_all_builds_up_to_it(tmp_path: Path) -> None:
    assert learnt_with(tmp_path, "0009") == []
    propose(tmp_path, "0001", "rules")
    propose(tmp_path, "0002", QWEN, "rules-standin/minecraft/aa")
    propose(tmp_path, "0003", f"{QWEN}, vllm/small/bb", "")

    assert learnt_with(tmp_path, "0001") == ["rules-standin"]
    assert learnt_with(tmp_path, "0002") == ["openai/qwen3@localhost", "rules-standin"]
    assert learnt_with(tmp_path, "0003") == [
        "openai/qwen3@localhost",
        "rules-standin",
        "unknown",
        "vllm/small",
    ]


def test_another_model_is_refused_in_one_line_that_says_what_to_do(tmp_path: Path) -> None:
    propose(tmp_path, "0001", QWEN)
    refuse_other_models(tmp_path, "0000", None)
    refuse_other_models(tmp_path, "0001", QWEN)

    with pytest.raises(OtherModelError, match="--any-model") as refused:
        refuse_other_models(tmp_path, "0001", None)

    said = str(refused.value)
    assert "learnt with openai/qwen3@localhost, and rules-standin would play" in said
    assert "MINEEVOLVE_DATA" in said
    assert "\n" not in said


@pytest.fixture
def learnt_by_qwen(tmp_path: Path) -> Path:
    """A home whose only build was learnt with a served model, so to speak."""
    home = tmp_path / "home"
    proposed = remedy("0001").model_copy(update={"engine": QWEN})
    log.append(home, "candidates", "0001", log.candidate_rows([proposed]))
    rebuild(home, curate)
    publish_snapshot(home, "0001", store_after(home, "0001"))
    return home


def chosen(tmp_path: Path, **changes: object) -> dict[str, object]:
    from tests.test_training_rollouts import config

    return config(tmp_path, tasks=["table"], episodes=1, horizon_cap=40, **changes)


def test_the_stand_in_neither_trains_nor_is_evaluated_with_it_unless_asked(
    learnt_by_qwen: Path, tmp_path: Path
) -> None:
    settings = Settings(data=learnt_by_qwen)
    with pytest.raises(launch.RunFailedError, match="openai/qwen3@localhost, and rules-standin would play"):
        launch.train_build(settings, "0002", ["wooden"], chosen(tmp_path))
    with pytest.raises(launch.RunFailedError, match="what build 0001 knows was learnt with"):
        launch.evaluate_snapshot(settings, "0001", ["wooden"], chosen(tmp_path))

    (done,) = launch.train_build(settings, "0002", ["wooden"], chosen(tmp_path, any_model=True))

    assert done.success
