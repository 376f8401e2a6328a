"""What the catalogue says of columns has to be of columns that are there."""

from collections.abc import Callable
from typing import Any

import dagster as dg
import pytest

from assets import columns
from warehouse.records import polars_schema
from warehouse.snapshots import entry_rows

SAID: dict[str, Callable[[], dict[str, Any]]] = {
    "imported_trajectories": columns.traces,
    "training_rollouts": columns.traces,
    "evaluation_rollouts": columns.traces,
    "typed_feedback": columns.feedback,
    "knowledge_candidates": columns.candidates,
    "candidate_reviews": columns.reviews,
    "curated_knowledge": columns.knowledge,
    "knowledge_snapshot": lambda: columns.snapshot(entry_rows([])),
    "success_rates": columns.rates,
    "analysis_warehouse": columns.analysis,
}


def names(asset: str) -> list[str]:
    schema: dg.TableSchema = SAID[asset]()["dagster/column_schema"]
    return [column.name for column in schema.columns]


def lineage(asset: str) -> dict[str, set[tuple[str, str]]]:
    said: dg.TableColumnLineage = SAID[asset]()["dagster/column_lineage"]
    return {
        column: {(dep.asset_key.to_user_string(), dep.column_name) for dep in deps}
        for column, deps in said.deps_by_column.items()
    }


@pytest.mark.parametrize("asset", SAID)
def test_every_column_has_a_type_and_says_what_it_holds(asset: str) -> None:
    schema: dg.TableSchema = SAID[asset]()["dagster/column_schema"]
    assert [column.name for column in schema.columns if not column.type or not column.description] == []
    assert len(set(names(asset))) == len(schema.columns)


@pytest.mark.parametrize("asset", [asset for asset in SAID if SAID[asset] is not columns.traces])
def test_lineage_leads_from_columns_that_are_there_to_columns_that_are_there(asset: str) -> None:
    found = lineage(asset)
    assert set(found) <= set(names(asset))
    sources = set().union(*found.values())
    assert {source for source in sources if source[1] not in names(source[0])} == set()


def test_all_of_the_feedback_is_made_from_the_traces() -> None:
    found = lineage("typed_feedback")
    assert set(found) == set(polars_schema("feedback").names())
    assert found["progress_move"] >= {
        ("imported_trajectories", f"ticks.{axis}") for axis in ("x", "y", "z")
    } | {("training_rollouts", f"ticks.{axis}") for axis in ("x", "y", "z")}
    assert not any("ticks" in source for _, source in found["progress_inventory"])


def test_the_views_of_an_evaluation_come_from_its_rates() -> None:
    found = lineage("analysis_warehouse")
    assert found["success_by_group.frozen_low"] == {("success_rates", "low"), ("success_rates", "arm")}
    assert found["success_by_task.pairs"] == {("success_rates", "n")}
    views = {name for name in names("analysis_warehouse") if name.startswith("success_by_group.")}
    assert views <= set(found)
