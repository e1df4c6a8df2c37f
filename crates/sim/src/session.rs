//! Sessions of a workload. Each session takes a place, which it leaves to a later session.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use spillgate_core::{Dur, Rng, Time};
use spillgate_endpoints::workload::{Arrivals, Exchange};
use spillgate_scenario::plan::SessionsPlan;

/// An arrival process of sessions.
pub(crate) struct Workload {
    pub(crate) plan: Arc<SessionsPlan>,
    pub(crate) arrivals: Arrivals,
    /// Draws arrivals, and a seed for each session, so that the draws of one session do not depend
    /// on how the network treats others.
    pub(crate) rng: Rng,
    /// No session begins at this time or later.
    pub(crate) stop: Time,
    /// Free places; the lowest is taken next.
    pub(crate) free: BinaryHeap<Reverse<u32>>,
    /// Places that become free at these times: the lane has counted the loss of their last segment
    /// ahead of the clock.
    pub(crate) leaving: Vec<(Time, u32)>,
    /// Whether there is a place for every session that can begin. Then no place is taken twice, so
    /// that a discipline which remembers flows never takes a session for an earlier one.
    once: bool,
    /// The number of places that are not used again.
    spent: usize,
    /// The number of sessions that have begun or were refused.
    pub(crate) number: u64,
    /// The flow of the plan, whose wake is the next arrival.
    pub(crate) flow: u32,
    /// Hash of its addresses.
    pub(crate) hash: u32,
    /// The transfers with which its sessions are counted.
    pub(crate) transfers: u32,
}

impl Workload {
    /// A workload whose flow is `flow`, without places yet.
    pub(crate) fn new(
        plan: &Arc<SessionsPlan>,
        rng: Rng,
        start: Time,
        stop: Time,
        flow: u32,
        transfers: u32,
    ) -> Self {
        Self {
            arrivals: Arrivals::new(&plan.arrivals, start),
            plan: Arc::clone(plan),
            rng,
            stop,
            free: BinaryHeap::with_capacity(plan.active as usize),
            leaving: Vec::with_capacity(plan.active as usize),
            once: plan
                .arrivals
                .count()
                .is_some_and(|n| n <= u64::from(plan.active)),
            spent: 0,
            number: 0,
            flow,
            hash: 0,
            transfers,
        }
    }

    /// The number of sessions that are open, or have segments in flight.
    pub(crate) fn open(&self) -> usize {
        self.plan.active as usize - self.free.len() - self.leaving.len() - self.spent
    }

    /// Takes a free place at `now`, if there is one.
    pub(crate) fn take_place(&mut self, now: Time) -> Option<u32> {
        let (free, spent, once) = (&mut self.free, &mut self.spent, self.once);
        self.leaving.retain(|&(at, place)| {
            let later = at > now;
            if !later && once {
                *spent += 1;
            } else if !later {
                free.push(Reverse(place));
            }
            later
        });
        self.free.pop().map(|p| p.0)
    }
}

/// A place for a session, and the session that has it.
pub(crate) struct Session {
    pub(crate) workload: u32,
    /// The connection of requests, and that of responses, if any.
    pub(crate) forward: u32,
    pub(crate) back: Option<u32>,
    pub(crate) rng: Rng,
    /// The number of exchanges that are not over yet.
    pub(crate) left: u32,
    pub(crate) exchange: Exchange,
    /// When the exchange began.
    pub(crate) since: Time,
    /// The end of its lifetime, [`Time::MAX`] if it has none.
    pub(crate) ends: Time,
    pub(crate) stage: Stage,
    /// The time of the latest segment that the lane has delivered or lost ahead of the clock.
    pub(crate) quiet_from: Time,
}

impl Session {
    /// A place that has not been taken yet.
    pub(crate) fn vacant(workload: u32, forward: u32, back: Option<u32>) -> Self {
        Self {
            workload,
            forward,
            back,
            rng: Rng::from_key(0),
            left: 0,
            exchange: Exchange {
                request: 0,
                response: 0,
                think: Dur::ZERO,
            },
            since: Time::ZERO,
            ends: Time::MAX,
            stage: Stage::Vacant,
            quiet_from: Time::ZERO,
        }
    }
}

/// The stage of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The place is free.
    Vacant,
    /// The session exchanges data.
    Active,
    /// It has ended; the place is free once no segment is in flight.
    Over,
}

#[cfg(test)]
mod tests {
    use spillgate_endpoints::tcp::TcpSpec;
    use spillgate_endpoints::workload::{ArrivalSpec, FixedArrivals, SessionSpec};

    use super::*;

    /// Places that sessions get one after the other, each over before the next begins.
    fn taken(sessions: u64, places: u32) -> Vec<Option<u32>> {
        let session = r#"{"transfer": {"size": {"fixed": "1 kB"}}}"#;
        let plan = Arc::new(SessionsPlan {
            config: Arc::new(TcpSpec::default().resolve().unwrap()),
            arrivals: ArrivalSpec::Fixed(FixedArrivals {
                gap: Dur::from_secs(1),
                count: Some(sessions),
            }),
            session: serde_json::from_str::<SessionSpec>(session).unwrap(),
            active: places,
        });
        let mut w = Workload::new(&plan, Rng::from_key(0), Time::ZERO, Time::MAX, 0, 0);
        w.free.extend((0..places).map(Reverse));
        let mut now = Time::ZERO;
        (0..sessions)
            .map(|_| {
                now += Dur::from_secs(1);
                let place = w.take_place(now);
                assert_eq!(w.open(), 1);
                w.leaving.extend(place.map(|p| (now, p)));
                place
            })
            .collect()
    }

    #[test]
    fn places_that_are_enough_for_all_are_taken_once() {
        assert_eq!(taken(3, 3), [Some(0), Some(1), Some(2)]);
        assert_eq!(taken(3, 2), [Some(0), Some(0), Some(0)]);
    }
}
