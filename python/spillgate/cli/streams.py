"""Standard output and standard error as the commands see them.

All that is written goes through the gate of `spillgate.visible`. An output that cannot be written
is bad output, not an internal error; problems and progress that nobody can read end nothing.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, cast

from spillgate.errors import OutputError
from spillgate.visible import visible


class StdoutError(OutputError):
    """Standard output cannot be written."""


class _Stream:
    """A stream whose text goes through the gate."""

    def __init__(self, raw: IO[str], *, gated: bool = True) -> None:
        self.raw = raw
        self._gated = gated

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the stream has
        return getattr(self.raw, name)

    def write(self, text: str) -> int:
        try:
            self.raw.write(visible(text) if self._gated else text)
        except (OSError, ValueError) as error:
            self.failed(error)
        return len(text)

    def writelines(self, lines: Iterator[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        try:
            self.raw.flush()
        except (OSError, ValueError) as error:
            self.failed(error)

    def failed(self, error: Exception) -> None:
        raise NotImplementedError

    def give_up(self) -> None:
        """What is still buffered goes nowhere, or Python would complain of it at its end."""
        try:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.raw.fileno())
            os.close(nowhere)
        except (OSError, ValueError, AttributeError):
            # Not a stream of the system.
            pass


class _Output(_Stream):
    def failed(self, error: Exception) -> None:
        self.give_up()
        if isinstance(error, BrokenPipeError):
            raise error
        reason = getattr(error, "strerror", None) or str(error)
        msg = f"cannot write to standard output: {reason}"
        raise StdoutError(msg) from error


class _Problems(_Stream):
    def failed(self, error: Exception) -> None:
        del error
        self.give_up()


class _Closed(io.TextIOBase):
    """Standard output that was closed before the start."""

    def write(self, text: str, /) -> int:
        del text
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


@contextmanager
def standard() -> Iterator[None]:
    """Puts the gate before standard output and standard error until the block ends."""
    _occupy()
    before = sys.stdout, sys.stderr
    for stream in before:
        # An ASCII terminal shall show "?" for "±", not a traceback.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    stdout: Any = sys.stdout or _Closed()
    stderr: Any = sys.stderr or io.StringIO()
    sys.stdout, sys.stderr = cast("Any", _Output(stdout)), cast("Any", _Problems(stderr))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _occupy() -> None:
    """Where a standard stream is closed, a file would get its number, and problems its place."""
    if sys.stdin is not None and sys.stdout is not None and sys.stderr is not None:
        return
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)


def ungated(stream: IO[str]) -> IO[str]:
    """The same stream for those who control a terminal and have gated their text themselves."""
    if isinstance(stream, _Stream):
        return cast("IO[str]", type(stream)(stream.raw, gated=False))
    return stream
