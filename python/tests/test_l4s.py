"""Prague beside CUBIC behind DualPI2: fallback as a user sees it, and what small windows lose."""

import pytest

import spillgate

FIRST = {
    "topology.links.down.rate": "10 Mb/s",
    "measurement.warmup": "10 s",
    "measurement.duration": "30 s",
}
"""The first path of the example, 10 Mb/s and 10 ms."""


@pytest.fixture
def line(root, tmp_path):
    """The example without its variants and axes: DualPI2."""
    text = (root / "examples/l4s/scenario.yaml").read_text(encoding="utf-8")
    path = tmp_path / "scenario.yaml"
    path.write_text(text[: text.index("variants:")], encoding="utf-8")
    return path


def shares(line, **prague):
    """Of Prague and of CUBIC: mean throughput, mean wait in s, and marks."""
    changes = {**FIRST, **{f"traffic.prague.tcp.{key}": value for key, value in prague.items()}}
    results = spillgate.run(line, set=changes, runs=1)
    (variant,) = {row.variant for row in results.classes()}

    def of(name, metric):
        return results.value(variant, "class", name, metric).mean

    return [
        (of(name, "throughput"), of(name, "owd_mean") - 5e-3, of(name, "marks_ce"))
        for name in ("prague", "cubic")
    ]


def test_fractions_are_what_small_windows_lose(line):
    own = {"virtual_rtt": "0 s"}
    ratios = []
    for cc in (own, {**own, "fractions": False}):
        (prague, _, _), (cubic, _, _) = shares(line, cc={"prague": cc})
        ratios.append(prague / cubic)
    kept, lost = ratios
    # RFC 9332's argument gives 1.35 to 1.86 for windows of many packets, and 0.93 to 1.35 where
    # growth is for what is unmarked alone.
    assert 0.93 < kept < 1.86
    assert lost < 0.93


@pytest.mark.parametrize("peer", ["accurate", "classic", "off"])
def test_without_its_feedback_prague_is_classic(line, peer):
    (_, waited, marks), (_, other, _) = shares(line, peer_ecn=peer)
    if peer == "accurate":
        # L is short, whatever C has.
        assert waited < 4e-3 < other
        assert marks > 100
    else:
        # The same queue, at the target of PI2; with `off` drops instead of marks.
        assert waited == pytest.approx(other, rel=0.1)
        assert (marks > 10) == (peer == "classic")


def beside_cubic(line, aqm, *, looks, rate="40 Mb/s"):
    """Prague's throughput over CUBIC's, and `classic_ecn` while they are measured."""
    changes = {
        "topology.links.down.rate": rate,
        "topology.links.down.policy": aqm,
        "traffic.prague.tcp.cc": {"prague": {"classic_ecn_fallback": looks}},
        "measurement.warmup": "30 s",
        "measurement.duration": "30 s",
    }
    results = spillgate.run(line, set=changes, runs=1)
    (variant,) = {row.variant for row in results.classes()}
    prague, cubic = (
        results.value(variant, "class", name, "throughput").mean for name in ("prague", "cubic")
    )
    score = [v for s in results.series(metric="classic_ecn") for v in s.v]
    return prague / cubic, score


@pytest.mark.parametrize("aqm", ["CODEL", "PIE"])
def test_behind_a_classic_aqm_prague_falls_back(line, aqm):
    ratio, score = beside_cubic(line, aqm, looks=False)
    # A window of 2 / p beside one of about 1.7 / √p, p being a few per mille.
    assert ratio > 4
    assert not score
    ratio, score = beside_cubic(line, aqm, looks=True)
    assert 0.5 < ratio < 2
    assert min(score[len(score) // 2 :]) >= 9


def test_behind_dualpi2_prague_does_not(line):
    _, score = beside_cubic(line, "DUALPI2", looks=True)
    assert max(score) < 8


def test_queues_of_their_own_share_equally_whatever_prague_takes_them_for(line):
    for looks in (False, True):
        ratio, _ = beside_cubic(line, "FQ-CODEL", looks=looks)
        assert ratio == pytest.approx(1, abs=0.1)
