//! What is counted of connections: bytes, repairs, and how long transfers took.

use spillgate_core::Dur;
use spillgate_measure::Histogram;

/// What connections have done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) delivered: u64,
    pub(crate) retransmits: u64,
    pub(crate) timeouts: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, other: Self) {
        self.delivered += other.delivered;
        self.retransmits += other.retransmits;
        self.timeouts += other.timeouts;
    }

    fn since(self, before: Self) -> Self {
        Self {
            delivered: self.delivered.saturating_sub(before.delivered),
            retransmits: self.retransmits.saturating_sub(before.retransmits),
            timeouts: self.timeouts.saturating_sub(before.timeouts),
        }
    }
}

/// The transfers of one flow of the plan: those of its one connection, or of a workload's sessions.
#[derive(Clone)]
pub(crate) struct Transfers {
    /// What connections that are closed did.
    pub(crate) closed: Counts,
    /// All counts at the begin and at the end of the window.
    edges: [Counts; 2],
    /// Of the transfers that began in the window: how many, their ends, and their times.
    pub(crate) begun: u64,
    pub(crate) done: u64,
    pub(crate) failed: u64,
    /// Sessions that could not begin in the window because too many were open.
    pub(crate) refused: u64,
    pub(crate) times: Histogram,
}

impl Transfers {
    pub(crate) fn new(bits: u8) -> Self {
        Self {
            closed: Counts::default(),
            edges: [Counts::default(); 2],
            begun: 0,
            done: 0,
            failed: 0,
            refused: 0,
            times: Histogram::new(bits),
        }
    }

    /// A transfer that counts ended well.
    pub(crate) fn on_done(&mut self, took: Dur) {
        self.done += 1;
        self.times.record(took);
    }

    /// The window begins or ends; `open` is what the open connections have done.
    pub(crate) fn on_edge(&mut self, begins: bool, open: Counts) {
        let mut all = self.closed;
        all.add(open);
        self.edges[usize::from(!begins)] = all;
    }

    /// What happened within the window.
    pub(crate) fn within(&self) -> Counts {
        self.edges[1].since(self.edges[0])
    }

    /// Together with another flow's: transfers and times, not what lies between the edges.
    pub(crate) fn with(mut self, other: &Self) -> Self {
        self.begun += other.begun;
        self.done += other.done;
        self.failed += other.failed;
        self.refused += other.refused;
        self.times.merge(&other.times);
        self
    }
}
