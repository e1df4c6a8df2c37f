//! Rules on router configurations.

use std::collections::BTreeMap;

use spillgate_import::{ConfigImporter, Written};
use spillgate_queueing::Policy;
use spillgate_queueing::spec::{ClassBasedSpec, ClassSpec, DisciplineSpec};
use spillgate_scenario::import::Spot as Place;
use spillgate_scenario::plan::Unmodelled;
use spillgate_scenario::{Diagnostic, Diagnostics, Platform};

use crate::registry::{Rule, rule_text};
use crate::view::{Hit, Question, Spot};
use crate::{Finding, Selection, finish, lossy};

pub(crate) const RULES: &[&Rule] = &[
    &CLASS_UNUSED,
    &COS_UNTAGGED,
    &GUARANTEE_ON_UBR,
    &LIST_UNUSED,
    &NO_BANDWIDTH,
    &NO_EFFECT,
    &NOT_UNDERSTOOD,
    &OVER_CAP,
    &POLICY_UNUSED,
];

/// Checks a Cisco IOS configuration as `platform` reads it; `file` is its name for findings.
///
/// # Errors
/// Everything that makes the configuration unreadable, including references to undefined
/// class-maps, policy-maps and access lists.
pub fn configuration(
    file: &str,
    bytes: &[u8],
    platform: Platform,
    selection: &Selection,
) -> Result<Vec<Finding>, Diagnostics> {
    selection.check()?;
    let written = ConfigImporter::default().written(file, bytes, platform)?;
    let mut found = of_reader(written.imported.warnings.clone());
    found.extend(of_lines(&written.imported.unmodelled));
    unused(file, &written, &mut found);
    let none = BTreeMap::new();
    let mut attached: Vec<&str> = Vec::new();
    let mut seen: Vec<(&str, Option<spillgate_core::Rate>)> = Vec::new();
    for interface in &written.interfaces {
        let Some((policy, spot)) = &interface.policy else {
            continue;
        };
        attached.push(policy);
        untagged(file, &written, interface, policy, 0, &mut found);
        if let Some(DisciplineSpec::ClassBased(spec)) = written.imported.policies.get(policy) {
            if interface.category == Some("ubr") {
                on_ubr(file, spec, interface, policy, *spot, &mut found);
            }
            let circuit = interface.category.is_some();
            if !interface.stated && !circuit && interface.name.contains('.') {
                sub_interface(file, spec, interface, *spot, &mut found);
            }
        }
        let rate = interface.rate.filter(|_| interface.stated);
        if seen.contains(&(policy, rate)) {
            continue;
        }
        seen.push((policy, rate));
        let whose = format!("interface {}", interface.name);
        ask(file, &written, policy, rate, &whose, &none, &mut found);
    }
    // A policy that no interface has is judged without a rate.
    let policies = written.imported.policies.values();
    let mut nested: Vec<&str> = policies.flat_map(DisciplineSpec::nested).collect();
    nested.sort_unstable();
    attached.sort_unstable();
    for name in written.imported.policies.keys() {
        let known = |list: &[&str]| list.binary_search(&name.as_str()).is_ok();
        if !known(&attached) && !known(&nested) {
            ask(file, &written, name, None, "the link", &none, &mut found);
        }
    }
    let text = lossy(bytes);
    crate::exp::check(file, &text, &written, &mut found);
    let texts = [(file.to_owned(), text)];
    Ok(finish(found, &texts, selection))
}

rule_text! { COS_UNTAGGED = "SG-C007", "cos-untagged", Warning, "A policy sets a CoS, and the frames of its interface carry no 802.1Q tag";
    why "The CoS is three bits of the 802.1Q tag. An interface without `encapsulation dot1q` (or a trunk) sends frames without a tag: the command is taken, the counters of the class go up, and the switch behind sees nothing of it. What that switch does with untagged frames is decided by its port: most often it is the queue of best effort.";
    fix "Set the CoS on the sub-interface that has the tag, or let the switch behind go by DSCP.";
    from "IEEE 802.1Q, clause 9.6 (the priority code point is in the tag); Cisco IOS QoS command reference, `set cos`";
}

/// A CoS that the frames of an interface cannot carry.
fn untagged(
    file: &str,
    written: &Written,
    interface: &spillgate_import::WrittenInterface,
    policy: &str,
    depth: usize,
    found: &mut Vec<Finding>,
) {
    // Frames of a VLAN are tagged where they leave the switch.
    let tagged = interface.dot1q
        || ["Vlan", "BVI", "BDI"]
            .iter()
            .any(|t| interface.name.starts_with(t));
    let Some((policy, DisciplineSpec::ClassBased(spec))) =
        written.imported.policies.get_key_value(policy)
    else {
        return;
    };
    if tagged || depth > 8 {
        return;
    }
    for (i, class) in spec.classes.iter().enumerate() {
        if let Some(cos) = class.set_cos {
            let message = format!(
                "class {} sets CoS {cos}, and frames of {} carry no 802.1Q tag",
                class.name, interface.name
            );
            let spot = Spot {
                policy: policy.clone(),
                class: Some(i),
                key: "set_cos".to_owned(),
            };
            found.push(placed(
                file,
                written,
                Hit {
                    rule: &COS_UNTAGGED,
                    spot,
                    message,
                },
            ));
        }
        if let Some(inner) = &class.policy {
            untagged(file, written, interface, inner, depth + 1, found);
        }
    }
}

fn ask(
    file: &str,
    written: &Written,
    policy: &str,
    rate: Option<spillgate_core::Rate>,
    whose: &str,
    objectives: &BTreeMap<String, (f64, String)>,
    found: &mut Vec<Finding>,
) {
    let around = rate.map(Into::into);
    let Some(policy) = Policy::of(&written.imported.policies, policy, around) else {
        return;
    };
    let mut question = Question {
        whose,
        arrival: false,
        objectives,
        warmup: None,
        reached: BTreeMap::new(),
        hits: Vec::new(),
    };
    question.policy(&policy, None);
    let hits = question.hits;
    found.extend(hits.into_iter().map(|hit| placed(file, written, hit)));
}

rule_text! { OVER_CAP = "SG-Q002", "reserved-above-cap", Warning, "Classes reserve more of the link than the platform allows";
    why "IOS before 12.4(20)T lets `bandwidth` and `priority` reserve 75 % of an interface, or what `max-reserved-bandwidth` says; all releases refuse reservations above the whole rate. A policy that is refused when it is attached leaves the interface with none.\n\nThe rest is for class-default, routing protocols and layer-2 keepalives, which no class counts.";
    fix "Lower the classes, or raise `max-reserved-bandwidth` where it has an effect.";
    from "Cisco IOS QoS command reference, `max-reserved-bandwidth`, `bandwidth (policy-map class)`";
}

/// The warnings of a reader. A warning that a rule covers becomes a finding of the rule.
pub(crate) fn of_reader(warnings: Vec<Diagnostic>) -> Vec<Finding> {
    let convert = |d: Diagnostic| match d.code {
        "W0707" => {
            let help = d.hint.clone();
            let mut f = Finding::new(&OVER_CAP, d);
            f.help = help.unwrap_or(f.help);
            f
        }
        _ => Finding::of_reader(d),
    };
    warnings.into_iter().map(convert).collect()
}

rule_text! { NOT_UNDERSTOOD = "SG-R001", "line-not-understood", Warning, "A line about queueing is not understood";
    why "The line stands where commands of queueing stand, and it is none that is known. A misspelt command does nothing on the router either: it was refused when it was typed or pasted, and what it was to do is not done. Here it has no effect; a `match` that is not known holds for no packet.";
    fix "Correct the line. If the router takes it as it stands, judge what the simulation lacks without it.";
    from "The reader of the configuration: `spillgate import` lists the same lines";
}

rule_text! { NO_EFFECT = "SG-R002", "line-without-effect", Note, "A line about queueing has no effect, or less than on the router";
    why "The line was understood, and the simulation has no such thing: what stands in for it is in the message. Results differ from the router's as far as the line matters there.";
    fix "Judge whether it matters for what you want to know; where there is an equivalent, the message names it.";
    from "The reader of the configuration: `spillgate import` lists the same lines";
}

/// Findings for the lines of a configuration that were not understood or have no effect.
pub(crate) fn of_lines(lines: &[Unmodelled]) -> Vec<Finding> {
    let convert = |u: &Unmodelled| {
        let rule = if u.understood {
            &NO_EFFECT
        } else {
            &NOT_UNDERSTOOD
        };
        let message = format!("`{}`: {}", u.text.trim(), u.reason);
        let mut d = Diagnostic::warning(rule.id, message).at(&u.file, u.line, 1);
        d.width = u32::try_from(u.text.trim().chars().count()).unwrap_or(0);
        let mut finding = Finding::new(rule, d);
        // The column follows from the text of the line.
        finding.column = None;
        finding
    };
    lines.iter().map(convert).collect()
}

/// A finding at its line of a configuration.
pub(crate) fn placed(file: &str, written: &Written, hit: Hit) -> Finding {
    let place = place(written, &hit.spot);
    at(file, hit.rule, place, hit.message)
}

pub(crate) fn at(file: &str, rule: &'static Rule, place: Place, message: String) -> Finding {
    let mut d = Diagnostic::warning(rule.id, message).at(file, place.line, place.column);
    d.width = place.width;
    Finding::new(rule, d)
}

/// The place of a key, or the nearest above it.
fn place(written: &Written, spot: &Spot) -> Place {
    let Some(policy) = written.imported.places.get(&spot.policy) else {
        return Place::default();
    };
    match spot.class.and_then(|i| policy.classes.get(i)) {
        None => policy.spot,
        // Shadowing is about the order of classes, so the finding is at the class's line in the
        // policy.
        Some(class) if spot.key == "match" => class.spot,
        Some(class) => class.nearest(&spot.key),
    }
}

rule_text! { CLASS_UNUSED = "SG-C004", "class-map-unused", Note, "No policy uses a class-map";
    why "A class-map without a policy classifies nothing. It is a leftover, or the class that should use it is missing or names another.\n\nLeftovers are read as if they counted: whoever changes the marking next will change it here.";
    fix "Use it in a policy-map or take it out.";
    from "Spillgate";
}

rule_text! { POLICY_UNUSED = "SG-C005", "policy-unused", Note, "Nothing uses a policy";
    why "A policy that no interface, class or link has queues nothing. After a change it is often the new policy that is forgotten: it is written, and the interface still has the old one.";
    fix "Attach it (`service-policy output`), or take it out.";
    from "Spillgate";
}

rule_text! { LIST_UNUSED = "SG-C006", "access-list-unused", Note, "Nothing in the configuration names an access list";
    why "An access list that nothing names filters and classifies nothing. If a class was to match it, the name differs.";
    fix "Name it in a class-map (`match access-group`), or take it out.";
    from "Spillgate";
}

fn unused(file: &str, written: &Written, found: &mut Vec<Finding>) {
    for (rule, what, all) in [
        (&CLASS_UNUSED, "class-map", &written.class_maps),
        (&LIST_UNUSED, "access list", &written.access_lists),
    ] {
        for d in all.iter().filter(|d| !d.used) {
            let message = format!("nothing uses {what} `{}`", d.name);
            found.push(at(file, rule, d.spot, message));
        }
    }
    let unused = written.policies.iter().filter(|(_, used)| !**used);
    for (name, p) in unused.filter_map(|(name, _)| written.imported.places.get_key_value(name)) {
        let message = format!("no interface and no class uses policy-map `{name}`");
        found.push(at(file, &POLICY_UNUSED, p.spot, message));
    }
}

rule_text! { NO_BANDWIDTH = "SG-Q009", "subinterface-without-bandwidth", Note, "A sub-interface whose policy takes percentages of a rate that nobody stated";
    why "Percentages of an output policy are of the interface's `bandwidth`. A sub-interface without one has the default of its type, the rate of the physical port, however slow the service behind it is. Twenty percent of a gigabit for voice is no limit on a service of 10 Mb/s.";
    fix "Write `bandwidth` on the sub-interface, or shape it in a parent policy: inside the shaper percentages are of the shaped rate.";
    from "Cisco IOS QoS command reference, `bandwidth (interface)`";
}

rule_text! { GUARANTEE_ON_UBR = "SG-Q013", "guarantee-on-ubr", Warning, "Classes of a circuit with unspecified bit rate reserve bandwidth";
    why "A PVC without a contract is UBR: the network sets nothing aside for it, and its cells go when no other circuit has any. A class of its policy can be promised a share of what the circuit gets, not a rate. Without a peak cell rate it is not shaped either: packets leave as fast as the line takes them, so that they queue in the network, where there are no classes.\n\nTwo circuits with the same peak cell rate, one UBR and one VBR-nrt, differ in just this. Some platforms refuse a policy that queues on an unshaped UBR PVC.";
    fix "Give the PVC a contract that the provider keeps, such as `vbr-nrt` with the sustainable cell rate of the service; at the least a peak cell rate, `ubr 512`.";
    from "Cisco, \"Understanding the UBR Service Category for ATM Virtual Circuits\", document 10530; Cisco 10000 Series Router Quality of Service Configuration Guide, OL-7433-09, chapter 4 (no queueing on unshaped UBR PVCs)";
}

/// Guarantees on a circuit without a guarantee of its own.
fn on_ubr(
    file: &str,
    spec: &ClassBasedSpec,
    interface: &spillgate_import::WrittenInterface,
    policy: &str,
    spot: Place,
    found: &mut Vec<Finding>,
) {
    let reserves = |c: &&ClassSpec| c.priority.is_some() || c.bandwidth.is_some();
    if let Some(class) = spec.classes.iter().find(reserves) {
        let what = match &class.priority {
            Some(_) => "has priority",
            None => "reserves bandwidth",
        };
        let message = format!(
            "class {} of {policy} {what} on the circuit of {}, which is UBR: nothing is set aside for it",
            class.name, interface.name
        );
        found.push(at(file, &GUARANTEE_ON_UBR, spot, message));
    }
}

/// Percentages of the default rate of a sub-interface's type.
fn sub_interface(
    file: &str,
    spec: &ClassBasedSpec,
    interface: &spillgate_import::WrittenInterface,
    spot: Place,
    found: &mut Vec<Finding>,
) {
    let percent = |r: Option<spillgate_core::RateOrPercent>| {
        matches!(r, Some(spillgate_core::RateOrPercent::Percent(_)))
    };
    let relative = |c: &ClassSpec| {
        percent(c.bandwidth)
            || percent(c.priority.as_ref().and_then(|p| p.rate))
            || percent(c.shape.as_ref().map(|s| s.rate))
            || percent(c.police.as_ref().map(|p| p.rate))
    };
    if let Some(class) = spec.classes.iter().find(|c| relative(c)) {
        let of = interface.rate.map_or_else(
            || "a rate that nothing states".to_owned(),
            |r| format!("the {r} of its type"),
        );
        let message = format!(
            "{} has no bandwidth: the percentages of class {} are of {of}",
            interface.name, class.name
        );
        found.push(at(file, &NO_BANDWIDTH, spot, message));
    }
}
