//! Lines as they stand, kept beside what they became.

use std::collections::{BTreeMap, BTreeSet};

use spillgate_queueing::spec::DisciplineSpec;
use spillgate_scenario::Imported;
use spillgate_scenario::originals::{
    BlockName, OriginalBlock, OriginalClass, OriginalMatch, Originals,
};

use super::super::ast::{Acl, AclKind, ClassMap, Config, GroupKind, ObjectGroup, Owner, Test};
use super::super::ports::ports;
use super::matching::MAX_DEPTH;

/// The lines that `imported` came from; `listed`: the numbers of lines without full effect.
pub(super) fn of(config: &Config<'_>, imported: &Imported, listed: &BTreeSet<u32>) -> Originals {
    let mut originals = Originals::default();
    classes(config, imported, listed, &mut originals);
    blocks(config, &mut originals);
    elsewhere(config, listed, &mut originals);
    originals
}

fn classes(
    config: &Config<'_>,
    imported: &Imported,
    listed: &BTreeSet<u32>,
    originals: &mut Originals,
) {
    let mut lines: BTreeMap<(&str, &str), (bool, Vec<String>)> = BTreeMap::new();
    for said in &config.said {
        if let Owner::Class { policy, class } = said.owner {
            let (lost, own) = lines.entry((policy, class)).or_default();
            *lost |= listed.contains(&said.line);
            own.push(said.text.to_owned());
        }
    }
    for (name, map) in &config.policy_maps {
        let Some(DisciplineSpec::ClassBased(policy)) = imported.policies.get(*name) else {
            continue;
        };
        for class in &map.classes {
            let called = class.name.replace('/', "_");
            let Some(spec) = policy.classes.iter().find(|c| c.name == called) else {
                continue;
            };
            let map = config.class_maps.get(class.name);
            if let (Some(map), Some(condition)) = (map, &spec.matching) {
                let original = OriginalMatch {
                    condition: condition.clone(),
                    block: class_map(map),
                    lost: lost(map, config, 0).map(str::to_owned),
                };
                originals.class_maps.insert(called.clone(), original);
            }
            let colors = class.police.iter().flat_map(|p| {
                let names = [p.value.conform_color, p.value.exceed_color];
                names.into_iter().flatten().map(|c| c.value)
            });
            if let Some((true, lines)) = lines.remove(&(*name, class.name)) {
                let original = OriginalClass {
                    spec: spec.clone(),
                    lines,
                    names: colors.map(|c| BlockName::ClassMap(c.to_owned())).collect(),
                };
                let key = ((*name).to_owned(), called);
                originals.classes.insert(key, original);
            }
        }
    }
}

/// What class-maps name, wherever it is named.
fn blocks(config: &Config<'_>, originals: &mut Originals) {
    let maps = originals.class_maps.values().map(|m| &m.block.names);
    let classes = originals.classes.values().map(|c| &c.names);
    let mut open: Vec<BlockName> = maps.chain(classes).flatten().cloned().collect();
    while let Some(name) = open.pop() {
        if originals.blocks.contains_key(&name) {
            continue;
        }
        let block = match &name {
            BlockName::ClassMap(n) => config.class_maps.get(n.as_str()).map(class_map),
            BlockName::List(n) => config.acls.get(n.as_str()).map(|l| list(n, l, config)),
            BlockName::Group(n) => config.groups.get(n.as_str()).map(|g| group(n, g, config)),
        };
        if let Some(block) = block {
            open.extend(block.names.iter().cloned());
            originals.blocks.insert(name, block);
        }
    }
}

/// The first criterion of a class-map that is not modelled, or of those inside it.
fn lost<'a>(map: &ClassMap<'a>, config: &Config<'a>, depth: usize) -> Option<&'a str> {
    map.criteria.iter().find_map(|c| match c.value.test {
        Test::Unmodelled => Some(c.origin.text),
        Test::ClassMap(name) if depth < MAX_DEPTH => {
            lost(config.class_maps.get(name)?, config, depth + 1)
        }
        _ => None,
    })
}

fn class_map(map: &ClassMap<'_>) -> OriginalBlock {
    let any = if map.any { "match-any" } else { "match-all" };
    let criteria = map.criteria.iter();
    let names = criteria.clone().filter_map(|c| match c.value.test {
        Test::ClassMap(name) => Some(BlockName::ClassMap(name.to_owned())),
        Test::Acl(name) => Some(BlockName::List(name.to_owned())),
        _ => None,
    });
    OriginalBlock {
        head: Some(format!("class-map {any}")),
        names: names.collect(),
        lines: criteria.map(|c| c.origin.text.to_owned()).collect(),
    }
}

/// An access list; its entries have their numbers where the file has them.
fn list(name: &str, list: &Acl<'_>, config: &Config<'_>) -> OriginalBlock {
    let lines = list.lines.values().map(|l| l.rest.line());
    let text: Vec<String> = lines.map(|l| l.text().to_owned()).collect();
    let numbered = text.first().is_some_and(|l| l.starts_with("access-list "));
    let quoted = match name.contains(char::is_whitespace) {
        true => format!("\"{name}\""),
        false => name.to_owned(),
    };
    let head = match list.kind {
        AclKind::Standard => format!("ip access-list standard {quoted}"),
        AclKind::Extended => format!("ip access-list extended {quoted}"),
        AclKind::Foreign("IPv6") => format!("ipv6 access-list {quoted}"),
        AclKind::Foreign(_) => format!("mac access-list extended {quoted}"),
    };
    OriginalBlock {
        head: (!numbered).then_some(head),
        names: groups(&text, config),
        lines: text,
    }
}

fn group(name: &str, group: &ObjectGroup<'_>, config: &Config<'_>) -> OriginalBlock {
    let lines = group.lines.iter().map(|w| w.line().text().to_owned());
    let lines: Vec<String> = lines.collect();
    let kind = match group.kind {
        GroupKind::Network => "network",
        GroupKind::Service => "service",
    };
    OriginalBlock {
        head: Some(format!("object-group {kind} {name}")),
        names: groups(&lines, config),
        lines,
    }
}

/// The object groups among the words of lines.
fn groups(lines: &[String], config: &Config<'_>) -> Vec<BlockName> {
    let words = lines.iter().flat_map(|l| l.split_whitespace());
    let known = words.filter(|w| config.groups.contains_key(w));
    known.map(|w| BlockName::Group(w.to_owned())).collect()
}

/// Listed lines of interfaces and of blocks that are skipped.
fn elsewhere(config: &Config<'_>, listed: &BTreeSet<u32>, originals: &mut Originals) {
    let all = ports(config);
    for said in config.said.iter().filter(|s| listed.contains(&s.line)) {
        let text = said.text.to_owned();
        match said.owner {
            Owner::Class { .. } => {}
            Owner::Interface(index, circuit) => {
                let Some(interface) = config.interfaces.get(index) else {
                    continue;
                };
                let vc = circuit
                    .and_then(|c| interface.circuits.get(c))
                    .map(|c| c.vc);
                let port = all.iter().find(|p| {
                    let own = p.circuit.as_ref().map(|(c, _)| c.vc);
                    p.interface.name == interface.name && (vc.is_none() || own == vc)
                });
                let name = port.map_or(interface.name.as_str(), |p| p.name.as_str());
                let lines = originals.interfaces.entry(name.to_owned()).or_default();
                lines.push((circuit.is_some(), text));
            }
            Owner::Block(head) => match originals.rest.last_mut() {
                Some((Some(last), lines)) if last == head => lines.push(text),
                _ => originals.rest.push((Some(head.to_owned()), vec![text])),
            },
            Owner::Nobody => originals.rest.push((None, vec![text])),
        }
    }
}
