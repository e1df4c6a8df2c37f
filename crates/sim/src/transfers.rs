//! Counters of connections: bytes, retransmissions, and how long transfers took.

use spillgate_core::Dur;
use spillgate_measure::{Histogram, Volume};

/// Counters of connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ConnectionCounts {
    /// Payload that has arrived, each byte once.
    pub(crate) arrived: Volume,
    pub(crate) retransmits: u64,
    pub(crate) timeouts: u64,
}

impl ConnectionCounts {
    pub(crate) fn add(&mut self, other: Self) {
        self.arrived += other.arrived;
        self.retransmits += other.retransmits;
        self.timeouts += other.timeouts;
    }
}

/// The transfers of one flow of the plan: those of its one connection, or of a workload's sessions.
#[derive(Clone)]
pub(crate) struct Transfers {
    /// The counters at the start of the measured period; after its end, their increase within it.
    within: ConnectionCounts,
    tally: Tally,
    /// Resolution of the times.
    bits: u8,
    /// The measured period has ended.
    ended: bool,
}

// Memory matters with ten thousand connections.
const _: () = assert!(size_of::<Transfers>() <= 48);

/// Transfers that began in the measured period: how many, how they ended, and how long they took.
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

/// Counters of the sessions of a workload.
#[derive(Clone)]
struct Many {
    /// The counters of closed connections, since the start of the run.
    closed: ConnectionCounts,
    begun: u64,
    failed: u64,
    /// Sessions that were refused in the measured period because too many were open.
    refused: u64,
    times: Histogram,
}

impl Transfers {
    /// For a single connection, which opens in the measured period if it `counts`.
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

    /// For a workload that has had no session yet; times have 2^`bits` buckets an octave.
    pub(crate) fn many(bits: u8) -> Self {
        Self::with(
            bits,
            Tally::Many(Box::new(Many {
                closed: ConnectionCounts::default(),
                begun: 0,
                failed: 0,
                refused: 0,
                times: Histogram::new(bits),
            })),
        )
    }

    fn with(bits: u8, tally: Tally) -> Self {
        Self {
            within: ConnectionCounts::default(),
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

    /// A transfer that counts is complete.
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

    /// A session was refused.
    pub(crate) fn on_refused(&mut self) {
        if let Tally::Many(all) = &mut self.tally {
            all.refused += 1;
        }
    }

    /// A session's connection is closed, to be reused.
    pub(crate) fn on_closed(&mut self, counts: ConnectionCounts) {
        if let Tally::Many(all) = &mut self.tally {
            all.closed.add(counts);
        }
    }

    /// The numbers of transfers that began in the measured period, were completed, were given up,
    /// and were refused.
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

    /// The number of transfers that have not ended.
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

    /// Adds the times of the transfers to `to`.
    pub(crate) fn add_times(&self, to: &mut Histogram) {
        match &self.tally {
            Tally::Lone { took, .. } if *took == Dur::MAX => {}
            Tally::Lone { took, .. } => to.record(*took),
            Tally::Many(all) => to.merge(&all.times),
        }
    }

    /// The measured period begins or ends; [`Transfers::on_open`] follows for each open connection.
    pub(crate) fn on_edge(&mut self, begins: bool) {
        self.ended = !begins;
        // The counters of the start are subtracted. The result may wrap below zero until those of
        // open connections are added.
        let before = if begins {
            ConnectionCounts::default()
        } else {
            self.within
        };
        let closed = match &self.tally {
            Tally::Lone { .. } => ConnectionCounts::default(),
            Tally::Many(all) => all.closed,
        };
        self.within = ConnectionCounts {
            arrived: closed.arrived.wrapping_sub(before.arrived),
            retransmits: closed.retransmits.wrapping_sub(before.retransmits),
            timeouts: closed.timeouts.wrapping_sub(before.timeouts),
        };
    }

    /// Adds the counters of an open connection at an edge.
    pub(crate) fn on_open(&mut self, counts: ConnectionCounts) {
        let all = &mut self.within;
        all.arrived = all.arrived.wrapping_add(counts.arrived);
        all.retransmits = all.retransmits.wrapping_add(counts.retransmits);
        all.timeouts = all.timeouts.wrapping_add(counts.timeouts);
    }

    /// New payload, `all` of it, arrived after an edge, `part` of it within the measured period.
    pub(crate) fn on_edge_crossed(&mut self, all: Volume, part: Volume) {
        let within = &mut self.within.arrived;
        *within = match self.ended {
            // After the end only this part counts.
            true => within.wrapping_add(part),
            // After the start all of it counts, and at the end the counters at the start are
            // subtracted.
            false => within.wrapping_add(all.wrapping_sub(part)),
        };
    }

    /// The counters within the measured period; zero before it has ended.
    pub(crate) fn within(&self) -> ConnectionCounts {
        if self.ended {
            self.within
        } else {
            ConnectionCounts::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(arrived: u64) -> ConnectionCounts {
        ConnectionCounts {
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
        assert_eq!(
            t.within(),
            ConnectionCounts::default(),
            "a run that has not ended"
        );
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
