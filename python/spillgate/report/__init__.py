"""The report of a run directory: one HTML file that opens anywhere, without a network.

The page is made of text, tables and SVG and is complete without its script, which adds zoom,
values under the pointer, and switches. It forbids itself every request (Content Security
Policy), and the same results give the same bytes.
"""

from spillgate.report.page import REPORT, render, write

__all__ = ["REPORT", "render", "write"]
