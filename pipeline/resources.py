"""The assets' resources, from the settings."""

from assets.exercise_config import LearningModel
from assets.resources import DataHome
from pipeline.settings import Settings


def resources(settings: Settings) -> dict[str, object]:
    """Resources by the names that the assets ask for."""
    return {
        "home": DataHome(path=str(settings.home), domain_name=settings.domain),
        "model": LearningModel(
            row=settings.model, file=str(settings.models.expanduser().resolve()), seed=settings.seed
        ),
    }
