//! Where things of a configuration stand, for whoever judges them.

use std::collections::{BTreeMap, BTreeSet};

use spillgate_core::Rate;
use spillgate_scenario::Imported;

use super::ast::{Class, ClassMap, Config, Origin, Test};
use super::lower::rates::{Source, reference};
use super::platform::Profile;

/// A place in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Length in characters of what is meant; 0 if unknown.
    pub width: u32,
}

/// Something that has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// Where it begins.
    pub spot: Spot,
    /// Whether anything of the configuration names it.
    pub used: bool,
}

/// A policy-map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenPolicy {
    /// Where it begins.
    pub spot: Spot,
    /// Whether an interface, a class or anything else names it.
    pub used: bool,
    /// Its classes in the order of [`spillgate_queueing::spec::ClassBasedSpec::classes`].
    pub classes: Vec<WrittenClass>,
}

/// A class of a policy-map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenClass {
    /// Its `class` line.
    pub spot: Spot,
    /// Where its commands stand, by the key of a scenario that means the same.
    pub keys: BTreeMap<String, Spot>,
}

/// An interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenInterface {
    /// Its full name.
    pub name: String,
    /// Its `interface` line.
    pub spot: Spot,
    /// What percentages of its policy are of.
    pub rate: Option<Rate>,
    /// Whether a `bandwidth` command says so, its own or that of the main interface.
    pub stated: bool,
    /// Whether it has a `bandwidth` command of its own.
    pub own: bool,
    /// The policy of `service-policy output` and that line.
    pub policy: Option<(String, Spot)>,
    /// The policy of `service-policy input` and that line.
    pub input: Option<(String, Spot)>,
    /// Whether its frames carry an 802.1Q tag.
    pub dot1q: bool,
    /// Its `mpls ip` line.
    pub labels: Option<Spot>,
}

/// A configuration with the places of what it says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Written {
    /// What it became.
    pub imported: Imported,
    /// Its class-maps.
    pub class_maps: Vec<Definition>,
    /// Its access lists of IPv4 and others.
    pub access_lists: Vec<Definition>,
    /// Its policy-maps by name.
    pub policies: BTreeMap<String, WrittenPolicy>,
    /// Its interfaces in the order of the file.
    pub interfaces: Vec<WrittenInterface>,
}

/// Collects the places.
pub(super) fn written(
    text: &str,
    config: &Config<'_>,
    profile: &Profile,
    imported: Imported,
) -> Written {
    let names = Names::of(text, config);
    let class_maps = config.class_maps.iter().map(|(name, map)| Definition {
        name: (*name).to_owned(),
        spot: spot(map.origin),
        used: names.classes.contains(name),
    });
    let access_lists = config.acls.iter().filter_map(|(name, list)| {
        let first = list.lines.values().map(|l| l.rest.line());
        let first = first.min_by_key(|l| l.number)?;
        Some(Definition {
            name: (*name).to_owned(),
            spot: spot(Origin::new(first, first.first_column())),
            used: names.lists.contains(name),
        })
    });
    let policies = config.policy_maps.iter().map(|(name, map)| {
        let (last, mut classes): (Vec<&Class<'_>>, Vec<_>) =
            map.classes.iter().partition(|c| c.name == "class-default");
        classes.extend(last);
        let policy = WrittenPolicy {
            spot: spot(map.origin),
            used: names.policies.contains(name),
            classes: classes
                .into_iter()
                .map(|c| class(c, &config.class_maps))
                .collect(),
        };
        ((*name).to_owned(), policy)
    });
    let interfaces = config.interface_index.values().filter_map(|i| {
        let i = config.interfaces.get(*i)?;
        let known = reference(config, i, profile);
        Some(WrittenInterface {
            name: i.name.clone(),
            spot: spot(i.origin),
            rate: known.map(|(r, _)| r),
            stated: known.is_some_and(|(_, s)| s != Source::Type),
            own: i.bandwidth().is_some(),
            policy: i
                .output_policy
                .map(|p| (p.value.to_owned(), spot(p.origin))),
            input: i.input_policy.map(|p| (p.value.to_owned(), spot(p.origin))),
            dot1q: i.dot1q.is_some(),
            labels: i.labels.map(spot),
        })
    });
    let (class_maps, access_lists) = (class_maps.collect(), access_lists.collect());
    let policies = policies.collect();
    let mut interfaces: Vec<_> = interfaces.collect();
    interfaces.sort_by_key(|i| i.spot);
    Written {
        imported,
        class_maps,
        access_lists,
        policies,
        interfaces,
    }
}

/// Names that something refers to.
struct Names<'a> {
    classes: BTreeSet<&'a str>,
    lists: BTreeSet<&'a str>,
    policies: BTreeSet<&'a str>,
}

impl<'a> Names<'a> {
    fn of(text: &'a str, config: &Config<'a>) -> Self {
        let mut names = Self {
            classes: BTreeSet::new(),
            lists: BTreeSet::new(),
            policies: BTreeSet::new(),
        };
        for class in config.policy_maps.values().flat_map(|m| &m.classes) {
            names.classes.insert(class.name);
            names.policies.extend(class.policy.map(|p| p.value));
            if let Some(p) = &class.police {
                let colors = [p.value.conform_color, p.value.exceed_color];
                names
                    .classes
                    .extend(colors.iter().flatten().map(|c| c.value));
            }
        }
        for criterion in config.class_maps.values().flat_map(|m| &m.criteria) {
            match criterion.value.test {
                Test::ClassMap(name) => {
                    names.classes.insert(name);
                }
                Test::Acl(name) => {
                    names.lists.insert(name);
                }
                _ => {}
            }
        }
        for interface in &config.interfaces {
            let policies = [interface.output_policy, interface.input_policy];
            names
                .policies
                .extend(policies.into_iter().flatten().map(|p| p.value));
        }
        // Other uses stand in lines that are not read: input policies, filters, NAT, lines, routes.
        for line in text.lines() {
            let mut words = line.split_ascii_whitespace();
            let Some(first) = words.next() else { continue };
            if first.starts_with('!') {
                continue;
            }
            let first = first.to_ascii_lowercase();
            let defines = first == "access-list" || (first == "ip" && line.contains("access-list"));
            if first.starts_with("service-p") || first == "class" {
                names.policies.extend(words.clone());
            }
            if !defines && first != "description" && first != "remark" {
                names.lists.extend(words);
            }
        }
        names
    }
}

fn spot(origin: Origin<'_>) -> Spot {
    let text = origin.text;
    Spot {
        line: origin.line,
        column: origin.column,
        // The command; where a word of it is meant, that word and what follows.
        width: u32::try_from(text.chars().count()).unwrap_or(0),
    }
}

/// The whole command that something stands in.
fn class(c: &Class<'_>, maps: &BTreeMap<&str, ClassMap<'_>>) -> WrittenClass {
    let mut keys = BTreeMap::new();
    let mut put = |key: &str, origin: Option<Origin<'_>>| {
        if let Some(origin) = origin {
            keys.insert(key.to_owned(), spot(origin));
        }
    };
    put("priority", c.priority.as_ref().map(|x| x.origin));
    put("bandwidth", c.bandwidth.map(|x| x.origin));
    put("bandwidth_remaining", c.remaining.map(|x| x.origin));
    put("shape", c.shape.map(|x| x.origin));
    let police = c.police.as_ref().map(|x| x.origin);
    put("police", c.drop.or(police));
    put("queue_limit", c.queue_limit.map(|x| x.origin));
    for (dscp, limit) in &c.dscp_limits {
        put(&format!("queue_limit_dscp.{dscp}"), Some(limit.origin));
    }
    for (precedence, limit) in &c.precedence_limits {
        put(
            &format!("queue_limit_precedence.{precedence}"),
            Some(limit.origin),
        );
    }
    put("fair_queue", c.fair_queue.map(|x| x.origin));
    put("set_dscp", c.set_dscp.map(|x| x.origin));
    put("set_cos", c.set_cos.map(|x| x.origin));
    put("set_qos_group", c.set_qos_group.map(|x| x.origin));
    put("policy", c.policy.map(|x| x.origin));
    put("aqm", c.wred.origin);
    for (dscp, profile) in &c.wred.dscp {
        put(&format!("aqm.wred.dscp.{dscp}"), Some(profile.origin));
    }
    for (precedence, profile) in &c.wred.precedence {
        put(
            &format!("aqm.wred.precedence.{precedence}"),
            Some(profile.origin),
        );
    }
    put("match", maps.get(c.name).map(|m| m.origin));
    WrittenClass {
        spot: spot(c.origin),
        keys,
    }
}
