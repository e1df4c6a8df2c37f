"""Rivals: the kinds of queueing that a paper does not use, all of them or those of today."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from spillgate import _engine
from spillgate.mechanisms import AQMS, DISCIPLINES, Mechanism, mechanism
from spillgate_papers.grid import under
from spillgate_papers.lab import Effort, Settings
from spillgate_papers.measured import Measured, PerRun, View, rounded
from spillgate_papers.model import RIVALS, Cell, Quantity, Section, Table
from spillgate_papers.terms import Term

if TYPE_CHECKING:
    from spillgate_papers.study import Study

KINDS = ("fifo", "codel", "pie", "fq-codel", "cake")
"""What stands beside a paper's mechanisms; not DualPI2, since no paper has scalable senders."""
LEVEL = 0.95
"""With which the intervals of all differences of a paper hold together."""


def rivals(own: Collection[str], link: str) -> dict[str, Settings]:
    """Each other discipline and AQM with its defaults at a link, by name, as an axis.

    An AQM stands in a FIFO of 1000 packets.

    Args:
        own: The kinds that the paper uses.
        link: The path of the link.
    """
    whole = (k for k in DISCIPLINES if k not in own)
    policies = {k: mechanism(k, rate_bps=None, ecn=None).policy for k in whole}
    for k in AQMS:
        if k not in own:
            held = mechanism(k, rate_bps=None, ecn=None, limit=1000)
            policies[f"fifo with {k}"] = held.policy
    return {name: instead(policy, [f"{link}.policy"]) for name, policy in policies.items()}


def instead(policy: object, at: Sequence[str]) -> dict[str, object]:
    """A policy at the links of these paths."""
    return {"policies.RIVAL": policy, **dict.fromkeys(at, "RIVAL")}


@dataclass(frozen=True)
class Modern:
    """A paper's mechanisms beside those of today: same traffic, seeds and buffer.

    Attributes:
        at: Paths of the policies that are replaced.
        own: The paper's mechanisms, by what the page calls them: points of its grid. The others
            are run in the setting of the first.
        limit: Packets that each of the others holds.
        packet: Bytes of a full packet: what limits bytes holds so many of these.
        effort: How long, and how often.
        more: What is better the larger it is, by heading: a term from a point.
        less: What is better the smaller it is.
        parameters: Parameters of the others that are not the defaults of their kind.
        scopes: What the terms need of results beside what the claims do.
        note: What to know, below the table.
    """

    at: Sequence[str]
    own: Mapping[str, str]
    limit: int
    packet: int
    effort: Effort
    more: Mapping[str, Callable[[str], Term]]
    less: Mapping[str, Callable[[str], Term]]
    parameters: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    scopes: Sequence[str] = ()
    note: str = ""

    def others(self) -> dict[str, Settings]:
        """What replaces the paper's mechanism, by kind."""

        def made(kind: str) -> Mechanism:
            return mechanism(
                kind,
                rate_bps=None,
                ecn=None,
                limit=self.limit,
                packet=self.packet,
                parameters=self.parameters.get(kind),
            )

        return {kind: instead(made(kind).policy, self.at) for kind in KINDS}

    def cases(self, study: Study) -> dict[str, Settings]:
        """What each mechanism replaces in the paper's scenario, the paper's own first."""
        every = {x: v for b in study.paper.batches for x, v in b.places.items()}
        own = {name: under(every, x, ()) for name, x in self.own.items()}
        first, *_ = own.values()
        return {**own, **{name: {**first, **of} for name, of in self.others().items()}}

    def section(self, study: Study) -> Section:
        """Runs all mechanisms, and says who is ahead in what."""
        paper, lab = study.paper, study.lab
        cases, effort = self.cases(study), self.effort.of(lab)
        results = lab.run("Modern rivals", cases, effort, series=paper.series)
        scopes = tuple(dict.fromkeys((*paper.scopes, *self.scopes)))
        m = Measured(results, scopes, None, paper.flow_metrics, paper.own)
        view = View({name: (m, name) for name in cases})
        values = {
            head: {name: term(name).take(view) for name in cases}
            for head, term in {**self.more, **self.less}.items()
        }
        rows = tuple(
            (name, *(_cell(of[name]) for of in values.values())) for name in view.variants
        )
        table = Table(RIVALS, "Modern rivals", ("mechanism", *values), rows, self.note)
        return Section("Modern rivals", self._said(values, effort), (table,), (), RIVALS)

    def _said(self, values: Mapping[str, Mapping[str, PerRun]], effort: Effort) -> str:
        """How it was run, and who is ahead, in sentences."""
        others = self.others()
        how = (
            f"The paper's own are {', '.join(self.own)}. Each of the others holds {self.limit} "
            f"packets and has the defaults of its kind{self._but(others)}. DualPI2 is left out, "
            f"because no sender is scalable. {effort.runs} runs each, measured from "
            f"{effort.warmup:g} to {effort.warmup + effort.duration:g} s, have the same seeds."
        )
        said = [how]
        pairs = len(self.own) * len(others) * len(values)
        ahead = [a for head, of in values.items() for a in self._ahead(head, of, pairs)]
        for who, words in (
            ("other", "Another mechanism is ahead of the paper's best in"),
            ("own", "The paper's best is ahead of all others in"),
            ("", "The interval of the difference contains zero for"),
        ):
            if of := [text for winner, text in ahead if winner == who]:
                said.append(f"{words} {'; '.join(of)}.")
        level = f"{LEVEL:.0%}".replace("%", " %")
        said.append(
            f"Differences are formed run by run. Their intervals hold together with {level} "
            "(Bonferroni), for every pair of one of the paper's and one of the others in every "
            "metric."
        )
        return " ".join(said)

    def _but(self, others: Collection[str]) -> str:
        """The parameters of these that are no defaults, in words."""
        of = (
            f"{kind}: {', '.join(f'{key} {x}' for key, x in more.items())}"
            for kind, more in self.parameters.items()
            if kind in others
        )
        said = "; ".join(of)
        return f" but for {said}" if said else ""

    def _ahead(self, head: str, of: Mapping[str, PerRun], pairs: int) -> Iterator[tuple[str, str]]:
        """Whose best is ahead in a metric, if that is certain, with the numbers."""
        sign = -1.0 if head in self.more else 1.0
        means = {k: v.quantity.mean for k, v in of.items() if v.quantity.n == len(v.values)}
        order = sorted((sign * x, k) for k, x in means.items() if x is not None)
        own, other = (
            next((k for _, k in order if (k in self.own) == mine), None) for mine in (True, False)
        )
        if own is None or other is None:
            return
        first, second = sorted((own, other), key=[k for _, k in order].index)
        d = of[second] - of[first] if head in self.less else of[first] - of[second]
        mean, low, high = _engine.interval(d.values, 1 - (1 - LEVEL) / pairs)
        by = Quantity(rounded(mean), rounded(low), rounded(high), d.unit, len(d.values))
        certain = low > 0.0 or high < 0.0
        winner = ("own" if first == own else "other") if certain else ""
        both = ", ".join(f"{k} {of[k].quantity}" for k in (first, second))
        yield winner, f"{head} ({both}: by {by})"


def _cell(of: PerRun) -> Cell:
    """A cell; a dash where a mechanism has no such thing."""
    return "–" if of.quantity.mean is None else of.quantity
