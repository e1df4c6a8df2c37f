use super::*;
use proptest::prelude::*;

const PACKET: Dur = Dur::from_ms(20);

fn at(ms: u64) -> Time {
    Time::ZERO + Dur::from_ms(ms)
}

fn fixed(ms: u64) -> Listener {
    Listener::new(Buffer::Fixed(Dur::from_ms(ms)), PACKET)
}

fn adaptive() -> Listener {
    let buffer = Buffer::Adaptive {
        initial: Dur::from_ms(40),
        least: Dur::from_ms(10),
        most: Dur::from_ms(200),
        memory: 0.998_002,
        deviations: 4.0,
    };
    Listener::new(buffer, PACKET)
}

/// One packet each 20 ms with these delays in ms; none: lost.
fn hear(mut listener: Listener, delays: &[Option<u64>]) -> Heard {
    for (i, delay) in (0_u64..).zip(delays) {
        if let Some(delay) = delay {
            listener.on_received(i as u32, at(20 * i), at(20 * i + delay));
        }
    }
    listener.heard(delays.len() as u64)
}

#[test]
fn a_fixed_buffer_plays_what_comes_within_its_room() {
    let heard = hear(fixed(30), &[Some(5), Some(35), Some(36), None, Some(5)]);
    assert_eq!((heard.missing, heard.late, heard.bursts), (2, 1, 1));
    assert_eq!(heard.playout, Some(0.035));
    assert_eq!(heard.loss(), 0.4);
    // One burst of two: 2 (1 - 0.4).
    assert_eq!(heard.burst_ratio(), 1.2);
}

#[test]
fn playout_delays_hold_for_a_spurt() {
    // 60 packets: a second and more. The first is slow, so what is played waits for its room
    // until the second is over; then for the smallest delay's.
    let mut delays = vec![Some(5); 60];
    delays[0] = Some(25);
    delays[10] = Some(55);
    delays[55] = Some(36);
    let heard = hear(fixed(30), &delays);
    assert_eq!((heard.late, heard.missing), (1, 1));
    // 50 packets at 55 ms, 9 at 35 ms.
    let want = (50.0 * 0.055 + 9.0 * 0.035) / 59.0;
    assert!((heard.playout.unwrap() - want).abs() < 1e-12);
}

#[test]
fn silence_begins_a_spurt_and_loss_does_not() {
    // 25 ms in the first packet, then 5 ms: the playout delay falls where a spurt begins.
    let run = |gap_ms: u64, skipped: u32| {
        let mut l = fixed(30);
        l.on_received(0, at(0), at(25));
        l.on_received(1 + skipped, at(gap_ms), at(gap_ms + 5));
        l.playout
    };
    assert_eq!(run(20, 0), Dur::from_ms(55));
    assert_eq!(run(40, 0), Dur::from_ms(55));
    assert_eq!(run(41, 0), Dur::from_ms(35));
    assert_eq!(run(200, 9), Dur::from_ms(55), "nine lost");
    assert_eq!(run(500, 9), Dur::from_ms(35));
}

#[test]
fn the_adaptive_buffer_follows_ramjees_equations() {
    // Three packets of a spurt, then a pause and a fourth, by hand.
    let a = 0.998_002;
    let (mut d, mut v) = (10.0, 10.0);
    for n in [30.0_f64, 10.0, 50.0] {
        d = a * d + (1.0 - a) * n;
        v = a * v + (1.0 - a) * (d - n).abs();
    }
    let mut l = adaptive();
    l.on_received(0, at(0), at(10));
    assert_eq!(l.playout, Dur::from_ms(50), "10 + 4 * (40 / 4)");
    l.on_received(1, at(20), at(50));
    l.on_received(2, at(40), at(50));
    assert_eq!(l.playout, Dur::from_ms(50));
    l.on_received(3, at(400), at(450));
    let got = l.playout.as_secs_f64() * 1e3;
    assert!((got - (d + 4.0 * v)).abs() < 1e-6, "{got}");
}

#[test]
fn the_adaptive_buffer_keeps_its_limits() {
    // Delay without variation: the room shrinks to the least, 10 ms, as v goes to 0.
    let mut l = adaptive();
    for i in 0..20_000_u64 {
        l.on_received(i as u32, at(20 * i), at(20 * i + 30));
    }
    assert_eq!(l.playout, Dur::from_ms(40));
    // Every second packet half a second late: 200 ms beyond the smallest at most.
    let mut l = adaptive();
    for i in 0..20_000_u64 {
        l.on_received(i as u32, at(20 * i), at(20 * i + 30 + 500 * (i % 2)));
    }
    assert_eq!(l.playout, Dur::from_ms(230));
}

#[test]
fn what_overtakes_is_put_in_order() {
    // 1 comes after 2, in time: nothing is missing. 64 places later it is too late.
    let mut l = fixed(60);
    l.on_received(0, at(0), at(5));
    l.on_received(2, at(40), at(45));
    l.on_received(1, at(20), at(50));
    assert_eq!((l.heard(3).missing, l.heard(3).late), (0, 0));
    let mut l = fixed(60_000);
    l.on_received(0, at(0), at(5));
    for i in 2..=65 {
        l.on_received(i, at(20 * u64::from(i)), at(20 * u64::from(i) + 5));
    }
    let mut in_time = l.clone();
    in_time.on_received(65, at(1300), at(1400));
    l.on_received(66, at(1320), at(1325));
    l.on_received(1, at(20), at(1340));
    let heard = l.heard(67);
    assert_eq!((heard.missing, heard.late, heard.bursts), (1, 1, 1));
}

#[test]
fn losses_at_both_ends_count() {
    let mut l = fixed(60);
    l.begin(100);
    assert_eq!(l.heard(5).missing, 5);
    assert_eq!(l.heard(5).playout, None);
    assert_eq!(
        l.heard(5).burst_ratio(),
        1.0,
        "5 of 5: 5 (1 - 1), at least 1"
    );
    l.on_received(102, at(40), at(45));
    let heard = l.heard(5);
    assert_eq!((heard.missing, heard.bursts), (4, 2));
    // Numbers wrap.
    let mut l = fixed(60);
    l.begin(u32::MAX - 1);
    for i in 0..4_u32 {
        let sent = at(20 * u64::from(i));
        l.on_received((u32::MAX - 1).wrapping_add(i), sent, sent + Dur::from_ms(5));
    }
    assert_eq!(l.heard(4).missing, 0);
}

proptest! {
    /// Losses and bursts against a list of fates that is looked at when all is over.
    #[test]
    fn counts_agree_with_a_list(
        delays in prop::collection::vec(prop::option::weighted(0.8, 0_u64..19), 0..400),
        hole in 0_usize..300, width in 0_usize..200,
    ) {
        // Delays below the spacing keep the order; a hole wider than what is open.
        let mut delays = delays;
        for d in delays.iter_mut().skip(hole).take(width) { *d = None; }
        let heard = hear(fixed(10), &delays);
        // The list: playout delays by the same rule, chosen at 0, and each second.
        let (mut smallest, mut playout, mut end, mut last) = (u64::MAX, 0, 0, None::<u64>);
        let fates: Vec<bool> = (0_u64..).zip(&delays).map(|(i, d)| {
            let Some(d) = *d else { return false };
            smallest = smallest.min(d);
            if last.is_none() || 20 * i >= end {
                (playout, end) = (smallest + 10, 20 * i + 1000);
            }
            last = Some(i);
            d <= playout
        }).collect();
        let missing = fates.iter().filter(|played| !**played).count() as u64;
        let bursts = fates.iter().enumerate().filter(|(i, played)| !**played && (*i == 0 || fates[i - 1])).count() as u64;
        prop_assert_eq!((heard.missing, heard.bursts), (missing, bursts));
        let late = (0..delays.len()).filter(|&i| delays[i].is_some() && !fates[i]).count() as u64;
        prop_assert_eq!(heard.late, late);
    }
}

#[test]
fn independent_losses_have_a_burst_ratio_of_one() {
    // 10 % lost at random: the number of bursts of n packets is n p (1 - p) with a standard
    // deviation below sqrt(n p (1 - p)); the ratio of n p to it, times 1 - p, is 1 within
    // 4 / sqrt(n p (1 - p)) = 4.2 %.
    let mut rng = spillgate_core::Rng::named(7, 0, "test", "loss");
    let delays: Vec<Option<u64>> = (0..100_000)
        .map(|_| (rng.f64() >= 0.1).then_some(5))
        .collect();
    let heard = hear(fixed(60), &delays);
    assert!(
        (heard.burst_ratio() - 1.0).abs() < 0.042,
        "{}",
        heard.burst_ratio()
    );
    // Losses in pairs have twice the mean: 2 (1 - p), p = 0.1.
    let delays: Vec<Option<u64>> = (0..100_000).map(|i| (i % 20 >= 2).then_some(5)).collect();
    assert_eq!(hear(fixed(60), &delays).burst_ratio(), 1.8);
}
