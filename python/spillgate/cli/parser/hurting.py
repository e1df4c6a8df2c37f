"""Commands that look for what hurts most."""

from __future__ import annotations

import argparse
from pathlib import Path

from spillgate.cli.parser.options import (
    Commands,
    add_command,
    add_confine,
    add_format,
    add_jobs,
    add_quiet,
    add_scenario,
    add_set,
)


def add_stress(commands: Commands) -> None:
    """Search for the worst cross traffic."""
    stress = add_command(
        commands, "stress", "search for the cross traffic that hurts a class of service most"
    )
    stress.epilog = (
        "Each source keeps a token bucket of --rate and --burst exactly. Needs SciPy: "
        "pip install 'spillgate[analysis]'."
    )
    add_scenario(stress)
    add_set(stress)
    stress.add_argument(
        "--port", required=True, metavar="LINK", help="the link at whose port it meets the class"
    )
    stress.add_argument(
        "--against",
        required=True,
        metavar="CLASS.METRIC",
        help="what is to become as bad as possible, such as voice.owd_p99",
    )
    _envelope(stress.add_argument_group("what the cross traffic may be"))
    stress.add_argument("--variant", metavar="V", help="of a scenario with variants: which")
    search = stress.add_argument_group("the search")
    search.add_argument(
        "--trials", type=int, default=160, metavar="N", help="candidates that are run; default 160"
    )
    search.add_argument(
        "--runs", type=int, default=2, metavar="N", help="runs of each candidate; default 2"
    )
    search.add_argument(
        "--confirm",
        type=int,
        default=10,
        metavar="N",
        help="runs of the worst, and of ordinary traffic, with fresh seeds; default 10",
    )
    search.add_argument(
        "--method",
        choices=("evolve", "random"),
        default="evolve",
        help="random takes independent candidates, to see what a search is worth; default evolve",
    )
    search.add_argument(
        "--seed", type=int, metavar="S", help="replaces the scenario's; the search depends on it"
    )
    add_jobs(stress)
    add_confine(stress)
    stress.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="make a run directory of the worst: worst.yaml, its capture, results and a report",
    )
    add_format(stress, "text", "json")
    add_quiet(stress)


def _envelope(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--rate",
        metavar="R",
        help="rate of each source's token bucket, such as '2 Mb/s'; default a tenth of the line's "
        "by all together",
    )
    group.add_argument(
        "--burst",
        metavar="B",
        help="its depth, such as '64 kB'; default what the line sends in 10 ms by all together",
    )
    group.add_argument("--packet", metavar="L", help="length of its IP packets; default '1500 B'")
    group.add_argument(
        "--sources", type=int, default=1, metavar="N", help="sources of each kind; default 1"
    )
    group.add_argument(
        "--class",
        dest="like",
        action="append",
        default=[],
        metavar="CLASS",
        help="sources with the code point of this class; repeatable; default best effort",
    )
    group.add_argument(
        "--dscp",
        action="append",
        default=[],
        metavar="DSCP",
        help="sources with this code point; repeatable",
    )
    group.add_argument(
        "--from",
        dest="origins",
        action="append",
        default=[],
        metavar="NODE",
        help="node that sends; repeatable, in turn; default the node at the port",
    )
    group.add_argument(
        "--to", metavar="NODE", help="node that receives; default the other end of the link"
    )
