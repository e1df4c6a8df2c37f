"""CONTRIBUTING.md: the examples of adding an algorithm hold in a copy of the tree."""

import os
import re
import shutil
import subprocess

import pytest

CARGO = shutil.which("cargo")
SHARED = ("Cargo.toml", "Cargo.lock", "clippy.toml", "bench", "crates", "examples")


def blocks(text):
    """Language and lines of each block of code in the section."""
    section = text[text.index("## Adding an algorithm") : text.index("## Adding a paper")]
    found = re.findall(r"^```(\w+)\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    return [(language, body.splitlines()) for language, body in found]


def insert(path, changes):
    """Puts each `+` line behind the lines before it."""
    lines = path.read_text(encoding="utf-8").splitlines()
    at = None
    for change in changes:
        if change.startswith("+"):
            assert at is not None, change
            at += 1
            lines.insert(at, change[1:])
        else:
            assert lines.count(change[1:]) == 1, change
            at = lines.index(change[1:])
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def add(root, text):
    """Does what the examples say in the tree at `root`; the files that they touch."""
    touched = []
    for language, lines in blocks(text):
        if language == "diff":
            name = lines[0].removeprefix("--- ")
            insert(root / name, lines[1:])
        else:
            name = lines[0].lstrip("/# ")
            assert not (root / name).exists(), name
            (root / name).write_text("\n".join(lines[1:]) + "\n", encoding="utf-8")
        touched.append(name)
    return touched


def test_the_examples_are_built_and_pass(root, tmp_path):
    if CARGO is None:
        pytest.skip("cargo is not there: the examples of CONTRIBUTING.md are not built")
    for name in SHARED:
        if (root / name).is_dir():
            shutil.copytree(root / name, tmp_path / name, ignore=shutil.ignore_patterns("target"))
        elif (root / name).is_file():
            shutil.copy(root / name, tmp_path / name)
    touched = add(tmp_path, (root / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    # The page is the fourth file of an AQM.
    assert len([name for name in touched if "step" in name or "aqm/mod" in name]) == 3
    cargo = [CARGO, "test", "--offline"]
    command = [*cargo, "-p", "spillgate-queueing", "--test", "contract", "--test", "vectors"]
    # Exporters name what they cannot translate.
    command += ["-p", "spillgate-export", "--test", "class_queues"]
    target = os.environ.get("CARGO_TARGET_DIR", str(root / "target"))
    environment = {**os.environ, "CARGO_TARGET_DIR": target, "PROPTEST_CASES": "20"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    # Both are under the contract, and their vectors are read.
    assert done.stdout.count("test result: ok") == 3
    for kind, vector in (("step", "0@0.001:early"), ("rr", "0@0.32")):
        path = tmp_path / f"crates/queueing/tests/vectors/{kind}.txt"
        assert vector in path.read_text(encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8").replace("0@0.32", "0@0.33"), encoding="utf-8")
    command = [*cargo, "-p", "spillgate-queueing", "--test", "vectors"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert "in turn" in done.stdout + done.stderr
    assert done.returncode != 0
