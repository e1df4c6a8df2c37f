//! Filters: which packets a class gets.

use spillgate_core::{Burst, Ipv4Net, RateOrPercent};
use spillgate_queueing::spec::{
    MatchSpec, NetSpec, OneOrMany, PoliceAction, PoliceActions, PoliceSpec, PortRange, Protocol,
};

use crate::ios::fault::{Fault, Refusal, code};

use super::header::{Header, dscps};
use super::line::{Args, Handle, wrong};
use super::shell::Word;
use super::units::{rate, size};

/// A filter.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    /// The queueing discipline or class to which it is attached.
    pub(super) parent: Handle,
    /// Those with less are asked first.
    pub(super) priority: u32,
    /// Which packets it takes.
    pub(super) matching: MatchSpec,
    /// Where it leads them; none if it only acts.
    pub(super) target: Option<Handle>,
    pub(super) acts: Acts,
}

/// What a filter does with its packets.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Acts {
    pub(super) police: Option<PoliceSpec>,
    pub(super) dscp: Option<spillgate_core::Dscp>,
    pub(super) drops: bool,
    /// What the simulation does not do, as written.
    pub(super) others: Vec<String>,
}

/// Policers that are defined once, by their index.
pub(super) type Policers = std::collections::BTreeMap<u32, PoliceSpec>;

/// Reads what stands behind the device and the place of a filter.
///
/// `marked` says which packets have a mark.
pub(super) fn filter<'w>(
    parent: Handle,
    mut args: Args<'w>,
    policers: &mut Policers,
    marked: impl Fn(u32) -> Option<MatchSpec>,
) -> Result<Filter, Refusal> {
    let (mut priority, mut protocol, mut handle) = (None, None, None);
    let kind = loop {
        let word = args.value("a kind of filter")?;
        match word.text.as_str() {
            "protocol" => protocol = Some(args.value("a protocol")?.text.to_ascii_lowercase()),
            "prio" | "pref" | "priority" => priority = Some(args.number()?),
            "handle" | "chain" | "block" => {
                let value = args.value("a number")?;
                if word.text == "handle" {
                    handle = Some(value);
                } else if value.text != "0" {
                    return unmodelled("chains of filters are not followed here");
                }
            }
            "egress" | "root" => {}
            _ => break word,
        }
    };
    let of = Kind {
        ipv4: match protocol.as_deref() {
            None | Some("all" | "ip" | "ipv4" | "0x0800" | "0x800") => true,
            Some("802.1q" | "mpls_uc" | "mpls") => false,
            Some(other) => {
                return unmodelled(format!("packets are those of IPv4 here, not of {other}"));
            }
        },
        tagged: matches!(protocol.as_deref(), Some("802.1q")),
    };
    let mut target = None;
    let mut acts = Acts::default();
    let matching = match kind.text.as_str() {
        "u32" => u32_filter(parent, &mut args, &mut target, &mut acts, policers)?,
        "flower" => flower(parent, of, &mut args, &mut target, &mut acts, policers)?,
        "matchall" => {
            while let Some(word) = args.next() {
                if !common(parent, word, &mut args, &mut target, &mut acts, policers)? {
                    return Err(option(word, "matchall"));
                }
            }
            MatchSpec::default()
        }
        "fw" => {
            while let Some(word) = args.next() {
                if !common(parent, word, &mut args, &mut target, &mut acts, policers)? {
                    return Err(option(word, "fw"));
                }
            }
            let mark = handle.and_then(|h| super::marks::whole(&h.text));
            let known = mark.and_then(marked);
            known.map_or_else(
                || {
                    unmodelled(
                        "no rule of iptables or nft in the script gives its mark: say which packets the class gets (`match`)",
                    )
                },
                Ok,
            )?
        }
        "basic" | "bpf" | "cgroup" | "flow" | "route" | "tcindex" | "rsvp" => {
            return unmodelled(format!(
                "filters of the kind {} are not modelled: say which packets the class gets (`match`)",
                kind.text
            ));
        }
        other => {
            return Err(Refusal::NotUnderstood(format!(
                "`{other}` is no kind of filter that is known"
            )));
        }
    };
    Ok(Filter {
        parent,
        priority: priority.unwrap_or(u32::MAX),
        matching,
        target,
        acts,
    })
}

/// Which packets a filter sees.
#[derive(Clone, Copy)]
struct Kind {
    ipv4: bool,
    tagged: bool,
}

fn unmodelled<T>(reason: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Unmodelled(reason.into()))
}

fn option(word: &Word, kind: &str) -> Refusal {
    wrong(word, &format!("is no option of {kind} that is known")).into()
}

/// Where a filter leads, and what it does: alike for all kinds. False: the word is none of these.
fn common<'w>(
    parent: Handle,
    word: &Word,
    args: &mut Args<'w>,
    target: &mut Option<Handle>,
    acts: &mut Acts,
    policers: &mut Policers,
) -> Result<bool, Refusal> {
    match word.text.as_str() {
        "flowid" | "classid" => {
            let class = |t: &str| Handle::read(t, parent.major);
            *target = Some(args.read("a class such as 1:10", class)?);
        }
        "police" => drop(police(args, acts, policers)?),
        "action" => action(args, acts, policers)?,
        "skip_hw" | "skip_sw" | "verbose" => {}
        _ => return Ok(false),
    }
    Ok(true)
}

/// A number as C has it.
pub(super) fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

fn u32_filter<'w>(
    parent: Handle,
    args: &mut Args<'w>,
    target: &mut Option<Handle>,
    acts: &mut Acts,
    policers: &mut Policers,
) -> Result<MatchSpec, Refusal> {
    let mut header = Header::default();
    while let Some(word) = args.next() {
        match word.text.as_str() {
            "match" => compare(args, &mut header)?,
            "ht" | "link" | "hashkey" | "offset" | "divisor" | "sample" | "order" | "mark" => {
                return unmodelled("hash tables and marks of u32 are not followed here");
            }
            _ if common(parent, word, args, target, acts, policers)? => {}
            _ => return Err(option(word, "u32")),
        }
    }
    header.condition().or_else(unmodelled)
}

/// One `match` of u32.
fn compare(args: &mut Args<'_>, header: &mut Header) -> Result<(), Refusal> {
    let what = args.value("what it compares")?;
    let pair = |args: &mut Args<'_>| -> Result<(u32, u32), Fault> {
        let value = args.read("a number", number)?;
        // The mask has hexadecimal digits, with or without 0x.
        Ok((value, args.read("a mask", hex)?))
    };
    let test = |header: &mut Header, at: i64, width: usize, (value, mask): (u32, u32)| {
        header.test(at, width, value, mask).or_else(unmodelled)
    };
    match what.text.as_str() {
        "u8" | "u16" | "u32" => {
            let width = match what.text.as_str() {
                "u8" => 1,
                "u16" => 2,
                _ => 4,
            };
            let of = pair(args)?;
            let mut at = 0;
            if args.take(&["at"]) {
                let place = args.value("a place")?;
                let behind = place.text.strip_prefix("nexthdr+");
                let read: Option<i64> = behind.unwrap_or(&place.text).parse().ok();
                let no = || wrong(place, "is no place in a header");
                at = read.ok_or_else(no)? + if behind.is_some() { 20 } else { 0 };
            }
            test(header, at, width, of)
        }
        "ip" => {
            let field = args.value("a field of IP")?;
            match field.text.as_str() {
                "src" | "dst" => {
                    let net: Ipv4Net = args.read("an address or a prefix", |t| t.parse().ok())?;
                    let at = if field.text == "src" { 12 } else { 16 };
                    test(header, at, 4, (net.addr, net.mask))
                }
                "tos" | "dsfield" | "precedence" => {
                    let octet = pair(args)?;
                    test(header, 1, 1, octet)
                }
                "protocol" => {
                    let of = pair(args)?;
                    test(header, 9, 1, of)
                }
                "sport" | "dport" => {
                    let of = pair(args)?;
                    test(header, if field.text == "sport" { 20 } else { 22 }, 2, of)
                }
                "ihl" => {
                    let (value, mask) = pair(args)?;
                    test(header, 0, 1, (value & 0x0f, mask & 0x0f))
                }
                "nofrag" => test(header, 6, 2, (0, 0x3fff)),
                "firstfrag" => test(header, 6, 2, (0, 0x1fff)),
                other => unmodelled(format!("the field {other} is not compared here")),
            }
        }
        "tcp" | "udp" => {
            let field = args.value("a field")?;
            let at = match field.text.as_str() {
                "src" => 20,
                "dst" => 22,
                other => return unmodelled(format!("the field {other} is not compared here")),
            };
            let of = pair(args)?;
            test(header, at, 2, of)
        }
        other => unmodelled(format!("fields of {other} are not compared here")),
    }
}

fn flower<'w>(
    parent: Handle,
    of: Kind,
    args: &mut Args<'w>,
    target: &mut Option<Handle>,
    acts: &mut Acts,
    policers: &mut Policers,
) -> Result<MatchSpec, Refusal> {
    let mut found = MatchSpec::default();
    while let Some(word) = args.next() {
        match word.text.as_str() {
            "ip_proto" => {
                let read = |t: &str| {
                    let name = t.parse::<Protocol>().ok();
                    name.or_else(|| Some(Protocol(u8::try_from(number(t)?).ok()?)))
                };
                found.protocol = Some(OneOrMany(vec![args.read("a protocol of IP", read)?]));
            }
            "src_ip" | "dst_ip" => {
                let net = args.read("an address or a prefix", |t| t.parse::<NetSpec>().ok())?;
                let key = if word.text == "src_ip" {
                    &mut found.src
                } else {
                    &mut found.dst
                };
                *key = Some(OneOrMany(vec![net]));
            }
            "src_port" | "dst_port" => {
                let ports = args.read("a port or a range", |t| t.parse::<PortRange>().ok())?;
                let key = if word.text == "src_port" {
                    &mut found.sport
                } else {
                    &mut found.dport
                };
                *key = Some(OneOrMany(vec![ports]));
            }
            "ip_tos" => {
                let read = |t: &str| {
                    let (value, mask) = t.split_once('/').unwrap_or((t, "0xff"));
                    Some((
                        u8::try_from(hex(value)?).ok()?,
                        u8::try_from(hex(mask)?).ok()?,
                    ))
                };
                let (value, mask) = args.read("an octet and its mask", read)?;
                found.dscp = Some(dscps(value, mask).or_else(unmodelled)?);
            }
            "vlan_prio" if of.tagged => {
                let one = args.read("a priority from 0 to 7", |t| {
                    t.parse().ok().filter(|p| *p < 8_u8)
                })?;
                found.cos = Some(OneOrMany(vec![one]));
            }
            "vlan_ethtype" | "eth_type" => {
                args.value("a protocol")?;
            }
            "mpls_tc" if !of.ipv4 => {
                let one = args.read("a traffic class from 0 to 7", |t| {
                    t.parse().ok().filter(|p| *p < 8_u8)
                })?;
                found.exp = Some(OneOrMany(vec![one]));
            }
            _ if common(parent, word, args, target, acts, policers)? => {}
            "vlan_id" | "src_mac" | "dst_mac" | "tcp_flags" | "ip_ttl" | "ip_flags" | "indev"
            | "ct_state" | "ct_zone" | "ct_mark" | "enc_key_id" | "enc_dst_ip" | "enc_src_ip"
            | "vlan_prio" | "mpls_tc" | "mpls_label" => {
                return unmodelled(format!("`{}` is not compared here", word.text));
            }
            _ => return Err(option(word, "flower")),
        }
    }
    Ok(found)
}

/// Hexadecimal digits, with or without 0x.
fn hex(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
}

/// What a policer says a packet meets.
const CONTROLS: [&str; 9] = [
    "drop",
    "shot",
    "pass",
    "ok",
    "continue",
    "reclassify",
    "pipe",
    "trap",
    "goto",
];

/// A policer, as a definition or by its index.
pub(super) fn police(
    args: &mut Args<'_>,
    acts: &mut Acts,
    policers: &mut Policers,
) -> Result<Option<u32>, Refusal> {
    let (mut at, mut burst, mut index) = (None, None, None);
    let (mut exceed, mut conform) = (None, None);
    while let Some(word) = args.peek() {
        let text = word.text.as_str();
        match text {
            "rate" => {
                args.next();
                at = Some(args.read("a rate", rate)?);
            }
            "burst" | "buffer" | "maxburst" => {
                args.next();
                let bytes = |t: &str| size(t.split('/').next().unwrap_or(t));
                burst = Some(args.read("a size", bytes)?);
            }
            "mtu" | "minburst" | "overhead" | "linklayer" => {
                args.next();
                args.value("a value")?;
            }
            "peakrate" | "avrate" | "pkts_rate" | "pkts_burst" => {
                return unmodelled(format!("`{text}` of a policer is not modelled"));
            }
            "conform-exceed" => {
                args.next();
                let word = args.value("what exceeds and what conforms meet")?;
                let (e, c) = word.text.split_once('/').unwrap_or((&word.text, "pipe"));
                (exceed, conform) = (Some(e.to_owned()), Some(c.to_owned()));
            }
            "index" => {
                args.next();
                index = Some(args.number()?);
            }
            _ if CONTROLS.contains(&text) => {
                args.next();
                exceed = Some(text.to_owned());
            }
            _ => break,
        }
    }
    let Some(at) = at else {
        let known = index.and_then(|n| policers.get(&n).cloned());
        let Some(known) = known else {
            return unmodelled("a policer without a rate, or one that is not defined");
        };
        acts.police = Some(known);
        return Ok(index);
    };
    let of = |control: Option<&str>, usual: PoliceAction| -> PoliceActions {
        match control {
            Some("drop" | "shot") => PoliceAction::Drop.into(),
            None => usual.into(),
            // Whatever comes behind it sees the packet, or the class gets it.
            Some(_) => PoliceAction::Transmit.into(),
        }
    };
    let spec = PoliceSpec {
        burst: burst.map(Burst::Bytes),
        conform: of(conform.as_deref(), PoliceAction::Transmit),
        exceed: of(exceed.as_deref(), PoliceAction::Drop),
        ..PoliceSpec::new(RateOrPercent::Rate(at))
    };
    if let Some(index) = index {
        policers.insert(index, spec.clone());
    }
    acts.police = Some(spec);
    Ok(index)
}

/// One `action` with its arguments.
fn action(args: &mut Args<'_>, acts: &mut Acts, policers: &mut Policers) -> Result<(), Refusal> {
    let kind = args.value("an action")?;
    let ends = |t: &str| ["action", "flowid", "classid"].contains(&t);
    match kind.text.as_str() {
        "police" => {
            police(args, acts, policers)?;
        }
        "drop" => acts.drops = true,
        "pass" | "ok" | "pipe" | "continue" => {}
        "gact" => {
            let control = args.value("what becomes of the packet")?;
            acts.drops |= control.text == "drop";
        }
        "csum" => {
            while args.peek().is_some_and(|w| !ends(&w.text)) {
                args.next();
            }
        }
        "pedit" => {
            let mut written = Vec::new();
            while args.peek().is_some_and(|w| !ends(&w.text)) {
                written.extend(args.next().map(|w| w.text.clone()));
            }
            match set_dscp(&written) {
                Some(dscp) => acts.dscp = Some(dscp),
                None => acts.others.push(format!("pedit {}", written.join(" "))),
            }
        }
        other => {
            let mut written = vec![other.to_owned()];
            while args.peek().is_some_and(|w| !ends(&w.text)) {
                written.extend(args.next().map(|w| w.text.clone()));
            }
            acts.others.push(written.join(" "));
        }
    }
    Ok(())
}

/// The DSCP that `pedit ex munge ip dsfield set 0xb8 retain 0xfc` sets.
fn set_dscp(words: &[String]) -> Option<spillgate_core::Dscp> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let words = words.strip_prefix(&["ex"]).unwrap_or(&words);
    let rest = words.strip_prefix(&["munge", "ip"])?;
    let [field, "set", value, rest @ ..] = rest else {
        return None;
    };
    ["tos", "dsfield"].contains(field).then_some(())?;
    let retained = match rest {
        ["retain", mask, ..] => number(mask)?,
        _ => 0xff,
    };
    let octet = u8::try_from(number(value)?).ok()?;
    (retained & 0xfc == 0xfc)
        .then(|| spillgate_core::Dscp::new(octet >> 2))
        .flatten()
}

/// What stands for an action that is defined by itself: `tc actions add action police ...`.
pub(super) fn defined(mut args: Args<'_>, policers: &mut Policers) -> Result<(), Refusal> {
    if !args.take(&["action"]) {
        return unmodelled("only policers are defined by themselves here");
    }
    let kind = args.value("an action")?;
    if kind.text != "police" {
        return unmodelled(format!("actions `{}` are not followed here", kind.text));
    }
    let column = kind.column;
    let index = police(&mut args, &mut Acts::default(), policers)?;
    match index {
        Some(_) => Ok(()),
        None => Err(Fault::new(code::MISSING, column, "a policer by itself needs `index`").into()),
    }
}
