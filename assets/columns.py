"""The columns of what assets write, and which columns they are made from, as Dagster's catalogue shows them.

An asset of several tables lists their columns as `table.column`.
"""

from collections.abc import Collection, Mapping
from typing import Any, Final

import dagster as dg
import polars as pl

from assets.metadata import table, table_schema
from warehouse.analysis import documented_columns
from warehouse.records import TRACE_TABLES, empty, polars_schema

RECORDED: Final = ("imported_trajectories", "training_rollouts")
"""the assets that hold the trace contract's tables"""

_KEY = ("attempts.episode_id", "attempts.attempt")
_POSITION = ("ticks.x", "ticks.y", "ticks.z")
_CHANGES = ("inventory_changes.item", "inventory_changes.delta")
_VERDICT = ("attempts.success", "attempts.end_reason")
_EVIDENCE = (
    *_VERDICT,
    "attempts.kind",
    "attempts.target",
    "attempts.state_before",
    "attempts.state_after",
    *_POSITION,
    "ticks.alive",
    "ticks.gui",
    "ticks.action",
    "events.kind",
    "events.name",
    "events.signal",
    "events.items",
    "sightings.name",
    "sightings.in_reach",
    *_CHANGES,
)
_GOAL = ("attempts.gained", "attempts.needed")
_PROGRESS = (*_VERDICT, *_POSITION, *_CHANGES, *_GOAL, "episodes.observes")
_STAGNATION = (*_PROGRESS, "ticks.tick", "ticks.action")
_FEEDBACK: Final[Mapping[str, tuple[str, ...]]] = {
    "feedback_id": _KEY,
    "episode_id": ("attempts.episode_id",),
    "attempt": ("attempts.attempt",),
    "z": ("attempts.condition",),
    "y": _VERDICT,
    "delta_state": ("attempts.state_before", "attempts.state_after"),
    "delta_inventory": (*_CHANGES, "episodes.observes"),
    "failure_type": _EVIDENCE,
    "failure_causes": _EVIDENCE,
    "failure_evidence": _EVIDENCE,
    "progress": _PROGRESS,
    "progress_move": (*_VERDICT, *_POSITION),
    "progress_inventory": (*_VERDICT, *_CHANGES, "episodes.observes"),
    "progress_goal": (*_VERDICT, *_GOAL),
    "progress_last": (*_PROGRESS, "ticks.tick"),
    "stagnant": _STAGNATION,
    "stagnant_paper": _PROGRESS,
    "loop_score": (*_POSITION, "attempts.kind", "attempts.target", "attempts.condition"),
    "window_failure_rate": _VERDICT,
    "remedy_due": _STAGNATION,
    "skill_due": _VERDICT,
    "deadlock": (*_EVIDENCE, "attempts.condition"),
}
_EVALUATED_IN_PAIRS = ("episodes.task_id", "episodes.world_seed", "episodes.planner_seed")
_OUTCOME = (*_EVALUATED_IN_PAIRS, "episodes.success", "episodes.end_reason")
_RATES: Final[Mapping[str, tuple[str, ...]]] = {
    "build": ("episodes.build",),
    "task_id": ("episodes.task_id",),
    "planner_seed": ("episodes.planner_seed",),
    "snapshot_id": ("episodes.snapshot_id",),
    "config_hash": ("episodes.config_hash",),
    "tasks": ("episodes.task_id",),
    "worlds": ("episodes.world_seed",),
    "planner_seeds": ("episodes.planner_seed",),
    "excluded": ("episodes.end_reason",),
    "evaluation_id": ("episodes.episode_id", *_OUTCOME),
    **dict.fromkeys(("k", "n", "low", "high", "only_frozen", "only_empty", "mcnemar_p"), _OUTCOME),
    **dict.fromkeys(("difference", "difference_low", "difference_high", "drawn"), _OUTCOME),
}
# What the views make of `evaluations`, where they do not keep the column's name.
_OF_RATES: Final[Mapping[str, tuple[str, ...]]] = {
    "pairs": ("n",),
    **{f"{arm}_k": ("k", "arm") for arm in ("empty", "frozen")},
    **dict.fromkeys(("empty", "frozen"), ("k", "n", "arm")),
    **{f"{arm}_{end}": (end, "arm") for arm in ("empty", "frozen") for end in ("low", "high")},
    "is_current": ("snapshot_id",),
    "task_groups": ("task_group",),
}
_RATE_VIEWS: Final = ("success_by_group", "success_by_task", "success_by_planner", "success_overall")


def traces() -> dict[str, Any]:
    """Metadata of an asset that holds the trace contract's tables."""
    columns = [
        dg.TableColumn(f"{name}.{column.name}", column.type, column.description)
        for name in TRACE_TABLES
        for column in table_schema(empty(name), _comments(name)).columns
    ]
    return {"dagster/column_schema": dg.TableSchema(columns)}


def feedback() -> dict[str, Any]:
    """Metadata of the feedback, eq. 1."""
    return {
        "dagster/column_schema": table_schema(empty("feedback"), _comments("feedback")),
        **_made_from(_lineage(RECORDED, _FEEDBACK)),
    }


def candidates() -> dict[str, Any]:
    """Metadata of what Inducer proposes."""
    cited = {
        "support": ("feedback_id",),
        "failure_type": ("failure_type",),
        "missing": ("failure_evidence",),
    }
    asked = {"kind": ("attempts.kind",), "target": ("attempts.target",)}
    return _documented("candidates") | _made_from(
        _both(_lineage(["typed_feedback"], cited), _lineage(RECORDED, asked))
    )


def handed_in() -> dict[str, Any]:
    """Metadata of the candidates that were handed in; what they are made from lies on other machines."""
    return _documented("candidates")


def reviews() -> dict[str, Any]:
    """Metadata of a reviewer's verdicts."""
    return _documented("reviews") | {"dagster/column_lineage": _same("reviews", "candidates")}


def tryouts() -> dict[str, Any]:
    """Metadata of what came of trying candidates out."""
    proposed = _same("tryouts", "candidates")
    played = {
        "episode_id": ("attempts.episode_id",),
        "situation": (*_KEY, "attempts.checks"),
        "world_seed": ("episodes.world_seed",),
        "success": ("attempts.checks",),
    }
    return _documented("tryouts") | _made_from(_both(proposed, _lineage(["training_rollouts"], played)))


def knowledge() -> dict[str, Any]:
    """Metadata of the store after Curator."""
    proposed = _same("knowledge", "candidates")
    return _documented("knowledge") | {"dagster/column_lineage": proposed}


def snapshot(entries: pl.DataFrame) -> dict[str, Any]:
    """Metadata of a frozen snapshot of these entries."""
    frozen = {name: (name,) for name in entries.columns}
    return {
        "dagster/column_schema": table_schema(entries, _comments("knowledge")),
        "dagster/column_lineage": _lineage(["curated_knowledge"], frozen),
    }


def rates() -> dict[str, Any]:
    """Metadata of the success rates."""
    return _documented("evaluations") | _made_from(_lineage(["evaluation_rollouts"], _RATES))


def analysis() -> dict[str, Any]:
    """Metadata of analysis.duckdb: every table and view, and what the views on evaluations are made from."""
    columns = documented_columns()
    listed = [
        dg.TableColumn(f"{name}.{column}", each.type, each.comment or None)
        for name, own in columns.items()
        for column, each in own.items()
    ]
    rated = columns["evaluations"]
    evaluated = {
        f"{name}.{column}": made_from
        for name in ("evaluations", *_RATE_VIEWS)
        for column in columns[name]
        if (made_from := (column,) if column in rated else _OF_RATES.get(column))
    }
    copied = {
        asset: {f"{name}.{column}": (column,) for column in columns[name]}
        for asset, name in (("typed_feedback", "feedback"), ("curated_knowledge", "knowledge"))
    }
    recorded = {
        f"{name}.{column}": (f"{name}.{column}",) for name in TRACE_TABLES for column in polars_schema(name)
    }
    return {
        "dagster/column_schema": dg.TableSchema(listed),
        "dagster/column_lineage": _both(
            _lineage(["success_rates"], evaluated),
            _lineage(RECORDED, recorded),
            *(_lineage([asset], made_from) for asset, made_from in copied.items()),
        ),
    }


def _made_from(lineage: dg.TableColumnLineage) -> dict[str, Any]:
    """The lineage, and as a table for people: the UI that runs here keeps the former to itself."""
    rows = [
        {"column": column, "made from": ", ".join(dict.fromkeys(dep.column_name for dep in deps))}
        for column, deps in lineage.deps_by_column.items()
    ]
    return {
        "dagster/column_lineage": lineage,
        "what columns are made from": table(pl.DataFrame(rows), rows=len(rows)),
    }


def _documented(name: str) -> dict[str, Any]:
    columns = [
        dg.TableColumn(column, each.type, each.comment or None)
        for column, each in documented_columns()[name].items()
    ]
    return {"dagster/column_schema": dg.TableSchema(columns)}


def _comments(name: str) -> dict[str, str]:
    return {column: each.comment for column, each in documented_columns()[name].items()}


def _same(made: str, of: str) -> dg.TableColumnLineage:
    """Columns of a table that have the name of a candidate's."""
    columns = documented_columns()
    return _lineage(
        ["knowledge_candidates"], {name: (name,) for name in columns[made] if name in columns[of]}
    )


def _lineage(assets: Collection[str], made_from: Mapping[str, Collection[str]]) -> dg.TableColumnLineage:
    return dg.TableColumnLineage(
        {
            column: [dg.TableColumnDep(asset, source) for asset in assets for source in sources]
            for column, sources in made_from.items()
        }
    )


def _both(*parts: dg.TableColumnLineage) -> dg.TableColumnLineage:
    found: dict[str, list[dg.TableColumnDep]] = {}
    for part in parts:
        for column, sources in part.deps_by_column.items():
            found.setdefault(column, []).extend(sources)
    return dg.TableColumnLineage(found)
