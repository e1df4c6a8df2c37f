//! Cisco's flow-based weighted fair queueing.
//!
//! Source: Cisco IOS congestion management guide and `show queueing` output.
//!
//! Idea: packets are hashed by addresses, ports, protocol and type of service into conversations. A
//! packet's sequence number is the larger of the last number of its conversation and that of the
//! last packet sent, plus length times weight, with weight 32384 / (precedence + 1) in integers.
//! The smallest number leaves first: SCFQ with integer weights. What happens to a conversation that
//! holds as many packets as the congestive discard threshold is said by [`CdtPolicy`].
//!
//! HQF gives the flows of a fair queue equal weights (measured by I. Pepelnjak, "HQF: intra-class
//! WFQ ignores the IP precedence", 2009): [`FlowWeights::Equal`].
//!
//! Deviations: numbers have 64 bits and never wrap (2³⁸ packets of 1500 B). When a packet is
//! evicted its conversation's last number is reduced. The ECN bits are left out of the hash, so
//! that a mark moves no packet to another conversation. Cost: O(log n) per packet; an arrival at
//! the threshold scans the conversations.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::Packet;
use spillgate_core::rng::mix;

use super::heap::MinHeap;
use crate::evidence::{Cause, QueueLimit};
use crate::guarantee::Load;
use crate::recipe::At;
use crate::share::{Fairness, Meanwhile, Member, Others, PARTS, sum};
use spillgate_core::{Dscp, Problem};

spillgate_core::spec! {
    /// Cisco's flow-based WFQ.
    pub struct FairQueueSpec {
        /// Number of dynamic conversation queues, a power of two in 16..=4096. Default 256.
        #[schemars(range(min = 16, max = 4096))]
        pub queues: u16 = 256,
        /// Congestive discard threshold in packets, 1..=4096: `cdt_policy` says what happens to a
        /// conversation that holds as many. By default that is no limit: it may take the places of
        /// later packets of others, up to `hold_queue`. With `tail-drop` or `block-quarter` no
        /// conversation holds more. Default 64.
        #[schemars(range(min = 1, max = 4096))]
        pub threshold: u16 = 64,
        /// Packets that all conversations together may hold, and so the limit of each. Default
        /// 1000.
        #[schemars(range(min = 1))]
        pub hold_queue: u32 = 1000,
        /// The action at the threshold.
        pub cdt_policy: CdtPolicy = CdtPolicy::WorstSn,
        /// The field on which a flow's share depends.
        #[serde(skip_serializing_if = "FlowWeights::is_default")]
        pub weights: FlowWeights = FlowWeights::Precedence,
    }
}

/// The field on which the share of a flow depends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowWeights {
    /// Its IP precedence p: backlogged flows share in proportion to p + 1 (flow-based WFQ).
    #[default]
    Precedence,
    /// None: all flows get equal shares, as with the hierarchical queueing framework (HQF) of Cisco
    /// IOS.
    Equal,
}

impl FlowWeights {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The action of flow-based WFQ at the discard threshold of a conversation; sources disagree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CdtPolicy {
    /// Evict the packet with the largest sequence number of all conversations if that is larger
    /// than the arrival's, else drop the arrival. A conversation holds more than the threshold
    /// while others have packets that would leave later.
    #[default]
    WorstSn,
    /// Refuse the conversation until it holds less than a quarter of the threshold.
    BlockQuarter,
    /// Drop the arrival: the threshold is a limit, as the per-flow queue limit of the hierarchical
    /// queueing framework (HQF) of Cisco IOS.
    TailDrop,
}

impl FairQueueSpec {
    /// The largest number of packets of one conversation, if the threshold limits it.
    pub fn most_packets(&self) -> Option<u32> {
        match self.cdt_policy {
            CdtPolicy::WorstSn => None,
            CdtPolicy::BlockQuarter | CdtPolicy::TailDrop => Some(self.threshold.into()),
        }
    }
}

impl FairQueueSpec {
    pub(crate) fn resolve(&self, at: &mut At<'_>) -> Result<Conversations, Problem> {
        let n = self.queues;
        at.check(
            n.is_power_of_two() && (16..=4096).contains(&n),
            "queues",
            n,
            "the number of conversation queues must be a power of two from 16 to 4096",
            &format!("write {}", n.clamp(16, 4096).next_power_of_two()),
        )?;
        at.check(
            (1..=4096).contains(&self.threshold),
            "threshold",
            self.threshold,
            "the congestive discard threshold must be from 1 to 4096 packets",
            "the default is 64",
        )?;
        at.check(
            self.hold_queue >= 1,
            "hold_queue",
            self.hold_queue,
            "at least 1 packet must fit",
            "the default is 1000",
        )?;
        Ok(Conversations::new(self))
    }
}

/// 32384 / (precedence + 1), truncated as the router does.
const WEIGHTS: [u64; 8] = [32384, 16192, 10794, 8096, 6476, 5397, 4626, 4048];

#[inline]
fn weight(packet: &Packet) -> u64 {
    WEIGHTS[usize::from(packet.treated_as().precedence() & 7)]
}

#[derive(Clone, Debug, Default)]
struct Conversation {
    ring: VecDeque<Packet>,
    /// Sequence number of the packet queued last.
    last: u64,
    /// Under [`CdtPolicy::BlockQuarter`]: it has passed the threshold.
    blocked: bool,
}

/// The fate of an arrival.
pub(crate) enum Admission {
    /// It is queued.
    Accepted,
    /// It is queued; this packet was evicted for it.
    Evicted(Packet),
    /// It is not queued.
    Refused,
}

/// The conversations of one fair queue.
#[derive(Clone, Debug)]
pub(crate) struct Conversations {
    threshold: usize,
    hold_queue: u32,
    policy: CdtPolicy,
    weights: FlowWeights,
    /// One fewer than the number of conversations, a power of two.
    mask: u32,
    all: Vec<Conversation>,
    /// Sequence number of each conversation's first packet.
    heads: MinHeap,
    /// Sequence number of the packet sent last.
    system: u64,
    packets: u32,
}

impl Conversations {
    fn new(spec: &FairQueueSpec) -> Self {
        let n = usize::from(spec.queues);
        Self {
            threshold: usize::from(spec.threshold),
            hold_queue: spec.hold_queue,
            policy: spec.cdt_policy,
            weights: spec.weights,
            mask: u32::from(spec.queues) - 1,
            all: vec![Conversation::default(); n],
            heads: MinHeap::with_ids(n),
            system: 0,
            packets: 0,
        }
    }

    #[inline]
    fn conversation_of(&self, packet: &Packet) -> u32 {
        let key = u64::from(packet.dscp.value()) << 32 | u64::from(packet.hash);
        mix(key) as u32 & self.mask
    }

    #[inline]
    pub(crate) fn head(&self) -> Option<&Packet> {
        let (_, c) = self.heads.first()?;
        self.all[c as usize].ring.front()
    }

    #[inline]
    pub(crate) fn offer(&mut self, mut packet: Packet) -> Admission {
        if self.packets >= self.hold_queue {
            return Admission::Refused;
        }
        let id = self.conversation_of(&packet);
        let c = &self.all[id as usize];
        let weight = match self.weights {
            FlowWeights::Precedence => weight(&packet),
            FlowWeights::Equal => 1,
        };
        packet.tag = c.last.max(self.system) + u64::from(packet.len) * weight;
        let mut evicted = None;
        let held = c.ring.len();
        match self.policy {
            CdtPolicy::WorstSn if held >= self.threshold => {
                match self.evict_above(packet.tag, id) {
                    Some(victim) => evicted = Some(victim),
                    None => return Admission::Refused,
                }
            }
            CdtPolicy::TailDrop if held >= self.threshold => return Admission::Refused,
            CdtPolicy::BlockQuarter if held >= self.threshold => {
                self.all[id as usize].blocked = true;
                return Admission::Refused;
            }
            CdtPolicy::BlockQuarter if c.blocked => {
                if 4 * held >= self.threshold {
                    return Admission::Refused;
                }
                self.all[id as usize].blocked = false;
            }
            _ => {}
        }
        let c = &mut self.all[id as usize];
        c.last = packet.tag;
        if c.ring.is_empty() {
            self.heads.set(id, packet.tag);
        }
        c.ring.push_back(packet);
        self.packets += 1;
        evicted.map_or(Admission::Accepted, Admission::Evicted)
    }

    /// Takes out the packet with the largest sequence number of the other
    /// conversations, if that is above `sn`; of equals the lowest conversation's.
    fn evict_above(&mut self, sn: u64, arriving: u32) -> Option<Packet> {
        let mut worst = None;
        let mut worst_sn = sn;
        for (id, c) in (0_u32..).zip(&self.all) {
            if id != arriving && !c.ring.is_empty() && c.last > worst_sn {
                worst_sn = c.last;
                worst = Some(id);
            }
        }
        let id = worst?;
        let c = &mut self.all[id as usize];
        let victim = c.ring.pop_back();
        c.last = c.ring.back().map_or(0, |p| p.tag);
        if c.ring.is_empty() {
            self.heads.remove(id);
        }
        self.packets -= 1;
        victim
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Packet> {
        let (sn, id) = self.heads.first()?;
        let c = &mut self.all[id as usize];
        let packet = c.ring.pop_front();
        self.system = sn;
        match c.ring.front() {
            Some(next) => self.heads.set(id, next.tag),
            None => self.heads.remove(id),
        }
        self.packets -= 1;
        packet
    }

    /// Queued packets.
    #[inline]
    pub(crate) fn packets(&self) -> u32 {
        self.packets
    }

    /// Packets that all conversations together may hold.
    pub(crate) fn hold_queue(&self) -> u32 {
        self.hold_queue
    }

    /// Why a packet was refused: its conversation, unless the queue as a whole was full.
    pub(crate) fn evidence(&self, refused: &Packet) -> Cause {
        if self.packets >= self.hold_queue {
            return Cause::Plain;
        }
        let ring = &self.all[self.conversation_of(refused) as usize].ring;
        Cause::Flow {
            packets: ring.len() as u32,
            bytes: ring.iter().map(|p| u64::from(p.len)).sum(),
            limit: QueueLimit {
                packets: (self.policy != CdtPolicy::WorstSn).then_some(self.threshold as u32),
                bytes: None,
            },
        }
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        let held = self.threshold.min(self.hold_queue as usize);
        let ring = (held.next_power_of_two() * std::mem::size_of::<Packet>()) as u64;
        let fixed = (std::mem::size_of::<Conversation>() + 24) as u64;
        u64::from(self.mask + 1) * (ring + fixed)
    }
}

/// Self-clocked fair queueing: let V be the number of the packet that was sent last, or is being
/// sent, when a conversation waits. Its x bytes of the weight w have numbers up to V + x w. A
/// packet of another conversation that waits has V or more, so it began a packet earlier at most,
/// and what comes later begins at V (S. J. Golestani, INFOCOM 1994). If what is being sent is of
/// another conversation, that one's next packet begins at V.
impl Fairness for Conversations {
    fn weights(&self, dscp: Option<Dscp>) -> (u64, u64) {
        match (self.weights, dscp) {
            (FlowWeights::Equal, _) => (1, 1),
            (FlowWeights::Precedence, None) => (WEIGHTS[7], WEIGHTS[0]),
            (FlowWeights::Precedence, Some(dscp)) => {
                let weight = WEIGHTS[usize::from(dscp.precedence() & 7)];
                (weight, weight)
            }
        }
    }

    fn hashed(&self) -> Option<u32> {
        Some(self.mask + 1)
    }

    fn sorts_by_dscp(&self) -> bool {
        true
    }

    fn meanwhile(&self, own: &Member, others: &Others, _: &Load) -> Vec<Meanwhile> {
        let own = u128::from(own.weight.1) * PARTS;
        vec![Meanwhile::Evenly {
            ahead: sum(others, |m| m.longest.into()),
            parts: sum(others, |m| own.div_ceil(m.weight.0.into())),
        }]
    }

    /// A conversation exceeds the threshold only with numbers below the largest, which one within
    /// the threshold has got: V and a full threshold of the longest packets.
    fn holds(&self, own: &Member, others: &Others) -> (QueueLimit, QueueLimit) {
        let threshold = self.threshold as u32;
        let room = QueueLimit {
            packets: Some(self.hold_queue.min(threshold)),
            bytes: None,
        };
        let limit = match self.policy {
            CdtPolicy::TailDrop | CdtPolicy::BlockQuarter => room,
            CdtPolicy::WorstSn => {
                let step = |m: &Member| u128::from(m.longest) * u128::from(m.weight.1);
                let largest = others.iter().map(|(m, _)| step(m)).max();
                let largest = largest.unwrap_or(0).max(step(own)) * u128::from(threshold);
                QueueLimit {
                    packets: Some(self.hold_queue),
                    bytes: u64::try_from(largest / u128::from(own.weight.0)).ok(),
                }
            }
        };
        (limit, room)
    }
}
