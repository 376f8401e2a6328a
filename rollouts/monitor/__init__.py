"""Monitor: typed execution feedback e = (z, y, ds, dv, f, p, l), eq. 1, from what was observed.

One implementation serves one attempt in an episode loop and millions of ticks in an asset; it sees
observations only.
"""

from rollouts.monitor.feedback import monitor, monitor_shards
from rollouts.monitor.settings import DEFAULTS, MonitorSettings
from rollouts.monitor.windows import EARLIER

__all__ = ["DEFAULTS", "EARLIER", "MonitorSettings", "monitor", "monitor_shards"]
