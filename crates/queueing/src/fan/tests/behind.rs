//! Removals of very many flows: spread over packets, and nobody can tell.

use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_core::{Dur, Rng, Time};

use crate::fan::lists::FlowList;
use crate::fan::mechanism::Mechanism;
use crate::fan::spec::{ElasticRule, FanMechanism, RaefSpec, RbaefSpec};

/// A list and its mechanism, asked as admission control asks them.
#[derive(Clone)]
struct Router {
    list: FlowList,
    mechanism: Mechanism,
    member: u16,
}

fn sec(s: u64) -> Dur {
    Dur::from_secs(s)
}

impl Router {
    fn new(kind: &FanMechanism, at_once: bool, max: Option<u32>) -> Self {
        let mut list = FlowList::new(sec(20), max, false);
        let mechanism = Mechanism::new(kind, ElasticRule::Sticky, at_once);
        let member = list.join(mechanism.asks_age());
        Self {
            list,
            mechanism,
            member,
        }
    }

    /// A packet of a flow: whether it passes. `behind`: the scheduler puts it behind the others.
    fn packet(&mut self, now: Time, flow: u32, congested: bool, behind: bool) -> bool {
        let (list, m, member) = (&mut self.list, &mut self.mechanism, self.member);
        if m.is_behind() {
            m.go_on(flow, list, member);
        }
        if m.blocked_until(now, flow).is_some() {
            list.refused(now, member, flow);
            return false;
        }
        if !list.refresh(now, flow) {
            if congested {
                m.congested(now, |_| true, list, member);
                list.refused(now, member, flow);
                return false;
            }
            m.make_room(list, member);
            list.insert(now, member, flow);
            list.passed(now, member, flow);
        }
        if m.may_mark(behind) {
            m.offered(flow, || true, list, member);
        }
        true
    }

    /// All that can be seen of it.
    fn seen(&self, now: Time) -> (Vec<crate::fan::Wait>, u32, u32, u64) {
        let mut all = self.clone();
        all.mechanism.finish(&mut all.list, all.member);
        let waits = all.list.waits(now, all.member);
        let listed = all.list.listed(now);
        (
            waits,
            listed,
            all.mechanism.blocked(now),
            all.mechanism.acts(),
        )
    }
}

fn raef(active: Dur) -> FanMechanism {
    FanMechanism::Raef(RaefSpec {
        active_time: active,
    })
}

fn rbaef(active: Dur, blocked: Dur) -> FanMechanism {
    FanMechanism::Rbaef(RbaefSpec {
        active_time: active,
        blocked_time: blocked,
    })
}

/// A packet that makes 100 000 flows leave costs no more than any other, and the packets after it
/// do as if they had.
#[test]
fn no_packet_removes_many() {
    const N: u32 = 100_000;
    for kind in [raef(sec(5)), rbaef(sec(5), sec(2))] {
        let mut lazy = Router::new(&kind, false, None);
        for flow in 0..N {
            let now = Time::from_ps(u64::from(flow) * 1_000_000);
            assert!(lazy.packet(now, flow, false, true));
        }
        let mut eager = Router {
            mechanism: Mechanism::new(&kind, ElasticRule::Sticky, true),
            ..Router::new(&kind, true, None)
        };
        for flow in 0..N {
            let now = Time::from_ps(u64::from(flow) * 1_000_000);
            assert!(eager.packet(now, flow, false, true));
        }
        let mut rng = Rng::from_key(1);
        let mut most = 0;
        let mut behind = 0;
        for i in 0..2 * N {
            let now = Time::ZERO + sec(6) + Dur::from_ps(u64::from(i) * 20_000_000);
            let flow = rng.below(N + 1000);
            // Closed at first, and then open.
            let congested = i < N;
            let before = lazy.list.work();
            assert_eq!(
                lazy.packet(now, flow, congested, true),
                eager.packet(now, flow, congested, true),
                "{i}: {flow}"
            );
            most = most.max(lazy.list.work() - before);
            behind += u32::from(lazy.mechanism.is_behind());
            if i % 20_000 == 0 {
                assert_eq!(lazy.seen(now), eager.seen(now), "{i}");
            }
        }
        // Its own flow, one more that is due, and what an insertion does.
        assert!(most <= 6, "{most}");
        assert!(behind > N / 4, "{behind}");
        let end = Time::ZERO + sec(60);
        assert_eq!(lazy.seen(end), eager.seen(end));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300 * effort()))]

    /// Few flows, times that meet, lists with little room.
    #[test]
    fn being_behind_changes_nothing(
        steps in prop::collection::vec((0_u64..4, 0_u32..40, any::<bool>(), prop::bool::weighted(0.8)), 1..400),
        active in 1_u64..8,
        blocked in prop::option::of(1_u64..8),
        max in prop::option::of(1_u32..30),
    ) {
        let kind = match blocked {
            None => raef(sec(active)),
            Some(b) => rbaef(sec(active), sec(b)),
        };
        let mut lazy = Router::new(&kind, false, max);
        let mut eager = Router::new(&kind, true, max);
        let mut now = Time::ZERO;
        for (gap, flow, congested, behind) in steps {
            // Often no time passes, and the list forgets after 20 s.
            now += Dur::from_ms(gap * gap * 300);
            prop_assert_eq!(
                lazy.packet(now, flow, congested, behind),
                eager.packet(now, flow, congested, behind)
            );
            prop_assert_eq!(lazy.seen(now), eager.seen(now));
        }
    }
}
