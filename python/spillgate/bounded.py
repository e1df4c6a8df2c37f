"""Reading files that others have made, no further than they can be meant."""

from __future__ import annotations

from pathlib import Path


def read_text(path: Path, most: int) -> str:
    """The text of a file.

    Args:
        path: The file.
        most: Bytes above which it is refused, unread: `/dev/zero` has no end.

    Raises:
        OSError: If it cannot be read.
        ValueError: If it is longer, or not UTF-8.
    """
    with path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        msg = f"it is larger than {most >> 20} MiB"
        raise ValueError(msg)
    return content.decode()
