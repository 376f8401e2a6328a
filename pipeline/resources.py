"""The assets' resources, from the settings."""

from assets.exercise_config import LearningModel
from assets.resources import DataHome, Reviewer, Stepping, TryOuts
from pipeline.settings import Settings


def resources(settings: Settings) -> dict[str, object]:
    """Resources by the names that the assets ask for."""
    file = str(settings.models.expanduser().resolve())
    return {
        "home": DataHome(
            path=str(settings.home),
            domain_name=settings.domain,
            backtest=settings.backtest,
            world_name=settings.world,
            world_settings=settings.world_settings,
            executor_settings=settings.executor_settings,
        ),
        "model": LearningModel(row=settings.model, file=file, seed=settings.seed),
        "stepping": Stepping(backend=settings.backend, ray_address=settings.ray_address),
        "tryouts": TryOuts(share=settings.tryouts),
        "reviewer": Reviewer(row=settings.reviewer, file=file, seed=settings.seed),
    }
