"""AQMs and schedulers of one's own: classes in Python that a scenario names.

An AQM has at least one of two hooks, each of which gets the packet (`Packet`) and its queue
(`Queue`), and returns `PASS` or None, `MARK`, `DROP` or `FORCED`:

>>> class Threshold:
...     '''Drops what finds more than `most` packets.'''
...
...     version = "1"
...
...     def __init__(self, most=20):
...         self.most = most
...
...     def on_enqueue(self, packet, queue):
...         return DROP if queue.packets >= self.most else PASS

A scenario has `aqm: {threshold: {most: 10}}` in any queue that takes an AQM, and is run with
`spillgate.run(scenario, aqm={"threshold": Threshold})`. Each queue has an instance of its own,
made with the settings as keyword arguments.

Other hooks get the queue alone: `on_empty`, the last packet has left or its transmission has
ended; `on_overflow`, the limit of the queue refused the packet that was just passed;
`on_exhausted`, all waiting packets were dropped where one was to leave. `state()` returns what
time series show, by the name of a series. `version`, any text, says that runs with the class may
be used again by later runs with a class of the same name and version.

A scheduler has `enqueue`, which gets a packet and its port (`Port`) and takes it (`PASS` or None)
or refuses it (`FULL`, `DROP` or `FORCED`), and `dequeue`, which gets the port and returns a packet
that waits, a pair of one and `MARK`, or None:

>>> class Stack:
...     '''Last in, first out, of at most `most` packets.'''
...
...     version = "1"
...
...     def __init__(self, most=50):
...         self.most, self.waiting = most, []
...
...     def enqueue(self, packet, queue):
...         if len(self.waiting) == self.most:
...             return FULL
...         self.waiting.append(packet)
...
...     def dequeue(self, queue):
...         return self.waiting.pop() if self.waiting else None

A scenario has it as a policy, `policies: {wan: {stack: {most: 20}}}`, and is run with
`spillgate.run(scenario, scheduler={"stack": Stack})`. Either hook may `drop` packets by the port.
`next_wake` gets the port where `dequeue` returned None and packets wait, and returns the time in
seconds when one may leave; without it packets are never held back. `on_flush` says that the link
failed, and that all packets that waited are lost; a class without it is made anew then.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import importlib
import importlib.util
import secrets
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from spillgate import _engine
from spillgate.errors import HookError, InputError

PASS: Final = "pass"  # noqa: S105 - no password
"""The packet goes on: into the queue, or onto the link."""

MARK: Final = "mark"
"""It goes on with congestion experienced; one that is not capable of ECN is dropped."""

DROP: Final = "drop"
"""It is dropped, and counted as an early drop."""

FORCED: Final = "forced"
"""It is dropped, and counted as a forced drop: with certainty, above an upper threshold."""

FULL: Final = "full"
"""A scheduler has no room for it: counted as a drop of a full queue."""

PUSHED_OUT: Final = "pushed-out"
"""A scheduler drops it to make room for another one."""

Packet = _engine.Packet
Queue = _engine.Queue
Port = _engine.Port


@dataclass(frozen=True)
class Library:
    """A shared library with the functions of `spillgate_aqm.h`.

    Attributes:
        path: Its file.
    """

    path: Path

    @property
    def identity(self) -> str:
        """Its name and what it holds."""
        content = hashlib.blake2b(self.path.read_bytes(), digest_size=16).hexdigest()
        return f"{self.path.name}, content {content}"


@dataclass(frozen=True)
class Functions:
    """Compiled functions by their addresses, such as those of `numba.cfunc`.

    Attributes:
        enqueue: That of `spillgate_aqm_enqueue`; 0 for none.
        dequeue: That of `spillgate_aqm_dequeue`; 0 for none.
        state: Bytes of the state of a queue, which are 0 at first.
        version: Any text; runs are used again with functions of the same version.
    """

    enqueue: int = 0
    dequeue: int = 0
    state: int = 0
    version: str | None = None
    _nonce: str = field(default_factory=lambda: secrets.token_hex(8), repr=False)

    @property
    def identity(self) -> str:
        """What tells them from others."""
        told = self._nonce if self.version is None else f"version {self.version}"
        return f"compiled functions, {told}"


Aqm: TypeAlias = "type | Library | Functions | str"
"""A class, a library or functions; a text is the identity of what is not there."""

AqmLike: TypeAlias = "Mapping[str, Aqm]"
"""AQMs by the name that the scenario has."""

SchedulerLike: TypeAlias = "Mapping[str, type | str]"
"""Schedulers by the name that the scenario has: classes; a text is the identity of one."""

INCLUDE: Final = Path(__file__).parent / "include"
"""Where the header `spillgate_aqm.h` lies."""

PATIENCE_S = 10.0
"""Seconds after which a hook that has not returned is given up."""

GRACE_S = 2.0
"""Seconds that such a hook has to end by the exception that is raised in it."""


_SUFFIXES = (".so", ".dylib", ".dll")
_UNVERSIONED = "_spillgate_identity"


def identity(of: object, kind: str = "AQM") -> str:
    """What tells an AQM or a scheduler from others: its module, name and version.

    A class without a version is known by itself alone, so that no run of another is taken for one
    of it.

    Raises:
        InputError: If a library cannot be read, or it is none of what an AQM can be.
    """
    if kind != "AQM" and not isinstance(of, type | str):
        msg = f"error: a {kind} is a class, not {of!r}"
        raise InputError(msg)
    if not isinstance(of, type | str | Library | Functions):
        msg = f"error: an AQM is a class, a Library or Functions, not {of!r}"
        raise InputError(msg)
    if isinstance(of, str):
        return of
    if isinstance(of, Library | Functions):
        try:
            return of.identity
        except OSError as error:
            msg = f"error: {error.filename}: {error.strerror}"
            raise InputError(msg) from error
    path = f"{of.__module__}:{of.__qualname__}"
    version = getattr(of, "version", None)
    if version is not None:
        return f"{path}, version {version}"
    if _UNVERSIONED not in vars(of):
        try:
            setattr(of, _UNVERSIONED, f"{path}, without a version {secrets.token_hex(8)}")
        except TypeError:
            # A class of Python itself, which has no hooks.
            return path
    text: str = vars(of)[_UNVERSIONED]
    return text


def _part(of: Aqm) -> _engine.Part:
    if isinstance(of, str):
        return None
    if isinstance(of, Library):
        # A name without a directory would be looked for where the system has its libraries.
        return str(of.path.absolute())
    if isinstance(of, Functions):
        return of.enqueue, of.dequeue, of.state
    return of


@dataclass(frozen=True)
class Own:
    """What is given beside a scenario, by the names that it has.

    Attributes:
        aqm: AQMs.
        scheduler: Schedulers.
    """

    aqm: AqmLike = field(default_factory=dict)
    scheduler: SchedulerLike = field(default_factory=dict)

    @classmethod
    def of(cls, aqm: AqmLike | None, scheduler: SchedulerLike | None) -> Own:
        """What a user gives."""
        return cls(dict(aqm or {}), dict(scheduler or {}))

    def joined(self, other: Own) -> Own:
        """The same with what another one has, which comes first."""
        return Own({**self.aqm, **other.aqm}, {**self.scheduler, **other.scheduler})

    def _families(self) -> dict[str, Mapping[str, Aqm]]:
        return {"aqm": self.aqm, "scheduler": self.scheduler}

    def parts(self) -> _engine.Own:
        """The same as the core takes it, each with what tells it from others.

        Raises:
            InputError: If a library cannot be read, or one is none of what it can be.
        """
        return {
            family: {name: (_part(of), identity(of, _KINDS[family])) for name, of in all_.items()}
            for family, all_ in self._families().items()
        }

    def identities(self) -> dict[str, dict[str, str]]:
        """What tells each from others, by family, without empty ones."""
        return {
            family: {name: identity(of, _KINDS[family]) for name, of in all_.items()}
            for family, all_ in self._families().items()
            if all_
        }

    def check_versions(self) -> None:
        """Raises `InputError` if runs of these cannot be shared with other processes."""
        for family, all_ in self._families().items():
            for name, of in all_.items():
                if not isinstance(of, str | Library) and getattr(of, "version", None) is None:
                    msg = (
                        f"error: the class of the {_KINDS[family]} {name!r} states no version, so "
                        "its runs cannot be shared with other processes\n"
                        '    hint: write `version = "1"` into the class'
                    )
                    raise InputError(msg)


_KINDS = {"aqm": "AQM", "scheduler": "scheduler"}


def given(options: argparse.Namespace) -> Own:
    """What the command line gives by `--aqm` and `--scheduler`.

    Raises:
        InputError: As `named` does.
    """
    return Own(named(options.aqm), schedulers(options.scheduler))


def schedulers(texts: list[str]) -> dict[str, type]:
    """Schedulers by name, of texts of the command line: see `named`."""
    return {n: of for n, of in named(texts, "scheduler").items() if isinstance(of, type)}


def named(texts: list[str], option: str = "aqm") -> dict[str, type | Library]:
    """Classes and libraries by name, of texts of the command line.

    Args:
        texts: Each `[NAME=]MODULE:CLASS`, where the module is one that can be imported from the
            working directory, or a file; without a name that of the class holds. Or, of an AQM,
            `NAME=LIBRARY.so`.
        option: The name of the option: `aqm` or `scheduler`.

    Raises:
        InputError: If there is no such module or class, or a name is given twice.
    """
    found: dict[str, type | Library] = {}
    for text in texts:
        name, _, where = text.rpartition("=")
        module, colon, cls = where.rpartition(":")
        made: type | Library
        if name and where.endswith(_SUFFIXES) and option == "aqm":
            made = Library(Path(where))
        elif colon and module and cls:
            made = _class(f"--{option}: {text}", module, cls)
            name = name or made.__name__
        else:
            forms = "neither NAME=MODULE:CLASS nor NAME=LIBRARY.so"
            forms = forms if option == "aqm" else "not NAME=MODULE:CLASS"
            msg = f"error: --{option}: {text!r} is {forms}"
            raise InputError(msg)
        if name in found:
            msg = f"error: --{option}: {name!r} is given twice"
            raise InputError(msg)
        found[name] = made
    return found


def _class(text: str, module: str, name: str) -> type:
    """A class of a module or file; `text` is the option as given."""
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        loaded = _file(Path(module)) if module.endswith(".py") else importlib.import_module(module)
    except (ImportError, OSError, SyntaxError) as error:
        msg = f"error: {text}: the module cannot be imported: {error}"
        raise InputError(msg) from error
    finally:
        sys.path.remove(here)
    found: Any = loaded
    for part in name.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, type):
        there = sorted(n for n, v in vars(loaded).items() if isinstance(v, type))
        classes = f"; classes there: {', '.join(there)}" if there else ""
        msg = f"error: {text}: {module} has no class {name!r}{classes}"
        raise InputError(msg)
    return found


def _file(path: Path) -> Any:  # noqa: ANN401 - a module has what its author gave it
    """A file as a module called as it is."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        msg = f"{path} is no module"
        raise ImportError(msg)
    module = importlib.util.module_from_spec(spec)
    # So that classes of it can be found again by their module's name.
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


class HookTimeoutError(Exception):
    """Raised inside a hook that does not return."""


class Watch:
    """Whether hooks return: to be looked at again and again while a job runs."""

    def __init__(self, job: _engine.Job, patience: float | None = None) -> None:
        """For a job that has begun, and hooks that may take so many seconds."""
        self._job, self._patience = job, PATIENCE_S if patience is None else patience
        self._calls = -1
        self._since = time.monotonic()

    def look(self) -> HookError | None:
        """An error of a hook that has run for too long; it is ended, if Python code can be."""
        calls, hook, _ = self._job.hook()
        now = time.monotonic()
        if hook is None or calls != self._calls:
            self._calls, self._since = calls, now
            return None
        if now - self._since < self._patience:
            return None
        self.end()
        name, kind = hook
        return HookError.of(kind, f"{name} did not return within {self._patience:.0f} s")

    def end(self) -> bool:
        """Ends the hook that runs; whether one did and has not ended."""
        calls, hook, thread = self._job.hook()
        if hook is None:
            return False
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread), ctypes.py_object(HookTimeoutError)
        )
        until = time.monotonic() + GRACE_S
        while time.monotonic() < until:
            if self._job.hook()[0] != calls:
                return False
            time.sleep(0.01)
        return True
