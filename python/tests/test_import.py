"""`spillgate import` from end to end, and what it shows of a configuration."""

import json
from pathlib import Path

import pytest

import spillgate

CONFIG = """\
class-map match-any VOICE
 match ip dscp ef
 match vlan 5
class-map match-all BULK
 match access-group name BULK
policy-map WAN
 class VOICE
  priority percent 20
 class BULK
  bandwidth percent 30
  random-detect dscp-based
  random-detect dscp af11 20 50 8
 class class-default
  fair-queue
interface GigabitEthernet0/1
 bandwidth 10000
 service-policy output WAN
interface GigabitEthernet0/2
ip access-list extended BULK
 permit tcp any any eq 5001
"""


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "r.cfg"
    path.write_text(CONFIG, encoding="utf-8")
    return path


def test_an_interface_is_shown_as_a_tree(cli, config):
    done = cli("import", config.name, "--interface", "gi0/1")
    assert done.returncode == 0, done.stderr
    said = [line.strip() for line in done.stdout.splitlines()]
    # Of 10 Mb/s: 20 %, 30 % and the half that is left; 200 ms at 2 Mb/s are 50 000 B.
    for line in (
        "interface GigabitEthernet0/1 (line 15)",
        "rate 10 Mb/s: its bandwidth command",
        "packets: dscp ef",
        "not modelled: match vlan 5 (line 3)",
        "strict priority, level 1, up to 2 Mb/s while anything waits (priority 20 %)",
        "policer 2 Mb/s (20 %), burst 50000 B: drops what exceeds it while anything waits",
        "packets: access list [permit protocol tcp and port 5001]",
        "gets 3 Mb/s while all wait (bandwidth 30 %)",
        "gets 5 Mb/s while all wait",
        "line 3: match vlan 5 (of layer 2, simulated packets have the CoS only)",
    ):
        assert line in said, done.stdout
    fair = "fair queue: 256 conversations, 1000 packets in all; from 64 on one takes only places"
    assert any(line.startswith(fair) for line in said), done.stdout
    assert "DSCP af11: 20 to 50 packets, up to 12.5 %" in said
    assert "DSCP cs1: 22 to 40 packets, up to 10 % (default)" in said
    classes = [line for line in said if ". class " in line]
    assert classes == ["1. class VOICE", "2. class BULK", "3. class class-default"]
    assert all(line == line.rstrip() and len(line) <= 100 for line in done.stdout.splitlines())


def test_without_an_interface_those_with_a_policy_are_listed(cli, config):
    done = cli("import", config.name)
    assert done.returncode == 0
    assert "GigabitEthernet0/1: WAN, 10 Mb/s (its bandwidth command)" in done.stdout
    assert "GigabitEthernet0/2" not in done.stdout
    config.write_text(CONFIG.replace(" service-policy", "!"), encoding="utf-8")
    done = cli("import", config.name)
    said = [line.strip() for line in done.stdout.splitlines()]
    for line in (
        "No interface has a policy.",
        "Policies that no interface has:",
        "policy WAN (line 6), class-based",
        "2. class BULK",
        # Of what, no interface says.
        "gets a share of an unknown rate (bandwidth 30 %)",
    ):
        assert line in said, done.stdout


def test_what_happens_at_arrival_is_shown_apart(cli, config):
    text = CONFIG + "policy-map IN\n class VOICE\n  police cir percent 5\n  set qos-group 2\n"
    text += "interface GigabitEthernet0/1\n service-policy input IN\n"
    config.write_text(text, encoding="utf-8")
    assert "GigabitEthernet0/1: WAN, arriving packets IN," in cli("import", config.name).stdout
    done = cli("import", config.name, "--interface", "gi0/1")
    said = [line.strip() for line in done.stdout.splitlines()]
    at = said.index("packets that arrive by it, before anything else:")
    # 5 % of 10 Mb/s; 250 ms of that are 15 625 B.
    assert said[at + 1 : at + 7] == [
        "policy IN (line 21), class-based of 10 Mb/s",
        "1. class VOICE",
        "packets: dscp ef",
        "not modelled: match vlan 5 (line 3)",
        "set qos-group 2, until it leaves the router",
        "police 500 kb/s (5 %), burst 15625 B: conform transmit, exceed drop",
    ]
    assert "of its own" not in done.stdout


def test_json_is_alone_on_standard_output_and_the_same_from_python(cli, config, monkeypatch):
    done = cli(
        "import", config.name, "--interface", "Gi0/1", "--format", "json", "--platform", "ios-xe"
    )
    found = json.loads(done.stdout)
    monkeypatch.chdir(config.parent)
    assert found == spillgate.understand(config.name, platform="ios-xe", interface="Gi0/1")
    assert found["platform"]["name"] == "ios-xe"
    voice, bulk, _ = found["interfaces"][0]["policy"]["classes"]
    # 50 ms at 10 Mb/s are 41 packets of 1500 B, less than the least of 64.
    limits = (voice["limit"], bulk["limit"])
    assert limits == ("512 packets", "64 packets")


def test_what_is_wrong_is_located(cli, config):
    config.write_text(CONFIG.replace("class BULK\n", "class BULC\n"), encoding="utf-8")
    done = cli("import", config.name, "--strict")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("r.cfg:9:8: error: class-map `BULC` is not defined [E0708]")
    assert "did you mean `BULK`?" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere.cfg",), "nowhere.cfg: error: cannot read it"),
        (("r.cfg", "--interface", "Gi0/3"), "there is no interface `GigabitEthernet0/3`"),
        (("r.cfg", "--platform", "junos"), "platforms: ios, ios-pre-hqf, ios-hqf, ios-xe, ios-xr"),
    ],
)
def test_what_does_not_exist_is_bad_input(cli, config, arguments, said):
    assert config.exists()
    done = cli("import", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_scenario_names_the_platform(tmp_path, config):
    assert config.parent == tmp_path
    scenario = tmp_path / "s.yaml"
    scenario.write_text(
        """\
schema_version: 1
topology:
  nodes: [a, b]
  links:
    wan: {from: a, to: b, rate: 10 Mb/s, delay: 1 ms}
configs:
  - {ios: r.cfg, platform: PLATFORM, interfaces: {GigabitEthernet0/1: wan}}
traffic:
  - flow: {name: voice, from: a, to: b, dscp: ef, source: {cbr: {rate: 1 Mb/s, packet: 200 B}}}
""".replace("PLATFORM", "ios-xe"),
        encoding="utf-8",
    )
    (warning,) = (w for w in spillgate.check(scenario).warnings if "rates of platform" in w)
    assert "ios-xe count 14 B" in warning
    wrong = scenario.read_text(encoding="utf-8").replace("ios-xe", "ios-xq")
    scenario.write_text(wrong, encoding="utf-8")
    with pytest.raises(spillgate.InputError, match="ios-xe") as caught:
        spillgate.check(scenario)
    assert caught.value.diagnostics[0].line == 7


def test_another_system_is_named(cli, tmp_path):
    path = tmp_path / "edge.conf"
    path.write_text(
        "system {\n    host-name edge;\n}\nclass-of-service {\n    forwarding-classes {\n"
    )
    for command in (("import",), ("check",), ("export", "--to", "tc")):
        done = cli(command[0], path, *command[1:])
        assert done.returncode == 2, done.stdout
        assert "edge.conf:1:1: error: this looks like a Junos configuration" in done.stderr


STALE = (
    CONFIG.replace("name BULK\n", "name OLD\n")
    .replace("class BULK\n", "class BULC\n")
    .replace("percent 20\n", "percent 2O\n")
)
"""A list, a class-map and a number that are wrong, at lines 5, 9 and 8."""

STAND_INS = (
    "r.cfg:5:26: warning: access list `OLD` is not defined: it permits every packet",
    "r.cfg:9:8: warning: class-map `BULC` is not defined: the class is left out",
    "r.cfg:8:20: warning: `2O` does not fit here: the line is left out",
)

SCENARIO = """\
schema_version: 1
measurement: {duration: 2 s, warmup: 0 s}
topology:
  nodes: [a, b]
  links:
    wan: {from: a, to: b, rate: 10 Mb/s, delay: 1 ms}
configs:
  - {ios: r.cfg, interfaces: {GigabitEthernet0/1: wan}}
traffic:
  - flow: {name: voice, from: a, to: b, dscp: ef, source: {cbr: {rate: 1 Mb/s, packet: 200 B}}}
"""


def test_one_wrong_line_does_not_refuse_a_configuration(cli, config):
    config.write_text(STALE, encoding="utf-8")
    (config.parent / "s.yaml").write_text(SCENARIO, encoding="utf-8")
    done = cli("import", config.name, "--interface", "Gi0/1")
    assert done.returncode == 0, done.stderr
    # A program's output may wrap; the words are all there.
    said = " ".join((done.stdout + done.stderr).split())
    for warning in STAND_INS[1:]:
        assert warning.split(": warning: ")[1] in said, said
    found = json.loads(cli("import", config.name, "--format", "json").stdout)
    places = [(w["code"], w["line"]) for w in found["warnings"]]
    assert ("W0708", 9) in places
    assert ("W0709", 8) in places
    # A rule's finding, in every format; with --strict it fails.
    checked = cli("check", config.name)
    assert checked.returncode == 0, checked.stdout
    assert "W0708" in checked.stdout
    assert cli("check", config.name, "--strict").returncode == 1
    ran = cli("run", "s.yaml", "--no-report")
    assert ran.returncode == 0, ran.stderr
    said = " ".join((ran.stdout + ran.stderr).split())
    assert "class-map `BULC` is not defined: the class is left out" in said
    for command in (("import", config.name), ("run", "s.yaml", "--no-report")):
        done = cli(*command, "--strict")
        assert done.returncode == 2, done.stdout
        for warning in STAND_INS[1:]:
            place, message = warning.split(": warning: ")
            assert f"{place}: error: {message.rsplit(': ', 1)[0]} [E07" in done.stderr
    with pytest.raises(spillgate.InputError):
        spillgate.run(config.parent / "s.yaml", strict=True)


def test_an_undefined_access_list_permits_everything(cli, config):
    config.write_text(CONFIG.replace("name BULK\n", "name OLD\n"), encoding="utf-8")
    done = cli("import", config.name, "--interface", "Gi0/1", "--format", "json")
    found = json.loads(done.stdout)
    (warning,) = (w for w in found["warnings"] if w["code"] == "W0708")
    assert (warning["line"], warning["column"]) == (5, 26)
    assert warning["message"].startswith(
        "access list `OLD` is not defined: it permits every packet"
    )
    bulk = found["interfaces"][0]["policy"]["classes"][1]
    assert bulk["condition"] == "everything"


def test_a_pasted_session_is_read(cli, config):
    session = (
        "R1#conf t\nEnter configuration commands, one per line.  End with CNTL/Z.\n"
        + "".join(f"R1(config)#{line}\n" for line in CONFIG.splitlines()[:9])
        + "                 ^\n% Invalid input detected at '^' marker.\n\n"
        + "*Mar  1 00:12:03.123: %SYS-5-CONFIG_I: Configured from console by console\n"
        + "".join(f"R1(config)#{line}\n" for line in CONFIG.splitlines()[9:])
        + "R1(config)#end\nR1#wr mem\nBuilding configuration...\n[OK]\nR1#\n"
    )
    plain = json.loads(cli("import", config.name, "--format", "json").stdout)
    config.write_text(session, encoding="utf-8")
    done = cli("import", config.name, "--format", "json", "--strict")
    assert done.returncode == 0, done.stderr
    pasted = json.loads(done.stdout)

    def told(found):
        policies = json.dumps([i["policy"] for i in found["interfaces"]])
        return (policies, [u["text"] for u in found["unmodelled"]])

    assert told(pasted)[1] == told(plain)[1]
    assert len(pasted["interfaces"]) == len(plain["interfaces"]) == 1


def test_a_line_that_a_terminal_broke_is_put_together(cli, config):
    police = (
        "  police cir 2000000 bc 62500 be 62500 conform-action transmit exceed-action drop violate"
        "-action drop"
    )
    text = CONFIG.replace("  bandwidth percent 30\n", f"{police}\n  bandwidth percent 30\n")
    config.write_text(text, encoding="utf-8")
    whole = json.loads(
        cli("import", config.name, "--interface", "Gi0/1", "--format", "json").stdout
    )
    broken = text.replace(police, f"{police[:80]}\n{police[80:]}")
    config.write_text(broken, encoding="utf-8")
    done = cli("import", config.name, "--interface", "Gi0/1", "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    (warning,) = (w for w in found["warnings"] if w["code"] == "W0710")
    assert (warning["line"], warning["message"]) == (
        10,
        "line 11 seems to be the end of this line, which a terminal broke: they are put together",
    )
    for one, other in zip(
        whole["interfaces"][0]["policy"]["classes"],
        found["interfaces"][0]["policy"]["classes"],
        strict=True,
    ):
        assert (one["name"], one["police"], one["limit"]) == (
            other["name"],
            other["police"],
            other["limit"],
        )
    done = cli("import", config.name, "--strict")
    assert done.returncode == 2
    assert done.stderr.startswith("r.cfg:10:1: error: line 11 seems to be the end of this line")


def test_every_line_without_effect_is_listed_and_found(cli, tmp_path):
    configs = Path(__file__).parents[2] / "crates/import/tests/configs"
    text = (configs / "spokes.ios-xe.cfg").read_text(encoding="utf-8")
    (tmp_path / "r.cfg").write_text(text, encoding="utf-8")
    platform = ("--platform", "ios-xe", "--format", "json")
    listed = json.loads(cli("import", "r.cfg", *platform).stdout)["unmodelled"]
    lines = {u["line"] for u in listed}
    assert all(text.splitlines()[u["line"] - 1].strip() == u["text"] for u in listed)
    assert {42, 43, 44, 47, 48, 54, 55, 57, 61, 63, 64, 65, 66, 67, 69, 71} <= lines
    found = json.loads(cli("check", "r.cfg", "--format", "json").stdout)["findings"]
    assert {f["line"] for f in found if f["id"].startswith("SG-R")} == lines
    shown = cli("import", "r.cfg").stdout
    assert all(f"line {line}: " in shown for line in lines), shown


def test_drop_drops(tmp_path):
    text = CONFIG.replace("  priority percent 20\n", "  drop\n")
    (tmp_path / "r.cfg").write_text(text, encoding="utf-8")
    (tmp_path / "s.yaml").write_text(SCENARIO, encoding="utf-8")
    results = spillgate.run(tmp_path / "s.yaml", runs=1)
    row = results.value(results.description.variants[0], "class", "voice", "loss_ratio")
    assert row.mean == 1.0
