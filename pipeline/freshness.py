"""When the UI says that what it shows is old.

A build is made when somebody asks for it, so nothing is overdue before it has been made once, and the
tolerance is generous. Where the nightly build is on, each night has to bring a snapshot.
"""

from datetime import timedelta
from typing import Final

import dagster as dg

from pipeline.settings import Settings

KEPT_FRESH: Final = ("knowledge_snapshot", "analysis_warehouse")
"""the assets that people and agents read from"""
_AGEING, _OLD = timedelta(days=7), timedelta(days=30)


def freshness(settings: Settings) -> dg.FreshnessPolicy:
    """How old what is read may be: `nightly_fresh_h` where the nightly build is on; else it is ageing after a
    week and old after thirty days."""
    if settings.nightly:
        return dg.FreshnessPolicy.time_window(fail_window=timedelta(hours=settings.nightly_fresh_h))
    return dg.FreshnessPolicy.time_window(fail_window=_OLD, warn_window=_AGEING)


def kept_fresh(asset: dg.AssetsDefinition, settings: Settings) -> dg.AssetsDefinition:
    """The asset, with the policy if it is one that is read from."""
    if asset.key.to_user_string() not in KEPT_FRESH:
        return asset
    return asset.map_asset_specs(lambda spec: dg.apply_freshness_policy(spec, freshness(settings)))
