"""A queue as an environment of Gymnasium: an agent sets the drop probability of a port.

Steps are exact intervals of the run's clock, whatever the traffic does: see `spillgate.stepped`.

It needs Gymnasium: `pip install 'spillgate[gym]'`.
"""

from __future__ import annotations

import json
import math
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from spillgate.alone import alone, beside
from spillgate.errors import InputError, MissingDependencyError
from spillgate.run import Simulation
from spillgate.scenario import Description, Overrides, override_texts
from spillgate.search import quantity
from spillgate.source import ScenarioLike, Source
from spillgate.stepped import PS, Bridge, Interval, SteppedRun

try:
    import gymnasium
    import numpy as np
except ImportError as missing:
    _MISSING = "the environment needs Gymnasium: pip install 'spillgate[gym]'"
    raise MissingDependencyError(_MISSING, name="gymnasium") from missing

ID: Final = "spillgate/Queue-v0"
"""What `gymnasium.make` calls it, once `spillgate.gym` is imported."""

AGENT: Final = "agent"
"""The name of the AQM in a scenario that has it in a queue of its own choice."""

OBSERVED: Final = (
    "delay",
    "mean_delay",
    "backlog",
    "arriving",
    "utilization",
    "dropped",
    "marked",
    "probability",
)
"""What an observation holds, in this order: the time in seconds that the first packet has waited;
the mean that departed packets had; waiting bytes, as the seconds that the line needs for them;
what arrived and what was sent, as shares of the line; of the packets that arrived the shares that
were dropped and marked; and the probability that was in force."""


def observation_of(interval: Interval) -> np.ndarray[Any, np.dtype[np.float32]]:
    """What an agent sees of an interval: numbers by `OBSERVED`."""
    came, left = len(interval.arrivals), len(interval.waits)
    room = interval.rate * interval.length / 8
    values = (
        interval.delay,
        math.fsum(w[2] for w in interval.waits) / left if left else 0.0,
        interval.backlog * 8 / interval.rate,
        interval.arrived / room,
        interval.departed / room,
        (len(interval.drops) + len(interval.overflows)) / came if came else 0.0,
        interval.marks / came if came else 0.0,
        interval.probability,
    )
    return np.array(values, dtype=np.float32)


Reward: TypeAlias = Callable[[Interval], float]
"""What an interval is worth."""


class Margins:
    """The reward by the requirements of a scenario: the smallest margin, from -1 to 1.

    A margin is what is left to a bound, as a share of it. The delay of a packet is that at the
    queue with its transmission, and the propagation of the link. An interval without packets of
    the classes has the reward 0.

    Attributes:
        judged: The requirements that an interval can be judged by: of delays, losses and
            throughput.
        others: Those that it cannot.
    """

    def __init__(self, described: Description, classes: Sequence[str], propagation: float) -> None:
        """For flows whose classes are given by their numbers."""
        self._classes, self._propagation = classes, propagation
        judges = {
            metric: judge
            for names, judge in (
                (_QUANTILES, self._delay),
                (("loss_ratio",), self._loss),
                (("throughput",), self._throughput),
            )
            for metric in names
        }
        whole = [r for r in described.sla if not (r.get("site") or r.get("dscp"))]
        self.judged = tuple(r["requirement"] for r in whole if r["metric"] in judges)
        self.others = tuple(
            r["requirement"] for r in described.sla if r["requirement"] not in self.judged
        )
        self._judges = [(r, judges[r["metric"]]) for r in whole if r["metric"] in judges]

    def __call__(self, interval: Interval) -> float:
        """The smallest margin of an interval."""
        margins = []
        for requirement, judge in self._judges:
            value = judge(requirement, interval)
            if value is None:
                continue
            for bound, sign in ((requirement.get("max"), 1.0), (requirement.get("min"), -1.0)):
                if bound:
                    margins.append(sign * (bound - value) / bound)
                elif bound is not None:
                    margins.append(-float(sign * value > 0.0))
        return max(-1.0, min(1.0, *margins)) if margins else 0.0

    def _of(self, flow: int, cls: str) -> bool:
        return flow < len(self._classes) and self._classes[flow] == cls

    def _delay(self, requirement: Mapping[str, Any], of: Interval) -> float | None:
        cls = requirement["class"]
        waits = sorted(
            wait + size * 8 / of.rate for flow, size, wait in of.waits if self._of(flow, cls)
        )
        if not waits:
            return None
        share = _QUANTILES[requirement["metric"]]
        if share is None:
            return self._propagation + math.fsum(waits) / len(waits)
        return self._propagation + waits[max(0, math.ceil(share * len(waits)) - 1)]

    def _loss(self, requirement: Mapping[str, Any], of: Interval) -> float | None:
        cls = requirement["class"]
        came = sum(self._of(f, cls) for f in of.arrivals)
        lost = sum(self._of(f, cls) for f in (*of.drops, *of.overflows))
        return lost / came if came else None

    def _throughput(self, requirement: Mapping[str, Any], of: Interval) -> float | None:
        cls = requirement["class"]
        return sum(size for f, size, _ in of.waits if self._of(f, cls)) * 8 / of.length


_QUANTILES: Final[dict[str, float | None]] = {
    "owd_mean": None,
    "owd_p50": 0.5,
    "owd_p95": 0.95,
    "owd_p99": 0.99,
    "owd_p999": 0.999,
    "owd_max": 1.0,
}
"""Metrics of delay; none for the mean."""


class QueueEnv(gymnasium.Env[Any, Any]):
    """A port whose drop probability an agent sets, interval by interval.

    The action is the probability (0 to 1) with which packets that come are marked or dropped;
    with `target` a second number from 0 to 1 says, as a share of `target`, how long a queue may
    be that nothing is dropped from. The observation has the numbers of `OBSERVED`. An episode is
    one run; it is truncated at its end, and never terminated. `info` has the `interval`, and with
    the last one the `results` of the run.

    Attributes:
        interval: Seconds between two actions.
        steps: Steps of an episode.
        description: What was understood of the scenario.
        reward: What an interval is worth: a function of an `Interval`, or `Margins`.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as Gymnasium has it

    def __init__(
        self,
        scenario: ScenarioLike | Source,
        port: str | None = None,
        *,
        interval: str = "10 ms",
        target: str | None = None,
        marking: bool = True,
        limit: str = "1000 packets",
        reward: Reward | None = None,
        variant: str | None = None,
        set: Overrides | None = None,  # noqa: A002
        confine: bool = False,
        render_mode: str | None = None,
    ) -> None:
        """Reads the scenario; nothing runs before `reset`.

        Args:
            scenario: As for `spillgate.run`.
            port: The link at whose port the agent is; its policy is then a FIFO queue with the
                agent. Without it the scenario names the AQM `agent` in one queue: `aqm: {agent:
                {}}`.
            interval: The time between two actions.
            target: If given, the action says from which waiting time on packets are dropped, too:
                from 0 to this time.
            marking: Whether packets that are capable of ECN are marked in place of a drop.
            limit: With `port`: the limit of the queue.
            reward: What an interval is worth; default the smallest margin of the requirements.
            variant: Of a scenario with variants: which.
            set: As for `spillgate.run`.
            confine: As for `spillgate.run`.
            render_mode: None: there is nothing to see.

        Raises:
            InputError: If there is no such port, the scenario has several points, no requirement
                and no `reward`, or its run is shorter than an interval.
        """
        self.render_mode = render_mode
        self._source = Source.of(scenario)
        self._written = self._source.path
        self._target = None if target is None else _time("target", target) / PS
        _check_function("reward", reward)
        length = _time("interval", interval)
        self._length, self.interval = length, length / PS
        self._marking = marking
        self._confine, self._variant = confine, variant
        self._set = override_texts(set)
        there = f"topology.links.{json.dumps(port)}.policy"
        if port is not None:
            if variant is not None:
                # What a variant says of the port would stand above what is said here.
                record = alone(self._source, self._set, variant, confine=confine)
                self._source = beside(self._source, "one.yaml", record)
                self._set, self._variant = [], None
            policy = {"fifo": {"limit": limit, "aqm": {AGENT: {}}}}
            self._set += override_texts({f"policies.{AGENT}": policy, there: AGENT})
        try:
            opened = self._open(Bridge(length, 1), 0)
        except InputError as error:
            # Nobody has written this path.
            text = str(error).replace(f"--set {there}", f"port {port!r}")
            raise InputError(text, error.diagnostics) from None
        d = self.description = opened.description
        if len(d.variants) > 1:
            msg = (
                f"error: {self._written} has {len(d.variants)} variants\n"
                f"    hint: choose one of {', '.join(d.variants)}"
            )
            raise InputError(msg)
        self.steps = int((d.warmup + d.duration) * PS / length + 1e-9)
        if self.steps < 1:
            msg = f"error: interval {interval!r} is longer than a run of {self._written}"
            raise InputError(msg)
        self.reward = self._worth(opened, port) if reward is None else reward
        space = gymnasium.spaces.Box
        self.action_space = space(0.0, 1.0, (1 if target is None else 2,), np.float32)
        self.observation_space = space(0.0, np.inf, (len(OBSERVED),), np.float32)
        self._begun: tuple[Bridge, Simulation] | None = None
        self._run: SteppedRun | None = None
        self._left: deque[Interval] = deque()
        self._taken = 0

    def _open(self, bridge: Bridge, seed: int) -> Simulation:
        source = Source.of(self._source, aqm={AGENT: bridge.hooks()})
        return Simulation(
            source,
            seed=seed,
            runs=1,
            set=self._set,
            confine=self._confine,
            variant=self._variant,
        )

    def _worth(self, opened: Simulation, port: str | None) -> Reward:
        d = self.description
        delays = {x["name"]: x["delay"] for x in d.links}
        made = Margins(d, [cls for _, cls in opened.cast()["flows"]], delays.get(port, 0.0))
        if not made.judged:
            msg = (
                f"error: {self._written} states no requirement that an interval can be judged "
                "by\n    hint: `sla: [{class: .., metric: owd_p99, max: 20 ms}]`, of delay, "
                "loss_ratio or throughput; or give a function as `reward`"
            )
            raise InputError(msg)
        return made

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins a new run; equal seeds give equal runs, for equal actions.

        `options` has no use. The first observation is that of an empty queue.
        """
        super().reset(seed=seed, options=options)
        self.close()
        bridge = Bridge(self._length, self.steps)
        bridge.marking = self._marking
        simulation = self._open(bridge, int(self.np_random.integers(2**63)))
        self._left.clear()
        self._taken = 0
        # Its thread begins with the first action, which holds from the beginning.
        self._begun = bridge, simulation
        first = Interval(0.0, self.interval, 1.0)
        return observation_of(first), {"interval": first}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:  # noqa: ANN401
        """Sets the probability for an interval, and says what became of it.

        Raises:
            InputError: If the action is not in the action space.
            AqmError: If the run ended by an error.
        """
        numbers = 1 if self._target is None else 2
        msg = f"error: {action!r} is no action: {numbers} numbers from 0 to 1"
        try:
            values = np.asarray(action, dtype=np.float64).reshape(-1)
        except (TypeError, ValueError) as error:
            raise InputError(msg) from error
        if len(values) != numbers or not all(0.0 <= v <= 1.0 for v in values):
            raise InputError(msg)
        if self._begun is None or self._taken >= self.steps:
            msg = "error: the episode has ended, or none has begun: call reset"
            raise InputError(msg)
        bridge, simulation = self._begun
        bridge.probability = float(values[0])
        if self._target is not None:
            bridge.target = float(values[1]) * self._target
        if not self._left:
            if self._run is None:
                self._run = SteppedRun(bridge, simulation)
                self._finalizer = weakref.finalize(self, self._run.end)
            else:
                bridge.go.put(None)
            try:
                self._left.extend(self._run.step())
            except BaseException:
                # It has ended, by an error or by Ctrl-C.
                self._run = self._begun = None
                raise
        interval = self._left.popleft()
        interval.probability = bridge.probability
        self._taken += 1
        info: dict[str, Any] = {"interval": interval}
        truncated = self._taken == self.steps
        if truncated and self._run is not None:
            info["results"] = self._run.results()
        return observation_of(interval), float(self.reward(interval)), False, truncated, info

    def close(self) -> None:
        """Ends the run at once."""
        run, self._run, self._begun = self._run, None, None
        if run is not None:
            self._finalizer.detach()
            run.close()


def _check_function(name: str, given: object) -> None:
    if not (given is None or callable(given)):
        msg = f"error: {name} {given!r} is no function of an interval"
        raise InputError(msg)


def _time(name: str, text: str) -> int:
    """A time above 0 in picoseconds."""
    number, unit, _ = quantity(name, str(text))
    if unit != "s":
        msg = f"error: {name} {text!r} is no time: write one such as '10 ms'"
        raise InputError(msg)
    length = round(float(number) * PS)
    if length < 1:
        msg = f"error: {name} {text!r}: it must be above 0"
        raise InputError(msg)
    return length


gymnasium.register(ID, entry_point="spillgate.gym:QueueEnv")
