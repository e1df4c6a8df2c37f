"""Equations as MathML, which browsers draw by themselves: pages need no network and no script."""

import re

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

_WORDS = re.compile(r"\\(?:mathrm|text|operatorname|begin|end)\{[^{}]*\}|\\[A-Za-z]+|[A-Za-z]{3,}")


def mathml(tex, *, as_block=False):
    """An equation; what is longer than two letters is one name, not a product."""
    named = _WORDS.sub(lambda m: m[0] if m[0][0] == "\\" else rf"\mathrm{{{m[0]}}}", tex)
    return tex2mathml(named, as_block=as_block)


def _inline(writer, node):
    writer.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def _block(writer, node):
    writer.body.append(f'<div class="math">{mathml(node.astext(), as_block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app):
    """Registers the renderer `mathml`."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
