"""Searches the space of what the paper leaves silent for where most claims hold together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from spillgate.papers.judge import outcome
from spillgate.papers.lab import Case, Lab, Protocol
from spillgate.papers.measured import Measured, View
from spillgate.papers.mitroi import system
from spillgate.papers.mitroi.claims import CLAIMS
from spillgate.papers.model import OUTCOME_MARKS, Cell, Judged, Outcome, Section, Table

RUNS = 3
"""Runs at each point of the search, at most; what is found is run as often as the claims."""
SCOPES = ("class", "dscp", "queue")
METRICS = ("loss_ratio", "owd_mean", "jitter", "sojourn_mean")

RANDOM = "random phases"
GAPS = (30, 60, 90, 120)
"""Microseconds between starts in the order of table 1."""
DELAYS = ("1 ms", "10 ms")
FIFO_LIMITS = (40, 75, 300)
CLASS_LIMITS = (64, 32)
SHARES = (15, 16)
"""Percent of the line for voice in LLQ; video has the rest of 50."""


@dataclass(frozen=True)
class Choice:
    """A set of choices; the first of each list is what was chosen beforehand.

    Attributes:
        start: How the streams start.
        delay: Propagation delay of the line.
        fifo: FIFO's limit in packets.
        queue: The limit of each class's queue.
        share: Percent of the line for voice in LLQ.
    """

    start: str
    delay: str
    fifo: int
    queue: int
    share: int

    def of(self, policy: str) -> Choice:
        """The same without what cannot touch a policy."""
        early = policy.startswith(("FIFO", "WFQ"))
        return Choice(
            self.start,
            self.delay,
            self.fifo if early else FIFO_LIMITS[0],
            CLASS_LIMITS[0] if early else self.queue,
            self.share if "LLQ" in policy else SHARES[0],
        )

    def changed(self) -> int:
        """How many choices are others than those made beforehand."""
        mine = (self.start, self.delay, self.fifo, self.queue, self.share)
        return sum(a != b for a, b in zip(mine, _BASE, strict=True))

    def cells(self) -> tuple[str, ...]:
        """As cells of a table."""
        return (
            self.start,
            self.delay,
            f"{self.fifo} packets",
            f"{self.queue} packets",
            f"{self.share} %",
        )


_BASE = (RANDOM, DELAYS[0], FIFO_LIMITS[0], CLASS_LIMITS[0], SHARES[0])
HEAD = ("start", "line", "FIFO", "class queues", "voice in LLQ")


def starts(lab: Lab) -> dict[str, dict[str, object]]:
    """Ways to start the streams, with what they replace; two will do where it shall be quick."""
    found: dict[str, dict[str, object]] = {RANDOM: {}}
    if not lab.quick:
        found["random phases, no jitter"] = system.NO_JITTER
        found["all together"] = system.IN_STEP
    for gap in (system.APART,) if lab.quick else GAPS:
        file = lab.write(f"traffic-order-{gap}.csv", system.ordered(gap))
        found[f"in the order of table 1, {gap / 1000:g} ms apart"] = system.in_order(file)
    return found


def _limits(c: Choice) -> dict[str, object]:
    """What a set of choices replaces in the configuration."""
    found: dict[str, object] = {}
    if c.fifo != FIFO_LIMITS[0]:
        found |= system.fifo_limit(c.fifo)
    if c.queue != CLASS_LIMITS[0]:
        found |= system.class_limit(c.queue)
    if c.share != SHARES[0]:
        found |= system.llq_share(c.share)
    return found


class _Cases:
    """The variants of a set of choices, each of which is run once."""

    def __init__(self, known: Mapping[str, dict[str, object]]) -> None:
        self._known = known
        self.planned: dict[str, Case] = {}

    def name(self, c: Choice, policy: str) -> str:
        """The variant in which a policy is; plans it if it is new."""
        # What has no jitter, or hardly any, stands for the exact policies, too.
        name = policy if c.start == RANDOM else policy.partition(",")[0]
        own = c.of(name)
        label = "; ".join([name, *own.cells()])
        if label not in self.planned:
            values = {**system.settings(name), **_limits(own), **self._known[own.start]}
            if name != policy.partition(",")[0]:
                values |= system.NO_JITTER
            values["topology.links.wan.delay"] = own.delay
            self.planned[label] = Case(label, values)
        return label

    def view(self, c: Choice, m: Measured) -> View:
        """The policies under a set of choices."""
        return View({p: (m, self.name(c, p)) for p in EVERY})


EVERY = (*system.POLICIES, *system.EXACT)


def _measured(lab: Lab, batch: str, cases: _Cases, protocol: Protocol) -> Measured:
    results = lab.run(batch, list(cases.planned.values()), protocol)
    return Measured(results, SCOPES, METRICS, flow_metrics=("loss_ratio",))


def choices(known: Mapping[str, object], *, quick: bool) -> Iterator[Choice]:
    """Every set, or fewer."""
    limits = (FIFO_LIMITS[::2], CLASS_LIMITS[:1]) if quick else (FIFO_LIMITS, CLASS_LIMITS)
    for values in product(known, DELAYS, *limits, SHARES):
        yield Choice(*values)


def _order(item: tuple[Choice, Mapping[str, Outcome]]) -> tuple[int, int, int]:
    """The best first: most claims reproduced, then most in shape, then fewest changes."""
    c, verdicts = item
    counts = list(verdicts.values())
    return (-counts.count("reproduced"), -counts.count("shape_only"), c.changed())


def run(lab: Lab, base: Sequence[Judged], varied: Protocol, confirm: Protocol) -> Section:
    """Searches, runs the best set as often as the claims, and shows it beside the base.

    Args:
        lab: Where runs are made.
        base: The claims as chosen beforehand.
        varied: How long a point of the search is run.
        confirm: How often and how long the best set is run.
    """
    known = starts(lab)
    cases = _Cases(known)
    every = list(choices(known, quick=lab.quick))
    for c in every:
        for p in EVERY:
            cases.name(c, p)
    few = Protocol(min(RUNS, lab.runs), varied.warmup, varied.duration)
    m = _measured(lab, "The space of silent choices", cases, few)
    found = [(c, {x.id: outcome(x.test(cases.view(c, m))) for x in CLAIMS}) for c in every]
    found.sort(key=_order)
    best, _ = found[0]
    again = _Cases(known)
    for p in EVERY:
        again.name(best, p)
    view = again.view(best, _measured(lab, "The best set of silent choices", again, confirm))
    rows: list[tuple[Cell, ...]] = []
    confirmed = []
    for j in base:
        parts = j.claim.test(view)
        verdict = outcome(parts)
        confirmed.append(verdict)
        ours = (OUTCOME_MARKS[j.verdict], j.ours, OUTCOME_MARKS[verdict], parts[0].quantity)
        rows.append((j.claim.id, j.claim.statement, *ours))
    of_base = sum(j.verdict == "reproduced" for j in base)
    of_best = confirmed.count("reproduced")
    text = (
        f"The choices of the base were made before the runs. Of {len(every)} sets of choices that "
        f"the paper leaves silent, most claims hold together with: streams start "
        f"{best.start}; a line of {best.delay}; FIFO of {best.fifo} packets; class queues of "
        f"{best.queue}; {best.share} % for voice in LLQ. It is {confirm.runs} times run for "
        f"{confirm.duration:g} s, and reproduces {of_best} of {len(base)} claims, the base "
        f"{of_base}."
    )
    beside = Table(
        "together",
        "The base, and the set of silent choices under which most claims hold together",
        ("id", "the paper says", "base", "ours", "best set", "ours"),
        tuple(rows),
    )
    return Section(
        "Silent choices together", text, (beside, _by_start(known, found)), (), "search"
    )


def _by_start(
    known: Mapping[str, object], found: Sequence[tuple[Choice, Mapping[str, Outcome]]]
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for start in known:
        c, verdicts = next(x for x in found if x[0].start == start)
        holds = [k for k, v in verdicts.items() if v == "reproduced"]
        rows.append((*c.cells(), str(len(holds)), ", ".join(holds)))
    return Table(
        "search",
        "The best set of each way to start the streams",
        (*HEAD, "reproduced", "which"),
        tuple(rows),
        f"At most {RUNS} runs of each set. Random starts have 10 % of jitter, the others 0.01 %, "
        "unless it says that there is none.",
    )
