//! From a node as written to a running one.

use std::fmt::{self, Debug};
use std::ops::Range;

use spillgate_core::curve::Curve;
use spillgate_core::{Dur, Rate};
use spillgate_queueing::{Reason, Recipe as Policy, Service};

use crate::{Fact, Node, NodePlan, NodeQueue, Passage, Start};
use spillgate_core::Problem;

/// A kind of node, as written.
pub trait NodeSpec {
    /// The nodes of an entry of the scenario, by id. What is wrong is told to the reader, and
    /// leaves out the node.
    fn resolve(&self, around: &Around<'_>, reader: &mut dyn Reader) -> Vec<(u32, NodePlan)>;
}

/// What a node or a stage may know of the scenario.
pub struct Around<'a> {
    /// The nodes of the entry: one, or those of a group; all for a stage.
    pub nodes: Range<u32>,
    /// The names of all nodes, by id.
    pub names: &'a [String],
    /// All links, by id.
    pub links: &'a [LinkFacts<'a>],
    /// By node, the links that end there and those that begin there.
    pub ends: &'a [(Vec<u32>, Vec<u32>)],
}

impl Around<'_> {
    /// The links that end at a node.
    pub fn arriving(&self, node: u32) -> Vec<u32> {
        self.ends[node as usize].0.clone()
    }

    /// The links that begin at a node.
    pub fn leaving(&self, node: u32) -> Vec<u32> {
        self.ends[node as usize].1.clone()
    }
}

/// A link, for nodes.
pub struct LinkFacts<'a> {
    /// Its name.
    pub name: &'a str,
    /// The name of the link as written that it belongs to.
    pub written: &'a str,
    /// The sending node.
    pub from: u32,
    /// The receiving node.
    pub to: u32,
    /// Transmission rate.
    pub rate: Rate,
}

/// Who reads a scenario: finds what it names, and is told what is wrong. Paths begin below the
/// key of the kind; empty for the key itself.
pub trait Reader {
    /// The ids of the links of a name, of a group all; none if there is no such link, which is
    /// reported.
    fn links(&mut self, path: &str, name: &str) -> Option<Vec<u32>>;
    /// The ids of the nodes of a name, of a group all; none if there is no such node, which is
    /// reported.
    fn nodes(&mut self, path: &str, name: &str) -> Option<Vec<u32>>;
    /// Whether a name of what is new can be shown in tables, which is reported otherwise.
    fn check_name(&mut self, path: &str, name: &str, what: &str) -> bool;
    /// The policy of a name for queues inside of a node at a rate; none if it cannot stand there,
    /// which is reported. `place`: where they are, in words.
    fn policy(&mut self, path: &str, name: &str, place: &str, rate: Rate) -> Option<Policy>;
    /// Names as a list that is not too long.
    fn list(&self, names: &[&str]) -> String;
    /// The policy of a link with its name.
    fn policy_of(&self, link: u32) -> Option<(&str, &Policy)>;
    /// Something is wrong.
    fn refuse(&mut self, problem: Problem);
    /// The same of a link.
    fn refuse_link(&mut self, link: u32, problem: Problem);
    /// Something changes nothing, or hardly what is meant.
    fn warn(&mut self, problem: Problem);
}

/// A node, or several that run as one, validated.
pub trait Recipe: Debug + Send + Sync {
    /// The node at its start.
    fn build(&self, start: &Start<'_>) -> Box<dyn Node>;

    /// Writes all that decides what it does, and nothing else.
    ///
    /// # Errors
    /// Those of `out`.
    fn write_identity(&self, out: &mut dyn fmt::Write) -> fmt::Result;

    /// What each of its nodes was given, by id.
    fn describe(&self, names: &dyn Names) -> Vec<(u32, Vec<Fact>)>;

    /// What the engine and the checks of a scenario have to know of it.
    fn declares(&self) -> Declared;

    /// Its queues with what they cannot exceed if this goes through it; each of `load` goes through
    /// one at most. By default nothing is known.
    fn bounds(&self, load: &[Passage], _: &dyn Names) -> Vec<NodeQueue> {
        vec![NodeQueue {
            name: "queues".to_owned(),
            of: (0..load.len()).collect(),
            bound: Err("no bound of this kind of node is known".into()),
        }]
    }

    /// What a port that it [follows](Declared::follows) is served at least in any time in which
    /// packets wait there, in bytes on the link that have left, if the node has its line; `used`:
    /// whether packets come to a link.
    fn port_service(
        &self,
        _link: u32,
        _used: &dyn Fn(u32) -> bool,
        _: &dyn Names,
    ) -> Option<Result<Service, Reason>> {
        None
    }

    /// What leaves such a port at most, as [`ServerRecipe::sends`](crate::server::ServerRecipe) has
    /// it.
    fn port_sends(&self, _link: u32, _longest: u32) -> Option<Curve> {
        None
    }

    /// Upper estimate, in bytes, of the memory of full queues, in a network of so many flows and
    /// paths.
    fn memory_bytes(&self, _flows: usize, _routes: usize) -> u64 {
        0
    }
}

/// What a node declares: where it acts, and what it takes. A kind names what applies to it.
#[derive(Clone, Debug, Default)]
pub struct Declared {
    /// The links whose packets go through it.
    pub inputs: Vec<u32>,
    /// The links at whose ports it is told what happens to packets.
    pub follows: Vec<u32>,
    /// The links that it serves itself, so that nothing waits at their ports.
    pub serves: Vec<u32>,
    /// The links whose AQM takes what waits in the node for a part of its queue, and the weight of
    /// that.
    pub upstream: (Vec<u32>, f64),
    /// What it takes at least to pass a packet on.
    pub passing: Dur,
    /// How many time series it has of its own, beside those of ports.
    pub series: usize,
}

/// The names of what a plan has by number.
pub trait Names {
    /// Of a node.
    fn node(&self, id: u32) -> &str;
    /// Of a link.
    fn link(&self, id: u32) -> &str;
    /// Of the classes of service, in the order of their numbers.
    fn classes(&self) -> &[String];
}
