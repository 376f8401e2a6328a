"""The review's request and its verdicts: what a reviewer is shown, and what comes of whatever it says."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prompts.engines.rules import RulesStandIn
from prompts.language_model import ErrorReason, ModelAnswer, ModelRequest
from prompts.rendering import render_entry, render_knowledge
from prompts.responses import failed_answer, read_answer
from prompts.review import SUMMARY_TOKENS, WINDOW, Reviewed, ReviewSituation, Summary, review, review_request
from prompts.tokens import PieceCounter
from tests.good_cases import DOMAIN, Case, log_skill, planks_skill, station_remedy, stored, stuck_remedy
from tests.test_curator import passed
from tests.test_rendering import ESCAPES
from warehouse.acceptance import reasons_against
from warehouse.curator import curate
from warehouse.entries import Entry, Review
from warehouse.facts import FeedbackFact
from warehouse.knowledge import Candidate, RemedyContent

COUNTER = PieceCounter()
KEEP = '{"reason": "the records bear it out", "verdict": "keep"}'
REJECT = '{"reason": "a table does not help here", "verdict": "reject"}'


@dataclass
class Saying:
    """A model that says of a candidate, by its entry's id, what it is told to; a list is said in turn."""

    says: dict[str, list[str]] = field(default_factory=dict)
    fails: dict[str, ErrorReason] = field(default_factory=dict)
    finish_reason: str = "stop"
    name: str = "saying"
    batches: list[int] = field(default_factory=list)

    def generate(self, requests: Sequence[ModelRequest]) -> list[ModelAnswer]:
        self.batches.append(len(requests))
        return [self._answer(request) for request in requests]

    def _answer(self, request: ModelRequest) -> ModelAnswer:
        assert isinstance(request.situation, ReviewSituation)
        about = request.situation.proposed.entry_id
        if about in self.fails:
            return failed_answer(request, self.name, self.fails[about], "down")
        texts = self.says.get(about, [KEEP])
        said = texts.pop(0) if len(texts) > 1 else texts[0]
        return read_answer(request, self.name, said, finish_reason=self.finish_reason)


def reviewed(model: Saying | RulesStandIn, *cases: Case, store: Sequence[Entry] = ()) -> Reviewed:
    """What the model says of the candidates that Curator accepts under the reviews so far."""
    candidates, facts = [case.candidate for case in cases], facts_of(*cases)
    known = {entry.entry_id: entry for entry in store}

    def standing(reviews: Sequence[Review]) -> list[Candidate]:
        decisions = curate(candidates, facts, known, [], DOMAIN, reviews=reviews).decisions
        accepted = {one.candidate_id for one in decisions if one.verdict == "accepted"}
        return [each for each in candidates if each.candidate_id in accepted]

    return review(standing, facts, store, DOMAIN, model, COUNTER)


def facts_of(*cases: Case) -> dict[str, FeedbackFact]:
    return {one: fact for case in cases for one, fact in case.facts.items()}


def asked(case: Case, store: Sequence[Entry] = ()) -> ModelRequest:
    return review_request(case.candidate, case.facts, Summary(store, DOMAIN, COUNTER), DOMAIN)


def situation_of(request: ModelRequest) -> ReviewSituation:
    assert isinstance(request.situation, ReviewSituation)
    return request.situation


def store_of(*cases: Case) -> list[Entry]:
    return list(passed(*cases).store.values())


def test_a_request_shows_the_proposal_its_records_and_what_is_known() -> None:
    case, known = station_remedy("oak", "axe"), store_of(station_remedy("oak", "pickaxe"), log_skill("oak"))
    request = asked(case, known)
    assert (request.role, request.template) == ("curator", "curator_v1")
    assert render_entry(situation_of(request).proposed) in request.user
    assert "f1: episode" in request.user
    assert "craft wooden_axe x1: failed, MISSING_STATION" in request.user
    assert "(75%, 2 episodes)" in request.user
    assert situation_of(request).active == 2
    assert render_knowledge(situation_of(request).known) in request.user
    assert {entry.entry_id for entry in situation_of(request).known} == {each.entry_id for each in known}


def test_all_requests_begin_with_the_same_words() -> None:
    known = store_of(log_skill("birch"))
    systems = {asked(case, known).system for case in (station_remedy("oak", "axe"), planks_skill("oak"))}
    assert len(systems) == 1


def test_an_answer_has_a_reason_and_one_of_two_verdicts_and_nothing_else() -> None:
    schema = asked(planks_skill("oak")).json_schema
    assert schema["additionalProperties"] is False
    assert schema["required"] == list(schema["properties"]) == ["reason", "verdict"]
    assert schema["properties"]["verdict"]["enum"] == ["keep", "reject"]
    assert schema["properties"]["reason"]["maxLength"] == 240


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 600), st.integers(0, 5))
def test_the_summary_stays_within_its_tokens_nearest_first(budget: int, own: int) -> None:
    tools = ("axe", "pickaxe", "shovel", "sword", "hoe")
    store = store_of(*(station_remedy("oak", tool, 1 + place) for place, tool in enumerate(tools)))
    entry = situation_of(asked(station_remedy("birch", tools[own % 5]))).proposed
    found = Summary(store, DOMAIN, COUNTER, budget).about(entry)
    assert COUNTER.count(render_knowledge(found)) <= budget
    everything = Summary(store, DOMAIN, COUNTER, 10_000).about(entry)
    assert len(everything) == len(tools)
    assert everything[0].content.risk.target == entry.content.risk.target  # type: ignore[union-attr]
    assert [each for each in everything if each in found] == list(found)


def test_a_large_store_is_summarised_in_as_many_tokens_as_a_planner_gets() -> None:
    woods, tools = ("oak", "birch", "spruce", "jungle"), ("axe", "pickaxe", "shovel", "sword", "hoe")
    store = store_of(*(planks_skill(wood) for wood in woods), *(log_skill(wood) for wood in woods))
    store += store_of(*(station_remedy("oak", tool) for tool in tools))
    shown = situation_of(asked(station_remedy("birch", "axe"), store))
    assert 0 < len(shown.known) < shown.active == len(store)
    assert COUNTER.count(render_knowledge(shown.known)) <= SUMMARY_TOKENS


def test_many_attempts_are_shown_by_the_most_telling_of_each_episode() -> None:
    shown = situation_of(asked(station_remedy("oak", "axe", rows=9)))
    assert (shown.rows, shown.episodes, len(shown.cited)) == (9, 9, WINDOW)
    assert len({row.episode_id for row in shown.cited}) == WINDOW


@pytest.mark.parametrize("text", ESCAPES)
def test_neither_recorded_nor_proposed_words_can_leave_their_place(text: str) -> None:
    def prompt(words: str) -> str:
        case = station_remedy("oak", "axe")
        content = case.candidate.content
        assert isinstance(content, RemedyContent)
        case = case.with_content(risk=content.risk.model_copy(update={"note": words}))
        facts = {
            one: replace(fact, evidence=fact.evidence._replace(text=words))
            for one, fact in case.facts.items()
        }
        known = [stored(case.candidate.content, *case.candidate.trigger)]
        return review_request(case.candidate, facts, Summary(known, DOMAIN, COUNTER), DOMAIN).user

    quoted, harmless = prompt(text), prompt("harmless")
    assert len(quoted.splitlines()) == len(harmless.splitlines())
    for block in ("proposal", "records", "knowledge"):
        assert quoted.count(f"<{block}>") == quoted.count(f"</{block}>") == 1
    for token in ("<|", "|>", "[INST", "[/INST", "```", "{{", "{%", "\u2028", "\x1b", "\x00", "\u202e"):
        assert token not in quoted
    evidence = next(line for line in quoted.splitlines() if line.startswith("  evidence: "))
    assert json.loads(evidence.removeprefix("  evidence: ")) == text


def test_a_refusal_is_a_verdict_with_its_reason_and_the_way_to_the_answer() -> None:
    refused, kept = station_remedy("oak", "axe"), planks_skill("oak")
    found = reviewed(Saying({refused.candidate.entry_id: [REJECT]}), refused, kept)
    verdicts = {one.candidate_id: one for one in found.verdicts}
    assert found.asked == len(verdicts) == 2
    no = verdicts[refused.candidate.candidate_id]
    assert (no.verdict, no.reason, no.model) == ("rejected", "a table does not help here", "saying")
    assert no.request_id in {request.request_id for request in found.requests}
    assert verdicts[kept.candidate.candidate_id].verdict == "accepted"


def test_all_are_asked_together() -> None:
    model = Saying()
    reviewed(model, station_remedy("oak", "axe"), planks_skill("oak"), log_skill("oak"))
    assert [size for size in model.batches if size] == [3]


def test_what_the_checks_refuse_is_not_asked_about_and_never_let_in() -> None:
    good, bad = planks_skill("oak"), log_skill("birch").with_candidate(support=())
    assert reasons_against(bad.candidate, bad.facts, DOMAIN)
    found = reviewed(Saying(), good, bad)
    assert [one.candidate_id for one in found.verdicts] == [good.candidate.candidate_id]
    both = [good.candidate, bad.candidate]
    praise = found.verdicts[0].model_copy(update={"candidate_id": bad.candidate.candidate_id})
    result = curate(both, facts_of(good, bad), {}, [], DOMAIN, reviews=[*found.verdicts, praise])
    assert list(result.store) == [good.candidate.entry_id]


@pytest.mark.parametrize(
    ("said", "finish_reason", "reason", "tries"),
    [
        ('{"reason": "it is', "length", "length", 2),
        ("", "stop", "empty", 2),
        ("keep", "stop", "invalid_json", 2),
        ('{"verdict": "reject"}', "stop", "schema", 2),
        ('{"reason": "x", "verdict": "reject", "confidence": 1}', "stop", "schema", 2),
        ('{"reason": "x", "verdict": "accept"}', "stop", "schema", 2),
        (json.dumps({"reason": "x" * 241, "verdict": "reject"}), "stop", "schema", 2),
        ("I would rather not", "content_filter", "refusal", 1),
    ],
)
def test_an_answer_that_cannot_be_used_is_recorded_and_decides_nothing(
    said: str, finish_reason: str, reason: str, tries: int
) -> None:
    case = planks_skill("oak")
    found = reviewed(Saying({case.candidate.entry_id: [said]}, finish_reason=finish_reason), case)
    assert found.verdicts == ()
    assert [answer.error and answer.error.reason for answer in found.answers] == [reason] * tries
    assert [request.template for request in found.requests][1:] == ["curator_v1+again_v1"] * (tries - 1)


@pytest.mark.parametrize("reason", ["engine", "timeout"])
def test_a_model_that_is_gone_decides_nothing_and_costs_no_other(reason: ErrorReason) -> None:
    lost, refused = planks_skill("oak"), station_remedy("oak", "axe")
    model = Saying({refused.candidate.entry_id: [REJECT]}, {lost.candidate.entry_id: reason})
    found = reviewed(model, lost, refused)
    assert [one.entry_id for one in found.verdicts] == [refused.candidate.entry_id]
    assert sorted(answer.error.reason if answer.error else "" for answer in found.answers) == ["", reason]
    assert found.asked == 2


def test_a_broken_answer_is_mended_when_the_model_is_told() -> None:
    case = planks_skill("oak")
    model = Saying({case.candidate.entry_id: ["reject!", REJECT]})
    found = reviewed(model, case)
    assert model.batches == [1, 1]
    assert [(one.verdict, one.template) for one in found.verdicts] == [("rejected", "curator_v1+again_v1")]


def test_a_refusal_that_lets_another_in_has_that_one_reviewed_too() -> None:
    """The other stood back behind the refused one; it would come in unseen."""
    first, second = planks_skill("oak"), log_skill("oak")
    facts = facts_of(first, second)

    def standing(reviews: Sequence[Review]) -> list[Candidate]:
        refused = {one.candidate_id for one in reviews if one.verdict == "rejected"}
        return [second.candidate] if first.candidate.candidate_id in refused else [first.candidate]

    model = Saying({first.candidate.entry_id: [REJECT], second.candidate.entry_id: [REJECT]})
    found = review(standing, facts, (), DOMAIN, model, COUNTER)
    assert [one.candidate_id for one in found.verdicts] == [
        first.candidate.candidate_id,
        second.candidate.candidate_id,
    ]
    assert found.asked == 2


def test_the_same_candidates_are_asked_about_in_the_same_words() -> None:
    cases, store = [stuck_remedy("oak"), planks_skill("oak")], store_of(log_skill("oak"))
    ids = [
        [request.request_id for request in reviewed(RulesStandIn(DOMAIN), *cases, store=each).requests]
        for each in (store, store[::-1])
    ]
    assert ids[0] == ids[1]
