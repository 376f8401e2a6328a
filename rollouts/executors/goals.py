"""What a subgoal's target means to a low-level policy: the blocks to break, the creatures to hunt, and what
in the inventory shows that it is done."""

from collections.abc import Callable

from rollouts.executors.body import Body
from warehouse.domains import Domain


def blocks_for(domain: Domain, target: str) -> frozenset[str]:
    """The blocks that a target (block, item or `#tag`) is got from by mining."""
    named = domain.tags.get(target[1:], frozenset()) if target.startswith("#") else frozenset({target})
    items = domain.expand(target)
    yielding = {block for block, drops in domain.drops.items() if items.intersection(drops)}
    return frozenset(yielding | (named & domain.blocks))


def creatures_for(domain: Domain, target: str) -> frozenset[str]:
    """The creatures that a target (creature, item or `#tag`) is got from."""
    if target in domain.entities:
        return frozenset({target})
    items = domain.expand(target)
    return frozenset(each for each, drops in domain.entity_drops.items() if items.intersection(drops))


def gained(body: Body, items: frozenset[str]) -> Callable[[], bool]:
    """Tells when the subgoal is done by the inventory: its inv_ge checks hold, or without one `count` more of
    `items` are held than when it began."""
    before = body.held(items)
    count = body.subgoal.count

    def done() -> bool:
        reached = body.amounts_reached()
        return body.held(items) >= before + count if reached is None else reached

    return done


def words(text: str) -> tuple[str, ...]:
    """The words of a text, lower case, without marks."""
    return tuple(word.strip(".,;:!?'\"()").lower() for word in text.replace("_", " ").split())


def named_in(text: str, names: frozenset[str]) -> list[str]:
    """Those of `names` that a text speaks of, longest first."""
    said = f" {' '.join(words(text))} "
    found = [name for name in names if f" {name.replace('_', ' ')} " in said]
    return sorted(found, key=lambda name: (-len(name), name))
