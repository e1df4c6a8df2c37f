//! What a script leaves, as policies.

use std::collections::BTreeSet;

use spillgate_queueing::Counting;
use spillgate_queueing::spec::DisciplineSpec;
use spillgate_scenario::import::{
    ClassPlaces, Imported, ImportedInterface, PolicyPlaces, RouterCounting, Spot,
};

use crate::ios::ast::Origin;
use crate::ios::fault::{Fault, Refusal, code};
use crate::ios::report::Report;

use super::line::{Args, Handle};
use super::queue::{Idle, Queue, queue};
use super::script::{Device, Node, Script};
use super::shell::Word;

/// Disciplines that have others below them.
pub(super) const CLASSFUL: [&str; 8] = ["prio", "ets", "drr", "qfq", "tbf", "htb", "hfsc", "netem"];
/// Disciplines within each other.
pub(super) const MAX_DEPTH: usize = 8;
/// A policy and the places of its classes.
pub(super) type Found = (DisciplineSpec, Vec<ClassPlaces>);

/// The policies of all devices.
pub(super) fn lower(script: &Script<'_>, report: &mut Report<'_>) -> Imported {
    let mut imported = Imported::default();
    for (name, device) in &script.devices {
        let mut lowering = Lowering {
            script,
            device,
            name,
            report,
            imported: &mut imported,
            used: BTreeSet::new(),
        };
        let policy = device.root.as_ref().and_then(|root| {
            lowering.policy(root, name.clone(), 0)?;
            Some((name.clone(), lowering.origin(root).line))
        });
        let input = device.ingress.as_ref().and_then(|ingress| {
            let policy = format!("{name}-ingress");
            lowering.ingress(ingress, policy.clone())?;
            Some((policy, lowering.origin(ingress).line))
        });
        lowering.unused();
        let all = Some(device.counted);
        let interface = ImportedInterface {
            line: device.line,
            output_policy: policy,
            input_policy: input,
            counted: RouterCounting {
                counting: Counting {
                    policers: all,
                    queues: all,
                },
                at_most_link: false,
            },
            ..ImportedInterface::default()
        };
        imported.interfaces.insert(name.clone(), interface);
    }
    if imported.policies.is_empty() {
        let fault = Fault::new(
            code::NOTHING_FOUND,
            1,
            "no queueing discipline of the script is modelled",
        );
        report.warn(
            1,
            "",
            fault.hint("it needs `tc qdisc add dev DEVICE root ...`"),
        );
    }
    imported
}

pub(super) struct Lowering<'a, 't, 'r> {
    pub(super) script: &'a Script<'t>,
    pub(super) device: &'a Device,
    pub(super) name: &'a str,
    pub(super) report: &'a mut Report<'r>,
    imported: &'a mut Imported,
    /// The filters that lead somewhere.
    pub(super) used: BTreeSet<usize>,
}

impl<'a> Lowering<'a, '_, '_> {
    pub(super) fn words(&self, node: &Node) -> (&'a Word, Args<'a>) {
        let words = &self.script.commands[node.command].words;
        let kind = &words[node.kind];
        (kind, Args::behind(kind, &words[node.kind + 1..]))
    }

    fn origin(&self, node: &Node) -> Origin<'a> {
        let command = &self.script.commands[node.command];
        self.script.origin(command, command.words[node.kind].column)
    }

    pub(super) fn spot(&self, node: &Node) -> Spot {
        let word = self.words(node).0;
        Spot {
            line: word.line,
            column: word.column,
            width: u32::try_from(word.text.chars().count()).unwrap_or(0),
        }
    }

    /// Records a fault at its word, which may stand on a later line than its command.
    pub(super) fn refuse(&mut self, node: &Node, refusal: impl Into<Refusal>) {
        let refusal = refusal.into();
        let mut origin = self.origin(node);
        if let Refusal::Wrong(fault) = &refusal {
            let words = &self.script.commands[node.command].words;
            let same = words[node.kind..].iter();
            let mut same = same.filter(|w| w.column == fault.column && w.text == fault.found);
            if let Some(word) = same.next() {
                origin.line = word.line;
            }
        }
        self.report.refuse(origin, self.name, refusal);
    }

    pub(super) fn unmodelled(&mut self, node: &Node, reason: impl Into<String>) {
        let origin = self.origin(node);
        self.report.unmodelled(origin, reason);
    }

    pub(super) fn idle(&mut self, node: &Node, idle: Idle<'_>) {
        for (word, reason) in idle {
            self.unmodelled(node, format!("`{}`: {reason}", word.text));
        }
    }

    /// Adds the policy of a queueing discipline under a name; none if it is not modelled.
    pub(super) fn policy(&mut self, node: &Node, name: String, depth: usize) -> Option<()> {
        let (kind, args) = self.words(node);
        if depth > MAX_DEPTH {
            self.unmodelled(node, "disciplines are nested too deeply");
            return None;
        }
        let read = match kind.text.as_str() {
            "htb" => self.htb(node, args),
            "hfsc" => self.hfsc(node, args),
            "prio" | "ets" => self.bands(node, args, &name, depth),
            "drr" | "qfq" => self.turns(node, args, &name, depth),
            "tbf" => self.tbf(node, args, &name, depth),
            "netem" => {
                let reason = "delay, loss and rate belong to the links of a scenario";
                self.unmodelled(node, reason);
                let inner = self.below(node.handle);
                return self.policy(inner.first()?, name, depth + 1);
            }
            _ => Ok((self.queue(node)?.policy(), Vec::new())),
        };
        let (spec, classes) = match read {
            Ok(found) => found,
            Err(refusal) => {
                self.refuse(node, refusal);
                return None;
            }
        };
        let spot = self.spot(node);
        self.add(name, spec, PolicyPlaces { spot, classes });
        Some(())
    }

    pub(super) fn add(&mut self, name: String, spec: DisciplineSpec, places: PolicyPlaces) {
        self.imported.policies.insert(name.clone(), spec);
        self.imported.places.insert(name, places);
    }

    /// A queue without classes; none if it is not modelled, which is listed.
    pub(super) fn queue(&mut self, node: &Node) -> Option<Queue> {
        let (kind, args) = self.words(node);
        let mut idle = Idle::new();
        let read = queue(kind, args, &mut idle);
        self.idle(node, idle);
        match read {
            Ok(Some(queue)) => Some(queue),
            Ok(None) => {
                let known = unmodelled_kind(&kind.text);
                let refusal = match known {
                    Some(reason) => Refusal::Unmodelled(reason.to_owned()),
                    None => Refusal::NotUnderstood(format!(
                        "`{}` is no queueing discipline that is known",
                        kind.text
                    )),
                };
                self.refuse(node, refusal);
                None
            }
            Err(fault) => {
                self.refuse(node, fault);
                None
            }
        }
    }

    /// The queueing disciplines attached to the classes of one.
    pub(super) fn below(&self, of: Handle) -> Vec<Node> {
        let within = |n: &&Node| n.parent.is_some_and(|p| p.major == of.major);
        self.device.qdiscs.iter().filter(within).cloned().collect()
    }

    /// What is attached to a class.
    pub(super) fn attached(&self, to: Handle) -> Option<Node> {
        let mut all = self.device.qdiscs.iter();
        all.rfind(|q| q.parent == Some(to)).cloned()
    }

    /// The classes of a discipline, by their numbers.
    pub(super) fn nodes_of(&self, node: &Node) -> Vec<Node> {
        let all = self.device.classes.values();
        let own = all.filter(|c| c.handle.major == node.handle.major);
        own.cloned().collect()
    }
}

/// Why a kind of queueing discipline has no queue here.
fn unmodelled_kind(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "fq" => {
            "fq paces the connections of its own host: a scenario says it of the senders (`pacing`)"
        }
        "mq" | "multiq" | "mqprio" => {
            "a port has one queue to its line: give it the discipline of one of these queues"
        }
        "noqueue" => "a device without a queue: leave the link without a policy",
        "pfifo_fast" => "write it as `prio`, whose bands it has",
        "taprio" | "etf" | "cbs" | "plug" | "skbprio" | "gred" | "hhf" | "blackhole" => {
            "there is no such discipline here"
        }
        _ => return None,
    })
}
