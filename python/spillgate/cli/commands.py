"""What the commands do. Each takes the parsed arguments and returns the exit status."""

from __future__ import annotations

import argparse
import csv
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from spillgate import scenario
from spillgate.cli import INTERRUPTED
from spillgate.cli.machine import write_json
from spillgate.cli.streams import StdoutError
from spillgate.errors import InputError, OutputError, is_internal
from spillgate.own import given as own_of
from spillgate.pcap import FILE as PACKETS
from spillgate.result import Results
from spillgate.rows import Row
from spillgate.run import Interrupted, Simulation
from spillgate.rundir import RunDirectory, default_directory, read_study
from spillgate.saved import load
from spillgate.spreadsheet import written
from spillgate.where import numbers_of
from spillgate.whole import replacing

if TYPE_CHECKING:
    from spillgate.cli.signals import Stop
    from spillgate.cluster import Cluster
    from spillgate.explain import Explanation
    from spillgate.plot import FigureSpec
    from spillgate.scenario import Description


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
    specs = _figures(options.figures, described)
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

    results = _of_interest(results, options)
    if options.format == "json":
        write_json(results.to_dict())
    elif options.format == "csv":
        write_csv(results)
    else:
        render.results(results, directory, figures, report, brief=options.quiet, whole=options.all)
    # What cannot be written is known here, where it can be said that the results are saved.
    sys.stdout.flush()


def _of_interest(results: Results, options: argparse.Namespace) -> Results:
    """The results of the points that `--where` chooses."""
    return results if options.where is None else results.where(options.where)


def _recorder(
    options: argparse.Namespace, simulation: Simulation
) -> Callable[[Results, Path], list[str]] | None:
    if not options.pcap:
        return None
    from spillgate.cli import pcap

    return pcap.recorder(options, simulation)


def run_study(options: argparse.Namespace) -> int:
    """`spillgate sweep`."""
    from spillgate.cli import sweep

    if options.shard is not None:
        return sweep.part(options)
    with sweep.workers(options) as cluster:
        return run(options, cluster)


def pcap(options: argparse.Namespace) -> int:
    """`spillgate pcap`."""
    from spillgate.cli import pcap as packets

    return packets.command(options)


def _figures(
    wanted: Path | Literal["default"] | None, described: Description
) -> list[FigureSpec] | Literal["default"] | None:
    """The chosen figures; a name that the scenario does not have is found before the run."""
    if wanted is None:
        return wanted
    # That nothing can draw is said before anything runs.
    from spillgate.plot import read_specs

    if wanted == "default":
        return wanted
    specs = read_specs(wanted)
    for spec in specs:
        try:
            spec.check(described)
        except (ValueError, InputError) as error:
            said = str(error).removeprefix("error: ")
            msg = f"{wanted}: error: figure {spec.file}: {said}"
            raise InputError(msg) from error
    return specs


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

        of = _of_interest(results, options)
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


def make_report(options: argparse.Namespace) -> int:
    """`spillgate report`."""
    from spillgate.report import REPORT, write

    results = _of_interest(load(options.run), options)
    target = options.output or options.run / REPORT
    specs = _figures(options.figures, results.description)
    worst = _worst(options, results)
    manifest = results.manifest() | read_study(options.run) | {"where": options.where}
    written = write(results, target, manifest, force=options.force, worst=worst)
    print(written)
    if specs is not None:
        for line in _draw_again(results, specs, options):
            print(line)
    return 0


def plot(options: argparse.Namespace) -> int:
    """`spillgate plot`."""
    from spillgate.cli import plot as figure

    return figure.plot(options)


def dataset(options: argparse.Namespace) -> int:
    """`spillgate dataset`."""
    from spillgate.dataset import write_dataset

    written = write_dataset(
        options.runs, options.out, force=options.force, confine=options.confine
    )
    if written.missing:
        print(
            f"spillgate: {written.missing} of {written.runs + written.missing} runs are not "
            "stored: a study was interrupted",
            file=sys.stderr,
        )
    print(written.path)
    return 0


def _draw_again(
    results: Results, specs: list[FigureSpec] | Literal["default"], options: argparse.Namespace
) -> list[str]:
    """Draws figures of saved results beside them; what was written, what could not be drawn."""
    from spillgate import plot

    target = options.run / "figures"
    if target.exists() and not options.force:
        msg = f"{target} exists; add --force to replace what is in it"
        raise OutputError(msg)
    try:
        drawn, problems = plot.save(results, target, None if specs == "default" else specs)
    except OSError as error:
        msg = f"cannot write figures to {target}: {error.strerror or error}"
        raise OutputError(msg) from error
    return [*(str(f) for f in drawn), *problems]


def _worst(options: argparse.Namespace, results: Results) -> list[Explanation]:
    """What became of the worst packets of the chosen variants: each run is repeated."""
    from spillgate.explain import explain

    if not options.worst:
        if options.variant or options.run_number is not None:
            msg = "error: --variant and --run say whose worst packets: add --worst N"
            raise InputError(msg)
        return []
    return [
        explain(
            options.run,
            worst=options.worst,
            drops=options.worst,
            variant=v,
            run=options.run_number or 0,
            own=own_of(options),
            confine=options.confine,
        )
        for v in options.variant or results.description.variants
    ]


def write_csv(results: Results) -> None:
    """Writes the table (without single flows) as CSV to standard output."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    names = [f.name for f in fields(Row)]
    writer.writerow(names)
    for record in results.to_dict()["summary"]:
        cells = (record[name] for name in names)
        writer.writerow(["" if cell is None else written(cell) for cell in cells])


def check(options: argparse.Namespace) -> int:
    """`spillgate check`."""
    from spillgate.cli import lint

    return lint.check(options)


def bound(options: argparse.Namespace) -> int:
    """`spillgate bound`."""
    if options.worst is not None:
        from spillgate.cli import worst

        return worst.worst(options)
    if options.out is not None:
        msg = "error: --out says where worst cases are saved: add --worst"
        raise InputError(msg)
    from spillgate.cli import bound

    return bound.bound(options)


def find(options: argparse.Namespace) -> int:
    """`spillgate find`."""
    from spillgate.cli import find

    return find.find(options)


def best(options: argparse.Namespace) -> int:
    """`spillgate best`."""
    from spillgate.cli import best

    return best.best(options)


def stress(options: argparse.Namespace) -> int:
    """`spillgate stress`."""
    from spillgate.cli import stress

    return stress.stress(options)


def estimate(options: argparse.Namespace) -> int:
    """`spillgate estimate`."""
    from spillgate.cli import estimate

    return estimate.estimate(options)


def import_config(options: argparse.Namespace) -> int:
    """`spillgate import`."""
    if options.kind == "show-policy-map" or (
        options.kind == "auto" and scenario.is_show_output(options.config)
    ):
        return _import_measured(options)
    found = scenario.understand(
        options.config,
        platform=options.platform,
        interface=options.interface,
        strict=options.strict,
    )
    if options.format == "json":
        write_json(found)
    else:
        from spillgate.cli import config

        config.understood(found, whole=options.interface is not None)
    return 0


def _import_measured(options: argparse.Namespace) -> int:
    found = scenario.offered(options.config, interface=options.interface)
    if options.format == "json":
        write_json(found)
    else:
        from spillgate.cli import measured

        measured.offered(str(options.config), found)
    return 0


def explain(options: argparse.Namespace) -> int:
    """`spillgate explain`."""
    from spillgate.explain import explain as explained

    found = explained(
        options.directory,
        flow=options.flow,
        worst=options.worst,
        drops=options.drops,
        at=options.at,
        packet=options.packet,
        acks=options.acks,
        variant=options.variant,
        run=options.run,
        own=own_of(options),
        confine=options.confine,
    )
    if options.format == "json":
        write_json(found.to_dict())
    else:
        from spillgate.cli import explain as text

        text.explanation(found, ways=options.worst > 0 or options.packet is not None)
    return 0


def fluid(options: argparse.Namespace) -> int:
    """`spillgate fluid`."""
    from spillgate.cli import fluid as loops

    return loops.fluid(options)


def lab(options: argparse.Namespace) -> int:
    """`spillgate lab`."""
    from spillgate.cli import lab as page

    return page.lab(options)


def profile(options: argparse.Namespace) -> int:
    """`spillgate profile`."""
    from spillgate.cli import profile as text

    found = scenario.profile(
        options.capture,
        by=options.by or ("class" if options.config else "dscp"),
        only=text.only(options.only),
        top=options.top,
        config=options.config,
        platform=options.platform,
        interface=options.interface,
    )
    if options.format == "json":
        write_json(found)
    elif options.format == "yaml":
        sys.stdout.write(found["scenario"])
    else:
        text.show(found)
    return 0


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


def print_schema(options: argparse.Namespace) -> int:
    """`spillgate schema`."""
    write_json(scenario.schema(options.of), indent=2)
    return 0


def print_catalog(options: argparse.Namespace) -> int:
    """`spillgate list`."""
    from spillgate.cli.describe import catalog

    families = scenario.catalog()
    if options.family is not None:
        if options.family not in families:
            msg = f"error: there is no family {options.family!r}; there are {', '.join(families)}"
            raise InputError(msg)
        families = {options.family: families[options.family]}
    catalog(families)
    return 0


def completion(options: argparse.Namespace) -> int:
    """`spillgate completion`."""
    from spillgate.cli import completion as script

    return script.completion(options)


def compare(options: argparse.Namespace) -> int:
    """`spillgate compare`."""
    from spillgate.cli import compare as command

    return command.run(options)


def tune(options: argparse.Namespace) -> int:
    """`spillgate tune`."""
    from spillgate.cli import tune as command

    return command.run(options)


def reproduce(options: argparse.Namespace) -> int:
    """`spillgate reproduce`."""
    from spillgate.cli import reproduce

    return reproduce.reproduce(options)


def suite(options: argparse.Namespace) -> int:
    """`spillgate suite`."""
    from spillgate.cli import suite as command

    return command.run(options)


COMMANDS = {
    "run": run,
    "sweep": run_study,
    "find": find,
    "best": best,
    "compare": compare,
    "tune": tune,
    "report": make_report,
    "plot": plot,
    "dataset": dataset,
    "reproduce": reproduce,
    "suite": suite,
    "check": check,
    "bound": bound,
    "stress": stress,
    "estimate": estimate,
    "import": import_config,
    "export": export,
    "explain": explain,
    "fluid": fluid,
    "lab": lab,
    "pcap": pcap,
    "profile": profile,
    "schema": print_schema,
    "list": print_catalog,
    "completion": completion,
}
"""The commands by name."""
