"""Pages that stand alone: one skeleton, style and script for reports and reproductions."""

from __future__ import annotations

import base64
import hashlib
import sys
from contextlib import suppress
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import TYPE_CHECKING

from spillgate.visible import visible

if TYPE_CHECKING:
    from jinja2 import Environment
    from jinja2.bccache import Bucket

_HERE = Path(__file__).parent


@cache
def _environment(folder: Path) -> Environment:
    """Templates of a folder and those here, with what every page has."""
    # Only pages pay for it.
    from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined

    class Compiled(FileSystemBytecodeCache):
        """Compiled templates beside compiled modules, kept where those can be."""

        def dump_bytecode(self, bucket: Bucket) -> None:
            if not sys.dont_write_bytecode:
                with suppress(OSError):
                    Path(self.directory).mkdir(exist_ok=True)
                    super().dump_bytecode(bucket)

    place = Path(cache_from_source(__file__)).parent
    made = Environment(
        loader=FileSystemLoader((folder, _HERE)),
        bytecode_cache=Compiled(str(place), "%s.j2c"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script = (_HERE / "script.js").read_text(encoding="utf-8")
    digest = hashlib.sha256(script.encode()).digest()
    made.globals |= {
        "style": (_HERE / "style.css").read_text(encoding="utf-8"),
        "script": script,
        # For the security policy.
        "script_hash": base64.b64encode(digest).decode(),
    }
    return made


def page(template: Path, title: str, version: str, **values: object) -> str:
    """A page as HTML.

    Args:
        template: A template that extends `base.html.j2`.
        title: Its heading.
        version: Version of Spillgate that made what it shows.
        values: What else the template takes.
    """
    of = _environment(template.parent).get_template(template.name)
    return visible(of.render(title=title, version=version, **values))
