"""The sweep over misconceptions, read where there is one."""

from pathlib import Path

import polars as pl
import pytest

from rollouts.report.study import MISCONCEPTIONS, StudyError, misconceptions, misconceptions_file


def written(home: Path, frame: pl.DataFrame) -> Path:
    path = misconceptions_file(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.write_parquet(path)
    return home


def test_rows_come_sorted_with_their_share(tmp_path: Path) -> None:
    assert misconceptions(tmp_path) is None
    rows = [
        (0.5, "g", "frozen", 3, 4, 0.1, 0.9),
        (0.5, "g", "empty", 1, 4, 0.1, 0.9),
        (0, "g", "empty", 0, 0, None, None),
    ]
    frame = pl.DataFrame(rows, schema=MISCONCEPTIONS, orient="row")
    found = misconceptions(written(tmp_path, frame.with_columns(more=pl.lit("column"))))
    assert found is not None
    assert found.select("misconceptions", "arm", "share").rows() == [
        (0, "empty", None),
        (0.5, "empty", 0.25),
        (0.5, "frozen", 0.75),
    ]


def test_another_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"misconceptions\.parquet holds no sweep"):
        misconceptions(written(tmp_path, pl.DataFrame({"a": [1]})))
