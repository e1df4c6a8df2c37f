//! Limits that are too small for the arriving packets.

use spillgate_core::{Limit, Rate};

use super::{Ask, When, thresholds};
use crate::registry::rule_text;
use crate::view::{Queue, View, bytes, lengths};

pub(super) const ASKED: &[Ask] = &[
    Ask(
        &[&BELOW_PACKET],
        |v| each(v, &[limits, by_code_point]),
        When::Queued,
    ),
    Ask(&[&QUANTUM], |v| each(v, &[quantum]), When::Queued),
];

fn each(v: &mut View<'_>, looks: &[fn(&mut View<'_>, &Queue<'_>)]) {
    v.each_queue(|v, q| looks.iter().for_each(|look| look(v, q)));
}

/// Packets that do not fit into a number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong {
    /// The longest packet, as it is counted.
    pub(crate) longest: u32,
    /// No packet fits.
    every: bool,
    /// All packets have this length.
    alike: bool,
}

impl TooLong {
    /// The packets that do not fit into `room` bytes, given the longest and the shortest packet.
    pub(crate) fn than(room: u64, (longest, shortest): (u32, u32)) -> Option<Self> {
        (room < u64::from(longest)).then_some(Self {
            longest,
            every: room < u64::from(shortest),
            alike: longest == shortest,
        })
    }

    /// The fate of one packet, or of several, in words.
    pub(crate) fn say(self, one: &str, many: &str) -> String {
        let Self {
            longest,
            every,
            alike,
        } = self;
        match (every, alike) {
            (true, true) => {
                format!("every packet of {longest} B, as it is counted, {one}")
            }
            (true, false) => {
                format!("every packet, the longest of {longest} B as it is counted, {one}")
            }
            (false, _) => {
                format!("packets of up to {longest} B, as they are counted, {many}")
            }
        }
    }
}

/// The bytes that a limit holds; none if it counts packets, or time at an unknown rate.
fn room(limit: Limit, rate: Option<Rate>) -> Option<u64> {
    match (limit, rate) {
        (Limit::Packets(_), _) | (Limit::Time(_), None) => None,
        (Limit::Bytes(n), None) => Some(n),
        (limit, Some(rate)) => Some(bytes(limit, rate)),
    }
}

/// Whether arriving packets exceed a limit.
pub(crate) fn holds_none(q: &Queue<'_>, limit: Limit) -> bool {
    let sizes = q.lengths().zip(room(limit, q.rate));
    sizes.is_some_and(|(sizes, room)| TooLong::than(room, sizes).is_some())
}

rule_text! { BELOW_PACKET = "SG-Q014", "queue-below-packet", Error, "A queue limit is smaller than a packet that comes to the queue";
    why "A limit in bytes, or in time at the queue's rate, holds less than one packet. A packet that does not fit under the limit is dropped, even where nothing waits and the link is idle. If no packet is shorter, the queue loses everything.\n\nWhat counts is the packet as its link counts it, with what the link adds. Usually a number of packets was meant, or the limit was written in milliseconds for a faster link.";
    fix "Write the limit in packets, or in bytes of several packets.";
    from "Spillgate: limits of queues hold for the packet that arrives, too (docs/models/fifo.md); RFC 7567, section 2 (queues are there to absorb bursts)";
}

fn limits(v: &mut View<'_>, q: &Queue<'_>) {
    let Some(sizes) = q.lengths() else { return };
    let own = q.place.limits.iter().chain(&q.place.flow_limit);
    for (key, limit) in own {
        let Some(room) = room(*limit, q.rate) else {
            continue;
        };
        if let Some(long) = TooLong::than(room, sizes) {
            let held = match limit {
                Limit::Time(_) => format!("{limit}, {room} B at its rate"),
                _ => limit.to_string(),
            };
            let message = format!(
                "the queue of {} holds {held}: {}",
                q.what,
                long.say("is dropped", "are dropped")
            );
            v.hit(&BELOW_PACKET, q.class, key, message);
        }
    }
}

/// Limits for some code points, and the flows that have these.
fn by_code_point(v: &mut View<'_>, q: &Queue<'_>) {
    let (Some(class), Some(flows)) = (q.class, &q.flows) else {
        return;
    };
    for (key, what, limit) in thresholds::of(&v.classes[class]) {
        let of_precedence = key.strip_prefix("queue_limit_precedence.");
        let has = |l: &&&crate::traffic::Load| {
            let dscp = l.dscp();
            match of_precedence {
                Some(p) => {
                    let own = &v.classes[class].spec.queue_limit_dscp;
                    p.parse() == Ok(dscp.precedence()) && !own.contains_key(&dscp)
                }
                None => what == dscp.to_string(),
            }
        };
        let of_it: Vec<_> = flows.iter().filter(has).copied().collect();
        let sizes = lengths(&of_it, |l| l.sizes).zip(room(limit, q.rate));
        if let Some(long) = sizes.and_then(|(sizes, room)| TooLong::than(room, sizes)) {
            let message = format!(
                "the queue of {} holds {limit} for {what}: {}",
                q.what,
                long.say("is dropped", "are dropped")
            );
            v.hit(&BELOW_PACKET, q.class, &key, message);
        }
    }
}

rule_text! { QUANTUM = "SG-Q015", "quantum-below-packet", Note, "The quantum of deficit round robin is below a packet that comes";
    why "In its turn a flow may send what its deficit holds, to which each turn adds a quantum. A packet that is longer than the quantum waits for as many turns as it takes to save for it. Shares in the long run stay the same; the scheduler goes round several times for one packet, so that it is no longer of constant cost, and flows of short packets send in bursts between those of long ones.";
    fix "Write a `quantum` of the longest packet as its link counts it, or more.";
    from "Shreedhar and Varghese, \"Efficient Fair Queuing Using Deficit Round-Robin\", 1996, section 4: the quantum is at least the longest packet for constant work";
}

/// FQ and FQ-CoDel are left out: a quantum of 300 B is advised on slow links, for short packets to
/// go first (tc-fq_codel(8)).
fn quantum(v: &mut View<'_>, q: &Queue<'_>) {
    let (Some((key, quantum)), Some((longest, _))) = (&q.place.quantum, q.lengths()) else {
        return;
    };
    let is_drr = match q.class {
        Some(_) => key.starts_with("drr."),
        None => v.kind == "drr",
    };
    if is_drr && *quantum < u64::from(longest) {
        let turns = u64::from(longest).div_ceil(*quantum);
        let message = format!(
            "the quantum of {} is {quantum} B: a packet of {longest} B, as its link counts it, takes {turns} turns",
            q.what
        );
        v.hit(&QUANTUM, q.class, key, message);
    }
}
