"""What the workers share: requests and answers as JSON lines, a sign of life, a film.

It runs in the interpreter of a simulator (Python 3.8 and up), by its path, without this project's packages.

    {"id": 1, "op": "begin", ...}   ->   {"id": 1, "reading": {...}}
    {"id": 2, "op": "step", ...}    ->   {"id": 2, "readings": [{...}, ...]}
    what went wrong with the game   ->   {"id": 2, "error": "..."}
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

_BEAT_S = 2.0
RATE = 20
"""ticks a second, and pictures of a film"""


def serve(
    handlers: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]], close: Callable[[], None]
) -> None:
    """Answers requests until stdin ends: `handlers` are functions by op, which take the request and return
    the answer; `close` is called at the end, whatever ended it."""
    # What a simulator prints is no answer, and what is asked is nothing for its prompts.
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    out = threading.Lock()

    def say(message: dict[str, Any]) -> None:
        with out:
            answers.write(json.dumps(message).encode() + b"\n")
            answers.flush()

    done = threading.Event()

    def beat() -> None:
        number = 0
        while not done.wait(_BEAT_S):
            number += 1
            try:
                say({"beat": number})
            except OSError:
                return

    threading.Thread(target=beat, daemon=True).start()
    try:
        for line in requests:
            request = json.loads(line)
            try:
                answer = handlers[request["op"]](request)
            except Exception as error:
                import traceback

                traceback.print_exc()
                answer = {"error": f"{type(error).__name__}: {error}"}
            say({"id": request["id"], **answer})
    except BrokenPipeError:
        pass  # whoever asked is gone
    finally:
        done.set()
        close()


def want(program: str, package: str) -> None:
    """`RuntimeError` where a program is missing that the simulator starts its game with."""
    if shutil.which(program) is None:
        raise RuntimeError(f"the game is started by {program}, which is not there: install {package}")


def encoded(picture: Any) -> str:
    """A picture, rows of RGB bytes, as a reading carries it."""
    return base64.b64encode(picture.tobytes()).decode()


class Film:
    """An MP4 of pictures of one size; it has its name when it is closed, and ".part" before it until then."""

    def __init__(self, path: str, size: tuple[int, int]) -> None:
        try:
            import av
        except ImportError:
            raise RuntimeError("the setting film needs PyAV: pip install av, into this interpreter") from None
        self._av = av
        self._path = Path(path)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._part = self._path.with_name(f".part-{self._path.name}")
        self._file = av.open(str(self._part), "w", format="mp4")
        self._stream = self._file.add_stream("h264", rate=RATE)
        self._stream.width, self._stream.height = size
        self._stream.pix_fmt = "yuv420p"

    def add(self, picture: Any) -> None:
        """One more picture, (height, width, 3) in RGB."""
        for packet in self._stream.encode(self._av.VideoFrame.from_ndarray(picture, format="rgb24")):
            self._file.mux(packet)

    def close(self) -> None:
        """Writes what is left, and gives the film its name."""
        for packet in self._stream.encode():
            self._file.mux(packet)
        self._file.close()
        self._part.replace(self._path)


if __name__ == "__main__":
    sys.exit("this is a part of the workers beside it")
