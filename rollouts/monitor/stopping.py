"""Causes that depend on no other cause being there: a craft that just gave nothing, an agent that stopped."""

import polars as pl

from rollouts.monitor.case import Case
from rollouts.monitor.contradictions import contradicted
from rollouts.monitor.evidence import EVIDENCE, no_causes
from rollouts.monitor.runs import KEY

_FAILED_ACTIONS = ("no_room", "action_timeout")


def stopping(case: Case, found: pl.DataFrame) -> pl.DataFrame:
    """RECIPE_FAIL, SMELT_FAIL and PREMATURE_STOP for the attempts in which no other cause was found."""
    failed = case.attempts.filter(~pl.col("y").fill_null(True)).join(
        found.select(KEY).unique(), on=KEY, how="anti"
    )
    events = case.events.with_columns(pl.col("signal").cast(pl.String))
    if failed.is_empty() or events["signal"].null_count() == events.height:
        return no_causes()
    broke = events.filter(pl.col("signal").is_in(list(_FAILED_ACTIONS))).select(KEY).unique()
    whole = failed.join(broke, on=KEY, how="anti")
    unfinished = _unfinished(events, whole)
    willing = whole.join(unfinished.select(KEY), on=KEY, how="anti").filter(
        pl.col("end_reason") == "agent_stopped"
    )
    return pl.concat([unfinished, _stopped(events, willing, case)], how="diagonal_relaxed")


def _unfinished(events: pl.DataFrame, failed: pl.DataFrame) -> pl.DataFrame:
    """The attempt's own craft or smelt was started, nothing was missing, and no result came."""
    own = failed.filter(pl.col("kind").cast(pl.String).is_in(["craft", "smelt"])).select(
        *KEY, act=pl.format("{}:{}", pl.col("kind").cast(pl.String), "target"), kind_="kind"
    )
    tried = events.filter(pl.col("signal") == "started").join(
        own, left_on=[*KEY, "name"], right_on=[*KEY, "act"]
    )
    got = events.filter(pl.col("signal") == "done").join(own, left_on=[*KEY, "name"], right_on=[*KEY, "act"])
    return _first(
        tried.join(got.select(KEY).unique(), on=KEY, how="anti").with_columns(
            type=pl.when(pl.col("kind_").cast(pl.String) == "smelt")
            .then(pl.lit("SMELT_FAIL"))
            .otherwise(pl.lit("RECIPE_FAIL"))
        )
    )


def _stopped(events: pl.DataFrame, willing: pl.DataFrame, case: Case) -> pl.DataFrame:
    """The agent stopped on the word that it has or did what it was asked for, or that it lacks what it
    holds; the inventory says otherwise."""
    denied = contradicted(case)
    claims = events.filter(pl.col("signal").is_in(["claim", "claim_have"])).join(
        willing.filter(pl.col("claimed").fill_null(False)).select(KEY), on=KEY
    )
    wants = events.join(denied, on=[*KEY, "seq"]).join(willing.select(KEY), on=KEY)
    last = pl.concat([claims, wants]).sort([*KEY, "tick", "seq"], maintain_order=True)
    return _first(last.reverse().with_columns(type=pl.lit("PREMATURE_STOP")))


def _first(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(*KEY, "type", *EVIDENCE).unique(KEY, keep="first", maintain_order=True)
