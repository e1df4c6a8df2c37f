"""`spillgate best`, end to end."""

import json

import pytest

import spillgate

SHORT = ("--set", "measurement.duration=1 s", "--set", "measurement.warmup=1 s")
VOICE = ("--smallest", "voice:owd_p99")
ZONE = ("--within", "0.5 ms")


@pytest.fixture
def ce_node(root):
    return root / "examples/ce-node/scenario.yaml"


@pytest.fixture
def best(cli, ce_node):
    def call(*options, scenario=ce_node):
        return cli("best", scenario, *SHORT, *options)

    return call


@pytest.fixture
def sweep(tmp_path, root):
    """The first example with an axis."""
    text = (root / "examples/first/scenario.yaml").read_text(encoding="utf-8")
    path = tmp_path / "axes.yaml"
    axis = (
        "axes:\n"
        "  - {name: limit, set: policies.fifo.fifo.limit,\n"
        "     values: [5 packets, 20 packets, 80 packets]}\n"
    )
    path.write_text(text + axis, encoding="utf-8")
    return path


def test_the_best_variant_and_when_others_dropped_out(best, tmp_path):
    pytest.importorskip("matplotlib")
    figure = tmp_path / "best.svg"
    done = best(*VOICE, *ZONE, "--figure", figure)
    assert done.returncode == 0, done.stderr
    assert "CBWFQ-LLQ has the smallest 99th percentile of one-way delay of voice" in done.stdout
    assert "with 95 % confidence, unless another is within 500 µs of it." in done.stdout
    # Voice never waits for what WRED does.
    assert "The same in every run: CBWFQ-LLQ-WRED." in done.stdout
    assert "Of 5 variants 3 dropped out after 10 runs, 1 after" in done.stdout
    assert "10 runs, by CBWFQ-LLQ" in done.stdout
    assert "spillgate: 2 left after 10 runs" in done.stderr
    assert figure.read_text(encoding="utf-8").startswith("<?xml")
    again = best(*VOICE, *ZONE, "--figure", figure)
    assert again.returncode == 2
    assert "--force" in again.stderr


def test_the_answer_as_data_is_that_of_runs(best, ce_node):
    done = best("--largest", "critical:throughput", "--within", "100 kb/s", "--format", "json",
                "--quiet", "--jobs", "1")  # fmt: skip
    assert done.stderr == ""
    found = json.loads(done.stdout)
    assert (found["within"], found["level"], found["decided"]) == (1e5, 0.95, True)
    assert found["runs"] == sum(s["runs"] for s in found["systems"])
    names = [s["name"] for s in found["systems"]]
    assert names[0] == found["best"]
    most = max(s["runs"] for s in found["systems"])
    results = spillgate.run(ce_node, runs=most, set=list(SHORT[1::2]), series=[])
    of = {
        s.variant: s.values
        for s in results.samples(scope="class", metric="throughput", name="critical")
    }
    assert set(names) == set(of)
    for s in found["systems"]:
        assert tuple(s["values"]) == of[s["name"]][: s["runs"]]
        if s["dropped"] is not None:
            assert s["dropped"] <= s["runs"]
            assert s["by"] in names
    # Common random numbers: the differences of runs, not of means.
    lead, other = found["systems"][0]["values"], found["systems"][1]["values"]
    pairs = [a - b for a, b in zip(lead, other, strict=False)]
    assert found["systems"][1]["behind"] == pytest.approx(sum(pairs) / len(pairs))


def test_what_was_stored_is_not_made_again(best, tmp_path):
    options = (*VOICE, *ZONE, "--store", tmp_path / "runs")
    one = best(*options)
    stored = sorted(p.stat().st_size for p in (tmp_path / "runs").iterdir())
    two = best(*options)
    assert one.stdout == two.stdout
    assert sorted(p.stat().st_size for p in (tmp_path / "runs").iterdir()) == stored


def test_a_budget_goes_where_it_tells(best, tmp_path):
    done = best(*VOICE, "--budget", "60", "--format", "json", "--store", tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    runs = {s["name"]: s["runs"] for s in found["systems"]}
    assert sum(runs.values()) == found["runs"] == 60
    assert found["best"].startswith("CBWFQ-LLQ")
    # FIFO is far behind and hardly varies; those with LLQ are the same.
    assert runs["FIFO"] == 10
    assert found["probability"] > 0.95
    assert found["within"] is found["level"] is None
    said = best(*VOICE, "--budget", "60", "--store", tmp_path).stdout
    assert "the approximate probability that this is right is" in said
    assert "The same in every run: CBWFQ-LLQ" in said
    assert "out after" not in said


def test_several_are_left_after_the_most_runs(best):
    done = best("--smallest", "video:owd_mean", "--within", "1 us", "--where",
                "variant=CBWFQ-LLQ,CBWFQ", "--set", "measurement.duration=1 s", "--most", "10",
                "--first", "3")  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert "After 10 runs 2 of 2 variants are left: " in done.stdout
    assert "runs of each would tell which has the smallest" in done.stdout


def test_points_of_axes_are_compared(sweep):
    how = {"within": "0.2 ms", "set": {"measurement.duration": "2 s"}}
    found = spillgate.best(sweep, "voice:owd_mean", where={"variant": "fifo"}, **how)
    assert (found.kind, found.name) == ("point", "fifo (limit=5 packets)")
    assert len(found.systems) == 3
    fixed = spillgate.best(sweep, "voice:owd_mean", where="limit=80 packets", **how)
    assert [s.name for s in fixed.systems] == [
        "llq (limit=80 packets)",
        "fifo (limit=80 packets)",
    ]
    # A limit of the other variant changes nothing: run n is the same everywhere.
    same = spillgate.best(sweep, "voice:owd_mean", where={"variant": "llq"}, **how)
    assert [s.behind for s in same.systems] == [0.0, 0.0, 0.0]
    assert same.name == "llq (limit=5 packets)"


def test_where_says_which_points(cli, sweep):
    options = ("--set", "measurement.duration=2 s", *VOICE, "--within", "1 ms", "--quiet")
    done = cli("best", sweep, *options, "--where", "limit=80 packets", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert {s["name"] for s in json.loads(done.stdout)["systems"]} == {
        "fifo (limit=80 packets)",
        "llq (limit=80 packets)",
    }
    wrong = cli("best", sweep, *options, "--where", "limit=81 packets")
    assert (wrong.returncode, "there is no '81 packets' on the axis" in wrong.stderr) == (2, True)
    wrong = cli("best", sweep, *options, "--where", "limit")
    assert (wrong.returncode, "no AXIS=VALUE" in wrong.stderr) == (2, True)


def test_a_rule_of_replication_does_not_end_runs(root):
    text = (root / "examples/first/scenario.yaml").read_text(encoding="utf-8")
    text += (
        "study: {replication: {first: 2, until: "
        "[{class: voice, metric: owd_mean, within: 50 %}]}}\n"
    )
    found = spillgate.best(
        text, "voice:owd_mean", within="1 ms", set={"measurement.duration": "1 s"}
    )
    assert [s.runs for s in found.systems] == [10, 10]


def test_a_warmup_of_pilot_runs_is_that_of_all(root):
    first = root / "examples/first/scenario.yaml"
    how = {"set": {"measurement.duration": "2 s", "measurement.warmup": "auto"}}
    found = spillgate.best(first, "voice:owd_mean", within="10 us", most=12, **how)
    once = spillgate.run(first, runs=12, **how)
    of = {
        s.variant: s.values for s in once.samples(scope="class", metric="owd_mean", name="voice")
    }
    for s in found.systems:
        assert s.values == of[s.name][: s.runs]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((*VOICE, *ZONE, "--where", "variant=FIFO"), "there is nothing to compare: FIFO"),
        ((*VOICE, *ZONE, "--where", "variant=FIVO"), "there is no 'FIVO' on the axis variant"),
        (("--smallest", "voice:owd_p98", *ZONE), "no metric `owd_p98`; did you mean `owd_p99`?"),
        (("--smallest", "voice.owd_p99", *ZONE), "write CLASS:METRIC"),
        (("--smallest", "voic:owd_p99", *ZONE), "there is no class 'voic'; there are voice"),
        (("--smallest", "voice:fct_p95", "--within", "1 s"), "fct_p95 of class voice"),
        (("--smallest", "voice:utilization", "--within", "1 %"), "is not measured"),
        ((*VOICE, "--within", "-0.5 ms"), "a difference that does not matter is above 0"),
        ((*VOICE, "--within", "0 ms"), "a difference that does not matter is above 0"),
        ((*VOICE, "--within", "0.5"), "no difference of voice:owd_p99: write one such as 1 ms"),
        ((*VOICE, "--within", "1 kb/s"), "no difference of voice:owd_p99"),
        ((*VOICE, "--within", "little"), "--within 'little' is no quantity"),
        ((*VOICE,), "--within --budget is required"),
        ((*VOICE, *ZONE, "--budget", "90"), "not allowed with"),
        (ZONE, "--smallest --largest is required"),
        ((*VOICE, "--budget", "49"), "5 systems have 10 first runs each, 50 in all"),
        ((*VOICE, "--budget", "60", "--most", "20"), "--level and --most belong to --within"),
        ((*VOICE, *ZONE, "--first", "2"), "at least 3 at first"),
        ((*VOICE, *ZONE, "--most", "9"), "10 runs at first and 9 at most"),
        ((*VOICE, *ZONE, "--level", "100"), "below 100 %"),
        ((*VOICE, *ZONE, "--set", "topology.link.wan=1"), "topology"),
    ],
)
def test_what_cannot_be_asked(best, options, message):
    done = best(*options, "--quiet")
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""


def test_python_says_what_is_missing(ce_node):
    for how in ({}, {"within": "1 ms", "budget": 100}):
        with pytest.raises(spillgate.InputError, match="with --within, or how many runs"):
            spillgate.best(ce_node, "voice:owd_p99", **how)


@pytest.mark.parametrize(
    ("metric", "within", "zone"),
    [
        ("voice:owd_p99", "500 us", 5e-4),
        ("voice:loss_ratio", "0.1 %", 1e-3),
        ("voice:loss_ratio", "0.001", 1e-3),
        ("voice:throughput", "200 kbit/s", 2e5),
        ("voice:mos", "0.05", 0.05),
    ],
)
def test_differences_are_in_the_unit_of_the_metric(ce_node, metric, within, zone):
    found = spillgate.best(
        ce_node,
        metric,
        largest=True,
        within=within,
        where="variant=FIFO,CBWFQ",
        first=3,
        most=3,
        set={"measurement.duration": "1 s", "measurement.warmup": "1 s"},
    )
    assert found.within == pytest.approx(zone)
