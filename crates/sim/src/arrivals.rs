//! Arrivals by class of service, for time series and to find initial transients.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Packet, Time};
use spillgate_measure::Window;
use spillgate_measure::stats::{Transient, transient};
use spillgate_measure::table::Metric;
use spillgate_scenario::plan::{Application, FlowPlan, Traffic, WorldPlan};

/// Parts of the measured period.
const PARTS: usize = 250;
/// Parts with fewer packets than this are merged.
const MIN_PACKETS: u64 = 5;
/// A bias of the mean below this is not reported.
const MIN_BIAS: f64 = 0.02;

/// An initial transient in the arrivals of a class. Stored runs have it in this form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unsettled {
    /// Index of the class.
    pub class: u32,
    /// The name of [`Metric::Throughput`] or [`Metric::OwdMean`].
    pub metric: Cow<'static, str>,
    /// The difference between the mean and the value at which it settles, as a share of that value.
    pub bias: f64,
    /// The warm-up that would suffice; none if the values do not settle before the end of the run.
    #[serde(with = "spillgate_core::stored::ps")]
    pub warmup: Option<Dur>,
}

/// Arrivals in a part of the measured period.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    packets: u64,
    bytes: u64,
    /// Sum of one-way delays, in picoseconds.
    delay: u128,
}

/// The arrivals of one class.
#[derive(Clone, Debug)]
struct Class {
    /// Bytes since the start of the run.
    bytes: u64,
    /// By part of the measured period; empty if the class is not meant to be steady.
    parts: Vec<Part>,
}

/// Counts arrivals.
#[derive(Clone, Debug)]
pub(crate) struct Arrivals {
    window: Window,
    /// Length of a part.
    part: Dur,
    classes: Vec<Class>,
}

impl Arrivals {
    pub(crate) fn new(plan: &WorldPlan, window: Window) -> Self {
        let class = |class: usize| {
            let mut flows = plan.flows.iter().filter(|f| usize::from(f.class) == class);
            let steady = plan.failures.is_empty() && flows.all(|f| is_steady(f, window));
            Class {
                bytes: 0,
                parts: vec![Part::default(); if steady { PARTS } else { 0 }],
            }
        };
        Self {
            window,
            part: Dur::from_ps(window.len().as_ps().div_ceil(PARTS as u64).max(1)),
            classes: (0..plan.classes.len()).map(class).collect(),
        }
    }

    #[inline]
    pub(crate) fn on_arrival(&mut self, now: Time, class: u16, packet: &Packet) {
        let class = &mut self.classes[usize::from(class)];
        let bytes = u64::from(packet.l3_len);
        class.bytes += bytes;
        if self.window.contains(now) {
            let part = now.since(self.window.start()).as_ps() / self.part.as_ps();
            if let Some(part) = class.parts.get_mut(part as usize) {
                part.packets += 1;
                part.bytes += bytes;
                part.delay += u128::from(now.since(packet.sent).as_ps());
            }
        }
    }

    /// Bytes received in a class since the start of the run.
    pub(crate) fn bytes(&self, class: usize) -> u64 {
        self.classes[class].bytes
    }

    /// Initial transients, by class.
    pub(crate) fn unsettled(&self) -> Vec<Unsettled> {
        let mut found = Vec::new();
        for (i, class) in self.classes.iter().enumerate() {
            let packets: u64 = class.parts.iter().map(|p| p.packets).sum();
            // 250 parts, 125 or 50.
            let enough = |each: &usize| packets >= MIN_PACKETS * (PARTS / each) as u64;
            let Some(each) = [1, 2, 5].into_iter().find(enough) else {
                continue;
            };
            let parts: Vec<Part> = class.parts.chunks(each).map(total).collect();
            for (metric, xs) in [
                (
                    Metric::Throughput,
                    parts.iter().map(|p| p.bytes as f64).collect(),
                ),
                (Metric::OwdMean, delays(&parts)),
            ] {
                if let Some(Transient { cut, bias }) = transient(&xs, MIN_BIAS) {
                    let after = |cut: usize| self.part * (cut * each) as u64;
                    found.push(Unsettled {
                        class: i as u32,
                        metric: metric.name().into(),
                        bias,
                        warmup: cut.map(|cut| self.window.start().since(Time::ZERO) + after(cut)),
                    });
                }
            }
        }
        found
    }
}

/// Whether a flow is meant to be stationary through the whole measured period.
fn is_steady(flow: &FlowPlan, window: Window) -> bool {
    let l = &flow.lifetime;
    let lasts = l.start <= window.start() && l.stop >= window.end();
    let goes_on = match &flow.traffic {
        Traffic::Source(_) | Traffic::Sessions(_) => true,
        Traffic::Tcp { application, .. } => !matches!(application, Application::Bytes(_)),
        Traffic::Replay(_) => false,
    };
    lasts && goes_on
}

fn total(parts: &[Part]) -> Part {
    parts.iter().fold(Part::default(), |sum, p| Part {
        packets: sum.packets + p.packets,
        bytes: sum.bytes + p.bytes,
        delay: sum.delay + p.delay,
    })
}

/// Mean delays; in a part without arrivals, that of the part before.
fn delays(parts: &[Part]) -> Vec<f64> {
    let first = parts.iter().find(|p| p.packets > 0);
    let mean = |p: &Part| p.delay as f64 / p.packets as f64;
    let mut last = first.map_or(0.0, mean);
    let mut next = |p: &Part| {
        if p.packets > 0 {
            last = mean(p);
        }
        last
    };
    parts.iter().map(&mut next).collect()
}
