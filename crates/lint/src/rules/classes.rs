//! Conditions of classes.

use spillgate_core::Dscp;
use spillgate_queueing::PacketSet;
use spillgate_queueing::spec::MatchSpec;

use super::{Ask, When};
use crate::registry::rule_text;
use crate::view::View;

pub(super) const ASKED: &[Ask] = &[Ask(
    &[&CONTRADICTS, &SHADOWED, &SHARED_DSCP],
    check,
    When::Always,
)];

fn check(v: &mut View<'_>) {
    for i in 0..v.classes.len() {
        if v.classes[i].is_default() {
            continue;
        }
        let matching = v.classes[i].spec.matching.as_ref();
        if matching.is_some_and(contradicts) {
            let message = format!(
                "no packet can belong to class {}: its criteria exclude each other",
                v.classes[i].spec.name
            );
            v.hit(&CONTRADICTS, Some(i), "match", message);
            continue;
        }
        let Some(own) = v.classes[i].set.clone().filter(|s| !s.is_empty()) else {
            continue;
        };
        match shadowed_by(v, i, &own) {
            Some(by) => {
                let names: Vec<&str> = by
                    .iter()
                    .map(|j| v.classes[*j].spec.name.as_str())
                    .collect();
                let message = format!(
                    "class {} never gets a packet: all of its packets belong to {} above",
                    v.classes[i].spec.name,
                    names.join(" and ")
                );
                v.hit(&SHADOWED, Some(i), "match", message);
            }
            None => shared(v, i, &own),
        }
    }
}

rule_text! { CONTRADICTS = "SG-C008", "class-contradictory", Error, "No packet can meet all criteria of a class";
    why "Every criterion of a `match-all` class-map must hold, and these exclude each other: two lists of code points without a common one, a list of UDP packets beside a protocol over TCP, a precedence beside a DSCP of another. No packet on any link can belong to the class. What was meant for it is in a later class, most often in class-default.\n\nUsually `match-any` was meant: without either word a class-map is `match-all`.";
    fix "Make the class-map `match-any` if one of the criteria is enough, or take the one that is wrong out.";
    from "Cisco IOS QoS command reference, `class-map`: match-all is the default, and all criteria must be met";
}

/// Whether a condition holds for no packet though each of its parts holds for some. The reader
/// warns of a part that holds for none by itself.
fn contradicts(m: &MatchSpec) -> bool {
    let mut parts = Vec::new();
    conjuncts(m, &mut parts);
    let mut left = PacketSet::all();
    let (mut cos, mut groups) = (None, None);
    let mut empty = false;
    for part in &parts {
        empty |= narrows(&mut cos, &part.cos) | narrows(&mut groups, &part.qos_group);
        let Some(set) = PacketSet::of(part) else {
            continue;
        };
        if set.is_empty() {
            let any = part.any.as_ref().filter(|all| !all.is_empty());
            return any.is_some_and(|all| all.iter().any(contradicts));
        }
        match left.and(&set) {
            Some(both) => left = both,
            None => return false,
        }
    }
    empty || left.is_empty()
}

/// Restricts the values of a field to a list; returns whether none are left.
fn narrows<T: Clone + PartialEq>(
    left: &mut Option<Vec<T>>,
    list: &Option<spillgate_queueing::spec::OneOrMany<T>>,
) -> bool {
    let Some(list) = list else { return false };
    let kept: Vec<T> = match left {
        None => list.0.clone(),
        Some(left) => left
            .iter()
            .filter(|v| list.0.contains(v))
            .cloned()
            .collect(),
    };
    let none = kept.is_empty();
    *left = Some(kept);
    none
}

/// The conditions that must all hold, each with one key.
fn conjuncts(m: &MatchSpec, into: &mut Vec<MatchSpec>) {
    for inner in m.all.iter().flatten() {
        conjuncts(inner, into);
    }
    into.extend(m.clone().split().filter(|one| one.all.is_none()));
}

rule_text! { SHADOWED = "SG-C001", "class-shadowed", Error, "Every packet of a class belongs to an earlier class";
    why "Classes are tried in the order of the policy; the first that matches takes the packet. When the conditions of the classes above include all of a class's own, the class never sees a packet, and its bandwidth is reserved for nobody.\n\nThe packets get the treatment of the class above: its share, its queue, its policer. The comparison is exact: it takes match-any, match-all, `not`, access lists with their order, ports and prefixes into account.";
    fix "Move the narrower class above the wider one, or take its packets out of the wider one's conditions.";
    from "Cisco IOS QoS command reference, `class (policy-map)`: classes are evaluated in the order in which they are configured";
}

/// The earlier classes that take all packets of class `i`, if they do.
fn shadowed_by(v: &View<'_>, i: usize, own: &PacketSet) -> Option<Vec<usize>> {
    let mut left = own.clone();
    let mut by = Vec::new();
    for (j, earlier) in v.classes[..i].iter().enumerate() {
        // A class that is too complex may take anything: it is skipped, which finds less.
        let Some(set) = earlier.set.as_ref().filter(|s| s.meets(&left)) else {
            continue;
        };
        by.push(j);
        left = left.without(set)?;
        if left.is_empty() {
            return Some(by);
        }
    }
    None
}

rule_text! { SHARED_DSCP = "SG-C003", "dscp-in-two-classes", Warning, "A DSCP that an earlier class takes is listed again";
    why "The later class lists a code point whose packets never reach it, since an earlier class takes them all. The rest of the class works, which is why the mistake stays: one of two marks that look alike gets another share of the link.";
    fix "Take the code point out of one of the two classes.";
    from "Cisco IOS QoS command reference, `class (policy-map)`: the first class that matches is the packet's";
}

/// A DSCP in the lists of two classes.
fn shared(v: &mut View<'_>, i: usize, own: &PacketSet) {
    let Some(mine) = own.by_dscp_only() else {
        return;
    };
    let mut found = Vec::new();
    let mut seen = 0_u64;
    for earlier in &v.classes[..i] {
        let theirs = earlier.set.as_ref().and_then(PacketSet::by_dscp_only);
        let both = theirs.unwrap_or(0) & mine & !seen;
        seen |= both;
        if both != 0 {
            let names: Vec<String> = (0..64)
                .filter(|n| both >> n & 1 != 0)
                .filter_map(Dscp::new)
                .map(|d| d.to_string())
                .collect();
            found.push(format!(
                "packets with DSCP {} belong to class {} above, not to class {}",
                names.join(", "),
                earlier.spec.name,
                v.classes[i].spec.name
            ));
        }
    }
    for message in found {
        v.hit(&SHARED_DSCP, Some(i), "match", message);
    }
}
