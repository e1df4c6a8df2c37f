//! Labels in the running world.
//!
//! A node pushes, swaps and pops labels when it passes a packet to the port of the next link, so
//! that the port counts the bytes and sees the EXP bits that the link carries. Where paths are
//! compiled, each hop has its number of labels. Where links fail, a provider edge sends labelled
//! packets into a tunnel to an egress: the last provider node on the packet's path at that time. As
//! in a router, the egress stays the same when routes change while the packet is in the tunnel.
//!
//! Cost: nothing for links at no MPLS node; else O(1) for each packet and, where links fail, the
//! path for each pair of path and provider edge after each change of routes.

use std::collections::BTreeMap;

use spillgate_core::{DropReason, Labels, Packet, Time};
use spillgate_measure::table::{Metric, Scope};
use spillgate_measure::{Measures, Volume, Window};

use super::{MplsPlan, Role};
use crate::Names;
use crate::stage::{Arrival, Leaving, Network, Refused, Routes, Sending, Stage, set_way, way};

/// The labelled packets on one link in the measured period.
#[derive(Clone, Debug, Default)]
struct LabelMeter {
    /// The labels alone.
    labels: Volume,
    /// All bytes, labels and the link's overhead included, by the EXP bits of the top label.
    carried: [Volume; 8],
}

/// A way from one provider node to another, for the packets of a path.
#[derive(Clone, Copy)]
struct Through {
    /// The path of the packets in it.
    path: u32,
    egress: u32,
    vpn: bool,
}

/// A provider's MPLS network.
pub(super) struct Mpls {
    plan: MplsPlan,
    window: Window,
    /// By link: its first and its last node.
    ends: Vec<(u32, u32)>,
    /// By place of a hop on compiled paths: its labels. Empty where links fail.
    depths: Vec<u8>,
    /// By place of a hop: the egress and the VPN; only kept for taps.
    egresses: Vec<(u32, u16)>,
    /// The VPN of each path of the plan; only kept for taps.
    vpns: Vec<u16>,
    /// By link: its meter, if it is inside the network.
    meters: Vec<Option<Box<LabelMeter>>>,
    /// Nodes look up ways.
    looked_up: bool,
    /// The number of the first way that is no path.
    first: u32,
    /// The tunnels, by way from there.
    tunnels: Vec<Option<Through>>,
    /// The way through a tunnel by path, ingress and egress.
    known: BTreeMap<(u32, u32, u32), u32>,
    /// The tunnel that a path takes from a node, until routes change.
    chosen: BTreeMap<(u32, u32), Option<u32>>,
    /// How often they had changed then.
    changes: u32,
}

impl Mpls {
    pub(super) fn new(plan: &MplsPlan, window: Window, network: &Network<'_>) -> Self {
        let ends = |l: u32| network.ends[l as usize];
        let (mut depths, mut egresses, mut vpns) = (Vec::new(), Vec::new(), Vec::new());
        for route in network.routes.iter().filter(|_| !network.looked_up) {
            depths.extend(plan.depths(route, ends));
            depths.push(0); // the end of the path
        }
        for route in network.routes.iter().filter(|_| network.watched) {
            let (first, vpn) = (egresses.len(), plan.vpn_of_path(route, ends));
            vpns.push(vpn);
            if !network.looked_up {
                egresses.resize(first + route.len() + 1, (u32::MAX, vpn));
                for t in plan.tunnels(route, ends) {
                    egresses[first + t.first..first + t.end].fill((t.egress, vpn));
                }
            }
        }
        let meter = |(from, to): &(u32, u32)| plan.is_inside(*from, *to).then(Box::default);
        Self {
            meters: network.ends.iter().map(meter).collect(),
            plan: plan.clone(),
            window,
            ends: network.ends.to_vec(),
            depths,
            egresses,
            vpns,
            looked_up: network.looked_up,
            first: network.routes.len() as u32,
            tunnels: Vec::new(),
            known: BTreeMap::new(),
            chosen: BTreeMap::new(),
            changes: 0,
        }
    }

    /// The tunnel that a packet is in, where ways are looked up.
    fn tunnel(&self, packet: &Packet) -> Option<Through> {
        let number = way(packet).checked_sub(self.first)?;
        *self.tunnels.get(number as usize)?
    }

    /// The way through a tunnel that packets of `path` take from `node` at present.
    fn choose(&mut self, routes: &mut dyn Routes, path: u32, node: u32) -> Option<u32> {
        if self.changes != routes.changes() {
            self.changes = routes.changes();
            self.chosen.clear();
        }
        if let Some(chosen) = self.chosen.get(&(path, node)) {
            return *chosen;
        }
        let dest = routes.ends(path).1;
        let chosen = self.last_provider(routes, node, dest);
        let chosen = chosen.map(|egress| {
            *self.known.entry((path, node, egress)).or_insert_with(|| {
                let way = routes.open(node, egress);
                let vpn = self.plan.is_vpn(node, egress);
                let number = (way - self.first) as usize;
                self.tunnels.resize(number, None);
                self.tunnels.push(Some(Through { path, egress, vpn }));
                way
            })
        });
        self.chosen.insert((path, node), chosen);
        chosen
    }

    /// The last provider node on the path from one provider node to `dest` that does not leave the
    /// provider's network; none if that is the first node, or if there is no path.
    fn last_provider(&self, routes: &mut dyn Routes, from: u32, dest: u32) -> Option<u32> {
        let mut last = from;
        while last != dest {
            let next = self.ends[routes.next_hop(last, dest)? as usize].1;
            if !self.plan.is_provider(next) {
                break;
            }
            last = next;
        }
        (last != from).then_some(last)
    }

    /// The meter in which a labelled packet counts on a link inside the network, and its EXP bits.
    fn meter(&mut self, link: u32, packet: &Packet) -> Option<(&mut LabelMeter, usize)> {
        let exp = packet.labels.stack()[0]?;
        let meter = self.meters[link as usize].as_deref_mut()?;
        Some((meter, usize::from(exp & 7)))
    }
}

impl Stage for Mpls {
    /// Where ways are looked up: a packet may leave a tunnel here, and enter one.
    fn arrive(&mut self, _: Time, at: &mut Arrival<'_>, packet: &mut Packet) -> Option<Refused> {
        let routes = at.routes.as_deref_mut()?;
        let tunnel = self.tunnel(packet);
        if tunnel.is_none_or(|t| t.egress == at.node) {
            let path = tunnel.map_or_else(|| way(packet), |t| t.path);
            set_way(packet, path);
            let goes_on = routes.ends(path).1 != at.node && self.plan.is_provider(at.node);
            if let Some(chosen) = goes_on
                .then(|| self.choose(routes, path, at.node))
                .flatten()
            {
                set_way(packet, chosen);
                if tunnel.is_some() {
                    // It leaves a tunnel and enters another one at once.
                    let plan = &self.plan;
                    plan.relabel(&mut packet.labels, &mut packet.dscp, 0);
                    packet.labels = Labels::NONE;
                }
            }
        }
        // A tunnel does not leave the provider's network.
        let tunnel = self.tunnel(packet);
        let next = tunnel.and_then(|t| routes.next_hop(at.node, t.egress));
        let leaves = next.is_some_and(|l| !self.plan.is_provider(self.ends[l as usize].1));
        leaves.then_some(Refused {
            reason: DropReason::Unroutable,
            by: None,
        })
    }

    fn leave(&mut self, Leaving { link, .. }: Leaving, packet: &mut Packet) {
        let (from, to) = self.ends[link as usize];
        let depth = match self.looked_up {
            true => self
                .tunnel(packet)
                .map_or(0, |t| self.plan.depth(to, t.egress, t.vpn)),
            // The hop that the packet takes is the one before the next.
            false => self.depths[way(packet) as usize - 1],
        };
        // Forgets the labels that the previous node popped.
        packet.labels.forget();
        let has_none = packet.labels.depth() == 0 && depth == 0;
        let plan = &self.plan;
        plan.relabel(&mut packet.labels, &mut packet.dscp, depth);
        if has_none && plan.role(from) != Role::Outside {
            // This node pushes no labels.
            packet.labels = Labels::NONE;
        }
    }

    fn sends(&mut self, link: u32, packet: &Packet, sent: Sending) {
        let (window, labels) = (self.window, packet.labels.bytes().into());
        let Sending { start, end, cut } = sent;
        let Some((meter, exp)) = self.meter(link, packet) else {
            return;
        };
        for (sum, bytes) in [
            (&mut meter.labels, labels),
            (&mut meter.carried[exp], packet.len),
        ] {
            match cut {
                None => *sum += window.part(bytes, start, end),
                Some(cut) => {
                    *sum -= window.part(bytes, start, end);
                    *sum += window.part_until(bytes, start, end, cut);
                }
            }
        }
    }

    fn measure(&self, names: &dyn Names, out: &mut Measures) {
        let period = self.window.len();
        for (link, meter) in (0..).zip(&self.meters) {
            let Some(meter) = meter else { continue };
            let mut of = out.of(Scope::Link, || names.link(link));
            of.put(Metric::CarriedLabels, meter.labels.rate(period));
            for (exp, carried) in meter.carried.iter().enumerate() {
                let mut of = out.of(Scope::Exp, || format!("{}/{exp}", names.link(link)));
                of.put(Metric::Carried, carried.rate(period));
            }
        }
    }

    fn labels(&self, link: u32, packet: &Packet) -> [u32; 2] {
        let found = match self.tunnel(packet).filter(|_| self.looked_up) {
            Some(t) => Some((
                t.egress,
                self.vpns.get(t.path as usize).copied().unwrap_or(0),
            )),
            // The hop that the packet takes is the one before the next.
            None => self
                .egresses
                .get((way(packet) as usize).wrapping_sub(1))
                .copied(),
        };
        let to = self.ends[link as usize].1;
        found.map_or([0; 2], |(egress, vpn)| {
            self.plan.label_values(packet.labels, to, egress, vpn)
        })
    }
}
