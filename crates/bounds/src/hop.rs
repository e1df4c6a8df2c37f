//! The bound of one leaf, by what it is guaranteed.

use std::collections::BTreeMap;
use std::sync::Arc;

use spillgate_core::Dur;
use spillgate_core::curve::{Curve, NoBound};
use spillgate_queueing::{Guarantee, Load, Part, QueueLimit, Reason, Service, Share};

use crate::halve::Changed;

/// What a leaf cannot exceed.
#[derive(Clone, Debug)]
pub struct HopBound {
    /// The longest time from the arrival of a packet until it has been sent: queueing and
    /// transmission.
    pub delay: Dur,
    /// What bounds it.
    pub from: From,
    /// The most bytes that wait, in the transmit ring too.
    pub backlog: u64,
    /// The rate that is guaranteed in the end, in b/s, rounded down.
    pub rate: u64,
    /// Whether no packet can be lost here.
    pub lossless: bool,
    queue: Arc<Queue>,
    /// The arrivals that bound the delay, and what serves them.
    come: Option<(Curve, Service)>,
    /// The service of a single burst.
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
    fn delay(&self, len: u32) -> Result<Dur, NoBound> {
        self.drain.curve().serves(self.up_to(len))
    }

    /// What that is the sum of.
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
        match &self.queue.limited {
            Some(limited) if len < self.longest && limited.longest > 0 => {
                Ok(limited.delay(len)?.min(self.delay))
            }
            _ => Ok(self.delay),
        }
    }

    /// What the longest delay is the sum of.
    ///
    /// # Errors
    /// If an exact value is too large.
    pub fn parts(&self) -> Result<Parts, NoBound> {
        self.parts_of(self.longest)
    }

    /// What [`Self::delay_of`] is the sum of.
    ///
    /// # Errors
    /// If an exact value is too large.
    pub fn parts_of(&self, len: u32) -> Result<Parts, NoBound> {
        match (&self.queue.limited, &self.come) {
            (Some(limited), _) if self.delay_of(len)? < self.delay => limited.parts(len),
            (_, Some((arrivals, service))) => come(arrivals, service),
            (Some(limited), None) => limited.parts(self.longest),
            (None, None) => Err(NoBound::Unbounded),
        }
    }

    /// From where none of its packets is at the port: its service, and the leaves that share it in
    /// the order of arrival.
    pub(crate) fn through(&self) -> Option<(&Service, &[u16])> {
        let queue = &self.queue;
        let service = queue.alone.as_ref().filter(|_| queue.leaf.in_order);
        Some((service?, &queue.leaf.beside))
    }

    /// The queue or burst that is served in this time, if it holds a packet.
    pub(crate) fn own_in(&self, parts: &Parts, time: Dur) -> Result<Option<Changed>, NoBound> {
        let limited = self.queue.limited.as_ref();
        let service = match parts.from {
            From::Limit => limited.map(|l| l.drain.curve()),
            From::Arrivals => self.burst.as_ref().map(Service::curve),
        };
        let own = service.map(|s| s.served_in(time)).transpose()?;
        let in_packets = limited.map_or(0, |l| u64::from(l.longest));
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
}

/// What may come to a queue: in any time in which packets of it wait, and from where none of them
/// is at the port.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Arrivals<'a> {
    waits: Option<&'a Curve>,
    alone: Option<&'a Curve>,
}

/// The longest delay of a queue, and the arrivals with the service by which it is that; none of
/// them: its limit.
type Longest<'a> = (Dur, Option<(&'a Curve, &'a Service)>);

/// A queue that is first in, first out: what it is guaranteed.
#[derive(Debug)]
struct Queue {
    drain: Service,
    alone: Option<Service>,
    limited: Option<Limited>,
    leaf: Arc<Together>,
}

impl Queue {
    /// Of what comes, with packets of up to `len` bytes.
    fn longest<'a>(&'a self, come: Arrivals<'a>, len: u32) -> Result<Longest<'a>, Reason> {
        let waits = come.waits.map(|a| (a, &self.drain));
        let alone = come.alone.zip(self.alone.as_ref());
        let delay =
            |(a, s): (&'a Curve, &'a Service)| Some((a.horizontal(s.curve()).ok()?, Some((a, s))));
        let by_arrivals = alone.into_iter().chain(waits).filter_map(delay);
        let by_limit = self.limited.as_ref().map(|l| l.delay(len));
        let found = by_arrivals.chain(by_limit.clone().and_then(|l| Some((l.ok()?, None))));
        // Of equal ones the first.
        found.min_by_key(|(delay, _)| *delay).ok_or_else(|| {
            let unlimited = match waits {
                Some(_) => "its queue has no limit, and more may come than is served",
                None => "its queue has no limit, and nothing bounds what comes to it",
            };
            match by_limit {
                Some(Err(why)) => why.into(),
                _ => unlimited.into(),
            }
        })
    }

    fn bound(self: &Arc<Self>, come: Arrivals<'_>, (delay, by): Longest<'_>, len: u32) -> HopBound {
        let first = come.alone.zip(self.alone.as_ref());
        let first = first.or(come.waits.map(|a| (a, &self.drain)));
        let rate = self.drain.curve().final_slope().floor().to_integer();
        HopBound {
            delay,
            from: by.map_or(From::Limit, |_| From::Arrivals),
            backlog: self.leaf.backlog,
            rate: u64::try_from(rate).unwrap_or(u64::MAX),
            lossless: self.leaf.lossless,
            queue: Arc::clone(self),
            come: by.map(|(a, s)| (a.clone(), s.clone())),
            burst: first.and_then(|(a, s)| (a.pieces().len() == 1).then(|| s.clone())),
            longest: len,
        }
    }
}

/// What holds for all queues of a leaf together.
#[derive(Debug)]
struct Together {
    backlog: u64,
    lossless: bool,
    beside: Vec<u16>,
    /// They are one.
    in_order: bool,
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
        Self {
            backlog: come
                .min(bytes(limit(leaf), longest(leaf)).unwrap_or(u64::MAX))
                .saturating_add(ring),
            lossless: guarantee.only_limits && limits.all(fits),
            beside: beside.clone(),
            in_order: guarantee.shares.is_empty(),
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
    pub(crate) bound: Result<Arc<HopBound>, Reason>,
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
        guarantee: Guarantee,
        load: &Load,
        leaf: u16,
        limit: impl Fn(u16) -> QueueLimit + Copy,
        shortest: &[u32],
    ) -> Self {
        let all = Arc::new(Together::of(&guarantee, load, leaf, limit, shortest));
        if guarantee.shares.is_empty() {
            return Self {
                bound: in_order(guarantee, load, leaf, limit, all).map(Arc::new),
                flows: BTreeMap::new(),
            };
        }
        let mut flows = BTreeMap::new();
        for share in &guarantee.shares {
            of_share(share, &guarantee, load, &all, &mut flows);
        }
        let failed = flows.values().find_map(|f| f.as_ref().err());
        let longest = flows.values().filter_map(|f| f.as_ref().ok());
        let longest = longest.max_by_key(|b| b.delay);
        let bound = match (failed, longest) {
            (Some(why), _) => Err(why.clone()),
            (None, Some(bound)) => Ok(Arc::clone(bound)),
            (None, None) => Err("nothing is known of the flows that come to it".into()),
        };
        Self { bound, flows }
    }
}

/// Of a leaf that is first in, first out.
fn in_order(
    guarantee: Guarantee,
    load: &Load,
    leaf: u16,
    limit: impl Fn(u16) -> QueueLimit,
    all: Arc<Together>,
) -> Result<HopBound, Reason> {
    let longest = |l: u16| load.leaves[usize::from(l)].longest;
    // All leaves that are first in, first out with it.
    let sum = |sum: u64, l: &u16| sum.checked_add(bytes(limit(*l), longest(*l))?);
    let in_packets = limit(leaf).bytes.is_none();
    let full = guarantee.beside.iter().try_fold(0, sum);
    let (arrivals, alone) = guarantee.alone.unzip();
    let queue = Arc::new(Queue {
        limited: full.map(|bytes| Limited {
            bytes,
            longest: if in_packets { longest(leaf) } else { 0 },
            drain: guarantee.drain.clone(),
        }),
        drain: guarantee.drain,
        alone,
        leaf: all,
    });
    let come = Arrivals {
        waits: guarantee.arrivals.as_ref(),
        alone: arrivals.as_ref(),
    };
    let len = longest(leaf);
    Ok(queue.bound(come, queue.longest(come, len)?, len))
}

/// The bounds of the flows of a queue, or of several that are alike; of each the worst counts.
fn of_share(
    share: &Share,
    guarantee: &Guarantee,
    load: &Load,
    all: &Arc<Together>,
    flows: &mut BTreeMap<u32, Result<Arc<HopBound>, Reason>>,
) {
    let in_packets = share.limit.bytes.is_none();
    let queue = Arc::new(Queue {
        drain: share.drain.clone(),
        alone: share.alone.clone(),
        limited: bytes(share.limit, share.longest).map(|bytes| Limited {
            bytes,
            longest: if in_packets { share.longest } else { 0 },
            drain: share.full.as_ref().unwrap_or(&share.drain).clone(),
        }),
        leaf: Arc::clone(all),
    });
    // What comes to the whole leaf bounds what comes of it, too.
    let (plain, whole) = (guarantee.alone.as_ref(), guarantee.arrivals.as_ref());
    // Many flows are alike.
    let mut last: Option<(Arrivals<'_>, u32, Result<Longest<'_>, Reason>)> = None;
    let mut made: Option<Arc<HopBound>> = None;
    for place in &share.flows {
        let flow = &load.flows[*place as usize];
        let own = flow.arrivals.as_ref().filter(|_| !share.together);
        let come = Arrivals {
            waits: own.or(whole),
            alone: own.or(plain.map(|(a, _)| a)),
        };
        let len = flow.longest;
        let found = match last.take() {
            Some((c, l, found)) if l == len && c == come => found,
            _ => {
                made = None;
                queue.longest(come, len)
            }
        };
        let worst = flows.get(place);
        let is_worse = match (worst, &found) {
            (None, _) => true,
            (Some(Ok(before)), Ok((now, _))) => *now > before.delay,
            (Some(Ok(_)), Err(_)) => true,
            (Some(Err(_)), _) => false,
        };
        if is_worse {
            let bound = found.clone().map(|found| {
                Arc::clone(made.get_or_insert_with(|| Arc::new(queue.bound(come, found, len))))
            });
            flows.insert(*place, bound);
        }
        last = Some((come, len, found));
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
