//! Labels in the running world.
//!
//! A node pushes, swaps and pops labels when it offers a packet to the port of the next link, so
//! that the port counts the bytes and sees the EXP bits that the link carries. Where paths are
//! compiled, each hop has its number of labels. Where links fail, a provider edge sends labelled
//! packets into a tunnel to an egress: the last provider node on the packet's path at that time. As
//! in a router, the egress stays the same when routes change while the packet is in the tunnel.
//!
//! Cost: nothing for links at no MPLS node; else O(1) for each packet and, where links fail, the
//! path for each pair of path and provider edge after each change of routes.

use std::collections::BTreeMap;

use spillgate_core::{Labels, Packet, Time};
use spillgate_events::EventSet;
use spillgate_measure::Volume;
use spillgate_scenario::mpls::{Change, MplsPlan, Role};
use spillgate_scenario::plan::{LinkPlan, WorldPlan};

use crate::engine::World;

/// Labels pushed, swapped, popped and lost since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LabelCounts {
    /// Labels that were pushed.
    pub pushed: u64,
    /// Top labels that were swapped for the label of the next node.
    pub swapped: u64,
    /// Labels that were popped.
    pub popped: u64,
    /// Labels on packets that were lost.
    pub lost: u64,
}

/// The labelled packets on one link in the measured period.
#[derive(Clone, Debug, Default)]
pub(crate) struct LabelMeter {
    /// The labels alone.
    pub(crate) labels: Volume,
    /// All bytes, labels and the link's overhead included, by the EXP bits of the top label.
    pub(crate) carried: [Volume; 8],
}

/// The state of a provider's MPLS network.
#[derive(Default)]
pub(crate) struct Mpls {
    /// Labels on each hop of the compiled paths.
    depths: Vec<u8>,
    /// By hop of the compiled paths: the egress and the VPN; only kept for taps.
    egresses: Vec<(u32, u16)>,
    /// The VPN of each path of the plan; only kept for taps.
    vpns: Vec<u16>,
    pub(crate) counts: LabelCounts,
    /// The meter of each link inside the network; none for other links.
    meters: Vec<Option<Box<LabelMeter>>>,
    /// Where links fail: tunnels, numbered after the paths of the plan.
    tunnels: Vec<Tunnel>,
    /// The first tunnel's number.
    first: u32,
    /// The number of a tunnel by path, ingress and egress.
    known: BTreeMap<(u32, u32, u32), u32>,
    /// The tunnel that a path takes from a node, until routes change.
    chosen: BTreeMap<(u32, u32), Option<u32>>,
}

/// A tunnel from one provider node to another, for the packets of a path.
#[derive(Clone, Copy)]
pub(crate) struct Tunnel {
    /// The path of the packets in it.
    pub(crate) path: u32,
    egress: u32,
    vpn: bool,
}

/// Whether labels may change at the port of each link: at provider nodes, and one hop behind them.
pub(crate) fn at_ports(plan: &WorldPlan) -> Vec<bool> {
    let Some(mpls) = &plan.mpls else {
        return vec![false; plan.links.len()];
    };
    let mut behind = vec![false; plan.nodes.len()];
    for l in &plan.links {
        behind[l.to as usize] |= mpls.is_provider(l.from);
    }
    let at = |from: u32| mpls.is_provider(from) || behind[from as usize];
    plan.links.iter().map(|l| at(l.from)).collect()
}

impl Mpls {
    /// The meter of a link, if it is inside the network.
    pub(crate) fn meter(&self, link: usize) -> Option<&LabelMeter> {
        self.meters[link].as_deref()
    }

    /// None without MPLS; `watched`: by a tap.
    pub(crate) fn new(plan: &WorldPlan, watched: bool) -> Option<Self> {
        let mpls = plan.mpls.as_ref()?;
        let ends = |l: u32| (plan.links[l as usize].from, plan.links[l as usize].to);
        let mut depths = Vec::new();
        if plan.failures.is_empty() {
            for route in &plan.routes {
                depths.extend(mpls.depths(route, ends));
                depths.push(0); // the end of the path
            }
        }
        let (mut egresses, mut vpns) = (Vec::new(), Vec::new());
        for route in plan.routes.iter().filter(|_| watched) {
            let (first, vpn) = (egresses.len(), mpls.vpn_of_path(route, ends));
            egresses.resize(first + route.len() + 1, (u32::MAX, vpn));
            for t in mpls.tunnels(route, ends) {
                egresses[first + t.first..first + t.end].fill((t.egress, vpn));
            }
            vpns.push(vpn);
        }
        let inside = |l: &LinkPlan| mpls.is_inside(l.from, l.to).then(Box::default);
        Some(Self {
            depths,
            egresses,
            vpns,
            meters: plan.links.iter().map(inside).collect(),
            first: plan.routes.len() as u32,
            ..Self::default()
        })
    }

    /// The tunnel of this number, if it is not a path.
    pub(crate) fn tunnel(&self, number: u32) -> Option<Tunnel> {
        let i = number.checked_sub(self.first)?;
        self.tunnels.get(i as usize).copied()
    }

    /// The tunnel that packets of `path` take from `node`, if it is known.
    pub(crate) fn chosen(&self, path: u32, node: u32) -> Option<Option<u32>> {
        self.chosen.get(&(path, node)).copied()
    }

    /// Sets the tunnel of packets of `path` from `node` to `egress`, or no tunnel. Returns the
    /// number of the tunnel, and whether it is new.
    pub(crate) fn choose(
        &mut self,
        plan: &MplsPlan,
        path: u32,
        node: u32,
        egress: Option<u32>,
    ) -> (Option<u32>, bool) {
        let mut is_new = false;
        let number = egress.map(|egress| {
            *self.known.entry((path, node, egress)).or_insert_with(|| {
                is_new = true;
                self.tunnels.push(Tunnel {
                    path,
                    egress,
                    vpn: plan.is_vpn(node, egress),
                });
                self.first + self.tunnels.len() as u32 - 1
            })
        });
        self.chosen.insert((path, node), number);
        (number, is_new)
    }

    /// Routes have changed.
    pub(crate) fn reroute(&mut self) {
        self.chosen.clear();
    }

    fn count(&mut self, change: Change) {
        match change {
            Change::None => {}
            Change::Pushed(n) => self.counts.pushed += u64::from(n),
            Change::Popped(n) => self.counts.popped += u64::from(n),
            Change::Swapped => self.counts.swapped += 1,
        }
    }
}

impl<S: EventSet> World<S> {
    /// Labels pushed, swapped, popped and lost so far.
    pub fn labels(&self) -> LabelCounts {
        self.mpls
            .as_ref()
            .map_or_else(LabelCounts::default, |m| m.counts)
    }

    /// The values of a packet's labels at a link's port, the top one first, for a tap.
    pub(crate) fn label_values(&self, link: usize, packet: &Packet) -> [u32; 2] {
        let (Some(mpls), Some(plan)) = (&self.mpls, &self.plan.mpls) else {
            return [0; 2];
        };
        let number = (packet.handle >> 32) as u32;
        let egress_and_vpn = match mpls.tunnel(number).filter(|_| self.failures.is_some()) {
            Some(t) => Some((
                t.egress,
                mpls.vpns.get(t.path as usize).copied().unwrap_or(0),
            )),
            // The hop that the packet takes is the one before the next.
            None => mpls
                .egresses
                .get((number as usize).wrapping_sub(1))
                .copied(),
        };
        let Some((egress, vpn)) = egress_and_vpn else {
            return [0; 2];
        };
        let to = self.plan.links[link].to;
        plan.label_values(packet.labels, to, egress, vpn)
    }

    /// A link sends a packet from `start` to `end`; a failure takes back what was too much.
    #[cold]
    pub(crate) fn meter_labels(&mut self, link: usize, packet: &Packet, start: Time, end: Time) {
        let window = self.window;
        if let Some((meter, exp)) = self.label_meter(link, packet) {
            let part = |bytes| window.part(bytes, start, end);
            meter.labels += part(packet.labels.bytes().into());
            meter.carried[exp] += part(packet.len);
        }
    }

    /// The transmission of a packet from `start` to `end` was cut off at `cut`.
    #[cold]
    pub(crate) fn cut_labels(
        &mut self,
        link: usize,
        packet: &Packet,
        (start, end, cut): (Time, Time, Time),
    ) {
        let window = self.window;
        if let Some((meter, exp)) = self.label_meter(link, packet) {
            let labels = packet.labels.bytes().into();
            for (sum, bytes) in [
                (&mut meter.labels, labels),
                (&mut meter.carried[exp], packet.len),
            ] {
                *sum -= window.part(bytes, start, end);
                *sum += window.part_until(bytes, start, end, cut);
            }
        }
    }

    /// The meter in which a labelled packet counts on a link inside the network, and its EXP bits.
    fn label_meter(&mut self, link: usize, packet: &Packet) -> Option<(&mut LabelMeter, usize)> {
        let meter = self.mpls.as_mut()?.meters[link].as_deref_mut()?;
        let exp = packet.labels.stack()[0]?;
        Some((meter, usize::from(exp & 7)))
    }

    /// Sets the labels of a packet to those that the port of `link` sends.
    #[cold]
    pub(crate) fn relabel(&mut self, link: usize, packet: &mut Packet) {
        let (Some(mpls), Some(plan)) = (&mut self.mpls, &self.plan.mpls) else {
            return;
        };
        let number = (packet.handle >> 32) as u32;
        let depth = if self.failures.is_some() {
            let to = self.plan.links[link].to;
            mpls.tunnel(number)
                .map_or(0, |t| plan.depth(to, t.egress, t.vpn))
        } else {
            // The hop that the packet takes is the one before the next.
            mpls.depths[number as usize - 1]
        };
        // Forgets the labels that the previous node popped.
        packet.labels.forget();
        let change = plan.relabel(&mut packet.labels, &mut packet.dscp, depth);
        mpls.count(change);
        if change == Change::None && plan.role(self.plan.links[link].from) != Role::Outside {
            // This node pushes no labels.
            packet.labels = Labels::NONE;
        }
    }

    /// A packet leaves its tunnel and enters another one at once: pops its labels, with the effect
    /// on its DSCP.
    pub(crate) fn leave_tunnel(&mut self, packet: &mut Packet) {
        if let (Some(mpls), Some(plan)) = (&mut self.mpls, &self.plan.mpls) {
            let change = plan.relabel(&mut packet.labels, &mut packet.dscp, 0);
            mpls.count(change);
            packet.labels = Labels::NONE;
        }
    }
}
