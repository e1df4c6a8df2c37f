//! What is exported: policies, and the ports that have them.

use std::collections::{BTreeMap, BTreeSet};

use spillgate_core::units::parse_rate;
use spillgate_core::{Overhead, Rate};
use spillgate_nodes::atm::{ContractSpec, Encapsulation, VcSpec};
use spillgate_queueing::Longest;
use spillgate_queueing::spec::{DisciplineSpec, MatchSpec};
use spillgate_scenario::import::Framing;
use spillgate_scenario::originals::Originals;
use spillgate_scenario::plan::Unmodelled;
use spillgate_scenario::{
    Diagnostic, Diagnostics, Imported, ImportedInterface, InputPolicy, LinkPolicy, Platform,
    PortPolicies,
};

use crate::codes;

/// Policies and where they queue.
#[derive(Clone, Debug)]
pub struct Source {
    /// Policies by name; those that [`Source::ports`] name and those nested in them, or all.
    pub policies: BTreeMap<String, DisciplineSpec>,
    /// The interfaces or links that have a policy.
    pub ports: Vec<Port>,
    /// The interfaces with a policy for what arrives, which may have none for what leaves.
    pub inputs: Vec<Input>,
    /// Whose meaning IOS commands shall have.
    pub platform: Platform,
    /// Classes whose class-maps are `match-any` even where that makes no difference.
    pub match_any: BTreeSet<String>,
    /// Lines of a configuration that have no effect on a simulation, or less than on the router.
    pub lost: Vec<Unmodelled>,
    /// What configurations say in their own words.
    pub originals: Vec<Originals>,
}

/// An interface or link with a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// The name of its policy.
    pub policy: String,
    /// What percentages of the policy are of, if it is known.
    pub rate: Option<Rate>,
    /// What its rates count beside each IP packet, if it is known: those of shapers and shares.
    pub overhead: Option<Overhead>,
    /// What policers and the policers of priority classes count, if that is known and something
    /// else.
    pub policers: Option<Overhead>,
    /// The longest packet, which default bursts hold.
    pub longest: Longest,
    /// Whether packets with labels leave by it (`mpls ip`).
    pub labels: bool,
    /// The 802.1Q tag of its frames.
    pub tag: Tag,
    /// The circuit of ATM that it is, if it is one.
    pub circuit: Option<Circuit>,
    /// The packets of its transmit ring, where they are written.
    pub tx_ring: Option<u32>,
}

/// A permanent virtual circuit of ATM.
#[derive(Clone, Debug, PartialEq)]
pub struct Circuit {
    /// Its identifier, if it is known.
    pub vc: Option<VcSpec>,
    /// The line of a scenario's node that it shares with others.
    pub line: Option<String>,
    /// The name that a configuration gives it.
    pub name: Option<String>,
    /// What cells it may send.
    pub contract: ContractSpec,
    /// Whether they are shaped to it.
    pub shaped: bool,
    /// What is in its frames beside the IP packet; none if no keyword says it.
    pub framing: Option<Framing>,
}

impl Circuit {
    fn of(interface: &ImportedInterface) -> Option<Self> {
        let circuit = interface.circuit.as_ref()?;
        let contract = circuit.contract.as_ref().map(|(c, _)| c.clone());
        Some(Self {
            vc: Some(circuit.vc),
            line: None,
            name: circuit.name.clone(),
            contract: contract.unwrap_or_default(),
            shaped: true,
            framing: Some(circuit.framing.0),
        })
    }

    fn of_link(link: &LinkPolicy) -> Option<Self> {
        let atm = link.atm.as_ref()?;
        let headers = [Encapsulation::Llc, Encapsulation::VcMux].map(Framing::Header);
        let words = [
            "pppoa-llc",
            "pppoa-vcmux",
            "pppoe-llcsnap",
            "pppoe-vcmux",
            "bridged-llcsnap",
            "bridged-vcmux",
        ];
        let mut all = headers.into_iter().chain(words.map(Framing::Overhead));
        Some(Self {
            vc: atm.vc,
            line: atm.line.clone(),
            name: None,
            contract: atm.contract.clone(),
            shaped: atm.shaped,
            framing: all.find(|f| f.overhead() == Some(link.overhead)),
        })
    }
}

/// Whether frames carry an 802.1Q tag, and of which VLAN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tag {
    /// They carry none.
    #[default]
    None,
    /// They do, and nobody has said of which VLAN: a link of a scenario.
    Unnumbered,
    /// Of several VLANs: a trunk of a switch.
    Trunk,
    /// Of one VLAN, 1 to 4094.
    Vlan(u16),
}

impl Tag {
    fn of(interface: &ImportedInterface) -> Self {
        match (interface.dot1q, interface.vlan) {
            (None, _) => Self::None,
            (Some(_), None) => Self::Trunk,
            (Some(_), Some(vlan)) => Self::Vlan(vlan),
        }
    }
}

/// An interface with a policy for what arrives by it, or a link of which nobody knows the
/// interface.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Its name; none for a link's receiving end.
    pub name: Option<String>,
    /// The name of the policy.
    pub policy: String,
    /// What percentages of the policy are of, if it is known.
    pub rate: Option<Rate>,
    /// The 802.1Q tag of the interface's frames.
    pub tag: Tag,
    /// The circuit of ATM that it is, if it is one.
    pub circuit: Option<Circuit>,
}

impl Source {
    /// A line of the class-map of a class that its condition does not say.
    pub(crate) fn unsaid(&self, class: &str, matching: Option<&MatchSpec>) -> Option<&str> {
        let maps = self
            .originals
            .iter()
            .filter_map(|o| o.class_maps.get(class));
        let mut same = maps.filter(|m| Some(&m.condition) == matching);
        same.next()?.lost.as_deref()
    }

    /// Everything of a configuration, or of `interface` (its full name) only. `rate` tells the
    /// rate of interfaces that the configuration gives none.
    ///
    /// # Errors
    /// An interface that does not exist or has no policy.
    pub fn of_configuration(
        imported: &Imported,
        platform: Platform,
        interface: Option<&str>,
        rate: &dyn Fn(&str) -> Option<Rate>,
    ) -> Result<Self, Diagnostics> {
        let with_policy = imported.interfaces.iter().filter_map(|(name, i)| {
            let (policy, _) = i.output_policy.as_ref()?;
            Some(Port {
                name: name.clone(),
                policy: policy.clone(),
                rate: i.bandwidth.or_else(|| rate(name)),
                overhead: i.counted.counting.queues.or_else(|| {
                    let circuit = i.circuit.as_ref()?;
                    circuit.framing.0.overhead()
                }),
                policers: i.counted.counting.policers,
                longest: Longest::default(),
                labels: i.labels.is_some(),
                tag: Tag::of(i),
                circuit: Circuit::of(i),
                tx_ring: i.tx_ring.map(|(packets, _)| packets),
            })
        });
        let all: Vec<Port> = with_policy.collect();
        let arriving = imported.interfaces.iter().filter_map(|(name, i)| {
            let (policy, _) = i.input_policy.as_ref()?;
            Some(Input {
                name: Some(name.clone()),
                policy: policy.clone(),
                rate: i.bandwidth.or_else(|| rate(name)),
                tag: Tag::of(i),
                circuit: Circuit::of(i),
            })
        });
        let asked = |i: &Input| interface.is_none() || i.name.as_deref() == interface;
        let inputs: Vec<Input> = arriving.filter(asked).collect();
        let ports = match (interface, inputs.is_empty()) {
            (Some(name), false) => all.into_iter().filter(|p| p.name == name).collect(),
            _ => choose(all, interface, "interface", "output service-policy")?,
        };
        let chosen = interface.map(|_| (&ports[..], &inputs[..]));
        Ok(Self {
            policies: reachable(&imported.policies, chosen),
            ports,
            inputs,
            platform,
            match_any: imported.match_any.clone(),
            lost: imported.unmodelled.clone(),
            originals: vec![originals(imported, interface)],
        })
    }

    /// The policy `policy` of a configuration as that of a port of the name and rate.
    ///
    /// # Errors
    /// A policy that does not exist.
    pub fn of_policy(
        imported: &Imported,
        platform: Platform,
        policy: &str,
        port: &str,
        rate: Option<Rate>,
    ) -> Result<Self, Diagnostics> {
        if !imported.policies.contains_key(policy) {
            let names: Vec<&str> = imported.policies.keys().map(String::as_str).collect();
            let message = format!("there is no policy `{policy}`");
            let d = Diagnostic::error(codes::NO_CHOICE, message).found(policy);
            return Err(d.hint(format!("policies: {}", names.join(", "))).into());
        }
        let ports = vec![Port {
            name: port.to_owned(),
            policy: policy.to_owned(),
            rate,
            overhead: None,
            policers: None,
            longest: Longest::default(),
            labels: false,
            tag: Tag::None,
            circuit: None,
            tx_ring: None,
        }];
        Ok(Self {
            policies: reachable(&imported.policies, Some((&ports, &[]))),
            ports,
            inputs: Vec::new(),
            platform,
            match_any: imported.match_any.clone(),
            lost: imported.unmodelled.clone(),
            originals: vec![policies_only(&imported.originals)],
        })
    }

    /// The variant of a scenario that is meant.
    ///
    /// # Errors
    /// One that does not exist, or none where there are several.
    pub fn variant<'v>(
        all: &'v [PortPolicies],
        asked: Option<&str>,
    ) -> Result<&'v PortPolicies, Diagnostics> {
        let found = match (asked, all) {
            (None, [one]) => Some(one),
            (None, _) => None,
            (Some(name), _) => all.iter().find(|v| v.variant == name),
        };
        found.ok_or_else(|| {
            let names: Vec<&str> = all.iter().map(|v| v.variant.as_str()).collect();
            let message = match asked {
                Some(name) => format!("there is no variant `{name}`"),
                None => "the scenario has several variants: which is to be exported?".to_owned(),
            };
            Diagnostic::error(codes::NO_CHOICE, message)
                .hint(format!("name one with --variant: {}", names.join(", ")))
                .into()
        })
    }

    /// The policies of a scenario's links in one variant, or of `link` only.
    ///
    /// # Errors
    /// A link that does not exist or has no policy.
    pub fn of_links(
        variant: &PortPolicies,
        platform: Platform,
        link: Option<&str>,
    ) -> Result<Self, Diagnostics> {
        let all = variant.links.iter().map(|l| Port {
            name: l.link.clone(),
            policy: l.policy.clone(),
            rate: Some(l.line.rate),
            overhead: Some(l.line.counting.queues.unwrap_or(l.overhead)),
            policers: Some(l.line.counting.policers.unwrap_or(l.overhead)),
            longest: l.line.longest,
            labels: false,
            tag: if l.dot1q { Tag::Unnumbered } else { Tag::None },
            circuit: Circuit::of_link(l),
            tx_ring: l.tx_ring,
        });
        let ports = choose(all.collect(), link, "link", "policy")?;
        let meant = |i: &&InputPolicy| link.is_none() || i.interface.as_deref() == link;
        let circuit = |name: Option<&str>| {
            let link = variant.links.iter().find(|l| Some(&*l.link) == name)?;
            Circuit::of_link(link)
        };
        let inputs = variant.inputs.iter().filter(meant).map(|i| Input {
            name: i.interface.clone(),
            policy: i.policy.clone(),
            rate: Some(i.rate),
            tag: if i.dot1q { Tag::Unnumbered } else { Tag::None },
            circuit: circuit(i.interface.as_deref()),
        });
        let inputs: Vec<Input> = inputs.collect();
        Ok(Self {
            policies: reachable(&variant.policies, Some((&ports, &inputs))),
            ports,
            inputs,
            platform,
            match_any: BTreeSet::new(),
            lost: Vec::new(),
            originals: variant.originals.iter().map(policies_only).collect(),
        })
    }
}

/// A rate that the user gives, such as `100 Mb/s`.
///
/// # Errors
/// A text that is none.
pub fn rate(text: &str) -> Result<Rate, Diagnostics> {
    parse_rate(text).map_err(|e| {
        let d = Diagnostic::error(
            codes::BAD_RATE,
            format!("`{text}` is not a rate: {}", e.message),
        );
        d.found(text).hint(e.hint).into()
    })
}

/// The lines of a configuration, or those of an interface and of policies only.
fn originals(imported: &Imported, interface: Option<&str>) -> Originals {
    let Some(name) = interface else {
        return imported.originals.clone();
    };
    let own = imported.originals.interfaces.get_key_value(name);
    Originals {
        interfaces: own
            .map(|(n, l)| (n.clone(), l.clone()))
            .into_iter()
            .collect(),
        ..policies_only(&imported.originals)
    }
}

fn policies_only(originals: &Originals) -> Originals {
    Originals {
        interfaces: BTreeMap::new(),
        rest: Vec::new(),
        ..originals.clone()
    }
}

/// All ports, or the one that was asked for.
fn choose(
    ports: Vec<Port>,
    asked: Option<&str>,
    what: &str,
    has: &str,
) -> Result<Vec<Port>, Diagnostics> {
    let Some(asked) = asked else {
        return Ok(ports);
    };
    let names: Vec<String> = ports.iter().map(|p| p.name.clone()).collect();
    let chosen: Vec<Port> = ports.into_iter().filter(|p| p.name == asked).collect();
    if !chosen.is_empty() {
        return Ok(chosen);
    }
    let message = format!("no {what} `{asked}` has an {has}").replace("an policy", "a policy");
    let hint = match names.len() {
        0 => format!("no {what} has one"),
        _ => format!("{what}s that have one: {}", names.join(", ")),
    };
    let d = Diagnostic::error(codes::NO_PORT, message);
    Err(d.found(asked).hint(hint).into())
}

/// The policies of `ports` with all that is nested in them; all policies without ports.
fn reachable(
    policies: &BTreeMap<String, DisciplineSpec>,
    ports: Option<(&[Port], &[Input])>,
) -> BTreeMap<String, DisciplineSpec> {
    let Some((ports, inputs)) = ports else {
        return policies.clone();
    };
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = ports.iter().map(|p| p.policy.as_str()).collect();
    open.extend(inputs.iter().map(|i| i.policy.as_str()));
    while let Some(name) = open.pop() {
        if found.insert(name) {
            open.extend(
                policies
                    .get(name)
                    .into_iter()
                    .flat_map(DisciplineSpec::nested),
            );
        }
    }
    policies
        .iter()
        .filter(|(name, _)| found.contains(name.as_str()))
        .map(|(name, spec)| (name.clone(), spec.clone()))
        .collect()
}

/// Names of policies, those nested in others first; none after a circle.
pub(crate) fn inner_first(policies: &BTreeMap<String, DisciplineSpec>) -> Vec<&str> {
    let mut order = Vec::new();
    let mut done = BTreeSet::new();
    for name in policies.keys() {
        let mut stack = vec![(name.as_str(), false)];
        while let Some((name, left)) = stack.pop() {
            if left {
                order.push(name);
                continue;
            }
            if !done.insert(name) {
                continue;
            }
            stack.push((name, true));
            let inner = policies
                .get(name)
                .into_iter()
                .flat_map(DisciplineSpec::nested);
            stack.extend(
                inner
                    .filter_map(|c| policies.get_key_value(c))
                    .map(|(c, _)| (c.as_str(), false)),
            );
        }
    }
    order
}

/// The choice of a name among several; the default if none is named.
///
/// # Errors
/// A name that none of them has.
pub fn option<T: Copy + Default>(
    what: &str,
    name: Option<&str>,
    all: &[T],
    name_of: impl Fn(T) -> &'static str,
) -> Result<T, Diagnostics> {
    let Some(name) = name else {
        return Ok(T::default());
    };
    let names: Vec<&str> = all.iter().map(|t| name_of(*t)).collect();
    let found = all.iter().copied().find(|t| name_of(*t) == name);
    found.ok_or_else(|| {
        let d = Diagnostic::error(codes::NO_OPTION, format!("there is no {what} `{name}`"));
        d.found(name)
            .hint(format!("write {}", names.join(" or ")))
            .into()
    })
}
