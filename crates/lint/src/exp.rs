//! Rules on EXP bits of MPLS packets that need only the configuration.

use std::collections::BTreeMap;

use spillgate_core::Dscp;
use spillgate_import::Written;
use spillgate_queueing::spec::{ClassBasedSpec, DisciplineSpec};
use spillgate_queueing::{PacketSet, View};

use crate::Finding;
use crate::cfg::at;
use crate::registry::{Rule, rule_text};

pub(crate) const RULES: &[&Rule] = &[&EXP_DEFAULT, &EXP_SHARED, &EXP_BLIND];

rule_text! { EXP_DEFAULT = "SG-M002", "exp-left-to-default", Note, "A provider edge leaves the EXP bits of what it labels to the router's default";
    why "A packet that gets its first label here carries its class into the core in the EXP bits. No command of the configuration sets them, so that the router's default decides: IOS copies the upper three bits of the DSCP. EF becomes 5, all of AF3x become 3.\n\nThat is enough when the core's classes are made for it. It is not written down anywhere, differs between platforms and line cards, and trusts whatever mark the customer's packet had.";
    fix "Write it down: `set mpls experimental imposition` in the classes of an input policy, on the interfaces towards the customers.";
    from "RFC 3270, section 2.5: an ingress LSR encodes the behavior aggregate into the EXP field; Cisco IOS MPLS command reference, `set mpls experimental imposition`: input interfaces, no value is set by default";
}

rule_text! { EXP_SHARED = "SG-M003", "classes-share-exp", Warning, "Classes that the edge tells apart get the same EXP bits";
    why "Three bits have eight values, the DSCP has 64. No command sets the EXP bits, so that the upper three bits of the DSCP are copied, and two classes whose code points begin alike are one class in the core: EF and CS5 both become 5, AF31 and CS3 both become 3, and the drop precedences of an AF class are gone.\n\nThe edge keeps them apart, and every node behind it mixes them: bulk signaling waits with voice, or voice with it.";
    fix "Give each class its own value with `set mpls experimental imposition` in an input policy, and match these in the core.";
    from "RFC 3270, section 2.5 and RFC 5462; Cisco IOS MPLS command reference, `set mpls experimental imposition`";
}

pub(crate) fn check(file: &str, text: &str, written: &Written, found: &mut Vec<Finding>) {
    let labelled = || {
        let all = written.interfaces.iter();
        all.filter_map(|i| Some((i, i.labels?)))
    };
    for (interface, _) in labelled() {
        let Some((policy, _)) = &interface.policy else {
            continue;
        };
        if let Some(DisciplineSpec::ClassBased(spec)) = written.imported.policies.get(policy) {
            blind(file, written, policy, spec, &interface.name, found);
        }
    }
    let Some((core, place)) = labelled().next() else {
        return;
    };
    if sets_exp(text) || !is_edge(text, written) {
        return;
    }
    let shared = shared(written);
    let (rule, message) = if shared.is_empty() {
        let message = format!(
            "nothing sets the EXP bits of what {} sends: the core sees the upper three bits of the DSCP, 5 of EF and 3 of AF31, AF32 and AF33",
            core.name
        );
        (&EXP_DEFAULT, message)
    } else {
        let message = format!(
            "nothing sets the EXP bits of what {} sends, so that the core cannot tell apart: {}",
            core.name,
            shared.join("; ")
        );
        (&EXP_SHARED, message)
    };
    found.push(at(file, rule, place, message));
}

rule_text! { EXP_BLIND = "SG-M004", "dscp-class-on-mpls-interface", Warning, "A class on an MPLS interface asks for what lies below the labels";
    why "Packets that leave by an interface with `mpls ip` have labels, and a node sees the top label only. A class that matches DSCPs, addresses or ports gets none of them; they wait in class-default, whatever mark they have.\n\nWhat the class still gets is IP traffic that the router sends without a label, such as its own routing protocols and what is reached by the last hop before it.";
    fix "Add `match mpls experimental topmost` to the class-map (`match-any`), with the EXP values that its packets have.";
    from "RFC 3032, section 2.1: the label stack stands before the network-layer header; RFC 3270, section 2.2";
}

/// Classes on the IP header where packets have labels.
fn blind(
    file: &str,
    written: &Written,
    policy: &str,
    spec: &ClassBasedSpec,
    interface: &str,
    found: &mut Vec<Finding>,
) {
    let places = written.imported.places.get(policy);
    for (i, class) in spec.classes.iter().enumerate() {
        // Conditions on metadata apply to labelled packets, too.
        let Some(m) = class.matching.as_ref().filter(|m| !m.looks_at_marks()) else {
            continue;
        };
        let labelled = (0..8).any(|exp| m.matches(View::Labelled { exp }));
        // A class that matches nothing at all has a warning of its own.
        let plain = PacketSet::of(m).is_none_or(|set| !set.is_empty());
        if labelled || !plain {
            continue;
        }
        let place = places.and_then(|p| p.classes.get(i)).map(|c| c.spot);
        let message = format!(
            "class {} matches no packet with a label, and {interface} has `mpls ip`",
            class.name
        );
        found.push(at(file, &EXP_BLIND, place.unwrap_or_default(), message));
    }
}

/// Whether any command gives EXP bits to packets that get a label.
fn sets_exp(text: &str) -> bool {
    lines(text).any(|line| {
        let mut words = line.split_ascii_whitespace();
        let sets = words.next() == Some("set")
            && words.next() == Some("mpls")
            && words.next().is_some_and(|w| w.starts_with("exp"))
            && words.next().is_none_or(|w| !w.starts_with("top"));
        let actions = ["set-mpls-exp-imp", "set-mpls-exp-tra"];
        sets || actions.iter().any(|a| line.contains(a))
    })
}

/// Whether packets without labels come in from customers: an interface is in a VRF, carries a
/// pseudowire, or has a policy and no labels.
fn is_edge(text: &str, written: &Written) -> bool {
    let plain = |i: &&spillgate_import::WrittenInterface| i.labels.is_none();
    let mut interfaces = written.interfaces.iter().filter(plain);
    let customers = ["ip vrf forwarding ", "vrf forwarding ", "xconnect "];
    interfaces.any(|i| i.policy.is_some())
        || lines(text).any(|l| customers.iter().any(|c| l.starts_with(c)))
}

/// Commands in lower case, without comments.
fn lines(text: &str) -> impl Iterator<Item = String> {
    let all = text.lines().map(|l| l.trim().to_ascii_lowercase());
    all.filter(|l| !l.starts_with('!'))
}

/// Pairs of classes of one policy whose packets have the same upper three bits.
fn shared(written: &Written) -> Vec<String> {
    let mut pairs: BTreeMap<(&str, &str), String> = BTreeMap::new();
    for (name, spec) in &written.imported.policies {
        let DisciplineSpec::ClassBased(spec) = spec else {
            continue;
        };
        if written.policies.get(name) != Some(&true) {
            continue;
        }
        let mut taken = 0_u64;
        // The first class of each value, with one of its code points.
        let mut first: BTreeMap<u8, (&str, Dscp)> = BTreeMap::new();
        for class in &spec.classes {
            let set = class.matching.as_ref().and_then(PacketSet::of);
            let Some(mine) = set.as_ref().and_then(PacketSet::by_dscp_only) else {
                continue;
            };
            let own = mine & !taken;
            taken |= mine;
            // A class of most code points is a default class: it is skipped.
            if own.count_ones() > 32 {
                continue;
            }
            for dscp in (0..64).filter_map(Dscp::new) {
                let exp = dscp.precedence();
                if own >> dscp.value() & 1 == 0 || exp == 0 {
                    continue;
                }
                let (other, theirs) = *first.entry(exp).or_insert((&class.name, dscp));
                if other != class.name {
                    let pair = pairs.entry((other, &class.name));
                    pair.or_insert_with(|| {
                        let mine = &class.name;
                        format!("{theirs} of class {other} and {dscp} of class {mine} (EXP {exp})")
                    });
                }
            }
        }
    }
    pairs.into_values().collect()
}
