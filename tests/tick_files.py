"""Small recordings of the tick-level formats, made by hand."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from rollouts.ingest.protocol import Importer, merge
from warehouse.domains import Domain
from warehouse.records import TABLES

Tables = dict[str, pl.DataFrame]
KEYS = ("forward", "back", "left", "right", "jump", "attack", "use", "inventory", "drop", "hotbar.1")


def action(*pressed: str, camera: tuple[float, float] = (0.0, 0.0)) -> dict[str, Any]:
    return {**{key: int(key in pressed) for key in KEYS}, "camera": list(camera)}


def slots(**items: int) -> dict[str, Any]:
    held = [{"type": name, "quantity": count} for name, count in items.items()]
    empty = [{"type": "none", "quantity": 0}] * (36 - len(held))
    return {str(slot): stack for slot, stack in enumerate([*held, *empty])}


def info(x: float = 0.5, *, gui: bool = False, health: float = 20.0, **more: Any) -> dict[str, Any]:
    return {
        "is_gui_open": gui,
        "location_stats": {"xpos": x, "ypos": 64.0, "zpos": 0.5, "yaw": 0.0, "pitch": 0.0},
        "health": health,
        "food_level": 20.0,
        "inventory": slots(),
        "equipped_items": {"mainhand": {"type": "air"}},
        **more,
    }


def write_lines(path: Path, rows: list[dict[str, Any]], end: str = "\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(json.dumps(row) + end for row in rows).encode())


def write_rollout(folder: Path, infos: list[dict[str, Any]], actions: list[dict[str, Any]]) -> None:
    write_lines(folder / "info.jsonl", infos)
    write_lines(folder / "action.jsonl", actions)


def vpt_line(
    tick: int, *, keys: tuple[str, ...] = (), buttons: tuple[int, ...] = (), dx: float = 0.0, **more: Any
) -> dict[str, Any]:
    return {
        "mouse": {"x": 0.0, "y": 0.0, "dx": dx, "dy": 0.0, "dwheel": 0.0, "buttons": list(buttons)},
        "keyboard": {"keys": [f"key.keyboard.{key}" for key in keys], "newKeys": [], "chars": ""},
        "isGuiOpen": False,
        "isGuiInventory": False,
        "hotbar": 0,
        "yaw": 0.0,
        "pitch": 0.0,
        "xpos": 0.5,
        "ypos": 64.0,
        "zpos": 0.5,
        "tick": tick,
        "milli": 1_600_000_000_000 + 50 * tick,
        "inventory": [],
        "serverTick": 6000 + tick,
        "serverTickDurationMs": 40.0,
        "stats": {},
        **more,
    }


def stats(**totals: int) -> dict[str, int]:
    """`stats(mine_block__stone=2)` -> {"minecraft.mine_block:minecraft.stone": 2}"""
    names = {key: key.split("__") for key in totals}
    return {f"minecraft.{names[key][0]}:minecraft.{names[key][1]}": total for key, total in totals.items()}


def write_minerl(folder: Path, metadata: dict[str, Any] | None, **arrays: Any) -> None:
    """`observation__inventory__dirt=[...]` -> the array "observation$inventory$dirt"."""
    folder.mkdir(parents=True, exist_ok=True)
    named = {name.replace("__", "$"): np.asarray(values) for name, values in arrays.items()}
    np.savez(folder / "rendered.npz", **named)
    if metadata is not None:
        (folder / "metadata.json").write_text(json.dumps(metadata))


def read_checked(importer: Importer, folder: Path, domain: Domain) -> Tables:
    """Everything that an importer reads, by table; every row must keep the contract."""
    tables = merge(importer.read(folder, "b1", domain))
    for name, frame in tables.items():
        _, broken = TABLES[name].schema.filter(frame)
        assert not broken.counts(), (name, broken.counts())
    return tables
