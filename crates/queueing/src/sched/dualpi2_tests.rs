//! The law of DualPI2: coupling, ramp, turns and overload.

use proptest::prelude::*;
use spillgate_core::testkit::effort;

use spillgate_core::Rate;

use super::super::dualpi2_spec::DualPi2Spec;
use super::super::flow_queue::FlowQueueSpec as _;
use super::*;
use crate::line::Line;
use crate::recipe::test_at;
use crate::stats::Desk;

fn running(json: &str) -> DualPi2 {
    let spec: DualPi2Spec = serde_json::from_str(json).unwrap();
    let law = test_at(|at| spec.law(at)).unwrap();
    DualPi2::new(law, Bound::NONE)
}

fn at(us: u64) -> Time {
    Time::ZERO + Dur::from_us(us)
}

fn packet(seq: u32, ecn: Ecn) -> Packet {
    Packet {
        ecn,
        ..Packet::new(0, seq, 1500)
    }
}

/// Offers packets at 0.
fn fill(queue: &mut DualPi2, desk: &mut Desk, packets: u32, ecn: Ecn) {
    for seq in 0..packets {
        queue.offer(&mut packet(seq, ecn), ecn, &mut desk.at(Time::ZERO));
    }
}

/// Sets the base probability, and stops its updates.
fn hold(queue: &mut DualPi2, p: f64) {
    (queue.base, queue.base.p) = (Base::NEW, p);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300 * effort(), failure_persistence: None, ..ProptestConfig::default() })]

    /// p_C = p'^2, p_CL = k p', p_L = max(p_CL, native), and both queues meet them: of many packets
    /// that share the base probability, de-randomized decisions hit the integer part of n p.
    #[test]
    fn the_queues_are_coupled(p in 0.0..0.5_f64, k in 20..200_u32, us in 0_u64..2_000) {
        const N: u32 = 400;
        // A number that is read back as it was.
        let k = f64::from(k) / 100.0;
        let mut queue = running(&format!(r#"{{"coupling": {k}}}"#));
        let mut desk = Desk::new();
        let now = at(us);
        let (native, coupled) = ((us as f64 - 800.0) / 400.0, k * p);
        let native = native.clamp(0.0, 1.0);
        hold(&mut queue, p);
        let law = &queue.law;
        prop_assert_eq!((law.classic(&queue.base), law.coupled(&queue.base)), (p * p, coupled));
        for (ecn, wanted) in [(Ecn::Ect1, coupled.max(native)), (Ecn::Ect0, p * p)] {
            fill(&mut queue, &mut desk, N + 2, ecn);
            let mut marks = 0_u32;
            for _ in 0..N {
                hold(&mut queue, p);
                let left = queue.pop(&mut desk.at(now)).unwrap();
                marks += u32::from(left.ecn == Ecn::Ce);
                if ecn == Ecn::Ect1 {
                    prop_assert!((queue.last - wanted).abs() < 1e-12, "{} {}", queue.last, wanted);
                }
            }
            // A sum of 400 roundings of numbers up to 2; a hit needs more than 1.
            let exact = wanted * f64::from(N);
            let off = exact - f64::from(marks);
            prop_assert!((-1e-9..=1.0 + 1e-9).contains(&off), "{ecn:?} {exact} {marks}");
            queue.flush(DropReason::LinkDown, &mut desk.at(now));
            queue.sums = [0.0; 2];
        }
    }
}

/// The ramp of RFC 9332, and the step of Linux.
#[test]
fn the_ramp_rises_from_its_threshold() {
    let ramp = running("{}").law;
    let seen = [500, 800, 1000, 1200, 1500].map(|us| ramp.native(Dur::from_us(us)));
    assert_eq!(seen, [0.0, 0.0, 0.5, 1.0, 1.0]);
    let step = running(r#"{"as": "linux"}"#).law;
    let above = Dur::from_ms(1) + Dur::from_ps(1);
    assert_eq!([Dur::from_ms(1), above].map(|d| step.native(d)), [0.0, 1.0]);
    let rfc = running(r#"{"range": "0 s"}"#).law;
    let below = Dur::from_us(800) - Dur::from_ps(1);
    assert_eq!(
        [below, Dur::from_us(800)].map(|d| rfc.native(d)),
        [0.0, 1.0]
    );
}

/// The wait of a packet marks it only where more than `min_packets` wait behind it; in Linux, where
/// it has found that many.
#[test]
fn a_short_queue_is_not_marked_for_its_wait() {
    for (json, marked) in [
        (r#"{"min_packets": 1}"#, "**--"),
        (r#"{"min_packets": 0}"#, "***-"),
        (r#"{"as": "linux", "min_packets": 2}"#, "--**"),
        (r#"{"as": "linux"}"#, "****"),
    ] {
        let (mut queue, mut desk) = (running(json), Desk::new());
        fill(&mut queue, &mut desk, 4, Ecn::Ect1);
        let mut seen = String::new();
        while let Some(left) = queue.pop(&mut desk.at(at(5_000))) {
            seen.push(if left.ecn == Ecn::Ce { '*' } else { '-' });
        }
        assert_eq!(seen, marked, "{json}");
    }
}

/// Weighted round robin of Linux: its first credit, nine of L and one of C in turn; alone, either
/// sends without turns; and all begins anew when both are empty.
#[test]
fn nine_of_l_and_one_of_c_take_turns() {
    let (mut queue, mut desk) = (running(r#"{"as": "linux"}"#), Desk::new());
    assert_eq!(queue.credit, -121_120 * (MILLION / 100));
    fill(&mut queue, &mut desk, 40, Ecn::Ect1);
    fill(&mut queue, &mut desk, 40, Ecn::NotEct);
    let mut order = String::new();
    for _ in 0..30 {
        let next = queue.head().copied();
        let left = queue.pop(&mut desk.at(at(1))).unwrap();
        assert_eq!(next.map(|p| (p.seq, p.ecn)), Some((left.seq, left.ecn)));
        order.push(if left.ecn == Ecn::Ect1 { 'L' } else { 'C' });
    }
    assert_eq!(order, "LLLLLLLLLC".repeat(3));
    while queue.pop(&mut desk.at(at(1))).is_some() {}
    assert_eq!(queue.credit, -121_120 * (MILLION / 100));
}

/// A C packet goes first once it has waited longer than one of L by more than the shift.
#[test]
fn the_time_shifted_fifo_prefers_l_by_its_shift() {
    for (us, first) in [(5_000, Ecn::Ect1), (5_001, Ecn::NotEct)] {
        let (mut queue, mut desk) = (running(r#"{"time_shift": "5 ms"}"#), Desk::new());
        fill(&mut queue, &mut desk, 1, Ecn::NotEct);
        let mut late = Packet {
            arrived: at(us),
            ..packet(0, Ecn::Ect1)
        };
        queue.offer(&mut late, Ecn::Ect1, &mut desk.at(at(us)));
        let left = queue.pop(&mut desk.at(at(us))).unwrap();
        assert_eq!(left.ecn, first, "{us}");
    }
}

/// From k p' = 1 on L and C lose p_C, ECN or not, and what is left of L is marked. Linux begins
/// above 1.
#[test]
fn overload_drops_from_both_queues() {
    for (json, p, overloaded) in [
        (r#"{"min_packets": 500}"#, 0.5, true),
        (
            r#"{"as": "linux", "decide": "recur", "mtu": "100 B"}"#,
            0.5,
            false,
        ),
        (
            r#"{"as": "linux", "decide": "recur", "mtu": "100 B"}"#,
            0.500_001,
            true,
        ),
        (r#"{"drop_on_overload": false}"#, 0.5, false),
    ] {
        for ecn in [Ecn::Ect1, Ecn::Ect0, Ecn::NotEct] {
            let (mut queue, mut desk) = (running(json), Desk::new());
            fill(&mut queue, &mut desk, 103, ecn);
            let (mut left, mut marks) = (0, 0);
            while queue.packets() > 3 {
                hold(&mut queue, p);
                let Some(packet) = queue.pop(&mut desk.at(Time::ZERO)) else {
                    continue;
                };
                (left, marks) = (left + 1, marks + u32::from(packet.ecn == Ecn::Ce));
            }
            let drops = desk.dropped().len() as u32;
            // 100 packets or so with p_C = 0.25: the last of four each. A drop goes on to the next.
            let quarter = 24..=26;
            let drops_some = overloaded || ecn == Ecn::NotEct;
            assert_eq!(
                quarter.contains(&drops),
                drops_some,
                "{json} {ecn:?} {drops}"
            );
            assert!(drops_some || drops == 0);
            let marked = match ecn {
                Ecn::Ect1 => marks == left,
                Ecn::Ect0 if !overloaded => quarter.contains(&marks),
                _ => marks == 0,
            };
            assert!(marked, "{json} {ecn:?} {marks} of {left}");
        }
    }
    // Without drops p' ends where k p' = 1.
    let most = |json: &str| running(json).law.pi.most;
    assert_eq!(most(r#"{"drop_on_overload": false}"#), 0.5);
    assert_eq!(most(r#"{"drop_on_overload": false, "coupling": 0.5}"#), 1.0);
    assert_eq!(most("{}"), 1.0);
}

/// In Linux nothing is coupled while less than two packets of `mtu` wait behind.
#[test]
fn linux_spares_a_short_queue() {
    let (mut queue, mut desk) = (running(r#"{"as": "linux", "mtu": "1500 B"}"#), Desk::new());
    fill(&mut queue, &mut desk, 4, Ecn::Ect1);
    let mut marks = Vec::new();
    for _ in 0..4 {
        hold(&mut queue, 0.5);
        let left = queue.pop(&mut desk.at(Time::ZERO)).unwrap();
        marks.push(left.ecn == Ecn::Ce);
    }
    // 2 p' = 1: no number decides. 4500, 3000, 1500 and 0 B are left.
    assert_eq!(marks, [true, true, false, false]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (json, key, says) in [
        (
            r#"{"classic_share": 0}"#,
            "classic_share",
            "above 0 and below 1",
        ),
        (
            r#"{"classic_share": 1}"#,
            "classic_share",
            "above 0 and below 1",
        ),
        (
            r#"{"classic_share": 0.1, "time_shift": "50 ms"}"#,
            "classic_share",
            "`time_shift` takes the place",
        ),
        (r#"{"coupling": 0}"#, "coupling", "above 0"),
        (r#"{"target": "0 s"}"#, "target", "waited too long"),
        (r#"{"update": "1 us"}"#, "update", "from 1 ms to 10 s"),
        (r#"{"beta": -1}"#, "beta", "above 0"),
        (r#"{"mtu": "0 B"}"#, "mtu", "at least 1 byte"),
        (r#"{"mtu": "2 MB"}"#, "mtu", "longer than 1 MB"),
        (r#"{"limit": "1000 B"}"#, "limit", "does not fit"),
        (r#"{"limit": "0 packets"}"#, "limit", "nothing fits"),
    ] {
        let spec: DualPi2Spec = serde_json::from_str(json).unwrap();
        let line = Line::from(Rate::from_bps(10_000_000).unwrap());
        let problem = test_at(|at| spec.resolve(at, &line).map(|_| ())).unwrap_err();
        assert_eq!(problem.path, format!("policies.test.{key}"), "{json}");
        assert!(problem.message.contains(says), "{json}: {problem}");
    }
}
