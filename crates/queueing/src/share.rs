//! What a fair queue guarantees each of its queues.
//!
//! A scheduler says what other queues may send while one that waits sends x bytes
//! ([`Fairness::meanwhile`]). The queue is served x when that, x itself and what is in front have
//! been sent by the whole: S. M. Tabatabaee and J.-Y. Le Boudec, "Deficit Round-Robin: A Second
//! Network Calculus Analysis", RTAS 2021, theorem 1, for any such scheduler. All hold where a
//! packet of the queue has been sent; in between the queue may have got a packet less.

mod bounded;

use std::collections::BTreeMap;

use spillgate_core::curve::{Curve, Exact, NoBound};
use spillgate_core::{Dscp, Dur};

use crate::evidence::QueueLimit;
use crate::guarantee::{FlowLoad, Load, Part, Reason, Service};
use crate::leaf::Leaf;

/// Rates of sending are compared in parts of this, rounded to the safe side.
pub(crate) const PARTS: u128 = 1 << 20;

pub(crate) const UNKNOWN: &str = "no guarantee of this fair queue is known";

/// Turns after which a queue's service goes on as a line.
const ROUNDS: usize = 2;

/// A queue of a fair queue, as its scheduler sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Member {
    /// Its longest packet, in bytes on the link.
    pub(crate) longest: u64,
    /// Its shortest packet, in bytes on the link.
    pub(crate) shortest: u64,
    /// The least and the most that its scheduler may weigh it.
    pub(crate) weight: (u64, u64),
}

impl Member {
    /// What bounds the packets of either from both sides.
    fn with(&self, other: &Self) -> Self {
        let (mine, theirs) = (self.weight, other.weight);
        Self {
            longest: self.longest.max(other.longest),
            shortest: self.shortest.min(other.shortest),
            weight: (mine.0.min(theirs.0), mine.1.max(theirs.1)),
        }
    }
}

/// Other queues: alike ones with their number.
pub(crate) type Others = [(Member, u64)];

/// A sum over queues.
pub(crate) fn sum(others: &Others, of: impl Fn(&Member) -> u128) -> u128 {
    let all = others
        .iter()
        .map(|(m, n)| of(m).saturating_mul((*n).into()));
    all.fold(0, u128::saturating_add)
}

/// What other queues send at most while a queue that waits sends x bytes: the last of these is that
/// of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Meanwhile {
    /// `ahead`, and `others` for each whole `turn` in x + `early`; all in bytes.
    Turns {
        ahead: u128,
        turn: u64,
        early: u64,
        others: u128,
    },
    /// `ahead` bytes, and for each of its own `parts` of [`PARTS`].
    Evenly { ahead: u128, parts: u128 },
    /// Whatever has come by this time after a packet came.
    Later(Dur),
    /// What is due earlier, in the order of the times at which packets would leave lines of their
    /// own of `own` b/s, of `all` b/s together, rounded down to `rounded` in all; and `ahead`
    /// bytes. That says nothing of any time in which it waits.
    Clock {
        own: u64,
        all: u64,
        ahead: u128,
        rounded: Dur,
    },
}

impl Meanwhile {
    /// What is left of `whole` after `own` bytes more in front: in any time, and, nearer, up to
    /// `full` bytes.
    fn leaves(
        &self,
        whole: &Service,
        own: u64,
        full: Option<u64>,
    ) -> Result<(Service, Option<Service>), NoBound> {
        match *self {
            Self::Turns {
                ahead,
                turn,
                early,
                others,
            } => {
                // Turns that are over before it has sent anything.
                let over = u128::from(early / turn).saturating_mul(others);
                let (ahead, early) = (ahead.saturating_add(over), early % turn);
                let ahead = fitting(ahead.saturating_add(own.into()))?;
                let others = fitting(others)?;
                let front = whole.after(ahead)?;
                let first = turn - early;
                let curve = whole.curve();
                let left = curve.in_turns(ahead, first, (turn, others), ROUNDS)?;
                let to_full = |bytes: u64| {
                    let turns = bytes.saturating_add(early) / turn;
                    let all = fitting(u128::from(turns) * u128::from(others) + u128::from(ahead))?;
                    Ok(front.down_to(Part::Share, curve.after_bytes(all)?))
                };
                let to_full = full.map(to_full).transpose()?;
                Ok((front.down_to(Part::Share, left), to_full))
            }
            Self::Evenly { ahead, parts } => {
                let all = i128::try_from(parts.saturating_add(PARTS));
                let all = all.map_err(|_| NoBound::Overflow)?;
                let front = whole.after(fitting(ahead.saturating_add(own.into()))?)?;
                Ok((front.share(Exact::new(PARTS as i128, all))?, None))
            }
            Self::Later(by) => {
                let front = whole.after(own)?;
                let later = front.curve().delayed(by)?;
                Ok((front.down_to(Part::Share, later), None))
            }
            Self::Clock { .. } => Ok((whole.down_to(Part::Share, Curve::zero()), None)),
        }
    }

    /// What is left from where neither waits nor is in transmission what belongs to it; none: the
    /// same.
    ///
    /// What is in transmission stands for the packet more of its queue, but for a byte. A queue
    /// with turns leaves the round when its last packet begins to be sent: what comes while it is
    /// waits for a turn of each other anew, so only what waits counts from there on.
    fn leaves_alone(&self, whole: &Whole<'_>) -> Result<Option<Service>, Reason> {
        match *self {
            Self::Evenly { .. } if whole.bare => Ok(Some(self.leaves(whole.service, 1, None)?.0)),
            Self::Clock {
                own,
                all,
                ahead,
                rounded,
            } => {
                let front = whole.service.after(fitting(ahead)?)?;
                let line =
                    |bps: u64| Curve::line(Exact::from_integer(0), Exact::from_integer(bps.into()));
                if line(all).final_slope() > front.curve().final_slope() {
                    return Err("the rates of all flows come to more than it is served".into());
                }
                let late = line(all).horizontal(front.curve())? + rounded;
                Ok(Some(front.down_to(Part::Share, line(own).delayed(late)?)))
            }
            _ => Ok(None),
        }
    }
}

/// Rounding tags down to units lets a queue send more by this part at most.
pub(crate) fn rounded(parts: u128, m: &Member) -> u128 {
    match m.weight.0 == m.weight.1 && m.weight.0.is_power_of_two() {
        true => parts,
        false => parts + (parts * 16).div_ceil(PARTS * u128::from(m.shortest)),
    }
}

/// By weight, after so many bytes.
pub(crate) fn evenly(own: &Member, others: &Others, ahead: u128) -> Meanwhile {
    let weight = u128::from(own.weight.0);
    let parts = |m: &Member| rounded((u128::from(m.weight.1) * PARTS).div_ceil(weight), m);
    Meanwhile::Evenly {
        ahead,
        parts: sum(others, parts),
    }
}

fn fitting(bytes: u128) -> Result<u64, NoBound> {
    u64::try_from(bytes).map_err(|_| NoBound::Overflow)
}

/// A scheduler of queues that packets are sorted into by flow.
pub(crate) trait Fairness {
    /// The least and the most that it weighs packets of a code point, or of any.
    fn weights(&self, dscp: Option<Dscp>) -> (u64, u64);
    /// The number of queues, where a hash sorts into them; none: each flow has its own.
    fn hashed(&self) -> Option<u32>;
    /// What `others` may send meanwhile; of several the worst may happen.
    fn meanwhile(&self, own: &Member, others: &Others, load: &Load) -> Vec<Meanwhile>;
    /// Why that is nothing.
    fn nothing(&self) -> &'static str {
        UNKNOWN
    }
    /// What one queue holds at most, and up to what all together lose no packet.
    fn holds(&self, own: &Member, others: &Others) -> (QueueLimit, QueueLimit);
    /// Whether what another queue may send meanwhile does not depend on the rest.
    fn bounds_each(&self) -> bool {
        false
    }
    /// Whether packets of a flow with different code points are in different queues.
    fn sorts_by_dscp(&self) -> bool {
        false
    }
    /// Whether packets of one flow may be in any of its queues.
    fn mixes(&self) -> bool {
        false
    }
    /// Why nothing is known, if so, with so many flows.
    fn unknown(&self, _flows: u64) -> Option<Reason> {
        None
    }
}

/// A queue of a fair queue, first in, first out by itself, or several that are alike.
#[derive(Clone, Debug)]
pub struct Share {
    /// Its flows, by place in [`Load::flows`].
    pub flows: Vec<u32>,
    /// Whether all of them may be in it; else each is in one of its own.
    pub together: bool,
    /// Its longest packet, in bytes on the link.
    pub longest: u32,
    /// As [`crate::Guarantee::drain`].
    pub drain: Service,
    /// The same up to a full queue, if nearer.
    pub full: Option<Service>,
    /// The same from where neither waits nor is in transmission what belongs to it; none: as
    /// `drain`.
    pub alone: Option<Service>,
    /// What it holds at most: a packet and those before it.
    pub limit: QueueLimit,
    /// What all queues together may hold before one of its packets can be lost.
    pub room: QueueLimit,
}

/// What the queues of a leaf share.
pub(crate) struct Whole<'a> {
    pub(crate) service: &'a Service,
    /// A packet of the queue itself may be in transmission beside this service.
    pub(crate) own_in_front: bool,
    /// Nothing else is in front.
    pub(crate) bare: bool,
}

/// A flow of a leaf.
struct Sorted {
    place: u32,
    member: Member,
    /// How many queues it may fill.
    queues: u64,
}

/// What each queue of a leaf is guaranteed.
pub(crate) fn shares(
    of: &dyn Fairness,
    leaf: u16,
    load: &Load,
    whole: &Whole<'_>,
    dscp: impl Fn(&FlowLoad) -> Option<Dscp>,
) -> Result<Vec<Share>, Reason> {
    let comes = |f: &&FlowLoad| f.leaf.is_none_or(|l| l == leaf);
    let flows = (0_u32..).zip(&load.flows).filter(|(_, f)| comes(f));
    let sort = |(place, f): (u32, &FlowLoad)| Sorted {
        place,
        member: Member {
            longest: f.longest.max(1).into(),
            shortest: f.shortest.max(1).into(),
            weight: of.weights(dscp(f)),
        },
        // Later flows of the same number have other hashes.
        queues: match of.hashed() {
            Some(queues) if f.renewed || of.sorts_by_dscp() && dscp(f).is_none() => queues.into(),
            _ => f.numbers.into(),
        },
    };
    let flows: Vec<Sorted> = flows.map(sort).collect();
    let count = flows.iter().fold(0_u64, |n, f| n.saturating_add(f.queues));
    if let Some(why) = of.unknown(count) {
        return Err(why);
    }
    if of.mixes() {
        return mixed(of, &flows, load, whole);
    }
    let mut alike = BTreeMap::<Member, (Vec<u32>, u64)>::new();
    for f in &flows {
        let (places, queues) = alike.entry(f.member).or_default();
        places.push(f.place);
        *queues = queues.saturating_add(f.queues);
    }
    // The others of a queue of this kind.
    let without = |own: &Member| -> Vec<(Member, u64)> {
        let left = |(m, (_, n)): (&Member, &(Vec<u32>, u64))| (*m, n - u64::from(m == own));
        let others = alike.iter().map(left).filter(|(_, n)| *n > 0).collect();
        capped(others, of.hashed())
    };
    let mut found = Vec::new();
    for (own, (places, _)) in &alike {
        let others = without(own);
        found.extend(share(of, (own, &others), (places, false), load, whole)?);
    }
    let all = alike.keys().copied().reduce(|a, b| a.with(&b));
    if let Some(all) = all.filter(|_| of.hashed().is_some() && count > 1) {
        // It is not known which flows share a queue, but then there is one fewer of the others: of
        // the longest kinds all but two.
        let mut left = count - 2;
        let mut kinds: Vec<_> = alike.iter().map(|(m, (_, n))| (*m, *n)).collect();
        kinds.sort_unstable_by(|a, b| b.cmp(a));
        for (kind, n) in &mut kinds {
            (kind.weight, kind.shortest) = (all.weight, all.shortest);
            *n = left.min(*n);
            left -= *n;
        }
        kinds.retain(|(_, n)| *n > 0);
        let others = capped(kinds, of.hashed());
        let places: Vec<u32> = flows.iter().map(|f| f.place).collect();
        found.extend(share(of, (&all, &others), (&places, true), load, whole)?);
    }
    if found.is_empty() {
        return Err(of.nothing().into());
    }
    match of.bounds_each() && of.hashed().is_none() {
        true => bounded::bounded(of, found, &flows, load, whole),
        false => Ok(found),
    }
}

/// Where packets of one flow may be in any queue, all flows share each of them.
fn mixed(
    of: &dyn Fairness,
    flows: &[Sorted],
    load: &Load,
    whole: &Whole<'_>,
) -> Result<Vec<Share>, Reason> {
    let all = flows.iter().map(|f| f.member).reduce(|a, b| a.with(&b));
    let all = all.ok_or(UNKNOWN)?;
    let beside = u64::from(of.hashed().unwrap_or(1)) - 1;
    let places: Vec<u32> = flows.iter().map(|f| f.place).collect();
    share(of, (&all, &[(all, beside)]), (&places, true), load, whole)
}

/// Of a queue that is first in, first out, its flows by the limit of their code points, if any has
/// one: a packet finds that much before it at most.
pub(crate) fn by_limit(
    queue: &Leaf,
    leaf: u16,
    load: &Load,
    (drain, alone): (&Service, Option<&Service>),
    dscp: impl Fn(&FlowLoad) -> Option<Dscp>,
) -> Vec<Share> {
    let mut shares: Vec<Share> = Vec::new();
    for (place, flow) in (0_u32..).zip(&load.flows) {
        if flow.leaf.is_some_and(|l| l != leaf) {
            continue;
        }
        let limit = queue.limit_of(dscp(flow));
        match shares.iter_mut().find(|s| s.limit == limit) {
            Some(share) => share.flows.push(place),
            None => shares.push(Share {
                flows: vec![place],
                together: true,
                longest: load.leaves[usize::from(leaf)].longest,
                drain: drain.clone(),
                full: None,
                alone: alone.cloned(),
                limit,
                room: limit,
            }),
        }
    }
    if shares.iter().all(|s| s.limit == queue.limit()) {
        shares.clear();
    }
    shares
}

/// Beside one queue there are at most all others, whatever is hashed into them.
fn capped(others: Vec<(Member, u64)>, queues: Option<u32>) -> Vec<(Member, u64)> {
    let most = u64::from(queues.unwrap_or(u32::MAX)) - 1;
    let count = others.iter().fold(0_u64, |n, o| n.saturating_add(o.1));
    let any = others.iter().map(|o| o.0).reduce(|a, b| a.with(&b));
    match any.filter(|_| queues.is_some() && count > most) {
        Some(any) => vec![(any, most)],
        None => others,
    }
}

fn share(
    of: &dyn Fairness,
    (own, others): (&Member, &Others),
    (flows, together): (&[u32], bool),
    load: &Load,
    whole: &Whole<'_>,
) -> Result<Vec<Share>, Reason> {
    let (limit, room) = of.holds(own, others);
    let full = limit.most_bytes(own.longest);
    let front = if whole.own_in_front { own.longest } else { 0 };
    let meanwhile = of.meanwhile(own, others, load);
    let shares = meanwhile.into_iter().map(|m| -> Result<Share, Reason> {
        let (drain, full) = m.leaves(whole.service, front, full)?;
        let alone = m.leaves_alone(whole)?;
        Ok(Share {
            flows: flows.to_vec(),
            together,
            longest: u32::try_from(own.longest).unwrap_or(u32::MAX),
            drain,
            full,
            alone,
            limit,
            room,
        })
    });
    shares.collect()
}
