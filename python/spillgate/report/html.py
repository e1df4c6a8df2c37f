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
    return Environment(
        loader=FileSystemLoader((folder, _HERE)),
        bytecode_cache=Compiled(str(place), "%s.j2c"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _assets(also: str) -> dict[str, str]:
    """The style and the script of a page, and the hash of the script for the security policy."""
    names = ("script", *([also] if also else [])), ("style", *([also] if also else []))
    script, style = (
        "".join((_HERE / f"{name}.{kind}").read_text(encoding="utf-8") for name in of)
        for of, kind in zip(names, ("js", "css"), strict=True)
    )
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return {"style": style, "script": script, "script_hash": digest}


def page(template: Path, title: str, version: str, *, also: str = "", **values: object) -> str:
    """A page as HTML.

    Args:
        template: A template that extends `base.html.j2`.
        title: Its heading.
        version: Version of Spillgate that made what it shows.
        also: Name of a further style sheet and script, beside those of every page.
        values: What else the template takes.
    """
    of = _environment(template.parent).get_template(template.name)
    return visible(of.render(title=title, version=version, **_assets(also), **values))
