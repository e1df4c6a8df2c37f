"""Where the runs of a reproduction are made: a copy of the paper's system, and batches of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from spillgate.result import Results
from spillgate.run import Interrupted, Progress, Simulation

SCENARIO = "scenario.yaml"


@dataclass(frozen=True)
class Effort:
    """How long something is run, and how often.

    Attributes:
        warmup: Seconds that are simulated but not counted.
        duration: Seconds that are measured.
        quick: The same two with `--quick`, if it is shorter then.
        runs: Independent runs, at most; as often as the claims if 0.
        times: How many times as often as the claims, where these are undecided otherwise; with
            `--quick` as often.
    """

    warmup: float
    duration: float
    quick: tuple[float, float] | None = None
    runs: int = 0
    times: int = 1

    def of(self, lab: Lab) -> Effort:
        """What it is in a lab: with so many runs."""
        often = lab.runs * (1 if lab.quick else self.times)
        runs = min(self.runs, often) if self.runs else often
        length = self.quick if lab.quick and self.quick else (self.warmup, self.duration)
        return Effort(*length, runs=runs)


Settings = Mapping[str, object]
"""Values of the scenario and of its configurations to replace, by path."""

Report = Callable[[str, Progress], None]
"""Takes the name of the batch that runs, and how far it is."""


class Lab:
    """Runs batches of variants of one system, all under the same seeds."""

    def __init__(
        self,
        system: Path,
        work: Path,
        *,
        seed: int,
        runs: int,
        quick: bool,
        jobs: int | None = None,
        report: Report | None = None,
        store: Path | None = None,
    ) -> None:
        """Copies the system.

        Args:
            system: Directory of the paper's scenario.
            work: Where the copy goes, with the files of the sweeps.
            seed: Master seed.
            runs: Independent runs behind each claim.
            quick: Whether few and short runs shall do.
            jobs: Threads; one a core if not given. Results do not depend on it.
            report: Called while batches run.
            store: Where runs are kept, and taken from; nowhere if not given.
        """
        self.seed, self.runs, self.quick = seed, runs, quick
        self.batches: dict[str, Results] = {}
        self.events = self.packets = 0
        self._jobs = jobs
        self._report = report
        self._store = store
        self._work = work
        work.mkdir(parents=True, exist_ok=True)
        for source in sorted(system.iterdir()):
            if source.is_file() and source.suffix != ".py":
                shutil.copyfile(source, work / source.name)

    @property
    def scenario(self) -> Path:
        """The scenario file of the copy."""
        return self._work / SCENARIO

    def write(self, name: str, text: str) -> str:
        """Puts a file beside the scenario; returns its name."""
        (self._work / name).write_text(text, encoding="utf-8")
        return name

    def simulation(self, cases: Mapping[str, Settings], effort: Effort) -> Simulation:
        """The validated batch; raises `InputError` if a case cannot be run."""
        variants = [{"name": name, "set": dict(of)} for name, of in cases.items()]
        return Simulation(
            self.scenario,
            seed=self.seed,
            runs=effort.runs,
            jobs=self._jobs,
            set={
                "variants": variants,
                "sla": [],
                "measurement.warmup": f"{effort.warmup:g} s",
                "measurement.duration": f"{effort.duration:g} s",
                "measurement.interval": f"{min(1.0, effort.duration):g} s",
            },
        )

    def run(
        self,
        batch: str,
        cases: Mapping[str, Settings],
        effort: Effort,
        *,
        keep: bool = False,
        series: bool = False,
    ) -> Results:
        """Runs a batch.

        Args:
            batch: Its name, for progress and for the run directory.
            cases: What its variants replace, by name.
            effort: How long, and how often.
            keep: Whether its results shall be saved.
            series: Whether every run has time series; else the first of each variant has.

        Raises:
            KeyboardInterrupt: On Ctrl-C: a part of a reproduction has no verdicts.
        """
        simulation = self.simulation(cases, effort)
        report = self._report
        try:
            results = simulation.run(
                None if report is None else lambda p: report(batch, p),
                series="all" if series else None,
                store=self._store,
            )
        except Interrupted:
            raise KeyboardInterrupt from None
        self.events += results.events
        self.packets += sum(r.packets for r in results.runs)
        if keep:
            self.batches[batch] = results
        return results
