//! The bound of one leaf, by what it is guaranteed.

use std::sync::Arc;

use spillgate_core::Dur;
use spillgate_core::curve::{Curve, NoBound};
use spillgate_queueing::{Part, Reason, Service};

use crate::found::Together;
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
pub(crate) struct Limited {
    /// Its bytes with the longest packets.
    pub(crate) bytes: u64,
    /// The longest packet, if it is limited in packets; else 0.
    pub(crate) longest: u32,
    pub(crate) drain: Service,
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
pub(crate) struct Arrivals<'a> {
    pub(crate) waits: Option<&'a Curve>,
    pub(crate) alone: Option<&'a Curve>,
}

/// The longest delay of a queue, and the arrivals with the service by which it is that; none of
/// them: its limit.
pub(crate) type Longest<'a> = (Dur, Option<(&'a Curve, &'a Service)>);

/// A queue that is first in, first out: what it is guaranteed.
#[derive(Debug)]
pub(crate) struct Queue {
    drain: Service,
    alone: Option<Service>,
    /// The latter is nowhere less.
    alone_is_more: bool,
    limited: Option<Limited>,
    leaf: Arc<Together>,
}

impl Queue {
    pub(crate) fn new(
        drain: Service,
        alone: Option<Service>,
        limited: Option<Limited>,
        leaf: Arc<Together>,
    ) -> Self {
        let is_more = |a: &Service| a.curve().min(drain.curve()).as_ref() == Ok(drain.curve());
        Self {
            alone_is_more: alone.as_ref().is_some_and(is_more),
            drain,
            alone,
            limited,
            leaf,
        }
    }

    /// Of what comes, with packets of up to `len` bytes; none if `is_less` of a delay that it does
    /// not exceed.
    pub(crate) fn longest<'a>(
        &'a self,
        come: Arrivals<'a>,
        len: u32,
        is_less: impl Fn(Dur) -> bool,
    ) -> Option<Result<Longest<'a>, Reason>> {
        let by_limit = self.limited.as_ref().map(|l| l.delay(len));
        let mut found: Option<Longest<'_>> = None;
        let alone = come.alone.zip(self.alone.as_ref());
        let waits = come.waits.map(|a| (a, &self.drain));
        for (arrivals, service) in alone.into_iter().chain(waits) {
            // Of the same arrivals with less service.
            if found.is_some() && self.alone_is_more && come.alone == come.waits {
                continue;
            }
            if let Ok(delay) = arrivals.horizontal(service.curve()) {
                if is_less(delay) {
                    return None;
                }
                // Of equal ones the first.
                if found.is_none_or(|(least, _)| delay < least) {
                    found = Some((delay, Some((arrivals, service))));
                }
            }
        }
        Some(match (found, by_limit) {
            (_, Some(Ok(limit))) if is_less(limit) => return None,
            (Some((least, _)), Some(Ok(limit))) if limit < least => Ok((limit, None)),
            (Some(found), _) => Ok(found),
            (None, Some(limit)) => limit.map(|l| (l, None)).map_err(Reason::from),
            (None, None) => Err(match waits {
                Some(_) => "its queue has no limit, and more may come than is served",
                None => "its queue has no limit, and nothing bounds what comes to it",
            }
            .into()),
        })
    }

    pub(crate) fn bound(
        self: &Arc<Self>,
        come: Arrivals<'_>,
        (delay, by): Longest<'_>,
        len: u32,
    ) -> HopBound {
        let first = come.alone.zip(self.alone.as_ref());
        let first = first.or_else(|| Some((come.waits?, &self.drain)));
        // Of what comes in the order of a clock only that since it was idle is known.
        let served = self.alone.iter().chain([&self.drain]);
        let slope = served.map(|s| s.curve().final_slope().floor().to_integer());
        let rate = slope.max().unwrap_or(0);
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
