"""`spillgate pcap`, and `--pcap` of `spillgate run`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from spillgate.errors import InputError
from spillgate.own import given
from spillgate.pcap import FILE, Selection, record, title
from spillgate.result import Results
from spillgate.run import Simulation


def command(options: argparse.Namespace) -> int:
    """`spillgate pcap`."""
    made = record(
        options.directory,
        options.points,
        options.output or options.directory / FILE,
        variant=options.variant,
        run=options.run,
        start=vars(options)["from"],
        stop=options.until,
        packets=options.packets,
        snaplen=options.snaplen,
        force=options.force,
        own=given(options),
        confine=options.confine,
    )
    print(_said(made.path, made.packets, made.left_out))
    return 0


def recorder(
    options: argparse.Namespace, simulation: Simulation
) -> Callable[[Results, Path], list[str]] | None:
    """What records packets after the runs, if that is asked for; bad options are found before.

    It takes the results and the directory to write into, and gives what to tell the user.
    """
    if not options.pcap:
        return None
    described = simulation.description
    variant = options.pcap_variant or described.variants[0]
    if variant not in described.variants:
        there = ", ".join(described.variants)
        msg = f"error: there is no variant {variant!r}; there are {there}"
        raise InputError(msg)
    run = options.pcap_run
    if not 0 <= run < described.runs:
        msg = f"error: there is no run {run}; there are 0 to {described.runs - 1}"
        raise InputError(msg)
    selection = Selection(
        tuple(options.pcap),
        options.pcap_from,
        options.pcap_until,
        options.pcap_packets,
        options.pcap_snaplen,
    ).to_json()
    simulation.check_recording(variant, selection)

    def after(results: Results, directory: Path) -> list[str]:
        digests = {(r.variant, r.run): r.digest for r in results.runs}
        expected = digests.get((variant, run))
        if expected is None:
            return [f"run {run} of variant {variant} did not finish: no {FILE}"]
        path = directory / FILE
        about = title(described, variant, run)
        packets, left_out, digest = simulation.record(variant, run, selection, about, path)
        if digest != expected:
            # It would be another run that the file shows.
            path.unlink()
            return [f"internal error: run {run} of {variant} could not be repeated: no {FILE}"]
        return [_said(Path(FILE), packets, left_out)]

    return after


def _said(path: Path, packets: int, left_out: int) -> str:
    more = f"; {left_out:,} more were left out by the limit" if left_out else ""
    return f"{path}: {packets:,} packets{more}"
