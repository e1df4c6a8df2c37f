//! Numbers of flows, for drivers that learn of flows as packets arrive.

use std::collections::BTreeMap;
use std::sync::Arc;

use spillgate_core::{FlowKey, Packet};

use crate::Discipline;

/// The flows of a driver, numbered in the order of their first packets; [`Packet::flow`] is such a
/// number.
#[derive(Clone, Debug, Default)]
pub struct FlowNumbers {
    numbers: BTreeMap<FlowKey, u32>,
    keys: Vec<FlowKey>,
}

impl FlowNumbers {
    /// No flow yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of a flow. A new flow gets the next number and is announced to `discipline`.
    /// Cost: O(log n) in the flows, amortized.
    ///
    /// One table is for one discipline.
    pub fn announce(&mut self, key: FlowKey, discipline: &mut Discipline) -> u32 {
        if let Some(flow) = self.number(&key) {
            return flow;
        }
        let flow = self.keys.len() as u32;
        self.numbers.insert(key, flow);
        self.keys.push(key);
        match discipline.flows() == flow as usize {
            true => {
                discipline.add_flow(key);
            }
            // The discipline was built with other flows, which these replace.
            false => discipline.announce(&Arc::from(self.keys.as_slice())),
        }
        flow
    }

    /// The number of a flow; none for one that was not announced.
    pub fn number(&self, key: &FlowKey) -> Option<u32> {
        self.numbers.get(key).copied()
    }

    /// The flow with this number; none if it was not announced.
    pub fn key(&self, flow: u32) -> Option<&FlowKey> {
        self.keys.get(flow as usize)
    }

    /// Writes number and hash of a flow into a packet, announcing the flow if it is new.
    pub fn label(&mut self, packet: &mut Packet, key: FlowKey, discipline: &mut Discipline) {
        packet.flow = self.announce(key, discipline);
        packet.hash = key.hash();
    }
}
