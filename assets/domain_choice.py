"""Which domain this process works on. Partitions are named when the assets are imported, and their groups are
those of the domain's suite, so that the choice is read here and not handed in."""

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class DomainChoice(BaseSettings):
    """The setting `MINEEVOLVE_DOMAIN`."""

    model_config = SettingsConfigDict(env_prefix="MINEEVOLVE_", env_file=".env", extra="ignore")

    domain: str = Field(
        default="minecraft", description="the domain that traces are read in and episodes are played in"
    )
