"""`spillgate bound`, and runs beside it."""

import json
import re

import pytest

import spillgate


def test_no_run_of_the_first_example_exceeds_its_bounds(first):
    results = spillgate.run(first)
    for bounds in spillgate.bound(first):
        for c in bounds.classes:
            [seen] = results.samples(
                scope="class", metric="owd_max", name=c.name, variant=bounds.point
            )
            largest = max(seen.values)
            assert largest <= c.owd
            # It is what can happen, too, but for what calls leave a little more than.
            assert largest > 0.98 * c.owd or (bounds.point, c.name) == ("fifo", "voice")


def test_what_it_prints(cli, first):
    done = cli("bound", first, "--flows")
    assert done.returncode == 0, done.stderr
    text = done.stdout
    assert re.search(r"^llq\n", text, re.MULTILINE)
    assert re.search(r"^voice +6\.36 ms +possible +propagation +5 ms$", text, re.MULTILINE)
    # Rounded up.
    assert re.search(r"^data +66\.98 ms +possible +propagation", text, re.MULTILINE)
    of_data = r"^uplink/class\S+ +data +61\.98 ms .*limit +9\.9 Mb/s"
    assert re.search(of_data, text, re.MULTILINE)
    # The queue, what voice sends meanwhile, and a packet in front.
    assert re.search(
        r"uplink/class\S+ +61\.98 ms +60 ms +767\.7 µs +1\.213 ms$", text, re.MULTILINE
    )
    to_halve = "To halve data: a queue limit of 22 packets (now 50) at uplink/class-default."
    assert to_halve in text.splitlines()
    assert "To halve voice: nothing at a queue: propagation is 5 ms." in text.splitlines()
    assert text.count("\ndata-1 ") == 2


def test_json_is_the_same(cli, first):
    done = cli("bound", first, "--variant", "llq", "--format", "json")
    [record] = json.loads(done.stdout)
    [bounds] = spillgate.bound(first, variant="llq")
    assert record["point"] == bounds.point == "llq"
    assert [c["owd"] for c in record["classes"]] == [c.owd for c in bounds.classes]
    assert record["queues"][0]["own"] == bounds.queues[0].own


def test_what_has_no_bound_says_so(cli, first):
    done = cli("bound", first, "--variant", "fifo", "--set", "policies.fifo={drr: {limit: 2 GB}}")
    assert done.returncode == 0
    assert "no bound" in done.stdout
    assert (
        "No bound of uplink/drr: its queue has no limit, and nothing bounds what comes to it."
        in done.stdout
    )


def test_bad_input(cli, first, tmp_path):
    done = cli("bound", first, "--variant", "lq")
    assert done.returncode == 2
    assert "there is no variant 'lq'; valid are 'fifo', 'llq'" in done.stderr
    assert cli("bound", tmp_path / "none.yaml").returncode == 2
    with pytest.raises(spillgate.InputError):
        spillgate.bound(first, set={"topology.links.uplink.rate": "fast"})


def test_worst_cases_are_packets(cli, first, tmp_path):
    out = tmp_path / "worst"
    done = cli("bound", first, "--worst", "--out", out)
    assert done.returncode == 0, done.stderr
    assert re.search(
        r"^uplink/fifo +voice, data +61\.2 ms +61\.2 ms +99\.\d\d %", done.stdout, re.M
    )
    assert "voice #0 took 6.36 ms" in done.stdout
    # It is a scenario as others are, and its report tells the story.
    again = spillgate.run(out / "llq" / "uplink-voice" / "scenario.yaml")
    [row] = again.samples(scope="class", metric="owd_max", name="voice")
    assert 0.99 * 0.00636 < row.values[0] <= 0.00636
    report = (out / "llq" / "uplink-voice" / "report.html").read_text(encoding="utf-8")
    assert "voice #0" in report
    # Nothing is overwritten.
    done = cli("bound", first, "--worst", "--out", out)
    assert done.returncode == 2
    assert "exists; choose another --out" in done.stderr


def test_worst_case_of_one_queue(first, tmp_path):
    [case] = spillgate.worst(first, "uplink/class-default", variant="llq")
    assert case.classes == ("data",)
    assert 0.99 < case.share <= 1
    assert case.gap is None
    assert case.story["flow"] == case.flow
    assert case.save(tmp_path / "one") == tmp_path / "one"
    again = spillgate.worst(first, "data", variant="llq")
    assert [c.packets for c in again] == [case.packets]


def test_worst_case_without_a_bound(cli, first):
    done = cli(
        "bound",
        first,
        "--variant",
        "fifo",
        "--worst",
        "--set",
        "policies.fifo={fifo: {limit: 2 GB}}",
    )
    assert done.returncode == 0, done.stderr
    assert "no bound" in done.stdout
    done = cli("bound", first, "--worst", "uplink/class-fault")
    assert done.returncode == 2
    assert "queues are uplink/class-default, uplink/fifo, uplink/voice" in done.stderr
    done = cli("bound", first, "--out", "somewhere")
    assert done.returncode == 2
    assert "add --worst" in done.stderr


CERTAIN = """
schema_version: 1
name: An edge
topology:
  nodes: [a, b]
  links:
    uplink: {from: a, to: b, rate: 10 Mb/s, delay: 5 ms, policy: FIFO}
policies:
  FIFO: {fifo: {limit: 50 packets}}
traffic:
  - flow: {name: v, class: voice, count: 2, from: a, to: b, dscp: ef,
           source: {cbr: {rate: 80 kb/s, packet: 200 B}}}
  - flow: {name: w, class: data, from: a, to: b,
           source: {poisson: {rate: 11 Mb/s, packet: 1500 B}}}
measurement: {warmup: 1 s, duration: 4 s}
runs: {count: 3, seed: 1}
sla:
  - {class: data, metric: owd_max, max: 66.2 ms, certain: true}
"""


@pytest.fixture
def edge(tmp_path):
    """A scenario whose only requirement is proven; more are appended."""
    file = tmp_path / "edge.yaml"
    file.write_text(CERTAIN)
    return file


def requiring(edge, *requirements):
    with edge.open("a") as file:
        file.writelines(f"  - {{{r}, certain: true}}\n" for r in requirements)
    return edge


def test_what_is_proven_ends_with_status_0(cli, edge, tmp_path):
    done = cli("run", edge, "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert re.search(r"owd_max ≤ 66\.2 ms for certain .*bound 66\.2 ms +✓ proven", done.stdout)
    assert "no packet can take longer" in done.stdout
    done = cli("bound", edge)
    assert done.returncode == 0
    assert "✓ proven" in done.stdout


def test_what_is_refuted_ends_with_status_1_and_names_the_packet(cli, edge, tmp_path):
    requiring(edge, "class: voice, metric: owd_max, max: 20 ms")
    out = tmp_path / "run"
    done = cli("run", edge, "--out", out, "--all")
    assert done.returncode == 1
    said = re.search(r"✗ refuted", done.stdout)
    assert said, done.stdout
    packet = re.search(
        r"run (\d) had [\d.]+ ms, most in flow (v-\d)\s+(v-\d) #(\d+) took", done.stdout
    )
    assert packet, done.stdout
    assert packet[2] == packet[3]
    report = (out / "report.html").read_text(encoding="utf-8")
    assert f"{packet[3]} #{packet[4]} took" in report
    # It is the packet that `explain` finds.
    told = cli("explain", out, "--flow", packet[2], "--run", packet[1], "--worst", 1, "--drops", 0)
    assert f"{packet[2]} #{packet[4]}" in told.stdout

    results = spillgate.load(out)
    assert results.status == 1
    [verdict] = [v for v in results.verdicts if v.cls == "voice"]
    assert verdict.certain
    assert (verdict.verdict, verdict.said, verdict.level) == ("fail", "refuted", 1.0)
    witness = results.witness(verdict)
    assert witness["seq"] == int(packet[4])
    assert witness["delay"] / 1e12 == pytest.approx(verdict.largest, rel=1e-9)
    # Without a run nothing refutes.
    assert cli("bound", edge).returncode == 3


def test_what_is_lost_first_refutes_that_nothing_is_lost(edge):
    requiring(edge, "class: data, metric: loss_ratio, max: 0 %")
    results = spillgate.run(edge)
    [verdict] = [v for v in results.verdicts if v.metric == "loss_ratio"]
    assert verdict.said == "refuted"
    assert "was lost" in results.witness(verdict)["sentence"]


def test_what_is_not_proven_ends_with_status_3_and_says_why(cli, edge, tmp_path):
    requiring(edge, "class: voice, metric: owd_p50, max: 65.1 ms")
    done = cli("run", edge, "--out", tmp_path / "run", "--all")
    assert done.returncode == 3
    assert "? not proven" in done.stdout
    assert re.search(r"no run had more, but 65\.16 ms cannot be\s+excluded", done.stdout)


def test_without_a_bound_there_is_no_number(cli, edge, tmp_path):
    failing = "topology.failures=[{link: uplink, at: 2 s, repair: 2010 ms}]"
    requiring(edge, "class: voice, metric: owd_p50, max: 10 s")
    done = cli("run", edge, "--out", tmp_path / "run", "--all", "--set", failing)
    assert done.returncode == 3
    head = next(x for x in done.stdout.splitlines() if x.startswith("class "))
    assert "bound" not in head
    assert re.search(r"no bound: links fail in\s+this\s+scenario", done.stdout)
    results = spillgate.load(tmp_path / "run")
    assert {r.bound for r in results.table()} == {None}
    assert all(b.owd is None and b.why for b in results.bounds())


def test_rows_of_all_kinds_have_the_bound(edge, tmp_path):
    results = spillgate.run(edge)
    bounds = {b.cls: b.owd for b in results.bounds()}
    assert bounds["data"] == 0.0662
    for row in results.table(scope="class", metric="owd_p99"):
        assert row.bound == bounds[row.name]
    [backlog] = results.table(scope="queue", metric="backlog_bytes_max")
    assert backlog.mean <= backlog.bound == 75_000
    [sojourn] = results.table(scope="queue", metric="sojourn_max")
    assert sojourn.mean <= sojourn.bound == 0.0612
    # What is stored and loaded has the same.
    results.save(tmp_path / "run")
    loaded = spillgate.load(tmp_path / "run")
    assert loaded.table() == results.table()
    assert loaded.bounds() == results.bounds()
    stored = json.loads((tmp_path / "run/results.json").read_text(encoding="utf-8"))
    assert {b["class"]: b["owd"] for b in stored["bounds"]} == bounds


def test_certainty_of_a_customer(cli, edge, tmp_path):
    customer = tmp_path / "acme.csv"
    customer.write_text("customer,class,metric,max,certain\nAcme,voice,owd_p99,70 ms,yes\n")
    done = cli("bound", edge, "--sla", customer, "--format", "json")
    assert done.returncode == 0, done.stderr
    [record] = json.loads(done.stdout)
    assert [(v["whose"], v["said"]) for v in record["certain"]] == [
        ("data", "proven"),
        ("Acme: voice", "proven"),
    ]
    customer.write_text("customer,class,metric,max,certain\nAcme,voice,jitter,70 ms,yes\n")
    done = cli("bound", edge, "--sla", customer)
    assert done.returncode == 2
    assert "nothing bounds `jitter` for certain" in done.stderr
    assert "`certain` is for `loss_ratio`, `owd_mean`, `owd_p50`" in done.stderr
