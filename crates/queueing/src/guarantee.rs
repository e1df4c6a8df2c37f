//! What a discipline guarantees: the service of a leaf, whatever comes to the others.
//!
//! A guarantee is declared beside the code of a discipline ([`Schedule::guarantee`]). The default
//! declares nothing, so a new discipline has no bounds, never wrong ones.
//!
//! [`Schedule::guarantee`]: crate::engine::Schedule::guarantee

use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;

use spillgate_core::curve::{Curve, Exact, NoBound};
use spillgate_core::{Dur, Overhead, Rate};

use crate::leaf::Leaf;

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
    pub line: Option<Curve>,
    /// The packets of its transmit ring, the one in transmission included; at least 1.
    pub ring: u32,
    /// What its link adds to packets.
    pub overhead: Overhead,
    /// The lengths of the IP packets with their labels that come, in bytes.
    pub lengths: RangeInclusive<u16>,
    /// By leaf.
    pub leaves: Vec<LeafLoad>,
}

/// What comes to a leaf.
#[derive(Clone, Debug, Default)]
pub struct LeafLoad {
    /// The longest packet, in bytes on the link; 0 if none comes.
    pub longest: u32,
    /// What the sources never exceed; none if that is unknown.
    pub arrivals: Option<Curve>,
}

impl Load {
    /// What the port serves with nothing else to send.
    pub(crate) fn service(&self) -> Service {
        match &self.line {
            None => Service::line(self.rate),
            Some(line) => Service {
                line: line.clone(),
                steps: Vec::new(),
            },
        }
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
pub struct Service {
    line: Curve,
    steps: Vec<(Part, Curve)>,
}

impl Service {
    /// A line with nothing else to send.
    pub fn line(rate: Rate) -> Self {
        Self {
            line: Curve::rate(rate),
            steps: Vec::new(),
        }
    }

    /// The service that is left after all steps.
    pub fn curve(&self) -> &Curve {
        self.steps.last().map_or(&self.line, |(_, curve)| curve)
    }

    /// The line's service, and what is left after each step with its part.
    pub fn steps(&self) -> (&Curve, &[(Part, Curve)]) {
        (&self.line, &self.steps)
    }

    /// Whether bits leave as the curve has it. Where others get a share or a shaper waits for
    /// tokens, whole packets leave when it has served them.
    pub fn is_smooth(&self) -> bool {
        let whole = |(part, _): &(Part, Curve)| matches!(part, Part::Share | Part::Shaper);
        !self.steps.iter().any(whole)
    }

    /// With one step more, to `curve`.
    pub fn down_to(&self, part: Part, curve: Curve) -> Self {
        let mut less = self.clone();
        match less.steps.last_mut() {
            _ if curve == *self.curve() => {}
            Some((last, now)) if *last == part => *now = curve,
            _ => less.steps.push((part, curve)),
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
        let alone = delay(&self.line)?;
        let (mut before, mut parts) = (alone, Vec::<(Part, Dur)>::new());
        for (part, curve) in &self.steps {
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
    /// A packet is lost only where it exceeds the limit of the queue.
    pub only_limits: bool,
}

/// The only leaf of a port, first in, first out: the port's rate.
pub(crate) fn fifo(leaf: &Leaf, load: &Load) -> Result<Guarantee, Reason> {
    if !leaf.is_fifo() {
        return Err("no guarantee of this fair queue is known".into());
    }
    let line = load.service();
    let arrivals = load.leaves.first().and_then(|l| l.arrivals.clone());
    Ok(Guarantee {
        drain: line.after(load.ring_bytes())?,
        alone: arrivals.clone().map(|a| (a, line)),
        arrivals,
        beside: vec![0],
        only_limits: leaf.drops_only_at_limits(),
    })
}
