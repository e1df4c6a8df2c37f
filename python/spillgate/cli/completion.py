"""`spillgate completion`: scripts with which a shell completes commands, options and names."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import shtab

from spillgate import scenario
from spillgate.cli.parser import build_parser, command_parsers
from spillgate.cli.reproduce import installed

_NAMES: dict[tuple[str, str], Callable[[], Iterable[str]]] = {
    ("list", "family"): scenario.catalog,
    ("reproduce", "paper"): installed,
    ("check", "explain"): lambda: (rule["kind"] for rule in scenario.catalog()["rules"]),
}
"""Arguments whose values are names, by command."""


def completion(options: argparse.Namespace) -> int:
    """Prints the script for a shell."""
    parser = build_parser()
    for command, of in command_parsers(parser):
        for action in of._actions:  # noqa: SLF001 - argparse offers no other way
            if action.metavar in ("RUN", "DIR"):
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
            elif action.type is Path or "FILE" in str(action.metavar):
                action.complete = shtab.FILE  # type: ignore[attr-defined]
            elif names := _NAMES.get((command, action.dest)):
                action.choices = tuple(names())
    sys.stdout.write(shtab.complete(parser, options.shell) + "\n")
    return 0
