"""MPLS networks from the command line and from Python."""

import pytest

import spillgate
from spillgate.cli import main

SCENARIO = """
schema_version: 1
topology:
  nodes: [a, pe1, p, pe2, b]
  links:
    in: {from: a, to: pe1, rate: 10 Mb/s}
    core1: {from: pe1, to: p, rate: 10 Mb/s, policy: CORE}
    core2: {from: p, to: pe2, rate: 10 Mb/s}
    out: {from: pe2, to: b, rate: 10 Mb/s}
  mpls: {pe: [pe1, pe2], p: [p]}
policies:
  CORE:
    class-based:
      classes:
        - {name: voice, match: {exp: 5}, priority: {rate: 10 %}}
traffic:
  - flow: {name: voice, from: a, to: b, dscp: ef, source: {cbr: {rate: 80 kb/s, packet: 100 B}}}
  - flow: {name: data, from: a, to: b, source: {cbr: {rate: 1.2 Mb/s, packet: 1500 B}}}
measurement: {warmup: 1 s, duration: 10 s}
runs: {count: 2}
"""


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "vpn.yaml"
    path.write_text(SCENARIO)
    return path


def test_results_have_labels_and_exp_bits(scenario):
    results = spillgate.run(scenario)
    (variant,) = results.description.variants

    def value(scope, name, metric):
        return results.value(variant, scope, name, metric).mean

    # 100 packets a second of each flow. Whether the first or last one counts: 1 of 1000.
    close = {"rel": 2e-3}
    assert value("link", "core1", "carried_labels") == pytest.approx(200 * 8 * 8, **close)
    assert value("link", "core2", "carried_labels") == pytest.approx(200 * 4 * 8, **close)
    assert value("exp", "core1/5", "carried") == pytest.approx(100 * 108 * 8, **close)
    assert value("exp", "core2/5", "carried") == pytest.approx(100 * 104 * 8, **close)
    assert value("exp", "core1/0", "carried") == pytest.approx(100 * 1508 * 8, **close)
    assert value("exp", "core1/4", "carried") == 0
    assert value("queue", "core1/voice", "carried") == value("exp", "core1/5", "carried")
    rows = results.table(scope="link", metric="carried_labels")
    assert {row.name for row in rows} == {"core1", "core2"}


def test_check_says_which_link_has_how_many_labels(scenario, capsys):
    assert main(["check", str(scenario)]) == 0
    lines = capsys.readouterr().out.splitlines()
    (core1,) = (line for line in lines if line.startswith("core1"))
    (core2,) = (line for line in lines if line.startswith("core2"))
    (out,) = (line for line in lines if line.startswith("out"))
    assert "2 (8 B)" in core1
    assert "1 (4 B)" in core2
    assert " B)" not in out


def test_classes_that_labels_hide_are_warned_of(scenario, capsys):
    assert (
        main(["check", str(scenario), "--set", "policies.CORE.class-based.classes.0.match.exp=6"])
        == 0
    )
    assert "W0406" not in capsys.readouterr().out
    text = SCENARIO.replace("match: {exp: 5}", "match: {dscp: ef}")
    scenario.write_text(text)
    assert main(["check", str(scenario)]) == 0
    said = capsys.readouterr()
    said = " ".join((said.out + said.err).split())
    assert "class `voice` of policy `CORE` matches no labelled packet" in said
    scenario.write_text(
        SCENARIO.replace(", policy: CORE", "").replace(
            "pe1, rate: 10 Mb/s", "pe1, rate: 10 Mb/s, policy: CORE", 1
        )
    )
    assert main(["check", str(scenario)]) == 0
    said = capsys.readouterr()
    said = " ".join((said.out + said.err).split())
    assert "matches EXP bits, and no packet on link `in` has a label" in said


def test_classes_that_set_exp_bits_where_it_has_no_effect_are_warned_of(scenario, capsys):
    def said(text):
        scenario.write_text(text)
        assert main(["check", str(scenario)]) == 0
        out = capsys.readouterr()
        return " ".join((out.out + out.err).split())

    def at_entry(action):
        moved = SCENARIO.replace(", policy: CORE", "").replace(
            "pe1, rate: 10 Mb/s", "pe1, rate: 10 Mb/s, policy: CORE", 1
        )
        return moved.replace("match: {exp: 5}", f"match: {{dscp: ef}}, {action}: 5")

    in_core = SCENARIO.replace("match: {exp: 5}", "match: {exp: 5}, {}: 6")
    assert "W0406" not in said(in_core.replace("{}", "set_exp"))
    text = said(in_core.replace("{}", "set_exp_imposition"))
    assert "link `core1` does not lead to an edge that puts any on" in text
    assert "W0406" not in said(at_entry("set_exp_imposition"))
    text = said(at_entry("set_exp"))
    assert "sets EXP bits, and no packet on link `in` has a label" in text


CONFIG = """
class-map match-any VOICE
 match mpls experimental topmost 5
policy-map CORE
 class VOICE
  priority percent 10
  set mpls experimental topmost 6
policy-map FROM-CE
 class class-default
  set mpls experimental imposition 3
interface GigabitEthernet0/0
 bandwidth 10000
 mpls ip
 service-policy output CORE
"""


def test_configurations_bring_exp_bits(scenario, tmp_path, capsys):
    (tmp_path / "pe.cfg").write_text(CONFIG)
    assert main(["import", str(tmp_path / "pe.cfg"), "--interface", "gi0/0"]) == 0
    said = capsys.readouterr().out
    assert "exp 5" in said
    assert "set exp 6 of the top label" in said
    assert "not modelled" not in said
    text = (
        SCENARIO.replace(", policy: CORE", "").split("policies:")[0]
        + SCENARIO[SCENARIO.index("traffic:") :]
    )
    mapped = "configs: [{ios: pe.cfg, interfaces: {GigabitEthernet0/0: %s}}]\n"
    scenario.write_text(text + mapped % "core1")
    assert main(["check", str(scenario)]) == 0
    said = capsys.readouterr()
    assert "mpls ip" not in said.out + said.err
    # The mark is on the top label only, which p removes.
    results = spillgate.run(scenario, runs=1)
    (variant,) = results.description.variants
    assert results.value(variant, "exp", "core1/6", "carried").mean > 0
    assert results.value(variant, "exp", "core2/5", "carried").mean > 0
    scenario.write_text(text + mapped % "out")
    assert main(["check", str(scenario)]) == 0
    said = capsys.readouterr()
    said = " ".join((said.out + said.err).split())
    assert "GigabitEthernet0/0 has `mpls ip`" in said


def test_the_example_loses_what_labels_take(root):
    results = spillgate.run(
        root / "examples/mpls-vpn/scenario.yaml",
        runs=2,
        set={"measurement.duration": "5 s"},
    )

    def loss(variant, name):
        return results.value(variant, "class", name, "loss_ratio").mean

    # 100 Mb/s of packets of 1500 B arrive at a link that takes 1508 B for each. Voice
    # sends 12,500 packets in both runs: 66 lost, with a standard deviation of 8 if chance picks
    # them; three of these.
    expected = 1 - 1500 / 1508
    assert loss("best effort in the core", "voice") == pytest.approx(expected, rel=0.35)
    assert loss("best effort in the core", "video") == pytest.approx(expected, rel=0.35)
    assert loss("classes by EXP", "voice") == 0
    assert loss("classes by EXP", "video") == 0


def test_packets_above_the_mtu_are_lost_and_said(tmp_path, scenario, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "out"
    setting = ["--set", "topology.links.core1.mtu=205 B"]
    assert main(["run", str(scenario), "--no-figures", "--out", str(out), *setting]) == 0
    said = capsys.readouterr().out
    assert "longer, labels included, than a link's mtu" in said
    found = spillgate.explain(out, worst=0, drops=1)
    lost = [d for g in found.groups for d in g["drops"]]
    # Two labels on core1: 200 B of voice are 208 B there, and so are 1000 B of data.
    assert {(d["link"], d["reason"]) for d in lost} == {("core1", "drops_too_big")}
    assert all("MTU" in d["first"][0]["sentence"] for d in lost)
    assert main(["check", str(scenario), "--set", "topology.links.core1.mtu=60 B"]) == 2
    assert "68 B" in capsys.readouterr().err


def test_explain_shows_label_values(tmp_path, scenario, capsys):
    out = tmp_path / "out"
    assert main(["run", str(scenario), "--no-figures", "--out", str(out)]) == 0
    found = spillgate.explain(out, worst=1)
    hops = {h["link"]: h["labels"] for g in found.groups for h in g["packets"][0]["hops"]}
    # The provider's nodes are pe1, p, pe2: 16, 17, 18 are the ways there, 19 is the only VPN.
    assert [x["label"] for x in hops["core1"]] == [18, 19]
    assert [x["label"] for x in hops["core2"]] == [19]
    assert hops["in"] == []
    capsys.readouterr()
    assert main(["explain", str(out), "--worst", "1"]) == 0
    assert "core1 carried it under the labels 18 (EXP" in capsys.readouterr().out
