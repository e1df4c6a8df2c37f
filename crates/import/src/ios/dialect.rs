//! Which system a text is a configuration of, so that another's is refused by name.
//!
//! A line speaks for a system if no command of IOS looks like it ([`OWN`]), or if it and some other
//! system say so ([`SHARED`]); the system with the most is meant. NX-OS, EOS and VRP share most
//! commands with IOS: a line of their own is enough, unless the file ends its blocks as IOS XR
//! does. Of the others more must speak than of IOS. Cost: one pass.

use super::fault::{Fault, code};
use super::interface_words::is_kind;
use super::shown::{Shown, shown};
use super::systems::{DIALECTS, OWN, SHARED, TC};

/// What a text is.
pub(super) enum Verdict {
    /// A configuration of Cisco IOS or its kin.
    Ios {
        /// The first line as only IOS XR has it, if there is one.
        xr: Option<u32>,
    },
    /// A configuration of something else, or an output; the line that says so.
    Foreign(u32, Fault),
    /// No configuration: its lines are not shown, whatever they are.
    Nothing(u32, Fault),
}

/// Longer lines are not read to their end: none that speaks for a system is so long.
const LONGEST: usize = 400;

/// What a text is, by its lines.
pub(super) fn judge(text: &str) -> Verdict {
    let mut own = 0_u32;
    let mut counts = [0_u32; DIALECTS.len()];
    let mut first: [Option<(u32, &str)>; DIALECTS.len()] = [None; DIALECTS.len()];
    let mut xr = None;
    let mut ends = false;
    let mut heads = 0_u32;
    let mut output: Option<(u32, &str)> = None;
    let mut words: Vec<&str> = Vec::new();
    for (number, line) in (1_u32..).zip(text.lines()) {
        let Some(read) = super::lexer::lines(line).next() else {
            continue;
        };
        let shown = shown(&read);
        if shown == Some(Shown::Head) {
            output.get_or_insert_with(|| (number, read.text()));
        }
        let line = read.text();
        let line = line.get(..LONGEST).unwrap_or(line);
        words.clear();
        words.extend(line.split_ascii_whitespace().take(8));
        ends |= ["end-policy-map", "end-class-map"].contains(&line);
        if xr.is_none() && is_xr(&words, line) {
            xr = Some(number);
        }
        if shown.is_none() {
            own += ios(&words);
            heads += u32::from(is_head(&words));
        }
        for (i, dialect) in DIALECTS.iter().enumerate() {
            let said = (dialect.speaks)(&words, line);
            counts[i] += said;
            if said > 0 {
                first[i].get_or_insert((number, line));
            }
        }
    }
    if ends {
        return Verdict::Ios { xr };
    }
    let most = |kin: bool| {
        let of_kind = (0..DIALECTS.len()).filter(move |i| DIALECTS[*i].kin == kin);
        // Of those that say as much the first of the table.
        of_kind.rev().max_by_key(|i| counts[*i])
    };
    let strange = most(false).filter(|i| counts[*i] > own);
    let kin = most(true).filter(|i| counts[*i] >= OWN);
    let which = match (kin, strange) {
        (Some(k), Some(s)) if counts[s] > counts[k] => Some(s),
        (kin, strange) => kin.or(strange),
    };
    match which.and_then(|i| Some((i, first[i]?))) {
        Some((i, (number, line))) => {
            let message = format!("this looks like {}, not one of Cisco IOS", DIALECTS[i].name);
            let fault = refused(message, line);
            if DIALECTS[i].name == TC {
                let hint = "write `tc:` in place of `ios:`, by which configurations of Cisco IOS, IOS XE and IOS XR are read";
                return Verdict::Foreign(number, fault.hint(hint));
            }
            Verdict::Foreign(number, fault)
        }
        None if heads == 0 && output.is_some() => {
            let (number, line) = output.unwrap_or((1, ""));
            let message =
                "this looks like the output of `show policy-map`, not of `show running-config`";
            Verdict::Foreign(number, refused(message.to_owned(), line))
        }
        None if own == 0 => unknown(text),
        None => Verdict::Ios { xr },
    }
}

fn refused(message: String, line: &str) -> Fault {
    let shown: String = line.chars().take(80).collect();
    let hint = "configurations of Cisco IOS, IOS XE and IOS XR are read; write the policy as classes of a scenario, or as policy-maps";
    Fault::new(code::DIALECT, 1, message)
        .found(shown)
        .hint(hint)
}

/// A text in which no line is one of a configuration.
fn unknown(text: &str) -> Verdict {
    let mut lines = (1_u32..).zip(text.lines().map(str::trim));
    let Some((number, line)) = lines.find(|(_, l)| !l.is_empty()) else {
        let message = "the file is empty: nothing of Cisco IOS is in it";
        return Verdict::Nothing(1, refused(message.to_owned(), ""));
    };
    // The frame of a configuration in which there is nothing.
    let frame = |l: &str| l.is_empty() || l.starts_with('!') || l == "end";
    if text.lines().all(|l| frame(l.trim())) {
        return Verdict::Ios { xr: None };
    }
    let kind = match line.chars().next() {
        Some('{' | '[') => "JSON or the like",
        Some('<') => "XML or HTML",
        _ if line.starts_with("#!") => "a script",
        _ if line.matches(',').count() > 2 => "a table",
        _ => "no configuration of a router",
    };
    let message = format!("nothing of Cisco IOS is recognized in this text: it looks like {kind}");
    Verdict::Nothing(number, refused(message, ""))
}

/// Whether a line is IOS XR's and of no other IOS.
fn is_xr(words: &[&str], line: &str) -> bool {
    let slots = |name: &str| name.matches('/').count() == 3;
    match words {
        ["end-policy-map" | "end-class-map"] | ["ipv4", "access-list" | "address", ..] => true,
        ["interface", name, ..] => slots(name),
        _ => line.starts_with("!! IOS XR Configuration") || line.starts_with("RP/0/"),
    }
}

/// Whether a line begins a block of IOS about queueing, or attaches a policy.
fn is_head(words: &[&str]) -> bool {
    let short = words.len() <= 4;
    match words {
        [head, next, ..] if is(head, "policy-map", 3) || is(head, "class-map", 7) => {
            short && *next != "type"
        }
        [head, direction, _] if is(head, "service-policy", 4) => {
            is(direction, "input", 1) || is(direction, "output", 1)
        }
        [head, _] if is(head, "service-policy", 9) => true,
        [head, name, rest @ ..] if is(head, "interface", 3) => short && is_interface(name, rest),
        _ => false,
    }
}

/// How much a line speaks for IOS: its policies and what stands around them, or another command.
fn ios(words: &[&str]) -> u32 {
    let words = match words {
        ["no", rest @ ..] => rest,
        all => all,
    };
    let number = |w: &str| w.starts_with(|c: char| c.is_ascii_digit());
    let own = match words {
        all if is_head(all) => true,
        ["ip" | "ipv4", "access-list", ..]
        | ["access-list", _, "permit" | "deny" | "remark", ..] => true,
        ["class", _] | ["class", _, "insert-before", _] => true,
        ["match", what, ..] => {
            let known = [
                "access-group",
                "any",
                "class-map",
                "cos",
                "dscp",
                "input-interface",
                "ip",
                "mpls",
                "not",
                "precedence",
                "protocol",
                "qos-group",
            ];
            known.contains(what)
        }
        [head, next, ..] if ["bandwidth", "priority"].iter().any(|f| is(head, f, 3)) => {
            number(next)
                || ["percent", "remaining", "level"]
                    .iter()
                    .any(|k| is(next, k, 3))
        }
        ["police", next, ..] => number(next) || ["cir", "rate"].contains(next),
        ["shape", "average" | "peak", ..] | ["random-detect", ..] | ["fair-queue"] => true,
        ["queue-limit" | "fair-queue", next, ..] => number(next),
        [
            "set",
            "dscp" | "precedence" | "cos" | "mpls" | "qos-group" | "ip",
            ..,
        ] => true,
        ["map-class" | "vc-class", _, _] | ["object-group", _, _] => true,
        ["frame-relay", ..] | ["encapsulation", ..] => true,
        _ => false,
    };
    let other = match words {
        ["hostname" | "version", _] => true,
        [
            "ip",
            "address" | "cef" | "route" | "domain" | "domain-name" | "nat" | "vrf",
            ..,
        ] => true,
        ["line", "con" | "vty" | "aux" | "console", ..] => true,
        ["router", "ospf" | "bgp" | "eigrp" | "rip" | "isis", ..] => true,
        ["enable", "secret" | "password", ..]
        | ["username", _, "secret" | "password" | "privilege", ..] => true,
        [
            "service",
            "timestamps" | "password-encryption" | "tcp-keepalives-in" | "config",
            ..,
        ] => true,
        ["vlan", id] => number(id),
        ["switchport", ..] | ["boot-start-marker"] | ["snmp-server", ..] => true,
        ["route-map", _, "permit" | "deny", ..] | ["router-id" | "network", _, ..] => true,
        ["aaa", "new-model"] | ["ntp", "server", ..] | ["logging", "buffered" | "host", ..] => true,
        ["crypto", _, _, ..] | ["voice-port", _] | ["dial-peer", "voice", ..] => true,
        ["qos" | "mls" | "platform", ..] | ["priority-list" | "queue-list", ..] => true,
        ["controller", _, _] | ["bridge", ..] => true,
        _ => false,
    };
    match (own, other) {
        (true, _) => OWN,
        (_, true) => SHARED,
        _ => 0,
    }
}

/// Whether words are the name of an interface: `g0/0`, `Serial 0/0`, `range Gi1/0/1 - 4`.
fn is_interface(name: &str, rest: &[&str]) -> bool {
    let glued = name.trim_end_matches([',', '.', ';']);
    let letter = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let digit = |w: &str| w.starts_with(|c: char| c.is_ascii_digit());
    letter && glued.contains(|c: char| c.is_ascii_digit())
        || rest.first().is_some_and(|w| digit(w) && is_kind(name, w))
        || name == "range"
}

fn is(word: &str, name: &str, least: usize) -> bool {
    super::keyword::abbreviates(word, name, least)
}
