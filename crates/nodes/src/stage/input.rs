//! Input policies: they police and mark packets that arrive over a link.
//!
//! The policy itself is a [`Conditioner`]; here it is at the receiving end of a link. It is written
//! at links and in router configurations, as policies of ports are. Cost: O(1) for each packet.

use std::fmt;

use spillgate_core::{Cos, DropReason, Dscp, Labels, Marks, Overhead, Packet, Rate, Time};
use spillgate_measure::table::{Metric, Scope};
use spillgate_measure::{Measures, Place, Volume, Window};
use spillgate_queueing::{BucketLevel, Colored, Conditioner, InputRecipe, State};

use super::{Acts, Arrival, Network, Refused, Stage, StageRecipe};
use crate::{Names, Start};

/// A policy at the receiving end of a link.
#[derive(Clone, Debug)]
pub struct InputPlan {
    /// Id of the link.
    pub link: u32,
    /// The link's name.
    pub name: String,
    /// The link's rate.
    pub rate: Rate,
    /// What the link adds to a packet.
    pub overhead: Overhead,
    /// The policy's name, for reports.
    pub policy: String,
    /// How to build it.
    pub recipe: InputRecipe,
    /// By meter of its policers: the port of the link has one of the same name.
    pub shared: Vec<bool>,
}

impl StageRecipe for InputPlan {
    fn build(&self, start: &Start<'_>, _: &Network<'_>) -> Box<dyn Stage> {
        let mut conditioner = self.recipe.build(start.flows, start.links);
        conditioner.seed(&|class| start.rng(&format!("police {class}")));
        Box::new(Input {
            plan: self.clone(),
            window: start.window,
            conditioner,
            meters: vec![InputMeter::default(); self.recipe.class_names().count()],
            colored: Vec::new(),
        })
    }

    fn path(&self) -> String {
        format!("links/{}/input", self.name)
    }

    fn declares(&self, _: &Network<'_>) -> Acts {
        Acts {
            arrivals: vec![self.link],
            notes: true,
            ..Acts::default()
        }
    }

    fn marks(&self) -> Vec<Dscp> {
        self.recipe.marks()
    }

    fn write_identity(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        // What else it has is the link's, or follows from the rest.
        write!(out, "{} {:?}", self.link, self.recipe)
    }
}

/// The measurements of one class in the measured period.
#[derive(Clone, Copy, Debug, Default)]
struct InputMeter {
    /// What arrived, counted as on the link.
    offered: Volume,
    /// What was admitted.
    carried: Volume,
    /// The part of `carried` that left with other markings than it came with.
    marked: Volume,
    /// Packets that were dropped.
    lost: u64,
}

/// The fields that an input policy may set.
fn markings(p: &Packet) -> (Dscp, Labels, Cos, Marks) {
    (p.dscp, p.labels, p.cos, p.marks())
}

/// A running input policy.
struct Input {
    plan: InputPlan,
    window: Window,
    conditioner: Conditioner,
    /// One for each class.
    meters: Vec<InputMeter>,
    /// The counters of its policers at the begin of the measured period; after its end, the counts
    /// within it.
    colored: Vec<Colored>,
}

impl Stage for Input {
    fn arrive(&mut self, now: Time, at: &mut Arrival<'_>, packet: &mut Packet) -> Option<Refused> {
        let InputPlan { overhead, rate, .. } = &self.plan;
        packet.len = overhead.labelled_len(packet.l3_len, packet.labels.bytes());
        let from = Time::ZERO + now.since(Time::ZERO + rate.tx_time(packet.len));
        let before = markings(packet);
        let (class, admitted) = self.conditioner.admit(now, packet);
        // The part of it that arrived within the measured period.
        let part = self.window.part(packet.len, from, now);
        let meter = &mut self.meters[usize::from(class)];
        meter.offered += part;
        if admitted {
            meter.carried += part;
            if markings(packet) != before {
                meter.marked += part;
            }
        } else if self.window.contains(now) {
            meter.lost += 1;
        }
        if at.watched {
            let colors = self.conditioner.colors(class, admitted).into_iter();
            let owned = colors.map(|(class, color)| (class.to_owned(), color));
            at.found = Some(owned.collect());
        }
        let why = || Refused {
            reason: DropReason::Policer,
            by: Some((class, self.conditioner.evidence(now, packet))),
        };
        (!admitted).then(why)
    }

    fn edge(&mut self, edge: Time) {
        let found = self.conditioner.meters().map(|(_, found)| *found);
        self.colored = match edge == self.window.start() {
            true => found.collect(),
            false => found
                .zip(&self.colored)
                .map(|(now, then)| now.since(then))
                .collect(),
        };
    }

    fn measure(&self, _: &dyn Names, out: &mut Measures) {
        let (plan, period) = (&self.plan, self.window.len());
        for (meter, class) in self.meters.iter().zip(plan.recipe.class_names()) {
            let mut of = out.of(Scope::Input, || format!("{}/{class}", plan.name));
            of.put(Metric::Offered, meter.offered.rate(period));
            of.put(Metric::Carried, meter.carried.rate(period));
            of.put(Metric::CarriedMarked, meter.marked.rate(period));
            of.put(Metric::DropsPolicer, meter.lost);
        }
        for (i, class) in plan.recipe.meter_names().enumerate() {
            let found = self.colored.get(i).copied().unwrap_or_default();
            let of = out.of(Scope::Meter, || match plan.shared[i] {
                true => format!("{}/{class} (arrival)", plan.name),
                false => format!("{}/{class}", plan.name),
            });
            measure_colored(&found, self.window, of);
        }
    }

    fn tokens(&self, now: Time) -> Vec<(String, State)> {
        self.conditioner.tokens(now)
    }

    fn buckets(&self, now: Time) -> Vec<(u32, &str, BucketLevel)> {
        let names: Vec<&str> = self.plan.recipe.class_names().collect();
        let of = self.conditioner.buckets(now).into_iter();
        of.map(|(class, level)| (self.plan.link, names[usize::from(class)], level))
            .collect()
    }
}

/// Puts what the meter of a policer found.
pub fn measure_colored(meter: &Colored, window: Window, mut of: Place<'_>) {
    let (bytes, packets) = (meter.bytes, meter.packets);
    let rate = |bytes: u64| bytes as f64 * 8.0 / window.len().as_secs_f64();
    let all: u64 = bytes.iter().sum();
    of.put(Metric::Offered, rate(all));
    of.put(Metric::PacketsOffered, packets.iter().sum::<u64>());
    of.put(Metric::Conform, rate(bytes[0]));
    of.put(Metric::Exceed, rate(bytes[1]));
    of.put(Metric::Violate, rate(bytes[2]));
    of.put(Metric::PacketsConform, packets[0]);
    of.put(Metric::PacketsExceed, packets[1]);
    of.put(Metric::PacketsViolate, packets[2]);
    of.put(Metric::BytesConform, bytes[0]);
    of.put(Metric::BytesExceed, bytes[1]);
    of.put(Metric::BytesViolate, bytes[2]);
    let share = |bytes: u64| bytes as f64 / all as f64;
    of.put(Metric::ConformRatio, share(bytes[0]));
    of.put(Metric::ExceedRatio, share(bytes[1]));
    of.put(Metric::ViolateRatio, share(bytes[2]));
}
