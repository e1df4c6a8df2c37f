"""How fast the module of the page in a browser is, beside the native one.

`python bench/lab.py` runs cases of `bench/cases` by Node in the module that `make lab` leaves in
`web/dist/wasm`, and natively on one thread, and prints a table: CPU-seconds of the fastest run and
of the first one, and the memory of the module. Both must give the same digests.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import spillgate

BENCH = Path(__file__).parent
MODULE = BENCH.parent / "web/dist/wasm"
PARTS = (MODULE / "spillgate_wasm.js", MODULE / "spillgate_wasm_bg.wasm")
CASES = {"D50": BENCH / "cases/d50.yaml", "D1k": BENCH / "cases/d1k.yaml"}
REPEATS = 3


def in_page(scenario):
    """The runs that were made in the module, and its bytes."""
    command = ["node", BENCH / "lab.mjs", *PARTS, scenario]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)
    return found["runs"], found["memory"]


def native(scenario):
    """What one run takes here, without time series but of its first run, as in the page."""
    simulation = spillgate.Simulation(scenario, jobs=1)
    begun = time.process_time()
    results = simulation.run(series=[0])
    return time.process_time() - begun, [r.digest for r in results.runs]


def main():
    """Prints the table."""
    if not all(part.exists() for part in PARTS):
        sys.exit("SKIPPED: the lab is not built (make lab)")
    print("| case | native, s | in the page, s | first run, s | of native | memory, MB |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, scenario in CASES.items():
        runs, memory = in_page(scenario)
        fastest = min(run["seconds"] for run in runs)
        seconds, digests = min(native(scenario) for _ in range(REPEATS))
        if digests != runs[0]["digests"]:
            raise SystemExit(f"{name}: {digests} here, {runs[0]['digests']} in the page")
        cells = (f"{s:.2f}" for s in (seconds, fastest, runs[0]["seconds"], seconds / fastest))
        print(f"| {name} | {' | '.join(cells)} | {memory / 1e6:.0f} |")


if __name__ == "__main__":
    main()
