//! Rules on scenarios: policies with the rates of their links and the traffic that crosses them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use spillgate_import::ConfigImporter;
use spillgate_queueing::Policy;
use spillgate_queueing::spec::DisciplineSpec;
use spillgate_scenario::plan::{Plan, WorldPlan};
use spillgate_scenario::survey::{Surveyed, survey};
use spillgate_scenario::{Diagnostic, Diagnostics, Files, Options};

use crate::cfg::POLICY_UNUSED;
use crate::registry::{Rule, rule_text};
use crate::stands::{self, Stand};
use crate::traffic::{self, Load};
use crate::variants::Gathered;
use crate::view::{Hit, Question, Spot};
use crate::{
    Finding, Selection, certainty, cfg, directions, finish, lossy, mtu, objectives, switches,
};

pub(crate) const RULES: &[&Rule] = &[&EXP_UNSET, &NEVER_MATCHED];

/// Whether each class of each policy has had a packet at any point, and a point that has the
/// policy.
#[derive(Default)]
struct Reached {
    classes: BTreeMap<(String, usize), bool>,
    points: BTreeMap<(String, usize), usize>,
}

/// Checks a scenario with the configurations that it refers to.
///
/// # Errors
/// Whatever keeps the scenario from running.
pub fn scenario(
    path: &Path,
    files: &dyn Files,
    options: &Options,
    selection: &Selection,
) -> Result<Vec<Finding>, Diagnostics> {
    selection.check()?;
    let surveyed = survey(path, files, &ConfigImporter::default(), options)?;
    let mut texts = vec![(path.display().to_string(), read(files, path))];
    texts.extend(configs(&surveyed, files));
    let mut found = Gathered::new(&surveyed.plan);
    for (warning, points) in &surveyed.warnings {
        for f in cfg::of_reader(vec![warning.clone()]) {
            found.add(points, f);
        }
    }
    for f in cfg::of_lines(&surveyed.plan.unmodelled) {
        found.add(&[], f);
    }
    let objectives = delays(&surveyed.plan);
    let mut reached = Reached::default();
    let mut used: BTreeSet<String> = BTreeSet::new();
    for (i, plan) in surveyed.plan.variants.iter().enumerate() {
        if surveyed.variants.get(i).is_none() {
            continue;
        }
        let world = &plan.world;
        let beside = unset_exp(&surveyed, i, world).into_iter();
        let beside = beside
            .chain(mtu::check(&surveyed, i, world))
            .chain(switches::check(&surveyed, i, world))
            .chain(objectives::check(&surveyed.plan, world))
            .chain(certainty::check(&surveyed.plan, i, world));
        beside.for_each(|f| found.add(&[i], f));
        for stand in stands::all(world) {
            for f in ask(&surveyed, i, &stand, &objectives, &mut reached) {
                found.add(&[i], f);
            }
            used.insert(stand.policy);
        }
    }
    let everywhere: Vec<usize> = (0..surveyed.plan.variants.len()).collect();
    for f in directions::check(&surveyed) {
        found.add(&everywhere, f);
    }
    never_matched(&surveyed, &reached, &everywhere, &mut found);
    for f in unused(&surveyed, &used) {
        found.add(&everywhere, f);
    }
    let mut found = found.finish();
    said_twice(&mut found);
    Ok(finish(found, &texts, selection))
}

/// Applies the rules of a policy at its places.
fn ask(
    surveyed: &Surveyed,
    variant: usize,
    stand: &Stand,
    objectives: &BTreeMap<String, (f64, String)>,
    reached: &mut Reached,
) -> Vec<Finding> {
    let policies = &surveyed.variants[variant].policies;
    let world = &surveyed.plan.variants[variant].world;
    let Some(tree) = Policy::of(policies, &stand.policy, Some(stand.around)) else {
        return Vec::new();
    };
    let loads: Vec<Option<Vec<Load>>> = stand
        .spots
        .iter()
        .map(|(spot, _)| traffic::at(world, *spot, policies))
        .collect();
    // Of equal places the one with the most flows is judged; a class needs a flow at only one of
    // them.
    let mut judged = 0;
    for (i, load) in loads.iter().enumerate() {
        let count = |l: &Option<Vec<Load>>| l.as_ref().map_or(0, Vec::len);
        if count(load) > count(&loads[judged]) {
            judged = i;
        }
    }
    let whose = stand.spots.get(judged).map_or("", |(_, whose)| whose);
    let mut hits = Vec::new();
    for (i, load) in loads.iter().enumerate() {
        // At a place without flows classes are not judged.
        if i != judged && load.as_ref().is_none_or(Vec::is_empty) {
            continue;
        }
        let flows: Option<Vec<&Load>> = load.as_ref().map(|l| l.iter().collect());
        let mut question = Question {
            whose,
            arrival: stand.arrival,
            objectives,
            warmup: Some(world.warmup.as_secs_f64()),
            reached: BTreeMap::new(),
            hits: Vec::new(),
        };
        question.policy(&tree, flows.as_deref());
        if i == judged {
            hits = question.hits;
        }
        for (class, got) in question.reached {
            reached.points.entry(class.clone()).or_insert(variant);
            *reached.classes.entry(class).or_default() |= got;
        }
    }
    if stand.more || loads.iter().any(Option::is_none) {
        any_class(&tree, &mut reached.classes);
    }
    let placed = |h| placed(surveyed, variant, h);
    hits.into_iter().map(placed).collect()
}

/// Drops warnings of readers if a rule says more at the same place, and findings of rules that a
/// reader has summed up.
fn said_twice(found: &mut Vec<Finding>) {
    /// A warning of the builder of policies, and the rule that says more.
    const SAME: [(&str, &str); 3] = [
        ("SG-A002", "tail drop comes first"),
        ("SG-A009", "counts bytes"),
        ("SG-S001", "it never binds"),
    ];
    // The class, or the policy.
    let class = |path: &str| {
        let end = path.find(']').map(|i| i + 1).or_else(|| path.find(".aqm"));
        path[..end.unwrap_or(path.len())].to_owned()
    };
    let rules: Vec<(&'static str, String)> = found.iter().map(|f| (f.id, class(&f.path))).collect();
    let readers: Vec<(Option<u32>, String, String)> = found
        .iter()
        .filter(|f| f.id == "W0412")
        .map(|f| (f.line, f.path.clone(), f.message.clone()))
        .collect();
    found.retain(|f| match f.id {
        "W0401" => !SAME.iter().any(|(rule, said)| {
            let at = class(&f.path);
            let same =
                |(id, path): &(&str, String)| id == rule && (*rule == "SG-S001" || *path == at);
            f.message.contains(said) && rules.iter().any(same)
        }),
        // All customers without packets are one warning.
        "SG-C002" => !readers.iter().any(|(_, path, said)| {
            let policy = |p: &str| p.split(".class-based").next().map(str::to_owned);
            said.starts_with("no flow of the scenario sends packets of customer")
                && policy(path) == policy(&f.path)
        }),
        "SG-S003" => !readers
            .iter()
            .any(|(line, _, said)| *line == f.line && said.starts_with("the bucket of customer")),
        _ => true,
    });
}

rule_text! { NEVER_MATCHED = "SG-C002", "class-never-matched", Warning, "No flow of the scenario belongs to a class";
    why "The class is reachable, but no packet of the traffic that crosses the link has what it asks for. Most often a DSCP is misspelt, packets are marked elsewhere than was thought, or a flow is missing in the scenario.\n\nThe flows that were meant for it wait in another class, mostly class-default, and results show a class with no packets.";
    fix "Compare the class's conditions with the DSCPs, addresses and ports of the traffic; leave the class out if it is to stay empty.";
    from "Spillgate: classification of the scenario's flows";
}

fn never_matched(
    surveyed: &Surveyed,
    reached: &Reached,
    everywhere: &[usize],
    found: &mut Gathered<'_>,
) {
    for ((policy, class), _) in reached.classes.iter().filter(|(_, got)| !**got) {
        let key = (policy.clone(), *class);
        let variant = reached.points.get(&key).copied().unwrap_or(0);
        let spec = surveyed.variants[variant].policies.get(policy);
        let Some(DisciplineSpec::ClassBased(spec)) = spec else {
            continue;
        };
        let Some(c) = spec
            .classes
            .get(*class)
            .filter(|c| c.name != "class-default")
        else {
            continue;
        };
        let hit = Hit {
            rule: &NEVER_MATCHED,
            spot: Spot {
                policy: policy.clone(),
                class: Some(*class),
                key: "match".to_owned(),
            },
            message: format!("no flow of the scenario belongs to class {}", c.name),
        };
        let finding = placed(surveyed, variant, hit);
        // A class that an earlier one shadows has no flows for that reason.
        let shadowed =
            |f: &Finding| f.id == "SG-C001" && (&f.file, f.line) == (&finding.file, finding.line);
        if !found.any(shadowed) {
            found.add(everywhere, finding);
        }
    }
}

fn read(files: &dyn Files, path: &Path) -> String {
    files.read(path).map(|b| lossy(&b)).unwrap_or_default()
}

/// The texts of all configurations.
fn configs(surveyed: &Surveyed, files: &dyn Files) -> Vec<(String, String)> {
    let mut paths: Vec<_> = surveyed.variants.iter().flat_map(|v| &v.configs).collect();
    let mut seen = BTreeSet::new();
    paths.retain(|p| seen.insert(*p));
    let text = |path: &PathBuf| (path.display().to_string(), read(files, path));
    paths.into_iter().map(text).collect()
}

/// Marks every class of a policy, and of nested policies, as having flows.
fn any_class(policy: &Policy<'_>, reached: &mut BTreeMap<(String, usize), bool>) {
    for class in policy.classes().iter().filter(|c| c.written) {
        reached.insert((policy.name.to_owned(), class.index), true);
        if let Some(inner) = &class.inner {
            any_class(inner, reached);
        }
    }
}

/// The strictest delay that is required of each class of service, in seconds.
fn delays(plan: &Plan) -> BTreeMap<String, (f64, String)> {
    let mut strictest: BTreeMap<String, (f64, String)> = BTreeMap::new();
    for r in &plan.sla {
        let Some(max) = r.max.filter(|_| r.metric.is_delay()) else {
            continue;
        };
        let entry = (max, r.metric.name().to_owned());
        let known = strictest
            .entry(r.class.clone())
            .or_insert_with(|| entry.clone());
        if max < known.0 {
            *known = entry;
        }
    }
    strictest
}

/// A finding at its place in the scenario or in a configuration.
fn placed(surveyed: &Surveyed, variant: usize, hit: Hit) -> Finding {
    let spot = &hit.spot;
    // The condition of a class is elsewhere in a configuration; the finding is at its line in the
    // policy.
    let elsewhere = spot.key == "match" && !surveyed.is_inline(variant, &spot.policy);
    let key = if elsewhere { "" } else { &spot.key };
    let d = Diagnostic::warning(hit.rule.id, hit.message);
    let d = surveyed.place(variant, &spot.policy, spot.class, key, d);
    Finding::new(hit.rule, d)
}

rule_text! { EXP_UNSET = "SG-M001", "exp-not-set-from-dscp", Warning, "A provider edge gives marked packets EXP 0, the bits of best effort";
    why "Inside an MPLS network nodes see the EXP bits of the top label, not the DSCP below it. What an edge does not copy is lost for the whole way: a voice packet with EXP 0 waits with best effort in every core node, whatever the core's policy promises to EXP 5.\n\nWithout a table the upper three bits of the DSCP are copied. A table that maps a marked DSCP to 0 takes its class away, on purpose or by an entry that was meant for another code point.";
    fix "Take the entry out of `imposition`, give it the EXP bits that the core's classes match, or set them in a class (`set mpls experimental imposition`, `set_exp_imposition`).";
    from "RFC 3270, sections 2.5 and 2.6; RFC 5462; Cisco IOS, `set mpls experimental imposition`";
}

/// Marked flows that get EXP 0 at a provider edge.
fn unset_exp(surveyed: &Surveyed, variant: usize, world: &WorldPlan) -> Option<Finding> {
    let mpls = world.stages.mpls()?;
    let policies = &surveyed.variants.get(variant)?.policies;
    // If a class sets the bits of some packets, there is no finding.
    let set = policies.values().any(|spec| match spec {
        DisciplineSpec::ClassBased(spec) => {
            let mut classes = spec.classes.iter();
            classes.any(|c| c.set_exp_imposition.is_some() || c.set_dscp.is_some())
        }
        _ => false,
    });
    if set {
        return None;
    }
    let ends = |l: u32| (world.links[l as usize].from, world.links[l as usize].to);
    let lost = |f: &&spillgate_scenario::plan::FlowPlan| {
        let dscp = f.dscp;
        let labelled = !mpls
            .tunnels(&world.routes[f.route as usize], ends)
            .is_empty();
        labelled && dscp.precedence() > 0 && mpls.exp_of[usize::from(dscp.value())] == 0
    };
    let mut dscps: Vec<_> = world.flows.iter().filter(lost).map(|f| f.dscp).collect();
    dscps.sort_unstable();
    dscps.dedup();
    let first = dscps.first()?.to_string();
    let names: Vec<String> = dscps.iter().map(ToString::to_string).collect();
    let flows = world.flows.iter().filter(lost).count();
    let message = format!(
        "{flows} flows with DSCP {} get EXP 0 at the provider edge: the core takes them for best effort",
        names.join(", ")
    );
    let d = Diagnostic::warning(EXP_UNSET.id, message);
    let keys = ["topology", "mpls", "imposition", &first];
    let d = surveyed.place_at(variant, &keys, d);
    Some(Finding::new(&EXP_UNSET, d))
}

/// The scenario's own policies that no link uses at any point.
fn unused(surveyed: &Surveyed, used: &BTreeSet<String>) -> Vec<Finding> {
    let Some(first) = surveyed.variants.first() else {
        return Vec::new();
    };
    let all = surveyed.variants.iter().flat_map(|v| v.policies.values());
    let nested: BTreeSet<&str> = all.flat_map(DisciplineSpec::nested).collect();
    let own = first.policies.keys();
    let spare = own.filter(|name| {
        surveyed.is_inline(0, name) && !used.contains(*name) && !nested.contains(name.as_str())
    });
    let finding = |name: &String| {
        let d = Diagnostic::warning(POLICY_UNUSED.id, format!("no link has policy `{name}`"));
        Finding::new(&POLICY_UNUSED, surveyed.place(0, name, None, "", d))
    };
    spare.map(finding).collect()
}
