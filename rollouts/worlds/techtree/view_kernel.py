"""What can be seen from where the body is."""

from typing import Any

import numpy as np
import numpy.typing as npt

from rollouts.worlds.techtree.compiled import compiled
from rollouts.worlds.techtree.space import Blocks, Traits
from rollouts.worlds.techtree.state import OPAQUE


@compiled
def fill_window(
    blocks: Blocks, traits: Traits, x0: int, y0: int, z0: int, air: int, wall: int, unknown: int, out: Blocks
) -> None:
    """Fills `out` with the blocks from (x0, y0, z0) on. A cell is known if it does not hide what is behind
    it, or if one of its six neighbours does not: light may reach its face. That is cheap, and generous: a
    cave that no opening leads to is seen too when it lies inside the window."""
    nx, ny, nz = blocks.shape
    sx, sy, sz = out.shape
    for i in range(sx):
        x = x0 + i
        for j in range(sy):
            y = y0 + j
            for k in range(sz):
                z = z0 + k
                if x < 0 or z < 0 or x >= nx or z >= nz:
                    out[i, j, k] = wall
                elif y < 0:
                    out[i, j, k] = unknown
                elif y >= ny:
                    out[i, j, k] = air
                else:
                    block = blocks[x, y, z]
                    seen = traits[block] & OPAQUE == 0
                    seen = seen or (x > 0 and traits[blocks[x - 1, y, z]] & OPAQUE == 0)
                    seen = seen or (x + 1 < nx and traits[blocks[x + 1, y, z]] & OPAQUE == 0)
                    seen = seen or y + 1 == ny or traits[blocks[x, y + 1, z]] & OPAQUE == 0
                    seen = seen or (y > 0 and traits[blocks[x, y - 1, z]] & OPAQUE == 0)
                    seen = seen or (z > 0 and traits[blocks[x, y, z - 1]] & OPAQUE == 0)
                    seen = seen or (z + 1 < nz and traits[blocks[x, y, z + 1]] & OPAQUE == 0)
                    out[i, j, k] = block if seen else unknown


@compiled
def find_near(
    body: Any, mobs: Any, items: Any, radius: float, out: npt.NDArray[np.float64]
) -> tuple[int, int]:
    """The creatures, then the things, within `radius` blocks; how many of each. `out[n]` gets the creature's
    kind, or the item, and x, y, z."""
    found = 0
    limit = radius * radius
    for n in range(body.n_mobs):
        mob = mobs[n]
        dx, dy, dz = mob.x - body.x, mob.y - body.y, mob.z - body.z
        if mob.kind >= 0 and dx * dx + dy * dy + dz * dz <= limit:
            out[found, 0], out[found, 1], out[found, 2], out[found, 3] = mob.kind, mob.x, mob.y, mob.z
            found += 1
    n_mobs = found
    for n in range(body.n_items):
        item = items[n]
        dx, dy, dz = item.x - body.x, item.y - body.y, item.z - body.z
        if item.count > 0 and dx * dx + dy * dy + dz * dz <= limit:
            out[found, 0], out[found, 1], out[found, 2], out[found, 3] = item.item, item.x, item.y, item.z
            found += 1
    return n_mobs, found - n_mobs
