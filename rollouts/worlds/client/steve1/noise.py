"""How an action is drawn from logits, by noise that one tick of one episode has to itself.

The policy's process reads this beside it, by its path: numpy and nothing else.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_TICK = 1 << 64
"""numbers of Philox's counter that a tick has to itself; each is four draws, and a tick takes some 9,000"""


def drawn(logits: dict[str, np.ndarray[Any, Any]], seed: int, step: int) -> dict[str, int]:
    """An index into each of the logits, drawn from their softmax: argmax of logits + Gumbel's noise. The same
    seed and step draw the same; other ones draw independently of it."""
    random = np.random.Generator(np.random.Philox(key=seed % 2**64, counter=step * _TICK))
    return {
        name: int(np.argmax(values + random.gumbel(size=values.shape)))
        for name, values in sorted(logits.items())
    }
