"""What a world's rules are, as data. Monitor, Inducer, Curator and the oracles read a `Domain`; none of
them names a block or an item of its own.

A domain is a folder `warehouse/domains/<name>/` of compact data files (docs/domains.md: what each
holds and where it comes from). `load_domain(name)` reads it once and returns an immutable `Domain`.
"""

from functools import cache

from warehouse.domains.loading import read_domain
from warehouse.domains.model import OBTAIN, Domain, Material, Recipe, StateField, TargetReading, Trade

__all__ = ["OBTAIN", "Domain", "Material", "Recipe", "StateField", "TargetReading", "Trade", "load_domain"]


@cache
def load_domain(name: str) -> Domain:
    """The domain called `name`, read from its folder; `FileNotFoundError` names the known domains."""
    return read_domain(name)
