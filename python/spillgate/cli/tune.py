"""`spillgate tune`: values of axes with which all requirements hold, and most is left."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from spillgate.cli import progress
from spillgate.cli.machine import write_json as print_json
from spillgate.cli.source import source
from spillgate.cli.text import console, item, laid, show
from spillgate.cli.verdicts import verdict_table
from spillgate.errors import SpillgateError
from spillgate.objective import LEFT, Objective
from spillgate.report import REPORT
from spillgate.report import write as write_report
from spillgate.run import Progress
from spillgate.rundir import RUNS, RunDirectory, default_directory, read_study, write_json
from spillgate.scenario import export
from spillgate.shown.searches import front, knobs, objective_sentences, tuned_sentences
from spillgate.spreadsheet import written
from spillgate.tuning import Tuned, tune


def run(options: argparse.Namespace) -> int:
    """The command; returns the exit status: that of the verdicts of the fresh runs."""
    objectives = [Objective.read(t, larger=False) for t in options.minimize]
    objectives += [Objective.read(t, larger=True) for t in options.maximize]
    # That nothing can draw the figure is said before anything runs.
    import spillgate.plot  # noqa: F401

    before = [options.out / RUNS] if options.out and (options.out / RUNS).is_dir() else []
    directory = (
        RunDirectory(options.out, force=options.force, take=before)
        if options.out
        else RunDirectory.fresh(default_directory(options.scenario))
    )
    try:
        found = tune(
            source(options),
            objectives=objectives or (LEFT,),
            trials=options.trials,
            runs=options.runs,
            seed=options.seed,
            jobs=options.jobs,
            set=options.set,
            sla=options.sla,
            correction=options.correction,
            confirm=options.confirm,
            store=directory.store,
            progress=None if options.quiet else told(),
        )
        texts = _configurations(found)
        with directory.filling() as temporary:
            results = found.confirmed
            results.write_into(temporary, options.argv)
            write_report(results, temporary / REPORT, results.manifest() | read_study(temporary))
            _write(found, temporary, texts)
    finally:
        directory.discard()
    if options.format == "json":
        print_json(document(found))
    else:
        _print(console(), found, directory.path, texts)
    return found.confirmed.status


def told() -> Callable[[str, Progress], None]:
    """Says on a terminal what is run."""
    last = ""

    def report(what: str, p: Progress) -> None:
        nonlocal last
        if what != last and sys.stderr.isatty():
            last = what
            print(f"{what}: {progress.describe(p)}", file=sys.stderr)

    return report


def document(found: Tuned) -> dict[str, Any]:
    """What was found, as in `tune.json`."""
    knobs = [
        {"axis": k.axis, "best": k.best, "region": k.region, "trials": list(map(asdict, k.trials))}
        for k in found.knobs
    ]
    return {
        "objectives": [
            {"objective": str(o), "direction": "maximize" if o.larger else "minimize"}
            for o in found.objectives
        ],
        "best": asdict(found.best),
        "passed": found.passed,
        "confirmed": [asdict(v) for v in found.confirmed.verdicts],
        "tried": found.tried,
        "front": [asdict(t) for t in found.front],
        "knobs": knobs,
        "trials": [asdict(t) for t in found.trials],
    }


def _configurations(found: Tuned) -> dict[str, str]:
    """The policies of the best point for other systems, or why there are none."""
    results = found.confirmed
    [name] = results.description.variants
    if results.source.own.identities():
        why = "! no router has an AQM or a scheduler of one's own\n"
        return {"ios": why, "tc": why}
    texts = {}
    for to in ("ios", "tc"):
        try:
            made = export(results.source.path, to=to, variant=name, set=results.overrides)
        except SpillgateError as error:
            texts[to] = f"! {str(error).splitlines()[0]}\n"
        else:
            texts[to] = made.text
    return texts


def _write(found: Tuned, directory: Path, texts: dict[str, str]) -> None:
    """Puts what was found beside the results of the best point."""
    from spillgate.plot.files import write
    from spillgate.plot.tuning import tornado

    write_json(directory / "tune.json", document(found))
    for to, text in texts.items():
        (directory / f"best.{to}").write_text(text, encoding="utf-8")
    (directory / "figures").mkdir(exist_ok=True)
    write(tornado(found), directory / "figures" / "tornado")
    axes = list(found.best.values)
    names = list(found.best.objectives)
    with (directory / "trials.csv").open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([*axes, *names, "margin", "passes"])
        for t in found.trials:
            values = [t.values[a] for a in axes]
            measured = [t.objectives[n] for n in names]
            row = [*values, *measured, min(t.margins), "yes" if t.passes else "no"]
            writer.writerow(["" if c is None else written(c) for c in row])


def _print(out: Console, found: Tuned, path: Path, texts: dict[str, str]) -> None:
    first, *more = tuned_sentences(found)
    out.print(Text(first, "bold"))
    for line in more:
        out.print(line)
    show(out, laid(knobs(found)))
    for line in objective_sentences(found):
        out.print(Text(line))
    out.print()
    verdict_table(out, found.confirmed)
    if found.front:
        several = front(found)
        out.print(Text(several.title, "bold"))
        show(out, laid(several))
        out.print()
    out.print(Text(texts["ios"].rstrip()), soft_wrap=True)
    out.print()
    item(out, f"also for tc, trials, and what moving each value does: {path}")
