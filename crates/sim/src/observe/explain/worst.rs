//! The first pass: which packets took longest, and what was dropped or marked.

use std::any::Any;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use spillgate_core::{DropReason, Dropped, Dur, Packet, Time};
use spillgate_measure::Window;
use spillgate_queueing::Evidence;
use spillgate_scenario::plan::WorldPlan;

use super::{DropGroup, DroppedPacket, Lost, MarkGroup, MarkedPacket, Question};
use crate::tap::{FlowInfo, Place, PortView, Seen, Tap};

/// A packet that the second pass follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Chosen {
    /// How long it took; of equal packets the one sent first ranks higher.
    rank: (Dur, Reverse<Time>, Reverse<u32>, Reverse<u32>),
    /// The number of its flow in the world, and its number in that flow.
    pub(super) stream: u32,
    pub(super) seq: u32,
    /// Sequence number of the segment that it carries, if any with data.
    pub(super) segment: Option<u64>,
    /// It acknowledges its flow's data.
    pub(super) answers: bool,
}

/// Link (none for a node), leaf and reason of drops.
type Kind = (Option<u32>, u16, DropReason);

/// Marks a flow in no group.
const NONE: u32 = u32::MAX;

/// Looks for the packets to explain.
pub(super) struct Finder {
    window: Window,
    question: Question,
    /// Group of each flow of the plan.
    group_of: Vec<u32>,
    flows: Vec<FlowInfo>,
    /// By group.
    worst: Vec<BTreeSet<Chosen>>,
    drops: Vec<BTreeMap<Kind, DropGroup>>,
    /// By group, then link and leaf.
    marks: Vec<BTreeMap<(u32, u16), MarkGroup>>,
}

/// What the first pass finds, by group: packets to follow, drops, marks.
type FirstPass = (Vec<Vec<Chosen>>, Vec<Vec<DropGroup>>, Vec<Vec<MarkGroup>>);

impl Finder {
    pub(super) fn new(plan: &WorldPlan, question: &Question) -> Self {
        let mut group_of = vec![NONE; plan.flows.len()];
        for (group, flows) in (0..).zip(&question.groups) {
            for flow in flows {
                group_of[*flow as usize] = group;
            }
        }
        let groups = question.groups.len();
        Self {
            window: Window::new(plan.warmup, plan.duration),
            question: question.clone(),
            group_of,
            flows: Vec::new(),
            worst: vec![BTreeSet::new(); groups],
            drops: vec![BTreeMap::new(); groups],
            marks: vec![BTreeMap::new(); groups],
        }
    }

    /// The packets to follow, slowest first.
    pub(super) fn into_parts(self) -> FirstPass {
        let longest_first = |w: BTreeSet<Chosen>| w.into_iter().rev().collect();
        let drops = self.drops.into_iter().map(|d| d.into_values().collect());
        let marks = self.marks.into_iter().map(|m| m.into_values().collect());
        (
            self.worst.into_iter().map(longest_first).collect(),
            drops.collect(),
            marks.collect(),
        )
    }

    /// The group of a packet, if it is measured and of the kind in question: data or
    /// acknowledgments.
    fn group(&self, packet: &Packet) -> Option<usize> {
        let info = self.flows.get(packet.flow as usize)?;
        let group = *self.group_of.get(info.of as usize)?;
        let asked = info.answers == self.question.answers;
        (group != NONE && asked && self.window.contains(packet.sent)).then_some(group as usize)
    }

    /// A packet to follow. ACKs carry no data, and so all have the same sequence number.
    fn chosen(&self, seen: Seen<'_>, took: Dur) -> Chosen {
        let p = seen.packet;
        let data = seen.segment.filter(|_| !self.question.answers);
        Chosen {
            rank: (took, Reverse(p.sent), Reverse(p.flow), Reverse(p.seq)),
            stream: p.flow,
            seq: p.seq,
            segment: data.map(|s| s.seq),
            answers: self.question.answers,
        }
    }

    fn consider(&mut self, seen: Seen<'_>, took: Dur) {
        let Some(group) = self.group(seen.packet) else {
            return;
        };
        let new = self.chosen(seen, took);
        let (worst, most) = (&mut self.worst[group], self.question.worst);
        if worst.len() >= most && worst.first().is_none_or(|least| new.rank <= least.rank) {
            return;
        }
        worst.insert(new);
        if worst.len() > most {
            worst.pop_first();
        }
    }
}

impl Tap for Finder {
    fn begin(&mut self, flows: &[FlowInfo]) {
        self.flows = flows.to_vec();
    }

    fn sent(&mut self, _: Time, seen: Seen<'_>, _: u32) {
        // Of packets with the same number the first comes first; sessions number their packets
        // anew.
        if self.question.number == Some(seen.packet.seq) {
            if let Some(info) = self.flows.get(seen.packet.flow as usize) {
                let group = self.group_of.get(info.of as usize).copied();
                let asked = info.answers == self.question.answers;
                let new = self.chosen(seen, Dur::ZERO);
                if let Some(worst) = self.worst.get_mut(group.unwrap_or(NONE) as usize) {
                    if asked && worst.len() < self.question.worst {
                        worst.insert(new);
                    }
                }
            }
        }
    }

    fn served(&mut self, port: &PortView<'_>, seen: Seen<'_>) {
        if self.question.at == Some(port.link) && self.question.number.is_none() {
            self.consider(seen, port.now.since(seen.packet.arrived));
        }
    }

    fn received(&mut self, now: Time, seen: Seen<'_>) {
        if self.question.at.is_none() && self.question.number.is_none() {
            self.consider(seen, now.since(seen.packet.sent));
        }
    }

    fn marked(&mut self, port: &PortView<'_>, why: &Evidence, seen: Seen<'_>) {
        let p = seen.packet;
        let Some(group) = self.group(p) else { return };
        if self.question.at.is_some_and(|at| at != port.link) {
            return;
        }
        let known = self.marks[group]
            .entry((port.link, p.leaf))
            .or_insert_with(|| MarkGroup {
                link: port.link,
                leaf: p.leaf,
                packets: 0,
                first: Vec::new(),
            });
        known.packets += 1;
        if known.first.len() < self.question.drops {
            known.first.push(MarkedPacket {
                flow: self.flows[p.flow as usize].of,
                seq: p.seq,
                answers: self.question.answers,
                sent: p.sent,
                at: port.now,
                why: *why,
            });
        }
    }

    fn lost(&mut self, now: Time, place: Place, dropped: &Dropped, _: Seen<'_>) {
        let p = &dropped.packet;
        let Some(group) = self.group(p) else { return };
        let link = match place {
            Place::Port(link, _)
            | Place::Input(link, ..)
            | Place::Kept(link, _)
            | Place::Wire(link) => Some(link),
            Place::Node => None,
        };
        if self.question.at.is_some() && self.question.at != link {
            return;
        }
        let leaf = if matches!(place, Place::Port(..)) {
            p.leaf
        } else {
            u16::MAX
        };
        let reason = dropped.reason;
        let known = self.drops[group]
            .entry((link, leaf, reason))
            .or_insert_with(|| DropGroup {
                link,
                leaf,
                reason,
                packets: 0,
                first: Vec::new(),
            });
        known.packets += 1;
        if known.first.len() < self.question.drops {
            known.first.push(DroppedPacket {
                flow: self.flows[p.flow as usize].of,
                seq: p.seq,
                answers: self.question.answers,
                sent: p.sent,
                lost: Lost {
                    at: now,
                    place,
                    reason,
                    leaf,
                    dscp: p.dscp,
                    len: p.len,
                },
            });
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
