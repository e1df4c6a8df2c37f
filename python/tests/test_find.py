"""`spillgate find`, end to end."""

import json

import pytest

import spillgate

SHORT = "measurement.duration=5 s"
RATE = ("--smallest", "topology.links.uplink.rate")
ENDS = ("--from", "10 Mb/s", "--to", "20 Mb/s")


@pytest.fixture
def first(root):
    return root / "examples/first/scenario.yaml"


@pytest.fixture
def find(cli, first):
    def call(*options, variant="fifo", scenario=first):
        chosen = ("--variant", variant) if variant else ()
        return cli("find", scenario, *chosen, "--set", SHORT, *options)

    return call


def test_the_smallest_rate_with_which_voice_passes(find, tmp_path):
    pytest.importorskip("matplotlib")
    figure = tmp_path / "found.svg"
    done = find(*RATE, *ENDS, "--within", "1 Mb/s", "--figure", figure)
    assert done.returncode == 0, done.stderr
    # 10 runs of 13 Mb/s have 34 ms of 20 allowed, 10 of 15 Mb/s 13 ms.
    assert "with which all 2 requirements hold is 14 Mb/s, in steps of 1 Mb/s" in done.stdout
    assert "with 13 Mb/s, voice: 99 % delay ≤ 20 ms" in done.stdout
    assert "Of the values tried, every one above it holds" in done.stdout
    assert "    topology.links.uplink.rate: 14 Mb/s\n" in done.stdout
    assert "spillgate: 20 Mb/s: holds after 10 runs" in done.stderr
    assert figure.read_text(encoding="utf-8").startswith("<?xml")
    again = find(*RATE, *ENDS, "--figure", figure)
    assert again.returncode == 2
    assert "--force" in again.stderr


def test_the_answer_as_data_agrees_with_that_of_runs(find, first):
    done = find(*RATE, *ENDS, "--within", "1 Mb/s", "--format", "json", "--quiet")
    assert done.stderr == ""
    found = json.loads(done.stdout)
    assert (found["value"], found["beyond"], found["monotone"]) == ("14 Mb/s", "13 Mb/s", True)
    assert found["runs"] == sum(p["runs"] for p in found["tried"])
    by = {p["value"]: p for p in found["tried"]}
    for value in ("14 Mb/s", "13 Mb/s"):
        results = spillgate.run(
            first,
            runs=by[value]["runs"],
            set=[SHORT, f"topology.links.uplink.rate={value}"],
        )
        means = [v.mean for v in results.verdicts if v.variant == "fifo"]
        assert [r["mean"] for r in by[value]["requirements"]] == means


def test_a_search_that_was_stored_makes_no_run_again(find, tmp_path):
    options = (*RATE, *ENDS, "--within", "2 Mb/s", "--store", tmp_path / "runs")
    one = find(*options)
    stored = sorted(p.stat().st_size for p in (tmp_path / "runs").iterdir())
    two = find(*options)
    assert one.stdout == two.stdout
    assert sorted(p.stat().st_size for p in (tmp_path / "runs").iterdir()) == stored


def test_the_largest_limit(find):
    done = find("--largest", "policies.fifo.fifo.limit", "--from", "5", "--to", "50", "--class",
                "voice", "--set", "topology.links.uplink.rate=14 Mb/s", "--set",
                "sla=[{class: voice, metric: owd_p99, max: 15 ms}]")  # fmt: skip
    assert done.returncode == 2
    assert "packets" in done.stderr
    delay = "sla=[{class: voice, metric: owd_p99, max: 15 ms}]"
    ends = ("--from", "5 packets", "--to", "50 packets")
    done = find("--largest", "policies.fifo.fifo.limit", *ends, "--set", delay)
    assert done.returncode == 0, done.stderr
    assert "The largest policies.fifo.fifo.limit" in done.stdout
    assert "hold" in done.stdout


def test_changed_lines_are_those_of_the_router(cli, root):
    done = cli(
        "find",
        root / "examples/ce-node/scenario.yaml",
        *("--variant", "CBWFQ-LLQ", "--class", "voice", "--first", "5"),
        *("--smallest", "policies.CBWFQ-LLQ.classes.VOICE.priority.rate"),
        *("--from", "13 %", "--to", "15 %", "--within", "0.5 %"),
        *("--set", "measurement.duration=1 s", "--set", "measurement.warmup=1 s"),
    )
    assert done.returncode == 0, done.stderr
    # In one second the bucket's burst carries what voice has above 14 %.
    assert "is 14 %, in steps of 0.5 %: with 13.5 %, voice: loss ≤ 0.01 %" in done.stdout
    assert "    -  priority percent 15\n" in done.stdout
    assert "    +  priority percent 14\n" in done.stdout


def test_a_frontier_of_two_keys(find, tmp_path):
    pytest.importorskip("matplotlib")
    figure = tmp_path / "frontier.png"
    done = find(
        *(*RATE, *ENDS, "--within", "2 Mb/s"),
        *("--largest", "policies.fifo.fifo.limit", "--from", "5 packets", "--to", "45 packets"),
        *("--figure", figure, "--format", "json", "--quiet"),
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["frontier"]
    assert [row["at"] for row in rows] == [f"{n} packets" for n in (5, 15, 25, 35, 45)]
    assert all(("value" in row) != ("none" in row) for row in rows)
    assert figure.stat().st_size > 1_000


def test_a_frontier_has_as_many_values_as_are_asked_for(find):
    keys = (*RATE, *ENDS, "--within", "2 Mb/s", "--largest", "policies.fifo.fifo.limit")
    ends = ("--from", "5 packets", "--to", "45 packets", "--within", "5 packets")
    quick = ("--format", "json", "--quiet")
    done = find(*keys, *ends, "--values", "3", *quick)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["frontier"]
    assert [row["at"] for row in rows] == [f"{n} packets" for n in (5, 25, 45)]
    done = find(*keys, *ends, "--values", "1", *quick)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--values 1: at least 2" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((*RATE, "--from", "11Mb/s", "--to", "12Mb/s"), "even with 12 Mb/s, the upper end: voice"),
        (
            (*RATE, "--from", "18Mb/s", "--to", "20Mb/s"),
            "hold with 18 Mb/s already, the lower end",
        ),
        (
            ("--largest", RATE[1], "--from", "18Mb/s", "--to", "20Mb/s"),
            "hold with 20 Mb/s already, the upper end",
        ),
        ((*RATE, "--from", "4 Mb/s", "--to", "2 Mb/s"), "is not below --to 2 Mb/s"),
        ((*RATE, "--from", "4 Mb/s"), "has one --from and one --to"),
        ((), "say what is varied"),
        ((*RATE, *ENDS, "--class", "data"), "no requirement is about class 'data'"),
        ((*RATE, *ENDS, "--first", "2"), "at least 3 at first"),
        ((*RATE, *ENDS, "--level", "100"), "below 100 %"),
        ((*RATE, *ENDS, "--set", "sla=[]"), "no requirement is stated"),
        (
            ("--smallest", "topology.links.uplinc.rate", *ENDS),
            "--smallest topology.links.uplinc.rate: error: there is no `uplinc` in `topol",
        ),
        ((*RATE, *ENDS, "--values", "3"), "--values is of a second key"),
        ((*RATE, "--from", "10 ms", "--to", "20 ms"), "10 ms"),
    ],
)
def test_what_has_no_answer(find, options, message):
    done = find(*options, "--quiet")
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""


def test_variants_are_named(find):
    done = find(*RATE, *ENDS, variant="")
    assert done.returncode == 2
    assert "say with --variant whose value is looked for: fifo, llq" in done.stderr
    done = find(*RATE, *ENDS, variant="lq")
    assert done.returncode == 2
    assert "variants: fifo, llq" in done.stderr
