"""Spillgate: a packet-level simulator of congestion management.

>>> import spillgate
>>> results = spillgate.run("examples/first/scenario.yaml", runs=3)
>>> results.passed
False
>>> sorted({v.variant for v in results.verdicts if v.verdict == "fail"})
['fifo']
"""

from spillgate import _engine, displayed, statistics
from spillgate.best import Best, System, best
from spillgate.bounds import Bounds, EndToEnd, QueueBound, bound
from spillgate.compare import Compared, compare
from spillgate.dataset import Dataset, write_dataset
from spillgate.errors import (
    AqmError,
    Diagnostic,
    HookError,
    InputError,
    MissingDependencyError,
    OutputError,
    SchedulerError,
    SpillgateError,
)
from spillgate.estimates import Assumption, Beside, Estimate, Estimates, Unknown, estimate
from spillgate.explain import Explanation, explain
from spillgate.find import Answer, Frontier, find
from spillgate.lint import Finding, Findings, Rule, lint, reader_warnings, rules
from spillgate.mechanisms import Mechanism
from spillgate.metrics import Metric, metrics
from spillgate.pcap import Recorded, record
from spillgate.points import Axis, Point
from spillgate.ranking import Place, Ranking
from spillgate.result import Results
from spillgate.rows import Admission, Conclusion, Distribution, Row, Run, Sample, Series, Verdict
from spillgate.run import Interrupted, Progress, Simulation, run
from spillgate.saved import load
from spillgate.scenario import (
    Description,
    Exported,
    Unmodelled,
    catalog,
    check,
    export,
    offered,
    profile,
    schema,
    understand,
)
from spillgate.stress import Stressed, stress
from spillgate.suites import SuiteResults, suite
from spillgate.voice import Rating, rate
from spillgate.worst_case import WorstCase, worst


def _drawn(thing: object) -> str:
    # Only notebooks pay for it.
    from spillgate.shown.notebook import html

    return html(thing)


displayed.drawn_by(_drawn)

__version__: str = _engine.VERSION
__commit__: str = _engine.COMMIT

__all__ = [
    "Admission",
    "Answer",
    "AqmError",
    "Assumption",
    "Axis",
    "Beside",
    "Best",
    "Bounds",
    "Compared",
    "Conclusion",
    "Dataset",
    "Description",
    "Diagnostic",
    "Distribution",
    "EndToEnd",
    "Estimate",
    "Estimates",
    "Explanation",
    "Exported",
    "Finding",
    "Findings",
    "Frontier",
    "HookError",
    "InputError",
    "Interrupted",
    "Mechanism",
    "Metric",
    "MissingDependencyError",
    "OutputError",
    "Place",
    "Point",
    "Progress",
    "QueueBound",
    "Ranking",
    "Rating",
    "Recorded",
    "Results",
    "Row",
    "Rule",
    "Run",
    "Sample",
    "SchedulerError",
    "Series",
    "Simulation",
    "SpillgateError",
    "Stressed",
    "SuiteResults",
    "System",
    "Unknown",
    "Unmodelled",
    "Verdict",
    "WorstCase",
    "__commit__",
    "__version__",
    "best",
    "bound",
    "catalog",
    "check",
    "compare",
    "estimate",
    "explain",
    "export",
    "find",
    "lint",
    "load",
    "metrics",
    "offered",
    "profile",
    "rate",
    "reader_warnings",
    "record",
    "rules",
    "run",
    "schema",
    "statistics",
    "stress",
    "suite",
    "understand",
    "worst",
    "write_dataset",
]
