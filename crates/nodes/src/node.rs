//! A running node: what it is told, and what it says.

use std::sync::Arc;

use spillgate_core::{Dropped, Dur, FlowKey, Packet, Rank, Rng, Time};
use spillgate_measure::{Measures, Samples, Volume, Window};
use spillgate_queueing::Evidence;

use crate::Names;
use crate::server::Train;

/// A node that passes packets from one link to another, perhaps later.
///
/// The engine tells it which packets arrive and when its wake is due; it answers in an [`Outbox`].
/// It has no clock and no network.
pub trait Node: Send {
    /// A packet arrives over the link `from`, bound for the port of the link `to`.
    fn arrive(&mut self, now: Time, from: u32, to: u32, packet: &Packet, out: &mut Outbox);

    /// When it wants to be woken, and among what happens at that instant; the engine asks after
    /// each call. A wake too early does no harm.
    fn next_wake(&self) -> Option<(Time, Rank)>;

    /// Its wake is due.
    fn wake(&mut self, now: Time, out: &mut Outbox);

    /// Something happens to a packet at a port that the node [follows](crate::Declared::follows).
    /// Returns how the node carries on what the port sends, if it takes that.
    fn at_port(&mut self, _now: Time, _at: &AtPort<'_>, _out: &mut Outbox) -> Option<Carries> {
        None
    }

    /// The measured period begins or ends. What happens at that very instant is still to come. At
    /// its end the node adds what links that it serves have carried of it.
    fn edge(&mut self, _edge: Time, _carried: &mut Vec<Carried>) {}

    /// Puts what is sampled of it: its own [series](crate::Declared::series), and what waits at
    /// those of these links that it [serves](crate::Declared::serves).
    fn sample(&mut self, _now: Time, _links: &[u32], _names: &dyn Names, _out: &mut Samples) {}

    /// Puts what it has measured until `now`. Before anything has happened it puts the same
    /// metrics.
    fn measure(&self, now: Time, names: &dyn Names, out: &mut Measures);
}

/// What a node or a stage is built with.
pub struct Start<'a> {
    /// The measured period.
    pub window: Window,
    /// Keys of the flows, by number.
    pub flows: &'a Arc<[FlowKey]>,
    /// Names of the links, by number.
    pub links: &'a Arc<[String]>,
    /// The master seed, and the number of the run.
    pub seed: (u64, u32),
    /// The name of its random streams.
    pub path: &'a str,
    /// Percentiles of backlogs are measured.
    pub percentiles: bool,
    /// It is to be woken for everything that happens in it, and works nothing out ahead.
    pub exact: bool,
}

impl Start<'_> {
    /// The random stream for a purpose.
    pub fn rng(&self, purpose: &str) -> Rng {
        let (seed, run) = self.seed;
        Rng::named(seed, run, self.path, purpose)
    }
}

/// A packet at a port that a node follows.
pub struct AtPort<'a> {
    /// The link that the port feeds.
    pub link: u32,
    /// The packet.
    pub packet: &'a Packet,
    /// What happens to it.
    pub event: PortEvent<'a>,
}

/// What happens to a packet at a port.
pub enum PortEvent<'a> {
    /// The port begins to send it.
    Begins {
        /// What the server puts on the line.
        put: Put,
        /// The links of its way behind this one.
        way: &'a [u32],
        /// Propagation delay of the link.
        delay: Dur,
    },
    /// It is lost in the queue.
    Lost,
}

/// How a node carries a packet on that a port sends.
#[derive(Clone, Copy, Debug)]
pub struct Carries {
    /// Over how many links of its way. The packet that the node gives back has
    /// [skipped](Packet::skip_hops) these.
    pub links: u32,
    /// The bytes of a part in which it goes over these.
    pub part: u32,
}

/// What a server puts on its line for a packet.
#[derive(Clone, Copy, Debug)]
pub enum Put {
    /// The packet.
    Packet,
    /// Parts of equal length that leave at these times.
    Parts(Train),
    /// Parts that take turns with those of others, all by so much later: the node says when they
    /// have left ([`Outbox::sent`]).
    Turns(Dur),
}

/// What a node says in one call.
#[derive(Default)]
pub struct Outbox {
    /// Packets that go to a port.
    pub passed: Vec<Passed>,
    /// Packets that are lost, each with the link that it came over, and why.
    pub lost: Vec<(u32, Evidence, Dropped)>,
    /// For ports whose AQM is to know what waits for them in the node: the link, and how many
    /// packets and bytes do now.
    pub waiting: Vec<(u32, u32, u64)>,
    /// The same for a packet that has arrived for such a port: the link, and its bytes.
    pub arrived: Option<(u32, u32)>,
    /// Packets of which the last part has come over a link, by flow and number.
    pub hopped: Vec<(u32, u32, u32)>,
    /// Packets that have left over a link that the node serves.
    pub done: Vec<(u32, Packet)>,
    /// Packets that have left a port whose line the node has.
    pub sent: Vec<Sent>,
}

/// A packet that a node passes on.
pub struct Passed {
    /// The link to whose port it goes.
    pub to: u32,
    /// The packet.
    pub packet: Packet,
    /// When it began to cross a fabric, if it has waited for that.
    pub crossed_since: Option<Time>,
}

impl Passed {
    /// To the port of `to`, without a fabric.
    pub fn plainly(to: u32, packet: Packet) -> Self {
        Self {
            to,
            packet,
            crossed_since: None,
        }
    }
}

/// A packet that has left a port whose line the node has.
#[derive(Clone, Copy)]
pub struct Sent {
    /// The link.
    pub link: u32,
    /// The packet.
    pub packet: Packet,
    /// When its first part could leave.
    pub start: Time,
    /// When the last one has left.
    pub end: Time,
    /// When the next packet may begin.
    pub ready: Time,
    /// The node carries it on.
    pub is_taken: bool,
}

/// What a link carries of the measured period.
#[derive(Clone, Copy)]
pub struct Carried {
    /// The link.
    pub link: u32,
    /// The leaf of its port.
    pub leaf: u16,
    /// Bytes.
    pub volume: Volume,
    /// How long it was busy.
    pub busy: Dur,
}
