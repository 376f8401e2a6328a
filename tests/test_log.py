"""The append-only log: what curation reads, named by its content."""

from pathlib import Path

import polars as pl
import pytest

from prompts.language_model import ANSWER_LOG
from warehouse import log
from warehouse.entries import Review, TryOut, Usage
from warehouse.knowledge import Candidate, Predicate, RemedyContent, Risk, SkillContent, Step
from warehouse.shards import DamagedShardError

FEEDBACK = "0123456789abcdef0123"


def skill(build: str, *, target: str = "stick", support: tuple[str, ...] = (FEEDBACK,)) -> Candidate:
    return Candidate(
        domain="minecraft",
        type="skill",
        trigger=(
            Predicate(field="inventory.oak_planks", op="ge", value=2),
            Predicate(field="alive", op="eq", value=True),
            Predicate(field="kind", op="in", value=("craft", "use")),
        ),
        content=SkillContent(
            kind="craft", target=target, steps=(Step(kind="craft", target=target, count=4),)
        ),
        support=support,
        build=build,
        engine="rules",
    )


def remedy(build: str, support: tuple[str, ...] = (FEEDBACK,), *, request_id: str = "") -> Candidate:
    return Candidate(
        domain="minecraft",
        type="remedy",
        trigger=(Predicate(field="failure_type", op="eq", value="MISSING_TOOL"),),
        content=RemedyContent(
            risk=Risk(kind="mine", target="oak_log", failure_type="MISSING_TOOL", missing=("wooden_axe",)),
            repair=(Step(kind="craft", target="wooden_axe"), Step(kind="mine", target="oak_log", count=3)),
        ),
        support=support,
        build=build,
        request_id=request_id,
        engine="rules",
    )


def test_candidates_read_back_as_they_were(tmp_path: Path) -> None:
    written = [skill("b1"), remedy("b1")]

    log.append(tmp_path, "candidates", "b1", log.candidate_rows(written))

    read = log.candidates_of(log.read(tmp_path, "candidates"))
    assert sorted(read, key=lambda one: one.candidate_id) == sorted(written, key=lambda one: one.candidate_id)
    assert {one.candidate_id for one in read} == {one.candidate_id for one in written}


def test_a_candidate_lies_in_columns_too(tmp_path: Path) -> None:
    log.append(tmp_path, "candidates", "b1", log.candidate_rows([skill("b1"), remedy("b1")]))

    rows = {row["type"]: row for row in log.read(tmp_path, "candidates").iter_rows(named=True)}

    values = {one["field"]: one["values"] for one in rows["skill"]["trigger"]}
    assert values == {
        "alive": [{"text": None, "number": None, "flag": True}],
        "inventory.oak_planks": [{"text": None, "number": 2.0, "flag": None}],
        "kind": [
            {"text": "craft", "number": None, "flag": None},
            {"text": "use", "number": None, "flag": None},
        ],
    }
    assert rows["skill"]["failure_type"] is None
    assert rows["remedy"]["missing"] == ["wooden_axe"]
    assert [step["target"] for step in rows["remedy"]["steps"]] == ["wooden_axe", "oak_log"]


def test_appending_the_same_content_twice_changes_nothing(tmp_path: Path) -> None:
    rows = log.candidate_rows([skill("b1"), remedy("b1")])
    path = log.append(tmp_path, "candidates", "b1", rows)
    assert path is not None
    before = path.read_bytes()

    assert log.append(tmp_path, "candidates", "b1", pl.concat([rows.reverse(), rows])) == path

    assert path.read_bytes() == before
    assert len(log.shards(tmp_path)) == 1


def test_no_rows_leave_no_shard(tmp_path: Path) -> None:
    assert log.append(tmp_path, "candidates", "b1", log.candidate_rows([])) is None
    assert log.read(tmp_path, "candidates").schema == log.KINDS["candidates"].schema


def test_shards_come_in_the_order_of_the_fold(tmp_path: Path) -> None:
    for build in ("b2", "b1"):
        log.append(tmp_path, "usage", build, log.usage_rows(build, [_use("e2", None), _use("e1", True)]))
        log.append(tmp_path, "candidates", build, log.candidate_rows([skill(build)]))
        log.append(tmp_path, "candidates", build, log.candidate_rows([remedy(build)]))

    found = log.shards(tmp_path)

    assert found == sorted(found)
    assert [(shard.build, shard.kind) for shard in found[:3]] == [
        ("b1", "candidates"),
        ("b1", "candidates"),
        ("b1", "usage"),
    ]
    assert log.read(tmp_path, "candidates", ["b2"])["build"].to_list() == ["b2", "b2"]
    assert log.read(tmp_path, "candidates")["build"].to_list() == ["b1", "b1", "b2", "b2"]


def test_a_key_that_several_shards_hold_is_read_once(tmp_path: Path) -> None:
    log.append(tmp_path, "candidates", "b1", log.candidate_rows([skill("b1")]))
    log.append(tmp_path, "candidates", "b1", log.candidate_rows([skill("b1"), remedy("b1")]))

    assert log.read(tmp_path, "candidates").height == 2


def test_usage_keeps_undecided_outcomes_unknown(tmp_path: Path) -> None:
    log.append(tmp_path, "usage", "b1", log.usage_rows("b1", [_use("e1", None), _use("e2", False)]))

    read = log.usage_of(log.read(tmp_path, "usage"))
    assert [one.model_copy(update={"build": None}) for one in read] == [_use("e1", None), _use("e2", False)]
    assert {one.build for one in read} == {"b1"}


def test_a_damaged_shard_is_named_and_left_as_it_is(tmp_path: Path) -> None:
    rows = log.candidate_rows([skill("b1")])
    path = log.append(tmp_path, "candidates", "b1", rows)
    assert path is not None
    path.write_bytes(path.read_bytes()[:-30])
    damaged = path.read_bytes()

    with pytest.raises(DamagedShardError, match=path.name):
        log.read(tmp_path, "candidates")
    with pytest.raises(DamagedShardError, match=path.name):
        log.append(tmp_path, "candidates", "b1", rows)

    assert path.read_bytes() == damaged


def test_a_shard_whose_rows_were_exchanged_is_damaged(tmp_path: Path) -> None:
    path = log.append(tmp_path, "candidates", "b1", log.candidate_rows([skill("b1")]))
    assert path is not None
    log.candidate_rows([remedy("b1")]).write_parquet(path)

    with pytest.raises(DamagedShardError, match="not the ones that it was named for"):
        log.read(tmp_path, "candidates")


def test_what_does_not_belong_is_refused(tmp_path: Path) -> None:
    rows = log.usage_rows("b1", [_use("e1", True)])

    with pytest.raises(ValueError, match="the log has no kind 'gossip'"):
        log.append(tmp_path, "gossip", "b1", rows)
    with pytest.raises(ValueError, match="say that they are of build 'b1'"):
        log.append(tmp_path, "usage", "b2", rows)
    with pytest.raises(ValueError, match="won"):
        log.append(tmp_path, "usage", "b1", rows.drop("won"))
    with pytest.raises(ValueError, match="two different rows"):
        log.append(tmp_path, "usage", "b1", log.usage_rows("b1", [_use("e1", True), _use("e1", False)]))
    with pytest.raises(ValueError, match="cannot name a folder"):
        log.append(tmp_path, "usage", "../b1", rows)
    assert not (tmp_path / "log").exists()


def test_reviews_and_tryouts_read_back_as_they_were(tmp_path: Path) -> None:
    review = Review(
        candidate_id="c1",
        entry_id="e1",
        verdict="rejected",
        reason="says nothing of when",
        request_id="r1",
        model="a model",
        template="curator_v1",
    )
    tried = [
        TryOut(
            entry_id="e1",
            situation="s1",
            episode_id="e",
            world_seed=2**40,
            arm="with",
            success=True,
            lead=5,
            ticks=300,
        ),
        TryOut(
            entry_id="e1",
            situation="s1",
            episode_id="e",
            world_seed=2**40,
            arm="without",
            success=None,
            lead=5,
            ticks=1200,
        ),
    ]
    log.append(tmp_path, "reviews", "b1", log.review_rows("b1", [review]))
    log.append(tmp_path, "tryouts", "b1", log.tryout_rows("b1", tried))

    assert log.reviews_of(log.read(tmp_path, "reviews")) == [review]
    assert log.tryouts_of(log.read(tmp_path, "tryouts")) == tried
    contrary = log.tryout_rows("b1", [tried[0], tried[0].model_copy(update={"ticks": 1})])
    with pytest.raises(ValueError, match="two different rows"):
        log.append(tmp_path, "tryouts", "b1", contrary)


def test_the_answers_of_the_log_are_those_of_the_prompts() -> None:
    assert log.KINDS["answers"].schema == ANSWER_LOG


def _use(entry_id: str, won: bool | None) -> Usage:
    return Usage(entry_id=entry_id, feedback_id=FEEDBACK, episode_id=FEEDBACK, won=won)
