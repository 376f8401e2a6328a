"""The bench of STEVE-1, over a worker without a policy."""

import io
import sys
from pathlib import Path

from rich.console import Console

from bench.steve1 import measure, report
from rollouts.worlds.client.steve1.policy import PolicySettings

FAKE = Path(__file__).with_name("fake_policy.py")


def test_it_plays_every_size_and_says_whose_weights_they_are() -> None:
    settings = PolicySettings("/good", "cpu", python=sys.executable)
    rows = [measure(settings, batch, 10, FAKE) for batch in (1, 4)]
    assert [row.bytes_used for row in rows] == [1, 4], "each with a policy of its own"
    assert all(row.per_second > 0 for row in rows)
    out = io.StringIO()
    Console(file=out, width=100).print(report(rows, settings, "random, half as wide"))
    said = out.getvalue()
    assert "STEVE-1 (random, half as wide, 3 M parameters), float32 on cpu" in said
    assert max(map(len, said.splitlines())) <= 100
