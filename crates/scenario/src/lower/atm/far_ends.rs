//! The far ends of ATM circuits that lead over switches.

use std::collections::BTreeSet;

use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::lower::links::Links;
use crate::lower::nodes::{Nodes, Place};
use crate::node::{Node, steps};
use crate::routes::Edge;

/// Tells routing the far ends of circuits; errors are reported.
pub(in crate::lower) fn set(
    ctx: &mut Ctx<'_>,
    root: &Node,
    nodes: &Nodes<'_>,
    links: &Links<'_>,
    edges: &mut [Edge],
) {
    let is_switch = |node: u32| nodes.is(node, super::KEY);
    for edge in edges.iter_mut() {
        edge.is_line = is_switch(edge.from);
    }
    for (name, spec) in links.specs() {
        let far_end = spec.atm.as_ref().and_then(|a| a.far_end.as_deref());
        let (Some(far_end), Some(named)) = (far_end, links.find(name)) else {
            continue;
        };
        let at = steps!["topology", "links", name, "atm", "far_end"];
        let Some(place) = nodes.expect(ctx, far_end, root, &at) else {
            continue;
        };
        let entering: Vec<u32> = named
            .ids()
            .filter(|l| {
                let e = edges[*l as usize];
                is_switch(e.to) && !is_switch(e.from)
            })
            .collect();
        let mut refuse = |message: String, hint: &str| {
            let d = Diagnostic::error(codes::BAD_ATM, message).found(far_end);
            ctx.error(d.hint(hint), root, &at);
        };
        let Place::One(node) = place else {
            let message = format!("`{far_end}` is a group of nodes, and a circuit ends at one");
            refuse(message, &format!("write one of them, such as {far_end}-0"));
            continue;
        };
        if is_switch(node) {
            let message = format!("`{far_end}` is an ATM switch, which circuits go through");
            refuse(message, "write the node at which frames are put together");
            continue;
        }
        let Some(first) = entering.first() else {
            let message =
                format!("`{name}` does not lead to an ATM switch, and ends where it says");
            refuse(message, "leave out `far_end`");
            continue;
        };
        let switch = edges[*first as usize].to;
        if !leads(edges, is_switch, switch, node) {
            let message = format!(
                "no line leads from `{}` through ATM switches to `{far_end}`",
                nodes.names[switch as usize]
            );
            refuse(message, "write a node that a link from a switch leads to");
            continue;
        }
        for link in entering {
            edges[link as usize].far_end = Some(node);
        }
    }
}

/// Whether a node can be reached from a switch over lines of other switches.
fn leads(edges: &[Edge], is_switch: impl Fn(u32) -> bool, from: u32, to: u32) -> bool {
    let (mut seen, mut left) = (BTreeSet::from([from]), vec![from]);
    while let Some(at) = left.pop() {
        for e in edges.iter().filter(|e| e.from == at) {
            if e.to == to {
                return true;
            }
            if is_switch(e.to) && seen.insert(e.to) {
                left.push(e.to);
            }
        }
    }
    false
}
