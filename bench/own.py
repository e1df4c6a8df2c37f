"""How many packets a CPU-second a run makes with an AQM of one's own.

`python bench/own.py` times `examples/own-aqm` with the class, with the C library and with CoDel,
in that order, and prints a table; it needs `cc`.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import spillgate
from spillgate.own import INCLUDE, Library, named

EXAMPLE = Path(__file__).parent.parent / "examples/own-aqm"


def library(directory):
    """The example's library, built anew."""
    path = Path(directory) / "libramp.so"
    command = ("cc", "-O2", "-shared", "-fPIC", f"-I{INCLUDE}", "-o", path, EXAMPLE / "ramp.c")
    subprocess.run(command, check=True)
    return Library(path)


def rate(variant, aqm=None, seconds=60):
    """Packets, acknowledgments included, a CPU-second, by the fastest of three runs."""
    best = 0.0
    for _ in range(3):
        simulation = spillgate.Simulation(
            EXAMPLE / "scenario.yaml",
            # A variant that is left out is checked all the same.
            aqm=aqm or {"ramp": "another"},
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


def table():
    """The table of the page."""
    ramp = named([f"ramp={EXAMPLE / 'ramp.py'}:Ramp"])
    with tempfile.TemporaryDirectory() as directory:
        rows = (
            ("CoDel, built in", rate("codel")),
            ("the library", rate("own", {"ramp": library(directory)})),
            ("the class", rate("own", ramp)),
        )
    built_in = rows[0][1]
    yield "| AQM | packets of a run a CPU-second | of the built-in |"
    yield "| --- | ---: | ---: |"
    for name, packets in rows:
        yield f"| {name} | {packets:,.0f} | {packets / built_in:.2f} |"


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in table())
