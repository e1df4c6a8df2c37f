//! The bound of one leaf, by what it is guaranteed.

use spillgate_core::Dur;
use spillgate_core::curve::{Curve, NoBound, UNITS};
use spillgate_queueing::{Guarantee, Load, Part, QueueLimit, Reason, Service};

use crate::halve::Changed;

/// What a leaf cannot exceed.
#[derive(Clone, Debug)]
pub struct HopBound {
    /// The longest time from the arrival of a packet until it has been sent: queueing and
    /// transmission.
    pub delay: Dur,
    /// What it is the sum of.
    pub parts: Parts,
    /// The most bytes that wait, in the transmit ring too.
    pub backlog: u64,
    /// The rate that is guaranteed in the end, in b/s, rounded down.
    pub rate: u64,
    /// Whether no packet can be lost here.
    pub lossless: bool,
    limited: Option<Limited>,
    /// From where none of its packets is at the port: its service, and the leaves that share it in
    /// the order of arrival.
    pub(crate) through: Option<(Curve, Vec<u16>)>,
    /// The service of a single burst that bounds the delay.
    burst: Option<Curve>,
    /// The longest packet.
    longest: u32,
}

/// What the longest delay at a port is the sum of.
#[derive(Clone, Debug)]
pub struct Parts {
    /// What bounds the delay.
    pub from: From,
    /// The bytes that are served first in, first out in this time: the burst, or the full queue.
    pub own: u64,
    /// What these bytes take on an empty line.
    pub alone: Dur,
    /// What each step down from the line's service adds.
    pub more: Vec<(Part, Dur)>,
}

impl Parts {
    /// The whole delay.
    pub fn sum(&self) -> Dur {
        self.more
            .iter()
            .fold(self.alone, |sum, (_, part)| sum + *part)
    }
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
    /// The bytes of a full queue whose last packet has `len` on the link.
    fn up_to(&self, len: u32) -> u64 {
        self.bytes
            .saturating_sub(self.longest.saturating_sub(len).into())
    }

    /// The longest delay of a packet of `len` bytes on the link.
    fn parts(&self, len: u32) -> Result<Parts, NoBound> {
        let own = self.up_to(len);
        let (alone, more) = self.drain.parts(|s| s.serves(own))?;
        Ok(Parts {
            from: From::Limit,
            own,
            alone,
            more,
        })
    }
}

impl HopBound {
    /// The longest delay of packets of up to `len` bytes on the link, which the packets before them
    /// may exceed.
    ///
    /// # Errors
    /// If its exact value is too large.
    pub fn delay_of(&self, len: u32) -> Result<Dur, NoBound> {
        let Some(limited) = &self.limited else {
            return Ok(self.delay);
        };
        let limit = limited.drain.curve().serves(limited.up_to(len))?;
        Ok(limit.min(self.delay))
    }

    /// What this is the sum of.
    ///
    /// # Errors
    /// See [`Self::delay_of`].
    pub fn parts_of(&self, len: u32) -> Result<Parts, NoBound> {
        match &self.limited {
            Some(limited) if self.delay_of(len)? < self.delay => limited.parts(len),
            _ => Ok(self.parts.clone()),
        }
    }

    /// The queue or burst that is served in this time, if it holds a packet.
    pub(crate) fn own_in(&self, parts: &Parts, time: Dur) -> Result<Option<Changed>, NoBound> {
        let service = match parts.from {
            From::Limit => self.limited.as_ref().map(|l| l.drain.curve()),
            From::Arrivals => self.burst.as_ref(),
        };
        let own = service.map(|s| s.served_in(time)).transpose()?;
        let in_packets = self.limited.as_ref().map_or(0, |l| u64::from(l.longest));
        Ok(own.filter(|own| *own >= self.longest.into()).map(|own| {
            if parts.from == From::Limit && in_packets > 0 {
                // The last packet may be a shorter one.
                let packets = |bytes: u64| bytes.div_ceil(in_packets);
                let shorter = packets(parts.own) * in_packets - parts.own;
                return Changed::Packets(packets(parts.own), (own + shorter) / in_packets);
            }
            Changed::Bytes(parts.own, own)
        }))
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
        let packet = beside.iter().map(|l| u64::from(longest(*l))).max();
        let packet = packet.unwrap_or(0);
        let waits = guarantee.arrivals.as_ref().map(|a| (a, drain));
        let alone = guarantee.alone.as_ref().map(|(a, s)| (a, s));
        let by_arrivals = [alone, waits].into_iter().flatten().filter_map(|(a, s)| {
            // A packet that has not been sent is there as a whole.
            let unsent = if s.is_smooth() { 0 } else { packet };
            let backlog = a.vertical(s.curve()).ok()?.checked_add(unsent)?;
            Some((come(a, s).ok()?, backlog))
        });
        let by_arrivals = by_arrivals.reduce(|a, b| (shorter(a.0, b.0), a.1.min(b.1)));
        let single =
            |(a, s): &(&Curve, &Service)| (a.pieces().len() == 1).then(|| s.curve().clone());
        let by_limit = limited.as_ref().map(|l| l.parts(longest(leaf)));
        let come = by_arrivals
            .as_ref()
            .map_or(u64::MAX, |(_, backlog)| *backlog);
        let parts = match (by_arrivals, by_limit) {
            (Some((come, _)), Some(Ok(limit))) => shorter(come, limit),
            (Some((come, _)), _) => come,
            (None, Some(limit)) => limit?,
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
        Ok(Self {
            delay: parts.sum(),
            parts,
            backlog: come
                .min(full(leaf).unwrap_or(u64::MAX))
                .saturating_add(ring),
            rate,
            lossless: guarantee.only_limits && beside.iter().all(fits),
            limited,
            through: alone.map(|(_, s)| (s.curve().clone(), beside.clone())),
            burst: alone.or(waits).as_ref().and_then(single),
            longest: longest(leaf),
        })
    }
}

/// The delay of what an arrival curve lets come.
fn come(arrivals: &Curve, service: &Service) -> Result<Parts, NoBound> {
    let (alone, more) = service.parts(|s| arrivals.horizontal(s))?;
    let burst = (arrivals.pieces()[0].value / UNITS).floor().to_integer();
    Ok(Parts {
        from: From::Arrivals,
        own: u64::try_from(burst).unwrap_or(u64::MAX),
        alone,
        more,
    })
}

fn shorter(a: Parts, b: Parts) -> Parts {
    if b.sum() < a.sum() { b } else { a }
}
