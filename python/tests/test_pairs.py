"""Every two variants compared: `against: all`, corrected by Holm."""

import itertools

import pytest

import spillgate
from spillgate import statistics

SHORT = {"measurement.duration": "1 s", "measurement.warmup": "1 s", "runs.count": 6}


@pytest.fixture(scope="module")
def ce_node(root):
    return root / "examples/ce-node/scenario.yaml"


@pytest.fixture(scope="module")
def results(ce_node):
    return spillgate.run(ce_node, against="all", series=[], set=SHORT)


def holm(values):
    """Levels of intervals by Holm's correction, from p-values of Student's test."""
    p = [statistics.p_value(v, 0.0, again=False) if any(v) else 1.0 for v in values]
    order = sorted(range(len(p)), key=lambda i: p[i])
    levels, rejects = {}, True
    for rank, i in enumerate(order):
        if rejects:
            level = 1 - 0.05 / (len(p) - rank)
            rejects = p[i] <= 1 - level
        # From the first on that is not rejected, all have its level.
        levels[i] = level
    return [levels[i] for i in range(len(p))]


def test_every_two_variants_are_compared(results):
    names = results.description.variants
    pairs = [(b, a) for a, b in itertools.combinations(names, 2)]
    found = results.differences(cls="voice", metric="owd_mean")
    assert sorted((d.variant, d.against) for d in found) == sorted(pairs)
    assert len(found) == 10
    assert results.description.compares_pairs


@pytest.mark.parametrize(
    ("cls", "metric"), [("voice", "owd_mean"), ("critical", "throughput"), ("bulk", "owd_p99")]
)
def test_intervals_are_those_of_the_runs_at_levels_of_holm(results, cls, metric):
    of = {s.variant: s.values for s in results.samples(scope="class", metric=metric, name=cls)}
    found = results.differences(cls=cls, metric=metric)
    values = [[a - b for a, b in zip(of[d.variant], of[d.against], strict=True)] for d in found]
    varied = [any(v != values[k][0] for v in values[k]) for k in range(len(values))]
    assert sum(varied) >= 5
    for d, runs, level in zip(found, values, holm(values), strict=True):
        wanted = statistics.mean(runs, level=level, again=False)
        assert d.mean == pytest.approx(wanted.estimate)
        assert d.low == pytest.approx(wanted.low, rel=1e-6, abs=1e-12)
        assert d.high == pytest.approx(wanted.high, rel=1e-6, abs=1e-12)
        if any(runs):
            shown = d.low > 0 or d.high < 0
            assert (d.effect in ("better", "worse")) is shown
        else:
            assert d.effect == "same"


def test_they_are_wider_than_of_one_pair(results, ce_node):
    one = spillgate.run(ce_node, against="FIFO", series=[], set=SHORT)
    alone = {(d.variant, d.cls, d.metric): d for d in one.differences()}
    assert {d.against for d in one.differences()} == {"FIFO"}
    wider = 0
    for d in results.differences():
        if d.against == "FIFO" and d.half:
            other = alone[d.variant, d.cls, d.metric]
            assert d.mean == other.mean
            assert d.half >= other.half
            wider += d.half > other.half
    assert wider > 20
