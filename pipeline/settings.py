"""Settings, from the environment (`MINEEVOLVE_<NAME>`) or an `.env` file in the working folder."""

from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Where things are and which model is asked."""

    model_config = SettingsConfigDict(env_prefix="MINEEVOLVE_", env_file=".env", extra="ignore")

    data: Path = Field(default=Path("data"), description="the folder that everything is written below")
    domain: str = Field(default="minecraft", description="the domain that traces are read in")
    model: str = Field(default="rules", description="the model that is asked, a row of the models' file")
    models: Path = Field(default=Path("models.toml"), description="a file with model rows of your own")
    reviewer: str = Field(
        default="",
        description="the model that reviews candidates, a row of the models' file; none: no review",
    )
    seed: int = Field(default=0, description="the models' seed")
    build: str = Field(default="0000", description="the build that commands work on by default")

    @property
    def home(self) -> Path:
        """The data home, absolute."""
        return self.data.expanduser().resolve()

    @property
    def dagster_home(self) -> Path:
        """Where Dagster keeps its runs and events."""
        return self.home / "dagster"
