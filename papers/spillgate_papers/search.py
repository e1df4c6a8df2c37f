"""Searches what a paper leaves silent for the choices under which most claims hold together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING

from spillgate_papers.grid import under
from spillgate_papers.judge import outcome
from spillgate_papers.lab import Effort
from spillgate_papers.measured import View
from spillgate_papers.model import OUTCOME_MARKS, Cell, Outcome, Point, Section, Table

if TYPE_CHECKING:
    from spillgate_papers.study import Study

Set = tuple[Point, ...]
"""A choice on each axis."""


@dataclass(frozen=True)
class Search:
    """The product of silent choices.

    Attributes:
        axes: The choices by what they are about, the one made beforehand first.
        brief: How long and how often each set is run.
        confirm: How long and how often the best set is run.
        quick: Which labels of an axis do with `--quick`; all of those that are not named.
        note: What to know of the choices.
    """

    axes: Mapping[str, Sequence[Point]]
    brief: Effort
    confirm: Effort
    quick: Mapping[str, Sequence[str]] = field(default_factory=dict)
    note: str = ""

    def sets(self, *, quick: bool) -> list[Set]:
        """Every set of choices, the one made beforehand first."""
        few = self.quick if quick else {}
        of_axes = (
            [p for p in points if p.label in few.get(axis, (p.label,))]
            for axis, points in self.axes.items()
        )
        return list(product(*of_axes))

    def views(self, study: Study, title: str, sets: Sequence[Set], effort: Effort) -> list[View]:
        """What each set gives at the points at which the paper's choices are varied."""
        every = {x: v for b in study.paper.batches for x, v in b.places.items()}
        places = study.paper.ledger or list(every)
        names = [{x: f"{i}: {x}" for x in places} for i in range(len(sets))]
        wanted = {
            name: under(every, x, chosen)
            for chosen, named in zip(sets, names, strict=True)
            for x, name in named.items()
        }
        found = study.taken(title, wanted, effort, study.paper.metrics)
        return [View({x: found[name] for x, name in named.items()}) for named in names]

    def changed(self, chosen: Set) -> int:
        """How many choices are others than those made beforehand."""
        return sum(p is not axis[0] for p, axis in zip(chosen, self.axes.values(), strict=True))

    def section(self, study: Study) -> Section:
        """Searches, runs the best set as often as the claims, and shows it beside the base."""
        claims = study.paper.claims
        sets = self.sets(quick=study.lab.quick)
        views = self.views(study, "The space of silent choices", sets, self.brief)
        found = [
            (chosen, {c.id: outcome(c.test(v)) for c in claims})
            for chosen, v in zip(sets, views, strict=True)
        ]
        found.sort(key=self._order)
        best, _ = found[0]
        [view] = self.views(study, "The best set of silent choices", [best], self.confirm)
        tested = [c.test(view) for c in claims]
        verdicts = [outcome(parts) for parts in tested]
        rows: list[tuple[Cell, ...]] = [
            (
                j.claim.id,
                j.claim.statement,
                OUTCOME_MARKS[j.verdict],
                j.ours,
                OUTCOME_MARKS[v],
                parts[0].quantity,
            )
            for j, v, parts in zip(study.claims, verdicts, tested, strict=True)
        ]
        of_base = sum(j.verdict == "reproduced" for j in study.claims)
        confirm = self.confirm.of(study.lab)
        said = "; ".join(f"{axis}: {p.label}" for axis, p in zip(self.axes, best, strict=True))
        text = (
            f"The choices of the base were made before the runs. Of {len(sets)} sets of choices "
            f"that the paper leaves silent, most claims hold together with {said}. It is "
            f"{confirm.runs} times run for {confirm.duration:g} s, and reproduces "
            f"{verdicts.count('reproduced')} of {len(claims)} claims, the base {of_base}."
        )
        together = Table(
            "together",
            "The base, and the set of silent choices under which most claims hold together",
            ("id", "the paper says", "base", "ours", "best set", "ours"),
            tuple(rows),
        )
        tables = (together, self._by_first(found, self.brief.of(study.lab).runs))
        return Section("Silent choices together", text, tables, (), "search")

    def _order(self, item: tuple[Set, Mapping[str, Outcome]]) -> tuple[int, int, int]:
        """The best first: most claims reproduced, then most in shape, then fewest changes."""
        chosen, verdicts = item
        counts = list(verdicts.values())
        return (
            -counts.count("reproduced"),
            -counts.count("shape_only"),
            self.changed(chosen),
        )

    def _by_first(self, found: Sequence[tuple[Set, Mapping[str, Outcome]]], runs: int) -> Table:
        """The best set of each choice on the first axis."""
        axis, *_ = self.axes
        rows: list[tuple[Cell, ...]] = []
        for first in self.axes[axis]:
            best = next((x for x in found if x[0][0] is first), None)
            if best:
                holds = [k for k, v in best[1].items() if v == "reproduced"]
                labels = (p.label for p in best[0])
                rows.append((*labels, str(len(holds)), ", ".join(holds)))
        return Table(
            "search",
            f"The best set by {axis}",
            (*self.axes, "reproduced", "which"),
            tuple(rows),
            f"{runs} runs of each set. {self.note}".rstrip(),
        )
