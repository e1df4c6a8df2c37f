"""The reproduction of Shrivastav et al.: predicates on made-up values, the system, the page."""

import re

import pytest

from spillgate.papers import reproduce
from spillgate.papers.grid import cases
from spillgate.papers.lab import Case, Lab, Protocol
from spillgate.papers.measured import Measured, PerRun, View
from spillgate.papers.shrivastav import PAPER, stability, system
from spillgate.papers.shrivastav.claims import CLAIMS
from spillgate.papers.shrivastav.silent import LEDGER, SILENT
from spillgate.papers.shrivastav.system import (
    CROSSBAR,
    FABRICS,
    LARGE,
    MODIFIED,
    RED,
    SCHEMES,
    SIZES,
    SMALL,
    TAIL,
)

# A world that is as the paper says


def around(mean, unit="packets"):
    """Four runs with this mean, and an interval of ±1.6 % of it: t(3) = 3.18, s = 1 % of it."""
    return PerRun(tuple(mean * (1 + d) for d in (-0.0115, -0.0038, 0.0038, 0.0115)), unit)


class World(Measured):
    """Made-up values; the claims take them for measured."""

    def __init__(self, world):
        self._own = world


def values(scheme, speedup):
    """Queues that fall with speedup; modified RED's output queue is that of RED from 2 on."""
    low = speedup < 2
    output = {TAIL: 15.0, RED: 8.0, MODIFIED: 5.0 if low else 8.0}[scheme]
    return {
        "input queue": around(20.0 * (2.6 - speedup) if low else 1.5 / speedup),
        "output queue": around(output),
        "utilization": around(0.9, "1"),
        "loss": around(0.10, "1"),
        "delay": around(0.02 * output, "s"),
    }


def as_the_paper_says():
    world = {}
    for size in SIZES:
        for fabric in FABRICS:
            for s, load in size.run_on(fabric):
                for x in SCHEMES:
                    world[size.at(x, s, load, fabric)] = values(x, s)
    return world


def verdicts(world):
    made = World(world)
    return {j.claim.id: j for j in PAPER.judged(View({k: (made, k) for k in world}))}


def test_every_claim_is_reproduced_where_all_is_as_the_paper_says():
    found = verdicts(as_the_paper_says())
    assert list(found) == [f"S{i}" for i in range(1, 11)]
    assert {k: (j.verdict, j.reason) for k, j in found.items()} == dict.fromkeys(
        found, ("reproduced", "")
    )


def changed(size, key, of, scheme, *speedups, loads=None, fabrics=FABRICS):
    """Values to replace at some speedups, all if none is given, and at some loads."""
    return {
        size.at(x, s, load, f): {key: of}
        for f in fabrics
        for s, load in size.points
        for x in ((scheme,) if scheme else SCHEMES)
        if (not speedups or s in speedups) and (loads is None or load in loads)
    }


WRONG = {
    # Claim: what is changed, verdict, further claims that it must touch.
    "S1": (changed(SMALL, "input queue", around(35.0), TAIL, 1.1), "not_reproduced", ()),
    "S2": (changed(SMALL, "input queue", around(3.2), None, 2.0), "shape_only", ()),
    "S2 rising": (changed(SMALL, "input queue", around(30.0), None, 1.5), "not_reproduced", ()),
    "S3": (changed(SMALL, "output queue", around(7.8), TAIL, 2.5), "not_reproduced", ()),
    "S4": (changed(SMALL, "output queue", around(7.0), MODIFIED, 1.3), "shape_only", ()),
    "S4 not": (changed(SMALL, "output queue", around(9.0), MODIFIED, 1.3), "not_reproduced", ()),
    "S5": (changed(SMALL, "output queue", around(7.0), MODIFIED, 2.5), "not_reproduced", ()),
    "S6": (
        changed(SMALL, "utilization", around(0.86, "1"), MODIFIED, loads=(400,)),
        "not_reproduced",
        (),
    ),
    "S7": (changed(SMALL, "loss", around(0.13, "1"), MODIFIED, loads=(80,)), "not_reproduced", ()),
    "S8": (changed(LARGE, "output queue", around(7.0), MODIFIED, 1.1), "shape_only", ()),
    "S9": (
        changed(LARGE, "loss", around(0.2, "1"), None, loads=(640,), fabrics=(CROSSBAR,)),
        "not_reproduced",
        (),
    ),
    "S10": (changed(LARGE, "delay", around(0.2, "s"), MODIFIED, 1.4), "not_reproduced", ()),
}


@pytest.mark.parametrize("claim", WRONG)
def test_each_claim_can_fail(claim):
    change, verdict, others = WRONG[claim]
    claim = claim.split()[0]
    world = as_the_paper_says()
    found = verdicts({k: {**v, **change.get(k, {})} for k, v in world.items()})
    assert found[claim].verdict == verdict
    assert found[claim].reason
    assert {k for k, j in found.items() if j.verdict != "reproduced"} == {claim, *others}


def test_few_packets_are_alike_whatever_their_ratio():
    """0.3 packets are within S1's bounds where 15 % are not."""
    world = as_the_paper_says()
    for k, v in world.items():
        if ", 2.5," in k:
            v["input queue"] = around(0.3 if TAIL in k else 0.2)
    assert verdicts(world)["S1"].verdict == "reproduced"


# The system


@pytest.fixture
def lab(tmp_path):
    return Lab(system.SYSTEM, tmp_path / "system", seed=1, runs=2, quick=True, jobs=1)


def test_the_file_is_the_small_switch(lab):
    """Run alone, it is what the points of the lowest speedup set in it."""
    grid = PAPER.batches[0].grid
    wanted = [Case(x, grid.places[SMALL.at(x, 1.1, 800)].set) for x in SCHEMES]
    found = [
        lab.simulation([Case(c.name, x) for c, x in zip(wanted, sets, strict=True)], BRIEF)
        for sets in (
            [{"topology.links.out.policy": "TAIL"}, {}, {system.NU: {"nu": 0.5}}],
            [c.set for c in wanted],
        )
    ]
    # One run of each: what it does is the same to the last event.
    digests = [[r.digest for r in s.run().runs] for s in found]
    assert digests[0] == digests[1]
    assert len(set(digests[0])) == len(SCHEMES)


BRIEF = Protocol(1, 0.0, 10.0)


def test_what_is_taken_of_a_run(lab):
    """Of a run of ten seconds: each key is there, and they are consistent."""
    grid = PAPER.batches[0].grid
    case = Case("x", grid.places[SMALL.at(MODIFIED, 1.1, 800)].set)
    results = lab.run("x", [case], BRIEF)
    [of] = system.taken(results).values()
    one = {k: q.values[0] for k, q in of.items()}
    assert one["VOQ"] * SMALL.ports == pytest.approx(one["input queue"])
    assert one["backlog"] == pytest.approx(one["input queue"] + one["output queue"])
    assert one["loss"] == pytest.approx(one["lost at inputs"] + one["lost at outputs"])
    assert 0 < one["output queue"] < system.BUFFER
    assert 0.5 < one["utilization"] < 1
    # Little's law in both stages: what waits over what leaves in a second, packets that are
    # dropped at the output counted in the first. The delay has the n / s of a packet's time in
    # which it crosses, too. Of 4500 packets the 80 that are in the switch at the end count in one
    # of both only.
    sent = one["utilization"] * 1e6 / (8 * system.PACKET)
    crossed = sent * (1 + one["lost at outputs"] / (1 - one["loss"]))
    waited = one["input queue"] / crossed + one["output queue"] / sent
    assert one["delay"] == pytest.approx(waited + SMALL.ports / 1.1 * 8e-3, rel=0.03)
    refused = results.classes(metric="transfers_refused")
    assert [r.mean for r in refused] == [0]


def test_sessions_are_as_many_as_the_load(lab):
    """Poisson arrivals: 800 in the mean over 100 s, 28 their deviation; 4 of those are allowed."""
    for size, load in ((SMALL, 800), (LARGE, 640)):
        set_ = {**size.settings(load), "topology.links.in.rate": "1 kb/s"}
        results = lab.run(size.name, [Case("x", set_)], Protocol(1, 0.0, 100.0))
        [begun] = [r.mean for r in results.classes(metric="transfers_begun")]
        assert begun == pytest.approx(load, abs=4 * load**0.5)


def test_the_round_trip_counts_the_packet_at_each_line():
    # Four links of 10 ms, 8 ms at the input and at the output, 4 / 1.1 times that between them.
    assert stability.round_trip(SMALL, 1.1) == pytest.approx(0.04 + 0.016 + 0.008 * 4 / 1.1)
    assert stability.at_once(SMALL) == pytest.approx(16)
    assert stability.at_once(LARGE) == pytest.approx(112)


def test_every_point_of_the_ledger_changes_what_is_run(lab):
    """A point that is what was chosen would show no effect, and prove nothing."""
    protocol = Protocol(1, 0.0, 0.01)
    grids = {x: b.grid for b in PAPER.batches for x in b.grid.places}

    def found(place, point=None):
        case = cases(grids[place], point)[place]
        return lab.simulation([Case("x", case.set)], protocol).description.hash

    for a in SILENT:
        assert a.value
        assert a.why
        assert a.points or a.note
        for point in a.points:
            for place in (point.places or LEDGER)[:1]:
                assert found(place, point) != found(place), (a.key, point.label, place)


# The page


def test_the_page_shows_these_claims_and_assumptions(root):
    """Its numbers come from runs of minutes; `docs/refresh.py papers` writes them."""
    page = (root / "docs/papers/shrivastav.md").read_text(encoding="utf-8")
    for claim in CLAIMS:
        assert f"| {claim.id} | {claim.statement} |" in page
    for a in SILENT:
        assert f"| {a.key} | {a.value} | {a.why} |" in page
    for name, text in re.findall(r"<!-- table (\S+) -->\n(.*?)<!-- end -->", page, re.DOTALL):
        assert text.startswith("| "), name
    for name, text in re.findall(r"<!-- text (\S+) -->\n(.*?)<!-- end -->", page, re.DOTALL):
        assert text.strip(), name
    for name in re.findall(r"\((\.\./img/\S+)\)", page):
        assert (root / "docs/papers" / name).is_file(), name


# A quick reproduction


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """What `--quick` does, with two runs."""
    return reproduce("shrivastav", tmp_path_factory.mktemp("shrivastav"), quick=True, runs=2)


def test_a_quick_reproduction_judges_every_claim(quick):
    assert [j.claim.id for j in quick.claims] == [c.id for c in CLAIMS]
    assert all(j.parts for j in quick.claims)
    assert [x.assumption.key for x in quick.assumptions] == [a.key for a in SILENT]
    table = {t.file: t for s in quick.sections for t in s.tables}
    assert {"queues-4", "loss-4", "queues-16", "loss-16", "weights", "margins"} <= set(table)
    assert len(table["oscillation"].rows) == len(stability.SWUNG)
    # Every fabric at every point of the small switch, some of the large one.
    rows = table["queues-4"].rows
    assert len(rows) == len(FABRICS) * len(SCHEMES) * len(SMALL.speedups)
    assert all(None not in row for row in rows)


def test_pictures_are_drawn(quick, tmp_path):
    pictures = [p for s in quick.sections for p in s.pictures]
    for picture in pictures:
        picture.draw(tmp_path / picture.file)
        assert (tmp_path / f"{picture.file}.png").stat().st_size > 10_000
    assert {p.file for p in pictures} >= {"fig02-queues-4", "frontier", "oscillation"}
