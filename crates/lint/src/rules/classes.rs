//! Which packets belong to which class.

use spillgate_core::Dscp;

use crate::registry::{SHADOWED, SHARED_DSCP};
use crate::sets::Packets;
use crate::view::View;

pub(super) fn check(v: &mut View<'_>) {
    for i in 0..v.classes.len() {
        if v.classes[i].is_default() {
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

/// The earlier classes that take all packets of class `i`, if they do.
fn shadowed_by(v: &View<'_>, i: usize, own: &Packets) -> Option<Vec<usize>> {
    let mut left = own.clone();
    let mut by = Vec::new();
    for (j, earlier) in v.classes[..i].iter().enumerate() {
        // A class that is too intricate to say may take anything: it is left out, which finds less.
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

/// A DSCP in the lists of two classes.
fn shared(v: &mut View<'_>, i: usize, own: &Packets) {
    let Some(mine) = own.by_dscp_only() else {
        return;
    };
    let mut found = Vec::new();
    let mut seen = 0_u64;
    for earlier in &v.classes[..i] {
        let theirs = earlier.set.as_ref().and_then(Packets::by_dscp_only);
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
