use super::super::tests::{Script, facts};
use super::*;
use crate::aqm::Managed;
use crate::recipe::test_at;
use spillgate_core::{DropReason, Dur, Ecn, Rng, Verdict};

/// At 1.25 MB/s.
fn avq(spec: &AvqSpec) -> ByChance<Avq> {
    let rate = Rate::from_bps(10_000_000).unwrap();
    let leaf = LeafFacts { rate, ..facts() };
    test_at(|at| spec.resolve(at, &leaf)).unwrap()
}

fn buffer(bytes: u64, variant: Option<AvqVariant>) -> AvqSpec {
    AvqSpec {
        buffer: Some(Size(bytes)),
        variant,
        ..AvqSpec::default()
    }
}

/// By hand: a virtual queue of 3000 B, packets of 1000 B; virtual queue and capacity after each.
#[test]
fn arrivals_are_those_of_the_paper() {
    let rows = [
        (0, 1000.0, 1_249_850.0, true),
        (400, 1500.06, 1_249_773.5, true),
        (800, 2000.1506, 1_249_697.0, true),
        (1200, 2500.2718, 1_249_620.5, true),
        // It held 2000.42 B.
        (1600, 2000.4236, 1_249_544.0, false),
        (3200, 1001.1532, 1_249_688.0, true),
    ];
    let law = avq(&buffer(3000, None)).chooser;
    let mut v = law.vars();
    for (us, queue, capacity, fits) in rows {
        let now = Time::ZERO + Dur::from_us(us);
        assert_eq!(law.fits(&mut v, now, 1000.0), fits, "{us}");
        law.adapt(&mut v, now, 1000.0);
        assert!((v.queue - queue).abs() < 1e-3, "{us}: {v:?}");
        assert!((v.capacity - capacity).abs() < 1e-6, "{us}: {v:?}");
    }
    // Four at once.
    let mut v = law.vars();
    for (queue, capacity, fits) in [
        (1000.0, 1_249_850.0, true),
        (2000.0, 1_249_700.0, true),
        (3000.0, 1_249_550.0, true),
        (3000.0, 1_249_400.0, false),
    ] {
        assert_eq!(law.fits(&mut v, Time::ZERO, 1000.0), fits);
        law.adapt(&mut v, Time::ZERO, 1000.0);
        assert_eq!((v.queue, v.capacity), (queue, capacity));
    }
}

/// After a second without a packet the paper limits the virtual capacity before it lowers it, ns-2
/// after it.
#[test]
fn ns_2_limits_the_capacity_after_the_step() {
    for (variant, capacity) in [(None, 1_249_850.0), (Some(AvqVariant::Ns2), 1_250_000.0)] {
        let law = avq(&buffer(3000, variant)).chooser;
        let mut v = Vars {
            capacity: 1_250_000.0,
            ..law.vars()
        };
        law.adapt(&mut v, Time::from_secs_f64(1.0), 1000.0);
        assert_eq!(v.capacity, capacity, "{variant:?}");
    }
}

/// Arrivals at a constant rate above the wanted one take the virtual capacity down by alpha times
/// the excess in a second; at the wanted rate it stays.
#[test]
fn the_capacity_follows_the_excess() {
    for (share, step) in [(0.98, 0.0), (1.08, -0.15 * 0.1 * 1.25e6)] {
        let law = avq(&buffer(1_000_000, None)).chooser;
        let mut v = Vars {
            capacity: 1e6,
            ..law.vars()
        };
        let gap: f64 = 1000.0 / (share * 1.25e6);
        let packets = (1.0 / gap).round();
        (1..=packets as u32).for_each(|n| {
            let now = Time::from_secs_f64(f64::from(n) * gap);
            law.adapt(&mut v, now, 1000.0);
        });
        // Times are rounded to picoseconds.
        let expected = 1e6 + step * packets * gap;
        assert!((v.capacity - expected).abs() < 1e-3, "{share}: {v:?}");
    }
}

/// AVQ in plain words: what arrived, in picoseconds and bytes; whether each was let in.
fn plainly(spec: &AvqSpec, arrivals: &[(u64, u32)]) -> Vec<bool> {
    let c = 1.25e6_f64;
    let ns2 = spec.variant.is_some();
    let (mut tilde, mut vq) = (if ns2 { 0.8 * c } else { c }, 0.0_f64);
    let (mut before, mut since, mut in_all) = (0, 0, Vec::new());
    for (at, bytes) in arrivals {
        let b = f64::from(*bytes);
        vq -= tilde * (at - before) as f64 * 1e-12;
        if vq < 0.0 {
            vq = 0.0;
        }
        before = *at;
        let fits = vq + b <= spec.buffer.unwrap().0 as f64;
        if fits {
            vq += b;
        }
        if fits || !ns2 {
            tilde += spec.alpha * spec.utilization * c * (at - since) as f64 * 1e-12;
            since = *at;
            if !ns2 && tilde > c {
                tilde = c;
            }
            tilde -= spec.alpha * b;
            tilde = tilde.clamp(0.0, c);
        }
        in_all.push(fits);
    }
    in_all
}

/// Random packets at up to twice the rate of the link, in bursts.
#[test]
fn it_is_what_it_is_in_plain_words() {
    let mut rng = Rng::from_key(8);
    let mut refused = 0;
    for round in 0..300 {
        let spec = AvqSpec {
            utilization: rng.f64().max(0.1),
            alpha: 2.0 * rng.f64() + 0.01,
            ..buffer(
                1500 + u64::from(rng.below(20_000)),
                (rng.below(2) == 0).then_some(AvqVariant::Ns2),
            )
        };
        let mut avq = Managed::new(avq(&spec));
        let (mut now, mut arrivals, mut found) = (0, Vec::new(), Vec::new());
        for _ in 0..200 {
            now += u64::from(rng.below(4)) * u64::from(rng.below(400_000_000));
            let bytes = 40 + rng.below(1460);
            arrivals.push((now, bytes));
            let packet = Packet::new(0, 0, bytes as u16);
            let mut none = Script::new(&[]);
            let at = Time::from_ps(now);
            let verdict = avq.arrival(at, &Backlog::of(1, 1000), &packet, &mut none);
            found.push(verdict == Verdict::Pass);
        }
        refused += found.iter().filter(|passed| !**passed).count();
        assert_eq!(found, plainly(&spec, &arrivals), "{round}: {spec:?}");
    }
    assert!(refused > 1000, "{refused}");
}

#[test]
fn what_does_not_fit_is_marked_or_dropped() {
    for (ecn, verdict) in [
        (false, Verdict::Drop(DropReason::Early)),
        (true, Verdict::Mark),
    ] {
        let spec = AvqSpec {
            ecn,
            ..buffer(1000, None)
        };
        let mut avq = Managed::new(avq(&spec));
        let mut none = Script::new(&[]);
        let packet = Packet {
            ecn: Ecn::Ect0,
            ..Packet::new(0, 0, 1001)
        };
        let found = avq.arrival(Time::ZERO, &Backlog::of(0, 0), &packet, &mut none);
        assert_eq!(found, verdict);
    }
}
