"""A figure for each page about a model, drawn from a run of seconds (`refresh.py figures`).

Each is a scenario, and what is shown of it: time series, one panel each, or bars over variants.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import spillgate
from spillgate.plot.files import write
from spillgate.plot.style import palette, shown_as, styled

IMAGES = Path(__file__).parent / "img"


@dataclass(frozen=True)
class Lines:
    """A panel of time series."""

    label: str
    """What the vertical axis shows, with its unit."""
    curves: tuple
    """Of each: its place, its metric, its name in the legend; perhaps its variant."""
    factor: float = 1.0
    marks: tuple = ()
    """Levels, each with a name."""
    step: bool = False


@dataclass(frozen=True)
class Bars:
    """A panel of values: a group of bars for each variant."""

    label: str
    metric: str
    scope: str
    names: tuple
    factor: float = 1.0


MS, PERCENT, MBPS, KBPS = 1e3, 1e2, 1e-6, 1e-3


def line(policies, traffic, keys="", link="", duration="20 s", interval="50 ms", topology=""):
    """A scenario of one line of 10 Mb/s with a delay of 20 ms; the first policy is on it."""
    first = policies.strip().split(":")[0]
    return f"""schema_version: 1
topology:
  nodes: [a, b]
  links:
    line: {{from: a, to: b, rate: 10 Mb/s, delay: 20 ms, policy: {first}{link}}}
    back: {{from: b, to: a, rate: 10 Mb/s, delay: 20 ms}}
{topology}policies:
{policies}
traffic:
{traffic}
measurement: {{warmup: 0 s, duration: {duration}, interval: {interval}}}
runs: {{count: 1, seed: 1}}
{keys}"""


def tcp(name, count, start="0 s", keys="cc: newreno"):
    """Connections that begin within a second from `start` on."""
    return (
        f"  - flow: {{name: {name}, count: {count}, class: {name}, from: a, to: b, start: {start},"
        f" start_spread: 1 s, tcp: {{{keys}}}}}\n"
    )


def flow(name, source, keys=""):
    """A flow without feedback, a class of its own."""
    return f"  - flow: {{name: {name}, class: {name}, from: a, to: b, source: {source}{keys}}}\n"


def cbr(name, rate, packet="1500 B", keys=""):
    """A constant rate, with packets that are not in step with others."""
    return flow(name, f"{{cbr: {{rate: {rate}, packet: {packet}, jitter: 10 %}}}}", keys)


def variants(key, **values):
    """A variant for each value of a key; `_` in a name stands for a space."""
    lines = [
        f"  - {{name: {name.replace('_', ' ')}, set: {{{key}: {value}}}}}"
        for name, value in values.items()
    ]
    return "variants:\n" + "\n".join(lines) + "\n"


def policy(**values):
    """A variant for each policy of the line."""
    return variants("topology.links.line.policy", **values)


LOAD = tcp("early", 4) + tcp("late", 16, "10 s")
"""Four connections, and sixteen more after 10 s."""

QUEUE, AVERAGE = "line/fifo", "backlog_average"


def aqm(spec, traffic=LOAD, more="", **keys):
    """A FIFO with this AQM."""
    return line(f"  AQM: {{fifo: {{limit: 200 packets, aqm: {spec}}}}}\n{more}", traffic, **keys)


def waiting(*curves, marks=()):
    """The queue in packets."""
    return Lines("packets", ((QUEUE, "backlog_packets", "queue"), *curves), marks=marks)


MEAN = (QUEUE, AVERAGE, "average")


def state(label, metric, name, factor=1.0, **keys):
    """What an AQM goes by."""
    return Lines(label, ((QUEUE, metric, name),), factor, **keys)


def rates(*classes, **keys):
    """The throughput of classes."""
    curves = tuple((f"class {c}", "throughput", c) for c in classes)
    return Lines("Mb/s", curves, MBPS, **keys)


THREE = cbr("small", "8 Mb/s", "300 B") + cbr("large", "8 Mb/s") + cbr("polite", "2 Mb/s")
WEIGHTED = "".join(
    cbr(name, "8 Mb/s", keys=f", dscp: {dscp}, start: {start}")
    for name, dscp, start in (
        ("default", "be", "0 s"),
        ("cs3", "cs3", "5 s"),
        ("cs5", "cs5", "10 s"),
    )
)
MIXED = tcp("downloads", 4) + cbr("calls", "80 kb/s", "200 B", ", dscp: ef")


def shared(spec):
    """Three flows through a FIFO and through this fair queue."""
    text = f"  FIFO: {{fifo: {{limit: 100 packets}}}}\n  FAIR: {spec}"
    return line(text, THREE, policy(FIFO="FIFO", fair_queue="FAIR"), duration="5 s")


SHARES = Bars("throughput (Mb/s)", "throughput", "class", ("small", "large", "polite"), MBPS)


def flows(scheduler):
    """Calls among downloads through a flow-aware link and through a FIFO."""
    text = (
        "  FIFO: {fifo: {limit: 100 packets}}\n"
        f"  FAN: {{fan: {{scheduler: {scheduler}, limit: 100 packets, min_fair_rate: 5 %}}}}"
    )
    return line(text, MIXED, policy(FIFO="FIFO", flow_aware="FAN"), duration="10 s")


DELAYS = Bars("99th percentile of delay (ms)", "owd_p99", "class", ("downloads", "calls"), MS)

THRESHOLDS = ((15, "min_th"), (45, "max_th"))
RED_KEYS = "min_th: 15, max_th: 45, weight: 0.002"

SWITCH = """schema_version: 1
topology:
  nodes:
    - {name: hosts, count: 4}
    - {name: sinks, count: 4}
    - {name: s, switch: {architecture: input-queued, speedup: 1, buffer: {limit: 50 packets}}}
  links:
    in: {from: hosts, to: s, rate: 10 Mb/s}
    out: {from: s, to: sinks, rate: 10 Mb/s}
traffic:
  - flow:
      name: x
      class: all
      from: hosts
      to: sinks
      pattern: uniform
      source: {bernoulli: {line: 10 Mb/s, load: 95 %, packet: 500 B}}
measurement: {warmup: 500 ms, duration: 3 s}
runs: {count: 2, seed: 1}
variants:
  - {name: one FIFO an input, set: {}}
  - name: queues by output
    set: {topology.nodes.2.switch: {architecture: voq, buffer: {limit: 50 packets}}}
  - {name: output-queued, set: {topology.nodes.2.switch: {architecture: output-queued}}}
"""

ATM = """schema_version: 1
topology:
  nodes:
    - {name: hosts, count: 10}
    - {name: s, atm_switch: {buffer: 1000, discard: epd, epd_threshold: 800}}
    - sink
  links:
    in: {from: hosts, to: s, rate: 149.76 Mb/s, delay: 5 us, atm: {}, duplex: true}
    out: {from: s, to: sink, rate: 149.76 Mb/s, delay: 5 us, atm: {}, duplex: true}
traffic:
  - flow:
      name: bulk
      count: 10
      from: hosts
      to: sink
      start_spread: 10 ms
      tcp: {profile: ns2, mss: 9140 B, max_window: 64 kB}
measurement: {warmup: 0 s, duration: 300 ms, interval: 500 us, series: [out]}
variants:
  - {name: tail, set: {topology.nodes.1.atm_switch: {buffer: 1000, discard: tail}}}
  - {name: EPD, set: {}}
"""

FAILING = """schema_version: 1
topology:
  nodes: [a, r, s, b]
  links:
    near: {from: a, to: r, rate: 100 Mb/s, delay: 1 ms, duplex: true}
    short: {from: r, to: b, rate: 10 Mb/s, delay: 5 ms, duplex: true}
    up: {from: r, to: s, rate: 5 Mb/s, delay: 10 ms, duplex: true}
    down: {from: s, to: b, rate: 5 Mb/s, delay: 10 ms, duplex: true}
  failures: [{link: short, at: 4 s, repair: 10 s}]
  routing: {detection: 300 ms, convergence: 700 ms}
traffic:
  - flow: {name: load, class: load, count: 2, from: a, to: b, tcp: {cc: newreno}}
measurement: {warmup: 0 s, duration: 15 s, interval: 100 ms}
"""

FORWARDING = """schema_version: 1
topology:
  nodes: [a, {name: edge, forwarding: {per_packet: 20 us, input_queue: 40}}, b]
  links:
    in: {from: a, to: edge, rate: 100 Mb/s}
    out: {from: edge, to: b, rate: 100 Mb/s}
traffic:
  - flow:
      name: small
      class: small packets
      from: a
      to: b
      source: {poisson: {rate: 15 Mb/s, packet: 64 B}}
measurement: {warmup: 500 ms, duration: 2 s}
runs: {count: 2, seed: 1}
variants:
  - {name: 10 us a packet, set: {topology.nodes.1.forwarding.per_packet: 10 us}}
  - {name: 30 us, set: {topology.nodes.1.forwarding.per_packet: 30 us}}
  - {name: 60 us, set: {topology.nodes.1.forwarding.per_packet: 60 us}}
"""

MPLS = """schema_version: 1
topology:
  nodes: [ce1, pe1, p, pe2, ce2]
  links:
    first: {from: ce1, to: pe1, rate: 10 Mb/s, delay: 1 ms, duplex: true}
    labelled: {from: pe1, to: p, rate: 10 Mb/s, delay: 1 ms, duplex: true}
    popped: {from: p, to: pe2, rate: 10 Mb/s, delay: 1 ms, duplex: true}
    last: {from: pe2, to: ce2, rate: 10 Mb/s, delay: 1 ms, duplex: true}
  mpls: {pe: [pe1, pe2], p: [p], vpns: {blue: [ce1, ce2]}}
traffic:
  - flow:
      name: calls
      class: calls
      count: 20
      from: ce1
      to: ce2
      source: {cbr: {rate: 80 kb/s, packet: 60 B}}
measurement: {warmup: 100 ms, duration: 2 s}
runs: {count: 2, seed: 1}
"""

SESSIONS = """  - sessions:
      name: pages
      class: pages
      from: b
      to: a
      arrivals: {poisson: {gap: 150 ms}}
      session: {transfer: {size: {pareto: {mean: 100 kB, shape: 1.5, max: 5 MB}}}}
      tcp: {profile: linux}
"""

IRREGULAR = """schema_version: 1
topology:
  nodes: [a, b]
  links:
    line:
      from: a
      to: b
      rate: 10 Mb/s
      delay: 20 ms
      policy: FIFO
      rate_process: {on-off: {on: 2 s, off: 500 ms}}
    back: {from: b, to: a, rate: 10 Mb/s, delay: 20 ms}
policies:
  FIFO: {fifo: {limit: 100 packets}}
traffic:
  - flow: {name: load, class: load, count: 2, from: a, to: b, tcp: {cc: cubic}}
measurement: {warmup: 0 s, duration: 20 s, interval: 100 ms}
"""

FIFO = "  FIFO: {fifo: {limit: 50 packets}}"
DEEP = "  FIFO: {fifo: {limit: 100 packets}}"
PROFILE = cbr("in", "6 Mb/s", keys=", dscp: af11") + cbr("out", "6 Mb/s", keys=", dscp: af12")

CLASSES = """  CBWFQ:
    class-based:
      classes:
        - {name: voice, match: {dscp: ef}, priority: {rate: 2 Mb/s}}
        - {name: video, match: {dscp: af41}, bandwidth: 5 Mb/s}
        - {name: class-default, bandwidth: 3 Mb/s}"""

POLICER = """  POLICED:
    class-based:
      classes: [{name: bursts, match: {dscp: be}, police: {rate: 2 Mb/s, burst: 100 kB}}]"""

FIGURES = {
    "fifo": (line(FIFO, tcp("load", 4)), waiting(marks=((50, "limit"),))),
    "red": (
        aqm(f"{{red: {{{RED_KEYS}}}}}"),
        waiting(MEAN, marks=THRESHOLDS),
    ),
    "wred": (
        aqm(
            "{wred: {}}",
            "".join(
                tcp(d, 8).replace("from: a", f"dscp: {d}, from: a")
                for d in ("af11", "af12", "af13")
            ),
        ),
        Bars("throughput (Mb/s)", "throughput", "class", ("af11", "af12", "af13"), MBPS),
    ),
    "adaptive-red": (
        aqm("{adaptive-red: {}}"),
        waiting(MEAN),
        state("max_p", "adapted_max_p", "max_p"),
    ),
    "self-configuring-red": (
        aqm("{self-configuring-red: {}}"),
        waiting(MEAN),
        state("max_p", "adapted_max_p", "max_p"),
    ),
    "load-adaptive-red": (
        aqm("{load-adaptive-red: {}}"),
        waiting(MEAN, (QUEUE, "adapted_max_th", "max_th")),
        state("loss (%)", "adapted_loss", "average loss", PERCENT),
    ),
    "dsred": (
        aqm(
            "{dsred: {}}",
            more=f"  RED: {{fifo: {{limit: 200 packets, aqm: {{red: {{{RED_KEYS}}}}}}}}}\n",
            keys=policy(DSRED="AQM", RED="RED"),
        ),
        Lines(
            "average queue (packets)",
            ((QUEUE, AVERAGE, "DSRED", "DSRED"), (QUEUE, AVERAGE, "RED", "RED")),
        ),
    ),
    "rio": (
        aqm(
            "{rio: {}}",
            PROFILE,
            more="  RED: {fifo: {limit: 200 packets, aqm: {red: {}}}}\n",
            keys=policy(RIO="AQM", RED="RED"),
        ),
        Bars("lost packets (%)", "loss_ratio", "class", ("in", "out"), PERCENT),
    ),
    "adaptive-rio": (
        aqm(
            "{adaptive-rio: {}}",
            cbr("in", "4 Mb/s", keys=", dscp: af11, start: 10 s")
            + tcp("out", 8).replace("from: a", "dscp: af12, from: a"),
        ),
        waiting((QUEUE, "adapted_max_th", "max_th of what is out")),
        rates("in", "out"),
    ),
    "green": (
        aqm("{green: {}}"),
        state("Mb/s", "adapted_arrival_rate", "arrival rate", MBPS, marks=((10, "link"),)),
        state("probability", "drop_probability", "drop probability"),
    ),
    "green-tcp": (
        aqm("{green-tcp: {}}"),
        state("flows", "flows_counted", "flows counted"),
        state("probability", "drop_probability", "drop probability"),
    ),
    "codel": (
        aqm("{codel: {}}"),
        state("ms", "queue_delay", "queue delay", MS, marks=((5, "target"),)),
        state("count", "codel_count", "count"),
        state("dropping", "codel_dropping", "dropping state", step=True),
    ),
    "pie": (
        aqm("{pie: {}}"),
        state("ms", "pie_delay", "delay", MS, marks=((15, "target"),)),
        state("probability (%)", "drop_probability", "drop probability", PERCENT),
    ),
    "fq-codel": (
        line(
            "  FIFO: {fifo: {limit: 200 packets}}\n"
            "  CODEL: {fifo: {limit: 200 packets, aqm: {codel: {}}}}\n  FQ: {fq-codel: {}}",
            MIXED,
            policy(FIFO="FIFO", CoDel="CODEL", FQ_CoDel="FQ"),
        ),
        DELAYS,
    ),
    "fq": (shared("{fq: {}}"), SHARES),
    "drr": (shared("{drr: {}}"), SHARES),
    "wfq": (line("  WFQ: {wfq: {weights: precedence}}", WEIGHTED), rates("default", "cs3", "cs5")),
    "flow-wfq": (line("  WFQ: {flow-wfq: {}}", WEIGHTED), rates("default", "cs3", "cs5")),
    "pfq": (flows("pfq"), DELAYS),
    "pdrr": (flows("pdrr"), DELAYS),
    "fan": (
        line(
            "  FAN: {fan: {scheduler: pfq, limit: 100 packets, min_fair_rate: 10 %}}",
            tcp("downloads", 14).replace("start_spread: 1 s", "start_gap: 1 s"),
        ),
        Lines("Mb/s", (("link line", "fair_rate", "fair rate"),), MBPS, ((1, "min_fair_rate"),)),
        Lines("flows", (("link line", "flows_listed", "on the protected list"),)),
    ),
    "class-based": (
        line(
            CLASSES,
            cbr("rest", "12 Mb/s")
            + cbr("video", "8 Mb/s", keys=", dscp: af41, start: 5 s")
            + cbr("voice", "2 Mb/s", "200 B", ", dscp: ef, start: 10 s"),
        ),
        rates("rest", "video", "voice"),
    ),
    "conditioning": (
        line(
            POLICER,
            flow("bursts", "{on-off: {peak: 6 Mb/s, packet: 1000 B, on: 300 ms, off: 700 ms}}"),
            duration="10 s",
        ),
        Lines("tokens (kB)", (("line/bursts", "tokens_policer", "bucket"),), 1e-3),
        Lines("packets/s", (("line/class-default", "drops_per_second", "dropped"),)),
    ),
    "network": (
        line(
            DEEP,
            tcp("load", 2) + cbr("calls", "80 kb/s", "200 B", ", dscp: ef"),
            "variants:\n"
            + "".join(
                f"  - {{name: ring of {n}, set: {{topology.links.line.policy: PQ,"
                f" topology.links.line.tx_ring: {n} packets}}}}\n"
                for n in (1, 8, 32)
            ),
        ).replace(
            DEEP,
            DEEP + "\n  PQ: {class-based: {classes: [{name: voice, match: {dscp: ef},"
            " priority: {rate: 1 Mb/s}}, {name: class-default, queue_limit: 100 packets}]}}",
        ),
        Bars("99th percentile of delay (ms)", "owd_p99", "class", ("calls",), MS),
    ),
    "overhead": (
        line(
            DEEP,
            cbr("calls", "4 Mb/s", "60 B") + cbr("bulk", "4 Mb/s", "1500 B"),
            variants(
                "topology.links.line.overhead",
                none="0 B",
                Ethernet="ethernet",
                PPPoE_over_ATM="pppoe-llcsnap",
            ),
            duration="4 s",
        ),
        Bars("carried on the line (Mb/s)", "carried", "link", ("line",), MBPS),
        Bars("throughput (Mb/s)", "throughput", "class", ("calls", "bulk"), MBPS),
    ),
    "irregular-links": (
        IRREGULAR,
        Lines("Mb/s", (("link line", "carried", "carried"),), MBPS),
        waiting(),
    ),
    "failures": (FAILING, rates("load")),
    "forwarding": (
        FORWARDING,
        Bars("lost packets (%)", "loss_ratio", "class", ("small packets",), PERCENT),
    ),
    "switch": (
        SWITCH,
        Bars("throughput of all (Mb/s)", "throughput", "class", ("all",), MBPS),
    ),
    "atm": (
        ATM,
        Lines(
            "cells at the port",
            (
                ("out", "backlog_cells", "tail drop", "tail"),
                ("out", "backlog_cells", "early packet discard", "EPD"),
            ),
            marks=((800, "threshold"),),
        ),
    ),
    "mpls": (
        MPLS,
        Bars(
            "carried (Mb/s)",
            "carried",
            "link",
            ("first", "labelled", "popped", "last"),
            MBPS,
        ),
    ),
    "tcp": (
        line(
            DEEP,
            tcp("load", 1),
            variants("traffic.load.tcp.cc", NewReno="newreno", CUBIC="cubic", BBR="bbr"),
            duration="30 s",
        ),
        Lines(
            "window (kB)",
            tuple(("flow load", "cwnd", v, v) for v in ("NewReno", "CUBIC", "BBR")),
            1e-3,
        ),
        Lines(
            "queue (packets)",
            tuple((QUEUE, "backlog_packets", v, v) for v in ("NewReno", "CUBIC", "BBR")),
        ),
    ),
    "sessions": (
        line(DEEP, SESSIONS),
        Lines("sessions", (("sessions pages", "sessions_open", "open"),), step=True),
        rates("pages"),
    ),
    "sources": (
        line(
            DEEP,
            cbr("cbr", "1 Mb/s")
            + flow("poisson", "{poisson: {rate: 1 Mb/s, packet: 1500 B}}")
            + flow("on-off", "{on-off: {peak: 3 Mb/s, packet: 1500 B, on: 500 ms, off: 1 s}}"),
            interval="100 ms",
        ),
        rates("cbr"),
        rates("poisson"),
        rates("on-off"),
    ),
    "captures": (
        line(
            DEEP,
            "  - capture: {name: office, class: office, file: capture.pcap, from: a, to: b,"
            " loop: true}\n",
            variants("traffic.office.speed", as_captured="1", at_twice_the_speed="2"),
            duration="4 s",
        ),
        Lines(
            "Mb/s",
            (
                ("class office", "throughput", "as captured", "as captured"),
                ("class office", "throughput", "at twice the speed", "at twice the speed"),
            ),
            MBPS,
        ),
    ),
    "video": (
        line(
            DEEP,
            flow("video", "{video: {rate: 4 Mb/s, fps: 25}}"),
            duration="2 s",
            interval="10 ms",
        ),
        rates("video"),
    ),
    "voip": (
        line(
            DEEP,
            "".join(
                flow(c, f"{{voip: {{codec: {c}, vad: p59}}}}") for c in ("g711", "g729", "opus")
            ),
            duration="10 s",
            interval="100 ms",
        ),
        Lines(
            "kb/s",
            tuple((f"class {c}", "throughput", c) for c in ("g711", "g729", "opus")),
            KBPS,
        ),
    ),
    "voice-quality": (
        line(
            DEEP,
            "".join(
                flow(c, f"{{voip: {{codec: {c}}}}}", ", count: 10") for c in ("g711", "g729a")
            ),
            "variants:\n  - {name: no loss, set: {}}\n"
            + "".join(
                f"  - {{name: {p} %, set: {{topology.links.line.loss: {{bernoulli: {p} %}}}}}}\n"
                for p in (1, 2, 5, 10)
            )
            + "voice: {g711: {codec: g711}, g729a: {codec: g729a}}\n",
        ),
        Bars("mean opinion score", "mos", "class", ("g711", "g729a")),
    ),
    "measurement": (
        line(
            FIFO,
            flow("data", "{poisson: {rate: 9 Mb/s, packet: 1500 B}}"),
            "",
            duration="2 s",
        ),
        None,
    ),
}
"""By page: the scenario, and its panels from above."""


def run(page, runs=None):
    """What the page's scenario gives."""
    text = FIGURES[page][0]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scenario.yaml"
        path.write_text(text, encoding="utf-8")
        if "capture.pcap" in text:
            capture = Path(__file__).parent.parent / "corpus/replay.pcap"
            (Path(folder) / "capture.pcap").write_bytes(capture.read_bytes())
        return spillgate.run(path, runs=runs)


def draw(page, target):
    """Draws the page's figure as PNG and SVG into the folder `target`."""
    from matplotlib.figure import Figure

    panels = FIGURES[page][1:]
    with styled():
        figure = Figure(figsize=(6.4, 1.0 + 1.5 * len(panels)))
        axes = figure.subplots(len(panels), 1, sharex=isinstance(panels[0], Lines), squeeze=False)
        if panels == (None,):
            _intervals(axes[0, 0], page)
        else:
            results = run(page)
            for panel, where in zip(panels, axes[:, 0], strict=True):
                (_bars if isinstance(panel, Bars) else _lines)(where, results, panel)
            if isinstance(panels[-1], Lines):
                axes[-1, 0].set_xlabel("time (s)")
        figure.tight_layout()
    return write(figure, Path(target) / f"model-{page}")


def _lines(axes, results, panel):
    colors = palette(len(panel.curves))
    for (where, metric, name, *variant), (color, _) in zip(panel.curves, colors, strict=True):
        found = results.series(where=where, metric=metric, variant=variant[0] if variant else None)
        if not found:
            raise ValueError(f"there is no series of {metric} at {where}")
        values = [v * panel.factor for v in found[0].v]
        axes.plot(
            found[0].t,
            values,
            color=color,
            label=shown_as(name),
            drawstyle="steps-post" if panel.step else None,
        )
    for level, name in panel.marks:
        axes.axhline(level, color="#777777", linewidth=0.9, linestyle="--")
        axes.annotate(name, (1.0, level), xycoords=("axes fraction", "data"), fontsize=7)
    for begin, end, _ in results.description.outages():
        axes.axvspan(begin, end, color="#dddddd", linewidth=0, zorder=0, label="a link is down")
    axes.set_ylim(bottom=0)
    axes.set_ylabel(panel.label)
    axes.legend(loc="upper left", bbox_to_anchor=(1.08, 1.0), borderaxespad=0.0)


def _bars(axes, results, panel):
    shown = list(results.description.variants)
    width = 0.8 / len(panel.names)
    for i, (name, (color, hatch)) in enumerate(
        zip(panel.names, palette(len(panel.names)), strict=True)
    ):
        rows = [results.value(v, panel.scope, name, panel.metric) for v in shown]
        places = [j + (i - (len(panel.names) - 1) / 2) * width for j in range(len(shown))]
        heights = [(row.mean or 0.0) * panel.factor for row in rows]
        axes.bar(places, heights, width, color=color, hatch=hatch, label=shown_as(name))
    axes.set_xticks(range(len(shown)), [shown_as(v) for v in shown] if len(shown) > 1 else [""])
    axes.set_ylabel(panel.label)
    axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), borderaxespad=0.0)


def _intervals(axes, page):
    """Means of more and more runs with their intervals."""
    counts = (3, 6, 12, 24, 48)
    for i, count in enumerate(counts):
        row = run(page, count).value(None, "class", "data", "owd_p99")
        low, high = row.low * MS, row.high * MS
        mean = row.mean * MS
        axes.errorbar([i], [mean], [[mean - low], [high - mean]], fmt="o", color=palette(1)[0][0])
    axes.set_xticks(range(len(counts)), [f"{n} runs" for n in counts])
    axes.set_ylabel("99th percentile\nof delay (ms)")


def refresh(pages, target=IMAGES):
    """Draws the figures of these pages, of all if none is named; only SVGs are kept."""
    for page in pages or FIGURES:
        draw(page, target).unlink()
