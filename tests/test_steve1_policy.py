"""How the asks of many episodes become batches, over a worker without a policy."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from rollouts.protocols import Keys
from rollouts.worlds.client.steve1.policy import Policy, PolicySettings
from rollouts.worlds.worker_link import WorkerError

FAKE = Path(__file__).with_name("fake_policy.py")
FRAME = np.zeros((128, 128, 3), np.uint8)


def policy(weights: str = "/good", batch: int = 16) -> Policy:
    return Policy(PolicySettings(weights, python=sys.executable, batch=batch, reply_s=10.0), FAKE)


@pytest.fixture
def good() -> Iterator[Policy]:
    made = policy()
    yield made
    made.close()


def played(one: Policy, episodes: int, steps: int) -> list[list[Keys]]:
    """What each of some episodes, in threads of their own, is played with."""

    def play(number: int) -> list[Keys]:
        return [one.act(f"e{number}", f"text{number}", number, step, FRAME) for step in range(steps)]

    with ThreadPoolExecutor(episodes) as threads:
        return list(threads.map(play, range(episodes)))


def test_everybody_gets_the_answer_to_what_he_asked(good: Policy) -> None:
    for number, own in enumerate(played(good, 5, 20)):
        assert [keys.held[0] for keys in own] == [f"text{number}"] * 20
        assert [(keys.pitch, keys.yaw) for keys in own] == [(step, number) for step in range(20)]


def test_those_who_go_on_together_are_asked_together(good: Policy) -> None:
    together = [keys.held[1] for own in played(good, 4, 50) for keys in own]
    assert together.count("of4") > 100, "of 200"


def test_one_alone_waits_for_nobody_for_long(good: Policy) -> None:
    played(good, 3, 5)
    assert good.act("e0", "text", 0, 5, FRAME).held == ("text", "of1")


def test_a_batch_has_a_size(good: Policy) -> None:
    small = policy(batch=2)
    sizes = {keys.held[1] for own in played(small, 5, 10) for keys in own}
    assert sizes <= {"of1", "of2"}
    small.close()


def test_who_has_ended_is_forgotten(good: Policy) -> None:
    played(good, 3, 2)
    assert good.memory() == 3
    good.forget("e1")
    assert good.memory() == 2


@pytest.mark.parametrize("how", ["die", "fail"])
def test_a_lost_batch_is_everybodys_loss_and_the_next_begins_anew(how: str, tmp_path: Path) -> None:
    one = policy(str(tmp_path / f"{how}-2"))
    one.act("e0", "text", 0, 0, FRAME)

    def ask(number: int) -> str:
        try:
            return str(one.act(f"e{number}", "text", 0, 1, FRAME).held)
        except WorkerError as error:
            return str(error)

    with ThreadPoolExecutor(3) as threads:
        said = list(threads.map(ask, range(3)))
    assert any(("exit code 3" if how == "die" else "out of memory") in each for each in said)
    assert one.act("another", "text", 0, 0, FRAME).held == ("text", "of1")
    one.close()


def test_an_episode_whose_memory_is_lost_does_not_play_on_without_it(tmp_path: Path) -> None:
    one = policy(str(tmp_path / "die-2"))
    one.act("e0", "text", 0, 0, FRAME)
    with pytest.raises(WorkerError, match="exit code 3"):
        one.act("e1", "text", 0, 0, FRAME)
    for _ in range(2):
        with pytest.raises(WorkerError, match="the policy that remembered this episode is gone"):
            one.act("e0", "text", 0, 1, FRAME)
    one.forget("e0")
    assert one.act("e0", "text", 0, 0, FRAME).held == ("text", "of1")
    one.close()


def test_weights_that_are_not_there_are_everybodys_error() -> None:
    one = policy("/missing")
    with pytest.raises(WorkerError, match="no STEVE-1 there"):
        one.act("e0", "text", 0, 0, FRAME)


def test_settings_say_what_to_do() -> None:
    with pytest.raises(ValueError, match=r"needs the setting weights.*MINEEVOLVE_EXECUTOR_SETTINGS="):
        PolicySettings.of({})
    with pytest.raises(ValueError, match="steve1 has no setting colour; it has: weights, device"):
        PolicySettings.of({"weights": "/w", "colour": "red"})
    with pytest.raises(ValueError, match=r"no STEVE-1 in /w: config.json and model.safetensors missing. Put"):
        PolicySettings.of({"weights": "/w", "python": sys.executable}).check_here()
    with pytest.raises(ValueError, match="at /no/python: make world-minestudio, or python"):
        PolicySettings.of({"weights": "/w", "python": "/no/python"}).interpreter()
