"""Pages that stand alone: one skeleton, style and script for reports and reproductions."""

from __future__ import annotations

import base64
import hashlib
import re
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


def _text(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


@cache
def _colors() -> tuple[str, str]:
    """The declarations of the colors on a light and on a dark ground."""
    light, dark = re.findall(r"\{([^}]*)\}", _text("palette.css"))
    return light, dark


@cache
def _assets(also: str) -> dict[str, str]:
    """The style and the script of a page, and the hash of the script for the security policy."""
    more = [also] if also else []
    script = "".join(_text(f"{name}.js") for name in ("script", *more))
    light, dark = _colors()
    colors = (
        f":root{{{light}}}\n@media screen{{\n"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n"
        f":root[data-theme=dark]{{{dark}}}\n}}\n"
    )
    style = colors + "".join(_text(f"{name}.css") for name in ("parts", "style", *more))
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


_OWN = ".spillgate:not(#_)"
"""What fragments are in; above the styles that notebooks have for all tables."""

_DARK = (
    '[data-jp-theme-light="false"]',
    '[data-theme="dark"]',
    'html[theme="dark"]',
    ".vscode-dark",
    ".vscode-high-contrast:not(.vscode-high-contrast-light)",
    ".quarto-dark",
)
"""Dark grounds: JupyterLab and Notebook; Sphinx, Marimo; Colab; Visual Studio Code; Quarto.

What the system prefers does not say what a notebook has.
"""


@cache
def fragment_style() -> str:
    """The style of a fragment, which is for nothing else in the page that it comes to."""
    light, dark = _colors()
    grounds = ",".join(f"{ground} {_OWN}" for ground in _DARK)
    rules = re.sub(
        r"([^{}]+)\{",
        lambda found: ",".join(f"{_OWN} {s.strip()}" for s in found[1].split(",")) + "{",
        _text("parts.css") + _text("notebook.css"),
    )
    return f"{_OWN}{{{light}}}{grounds}{{{dark}}}{rules}{_OWN}.spillgate.spillgate{{{_GROUND}}}"


_GROUND = (
    "--fg:currentColor;--dim:color-mix(in srgb,currentColor 72%,transparent);"
    "--rule:color-mix(in srgb,currentColor 22%,transparent);"
    "--soft:color-mix(in srgb,currentColor 7%,transparent);"
    "--bg:var(--jp-layout-color0,var(--vscode-editor-background,Canvas));"
    "color:inherit;background:none;font-size:14px;line-height:1.45;max-width:72rem"
)
"""Texts and lines are as the notebook's own, whatever its ground is."""


def fragment(name: str, **values: object) -> str:
    """A part of a page as HTML, for what shows HTML among other things: a notebook.

    It has its own style, no script, and asks for nothing.

    Args:
        name: A template of this folder.
        values: What it takes.
    """
    of = _environment(_HERE).get_template(name)
    return visible(of.render(style=fragment_style(), **values))
