//! Rules on scenarios: policies with the rates of their links and the traffic that crosses them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use spillgate_core::Rate;
use spillgate_import::IosImporter;
use spillgate_queueing::spec::DisciplineSpec;
use spillgate_queueing::{Line, Policy};
use spillgate_scenario::plan::{Plan, WorldPlan};
use spillgate_scenario::survey::{Surveyed, survey};
use spillgate_scenario::{Diagnostic, Diagnostics, Files, Options};

use crate::cfg::POLICY_UNUSED;
use crate::registry::{Rule, rule_text};
use crate::traffic::{self, Load};
use crate::view::{Hit, Question, Spot};
use crate::{Finding, Selection, cfg, finish, lossy, mtu};

pub(crate) const RULES: &[&Rule] = &[&EXP_UNSET, &NEVER_MATCHED];

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
    let surveyed = survey(path, files, &IosImporter::default(), options)?;
    let mut texts = vec![(path.display().to_string(), read(files, path))];
    texts.extend(configs(&surveyed, files));
    let mut found = cfg::of_reader(surveyed.warnings.clone());
    found.extend(cfg::of_lines(&surveyed.plan.unmodelled));
    let objectives = objectives(&surveyed.plan);
    // Whether each class of each policy has had a packet in any variant.
    let mut reached: BTreeMap<(String, usize), bool> = BTreeMap::new();
    let mut places: BTreeMap<(String, usize), usize> = BTreeMap::new();
    let mut used: Vec<String> = Vec::new();
    for (i, variant) in surveyed.variants.iter().enumerate() {
        let Some(plan) = surveyed.plan.variants.get(i) else {
            continue;
        };
        found.extend(unset_exp(&surveyed, i, &plan.world));
        found.extend(mtu::check(&surveyed, i, &plan.world));
        for (policy, line, links) in ports(&plan.world) {
            let Some(tree) = Policy::of(&variant.policies, policy, Some(line.into())) else {
                continue;
            };
            used.push(policy.to_owned());
            let all = loads(&plan.world, &links, &variant.policies);
            // Of links that are alike the one with the most flows is judged; a class needs a flow on
            // one of them only.
            let most = all.iter().flatten().max_by_key(|l| l.len());
            let flows: Option<Vec<&Load>> = most.map(|l| l.iter().collect());
            let name = links
                .first()
                .and_then(|l| plan.world.links.get(*l as usize));
            let whose = format!("link {}", name.map_or("", |l| &l.name));
            let ask = |flows: Option<&[&Load]>| {
                let mut question = Question {
                    whose: &whose,
                    objectives: &objectives,
                    warmup: Some(plan.world.warmup.as_secs_f64()),
                    reached: BTreeMap::new(),
                    hits: Vec::new(),
                };
                question.policy(&tree, flows);
                (question.reached, question.hits)
            };
            let (classes, hits) = ask(flows.as_deref());
            let mut got = vec![classes];
            for other in all.iter().flatten().filter(|l| !l.is_empty()) {
                got.push(ask(Some(&other.iter().collect::<Vec<_>>())).0);
            }
            for (class, got) in got.into_iter().flatten() {
                places.entry(class.clone()).or_insert(i);
                *reached.entry(class).or_default() |= got;
            }
            if all.iter().any(Option::is_none) || links.len() > all.len() {
                any_class(&tree, &mut reached);
            }
            found.extend(hits.into_iter().map(|h| placed(&surveyed, i, h)));
        }
        let inputs = plan.world.links.iter().filter_map(|l| l.input.as_ref());
        used.extend(inputs.map(|i| i.policy.clone()));
        let switches = plan.world.switches.iter();
        used.extend(switches.filter_map(|s| s.spec.policy.clone()));
    }
    never_matched(&surveyed, &reached, &places, &mut found);
    unused(&surveyed, &used, &mut found);
    // The builder of policies says the same of shapers, at the policy's line.
    let own: Vec<_> = found.iter().map(|f| f.id).collect();
    if own.contains(&"SG-S001") {
        found.retain(|f| !(f.id == "W0401" && f.message.contains("it never binds")));
    }
    Ok(finish(found, &texts, selection))
}

rule_text! { NEVER_MATCHED = "SG-C002", "class-never-matched", Warning, "No flow of the scenario belongs to a class";
    why "The class is reachable, but no packet of the traffic that crosses the link has what it asks for. Most often a DSCP is misspelt, packets are marked elsewhere than was thought, or a flow is missing in the scenario.\n\nThe flows that were meant for it wait in another class, mostly class-default, and results show a class with no packets.";
    fix "Compare the class's conditions with the DSCPs, addresses and ports of the traffic; leave the class out if it is to stay empty.";
    from "Spillgate: classification of the scenario's flows";
}

fn never_matched(
    surveyed: &Surveyed,
    reached: &BTreeMap<(String, usize), bool>,
    places: &BTreeMap<(String, usize), usize>,
    found: &mut Vec<Finding>,
) {
    for ((policy, class), _) in reached.iter().filter(|(_, got)| !**got) {
        let key = (policy.clone(), *class);
        let variant = places.get(&key).copied().unwrap_or(0);
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
        if !found.iter().any(shadowed) {
            found.push(finding);
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

/// Links by the policy and the rate that they have.
fn ports(world: &WorldPlan) -> Vec<(&str, Line, Vec<u32>)> {
    let mut ports: BTreeMap<(&str, Rate), Vec<(Line, Vec<u32>)>> = BTreeMap::new();
    for (id, link) in (0_u32..).zip(&world.links) {
        let Some(line) = link.discipline.line() else {
            continue;
        };
        let alike = ports.entry((&link.policy, line.rate)).or_default();
        match alike.iter_mut().find(|(l, _)| *l == line) {
            Some((_, links)) => links.push(id),
            None => alike.push((line, vec![id])),
        }
    }
    let ports = ports.into_iter();
    ports
        .flat_map(|((policy, _), all)| all.into_iter().map(move |(l, links)| (policy, l, links)))
        .collect()
}

/// Of a thousand access links a few dozen say what their traffic is like.
const LOOKED_AT: usize = 32;

/// The flows on each of the first links; none where they are not known.
fn loads(
    world: &WorldPlan,
    links: &[u32],
    policies: &BTreeMap<String, DisciplineSpec>,
) -> Vec<Option<Vec<Load>>> {
    let looked_at = links.iter().take(LOOKED_AT);
    looked_at
        .map(|l| traffic::on(world, *l, policies))
        .collect()
}

/// Takes every class of a policy, and of those inside it, for one that has flows.
fn any_class(policy: &Policy<'_>, reached: &mut BTreeMap<(String, usize), bool>) {
    for class in policy.classes().iter().filter(|c| c.written) {
        reached.insert((policy.name.to_owned(), class.index), true);
        if let Some(inner) = &class.inner {
            any_class(inner, reached);
        }
    }
}

/// The strictest delay that is required of each class of service, in seconds.
fn objectives(plan: &Plan) -> BTreeMap<String, (f64, String)> {
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
    // What a class of a configuration matches stands elsewhere; its line in the policy is meant.
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
    let mpls = world.mpls.as_ref()?;
    let policies = &surveyed.variants.get(variant)?.policies;
    // A class may set the bits of some of the packets: nothing is said then.
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

/// The scenario's own policies that no link of any variant has.
fn unused(surveyed: &Surveyed, used: &[String], found: &mut Vec<Finding>) {
    let Some(first) = surveyed.variants.first() else {
        return;
    };
    let all = surveyed.variants.iter().flat_map(|v| v.policies.values());
    let nested: Vec<&str> = all.flat_map(DisciplineSpec::nested).collect();
    for name in first.policies.keys() {
        let inline = surveyed.is_inline(0, name);
        if inline && !used.contains(name) && !nested.contains(&name.as_str()) {
            let d = Diagnostic::warning(POLICY_UNUSED.id, format!("no link has policy `{name}`"));
            let d = surveyed.place(0, name, None, "", d);
            found.push(Finding::new(&POLICY_UNUSED, d));
        }
    }
}
