//! The edges of the measured period, samples, and the end of a run.

use spillgate_core::Time;
use spillgate_events::{EventSet, Rank};

use super::World;
use crate::observe::Sampling;
use crate::tokens::buckets;

impl<S: EventSet> World<S> {
    /// Whether the run is over at `at`: the measured period has ended and nothing is outstanding.
    #[cold]
    pub(crate) fn is_over(&mut self, at: Time) -> bool {
        if at < self.window.end() {
            return false;
        }
        self.pass_edges(at);
        at >= self.transmissions_end.max(self.last_known_loss) && self.nothing_outstanding(at)
    }

    /// Passes the edges of the measured period up to `at`.
    #[cold]
    pub(crate) fn pass_edges(&mut self, at: Time) {
        while at >= self.edges.next && self.edges.passed < 2 {
            self.pass_edge();
        }
    }

    /// Ends the run: passes the edges after which no event came, and takes the last sample if the
    /// event that ended the run preceded it at the same instant.
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

    /// Tells the lane that the measured period has begun, also for ports at which no packet has
    /// arrived since.
    fn begin_counting(&mut self) {
        self.lane_begins(Time::MAX);
    }

    pub(crate) fn observe(&mut self) {
        let (now, interval) = (self.now, self.plan.interval);
        if now >= self.window.start() {
            // Reading a backlog discards the packets that have left, so the peak at the start is
            // counted before.
            self.begin_counting();
        }
        if let Some(mut tokens) = self.tokens.take() {
            tokens.sample(now, || buckets(now, &self.links, self.stages.as_deref()));
            self.tokens = Some(tokens);
        }
        if let (Some(series), Some(arrivals)) = (&mut self.series, &self.arrivals) {
            let observed = Sampling {
                links: &self.links,
                stages: self.stages.as_deref(),
                lane: &mut self.lane,
                arrivals,
                tcp: &self.tcp,
                workloads: &self.workloads,
            };
            series.sample(&self.plan, now, observed, self.nodes.as_deref_mut());
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
