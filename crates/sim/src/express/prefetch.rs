//! Prefetch: memory that the next packets on a pipe will touch is loaded before they arrive.
//!
//! With thousands of flows nothing of a flow is in the cache when its packet arrives, and waiting
//! for memory takes longer than everything else. The order of the packets on a pipe is known, so
//! each delivery begins to load memory for the packets behind it. One load gives the address of the
//! next: the closer a packet, the deeper the stage. Results do not depend on it. Worlds that fit
//! into the cache have no prefetch.
//!
//! Without it D10k takes 1.26 of its time.

use spillgate_core::prefetch;
use spillgate_events::EventSet;

use crate::engine::World;
use crate::flow::Origin;
use crate::pipes::InFlight;

/// How many packets ahead each stage begins: the record itself, then the records that it names, and
/// so on.
const RECORD: usize = 10;
const NAMED: usize = 5;
const STATE: usize = 4;
const ANSWER: usize = 3;
const PATH: usize = 2;
const LINK: usize = 1;

/// The cache of a processor core, with its share of the common cache, in bytes. For smaller worlds
/// prefetch costs more than it gains.
const CACHE: usize = 4 << 20;

/// Whether the state of this many flows and links exceeds the cache.
pub(super) fn is_large(flows: usize, links: usize) -> bool {
    // An end of a connection with its meter, or a link with its queue, takes about half a kilobyte.
    (flows + links) * 512 > CACHE
}

impl<S: EventSet> World<S> {
    /// Loads memory for the packets behind the one that leaves `pipe`.
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

    /// Loads the next links of a packet, or the meter and the end of the connection that receives
    /// it.
    #[inline]
    fn load_state(&self, p: &InFlight) {
        let link = self.hops[p.hop()] as usize;
        if link < self.links.len() {
            self.load_link(link);
            // The link behind it may be taken at once.
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

    /// Loads the part of a link that an uncontended packet touches.
    #[inline]
    fn load_link(&self, link: usize) {
        if let Some(link) = self.lane.links.get(link) {
            prefetch(&link.uncontended);
        }
    }

    /// The connection that receives a packet with its next delivery, and whether the packet is
    /// data.
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
