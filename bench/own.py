"""How many packets a CPU-second a run makes with an AQM or a scheduler of one's own, or how many
steps with an agent of Gymnasium.

`python bench/own.py` times `examples/own-aqm` with CoDel, with the C library and with the class,
and `examples/own-scheduler` with the built-in DRR and with the class, and prints a table of each;
it needs `cc`. Then it times the environment at the port of `examples/first`, with an action that
stays.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import spillgate
from spillgate.gym import QueueEnv
from spillgate.own import INCLUDE, Library, named

EXAMPLES = Path(__file__).parent.parent / "examples"
EXAMPLE = EXAMPLES / "own-aqm"
SCHEDULER = EXAMPLES / "own-scheduler"


def library(directory):
    """The example's library, built anew."""
    path = Path(directory) / "libramp.so"
    command = ("cc", "-O2", "-shared", "-fPIC", f"-I{INCLUDE}", "-o", path, EXAMPLE / "ramp.c")
    subprocess.run(command, check=True)
    return Library(path)


def rate(example, variant, seconds=60, **own):
    """Packets, acknowledgments included, a CPU-second, by the fastest of three runs."""
    best = 0.0
    for _ in range(3):
        simulation = spillgate.Simulation(
            example / "scenario.yaml",
            **own,
            runs=1,
            jobs=1,
            variant=variant,
            set={"measurement.duration": f"{seconds} s", "measurement.series": []},
        )
        begun = time.process_time()
        results = simulation.run(series=[])
        took = time.process_time() - begun
        best = max(best, results.runs[0].packets / took)
    return best


def table(what, rows):
    """A table of the page."""
    built_in = rows[0][1]
    yield f"| {what} | packets of a run a CPU-second | of the built-in |"
    yield "| --- | ---: | ---: |"
    for name, packets in rows:
        yield f"| {name} | {packets:,.0f} | {packets / built_in:.2f} |"


def tables():
    """Those of both pages."""
    ramp = named([f"ramp={EXAMPLE / 'ramp.py'}:Ramp"])
    turns = named([f"turns={SCHEDULER / 'turns.py'}:Turns"], "scheduler")
    with tempfile.TemporaryDirectory() as directory:
        aqms = (
            # A variant that is left out is checked all the same.
            ("CoDel, built in", rate(EXAMPLE, "codel", aqm={"ramp": "another"})),
            ("the library", rate(EXAMPLE, "own", aqm={"ramp": library(directory)})),
            ("the class", rate(EXAMPLE, "own", aqm=ramp)),
        )
    yield from table("AQM", aqms)
    schedulers = (
        ("DRR, built in", rate(SCHEDULER, "drr", scheduler={"turns": "another"})),
        ("the class", rate(SCHEDULER, "own", scheduler=turns)),
    )
    yield ""
    yield from table("scheduler", schedulers)
    yield ""
    for interval in ("10 ms", "2 ms"):
        yield from steps(interval)


def steps(interval):
    """Steps of an agent a CPU-second, by the fastest of three episodes."""
    best = 0.0
    first = EXAMPLES / "first/scenario.yaml"
    with QueueEnv(first, "uplink", interval=interval, variant="fifo") as env:
        for _ in range(3):
            env.reset(seed=1)
            count, over = 0, False
            begun = time.process_time()
            while not over:
                _, _, _, over, _ = env.step([0.01])
                count += 1
            best = max(best, count / (time.process_time() - begun))
    yield f"An agent that acts each {interval} makes {best:,.0f} steps a CPU-second."


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in tables())
