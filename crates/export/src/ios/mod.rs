//! Policies as a Cisco IOS configuration.
//!
//! Reading it back gives the same policies, as far as IOS can express them. Classes become
//! class-maps of the same name; conditions that do not fit into one level of a class-map become
//! class-maps and access lists of their own.

mod acl;
mod circuit;
mod class;
mod flows;
mod kept;
mod matching;
mod numbers;
mod protocols;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use spillgate_core::{Limit, Rate};
use spillgate_import::{counted, interface_bandwidth};
use spillgate_queueing::Longest;
use spillgate_queueing::spec::{
    ClassBasedSpec, ClassScheduler, DisciplineSpec, FairQueueSpec, FifoSpec, MatchSpec,
};
use spillgate_scenario::Platform;

use crate::settings::{drops_others, shown};
use crate::source::inner_first;
use crate::{Circuit, Exported, Here, Input, Notes, Port, Source, Tag, place};
use class::Writer;
use matching::ClassMaps;
use numbers::quoted;

/// The share of an interface that may be reserved by default (Cisco IOS before 12.4(20)T).
const RESERVABLE: f64 = 0.75;

/// Writes the policies as class-maps, access lists, policy-maps and interfaces.
pub fn ios(source: &Source) -> Exported {
    let mut notes = Notes::default();
    if source.platform == Platform::IosXr {
        notes.at("platform ios-xr").add(
            "the commands are those of IOS with the meaning that they have on IOS XR, which itself writes `ipv4 access-list`, `end-class-map`, `end-policy-map` and actions such as `set dscp`",
        );
    }
    let names = source.policies.values().flat_map(|spec| match spec {
        DisciplineSpec::ClassBased(c) => &c.classes[..],
        _ => &[],
    });
    let names = names.map(|c| c.name.as_str());
    let mut maps = ClassMaps::new(names, source);
    let mut policies = String::new();
    for name in inner_first(&source.policies) {
        if let Some(DisciplineSpec::ClassBased(spec)) = source.policies.get(name) {
            let line = (rate_of(source, name), longest_of(source, name));
            policy_map(
                &mut policies,
                name,
                spec,
                line,
                source,
                &mut maps,
                &mut notes,
            );
        }
    }
    let mut interfaces = String::new();
    for port in &source.ports {
        interface(&mut interfaces, port, source, &mut notes);
    }
    for input in &source.inputs {
        arrival(&mut interfaces, input, source, &mut notes);
    }
    kept::elsewhere(&mut interfaces, source, &mut notes);
    let attached = |name: &String| source.ports.iter().any(|p| p.policy == *name);
    for (name, spec) in &source.policies {
        if !matches!(spec, DisciplineSpec::ClassBased(_)) && !attached(name) {
            let what = format!(
                "a {} queue is of an interface, and none has it",
                spec.kind()
            );
            notes.at(&format!("policy {name}")).add(what);
        }
    }
    let mut body = String::new();
    for part in [maps.text(), policies, interfaces] {
        if !part.is_empty() {
            let _ = write!(body, "!\n{part}");
        }
    }
    let lines: BTreeSet<&str> = body.lines().map(str::trim).collect();
    let mut all = Notes::of(source, |line| lines.contains(line));
    notes
        .0
        .into_iter()
        .for_each(|n| all.at(&n.place).add(n.reason));
    let notes = all;
    let mut text = format!(
        "! Written by Spillgate for platform {}.\n",
        source.platform.name()
    );
    for note in &notes.0 {
        let _ = writeln!(
            text,
            "! not expressed: {}",
            note.to_string().replace('\n', " ")
        );
    }
    text.push_str(&body);
    if source.ports.is_empty() && source.inputs.is_empty() {
        text.push_str("!\n");
    }
    text.push_str("end\n");
    Exported {
        text,
        notes: notes.0,
    }
}

/// The rate that a policy divides, if a port gives it.
fn rate_of(source: &Source, policy: &str) -> Option<Rate> {
    let inputs = source.inputs.iter().map(|i| (&i.policy, i.rate));
    let ports = source.ports.iter().map(|p| (&p.policy, p.rate));
    ports.chain(inputs).find(|(name, _)| *name == policy)?.1
}

/// The longest packet of a port with this policy.
fn longest_of(source: &Source, policy: &str) -> Longest {
    let mut ports = source.ports.iter().filter(|p| p.policy == policy);
    ports.next().map(|p| p.longest).unwrap_or_default()
}

fn policy_map<'s>(
    out: &mut String,
    name: &str,
    spec: &ClassBasedSpec,
    (rate, longest): (Option<Rate>, Longest),
    source: &'s Source,
    maps: &mut ClassMaps<'s>,
    notes: &mut Notes,
) {
    let _ = writeln!(out, "policy-map {}", quoted(name, &mut notes.at("policy")));
    if spec.scheduler != ClassScheduler::default() {
        let text = format!(
            "its classes share by {}, which no command says: the router shares by its own scheduler",
            spec.scheduler.name()
        );
        notes.at(&format!("policy {name}")).add(text);
    }
    for class in &spec.classes {
        let place = place(name, &class.name);
        let everything = MatchSpec::default();
        let matching = class.matching.as_ref().unwrap_or(&everything);
        let called = match class.name == "class-default" {
            true => Some(class.name.clone()),
            false => maps.class(&class.name, matching, &mut notes.at(&place)),
        };
        let Some(called) = called else {
            let said = shown(matching);
            notes.at(&place).add(format!("its condition has no translation: the class is left out, and its packets go where later classes take them; match {said}"));
            let called = quoted(&class.name, &mut notes.at(&place));
            let _ = writeln!(out, " ! class {called}: its condition has no translation");
            continue;
        };
        let _ = writeln!(out, " class {}", quoted(&called, &mut notes.at(&place)));
        if kept::class(out, name, class, source, maps, notes) {
            continue;
        }
        Writer {
            out,
            place,
            rate,
            longest,
            platform: source.platform,
            maps,
            notes,
        }
        .class(class);
    }
}

fn interface(out: &mut String, port: &Port, source: &Source, notes: &mut Notes) {
    let place = format!("interface {}", port.name);
    let notes = &mut notes.at(&place);
    let has_rate = port.circuit.as_ref().is_some_and(circuit::has_rate);
    head(out, &port.name, port.circuit.as_ref(), notes);
    tag(out, port.tag, &port.name, notes);
    if let Some(rate) = port.rate.filter(|_| !has_rate) {
        bandwidth(
            out,
            rate,
            circuit::interface(&port.name),
            source,
            notes.notes,
        );
    }
    // If the framing is unknown, the bytes that the router counts are unknown, too.
    let framing = port.circuit.as_ref().and_then(|c| c.framing);
    let there = |own| counted(source.platform, &port.name, framing).on(own).queues;
    if let Some((own, there)) = port.overhead.and_then(|own| Some((own, there(own)?))) {
        if own.cells() != there.cells() {
            let what = format!(
                "rates count {} there, and {} on the link of the policy: the router sends more than the link carries",
                there.in_words(),
                own.in_words()
            );
            notes.add(what);
        } else if own.per_packet() != there.per_packet() {
            let what = format!(
                "rates count {} B beside each IP packet there, and {} B on the link of the policy: of short packets the router sends {}",
                there.per_packet(),
                own.per_packet(),
                if own.per_packet() < there.per_packet() {
                    "less"
                } else {
                    "more"
                }
            );
            notes.add(what);
        }
    }
    if port.labels {
        out.push_str(" mpls ip\n");
    }
    let policy = source.policies.get(&port.policy);
    if let Some(circuit) = &port.circuit {
        // Other queues are those of the interface.
        let before = match policy {
            Some(DisciplineSpec::ClassBased(spec)) => {
                if capped(source.platform, port.rate, spec) {
                    out.push_str(RESERVE_ALL);
                }
                None
            }
            Some(DisciplineSpec::Fifo(fifo)) if fifo.aqm.is_none() => None,
            other => other,
        };
        queue(out, before, port, source, notes);
        kept::interface(out, &port.name, false, source);
        circuit::pvc(out, &port.name, circuit, port.rate, notes);
        ring(out, "  ", port, notes);
        match policy {
            Some(DisciplineSpec::ClassBased(_)) => {
                let policy = quoted(&port.policy, notes);
                let _ = writeln!(out, "  service-policy output {policy}");
            }
            Some(DisciplineSpec::Fifo(fifo)) if fifo.aqm.is_none() => {
                if let Some(note) = drops_others(fifo) {
                    notes.add(note);
                }
                if let Some(packets) = flows::hold_queue(fifo.limit, port.rate, notes) {
                    let _ = writeln!(out, "  vc-hold-queue {packets}");
                }
            }
            _ => {}
        }
        kept::interface(out, &port.name, true, source);
        out.push_str(" !\n!\n");
        return;
    }
    ring(out, " ", port, notes);
    if let Some(DisciplineSpec::ClassBased(spec)) = policy {
        if capped(source.platform, port.rate, spec) {
            out.push_str(RESERVE_ALL);
        }
        let policy = quoted(&port.policy, notes);
        let _ = writeln!(out, " service-policy output {policy}");
    } else {
        queue(out, policy, port, source, notes);
    }
    kept::interface(out, &port.name, false, source);
    out.push_str("!\n");
}

/// Packets that `tx-ring-limit` takes at most.
const LARGEST_RING: u32 = 32_767;

/// The transmit ring of an interface or circuit, where it is written.
fn ring(out: &mut String, indent: &str, port: &Port, notes: &mut Here<'_>) {
    let Some(packets) = port.tx_ring else { return };
    if packets > LARGEST_RING {
        let what = format!(
            "a transmit ring of {packets} packets; written as {LARGEST_RING}, the most that IOS takes"
        );
        notes.add(what);
    }
    let _ = writeln!(out, "{indent}tx-ring-limit {}", packets.min(LARGEST_RING));
}

/// Before it releases refuse policies that reserve more.
const RESERVE_ALL: &str = " max-reserved-bandwidth 100\n";

/// Whether older releases would refuse a policy that reserves so much.
fn capped(platform: Platform, rate: Option<Rate>, spec: &ClassBasedSpec) -> bool {
    let capped = matches!(platform, Platform::Ios | Platform::IosPreHqf);
    capped && rate.is_some_and(|r| reserved(spec, r) > RESERVABLE + 1e-9)
}

/// The line that an interface begins with.
fn head(out: &mut String, name: &str, circuit: Option<&Circuit>, notes: &mut Here<'_>) {
    let (written, kind) = match circuit {
        Some(_) => (circuit::interface(name), circuit::kind(name)),
        None => (name, ""),
    };
    let _ = writeln!(out, "interface {}{kind}", quoted(written, notes));
}

/// The queueing of an interface without a policy-map.
fn queue(
    out: &mut String,
    policy: Option<&DisciplineSpec>,
    port: &Port,
    source: &Source,
    notes: &mut Here<'_>,
) {
    let rate = port.rate;
    let fair = match policy {
        Some(DisciplineSpec::ClassBased(_)) | None => return,
        Some(DisciplineSpec::Fifo(f)) => return fifo_queue(out, f, rate, source.platform, notes),
        Some(DisciplineSpec::DualPi2(d)) => {
            let queue = flows::dualpi2(d, notes);
            return fifo_queue(out, &queue, rate, source.platform, notes);
        }
        Some(DisciplineSpec::FlowWfq(fair)) => fair.clone(),
        Some(DisciplineSpec::Drr(d)) => flows::drr(d, rate, notes),
        Some(DisciplineSpec::Fair(f)) => flows::fair(f, rate, notes),
        Some(DisciplineSpec::Sfq(s)) => flows::sfq(s, rate, notes),
        Some(DisciplineSpec::FqPie(f)) => flows::fq_pie(f, rate, notes),
        Some(DisciplineSpec::Fq(f)) => flows::fq(f, rate, notes),
        Some(DisciplineSpec::FqCodel(f)) => flows::fq_codel(f, rate, notes),
        Some(DisciplineSpec::Wfq(w)) => flows::wfq(w, rate, notes),
        Some(DisciplineSpec::Fan(f)) => flows::fan(f, rate, notes),
        Some(other) => {
            return notes.add(format!(
                "IOS has no translation of {}; left out: {}",
                other.kind(),
                shown(other)
            ));
        }
    };
    fair_queue(out, &fair, notes);
}

/// The base of percentages on an interface.
fn bandwidth(out: &mut String, rate: Rate, name: &str, source: &Source, notes: &mut Notes) {
    let place = format!("interface {name}");
    if source.platform != Platform::IosXr {
        let kbps = numbers::kbps(rate, "bandwidth", &mut notes.at(&place));
        let _ = writeln!(out, " bandwidth {kbps}");
    } else if interface_bandwidth(name) != Some(rate) {
        let what = format!("percentages are of the line's rate on IOS XR: it must be {rate}");
        notes.at(&place).add(what);
    }
}

/// The line that makes the frames of an interface carry a tag.
fn tag(out: &mut String, tag: Tag, name: &str, notes: &mut Here<'_>) {
    let vlan = match tag {
        Tag::None => return,
        Tag::Trunk => {
            out.push_str(" switchport mode trunk\n");
            return;
        }
        Tag::Vlan(vlan) => Some(vlan),
        // By custom the number of a sub-interface is its VLAN's.
        Tag::Unnumbered => name
            .rsplit_once('.')
            .and_then(|(_, n)| n.parse().ok())
            .filter(|n| (1..=4094).contains(n)),
    };
    match vlan {
        Some(vlan) => {
            let _ = writeln!(out, " encapsulation dot1Q {vlan}");
        }
        None => notes.add("its frames carry 802.1Q tags: attach the policy to a sub-interface with `encapsulation dot1Q VLAN`, such as with --interface Gi0/1.20",
        ),
    }
}

/// The policy of an interface for what arrives.
fn arrival(out: &mut String, input: &Input, source: &Source, notes: &mut Notes) {
    let Some(name) = &input.name else {
        notes.at(&format!("policy {}", input.policy)).add("it acts where packets arrive over a link, and no one link leads back: attach it with `service-policy input` to the interface there");
        return;
    };
    let place = format!("interface {name}");
    let notes = &mut notes.at(&place);
    head(out, name, input.circuit.as_ref(), notes);
    // With an output policy the line is written already.
    let alone = source.ports.iter().all(|p| p.name != *name);
    if alone {
        tag(out, input.tag, name, notes);
    }
    let has_rate = input.circuit.as_ref().is_some_and(circuit::has_rate);
    if let Some(rate) = input.rate.filter(|_| alone && !has_rate) {
        bandwidth(out, rate, circuit::interface(name), source, notes.notes);
    }
    let policy = quoted(&input.policy, notes);
    if let Some(circuit) = &input.circuit {
        if alone {
            kept::interface(out, name, false, source);
        }
        circuit::pvc(out, name, circuit, input.rate, notes);
        let _ = writeln!(out, "  service-policy input {policy}");
        if alone {
            kept::interface(out, name, true, source);
        }
        out.push_str(" !\n!\n");
        return;
    }
    let _ = writeln!(out, " service-policy input {policy}");
    if alone {
        kept::interface(out, name, false, source);
    }
    out.push_str("!\n");
}

/// Share of `rate` that priority and bandwidth reserve.
fn reserved(spec: &ClassBasedSpec, rate: Rate) -> f64 {
    let asked = spec.classes.iter().filter_map(|c| match &c.priority {
        Some(p) => p.rate,
        None => c.bandwidth,
    });
    asked.map(|r| r.of(rate).bps() as f64).sum::<f64>() / rate.bps() as f64
}

/// A FIFO of an interface.
fn fifo_queue(
    out: &mut String,
    fifo: &FifoSpec,
    rate: Option<Rate>,
    platform: Platform,
    notes: &mut Here<'_>,
) {
    out.push_str(" no fair-queue\n");
    if let Some(note) = drops_others(fifo) {
        notes.add(note);
    }
    let at = class::Place {
        platform,
        limit: fifo.limit,
    };
    if let Some(aqm) = &fifo.aqm {
        class::managed(out, " ", aqm, at, notes);
    }
    if let Some(packets) = flows::hold_queue(fifo.limit, rate, notes) {
        let _ = writeln!(out, " hold-queue {packets} out");
    }
}

/// Flow-based WFQ of an interface.
fn fair_queue(out: &mut String, fair: &FairQueueSpec, notes: &mut Here<'_>) {
    let defaults = FairQueueSpec::default();
    let _ = writeln!(out, " fair-queue {} {}", fair.threshold, fair.queues);
    if fair.hold_queue != defaults.hold_queue {
        let limit = Limit::Packets(fair.hold_queue);
        let packets = flows::hold_queue(limit, None, notes);
        let _ = writeln!(
            out,
            " hold-queue {} out",
            packets.unwrap_or(fair.hold_queue)
        );
    }
    if fair.weights != defaults.weights {
        notes.add("an interface's fair queue weighs flows by precedence (`weights`), not equally");
    }
    class::threshold_policy(fair, defaults.cdt_policy, notes);
}
