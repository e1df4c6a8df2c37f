"""Checks what is depended on: licenses, duplicates, sources, known vulnerabilities.

What cannot be checked, without a network say, is said at the end and does not pass in silence.
"""

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETS = ("run", "dev", "audit")
"""Sets of pinned requirements of Python."""


@dataclass
class Audit:
    """What was found, and what could not be looked at."""

    failed: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)

    def rust(self, run):
        """The crates of Cargo.lock, by `deny.toml`."""
        if run(["cargo", "deny", "--version"]).returncode:
            self.unchecked.append(
                "crates: there is no cargo-deny (cargo install cargo-deny --locked)"
            )
            return
        for check in ("licenses", "bans", "sources", "advisories"):
            done = run(["cargo", "deny", "--locked", "check", check])
            said = done.stdout + done.stderr
            if done.returncode == 0:
                print(f"crates, {check}: ok")
            elif "failed to fetch" in said:
                self.unchecked.append(f"crates, {check}: their data cannot be fetched")
            else:
                print(said)
                self.failed.append(f"crates, {check}")

    def python(self, run, name):
        """A set of pinned requirements."""
        options = ["--disable-pip", "--require-hashes", "--progress-spinner", "off"]
        file = f"requirements/{name}.txt"
        done = run([sys.executable, "-m", "pip_audit", *options, "-f", "json", "-r", file])
        try:
            found = json.loads(done.stdout)["dependencies"]
        except (ValueError, KeyError):
            reason = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
            self.unchecked.append(f"{file}: {reason}")
            return
        # Of what it cannot look up, pip-audit says that nothing is known against it.
        skipped = [one["name"] for one in found if "skip_reason" in one]
        if skipped:
            what = "none" if len(skipped) == len(found) else f"all but {', '.join(skipped)}"
            self.unchecked.append(f"{file}: {what} of {len(found)} packages could be looked up")
        for one in found:
            for known in one.get("vulns", ()):
                fixed = ", ".join(known["fix_versions"]) or "no version"
                self.failed.append(
                    f"{file}: {one['name']} {one['version']}: {known['id']}, fixed in {fixed}"
                )
        if len(skipped) < len(found):
            print(f"{file}: {len(found) - len(skipped)} packages looked up")

    def conclude(self):
        """Says what came out; the exit status."""
        for problem in self.failed:
            print(f"FAILED: {problem}")
        for gap in self.unchecked:
            print(f"NOT CHECKED: {gap}")
        return 1 if self.failed else 0


def called(command):
    """The finished process of a command; status 127 if there is no such program."""
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return subprocess.CompletedProcess(command, 127, "", f"there is no {command[0]}")


def main(run=called):
    """The command."""
    audit = Audit()
    audit.rust(run)
    for name in SETS:
        audit.python(run, name)
    return audit.conclude()


if __name__ == "__main__":
    sys.exit(main())
