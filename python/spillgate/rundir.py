"""Run directories: complete or absent, never half-written, never two runs in one.

A hidden sibling of the directory, `.NAME.spillgate`, is made first, and only one process can make
it: it claims the name. Everything is written there, and it is renamed at the end. Its maker locks
it as long as it lives, so that what a killed process left is told from what is being written.

Finished runs are stored in `runs` below it one by one. Whoever takes the name of a killed process
takes over its stored runs; other names leave them where they are.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO

from spillgate import _engine
from spillgate.errors import InputError, OutputError
from spillgate.own import Own
from spillgate.source import Source

try:
    import fcntl
except ImportError:  # Windows: what a killed process left stays until someone removes it.
    _LOCKS = False
else:
    _LOCKS = True

MANIFEST = "manifest.json"
FORMAT = 1
"""Version of `manifest.json`, of `results.json`, and of the stored runs."""

CONTENTS = "contents"
"""What is noted of a study: the SHA-256 of each file of its directory, by name."""

COPIES = "copies"
"""What is noted of a study: the copies of files outside the scenario's folder, by name."""

_OUTSIDE = "outside"
"""Where these copies are."""

RUNS = "runs"
"""Where stored runs lie in a run directory: a `store` of `spillgate.run`."""

_COMMAND = "command"
"""What a killed process leaves beside its runs: the command line that goes on with them."""

_SUFFIX = ".spillgate"
_REPLACED = ".replaced.spillgate"
"""Where the directory that is replaced lies for a moment, within the one that takes its place."""


def default_directory(scenario: str | Path, name: str = "") -> Path:
    """`runs/<scenario>-<time>`.

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
    return Path("runs") / f"{stem}-{stamp}"


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


def read_study(directory: Path) -> dict[str, Any]:
    """What is noted with the stored runs of a directory: what study they are of.

    Empty if nothing is: then they are those of `scenario.yaml` there, with its own settings.

    Raises:
        InputError: If it is no run directory, or is damaged.
    """
    runs = directory / RUNS
    try:
        runs.stat()
        text = _engine.study(runs)
    except OSError as error:
        msg = (
            f"error: {directory} is no readable run directory: {error}\n"
            f"    hint: runs in {runs} are checked one by one: "
            f"`spillgate run SCENARIO --resume {directory}` makes the directory anew from them"
        )
        raise InputError(msg) from error
    study: dict[str, Any] = {} if text is None else json.loads(text)
    return study


def runs_of(study: Mapping[str, Any]) -> int | None:
    """How many runs of each point were to be made; none if it is not noted."""
    if not study:
        return None
    return max(1, int(study["runs_requested"]) // len(study["variants"]))


def copy_files(source: Source, files: Iterable[str], directory: Path) -> dict[str, str]:
    """Copies a scenario and the files that it refers to into a run directory.

    Returns:
        Where the copies of those are that cannot have their own names, since they lie outside its
        folder: by name.
    """
    copies: dict[str, str] = {}
    for name in (source.path.name, *files):
        target = directory / name
        if not target.resolve().is_relative_to(directory.resolve()):
            # Two may have one name.
            copies[name] = f"{_OUTSIDE}/{len(copies) + 1}-{Path(name).name}"
            target = directory / copies[name]
        source.copy(name, target)
    return copies


def source_of(directory: Path, study: Mapping[str, Any]) -> Source:
    """The scenario of a run directory with all its files, which are as they were written.

    Raises:
        InputError: If one is missing, unreadable, or not as it was written.
    """
    name = study.get("scenario", "scenario.yaml")
    copies: dict[str, str] = study.get(COPIES, {})
    contents: dict[str, str] = study.get(CONTENTS, {})
    inside = [file for file in study.get("files", ()) if file not in copies]
    for file in (name, *inside, *copies.values()):
        if not (directory / file).resolve().is_relative_to(directory.resolve()):
            msg = f"error: {directory}: {file} is outside of it"
            raise InputError(msg)
        if file in contents:
            _check_intact(directory / file, contents[file])
    memory = {
        file: (directory / copy).read_bytes() for file, copy in copies.items() if copy in contents
    }
    own = Own.of(study.get("aqm"), study.get("scheduler"))
    return Source(directory / name, memory, own)


def write_json(path: Path, data: object) -> None:
    """Writes a file of JSON for people."""
    text = json.dumps(data, ensure_ascii=False, indent=1)
    # A byte of a path that is no UTF-8 is half a pair, and its escape is just that of JSON.
    path.write_text(text + "\n", encoding="utf-8", errors="backslashreplace")


def seal(directory: Path, study: dict[str, Any]) -> None:
    """Notes what study a directory holds, with digests of all files that are there.

    It stands with the stored runs, which have digests of their own, and in `manifest.json` for
    others.
    """
    contents = {
        name: _sha256_of(path)
        for path in sorted(directory.rglob("*"))
        if path.is_file()
        and (name := path.relative_to(directory).as_posix()) != MANIFEST
        and not name.startswith(f"{RUNS}/")
    }
    study = {**study, CONTENTS: contents}
    write_json(directory / MANIFEST, study)
    _engine.note_study(directory / RUNS, json.dumps({**study, "digests": {}}))


def _check_intact(path: Path, digest: str) -> None:
    """Raises `InputError` if a file is missing, unreadable, or not as it was written."""
    try:
        found = _sha256_of(path)
    except OSError as error:
        raise _damaged(path, str(error)) from error
    if found != digest:
        raise _damaged(path, "its SHA-256 is not the one noted with its runs")


def _damaged(path: Path, why: str) -> InputError:
    msg = (
        f"error: {path} is damaged, or was changed after it was written: {why}\n"
        f"    hint: runs in {path.parent / RUNS} are checked one by one: "
        f"`spillgate run SCENARIO --resume {path.parent}` makes the directory anew from them"
    )
    return InputError(msg)


def _sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return sha256(file)


def sha256(file: BinaryIO) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    digest = hashlib.sha256()
    while block := file.read(1 << 20):
        digest.update(block)
    return digest.hexdigest()


class TakenError(OutputError):
    """The name belongs to something that exists, or to a run that is being written."""


class RunDirectory:
    """A directory that will hold the results of one call of `run`."""

    def __init__(
        self,
        path: str | Path,
        *,
        force: bool = False,
        resume: str | Path | None = None,
        take: Sequence[Path] = (),
    ) -> None:
        """Takes the name `path` for this process alone.

        Args:
            path: Where the results will be. Should somebody else put something there before they
                are complete, they go to the first of `path-2`, `path-3`, ... that is free.
            force: Whether an existing run directory is replaced.
            resume: A run directory, or the name of one that a killed process left unfinished,
                whose stored runs are taken.
            take: Directories of stored runs that are taken, too.

        Raises:
            InputError: If there are no stored runs to take.
            TakenError: If something is there, or another process is writing there.
            OutputError: If the place cannot be written.
        """
        self.path = Path(path)
        sources = [*take, *(() if resume is None else stores(resume))]
        self._force = force
        self.abandoned: list[tuple[Path, int, str]] = []
        """Directories that were never finished, how many runs they have stored, and the command
        line that goes on with them; empty if it is not known."""
        try:
            parent = self.path.absolute().parent
            parent.mkdir(parents=True, exist_ok=True)
            with _alone_in(parent):
                self._claim = _Claim(self.path)
                self.abandoned = _sweep(parent)
                self.store = self._claim.hidden / RUNS
                """Where runs are stored as soon as they are finished."""
                self._taken = _take_runs(sources, self.store)
                """The runs that are elsewhere, too."""
                self.stored = stored(self.store)
                """How many runs were there to begin with, of whatever scenario."""
        except OSError as error:
            raise self._unwritable(error) from error
        try:
            self._check_free()
        except BaseException:
            self.discard()
            raise

    @classmethod
    def fresh(cls, path: str | Path) -> RunDirectory:
        """Takes `path`, or the first of `path-2`, `path-3`, ... that nobody has or has begun."""
        wanted = Path(path)
        number = 2
        while True:
            try:
                return cls(wanted)
            except TakenError:
                wanted = Path(f"{path}-{number}")
                number += 1

    def _check_free(self) -> None:
        if not (self.path.exists() or self.path.is_symlink()):
            return
        if not self._force:
            msg = f"{self.path} exists; choose another --out or add --force to replace it"
            raise TakenError(msg)
        _refuse_to_replace(self.path)

    def _unwritable(self, error: OSError) -> OutputError:
        reason = error.strerror or str(error)
        return OutputError(f"cannot write results to {self.path}: {reason}")

    @contextmanager
    def filling(self) -> Iterator[Path]:
        """Gives the hidden directory; renames it when the block ends without an error."""
        try:
            # It is of the unfinished study, and no part of the results.
            (self._claim.hidden / _COMMAND).unlink(missing_ok=True)
            yield self._claim.hidden
            self._commit()
        except OSError as error:
            raise self._unwritable(error) from error
        finally:
            self.discard()

    def take(self, store: Path) -> None:
        """Takes the runs of another store, too, which it shares with it where it can."""
        try:
            self._taken |= _take_runs([store], self.store)
        except OSError as error:
            raise self._unwritable(error) from error

    def remember(self, command: str) -> None:
        """Keeps the command line that goes on, should this process be killed."""
        try:
            (self._claim.hidden / _COMMAND).write_text(command, "utf-8", "surrogateescape")
        except OSError as error:
            raise self._unwritable(error) from error

    def _commit(self) -> None:
        try:
            self._check_free()
        except OutputError:
            # Somebody else made it since: hours of work must not end there.
            self.path = _unused(self.path)
        self._claim.become(self.path)

    def has_runs(self) -> bool:
        """Whether there are stored runs that are nowhere else."""
        return not self._taken.issuperset(_engine.stored_runs(self.store))

    def discard(self) -> None:
        """Gives the name up, and removes the hidden directory if it is still there.

        Runs that were stored in it stay.
        """
        self._claim.discard(keep=self.has_runs())


class _Claim:
    """A hidden directory that this process has made, and has locked if the system can."""

    def __init__(self, path: Path) -> None:
        """Makes that of `path`; raises `TakenError` if it belongs to a process that lives."""
        self.hidden = hidden = _hidden(path)
        self._lock: int | None = None
        self._held = True
        try:
            hidden.mkdir()
        except FileExistsError:
            if not _settle(hidden):
                msg = (
                    f"another run is writing {path}; choose another --out "
                    f"(if none is: remove {hidden})"
                )
                raise TakenError(msg) from None
            hidden.mkdir(exist_ok=True)
        self._lock = _lock(hidden)

    def become(self, path: Path) -> None:
        """Renames it; what was at `path` is removed."""
        old = self.hidden / _REPLACED
        try:
            if path.exists():
                # From here on the new one is whole, and whoever finds it without us finishes this.
                path.rename(old)
            self.hidden.rename(path)
        except BaseException:
            if old.exists():
                old.rename(path)
            raise
        self._held = False
        shutil.rmtree(path / _REPLACED, ignore_errors=True)

    def discard(self, *, keep: bool = False) -> None:
        """Removes it, unless it was renamed or its stored runs are to be kept."""
        if self._held:
            self._held = False
            if not keep:
                shutil.rmtree(self.hidden, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _lock(directory: Path) -> int | None:
    """Locks a directory for as long as this process lives; none if another has locked it.

    None, too, where the system or the file system has no locks.
    """
    if not _LOCKS:
        return None
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


@contextmanager
def _alone_in(parent: Path) -> Iterator[None]:
    """Keeps others from making or removing hidden directories in `parent` meanwhile."""
    lock = None
    for _ in range(100):
        lock = _lock(parent)
        if lock is not None or not _LOCKS:
            break
        # Others take some milliseconds; if something else has locked it, we do without.
        time.sleep(0.02)
    try:
        yield
    finally:
        if lock is not None:
            os.close(lock)


def _hidden(path: Path) -> Path:
    return path.absolute().with_name(f".{path.name}{_SUFFIX}")


def stored(store: Path) -> int:
    """How many runs are stored in a directory; none if it is not there."""
    return len(_engine.stored_runs(store))


def stores(resume: str | Path) -> list[Path]:
    """The stored runs of a run directory, and what a killed process left of one of that name.

    Raises:
        InputError: If there are none.
    """
    path = Path(resume)
    found = [s for s in (path / RUNS, _hidden(path) / RUNS) if stored(s)]
    if not found:
        what = "holds no stored runs" if path.is_dir() else "does not exist, not even unfinished"
        msg = f"error: --resume: {path} {what}"
        raise InputError(msg)
    return found


def _take_runs(sources: Iterable[Path], store: Path) -> set[str]:
    """Puts the runs that other directories have stored into one, where what there is stays.

    Returns:
        The keys of those that there were to put.
    """
    taken: set[str] = set()
    for source in sources:
        if source.absolute() == store:
            continue
        taken.update(_engine.stored_runs(source))
        for file in source.glob("*.runs"):
            target = store / file.name
            if target.exists() and target.stat().st_size >= file.stat().st_size:
                continue
            store.mkdir(exist_ok=True)
            target.unlink(missing_ok=True)
            try:
                # Files are only appended to, so that two names do no harm.
                target.hardlink_to(file)
            except OSError:
                shutil.copyfile(file, target)
    return taken


def _settle(hidden: Path) -> bool:
    """Removes, or finishes, what a process that is gone has left; false if its owner lives.

    Runs that it has stored stay.
    """
    try:
        lock = _lock(hidden)
        if lock is None:
            return False
    except OSError:
        return False
    try:
        if not os.path.samestat(hidden.stat(), os.fstat(lock)):
            return False
        if (hidden / _REPLACED).exists():
            # It was whole, and about to be renamed.
            path = hidden.with_name(hidden.name[1 : -len(_SUFFIX)])
            path = _unused(path) if path.exists() else path
            hidden.rename(path)
            shutil.rmtree(path / _REPLACED, ignore_errors=True)
        elif stored(hidden / RUNS):
            for entry in hidden.iterdir():
                if entry.name not in (RUNS, _COMMAND):
                    _remove(entry)
        else:
            shutil.rmtree(hidden)
    except OSError:
        # Renamed by its owner, who has just finished; or it is another user's.
        return False
    finally:
        os.close(lock)
    return True


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _sweep(parent: Path) -> list[tuple[Path, int, str]]:
    """Settles everything that processes that are gone have left in a directory.

    Returns:
        Directories that were to be made and have stored runs, how many, and how to go on.
    """
    return [
        (hidden.with_name(hidden.name[1 : -len(_SUFFIX)]), runs, _command(hidden))
        for hidden in sorted(parent.glob(f".*{_SUFFIX}"))
        if _settle(hidden) and (runs := stored(hidden / RUNS))
    ]


def _command(hidden: Path) -> str:
    """The command line that goes on; empty if there is none that can be shown."""
    try:
        text = (hidden / _COMMAND).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
    return text if text.isprintable() else ""


def _unused(path: Path) -> Path:
    """The first of `path-2`, `path-3`, ... that is not there."""
    numbered = (path.with_name(f"{path.name}-{n}") for n in count(2))
    return next(p for p in numbered if not (p.exists() or p.is_symlink()))
