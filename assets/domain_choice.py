"""Which domain this process works on. Partitions are named when the assets are imported, and their groups are
those of the domain's suite, so that the choice is read here and not handed in."""

from typing import TYPE_CHECKING, Any

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

if TYPE_CHECKING:
    from rollouts.worlds.registry import Venue


class DomainChoice(BaseSettings):
    """The settings `MINEEVOLVE_DOMAIN`, `MINEEVOLVE_WORLD`, `MINEEVOLVE_WORLD_SETTINGS` and
    `MINEEVOLVE_EXECUTOR_SETTINGS`."""

    model_config = SettingsConfigDict(env_prefix="MINEEVOLVE_", env_file=".env", extra="ignore")

    domain: str = Field(
        default="minecraft", description="the domain that traces are read in and episodes are played in"
    )
    world: str = Field(default="", description="the world that is played in; none: the domain's usual one")
    world_settings: dict[str, Any] = Field(
        default_factory=dict, description="the world's own settings, as JSON (docs/worlds.md)"
    )
    executor_settings: dict[str, Any] = Field(
        default_factory=dict, description="the executor's own settings, as JSON (docs/executors.md)"
    )

    @property
    def venue(self) -> "Venue":
        """Where episodes are played. `UnknownWorldError` for a world that is none of the domain's."""
        from rollouts.worlds.registry import venue_of

        return venue_of(self.domain, self.world, self.world_settings, self.executor_settings)
