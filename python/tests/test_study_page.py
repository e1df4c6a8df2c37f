"""The page of a study: which axis decides, maps, what is left out."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from studies import study as a_study

import spillgate
from spillgate import report
from spillgate.points import FULL, Axis, Point
from spillgate.report import embedded as embedded_
from spillgate.report import layout, maps, study
from spillgate.report.influence import grouped, influences
from spillgate.report.study import Study

LOAD = Axis("load", ("1", "2", "3", "4"), "", (1.0, 2.0, 3.0, 4.0))
SIZE = Axis("size", ("small", "large"))


def crossed(rule: Callable[[int, int, str], str]) -> tuple[list[Point], dict[str, str]]:
    """Points of two variants at 4 loads and 2 sizes, and what a rule says of them."""
    points = [
        Point(f"{v} (load={a}, size={b})", v, (a, b))
        for v in ("FIFO", "LLQ")
        for a in range(4)
        for b in range(2)
    ]
    return points, {p.name: rule(*p.places, p.variant) for p in points}


def test_the_axis_that_decides_has_all_of_the_variance() -> None:
    points, verdicts = crossed(lambda load, *_: "pass" if load < 2 else "fail")
    first, *others = influences([LOAD, SIZE], points, verdicts)
    assert (first.name, first.share, first.told) == ("load", 1.0, True)
    assert first.edges == ("all pass up to 2", "none passes from 3 on")
    assert [(g.label, g.passed, g.of) for g in first.groups] == [
        ("1", 4, 4),
        ("2", 4, 4),
        ("3", 0, 4),
        ("4", 0, 4),
    ]
    assert [(o.share, o.told) for o in others] == [(0.0, False)] * 2


def test_the_variant_may_decide() -> None:
    points, verdicts = crossed(lambda *of: "pass" if of[2] == "LLQ" else "undecided")
    first = influences([LOAD, SIZE], points, verdicts)[0]
    assert (first.name, first.index, first.share) == ("variant", None, 1.0)
    assert [(g.label, g.passed, g.undecided, g.failed) for g in first.groups] == [
        ("FIFO", 0, 8, 0),
        ("LLQ", 8, 0, 0),
    ]


def test_axes_that_act_only_together_are_not_said_to_decide() -> None:
    points, verdicts = crossed(lambda load, size, _: "pass" if load % 2 == size else "fail")
    assert not any(i.told for i in influences([LOAD, SIZE], points, verdicts))


def test_where_all_pass_what_was_measured_says_what_matters() -> None:
    points, verdicts = crossed(lambda *_: "pass")
    values = {p.name: 10.0 * p.places[0] + p.places[1] for p in points}
    first, second, third = influences([LOAD, SIZE], points, verdicts, values)
    assert (first.name, first.told, third.told) == ("load", True, False)
    # By hand: 125 between the loads of 125.25 in all, times 15 / 12 for what is left.
    assert first.share == pytest.approx(1 - 0.25 / 125.25 * 15 / 12)
    assert [g.passed for g in first.groups] == [4] * 4
    assert {second.name, third.name} == {"size", "variant"}


def test_chance_is_not_taken_for_influence() -> None:
    # Verdicts that have nothing to do with the axis: at most 5 of 100 orders may be told, were
    # the statistic normal; its skew to the right makes that a little more.
    axis = Axis("x", tuple(map(str, range(40))), "", tuple(map(float, range(40))))
    points = [Point(str(i), "", (i,)) for i in range(40)]
    told = 0
    for seed in range(200):
        said = ["pass", "fail"] * 20
        random.Random(seed).shuffle(said)
        found = influences([axis], points, dict(zip(map(str, range(40)), said, strict=True)))
        told += found[0].told
    assert told <= 20


def test_many_values_are_grouped() -> None:
    axis = Axis("x", tuple(map(str, range(100, 0, -1))), "", tuple(map(float, range(100, 0, -1))))
    parts = grouped(axis, range(100))
    assert [label for label, _ in parts][:2] == ["1 to 17", "18 to 33"]
    assert sorted(p for _, of in parts for p in of) == list(range(100))


@pytest.mark.parametrize("count", [1, 2, 4, 16, 100, 333, 1000])
def test_points_in_an_order_are_each_in_one_cell(count: int) -> None:
    axis = Axis("x", tuple(map(str, range(count))), "", tuple(float(i) for i in range(count)))
    other = Axis("y", axis.labels, "", tuple(float(i * 7919 % count) for i in range(count)))
    points = list(enumerate(Point(str(i), "", (i, i)) for i in range(count)))
    (block,) = layout.blocks([axis, other], points, "random", [0, 1])
    cells = [n for _, row in block.rows for n in row if n is not None]
    assert sorted(cells) == list(range(count))
    assert block.width <= 40
    # From left to right along the first axis, from bottom to top along the second.
    columns = list(zip(*(row for _, row in block.rows), strict=True))
    ends = [[n for n in column if n is not None] for column in columns]
    assert all(max(a) < min(b) for a, b in pairwise(ends))
    for column in ends:
        up = [(other.numbers or ())[n] for n in reversed(column)]
        assert up == sorted(up)


def test_crossed_points_stand_along_the_axes_that_decide_most() -> None:
    third = Axis("rate", ("a", "b", "c"))
    points = [
        Point(f"{i}{j}{k}", "", (i, j, k)) for i in range(4) for j in range(2) for k in range(3)
    ]
    found = layout.blocks([LOAD, SIZE, third], list(enumerate(points)), FULL, [0, 2, 1])
    assert [(b.title, b.corner, b.along) for b in found] == [
        ("size small", "rate", "load"),
        ("size large", "rate", "load"),
    ]
    assert found[1].rows[2] == ("c", (5, 11, 17, 23))


FIRST = Path("examples/first/scenario.yaml").read_text(encoding="utf-8")
LOADED = """\
axes:
  - {name: load, set: traffic.data.source.rate, values: [1 Mb/s, 3 Mb/s, 9 Mb/s]}
"""


@pytest.fixture(scope="module")
def found() -> Study:
    return Study.of(spillgate.run(FIRST + LOADED, runs=3, set={"measurement.duration": "1 s"}))


def test_the_answer_is_counted(found: Study) -> None:
    answer = found.answer()
    states = list(found.verdicts.values())
    passed = states.count("pass")
    assert 0 < passed < 6
    assert answer.headline.startswith(f"{passed} of 6 points meet every requirement")
    hardest = found.hardest[0]
    assert hardest.counts["pass"] == min(r.counts["pass"] for r in found.requirements)
    assert hardest.text in answer.sentences[1]
    assert answer.worst in answer.sentences[1]
    worst = hardest.by[answer.worst]
    assert all((v.mean or 0) <= (worst.mean or 0) for v in hardest.by.values())


def test_more_points_than_fit_are_said(found: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (study, maps):
        monkeypatch.setattr(module, "MOST_POINTS", 4)
    few = Study.of(found.results)
    assert len(few.shown) == 4
    assert maps.verdict_maps(few) == []
    (said,) = embedded_.embedded(few).omitted
    assert said.startswith("4 of 6 points have a row")
    # The answer counts all of them all the same.
    assert few.answer() == found.answer()
    page = report.render(found.results)
    assert said in page
    assert (
        len(re.findall(r"<tr><th scope=\"row\">", page.split('id="every"')[1].split("</tb")[0]))
        == 4
    )


def test_shares_by_two_axes_replace_the_map(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        FIRST
        + LOADED
        + "  - {name: size, set: traffic.data.source.packet, values: [200 B, 1500 B]}\n"
    )
    made = Study.of(spillgate.run(text, runs=2, set={"measurement.duration": "1 s"}))
    monkeypatch.setattr(maps, "MOST_POINTS", 4)
    shares = maps.pass_shares(made)
    assert shares is not None
    cells = [cell for _, row in shares.rows for cell in row]
    assert sum(n for _, n in cells) == 12
    assert sum(p for p, _ in cells) == list(made.verdicts.values()).count("pass")


def test_metrics_that_are_required_stay_when_there_is_little_room(
    found: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_, "MOST_NUMBERS", 6 * 2 * 3)
    few = embedded_.embedded(found)
    names = {m["name"] for m in json.loads(few.text)["metrics"]}
    assert len(names) == 3
    assert {r.first.metric for r in found.requirements} <= names
    assert few.omitted[0].endswith("of classes")


def test_curves_of_delays_are_left_out_when_there_is_no_room(
    found: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = []
    for most in (6 * 2 * 13, 6 * 2 * 5, 6 * 2 * 4):
        monkeypatch.setattr(embedded_, "MOST_DELAYS", most)
        few = embedded_.embedded(found)
        delays = json.loads(few.text)["delays"]
        counts.append(len(delays["later"]) if delays else 0)
    assert counts == [13, 5, 0]
    assert few.omitted == ["curves of the delays of classes"]


def test_a_class_that_is_not_there_at_a_point_has_no_curve_of_delays() -> None:
    text = a_study(link="1 Mb/s", load="500 kb/s", measured="duration: 1 s", runs=2)
    cases = "axes: [{name: start, set: traffic.f.start, values: [10 s, 0 s]}]\n"
    results = spillgate.run(text + cases)
    assert [bool(o.owd) for o in results.distributions()] == [False, True] * 2
    data = json.loads(embedded_.embedded(Study.of(results)).text)
    absent, present, *_ = data["delays"]["of"][0]
    assert absent is None
    assert len(present) == len(data["delays"]["later"]) > 0


def test_without_requirements_the_page_has_what_was_measured() -> None:
    text = re.sub(r"sla:\n(  .*\n)*", "", FIRST) + LOADED
    results = spillgate.run(text, runs=2, set={"measurement.duration": "1 s"})
    page = report.render(results)
    assert "the scenario states no requirements" in page
    assert 'id="map"' not in page
    head = Study.of(results).table().head
    assert head[:2] == ["variant", "load"]
    assert any(h.startswith("voice: 99 % delay") for h in head)


def test_the_page_of_a_study_is_the_same_each_time(found: Study) -> None:
    page = report.render(found.results)
    assert page == report.render(found.results)
    assert re.findall(r"(?:src|href)=\"(?!#)", page) == []
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_a_thousand_points_are_a_small_page() -> None:
    drawn = """\
axes:
  - {name: load, set: traffic.data.source.rate, from: 500 kb/s, to: 3 Mb/s}
  - {name: size, set: traffic.data.source.packet, from: 200 B, to: 1500 B}
study: {design: {random: {points: 500}}}
"""
    short = {
        "measurement.duration": "100 ms",
        "measurement.warmup": "10 ms",
        "measurement.interval": "10 ms",
    }
    results = spillgate.run(FIRST + drawn, runs=1, set=short)
    page = report.render(results)
    assert len(results.description.points) == 1000
    assert len(page.encode()) < 3_000_000
    assert page.count('" data-p="') == 3 * 1000


def test_one_axis_is_said_by_where_its_points_pass() -> None:
    points = [Point(f"load={i}", "", (i,)) for i in range(4)]
    verdicts = {p.name: "pass" if p.places[0] < 3 else "fail" for p in points}
    (only,) = influences([LOAD], points, verdicts)
    assert (only.share, only.told) == (None, False)
    assert study._alone(only) == "Along load: all pass up to 3, none passes from 4 on."
    named = Axis("failure", ("none", "ab", "bc", "cd"))
    (only,) = influences([named], points, verdicts)
    assert study._alone(only) == "Along failure: none passes at cd."


def test_variants_are_compared_at_the_same_place(found: Study) -> None:
    data = json.loads(embedded_.embedded(found).text)
    rows = [(int(i), *row) for i, of in data["differences"].items() for row in of]
    assert rows
    for i, other, cls, head, text, said in rows:
        a, b = found.description.points[i], found.description.points[other]
        assert (a.variant, b.variant, a.places) == ("llq", "fifo", b.places)
        column = next(c for c in found.columns.shown if c.head == head)
        (d,) = found.results.differences(variant=a.name, cls=cls, metric=column.metric)
        assert (d.effect, text[0]) == (said, "+" if (d.mean or 0) > 0 else "−")


def test_points_without_results_are_said_and_drawn_empty() -> None:
    results = spillgate.run(FIRST + LOADED, runs=2, set={"measurement.duration": "1 s"})
    lacking = results.description.points[2].name
    kept = tuple(v for v in results.verdicts if v.variant != lacking)
    results._parsed["verdicts"] = kept
    results._rows["class", None] = tuple(r for r in results.classes() if r.variant != lacking)
    made = Study.of(results)
    assert made.verdicts[lacking] == ""
    assert "1 without results" in made.answer().headline
    data = json.loads(embedded_.embedded(made).text)
    assert data["verdict"][2] == "-"
    assert all(m is None or m[2] is None for of in data["mean"] for m in of)
    (block, rows), *_ = maps.verdict_maps(made)[0].blocks
    assert [c.mark for _, row in rows for c in row if c and c.number == 2] == ["·"]
    assert made.table().rows[2][2] == "–"
    assert block.width == 3
