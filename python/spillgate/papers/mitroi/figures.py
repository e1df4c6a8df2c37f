"""The figures: 6 to 10 of the paper, and those of the explanations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from spillgate.papers.measured import PerRun
from spillgate.papers.mitroi import system
from spillgate.papers.model import Picture
from spillgate.result import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _saved(make: Callable[[], Figure]) -> Callable[[Path], None]:
    def draw(path: Path) -> None:
        from spillgate.plot.files import write

        write(make(), path)

    return draw


def of_paper(results: Results, policies: Sequence[str], exact: str = "") -> tuple[Picture, ...]:
    """Figures 6 to 10 as grouped bars with 95 % intervals.

    Args:
        results: The runs.
        policies: The policies on the axis, in order.
        exact: Added to file names and titles, for runs without jitter.
    """
    data = system.CLASSES[2:]
    suffix = "-exact" if exact else ""
    wanted = (
        (
            "fig06-delay-realtime",
            "Figure 6: delay of voice and video",
            "owd_mean",
            "class",
            system.REAL_TIME,
        ),
        ("fig07-delay-data", "Figure 7: delay of the data classes", "owd_mean", "class", data),
        (
            "fig08-loss-realtime",
            "Figure 8: loss of voice and video",
            "loss_ratio",
            "class",
            system.REAL_TIME,
        ),
        (
            "fig09-loss-data",
            "Figure 9: loss of the data classes",
            "loss_ratio",
            "dscp",
            system.DATA_POINTS,
        ),
        (
            "fig10-delay-variation",
            "Figure 10: delay variation of voice and video",
            "jitter",
            "class",
            system.REAL_TIME,
        ),
    )

    def chart(title: str, metric: str, scope: str, names: Sequence[str]) -> Callable[[], Figure]:
        def make() -> Figure:
            from spillgate.plot import bars

            return bars(
                results,
                metric,
                scope=scope,
                names=names,
                variants=policies,
                shades=3 if scope == "dscp" else 1,
                title=title,
            )

        return make

    return tuple(
        Picture(
            f"{file}{suffix}",
            f"{title}{exact}",
            _saved(chart(f"{title}{exact}", metric, scope, names)),
        )
        for file, title, metric, scope, names in wanted
    )


def ratio(points: Sequence[tuple[int, PerRun]]) -> Picture:
    """How many times LLQ cuts the delay of voice, by FIFO's limit."""

    def make() -> Figure:
        from matplotlib.figure import Figure

        from spillgate.plot.style import styled

        with styled():
            figure = Figure(figsize=(5.4, 3.2))
            axes = figure.add_subplot()
            axes.axhspan(2.5, 5.0, color="#e8e8e8", zorder=0, label="2.5 to 5")
            axes.axhline(3.5, color="#444444", linewidth=0.9, linestyle="--", label="paper: 3.5")
            axes.plot(
                [n for n, _ in points],
                [q.quantity.mean or 0.0 for _, q in points],
                marker="o",
                markersize=4,
                label="measured",
            )
            axes.set_xscale("log")
            axes.set_yscale("log")
            ticks = (4, 8, 16, 40, 100, 300)
            axes.set_xticks(ticks, [str(t) for t in ticks])
            axes.set_xticks([], minor=True)
            axes.set_yticks((1, 2, 3.5, 5, 10, 20, 30), ("1", "2", "3.5", "5", "10", "20", "30"))
            axes.set_yticks([], minor=True)
            axes.set_xlabel("FIFO's limit (packets)")
            axes.set_ylabel("voice delay, FIFO / LLQ")
            axes.legend(loc="upper left")
            axes.set_title("M4: the ratio is that of FIFO's buffer")
        return figure

    return Picture("m4-fifo-limit", "M4: the ratio by FIFO's limit", _saved(make))


def clusters(groups: Mapping[str, Mapping[float, list[PerRun]]]) -> Picture:
    """Loss of each data flow against its rate, first run."""
    labels = list(groups)

    def make() -> Figure:
        from matplotlib.figure import Figure

        from spillgate.plot.style import palette, styled

        with styled():
            figure = Figure(figsize=(3.3 * len(labels), 3.2))
            panels = figure.subplots(1, len(labels), sharey=True, squeeze=False)[0]
            for panel, label in zip(panels, labels, strict=True):
                found = groups[label]
                rates = sorted(found)
                for i, (rate, (color, _)) in enumerate(
                    zip(rates, palette(len(rates)), strict=True)
                ):
                    losses = [100.0 * q.values[0] for q in found[rate]]
                    spread = [
                        i + 0.5 * ((k + 0.5) / len(losses) - 0.5) for k in range(len(losses))
                    ]
                    panel.plot(spread, losses, "o", color=color, markersize=4)
                panel.set_xticks(range(len(rates)), [f"{r:g}" for r in rates])
                panel.set_xlabel("rate of the flow (Mb/s)")
                panel.set_title(label, fontsize=8, pad=3)
                panel.set_ylim(bottom=0)
            panels[0].set_ylabel("lost packets of the flow (%)")
            figure.suptitle(
                "M12: data flows under FIFO", x=0.02, y=0.99, ha="left", va="bottom", fontsize=10
            )
        return figure

    return Picture("m12-levels", "M12: levels of loss", _saved(make))


def by_load(values: Mapping[str, Mapping[int, Mapping[str, PerRun]]]) -> Picture:
    """Delay and loss against the offered load."""
    shown = (
        ("voice owd_mean", "voice delay (ms)", 1e3),
        ("voice loss_ratio", "voice loss (%)", 100.0),
        ("critical loss_ratio", "AF3x loss (%)", 100.0),
        ("non-critical loss_ratio", "AF2x loss (%)", 100.0),
    )

    def make() -> Figure:
        from matplotlib.figure import Figure

        from spillgate.plot.style import palette, styled

        # Curves that coincide: the upper ones are smaller and dashed.
        looks = (
            ("o", 7.0, "-"),
            ("s", 3.0, "--"),
            ("^", 5.5, "-"),
            ("D", 5.0, "-"),
            ("v", 2.5, "--"),
        )
        with styled():
            figure = Figure(figsize=(8.2, 5.0))
            panels = figure.subplots(2, 2, sharex=True).flatten()
            for panel, (key, title, factor) in zip(panels, shown, strict=True):
                for (policy, loads), (color, _), (mark, size, line) in zip(
                    values.items(), palette(len(values)), cycle(looks), strict=False
                ):
                    means = [factor * (q[key].quantity.mean or 0.0) for q in loads.values()]
                    panel.plot(
                        list(loads),
                        means,
                        color=color,
                        marker=mark,
                        markersize=size,
                        linestyle=line,
                        label=policy,
                    )
                panel.set_title(title, fontsize=8, pad=3)
                panel.set_ylim(bottom=0)
            for panel in panels[2:]:
                panel.set_xlabel("offered load (Mb/s)")
            handles, names = panels[0].get_legend_handles_labels()
            figure.legend(
                handles, names, loc="lower left", bbox_to_anchor=(0.05, 0.95), ncols=len(names)
            )
        return figure

    return Picture("load", "Delay and loss by offered load", _saved(make))
