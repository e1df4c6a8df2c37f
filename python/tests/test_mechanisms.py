"""Mechanisms by name, and what they are on a line."""

import json
import re

import pytest

import spillgate
from spillgate import mechanisms
from spillgate.errors import InputError
from spillgate.mechanisms import CLASSFUL, NAMES, kind_of, mechanism, with_mechanism


def scenario(rate):
    """Four uploads and a call on a line."""
    return {
        "schema_version": 1,
        "name": "a line",
        "topology": {
            "nodes": ["a", "b"],
            "links": {
                "wan": {"from": "a", "to": "b", "rate": rate, "delay": "10 ms"},
                "back": {"from": "b", "to": "a", "rate": rate, "delay": "10 ms"},
            },
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
            }
        ],
        "measurement": {"warmup": "0.2 s", "duration": "0.5 s", "interval": "0.1 s"},
        "runs": {"count": 1},
    }


def aqm(found):
    [(name, parameters)] = found.policy["fifo"]["aqm"].items()
    return name, parameters


def test_every_kind_of_the_catalog_has_a_name():
    known = spillgate.catalog()
    every = {str(e["kind"]) for f in ("disciplines", "aqm") for e in known[f]}
    assert {kind_of(name) for name in NAMES} == every - set(CLASSFUL)
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("rate", ["256 kb/s", "10 Mb/s", "10 Gb/s"])
def test_every_mechanism_can_stand_on_any_line(rate):
    bps = {"256 kb/s": 256e3, "10 Mb/s": 10e6, "10 Gb/s": 10e9}[rate]
    for name in NAMES:
        for rtt, ecn in ((None, True), (0.4, False), (0.001, None)):
            found = mechanism(name, rate_bps=bps, rtt_s=rtt, ecn=ecn)
            assert found.stated, name
            document = with_mechanism(scenario(rate), "wan", found)
            described = spillgate.check(document)
            assert not [w for w in described.warnings if "policies" in str(w)], name


def test_each_parameter_that_is_set_is_stated_once():
    for name in NAMES:
        found = mechanism(name, rate_bps=20e6, rtt_s=0.25)
        keys = [s.split()[0].rstrip(":") for s in found.stated]
        assert len(keys) == len(set(keys)), (name, keys)
        [values] = found.policy.values()
        inner = dict(*values.get("aqm", {"": {}}).values())
        for key in (*(k for k in values if k != "aqm"), *inner):
            assert key in keys, (name, key)


def test_thresholds_of_red_follow_the_line():
    """By hand: 100 Mb/s send 125 small packets in 5 ms, and 25,000 in a second."""
    kind, red = aqm(mechanism("red", rate_bps=100e6))
    assert kind == "red"
    assert (red["min_th"], red["max_th"]) == (62, 186)
    assert red["weight"] == pytest.approx(1 / 25_000, rel=1e-3)
    # Below 8 Mb/s these are 5 packets, which RED has by itself.
    low = aqm(mechanism("red", rate_bps=1e6))[1]
    assert (low["min_th"], low["max_th"]) == (5, 15)


def test_a_fifo_holds_a_round_trip_and_no_less_than_red_needs():
    def limit(**how):
        return mechanism("fifo", **how).policy["fifo"]["limit"]

    # 100 Mb/s times 100 ms are 833.3 packets of 1500 B.
    assert limit(rate_bps=100e6) == "834 packets"
    assert limit(rate_bps=100e6, rtt_s=0.2) == "1667 packets"
    assert limit(rate_bps=100e6, rtt_s=0.001) == "372 packets"
    assert limit(rate_bps=1e6) == "30 packets"
    assert limit(rate_bps=100e6, limit=7) == "7 packets"
    assert limit(rate_bps=100e6, limit="250 ms") == "250 ms"


def test_codel_waits_for_a_round_trip_and_never_for_less_than_a_packet():
    codel = aqm(mechanism("codel", rate_bps=100e6))[1]
    assert codel == {"ecn": True}
    far = aqm(mechanism("codel", rate_bps=100e6, rtt_s=0.6))[1]
    assert (far["target"], far["interval"]) == ("30 ms", "600 ms")
    # 1514 B take 12.112 ms at 1 Mb/s, and 121.12 ms at 100 kb/s.
    assert aqm(mechanism("codel", rate_bps=1e6))[1]["target"] == "18.17 ms"
    slow = aqm(mechanism("codel", rate_bps=100e3))[1]
    assert (slow["target"], slow["interval"]) == ("181.7 ms", "363.4 ms")


def test_the_linter_has_nothing_to_say_of_codel_on_a_slow_line(tmp_path):
    """SG-A008 warns of targets that are shorter than a packet."""

    def codes(policy):
        found = mechanism("fq-codel", rate_bps=1e6)
        document = with_mechanism(scenario("1 Mb/s"), "wan", found)
        document["policies"]["fq-codel"] = policy or document["policies"]["fq-codel"]
        path = tmp_path / "s.yaml"
        path.write_text(json.dumps(document))
        return {f.id for f in spillgate.lint(path).found}

    assert "SG-A008" not in codes(None)
    assert "SG-A008" in codes({"fq-codel": {}})


def test_dualpi2_follows_the_rule_of_its_document_for_a_round_trip():
    """RFC 9332, A.1: alpha = 0.1 Tupdate / RTT_max², beta = 0.3 / RTT_max."""
    found = mechanism("dualpi2", rate_bps=100e6, rtt_s=0.03).policy["dualpi2"]
    assert found["update"] == "10 ms"
    assert found["alpha"] == pytest.approx(0.1 * 0.01 / 0.03**2, rel=1e-3)
    assert found["beta"] == pytest.approx(10)
    assert mechanism("dualpi2", rate_bps=100e6).policy == {"dualpi2": {}}


def test_without_a_line_there_are_the_defaults_of_the_kind():
    assert mechanism("red", rate_bps=None, ecn=None, limit=9).policy == {
        "fifo": {"limit": "9 packets", "aqm": {"red": {}}}
    }
    assert mechanism("cake", rate_bps=None, limit=9).policy == {
        "cake": {"memory_limit": "13500 B"}
    }


def test_an_aqm_of_one_s_own_stands_where_others_do():
    found = mechanism("mine", rate_bps=100e6, own=["mine"], parameters={"target": 0.1})
    assert found.policy == {"fifo": {"limit": "834 packets", "aqm": {"mine": {"target": 0.1}}}}
    assert found.stated[1] == "target 0.1 (as asked)"
    # It may have the name of a kind, which it then hides.
    assert aqm(mechanism("red", rate_bps=1e6, own=["red"]))[1] == {}


def test_what_is_replaced():
    document = scenario("10 Mb/s")
    document["policies"] = {"codel": {"fifo": {}}}
    made = with_mechanism(document, "a->b", mechanism("codel", rate_bps=10e6))
    assert made["topology"]["links"]["wan"]["policy"] == "codel-2"
    assert "policy" not in made["topology"]["links"]["back"]
    assert made["policies"]["codel"] == {"fifo": {}}
    assert "policy" not in document["topology"]["links"]["wan"]


# Bad input


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("fq-coddel", "did you mean fq-codel? "),
        ("htb", "htb is nothing without classes: write it as a policy of the scenario"),
        ("xyzzy", "there are fifo, "),
    ],
)
def test_names_that_are_none(name, said):
    with pytest.raises(InputError, match=re.escape(said)):
        mechanism(name, rate_bps=1e6)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"rate_bps": 0.0}, "its rate is above 0"),
        ({"rate_bps": 1e6, "rtt_s": -1.0}, "a round trip of -1.0 s"),
        ({"rate_bps": 1e6, "limit": "250 ms"}, "in packets or bytes, not 250 ms"),
    ],
)
def test_numbers_that_make_no_sense(how, said):
    with pytest.raises(InputError, match=re.escape(said)):
        mechanism("cake", **how)


@pytest.mark.parametrize(
    ("port", "said"),
    [
        ("wam", "did you mean wan? there are wan (a->b), back (b->a)"),
        ("a->c", "no port is called 'a->c'"),
        ("wan.reverse", "it is the other direction of a duplex link"),
        ("b->a", "b->a is several ports: back, wan.reverse"),
    ],
)
def test_ports_that_cannot_have_it(port, said):
    document = scenario("10 Mb/s")
    document["topology"]["links"]["wan"]["duplex"] = True
    with pytest.raises(InputError, match=re.escape(said)):
        with_mechanism(document, port, mechanism("cake", rate_bps=10e6))


def test_the_module_says_where_its_numbers_come_from():
    for source in ("RFC 7928", "adaptive RED", "CAKE"):
        assert source in str(mechanisms.__doc__)
