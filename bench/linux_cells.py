"""The recorded runs of a Linux kernel (bench/linux/README.md), and their queues in Spillgate's words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).resolve().parent / "linux" / "runs.jsonl"
TICK_MS = 10
"""The clock of the recorded kernel, 100 Hz: PIE's timer is rounded up to its ticks."""
HTB = {"as": "htb", "rate": "10 Mb/s", "burst": "1600 B"}
"""What shapes above the leaf."""

Queue = dict[str, Any]
"""A policy of Spillgate by its kind: `class-based`, `cake`."""
Leaf = dict[str, Any]
"""Keys of a class of Spillgate: `queue_limit`, `aqm`, `fq_codel`."""


@dataclass(frozen=True)
class Recorded:
    """One run of the kernel."""

    leaf: str
    """What stands behind `tc qdisc add`."""
    flows: int
    cc: str
    ecn: bool
    values: Mapping[str, float]
    """What was measured, by the keys of `bench/linux.py`."""

    @property
    def name(self) -> str:
        """For tables."""
        words = self.leaf.split()
        short = f"{words[0]} adaptive" if "adaptive" in words else words[0]
        return f"{short}{' ecn' if self.ecn else ''}, {self.flows} {self.cc}"


def jain(rates: Sequence[float]) -> float:
    """Jain's index: 1 where all are alike, 1/n where one has everything."""
    return sum(rates) ** 2 / (len(rates) * sum(r * r for r in rates))


def read(path: Path = RECORDED) -> Iterator[Recorded]:
    """Every recorded run of a file."""
    for line in path.read_text(encoding="utf-8").splitlines():
        run = json.loads(line)
        queue, whole = run["queue_5_to_30s"], run["whole_run"]
        values = {
            "queue": queue["qlen_mean"],
            "p50": queue["qlen_p50"],
            "p95": queue["qlen_p95"],
            "p99": queue["qlen_p99"],
            "backlog": queue["backlog_mean"] / 1e3,
            "signals": whole["drops"] + whole.get("ecn_mark", whole.get("marked", 0)),
            "goodput": run["goodput_mbps"],
            "again": run["retransmits"],
            "jain": jain(run["flow_goodputs_mbps"]),
            "rtt": run["mean_rtt_ms"],
        }
        yield Recorded(run["leaf"], run["flows"], run["cc"], run["ecn"], values)


class Words:
    """The words behind the name of a queue discipline of `tc`: keys with values, and flags."""

    def __init__(self, leaf: str) -> None:
        self.kind, *self.rest = leaf.split()

    def value(self, key: str, otherwise: str) -> str:
        """Takes what stands behind a key."""
        if key not in self.rest:
            return otherwise
        at = self.rest.index(key)
        found = self.rest[at + 1]
        del self.rest[at : at + 2]
        return found

    def number(self, key: str, otherwise: float) -> float:
        """Takes the number behind a key; a size is in bytes."""
        return float(self.value(key, f"{otherwise}"))

    def time(self, key: str, otherwise: str) -> str:
        """Takes the time behind a key, in Spillgate's words."""
        text = self.value(key, otherwise)
        unit = text.lstrip("0123456789.")
        return f"{text.removesuffix(unit)} {unit}"

    def flag(self, key: str) -> bool:
        """Takes a word that stands alone."""
        found = key in self.rest
        if found:
            self.rest.remove(key)
        return found

    def done(self) -> None:
        """Refuses words that nobody took."""
        if self.rest:
            raise ValueError(f"{self.kind}: unknown words: {' '.join(self.rest)}")


def packets(words: Words, otherwise: int) -> str:
    """Takes the limit in packets."""
    return f"{words.number('limit', otherwise):g} packets"


def fifo(words: Words) -> Leaf:
    """`pfifo`, which has the queue length of the interface without a limit."""
    return {"queue_limit": packets(words, 1000)}


def red(words: Words) -> Leaf:
    """`red`. Its weight is what `tc` computes of `burst`, and below HTB it never idles: HTB asks
    no leaf that is empty, and it is the empty-handed question that begins an idle period."""
    low, high = words.number("min", 0), words.number("max", 0)
    mean, burst = words.number("avpkt", 1000), words.number("burst", 0)
    burst = burst or (2 * low + high) // (3 * mean)
    # The largest power of two with which a burst from an empty queue stays below the threshold.
    room = burst + 1 - low / mean
    weight = next(w for w in (2.0**-i for i in range(1, 32)) if room <= (1 - (1 - w) ** burst) / w)
    words.value("bandwidth", "")
    words.flag("adaptive")  # Which does nothing: see README.md.
    spec = {
        "as": "linux",
        "min_th": low,
        "max_th": high,
        "max_p": words.number("probability", 0.02),
        "weight": weight,
        "mean_packet": f"{mean:g} B",
        "idle": "none",
        "ecn": words.flag("ecn"),
    }
    if words.flag("harddrop"):
        spec["marks"] = "below-certain"
    return {"queue_limit": f"{words.number('limit', 0):g} B", "aqm": {"red": spec}}


def pie(words: Words) -> Leaf:
    """`pie`, whose timer fires at ticks of the clock."""
    number, unit = words.time("tupdate", "15ms").split()
    update = float(number) * {"us": 1e-3, "ms": 1, "s": 1e3}[unit]
    spec = {
        "as": "linux",
        "target": words.time("target", "15ms"),
        "update": f"{-(-update // TICK_MS) * TICK_MS:g} ms",
        "alpha": words.number("alpha", 2) / 16,
        "beta": words.number("beta", 20) / 16,
        "ecn": words.flag("ecn"),
        "dq_rate_estimator": words.flag("dq_rate_estimator"),
        "mean_packet": "1500 B",
    }
    words.flag("noecn")
    return {"queue_limit": packets(words, 1000), "aqm": {"pie": spec}}


def delays(words: Words) -> dict[str, object]:
    """What `codel` and `fq_codel` have in common."""
    spec: dict[str, object] = {
        "as": "linux",
        "target": words.time("target", "5ms"),
        "interval": words.time("interval", "100ms"),
    }
    if threshold := words.value("ce_threshold", ""):
        spec["ce_threshold"] = threshold
    return spec


def codel(words: Words) -> Leaf:
    """`codel`."""
    spec = {**delays(words), "ecn": words.flag("ecn")}
    words.flag("noecn")
    return {"queue_limit": packets(words, 1000), "aqm": {"codel": spec}}


def fq_codel(words: Words) -> Leaf:
    """`fq_codel`, which marks unless it is told otherwise."""
    spec = {
        **delays(words),
        "limit": packets(words, 10240),
        "flows": int(words.number("flows", 1024)),
        "quantum": f"{words.number('quantum', 1514):g} B",
        "ecn": not words.flag("noecn"),
    }
    words.flag("ecn")
    return {"fq_codel": spec}


def cake(words: Words) -> Leaf:
    """`cake`."""
    tins = ("besteffort", "precedence", "diffserv3", "diffserv4", "diffserv8")
    said = [name for name in tins if words.flag(name)]
    return {"cake": {"tins": (said or ["diffserv3"])[-1], "rtt": words.time("rtt", "100ms")}}


LEAVES: Mapping[str, Callable[[Words], Leaf]] = {
    "pfifo": fifo,
    "red": red,
    "pie": pie,
    "codel": codel,
    "fq_codel": fq_codel,
    "cake": cake,
}
"""By the name of `tc`. What is missing here Spillgate does not have."""


def below_htb(leaf: Leaf) -> Queue:
    """HTB with the leaf below it."""
    return {"class-based": {"classes": [{"name": "class-default", "shape": HTB, **leaf}]}}


def queues(recorded: Recorded) -> dict[str, Queue]:
    """The queues that a run is compared with, by what tells them apart, if anything does.

    CAKE's words have no bandwidth. But of all leaves it alone, beside RED for its drops, has counted
    `overlimits`, which it does where its own shaper makes it wait. So it is compared with that
    shaper at HTB's rate; and with the words alone, to show what the rate does.

    Raises:
        ValueError: A word of a known discipline is unknown.
    """
    words = Words(recorded.leaf)
    if words.kind not in LEAVES:
        return {}
    leaf = LEAVES[words.kind](words)
    words.done()
    if "cake" not in leaf:
        return {"": below_htb(leaf)}
    shaped = {"cake": {**leaf["cake"], "bandwidth": HTB["rate"]}}
    return {"": shaped, "without bandwidth": below_htb(leaf)}
