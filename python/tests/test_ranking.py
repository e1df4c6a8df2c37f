"""Rankings: places, groups, and how often they are wrong."""

import math
from itertools import combinations

import pytest

import spillgate
from spillgate.ranking import METRICS, _groups, _ranking, rankings
from spillgate.rows import Difference, Row

LINE = {
    "schema_version": 1,
    "topology": {
        "nodes": ["a", "b"],
        "links": {"wan": {"from": "a", "to": "b", "rate": "1 Mb/s", "policy": "q"}},
    },
    "policies": {"q": {"fifo": {"limit": "1000 packets"}}},
    "traffic": [
        {
            "flow": {
                "name": "load",
                "from": "a",
                "to": "b",
                "class": "data",
                "source": {"poisson": {"rate": "500 kb/s", "packet": "500 B"}},
            }
        }
    ],
    "measurement": {"warmup": "0 s", "duration": "1 s", "interval": "0.5 s"},
    "runs": {"count": 5},
    "verdicts": {"against": "all"},
}


def row(name, mean):
    low, high = (None, None) if mean is None else (mean - 0.1, mean + 0.1)
    return Row(name, "class", "data", "owd_mean", "s", mean, low, high, 5)


def pair(a, b, effect):
    """What `a` is beside `b`."""
    return Difference(a, b, "data", "owd_mean", "s", 0.5, 0.1, 0.9, 5, effect)


def ranked(means, effects):
    rows = {n: row(n, m) for n, m in means.items()}
    pairs = [pair(b, a, effects.get(a + b, "not shown")) for a, b in combinations(means, 2)]
    return _ranking("", rows, pairs)


def test_a_place_is_what_is_left_by_those_that_are_told_apart():
    # a is better than c and d, b than d; c and d are not told apart.
    effects = {"ac": "worse", "ad": "worse", "bd": "worse"}
    found = ranked({"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}, effects)
    assert [(p.name, p.first, p.last) for p in found.places] == [
        ("a", 1, 2),
        ("b", 1, 3),
        ("c", 2, 4),
        ("d", 3, 4),
    ]
    assert [p.places for p in found.places] == ["1 to 2", "1 to 3", "2 to 4", "3 to 4"]
    assert found.groups == (("a", "b"), ("b", "c"), ("c", "d"))
    assert found.leaders == ("a", "b")
    assert found.sentence == (
        "mean one-way delay of data: a, b are not told apart, and are better than some others."
    )


def test_of_a_rate_more_is_better():
    rows = {n: row(n, m) for n, m in {"a": 1.0, "b": 2.0}.items()}
    pairs = [Difference("b", "a", "data", "goodput", "b/s", 1.0, 0.9, 1.1, 5, "better")]
    found = _ranking("", rows, pairs)
    assert [p.name for p in found.places] == ["b", "a"]
    assert found.sentence == "goodput of data: b is better than all others."


def test_one_that_leads_without_being_better_than_all():
    found = ranked(
        {"a": 1.0, "b": 2.0, "c": 3.0}, {"ab": "not shown", "ac": "worse", "bc": "worse"}
    )
    assert found.leaders == ("a", "b")
    assert "are better than the others" in found.sentence
    found = ranked({"a": 1.0, "b": 2.0, "c": 3.0}, {"bc": "worse", "ab": "worse"})
    assert found.leaders == ("a",)
    assert found.sentence.endswith("a leads, but is not shown to be better than all others.")


def test_what_has_no_value_has_no_place():
    rows = {"a": row("a", 1.0), "b": row("b", None), "c": row("c", 3.0)}
    pairs = [pair("c", "a", "worse"), pair("b", "a", "not shown"), pair("c", "b", "not shown")]
    found = _ranking("", rows, pairs)
    assert [p.name for p in found.places] == ["a", "c"]
    assert found.place("b") is None
    assert found.places[1].last == 2


def test_groups_are_as_large_as_they_can_be():
    """Compared with all subsets."""
    order = "abcde"
    every = [frozenset(p) for p in combinations(order, 2)]
    for bits in range(1 << len(every)):
        apart = {p for i, p in enumerate(every) if bits >> i & 1}
        fine = [
            set(c)
            for n in range(1, 6)
            for c in combinations(order, n)
            if not any(frozenset(p) in apart for p in combinations(c, 2))
        ]
        largest = {frozenset(c) for c in fine if not any(c < other for other in fine)}
        assert {frozenset(g) for g in _groups(order, apart)} == largest


def null(seed):
    """Five variants that differ in the name of a flow: what they draw, and nothing else."""
    variants = [{"name": f"v{i}", "set": {"traffic[0].flow.name": f"load{i}"}} for i in range(5)]
    document = {**LINE, "variants": variants}
    return spillgate.run(document, seed=seed, jobs=1)


def most_of(n, p, level=1e-4):
    """What a binomial count exceeds less often than by `level`."""
    tail = 1.0
    for k in range(n + 1):
        tail -= math.comb(n, k) * p**k * (1 - p) ** (n - k)
        if tail < level:
            return k
    return n


def test_equals_are_ranked_no_more_often_than_the_level_says(root):
    """Ten pairs at 95 % each would be told apart in 30 % of the cases or so."""
    cases, single = 150, 0
    wrong = 0
    for seed in range(cases):
        results = null(seed)
        [found] = rankings(results, ["owd_mean"])
        wrong += any(d.effect in ("better", "worse") for d in found.pairs)
        values = {s.variant: s.values for s in results.samples(scope="class", metric="owd_mean")}
        for a, b in combinations(values, 2):
            d = [x - y for x, y in zip(values[a], values[b], strict=True)]
            found = spillgate.statistics.mean(d, again=False)
            if not found.low < 0.0 < found.high:
                single += 1
                break
    assert wrong <= most_of(cases, 0.05)
    # It can fail: without a correction it does.
    assert single > most_of(cases, 0.05)
    page = (root / "docs/howto/compare.md").read_text(encoding="utf-8")
    assert f"In {cases} simulated comparisons of five *equal* mechanisms" in page
    assert f"{wrong} had a pair that was told apart" in page
    assert f"without the correction {single} had one" in page


def test_true_places_are_within_those_that_are_given():
    """The true order of throughputs is that of the rates; two of them are hardly told apart."""
    rates = {"a": "650 kb/s", "b": "505 kb/s", "c": "500 kb/s"}
    variants = [
        {
            "name": name,
            "set": {
                "traffic[0].flow.source.poisson.rate": rate,
                "traffic[0].flow.name": f"load-{name}",
            },
        }
        for name, rate in rates.items()
    ]
    cases, missed, decided = 150, 0, 0
    for seed in range(cases):
        results = spillgate.run({**LINE, "variants": variants}, seed=seed, jobs=1)
        [found] = rankings(results, ["throughput"])
        places = [found.place(name) for name in rates]
        missed += not all(p.first <= n <= p.last for n, p in enumerate(places, start=1))
        decided += places[0].last == 1
    assert missed <= most_of(cases, 0.05)
    # It says something, too: the best is found now and then.
    assert decided > cases / 10


def test_intervals_of_differences_cover():
    """Offered loads of Poisson sources differ by what their rates do."""
    cases, covered = 150, 0
    variants = [
        {"name": "less", "set": {}},
        {"name": "more", "set": {"traffic[0].flow.source.poisson.rate": "600 kb/s"}},
    ]
    for seed in range(cases):
        results = spillgate.run({**LINE, "variants": variants}, seed=seed, jobs=1)
        [d] = results.differences(metric="offered")
        covered += d.low <= 100e3 <= d.high
    assert cases - covered <= most_of(cases, 0.05)


def test_equal_variants_are_never_ranked():
    variants = [{"name": "a", "set": {}}, {"name": "b", "set": {}}]
    results = spillgate.run({**LINE, "variants": variants})
    assert rankings(results) == ()
    found = rankings(results, ["owd_mean"])[0]
    assert found.sentence == "mean one-way delay of data: all are the same in every run."
    assert found.leaders == ("a", "b")


def test_each_place_of_axes_has_its_ranking():
    variants = [
        {"name": "short", "set": {"policies.q.fifo.limit": "2 packets"}},
        {"name": "long", "set": {}},
    ]
    axes = [
        {
            "name": "load",
            "set": "traffic[0].flow.source.poisson.rate",
            "values": ["500 kb/s", "900 kb/s"],
        }
    ]
    results = spillgate.run({**LINE, "variants": variants, "axes": axes})
    found = rankings(results, ["loss_ratio"])
    assert [r.at for r in found] == ["load=500 kb/s", "load=900 kb/s"]
    assert found[1].places[0].name == "long (load=900 kb/s)"
    assert "at load=900 kb/s" in found[1].sentence


def test_metrics_by_default_have_a_good_side():
    known = spillgate.labels.words("metrics")
    assert all(known[m]["better"] for m in METRICS)


@pytest.mark.parametrize("n", [10, 150])
def test_the_bound_of_a_count(n):
    k = most_of(n, 0.05)
    tail = sum(math.comb(n, i) * 0.05**i * 0.95 ** (n - i) for i in range(k + 1, n + 1))
    assert tail < 1e-4
