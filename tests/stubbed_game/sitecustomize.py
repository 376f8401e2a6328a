"""In a worker's interpreter: the simulator, MineStudio's or MineRL's, gets a game that is there already, on
the port that STUBBED_GAME names, and starts none. Python imports this by its name, from PYTHONPATH, before
anything else.
"""

import importlib.util
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


def stub():
    port = int(os.environ["STUBBED_GAME"])
    if importlib.util.find_spec("minestudio"):
        from minestudio.simulator.minerl.env import _multiagent

        def found():
            return Instance(port)
    else:
        from minerl.env import _multiagent
        from minerl.env.malmo import InstanceManager

        def found():
            instance = InstanceManager.add_existing_instance(port)
            instance.had_to_clean = False
            return instance

    _multiagent._MultiAgentEnv._get_new_instance = lambda self, port=None, instance_id=None: found()


if os.environ.get("STUBBED_GAME"):
    stub()
