//! Captures that are replayed.

use std::sync::Arc;

use spillgate_capture::{Arrival, Replay};
use spillgate_core::{Dscp, Ecn, Time};
use spillgate_scenario::plan::ReplayPlan;

/// A capture, and the next packet that it sends.
pub(crate) struct Capture {
    replay: Replay,
    next: Arrival,
    stop: Time,
    /// The file, for messages.
    file: String,
    /// The flow of the plan whose wake is the next packet.
    pub(crate) flow: u32,
    /// Number of the first of its packets' flows.
    pub(crate) first: u32,
}

impl Capture {
    /// A capture whose wakes are those of `flow`.
    pub(crate) fn new(plan: &Arc<ReplayPlan>, start: Time, stop: Time, flow: u32) -> Self {
        Self {
            replay: Replay::new(
                Arc::clone(&plan.opener),
                Arc::clone(&plan.selection),
                Arc::clone(&plan.survey),
                plan.clock,
                start,
            ),
            next: Arrival {
                at: start,
                flow: 0,
                len: 0,
                dscp: Dscp::DEFAULT,
                ecn: Ecn::NotEct,
            },
            stop,
            file: plan.file.clone(),
            flow,
            first: 0,
        }
    }

    /// Advances to the next packet and returns when it is due; none when the capture is over or has
    /// stopped.
    pub(crate) fn advance(&mut self) -> Result<Option<Time>, String> {
        match self.replay.next() {
            Ok(Some(next)) if next.at < self.stop => {
                self.next = next;
                Ok(Some(next.at))
            }
            Ok(_) => Ok(None),
            Err(e) => Err(format!("`{}`: {e}; {}", self.file, e.hint)),
        }
    }

    /// The packet that is due and the number of its flow.
    pub(crate) fn due(&self) -> (usize, Arrival) {
        ((self.first + self.next.flow) as usize, self.next)
    }
}
