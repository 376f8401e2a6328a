"""Monitor against human labels: agreement with k, n, a Wilson interval and a confusion table.

A label names an attempt by the file that it was recorded in. Agreement on the failure type is over the
attempts that the label calls unsuccessful.
"""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from scipy.stats import binomtest

from rollouts.ingest.protocol import printable
from warehouse.vocabulary import FAILURE_TYPES, NO_FAILURE


class Label(BaseModel):
    """One labelled attempt."""

    model_config = ConfigDict(extra="ignore")

    file: str
    success: bool
    claimed: bool
    # pydantic reads the vocabulary where it stands; mypy wants each word written out.
    failure_type: Literal[(*FAILURE_TYPES, NO_FAILURE)]  # type: ignore[valid-type]
    evidence: str = ""
    confidence: str = ""


@dataclass(frozen=True)
class Agreement:
    """k of n labelled attempts agree; `low` and `high` bound the share at 95 % (Wilson)."""

    question: str
    k: int
    n: int
    goal: float

    @property
    def share(self) -> float | None:
        return self.k / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float] | None:
        if not self.n:
            return None
        bounds = binomtest(self.k, self.n).proportion_ci(method="wilson")
        return float(bounds.low), float(bounds.high)

    @property
    def met(self) -> bool:
        return self.share is not None and self.share >= self.goal


@dataclass(frozen=True)
class Disagreement:
    """A labelled attempt on which Monitor and the label differ."""

    file: str
    question: str
    label: str
    monitor: str
    evidence: str


@dataclass(frozen=True)
class Score:
    """All agreements, the confusion counts (label's type, Monitor's type) and what disagrees."""

    agreements: tuple[Agreement, ...]
    confusion: dict[tuple[str, str], int]
    disagreements: tuple[Disagreement, ...]
    missing: tuple[str, ...]
    """labelled files of which the trace has no attempt"""


GOALS = {"success": 0.95, "claimed": 0.9, "failure_type": 0.9}


def read_labels(path: Path) -> list[Label]:
    """The labels of a JSON file: a list of {file, success, claimed, failure_type, …}.

    Raises `ValueError` that says what is wrong and where.
    """
    try:
        return TypeAdapter(list[Label]).validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{path} is not a label file: {where}: {first['msg']}") from error


def score(attempts: pl.DataFrame, feedback: pl.DataFrame, labels: list[Label]) -> Score:
    """Agreement of `feedback` (with its `attempts`) with the labels.

    An undecided success counts as not successful and an undecided claim as none: a label has no third value.
    """
    rows = attempts.join(feedback, on=["episode_id", "attempt"])
    by_file = {_file_name(row["source"]): row for row in rows.iter_rows(named=True) if row["source"]}
    hits: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    confusion: Counter[tuple[str, str]] = Counter()
    disagreements = []
    missing = []
    for label in sorted(labels, key=lambda label: label.file):
        row = by_file.get(printable(label.file))
        if row is None:
            missing.append(printable(label.file))
            continue
        pairs = {
            "success": (str(label.success), str(bool(row["y"]))),
            "claimed": (str(label.claimed), str(bool(row["claimed"]))),
        }
        if not label.success:
            pairs["failure_type"] = (label.failure_type, row["failure_type"] or "undecided")
            confusion[pairs["failure_type"]] += 1
        for question, (wanted, found) in pairs.items():
            totals[question] += 1
            hits[question] += wanted == found
            if wanted != found:
                disagreements.append(
                    Disagreement(printable(label.file), question, wanted, found, label.evidence)
                )
    return Score(
        tuple(
            Agreement(question, hits[question], totals[question], goal) for question, goal in GOALS.items()
        ),
        dict(sorted(confusion.items())),
        tuple(disagreements),
        tuple(missing),
    )


def _file_name(source: str) -> str:
    return source.rsplit("/", 1)[-1]
