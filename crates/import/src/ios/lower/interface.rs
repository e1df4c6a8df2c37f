//! Interfaces: what their output policy is, also without a policy-map.

use spillgate_core::{Limit, Rate};
use spillgate_queueing::spec::{DisciplineSpec, FairQueueSpec, FifoSpec};
use spillgate_scenario::{Imported, ImportedInterface};

use super::super::ast::{At, Config, Interface, InterfaceQueueing, Origin};
use super::super::interface::dynamic_queues;
use super::super::report::Report;
use super::Names;
use super::policy::{undefined_policy, wred};

/// Lowers all interfaces, in the order of their names.
pub(super) fn lower(
    config: &Config<'_>,
    report: &mut Report<'_>,
    names: &mut Names,
    imported: &mut Imported,
) {
    for (name, index) in &config.interface_index {
        let Some(interface) = config.interfaces.get(*index) else {
            continue;
        };
        let bandwidth = interface.bandwidth.map(|b| b.value);
        let output_policy = match interface.output_policy {
            Some(policy) => {
                beside_policy(interface, report);
                attached(config, name, &policy, report, names)
            }
            None => default_discipline(interface, bandwidth, report).map(|(spec, line)| {
                let mut policy = format!("INTERFACE-DEFAULT:{name}");
                while imported.policies.contains_key(&policy) {
                    policy.push('+');
                }
                imported.policies.insert(policy.clone(), spec);
                imported.policy_lines.insert(policy.clone(), line);
                (policy, line)
            }),
        };
        imported.interfaces.insert(
            name.clone(),
            ImportedInterface {
                line: interface.origin.line,
                bandwidth,
                output_policy,
            },
        );
    }
}

fn attached(
    config: &Config<'_>,
    interface: &str,
    policy: &At<'_, &str>,
    report: &mut Report<'_>,
    names: &mut Names,
) -> Option<(String, u32)> {
    let (name, origin) = (policy.value, policy.origin);
    if config.policy_maps.contains_key(name) {
        return Some((name.to_owned(), origin.line));
    }
    let path = format!("interface.{interface}");
    undefined_policy(config, name, origin, &path, report, names);
    None
}

/// Lists queueing commands that the service-policy of the interface makes void.
fn beside_policy(interface: &Interface<'_>, report: &mut Report<'_>) {
    let queueing = interface
        .queueing
        .filter(|q| q.value != InterfaceQueueing::Fifo);
    let void = [
        (
            interface.hold_queue.map(|h| h.origin),
            "the classes of the service-policy have their own limits; one over all of them is not modelled",
        ),
        (
            queueing.map(|q| q.origin),
            "the service-policy replaces the interface's own queueing",
        ),
        (
            interface.wred.origin,
            "the service-policy replaces the interface's own queueing",
        ),
    ];
    for (origin, reason) in void {
        if let Some(origin) = origin {
            report.unmodelled(origin, reason);
        }
    }
}

/// What queues on an interface without a service-policy, if it says so, and on which line.
fn default_discipline(
    interface: &Interface<'_>,
    bandwidth: Option<Rate>,
    report: &mut Report<'_>,
) -> Option<(DisciplineSpec, u32)> {
    let hold = interface.hold_queue.map(|h| h.value);
    let aqm = wred(&interface.wred, report);
    let fair = interface.queueing.and_then(|q| match q.value {
        InterfaceQueueing::Fair(fair) => Some((fair, q.origin)),
        InterfaceQueueing::Fifo => None,
    });
    if let (None, Some((fair, origin))) = (&aqm, fair) {
        let defaults = FairQueueSpec::default();
        let spec = FairQueueSpec {
            queues: fair
                .queues
                .unwrap_or_else(|| dynamic_queues(bandwidth.map(Rate::bps))),
            threshold: fair.threshold.unwrap_or(defaults.threshold),
            hold_queue: hold.unwrap_or(defaults.hold_queue),
            cdt_policy: defaults.cdt_policy,
        };
        return Some((DisciplineSpec::FlowWfq(spec), origin.line));
    }
    if let Some((_, origin)) = fair {
        report.unmodelled(origin, "random-detect replaces fair-queue on the interface");
    }
    let said = [
        interface.wred.origin,
        interface.queueing.map(|q| q.origin),
        interface.hold_queue.map(|h| h.origin),
    ];
    let origin: Origin<'_> = said.into_iter().flatten().next()?;
    let limit = hold.map_or_else(|| FifoSpec::default().limit, Limit::Packets);
    Some((DisciplineSpec::Fifo(FifoSpec { limit, aqm }), origin.line))
}
