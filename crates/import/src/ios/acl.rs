//! Lines of IPv4 access lists, standard and extended.
//!
//! Lists are read only where a class-map names them: a configuration may
//! hold any number that have nothing to do with queueing.

use std::net::Ipv4Addr;
use std::sync::LazyLock;

use spillgate_core::{Dscp, Ipv4Net};
use spillgate_queueing::spec::{AclEntry, MatchSpec, NetSpec, OneOrMany, PortRange, Protocol};

use super::args::{Args, Modelled, unexpected};
use super::ast::AclKind;
use super::fault::{Fault, Refusal, code, unmodelled};
use super::keyword::{Found, Keywords, find, table};
use super::lexer::Word;
use super::lower::MAX_ENTRIES;
use super::protocols::{ACL_PROTOCOLS, TCP_PORTS, UDP_PORTS};

/// The entries of a line, and a remark if they differ slightly from the meaning on the router.
#[derive(Debug, PartialEq)]
pub(crate) struct ParsedEntry {
    /// One, or one for each member of object groups.
    pub(crate) entries: Vec<AclEntry>,
    pub(crate) remark: Option<&'static str>,
}

/// The members of object groups; none if a group matches everything.
pub(crate) trait ObjectGroups<'a> {
    /// The addresses of one.
    fn network(&mut self, name: Word<'a>) -> Result<Option<Vec<NetSpec>>, Refusal>;
    /// The protocols and ports of one.
    fn service(&mut self, name: Word<'a>) -> Result<Option<Vec<MatchSpec>>, Refusal>;
}

/// What follows `permit` or `deny`.
pub(crate) fn entry<'a>(
    kind: AclKind,
    permit: bool,
    args: &mut Args<'a>,
    groups: &mut dyn ObjectGroups<'a>,
) -> Result<ParsedEntry, Refusal> {
    let (all, remark) = match kind {
        AclKind::Standard => (vec![standard(args)?], None),
        AclKind::Extended => extended(args, groups)?,
        AclKind::Foreign(family) => {
            return unmodelled(format!("{family} access lists are not modelled"));
        }
    };
    let entries = spread(all)?.into_iter();
    let entries = entries.map(|matching| AclEntry { permit, matching });
    Ok(ParsedEntry {
        entries: entries.collect(),
        remark,
    })
}

/// A condition for each pair of addresses: the router makes so many entries of one with object
/// groups, too.
fn spread(all: Vec<MatchSpec>) -> Result<Vec<MatchSpec>, Refusal> {
    let len = |n: &Option<OneOrMany<NetSpec>>| n.as_ref().map_or(1, |OneOrMany(n)| n.len());
    let count = all.iter().map(|m| len(&m.src).saturating_mul(len(&m.dst)));
    if count.fold(0, usize::saturating_add) > MAX_ENTRIES {
        let message = format!("the object groups of one line make more than {MAX_ENTRIES} entries");
        let fault = Fault::new(code::TOO_LARGE, 1, message);
        return Err(fault.hint("name smaller groups").into());
    }
    let each = |n: &Option<OneOrMany<NetSpec>>| match n {
        None => vec![None],
        Some(OneOrMany(nets)) => nets.iter().map(|n| one(Some(*n))).collect(),
    };
    let pairs = |m: MatchSpec| {
        let (sources, targets) = (each(&m.src), each(&m.dst));
        let mut spread = Vec::with_capacity(sources.len() * targets.len());
        for src in sources {
            for dst in &targets {
                let (src, dst) = (src.clone(), dst.clone());
                let rest = m.clone();
                spread.push(MatchSpec { src, dst, ..rest });
            }
        }
        spread
    };
    Ok(all.into_iter().flat_map(pairs).collect())
}

/// `{any | host A | A [WILDCARD]} [log]`.
fn standard(args: &mut Args<'_>) -> Result<MatchSpec, Refusal> {
    let src = if args.take("any") {
        None
    } else if args.take("host") {
        one(host(args.address(HOST)?))
    } else {
        let a = args.address("any, host and an address, or an address with a wildcard mask")?;
        let wildcard = match args.at_number() {
            true => args.address(WILDCARD)?,
            false => Ipv4Addr::UNSPECIFIED,
        };
        one(net(a, wildcard))
    };
    log(args);
    args.finish()?;
    Ok(MatchSpec {
        src,
        ..MatchSpec::default()
    })
}

const HOST: &str = "the host's address";
const WILDCARD: &str = "a wildcard mask such as 0.0.0.255";

fn log(args: &mut Args<'_>) {
    if args.take("log log-input") {
        // A cookie may follow.
        args.next();
    }
}

pub(crate) fn host(a: Ipv4Addr) -> Option<NetSpec> {
    net(a, Ipv4Addr::UNSPECIFIED)
}

/// None for a wildcard that leaves every bit open.
fn net(a: Ipv4Addr, wildcard: Ipv4Addr) -> Option<NetSpec> {
    let mask = !u32::from(wildcard);
    (mask != 0).then(|| NetSpec(Ipv4Net::new(a, mask)))
}

fn one<T>(value: Option<T>) -> Option<OneOrMany<T>> {
    value.map(|v| OneOrMany(vec![v]))
}

/// `any`, `host A`, `A WILDCARD`, `object-group NAME` or, as IOS XR writes it, `A/LENGTH` and
/// `net-group NAME`; none for any.
fn address<'a>(
    args: &mut Args<'a>,
    groups: &mut dyn ObjectGroups<'a>,
) -> Result<Option<OneOrMany<NetSpec>>, Refusal> {
    const GROUPS: [(&str, ()); 2] = [("object-group", ()), ("net-group", ())];
    if args.try_keyword(&GROUPS).is_some() {
        let name = args.name("the name of an object group")?;
        return Ok(groups.network(name)?.map(OneOrMany));
    }
    address_alone(args).map(one)
}

fn address_alone(args: &mut Args<'_>) -> Result<Option<NetSpec>, Refusal> {
    if args.take("any") {
        return Ok(None);
    }
    if args.take("host") {
        return Ok(host(args.address(HOST)?));
    }
    let prefix = args
        .peek()
        .filter(|w| w.text.contains('/'))
        .and_then(|w| w.text.parse::<NetSpec>().ok());
    if let Some(prefix) = prefix {
        args.next();
        return Ok((prefix.0 != Ipv4Net::new(Ipv4Addr::UNSPECIFIED, 0)).then_some(prefix));
    }
    let a = args.address("any, host and an address, or an address and a wildcard mask")?;
    Ok(net(a, args.address(WILDCARD)?))
}

#[derive(Clone, Copy, PartialEq)]
enum Operator {
    Eq,
    Neq,
    Gt,
    Lt,
    Range,
}

const OPERATORS: [(&str, Operator); 5] = [
    ("eq", Operator::Eq),
    ("neq", Operator::Neq),
    ("gt", Operator::Gt),
    ("lt", Operator::Lt),
    ("range", Operator::Range),
];

fn port_names(protocol: u8) -> &'static [(&'static str, u16)] {
    match protocol {
        6 => &TCP_PORTS,
        17 => &UDP_PORTS,
        _ => &[],
    }
}

pub(crate) fn port(args: &mut Args<'_>, protocol: u8) -> Result<u16, Refusal> {
    match args.try_number("a port", 0..=65535)? {
        Some(n) => Ok(n as u16),
        None => args.keyword(port_names(protocol), "a port by name or number"),
    }
}

/// Whether the next word is one more port of an `eq` list.
fn port_follows(args: &Args<'_>, protocol: u8) -> bool {
    args.peek().is_some_and(|w| {
        // An address has dots; a keyword such as `host` must not pass for an abbreviated port.
        w.text.bytes().all(|b| b.is_ascii_digit())
            || matches!(find(port_names(protocol), w.text), Found::Exact(_))
    })
}

pub(crate) fn ports(
    args: &mut Args<'_>,
    protocol: u8,
) -> Result<Option<OneOrMany<PortRange>>, Refusal> {
    if !matches!(protocol, 6 | 17 | 132) {
        return Ok(None);
    }
    let Some(operator) = args.try_keyword(&OPERATORS) else {
        return Ok(None);
    };
    let range = |first, last| PortRange { first, last };
    let word = args.peek();
    let first = port(args, protocol)?;
    let empty = || match word {
        Some(w) => unexpected(w, "a port that leaves others"),
        None => Refusal::Unmodelled("no port is left".to_owned()),
    };
    let ranges = match operator {
        Operator::Eq => {
            let mut all = vec![range(first, first)];
            while port_follows(args, protocol) {
                let p = port(args, protocol)?;
                all.push(range(p, p));
            }
            all
        }
        Operator::Neq => {
            let below = first.checked_sub(1).map(|p| range(0, p));
            let above = first.checked_add(1).map(|p| range(p, u16::MAX));
            below.into_iter().chain(above).collect()
        }
        Operator::Gt => vec![range(first.checked_add(1).ok_or_else(empty)?, u16::MAX)],
        Operator::Lt => vec![range(0, first.checked_sub(1).ok_or_else(empty)?)],
        Operator::Range => {
            let last = port(args, protocol)?;
            // IOS stores the ends of a range in order, however they were typed.
            vec![range(first.min(last), first.max(last))]
        }
    };
    Ok(Some(OneOrMany(ranges)))
}

#[derive(Clone, Copy, PartialEq)]
enum Condition {
    Dscp,
    Precedence,
    Tos,
    Log,
    Established,
}

static CONDITIONS: Keywords<Modelled<Condition>> = LazyLock::new(|| {
    table(&[
        (Ok(Condition::Dscp), "dscp"),
        (Ok(Condition::Precedence), "precedence"),
        (Ok(Condition::Tos), "tos"),
        (Ok(Condition::Log), "log log-input"),
        (Ok(Condition::Established), "established"),
        (
            Err("TCP flags are not simulated; the entry is left out"),
            "ack fin match-all match-any psh rst syn urg",
        ),
        (
            Err("fragments are not simulated; the entry is left out"),
            "fragments",
        ),
        (
            Err("IP options are not simulated; the entry is left out"),
            "option",
        ),
        (
            Err("reflexive access lists are not modelled; the entry is left out"),
            "reflect",
        ),
        (
            Err("times of day are not simulated; the entry is left out"),
            "time-range",
        ),
        (Err("TTL is not simulated; the entry is left out"), "ttl"),
    ])
});

/// `{PROTOCOL | object-group NAME} SRC [PORTS] DST [PORTS] [CONDITIONS]`.
fn extended<'a>(
    args: &mut Args<'a>,
    groups: &mut dyn ObjectGroups<'a>,
) -> Result<(Vec<MatchSpec>, Option<&'static str>), Refusal> {
    if args.take("object-group") {
        let name = args.name("the name of an object group")?;
        // The addresses are judged first, as they are in the rest of the list.
        let (rest, remark) = conditions(0, true, args, groups)?;
        let of = |s: MatchSpec| MatchSpec {
            protocol: s.protocol,
            sport: s.sport,
            dport: s.dport,
            ..rest.clone()
        };
        let all = match groups.service(name)? {
            Some(services) => services.into_iter().map(of).collect(),
            None => vec![rest],
        };
        return Ok((all, remark));
    }
    const PROTOCOL: &str = "a protocol: ip, tcp, udp, icmp or a number";
    let mut ahead = *args;
    let any_protocol = ahead.take_exact("ip ipv4");
    let protocol = match args.try_number("a protocol number", 0..=255)? {
        Some(n) => n as u8,
        None => args.keyword(&ACL_PROTOCOLS, PROTOCOL)?,
    };
    let (spec, remark) = conditions(protocol, any_protocol, args, groups)?;
    Ok((vec![spec], remark))
}

/// What follows the protocol.
fn conditions<'a>(
    protocol: u8,
    any_protocol: bool,
    args: &mut Args<'a>,
    groups: &mut dyn ObjectGroups<'a>,
) -> Result<(MatchSpec, Option<&'static str>), Refusal> {
    let src = address(args, groups)?;
    let sport = ports(args, protocol)?;
    let dst = address(args, groups)?;
    let dport = ports(args, protocol)?;
    let mut spec = MatchSpec {
        protocol: (!any_protocol).then(|| OneOrMany(vec![Protocol(protocol)])),
        src,
        sport,
        dst,
        dport,
        ..MatchSpec::default()
    };
    let mut remark = None;
    while let Some(word) = args.peek() {
        let what = "dscp, precedence, tos, established or log";
        match find(&CONDITIONS, word.text) {
            Found::Exact(c) | Found::Prefix(c) => {
                args.next();
                condition(c.or_else(unmodelled)?, args, &mut spec, &mut remark)?;
            }
            _ if matches!(protocol, 1 | 2) => {
                return unmodelled("ICMP and IGMP types are not simulated; the entry is left out");
            }
            Found::Ambiguous(names) => return Err(super::args::ambiguous(word, &names)),
            Found::None => return Err(unexpected(word, what)),
        }
    }
    Ok((spec, remark))
}

fn condition(
    condition: Condition,
    args: &mut Args<'_>,
    spec: &mut MatchSpec,
    remark: &mut Option<&'static str>,
) -> Result<(), Refusal> {
    match condition {
        Condition::Dscp => spec.dscp = Some(OneOrMany(vec![args.dscp()?])),
        Condition::Precedence => spec.precedence = Some(OneOrMany(vec![args.precedence()?])),
        Condition::Tos => {
            let tos = tos(args)?;
            if tos & 1 == 1 || spec.dscp.is_some() {
                return unmodelled(
                    "the lowest bit of ToS is now one of ECN (RFC 3168); the entry is left out",
                );
            }
            // The upper three of the four ToS bits are the lower three of the DSCP (RFC 1349,
            // RFC 2474).
            spec.dscp = Some(OneOrMany(
                (0..8)
                    .filter_map(|precedence| Dscp::new(precedence << 3 | tos >> 1))
                    .collect(),
            ));
        }
        Condition::Log => while args.next().is_some() {},
        Condition::Established => {
            *remark = Some("TCP flags are not simulated: taken for every TCP packet");
        }
    }
    Ok(())
}

fn tos(args: &mut Args<'_>) -> Result<u8, Refusal> {
    const NAMES: [(&str, u8); 5] = [
        ("max-reliability", 2),
        ("max-throughput", 4),
        ("min-delay", 8),
        ("min-monetary-cost", 1),
        ("normal", 0),
    ];
    match args.try_number("a type of service", 0..=15)? {
        Some(n) => Ok(n as u8),
        None => args.keyword(&NAMES, "a type of service: 0 to 15, or normal to min-delay"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::lexer::lines;
    use super::*;

    /// Two groups of addresses, and two services.
    struct Some2;

    impl<'a> ObjectGroups<'a> for Some2 {
        fn network(&mut self, name: Word<'a>) -> Result<Option<Vec<NetSpec>>, Refusal> {
            Ok(match name.text {
                "ANY" => None,
                _ => Some(vec![
                    "10.0.0.0/24".parse().unwrap(),
                    "10.9.0.1".parse().unwrap(),
                ]),
            })
        }

        fn service(&mut self, _: Word<'a>) -> Result<Option<Vec<MatchSpec>>, Refusal> {
            let of = |p: u8| MatchSpec {
                protocol: Some(OneOrMany(vec![Protocol(p)])),
                ..MatchSpec::default()
            };
            Ok(Some(vec![of(6), of(47)]))
        }
    }

    fn parse(kind: AclKind, text: &str) -> Result<ParsedEntry, Refusal> {
        let mut args = Args::new(lines(text).next().unwrap().words());
        entry(kind, true, &mut args, &mut Some2)
    }

    #[test]
    fn object_groups_stand_for_what_they_hold() {
        for (text, expected) in [
            (
                "tcp object-group A any eq 80",
                "{src:10.0.0.0/24,protocol:tcp,dport:80} {src:10.9.0.1/32,protocol:tcp,dport:80}",
            ),
            ("ip object-group ANY object-group ANY", "{}"),
            (
                "ip any net-group A dscp ef",
                "{dscp:ef,dst:10.0.0.0/24} {dscp:ef,dst:10.9.0.1/32}",
            ),
            (
                "object-group S host 10.0.0.1 any",
                "{src:10.0.0.1/32,protocol:tcp} {src:10.0.0.1/32,protocol:gre}",
            ),
        ] {
            let got = parse(AclKind::Extended, text).unwrap();
            let got: Vec<String> = got.entries.iter().map(|e| shown(&e.matching)).collect();
            assert_eq!(got.join(" "), expected, "{text}");
        }
    }

    /// The entry as YAML-like text: `key: value` of each key given.
    fn shown(spec: &MatchSpec) -> String {
        serde_json::to_string(spec).unwrap().replace('"', "")
    }

    #[test]
    fn every_form_of_extended_entry() {
        let table = [
            ("ip any any", "{}"),
            ("tcp any any eq www", "{protocol:tcp,dport:80}"),
            ("tcp any eq 80 443 any", "{protocol:tcp,sport:[80,443]}"),
            (
                "udp any any range 16384 32767",
                "{protocol:udp,dport:16384-32767}",
            ),
            ("udp any any range 200 100", "{protocol:udp,dport:100-200}"),
            (
                "udp host 10.0.0.1 10.1.0.0 0.0.255.255 gt 1023",
                "{src:10.0.0.1/32,dst:10.1.0.0/16,protocol:udp,dport:1024-65535}",
            ),
            (
                "tcp any lt 1024 any neq telnet",
                "{protocol:tcp,sport:0-1023,dport:[0-22,24-65535]}",
            ),
            ("tcp any any neq 0", "{protocol:tcp,dport:1-65535}"),
            (
                "tcp any eq ftp ftp-data host 10.0.0.1",
                "{dst:10.0.0.1/32,protocol:tcp,sport:[21,20]}",
            ),
            (
                "ip 10.0.0.0 0.255.0.255 any",
                "{src:10.0.0.0 wildcard 0.255.0.255}",
            ),
            ("ip any any dscp ef log", "{dscp:ef}"),
            (
                "ip any any precedence critical log-input cookie",
                "{precedence:5}",
            ),
            (
                "ip any any tos min-delay",
                "{dscp:[4,af12,af22,af32,af42,voice-admit,52,60]}",
            ),
            ("89 any any", "{protocol:ospf}"),
            ("esp any 0.0.0.0 255.255.255.255", "{protocol:esp}"),
        ];
        for (text, expected) in table {
            let got = parse(AclKind::Extended, text).unwrap();
            assert_eq!(shown(&got.entries[0].matching), expected, "{text}");
        }
        let remark = parse(AclKind::Extended, "tcp any any established")
            .unwrap()
            .remark;
        assert!(remark.is_some());
    }

    #[test]
    fn standard_entries_are_about_sources() {
        for (text, expected) in [
            ("any", "{}"),
            ("any log", "{}"),
            ("10.1.2.3", "{src:10.1.2.3/32}"),
            ("host 10.1.2.3", "{src:10.1.2.3/32}"),
            ("10.1.2.0 0.0.0.255 log", "{src:10.1.2.0/24}"),
            ("0.0.0.0 255.255.255.255", "{}"),
        ] {
            let got = parse(AclKind::Standard, text).unwrap();
            assert_eq!(shown(&got.entries[0].matching), expected, "{text}");
        }
    }

    #[test]
    fn what_simulated_packets_lack_is_left_out() {
        for text in [
            "icmp any any echo",
            "icmp any any 8 0",
            "tcp any any syn",
            "ip any any fragments",
            "ip any any time-range WORK",
            "tcp any any reflect BACK",
            "ip any any tos 1",
        ] {
            let got = parse(AclKind::Extended, text);
            assert!(
                matches!(got, Err(Refusal::Unmodelled(_))),
                "{text}: {got:?}"
            );
        }
    }

    #[test]
    fn wrong_arguments_are_located() {
        for (text, column) in [
            ("", 1),
            ("foo any any", 1),
            ("ip any", 7),
            ("ip 10.0.0.300 0.0.0.255 any", 4),
            ("ip 10.0.0.0 any", 13),
            ("tcp any any eq", 15),
            ("tcp any any eq nonsense", 16),
            ("tcp any any eq 65536", 16),
            ("tcp any any gt 65535", 16),
            ("tcp any any range 5", 20),
            ("ip any any eq 80", 12),
            ("ip any any dscp 77", 17),
            ("256 any any", 1),
        ] {
            match parse(AclKind::Extended, text) {
                Err(Refusal::Wrong(f)) => assert_eq!(f.column, column, "{text}: {f:?}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}
