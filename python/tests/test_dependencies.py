"""Each direct dependency has its reason on a page; what is not audited is said."""

import importlib.util
import json
import re
import subprocess
import sys

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def manifest(path):
    return tomllib.loads(path.read_text(encoding="utf-8"))


def crates(root):
    """The crates of others that a manifest names."""
    found = set()
    for path in (root / "Cargo.toml", *root.glob("*/Cargo.toml"), *root.glob("*/*/Cargo.toml")):
        if "target" in path.parts:
            continue
        read = manifest(path)
        tables = [read, read.get("workspace", {}), *read.get("target", {}).values()]
        for table in tables:
            for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
                found |= set(table.get(kind, ()))
    return {name for name in found if not name.startswith("spillgate")}


def packages(root):
    """The packages of Python that a manifest or a list of requirements names."""
    named = []
    for path in ("pyproject.toml", "papers/pyproject.toml"):
        read = manifest(root / path)
        named += read["build-system"]["requires"]
        named += read["project"]["dependencies"]
        for extra in read["project"].get("optional-dependencies", {}).values():
            named += extra
    for path in (root / "requirements").glob("*.in"):
        named += path.read_text(encoding="utf-8").splitlines()
    found = {re.match(r"[\w-]*", line)[0].replace("_", "-") for line in named}
    return {n for n in found if n and not n.startswith(("-r", "spillgate"))}


def modules(root):
    """The packages of JavaScript that a manifest names."""
    read = json.loads((root / "web/package.json").read_text(encoding="utf-8"))
    return {*read["dependencies"], *read["devDependencies"]}


def listed(root, heading):
    """The first column of the table below a heading."""
    page = (root / "docs/reference/dependencies.md").read_text(encoding="utf-8")
    section = page.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| (`.*?) \| (.*?) \|$", section, re.MULTILINE)
    assert all(len(why.split()) > 1 for _, why in rows)
    names = [name for cell, _ in rows for name in re.findall(r"`([@/\w-]+)`", cell)]
    assert len(names) == len(set(names))
    return set(names)


@pytest.mark.parametrize(
    ("heading", "used"), [("Rust", crates), ("Python", packages), ("JavaScript", modules)]
)
def test_each_dependency_has_its_reason(root, heading, used):
    assert listed(root, heading) == used(root)


@pytest.fixture
def audit(root):
    spec = importlib.util.spec_from_file_location("audit", root / ".ci/audit.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["audit"] = module
    spec.loader.exec_module(module)
    return module


def answering(deny="", status=0, packages=()):
    """Stands in for cargo-deny, pip-audit and npm."""

    def run(command):
        if "npm" in command:
            return subprocess.CompletedProcess(command, 0, '{"vulnerabilities": {}}', "")
        if "deny" in command:
            failing = command[-1] == "advisories" and status
            return subprocess.CompletedProcess(command, failing, "", deny)
        return subprocess.CompletedProcess(
            command, 0, json.dumps({"dependencies": list(packages)}), ""
        )

    return run


KNOWN = {"name": "rich", "version": "15.0.0", "vulns": []}
BAD = {**KNOWN, "vulns": [{"id": "PYSEC-1", "fix_versions": ["15.0.1"]}]}
SKIPPED = {"name": "shtab", "skip_reason": "Dependency not found on PyPI"}


def test_an_audit_passes(audit, capsys):
    assert audit.main(answering(packages=[KNOWN])) == 0
    assert "NOT CHECKED" not in capsys.readouterr().out


def test_what_cannot_be_looked_up_is_said(audit, capsys):
    assert audit.main(answering("failed to fetch advisory database", 1, [SKIPPED])) == 0
    said = capsys.readouterr().out
    assert "NOT CHECKED: crates, advisories: their data cannot be fetched" in said
    assert "NOT CHECKED: requirements/run.txt: none of 1 packages could be looked up" in said


def test_an_advisory_fails_the_audit(audit, capsys):
    assert audit.main(answering("error[vulnerability]", 1, [KNOWN])) == 1
    assert "FAILED: crates, advisories" in capsys.readouterr().out


def test_a_vulnerable_package_fails_the_audit(audit, capsys):
    assert audit.main(answering(packages=[BAD, SKIPPED])) == 1
    said = capsys.readouterr().out
    assert "FAILED: requirements/dev.txt: rich 15.0.0: PYSEC-1, fixed in 15.0.1" in said
    assert "all but shtab of 2 packages" in said


def test_without_the_tools_nothing_is_checked_and_that_is_said(audit, capsys):
    def missing(command):
        return subprocess.CompletedProcess(command, 127, "", "there is no such program")

    assert audit.main(missing) == 0
    # Two locks of crates, and one of JavaScript.
    assert capsys.readouterr().out.count("NOT CHECKED") == 3 + len(audit.SETS)


def test_a_vulnerable_package_of_the_page_fails_the_audit(audit, capsys):
    def run(command):
        if "npm" not in command:
            return answering(packages=[KNOWN])(command)
        found = {"vulnerabilities": {"uplot": {"severity": "high", "range": "<2"}}}
        return subprocess.CompletedProcess(command, 1, json.dumps(found), "")

    assert audit.main(run) == 1
    assert "FAILED: web/package-lock.json: uplot <2: high" in capsys.readouterr().out


def test_a_license_that_is_not_permissive_fails_the_audit(audit):
    locked = {
        "": {"license": "GPL-3.0-only"},
        "node_modules/a": {"license": "MPL-2.0"},
        "node_modules/b": {"license": "MPL-2.0", "dev": True},
        "node_modules/c/node_modules/d": {"license": "(MIT OR GPL-2.0)"},
        "node_modules/e": {},
    }
    found = audit.Audit()
    found.licenses(locked)
    assert found.failed == [
        "web/package-lock.json: a: license MPL-2.0",
        "web/package-lock.json: e: license None",
    ]
