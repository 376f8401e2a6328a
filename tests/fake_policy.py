"""A policy's worker without a policy: its keys say which batch an episode was in, and what was asked.

Its weights say how it fails: .../die-3 and .../fail-3 once, at the third batch; .../missing always.
"""

import json
import os
import sys
from pathlib import Path


def main() -> None:
    batches, fails, remembered, once = 0, ("", 0), set(), Path()
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, object] = {}
        if request["op"] == "load":
            once = Path(request["weights"] + ".failed")
            answer = {"parameters": 3_000_000}
            how, _, at = request["weights"].rpartition("/")[2].partition("-")
            fails = (how, int(at or 0))
            if how == "missing":
                answer = {"error": "FileNotFoundError: no STEVE-1 there"}
        if request["op"] == "act":
            batches += 1
            if batches == fails[1] and not once.exists():
                once.touch()
                if fails[0] == "die":
                    os._exit(3)
                answer = {"error": "RuntimeError: out of memory"}
            else:
                asks = request["asks"]
                remembered.update(ask["episode"] for ask in asks)
                answer = {
                    "actions": [
                        {"held": [ask["text"], f"of{len(asks)}"], "pitch": ask["step"], "yaw": ask["seed"]}
                        for ask in asks
                    ]
                }
        if request["op"] == "forget":
            remembered.discard(request["episode"])
        if request["op"] == "memory":
            answer = {"bytes": len(remembered)}
        print(json.dumps({"id": request["id"], **answer}), flush=True)


main()
