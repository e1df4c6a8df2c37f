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
}

/// The transfers of one flow of the plan: those of its one connection, or of a workload's sessions.
#[derive(Clone)]
pub(crate) struct Transfers {
    /// What connections that are closed did.
    pub(crate) closed: Counts,
    /// What had been done when the window began; once it has ended, what was done within.
    within: Counts,
    /// Of the transfers that began in the window: how many, their ends, and their times.
    pub(crate) begun: u64,
    pub(crate) done: u64,
    pub(crate) failed: u64,
    /// Sessions that could not begin in the window because too many were open.
    pub(crate) refused: u64,
    times: Times,
    /// Resolution of the times.
    bits: u8,
    /// The window has ended.
    ended: bool,
}

/// How long transfers took. A lone connection has one.
#[derive(Clone)]
enum Times {
    None,
    One(Dur),
    Many(Box<Histogram>),
}

impl Transfers {
    /// Of no transfer yet; the times of many have 2^`bits` buckets an octave.
    pub(crate) fn new(bits: u8) -> Self {
        Self {
            closed: Counts::default(),
            within: Counts::default(),
            begun: 0,
            done: 0,
            failed: 0,
            refused: 0,
            times: Times::None,
            bits,
            ended: false,
        }
    }

    /// A transfer that counts ended well.
    pub(crate) fn on_done(&mut self, took: Dur) {
        self.done += 1;
        match &mut self.times {
            Times::None => self.times = Times::One(took),
            Times::One(_) => {
                let mut all = self.times();
                all.record(took);
                self.times = Times::Many(Box::new(all));
            }
            Times::Many(all) => all.record(took),
        }
    }

    /// How long transfers took.
    pub(crate) fn times(&self) -> Histogram {
        match &self.times {
            Times::Many(all) => (**all).clone(),
            Times::None => Histogram::new(self.bits),
            Times::One(took) => {
                let mut one = Histogram::new(self.bits);
                one.record(*took);
                one
            }
        }
    }

    /// Adds how long transfers took to others' times.
    pub(crate) fn add_times(&self, to: &mut Histogram) {
        match &self.times {
            Times::None => {}
            Times::One(took) => to.record(*took),
            Times::Many(all) => to.merge(all),
        }
    }

    /// The window begins or ends; what the open connections have done follows.
    pub(crate) fn on_edge(&mut self, begins: bool) {
        self.ended = !begins;
        // The end brings more than there was at the begin: what is short of it here, open
        // connections add.
        let before = if begins {
            Counts::default()
        } else {
            self.within
        };
        self.within = Counts {
            delivered: self.closed.delivered.wrapping_sub(before.delivered),
            retransmits: self.closed.retransmits.wrapping_sub(before.retransmits),
            timeouts: self.closed.timeouts.wrapping_sub(before.timeouts),
        };
    }

    /// What an open connection has done by the edge.
    pub(crate) fn on_open(&mut self, counts: Counts) {
        let all = &mut self.within;
        all.delivered = all.delivered.wrapping_add(counts.delivered);
        all.retransmits = all.retransmits.wrapping_add(counts.retransmits);
        all.timeouts = all.timeouts.wrapping_add(counts.timeouts);
    }

    /// What happened within the window; nothing is known before it has ended.
    pub(crate) fn within(&self) -> Counts {
        if self.ended {
            self.within
        } else {
            Counts::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(delivered: u64) -> Counts {
        Counts {
            delivered,
            retransmits: delivered / 10,
            timeouts: delivered / 100,
        }
    }

    #[test]
    fn what_lies_between_the_edges_counts() {
        let mut t = Transfers::new(5);
        t.closed = counts(1_000);
        t.on_edge(true);
        t.on_open(counts(500));
        assert_eq!(t.within(), Counts::default(), "a run that has not ended");
        // The open connection is closed, and another one has opened.
        t.closed.add(counts(700));
        t.on_edge(false);
        t.on_open(counts(300));
        assert_eq!(t.within(), counts(500));
    }

    #[test]
    fn one_time_is_like_a_histogram_of_one() {
        let mut t = Transfers::new(5);
        assert_eq!(t.times().count(), 0);
        for (n, ms) in [(1, 7), (2, 9), (3, 11)] {
            t.on_done(Dur::from_ms(ms));
            let mut sum = Histogram::new(5);
            t.add_times(&mut sum);
            assert_eq!((t.times().count(), sum.count()), (n, n));
            assert_eq!(t.times().min(), Some(Dur::from_ms(7)));
            assert_eq!(sum.max(), Some(Dur::from_ms(ms)));
        }
    }
}
