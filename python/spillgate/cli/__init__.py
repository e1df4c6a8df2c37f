"""The command line: `spillgate run`, `check`, `import`, `explain`, ...

Results go to standard output, progress and problems to standard error. Exit
status: 0 all requirements met, 1 one failed, 2 bad input or unusable output, 3
undecided, 4 internal error, 130 interrupted.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING

from spillgate.cli.parser import build_parser

if TYPE_CHECKING:
    from argparse import Namespace

    from spillgate.cli.signals import Stop

BAD_INPUT, INTERNAL, INTERRUPTED, BROKEN_PIPE = 2, 4, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    from spillgate.cli.signals import Stop
    from spillgate.cli.streams import standard

    # Hundreds of thousands of rows are made, and none of them refers to itself. What there is at
    # the end goes with the process.
    gc.set_threshold(100_000, 20, 100)
    atexit.register(gc.freeze)
    arguments = list(sys.argv[1:] if argv is None else argv)
    with standard(), Stop().handled() as stop:
        return _main(arguments, stop)


def _main(arguments: list[str], stop: Stop) -> int:
    from spillgate.errors import HookError, InputError, SpillgateError, is_internal

    options = None
    try:
        try:
            options = build_parser(*arguments[:1]).parse_args(arguments)
        except SystemExit:
            # The help, say, has gone to standard output.
            sys.stdout.flush()
            raise
        _check_text(options)
        options.argv = ["spillgate", *arguments]
        options.stop = stop
        # Imported here so that --help does not pay for it.
        from spillgate.cli.commands import COMMANDS

        status = COMMANDS[options.command](options)
        sys.stdout.flush()
    except InputError as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
    except SpillgateError as error:
        if error.__cause__ is not None and isinstance(error, HookError):
            traceback.print_exception(error.__cause__)
        print(f"spillgate: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("spillgate: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has what it wanted (spillgate run ... | head).
        return BROKEN_PIPE
    except BaseException as error:
        if not is_internal(error):
            raise
        if os.environ.get("SPILLGATE_DEBUG") == "1":
            traceback.print_exc()
        print(_report(error, options), file=sys.stderr)
        return INTERNAL
    return status


def _check_text(options: Namespace) -> None:
    """Refuses arguments that are no text; paths may be anything."""
    from spillgate.errors import InputError

    for name, value in vars(options).items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and any("\ud800" <= c <= "\udfff" for c in text):
                msg = f"error: --{name.replace('_', '-')}: {text!r} is not UTF-8"
                raise InputError(msg)


def _report(error: BaseException, options: object) -> str:
    from spillgate import __commit__, __version__

    known = getattr(options, "running", None)
    what = f"seed {known.seed}, scenario {known.hash}; " if known is not None else ""
    return (
        f"spillgate: internal error: {type(error).__name__}: {error}; {what}version {__version__} "
        f"({__commit__}); please report this line with the scenario "
        "(SPILLGATE_DEBUG=1 shows the traceback)"
    )
