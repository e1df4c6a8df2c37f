//! Conditions on packets, alone and combined.

use spillgate_queueing::spec::{MatchSpec, Protocol};

use super::super::protocols::{Known, known_protocols};

pub(super) fn extend_new<T: Copy + PartialEq>(list: &mut Vec<T>, more: &[T]) {
    for value in more {
        if !list.contains(value) {
            list.push(*value);
        }
    }
}

/// The values, each once.
pub(super) fn unique<T: Copy + PartialEq>(values: &[T]) -> Vec<T> {
    let mut unique = Vec::new();
    extend_new(&mut unique, values);
    unique
}

/// A protocol by its carriers and ports; to the port, and from it where replies belong to it.
pub(super) fn protocol(known: &Known) -> MatchSpec {
    let mut spec = MatchSpec::default();
    if !known.carriers.is_empty() {
        let carriers: Vec<_> = known.carriers.iter().map(|p| Protocol(*p)).collect();
        spec = MatchSpec::protocol(carriers);
    }
    let ports = known.ranges();
    if !ports.is_empty() && known.both_ways {
        let either = [MatchSpec::dport(ports.clone()), MatchSpec::sport(ports)];
        spec.any = Some(either.into());
    } else if !ports.is_empty() {
        spec.dport = Some(ports.into());
    }
    spec
}

/// The name under which `match protocol` means exactly these packets, if there is one.
pub fn protocol_name(m: &MatchSpec) -> Option<&'static str> {
    (*m != MatchSpec::default())
        .then(|| known_protocols().iter().find(|k| protocol(k) == *m))?
        .map(|k| k.name)
}

/// One of `specs` at least; none if there are none.
pub(super) fn any(mut specs: Vec<MatchSpec>, everything: bool) -> Option<MatchSpec> {
    if everything {
        return Some(MatchSpec::default());
    }
    match specs.len() {
        0 | 1 => specs.pop(),
        _ => Some(MatchSpec::any(specs)),
    }
}

/// All of `specs`; none if there are none.
pub(super) fn all(specs: Vec<MatchSpec>, everything: bool) -> Option<MatchSpec> {
    let mut rest = Vec::new();
    let mut merged: Option<MatchSpec> = everything.then(MatchSpec::default);
    for spec in specs {
        match &mut merged {
            None => merged = Some(spec),
            Some(m) => {
                if let Err(spec) = m.merge(spec) {
                    rest.push(*spec);
                }
            }
        }
    }
    let merged = merged?;
    if rest.is_empty() {
        return Some(merged);
    }
    rest.insert(0, merged);
    Some(MatchSpec::all(rest))
}
