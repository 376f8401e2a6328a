"""Telemetry: rows as they were written, oldest first, beside everything that is hashed."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from warehouse import telemetry


def row(minute: int, **values: Any) -> dict[str, Any]:
    empty = dict.fromkeys(telemetry.MODEL_TELEMETRY.names())
    at = datetime(2030, 1, 1, tzinfo=UTC) + timedelta(minutes=minute)
    return {**empty, "at": at, "build": "b1", "cached": False, **values}


def test_rows_are_read_as_they_were_written_oldest_first(tmp_path: Path) -> None:
    later = telemetry.append(tmp_path, [row(2, cost=0.25), row(3)])
    earlier = telemetry.append(tmp_path, [row(1, tokens_in=7)])
    assert later is not None
    assert earlier is not None
    found = telemetry.read(tmp_path)
    assert found.schema == telemetry.MODEL_TELEMETRY
    assert found["at"].dt.minute().to_list() == [1, 2, 3]
    assert found["cost"].to_list() == [None, 0.25, None]
    assert found["tokens_in"].to_list() == [7, None, None]


def test_retrievals_are_kept_beside_model_calls(tmp_path: Path) -> None:
    at = datetime(2030, 1, 1, tzinfo=UTC)
    rows = [
        {"at": at, "build": "b1", "seconds": seconds, "active": 3, "retrieved": 1} for seconds in (0.5, 0.25)
    ]
    assert telemetry.append_retrievals(tmp_path, rows) is not None
    found = telemetry.read_retrievals(tmp_path)
    assert found.schema == telemetry.RETRIEVAL_TELEMETRY
    assert found["seconds"].to_list() == [0.5, 0.25]
    assert telemetry.read(tmp_path).is_empty()
    assert telemetry.append_retrievals(tmp_path, []) is None


def test_nothing_is_written_of_nothing(tmp_path: Path) -> None:
    assert telemetry.append(tmp_path, []) is None
    assert telemetry.read(tmp_path).is_empty()
    assert list(tmp_path.iterdir()) == []
