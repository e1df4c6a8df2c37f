//! What a run tells of itself: how far it is, and what it has measured.

use spillgate_core::Table;
use spillgate_events::EventSet;
use spillgate_measure::{Histogram, PackedHistogram};

use super::World;
use crate::admission::Admission;
use crate::campaign::Failure;
use crate::flow::Origin;
use crate::measured::Measured;
use crate::observe::SeriesRecorder;
use crate::outcome::Outcome;
use crate::pipes::Pipes;
use crate::tcp::Segments;
use crate::tokens::buckets;

impl<S: EventSet> World<S> {
    /// The simulated time that has passed, as a fraction from 0 to 1.
    pub fn fraction(&self) -> f64 {
        (self.now.as_ps() as f64 / self.window.end().as_ps() as f64).min(1.0)
    }

    /// Events so far, up to the end of the measured period: deliveries at the far end of a link,
    /// and wakes of sources, senders, receivers and ports that have something to do.
    pub fn events(&self) -> u64 {
        self.counts.events()
    }

    /// Packets that sources have emitted so far.
    pub fn packets(&self) -> u64 {
        self.counts.emitted
    }

    /// Packet-hops so far: one for each packet that has reached the far end of a link.
    pub fn hops(&self) -> u64 {
        self.counts.hops
    }

    /// Fingerprint of the event stream so far.
    pub fn digest(&self) -> String {
        self.facts.hex(self.counts.facts())
    }

    /// The first fault of the run. The outcome is invalid if there is one.
    pub fn fault(&self) -> Option<&Failure> {
        self.fault.as_ref()
    }

    /// The measurements of a run that has ended. Frees the state of flows and links first, since
    /// the results of many flows are large too.
    pub fn into_outcome(mut self) -> Outcome {
        let admissions = self.admissions();
        let series = self.series.take();
        self.tcp = Table::default();
        self.flows = Table::default();
        self.segments = Segments::default();
        self.pipes = Pipes::new(0);
        self.events = S::new(Vec::new(), 0);
        self.collect(admissions, series)
    }

    /// The measurements so far. Before the end of the run they lack the marks and the peaks of
    /// queues that are served packet by packet.
    pub fn outcome(&self) -> Outcome {
        self.collect(self.admissions(), self.series.clone())
    }

    /// What flow admission did to each flow of the plan and to its acknowledgments.
    fn admissions(&self) -> Vec<Admission> {
        let end = self.now.min(self.window.end());
        let mut found = Vec::new();
        for (number, link) in (0..).zip(&self.links) {
            let Some(port) = &link.port else {
                continue;
            };
            let waits = port.discipline.waits(end);
            // Sources send on after the end until the last packets of the measured period have
            // arrived.
            for wait in waits.into_iter().filter(|w| w.offered < end) {
                let flow = &self.flows[wait.flow as usize];
                let (of, is_acks) = match flow.origin {
                    Origin::Acknowledgments(c) => {
                        (&self.flows[self.tcp[c as usize].data as usize], true)
                    }
                    _ => (flow, false),
                };
                found.push(Admission::new(number, of.meter, is_acks, &wait, end));
            }
        }
        found
    }

    fn collect(&self, admissions: Vec<Admission>, series: Option<SeriesRecorder>) -> Outcome {
        let plan = &self.plan;
        let measured = Measured {
            plan,
            now: self.now,
            flows: &self.meters,
            links: &self.links,
            lane: Some(&self.lane),
            stages: self.stages.as_deref(),
            colored: &self.colored,
            marked: self.marked.as_deref(),
            nodes: self.nodes.as_deref(),
            transfers: &self.transfers,
            admissions: &admissions,
            gaps: self.gaps.as_deref(),
        };
        let (found, class_delays) = measured.values();
        let draining = self.tokens.as_ref();
        let arrivals = self.arrivals.as_ref();
        let settled = arrivals.filter(|_| self.now >= self.window.end());
        Outcome {
            values: found.values.into(),
            bounds: found.bounds,
            class_delays: class_delays.iter().map(PackedHistogram::from).collect(),
            series: series.map(SeriesRecorder::into_curves).unwrap_or_default(),
            draining: draining.map_or_else(Vec::new, |t| {
                t.draining(
                    plan,
                    &buckets(self.now, &self.links, self.stages.as_deref()),
                )
            }),
            unsettled: settled.map_or_else(Vec::new, |a| a.unsettled()),
            admissions,
            digest: self.digest(),
            events: self.counts.events(),
            packets: self.counts.emitted,
        }
    }
}

/// Resolution of the histograms of that many flows or queues, as the exponent of the number of
/// buckets in an octave. With 2⁸ the largest error is 0.2 %; with 2⁵ the histograms of 10,000 flows
/// take tens of megabytes.
pub(crate) fn histogram_bits(members: usize) -> u8 {
    match members {
        0..=256 => 8,
        257..=2048 => 7,
        _ => 5,
    }
}

/// The largest relative error of a reported quantile, for a world with this many flows.
pub fn quantile_error(flows: usize) -> f64 {
    Histogram::new(histogram_bits(flows)).relative_error()
}
