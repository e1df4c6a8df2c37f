"""`spillgate lab`: the simulator as a page in the browser."""

from __future__ import annotations

import argparse
import sys

from spillgate.errors import InputError
from spillgate.lab import Lab, Project, save


def lab(options: argparse.Namespace) -> int:
    """The command; returns the exit status."""
    _check(options)
    project = None
    if options.file is not None:
        project = Project.of(options.file, platform=options.platform, confine=options.confine)
    if options.save is not None:
        save(options.save, project, force=options.force)
        print(options.save)
        return 0
    with Lab(project, options.port or 0) as server:
        print(f"The lab is at {server.url} until Ctrl-C ends it.", flush=True)
        if not options.no_browser:
            server.open_browser()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            # What ends every visit is no interruption. The terminal has shown ^C in the last line.
            if sys.stdout.isatty():
                print()
    return 0


def _check(options: argparse.Namespace) -> None:
    """Refuses options that would have no effect."""
    if options.save is None:
        if options.force:
            msg = "error: --force says that --save may replace a file: add --save FILE"
            raise InputError(msg)
    elif options.no_browser or options.port is not None:
        msg = "error: --save writes a file and serves nothing: leave out --port and --no-browser"
        raise InputError(msg)
