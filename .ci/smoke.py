"""What an installed wheel must do, wherever it is installed: `python .ci/smoke.py CLONE`.

Nothing of the clone is imported; its corpus says what every machine must compute.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import spillgate

CORPUS = ("aqm", "atm", "fan", "fifo", "forwarding", "tcp")
"""Some of the corpus, seconds of it."""


def fingerprints(clone):
    """Compares the fingerprints of runs with those of the corpus."""
    expected = json.loads((clone / "corpus/expected.json").read_text(encoding="utf-8"))
    for name in CORPUS:
        results = spillgate.run(clone / f"corpus/{name}.yaml")
        found = {f"{r.variant}/{r.run}": r.digest for r in results.runs}
        if found != expected[name]["digests"]:
            raise SystemExit(f"error: {name} gives other results than elsewhere: {found}")
    print(f"fingerprints: {len(CORPUS)} scenarios as on every machine")


def command(*arguments, status=(0,)):
    """What the command line says."""
    done = subprocess.run(
        [sys.executable, "-m", "spillgate", *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode not in status:
        raise SystemExit(f"error: {arguments}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def failing(*arguments):
    """What the command line says of bad input."""
    done = subprocess.run(
        [sys.executable, "-m", "spillgate", *arguments],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 2, (arguments, done.returncode)
    return done.stderr


def commands(clone):
    """Runs the commands that a newcomer runs first."""
    example = clone / "examples/first/scenario.yaml"
    assert "The scenario is valid." in command("check", example)
    with tempfile.TemporaryDirectory() as directory:
        out = Path(directory) / "run"
        # Status 1: a requirement fails, which is the point of the example.
        assert "requirements" in command("run", example, "--out", out, status=(0, 1))
        made = {file.name for file in out.iterdir()}
        assert made >= {"manifest.json", "results.parquet", "report.html"}, made
        loaded = spillgate.load(out)
        assert loaded.verdicts
        command("explain", out, "--worst", "1")
    assert "fq-codel" in command("list", "disciplines")
    assert command("completion", "bash")
    print(f"commands: {command('--version').strip()}")


def lab(clone, package):
    """Asks the lab for its parts, and ends it, if the wheel has it; it does if the clone does."""
    if not (package / "_lab").is_dir():
        built = clone / "python/spillgate/_lab/index.html"
        assert not built.is_file(), "the lab was built and is not in the wheel"
        assert "make lab" in failing("lab", "--no-browser")
        print("lab: not built")
        return
    program = [sys.executable, "-m", "spillgate", "lab", "--no-browser"]
    with subprocess.Popen(
        [*program, str(clone / "examples/first/scenario.yaml")],
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as server:
        try:
            address = re.search(r"http://127\.0\.0\.1:\d+/", server.stdout.readline())[0]
            kinds = {
                "": "text/html",
                "app.js": "text/javascript",
                "spillgate.wasm": "application/wasm",
                "project.json": "application/json",
            }
            total = 0
            for name, kind in kinds.items():
                with urllib.request.urlopen(address + name, timeout=30) as answer:
                    assert answer.headers.get_content_type() == kind, name
                    total += len(answer.read())
        finally:
            server.terminate()
            server.wait(30)
    # Windows has no signal that asks for it.
    assert server.returncode == 0 or os.name == "nt", server.returncode
    print(f"lab: {total} bytes")


if __name__ == "__main__":
    root = Path(sys.argv[1]).resolve()
    here = Path(spillgate.__file__).resolve()
    assert not here.is_relative_to(root / "python"), f"{here} is the clone's"
    fingerprints(root)
    commands(root)
    lab(root, here.parent)
