//! Access lists that class-maps name, and the object groups that those name.

use std::collections::BTreeMap;

use spillgate_queueing::spec::{AclEntry, MatchSpec, NetSpec};

use super::super::acl::{self, ObjectGroups};
use super::super::args::Args;
use super::super::ast::{Acl, Config, GroupKind, Origin};
use super::super::fault::{Refusal, code, unmodelled};
use super::super::lexer::{Word, Words};
use super::super::object_group::{self, Member};
use super::super::report::Report;
use super::Suggestions;
use super::matching::{MAX_DEPTH, MAX_ENTRIES};

/// The members of object groups, by name; none for everything.
#[derive(Debug, Default)]
pub(super) struct Resolved<'a> {
    networks: BTreeMap<&'a str, Option<Vec<NetSpec>>>,
    services: BTreeMap<&'a str, Option<Vec<MatchSpec>>>,
}

/// The entries of a list that is defined.
pub(super) fn read<'a>(
    config: &Config<'a>,
    name: &str,
    list: &Acl<'a>,
    resolved: &mut Resolved<'a>,
    report: &mut Report<'_>,
    names: &mut Suggestions,
) -> Vec<AclEntry> {
    let path = format!("access-list.{name}");
    let mut read = Vec::with_capacity(list.lines.len());
    for line in list.lines.values() {
        let mut args = Args::new(line.rest);
        let at = Origin::new(line.rest.line(), line.rest.line().first_column());
        let parsed = match line.permit {
            Some(permit) => {
                let mut resolver = Resolver {
                    config,
                    resolved: &mut *resolved,
                    report: &mut *report,
                    names: &mut *names,
                    within: Vec::new(),
                };
                acl::entry(list.kind, permit, &mut args, &mut resolver)
            }
            None => Err(Refusal::NotUnderstood(
                "not understood; the entry is left out".to_owned(),
            )),
        };
        match parsed {
            Ok(parsed) => {
                if let Some(remark) = parsed.remark {
                    report.unmodelled(at, remark);
                }
                read.extend(parsed.entries);
            }
            Err(refusal) => report.refuse(at, path.as_str(), refusal),
        }
        if read.len() > MAX_ENTRIES {
            let message = format!("access list `{name}` has more than {MAX_ENTRIES} conditions");
            let fault = at.fault(code::TOO_LARGE, message);
            let hint = "give the part of the configuration that the scenario needs";
            report.error(at.line, path, fault.hint(hint));
            break;
        }
    }
    read
}

struct Resolver<'r, 'c, 'a, 'f> {
    config: &'c Config<'a>,
    resolved: &'r mut Resolved<'a>,
    report: &'r mut Report<'f>,
    names: &'r mut Suggestions,
    /// The groups around the one that is read.
    within: Vec<&'a str>,
}

impl<'a> ObjectGroups<'a> for Resolver<'_, '_, 'a, '_> {
    fn network(&mut self, name: Word<'a>) -> Result<Option<Vec<NetSpec>>, Refusal> {
        self.members(name, GroupKind::Network, object_group::network, |r| {
            &mut r.networks
        })
    }

    fn service(&mut self, name: Word<'a>) -> Result<Option<Vec<MatchSpec>>, Refusal> {
        self.members(name, GroupKind::Service, object_group::service, |r| {
            &mut r.services
        })
    }
}

type Store<'a, T> = BTreeMap<&'a str, Option<Vec<T>>>;
type StoreOf<'a, T> = for<'s> fn(&'s mut Resolved<'a>) -> &'s mut Store<'a, T>;

impl<'a> Resolver<'_, '_, 'a, '_> {
    /// What the group holds; an error at `name` if it is not defined or holds nothing.
    fn members<T: Clone>(
        &mut self,
        name: Word<'a>,
        kind: GroupKind,
        member: fn(&mut Args<'a>) -> Result<Member<'a, T>, Refusal>,
        store: StoreOf<'a, T>,
    ) -> Result<Option<Vec<T>>, Refusal> {
        let config = self.config;
        let group = config.groups.get(name.text).filter(|g| g.kind == kind);
        let Some(group) = group else {
            let of_kind = config.groups.iter().filter(|(_, g)| g.kind == kind);
            let defined = of_kind.map(|(n, _)| *n);
            let (code, what) = (code::NO_OBJECT_GROUP, "object group");
            let fault = self
                .names
                .undefined(code, what, name.column, name.text, defined);
            return Err(fault.into());
        };
        if self.within.contains(&name.text) {
            let message = format!("object group `{}` contains itself", name.text);
            let fault = name.fault(code::GROUP_CYCLE, message);
            return Err(fault.hint("take this line out of the circle").into());
        }
        if self.within.len() >= MAX_DEPTH {
            let message = format!("object groups are nested more than {MAX_DEPTH} deep");
            let fault = name.fault(code::TOO_LARGE, message);
            return Err(fault.hint("nest fewer groups").into());
        }
        if !store(self.resolved).contains_key(name.text) {
            self.within.push(name.text);
            let all = self.read(name.text, &group.lines, kind, member, store);
            self.within.pop();
            store(self.resolved).insert(name.text, all);
        }
        match store(self.resolved).get(name.text) {
            Some(Some(all)) if all.is_empty() => unmodelled(format!(
                "object group `{}` holds nothing that is modelled: the line is left out",
                name.text
            )),
            Some(all) => Ok(all.clone()),
            None => Ok(None),
        }
    }

    fn read<T: Clone>(
        &mut self,
        name: &str,
        lines: &[Words<'a>],
        kind: GroupKind,
        member: fn(&mut Args<'a>) -> Result<Member<'a, T>, Refusal>,
        store: StoreOf<'a, T>,
    ) -> Option<Vec<T>> {
        let mut all = Vec::new();
        let mut everything = false;
        for words in lines {
            let at = Origin::new(words.line(), words.line().first_column());
            let nested = match member(&mut Args::new(*words)) {
                Ok(Member::Nothing) => continue,
                Ok(Member::Adds(members)) => Ok(members),
                Ok(Member::Group(inner)) => self.members(inner, kind, member, store),
                Err(refusal) => Err(refusal),
            };
            match nested {
                Ok(Some(members)) => all.extend(members),
                Ok(None) => everything = true,
                Err(refusal) => {
                    let path = format!("object-group.{name}");
                    self.report.refuse(at, path, refusal);
                }
            }
            if all.len() > MAX_ENTRIES {
                let message = format!("object group `{name}` has more than {MAX_ENTRIES} members");
                let fault = at.fault(code::TOO_LARGE, message);
                let hint = "give the part of the configuration that the scenario needs";
                let path = format!("object-group.{name}");
                self.report.error(at.line, path, fault.hint(hint));
                break;
            }
        }
        (!everything).then_some(all)
    }
}
