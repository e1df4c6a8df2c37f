//! The rate that each policy-map divides, as far as the configuration says it:
//! that of the interface it is attached to, or of the class it is nested in.

use std::collections::BTreeMap;

use spillgate_core::{Percent, Rate, RateOrPercent};

use super::super::ast::{Class, Config, Interface, Origin, PolicyMap};
use super::super::fault::code;
use super::super::interface_words::{default_bandwidth, parent};
use super::super::platform::{PlatformProfile, Reference};
use super::super::ports::{Port, ports};
use super::super::report::Report;
use super::graph;

/// Where the rate of an interface is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// `bandwidth qos-reference` or `bandwidth`.
    Bandwidth,
    /// The `bandwidth` of the interface that a sub-interface belongs to.
    Parent,
    /// The `speed` of the port.
    Speed,
    /// What the type of the interface has by default.
    Type,
    /// The contract of the circuit.
    Contract,
}

/// The rate that percentages of an interface's policy are of, and where it is from.
///
/// `bandwidth` rules where the platform goes by it; the default that it replaces is the speed of
/// the port (Cisco IOS interface command reference, `bandwidth (interface)` and `show interfaces`).
pub(crate) fn reference(
    config: &Config<'_>,
    interface: &Interface<'_>,
    profile: &PlatformProfile,
) -> Option<(Rate, Source)> {
    let main = parent(&interface.name)
        .and_then(|name| config.interface_index.get(name))
        .and_then(|i| config.interfaces.get(*i));
    let speed = interface.speed.or_else(|| main.and_then(|m| m.speed));
    let by_type = || default_bandwidth(&interface.name).map(|r| (r, Source::Type));
    let by_line = || speed.map(|s| (s.value, Source::Speed)).or_else(by_type);
    if profile.reference == Reference::Line {
        return by_line();
    }
    if let Some(own) = interface.bandwidth() {
        return Some((own.value, Source::Bandwidth));
    }
    let above = main.and_then(Interface::bandwidth);
    above.map(|b| (b.value, Source::Parent)).or_else(by_line)
}

/// The same of an interface or a circuit. What a contract guarantees, or lets through at most,
/// rules over `bandwidth`, which says nothing of the circuit's rate (Cisco, "Understanding the
/// VBR-nrt Service Category and Traffic Shaping for ATM VCs").
pub(crate) fn reference_of(
    config: &Config<'_>,
    port: &Port<'_, '_>,
    profile: &PlatformProfile,
) -> Option<(Rate, Source)> {
    let contract = port.contract_rate().map(|r| (r, Source::Contract));
    contract.or_else(|| reference(config, port.interface, profile))
}

/// Rates by policy-map; the lowest where several are said.
pub(crate) type Rates<'a> = BTreeMap<&'a str, Rate>;

/// Finds the rates of all policy-maps.
pub(crate) fn enclosing<'a>(config: &Config<'a>, profile: &PlatformProfile) -> Rates<'a> {
    let mut rates = Rates::new();
    for port in ports(config) {
        if let (Some(policy), Some((rate, _))) =
            (port.output_policy, reference_of(config, &port, profile))
        {
            lower_to(&mut rates, policy.value, rate);
        }
    }
    let maps: Vec<(&'a str, &PolicyMap<'a>)> =
        config.policy_maps.iter().map(|(n, m)| (*n, m)).collect();
    let edges: Vec<Vec<usize>> = maps
        .iter()
        .map(|(_, m)| {
            let nested = m.classes.iter().filter_map(|c| c.policy);
            nested
                .filter_map(|p| maps.binary_search_by_key(&p.value, |(n, _)| *n).ok())
                .collect()
        })
        .collect();
    // Those that contain others come before them in the reversed order.
    for i in graph::order(&edges).nodes.into_iter().rev() {
        let (name, map) = maps[i];
        let Some(rate) = rates.get(name).copied() else {
            continue;
        };
        for class in &map.classes {
            if let Some(policy) = class.policy {
                lower_to(&mut rates, policy.value, inside(class, rate));
            }
        }
    }
    rates
}

fn lower_to<'a>(rates: &mut Rates<'a>, name: &'a str, rate: Rate) {
    let known = rates.entry(name).or_insert(rate);
    *known = rate.min(*known);
}

/// The rate that a policy-map inside `class` divides.
fn inside(class: &Class<'_>, rate: Rate) -> Rate {
    match (class.shape, class.bandwidth) {
        (Some(shape), _) => shape.value.rate.of(rate),
        (None, Some(bandwidth)) => bandwidth.value.of(rate),
        (None, None) => rate,
    }
}

/// Warns of policy-maps that reserve more than there is.
pub(super) fn check_reserved(
    config: &Config<'_>,
    rates: &Rates<'_>,
    profile: &PlatformProfile,
    report: &mut Report<'_>,
) {
    let all = ports(config);
    for port in &all {
        let interface = port.interface;
        let Some(policy) = port.output_policy else {
            continue;
        };
        let Some(map) = config.policy_maps.get(policy.value) else {
            continue;
        };
        // A link of the scenario may be faster than what a type has by default.
        let stated =
            |(_, source): &(Rate, Source)| *source != Source::Type || profile.reservable.is_some();
        if let Some((rate, _)) = reference_of(config, port, profile).filter(stated) {
            let own = interface.max_reserved.map(|m| m.value);
            let capped = profile.reservable.or(profile.advised);
            let most = capped.map(|p| own.unwrap_or(p)).filter(|p| *p < 100);
            let place = format!("of {}", port.name);
            let path = format!("interface.{}", port.name);
            let mut whole = true;
            reserved(map, rate, None, &place, |at, message| {
                whole = false;
                let hint = "IOS refuses the service-policy; lower the classes";
                let fault = at.fault(code::OVERBOOKED, message);
                report.warn(at.line, path.clone(), fault.hint(hint));
            });
            let Some(percent) = most.filter(|_| whole) else {
                continue;
            };
            reserved(map, rate, most, &place, |_, message| {
                let hint = if profile.reservable.is_some() {
                    format!(
                        "IOS refuses the service-policy; lower the classes, or write `max-reserved-bandwidth` above {percent}"
                    )
                } else {
                    format!(
                        "IOS before 12.4(20)T refuses the service-policy; there, lower the classes or write `max-reserved-bandwidth` above {percent}"
                    )
                };
                let at = policy.origin;
                let fault = at.fault(code::OVERBOOKED, message);
                report.warn(at.line, path.clone(), fault.hint(hint));
            });
        }
    }
    let attached = all.iter().filter_map(|p| p.output_policy);
    let attached: Vec<&str> = attached.map(|p| p.value).collect();
    for (name, rate) in rates.iter().filter(|(n, _)| !attached.contains(*n)) {
        let Some(map) = config.policy_maps.get(name) else {
            continue;
        };
        reserved(map, *rate, None, "around it", |at, message| {
            let hint = "IOS refuses the service-policy; lower the classes, or shape to more";
            let fault = at.fault(code::OVERBOOKED, message);
            report.warn(at.line, format!("policy-map.{name}"), fault.hint(hint));
        });
    }
}

/// Calls `say` with the first class at which more than `most` percent (all) of `rate` is reserved.
fn reserved<'a>(
    map: &PolicyMap<'a>,
    rate: Rate,
    most: Option<u32>,
    place: &str,
    mut say: impl FnMut(Origin<'a>, String),
) {
    let whole = rate.bps() as f64 * f64::from(most.unwrap_or(100)) / 100.0;
    let mut sum = 0.0;
    for class in &map.classes {
        let bandwidth = class.bandwidth.map(|b| (b.value, b.origin));
        let priority = class
            .priority
            .and_then(|p| p.value.rate.map(|r| (r, p.origin)));
        for (asked, at) in bandwidth.into_iter().chain(priority) {
            sum += match asked {
                RateOrPercent::Rate(r) => r.bps() as f64,
                RateOrPercent::Percent(Percent(p)) => p * rate.bps() as f64,
            };
            // Percentages are whole numbers, so that the least excess is far above a rounding
            // error.
            if sum > whole * (1.0 + 1e-9) {
                let limit = most.map_or_else(String::new, |p| format!(" {p} % of"));
                let reserved = Rate::from_bps((sum + 0.5) as u64).unwrap_or(rate);
                say(
                    at,
                    format!(
                        "the classes up to `{}` reserve {reserved}, more than{limit} the {rate} {place}",
                        class.name
                    ),
                );
                return;
            }
        }
    }
}
