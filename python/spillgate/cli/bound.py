"""`spillgate bound`: which delays and backlogs cannot be exceeded."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from rich.text import Text

from spillgate.bounds import bound as find
from spillgate.cli.machine import write_json
from spillgate.cli.text import console, laid, show
from spillgate.labels import words
from spillgate.shown.bounds import (
    MEANING,
    WITHOUT_FAILURES,
    certain,
    ends,
    halved,
    queues,
    reasons,
)


def bound(options: argparse.Namespace) -> int:
    """The command; returns the exit status."""
    found = find(
        options.scenario,
        variant=options.variant,
        set=options.set,
        sla=options.sla,
        confine=options.confine,
    )
    proven = all(v.verdict == "pass" for b in found for v in b.certain)
    status = 0 if proven else int(words("verdicts")["undecided"]["status"])
    if options.format == "json":
        write_json([asdict(b) for b in found])
        return status
    out = console()
    for b in found:
        out.print(Text(b.point, style="bold"))
        if b.without_failures:
            out.print(WITHOUT_FAILURES)
        show(out, laid(ends("class", b.classes), grouped=True))
        if options.flows:
            show(out, laid(ends("flow", b.flows), grouped=True))
        show(out, laid(queues(b.queues)))
        for line in (*reasons(b, flows=options.flows), *halved(b)):
            out.print(Text(line), soft_wrap=True)
        if b.certain:
            show(out, laid(certain(b.certain)))
        out.print()
    out.print(MEANING)
    return status
