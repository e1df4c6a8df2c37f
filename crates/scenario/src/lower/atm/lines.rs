//! Lines at edges that circuits of ATM share.

use std::collections::BTreeMap;

use spillgate_core::Rate;
use spillgate_nodes::atm::{AtmLinePlan, AtmSpec, VcSpec};

use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::lower::links::{Draft, Links};
use crate::lower::nodes::Nodes;
use crate::node::{Node, Step, steps};
use crate::schema::{LinkSpec, Scenario};
use crate::suggest::list;

/// A circuit of a line.
struct Circuit<'a> {
    id: u32,
    /// The link as written that it belongs to.
    entry: &'a str,
    spec: &'a LinkSpec,
    atm: &'a AtmSpec,
}

/// What a circuit says of its line.
type Said = fn(&Circuit<'_>) -> String;

/// Where a key of a link stands.
fn at(entry: &str, key: &str) -> Vec<Step> {
    let mut steps = steps!["topology", "links", entry].to_vec();
    steps.extend(Step::parse_all(key));
    steps
}

/// All lines, by node and name; errors are reported.
pub(super) fn read(
    ctx: &mut Ctx<'_>,
    scenario: &Scenario,
    root: &Node,
    nodes: &Nodes<'_>,
    links: &Links<'_>,
    drafts: &[Draft<'_>],
) -> Vec<AtmLinePlan> {
    let is_switch = |node: u32| nodes.is(node, super::KEY);
    let mut lines: BTreeMap<(u32, &str), Vec<Circuit<'_>>> = BTreeMap::new();
    for (entry, spec) in links.specs() {
        let Some(atm) = &spec.atm else { continue };
        check_vc(ctx, root, entry, atm);
        let Some(name) = atm.line.as_deref() else {
            continue;
        };
        crate::lower::check_name(ctx, name, "line", root, &at(entry, "atm.line"));
        for id in links.find(entry).into_iter().flat_map(|n| n.ids()) {
            let from = drafts[id as usize].ends().0;
            // What leaves an ATM switch is its own line.
            if !is_switch(from) {
                let circuit = Circuit {
                    id,
                    entry,
                    spec,
                    atm,
                };
                lines.entry((from, name)).or_default().push(circuit);
            }
        }
    }
    for (i, failure) in scenario.topology.failures.iter().enumerate() {
        let named = links.find_way(&failure.link);
        let atm = named.and_then(|n| n.entry.spec.atm.as_ref());
        if let Some(line) = atm.and_then(|a| a.line.as_deref()) {
            let message = format!("`{}` fails, a circuit of the line `{line}`", failure.link);
            let d = Diagnostic::error(codes::BAD_ATM, message)
                .hint("leave out `line`, or let another link fail: circuits of a line cannot");
            ctx.error(d, root, &steps!["topology", "failures", i, "link"]);
        }
    }
    let mut all = Vec::new();
    for ((node, name), mut circuits) in lines {
        circuits.sort_by_key(|c| c.id);
        let name = format!("{}/{name}", nodes.names[node as usize]);
        check(ctx, root, &name, &circuits, drafts);
        all.push(AtmLinePlan {
            name,
            node,
            circuits: circuits.iter().map(|c| c.id).collect(),
        });
    }
    all
}

fn check_vc(ctx: &mut Ctx<'_>, root: &Node, entry: &str, atm: &AtmSpec) {
    let Some(vc) = atm.vc else { return };
    if (vc.vpi, vc.vci) == (0, 0) {
        let message = "0/0 is no circuit: it marks cells without content (ITU-T I.361)";
        let d = Diagnostic::error(codes::BAD_ATM, message).found(vc.to_string());
        let d = d.hint("write a VCI from 32, such as 0/32");
        ctx.error(d, root, &at(entry, "atm.vc"));
    } else if vc.vci < VcSpec::FIRST_FOR_USERS {
        let message = "VCI 0 to 31 are reserved for signalling and management (ITU-T I.361)";
        let d = Diagnostic::warning(codes::W_ATM, message).found(vc.to_string());
        let d = d.hint("write a VCI from 32, unless such a channel is meant");
        ctx.warn(d, root, &at(entry, "atm.vc"));
    }
}

/// Reports circuits of a line that do not fit together, once for each link as written.
fn check(
    ctx: &mut Ctx<'_>,
    root: &Node,
    line: &str,
    circuits: &[Circuit<'_>],
    drafts: &[Draft<'_>],
) {
    let mut known: BTreeMap<VcSpec, &Circuit<'_>> = BTreeMap::new();
    let mut seen = "";
    for circuit in circuits {
        if let Some(vc) = circuit.atm.vc {
            if let Some(other) = known.insert(vc, circuit) {
                let name = |c: &Circuit<'_>| drafts[c.id as usize].name().to_owned();
                let message = format!(
                    "`{}` and `{}` are both {vc} of `{line}`",
                    name(other),
                    name(circuit)
                );
                let d = Diagnostic::error(codes::BAD_ATM, message).found(vc.to_string());
                let hint = match other.entry == circuit.entry {
                    true => "leave out `vc`: the links of a group have the same",
                    false => "give each circuit of a line a VPI/VCI of its own",
                };
                ctx.error(d.hint(hint), root, &at(circuit.entry, "atm.vc"));
                known.insert(vc, other);
            }
        }
        if std::mem::replace(&mut seen, circuit.entry) == circuit.entry {
            continue;
        }
        let of: [(&str, Said); 2] = [
            ("rate", |c| c.spec.rate.to_string()),
            ("atm.phase", |c| c.atm.phase.word().to_owned()),
        ];
        for (key, of) in of {
            let (found, wanted) = (of(circuit), usual(circuits, of));
            if found == wanted {
                continue;
            }
            let mut others: Vec<&str> = circuits
                .iter()
                .filter(|c| of(c) == wanted)
                .map(|c| c.entry)
                .collect();
            others.dedup();
            let message = format!(
                "the circuits of `{line}` share one line, and it has {wanted} at {}",
                list(others)
            );
            let d = Diagnostic::error(codes::BAD_ATM, message).found(found);
            let d = d.hint(format!("write {wanted}, or another `line`"));
            ctx.error(d, root, &at(circuit.entry, key));
        }
    }
    if let Some(first) = circuits.first() {
        warn_of_promises(ctx, root, line, first.spec.rate, circuits);
    }
    warn_of_parallels(ctx, root, circuits, drafts);
}

/// Warns of circuits between the same nodes, of which routing uses one.
fn warn_of_parallels(
    ctx: &mut Ctx<'_>,
    root: &Node,
    circuits: &[Circuit<'_>],
    drafts: &[Draft<'_>],
) {
    let mut known: BTreeMap<(u32, Option<&str>), u32> = BTreeMap::new();
    for circuit in circuits {
        let to = drafts[circuit.id as usize].ends().1;
        let to = (to, circuit.atm.far_end.as_deref());
        let Some(other) = known.insert(to, circuit.id) else {
            continue;
        };
        let [other, own] = [other, circuit.id].map(|id| drafts[id as usize].name());
        let message = format!(
            "`{other}` and `{own}` lead to the same node: packets take one of them, by its cost"
        );
        let d = Diagnostic::warning(codes::W_ATM, message)
            .hint("let circuits of a line end at nodes of their own, or give them a `far_end` behind ATM switches");
        ctx.warn(d, root, &at(circuit.entry, ""));
    }
}

/// What most circuits say, of several the first.
fn usual(circuits: &[Circuit<'_>], of: Said) -> String {
    let all: Vec<String> = circuits.iter().map(of).collect();
    let count = |wanted: &String| all.iter().filter(|a| *a == wanted).count();
    let most = all.iter().rev().max_by_key(|a| count(a));
    most.cloned().unwrap_or_default()
}

/// Warns if more is guaranteed to circuits than their line has.
fn warn_of_promises(
    ctx: &mut Ctx<'_>,
    root: &Node,
    line: &str,
    rate: Rate,
    circuits: &[Circuit<'_>],
) {
    let guaranteed = |c: &Circuit<'_>| {
        let contract = c.atm.contract.resolve(c.spec.rate).ok()?;
        contract.guaranteed().map(Rate::bps)
    };
    let all: Vec<u64> = circuits.iter().filter_map(guaranteed).collect();
    let sum = all.iter().fold(0_u64, |sum, r| sum.saturating_add(*r));
    let last = circuits.iter().rfind(|c| guaranteed(c).is_some());
    let sum = Rate::from_bps(sum).filter(|sum| *sum > rate);
    if let (Some(last), Some(sum)) = (last, sum) {
        let message = format!(
            "{} circuits over `{line}` are guaranteed {sum} together, and the line carries {rate}",
            all.len()
        );
        let d = Diagnostic::warning(codes::W_PROMISES, message)
            .hint("lower PCR of CBR, SCR of VBR or the minimum rates, or raise `rate`");
        ctx.warn(d, root, &at(last.entry, "atm.contract"));
    }
}
