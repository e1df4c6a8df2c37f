"""`spillgate export`: policies as text for another system."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from spillgate import scenario
from spillgate.errors import OutputError
from spillgate.whole import replacing


def export(options: argparse.Namespace) -> int:
    """`spillgate export`."""
    exported = scenario.export(
        options.file,
        to=options.to,
        platform=options.platform,
        interface=options.interface,
        link=options.link,
        variant=options.variant,
        policy=options.policy,
        rate=options.rate,
        device=options.dev,
        scheduler=options.scheduler,
        filters=options.filters,
        set=options.set,
        confine=options.confine,
    )
    if options.output is None:
        sys.stdout.write(exported.text)
    else:
        _write_whole(options.output, exported.text)
    for note in exported.notes:
        print(f"not expressed: {note}", file=sys.stderr)
    return 0


def _write_whole(path: Path, text: str) -> None:
    """Writes a file that is never half written."""
    try:
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    except OSError as error:
        msg = f"cannot write {path}: {error.strerror or error}"
        raise OutputError(msg) from None
