//! The token buckets of a tree.

use spillgate_core::Time;

use super::{Content, Tree};
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

    fn first_leaf(&self, class: usize) -> Option<u16> {
        match self.classes.get(class)?.content {
            Content::Leaf(leaf) => Some(leaf),
            Content::Node(node) => self.first_leaf(self.nodes.get(usize::from(node))?.first.into()),
        }
    }
}
