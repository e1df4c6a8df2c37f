//! Curves against a plain min-plus algebra on a grid of whole numbers, and against textbooks.

use proptest::prelude::*;
use spillgate_core::curve::{Curve, Exact, NoBound, Piece, UNITS};
use spillgate_core::{Dur, Rate};

/// The grid. All curves turn at whole multiples of [`STEP`] before [`LAST`]; with the slopes below
/// a curve of one reaches each value at which another turns on the grid.
const STEP: i128 = 4;
const LAST: i128 = 6 * STEP;
const SLOPES: [i128; 4] = [0, 1, 2, 4];

fn n(n: i128) -> Exact {
    Exact::from_integer(n)
}

/// A curve of this test: values and slopes by time, looked up piece by piece.
#[derive(Clone, Debug)]
struct Plain(Vec<(i128, i128, i128)>);

impl Plain {
    /// The value at `t`, or right after it.
    fn value(&self, t: i128, right: bool) -> i128 {
        let begun = |p: &&(i128, i128, i128)| p.0 < t || right && p.0 == t;
        let piece = self.0.iter().rfind(begun);
        piece.map_or(0, |(from, value, slope)| value + slope * (t - from))
    }

    fn curve(&self) -> Curve {
        let piece = |&(from, value, slope): &_| Piece {
            from: n(from),
            value: n(value),
            slope: n(slope),
        };
        Curve::new(&self.0.iter().map(piece).collect::<Vec<_>>()).unwrap()
    }

    fn slope(&self) -> i128 {
        self.0.last().unwrap().2
    }
}

fn plain() -> impl Strategy<Value = Plain> {
    let piece = (1..3_i128, 0..4_i128, 0..SLOPES.len());
    (any::<bool>(), proptest::collection::vec(piece, 1..4)).prop_map(|(now, pieces)| {
        let (mut t, mut value, mut slope) = (if now { -STEP } else { 0 }, 0, 0);
        let mut made = Vec::new();
        for (i, (wait, jump, rises)) in pieces.into_iter().enumerate() {
            let wait = if i == 0 { 1 } else { wait } * STEP;
            t += wait;
            value += slope * wait * i128::from(i > 0) + jump * STEP;
            slope = SLOPES[rises];
            made.push((t, value, slope));
        }
        Plain(made)
    })
}

/// Checks a curve at and right after each time of the grid.
#[track_caller]
fn agrees(curve: &Curve, value: impl Fn(i128, bool) -> i128) {
    for t in 0..=3 * LAST {
        if t > 0 {
            assert_eq!(curve.at(n(t)), Ok(n(value(t, false))), "at {t}: {curve:?}");
        }
        let right = curve.right_of(n(t));
        assert_eq!(right, Ok(n(value(t, true))), "after {t}: {curve:?}");
    }
}

/// As [`agrees`], for operations whose value right after a time is asked only.
#[track_caller]
fn agrees_after(curve: &Curve, value: impl Fn(i128) -> i128) {
    for t in 0..=3 * LAST {
        let right = curve.right_of(n(t));
        assert_eq!(right, Ok(n(value(t))), "after {t}: {curve:?}");
    }
}

proptest! {
    #[test]
    fn sums_and_extremes_are_those_of_each_time(f in plain(), g in plain()) {
        let (a, b) = (f.curve(), g.curve());
        let of = |op: fn(i128, i128) -> i128| {
            let (f, g) = (f.clone(), g.clone());
            move |t, right| op(f.value(t, right), g.value(t, right))
        };
        agrees(&a, of(|x, _| x));
        agrees(&a.plus(&b).unwrap(), of(|x, y| x + y));
        agrees(&a.min(&b).unwrap(), of(i128::min));
        agrees(&a.max(&b).unwrap(), of(i128::max));
        agrees(&a.scaled(n(3)).unwrap(), of(|x, _| 3 * x));
    }

    /// A summand is taken away; what was none is refused.
    #[test]
    fn a_sum_without_a_summand_is_the_other(f in plain(), g in plain()) {
        let (a, b) = (f.curve(), g.curve());
        let other = a.plus(&b).unwrap().minus(&b).unwrap();
        agrees(&other, |t, right| f.value(t, right));
        prop_assert!(b.minus(&a.plus(&b).unwrap()).is_err() || f.0.iter().all(|p| (p.1, p.2) == (0, 0)));
    }

    /// The least difference from a time on, at least 0, after the delay.
    #[test]
    fn what_is_left_in_the_order_of_arrival(f in plain(), g in plain(), theta in 0..2 * STEP) {
        let late = Dur::from_ps(u64::try_from(theta).unwrap());
        let left = f.curve().in_order_beside(&g.curve(), late);
        if g.slope() > f.slope() {
            prop_assert_eq!(left, Err(NoBound::Unbounded));
        } else {
            let difference = |s, right| f.value(s, right) - g.value(s - theta, right);
            let least = |t: i128| {
                let later = (t + 1..=5 * LAST).flat_map(|s| [difference(s, false), difference(s, true)]);
                let least = later.chain([difference(t, true)]).min().unwrap().max(0);
                if t < theta { 0 } else { least }
            };
            agrees_after(&left.unwrap(), least);
        }
    }

    /// The least sum over all ways to divide a time; it is reached where a curve turns.
    #[test]
    fn convolutions_are_the_least_sums(f in plain(), g in plain()) {
        let least = |t: i128| (0..=t).map(|s| f.value(s, false) + g.value(t - s, false)).min();
        let result = f.curve().convolve(&g.curve()).unwrap();
        for t in 1..=3 * LAST {
            prop_assert_eq!(result.at(n(t)), Ok(n(least(t).unwrap())), "at {}", t);
        }
        prop_assert_eq!(result.final_slope(), n(f.slope().min(g.slope())));
        prop_assert_eq!(&result, &g.curve().convolve(&f.curve()).unwrap());
    }

    /// The largest difference over all times before; the limit from the right, which is reached.
    #[test]
    fn deconvolutions_are_the_largest_differences(f in plain(), g in plain()) {
        let result = f.curve().deconvolve(&g.curve());
        if f.slope() > g.slope() {
            prop_assert_eq!(result, Err(NoBound::Unbounded));
        } else {
            let most = |t| {
                let differences = (0..=2 * LAST).map(|u| f.value(t + u, true) - g.value(u, false));
                differences.max().unwrap()
            };
            agrees_after(&result.unwrap(), most);
        }
    }

    #[test]
    fn what_is_left_is_the_largest_difference_so_far(f in plain(), g in plain()) {
        let difference = |t, right| f.value(t, right) - g.value(t, right);
        let most = |t: i128| {
            let before = (0..=t).flat_map(|s| [difference(s, false), difference(s, true)]);
            before.max().unwrap().max(0)
        };
        agrees_after(&f.curve().left_over(&g.curve()).unwrap(), most);
    }

    #[test]
    fn delays_move_a_curve_and_packets_lift_it(f in plain(), by in 1..LAST, bytes in 0..4_u64) {
        let late = Dur::from_ps(by as u64);
        let value = |t: i128, right: bool| if t < 0 { 0 } else { f.value(t, right) };
        agrees(&f.curve().delayed(late).unwrap(), |t, right| value(t - by, right));
        agrees(&f.curve().jittered(late).unwrap(), |t, right| value(t + by, right));
        let more = i128::from(bytes) * UNITS;
        agrees(&f.curve().packetized(bytes).unwrap(), |t, right| f.value(t, right) + more);
    }

    /// The longest wait for the value at, or right after, a time.
    #[test]
    fn the_horizontal_deviation_is_the_longest_wait(f in plain(), g in plain()) {
        let result = f.curve().horizontal(&g.curve());
        let far = 40 * LAST;
        // Of what rises further right after, no more than the value itself is served at once where
        // the server stands.
        let is_served = |x: i128, come: i128, rises: bool| {
            let served = g.value(x, true);
            let goes_on = g.value(x + 1, false) > served;
            served > come || served == come && (!rises || goes_on)
        };
        let wait = |t: i128, right: bool| {
            let come = f.value(t, right);
            let rises = right && f.value(t + 1, false) > come;
            let served = (0..far).find(|x| is_served(*x, come, rises))?;
            Some((served - t).max(0))
        };
        let waits = (0..=4 * LAST).flat_map(|t| [wait(t, false), wait(t, true)]);
        let longest = waits.collect::<Option<Vec<_>>>().map(|w| w.into_iter().max().unwrap());
        match longest.filter(|_| f.slope() <= g.slope()) {
            Some(longest) => prop_assert_eq!(result, Ok(Dur::from_ps(longest as u64))),
            None => prop_assert_eq!(result, Err(NoBound::Unbounded)),
        }
    }

    #[test]
    fn the_vertical_deviation_is_the_largest_backlog(f in plain(), g in plain()) {
        let in_bytes = |p: &Plain| p.curve().scaled(n(UNITS)).unwrap();
        let result = in_bytes(&f).vertical(&in_bytes(&g));
        let gap = |t, right| f.value(t, right) - g.value(t, right);
        let most = (0..=2 * LAST).flat_map(|t| [gap(t, false), gap(t, true)]).max();
        if f.slope() > g.slope() {
            prop_assert_eq!(result, Err(NoBound::Unbounded));
        } else {
            prop_assert_eq!(result, Ok(most.unwrap().max(0) as u64));
        }
    }
}

fn mbps(n: u64) -> Rate {
    Rate::from_bps(n * 1_000_000).unwrap()
}

fn ms(n: u64) -> Dur {
    Dur::from_ms(n)
}

/// Le Boudec and Thiran, section 1.4.2: a leaky bucket `r`, `b` through a rate-latency server `R`,
/// `T`: delay `T + b / R`, backlog `b + r T`, output `r`, `b + r T`.
#[test]
fn a_token_bucket_through_a_server() {
    let arrivals = Curve::token_bucket(mbps(1), 10_000);
    let service = Curve::rate_latency(mbps(8), ms(2)).unwrap();
    assert_eq!(arrivals.horizontal(&service), Ok(ms(2 + 10)));
    assert_eq!(arrivals.vertical(&service), Ok(10_000 + 250));
    let output = arrivals.deconvolve(&service).unwrap();
    assert_eq!(output, Curve::token_bucket(mbps(1), 10_250));
    // No faster than it arrives.
    let slow = Curve::rate_latency(mbps(1), ms(2)).unwrap();
    assert_eq!(arrivals.horizontal(&slow), Ok(ms(2 + 80)));
    let slower = Curve::rate_latency(Rate::from_bps(999_999).unwrap(), ms(0)).unwrap();
    assert_eq!(arrivals.horizontal(&slower), Err(NoBound::Unbounded));
    assert_eq!(arrivals.vertical(&slower), Err(NoBound::Unbounded));
}

/// The same, section 1.4.2, of a variable bit rate (T-SPEC: peak `p`, packet `M`, `r`, `b`): delay
/// `M / R + (b - M) / (p - r) (p - R) / R + T`, backlog `b + r T` while the peak ends before `T`.
#[test]
fn a_t_spec_through_a_server() {
    let (p, m, r, b) = (mbps(10), 1_000, mbps(1), 10_000);
    let arrivals = Curve::token_bucket(p, m)
        .min(&Curve::token_bucket(r, b))
        .unwrap();
    // It turns at 9000 B / 9 Mb/s = 8 ms, with 11,000 B.
    assert_eq!(arrivals.pieces().len(), 2);
    let service = Curve::rate_latency(mbps(4), ms(10)).unwrap();
    // 11,000 B take 22 ms, 8 ms of which have passed.
    assert_eq!(arrivals.horizontal(&service), Ok(ms(10 + 22 - 8)));
    assert_eq!(arrivals.vertical(&service), Ok(10_000 + 1_250));
}

/// Section 1.4.3: bursts are paid only once: two servers in a row delay by `T1 + T2 + b / min(R)`,
/// the sum of the hops' bounds is larger by `(b + r T1) / max(R)`.
#[test]
fn bursts_are_paid_only_once() {
    let arrivals = Curve::token_bucket(mbps(1), 10_000);
    let first = Curve::rate_latency(mbps(8), ms(2)).unwrap();
    let second = Curve::rate_latency(mbps(4), ms(3)).unwrap();
    let both = first.convolve(&second).unwrap();
    assert_eq!(both, Curve::rate_latency(mbps(4), ms(5)).unwrap());
    assert_eq!(arrivals.horizontal(&both), Ok(ms(2 + 3 + 20)));
    let between = arrivals.deconvolve(&first).unwrap();
    let sum = [arrivals.horizontal(&first), between.horizontal(&second)];
    // 10,250 B take 20.5 ms.
    assert_eq!(sum, [Ok(ms(12)), Ok(Dur::from_us(23_500))]);
}

/// Corollary 6.2.1 of the book: a rate-latency server that serves a token bucket first leaves
/// `R - r` after `(R T + b) / (R - r)`.
#[test]
fn a_server_leaves_others_what_it_has_left() {
    let service = Curve::rate_latency(mbps(9), ms(2)).unwrap();
    let others = Curve::token_bucket(mbps(1), 1_750);
    let left = service.left_over(&others).unwrap();
    // (18,000 b + 14,000 b) / 8 Mb/s.
    assert_eq!(left, Curve::rate_latency(mbps(8), ms(4)).unwrap());
    let all = Curve::token_bucket(mbps(9), 0);
    assert_eq!(service.left_over(&all), Ok(Curve::zero()));
    assert_eq!(
        service.after_bytes(2_250),
        Ok(Curve::rate_latency(mbps(9), ms(4)).unwrap())
    );
    assert_eq!(left.serves(8_000), Ok(ms(12)));
}

/// A third of a byte and of a picosecond is rounded to the safe side.
#[test]
fn results_are_rounded_up() {
    let third = Curve::rate(Rate::from_bps(3).unwrap());
    assert_eq!(third.serves(1).map(Dur::as_ps), Ok(2_666_666_666_667));
    let late = Curve::rate_latency(Rate::from_bps(3).unwrap(), Dur::from_ps(1)).unwrap();
    assert_eq!(third.vertical(&late), Ok(1));
}

#[test]
fn what_is_too_large_is_no_bound() {
    let huge = Curve::rate(mbps(1_000_000_000)).scaled(n(1 << 70)).unwrap();
    assert_eq!(huge.scaled(n(1 << 40)), Err(NoBound::Overflow));
    assert_eq!(
        huge.delayed(Dur::MAX).unwrap().convolve(&huge),
        Err(NoBound::Overflow)
    );
    let point = |from, value, slope| Piece {
        from: n(from),
        value: n(value),
        slope: n(slope),
    };
    for falls in [
        vec![point(0, 5, 0), point(3, 4, 0)],
        vec![point(0, 5, -1)],
        vec![point(3, 5, 0), point(3, 6, 0)],
        vec![point(-1, 0, 0)],
    ] {
        assert_eq!(Curve::new(&falls), Err(NoBound::Decreasing));
    }
}
