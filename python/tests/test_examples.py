import csv
import importlib.util
from collections import Counter

import pytest

import spillgate
from spillgate.plot import read_specs


@pytest.fixture(scope="module")
def described(root):
    return spillgate.check(root / "examples/ce-node/scenario.yaml")


def test_the_traffic_is_that_of_table_1(root):
    with (root / "examples/ce-node/traffic.csv").open() as lines:
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert len(rows) == 11
    by_class = Counter()
    for row in rows:
        rate, unit = row["rate"].split()
        assert unit == "Mb/s"
        by_class[row["class"]] += int(row["count"]) * float(rate)
    # Table 1: 10, 10, 4 + 3 + 3, 4 + 3 + 3 and 4 + 3 + 3 flows.
    assert sum(int(row["count"]) for row in rows) == 50
    assert {c: round(total, 3) for c, total in by_class.items()} == {
        "voice": 15.0,
        "video": 30.0,
        "critical": 30.024,
        "non-critical": 40.02,
        "bulk": 7.992,
    }


def test_the_scenario_is_that_of_the_paper(described):
    assert described.flows == 50
    assert described.variants == ("FIFO", "WFQ", "CBWFQ", "CBWFQ-LLQ", "CBWFQ-LLQ-WRED")
    (wan,) = (i for i, link in enumerate(described.links) if link["name"] == "wan")
    assert tuple(policies[wan] for policies in described.policies) == described.variants
    link = described.links[wan]
    assert (link["rate"], link["delay"]) == (100_000_000, 1e-3)
    assert (described.warmup, described.duration, described.runs) == (5.0, 60.0, 10)


def test_every_line_of_the_configuration_has_its_effect(described):
    assert list(described.unmodelled) == []


def test_figures_show_what_there_is(root, described):
    for spec in read_specs(root / "examples/ce-node/figures.toml"):
        if spec.kind == "bars" and spec.scope == "class":
            assert set(spec.names) <= set(described.classes)


def test_the_policies_do_what_they_are_for(root):
    results = spillgate.run(
        root / "examples/ce-node/scenario.yaml",
        runs=3,
        set={"measurement.duration": "5 s", "measurement.warmup": "2 s"},
    )

    def value(variant, name, metric, scope="class"):
        return results.value(variant, scope, name, metric).mean

    # Fluid limits: 1 - 100 / 123.036 is lost under FIFO, by every class alike up to the
    # sharing of a few full queues; the packets in flight at the ends are 40 of 60 000.
    loss = results.value("FIFO", "total", "all", "loss_ratio").mean
    assert loss == pytest.approx(1 - 100 / 123.036, abs=0.002)
    for variant in ("CBWFQ", "CBWFQ-LLQ", "CBWFQ-LLQ-WRED"):
        assert value(variant, "voice", "loss_ratio") < 0.001
        assert value(variant, "video", "loss_ratio") < 0.001
        assert value(variant, "bulk", "loss_ratio") < 0.001
        # 47.008 Mb/s are left to two classes of equal share.
        for name in ("critical", "non-critical"):
            assert value(variant, name, "throughput") == pytest.approx(23.504e6, rel=0.01)
    # FIFO's queue takes 4.8 ms when it is full, and voice waits for none of it.
    assert value("CBWFQ-LLQ", "voice", "owd_mean") < value("FIFO", "voice", "owd_mean") - 4e-3
    # 64 packets of the transmit ring, which nothing shortens: 7.68 ms, less what the first has
    # sent already; 1.15 ms beside it.
    assert 8.6e-3 < value("CBWFQ-LLQ", "voice", "owd_mean") < 8.95e-3


COMMITTED = {"base": 2e6, "near": 2e6, "far": 2e6, "small": 1e6, "large": 3e6, "short": 2e6}
"""b/s that each customer of `examples/assured` was promised."""


def test_customers_get_what_the_policies_are_for(root):
    results = spillgate.run(
        root / "examples/assured/scenario.yaml",
        runs=2,
        set={"measurement.duration": "10 s", "measurement.warmup": "10 s"},
    )
    bounds = {v.customer: v.bound for v in results.verdicts}
    assert bounds == pytest.approx({k: 0.95 * v for k, v in COMMITTED.items()})

    def part(variant, customer, subscribed):
        at = {"subscribed": subscribed}
        row = results.value(variant, "class", customer, "throughput", at=at)
        return row.mean / COMMITTED[customer]

    # 12 Mb/s are committed. A packet of 1500 B more or less in 10 s is 0.1 % of 1 Mb/s; the
    # scheduler's order moves a few of each class across the ends.
    for customer in COMMITTED:
        for subscribed, rate in (("40 %", 30), ("120 %", 10)):
            assert part("CBWFQ", customer, subscribed) == pytest.approx(rate / 12, rel=0.01)
        # A shaper lets no more through than its rate and the burst that it begins with.
        assert part("shapers", customer, "40 %") < 1.001
    # A sixth of 12 Mb/s, whatever is committed.
    assert part("FQ-CoDel", "small", "100 %") == pytest.approx(2.0, rel=0.03)
    assert part("FQ-CoDel", "large", "100 %") == pytest.approx(2 / 3, rel=0.03)
    # What is left goes by round trip and packet size: theory has the ratio of the latter, 3 in
    # both, but the bucket and timeouts blunt it.
    for other in ("far", "short"):
        assert part("RIO", "near", "40 %") > 2 * part("RIO", other, "40 %")
    # Assured packets always come, and the load never falls below the reference.
    digests = {}
    for run in results.runs:
        variant, _, at = run.variant.partition(" ")
        digests.setdefault((at, run.run), {})[variant] = run.digest
    assert all(d["RIO"] == d["A-RIO"] for d in digests.values())


def test_the_answer_about_a_switch_follows_from_its_verdicts(root):
    spec = importlib.util.spec_from_file_location("answer", root / "examples/cioq/answer.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    results = spillgate.run(
        root / "examples/cioq/scenario.yaml",
        runs=2,
        set={
            "measurement.duration": "2 s",
            "axes.0.values": [1, 2],
            "axes.1.values": [0, 1],
        },
    )
    head, _, *lines = module.answer(results).splitlines()
    assert head == "| | nu | speedup 1 | speedup 2 | needed |"
    rows = [[c.strip() for c in line.split("|")[1:-1]] for line in lines]
    assert [row[:2] for row in rows] == [
        [variant, nu] for variant in ("AQM at the outputs", "CoDel at the VOQs too") for nu in "01"
    ]
    missed = {v.variant for v in results.verdicts if v.verdict != "pass"}
    delay = {}
    for variant, nu, *cells, needed in rows:
        good = []
        for speedup, cell in zip("12", cells, strict=True):
            voice, transfers = cell.split(", ")
            delay[variant, nu, speedup] = float(voice.split()[1])
            if voice[0] == transfers[0] == "✓":
                good.append(speedup)
            assert (speedup in good) == (f"{variant} (speedup={speedup}, nu={nu})" not in missed)
        assert needed == (good or ["more"])[0]
    outputs = "AQM at the outputs"
    # At the rate of a line all waits at the inputs, where RED sees it with a weight only.
    assert delay[outputs, "1", "1"] < delay[outputs, "0", "1"] / 2
    # At twice that hardly any does.
    assert delay[outputs, "1", "2"] == pytest.approx(delay[outputs, "0", "2"], rel=0.25)
    assert delay[outputs, "0", "2"] < delay[outputs, "0", "1"] / 4


def test_a_domain_of_two_routers_keeps_what_was_sold(root):
    results = spillgate.run(
        root / "examples/diffserv/scenario.yaml",
        runs=3,
        set={
            "measurement.duration": "20 s",
            "measurement.warmup": "10 s",
            "verdicts.looks": "once",
        },
    )
    passed = {}
    for v in results.verdicts:
        passed.setdefault((v.variant, v.customer), []).append(v.verdict == "pass")
    for customer in ("gold", "silver", "bronze"):
        assert all(passed["as configured", customer]), customer
    assert not all(passed["no classes in the core", "gold"])
    assert not all(passed["one drop precedence", "gold"])

    def rate(variant, customer):
        return results.value(variant, "class", customer, "throughput").mean

    # Above its peak rate bronze is AF13, which is gone before the other colors lose anything.
    assert rate("as configured", "bronze") < 2e6 < rate("one drop precedence", "bronze")
    # Four connections each, alike in all but their marks, share the class as TCP does.
    rates = [rate("one drop precedence", c) for c in ("gold", "silver", "bronze")]
    assert max(rates) < 1.5 * min(rates)
    # The line is always full: of 20 s a packet more or less is 4e-5.
    for variant in results.description.variants:
        total = results.value(variant, "total", "all", "throughput").mean
        assert total == pytest.approx(16e6, rel=0.005)


def test_a_shaper_before_a_dsl_modem_counts_cells(root):
    results = spillgate.run(
        root / "examples/dsl/scenario.yaml",
        runs=2,
        set={"measurement.duration": "10 s", "measurement.warmup": "5 s"},
    )

    def value(variant, scope, name, metric):
        return results.value(variant, scope, name, metric).mean

    # Two packets of the upload before a call, one at the shaper and one in the modem, 13.25 ms
    # each; packets of three calls, 1.24 ms each; and 10 ms.
    for variant in ("55 %, IP", "sync rate, AAL5", "sync rate, conservative"):
        assert value(variant, "class", "voice", "owd_p99") < 0.010 + 2 * 0.01325 + 4 * 0.00125
    # 100 packets of at least three cells are 124 ms, and the buffer is hardly ever half empty.
    for variant in ("no shaper", "sync rate, IP", "85 %, IP"):
        assert value(variant, "class", "voice", "owd_p99") > 0.1
    # A packet of the upload more or less is 0.1 % of 10 s.
    counted = ("55 %, IP", "sync rate, AAL5", "sync rate, conservative")
    used = {v: value(v, "link", "adsl", "utilization") for v in counted}
    assert used["sync rate, conservative"] < used["sync rate, AAL5"]
    assert used["sync rate, AAL5"] > 0.98
    # 560 kb/s of IP: the calls are 2 x 117.33 + 24 of them and 487.6 of the line.
    upload = (560 - 258.67) * 1696 / 1492
    assert used["55 %, IP"] == pytest.approx((487.6 + upload) / 1024, rel=0.02)


def test_a_pvc_needs_its_policy_and_its_contract(root):
    results = spillgate.run(
        root / "examples/pvc/scenario.yaml",
        runs=2,
        set={"measurement.duration": "10 s", "measurement.warmup": "5 s"},
    )

    def value(variant, scope, name, metric):
        return results.value(variant, scope, name, metric).mean

    configured = "as configured"
    # The contract is the configuration's: 384 kb/s; 94 cells in 10 s are 1 % of it.
    assert value(configured, "atm-port", "trunk", "carried") == pytest.approx(384e3, rel=0.011)
    # What four calls of two cells every 20 ms leave for packets of 1512 B in 32 cells. At either
    # end of 10 s a packet may be in or out: 0.6 % each.
    left = (384e3 - 4 * 2 * 53 * 8 / 0.02) * 1512 / (32 * 53)
    assert value(configured, "class", "upload", "throughput") == pytest.approx(left, rel=0.013)

    # Packets of 32 cells at the sustainable rate, the cells of all four calls, and 6 ms.
    def longest(packets):
        return (32 * packets + 8) * 53 * 8 / 384e3 + 0.006

    # One is on the line, another in the transmit ring unless that is the line itself.
    late = value(configured, "class", "voice", "owd_p99")
    assert longest(1) < late < longest(2)
    assert value("ring of 1 packet", "class", "voice", "owd_p99") < longest(1)
    for variant in (configured, "ring of 1 packet"):
        assert value(variant, "class", "voice", "loss_ratio") == 0
    # 64 packets, of which most are the upload's.
    assert value("without the policy", "class", "voice", "owd_p99") > 0.3
    # Of each packet's 32 cells some are policed, and with them the packet.
    assert value("without the contract", "class", "upload", "goodput") == 0
