"""What an installed wheel must do, wherever it is installed: `python .ci/smoke.py CLONE`.

Nothing of the clone is imported; its corpus says what every machine must compute.
"""

import json
import subprocess
import sys
import tempfile
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


if __name__ == "__main__":
    root = Path(sys.argv[1]).resolve()
    here = Path(spillgate.__file__).resolve()
    assert not here.is_relative_to(root / "python"), f"{here} is the clone's"
    fingerprints(root)
    commands(root)
