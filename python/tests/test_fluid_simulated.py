"""The fluid model beside the simulator: connections with ECN over RED that marks."""

import numpy as np
import pytest
from scipy import signal

import spillgate
from spillgate.analysis import fluid

INTERVAL, WARMUP, DURATION, RUNS = 0.01, 50, 300, 4
SEGMENT = 60
"""Seconds of one estimate of the spectrum, whose resolution is then 1/60 Hz."""


def scenario(flows, rtt, red):
    """10 Mb/s, which are 1250 packets of 1000 B a second, and marks instead of drops."""
    return {
        "schema_version": 1,
        "topology": {
            "nodes": ["a", "r", "b"],
            "links": {
                "in": {
                    "from": "a",
                    "to": "r",
                    "rate": "1 Gb/s",
                    "delay": f"{rtt * 500 - 1:g} ms",
                    "duplex": True,
                },
                "out": {
                    "from": "r",
                    "to": "b",
                    "rate": "10 Mb/s",
                    "delay": "1 ms",
                    "policy": "RED",
                },
                "back": {"from": "b", "to": "r", "rate": "1 Gb/s", "delay": "1 ms"},
            },
        },
        "policies": {"RED": {"fifo": {"limit": "1000 packets", "aqm": {"red": red}}}},
        "traffic": [
            {
                "flow": {
                    "name": "f",
                    "count": flows,
                    "from": "a",
                    "to": "b",
                    "start_spread": "2 s",
                    "tcp": {"cc": "newreno", "sack": True, "mss": "948 B", "ecn": "classic"},
                }
            }
        ],
        "measurement": {
            "warmup": f"{WARMUP} s",
            "duration": f"{DURATION} s",
            "interval": f"{INTERVAL * 1000:g} ms",
        },
    }


def simulated(flows, rtt, red):
    """Queues of the runs after the warm-up, frequencies, and their mean spectrum."""
    keys = {"max_p": red.max_p, "weight": red.weight, "min_th": red.min_th, "max_th": red.max_th}
    keys |= {"spread": "none", "gentle": True, "ecn": True}
    results = spillgate.run(scenario(flows, rtt, keys), runs=RUNS, seed=1, series="all")
    series = [s for s in results.series() if s.where == "out/fifo"]
    queues = [np.array(s.v) for s in series if s.metric == "backlog_packets"]
    assert len(queues) == RUNS
    queues = [q[round(WARMUP / INTERVAL) :] for q in queues]
    points = round(SEGMENT / INTERVAL)
    found = [signal.welch(q, fs=1 / INTERVAL, nperseg=points) for q in queues]
    return queues, found[0][0], np.mean([power for _, power in found], axis=0)


def half_power(frequencies, power):
    """The band around the largest value in which the spectrum is above half of it."""
    peak = int(power.argmax())
    low = high = peak
    while low > 0 and power[low - 1] >= power[peak] / 2:
        low -= 1
    while high < power.size - 1 and power[high + 1] >= power[peak] / 2:
        high += 1
    return frequencies[low], frequencies[high]


def models(flows, rtt, red):
    """The two ends of what a connection loses with a packet in the mean.

    Drops at random times find a window of the mean size and halve it, b = 1/2, as published. Drops
    at even times find it at its peak, 4/3 of the mean, b = 2/3: the square-root law with
    p W² = 3/2 (Mathis and others 1997). Many connections under random drops lie between.
    """
    return [fluid.Model(flows, 1250, rtt, red, decrease=b) for b in (1 / 2, 2 / 3)]


def test_stable_queue():
    # Far enough from empty for a linear model: 3.5 of its standard deviations.
    flows, rtt, red = 10, 0.1, fluid.Red(100, 300, 0.05, 0.0002)
    queues, frequencies, power = simulated(flows, rtt, red)
    published, even = models(flows, rtt, red)
    assert published.margins().stable
    assert even.margins().stable
    means = np.array([q.mean() for q in queues])
    scatter = 3 * means.std(ddof=1) / np.sqrt(RUNS)
    low, high = even.operating_point().queue, published.operating_point().queue
    assert low - scatter < means.mean() < high + scatter
    # The noise of random drops explains how far the queue swings, and where its spectrum peaks.
    spectra = [m.loop().spectrum(frequencies[1:]) for m in (published, even)]
    swing = np.mean([q.std() for q in queues])
    least, most = (np.sqrt(s.sum() / SEGMENT) for s in spectra)
    assert least < swing < most
    left, right = half_power(frequencies[1:], power[1:])
    predicted = frequencies[1:][spectra[0].argmax()]
    assert left - 1 / SEGMENT <= predicted <= right + 1 / SEGMENT


@pytest.mark.parametrize(
    ("flows", "rtt", "red"),
    [
        (10, 0.1, fluid.Red(20, 80, 0.1, 0.002)),
        (10, 0.2, fluid.Red(20, 100, 0.02, 0.0005)),
    ],
)
def test_unstable_queue(flows, rtt, red):
    queues, frequencies, power = simulated(flows, rtt, red)
    cycles = [m.oscillation() for m in models(flows, rtt, red)]
    assert all(c.lasting for c in cycles)
    # The line of an oscillation that chance disturbs has a width, which the spectrum shows.
    left, right = half_power(frequencies[1:], power[1:])
    assert left - 1 / SEGMENT <= cycles[0].frequency <= right + 1 / SEGMENT
    means = np.array([q.mean() for q in queues])
    scatter = 3 * means.std(ddof=1) / np.sqrt(RUNS)
    ends = sorted(c.mean for c in cycles)
    assert ends[0] - scatter < means.mean() < ends[1] + scatter
    # It empties in each swing, as predicted.
    assert all(c.low == 0 for c in cycles)
    assert all(np.quantile(q, 0.05) < 1 for q in queues)
