"""Arguments of the command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import cache

from spillgate import __commit__, __version__
from spillgate.cli.parser.comparing import add_compare
from spillgate.cli.parser.configs import add_check, add_export, add_import, add_profile
from spillgate.cli.parser.drawing import add_plot
from spillgate.cli.parser.hurting import add_stress
from spillgate.cli.parser.looking import (
    add_bound,
    add_completion,
    add_estimate,
    add_explain,
    add_fluid,
    add_lab,
    add_list,
    add_pcap,
    add_schema,
)
from spillgate.cli.parser.options import Formatter
from spillgate.cli.parser.running import (
    add_best,
    add_dataset,
    add_find,
    add_report,
    add_reproduce,
    add_run,
    add_suite,
    add_sweep,
    add_tune,
)

_STATUS = """\
exit status:
  0  every requirement is met (or none is stated)
  1  a requirement is not met
  2  bad input, or the output cannot be written
  3  undecided: an interval contains its bound; more runs may decide
  4  internal error
  130  interrupted; the finished runs are saved
"""


_COMMANDS = {
    "run": add_run,
    "sweep": add_sweep,
    "find": add_find,
    "best": add_best,
    "compare": add_compare,
    "tune": add_tune,
    "report": add_report,
    "plot": add_plot,
    "dataset": add_dataset,
    "check": add_check,
    "bound": add_bound,
    "stress": add_stress,
    "estimate": add_estimate,
    "import": add_import,
    "export": add_export,
    "explain": add_explain,
    "fluid": add_fluid,
    "lab": add_lab,
    "pcap": add_pcap,
    "reproduce": add_reproduce,
    "suite": add_suite,
    "profile": add_profile,
    "schema": add_schema,
    "list": add_list,
    "completion": add_completion,
}
"""In the order of the help."""


@cache
def build_parser(command: str | None = None) -> argparse.ArgumentParser:
    """The parser; each command stores its name in `command`.

    `command`: of this one only, as all of them take longer to make than some commands run; of all
    if there is none of this name.
    """
    parser = argparse.ArgumentParser(
        prog="spillgate",
        description="Simulates congestion management in network nodes, packet by packet.",
        epilog=_STATUS,
        formatter_class=Formatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--version", action="version", version=f"spillgate {__version__} ({__commit__})"
    )
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", title="commands"
    )
    for name, add in _COMMANDS.items():
        if command not in _COMMANDS or name == command:
            add(commands)
    return parser


def command_parsers(
    parser: argparse.ArgumentParser | None = None,
) -> Sequence[tuple[str, argparse.ArgumentParser]]:
    """Every command with its parser, for documentation and completion; that of all is first."""
    parser = parser or build_parser()
    for action in parser._actions:  # noqa: SLF001 - argparse offers no other way
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            return [("", parser), *action.choices.items()]
    return [("", parser)]
