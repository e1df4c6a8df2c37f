//! Object groups: sets of addresses, and of protocols with ports, that lines of access lists name.
//!
//! Like access lists they are read only where a class-map reaches them. Syntax: Cisco IOS Security
//! Configuration Guide, "Object Groups for ACLs"; IOS XR writes prefixes and `net-group`.

use std::net::Ipv4Addr;

use ipnet::Ipv4Subnets;
use spillgate_core::Ipv4Net;
use spillgate_queueing::spec::{MatchSpec, NetSpec, OneOrMany, PortRange, Protocol};

use super::acl::{host, ports};
use super::args::{Args, unexpected};
use super::ast::{GroupKind, ObjectGroup};
use super::fault::{Refusal, unmodelled};
use super::lexer::Word;
use super::parse::{Command, Kind, Mode, Parser, is_global};
use super::protocols::ACL_PROTOCOLS;

/// One line of a group.
#[derive(Debug, PartialEq)]
pub(crate) enum Member<'a, T> {
    /// What it adds; none for everything.
    Adds(Option<Vec<T>>),
    /// The members of another group.
    Group(Word<'a>),
    /// A description.
    Nothing,
}

fn nested<'a, T>(args: &mut Args<'a>) -> Result<Option<Member<'a, T>>, Refusal> {
    if !args.take_exact("group-object object-group") {
        return Ok(None);
    }
    let name = args.name("the name of an object group")?;
    args.finish()?;
    Ok(Some(Member::Group(name)))
}

/// `any | host A | A MASK | A/LENGTH | A /LENGTH | range A B | group-object NAME`.
pub(crate) fn network<'a>(args: &mut Args<'a>) -> Result<Member<'a, NetSpec>, Refusal> {
    const ADDRESS: &str = "any, host and an address, an address and a mask, or range";
    if args.take("description") {
        return Ok(Member::Nothing);
    }
    if let Some(group) = nested(args)? {
        return Ok(group);
    }
    let nets = if args.take("any") {
        None
    } else if args.take("host") {
        host(args.address("the host's address")?).map(|n| vec![n])
    } else if args.take("range") {
        let first = args.address("the first address of the range")?;
        let word = args.peek();
        let last = args.address("the last address of the range")?;
        match word {
            Some(w) if last < first => return Err(unexpected(w, "an address behind the first")),
            _ if first.is_unspecified() && last.is_broadcast() => None,
            _ => Some(prefixes(first, last)),
        }
    } else {
        let word = args.word(ADDRESS)?;
        let text = match args.peek().filter(|w| w.text.starts_with('/')) {
            Some(length) => {
                args.next();
                format!("{}{}", word.text, length.text)
            }
            None if word.text.contains('/') => word.text.to_owned(),
            None => {
                let address: Ipv4Addr = word.text.parse().map_err(|_| unexpected(word, ADDRESS))?;
                // Unlike access lists, groups have masks.
                let mask = args.address("a mask such as 255.255.255.0")?;
                let net = Ipv4Net::new(address, u32::from(mask));
                args.finish()?;
                return Ok(Member::Adds((net.mask != 0).then(|| vec![NetSpec(net)])));
            }
        };
        let net: NetSpec = text.parse().map_err(|_| unexpected(word, ADDRESS))?;
        (net.0.mask != 0).then(|| vec![net])
    };
    args.finish()?;
    Ok(Member::Adds(nets))
}

/// The prefixes that cover a range of addresses, 62 at most.
fn prefixes(first: Ipv4Addr, last: Ipv4Addr) -> Vec<NetSpec> {
    Ipv4Subnets::new(first, last, 0)
        .map(|p| NetSpec(p.into()))
        .collect()
}

/// `PROTOCOL [source PORTS] [PORTS] | group-object NAME`.
pub(crate) fn service<'a>(args: &mut Args<'a>) -> Result<Member<'a, MatchSpec>, Refusal> {
    const PROTOCOL: &str = "a protocol: ip, tcp, udp, tcp-udp, icmp or a number";
    if args.take("description") {
        return Ok(Member::Nothing);
    }
    if let Some(group) = nested(args)? {
        return Ok(group);
    }
    let protocols: Vec<u8> = if args.take_exact("tcp-udp") {
        vec![6, 17]
    } else if args.take_exact("ip") {
        args.finish()?;
        return Ok(Member::Adds(None));
    } else if let Some(n) = args.try_number("a protocol number", 0..=255)? {
        vec![n as u8]
    } else {
        vec![args.keyword(&ACL_PROTOCOLS, PROTOCOL)?]
    };
    let of = protocols.first().copied().unwrap_or_default();
    let sport = if args.take_exact("source") {
        service_ports(args, of)?
    } else {
        None
    };
    let dport = service_ports(args, of)?;
    if matches!(of, 1 | 2) && args.peek().is_some() {
        return unmodelled("ICMP and IGMP types are not simulated; the member is left out");
    }
    args.finish()?;
    let of = |p: u8| MatchSpec {
        protocol: Some(OneOrMany(vec![Protocol(p)])),
        sport: sport.clone(),
        dport: dport.clone(),
        ..MatchSpec::default()
    };
    Ok(Member::Adds(Some(protocols.into_iter().map(of).collect())))
}

/// Ports as in access lists; `eq` may be left out.
fn service_ports(
    args: &mut Args<'_>,
    protocol: u8,
) -> Result<Option<OneOrMany<PortRange>>, Refusal> {
    if let Some(found) = ports(args, protocol)? {
        return Ok(Some(found));
    }
    let bare = matches!(protocol, 6 | 17 | 132) && args.peek().is_some_and(|w| w.text != "source");
    if !bare {
        return Ok(None);
    }
    let port = super::acl::port(args, protocol)?;
    Ok(Some(OneOrMany(vec![PortRange {
        first: port,
        last: port,
    }])))
}

impl<'a> Parser<'a, '_, '_> {
    /// `object-group {network [ipv4] | service} NAME`.
    pub(super) fn object_group(&mut self, mut c: Command<'a>) -> Kind {
        const KINDS: [(&str, GroupKind); 2] = [
            ("network", GroupKind::Network),
            ("service", GroupKind::Service),
        ];
        const WHAT: &str = "something that is no interface";
        let Some(kind) = c.args.try_keyword(&KINDS) else {
            return self.other(c, Mode::Block(WHAT));
        };
        let more = c.args.words().nth(1).is_some();
        if more && kind == GroupKind::Network && !c.args.take("ipv4") {
            return self.other(c, Mode::Block(WHAT));
        }
        let Ok(name) = c.args.name("the name of the object group") else {
            return self.other(c, Mode::Block(WHAT));
        };
        if c.negated {
            self.config.groups.remove(name.text);
            self.enter(Mode::Global, c.line);
            return Kind::Queueing;
        }
        let group = ObjectGroup {
            kind,
            lines: Vec::new(),
        };
        let entry = self.config.groups.entry(name.text).or_insert(group);
        if entry.kind != kind {
            entry.kind = kind;
            entry.lines.clear();
        }
        self.enter(Mode::ObjectGroup(name.text), c.line);
        Kind::Queueing
    }

    /// A line inside `object-group`.
    pub(super) fn object_line(&mut self, c: Command<'a>, name: &'a str, deeper: bool) -> Kind {
        let leaves = || self.left_block() || (!is_member(&c) && is_global(&c));
        if !deeper && leaves() {
            return self.global(c, deeper);
        }
        let mut words = c.line.words();
        if c.negated {
            words.next();
        }
        if let Some(group) = self.config.groups.get_mut(name) {
            if c.negated {
                group
                    .lines
                    .retain(|l| !super::acl_mode::same_words(*l, words));
            } else {
                group.lines.push(words);
            }
        }
        Kind::Queueing
    }
}

/// Whether a line that may also begin a global command (`host` is short for `hostname`, `ip` begins
/// many) is a member of a group.
fn is_member(c: &Command<'_>) -> bool {
    match c.word.text {
        "ip" => c.args.peek().is_none(),
        word => word == "host",
    }
}

#[cfg(test)]
mod tests {
    use super::super::lexer::lines;
    use super::*;

    fn args(text: &str) -> Args<'_> {
        Args::new(lines(text).next().unwrap().words())
    }

    fn shown<T: serde::Serialize>(member: &Member<'_, T>) -> String {
        match member {
            Member::Adds(None) => "everything".to_owned(),
            Member::Adds(Some(all)) => serde_json::to_string(all).unwrap().replace('"', ""),
            Member::Group(name) => format!("group {}", name.text),
            Member::Nothing => "nothing".to_owned(),
        }
    }

    #[test]
    fn every_form_of_network() {
        for (text, expected) in [
            ("description the phones", "nothing"),
            ("any", "everything"),
            ("host 10.0.0.1", "[10.0.0.1/32]"),
            ("10.0.0.0 255.255.255.0", "[10.0.0.0/24]"),
            ("10.0.0.0 /24", "[10.0.0.0/24]"),
            ("10.0.0.0/24", "[10.0.0.0/24]"),
            ("0.0.0.0 0.0.0.0", "everything"),
            ("range 10.0.0.4 10.0.0.7", "[10.0.0.4/30]"),
            (
                "range 10.0.0.1 10.0.0.6",
                "[10.0.0.1/32,10.0.0.2/31,10.0.0.4/31,10.0.0.6/32]",
            ),
            ("range 0.0.0.0 255.255.255.255", "everything"),
            ("group-object PHONES", "group PHONES"),
        ] {
            assert_eq!(
                shown(&network(&mut args(text)).unwrap()),
                expected,
                "{text}"
            );
        }
        for (text, column) in [
            ("range 10.0.0.7 10.0.0.4", 16),
            ("10.0.0.0", 9),
            ("10.0.0.0 255.255.255.0 x", 24),
            ("host x", 6),
        ] {
            let got = network(&mut args(text));
            assert!(
                matches!(&got, Err(Refusal::Wrong(f)) if f.column == column),
                "{got:?}"
            );
        }
    }

    #[test]
    fn every_form_of_service() {
        for (text, expected) in [
            ("ip", "everything"),
            ("tcp", "[{protocol:tcp}]"),
            ("tcp www", "[{protocol:tcp,dport:80}]"),
            (
                "udp range 16384 32767",
                "[{protocol:udp,dport:16384-32767}]",
            ),
            (
                "tcp-udp eq domain",
                "[{protocol:tcp,dport:53},{protocol:udp,dport:53}]",
            ),
            ("udp source eq 53", "[{protocol:udp,sport:53}]"),
            (
                "tcp source gt 1023 eq 443",
                "[{protocol:tcp,sport:1024-65535,dport:443}]",
            ),
            ("89", "[{protocol:ospf}]"),
            ("icmp", "[{protocol:icmp}]"),
            ("group-object WEB", "group WEB"),
        ] {
            assert_eq!(
                shown(&service(&mut args(text)).unwrap()),
                expected,
                "{text}"
            );
        }
        assert!(matches!(
            service(&mut args("icmp echo")),
            Err(Refusal::Unmodelled(_))
        ));
    }
}
