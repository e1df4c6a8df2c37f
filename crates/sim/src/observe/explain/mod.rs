//! Where the delay of single packets went, and why packets were dropped.
//!
//! The run is repeated twice with a tap. The first pass finds the packets to explain and keeps the
//! evidence of drops and marks; the second follows these packets from port to port. The memory of
//! both passes does not grow with the length of the run.
//!
//! While a packet waits at a port, the server either sends another packet or stands idle. So the
//! wait ([`Hop`]) is the sum of the residual time of the packet that was in transmission when it
//! arrived, the transmission times of the packets sent while it waited, and the time for which
//! nothing could be sent because shapers lacked tokens. The parts add up to the picosecond.

mod trail;
mod worst;

use std::sync::Arc;

use spillgate_core::{DropReason, Dscp, Dur, Ecn, Time};
use spillgate_endpoints::tcp::Segment;
use spillgate_events::WinnerTree;
use spillgate_queueing::{Color, Evidence, QueueLimit};
use spillgate_scenario::plan::WorldPlan;

use crate::engine::{Stop, World};
use crate::tap::{Place, Tap};

use trail::Trails;
use worst::Finder;

/// What to explain.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Groups of flows of the plan; a flow may be in one group only.
    pub groups: Vec<Vec<u32>>,
    /// How many packets of each group to explain: those that took longest.
    pub worst: usize,
    /// How many drops of each group, queue and reason to explain, and how many marks: the first of
    /// the measured period.
    pub drops: usize,
    /// Explain the acknowledgments of the groups' connections instead of their data.
    pub answers: bool,
    /// Rank packets by their wait at the port of this link instead of their delay, and leave out
    /// what other links dropped.
    pub at: Option<u32>,
    /// Explain the packets with this number in the groups' flows instead of those that took
    /// longest.
    pub number: Option<u32>,
}

/// Answers to a [`Question`].
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// By group, those that took longest first.
    pub packets: Vec<Vec<Journey>>,
    /// Drops by group, then by place and reason.
    pub drops: Vec<Vec<DropGroup>>,
    /// Packets that were marked with congestion experienced by group, then by place.
    pub marks: Vec<Vec<MarkGroup>>,
    /// Fingerprint of the run.
    pub digest: String,
}

/// The path of a packet through the network.
#[derive(Clone, Debug)]
pub struct Journey {
    /// The flow of the plan.
    pub flow: u32,
    /// The number of its flow in the world; sessions have flows of their own.
    pub stream: u32,
    /// Its number within the flow, from 0.
    pub seq: u32,
    /// It acknowledges the flow's data.
    pub answers: bool,
    /// When its source sent it.
    pub sent: Time,
    /// Length of the IP packet in bytes.
    pub l3_len: u16,
    /// DSCP at the source.
    pub dscp: Dscp,
    /// The ports that it passed or waits at.
    pub hops: Vec<Hop>,
    /// What became of it.
    pub fate: Fate,
    /// The segment that it carried, if it was one.
    pub segment: Option<Segment>,
    /// All transmissions of that segment's first byte, in order, this one included; at most
    /// [`MAX_TRANSMISSIONS`].
    pub transmissions: Vec<Transmission>,
}

/// The largest number of transmissions of a segment that are kept.
pub const MAX_TRANSMISSIONS: usize = 32;

/// A segment was sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transmission {
    /// When.
    pub sent: Time,
    /// Number of the packet in its flow.
    pub seq: u32,
    /// A retransmission timer had expired since the transmission before.
    pub after_timeout: bool,
    /// When it was lost, where (a link; none at a node), and why.
    pub lost: Option<(Time, Option<u32>, DropReason)>,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fate {
    /// It arrived then.
    Received(Time),
    /// It was lost.
    Lost(Lost),
    /// It was still in the network at the end of the run.
    Underway,
}

/// How a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lost {
    /// When.
    pub at: Time,
    /// Where.
    pub place: Place,
    /// Why.
    pub reason: DropReason,
    /// The leaf that it was classified into, for a port.
    pub leaf: u16,
    /// DSCP when it was lost.
    pub dscp: Dscp,
    /// Its length in bytes as the port counts it.
    pub len: u32,
}

/// A packet at a port and on the link behind it.
#[derive(Clone, Debug)]
pub struct Hop {
    /// The link.
    pub link: u32,
    /// The leaf of its class.
    pub leaf: u16,
    /// When it began to cross the fabric of the switch that it came through, if it waited there.
    pub crossed_since: Option<Time>,
    /// When it arrived at the port.
    pub arrived: Time,
    /// When its transmission began; [`Time::MAX`] if it never did.
    pub start: Time,
    /// When its transmission ended.
    pub end: Time,
    /// Its length in bytes on this link.
    pub len: u32,
    /// Its MPLS labels when it arrived, the top one first: value and EXP bits.
    pub labels: [Option<(u32, u8)>; 2],
    /// DSCP on arrival and when it left: a policer or class may change it.
    pub dscp: (Dscp, Dscp),
    /// The meters of its policy that the packet went through, by their classes, and what they
    /// found.
    pub metered: Vec<(String, Color)>,
    /// What the policy at the receiving end of the link made of it.
    pub conditioned: Option<Conditioned>,
    /// ECN on arrival and when it left: AQM may mark it.
    pub ecn: (Ecn, Ecn),
    /// Why it was marked here, if it was.
    pub mark: Option<Evidence>,
    /// The backlog of its leaf when it arrived: packets and bytes.
    pub found: (u32, u64),
    /// The limit of that queue.
    pub limit: QueueLimit,
    /// The packet that was in transmission when it arrived.
    pub residual: Option<Residual>,
    /// The packets that were sent while it waited.
    pub served: Vec<Served>,
    /// How long the server stood idle because shapers lacked tokens.
    pub idle: Dur,
    /// When the scheduler gave it to the transmit ring; none if the server took it from the
    /// scheduler.
    pub ringed: Option<Time>,
    /// The lines behind the link over which a node carried it in parts, if there are any.
    pub beyond: Option<InParts>,
}

/// What a policy where packets arrive made of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conditioned {
    /// DSCP before and after.
    pub dscp: (Dscp, Dscp),
    /// The meters that it went through, by their classes, and what they found.
    pub metered: Vec<(String, Color)>,
}

/// A packet on its way over the lines of a node, in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InParts {
    /// The links that are these lines.
    pub lines: Vec<u32>,
    /// The bytes of a part on a line.
    pub part: u32,
    /// When its last part left over the last line; [`Time::MAX`] if it never did.
    pub left: Time,
}

/// A packet in transmission when another arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residual {
    /// Its leaf.
    pub leaf: u16,
    /// The class of service of its flow.
    pub class: u16,
    /// Its whole length in bytes.
    pub bytes: u32,
    /// Its residual transmission time.
    pub time: Dur,
}

/// Packets of one kind that were sent while another waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// Their leaf.
    pub leaf: u16,
    /// The class of service of their flows.
    pub class: u16,
    /// Why they were sent first.
    pub relation: Relation,
    /// Their transmission began while the class of the waiting packet lacked tokens of its shaper:
    /// that packet would have waited without them, too.
    pub held: bool,
    /// How many.
    pub packets: u32,
    /// Their bytes on this link.
    pub bytes: u64,
    /// How long they took.
    pub time: Dur,
}

/// Why a packet was sent before one that waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relation {
    /// It was in the transmit ring already, behind which no class counts.
    Ring,
    /// It was in the same queue before it.
    Ahead,
    /// It arrived later at the same queue, which does not serve in the order of arrival (a fair
    /// queue).
    Overtook,
    /// Its class has priority.
    Priority,
    /// The scheduler chose its class.
    Turn,
}

/// Drops of one place and reason.
#[derive(Clone, Debug)]
pub struct DropGroup {
    /// The link; none where a node knew no path.
    pub link: Option<u32>,
    /// The leaf.
    pub leaf: u16,
    /// Why.
    pub reason: DropReason,
    /// How many packets of the measured period.
    pub packets: u64,
    /// The first ones.
    pub first: Vec<DroppedPacket>,
}

/// A packet that was dropped.
#[derive(Clone, Copy, Debug)]
pub struct DroppedPacket {
    /// The flow of the plan.
    pub flow: u32,
    /// Its number within its flow.
    pub seq: u32,
    /// It acknowledges the flow's data.
    pub answers: bool,
    /// When its source sent it.
    pub sent: Time,
    /// How it was lost.
    pub lost: Lost,
}

/// Packets that one queue marked with congestion experienced.
#[derive(Clone, Debug)]
pub struct MarkGroup {
    /// The link.
    pub link: u32,
    /// The leaf.
    pub leaf: u16,
    /// How many packets of the measured period.
    pub packets: u64,
    /// The first ones.
    pub first: Vec<MarkedPacket>,
}

/// A packet that was marked with congestion experienced.
#[derive(Clone, Copy, Debug)]
pub struct MarkedPacket {
    /// The flow of the plan.
    pub flow: u32,
    /// Its number within its flow.
    pub seq: u32,
    /// It acknowledges the flow's data.
    pub answers: bool,
    /// When its source sent it.
    pub sent: Time,
    /// When it was marked.
    pub at: Time,
    /// Why, without the packet in the queue.
    pub why: Evidence,
}

impl Hop {
    /// How long it was in the transmit ring before its transmission, a part of its wait.
    pub fn in_ring(&self) -> Dur {
        self.ringed.map_or(Dur::ZERO, |at| self.start.since(at))
    }

    /// How long it waited, in the queue and in the transmit ring.
    pub fn waited(&self) -> Dur {
        self.start.since(self.arrived)
    }

    /// The sum of the parts of its wait.
    pub fn explained(&self) -> Dur {
        let residual = self.residual.map_or(Dur::ZERO, |r| r.time);
        self.served
            .iter()
            .fold(residual + self.idle, |sum, s| sum + s.time)
    }
}

/// Repeats one run of `plan` and answers the question; none if `cancelled` says so meanwhile.
pub fn explain(
    plan: &Arc<WorldPlan>,
    seed: u64,
    run: u32,
    question: &Question,
    cancelled: &dyn Fn() -> bool,
) -> Option<Answer> {
    let (finder, digest) = tapped(plan, seed, run, Finder::new(plan, question), cancelled)?;
    let (chosen, drops, marks) = finder.into_parts();
    let (trails, _) = tapped(plan, seed, run, Trails::new(plan, chosen), cancelled)?;
    Some(Answer {
        packets: trails.into_journeys(),
        drops,
        marks,
        digest,
    })
}

/// Runs a world with a tap; returns the tap and the fingerprint.
fn tapped<T: Tap>(
    plan: &Arc<WorldPlan>,
    seed: u64,
    run: u32,
    tap: T,
    cancelled: &dyn Fn() -> bool,
) -> Option<(T, String)> {
    const BUDGET: u64 = 1 << 16;
    let mut world = World::<WinnerTree>::tapped(plan, seed, run, false, Box::new(tap));
    while world.run(BUDGET) != Stop::Done {
        if cancelled() {
            return None;
        }
    }
    let digest = world.digest();
    let tap = world.into_tap()?.into_any().downcast::<T>().ok()?;
    Some((*tap, digest))
}
