//! What ATM is told of a network as it is written, and whom it tells of problems.

use spillgate_core::Overhead;

use super::{AtmLink, AtmSpec};
use spillgate_core::Problem;

/// A network as it is written.
pub struct Written<'a> {
    /// Names of nodes, by id.
    pub nodes: &'a [String],
    /// The links, by id.
    pub links: Vec<AtmLink<'a>>,
    /// The links as written.
    pub entries: Vec<Entry<'a>>,
    /// The paths of packets.
    pub routes: &'a [Box<[u32]>],
    /// The flows.
    pub flows: Vec<Flow<'a>>,
    /// Links that fail: as written, and the names of their entries.
    pub failures: Vec<(&'a str, Option<&'a str>)>,
    /// Packets have labels.
    pub has_labels: bool,
}

/// A link as written, or a group of links alike.
pub struct Entry<'a> {
    /// Its name.
    pub name: &'a str,
    /// The circuit that it is.
    pub atm: Option<&'a AtmSpec>,
    /// What is written of the bytes that it adds to a packet.
    pub overhead: Overhead,
    /// Its links; if it is duplex, forth and back by turns.
    pub ids: Vec<u32>,
    /// It has two directions.
    pub duplex: bool,
    /// Those of its keys that are written.
    pub keys: Vec<&'static str>,
}

/// A flow.
pub struct Flow<'a> {
    /// Its name.
    pub name: &'a str,
    /// The nodes at its ends.
    pub ends: [u32; 2],
    /// Its path and that of its answers, and the longest packets on it.
    pub ways: [(Option<u32>, u16); 2],
}

/// Where a problem is.
#[derive(Clone, Copy)]
pub enum At<'a> {
    /// In the topology.
    Topology,
    /// At a link as written.
    Link(&'a str),
    /// At an ATM switch, by the id of its node.
    Switch(u32),
}

/// Who is told of problems. Their paths begin there.
pub trait Report {
    /// Something is wrong.
    fn refuse(&mut self, at: At<'_>, problem: Problem);
    /// Something changes nothing, or hardly what is meant.
    fn warn(&mut self, at: At<'_>, problem: Problem);
    /// Names as a list that is not too long.
    fn list(&self, names: &[&str]) -> String;
}
