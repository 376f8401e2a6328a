"""The bench of Monitor against the inner truth: what it plays, and that its two sides never meet. Its figures
are no test's business."""

import polars as pl
from rich.console import Console

from bench.monitor_truth import DEVELOPMENT, EXAM, Size, judged, measured, probe_records, report
from bench.truth_probes import all_names, probes
from rollouts.monitor.agreement import agreement
from rollouts.seeds import is_for_evaluation
from warehouse.domains import Domain


def test_development_and_exam_share_no_world_and_no_planner() -> None:
    for name in all_names(probes())[:5]:
        assert not any(is_for_evaluation(seed) for seed in DEVELOPMENT.worlds(name, 20))
        assert all(is_for_evaluation(seed) for seed in EXAM.worlds(name, 20))
    numbers = range(50)
    assert not {DEVELOPMENT.planner(n) for n in numbers} & {EXAM.planner(n) for n in numbers}


def test_probes_have_names_of_their_own() -> None:
    assert len(all_names(probes())) == len(probes())


def test_a_probe_is_an_attempt_whose_truth_the_world_knows(minecraft: Domain) -> None:
    wanted = {"craft wooden_pickaxe without a table": "MISSING_STATION", "smelt without fuel": "NO_FUEL"}
    chosen = [probe for probe in probes() if probe.name in wanted]
    for messages in (False, True):
        records = list(probe_records(minecraft, DEVELOPMENT, Size(1, 0), messages=messages, of=chosen))
        feedback, truths = judged(records, minecraft)
        told = truths.filter(pl.col("scope") == "attempt")
        assert sorted(told["failure_type"]) == sorted(wanted.values())
        result = agreement(feedback, truths)
        assert (result.k, result.n, result.untold) == (2, 2, 0)
        said = [event for record in records for event in record.attempts[0].run.events["text"].drop_nulls()]
        assert bool(said) is messages, "nothing is explained unless messages are on"
    console = Console(record=True, width=100)
    report(DEVELOPMENT, result, messages=True, console=console)
    assert "macro-F1 1.000" in console.export_text()


def test_the_same_worlds_give_the_same_judgement(minecraft: Domain) -> None:
    chosen = [probe for probe in probes() if probe.name == "mine stone by hand"]
    once, again = (
        judged(list(probe_records(minecraft, DEVELOPMENT, Size(1, 0), messages=False, of=chosen)), minecraft)
        for _ in range(2)
    )
    assert once[0].equals(again[0])
    assert once[1].equals(again[1])


def test_episodes_are_measured_too(minecraft: Domain) -> None:
    feedback, truths = measured(
        minecraft, DEVELOPMENT, Size(0, 1), "episodes", messages=False, horizon_cap=200
    )
    assert feedback["episode_id"].n_unique() <= 7
    failed = feedback.filter(~pl.col("y"))
    told = truths.filter(pl.col("scope") == "attempt")
    assert failed.join(told, on=["episode_id", "attempt"], how="anti").is_empty()
