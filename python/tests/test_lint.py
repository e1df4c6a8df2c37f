"""`spillgate check`: the rules, their output, suppression, exit status."""

import json
from pathlib import Path

import jsonschema
import pytest

import spillgate

SCHEMA = Path(__file__).parent / "schemas/sarif-2.1.0.json"

HEAD = """\
class-map match-any VOICE
 match ip dscp ef
class-map match-any DATA
 match ip dscp af31 af32 af33
policy-map WAN
 class VOICE
  {voice}
 class DATA
  {data}
interface Serial0/0
 bandwidth {rate}
 service-policy output WAN
"""


def config(voice="priority percent 30", data="bandwidth percent 40", rate=20000, extra=""):
    return HEAD.format(voice=voice, data=data.replace("; ", "\n  "), rate=rate) + extra


CASES = {
    # Rule: what triggers it and on which line, and what is just inside the bound.
    # AF33 has the higher minimum; equal ones are allowed (RFC 2597 asks for "not larger").
    "SG-A001": (
        config(
            data="bandwidth percent 40; queue-limit 90 packets; random-detect dscp-based; "
            "random-detect dscp af31 20 60; random-detect dscp af32 20 60; "
            "random-detect dscp af33 21 60"
        ),
        12,
        config(
            data="bandwidth percent 40; queue-limit 90 packets; random-detect dscp-based; "
            "random-detect dscp af31 20 60; random-detect dscp af32 20 60; "
            "random-detect dscp af33 20 60"
        ),
    ),
    # The defaults have a maximum of 40 packets.
    "SG-A002": (
        config(data="bandwidth percent 40; queue-limit 39 packets; random-detect dscp-based"),
        11,
        config(data="bandwidth percent 40; queue-limit 40 packets; random-detect dscp-based"),
    ),
    "SG-A003": (
        config(data="bandwidth percent 40; random-detect dscp-based; random-detect dscp 26 20 59"),
        11,
        config(data="bandwidth percent 40; random-detect dscp-based; random-detect dscp 26 20 60"),
    ),
    # 1/100 is 1 %, the least that is not remarked.
    "SG-A004": (
        config(
            data="bandwidth percent 40; random-detect dscp-based; random-detect dscp 26 20 60 101"
        ),
        11,
        config(
            data="bandwidth percent 40; random-detect dscp-based; random-detect dscp 26 20 60 100"
        ),
    ),
    # 8 Mb/s are 667 packets of 1500 B a second: 2^13 of them take 12.3 s, 2^12 6.1 s.
    "SG-A005": (
        config(
            data="bandwidth percent 40; random-detect; "
            "random-detect exponential-weighting-constant 13"
        ),
        10,
        config(
            data="bandwidth percent 40; random-detect; "
            "random-detect exponential-weighting-constant 12"
        ),
    ),
    "SG-A006": (
        config(voice="bandwidth percent 10\n  random-detect"),
        8,
        config(data="bandwidth percent 40; random-detect"),
    ),
    "SG-C001": (
        config().replace("ip dscp af31 af32 af33", "ip dscp ef"),
        8,
        config().replace("ip dscp af31 af32 af33", "ip dscp ef af31"),
    ),
    "SG-C003": (
        config().replace("ip dscp af31 af32 af33", "ip dscp ef af31"),
        8,
        config(),
    ),
    "SG-C004": (config(extra="class-map OLD\n match ip dscp cs1\n"), 13, config()),
    "SG-C005": (config(extra="policy-map OLD\n class VOICE\n  bandwidth 10\n"), 13, config()),
    "SG-C006": (
        config(extra="access-list 10 permit any\n"),
        13,
        config(extra="access-list 10 permit any\nline vty 0 4\n access-class 10 in\n"),
    ),
    "SG-C007": (
        config(voice="priority percent 30\n  set cos 5"),
        8,
        config(voice="priority percent 30\n  set cos 5", extra=" encapsulation dot1q 7\n"),
    ),
    # No packet has both; one may have either.
    "SG-C008": (
        config(extra="class-map match-all VIDEO\n match dscp af41\n match dscp af42\n").replace(
            " class VOICE\n", " class VIDEO\n  bandwidth percent 5\n class VOICE\n"
        ),
        6,
        config(extra="class-map match-any VIDEO\n match dscp af41\n match dscp af42\n").replace(
            " class VOICE\n", " class VIDEO\n  bandwidth percent 5\n class VOICE\n"
        ),
    ),
    "SG-R001": (config(data="bandwith percent 40"), 9, config(data="bandwidth percent 40")),
    "SG-R002": (config(extra=" tx-queue-limit 3\n"), 13, config(extra=" mtu 1500\n")),
    "SG-Q001": (config(voice="priority"), 7, config(voice="priority\n  police 1000000")),
    # 76 % of the interface; 75 % may be reserved.
    "SG-Q002": (
        config(voice="priority percent 33", data="bandwidth percent 43"),
        12,
        config(voice="priority percent 33", data="bandwidth percent 42"),
    ),
    "SG-Q003": (config(voice="priority percent 34"), 7, config(voice="priority percent 33")),
    # 30 + 69 leave 1 %, 30 + 68 leave 2 %.
    "SG-Q004": (config(data="bandwidth percent 69"), 5, config(data="bandwidth percent 68")),
    "SG-Q005": (
        config(data="bandwidth percent 40; queue-limit 9 packets"),
        10,
        config(data="bandwidth percent 40; queue-limit 10 packets"),
    ),
    # 167 packets of 1500 B are 100.2 ms at 20 Mb/s, 166 are 99.6 ms.
    "SG-Q006": (
        config(data="bandwidth percent 40; queue-limit 167 packets"),
        10,
        config(data="bandwidth percent 40; queue-limit 166 packets"),
    ),
    # 1500 B are 10.01 ms at 1199 kb/s, 10 ms at 1200 kb/s.
    "SG-Q011": (
        config(data="bandwidth percent 40; queue-limit 64 packets; queue-limit dscp af33 65"),
        11,
        config(data="bandwidth percent 40; queue-limit 64 packets; queue-limit dscp af33 64"),
    ),
    # AF32 without a limit of its own has the 64 packets of the queue.
    "SG-Q012": (
        config(data="bandwidth percent 40; queue-limit 64 packets; queue-limit dscp af31 63"),
        11,
        config(data="bandwidth percent 40; queue-limit 64 packets; queue-limit dscp af33 63"),
    ),
    "SG-Q008": (config(rate=1199), 7, config(rate=1200)),
    "SG-Q009": (
        config().replace("Serial0/0", "Serial0/0.1").replace(" bandwidth 20000\n", ""),
        11,
        config().replace("Serial0/0", "Serial0/0.1"),
    ),
    "SG-Q013": (
        config()
        .replace("Serial0/0", "ATM0")
        .replace(" service", " pvc 1/32\n  ubr 20000\n  service"),
        14,
        config()
        .replace("Serial0/0", "ATM0")
        .replace(" service", " pvc 1/32\n  cbr 20000\n  service"),
    ),
    "SG-S001": (
        config(data="shape average 20001000"),
        9,
        config(data="shape average 20000000"),
    ),
    # Bc = Be: 1 000 001 bits each are 250 000.25 B, beyond 250 ms at 8 Mb/s.
    "SG-S002": (
        config(data="shape average 8000000 1008000 1008000"),
        9,
        config(data="shape average 8000000 1000000 1000000"),
    ),
    "SG-S003": (
        config(data="police 8000000 1499 conform-action transmit exceed-action drop"),
        9,
        config(data="police 8000000 1500 conform-action transmit exceed-action drop"),
    ),
    # 8 Mb/s bring 100 000 B in 100 ms.
    "SG-S004": (
        config(data="police 8000000 99999 conform-action transmit exceed-action drop"),
        9,
        config(data="police 8000000 100000 conform-action transmit exceed-action drop"),
    ),
    # The edge has customers in a VRF; SG-M003 takes the place of SG-M002 where EXP bits collide.
    "SG-M002": (
        config(extra=" ip vrf forwarding BLUE\ninterface Serial0/1\n mpls ip\n"),
        15,
        config(
            voice="priority percent 30\n  set mpls experimental imposition 5",
            extra=" ip vrf forwarding BLUE\ninterface Serial0/1\n mpls ip\n",
        ),
    ),
    "SG-M003": (
        config(extra=" vrf forwarding BLUE\ninterface Serial0/1\n mpls ip\n").replace(
            "af31 af32 af33", "cs5"
        ),
        15,
        config(extra=" vrf forwarding BLUE\ninterface Serial0/1\n mpls ip\n"),
    ),
    "SG-M004": (
        config(extra=" mpls ip\n").replace(" match ip dscp ef", " match mpls experimental 5"),
        8,
        config(extra=" mpls ip\n")
        .replace("match ip dscp ef", "match mpls experimental 5")
        .replace(" match ip dscp af", " match mpls experimental 3\n match ip dscp af"),
    ),
    "SG-X001": (config(extra="! spillgate: ignore SG-Z999\n"), 13, config()),
}


def found(tmp_path, text, name="r.cfg", **options):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return spillgate.lint(path, **options).found


@pytest.mark.parametrize("rule", CASES)
def test_a_rule_finds_its_mistake_at_its_line_and_nothing_inside_the_bound(tmp_path, rule):
    wrong, line, right = CASES[rule]
    hits = [f for f in found(tmp_path, wrong) if f.id == rule]
    assert [f.line for f in hits] == [line], found(tmp_path, wrong)
    assert hits[0].help
    assert hits[0].source == wrong.splitlines()[line - 1]
    assert not [f for f in found(tmp_path, right) if f.id == rule]


SCENARIO = """\
schema_version: 1
name: lint
topology:
  nodes: [a, b]
  links:
    wan: {{from: a, to: b, rate: 10 Mb/s, delay: 1 ms, policy: p}}
    back: {{from: b, to: a, rate: 10 Mb/s, delay: 1 ms}}
policies:
  p:
    class-based:
      classes:
        - {{name: voice, match: {{dscp: {dscp}}}, priority: {{rate: {rate}}}}}
        - {{name: data, match: {{dscp: af11}}, bandwidth: 5 Mb/s, queue_limit: {limit}{aqm}}}
traffic:
  - flow: {{name: v, from: a, to: b, class: voice, dscp: ef,
      source: {{cbr: {{rate: 1 Mb/s, packet: 200 B}}}}}}
  - flow: {{name: d, from: a, to: b, class: data, dscp: af11, {data}}}
measurement: {{warmup: 1 s, duration: 5 s}}
sla:
  - {{class: data, metric: owd_p99, max: {bound}}}
"""

GREEDY = "tcp: {}"
CBR = "source: {cbr: {rate: 1 Mb/s, packet: 1500 B}}"


def scenario(dscp="ef", rate="1 Mb/s", limit="40 packets", aqm="", data=GREEDY, bound="97 ms"):
    return SCENARIO.format(dscp=dscp, rate=rate, limit=limit, aqm=aqm, data=data, bound=bound)


WRED = ", aqm: {wred: {ecn: true}}"

SCENARIOS = {
    "SG-A006": (scenario(aqm=WRED, data=CBR), 13, scenario(aqm=WRED)),
    "SG-A007": (
        scenario(aqm=WRED),
        13,
        scenario(aqm=WRED, data="tcp: {ecn: classic}"),
    ),
    # 5 Mb/s take 2.4 ms for 1500 B.
    "SG-A008": (
        scenario(aqm=", aqm: {codel: {target: 2 ms}}"),
        13,
        scenario(aqm=", aqm: {codel: {target: 3 ms}}"),
    ),
    "SG-C002": (scenario(dscp="cs5"), 12, scenario()),
    # The bucket holds 200 ms at its rate and loses what 1 Mb/s bring beyond it: 1.005, 0.998 s.
    "SG-S005": (scenario(rate="834 kb/s"), 12, scenario(rate="833 kb/s")),
    "SG-Q007": (scenario(rate="999 kb/s"), 12, scenario()),
    # 40 packets of 1500 B are 96 ms at 5 Mb/s.
    "SG-Q010": (scenario(bound="95 ms"), 13, scenario()),
}


MPLS = """\
schema_version: 1
name: mpls
topology:
  nodes: [a, pe1, p, pe2, b]
  links:
    a: {{from: a, to: pe1, rate: 10 Mb/s, delay: 1 ms}}
    x: {{from: pe1, to: p, rate: 10 Mb/s, delay: 1 ms}}
    y: {{from: p, to: pe2, rate: 10 Mb/s, delay: 1 ms}}
    b: {{from: pe2, to: b, rate: 10 Mb/s, delay: 1 ms}}
  mpls:
    pe: [pe1, pe2]
    p: [p]
    imposition: {{ef: {exp}}}
traffic:
  - flow: {{name: v, from: a, to: b, class: voice, dscp: ef,
      source: {{cbr: {{rate: 1 Mb/s, packet: 200 B}}}}}}
measurement: {{warmup: 1 s, duration: 5 s}}
"""


def with_mtu(mtu):
    """Two labels on the link `x`, so that packets of 200 B take 208 B."""
    return MPLS.format(exp=5).replace("to: p, rate", f"to: p, mtu: {mtu}, rate")


def shaped(overhead):
    """Packets of 1500 B before a shaper whose bucket holds 1600 B."""
    text = scenario(data="source: {cbr: {rate: 500 kb/s, packet: 1500 B}}")
    text = text.replace("delay: 1 ms, policy", f"delay: 1 ms, overhead: {overhead}, policy")
    return text.replace("bandwidth: 5 Mb/s", "shape: {rate: 1 Mb/s, burst: 1600 B}")


def both(data, old, wrong, right, **options):
    """A scenario in which something is wrong, and one in which it is right."""
    text = scenario(data=data, **options)
    assert old in text
    return text.replace(old, wrong), text.replace(old, right)


def found_between(line, pair):
    return pair[0], line, pair[1]


LIMIT = "queue_limit: 40 packets"
BACK = "{from: b, to: a, rate: 10 Mb/s, delay: 1 ms}"
WITH_POLICY = BACK.replace("}", ", policy: p}")
BOUND = "max: 97 ms"
OWD = "metric: owd_p99, max: 97 ms"
OWD_CERTAIN = "metric: owd_p99, certain: true, max: "
# 5 Mb/s for 12 Mb/s of three precedences, of which a tenth at most is dropped below the maximum.
MARKED = "".join(
    f"\n  - flow: {{name: e{d}, from: a, to: b, class: data, dscp: {d},"
    " source: {cbr: {rate: 4 Mb/s, packet: 1500 B}}}"
    for d in ("af11", "af12", "af13")
)


def precedences(least):
    profiles = f"af11: {{min: 30, max: 40}}, af13: {{min: {least - 5}, max: {least}}}"
    text = scenario(aqm=f", aqm: {{wred: {{dscp: {{{profiles}}}}}}}")
    text = text.replace("match: {dscp: af11}", "match: {dscp: [af11, af13, af12]}")
    return text.replace("\nmeasurement:", MARKED + "\nmeasurement:")


def behind(source, priority):
    """Data behind a class with priority, whose source is not that of the others."""
    text = scenario(data=CBR).replace("priority: {rate: 1 Mb/s}", f"priority: {priority}")
    return text.replace(
        "cbr: {rate: 1 Mb/s, packet: 200 B}", f"{source}: {{rate: 1 Mb/s, packet: 200 B}}"
    )


def calls(of):
    text = scenario(data=CBR).replace(BOUND, "min: 3")
    text = text.replace("class: data, metric: owd_p99", "class: voice, metric: mos")
    text = text.replace("cbr: {rate: 1 Mb/s, packet: 200 B}", "voip: {codec: g711}")
    return text.replace("to: b, class: data", f"to: b, class: {of}")


SCENARIOS |= {
    "SG-A009": found_between(
        13,
        both(
            CBR,
            LIMIT,
            f"{LIMIT}, aqm: {{red: {{unit: bytes, min_th: 500, max_th: 1499}}}}",
            f"{LIMIT}, aqm: {{red: {{unit: bytes, min_th: 500, max_th: 1500}}}}",
        ),
    ),
    "SG-A010": (precedences(40), 13, precedences(15)),
    # One connection, 5 Mb/s / 1500 B and 27.2 ms with ten packets: fluid.Model(...).margins(
    # simplified=True) of a = 0.02, b = 0.019 has a gain of 0.842: the bound is a = 0.01685.
    "SG-A011": (
        scenario(aqm=", aqm: {pi: {target: 10, a: 0.0172, b: 0.01634}}"),
        13,
        scenario(aqm=", aqm: {pi: {target: 10, a: 0.0165, b: 0.015675}}"),
    ),
    # 40 packets of 1500 B are 96 ms at 5 Mb/s.
    "SG-A012": (
        scenario(aqm=", aqm: {pie: {target: 97 ms}}"),
        13,
        scenario(aqm=", aqm: {pie: {target: 96 ms}}"),
    ),
    # Nothing answers a source; acknowledgments cross the reverse link.
    "SG-L002": (
        scenario(data=CBR).replace(BACK, WITH_POLICY),
        7,
        scenario().replace(BACK, WITH_POLICY),
    ),
    "SG-Q014": found_between(13, both(CBR, LIMIT, "queue_limit: 1499 B", "queue_limit: 1500 B")),
    "SG-Q015": found_between(
        13, both(CBR, LIMIT, "drr: {quantum: 1499 B}", "drr: {quantum: 1500 B}")
    ),
    "SG-S007": found_between(
        12,
        both(
            CBR,
            "{rate: 1 Mb/s}}",
            "{rate: 1 Mb/s, burst: 199 B}}",
            "{rate: 1 Mb/s, burst: 200 B}}",
        ),
    ),
    # 1500 B take 1.2 ms at 10 Mb/s, and propagation 1 ms.
    "SG-O001": found_between(20, both(CBR, BOUND, "max: 2.199 ms", "max: 2.2 ms")),
    "SG-O002": found_between(20, both(CBR, BOUND, "min: 97 ms", BOUND)),
    "SG-O003": (calls("voice"), 20, calls("data")),
    "SG-O004": (behind("poisson", "{}"), 20, behind("poisson", "{rate: 1 Mb/s}")),
    # 1500 B take 1.2 ms, a call's 200 B in front 0.16 ms, and propagation 1 ms.
    "SG-O005": found_between(
        20, both(CBR, OWD, OWD_CERTAIN + "2.359 ms", OWD_CERTAIN + "2.36 ms")
    ),
    "SG-O006": found_between(
        20, both(CBR.replace("source", "start: 6 s, source"), OWD, OWD_CERTAIN + "1 s", OWD)
    ),
}


SCENARIOS["SG-S006"] = (shaped("pppoe-llcsnap"), 13, shaped("ethernet ether-vlan"))
SCENARIOS["SG-L001"] = (with_mtu("207 B"), 7, with_mtu("208 B"))
SCENARIOS["SG-M001"] = (MPLS.format(exp=0), 13, MPLS.format(exp=5))


@pytest.mark.parametrize("rule", SCENARIOS)
def test_a_rule_looks_at_the_traffic_of_a_scenario(tmp_path, rule):
    wrong, line, right = SCENARIOS[rule]
    hits = [f for f in found(tmp_path, wrong, "s.yaml") if f.id == rule]
    assert [f.line for f in hits] == [line], found(tmp_path, wrong, "s.yaml")
    assert not [f for f in found(tmp_path, right, "s.yaml") if f.id == rule]


def test_every_rule_has_a_case():
    assert {r.id for r in spillgate.rules()} == {*CASES, *SCENARIOS}


def test_examples_have_no_errors(root):
    for file in sorted([*root.glob("examples/*/*.cfg"), *root.glob("examples/*/scenario.yaml")]):
        # What is given beside the scenario need not be there.
        aqm = {"ramp": "its own"} if "own-aqm" in str(file) else None
        scheduler = {"turns": "its own"} if "own-scheduler" in str(file) else None
        found = spillgate.lint(file, aqm=aqm, scheduler=scheduler).found
        errors = [f for f in found if f.severity == "error"]
        assert errors == [], file


def test_a_class_needs_a_flow_on_one_of_the_links_that_are_alike(tmp_path):
    # Voice leaves by one link, data by the other; both have the same policy and rate.
    text = scenario().replace("nodes: [a, b]", "nodes: [a, b, c]")
    text = text.replace(
        "    back:",
        "    wan2: {from: a, to: c, rate: 10 Mb/s, delay: 1 ms, policy: p}\n    back:",
    ).replace("name: v, from: a, to: b", "name: v, from: a, to: c")
    assert "SG-C002" not in [f.id for f in found(tmp_path, text, "s.yaml")]
    text = text.replace("dscp: ef,", "dscp: cs5,")
    assert "SG-C002" in [f.id for f in found(tmp_path, text, "s.yaml")]


def test_comments_suppress(tmp_path):
    wrong, _, _ = CASES["SG-Q001"]
    reason = "  ! spillgate: ignore SG-Q001 it is policed upstream\n"
    text = wrong.replace("  priority", reason + "  priority")
    assert "SG-Q001" not in [f.id for f in found(tmp_path, text)]
    # The comment holds for the next line only.
    text = "! spillgate: ignore SG-Q001\n" + wrong
    assert "SG-Q001" in [f.id for f in found(tmp_path, text)]
    text = "! spillgate: ignore-file SG-Q001\n" + wrong
    assert "SG-Q001" not in [f.id for f in found(tmp_path, text)]
    comment = "{rate: 1 Mb/s}} # spillgate: ignore SG-C002\n"
    text = scenario(dscp="cs5").replace("{rate: 1 Mb/s}}\n", comment, 1)
    assert "SG-C002" not in [f.id for f in found(tmp_path, text, "s.yaml")]


def test_rules_are_selected(tmp_path):
    wrong, _, _ = CASES["SG-C001"]
    assert {f.id for f in found(tmp_path, wrong, select=["SG-C"])} == {"SG-C001"}
    assert "SG-C001" not in {f.id for f in found(tmp_path, wrong, ignore=["class-shadowed"])}
    with pytest.raises(spillgate.InputError, match="there is no rule `SG-C9`"):
        found(tmp_path, wrong, select=["SG-C9"])


def test_exit_status(cli, tmp_path):
    (tmp_path / "error.cfg").write_text(CASES["SG-C001"][0], encoding="utf-8")
    (tmp_path / "warning.cfg").write_text(CASES["SG-Q001"][0], encoding="utf-8")
    (tmp_path / "bad.cfg").write_text("set system host-name r1\n", encoding="utf-8")
    assert cli("check", "error.cfg").returncode == 1
    assert cli("check", "warning.cfg").returncode == 0
    assert cli("check", "warning.cfg", "--strict").returncode == 1
    assert cli("check", "bad.cfg").returncode == 2
    assert cli("check", "none.cfg").returncode == 2
    assert cli("check").returncode == 2
    assert cli("check", "error.cfg", "--ignore", "SG-C001").returncode == 0


def test_text_has_place_carets_and_numbers(cli, tmp_path):
    (tmp_path / "r.cfg").write_text(CASES["SG-Q006"][0], encoding="utf-8")
    done = cli("check", "r.cfg", "--select", "SG-Q006")
    message = "the queue of class DATA is deep: 167 packets of 1500 B are 100 ms at 20 Mb/s"
    assert done.stdout.splitlines() == [
        f"r.cfg:10:3: warning: {message} [SG-Q006]",
        "   10 |   queue-limit 167 packets",
        "      |   ^^^^^^^^^^^^^^^^^^^^^^^",
        "    hint: Shorten the queue to 50 ms at its rate, or put WRED or a fair queue into it.",
        "",
        "1 warning; spillgate check --explain SG-Q006 says why",
    ]


def test_json_and_sarif_say_the_same(cli, tmp_path):
    (tmp_path / "r.cfg").write_text(CASES["SG-C001"][0], encoding="utf-8")
    record = json.loads(cli("check", "r.cfg", "--format", "json").stdout)
    assert record["errors"] == 1
    log = json.loads(cli("check", "r.cfg", "--format", "sarif").stdout)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [r["id"] for r in rules[: len(spillgate.rules())]] == [r.id for r in spillgate.rules()]
    assert len(run["results"]) == len(record["findings"])
    for result, finding in zip(run["results"], record["findings"], strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == finding["id"]
        assert result["level"] == finding["severity"]
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "r.cfg"
        assert place["region"]["startLine"] == finding["line"]


@pytest.fixture(scope="module")
def sarif_schema():
    return jsonschema.Draft7Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def test_sarif_is_valid_by_the_schema_of_oasis(cli, tmp_path, root, sarif_schema):
    goldens = sorted(root.glob("crates/lint/tests/goldens/*.sarif"))
    assert len(goldens) >= 5
    for golden in goldens:
        log = json.loads(golden.read_text(encoding="utf-8"))
        assert log["runs"][0]["results"], golden
        assert [e.message for e in sarif_schema.iter_errors(log)] == [], golden
    # What the command prints has the texts of all rules, too.
    (tmp_path / "über uns.cfg").write_text(CASES["SG-C001"][0], encoding="utf-8")
    log = json.loads(cli("check", "über uns.cfg", "--format", "sarif").stdout)
    assert [e.message for e in sarif_schema.iter_errors(log)] == []
    # The schema is one that refuses.
    log["runs"][0]["results"][0]["level"] = "fatal"
    assert list(sarif_schema.iter_errors(log))


def test_sarif_marks_the_command_and_quotes_its_line(tmp_path):
    text = CASES["SG-Q006"][0]
    (tmp_path / "r.cfg").write_text(text, encoding="utf-8")
    log = spillgate.lint(tmp_path / "r.cfg", select=["SG-Q006"]).sarif
    region = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]
    line = text.splitlines()[9]
    assert region["snippet"]["text"] == line
    marked = line[region["startColumn"] - 1 : region["endColumn"] - 1]
    assert (region["startLine"], marked) == (10, "queue-limit 167 packets")


def test_a_warning_of_a_reader_is_explained_named_selected_and_suppressed(cli, tmp_path):
    done = cli("check", "--explain", "w0702")
    assert done.stdout.startswith("W0702 class-matches-nothing (warning)\n")
    assert cli("check", "--explain", "class-matches-nothing").stdout == done.stdout
    assert cli("check", "--explain", "E0707").stdout.startswith("E0707 (error)\n")
    text = config().replace(" match ip dscp af31 af32 af33\n", "")
    (f,) = found(tmp_path, text, select=["class-matches-nothing"])
    assert (f.id, f.name) == ("W0702", "class-matches-nothing")
    log = spillgate.lint(tmp_path / "r.cfg", select=["W0702"]).sarif
    rule = log["runs"][0]["tool"]["driver"]["rules"][-1]
    assert rule["id"] == "W0702"
    assert rule["name"] == "ClassMatchesNothing"
    quiet = "! spillgate: ignore-file W0702\n" + text
    assert "W0702" not in [f.id for f in found(tmp_path, quiet)]


def test_codes_are_unique():
    codes = [c["kind"] for c in spillgate.catalog()["codes"]]
    assert len(codes) == len(set(codes))
    assert {w.id for w in spillgate.reader_warnings()} == {c for c in codes if c[0] == "W"}


def test_every_rule_is_explained(cli):
    done = cli("check", "--explain", "class-shadowed")
    assert done.returncode == 0
    assert done.stdout.startswith("SG-C001 class-shadowed (error)\n")
    assert cli("check", "--explain", "SG-Z9").returncode == 2
    listed = cli("list", "rules").stdout
    assert all(r.id in listed for r in spillgate.rules())


def test_a_run_says_how_many_there_are(cli, tmp_path):
    (tmp_path / "s.yaml").write_text(scenario(dscp="cs5"), encoding="utf-8")
    done = cli("run", "s.yaml", "--runs", "1", "--no-figures", "--no-report", "--out", "out")
    assert "spillgate: the rules find 1 warning; spillgate check s.yaml shows them" in done.stderr


def test_a_target_below_a_packet_is_found_on_a_link(tmp_path):
    path = tmp_path / "slow.yaml"
    text = """\
schema_version: 1
name: slow
topology:
  nodes: [a, b]
  links:
    wan: {from: a, to: b, rate: 1 Mb/s, delay: 1 ms, policy: p}
    back: {from: b, to: a, rate: 1 Mb/s, delay: 1 ms}
policies:
  p: POLICY
traffic:
  - flow: {name: f, from: a, to: b, tcp: {}}
measurement: {warmup: 1 s, duration: 5 s}
"""
    for policy, found in (
        ("{fq-codel: {}}", ["SG-A008"]),
        ("{fq-codel: {target: 13 ms}}", []),
        ("{fifo: {aqm: {codel: {}}}}", ["SG-A008"]),
    ):
        path.write_text(text.replace("POLICY", policy))
        assert [f.id for f in spillgate.lint(path).found] == found


def test_what_import_lists_is_a_finding(cli, tmp_path):
    text = config(voice="prioriy percent 30", extra=" tx-queue-limit 3\n")
    path = tmp_path / "c.cfg"
    path.write_text(text)
    listed = json.loads(cli("import", path, "--format", "json").stdout)["unmodelled"]
    assert [(u["line"], u["understood"]) for u in listed] == [(7, False), (13, True)]
    found = json.loads(cli("check", path, "--format", "json").stdout)["findings"]
    lines = {f["line"]: f["id"] for f in found if f["id"].startswith("SG-R")}
    assert lines == {7: "SG-R001", 13: "SG-R002"}
    done = cli("check", path)
    assert "c.cfg:7:3: warning: `prioriy percent 30`: not understood" in done.stdout
    results = json.loads(cli("check", path, "--format", "sarif").stdout)["runs"][0]["results"]
    regions = {
        r["ruleId"]: r["locations"][0]["physicalLocation"]["region"]["startLine"] for r in results
    }
    assert regions["SG-R001"] == 7
    assert regions["SG-R002"] == 13
    assert cli("check", path, "--strict").returncode == 1


ARRIVALS = """\
schema_version: 1
name: arrivals
topology:
  nodes: [x, y, edge, core]
  links:
    acme: {from: x, to: edge, rate: 100 Mb/s, delay: 1 ms}
    bolt: {from: y, to: edge, rate: 100 Mb/s, delay: 1 ms}
    line: {from: edge, to: core, rate: 10 Mb/s, delay: 1 ms, policy: p}
policies:
  p:
    class-based:
      classes:
        - {name: first, match: {input: acme}, bandwidth: 50 %, aqm: {wred: {}}}
        - {name: second, match: {INPUT}, bandwidth: 40 %}
traffic:
  - flow: {name: a, from: x, to: core, source: {cbr: {rate: 6 Mb/s, packet: 1000 B}}}
  - flow: {name: b, from: y, to: core, source: {cbr: {rate: 6 Mb/s, packet: 1000 B}}}
measurement: {warmup: 1 s, duration: 5 s}
"""


def test_classes_by_the_link_of_arrival_have_their_flows(tmp_path):
    text = ARRIVALS.replace("INPUT", "input: bolt")
    ids = [f.id for f in found(tmp_path, text, "s.yaml")]
    # Nothing is left for class-default, and the first class has no connection.
    assert "SG-Q004" not in ids
    assert "SG-C002" not in ids
    (deaf,) = (f for f in found(tmp_path, text, "s.yaml") if f.id == "SG-A006")
    assert "the flow of class first" in deaf.message
    # What comes in by a link belongs to the first class that asks for it.
    text = ARRIVALS.replace("INPUT", "input: acme, dscp: default")
    (shadowed,) = (f for f in found(tmp_path, text, "s.yaml") if f.id == "SG-C001")
    assert "all of its packets belong to first above" in shadowed.message


@pytest.mark.parametrize(
    ("marks", "match"),
    [
        ("set_qos_group: 7", "qos_group: 7"),
        ("set_cos: 5", "cos: 5"),
        ("police: {rate: 9 Mb/s, conform: {set-qos-group: 7}}", "qos_group: 7"),
        # The tag of the link itself.
        ("set_dscp: default", "cos: 0"),
    ],
)
def test_classes_by_marks_of_the_node_have_their_flows(tmp_path, marks, match):
    text = ARRIVALS.replace("match: {input: acme}", f"match: {{{match}}}")
    text = text.replace("INPUT", "input: bolt")
    marking = f"  m: {{class-based: {{classes: [{{name: class-default, {marks}}}]}}}}\n"
    text = text.replace("policies:\n", "policies:\n" + marking)
    tagged = text.replace("1 ms}\n    bolt", "1 ms, input_policy: m, dot1q: true}\n    bolt")
    hits = found(tmp_path, tagged, "s.yaml")
    assert "SG-C002" not in [f.id for f in hits]
    (deaf,) = (f for f in hits if f.id == "SG-A006")
    assert "the flow of class first" in deaf.message
    # Without the mark the class has none.
    assert "SG-C002" in [f.id for f in found(tmp_path, text, "s.yaml")]


STANDS = """\
schema_version: 1
name: stands
topology:
  nodes: [a, {name: b SWITCH}, c]
  links:
    in: {from: a, to: b, rate: 10 Mb/s, delay: 1 ms, duplex: true ARRIVAL}
    out: {from: b, to: c, rate: 10 Mb/s, delay: 1 ms PORT}
policies:
  red: {fifo: {aqm: {red: {min_th: 10, max_th: 12}}}}
  outer: {class-based: {classes: [{name: class-default, shape: {rate: 5 Mb/s}, policy: inner}]}}
  inner:
    class-based:
      classes:
        - name: class-default
          aqm: {red: {min_th: 10, max_th: 12}}
          police: {rate: 1 Mb/s, burst: 9 B}
agreements: AGREEMENTS
traffic:
  - flow: {name: f, from: a, to: c, source: {cbr: {rate: 1 Mb/s, packet: 900 B}}}
measurement: {warmup: 1 s, duration: 5 s}
"""


def test_every_key_that_names_a_policy_is_looked_at(tmp_path):
    """The schema has every key that names a policy; each is a place that the rules know."""
    keys = set()

    def walk(node, path):
        if not isinstance(node, dict):
            return
        for key, inner in node.get("properties", {}).items():
            if key == "policy" or key.endswith("_policy"):
                keys.add(f"{path}.{key}")
            walk(inner, path)
        for inner in (*node.get("anyOf", []), *node.get("oneOf", []), *node.get("allOf", [])):
            walk(inner, path)
        if "items" in node:
            walk(node["items"], path)

    schema = spillgate.schema()
    for name, node in schema["$defs"].items():
        walk(node, name)
    # What is done at the threshold of a fair queue is no policy.
    keys.remove("FairQueueSpec.cdt_policy")
    assert keys == {
        "AgreementsSpec.policy",
        "ClassSpec.policy",
        "LinkSpec.input_policy",
        "LinkSpec.policy",
        "SwitchSpec.policy",
    }
    nothing = {"SWITCH": "", "ARRIVAL": "", "PORT": "", "AGREEMENTS": "[]"}
    for rule, given in (
        ("SG-A003", {"PORT": ", policy: red"}),
        ("SG-A003", {"PORT": ", policy: outer"}),
        ("SG-S003", {"PORT": ", policy: outer"}),
        ("SG-S003", {"ARRIVAL": ", input_policy: inner"}),
        ("SG-A003", {"SWITCH": ", switch: {architecture: voq, policy: red}"}),
    ):
        text = STANDS
        for key, value in (nothing | given).items():
            text = text.replace(key, value)
        assert rule in [f.id for f in found(tmp_path, text, "s.yaml")], given


def test_a_finding_says_at_which_points_it_holds(tmp_path):
    text = scenario(limit="40 B") + "variants:\n"
    limit = "policies.p.class-based.classes.1.queue_limit"
    for name, value in (("short", "40 B"), ("long", "40 packets"), ("none", "1 B")):
        text += f"  - {{name: {name}, set: {{{limit}: {value}}}}}\n"
    text += "axes: [{name: rate, set: topology.links.wan.rate, values: [10 Mb/s, 20 Mb/s]}]\n"
    hits = [f for f in found(tmp_path, text, "s.yaml") if f.id == "SG-Q014"]
    assert [(f.line, f.holds) for f in hits] == [
        (22, "variant `short`"),
        (24, "variant `none`"),
    ]
    assert hits[0].variants == ("short (rate=10 Mb/s)", "short (rate=20 Mb/s)")
    record = spillgate.lint(tmp_path / "s.yaml", select=["SG-Q014"])
    assert "    in: variant `short`\n" in record.text
    result = record.sarif["runs"][0]["results"][0]
    assert result["properties"] == {"variants": list(hits[0].variants)}
    assert "(variant `short`)" in result["message"]["text"]
    # What a reader warns of says it, too; of one point nothing is said.
    single = scenario(limit="40 B")
    assert {(f.variants, f.holds) for f in found(tmp_path, single, "s.yaml")} == {((), "")}
