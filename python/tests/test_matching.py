"""What a paper assumed: scores, shares, emulators, waves, where answers are known."""

import json
from importlib import import_module
from itertools import product

import numpy as np
import pytest

from spillgate.cli import main
from spillgate_papers.grid import under
from spillgate_papers.lab import Effort, Lab
from spillgate_papers.matching.emulator import Emulator
from spillgate_papers.matching.plan import Plan
from spillgate_papers.matching.scores import (
    MOST,
    by_run,
    excluded,
    noise,
    plausible,
    score,
    scores,
)
from spillgate_papers.matching.shares import shares
from spillgate_papers.matching.space import Axis, Space
from spillgate_papers.matching.waves import match
from spillgate_papers.model import Point, Silent


def space(*counts):
    return Space(
        tuple(
            Axis(f"a{k}", "0", tuple(Point(str(i), {f"a{k}": i}) for i in range(1, n)))
            for k, n in enumerate(counts)
        )
    )


# Scores


def test_a_score_counts_standard_errors_of_the_worst_part():
    # Variances of means: 1 / 2 and 4 / 2; pooled 1.25, of two degrees of freedom each.
    found = [{"C": [(9.0, 10.0, 11.0)]}, {"C": [(-4.0, -2.0, 0.0)]}]
    error = noise(found)["C", 0]
    assert error == pytest.approx(np.sqrt((1 / 3 + 4 / 3) / 2))
    z = scores(found, ["C"])
    assert z[:, 0] == pytest.approx([min(MOST, 10 / error), -2 / error])
    two = [{"C": [(9.0, 10.0, 11.0), (-0.1, 0.0, 0.1)]}]
    assert scores(two, ["C"])[0, 0] == pytest.approx(0.0)


def test_what_is_undefined_or_cannot_be_run_is_as_bad_as_can_be():
    assert score([(1.0, np.nan)], [0.1]) == -MOST
    assert score([()], [0.1]) == -MOST
    assert scores([None, {"C": []}], ["C"])[:, 0].tolist() == [-MOST, -MOST]
    # Where runs do not differ, the sign decides.
    assert score([(0.2, 0.2)], [0.0]) == MOST
    assert score([(-0.2, -0.2)], [0.0]) == -MOST


def test_single_runs_are_scored_in_the_same_units():
    found = [{"C": [(1.0, 2.0, 3.0)]}, {"C": [(0.0, 1.0, 2.0)]}]
    alone = by_run(found, ["C"])
    assert alone.mean(axis=2) == pytest.approx(scores(found, ["C"]))


def test_claims_that_exclude_each_other_are_found_and_chance_is_not():
    rng = np.random.default_rng(1)
    one = rng.random(200) < 0.4
    z = np.where(np.stack([one, ~one, rng.random(200) < 0.3], axis=1), 5.0, -5.0)
    assert excluded(z, ["A", "B", "C"]) == [("A", "B", int(one.sum()), int((~one).sum()))]
    # Of two rare ones that never met in a few sets nothing is known.
    rare = np.full((20, 2), -5.0)
    rare[0, 0] = rare[1, 1] = 5.0
    assert excluded(rare, ["A", "B"]) == []
    # One that holds nowhere excludes nothing.
    assert excluded(np.where(np.arange(40)[:, None] % 2, [5.0, -5.0], -5.0), ["A", "B"]) == []


# Shares


def test_shares_are_those_of_a_closed_form():
    """5 x0 + 2 x1 x2 of fair coins has the variances 25/4, 1/4 alone each, and 1/4 together."""
    s = space(2, 2, 2, 2)
    crossed = s.crossed(1024, 1)
    y = 5.0 * crossed[..., 0] + 2.0 * crossed[..., 1] * crossed[..., 2]
    rng = np.random.default_rng(1)
    found = shares(y[..., None] + rng.normal(0.0, 0.5, (*y.shape, 4)), 1)
    whole = 25 / 4 + 3 / 4 + 0.5**2 / 4
    # Four standard errors of a mean of 1024 products, of the order of 1 / 32.
    assert found.first == pytest.approx(np.array([6.25, 0.25, 0.25, 0]) / whole, abs=0.125)
    assert found.total[0] == pytest.approx(6.25 / whole, abs=0.125)
    assert found.total[3] < 0.05
    assert found.noise == pytest.approx(0.5**2 / 4 / whole, rel=0.2)
    assert (found.first_within[0] <= found.first).all()
    assert shares(np.ones((6, 8, 2)), 1) is None


def test_crossed_sets_differ_in_one_choice():
    s = space(3, 4, 2)
    crossed = s.crossed(8, 7)
    a, b = crossed[:2]
    for k in range(3):
        assert (np.delete(crossed[2 + k], k, axis=1) == np.delete(a, k, axis=1)).all()
        assert (crossed[2 + k][:, k] == b[:, k]).all()


@pytest.mark.parametrize("seed", range(20))
def test_sets_are_sets_of_choices(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(2, 8, rng.integers(1, 7))
    s = space(*counts)
    sets = s.spread(64, seed)
    assert (sets >= 0).all()
    assert (sets < counts).all()
    assert s.size == np.prod(counts)
    # Evenly: no choice of any axis is missed.
    assert (sets.max(axis=0) == counts - 1).all()
    for of in sets[:4].tolist():
        chosen = {f"a{k}": str(level) for k, level in enumerate(of) if level}
        assert {k: p.label for k, p in s.choices(of).items()} == chosen


# The emulator


def test_an_emulator_foretells_what_it_has_not_seen_and_how_well():
    s = space(4, 3, 2, 5, 3)
    every = np.array(list(product(*map(range, s.counts))))
    rng = np.random.default_rng(3)
    effect = rng.normal(0.0, 3.0, 4), rng.normal(0.0, 2.0, (3, 2))
    truth = effect[0][every[:, 0]] + effect[1][every[:, 1], every[:, 2]]
    known = rng.permutation(len(every))[:120]
    seen = truth[known] + rng.normal(0.0, 1.0, len(known))
    mean, variance = Emulator(every[known], seen).predict(every)
    fresh = np.setdiff1d(np.arange(len(every)), known)
    off = mean[fresh] - truth[fresh]
    assert np.sqrt(np.mean(off**2)) < 0.5 * truth.std()
    # It knows how far off it is: within two standard deviations for most.
    assert np.mean(np.abs(off) < 2 * np.sqrt(variance[fresh])) > 0.9


# Waves


def toy(sets):
    """Four claims: C excludes D; A and B need rare choices, together with C at one place."""
    x = np.asarray(sets)
    rng = np.random.default_rng(int(x.sum()) + len(x))
    made = []
    for of in x:
        hold = {
            "A": of[0] == 3,
            "B": of[1] == 2 and of[2] == 1,
            "C": of[3] != 0,
            "D": of[3] == 0,
        }
        made.append({c: [tuple(rng.normal(4.0 if h else -4.0, 1.0, 3))] for c, h in hold.items()})
    return made


def test_waves_find_the_sets_under_which_most_claims_hold():
    s = space(5, 4, 3, 3, 4, 3, 2)
    counted = []

    def evaluate(_, sets):
        counted.append(len(sets))
        return toy(sets)

    first = s.crossed(4, 1).reshape(-1, 7)
    found = match(s, "ABCD", evaluate, first, waves=3, size=32, climbs=0, seed=1)
    best = found.sets[found.ranking()[0]]
    assert best[:3].tolist() == [3, 2, 1]
    assert found.waves[-1].most == 3
    # 1 of 5, 1 of 4 and 1 of 3: a sixtieth of the space is left, and little else.
    assert 1 / 60 - 0.005 < found.waves[-1].left < 2.5 / 60
    assert found.waves[-1].left <= found.waves[0].left
    assert ("C", "D") in [p[:2] for p in excluded(found.scores, "ABCD")]
    # No set is run twice.
    assert len({tuple(of) for of in found.sets.tolist()}) == sum(counted)
    assert plausible(found.scores)[found.ranking()[0]].sum() == 3


def test_of_equal_sets_the_plainest_is_first():
    s = space(2, 2)
    sets = np.array([[1, 1], [0, 0], [0, 1]])
    same = {"A": [(1.0, 1.0)]}
    found = match(s, "A", lambda _, x: [same] * len(x), sets, waves=0, size=1, climbs=3, seed=1)
    assert found.sets[found.ranking()[0]].tolist() == [0, 0]


def ladder(_, sets):
    """Claims of which each needs one choice, of its own axis."""
    hold = np.asarray(sets) == (3, 2, 1, 2, 3, 2, 1)
    return [
        {c: [(4.0, 5.0) if h else (-4.0, -5.0)] for c, h in zip("ABCDEFG", of, strict=True)}
        for of in hold
    ]


def test_a_climb_finds_what_single_changes_lead_to():
    s = space(5, 4, 3, 3, 4, 3, 2)
    few = np.zeros((1, 7), np.int64)
    none = match(s, "ABCDEFG", ladder, few, waves=0, size=1, climbs=0, seed=1)
    assert none.climbs == []
    assert plausible(none.scores).sum(axis=1).max() == 1
    # The singles are known, so that the first round goes on from two of them.
    found = match(s, "ABCDEFG", ladder, few, waves=0, size=1, climbs=9, seed=1)
    assert found.sets[found.ranking()[0]].tolist() == [3, 2, 1, 2, 3, 2, 1]
    # Two claims in the first round, one more in each of five, and a last one without a better set.
    assert len(found.climbs) == 7
    assert found.climbs[-1] == len(found.sets) == len(np.unique(found.sets, axis=0))
    short = match(s, "ABCDEFG", ladder, few, waves=0, size=1, climbs=2, seed=1)
    assert plausible(short.scores).sum(axis=1).max() == 3


# The command


def test_mitroi_finds_how_its_streams_started(tmp_path, capsys):
    """From random phases: streams one after another, which the base does not have."""
    out = tmp_path / "search"
    arguments = ["reproduce", "mitroi", "--quick", "--search", "--runs", "2", "--format", "json"]
    assert main([*arguments, "--quiet", "--out", str(out)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert "streams start in the order of table 1" in document["set"]["source.start"]
    held = [sum(c["verdict"] == "reproduced" for c in document[of]) for of in ("claims", "base")]
    assert held[0] > held[1]
    search = document["search"]
    assert search["best"] == document["set"]
    assert search["sets"] > 10**7
    assert [w["left"] for w in search["waves"]] == sorted(
        (w["left"] for w in search["waves"]), reverse=True
    )
    assert search["excluded"] == [] or all(len(p) == 2 for p in search["excluded"])
    page = (out / "index.html").read_text()
    assert "As chosen, and in the best set" in page
    assert "What the paper may have assumed" in page


def test_a_choice_beside_the_ledger_can_be_set():
    also = {"x": (Point("2"),), "s": (Point("c"),)}
    known = Silent("s", "a", "so", (Point("b"),))
    ranges = Plan(also=also).ranges([known])
    assert [(s.key, [p.label for p in s.points]) for s in ranges] == [
        ("s", ["b", "c"]),
        ("x", ["2"]),
    ]


def test_search_and_set_exclude_each_other(capsys):
    arguments = ["reproduce", "mitroi", "--search", "--set", "link.delay=2 ms"]
    assert main(arguments) == 2
    assert "--search chooses itself" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["mitroi", "domzal", "shrivastav", "chien", "zheng"])
def test_every_choice_of_a_search_can_be_run_and_changes_something(name, tmp_path):
    paper = import_module(f"spillgate_papers.{name}").PAPER
    lab = Lab(paper.system, tmp_path, seed=1, runs=1, quick=True)
    for file, text in paper.files.items():
        lab.write(file, text)
    every = {x: v for b in paper.compared for x, v in b.places.items()}
    run = paper.search.places or set(paper.ledger)
    for silent in paper.search.ranges(paper.silent):
        for point in silent.points:
            touched = [x for x in every if (x in point.places or not point.places) and x in run]
            cases = {x: under(every, x, [point]) for x in touched[:1]}
            assert cases != {x: under(every, x, []) for x in cases}, point.label
            assert lab.simulation(cases, Effort(0.0, 1000.0, runs=1)), point.label
