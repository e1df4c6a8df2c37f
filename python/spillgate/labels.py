"""Names of metrics as people say them, for figures and reports."""

from __future__ import annotations

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
    "backlog_average": "average backlog",
    "goodput": "goodput",
    "retransmits": "segments sent again",
    "fct_mean": "mean time of transfers",
    "fct_p50": "median time of transfers",
    "fct_p95": "95th percentile of times of transfers",
    "fct_p99": "99th percentile of times of transfers",
    "cwnd": "congestion window",
    "srtt": "smoothed RTT",
    "sessions_open": "open sessions",
    "fair_rate": "fair rate",
    "priority_load": "priority load",
    "flows_listed": "protected flows",
    "flows_blocked": "blocked flows",
    "waiting_time": "mean time to admission",
    "waiting_time_p95": "95th percentile of times to admission",
    "waiting_time_max": "longest time to admission",
    "gap_max": "longest time without an arrival",
}


def label_of(metric: str) -> str:
    """A metric's name as people say it."""
    return _LABELS.get(metric, metric.replace("_", " "))
