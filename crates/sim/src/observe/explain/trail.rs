//! The second pass: what happened to the chosen packets.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use spillgate_core::{Dropped, Dscp, Dur, Packet, Time};
use spillgate_endpoints::tcp::Flags;
use spillgate_queueing::{Color, Evidence};
use spillgate_scenario::plan::WorldPlan;

use super::worst::Chosen;
use super::{
    Conditioned, Fate, Hop, InParts, Journey, Lost, MAX_TRANSMISSIONS, Relation, Residual, Served,
    Transmission,
};
use crate::tap::{FlowInfo, Place, PortView, Seen, Tap};

/// The last packet that a port has sent.
#[derive(Clone, Copy, Default)]
struct LastSent {
    end: Time,
    leaf: u16,
    class: u16,
    len: u32,
}

/// A chosen packet that waits at a port.
struct AtPort {
    journey: usize,
    leaf: u16,
    arrived: Time,
    /// Its leaf lacked tokens when the server last chose a packet.
    held: bool,
    /// Until when the packet that was in transmission when it arrived keeps the server.
    residual_until: Time,
    /// Where the packet that was sent last is counted among those that were sent while it waited.
    counted: Option<usize>,
    /// How many of the packets that it found in the transmit ring are still there.
    ring_ahead: usize,
    /// It is in the ring itself.
    ringed: bool,
}

/// A packet in a transmit ring.
struct Ringed {
    stream: u32,
    seq: u32,
    /// The chosen packets whose leaves lacked tokens when the scheduler chose this one.
    held: Vec<usize>,
}

impl AtPort {
    /// The server begins with the next packet before the one before has left, as one
    /// does that sends parts in phases of their own.
    fn cut(&self, hop: &mut Hop, overlap: Dur) {
        if let Some(last) = self.counted.and_then(|i| hop.served.get_mut(i)) {
            last.time = last.time - overlap;
        }
    }
}

/// Follows packets.
pub(super) struct Trails {
    flows: Vec<FlowInfo>,
    /// Class of service of each flow of the plan.
    class_of: Vec<u16>,
    /// The sizes of the groups; their journeys follow one another.
    groups: Vec<usize>,
    journeys: Vec<Journey>,
    /// The journey of a packet, by stream and number.
    by_packet: BTreeMap<(u32, u32), usize>,
    /// The journeys whose packets carry this segment, by stream and sequence number.
    by_segment: BTreeMap<(u32, u64), Vec<usize>>,
    /// The journeys that list this packet as another transmission of their segment, with the index
    /// in the list; by stream and number.
    others: BTreeMap<(u32, u32), Vec<(usize, usize)>>,
    /// Journeys whose connection is over.
    over: BTreeSet<usize>,
    /// The number of time-outs of a segment's connection at its last transmission.
    timeouts: BTreeMap<(u32, u64), u32>,
    /// By journey: since when it crosses the fabric of the switch from which it comes to a port
    /// now.
    crossed_since: Vec<Option<Time>>,
    /// By link: what is in its transmit ring, in order.
    rings: Vec<VecDeque<Ringed>>,
    /// By link.
    last_sent: Vec<LastSent>,
    waiting: Vec<Vec<AtPort>>,
}

impl Trails {
    pub(super) fn new(plan: &WorldPlan, chosen: Vec<Vec<Chosen>>) -> Self {
        let mut new = Self {
            flows: Vec::new(),
            class_of: plan.flows.iter().map(|f| f.class).collect(),
            groups: chosen.iter().map(Vec::len).collect(),
            journeys: Vec::new(),
            by_packet: BTreeMap::new(),
            by_segment: BTreeMap::new(),
            others: BTreeMap::new(),
            over: BTreeSet::new(),
            timeouts: BTreeMap::new(),
            crossed_since: vec![None; chosen.iter().map(Vec::len).sum()],
            rings: plan.links.iter().map(|_| VecDeque::new()).collect(),
            last_sent: vec![LastSent::default(); plan.links.len()],
            waiting: plan.links.iter().map(|_| Vec::new()).collect(),
        };
        for c in chosen.into_iter().flatten() {
            let journey = new.journeys.len();
            new.by_packet.insert((c.stream, c.seq), journey);
            if let Some(number) = c.segment {
                let same = new.by_segment.entry((c.stream, number)).or_default();
                same.push(journey);
            }
            let packet = Packet::new(c.stream, c.seq, 0);
            new.journeys.push(Journey {
                flow: 0,
                stream: c.stream,
                seq: c.seq,
                answers: c.answers,
                sent: Time::ZERO,
                l3_len: 0,
                dscp: packet.dscp,
                hops: Vec::new(),
                fate: Fate::Underway,
                segment: None,
                transmissions: Vec::new(),
            });
        }
        new
    }

    /// By group, in the order in which they were chosen.
    pub(super) fn into_journeys(self) -> Vec<Vec<Journey>> {
        let mut all = self.journeys.into_iter();
        self.groups
            .iter()
            .map(|n| all.by_ref().take(*n).collect())
            .collect()
    }

    fn journey(&self, packet: &Packet) -> Option<usize> {
        self.by_packet.get(&(packet.flow, packet.seq)).copied()
    }

    /// Where a chosen packet is now.
    fn last_hop(&mut self, packet: &Packet) -> Option<&mut Hop> {
        let journey = self.journey(packet)?;
        self.journeys[journey].hops.last_mut()
    }

    /// A new session takes the place of an earlier one, whose segments had the same numbers.
    fn connection_opens(&mut self, stream: u32) {
        for (j, journey) in self.journeys.iter_mut().enumerate() {
            if journey.stream == stream && journey.segment.is_none() {
                journey.transmissions.clear();
            } else if journey.stream == stream && journey.segment.is_some_and(|s| s.seq > 0) {
                self.over.insert(j);
            }
        }
    }

    /// A segment that a chosen packet carries is sent, perhaps in another packet.
    fn note_transmission(&mut self, now: Time, seen: Seen<'_>, timeouts: u32) {
        let (Some(segment), stream) = (seen.segment, seen.packet.flow) else {
            return;
        };
        if segment.flags.has(Flags::SYN) {
            self.connection_opens(stream);
        }
        let Some(journeys) = self.by_segment.get(&(stream, segment.seq)) else {
            return;
        };
        let before = self.timeouts.insert((stream, segment.seq), timeouts);
        for &j in journeys {
            let journey = &mut self.journeys[j];
            let all = &mut journey.transmissions;
            if all.len() < MAX_TRANSMISSIONS && !self.over.contains(&j) {
                let known = self.others.entry((stream, seen.packet.seq)).or_default();
                known.push((j, all.len()));
                all.push(Transmission {
                    sent: now,
                    seq: seen.packet.seq,
                    after_timeout: before.is_some_and(|b| timeouts > b) && !all.is_empty(),
                    lost: None,
                });
            }
        }
    }
}

fn named(found: &[(&str, Color)]) -> Vec<(String, Color)> {
    let owned = |(class, color): &(&str, Color)| ((*class).to_owned(), *color);
    found.iter().map(owned).collect()
}

impl Tap for Trails {
    fn begin(&mut self, flows: &[FlowInfo]) {
        self.flows = flows.to_vec();
    }

    fn sent(&mut self, now: Time, seen: Seen<'_>, timeouts: u32) {
        if !self.by_segment.is_empty() {
            self.note_transmission(now, seen, timeouts);
        }
        if let Some(j) = self.journey(seen.packet) {
            let journey = &mut self.journeys[j];
            journey.flow = self.flows[seen.packet.flow as usize].of;
            journey.sent = now;
            journey.l3_len = seen.packet.l3_len;
            journey.dscp = seen.packet.dscp;
            journey.segment = seen.segment.copied();
        }
    }

    fn crossed(&mut self, _: Time, _: u32, since: Time, seen: Seen<'_>) {
        if let Some(journey) = self.journey(seen.packet) {
            self.crossed_since[journey] = Some(since);
        }
    }

    fn offered(&mut self, port: &PortView<'_>, seen: Seen<'_>) {
        let Some(journey) = self.journey(seen.packet) else {
            return;
        };
        let (p, last) = (seen.packet, &self.last_sent[port.link as usize]);
        let rest = last.end.min(port.free_at).since(port.now);
        let found = port.discipline.leaves()[usize::from(p.leaf)].backlog();
        self.journeys[journey].hops.push(Hop {
            link: port.link,
            leaf: p.leaf,
            crossed_since: self.crossed_since[journey].take(),
            arrived: port.now,
            start: Time::MAX,
            end: Time::MAX,
            len: p.len,
            labels: {
                let [top, below] = p.labels.stack();
                [
                    top.map(|tc| (seen.labels[0], tc)),
                    below.map(|tc| (seen.labels[1], tc)),
                ]
            },
            dscp: (p.dscp, p.dscp),
            metered: Vec::new(),
            conditioned: None,
            ecn: (p.ecn, p.ecn),
            mark: None,
            found,
            limit: port.discipline.limit(usize::from(p.leaf)),
            residual: (!rest.is_zero()).then_some(Residual {
                leaf: last.leaf,
                class: last.class,
                bytes: last.len,
                time: rest,
            }),
            served: Vec::new(),
            idle: Dur::ZERO,
            ringed: None,
            beyond: None,
        });
        self.waiting[port.link as usize].push(AtPort {
            journey,
            leaf: p.leaf,
            arrived: port.now,
            held: false,
            residual_until: port.now + rest,
            counted: None,
            ring_ahead: self.rings[port.link as usize].len(),
            ringed: false,
        });
    }

    fn conditioned(
        &mut self,
        _: Time,
        _: u32,
        before: Dscp,
        found: &[(&str, Color)],
        seen: Seen<'_>,
    ) {
        if let Some(hop) = self.last_hop(seen.packet) {
            hop.conditioned = Some(Conditioned {
                dscp: (before, seen.packet.dscp),
                metered: named(found),
            });
        }
    }

    fn metered(&mut self, _: &PortView<'_>, found: &[(&str, Color)], seen: Seen<'_>) {
        if let Some(hop) = self.last_hop(seen.packet) {
            hop.metered = named(found);
        }
    }

    fn marked(&mut self, _: &PortView<'_>, why: &Evidence, seen: Seen<'_>) {
        if let Some(hop) = self.last_hop(seen.packet) {
            hop.mark = Some(*why);
        }
    }

    fn choosing(&mut self, port: &PortView<'_>) {
        for w in &mut self.waiting[port.link as usize] {
            w.held = !w.ringed && port.discipline.is_held(w.leaf, port.now);
        }
    }

    fn ringed(&mut self, now: Time, link: u32, seen: Seen<'_>) {
        let own = self.journey(seen.packet);
        let waiting = &mut self.waiting[link as usize];
        let held = waiting.iter().filter(|w| w.held).map(|w| w.journey);
        self.rings[link as usize].push_back(Ringed {
            stream: seen.packet.flow,
            seq: seen.packet.seq,
            held: held.filter(|j| Some(*j) != own).collect(),
        });
        let Some(own) = own else { return };
        for w in waiting.iter_mut().filter(|w| w.journey == own) {
            (w.ringed, w.held) = (true, false);
        }
        if let Some(hop) = self.journeys[own].hops.last_mut() {
            hop.ringed = Some(now);
        }
    }

    fn served(&mut self, port: &PortView<'_>, seen: Seen<'_>) {
        let (link, p) = (port.link as usize, seen.packet);
        let class = self.class_of[self.flows[p.flow as usize].of as usize];
        let before = std::mem::replace(
            &mut self.last_sent[link],
            LastSent {
                end: port.free_at,
                leaf: p.leaf,
                class,
                len: p.len,
            },
        );
        let ringed = self.rings[link].pop_front();
        if self.waiting[link].is_empty() {
            return;
        }
        let own = self.journey(p);
        let overlap = before.end.since(port.now);
        for w in &mut self.waiting[link] {
            let Some(hop) = self.journeys[w.journey].hops.last_mut() else {
                continue;
            };
            w.cut(hop, overlap);
            let since = w.counted.map_or(w.residual_until, |_| before.end);
            hop.idle = hop.idle + port.now.since(since);
            if own == Some(w.journey) {
                hop.start = port.now;
                hop.end = port.free_at;
                hop.dscp.1 = p.dscp;
                hop.ecn.1 = p.ecn;
                continue;
            }
            let held = match &ringed {
                Some(ringed) => ringed.held.contains(&w.journey),
                None => w.held,
            };
            let relation = if w.ring_ahead > 0 {
                w.ring_ahead -= 1;
                Relation::Ring
            } else if p.leaf == w.leaf {
                if p.arrived <= w.arrived {
                    Relation::Ahead
                } else {
                    Relation::Overtook
                }
            } else if port.discipline.outranks(p.leaf, w.leaf) {
                Relation::Priority
            } else {
                Relation::Turn
            };
            let time = port.free_at.since(port.now);
            let alike = hop.served.iter().position(|s| {
                s.leaf == p.leaf && s.class == class && s.relation == relation && s.held == held
            });
            w.counted = Some(alike.unwrap_or(hop.served.len()));
            match alike.and_then(|i| hop.served.get_mut(i)) {
                Some(s) => {
                    s.packets += 1;
                    s.bytes += u64::from(p.len);
                    s.time = s.time + time;
                }
                None => hop.served.push(Served {
                    leaf: p.leaf,
                    class,
                    relation,
                    held,
                    packets: 1,
                    bytes: p.len.into(),
                    time,
                }),
            }
        }
        if own.is_some() {
            self.waiting[link].retain(|w| Some(w.journey) != own);
        }
    }

    fn sent_until(&mut self, link: u32, end: Time, free_at: Time, seen: Seen<'_>) {
        let own = self.journey(seen.packet);
        let told = std::mem::replace(&mut self.last_sent[link as usize].end, end);
        for w in &mut self.waiting[link as usize] {
            let Some(hop) = self.journeys[w.journey].hops.last_mut() else {
                continue;
            };
            match w.counted {
                Some(_) => w.cut(hop, told.since(end)),
                // It came meanwhile.
                None => {
                    w.residual_until = end.min(free_at).max(w.arrived);
                    if let Some(residual) = &mut hop.residual {
                        residual.time = w.residual_until.since(w.arrived);
                    }
                }
            }
        }
        if let Some(hop) = own.and_then(|j| self.journeys[j].hops.last_mut()) {
            hop.end = end;
        }
    }

    fn carried_in_parts(&mut self, lines: &[u32], part: u32, seen: Seen<'_>) {
        if let Some(hop) = self.last_hop(seen.packet) {
            hop.beyond = Some(InParts {
                lines: lines.to_vec(),
                part,
                left: Time::MAX,
            });
        }
    }

    fn last_part_left(&mut self, now: Time, seen: Seen<'_>) {
        if let Some(beyond) = self.last_hop(seen.packet).and_then(|h| h.beyond.as_mut()) {
            beyond.left = now;
        }
    }

    fn lost(&mut self, now: Time, place: Place, dropped: &Dropped, seen: Seen<'_>) {
        let p = seen.packet;
        let link = match place {
            Place::Port(link, _)
            | Place::Input(link, ..)
            | Place::Kept(link, _)
            | Place::Wire(link) => Some(link),
            Place::Node => None,
        };
        if let Some(all) = self.others.get(&(p.flow, p.seq)) {
            for &(journey, i) in all {
                if let Some(t) = self.journeys[journey].transmissions.get_mut(i) {
                    if t.seq == p.seq {
                        t.lost = Some((now, link, dropped.reason));
                    }
                }
            }
        }
        if let Place::Wire(link) = place {
            self.rings[link as usize].retain(|r| (r.stream, r.seq) != (p.flow, p.seq));
        }
        let Some(journey) = self.journey(p) else {
            return;
        };
        self.journeys[journey].fate = Fate::Lost(Lost {
            at: now,
            place,
            reason: dropped.reason,
            leaf: p.leaf,
            dscp: p.dscp,
            len: p.len,
        });
        if let Some(link) = link {
            self.waiting[link as usize].retain(|w| w.journey != journey);
        }
    }

    fn received(&mut self, now: Time, seen: Seen<'_>) {
        if let Some(journey) = self.journey(seen.packet) {
            self.journeys[journey].fate = Fate::Received(now);
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
