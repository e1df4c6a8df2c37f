"""Sphinx configuration. What the program knows about itself is generated, never retyped."""

import sys
from pathlib import Path

import spillgate

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import generate  # noqa: E402
import matrix  # noqa: E402

project = "Spillgate"
author = "The Spillgate developers"
copyright = "The Spillgate developers"  # noqa: A001 - Sphinx's name
release = version = spillgate.__version__
extensions = ["myst_parser", "formulas", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
html_math_renderer = "mathml"
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["own.css"]
html_title = f"Spillgate {release}"
nitpicky = True
# Types of other libraries have no pages here.
nitpick_ignore_regex = [("py:.*", ".*")]
autodoc_member_order = "bysource"
napoleon_use_ivar = True
# Docstrings have code in single backticks.
default_role = "literal"
suppress_warnings = ["epub.unknown_project_files"]

generate.write_all(HERE / "_build/generated")
matrix.write(HERE / "_build/generated")
