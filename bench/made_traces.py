"""Made-up trajectories in the trace contract, for measuring Monitor.

They look like play: walking with pauses, mining while standing, stretches of being stuck, GUIs that stay
open, damage, a few deaths; attempts of about 1,000 ticks, four to twelve of them an episode. One file of
ticks is made at a time from (seed, file number), so the same call gives the same files.
"""

from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from rich.progress import track

from warehouse.domains import Domain
from warehouse.ids import derive_id
from warehouse.records import TRACE_TABLES, arrange, empty
from warehouse.shards import ROW_GROUP, ZSTD_LEVEL, replacing
from warehouse.vocabulary import GUIS, OBSERVABLES

SEED: Final = 20
ATTEMPT_TICKS: Final = 1000
STRETCH_TICKS: Final = 60
WALKING: Final = 0.2158  # blocks per tick
MODES: Final = ("walk", "pause", "mine", "stuck", "gui")
SHARES: Final = (0.55, 0.15, 0.15, 0.05, 0.10)
ACTIONS: Final = (
    ("forward", "forward+sprint", "forward+left", "forward+jump"),
    ("noop", "noop", "noop", "noop"),
    ("attack", "attack", "attack", "attack"),
    ("forward", "forward+jump", "forward+right", "forward+jump"),
    ("noop", "noop", "use", "noop"),
)
HELD: Final = ("", "wooden_pickaxe", "stone_pickaxe", "cobblestone")

Frames = dict[str, pl.DataFrame]
Numbers = np.ndarray[Any, np.dtype[Any]]


def make_files(folder: Path, ticks: int, files: int, domain: Domain) -> dict[str, list[Path]]:
    """The files of about `ticks` ticks below `folder`, by table; made once, then only listed."""
    paths = {
        table: [folder / table / f"{number:02d}.parquet" for number in range(files)] for table in TRACE_TABLES
    }
    for number in track(range(files), description=f"making {ticks:,} ticks"):
        if all(paths[table][number].exists() for table in TRACE_TABLES):
            continue
        for table, frame in make_trace(number, ticks // files, domain).items():
            with replacing(paths[table][number]) as temporary:
                frame.write_parquet(
                    temporary, compression="zstd", compression_level=ZSTD_LEVEL, row_group_size=ROW_GROUP
                )
    return paths


def make_trace(number: int, ticks: int, domain: Domain) -> Frames:
    """One file's episodes, `ticks` ticks in all, as frames in stored order."""
    random = np.random.default_rng([SEED, number])
    attempt_ticks = _cut(np.clip(random.normal(ATTEMPT_TICKS, 250, ticks // 500 + 2), 200, None), ticks)
    per_episode = _cut(random.integers(4, 13, len(attempt_ticks)), len(attempt_ticks))
    # Ids are hashes; in stored order they ascend.
    ids = sorted(derive_id("episode", ["bench", number, place]) for place in range(len(per_episode)))
    episode = np.repeat(np.arange(len(per_episode)), per_episode)
    attempt = np.arange(len(episode)) - np.repeat(np.cumsum(per_episode) - per_episode, per_episode)
    starts = np.cumsum(attempt_ticks) - attempt_ticks
    episode_start = starts[attempt == 0][episode]
    attempts = pl.DataFrame(
        {
            "episode_id": np.array(ids)[episode],
            "attempt": attempt.astype(np.int32),
            "start_tick": (starts - episode_start).astype(np.int32),
            "end_tick": (starts - episode_start + attempt_ticks - 1).astype(np.int32),
        }
    )
    small = _small_tables(attempts, random, domain)
    rows = np.repeat(np.arange(len(attempt)), attempt_ticks)
    return small | {"ticks": _ticks(rows, attempts, episode_start, random)}


def _cut(lengths: Numbers, total: int) -> Numbers:
    """Lengths that add up to `total`: as many of the given ones as fit, the last one shortened."""
    whole = lengths.astype(np.int64)
    ends = np.minimum(np.cumsum(whole), total)
    cut = np.diff(ends, prepend=0)
    return cut[cut > 0]


def _ticks(
    rows: Numbers, attempts: pl.DataFrame, episode_start: Numbers, random: np.random.Generator
) -> pl.DataFrame:
    count = len(rows)
    tick = np.arange(count) - episode_start[rows]
    stretches = _cut(random.geometric(1 / STRETCH_TICKS, count // STRETCH_TICKS * 2 + 50), count)
    stretch = np.repeat(np.arange(len(stretches)), stretches)
    mode = random.choice(len(MODES), len(stretches), p=SHARES)[stretch]
    walks, in_gui = mode == 0, mode == 4
    heading = random.uniform(0, 2 * np.pi, len(stretches))[stretch] + random.normal(0, 0.03, count)
    speed = np.where(walks, WALKING, np.where(mode == 3, 0.002, 0.0))
    climb = np.where(walks & (random.random(count) < 0.02), random.choice([-1.0, 1.0], count), 0.0)
    first = np.flatnonzero(tick == 0)
    home = np.repeat(random.uniform(-3000, 3000, len(first)), np.diff(np.append(first, count)))

    def along(step: Numbers, start: Numbers | float) -> pl.Series:
        gone = np.cumsum(step)
        return pl.Series(
            start + gone - np.repeat(gone[first], np.diff(np.append(first, count))), dtype=pl.Float32
        )

    died_at = np.where(random.random(len(first)) < 0.05, random.integers(2000, 5000, len(first)), 1 << 30)
    died_at = np.repeat(died_at, np.diff(np.append(first, count)))
    hurt = np.where(random.random(len(stretches)) < 0.3, random.integers(1, 7, len(stretches)), 0)[stretch]
    dying = (tick < died_at) & (tick > died_at - 40)
    health = np.where(dying, 3, np.where(tick == died_at, 20, 20 - hurt))
    hunger = np.clip(20 - (tick - np.where(tick >= died_at, died_at, 0)) // 1500, 4, 20)
    variant = np.where(random.random(count) < 0.05, random.integers(0, 4, count), 0)
    actions = pl.Series([word for words in ACTIONS for word in words])
    gui = random.integers(1, len(GUIS), len(stretches))[stretch]
    held = random.integers(0, len(HELD), len(stretches))[stretch]
    return arrange(
        "ticks",
        attempts.select("episode_id", "attempt")[rows].with_columns(
            tick=pl.Series(tick, dtype=pl.Int32),
            x=along(speed * np.cos(heading), home),
            y=along(climb, 64.0),
            z=along(speed * np.sin(heading), -home),
            yaw=pl.Series(np.degrees(heading) % 360, dtype=pl.Float32),
            pitch=pl.Series(np.where(walks, 0, random.normal(20, 5, count)), dtype=pl.Float32),
            health=pl.Series(health, dtype=pl.Float32),
            hunger=pl.Series(hunger, dtype=pl.Float32),
            alive=pl.lit(True),
            equipped=pl.Series(HELD)[held],
            gui=pl.Series(GUIS, dtype=pl.Enum(GUIS))[np.where(in_gui, gui, 0)],
            action=actions[mode * 4 + variant],
        ),
    )


def _small_tables(attempts: pl.DataFrame, random: np.random.Generator, domain: Domain) -> Frames:
    count = attempts.height
    asked = [("mine", "iron_ore"), ("mine", "cobblestone"), ("craft", "stick"), ("smelt", "iron_ingot")]
    kinds, targets = zip(*asked, strict=True)
    which = random.integers(0, len(asked), count)
    needed = random.integers(1, 9, count)
    gained = np.minimum(random.integers(0, 9, count), needed)
    won = gained == needed
    state = pl.struct(
        pl.lit(20.0).alias("health"),
        pl.lit(18.0).alias("hunger"),
        pl.lit("none").alias("gui"),
        pl.lit(True).alias("alive"),
        pl.lit([]).cast(pl.List(pl.Struct({"name": pl.String, "count": pl.Int32}))).alias("inventory"),
    )
    full = attempts.with_columns(
        condition=pl.lit("made for a measurement"),
        kind=pl.Series(kinds)[which],
        target=pl.Series(targets)[which],
        needed=pl.Series(needed),
        relative=pl.lit(True),
        success=pl.Series(won),
        gained=pl.Series(gained),
        claimed=pl.Series(random.random(count) < 0.3),
        end_reason=pl.Series(np.where(won, "success", random.choice(["timeout", "agent_stopped"], count))),
        state_before=state,
        state_after=state,
    )
    return {
        "episodes": _complete(
            "episodes",
            attempts.group_by("episode_id", maintain_order=True)
            .agg(n_ticks=pl.col("end_tick").max() + 1)
            .with_columns(
                source=pl.lit("bench"),
                build=pl.lit("bench"),
                observes=pl.lit(list(OBSERVABLES)),
                end_reason=pl.lit("horizon"),
            ),
        ),
        "attempts": _complete("attempts", full),
        "events": _complete(
            "events",
            _scattered(attempts, 3, random).with_columns(
                kind=pl.lit("counter"), name=pl.lit("mine_block:stone"), count=pl.lit(1)
            ),
        ),
        "sightings": _complete(
            "sightings",
            _scattered(attempts, 3, random).with_columns(
                kind=pl.lit("block"),
                name=pl.lit("iron_ore"),
                distance=pl.lit(9.0),
                in_reach=pl.col("tick") % 5 == 0,
                visible=pl.lit(True),
            ),
        ),
        "inventory_changes": _complete(
            "inventory_changes",
            _scattered(attempts, 4, random).with_columns(
                item=pl.lit("cobblestone"), delta=pl.lit(1), count=pl.lit(1)
            ),
        ),
    }


def _scattered(attempts: pl.DataFrame, most: int, random: np.random.Generator) -> pl.DataFrame:
    """Up to `most` rows an attempt, at ticks inside it."""
    times = random.integers(0, most + 1, attempts.height)
    rows = attempts[np.repeat(np.arange(attempts.height), times)]
    share = pl.Series(random.random(rows.height))
    return rows.select(
        "episode_id",
        "attempt",
        tick=(pl.col("start_tick") + (pl.col("end_tick") - pl.col("start_tick")) * share).cast(pl.Int32),
        seq=pl.int_range(pl.len()).over("episode_id", "attempt"),
    )


def _complete(table: str, frame: pl.DataFrame) -> pl.DataFrame:
    """`frame` with the table's other columns as nulls, in its order."""
    return arrange(table, pl.concat([empty(table), frame], how="diagonal_relaxed"))
