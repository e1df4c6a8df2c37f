import csv
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
    assert value("CBWFQ-LLQ", "voice", "owd_mean") < value("FIFO", "voice", "owd_mean") / 2
