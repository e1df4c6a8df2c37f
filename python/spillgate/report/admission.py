"""Links with flow admission: how long flows waited, and who was admitted when."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spillgate.metrics import format_value
from spillgate.report.figure import Figure
from spillgate.report.svg import STYLES, Axis, Line, Panel
from spillgate.result import Results
from spillgate.rows import Admission
from spillgate.tables import Table

MOST_PANELS = 12
"""Links and variants that have charts of their own."""

_POINTS = 20_000

Point = tuple[float, float]


def admission_figures(results: Results) -> list[Figure]:
    """How many flows had come and how many were admitted, over the first run, link by link."""
    first = min((r.run for r in results.runs), default=0)
    found = [a for a in results.admission() if a.run == first and a.direction == "data"]
    if not found:
        return []
    places = list(dict.fromkeys((a.variant, a.link) for a in found))
    left_out = len(places) - MOST_PANELS
    places = places[:MOST_PANELS]
    classes = [c for c in results.description.classes if any(a.cls == c for a in found)][:STYLES]
    style = {c: i for i, c in enumerate(classes)}
    several = len({variant for variant, _ in places}) > 1
    room = _POINTS // (2 * len(places) * max(1, len(classes)))
    panels = []
    for variant, link in places:
        mine = [a for a in found if (a.variant, a.link) == (variant, link)]
        title = f"{variant}: {link}" if several else link
        panels.append(_panel(results, title, mine, style, room))
    caption = (
        "Flows whose first packet had come to the link, broad and pale, and those of them that "
        "had been admitted. Upright between the curves: flows that wait; level: how long."
    )
    if left_out > 0:
        caption += f" {left_out} more are in admission.csv."
    notes = [("average", "flows that have come")]
    if results.description.warmup > 0:
        notes.append(("span", "warm-up, not counted"))
    if results.description.failures:
        notes.append(("span down", "a link is down"))
    return [
        Figure(
            id="admitted",
            title="Who was admitted when",
            caption=caption,
            panels=panels,
            legend=list(style.items()),
            table=_listing(found),
            group="time",
            notes=notes,
        )
    ]


def _panel(
    results: Results, title: str, found: Sequence[Admission], style: dict[str, int], room: int
) -> Panel:
    d = results.description
    end = d.warmup + d.duration
    lines = []
    for cls, number in style.items():
        mine = [a for a in found if a.cls == cls]
        if not mine:
            continue
        offered = _steps((a.offered_s for a in mine), end, room)
        admitted = _steps((a.admitted_s for a in mine if a.admitted_s is not None), end, room)
        lines.append(Line(f"{cls}, come", number, offered, average_of=cls))
        lines.append(Line(cls, number, admitted))
    most = max(sum(a.cls == c for a in found) for c in style)
    waiting = sum(a.admitted_s is None for a in found)
    longest = max(found, key=lambda a: a.waiting_s)
    return Panel(
        title=title,
        x=Axis(0.0, end, "time", "s"),
        y=Axis(0.0, 1.05 * most, "flows", ""),
        lines=lines,
        spans=_spans(results),
        summary=(
            f"{len(found)} flows, {waiting} of them never admitted; "
            f"{longest.flow} waited longest, {format_value(longest.waiting_s, 's')}"
        ),
    )


def _spans(results: Results) -> list[tuple[float, float, str]]:
    warmup = results.description.warmup
    spans = [(0.0, warmup, "warm-up, not counted")] if warmup > 0 else []
    return spans + results.description.outages()


def _steps(instants: Iterable[float], end: float, room: int) -> list[Point | None]:
    """The number of instants so far, as a staircase of at most about `room` points."""
    ordered = sorted(t for t in instants if t <= end)
    every = max(1, -(-2 * len(ordered) // max(2, room)))
    points: list[Point | None] = [(0.0, 0.0)]
    before = 0
    for n, t in enumerate(ordered, start=1):
        if n % every == 0 or n == len(ordered):
            points += [(t, float(before)), (t, float(n))]
            before = n
    points.append((end, float(before)))
    return points


def _listing(found: Sequence[Admission]) -> Table:
    rows = []
    for a in sorted(found, key=lambda a: -a.waiting_s)[:100]:
        admitted = "never" if a.admitted_s is None else f"{a.admitted_s:.3f} s"
        waited = format_value(a.waiting_s, "s")
        rows.append([a.variant, a.link, a.flow, f"{a.offered_s:.3f} s", admitted, waited])
    head = ["variant", "link", "flow (100 that waited longest)", "came", "admitted", "waited"]
    return Table(head, rows)
