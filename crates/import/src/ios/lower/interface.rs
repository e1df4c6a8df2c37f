//! Interfaces: what their output policy is, also without a policy-map.

use std::collections::BTreeSet;

use spillgate_core::{Limit, Rate, RateOrPercent};
use spillgate_queueing::spec::{DisciplineSpec, FairQueueSpec, FifoSpec};
use spillgate_scenario::import::{ImportedCircuit, PolicyPlaces};
use spillgate_scenario::{Imported, ImportedInterface};

use super::super::ast::{At, Circuit, CircuitLines, Config, Interface, InterfaceQueueing, Origin};
use super::super::fault::{Fault, code};
use super::super::interface::dynamic_queues;
use super::super::interface_words::parent;
use super::super::platform::{PlatformProfile, Reference};
use super::super::ports::{Port, framing, ports};
use super::super::report::Report;
use super::places::spot;
use super::policy::wred;
use super::rates::{Source, reference_of};

/// Lowers all interfaces, in the order of their names.
pub(super) fn lower(
    config: &Config<'_>,
    profile: &PlatformProfile,
    report: &mut Report<'_>,
    imported: &mut Imported,
) {
    let all = ports(config);
    without_effect(config, &all, report);
    for port in all {
        let (name, interface) = (&port.name, port.interface);
        let own = bandwidth(interface, profile, report);
        let bandwidth = port.contract_rate().or(own);
        let output_policy = match port.output_policy {
            Some(policy) => {
                beside_policy(&port, report);
                without_bandwidth(config, &port, &policy, profile, report);
                Some((policy.value.to_owned(), policy.origin.line))
            }
            None => default_discipline(&port, bandwidth, profile, report).map(|(spec, line)| {
                let mut policy = format!("INTERFACE-DEFAULT:{name}");
                while imported.policies.contains_key(&policy) {
                    policy.push('+');
                }
                imported.policies.insert(policy.clone(), spec);
                let place = PolicyPlaces::in_line(line);
                imported.places.insert(policy.clone(), place);
                (policy, line)
            }),
        };
        let input_policy = port.input_policy.map(|policy| {
            without_bandwidth(config, &port, &policy, profile, report);
            (policy.value.to_owned(), policy.origin.line)
        });
        let circuit = port
            .circuit
            .as_ref()
            .map(|(c, lines)| circuit(interface, c, lines));
        let counted = match &circuit {
            Some(circuit) => profile.counted.on_circuit(circuit.framing.0),
            None => profile.counted.on(name),
        };
        imported.interfaces.insert(
            name.clone(),
            ImportedInterface {
                line: port.origin().line,
                bandwidth,
                output_policy,
                input_policy,
                dot1q: interface.dot1q.map(|origin| origin.line),
                vlan: interface.vlan,
                labels: interface.labels.map(|origin| origin.line),
                counted,
                circuit,
                tx_ring: port.tx_ring(config).map(|at| (at.value, spot(at.origin))),
                circuits: port.circuits,
            },
        );
    }
}

/// Lists what several circuits, or their own lines, make void.
fn without_effect(config: &Config<'_>, all: &[Port<'_, '_>], report: &mut Report<'_>) {
    for interface in config
        .interface_index
        .values()
        .filter_map(|i| config.interfaces.get(*i))
    {
        if let (Some(policy), [_, _, ..]) = (interface.output_policy, &interface.circuits[..]) {
            let reason =
                "a policy over several circuits is not modelled; attach it inside each `pvc`";
            report.unmodelled(policy.origin, reason);
        }
    }
    for port in all.iter().filter(|p| p.contract_rate().is_some()) {
        if let Some(at) = port.interface.bandwidth() {
            let reason = "percentages are of the rate of the circuit's contract; `bandwidth` is for routing protocols";
            report.unmodelled(at.origin, reason);
        }
    }
    let circuits = || all.iter().filter_map(|p| p.circuit.as_ref());
    let used: BTreeSet<u32> = circuits()
        .flat_map(|(_, lines)| lines.origins())
        .map(|o| o.line)
        .collect();
    let void = |o: &Origin<'_>| !used.contains(&o.line);
    for lines in config.vc_classes.values() {
        for origin in lines.origins().filter(void) {
            report.unmodelled(origin, "no circuit takes it from the class");
        }
    }
    let own = circuits().filter_map(|(c, _)| c.class);
    let names = own.chain(config.interfaces.iter().filter_map(|i| i.vc_class));
    for name in names {
        let class = config.vc_classes.get(name.value);
        if class.is_some_and(|lines| lines.origins().all(|o| void(&o))) {
            let reason = "what the class says, circuits say themselves";
            report.unmodelled(name.origin, reason);
        }
    }
}

/// A circuit as a scenario needs it.
fn circuit(
    interface: &Interface<'_>,
    c: &Circuit<'_>,
    lines: &CircuitLines<'_>,
) -> ImportedCircuit {
    let (framing, origin) = framing(lines, c);
    let contract = lines.contract.as_ref();
    ImportedCircuit {
        vc: c.vc,
        name: c.name.map(str::to_owned),
        spot: spot(c.origin),
        interface: parent(&interface.name)
            .unwrap_or(&interface.name)
            .to_owned(),
        contract: contract.map(|at| (at.value.clone(), spot(at.origin))),
        framing: (framing, spot(origin)),
    }
}

/// The policy-maps that act only where packets arrive, those inside them included.
pub(super) fn at_arrival<'a>(config: &Config<'a>) -> BTreeSet<&'a str> {
    let all = ports(config);
    let reach = |of: fn(&Port<'_, 'a>) -> Option<At<'a, &'a str>>| {
        let mut reached: BTreeSet<&'a str> = BTreeSet::new();
        let mut next: Vec<&'a str> = Vec::new();
        next.extend(all.iter().filter_map(of).map(|p| p.value));
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
    profile: &PlatformProfile,
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
    port: &Port<'_, '_>,
    policy: &At<'_, &str>,
    profile: &PlatformProfile,
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
    let known = reference_of(config, port, profile);
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
    let policy_of = policy.value;
    let (message, hint) = match &port.circuit {
        Some(_) => (
            format!(
                "the circuit of {} has no rate: percentages in `{policy_of}` are of the link's",
                port.name
            ),
            "write a contract inside the `pvc`, such as `vbr-nrt 768 384` in kbit/s",
        ),
        None => (
            format!(
                "interface {} has no `bandwidth`: percentages in `{policy_of}` are of the link's rate; {on_router}",
                port.name
            ),
            "write `bandwidth` and kbit/s on the interface",
        ),
    };
    let fault = Fault::new(code::NO_BANDWIDTH, policy.origin.column, message)
        .found(policy.value)
        .hint(hint);
    report.warn(
        policy.origin.line,
        format!("interface.{}", port.name),
        fault,
    );
}

/// Lists queueing commands that the service-policy of the interface makes void.
fn beside_policy(port: &Port<'_, '_>, report: &mut Report<'_>) {
    let interface = port.interface;
    let queueing = interface
        .queueing
        .filter(|q| q.value != InterfaceQueueing::Fifo);
    let held = port
        .circuit
        .as_ref()
        .and_then(|(_, lines)| lines.hold_queue);
    let void = [
        (
            held.map(|h| h.origin),
            "the classes of the service-policy have their own limits; one over all of them is not modelled",
        ),
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
    port: &Port<'_, '_>,
    bandwidth: Option<Rate>,
    profile: &PlatformProfile,
    report: &mut Report<'_>,
) -> Option<(DisciplineSpec, u32)> {
    let interface = port.interface;
    let circuit = port.circuit.as_ref();
    if let Some(held) = circuit.and_then(|(_, lines)| lines.hold_queue) {
        let limit = Limit::Packets(held.value);
        let spec = FifoSpec {
            limit,
            ..FifoSpec::default()
        };
        return Some((DisciplineSpec::Fifo(spec), held.origin.line));
    }
    // Packets of several circuits wait in theirs.
    if circuit.is_some() && port.name != interface.name {
        return None;
    }
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
    let spec = FifoSpec {
        limit,
        aqm,
        ..FifoSpec::default()
    };
    Some((DisciplineSpec::Fifo(spec), origin.line))
}
