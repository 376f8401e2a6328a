"""Agents as rows: what a file may say, and what a part that is switched off changes."""

from dataclasses import replace
from pathlib import Path

import pytest

from prompts.language_model import ModelAnswer, ModelRequest
from prompts.planning import PlanSituation, RepairSituation
from prompts.tokens import PieceCounter
from rollouts.agent import (
    AgentFileError,
    ComposedAgent,
    Conclusion,
    Parts,
    Situation,
    Thought,
    agent_row,
    load_agents,
)
from rollouts.budget import CallBudget
from rollouts.planner import Plan, PlanningFailure
from tests.fake_world import chop, spec, task
from warehouse.domains import Domain
from warehouse.facts import Cause, Evidence, FeedbackFact
from warehouse.ids import derive_id
from warehouse.records import TICKS_PER_SECOND

EPISODE = derive_id("episode", "e")
STATE = {"x": 0.5, "y": 64.0, "z": 0.5, "inventory": [], "near": [], "seen": ["oak_log"], "gui": "none"}


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "agents.toml"
    path.write_text(text, encoding="utf-8")
    return path


FULL = """
[full]
doc = "All."
planning = "model"
feedback = "typed"
knowledge = "both"
curation = true
repair = true
memory = "episode"
executor = "scripted"
"""


def test_the_shipped_rows_are_one_change_away_from_the_full_method() -> None:
    rows = load_agents()
    full = rows["full"].model_dump(exclude={"name", "doc"})
    for name, row in rows.items():
        changed = {
            key for key, value in row.model_dump(exclude={"name", "doc"}).items() if value != full[key]
        }
        # Without feedback there is nothing to repair by, and who asks nobody has no use for any of it.
        assert len(changed) == {"full": 0, "no_feedback": 2, "executor_only": 4}.get(name, 1), name


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ('feedback = "loud"', "[odd] feedback: 'loud' is none of typed, text, binary, none"),
        ('memory = "all"', "[odd] memory: 'all' is none of episode, none"),
        ('repair = "yes"', "[odd] repair: 'yes' is none of true, false"),
        (
            'hands = "left"',
            "[odd] hands: no such key; there are: doc, planning, feedback, knowledge, curation",
        ),
        ('feedback = "none"', "[odd] repair: true needs feedback"),
        ('planning = "none"', "[odd] planning: none asks nobody"),
    ],
)
def test_a_wrong_row_is_told_with_file_key_and_what_would_do(tmp_path: Path, row: str, words: str) -> None:
    path = write(tmp_path, f'{FULL}\n[odd]\ndoc = "Odd."\n{row}\n')
    with pytest.raises(AgentFileError) as fault:
        load_agents(path)
    assert str(path) in str(fault.value)
    assert words in str(fault.value)


def test_a_file_without_the_full_row_or_with_a_missing_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AgentFileError, match=r"needs a row \[full\]"):
        load_agents(write(tmp_path, '[other]\ndoc = "x"\n'))
    with pytest.raises(AgentFileError, match=r"\[full\] executor: is missing"):
        load_agents(write(tmp_path, FULL.replace('executor = "scripted"\n', "")))
    with pytest.raises(AgentFileError, match=r"\[bare\] doc: is missing"):
        load_agents(write(tmp_path, f"{FULL}\n[bare]\nrepair = false\n"))
    with pytest.raises(AgentFileError, match=r"no row \[nobody\]; there are: full"):
        agent_row("nobody", write(tmp_path, FULL))


def test_the_configuration_is_what_decides_and_not_what_it_is_called() -> None:
    full = agent_row("full")
    renamed = full.model_copy(update={"name": "other", "doc": "Other words."})
    assert full.config_hash("techtree", {}, planner="p") == renamed.config_hash("techtree", {}, planner="p")
    others = {
        agent_row("no_repair").config_hash("techtree", {}, planner="p"),
        full.config_hash("techtree", {"messages": True}, planner="p"),
        full.config_hash("other", {}, planner="p"),
        full.config_hash("techtree", {}, planner="q"),
    }
    assert len(others | {full.config_hash("techtree", {}, planner="p")}) == 5


def failure(attempt: int, kind: str = "craft", target: str = "stick") -> FeedbackFact:
    cause = Cause("MISSING_INGREDIENT", None, None, {"oak_planks": 2}, Evidence(5, 0, "not enough"))
    return FeedbackFact(
        feedback_id=derive_id("feedback", [EPISODE, attempt]),
        episode_id=EPISODE,
        attempt=attempt,
        build="b1",
        kind=kind,
        target=target,
        needed=4,
        y=False,
        failure_type="MISSING_INGREDIENT",
        missing=("oak_planks",),
        causes=(cause,),
        progress=0.0,
        stagnant=True,
        state_before={"inventory.*": 0},
        delta_inventory={},
        evidence=cause.evidence,
    )


def situation(*facts: FeedbackFact) -> Situation:
    plan = Plan("p", (chop(1, "one"), chop(2, "two")))
    return Situation(
        episode_id=EPISODE,
        spec=spec(),
        task=task(),
        state=STATE,
        plan=plan if facts else None,
        outcomes={"one": True, "two": False} if facts else {},
        facts=facts,
        budget=CallBudget(plans=1) if facts else CallBudget(),
    )


def agent(row: str, domain: Domain) -> ComposedAgent:
    return ComposedAgent(Parts.of(agent_row(row), domain, [], PieceCounter()))


def refused(request: ModelRequest) -> ModelAnswer:
    """An answer that nothing can be made of."""
    from prompts.responses import read_answer

    return read_answer(request, "test", "no JSON")


def requests_of(thought: Thought) -> tuple[list[ModelRequest], Conclusion]:
    """What an agent asks when it is never answered well, and what it comes to."""
    asked: list[ModelRequest] = []
    try:
        request = next(thought)
        while True:
            asked.append(request)
            request = thought.send(refused(request))
    except StopIteration as done:
        conclusion = done.value
        assert isinstance(conclusion, Conclusion)
        return asked, conclusion


def test_a_plan_that_cannot_be_read_is_asked_for_once_more_and_then_given_up(minecraft: Domain) -> None:
    asked, conclusion = requests_of(agent("full", minecraft).plan(situation()))
    assert [request.role for request in asked] == ["planner", "planner"]
    assert isinstance(conclusion.plan, PlanningFailure)
    assert (conclusion.budget.used, conclusion.budget.retries) == (2, 1)


def test_a_repair_asks_for_a_diagnosis_first_and_shows_typed_feedback(minecraft: Domain) -> None:
    asked, conclusion = requests_of(agent("full", minecraft).repair(situation(failure(0), failure(1))))
    assert [request.role for request in asked] == ["inducer_remedy", "adaptor", "adaptor"]
    shown = asked[1].situation
    assert isinstance(shown, RepairSituation)
    assert [row.failure_type for row in shown.recent] == ["MISSING_INGREDIENT"] * 2
    assert shown.kept == 1
    assert conclusion.budget.row()["diagnoses"] == 1


def test_binary_feedback_tells_success_alone_and_so_nothing_can_be_diagnosed(minecraft: Domain) -> None:
    asked, _ = requests_of(agent("binary_feedback", minecraft).repair(situation(failure(0))))
    assert [request.role for request in asked] == ["adaptor", "adaptor"]
    shown = asked[0].situation
    assert isinstance(shown, RepairSituation)
    (row,) = shown.recent
    assert row.y is False
    assert (row.failure_type, row.missing, row.causes, row.evidence, row.change) == (None, (), (), None, None)
    assert "oak_planks" not in asked[0].user


def test_text_feedback_tells_the_evidence_as_a_sentence_and_no_type(minecraft: Domain) -> None:
    asked, _ = requests_of(agent("text_feedback", minecraft).repair(situation(failure(0))))
    assert [request.role for request in asked] == ["adaptor", "adaptor"]
    shown = asked[0].situation
    assert isinstance(shown, RepairSituation)
    (row,) = shown.recent
    assert (row.y, row.evidence) == (False, "not enough")
    assert (row.failure_type, row.missing, row.causes, row.progress) == (None, (), (), None)
    assert "not enough" in asked[0].user
    assert "MISSING_INGREDIENT" not in asked[0].user


@pytest.mark.parametrize(
    ("words", "targets", "kind", "target"),
    [
        ("Chop an oak log from a tree", ("oak_log",), "mine", "oak_log"),
        ("Kill a cow to obtain leather", ("leather",), "combat", "cow"),
        ("Smelt iron ore into iron ingot", ("iron_ingot",), "smelt", "iron_ingot"),
        ("Dig down and mine a diamond", ("diamond",), "mine", "diamond"),
        ("Upgrade a wooden pickaxe to a stone pickaxe", ("stone_pickaxe",), "craft", "stone_pickaxe"),
    ],
)
def test_without_planning_the_goal_is_the_only_subgoal_and_has_all_the_time(
    minecraft: Domain, words: str, targets: tuple[str, ...], kind: str, target: str
) -> None:
    wanted = task().model_copy(update={"instruction": words, "any_of": targets, "count": 2})
    begun = replace(situation(), task=wanted, spec=spec(horizon=1200))
    asked, conclusion = requests_of(agent("executor_only", minecraft).plan(begun))
    assert asked == []
    assert isinstance(conclusion.plan, Plan)
    (only,) = conclusion.plan.subgoals
    assert (only.kind, only.target, only.count, only.timeout_s) == (kind, target, 2, 60.0)
    assert (only.condition, only.checks[0].name, only.checks[0].value) == (words, targets[0], 2.0)
    assert conclusion.budget.used == 0


def test_without_memory_a_repair_sees_the_failure_at_hand_alone(minecraft: Domain) -> None:
    asked, _ = requests_of(agent("no_memory", minecraft).repair(situation(failure(0), failure(1))))
    shown = asked[-1].situation
    assert isinstance(shown, RepairSituation)
    assert [row.attempt for row in shown.recent] == [1]


def test_rows_without_repair_or_knowledge(minecraft: Domain) -> None:
    assert not agent("no_repair", minecraft).repairs
    assert not agent("no_feedback", minecraft).repairs
    assert agent_row("no_knowledge").types == frozenset()
    assert agent_row("skills_only").types == {"skill"}
    assert agent_row("remedies_only").types == {"remedy"}
    (request, _), _ = requests_of(agent("full", minecraft).plan(situation()))
    assert isinstance(request.situation, PlanSituation)
    assert request.situation.executors == ("scripted",)
    assert TICKS_PER_SECOND == 20
