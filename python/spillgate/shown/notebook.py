"""What notebooks show: a few lines, a table and one small figure of whatever a cell returns.

The parts are those of the report: no script, no request, names escaped, light and dark as the
notebook is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import singledispatch

from spillgate.best import Best
from spillgate.bounds import Bounds
from spillgate.compare import Compared
from spillgate.described import listings, requirements
from spillgate.displayed import Several
from spillgate.estimates import Estimates
from spillgate.explain import Explanation
from spillgate.find import Answer, Frontier
from spillgate.lint import Findings
from spillgate.metrics import format_value
from spillgate.points import counted
from spillgate.report.delays import delay_figures
from spillgate.report.facts import parameters
from spillgate.report.figure import Figure
from spillgate.report.html import fragment
from spillgate.report.standing import Groups, standing, tradeoff_figures
from spillgate.report.study import Study
from spillgate.report.suite import table as suite_table
from spillgate.report.tables import ClassTable, class_tables
from spillgate.report.verdicts import Matrix, matrix
from spillgate.report.worst import Worst, worst_packets
from spillgate.result import Results
from spillgate.scenario import Description, Exported
from spillgate.shown import bounds, estimates, searches
from spillgate.stress import Stressed
from spillgate.suites import SuiteResults
from spillgate.tables import Table
from spillgate.tuning import Tuned

MOST = 30
"""Rows of a table, sentences of a list, points of a tuple: more are only counted."""

_PANELS = 4
"""Charts of the figure: classes, in the scenario's order."""


@dataclass(frozen=True)
class Sheet:
    """What is shown of one thing, from top to bottom.

    Attributes:
        title: What it is.
        sub: What it rests on.
        headline: The outcome in a sentence.
        verdict: `pass`, `fail` or `undecided`, if that is one.
        matrix: Which variant passes which requirement.
        sentences: What else is to be said.
        warnings: What to know before believing it.
        facts: Names and what is so called.
        tables: Tables with their notes.
        classes: What each class got.
        standing: Places in rankings by class.
        d: What the last two are of.
        worst: Single packets.
        figure: A figure.
        texts: Lines of a configuration or a program.
        rest: Where rows are that there is no place for.
        more: Where everything is.
    """

    title: str
    sub: str = ""
    headline: str = ""
    verdict: str = ""
    matrix: Matrix | None = None
    sentences: Sequence[str] = ()
    warnings: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    tables: Sequence[Table] = ()
    classes: ClassTable | None = None
    standing: Groups = ()
    d: Description | None = None
    worst: Sequence[Worst] = ()
    figure: Figure | None = None
    texts: Sequence[str] = ()
    rest: str = "the object"
    more: str = ""


def html(thing: object) -> str:
    """The HTML of something that is shown, with its own style.

    Raises:
        TypeError: If nothing is known of its type.

    Example:
        >>> import spillgate
        >>> html(spillgate.check("examples/first/scenario.yaml")).count("<table>")
        2
    """
    things = thing if isinstance(thing, Several) else (thing,)
    sheets = [sheet(one) for one in things[:MOST]]
    if len(things) > MOST:
        sheets[-1] = replace(sheets[-1], more=f"{len(things) - MOST} more follow.")
    return fragment("notebook.html.j2", sheets=sheets, most=MOST)


@singledispatch
def sheet(thing: object) -> Sheet:
    """What is shown of something."""
    msg = f"nothing shows {type(thing).__name__}"
    raise TypeError(msg)


@sheet.register
def _results(results: Results) -> Sheet:
    d = results.description
    shown = Sheet(
        title=d.name or results.scenario_path.name,
        sub=f"{d.extent()}, {results.extent()}, seed {d.seed}",
        warnings=[*d.warnings, *results.remarks],
        more="spillgate.report.write(results, 'report.html') has everything.",
    )
    if d.axes:
        study = Study.of(results)
        answer = study.answer()
        return replace(
            shown,
            headline=answer.headline,
            verdict=answer.verdict,
            sentences=answer.sentences,
            tables=[replace(study.table(), title="What each point measured")],
            rest="results.table()",
        )
    figures = delay_figures(results)
    return replace(
        shown,
        matrix=matrix(results),
        classes=class_tables(results)[0],
        d=d,
        figure=_first(figures),
    )


def _first(figures: Sequence[Figure]) -> Figure | None:
    """The first figure, with a few of its charts."""
    if not figures:
        return None
    figure = figures[0]
    left = len(figure.panels) - _PANELS
    more = f" {left} more in the report." if left > 0 else ""
    return replace(figure, panels=figure.panels[:_PANELS], caption=figure.caption + more)


@sheet.register
def _description(d: Description) -> Sheet:
    tables = [replace(one.table, title=_title(one.what)) for one in listings(d)]
    if d.sla:
        one = requirements(d)
        tables.append(replace(one.table, title=_title(one.what)))
    lines = len(d.unmodelled)
    ignored = [f"{counted(lines, 'configuration line')} without effect"] if lines else []
    return Sheet(
        d.name or "Scenario",
        "The scenario is valid.",
        warnings=[*d.warnings, *ignored],
        facts=parameters(d),
        tables=tables,
    )


def _title(what: str) -> str:
    return what[:1].upper() + what[1:]


@sheet.register
def _findings(found: Findings) -> Sheet:
    order = ("error", "warning", "note")
    counts = [counted(n, s) for s in order if (n := found.count(s))]
    worst = sorted(found.found, key=lambda f: order.index(f.severity))
    rows = [
        (
            f"{f.severity} {f.id}",
            ":".join(str(x) for x in (f.file, f.line, f.column) if x is not None),
            f.message,
            f.help,
        )
        for f in worst
    ]
    table = Table(("finding", "place", "what", "what to do"), rows, title="Findings")
    return Sheet(
        "Rules",
        headline=", ".join(counts) or "No rule finds anything.",
        tables=[table][: len(rows)],
    )


@sheet.register
def _bounds(b: Bounds) -> Sheet:
    tables = [
        replace(bounds.ends("class", b.classes), title="Classes"),
        replace(bounds.queues(b.queues), title="Queues", note=bounds.MEANING),
    ]
    if b.certain:
        tables.insert(0, replace(bounds.certain(b.certain), title="Required for certain"))
    return Sheet(
        b.point or "What cannot be exceeded",
        "Delays and backlogs that cannot be exceeded, without simulating",
        sentences=[*bounds.reasons(b, flows=False), *bounds.halved(b)],
        warnings=[bounds.WITHOUT_FAILURES] if b.without_failures else [],
        tables=tables,
    )


@sheet.register
def _estimates(found: Estimates) -> Sheet:
    table = estimates.estimates(found, simulated=bool(found.simulated))
    note = f"{estimates.MEANING}; {estimates.DISTANCE}" if found.simulated else estimates.MEANING
    return Sheet(
        found.point or "What formulas say",
        "" if found.estimates else "No formula applies.",
        sentences=estimates.remarks(found),
        tables=[replace(table, title="Estimates", note=note)] if found.estimates else [],
    )


@sheet.register
def _answer(found: Answer) -> Sheet:
    table = replace(searches.tried(found), title="Values that were tried")
    at = ", ".join(f"{path} {value}" for path, value in found.at.items())
    return Sheet(
        found.key.path,
        " ".join(x for x in (counted(found.runs, "run"), f"at {at}" if at else "") if x),
        found.sentence,
        tables=[table],
        texts=["\n".join(found.changed)] if found.changed else [],
    )


@sheet.register
def _frontier(found: Frontier) -> Sheet:
    return Sheet(
        f"{found.first.path} by {found.second.path}",
        searches.frontier_sentence(found),
        tables=[replace(searches.frontier(found), title="Frontier")],
    )


@sheet.register
def _best(found: Best) -> Sheet:
    table = replace(searches.contest(found), title=_title(found.what))
    title = _title(f"{found.word} {found.what}")
    return Sheet(title, counted(found.runs, "run"), found.sentence, tables=[table])


@sheet.register
def _tuned(found: Tuned) -> Sheet:
    results = found.confirmed
    tables = [replace(searches.knobs(found), title="Values")] if found.knobs else []
    if found.front:
        tables.append(searches.front(found))
    best = ", ".join(f"{axis} {value}" for axis, value in found.best.values.items())
    return Sheet(
        results.description.name,
        best,
        matrix=matrix(results),
        sentences=[*searches.tuned_sentences(found), *searches.objective_sentences(found)],
        tables=tables,
    )


@sheet.register
def _compared(found: Compared) -> Sheet:
    results, d = found.results, found.results.description
    port = f"Port {found.port.link}, {format_value(found.port.rate, 'b/s')}"
    mechanisms = counted(len(found.mechanisms), "mechanism")
    told = [r.sentence for r in found.rankings if r.tells]
    return Sheet(
        d.name or results.scenario_path.name,
        f"{port}: {mechanisms}, {results.extent()}, seed {d.seed}",
        matrix=None if d.axes else matrix(results),
        sentences=told,
        warnings=found.remarks,
        standing=standing(results),
        d=d,
        figure=_first(tradeoff_figures(results)),
        more="found.results has tables, verdicts and differences.",
    )


@sheet.register
def _explanation(found: Explanation) -> Sheet:
    [worst] = worst_packets([found])
    where = f", ranked by the wait at {found.at}" if found.at else ""
    return Sheet(
        found.name,
        f"variant {found.variant}, run {found.run}{where}; repeated with the same fingerprint",
        worst=[worst],
    )


@sheet.register
def _stressed(found: Stressed) -> Sheet:
    table = replace(searches.beside(found), title="With fresh seeds")
    return Sheet(
        f"Cross traffic at {found.port}",
        headline=found.sentence,
        sentences=list(searches.stressed_sentences(found)),
        tables=[table],
    )


@sheet.register
def _suite(found: SuiteResults) -> Sheet:
    tables = [suite_table(found, done) for done in found.sections]
    sections = counted(len(tables), "section")
    return Sheet(
        found.suite.document,
        f"{', '.join(found.compared)}; {sections}, seed {found.seed}",
        tables=[t for t in tables if t.rows],
    )


@sheet.register
def _exported(found: Exported) -> Sheet:
    return Sheet("Policies as text", warnings=found.notes, texts=[found.text])
