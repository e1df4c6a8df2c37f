//! Policies as Linux `tc` commands.
//!
//! A class-based policy becomes a tree of `htb` classes: what a class is
//! guaranteed is its `rate`, what it is shaped to its `ceil`, priority levels
//! are the first values of `prio`, and each leaf holds the queueing discipline
//! that comes nearest to the class's queue. Conditions become filters (`flower`, or
//! `u32`) in the order of the classes, policers and markers actions of them. A policy of
//! priorities and shares only may become bands of `ets` or `prio` instead.
//!
//! Units are exact: rates in `bit`, sizes in `b` (bytes).

mod actions;
mod bands;
mod choke_sfb;
mod cubes;
mod filter;
mod flows;
mod htb;
mod options;
mod queue;
mod trees;

use std::fmt::Write as _;

use spillgate_core::{Cells, Overhead, Rate};
use spillgate_nodes::atm::ContractSpec;
use spillgate_queueing::spec::{DisciplineSpec, MatchSpec};
use spillgate_queueing::{Counting, Line, Longest, PacketSet, Policy};
use spillgate_scenario::{Diagnostic, Diagnostics};

use crate::settings::shown;
use crate::{Exported, Here, Note, Notes, Port, Source, codes};
use actions::{Actions, Step};
use cubes::cubes;

pub use options::{Filters, Scheduler, TcOptions};
pub use queue::PACKET_BYTES;

/// Policies within each other.
const MAX_DEPTH: usize = 8;
/// Bytes that the kernel counts beside an IP packet: the header of Ethernet.
const ETHERNET: i32 = 14;
/// A packet and its Ethernet header: the least turn.
const LEAST_TURN: u64 = 1514;

/// Writes the policies of all ports as a shell script of `tc` commands for a network device, or for
/// devices called like the ports.
///
/// # Errors
/// No port, a port whose rate is not known, a name that no device can have, and a policy that the
/// scheduler that was asked for cannot say.
pub fn tc(source: &Source, options: &TcOptions<'_>) -> Result<Exported, Diagnostics> {
    let device = options.device;
    let mut all = Exported {
        text: "#!/bin/sh\nset -e\n".to_owned(),
        notes: Vec::new(),
    };
    let lost = Notes::of(source, |_| false).0;
    for note in &lost {
        let _ = writeln!(all.text, "# not expressed: {note}");
    }
    all.notes.extend(lost);
    if let Some(bad) = device.filter(|d| !is_device(d)) {
        let d = Diagnostic::error(
            codes::BAD_DEVICE,
            format!("`{bad}` cannot be the name of a network device"),
        );
        return Err(d
            .found(bad)
            .hint("write 1 to 15 characters without spaces and `/`, such as eth0")
            .into());
    }
    if device.is_some() && source.ports.len() > 1 {
        let names: Vec<&str> = source.ports.iter().map(|p| p.name.as_str()).collect();
        let d = Diagnostic::error(
            codes::ONE_DEVICE,
            "a device has one policy, and several are to be exported",
        );
        return Err(d.hint(format!("choose one of {}", names.join(", "))).into());
    }
    if source.ports.is_empty() {
        let names: Vec<&str> = source.policies.keys().map(String::as_str).collect();
        let d = Diagnostic::error(codes::NOTHING, "no interface has an output policy");
        return Err(d
            .hint(format!(
                "name a policy and a rate; policies: {}",
                names.join(", ")
            ))
            .into());
    }
    for input in &source.inputs {
        let place = match &input.name {
            Some(name) => format!("interface {name}"),
            None => "a link's receiving end".to_owned(),
        };
        let reason = format!(
            "policy {} polices and marks what arrives: it is left out, as Linux has no classes there",
            input.policy
        );
        let note = Note { place, reason };
        let _ = writeln!(all.text, "# not expressed: {note}");
        all.notes.push(note);
    }
    for (i, port) in source.ports.iter().enumerate() {
        let mut script = Script::new(source, port, i, options)?;
        script.port(port)?;
        let Script {
            notes, lines, head, ..
        } = script;
        let _ = write!(all.text, "\n{head}");
        for note in &notes.0 {
            let _ = writeln!(all.text, "# not expressed: {note}");
        }
        for line in lines {
            let _ = writeln!(all.text, "{line}");
        }
        all.notes.extend(notes.0);
    }
    Ok(all)
}

/// Whether Linux takes it as the name of a device.
fn is_device(name: &str) -> bool {
    let fine = |c: char| c.is_ascii_graphic() && !"/:\"'$`\\;&|<>()*?[]#~!{}".contains(c);
    (1..=15).contains(&name.len()) && name.chars().all(fine) && !name.starts_with(['-', '.'])
}

/// What a size table must be told of a link's overhead (tc-stab(8)), and a space; nothing where
/// packets count as the kernel counts them.
fn sizes(overhead: Overhead) -> String {
    let beside = i32::from(overhead.per_packet()) - ETHERNET;
    match (beside, overhead.mpu(), overhead.cells()) {
        // Slots of 16 B: a cell ends where one ends, so that the table is exact.
        (n, min, Cells::Atm) => {
            let mpu = match min {
                0 => String::new(),
                min => format!("mpu {min} "),
            };
            format!("stab overhead {n} {mpu}mtu 32767 tsize 2048 linklayer atm ")
        }
        (0, 0, _) => String::new(),
        (n, 0, _) => format!("stab overhead {n} "),
        // The table of shorter packets is exact with one slot a byte only.
        (n, min, _) => format!("stab overhead {n} mpu {min} mtu 2047 tsize 2048 "),
    }
}

/// A line for people, on which nothing is a command.
fn comment(text: &str) -> String {
    format!("# {}", text.replace(char::is_control, " "))
}

/// Where the packets of a class go.
#[derive(Clone, Copy, Debug)]
enum Target {
    /// A leaf by the minor number of its class.
    Leaf(u16),
    /// A nested policy by its index.
    Node(usize),
}

/// A class as the filters need it.
struct Entry {
    place: String,
    /// A line of its class-map that its condition does not say.
    unsaid: Option<String>,
    matching: Option<MatchSpec>,
    /// None: where `class-default` goes.
    target: Option<Target>,
    steps: Vec<Step>,
}

/// The commands of one port.
struct Script<'s> {
    source: &'s Source,
    scheduler: Scheduler,
    filters: Filters,
    device: String,
    head: String,
    lines: Vec<String>,
    notes: Notes,
    /// The last minor number that a class has.
    minor: u16,
    nodes: Vec<Vec<Entry>>,
    actions: Actions,
    /// What makes the kernel count the bytes that the link counts, and a space behind it.
    sizes: String,
    /// The longest packet of the port.
    longest: Longest,
    /// `prio` of the last filter.
    prio: u32,
    filter_lines: Vec<String>,
    /// The leaf of packets that no filter takes.
    default: u16,
}

impl<'s> Script<'s> {
    fn new(
        source: &'s Source,
        port: &Port,
        index: usize,
        options: &TcOptions<'_>,
    ) -> Result<Self, Diagnostics> {
        let mut notes = Notes::default();
        let name = match options.device {
            Some(device) => device.to_owned(),
            None if is_device(&port.name) => port.name.clone(),
            None => {
                let name = format!("eth{index}");
                let reason = format!("device {name} stands for it; --dev names another");
                notes.at(&format!("interface {}", port.name)).add(reason);
                name
            }
        };
        let rate = port
            .rate
            .map_or_else(|| "unknown rate".to_owned(), |r| r.to_string());
        let sizes = port.overhead.map_or_else(String::new, sizes);
        if port.overhead.is_some_and(|o| o.cells() == Cells::Ptm) {
            let reason = "stab has no word for the code of PTM, a byte for each 64 B: the rates of the script leave it out, so give the link 64/65 of its rate";
            notes.at(&format!("interface {}", port.name)).add(reason);
        }
        if let Some(packets) = port.tx_ring {
            let reason = format!(
                "a transmit ring of {packets} packets: on Linux it is that of the network card (ethtool -G) with its limit in bytes (byte_queue_limits/limit_max), which the script leaves as it is"
            );
            notes.at(&format!("interface {}", port.name)).add(reason);
        }
        if let (Some(queue), Some(police)) = (port.overhead, port.policers) {
            if queue != police {
                let reason = format!(
                    "policers count {} in the policy; in the script all count {}",
                    police.in_words(),
                    queue.in_words()
                );
                notes.at(&format!("interface {}", port.name)).add(reason);
            }
        }
        if let Some(c) = port
            .circuit
            .as_ref()
            .filter(|c| c.shaped && c.contract != ContractSpec::default())
        {
            let reason = format!(
                "the script shapes to {rate}; the peak and the bursts of the circuit's contract ({}) are not expressed",
                c.contract.kind()
            );
            notes.at(&format!("interface {}", port.name)).add(reason);
        }
        let counted = match port.overhead {
            Some(o) if !sizes.is_empty() => format!(
                "# Rates count {}; the kernel has IP packet + {ETHERNET} B, and stab the difference.\n",
                o.in_words()
            ),
            _ => String::new(),
        };
        Ok(Self {
            source,
            scheduler: options.scheduler,
            filters: options.filters,
            head: format!(
                "{}\n{counted}",
                comment(&format!(
                    "Written by Spillgate: {} at {rate}, policy {}.",
                    port.name, port.policy
                ))
            ),
            lines: vec![format!("tc qdisc del dev {name} root 2>/dev/null || true")],
            device: name,
            notes,
            minor: 0,
            nodes: Vec::new(),
            // Actions are shared by all devices: each port has a hundred of its own.
            actions: Actions::new(u32::try_from(index).unwrap_or(0)),
            sizes,
            longest: port.longest,
            prio: 0,
            filter_lines: Vec::new(),
            default: 0,
        })
    }

    /// The port's line at a rate.
    fn line(&self, rate: Rate) -> Line {
        Line {
            rate,
            longest: self.longest,
            counting: Counting::default(),
        }
    }

    /// The command of the root: all below it count what the link counts.
    fn root_line(&self, qdisc: &str) -> String {
        let (device, sizes) = (&self.device, &self.sizes);
        format!("tc qdisc add dev {device} root handle 1: {sizes}{qdisc}")
    }

    fn root(&mut self, qdisc: &str) {
        let line = self.root_line(qdisc);
        self.lines.push(line);
    }

    fn port(&mut self, port: &Port) -> Result<(), Diagnostics> {
        let place = format!("policy {}", port.policy);
        let Some(rate) = port.rate else {
            let message = format!("the rate of `{}` is not known", port.name);
            let d = Diagnostic::error(codes::NO_RATE, message).found(&port.name);
            return Err(d
                .hint("write `bandwidth` on the interface, or give --rate")
                .into());
        };
        let source = self.source;
        let Some(spec) = source.policies.get(&port.policy) else {
            return Ok(());
        };
        let line = self.line(rate);
        match spec {
            DisciplineSpec::Htb(s) => {
                self.htb(s, &port.policy, rate);
                return Ok(());
            }
            DisciplineSpec::Hfsc(s) => {
                self.hfsc(s, &port.policy, rate);
                return Ok(());
            }
            DisciplineSpec::ClassBased(_) => {
                let around = Some(line.into());
                let Some(policy) = Policy::of(&self.source.policies, &port.policy, around) else {
                    return Ok(());
                };
                match self.scheduler {
                    Scheduler::Htb => self.class_based(&policy, rate),
                    Scheduler::Ets | Scheduler::Prio => self.bands(&policy, rate)?,
                }
                return Ok(());
            }
            _ => {}
        }
        let notes = &mut self.notes.at(&place);
        if let Some(queue) = discipline(spec, line, u64::MAX, notes) {
            self.queue(&queue, rate, &place);
        }
        Ok(())
    }

    /// A policy without classes: its queue at the rate.
    fn queue(&mut self, queue: &str, rate: Rate, place: &str) {
        if self.scheduler != Scheduler::Htb {
            self.unlimited("a policy without classes and htb", rate, place);
            self.root(queue);
            return;
        }
        // Or the queue would be the device's, which only its line bounds.
        self.root("htb default 1");
        self.top(rate);
        let line = format!(
            "tc qdisc add dev {} parent 1:1 handle 10: {queue}",
            self.device
        );
        self.lines.push(line);
    }

    /// Says that nothing keeps to the rate.
    fn unlimited(&mut self, what: &str, rate: Rate, place: &str) {
        let reason =
            format!("{what} does not limit the rate: the device itself must send at {rate}");
        self.notes.at(place).add(reason);
    }

    /// The leaf of what no class of a node takes.
    fn default_of(&self, node: usize) -> u16 {
        match self.nodes[node].last().and_then(|e| e.target) {
            Some(Target::Leaf(minor)) => minor,
            Some(Target::Node(n)) => self.default_of(n),
            None => 0,
        }
    }

    /// Writes the filters of a node for packets of `within`, on which `outer` acts, too.
    fn walk(&mut self, node: usize, within: &PacketSet, outer: &[Step], depth: usize) {
        let entries = std::mem::take(&mut self.nodes[node]);
        let default = entries.last().and_then(|e| e.target);
        for entry in &entries {
            // A part of what a class matches is another class.
            if let Some(line) = &entry.unsaid {
                let reason = format!(
                    "its class-map has `{line}`, for which there is no filter: its packets go where later classes take them"
                );
                self.notes.at(&entry.place).add(reason);
                continue;
            }
            if entry
                .matching
                .as_ref()
                .is_some_and(MatchSpec::looks_at_labels)
            {
                let reason =
                    "filters see packets without labels: what asks for EXP bits is left out";
                self.notes.at(&entry.place).add(reason);
            }
            let found = match &entry.matching {
                None => Some(within.clone()),
                Some(m) => PacketSet::of(m).and_then(|own| within.and(&own)),
            };
            let found = found.and_then(|set| Some((cubes(&set)?, set)));
            let Some((cubes, set)) = found else {
                self.notes.at(&entry.place).add("its condition is none that filters can test: its packets go where later classes take them");
                continue;
            };
            let steps: Vec<Step> = entry.steps.iter().chain(outer).cloned().collect();
            match entry.target.or(default) {
                Some(Target::Leaf(minor)) => self.filter(&cubes, minor, &steps, &entry.place),
                Some(Target::Node(n)) if depth < MAX_DEPTH => {
                    self.walk(n, &set, &steps, depth + 1);
                }
                _ => {}
            }
        }
        // Another class may lead here.
        self.nodes[node] = entries;
    }
}

/// A discipline without classes: its kind and arguments; none if Linux has nothing like it. `dscps`
/// are those of the packets that may come to it.
fn discipline(
    spec: &DisciplineSpec,
    line: Line,
    dscps: u64,
    notes: &mut Here<'_>,
) -> Option<String> {
    Some(match spec {
        DisciplineSpec::Fifo(f) => queue::whole_fifo(f, line.rate, dscps, notes),
        DisciplineSpec::Drr(d) => flows::drr(d, line, notes),
        DisciplineSpec::Fair(f) => flows::packet_fair(f, line, notes),
        DisciplineSpec::Sfq(s) => flows::sfq(s, line, notes),
        DisciplineSpec::FqPie(f) => flows::fq_pie(f, line, notes),
        DisciplineSpec::Fq(f) => flows::fq(f, line, notes),
        DisciplineSpec::FqCodel(f) => flows::fq_codel(f, line, notes),
        DisciplineSpec::DualPi2(d) => flows::dualpi2(d, line, notes),
        DisciplineSpec::Cake(c) => flows::cake(c, notes),
        DisciplineSpec::FlowWfq(f) => flows::fair(f, None, line.rate, notes),
        DisciplineSpec::Wfq(w) => flows::wfq(w, line.rate, notes),
        DisciplineSpec::Fan(f) => flows::fan(f, line, notes),
        other => {
            notes.add(format!(
                "tc has no translation of {}; left out: {}",
                other.kind(),
                shown(other)
            ));
            return None;
        }
    })
}

/// The DSCPs of the packets that a class may match, a bit each.
fn dscps(matching: Option<&MatchSpec>) -> u64 {
    let set = matching.and_then(PacketSet::of);
    set.map_or(u64::MAX, |set| set.dscps())
}
