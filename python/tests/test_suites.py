"""Suites: every section runs, tables and pages say what was measured, bad input is refused."""

import importlib.util
import json
import math
import re
import sys
from dataclasses import replace
from statistics import fmean, stdev

import own_aqms
import pytest

import spillgate
from spillgate import suites
from spillgate.cli import main
from spillgate.cli.suite import compared
from spillgate.report import suite as page
from spillgate.report.ellipses import ellipse
from spillgate.suites import Measure
from spillgate.suites.runner import scheduled

EVERY = [
    pytest.param(name, section, id=f"{name}-{section.number}")
    for name, of in suites.suites().items()
    for section in of.runnable
]


@pytest.mark.parametrize(("name", "section"), EVERY)
def test_every_section_runs_in_a_short_form(name, section):
    suite = suites.named(name)
    some = {suite.kind: suite.compared[-2:]}
    found = spillgate.suite(name, **some, sections=[section.number], quick=True, runs=1)
    [done] = found.sections
    described = done.results.description
    assert described.name == section.title
    # With an axis not every case has every flow, but each measure has something somewhere.
    for measure in section.measures:
        values = [
            v for c in done.cases for of in found.compared for v in done.values(measure, c, of)
        ]
        assert any(v is not None for v in values), measure.text
        assert measure.unit
    if section.series:
        assert page.over_time(found, done) is not None
    if section.ellipse:
        figure = page.trade_off(found, done)
        assert figure is not None
        assert len(figure.panels) == len(done.cases)


@pytest.mark.parametrize("name", suites.suites())
def test_an_index_and_its_folder_have_the_same_sections(name):
    suite = suites.named(name)
    folder = next(s.scenario.parent for s in suite.runnable)
    assert {p.stem for p in folder.iterdir()} == {s.number for s in suite.runnable}
    numbers = [s.number for s in suite.sections]
    assert len(set(numbers)) == len(numbers)
    for s in suite.sections:
        # What is not run says why, and what is run measures something.
        assert s.scenario is not None or s.left_out
        assert (s.scenario is None) == (not s.measures)
        assert len(set(s.measures)) == len(s.measures)


def test_congestion_levels_are_those_of_the_rfc():
    # Section 8.2.1: flows as shares of the product of bandwidth and delay, in full packets.
    product = 50e6 * 0.1 / 8 / 1500
    for number, share in (("8.2.2", 0.036), ("8.2.3", 0.081), ("8.2.4", 0.114)):
        section = next(s for s in suites.named("rfc7928").sections if s.number == number)
        described = spillgate.check(section.scenario)
        assert described.flows == round(share * product)


def test_all_mechanisms_see_the_same_arrivals_and_get_their_own_queue():
    found = spillgate.suite("rfc7928", aqm=["fifo", "codel"], sections=["5.3"], quick=True, runs=1)
    done = found.section("5.3")
    offered = Measure.of("class.udp.packets_sent")
    case = "UDP of 12 Mb/s alone"
    assert done.values(offered, case, "fifo") == done.values(offered, case, "codel")
    wait = Measure.of("link.down.sojourn_mean")
    assert done.values(wait, case, "fifo")[0] > 1.2 * done.values(wait, case, "codel")[0]
    assert any("target 5 ms" in said for said in done.stated["codel"])


def test_an_aqm_of_ones_own_gives_what_the_built_in_one_gives():
    found = spillgate.suite(
        "rfc7928",
        aqm=["codel", "mine"],
        own={"mine": own_aqms.Codel},
        sections=["5.1.1", "4.6"],
        quick=True,
    )
    for done, measure, case, (built_in, mine) in found.rows():
        assert built_in == mine, (done.section.number, measure.text, case)
    assert "own_aqms:Codel, version 1" in found.own["mine"]


def test_of_several_queues_means_are_over_packets_and_counts_add_up():
    text = """
schema_version: 1
topology:
  nodes: [a, b]
  links:
    wan: {from: a, to: b, rate: 1 Mb/s, policy: CB}
policies:
  CB:
    class-based:
      classes:
        - {name: voice, match: {dscp: ef}, priority: {rate: 20 %}}
        - {name: class-default, queue_limit: 20 packets}
traffic:
  - {flow: {name: v, dscp: ef, from: a, to: b, source: {cbr: {rate: 100 kb/s, packet: 200 B}}}}
  - {flow: {name: d, from: a, to: b, source: {poisson: {rate: 1.2 Mb/s, packet: 1000 B}}}}
measurement: {warmup: 0 s, duration: 10 s}
runs: {count: 1}
"""
    results = spillgate.run(text)
    variant = results.description.variants[0]

    def queues(metric):
        rows = results.table(scope="queue", metric=metric)
        return {r.name: r.mean for r in rows if r.name.startswith("wan/")}

    came, lost, waits = map(queues, ("packets_offered", "packets_lost", "sojourn_mean"))
    assert len(came) == 2
    assert len({round(w, 6) for w in waits.values()}) == 2
    [mean] = Measure.of("link.wan.sojourn_mean").values(results, variant)
    assert mean == pytest.approx(sum(waits[q] * came[q] for q in came) / sum(came.values()))
    [loss] = Measure.of("link.wan.loss_ratio").values(results, variant)
    assert loss == pytest.approx(sum(lost.values()) / sum(came.values()))
    [largest] = Measure.of("link.wan.sojourn_max").values(results, variant)
    assert largest == max(queues("sojourn_max").values())
    [ratio] = Measure.of("class.d.throughput / class.v.throughput").values(results, variant)
    of = {r.name: r.mean for r in results.table(scope="class", metric="throughput")}
    assert ratio == pytest.approx(of["d"] / of["v"])


def test_an_ellipse_has_the_moments_of_its_points():
    points = [(1.0, 5.0), (2.0, 3.0), (4.0, 4.0), (7.0, 1.0)]
    outline = ellipse(points)
    for axis in (0, 1):
        values = [p[axis] for p in points]
        ends = [p[axis] for p in outline]
        # It touches mean ± deviation on both axes, up to the distance of its corners.
        assert max(ends) == pytest.approx(fmean(values) + stdev(values), rel=3e-3)
        assert min(ends) == pytest.approx(fmean(values) - stdev(values), abs=3e-2)
    on_a_line = ellipse([(1.0, 2.0), (3.0, 6.0)])
    assert all(y == pytest.approx(2 * x) for x, y in on_a_line)
    assert ellipse([(1.0, 2.0)]) == []


def test_a_scheduled_mechanism_keeps_its_own_scheduler():
    from spillgate.mechanisms import mechanism

    for name in ("fq-codel", "cake", "dualpi2"):
        of = mechanism(name, rate_bps=10e6)
        assert scheduled(of) == dict(of.policy)
    assert scheduled(mechanism("fifo", rate_bps=10e6)) == {"fq": {}}


def test_the_command_makes_a_page_and_a_run_directory_for_each_section(tmp_path, capsys):
    out = tmp_path / "out"
    asked = ["--section", "5.1.1", "--section", "8.2.6", "--aqm", "codel,pie", "--quick"]
    assert main(["suite", "rfc7928", *asked, "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert re.search(r"^5\.1\.1 .*down mean sojourn \(ms\)", said, re.MULTILINE)
    assert "down utilization" not in said
    text = (out / "index.html").read_text(encoding="utf-8")
    assert 'href="5.1.1/report.html"' in text
    assert 'id="f8-2-6-time"' in text
    assert 'href="#f5-1-1-trade"' in text
    assert "there is no LEDBAT" in text
    assert "not asked for" in text
    assert (out / "8.2.6/report.html").is_file()
    again = spillgate.load(out / "5.1.1")
    saved = json.loads((out / "suite.json").read_text(encoding="utf-8"))
    row = next(r for r in saved["rows"] if r["measure"] == "class.bulk.goodput")
    assert row["section"] == "5.1.1"
    assert row["values"]["pie"]["mean"] == pytest.approx(
        again.value("pie", "class", "bulk", "goodput").mean
    )
    # The same again needs no run.
    assert (
        main(["suite", "rfc7928", *asked, "--out", str(out), "--force", "--format", "json"]) == 0
    )
    document = json.loads(capsys.readouterr().out)
    assert {k: v for k, v in saved.items() if k != "format"} == document


def test_nothing_is_cut_off_in_a_narrow_terminal(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    asked = ["--quick", "--runs", "2", "--section", "1", "--aqm", "codel,fq-codel,cake,pie"]
    assert main(["suite", "bufferbloat", *asked, "--all", "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines()[:20])) <= 60
    assert "…" not in said


def test_own_aqms_stand_among_names(monkeypatch, root):
    monkeypatch.chdir(root / "python/tests")
    names, own = compared(["codel, mine=own_aqms:Red", "pie"])
    assert names == ["codel", "mine", "pie"]
    assert own["mine"].__name__ == "Red"


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["rfc792"], "there is no suite 'rfc792'; there are"),
        (["rfc7928", "--section", "99"], "rfc7928 has no section '99'; it runs 4.4, "),
        (["rfc7928", "--section", "5.4"], "5.4 of rfc7928 is not run: there is no LEDBAT"),
        (["rfc7928", "--aqm", "codle"], "did you mean codel?"),
        (["rfc7928", "--aqm", "codel,codel"], "'codel' is given twice"),
        (["rfc7928", "--tcp", "cubic"], "say which with --aqm"),
        (["rfc9743", "--aqm", "codel"], "say which with --tcp"),
        (["rfc9743", "--tcp", "cubik"], "did you mean cubic?"),
        (["rfc7928", "--aqm", "mine=nowhere:Aqm"], "the module cannot be imported"),
        (["rfc7928", "--runs", "0"], "--runs must be at least 1, not 0"),
    ],
)
def test_bad_input_lists_what_is_valid(arguments, found, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["suite", *arguments, "--out", str(out)]) == 2
    assert found in capsys.readouterr().err
    assert not out.exists()


def test_suites_are_listed(capsys):
    assert main(["suite", "list"]) == 0
    said = capsys.readouterr().out
    for name in suites.suites():
        assert name in said


def test_one_run_has_no_interval():
    found = spillgate.suite("rfc7928", aqm=["pie"], sections=["5.2"], quick=True, runs=1)
    row = found.to_dict()["rows"][0]
    assert row["values"]["pie"]["low"] is None
    assert math.isfinite(row["values"]["pie"]["mean"])


def test_latency_under_load_is_over_the_idle_line_run_by_run_and_graded(tmp_path, capsys):
    options = {"aqm": ["fifo", "fq-codel"], "sections": ["2"], "quick": True}
    found = spillgate.suite("bufferbloat", **options)
    [done] = found.sections
    measure = done.section.graded
    whole = Measure.of(measure.text.removeprefix("increase of "))
    for of in found.compared:
        loaded, idle = (done.values(whole, case, of) for case in ("upload", "idle"))
        more = done.values(measure, "upload", of)
        assert more == tuple(a - b for a, b in zip(loaded, idle, strict=True))
    assert all(v == 0.0 for v in done.values(measure, "idle", "fifo"))
    # A second of buffer, and one packet of 1500 B at 2.4 Mb/s and a little more.
    fifo, fair = (done.interval(measure, "upload", of).estimate for of in found.compared)
    assert fifo > 0.4
    assert fair < 3 * 1514 * 8 / 2.4e6
    [first, *_] = found.to_dict()["grades"]
    assert first["case"] == "download"
    assert list(first["grades"]) == ["fifo", "fq-codel"]
    assert done.grades("idle", found.compared) is None
    assert done.grades("upload", found.compared)[0].startswith("F")
    arguments = ["suite", "bufferbloat", "--aqm", "fifo,fq-codel", "--section", "2", "--quick"]
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 0
    assert re.search(r"^ +grade +F", capsys.readouterr().out, re.MULTILINE)
    assert ">grade</th>" in (tmp_path / "out/index.html").read_text(encoding="utf-8")


def test_a_modem_has_its_buffer_and_a_fair_queue_its_own():
    found = spillgate.suite(
        "bufferbloat", aqm=["fifo", "codel", "fq-codel"], sections=["2"], quick=True, runs=1
    )
    [done] = found.sections
    said = {of: " ".join(done.stated[of]) for of in found.compared}
    assert "limit 1000 packets" in said["fifo"]
    assert "limit 1000 packets" in said["codel"]
    assert "limit 10240 packets" in said["fq-codel"]
    # One and a half packets at 2.4 Mb/s take longer than 5 ms.
    assert "target 7.57 ms" in said["codel"]


def test_congestion_controls_take_the_place_of_the_flows_that_are_named():
    found = spillgate.suite(
        "rfc9743", tcp=["reno", "bbr"], sections=["5.1.2", "5.2.1"], quick=True, runs=1
    )
    wait = Measure.of("link.down.sojourn_mean")
    deep = found.section("5.1.2")
    assert deep.values(wait, "", "bbr")[0] < 0.5 * deep.values(wait, "", "reno")[0]
    mixed = found.section("5.2.1")
    # The others stay what they are.
    assert {c.partition(",")[0] for c in mixed.cases} == {"cubic", "newreno"}
    assert not deep.stated


@pytest.fixture(scope="module")
def agreement(root):
    spec = importlib.util.spec_from_file_location("agreement", root / "docs/agreement.py")
    module = importlib.util.module_from_spec(spec)
    # Its dataclasses look their own module up.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def published(root):
    """The rows of the table on the page."""
    text = (root / "docs/howto/suites.md").read_text(encoding="utf-8")
    table = text.partition("<!-- table agreement -->\n")[2].partition("<!-- end -->")[0]
    return [tuple(line.strip("| ").split(" | ")) for line in table.splitlines()[2:]]


def test_what_the_page_compares_is_what_is_computed(root, agreement):
    shown, claims = published(root), agreement.claims()
    assert [row[0] for row in shown] == [c.says for c in claims]
    for row, claim in zip(shown, claims, strict=True):
        assert row[1].startswith(f"`{claim.suite}` {claim.section}")
        assert row[5].split(":")[0] in ("yes", "no", "undecided")
        # What does not hold has a reason.
        assert row[5] != "no"


@pytest.mark.parametrize("section", ["5.1.1", "7.2", "8.2.4"])
def test_shown_agreement_is_real(root, agreement, section):
    mine = [c for c in agreement.claims() if (c.suite, c.section) == ("rfc7928", section)]
    # One of congestion levels is enough: of CoDel, which does not hold.
    mine = mine[:1] if section == "8.2.4" else mine
    suites_ = agreement.measured(mine)
    rows = [agreement.row(c, suites_) for c in mine]
    assert set(rows) <= set(published(root))


def test_agreement_can_fail(agreement):
    claim = next(c for c in agreement.claims() if c.section == "5.1.1")
    found = agreement.measured([claim])
    interval = agreement.interval_of(claim, found)
    assert agreement.judged(claim, interval) == "yes"
    other = replace(claim, low=0.75, high=0.76)
    assert agreement.judged(other, interval) == "no"
    cut = replace(claim, low=interval.estimate)
    assert agreement.judged(cut, interval) == "undecided"


def test_a_sawtooth_has_three_quarters_without_a_queue_and_all_with_a_pipe_of_it(agreement):
    assert agreement.sawtooth(83.0, 0.0) == pytest.approx(0.75)
    assert agreement.sawtooth(83.0, 83.0) == pytest.approx(1.0)
    # Simulated round trip by round trip.
    pipe, target = 1000.0, 50.0
    peak = pipe + target
    sent = time = 0.0
    window = peak / 2
    while window < peak:
        sent += window
        time += max(pipe, window)
        window += 1
    assert agreement.sawtooth(pipe, target) == pytest.approx(sent / time, rel=2e-3)


def test_an_interrupted_suite_keeps_its_runs_and_says_how_to_go_on(tmp_path, capsys, monkeypatch):
    from spillgate.suites import runner

    plain = runner.Simulation.run

    def stopped(simulation, *arguments, **options):
        if "Aggressive" in simulation.description.name:
            raise spillgate.Interrupted(None)
        return plain(simulation, *arguments, **options)

    monkeypatch.setattr(runner.Simulation, "run", stopped)
    out = tmp_path / "out"
    command = ["suite", "rfc7928", "--aqm", "pie", "--section", "5.1.1", "--section", "5.2"]
    command += ["--quick", "--out", str(out)]
    assert main(command) == 130
    said = capsys.readouterr().err
    assert "finished runs are kept; the rest: spillgate suite rfc7928 --aqm pie" in said
    assert not out.exists()
    monkeypatch.setattr(runner.Simulation, "run", plain)
    again = said.partition("the rest: spillgate ")[2].split()
    assert main(again) == 0
    assert "taking over 2 stored runs" in capsys.readouterr().err
    assert (out / "5.2/report.html").is_file()
