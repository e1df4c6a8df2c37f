//! HFSC: the hierarchical fair service curve.
//!
//! Sources: I. Stoica, H. Zhang, T. S. E. Ng, "A Hierarchical Fair Service Curve Algorithm for
//! Link-Sharing, Real-Time and Priority Services", SIGCOMM 1997; Linux `net/sched/sch_hfsc.c`
//! (P. McHardy, M. Soltys) for the upper limit, and for virtual times after a class was idle.
//!
//! Idea: a leaf with a real-time curve has an eligible time and a deadline. If some leaf is
//! eligible, the one with the earliest deadline sends. Else the tree is walked from the root: at
//! each step to the child with the least virtual time, which advances by what the child sent over
//! its link-sharing curve, among those that their upper limits let send. What a leaf sends by
//! link-sharing is not counted against its real-time curve, so it is not punished for it. The steps
//! are written out in `docs/models/hfsc.md`.
//!
//! Deviations: work is counted as time multiplied by rate, which is exact, and times are rounded up
//! to picoseconds (Linux: scaled integers, 64 ns); of equal deadlines and virtual times the class
//! that comes first in the list goes first (Linux: what was inserted first).
//!
//! Cost: O(depth log classes) for a packet.

use std::cmp::Reverse;

use spillgate_core::Time;

use super::curve::{Asked, NEVER, Running, UNITS, above};
use super::{Hierarchy, Kin, Order, Pick};
use crate::guarantee::{Guarantee, Load, Reason};
use crate::sched::heap::MinHeap;

/// The curves of a class.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Curves {
    pub(super) rt: Option<Asked>,
    pub(super) ls: Option<Asked>,
    pub(super) ul: Option<Asked>,
}

/// The real-time part of a leaf.
#[derive(Clone, Debug)]
struct RealTime {
    asked: Asked,
    deadline: Running,
    /// Work done by real-time turns.
    done: i128,
    /// Eligible time, deadline of the next packet and its length.
    e: u64,
    d: u64,
    next: u32,
}

impl RealTime {
    fn new(asked: Asked) -> Self {
        Self {
            asked,
            deadline: Running::new(asked, 0, 0),
            done: 0,
            e: 0,
            d: 0,
            next: 0,
        }
    }

    /// Eligible time and deadline anew.
    fn set_times(&mut self) {
        let eligible = match self.asked.is_concave() {
            true => self.deadline,
            false => self.deadline.without_knee(),
        };
        self.e = eligible.time(self.done);
        self.set_deadline();
    }

    fn set_deadline(&mut self) {
        let end = self.done + UNITS * i128::from(self.next);
        self.d = self.deadline.time(end);
    }
}

/// The link-sharing part of a class.
#[derive(Clone, Debug)]
struct Sharing {
    asked: Asked,
    running: Running,
    /// Virtual time, and what was added to it since the class was passed over.
    vt: u64,
    added: u64,
    /// How often it became active, and that number of its parent when it last did.
    period: u64,
    of_parent: u64,
    /// When its upper limits let it send.
    fits: u64,
}

impl Sharing {
    fn new(asked: Asked) -> Self {
        Self {
            asked,
            running: Running::new(asked, 0, 0),
            vt: 0,
            added: 0,
            period: 0,
            of_parent: 0,
            fits: 0,
        }
    }
}

#[derive(Clone, Debug)]
struct Limit {
    asked: Asked,
    running: Running,
    fits: u64,
}

/// The active children of a class, by their numbers among its children.
#[derive(Clone, Debug, Default)]
struct Family {
    /// The first child, in the list of children.
    first: u32,
    /// Those that may send, by virtual time.
    fit: MinHeap,
    /// The others, by the time from which on they may.
    unfit: MinHeap,
    latest: MinHeap<Reverse<u64>>,
    /// The virtual time of the child that was served last.
    served: u64,
    /// The largest virtual time of a child that became passive.
    left: u64,
}

impl Family {
    /// When one of them may send; 0 if one may already, or none is active.
    fn fits(&self) -> u64 {
        match self.unfit.first() {
            Some((fits, _)) if self.fit.is_empty() => fits,
            _ => 0,
        }
    }

    fn remove(&mut self, slot: u32) {
        self.fit.remove(slot);
        self.unfit.remove(slot);
        self.latest.remove(slot);
    }
}

#[derive(Clone, Debug)]
struct Class {
    parent: u16,
    /// Its number among the children of its parent.
    slot: u32,
    real_time: Option<RealTime>,
    sharing: Option<Sharing>,
    limit: Option<Limit>,
    family: Option<Box<Family>>,
    /// Active children; of an active leaf 1.
    active: u32,
    /// Work done.
    total: i128,
}

#[derive(Clone, Debug)]
pub(crate) struct Hfsc {
    /// The root, then the classes of the list.
    classes: Vec<Class>,
    /// The children of each class, one after another.
    children: Vec<u16>,
    /// Backlogged leaves with real-time curves: by eligible time those that are not eligible, by
    /// deadline the others.
    early: MinHeap,
    eligible: MinHeap,
}

/// Work above all that is ever done: a curve from there is replaced when it first begins.
const NOT_BEGUN: i128 = 1 << 120;

/// How a leaf was picked.
const REAL_TIME: u8 = 1;
const SHARED: u8 = 0;

impl Hfsc {
    pub(super) fn new(kin: &[Kin], curves: &[Curves]) -> Self {
        let root = (Kin::default(), Curves::default());
        let all = kin.iter().copied().zip(curves.iter().copied());
        let class = |(kin, curves): (Kin, Curves)| Class {
            parent: kin.parent.map_or(0, |p| p + 1),
            slot: 0,
            real_time: curves.rt.filter(|_| kin.leaf.is_some()).map(RealTime::new),
            sharing: curves.ls.map(Sharing::new),
            limit: curves.ul.map(|asked| Limit {
                asked,
                running: Running::new(asked, 0, NOT_BEGUN),
                fits: 0,
            }),
            family: None,
            active: 0,
            total: 0,
        };
        let mut classes: Vec<Class> = std::iter::once(root).chain(all).map(class).collect();
        let mut children = vec![Vec::new(); classes.len()];
        for (c, class) in (0..).zip(&mut classes).skip(1) {
            let of: &mut Vec<u16> = &mut children[usize::from(class.parent)];
            class.slot = of.len() as u32;
            of.push(c);
        }
        let mut first = 0;
        for (class, of) in classes.iter_mut().zip(&children) {
            let n = of.len();
            class.family = (n > 0).then(|| {
                Box::new(Family {
                    first,
                    fit: MinHeap::with_ids(n),
                    unfit: MinHeap::with_ids(n),
                    latest: MinHeap::with_ids(n),
                    ..Family::default()
                })
            });
            first += n as u32;
        }
        Self {
            early: MinHeap::with_ids(classes.len()),
            eligible: MinHeap::with_ids(classes.len()),
            children: children.concat(),
            classes,
        }
    }

    /// The real-time curve of a leaf.
    pub(super) fn real_time(&self, class: u16) -> Option<Asked> {
        let own = self.classes.get(usize::from(class) + 1)?;
        own.real_time.as_ref().map(|rt| rt.asked)
    }

    /// Whether all real-time curves together stay below a line of so many b/s.
    pub(super) fn fits(&self, bps: u64) -> bool {
        let all: Vec<Asked> = (0..self.classes.len() as u16 - 1)
            .filter_map(|c| self.real_time(c))
            .collect();
        above(&all, bps).is_none()
    }

    #[inline]
    fn family(&mut self, class: u16) -> Option<&mut Family> {
        self.classes[usize::from(class)].family.as_deref_mut()
    }

    /// Puts a backlogged leaf where its eligible time and deadline have it.
    fn place(&mut self, class: u16, now: u64) {
        let Some(rt) = &self.classes[usize::from(class)].real_time else {
            return;
        };
        if rt.e <= now {
            self.early.remove(class.into());
            self.eligible.set(class.into(), rt.d);
        } else {
            self.eligible.remove(class.into());
            self.early.set(class.into(), rt.e);
        }
    }

    /// Puts an active class where its virtual time and upper limits have it.
    fn seat(&mut self, class: u16, now: u64) {
        let own = &self.classes[usize::from(class)];
        let Some(sharing) = &own.sharing else { return };
        let (slot, parent, vt, fits) = (own.slot, own.parent, sharing.vt, sharing.fits);
        let Some(family) = self.family(parent) else {
            return;
        };
        family.latest.set(slot, Reverse(vt));
        if fits <= now {
            family.unfit.remove(slot);
            family.fit.set(slot, vt);
        } else {
            family.fit.remove(slot);
            family.unfit.set(slot, fits);
        }
    }

    /// A leaf got its first packet: it and those around it that had none are active.
    fn activate(&mut self, leaf: u16, now: u64) {
        let (mut c, mut fresh) = (leaf, true);
        while c != 0 {
            let parent = self.classes[usize::from(c)].parent;
            if fresh {
                self.classes[usize::from(c)].active += 1;
                fresh = self.classes[usize::from(c)].active == 1;
            }
            if fresh {
                self.begin(c, parent, now);
            }
            self.limit(c, now);
            c = parent;
        }
    }

    /// A class becomes active: its virtual time is that of its siblings, or the largest that they
    /// had.
    fn begin(&mut self, class: u16, parent: u16, now: u64) {
        let above = &self.classes[usize::from(parent)];
        let idle = above.active == 0;
        let period = above.sharing.as_ref().map_or(0, |s| s.period);
        let Some(family) = self.family(parent) else {
            return;
        };
        let beside = family
            .latest
            .first()
            .map(|(Reverse(latest), _)| match family.served {
                0 => latest,
                served => ((u128::from(served) + u128::from(latest)) / 2) as u64,
            });
        if beside.is_none() {
            family.served = 0;
        }
        let left = family.left;
        let own = &mut self.classes[usize::from(class)];
        let total = own.total;
        let Some(sharing) = &mut own.sharing else {
            return;
        };
        match beside {
            None => sharing.vt = left,
            // It does not go back within one period of its parent.
            Some(vt) if period != sharing.of_parent || vt > sharing.vt => sharing.vt = vt,
            Some(_) => {}
        }
        sharing.running.lower(sharing.vt, total);
        sharing.added = 0;
        sharing.period += 1;
        sharing.of_parent = period + u64::from(idle);
        sharing.fits = 0;
        if let Some(limit) = &mut own.limit {
            limit.running.lower(now, total);
            limit.fits = limit.running.time(total);
        }
        self.seat(class, now);
    }

    /// Sets when a class may send: when its own limit and that of a child let it.
    fn limit(&mut self, class: u16, now: u64) {
        let own = &mut self.classes[usize::from(class)];
        let by_child = own.family.as_ref().map_or(0, |f| f.fits());
        let fits = own.limit.as_ref().map_or(0, |l| l.fits).max(by_child);
        let Some(sharing) = &mut own.sharing else {
            return;
        };
        if sharing.fits != fits {
            sharing.fits = fits;
            self.seat(class, now);
        }
    }

    /// A leaf sent so much, and has more or not: virtual times and limits of all around it.
    fn advance(&mut self, leaf: u16, work: i128, more: bool, now: u64) {
        let mut ends = !more && self.classes[usize::from(leaf)].sharing.is_some();
        let mut c = leaf;
        while c != 0 {
            let own = &mut self.classes[usize::from(c)];
            let parent = own.parent;
            own.total += work;
            if own.active > 0 && own.sharing.is_some() {
                if ends {
                    own.active -= 1;
                    ends = own.active == 0;
                }
                self.shift(c, parent, ends, now);
            }
            c = parent;
        }
    }

    /// The virtual time of an active class after it sent; `ends`: it is passive now.
    fn shift(&mut self, class: u16, parent: u16, ends: bool, now: u64) {
        let served = self.family(parent).map_or(0, |f| f.served);
        let own = &mut self.classes[usize::from(class)];
        let (total, slot) = (own.total, own.slot);
        let Some(sharing) = &mut own.sharing else {
            return;
        };
        sharing.vt = sharing.running.time(total).saturating_add(sharing.added);
        if sharing.vt < served {
            // It was passed over while its limit held it.
            sharing.added += served - sharing.vt;
            sharing.vt = served;
        }
        let vt = sharing.vt;
        if ends {
            if let Some(family) = self.family(parent) {
                family.left = family.left.max(vt);
                family.remove(slot);
            }
            return;
        }
        if let Some(limit) = &mut own.limit {
            limit.fits = limit.running.time(total);
        }
        self.seat(class, now);
        self.limit(class, now);
    }

    /// The leaf that the tree gives the next turn.
    fn share(&mut self, now: u64) -> Option<u16> {
        let mut c = 0;
        loop {
            let Some(mut family) = self.classes[usize::from(c)].family.take() else {
                return Some(c);
            };
            let found = self.first_fit(&mut family, now);
            self.classes[usize::from(c)].family = Some(family);
            c = found?;
        }
    }

    fn first_fit(&self, family: &mut Family, now: u64) -> Option<u16> {
        let child = |slot: u32| self.children[(family.first + slot) as usize];
        let vt = |c: u16| {
            self.classes[usize::from(c)]
                .sharing
                .as_ref()
                .map_or(0, |s| s.vt)
        };
        while let Some((fits, slot)) = family.unfit.first() {
            if fits > now {
                break;
            }
            family.unfit.remove(slot);
            family.fit.set(slot, vt(child(slot)));
        }
        let (vt, slot) = family.fit.first()?;
        family.served = family.served.max(vt);
        Some(child(slot))
    }
}

impl Order for Hfsc {
    fn fills(&mut self, class: u16, len: u32, now: Time) {
        let (c, now) = (class + 1, now.as_ps());
        let own = &mut self.classes[usize::from(c)];
        if let Some(rt) = &mut own.real_time {
            rt.deadline.lower(now, rt.done);
            rt.next = len;
            rt.set_times();
            self.place(c, now);
        }
        if self.classes[usize::from(c)].sharing.is_some() {
            self.activate(c, now);
        }
    }

    fn empties(&mut self, class: u16, now: Time) {
        let c = class + 1;
        self.advance(c, 0, false, now.as_ps());
        self.early.remove(c.into());
        self.eligible.remove(c.into());
    }

    fn pick(&mut self, now: Time) -> Option<Pick> {
        let now = now.as_ps();
        while let Some((e, c)) = self.early.first() {
            if e > now {
                break;
            }
            self.place(c as u16, now);
        }
        let (c, how) = match self.eligible.first() {
            Some((_, c)) => (c as u16, REAL_TIME),
            None => (self.share(now)?, SHARED),
        };
        Some(Pick { class: c - 1, how })
    }

    fn sent(&mut self, pick: Pick, len: u32, next: Option<u32>, now: Time) {
        let (c, now) = (pick.class + 1, now.as_ps());
        let work = UNITS * i128::from(len);
        self.advance(c, work, next.is_some(), now);
        let Some(rt) = &mut self.classes[usize::from(c)].real_time else {
            return;
        };
        if pick.how == REAL_TIME {
            rt.done += work;
        }
        let Some(next) = next else {
            self.early.remove(c.into());
            self.eligible.remove(c.into());
            return;
        };
        rt.next = next;
        match pick.how {
            REAL_TIME => rt.set_times(),
            _ => rt.set_deadline(),
        }
        self.place(c, now);
    }

    fn next_wake(&self, now: Time) -> Option<Time> {
        let early = self.early.first().map(|(e, _)| e);
        let eligible = self.eligible.first().map(|_| 0);
        let family = self.classes[0].family.as_ref();
        let active = family.filter(|f| f.latest.first().is_some());
        let shared = active.map(|f| f.fits());
        let first = [early, eligible, shared].into_iter().flatten().min()?;
        (first < NEVER).then(|| now.max(Time::from_ps(first)))
    }

    fn is_held(&self, class: u16, now: Time) -> bool {
        let now = now.as_ps();
        let mut c = class + 1;
        if self.classes[usize::from(c)]
            .real_time
            .as_ref()
            .is_some_and(|rt| rt.e <= now)
        {
            return false;
        }
        while c != 0 {
            let own = &self.classes[usize::from(c)];
            match &own.sharing {
                None => return true,
                Some(s) if s.fits > now => return true,
                Some(_) => c = own.parent,
            }
        }
        false
    }

    fn reset(&mut self) {
        self.early.clear();
        self.eligible.clear();
        for class in &mut self.classes {
            if let Some(rt) = &mut class.real_time {
                rt.deadline.y -= rt.done;
                rt.done = 0;
            }
            if let Some(limit) = &mut class.limit {
                limit.running.y -= class.total;
            }
            if let Some(sharing) = &mut class.sharing {
                *sharing = Sharing::new(sharing.asked);
            }
            if let Some(family) = &mut class.family {
                family.fit.clear();
                family.unfit.clear();
                family.latest.clear();
                (family.served, family.left) = (0, 0);
            }
            (class.active, class.total) = (0, 0);
        }
    }

    fn guarantee(of: &Hierarchy<Self>, leaf: u16, load: &Load) -> Result<Guarantee, Reason> {
        of.guaranteed(leaf, load)
    }

    fn retune(&mut self, now: Time, fresh: &Self) {
        let now = now.as_ps();
        let mut changed = false;
        for (class, f) in self.classes.iter_mut().zip(&fresh.classes) {
            if let (Some(rt), Some(f)) = (&mut class.real_time, &f.real_time) {
                if rt.asked != f.asked {
                    rt.asked = f.asked;
                    rt.deadline = Running::new(f.asked, now, rt.done);
                    rt.set_times();
                    changed = true;
                }
            }
            if let (Some(sharing), Some(f)) = (&mut class.sharing, &f.sharing) {
                if sharing.asked != f.asked {
                    sharing.asked = f.asked;
                    sharing.running = Running::new(f.asked, sharing.vt, class.total);
                    changed = true;
                }
            }
            if let (Some(limit), Some(f)) = (&mut class.limit, &f.limit) {
                if limit.asked != f.asked {
                    limit.asked = f.asked;
                    limit.running = Running::new(f.asked, now, class.total);
                    changed = true;
                }
            }
        }
        if !changed {
            return;
        }
        for c in 1..self.classes.len() as u16 {
            if self.early.contains(c.into()) || self.eligible.contains(c.into()) {
                self.place(c, now);
            }
            let own = &self.classes[usize::from(c)];
            if own.family.is_none() && own.active > 0 {
                self.advance(c, 0, true, now);
            }
        }
    }
}
