//! Records of a link for each flow.

use spillgate_core::Time;

use crate::fan::waits::Wait;

/// The record of one flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    /// [`Time::MAX`] for never.
    offered: Time,
    /// [`Time::MAX`] for never.
    admitted: Time,
    refused: u64,
    refused_total: u64,
    pub(super) admissions: u32,
    pub(super) removals: u32,
    pub(super) timeouts: u32,
}

impl Record {
    const NEW: Self = Self {
        offered: Time::MAX,
        admitted: Time::MAX,
        refused: 0,
        refused_total: 0,
        admissions: 0,
        removals: 0,
        timeouts: 0,
    };

    /// Notes that a packet reached admission control and passed.
    #[inline]
    pub(super) fn passed(&mut self, now: Time) {
        self.offered = self.offered.min(now);
        self.admitted = self.admitted.min(now);
    }

    /// Notes that a packet was refused.
    #[inline]
    pub(super) fn refused(&mut self, now: Time) {
        self.offered = self.offered.min(now);
        self.refused_total += 1;
        self.refused += u64::from(self.admitted == Time::MAX);
    }

    fn wait(&self, flow: u32) -> Wait {
        Wait {
            flow,
            offered: self.offered,
            admitted: (self.admitted < Time::MAX).then_some(self.admitted),
            refused: self.refused,
            refused_total: self.refused_total,
            admissions: self.admissions,
            removals: self.removals,
            timeouts: self.timeouts,
        }
    }
}

/// The records of one link.
#[derive(Clone, Debug, Default)]
pub(super) struct Records {
    present: Vec<Record>,
    /// The records of flows whose number belongs to another flow now.
    past: Vec<(u32, Record)>,
}

impl Records {
    /// Makes room for the flows `0..n`.
    pub(super) fn expect_flows(&mut self, n: usize) {
        self.present.resize(n, Record::NEW);
    }

    #[inline]
    pub(super) fn of(&mut self, flow: u32) -> &mut Record {
        &mut self.present[flow as usize]
    }

    /// From now on the number belongs to another flow.
    pub(super) fn renew(&mut self, flow: u32) {
        let record = std::mem::replace(self.of(flow), Record::NEW);
        if record.offered < Time::MAX {
            self.past.push((flow, record));
        }
    }

    /// The results for flows that reached the link, by flow and time; `more` adds what is not
    /// recorded yet.
    pub(super) fn waits(&self, more: impl Fn(&mut Wait)) -> Vec<Wait> {
        let known = (0..).zip(&self.present);
        let known = known.filter(|(_, r)| r.offered < Time::MAX);
        let present = known.map(|(flow, r)| {
            let mut found = r.wait(flow);
            more(&mut found);
            found
        });
        let past = self.past.iter().map(|(flow, r)| r.wait(*flow));
        let mut all: Vec<Wait> = past.chain(present).collect();
        all.sort_by_key(|w| (w.flow, w.offered));
        all
    }
}
