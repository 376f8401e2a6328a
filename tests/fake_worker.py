"""A worker as the worlds' links know it, without a game: one straight way along x, and misbehaviour on
request.

    python fake_worker.py      answers JSON lines; `commands` of "begin" say how it fails, at a tick:
    die 7 | hang 7 | silent 7 | garbage 7 | fail 7

"hang" goes on saying that it lives, "silent" says nothing any more. A file named by "once PATH" that exists
keeps it well; it is made first.
"""

import base64
import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

PALETTE = ["unknown", "air", "grass_block", "oak_log"]
SIZE = (3, 3, 3)
OUT = threading.Lock()


def say(message: dict[str, Any]) -> None:
    with OUT:
        print(json.dumps(message), flush=True)


class Worker:
    def __init__(self) -> None:
        self.tick = 0
        self.fails: tuple[str, int] = ("", 0)
        self.held: dict[str, int] = {}
        self.beats = True
        self.number: int | None = None
        self.left = 0
        self.sent = False
        threading.Thread(target=self.beat, daemon=True).start()

    def beat(self) -> None:
        while self.beats:
            say({"beat": 1})
            time.sleep(0.05)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["op"] == "begin":
            for line in request["commands"]:
                word, _, rest = line.partition(" ")
                if word == "once":
                    if Path(rest).exists():
                        self.fails = ("", 0)
                    Path(rest).touch()
                else:
                    self.fails = (word, int(rest))
            return {"palette": PALETTE, "last": self.row(), "now": self.now()}
        errand = request["errand"]
        if errand and errand["number"] != self.number:
            self.number, self.left = errand["number"], 5
        rows, events, changes = [], [], []
        for _ in range(request["ticks"]):
            self.tick += 1
            self.misbehave()
            rows.append(self.row())
            self.left = max(0, self.left - 1)
            if errand and self.left == 0:
                if errand["kind"] == "mine":
                    self.held["oak_log"] = self.held.get("oak_log", 0) + 1
                    changes.append([len(rows) - 1, "oak_log", 1, self.held["oak_log"]])
                    events.append([len(rows) - 1, "counter", "mine_block:oak_log", 1, None, None])
                else:
                    text = "Recipe requires craftingTable, but one was not supplied: {}"
                    events.append([len(rows) - 1, "error", errand["target"], None, text, None])
                break
        return {"ticks": rows, "events": events, "changes": changes, "now": self.now()}

    def misbehave(self) -> None:
        how, at = self.fails
        if not how or self.tick < at:
            return
        if how == "die":
            print("the last words", file=sys.stderr, flush=True)
            os._exit(3)
        if how == "garbage":
            with OUT:
                print("this is no JSON", flush=True)
        if how == "fail":
            raise RuntimeError("disconnected: socketClosed")
        self.beats = how == "hang"
        time.sleep(60)

    def row(self) -> list[Any]:
        x = 0.5 + self.tick / 10
        return [x, 64.0, 0.5, -90.0, 0.0, 20.0, 20.0, True, "air", "none", "forward" if self.tick else "noop"]

    def now(self) -> dict[str, Any]:
        cells = bytes(2 * SIZE[0] * SIZE[1] * SIZE[2] - 2) + (3).to_bytes(2, "little")
        window = {"origin": [0, 63, 0], "size": SIZE, "blocks": base64.b64encode(cells).decode()}
        told, self.sent = None if self.sent else window, True
        return {
            "inventory": dict(self.held),
            "busy": self.left > 0,
            "window": told,
            "entities": [["cow", 1.0, 64.0, 3.0]],
        }


def main() -> None:
    worker = Worker()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            say({"id": request["id"], **worker.answer(request)})
        except RuntimeError as error:
            say({"id": request["id"], "error": str(error)})


if __name__ == "__main__":
    main()
