//! Against the same in plain words: lists and scans.

use super::*;
use crate::recipe::test_at;
use crate::stats::Desk;
use proptest::prelude::*;
use spillgate_core::testkit::effort;
use std::collections::BTreeMap;

fn sfq(spec: &SfqSpec) -> Sfq {
    let rate = Rate::from_bps(8).unwrap();
    test_at(|at| spec.running(at, &rate.into())).unwrap()
}

#[derive(Clone, Default)]
struct Queue {
    packets: Vec<Packet>,
    allot: i64,
    /// When it came to its length.
    since: u64,
}

/// Queues by value of the hash.
#[derive(Default)]
struct Plain {
    queues: BTreeMap<u32, Queue>,
    round: Vec<u32>,
    events: u64,
}

impl Plain {
    fn count(&self) -> usize {
        self.queues.values().map(|q| q.packets.len()).sum()
    }

    fn offer(&mut self, spec: &SfqSpec, limit: u32, value: u32, packet: Packet) -> Vec<u32> {
        self.events += 1;
        let quantum = spec.quantum.unwrap().0 as i64;
        if !self.queues.contains_key(&value) {
            if self.queues.len() >= spec.flows as usize {
                return vec![packet.seq];
            }
            self.round.push(value);
            let new = Queue {
                allot: quantum,
                ..Queue::default()
            };
            self.queues.insert(value, new);
        }
        let own = self.queues.get_mut(&value).unwrap();
        if own.packets.len() >= spec.depth as usize {
            if !spec.headdrop {
                return vec![packet.seq];
            }
            own.packets.push(packet);
            return vec![own.packets.remove(0).seq];
        }
        own.packets.push(packet);
        own.since = self.events;
        if self.count() <= limit as usize {
            return Vec::new();
        }
        let most = self.queues.values().map(|q| q.packets.len()).max().unwrap();
        let longest = self.queues.iter().filter(|(_, q)| q.packets.len() == most);
        let last = *longest.max_by_key(|(_, q)| q.since).unwrap().0;
        let victim = if most == 1 { self.round[0] } else { last };
        let own = self.queues.get_mut(&victim).unwrap();
        let at = if spec.headdrop { 0 } else { most - 1 };
        let lost = own.packets.remove(at).seq;
        self.events += 1;
        own.since = self.events;
        self.forget_if_empty(victim);
        vec![lost]
    }

    fn forget_if_empty(&mut self, value: u32) {
        if self.queues[&value].packets.is_empty() {
            self.queues.remove(&value);
            self.round.retain(|v| *v != value);
        }
    }

    fn pop(&mut self, quantum: i64) -> Option<u32> {
        loop {
            let value = *self.round.first()?;
            let own = self.queues.get_mut(&value).unwrap();
            if own.allot <= 0 {
                own.allot += quantum;
                self.round.rotate_left(1);
                continue;
            }
            let packet = own.packets.remove(0);
            own.allot -= i64::from(packet.len);
            self.events += 1;
            own.since = self.events;
            self.forget_if_empty(value);
            return Some(packet.seq);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000 * effort()))]

    #[test]
    fn agrees_with_the_plain_one(
        ops in prop::collection::vec(prop::option::weighted(0.6, (0_u32..12, 40_u16..1600)), 1..150),
        quantum in 64_u64..3000,
        (limit, depth, flows) in (2_u32..25, 1_u32..9, 1_u32..9),
        divisor in prop::sample::select(vec![1_u32, 4, 64]),
        headdrop in any::<bool>(),
    ) {
        let spec = SfqSpec {
            quantum: Some(Size(quantum)),
            limit: Limit::Packets(limit),
            depth,
            flows,
            divisor,
            headdrop,
            ..SfqSpec::default()
        };
        let (mut fast, mut plain, mut desk) = (sfq(&spec), Plain::default(), Desk::new());
        for (seq, op) in (0_u32..).zip(ops) {
            if let Some((flow, len)) = op {
                let mut packet = Packet { hash: flow.wrapping_mul(0x9e37_79b9), ..Packet::new(flow, seq, len) };
                let was = packet.ecn;
                fast.offer(&mut packet, was, &mut desk.at(Time::ZERO));
                let lost: Vec<u32> = desk.dropped().iter().map(|d| d.1).collect();
                let value = fast.value(&packet);
                prop_assert_eq!(lost, plain.offer(&spec, limit, value, packet));
            } else {
                let promised = fast.head().copied();
                let left = fast.pop(&mut desk.at(Time::ZERO));
                prop_assert_eq!(left, promised);
                prop_assert_eq!(left.map(|p| p.seq), plain.pop(quantum as i64));
            }
            prop_assert_eq!(fast.packets as usize, plain.count());
        }
    }

    /// ns-2 in plain words: a list of queues, each with its packets, in the order of their turns.
    #[test]
    fn agrees_with_the_plain_one_of_ns2(
        ops in prop::collection::vec(prop::option::weighted(0.6, (0_u32..12, 40_u16..1600)), 1..150),
        limit in 2_u32..60,
        divisor in 1_u32..20,
    ) {
        let spec = SfqSpec {
            variant: Some(SfqVariant::Ns2),
            limit: Limit::Packets(limit),
            divisor,
            ..SfqSpec::default()
        };
        let (mut fast, mut desk) = (sfq(&spec), Desk::new());
        let mut round: Vec<(u32, Vec<u32>)> = Vec::new();
        for (seq, op) in (0_u32..).zip(ops) {
            if let Some((flow, len)) = op {
                let mut packet = Packet { hash: flow.wrapping_mul(0x9e37_79b9), ..Packet::new(flow, seq, len) };
                let was = packet.ecn;
                fast.offer(&mut packet, was, &mut desk.at(Time::ZERO));
                let value = fast.value(&packet);
                let all: usize = round.iter().map(|q| q.1.len()).sum();
                let left = limit as usize - all;
                let place = round.iter().position(|q| q.0 == value);
                let used = place.map_or(0, |at| round[at].1.len());
                let part = (limit / divisor) as usize;
                let lost = used >= left / 2 || (left < divisor as usize && used > part);
                prop_assert_eq!(desk.dropped().len(), usize::from(lost));
                if !lost {
                    match place {
                        Some(at) => round[at].1.push(seq),
                        None => round.push((value, vec![seq])),
                    }
                }
            } else {
                let promised = fast.head().copied();
                let left = fast.pop(&mut desk.at(Time::ZERO));
                prop_assert_eq!(left, promised);
                let mut expected = None;
                if !round.is_empty() {
                    let (value, mut packets) = round.remove(0);
                    expected = Some(packets.remove(0));
                    if !packets.is_empty() {
                        round.push((value, packets));
                    }
                }
                prop_assert_eq!(left.map(|p| p.seq), expected);
            }
        }
    }

    /// A change of the hash loses packets only where they do not fit, and keeps the order of those
    /// of a queue.
    #[test]
    fn a_new_hash_keeps_packets(
        flows in prop::collection::vec(0_u32..30, 2..100),
        depth in 2_u32..30,
    ) {
        let spec = SfqSpec {
            limit: Limit::Packets(1000),
            depth,
            divisor: 16,
            perturb: Some(Dur::from_secs(1)),
            ..SfqSpec::default()
        };
        let (mut q, mut desk) = (sfq(&spec), Desk::new());
        let mut lost = 0;
        for (seq, flow) in (0_u32..).zip(&flows) {
            let mut packet = Packet { hash: flow.wrapping_mul(0x9e37_79b9), ..Packet::new(*flow, seq, 100) };
            let (was, last) = (packet.ecn, seq as usize + 1 == flows.len());
            let now = Time::from_secs_f64(if last { 1.0 } else { 0.5 });
            let salt = q.salt;
            q.offer(&mut packet, was, &mut desk.at(now));
            prop_assert_eq!(q.salt != salt, seq == 0 || last);
            lost += desk.dropped().len();
        }
        let mut left: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        while let Some(packet) = q.pop(&mut desk.at(Time::from_secs_f64(1.0))) {
            left.entry(packet.flow).or_default().push(packet.seq);
        }
        prop_assert_eq!(left.values().map(Vec::len).sum::<usize>() + lost, flows.len());
        prop_assert!(left.values().all(|l| l.is_sorted()));
    }
}

/// Ten flows share some of 1024 queues with probability 1 - 1024! / (1014! 1024^10) = 0.043124, 40
/// with 0.537776.
#[test]
fn flows_collide_by_chance() {
    const TRIALS: u32 = 4000;
    for (flows, expected) in [(10_u32, 0.043_124_f64), (40, 0.537_776)] {
        let mut shared = 0;
        let mut desk = Desk::new();
        for trial in 0..TRIALS {
            let mut q = sfq(&SfqSpec::default());
            for flow in 0..flows {
                let hash = mix(u64::from(trial) << 32 | u64::from(flow)) as u32;
                let mut packet = Packet {
                    hash,
                    ..Packet::new(flow, 0, 100)
                };
                let was = packet.ecn;
                q.offer(&mut packet, was, &mut desk.at(Time::ZERO));
            }
            shared += u32::from(q.round.len() < flows as usize);
        }
        let got = f64::from(shared) / f64::from(TRIALS);
        // Five standard deviations.
        let within = 5.0 * (expected * (1.0 - expected) / f64::from(TRIALS)).sqrt();
        assert!((got - expected).abs() < within, "{flows}: {got}");
    }
}

/// RED with thresholds of 1000 B and 1400 B, and no memory.
fn under_red(ecn: bool, harddrop: bool, headdrop: bool) -> Sfq {
    let marks = if harddrop { "below-max" } else { "always" };
    let json = format!(
        r#"{{"headdrop": {headdrop}, "aqm": {{"red": {{"as": "linux", "min_th": 1000, "max_th": 1400,
        "weight": 1, "ecn": {ecn}, "marks": "{marks}"}}}}}}"#
    );
    sfq(&serde_json::from_str(&json).unwrap())
}

/// What becomes of packets of 500 B of one flow with these fields: the numbers of those that are
/// dropped, and the fields of those that leave.
fn fate(mut q: Sfq, fields: &[Ecn]) -> (Vec<u32>, Vec<(u32, Ecn)>) {
    let mut desk = Desk::new();
    let mut lost = Vec::new();
    for (seq, ecn) in (0_u32..).zip(fields) {
        let mut packet = Packet {
            ecn: *ecn,
            ..Packet::new(0, seq, 500)
        };
        q.offer(&mut packet, *ecn, &mut desk.at(Time::ZERO));
        lost.extend(desk.dropped().iter().map(|d| d.1));
    }
    let left = std::iter::from_fn(|| q.pop(&mut desk.at(Time::ZERO)));
    (lost, left.map(|p| (p.seq, p.ecn)).collect())
}

/// Linux: the first packet is not judged, the next two find 500 B and 1000 B and pass, those behind
/// them find the average above `max`.
#[test]
fn red_judges_the_queue_of_a_packet() {
    use Ecn::{Ce, Ect0, NotEct};
    let plain = [NotEct; 6];
    let (lost, left) = fate(under_red(false, false, false), &plain);
    let seqs = |all: &[(u32, Ecn)]| all.iter().map(|p| p.0).collect::<Vec<_>>();
    assert_eq!((seqs(&left), lost), (vec![0, 1, 2], vec![3, 4, 5]));
    // With `headdrop` it is the first that goes.
    let (lost, left) = fate(under_red(false, false, true), &plain);
    assert_eq!((seqs(&left), lost), (vec![3, 4, 5], vec![0, 1, 2]));
    // Marks take the place of drops, but not with `harddrop`.
    let capable = [Ect0; 6];
    let (lost, left) = fate(under_red(true, false, false), &capable);
    assert!(lost.is_empty());
    let marked = |all: &[(u32, Ecn)]| {
        let marked = all.iter().filter(|p| p.1 == Ce);
        marked.map(|p| p.0).collect::<Vec<_>>()
    };
    assert_eq!(marked(&left), [3, 4, 5]);
    let (lost, left) = fate(under_red(true, true, false), &capable);
    assert_eq!((lost, marked(&left)), (vec![3, 4, 5], vec![]));
    // With `headdrop` the mark goes to the first, if it can; else to the one that arrives.
    let (lost, left) = fate(under_red(true, false, true), &capable);
    assert_eq!((lost.len(), marked(&left)), (0, vec![0]));
    let first = [NotEct, Ect0, Ect0, Ect0];
    let (lost, left) = fate(under_red(true, false, true), &first);
    assert_eq!((lost.len(), marked(&left)), (0, vec![3]));
    let last = [Ect0, NotEct, NotEct, NotEct];
    let (lost, left) = fate(under_red(true, false, true), &last);
    assert_eq!((lost.len(), marked(&left)), (0, vec![0]));
}

/// An average begins anew with the first packet of a queue, however long that was before.
#[test]
fn an_empty_queue_forgets_its_average() {
    let (mut q, mut desk) = (under_red(false, false, false), Desk::new());
    let mut lost = Vec::new();
    for seq in 0..4 {
        if seq == 3 {
            while q.pop(&mut desk.at(Time::ZERO)).is_some() {}
        }
        let mut packet = Packet::new(0, seq, 1500);
        q.offer(&mut packet, Ecn::NotEct, &mut desk.at(Time::ZERO));
        lost.push(desk.dropped().len());
    }
    assert_eq!(lost, [0, 1, 1, 0]);
}
