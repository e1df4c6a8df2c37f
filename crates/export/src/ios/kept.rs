//! Lines of a configuration without a translation, as written.

use std::fmt::Write as _;

use spillgate_queueing::spec::ClassSpec;

use super::circuit;
use super::matching::ClassMaps;
use super::numbers::quoted;
use crate::{Notes, Source, place};

/// Writes the original lines of a class whose configuration says more than the policy; false if
/// there are none.
pub(super) fn class<'s>(
    out: &mut String,
    policy: &str,
    class: &ClassSpec,
    source: &'s Source,
    maps: &mut ClassMaps<'s>,
    notes: &mut Notes,
) -> bool {
    let place = place(policy, &class.name);
    let key = (policy.to_owned(), class.name.clone());
    let mut originals = source.originals.iter();
    let found = originals.find_map(|o| {
        let original = o.classes.get(&key)?;
        (original.spec == *class).then_some((o, original))
    });
    let Some((from, original)) = found else {
        return false;
    };
    if !maps.keep_named(from, &original.names, &mut notes.at(&place)) {
        return false;
    }
    for line in original.lines.iter().filter(|l| !names_a_policy(l)) {
        let _ = writeln!(out, "  {line}");
    }
    // Policies may have other names in this configuration.
    if let Some(policy) = &class.policy {
        let _ = writeln!(
            out,
            "  service-policy {}",
            quoted(policy, &mut notes.at(&place))
        );
    }
    true
}

/// Whether a line of a class is `service-policy`, however abbreviated.
fn names_a_policy(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let first = words.next().filter(|w| !w.eq_ignore_ascii_case("no"));
    let word = first.or_else(|| words.next()).unwrap_or_default();
    let word = word.to_ascii_lowercase();
    word.len() > 2 && "service-policy".starts_with(&word)
}

/// Writes the lines of an interface that have no translation, or those of its circuit.
pub(super) fn interface(out: &mut String, name: &str, of_circuit: bool, source: &Source) {
    let all = source
        .originals
        .iter()
        .filter_map(|o| o.interfaces.get(name));
    let indent = if of_circuit { "  " } else { " " };
    for (_, line) in all.flatten().filter(|(c, _)| *c == of_circuit) {
        let _ = writeln!(out, "{indent}{line}");
    }
}

/// Writes the lines of interfaces without a policy, and of other blocks.
pub(super) fn elsewhere(out: &mut String, source: &Source, notes: &mut Notes) {
    let written = |name: &str| {
        let ports = source.ports.iter().any(|p| p.name == name);
        ports
            || source
                .inputs
                .iter()
                .any(|i| i.name.as_deref() == Some(name))
    };
    for originals in &source.originals {
        for (name, lines) in originals.interfaces.iter().filter(|(n, _)| !written(n)) {
            // Lines of circuits belong into a `pvc`. A policy that is on an interface but not on
            // its circuits cannot be expressed.
            let own = lines
                .iter()
                .filter(|(of_circuit, line)| !of_circuit && !names_a_policy(line));
            let own: Vec<&str> = own.map(|(_, line)| line.as_str()).collect();
            if own.is_empty() {
                continue;
            }
            let place = format!("interface {name}");
            let kind = circuit::kind(name);
            let called = quoted(circuit::interface(name), &mut notes.at(&place));
            let _ = writeln!(out, "interface {called}{kind}");
            for line in own {
                let _ = writeln!(out, " {line}");
            }
            out.push_str("!\n");
        }
        for (head, lines) in &originals.rest {
            let indent = match head {
                Some(head) => {
                    let _ = writeln!(out, "{head}");
                    " "
                }
                None => "",
            };
            for line in lines {
                let _ = writeln!(out, "{indent}{line}");
            }
            out.push_str("!\n");
        }
    }
}
