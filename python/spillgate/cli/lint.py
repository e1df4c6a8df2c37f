"""`spillgate check`: what was understood, and what the rules find."""

from __future__ import annotations

import argparse
import shlex
import textwrap
from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console
from rich.text import Text

from spillgate import scenario
from spillgate.cli.describe import description
from spillgate.cli.machine import write_json
from spillgate.cli.screen import Part, present
from spillgate.cli.text import console, count
from spillgate.errors import InputError
from spillgate.lint import Finding, Findings, is_scenario, lint, reader_warnings, rules
from spillgate.own import given

_SEVERITIES = ("error", "warning", "note")


def check(options: argparse.Namespace) -> int:
    """The command; returns the exit status."""
    if options.explain is not None:
        print(explained(options.explain))
        return 0
    if options.file is None:
        msg = "error: check needs a FILE (or --explain ID)"
        raise InputError(msg)
    described = None
    own = given(options)
    if is_scenario(options.file):
        described = scenario.check(
            options.file,
            aqm=own.aqm,
            scheduler=own.scheduler,
            seed=options.seed,
            runs=options.runs,
            set=options.set,
            sla=options.sla,
            correction=options.correction,
            confine=options.confine,
        )
    found = lint(
        options.file,
        platform=options.platform,
        select=options.select,
        ignore=options.ignore,
        set=options.set if described else None,
        aqm=own.aqm,
        scheduler=own.scheduler,
        confine=options.confine,
    )
    if options.format == "json":
        record = {
            "findings": [asdict(f) for f in found.found],
            **{f"{s}s": found.count(s) for s in _SEVERITIES},
        }
        if described is not None:
            record |= {"files": described.files, "outside": described.outside}
        write_json(record)
    elif options.format == "sarif":
        write_json(found.sarif, indent=1)
    else:
        parts = description(described) if described is not None else ()
        rest = f"spillgate check {shlex.quote(str(options.file))} --all"
        present(console(), (*parts, *_findings(found)), rest, whole=options.all)
    return int(found.fails(strict=options.strict))


def _findings(found: Findings) -> Sequence[Part]:
    """What the rules find; where there is no place, a line each, the worst first."""

    def some(out: Console, n: int) -> int:
        for f in worst[:n]:
            place = ":".join(str(x) for x in (f.file, f.line, f.column) if x is not None)
            out.print(Text(f"{place}: {f.severity}: {f.message} [{f.id}]"))
        out.print()
        return n

    worst = sorted(found.found, key=lambda f: _SEVERITIES.index(f.severity))
    text = Text(found.text)
    return (
        Part(
            lambda out: out.print(text, soft_wrap=True, end=""),
            1,
            "findings",
            len(worst),
            some,
            share=0.5,
        ),
        Part(lambda out: out.print(Text(summary(found)))),
    )


def summary(found: Findings) -> str:
    """How many findings there are, in one line."""
    counts = [count(n, s) for s in _SEVERITIES if (n := found.count(s))]
    if not counts:
        return "No rule finds anything."
    first = next((f for f in found.found if f.name), None)
    hint = f"; spillgate check --explain {first.id} says why" if first else ""
    return f"{', '.join(counts)}{hint}"


def explained(asked: str) -> str:
    """Everything about a rule, a warning of a reader, or the code of an error."""
    wanted = asked.casefold()
    for rule in (*rules(), *reader_warnings()):
        if wanted in (rule.id.casefold(), rule.name.casefold()):
            paragraphs = [
                f"{rule.id} {rule.name} ({rule.level})",
                f"{rule.summary}.",
                *rule.explanation.split("\n\n"),
                f"What to do: {rule.remedy}",
                f"Source: {rule.source}.",
                f"Suppress it with a comment on the line or above it: spillgate: ignore {rule.id}",
            ]
            return "\n\n".join(textwrap.fill(p, 92) for p in paragraphs)
    for code in scenario.catalog()["codes"]:
        if wanted == code["kind"].casefold():
            return f"{code['kind']} (error)\n\n{code['summary']}"
    lists = "'spillgate list rules' and 'spillgate list codes' have all"
    msg = f"error: there is no rule or code {asked!r}; {lists}"
    raise InputError(msg)


def note(findings: tuple[Finding, ...], file: object) -> str:
    """What `spillgate run` says of them; empty if there is nothing to say."""
    kinds = [(s, sum(f.severity == s for f in findings)) for s in ("error", "warning")]
    counts = [count(n, s) for s, n in kinds if n]
    if not counts:
        return ""
    return f"the rules find {' and '.join(counts)}; spillgate check {file} shows them"
