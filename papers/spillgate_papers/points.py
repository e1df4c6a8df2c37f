# ruff: noqa: ANN401
"""The file of a paper: its entries, which know their lines, and the points that it names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from spillgate.errors import InputError
from spillgate_papers.grid import Batch, Value, places
from spillgate_papers.lab import Effort
from spillgate_papers.model import Elsewhere, Point

Vars = Mapping[str, Any]
"""What stands in braces, by name."""

SCOPES = ("class", "dscp", "class-dscp", "queue", "link", "meter", "flow", "switch")
"""Of what a metric is, as in results."""
_TERM = f"at less over make of for unit own as metric {' '.join(SCOPES)}"
_SHOWN = "ledger watched tables bars figures sections"
_PANEL = "panel x y lines factor legend guides dots shades range for"
KEYS = {
    "the file": (
        "batches claims",
        f"take lists points axes causes silent search measures ours cells rivals {_SHOWN}",
    ),
    "what is taken": ("", "scopes metrics flow_metrics series runs quick_runs"),
    "a search": ("", "points waves size climbs best runs seconds at judged also"),
    "a batch": ("title axes seconds", "but quick runs times varied keep note"),
    "an axis": ("", "name points for set values at"),
    "a value of an axis": ("name set", "always for at instead own"),
    "a cause": ("name", "each for at off on set"),
    "a term": ("", _TERM),
    "a part of a claim": (
        "",
        "trend number beside apart either call with parts less over min max ours text for",
    ),
    "a bound of ours": ("value others", "said min max"),
    "a table": ("file", "title rows at columns head cells note"),
    "a column": ("", f"{_TERM} not stated"),
    "a figure": ("file title", f"panels rows size shared note {_PANEL}"),
    "a panel": ("y lines", _PANEL),
    "a line": ("", "each along of line with series metric at bin"),
    "a figure of bars": ("file title metric names", "scope shades"),
    "what is watched": ("name at shown", "for"),
    "rivals": ("at own limit packet seconds", "quick runs more less parameters note"),
    "a section": ("", "title text said tables figures name call"),
}
"""The keys of each kind of entry: those that it must have, and those that it may have."""


class Entry(dict[str, Any]):
    """A mapping of the file that knows where it begins."""

    line = 1


class Word(str):
    """A text of the file that knows where it stands."""

    line = 1


class _Loader(yaml.CSafeLoader):  # type: ignore[misc]
    """YAML 1.2, in which `on` and `off` are words."""


_Loader.yaml_implicit_resolvers = {
    first: [r for r in known if r[0] != "tag:yaml.org,2002:bool" or first in "tTfF"]
    for first, known in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def _entry(loader: Any, node: Any) -> Entry:
    keys = [key.value for key, _ in node.value]
    for i, (key, _) in enumerate(node.value):
        if key.value in keys[:i]:
            problem = f"{key.value!r} stands here twice"
            raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
    found = Entry(loader.construct_mapping(node, deep=True))
    found.line = node.start_mark.line + 1
    return found


def placed(text: str, like: object) -> Word:
    """A text in the place of another."""
    found = Word(text)
    found.line = getattr(like, "line", 1)
    return found


def _word(loader: Any, node: Any) -> Word:
    found = Word(loader.construct_scalar(node))
    found.line = node.start_mark.line + 1
    return found


_Loader.add_constructor("tag:yaml.org,2002:map", _entry)
_Loader.add_constructor("tag:yaml.org,2002:str", _word)


def filled(of: Any, v: Vars) -> Any:
    """Texts with what stands in braces, also in lists and mappings.

    What is but a name in braces becomes the value itself.

    Example:
        >>> filled({"at": ["{s}, {c}"], "n": "{n}"}, {"s": "RED", "c": "UBR", "n": 3})
        {'at': ['RED, UBR'], 'n': 3}
    """
    if isinstance(of, str) and "{" in of:
        return filled(v[of[1:-1]], v) if of[0] == "{" and of[1:-1] in v else of.format_map(v)
    if isinstance(of, list):
        return [filled(x, v) for x in of]
    if isinstance(of, Mapping):
        return {filled(k, v): filled(x, v) for k, x in of.items()}
    return of


class Points:
    """The file of a paper, with the points that it names.

    Attributes:
        path: The file.
        data: What it says.
        python: What the paper computes itself, by name.
        batches: What is run.
        places: The coordinates of each point that is run, by name.
    """

    def __init__(self, path: Path, python: Mapping[str, Any]) -> None:
        """Reads the file; raises `InputError` with the line of what is wrong."""
        self.path, self.python = path, python
        try:
            data = yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506
        except yaml.MarkedYAMLError as e:
            line = e.problem_mark.line + 1 if e.problem_mark else 1
            msg = f"error: {path}:{line}: {e.problem}"
            raise InputError(msg) from None
        self.data = self.known("the file", data)
        self.data["lists"] = {**self.data.get("lists", {}), **python.get("lists", {})}
        self.data["axes"] = [*self.data.get("axes", ()), *python.get("axes", ())]
        self.batches = [*python.get("batches", ()), *map(self._batch, self.data["batches"])]
        self.places = {name: v.at for b in self.batches for name, v in b.places.items()}

    def fail(self, entry: object, what: str, name: object = "", among: Iterable[str] = ()) -> Any:
        """Raises an error with the line, what was found, and what would be valid."""
        there = list(among)
        near = difflib.get_close_matches(str(name), there, 3, 0.5) or there[:9]
        hint = f"; there are {', '.join(near)}" if near else ""
        found = f" {str(name)!r}" if name != "" else ""
        msg = f"error: {self.path}:{getattr(entry, 'line', 1)}: {what}{found}{hint}"
        raise InputError(msg)

    def known(self, kind: str, entry: Any) -> Any:
        """The entry, if it has the keys that such a one must have, and none that it cannot."""
        must, may = (x.split() for x in KEYS[kind])
        if not isinstance(entry, Mapping):
            self.fail(entry, f"{kind} is a mapping, not", entry)
        for key in entry:
            if key not in (*must, *may):
                self.fail(key, f"{kind} has no key", key, (*must, *may))
        for key in must:
            if key not in entry:
                self.fail(entry, f"{kind} lacks", key)
        return entry

    def fill(self, of: Any, v: Vars) -> Any:
        """Texts with what stands in braces."""
        try:
            return filled(of, v)
        except KeyError as e:
            return self.fail(of, "nothing is called", e.args[0], v)

    def values(self, of: Any) -> list[Any]:
        """The values of a list, of an axis, or those that are given."""
        if not isinstance(of, str):
            return list(of)
        if of in self.data["lists"]:
            return list(self.data["lists"][of])
        return [v["name"] for v in self.choices(self.axis(of))]

    def loop(self, entry: Mapping[str, Any], around: Vars | None = None) -> Iterator[Vars]:
        """What stands in braces in an entry, each time that it is made."""
        of = entry.get("for", {})
        if not isinstance(of, Mapping):
            of = {name: name for name in ([of] if isinstance(of, str) else of)}
        here = dict(around or {})
        named = (self.fill(x, here) if isinstance(x, str) else x for x in of.values())
        for found in product(*map(self.values, named)):
            here = dict(around or {})
            for names, value in zip(of, found, strict=True):
                parts = names.split(", ")
                here |= zip(parts, [value] if len(parts) == 1 else value, strict=True)
            yield here

    def points(self, of: Any, around: Vars | None = None) -> list[str]:
        """Names of points: of one, of a list of such, of a named list, or of a batch."""
        if isinstance(of, str):
            batch = next((b for b in self.batches if b.title == of), None)
            if batch:
                return list(batch.places)
            if of in self.data.get("points", {}):
                return self.points(self.data["points"][of], around)
            return [self.point(of, around or {})]
        if isinstance(of, Mapping):
            return [p for v in self.loop(of, around) for p in self.points(of["at"], v)]
        return [p for x in of for p in self.points(x, around)]

    def point(self, at: Any, around: Vars) -> str:
        """The name of a point; of several the first that is run. Empty values are left out."""
        tried = [self.fill(x, around) for x in ([at] if isinstance(at, str) else at)]
        names = [", ".join(p for p in x.split(", ") if p) for x in tried]
        found = next((name for name in names if name in self.places), None)
        return found or str(self.fail(at, "there is no point", names[0], self.places))

    def moved(self, point: str, to: Any, around: Vars) -> str:
        """A point: by name, or the given one at other coordinates."""
        if not isinstance(to, Mapping):
            return self.point(to, around)
        name = ", ".join({**self.places[point], **self.fill(to, around)}.values())
        return name if name in self.places else str(self.fail(to, "there is no point", name))

    # What is run

    def axis(self, name: str) -> Entry:
        """An axis by its name."""
        found = {a.get("name"): a for a in self.data["axes"]}
        if name not in found:
            self.fail(name, "there is no list and no axis", name, (*self.data["lists"], *found))
        return found[name]  # type: ignore[no-any-return]

    def choices(self, axis: Entry) -> list[dict[str, Any]]:
        """The values of an axis, written as in scenarios; `for` may repeat one, or a path."""
        self.known("an axis", axis)
        if "points" not in axis:
            given = [axis["set"]] if isinstance(axis["set"], str) else axis["set"]
            paths = [self.fill(path, v) for v in self.loop(axis) for path in given]
            return [{"name": str(v), "set": dict.fromkeys(paths, v)} for v in axis["values"]]
        every = []
        for p in axis["points"]:
            self.known("a value of an axis", p)
            for v in self.loop(p):
                found = self.fill({k: x for k, x in p.items() if k != "for"}, v)
                of = found["set"] if isinstance(found["set"], list) else [found["set"]]
                found["set"] = {path: value for part in of for path, value in part.items()}
                every.append(found)
        return every

    def _batch(self, b: Entry) -> Batch:
        self.known("a batch", b)
        unlike = b.get("but", {}).items()
        every = places(**dict(self._axis(a) for a in b["axes"])).items()
        wanted = {k: v for k, v in every if not unlike or not unlike <= v.at.items()}
        effort, varied = effort_of(b), b.get("varied")
        if isinstance(varied, dict):
            varied = effort_of({**b, "times": 1, **varied})
        elif varied:
            varied = effort
        kept, note = b.get("keep", False), b.get("note", "")
        return Batch(b["title"], wanted, effort, varied or None, keep=kept, note=note)

    def _axis(self, a: Any) -> tuple[str, dict[str, Value]]:
        """An axis of a batch: by name, some of its values, several as one, or one of its own."""
        if isinstance(a, list):
            parts = [self._axis(x) for x in a]
            return parts[0][0], {k: v for _, of in parts for k, v in of.items()}
        if isinstance(a, Entry) and "name" in a:
            name, every = a["name"], self.choices(a)
        elif isinstance(a, Entry):
            [(name, some)] = a.items()
            kept = self.values(some)
            every = [c for c in self.choices(self.axis(name)) if c["name"] in kept]
        else:
            name, every = a, self.choices(self.axis(a))
        return name, {c["name"]: Value(c["set"], c.get("always", {})) for c in every}

    def causes(self) -> Iterator[Point | Elsewhere]:
        """Settings with suspected causes off."""
        for c in self.data.get("causes", ()):
            self.known("a cause", c)
            for v in self.loop({"for": c.get("each", {})}):
                name = self.fill(c["name"], v)
                if "set" in c:
                    yield Point(name, c["set"])
                    continue
                every = [(self.point(c["at"], here), here) for here in self.loop(c, v)]
                off, on = (
                    {at: self.moved(at, c[k], here) for at, here in every if k in c}
                    for k in ("off", "on")
                )
                yield Elsewhere(name, off, on)

    def choices_of(self, axes: Any) -> tuple[Point, ...]:
        """The other choices of a silent one: the values of an axis, or of several."""
        return tuple(
            Point(
                str(c["name"]),
                c["set"],
                tuple(self.points(at)) if (at := c.get("at", a.get("at"))) else (),
                instead=c.get("instead", False),
                own={p: v for at, v in c.get("own", {}).items() for p in self.points(at)},
            )
            for a in (axes if isinstance(axes, list) else [axes])
            for c in self.choices(a)
        )


def effort_of(of: Mapping[str, Any]) -> Effort:
    """How long and how often: `seconds`, `quick`, `runs`, `times`."""
    warmup, duration = map(float, of["seconds"])
    quick = (float(of["quick"][0]), float(of["quick"][1])) if "quick" in of else None
    return Effort(warmup, duration, quick, of.get("runs", 0), of.get("times", 1))
