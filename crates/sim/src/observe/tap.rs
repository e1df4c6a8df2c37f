//! Taps, which see every packet of a run at every port and host.
//!
//! A world has one tap or none. Without one, ports and hosts test one pointer; models know nothing
//! of taps. With one, nothing is computed ahead of the clock and every port serves its packets one
//! by one, so that a tap sees all events in the order of time. The fingerprint of the run is the
//! same (ADR 25).

use std::any::Any;

use spillgate_core::{Dropped, Dscp, FlowKey, Packet, Time};
use spillgate_endpoints::tcp::Segment;
use spillgate_queueing::{Color, Discipline, Evidence};

/// A flow of the world; [`Packet::flow`] is its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowInfo {
    /// The flow of the plan that it belongs to.
    pub of: u32,
    /// It carries the acknowledgments of a connection.
    pub answers: bool,
    /// Its packets are segments of a connection.
    pub tcp: bool,
    /// Addresses and ports of its packets.
    pub key: FlowKey,
}

/// A packet, and what it carries.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The packet.
    pub packet: &'a Packet,
    /// The TCP segment in it, if its flow is one of a connection.
    pub segment: Option<&'a Segment>,
    /// At a port: the values of its [`Packet::labels`], the top one first; 0 beyond them.
    pub labels: [u32; 2],
}

/// A port at an instant.
#[derive(Clone, Copy, Debug)]
pub struct PortView<'a> {
    /// The instant.
    pub now: Time,
    /// The link that it feeds.
    pub link: u32,
    /// The discipline, with the packets that wait.
    pub discipline: &'a Discipline,
    /// When the current transmission ends; `now` or earlier if the server is idle.
    pub free_at: Time,
}

/// Where a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// At the port of this link, by its discipline.
    Port(u32, Evidence),
    /// At the receiving end of this link, by the class of this number of the policy there.
    Input(u32, u16, Evidence),
    /// In the node at the receiving end of this link, which had no room for it.
    Kept(u32, Evidence),
    /// On this link, which failed.
    Wire(u32),
    /// At a node that knows no path for it.
    Node,
}

/// A tap; every method does nothing by default.
pub trait Tap: Any + Send {
    /// The run begins; [`Packet::flow`] is an index into `flows`.
    fn begin(&mut self, _flows: &[FlowInfo]) {}
    /// A source sends a packet; `timeouts` counts those of its connection so far.
    fn sent(&mut self, _now: Time, _seen: Seen<'_>, _timeouts: u32) {}
    /// A switch with queues at its inputs lets a packet, which began to cross its fabric at
    /// `since`, go to the port of `link`.
    fn crossed(&mut self, _now: Time, _link: u32, _since: Time, _seen: Seen<'_>) {}
    /// A node carries a packet that a port begins to send over these lines, in parts of so many
    /// bytes.
    fn carried_in_parts(&mut self, _lines: &[u32], _part: u32, _seen: Seen<'_>) {}
    /// The last part of such a packet has left over the last line.
    fn last_part_left(&mut self, _now: Time, _seen: Seen<'_>) {}
    /// A packet arrives at a port. [`Packet::leaf`] is the leaf of its class; it is neither policed
    /// nor queued yet.
    fn offered(&mut self, _port: &PortView<'_>, _seen: Seen<'_>) {}
    /// The policy at the receiving end of `link` has judged a packet, which came with the code
    /// point `before`: the meters that it went through, by their classes, and the color that each
    /// gave to it. If it is refused, [`Tap::lost`] follows.
    fn conditioned(
        &mut self,
        _now: Time,
        _link: u32,
        _before: Dscp,
        _found: &[(&str, Color)],
        _seen: Seen<'_>,
    ) {
    }
    /// The same by the policy of a port, which [`Tap::offered`] has told of the packet; what it
    /// makes of its code point is seen when it leaves.
    fn metered(&mut self, _port: &PortView<'_>, _found: &[(&str, Color)], _seen: Seen<'_>) {}
    /// A packet that a port has queued was marked with congestion experienced there.
    fn marked(&mut self, _port: &PortView<'_>, _why: &Evidence, _seen: Seen<'_>) {}
    /// The server of a port is free, or its transmit ring has room, and something waits: it is
    /// about to ask for the next packet, which a shaper may refuse.
    fn choosing(&mut self, _port: &PortView<'_>) {}
    /// The discipline of the port of `link` gives a packet to the transmit ring, behind which the
    /// server takes it later.
    fn ringed(&mut self, _now: Time, _link: u32, _seen: Seen<'_>) {}
    /// The server of a port begins to send a packet; the transmission ends at `port.free_at`. That
    /// is [`Time::MAX`] if it is not known yet: then [`Tap::sent_until`] follows.
    fn served(&mut self, _port: &PortView<'_>, _seen: Seen<'_>) {}
    /// The transmission by the port of `link` that began last ends at `end`, and the next can begin
    /// at `free_at`, both at the present time or soon after.
    fn sent_until(&mut self, _link: u32, _end: Time, _free_at: Time, _seen: Seen<'_>) {}
    /// A packet is lost.
    fn lost(&mut self, _now: Time, _place: Place, _lost: &Dropped, _seen: Seen<'_>) {}
    /// A packet has reached its destination.
    fn received(&mut self, _now: Time, _seen: Seen<'_>) {}
    /// The tap itself, to take it out of a world after a run.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}
