//! Conditions on packets, alone and combined.

use spillgate_core::Dscp;
use spillgate_queueing::spec::{MatchSpec, OneOrMany, Protocol};

use super::super::protocols::{Known, known_protocols};

/// A condition that holds for no packet.
pub(super) fn nothing() -> MatchSpec {
    MatchSpec {
        not: Some(Box::default()),
        ..MatchSpec::default()
    }
}

pub(super) fn extend_new<T: Copy + PartialEq>(list: &mut Vec<T>, more: &[T]) {
    for value in more {
        if !list.contains(value) {
            list.push(*value);
        }
    }
}

pub(super) fn dscp(values: Vec<Dscp>) -> MatchSpec {
    MatchSpec {
        dscp: Some(OneOrMany(values)),
        ..MatchSpec::default()
    }
}

pub(super) fn precedence(values: Vec<u8>) -> MatchSpec {
    MatchSpec {
        precedence: Some(OneOrMany(values)),
        ..MatchSpec::default()
    }
}

pub(super) fn exp(values: Vec<u8>) -> MatchSpec {
    MatchSpec {
        exp: Some(OneOrMany(values)),
        ..MatchSpec::default()
    }
}

pub(super) fn cos(values: Vec<u8>) -> MatchSpec {
    MatchSpec {
        cos: Some(OneOrMany(values)),
        ..MatchSpec::default()
    }
}

pub(super) fn qos_group(values: Vec<u16>) -> MatchSpec {
    MatchSpec {
        qos_group: Some(OneOrMany(values)),
        ..MatchSpec::default()
    }
}

/// Packets that came in by an interface.
pub(super) fn input(name: &str) -> MatchSpec {
    MatchSpec {
        input: Some(OneOrMany(vec![name.to_owned()])),
        ..MatchSpec::default()
    }
}

/// A protocol by its carriers and ports; to the port, and from it where replies belong to it.
pub(super) fn protocol(known: &Known) -> MatchSpec {
    let carriers = known.carriers.iter().map(|p| Protocol(*p)).collect();
    let base = MatchSpec {
        protocol: (!known.carriers.is_empty()).then_some(OneOrMany(carriers)),
        ..MatchSpec::default()
    };
    let ports = known.ranges();
    if ports.is_empty() {
        return base;
    }
    if !known.both_ways {
        return MatchSpec {
            dport: Some(OneOrMany(ports)),
            ..base
        };
    }
    let either = vec![
        MatchSpec {
            dport: Some(OneOrMany(ports.clone())),
            ..MatchSpec::default()
        },
        MatchSpec {
            sport: Some(OneOrMany(ports)),
            ..MatchSpec::default()
        },
    ];
    MatchSpec {
        any: Some(either),
        ..base
    }
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
        _ => Some(MatchSpec {
            any: Some(specs),
            ..MatchSpec::default()
        }),
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
                if let Err(spec) = merge(m, spec) {
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
    Some(MatchSpec {
        all: Some(rest),
        ..MatchSpec::default()
    })
}

/// Adds the keys of `b` to `a`, unless a key is in both: keys of one condition must all hold.
fn merge(a: &mut MatchSpec, b: MatchSpec) -> Result<(), Box<MatchSpec>> {
    macro_rules! keys {
        ($($key:ident),+) => {
            if $((a.$key.is_some() && b.$key.is_some()))||+ {
                return Err(Box::new(b));
            }
            // Named one by one, so that no key that is added to conditions is lost here.
            let MatchSpec { $($key),+ } = b;
            $(if $key.is_some() { a.$key = $key; })+
        };
    }
    keys!(
        dscp, precedence, exp, cos, qos_group, input, src, dst, protocol, sport, dport, any, all,
        not, acl
    );
    Ok(())
}
