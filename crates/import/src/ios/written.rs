//! Where things of a configuration stand, for whoever judges them.

use std::collections::{BTreeMap, BTreeSet};

use spillgate_core::Rate;
use spillgate_scenario::Imported;
use spillgate_scenario::import::Spot;

use super::ast::{Config, Origin, Test};
use super::lower::rates::{Source, reference_of};
use super::lower::spot;
use super::platform::PlatformProfile;
use super::ports::ports;

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

/// An interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenInterface {
    /// Its full name.
    pub name: String,
    /// Its `interface` line.
    pub spot: Spot,
    /// The category of the contract, of a circuit of ATM or of the only one of an interface.
    pub category: Option<&'static str>,
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
    /// Its policy-maps by name, and whether an interface, a class or anything else names each.
    pub policies: BTreeMap<String, bool>,
    /// Its interfaces in the order of the file.
    pub interfaces: Vec<WrittenInterface>,
}

/// Collects the places.
pub(super) fn written(
    text: &str,
    config: &Config<'_>,
    profile: &PlatformProfile,
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
    let policies = config.policy_maps.keys();
    let policies = policies.map(|name| ((*name).to_owned(), names.policies.contains(name)));
    let interfaces = ports(config).into_iter().map(|port| {
        let known = reference_of(config, &port, profile);
        let i = port.interface;
        WrittenInterface {
            name: port.name.clone(),
            spot: spot(port.origin()),
            category: port.category(),
            rate: known.map(|(r, _)| r),
            stated: known.is_some_and(|(_, s)| s != Source::Type),
            own: port.contract_rate().is_some() || i.bandwidth().is_some(),
            policy: port
                .output_policy
                .map(|p| (p.value.to_owned(), spot(p.origin))),
            input: port
                .input_policy
                .map(|p| (p.value.to_owned(), spot(p.origin))),
            dot1q: i.dot1q.is_some(),
            labels: i.labels.map(spot),
        }
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
            let circuits = interface.circuits.iter().map(|c| &c.lines);
            let inside = circuits.flat_map(|l| [l.output_policy, l.input_policy]);
            let all = policies.into_iter().chain(inside).flatten();
            names.policies.extend(all.map(|p| p.value));
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
