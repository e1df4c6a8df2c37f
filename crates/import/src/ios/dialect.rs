//! Which system a text is a configuration of, so that another's is refused by name.
//!
//! A line speaks for a system if no command of IOS looks like it. NX-OS and EOS share most
//! commands with IOS, VRP some: one of their own is enough, unless the file ends its blocks as IOS
//! XR does. Of the others more lines must speak than there are of IOS's policies. Cost: one pass.

use super::fault::{Fault, code};

/// A system whose configurations are not read.
struct Dialect {
    /// What the text looks like.
    name: &'static str,
    /// Whether most of its commands are those of IOS, too.
    kin: bool,
    /// Whether a line speaks for it: its words, and the line as it stands.
    speaks: fn(&[&str], &str) -> bool,
}

/// NX-OS and EOS spell types of policies that no IOS has.
const TYPES: [&str; 4] = ["queuing", "qos", "network-qos", "quality-of-service"];

const DIALECTS: [Dialect; 6] = [
    Dialect {
        name: "an Arista EOS configuration",
        kin: true,
        speaks: |w, line| match w {
            ["!", "device:", ..] => line.contains("EOS-"),
            ["policy-map", "type", "quality-of-service" | "copp", ..]
            | ["service-policy", "type", "qos" | "quality-of-service", ..]
            | ["qos", "profile", _]
            | ["tx-queue" | "uc-tx-queue" | "mc-tx-queue", _]
            | ["management", "api", ..]
            | ["daemon", "TerminAttr"] => true,
            ["service", "routing", "protocols", "model", ..] => true,
            _ => false,
        },
    },
    Dialect {
        name: "a Huawei VRP configuration",
        kin: true,
        speaks: |w, _| {
            matches!(
                w,
                ["traffic", "classifier" | "behavior" | "policy", _, ..]
                    | ["traffic-policy", _, "inbound" | "outbound", ..]
                    | ["sysname", _]
                    | ["qos", "car" | "wfq" | "queue-profile" | "lr" | "gts", ..]
            )
        },
    },
    Dialect {
        name: "an NX-OS configuration",
        kin: true,
        speaks: |w, _| match w {
            ["policy-map" | "class-map" | "class", "type", kind, ..] => TYPES.contains(kind),
            ["service-policy", "type", kind, ..] => TYPES.contains(kind),
            ["system", "qos"] | ["vdc", _, "id", _] => true,
            _ => false,
        },
    },
    Dialect {
        name: "a Junos configuration",
        kin: false,
        speaks: |w, _| match w {
            ["set" | "deactivate", first, ..] => JUNOS.contains(first),
            [first, "{"] => JUNOS.contains(first),
            _ => false,
        },
    },
    Dialect {
        name: "tc commands of Linux",
        kin: false,
        speaks: |w, _| {
            let objects = ["qdisc", "class", "filter"];
            match w {
                [tc, rest @ ..] if is_tc(tc) => rest.iter().any(|w| objects.contains(w)),
                ["sudo", tc, ..] => is_tc(tc),
                ["qdisc" | "class", _, handle, "root" | "parent" | "dev", ..] => {
                    handle.contains(':')
                }
                _ => false,
            }
        },
    },
    Dialect {
        name: "a MikroTik RouterOS configuration",
        kin: false,
        speaks: |w, line| match w {
            [section, ..] if section.starts_with('/') => ROUTEROS.iter().any(|s| {
                let rest = section.strip_prefix('/').and_then(|r| r.strip_prefix(s));
                rest.is_some_and(|r| r.is_empty() || r.starts_with('/'))
            }),
            ["add" | "set", ..] => line.contains('='),
            ["#", ..] => line.contains("RouterOS"),
            _ => false,
        },
    },
];

/// Top levels of a Junos configuration.
const JUNOS: [&str; 11] = [
    "chassis",
    "class-of-service",
    "firewall",
    "groups",
    "interfaces",
    "policy-options",
    "protocols",
    "routing-instances",
    "routing-options",
    "security",
    "system",
];

/// Sections of a RouterOS export.
const ROUTEROS: [&str; 8] = [
    "interface",
    "ip",
    "ipv6",
    "ppp",
    "queue",
    "routing",
    "system",
    "tool",
];

fn is_tc(word: &str) -> bool {
    matches!(word, "tc" | "/sbin/tc" | "/usr/sbin/tc" | "$TC" | "${TC}")
}

/// The fault of a text that is a configuration of another system, and the first line that says so.
pub(super) fn foreign(text: &str) -> Option<(u32, Fault)> {
    let mut own = 0_u32;
    let mut counts = [0_u32; DIALECTS.len()];
    let mut first: [Option<(u32, &str)>; DIALECTS.len()] = [None; DIALECTS.len()];
    let mut words: Vec<&str> = Vec::new();
    for (number, line) in (1_u32..).zip(text.lines()) {
        let line = line.trim();
        words.clear();
        words.extend(line.split_ascii_whitespace().take(8));
        if ["end-policy-map", "end-class-map"].contains(&line) {
            return None;
        }
        own += u32::from(is_ios(&words));
        for (i, dialect) in DIALECTS.iter().enumerate() {
            if (dialect.speaks)(&words, line) {
                counts[i] += 1;
                first[i].get_or_insert((number, line));
            }
        }
    }
    let kin = (0..DIALECTS.len()).find(|i| DIALECTS[*i].kin && counts[*i] > 0);
    let strange = || (0..DIALECTS.len()).max_by_key(|i| counts[*i]);
    let which = kin.or_else(|| strange().filter(|i| counts[*i] > own))?;
    let (dialect, (number, line)) = (&DIALECTS[which], first[which]?);
    let message = format!("this looks like {}, not one of Cisco IOS", dialect.name);
    let shown: String = line.chars().take(80).collect();
    let fault = Fault::new(code::DIALECT, 1, message).found(shown);
    let hint = "configurations of Cisco IOS, IOS XE and IOS XR are read; write the policy as classes of a scenario, or as policy-maps";
    Some((number, fault.hint(hint)))
}

/// Whether a line is one of IOS's policies, or of what stands around them.
fn is_ios(words: &[&str]) -> bool {
    match words {
        ["policy-map" | "class-map", next, ..] => *next != "type",
        ["service-policy", "input" | "output", _] | ["interface", _, ..] => true,
        ["ip", "access-list", ..] | ["access-list", _, "permit" | "deny", ..] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Option<(u32, String)> {
        foreign(text).map(|(line, fault)| (line, fault.message))
    }

    #[test]
    fn other_systems_are_named_at_their_first_line() {
        for (text, line, name) in [
            (
                "version 20.4R1;\nsystem {\n    host-name edge;\n}\nclass-of-service {\n    interfaces {\n        ge-0/0/1 {\n            scheduler-map WAN;\n        }\n    }\n}\n",
                2,
                "a Junos configuration",
            ),
            (
                "set system host-name edge\nset class-of-service schedulers VOICE transmit-rate percent 20\nset interfaces ge-0/0/1 unit 0\n",
                1,
                "a Junos configuration",
            ),
            (
                "hostname leaf\nclass-map type queuing match-any c-out-q3\npolicy-map type queuing WAN\n class type queuing c-out-q3\n  bandwidth percent 30\ninterface Ethernet1/1\n service-policy type queuing output WAN\n",
                2,
                "an NX-OS configuration",
            ),
            (
                "! device: leaf (DCS-7050SX3, EOS-4.30.1F)\nhostname leaf\nclass-map type qos match-any VOICE\npolicy-map type quality-of-service WAN\n class VOICE\ninterface Ethernet1\n   tx-queue 5\n      bandwidth percent 30\n",
                1,
                "an Arista EOS configuration",
            ),
            (
                "#!/bin/sh\ntc qdisc add dev eth0 root handle 1: htb default 10\ntc class add dev eth0 parent 1: classid 1:1 htb rate 10mbit\n",
                2,
                "tc commands of Linux",
            ),
            (
                "qdisc htb 1: root refcnt 2 r2q 10 default 0x10\nqdisc fq_codel 10: parent 1:10 limit 10240p\n",
                1,
                "tc commands of Linux",
            ),
            (
                "# jan/02/2024 10:00:00 by RouterOS 7.12\n/queue type\nadd kind=pcq name=down\n/queue tree\nadd max-limit=10M name=wan parent=ether1\n",
                1,
                "a MikroTik RouterOS configuration",
            ),
            (
                "sysname CE\n#\ntraffic classifier VOICE operator or\n if-match dscp ef\ntraffic behavior VOICE\n queue ef bandwidth pct 30\ntraffic policy WAN\n classifier VOICE behavior VOICE\ninterface GigabitEthernet0/0/1\n traffic-policy WAN outbound\n#\nreturn\n",
                1,
                "a Huawei VRP configuration",
            ),
        ] {
            let message = format!("this looks like {name}, not one of Cisco IOS");
            assert_eq!(named(text), Some((line, message)), "{text}");
        }
    }

    #[test]
    fn ios_in_all_its_forms_is_not_refused() {
        for text in [
            "",
            "hostname R1\n",
            "policy-map P\n class class-default\n  fair-queue\n",
            // A banner with another system's words; zone-based firewalls have types.
            "banner motd ^C tc qdisc add dev eth0 root fq;\n set system host-name x ^C\npolicy-map type inspect Z\n class type inspect C\n  inspect\npolicy-map P\n class class-default\ninterface Gi0/0\n service-policy output P\n",
            "interface Gi0/0\n description set interfaces;\n ip address 10.0.0.1 255.0.0.0\n",
            "class-map type qos match-any A\n match dscp ef\n end-class-map\npolicy-map type qos P\n class A\n  police rate 10 mbps\n end-policy-map\n",
            "crypto pki certificate chain X\n certificate 01\n  30820101 308200AA\n  quit\n",
        ] {
            assert_eq!(named(text), None, "{text}");
        }
    }
}
