//! The token buckets and meters of a tree.

use spillgate_core::{Dscp, Time};

use super::{Content, Tree};
use crate::condition::{Color, Colored, Step, colors};
use crate::evidence::BucketLevel;

impl Tree {
    /// The buckets of the policers and shapers at `now`, in a fixed order, each with the first leaf
    /// that it applies to.
    pub(crate) fn buckets(&self, now: Time) -> Vec<(u16, BucketLevel)> {
        let mut found = Vec::new();
        let mut seen = vec![false; self.steps.len()];
        for route in &self.routes {
            let steps = usize::from(route.first_step)..usize::from(route.end_step);
            for step in &self.route_steps[steps] {
                let step = usize::from(*step);
                if !std::mem::replace(&mut seen[step], true) {
                    found.extend(self.steps[step].bucket(now).map(|b| (route.leaf, b)));
                }
            }
        }
        for (class, c) in self.classes.iter().enumerate() {
            if let Some(s) = c.shaper {
                let bucket = self.shapers[usize::from(s)].describe(now);
                found.extend(self.first_leaf(class).map(|leaf| (leaf, bucket)));
            }
        }
        found
    }

    /// The meters of its policers: the class, and what was found.
    pub(crate) fn meters(&self) -> impl Iterator<Item = (&str, &Colored)> {
        self.steps.iter().filter_map(Step::meter)
    }

    /// The meters that the last packet went through, by their classes, and the color that each gave
    /// to it.
    pub(crate) fn colors(&self, refused: bool) -> Vec<(&str, Color)> {
        let Some(route) = self.routes.get(usize::from(self.last_route)) else {
            return Vec::new();
        };
        let of_class = usize::from(route.first_step)..usize::from(route.end_step);
        let refused_by = self.refused_by.filter(|_| refused);
        colors(&self.steps, &self.route_steps[of_class], refused_by)
    }

    /// The code points that it may give to packets.
    pub(crate) fn marks(&self) -> Vec<Dscp> {
        self.steps.iter().flat_map(Step::marks).collect()
    }

    fn first_leaf(&self, class: usize) -> Option<u16> {
        match self.classes.get(class)?.content {
            Content::Leaf(leaf) => Some(leaf),
            Content::Node(node) => self.first_leaf(self.nodes.get(usize::from(node))?.first.into()),
        }
    }
}
