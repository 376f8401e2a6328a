"""Monitor's parameters. The first eight are the method's; the rest say what "hardly moved" and "stayed open"
mean, each with its reason."""

from dataclasses import dataclass


@dataclass(frozen=True)
class MonitorSettings:
    """Parameters of eq. 2, 3 and 5 and of the failure cascade. Distances in blocks, durations in ticks."""

    lambda_move: float = 0.4
    lambda_inventory: float = 0.4
    lambda_goal: float = 0.2
    epsilon_move: float = 1.0
    epsilon_inventory: float = 1.0
    epsilon_progress: float = 0.10
    window: int = 4
    failure_rate: float = 0.5

    recent_ticks: int = 400
    """20 s: the stretch whose lack of progress makes a long attempt stagnant (DECISIONS 12)."""
    loop_score: float = 0.7
    deadlock_window: int = 8
    deadlock_repeats: int = 3
    deadlock_subgoals: int = 2
    gui_stall_at_end: int = 5
    """A GUI that is open when the attempt ends counts as stalled after a quarter of a second: shorter, it
    was only just opened."""
    gui_stall: int = 100
    """A GUI that was closed again counts as stalled after 5 s: a craft by hand takes less."""
    searched: float = 8.0
    """To search is to cover at least this distance: below it the agent has looked around where it stood."""
    hardly_moved: float = 2.0
    """Within two blocks for as long as `stuck_ticks`, while pressing to move, is being stuck."""
    stuck_ticks: int = 100
    drop_late: int = 200
    """A drop that was not picked up within 10 s was left; in less time it may just not have been yet."""
    pressing_share: float = 0.5


DEFAULTS = MonitorSettings()
