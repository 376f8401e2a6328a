"""MineRL 1.0.2's environments by their spaces, rebuilt from its documentation: **not its package, and no
game**. As modules `gym`, `minerl` and `cv2` in a worker's interpreter (tests/test_minerl_world.py lays them
there), it says no to an action that is not exactly in the space of MineRL's human actions, and hands out what
MineRL would.

STAND_IN, a JSON object in the environment, says how the game goes: {"dies_at", "ends_at", "breaks_at": tick}.
"""

import json
import os
from types import SimpleNamespace

import numpy as np

KEYS = [
    "ESC",
    "attack",
    "back",
    "drop",
    "forward",
    *(f"hotbar.{n}" for n in range(1, 10)),
    "inventory",
    "jump",
    "left",
    "pickItem",
    "right",
    "sneak",
    "sprint",
    "swapHands",
    "use",
]
ITEMS = ["air", "none", "oak_log", "oak_planks", "stick"]
COUNTERS = [
    "use_item",
    "drop",
    "pickup",
    "break_item",
    "craft_item",
    "mine_block",
    "damage_dealt",
    "entity_killed_by",
    "kill_entity",
]


class HumanActions:
    """24 keys: 23 that are up or down, and the camera's two angles."""

    def noop(self):
        return {**dict.fromkeys(KEYS, 0), "camera": np.zeros(2, np.float32)}

    def check(self, action):
        assert sorted(action) == sorted([*KEYS, "camera"]), sorted(action)
        assert all(int(action[key]) in (0, 1) for key in KEYS), action
        camera = action["camera"]
        assert isinstance(camera, np.ndarray)
        assert camera.dtype == np.float32
        assert camera.shape == (2,)
        assert (np.abs(camera) <= 180).all()


class HumanSurvival:
    """A body that walks and turns, and a log that comes off after 10 ticks of attacking."""

    action_space = HumanActions()
    full = True

    def __init__(self):
        self.says = json.loads(os.environ.get("STAND_IN", "{}"))
        self.seeded = 0
        self.now = -1

    def seed(self, seed):
        self.seeded = seed

    def reset(self):
        self.now, self.x, self.yaw, self.pitch, self.hits, self.logs, self.gui = 0, 0.5, 0.0, 0.0, 0, 0, False
        return self._seen()

    def step(self, action):
        self.action_space.check(action)
        self.now += 1
        self.x += 0.2 * action["forward"] - 0.2 * action["back"]
        self.pitch, self.yaw = self.pitch + float(action["camera"][0]), self.yaw + float(action["camera"][1])
        self.gui ^= bool(action["inventory"])
        self.hits = self.hits + 1 if action["attack"] else 0
        self.logs += self.hits > 0 and self.hits % 10 == 0
        if self.now == self.says.get("breaks_at"):
            return self._drawn(), 0.0, True, {"error": "Connection timed out!"}
        info = {"isGuiOpen": self.gui, "location_stats": self._place()} if self.full else {}
        return self._seen(), 0.0, self.now == self.says.get("ends_at"), info

    def close(self):
        pass

    def _place(self):
        numbers = {
            "xpos": self.x,
            "ypos": 64.0,
            "zpos": 0.5,
            "pitch": self.pitch,
            "yaw": self.yaw,
            "sun_brightness": 1.0,
            "sky_light_level": 1.0,
            "biome_rainfall": 0.5,
            "biome_temperature": 0.5,
            "light_level": 15,
            "can_see_sky": 1,
            "is_raining": 0,
            "biome_id": 4,
            "sea_level": 63,
        }
        return {name: np.array(value) for name, value in numbers.items()}

    def _seen(self):
        dead = self.now >= self.says.get("dies_at", 10**9)
        pov = np.zeros((360, 640, 3), np.uint8)
        pov[:, :, 0] = int(self.x * 20) % 256
        pov[:, :, 1] = self.seeded % 256
        held = {item: np.array(0, np.int32) for item in ITEMS}
        held["air"], held["oak_log"] = np.array(35, np.int32), np.array(self.logs, np.int32)
        seen = {"pov": pov, "inventory": held}
        if not self.full:
            return seen
        empty = {"type": "none", "damage": np.array(0), "maxDamage": np.array(0)}
        hand = {**empty, "type": "oak_log" if self.logs else "air"}
        counted = {group: {item: np.array(0) for item in ITEMS} for group in COUNTERS}
        counted["mine_block"]["oak_log"] = np.array(self.logs)
        counted["use_item"]["stick"] = np.array(3)
        life = {
            "life": np.array(0.0 if dead else 20.0),
            "food": np.array(19.0),
            "saturation": np.array(5.0),
            "air": np.array(300),
            "xp": np.array(0),
            "score": np.array(0),
            "is_alive": np.array(not dead),
        }
        slots = dict.fromkeys(["offhand", "head", "chest", "legs", "feet"], empty)
        worn = {"mainhand": hand, **slots}
        return {
            **seen,
            **counted,
            "life_stats": life,
            "location_stats": self._place(),
            "equipped_items": worn,
        }

    def _drawn(self):
        """Whatever is in the spaces."""
        seen = self._seen()
        seen["inventory"] = {item: np.array(2304, np.int32) for item in ITEMS}
        return seen


class DiamondShovel(HumanSurvival):
    """A picture and the inventory, and nothing else."""

    full = False


def make(environment):
    made = {"MineRLHumanSurvival-v0": HumanSurvival, "MineRLObtainDiamondShovel-v0": DiamondShovel}
    return made[environment]()


def resize(picture, size):
    """The nearest pixels, where cv2 would mix."""
    height, width = picture.shape[:2]
    rows = np.arange(size[1]) * height // size[1]
    return np.ascontiguousarray(picture[rows][:, np.arange(size[0]) * width // size[0]])


STAND_INS = {
    "gym": SimpleNamespace(make=make),
    "cv2": SimpleNamespace(resize=resize),
    "minerl": SimpleNamespace(),
}
