"""Tuning: what it finds, what it says of it, and what it refuses."""

import csv
import json

import pytest

pytest.importorskip("optuna")

from spillgate import InputError
from spillgate.cli import main
from spillgate.objective import LEFT, Objective
from spillgate.rows import Verdict
from spillgate.tuning import Trial, _front, _margin, _region, tune

SCENARIO = """schema_version: 1
name: How much priority calls need
topology:
  nodes: [site, net]
  links:
    up: {from: site, to: net, rate: 2 Mb/s, delay: 5 ms, policy: LLQ}
policies:
  LLQ:
    class-based:
      classes:
        - {name: voice, match: {dscp: ef}, priority: {rate: 500 kb/s}}
        - {name: class-default, queue_limit: 20 packets}
traffic:
  - flow:
      name: voice
      count: 5
      dscp: ef
      from: site
      to: net
      source: {cbr: {rate: 100 kb/s, packet: 200 B, jitter: 10 %}}
  - flow: {name: data, from: site, to: net, source: {poisson: {rate: 2.2 Mb/s, packet: 1000 B}}}
measurement: {warmup: 0.5 s, duration: 3 s}
runs: {count: 3}
sla:
  - {class: voice, metric: loss_ratio, max: 1 %}
axes:
  - name: priority
    set: policies.LLQ.classes.voice.priority.rate
    from: 100 kb/s
    to: 1.5 Mb/s
    scale: log
  - name: limit
    set: policies.LLQ.classes.class-default.queue_limit
    values: [5 packets, 20 packets, 80 packets]
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    out = tmp_path_factory.mktemp("tune") / "out"
    path = out.parent / "s.yaml"
    path.write_text(SCENARIO)
    arguments = ["tune", str(path), "--minimize", "data:loss_ratio", "--trials", "24"]
    assert main([*arguments, "--quiet", "--out", str(out)]) == 0
    return path, out, json.loads((out / "tune.json").read_text())


def rate(text):
    value, unit = text.split()
    return float(value) * {"kb/s": 1e3, "Mb/s": 1e6, "b/s": 1.0}[unit]


def test_the_best_point_meets_the_requirements_with_fresh_seeds(found):
    _, _, d = found
    assert d["passed"]
    assert min(d["best"]["margins"]) >= 0
    # Calls of 500 kb/s may lose 1 %; the full bucket of 200 ms carries some of them in 3 s.
    assert rate(d["best"]["values"]["priority"]) > 495e3 / (1 + 0.2 / 3)
    # Data loses least with the longest queue.
    assert d["best"]["values"]["limit"] == "80 packets"
    assert len(d["trials"]) == 24


def test_it_says_how_far_each_value_may_be_moved(found):
    _, _, d = found
    knobs = {k["axis"]: k for k in d["knobs"]}
    low, high = map(rate, knobs["priority"]["region"])
    assert 495e3 / (1 + 0.2 / 3) < low <= rate(d["best"]["values"]["priority"]) <= high == 1.5e6
    # The limit of the others does not touch what is asked of calls.
    assert knobs["limit"]["region"] == ["5 packets", "80 packets"]
    assert [t["values"]["limit"] for t in knobs["limit"]["trials"]] == [
        *("5 packets", "20 packets", "80 packets")
    ]


def test_what_is_written(found):
    path, out, d = found
    with (out / "trials.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [r["priority"] for r in rows] == [t["values"]["priority"] for t in d["trials"]]
    assert {r["passes"] for r in rows} == {"yes", "no"}
    assert (out / "figures/tornado.png").is_file()
    ios = (out / "best.ios").read_text()
    best = rate(d["best"]["values"]["priority"])
    assert f"priority {best / 1e3:g}" in ios or f"priority {round(best / 1e3)}" in ios
    assert "tc qdisc" in (out / "best.tc").read_text()
    assert (out / "report.html").is_file()
    # Again, with the stored runs, and the same to the last digit.
    arguments = ["tune", str(path), "--minimize", "data:loss_ratio", "--trials", "24"]
    assert main([*arguments, "--quiet", "--out", str(out), "--force"]) == 0
    assert json.loads((out / "tune.json").read_text()) == d


def test_of_several_objectives_there_is_a_front(found):
    path, *_ = found
    objectives = [
        Objective.read("data:loss_ratio", larger=False),
        Objective.read("data:owd_mean", larger=False),
    ]
    tuned = tune(path, objectives=objectives, trials=16, runs=2)
    points = [tuple(t.objectives.values()) for t in tuned.front]
    assert len(points) >= 2
    for a in points:
        assert not any(all(x <= y for x, y in zip(b, a, strict=True)) and b != a for b in points)
    # Short queues lose, long ones wait.
    assert len({t.values["limit"] for t in tuned.front}) >= 2


def trial(u, margin, **objectives):
    return Trial((u,), {"x": f"{u:g}"}, (margin,), objectives)


def test_the_region_is_what_holds_around_the_best():
    along = [trial(u, m) for u, m in [(0, 1), (0.2, -1), (0.4, 1), (0.6, 0), (0.8, 1), (1, -1)]]
    assert _region("x", along, along[3]) == ("0.4", "0.8")
    assert _region("x", along, along[0]) == ("0", "0")
    assert _region("x", along, along[1]) is None


def test_no_point_of_the_front_is_worse_in_all():
    a, b = Objective("c", "a", larger=True), Objective("c", "b", larger=False)
    rows = [(1.0, 1.0), (2.0, 2.0), (2.0, 3.0), (0.5, 1.0), (3.0, None)]
    trials = [trial(i, 0.0, **{"c:a": x, "c:b": y}) for i, (x, y) in enumerate(rows)]
    trials.append(trial(9, -0.1, **{"c:a": 9.0, "c:b": 0.0}))
    assert [t.at[0] for t in _front(trials, [a, b])] == [0, 1]


def test_margins_are_of_the_worse_end():
    def verdict(**values):
        known = dict.fromkeys(Verdict.__dataclass_fields__)
        return Verdict(**{**known, "bound": 0.02, "side": "max", **values})

    assert _margin(verdict(mean=0.01, low=0.005, high=0.015)) == pytest.approx(0.25)
    assert _margin(verdict(mean=0.01)) == pytest.approx(0.5)
    assert _margin(verdict(side="min", mean=0.03, low=0.01, high=0.05)) == pytest.approx(-0.5)
    assert _margin(verdict(mean=None)) == -1.0
    assert _margin(verdict(bound=0.0, mean=0.001)) == pytest.approx(-0.001)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("axes:", "#axes:"), "the scenario has no axes"),
        (("sla:", "variants: [{name: a, set: {}}]\nsla:"), "scenario with variants"),
        (("sla:\n  - {class: voice, metric: loss_ratio, max: 1 %}\n", ""), "no requirements"),
        (("from: 100 kb/s", "from: 100 ms"), "s.yaml:"),
    ],
)
def test_what_cannot_be_tuned_is_said(change, said, tmp_path, capsys):
    text = SCENARIO.replace(*change)
    if change[0] == "axes:":
        text = text[: text.index("#axes:")]
    (tmp_path / "s.yaml").write_text(text)
    out = tmp_path / "out"
    assert main(["tune", str(tmp_path / "s.yaml"), "--out", str(out)]) == 2
    assert said in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--minimize", "loss_ratio"], "write CLASS:METRIC"),
        (["--minimize", "dta:loss_ratio"], "there is no class 'dta'; there are voice, data"),
        (["--minimize", "data:loss_rato"], "no metric `loss_rato`; did you mean `loss_ratio`?"),
        (["--minimize", "data:utilization"], "utilization of class data is not measured"),
        (["--trials", "3"], "at least 8 trials"),
    ],
)
def test_bad_arguments(arguments, said, tmp_path, capsys):
    path = tmp_path / "s.yaml"
    path.write_text(SCENARIO)
    assert main(["tune", str(path), *arguments, "--out", str(tmp_path / "out")]) == 2
    assert said in capsys.readouterr().err


def test_the_margin_is_the_default():
    assert str(LEFT) == "margin"
    with pytest.raises(InputError):
        Objective.read("voice:", larger=True)
