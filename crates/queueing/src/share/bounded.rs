//! What others leave a queue by what comes to them.
//!
//! If a flow k sends no more than α and each of its packets has left d after it came, of it no more
//! than α(t + d) is sent in a time t: what ends after the beginning came no more than d before it.
//! Where the scheduler bounds each other queue by what a queue sends itself, whatever the rest do,
//! that queue and those of which nothing is known share what such flows leave of the service. Both
//! bounds hold, so the larger service counts at any time; the delays that follow make α(t + d) less
//! in the next round.
//!
//! Sources: A. Bouillard, "Individual Service Curves for Bandwidth-Sharing Policies Using Network
//! Calculus", IEEE Networking Letters 3, 2021; S. M. Tabatabaee and J.-Y. Le Boudec, "Deficit
//! Round-Robin: A Second Network Calculus Analysis", RTAS 2021 (its iteration, of which the sets
//! with none and with all known flows are taken here).

use std::collections::BTreeMap;

use spillgate_core::Dur;
use spillgate_core::curve::{Curve, NoBound};

use super::{Fairness, Member, Share, Sorted, Whole, share};
use crate::guarantee::{Load, Part, Reason, Service};

/// Rounds in which delays get less.
const ROUNDS: usize = 3;

/// Flows times pieces of their curves up to which this is worth its time.
const MOST: usize = 1 << 14;

/// Flows in a row of which the same comes.
struct Alike<'a> {
    member: Member,
    arrivals: Option<&'a Curve>,
    flows: Vec<u32>,
    queues: u64,
    shares: Vec<Share>,
}

impl Alike<'_> {
    /// What all of them send at most; none if that is not known.
    fn sends(&self) -> Option<Curve> {
        let arrivals = self.arrivals?;
        let delays = self.shares.iter().map(|s| s.delay(arrivals));
        let longest = delays.collect::<Option<Vec<Dur>>>()?.into_iter().max()?;
        let late = arrivals.jittered(longest).and_then(|c| c.rounded_up());
        late.ok()
    }
}

impl Share {
    /// The longest delay of what an arrival curve lets come, or of a full queue.
    fn delay(&self, arrivals: &Curve) -> Option<Dur> {
        let serves = self.alone.as_ref().into_iter().chain([&self.drain]);
        let by_arrivals = serves.filter_map(|s| arrivals.horizontal(s.curve()).ok());
        let full = self.limit.most_bytes(self.longest.into());
        let drain = self.full.as_ref().unwrap_or(&self.drain);
        let by_limit = full.and_then(|bytes| drain.curve().serves(bytes).ok());
        by_arrivals.chain(by_limit).min()
    }

    /// The same with the larger service of this and `other`, which has up to `front` bytes in front
    /// of that of `whole`.
    fn or(&mut self, other: &Self, whole: &Service, front: u64) -> Result<(), NoBound> {
        let larger = |mine: &mut Service, theirs: &Service, front| -> Result<(), NoBound> {
            let curve = mine.curve().max(theirs.curve())?;
            if curve != *mine.curve() {
                *mine = whole.after(front)?.down_to(Part::Share, curve);
            }
            Ok(())
        };
        larger(&mut self.drain, &other.drain, front)?;
        if let Some((mine, theirs)) = self.full.as_mut().zip(other.full.as_ref()) {
            larger(mine, theirs, front)?;
        }
        if let Some((mine, theirs)) = self.alone.as_mut().zip(other.alone.as_ref()) {
            larger(mine, theirs, 1)?;
        }
        Ok(())
    }
}

/// The shares of queues of single flows, where others leave them more than `found` has it.
pub(super) fn bounded(
    of: &dyn Fairness,
    found: Vec<Share>,
    flows: &[Sorted],
    load: &Load,
    whole: &Whole<'_>,
) -> Result<Vec<Share>, Reason> {
    let mut of_flow = BTreeMap::<u32, Vec<&Share>>::new();
    for share in &found {
        for place in &share.flows {
            of_flow.entry(*place).or_default().push(share);
        }
    }
    let mut alike: Vec<Alike<'_>> = Vec::new();
    for flow in flows {
        let load = &load.flows[flow.place as usize];
        // Others take the numbers of flows that end.
        let single = flow.queues == 1 && !load.renewed;
        let arrivals = load.arrivals.as_ref().filter(|_| single);
        match alike.last_mut() {
            Some(last) if (last.member, last.arrivals) == (flow.member, arrivals) => {
                last.flows.push(flow.place);
                last.queues += flow.queues;
            }
            _ => alike.push(Alike {
                member: flow.member,
                arrivals,
                flows: vec![flow.place],
                queues: flow.queues,
                shares: of_flow[&flow.place].iter().copied().cloned().collect(),
            }),
        }
    }
    for _ in 0..ROUNDS {
        let sends: Vec<Option<Curve>> = alike.iter().map(Alike::sends).collect();
        let mut all = Curve::zero();
        for (a, one) in alike.iter().zip(&sends) {
            let Some(one) = one else { continue };
            all = all.plus(&one.scaled(i128::from(a.queues).into())?)?;
            if alike.len() * all.pieces().len() > MOST {
                return Ok(found);
            }
        }
        if all == Curve::zero() {
            return Ok(found);
        }
        let unknown: Vec<(Member, u64)> = alike
            .iter()
            .zip(&sends)
            .filter(|(_, sends)| sends.is_none())
            .map(|(a, _)| (a.member, a.queues))
            .collect();
        for (a, own) in alike.iter_mut().zip(&sends) {
            let mut others = unknown.clone();
            let rest = match own {
                Some(own) => all.minus(own)?,
                None => {
                    let same = others.iter_mut().find(|(m, n)| *m == a.member && *n > 0);
                    if let Some((_, n)) = same {
                        *n -= 1;
                    }
                    others.retain(|(_, n)| *n > 0);
                    all.clone()
                }
            };
            if rest == Curve::zero() {
                continue;
            }
            let left = whole.service.curve().left_over(&rest)?;
            let left = Whole {
                service: &whole.service.down_to(Part::Share, left),
                ..*whole
            };
            let flows = (&a.flows[..], false);
            let fresh = share(of, (&a.member, &others), flows, load, &left)?;
            let front = if whole.own_in_front {
                a.member.longest
            } else {
                0
            };
            for (mine, fresh) in a.shares.iter_mut().zip(&fresh) {
                mine.or(fresh, whole.service, front)?;
            }
        }
    }
    let shares = alike.into_iter().flat_map(|a| {
        let of = move |s: Share| Share {
            flows: a.flows.clone(),
            ..s
        };
        a.shares.into_iter().map(of)
    });
    Ok(shares.collect())
}
