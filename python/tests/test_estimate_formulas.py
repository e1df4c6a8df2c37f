"""Formulas of `spillgate.estimates` against closed forms, tables and second ways to them."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

import spillgate
from spillgate.estimates import queues, tcp
from spillgate.estimates.service import Part, Service

TEN_DIGITS = 1e-10

SHAPES = [
    Service.constant(1.0),
    Service.exponential(1.0),
    Service.uniform(0.5, 1.5),
    Service((Part(0.4, 0.25, 0.25), Part(0.6, 1.5, 1.5))),
    Service((Part(0.1, 0.2, 0.2), Part(0.9, 0.2, 0.2, 0.8 / 0.9))),
]


def draws(count=200):
    """So many sources of random cases, the same each time."""
    return map(random.Random, range(count))


def close(found, wanted, part=TEN_DIGITS):
    assert found == pytest.approx(float(wanted), rel=part, abs=1e-300)


# --- Erlang


def erlang_b_by_definition(erlangs, circuits):
    """a^c / c! over the sum of a^k / k!, in exact fractions: Erlang 1917."""
    a, terms = Fraction(erlangs), [Fraction(1)]
    for k in range(1, circuits + 1):
        terms.append(terms[-1] * a / k)
    return terms[-1] / sum(terms)


@pytest.mark.parametrize(
    ("erlangs", "circuits"), [(1, 1), (10, 10), (10, 15), (Fraction(1, 2), 3), (120, 100), (7, 0)]
)
def test_erlang_b_by_its_definition(erlangs, circuits):
    wanted = erlang_b_by_definition(erlangs, circuits)
    close(queues.erlang_b(float(erlangs), circuits), wanted)
    # The waiting that Erlang C adds, by definition: c / (c - a) times the last term.
    if erlangs < circuits:
        a = Fraction(erlangs)
        last = wanted * circuits / (circuits - a)
        close(queues.erlang_c(float(erlangs), circuits), last / (1 - wanted + last))


def test_erlang_b_in_published_tables():
    # Offered erlangs at 1 % and 2 % by circuits, four digits: any table of Erlang B, such as ITU
    # Teletraffic Engineering Handbook (2001), table of E1.
    for circuits, one, two in [
        (1, 0.0101, 0.0204),
        (2, 0.153, 0.223),
        (5, 1.36, 1.66),
        (10, 4.46, 5.08),
        (20, 12.0, 13.2),
        (50, 37.9, 40.3),
        (100, 84.1, 88.0),
    ]:
        assert queues.erlangs_for(circuits, 0.01) == pytest.approx(one, rel=5e-3)
        assert queues.erlangs_for(circuits, 0.02) == pytest.approx(two, rel=5e-3)
    assert queues.erlang_b(10, 15) == pytest.approx(0.0365, abs=5e-5)


def test_the_inverse_of_erlang_b():
    for draw in draws():
        circuits, blocked = draw.randint(1, 200), draw.uniform(0.01, 0.9)
        found = queues.erlang_b(queues.erlangs_for(circuits, blocked), circuits)
        assert found == pytest.approx(blocked)


def test_blocking_grows_with_the_load_and_falls_with_circuits():
    for draw in draws():
        circuits, erlangs = draw.randint(0, 60), draw.uniform(0.1, 80)
        more = erlangs + draw.uniform(0.01, 5)
        blocked = queues.erlang_b(erlangs, circuits)
        assert queues.erlang_b(more, circuits) >= blocked
        assert queues.erlang_b(erlangs, circuits + 1) < blocked
        if erlangs < circuits:
            # Who waits makes others wait, too.
            assert queues.erlang_c(erlangs, circuits) >= blocked


# --- M/G/1


def test_waits_of_textbooks():
    # rho / (mu - lambda) and half of it: Kleinrock 1, chapters 3 and 5.
    for rho in (0.1, 0.5, 0.9):
        close(queues.mg1_wait(rho, Service.exponential(1.0)), rho / (1 - rho))
        close(queues.mg1_wait(rho, Service.constant(1.0)), rho / (2 * (1 - rho)))
        # Even between 0 and 2: E S² = 4/3.
        close(queues.mg1_wait(rho, Service.uniform(0.0, 2.0)), rho * 2 / 3 / (1 - rho))


def test_waits_grow_with_the_load_from_nothing():
    for draw in draws():
        service = draw.choice(SHAPES)
        low, high = sorted(draw.uniform(0.01, 0.95) for _ in range(2))
        assert queues.mg1_wait(low, service) <= queues.mg1_wait(high, service)
        # As the load goes to 0 an arrival finds at most one packet in transmission.
        tiny = 1e-9
        close(queues.mg1_wait(tiny, service), tiny * service.moment(2) / 2, 1e-8)


def test_one_class_is_pollaczek_khinchine():
    for draw in draws():
        service, rate = draw.choice(SHAPES), draw.uniform(0.01, 0.95)
        close(queues.cobham_waits([(rate, service)])[0], queues.mg1_wait(rate, service))


def test_priorities_obey_the_conservation_law():
    for draw in draws():
        shares = [draw.uniform(0.01, 1) for _ in range(draw.randint(1, 5))]
        drawn = [(0.9 * share / sum(shares), draw.choice(SHAPES)) for share in shares]
        waits = queues.cobham_waits(drawn)
        total = sum(r * s.mean * w for (r, s), w in zip(drawn, waits, strict=True))
        close(total, queues.conserved(drawn))
        assert waits == sorted(waits)
        # First in, first out: all wait alike.
        rate = sum(r for r, _ in drawn)
        alike = queues.mg1_wait(rate, Service.mixed(drawn))
        close(queues.load(drawn) * alike, queues.conserved(drawn))


def test_a_worked_example_of_priorities():
    # Two classes of exponential times: by hand W0 = 0.2 * 1 + 0.3 * 4 = 1.4, s1 = 0.2, s2 = 0.8.
    two = [(0.2, Service.exponential(1.0)), (0.3, Service.exponential(2.0))]
    first, second = queues.cobham_waits(two)
    close(first, Fraction(14, 10) / Fraction(8, 10))
    close(second, Fraction(14, 10) / (Fraction(8, 10) * Fraction(2, 10)))


# --- M/G/1/K


@pytest.mark.parametrize("places", [1, 2, 7, 41])
@pytest.mark.parametrize("rho", [0.3, 0.95, 1.0, 1.7])
def test_exponential_times_with_places_as_a_birth_and_death_process(rho, places):
    """p_j = rho^j / sum, in exact fractions."""
    r = Fraction(rho)
    p = [r**j for j in range(places + 1)]
    p = [x / sum(p) for x in p]
    found = queues.mg1k(rho, Service.exponential(1.0), places)
    assert found.loss == pytest.approx(float(p[-1]), rel=1e-9, abs=1e-15)
    close(found.busy, 1 - p[0])
    waiting = sum(max(j - 1, 0) * x for j, x in enumerate(p))
    assert found.queue == pytest.approx(float(waiting), rel=1e-9, abs=1e-14)
    assert found.wait == pytest.approx(float(waiting / (r * (1 - p[-1]))), rel=1e-9, abs=1e-14)


def chain(rate, times, places):
    """M/G/1/K by the chain of what departures leave behind, solved as linear equations.

    By elimination, not by levels: a second way to the same numbers.
    """

    def odds(k):
        return sum(w * math.exp(-rate * s) * (rate * s) ** k / math.factorial(k) for w, s in times)

    a = [odds(k) for k in range(places + 1)]
    move = np.zeros((places, places))
    for i in range(places):
        begin = max(i - 1, 0)
        for j in range(begin, places - 1):
            move[i, j] = a[j - begin]
        move[i, places - 1] = 1 - move[i, : places - 1].sum()
    system = np.vstack([move.T - np.eye(places), np.ones(places)])
    wanted = np.zeros(places + 1)
    wanted[-1] = 1
    left = np.linalg.lstsq(system, wanted, rcond=None)[0]
    rho = rate * sum(w * s for w, s in times)
    norm = left[0] + rho
    mean = sum(j * x for j, x in enumerate(left)) / norm + places * (1 - 1 / norm)
    return 1 - 1 / norm, mean - (1 - left[0] / norm)


@pytest.mark.parametrize("places", [1, 3, 12])
@pytest.mark.parametrize("rate", [0.4, 0.9, 1.5])
def test_places_as_a_chain(rate, places):
    times = [(0.4, 0.25), (0.6, 1.5)]
    service = Service(tuple(Part(w, s, s) for w, s in times))
    loss, queue = chain(rate, times, places)
    found = queues.mg1k(rate, service, places)
    assert found.loss == pytest.approx(loss, rel=1e-9, abs=1e-14)
    assert found.queue == pytest.approx(queue, rel=1e-9, abs=1e-13)


def test_one_place_is_erlangs_loss_whatever_the_times():
    for service in (Service.constant(1.0), Service.exponential(1.0), Service.uniform(0.5, 1.5)):
        close(queues.mg1k(0.7, service, 1).loss, queues.erlang_b(0.7, 1))


def test_what_comes_leaves_or_is_lost():
    for draw in draws(100):
        service, rate, places = draw.choice(SHAPES), draw.uniform(0.05, 3), draw.randint(1, 60)
        found = queues.mg1k(rate, service, places)
        close(found.busy, rate * service.mean * (1 - found.loss), 1e-9)
        assert 0 <= found.loss < 1
        more = queues.mg1k(rate, service, places + 1)
        assert more.loss <= found.loss + 1e-14
        assert more.wait >= found.wait - 1e-12


def test_without_end_it_is_pollaczek_khinchine():
    for draw in draws(50):
        service, rate = draw.choice(SHAPES), draw.uniform(0.05, 0.8)
        found = queues.mg1k(rate, service, 5000)
        close(found.wait, queues.mg1_wait(rate, service), 1e-9)
        assert found.loss == 0


def test_a_full_queue_at_a_large_load():
    found = queues.mg1k(50.0, Service.constant(1.0), 1000)
    close(found.loss, 1 - Fraction(1, 50))
    assert found.queue == pytest.approx(999, abs=0.03)


def test_the_bound_of_overflow_is_that_of_exponential_times():
    for draw in draws(100):
        service, rate, seconds = draw.choice(SHAPES), draw.uniform(0.1, 0.9), draw.uniform(1, 30)
        odds = queues.overflow(rate, service, seconds)
        assert 0 < odds <= 1
        assert queues.overflow(rate, service, 2 * seconds) <= odds
        if service == Service.exponential(1.0):
            # P(V > x) = rho exp(-(1 - rho) x).
            close(odds, math.exp(-(1 - rate) * seconds), 1e-6)


def test_counts_are_those_of_a_poisson_process():
    for draw in draws():
        service, rate = draw.choice(SHAPES), draw.uniform(0.05, 4)
        counts = service.counts(rate, 150)
        close(sum(counts), 1, 1e-9)
        close(sum(k * p for k, p in enumerate(counts)), rate * service.mean, 1e-7)
        # Probability of no arrival is the transform, at -rate.
        close(counts[0], service.raised(-rate), 1e-9)


def test_how_long_a_queue_remembers():
    # M/M/1 at half load: 0.5 * 2 / 0.25. Full after 10 s at a load of 2. Ten packets by chance.
    close(queues.settling(0.5, Service.exponential(1.0)), 4)
    assert queues.settling(1.5, Service.constant(1.0)) == math.inf
    close(queues.settling(2.0, Service.constant(1.0), 10), 12)
    close(queues.settling(1.0, Service.exponential(1.0), 10), 50)


# --- TCP


def test_windows_of_cubic_in_the_rfc():
    """RFC 9438, table 1: averages at a round trip of 0.1 s, C = 0.4; Reno-friendly above 1e-4."""
    for loss, window in [(1e-2, 12), (1e-3, 38), (1e-4, 187), (1e-5, 1054), (1e-6, 5926)]:
        rate, friendly = tcp.cubic(0.1, loss)
        assert rate * 0.1 == pytest.approx(window, rel=0.03)
        assert friendly == (loss > 5e-4)
    # Table 2, at 0.01 s.
    for loss, window in [(1e-4, 120), (1e-5, 379), (1e-6, 1200), (1e-7, 5926), (1e-8, 33_325)]:
        rate, _ = tcp.cubic(0.01, loss)
        assert rate * 0.01 == pytest.approx(window, rel=0.03)


def test_windows_of_reno_in_the_rfc():
    """RFC 3649, table 1: 1.2 / sqrt(p)."""
    for loss, window in [(1e-2, 12), (1e-4, 120), (1e-8, 12_000)]:
        assert tcp.square_root(0.2, loss) * 0.2 == pytest.approx(window, rel=0.025)


def test_pftk_is_the_square_root_law_where_losses_are_rare():
    for draw in draws():
        rtt, loss = draw.uniform(0.001, 2), 10 ** draw.uniform(-8, -5)
        b = draw.choice((1.0, 2.0))
        root = tcp.square_root(rtt, loss, b)
        assert tcp.padhye(rtt, loss, rto=rtt, window=1e9, per_ack=b) == pytest.approx(
            root, rel=0.02
        )
        assert tcp.tfrc(rtt, loss, per_ack=b) == pytest.approx(root, rel=0.02)


def test_rates_fall_with_loss_and_keep_to_the_window():
    for draw in draws():
        rtt, window = draw.uniform(0.01, 1), draw.uniform(2, 1000)
        low, high = sorted(10 ** draw.uniform(-4, -0.5) for _ in range(2))
        for law in (tcp.square_root, tcp.tfrc):
            assert law(rtt, low) >= law(rtt, high)
        # Near where the window begins to limit, the paper's two branches do not quite meet.
        assert tcp.padhye(rtt, low, 1.0, window) >= 0.9 * tcp.padhye(rtt, high, 1.0, window)
        assert tcp.padhye(rtt, low, 1.0, window) <= 1.01 * window / rtt + 2 / rtt


def test_pftk_by_hand():
    """At p = 0.01, b = 2, R = 0.1, T0 = 1, no limit: each factor of the paper written out."""
    p, b = 0.01, 2
    w = (2 + b) / (3 * b) + math.sqrt(8 * (1 - p) / (3 * b * p) + ((2 + b) / (3 * b)) ** 2)
    assert w == pytest.approx(12.175, abs=1e-3)
    # Q = min(1, 3 / w) is what the paper says it comes to for small p.
    q = (1 - 0.99**3) * (1 + 0.99**3 * (1 - 0.99 ** (w - 3))) / (1 - 0.99**w)
    assert q == pytest.approx(3 / w, rel=0.15)
    f = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    wanted = (99 + w + q / 0.99) / (0.1 * (w + 1) + q * f / 0.99)
    close(tcp.padhye(0.1, p, 1.0, 1e9, 2), wanted)
    # With a window of 6 the other branch.
    q = (1 - 0.99**3) * (1 + 0.99**3 * (1 - 0.99**3)) / (1 - 0.99**6)
    limited = (99 + 6 + q / 0.99) / (0.1 * (2 / 8 * 6 + 99 / 6 + 2) + q * f / 0.99)
    close(tcp.padhye(0.1, p, 1.0, 6, 2), limited)


def test_shares_beside_bbr():
    """Ware and others, equations 9 to 11: 40 ms and 10 Mb/s in packets of 1500 B."""
    capacity = 10e6 / 12_000
    for multiple in (1, 4, 32):
        queue = multiple * capacity * 0.04
        p = max(0.5 - 0.5 / multiple - 4 / queue, 0)
        wanted = (1 - p) * (1 - (queue / capacity + 0.2 + 0.04) / 10)
        close(tcp.bbr_share(1, queue, capacity, 0.04), wanted)
    # Less than its own queue of 4 packets each: BBR has all but its pauses.
    assert tcp.bbr_share(64, 30, capacity, 0.04) > 0.95
    # Of a very long queue half, less its pauses (their equation 5).
    assert tcp.bbr_share(1, 1e3, 1e6, 1e-6) == pytest.approx(0.5 * 0.98, rel=0.02)


def test_buffer_rules():
    close(tcp.buffer(1000, 0.25), 250)
    # Their example: 10 Gb/s, 250 ms, 50,000 flows: 10 Mbit instead of 2.5 Gbit.
    assert tcp.buffer(10e9, 0.25, 50_000) == pytest.approx(11.2e6, rel=0.01)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: queues.mg1_wait(1.0, Service.constant(1.0)),
        lambda: queues.cobham_waits([(2.0, Service.constant(1.0))]),
        lambda: queues.conserved([(2.0, Service.constant(1.0))]),
        lambda: queues.mg1k(0.0, Service.constant(1.0), 4),
        lambda: queues.mg1k(0.5, Service.constant(1.0), 0),
        lambda: queues.erlang_b(-1.0, 3),
        lambda: queues.erlang_b(1.0, -3),
        lambda: queues.erlang_c(3.0, 3),
        lambda: queues.erlangs_for(3, 1.0),
        lambda: tcp.square_root(0.1, 0.0),
        lambda: tcp.padhye(0.1, 0.1, 0.0, 10),
        lambda: tcp.padhye(0.1, 0.1, 1.0, 0.5),
        lambda: tcp.tfrc(math.nan, 0.1),
        lambda: tcp.cubic(0.1, 0.1, beta=1.0),
        lambda: tcp.bbr_share(0, 10, 10, 0.1),
        lambda: tcp.buffer(0, 1),
    ],
)
def test_values_out_of_range(wrong):
    with pytest.raises(spillgate.InputError, match=r"error: estimate: .*valid is"):
        wrong()
