//! What was understood of a configuration, for people and programs.

use serde::Serialize;
use spillgate_queueing::aqm::AqmSpec;
use spillgate_queueing::spec::FairQueueSpec;
use spillgate_scenario::Diagnostic;
use spillgate_scenario::plan::Unmodelled;

/// What was understood of a configuration. Rates are in b/s, bursts in bytes.
#[derive(Debug, Serialize)]
pub struct Understood {
    /// The file, as the user named it.
    pub file: String,
    /// Whose meaning the commands were given.
    pub platform: PlatformFacts,
    /// Interfaces with a policy, the policies without their classes; or the one that was
    /// asked for, with them.
    pub interfaces: Vec<InterfaceTree>,
    /// Policies that no interface has, neither directly nor inside another, with their classes; their
    /// rates are unknown.
    pub unattached: Vec<PolicyTree>,
    /// Lines without effect on the simulation, or with less than on the router.
    pub unmodelled: Vec<Unmodelled>,
    /// What the user should know.
    pub warnings: Vec<Diagnostic>,
}

/// A platform's semantics, and where they are from.
#[derive(Debug, Serialize)]
pub struct PlatformFacts {
    /// Its name on the command line.
    pub name: &'static str,
    /// In a few words.
    pub summary: &'static str,
    /// One line a fact or assumption.
    pub sources: &'static [&'static str],
}

/// An interface and what queues on it.
#[derive(Debug, Serialize)]
pub struct InterfaceTree {
    /// Its full name.
    pub name: String,
    /// Line of its `interface` command, from 1.
    pub line: u32,
    /// What percentages of its policy are of, in b/s, if it is known.
    pub rate: Option<u64>,
    /// Where that is from.
    pub rate_from: &'static str,
    /// Bytes that the platform's rates count beside each IP packet, where it says.
    pub counted_bytes: Option<u16>,
    /// Its output policy; none if it has none that is modelled.
    pub policy: Option<PolicyTree>,
    /// What polices and marks the packets that arrive by it; queues in it have no effect.
    pub input: Option<PolicyTree>,
}

/// A policy at the rate that it divides.
#[derive(Debug, Serialize)]
pub struct PolicyTree {
    /// Its name.
    pub name: String,
    /// Line where it is defined, from 1.
    pub line: u32,
    /// `class-based`, `fifo` or `flow-wfq`.
    pub kind: &'static str,
    /// What it divides, in b/s, if it is known.
    pub rate: Option<u64>,
    /// Its classes in the order in which they are tried; none unless it is class-based, and its
    /// interface was asked for or it has none.
    pub classes: Vec<ClassTree>,
    /// Its queue, unless it is class-based.
    pub queue: Option<QueueFacts>,
}

/// A class of a policy.
#[derive(Debug, Serialize)]
pub struct ClassTree {
    /// Its name.
    pub name: String,
    /// The `match` lines of its class-map, as written.
    pub criteria: Vec<WrittenLine>,
    /// Whether one of them is enough.
    pub any: bool,
    /// The packets that belong to it, as understood.
    pub condition: String,
    /// Whether it has a queue of its own; else it waits with `class-default`.
    pub queued: bool,
    /// What it asked for, such as `bandwidth 30 %`; empty if nothing.
    pub asked: String,
    /// Priority level, 1 first.
    pub priority: Option<u8>,
    /// What it may send while all classes are backlogged; of a priority class what it may send
    /// while anything waits. None if unknown or unbounded.
    pub guaranteed: Option<u64>,
    /// The policer of its priority.
    pub priority_policer: Option<Bucket>,
    /// Whether every packet is dropped (`drop`).
    pub drops: bool,
    /// Its policer, unless every packet is dropped.
    pub police: Option<Bucket>,
    /// Its shaper.
    pub shape: Option<Bucket>,
    /// The DSCP that its packets get.
    pub set_dscp: Option<String>,
    /// The EXP bits that the top labels of its packets get.
    pub set_exp: Option<u8>,
    /// The EXP bits that labels of its packets get when they are put on.
    pub set_exp_imposition: Option<u8>,
    /// The priority that 802.1Q tags of its packets get.
    pub set_cos: Option<u8>,
    /// The QoS group that its packets get.
    pub set_qos_group: Option<u16>,
    /// Its queue; none if it has none or holds a policy.
    pub queue: Option<QueueFacts>,
    /// The policy inside it.
    pub policy: Option<Box<PolicyTree>>,
}

/// A line of the configuration.
#[derive(Debug, Serialize)]
pub struct WrittenLine {
    /// Line number, from 1.
    pub line: u32,
    /// Its text.
    pub text: String,
    /// Whether the simulation has what it tests.
    pub modelled: bool,
}

/// A token bucket.
#[derive(Debug, Serialize)]
pub struct Bucket {
    /// Its rate in b/s, if known.
    pub rate: Option<u64>,
    /// Its rate as written.
    pub asked: String,
    /// Its depth in bytes, if known.
    pub burst: Option<u64>,
    /// Peak rate in b/s of a policer of two rates, if known.
    pub peak_rate: Option<u64>,
    /// Depth in bytes of the second bucket of a policer of three colors, if known.
    pub excess_burst: Option<u64>,
    /// What it does, for policers.
    pub does: String,
}

/// A queue.
#[derive(Debug, Serialize)]
pub struct QueueFacts {
    /// How much may wait; empty where only the fair queue's limits hold.
    pub limit: String,
    /// Limits for packets of some DSCPs, beside that.
    pub dscp_limits: Vec<FieldLimit>,
    /// Limits for packets of some precedences, beside that.
    pub precedence_limits: Vec<FieldLimit>,
    /// The fair queue inside it.
    pub fair_queue: Option<FairQueueSpec>,
    /// Its active queue management, with all parameters.
    pub aqm: Option<AqmSpec>,
    /// The thresholds of WRED in force, defaults among them.
    pub thresholds: Vec<WredThresholds>,
}

/// Thresholds of WRED in force for some values of the field that it goes by.
#[derive(Debug, PartialEq, Serialize)]
pub struct WredThresholds {
    /// DSCPs by name, or precedences.
    pub values: Vec<String>,
    /// Average queue below which none of them is dropped; none if it depends on an unknown rate.
    pub min: Option<u32>,
    /// Average queue from which on all of them are dropped; none if it depends on an unknown rate.
    pub max: Option<u32>,
    /// What both count: `packets` or `B`.
    pub unit: &'static str,
    /// One in so many is dropped just below the maximum.
    pub denominator: u32,
    /// Whether the configuration says so; else it is the platform's default.
    pub written: bool,
}

/// A limit of a queue for packets with some value of a field (weighted tail drop).
#[derive(Debug, Serialize)]
pub struct FieldLimit {
    /// DSCP by name, or precedence.
    pub value: String,
    /// How much may wait, packets with other values counted.
    pub limit: String,
}
