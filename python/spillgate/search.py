"""The search for the least step of a ladder from which on something holds, under noise.

Nothing here knows what is looked at: a step is looked at with a number of runs, and the look says
whether it holds, does not, or whether that many runs do not tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from typing import Generic, Literal, TypeVar

from spillgate.errors import InputError

Verdict = Literal["pass", "fail", "undecided"]

T = TypeVar("T")


@dataclass(frozen=True)
class Look(Generic[T]):
    """What so many runs of a step say.

    Attributes:
        verdict: Whether it holds.
        further: How many more runs would probably tell; none if decided, or if none would.
        seen: What was seen.
    """

    verdict: Verdict
    further: int | None
    seen: T


@dataclass(frozen=True)
class Tested(Generic[T]):
    """A step that was looked at.

    Attributes:
        step: Which, from 0.
        verdict: The last word on it.
        runs: How many runs it took.
        seen: What was seen then.
    """

    step: int
    verdict: Verdict
    runs: int
    seen: T


class NothingHoldsError(Exception):
    """Not even the last step holds; the argument is how it was tested."""


class EverythingHoldsError(Exception):
    """The first step holds already; the argument is how it was tested."""


@dataclass(frozen=True)
class Found(Generic[T]):
    """The least step that holds.

    Attributes:
        step: The least step of those tested that holds; the one before it does not, or its runs
            did not tell.
        fails: The greatest tested step below it that does not hold for certain; none if no runs
            showed that of any.
        tested: All that was tested, by step.
    """

    step: int
    fails: int | None
    tested: dict[int, Tested[T]]

    @property
    def again(self) -> tuple[int, ...]:
        """Tested steps above the least one that do not hold."""
        return tuple(
            s for s, t in sorted(self.tested.items()) if s > self.step and t.verdict == "fail"
        )

    @property
    def open(self) -> tuple[int, ...]:
        """Tested steps between the greatest that fails and the least that holds."""
        first = -1 if self.fails is None else self.fails
        return tuple(s for s in sorted(self.tested) if first < s < self.step)


def most_tests(steps: int, *, scan: bool = True) -> int:
    """How many steps of so many `least` looks at, at most: the level of each look follows."""
    parts = _PARTS if scan else 1
    gap = -(-(steps - 1) // parts)
    return min(steps, parts + 1 + 2 * max(gap - 1, 0).bit_length())


_PARTS = 4
"""Into how many parts the ladder is cut first, to see whether what holds once holds on."""


def least(
    steps: int,
    look: Callable[[int, int], Look[T]],
    *,
    first: int,
    most: int,
    scan: bool = True,
) -> Found[T]:
    """The least step that holds: the ends first, then a few between, then bisection.

    If runs do not tell of steps below it, the greatest that does not hold is looked for likewise.

    Each step is looked at with more and more runs until they tell, so the looks must hold however
    often one looks. A step of which the most runs do not tell counts as one that was not shown to
    hold: the answer then lies above it.

    Args:
        steps: Number of steps, two or more.
        look: Looks at a step with so many runs.
        first: Runs of the first look at a step.
        most: Runs of the last.
        scan: Whether to look at steps between that say whether the answer is monotone.

    Raises:
        NothingHoldsError: If the last step does not hold.
        EverythingHoldsError: If the first does.
    """
    last = steps - 1
    tested: dict[int, Tested[T]] = {}

    def test(step: int) -> Verdict:
        if step not in tested:
            tested[step] = decide(step, look, first=first, most=most)
        return tested[step].verdict

    if test(last) != "pass":
        raise NothingHoldsError(tested[last])
    if test(0) == "pass":
        raise EverythingHoldsError(tested[0])
    if scan:
        for part in range(1, _PARTS):
            test(last * part // _PARTS)
    holds = min(s for s, t in tested.items() if t.verdict == "pass")
    below = max(s for s in tested if s < holds)
    while holds - below > 1:
        middle = (below + holds) // 2
        if test(middle) == "pass":
            holds = middle
        else:
            below = middle
    # Where runs did not tell, the search went up: what fails may lie nearer than was looked.
    fails = max((s for s in tested if s < holds and test(s) == "fail"), default=None)
    if fails is not None:
        unsure = min(s for s in tested if s > fails)
        while unsure - fails > 1:
            middle = (fails + unsure) // 2
            if test(middle) == "fail":
                fails = middle
            else:
                unsure = middle
    return Found(holds, fails, tested)


def decide(step: int, look: Callable[[int, int], Look[T]], *, first: int, most: int) -> Tested[T]:
    """Looks at a step with more and more runs until they tell, or there are the most."""
    runs = min(first, most)
    while True:
        found = look(step, runs)
        if found.verdict != "undecided" or runs >= most:
            return Tested(step, found.verdict, runs, found.seen)
        # The advice is noisy: at most twice the runs, and then another look.
        wanted = runs * 2 if found.further is None else runs + found.further
        runs = min(most, max(runs + 1, min(wanted, runs * 2)))


@dataclass(frozen=True)
class Ladder:
    """The values of a search, from the least on.

    Attributes:
        texts: How each is written in a scenario.
        numbers: The numbers, in the unit.
        unit: The unit of the numbers; empty of those without.
        within: The distance of two values as text.
    """

    texts: tuple[str, ...]
    numbers: tuple[float, ...]
    unit: str
    within: str


_MOST_STEPS = 100_000

_NUMBER = re.compile(r"\s*([+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*?)\s*")

_PREFIXES = {"": 0, "k": 3, "M": 6, "G": 9, "T": 12, "m": -3, "u": -6, "µ": -6, "n": -9}

SPELT = {"bit/s": "b/s", "bps": "b/s"}
"""Units that are spelt in another way, too."""

_SCALED = ("b/s", "bit/s", "bps", "B/s", "B", "s")
"""Units that take prefixes."""


def ladder(start: str, stop: str, within: str | None = None) -> Ladder:
    """The values from one quantity to another.

    Args:
        start: The least, as a scenario writes it: `500 kb/s`, `20 ms`, `64 kB`, `10 %`, `30`.
        stop: The greatest.
        within: The distance of two values; default a round number of about a 64th of the way.
            Where both ends are whole numbers without a unit that takes prefixes, all values are.

    Raises:
        InputError: If these are no quantities of one kind, or not in this order.

    Example:
        >>> ladder("500 kb/s", "2 Mb/s", "500 kb/s").texts
        ('500 kb/s', '1 Mb/s', '1.5 Mb/s', '2 Mb/s')
        >>> ladder("1", "4").texts
        ('1', '2', '3', '4')
    """
    low, unit, small = quantity("from", start)
    high, other, large = quantity("to", stop)
    if unit != other:
        msg = f"error: --from {start} and --to {stop} are no quantities of one kind"
        raise InputError(msg)
    if low >= high:
        msg = (
            f"error: --from {start} is not below --to {stop}\n"
            "    hint: --from is the least value that is looked at, --to the greatest"
        )
        raise InputError(msg)
    base, _ = _base(unit)
    whole = base is None and unit != "%" and low == int(low) and high == int(high)
    if within is None:
        step = _round((high - low) / 64)
        if whole:
            step = max(Decimal(1), step.to_integral_value(ROUND_CEILING))
    else:
        step, third, _ = quantity("within", within)
        if third != unit or step <= 0:
            msg = f"error: --within {within} is no distance of quantities such as {start}"
            raise InputError(msg)
    if (high - low) / step > _MOST_STEPS:
        msg = f"error: --within {within} makes more than {_MOST_STEPS:,} values"
        raise InputError(msg)
    numbers: list[Decimal] = []
    while low + step * len(numbers) < high:
        numbers.append(low + step * len(numbers))
    numbers.append(high)
    units = (small, large)
    return Ladder(
        tuple(_written(n, unit, units) for n in numbers),
        tuple(float(n) for n in numbers),
        unit,
        _written(step, unit, units),
    )


def quantity(option: str, text: str) -> tuple[Decimal, str, str]:
    """A number in its unit without a prefix, that unit, and the unit as it was written.

    Raises:
        InputError: If the text is no quantity; names the option.

    Example:
        >>> quantity("within", "0.5 ms")
        (Decimal('0.0005'), 's', 'ms')
    """
    found = _NUMBER.fullmatch(text)
    try:
        if found is None:
            raise InvalidOperation
        number = Decimal(found[1].replace("_", ""))
    except InvalidOperation:
        msg = (
            f"error: --{option} {text!r} is no quantity\n"
            "    hint: a number and its unit as the scenario writes it, such as '500 kb/s'"
        )
        raise InputError(msg) from None
    written = found[2]
    base, power = _base(written)
    return number.scaleb(power), written if base is None else base, written


def _base(unit: str) -> tuple[str | None, int]:
    """A unit without its prefix, and the power of ten that this is; none if it takes none."""
    for base in _SCALED:
        prefix = unit.removesuffix(base)
        if prefix != unit and prefix in _PREFIXES:
            return base, _PREFIXES[prefix]
    return None, 0


def _round(step: Decimal) -> Decimal:
    """1, 2 or 5 times a power of ten, not above."""
    power = step.adjusted()
    lead = step.scaleb(-power)
    digit = max(d for d in (1, 2, 5) if d <= lead)
    return Decimal(digit).scaleb(power)


def _written(number: Decimal, unit: str, units: Sequence[str]) -> str:
    """A value in the larger of the units that it reaches, as in the ends of the ladder."""
    if _base(unit)[0] is not None:
        by_size = sorted({_base(u)[1]: u for u in units}.items())
        power, unit = next(
            ((p, u) for p, u in reversed(by_size) if abs(number) >= Decimal(1).scaleb(p)),
            by_size[0],
        )
        number = number.scaleb(-power)
    text = f"{number.normalize():f}"
    return f"{text} {unit}".strip()
