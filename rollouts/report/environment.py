"""Where the pages' templates are, and how they are filled in: everything that a page is given is escaped."""

from functools import cache
from pathlib import Path

import jinja2

from rollouts.report.tables import percent


@cache
def environment() -> jinja2.Environment:
    """One for all pages of this folder."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"percent": percent}
    return made
