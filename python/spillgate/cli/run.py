"""`spillgate run`, and `spillgate sweep` where it makes results."""

from __future__ import annotations

import argparse
import csv
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from spillgate.cli import INTERRUPTED
from spillgate.cli.chosen import figures, of_interest
from spillgate.cli.machine import write_json
from spillgate.cli.streams import StdoutError
from spillgate.errors import InputError, OutputError, is_internal
from spillgate.own import given as own_of
from spillgate.pcap import FILE as PACKETS
from spillgate.result import Results
from spillgate.rows import Row
from spillgate.run import Interrupted, Simulation
from spillgate.rundir import RunDirectory, default_directory, read_study
from spillgate.spreadsheet import written
from spillgate.where import numbers_of

if TYPE_CHECKING:
    from spillgate.cli.signals import Stop
    from spillgate.cluster import Cluster
    from spillgate.plot import FigureSpec


def run(options: argparse.Namespace, cluster: Cluster | None = None) -> int:
    """`spillgate run`, and `spillgate sweep` where it makes results, with workers or without."""
    from spillgate.cli import progress, resuming, sweep

    given = argparse.Namespace(**vars(options))
    resuming.complete(options)
    scenario_file: Path = given.scenario or options.scenario
    own = own_of(options)
    simulation = Simulation(
        options.scenario,
        files=options.files,
        aqm=own.aqm,
        scheduler=own.scheduler,
        seed=options.seed,
        runs=options.runs,
        jobs=options.jobs,
        set=options.set,
        sla=options.sla,
        correction=options.correction,
        against=options.against,
        ignore_memory=options.ignore_memory,
        strict=options.strict,
        engine=options.engine or "express",
        confine=options.confine,
        limits=sweep.limits(options),
    )
    described = options.running = simulation.description
    if options.verbose and options.engine != "plain":
        _engine_note(simulation)
    if options.where is not None:
        numbers_of(described.axes, described.points, options.where)
    specs = figures(options.figures, described)
    record = _recorder(options, simulation)
    simulation.watched(options.series)
    sweep.ask(simulation.pilot, options, described.runs * len(described.variants))
    # Before the simulation: an hour of it must not end in "permission denied".
    directory = (
        RunDirectory(options.out, force=options.force, resume=options.resume)
        if options.out
        else RunDirectory.fresh(default_directory(options.scenario, described.name))
    )
    if not options.quiet:
        resuming.note(directory, options)
    directory.remember(resuming.command(given, directory.path, scenario_file))
    stop: Stop = options.stop
    shared: Path | None = getattr(options, "store", None)
    try:
        with stop.calling(sweep.stopping(simulation, cluster)):
            with progress.shown(described, quiet=options.quiet, kind=options.progress) as report:
                try:
                    results = simulation.run(
                        report,
                        series=options.series,
                        store=shared or directory.store,
                        shared=shared is not None,
                        elsewhere=sweep.elsewhere(cluster, simulation, options, report),
                    )
                except Interrupted as stopped:
                    results = stopped.results
            if shared is not None:
                directory.take(shared)
            try:
                saved = _save(results, directory, options, specs, record)
            except OutputError:
                # The disk is full, say: an hour's results are at least shown.
                _print(results, None, [], None, options)
                resuming.unsaved(directory, given, scenario_file)
                raise
    finally:
        directory.discard()
    for problem in (*simulation.notes, *saved.problems):
        print(f"spillgate: {problem}", file=sys.stderr)
    sweep.say_failed(simulation.failed, options)
    if directory.path != (options.out or directory.path):
        print(
            f"spillgate: {options.out} was taken meanwhile: the results are in {directory.path}",
            file=sys.stderr,
        )
    if not options.quiet and not stop.asked:
        _lint_note(options, simulation)
    try:
        _print(results, directory.path, saved.figures, saved.report, options)
    except StdoutError:
        print(f"spillgate: the results are in {directory.path}", file=sys.stderr)
        raise
    if saved.failure is not None:
        print(f"spillgate: the results are in {directory.path}", file=sys.stderr)
        raise saved.failure
    if stop.asked:
        done, wanted = len(results.runs), described.runs * len(described.variants)
        left_out = f" without {' and '.join(saved.left_out)}" if saved.left_out else ""
        print(
            f"spillgate: interrupted; {done} of {wanted} runs are saved in "
            f"{directory.path}{left_out}\n"
            f"spillgate: the rest: {resuming.rest(given, directory, scenario_file)}",
            file=sys.stderr,
        )
        return INTERRUPTED
    return sweep.status(results.status, simulation.failed)


def run_study(options: argparse.Namespace) -> int:
    """`spillgate sweep`."""
    from spillgate.cli import sweep

    if options.shard is not None:
        return sweep.part(options)
    with sweep.workers(options) as cluster:
        return run(options, cluster)


_READ_AGAIN = 16_000_000
"""Bytes of a scenario's files above which they are not read once more for the rules."""


def _engine_note(simulation: Simulation) -> None:
    """Says on standard error where the express engine is as slow as the plain one."""
    said: dict[str, list[str]] = {}
    for variant, notes in simulation.taken_plainly().items():
        for note in notes:
            said.setdefault(note, []).append(variant)
    for note, variants in said.items():
        print(f"spillgate: express engine: {note} ({', '.join(variants)})", file=sys.stderr)
    if not said:
        print("spillgate: express engine: all shortcuts are open", file=sys.stderr)


def _lint_note(options: argparse.Namespace, simulation: Simulation) -> None:
    """Says on standard error how many mistakes the rules find."""
    from spillgate.cli import lint as rules
    from spillgate.lint import lint

    directory, described = Path(options.scenario).parent, simulation.description
    try:
        # A long capture takes as long the second time; `spillgate check` is there for that.
        if sum((directory / f).stat().st_size for f in described.files) > _READ_AGAIN:
            return
        found = lint(
            options.scenario,
            set=options.set,
            aqm=simulation.source.own.aqm,
            scheduler=simulation.source.own.scheduler,
            confine=options.confine,
        ).found
    except (InputError, OSError):
        # A file has changed since the run began.
        return
    if text := rules.note(found, options.scenario):
        print(f"spillgate: {text}", file=sys.stderr)


def _print(
    results: Results,
    directory: Path | None,
    figures: list[Path],
    report: Path | None,
    options: argparse.Namespace,
) -> None:
    from spillgate.cli import render

    results = of_interest(results, options)
    if options.format == "json":
        write_json(results.to_dict())
    elif options.format == "csv":
        write_csv(results)
    else:
        render.results(results, directory, figures, report, brief=options.quiet, whole=options.all)
    # What cannot be written is known here, where it can be said that the results are saved.
    sys.stdout.flush()


def write_csv(results: Results) -> None:
    """Writes the table (without single flows) as CSV to standard output."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    names = [f.name for f in fields(Row)]
    writer.writerow(names)
    for record in results.to_dict()["summary"]:
        cells = (record[name] for name in names)
        writer.writerow(["" if cell is None else written(cell) for cell in cells])


def _recorder(
    options: argparse.Namespace, simulation: Simulation
) -> Callable[[Results, Path], list[str]] | None:
    if not options.pcap:
        return None
    from spillgate.cli import pcap

    return pcap.recorder(options, simulation)


@dataclass
class _Saved:
    """What was made of results beside the results themselves."""

    figures: list[Path] = field(default_factory=list)
    report: Path | None = None
    problems: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    failure: BaseException | None = None


def _save(
    results: Results,
    directory: RunDirectory,
    options: argparse.Namespace,
    specs: list[FigureSpec] | Literal["default"] | None,
    record: Callable[[Results, Path], list[str]] | None,
) -> _Saved:
    """Saves the results, which nothing interrupts, and then what can be made again from them."""
    saved = _Saved()

    def packets(where: Path) -> None:
        if record is not None:
            recorded.extend(record(results, where))

    def draw(where: Path) -> None:
        from spillgate import plot

        of = of_interest(results, options)
        drawn, problems = plot.save(of, where / "figures", chosen)
        saved.problems += problems
        saved.figures = [Path("figures") / f.name for f in drawn]

    def write_report(where: Path) -> None:
        from spillgate.report import REPORT, write

        # From what was saved, as `spillgate report` would make it.
        manifest = results.manifest() | read_study(where)
        write(results, where / REPORT, manifest)
        saved.report = Path(REPORT)

    chosen = None if specs == "default" else specs
    recorded: list[str] = []
    steps: list[tuple[str, str, Callable[[Path], None]]] = []
    if record is not None:
        steps.append(("packets", PACKETS, packets))
    if specs is not None and results.runs:
        steps.append(("figures", "figures", draw))
    if not options.no_report:
        steps.append(("report", "report.html", write_report))
    stop: Stop = options.stop
    asked = stop.asked
    with directory.filling() as temporary:
        results.write_into(temporary, options.argv)
        for name, made, step in steps:
            try:
                if stop.asked > asked:
                    raise KeyboardInterrupt
                with stop.raising():
                    step(temporary)
            except KeyboardInterrupt:
                saved.left_out.append(name)
                _remove(temporary / made)
            except BaseException as error:  # raised when the results are safe
                if not is_internal(error):
                    raise
                if isinstance(error, OSError):
                    reason = error.strerror or error
                    error = OutputError(f"cannot write {name} into {directory.path}: {reason}")
                saved.failure = saved.failure or error
                _remove(temporary / made)
    saved.figures = [directory.path / f for f in saved.figures]
    saved.report = directory.path / saved.report if saved.report else None
    saved.problems += recorded
    return saved


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
