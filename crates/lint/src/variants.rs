//! Findings of many points of a scenario as one list.

use std::collections::BTreeMap;

use spillgate_scenario::plan::Plan;

use crate::{Finding, is_of_lines};

/// The most names and values that are listed; further ones are counted.
const SHOWN: usize = 6;

/// The findings at the points of a scenario, in order.
pub(crate) struct Gathered<'p> {
    plan: &'p Plan,
    found: Vec<(Finding, Vec<usize>)>,
    /// The index of each finding in the list, by its identity.
    known: BTreeMap<Key, usize>,
}

/// Rule, place, and the message where a line may have several.
type Key = (
    &'static str,
    String,
    Option<u32>,
    Option<u32>,
    String,
    String,
);

fn key(f: &Finding) -> Key {
    // A policy on several links, or at several rates, has the same finding at each: the numbers of
    // the first are enough. Findings without a line, or about a whole line, are distinguished by
    // their messages.
    let message = match f.line.is_none() || is_of_lines(f.id) {
        true => f.message.clone(),
        false => String::new(),
    };
    (
        f.id,
        f.file.clone(),
        f.line,
        f.column,
        f.path.clone(),
        message,
    )
}

impl<'p> Gathered<'p> {
    pub(crate) fn new(plan: &'p Plan) -> Self {
        Self {
            plan,
            found: Vec::new(),
            known: BTreeMap::new(),
        }
    }

    /// Adds a finding at these points; none: it does not concern points.
    pub(crate) fn add(&mut self, points: &[usize], f: Finding) {
        let at = *self.known.entry(key(&f)).or_insert_with(|| {
            self.found.push((f.clone(), Vec::new()));
            self.found.len() - 1
        });
        let (known, held) = &mut self.found[at];
        if known.message != f.message && !held.is_empty() && !points.is_empty() {
            known.other_numbers |= held.last() < points.first();
        }
        // Points are checked in order.
        let last = held.last().copied();
        held.extend(points.iter().filter(|p| Some(**p) > last));
    }

    /// Whether a rule has a finding at a place.
    pub(crate) fn any(&self, is: impl Fn(&Finding) -> bool) -> bool {
        self.found.iter().any(|(f, _)| is(f))
    }

    /// All findings; each names its points, if the scenario has several.
    pub(crate) fn finish(self) -> Vec<Finding> {
        let Self { plan, found, .. } = self;
        let each = |(mut f, held): (Finding, Vec<usize>)| {
            if plan.variants.len() > 1 {
                let name = |i: &usize| plan.variants.get(*i).map(|v| v.name.clone());
                f.variants = held.iter().filter_map(name).collect();
                f.holds = holds(plan, &held);
                if f.other_numbers {
                    if let Some(first) = f.variants.first() {
                        f.holds += &format!("; the numbers are those of `{first}`");
                    }
                }
            }
            f
        };
        found.into_iter().map(each).collect()
    }
}

/// Points in words: by variants and values of axes if they are all combinations of some of these,
/// else by name. Empty for no points.
fn holds(plan: &Plan, points: &[usize]) -> String {
    let all = plan.variants.len();
    if points.is_empty() {
        return String::new();
    }
    let named = |plan: &Plan| plan.variants.iter().any(|v| !v.variant.is_empty());
    let word = match (named(plan), plan.axes.is_empty()) {
        (true, true) => "variants",
        _ => "points",
    };
    if points.len() == all {
        return format!("all {all} {word}");
    }
    let mut variants: Vec<&str> = Vec::new();
    let mut values: Vec<Vec<u32>> = vec![Vec::new(); plan.axes.len()];
    for v in points.iter().filter_map(|p| plan.variants.get(*p)) {
        if !variants.contains(&&*v.variant) {
            variants.push(&v.variant);
        }
        for (of, at) in values.iter_mut().zip(&v.coordinates) {
            if !of.contains(at) {
                of.push(*at);
            }
        }
    }
    let product = values
        .iter()
        .fold(variants.len(), |n, of| n.saturating_mul(of.len()));
    if product != points.len() {
        let names = points.iter().filter_map(|p| plan.variants.get(*p));
        let names: Vec<&str> = names.map(|v| v.name.as_str()).collect();
        return format!("{} (of {all} {word})", some(&names));
    }
    let mut parts = Vec::new();
    let whole = plan.variants.len()
        / plan
            .axes
            .iter()
            .map(|a| a.labels.len().max(1))
            .product::<usize>()
            .max(1);
    if variants.len() < whole {
        let plural = if variants.len() == 1 { "" } else { "s" };
        parts.push(format!("variant{plural} {}", some(&variants)));
    }
    for (axis, of) in plan.axes.iter().zip(&values) {
        if of.len() < axis.labels.len() {
            let label = |at: &u32| axis.labels.get(*at as usize).map(String::as_str);
            let labels: Vec<&str> = of.iter().filter_map(label).collect();
            parts.push(format!("{} {}", axis.name, some(&labels)));
        }
    }
    parts.join(", at ")
}

/// The first of a list, and how many more there are.
fn some(names: &[&str]) -> String {
    let shown = names.iter().take(SHOWN).map(|n| format!("`{n}`"));
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text += &format!(" and {} more", names.len() - SHOWN);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use spillgate_scenario::plan::{Axis, VariantPlan};
    use spillgate_scenario::{Options, load};

    use super::*;

    /// A plan with these variants and one axis of these labels.
    fn plan(variants: &[&str], labels: &[&str]) -> Plan {
        let yaml = "schema_version: 1\ntopology: {nodes: [a, b], links: {l: {from: a, to: b, rate: 1 Mb/s}}}\ntraffic: [{flow: {name: f, from: a, to: b, source: {cbr: {rate: 1 kb/s, packet: 100 B}}}}]\nmeasurement: {duration: 1 s}\n";
        let path = std::path::PathBuf::from("s.yaml");
        let files = BTreeMap::from([(path.clone(), yaml.as_bytes().to_vec())]);
        let importer = spillgate_import::ConfigImporter::default();
        let mut plan = load(&path, &files, &importer, &Options::default())
            .unwrap()
            .plan;
        let world = Arc::clone(&plan.variants[0].world);
        let labels: Vec<String> = labels.iter().map(|l| (*l).to_owned()).collect();
        plan.variants.clear();
        for v in variants {
            for at in 0..labels.len().max(1) {
                let name = match labels.get(at) {
                    Some(label) => format!("{v} (load={label})"),
                    None => (*v).to_owned(),
                };
                plan.variants.push(VariantPlan {
                    name,
                    variant: (*v).to_owned(),
                    coordinates: labels.get(at).map(|_| at as u32).into_iter().collect(),
                    text: 0,
                    same: None,
                    shift: None,
                    world: Arc::clone(&world),
                });
            }
        }
        if !labels.is_empty() {
            plan.axes = vec![Axis {
                name: "load".to_owned(),
                labels,
                unit: None,
                numbers: None,
                listed: None,
                failures: false,
            }];
        }
        plan
    }

    #[test]
    fn points_are_said_by_variants_and_axes() {
        let few = plan(&["red", "wred", "fifo"], &[]);
        assert_eq!(holds(&few, &[0, 1, 2]), "all 3 variants");
        assert_eq!(holds(&few, &[1]), "variant `wred`");
        assert_eq!(holds(&few, &[0, 2]), "variants `red`, `fifo`");
        let both = plan(&["red", "fifo"], &["0.8", "0.9", "1"]);
        assert_eq!(holds(&both, &[0, 1, 2, 3, 4, 5]), "all 6 points");
        assert_eq!(holds(&both, &[3, 4, 5]), "variant `fifo`");
        assert_eq!(holds(&both, &[1, 2, 4, 5]), "load `0.9`, `1`");
        assert_eq!(holds(&both, &[1, 2]), "variant `red`, at load `0.9`, `1`");
        assert_eq!(
            holds(&both, &[0, 4]),
            "`red (load=0.8)`, `fifo (load=0.9)` (of 6 points)"
        );
        let labels: Vec<String> = (0..50).map(|i| i.to_string()).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let many = plan(&[""], &labels);
        let held: Vec<usize> = (0..49).collect();
        assert_eq!(
            holds(&many, &held),
            "load `0`, `1`, `2`, `3`, `4`, `5` and 43 more"
        );
        assert_eq!(holds(&many, &[]), "");
    }
}
