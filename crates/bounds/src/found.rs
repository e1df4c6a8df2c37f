//! The bounds of a leaf: of all its packets, and of flows with queues of their own.

use std::collections::BTreeMap;
use std::sync::Arc;

use spillgate_core::Dur;
use spillgate_core::curve::{Curve, NoBound};
use spillgate_queueing::{FlowLoad, Guarantee, Load, QueueLimit, Reason, Service, Share};

use crate::hop::{Arrivals, HopBound, Limited, Longest, Queue};

/// What holds for all queues of a leaf together.
#[derive(Debug)]
pub(crate) struct Together {
    pub(crate) backlog: u64,
    pub(crate) lossless: bool,
    pub(crate) beside: Vec<u16>,
    /// They are one.
    pub(crate) in_order: bool,
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
        let most = limit(leaf).most_bytes(longest(leaf).into());
        // The discipline knows nothing of packets in the ring.
        let ring = u64::from(load.ring - 1) * u64::from(longest(leaf));
        Self {
            backlog: come.min(most.unwrap_or(u64::MAX)).saturating_add(ring),
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

/// The bounds of a leaf.
#[derive(Debug)]
pub(crate) struct Found {
    /// Of all its packets.
    pub(crate) bound: Result<Arc<HopBound>, Reason>,
    /// Of each flow by place in [`Load::flows`], where they are not first in, first out.
    pub(crate) flows: OfFlows,
}

/// By place of the flow.
pub(crate) type OfFlows = BTreeMap<u32, OfFlow>;

/// The bound of a flow, which others may share, or why there is none.
type OfFlow = Result<Arc<HopBound>, Reason>;

impl Found {
    /// Nothing, for this reason.
    pub(crate) fn none(why: Reason) -> Self {
        Self {
            bound: Err(why),
            flows: OfFlows::new(),
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
                flows: OfFlows::new(),
            };
        }
        let flows = of_shares(&guarantee, load, &all);
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
    let most = |l: u16| limit(l).most_bytes(longest(l).into());
    let sum = |sum: u64, l: &u16| sum.checked_add(most(*l)?);
    let in_packets = limit(leaf).bytes.is_none();
    let full = guarantee.beside.iter().try_fold(0, sum);
    let (arrivals, alone) = guarantee.alone.unzip();
    let limited = full.map(|bytes| Limited {
        bytes,
        longest: if in_packets { longest(leaf) } else { 0 },
        drain: guarantee.drain.clone(),
    });
    let queue = Arc::new(Queue::new(guarantee.drain, alone, limited, all));
    let come = Arrivals {
        waits: guarantee.arrivals.as_ref(),
        alone: arrivals.as_ref(),
    };
    let len = longest(leaf);
    let found = queue.longest(come, len, |_| false);
    let found = found.unwrap_or_else(|| Err(NoBound::Unbounded.into()))?;
    Ok(queue.bound(come, found, len))
}

/// The bounds of flows with queues of their own: of each the worst of those it may be in, of equal
/// ones the first.
fn of_shares(guarantee: &Guarantee, load: &Load, all: &Arc<Together>) -> OfFlows {
    let shares = &guarantee.shares;
    let queue = |share: &Share| {
        let in_packets = share.limit.bytes.is_none();
        let limited = share
            .limit
            .most_bytes(share.longest.into())
            .map(|bytes| Limited {
                bytes,
                longest: if in_packets { share.longest } else { 0 },
                drain: share.full.as_ref().unwrap_or(&share.drain).clone(),
            });
        let (drain, alone) = (share.drain.clone(), share.alone.clone());
        Arc::new(Queue::new(drain, alone, limited, Arc::clone(all)))
    };
    let queues: Vec<_> = shares.iter().map(queue).collect();
    // What comes to the whole leaf bounds what comes of it, too.
    let whole = Arrivals {
        waits: guarantee.arrivals.as_ref(),
        alone: guarantee.alone.as_ref().map(|(a, _)| a),
    };
    // By flow the queues, first those of all together, of which many flows have the same bound.
    let mut of_flow = vec![Vec::new(); load.flows.len()];
    for together in [true, false] {
        for (i, share) in shares
            .iter()
            .enumerate()
            .filter(|(_, s)| s.together == together)
        {
            share
                .flows
                .iter()
                .for_each(|place| of_flow[*place as usize].push(i));
        }
    }
    let mut of_all: BTreeMap<(usize, u32), Result<Longest<'_>, Reason>> = BTreeMap::new();
    let mut flows = OfFlows::new();
    // Many flows are alike.
    let mut last: Option<(&FlowLoad, &Vec<usize>, OfFlow)> = None;
    for ((place, flow), of) in (0_u32..).zip(&load.flows).zip(&of_flow) {
        if of.is_empty() {
            continue;
        }
        let len = flow.longest;
        let alike = |(other, theirs, _): &&(&FlowLoad, &Vec<usize>, OfFlow)| {
            (*theirs, other.longest) == (of, len) && other.arrivals == flow.arrivals
        };
        if let Some((.., bound)) = last.as_ref().filter(alike) {
            flows.insert(place, bound.clone());
            continue;
        }
        let own = flow.arrivals.as_ref().map(|a| Arrivals {
            waits: Some(a),
            alone: Some(a),
        });
        let come = |i: usize| own.filter(|_| !shares[i].together).unwrap_or(whole);
        let mut worst: Option<(usize, Result<Longest<'_>, Reason>)> = None;
        for &i in of {
            let is_less = |delay: Dur| match &worst {
                Some((first, Ok((most, _)))) => (delay, *first) <= (*most, i),
                _ => false,
            };
            let found = if shares[i].together {
                let found = || queues[i].longest(whole, len, |_| false);
                let known = of_all.entry((i, len));
                let known = known
                    .or_insert_with(|| found().unwrap_or_else(|| Err(NoBound::Unbounded.into())));
                Some(known.clone())
            } else {
                queues[i].longest(come(i), len, is_less)
            };
            let Some(found) = found else { continue };
            let is_worse = match (&worst, &found) {
                (None, _) | (Some((_, Ok(_))), Err(_)) => true,
                (Some((_, Err(_))), Ok(_)) => false,
                (Some((first, Err(_))), Err(_)) => i < *first,
                (Some((_, Ok(_))), Ok((delay, _))) => !is_less(*delay),
            };
            if is_worse {
                worst = Some((i, found));
            }
        }
        if let Some((i, found)) = worst {
            let bound = found.map(|found| Arc::new(queues[i].bound(come(i), found, len)));
            flows.insert(place, bound.clone());
            last = Some((flow, of, bound));
        }
    }
    flows
}
