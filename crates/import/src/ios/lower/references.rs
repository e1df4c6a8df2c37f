//! Names of policy-maps, classes and interfaces that nothing defines, taken out before the rest is
//! looked at.

use std::collections::BTreeSet;

use super::super::ast::{At, Config};
use super::super::fault::{Fault, code};
use super::super::report::Report;
use super::{LEFT_OUT, Suggestions};

/// The class that every policy-map has.
const DEFAULT: &str = "class-default";

/// Takes out what names something undefined, as the router refuses to take it in, and says so.
pub(super) fn resolve<'a>(
    config: &mut Config<'a>,
    report: &mut Report<'_>,
    names: &mut Suggestions,
) {
    let class_maps: BTreeSet<&'a str> = config.class_maps.keys().copied().collect();
    let policies: BTreeSet<&'a str> = config.policy_maps.keys().copied().collect();
    let foreign = &config.foreign_policies;
    let policy = |at: &At<'a, &'a str>, path: &str, r: &mut Report<'_>, n: &mut Suggestions| {
        let (name, origin) = (at.value, at.origin);
        if policies.contains(name) {
            return true;
        }
        if foreign.contains(name) {
            r.unmodelled(origin, "policy-maps of a `type` do not queue packets");
            return false;
        }
        let defined = policies.iter().copied();
        let (what, column) = ("policy-map", origin.column);
        let fault = n.undefined(code::NO_POLICY_MAP, what, column, name, defined);
        r.stand_in(code::NOT_DEFINED, origin.line, path, fault, LEFT_OUT);
        false
    };
    let vc_classes: BTreeSet<&'a str> = config.vc_classes.keys().copied().collect();
    let vc_class = |at: &At<'a, &'a str>, path: &str, r: &mut Report<'_>, n: &mut Suggestions| {
        let (name, origin) = (at.value, at.origin);
        if vc_classes.contains(name) {
            return true;
        }
        let defined = vc_classes.iter().copied();
        let fault = n.undefined(code::NO_VC_CLASS, "vc-class", origin.column, name, defined);
        r.stand_in(code::NOT_DEFINED, origin.line, path, fault, LEFT_OUT);
        false
    };
    for (name, map) in &mut config.policy_maps {
        let before = map.classes.len();
        map.classes.retain(|class| {
            let known = class.name == DEFAULT || class_maps.contains(class.name);
            if !known {
                let path = format!("policy-map.{name}.class.{}", class.name);
                let column = class.origin.column;
                let fault = class_map(&class_maps, names, column, class.name);
                let instead = "the class is left out, as the router refuses it";
                report.stand_in(code::NOT_DEFINED, class.origin.line, path, fault, instead);
            }
            known
        });
        if map.classes.len() < before {
            let index = map.classes.iter().enumerate().map(|(i, c)| (c.name, i));
            map.index = index.collect();
        }
        for class in &mut map.classes {
            let path = || format!("policy-map.{name}.class.{}", class.name);
            class.policy = class.policy.filter(|p| policy(p, &path(), report, names));
            let Some(police) = class.police.as_mut().map(|p| &mut p.value) else {
                continue;
            };
            for color in [&mut police.conform_color, &mut police.exceed_color] {
                let Some(at) = color.filter(|at| !class_maps.contains(at.value)) else {
                    continue;
                };
                let column = at.origin.column;
                let fault = class_map(&class_maps, names, column, at.value);
                let line = at.origin.line;
                report.stand_in(code::NOT_DEFINED, line, path(), fault, LEFT_OUT);
                *color = None;
            }
        }
    }
    // In the order of their names, as everything about interfaces.
    for (name, index) in &config.interface_index {
        let Some(interface) = config.interfaces.get_mut(*index) else {
            continue;
        };
        let path = format!("interface.{name}");
        for at in [&mut interface.output_policy, &mut interface.input_policy] {
            *at = at.filter(|p| policy(p, &path, report, names));
        }
        interface.vc_class = interface
            .vc_class
            .filter(|c| vc_class(c, &path, report, names));
        for circuit in &mut interface.circuits {
            let path = format!("{path}.pvc.{}", circuit.vc);
            let lines = &mut circuit.lines;
            for at in [&mut lines.output_policy, &mut lines.input_policy] {
                *at = at.filter(|p| policy(p, &path, report, names));
            }
            circuit.class = circuit.class.filter(|c| vc_class(c, &path, report, names));
        }
    }
    for (name, lines) in &mut config.vc_classes {
        let path = format!("vc-class.{name}");
        for at in [&mut lines.output_policy, &mut lines.input_policy] {
            *at = at.filter(|p| policy(p, &path, report, names));
        }
    }
}

fn class_map(defined: &BTreeSet<&str>, names: &mut Suggestions, column: u32, name: &str) -> Fault {
    let defined = defined.iter().copied().chain([DEFAULT]);
    names.undefined(code::NO_CLASS_MAP, "class-map", column, name, defined)
}
