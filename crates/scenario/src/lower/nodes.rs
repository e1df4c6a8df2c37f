//! Nodes and groups of nodes.

use std::collections::BTreeMap;
use std::ops::Range;

use spillgate_nodes::NodeSpec as Kind;

use super::check_name;
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, Step, steps};
use crate::schema::{NodeSpec, Scenario, Topology};
use spillgate_core::suggest::{did_you_mean, list};

/// Most nodes: their default addresses are 10.240.0.0/12.
const MAX_NODES: u64 = 1_000_000;
/// Most nodes of a group.
const MAX_GROUP: u32 = 100_000;
/// What a name of the topology stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// One node.
    One(u32),
    /// Nodes with consecutive ids.
    Group { first: u32, count: u32 },
}

impl Place {
    /// The node that item `i` of whatever is dealt out gets.
    pub(super) fn deal(self, i: u32) -> u32 {
        match self {
            Self::One(id) => id,
            Self::Group { first, count } => first + i % count.max(1),
        }
    }

    /// The ids that it stands for.
    pub(super) fn ids(self) -> Range<u32> {
        match self {
            Self::One(id) => id..id + 1,
            Self::Group { first, count } => first..first + count,
        }
    }

    /// How many members; none for a node.
    pub(super) fn members(self) -> Option<u32> {
        match self {
            Self::One(_) => None,
            Self::Group { count, .. } => Some(count),
        }
    }
}

/// Which nodes are of which group.
pub(crate) struct GroupNames(BTreeMap<String, u32>);

impl GroupNames {
    /// The groups of a topology.
    pub(crate) fn new(topology: &Topology) -> Self {
        let group = |spec: &NodeSpec| Some((spec.name().to_owned(), spec.count()?));
        Self(topology.nodes.iter().filter_map(group).collect())
    }

    /// Whether the node is a member of the group.
    pub(crate) fn is_member(&self, node: &str, group: &str) -> bool {
        let Some(count) = self.0.get(group) else {
            return false;
        };
        let number = node.strip_prefix(group).and_then(|n| n.strip_prefix('-'));
        number.is_some_and(|n| {
            n.parse::<u32>()
                .is_ok_and(|i| i < *count && i.to_string() == n)
        })
    }
}

/// An entry whose nodes hold packets.
pub(super) struct Holder<'a> {
    /// The key of its kind.
    pub(super) key: &'static str,
    pub(super) kind: &'a dyn Kind,
    /// Index of the entry.
    pub(super) entry: usize,
    /// The ids of the nodes.
    pub(super) nodes: Range<u32>,
}

impl Holder<'_> {
    /// Where it, or a key of it, stands.
    pub(super) fn at(&self, path: &str) -> Vec<Step> {
        let mut steps = steps!["topology", "nodes", self.entry, self.key].to_vec();
        steps.extend(Step::parse_all(path));
        steps
    }
}

/// The nodes of a scenario.
#[derive(Default)]
pub(super) struct Nodes<'a> {
    /// By id.
    pub(super) names: Vec<String>,
    /// Those that hold packets, by key of their kind, then by id.
    holders: BTreeMap<&'static str, Vec<Holder<'a>>>,
    /// What is written under `nodes`.
    written: BTreeMap<&'a str, Place>,
}

impl<'a> Nodes<'a> {
    /// All nodes; errors are reported and leave out what they are about.
    pub(super) fn read(ctx: &mut Ctx<'_>, scenario: &'a Scenario, root: &Node) -> Self {
        let specs = &scenario.topology.nodes;
        let mut all = Self::default();
        if specs.is_empty() {
            let d = Diagnostic::error(codes::NO_NODES, "the topology has no nodes")
                .hint("list at least two, such as `nodes: [a, b]`");
            ctx.error(d, root, &steps!["topology", "nodes"]);
        }
        let total: u64 = specs
            .iter()
            .map(|s| u64::from(s.count().unwrap_or(1)))
            .sum();
        if total > MAX_NODES {
            let d = Diagnostic::error(codes::OUT_OF_RANGE, format!("{total} nodes"))
                .hint(format!("a topology has at most {MAX_NODES} nodes"));
            ctx.error(d, root, &steps!["topology", "nodes"]);
            return all;
        }
        for (i, spec) in specs.iter().enumerate() {
            let mut count = spec.count();
            if let Some(n) = count.filter(|n| !(1..=MAX_GROUP).contains(n)) {
                let d = Diagnostic::error(codes::OUT_OF_RANGE, format!("a group of {n}"))
                    .hint(format!("write a whole number from 1 to {MAX_GROUP}"));
                ctx.error(d, root, &steps!["topology", "nodes", i, "count"]);
                // What refers to it is not to blame.
                count = Some(1);
            }
            let first = all.names.len() as u32;
            all.add(ctx, spec.name(), count, root, &path_of(i, spec));
            let nodes = first..all.names.len() as u32;
            let mut kinds = spec.kinds().peekable();
            while let Some((key, kind)) = kinds.next() {
                if let Some((other, _)) = kinds.peek() {
                    let name = spec.name();
                    let message =
                        format!("`{name}` has `{key}` and `{other}`: a node is of one kind");
                    let d = Diagnostic::error(codes::BAD_NODE, message)
                        .hint(format!("leave out `{key}` or `{other}`"));
                    ctx.error(d, root, &steps!["topology", "nodes", i, *other]);
                }
                all.holders.entry(key).or_default().push(Holder {
                    key,
                    kind,
                    entry: i,
                    nodes: nodes.clone(),
                });
            }
        }
        all.check_members(ctx, specs, root);
        all
    }

    fn add(
        &mut self,
        ctx: &mut Ctx<'_>,
        name: &'a str,
        count: Option<u32>,
        root: &Node,
        path: &[Step],
    ) {
        check_name(ctx, name, "node", root, path);
        let first = self.names.len() as u32;
        let place = match count {
            None => Place::One(first),
            Some(count) => Place::Group { first, count },
        };
        if self.written.insert(name, place).is_some() {
            ctx.error(twice(name, ""), root, path);
        }
        match count {
            None => self.names.push(name.to_owned()),
            Some(n) => self.names.extend((0..n).map(|i| format!("{name}-{i}"))),
        }
    }

    /// A written name must not be that of a member, too.
    fn check_members(&self, ctx: &mut Ctx<'_>, specs: &[NodeSpec], root: &Node) {
        for (i, spec) in specs.iter().enumerate() {
            let name = spec.name();
            if let Some((group, _)) = self.member(name) {
                let of = format!(": this one, and one of the group `{group}`");
                ctx.error(twice(name, &of), root, &path_of(i, spec));
            }
        }
    }

    /// The group and the id of a member.
    fn member(&self, name: &str) -> Option<(&'a str, u32)> {
        let (base, i) = numbered(name)?;
        let (group, place) = self.written.get_key_value(base)?;
        match *place {
            Place::Group { first, count } if i < count => Some((group, first + i)),
            _ => None,
        }
    }

    /// What a name stands for.
    pub(super) fn find(&self, name: &str) -> Option<Place> {
        let written = self.written.get(name).copied();
        written.or_else(|| self.member(name).map(|(_, id)| Place::One(id)))
    }

    /// The same, or an error with the nearest name.
    pub(super) fn expect(
        &self,
        ctx: &mut Ctx<'_>,
        name: &str,
        root: &Node,
        path: &[Step],
    ) -> Option<Place> {
        let found = self.find(name);
        if found.is_none() {
            ctx.error(self.unknown(name), root, path);
        }
        found
    }

    /// That there is no such node.
    pub(super) fn unknown(&self, name: &str) -> Diagnostic {
        let near = did_you_mean(name, self.written.keys().copied());
        let names: Vec<_> = self.written.iter().map(|(n, p)| describe(n, *p)).collect();
        Diagnostic::error(
            codes::UNKNOWN_NODE,
            format!("there is no node `{name}`{near}"),
        )
        .hint(format!("nodes: {}", list(names.iter().map(String::as_str))))
    }

    /// Nodes and groups as written, each group with its first member's id.
    pub(super) fn written(&self) -> impl Iterator<Item = (&'a str, u32)> {
        self.written.iter().map(|(name, p)| (*name, p.deal(0)))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The entries of a kind.
    pub(super) fn of(&self, key: &str) -> &[Holder<'a>] {
        self.holders.get(key).map_or(&[], Vec::as_slice)
    }

    /// Whether a node is of a kind.
    pub(super) fn is(&self, node: u32, key: &str) -> bool {
        self.of(key).iter().any(|h| h.nodes.contains(&node))
    }

    /// Whether there are nodes that hold packets.
    pub(super) fn hold(&self) -> bool {
        !self.holders.is_empty()
    }
}

/// The base and the number of a name such as `s-17`; numbers have no leading zeros.
pub(super) fn numbered(name: &str) -> Option<(&str, u32)> {
    let (base, digits) = name.rsplit_once('-')?;
    let plain = digits == "0" || !digits.starts_with(['0', '+']);
    digits.parse().ok().filter(|_| plain).map(|i| (base, i))
}

/// Where the name of entry `i` stands.
fn path_of(i: usize, spec: &NodeSpec) -> Vec<Step> {
    match spec {
        NodeSpec::Name(_) => steps!["topology", "nodes", i].to_vec(),
        NodeSpec::Described(_) => steps!["topology", "nodes", i, "name"].to_vec(),
    }
}

fn describe(name: &str, place: Place) -> String {
    match place {
        Place::One(_) => name.to_owned(),
        Place::Group { count, .. } => format!("{name} ({name}-0 .. {name}-{})", count - 1),
    }
}

fn twice(name: &str, of: &str) -> Diagnostic {
    Diagnostic::error(
        codes::DUPLICATE_NAME,
        format!("two nodes are called `{name}`{of}"),
    )
    .hint("give each node a name of its own")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_numbered_as_written() {
        assert_eq!(numbered("s-17"), Some(("s", 17)));
        assert_eq!(numbered("a-b-0"), Some(("a-b", 0)));
        for name in ["s", "s-", "s-01", "s-+1", "s-1x", "s-99999999999"] {
            assert_eq!(numbered(name), None, "{name}");
        }
    }
}
