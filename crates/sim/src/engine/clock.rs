//! The edges of the measured period, the observer, and the end.

use spillgate_core::{Dur, Labels, Time};
use spillgate_events::{EventSet, Rank};

use super::World;
use crate::link::Link;
use crate::port::Port;

impl<S: EventSet> World<S> {
    /// Whether the window is past and nothing that comes at `at` is of interest.
    #[cold]
    pub(crate) fn is_over(&mut self, at: Time) -> bool {
        if at < self.window.end() {
            return false;
        }
        self.pass_edges(at);
        at >= self.stragglers.max(self.settled) && self.nobody_waits(at)
    }

    /// Passes the edges of the window up to `at`.
    #[cold]
    pub(crate) fn pass_edges(&mut self, at: Time) {
        while at >= self.edges.next && self.edges.passed < 2 {
            self.pass_edge();
        }
    }

    /// The run is over: the edges of the window that no event came after are passed now, and
    /// the last sample is taken if an event of the same instant came before it.
    #[cold]
    pub(crate) fn close(&mut self) {
        self.pass_edges(Time::MAX);
        self.begin_counting();
        self.now = self.now.max(self.window.end());
        let due = self.series.as_ref().map(|s| s.last() + self.plan.interval);
        if due.is_some_and(|at| at <= self.window.end()) {
            self.observe();
        }
    }

    /// An edge of the window: the queues' own counters are read from here to there.
    fn pass_edge(&mut self) {
        let begins = self.edges.passed == 0;
        self.edges.passed += 1;
        self.edges.next = self.window.end();
        self.lane_edge_passed();
        // In place: of many flows, an array of counts would be the largest that a run takes.
        for transfers in &mut self.transfers {
            transfers.on_edge(begins);
        }
        for connection in &self.tcp {
            self.transfers[connection.transfers as usize].on_open(connection.counts());
        }
        if !begins {
            self.begin_waiting();
            self.counts.wakes_in_time = Some(self.counts.wakes);
            self.stragglers = self.window.end() + self.longest_transmission();
        }
        if begins {
            // The flows of the plan come first, each with its meter.
            for (meter, flow) in self.meters.iter_mut().zip(&self.flows) {
                if let Some(voice) = &mut meter.voice {
                    voice.begin(flow.seq);
                }
            }
        }
        for link in &mut self.links {
            let Port::Queued(port) = &mut link.port else {
                continue; // it sees to the edge itself
            };
            if begins {
                port.discipline.reset_peaks();
            }
            for (queue, leaf) in port.queues.iter_mut().zip(port.discipline.leaves()) {
                if begins {
                    queue.marks_ce = leaf.marks_ce;
                } else {
                    queue.marks_ce = leaf.marks_ce - queue.marks_ce;
                    queue.on_backlog(leaf.peak_packets, leaf.peak_bytes);
                }
            }
        }
    }

    /// How long a link takes at most to send a packet. Where packets are looked at on arrival, one that a link has
    /// begun to send within the window counts in part, whether anybody waits for it or not.
    fn longest_transmission(&self) -> Dur {
        if self.inputs.is_none() {
            return Dur::ZERO;
        }
        let labels = if self.mpls.is_some() {
            Labels::MOST_BYTES
        } else {
            0
        };
        let tx = |l: &Link| {
            l.rate
                .tx_time(l.overhead.labelled_len(self.longest, labels))
        };
        self.links.iter().map(tx).max().unwrap_or(Dur::ZERO)
    }

    /// The window has begun: also at ports to which nothing has come since.
    fn begin_counting(&mut self) {
        self.lane_begins(Time::MAX);
    }

    pub(crate) fn observe(&mut self) {
        let (now, interval) = (self.now, self.plan.interval);
        if now >= self.window.start() {
            // To look forgets what has left since.
            self.begin_counting();
        }
        if let Some(mut tokens) = self.tokens.take() {
            tokens.sample(now, || self.buckets());
            self.tokens = Some(tokens);
        }
        if let (Some(series), Some(arrivals)) = (&mut self.series, &self.arrivals) {
            series.sample(
                now,
                &self.links,
                self.lane.lines_mut(),
                arrivals,
                &self.tcp,
                &self.workloads,
            );
            let next = now + interval;
            if next <= self.window.end() {
                self.events
                    .schedule(self.slots.observer, next, Rank::Observer);
                self.lane_samples(next);
            } else {
                self.lane_samples(Time::MAX);
            }
        }
    }
}
