//! Sources that are not simply a sequence of drawn times: captures, and flows that keep the inputs
//! of a switch filled.

use spillgate_core::Ecn;
use spillgate_events::{EventSet, Rank};

use super::{ROUTED, World};
use crate::campaign::Failure;
use crate::flow::Origin;

impl<S: EventSet> World<S> {
    /// Asks a capture for its next packet and sets the wake of its flow.
    pub(crate) fn plan_replay(&mut self, r: usize) {
        let replay = &mut self.replays[r];
        match replay.advance() {
            Ok(Some(at)) => self.events.schedule(replay.flow, at, Rank::Timer),
            Ok(None) => {}
            Err(fault) => {
                self.fault.get_or_insert(Failure::Input(fault));
            }
        }
    }

    /// A packet of a capture is due.
    pub(super) fn replay_due(&mut self, r: usize) {
        let (flow, next) = self.replays[r].due();
        self.plan_replay(r);
        self.emit(self.now, flow as u32, next.len, next.ecn, 0);
    }

    /// A packet of a backlogged flow is at the input of the switch behind its sender.
    #[cold]
    pub(super) fn emit_at_switch(&mut self, flow: u32, len: u16, ecn: Ecn) {
        let now = self.now;
        let first = self.flows[flow as usize].first;
        if first >= ROUTED || self.may_stop_sending(flow as usize, now) {
            return;
        }
        let mut packet = self.compose(now, flow, len, ecn, 0);
        if self.tap.is_some() {
            self.tap_sent(&packet);
        }
        packet.handle += 1 << 32;
        self.forward_from(Some(first as usize), &mut packet, now);
    }

    /// A packet of a flow has crossed the fabric of a switch: another one takes its place if the
    /// flow is backlogged.
    pub(crate) fn refill(&mut self, flow: u32) {
        let f = &self.flows[flow as usize];
        let (Origin::Open(source), ecn) = (f.origin, f.ecn) else {
            return;
        };
        let source = &self.sources[source as usize];
        if source.is_backlogged && !source.is_over(self.now) {
            self.emit_at_switch(flow, source.next_len, ecn);
        }
    }
}
