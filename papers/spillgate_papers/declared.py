# ruff: noqa: ANN401
"""A paper as data: `paper.yaml`, beside its texts (`paper.md`) and its system (`system/`).

Every entry of the file is a mapping whose texts may have names in braces; what is but a name in
braces becomes the value itself. `for` makes an entry once for each value of a list or an axis
(`for: scheme`), or of the product of several (`for: [contract, scheme]`, `for: {off: [10, 60]}`);
`"s, rate"` names the parts of values that are lists.

- `take`: what is needed of results, and how often things are run (as of `Frame`).
- `lists` by name; `points`, lists of points by name: points, lists of such, titles of batches, or
  `{for: .., at: POINT}`.
- `axes`, written as in scenarios. `batches`: `title`, `axes` (by name; `{axis: [values]}` for some
  of its values, `[axis, axis]` for the values of both as one; or written there), `but` (values
  that are not run together), `seconds` (of warm-up, and measured), `quick` (the same), `runs`,
  `times`, `varied` (true, or what differs), `keep`, `note`. A point is called by its values.
- `causes`: settings in which a suspected cause is off: `at` a point of the claims, `off` that
  point's replacement; or `set`. `silent`: other choices of each silent one as axes, `at` points.
- `search`: how much is run where choices are searched (as of `Plan`), `at` which points if not
  those of the ledger, `judged` further ones in the best set, and `also` further choices, of keys
  that the ledger does not vary, too; `own` is what a value sets at some points only.
- `measures` are terms by name, `ours` bounds that are ours, `claims` the parts of each.
- `cells`: terms and texts for sentences; `ledger`, `watched`; `tables`, `figures`, `bars`, and the
  `sections` that show them. A table without a title has that of its file in the texts.
- `rivals`: mechanisms of today beside the paper's (as of `Modern`): `at` the paths of the policies
  that they replace, `own` the paper's points by name, `limit` (packets) and `packet` (bytes),
  `seconds`, `quick`, `runs`, the terms `more` and `less` by heading, `parameters` by kind, `note`.

A *term* is a quantity, in the words of requirements: `{class: voice, metric: owd_mean, at: FIFO}`,
or the name of a measure at a point, `delay@FIFO`. `own` is what the paper's Python takes of runs.
A `queue` that names a link only is that of its queues which is offered the most packets.
`less` and `over` form the difference and the ratio with another term run by run, so under the same
seeds: `over: "@RED"` is the same measure at another point, `over: {scheme: RED}` where only these
coordinates differ, `over: sent` another measure at the same point. `make` is a number that `most`,
`least`, `sum`, `size` (the amount without sign) or a function of the paper's Python makes in each
run of several terms: of those under `of`, which `for` may repeat.

A *part* of a claim bounds a term: `trend`, `number` or `beside` (only reported), with `min` and
`max`. A bound that is ours and not the paper's is named by `ours`; `[a, b]` is then a bound that
is a where our value is 0, and b where it is 1, and texts know `{ours}` (the value in words, as
`said` has it), `{v}`, `{percent}`, `{low}`, `{lowest}` (in percent) and `{high}`. `apart: [a, b]`:
the whole interval of a lies above that of b. `either: [..]`: one of two parts. `call`: parts that
a function makes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from spillgate_papers import rivals, terms
from spillgate_papers.frame import Frame
from spillgate_papers.matching.plan import Plan
from spillgate_papers.measured import Singles, View
from spillgate_papers.model import Quantity, Section, Table
from spillgate_papers.ours import Ours, widths
from spillgate_papers.points import SCOPES, Entry, Points, Vars, effort_of, placed
from spillgate_papers.rivals import Modern
from spillgate_papers.show import Bars, By, Curves, Line, Panel, binned
from spillgate_papers.study import Study, Watched
from spillgate_papers.terms import Bound, Check, Term
from spillgate_papers.texts import Texts, figure

MAKERS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "most": max,
    "least": min,
    "sum": sum,
    "size": lambda v: abs(v[0]),
}
KINDS = ("trend", "number", "beside", "apart", "either", "call")


class Declared(Points):
    """A paper as its file says, with what Python adds to it.

    Attributes:
        texts: The paper's texts.
    """

    def __init__(self, folder: Path, python: Mapping[str, Any]) -> None:
        """Reads both files of a paper's folder.

        Args:
            folder: The folder.
            python: What the paper computes itself, by the name by which the file calls it:
                measures (a term from a point), numbers, parts, lines, tables, sections; `cells`
                of sentences; `lists`, `axes`, `batches` and `silent` beside those of the file.
        """
        super().__init__(folder / "paper.yaml", python)
        self.texts = Texts.read(folder / "paper.md")
        self.measures = self.data.get("measures", {})

    def function(self, entry: object, name: str, known: Mapping[str, Any]) -> Any:
        """What is called so in the file, or else in Python."""
        if name not in known and name not in self.python:
            self.fail(entry, "nothing is called", name, (*known, *self.python))
        return known[name] if name in known else self.python[name]

    # Terms

    def measure(self, name: str, entry: object = None) -> Callable[[str], Term]:
        """A measure of the file, or of Python: the quantity at a point."""
        of = self.function(entry or name, name, self.measures)
        return (lambda at: self.at(of, at, {})) if name in self.measures else of

    def at(self, spec: Any, point: str, v: Vars) -> Term:
        """A term at a point, if it names none itself."""
        if isinstance(spec, str):
            name, _, at = spec.partition("@")
            of = self.measure(self.fill(placed(name, spec), v), spec)
            return of(self.point(placed(at, spec), v) if at else point)
        self.known("a term", spec)
        at = self.point(spec["at"], v) if "at" in spec else point
        found = self._plain(spec, at, v)
        if "less" in spec:
            found -= self._other(spec, spec["less"], at, v)
        return found / self._other(spec, spec["over"], at, v) if "over" in spec else found

    def _plain(self, spec: Entry, at: str, v: Vars) -> Term:
        if "make" in spec:
            make = self.function(spec, spec["make"], MAKERS)
            of = spec["of"] if isinstance(spec["of"], list) else [spec["of"]]
            every = [self.at(x, at, here) for here in self.loop(spec, v) for x in of]
            return terms.of_each(every, spec["make"], make, spec.get("unit", ""))
        if "of" in spec:
            return self.at(spec["of"], at, v)
        if "own" in spec:
            make = getattr(Singles, spec.get("as", "mean"))
            return terms.own(self.fill(spec["own"], v), at, make)
        scope = next((s for s in SCOPES if s in spec), "")
        if not scope or "metric" not in spec:
            keys = (f"metric with one of {', '.join(SCOPES)}", "own", "of", "make")
            self.fail(spec, "a term has other keys", among=keys)
        metric, of = self.fill(spec["metric"], v), self.fill(spec[scope], v)
        if scope == "queue" and "/" not in of:
            return terms.busiest(metric, at, of)
        return terms.value(metric, at, of, scope)

    def _other(self, spec: Entry, other: Any, at: str, v: Vars) -> Any:
        """What a term is compared with: itself elsewhere, another term, or a number."""
        if isinstance(other, str) and other.startswith("@"):
            return self._plain(spec, self.point(placed(other[1:], other), v), v)
        if isinstance(other, Mapping) and at and set(other) <= set(self.places.get(at, ())):
            return self._plain(spec, self.moved(at, other, v), v)
        return self.at(other, at, v) if isinstance(other, (str, Mapping)) else other

    # Claims

    def claims(self) -> Mapping[str, tuple[Check, ...]]:
        """The parts of each claim."""
        return {
            name: tuple(c for part in parts for c in self.checks(part, {}))
            for name, of in self.data["claims"].items()
            for parts in [of if isinstance(of, list) else [of]]
        }

    def checks(self, part: Entry, around: Vars) -> Iterator[Check]:
        """What one entry of a claim makes."""
        self.known("a part of a claim", part)
        if "parts" in part:
            for v in self.loop(part, {**around, **self.fill(part.get("with", {}), around)}):
                yield from (c for p in part["parts"] for c in self.checks(p, v))
            return
        if not any(k in part for k in KINDS):
            self.fail(part, "a part of a claim has one of these keys", among=KINDS)
        for v in self.loop(part, around):
            if "call" in part:
                make = self.function(part, part["call"], {})
                made = make(*self.fill(part.get("with", []), v))
                yield from made if isinstance(made, Iterable) else [made]
            else:
                yield self.ours(part, v) if "ours" in part else self.check(part, v)

    def check(self, part: Entry, v: Vars, k: float = 0.0) -> Check:
        """One part, under a value of our bound."""
        if "either" in part:
            rest = {x: y for x, y in part.items() if x != "either"}
            both = (_with(part, {**rest, **p}, only=True) for p in part["either"])
            return terms.either(*(self.check(p, v, k) for p in both))
        text = self.fill(part.get("text", ""), v)
        if "apart" in part:
            better, worse = (self.at(x, "", v) for x in part["apart"])
            return terms.apart(better, worse, text)
        kind = next(x for x in KINDS if x in part)
        term = self._compared(part, part[kind], v)
        if kind == "beside":
            return terms.beside(term, text)
        make = terms.trend if kind == "trend" else terms.number
        return make(Bound(term, *self.ends(part, v, k)), text)

    def _compared(self, part: Entry, spec: Any, v: Vars) -> Term:
        """The term of a part, with the part's own `less` and `over`."""
        signs = {k: part[k] for k in ("less", "over") if k in part}
        if isinstance(spec, str) and "@" in spec:
            name, _, at = spec.partition("@")
            spec = {"at": placed(at, spec), "of": placed(name, spec)}
        return self.at(_with(part, {**spec, **signs}, only=True) if signs else spec, "", v)

    def ends(self, of: Mapping[str, Any], v: Vars, k: float) -> tuple[Any, Any]:
        """The bounds, if there are such, under a value of ours."""

        def end(x: Any) -> float | None:
            if not isinstance(x, list):
                return None if x is None else figure(str(self.fill(x, v)))
            zero, one = (figure(str(self.fill(y, v))) or 0.0 for y in x)
            return zero + k * (one - zero)

        return end(of.get("min")), end(of.get("max"))

    def ours(self, part: Entry, v: Vars) -> Check:
        """A part with a bound that is ours: it knows what it is under the others."""
        name = self.fill(part["ours"], v)
        known = self.data.get("ours", {})
        bound = self.known("a bound of ours", self.function(part["ours"], name, known))
        chosen, others = bound["value"], bound["others"]
        whole = _with(part, {**{x: bound[x] for x in ("min", "max") if x in bound}, **part})

        def here(k: float) -> Vars:
            low, high = self.ends(whole, v, k)
            ends = {"low": low, "high": high, "lowest": 100 * (low or 0.0)}
            return {**v, "v": k, "percent": 100 * k, **ends}

        def said(k: float) -> str:
            return str(self.fill(bound.get("said", "{v:g}"), here(k)))

        others = widths(chosen) if others == "about" else tuple(others)
        ours = Ours(name, chosen, others, said)
        return ours.judged(lambda k: self.check(whole, {**here(k), "ours": said(k)}, k))

    # The page

    def table(self, t: Entry) -> By | Table:
        """A table, whose rows are the product of its axes, or whose cells are given."""
        self.known("a table", t)
        file = t["file"]
        title, note = (t["title"], t.get("note", "")) if "title" in t else self.texts.shown(file)
        if "cells" in t:
            given = tuple(tuple(row) for row in t["cells"])
            return Table(file, title, tuple(t["head"]), given, note)
        rows = {
            head: x if isinstance(x, Mapping) else [str(y) for y in self.values(x)]
            for head, x in t["rows"].items()
        }
        at = t.get("at", ", ".join(f"{{{head}}}" for head in rows))
        columns: dict[str, Callable[..., Any]] = {}
        for item in t["columns"]:
            entry = Entry({item: item}) if isinstance(item, str) else item
            for v in self.loop(entry):
                for head, spec in entry.items():
                    if head != "for":
                        columns[self.fill(head, v)] = self._column(spec, at, {**v, "": rows})
        for labels in product(*rows.values()):
            for column in columns.values():
                column(*labels)
        return By(file, title, rows, columns, note)

    def _column(self, spec: Any, at: Any, around: Vars) -> Callable[..., Any]:
        of = spec
        if isinstance(spec, Entry):
            self.known("a column", spec)
            of = _with(spec, {k: x for k, x in spec.items() if k != "not"}, only=True)

        def cell(*labels: str) -> Any:
            v = {**around, **dict(zip(around[""], labels, strict=True))}
            if isinstance(spec, Mapping):
                if any(v[k] in x for k, x in spec.get("not", {}).items()):
                    return None
                if "stated" in spec:
                    [(name, values)] = spec["stated"].items()
                    return Quantity(values[v[name]], None, None, spec.get("unit", "ratio"), 1)
            there = "@" in spec if isinstance(spec, str) else "at" in spec
            return self.at(of, "" if there else self.point(at, v), v)

        return cell

    def figure(self, f: Entry, around: Vars) -> Curves:
        """A figure of panels."""
        self.known("a figure", f)
        panels = [
            self._panel(p, v)
            for p in f.get("panels", [f])
            for v in ([around] if p is f else self.loop(self.known("a panel", p), around))
        ]
        size = {"size": tuple(f["size"])} if "size" in f else {}
        shared, note, rows = f.get("shared", False), f.get("note", ""), f.get("rows", 1)
        file, title = self.fill([f["file"], f["title"]], around)
        return Curves(file, title, panels, note, rows, shared=shared, **size)

    def _panel(self, p: Entry, v: Vars) -> Panel:
        lines: dict[str, Line] = {}
        for label, spec in p["lines"].items():
            for here in self.loop({"for": self.known("a line", spec).get("each", {})}, v):
                lines[self.fill(label, here)] = self._line(spec, here)
        title, x, y = (self.fill(p.get(k, ""), v) for k in ("panel", "x", "y"))
        return Panel(
            *(title, x, y, lines),
            look=lambda axes: axes.set_ylim(*p["range"]) if "range" in p else None,
            **{k: p[k] for k in ("factor", "legend", "guides", "dots", "shades") if k in p},
        )

    def _line(self, spec: Entry, v: Vars) -> Line:
        """Terms along a list, what Python makes, or a time series of the first run."""
        if "along" in spec:
            [(name, _)] = spec["along"].items()
            first, *_ = name.split(", ")
            every = self.loop({"for": spec["along"]}, v)
            return {float(here[first]): self.at(spec["of"], "", here) for here in every}
        at = self.point(spec["at"], v)
        if "line" in spec:
            draw, more = self.function(spec, spec["line"], {}), self.fill(spec.get("with", []), v)
            return lambda view: draw(view, at, *more)
        where, metric, n = spec["series"], spec["metric"], spec.get("bin", 1)
        return lambda view: binned(view.series(at, where, metric), n)

    def sections(self) -> Callable[[Study], Iterator[Section]] | None:
        """The page's parts between verdicts and ledger."""
        known = {t["file"]: self.table(t) for t in self.data.get("tables", ())}
        every = ((f, v) for f in self.data.get("figures", ()) for v in self.loop(f))
        drawn = {c.file: c for c in (self.figure(f, v) for f, v in every)}
        parts = self.data.get("sections", ())
        shown = [
            [
                [self.function(s, x, {"runs": Study.runs, **here}) for x in s.get(kind, ())]
                for kind, here in (("tables", known), ("figures", drawn))
            ]
            for s in parts
            if self.known("a section", s)
        ]
        sentences = {x: self.said(x) for s in parts for x in s.get("said", ())}

        def made(study: Study) -> Iterator[Section]:
            facts = {f"runs of {b.title}": b.effort.of(study.lab).runs for b in self.batches}
            facts["runs"] = study.lab.runs
            for s, of in zip(parts, shown, strict=True):
                tables, figures = ([x(study) if callable(x) else x for x in kind] for kind in of)
                if "call" in s:
                    yield from self.function(s, s["call"], {})(study, *tables, *figures)
                    continue
                texts = [self.fill(s["text"], facts)] if "text" in s else []
                texts += [sentences[x](study.main) for x in s.get("said", ())]
                name, text = s.get("name", ""), "\n\n".join(texts)
                yield study.section(s["title"], text, tables, figures, name)

        return made if parts else None

    def said(self, name: str) -> Callable[[View], str]:
        """The sentences under a heading of the texts."""
        cells = dict(self.python.get("cells", {}))
        for key, of in self.data.get("cells", {}).items():
            cells[key] = of if isinstance(of, str) and "@" not in of else self.at(of, "", {})
        also = {k: x for k, x in self.python.items() if callable(x)}
        known = {**also, **{x: self.measure(x) for x in self.measures}}
        measures = {k: (lambda at, of=of: of(self.point(at, {}))) for k, of in known.items()}
        try:
            return self.texts.said(name, measures, **cells)
        except KeyError as e:
            there = (*self.texts.prose, *known, *cells)
            return self.fail(name, "nothing is called", e.args[0], there)  # type: ignore[no-any-return]

    def search(self) -> Plan:
        """How much is run where choices are searched, and further choices."""
        of = dict(self.known("a search", self.data.get("search", {})))
        also = {key: self.choices_of(axes) for key, axes in of.pop("also", {}).items()}
        places, judged = (frozenset(self.points(of.pop(k, ()))) for k in ("at", "judged"))
        return Plan(**of, places=places, judged=judged, also=also)

    def rivals(self) -> Modern | None:
        """Mechanisms of today beside the paper's."""
        if "rivals" not in self.data:
            return None
        of = self.known("rivals", self.data["rivals"])
        own = {name: self.point(at, {}) for name, at in of["own"].items()}
        if not own:
            self.fail(of, "own of rivals names no mechanism of the paper")
        more, less = (
            {head: partial(self.at, spec, v={}) for head, spec in of.get(k, {}).items()}
            for k in ("more", "less")
        )
        at = [of["at"]] if isinstance(of["at"], str) else of["at"]
        for kind in of.get("parameters", {}):
            if kind not in rivals.KINDS:
                self.fail(of["parameters"], "no rival is called", kind, rivals.KINDS)
        return Modern(
            *(at, own, of["limit"], of["packet"], effort_of(of), more, less),
            parameters=of.get("parameters", {}),
            note=of.get("note", ""),
        )

    def watched(self) -> Iterator[Watched]:
        """What the ledger shows beside verdicts."""
        for w in self.data.get("watched", ()):
            for v in self.loop(self.known("what is watched", w)):
                at = self.point(w["at"], v)
                shown = {k: self.at(t, at, v) for k, t in w["shown"].items()}
                yield Watched(at, self.fill(w["name"], v), shown)


def _with(part: Entry, more: Mapping[str, Any], *, only: bool = False) -> Entry:
    """An entry with other keys, at the place of a part."""
    found = Entry(more if only else {**part, **more})
    found.line = part.line
    return found


def paper(folder: Path, **python: Any) -> Frame:
    """The paper of a folder.

    Args:
        folder: With `paper.yaml`, `paper.md` and `system/`.
        python: What the paper computes itself, by the name by which `paper.yaml` calls it; `own`
            gives what is taken of runs beside metrics, `files` what values refer to.
    """
    d = Declared(folder, python)
    others = {key: d.choices_of(of) for key, of in d.data.get("silent", {}).items()}
    others |= python.get("silent", {})
    sections = d.sections()
    tables = [] if sections else [d.table(t) for t in d.data.get("tables", ())]
    return Frame(
        name=folder.name,
        texts=d.texts,
        system=folder / "system",
        batches=d.batches,
        claims=d.texts.claims(d.claims()),
        silent=d.texts.silent(others, {}),
        files=python.get("files", {}),
        tables=[t for t in tables if isinstance(t, By)],
        figures=[Bars(**d.known("a figure of bars", b)) for b in d.data.get("bars", ())],
        causes=tuple(d.causes()),
        ledger=tuple(d.points(d.data.get("ledger", ()))),
        watched=list(d.watched()),
        sections=sections,
        own=python.get("own"),
        search=d.search(),
        modern=d.rivals(),
        **d.known("what is taken", d.data.get("take", {})),
    )
