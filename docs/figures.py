"""Draws a figure for each page about a model from a run of seconds (`refresh.py figures`).

A figure is a file `figures/PAGE.yaml`. Its `scenario` is whole if it has a `schema_version`; else
its keys replace those of `figures/_line.yaml`. Its `panels` are of these kinds:

- `curves`: time series, each with its name (`series`), its place (`at`), what the `legend` says,
  and perhaps its `variant`; `marks` are levels by name, and a `step` holds until the next sample;
- `metric`, `scope` and `names`: values, a group of bars for each variant;
- the same with `runs`: means of so many runs, with their intervals.

The vertical axis shows its `label` and its `unit`.
"""

import json
import tempfile
from pathlib import Path

import yaml

import spillgate
from spillgate.plot.files import write
from spillgate.plot.style import palette, shown_as, styled

HERE = Path(__file__).parent
IMAGES = HERE / "img"
FACTORS = {"ms": 1e3, "%": 1e2, "Mb/s": 1e-6, "kb/s": 1e-3, "kB": 1e-3}


def pages():
    """The pages that have a figure."""
    return sorted(p.stem for p in (HERE / "figures").glob("[!_]*.yaml"))


def read(name):
    """A file of `figures`."""
    return yaml.safe_load((HERE / f"figures/{name}.yaml").read_text(encoding="utf-8"))


def merged(base, changes):
    """A mapping with what others say instead, key by key."""
    both = isinstance(base, dict) and isinstance(changes, dict)
    return base | {k: merged(base.get(k), v) for k, v in changes.items()} if both else changes


def run(scenario, runs=None):
    """Runs the scenario of a figure."""
    whole = scenario if "schema_version" in scenario else merged(read("_line"), scenario)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scenario.yaml"
        path.write_text(json.dumps(whole), encoding="utf-8")
        (Path(folder) / "corpus").symlink_to(HERE.parent / "corpus")
        return spillgate.run(path, runs=runs)


def draw(page, target):
    """Draws the page's figure as PNG and SVG into the folder `target`."""
    from matplotlib.figure import Figure

    asked = read(page)
    panels = asked["panels"]
    over_time = "curves" in panels[0]
    with styled():
        figure = Figure(figsize=(6.4, 1.0 + 1.5 * len(panels)))
        axes = figure.subplots(len(panels), 1, sharex=over_time, squeeze=False)[:, 0]
        results = None if "runs" in panels[0] else run(asked["scenario"])
        for panel, where in zip(panels, axes, strict=True):
            factor = FACTORS.get(panel.get("unit"), 1.0)
            if results is None:
                _intervals(where, asked["scenario"], panel, factor)
            else:
                (_lines if over_time else _bars)(where, results, panel, factor)
            label, unit = panel.get("label"), panel.get("unit")
            where.set_ylabel(f"{label} ({unit})" if label and unit else label or unit)
        if over_time:
            axes[-1].set_xlabel("time (s)")
        figure.tight_layout()
    return write(figure, Path(target) / f"model-{page}")


def _lines(axes, results, panel, factor):
    curves = panel["curves"]
    for curve, (color, _) in zip(curves, palette(len(curves)), strict=True):
        place = {"where": curve["at"], "metric": curve["series"], "variant": curve.get("variant")}
        found = results.series(**place)
        if not found:
            raise ValueError(f"there is no series {place}")
        style = "steps-post" if panel.get("step") else None
        values = [v * factor for v in found[0].v]
        name = shown_as(curve["legend"])
        axes.plot(found[0].t, values, color=color, label=name, drawstyle=style)
    for name, level in panel.get("marks", {}).items():
        axes.axhline(level, color="#777777", linewidth=0.9, linestyle="--")
        axes.annotate(name, (1.0, level), xycoords=("axes fraction", "data"), fontsize=7)
    for begin, end, _ in results.description.outages():
        axes.axvspan(begin, end, color="#dddddd", linewidth=0, zorder=0, label="a link is down")
    axes.set_ylim(bottom=0)
    axes.legend(loc="upper left", bbox_to_anchor=(1.08, 1.0), borderaxespad=0.0)


def _bars(axes, results, panel, factor):
    shown, names = list(results.description.variants), panel["names"]
    width = 0.8 / len(names)
    for i, (name, (color, hatch)) in enumerate(zip(names, palette(len(names)), strict=True)):
        rows = [results.value(v, panel["scope"], name, panel["metric"]) for v in shown]
        places = [j + (i - (len(names) - 1) / 2) * width for j in range(len(shown))]
        heights = [(row.mean or 0.0) * factor for row in rows]
        axes.bar(places, heights, width, color=color, hatch=hatch, label=shown_as(name))
    axes.set_xticks(range(len(shown)), [shown_as(v) for v in shown] if len(shown) > 1 else [""])
    axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), borderaxespad=0.0)


def _intervals(axes, scenario, panel, factor):
    counts, color = panel["runs"], palette(1)[0][0]
    for i, count in enumerate(counts):
        name = panel["names"][0]
        row = run(scenario, count).value(None, panel["scope"], name, panel["metric"])
        low, mean, high = row.low * factor, row.mean * factor, row.high * factor
        axes.errorbar([i], [mean], [[mean - low], [high - mean]], fmt="o", color=color)
    axes.set_xticks(range(len(counts)), [f"{n} runs" for n in counts])


def refresh(names, target=IMAGES):
    """Draws the figures of these pages, of all if none is named; only SVGs are kept."""
    for page in names or pages():
        draw(page, target).unlink()
