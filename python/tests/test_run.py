import math

import pytest

import spillgate
from spillgate import report

QUICK = {"measurement.duration": "1 s", "measurement.warmup": "1 s"}


def test_progress_is_reported_and_ends_at_one(first):
    seen = []
    results = spillgate.run(first, runs=2, set=QUICK, progress=seen.append)
    assert seen[-1].fraction == 1.0
    assert seen[-1].runs_done == seen[-1].runs == len(results.runs) == 4
    assert seen[-1].events == results.events > 0


def test_the_same_call_gives_the_same_digests(first):
    one, two = (spillgate.run(first, runs=2, set=QUICK).runs for _ in range(2))
    assert one == two
    assert len({r.digest for r in one}) == 4


def test_overrides_take_texts_and_values(first):
    one = spillgate.check(first, set={"runs.count": 7, "topology.links.uplink.rate": "2 Mb/s"})
    assert one.runs == 7
    assert one.links[0]["rate"] == 2_000_000
    assert spillgate.check(first, set=["runs.count=7"]).runs == 7
    with pytest.raises(TypeError, match="not one text"):
        spillgate.check(first, set="runs.count=7")


def test_bad_input_comes_as_data(first, tmp_path):
    bad = tmp_path / "bad.yaml"
    bad.write_text(first.read_text().replace("rate: 10 Mb/s", "rate: 10"))
    with pytest.raises(spillgate.InputError) as caught:
        spillgate.check(bad)
    (problem,) = caught.value.diagnostics
    assert problem.line == 6
    assert problem.path == "topology.links.uplink.rate"
    assert problem.severity == "error"
    assert problem.code.startswith("E")
    assert "10" in problem.found
    assert str(caught.value).startswith(f"{bad}:6:")


def test_an_interrupt_hands_over_the_finished_runs(first):
    def stop(progress):
        if progress.runs_done > 0:
            raise KeyboardInterrupt

    with pytest.raises(spillgate.Interrupted) as caught:
        spillgate.run(first, runs=1000, jobs=1, progress=stop)
    results = caught.value.results
    assert results.interrupted
    assert 0 < len(results.runs) < 2000


def test_a_failing_progress_function_stops_the_runs(first):
    def fail(_progress):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        spillgate.run(first, runs=1000, jobs=1, progress=fail)


def test_parquet_holds_every_value_of_every_run(first, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    results = spillgate.run(first, runs=2, set=QUICK)
    results.save(tmp_path / "out")
    table = parquet.read_table(tmp_path / "out/results.parquet").to_pylist()
    assert set(table[0]) == {
        "variant",
        "run",
        "scope",
        "name",
        "class",
        "metric",
        "value",
        "unit",
        "bound",
    }
    delays = [
        r["value"]
        for r in table
        if (r["variant"], r["scope"], r["name"], r["metric"])
        == ("fifo", "class", "voice", "owd_mean")
    ]
    assert len(delays) == 2
    mean = results.value("fifo", "class", "voice", "owd_mean").mean
    assert sum(delays) / 2 == pytest.approx(mean, rel=1e-12)
    assert {r["name"] for r in table if r["scope"] == "flow"} >= {"data-0", "data-3"}


def test_series_are_of_the_links_that_are_named_or_fill_first(root):
    def links(**changes):
        short = {"measurement.duration": "1 s", **changes}
        results = spillgate.run(root / "bench/cases/d50.yaml", set=short)
        return {s.where for s in results.series() if s.metric == "carried"}

    # Of 202 links the bottleneck, both ways, and the first that are alike.
    usual = links()
    assert len(usual) == 20
    assert {"link bottleneck", "link bottleneck.reverse"} <= usual
    assert links(**{"measurement.series": ["bottleneck.reverse"]}) == {"link bottleneck.reverse"}
    assert len(links(**{"measurement.series": ["egress", "bottleneck"]})) == 2 * 51
    assert links(**{"measurement.series": []}) == set()
    with pytest.raises(spillgate.InputError, match="there is no link `nowhere`"):
        links(**{"measurement.series": ["nowhere"]})


ADAPTIVE = """
schema_version: 1
name: What AQMs set by themselves
topology:
  nodes: [a, b]
  links: {line: {from: a, to: b, rate: 10 Mb/s, policy: RED}}
policies:
  RED: {fifo: {limit: 100 packets, aqm: {adaptive-red: {min_th: 10, max_th: 30, max_p: 0.1}}}}
  RIO: {fifo: {limit: 100 packets, aqm: {adaptive-rio: {max_th_low: 30, max_th_high: 70}}}}
  SELF: {fifo: {limit: 100 packets, aqm: {self-configuring-red: {max_p: 0.3}}}}
  LOAD: {fifo: {limit: 100 packets, aqm: {load-adaptive-red: {threshold: 40}}}}
traffic:
  - flow: {name: x, from: a, to: b, source: {cbr: {rate: 8 Mb/s, packet: 1000 B, phase: 0 s}}}
measurement: {warmup: 0 s, duration: 20 s, interval: 1 s}
runs: {count: 1}
variants:
  - {name: RED, set: {}}
  - {name: RIO, set: {topology.links.line.policy: RIO}}
  - {name: SELF, set: {topology.links.line.policy: SELF}}
  - {name: LOAD, set: {topology.links.line.policy: LOAD}}
"""


def test_what_aqms_set_by_themselves_is_sampled():
    """An empty queue under RED that adapts, and no packet in profile under adaptive RIO."""
    results = spillgate.run(ADAPTIVE, runs=1)

    def sampled(variant):
        found = results.series(where="line/fifo", variant=variant)
        return {s.metric: list(s.v) for s in found if s.metric.startswith("adapted_")}

    (red,) = sampled("RED").items()
    # Two steps a second, each to 0.9 of the value before, down to 0.01.
    assert red[0] == "adapted_max_p"
    expected = [max(0.01, 0.1 * 0.9 ** (2 * t)) for t in range(1, 21)]
    assert red[1] == pytest.approx(expected)
    # A third at once, since the average is below.
    assert sampled("SELF") == {"adapted_max_p": pytest.approx([0.1] * 20)}
    load = sampled("LOAD")
    assert list(load) == ["adapted_max_th", "adapted_loss"]
    # Each second 0.05 * 100 / 2 less in the middle, down to 10; whether the packet of that
    # instant has come is open.
    middle = [max(10.0, 40 - 2.5 * t) for t in range(1, 21)]
    assert load["adapted_max_th"] == pytest.approx([1.5 * m for m in middle], abs=3.76)
    assert (load["adapted_max_th"][-1], set(load["adapted_loss"])) == (15.0, {0.0})
    rio = sampled("RIO")
    assert list(rio) == ["adapted_max_th", "adapted_reference", "adapted_arrival_rate"]
    # Nobody has been in profile yet: up by 0.02 * 70 every 200 ms from 0 on, and at 70 after
    # 29 steps, 5.8 s; whether the packet of that instant has come is open.
    steps = [(v - 30.0) / 1.4 for v in rio["adapted_max_th"][:5]]
    assert steps == pytest.approx([5, 10, 15, 20, 25], abs=1)
    assert rio["adapted_max_th"][5:] == [70.0] * 15
    assert set(rio["adapted_reference"]) == {9e6}
    # From 0, with the window of 5 s: 8 Mb/s (1 - e^(-t/5)), but for the first packets.
    growth = [8e6 * (1 - math.exp(-t / 5)) for t in range(1, 21)]
    assert rio["adapted_arrival_rate"] == pytest.approx(growth, rel=0.01)


def test_a_run_without_series_is_the_same_but_for_them(first, tmp_path):
    plain, watched = (spillgate.run(first, runs=2, set=QUICK, series=s) for s in ([], None))
    assert plain.series() == ()
    assert watched.series() != ()
    assert plain.table() == watched.table()
    where = plain.save(tmp_path / "out")
    assert not (where / "series.parquet").exists()
    assert spillgate.load(where).series() == ()


def test_the_table_of_series_is_what_the_series_say(first, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    results = spillgate.run(first, runs=1, set=QUICK)
    results.save(tmp_path / "out")
    table = parquet.read_table(tmp_path / "out/series.parquet").to_pylist()
    assert len(table) == len(results.series())
    for row, s in zip(table, results.series(), strict=True):
        assert (row["variant"], row["run"], row["where"]) == (s.variant, s.run, s.where)
        assert (row["metric"], row["unit"], row["start"]) == (s.metric, s.unit, s.start)
        assert [math.nan if v is None else v for v in row["v"]] == pytest.approx(
            list(s.v), nan_ok=True
        )


def test_variants_are_compared_with_one_of_them(first, cli, tmp_path):
    results = spillgate.run(first, runs=3, set=QUICK, against="llq")
    assert {(d.variant, d.against) for d in results.differences()} == {("fifo", "llq")}
    (delay,) = results.differences(cls="voice", metric="owd_mean")
    assert (delay.effect, delay.n) == ("worse", 3)
    pairs = [
        s.values
        for v in ("fifo", "llq")
        for s in results.samples(scope="class", metric="owd_mean", name="voice", variant=v)
    ]
    assert delay.mean == pytest.approx(sum(a - b for a, b in zip(*pairs, strict=True)) / 3)
    again = spillgate.load(results.save(tmp_path / "out"))
    assert again.differences() == results.differences()
    page = report.render(again)
    assert "Compared with llq" in page
    done = cli("run", first, "--runs", 2, "--out", "x", "--against", "llq", "--no-report")
    assert "Compared with llq, run by run" in done.stdout
    assert "% points" in done.stdout
    done = cli("run", first, "--against", "lq", "--out", "y")
    assert done.returncode == 2
    assert "there is no variant `lq`; did you mean `llq`?" in done.stderr
    assert not (tmp_path / "y").exists()


def test_runs_that_are_identical_are_said(tmp_path, cli):
    scenario = tmp_path / "one.yaml"
    text = """
schema_version: 1
topology:
  nodes: [a, b]
  links: {l: {from: a, to: b, rate: 1 Mb/s, delay: 1 ms, duplex: true}}
traffic:
  - flow: {name: f, class: x, from: a, to: b, tcp: {}START}
measurement: {warmup: 1 s, duration: 2 s}
runs: {count: 5, seed: 3}
sla: [{class: x, metric: throughput, min: 2 Mb/s}]
"""
    scenario.write_text(text.replace("START", ""), encoding="utf-8")
    done = cli("run", scenario, "--out", "out")
    assert done.returncode == 1
    said = " ".join(done.stdout.split())
    assert "all 5 runs are identical: nothing in them is random" in said
    assert "`start_spread`" in said
    scenario.write_text(text.replace("START", ", start_spread: 100 ms"), encoding="utf-8")
    assert not any("identical" in r for r in spillgate.run(scenario).remarks)


GROWING = """
schema_version: 1
topology:
  nodes: [a, b]
  links: {l: {from: a, to: b, rate: 20 Mb/s, delay: 50 ms, duplex: true, policy: q}}
policies: {q: {fifo: {limit: 60 packets}}}
traffic:
  - flow: {name: t, from: a, to: b, start_spread: 50 ms, tcp: {cc: newreno}}
measurement: {warmup: 1 s, duration: 20 s}
runs: {count: 2, seed: 3}
"""


def test_a_warm_up_that_is_too_short_is_said(tmp_path, cli):
    scenario = tmp_path / "growing.yaml"
    scenario.write_text(GROWING, encoding="utf-8")
    done = cli("run", scenario, "--out", "out")
    said = " ".join(done.stdout.split())
    assert "the warm-up of 1 s is too short: t rate" in said
    assert "`warmup: auto` finds it" in said
    found = spillgate.load(tmp_path / "out").transients()
    assert ("t", "throughput") in {(t.cls, t.metric) for t in found}
    assert "is too short" in (tmp_path / "out/report.html").read_text()


def test_pilot_runs_find_the_warm_up(tmp_path, cli):
    scenario = tmp_path / "growing.yaml"
    scenario.write_text(GROWING.replace("warmup: 1 s", "warmup: auto"), encoding="utf-8")
    done = cli("run", scenario, "--out", "out")
    assert done.returncode == 0, done.stderr
    results = spillgate.load(tmp_path / "out")
    # It takes some 10 s until the window first fills the pipe after the slow start.
    assert 8 <= results.description.warmup <= 40
    assert results.transients() == ()
    said = " ".join(done.stdout.split())
    assert "comes from pilot runs of up to" in said
    # Whoever explains a packet, or repeats the run, has the same one.
    again = spillgate.run(scenario)
    assert [r.digest for r in again.runs] == [r.digest for r in results.runs]
    assert cli("explain", "out", "--flow", "t").returncode == 0
    done = cli("check", scenario)
    assert done.returncode == 0, done.stderr


def test_pilot_runs_of_what_never_settles_end(tmp_path, cli):
    scenario = tmp_path / "growing.yaml"
    # More than the line carries, into a queue without an end.
    text = GROWING.replace("warmup: 1 s", "warmup: auto").replace("60 packets", "10000000 packets")
    over = "source: {poisson: {rate: 20.5 Mb/s, packet: 1000 B}}"
    scenario.write_text(text.replace("tcp: {cc: newreno}", over), encoding="utf-8")
    done = cli("run", scenario, "--out", "out")
    assert done.returncode == 2
    assert "warmup: auto: t" in done.stderr
    assert "has not settled after 1280 s" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_failure_needs_a_warm_up_that_is_written(tmp_path, cli):
    scenario = tmp_path / "growing.yaml"
    failing = GROWING.replace("warmup: 1 s", "warmup: auto").replace(
        "policies:", "  failures: [{link: l, at: 3 s}]\npolicies:"
    )
    scenario.write_text(failing, encoding="utf-8")
    done = cli("run", scenario, "--out", "out")
    assert done.returncode == 2
    assert "a pilot run cannot tell a failure" in done.stderr
    assert "measurement.warmup" in done.stderr


def test_tokens_that_outlast_the_warm_up_are_in_the_line_of_the_verdict(root, tmp_path, cli):
    """Labels make voice of 15 % of the line more than that: 375 kB last 38 s with two."""
    example = root / "examples/mpls-vpn/scenario.yaml"
    done = cli("run", example, "--runs", "2", "--out", "out")
    said = " ".join(done.stdout.split())
    assert "✓ pass *" in said
    assert "* the 375000 B of tokens that core-1/" in said
    results = spillgate.load(tmp_path / "out")
    noted = {v.cls: v.note for v in results.verdicts if v.note}
    assert "longer than" in noted["voice"]
    assert noted["voice"] in (tmp_path / "out/report.html").read_text()


def test_both_engines_give_the_same_results(cli, first, tmp_path):
    for engine in ("express", "plain"):
        done = cli("run", first, "--runs", 2, "--engine", engine, "--out", engine, "--no-figures")
        assert done.returncode in (0, 1, 3), done.stderr
    one, other = (spillgate.load(tmp_path / engine) for engine in ("express", "plain"))
    assert [r.digest for r in one.runs] == [r.digest for r in other.runs]
    assert one.classes() == other.classes()


def test_verbose_says_what_the_express_engine_takes_event_by_event(cli, first):
    radio = "topology.links.uplink.rate_process={on-off: {on: 1 s, off: 10 ms}}"
    lossy = "topology.links.uplink.loss={bernoulli: 1 %}"
    verbose = ("run", first, "--verbose", "--runs", 2, "--no-figures")
    done = cli(*verbose, "--set", radio, "--set", lossy)
    assert "express engine: uplink: the rate varies" in done.stderr
    assert "express engine: uplink: packets are lost or late at random" in done.stderr
    assert "express engine: uplink: the discipline decides when packets leave" not in done.stderr
    assert "(llq)" in cli(*verbose).stderr
    assert "express engine" not in cli(*verbose, "--engine", "plain").stderr


def test_there_are_two_engines(cli, first):
    with pytest.raises(spillgate.InputError, match="plain or express, not 'fast'"):
        spillgate.run(first, engine="fast")
    done = cli("run", first, "--engine", "fast")
    assert done.returncode == 2
    assert "'express', 'plain'" in done.stderr
