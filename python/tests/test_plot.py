import hashlib
import re
import subprocess
import sys

import matplotlib as mpl
import pytest

import spillgate
from conftest import make_results
from spillgate import plot
from spillgate.errors import InputError
from spillgate.plot.specs import FigureSpec, read_specs
from spillgate.plot.style import palette, pens, styled


def bars_of(figure):
    return [c for c in figure.axes[0].containers if hasattr(c, "patches")]


def test_bars_have_the_values_and_intervals(made):
    figure = plot.bars(made, "owd_mean")
    groups = bars_of(figure)
    assert [g.get_label() for g in groups] == ["voice", "data"]
    assert [p.get_height() for p in groups[0].patches] == pytest.approx([4.8, 2.4])
    # A line from mean - half to mean + half, with half = 1 % of 4.8 ms.
    segments = groups[0].errorbar.lines[2][0].get_segments()
    assert [y for _, y in segments[0]] == pytest.approx([4.752, 4.848])
    assert figure.axes[0].get_ylabel() == "mean one-way delay (ms)"


def test_groups_can_be_names(made):
    figure = plot.bars(made, "loss_ratio", scope="dscp", x="name", names=["ef"])
    assert [g.get_label() for g in bars_of(figure)] == ["FIFO", "LLQ"]
    assert [t.get_text() for t in figure.axes[0].get_xticklabels()] == ["ef"]


def test_what_is_not_there_is_named(made):
    with pytest.raises(ValueError, match="no metric 'latency'"):
        plot.bars(made, "latency")
    with pytest.raises(ValueError, match="no class 'vioce'; there are voice, data"):
        plot.bars(made, "owd_mean", names=["vioce"])
    with pytest.raises(ValueError, match=r"no time series of 'rate' .*: backlog_packets"):
        plot.timeline(made, "rate")


def test_a_series_that_a_scheduler_does_not_tell_is_refused(root):
    fan = {"policies.fifo": {"fan": {"scheduler": "pfq"}}, "measurement.duration": "2 s"}
    results = spillgate.run(root / "examples/first/scenario.yaml", set=fan, runs=1)
    with pytest.raises(ValueError, match=r"uplink/fan is undefined .* take backlog_bytes"):
        plot.timeline(results, "queue_delay", variants=["fifo"])


def test_curves_and_timelines_have_a_panel_each(made):
    assert [a.get_title(loc="left") for a in plot.timeline(made).axes] == ["FIFO", "LLQ"]
    figure = plot.ccdf(made)
    assert [a.get_title(loc="left") for a in figure.axes] == ["voice", "data"]
    line = figure.axes[0].get_lines()[0]
    assert list(line.get_xdata()) == pytest.approx([1.0, 2.0, 4.0])
    assert list(line.get_ydata()) == pytest.approx([1.0, 0.5, 0.01])


def test_files_are_the_same_each_time_and_settings_do_not_matter(made, tmp_path):
    def digests(where):
        plot.save(made, where)
        return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in where.iterdir()}

    before = dict(mpl.rcParams)
    one = digests(tmp_path / "one")
    assert dict(mpl.rcParams) == before
    with mpl.rc_context({"axes.facecolor": "black", "font.size": 30}):
        two = digests(tmp_path / "two")
    assert one == two
    assert len(one) == 10
    assert {n.split(".")[1] for n in one} == {"png", "svg"}


def test_no_window_system_is_needed():
    program = "import spillgate.plot, sys; sys.exit('matplotlib.pyplot' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_figure_that_cannot_be_drawn_does_not_hide_the_others(made, tmp_path):
    specs = [FigureSpec("bad", metric="latency"), FigureSpec("good", metric="owd_mean")]
    written, problems = plot.save(made, tmp_path, specs)
    assert [p.name for p in written] == ["good.png"]
    assert problems == ["figure bad: there is no metric 'latency' of scope 'class'"]


def test_a_figure_of_what_was_not_asked_for_says_how_to_ask(made, tmp_path):
    spec = FigureSpec("waits", scope="queue", metric="backlog_packets_p95")
    _, problems = plot.save(made, tmp_path, [spec])
    assert len(problems) == 1
    assert problems[0].startswith("figure waits: there is no metric 'backlog_packets_p95'")
    assert problems[0].endswith("`measurement: {percentiles: [backlog]}` measures it")


def test_undefined_values_leave_a_gap():
    results = make_results()
    for record in results._values.data["summary"]:
        if record["name"] == "voice":
            record.update(mean=None, low=None, high=None, n=0)
    plot.bars(results, "owd_mean")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", r"holds \[\[figure\]\] tables"),
        ("[figure]\nfile = 'a'", r"holds \[\[figure\]\] tables"),
        ("x = 1", r"holds \[\[figure\]\] tables"),
        ("[[figure]]\nkind = 'ccdf'", "figure 1: the key file is missing"),
        ("[[figure]]\nfile = 'a'\nmetrics = 'x'", "unknown key 'metrics'; known are file, kind"),
        ("[[figure]]\nfile = 'a'", "bars need a metric"),
        ("[[figure]]\nfile = '../a'\nkind = 'ccdf'", "no plain file name"),
        ("[[figure]]\nfile = 'a'\nkind = 'pie'", "kind 'pie' is none of bars, timeline, cdf"),
        ("[[figure]]\nfile = 'a'\nkind = 'ccdf'\nshades = true", "shades must be a whole number"),
        ("[[figure]]\nfile = 'a'\nkind = 'ccdf'\nnames = 'x'", "names must be a list of texts"),
        ("[[figure]]\nfile = 'a'\nkind = 'ccdf'\n" * 2, "figure 2: file 'a' occurs twice"),
        ("[[figure]\n", "error"),
    ],
)
def test_mistakes_in_a_file_of_figures_are_located(text, problem, tmp_path):
    path = tmp_path / "figures.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=problem) as caught:
        read_specs(path)
    assert str(path) in str(caught.value)


def test_notebooks_show_figures(made):
    picture = plot.bars(made, "owd_mean")._repr_png_()
    assert picture.startswith(b"\x89PNG")


def test_only_figures_need_matplotlib(tmp_path):
    """In a process in which it cannot be imported."""
    where = tmp_path / "run"
    run = [
        "run",
        "examples/first/scenario.yaml",
        "--runs",
        "2",
        "--set",
        "measurement.duration=1 s",
    ]
    script = (
        "import sys\n"
        "sys.modules['matplotlib'] = None\n"
        "from spillgate.cli import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )

    def spillgate(*args):
        command = [sys.executable, "-c", script, *map(str, args)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    done = spillgate(*run, "--out", where)
    assert done.returncode in (0, 1, 3), done.stderr
    assert (where / "report.html").exists()
    for args in (
        (*run, "--out", tmp_path / "more", "--figures", "default"),
        ("report", where, "--figures", "default", "--force"),
        ("reproduce", "mitroi", "--quick", "--out", tmp_path / "paper"),
    ):
        done = spillgate(*args)
        assert done.returncode == 2
        assert "pip install 'spillgate[plot]'" in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run"]


def test_no_two_curves_are_alike():
    with styled():
        found = pens(64)
        assert len({(p["color"], str(p["linestyle"]), p["marker"]) for p in found}) == 64
        assert len({(str(color), hatch) for color, hatch in palette(64)}) == 64
        assert [p["linestyle"] for p in found[:8]] == ["-"] * 8
        with pytest.raises(ValueError, match="65 curves cannot be told apart; 64 can"):
            pens(65)


AXES = {
    "measurement.duration": "1 s",
    "axes": [
        {"name": "load", "set": "traffic.data.source.rate", "values": ["1 Mb/s", "2 Mb/s"]},
        {"name": "size", "set": "traffic.data.source.packet", "values": ["500 B", "1500 B"]},
    ],
}


def test_a_heat_map_has_a_cell_for_each_point(tmp_path):
    results = spillgate.run("examples/first/scenario.yaml", runs=2, set=AXES)
    figure = plot.heatmap(results, "owd_mean", ("load", "size"), "data")
    panels = figure.axes[:2]
    assert [p.get_title(loc="left") for p in panels] == ["fifo", "llq"]
    values = panels[1].collections[0].get_array()
    wanted = results.value(
        "llq", "class", "data", "owd_mean", at={"load": "2 Mb/s", "size": "500 B"}
    )
    assert values[0, 1] == pytest.approx(wanted.mean * 1e3)
    assert len(panels[0].texts) == 4
    with pytest.raises(ValueError, match="there is no axis 'lod'; there are: load, size"):
        plot.heatmap(results, "owd_mean", ("lod", "size"), "data")
    spec = plot.FigureSpec("m", "heatmap", "owd_mean", axis="load", up="size", names=("data",))
    written, problems = plot.save(results, tmp_path, [spec])
    assert (len(written), problems) == (1, [])


def test_the_best_tradeoff_is_up_and_to_the_right():
    results = spillgate.run("examples/first/scenario.yaml", runs=4, set=AXES)
    figure = plot.tradeoff(results.where("size=500 B"), "data", variants=["llq"])
    panel = figure.axes[0]
    left, right = panel.get_xlim()
    assert left > right
    # What is the same everywhere is not said.
    said = [t.get_text() for t in figure.legends[0].get_texts()]
    assert said == ["load=1 Mb/s", "load=2 Mb/s"]
    assert len(panel.patches) == 2
    assert "better to the right" in panel.get_xlabel()
    with pytest.raises(ValueError, match="one name, not 0"):
        plot.FigureSpec("t", "tradeoff", "owd_p95")


def test_figures_for_papers_have_a_width_and_a_font(made, tmp_path):
    spec = FigureSpec(
        "delay",
        metric="owd_mean",
        formats=("svg", "pdf", "pgf"),
        width="8.5 cm",
        font="serif",
        font_size=8,
    )
    written, problems = plot.save(made, tmp_path, [spec])
    assert (written, problems) == ([tmp_path / "delay.svg"], [])
    assert sorted(p.suffix for p in tmp_path.iterdir()) == [".pdf", ".pgf", ".svg"]
    svg = (tmp_path / "delay.svg").read_text()
    assert float(re.search(r'width="([0-9.]+)pt"', svg)[1]) == pytest.approx(8.5 / 2.54 * 72)
    assert "serif" in svg
    assert (tmp_path / "delay.pdf").read_bytes().startswith(b"%PDF")
    box = re.search(
        r"pgfpointorigin}{\\pgfqpoint{([0-9.]+)in}", (tmp_path / "delay.pgf").read_text()
    )
    assert float(box[1]) == pytest.approx(8.5 / 2.54)
    first = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    plot.save(made, tmp_path, [spec])
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == first
    with pytest.raises(ValueError, match="no width such as"):
        FigureSpec("x", metric="owd_mean", width="8.5")
    with pytest.raises(ValueError, match="formats 'eps' is none of png, svg, pdf, pgf"):
        FigureSpec("x", metric="owd_mean", formats=("eps",))
