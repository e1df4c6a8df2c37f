"""MSER-5, and the figure of the warm-up."""

import math
import random

import pytest

import spillgate
from spillgate.statistics import mser5


def defined(values):
    """The statistic without running sums."""
    y = [sum(values[i : i + 5]) / 5 for i in range(0, len(values) // 5 * 5, 5)]
    errors = []
    for d in range(len(y) // 2 + 1):
        rest = y[d:]
        center = math.fsum(rest) / len(rest)
        errors.append(math.fsum((v - center) ** 2 for v in rest) / len(rest) ** 2)
    return errors


def test_the_statistic_is_its_definition():
    draw = random.Random(1)
    for n in (10, 14, 57, 250):
        for height in (0.0, 5.0, 100.0):
            values = [draw.gauss(10, 1) + height * math.exp(-k / 12) for k in range(n)]
            found, wanted = mser5(values), defined(values)
            assert found.errors == pytest.approx(wanted, rel=1e-9)
            assert found.cut == 5 * wanted.index(min(wanted))


def test_the_beginning_is_left_out():
    found = mser5([9.0] * 15 + [1.0, 2.0] * 40)
    assert (found.cut, found.settled) == (15, True)
    # What grows all the time does not settle.
    grows = mser5([float(k) for k in range(100)])
    assert (grows.cut, grows.settled) == (50, False)


def test_of_equal_ones_the_first_counts():
    assert mser5([5.0] * 100).cut == 0
    for few in ([], [5.0] * 9):
        found = mser5(few)
        assert (found.cut, found.errors, found.settled) == (0, (), False)


SETTLES = {
    "measurement.warmup": "1 s",
    "measurement.duration": "4 s",
    "measurement.interval": "100 ms",
}


@pytest.fixture(scope="module")
def first(root):
    return root / "examples/first/scenario.yaml"


@pytest.fixture(scope="module")
def results(first):
    return spillgate.run(first, runs=2, set=SETTLES)


def test_the_figure_shows_series_statistic_and_both_warmups(results):
    plot = pytest.importorskip("spillgate.plot")
    figure = plot.warmup(results, names=["data", "voice"], title="When it settles")
    panels = figure.axes
    assert len(panels) == 4
    for row, name in enumerate(("data", "voice")):
        left, right = panels[2 * row : 2 * row + 2]
        assert left.get_title(loc="left") == name
        curves = [line for line in right.get_lines() if len(line.get_xdata()) > 2]
        dots = [line for line in right.get_lines() if line.get_marker() == "o"]
        assert len(curves) == len(dots) == len(results.description.variants)
        said = right.get_title(loc="left").split(", ")
        for variant, curve, dot, text in zip(
            results.description.variants, curves, dots, said, strict=True
        ):
            [series] = results.series(
                where=f"class {name}", metric="throughput", variant=variant, run=0
            )
            wanted = mser5(series.v)
            [at] = dot.get_xdata()
            assert at == pytest.approx(wanted.cut * 0.1)
            assert dot.get_ydata()[0] == min(curve.get_ydata())
            assert (text == "not settled") is not wanted.settled
        dashed = [line for line in left.get_lines() if line.get_linestyle() == "--"]
        assert any(list(line.get_xdata()) == [1.0, 1.0] for line in dashed)


def test_what_cannot_be_drawn_says_why(first, results):
    plot = pytest.importorskip("spillgate.plot")
    coarse = spillgate.run(first, runs=1, set={"measurement.duration": "4 s"})
    with pytest.raises(ValueError, match=r"needs ten or more, .* shorter `measurement.interval`"):
        plot.warmup(coarse)
    none = spillgate.run(first, runs=1, set=SETTLES, series=[])
    with pytest.raises(ValueError, match="no time series of these classes"):
        plot.warmup(none)
    with pytest.raises(ValueError, match="no time series of these classes"):
        plot.warmup(results, names=["video"])


def test_it_is_drawn_on_request(cli, first, tmp_path):
    pytest.importorskip("matplotlib")
    file = tmp_path / "figures.toml"
    file.write_text('[[figure]]\nfile = "settles"\nkind = "warmup"\nnames = ["data"]\n')
    sets = [f"{path}={value}" for path, value in SETTLES.items()]
    options = [part for text in sets for part in ("--set", text)]
    out = tmp_path / "out"
    done = cli("run", first, "--runs", "2", *options, "--figures", file, "--out", out)
    assert done.returncode in (0, 1, 3), done.stderr
    assert (out / "figures/settles.png").stat().st_size > 5_000
    assert (out / "figures/settles.svg").is_file()
    alone = tmp_path / "alone.svg"
    drawn = cli("plot", out, "warmup", "-o", alone, "--name", "voice")
    assert drawn.returncode == 0, drawn.stderr
    assert alone.read_text(encoding="utf-8").startswith("<?xml")
    file.write_text('[[figure]]\nfile = "settles"\nkind = "warmup"\nnames = ["dta"]\n')
    wrong = cli("run", first, "--figures", file, "--out", tmp_path / "other")
    assert wrong.returncode == 2
    assert "there is no class 'dta'" in wrong.stderr
