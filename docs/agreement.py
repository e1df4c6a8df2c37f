"""What suites measure beside what the documents of CoDel, PIE, FQ-CoDel and RFC 7928 say."""

from dataclasses import dataclass
from math import inf

import spillgate
from spillgate.metrics import format_value
from spillgate.statistics import mean
from spillgate.suites import Measure

PACKET = 8 * 1500
"""Bits of a full packet."""


@dataclass(frozen=True)
class Claim:
    """One thing that a document says, as a range of what a suite measures.

    Attributes:
        says: What it says, with its source.
        suite: The suite.
        section: Its section.
        case: The case of the section; "" without axes.
        of: Whose: the mechanism.
        measure: What is measured, as an index of a suite writes it.
        low: The least value that agrees.
        high: The largest.
        why: Why it may not hold here, if it does not.
        without: What takes that cause away, in words, and the policy that has it; none if nothing
            is known to.
        over: The mechanism by whose value it is divided, run by run; "" if by none.
    """

    says: str
    suite: str
    section: str
    case: str
    of: str
    measure: str
    low: float
    high: float
    why: str = ""
    without: tuple[str, dict] | None = None
    over: str = ""


def sawtooth(pipe, target):
    """The utilization of a line by one Reno connection whose peak is `target` above the pipe.

    The window grows from half of the peak by a segment a round trip. As long as it is below the
    pipe the rate is in proportion to it; above, the line is full and round trips become longer.

    Args:
        pipe: The product of bandwidth and delay in segments.
        target: The peak of the queue in segments.
    """
    peak = pipe + target
    below = pipe - peak / 2
    # Segments sent, and round trips of the pipe that it takes.
    above = target * (1 + target / pipe / 2)
    return (below * (pipe + peak / 2) / 2 / pipe + above) / (below + above)


def _whole(pipe, target):
    """The same where the peak is a whole number of segments: one less, one more."""
    return sawtooth(pipe, target - 1), sawtooth(pipe, target + 1)


def claims():
    """Everything that is compared."""
    return [*_codel(), *_pie(), *_fq_codel(), *_levels()]


WAIT, LOSS, USED = (f"link.down.{m}" for m in ("sojourn_mean", "loss_ratio", "utilization"))
LEVELS = {"8.2.2": (15, 0.001), "8.2.3": (34, 0.005), "8.2.4": (48, 0.01)}
"""Connections over 50 Mb/s, and the drop rate that RFC 7928 projects."""


def _codel():
    pipe = 10e6 * 0.1 / PACKET
    low, high = _whole(pipe, 10e6 * 0.005 / PACKET)
    yield Claim(
        "Without a queue Reno gets 75 % of a line; the target adds a little "
        "(draft-nichols-tsvwg-codel-01, 3.3). Computed: a sawtooth whose peak is 5 ms above the "
        f"pipe of {pipe:.0f} segments, to a segment",
        *("rfc7928", "5.1.1", "", "codel", USED, low, high),
    )
    for section, (flows, _) in LEVELS.items():
        # Drops a second by 1.5 / window², and how long the control law takes to have them.
        window, packets = 50e6 * 0.1 / PACKET / flows, 50e6 / PACKET
        drops = packets * 1.5 / window**2
        begun = 2 * 0.1 * (0.1 * drops)
        yield Claim(
            "Packets should wait less than 10 ms even under extreme congestion "
            "(draft-nichols-tsvwg-codel-01, 3.3)",
            *("rfc7928", section, "", "codel", WAIT, 0.0, 0.010),
            why=f"senders with windows of {window:.0f} packets need {drops:.0f} drops a second, "
            f"and the control law has so many only when it has dropped for {begun:.1f} s without "
            "a break",
            without=(
                "half the interval",
                _fifo({"codel": {"interval": "50 ms", "ecn": True}}, 417),
            ),
        )


def _fifo(aqm, packets):
    return {"fifo": {"limit": f"{packets} packets", "aqm": aqm}}


def _pie():
    near = (
        "PIE controls the average delay to the target of 15 ms (RFC 8033); below half of it "
        "it does not drop at low probabilities (4.1), so half to one and a half"
    )
    for section, case in (
        *((section, "") for section in ("5.1.1", *LEVELS)),
        ("5.3", "UDP of 12 Mb/s alone"),
        ("8.2.6", "every 20 s"),
        ("8.2.6", "every 100 ms"),
    ):
        yield Claim(
            near,
            *("rfc7928", section, case, "pie", WAIT, 0.0075, 0.0225),
            why="whenever the line becomes fast the delay falls by some 90 ms within two updates, "
            "and beta times that takes back all of the probability that 100 ms had built",
            without=("a tenth of beta", _fifo({"pie": {"beta": 0.125, "ecn": True}}, 834)),
        )
    yield Claim(
        "Bursts of less than 150 ms pass (RFC 8033, 4.4)",
        *("rfc7928", "7.2", "I: web, CBR", "pie", LOSS, 0.0, 0.0),
    )


def _fq_codel():
    pipe = 10e6 * 0.1 / PACKET / 2
    fair = [x / (1 - x) for x in (s / 2 for s in _whole(pipe, 5e6 * 0.005 / PACKET))]
    yield Claim(
        f"Equal connections have equal shares (RFC 8290). Computed: to a segment of the "
        f"{pipe:.0f} that are the pipe of each",
        *("rfc7928", "6.2", "100 ms", "fq-codel"),
        *("class.category-2.goodput / class.category-1.goodput", 1 - 1 / pipe, 1 + 1 / pipe),
    )
    yield Claim(
        "A share that a connection cannot fill goes to the others (RFC 8290). Computed: that "
        "of 100 ms is a sawtooth in its half, that of 5 ms has the rest",
        *("rfc7928", "6.2", "5 ms", "fq-codel"),
        *("class.category-1.goodput / class.category-2.goodput", *fair),
    )
    flows, packet = 4, PACKET / 20e6
    yield Claim(
        "Flows that send little go first (RFC 8290). Computed: they wait for the packet that "
        f"is being sent and a packet of each of {flows} uploads at most",
        *("bufferbloat", "1", "upload", "fq-codel"),
        *("increase of class.ping.owd_p95 + class.pong.owd_p95", 0.0, (flows + 1) * packet),
    )
    yield Claim(
        "With transfers in both directions lines are used better than by CoDel alone "
        "(draft-nichols-tsvwg-codel-01, 3.7)",
        *("rfc7928", "9.2", "", "fq-codel", "class.down.goodput", 1.0, inf),
        over="codel",
    )


def _levels():
    for of in ("codel", "pie", "fq-codel"):
        for section, (_, rate) in LEVELS.items():
            yield Claim(
                f"The level is that of a drop rate of {100 * rate:g} % (RFC 7928, 8.2.1), or "
                "twice that where senders count bytes (RFC 3465) and so grow twice as fast, as "
                "here",
                *("rfc7928", section, "", of, LOSS, rate, 2 * rate),
                why="the interval is the round trip without a queue: a connection alone in its "
                "queue loses a second packet before its answer to the first has come",
                without=("an interval of 150 ms", {"fq-codel": {"interval": "150 ms"}}),
            )


def measured(asked):
    """The suites that are needed for some claims, each with its sections run in full."""
    found = {}
    for suite in dict.fromkeys(c.suite for c in asked):
        mine = [c for c in asked if c.suite == suite]
        found[suite] = spillgate.suite(
            suite,
            aqm=list(dict.fromkeys(of for c in mine for of in (c.of, c.over) if of)),
            sections=list(dict.fromkeys(c.section for c in mine)),
        )
    return found


def interval_of(claim, suites):
    """The mean of what a claim is about."""
    measure = Measure.of(claim.measure)
    done = suites[claim.suite].section(claim.section)
    if not claim.over:
        return done.interval(measure, claim.case, claim.of)
    pairs = (done.values(measure, claim.case, of) for of in (claim.of, claim.over))
    return mean([a / b for a, b in zip(*pairs, strict=True)], again=False)


def judged(claim, interval):
    """Whether an interval is within the range of a claim, outside, or both."""
    if claim.low <= interval.low and interval.high <= claim.high:
        return "yes"
    return "no" if interval.high < claim.low or interval.low > claim.high else "undecided"


def reason(claim, suites):
    """Why a claim does not hold, and what is measured without the cause."""
    if claim.without is None:
        return f": {claim.why}" if claim.why else ""
    label, policy = claim.without
    done = suites[claim.suite].section(claim.section)
    results = spillgate.run(done.section.scenario, set={"policies.AQM": policy}, series=())
    points = {p.name.partition("=")[2]: p.name for p in results.description.points}
    point = points.get(claim.case, results.description.variants[0])
    measure = Measure.of(claim.measure)
    found = mean(measure.values(results, point), again=False)
    return f": {claim.why}; with {label} it is {shown(found.estimate, measure.unit)}"


def shown(value, unit):
    """A value as the table has it."""
    return f"{value:.3g}" if unit == "factor" else format_value(value, unit)


def row(claim, suites):
    """The cells of one claim."""
    measure = Measure.of(claim.measure)
    unit = "factor" if claim.over else measure.unit
    interval = interval_of(claim, suites)
    verdict = judged(claim, interval)
    low, high = (shown(v, unit) for v in (claim.low, min(claim.high, 1e300)))
    ends = f"{low} or more" if claim.high == inf else low if low == high else f"{low} to {high}"
    where = f"`{claim.suite}` {claim.section}" + (f", {claim.case}" if claim.case else "")
    ours = f"{shown(interval.estimate, unit)} ±{shown(interval.half, unit)}"
    why = "" if verdict == "yes" else reason(claim, suites)
    of = f"{claim.of} over {claim.over}" if claim.over else claim.of
    return claim.says, where, f"{of}: {measure.name}", ends, ours, verdict + why


def table(asked=None):
    """The table as Markdown."""
    asked = claims() if asked is None else asked
    suites = measured(asked)
    head = ("a document says", "section", "measured", "range", "ours", "agrees")
    lines = [f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(row(claim, suites)) + " |" for claim in asked]
    return "\n".join(lines) + "\n"
