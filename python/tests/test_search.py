"""The search under noise, against responses whose truth is known."""

import math
import os
import random

import pytest

from spillgate import statistics
from spillgate.errors import InputError
from spillgate.search import (
    EverythingHoldsError,
    Look,
    NothingHoldsError,
    ladder,
    least,
    most_tests,
)

LONG = int(os.environ.get("SPILLGATE_LONG", "1")) > 1


class Noisy:
    """A response `mean(step)` under normal noise: a step holds where it is at most 1.

    Run n draws the same at every step, as runs with common random numbers do.
    """

    def __init__(self, mean, seed, level, deviation=0.2):
        self.mean, self.level, self.deviation = mean, level, deviation
        self.random = random.Random(seed)
        self.noise = []
        self.runs = 0

    def __call__(self, step, runs):
        while len(self.noise) < runs:
            self.noise.append(self.random.gauss(0, self.deviation))
        self.runs += 1
        values = [self.mean(step) + e for e in self.noise[:runs]]
        found = statistics.mean(values, level=self.level)
        if found.high <= 1:
            return Look("pass", None, values)
        if found.low > 1:
            return Look("fail", None, values)
        return Look("undecided", None, values)


def search(mean, seed, steps=65, first=5, most=80):
    level = 1 - 0.05 / most_tests(steps)
    return least(steps, Noisy(mean, seed, level), first=first, most=most)


def test_answers_are_right_as_often_as_they_say():
    """With every value of a response that crosses its bound between two steps or on one."""
    studies = 2_000 if LONG else 200
    allowed = 123 if LONG else 18  # 99 % quantile of the binomial at 5 %
    for truth in (30.5, 31.0):
        wrong = unsure = 0
        for seed in range(studies):

            def mean(step, truth=truth):
                return 1 - 0.1 * (step - truth)

            found = search(mean, seed)
            assert found.again == ()
            # What is said: the answer holds, and what is named beyond it does not.
            wrong += mean(found.step) > 1 or (found.fails is not None and mean(found.fails) <= 1)
            unsure += found.fails is None
            assert abs(found.step - truth) < 6
        assert wrong <= allowed, (wrong, studies)
        assert unsure <= studies / 20


def test_the_answer_is_exact_without_noise():
    for truth in (1, 2, 17, 33, 63, 64):
        look = Noisy(lambda step, truth=truth: 0.5 if step >= truth else 1.5, 1, 0.95, 0.01)
        found = least(65, look, first=5, most=20)
        assert (found.step, found.fails, found.again, found.open) == (truth, truth - 1, (), ())
        assert len(found.tested) <= most_tests(65)


def test_tests_are_never_more_than_their_level_counts():
    for steps in range(2, 200):
        for scan in (True, False):
            for truth in {1, steps // 3, steps - 1} - {0}:
                found = least(
                    steps,
                    lambda step, runs, truth=truth: Look(
                        "pass" if step >= truth else "fail", None, runs
                    ),
                    first=3,
                    most=3,
                    scan=scan,
                )
                assert found.step == truth
                assert len(found.tested) <= most_tests(steps, scan=scan)


def test_what_is_not_monotone_is_found():
    def look(step, runs):
        holds = 10 <= step < 40 or step == 64
        return Look("pass" if holds else "fail", None, runs)

    found = least(65, look, first=5, most=5)
    assert (found.step, found.fails) == (10, 9)
    assert found.again == (48,)


def test_steps_that_do_not_tell_lie_between():
    def look(step, runs):
        return Look("pass" if step > 34 else "fail" if step < 30 else "undecided", 1_000, runs)

    found = least(65, look, first=5, most=40)
    assert found.step == 35
    assert found.fails < 30
    assert found.open
    assert all(found.tested[s].runs == 40 for s in found.open)


def test_ends_that_say_nothing():
    with pytest.raises(NothingHoldsError) as nothing:
        least(9, lambda _, runs: Look("fail", None, runs), first=5, most=5)
    assert nothing.value.args[0].step == 8
    with pytest.raises(EverythingHoldsError) as everything:
        least(9, lambda _, runs: Look("pass", None, runs), first=5, most=5)
    assert everything.value.args[0].step == 0


def test_advice_is_followed_but_no_more_than_doubled():
    asked = []

    def look(_, runs):
        asked.append(runs)
        return Look("undecided", 3 if runs == 5 else 500, runs)

    with pytest.raises(NothingHoldsError):
        least(2, look, first=5, most=50)
    assert asked == [5, 8, 16, 32, 50]


@pytest.mark.parametrize(
    ("start", "stop", "within", "texts"),
    [
        ("500 kb/s", "4 Mb/s", None, ("500 kb/s", "550 kb/s", "600 kb/s")),
        ("1", "10", None, ("1", "2", "3")),
        ("100", "1000", None, ("100", "110", "120")),
        ("10 packets", "13 packets", None, ("10 packets", "11 packets", "12 packets")),
        ("10 %", "12 %", "0.5 %", ("10 %", "10.5 %", "11 %")),
        ("900 us", "2 ms", "100 us", ("900 us", "1 ms", "1.1 ms")),
        ("0.5", "0.7", "0.1", ("0.5", "0.6", "0.7")),
        ("64 kB", "64.5 kB", "0.25 kB", ("64 kB", "64.25 kB", "64.5 kB")),
    ],
)
def test_ladders_are_of_round_values(start, stop, within, texts):
    rungs = ladder(start, stop, within)
    assert rungs.texts[:3] == texts
    assert rungs.texts[-1] == stop
    assert 2 <= len(rungs.texts) <= 200
    assert all(a < b for a, b in zip(rungs.numbers, rungs.numbers[1:], strict=False))


def test_numbers_are_in_the_unit_without_prefix():
    rungs = ladder("1 ms", "3 ms", "1 ms")
    assert rungs.unit == "s"
    assert rungs.within == "1 ms"
    assert all(map(math.isclose, rungs.numbers, (0.001, 0.002, 0.003)))


@pytest.mark.parametrize(
    ("start", "stop", "within", "message"),
    [
        ("4 Mb/s", "500 kb/s", None, "--from 4 Mb/s is not below --to 500 kb/s"),
        ("1 s", "1 s", None, "is not below"),
        ("1 s", "2 Mb/s", None, "no quantities of one kind"),
        ("fast", "2 Mb/s", None, "--from 'fast' is no quantity"),
        ("1 Mb/s", "", None, "--to '' is no quantity"),
        ("1 Mb/s", "2 Mb/s", "1 ms", "--within 1 ms is no distance"),
        ("1 Mb/s", "2 Mb/s", "-1 kb/s", "--within -1 kb/s is no distance"),
        ("1 Mb/s", "2 Gb/s", "1 b/s", "more than 100,000 values"),
    ],
)
def test_ladders_that_are_none(start, stop, within, message):
    with pytest.raises(InputError) as error:
        ladder(start, stop, within)
    assert message in str(error.value)
