//! What a discipline guarantees: the service of a leaf, whatever comes to the others.
//!
//! A guarantee is declared beside the code of a discipline ([`Schedule::guarantee`]). The default
//! declares nothing, so a new discipline has no bounds, never wrong ones.
//!
//! [`Schedule::guarantee`]: crate::engine::Schedule::guarantee

use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use spillgate_core::curve::{Curve, Exact, NoBound, UNITS};
use spillgate_core::{Dscp, Dur, Overhead, Rate};

use crate::leaf::Leaf;
use crate::share::{Fairness, Share, Whole, shares};

/// Why nothing is guaranteed: a sentence without its full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason(pub Cow<'static, str>);

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<NoBound> for Reason {
    fn from(why: NoBound) -> Self {
        Self(why.to_string().into())
    }
}

impl From<&'static str> for Reason {
    fn from(why: &'static str) -> Self {
        Self(why.into())
    }
}

impl From<String> for Reason {
    fn from(why: String) -> Self {
        Self(why.into())
    }
}

/// The port of a discipline, and what comes to it.
#[derive(Clone, Debug)]
pub struct Load {
    /// The rate at which it sends; if that varies, the one that disciplines are made for.
    pub rate: Rate,
    /// What it sends at least in any time in which packets wait, if its rate varies.
    pub line: Option<Service>,
    /// The packets of its transmit ring, the one in transmission included; at least 1.
    pub ring: u32,
    /// What its link adds to packets.
    pub overhead: Overhead,
    /// The lengths of the IP packets with their labels that come, in bytes.
    pub lengths: RangeInclusive<u16>,
    /// How long it is looked at.
    pub lasts: Dur,
    /// By leaf.
    pub leaves: Vec<LeafLoad>,
    /// What comes to the leaves, flow by flow.
    pub flows: Vec<FlowLoad>,
}

/// What comes to a leaf.
#[derive(Clone, Debug, Default)]
pub struct LeafLoad {
    /// The longest packet, in bytes on the link; 0 if none comes.
    pub longest: u32,
    /// What the sources never exceed; none if that is unknown.
    pub arrivals: Option<Curve>,
}

/// What comes of a flow.
#[derive(Clone, Debug)]
pub struct FlowLoad {
    /// Its leaf; none: any.
    pub leaf: Option<u16>,
    /// The code point by which all its packets are treated when they come; none: any.
    pub dscp: Option<Dscp>,
    /// The longest packet, in bytes on the link.
    pub longest: u32,
    /// The shortest packet, in bytes on the link.
    pub shortest: u32,
    /// For how many flows ([`spillgate_core::Packet::flow`]) it stands; at least 1.
    pub numbers: u32,
    /// Their numbers are given to later flows, with other addresses or ports.
    pub renewed: bool,
    /// What its source never exceeds; none if that is unknown.
    pub arrivals: Option<Curve>,
}

impl Load {
    /// What the port serves with nothing else to send.
    pub(crate) fn service(&self) -> Service {
        match &self.line {
            None => Service::line(self.rate),
            Some(line) => line.clone().of_its_line(),
        }
    }

    /// By how many bytes the line may gain on its rate, since the times of packets are rounded down
    /// to picoseconds, and how many packets it may send.
    pub(crate) fn drift(&self) -> (u128, u128) {
        let shortest = self.flows.iter().map(|f| f.shortest.max(1)).min();
        let each = self.rate.tx_time(shortest.unwrap_or(1));
        let packets = u128::from(self.lasts.as_ps() / each.as_ps().max(1)) + 1;
        let units = UNITS as u128;
        let bps = u128::from(self.rate.bps());
        let gained = match units % bps {
            0 => 0,
            _ => (packets * bps).div_ceil(units),
        };
        (gained, packets)
    }

    /// The longest packet of any leaf, in bytes on the link.
    pub(crate) fn longest(&self) -> u64 {
        self.leaves
            .iter()
            .map(|l| l.longest)
            .max()
            .unwrap_or(0)
            .into()
    }

    /// The bytes that may lie in the ring.
    pub(crate) fn ring_bytes(&self) -> u64 {
        u64::from(self.ring) * self.longest()
    }

    /// The least and the most bytes on the link for a byte that `counted` counts.
    pub(crate) fn stretch(&self, counted: Option<Overhead>) -> (Exact, Exact) {
        let one = Exact::from_integer(1);
        let Some(counted) = counted.filter(|c| *c != self.overhead) else {
            return (one, one);
        };
        let of = |len: u16| {
            let counts = counted.wire_len(len).max(1);
            Exact::new(self.overhead.wire_len(len).into(), counts.into())
        };
        let all = || self.lengths.clone().map(of);
        (all().min().unwrap_or(one), all().max().unwrap_or(one))
    }
}

/// What makes a service less than that of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// What goes first for as long as it comes.
    Priority,
    /// Packets that are sent before: in the transmit ring, and a last one of others.
    Front,
    /// The rate that a shaper or policer leaves of the line's.
    Shaper,
    /// What others get beside it.
    Share,
}

/// The service of a leaf as steps down from that of the line, so that a bound can say what each of
/// them costs.
#[derive(Clone, Debug)]
pub struct Service(Arc<Steps>);

#[derive(Clone, Debug)]
struct Steps {
    line: Curve,
    down: Vec<(Part, Curve)>,
    /// How many of these belong to the line itself.
    of_line: usize,
}

impl Service {
    /// A line with nothing else to send.
    pub fn line(rate: Rate) -> Self {
        Self::of(Curve::rate(rate))
    }

    /// A line that serves so much with nothing else to send.
    pub fn of(line: Curve) -> Self {
        Self(Arc::new(Steps {
            line,
            down: Vec::new(),
            of_line: 0,
        }))
    }

    /// All that is left so far is what the line serves: bits leave as it has it.
    fn of_its_line(mut self) -> Self {
        let steps = Arc::make_mut(&mut self.0);
        steps.of_line = steps.down.len();
        self
    }

    /// The service of the line alone.
    pub fn line_alone(&self) -> &Curve {
        &self.0.line
    }

    /// The service that is left after all steps.
    pub fn curve(&self) -> &Curve {
        self.0.down.last().map_or(&self.0.line, |(_, curve)| curve)
    }

    /// Whether bits leave as the curve has it. Where others get a share or a shaper waits for
    /// tokens, whole packets leave when it has served them.
    pub fn is_smooth(&self) -> bool {
        let whole = |(part, _): &(Part, Curve)| matches!(part, Part::Share | Part::Shaper);
        !self.0.down[self.0.of_line..].iter().any(whole)
    }

    /// With one step more, to `curve`.
    pub fn down_to(&self, part: Part, curve: Curve) -> Self {
        let mut less = self.clone();
        if curve != *self.curve() {
            let Steps { down, of_line, .. } = Arc::make_mut(&mut less.0);
            match down[*of_line..].last_mut() {
                Some((last, now)) if *last == part => *now = curve,
                _ => down.push((part, curve)),
            }
        }
        less
    }

    /// After what goes first has been sent.
    ///
    /// # Errors
    /// If a number is too large, as with all of these.
    pub fn behind(&self, sent: &Curve) -> Result<Self, NoBound> {
        Ok(self.down_to(Part::Priority, self.curve().left_over(sent)?))
    }

    /// After so many bytes of packets in front.
    ///
    /// # Errors
    /// See [`Self::behind`].
    pub fn after(&self, bytes: u64) -> Result<Self, NoBound> {
        Ok(self.down_to(Part::Front, self.curve().after_bytes(bytes)?))
    }

    /// The part that is its own; at most 1.
    ///
    /// # Errors
    /// See [`Self::behind`].
    pub fn share(&self, part: Exact) -> Result<Self, NoBound> {
        Ok(self.down_to(Part::Share, self.curve().scaled(part)?))
    }

    /// The longest delay of what these curves let come in the order of arrival, as the parts of
    /// which it is the sum: that over an empty line, and what each step adds.
    ///
    /// # Errors
    /// If there is no bound.
    pub fn parts(
        &self,
        delay: impl Fn(&Curve) -> Result<Dur, NoBound>,
    ) -> Result<(Dur, Vec<(Part, Dur)>), NoBound> {
        let alone = delay(&self.0.line)?;
        let (mut before, mut parts) = (alone, Vec::<(Part, Dur)>::new());
        for (part, curve) in &self.0.down {
            let now = delay(curve)?;
            // A smaller service is never faster.
            let more = now - before;
            before = now;
            match parts.iter_mut().find(|(p, _)| p == part) {
                Some((_, sum)) => *sum = *sum + more,
                None => parts.push((*part, more)),
            }
        }
        Ok((alone, parts))
    }
}

/// What leaves of some leaves of a port together never exceeds, in bytes on the link.
#[derive(Clone, Debug)]
pub struct Sends {
    /// The leaves, by number.
    pub leaves: Vec<u16>,
    /// They are all to which packets come.
    pub all: bool,
    /// What never comes more.
    pub most: Curve,
    /// That is where their packets are queued, so that what leaves is late by up to their delays.
    pub at_arrival: bool,
}

/// What a leaf is guaranteed.
#[derive(Clone, Debug)]
pub struct Guarantee {
    /// What it is served, in bytes on the link that have left, in any time in which a packet of it,
    /// or of a leaf beside it, waits: the packets in the ring and in transmission are sent first.
    pub drain: Service,
    /// What may come in such a time for it and the leaves beside it, where sources or policers
    /// bound it.
    pub arrivals: Option<Curve>,
    /// A second arrival curve with a service that holds from where neither waits nor is in
    /// transmission what belongs to it, so that its own last packet is not counted twice.
    pub alone: Option<(Curve, Service)>,
    /// The leaves with which it is first in, first out; itself included.
    pub beside: Vec<u16>,
    /// A packet is lost only where it exceeds the limit of the queue, or of its share.
    pub only_limits: bool,
    /// Of a leaf that is not first in, first out: its queues. The worst of those of a flow counts.
    /// Empty if it is first in, first out.
    pub shares: Vec<Share>,
}

/// The only leaf of a port.
pub(crate) fn only(leaf: &Leaf, load: &Load) -> Result<Guarantee, Reason> {
    let only_limits = leaf.drops_only_at_limits();
    match leaf.fairness() {
        Some(of) => {
            let mut guarantee = fair(of, load, only_limits)?;
            limit(&mut guarantee.shares, leaf);
            Ok(guarantee)
        }
        None => first_in_first_out(load, only_limits),
    }
}

/// The queues of a leaf have its limit, too.
pub(crate) fn limit(shares: &mut [Share], leaf: &Leaf) {
    for share in shares {
        share.limit = share.limit.and(leaf.limit());
        share.room = share.room.and(leaf.limit());
    }
}

/// What is guaranteed to all packets of a port together: its rate.
fn first_in_first_out(load: &Load, only_limits: bool) -> Result<Guarantee, Reason> {
    let line = load.service();
    let arrivals = load.leaves.first().and_then(|l| l.arrivals.clone());
    Ok(Guarantee {
        drain: line.after(load.ring_bytes())?,
        alone: arrivals.clone().map(|a| (a, line)),
        arrivals,
        beside: vec![0],
        only_limits,
        shares: Vec::new(),
    })
}

/// The only leaf of a port, a fair queue: each queue has its share of the port's rate.
pub(crate) fn fair(of: &dyn Fairness, load: &Load, only_limits: bool) -> Result<Guarantee, Reason> {
    let all = first_in_first_out(load, only_limits)?;
    let in_ring = load.ring_bytes() - load.longest();
    let whole = Whole {
        service: &load.service().after(in_ring)?,
        own_in_front: true,
        bare: load.ring == 1,
    };
    let shares = shares(of, 0, load, &whole, |f| f.dscp)?;
    Ok(Guarantee { shares, ..all })
}
