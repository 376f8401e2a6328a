"""The `mineevolve` command."""

from pipeline.command.app import app

__all__ = ["app"]
