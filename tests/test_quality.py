"""Findings about recordings that contradict themselves."""

import polars as pl

from rollouts.ingest import quality
from warehouse.records import arrange, empty

E = "e" * 20


def ticks(actions: list[str], xs: list[float], gui: str = "none", episode: str = E) -> pl.DataFrame:
    rows = range(len(actions))
    frame = pl.DataFrame(
        {
            "episode_id": [episode for _ in rows],
            "attempt": [0 for _ in rows],
            "tick": list(rows),
            "x": xs,
            "z": [0.0 for _ in rows],
            "gui": [gui for _ in rows],
            "action": actions,
        }
    )
    return arrange("ticks", pl.concat([empty("ticks").lazy().collect(), frame], how="diagonal_relaxed"))


def changes(*rows: tuple[int, str, int, int]) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema=["tick", "item", "delta", "count"], orient="row")
    return arrange(
        "inventory_changes",
        frame.with_columns(episode_id=pl.lit(E), attempt=pl.lit(0), seq=pl.lit(0)),
    )


def vanished(frame: pl.DataFrame, *rows: tuple[int, str, int, int]) -> list[str]:
    return quality.result_vanished(frame, changes(*rows))["detail"].to_list()


IDLE = ticks(["noop"] * 6, [0.0] * 6)


def test_a_gain_that_is_gone_at_the_next_tick_has_vanished() -> None:
    assert vanished(IDLE, (2, "stick", 4, 4), (3, "stick", -4, 0)) == ["stick: 4 at tick 2, 0 at the next"]


def test_a_gain_that_is_used_up_later_or_in_part_has_not_vanished() -> None:
    assert not vanished(IDLE, (2, "stick", 4, 4), (4, "stick", -4, 0))
    assert not vanished(IDLE, (2, "stick", 4, 4), (3, "stick", -2, 2))


def test_what_turns_into_something_else_has_not_vanished() -> None:
    assert not vanished(IDLE, (2, "log", 1, 1), (3, "log", -1, 0), (3, "planks", 4, 4))


def test_what_an_input_gives_away_has_not_vanished() -> None:
    for action in ("use", "drop+forward", "place:stick"):
        frame = ticks(["noop", "noop", "noop", action], [0.0] * 4)
        assert not vanished(frame, (2, "stick", 4, 4), (3, "stick", -4, 0))
    clicked = ticks(["noop", "noop", "noop", "attack"], [0.0] * 4, gui="other")
    assert not vanished(clicked, (2, "stick", 4, 4), (3, "stick", -4, 0))
    swung = ticks(["noop", "noop", "noop", "attack"], [0.0] * 4)
    assert vanished(swung, (2, "stick", 4, 4), (3, "stick", -4, 0))


def drifting(actions: list[str], step: float) -> pl.DataFrame:
    return quality.noop_while_moving(ticks(actions, [step * n for n in range(len(actions))]))


def test_a_body_that_moves_for_long_without_input_is_told_with_its_figures() -> None:
    found = drifting(["forward", *["noop"] * quality.NOOP_RUN, "forward"], 0.1)
    (row,) = found.rows(named=True)
    assert (row["tick"], row["attempt"]) == (1, 0)
    assert row["detail"] == "40 ticks without input, to tick 40, moved 4.0 blocks sideways"


def test_a_short_glide_a_slow_drift_and_a_walk_are_no_findings() -> None:
    assert drifting(["noop"] * quality.NOOP_RUN, 0.1).is_empty()  # the first tick has no step
    assert drifting(["noop"] * 100, quality.NOOP_SPEED / 2).is_empty()
    assert drifting(["forward"] * 100, 0.2).is_empty()


def test_two_episodes_are_not_joined_into_one_stretch() -> None:
    half = quality.NOOP_RUN // 2 + 1
    both = [ticks(["noop"] * half, [0.1 * n for n in range(half)], episode=c * 20) for c in "ab"]
    assert quality.noop_while_moving(pl.concat(both)).is_empty()


def test_a_null_action_is_unknown_and_not_idle() -> None:
    frame = ticks(["noop"] * 90, [0.1 * n for n in range(90)]).with_columns(action=pl.lit(None, pl.String))
    assert quality.noop_while_moving(frame).is_empty()


def ends(*rows: tuple[int, str]) -> pl.DataFrame:
    return pl.DataFrame([(E, 0, *row) for row in rows], schema=quality.ENDS, orient="row")


def test_a_recording_that_goes_on_is_told_at_its_next_tick() -> None:
    (row,) = quality.runs_on_after_end(IDLE, ends((2, "the agent's death"))).rows(named=True)
    assert (row["tick"], row["detail"]) == (3, "3 observations after the agent's death at tick 2")


def test_an_end_at_the_last_tick_is_none_of_these() -> None:
    assert quality.runs_on_after_end(IDLE, ends((5, "the agent's death"))).is_empty()


def test_a_total_that_falls_is_told_and_one_that_rises_is_not() -> None:
    totals = pl.DataFrame(
        [(E, 0, 1, "jump", 1, 2), (E, 0, 2, "jump", 2, 0)], schema=quality.TOTALS, orient="row"
    )
    found = quality.went_back(totals, "counter_backwards")
    assert found.select("tick", "detail").rows() == [(2, "jump went back from 2 to 0")]


def test_findings_come_in_a_fixed_order() -> None:
    totals = pl.DataFrame([(E, 0, 3, "jump", 2, 0)], schema=quality.TOTALS, orient="row")
    found = quality.findings(
        IDLE,
        changes((2, "stick", 4, 4), (3, "stick", -4, 0)),
        counters=totals,
        clocks=totals.with_columns(name=pl.lit("tick")),
        ends=ends((2, "the agent's death")),
    )
    assert [row["finding"] for row in found] == [
        "counter_backwards",
        "result_vanished",
        "runs_on_after_end",
        "time_backwards",
    ]
