"""What was in profile: results, tables, the report, requirements and explanations."""

import json

import pytest
from test_agreements import SHORT, scenario  # noqa: F401

import spillgate

REQUIRED = """
sla:
  - {class: data-0, dscp: af11, metric: loss_ratio, max: 0.1 %}
  - {class: data-0, dscp: af11, metric: throughput, min: 3 Mb/s}
  - {file: promised.csv}
"""
PROMISED = """customer,class,dscp,metric,max,min
Acme,data-1,af11,loss_ratio,1 %,
Bolt,data-2,,throughput,,500 kb/s
"""


@pytest.fixture
def required(scenario):  # noqa: F811
    """The scenario of the how-to, with requirements on what is in profile."""
    scenario.write_text(scenario.read_text(encoding="utf-8") + REQUIRED, encoding="utf-8")
    (scenario.parent / "promised.csv").write_text(PROMISED, encoding="utf-8")
    return scenario


def test_what_was_in_profile_is_a_result(required):
    results = spillgate.run(required, runs=2, set=SHORT)

    def of(scope, name, metric):
        return results.value(None, scope, name, metric).mean

    for site in ("site-0", "site-1", "site-2"):
        meter = f"{site}/{site}"
        shares = [of("meter", meter, f"{c}_ratio") for c in ("conform", "exceed", "violate")]
        # Each lets through what it was promised, and TCP sends more than that: no share is all.
        assert sum(shares) == pytest.approx(1)
        assert 0.3 < shares[0] < 1
        packets = [of("meter", meter, f"packets_{c}") for c in ("conform", "exceed", "violate")]
        assert sum(packets) == of("meter", meter, "packets_offered")
    # The core drops the highest drop precedence first, and nothing that is in profile.
    lost = [of("queue-dscp", f"line/assured/af1{d}", "loss_ratio") for d in (1, 2, 3)]
    assert lost[0] == 0 < lost[1]
    assert of("class-dscp", "data-0/af11", "loss_ratio") == 0
    verdicts = {(v.customer, v.about, v.metric): v for v in results.verdicts}
    assert verdicts[None, "data-0 (af11)", "loss_ratio"].verdict == "pass"
    assert verdicts["Acme", "data-1 (af11)", "loss_ratio"].dscp == "af11"
    rows = results.table(scope="class-dscp", metric="packets_lost")
    whole = sum(r.mean for r in rows if r.name.startswith("data-0/"))
    drops = [r.mean for r in results.table(scope="class", name="data-0") if "drops_" in r.metric]
    assert whole == pytest.approx(sum(drops))


def test_tables_and_the_report_tell_it_and_verdicts_are_one_table(required, cli):
    done = cli(
        "run", required.name, "--out", "run", "--runs", "2", "--no-figures",
        "--set", "measurement.duration=5 s",
    )  # fmt: skip
    said = done.stdout
    assert done.returncode in (0, 1, 3), done.stderr
    for text in ("in profile", "queues by drop precedence", "classes by drop precedence"):
        assert text in said
    assert "of that marked" not in said
    (head,) = [line for line in said.splitlines() if "customer" in line and "requirement" in line]
    assert "Customer " not in said
    assert head.split()[:3] == ["customer", "class", "requirement"]
    page = (required.parent / "run" / "report.html").read_text(encoding="utf-8")
    assert "What was in profile" in page
    assert "of that marked" not in page
    done = cli("explain", "run", "--flow", "data-0-*", "--worst", "3", "--format", "json")
    assert done.returncode == 0, done.stderr
    packets = [p for g in json.loads(done.stdout)["groups"] for p in g["packets"]]
    assert packets
    for packet in packets:
        (judged,) = [h["conditioned"] for h in packet["hops"] if h["conditioned"]]
        ((meter, color),) = [(m["class"], m["color"]) for m in judged["metered"]]
        assert (meter, judged["dscp"][0]) == ("site-0", "default")
        assert judged["dscp"][1] == {"conform": "af11", "exceed": "af12"}[color]
        assert packet["notes"][0] == "it was sent with DSCP default"
        found = f"the receiving end of site-0: the meter of class site-0 found that it {color}s"
        assert found in packet["notes"]
