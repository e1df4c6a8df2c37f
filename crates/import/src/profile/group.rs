//! Groups of packets: by DSCP, by five-tuple, or by the classes of a policy.

use std::collections::BTreeMap;

use spillgate_capture::{FlowTable, Grouping, IpPacket};
use spillgate_core::FlowKey;
use spillgate_queueing::View;
use spillgate_queueing::spec::{DisciplineSpec, MatchSpec};

/// How deeply policies are nested at most.
const MAX_DEPTH: usize = 8;
/// The class of packets that match no other class.
const DEFAULT: &str = "class-default";

/// How packets are grouped.
#[derive(Clone, Debug)]
pub enum GroupBy {
    /// By DSCP.
    Dscp,
    /// By five-tuple.
    Flow,
    /// By the classes of a policy, nested ones included.
    Class(Classes),
}

impl GroupBy {
    /// `dscp`, `flow` or `class`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Dscp => "dscp",
            Self::Flow => "flow",
            Self::Class(_) => "class",
        }
    }
}

/// The classes of a policy in the order in which they are tried.
#[derive(Clone, Debug)]
pub struct Classes {
    /// Conditions that must all hold, from the outermost policy on, and the name.
    rules: Vec<(Vec<MatchSpec>, String)>,
}

impl Classes {
    /// The classes of policy `name`, with those of the policies within as `parent/child`; none if
    /// there is no such policy or it has no classes.
    pub fn of(policies: &BTreeMap<String, DisciplineSpec>, name: &str) -> Option<Self> {
        let mut rules = Vec::new();
        walk(policies, name, &[], "", &mut rules, 0)?;
        Some(Self { rules })
    }

    /// The number of the first class that takes a packet.
    fn number(&self, key: &FlowKey, packet: &IpPacket) -> usize {
        // As a router would see it: on a labelled packet only the traffic class.
        let view = || match packet.labels {
            0 => View::Ip {
                key,
                dscp: packet.dscp,
            },
            _ => View::Labelled { exp: packet.tc },
        };
        let takes = |conditions: &[MatchSpec]| conditions.iter().all(|c| c.matches(view()));
        let found = self
            .rules
            .iter()
            .position(|(conditions, _)| takes(conditions));
        found.unwrap_or(self.rules.len() - 1)
    }
}

fn walk(
    policies: &BTreeMap<String, DisciplineSpec>,
    name: &str,
    outer: &[MatchSpec],
    prefix: &str,
    rules: &mut Vec<(Vec<MatchSpec>, String)>,
    depth: usize,
) -> Option<()> {
    let DisciplineSpec::ClassBased(policy) = policies.get(name)? else {
        return None;
    };
    let mut has_default = false;
    for class in &policy.classes {
        has_default |= class.name == DEFAULT;
        let mut conditions = outer.to_vec();
        conditions.extend(class.matching.clone());
        let full = format!("{prefix}{}", class.name);
        if let Some(inner) = class.policy.as_ref().filter(|_| depth < MAX_DEPTH) {
            if walk(
                policies,
                inner,
                &conditions,
                &format!("{full}/"),
                rules,
                depth + 1,
            )
            .is_some()
            {
                continue;
            }
        }
        rules.push((conditions, full));
    }
    if !has_default {
        rules.push((outer.to_vec(), format!("{prefix}{DEFAULT}")));
    }
    Some(())
}

/// Groups by number.
pub(super) enum Groups<'a> {
    Table(Box<FlowTable>),
    Classes(&'a Classes),
}

impl<'a> Groups<'a> {
    pub(super) fn new(by: &'a GroupBy, limit: u32) -> Self {
        match by {
            GroupBy::Dscp => Self::Table(Box::new(FlowTable::new(Grouping::Dscp, limit))),
            GroupBy::Flow => Self::Table(Box::new(FlowTable::new(Grouping::Flow, limit))),
            GroupBy::Class(classes) => Self::Classes(classes),
        }
    }

    /// The group of a packet; none if there are too many.
    pub(super) fn number(&mut self, packet: &IpPacket) -> Option<usize> {
        match self {
            // A DSCP is one of 64, however many flows there are.
            Self::Table(t) if t.grouping() == Grouping::Dscp => {
                let mut alike = *packet;
                alike.key = NOBODY;
                let number = t.number(&alike).ok()?;
                Some(t.entries()[number as usize].group as usize)
            }
            Self::Table(t) => {
                let number = t.number(packet).ok()?;
                Some(t.entries()[number as usize].group as usize)
            }
            Self::Classes(classes) => Some(classes.number(&packet.key.flow_key(), packet)),
        }
    }

    pub(super) fn name(&self, group: usize) -> String {
        match self {
            Self::Table(t) => {
                let leader = t.entries().iter().find(|e| e.group as usize == group);
                leader.map_or_else(String::new, |e| t.label(e))
            }
            Self::Classes(classes) => classes.rules[group].1.clone(),
        }
    }
}

/// A five-tuple that stands for all.
const NOBODY: spillgate_capture::Key = spillgate_capture::Key {
    src: std::net::IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED),
    dst: std::net::IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED),
    protocol: 0,
    sport: 0,
    dport: 0,
};
