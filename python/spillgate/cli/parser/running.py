"""Commands that run something: a scenario, a report of runs, a paper's experiment."""

from __future__ import annotations

import argparse
from pathlib import Path

from spillgate.cli.parser.options import (
    Commands,
    add_all,
    add_command,
    add_confine,
    add_format,
    add_jobs,
    add_numbers,
    add_out,
    add_own,
    add_progress,
    add_quiet,
    add_recording,
    add_scenario,
    add_set,
    add_sla,
    add_strict,
    add_where,
    figures,
    megabytes,
    runs,
    seconds,
    shard,
)


def add_run(commands: Commands) -> None:
    """Run a scenario."""
    _run_options(add_command(commands, "run", "run a scenario and judge its requirements"))


def add_sweep(commands: Commands) -> None:
    """Run a study."""
    sweep = add_command(
        commands, "sweep", "run a study: many points and runs, here or on many machines"
    )
    sweep.epilog = (
        "A run that cannot be made (it crashes, or exceeds a limit) is put down with its cause, "
        "and the\nothers go on. Exit status 3 if some could not be made, else as of run."
    )
    _run_options(sweep)
    where = sweep.add_argument_group("where it runs")
    where.add_argument(
        "--store",
        type=Path,
        metavar="DIR",
        help="directory where runs are kept: any number of studies, processes and machines may "
        "share one; default the run directory",
    )
    where.add_argument(
        "--shard",
        type=shard,
        metavar="I/N",
        help="make only part I, from 1, of N parts into --store, and no results: once all parts "
        "are made, the same command without --shard makes the results of their runs",
    )
    where.add_argument(
        "--on",
        metavar="WHERE",
        help="dask://HOST:PORT, a scheduler of Dask whose workers see the same directories; or "
        "dask-local, worker processes on this machine; default threads of this process",
    )
    where.add_argument(
        "--yes",
        action="store_true",
        help="start 100000 runs or more without being asked; their time is estimated first",
    )
    limits = sweep.add_argument_group("limits of one run")
    limits.add_argument(
        "--timeout", type=seconds, metavar="S", help="the most seconds by the clock; default any"
    )
    limits.add_argument(
        "--memory",
        type=megabytes,
        metavar="MB",
        help="the most memory by the estimate, with every queue full; default a thread's share "
        "of what the machine has",
    )
    limits.add_argument(
        "--retry-failed",
        action="store_true",
        help="try runs again that could not be made before; default only those that are missing",
    )


def _run_options(run: argparse.ArgumentParser) -> None:
    add_scenario(run, optional="; with --resume it may be left out")
    add_numbers(run)
    add_jobs(run)
    add_own(run)
    run.add_argument(
        "--ignore-memory",
        action="store_true",
        help="start although the estimate of the memory is above what the machine has",
    )
    run.add_argument(
        "--engine",
        choices=("express", "plain"),
        help="plain takes no shortcut and serves to check: no run of express is taken for one of "
        "plain, and the results are the same; default express",
    )
    run.add_argument(
        "--verbose",
        action="store_true",
        help="say which links the express engine takes event by event, and why",
    )
    add_strict(run)
    add_confine(run)
    _series(run)
    run.add_argument(
        "--against",
        metavar="V",
        help="the variant that the others are compared with, run by run, or all: every two; "
        "default the scenario's, or the first",
    )
    add_out(run, "<scenario>-<time>")
    run.add_argument(
        "--resume",
        type=Path,
        metavar="DIR",
        help="make no run again that a run directory has, or one that was killed before it was "
        "finished: to go on, to add runs (--runs), to judge by other requirements (--sla); "
        "the default of --out is then DIR, of SCENARIO and its options what DIR says",
    )
    add_format(run, "table", "json", "csv")
    add_all(run)
    add_where(run, "print and draw only these points; all are run and saved")
    _drawing(run)
    run.add_argument(
        "--no-report", action="store_true", help="write no report.html into the run directory"
    )
    add_quiet(run)
    add_progress(run)
    packets = run.add_argument_group("packets.pcapng")
    packets.add_argument(
        "--pcap",
        action="append",
        metavar="LINK[:POINT]",
        help="record packets: LINK:in, LINK:out or LINK:drops; LINK is the last two; repeatable",
    )
    add_recording(packets, "pcap-")


def add_find(commands: Commands) -> None:
    """Find a value."""
    find = add_command(
        commands, "find", "find the smallest or largest value with which the requirements hold"
    )
    add_scenario(find)
    add_set(find)
    add_own(find)
    for flag, kind in (("--smallest", _smallest), ("--largest", _largest)):
        find.add_argument(
            flag,
            action="append",
            dest="paths",
            type=kind,
            default=[],
            metavar="PATH",
            help=f"what is varied, as for --set, and that its {flag[2:]} value is looked for; for "
            "two keys: the first is found for some values of the second",
        )
    find.add_argument(
        "--from",
        action="append",
        dest="low",
        default=[],
        metavar="A",
        help="the least value that is looked at, such as '500 kb/s'; one for each key",
    )
    find.add_argument(
        "--to",
        action="append",
        dest="high",
        default=[],
        metavar="B",
        help="the greatest value that is looked at; one for each key",
    )
    find.add_argument(
        "--within",
        action="append",
        default=[],
        metavar="STEP",
        help="how far apart values are; default a round number, about a 64th of the way",
    )
    find.add_argument(
        "--values",
        type=int,
        metavar="N",
        help="of two keys: for how many values of the second, from end to end; default 5",
    )
    find.add_argument("--variant", metavar="V", help="of a scenario with variants: whose value")
    find.add_argument(
        "--class",
        action="append",
        dest="classes",
        default=[],
        metavar="C",
        help="only the requirements of this class; repeatable; default all",
    )
    find.add_argument(
        "--level", type=float, default=95.0, metavar="PERCENT", help="confidence; default 95"
    )
    find.add_argument(
        "--first",
        type=int,
        default=10,
        metavar="N",
        help="runs of the first look at a value; default 10",
    )
    find.add_argument(
        "--most",
        type=int,
        default=100,
        metavar="N",
        help="runs of the last look at a value, which otherwise counts as not shown to hold; "
        "default 100",
    )
    find.add_argument("--seed", type=int, metavar="S", help="replaces the scenario's master seed")
    add_sla(find)
    add_jobs(find)
    add_confine(find)
    find.add_argument(
        "--store",
        type=Path,
        metavar="DIR",
        help="keep each run there, so that the search can be stopped and goes on where it was",
    )
    find.add_argument(
        "--figure",
        type=Path,
        metavar="FILE",
        help="draw what the requirements measure along the values (SVG, PNG, PDF)",
    )
    find.add_argument("--force", action="store_true", help="replace an existing figure")
    add_format(find, "text", "json")
    add_quiet(find)


def add_best(commands: Commands) -> None:
    """Find the best variant."""
    best = add_command(
        commands,
        "best",
        "find the variant, or point of axes, with the smallest or largest value of a metric",
    )
    best.epilog = (
        "exit status: 0 it is found; 2 bad input or unusable output; 3 after --most runs several "
        "are left"
    )
    add_scenario(best)
    add_set(best)
    add_own(best)
    asked = best.add_mutually_exclusive_group(required=True)
    for flag, kind in (("--smallest", _smallest), ("--largest", _largest)):
        asked.add_argument(
            flag,
            dest="metric",
            type=kind,
            metavar="CLASS:METRIC",
            help=f"what is measured, such as voice:owd_p99, and that the {flag[2:]} is the best",
        )
    how = best.add_mutually_exclusive_group(required=True)
    how.add_argument(
        "--within",
        metavar="D",
        help="a difference that does not matter, such as '0.5 ms': the best is found with the "
        "confidence, however many runs that takes",
    )
    how.add_argument(
        "--budget",
        type=int,
        metavar="N",
        help="runs of all together, which go where they tell most; how probably the answer is "
        "right is said",
    )
    add_where(best, "compare only these points; default all")
    best.add_argument(
        "--level", type=float, metavar="PERCENT", help="with --within: confidence; default 95"
    )
    best.add_argument(
        "--first",
        type=int,
        default=10,
        metavar="N",
        help="runs of each before any is left out or preferred; default 10",
    )
    best.add_argument(
        "--most",
        type=int,
        metavar="N",
        help="with --within: the most runs of each, after which several may be left; default 200",
    )
    best.add_argument("--seed", type=int, metavar="S", help="replaces the scenario's master seed")
    add_jobs(best)
    add_confine(best)
    best.add_argument(
        "--store",
        type=Path,
        metavar="DIR",
        help="keep each run there, so that it can be stopped and goes on where it was",
    )
    best.add_argument(
        "--figure",
        type=Path,
        metavar="FILE",
        help="draw the means with the difference that does not matter, and the runs (SVG, PNG, "
        "PDF)",
    )
    best.add_argument("--force", action="store_true", help="replace an existing figure")
    add_format(best, "text", "json")
    add_quiet(best)


def _smallest(path: str) -> tuple[bool, str]:
    return False, path


def _largest(path: str) -> tuple[bool, str]:
    return True, path


def _series(run: argparse.ArgumentParser) -> None:
    sampled = run.add_mutually_exclusive_group()
    sampled.add_argument(
        "--series",
        type=runs,
        metavar="K,...|all",
        help="runs, from 0, whose time series are kept and drawn; default the first; a run takes "
        "up to half as long again with them, or longer with a short interval",
    )
    sampled.add_argument(
        "--no-series",
        dest="series",
        action="store_const",
        const=(),
        help="keep none",
    )


def _drawing(run: argparse.ArgumentParser) -> None:
    drawn = run.add_mutually_exclusive_group()
    drawn.add_argument(
        "--figures",
        type=figures,
        metavar="default|FILE",
        help="draw figures as PNG and SVG too, which takes seconds: a set that suits any "
        "scenario, or what a TOML file says",
    )
    drawn.add_argument(
        "--no-figures",
        dest="figures",
        action="store_const",
        const=None,
        help="draw none, which is the default",
    )


def add_report(commands: Commands) -> None:
    """Make the report of a run directory."""
    report = add_command(commands, "report", "make the HTML report of a run directory")
    report.add_argument(
        "run", type=Path, metavar="RUN", help="run directory, as 'spillgate run' makes it"
    )
    report.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="file to write; default report.html in the run directory; an earlier report is "
        "replaced",
    )
    report.add_argument(
        "--figures",
        type=figures,
        metavar="default|FILE",
        help="draw figures as PNG and SVG into the run directory, too",
    )
    report.add_argument(
        "--force", action="store_true", help="replace a file that is no report, and figures, too"
    )
    add_where(report, "only these points; default all")
    packets = report.add_argument_group(
        "single packets", "runs are repeated for it, which takes about twice as long as they did"
    )
    packets.add_argument(
        "--worst",
        type=int,
        default=0,
        metavar="N",
        help="the N packets of each class that took longest, and why packets were dropped",
    )
    packets.add_argument(
        "--variant", action="append", metavar="V", help="of this variant; several; default all"
    )
    packets.add_argument(
        "--run",
        dest="run_number",
        type=int,
        metavar="K",
        help="of which run, from 0; default 0",
    )
    add_own(report)
    add_confine(report)


def add_dataset(commands: Commands) -> None:
    """Put runs into one table."""
    dataset = add_command(
        commands,
        "dataset",
        "write every value of the runs of several studies as one Parquet table",
    )
    dataset.add_argument(
        "runs",
        nargs="+",
        type=Path,
        metavar="RUN",
        help="run directory, made by 'spillgate run'",
    )
    dataset.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="file to make (Parquet)"
    )
    dataset.add_argument("--force", action="store_true", help="replace an existing file")
    add_confine(dataset)


def add_tune(commands: Commands) -> None:
    """Find values with which all requirements hold."""
    parser = add_command(
        commands, "tune", "find values of axes with which all requirements hold, and most is left"
    )
    parser.epilog = (
        "exit status: 0 the best point meets every requirement with fresh seeds; 1 it does not; "
        "2 bad input or unusable output; 3 undecided"
    )
    add_scenario(parser)
    add_numbers(parser)
    add_jobs(parser)
    add_own(parser)
    for flag in ("minimize", "maximize"):
        parser.add_argument(
            f"--{flag}",
            action="append",
            default=[],
            metavar="CLASS:METRIC",
            help=f"{flag} this among points that meet the requirements; may be repeated; default: "
            "the largest margin of the requirements",
        )
    parser.add_argument(
        "--trials", type=int, default=64, metavar="N", help="points that are tried; default 64"
    )
    parser.add_argument(
        "--confirm",
        type=int,
        metavar="N",
        help="runs of the best point with fresh seeds; default four times --runs",
    )
    add_out(parser, "<scenario>-<time>")
    add_format(parser, "table", "json")
    add_quiet(parser)


def add_reproduce(commands: Commands) -> None:
    """Run a paper's experiment."""
    parser = add_command(commands, "reproduce", "run a paper's experiment and judge its claims")
    parser.epilog = "exit status: 0 whatever the verdicts are; 2 bad input or unusable output"
    parser.add_argument("paper", nargs="?", metavar="NAME", help="which paper, or all")
    parser.add_argument("--list", action="store_true", help="list the papers")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="few and short runs, to see that it works; verdicts are not to be relied on",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=CHOICE",
        help="another choice for what the paper leaves silent, by a label of its ledger; says "
        "which verdicts change; may be repeated",
    )
    parser.add_argument(
        "--search",
        action="store_true",
        help="search these choices for those by which most claims hold together",
    )
    parser.add_argument(
        "--rivals",
        action="store_true",
        help="run FIFO, CoDel, PIE, FQ-CoDel and CAKE beside the paper's mechanisms, too; adds "
        "seconds of processor time, 2 min with domzal",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="master seed; default 1")
    parser.add_argument(
        "--runs", type=int, metavar="N", help="runs behind each claim; default the paper's"
    )
    add_jobs(parser)
    add_out(parser, "reproduce-<paper>-<time>")
    add_format(parser, "table", "json")
    add_quiet(parser)


def add_suite(commands: Commands) -> None:
    """Run a suite."""
    parser = add_command(
        commands, "suite", "run a published suite of scenarios for mechanisms of your choice"
    )
    parser.epilog = "exit status: 0 whatever is measured; 2 bad input or unusable output"
    parser.add_argument("suite", metavar="NAME", help="which suite; list: say which there are")
    parser.add_argument(
        "--aqm",
        action="append",
        default=[],
        metavar="M,...",
        help="mechanisms that are compared, such as codel,pie,fq-codel, or one's own as "
        "mine=MODULE:CLASS; default those of the suite; may be repeated",
    )
    parser.add_argument(
        "--tcp",
        action="append",
        default=[],
        metavar="CC,...",
        help="congestion controls that are compared, for suites of these; default those of the "
        "suite; may be repeated",
    )
    parser.add_argument(
        "--section",
        action="append",
        default=[],
        metavar="N",
        help="only this section, such as 5.1.1, or all below it, such as 8.2; may be repeated",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="few and short runs, to see that it works; results are not to be relied on",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="master seed; default 1")
    parser.add_argument(
        "--runs", type=int, metavar="N", help="runs of each variant; default the section's"
    )
    add_jobs(parser)
    add_out(parser, "suite-<name>-<time>")
    add_format(parser, "table", "json")
    add_all(parser)
    add_quiet(parser)
