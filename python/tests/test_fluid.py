"""The fluid model against closed forms, published designs, its own equations and the simulator."""

import math
import subprocess
import sys

import numpy as np
import pytest

from spillgate.analysis import fluid
from spillgate.analysis.fluid.motion import _Motion
from spillgate.errors import InputError

# The network of the examples of both INFOCOM 2001 papers of Hollot, Misra, Towsley and Gong:
# 15 Mb/s in packets of 500 B, 60 connections, a round trip of 0.2 s and 175 packets of queue. The
# papers print R = 0.246 s. Their designs are recomputed here from their equations, and margins are
# compared with closed forms: what the papers' plots show cannot be read to a tolerance.
C, N, R = 3750.0, 60, 0.2 + 175 / 3750


def red_at(flows, rtt, gain, pole):
    """A model whose loop has this R0 and RED of this L_red = p'(x) and K."""
    needed = 2 * flows**2 / (rtt * C) ** 2
    red = fluid.Red(0.0, 4 * needed / gain, 4 * needed, -math.expm1(-pole / C), gentle=False)
    return fluid.Model(flows, C, rtt - needed / gain / C, red)


def pi_at(pi, flows=N, rtt=R):
    return fluid.Model(flows, C, rtt - pi.target / C, pi)


def plant(s, flows, rtt):
    """P(s) of "A control theoretic analysis of RED", and of the PI paper."""
    poles = (s + 2 * flows / (rtt**2 * C)) * (s + 1 / rtt)
    return C**2 / (2 * flows) * np.exp(-s * rtt) / poles


OMEGA = np.geomspace(1e-3, 30, 40)


def test_the_simplified_loop_is_the_published_one():
    s = 1j * OMEGA
    for flows, rtt in ((60, 0.246), (20, 0.15), (300, 0.4)):
        loop = red_at(flows, rtt, 1.86e-4, 0.005).loop(simplified=True)
        red = 1.86e-4 / (1 + s / 0.005)
        assert loop.response(OMEGA) == pytest.approx(red * plant(s, flows, rtt), rel=1e-9)
        pi = fluid.Pi(target=20)
        gain, zero = (pi.a - pi.b) * 160, (pi.a - pi.b) * 160 / ((pi.a + pi.b) / 2)
        loop = pi_at(pi, flows, rtt).loop(simplified=True)
        law = gain * (s / zero + 1) / s
        assert loop.response(OMEGA) == pytest.approx(law * plant(s, flows, rtt), rel=1e-9)


def test_the_full_loop_is_the_simplified_one_for_large_windows_and_slow_change():
    # What is left out is of the order of 1/W0 and of omega R0; W0 = R C / N.
    model = red_at(1, R, 1e-8, 0.005)
    window = model.operating_point().window
    assert window == pytest.approx(R * C)
    slow = np.geomspace(1e-3, 1e-2, 5) / R
    full, simple = (model.loop(simplified=x).response(slow) for x in (False, True))
    assert full == pytest.approx(simple, rel=0.01 + 1 / window)


def test_published_red_design():
    """Proposition 1: stable if L (RC)^3/(2N)^2 <= |j w/K + 1|, w a tenth of the lower pole."""
    poles = 2 * N / (R**2 * C), 1 / R
    crossover = 0.1 * min(poles)
    # The papers round it to 0.05 rad/s.
    assert round(crossover, 2) == 0.05
    bound = math.hypot(crossover / 0.005, 1) / ((R * C) ** 3 / (2 * N) ** 2)
    # Their L = 1.86e-4 obeys the bound, with 3.4 % to spare.
    assert bound / 1.86e-4 == pytest.approx(1.034, abs=0.001)
    # Their RED of the simulations, thresholds 150 and 700 and max_p 0.1, is that L to 3 %.
    simulated = fluid.Red(150, 700, 0.1, 1.33e-6, gentle=False)
    assert simulated.slope(200) == pytest.approx(1.86e-4, rel=0.03)
    assert simulated.pole(C) == pytest.approx(0.005, rel=0.01)
    # At the crossover, which is then not above w_g, the phase is at worst -90 degrees of the
    # filter, arctan 0.1 of each pole and 0.1 rad of delay: for all of N >= 60, R <= 0.2467.
    least = 90 - 2 * math.degrees(math.atan(0.1)) - math.degrees(0.1)
    for flows, rtt in ((60, 0.1), (60, 0.15), (60, R), (80, 0.2), (80, R), (120, R)):
        found = red_at(flows, rtt, 1.86e-4, 0.005).margins(simplified=True)
        assert found.stable
        assert found.phase > least
        # NaN where the gain is below 1 everywhere.
        assert not found.gain_crossover > crossover


def test_published_pi_design():
    """C(s) = K (s/z + 1)/s with K = 9.64e-6, z = 0.53, sampled at 160 Hz, is a and b."""
    a, b = (9.64e-6 * (1 / 0.53 + sign / 320) for sign in (1, -1))
    assert (round(a, 8), round(b, 8)) == (1.822e-5, 1.816e-5)
    pi = fluid.Pi.designed(N, C, R, target=175)
    # z is 0.5259 before it is rounded to 0.53.
    assert round(2 * N / (R**2 * C), 2) == 0.53
    assert (pi.a, pi.b) == pytest.approx((1.822e-5, 1.816e-5), rel=0.53 / 0.5259 - 1 + 0.001)
    found = pi_at(pi).margins(simplified=True)
    z = found.gain_crossover
    assert z == pytest.approx(2 * N / (R**2 * C), rel=1e-9)
    # What the zero cancels is gone; what is left are 1/s, the pole 1/R and the delay.
    margin = 90 - math.degrees(math.atan(z * R) + z * R)
    assert found.phase == pytest.approx(margin, abs=1e-6)
    assert found.delay == pytest.approx(math.radians(margin) / z)
    # At the other crossover pole and delay make another 90 degrees: w R = x, x tan x = 1 ...
    x = found.phase_crossover * R
    assert x * math.tan(x) == pytest.approx(1)
    # ... and the gain is K (RC)^3/(2N)^2 / (w |j w R + 1|).
    gain = (pi.a - pi.b) * 160 * (R * C) ** 3 / (2 * N) ** 2
    assert found.gain == pytest.approx(x / R * math.hypot(x, 1) / gain)


def test_pi_is_stable_for_crossovers_below_0_85_over_the_round_trip():
    """The bound of the PI paper: 90 degrees = arctan beta + beta at beta = 0.86."""
    for beta, stable in ((0.85, True), (0.87, False)):
        pi = fluid.Pi.designed(N, C, R, target=175, crossover=beta / R)
        found = pi_at(pi).margins(simplified=True)
        margin = 90 - math.degrees(math.atan(beta) + beta)
        assert found.phase == pytest.approx(margin, abs=1e-6)
        assert (found.stable, margin > 0) == (stable, stable)


def test_a_gain_margin_of_one_is_the_border():
    pi = fluid.Pi.designed(N, C, R, target=175)
    for simplified in (True, False):
        edge = pi_at(pi).margins(simplified=simplified)
        for factor, stable in ((0.999, True), (1.001, False)):
            scaled = fluid.Pi(pi.a * edge.gain * factor, pi.b * edge.gain * factor, target=175)
            found = pi_at(scaled).margins(simplified=simplified)
            assert found.stable is stable
            assert (found.gain > 1, found.phase > 0) == (stable, stable)
        # A thousandth of the gain moves the root by about as much of its size.
        assert found.root.imag == pytest.approx(edge.phase_crossover, rel=2e-3)
        assert abs(found.root.real) < 2e-3 * found.root.imag


def test_roots_solve_the_characteristic_equation():
    def characteristic(s):
        return 1 + 1.86e-4 / (1 + s / 0.005) * plant(s, flows, R)

    for flows in (10, 20, 60):
        s = red_at(flows, R, 1.86e-4, 0.005).loop(simplified=True).roots()[:6]
        slope = (characteristic(s + 1e-6) - characteristic(s - 1e-6)) / 2e-6
        # How far Newton's method would move them. Roots far to the left, which die within a
        # fraction of a round trip, are found less exactly.
        step = abs(characteristic(s) / slope / s)
        assert step[:3].max() < 1e-9
        assert step.max() < 1e-5


SWITCH = fluid.Switch(ports=4, speedup=1.1, nu=0.5)
SLOW_RED = fluid.Red(5, 200, 0.1, 1e-4)
MODELS = {
    "red": fluid.Model(20, 1250, 0.1, fluid.Red(20, 80, 0.1, 0.002, spread="per-packet")),
    "quadratic": fluid.Model(20, 1250, 0.1, fluid.Red(20, 80, 0.1, 0.002, curve="quadratic")),
    "gentle part": fluid.Model(40, 1250, 0.1, fluid.Red(5, 15, 0.02, 0.002)),
    "dsred, second slope": fluid.Model(40, 1250, 0.05, fluid.Dsred()),
    "pi": fluid.Model(60, 3750, 0.2, fluid.Pi(), increase=0.5, decrease=0.6),
    "pie": fluid.Model(30, 1250, 0.1, fluid.Pie()),
    "switch": fluid.Model(40, 1250, 0.1, SLOW_RED, switch=SWITCH),
    "switch, pi": fluid.Model(40, 1250, 0.1, fluid.Pi(target=60), switch=SWITCH),
    "idle output": fluid.Model(
        20, 1250, 0.1, fluid.Red(5, 15, 0.1, 0.002), switch=fluid.Switch(16, 1.05, 1.0)
    ),
    "inputs as bottleneck": fluid.Model(
        20, 1250, 0.1, SLOW_RED, switch=fluid.Switch(4, 1.1, 1.0, inputs=2)
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_linearization_is_the_numerical_jacobian(name):
    model = MODELS[name]
    loop, at = model.loop(), model.operating_point()
    assert (at.rate < model.capacity) == ("queue" not in loop.names)
    curve = isinstance(model.aqm, fluid.Curve)
    control = at.measure if curve else at.probability
    rest = np.array([at.window, at.input_queue, at.queue, control])
    # W, v, q and the controller, whose state in the linear model is for PI the integral z of the
    # measure: p = Ki z + Kp m. Columns of z and p are compared through it.
    indices = [0, *([1] if model.switch else []), *([2] if "queue" in loop.names else []), 3]
    measure = np.array([0, model.nu, 1.0, 0])[indices]
    ki, kp = (1, 0) if curve else model.aqm.gains(at.probability, model.capacity)
    # From (..., z) to (..., p), and its inverse.
    change = np.eye(len(indices))
    if not curve:
        change[-1] = kp * measure
        change[-1, -1] = ki
    inverse = np.linalg.inv(change)

    def slopes(now, before):
        motion = _Motion(model, tuple(before), 1e-3)
        values, _ = motion._slopes(0.0, tuple(now))
        found = np.array(values)
        if "queue" not in loop.names:
            assert found[2] == 0
        return found[indices]

    assert slopes(rest, rest) == pytest.approx(np.zeros(len(indices)), abs=1e-6)
    for which, matrix in ((0, loop.a0), (1, loop.a1)):
        numeric = np.zeros_like(matrix)
        for column, i in enumerate(indices):
            h = 1e-5 * max(rest[i], 1e-3)
            ends = []
            for sign in (1, -1):
                moved = [rest.copy(), rest.copy()]
                moved[which][i] += sign * h
                ends.append(slopes(*moved))
            numeric[:, column] = (ends[0] - ends[1]) / (2 * h)
        scale = abs(loop.a0).max(axis=1, keepdims=True) + abs(loop.a1).max(axis=1, keepdims=True)
        error = inverse @ numeric @ change - matrix
        assert abs(error / np.where(scale > 0, scale, 1)).max() < 1e-5


def test_operating_points_balance():
    for model in MODELS.values():
        at = model.operating_point()
        assert at.window == pytest.approx(at.rtt * at.rate / model.flows)
        assert model.decrease * at.window**2 * at.probability == pytest.approx(model.increase)
        if isinstance(model.aqm, fluid.Curve):
            assert model.aqm.probability(at.measure) == pytest.approx(at.probability, rel=1e-6)
        else:
            assert at.measure == model.aqm.reference(model.capacity)
        if model.switch:
            load = at.rate / model.switch.rate(model.capacity)
            assert model.switch.packets(load) == pytest.approx(at.input_queue)
            assert model.switch.load(at.input_queue) == pytest.approx(load)
            h = 1e-6
            ends = (model.switch.packets(load + s * h) for s in (1, -1))
            lag = (next(ends) - next(ends)) / (2 * h) / model.switch.rate(model.capacity)
            assert model.switch.lag(load, model.capacity) == pytest.approx(lag, rel=1e-6)


def test_voqs_are_md1():
    # The mean number in an M/D/1 system at load 1/2 is 3/4 (Pollaczek and Khinchine).
    assert fluid.Switch(1, 1.0).packets(0.5) == pytest.approx(0.75)


def test_a_weight_of_one_hides_the_input_queues():
    target = 60
    pi = fluid.Pi(target=target)
    plain = fluid.Model(40, 1250, 0.1, pi).loop()
    seen = fluid.Model(40, 1250, 0.1, pi, switch=fluid.Switch(4, 1.1, 1.0)).loop()
    assert seen.point.queue + seen.point.input_queue == pytest.approx(target)
    assert seen.response(OMEGA) == pytest.approx(plain.response(OMEGA), rel=1e-9)
    # Other weights add a lag and a lead to the sum of all queues.
    for nu in (0.0, 0.5, 2.0):
        switch = fluid.Switch(4, 1.1, nu)
        held = switch.packets(1 / 1.1)
        pi = fluid.Pi(target=target - held + nu * held)
        seen = fluid.Model(40, 1250, 0.1, pi, switch=switch).loop()
        s = 1j * OMEGA * switch.lag(1 / 1.1, 1250)
        expected = plain.response(OMEGA) * (1 + nu * s) / (1 + s)
        assert seen.response(OMEGA) == pytest.approx(expected, rel=1e-9)


def test_input_queues_vanish_with_speedup():
    at = [
        fluid.Model(40, 1250, 0.1, SLOW_RED, switch=fluid.Switch(16, s, 0.5)).operating_point()
        for s in (1.1, 1.5, 2, 16)
    ]
    assert [a.input_queue for a in at] == sorted((a.input_queue for a in at), reverse=True)
    # At the speed of all inputs each packet is alone in its VOQ for 1/16 of its time.
    assert at[-1].input_queue == pytest.approx(16 * (1 / 16 + 1 / 480))
    # A larger weight keeps the output's queue shorter, until the output idles.
    by_nu = [
        fluid.Model(40, 1250, 0.1, SLOW_RED, switch=fluid.Switch(16, 1.1, nu)).operating_point()
        for nu in (0, 0.125, 0.5, 1, 4)
    ]
    assert [a.queue for a in by_nu] == sorted((a.queue for a in by_nu), reverse=True)
    assert by_nu[0].rate == 1250 > by_nu[-1].rate


def test_more_connections_and_shorter_round_trips_are_more_stable():
    gains = [red_at(n, 0.2, 1e-3, 0.05).margins().gain for n in (20, 40, 80, 160)]
    assert gains == sorted(gains)
    gains = [red_at(40, rtt, 1e-3, 0.05).margins().gain for rtt in (0.4, 0.2, 0.1, 0.05)]
    assert gains == sorted(gains)


def test_solution_is_of_second_order():
    model = fluid.Model(60, 3750, 0.2, fluid.Pi.designed(60, 3750, 0.26, target=200))
    start = {"window": 14.0, "queue": 150.0, "control": 0.01}
    ends = [model.integrate(3.2, step=0.01 / k, **start).queue[-1] for k in (1, 2, 4, 16)]
    coarse, fine = ends[0] - ends[1], ends[1] - ends[2]
    assert coarse / fine == pytest.approx(4, rel=0.25)
    # Four steps a hundredth of a second leave a third of the last difference.
    assert ends[3] == pytest.approx(ends[2], abs=abs(fine) / 2)


def test_the_limit_cycle_begins_where_the_margin_ends():
    pi = fluid.Pi.designed(N, C, R, target=300)
    edge = pi_at(pi).margins()
    for factor, lasting in ((0.97, False), (1.03, True)):
        scaled = fluid.Pi(pi.a * edge.gain * factor, pi.b * edge.gain * factor, target=300)
        found = pi_at(scaled).oscillation()
        assert found.lasting is lasting
        # The root's frequency moves by no more than the gain, 3 %.
        turn = edge.phase_crossover / (2 * math.pi)
        assert found.frequency == pytest.approx(turn, rel=0.03)


def test_queue_stays_within_its_bounds_and_overflow_is_felt():
    red = fluid.Red(20, 80, 0.1, 0.002, gentle=False)
    model = fluid.Model(10, 1250, 0.1, red, limit=60)
    trajectory = model.integrate(60)
    assert trajectory.queue.min() >= 0
    assert trajectory.queue.max() == 60
    # Without the losses of the full queue windows would exceed what pipe and queue hold.
    assert trajectory.window.max() < 2 * (0.1 * 1250 + 60) / 10
    assert trajectory.window.min() >= 1


def test_drop_rates_are_those_of_the_gaps():
    # Mean gaps with n = 1/p_b = 20, from the table on the page of RED.
    for spread, wait, gap in (
        ("none", False, 20),
        ("per-packet", False, (1 + 19) / 2),
        ("per-packet", True, (20 + 39) / 2),
        ("per-gap", False, (1 + 20) / 2),
        ("per-gap", True, (21 + 40) / 2),
    ):
        red = fluid.Red(0, 10, 0.1, 0.002, spread=spread, wait=wait)
        assert red.probability(5) == pytest.approx(1 / gap)
        h = 1e-5
        slope = (red.probability(5 + h) - red.probability(5 - h)) / (2 * h)
        assert red.slope(5) == pytest.approx(slope, rel=1e-6)


def test_nonlinear_red_is_a_parabola():
    """Zhou, Yeung and Li: 1.5 max_p x^2, so 0.0375 in the middle; gentle goes on at 0.15."""
    red = fluid.Red(5, 15, 0.1, 0.002, curve="quadratic")
    assert [red.probability(x) for x in (5, 10, 15, 30)] == pytest.approx([0, 0.0375, 0.15, 1])
    for x in (7.0, 12.0, 20.0):
        slope = (red.probability(x + 1e-5) - red.probability(x - 1e-5)) / 2e-5
        assert red.slope(x) == pytest.approx(slope, rel=1e-6)


def test_dsred_has_two_slopes():
    """Zheng and Atiquzzaman: alpha = 2 (1 - gamma)/(Kh - Kl), beta = 2 gamma/(Kh - Kl)."""
    dsred = fluid.Dsred(6, 20, 0.96, 0.07)
    assert dsred.slope(10) == pytest.approx(0.08 / 14)
    assert dsred.slope(15) == pytest.approx(1.92 / 14)
    assert [dsred.probability(x) for x in (5, 13, 20)] == pytest.approx([0, 0.04, 1])


def test_pie_gains_are_scaled_as_rfc_8033_says():
    for p, scale in ((1e-7, 2048), (5e-6, 512), (5e-5, 128), (5e-4, 32), (5e-3, 8), (0.05, 2)):
        ki, kp = fluid.Pie().gains(p, 1000)
        assert ki * scale == pytest.approx(0.125 / 0.015 / 1000)
        assert kp * scale == pytest.approx((1.25 + 0.125 / 2) / 1000)


def test_spectrum_of_the_simplified_loop():
    model = red_at(N, R, 1.86e-4, 0.005)
    loop = model.loop(simplified=True)
    s = 1j * OMEGA
    open_loop = 1.86e-4 / (1 + s / 0.005) * plant(s, N, R)
    window = R * C / N
    noise = 2 / window**2 * C * (window / 2 / N) ** 2
    to_queue = N / R / ((s + 2 * N / (R**2 * C)) * (s + 1 / R)) / (1 + open_loop)
    expected = 2 * noise * abs(to_queue) ** 2
    assert loop.spectrum(OMEGA / (2 * math.pi)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: fluid.Red(20, 10, 0.1, 0.002), "max_th: 10: must be a finite number above 20"),
        (lambda: fluid.Red(5, 10, 0.7, 0.002, curve="quadratic"), "max_p: 0.7"),
        (lambda: fluid.Red(-1, 10, 0.1, 0.002), "min_th: -1"),
        (lambda: fluid.Red(5, 15, 0, 0.002), "max_p"),
        (lambda: fluid.Red(5, 15, 0.1, 1.0), "weight: 1.0: must be above 0 and below 1"),
        (lambda: fluid.Red(5, 15, 0.1, 0.1, spread="even"), "spread: 'even'"),
        (lambda: fluid.Red(5, 15, 0.1, 0.1, wait=True), "wait"),
        (lambda: fluid.Dsred(gamma=1.5), "gamma: 1.5: must be 0 to 1"),
        (lambda: fluid.Pi(a=1e-5, b=2e-5), "b: 2e-05: must be below a"),
        (lambda: fluid.Pi.designed(0, 1, 1, target=1), "flows"),
        (lambda: fluid.Pie(target=0.0), "target"),
        (lambda: fluid.Switch(4, 0.9), "speedup: 0.9: must be 1 to the number of ports, 4"),
        (lambda: fluid.Switch(4, 5), "speedup: 5"),
        (lambda: fluid.Switch(4, 1.1, -0.1), "nu: -0.1: must be a finite number, at least 0"),
        (lambda: fluid.Switch(4, 1.1, inputs=5), "inputs"),
        (lambda: fluid.Switch(0, 1), "ports"),
        (lambda: fluid.Model(0, 1, 1, fluid.Pi()), "flows: 0: must be"),
        (lambda: fluid.Model(1, 1, math.nan, fluid.Pi()), "rtt: nan"),
        (lambda: fluid.Model(1, 1, 1, fluid.Pi(), decrease=2), "decrease"),
        (lambda: fluid.Model(1, 1, 1, fluid.Pi(), limit=0), "limit"),
        (lambda: MODELS["pi"].integrate(0), "duration"),
        (lambda: MODELS["pi"].integrate(1, step=1e-9), "duration / step"),
    ],
)
def test_bad_parameters_are_refused(make, words):
    with pytest.raises(InputError, match=r"error: fluid model: ") as error:
        make()
    assert words in str(error.value)


def test_where_there_is_no_operating_point():
    red = fluid.Red(5, 15, 0.02, 0.002, gentle=False)
    with pytest.raises(InputError, match=r"at 15 packets .* jumps from 0\.02 to 1, over 0\.\d+"):
        fluid.Model(40, 1250, 0.05, red).operating_point()
    gentle = fluid.Red(5, 15, 0.02, 0.002)
    with pytest.raises(InputError, match=r"not even a probability of 1"):
        fluid.Model(400, 1250, 0.01, gentle).operating_point()
    with pytest.raises(InputError, match=r"above its limit 50"):
        fluid.Model(60, 3750, 0.2, fluid.Pi(target=200), limit=50).operating_point()
    switch = fluid.Switch(4, 1.1, inputs=2)
    with pytest.raises(InputError, match=r"nu = 0"):
        fluid.Model(20, 1250, 0.1, gentle, switch=switch).operating_point()


def test_without_scipy_the_way_to_it_is_said():
    code = (
        "import sys\n"
        "sys.modules['scipy'] = None\n"
        "import spillgate\n"
        "try:\n"
        "    import spillgate.analysis.fluid\n"
        "except spillgate.MissingDependencyError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'spillgate[analysis]'" in done.stdout
