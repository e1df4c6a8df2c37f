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
- `measures` are terms by name, `ours` bounds that are ours, `claims` the parts of each.
- `cells`: terms and texts for sentences; `ledger`, `watched`; `tables`, `figures`, `sections`.

A *term* is a quantity, in the words of requirements: `{class: voice, metric: owd_mean, at: FIFO}`,
or the name of a measure at a point, `delay@FIFO`. `own` is what the paper's Python takes of runs.
`less` and `over` form the difference and the ratio with another term run by run, so under the same
seeds: `over: "@RED"` is the same measure at another point, `over: {scheme: RED}` where only these
coordinates differ, `over: sent` another measure at the same point. `make` is a number that `most`,
`least`, `sum`, `size` (the amount without sign) or a function of the paper's Python makes in each
run of several terms: of those under `of`, which `for` may repeat.

A *part* of a claim bounds a term: `trend`, `number` or `beside` (only reported), with `min` and
`max`. A bound that is ours and not the paper's is named by `ours`; `[a, b]` is then a bound that
is a where our value is 0, and b where it is 1, and texts know `{ours}` (the value in words, as
`said` has it), `{v}`, `{percent}`, `{low}` and `{high}`. `apart: [a, b]`: the whole interval of a
lies above that of b. `either: [..]`: one of two parts. `call`: parts that a function makes.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from spillgate.errors import InputError
from spillgate_papers import terms
from spillgate_papers.frame import Frame
from spillgate_papers.grid import Batch, Effort, Grid, Value
from spillgate_papers.measured import Singles
from spillgate_papers.model import (
    Elsewhere,
    OurBound,
    Part,
    Point,
    Quantity,
    Section,
    Silent,
    Table,
)
from spillgate_papers.show import By, Curves, Line, Panel, binned, first_run
from spillgate_papers.study import Study, Watched
from spillgate_papers.terms import Bound, Check, Term
from spillgate_papers.texts import Texts, figure

Vars = Mapping[str, Any]
"""What stands in braces, by name."""

SCOPES = ("class", "dscp", "class-dscp", "queue", "link", "meter", "flow", "switch")
"""Of what a metric is, as in results."""
SIGNS = ("less", "over")
MAKERS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "most": max,
    "least": min,
    "sum": sum,
    "size": lambda v: abs(v[0]),
}
KINDS = ("trend", "number", "beside", "apart", "either", "call")


class Entry(dict[str, Any]):
    """A mapping of the file that knows where it begins."""

    line = 0


class _Loader(yaml.CSafeLoader):  # type: ignore[misc]
    """YAML 1.2, in which `on` and `off` are words."""


_Loader.yaml_implicit_resolvers = {
    first: [r for r in known if r[0] != "tag:yaml.org,2002:bool" or first in "tTfF"]
    for first, known in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def _entry(loader: Any, node: Any) -> Entry:
    found = Entry(loader.construct_mapping(node, deep=True))
    found.line = node.start_mark.line + 1
    return found


_Loader.add_constructor("tag:yaml.org,2002:map", _entry)


class Declared:
    """The file, and what Python adds to it.

    Attributes:
        texts: The paper's texts.
        data: The file.
    """

    def __init__(self, folder: Path, python: Mapping[str, Any]) -> None:
        """Reads both files of a paper's folder.

        Args:
            folder: The folder.
            python: What the paper computes itself, by the name by which the file calls it:
                measures (a term from a point), numbers, parts, lines, tables, sections; `cells`
                of sentences; `lists`, `axes` and `batches` beside those of the file.
        """
        self.path = folder / "paper.yaml"
        self.texts = Texts.read(folder / "paper.md")
        self.python = python
        try:
            self.data = yaml.load(self.path.read_text(encoding="utf-8"), _Loader)  # noqa: S506
        except yaml.MarkedYAMLError as e:
            line = e.problem_mark.line + 1 if e.problem_mark else 1
            msg = f"error: {self.path}:{line}: {e.problem}"
            raise InputError(msg) from None
        for kind, empty in (("lists", {}), ("axes", [])):
            more = python.get(kind, empty)
            own = self.data.get(kind, empty)
            self.data[kind] = {**own, **more} if kind == "lists" else [*own, *more]
        self.batches = [
            *python.get("batches", ()),
            *(self._batch(b) for b in self.data.get("batches", ())),
        ]
        self.places = {
            name: dict(zip(b.grid.axes, labels, strict=True))
            for b in self.batches
            for name, labels in b.grid.labels.items()
        }

    def fail(self, entry: object, what: str, name: object = "", among: Iterable[str] = ()) -> Any:
        """Raises an error with the line, what was found, and what would be valid."""
        line = getattr(entry, "line", 1)
        there = list(among)
        near = difflib.get_close_matches(str(name), there, 3, 0.5) or there[:8]
        hint = f"; there are {', '.join(near)}" if near else ""
        msg = f"error: {self.path}:{line}: {what}{f' {name!r}' if name != '' else ''}{hint}"
        raise InputError(msg)

    # Loops and points

    @cached_property
    def axes(self) -> dict[str, Any]:
        """The axes by name."""
        return {a["name"]: a for a in self.data.get("axes", ())}

    def values(self, entry: object, of: Any) -> list[Any]:
        """The values of an axis, of a list, or those that are given."""
        if not isinstance(of, str):
            return list(of)
        lists = self.data.get("lists", {})
        if of in lists:
            return list(lists[of])
        if of not in self.axes:
            self.fail(entry, "there is no list and no axis", of, (*lists, *self.axes))
        return [v["name"] for v in self.choices(self.axes[of])]

    def loop(self, entry: Mapping[str, Any], around: Vars = {}) -> Iterator[dict[str, Any]]:  # noqa: B006
        """What stands in braces in an entry, each time that it is made."""
        of = entry.get("for", {})
        if not isinstance(of, Mapping):
            of = {name: name for name in ([of] if isinstance(of, str) else of)}
        lists = [self.values(entry, x) for x in of.values()]
        for found in product(*lists):
            here = dict(around)
            for names, value in zip(of, found, strict=True):
                parts = names.split(", ")
                here |= zip(parts, [value] if len(parts) == 1 else value, strict=True)
            yield here

    def choices(self, axis: Entry) -> list[dict[str, Any]]:
        """The values of an axis, written as in scenarios; `for` may repeat one."""
        if "points" in axis:
            every = [filled(p, v) for p in axis["points"] for v in self.loop(p)]
        else:
            paths = [axis["set"]] if isinstance(axis["set"], str) else axis["set"]
            every = [{"name": str(v), "set": dict.fromkeys(paths, v)} for v in axis["values"]]
        for found in every:
            of = found.get("set", {})
            parts = of if isinstance(of, list) else [of]
            found["set"] = {path: value for part in parts for path, value in part.items()}
        return every

    def points(self, of: Any, around: Vars = {}) -> list[str]:  # noqa: B006
        """Names of points: of one, of a list of such, of a named list, or of a batch."""
        if isinstance(of, str):
            batch = next((b for b in self.batches if b.title == of), None)
            if batch:
                return list(batch.grid.places)
            if of in self.data.get("points", {}):
                return self.points(self.data["points"][of], around)
            return [self.point(of, of, around)]
        if isinstance(of, Mapping):
            return [p for v in self.loop(of, around) for p in self.points(of["at"], v)]
        return [p for x in of for p in self.points(x, around)]

    def point(self, entry: object, at: Any, around: Vars) -> str:
        """The name of a point; of several the first that is run. Empty values are left out."""
        tried = [filled(x, around) for x in ([at] if isinstance(at, str) else at)]
        names = [", ".join(p for p in x.split(", ") if p) for x in tried]
        for name in names:
            if name in self.places:
                return name
        return str(self.fail(entry, "there is no point", names[0], self.places))

    def moved(self, entry: object, point: str, to: Mapping[str, str], around: Vars) -> str:
        """The point at other coordinates."""
        return self.point(entry, ", ".join((self.places[point] | filled(to, around)).values()), {})

    # What is run

    def _batch(self, b: Entry) -> Batch:
        grid = Grid(**dict(self._axis(b, a) for a in b["axes"]))
        if "but" in b:
            unlike = [(list(grid.axes).index(k), x) for k, x in b["but"].items()]
            grid = grid.only(lambda *at: not all(at[i] == x for i, x in unlike))
        effort, varied = self.effort(b), b.get("varied")
        if isinstance(varied, dict):
            varied = self.effort({**b, "times": 1, **varied})
        elif varied:
            varied = effort
        kept, note = b.get("keep", False), b.get("note", "")
        return Batch(b["title"], grid, effort, varied or None, keep=kept, note=note)

    def _axis(self, b: Entry, a: Any) -> tuple[str, dict[str, Value]]:
        """An axis of a batch: by name, some of its values, several as one, or one of its own."""
        if isinstance(a, Mapping) and "name" in a:
            name, every = a["name"], self.choices(a)  # type: ignore[arg-type]
        elif isinstance(a, Mapping):
            [(name, some)] = a.items()
            kept = self.values(b, some)
            every = [c for c in self.choices(self.named(b, name)) if c["name"] in kept]
        else:
            names = [a] if isinstance(a, str) else a
            name, every = names[0], [c for x in names for c in self.choices(self.named(b, x))]
        return name, {c["name"]: Value(c["set"], c.get("always", {})) for c in every}

    def named(self, entry: object, name: str) -> Entry:
        """An axis."""
        if name not in self.axes:
            self.fail(entry, "there is no axis", name, self.axes)
        return self.axes[name]  # type: ignore[no-any-return]

    @staticmethod
    def effort(of: Mapping[str, Any]) -> Effort:
        """How long and how often: `seconds`, `quick`, `runs`, `times`."""
        quick = of.get("quick")
        warmup, duration = map(float, of["seconds"])
        return Effort(
            warmup,
            duration,
            (float(quick[0]), float(quick[1])) if quick else None,
            of.get("runs"),
            of.get("times", 1),
        )

    def causes(self) -> Iterator[Point | Elsewhere]:
        """Settings with suspected causes off."""
        for c in self.data.get("causes", ()):
            for v in self.loop({"for": c.get("each", {})}):
                name = filled(c["name"], v)
                if "set" in c:
                    yield Point(name, c["set"])
                    continue
                off, on = {}, {}
                for here in self.loop(c, v):
                    at = self.point(c, c["at"], here)
                    off[at] = self._other(c, c["off"], at, here)
                    if "on" in c:
                        on[at] = self._other(c, c["on"], at, here)
                yield Elsewhere(name, off, on)

    def _other(self, entry: Entry, to: Any, at: str, v: Vars) -> str:
        return (
            self.moved(entry, at, to, v) if isinstance(to, Mapping) else self.point(entry, to, v)
        )

    def silent(self) -> tuple[Silent, ...]:
        """The ledger: each silent choice is an axis, or several, with the points it touches."""
        others: dict[str, tuple[Point, ...]] = {}
        for key, of in self.data.get("silent", {}).items():
            made = []
            for a in of if isinstance(of, list) else [of]:
                for c in self.choices(a):
                    at = c.get("at", a.get("at"))
                    made.append(
                        Point(
                            c["name"],
                            c["set"],
                            tuple(self.points(at)) if at else (),
                            instead=c.get("instead", False),
                        )
                    )
            others[key] = tuple(made)
        return self.texts.silent(others, {})

    # Terms

    def measure(self, entry: object, name: str) -> Callable[[str], Term]:
        """A measure of the file, or of Python: the quantity at a point."""
        known = self.data.get("measures", {})
        if name in known:
            return lambda at: self.at(known[name], at, {})
        if name not in self.python:
            self.fail(entry, "there is no measure", name, (*known, *self.python))
        return self.python[name]  # type: ignore[no-any-return]

    def at(self, spec: Any, point: str, v: Vars) -> Term:
        """A term at a point, if it names none itself."""
        if isinstance(spec, str):
            name, _, at = spec.partition("@")
            return self.measure(spec, filled(name, v))(self.point(spec, at, v) if at else point)
        at = self.point(spec, spec["at"], v) if "at" in spec else point
        found = self._plain(spec, at, v)
        for sign in SIGNS:
            if sign in spec:
                other = self._compared(spec, spec[sign], at, v)
                found = found - other if sign == "less" else found / other
        return found

    term = at

    def _plain(self, spec: Entry, at: str, v: Vars) -> Term:
        if "make" in spec:
            makers = {**self.python, **MAKERS}
            if spec["make"] not in makers:
                self.fail(spec, "there is no function", spec["make"], makers)
            of = spec["of"] if isinstance(spec["of"], list) else [spec["of"]]
            every = [self.at(x, at, here) for here in self.loop(spec, v) for x in of]
            return terms.of_each(every, spec["make"], makers[spec["make"]], spec.get("unit", ""))
        if "of" in spec:
            return self.at(spec["of"], at, v)
        if "own" in spec:
            make = getattr(Singles, spec["as"]) if "as" in spec else Singles.mean
            return terms.own(filled(spec["own"], v), at, make)
        scope = next((s for s in SCOPES if s in spec), "")
        if not scope or "metric" not in spec:
            keys = ("metric and one of " + ", ".join(SCOPES), "own", "of", "make")
            self.fail(spec, "this is no term; it would have", among=keys)
        return terms.value(filled(spec["metric"], v), at, filled(spec[scope], v), scope)

    def _compared(self, spec: Entry, other: Any, at: str, v: Vars) -> Any:
        if isinstance(other, str) and other.startswith("@"):
            return self._plain(spec, self.point(spec, other[1:], v), v)
        if isinstance(other, Mapping) and set(other) <= set(self.places[at]):
            return self._plain(spec, self.moved(spec, at, other, v), v)
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
        if "parts" in part:
            for v in self.loop(part, {**around, **filled(part.get("with", {}), around)}):
                yield from (c for p in part["parts"] for c in self.checks(p, v))
            return
        if not any(k in part for k in KINDS):
            self.fail(part, "a part of a claim has none of", "", KINDS)
        for v in self.loop(part, around):
            if "call" in part:
                made = self.python[part["call"]](*(filled(x, v) for x in part.get("with", ())))
                yield from made if isinstance(made, Iterable) else [made]
            elif "ours" in part:
                yield self.ours(part, v)
            else:
                yield self.check(part, v)

    def check(self, part: Entry, v: Vars, k: float | None = None) -> Check:
        """One part, under a value of our bound."""
        if "either" in part:
            return terms.either(*(self.check(Entry({**part, **p}), v, k) for p in part["either"]))
        text = filled(part.get("text", ""), v)
        if "apart" in part:
            better, worse = (self._of(part, x, v) for x in part["apart"])
            return terms.apart(better, worse, text)
        kind = next(x for x in KINDS if x in part)
        term = self._of(part, part[kind], v)
        if kind == "beside":
            return terms.beside(term, text)
        low, high = self.ends(part, v, k)
        make = terms.trend if kind == "trend" else terms.number
        return make(Bound(term, low, high), text)

    def _of(self, part: Entry, spec: Any, v: Vars) -> Term:
        signs = {k: part[k] for k in SIGNS if k in part}
        if not signs:
            return self.at(spec, "", v)
        whole = Entry({"of": spec, **signs})
        whole.line = part.line
        if isinstance(spec, str):
            name, _, at = spec.partition("@")
            whole |= {"of": name, "at": at}
        return self.at(whole, "", v)

    def ends(self, of: Mapping[str, Any], v: Vars, k: float | None) -> tuple[Any, Any]:
        """The bounds under a value of ours."""

        def end(x: Any) -> float | None:
            if x is None:
                return None
            if not isinstance(x, list):
                return figure(str(filled(x, v)))
            zero, one = (figure(str(filled(y, v))) or 0.0 for y in x)
            return zero + (0.0 if k is None else k) * (one - zero)

        return end(of.get("min")), end(of.get("max"))

    def ours(self, part: Entry, v: Vars) -> Check:
        """A part with a bound that is ours: it knows what it is under the others."""
        known, name = self.data["ours"], filled(part["ours"], v)
        if name not in known:
            self.fail(part, "there is no bound of ours", name, known)
        bound = known[name]
        chosen, others = bound["value"], bound["others"]
        if others == "about":
            others = [x * chosen for x in (0.5, 0.75, 0.9, 1.1, 1.5, 2.0)]
        whole = Entry({**{x: bound[x] for x in ("min", "max") if x in bound}, **part})
        whole.line = part.line
        made: dict[float, tuple[str, Check]] = {}
        for k in sorted((chosen, *others)):
            low, high = self.ends(whole, v, k)
            here = {**v, "v": k, "percent": 100 * k, "low": low, "high": high}
            here["ours"] = bound.get("said", "{v:g}").format_map(here)
            made[k] = here["ours"], self.check(whole, here, k)
        said, _ = made[chosen]
        return bounded(name, said, dict(made.values()))

    # The page

    def columns(self, of: Any, at: Any) -> dict[str, Callable[..., Any]]:
        """Columns of a table: what gives a cell of the row's labels, by heading."""
        found: dict[str, Callable[..., Any]] = {}
        for item in of:
            entry = Entry({item: item}) if isinstance(item, str) else item
            for v in self.loop(entry):
                for head, spec in entry.items():
                    if head != "for":
                        found[filled(head, v)] = self._column(spec, at, v)
        return found

    def _column(self, spec: Any, at: Any, around: Vars) -> Callable[..., Any]:
        def cell(row: Mapping[str, str]) -> Any:
            v = {**around, **row}
            if isinstance(spec, Mapping) and any(
                v[k] in x for k, x in spec.get("not", {}).items()
            ):
                return None
            if isinstance(spec, Mapping) and "stated" in spec:
                [(name, values)] = spec["stated"].items()
                return Quantity(values[row[name]], None, None, spec.get("unit", "ratio"), 1)
            own = (isinstance(spec, str) and "@" in spec) or (
                isinstance(spec, Mapping) and "at" in spec
            )
            return self.at(spec, "" if own else self.point(spec, at, v), v)

        return cell

    def table(self, t: Entry) -> By | Table:
        """A table, whose rows are the product of its axes, or whose cells are given."""
        if "cells" in t:
            rows_of = tuple(tuple(row) for row in t["cells"])
            return Table(t["file"], t["title"], tuple(t["head"]), rows_of, t.get("note", ""))
        rows = {
            head: x if isinstance(x, Mapping) else [str(y) for y in self.values(t, x)]
            for head, x in t["rows"].items()
        }
        at = t.get("at", ", ".join(f"{{{head}}}" for head in rows))
        columns = self.columns(t["columns"], at)
        named = {
            head: (lambda *row, f=f: f(dict(zip(rows, row, strict=True))))
            for head, f in columns.items()
        }
        return By(t["file"], t["title"], rows, named, filled(t.get("note", ""), {}))

    def figure(self, f: Entry, around: Vars, study: Study) -> Curves:
        """A figure of panels."""
        panels = [
            self._panel(p, v, study, f.get("batch", ""))
            for p in f.get("panels", [f])
            for v in ([around] if p is f else self.loop(p, around))
        ]
        size = {"size": tuple(f["size"])} if "size" in f else {}
        shared = f.get("shared", False)
        note, rows = f.get("note", ""), f.get("in rows", 1)
        file, title = filled([f["file"], f["title"]], around)
        return Curves(file, title, panels, note, rows, shared=shared, **size)

    def _panel(self, p: Entry, v: Vars, study: Study, batch: str) -> Panel:
        lines: dict[str, Line] = {}
        for label, spec in p["lines"].items():
            each = spec if isinstance(spec, Entry) else Entry({"of": spec})
            for here in self.loop({"for": each.get("each", {})}, v):
                lines[filled(label, here)] = self._line(each, here, study, batch)
        looks = {k: p[k] for k in ("factor", "legend", "guides", "dots", "shades") if k in p}
        return Panel(
            filled(p["panel"], v) if "panel" in p else "",
            filled(p.get("x", ""), v),
            filled(p["y"], v),
            lines,
            look=lambda axes: axes.set_ylim(*p["range"]) if "range" in p else None,
            **looks,
        )

    def _line(self, spec: Entry, v: Vars, study: Study, batch: str) -> Line:
        """Terms over what `over the axis` loops on, a time series, or what Python gives."""
        if "along" in spec:
            [(name, values)] = spec["along"].items()
            made = {}
            for x in self.values(spec, values):
                here, (name_x, *_) = {**v}, name.split(", ")
                here |= zip(name.split(", "), x if isinstance(x, list) else [x], strict=True)
                made[float(here[name_x])] = self.at(spec["of"], "", here)
            return made
        at = self.point(spec, spec["at"], v)
        if "line" in spec:
            draw = self.python[spec["line"]]
            return lambda _: draw(study.lab.batches[batch], at, *filled(spec.get("with", []), v))
        where, metric, n = spec["series"], spec["metric"], spec.get("bin", 1)
        return lambda _: binned(first_run(study.lab.batches[batch], where, metric, at), n)

    def sections(self, study: Study) -> Iterator[Section]:
        """The page's parts between verdicts and ledger."""
        tables = {t["file"]: self.table(t) for t in self.data.get("tables", ())}
        figures = {
            filled(f["file"], v): (lambda study, f=f, v=v: self.figure(f, v, study))
            for f in self.data.get("figures", ())
            for v in self.loop(f)
        }
        facts = {f"runs of {b.title}": b.effort.protocol(study.lab).runs for b in self.batches}
        facts["runs"] = study.lab.runs

        def shown(entry: Entry, name: str, known: Mapping[str, Any]) -> Any:
            found = known.get(name) or self.python.get(name)
            if found is None:
                self.fail(entry, "there is no table or figure", name, (*known, *self.python))
            return found(study) if callable(found) else found

        for s in self.data.get("sections", ()):
            if "call" in s:
                yield from self.python[s["call"]](study)
                continue
            said = [self.said(x)(study.main) for x in s.get("said", ())]
            yield study.section(
                s["title"],
                "\n\n".join([*([filled(s["text"], facts)] if "text" in s else []), *said]),
                [
                    study.runs() if x == "runs" else shown(s, x, tables)
                    for x in s.get("tables", ())
                ],
                [shown(s, x, figures) for x in s.get("figures", ())],
                s.get("name", ""),
            )

    def said(self, name: str) -> Callable[[Any], str]:
        """The sentences under a heading of the texts."""
        cells = dict(self.python.get("cells", {}))
        for key, of in self.data.get("cells", {}).items():
            cells[key] = of if isinstance(of, str) and "@" not in of else self.at(of, "", {})
        measures = {x: self.measure(name, x) for x in self.data.get("measures", {})}
        also = {k: x for k, x in self.python.items() if callable(x)}
        return self.texts.said(name, {**also, **measures}, **cells)


def filled(of: Any, v: Vars) -> Any:
    """Texts with what stands in braces, also in lists and mappings.

    What is but a name in braces becomes the value itself.

    Example:
        >>> filled({"at": ["{s}, {c}"]}, {"s": "RED", "c": "UBR"})
        {'at': ['RED, UBR']}
    """
    if isinstance(of, str) and "{" in of:
        if of[0] == "{" and of[1:-1] in v:
            return filled(v[of[1:-1]], v)
        return of.format_map(v)
    if isinstance(of, list):
        return [filled(x, v) for x in of]
    if isinstance(of, Mapping):
        return {filled(k, v): filled(x, v) for k, x in of.items()}
    return of


def bounded(name: str, chosen: str, checks: Mapping[str, Check]) -> Check:
    """The part under our bound, which knows what it is under the others."""

    def part(view: Any) -> Part:
        parts = {label: check(view) for label, check in checks.items()}
        return replace(parts[chosen], bound=OurBound(name, chosen, parts))

    return part


def paper(folder: Path, **python: Any) -> Frame:
    """The paper of a folder.

    Args:
        folder: With `paper.yaml`, `paper.md` and `system/`.
        python: What the paper computes itself, by the name by which `paper.yaml` calls it; `own`
            gives what is taken of runs beside metrics, `files` what values refer to.
    """
    d = Declared(folder, python)
    take: dict[str, Any] = d.data.get("take", {})
    watched = [
        Watched(at, filled(w["name"], v), {k: d.at(t, at, v) for k, t in w["shown"].items()})
        for w in d.data.get("watched", ())
        for v in d.loop(w)
        for at in [d.point(w, w["at"], v)]
    ]
    return Frame(
        name=folder.name,
        texts=d.texts,
        system=folder / "system",
        batches=d.batches,
        claims=d.texts.claims(d.claims()),
        silent=d.silent(),
        causes=tuple(d.causes()),
        ledger=tuple(d.points(d.data.get("ledger", ()))),
        watched=watched,
        sections=d.sections if "sections" in d.data else None,
        own=python.get("own"),
        files=python.get("files", {}),
        **take,
    )
