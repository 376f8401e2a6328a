"""Settings, from the environment (`MINEEVOLVE_<NAME>`) or an `.env` file in the working folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import Field, ValidationError

from assets.domain_choice import DomainChoice

if TYPE_CHECKING:
    from warehouse.curator import CuratorSettings

MOST_TRIED: Final = 0.15
"""of a build's game ticks may be spent on trying its new knowledge out"""


class SettingError(ValueError):
    """A setting has a value that it cannot have; the text names its variable."""


class Settings(DomainChoice):
    """Where things are, which domain is worked on and which model is asked."""

    data: Path = Field(default=Path("data"), description="the folder that everything is written below")
    model: str = Field(default="rules", description="the model that is asked, a row of the models' file")
    models: Path = Field(default=Path("models.toml"), description="a file with model rows of your own")
    reviewer: str = Field(
        default="",
        description="the model that reviews candidates, a row of the models' file; none: no review",
    )
    backtest: bool = Field(
        default=True,
        description="whether a new entry is held against attempts that it was not drawn from",
    )
    tryouts: float = Field(
        default=MOST_TRIED,
        ge=0,
        le=MOST_TRIED,
        description="share of a build's game ticks in which its new knowledge is tried out; 0: not at all",
    )
    seed: int = Field(default=0, description="the models' seed")
    build: str = Field(default="0000", description="the build that commands work on by default")
    curricula: Path = Field(default=Path("curricula"), description="a folder with curricula of your own")
    workers: int = Field(
        default=2, ge=0, description="processes that step worlds in what runs by itself; 0: none but its own"
    )
    backend: Literal["local", "ray"] = Field(
        default="local",
        description="where worlds are stepped: in processes of this machine, or in actors of a Ray cluster, "
        "where 0 workers are as many as there is room for",
    )
    ray_address: str = Field(
        default="",
        description="the Ray cluster; none: that of this machine, which is started where there is none",
    )
    nightly: bool = Field(default=False, description="whether the schedule of the nightly build is on")
    nightly_cron: str = Field(default="0 2 * * *", description="when it asks for a build")
    nightly_timezone: str = Field(default="UTC", description="the time zone of nightly_cron")
    nightly_curriculum: str = Field(default="nightly", description="the curriculum whose builds it asks for")
    nightly_fresh_h: float = Field(
        default=36, gt=0, description="hours after which the UI says that a nightly build is overdue"
    )
    evaluate_snapshots: bool = Field(
        default=False, description="whether new snapshots are evaluated by themselves"
    )
    take_in: bool = Field(
        default=False, description="whether what other machines hand in is taken in by itself"
    )
    watch: Path | None = Field(
        default=None, description="a folder whose new folders of recordings are imported by themselves"
    )

    def __init__(self, **given: Any) -> None:
        """Raises `SettingError`."""
        try:
            super().__init__(**given)
        except ValidationError as error:
            wrong = (
                f"MINEEVOLVE_{str(each['loc'][0]).upper()}={each['input']}: {each['msg'].lower()}"
                for each in error.errors()
            )
            raise SettingError("; ".join(wrong)) from None

    @property
    def home(self) -> Path:
        """The data home, absolute."""
        return self.data.expanduser().resolve()

    @property
    def curation(self) -> "CuratorSettings":
        """How strict Curator is."""
        from warehouse.curator import curator_settings  # heavy, and most commands curate nothing

        return curator_settings(backtest=self.backtest)

    @property
    def learning(self) -> dict[str, Any]:
        """What decides beside the model what a build learns."""
        return {name: getattr(self, name) for name in ("backtest", "reviewer", "tryouts")}

    @property
    def dagster_home(self) -> Path:
        """Where Dagster keeps its runs and events."""
        return self.home / "dagster"
