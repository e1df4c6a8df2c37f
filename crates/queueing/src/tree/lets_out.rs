//! What leaves a class-based port at most, whatever comes.

use spillgate_core::Dur;
use spillgate_core::curve::{Curve, Exact, NoBound, UNITS};

use super::{Content, Tree};
use crate::condition::Step;
use crate::guarantee::{Load, Sends};

impl Tree {
    /// What leaves of the classes with shapers, of those with policers that act always, and of all
    /// if all have shapers.
    pub(super) fn lets_out(&self, load: &Load) -> Vec<Sends> {
        let reached = |l: &u16| load.leaves[usize::from(*l)].longest > 0;
        let number = (0..self.leaves.len() as u16).filter(reached).count();
        let sends = |leaves: Vec<u16>, most: Curve, at_arrival| {
            let leaves: Vec<u16> = leaves.into_iter().filter(reached).collect();
            Sends {
                all: leaves.len() == number,
                leaves,
                most,
                at_arrival,
            }
        };
        let mut found = Vec::new();
        let late = load.service().curve().serves(load.ring_bytes());
        if let Ok(late) = late {
            for class in 0..self.classes.len() as u16 {
                if let Some(Ok(most)) = self.lets_go(class, load, late) {
                    found.push(sends(self.leaves_in(class), most, false));
                }
            }
            let leaves = (0..self.leaves.len() as u16).collect();
            let mut sum = Curve::zero();
            if self.add_shapers(0, load, late, &mut sum).is_some() {
                found.push(sends(leaves, sum, false));
            }
        }
        for (number, step) in (0..).zip(&self.steps) {
            if let Some(most) = self.passes(step, load) {
                found.push(sends(self.leaves_behind(number), most, true));
            }
        }
        found.retain(|s| !s.leaves.is_empty());
        found.sort_by_key(|s| s.leaves.len());
        found
    }

    /// What a policer lets pass, if it acts always and drops all else.
    fn passes(&self, step: &Step, load: &Load) -> Option<Curve> {
        let (rate, burst) = match step {
            Step::Police(p) => p.only_passes(),
            Step::Priority(p) => p.always.then(|| (p.bucket.rate(), p.bucket.burst())),
            _ => None,
        }?;
        let most = load.stretch(step.counted()).1;
        let burst = most * (UNITS * i128::from(burst));
        Curve::line(burst, most * i128::from(rate))
            .rounded_up()
            .ok()
    }

    /// The leaves all of whose packets pass a step.
    fn leaves_behind(&self, step: u16) -> Vec<u16> {
        let passes = |r: &super::Route| {
            let steps = usize::from(r.first_step)..usize::from(r.end_step);
            self.route_steps[steps].contains(&step)
        };
        let all = |leaf: &u16| {
            let mut routes = self.routes.iter().filter(|r| r.leaf == *leaf).peekable();
            routes.peek().is_some() && routes.all(passes)
        };
        (0..self.leaves.len() as u16).filter(all).collect()
    }

    /// What a class has let go leaves at most, if it has a shaper of its own.
    ///
    /// What a shaper has let go in a time is what its bucket lost and gained in it: no more than
    /// the burst, what its rate makes of that time, and a packet that it lends. What it has let go
    /// leaves when the ring before it and its own transmission are over, so up to that time late.
    fn lets_go(&self, class: u16, load: &Load, late: Dur) -> Option<Result<Curve, NoBound>> {
        let shaper = self.class(class).shaper?;
        let bucket = &self.shapers[usize::from(shaper)];
        let (least, most) = load.stretch(self.counted);
        let counted = Exact::from_integer(self.longest(class, load).into()) / least;
        let burst = Exact::from_integer(bucket.burst().into());
        let lends = bucket.owes() || counted > burst;
        let lent = if lends {
            counted
        } else {
            Exact::from_integer(0)
        };
        let burst = most * (burst + lent) * UNITS;
        let own = Curve::line(burst, most * i128::from(bucket.rate()));
        Some(own.rounded_up().and_then(|own| own.jittered(late)))
    }

    /// Adds what the classes of a policy let go, if packets come only to such with shapers.
    fn add_shapers(&self, node: u16, load: &Load, late: Dur, sum: &mut Curve) -> Option<()> {
        let node = &self.nodes[usize::from(node)];
        for class in node.first..node.end {
            let of = self.class(class);
            match (of.shaper, of.content) {
                _ if self.longest(class, load) == 0 => {}
                (Some(_), _) => {
                    let own = self.lets_go(class, load, late)?.ok()?;
                    *sum = sum.plus(&own).ok()?;
                }
                (None, Content::Node(inner)) => self.add_shapers(inner, load, late, sum)?,
                (None, Content::Leaf(_)) => return None,
            }
        }
        Some(())
    }
}
