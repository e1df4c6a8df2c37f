//! CAKE's ACK filter: which queued acknowledgment a new one makes superfluous.
//!
//! Sources: "Piece of CAKE" (arXiv 1804.07617) §III-D; the behavior of Linux 6.18.
//!
//! A packet with ACK and without SYN that comes to a queue may free one pure acknowledgment of its
//! flow from it: the first that tells nothing that the new one does not tell. Numbers may not be
//! below it, selective acknowledgments may not be lost, and duplicates, which signal a loss, stay.
//! Of a row of the same ECN flags the last stays, too, so that every change is seen. The
//! conservative filter wants two that might go, and drops the first of them; the aggressive one
//! takes a single one if that is just before the new one and has its flags.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Acknowledgment, Packet, Time};

use crate::sched::slab::{List, Slab};

/// Which acknowledgments CAKE drops that later ones in their queue make superfluous.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CakeAckFilter {
    /// None.
    #[default]
    No,
    /// The first of two.
    Filter,
    /// A single one, too.
    Aggressive,
}

impl CakeAckFilter {
    /// The keyword of `tc`.
    pub fn word(self) -> &'static str {
        match self {
            Self::No => "no-ack-filter",
            Self::Filter => "ack-filter",
            Self::Aggressive => "ack-filter-aggressive",
        }
    }
}

/// What queued packets acknowledge, by their places; empty without a filter.
#[derive(Clone, Debug, Default)]
pub(super) struct Acks(Vec<Option<Acknowledgment>>);

const _: () = assert!(Acks::PACKET <= 80);

/// An acknowledgment that may go.
struct Candidate {
    /// The place of the packet before it.
    before: Option<u32>,
    at: u32,
    flags: (bool, bool),
}

impl Acks {
    /// Memory for each packet in bytes.
    pub(super) const PACKET: usize = size_of::<Option<Acknowledgment>>();

    /// Notes what the packet in a place acknowledges.
    pub(super) fn note(&mut self, at: u32, ack: Option<&Acknowledgment>) {
        let at = at as usize;
        if at >= self.0.len() {
            self.0.resize(at + 1, None);
        }
        self.0[at] = ack.copied();
    }

    /// The packet that the `last` one of a queue makes superfluous, by the place before it; of the
    /// first packet there is none. Cost: O(n) in the packets of the queue.
    pub(super) fn freed(
        &self,
        slab: &Slab,
        list: &List,
        last: (u32, &Packet),
        is_aggressive: bool,
    ) -> Option<Option<u32>> {
        let new = self.0[last.0 as usize].as_ref()?;
        let (mut found, mut before): (Option<Candidate>, _) = (None, None);
        for at in slab.places(list).take_while(|at| *at != last.0) {
            let previous = before.replace(at);
            let old = match &self.0[at as usize] {
                Some(old) if slab.packet(at).flow == last.1.flow => old,
                _ => continue,
            };
            found = found.filter(|f| f.flags == flags(old));
            if !is_told_by(old, new) {
                continue;
            }
            match found {
                Some(first) => return Some(first.before),
                None => {
                    found = Some(Candidate {
                        before: previous,
                        at,
                        flags: flags(old),
                    });
                }
            }
        }
        let alone = |f: &Candidate| before == Some(f.at) && f.flags == flags(new);
        found
            .filter(|f| is_aggressive && alone(f))
            .map(|f| f.before)
    }
}

/// What must not change unseen.
fn flags(ack: &Acknowledgment) -> (bool, bool) {
    (ack.ece, ack.cwr)
}

/// Whether all that `old` says follows from `new`, which says more.
fn is_told_by(old: &Acknowledgment, new: &Acknowledgment) -> bool {
    let later = |side: usize| old.stamps[side] != Time::ZERO && old.stamps[side] > new.stamps[side];
    if !old.is_pure || old.number > new.number || later(0) || later(1) {
        return false;
    }
    // A block below the number reports a duplicate (RFC 2883), once.
    let covers = |(a, b): (u64, u64)| {
        a >= old.number && new.selective().any(|(from, to)| from <= a && b <= to)
    };
    let bytes = |ack: &Acknowledgment| ack.selective().map(|(a, b)| b - a).sum::<u64>();
    old.selective().all(covers) && (old.number < new.number || bytes(new) > bytes(old))
}
