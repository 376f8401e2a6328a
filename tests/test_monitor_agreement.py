"""F1 against the inner truth, against a count in plain Python."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollouts.monitor.agreement import FEW, agreement, class_figures, macro_f1
from warehouse.vocabulary import FAILURE_TYPES

TYPES = ("DEATH", "MISSING_TOOL", "NAV_STUCK", "UNKNOWN")
Pairs = list[tuple[str, str]]


def frames(pairs: Pairs) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Feedback and truths of as many failed attempts as there are pairs (truth, Monitor)."""
    numbers = list(range(len(pairs)))
    feedback = pl.DataFrame(
        {
            "episode_id": ["e"] * len(pairs),
            "attempt": numbers,
            "y": [False] * len(pairs),
            "failure_type": [given_ for _, given_ in pairs],
        },
        schema={
            "episode_id": pl.String,
            "attempt": pl.Int32,
            "y": pl.Boolean,
            "failure_type": pl.Enum((*FAILURE_TYPES, "NONE")),
        },
    )
    return feedback, truths([(number, truth, "attempt") for number, (truth, _) in enumerate(pairs)])


def truths(rows: list[tuple[int, str, str]]) -> pl.DataFrame:
    schema = {"episode_id": pl.String, "attempt": pl.Int32, "failure_type": pl.String, "scope": pl.String}
    return pl.DataFrame(
        [("e", attempt, failure_type, scope) for attempt, failure_type, scope in rows], schema, orient="row"
    )


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(TYPES), st.sampled_from(TYPES)), min_size=1, max_size=60))
def test_figures_are_those_of_a_plain_count(pairs: Pairs) -> None:
    result = agreement(*frames(pairs))
    assert result.n == len(pairs)
    assert result.k == sum(truth == given_ for truth, given_ in pairs)
    rows = {row["failure_type"]: row for row in result.by_class.iter_rows(named=True)}
    assert set(rows) == {name for pair in pairs for name in pair}
    of_truth = []
    for name, row in rows.items():
        hits = pairs.count((name, name))
        support = sum(truth == name for truth, _ in pairs)
        given_ = sum(each == name for _, each in pairs)
        assert (row["support"], row["given"], row["hits"]) == (support, given_, hits)
        precision = hits / given_ if given_ else None
        recall = hits / support if support else None
        assert row["precision"] == pytest.approx(precision)
        assert row["recall"] == pytest.approx(recall)
        harmonic = 2 * precision * recall / (precision + recall) if hits and precision and recall else 0.0
        assert row["f1"] == pytest.approx(harmonic), "F1 is the harmonic mean of the two"
        if support:
            of_truth.append(harmonic)
    assert result.macro_f1 == pytest.approx(sum(of_truth) / len(of_truth))
    low, high = result.interval or (2.0, -1.0)
    assert 0 <= low <= result.k / result.n <= high <= 1


def test_classes_with_few_attempts_count_alike_and_can_be_left_out() -> None:
    pairs = [("DEATH", "DEATH")] * FEW + [("NAV_STUCK", "UNKNOWN")] * (FEW - 1)
    result = agreement(*frames(pairs))
    assert result.macro_f1 == pytest.approx(0.5)
    assert result.macro_f1_of_many == pytest.approx(1.0)


def test_only_what_failed_is_compared_with_the_truth_of_the_attempt() -> None:
    feedback, _ = frames([("DEATH", "DEATH")] * 4)
    feedback = feedback.with_columns(y=pl.Series([False, True, None, False]))
    known = truths(
        [(0, "NAV_STUCK", "event"), (0, "DEATH", "attempt"), (1, "DEATH", "attempt"), (3, "DEATH", "event")]
    )
    result = agreement(feedback, known)
    assert result.confusion.rows() == [("DEATH", "DEATH", 1)]
    assert result.untold == 1


def test_the_matrix_and_the_classes_are_in_the_order_of_the_cascade() -> None:
    result = agreement(*frames([("UNKNOWN", "DEATH"), ("DEATH", "DEATH"), ("NAV_STUCK", "NAV_STUCK")]))
    assert result.matrix.rows() == [
        (" 1 DEATH", 1, None, None),
        (" 2 NAV_STUCK", None, 1, None),
        (" 3 UNKNOWN", 1, None, None),
    ]
    assert result.by_class["failure_type"].to_list() == ["DEATH", "NAV_STUCK", "UNKNOWN"]
    assert "2 of 3" in result.summary


def test_nothing_to_compare_has_no_figure() -> None:
    result = agreement(*frames([]))
    assert (result.n, result.k, result.macro_f1, result.macro_f1_of_many, result.interval) == (
        0,
        0,
        None,
        None,
        None,
    )
    assert macro_f1(class_figures(result.confusion)) is None
    assert "no unsuccessful attempt" in result.summary
