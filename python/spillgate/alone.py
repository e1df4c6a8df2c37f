"""A point of a scenario as a scenario of its own, to be changed and run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from spillgate import _engine
from spillgate.source import Source


def alone(
    source: Source, overrides: list[str], variant: str | None, *, confine: bool
) -> dict[str, Any]:
    """What the first point says, or a variant: no variants, no axes, all that was replaced.

    What overrides replace in policies of router configurations is lost.

    Raises:
        InputError: If the scenario cannot be used.
    """
    record: dict[str, Any] = _engine.alone(
        str(source.path),
        overrides=overrides,
        variant=variant,
        confine=confine,
        files=source.overlay(),
        own=source.own.parts(),
    )[0]
    return record


def beside(
    source: Source, name: str, record: dict[str, Any], files: Mapping[str, bytes] | None = None
) -> Source:
    """A scenario called `name` beside the files of another, and more files."""
    text = json.dumps(record, ensure_ascii=False).encode()
    memory = {**source.memory, **(files or {}), name: text}
    return Source(source.path.with_name(name), memory, source.own)
