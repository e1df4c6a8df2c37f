"""Run directories: complete or absent, never half-written.

Everything is written to a temporary sibling that is renamed at the end. That
the place is writable and free is found out before a simulation starts.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from spillgate.errors import OutputError

MANIFEST = "manifest.json"


def default_directory(scenario: str | Path, name: str = "") -> Path:
    """`runs/<scenario>-<time>`, not existing yet.

    Args:
        scenario: Path of the scenario file.
        name: Title of the scenario; its directory's name is used if the file is
            called `scenario.yaml`.
    """
    path = Path(scenario)
    stem = path.stem
    if stem == "scenario":
        stem = path.resolve().parent.name or name
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-.") or "run"
    stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    directory = Path("runs") / f"{stem}-{stamp}"
    again = 2
    while directory.exists():
        directory = Path("runs") / f"{stem}-{stamp}-{again}"
        again += 1
    return directory


def _refuse_to_replace(directory: Path) -> None:
    """A directory may be replaced only if Spillgate made it, or if it is empty."""
    if not directory.is_dir() or directory.is_symlink():
        msg = f"{directory} is not a directory; choose another --out"
        raise OutputError(msg)
    if any(directory.iterdir()) and not (directory / MANIFEST).is_file():
        msg = (
            f"{directory} holds files but no {MANIFEST}, so it is no run directory; "
            "not replaced even with --force"
        )
        raise OutputError(msg)


class RunDirectory:
    """A directory that will hold the results of one call of `run`."""

    def __init__(self, path: str | Path, *, force: bool = False) -> None:
        """Checks that `path` is free (or may be replaced) and makes the temporary sibling.

        Args:
            path: Where the results will be.
            force: Whether an existing run directory is replaced.

        Raises:
            OutputError: If something is there or the place cannot be written.
        """
        self.path = Path(path)
        try:
            if self.path.exists() or self.path.is_symlink():
                if not force:
                    msg = f"{self.path} exists; choose another --out or add --force to replace it"
                    raise OutputError(msg)
                _refuse_to_replace(self.path)
            parent = self.path.absolute().parent
            parent.mkdir(parents=True, exist_ok=True)
            self._temporary = Path(tempfile.mkdtemp(prefix=f".{self.path.name}.", dir=parent))
        except OSError as error:
            reason = error.strerror or str(error)
            msg = f"cannot write results to {self.path}: {reason}"
            raise OutputError(msg) from error

    @contextmanager
    def filling(self) -> Iterator[Path]:
        """Gives the temporary directory; renames it when the block ends without an error."""
        try:
            yield self._temporary
            self._commit()
        except OSError as error:
            reason = error.strerror or str(error)
            msg = f"cannot write results to {self.path}: {reason}"
            raise OutputError(msg) from error
        finally:
            self.discard()

    def _commit(self) -> None:
        # mkdtemp made it private to the user; results are as shareable as any file.
        umask = os.umask(0)
        os.umask(umask)
        self._temporary.chmod(0o777 & ~umask)
        if not self.path.exists():
            self._temporary.rename(self.path)
            return
        _refuse_to_replace(self.path)
        old = Path(tempfile.mkdtemp(prefix=f".{self.path.name}.old.", dir=self._temporary.parent))
        self.path.rename(old / "replaced")
        self._temporary.rename(self.path)
        shutil.rmtree(old)

    def discard(self) -> None:
        """Removes the temporary directory if it is still there."""
        shutil.rmtree(self._temporary, ignore_errors=True)
