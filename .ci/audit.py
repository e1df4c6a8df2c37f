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

MANIFESTS = ("Cargo.toml", "web/bindgen/Cargo.toml")
"""Of the workspaces of Rust."""

NPM_LOCK = "web/package-lock.json"

SHIPPED = {"MIT", "ISC", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "0BSD"}
"""Licenses of JavaScript that may stand in a page."""

TOOLS = SHIPPED | {"MPL-2.0"}
"""Licenses of what only builds and tests a page."""


@dataclass
class Audit:
    """What was found, and what could not be looked at."""

    failed: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)

    def rust(self, run, manifest):
        """The crates of a Cargo.lock, by `deny.toml`."""
        if run(["cargo", "deny", "--version"]).returncode:
            self.unchecked.append(
                f"crates of {manifest}: there is no cargo-deny (cargo install cargo-deny --locked)"
            )
            return
        of = "" if manifest == "Cargo.toml" else f" of {manifest}"
        deny = ["cargo", "deny", "--locked", "--manifest-path", manifest, "check"]
        # What is only run to build may have a crate twice.
        checks = ("licenses", *(() if of else ("bans",)), "sources", "advisories")
        for check in checks:
            done = run([*deny, "--config", str(ROOT / "deny.toml"), check])
            said = done.stdout + done.stderr
            if done.returncode == 0:
                print(f"crates{of}, {check}: ok")
            elif "failed to fetch" in said:
                self.unchecked.append(f"crates{of}, {check}: their data cannot be fetched")
            else:
                print(said)
                self.failed.append(f"crates{of}, {check}")

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

    def javascript(self, run):
        """The packages of the lab's page."""
        self.licenses(json.loads((ROOT / NPM_LOCK).read_text(encoding="utf-8"))["packages"])
        done = run(["npm", "audit", "--json", "--package-lock-only", "--prefix", "web"])
        try:
            found = json.loads(done.stdout)["vulnerabilities"]
        except (ValueError, KeyError):
            self.unchecked.append(f"{NPM_LOCK}: npm cannot look up what is known")
            return
        for name, known in found.items():
            self.failed.append(f"{NPM_LOCK}: {name} {known['range']}: {known['severity']}")
        if not found:
            print(f"{NPM_LOCK}: looked up")

    def licenses(self, packages):
        """Refuses those that are not permissive; of several that are offered, one must be."""
        for path, one in packages.items():
            allowed = TOOLS if one.get("dev") else SHIPPED
            offered = (one.get("license") or "").strip("()").split(" OR ")
            if path and allowed.isdisjoint(offered):
                name = path.rpartition("node_modules/")[2]
                self.failed.append(f"{NPM_LOCK}: {name}: license {one.get('license')}")

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
    for manifest in MANIFESTS:
        audit.rust(run, manifest)
    for name in SETS:
        audit.python(run, name)
    audit.javascript(run)
    return audit.conclude()


if __name__ == "__main__":
    sys.exit(main())
