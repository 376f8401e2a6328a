"""In a worker's interpreter: MineStudio's simulator gets a game that is there already, on the port that
STUBBED_GAME names, and starts none. Python imports this by its name, from PYTHONPATH, before anything else.
"""

import os


class Instance:
    """What the simulator keeps of a game that runs."""

    host = "127.0.0.1"
    instance_id = 0

    def __init__(self, port):
        self.port = port
        self.client_socket = None
        self.had_to_clean = False
        self.running = False

    def kill(self):
        pass


if os.environ.get("STUBBED_GAME"):
    from minestudio.simulator.minerl.env import _multiagent

    _multiagent._MultiAgentEnv._get_new_instance = lambda self, port=None, instance_id=None: Instance(
        int(os.environ["STUBBED_GAME"])
    )
