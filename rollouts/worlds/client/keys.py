"""An action as keys, for a body that is moved by nothing else."""

from rollouts.protocols import Action, Keys, Observation


def keys_of(action: Action, now: Observation) -> Keys:
    """The keys that an action holds, and how far it turns the view from where it looks now. An action that
    names its keys is just these. What has no key of its own (crafting, equipping, placing) is left out."""
    if action.keys is not None:
        return action.keys
    down = {
        "attack": action.attack,
        "back": action.forward < 0,
        "forward": action.forward > 0,
        "jump": action.jump,
        "left": action.strafe < 0,
        "right": action.strafe > 0,
        "sneak": action.sneak,
        "sprint": action.sprint,
        "use": action.use,
    }
    pitch = 0.0 if action.pitch is None else action.pitch - now.pitch
    # The short way round.
    yaw = 0.0 if action.yaw is None else (action.yaw - now.yaw + 180) % 360 - 180
    return Keys(tuple(key for key, held in down.items() if held), pitch, yaw)
