//! Updates of a tree after it was built: flows, links, another rate.

use std::sync::Arc;

use spillgate_core::{FlowKey, Packet, Time};

use super::Tree;
use crate::condition::Step;

impl Tree {
    /// Sets the flows.
    pub(super) fn attach(&mut self, flows: &Arc<[FlowKey]>) {
        self.classifier.attach(flows);
        self.steps.iter_mut().for_each(|s| s.attach(flows));
        self.leaves.iter_mut().for_each(|l| l.attach(flows));
        self.expect_flows(flows.len());
    }

    /// Adds a flow, so that there are `n`.
    pub(super) fn add_flow(&mut self, key: FlowKey, n: usize) {
        self.classifier.add_flow(key);
        self.steps.iter_mut().for_each(|s| s.add_flow(key));
        self.leaves.iter_mut().for_each(|l| l.add_flow(&key));
        self.expect_flows(n);
    }

    fn expect_flows(&mut self, n: usize) {
        if self.looks_at_flow() {
            self.known = n as u32;
        }
    }

    /// Whether a condition looks at addresses, protocol or ports.
    pub(super) fn looks_at_flow(&self) -> bool {
        self.classifier.looks_at_flow() || self.steps.iter().any(Step::looks_at_flow)
    }

    /// Counts a packet of an unknown flow, unless it is labelled: conditions see only the labels of
    /// such a packet.
    #[cold]
    pub(super) fn note_unknown(&mut self, packet: &Packet) {
        self.unknown += u64::from(packet.labels.is_plain());
    }

    /// Sets the names of the links.
    pub(super) fn attach_links(&mut self, names: &Arc<[String]>) {
        self.classifier.attach_links(names);
        self.steps.iter_mut().for_each(|s| s.attach_links(names));
    }

    /// Takes shares, limits and parameters from the same tree at another rate.
    pub(crate) fn retune(&mut self, now: Time, fresh: Self) {
        for (class, f) in self.classes.iter_mut().zip(&fresh.classes) {
            class.per_byte = f.per_byte;
            if class.rank != f.rank {
                class.rank = f.rank;
                // Each rank has a virtual time of its own.
                class.slot = f.slot;
                class.start = self.nodes[usize::from(class.node)].v[usize::from(f.slot)];
            }
            class.turns.retune(f.turns);
        }
        for (shaper, f) in self.shapers.iter_mut().zip(&fresh.shapers) {
            shaper.retune(now, f);
        }
        for (step, f) in self.steps.iter_mut().zip(&fresh.steps) {
            step.retune(now, f);
        }
        for (leaf, f) in self.leaves.iter_mut().zip(fresh.leaves) {
            leaf.retune(f);
        }
        self.places = fresh.places;
    }
}
