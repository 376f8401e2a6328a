"""What a Voyager observation sees: the block kinds around the bot and the entities with their distance."""

from collections.abc import Sequence

from rollouts.ingest.protocol import Row
from rollouts.ingest.voyager_folder import Pair
from warehouse.domains import Domain

REACH = 4.5  # blocks: how far a player can act


def sightings(
    pairs: Sequence[Pair], ticks: Sequence[int], domain: Domain
) -> tuple[list[list[str]], list[Row]]:
    """The names in view at each event, and one row per change of what is in view.

    Blocks come without a distance, so whether they are in reach stays unknown.
    """
    scenes: list[list[str]] = []
    rows: list[Row] = []
    before: dict[tuple[str, str], float | None] = {}
    for pair, tick in zip(pairs, ticks, strict=True):
        now = _scene(pair, domain)
        scenes.append(sorted({name for _, name in now}))
        for kind, name in sorted(before.keys() | now.keys()):
            appeared, gone = (kind, name) not in before, (kind, name) not in now
            if appeared or gone:
                distance = now.get((kind, name))
                rows.append(
                    {
                        "tick": tick,
                        "kind": kind,
                        "name": name,
                        "distance": distance,
                        "in_reach": None if distance is None else distance <= REACH,
                        "visible": not gone,
                    }
                )
        before = now
    return scenes, rows


def _scene(pair: Pair, domain: Domain) -> dict[tuple[str, str], float | None]:
    found: dict[tuple[str, str], float | None] = {}
    voxels = pair.body.get("voxels")
    for name in voxels if isinstance(voxels, list) else []:
        if isinstance(name, str):
            found["station" if name in domain.stations else "block", name] = None
    entities = pair.status.get("entities")
    for name, distance in entities.items() if isinstance(entities, dict) else ():
        found["entity", str(name)] = float(distance) if isinstance(distance, int | float) else None
    return found
