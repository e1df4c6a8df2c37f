//! What the next packets on a pipe will touch is brought into the cache before they arrive.
//!
//! With thousands of flows nothing of a flow is in the cache when its packet comes, and to wait for
//! memory takes longer than all the rest. The order of the packets on a pipe is known, so each
//! delivery begins to load what those behind it need. One load tells the address of the next: the
//! closer a packet, the deeper the stage. Nothing here changes what is computed. Worlds that fit
//! into the cache anyway do without.

use spillgate_core::prefetch;
use spillgate_events::EventSet;

use crate::engine::World;
use crate::flow::Origin;
use crate::pipes::InFlight;

/// How many packets ahead a stage begins: the record itself, then what it names, and so on.
const RECORD: usize = 10;
const NAMED: usize = 5;
const STATE: usize = 4;
const ANSWER: usize = 3;
const PATH: usize = 2;
const LINK: usize = 1;

/// What the caches of a processor's core hold, its share of a common one included, in bytes: below
/// that to look ahead costs more than it brings.
const CACHE: usize = 4 << 20;

/// Whether the packets of so many flows over so many links will not find their state in the cache.
pub(super) fn is_large(flows: usize, links: usize) -> bool {
    // About half a kilobyte for an end of a connection with its meter, and for a link with its
    // queue.
    (flows + links) * 512 > CACHE
}

impl<S: EventSet> World<S> {
    /// Loads what the packets behind the one that leaves `pipe` will touch.
    #[inline(never)]
    pub(super) fn prefetch_behind(&self, pipe: usize) {
        let at = |stage| self.pipes.get(pipe, stage);
        if let Some(p) = at(RECORD) {
            prefetch(p);
        }
        if let Some(p) = at(NAMED) {
            fetch(&self.hops, p.hop());
            fetch(&self.flows, p.flow as usize);
            self.segments.prefetch(p.segment());
        }
        if let Some(p) = at(STATE) {
            self.load_state(p);
        }
        if let Some((c, data)) = at(ANSWER).and_then(|p| self.connection_at_end(p)) {
            let c = &self.tcp[c];
            fetch(&self.flows, c.reverse_flow(data) as usize);
            if let Some(meter) = self.meters.get(c.data as usize).filter(|_| data) {
                meter.delay.prefetch();
            }
        }
        if let Some((c, data)) = at(PATH).and_then(|p| self.connection_at_end(p)) {
            let reverse = &self.flows[self.tcp[c].reverse_flow(data) as usize];
            fetch(&self.meters, reverse.meter as usize);
        }
        if let Some((c, data)) = at(LINK).and_then(|p| self.connection_at_end(p)) {
            let reverse = &self.flows[self.tcp[c].reverse_flow(data) as usize];
            self.load_link(reverse.first as usize);
        }
    }

    /// The links that a packet takes next, or what counts and answers it.
    #[inline]
    fn load_state(&self, p: &InFlight) {
        let link = self.hops[p.hop()] as usize;
        if link < self.links.len() {
            self.load_link(link);
            // The one behind it may be worked out at once.
            if let Some(&after) = self.hops.get(p.hop() + 1) {
                self.load_link(after as usize);
            }
            return;
        }
        let flow = &self.flows[p.flow as usize];
        fetch(&self.meters, flow.meter as usize);
        match flow.origin {
            Origin::Data(c) => self.tcp[c as usize].prefetch_receiver(),
            Origin::Acknowledgments(c) => self.tcp[c as usize].prefetch_sender(),
            Origin::Open(_) | Origin::Workload(_) | Origin::Replay(_) | Origin::Replayed => {}
        }
    }

    /// What passes uncontended touches of a link.
    #[inline]
    fn load_link(&self, link: usize) {
        if let Some(link) = self.lane.links.get(link) {
            prefetch(&link.uncontended);
        }
    }

    /// The connection that a packet ends at with its next delivery, and whether it is data.
    #[inline]
    fn connection_at_end(&self, p: &InFlight) -> Option<(usize, bool)> {
        if (self.hops[p.hop()] as usize) < self.links.len() {
            return None;
        }
        match self.flows[p.flow as usize].origin {
            Origin::Data(c) => Some((c as usize, true)),
            Origin::Acknowledgments(c) => Some((c as usize, false)),
            Origin::Open(_) | Origin::Workload(_) | Origin::Replay(_) | Origin::Replayed => None,
        }
    }
}

/// Loads an element, if there is one.
#[inline]
fn fetch<T>(all: &[T], at: usize) {
    if let Some(one) = all.get(at) {
        prefetch(one);
    }
}
