//! What is counted of connections: bytes, repairs, and how long transfers took.

use spillgate_core::Dur;
use spillgate_measure::{Histogram, Volume};

/// What connections have done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Payload that has arrived, each byte once.
    pub(crate) arrived: Volume,
    pub(crate) retransmits: u64,
    pub(crate) timeouts: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, other: Self) {
        self.arrived += other.arrived;
        self.retransmits += other.retransmits;
        self.timeouts += other.timeouts;
    }
}

/// The transfers of one flow of the plan: those of its one connection, or of a workload's sessions.
#[derive(Clone)]
pub(crate) struct Transfers {
    /// What had been done when the measured period began; once it has ended, what was done within.
    within: Counts,
    tally: Tally,
    /// Resolution of the times.
    bits: u8,
    /// The measured period has ended.
    ended: bool,
}

// Ten thousand connections count.
const _: () = assert!(size_of::<Transfers>() <= 48);

/// Of the transfers that began in the measured period: how many, how they ended, and how long they
/// took.
#[derive(Clone)]
enum Tally {
    /// A lone connection is one transfer.
    Lone {
        begun: bool,
        failed: bool,
        /// [`Dur::MAX`] until it is done.
        took: Dur,
    },
    Many(Box<Many>),
}

/// What the sessions of a workload have done.
#[derive(Clone)]
struct Many {
    /// What connections that are closed did, within the measured period or not.
    closed: Counts,
    begun: u64,
    failed: u64,
    /// Sessions that could not begin in the measured period because too many were open.
    refused: u64,
    times: Histogram,
}

impl Transfers {
    /// Of a lone connection; if it `counts`, it opens in the measured period.
    pub(crate) fn lone(bits: u8, counts: bool) -> Self {
        Self::with(
            bits,
            Tally::Lone {
                begun: counts,
                failed: false,
                took: Dur::MAX,
            },
        )
    }

    /// Of a workload that has had no session yet; times have 2^`bits` buckets an octave.
    pub(crate) fn many(bits: u8) -> Self {
        Self::with(
            bits,
            Tally::Many(Box::new(Many {
                closed: Counts::default(),
                begun: 0,
                failed: 0,
                refused: 0,
                times: Histogram::new(bits),
            })),
        )
    }

    fn with(bits: u8, tally: Tally) -> Self {
        Self {
            within: Counts::default(),
            tally,
            bits,
            ended: false,
        }
    }

    /// A transfer that counts begins.
    pub(crate) fn on_begun(&mut self) {
        match &mut self.tally {
            Tally::Lone { begun, .. } => *begun = true,
            Tally::Many(all) => all.begun += 1,
        }
    }

    /// A transfer that counts ended well.
    pub(crate) fn on_done(&mut self, time: Dur) {
        match &mut self.tally {
            Tally::Lone { took, .. } => *took = time,
            Tally::Many(all) => all.times.record(time),
        }
    }

    /// A transfer that counts was given up.
    pub(crate) fn on_failed(&mut self) {
        match &mut self.tally {
            Tally::Lone { failed, .. } => *failed = true,
            Tally::Many(all) => all.failed += 1,
        }
    }

    /// A session had no place.
    pub(crate) fn on_refused(&mut self) {
        if let Tally::Many(all) = &mut self.tally {
            all.refused += 1;
        }
    }

    /// A session's connection is closed and will be used anew.
    pub(crate) fn on_closed(&mut self, counts: Counts) {
        if let Tally::Many(all) = &mut self.tally {
            all.closed.add(counts);
        }
    }

    /// Of the transfers that began in the measured period: how many, and how many were done, given
    /// up, and refused.
    pub(crate) fn totals(&self) -> [u64; 4] {
        match &self.tally {
            Tally::Lone {
                begun,
                failed,
                took,
            } => [
                u64::from(*begun),
                u64::from(*took < Dur::MAX),
                u64::from(*failed),
                0,
            ],
            Tally::Many(all) => [all.begun, all.times.count(), all.failed, all.refused],
        }
    }

    /// Those that have not come to an end.
    pub(crate) fn open(&self) -> u64 {
        let [begun, done, failed, _] = self.totals();
        begun.saturating_sub(done).saturating_sub(failed)
    }

    /// How long transfers took.
    pub(crate) fn times(&self) -> Histogram {
        let mut times = Histogram::new(self.bits);
        self.add_times(&mut times);
        times
    }

    /// Adds how long transfers took to others' times.
    pub(crate) fn add_times(&self, to: &mut Histogram) {
        match &self.tally {
            Tally::Lone { took, .. } if *took == Dur::MAX => {}
            Tally::Lone { took, .. } => to.record(*took),
            Tally::Many(all) => to.merge(&all.times),
        }
    }

    /// The measured period begins or ends; what the open connections have done follows.
    pub(crate) fn on_edge(&mut self, begins: bool) {
        self.ended = !begins;
        // The end brings more than there was at the begin: what is short of it here, open
        // connections add.
        let before = if begins {
            Counts::default()
        } else {
            self.within
        };
        let closed = match &self.tally {
            Tally::Lone { .. } => Counts::default(),
            Tally::Many(all) => all.closed,
        };
        self.within = Counts {
            arrived: closed.arrived.wrapping_sub(before.arrived),
            retransmits: closed.retransmits.wrapping_sub(before.retransmits),
            timeouts: closed.timeouts.wrapping_sub(before.timeouts),
        };
    }

    /// What an open connection has done by the edge.
    pub(crate) fn on_open(&mut self, counts: Counts) {
        let all = &mut self.within;
        all.arrived = all.arrived.wrapping_add(counts.arrived);
        all.retransmits = all.retransmits.wrapping_add(counts.retransmits);
        all.timeouts = all.timeouts.wrapping_add(counts.timeouts);
    }

    /// New payload, `all` of it, arrived after an edge, `part` of it within the measured period.
    pub(crate) fn on_edge_crossed(&mut self, all: Volume, part: Volume) {
        let within = &mut self.within.arrived;
        *within = match self.ended {
            // What comes after the end does not count, but for this part.
            true => within.wrapping_add(part),
            // What comes after the start does, and what was there then is taken off at the end.
            false => within.wrapping_add(all.wrapping_sub(part)),
        };
    }

    /// What happened within the measured period; nothing is known before it has ended.
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

    fn counts(arrived: u64) -> Counts {
        Counts {
            arrived: Volume::of(arrived),
            retransmits: arrived / 10,
            timeouts: arrived / 100,
        }
    }

    #[test]
    fn what_lies_between_the_edges_counts() {
        let mut t = Transfers::many(5);
        t.on_closed(counts(1_000));
        t.on_edge(true);
        t.on_open(counts(500));
        assert_eq!(t.within(), Counts::default(), "a run that has not ended");
        // The open connection is closed, and another one has opened.
        t.on_closed(counts(700));
        t.on_edge(false);
        t.on_open(counts(300));
        assert_eq!(t.within(), counts(500));
    }

    #[test]
    fn a_lone_connection_is_one_transfer() {
        let mut lone = Transfers::lone(5, true);
        let mut many = Transfers::many(5);
        many.on_begun();
        for t in [&lone, &many] {
            assert_eq!((t.times().count(), t.totals()), (0, [1, 0, 0, 0]));
        }
        for t in [&mut lone, &mut many] {
            t.on_done(Dur::from_ms(7));
            let mut sum = Histogram::new(5);
            sum.record(Dur::from_ms(9));
            t.add_times(&mut sum);
            assert_eq!((sum.count(), sum.max()), (2, Some(Dur::from_ms(9))));
            assert_eq!(t.times().min(), Some(Dur::from_ms(7)));
            assert_eq!(t.totals(), [1, 1, 0, 0]);
        }
        let mut lost = Transfers::lone(5, false);
        lost.on_failed();
        assert_eq!((lost.times().count(), lost.totals()), (0, [0, 0, 1, 0]));
    }
}
