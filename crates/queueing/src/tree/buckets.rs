//! The token buckets and meters of a tree.

use spillgate_core::{Dscp, Time};

use super::{Content, Tree};
use crate::condition::{Color, Colored, Step, colors};
use crate::evidence::BucketLevel;
use crate::stats::State;

/// What has a bucket: a step of conditioning, or a class with a shaper.
#[derive(Clone, Copy)]
enum Owner {
    Step(usize),
    Class(usize),
}

impl Tree {
    /// The buckets of the policers and shapers at `now`, in a fixed order, each with the first leaf
    /// that it applies to.
    pub(crate) fn buckets(&self, now: Time) -> Vec<(u16, BucketLevel)> {
        let each = self.owners().into_iter();
        each.filter_map(|(leaf, owner)| Some((leaf, self.level(owner, now)?)))
            .collect()
    }

    /// What is in each of them, with the name of its series, by class.
    pub(crate) fn tokens(&self, now: Time) -> Vec<(String, State)> {
        let each = self.owners().into_iter().filter_map(|(leaf, owner)| {
            let level = self.level(owner, now)?;
            let leaf = &self.names[usize::from(leaf)];
            let (class, series) = match owner {
                Owner::Step(step) => match &self.steps[step] {
                    Step::Police(p) => (p.name.to_string(), "tokens_policer"),
                    _ => (leaf.clone(), "tokens_priority"),
                },
                Owner::Class(class) => (self.path(class, leaf), "tokens_shaper"),
            };
            Some((class, vec![(series, level.tokens as f64)]))
        });
        each.collect()
    }

    /// The steps and the classes that may have a bucket, each with the first leaf that it applies
    /// to.
    fn owners(&self) -> Vec<(u16, Owner)> {
        let mut found = Vec::new();
        let mut seen = vec![false; self.steps.len()];
        for route in &self.routes {
            let steps = usize::from(route.first_step)..usize::from(route.end_step);
            for step in &self.route_steps[steps] {
                let step = usize::from(*step);
                if !std::mem::replace(&mut seen[step], true) {
                    found.push((route.leaf, Owner::Step(step)));
                }
            }
        }
        let classes = (0..self.classes.len()).filter_map(|class| {
            let leaf = self.first_leaf(class)?;
            Some((leaf, Owner::Class(class)))
        });
        found.extend(classes);
        found
    }

    fn level(&self, owner: Owner, now: Time) -> Option<BucketLevel> {
        match owner {
            Owner::Step(step) => self.steps[step].bucket(now),
            Owner::Class(class) => {
                let shaper = self.classes[class].shaper?;
                Some(self.shapers[usize::from(shaper)].describe(now))
            }
        }
    }

    /// The name of a class within that of its leaf, `parent/class/leaf`.
    fn path(&self, class: usize, leaf: &str) -> String {
        let mut depth = 1;
        let mut node = &self.nodes[usize::from(self.classes[class].node)];
        while let Some(parent) = node.parent {
            depth += 1;
            node = &self.nodes[usize::from(self.classes[usize::from(parent)].node)];
        }
        let parts: Vec<&str> = leaf.split('/').take(depth).collect();
        parts.join("/")
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
