//! Interfaces: what their output policy is, also without a policy-map.

use std::collections::BTreeSet;

use spillgate_core::{Limit, Rate, RateOrPercent};
use spillgate_queueing::spec::{DisciplineSpec, FairQueueSpec, FifoSpec};
use spillgate_scenario::import::PolicyPlaces;
use spillgate_scenario::{Imported, ImportedInterface};

use super::super::ast::{At, Config, Interface, InterfaceQueueing, Origin};
use super::super::fault::{Fault, code};
use super::super::interface::dynamic_queues;
use super::super::platform::{Profile, Reference};
use super::super::report::Report;
use super::policy::wred;
use super::rates::{Source, reference};

/// Lowers all interfaces, in the order of their names.
pub(super) fn lower(
    config: &Config<'_>,
    profile: &Profile,
    report: &mut Report<'_>,
    imported: &mut Imported,
) {
    for (name, index) in &config.interface_index {
        let Some(interface) = config.interfaces.get(*index) else {
            continue;
        };
        let bandwidth = bandwidth(interface, profile, report);
        let output_policy = match interface.output_policy {
            Some(policy) => {
                beside_policy(interface, report);
                without_bandwidth(config, interface, &policy, profile, report);
                Some((policy.value.to_owned(), policy.origin.line))
            }
            None => {
                default_discipline(interface, bandwidth, profile, report).map(|(spec, line)| {
                    let mut policy = format!("INTERFACE-DEFAULT:{name}");
                    while imported.policies.contains_key(&policy) {
                        policy.push('+');
                    }
                    imported.policies.insert(policy.clone(), spec);
                    let place = PolicyPlaces::in_line(line);
                    imported.places.insert(policy.clone(), place);
                    (policy, line)
                })
            }
        };
        let input_policy = interface.input_policy.map(|policy| {
            without_bandwidth(config, interface, &policy, profile, report);
            (policy.value.to_owned(), policy.origin.line)
        });
        imported.interfaces.insert(
            name.clone(),
            ImportedInterface {
                line: interface.origin.line,
                bandwidth,
                output_policy,
                input_policy,
                dot1q: interface.dot1q.map(|origin| origin.line),
                vlan: interface.vlan,
                labels: interface.labels.map(|origin| origin.line),
                counted: profile.counted.and_then(|c| c.on(name)),
            },
        );
    }
}

/// The policy-maps that act only where packets arrive, those inside them included.
pub(super) fn at_arrival<'a>(config: &Config<'a>) -> BTreeSet<&'a str> {
    let reach = |of: fn(&Interface<'a>) -> Option<At<'a, &'a str>>| {
        let mut reached: BTreeSet<&'a str> = BTreeSet::new();
        let mut next: Vec<&'a str> = Vec::new();
        next.extend(config.interfaces.iter().filter_map(of).map(|p| p.value));
        while let Some(name) = next.pop() {
            if reached.insert(name) {
                let classes = config.policy_maps.get(name).map(|m| &m.classes);
                let inner = classes.into_iter().flatten().filter_map(|c| c.policy);
                next.extend(inner.map(|p| p.value));
            }
        }
        reached
    };
    let (arrival, departure) = (reach(|i| i.input_policy), reach(|i| i.output_policy));
    arrival.difference(&departure).copied().collect()
}

/// What percentages of the interface's policy are of, if it says so.
fn bandwidth(
    interface: &Interface<'_>,
    profile: &Profile,
    report: &mut Report<'_>,
) -> Option<Rate> {
    if let Some(at) = interface
        .max_reserved
        .filter(|_| profile.reservable.or(profile.advised).is_none())
    {
        let reason = "all of the link may be reserved on this platform";
        report.unmodelled(at.origin, reason);
    }
    let stated = [interface.own_bandwidth, interface.qos_reference];
    if profile.reference == Reference::Line {
        for at in stated.into_iter().flatten() {
            let reason = "percentages are of the line's rate on this platform, not of `bandwidth`";
            report.unmodelled(at.origin, reason);
        }
        return None;
    }
    let said = interface.bandwidth().or(interface.speed);
    said.map(|b| b.value)
}

/// Warns that percentages are of a rate that the configuration does not say.
fn without_bandwidth(
    config: &Config<'_>,
    interface: &Interface<'_>,
    policy: &At<'_, &str>,
    profile: &Profile,
    report: &mut Report<'_>,
) {
    let Some(map) = config.policy_maps.get(policy.value) else {
        return;
    };
    let percent = |r: RateOrPercent| matches!(r, RateOrPercent::Percent(_));
    let relative = map.classes.iter().any(|c| {
        c.bandwidth.is_some_and(|b| percent(b.value))
            || c.priority
                .is_some_and(|p| p.value.rate.is_some_and(percent))
            || c.shape.is_some_and(|s| percent(s.value.rate))
            || c.police.as_ref().is_some_and(|p| percent(p.value.rate))
    });
    let known = reference(config, interface, profile);
    if !relative || known.is_some_and(|(_, source)| source != Source::Type) {
        return;
    }
    // The rate of the line needs no command.
    if profile.reference == Reference::Line && known.is_some() {
        return;
    }
    let on_router = match known {
        Some((rate, _)) => format!("the router takes them of {rate}, what its type has"),
        None => "the router takes them of what its type has".to_owned(),
    };
    let message = format!(
        "interface {} has no `bandwidth`: percentages in `{}` are of the link's rate; {on_router}",
        interface.name, policy.value
    );
    let fault = Fault::new(code::NO_BANDWIDTH, policy.origin.column, message)
        .found(policy.value)
        .hint("write `bandwidth` and kbit/s on the interface");
    report.warn(
        policy.origin.line,
        format!("interface.{}", interface.name),
        fault,
    );
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
    profile: &Profile,
    report: &mut Report<'_>,
) -> Option<(DisciplineSpec, u32)> {
    let hold = interface.hold_queue.map(|h| h.value);
    let aqm = wred(&interface.wred, profile, report);
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
            // Without a policy-map it is flow-based WFQ on every platform.
            ..defaults
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
