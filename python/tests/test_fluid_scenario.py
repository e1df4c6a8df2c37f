"""Fluid models read from scenarios."""

import json
import math
import re
import statistics
import subprocess
import sys

import pytest

import spillgate
from spillgate.analysis import fluid
from spillgate.cli import main

RED = {"min_th": 20, "max_th": 80, "max_p": 0.1, "weight": 0.002, "spread": "none"}
TCP = {"cc": "newreno", "mss": "948 B"}


def world(aqm, flows=None, **more):
    """The page's scenario: 1250 packets of 1000 B a second, 100 ms of propagation."""
    flows = flows or [("f", 10, "49 ms", TCP)]
    links = {
        "out": {"from": "r", "to": "b", "rate": "10 Mb/s", "delay": "1 ms", "policy": "P"},
        "back": {"from": "b", "to": "r", "rate": "1 Gb/s", "delay": "1 ms"},
    }
    for name, _, delay, _ in flows:
        links[f"in-{name}"] = {"from": name, "to": "r", "rate": "1 Gb/s", "delay": delay}
        links[f"in-{name}"]["duplex"] = True
    policy = aqm if isinstance(aqm, dict) and "fifo" in aqm else None
    policy = policy or {"fifo": {"limit": "1000 packets", **({"aqm": aqm} if aqm else {})}}
    return {
        "schema_version": 1,
        "topology": {"nodes": [n for n, *_ in flows] + ["r", "b"], "links": links},
        "policies": {"P": policy},
        "traffic": [
            {"flow": {"name": n, "count": count, "from": n, "to": "b", "tcp": tcp}}
            for n, count, _, tcp in flows
        ],
        "measurement": {"duration": "10 s"},
        **more,
    }


def one(*args, **more):
    [loop] = fluid.from_scenario(world(*args, **more))
    return loop


TRIP = 0.1 + 1e-6 * (8 + 800) + 52 * 8e-9 * 2
"""Propagation, a packet of 1000 B at 1 Gb/s and 10 Mb/s, and 52 B back over two links."""


def test_a_loop_is_the_model_that_one_would_write():
    loop = one({"red": RED})
    assert (loop.link, loop.aqm, loop.packet, loop.notes) == ("out", "red", 1000, ())
    [(count, trip)] = loop.round_trips
    assert count == 10
    assert trip == pytest.approx(TRIP, rel=1e-9)
    red = fluid.Red(20, 80, 0.1, 0.002)
    expected = fluid.Model(10, 1250, loop.model.rtt, red, limit=1000)
    assert loop.model == expected
    assert loop.model.rtt == pytest.approx(TRIP, rel=1e-9)


@pytest.mark.parametrize(
    ("aqm", "law"),
    [
        ({"red": {}}, fluid.Red(5, 15, 0.1, 0.002, spread="per-packet")),
        (
            {"red": {"as": "linux"}},
            fluid.Red(5, 15, 0.02, 0.002, gentle=False, spread="per-gap"),
        ),
        (
            {"red": {"as": "ns2", "size_scaling": "none"}},
            fluid.Red(2.5, 7.5, 0.1, 0.002, spread="per-packet", wait=True),
        ),
        ({"dsred": {}}, fluid.Dsred()),
        ({"dsred": {"spread": True, "gamma": 0.9}}, fluid.Dsred(gamma=0.9, spread=True)),
        ({"pie": {"target": "20 ms", "derandomize": False}}, fluid.Pie(target=0.02)),
    ],
)
def test_laws_are_those_of_the_aqm(aqm, law):
    loop = one(aqm)
    assert loop.model.aqm == law
    assert loop.notes == ()


def test_connections_that_differ_count_as_alike_ones():
    quick = {**TCP, "cc": "cubic"}
    loop = one({"red": RED}, [("f", 3, "49 ms", TCP), ("g", 6, "24 ms", quick)])
    (near, short), (far, long) = loop.round_trips
    assert (near, far) == (6, 3)
    assert (short, long) == pytest.approx((TRIP - 0.05, TRIP), rel=1e-9)
    assert loop.model.flows == 9
    assert loop.model.rtt == pytest.approx(9 / (6 / short + 3 / long), rel=1e-12)
    trips, cubic = loop.notes
    assert trips.startswith("round trips of 50.81 to 100.8 ms count as 60.87 ms")
    assert cubic == "6 connections with `cubic` count as Reno"


def test_delayed_acknowledgments_slow_windows_down():
    quick = {"cc": "newreno", "mss": "948 B", "profile": "ns2"}
    slow = {**quick, "delayed_ack": {"timeout": "200 ms", "every": 2}}
    assert one({"red": RED}, [("f", 10, "49 ms", quick)]).model.increase == 1
    assert one({"red": RED}, [("f", 10, "49 ms", slow)]).model.increase == pytest.approx(0.5)
    # RFC 3465: bytes are counted.
    counted = {**TCP, "delayed_ack": {"timeout": "200 ms", "every": 2}}
    assert one({"red": RED}, [("f", 10, "49 ms", counted)]).model.increase == 1
    mixed = one({"red": RED}, [("f", 5, "49 ms", slow), ("g", 5, "49 ms", quick)])
    # Windows are as the roots of the growth.
    root = (math.sqrt(0.5) + 1) / 2
    assert mixed.model.increase == pytest.approx(root * root)


def test_small_windows_are_told():
    small = {**TCP, "max_window": "9480 B"}
    loop = one({"red": RED}, [("f", 4, "49 ms", small), ("g", 6, "49 ms", TCP)])
    window = loop.model.operating_point().window
    assert window > 10
    text = "4 connections have windows of at most 10 packets, less than the model's"
    assert loop.notes == (f"{text} {window:.4g}",)


def test_adaptive_red_is_taken_where_it_rests():
    adaptive = {"min_th": 20, "max_th": 80, "weight": 0.002}
    loop = one({"adaptive-red": adaptive}, [("f", 20, "49 ms", TCP)])
    red = loop.model.aqm
    [note] = loop.notes
    assert note == f"max_p, 0.1 at first, is taken where it comes to rest, {red.max_p:.4g}"
    # 20 connections need less than it drops in the middle: the average rests at the lower end.
    assert 0.01 < red.max_p < 0.1
    assert loop.model.operating_point().measure == pytest.approx(20 + 0.4 * 60)


def test_where_adaptive_red_rests():
    def rest(flows, max_p, **red):
        model = fluid.Model(flows, 1250, 0.1, fluid.Red(20, 80, max_p, 0.002, **red))
        found = fluid.adapted(model)
        return found.aqm.max_p, (found.operating_point().measure - 20) / 60

    for red in ({}, {"spread": "per-packet"}, {"spread": "per-gap", "wait": True}):
        for flows in (10, 20, 30):
            for first in (0.01, 0.05, 0.2, 0.5):
                p, place = rest(flows, first, **red)
                # At rest: in the middle, or at an end of the range of max_p.
                assert 0.4 - 1e-9 <= place <= 0.6 + 1e-9 or p in (0.01, 0.5), (flows, first)
                # The nearest: it moved only as far as it had to.
                if p < first:
                    assert place == pytest.approx(0.4, abs=1e-9) or p == 0.01
                elif p > first:
                    assert place == pytest.approx(0.6, abs=1e-9) or p == 0.5
    # Few connections hardly need drops, many need more than a half.
    assert rest(2, 0.1)[0] == 0.01
    assert rest(100, 0.1)[0] == 0.5
    switch = fluid.Switch(16, 1.1, nu=0.5)
    model = fluid.Model(20, 1250, 0.1, fluid.Red(50, 450, 0.2, 0.001), switch=switch)
    at = fluid.adapted(model).operating_point().measure
    assert at == pytest.approx(50 + 0.4 * 400)
    with pytest.raises(spillgate.InputError, match=r"aqm: 'Pi': must be Red"):
        fluid.adapted(fluid.Model(20, 1250, 0.1, fluid.Pi()))


def behind_a_switch(nu, speedup="2", fabric="parallel", flows=20):
    """Connections from three of four hosts over a switch of 4 ports, RED at its output."""
    links = {}
    for n in range(4):
        links[f"in{n}"] = {"from": f"h{n}", "to": "sw", "rate": "10 Mb/s", "delay": "24 ms"}
        links[f"in{n}"]["duplex"] = True
    links["out"] = {"from": "sw", "to": "b", "rate": "10 Mb/s", "delay": "1 ms", "policy": "P"}
    links["back"] = {"from": "b", "to": "sw", "rate": "1 Gb/s", "delay": "1 ms"}
    switch = {"architecture": "cioq", "speedup": speedup, "fabric": {fabric: {}}}
    switch |= {"inputs": [f"in{n}" for n in range(4)], "outputs": ["out"]}
    if nu is not None:
        switch["congestion_measure"] = {"nu": nu}
    return {
        "schema_version": 1,
        "topology": {
            "nodes": [*(f"h{n}" for n in range(4)), {"name": "sw", "switch": switch}, "b"],
            "links": links,
        },
        "policies": {"P": {"fifo": {"limit": "500 packets", "aqm": {"red": RED}}}},
        "traffic": [
            {
                "flow": {
                    "name": f"f{n}",
                    "count": flows // 4,
                    "from": f"h{n}",
                    "to": "b",
                    "tcp": TCP,
                }
            }
            for n in range(3)
        ],
        "measurement": {"duration": "10 s"},
    }


def test_a_switch_is_part_of_the_loop():
    for nu in (None, 0.5):
        [loop] = fluid.from_scenario(behind_a_switch(nu))
        switch = loop.model.switch
        assert switch == fluid.Switch(4, 2, nu or 0.0, inputs=3)
        assert loop.notes == ()
    [loop] = fluid.from_scenario(behind_a_switch(0.5, fabric="crossbar"))
    assert loop.notes == (
        "the crossbar is taken as parallel links, without the blocking of its matching",
    )


def test_margins_over_a_grid_are_those_of_each_model():
    red = fluid.Red(50, 450, 0.2, 0.001)
    model = fluid.Model(20, 1250, 0.1, red, switch=fluid.Switch(16, 1.1))
    grid = fluid.margins_over(model, nu=(0, 0.5), flows=(10, 40), rtt=(0.05, 0.2))
    first = [(m.nu, m.flows, m.rtt) for m in grid[:3]]
    assert first == [(0, 10, 0.05), (0, 10, 0.2), (0, 40, 0.05)]
    assert len(grid) == 8
    for m in grid:
        switch = fluid.Switch(16, 1.1, nu=m.nu)
        one = fluid.Model(m.flows, 1250, m.rtt, red, switch=switch)
        assert m.margins == one.margins()
        assert m.point == one.operating_point()
        assert m.cells()[:3] == (m.nu, m.flows, m.rtt * 1e3)
    # More connections, shorter round trips and a larger weight of the VOQs make it more stable.
    gain = {(m.nu, m.flows, m.rtt): m.margins.gain for m in grid}
    for nu, flows, rtt in gain:
        assert gain[nu, 40, rtt] > gain[nu, 10, rtt]
        assert gain[nu, flows, 0.05] > gain[nu, flows, 0.2]
        assert gain[0.5, flows, rtt] > gain[0, flows, rtt]
    [none] = fluid.margins_over(fluid.Model(400, 1250, 0.01, fluid.Red(5, 15, 0.02, 0.002)))
    assert none.point is None
    assert none.why.startswith("no operating point: not even")
    assert all(math.isnan(c) for c in none.cells()[3:])
    with pytest.raises(spillgate.InputError, match="nu: needs a switch"):
        fluid.margins_over(fluid.Model(20, 1250, 0.1, red), nu=[1])


@pytest.mark.parametrize(
    ("aqm", "words"),
    [
        (None, "no link that endless TCP connections cross has an AQM"),
        ({"fifo": {}}, "no link that endless TCP connections cross has an AQM"),
        ({"codel": {}}, "link 'out' has `codel`, whose law the model does not have"),
        ({"fifo": {"aqm": {"green": {}}}}, "link 'out' has `green`"),
        ({"self-configuring-red": {}}, "link 'out' has `self-configuring-red`"),
    ],
)
def test_why_there_is_no_loop(aqm, words):
    with pytest.raises(spillgate.InputError, match="no control loop: ") as error:
        fluid.from_scenario(world(aqm))
    assert words in str(error.value)
    assert "link 'back'" not in str(error.value)


def test_what_is_asked_for_has_to_be_there():
    other = {"name": "b", "set": {"policies.P.fifo.aqm": {"codel": {}}}}
    red = world({"red": RED}, variants=[{"name": "a", "set": {}}, other])
    assert [loop.variant for loop in fluid.from_scenario(red)] == ["a"]
    for asked, words in (
        ({"variant": "c"}, r"variant: 'c': there is no such variant; there are a, b"),
        ({"link": "x"}, r"link: 'x': there is no such link; there are "),
        ({"link": "back"}, r"no endless TCP connection crosses link 'back'"),
        ({"variant": "b"}, r"`codel`"),
    ):
        with pytest.raises(spillgate.InputError, match=words):
            fluid.from_scenario(red, **asked)
    loops = fluid.from_scenario(red, link="out", set={"topology.links.out.rate": "20 Mb/s"})
    assert [round(loop.model.capacity) for loop in loops] == [2500]


@pytest.fixture
def written(tmp_path):
    def write(scenario):
        path = tmp_path / "scenario.yaml"
        path.write_text(json.dumps(scenario), encoding="utf-8")
        return str(path)

    return write


def test_the_command_says_what_the_models_say(written, capsys):
    path = written(world({"red": RED}))
    assert main(["fluid", path, "--format", "json"]) == 0
    [record] = json.loads(capsys.readouterr().out)
    [loop] = fluid.from_scenario(path)
    at, margins = loop.model.operating_point(), loop.model.margins()
    assert record["operating_point"]["queue"] == at.queue
    assert record["margins"]["gain"] == margins.gain
    assert not record["margins"]["stable"]
    swing = record["oscillation"]
    assert swing["lasting"]
    assert main(["fluid", path, "--set", "policies.P.fifo.aqm.red.weight=0.0001"]) == 0
    slow = capsys.readouterr().out
    assert main(["fluid", path]) == 0
    shown = capsys.readouterr().out
    assert shown != slow
    [line] = [x for x in shown.splitlines() if x.startswith("out ")]
    numbers = (at.queue, 1), (at.window, 1), (margins.gain, 2), (margins.phase, 1)
    assert line.split()[4:8] == [f"{value:.{decimals}f}" for value, decimals in numbers]
    assert f"{swing['frequency']:.2f} Hz, {swing['low']:.0f} to {swing['high']:.0f}" in line


def test_the_command_tells_of_switches_and_of_loops_without_equilibrium(written, capsys):
    assert main(["fluid", written(behind_a_switch(0.5))]) == 0
    assert re.search(r"queue +VOQs +window", capsys.readouterr().out)
    jumps = {"red": {**RED, "gentle": False, "max_p": 0.0001}}
    path = written(world(jumps))
    assert main(["fluid", path]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "no equilibrium: no operating point: at 80 packets" in shown
    assert main(["fluid", path, "--format", "json"]) == 0
    [record] = json.loads(capsys.readouterr().out)
    assert record["margins"] is None
    assert record["why"].startswith("no operating point")


def test_the_command_refuses_what_has_no_loop(written, capsys):
    assert main(["fluid", written(world(None))]) == 2
    assert "no control loop: no link that endless TCP" in capsys.readouterr().err
    assert main(["fluid", written(world(None)), "--link", "out"]) == 2
    assert "no control loop: link 'out' has no AQM" in capsys.readouterr().err


def test_without_scipy_the_command_says_the_way_to_it(written):
    code = (
        "import sys\n"
        "sys.modules['scipy'] = None\n"
        "from spillgate.cli import main\n"
        f"sys.exit(main(['fluid', {written(world({'red': RED}))!r}]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "pip install 'spillgate[analysis]'" in done.stderr


def test_a_weight_steadies_a_simulated_switch(root):
    """The page's switch: the loop is unstable at nu = 0, and stable at nu = 1.

    A sine between the predicted ends has a deviation of its amplitude over the root of 2; the
    simulated one is at least half of that. Bursts of windows lengthen VOQs, so that less waits at
    the simulated output, and chance moves the stable one.
    """

    def of(nu):
        text = (root / "docs/howto/fluid.md").read_text(encoding="utf-8")
        page = re.findall(r"```yaml\n(schema_version.*?)```", text, re.DOTALL)
        changes = {"topology.nodes.1.switch.congestion_measure.nu": nu}
        results = spillgate.run(page[1], runs=2, series="all", set=changes)
        [loop] = fluid.from_scenario(page[1], set=changes)
        wanted = ("out/fifo", "backlog_packets")
        series = [s for s in results.series() if (s.where, s.metric) == wanted]
        queues = [statistics.fmean(s.v[5000:]) for s in series]
        deviations = [statistics.pstdev(s.v[5000:]) for s in series]
        assert len(queues) == 2
        return loop.model.oscillation(), statistics.fmean(queues), statistics.fmean(deviations)

    (swings, long, far), (rests, short, near) = of(0), of(1)
    assert swings.lasting
    assert not rests.lasting
    assert far > swings.amplitude / 8**0.5
    assert near < far / 1.5
    assert short < long
    assert 0.5 * swings.mean < long < swings.mean
    assert 0.5 * rests.mean < short < rests.mean
