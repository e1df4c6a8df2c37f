//! What was understood of a configuration, for people and programs.

use serde::Serialize;
use spillgate_queueing::Outline;
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
    pub unattached: Vec<Outline>,
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
    pub counted_bytes: Option<i16>,
    /// Its output policy; none if it has none that is modelled.
    pub policy: Option<Outline>,
    /// What polices and marks the packets that arrive by it; queues in it have no effect.
    pub input: Option<Outline>,
}
