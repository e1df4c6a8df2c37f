//! Which packets classes get: filters in the order in which they are asked.

use spillgate_queueing::spec::{AclEntry, MatchSpec};

use crate::ios::ast::Origin;
use crate::ios::fault::{Fault, code};

use super::line::Handle;
use super::lower::{Lowering, MAX_DEPTH};
use super::script::{Node, Placed};

impl<'a> Lowering<'a, '_, '_> {
    /// Where a filter stands.
    pub(super) fn filter_origin(&self, placed: &Placed) -> Origin<'a> {
        let command = &self.script.commands[placed.command];
        self.script.origin(command, 1)
    }

    /// Conditions and the classes to which they lead, in the order in which they are tried; `on`
    /// sees each filter and its class.
    pub(super) fn rules(
        &mut self,
        node: &Node,
        known: &[Handle],
        mut on: impl FnMut(&mut Self, &Placed, Handle),
    ) -> Vec<(MatchSpec, Handle)> {
        let root = Handle {
            minor: 0,
            ..node.handle
        };
        self.level(root, known, &mut on, 0)
    }

    /// Those of the filters attached to one place.
    fn level(
        &mut self,
        parent: Handle,
        known: &[Handle],
        on: &mut impl FnMut(&mut Self, &Placed, Handle),
        depth: usize,
    ) -> Vec<(MatchSpec, Handle)> {
        let all = self.device.filters.iter().enumerate();
        let mut filters: Vec<(usize, &Placed)> =
            all.filter(|(_, p)| p.filter.parent == parent).collect();
        filters.sort_by_key(|(_, p)| p.filter.priority);
        let mut rules = Vec::new();
        for (i, placed) in filters {
            self.used.insert(i);
            let origin = self.filter_origin(placed);
            for other in &placed.filter.acts.others {
                let reason = format!("the action `{other}` is left out");
                self.report.unmodelled(origin, reason);
            }
            let Some(target) = placed.filter.target else {
                let reason = "a filter that leads to no class is not modelled";
                self.report.unmodelled(origin, reason);
                continue;
            };
            if target == parent {
                // The direct queue of htb: no class gets them.
                rules.push((placed.filter.matching.clone(), target));
                continue;
            }
            if !known.contains(&target) {
                let message = format!("class {target} is not defined: the filter is left out");
                let fault = Fault::new(code::NOT_DEFINED, 1, message);
                let fault = fault.found(target.to_string());
                self.report.warn(origin.line, self.name, fault);
                continue;
            }
            on(self, placed, target);
            let matching = &placed.filter.matching;
            if depth < MAX_DEPTH {
                // Packets that a filter leads to an inner class meet the filters of this class.
                for (inner, to) in self.level(target, known, on, depth + 1) {
                    rules.push((MatchSpec::all(vec![matching.clone(), inner]), to));
                }
            }
            rules.push((matching.clone(), target));
        }
        rules
    }

    /// Lists filters that are attached to nothing that is modelled.
    pub(super) fn unused(&mut self) {
        for (i, placed) in self.device.filters.iter().enumerate() {
            if !self.used.contains(&i) {
                let command = &self.script.commands[placed.command];
                let origin = self.script.origin(command, 1);
                let reason = format!(
                    "{} has no classes to which it could lead",
                    placed.filter.parent
                );
                self.report.unmodelled(origin, reason);
            }
        }
    }
}

/// The condition of a class: the first rule that matches decides. Classes before it in `order` have
/// taken their packets already.
pub(super) fn condition(
    rules: &[(MatchSpec, Handle)],
    order: &[Handle],
    class: Handle,
) -> Option<MatchSpec> {
    let place = |h: Handle| order.iter().position(|o| *o == h);
    let own = place(class)?;
    let last = rules.iter().rposition(|(_, to)| *to == class)?;
    let entries: Vec<AclEntry> = rules[..=last]
        .iter()
        .filter(|(_, to)| place(*to).is_none_or(|p| p >= own))
        .map(|(matching, to)| AclEntry {
            permit: *to == class,
            matching: matching.clone(),
        })
        .collect();
    Some(match &entries[..] {
        [one] => one.matching.clone(),
        all if all.iter().all(|e| e.permit) => {
            MatchSpec::any(entries.into_iter().map(|e| e.matching).collect::<Vec<_>>())
        }
        _ => MatchSpec::acl(entries),
    })
}
