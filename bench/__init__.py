"""Measurements of what has a stated goal: `python -m bench`."""
