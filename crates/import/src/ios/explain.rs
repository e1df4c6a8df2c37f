//! Explains how a configuration was understood.

use std::collections::{BTreeMap, BTreeSet};

use spillgate_core::{Overhead, Rate};
use spillgate_queueing::spec::DisciplineSpec;
use spillgate_queueing::{Counting, Enclosing, Outline, Policy, Recipe};
use spillgate_scenario::import::RouterCounting;
use spillgate_scenario::plan::{RingFrom, RingPlan};
use spillgate_scenario::{Diagnostic, Diagnostics, Imported, ImportedInterface};

use super::ast::{Config, Test};
use super::fault::code;
use super::interface_words::canonical;
use super::lower::rates::{Source, reference_of};
use super::platform::{PlatformProfile, Reference};
use super::ports::ports;
use super::understood::{CircuitFacts, InterfaceTree, PlatformFacts, RingFacts, Understood};
use spillgate_core::suggest::nearest;

/// Classes of an interface's policy with all that is nested in it; the queueing engine takes no
/// more.
const MAX_CLASSES: usize = 4096;

/// Builds the explanation, of `interface` only if one is given.
pub(super) fn explain(
    file: &str,
    config: &Config<'_>,
    profile: &PlatformProfile,
    imported: Imported,
    interface: Option<&str>,
) -> Result<Understood, Diagnostics> {
    let chosen = match interface {
        None => None,
        Some(asked) => Some(choose(file, config, &imported, asked)?),
    };
    let written = ports(config);
    let shown = imported.interfaces.iter().filter(|(name, i)| {
        chosen.as_ref().map_or_else(
            || i.output_policy.is_some() || i.input_policy.is_some(),
            |c| c == *name,
        )
    });
    // Of an interface that was asked for all is shown, of others the names of their policies.
    let mut left = chosen.as_ref().map(|_| MAX_CLASSES);
    let tree = |name: &str, rate: Option<Rate>, left: &mut Option<usize>| {
        let policy = Policy::of(&imported.policies, name, rate.map(Enclosing::from))?;
        *left = left.and_then(|n| n.checked_sub(policy.count(n)));
        let mut tree = match left {
            Some(_) => policy.outline(None),
            None => policy.head(None),
        };
        locate(&mut tree, config, &imported, true);
        Some(tree)
    };
    let mut recipes = BTreeMap::new();
    let interfaces = shown
        .map(|(name, i)| {
            let written = written.iter().find(|p| p.name == *name);
            let known = written.and_then(|w| reference_of(config, w, profile));
            let rate = known.map(|(r, _)| r);
            InterfaceTree {
                name: name.clone(),
                line: i.line,
                rate: rate.map(Rate::bps),
                rate_from: from(known.map(|(_, s)| s), profile),
                counted_bytes: i.counted.counting.policers.map(|c| c.per_packet()),
                counts: counts(i),
                circuit: i.circuit.as_ref().map(CircuitFacts::of),
                ring: ring(file, profile, &imported, i, rate, &mut recipes).map(RingFacts::from),
                policy: i
                    .output_policy
                    .as_ref()
                    .and_then(|(p, _)| tree(p, rate, &mut left)),
                input: i
                    .input_policy
                    .as_ref()
                    .and_then(|(p, _)| tree(p, rate, &mut left)),
            }
        })
        .collect();
    if chosen.is_some() && left.is_none() {
        let message =
            format!("the policy has more than {MAX_CLASSES} classes with those nested in it");
        let d = Diagnostic::error(code::TOO_LARGE, message);
        return Err(d.in_file(file).hint("nest fewer policies").into());
    }
    let attached = imported.interfaces.values();
    let mut used: BTreeSet<&str> = attached
        .flat_map(|i| [i.output_policy.as_ref(), i.input_policy.as_ref()])
        .flatten()
        .map(|(p, _)| p.as_str())
        .collect();
    used.extend(imported.policies.values().flat_map(DisciplineSpec::nested));
    let unattached = imported.places.keys();
    // Of a large configuration the first are shown with their classes, the rest by name.
    left = Some(MAX_CLASSES);
    let unattached = unattached
        .filter(|name| !used.contains(name.as_str()))
        .filter_map(|name| tree(name, None, &mut left))
        .collect();
    Ok(Understood {
        file: file.to_owned(),
        platform: PlatformFacts {
            name: profile.platform.name(),
            summary: profile.summary,
            counts: profile.counted.in_words(),
            sources: profile.sources,
        },
        interfaces,
        unattached,
        unmodelled: imported.unmodelled,
        warnings: imported.warnings,
    })
}

/// Policies that have been resolved, by name and rate; none if that failed.
type Recipes = BTreeMap<(String, Rate), Option<Recipe>>;

/// The transmit ring behind the output policy of an interface.
fn ring(
    file: &str,
    profile: &PlatformProfile,
    imported: &Imported,
    interface: &ImportedInterface,
    rate: Option<Rate>,
    known: &mut Recipes,
) -> Option<RingPlan> {
    if let Some((packets, spot)) = interface.tx_ring {
        let from = RingFrom::Config(format!("{file}:{}", spot.line));
        return Some(RingPlan { packets, from });
    }
    let (policy, rate) = (&interface.output_policy.as_ref()?.0, rate?);
    let recipe = known.entry((policy.clone(), rate)).or_insert_with(|| {
        let resolved = Recipe::resolve(policy, &imported.policies, rate);
        resolved.ok().map(|(recipe, _)| recipe)
    });
    Some(profile.rings.ring(profile.platform, rate, recipe.as_ref()?))
}

/// The full name of the interface that the user means.
fn choose(
    file: &str,
    config: &Config<'_>,
    imported: &Imported,
    asked: &str,
) -> Result<String, Diagnostics> {
    let name = canonical(asked);
    if let Some((known, found)) = imported.interface(&name) {
        if found.circuits.is_empty() {
            return Ok(known.to_owned());
        }
        let message = format!("interface {known} has several circuits");
        let d = Diagnostic::error(code::SEVERAL_CIRCUITS, message);
        let hint = format!("name one of them: {}", found.circuits.join(", "));
        return Err(d.in_file(file).found(asked).hint(hint).into());
    }
    let all = || imported.interfaces.keys().map(String::as_str);
    let with_policy = ports(config)
        .into_iter()
        .filter(|p| p.output_policy.is_some() || p.input_policy.is_some());
    let with_policy = with_policy.map(|p| p.name);
    let listed: Vec<String> = with_policy.take(20).collect();
    let hint = match nearest(&name, all()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if listed.is_empty() => "no interface has a service-policy".to_owned(),
        None => format!("interfaces with a service-policy: {}", listed.join(", ")),
    };
    let d = Diagnostic::error(
        code::NO_INTERFACE,
        format!("there is no interface `{name}`"),
    );
    Err(d.in_file(file).found(asked).hint(hint).into())
}

fn from(source: Option<Source>, profile: &PlatformProfile) -> &'static str {
    match source {
        Some(Source::Bandwidth) => "its bandwidth command",
        Some(Source::Contract) => "the contract of its circuit",
        Some(Source::Parent) => "the bandwidth command of the main interface",
        Some(Source::Speed) => "the speed of its port",
        Some(Source::Type) if profile.reference == Reference::Line => "the line rate of its type",
        Some(Source::Type) => "no bandwidth command; the default of its type",
        None => "no bandwidth command, and its type has no default",
    }
}

/// Which bytes the rates of an interface's policies count.
fn counts(interface: &ImportedInterface) -> String {
    let RouterCounting {
        counting: Counting { policers, queues },
        at_most_link,
    } = interface.counted;
    let most = match at_most_link {
        true => ", or what the link of the scenario adds where that is less",
        false => "",
    };
    let bytes = |o: Overhead| o.in_words();
    match (policers, queues) {
        (Some(police), Some(queue)) if police == queue => format!(
            "`bandwidth`, `shape`, `police` and `priority` count {}{most}",
            bytes(police)
        ),
        (Some(police), None) if interface.circuit.is_some() => format!(
            "`police` and `priority` count {}, `shape` and `bandwidth` the cells of the circuit",
            bytes(police)
        ),
        _ => "`bandwidth`, `shape`, `police` and `priority` count what the link of the scenario adds to the IP packet".to_owned(),
    }
}

/// Adds where the policies stand, and the criteria of classes that are not modelled.
fn locate(node: &mut Outline, config: &Config<'_>, imported: &Imported, top: bool) {
    let place = node.policy.as_ref().and_then(|p| imported.places.get(p));
    node.line = place.map(|p| p.spot.line);
    // `/` of a class's name is `_` in the specification.
    let maps = config.class_maps.iter();
    let mut maps = maps.filter(|(name, _)| !top && name.replace('/', "_") == node.name);
    let criteria = maps.next().map(|(_, m)| &m.criteria[..]);
    let unknown = criteria.unwrap_or_default().iter();
    node.notes = unknown
        .filter(|c| c.value.test == Test::Unmodelled)
        .map(|c| format!("not modelled: {} (line {})", c.origin.text, c.origin.line))
        .collect();
    for class in &mut node.classes {
        locate(class, config, imported, false);
    }
}
