//! Class-maps and the access lists they name, as conditions on packets.
//!
//! A criterion that is not modelled holds for no simulated packet, since none
//! has what it looks for: it adds nothing to a `match-any` class-map, and
//! leaves a `match-all` class-map without packets. Negated it would hold for
//! all; it is left out, and a class-map of nothing else matches nothing, so
//! that no class takes in all traffic for want of a model.

use std::collections::{BTreeMap, BTreeSet};

use spillgate_core::Dscp;
use spillgate_queueing::spec::{AclEntry, MatchSpec, Protocol};

use super::super::ast::{At, ClassMap, Config, Criterion, Origin, Test};
use super::super::fault::{Fault, code};
use super::super::report::Report;
use super::condition::{all, any, extend_new, protocol, unique};
use super::lists;
use super::{Suggestions, graph};

/// Class-maps may name each other this deep.
pub(super) const MAX_DEPTH: usize = 16;

/// Conditions of all class-maps and classes together: what one line names is
/// copied to where it is named, and must not fill the memory.
pub(crate) const MAX_ENTRIES: usize = 250_000;

/// What a class-map came to.
#[derive(Clone, Debug)]
pub(super) struct Lowered {
    /// Its condition; none if it matches nothing because criteria are not modelled.
    spec: Option<MatchSpec>,
    /// Entries in the condition.
    size: usize,
    /// Class-maps inside class-maps, itself included.
    depth: usize,
    /// Criteria that were left out.
    left_out: usize,
}

/// The conditions of all class-maps, by name.
pub(super) struct ClassMaps<'a> {
    by_name: BTreeMap<&'a str, Lowered>,
    entries: usize,
    warned: BTreeSet<&'a str>,
}

/// Lowers all class-maps.
pub(super) fn lower<'a>(
    config: &Config<'a>,
    report: &mut Report<'_>,
    names: &mut Suggestions,
) -> ClassMaps<'a> {
    let maps: Vec<(&'a str, &ClassMap<'a>)> =
        config.class_maps.iter().map(|(n, m)| (*n, m)).collect();
    let position = |name: &str| maps.binary_search_by_key(&name, |(n, _)| *n).ok();
    let nested = |c: &At<'a, Criterion<'a>>| match c.value.test {
        Test::ClassMap(name) => position(name),
        _ => None,
    };
    let edges: Vec<Vec<usize>> = maps
        .iter()
        .map(|(_, m)| m.criteria.iter().filter_map(nested).collect())
        .collect();
    let order = graph::order(&edges);
    let mut builder = Builder {
        config,
        report,
        names,
        acls: BTreeMap::new(),
        groups: lists::Resolved::default(),
        done: BTreeMap::new(),
        entries: 0,
    };
    for i in order.nodes {
        let (name, map) = maps[i];
        let lowered = builder.class_map(name, map);
        builder.done.insert(name, lowered);
    }
    let (by_name, entries) = (builder.done, builder.entries);
    ClassMaps {
        by_name,
        entries,
        warned: BTreeSet::new(),
    }
}

struct Builder<'c, 'a, 'r, 'f> {
    config: &'c Config<'a>,
    report: &'r mut Report<'f>,
    names: &'r mut Suggestions,
    /// The access lists read so far; none for those that are not modelled.
    acls: BTreeMap<&'a str, Option<Vec<AclEntry>>>,
    groups: lists::Resolved<'a>,
    done: BTreeMap<&'a str, Lowered>,
    entries: usize,
}

impl<'a> Builder<'_, 'a, '_, '_> {
    fn class_map(&mut self, name: &'a str, map: &ClassMap<'a>) -> Lowered {
        let path = format!("class-map.{name}");
        let mut specs = Vec::new();
        let mut dscps: Vec<Dscp> = Vec::new();
        let mut precedences: Vec<u8> = Vec::new();
        let mut exps: Vec<u8> = Vec::new();
        let mut lowered = Lowered {
            spec: None,
            size: 1,
            depth: 1,
            left_out: 0,
        };
        let mut everything = false;
        let mut never = false;
        for criterion in &map.criteria {
            let Criterion { negated, test } = &criterion.value;
            let spec = match test {
                Test::Any if !negated => {
                    everything = true;
                    continue;
                }
                // Values of several lines are one list where any of them will do.
                Test::Dscp(values) if map.any && !negated => {
                    extend_new(&mut dscps, values);
                    continue;
                }
                Test::Precedence(values) if map.any && !negated => {
                    extend_new(&mut precedences, values);
                    continue;
                }
                Test::Exp(values) if map.any && !negated => {
                    extend_new(&mut exps, values);
                    continue;
                }
                test => self.test(test, criterion.origin, &path, &mut lowered),
            };
            match spec {
                Some(spec) if *negated => specs.push(MatchSpec::not(spec)),
                Some(spec) => specs.push(spec),
                None => {
                    lowered.left_out += 1;
                    never |= !map.any && !negated;
                }
            }
        }
        if !dscps.is_empty() {
            specs.insert(0, MatchSpec::dscp(dscps));
        }
        if !precedences.is_empty() {
            specs.push(MatchSpec::precedence(precedences));
        }
        if !exps.is_empty() {
            specs.push(MatchSpec::exp(exps));
        }
        lowered.size += specs.len();
        self.entries += lowered.size;
        lowered.spec = if never {
            None
        } else if map.any {
            any(specs, everything)
        } else {
            all(specs, everything)
        };
        lowered
    }

    /// What a criterion tests; none if it is not modelled or wrong.
    fn test(
        &mut self,
        test: &Test<'a>,
        origin: Origin<'a>,
        path: &str,
        lowered: &mut Lowered,
    ) -> Option<MatchSpec> {
        match test {
            Test::Any => Some(MatchSpec::default()),
            Test::Dscp(values) => Some(MatchSpec::dscp(unique(values))),
            Test::Precedence(values) => Some(MatchSpec::precedence(unique(values))),
            Test::Exp(values) => Some(MatchSpec::exp(unique(values))),
            Test::Cos(values) => Some(MatchSpec::cos(unique(values))),
            Test::QosGroup(values) => Some(MatchSpec::qos_group(unique(values))),
            Test::Input(name) => Some(MatchSpec::input(vec![(*name).to_owned()])),
            Test::Protocol(known) => Some(protocol(known)),
            Test::RtpPorts(range) => Some(MatchSpec {
                dport: Some(vec![*range].into()),
                ..MatchSpec::protocol(vec![Protocol(17)])
            }),
            Test::Acl(name) if self.undefined_list(name, origin, path) => {
                Some(MatchSpec::default())
            }
            Test::Acl(name) => {
                let entries = self.acl(name, origin, path)?;
                lowered.size += entries.len();
                Some(MatchSpec::acl(entries))
            }
            Test::ClassMap(name) => {
                let Some(inner) = self.done.get(name) else {
                    if !self.config.class_maps.contains_key(name) {
                        let defined = self.config.class_maps.keys().copied();
                        let (what, column) = ("class-map", origin.column);
                        let fault =
                            self.names
                                .undefined(code::NO_CLASS_MAP, what, column, name, defined);
                        let instead = "the criterion matches nothing";
                        self.report
                            .stand_in(code::NOT_DEFINED, origin.line, path, fault, instead);
                    }
                    return None;
                };
                lowered.depth = lowered.depth.max(inner.depth + 1);
                lowered.left_out += inner.left_out;
                if inner.depth >= MAX_DEPTH {
                    let message = format!("class-maps are nested more than {MAX_DEPTH} deep");
                    let fault = origin.fault(code::TOO_LARGE, message).found(*name);
                    let fault = fault.hint("match on fewer levels");
                    self.report.error(origin.line, path, fault);
                    lowered.depth = 1;
                    return None;
                }
                let size = inner.size;
                if !fits(
                    self.entries + lowered.size + size,
                    origin,
                    path,
                    self.report,
                ) {
                    return None;
                }
                lowered.size += size;
                inner.spec.clone()
            }
            Test::Unmodelled => None,
        }
    }

    /// Whether a list is not defined, or has no line; says so. IOS permits everything by such a
    /// list: "an interface with an empty access list applied to it permits all traffic" (Security
    /// Configuration Guide, IP Access List Overview). That it does so in a class-map, too, is
    /// concluded, not documented.
    fn undefined_list(&mut self, name: &'a str, origin: Origin<'a>, path: &str) -> bool {
        let (what, column) = ("access list", origin.column);
        let fault = match self.config.acls.get(name) {
            Some(list) if list.lines.is_empty() => {
                let message = format!("access list `{name}` has no line");
                let fault = Fault::new(code::NO_ACCESS_LIST, column, message).found(name);
                fault.hint("add a `permit` line, or take this line out")
            }
            Some(_) => return false,
            None => {
                let defined = self.config.acls.keys().copied();
                let code = code::NO_ACCESS_LIST;
                self.names.undefined(code, what, column, name, defined)
            }
        };
        let instead = "it permits every packet, as IOS does by such a list";
        self.report
            .stand_in(code::NOT_DEFINED, origin.line, path, fault, instead);
        true
    }

    /// The entries of an access list.
    fn acl(&mut self, name: &'a str, origin: Origin<'a>, path: &str) -> Option<Vec<AclEntry>> {
        let kind = self.config.acls.get(name).map(|list| list.kind);
        if let Some(super::super::ast::AclKind::Foreign(family)) = kind {
            let reason = match family {
                "IPv6" => "matches nothing: simulated packets are IPv4".to_owned(),
                _ => format!("matches nothing: {family} access lists are not modelled"),
            };
            self.report.unmodelled(origin, reason);
            return None;
        }
        if !self.acls.contains_key(name) {
            let read = self.read_acl(name, origin, path);
            self.acls.insert(name, read);
        }
        let entries = self.acls.get(name)?.as_ref()?;
        if !fits(self.entries + entries.len(), origin, path, self.report) {
            return None;
        }
        Some(entries.clone())
    }

    fn read_acl(&mut self, name: &'a str, origin: Origin<'a>, path: &str) -> Option<Vec<AclEntry>> {
        let list = self.config.acls.get(name)?;
        let (report, names) = (&mut *self.report, &mut *self.names);
        let read = lists::read(self.config, name, list, &mut self.groups, report, names);
        if !read.iter().any(|e| e.permit) {
            let message =
                format!("access list `{name}` permits nothing: the criterion matches nothing");
            let fault = Fault::new(code::MATCHES_NOTHING, origin.column, message).found(name);
            let hint = "add a `permit` line; an access list ends with an implicit `deny`";
            self.report.warn(origin.line, path, fault.hint(hint));
        }
        Some(read)
    }
}

/// Whether `entries` conditions are few enough; says so if not.
fn fits(entries: usize, origin: Origin<'_>, path: &str, report: &mut Report<'_>) -> bool {
    if entries <= MAX_ENTRIES {
        return true;
    }
    let message = format!("the classes have more than {MAX_ENTRIES} conditions in all");
    let fault = origin.fault(code::TOO_LARGE, message);
    let hint = "give the part of the configuration that the scenario needs";
    report.error(origin.line, path, fault.hint(hint));
    false
}

impl<'a> ClassMaps<'a> {
    /// The condition of a class that names class-map `name`; none if there is no such class-map.
    pub(super) fn condition(
        &mut self,
        name: &'a str,
        map: &ClassMap<'a>,
        origin: Origin<'a>,
        path: &str,
        report: &mut Report<'_>,
    ) -> Option<MatchSpec> {
        let lowered = self.by_name.get(name)?;
        if !fits(self.entries + lowered.size, origin, path, report) {
            return Some(MatchSpec::nothing());
        }
        self.entries += lowered.size;
        if self.warned.insert(name) {
            if let Some((code, message)) = warning(name, map, lowered) {
                let fault = Fault::new(code, map.origin.column, message).found(name);
                report.warn(map.origin.line, format!("class-map.{name}"), fault);
            }
        }
        Some(lowered.spec.clone().unwrap_or_else(MatchSpec::nothing))
    }
}

/// What to say of a class-map whose condition is not the router's.
fn warning(name: &str, map: &ClassMap<'_>, lowered: &Lowered) -> Option<(&'static str, String)> {
    if map.criteria.is_empty() {
        let text = format!("class-map `{name}` has no criterion and matches nothing");
        return Some((code::MATCHES_NOTHING, text));
    }
    if lowered.spec.is_none() {
        let which = if map.any || lowered.left_out >= map.criteria.len() {
            "no criterion"
        } else {
            "not every criterion"
        };
        let text = format!("{which} of class-map `{name}` is modelled: it matches nothing");
        return Some((code::MATCHES_NOTHING, text));
    }
    (lowered.left_out > 0).then(|| {
        let text = format!(
            "not every criterion of class-map `{name}` is modelled: it may match other packets than on the router"
        );
        (code::MATCHES_OTHERWISE, text)
    })
}
