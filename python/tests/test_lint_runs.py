"""What the rules say is lost, or out of reach, is so in a run; and what they pass is not."""

import random

import pytest

import spillgate

NETWORK = """\
schema_version: 1
name: fits
topology:
  nodes: [a, {{name: b{switch}}}, c]
  links:
    in: {{from: a, to: b, rate: 100 Mb/s, delay: 1 ms, overhead: {overhead}{arrival}}}
    out: {{from: b, to: c, rate: 2 Mb/s, delay: 1 ms, overhead: {overhead}{port}}}
policies:
  p: {policy}
traffic:
  - flow: {{name: f, from: a, to: c, dscp: ef,
      source: {{cbr: {{rate: 200 kb/s, packet: {size} B}}}}}}
measurement: {{warmup: 200 ms, duration: 600 ms, interval: 100 ms}}
"""


def of_class(keys):
    return f"{{class-based: {{classes: [{{name: x, match: {{dscp: ef}}, {keys}}}]}}}}"


# A place: its rule, the policy with LIMIT bytes, and where it stands.
PLACES = {
    "behind a ring": ("SG-Q014", "{fifo: {limit: LIMIT B}}", "ring"),
    "fifo": ("SG-Q014", "{fifo: {limit: LIMIT B}}", "port"),
    "time": ("SG-Q014", "{fifo: {limit: TIME us}}", "port"),
    "wfq of a flow": ("SG-Q014", "{wfq: {limit: LIMIT B}}", "port"),
    "wfq of all": ("SG-Q014", "{wfq: {hold_queue: LIMIT B}}", "port"),
    "drr": ("SG-Q014", "{drr: {limit: LIMIT B}}", "port"),
    "fq": ("SG-Q014", "{fq: {limit: LIMIT B}}", "port"),
    "memory": ("SG-Q014", "{fq: {memory_limit: LIMIT B}}", "port"),
    "fq-codel": ("SG-Q014", "{fq-codel: {memory_limit: LIMIT B}}", "port"),
    "fan": ("SG-Q014", "{fan: {limit: LIMIT B, mtu: 3 kB}}", "port"),
    "queue": ("SG-Q014", of_class("queue_limit: LIMIT B"), "port"),
    "drr of a class": ("SG-Q014", of_class("drr: {limit: LIMIT B}"), "port"),
    "priority queue": ("SG-Q014", of_class("priority: {rate: 1 Mb/s, limit: LIMIT B}"), "port"),
    "code point": ("SG-Q014", of_class("queue_limit_dscp: {ef: LIMIT B}"), "port"),
    "precedence": ("SG-Q014", of_class("queue_limit_precedence: {5: LIMIT B}"), "port"),
    "policer": ("SG-S003", of_class("police: {rate: 1 Mb/s, burst: LIMIT B}"), "port"),
    "arrival": ("SG-S003", of_class("police: {rate: 1 Mb/s, burst: LIMIT B}"), "arrival"),
    "shaper": ("SG-S006", of_class("shape: {rate: 1 Mb/s, burst: LIMIT B}"), "port"),
    "priority": (
        "SG-S007",
        of_class("priority: {rate: 1 Mb/s, burst: LIMIT B, police: always}"),
        "port",
    ),
    "virtual output queue": ("SG-Q014", "{fifo: {limit: LIMIT B}}", "switch"),
    "switch": ("SG-Q014", "{fifo: {}}", "buffer"),
}


def network(place, size, room, overhead):
    _, policy, where = PLACES[place]
    # A byte takes 4 us at 2 Mb/s.
    policy = policy.replace("LIMIT", str(room)).replace("TIME", str(4 * room))
    switch = {
        "switch": ", switch: {architecture: voq, policy: p}",
        "buffer": f", switch: {{architecture: voq, buffer: {{limit: {room} B}}}}",
    }
    return NETWORK.format(
        overhead=overhead,
        policy=policy,
        size=size,
        arrival=", input_policy: p" if where == "arrival" else "",
        port={"port": ", policy: p", "ring": ", policy: p, tx_ring: 3 packets"}.get(where, ""),
        switch=switch.get(where, ""),
    )


@pytest.mark.parametrize("place", PLACES)
def test_what_holds_no_packet_loses_everything_and_nothing_else_does(tmp_path, place):
    rule = PLACES[place][0]
    draw = random.Random(place)
    path = tmp_path / "s.yaml"
    fates = set()
    for overhead, added in (("none", 0), ("18 B", 18), ("none", 0), ("overhead -10", -10)):
        size = draw.randrange(200, 1480)
        if PLACES[place][2] in ("switch", "buffer"):
            # A fabric carries IP packets.
            added = 0
        # One byte to each side of the packet as its link counts it, then further away.
        for off in (-1, 0, -draw.randrange(2, 100), draw.randrange(1, 400)):
            path.write_text(network(place, size, size + added + off, overhead))
            found = [f for f in spillgate.lint(path).found if f.id == rule]
            result = spillgate.run(path, runs=1)
            loss = result.value(None, "class", "f", "loss_ratio").mean
            lost = bool(found) and "every packet" in found[0].message
            assert (lost, loss) in {(True, 1.0), (False, 0.0)}, (place, size, overhead, off, found)
            fates.add(lost)
    assert fates == {True, False}


def test_what_is_shorter_passes(tmp_path):
    path = tmp_path / "s.yaml"
    text = network("policer", 1000, 700, "none")
    sizes = "{table: [{size: 1000 B, weight: 1}, {size: 90 B, weight: 1}]}"
    path.write_text(text.replace("1000 B", sizes))
    (found,) = (f for f in spillgate.lint(path).found if f.id == "SG-S003")
    assert "packets of up to 1000 B, as they are counted, are dropped" in found.message
    loss = spillgate.run(path, runs=1).value(None, "class", "f", "loss_ratio").mean
    assert 0 < loss < 1


PATH = """\
schema_version: 1
name: path
topology:
  nodes: [a, {{name: b{forwarding}}}, {{name: c{forwarding}}}, d]
  links:
    x: {{from: a, to: b, rate: {r0} kb/s, delay: {d0} us, duplex: true}}
    y: {{from: b, to: c, rate: {r1} kb/s, delay: {d1} us, duplex: true, overhead: ethernet}}
    z: {{from: c, to: d, rate: {r2} kb/s, delay: {d2} us, duplex: true}}
traffic:
  - flow: {{name: f, from: a, to: d, {sends}}}
measurement: {{warmup: 100 ms, duration: {duration}, interval: 100 ms}}
sla:
  - {{class: f, metric: {metric}, {bound}}}
"""


def way(draw, sends, metric, bound, duration="500 ms"):
    values = {f"r{i}": draw.randrange(1_000, 50_000) for i in range(3)}
    values |= {f"d{i}": draw.randrange(0, 30_000) for i in range(3)}
    per_packet = draw.choice(["", f", forwarding: {{per_packet: {draw.randrange(1, 300)} us}}"])
    return PATH.format(
        sends=sends,
        metric=metric,
        bound=bound,
        duration=duration,
        forwarding=per_packet,
        **values,
    )


@pytest.mark.parametrize("case", range(8))
def test_a_delay_below_the_path_is_out_of_reach_and_above_it_is_not(tmp_path, case):
    size = random.Random(case).randrange(64, 1500)
    sends = f"source: {{cbr: {{rate: 100 kb/s, packet: {size} B}}}}"
    path = tmp_path / "s.yaml"

    def write(bound):
        path.write_text(way(random.Random(case), sends, "owd_p50", bound))

    write("max: 1 s")
    # An idle network with packets of one length: all take the least delay.
    best = spillgate.run(path, runs=1).value(None, "class", "f", "owd_min").mean
    for factor, broken in ((0.999, True), (1.001, False), (0.5, True)):
        write(f"max: {best * factor * 1e6:.4f} us")
        found = [f for f in spillgate.lint(path).found if f.id == "SG-O001"]
        assert bool(found) is broken, (best, factor)
        value = spillgate.run(path, runs=1).value(None, "class", "f", "owd_p50").mean
        # Quantiles come from a histogram, whose bins are 1 % wide at most.
        assert (value > best * factor * 0.99) if broken else (value < best * factor * 1.01)


@pytest.mark.parametrize("case", range(6))
def test_what_is_said_to_be_out_of_reach_fails(tmp_path, case):
    draw = random.Random(case)
    path = tmp_path / "s.yaml"
    connection = f"tcp: {{max_window: {draw.randrange(3, 40) * 1460} B}}"
    transfer = f"start: 300 ms, tcp: {{}}, bytes: {draw.randrange(1, 400)} kB"
    asked = [
        (connection, "goodput", "min"),
        (connection, "throughput", "min"),
        (transfer, "fct_p50", "max"),
        ("source: {cbr: {rate: 300 kb/s, packet: 300 B}}", "throughput", "min"),
    ]
    for sends, metric, side in asked:
        unit = "b/s" if side == "min" else "us"
        bounds = [draw.uniform(0.2, 3.0) for _ in range(4)]

        def write(bound, sends=sends, metric=metric):
            text = way(random.Random(100 + case), sends, metric, bound, duration="3 s")
            path.write_text(text)

        write(f"{side}: 1 {unit}")
        result = spillgate.run(path, runs=1)
        value = result.value(None, "class", "f", metric).mean
        scale = 1 if side == "min" else 1e6
        for share in bounds:
            write(f"{side}: {value * scale * share:.3f} {unit}")
            if [f for f in spillgate.lint(path).found if f.id == "SG-O001"]:
                # It is broken by the value of the run.
                assert share > 1 if side == "min" else share < 1, (metric, share)
        # Far beyond what the run has is out of reach.
        far = 1000 if side == "min" else 0.001
        write(f"{side}: {value * scale * far:.3f} {unit}")
        assert [f for f in spillgate.lint(path).found if f.id == "SG-O001"], metric


PRECEDENCES = """\
schema_version: 1
name: precedences
topology:
  nodes: [a, b]
  links:
    wan: {{from: a, to: b, rate: 4 Mb/s, delay: 1 ms, policy: p}}
policies:
  p: {{fifo: {{limit: 100 packets, aqm: {{wred: {{dscp: {profiles}}}}}}}}}
traffic:
  - flow: {{name: within, from: a, to: b, dscp: af11, source: {{cbr: {source}}}}}
  - flow: {{name: beyond, from: a, to: b, dscp: af13, source: {{cbr: {source}}}}}
measurement: {{warmup: 5 s, duration: 10 s}}
"""


@pytest.mark.parametrize(
    ("rate", "least", "alike"), [(3.5, 40, True), (3.5, 15, False), (2.05, 40, False)]
)
def test_precedences_with_one_maximum_lose_alike_in_an_overload(tmp_path, rate, least, alike):
    profiles = f"{{af11: {{min: 20, max: 40}}, af13: {{min: 8, max: {least}}}}}"
    source = f"{{rate: {rate} Mb/s, packet: 1000 B, jitter: 20 %}}"
    path = tmp_path / "s.yaml"
    path.write_text(PRECEDENCES.format(profiles=profiles, source=source))
    assert bool([f for f in spillgate.lint(path).found if f.id == "SG-A010"]) is alike
    result = spillgate.run(path, runs=1)
    within, beyond = (
        result.value(None, "class", name, "loss_ratio").mean for name in ("within", "beyond")
    )
    # 3 of 7 Mb/s have to go: from both, or from what is beyond alone (86 % of it).
    if alike:
        assert within > 0.3 * beyond
    else:
        assert within < 0.05 < beyond + 0.05
