"""`spillgate export`: policies as text, end to end."""

import json

import pytest

import spillgate

CONFIG = "examples/ce-node/policies.cfg"
SCENARIO = "examples/ce-node/scenario.yaml"


def test_a_policy_becomes_commands_for_linux(cli, root):
    done = cli(
        "export", root / CONFIG, "--to", "tc", "--policy", "CBWFQ-LLQ", "--rate", "100 Mb/s"
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    # 15 % of 100 Mb/s first, and EF goes there.
    voice = "parent 1:1 classid 1:2 htb rate 15000000bit ceil 100000000bit prio 0"
    assert any(voice in line for line in lines)
    assert any(line.endswith("flower ip_tos 0xb8/0xfc classid 1:2") for line in lines)
    (note,) = done.stderr.splitlines()
    assert note.startswith("not expressed: policy CBWFQ-LLQ, class VOICE: priority above its rate")
    assert f"# {note}" in lines


def test_what_is_written_for_a_router_is_read_as_the_same(cli, root, tmp_path):
    out = tmp_path / "out.cfg"
    arguments = ("--policy", "CBWFQ-LLQ-WRED", "--rate", "100 Mb/s", "--interface", "gi0/1")
    done = cli("export", root / CONFIG, "--to", "ios", *arguments, "-o", out)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == [out]
    tree = spillgate.understand(out, interface="GigabitEthernet0/1")["interfaces"][0]
    assert (tree["policy"]["name"], tree["rate"]) == ("CBWFQ-LLQ-WRED", 100_000_000)
    voice = tree["policy"]["classes"][0]
    assert (voice["name"], voice["condition"], voice["asked"]) == (
        "VOICE",
        "dscp ef",
        "priority 15 %",
    )
    again = cli("export", out, "--to", "ios")
    assert again.stdout == out.read_text()


def test_a_link_of_a_scenario_is_exported_by_its_variant(cli, root):
    done = cli(
        "export", root / SCENARIO, "--to", "ios", "--variant", "WFQ", "--interface", "se0/1"
    )
    assert done.returncode == 0, done.stderr
    assert "interface Serial0/1\n bandwidth 100000\n service-policy output WFQ\n" in done.stdout


ARRIVAL = """schema_version: 1
topology:
  nodes: [lan, edge, core, far]
  links:
    access: {from: edge, to: lan, rate: 10 Mb/s, duplex: true}
    out: {from: edge, to: core, rate: 2 Mb/s, policy: LEAVE}
    back: {from: core, to: edge, rate: 2 Mb/s, input_policy: COME}
    one: {from: core, to: far, rate: 2 Mb/s, input_policy: COME}
policies:
  LEAVE: {class-based: {classes: [{name: class-default, bandwidth: 50 %}]}}
  COME: {class-based: {classes: [{name: class-default, set_dscp: af11}]}}
traffic:
  - flow: {name: f, from: lan, to: core, source: {cbr: {rate: 1 Mb/s, packet: 200 B}}}
"""


def test_what_arrives_has_its_policy_at_the_interface_there(cli, tmp_path):
    scenario = tmp_path / "s.yaml"
    scenario.write_text(ARRIVAL)
    done = cli("export", scenario, "--to", "ios")
    # The reverse link of `back` is `out`; nothing leads back from `far`.
    leaving = "interface out\n bandwidth 2000\n service-policy output LEAVE\n"
    assert leaving in done.stdout
    assert "interface out\n service-policy input COME\n" in done.stdout
    assert "not expressed: policy COME: it acts where packets arrive" in done.stderr
    done = cli("export", scenario, "--to", "ios", "--link", "out", "--interface", "gi0/1")
    assert "interface GigabitEthernet0/1\n service-policy input COME\n" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((CONFIG, "--to", "tc"), "no interface has an output policy"),
        ((CONFIG, "--to", "ios", "--interface", "gi9/9"), "no interface `GigabitEthernet9/9`"),
        ((CONFIG, "--to", "tc", "--policy", "NONE"), "there is no policy `NONE`"),
        ((CONFIG, "--to", "tc", "--policy", "FIFO"), "the rate of `eth0` is not known"),
        ((CONFIG, "--to", "tc", "--policy", "FIFO", "--rate", "fast"), "`fast` is not a rate"),
        ((SCENARIO, "--to", "ios"), "the scenario has several variants"),
        ((SCENARIO, "--to", "ios", "--variant", "NONE"), "there is no variant `NONE`"),
        ((SCENARIO, "--to", "tc", "--variant", "WFQ", "--link", "x"), "no link `x` has a policy"),
        (("nowhere.cfg", "--to", "ios"), "cannot read it"),
        ((CONFIG, "--to", "ios", "--platform", "junos"), "there is no platform `junos`"),
    ],
)
def test_bad_input_writes_nothing(cli, root, tmp_path, arguments, said):
    out = tmp_path / "out"
    out.write_text("kept")
    done = cli("export", root / arguments[0], *arguments[1:], "-o", out)
    assert done.returncode == 2
    assert said in done.stderr
    assert out.read_text() == "kept"


def test_an_output_that_cannot_be_written_is_an_error(cli, root, tmp_path):
    done = cli("export", root / CONFIG, "--to", "ios", "-o", tmp_path / "no" / "out")
    assert done.returncode == 2
    assert "cannot write" in done.stderr


def test_lines_that_were_lost_in_reading_are_listed(tmp_path):
    config = tmp_path / "r.cfg"
    config.write_text(
        "class-map A\n match vlan 5\npolicy-map P\n class A\n  bandwidth percent 5\n"
    )
    exported = spillgate.export(config, to="ios")
    assert len(exported.notes) == 1
    assert f"{config}:2: match vlan 5" in exported.notes[0]
    assert json.dumps(exported.notes[0])[1:-1] in exported.text


def test_bands_and_u32_are_a_choice(cli, root):
    asked = ("--to", "tc", "--policy", "CBWFQ-LLQ", "--rate", "100 Mb/s", "--dev", "eth0")
    done = cli("export", root / CONFIG, *asked, "--scheduler", "ets", "--filters", "u32")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    bands = [line for line in lines if " root handle 1: ets bands " in line]
    assert len(bands) == 1
    assert " strict 1 quanta " in bands[0]
    assert any(line.endswith("u32 match ip tos 0xb8 0xfc classid 1:1") for line in lines)
    assert "ets does not limit the rate" in done.stderr
    done = cli("export", root / CONFIG, *asked, "--scheduler", "prio")
    assert done.returncode == 2
    assert "prio cannot say that [E0748]" in done.stderr
    done = cli("export", root / CONFIG, *asked, "--scheduler", "hfsc")
    assert done.returncode == 2
    assert "write htb or ets or prio" in done.stderr


FAN = """schema_version: 1
topology:
  nodes: [a, b]
  links: {ab: {from: a, to: b, rate: 10 Mb/s, policy: fan}}
policies: {fan: {fan: {mechanism: efm, limit: 300 packets}}}
traffic:
  - flow: {name: f, from: a, to: b, source: {cbr: {rate: 1 Mb/s, packet: 100 B}}}
measurement: {warmup: 1 s, duration: 2 s}
"""


def test_flow_admission_has_no_counterpart_and_that_is_said(tmp_path):
    """What stands for it is the fair queue alone; note and comment say what is missing."""
    scenario = tmp_path / "fan.yaml"
    scenario.write_text(FAN, encoding="utf-8")
    ios = spillgate.export(scenario, to="ios", link="ab")
    assert "\n fair-queue 300 256\n hold-queue 300 out\n" in ios.text
    missing = "IOS has no admission of flows and no protected flow list"
    assert ios.notes[0].startswith(f"interface ab: {missing}")
    assert all(f"! not expressed: {note}\n" in ios.text for note in ios.notes)
    tc = spillgate.export(scenario, to="tc", link="ab", device="eth0")
    queue = [line for line in tc.text.splitlines() if " add " in line][-1]
    assert queue == (
        "tc qdisc add dev eth0 parent 1:1 handle 10: "
        "sfq limit 300 quantum 1500 depth 127 flows 1024 divisor 1024 headdrop"
    )
    missing = "tc has no admission of flows and no protected flow list"
    assert tc.notes[0].startswith(f"policy fan: {missing}")
    assert "mechanism efm (pfl_flushing_timer 5 s)" in tc.notes[0]
    assert all(f"# not expressed: {note}\n" in tc.text for note in tc.notes)
