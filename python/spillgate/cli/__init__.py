"""The command line: `spillgate run`, `check`, `import`, `explain`, ...

Results go to standard output, progress and problems to standard error. Exit
status: 0 all requirements met, 1 one failed, 2 bad input or unusable output, 3
undecided, 4 internal error, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from spillgate.cli.parser import build_parser

BAD_INPUT, INTERNAL, INTERRUPTED, BROKEN_PIPE = 2, 4, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        # An ASCII terminal shall show "?" for "±", not a traceback.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    options = build_parser().parse_args(arguments)
    options.argv = ["spillgate", *arguments]
    # Imported here so that --help does not pay for it.
    from spillgate.cli.commands import COMMANDS
    from spillgate.errors import InputError, SpillgateError

    try:
        status = COMMANDS[options.command](options)
        sys.stdout.flush()
    except InputError as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
    except SpillgateError as error:
        print(f"spillgate: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("spillgate: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has what it wanted (spillgate run ... | head).
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception as error:
        if os.environ.get("SPILLGATE_DEBUG") == "1":
            raise
        print(_report(error, options), file=sys.stderr)
        return INTERNAL
    return status


def _report(error: Exception, options: object) -> str:
    from spillgate import __commit__, __version__

    known = getattr(options, "running", None)
    what = f"seed {known.seed}, scenario {known.hash}; " if known is not None else ""
    return (
        f"spillgate: internal error: {type(error).__name__}: {error}; {what}version {__version__} "
        f"({__commit__}); please report this line with the scenario "
        "(SPILLGATE_DEBUG=1 shows the traceback)"
    )
