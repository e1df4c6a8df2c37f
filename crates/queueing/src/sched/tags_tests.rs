//! What does not show from outside.

use super::*;
use crate::aqm::Unmanaged;
use crate::leaf::Bound;
use crate::sched::flow_queue::{Driven, Fair, FlowQueue, Frame, Guard};
use crate::sched::flows::Sorting;

fn driven(rule: TagRule) -> Driven<Tags, Unmanaged> {
    let rate = Rate::from_bps(8).unwrap();
    let frame = Frame {
        name: "fair",
        order: Tags::new(rule, WfqWeights::Precedence, 32, rate),
        sorting: Sorting::into_queues(None),
        bound: Bound::NONE,
        batch: 1,
        guard: Guard::Flow,
    };
    Driven::new(Fair::new(frame, Unmanaged))
}

/// Where virtual time begins does not matter, nor that its origin is moved.
#[test]
fn the_origin_of_virtual_time_does_not_matter() {
    for rule in [TagRule::Finish, TagRule::Start, TagRule::Eligible] {
        let run = |v: u64| {
            let mut q = driven(rule);
            // As if a packet were in transmission.
            (q.queue.order.v, q.queue.order.sent.1) = (v, Time::MAX);
            let mut left = Vec::new();
            for seq in 0..300_u32 {
                for flow in 0..4 {
                    if (seq + flow) % 3 != 0 {
                        q.offer(Packet::new(flow, seq, (40 + seq * 7 % 900) as u16));
                    }
                }
                for _ in 0..2 + seq % 3 {
                    let packet = q.pop(Time::ZERO).1;
                    left.extend(packet.map(|p| (p.flow, p.seq)));
                }
            }
            (left, q.queue.order.v)
        };
        let (plain, far) = (run(0), run(REBASE - (1 << 27)));
        assert_eq!(plain.0, far.0, "{rule:?}");
        assert!(plain.0.len() > 600 && far.1 < REBASE / 2, "{rule:?}");
    }
}

/// A flow is remembered until virtual time has passed its last tag, then no more.
#[test]
fn idle_flows_are_forgotten_in_time() {
    let mut q = driven(TagRule::Start);
    q.offer(Packet::new(0, 0, 1000));
    q.offer(Packet::new(1, 0, 100));
    q.offer(Packet::new(1, 1, 100));
    for len in [1000, 100, 100] {
        assert_eq!(q.pop(Time::ZERO).1.map(|p| p.len), Some(len));
    }
    // V is 100, flow 0 finishes at 1000, flow 1 at 200.
    let known = |q: &Driven<Tags, Unmanaged>| q.queue.flows.slots(|_| true).count();
    assert_eq!(known(&q), 2);
    q.queue.transmits_until(Time::from_secs_f64(9.0));
    let arrived = |at: f64| Packet {
        arrived: Time::from_secs_f64(at),
        ..Packet::new(2, 0, 100)
    };
    q.offer(arrived(5.0));
    assert_eq!(known(&q), 3);
    q.pop(Time::from_secs_f64(9.0));
    q.queue.transmits_until(Time::from_secs_f64(10.0));
    q.offer(arrived(11.0));
    assert_eq!(known(&q), 1);
}
