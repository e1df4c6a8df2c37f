"""The reproduction of Domżał et al.: predicates on made-up cells, the oracle, and a small run."""

import json
import math
import re
from dataclasses import replace

import pytest
from matplotlib.figure import Figure

from spillgate.papers import domzal, page
from spillgate.papers.domzal import beyond, figures, ledger, oracle, sweep, system
from spillgate.papers.domzal.cells import Cell, Reader, Wait, percentile
from spillgate.papers.domzal.claims import CLAIMS, Found
from spillgate.papers.domzal.effort import FULL, QUICK, Effort
from spillgate.papers.domzal.regression import fit, slopes
from spillgate.papers.domzal.system import BASIC, MECHANISMS, ROUTERS, SCHEDULERS, Setting
from spillgate.papers.judge import shown
from spillgate.papers.lab import Case, Lab, Protocol
from spillgate.papers.measured import PerRun
from spillgate.papers.model import Quantity
from spillgate.result import Results, Saved
from spillgate.scenario import Description
from spillgate.source import Source

# A world that is as the paper says


def around(mean, unit="s"):
    """Four runs with this mean, and an interval of ±1.6 % of it: t(3) = 3.18, s = 1 % of it."""
    return PerRun(tuple(mean * (1 + d) for d in (-0.0115, -0.0038, 0.0038, 0.0115)), unit)


def waits(mean, slowest=None):
    """Four runs of four streams: the wait of each, or one that is slower than the others."""
    runs = []
    for run in around(mean).values:
        rest = (4 * run - slowest) / 3 if slowest else run
        runs.append((*(Wait(rest) for _ in range(3)), Wait(slowest or run)))
    return tuple(runs)


def cell(r2, r4, *, transfer=300.0, gap=0.6):
    return Cell(
        waits={"R2": waits(r2), "R4": waits(r4)},
        removed=PerRun((0.0,) * 4, "removals"),
        gaps=tuple((gap,) * 20 for _ in range(4)),
        busy={"R2": around(0.96, "1"), "R4": around(0.98, "1")},
        transfer=around(transfer),
        finished=around(150.0),
        done=around(300.0, "transfers"),
        openings=((1.0, 2.0),) * 4,
        entry=PerRun((0.009,) * 4, "s"),
    )


def as_the_paper_says():
    table = {(s, BASIC): cell(78.0, 240.0, gap=20.0) for s in SCHEDULERS}
    table |= {(s, m): cell(0.5, 0.5) for s in SCHEDULERS for m in MECHANISMS}
    by_timer = {
        (s, m, t): cell(0.45 * t, 0.5 * t, transfer=310.0)
        for s in SCHEDULERS
        for m in MECHANISMS
        for t in system.TIMERS
    }
    by_flows = {(r, n): table["PFQ", r] for r in ROUTERS for n in system.FLOWS}
    expected = {s: PerRun((0.97, 1.02, 1.0, math.nan), "ratio") for s in SCHEDULERS}
    by_cost = {
        (m, t): cell(0.45 * t, 0.5 * t, transfer=310.0)
        for m in MECHANISMS
        for t in (1.0, 20.0, 200.0)
    }
    return Found(table, expected, by_flows, by_timer, by_cost, cell(78.0, 240.0))


def verdicts(found):
    return {j.claim.id: j for j in domzal.judged(found)}


def test_a_sweep_of_fewer_runs_is_no_trial_of_table_one():
    """As with more runs of table I than figures 7 to 9 have at most."""
    found = as_the_paper_says()
    few = {
        k: replace(c, waits={at: w[:2] for at, w in c.waits.items()})
        for k, c in found.by_timer.items()
    }
    for by_timer, trials in ((found.by_timer, 2), (few, 1)):
        of = replace(found, by_timer=by_timer)
        assert len(domzal._trials(of, of)["D3"]) == trials


def test_every_claim_is_reproduced_where_all_is_as_the_paper_says():
    found = verdicts(as_the_paper_says())
    assert list(found) == [f"D{i}" for i in range(1, 12)]
    assert {k: (j.verdict, j.reason) for k, j in found.items()} == dict.fromkeys(
        found, ("reproduced", "")
    )


def cells_where(found, key, **changes):
    """The world with some cells of table I changed."""
    table = {k: replace(c, **changes) if key(k) else c for k, c in found.table.items()}
    return replace(found, table=table)


def is_basic(k):
    return k[1] == BASIC


def with_waits(found, key, at, seconds):
    """The world with other waits at one router in some cells of table I."""
    table = {
        k: replace(c, waits={**c.waits, at: waits(seconds)}) if key(k) else c
        for k, c in found.table.items()
    }
    return replace(found, table=table)


def bent(found, mechanism):
    """The world in which waits go with the square of the timer."""
    by_timer = {
        k: replace(c, waits={**c.waits, "R2": waits(0.02 * k[2] ** 2)}) if k[1] == mechanism else c
        for k, c in found.by_timer.items()
    }
    return replace(found, by_timer=by_timer)


def loaded(found):
    by_flows = {k: cell(2.0, 0.5) if k == ("RAEF", 600) else c for k, c in found.by_flows.items()}
    return replace(found, by_flows=by_flows)


def dear(found):
    by_cost = {k: replace(c, transfer=around(360.0)) for k, c in found.by_cost.items()}
    return replace(found, by_cost=by_cost)


WRONG = {
    # Claim: the change, its verdict, further claims that it must touch.
    "D1": (lambda f: with_waits(f, is_basic, "R2", 140.0), "shape_only", ()),
    "D1 not": (lambda f: with_waits(f, is_basic, "R2", 4.0), "not_reproduced", ()),
    "D2": (
        lambda f: replace(f, oracle={"PFQ": PerRun((1.3, 1.3, 1.3), "ratio")}),
        "shape_only",
        (),
    ),
    "D2 not": (lambda f: with_waits(f, is_basic, "R4", 40.0), "not_reproduced", ()),
    "D3": (lambda f: with_waits(f, lambda k: k[1] == "EFM", "R2", 1.5), "shape_only", ()),
    "D3 not": (lambda f: with_waits(f, lambda k: k[1] == "EFM", "R2", 2.6), "not_reproduced", ()),
    "D4": (lambda f: with_waits(f, lambda k: k[1] == "RAEF", "R4", 2.0), "shape_only", ()),
    "D4 not": (lambda f: with_waits(f, lambda k: k[1] == "RAEF", "R4", 3.5), "not_reproduced", ()),
    "D5": (lambda f: with_waits(f, lambda k: k == ("PDRR", "EFM"), "R4", 0.01), "reproduced", ()),
    "D5 shape": (
        lambda f: with_waits(f, lambda k: k == ("PFQ", "RBAEF"), "R2", 0.99 + 0.3),
        "shape_only",
        ("D3",),
    ),
    "D5 not": (
        lambda f: with_waits(f, lambda k: k == ("PFQ", BASIC), "R2", 50.0),
        "not_reproduced",
        (),
    ),
    "D6": (loaded, "not_reproduced", ()),
    "D7": (lambda f: bent(f, "EFM"), "not_reproduced", ()),
    "D8": (lambda f: bent(f, "RBAEF"), "not_reproduced", ()),
    "D9": (
        lambda f: replace(
            f,
            table={
                k: replace(c, waits={**c.waits, "R4": waits(2.0, 6.8)}) if k[1] == "EFM" else c
                for k, c in f.table.items()
            },
        ),
        "not_reproduced",
        ("D4",),
    ),
    "D10": (dear, "not_reproduced", ()),
    "D11": (
        lambda f: cells_where(f, lambda k: not is_basic(k), gaps=((1.6,) * 20,) * 4),
        "shape_only",
        (),
    ),
    "D11 not": (
        lambda f: cells_where(
            f, lambda k: k == ("PDRR", "EFM"), removed=PerRun((0.0, 1.0, 0.0, 2.0), "removals")
        ),
        "not_reproduced",
        (),
    ),
    "D11 idle": (
        lambda f: cells_where(
            f,
            lambda k: k == ("PFQ", "RAEF"),
            busy={"R2": around(0.8, "1"), "R4": around(0.98, "1")},
        ),
        "shape_only",
        (),
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_each_claim_can_fail(case):
    change, verdict, others = WRONG[case]
    claim = case.split()[0]
    found = verdicts(change(as_the_paper_says()))
    assert found[claim].verdict == verdict
    assert (found[claim].reason == "") == (verdict == "reproduced")
    failed = {k for k, j in found.items() if j.verdict != "reproduced"}
    assert failed - {claim} <= set(others)
    assert failed >= set(others)


def test_slopes_are_formed_run_by_run():
    q = slopes({1.0: PerRun((1.0, 2.0), "s"), 3.0: PerRun((2.0, 6.0), "s")})
    assert q.values == (0.5, 2.0)
    assert math.isnan(fit({1.0: 2.0, 2.0: 2.0}).r2)
    # Points at 0, 1, 2: the slope is (1 * 3 - (-1) * 0) / 2; 9 / (2 * 4.67) of the variance.
    line = fit({0.0: 0.0, 1.0: 2.0, 2.0: 3.0})
    assert line.slope == pytest.approx(1.5)
    assert line.r2 == pytest.approx(1.5**2 * 2 / (14 / 3))


def test_percentiles_are_of_the_sample():
    # The 19th of 20 values is not exceeded by 95 % of them.
    assert percentile([float(i) for i in range(1, 21)], 0.95) == 19.0
    assert math.isnan(percentile([], 0.5))


# The oracle


@pytest.mark.parametrize(
    ("count", "scale", "seconds"), [(25, 50e6, 14.7), (100, 50e6, 92.0), (200, 100e6, 417.0)]
)
def test_fresh_flows_close_as_long_as_the_closed_form_says(count, scale, seconds):
    assert oracle.closure(count, scale, 100e6, 19) == pytest.approx(seconds, rel=0.006)
    # n / C times E[min(X, q)] = x_m + 2 x_m (1 - sqrt(x_m / q)), q = x_m (n / 19)^(2/3).
    q = scale * (count / 19) ** (2 / 3)
    mean = scale + 2 * scale * (1 - math.sqrt(scale / q))
    assert oracle.closure(count, scale, 100e6, 19) == pytest.approx(count * mean / 100e6, rel=1e-9)


def test_a_second_closure_counts_what_the_first_left():
    """Against drawn volumes in a fluid model: two openings of 60 and 40 flows."""
    import random

    draw = random.Random(5)
    scale, rate, stay = 50e6, 100e6, 19

    def drawn(n):
        return [scale / (1.0 - draw.random()) ** (1 / 1.5) for _ in range(n)]

    def until(left):
        """Seconds, and what is left when only `stay` flows have something left."""
        service = sorted(left)[-stay - 1]
        return sum(min(x, service) for x in left) / rate, [
            x - service for x in left if x > service
        ]

    totals = []
    for _ in range(2000):
        _, left = until(drawn(60))
        seconds, _ = until([*left, *drawn(40)])
        totals.append(seconds)
    mean = sum(totals) / len(totals)
    spread = math.sqrt(sum((t - mean) ** 2 for t in totals) / (len(totals) - 1))
    first = oracle.closure(60, scale, rate, stay)
    times = [0.1 * i / 60 for i in range(60)] + [first + 0.1 + 0.1 * i / 40 for i in range(40)]
    found = oracle.reopening(times, before=1e9, scale=scale, rate=rate, stay=stay, tick=0.5)
    assert found is not None
    assert found[0] == pytest.approx(times[-1])
    # The oracle takes means where the model draws: the number that stay is then a mean as well.
    # Its bias goes with one over the number of flows; 5 % for 59, beside four standard errors.
    assert found[1] == pytest.approx(mean, abs=0.05 * mean + 4 * spread / math.sqrt(len(totals)))


def test_an_open_link_has_no_closure():
    arguments = {"before": 250.0, "scale": 1e8, "rate": 1e8, "stay": 19.0, "tick": 0.5}
    assert oracle.reopening([0.1 * i for i in range(10)], **arguments) is None
    with pytest.raises(ValueError, match="does not close"):
        oracle.closure(10, 1e8, 1e8, 19)


# Cells


class Made(Saved):
    """Values that a batch of one variant could have given."""

    def __init__(self, admission, samples):
        super().__init__({"admission": admission}, None)
        self._samples = samples

    def part(self, name):
        return self._data[name]

    def samples(self, scopes, metrics):
        return [s for s in self._samples if s["scope"] in scopes and s["metric"] in metrics]


def admission(run, link, flow, offered, admitted, **more):
    cls = {"stream": "streams", "elastic-1": "elastic to d1", "elastic-2": "elastic to d2"}
    return {
        "variant": "x",
        "run": run,
        "link": link,
        "flow": flow,
        "class": cls[flow.rpartition("-")[0] if flow.startswith("stream") else flow],
        "direction": "data",
        "offered_s": offered,
        "admitted_s": admitted,
        "waiting_s": (500.0 if admitted is None else admitted) - offered,
        "refused": 0,
        "refused_total": 0,
        "admissions": 1,
        "removals": 0,
        "timeouts": 0,
        **more,
    }


def sample(scope, name, metric, values, unit="1"):
    return {
        "variant": "x",
        "scope": scope,
        "name": name,
        "metric": metric,
        "unit": unit,
        "runs": [0, 1],
        "values": values,
    }


@pytest.fixture
def reader():
    rows = [
        admission(0, "L3", "stream-0", 10.0, 12.0),
        # Never admitted at R2: from the failure on its packets go elsewhere.
        admission(0, "L3", "stream-1", 240.0, None),
        admission(0, "L5", "stream-0", 250.0, 250.5),
        admission(0, "L5", "stream-1", 250.0, 450.0, removals=2),
        admission(1, "L3", "stream-0", 20.0, 20.0),
        admission(1, "L5", "stream-0", 250.0, 250.25),
        admission(0, "L3", "elastic-1", 10.0, 10.0),
        admission(0, "L5", "elastic-1", 250.0, 300.0),
        admission(0, "L5", "elastic-2", 30.0, 30.0),
        admission(1, "L5", "elastic-2", 0.0, 7.0),
        admission(0, "L3", "elastic-1", 0.0, 1.0, direction="acknowledgments"),
    ]
    samples = [sample("flow", f"stream-{i}", "gap_max", [0.5, None]) for i in range(20)]
    samples += [sample("link", "L3", "utilization", [0.45, 0.5])]
    samples += [sample("link", "L5", "utilization", [0.9, 1.0])]
    for name, begun, done, fct in (
        ("elastic to d1", [1, 0], [1, 0], [100.0, None]),
        ("elastic to d2", [1, 1], [0, 0], [None, None]),
    ):
        samples += [sample("class", name, "transfers_begun", begun)]
        samples += [sample("class", name, "transfers_done", done)]
        samples += [sample("class", name, "fct_mean", fct, "s")]
    described = Description.from_json(
        {
            "name": "x",
            "hash": "0" * 32,
            "files": [],
            "seed": 1,
            "runs": 2,
            "variants": ["x"],
            "classes": [],
            "links": [],
            "policies": [],
            "flows": 1,
            "warnings": [],
            "unmodelled": [],
            "memory_bytes": 1,
            "jobs": 1,
            "measurement": {"warmup": 0.0, "duration": 500.0, "interval": 1.0},
            "sla": [],
        }
    )
    return Reader(Results(described, Made(rows, samples), source=Source(system.SYSTEM)))


def test_waits_end_at_the_failure_where_the_streams_leave(reader):
    found = reader.cell("x", 250.0)
    assert found.waits["R2"][0] == (Wait(2.0), Wait(10.0, admitted=False))
    assert found.wait("R2").values == (6.0, 0.0)
    assert found.wait("R4").values == ((0.5 + 200.0) / 2, 0.25)
    assert found.longest("R4").values == (200.0, 0.25)
    assert found.censored("R2").values == (1.0, 0.0)
    # Who waits still is not within anything.
    assert found.share_within("R2", 11.0).values == (0.5, 1.0)
    assert found.removed.values == (2.0, 0.0)
    assert found.entry.values == (199.5, 0.0)
    assert found.openings == ((30.0, 300.0), (7.0,))


def test_a_run_can_be_looked_at_as_if_it_had_ended_earlier(reader):
    cut = reader.cell("x", 250.0, 400.0)
    assert cut.waits["R4"][0] == (Wait(0.5), Wait(150.0, admitted=False))
    assert cut.wait("R2").values == (6.0, 0.0)


def test_loads_and_transfers(reader):
    found = reader.cell("x", 250.0)
    # L3 is in use until the failure only.
    assert found.busy["R2"].values == (0.9, 1.0)
    assert found.busy["R4"].values == (0.9, 1.0)
    # One of 100 s; the other is under way, and both began after 20 s in the mean.
    assert found.transfer.values == ((100.0 + 480.0) / 2, 500.0)
    assert found.finished.values[0] == 100.0
    assert math.isnan(found.finished.values[1])
    assert found.done.values == (1.0, 0.0)
    assert found.gaps[0] == (0.5,) * 20
    assert found.gaps[1] == ()
    assert reader.cell("x", None).gaps == ()


# The system


@pytest.fixture
def lab(tmp_path):
    return Lab(system.SYSTEM, tmp_path / "system", seed=1, runs=2, quick=True, jobs=1)


PROTOCOL = Protocol(1, 0.0, 500.0)


def test_the_scenario_is_the_paper_s_with_our_choices(lab):
    """What a setting replaces in the scenario is what stands there already."""
    short = Protocol(1, 0.0, 3.0)
    settings = Setting(failure=2.5).settings(end=3.0)
    later = {"topology.failures.0.at": "2.5 s"}
    results = lab.run("x", [Case("plain", later), Case("chosen", settings)], short)
    digests = [r.digest for r in results.runs]
    assert digests[0] == digests[1]


def test_every_choice_of_the_ledger_changes_what_is_run(lab):
    for line in ledger.LINES:
        assert line.assumption.value
        assert line.assumption.why
        assert line.choices or line.assumption.note
        for router in line.assumption.places[:1]:
            chosen = Setting(router=router)
            before = lab.simulation([Case("x", chosen.settings())], PROTOCOL).description.hash
            for choice in line.choices:
                values = choice.change(chosen).settings()
                after = lab.simulation([Case("x", values)], PROTOCOL).description.hash
                assert after != before, (line.assumption.key, choice.label)
    keys = [line.assumption.key for line in ledger.LINES]
    assert len(set(keys)) == len(keys)


def test_forms_beyond_the_paper_can_be_run(lab):
    cases = [
        Case(name, Setting(rest=rest).settings(0.2, 300.0)) for name, rest in beyond.FORMS.items()
    ]
    assert lab.simulation(cases, Protocol(1, 0.0, 300.0)).description.variants


def test_the_second_workload_is_the_recalled_one():
    values = system.W_LIT.settings(1.0)
    assert values["traffic.1.sessions.session.transfer.size.pareto.mean"] == "18750000 B"
    assert values["traffic.2.sessions.tcp.retry"] == "exponential"
    assert values["traffic.0.flow.start_gap"] == "1 s"


def test_a_part_of_the_rates_takes_as_long():
    whole, fifth = Setting().settings(), Setting().settings(0.2)
    assert fifth["topology.links.L3.rate"] == "20000000 b/s"
    assert fifth["policies.FAN.fan.limit"] == "200 packets"
    # Streams send a fifth of the packets as well, but never fewer than 20 a second.
    assert fifth["traffic.0.flow.source.cbr.packet"] == "100 B"
    assert fifth["traffic.0.flow.source.cbr.rate"] == "16000 b/s"
    tenth = Setting().settings(0.1)
    assert tenth["traffic.0.flow.source.cbr.packet"] == "50 B"
    assert tenth["traffic.0.flow.source.cbr.rate"] == "8000 b/s"
    changed = {k for k in whole if whole[k] != fifth[k]}
    assert not [k for k in changed if "gap" in k or "failures" in k or "mechanism" in k]


# A small run of everything

TINY = Effort(
    few=2,
    second=2,
    scale=0.02,
    small=0.02,
    failure=30.0,
    aftermath=10.0,
    end=50.0,
    prolonged=60.0,
    decisive=0.03,
    deciding=2,
    timers=(2.0, 3.0, 5.0),
    costs=(2.0, 20.0),
    traded=2,
    flows=(200, 225, 250),
    sweep_start=5.0,
    sweep_gap=0.5,
    sweep_end=30.0,
    brief=2,
    crowd=1e9,
)
"""Links of 2 Mb/s, and an early failure: nothing of it is a result."""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    where = tmp_path_factory.mktemp("domzal")
    lab = Lab(system.SYSTEM, where / "system", seed=1, runs=2, quick=True)
    found = domzal.run(lab, TINY)
    page.write(found, where, ["test"], 0.0, 0.0)
    return found, where


def test_everything_is_run_and_written(tiny):
    found, where = tiny
    document = json.loads((where / "claims.json").read_text())
    assert document == found.document()
    assert [c["id"] for c in document["claims"]] == [f"D{i}" for i in range(1, 12)]
    for claim in document["claims"]:
        assert (claim["reason"] == "") == (claim["verdict"] == "reproduced")
    assert len(document["assumptions"]) == len(ledger.LINES)
    assert all(a["effect"] for a in document["assumptions"])
    names = {p.stem for p in (where / "figures").glob("*.png")}
    assert {"fig06-waits-by-flows", "fig07-efm", "fig08-raef", "fig09-rbaef"} <= names
    for name in (
        "table1",
        "table1-trigger",
        "settings",
        "table1-lit",
        "timers",
        "costs",
        "flows",
        "closures",
        "beyond",
        "ledger-waits",
    ):
        assert (where / f"tables/{name}.csv").is_file()
    assert (where / "runs/table-i-mechanisms/admission.csv").is_file()


def test_the_ledger_is_run_as_often_as_the_claims(tiny):
    """Each point has the runs of the claims, so that each mean has an interval."""
    found, _ = tiny
    waits = next(t for s in found.sections for t in s.tables if t.file == "ledger-waits")
    quantities = [c for row in waits.rows for c in row if isinstance(c, Quantity)]
    assert quantities
    # With so short runs some streams come too late for either router.
    assert {q.n for q in quantities if q.n} == {found.runs}


def test_the_ledger_says_where_its_base_is_not_the_claims():
    found = as_the_paper_says()
    claims = domzal.judged(found)
    cells = {r: found.table["PFQ", r] for r in ROUTERS}
    assert sweep.agreement(claims, sweep.judged(cells)) == "It has the verdicts of the claims."
    cells["EFM"] = cell(1.5, 0.5)
    said = sweep.agreement(claims, sweep.judged(cells))
    assert said == "It has other verdicts than the claims for D3 (shape only here)."


def test_a_trigger_that_is_admitted_waits_less(tiny):
    """D3 with the suspected cause on and off, under the same seeds."""
    found, _ = tiny
    table = {t.file: t for s in found.sections for t in s.tables}
    dropped = {row[1]: row[3] for row in table["table1"].rows[1:4]}
    admitted = {row[1]: row[3] for row in table["table1-trigger"].rows[:3]}
    assert dropped.keys() == admitted.keys() == set(MECHANISMS)
    assert all(admitted[m].mean < dropped[m].mean for m in MECHANISMS)
    d3 = next(j for j in found.claims if j.claim.id == "D3")
    assert d3.verdict == "reproduced" or "it is admitted at once" in d3.reason


def test_what_is_cut_off_is_shown_as_a_lower_bound(reader):
    found = reader.cell("x", 250.0)
    assert shown(found.wait("R2").quantity).startswith("≥ ")
    assert not shown(found.wait("R4").quantity).startswith("≥ ")
    assert shown(reader.cell("x", 250.0, 400.0).wait("R4").quantity).startswith("≥ ")
    figure = Figure()
    axes = figure.add_subplot()
    figures._line(axes, {1.0: found.wait("R2"), 2.0: found.wait("R4")}, color="black")
    arrows = [line for line in axes.lines if line.get_label() == "_cut off"]
    assert [list(line.get_xdata()) for line in arrows] == [[1.0]]


def test_mechanisms_let_streams_in_sooner(tiny):
    """A timer of 5 s and three ticks bound it; closures of basic FAN take longer."""
    found, _ = tiny
    claim = {j.claim.id: j for j in found.claims}
    for j in (claim["D3"], claim["D9"]):
        assert j.ours.mean is not None
    assert claim["D3"].ours.mean < 5.0 + 1.5


def test_changing_the_mechanism_changes_no_traffic(lab):
    """All streams come to R2 at the same times whatever it does."""
    settings = {r: Setting(router=r, failure=None) for r in (BASIC, "EFM")}
    cases = [Case(n, s.settings(0.05, 20.0)) for n, s in settings.items()]
    results = lab.run("x", cases, Protocol(1, 0.0, 20.0))
    offered = [
        sorted((a.flow, a.offered_s) for a in results.admission(variant=r) if a.cls == "streams")
        for r in settings
    ]
    assert offered[0] == offered[1]
    assert len(offered[0]) >= 5


def test_more_flows_need_more_of_the_rates():
    """At least ten packets a second for each of them, as 200 have at a fifth."""
    for n in FULL.flows:
        fair = FULL.load(n) * system.RATE / n / (8 * system.PACKET)
        assert fair >= 10.0


def test_efforts_are_of_the_paper():
    assert FULL.few >= 10
    # Every point of the ledger is run as often as the claims, and what decides figure 6 at full
    # rates.
    assert FULL.ledger is None
    assert FULL.decisive == 1.0
    assert (FULL.failure, FULL.end) == (250.0, 500.0)
    assert max(FULL.costs) == 200.0
    assert set(QUICK.timers) <= set(FULL.timers)
    assert set(QUICK.flows) <= set(FULL.flows)


def test_the_page_shows_these_claims_and_assumptions(root):
    """Its numbers come from runs of minutes; `docs/refresh.py papers` writes them."""
    text = (root / "docs/papers/domzal.md").read_text(encoding="utf-8")
    for claim in CLAIMS:
        assert f"| {claim.id} | {claim.statement} |" in text
    for line in ledger.LINES:
        a = line.assumption
        assert f"| {a.key} | {a.value} | {a.why} |" in text
    blocks = re.findall(r"<!-- table (\S+) -->\n(.*?)<!-- end -->", text, re.DOTALL)
    # What becomes of the packet that triggers a removal is a setting of first class.
    names = {name for name, _ in blocks}
    assert names >= {"table1", "table1-trigger", "settings", "costs", "runs"}
    for name, block in blocks:
        assert block.startswith("| "), name
    for name in re.findall(r"\((\.\./img/\S+)\)", text):
        assert (root / "docs/papers" / name).is_file(), name
