"""Agreement with labels."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from rollouts.ingest.protocol import merge
from rollouts.ingest.voyager import VoyagerImporter
from rollouts.monitor import monitor
from rollouts.monitor.score import Agreement, Label, read_labels, score
from rollouts.trace import Trace
from warehouse.domains import Domain


def frames() -> tuple[pl.DataFrame, pl.DataFrame]:
    key = {"episode_id": ["e"] * 3, "attempt": [0, 1, 2]}
    attempts = pl.DataFrame(key | {"source": ["a/x", "a/y", "a/z"], "claimed": [True, None, False]})
    feedback = pl.DataFrame(key | {"y": [True, None, False], "failure_type": ["NONE", None, "DEATH"]})
    return attempts, feedback


def test_agreement_counts_what_agrees() -> None:
    labels = [
        Label(file="x", success=True, claimed=True, failure_type="NONE"),
        Label(file="y", success=False, claimed=False, failure_type="UNKNOWN"),
        Label(file="z", success=False, claimed=True, failure_type="DEATH"),
        Label(file="gone", success=True, claimed=True, failure_type="NONE"),
    ]
    result = score(*frames(), labels)
    assert {a.question: (a.k, a.n) for a in result.agreements} == {
        "success": (3, 3),
        "claimed": (2, 3),
        "failure_type": (1, 2),
    }
    assert result.confusion == {("DEATH", "DEATH"): 1, ("UNKNOWN", "undecided"): 1}
    assert result.missing == ("gone",)


def test_an_agreement_over_nothing_has_no_share() -> None:
    assert Agreement("success", 0, 0, 0.9).share is None
    assert Agreement("success", 0, 0, 0.9).met is False
    low, high = Agreement("success", 25, 210, 0.9).interval or (0, 0)
    assert (round(low, 3), round(high, 3)) == (0.082, 0.170)


def test_a_broken_label_file_says_where(tmp_path: Path) -> None:
    path = tmp_path / "labels.json"
    path.write_text('[{"file": "x", "success": true, "claimed": true, "failure_type": "SAD"}]')
    with pytest.raises(ValueError, match=r"labels.json is not a label file: 0.failure_type"):
        read_labels(path)


def test_real_labels(traces: Path, shared_file: Callable[[str], Path], minecraft: Domain) -> None:
    labels = shared_file("labels/voyager_questllama.json")
    trace = Trace.of(merge(VoyagerImporter().read(traces / "voyager_questllama", "b0", minecraft)))
    result = score(trace.attempts, monitor(trace, minecraft), read_labels(labels))
    assert all(agreement.met for agreement in result.agreements), result.disagreements
    assert result.missing == ()
