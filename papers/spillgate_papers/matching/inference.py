"""The search for what a paper assumed: its runs, and what the page says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from spillgate.errors import InputError
from spillgate_papers.grid import under
from spillgate_papers.judge import outcome
from spillgate_papers.lab import Effort
from spillgate_papers.matching import draw
from spillgate_papers.matching.plan import Plan
from spillgate_papers.matching.scores import Floats, Margins, by_run, excluded, plausible
from spillgate_papers.matching.shares import Shares, shares
from spillgate_papers.matching.space import Levels, Space
from spillgate_papers.matching.waves import PEAKS, Matched, match
from spillgate_papers.measured import View
from spillgate_papers.model import Cell, Part, Point, Section, Table
from spillgate_papers.study import Study

TOGETHER = 16
"""How many sets are run at once."""

FEW = 8
"""From fewer points no shares are computed."""

SHOWN = 10
"""How many of the best sets the page shows."""


class Inference:
    """A search in the silent choices of a paper."""

    def __init__(self, study: Study, plan: Plan) -> None:
        """Takes the paper and how much is run; nothing is run yet."""
        self.study = study
        self.plan = plan.quick() if study.lab.quick else plan
        self.space = Space.of(plan.ranges(study.paper.silent))
        paper = study.paper
        places = self.plan.places or set(paper.ledger)
        # Those that are varied in runs of their own, and what is run of each.
        self.varied = [
            (b.varied or b.effort, [x for x in b.places if not places or x in places])
            for b in paper.compared
        ]
        self.places = {x: v for b in paper.compared for x, v in b.places.items()}
        self.claims = [c.id for c in study.paper.claims]

    def run(self) -> tuple[dict[str, Point], tuple[Section, ...], dict[str, Any]]:
        """Searches: the best set, what the page says, and the same as a document."""
        seed, plan = self.study.lab.seed, self.plan
        crossed = self.space.crossed(plan.points, seed)
        flat = crossed.reshape(-1, crossed.shape[2])
        found = match(
            self.space,
            self.claims,
            self._brief,
            flat,
            waves=plan.waves,
            size=plan.size,
            climbs=plan.climbs,
            seed=seed,
        )
        judged = {c for of in found.margins if of for c, parts in of.items() if parts}
        found.claims = [c for c in self.claims if c in judged]
        best = self._best(found)
        explained = self._shares(found, crossed)
        pairs = excluded(found.scores, found.claims)
        tables = [self._waves(found), self._sets(found), self._pairs(pairs, len(found.sets))]
        text, pictures = self._said(found, pairs), []
        if explained:
            tables.append(self._explained(found, explained))
            pictures.append(draw.shares(self.space, found.claims, explained))
        shown = tuple(tables), tuple(pictures)
        section = Section("What the paper may have assumed", text, *shown, "search")
        return (
            self.space.choices(best),
            (section,),
            self._document(found, explained, pairs, best),
        )

    # Runs

    def _briefly(self, varied: Effort) -> Effort:
        """How a set is run in the waves."""
        warmup, duration = min(
            self.plan.seconds or (np.inf, np.inf), (varied.warmup, varied.duration), key=sum
        )
        return replace(varied, warmup=warmup, duration=duration, runs=self.plan.runs)

    def _views(
        self, title: str, sets: Sequence[Sequence[Point]], *, brief: bool
    ) -> list[View | None]:
        """What sets give; none for those that cannot be run."""
        paper = self.study.paper
        known = sum(len(b.places) for b in paper.batches)
        partial = sum(len(places) for _, places in self.varied) < known
        found: list[dict[str, Any]] = [{} for _ in sets]
        try:
            for varied, places in self.varied:
                effort = self._briefly(varied) if brief else varied
                wanted = {
                    f"{i}: {x}": under(self.places, x, points)
                    for i, points in enumerate(sets)
                    for x in places
                }
                taken = self.study.taken(title, wanted, effort, paper.metrics)
                for i, of in enumerate(found):
                    of |= {x: taken[f"{i}: {x}"] for x in places}
        except InputError:
            if len(sets) == 1:
                return [None]
            half = len(sets) // 2
            return [
                *self._views(title, sets[:half], brief=brief),
                *self._views(title, sets[half:], brief=brief),
            ]
        return [View(of, partial) for of in found]

    def _points(self, of: Sequence[int]) -> list[Point]:
        return list(self.space.choices(of).values())

    def _brief(self, title: str, sets: Levels) -> list[Margins | None]:
        """By how much the parts of the claims hold in sets that are run briefly."""
        made: list[Margins | None] = []
        for start in range(0, len(sets), TOGETHER):
            some = [self._points(of) for of in sets[start : start + TOGETHER].tolist()]
            said = f"The space of silent choices, {title}, {start} of {len(sets)} sets"
            views = self._views(said, some, brief=True)
            made.extend(None if v is None else self._margins(v) for v in views)
        return made

    def _margins(self, view: View) -> Margins:
        tested = {c.id: c.test(view) for c in self.study.paper.claims}
        return {
            name: [p.margins for p in parts if p.kind != "beside"]
            for name, parts in tested.items()
        }

    def _best(self, found: Matched) -> list[int]:
        """The set under which most claims hold, run as often as the ledger, least changed."""
        tried: dict[tuple[int, ...], tuple[int, float]] = {}

        def value(of: Sequence[int]) -> tuple[int, float]:
            if tuple(of) not in tried:
                title = "The best sets of silent choices"
                [view] = self._views(title, [self._points(of)], brief=False)
                tried[tuple(of)] = (0, 0.0) if view is None else self._value(view)
            return tried[tuple(of)]

        few = found.ranking()[: self.plan.best]
        first: list[list[int]] = [found.sets[i].tolist() for i in few]
        best = max(first, key=value)
        for k in range(len(best)):
            plainer = [*best[:k], 0, *best[k + 1 :]]
            if best[k] and value(plainer)[0] >= value(best)[0]:
                best = plainer
        return best

    def _value(self, view: View) -> tuple[int, float]:
        """How many claims are reproduced, then how many parts of all claims hold."""
        tested: list[Sequence[Part]] = [c.test(view) for c in self.study.paper.claims]
        held = [p.holds for parts in tested for p in parts if p.kind != "beside"]
        count = sum(outcome(parts) == "reproduced" for parts in tested if parts)
        return count, sum(held) / max(1, len(held))

    def _shares(self, found: Matched, crossed: Levels) -> dict[str, Shares | None]:
        """What decides about each claim; nothing where too few points tell."""
        if self.plan.points < FEW:
            return {}
        known = {tuple(of): i for i, of in enumerate(found.sets.tolist())}
        rows = [known[tuple(of)] for of in crossed.reshape(-1, crossed.shape[2]).tolist()]
        alone = by_run(found.margins, found.claims)
        shape = (*crossed.shape[:2], alone.shape[2])
        seed = self.study.lab.seed
        return {c: shares(alone[rows, j].reshape(shape), seed) for j, c in enumerate(found.claims)}

    # What the page says

    def _said(self, found: Matched, pairs: Sequence[object]) -> str:
        """What was run, and what is left."""
        last = found.waves[-1]
        impossible = sum(of is None for of in found.margins)
        cannot = f" {impossible} of them cannot be run." if impossible else ""
        unjudged = [c for c in self.claims if c not in found.claims]
        need = f" Not matched, since they need other points: {', '.join(unjudged)}."
        others = need if unjudged else ""
        alone = "" if pairs else " No two claims exclude each other."
        length = max(self._briefly(varied).duration for varied, _ in self.varied)
        return (
            f"{len(self.space.axes)} silent choices make {self.space.size:,} sets. "
            f"{len(found.sets)} of them were run {self.plan.runs} times for up to {length:g} s at "
            f"each point of the ledger.{cannot} Up to {last.most} of {len(found.claims)} claims "
            f"may hold together in one of them. In {100 * last.left:.2g} % of the space as many "
            f"may still hold, by an emulator.{alone}{others}"
        )

    def _waves(self, found: Matched) -> Table:
        may = plausible(found.scores).sum(axis=1)
        rows: list[tuple[Cell, ...]] = [
            (f"wave {i}", str(w.sets), str(w.most), f"{100 * w.left:.3g} %")
            for i, w in enumerate(found.waves, 1)
        ]
        rows += [
            (f"climb {i}", str(n), str(may[:n].max()), "") for i, n in enumerate(found.climbs, 1)
        ]
        return Table(
            "waves",
            "Waves",
            ("", "sets run", "claims that may hold together", "space left"),
            tuple(rows),
            "A claim may hold where none of its parts is more than three standard errors of the "
            "simulation away from holding. Space left: the share of sets in which the emulator "
            "does not rule out that as many claims may hold together. A round of the climb runs "
            f"all sets that differ in one choice from the best {PEAKS}.",
        )

    def _sets(self, found: Matched) -> Table:
        z = found.scores
        rows: list[tuple[Cell, ...]] = []
        for place, i in enumerate([found.ranking()[k] for k in range(min(SHOWN, len(z)))], 1):
            hold = [c for c, of in zip(found.claims, z[i], strict=True) if of > 0]
            said = self.space.said(found.sets[i].tolist())
            rows.append((str(place), str(len(hold)), ", ".join(hold), said))
        ours = [c for c, of in zip(found.claims, z[0], strict=True) if of > 0]
        rows.append(("", str(len(ours)), ", ".join(ours), "as chosen"))
        return Table(
            "sets",
            "Sets under which most claims hold together",
            ("", "claims", "which", "choices that are not ours"),
            tuple(rows),
            "Ordered by the number of claims that are expected to hold, given the noise of brief "
            "runs, then by the number of choices that are not ours.",
        )

    def _pairs(self, pairs: Sequence[tuple[str, str, int, int]], sets: int) -> Table:
        return Table(
            "pairs",
            "Claims that exclude each other",
            ("claim", "may hold in", "claim", "may hold in"),
            tuple((a, f"{n} sets", b, f"{m} sets") for a, b, n, m in pairs),
            f"In none of {sets} sets may both hold. Pairs are left out that would miss each other "
            "by chance with a probability above 1 % for all pairs together.",
        )

    def _explained(self, found: Matched, explained: Mapping[str, Shares | None]) -> Table:
        rows: list[tuple[Cell, ...]] = []
        for c in found.claims:
            of = explained[c]
            if of is None:
                rows.append((c, "", "", "", "the same everywhere"))
                continue
            order = [k for k in np.argsort(-of.total) if of.total[k] >= 0.1][:3]
            for row, k in enumerate(order):
                first = _share(of.first[k], of.first_within[:, k])
                total = _share(of.total[k], of.total_within[:, k])
                noise = f"{100 * of.noise:.0f} %" if not row else ""
                rows.append((c if not row else "", self.space.axes[k].key, first, total, noise))
        n = self.plan.points
        return Table(
            "shares",
            "What decides about claims",
            ("claim", "silent choice", "alone", "with others", "noise"),
            tuple(rows),
            "Shares of the variance of a claim's score that a choice explains alone, and with "
            f"all others (first-order and total Sobol' indices from {n} points; 95 % intervals by "
            "drawing points and seeds anew). The largest three from 10 % on. Noise: the share "
            "that is the simulation's own.",
        )

    def _document(
        self,
        found: Matched,
        explained: Mapping[str, Shares | None],
        pairs: Sequence[tuple[str, str, int, int]],
        best: Sequence[int],
    ) -> dict[str, Any]:
        keys = [a.key for a in self.space.axes]

        def listed(of: Shares | None) -> dict[str, Any] | None:
            if of is None:
                return None
            first, total = (
                dict(zip(keys, v.round(4).tolist(), strict=True)) for v in (of.first, of.total)
            )
            return {"first": first, "total": total, "noise": round(of.noise, 4)}

        may = plausible(found.scores)
        return {
            "sets": self.space.size,
            "axes": {a.key: list(a.labels) for a in self.space.axes},
            "waves": [
                {"sets": w.sets, "claims": w.most, "left": round(w.left, 6)} for w in found.waves
            ],
            "climbs": found.climbs,
            "best": {k: p.label for k, p in self.space.choices(best).items()},
            "ranking": [
                {
                    "set": {k: p.label for k, p in self.space.choices(of.tolist()).items()},
                    "may_hold": [c for c, m in zip(found.claims, row, strict=True) if m],
                }
                for of, row in ((found.sets[i], may[i]) for i in found.ranking()[:SHOWN])
            ],
            "excluded": [[a, b] for a, b, *_ in pairs],
            "shares": {c: listed(of) for c, of in explained.items()},
        }


def _share(value: float, within: Floats) -> str:
    low, high = within.tolist()
    return f"{100 * value:.0f} % ({100 * low:.0f} to {100 * high:.0f})"
