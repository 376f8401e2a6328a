"""A small sample of attempts in the trace contract, for runs without recorded traces.

`sample.toml` is the script; here it is played out tick by tick into the contract's tables. Nothing random,
nothing measured: every episode's source begins with "sample:".
"""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rollouts.ingest.gains import Observed, amounts, changes, largest_gain
from rollouts.ingest.protocol import Row
from warehouse import vocabulary as v
from warehouse.domains import Domain, load_domain
from warehouse.ids import derive_id, file_digest
from warehouse.records import TRACE_TABLES, from_rows
from warehouse.shards import replacing

SCRIPT: Final = Path(__file__).with_name("sample.toml")
SOURCE: Final = "sample:"
BUILD: Final = "sample"
IDLE: Final = "noop"
_EVENT: Final = ("kind", "signal", "name", "count", "text")
_VALUES: Final = ("health", "hunger", "alive", "gui", "equipped")


@dataclass
class _Scene:
    """The state of an episode as it is played."""

    place: tuple[float, float, float]
    holds: dict[str, int]
    values: dict[str, Any]
    tick: int = 0
    in_view: dict[tuple[str, str], bool] = field(default_factory=dict)

    def state(self) -> Row:
        x, y, z = self.place
        near = sorted({name for (kind, name), reach in self.in_view.items() if kind == "station" and reach})
        seen = sorted({name for _, name in self.in_view})
        held = {item: count for item, count in self.holds.items() if count}
        return {
            "x": x,
            "y": y,
            "z": z,
            **self.values,
            "inventory": amounts(held),
            "near": near,
            "seen": seen,
        }


def write_sample(folder: Path) -> Path:
    """Writes the sample's tables into `folder` (one Parquet file each, the same bytes every time) and returns
    it. Files of the same names are replaced."""
    for table, rows in sample_rows().items():
        with replacing(folder / f"{table}.parquet") as temporary:
            from_rows(table, rows).write_parquet(temporary, compression="zstd", compression_level=3)
    return folder


def sample_rows(script: Path = SCRIPT) -> dict[str, list[Row]]:
    """The sample's rows, by table of the trace contract."""
    content = tomllib.loads(script.read_text(encoding="utf-8"))
    domain = load_domain(content["domain"])
    tables: dict[str, list[Row]] = {table: [] for table in TRACE_TABLES}
    digest = file_digest(script)
    for episode in content["episode"]:
        _play_episode(episode, content, digest, domain, tables)
    return tables


def _play_episode(
    episode: Row, content: Row, digest: str, domain: Domain, tables: dict[str, list[Row]]
) -> None:
    episode_id = derive_id("episode", ["sample", episode["name"], digest])
    x, y, z = episode["start"]
    alive = {
        "health": domain.spawn_health,
        "hunger": domain.spawn_hunger,
        "alive": True,
        "gui": "none",
        "equipped": "none",
    }
    scene = _Scene((x, y, z), dict(episode.get("holds", {})), alive)
    reached: int | None = None
    for attempt, part in enumerate(episode["attempt"]):
        row = _play_attempt(part, {"episode_id": episode_id, "attempt": attempt}, scene, domain, tables)
        if row["success"] and episode["end"] == "success":
            reached = row["end_tick"]
    tables["episodes"].append(
        {
            "episode_id": episode_id,
            "source": f"{SOURCE}{episode['name']}",
            "build": BUILD,
            "task_id": episode.get("task"),
            "goal": episode["goal"],
            "world_seed": episode["seed"],
            "agent": content["agent"],
            "observes": list(v.OBSERVABLES),
            "n_ticks": scene.tick,
            "success": None if episode["end"] == "infrastructure" else episode["end"] == "success",
            "success_tick": reached,
            "end_reason": episode["end"],
        }
    )


def _play_attempt(part: Row, key: Row, scene: _Scene, domain: Domain, tables: dict[str, list[Row]]) -> Row:
    begin, before, baseline = scene.tick, scene.state(), dict(scene.holds)
    start = scene.place
    happenings: dict[int, list[Row]] = {}
    for happening in part.get("happens", []):
        happenings.setdefault(happening["t"], []).append(happening)
    observed: list[Observed] = []
    seq = 0
    for step in range(part["ticks"]):
        now = {**key, "tick": begin + step}
        share = (step + 1) / part["ticks"]
        scene.place = _along(start, part.get("walk", (0.0, 0.0, 0.0)), share)
        for happening in happenings.get(step, []):
            scene.values |= {name: happening[name] for name in _VALUES if name in happening}
            for item, delta in happening.get("gain", {}).items():
                scene.holds[item] = scene.holds.get(item, 0) + delta
            tables["sightings"] += _look(happening, now, scene)
            if "kind" in happening:
                event = {name: happening.get(name) for name in _EVENT}
                items = amounts(happening["items"]) if "items" in happening else None
                tables["events"].append({**now, "seq": seq, **event, "items": items})
                seq += 1
        observed.append(Observed(now["tick"], {item: many for item, many in scene.holds.items() if many}))
        px, py, pz = scene.place
        tables["ticks"].append(
            {
                **now,
                "x": px,
                "y": py,
                "z": pz,
                "yaw": 0.0,
                "pitch": 0.0,
                **scene.values,
                "action": _keys(part),
            }
        )
    scene.tick = begin + part["ticks"]
    held = {item: many for item, many in baseline.items() if many}
    tables["inventory_changes"] += [
        {**key, "tick": tick, "seq": 0, "item": item, "delta": delta, "count": count}
        for tick, _, item, delta, count in changes(held, observed)
    ]
    row = {
        **key,
        "condition": part["goal"],
        "kind": part["kind"],
        "target": part.get("target"),
        "needed": part.get("needed"),
        "relative": True,
        "start_tick": begin,
        "end_tick": scene.tick - 1,
        **_outcome(part, held, observed, domain),
        "label": part.get("label"),
        "label_basis": "exact" if "label" in part else None,
        "end_reason": part["end"],
        "state_before": before,
        "state_after": scene.state(),
    }
    tables["attempts"].append(row)
    return row


def _outcome(part: Row, held: dict[str, int], observed: list[Observed], domain: Domain) -> Row:
    """Success by what the inventory shows; where it can show nothing, by the script."""
    said = {happening.get("signal") for happening in part.get("happens", [])}
    claimed = bool(said & {"claim", "claim_have"})
    if part["end"] == "infrastructure":
        return {"success": None, "gained": None, "claimed": claimed}
    if "success" in part:
        return {"success": part["success"], "gained": None, "claimed": claimed}
    gained = largest_gain(held, observed, domain.accepts(part["target"], part["kind"]))
    return {"success": gained is not None and gained >= part["needed"], "gained": gained, "claimed": claimed}


def _along(start: tuple[float, float, float], walk: list[float], share: float) -> tuple[float, float, float]:
    x, y, z = (round(at + way * share, 4) for at, way in zip(start, walk, strict=True))
    return x, y, z


def _keys(part: Row) -> str:
    return str(part.get("keys", IDLE))


def _look(happening: Row, now: Row, scene: _Scene) -> list[Row]:
    name = happening.get("see", happening.get("out_of_sight"))
    if name is None:
        return []
    visible = "see" in happening
    reach = happening["reach"] if visible else None
    if visible:
        scene.in_view[happening["as"], name] = bool(reach)
    else:
        scene.in_view.pop((happening["as"], name), None)
    distance = happening.get("away")
    return [
        {
            **now,
            "kind": happening["as"],
            "name": name,
            "distance": distance,
            "in_reach": reach,
            "visible": visible,
        }
    ]
