"""CONTRIBUTING.md: the examples of adding an algorithm and a paper hold in a copy of the tree."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from spillgate import _engine

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CARGO = shutil.which("cargo")
SHARED = ("Cargo.toml", "Cargo.lock", "clippy.toml", "bench", "crates", "examples")


ALGORITHM, PAPER, CHANGES = "## Adding an algorithm", "## Adding a paper", "## Changes that alter"


def blocks(text, first, last):
    """Language and lines of each block of code from one heading to another."""
    section = text[text.index(first) : text.index(last)]
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


def add(root, text, first=ALGORITHM, last=PAPER):
    """Does what the examples say in the tree at `root`; the files that they touch."""
    touched = []
    for language, lines in blocks(text, first, last):
        if language == "diff":
            name = lines[0].removeprefix("--- ")
            insert(root / name, lines[1:])
        else:
            name = lines[0].lstrip("/# ")
            assert not (root / name).exists(), name
            (root / name).parent.mkdir(parents=True, exist_ok=True)
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
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    touched = add(tmp_path, text)
    # The page is the fourth file of an AQM.
    assert len([name for name in touched if "erd" in name or "aqm/mod" in name]) == 3
    stage = [name for name in touched if "bleach" in name or "nodes/src/stage" in name]
    gate = [name for name in touched if "gate" in name or name.startswith("crates/nodes")]
    assert (len(stage), len(set(gate) - set(stage))) == (4, 4)
    assert all(len(body) <= 120 for _, body in blocks(text, "### A kind of node", PAPER))
    cargo = [CARGO, "test", "--offline"]
    # AQMs and schedulers are under the contract and have vectors, exporters name what they cannot
    # translate, and kinds of nodes and stages have files with values worked out by hand.
    crates = [f"--package=spillgate-{name}" for name in ("queueing", "export", "endpoints", "sim")]
    # Congestion controls fill a bottleneck; a metric has values worked out by hand.
    wanted = ("contract::", "vectors::", "class_queues::", "tcp_bottleneck::every", "nodes::")
    command = [*cargo, *crates, "--test", "main", "--", *wanted]
    target = os.environ.get("CARGO_TARGET_DIR", str(root / "target"))
    environment = {**os.environ, "CARGO_TARGET_DIR": target, "PROPTEST_CASES": "20"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("test result: ok") == 4
    assert all(f"test {name}" in done.stdout for name in wanted)
    the_rule_finds_what_the_page_says(tmp_path, environment)
    # The vectors are read.
    for kind, vector in (("erd", "0@0.001:early"), ("rr", "0@0.32")):
        path = tmp_path / f"crates/queueing/tests/vectors/{kind}.txt"
        assert vector in path.read_text(encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8").replace("0@0.32", "0@0.33"), encoding="utf-8")
    command = [*cargo, crates[0], "--test", "main", "vectors::"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert "in turn" in done.stdout + done.stderr
    assert done.returncode != 0


def the_rule_finds_what_the_page_says(tree, environment):
    goldens = tree / "crates/lint/tests/goldens"
    before = {path: path.read_text(encoding="utf-8").rstrip() for path in goldens.iterdir()}
    assert "SG-Q099" in before[goldens / "lone.txt"]
    command = [
        CARGO,
        "test",
        "--offline",
        "--package=spillgate-lint",
        "--test",
        "main",
        "goldens::",
    ]
    done = subprocess.run(
        command,
        cwd=tree,
        env={**environment, "SPILLGATE_BLESS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    # What other files show is as before.
    assert all(path.read_text(encoding="utf-8").rstrip() == said for path, said in before.items())


def test_the_table_of_folders_is_complete(root):
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`([^`]+)`", "".join(re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)))
    there = {p.parent.relative_to(root).as_posix() for p in root.glob("crates/*/Cargo.toml")}
    tops = {"python/spillgate", "papers", "examples", "corpus", "bench", "fuzz", "docs"}
    assert there | tops | {"requirements", ".ci", ".github"} <= set(named)
    assert all((root / name).is_dir() for name in named)


def test_the_toy_paper_is_built_and_run(root, tmp_path):
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert sum(len(lines) for _, lines in blocks(text, PAPER, CHANGES)) < 150
    shutil.copytree(root / "papers", tmp_path / "papers")
    assert len(add(tmp_path, text, PAPER, CHANGES)) == 5
    # What pip would make of it.
    made = tomllib.loads((tmp_path / "papers/pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    points = made["entry-points"]["spillgate.papers"]
    info = tmp_path / "papers/spillgate_papers-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: spillgate-papers\nVersion: 0.1.0\n", encoding="utf-8")
    lines = ["[spillgate.papers]", *(f"{k} = {v}" for k, v in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    command = [sys.executable, "-m", "spillgate", "reproduce", "toy", "--quick", "--out", "out"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "papers")}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads((tmp_path / "out/claims.json").read_text(encoding="utf-8"))
    first, second = document["claims"]
    assert first["verdict"] == "reproduced"
    # 10.5 Mb/s into 10 Mb/s; with 6 Mb/s the queue of 40 packets loses none.
    assert (second["verdict"], second["explained"]) == ("not_reproduced", True)
    assert "more is offered than the line carries" in second["reason"]
    # Half the queue is about half the delay.
    assert "20 packets: T1 reproduced → shape only" in document["assumptions"][0]["effect"]
    assert document["assumptions"][1]["effect"] == "not varied"
    # What is stored is not run again.
    again = subprocess.run(
        [*command, "--force"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert "taking over 18 stored runs of out" in again.stderr
    assert len(_engine.stored_runs(tmp_path / "out/runs")) == 18
    assert json.loads((tmp_path / "out/claims.json").read_text(encoding="utf-8")) == document
    page = (tmp_path / "out/index.html").read_text(encoding="utf-8")
    for shown in ("By class", "Delay by policy", "Each assumption varied alone"):
        assert shown in page
