"""The inflection engine, loaded once and without what makes loading it slow."""

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import inflect


@cache
def inflector() -> "inflect.engine":
    """The engine for plurals, singulars and number words."""
    import typeguard

    # inflect lets typeguard rewrite each of its functions on import, which takes three seconds and guards
    # against nothing that can happen here; without the rewriting the import takes a tenth of one.
    rewrite = typeguard.typechecked
    typeguard.typechecked = _unchanged  # type: ignore[assignment]
    try:
        import inflect
    finally:
        typeguard.typechecked = rewrite
    return inflect.engine()


def _unchanged(function: Any) -> Any:
    return function
