"""Intervals of independent values, against what others compute."""

import math
import random

import pytest

from spillgate import statistics

LEVEL = 0.95


def test_evidence_is_the_definition_integrated():
    """The mixture of noncentral t densities, by scipy instead of in closed form."""
    stats = pytest.importorskip("scipy.stats")
    integrate = pytest.importorskip("scipy.integrate")
    for values, bound in [([1.0, 2, 3, 4, 5], 5.0), ([3.1, 2.9, 3.4, 3.0], 2.2), ([0, 1, 1], 9)]:
        n = len(values)
        center = sum(values) / n
        deviation = math.sqrt(sum((x - center) ** 2 for x in values) / (n - 1))
        t = (center - bound) / (deviation / math.sqrt(n))

        def ratio(d, t=t, n=n):
            log = stats.nct.logpdf(t, n - 1, d * math.sqrt(n)) - stats.t.logpdf(t, n - 1)
            return math.exp(log) * stats.norm.pdf(d, 0, math.sqrt(10))

        evidence = integrate.quad(ratio, -40, 40, points=[0, t / math.sqrt(n)], limit=500)[0]
        expected = min(1, 1 / (0.9 * evidence))
        assert statistics.p_value(values, bound) == pytest.approx(expected, rel=1e-6)
    # Two values have a tenth of the level, by Student's test.
    assert statistics.p_value([0, 1], 90.5) == pytest.approx(
        10 * statistics.p_value([0, 1], 90.5, again=False)
    )


def test_interval_ends_where_the_p_value_is_that_of_its_level():
    values = [random.Random(1).gauss(0, 1) for _ in range(12)]
    values = [v + k for k, v in enumerate(values)]
    for level in (0.9, 0.95, 0.999):
        for again in (True, False):
            found = statistics.mean(values, level=level, again=again)
            for end in (found.low, found.high):
                p = statistics.p_value(values, end, again=again)
                assert p == pytest.approx(1 - level, rel=1e-6)


def test_quantiles_are_those_of_the_beta_binomial_martingale():
    special = pytest.importorskip("scipy.special")
    for n, p, level in [(12, 0.5, 0.95), (60, 0.9, 0.95), (200, 0.25, 0.99)]:
        a, b = 4 * p, 4 * (1 - p)
        possible = [
            k
            for k in range(n + 1)
            if special.betaln(a + k, b + n - k)
            - special.betaln(a, b)
            - k * math.log(p)
            - (n - k) * math.log(1 - p)
            < -math.log(1 - level)
        ]
        found = statistics.quantile(range(1, n + 1), p, level=level)
        assert found.low == (possible[0] or -math.inf)
        assert found.high == (possible[-1] + 1 if possible[-1] < n else math.inf)


def test_quantiles_agree_with_confseq():
    """The authors' own bound (Howard and Ramdas), at the weight that makes its prior ours."""
    boundaries = pytest.importorskip(
        "confseq.boundaries", reason="confseq is not installed; the core has its values"
    )
    log = 2 * math.log(20)
    weight = 5 * (log + math.log(1 + log))
    for n, p in [(9, 0.5), (40, 0.25), (100, 0.95), (1000, 0.99)]:
        variance = p * (1 - p)

        def bound(g, h, n=n, variance=variance):
            return float(
                boundaries.beta_binomial_mixture_bound(
                    n * variance, 0.05, weight * variance, g, h, 0.05, is_one_sided=False
                )
            )

        found = statistics.quantile(range(1, n + 1), p)
        assert found.low == math.ceil(n * p - bound(1 - p, p))
        assert found.high == math.floor(n * p + bound(p, 1 - p)) + 1


@pytest.mark.parametrize("level", [0, 1, 1.5, math.nan])
def test_levels_are_between_0_and_1(level):
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        statistics.mean([1.0, 2.0], level=level)
    with pytest.raises(ValueError, match="p must be between 0 and 1"):
        statistics.quantile([1.0, 2.0], level)
