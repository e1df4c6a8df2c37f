"""Mechanisms in one port, compared on equal terms."""

import json
import re

import pytest

import spillgate
from spillgate.cli import main
from spillgate.errors import InputError
from spillgate.knobs import KNOBS, axes
from spillgate.mechanisms import AQMS, DISCIPLINES, NAMES, kind_of, mechanism
from spillgate.ports import AS_IT_IS, port_at
from spillgate.source import Source

BRIEF = {"measurement.warmup": "1 s", "measurement.duration": "3 s"}
HOME = "examples/home-line/scenario.yaml"


def line(**more):
    """Two uploads and a call on 5 Mb/s, with a deep buffer."""
    return {
        "schema_version": 1,
        "name": "a line",
        "topology": {
            "nodes": ["a", "b"],
            "links": {
                "wan": {
                    "from": "a",
                    "to": "b",
                    "rate": "5 Mb/s",
                    "delay": "10 ms",
                    "policy": "deep",
                    "duplex": True,
                }
            },
        },
        "policies": {
            "deep": {"fifo": {"limit": "400 packets"}},
            "cake": {"cake": {"rtt": "50 ms"}},
        },
        "traffic": [
            {
                "flow": {
                    "name": "up",
                    "count": 2,
                    "from": "a",
                    "to": "b",
                    "class": "data",
                    "tcp": {},
                }
            },
            {
                "flow": {
                    "name": "call",
                    "from": "a",
                    "to": "b",
                    "class": "voice",
                    "source": {"cbr": {"rate": "80 kb/s", "packet": "200 B", "jitter": "5 %"}},
                }
            },
        ],
        "measurement": {"warmup": "1 s", "duration": "3 s", "interval": "0.1 s"},
        "runs": {"count": 4, "seed": 1},
        "sla": [{"class": "voice", "metric": "owd_p99", "max": "60 ms"}],
        **more,
    }


def orders(found, cls, metric):
    [ranking] = [r for r in found.rankings if (r.cls, r.metric) == (cls, metric)]
    return {p.name: (p.first, p.last) for p in ranking.places}


class Nothing:
    """Never drops."""

    version = "1"

    def on_enqueue(self, packet, queue):
        pass


def test_a_known_order():
    """A deep FIFO keeps hundreds of ms, CoDel tens; a queue for each flow keeps the call short."""
    found = spillgate.compare(line(), port="wan", aqm=["codel", "fq-codel"])
    assert [m.name for m in found.mechanisms] == ["as it is", "codel", "fq-codel"]
    assert orders(found, "voice", "owd_p99") == {
        "fq-codel": (1, 1),
        "codel": (2, 2),
        "as it is": (3, 3),
    }
    [r] = [r for r in found.rankings if (r.cls, r.metric) == ("voice", "owd_p99")]
    assert (
        r.sentence
        == "99th percentile of one-way delay of voice: fq-codel is better than all others."
    )
    assert {(d.variant, d.against): d.effect for d in r.pairs} == {
        ("codel", "as it is"): "better",
        ("fq-codel", "as it is"): "better",
        ("fq-codel", "codel"): "better",
    }
    assert found.met("as it is") == {"pass": 0, "fail": 1, "undecided": 0}
    assert found.met("fq-codel") == {"pass": 1, "fail": 0, "undecided": 0}
    assert found.required == ("voice",)
    assert found.met("fq-codel", "data") == {"pass": 0, "fail": 0, "undecided": 0}


def test_runs_have_the_same_arrivals_and_the_reference_is_as_it_was():
    found = spillgate.compare(line(), port="wan", aqm=["codel"], runs=2)
    alone = spillgate.run(line(), runs=2)
    as_it_is = [r.digest for r in found.results.runs if r.variant == AS_IT_IS]
    assert as_it_is == [r.digest for r in alone.runs]
    offered = found.results.samples(scope="class", metric="offered", name="voice")
    assert offered[0].values == offered[1].values


def test_names_of_policies_come_before_those_of_kinds():
    found = spillgate.compare(line(), port="a->b", aqm=["cake", "deep", "codel"], runs=2)
    # The port's own policy is the reference, under the name that was asked for.
    assert [m.name for m in found.mechanisms] == ["deep", "cake", "codel"]
    assert found.mechanisms[1].stated == ("policy cake of the scenario",)
    assert found.reference == "deep"
    outlines = [of[0] for of in found.results.description.outlines]
    assert [o["policy"] for o in outlines] == ["deep", "cake", "codel"]


def test_identical_mechanisms_under_two_names_are_never_ranked():
    same = line(
        policies={
            "deep": {"fifo": {"limit": "400 packets"}},
            "other": {"fifo": {"limit": "400 packets"}},
        }
    )
    found = spillgate.compare(
        same, port="wan", aqm=["other", "codel"], metrics=["owd_p99", "jain"]
    )
    for r in found.rankings:
        [pair] = [d for d in r.pairs if (d.variant, d.against) == ("other", "as it is")]
        assert pair.effect == "same"
        first, second = (r.place(n) for n in ("as it is", "other"))
        assert (first.first, first.last) == (second.first, second.last)
        assert any({"as it is", "other"} <= set(g) for g in r.groups)


def test_all_mechanisms_in_one_port():
    names = [n for n in (*DISCIPLINES, *AQMS) if n != "cake"]
    found = spillgate.compare(
        line(), port="wan", aqm=names, set={"measurement.duration": "1 s"}, runs=2
    )
    described = found.results.description
    assert described.variants == (AS_IT_IS, *names)
    for name, of in zip(described.variants[1:], described.outlines[1:], strict=True):
        assert name in (of[0]["kind"], of[0]["aqm"]), name


def test_variants_of_the_scenario_are_what_all_build_on(root):
    where = port_at(Source.of(root / HOME), "up", variant="CAKE")
    assert (where.link, where.rate, where.policy, where.variant) == ("up", 10e6, "CAKE", "CAKE")
    assert where.base == {"topology.links.up.policy": "CAKE"}
    found = spillgate.compare(
        root / HOME, port="up", aqm=["CAKE", "fq-codel"], variant="CAKE", set=BRIEF, runs=2
    )
    assert found.reference == "CAKE"
    assert len(found.mechanisms) == 2
    with pytest.raises(InputError, match="there is no variant 'cake'; there are FIFO, CoDel"):
        port_at(Source.of(root / HOME), "up", variant="cake")


def test_policies_of_a_router_configuration_are_valid_names(root):
    """Would something else have beaten LLQ + WRED?"""
    found = spillgate.compare(
        root / "examples/ce-node/scenario.yaml",
        port="wan",
        aqm=["CBWFQ-LLQ-WRED", "cake"],
        variant="CBWFQ-LLQ-WRED",
        set={"measurement.warmup": "0.5 s", "measurement.duration": "1 s"},
        runs=3,
    )
    assert [m.name for m in found.mechanisms] == ["CBWFQ-LLQ-WRED", "cake"]
    assert orders(found, "critical", "owd_p99")


def test_a_port_whose_policy_comes_with_an_interface(root):
    found = spillgate.compare(
        root / "examples/voice-edge/scenario.yaml",
        port="wan",
        aqm=["fq-codel"],
        set={"measurement.duration": "1 s"},
        runs=2,
    )
    assert found.port.policy == "WAN"
    policies = [of[1] for of in found.results.description.policies]
    assert policies == ["WAN", "fq-codel"]


def test_an_aqm_of_one_s_own_takes_part():
    found = spillgate.compare(
        line(), port="wan", aqm=["none", "codel"], own={"none": Nothing}, runs=3
    )
    assert found.mechanisms[1].policy["fifo"]["aqm"] == {"none": {}}
    # It is a FIFO of a round trip.
    assert found.mechanisms[1].stated[0].startswith("limit 42 packets")
    assert orders(found, "data", "owd_p99")["codel"] == (1, 1)


def test_a_scheduler_of_one_s_own_takes_part(root, tmp_path, capsys):
    scenario = str(root / "examples/own-scheduler/scenario.yaml")
    turns = f"turns={root / 'examples/own-scheduler/turns.py'}:Turns"
    asked = ["--port", "wan", "--aqm", "drr,fq-codel", "--runs", "2", "--scheduler", turns]
    more = ["--set", "measurement.duration=1 s", "--no-figures", "--quiet", "--format", "json"]
    assert main(["compare", scenario, *asked, *more, "--out", str(tmp_path / "c")]) in (0, 1, 3)
    found = json.loads(capsys.readouterr().out)
    assert [m["name"] for m in found["mechanisms"]] == ["as it is", "drr", "fq-codel"]


def test_axes_have_a_ranking_at_each_place():
    load = {"name": "calls", "set": "traffic[1].flow.count", "values": [1, 20]}
    found = spillgate.compare(line(axes=[load]), port="wan", aqm=["fq-codel"], runs=3)
    of = [r for r in found.rankings if (r.cls, r.metric) == ("voice", "owd_p99")]
    assert [r.at for r in of] == ["calls=1", "calls=20"]
    assert all(r.places[0].name.startswith("fq-codel") for r in of)


def test_it_is_said_that_mechanisms_are_made_for_one_rate_of_several():
    speed = {"name": "speed", "set": "topology.links.wan.rate", "values": ["5 Mb/s", "9 Mb/s"]}
    how = {"port": "wan", "aqm": ["codel"], "runs": 2}
    found = spillgate.compare(line(axes=[speed]), **how)
    assert found.port.rates == (5e6, 9e6)
    assert "for 5 Mb/s at all points, but axes have wan send at 5 Mb/s to 9" in found.remarks[0]
    assert found.to_dict()["remarks"] == list(found.remarks)
    assert not any("axes" in said for said in spillgate.compare(line(), **how).remarks)


def test_it_is_said_that_nothing_passes_the_port():
    made = line()
    made["topology"]["nodes"].append("nowhere")
    made["topology"]["links"]["idle"] = {"from": "a", "to": "nowhere", "rate": "1 Mb/s"}
    found = spillgate.compare(made, port="idle", aqm=["codel"], runs=2)
    assert found.remarks[0] == "no packet passes port idle in the measured period"


def test_runs_of_a_store_are_not_made_again(tmp_path):
    kept = []

    def report(p):
        kept.append(p.runs_kept)

    how = {"port": "wan", "runs": 2, "store": tmp_path, "progress": report}
    spillgate.compare(line(), aqm=["codel"], **how)
    assert kept[-1] == 0
    # The mechanism has another name, and one more takes part.
    again = spillgate.compare(line(), aqm=["fq-codel", "CODEL"], **how)
    assert kept[-1] == 4
    assert again.results.description.variants == ("as it is", "fq-codel", "CODEL")


def test_tuned_parameters_are_stated_and_no_worse():
    """The target of CoDel for 20 ms of the call's delay is shorter than usual."""
    pytest.importorskip("optuna")
    asked = line(sla=[{"class": "voice", "metric": "owd_p95", "max": "22 ms"}])
    how = {"port": "wan", "aqm": ["codel"], "runs": 3}
    usual = spillgate.compare(asked, **how)
    tuned = spillgate.compare(asked, **how, tune=16)
    stated = tuned.mechanisms[1].stated
    assert re.fullmatch(r"target [\d.]+ ms \(tuned, the best of 16 points\)", stated[0])
    assert not any(s.startswith("target 5 ms") for s in stated)
    target = tuned.mechanisms[1].policy["fifo"]["aqm"]["codel"]["target"]
    assert target == stated[0].split(" (")[0].removeprefix("target ")
    assert tuned.mechanisms[0] == usual.mechanisms[0]

    def delay(found):
        return found.results.value("codel", "class", "voice", "owd_p95").mean

    assert delay(tuned) < delay(usual)
    assert spillgate.compare(asked, **how, tune=16).mechanisms == tuned.mechanisms


def test_every_kind_has_knobs_that_can_be_turned():
    """All of them at once, at points of a random design."""
    design = {"random": {"points": 12}}
    for name in NAMES:
        m = mechanism(name, rate_bps=10e6)
        found = axes(m, "x")
        assert found or name == "flow-wfq", name
        if kind_of(name) in KNOBS:
            assert {a["name"] for a in found} == set(KNOBS[kind_of(name)])
        if not found:
            continue
        document = line(policies={"deep": dict(m.policy), "x": dict(m.policy)})
        document["topology"]["links"]["wan"]["policy"] = "x"
        spillgate.check({**document, "axes": found, "study": {"design": design}})


# The command line


def test_the_command(tmp_path, capsys):
    path = tmp_path / "s.yaml"
    path.write_text(json.dumps(line()))
    out = tmp_path / "out"
    arguments = [
        "compare",
        str(path),
        "--port",
        "wan",
        "--aqm",
        "codel,fq-codel",
        "--out",
        str(out),
    ]
    assert main([*arguments, "--runs", "3"]) == 0
    said = capsys.readouterr().out
    assert "Port wan, 5 Mb/s: 3 mechanisms × 3 runs, seed 1" in said
    assert "codel: limit 42 packets: what the line sends in the longest usual round trip" in said
    assert "voice: fq-codel is better than all others." in re.sub(r"\s+", " ", said)
    assert "Compared with as it is, run by run" in said
    found = json.loads((out / "compare.json").read_text())
    assert [m["name"] for m in found["mechanisms"]] == ["as it is", "codel", "fq-codel"]
    met = {"pass": 1, "fail": 0, "undecided": 0}
    assert found["mechanisms"][2]["requirements"] == {"all": met, "classes": {"voice": met}}
    drawn = {p.name for p in (out / "figures").iterdir()}
    assert {"queues.png", "queues.svg", "delays.png", "tradeoff-1.svg", "tradeoff-2.svg"} <= drawn
    report = (out / "report.html").read_text()
    assert 'id="ranking"' in report
    assert 'id="tradeoff"' in report
    # The same directory as of any run.
    loaded = spillgate.load(out)
    assert loaded.description.variants == ("as it is", "codel", "fq-codel")
    # Runs that are there are not made again.
    assert main([*arguments, "--runs", "4", "--force", "--format", "json", "--no-figures"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["runs"] == 4
    assert not (out / "figures").exists()


def test_the_command_takes_classes_and_times(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "class Mine:\n    def on_enqueue(self, p, q):\n        pass\n"
    )
    path = tmp_path / "s.yaml"
    path.write_text(json.dumps(line()))
    arguments = ["compare", str(path), "--port", "wan", "--aqm", "a=mine.py:Mine,codel"]
    more = ["--rtt", "200 ms", "--no-ecn", "--runs", "2", "--format", "json", "--no-figures"]
    assert main([*arguments, *more, "--out", "o", "--metric", "owd_p95"]) in (0, 1, 3)
    found = json.loads(capsys.readouterr().out)
    a, codel = found["mechanisms"][1:]
    assert a["policy"]["fifo"] == {"limit": "84 packets", "aqm": {"a": {}}}
    assert codel["policy"]["fifo"]["aqm"]["codel"] == {"target": "10 ms", "interval": "200 ms"}
    assert {r["metric"] for r in found["rankings"]} == {"owd_p95"}


# Bad input


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"aqm": ["codell"]}, "no mechanism is called 'codell'\n    hint: did you mean codel? "),
        ({"aqm": ["codel", "codel"]}, "codel is given twice"),
        ({"aqm": ["ared", "adaptive-red"]}, "adaptive-red is the same as ared"),
        ({"aqm": []}, "there is nothing to compare with as it is, which port wan has"),
        ({"aqm": ["deep"]}, "there is nothing to compare with deep"),
        (
            {"port": "wam"},
            "no port is called 'wam'\n    hint: did you mean wan? there are wan (a->b)",
        ),
        ({"port": "b->a"}, "wan.reverse has no policy"),
        ({"variant": "x"}, "there is no variant 'x'; there are none"),
        ({"metrics": ["offered"]}, "offered cannot be ranked"),
        ({"metrics": ["owd_p98"]}, "did you mean owd_p9"),
        ({"runs": 1}, "one run says nothing of how much runs differ"),
        ({"limit": "0 packets"}, "codel cannot stand in port wan:"),
        ({"rtt": 0.0}, "a round trip of 0.0 s: it is 1 µs to 100 s"),
    ],
)
def test_bad_input(how, said):
    with pytest.raises(InputError, match=re.escape(said)):
        spillgate.compare(line(), **{"port": "wan", "aqm": ["codel"], **how})


def test_an_axis_that_replaces_what_is_compared():
    axis = {"name": "policy", "set": "topology.links.wan.policy", "values": ["deep", "cake"]}
    with pytest.raises(
        InputError,
        match=r"codel cannot stand in port wan:\n.*both `variants` and `policy` set this",
    ):
        spillgate.compare(line(axes=[axis]), port="wan", aqm=["codel"])


def test_tuning_needs_requirements_and_no_axes():
    pytest.importorskip("optuna")
    with pytest.raises(InputError, match="there is nothing to meet"):
        spillgate.compare(line(sla=[]), port="wan", aqm=["codel"], tune=8)
    load = {"name": "calls", "set": "traffic[1].flow.count", "values": [1, 2]}
    with pytest.raises(InputError, match="not tuned at each place of axes"):
        spillgate.compare(line(axes=[load]), port="wan", aqm=["codel"], tune=8)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--aqm", "codel,,red"], "--aqm codel,,red: a name is empty"),
        (["--aqm", "codel", "--rtt", "40"], "--rtt 40 is no time"),
        (["--aqm", "codel", "--rtt", "1e300 s"], "--rtt 1e300 s: it is 1 µs to 100 s"),
        (["--aqm", "codel", "--rtt", "0 s"], "--rtt 0 s: it is 1 µs to 100 s"),
        (["--aqm", "x=nowhere:X"], "the module cannot be imported"),
    ],
)
def test_mistakes_on_the_command_line(root, capsys, arguments, said):
    assert main(["compare", str(root / HOME), "--port", "up", *arguments]) == 2
    assert said in capsys.readouterr().err
