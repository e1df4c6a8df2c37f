//! Conditions as class-maps and access lists.
//!
//! A class-map holds `match` lines of which any or all must hold. What is
//! nested deeper becomes a class-map of its own, and what looks at addresses
//! and ports an access list.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use spillgate_queueing::spec::{AclEntry, MatchSpec, OneOrMany};
use spillgate_scenario::Platform;

use super::acl::acl_lines;
use super::numbers::quoted;
use super::protocols::take_protocol;
use crate::Notes;

/// Values that one `match dscp` and one `match precedence` line take (Cisco IOS command reference).
const DSCPS: usize = 8;
const PRECEDENCES: usize = 4;
/// How the interface of arrival is tested.
const INPUT: &str = "input-interface";
/// How EXP bits are tested.
const EXP: &str = "mpls experimental topmost";
/// Most entries that one condition becomes.
pub(super) const MAX_ENTRIES: usize = 1000;

/// The class-maps and access lists written so far.
pub(super) struct ClassMaps {
    platform: Platform,
    /// Classes that are `match-any` where either would do.
    match_any: BTreeSet<String>,
    /// Names that classes have or may yet have.
    taken: BTreeSet<String>,
    /// What classes of each name match; one name may stand for several conditions in different policies.
    classes: BTreeMap<String, Vec<(MatchSpec, String)>>,
    lists: Vec<(Vec<AclEntry>, String)>,
    acls: String,
    maps: String,
}

impl ClassMaps {
    pub(super) fn new<'n>(
        names: impl Iterator<Item = &'n str>,
        platform: Platform,
        match_any: &BTreeSet<String>,
    ) -> Self {
        Self {
            platform,
            match_any: match_any.clone(),
            taken: names.map(str::to_owned).collect(),
            classes: BTreeMap::new(),
            lists: Vec::new(),
            acls: String::new(),
            maps: String::new(),
        }
    }

    /// Access lists, then class-maps, those that others name first.
    pub(super) fn text(self) -> String {
        self.acls + &self.maps
    }

    /// The class-map of a class; its name, which is the class's unless another class has it.
    pub(super) fn class(
        &mut self,
        name: &str,
        m: &MatchSpec,
        place: &str,
        notes: &mut Notes,
    ) -> String {
        let known = self.classes.get(name).into_iter().flatten();
        if let Some((_, written)) = known.into_iter().find(|(spec, _)| spec == m) {
            return written.clone();
        }
        let written = match self.classes.get(name) {
            None => name.to_owned(),
            Some(_) => {
                let other = self.free(name);
                notes.add(
                    place,
                    format!("a class of this name in another policy matches otherwise: it is called `{other}` here"),
                );
                other
            }
        };
        self.write(&written, m, place, notes);
        self.classes
            .entry(name.to_owned())
            .or_default()
            .push((m.clone(), written.clone()));
        written
    }

    /// A class-map that is no class's; its name.
    pub(super) fn own(
        &mut self,
        base: &str,
        m: &MatchSpec,
        place: &str,
        notes: &mut Notes,
    ) -> String {
        let name = self.free(base);
        self.write(&name, m, place, notes);
        name
    }

    fn free(&mut self, base: &str) -> String {
        let mut name = base.to_owned();
        let mut n = 1;
        while !self.taken.insert(name.clone()) {
            n += 1;
            name = format!("{base}-{n}");
        }
        name
    }

    /// Writes a class-map, those that it names first.
    fn write(&mut self, name: &str, m: &MatchSpec, place: &str, notes: &mut Notes) {
        let (any, lines) = self.lines(name, m, place, notes);
        let either = lines.len() == 1 && self.match_any.contains(name);
        let how = if any || either {
            "match-any"
        } else {
            "match-all"
        };
        let _ = writeln!(self.maps, "class-map {how} {}", quoted(name, place, notes));
        for line in lines {
            let _ = writeln!(self.maps, " match {line}");
        }
    }

    /// The criteria of a class-map, and whether one of them is enough.
    fn lines(
        &mut self,
        name: &str,
        m: &MatchSpec,
        place: &str,
        notes: &mut Notes,
    ) -> (bool, Vec<String>) {
        if *m == MatchSpec::default() {
            return (false, vec!["any".to_owned()]);
        }
        let only = |key: MatchSpec| *m == key;
        if let Some(OneOrMany(values)) = m.dscp.as_ref().filter(|v| {
            only(MatchSpec {
                dscp: Some((*v).clone()),
                ..MatchSpec::default()
            })
        }) {
            return (values.len() > DSCPS, in_lines("dscp", values, DSCPS));
        }
        if let Some(OneOrMany(values)) = m.precedence.as_ref().filter(|v| {
            only(MatchSpec {
                precedence: Some((*v).clone()),
                ..MatchSpec::default()
            })
        }) {
            return (
                values.len() > PRECEDENCES,
                in_lines("precedence", values, PRECEDENCES),
            );
        }
        if let Some(OneOrMany(values)) = m.exp.as_ref().filter(|v| {
            only(MatchSpec {
                exp: Some((*v).clone()),
                ..MatchSpec::default()
            })
        }) {
            return (false, vec![words(EXP, values)]);
        }
        if let Some(OneOrMany(names)) = m.input.as_ref().filter(|v| {
            only(MatchSpec {
                input: Some((*v).clone()),
                ..MatchSpec::default()
            })
        }) {
            // One interface a line.
            let line = |n: &String| format!("{INPUT} {}", quoted(n, place, notes));
            return (names.len() > 1, names.iter().map(line).collect());
        }
        if let Some(members) = m.any.as_ref().filter(|v| {
            only(MatchSpec {
                any: Some((*v).clone()),
                ..MatchSpec::default()
            })
        }) {
            let mut lines = Vec::new();
            for (i, member) in members.iter().enumerate() {
                // Reading back gathers the values of all lines of one field: DSCPs first,
                // precedences and EXP bits last.
                let behind = &members[i + 1..];
                let gathered = if member.dscp.is_some() {
                    i > 0
                } else if member.precedence.is_some() {
                    behind.len() > 1 || behind.iter().any(|m| m.exp.is_none() || !is_values(m))
                } else {
                    !behind.is_empty()
                };
                if gathered && is_values(member) {
                    lines.push(self.aside(name, member, place, notes));
                } else if is_values(member) {
                    lines.extend(self.lines(name, member, place, notes).1);
                } else {
                    lines.push(self.criterion(name, member, place, notes));
                }
            }
            return (true, lines);
        }
        if let Some(members) = m.all.as_ref().filter(|v| {
            only(MatchSpec {
                all: Some((*v).clone()),
                ..MatchSpec::default()
            })
        }) {
            let mut lines = Vec::new();
            for (i, member) in members.iter().enumerate() {
                if i == 0 && member.all.is_none() {
                    lines.extend(self.parts(name, member, place, notes));
                } else {
                    lines.push(self.criterion(name, member, place, notes));
                }
            }
            if lines.is_empty() {
                lines.push("any".to_owned());
            }
            return (false, lines);
        }
        (false, self.parts(name, m, place, notes))
    }

    /// Criteria that must all hold.
    fn parts(&mut self, name: &str, m: &MatchSpec, place: &str, notes: &mut Notes) -> Vec<String> {
        let mut rest = m.clone();
        let mut lines = Vec::new();
        if let Some(line) = take_protocol(&mut rest, self.platform) {
            lines.push(line.text);
            line.note.into_iter().for_each(|n| notes.add(place, n));
        }
        let flow = MatchSpec {
            src: rest.src.take(),
            dst: rest.dst.take(),
            protocol: rest.protocol.take(),
            sport: rest.sport.take(),
            dport: rest.dport.take(),
            ..MatchSpec::default()
        };
        if flow != MatchSpec::default() {
            let list = self.list(
                name,
                &[AclEntry {
                    permit: true,
                    matching: flow,
                }],
                place,
                notes,
            );
            lines.push(format!("access-group name {list}"));
        }
        let single = |key: MatchSpec| (key != MatchSpec::default()).then_some(key);
        let keys = [
            single(MatchSpec {
                dscp: rest.dscp.take(),
                ..MatchSpec::default()
            }),
            single(MatchSpec {
                precedence: rest.precedence.take(),
                ..MatchSpec::default()
            }),
            single(MatchSpec {
                exp: rest.exp.take(),
                ..MatchSpec::default()
            }),
            single(MatchSpec {
                cos: rest.cos.take(),
                ..MatchSpec::default()
            }),
            single(MatchSpec {
                qos_group: rest.qos_group.take(),
                ..MatchSpec::default()
            }),
            single(MatchSpec {
                input: rest.input.take(),
                ..MatchSpec::default()
            }),
            single(MatchSpec {
                acl: rest.acl.take(),
                ..MatchSpec::default()
            }),
            single(MatchSpec {
                any: rest.any.take(),
                ..MatchSpec::default()
            }),
            single(MatchSpec {
                not: rest.not.take(),
                ..MatchSpec::default()
            }),
            single(MatchSpec {
                all: rest.all.take(),
                ..MatchSpec::default()
            }),
        ];
        for key in keys.into_iter().flatten() {
            lines.push(self.criterion(name, &key, place, notes));
        }
        lines
    }

    /// What stands behind `match` for a condition.
    fn criterion(&mut self, name: &str, m: &MatchSpec, place: &str, notes: &mut Notes) -> String {
        if *m == MatchSpec::default() {
            return "protocol ip".to_owned();
        }
        let mut rest = m.clone();
        let line = take_protocol(&mut rest, self.platform);
        if let Some(line) = line.filter(|_| rest == MatchSpec::default()) {
            line.note.into_iter().for_each(|n| notes.add(place, n));
            return line.text;
        }
        let mut rest = m.clone();
        let taken: Vec<(bool, String)> = [
            rest.dscp
                .take()
                .map(|OneOrMany(v)| (v.len() <= DSCPS, words("dscp", &v))),
            rest.precedence
                .take()
                .map(|OneOrMany(v)| (v.len() <= PRECEDENCES, words("precedence", &v))),
            rest.exp.take().map(|OneOrMany(v)| (true, words(EXP, &v))),
            rest.cos.take().map(|OneOrMany(v)| (true, words("cos", &v))),
            rest.qos_group
                .take()
                .map(|OneOrMany(v)| (true, words("qos-group", &v))),
            rest.input.take().map(|OneOrMany(v)| {
                let name = v.first().map(|n| quoted(n, place, notes));
                (
                    v.len() == 1,
                    format!("{INPUT} {}", name.unwrap_or_default()),
                )
            }),
        ]
        .into_iter()
        .flatten()
        .collect();
        if let ([(true, line)], true) = (&taken[..], rest == MatchSpec::default()) {
            return line.clone();
        }
        let mut rest = m.clone();
        if let Some(entries) = rest.acl.take().filter(|_| rest == MatchSpec::default()) {
            return format!(
                "access-group name {}",
                self.list(name, &entries, place, notes)
            );
        }
        let mut rest = m.clone();
        if let Some(inner) = rest.not.take().filter(|_| rest == MatchSpec::default()) {
            let inner = match inner.not {
                Some(_) => self.aside(name, &inner, place, notes),
                None => self.criterion(name, &inner, place, notes),
            };
            return format!("not {inner}");
        }
        self.aside(name, m, place, notes)
    }

    /// A class-map of its own.
    fn aside(&mut self, name: &str, m: &MatchSpec, place: &str, notes: &mut Notes) -> String {
        let inner = self.own(&format!("{name}-part"), m, place, notes);
        format!("class-map {}", quoted(&inner, place, notes))
    }

    /// The access list of these entries; its name.
    fn list(&mut self, name: &str, entries: &[AclEntry], place: &str, notes: &mut Notes) -> String {
        if let Some((_, known)) = self.lists.iter().find(|(e, _)| e == entries) {
            return known.clone();
        }
        let base: String = name
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || c == '-' || c == '_' {
                    c
                } else {
                    '_'
                }
            })
            .collect();
        let called = format!("{base}-acl{}", self.lists.len() + 1);
        let _ = writeln!(self.acls, "ip access-list extended {called}");
        let mut written = 0;
        for entry in entries {
            let lines = acl_lines(entry);
            if lines.is_none() {
                notes.add(place, "a condition of its access list is none that an entry of IOS can hold: the entry is left out");
            }
            for line in lines.into_iter().flatten() {
                written += 1;
                if written <= MAX_ENTRIES {
                    let _ = writeln!(self.acls, " {line}");
                }
            }
        }
        if written == 0 {
            // A list without a line would permit everything.
            let _ = writeln!(self.acls, " deny ip any any");
        }
        if written > MAX_ENTRIES {
            notes.add(place, format!("its access list would have {written} entries: only the first {MAX_ENTRIES} are written"));
        }
        self.lists.push((entries.to_vec(), called.clone()));
        called
    }
}

/// Whether a condition is a list of values of one field.
fn is_values(m: &MatchSpec) -> bool {
    let mut rest = m.clone();
    let fields = [
        rest.dscp.take().is_some(),
        rest.precedence.take().is_some(),
        rest.exp.take().is_some(),
    ];
    rest == MatchSpec::default() && fields.iter().filter(|f| **f).count() == 1
}

pub(super) fn words<T: ToString>(field: &str, values: &[T]) -> String {
    let values: Vec<String> = values.iter().map(T::to_string).collect();
    format!("{field} {}", values.join(" "))
}

fn in_lines<T: ToString>(field: &str, values: &[T], each: usize) -> Vec<String> {
    values.chunks(each).map(|v| words(field, v)).collect()
}
