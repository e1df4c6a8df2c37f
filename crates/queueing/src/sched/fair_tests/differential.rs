//! The fast schedulers and the plain ones do the same, operation by operation.

use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_core::{Packet, Rng};

use super::PARAMS;
use super::reference::{PlainPdrr, PlainPfq};
use crate::fan::scheduler::{FairQueue, FairQueueParams, FairScheduler};
use crate::leaf::Bound;
use crate::sched::pfq::Pfq;

#[derive(Clone, Copy, Debug)]
enum Op {
    Offer(u32, u16),
    Pop,
    /// The link fails.
    Flush,
}

/// What an operation did and what can be seen of the scheduler after it.
type Seen = (Vec<(u32, u32)>, String, [u64; 6], Vec<bool>);

/// Does `op` as number `seq`; a scheduler with nothing to give is told that the link is idle.
/// `flows`, if any, are asked for.
fn step(queue: &mut impl FairScheduler, op: Op, seq: u32, flows: u32) -> Seen {
    let mut out = Vec::new();
    let result = match op {
        Op::Offer(flow, len) => {
            let mut evicted = |p: Packet| out.push((p.flow, p.seq));
            format!(
                "{:?}",
                queue.offer(Packet::new(flow, seq, len), &mut evicted)
            )
        }
        Op::Pop => {
            let packet = queue.pop();
            if packet.is_none() {
                queue.idle();
            }
            format!("{:?}", packet.map(|p| (p.flow, p.seq, p.tag)))
        }
        Op::Flush => {
            queue.flush(&mut |p| out.push((p.flow, p.seq)));
            String::new()
        }
    };
    if matches!(op, Op::Flush) {
        // In order within a flow; in which order flows come is not said.
        out.sort_by_key(|(flow, _)| *flow);
    }
    let numbers = [
        queue.totals().priority_bytes,
        queue.totals().fair_bytes,
        u64::from(queue.totals().packets),
        queue.totals().bytes,
        u64::from(queue.saturated()),
        queue.totals().unlisted,
    ];
    let backlogged = (0..flows).map(|f| queue.is_backlogged(f)).collect();
    (out, result, numbers, backlogged)
}

fn ops(flows: u32) -> impl Strategy<Value = Vec<Op>> {
    // Few lengths, so that tags meet; some of a byte and of a whole MTU.
    let len = prop_oneof![
        Just(1_u16),
        Just(500),
        Just(1000),
        Just(1500),
        40..=1500_u16
    ];
    let op = prop_oneof![
        12 => (0..flows, len).prop_map(|(f, l)| Op::Offer(f, l)),
        9 => Just(Op::Pop),
        1 => Just(Op::Flush),
    ];
    prop::collection::vec(op, 0..400)
}

fn limits() -> impl Strategy<Value = Bound> {
    (
        prop_oneof![1..20_u32, Just(u32::MAX)],
        prop_oneof![1000..20_000_u64, Just(u64::MAX)],
    )
        .prop_map(|(packets, bytes)| Bound { packets, bytes })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400 * effort()))]

    #[test]
    fn pfq_is_the_plain_pfq(
        ops in ops(6),
        limit in limits(),
        afl_max in prop_oneof![1..6_u32, Just(u32::MAX)],
        mtu in prop_oneof![Just(1500_u32), 1500..2049_u32],
    ) {
        let params = FairQueueParams { limit, afl_max, mtu, ..PARAMS };
        let mut ring = FairQueue::pfq(&params);
        let mut heap = FairQueue::PfqHeap(Box::new(Pfq::new(&params)));
        let mut plain = PlainPfq::new(params, true);
        for (seq, op) in (0..).zip(ops) {
            let expected = step(&mut plain, op, seq, 6);
            prop_assert_eq!(&step(&mut ring, op, seq, 6), &expected, "ring, {}: {:?}", seq, op);
            prop_assert_eq!(&step(&mut heap, op, seq, 6), &expected, "heap, {}: {:?}", seq, op);
            let FairQueue::Pfq(ring) = &ring else { panic!("no ring") };
            ring.audit();
        }
    }

    /// The same with packets up to those of jumbo frames, and up to the longest there are.
    #[test]
    fn pfq_of_long_packets_is_the_plain_pfq(
        ops in ops(6),
        limit in limits(),
        afl_max in prop_oneof![1..6_u32, Just(u32::MAX)],
        times in prop_oneof![Just(6_u32), 2..43_u32],
    ) {
        // Packets of `ops` have up to 1500 B.
        let mtu = 1500 * times;
        let bytes = limit.bytes.saturating_mul(u64::from(times));
        let params = FairQueueParams { limit: Bound { bytes, ..limit }, afl_max, mtu, ..PARAMS };
        let mut wide = FairQueue::pfq(&params);
        let mut plain = PlainPfq::new(params, true);
        for (seq, mut op) in (0..).zip(ops) {
            if let Op::Offer(_, len) = &mut op {
                *len *= times as u16;
            }
            let expected = step(&mut plain, op, seq, 6);
            prop_assert_eq!(&step(&mut wide, op, seq, 6), &expected, "{}: {:?}", seq, op);
            let FairQueue::PfqWide(wide) = &wide else { panic!("no ring") };
            wide.audit();
        }
    }

    /// A ring that must make room for longer packets goes on as if it had been a heap.
    #[test]
    fn packets_above_the_mtu_change_nothing(
        ops in ops(6),
        at in 0..400_usize,
        limit in limits(),
        mtu in prop::sample::select(vec![1500_u32, 4000, 200_000]),
    ) {
        let params = FairQueueParams { limit, mtu, ..PARAMS };
        let mut ring = FairQueue::pfq(&params);
        let mut plain = PlainPfq::new(params, true);
        for (seq, mut op) in (0..).zip(ops) {
            if let Op::Offer(_, len) = &mut op {
                *len *= if seq as usize >= at { 6 } else { 1 };
            }
            prop_assert_eq!(step(&mut ring, op, seq, 6), step(&mut plain, op, seq, 6));
        }
    }

    #[test]
    fn pdrr_is_the_plain_pdrr(
        ops in ops(6),
        limit in limits(),
        charged in any::<bool>(),
        quantum in prop_oneof![Just(1500_u32), 1500..4000_u32, 100..1500_u32],
    ) {
        let params = FairQueueParams { limit, charged, quantum, ..PARAMS };
        let mut fast = FairQueue::pdrr(&params);
        let mut plain = PlainPdrr::new(params);
        for (seq, op) in (0..).zip(ops) {
            let expected = step(&mut plain, op, seq, 6);
            prop_assert_eq!(step(&mut fast, op, seq, 6), expected, "{}: {:?}", seq, op);
        }
    }
}

/// A buffer that a million operations overflow, with packets up to so many times 1500 B.
fn crowded(times: u16) -> FairQueueParams {
    let limit = Bound {
        packets: 60,
        bytes: 50_000 * u64::from(times),
    };
    FairQueueParams {
        limit,
        afl_max: 25,
        mtu: 1500 * u32::from(times),
        ..PARAMS
    }
}

/// A million operations: bursts and silences of 40 flows, from an empty buffer to one that
/// overflows, with packets up to so many times 1500 B. All queues do what the plain one does.
fn agree(times: u16, mut plain: impl FairScheduler, queues: &mut [FairQueue]) {
    let mut rng = Rng::named(1, 0, "fair queue", "operations");
    for seq in 0..1_000_000_u32 {
        // Two in three in one phase, one in three in the next.
        let offers = 1 + (seq >> 12) % 2;
        let op = if rng.below(3) < offers {
            let any = rng.below(1500) as u16 + 1;
            let len = [1, 40, 100, 500, 1000, 1500, 1500, any];
            let flow = rng.below(40);
            Op::Offer(flow, times * len[rng.below(8) as usize])
        } else {
            Op::Pop
        };
        let expected = step(&mut plain, op, seq, 0);
        for (which, queue) in queues.iter_mut().enumerate() {
            let seen = step(queue, op, seq, 0);
            assert_eq!(seen, expected, "queue {which}, {seq}: {op:?}");
        }
    }
}

#[test]
fn a_million_operations() {
    let params = crowded(1);
    let heap = FairQueue::PfqHeap(Box::new(Pfq::new(&params)));
    let pfq = &mut [FairQueue::pfq(&params), heap];
    agree(1, PlainPfq::new(params, true), pfq);
    let pdrr = &mut [FairQueue::pdrr(&params)];
    agree(1, PlainPdrr::new(params), pdrr);
}

#[test]
fn a_million_operations_with_long_packets() {
    let params = crowded(6);
    let heap = FairQueue::PfqHeap(Box::new(Pfq::new(&params)));
    let pfq = &mut [FairQueue::pfq(&params), heap];
    agree(6, PlainPfq::new(params, true), pfq);
    assert!(matches!(pfq[0], FairQueue::PfqWide(_)));
}
