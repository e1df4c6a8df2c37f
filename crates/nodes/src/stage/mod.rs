//! Stages: what a packet passes at a node at once, where it arrives over a link and where it goes
//! to the port of the next.
//!
//! A stage is a file or a folder, and a line in [`registry`]: how it is written ([`StageSpec`]),
//! where it acts and what it is made of once that is checked ([`StageRecipe`]), what it does and
//! measures ([`Stage`]) stand beside each other. A packet passes the stages of a place in the order
//! of the registry. Any node may have them, whether it holds packets or not.

pub mod ecn;
pub mod input;
pub mod mpls;
pub mod registry;

use std::fmt::{self, Debug};

use spillgate_core::{DropReason, Dscp, Packet, Time};
use spillgate_measure::Measures;
use spillgate_queueing::{BucketLevel, Color, Evidence, State};

use crate::{Around, Names, Reader, Start};
pub use registry::{StagePlan, Stages};

/// A stage, as written under `topology`.
pub trait StageSpec {
    /// The stage; none after an error, which is told to the reader.
    fn resolve(&self, around: &Around<'_>, reader: &mut dyn Reader) -> Option<StagePlan>;
}

/// A validated stage.
pub trait StageRecipe: Debug + Send + Sync {
    /// The stage at its start.
    fn build(&self, start: &Start<'_>, network: &Network<'_>) -> Box<dyn Stage>;

    /// Names its random streams, and its losses in the fingerprint.
    fn path(&self) -> String;

    /// Where it acts.
    fn declares(&self, network: &Network<'_>) -> Acts;

    /// The code points that it may give to packets.
    fn marks(&self) -> Vec<Dscp>;

    /// Writes all that decides what it does, and nothing else.
    ///
    /// # Errors
    /// Those of `out`.
    fn write_identity(&self, out: &mut dyn fmt::Write) -> fmt::Result;
}

/// Where a stage acts. The express lane closes where packets arrive, and nowhere else: what a stage
/// does to a packet at a port depends on the packet alone, not on the time.
#[derive(Clone, Debug, Default)]
pub struct Acts {
    /// The links over which packets arrive for it.
    pub arrivals: Vec<u32>,
    /// The links to whose ports packets go through it.
    pub ports: Vec<u32>,
    /// It looks at what nodes note of an arrival: the link, and the tag of the frame.
    pub notes: bool,
    /// It chooses ways where nodes look them up, also for packets that begin there.
    pub ways: bool,
}

/// What a stage may know of the network.
pub struct Network<'a> {
    /// By link: its first and its last node.
    pub ends: &'a [(u32, u32)],
    /// The paths of the flows while every link is up.
    pub routes: &'a [Box<[u32]>],
    /// Links fail, and nodes look up the next hop of each packet. A packet then carries the number
    /// of its path or [way](Routes::open) in [`Packet::handle`]; else the place of its next hop
    /// among the hops of all paths, each with one more for its end.
    pub looked_up: bool,
    /// A tap looks on.
    pub watched: bool,
}

/// A running stage.
pub trait Stage: Send {
    /// A packet is at a node; the stage may change it. Why it loses it; none if it goes on.
    fn arrive(&mut self, _: Time, _: &mut Arrival<'_>, _: &mut Packet) -> Option<Refused> {
        None
    }

    /// A packet goes to the port of a link: makes it what the link is to carry.
    fn leave(&mut self, _: Leaving, _packet: &mut Packet) {}

    /// A link to whose port it acts sends a packet.
    fn sends(&mut self, _link: u32, _packet: &Packet, _sent: Sending) {}

    /// The measured period begins or ends.
    fn edge(&mut self, _edge: Time) {}

    /// Puts what it has measured. Before anything has happened it puts the same metrics.
    fn measure(&self, names: &dyn Names, out: &mut Measures);

    /// Its token buckets at `now`, in a fixed order: the link, the class, and the level.
    fn buckets(&self, _now: Time) -> Vec<(u32, &str, BucketLevel)> {
        Vec::new()
    }

    /// For time series: what is in its token buckets, by class.
    fn tokens(&self, _now: Time) -> Vec<(String, State)> {
        Vec::new()
    }

    /// For taps: the values of the labels of a packet that goes to the port of a link, or has gone
    /// there, the top one first.
    fn labels(&self, _link: u32, _packet: &Packet) -> [u32; 2] {
        [0; 2]
    }
}

/// The way of a packet from a node.
#[derive(Clone, Copy, Debug)]
pub struct Leaving {
    /// The link to whose port it goes.
    pub link: u32,
    /// When it comes there.
    pub now: Time,
    /// The class of its flow; none of acknowledgments.
    pub class: Option<u16>,
}

/// A packet at a node.
pub struct Arrival<'a> {
    /// The node.
    pub node: u32,
    /// The link that it came over; none if it begins there.
    pub from: Option<u32>,
    /// Where nodes look up ways.
    pub routes: Option<&'a mut dyn Routes>,
    /// A tap looks on.
    pub watched: bool,
    /// For the tap, of a stage that has judged the packet: the meters that it went through, by
    /// class, and what they found.
    pub found: Option<Vec<(String, Color)>>,
}

/// The current routes.
pub trait Routes {
    /// The first link from a node to another, if there is a path.
    fn next_hop(&mut self, node: u32, dest: u32) -> Option<u32>;

    /// First and last node of a path of the plan, or of a way that was opened, by number.
    fn ends(&self, way: u32) -> (u32, u32);

    /// A way from one node to another beside the paths of the plan: its number.
    fn open(&mut self, from: u32, to: u32) -> u32;

    /// How often they have changed.
    fn changes(&self) -> u32;
}

/// Why a stage loses a packet.
#[derive(Debug)]
pub struct Refused {
    /// The reason.
    pub reason: DropReason,
    /// The class of the stage that decided it, and by what; none if no way leads on.
    pub by: Option<(u16, Evidence)>,
}

/// A transmission.
#[derive(Clone, Copy, Debug)]
pub struct Sending {
    /// Its begin.
    pub start: Time,
    /// Its end, as was known at the begin.
    pub end: Time,
    /// When it was cut off, if this is told of a transmission that was told before.
    pub cut: Option<Time>,
}

/// The number of a packet's path or way, where nodes look them up; else one more than the place of
/// the hop that it takes.
#[inline]
pub(crate) fn way(packet: &Packet) -> u32 {
    (packet.handle >> 32) as u32
}

/// Puts a packet on a way.
pub(crate) fn set_way(packet: &mut Packet, way: u32) {
    packet.handle = u64::from(way) << 32 | u64::from(packet.handle as u32);
}
