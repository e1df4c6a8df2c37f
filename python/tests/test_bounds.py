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
    done = cli("bound", first, "--variant", "fifo", "--worst", "--set", "policies.fifo={fan: {}}")
    assert done.returncode == 0, done.stderr
    assert "no bound" in done.stdout
    done = cli("bound", first, "--worst", "uplink/class-fault")
    assert done.returncode == 2
    assert "queues are uplink/class-default, uplink/fifo, uplink/voice" in done.stderr
    done = cli("bound", first, "--out", "somewhere")
    assert done.returncode == 2
    assert "add --worst" in done.stderr
