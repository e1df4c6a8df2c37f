//! The bound of one leaf, by what it is guaranteed.

use std::collections::BTreeMap;
use std::sync::Arc;

use spillgate_core::Dur;
use spillgate_core::curve::{Curve, NoBound};
use spillgate_queueing::{FlowLoad, Guarantee, Load, Part, QueueLimit, Reason, Service, Share};

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
    pub(crate) through: Option<(Service, Vec<u16>)>,
    /// The service of a single burst that bounds the delay.
    burst: Option<Service>,
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
            From::Arrivals => self.burst.as_ref().map(Service::curve),
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

    /// Of a queue whose packets have up to `len` bytes.
    fn of(queue: &Queue<'_>, len: u32, all: &Together) -> Result<Self, Reason> {
        let waits = queue.arrivals.map(|a| (a, queue.drain));
        let by_arrivals = [queue.alone, waits].into_iter().flatten();
        let by_arrivals = by_arrivals.clone().filter_map(|(a, s)| come(a, s).ok());
        let by_arrivals = by_arrivals.reduce(shorter);
        let by_limit = queue.limited.as_ref().map(|l| l.parts(len));
        let parts = match (by_arrivals, by_limit) {
            (Some(come), Some(Ok(limit))) => shorter(come, limit),
            (Some(come), _) => come,
            (None, Some(limit)) => limit?,
            (None, None) => {
                return Err(match waits {
                    Some(_) => "its queue has no limit, and more may come than is served",
                    None => "its queue has no limit, and nothing bounds what comes to it",
                }
                .into());
            }
        };
        let single = |(a, s): (&Curve, &Service)| (a.pieces().len() == 1).then(|| s.clone());
        let rate = queue.drain.curve().final_slope().floor().to_integer();
        Ok(Self {
            delay: parts.sum(),
            parts,
            backlog: all.backlog,
            rate: u64::try_from(rate).unwrap_or(u64::MAX),
            lossless: all.lossless,
            limited: queue.limited.clone(),
            through: all.through.clone(),
            burst: queue.alone.or(waits).and_then(single),
            longest: len,
        })
    }
}

/// A queue that is first in, first out: what comes to it, and what it is guaranteed.
struct Queue<'a> {
    drain: &'a Service,
    arrivals: Option<&'a Curve>,
    alone: Option<(&'a Curve, &'a Service)>,
    limited: Option<Limited>,
}

/// What holds for all queues of a leaf together.
struct Together {
    backlog: u64,
    lossless: bool,
    through: Option<(Service, Vec<u16>)>,
}

impl Together {
    fn of(
        guarantee: &Guarantee,
        load: &Load,
        leaf: u16,
        limit: impl Fn(u16) -> QueueLimit,
        shortest: &[u32],
    ) -> Self {
        let beside = &guarantee.beside;
        let longest = |l: u16| load.leaves[usize::from(l)].longest;
        let packet = beside.iter().map(|l| longest(*l)).max().unwrap_or(0);
        let alone = guarantee.alone.as_ref().map(|(a, s)| (a, s));
        let waits = guarantee.arrivals.as_ref().map(|a| (a, &guarantee.drain));
        let come = alone.into_iter().chain(waits);
        let come = come.filter_map(|(a, s)| waiting(a, s, packet, load).ok());
        let come = come.min().unwrap_or(u64::MAX);
        let least = beside.iter().map(|l| shortest[usize::from(*l)]).min();
        let packets = come / u64::from(least.unwrap_or(1).max(1));
        let fits = |limit: QueueLimit| {
            limit.packets.is_none_or(|n| packets <= n.into())
                && limit.bytes.is_none_or(|n| come <= n)
        };
        let rooms = guarantee.shares.iter().map(|s| s.room);
        let mut limits = beside.iter().map(|l| limit(*l)).chain(rooms);
        // The discipline knows nothing of packets in the ring.
        let ring = u64::from(load.ring - 1) * u64::from(longest(leaf));
        let in_order = alone.filter(|_| guarantee.shares.is_empty());
        Self {
            backlog: come
                .min(bytes(limit(leaf), longest(leaf)).unwrap_or(u64::MAX))
                .saturating_add(ring),
            lossless: guarantee.only_limits && limits.all(fits),
            through: in_order.map(|(_, s)| (s.clone(), beside.clone())),
        }
    }
}

/// The most bytes that wait. Where whole packets leave when a service has served them, one that
/// waits has its transmission before it then.
fn waiting(come: &Curve, service: &Service, longest: u32, load: &Load) -> Result<u64, NoBound> {
    if service.is_smooth() {
        return come.vertical(service.curve());
    }
    let sent = match load.line {
        None => load.rate.tx_time(longest),
        Some(_) => Dur::ZERO,
    };
    let begun = service.curve().jittered(sent)?;
    come.vertical(&begun.after_bytes(longest.into())?)
}

/// The most bytes in a queue of this limit.
fn bytes(limit: QueueLimit, longest: u32) -> Option<u64> {
    let packets = limit.packets.map(|n| u64::from(n) * u64::from(longest));
    packets.into_iter().chain(limit.bytes).min()
}

/// The bounds of a leaf.
#[derive(Debug)]
pub(crate) struct Found {
    /// Of all its packets.
    pub(crate) bound: Result<HopBound, Reason>,
    /// Of each flow by place in [`Load::flows`], where they are not first in, first out.
    pub(crate) flows: BTreeMap<u32, Result<Arc<HopBound>, Reason>>,
}

impl Found {
    /// Nothing, for this reason.
    pub(crate) fn none(why: Reason) -> Self {
        Self {
            bound: Err(why),
            flows: BTreeMap::new(),
        }
    }

    /// Of a leaf of which this is guaranteed; `limit`: of each leaf, `shortest`: by leaf the
    /// shortest packet in bytes on the link.
    pub(crate) fn of(
        guarantee: &Guarantee,
        load: &Load,
        leaf: u16,
        limit: impl Fn(u16) -> QueueLimit + Copy,
        shortest: &[u32],
    ) -> Self {
        let all = Together::of(guarantee, load, leaf, limit, shortest);
        if guarantee.shares.is_empty() {
            return Self {
                bound: in_order(guarantee, load, leaf, limit, &all),
                flows: BTreeMap::new(),
            };
        }
        let mut flows = BTreeMap::new();
        for share in &guarantee.shares {
            of_share(share, guarantee, load, &all, &mut flows);
        }
        let failed = flows.values().find_map(|f| f.as_ref().err());
        let longest = flows.values().filter_map(|f| f.as_ref().ok());
        let longest = longest.max_by_key(|b| b.delay);
        let bound = match (failed, longest) {
            (Some(why), _) => Err(why.clone()),
            (None, Some(bound)) => Ok((**bound).clone()),
            (None, None) => Err("nothing is known of the flows that come to it".into()),
        };
        Self { bound, flows }
    }
}

/// Of a leaf that is first in, first out.
fn in_order(
    guarantee: &Guarantee,
    load: &Load,
    leaf: u16,
    limit: impl Fn(u16) -> QueueLimit,
    all: &Together,
) -> Result<HopBound, Reason> {
    let longest = |l: u16| load.leaves[usize::from(l)].longest;
    // All leaves that are first in, first out with it.
    let sum = |sum: u64, l: &u16| sum.checked_add(bytes(limit(*l), longest(*l))?);
    let in_packets = limit(leaf).bytes.is_none();
    let full = guarantee.beside.iter().try_fold(0, sum);
    let queue = Queue {
        drain: &guarantee.drain,
        arrivals: guarantee.arrivals.as_ref(),
        alone: guarantee.alone.as_ref().map(|(a, s)| (a, s)),
        limited: full.map(|bytes| Limited {
            bytes,
            longest: if in_packets { longest(leaf) } else { 0 },
            drain: guarantee.drain.clone(),
        }),
    };
    HopBound::of(&queue, longest(leaf), all)
}

/// The bounds of the flows of a queue, or of several that are alike.
fn of_share(
    share: &Share,
    guarantee: &Guarantee,
    load: &Load,
    all: &Together,
    flows: &mut BTreeMap<u32, Result<Arc<HopBound>, Reason>>,
) {
    let in_packets = share.limit.bytes.is_none();
    let limited = bytes(share.limit, share.longest).map(|bytes| Limited {
        bytes,
        longest: if in_packets { share.longest } else { 0 },
        drain: share.full.as_ref().unwrap_or(&share.drain).clone(),
    });
    let plain = guarantee.alone.as_ref().map(|(a, _)| a);
    // Many flows are alike.
    let mut last: Option<(&FlowLoad, Result<Arc<HopBound>, Reason>)> = None;
    for place in &share.flows {
        let flow = &load.flows[*place as usize];
        let alike = |o: &FlowLoad| {
            o.longest == flow.longest && (share.together || o.arrivals == flow.arrivals)
        };
        let bound = match &last {
            Some((other, bound)) if alike(other) => bound.clone(),
            _ => {
                // What comes to the whole leaf bounds what comes of it, too.
                let own = flow.arrivals.as_ref().filter(|_| !share.together);
                let queue = Queue {
                    drain: &share.drain,
                    arrivals: own.or(guarantee.arrivals.as_ref()),
                    alone: own.or(plain).zip(share.alone.as_ref()),
                    limited: limited.clone(),
                };
                HopBound::of(&queue, flow.longest, all).map(Arc::new)
            }
        };
        last = Some((flow, bound.clone()));
        let worst = flows.entry(*place).or_insert_with(|| bound.clone());
        match (&worst, &bound) {
            (Ok(before), Ok(now)) if now.delay <= before.delay => {}
            (Err(_), _) => {}
            _ => *worst = bound,
        }
    }
}

/// The delay of what an arrival curve lets come.
fn come(arrivals: &Curve, service: &Service) -> Result<Parts, NoBound> {
    let (alone, more) = service.parts(|s| arrivals.horizontal(s))?;
    Ok(Parts {
        from: From::Arrivals,
        own: service.line_alone().served_in(alone)?,
        alone,
        more,
    })
}

fn shorter(a: Parts, b: Parts) -> Parts {
    if b.sum() < a.sum() { b } else { a }
}
