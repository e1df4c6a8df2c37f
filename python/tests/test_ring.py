"""Transmit rings: of scenarios, of configurations, of platforms."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import spillgate

CONFIG = """\
class-map match-all VOICE
 match dscp ef
policy-map WAN
 class VOICE
  priority 1000
 class class-default
  fair-queue
policy-map SHAPED
 class class-default
  shape average 5000000
  service-policy WAN
interface Ethernet0/0
{ring} service-policy output {policy}
"""

SCENARIO = """\
schema_version: 1
name: rings
topology:
  nodes: [a, b]
  links:
    wan: {{from: a, to: b, rate: {rate}, delay: 1 ms{more}}}
configs:
  - {{ios: r.cfg, platform: {platform}, interfaces: {{Ethernet0/0: wan}}}}
traffic:
  - flow:
      name: voice
      dscp: ef
      from: a
      to: b
      source: {{poisson: {{rate: 1.5 Mb/s, packet: 200 B}}}}
  - flow: {{name: data, from: a, to: b, source: {{poisson: {{rate: 800 kb/s, packet: imix}}}}}}
measurement: {{warmup: 5 s, duration: 20 s}}
runs: {{count: 1, seed: 1}}
"""


@pytest.fixture
def scenario(tmp_path):
    def write(
        *,
        ring: str = "",
        policy: str = "WAN",
        more: str = "",
        platform: str = "ios",
        rate: str = "10 Mb/s",
    ) -> Path:
        (tmp_path / "r.cfg").write_text(CONFIG.format(ring=ring, policy=policy))
        path = tmp_path / "s.yaml"
        path.write_text(SCENARIO.format(more=more, platform=platform, rate=rate))
        return path

    return write


def lost(path: Path, **overrides: str) -> float:
    """Packets of the voice class that its policer dropped."""
    results = spillgate.run(path, set=overrides or None)
    rows = results.classes()
    return next(r.mean for r in rows if (r.name, r.metric) == ("voice", "drops_policer"))


def ring(path: Path) -> tuple[int, float, str]:
    """Packets, delay when full in ms, and where it is from."""
    found = spillgate.check(path).rings
    one = found[0][0] if found else None
    return (one["packets"], 1e3 * one["delay"], one["from"]) if one else (1, 0.0, "")


# 2.3 Mb/s of 10, and half as much again of voice as its policer admits. With one packet at the
# server a second that waits is congestion. Behind the platform's ring of 8 a ninth is, which a
# packet finds with a probability of about 0.23**9, 2e-6: of the 19,000 of voice none does.
def test_at_a_load_of_23_percent_a_priority_class_loses_nothing(scenario):
    assert lost(scenario()) == 0
    assert lost(scenario(more=", tx_ring: 1 packet")) > 100
    always = {"policies.WAN.classes.VOICE.priority.police": "always"}
    # Of 937 packets a second 625 conform.
    assert lost(scenario(), **always) == pytest.approx(20 * 312, rel=0.05)


@pytest.mark.parametrize(
    ("rate", "packets"),
    [
        ("1.544 Mb/s", 2),
        ("2 Mb/s", 4),
        ("10 Mb/s", 8),
        ("29 Mb/s", 16),
        ("30 Mb/s", 32),
        ("1 Gb/s", 64),
    ],
)
def test_the_default_goes_by_the_rate_of_the_line(scenario, rate, packets):
    found, _, why = ring(scenario(rate=rate))
    assert (found, why) == (
        packets,
        "no `tx-ring-limit`; default of platform ios: by line rate, Cisco document 6142",
    )


def test_what_is_written_holds_the_scenario_first(scenario):
    # 1500 B are the longest packets of the mix: 1.2 ms each.
    assert ring(scenario(ring=" tx-ring-limit 3\n"))[0] == 3
    assert ring(scenario(ring=" tx-ring-limit 3\n"))[2].endswith("r.cfg:13")
    written = scenario(ring=" tx-ring-limit 3\n", more=", tx_ring: 5 packets")
    found, delay, why = ring(written)
    assert (found, why) == (5, "`tx_ring` of the scenario")
    assert delay == pytest.approx(5 * 1.2)
    over = spillgate.check(scenario(), set={"topology.links.wan.tx_ring": "2 packets"})
    assert over.rings[0][0]["packets"] == 2


def test_a_policy_under_a_shaper_has_none(scenario):
    assert ring(scenario(policy="SHAPED")) == (
        1,
        pytest.approx(1.2),
        "none: the shapers of its policy are what congests",
    )
    # A shaper that is faster than the line congests nothing.
    assert ring(scenario(policy="SHAPED", rate="4 Mb/s"))[0] == 4


def test_a_platform_without_a_source_says_so(scenario):
    assert "no source was found for it" in ring(scenario(platform="ios-xe"))[2]


def test_check_and_import_say_which_ring_there_is(scenario, cli):
    path = scenario()
    said = " ".join(cli("check", path).stdout.split())
    for part in ("8 packets", "9.6 ms of 1500 B packets", "document 6142"):
        assert part in said
    config = path.with_name("r.cfg")
    said = " ".join(cli("import", config, "--interface", "Ethernet0/0").stdout.split())
    assert "transmit ring of 8 packets: no `tx-ring-limit`" in said
    scenario(ring=" tx-ring-limit 3\n")
    facts = json.loads(cli("import", config, "--format", "json").stdout)["interfaces"][0]["ring"]
    assert facts["packets"] == 3
    assert facts["from"].endswith("r.cfg:13")


def test_export_writes_it_and_tc_notes_it(scenario, cli):
    path = scenario(more=", tx_ring: 7 packets")
    assert " tx-ring-limit 7\n" in cli("export", path, "--to", "ios").stdout
    config = path.with_name("r.cfg")
    config.write_text(CONFIG.format(ring=" tx-ring-limit 3\n", policy="WAN"))
    assert " tx-ring-limit 3\n" in cli("export", config, "--to", "ios").stdout
    assert "byte_queue_limits" in cli("export", path, "--to", "tc", "--dev", "eth0").stderr
    # What is not written is the router's own.
    assert "tx-ring" not in cli("export", scenario(), "--to", "ios").stdout


@pytest.mark.parametrize("bad", ["0 packets", "1000001 packets", "1500 B", "3"])
def test_what_is_no_ring_is_refused_at_its_place(scenario, cli, bad):
    done = cli("check", scenario(more=f", tx_ring: {bad}"))
    assert done.returncode == 2
    for part in ("s.yaml:6:", "tx_ring", "packet"):
        assert part in done.stderr


def test_explain_names_the_ring(scenario, cli):
    path = scenario(more=", tx_ring: 8 packets")
    assert cli("run", path, "--no-figures", "--out", "run").returncode == 0
    done = cli("explain", "run", "--flow", "voice")
    assert "in the transmit ring before it" in done.stdout
    assert "it was in the transmit ring" in done.stdout
