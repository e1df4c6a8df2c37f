//! Conditions as class-maps and access lists.
//!
//! A class-map has `match` lines of which any or all must hold. A nested condition becomes a
//! class-map of its own, and a condition on addresses and ports an access list.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use spillgate_queueing::spec::{AclEntry, MatchSpec, OneOrMany};
use spillgate_scenario::Platform;
use spillgate_scenario::originals::{BlockName, OriginalBlock, Originals};

use super::acl::{acl_lines, is_entry, take_flow, unfolded};
use super::numbers::quoted;
use super::protocols::take_protocol;
use crate::{Here, Source};

/// Values that one `match dscp` and one `match precedence` line take (Cisco IOS command reference).
const DSCPS: usize = 8;
const PRECEDENCES: usize = 4;
/// How the interface of arrival is tested.
const INPUT: &str = "input-interface";
/// How EXP bits are tested.
const EXP: &str = "mpls experimental topmost";
/// Values that one `match cos` line takes, and one line on EXP bits.
const COS: usize = 4;
const EXPS: usize = 8;
/// Most entries that one condition becomes.
pub(super) const MAX_ENTRIES: usize = 10_000;
/// Class-maps within each other that are read again.
const MAX_DEPTH: usize = 15;

/// The class-maps and access lists written so far.
pub(super) struct ClassMaps<'s> {
    platform: Platform,
    /// The texts of configurations as written, and the blocks of them that are written already.
    originals: &'s [Originals],
    kept: BTreeMap<&'s BlockName, &'s OriginalBlock>,
    /// Names of class-maps that belong to no configuration.
    own: BTreeSet<String>,
    /// Class-maps around the one that is written.
    depth: usize,
    /// Whether a part of the condition that is written has no translation.
    failed: bool,
    /// Classes that are `match-any` although `match-all` would be equivalent.
    match_any: BTreeSet<String>,
    /// Names that classes have or may yet have.
    taken: BTreeSet<String>,
    /// The conditions of classes by name; different policies may use one name for several
    /// conditions.
    classes: BTreeMap<String, Vec<(MatchSpec, String)>>,
    lists: Vec<(Vec<AclEntry>, String)>,
    acls: String,
    maps: String,
}

impl<'s> ClassMaps<'s> {
    pub(super) fn new<'n>(names: impl Iterator<Item = &'n str>, source: &'s Source) -> Self {
        let blocks = source.originals.iter().flat_map(|o| o.blocks.keys());
        let blocks = blocks.map(|name| match name {
            BlockName::ClassMap(n) | BlockName::List(n) | BlockName::Group(n) => n.clone(),
        });
        Self {
            platform: source.platform,
            originals: &source.originals,
            kept: BTreeMap::new(),
            own: BTreeSet::new(),
            depth: 0,
            failed: false,
            match_any: source.match_any.clone(),
            taken: names.map(str::to_owned).chain(blocks).collect(),
            classes: BTreeMap::new(),
            lists: Vec::new(),
            acls: String::new(),
            maps: String::new(),
        }
    }

    /// Access lists, then class-maps, each after those that it refers to.
    pub(super) fn text(self) -> String {
        self.acls + &self.maps
    }

    /// Writes the class-map of a class and returns its name: that of the class, unless another
    /// class has it. None if the condition has no translation.
    pub(super) fn class(
        &mut self,
        name: &str,
        m: &MatchSpec,
        notes: &mut Here<'_>,
    ) -> Option<String> {
        let known = self.classes.get(name).into_iter().flatten();
        if let Some((_, written)) = known.into_iter().find(|(spec, _)| spec == m) {
            return Some(written.clone());
        }
        let other = self.classes.contains_key(name);
        let original = !other && self.keep_match(name, m, notes);
        let written = match other || self.kept_as_map(name) && !original {
            false => name.to_owned(),
            true => {
                let other = self.free(name);
                let whose = match self.classes.contains_key(name) {
                    true => "class of this name in another policy",
                    false => "class-map of this name",
                };
                let reason = format!("a {whose} matches otherwise: it is called `{other}` here");
                notes.add(reason);
                other
            }
        };
        if !original && !self.whole(&written, m, notes) {
            return None;
        }
        self.classes
            .entry(name.to_owned())
            .or_default()
            .push((m.clone(), written.clone()));
        Some(written)
    }

    /// Writes a class-map that belongs to no class, and returns its name if the condition has a
    /// translation.
    pub(super) fn other(
        &mut self,
        base: &str,
        m: &MatchSpec,
        notes: &mut Here<'_>,
    ) -> Option<String> {
        let name = self.free(base);
        self.whole(&name, m, notes).then_some(name)
    }

    /// Writes a class-map with all that it names, or nothing.
    fn whole(&mut self, name: &str, m: &MatchSpec, notes: &mut Here<'_>) -> bool {
        let (acls, maps, lists) = (self.acls.len(), self.maps.len(), self.lists.len());
        (self.failed, self.depth) = (false, 0);
        self.write(name, m, notes);
        if self.failed {
            self.acls.truncate(acls);
            self.maps.truncate(maps);
            self.lists.truncate(lists);
        }
        !self.failed
    }

    /// A class-map for a part of a condition; its name.
    fn own(&mut self, base: &str, m: &MatchSpec, notes: &mut Here<'_>) -> String {
        let name = self.free(base);
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.failed = true;
        } else {
            self.write(&name, m, notes);
        }
        self.depth -= 1;
        name
    }

    /// Whether a configuration's class-map of this name is written.
    fn kept_as_map(&self, name: &str) -> bool {
        self.kept
            .contains_key(&BlockName::ClassMap(name.to_owned()))
    }

    /// Writes the class-map of a configuration as written, if it became `m`.
    fn keep_match(&mut self, name: &str, m: &MatchSpec, notes: &mut Here<'_>) -> bool {
        let originals = self.originals.iter();
        let found = originals.filter_map(|o| Some((o, o.class_maps.get(name)?)));
        let Some((from, original)) = found.into_iter().find(|(_, o)| o.condition == *m) else {
            return false;
        };
        if !self.keep_named(from, &original.block.names, notes) {
            return false;
        }
        let key = BlockName::ClassMap(name.to_owned());
        match self.kept.get(&key) {
            Some(known) => **known == original.block,
            None if self.own.contains(name) => false,
            None => {
                let text = block(&key, &original.block, notes);
                self.maps.push_str(&text);
                // It keeps the name of its block if others refer to it.
                if let Some((key, known)) = from.blocks.get_key_value(&key) {
                    self.kept.insert(key, known);
                }
                true
            }
        }
    }

    /// Writes blocks of a configuration as written, after the blocks that they refer to; false if
    /// another block with one of the names is written.
    pub(super) fn keep_named(
        &mut self,
        from: &'s Originals,
        names: &'s [BlockName],
        notes: &mut Here<'_>,
    ) -> bool {
        let mut stack: Vec<(&'s BlockName, bool)> = names.iter().map(|n| (n, false)).collect();
        let mut order: Vec<(&'s BlockName, &'s OriginalBlock)> = Vec::new();
        let mut seen = BTreeSet::new();
        while let Some((name, left)) = stack.pop() {
            // Undefined names stay undefined.
            let Some((name, found)) = from.blocks.get_key_value(name) else {
                continue;
            };
            if left {
                order.push((name, found));
            } else if seen.insert(name) {
                stack.push((name, true));
                stack.extend(found.names.iter().map(|n| (n, false)));
            }
        }
        let clash = |(name, found): &(&BlockName, &OriginalBlock)| match self.kept.get(name) {
            Some(known) => *known != *found,
            None => matches!(name, BlockName::ClassMap(n) if self.own.contains(n)),
        };
        if order.iter().any(clash) {
            return false;
        }
        for (name, found) in order {
            if self.kept.insert(name, found).is_some() {
                continue;
            }
            let text = block(name, found, notes);
            match name {
                BlockName::ClassMap(_) => self.maps.push_str(&text),
                BlockName::List(_) | BlockName::Group(_) => self.acls.push_str(&text),
            }
        }
        true
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

    /// Writes a class-map after those that it refers to.
    fn write(&mut self, name: &str, m: &MatchSpec, notes: &mut Here<'_>) {
        self.own.insert(name.to_owned());
        let (any, lines) = self.lines(name, m, notes);
        let either = lines.len() == 1 && self.match_any.contains(name);
        let how = if any || either {
            "match-any"
        } else {
            "match-all"
        };
        let _ = writeln!(self.maps, "class-map {how} {}", quoted(name, notes));
        for line in lines {
            let _ = writeln!(self.maps, " match {line}");
        }
    }

    /// The criteria of a class-map, and whether one of them is enough.
    fn lines(&mut self, name: &str, m: &MatchSpec, notes: &mut Here<'_>) -> (bool, Vec<String>) {
        if *m == MatchSpec::default() {
            return (false, vec!["any".to_owned()]);
        }
        if let Some(values) = Values::of(m, notes) {
            return (values.all.len() > values.each, values.lines());
        }
        let single = m.clone().split().count() == 1;
        if let Some(members) = m.any.as_ref().filter(|_| single) {
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
                    lines.push(self.aside(name, member, notes));
                } else if is_values(member) {
                    lines.extend(self.lines(name, member, notes).1);
                } else {
                    lines.push(self.criterion(name, member, notes));
                }
            }
            return (true, lines);
        }
        if let Some(members) = m.all.as_ref().filter(|_| single) {
            let mut lines = Vec::new();
            for (i, member) in members.iter().enumerate() {
                if i == 0 && member.all.is_none() {
                    lines.extend(self.parts(name, member, notes));
                } else {
                    lines.push(self.criterion(name, member, notes));
                }
            }
            if lines.is_empty() {
                lines.push("any".to_owned());
            }
            return (false, lines);
        }
        (false, self.parts(name, m, notes))
    }

    /// Criteria that must all hold.
    fn parts(&mut self, name: &str, m: &MatchSpec, notes: &mut Here<'_>) -> Vec<String> {
        let mut rest = m.clone();
        let mut lines: Vec<String> = take_protocol(&mut rest, self.platform)
            .into_iter()
            .collect();
        if let Some(entries) = take_flow(&mut rest) {
            let list = self.list(name, &entries);
            lines.push(format!("access-group name {list}"));
        }
        for key in rest.split() {
            lines.push(self.criterion(name, &key, notes));
        }
        lines
    }

    /// The text after `match` for a condition.
    fn criterion(&mut self, name: &str, m: &MatchSpec, notes: &mut Here<'_>) -> String {
        if *m == MatchSpec::default() {
            return "any".to_owned();
        }
        let mut rest = m.clone();
        let line = take_protocol(&mut rest, self.platform);
        if let Some(line) = line.filter(|_| rest == MatchSpec::default()) {
            return line;
        }
        if let Some(values) = Values::of(m, notes).filter(|v| v.all.len() <= v.each) {
            return values.lines().concat();
        }
        let mut rest = m.clone();
        let flow = take_flow(&mut rest).filter(|_| rest == MatchSpec::default());
        if let Some(entries) = flow {
            let list = self.list(name, &entries);
            return format!("access-group name {list}");
        }
        let mut rest = m.clone();
        if let Some(entries) = rest.acl.take().filter(|_| rest == MatchSpec::default()) {
            if !entries.iter().all(|e| is_entry(&e.matching)) {
                return self.aside(name, &unfolded(&entries), notes);
            }
            let list = self.list(name, &entries);
            return format!("access-group name {list}");
        }
        let mut rest = m.clone();
        if let Some(inner) = rest.not.take().filter(|_| rest == MatchSpec::default()) {
            // No line excludes all packets: a list that permits none expresses it.
            if *inner == MatchSpec::default() {
                return format!("access-group name {}", self.list(name, &[]));
            }
            let inner = match inner.not {
                Some(_) => self.aside(name, &inner, notes),
                None => self.criterion(name, &inner, notes),
            };
            return format!("not {inner}");
        }
        self.aside(name, m, notes)
    }

    /// A class-map of its own.
    fn aside(&mut self, name: &str, m: &MatchSpec, notes: &mut Here<'_>) -> String {
        let inner = self.own(&format!("{name}-part"), m, notes);
        format!("class-map {}", quoted(&inner, notes))
    }

    /// The access list of these entries; its name.
    fn list(&mut self, name: &str, entries: &[AclEntry]) -> String {
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
        let mut n = self.lists.len() + 1;
        let mut called = format!("{base}-acl{n}");
        while self.taken.contains(&called) {
            n += 1;
            called = format!("{base}-acl{n}");
        }
        let _ = writeln!(self.acls, "ip access-list extended {called}");
        let mut written = 0;
        for entry in entries {
            let lines = acl_lines(entry);
            self.failed |= lines.is_none();
            for line in lines.into_iter().flatten() {
                written += 1;
                let _ = writeln!(self.acls, " {line}");
            }
            self.failed |= written > MAX_ENTRIES;
            if self.failed {
                break;
            }
        }
        if written == 0 {
            // An empty list would permit everything.
            let _ = writeln!(self.acls, " deny ip any any");
        }
        self.lists.push((entries.to_vec(), called.clone()));
        called
    }
}

/// A condition that is a list of values of one field.
struct Values {
    field: &'static str,
    all: Vec<String>,
    /// How many of them one line takes.
    each: usize,
}

impl Values {
    fn of(m: &MatchSpec, notes: &mut Here<'_>) -> Option<Self> {
        fn values<T: ToString>(
            field: &'static str,
            each: usize,
            list: &Option<OneOrMany<T>>,
        ) -> Option<Values> {
            let all = list.as_ref()?.0.iter().map(T::to_string).collect();
            Some(Values { field, all, each })
        }
        if m.clone().split().count() != 1 {
            return None;
        }
        let mut only = values("dscp", DSCPS, &m.dscp)
            .or_else(|| values("precedence", PRECEDENCES, &m.precedence))
            .or_else(|| values(EXP, EXPS, &m.exp))
            .or_else(|| values("cos", COS, &m.cos))
            .or_else(|| values("qos-group", 1, &m.qos_group))
            .or_else(|| values(INPUT, 1, &m.input))?;
        if only.field == INPUT {
            only.all.iter_mut().for_each(|n| *n = quoted(n, notes));
        }
        Some(only)
    }

    fn lines(&self) -> Vec<String> {
        in_lines(self.field, &self.all, self.each)
    }
}

/// A block as it stands.
fn block(name: &BlockName, block: &OriginalBlock, notes: &mut Here<'_>) -> String {
    let mut text = String::new();
    let indent = match &block.head {
        Some(head) => {
            let _ = match name {
                BlockName::ClassMap(n) => writeln!(text, "{head} {}", quoted(n, notes)),
                BlockName::List(_) | BlockName::Group(_) => writeln!(text, "{head}"),
            };
            " "
        }
        None => "",
    };
    for line in &block.lines {
        let _ = writeln!(text, "{indent}{line}");
    }
    text
}

/// Whether a condition is a list of values of one field that reading back gathers.
fn is_values(m: &MatchSpec) -> bool {
    m.clone().split().count() == 1
        && (m.dscp.is_some() || m.precedence.is_some() || m.exp.is_some())
}

pub(super) fn words<T: ToString>(field: &str, values: &[T]) -> String {
    let values: Vec<String> = values.iter().map(T::to_string).collect();
    format!("{field} {}", values.join(" "))
}

fn in_lines<T: ToString>(field: &str, values: &[T], each: usize) -> Vec<String> {
    values.chunks(each).map(|v| words(field, v)).collect()
}
