//! The number of classes of a policy with all policies nested in it, found before anything walks
//! them.
//!
//! A policy of 20 classes, nested 8 deep, has 20^8 of them. Each policy is counted once for each
//! remaining depth, so counting takes 8 times as long as reading the policies.

use std::collections::{BTreeMap, BTreeSet};

use crate::recipe::At;
use crate::spec::{ClassBasedSpec, DisciplineSpec};
use crate::tree::DEFAULT;
use spillgate_core::Problem;

/// The largest number of classes of a policy with all policies nested in it, not counting classes
/// that hold policies.
const MAX_CLASSES: usize = 4096;
/// The largest depth of nesting.
const MAX_DEPTH: usize = 8;

/// Counts the classes of policies.
#[derive(Debug)]
pub struct Sizes<'a> {
    policies: &'a BTreeMap<String, DisciplineSpec>,
    /// Counts by policy and remaining depth.
    known: BTreeMap<(&'a str, usize), u64>,
}

impl<'a> Sizes<'a> {
    /// For these policies.
    pub fn new(policies: &'a BTreeMap<String, DisciplineSpec>) -> Self {
        Self {
            policies,
            known: BTreeMap::new(),
        }
    }

    /// The largest number of classes of a policy.
    pub const MOST_CLASSES: usize = MAX_CLASSES;

    /// Refuses a policy with more than 4096 classes.
    ///
    /// # Errors
    /// If it has more; if it has them because it contains itself, the error says so.
    pub fn check(&mut self, name: &str) -> Result<(), Problem> {
        let name = match self.policies.get_key_value(name) {
            Some((name, _)) if self.within(name, MAX_DEPTH) > MAX_CLASSES as u64 => name.as_str(),
            _ => return Ok(()),
        };
        let mut path = vec![name];
        let (message, hint) = if self.leads_back(&mut path, &mut BTreeSet::new()) {
            (
                format!("the policy contains itself: {}", path.join(" -> ")),
                "nest a policy that does not lead back here",
            )
        } else {
            (
                format!("with all nested policies it has more than {MAX_CLASSES} classes"),
                "nest fewer policies",
            )
        };
        let mut warnings = Vec::new();
        let mut at = At::new(&mut warnings);
        Err(at.policy(name, |at| at.error("", name, message, hint)))
    }

    fn classed(&self, name: &str) -> Option<&'a ClassBasedSpec> {
        match self.policies.get(name) {
            Some(DisciplineSpec::ClassBased(spec)) => Some(spec),
            _ => None,
        }
    }

    /// The number of classes of a policy that hold no policy, with all policies nested in it up to
    /// `depth`; `class-default` is one of them. 1 for other disciplines.
    fn within(&mut self, name: &'a str, depth: usize) -> u64 {
        let Some(spec) = self.classed(name).filter(|_| depth > 0) else {
            return 1;
        };
        if let Some(known) = self.known.get(&(name, depth)) {
            return *known;
        }
        let added = spec.classes.last().is_none_or(|c| c.name != DEFAULT);
        let mut sum = u64::from(added);
        for class in &spec.classes {
            let inside = class
                .policy
                .as_deref()
                .map_or(1, |p| self.within(p, depth - 1));
            sum = sum.saturating_add(inside);
        }
        self.known.insert((name, depth), sum);
        sum
    }

    /// Whether the last policy of `path` leads to one that is already on the path, which is then
    /// appended.
    fn leads_back(&self, path: &mut Vec<&'a str>, seen: &mut BTreeSet<&'a str>) -> bool {
        let here = path[path.len() - 1];
        let Some(spec) = self.classed(here).filter(|_| path.len() <= MAX_DEPTH) else {
            return false;
        };
        for inner in spec.classes.iter().filter_map(|c| c.policy.as_deref()) {
            if let Some(i) = path.iter().position(|p| *p == inner) {
                path.drain(..i);
                path.push(inner);
                return true;
            }
            if seen.insert(inner) {
                path.push(inner);
                if self.leads_back(path, seen) {
                    return true;
                }
                path.pop();
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `levels` policies of `classes` classes, each but the last with the next in every class.
    fn nested(levels: usize, classes: usize) -> BTreeMap<String, DisciplineSpec> {
        let policy = |level: usize| {
            let inner = if level + 1 < levels {
                format!(r#", "policy": "p{}""#, level + 1)
            } else {
                String::new()
            };
            let classes: Vec<String> = (0..classes)
                .map(|i| format!(r#"{{"name": "c{i}", "match": {{"dscp": {i}}}{inner}}}"#))
                .collect();
            format!(
                r#"{{"class-based": {{"classes": [{}]}}}}"#,
                classes.join(",")
            )
        };
        (0..levels)
            .map(|l| (format!("p{l}"), serde_json::from_str(&policy(l)).unwrap()))
            .collect()
    }

    #[test]
    fn classes_are_counted_as_the_builder_makes_them() {
        for (levels, classes) in [(1, 3), (2, 5), (3, 4), (8, 1)] {
            let policies = nested(levels, classes);
            let rate = spillgate_core::Rate::from_bps(1_000_000).unwrap();
            let (recipe, _) = crate::InputRecipe::resolve("p0", &policies, rate).unwrap();
            assert_eq!(
                Sizes::new(&policies).within("p0", MAX_DEPTH),
                recipe.class_names().count() as u64
            );
        }
    }

    #[test]
    fn what_would_take_for_ever_to_walk_is_refused_at_once() {
        let mut policies = nested(8, 20);
        let rate = spillgate_core::Rate::from_bps(1_000_000).unwrap();
        let e = crate::Recipe::resolve("p0", &policies, rate).unwrap_err();
        assert_eq!(e.path, "policies.p0");
        assert!(e.message.contains("more than 4096 classes"), "{e:?}");
        assert!(crate::InputRecipe::resolve("p0", &policies, rate).is_err());
        // 20 * 20 * 21 + 20 + 1 are more, too; 20 * 21 + 1 are not.
        assert!(Sizes::new(&policies).check("p5").is_err());
        assert!(Sizes::new(&policies).check("p6").is_ok());
        let first = policies["p0"].clone();
        policies.insert("p7".to_owned(), first);
        let e = Sizes::new(&policies).check("p3").unwrap_err();
        assert!(
            e.message
                .contains("itself: p3 -> p4 -> p5 -> p6 -> p7 -> p1 -> p2 -> p3"),
            "{e:?}"
        );
    }
}
