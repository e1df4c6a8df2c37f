//! Sessions of a workload: places that are taken by one after the other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use spillgate_core::{Dur, Rng, Time};
use spillgate_endpoints::workload::{Arrivals, Exchange};
use spillgate_scenario::plan::SessionsPlan;

/// A process of sessions.
pub(crate) struct Workload {
    pub(crate) plan: Arc<SessionsPlan>,
    pub(crate) arrivals: Arrivals,
    /// Draws arrivals, and a key for each session: what sessions draw does not depend on how the
    /// network treats others.
    pub(crate) rng: Rng,
    /// No session begins from here on.
    pub(crate) stop: Time,
    /// Places that are free; the lowest is taken next.
    pub(crate) free: BinaryHeap<Reverse<u32>>,
    /// Places that become free when the loss of their last segment, worked out ahead, has taken
    /// place.
    pub(crate) leaving: Vec<(Time, u32)>,
    /// Sessions that have begun or were refused.
    pub(crate) number: u64,
    /// The flow of the plan, whose wake is the next arrival.
    pub(crate) flow: u32,
    /// Hash of its addresses.
    pub(crate) hash: u32,
    /// What its sessions are counted with.
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
            number: 0,
            flow,
            hash: 0,
            transfers,
        }
    }

    /// Sessions that are open, or whose last segments are still on the way.
    pub(crate) fn open(&self) -> usize {
        self.plan.active as usize - self.free.len() - self.leaving.len()
    }

    /// A free place at `now`, if there is one.
    pub(crate) fn take_place(&mut self, now: Time) -> Option<u32> {
        let free = &mut self.free;
        self.leaving.retain(|&(at, place)| {
            let later = at > now;
            if !later {
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
    /// The connection that begins, and the one that answers, if any.
    pub(crate) forward: u32,
    pub(crate) back: Option<u32>,
    pub(crate) rng: Rng,
    /// Exchanges that are not over yet.
    pub(crate) left: u32,
    pub(crate) exchange: Exchange,
    /// When the exchange began.
    pub(crate) since: Time,
    /// When it ends what it does, [`Time::MAX`] if that does not depend on time.
    pub(crate) ends: Time,
    pub(crate) stage: Stage,
    /// When the last loss of one of its segments takes place.
    pub(crate) quiet_from: Time,
}

impl Session {
    /// A place that nobody has had yet.
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

/// How far a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The place is free.
    Vacant,
    /// Segments matter.
    Talking,
    /// It has ended: the place is free once no segment is on the way.
    Over,
}
