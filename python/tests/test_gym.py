"""The environment of Gymnasium over a queue's drop probability."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import spillgate

gymnasium = pytest.importorskip("gymnasium")
np = pytest.importorskip("numpy")

from spillgate.gym import AGENT, ID, OBSERVED, Margins, QueueEnv  # noqa: E402

TEXT = """schema_version: 1
name: Downloads
topology:
  nodes: [a, b]
  links:
    wan: {from: a, to: b, rate: 10 Mb/s, delay: 20 ms}
    back: {from: b, to: a, rate: 1 Gb/s, delay: 20 ms}
traffic:
  - flow: {name: web, count: 5, from: a, to: b, tcp: {profile: linux}}
measurement: {warmup: 1 s, duration: 4 s}
sla:
  - {class: web, metric: owd_p99, max: 60 ms}
  - {class: web, metric: throughput, min: 8 Mb/s}
  - {class: web, metric: jitter, max: 100 ms}
"""
MINE = {"policies.mine": {"fifo": {"limit": "100 packets", "aqm": {"agent": {}}}}}
"""A queue that the scenario gives to the agent."""

SPARSE = TEXT.replace("tcp: {profile: linux}", "source: {cbr: {rate: 8 kb/s, packet: 1000 B}}")


@pytest.fixture
def make():
    made = []

    def make(text=TEXT, port="wan", **options):
        made.append(QueueEnv(text, port, **options))
        return made[-1]

    yield make
    for env in made:
        env.close()


def episode(env, act, seed=1):
    """What a whole episode gave: observations, rewards, the last info."""
    observation, _ = env.reset(seed=seed)
    seen, rewards, over = [], [], False
    while not over:
        observation, reward, ended, over, info = env.step(act(observation))
        assert not ended
        seen.append(observation)
        rewards.append(reward)
    return np.array(seen), rewards, info


@pytest.mark.filterwarnings("ignore:.*maximum value is infinity")
def test_gymnasium_finds_nothing_wrong():
    from gymnasium.utils.env_checker import check_env

    env = gymnasium.make(ID, scenario=TEXT, port="wan").unwrapped
    check_env(env, skip_render_check=True)
    env.close()


def test_an_episode_is_the_run(make):
    env = make()
    seen, rewards, info = episode(env, lambda _: [0.01])
    assert len(seen) == env.steps == 500
    assert all(-1.0 <= r <= 1.0 for r in rewards)
    results = info["results"]
    [row] = results.table(scope="class", name="web", metric="throughput")
    used = seen[100:, OBSERVED.index("utilization")].mean()
    assert used == pytest.approx(row.mean / 10e6, rel=0.01)
    # The mean delay of packets, less what no queue changes and their own transmission.
    [delay] = results.table(scope="class", name="web", metric="owd_mean")
    weights = seen[100:, OBSERVED.index("utilization")]
    waits = np.average(seen[100:, OBSERVED.index("mean_delay")], weights=weights)
    assert waits == pytest.approx(delay.mean - 0.020 - 1500 * 8 / 10e6, rel=0.05)
    with pytest.raises(spillgate.InputError, match="call reset"):
        env.step([0.0])


def test_equal_seeds_give_equal_runs(make):
    env = make()
    first, *_ = episode(env, lambda _: [0.01], seed=7)
    again, *_ = episode(env, lambda _: [0.01], seed=7)
    other, *_ = episode(env, lambda _: [0.01], seed=8)
    assert (first == again).all()
    assert not (first == other).all()


def test_steps_go_on_while_the_queue_asks_nobody(make):
    # A packet a second, and steps of 10 ms: the first of a second has it, the others none.
    env = make(
        SPARSE.replace("count: 5", "count: 1"), reward=lambda interval: len(interval.arrivals)
    )
    _, rewards, info = episode(env, lambda _: [0.0])
    assert len(rewards) == 500
    assert sum(rewards) == 5
    assert info["results"].runs


def test_an_action_holds_from_the_beginning_of_its_interval(make):
    env = make(reward=lambda interval: float(len(interval.drops) == len(interval.arrivals)))
    _, rewards, _ = episode(env, lambda _: [1.0])
    assert all(rewards)


def test_nothing_is_dropped_below_the_target(make):
    env = make(target="10 s", reward=lambda interval: len(interval.drops))
    _, rewards, _ = episode(env, lambda _: [1.0, 1.0])
    assert not any(rewards)
    _, rewards, _ = episode(env, lambda _: [1.0, 0.0])
    assert any(rewards)


def test_the_rule_of_pie_gives_nearly_its_delay(make):
    class Pie:
        """RFC 8033, 4.2, without what is about bursts."""

        def __init__(self):
            self.drop = self.old = 0.0

        def __call__(self, observation):
            delay = float(observation[OBSERVED.index("delay")])
            change = 0.125 * (delay - 0.015) + 1.25 * (delay - self.old)
            for below, divisor in (
                *((1e-6, 2048), (1e-5, 512), (1e-4, 128), (1e-3, 32), (1e-2, 8), (1e-1, 2)),
            ):
                if self.drop < below:
                    change /= divisor
                    break
            self.drop = min(1.0, max(0.0, self.drop + change))
            self.old = delay
            return [self.drop]

    text = TEXT.replace("duration: 4 s", "duration: 20 s").replace("warmup: 1 s", "warmup: 5 s")
    env = make(text, interval="15 ms", marking=False)
    # The agent's drops are independent, too.
    pie = {"fifo": {"limit": "1000 packets", "aqm": {"pie": {"derandomize": False}}}}
    own, built_in = [], []
    for seed in (1, 2, 3):
        own.append(wait(episode(env, Pie(), seed)[2]["results"]))
        there = {"policies.pie": pie, "topology.links.wan.policy": "pie"}
        built_in.append(wait(spillgate.run(text, runs=1, seed=seed, set=there)))
    assert sum(own) == pytest.approx(sum(built_in), rel=0.2)
    # Without an AQM the queue fills.
    assert wait(spillgate.run(text, runs=1)) > 5 * max(own)


def wait(results):
    """The mean time in the queue: the delay less what no queue changes."""
    [row] = results.table(scope="class", name="web", metric="owd_mean")
    return row.mean - 0.020 - 1500 * 8 / 10e6


def test_the_scenario_says_where_the_agent_is(make):
    env = make(port=None, set={**MINE, "topology.links.wan.policy": "mine"})
    seen, *_ = episode(env, lambda _: [0.05])
    assert seen[:, OBSERVED.index("dropped")].any()


def test_a_port_of_a_variant(make, root):
    env = make(root / "examples/first/scenario.yaml", "uplink", variant="fifo")
    env.reset(seed=1)
    came = [len(env.step([0.1])[4]["interval"].arrivals) for _ in range(100)]
    assert sum(came) > 500


def test_a_queue_that_no_packet_comes_to(make):
    env = make(port=None, set=MINE)
    with pytest.raises(spillgate.InputError, match="no packet came to a queue with the agent"):
        episode(env, lambda _: [0.1])


def test_margins_are_those_of_the_interval(make):
    env = make()
    assert isinstance(env.reward, Margins)
    assert env.reward.judged == ("owd_p99 ≤ 60 ms", "throughput ≥ 8 Mb/s")
    assert env.reward.others == ("jitter ≤ 100 ms",)
    env.reset(seed=1)
    for _ in range(200):
        _, reward, _, _, info = env.step([0.01])
    interval = info["interval"]
    waits = sorted(wait + size * 8 / 10e6 for _, size, wait in interval.waits)
    late = (0.06 - 0.02 - waits[-1]) / 0.06
    sent = (interval.departed * 8 / 0.01 - 8e6) / 8e6
    assert reward == pytest.approx(max(-1.0, min(1.0, late, sent)))


def test_close_ends_the_run_at_once(make):
    env = make(TEXT.replace("duration: 4 s", "duration: 1000 s"))
    env.reset(seed=1)
    env.step([0.01])
    begun = time.monotonic()
    env.close()
    assert time.monotonic() - begun < 1.0
    env.reset()
    env.step([0.01])


def test_an_environment_that_is_dropped_leaves_no_thread():
    before = threading.active_count()
    env = QueueEnv(TEXT, "wan")
    env.reset(seed=1)
    env.step([0.01])
    assert threading.active_count() == before + 1
    del env
    gc.collect()
    until = time.monotonic() + 5.0
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.01)
    assert threading.active_count() == before


BEGUN = f"""
from spillgate.gym import QueueEnv
env = QueueEnv({TEXT.replace("duration: 4 s", "duration: 100000 s")!r}, "wan", interval="90000 s")
env.reset(seed=1)
print("begun", flush=True)
"""


def test_a_process_ends_with_an_environment_open():
    code = BEGUN.replace("90000 s", "10 ms") + "env.step([0.1])\n"
    done = subprocess.run([sys.executable, "-c", code], timeout=60, check=False)
    assert done.returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
def test_control_c_ends_a_step():
    code = BEGUN + "try:\n    env.step([0.1])\nexcept KeyboardInterrupt:\n    print('ended')\n"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begun\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=30)
    assert said == "ended\n"
    assert process.returncode == 0


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_several_at_a_time():
    envs = gymnasium.make_vec(ID, num_envs=3, vectorization_mode="sync", scenario=TEXT, port="wan")
    envs.reset(seed=1)
    for _ in range(20):
        seen, *_ = envs.step(np.full((3, 1), 0.01, dtype=np.float32))
    assert seen.shape == (3, len(OBSERVED))
    assert not (seen[0] == seen[1]).all()
    envs.close()


def test_an_error_of_the_run_is_raised(make):
    two = {**MINE, "topology.links.back.policy": "mine", "topology.links.wan.policy": "mine"}
    env = make(port=None, set=two)
    env.reset(seed=1)
    steps = (env.step([0.0]) for _ in range(env.steps))
    with pytest.raises(spillgate.AqmError) as error:
        list(steps)
    assert "two queues have the agent" in str(error.value) + str(error.value.__cause__)


@pytest.mark.parametrize("action", [[float("nan")], [1.5], [-0.1], [0.1, 0.1], [], "x", None])
def test_what_is_no_action(make, action):
    env = make()
    env.reset(seed=1)
    with pytest.raises(spillgate.InputError, match="is no action: 1 numbers from 0 to 1"):
        env.step(action)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"port": "van"}, "port 'van': error: there is no `van` in `topology.links`"),
        ({"interval": "10 Mb/s"}, "is no time"),
        ({"interval": "0 s"}, "must be above 0"),
        ({"interval": 0.01}, "interval 0.01 is no time"),
        ({"reward": "x"}, "reward 'x' is no function"),
        ({"interval": "6 s"}, "is longer than a run"),
        ({"target": "-20 ms"}, "target '-20 ms': it must be above 0"),
        ({"text": TEXT[: TEXT.index("sla:")]}, "states no requirement"),
        (
            {"set": {"variants": [{"name": "x", "set": {}}, {"name": "y", "set": {}}]}},
            "has 2 variants",
        ),
    ],
)
def test_bad_input(make, options, said):
    with pytest.raises(spillgate.InputError) as error:
        make(**options)
    assert said in str(error.value)


def test_messages_name_the_file_that_was_given(root):
    path = root / "examples/first/scenario.yaml"
    with pytest.raises(spillgate.InputError, match=r"'100 s' is longer than .*scenario\.yaml"):
        QueueEnv(path, "uplink", variant="fifo", interval="100 s")


def test_gymnasium_that_is_missing():
    code = (
        "import sys; sys.modules['gymnasium'] = None\n"
        "import spillgate\n"
        "try:\n    import spillgate.gym\n"
        "except spillgate.MissingDependencyError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'spillgate[gym]'" in done.stdout


def test_the_name_in_scenarios():
    assert AGENT == "agent"
