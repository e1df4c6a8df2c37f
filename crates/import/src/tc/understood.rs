//! What was understood of a script, for people and programs.

use std::collections::BTreeSet;

use spillgate_core::suggest::nearest;
use spillgate_queueing::spec::DisciplineSpec;
use spillgate_queueing::{Outline, Policy};
use spillgate_scenario::import::Spot;
use spillgate_scenario::{Diagnostic, Diagnostics, Imported};

use crate::ios::fault::code;
use crate::ios::{InterfaceTree, PlatformFacts, Understood, Written, WrittenInterface};

/// What was understood of all devices, or of one.
///
/// # Errors
/// There is no such device.
pub(crate) fn understand(
    file: &str,
    imported: Imported,
    device: Option<&str>,
) -> Result<Understood, Diagnostics> {
    let names = || imported.interfaces.keys().map(String::as_str);
    if let Some(asked) = device.filter(|d| !imported.interfaces.contains_key(*d)) {
        let message = format!("there is no device `{asked}`");
        let hint = match nearest(asked, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("devices there: {}", names().collect::<Vec<_>>().join(", ")),
        };
        let d = Diagnostic::error(code::NO_INTERFACE, message);
        return Err(d.in_file(file).found(asked).hint(hint).into());
    }
    let tree = |name: &str| {
        let policy = Policy::of(&imported.policies, name, None)?;
        let mut tree = policy.outline(None);
        locate(&mut tree, &imported);
        Some(tree)
    };
    let shown = imported.interfaces.iter();
    let shown = shown.filter(|(name, i)| match device {
        Some(asked) => *name == asked,
        None => i.output_policy.is_some() || i.input_policy.is_some(),
    });
    let interfaces = shown
        .map(|(name, i)| InterfaceTree {
            name: name.clone(),
            line: i.line,
            rate: None,
            rate_from: "a device has no rate of its own in tc",
            counted_bytes: i.counted.counting.queues.map(|c| c.per_packet()),
            counts: i
                .counted
                .counting
                .queues
                .map_or_else(String::new, |c| format!("all rates count {}", c.in_words())),
            circuit: None,
            ring: None,
            policy: i.output_policy.as_ref().and_then(|(p, _)| tree(p)),
            input: i.input_policy.as_ref().and_then(|(p, _)| tree(p)),
        })
        .collect();
    let attached = imported.interfaces.values();
    let mut used: BTreeSet<&str> = attached
        .flat_map(|i| [i.output_policy.as_ref(), i.input_policy.as_ref()])
        .flatten()
        .map(|(p, _)| p.as_str())
        .collect();
    used.extend(imported.policies.values().flat_map(DisciplineSpec::nested));
    let unattached = imported.policies.keys();
    let unattached = unattached
        .filter(|name| !used.contains(name.as_str()))
        .filter_map(|name| tree(name))
        .collect();
    Ok(Understood {
        file: file.to_owned(),
        platform: PlatformFacts {
            name: "tc",
            summary: "commands of Linux tc",
            counts: "the IP packet and 14 B, and what a size table (stab) adds".to_owned(),
            sources: &["tc(8) and the pages of its disciplines; net/sched of Linux 6.18"],
        },
        interfaces,
        unattached,
        unmodelled: imported.unmodelled,
        warnings: imported.warnings,
    })
}

/// Adds where policies stand.
fn locate(node: &mut Outline, imported: &Imported) {
    let place = node.policy.as_ref().and_then(|p| imported.places.get(p));
    node.line = place.map(|p| p.spot.line);
    for class in &mut node.classes {
        locate(class, imported);
    }
}

/// Where everything of a script stands.
pub(crate) fn written(imported: Imported) -> Written {
    let spot = |line: u32| Spot {
        line,
        column: 1,
        width: 0,
    };
    let interfaces = imported
        .interfaces
        .iter()
        .map(|(name, i)| WrittenInterface {
            name: name.clone(),
            spot: spot(i.line),
            category: None,
            rate: None,
            stated: false,
            own: false,
            policy: i
                .output_policy
                .as_ref()
                .map(|(p, line)| (p.clone(), spot(*line))),
            input: i
                .input_policy
                .as_ref()
                .map(|(p, line)| (p.clone(), spot(*line))),
            dot1q: false,
            labels: None,
        });
    let mut interfaces: Vec<_> = interfaces.collect();
    interfaces.sort_by_key(|i| i.spot);
    Written {
        policies: imported
            .policies
            .keys()
            .map(|p| (p.clone(), true))
            .collect(),
        interfaces,
        imported,
        ..Written::default()
    }
}
