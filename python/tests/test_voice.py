"""Speech quality: the E-model against a second implementation, and calls end to end."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

import spillgate
from spillgate.cli import main

DEFAULTS = {
    "slr": 8.0,
    "rlr": 2.0,
    "stmr": 15.0,
    "lstr": 18.0,
    "ds": 3.0,
    "telr": 65.0,
    "wepl": 110.0,
    "qdu": 1.0,
    "nc": -70.0,
    "nfor": -64.0,
    "ps": 35.0,
    "pr": 35.0,
    "advantage": 0.0,
    "delay_sensitivity": 1.0,
    "delay_threshold": 100.0,
}


def rating(t: float, ppl: float, ie: float, bpl: float, burst: float, **given: float) -> float:
    """R by ITU-T G.107 (06/2015), clause 7; `t` in ms, `ppl` in percent."""
    p = {**DEFAULTS, **given}
    db = math.log10
    olr = p["slr"] + p["rlr"]
    nos = p["ps"] - p["slr"] - p["ds"] - 100 + 0.004 * (p["ps"] - olr - p["ds"] - 14) ** 2
    pre = p["pr"] + 10 * db(1 + 10 ** ((10 - p["lstr"]) / 10))
    nor = p["rlr"] - 121 + pre + 0.008 * (pre - 35) ** 2
    nfo = p["nfor"] + p["rlr"]
    no = 10 * db(sum(10 ** (n / 10) for n in (p["nc"], nos, nor, nfo)))
    ro = 15 - 1.5 * (p["slr"] + no)

    x = olr + 0.2 * (64 + no - p["rlr"])
    iolr = 20 * ((1 + (x / 8) ** 8) ** (1 / 8) - x / 8)
    st_ = -10 * db(10 ** (-p["stmr"] / 10) + math.exp(-t / 4) * 10 ** (-p["telr"] / 10))
    ist = (
        12 * (1 + ((st_ - 13) / 6) ** 8) ** (1 / 8)
        - 28 * (1 + ((st_ + 1) / 19.4) ** 35) ** (1 / 35)
        - 13 * (1 + ((st_ - 3) / 33) ** 13) ** (1 / 13)
        + 29
    )
    q = 37 - 15 * db(p["qdu"])
    g = 1.07 + 0.258 * q + 0.0602 * q**2
    iq = 15 * db(1 + 10 ** ((ro - 100) / 15 + 46 / 8.4 - g / 9) + 10 ** (46 / 30 - g / 40))

    terv = p["telr"] - 40 * db((1 + t / 10) / (1 + t / 150)) + 6 * math.exp(-0.3 * t**2)
    step = -1.5 * (no - p["rlr"]) - (80 + 2.5 * (terv - 14))
    idte = (step / 2 + math.sqrt(step**2 / 4 + 100) - 1) * (1 - math.exp(-t)) if t >= 1 else 0
    step = ro - 10.5 * (p["wepl"] + 7) * (2 * t + 1) ** -0.25
    idle = step / 2 + math.sqrt(step**2 / 4 + 169)
    idd = 0.0
    if t > p["delay_threshold"]:
        y, n = math.log2(t / p["delay_threshold"]), 6 * p["delay_sensitivity"]
        idd = 25 * ((1 + y**n) ** (1 / n) - 3 * (1 + (y / 3) ** n) ** (1 / n) + 2)
    ie_eff = ie + (95 - ie) * ppl / (ppl / burst + bpl)
    r = ro - (iolr + ist + iq) - (idte + idle + idd) - ie_eff + p["advantage"]
    return min(100.0, max(0.0, r))


def wideband_rating(t: float, ppl: float, ie: float, bpl: float, **given: float) -> float:
    """R by ITU-T G.107.1 with Corrigendum 1, clause 7, for random loss."""
    p = {**DEFAULTS, **given}
    terv = p["telr"] + (18 if t >= 100 else 0.08 * t + 10)
    terv += 6 * math.exp(-0.3 * t**2) - 40 * math.log10((1 + t / 10) / (1 + t / 150))
    step = 129 - (80 + 3 * (terv - 14))
    idte = (step / 2 + math.sqrt(step**2 / 4 + 100) - 1) * (1 - math.exp(-t))
    step = 129 - 10.5 * (p["wepl"] + 7) * (2 * t + 1) ** -0.25
    idle = step / 2 + math.sqrt(step**2 / 4 + 169)
    idd = 0.0
    if t > p["delay_threshold"]:
        y, n = math.log2(t / p["delay_threshold"]), 6 * p["delay_sensitivity"]
        idd = 1.29 * 25 * ((1 + y**n) ** (1 / n) - 3 * (1 + (y / 3) ** n) ** (1 / n) + 2)
    r = 129 - (idte + idle + idd) - ie - (95 - ie) * ppl / (ppl + bpl) + p["advantage"]
    return min(129.0, max(0.0, r))


RANGES = {
    "slr": (0, 18),
    "rlr": (-5, 14),
    "stmr": (10, 20),
    "lstr": (13, 23),
    "ds": (-3, 3),
    "telr": (5, 65),
    "wepl": (5, 110),
    "qdu": (1, 14),
    "nc": (-80, -40),
    "nfor": (-80, -40),
    "ps": (35, 85),
    "pr": (35, 85),
    "advantage": (0, 20),
    "delay_sensitivity": (0.4, 1),
    "delay_threshold": (100, 150),
}


def test_the_core_agrees_with_a_second_implementation() -> None:
    draw = random.Random(107)
    for _ in range(500):
        # Most parameters at their defaults in each trial, so that each is seen alone, too.
        chosen = draw.sample(sorted(RANGES), draw.choice((0, 1, 2, len(RANGES))))
        e_model = {k: draw.uniform(*RANGES[k]) for k in chosen}
        delay = draw.choice((0.0, draw.uniform(0, 0.01), draw.uniform(0, 0.5)))
        loss = draw.choice((0.0, draw.uniform(0, 0.2)))
        ie, bpl = draw.uniform(0, 40), draw.uniform(4.3, 40)
        burst = draw.choice((1.0, draw.uniform(1, 8)))
        got = spillgate.rate(
            delay, loss, codec=None, ie=ie, bpl=bpl, burst_ratio=burst, e_model=e_model
        )
        want = rating(1e3 * delay, 100 * loss, ie, bpl, burst, **e_model)
        # Rounding alone: some hundred operations on numbers below 1e3 in double precision; powers
        # of up to 35 multiply relative errors by as much.
        assert got.r == pytest.approx(want, abs=1e-8), (delay, loss, ie, bpl, burst, e_model)
        assert 1 <= got.mos <= 4.5


WIDE = ("telr", "wepl", "advantage", "delay_sensitivity", "delay_threshold")
"""What the wideband model knows."""


def test_the_wideband_scale_agrees_with_a_second_implementation() -> None:
    draw = random.Random(1071)
    for _ in range(300):
        e_model = {k: draw.uniform(*RANGES[k]) for k in draw.sample(WIDE, draw.randint(0, 5))}
        delay = draw.choice((0.0, draw.uniform(0, 0.01), draw.uniform(0, 0.5)))
        loss = draw.choice((0.0, draw.uniform(0, 0.2)))
        ie, bpl = draw.uniform(0, 60), draw.uniform(4.3, 40)
        got = spillgate.rate(
            delay, loss, codec=None, ie=ie, bpl=bpl, scale="wideband", e_model=e_model
        )
        want = wideband_rating(1e3 * delay, 100 * loss, ie, bpl, **e_model)
        # Rounding, as above; powers reach 6.
        assert got.r == pytest.approx(want, abs=1e-9), (delay, loss, ie, bpl, e_model)
        r = max(0.0, min(100.0, got.r / 1.29))
        mos = 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6
        assert got.mos == pytest.approx(min(4.5, max(1.0, mos)), abs=1e-9)


def test_wideband_codecs_are_better_telephones() -> None:
    # On one scale; a perfect call of each kind: 129 - 13 and 129 - 35.8, less some echo.
    wide = spillgate.rate(0.0, codec="g722")
    narrow = spillgate.rate(0.0, codec="g711", scale="wideband")
    assert wide.r - narrow.r == pytest.approx(35.8 - 13.0, abs=1e-9)
    assert wide.ro == 129.0
    assert wide.simultaneous == 0.0
    assert spillgate.rate(0.0, codec="amr-wb").r == pytest.approx(wide.r)
    assert spillgate.rate(0.0, codec="amr-wb-6.6").mos < spillgate.rate(0.0, codec="opus").mos


def test_every_parameter_has_a_range_here() -> None:
    schema = spillgate.schema()["$defs"]["EModel"]["properties"]
    assert {k: (v["minimum"], v["maximum"]) for k, v in schema.items()} == RANGES
    assert set(DEFAULTS) == set(RANGES)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"delay": -1}, "delay"),
        ({"delay": 0.1, "loss": 1.5}, "loss"),
        ({"delay": 0.1, "burst_ratio": 9}, "burst_ratio"),
        ({"delay": 0.1, "codec": "speex"}, "speex"),
        ({"delay": 0.1, "codec": "opus", "scale": "narrowband"}, "scale"),
        ({"delay": 0.1, "codec": "g722", "e_model": {"slr": 9}}, "slr"),
        ({"delay": 0.1, "e_model": {"telr": 99}}, "telr"),
        ({"delay": 0.1, "e_model": {"tellr": 55}}, "tellr"),
    ],
)
def test_values_out_of_range_are_named(arguments: dict[str, object], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        spillgate.rate(**arguments)  # type: ignore[arg-type]


SCENARIO = """
schema_version: 1
topology:
  nodes: [a, b]
  links: {wan: {from: a, to: b, rate: 2 Mb/s, delay: 5 ms, policy: P}}
policies: {P: {fifo: {limit: 40 packets}}}
voice: {voice: {codec: g729a, jitter_buffer: {adaptive: {}}}}
traffic:
  - flow: {name: voice, count: 3, from: a, to: b, source: {cbr: {rate: 24 kb/s, packet: 60 B}}}
  - flow: {name: data, from: a, to: b, source: {poisson: {rate: 1.8 Mb/s, packet: 1500 B}}}
measurement: {warmup: 1 s, duration: 10 s, interval: 1 s}
verdicts: {looks: once}
runs: {count: 3, seed: 1}
sla:
  - {class: voice, metric: mos, min: 2}
  - {class: voice, metric: mouth_to_ear, max: 40 ms}
"""


def test_calls_from_the_scenario_to_the_results(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(SCENARIO)
    results = spillgate.run(path)
    assert [v.verdict for v in results.verdicts] == ["pass", "fail"]
    assert results.verdicts[0].requirement == "mos ≥ 2"
    value = lambda name, metric: results.value("base", "class", name, metric).mean  # noqa: E731
    # The mean of MOS over calls lies above the worst call's; R and MOS belong together roughly.
    assert 1 < value("voice", "mos_min") <= value("voice", "mos") < 4.5
    # At least the codec (20 + 10 + 5 ms), the link and the least room of the buffer.
    assert value("voice", "mouth_to_ear") > 0.035 + 0.005 + 0.010
    # Delay and loss of what is heard give the rating by the same model: flow by flow.
    calls = [r.name for r in results.table(scope="flow", metric="mos")]
    assert calls == ["voice-0", "voice-1", "voice-2"]
    with pytest.raises(KeyError):
        value("data", "mos")


CUSTOMERS = """
customer: Acme
objectives:
  - {class: voice, preset: y1541-class-1}
sites:
  - {name: Here, nodes: [a], objectives: [{class: data, metric: throughput, min: 3 Mb/s}]}
"""

TABLE = """customer,site,nodes,class,preset,share,metric,max,min
Bravo,,,voice,,,mos,,2
Bravo,,,data,y1541-class-4,,,,
"""


def test_customers_have_verdicts_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s.yaml").write_text(SCENARIO)
    (tmp_path / "acme.yaml").write_text(CUSTOMERS)
    (tmp_path / "others.csv").write_text(TABLE)
    monkeypatch.chdir(tmp_path)
    files = ["--sla", "acme.yaml", "--sla", "others.csv"]
    status = main(["run", "s.yaml", "--no-figures", "--out", "out", *files])
    said = capsys.readouterr().out
    assert status == 1
    for text in ("customer", "Acme", "data @ Here", "of 9 requirements"):
        assert text in said
    results = spillgate.load("out")
    assert results.customers()["Acme"] == {"base": "fail"}
    by = {(v.customer, v.metric): v for v in results.verdicts}
    assert by["Acme", "throughput"].about == "data @ Here"
    assert by["Acme", "throughput"].basis is None
    assert by["Acme", "owd_mean"].bound == 0.4
    assert by["Bravo", "mos"].verdict == "pass"
    site = results.value("base", "site", "data @ a", "throughput")
    # All flows of the class are at the site.
    assert site.mean == results.value("base", "class", "data", "throughput").mean


def test_corrected_verdicts_decide_less(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(SCENARIO)
    (tmp_path / "acme.yaml").write_text(CUSTOMERS)
    found = {
        name: spillgate.run(path, sla=[tmp_path / "acme.yaml"], correction=name)
        for name in ("none", "holm", "bonferroni")
    }
    decided = {n: [v.verdict != "undecided" for v in r.verdicts] for n, r in found.items()}
    for none, holm, bonferroni in zip(*decided.values(), strict=True):
        assert none >= holm >= bonferroni
    assert {v.level for v in found["none"].verdicts} == {0.95}
    assert {v.level for v in found["bonferroni"].verdicts} == {1 - 0.05 / 6}
    # The same runs and the same fingerprint: customers are no part of the scenario.
    assert len({r.runs[0].digest for r in found.values()}) == 1
    assert found["none"].description.hash == spillgate.check(path).hash
    with pytest.raises(spillgate.InputError, match="correction"):
        spillgate.check(path, correction="bonferoni")


def test_mistakes_in_customers_files_are_located(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(SCENARIO)
    bad = tmp_path / "bad.yaml"
    bad.write_text(CUSTOMERS.replace("class: data", "class: dat"))
    with pytest.raises(spillgate.InputError) as caught:
        spillgate.check(path, sla=[bad])
    first = caught.value.diagnostics[0]
    assert first.file.endswith("bad.yaml")
    assert first.line == 6
    assert "did you mean `data`" in first.message


def test_wideband_calls_end_to_end(tmp_path: Path) -> None:
    path = tmp_path / "hd.yaml"
    text = SCENARIO.replace("g729a, ", "amr-wb-23.05, ").replace("min: 2}", "min: 4.2}")
    path.write_text(text.replace("max: 40 ms}", "max: 80 ms}"), encoding="utf-8")
    results = spillgate.run(path)
    r = results.value("base", "class", "voice", "r_factor").mean
    assert r is not None
    # Above what any narrow-band call reaches, below the codec's 129 - 1.
    assert 93.2 < r < 128.0
    mos = results.value("base", "class", "voice", "mos").mean
    assert mos is not None
    # Near of the mean; the mean of a curve is not the curve of the mean.
    x = r / 1.29
    assert mos == pytest.approx(1 + 0.035 * x + x * (x - 60) * (100 - x) * 7e-6, abs=0.05)
