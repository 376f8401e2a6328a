"""What a world's rules are, as data. Monitor, Inducer, Curator and the oracles read a `Domain`; none of
them names a block or an item of its own.

A domain is a folder `warehouse/domains/<name>/` of compact data files (see its README for each file's
source). `load_domain(name)` reads it once and returns an immutable `Domain`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from warehouse.domains.loading import read_domain
from warehouse.domains.model import Domain, Recipe, StateField, TargetReading

__all__ = ["Domain", "Recipe", "StateField", "TargetReading", "load_domain"]


@cache
def load_domain(name: str) -> Domain:
    """The domain called `name`, read from its folder; `FileNotFoundError` names the known domains."""
    return read_domain(name)
