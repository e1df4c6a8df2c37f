"""What several commands have in common."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Fixed width, so that the documentation shows what everyone sees."""

    def __init__(self, prog: str) -> None:
        """For a program of this name."""
        super().__init__(prog, max_help_position=26, width=92)


def add_command(commands: Commands, name: str, summary: str) -> argparse.ArgumentParser:
    """A command with its help."""
    return commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        formatter_class=Formatter,
        allow_abbrev=False,
    )


def add_all(parser: argparse.ArgumentParser) -> None:
    """The option to print more than a screenful."""
    parser.add_argument(
        "--all",
        action="store_true",
        help="print everything; default what fits the terminal, the most important first (40 "
        "lines where there is none)",
    )


def add_where(parser: argparse._ActionsContainer, what: str) -> None:
    """The option to choose points."""
    parser.add_argument(
        "--where",
        metavar="AXIS=VALUE,...",
        help=f"{what}: 'load=8 Mb/s,limit=20 packets'; 'load=2 Mb/s,8 Mb/s' are two values, "
        "'load=2 Mb/s..8 Mb/s' all from one to another; variant is an axis, too",
    )


def add_scenario(parser: argparse.ArgumentParser, optional: str = "") -> None:
    """The argument that names a scenario."""
    parser.add_argument(
        "scenario",
        type=Path,
        metavar="SCENARIO",
        nargs="?" if optional else None,
        help=f"scenario file (YAML){optional}",
    )


def add_sla(parser: argparse.ArgumentParser) -> None:
    """The option that names requirements beside the scenario's."""
    parser.add_argument(
        "--sla",
        action="append",
        type=Path,
        default=[],
        metavar="FILE",
        help="requirements of a customer (YAML) or of several (CSV) beside the scenario's; may be "
        "repeated",
    )


def add_numbers(parser: argparse.ArgumentParser) -> None:
    """Options that replace what a scenario says of runs and requirements."""
    parser.add_argument(
        "--seed", type=int, metavar="N", help="master seed; default the scenario's"
    )
    parser.add_argument(
        "--runs", type=int, metavar="N", help="runs of each variant; default the scenario's"
    )
    add_set(parser)
    add_sla(parser)
    parser.add_argument(
        "--correction",
        choices=("none", "bonferroni", "holm"),
        help="whether 95 %% holds for each verdict (none) or for all of them together; default "
        "the scenario's",
    )


def add_own(parser: argparse.ArgumentParser) -> None:
    """The options for AQMs and schedulers of one's own."""
    parser.add_argument(
        "--aqm",
        action="append",
        default=[],
        metavar="[NAME=]MODULE:CLASS",
        help="an AQM of one's own that the scenario names: a class of a module that can be "
        "imported from here, or of a file FILE.py; default of NAME the class's; may be repeated",
    )
    add_scheduler(parser, "likewise")


def add_scheduler(parser: argparse.ArgumentParser, where: str) -> None:
    """The option for schedulers of one's own."""
    parser.add_argument(
        "--scheduler",
        action="append",
        default=[],
        metavar="[NAME=]MODULE:CLASS",
        help=f"a scheduler of one's own that the scenario names as a policy, {where}",
    )


def add_set(
    parser: argparse.ArgumentParser,
    what: str = "replace a value, such as topology.links.wan.rate='50 Mb/s'",
) -> None:
    """The option to replace values of a scenario."""
    help_ = f"{what}; may be repeated"
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE", help=help_)


def add_format(parser: argparse._ActionsContainer, *kinds: str, note: str = "") -> None:
    """The option for what is printed: the first of some kinds unless it is given."""
    help_ = f"what goes to standard output; {note}default {kinds[0]}"
    parser.add_argument("--format", choices=kinds, default=kinds[0], help=help_)


def add_platform(parser: argparse._ActionsContainer, what: str) -> None:
    """The option for whose commands are read or written."""
    parser.add_argument("--platform", default="ios", metavar="P", help=f"{what}; default ios")


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """The number of threads."""
    help_ = "threads; default one a core; results do not depend on it"
    parser.add_argument("--jobs", type=int, metavar="N", help=help_)


def add_out(parser: argparse.ArgumentParser, default: str) -> None:
    """The run directory that is made."""
    help_ = f"run directory to make; default runs/{default}"
    parser.add_argument("--out", type=Path, metavar="DIR", help=help_)
    parser.add_argument("--force", action="store_true", help="replace an existing run directory")


def add_quiet(parser: argparse.ArgumentParser) -> None:
    """The option to print only what must be known."""
    help_ = "no progress, and of the text only the verdicts"
    parser.add_argument("--quiet", action="store_true", help=help_)


def add_progress(parser: argparse.ArgumentParser) -> None:
    """The option for how progress is said."""
    parser.add_argument(
        "--progress",
        choices=("text", "json"),
        default="text",
        help="how progress is said on standard error: json is one object a line, with the time "
        "that is left in remaining_s; default text",
    )


def add_run_directory(parser: argparse.ArgumentParser) -> None:
    """The argument that names a run directory."""
    parser.add_argument(
        "directory", type=Path, metavar="RUN", help="run directory, made by 'spillgate run'"
    )


def add_strict(parser: argparse.ArgumentParser) -> None:
    """The option to refuse what is wrong in a router configuration."""
    parser.add_argument(
        "--strict",
        action="store_true",
        help="refuse a router configuration with names that are not defined or lines that are "
        "wrong; default a warning that says what stands in for them",
    )


def add_confine(parser: argparse.ArgumentParser) -> None:
    """The option to read nothing outside the scenario's folder."""
    parser.add_argument(
        "--confine",
        action="store_true",
        help="refuse a scenario that refers to files outside its folder, wherever links lead: for "
        "scenarios of others",
    )


def figures(text: str) -> Path | Literal["default"]:
    """What `--figures` says."""
    return "default" if text == "default" else Path(text)


def runs(text: str) -> list[int] | str:
    """Numbers of runs, or `all`."""
    if text.strip() == "all":
        return "all"
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        msg = f"{text!r} is neither 'all' nor numbers of runs such as 0,3"
        raise argparse.ArgumentTypeError(msg) from None


class Shard(NamedTuple):
    """A part of several, numbered from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        """As on the command line."""
        return f"{self.number}/{self.of}"


def shard(text: str) -> Shard:
    """What `--shard` says: part 3 of 100 is `3/100`."""
    try:
        number, of = map(int, text.split("/"))
    except ValueError:
        number, of = 0, 0
    if not 1 <= number <= of:
        msg = f"{text!r} is no part of several, such as 1/100 to 100/100"
        raise argparse.ArgumentTypeError(msg)
    return Shard(number, of)


def seconds(text: str) -> float:
    """A positive number of seconds."""
    return _positive(text, "seconds, such as 60 or 0.5")


def megabytes(text: str) -> float:
    """A positive number of megabytes."""
    return _positive(text, "megabytes, such as 500")


def tcp_port(text: str) -> int:
    """A port of this machine; 0 is any that is free."""
    number = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= number <= 0xFFFF:
        msg = f"{text!r} is no port, which are 1 to 65535"
        raise argparse.ArgumentTypeError(msg)
    return number


def _positive(text: str, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < 1e12:
        msg = f"{text!r} is no positive number of {what}"
        raise argparse.ArgumentTypeError(msg)
    return value


def add_recording(parser: argparse._ArgumentGroup, prefix: str) -> None:
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
