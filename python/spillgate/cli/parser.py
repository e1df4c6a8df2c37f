"""Arguments of the command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from spillgate import __commit__, __version__

_STATUS = """\
exit status:
  0  every requirement is met (or none is stated)
  1  a requirement is not met
  2  bad input, or the output cannot be written
  3  undecided: an interval contains its bound; more runs may decide
  4  internal error
  130  interrupted; the finished runs are saved
"""


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Fixed width, so that the documentation shows what everyone sees."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26, width=92)


def build_parser() -> argparse.ArgumentParser:
    """The parser; each command stores its name in `command`."""
    parser = argparse.ArgumentParser(
        prog="spillgate",
        description="Simulates congestion management in network nodes, packet by packet.",
        epilog=_STATUS,
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--version", action="version", version=f"spillgate {__version__} ({__commit__})"
    )
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", title="commands"
    )

    run = _command(commands, "run", "run a scenario and judge its requirements")
    _scenario(run, optional="; with --resume it may be left out")
    _numbers(run)
    run.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        help="threads; default one a core; results do not depend on it",
    )
    run.add_argument(
        "--ignore-memory",
        action="store_true",
        help="start although the estimate of the memory is above what the machine has",
    )
    run.add_argument(
        "--engine",
        choices=("express", "plain"),
        default="express",
        help="plain takes no shortcut and serves to check; the results are the same; default "
        "express",
    )
    run.add_argument(
        "--verbose",
        action="store_true",
        help="say which links the express engine takes event by event, and why",
    )
    _strict(run)
    sampled = run.add_mutually_exclusive_group()
    sampled.add_argument(
        "--series",
        type=_runs,
        metavar="K,...|all",
        help="runs, from 0, whose time series are kept and drawn; default the first; a run takes "
        "up to half as long again with them, or longer with a short interval",
    )
    sampled.add_argument(
        "--no-series",
        dest="series",
        action="store_const",
        const=(),
        help="keep none",
    )
    run.add_argument(
        "--against",
        metavar="V",
        help="the variant that the others are compared with, run by run; default the scenario's, "
        "or the first",
    )
    run.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="run directory to make; default runs/<scenario>-<time>",
    )
    run.add_argument("--force", action="store_true", help="replace an existing run directory")
    run.add_argument(
        "--resume",
        type=Path,
        metavar="DIR",
        help="make no run again that a run directory has, or one that was killed before it was "
        "finished: to go on, to add runs (--runs), to judge by other requirements (--sla); "
        "the default of --out is then DIR, of SCENARIO and its options what DIR says",
    )
    run.add_argument(
        "--format",
        choices=("table", "json", "csv"),
        default="table",
        help="what goes to standard output; default table",
    )
    figures = run.add_mutually_exclusive_group()
    figures.add_argument(
        "--figures",
        type=_figures,
        metavar="default|FILE",
        help="draw figures as PNG and SVG too, which takes seconds: a set that suits any "
        "scenario, or what a TOML file says",
    )
    figures.add_argument(
        "--no-figures",
        dest="figures",
        action="store_const",
        const=None,
        help="draw none, which is the default",
    )
    run.add_argument(
        "--no-report", action="store_true", help="write no report.html into the run directory"
    )
    run.add_argument(
        "--quiet", action="store_true", help="no progress, and of the text only the verdicts"
    )
    packets = run.add_argument_group("packets.pcapng")
    packets.add_argument(
        "--pcap",
        action="append",
        metavar="LINK[:POINT]",
        help="record packets: LINK:in, LINK:out or LINK:drops; LINK is the last two; repeatable",
    )
    _recording(packets, "pcap-")

    report = _command(commands, "report", "make the HTML report of a run directory")
    report.add_argument(
        "run", type=Path, metavar="RUN", help="run directory, as 'spillgate run' makes it"
    )
    report.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="file to write; default report.html in the run directory; an earlier report is "
        "replaced",
    )
    report.add_argument(
        "--figures",
        type=_figures,
        metavar="default|FILE",
        help="draw figures as PNG and SVG into the run directory, too",
    )
    report.add_argument(
        "--force", action="store_true", help="replace a file that is no report, and figures, too"
    )
    packets = report.add_argument_group(
        "single packets", "runs are repeated for it, which takes about twice as long as they did"
    )
    packets.add_argument(
        "--worst",
        type=int,
        default=0,
        metavar="N",
        help="the N packets of each class that took longest, and why packets were dropped",
    )
    packets.add_argument(
        "--variant", action="append", metavar="V", help="of this variant; several; default all"
    )
    packets.add_argument(
        "--run",
        dest="run_number",
        type=int,
        metavar="K",
        help="of which run, from 0; default 0",
    )
    packets.add_argument(
        "--scenario",
        type=Path,
        metavar="FILE",
        help="the scenario, if the run directory lacks files that it refers to",
    )

    _check(commands)

    reading = _command(
        commands, "import", "say what is understood of a router's configuration or output"
    )
    reading.add_argument(
        "config",
        type=Path,
        metavar="FILE",
        help="configuration (Cisco IOS, IOS XE or IOS XR), or what 'show policy-map interface' "
        "printed (IOS, IOS XE)",
    )
    reading.add_argument(
        "--as",
        dest="kind",
        choices=("auto", "config", "show-policy-map"),
        default="auto",
        help="what FILE is; default auto, by its content",
    )
    reading.add_argument(
        "--interface",
        metavar="NAME",
        help="show what queues on this interface; default lists those with a policy",
    )
    reading.add_argument(
        "--platform",
        default="ios",
        metavar="P",
        help="whose meaning the commands have; 'spillgate list platforms' names them; default ios",
    )
    _strict(reading)
    reading.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="what goes to standard output; default text",
    )

    _export(commands)
    _explain(commands)
    _fluid(commands)
    _pcap(commands)

    reproducing = _command(commands, "reproduce", "run a paper's experiment and judge its claims")
    _reproduction(reproducing)

    _profile(commands)

    schema = _command(commands, "schema", "print the JSON Schema of a kind of file")
    schema.add_argument(
        "of",
        nargs="?",
        default="scenario",
        metavar="KIND",
        help="scenario (default), or sla: the requirements of a customer",
    )

    listing = _command(commands, "list", "list what can be named in a scenario")
    listing.add_argument(
        "family", nargs="?", metavar="FAMILY", help="one family only, such as aqm or metrics"
    )
    return parser


def _strict(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--strict",
        action="store_true",
        help="refuse a router configuration with names that are not defined or lines that are "
        "wrong; default a warning that says what stands in for them",
    )


def _figures(text: str) -> Path | Literal["default"]:
    return "default" if text == "default" else Path(text)


def _runs(text: str) -> list[int] | str:
    """Numbers of runs, or `all`."""
    if text.strip() == "all":
        return "all"
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        msg = f"{text!r} is neither 'all' nor numbers of runs such as 0,3"
        raise argparse.ArgumentTypeError(msg) from None


def _recording(parser: argparse._ArgumentGroup, prefix: str) -> None:
    """Options that say which packets are recorded."""
    parser.add_argument(f"--{prefix}variant", metavar="V", help="which variant; default the first")
    parser.add_argument(
        f"--{prefix}run", type=int, default=0, metavar="K", help="which run, from 0; default 0"
    )
    parser.add_argument(
        f"--{prefix}from",
        metavar="TIME",
        help="from this time of the run on, warm-up included, such as '5 s'",
    )
    parser.add_argument(f"--{prefix}until", metavar="TIME", help="until this time")
    parser.add_argument(
        f"--{prefix}packets",
        type=int,
        default=1_000_000,
        metavar="N",
        help="most packets; default 1000000",
    )
    parser.add_argument(
        f"--{prefix}snaplen",
        type=int,
        default=256,
        metavar="B",
        help="bytes that are kept of each; default 256",
    )


def _run_directory(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "directory", type=Path, metavar="RUN", help="run directory, made by 'spillgate run'"
    )


def _pcap(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    pcap = _command(commands, "pcap", "write packets of a run to a pcapng file")
    _run_directory(pcap)
    pcap.add_argument(
        "points",
        nargs="+",
        metavar="LINK[:POINT]",
        help="where: LINK:in, LINK:out or LINK:drops; LINK is the last two",
    )
    pcap.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="file to make; default packets.pcapng in the run directory",
    )
    pcap.add_argument("--force", action="store_true", help="replace an existing file")
    _recording(pcap.add_argument_group("which packets"), "")
    pcap.add_argument(
        "--scenario",
        type=Path,
        metavar="FILE",
        help="the scenario, if the run directory lacks files that it refers to",
    )


def _export(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    export = _command(
        commands, "export", "write policies as a Cisco IOS configuration or as Linux tc commands"
    )
    export.add_argument(
        "file", type=Path, metavar="FILE", help="router configuration, or scenario (.yaml, .json)"
    )
    export.add_argument("--to", choices=("ios", "tc"), required=True, help="what to write")
    export.add_argument(
        "-o", "--output", type=Path, metavar="OUT", help="file to write; default standard output"
    )
    export.add_argument(
        "--interface",
        metavar="NAME",
        help="of a configuration: this interface only; of a scenario: what the link is called "
        "on the router",
    )
    export.add_argument(
        "--policy", metavar="NAME", help="of a configuration: this policy, whatever has it"
    )
    export.add_argument(
        "--rate",
        metavar="RATE",
        help="of a configuration: rate of the interface, such as '100 Mb/s'; "
        "default its bandwidth, with --to tc also that of its type",
    )
    export.add_argument("--link", metavar="NAME", help="of a scenario: this link only")
    export.add_argument(
        "--variant",
        metavar="NAME",
        help="of a scenario: this variant; needed where there are several",
    )
    export.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        help="of a scenario: replace a value; may be repeated",
    )
    export.add_argument(
        "--platform",
        default="ios",
        metavar="P",
        help="whose meaning IOS commands have; 'spillgate list platforms' names them; default ios",
    )
    export.add_argument(
        "--dev",
        metavar="DEV",
        help="with --to tc: network device; default the name of the interface or link",
    )
    export.add_argument(
        "--scheduler",
        metavar="KIND",
        help="with --to tc: htb (default), or ets or prio for priorities and shares only",
    )
    export.add_argument(
        "--filters", metavar="KIND", help="with --to tc: flower or u32; default flower"
    )


def _explain(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    explain = _command(commands, "explain", "tell why packets of a run were late or lost")
    _run_directory(explain)
    explain.add_argument(
        "--flow",
        action="append",
        metavar="NAME",
        help="a flow, a class, or a pattern such as 'voice-*'; repeatable; default every class",
    )
    explain.add_argument(
        "--worst",
        type=int,
        default=3,
        metavar="N",
        help="explain the N packets of each that took longest; default 3",
    )
    explain.add_argument(
        "--drops",
        type=int,
        default=3,
        metavar="N",
        help="show the first N drops of each queue and reason, and marks of each queue; default 3",
    )
    explain.add_argument(
        "--packet", type=int, metavar="N", help="explain packet N of the flow, whatever it took"
    )
    explain.add_argument(
        "--at", metavar="LINK", help="rank by the wait at this link; show the drops there only"
    )
    explain.add_argument(
        "--acks", action="store_true", help="acknowledgments of connections, not their data"
    )
    explain.add_argument("--variant", metavar="V", help="which variant; default the first")
    explain.add_argument(
        "--run", type=int, default=0, metavar="K", help="which run, from 0; default 0"
    )
    explain.add_argument(
        "--scenario",
        type=Path,
        metavar="FILE",
        help="the scenario, if the run directory lacks files that it refers to",
    )
    explain.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="what goes to standard output; default text",
    )


def _fluid(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    fluid = _command(
        commands, "fluid", "predict which queues of a scenario swing, by the fluid model of TCP"
    )
    _scenario(fluid)
    fluid.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        help="replace a value, such as topology.links.wan.rate='50 Mb/s'; may be repeated",
    )
    fluid.add_argument("--link", metavar="LINK", help="of this link only; default all")
    fluid.add_argument("--variant", metavar="V", help="of this variant only; default all")
    fluid.add_argument(
        "--format",
        choices=("table", "json"),
        default="table",
        help="what goes to standard output; default table",
    )


def _reproduction(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "exit status: 0 whatever the verdicts are; 2 bad input or unusable output"
    parser.add_argument("paper", nargs="?", metavar="NAME", help="which paper")
    parser.add_argument("--list", action="store_true", help="list the papers")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="few and short runs, to see that it works; verdicts are not to be relied on",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="master seed; default 1")
    parser.add_argument(
        "--runs", type=int, metavar="N", help="runs behind each claim; default the paper's"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        help="threads; default one a core; results do not depend on it",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="run directory to make; default runs/reproduce-<paper>-<time>",
    )
    parser.add_argument("--force", action="store_true", help="replace an existing run directory")
    parser.add_argument(
        "--format",
        choices=("table", "json"),
        default="table",
        help="what goes to standard output; default table",
    )
    parser.add_argument(
        "--quiet", action="store_true", help="no progress, and of the text only the verdicts"
    )


def _check(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _command(
        commands, "check", "validate a scenario or configuration and look for mistakes by rules"
    )
    parser.epilog = (
        "exit status: 0 no error found, 1 an error (with --strict also a warning), 2 bad input"
    )
    parser.add_argument(
        "file",
        type=Path,
        nargs="?",
        metavar="FILE",
        help="scenario (.yaml, .yml, .json), or configuration (Cisco IOS, IOS XE, IOS XR)",
    )
    _numbers(parser)
    rules = parser.add_argument_group("rules")
    rules.add_argument(
        "--format",
        choices=("text", "json", "sarif"),
        default="text",
        help="what goes to standard output; sarif is for code review and CI; default text",
    )
    rules.add_argument("--strict", action="store_true", help="fail on warnings, too")
    rules.add_argument(
        "--select",
        action="append",
        default=[],
        metavar="ID",
        help="only this rule, or those whose identifiers begin so; may be repeated",
    )
    rules.add_argument(
        "--ignore", action="append", default=[], metavar="ID", help="not this rule; repeatable"
    )
    rules.add_argument(
        "--explain",
        metavar="ID",
        help="say what a rule, or a warning such as W0702, is about; see 'spillgate list rules'",
    )
    rules.add_argument(
        "--platform",
        default="ios",
        metavar="P",
        help="whose meaning commands of a configuration have; default ios",
    )


def _profile(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "profile", "measure a packet capture and fit sources to it")
    parser.add_argument("capture", type=Path, metavar="FILE", help="capture (pcap or pcapng)")
    parser.add_argument(
        "--by",
        choices=("dscp", "class", "flow"),
        help="what is measured together; default dscp, or class with --config",
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="some of the packets, such as src=10.1.0.0/16 or port=5060,5061; may be repeated",
    )
    parser.add_argument(
        "--top",
        type=int,
        default=20,
        metavar="N",
        help="measure the N with the most bytes; default 20",
    )
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="router configuration with the classes"
    )
    parser.add_argument(
        "--interface", metavar="NAME", help="interface of it whose output policy is meant"
    )
    parser.add_argument(
        "--platform", default="ios", metavar="P", help="platform of it; default ios"
    )
    parser.add_argument(
        "--format",
        choices=("table", "json", "yaml"),
        default="table",
        help="what goes to standard output; yaml is a scenario with sources that are like the "
        "capture; default table",
    )


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, summary: str
) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        formatter_class=_Formatter,
        allow_abbrev=False,
    )


def _scenario(parser: argparse.ArgumentParser, optional: str = "") -> None:
    parser.add_argument(
        "scenario",
        type=Path,
        metavar="SCENARIO",
        nargs="?" if optional else None,
        help=f"scenario file (YAML){optional}",
    )


def _numbers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seed", type=int, metavar="N", help="master seed; default the scenario's"
    )
    parser.add_argument(
        "--runs", type=int, metavar="N", help="runs of each variant; default the scenario's"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        help="replace a value, such as topology.links.wan.rate='50 Mb/s'; may be repeated",
    )
    parser.add_argument(
        "--sla",
        action="append",
        type=Path,
        default=[],
        metavar="FILE",
        help="requirements of a customer (YAML) or of several (CSV) beside the scenario's; may be "
        "repeated",
    )
    parser.add_argument(
        "--correction",
        choices=("none", "bonferroni", "holm"),
        help="whether 95 %% holds for each verdict (none) or for all of them together; default "
        "the scenario's",
    )


def command_parsers() -> Sequence[tuple[str, argparse.ArgumentParser]]:
    """Every command with its parser, for the documentation."""
    parser = build_parser()
    for action in parser._actions:  # noqa: SLF001 - argparse offers no other way
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            return [("", parser), *action.choices.items()]
    return [("", parser)]
