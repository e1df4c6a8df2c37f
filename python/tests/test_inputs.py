"""Policies where packets arrive: from a router's configuration to results."""

import warnings

import browser
import pytest

import spillgate
from conftest import make_results
from spillgate import report
from spillgate.report.arrivals import gates

CONFIG = """\
class-map match-any PHONES
 match cos 5
class-map match-all GUESTS
 match input-interface Gi0/2
class-map match-any GOLD
 match qos-group 2
policy-map FROM-LAN
 class PHONES
  police cir 400000 bc 1000
   conform-action set-dscp-transmit ef
   conform-action set-qos-transmit 2
   exceed-action drop
policy-map WAN
 class GOLD
  priority percent 20
 class GUESTS
  bandwidth percent 10
interface GigabitEthernet0/1
 encapsulation dot1Q 10
 service-policy input FROM-LAN
interface GigabitEthernet0/2
interface Serial0/0
 bandwidth 10000
 service-policy output WAN
"""

SCENARIO = """\
schema_version: 1
topology:
  nodes: [phones, guests, ce, pe]
  links:
    lan: {from: ce, to: phones, rate: 100 Mb/s, duplex: true, dot1q: true}
    tag: {from: guests, to: ce, rate: 100 Mb/s}
    visitors: {from: ce, to: guests, rate: 100 Mb/s}
    wan: {from: ce, to: pe, rate: 10 Mb/s}
policies:
  unused: {fifo: {}}
configs:
  - ios: ce.cfg
    interfaces: {GigabitEthernet0/1: lan, GigabitEthernet0/2: visitors, Serial0/0: wan}
traffic:
  - flow: {name: voice, from: phones, to: pe, source: {cbr: {rate: 800 kb/s, packet: 200 B}}}
  - flow: {name: web, from: guests, to: pe, source: {cbr: {rate: 1 Mb/s, packet: 500 B}}}
measurement: {warmup: 0 s, duration: 4 s}
runs: {count: 2, seed: 1}
"""


@pytest.fixture
def scenario(tmp_path):
    (tmp_path / "ce.cfg").write_text(CONFIG, encoding="utf-8")
    path = tmp_path / "s.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


def value(results, scope, name, metric):
    (row,) = [r for r in results.table(scope=scope) if r.name == name and r.metric == metric]
    return row.mean


def test_a_configuration_polices_and_marks_what_arrives(scenario):
    # The reverse link of `lan` carries tags of CoS 0, as nothing sets one: no packet is a phone's.
    plain = spillgate.run(scenario)
    assert value(plain, "input", "lan.reverse/PHONES", "offered") == 0
    # An interface that is named for what comes in by it needs no policy.
    assert not [w for w in plain.description.warnings if "output service-policy" in w]
    # The one link from the guests is where their interface receives.
    assert value(plain, "queue", "wan/GUESTS", "carried") == pytest.approx(1e6, rel=1e-3)
    # With 0 for 5, half of 800 kb/s conforms; a bucket of 1000 B lets five packets more in.
    scenario.with_name("ce.cfg").write_text(CONFIG.replace("cos 5", "cos 0"), encoding="utf-8")
    policed = spillgate.run(scenario)
    let_in = value(policed, "input", "lan.reverse/PHONES", "carried")
    assert let_in == pytest.approx(400e3 + 1000 * 8 / 4, abs=2 * 200 * 8 / 4)
    lost = value(policed, "input", "lan.reverse/PHONES", "drops_policer")
    assert lost == pytest.approx((800e3 - let_in) * 4 / 8 / 200, abs=1)
    # All that is let in leaves by the priority queue.
    assert value(policed, "queue", "wan/GOLD", "carried") == pytest.approx(let_in, rel=0.01)


def test_a_refused_packet_names_the_class(scenario, cli):
    scenario.with_name("ce.cfg").write_text(CONFIG.replace("cos 5", "cos 0"), encoding="utf-8")
    done = cli("run", "s.yaml", "--out", "run")
    assert done.returncode == 0, done.stderr
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    phones, metered = [line for line in lines if line.startswith("lan.reverse/PHONES")]
    assert phones.startswith("lan.reverse/PHONES 800 kb/s 40")
    # Half of it is in profile.
    assert metered.startswith("lan.reverse/PHONES 800 kb/s ")
    assert " 50.2 % 49.8 % 0 % " in metered
    assert "lan.reverse/class-default 0 Mb/s 0 Mb/s 0" in lines
    done = cli("check", "s.yaml")
    assert "arriving: FROM-LAN" in done.stdout
    done = cli("explain", "run", "--flow", "voice", "--drops", "1")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "at the receiving end of lan.reverse, class PHONES: the policer had tokens" in said, (
        said
    )
    assert "(rate 400 kb/s, burst 1,000 B)" in said


@pytest.fixture
def in_variants(scenario):
    """All phones are policed in the first variant; in the second nothing is looked at."""
    config = CONFIG.replace("cos 5", "cos 0").replace("FROM-LAN\n class", "INNER\n class", 1)
    outer = "policy-map FROM-LAN\n class class-default\n  service-policy INNER\n"
    config = config.replace("policy-map WAN", outer + "policy-map OPEN\npolicy-map WAN")
    scenario.with_name("ce.cfg").write_text(config, encoding="utf-8")
    variants = """variants:
  - {name: policed, set: {topology.links.wan.delay: 1 ms}}
  - {name: open, set: {topology.links.tag.input_policy: OPEN}}
"""
    scenario.write_text(SCENARIO + variants, encoding="utf-8")
    return spillgate.run(scenario)


def test_the_report_shows_what_arrives(in_variants, tmp_path):
    shown, count = gates(in_variants)
    assert count == 3
    told = [(g.variant, g.link, g.node, g.policy) for g in shown]
    assert told == [
        ("policed", "lan.reverse", "ce", "FROM-LAN"),
        ("open", "lan.reverse", "ce", "FROM-LAN"),
        ("open", "tag", "ce", "OPEN"),
    ]
    outer, phones, rest = shown[0].classes
    assert [(c.depth, c.name) for c in (outer, phones, rest)] == [
        (0, "class-default"),
        (1, "PHONES"),
        (1, "class-default"),
    ]
    # A class that only contains others has no numbers.
    assert (outer.offered, outer.packets) == ("", "")
    assert phones.offered == "800 kb/s"
    assert phones.let_in == pytest.approx(0.5, abs=0.01)
    assert phones.offered_share == 1.0
    assert (rest.offered, rest.dropped) == ("0", "–")
    (all_of_it,) = shown[2].classes
    assert (all_of_it.dropped, all_of_it.packets) == ("0 %", "0")
    # The same from a directory.
    loaded = spillgate.load(in_variants.save(tmp_path / "run"))
    assert gates(loaded) == (shown, count)
    assert 'id="arrivals"' not in report.render(make_results())


def test_what_arrives_is_drawn_in_a_browser(in_variants, tmp_path):
    program = browser.find()
    if program is None:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.warn("SKIPPED: no Chromium for the report (set CHROMIUM)", stacklevel=1)
        pytest.skip("there is no Chromium: install it or set CHROMIUM")
    opened = browser.Browser(program, tmp_path / "profile")
    try:
        file = report.write(in_variants, tmp_path / "report.html")
        for width in (1280, 400):
            opened.open(file, width=width, height=900)
            assert opened.problems() == []
            assert opened.run("document.documentElement.scrollWidth") <= width
        bars = opened.run(
            "[...document.querySelectorAll('#arrivals rect.f0')]"
            ".map(r => [r.getBoundingClientRect().width,"
            " r.nextElementSibling.getBoundingClientRect().width])"
        )
        # Of the phones' packets half came in; the class behind is empty, the open one is full.
        (let_in, came), (nothing, _), *_, (all_in, all_came) = bars
        assert came > 100
        assert let_in / came == pytest.approx(0.5, abs=0.02)
        assert nothing == 0
        assert all_in == pytest.approx(all_came, rel=0.02)
        texts = opened.run("document.querySelector('#arrivals table').innerText")
        assert "policed: policy FROM-LAN for what arrives at ce over lan.reverse" in texts
        assert opened.run("document.querySelector('nav a[href=\"#arrivals\"]').innerText")
    finally:
        opened.close()
