//! Groups, and what does not show from outside.

use super::*;
use crate::aqm::Unmanaged;
use crate::leaf::Bound;
use crate::sched::flow_queue::{Driven, Fair, FlowQueue, Frame, Guard};
use crate::sched::flows::Sorting;
use proptest::prelude::*;
use spillgate_core::Rate;
use spillgate_core::testkit::effort;

/// L 1514 and 1, L 1514 and 1/4 (as 6056 and 1), L 1500 and 1/7, 4/7 (as 10500 and 1, 4).
#[test]
fn groups_are_those_of_the_paper() {
    let of = [
        (1, 1514),
        (1, 6056),
        (1, 10_500),
        (4, 10_500),
        (8, 8),
        (1, 1),
    ];
    assert_eq!(of.map(|(w, l)| Qfq::group_of(w, l)), [11, 13, 14, 12, 0, 0]);
}

fn driven(longest: u32) -> Driven<Qfq, Unmanaged> {
    let frame = Frame {
        name: "fair",
        order: Qfq::new(WfqWeights::Precedence, 0, longest),
        sorting: Sorting::into_queues(None),
        bound: Bound::new(
            spillgate_core::Limit::Packets(300),
            Rate::from_bps(8).unwrap(),
        ),
        batch: 1,
        guard: Guard::Flow,
    };
    Driven::new(Fair::new(frame, Unmanaged))
}

/// That the promised packet leaves, and that groups are as their flows: what is in a bucket has its
/// start, what is full holds flows, each group is in the bit map of its state.
fn check(q: &Driven<Qfq, Unmanaged>) {
    let order = &q.queue.order;
    let mut found = 0;
    for (k, group) in (0_u32..).zip(order.groups.iter()) {
        let states = order.sets.iter().filter(|s| *s & (1 << k) != 0).count();
        assert_eq!(states, usize::from(group.full != 0));
        assert!(group.full == 0 || group.full & 1 == 1);
        for at in 0..BUCKETS {
            let bucket = group.buckets[((group.front + at) % BUCKETS) as usize];
            assert_eq!(bucket.first != NONE, group.full & (1 << at) != 0);
            let mut slot = bucket.first;
            while slot != NONE {
                let own = q.queue.flows.at(slot).own.sched;
                let start = group.start + (u64::from(at) << Qfq::shift(k));
                assert_eq!(own.start >> Qfq::shift(k) << Qfq::shift(k), start);
                assert_eq!(u32::from(own.group), k);
                assert!(q.queue.flows.at(slot).own.packets > 0);
                found += 1;
                slot = own.behind;
            }
        }
        // At most the slot after V.
        let late = (order.v >> Qfq::shift(k)) + 1;
        assert!(group.full == 0 || group.start >> Qfq::shift(k) <= late);
        if group.full != 0 {
            let is_late = order.sets[LATE] | order.sets[LATE_BLOCKED];
            assert_eq!(group.start > order.v, is_late & (1 << k) != 0);
        }
    }
    assert_eq!(found, q.queue.flows.backlogged());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300 * effort()))]

    /// Through push-outs, packets longer than the longest, and a new origin of virtual time.
    #[test]
    fn groups_are_kept_in_order(
        ops in prop::collection::vec(prop::option::weighted(0.6, (0_u32..40, 40_u16..3000)), 1..600),
        longest in prop::sample::select(vec![100_u32, 1500, 9000]),
        far in any::<bool>(),
    ) {
        let (mut q, mut plain) = (driven(longest), driven(longest));
        for q in [&mut q, &mut plain] {
            // As if a packet were in transmission.
            q.queue.order.until = Time::MAX;
        }
        if far {
            q.queue.order.v = REBASE;
        }
        for (seq, op) in (0_u32..).zip(ops) {
            match op {
                Some((flow, len)) => {
                    let dscp = Dscp::new(flow as u8 % 8 * 8).unwrap();
                    let packet = Packet { dscp, ..Packet::new(flow, seq, len) };
                    prop_assert_eq!(q.offer(packet), plain.offer(packet));
                }
                None => {
                    let promised = q.queue.head().copied();
                    let left = q.pop(Time::ZERO).1;
                    prop_assert_eq!(left, promised);
                    prop_assert_eq!(left, plain.pop(Time::ZERO).1);
                }
            }
            check(&q);
        }
        prop_assert!(!far || q.queue.order.v <= REBASE);
    }
}
