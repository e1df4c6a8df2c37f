//! What happens to packets where they arrive at a node: tags, a note of the link that they came
//! over, and input policies, which police and mark.
//!
//! Cost: nothing in worlds without input policies and without classes that match the input
//! interface. Otherwise O(1) for each packet and node.

use std::sync::Arc;

use spillgate_core::rng::hash_bytes;
use spillgate_core::{Cos, DropReason, Dropped, Dscp, FlowKey, Labels, Marks, Packet, Rng, Time};
use spillgate_events::EventSet;
use spillgate_measure::{Volume, Window};
use spillgate_queueing::Conditioner;
use spillgate_scenario::plan::WorldPlan;

use crate::engine::World;
use crate::link::Link;
use crate::tokens::{self, Bucket};

/// The measurements of one class of an input policy in the measured period.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InputMeter {
    /// What arrived, counted as on the link.
    pub(crate) offered: Volume,
    /// What was admitted.
    pub(crate) carried: Volume,
    /// The part of `carried` that left with other markings than it came with.
    pub(crate) marked: Volume,
    /// Packets that were dropped.
    pub(crate) lost: u64,
}

impl InputMeter {
    /// Counts a packet of `len` bytes that arrived from `from` to `now`.
    fn count(&mut self, window: Window, from: Time, now: Time, len: u32, fate: Policed) {
        let part = window.part(len, from, now);
        self.offered += part;
        if fate != Policed::Refused {
            self.carried += part;
        }
        if fate == Policed::Marked {
            self.marked += part;
        }
        if fate == Policed::Refused && window.contains(now) {
            self.lost += 1;
        }
    }
}

/// What an input policy did to a packet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Policed {
    Refused,
    Passed,
    Marked,
}

/// The fields that an input policy may set.
fn markings(p: &Packet) -> (Dscp, Labels, Cos, Marks) {
    (p.dscp, p.labels, p.cos, p.marks())
}

/// The input policy at the receiving end of a link.
struct InputPolicy {
    conditioner: Conditioner,
    /// One for each class.
    meters: Vec<InputMeter>,
    /// Hash of its name, for the digest.
    name_hash: u64,
}

/// The receiving ends of all links.
pub(crate) struct Inputs {
    policies: Vec<Option<Box<InputPolicy>>>,
    /// Whether frames carry a tag.
    tagged: Vec<bool>,
}

impl Inputs {
    /// What polices at the end of a link, if anything does.
    pub(crate) fn conditioner(&self, link: usize) -> Option<&Conditioner> {
        Some(&self.policies[link].as_ref()?.conditioner)
    }

    /// None if no link has an input policy and no class matches on what is noted at arrival.
    pub(crate) fn new(
        plan: &WorldPlan,
        flows: &Arc<[FlowKey]>,
        seed: u64,
        run: u32,
    ) -> Option<Self> {
        if !plan.has_inputs() {
            return None;
        }
        let names = names(plan);
        let policies = plan.links.iter().map(|l| {
            let recipe = &l.input.as_ref()?.recipe;
            let path = format!("links/{}/input", l.name);
            let mut conditioner = recipe.build(flows, &names);
            conditioner.seed(&|class| Rng::named(seed, run, &path, &format!("police {class}")));
            Some(Box::new(InputPolicy {
                conditioner,
                meters: vec![InputMeter::default(); recipe.class_names().count()],
                name_hash: hash_bytes(path.as_bytes()),
            }))
        });
        Some(Self {
            policies: policies.collect(),
            tagged: plan.links.iter().map(|l| l.dot1q).collect(),
        })
    }

    /// The meters of the classes of the policy at the receiving end of a link; none without one.
    pub(crate) fn meters(&self, link: usize) -> &[InputMeter] {
        self.policies[link].as_ref().map_or(&[], |g| &g.meters)
    }
}

/// Names of the links, by number.
pub(crate) fn names(plan: &WorldPlan) -> Arc<[String]> {
    plan.links.iter().map(|l| l.name.clone()).collect()
}

impl<S: EventSet> World<S> {
    /// The input policies, in the order of the links.
    pub(crate) fn conditioners(&self) -> impl Iterator<Item = &Conditioner> {
        let policies = self.inputs.iter().flat_map(|i| &i.policies);
        policies.flatten().map(|g| &g.conditioner)
    }

    /// Tells the tap what the policy at the receiving end of a link made of a packet of a class.
    #[cold]
    fn tap_conditioned(
        &mut self,
        link: usize,
        before: Dscp,
        class: u16,
        admitted: bool,
        packet: &Packet,
    ) {
        let inputs = self.inputs.take();
        let policy = inputs.as_ref().and_then(|i| i.policies[link].as_ref());
        if let Some(policy) = policy {
            let found = policy.conditioner.colors(class, admitted);
            self.tell(Some(link as u32), packet, |tap, now, seen| {
                tap.conditioned(now, link as u32, before, &found, seen);
            });
        }
        self.inputs = inputs;
    }

    /// All token buckets.
    pub(crate) fn buckets(&self) -> Vec<Bucket> {
        let policies = self.inputs.iter().flat_map(|i| (0..).zip(&i.policies));
        let inputs = policies.filter_map(|(link, g)| Some((link, &g.as_ref()?.conditioner)));
        tokens::buckets(self.now, &self.links, inputs)
    }

    /// A packet arrives over `link`: applies the input policy, and returns whether the packet is
    /// admitted.
    #[cold]
    pub(crate) fn enter(&mut self, link: usize, packet: &mut Packet) -> bool {
        let (now, window) = (self.now, self.window);
        // Links that share a pipe lead to nothing that looks at what is noted here.
        let Some(inputs) = self.inputs.as_mut().filter(|_| link < self.links.len()) else {
            return true;
        };
        packet.cos = match (inputs.tagged[link], packet.cos) {
            (false, _) => Cos::NONE,
            (true, Cos::NONE) => Cos::of(0),
            (true, cos) => cos,
        };
        packet.set_marks(Marks::from_link(link as u32));
        let Some(policy) = &mut inputs.policies[link] else {
            return true;
        };
        let Link { overhead, rate, .. } = &self.links[link];
        packet.len = overhead.labelled_len(packet.l3_len, packet.labels.bytes());
        let from = Time::ZERO + now.since(Time::ZERO + rate.tx_time(packet.len));
        let before = markings(packet);
        let (class, admitted) = policy.conditioner.admit(now, packet);
        let fate = match admitted {
            false => Policed::Refused,
            true if markings(packet) == before => Policed::Passed,
            true => Policed::Marked,
        };
        policy.meters[usize::from(class)].count(window, from, now, packet.len, fate);
        if self.tap.is_some() {
            self.tap_conditioned(link, before.0, class, admitted, packet);
        }
        if admitted {
            return true;
        }
        let Some(policy) = self.inputs.as_mut().and_then(|i| i.policies[link].as_mut()) else {
            return true;
        };
        let name_hash = policy.name_hash;
        let evidence = policy.conditioner.evidence(now, packet);
        let lost = Dropped {
            packet: *packet,
            reason: DropReason::Policer,
        };
        self.left_link(link);
        if self.tap.is_some() {
            self.tap_refused(link as u32, class, evidence, &lost);
        }
        self.lose(now, name_hash, &lost);
        false
    }
}
