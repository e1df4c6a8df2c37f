"""The command that compares mechanisms in a port."""

from __future__ import annotations

from pathlib import Path

from spillgate.cli.parser.options import (
    Commands,
    add_command,
    add_confine,
    add_format,
    add_jobs,
    add_numbers,
    add_out,
    add_progress,
    add_quiet,
    add_scenario,
    add_scheduler,
)


def add_compare(commands: Commands) -> None:
    """Compare mechanisms in a port."""
    parser = add_command(
        commands, "compare", "run a scenario with several mechanisms in one port, and rank them"
    )
    parser.epilog = (
        "exit status: 0 a mechanism meets every requirement (or none is stated); 1 none does; 2 "
        "bad\ninput or unusable output; 3 undecided; 130 interrupted"
    )
    add_scenario(parser)
    parser.add_argument(
        "--port",
        required=True,
        metavar="PORT",
        help="the port: a link, such as wan, or the nodes at its ends, such as 'r1->r2'",
    )
    parser.add_argument(
        "--aqm",
        action="append",
        required=True,
        metavar="NAME,...",
        help="what is compared: red, codel, fq-codel, cake, dualpi2, .. (all of "
        "'spillgate list aqm' and most of 'disciplines'), a policy of the scenario, or "
        "NAME=MODULE:CLASS, an AQM of one's own in a FIFO; may be repeated; what the port has as "
        "it is takes part, too",
    )
    add_scheduler(parser, "of a module or a file; may be repeated")
    parser.add_argument(
        "--metric",
        action="append",
        metavar="M",
        help="what is ranked, such as owd_p95; may be repeated; default goodput, or throughput, "
        "delay, completion times, loss and fairness, where they differ",
    )
    parser.add_argument(
        "--variant",
        metavar="V",
        help="of a scenario with variants: on which one all build; default the first",
    )
    parser.add_argument(
        "--rtt",
        metavar="TIME",
        help="the longest usual round trip, such as '40 ms': what buffers hold, and the time "
        "within which CoDel and others react, follow from it; default 100 ms",
    )
    parser.add_argument(
        "--limit",
        metavar="L",
        help="what each mechanism holds, such as '1000 packets'; default as is stated",
    )
    parser.add_argument(
        "--no-ecn",
        dest="ecn",
        action="store_false",
        help="nothing marks in place of early drops, where that can be told",
    )
    parser.add_argument(
        "--tune",
        nargs="?",
        type=int,
        const=32,
        metavar="TRIALS",
        help="first find parameters of each mechanism with which most of the requirements is "
        "left, by so many points that are run with other seeds; default 32",
    )
    add_numbers(parser)
    add_jobs(parser)
    add_confine(parser)
    add_out(parser, "<scenario>-<time>")
    parser.add_argument(
        "--store",
        type=Path,
        metavar="DIR",
        help="directory where runs are kept and looked for; several processes may share one; "
        "default the run directory",
    )
    parser.add_argument(
        "--no-figures",
        dest="figures",
        action="store_false",
        help="draw none as PNG and SVG, which takes seconds; the report has its own",
    )
    add_format(parser, "table", "json")
    add_quiet(parser)
    add_progress(parser)
