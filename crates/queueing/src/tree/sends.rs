//! What may come to the leaves of a policy, and what of it is sent before others.
//!
//! A policer that acts while packets wait (LLQ) lets at most one packet more pass: the first, which
//! nothing waits before, takes what tokens there are. So it counts only in a time in which packets
//! wait.

use spillgate_core::curve::{Curve, Exact, UNITS};

use super::Tree;
use crate::condition::Step;
use crate::guarantee::{LeafLoad, Load, Reason};

impl Tree {
    /// What may come to some leaves, after policers that act always, and where packets `wait` after
    /// those that act then; none if that is unknown.
    pub(super) fn arrivals_of(
        &self,
        leaves: &[u16],
        load: &Load,
        wait: bool,
    ) -> Result<Option<Curve>, Reason> {
        let mut sum = Curve::zero();
        for leaf in leaves {
            let Some(own) = self.arrivals(*leaf, load, wait)? else {
                return Ok(None);
            };
            sum = sum.plus(&own)?;
        }
        Ok(Some(sum))
    }

    fn arrivals(&self, leaf: u16, load: &Load, wait: bool) -> Result<Option<Curve>, Reason> {
        let LeafLoad { longest, arrivals } = &load.leaves[usize::from(leaf)];
        if *longest == 0 {
            return Ok(Some(Curve::zero()));
        }
        let mut least = arrivals.clone();
        for step in self.steps_of_all(leaf) {
            let (bucket, always) = match step {
                Step::Police(p) => (p.only_passes(), true),
                Step::Priority(p) => (Some((p.bucket.rate(), p.bucket.burst())), p.always),
                _ => continue,
            };
            let Some((rate, burst)) = bucket.filter(|_| always || wait) else {
                continue;
            };
            let most = load.stretch(step.counted()).1;
            let burst = most * (UNITS * i128::from(burst));
            let first = if always { 0 } else { *longest };
            let least_burst = Exact::from_integer(UNITS * i128::from(first));
            let curve = Curve::line(burst.max(least_burst), most * i128::from(rate));
            least = Some(match least {
                Some(least) => least.min(&curve)?,
                None => curve,
            });
        }
        Ok(least)
    }

    /// The steps that all packets of a leaf pass.
    fn steps_of_all(&self, leaf: u16) -> impl Iterator<Item = &Step> {
        let steps = |r: &super::Route| {
            &self.route_steps[usize::from(r.first_step)..usize::from(r.end_step)]
        };
        let mut routes = self
            .routes
            .iter()
            .filter(move |r| r.leaf == leaf)
            .map(steps);
        let first = routes.next().unwrap_or_default();
        let others: Vec<&[u16]> = routes.collect();
        let in_all = move |s: &&u16| others.iter().all(|o| o.contains(s));
        first
            .iter()
            .filter(in_all)
            .map(|s| &self.steps[usize::from(*s)])
    }

    pub(super) fn drops_only_at_limits(&self, leaf: u16, load: &Load) -> bool {
        let routes = self.routes.iter().filter(|r| r.leaf == leaf);
        let mut steps = routes
            .flat_map(|r| &self.route_steps[usize::from(r.first_step)..usize::from(r.end_step)]);
        let polices = |s: &u16| {
            matches!(
                self.steps[usize::from(*s)],
                Step::Police(_) | Step::Priority(_)
            )
        };
        let place = &self.places[usize::from(leaf)];
        // A shaper's bucket may count other bytes than the link: fewer than twice as many.
        let fits =
            u64::from(place.longest) >= 2 * u64::from(load.leaves[usize::from(leaf)].longest);
        !steps.any(polices) && fits && self.leaves[usize::from(leaf)].drops_only_at_limits()
    }

    /// What some classes that go first may send in any time, of which packets `wait` in all; none
    /// if that is unknown. What has a shaper sends what that lets go, whenever it came.
    pub(super) fn sends(
        &self,
        classes: &[u16],
        whole: &Curve,
        load: &Load,
        wait: bool,
    ) -> Result<Option<Curve>, Reason> {
        let (held, free): (Vec<u16>, Vec<u16>) =
            classes.iter().partition(|c| self.class(**c).gated);
        let mut shaped = Curve::zero();
        for class in held {
            let Some(of) = self.shaper_of(class).map(|s| &self.shapers[s]) else {
                return Ok(None);
            };
            let most = load.stretch(self.counted).1;
            // A packet more than there are tokens for.
            let lent = self.longest(class, load);
            let burst = most * (UNITS * i128::from(of.burst()))
                + Exact::from_integer(UNITS * i128::from(lent));
            shaped = shaped.plus(&Curve::line(burst, most * i128::from(of.rate())))?;
        }
        let leaves: Vec<u16> = free.iter().flat_map(|c| self.leaves_in(*c)).collect();
        let Some(all) = self.arrivals_of(&leaves, load, wait)? else {
            return Ok(None);
        };
        if all.final_slope() + shaped.final_slope() >= whole.final_slope() && !classes.is_empty() {
            return Err("what goes before it may take all".into());
        }
        let sent = match wait && !leaves.is_empty() {
            true => all.deconvolve(&whole.left_over(&shaped)?)?,
            false => all,
        };
        Ok(Some(sent.plus(&shaped)?))
    }

    fn shaper_of(&self, class: u16) -> Option<usize> {
        self.class(class).shaper.map(usize::from)
    }

    /// Which of some classes that go first may take all.
    pub(super) fn unpoliced(&self, classes: &[u16], load: &Load) -> Reason {
        let leaves = classes.iter().flat_map(|c| self.leaves_in(*c));
        let unknown = |l: &u16| matches!(self.arrivals(*l, load, true), Ok(None));
        let names = leaves
            .filter(unknown)
            .map(|l| format!("`{}`", self.names[usize::from(l)]));
        let names: Vec<String> = names.collect();
        format!(
            "{} goes first, has no policer, and nothing bounds what comes to it: the classes behind it can wait for ever",
            names.join(", ")
        )
        .into()
    }
}
