"""Being asked to stop: Ctrl-C, SIGTERM (a batch system, `kill`) and SIGHUP (a closed terminal)."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


class Stop:
    """What a request to stop does: it raises `KeyboardInterrupt`, or calls a function.

    Attributes:
        asked: How many requests there were.
    """

    def __init__(self) -> None:
        """Does nothing until it is `handled`."""
        self.asked = 0
        self._call: Callable[[], None] | None = None

    @contextmanager
    def handled(self) -> Iterator[Stop]:
        """Takes over the signals until the block ends; those that are ignored stay ignored."""
        before = {}
        if threading.current_thread() is threading.main_thread():
            for name in _NAMES:
                number = getattr(signal, name, None)
                # nohup, and a shell's background, ignore some on purpose.
                if number is not None and signal.getsignal(number) not in (signal.SIG_IGN, None):
                    before[number] = signal.signal(number, self._handle)
        try:
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.asked += 1
        if self._call is None:
            raise KeyboardInterrupt
        self._call()

    @contextmanager
    def calling(self, function: Callable[[], None]) -> Iterator[None]:
        """Until the block ends a request calls the function and interrupts nothing."""
        before, self._call = self._call, function
        try:
            yield
        finally:
            self._call = before

    @contextmanager
    def raising(self) -> Iterator[None]:
        """Until the block ends a request raises `KeyboardInterrupt`, once."""
        before = self._call

        def interrupt() -> None:
            self._call = before
            raise KeyboardInterrupt

        self._call = interrupt
        try:
            yield
        finally:
            self._call = before
