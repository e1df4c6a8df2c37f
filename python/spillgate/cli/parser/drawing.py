"""The command that draws a figure."""

from __future__ import annotations

from pathlib import Path

from spillgate.cli.parser.options import Commands, add_command, add_confine, add_where

KINDS = (
    "bars",
    "timeline",
    "cdf",
    "ccdf",
    "distribution",
    "sweep",
    "heatmap",
    "tradeoff",
    "warmup",
)
"""What can be drawn: those of `spillgate.plot`, which takes long to import."""


def add_plot(commands: Commands) -> None:
    """Draw a figure."""
    plot = add_command(commands, "plot", "draw a figure of a run directory")
    plot.add_argument(
        "run", type=Path, metavar="RUN", help="run directory, as 'spillgate run' makes it"
    )
    plot.add_argument(
        "kind", choices=KINDS, metavar="KIND", help=f"what is drawn: {', '.join(KINDS)}"
    )
    plot.add_argument(
        "-o",
        "--output",
        type=Path,
        action="append",
        required=True,
        metavar="FILE",
        help="file to make, as its ending says: .png, .svg, .pdf, or .pgf for LaTeX; repeatable",
    )
    plot.add_argument("--force", action="store_true", help="replace existing files")
    what = plot.add_argument_group("what it shows")
    add_where(what, "only these points")
    what.add_argument(
        "--metric",
        default="",
        metavar="M",
        help="which metric; of tradeoffs the delay; not of distributions and warm-ups",
    )
    for flag, of in (
        ("--axis", "of sweeps and heat maps: the axis that goes to the right"),
        ("--up", "of heat maps: the axis that goes up"),
        ("--rows", "an axis whose values have a panel each, below each other"),
        ("--columns", "an axis whose values have a panel each, side by side"),
    ):
        what.add_argument(flag, default="", metavar="AXIS", help=of)
    what.add_argument(
        "--scope",
        default="class",
        metavar="S",
        help="of bars, sweeps and heat maps: class (default), dscp, queue, link, total or flow",
    )
    for flag, of in (
        ("--name", "which class, queue, ..; repeatable; default all"),
        ("--variant", "which variant; repeatable; default all"),
    ):
        what.add_argument(flag, action="append", default=[], metavar="N", help=of)
    what.add_argument(
        "--x",
        choices=("variant", "name"),
        default="variant",
        help="of bars: what a group is; default variant",
    )
    what.add_argument(
        "--gain",
        default="throughput",
        metavar="METRIC",
        help="of tradeoffs: what is to be high; default throughput",
    )
    what.add_argument(
        "--log",
        choices=("auto", "yes", "no"),
        default="auto",
        help="logarithmic scale, not of time lines; default auto: where one of what is compared "
        "dwarfs others",
    )
    look = plot.add_argument_group("how it looks")
    look.add_argument("--title", default="", metavar="TEXT", help="above it; default none")
    look.add_argument(
        "--width", default="", metavar="W", help="of all that is drawn, such as '84 mm'"
    )
    look.add_argument("--font", default="", metavar="FAMILY", help="of its texts, such as serif")
    look.add_argument(
        "--font-size", type=int, default=0, metavar="PT", help="of its labels; default 9"
    )
    add_confine(plot)
