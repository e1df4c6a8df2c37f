"""Files that are complete or unchanged: written under a name of their own, then renamed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Gives a new, empty file beside `target`, which takes its place if the block ends well.

    Nobody else has its name, in this process or in another container.

    Raises:
        OSError: If it cannot be made or renamed; nothing is left of it.
    """
    number, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.absolute().parent)
    os.close(number)
    temporary = Path(name)
    try:
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
