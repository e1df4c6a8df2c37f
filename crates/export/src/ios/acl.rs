//! Entries of access lists as lines.

use spillgate_queueing::spec::{AclEntry, MatchSpec, NetSpec, OneOrMany, PortRange};

use super::matching::{MAX_ENTRIES, words};

/// Whether an entry of an access list can hold a condition: on addresses, protocol, ports, DSCP and
/// precedence.
pub(super) fn is_entry(m: &MatchSpec) -> bool {
    *m == MatchSpec {
        dscp: m.dscp.clone(),
        precedence: m.precedence.clone(),
        ..flow_of(m)
    }
}

/// What a condition asks of addresses, protocol and ports.
fn flow_of(m: &MatchSpec) -> MatchSpec {
    MatchSpec {
        src: m.src.clone(),
        dst: m.dst.clone(),
        protocol: m.protocol.clone(),
        sport: m.sport.clone(),
        dport: m.dport.clone(),
        ..MatchSpec::default()
    }
}

/// Moves the parts of a condition that one access list can express (addresses, protocol and ports)
/// into entries of a list.
pub(super) fn take_flow(m: &mut MatchSpec) -> Option<Vec<AclEntry>> {
    let flow = flow_of(m);
    let both = |member: &MatchSpec| {
        let mut own = flow_of(member);
        let whole = *member == own && own != MatchSpec::default();
        (whole && own.merge(flow.clone()).is_ok()).then_some(own)
    };
    let members = m.any.as_ref().filter(|_| flow != MatchSpec::default());
    let joined: Option<Vec<MatchSpec>> = members.and_then(|all| all.iter().map(both).collect());
    let conditions = match joined {
        Some(all) => {
            m.any = None;
            all
        }
        None if flow == MatchSpec::default() => return None,
        None => vec![flow],
    };
    (m.src, m.dst, m.protocol, m.sport, m.dport) = (None, None, None, None, None);
    let entry = |matching| AclEntry {
        permit: true,
        matching,
    };
    Some(conditions.into_iter().map(entry).collect())
}

/// A condition for an access list whose entries a router cannot express: IP packets that an entry
/// permits and no earlier entry denies.
pub(super) fn unfolded(entries: &[AclEntry]) -> MatchSpec {
    let of_ip = MatchSpec::acl(vec![AclEntry {
        permit: true,
        matching: MatchSpec::default(),
    }]);
    let mut denied: Vec<MatchSpec> = Vec::new();
    let mut permitted = Vec::new();
    for entry in entries {
        let own = entry.matching.clone();
        if entry.permit {
            let parts = [own, of_ip.clone()].into_iter();
            let all: Vec<_> = parts.chain(denied.iter().cloned()).collect();
            permitted.push(MatchSpec::all(all));
        } else {
            denied.push(MatchSpec::not(own));
        }
    }
    match permitted.is_empty() {
        true => MatchSpec::nothing(),
        false => MatchSpec::any(permitted),
    }
}

/// An entry of an access list as lines; none if it cannot be one, or would be too many.
pub(super) fn acl_lines(entry: &AclEntry) -> Option<Vec<String>> {
    let m = &entry.matching;
    if !is_entry(m) {
        return None;
    }
    let verb = if entry.permit { "permit" } else { "deny" };
    let has_ports = m.sport.is_some() || m.dport.is_some();
    // Ports are those of TCP, UDP and SCTP.
    let protocols: Vec<Option<u8>> = match &m.protocol {
        Some(OneOrMany(p)) => p
            .iter()
            .map(|p| Some(p.0))
            .filter(|p| !has_ports || matches!(p, Some(6 | 17 | 132)))
            .collect(),
        None if has_ports => vec![Some(6), Some(17), Some(132)],
        None => vec![None],
    };
    let conditions = type_of_service(m);
    let mut lines = Vec::new();
    for protocol in protocols {
        for src in nets(&m.src) {
            for sport in ports(&m.sport) {
                for dst in nets(&m.dst) {
                    for dport in ports(&m.dport) {
                        for condition in &conditions {
                            let protocol = protocol_word(protocol);
                            lines.push(format!(
                                "{verb} {protocol} {src}{sport} {dst}{dport}{condition}"
                            ));
                            if lines.len() > MAX_ENTRIES {
                                return None;
                            }
                        }
                    }
                }
            }
        }
    }
    Some(lines)
}

fn protocol_word(protocol: Option<u8>) -> String {
    match protocol {
        None => "ip".to_owned(),
        Some(1) => "icmp".to_owned(),
        Some(6) => "tcp".to_owned(),
        Some(17) => "udp".to_owned(),
        Some(132) => "sctp".to_owned(),
        Some(n) => n.to_string(),
    }
}

fn nets(list: &Option<OneOrMany<NetSpec>>) -> Vec<String> {
    let Some(OneOrMany(list)) = list else {
        return vec!["any".to_owned()];
    };
    let word = |n: &NetSpec| {
        let address = std::net::Ipv4Addr::from(n.0.addr);
        match n.0.mask {
            0 => "any".to_owned(),
            u32::MAX => format!("host {address}"),
            mask => format!("{address} {}", std::net::Ipv4Addr::from(!mask)),
        }
    };
    list.iter().map(word).collect()
}

/// Ports as operators, each with a space before it; several if one operator is not enough.
fn ports(list: &Option<OneOrMany<PortRange>>) -> Vec<String> {
    let Some(OneOrMany(list)) = list else {
        return vec![String::new()];
    };
    if list.iter().all(|r| r.first == r.last) {
        return vec![format!(
            " {}",
            words("eq", &list.iter().map(|r| r.first).collect::<Vec<_>>())
        )];
    }
    if let [low, high] = list[..] {
        let gap = u32::from(low.last) + 2 == u32::from(high.first);
        if low.first == 0 && high.last == u16::MAX && gap {
            return vec![format!(" neq {}", low.last + 1)];
        }
    }
    let word = |r: &PortRange| match (r.first, r.last) {
        (a, b) if a == b => format!(" eq {a}"),
        (a, u16::MAX) if a > 0 => format!(" gt {}", a - 1),
        (0, b) if b < u16::MAX => format!(" lt {}", b + 1),
        (a, b) => format!(" range {a} {b}"),
    };
    list.iter().map(word).collect()
}

/// DSCP, precedence and ToS, each with a space before it; several if one line is not enough.
fn type_of_service(m: &MatchSpec) -> Vec<String> {
    let precedences: Vec<String> = match &m.precedence {
        None => vec![String::new()],
        Some(OneOrMany(p)) => p.iter().map(|p| format!(" precedence {p}")).collect(),
    };
    let dscps: Vec<String> = match &m.dscp {
        None => vec![String::new()],
        Some(OneOrMany(d)) => match tos(d.iter().map(|d| d.value())) {
            Some(tos) => vec![format!(" tos {tos}")],
            None => d.iter().map(|d| format!(" dscp {d}")).collect(),
        },
    };
    let pair = |p: &String| dscps.iter().map(|d| format!("{p}{d}")).collect::<Vec<_>>();
    precedences.iter().flat_map(pair).collect()
}

/// The ToS bits whose DSCPs these are, one for each precedence (RFC 1349, RFC 2474).
fn tos(mut dscps: impl ExactSizeIterator<Item = u8>) -> Option<u8> {
    if dscps.len() != 8 {
        return None;
    }
    let first = dscps.next()?;
    let all = first < 8
        && dscps
            .zip(1..)
            .all(|(d, precedence)| d == precedence << 3 | first);
    all.then_some(first << 1)
}
