//! The edges of the measured period, samples, and the end of a run.

use spillgate_core::{Dur, Labels, Time};
use spillgate_events::{EventSet, Rank};
use spillgate_queueing::Colored;

use super::World;
use crate::link::Link;

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

    /// Passes an edge of the measured period. The queues' own counters are read at both edges.
    fn pass_edge(&mut self) {
        let begins = self.edges.passed == 0;
        self.edges.passed += 1;
        self.edges.next = self.window.end();
        // In place: an array of counts would be the largest allocation of a run with many flows.
        for transfers in &mut self.transfers {
            transfers.on_edge(begins);
        }
        for connection in &self.tcp {
            self.transfers[connection.transfers as usize].on_open(connection.counts());
        }
        if !begins {
            self.count_outstanding();
            self.counts.wakes_in_time = Some(self.counts.wakes);
            self.transmissions_end = self.window.end() + self.longest_transmission();
        }
        if begins {
            // The flows of the plan come first, each with its meter.
            for (meter, flow) in self.meters.iter_mut().zip(&self.flows) {
                if let Some(voice) = &mut meter.voice {
                    voice.begin(flow.seq);
                }
            }
        }
        if let Some(nodes) = &mut self.nodes {
            nodes.passes_edge(if begins {
                self.window.start()
            } else {
                self.window.end()
            });
            let carried = nodes.carried().filter(|_| !begins);
            for (link, volume, busy) in carried {
                let link = &mut self.links[link as usize];
                link.meter.busy = link.meter.busy + busy;
                if let Some(port) = &mut link.port {
                    port.queues[0].carried += volume;
                }
            }
        }
        if !begins {
            self.count_sharing();
        }
        let found = self.found();
        self.colored = match begins {
            true => found,
            false => found
                .iter()
                .zip(&self.colored)
                .map(|(now, then)| now.since(then))
                .collect(),
        };
        for link in &mut self.links {
            let Some(port) = &mut link.port else {
                continue; // the lane handles this edge
            };
            if begins {
                port.discipline.reset_peaks();
                if port.ring.is_some() {
                    for leaf in 0..port.queues.len() {
                        let (packets, bytes) = port.backlog(leaf as u16);
                        port.queues[leaf].on_backlog(packets, bytes);
                    }
                }
            }
            for (queue, leaf) in port.queues.iter_mut().zip(port.discipline.leaves()) {
                if begins {
                    queue.marks_ce = leaf.marks_ce;
                } else {
                    queue.marks_ce = leaf.marks_ce - queue.marks_ce;
                    queue.on_backlog(leaf.peak_packets, leaf.peak_bytes);
                    queue.averages = leaf.averages;
                }
            }
        }
    }

    /// What the meters of all policers have found so far: those of the links' own policies, then those at
    /// their receiving ends.
    fn found(&self) -> Vec<Colored> {
        let own = self.links.iter().filter_map(|l| l.port.as_ref());
        let own = own.flat_map(|p| p.discipline.meters());
        let at_arrival = self.conditioners().flat_map(|c| c.meters());
        own.chain(at_arrival).map(|(_, found)| *found).collect()
    }

    /// The longest transmission time of a packet on any link; zero without input policies. Those
    /// count the part of a packet that arrives within the measured period, also of one that is not
    /// outstanding.
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
            tokens.sample(now, || self.buckets());
            self.tokens = Some(tokens);
        }
        let watched = self.plan.watched_switches.iter();
        let (cells, voqs): (Vec<f64>, Vec<f64>) = match &mut self.nodes {
            Some(nodes) => (
                nodes.waiting_cells(now, &self.plan.watched),
                watched
                    .flat_map(|s| nodes.waiting_in_switch(*s as usize))
                    .collect(),
            ),
            None => Default::default(),
        };
        if let (Some(series), Some(arrivals)) = (&mut self.series, &self.arrivals) {
            series.sample(
                now,
                (&self.links, &mut self.lane),
                arrivals,
                &self.tcp,
                &self.workloads,
                (&cells, &voqs),
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
