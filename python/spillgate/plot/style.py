"""The style of the figures, and names for people."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib as mpl
from matplotlib.colors import to_rgb

_STYLE = Path(__file__).with_name("spillgate.mplstyle")
_HATCHES = ("", "///", "...", "\\\\\\", "xxx")

_LABELS = {
    "owd_mean": "mean one-way delay",
    "owd_min": "smallest one-way delay",
    "owd_p50": "median one-way delay",
    "owd_p95": "95th percentile of one-way delay",
    "owd_p99": "99th percentile of one-way delay",
    "owd_p999": "99.9th percentile of one-way delay",
    "owd_max": "largest one-way delay",
    "jitter": "jitter (RFC 3550)",
    "pdv": "delay variation (99.9 % − min)",
    "loss_ratio": "lost packets",
    "throughput": "throughput",
    "offered": "offered load",
    "backlog_packets": "backlog",
    "backlog_bytes": "backlog",
    "goodput": "goodput",
    "retransmits": "segments sent again",
    "fct_mean": "mean time of transfers",
    "fct_p50": "median time of transfers",
    "fct_p95": "95th percentile of times of transfers",
    "fct_p99": "99th percentile of times of transfers",
    "cwnd": "congestion window",
    "srtt": "smoothed RTT",
    "sessions_open": "open sessions",
}


def label_of(metric: str) -> str:
    """A metric's name as people say it."""
    return _LABELS.get(metric, metric.replace("_", " "))


@contextmanager
def styled() -> Iterator[None]:
    """Spillgate's style and nothing of the user's, for figures that do not depend on settings."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(mpl.rc_params_from_file(_STYLE, use_default_template=False))
        yield


def palette(count: int, shades: int = 1) -> list[tuple[str | tuple[float, float, float], str]]:
    """Colors and hatches of `count` series.

    Args:
        count: How many series.
        shades: This many consecutive series share a hue, each lighter than the one before.
    """
    colors: list[str] = mpl.rcParams["axes.prop_cycle"].by_key()["color"]
    chosen: list[tuple[str | tuple[float, float, float], str]] = []
    for i in range(count):
        hue, step = divmod(i, shades)
        white = 0.72 * step / shades
        red, green, blue = (c + (1.0 - c) * white for c in to_rgb(colors[hue % len(colors)]))
        hatch = _HATCHES[hue // len(colors) % len(_HATCHES)]
        chosen.append(((red, green, blue), hatch))
    return chosen
