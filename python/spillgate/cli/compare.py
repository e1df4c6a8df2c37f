"""`spillgate compare`: mechanisms in one port, ranked."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from spillgate.cli import INTERRUPTED, progress
from spillgate.cli.machine import write_json as print_json
from spillgate.cli.render import notes
from spillgate.cli.tables import difference_table
from spillgate.cli.text import add_metric, console, count, item, legend, show, table, width
from spillgate.cli.tune import told
from spillgate.compare import Compared, Prepared, prepare
from spillgate.errors import InputError
from spillgate.labels import short_of, words
from spillgate.mechanisms import check_round_trip
from spillgate.metrics import Scale, column_decimals, format_cell, format_value, scale_of
from spillgate.own import named, schedulers
from spillgate.ranking import Ranking
from spillgate.report import REPORT
from spillgate.report import write as write_report
from spillgate.run import Interrupted
from spillgate.rundir import RUNS, RunDirectory, default_directory, read_study, write_json
from spillgate.search import quantity

if TYPE_CHECKING:
    from spillgate.cli.signals import Stop

COMPARED = "compare.json"
"""Name of what was found in a run directory, beside what any run has there."""


def run(options: argparse.Namespace) -> int:
    """The command; returns the exit status."""
    names, code = _asked(options.aqm)
    prepared = prepare(
        options.scenario,
        port=options.port,
        aqm=names,
        own=named(code),
        scheduler=schedulers(options.scheduler),
        variant=options.variant,
        metrics=options.metric,
        rtt=None if options.rtt is None else _seconds(options.rtt),
        ecn=options.ecn,
        limit=options.limit,
        set=options.set,
        seed=options.seed,
        runs=options.runs,
        jobs=options.jobs,
        sla=options.sla,
        correction=options.correction,
        confine=options.confine,
    )
    options.running = prepared.description
    if options.figures:
        # That nothing can draw them is said before anything runs.
        import spillgate.plot  # noqa: F401
    before = [options.out / RUNS] if options.out and (options.out / RUNS).is_dir() else []
    directory = (
        RunDirectory(options.out, force=options.force, take=before)
        if options.out
        else RunDirectory.fresh(default_directory(options.scenario, prepared.description.name))
    )
    try:
        if options.tune is not None:
            said = None if options.quiet else told()
            store = options.store or directory.store
            prepared = prepared.tuned(options.tune, store=store, progress=said)
        found, interrupted = _run(prepared, directory, options)
        if options.store is not None:
            directory.take(options.store)
        with directory.filling() as temporary:
            problems = _write(found, temporary, options)
    finally:
        directory.discard()
    for problem in problems:
        print(f"spillgate: {problem}", file=sys.stderr)
    if options.format == "json":
        print_json(document(found))
    else:
        _print(console(), found, directory.path, brief=options.quiet)
    if interrupted:
        print(
            f"spillgate: interrupted; what is done is in {directory.path}\n"
            f"spillgate: the rest: the same command with --out {directory.path} --force",
            file=sys.stderr,
        )
        return INTERRUPTED
    return status(found)


def _asked(texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """The names of mechanisms, and what is given of one's own, of `--aqm`."""
    asked = [x.strip() for text in texts for x in text.split(",")]
    if "" in asked:
        msg = f"error: --aqm {','.join(texts)}: a name is empty: write names with commas between"
        raise InputError(msg)
    code = [x for x in asked if ":" in x or "=" in x]
    own = iter(named(code))
    return [next(own) if x in code else x for x in asked], code


def _seconds(text: str) -> float:
    number, unit, _ = quantity("rtt", text)
    if unit != "s":
        msg = f"error: --rtt {text} is no time: write one such as '40 ms'"
        raise InputError(msg)
    check_round_trip(float(number), f"--rtt {text}")
    return float(number)


def _run(
    prepared: Prepared, directory: RunDirectory, options: argparse.Namespace
) -> tuple[Compared, bool]:
    stop: Stop = options.stop
    with (
        stop.calling(prepared.simulation.stop),
        progress.shown(prepared.description, quiet=options.quiet, kind=options.progress) as report,
    ):
        try:
            return prepared.run(report, store=options.store or directory.store), False
        except Interrupted as stopped:
            return prepared.of(stopped.results), True


def _write(found: Compared, directory: Path, options: argparse.Namespace) -> list[str]:
    """Puts all into a run directory; what could not be drawn, in sentences."""
    results = found.results
    results.write_into(directory, options.argv)
    write_json(directory / COMPARED, document(found))
    write_report(results, directory / REPORT, results.manifest() | read_study(directory))
    if not options.figures:
        return []
    from spillgate.plot import save
    from spillgate.plot.specs import comparison_figures

    specs = comparison_figures(results, found.port.link)
    return save(results, directory / "figures", specs)[1]


def status(found: Compared) -> int:
    """0 if a mechanism meets every requirement, 3 if one may, else 1."""
    met = [found.met(m.name) for m in found.mechanisms]
    if any(m["fail"] == m["undecided"] == 0 for m in met):
        return 0
    return 3 if any(m["fail"] == 0 for m in met) else 1


def document(found: Compared) -> dict[str, object]:
    """What was found, as in `compare.json`."""
    return {
        **found.to_dict(),
        "runs": found.results.description.runs,
        "seed": found.results.description.seed,
        "verdicts": [asdict(v) for v in found.results.verdicts],
    }


def _print(out: Console, found: Compared, path: Path, *, brief: bool) -> None:
    d = found.results.description
    out.print(Text(d.name or found.results.scenario_path.name, "bold"))
    rate = format_value(found.port.rate, "b/s")
    base = f", variant {found.port.variant}" if found.port.variant else ""
    port = f"Port {found.port.link}, {rate}{base}"
    mechanisms = count(len(found.mechanisms), "mechanism")
    out.print(f"{port}: {mechanisms} × {count(d.runs, 'run')}, seed {d.seed}")
    out.print()
    if found.results.verdicts:
        _requirements(out, found)
    if not brief:
        _rankings(out, found)
        difference_table(out, found.results, _references(found))
        out.print(Text("What stands there", "bold"))
        for m in found.mechanisms:
            item(out, f"{m.name}: {'; '.join(m.stated)}")
        out.print()
        notes(out, d, found.remarks)
    out.print(Text.assemble(("Results ", "bold"), f"in {path}"), overflow="fold")


def _references(found: Compared) -> list[str]:
    """The points of the reference."""
    points = found.results.description.points
    return [p.name for p in points if found.reference in (p.name, p.variant)]


def _requirements(out: Console, found: Compared) -> None:
    made = table()
    for heading in ("requirements", *found.required):
        made.add_column(heading)
    marks = {name: entry["mark"] for name, entry in words("verdicts").items()}
    for m in found.mechanisms:
        cells = [
            ", ".join(f"{marks[v]} {n} {v}" for v, n in found.met(m.name, cls).items() if n)
            for cls in found.required
        ]
        made.add_row(*map(Text, (m.name, *cells)))
    show(out, made)
    out.print()


def _rankings(out: Console, found: Compared) -> None:
    """A table of each class and place: means, and places in the rankings."""
    if not found.rankings:
        out.print("Every run gives the same under all of them, or has no such value.")
        out.print()
        return
    families: dict[tuple[str, str], list[Ranking]] = {}
    for r in found.rankings:
        families.setdefault((r.at, r.cls), []).append(r)
    columns = list(dict.fromkeys(r.metric for r in found.rankings))
    hidden: list[str] = []
    while columns:
        made = _table(families, columns, found.results.description.variants)
        if width(out, made) <= out.width or len(columns) == 1:
            show(out, made)
            break
        # What is in the files is named, not shown.
        hidden.insert(0, short_of(columns.pop()))
    text = (
        "place: what it may be in the ranking, empty where no two are told apart; all "
        "of a metric and class hold together at 95 %"
    )
    if hidden:
        text += f"; {', '.join(hidden)} in a wider terminal"
    legend(out, text)
    for r in found.rankings:
        if r.tells:
            item(out, r.sentence)
    if alike := [r.what for r in found.rankings if not r.tells]:
        item(out, f"no difference is shown: {', '.join(alike)}")
    out.print()


def _table(
    families: dict[tuple[str, str], list[Ranking]], columns: Sequence[str], points: Sequence[str]
) -> Table:
    made = table()
    several = len({at for at, _ in families}) > 1
    for heading in (*(("at",) if several else ()), "class", "mechanism"):
        made.add_column(heading, no_wrap=True, vertical="bottom")
    scales: dict[str, tuple[Scale, int]] = {}
    for metric in columns:
        of = [r for every in families.values() for r in every if r.metric == metric]
        means = [p.mean for r in of for p in r.places]
        scale = scale_of(metric, of[0].unit, means)
        scales[metric] = scale, column_decimals(scale, means)
        add_metric(made, metric, scale.unit)
        made.add_column("place", no_wrap=True, vertical="bottom")
    for n, ((at, cls), rankings) in enumerate(families.items()):
        if n:
            made.add_row()
        by = {r.metric: r for r in rankings}
        measured = {p.name for r in rankings for p in r.places}
        for i, name in enumerate(n for n in points if n in measured):
            cells = [*((at if i == 0 else "",) if several else ()), cls if i == 0 else "", name]
            for metric in columns:
                place = by[metric].place(name) if metric in by else None
                if place is None:
                    cells += ["–", ""]
                else:
                    scale, decimals = scales[metric]
                    text = format_cell(place.mean, place.half, scale, decimals)
                    cells += [text, place.places if by[metric].tells else ""]
            made.add_row(*map(Text, cells))
    return made
