"""Figures of studies: small multiples, scales, names of all kinds, and nothing printed over it."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.backends.backend_pgf import LatexManager
from matplotlib.figure import Figure
from overprint import overprinted

import spillgate
from conftest import make_results
from spillgate import plot
from spillgate.cli import main
from spillgate.plot.best import contest
from spillgate.plot.files import draw
from spillgate.plot.layout import dwarfed, fitted, text_size
from spillgate.plot.pgf import escaped, write_pgf
from spillgate.plot.search import answer
from spillgate.plot.specs import FigureSpec
from spillgate.plot.style import styled

FIRST = Path("examples/first/scenario.yaml").read_text(encoding="utf-8")
HEAD = FIRST[: FIRST.index("variants:")]
SHORT = {"measurement.duration": "1 s", "measurement.warmup": "0.1 s"}
AXES = """\
axes:
  - {name: load, set: traffic.data.source.rate, values: [1 Mb/s, 2 Mb/s, 2.5 Mb/s, 3 Mb/s]}
  - {name: limit, set: policies.fifo.fifo.limit, values: [20 packets, 50 packets, 100 packets]}
  - name: size
    points:
      - {name: small packets, set: {traffic.data.source.packet: 500 B}}
      - {name: large packets, set: {traffic.data.source.packet: 1500 B}}
"""
HOSTILE = [
    r"$a_1^2$ and \alpha{}",
    "<b>100 %</b> & #1 ~_^",
    "Großvater's café, żółw",
    r"\input{/etc/passwd} %",
    "a" * 70,
]
COLUMN, PAGE = "84 mm", "174 mm"


def variants(names: list[str], runs: int = 2) -> spillgate.Results:
    """Results of variants with these names, each with another load."""
    lines = [
        f"  - {{name: {json.dumps(name)}, set: {{traffic.data.source.rate: {rate} Mb/s}}}}"
        for name, rate in zip(
            names, (1 + 2 * i / len(names) for i in range(len(names))), strict=True
        )
    ]
    return spillgate.run("\n".join([f"{HEAD}variants:", *lines]), runs=runs, set=SHORT)


@pytest.fixture(scope="module")
def study() -> spillgate.Results:
    return spillgate.run(FIRST + AXES, runs=3, set=SHORT)


PLAIN = [
    FigureSpec("bars", metric="owd_mean", title="Mean delay by class, of all variants in turn"),
    FigureSpec("names", metric="loss_ratio", x="name"),
    FigureSpec("ccdf", "ccdf", title="Distribution of delay"),
    FigureSpec("both", "distribution", names=("voice",)),
    FigureSpec("tradeoff", "tradeoff", names=("data",)),
]


@pytest.mark.parametrize(
    ("count", "width"),
    [
        (1, COLUMN),
        (8, PAGE),
        (16, COLUMN),
        (64, COLUMN),
        pytest.param(64, PAGE, marks=pytest.mark.nightly),
    ],
)
def test_nothing_is_printed_over_anything(count: int, width: str) -> None:
    results = variants([f"variant {i}" for i in range(count)])
    for spec in PLAIN:
        assert overprinted(draw(results, replace(spec, width=width))) == [], spec.file


@pytest.mark.parametrize("spec", PLAIN, ids=lambda spec: spec.file)
def test_long_names_have_their_place(spec: FigureSpec) -> None:
    names = [f"class-based weighted fair queueing with RED, threshold {i}" for i in range(20)]
    results = variants(names)
    assert overprinted(draw(results, replace(spec, width=COLUMN))) == []


def test_time_lines_of_many_variants_stand_side_by_side() -> None:
    results = variants([f"variant {i}" for i in range(16)])
    figure = draw(results, FigureSpec("t", "timeline", metric="backlog_packets", width=PAGE))
    assert overprinted(figure) == []
    assert len({round(a.get_position().x0, 2) for a in figure.axes}) == 4


def test_warm_ups_have_their_place() -> None:
    names = ["FIFO", "class-based weighted fair queueing with RED"]
    lines = "".join(f"  - {{name: {name}, set: {{}}}}\n" for name in names)
    changes = {"measurement.duration": "5 s", "measurement.interval": "100 ms"}
    results = spillgate.run(f"{HEAD}variants:\n{lines}", runs=1, set=changes)
    spec = FigureSpec("w", "warmup", width=COLUMN, title="When throughput settles")
    assert overprinted(draw(results, spec)) == []


def test_answers_have_figures_whatever_the_names() -> None:
    names = [*HOSTILE[:4], "class-based weighted fair queueing with RED, threshold 5"]
    lines = [
        f"  - {{name: {json.dumps(name)}, set: {{traffic.data.source.rate: {rate} Mb/s}}}}"
        for rate, name in enumerate(names, 1)
    ]
    text = "\n".join([f"{HEAD}variants:", *lines, ""])
    best = spillgate.best(text, "voice:owd_mean", within="1 ms", most=20, set=SHORT)
    assert overprinted(contest(best)) == []
    found = spillgate.find(
        FIRST,
        "topology.links.uplink.rate",
        "6 Mb/s",
        "20 Mb/s",
        variant="fifo",
        set=SHORT,
    )
    named = replace(found, key=replace(found.key, path="policies." + "a_$b$." * 12 + "rate"))
    assert overprinted(answer(named)) == []


MULTIPLES = [
    FigureSpec("sweep", "sweep", "owd_p99", axis="load"),
    FigureSpec("columns", "sweep", "owd_p99", axis="load", columns="limit"),
    FigureSpec("grid", "sweep", "owd_p99", axis="load", rows="size", columns="limit", title="A"),
    FigureSpec("words", "sweep", "owd_p99", axis="size", columns="load", names=("data",)),
    FigureSpec(
        "heat",
        "heatmap",
        "owd_mean",
        axis="load",
        up="limit",
        names=("data",),
        where="size=large packets",
    ),
    FigureSpec(
        "heats",
        "heatmap",
        "owd_mean",
        axis="load",
        up="limit",
        names=("data",),
        columns="size",
        variants=("llq",),
    ),
    FigureSpec("tradeoffs", "tradeoff", names=("data",), rows="size", columns="limit"),
    FigureSpec("ccdfs", "ccdf", names=("voice",), rows="size", columns="limit"),
    FigureSpec("cdfs", "cdf", names=("voice",), rows="limit", where="size=small packets"),
    FigureSpec("lying", metric="owd_mean"),
]


@pytest.mark.parametrize("spec", MULTIPLES, ids=lambda spec: spec.file)
def test_small_multiples_do_not_overlap(study: spillgate.Results, spec: FigureSpec) -> None:
    assert overprinted(draw(study, replace(spec, width=COLUMN))) == []


def test_overprinted_labels_are_found() -> None:
    with styled():
        figure = Figure(figsize=(3.0, 2.0))
        axes = figure.add_axes((0.2, 0.2, 0.7, 0.7))
        axes.set_xticks([0.0, 0.01, 1.0], ["a long name", "another name", "end"])
        axes.set_yticks([])
        figure.suptitle("title", y=0.85)
        figure.legend(axes.plot([0, 1], [0, 1]), ["line"], loc="center")
    found = overprinted(figure)
    assert "'a long name' over 'another name'" in found
    assert "'title' over a panel" in found
    assert "legend over a panel" in found
    figure = Figure(figsize=(3.0, 2.0))
    figure.add_axes((0.0, 0.2, 0.9, 0.05)).set_ylabel("delay")
    found = overprinted(figure)
    assert "'delay' cut off" in found
    assert "a panel of 2.70 by 0.10 inches" in found


def test_panels_have_one_scale_and_their_labels_once(study: spillgate.Results) -> None:
    figure = draw(study, MULTIPLES[2])
    panels = figure.axes
    assert len(panels) == 6
    assert len({p.get_xlim() for p in panels}) == len({p.get_ylim() for p in panels}) == 1
    assert [p.get_title(loc="left") for p in panels] == [
        *(f"limit={n} packets" for n in (20, 50, 100)),
        *("",) * 3,
    ]
    assert [t.get_text() for p in panels for t in p.texts] == [
        "size=small packets",
        "size=large packets",
    ]
    assert figure.get_supxlabel() == "load (Mb/s)"
    assert figure.get_supylabel() == "99th percentile of one-way delay (ms)"
    assert {p.get_xlabel() for p in panels} == {""}
    labels = [t.get_text() for t in figure.legends[0].get_texts()]
    assert labels == ["voice, fifo", "voice, llq", "data, fifo", "data, llq"]
    # The line of a panel has the values of its points.
    line = panels[4].containers[2].lines[0]
    at = {"limit": "50 packets", "size": "large packets"}
    wanted = [
        study.value("fifo", "class", "data", "owd_p99", at={**at, "load": load}).mean
        for load in study.description.axes[0].labels
    ]
    assert list(line.get_ydata()) == pytest.approx([w * 1e3 for w in wanted])


def test_an_axis_has_one_use(study: spillgate.Results) -> None:
    with pytest.raises(ValueError, match="the axis 'load' cannot be used twice in a figure"):
        plot.sweep(study, "owd_mean", "load", columns="load")
    with pytest.raises(ValueError, match="the axis 'size' cannot be used twice in a figure"):
        plot.ccdf(study, names=["voice"], rows="size", columns="size")
    with pytest.raises(ValueError, match="panels of an axis show one class; name one of voice"):
        plot.ccdf(study, rows="size")
    with pytest.raises(ValueError, match=r"several points in one cell: .* \(where\)"):
        plot.heatmap(study, "owd_mean", ("load", "limit"), "data")
    with pytest.raises(ValueError, match=r"rows is for cdf, .* not for bars"):
        FigureSpec("x", metric="owd_mean", rows="load")
    with pytest.raises(ValueError, match="there is no axis 'lod'; there are: load, limit, size"):
        plot.tradeoff(study, "data", rows="lod")


def test_a_cdf_stands_beside_its_ccdf() -> None:
    figure = plot.distribution(make_results(), names=["voice"])
    rising, falling = figure.axes
    assert rising.get_title(loc="left") == "packets within x (CDF)"
    assert (rising.get_yscale(), falling.get_yscale()) == ("linear", "log")
    assert rising.get_lines()[0].get_ydata().tolist() == pytest.approx([0.0, 0.5, 0.99, 1.0])
    assert falling.get_lines()[0].get_ydata().tolist() == pytest.approx([1.0, 0.5, 0.01])
    assert rising.get_xlim() == falling.get_xlim()


def dwarfing() -> spillgate.Results:
    """Results in which the delays of FIFO are a thousand times those of LLQ."""
    results = make_results()
    for record in results._values.data["summary"]:
        if record["variant"] == "FIFO" and record["mean"]:
            record.update({k: record[k] * 1e3 for k in ("mean", "low", "high")})
    return results


def test_a_scale_is_logarithmic_where_one_dwarfs_the_others() -> None:
    results = dwarfing()
    shown = {"x": "name"}
    found = plot.bars(results, "owd_mean", **shown).axes[0]
    assert (found.get_yscale(), found.get_ylabel()) == (
        "log",
        "mean one-way delay (s, log scale)",
    )
    forbidden = plot.bars(results, "owd_mean", log=False, **shown).axes[0]
    assert (forbidden.get_yscale(), forbidden.get_ylabel()) == ("linear", "mean one-way delay (s)")
    alike = make_results()
    assert plot.bars(alike, "owd_mean", **shown).axes[0].get_yscale() == "linear"
    assert plot.bars(alike, "owd_mean", log=True, **shown).axes[0].get_yscale() == "log"
    # A logarithm has no zero.
    assert dwarfed([[1.0, 2.0], [21.0]]) is False
    assert dwarfed([[1.0], [21.0]]) is True
    assert dwarfed([[1.0, 0.0], [21.0]]) is False
    assert dwarfed([[1.0, math.nan], [21.0]]) is True
    assert dwarfed([[1.0]]) is False


@pytest.mark.parametrize("spec", [*PLAIN, FigureSpec("t", "timeline")], ids=lambda s: s.file)
def test_names_are_no_commands(spec: FigureSpec, tmp_path: Path) -> None:
    results = variants(HOSTILE)
    formats = ("png", "svg", "pdf", "pgf")
    spec = replace(spec, width=COLUMN, title=HOSTILE[0], formats=formats)
    figure = draw(results, spec)
    written = plot.write(figure, tmp_path / spec.file, formats)
    assert overprinted(figure) == []
    said = {
        t.get_text().replace("\n", "") for t in figure.findobj(lambda a: hasattr(a, "get_text"))
    }
    assert any(r"\$a_1^2\$" in text for text in said)
    svg = written.with_suffix(".svg").read_text(encoding="utf-8")
    assert "<b>" not in svg
    pgf = written.with_suffix(".pgf").read_text(encoding="utf-8")
    assert r"\input" not in pgf.split(r"\begingroup")[1]
    assert r"\alpha" not in pgf


def test_what_the_font_lacks_is_said(tmp_path: Path) -> None:
    results = variants(["中文", "plain"])
    _, problems = plot.save(results, tmp_path, [PLAIN[0]])
    assert len(problems) == 1
    assert problems[0].startswith("figures: their font has no signs for 中文, which PNG")


@pytest.mark.parametrize("runs", [1, 2])
@pytest.mark.parametrize("spec", MULTIPLES, ids=lambda spec: spec.file)
def test_one_point_and_one_run_can_be_drawn(spec: FigureSpec, runs: int, tmp_path: Path) -> None:
    one = (
        "axes:\n  - {name: load, set: traffic.data.source.rate, values: [1 Mb/s]}\n"
        "  - {name: limit, set: policies.fifo.fifo.limit, values: [20 packets]}\n  - name: size\n"
        "    points: [{name: large packets, set: {traffic.data.source.packet: 1500 B}}]\n"
    )
    results = spillgate.run(HEAD + one, runs=runs, set=SHORT)
    where = spec.where and "size=large packets"
    written, problems = plot.save(results, tmp_path, [replace(spec, where=where, variants=())])
    assert (len(written), problems) == (1, [])


def test_undefined_values_are_left_out_of_every_figure(
    study: spillgate.Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    undefined = make_results()
    for record in undefined._values.data["summary"]:
        record.update(mean=None, low=None, high=None, n=0)
    for record in undefined._values.data["distributions"]:
        record["owd"] = [None] * 4
    assert overprinted(plot.bars(undefined, "owd_mean")) == []
    with pytest.raises(ValueError, match="there is no delay distribution"):
        plot.ccdf(undefined)
    with pytest.raises(ValueError, match="there is no metric 'owd' of scope 'class'"):
        plot.tradeoff(study, "data", delay="owd")
    with monkeypatch.context() as patched:
        patched.setattr(study, "samples", lambda **_: [])
        with pytest.raises(ValueError, match="owd_p95 and throughput of data have no values in"):
            plot.tradeoff(study, "data")
    # Nothing is lost with little load: zeros, and delays that are never above one another.
    some = study.where("load=1 Mb/s,2 Mb/s")
    for spec in (
        FigureSpec("a", "sweep", "loss_ratio", axis="load"),
        FigureSpec(
            "b",
            "heatmap",
            "loss_ratio",
            axis="load",
            up="limit",
            names=("voice",),
            columns="size",
            variants=("llq",),
        ),
        FigureSpec("c", "tradeoff", "loss_ratio", names=("voice",)),
        FigureSpec("d", metric="loss_ratio"),
    ):
        assert overprinted(draw(some, replace(spec, width=PAGE, log=True))) == []
        if spec.kind == "sweep":
            assert overprinted(draw(some, spec)) == []


def test_names_are_broken_where_they_may_be() -> None:
    with styled():
        lines = fitted("weighted fair-queueing, min=5 $x$", 0.8, 8).split("\n")
        assert lines == ["weighted fair-", "queueing,", "min=5 \\$x\\$"]
        assert all(text_size(line, 8)[0] <= 0.8 for line in lines)
        assert all(text_size(x, 8)[0] <= 0.5 for x in fitted("a" * 40, 0.5, 8).split("\n"))


def test_pgf_needs_no_tex(
    study: spillgate.Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object) -> None:
        msg = "TeX was called"
        raise AssertionError(msg)

    monkeypatch.setattr(LatexManager, "_get_cached_or_new", none)
    monkeypatch.setenv("PATH", "")
    for spec in (MULTIPLES[2], MULTIPLES[5], MULTIPLES[7]):
        write_pgf(draw(study, replace(spec, width=COLUMN)), tmp_path / "a.pgf")
        text = (tmp_path / "a.pgf").read_text(encoding="utf-8")
        # Not even a picture beside it.
        assert [p.name for p in tmp_path.iterdir()] == ["a.pgf"]
        assert text.count(r"\begin{pgfpicture}") == text.count(r"\end{pgfpicture}") == 1
        assert text.count(r"\begin{pgfscope}") == text.count(r"\end{pgfscope}")
        assert "\\rmfamily" not in text
    assert escaped(r"\a{b}_c") == r"\textbackslash{}a\{b\}\_c"


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="SKIPPED: there is no pdflatex")
def test_latex_includes_pgf(study: spillgate.Results, tmp_path: Path) -> None:
    spec = replace(MULTIPLES[2], width=COLUMN, title=HOSTILE[0] + HOSTILE[1] + " µ ≤ é")
    write_pgf(draw(study, spec), tmp_path / "figure.pgf")
    (tmp_path / "paper.tex").write_text(
        "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{lmodern}\\usepackage{pgf}\n"
        "\\begin{document}\\setbox0\\hbox{\\input{figure.pgf}}\\showthe\\wd0 \\box0\n"
        "\\end{document}\n",
        encoding="utf-8",
    )
    command = ["pdflatex", "-interaction=nonstopmode", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (tmp_path / "paper.pdf").is_file(), done.stdout[-2000:]
    assert "! Undefined" not in done.stdout
    wide = next(x for x in done.stdout.splitlines() if x.startswith("> "))
    assert float(wide[2:].split("pt")[0]) == pytest.approx(84 / 25.4 * 72.27, abs=0.1)


@pytest.fixture(scope="module")
def stored(study: spillgate.Results, tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("study") / "run"
    return study.save(where)


def test_plot_draws_a_figure_of_a_run_directory(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / f"delay.{ending}" for ending in ("pdf", "pgf", "svg", "png")]
    command = ["plot", str(stored), "sweep", "--metric", "owd_p99", "--axis", "load"]
    command += ["--columns", "limit", "--where", "size=large packets,limit=20,50"]
    command += ["--width", COLUMN, "--font", "serif"]
    command += [word for file in files for word in ("-o", str(file))]
    assert main(command) == 0
    assert capsys.readouterr().out.splitlines() == [str(f) for f in files]
    assert all(f.stat().st_size > 1000 for f in files)
    assert files[2].read_text(encoding="utf-8").count("limit=") == 2
    assert r"\rmfamily" in files[1].read_text(encoding="utf-8")
    assert main(command) == 2
    assert "exists; add --force to replace it" in capsys.readouterr().err
    assert main([*command, "--force"]) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["bars"], "error: bars: bars need a metric"),
        (["sweep", "--metric", "owd_p99"], "a sweep needs a metric and an axis"),
        (["sweep", "--metric", "owd_p99", "--axis", "lod"], "no axis 'lod'; there are load"),
        (["bars", "--metric", "owd"], "bars: there is no metric 'owd' of scope 'class'"),
        (["bars", "--metric", "owd_p99", "--name", "vioce"], "no class 'vioce'; there are voice"),
        (["bars", "--metric", "owd_p99", "--where", "lod=1"], "no axis 'lod'; there are: load"),
        (["ccdf", "--axis", "load"], "axis is for sweep, heatmap, not for ccdf"),
        (["timeline", "--log", "no"], "log is for bars, cdf, ccdf, distribution, sweep"),
        (["ccdf", "--width", "wide"], "'wide' is no width such as 8.5 cm"),
        (["ccdf", "--variant", "wfq"], "there is no variant 'wfq'; there are fifo, llq"),
    ],
)
def test_mistakes_of_plot_are_said(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert main(["plot", str(stored), *words, "-o", str(tmp_path / "x.pdf")]) == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_other_endings_and_places_are_refused(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plot", str(stored), "ccdf", "-o", str(tmp_path / "x.jpg")]) == 2
    assert "a figure ends in one of .png, .svg, .pdf, .pgf" in capsys.readouterr().err
    assert main(["plot", str(stored), "ccdf", "-o", str(tmp_path / "no" / "x.pdf")]) == 2
    assert "cannot write" in capsys.readouterr().err


def test_a_font_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="no font 'Nonesuch'; serif, sans-serif and monospace"):
        FigureSpec("x", "ccdf", font="Nonesuch")
    assert FigureSpec("x", "ccdf", font="DejaVu Serif").asked.family == "DejaVu Serif"


def test_the_command_knows_what_can_be_drawn() -> None:
    script = (
        "import spillgate.cli.parser.drawing as d, sys\n"
        "assert 'matplotlib' not in sys.modules\n"
        "from spillgate.plot.specs import KINDS\n"
        "assert d.KINDS == KINDS\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
