"""What the commands do. Each takes the parsed arguments and returns the exit status."""

from __future__ import annotations

import argparse
import sys

from spillgate import scenario
from spillgate.cli.machine import write_json
from spillgate.errors import InputError
from spillgate.own import given as own_of


def run(options: argparse.Namespace) -> int:
    """`spillgate run`."""
    from spillgate.cli import run as command

    return command.run(options)


def run_study(options: argparse.Namespace) -> int:
    """`spillgate sweep`."""
    from spillgate.cli import run as command

    return command.run_study(options)


def make_report(options: argparse.Namespace) -> int:
    """`spillgate report`."""
    from spillgate.cli import report

    return report.make_report(options)


def export(options: argparse.Namespace) -> int:
    """`spillgate export`."""
    from spillgate.cli import export as command

    return command.export(options)


def import_config(options: argparse.Namespace) -> int:
    """`spillgate import`."""
    from spillgate.cli import reading

    return reading.import_config(options)


def pcap(options: argparse.Namespace) -> int:
    """`spillgate pcap`."""
    from spillgate.cli import pcap as packets

    return packets.command(options)


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
