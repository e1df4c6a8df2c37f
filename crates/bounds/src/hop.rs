//! The bound of one leaf, by what it is guaranteed.

use spillgate_core::Dur;
use spillgate_core::curve::{Curve, NoBound, UNITS};
use spillgate_queueing::{Guarantee, Load, Part, QueueLimit, Reason, Service};

/// What a leaf cannot exceed.
#[derive(Clone, Debug)]
pub struct HopBound {
    /// The longest time from the arrival of a packet until it has been sent: queueing and
    /// transmission.
    pub delay: Dur,
    /// The most bytes that wait, in the transmit ring too.
    pub backlog: u64,
    /// What bounds the delay.
    pub from: From,
    /// The bytes that are served first in, first out in this time: the burst, or the full queue.
    pub own: u64,
    /// What these bytes take on an empty line.
    pub alone: Dur,
    /// What each step down from the line's service adds; the delay is the sum of it all.
    pub parts: Vec<(Part, Dur)>,
    /// The rate that is guaranteed in the end, in b/s, rounded down.
    pub rate: u64,
    /// Whether no packet can be lost here.
    pub lossless: bool,
    limited: Option<Limited>,
}

/// What bounds a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// What sources and policers let come.
    Arrivals,
    /// The limit of the queue.
    Limit,
}

/// A full queue.
#[derive(Clone, Debug)]
struct Limited {
    /// Its bytes with the longest packets.
    bytes: u64,
    /// The longest packet, if it is limited in packets; else 0.
    longest: u32,
    drain: Service,
}

impl Limited {
    /// The longest delay of a packet of `len` bytes on the link, by `service`.
    fn delay(&self, len: u32, service: &Curve) -> Result<Dur, NoBound> {
        let shorter = u64::from(self.longest.saturating_sub(len));
        service.serves(self.bytes.saturating_sub(shorter))
    }
}

impl HopBound {
    /// The longest delay of packets of up to `len` bytes on the link, which the packets before them
    /// may exceed.
    ///
    /// # Errors
    /// If its exact value is too large.
    pub fn delay_of(&self, len: u32) -> Result<Dur, Reason> {
        let Some(limited) = &self.limited else {
            return Ok(self.delay);
        };
        Ok(limited.delay(len, limited.drain.curve())?.min(self.delay))
    }

    /// Of a leaf of which this is guaranteed; `limit`: of each leaf, `shortest`: by leaf the
    /// shortest packet in bytes on the link.
    pub(crate) fn of(
        guarantee: &Guarantee,
        load: &Load,
        leaf: u16,
        limit: impl Fn(u16) -> QueueLimit,
        shortest: &[u32],
    ) -> Result<Self, Reason> {
        let Guarantee { drain, beside, .. } = guarantee;
        let longest = |l: u16| load.leaves[usize::from(l)].longest;
        let full = |l: u16| {
            let limit = limit(l);
            let packets = limit.packets.map(|n| u64::from(n) * u64::from(longest(l)));
            packets.into_iter().chain(limit.bytes).min()
        };
        // All leaves that are first in, first out with it.
        let all_full = beside
            .iter()
            .try_fold(0, |sum: u64, l| sum.checked_add(full(*l)?));
        let in_packets = limit(leaf).bytes.is_none();
        let limited = all_full.map(|bytes| Limited {
            bytes,
            longest: if in_packets { longest(leaf) } else { 0 },
            drain: drain.clone(),
        });
        let waits = guarantee.arrivals.as_ref().map(|a| (a, drain));
        let alone = guarantee.alone.as_ref().map(|(a, s)| (a, s));
        let by_arrivals = [alone, waits].into_iter().flatten().filter_map(|(a, s)| {
            let backlog = a.vertical(s.curve()).ok()?;
            Some((s.parts(|s| a.horizontal(s)).ok()?, backlog))
        });
        let by_arrivals = by_arrivals.reduce(|a, b| (shorter(a.0, b.0), a.1.min(b.1)));
        let by_limit = limited.as_ref().map(|l| {
            let longest = longest(leaf);
            drain.parts(|s| l.delay(longest, s))
        });
        let come = by_arrivals
            .as_ref()
            .map_or(u64::MAX, |(_, backlog)| *backlog);
        let ((alone, parts), from) = match (by_arrivals, by_limit) {
            (Some((come, _)), Some(Ok(limit))) if sum(&limit) < sum(&come) => (limit, From::Limit),
            (Some((come, _)), _) => (come, From::Arrivals),
            (None, Some(limit)) => (limit?, From::Limit),
            (None, None) => {
                return Err(match waits {
                    Some(_) => "its queue has no limit, and more may come than is served",
                    None => "its queue has no limit, and nothing bounds what comes to it",
                }
                .into());
            }
        };
        let least = beside.iter().map(|l| shortest[usize::from(*l)]).min();
        let packets = come / u64::from(least.unwrap_or(1).max(1));
        let fits = |l: &u16| {
            let limit = limit(*l);
            limit.packets.is_none_or(|n| packets <= n.into())
                && limit.bytes.is_none_or(|n| come <= n)
        };
        // The discipline knows nothing of packets in the ring.
        let ring = u64::from(load.ring - 1) * u64::from(longest(leaf));
        let rate = drain.curve().final_slope().floor().to_integer();
        let rate = u64::try_from(rate).unwrap_or(u64::MAX);
        let own = match from {
            From::Limit => all_full.unwrap_or(0),
            From::Arrivals => burst(guarantee),
        };
        Ok(Self {
            delay: sum(&(alone, parts.clone())),
            backlog: come
                .min(full(leaf).unwrap_or(u64::MAX))
                .saturating_add(ring),
            from,
            own,
            alone,
            parts,
            rate,
            lossless: guarantee.only_limits && beside.iter().all(fits),
            limited,
        })
    }
}

/// A delay: that over an empty line, and what else adds to it.
type Parts = (Dur, Vec<(Part, Dur)>);

fn sum(of: &Parts) -> Dur {
    of.1.iter().fold(of.0, |sum, (_, part)| sum + *part)
}

fn shorter(a: Parts, b: Parts) -> Parts {
    if sum(&b) < sum(&a) { b } else { a }
}

/// What may come at once, in bytes, rounded down.
fn burst(guarantee: &Guarantee) -> u64 {
    let burst = |c: &Curve| {
        let value = c.pieces()[0].value / UNITS;
        u64::try_from(value.floor().to_integer()).unwrap_or(u64::MAX)
    };
    let alone = guarantee.alone.as_ref().map(|(a, _)| a);
    let curves = alone.into_iter().chain(&guarantee.arrivals);
    curves.map(burst).min().unwrap_or(0)
}
