//! Systems whose configurations are not read, and the lines by which they are known.
//!
//! From the vendors' configuration guides and from configurations in public; what NX-OS and EOS
//! share (`class-map type qos`, `service-policy type qos`) and what Junos and VyOS share
//! (`set system ...`) speaks for both, a little.

/// What a line says that no other system has.
pub(super) const OWN: u32 = 3;
/// What a line says that another has, too.
pub(super) const SHARED: u32 = 1;

/// A system whose configurations are not read.
pub(super) struct Dialect {
    /// What the text looks like.
    pub(super) name: &'static str,
    /// Whether most of its commands are those of IOS, too.
    pub(super) kin: bool,
    /// How much a line speaks for it: its words, and the line as it stands.
    pub(super) speaks: fn(&[&str], &str) -> u32,
}

/// The name of what [`crate::tc`] reads.
pub(super) const TC: &str = "tc commands of Linux";

pub(super) const DIALECTS: [Dialect; 9] = [
    Dialect {
        name: "an NX-OS configuration",
        kin: true,
        speaks: nx_os,
    },
    Dialect {
        name: "an Arista EOS configuration",
        kin: true,
        speaks: eos,
    },
    Dialect {
        name: "a Huawei VRP configuration",
        kin: true,
        speaks: vrp,
    },
    Dialect {
        name: "a Junos configuration",
        kin: false,
        speaks: junos,
    },
    Dialect {
        name: "a VyOS configuration",
        kin: false,
        speaks: vyos,
    },
    Dialect {
        name: TC,
        kin: false,
        speaks: tc,
    },
    Dialect {
        name: "a MikroTik RouterOS configuration",
        kin: false,
        speaks: routeros,
    },
    Dialect {
        name: "a FortiOS configuration",
        kin: false,
        speaks: fortios,
    },
    Dialect {
        name: "a Nokia SR OS configuration",
        kin: false,
        speaks: sros,
    },
];

fn points(own: bool, shared: bool) -> u32 {
    match (own, shared) {
        (true, _) => OWN,
        (_, true) => SHARED,
        _ => 0,
    }
}

fn nx_os(w: &[&str], line: &str) -> u32 {
    // No IOS has policies of these types.
    let own = match w {
        [
            "policy-map" | "class-map",
            "type",
            "queuing" | "network-qos" | "control-plane",
            ..,
        ]
        | ["policy-map", "type", "qos", ..]
        | ["class", "type", "queuing" | "network-qos" | "qos", ..]
        | ["service-policy", "type", "queuing" | "network-qos", ..]
        | ["system", "qos"]
        | ["vdc", _, "id", _]
        | ["vpc", "domain", _]
        | ["vrf", "context", _]
        | ["boot", "nxos", ..]
        | ["feature-set", _]
        | ["copp", "profile", _]
        | ["system", "default", "switchport", ..]
        | ["interface", "mgmt0"] => true,
        _ => line.contains("NXOS image file") || line.starts_with("!Command: show"),
    };
    let shared = matches!(
        w,
        ["feature", _] | ["no", "feature", _] | ["class-map" | "service-policy", "type", "qos", ..]
    );
    points(own, shared)
}

fn eos(w: &[&str], line: &str) -> u32 {
    let own = match w {
        ["!", "device:", ..] => line.contains("EOS"),
        ["!", "Command:", "show", ..]
        | [
            "policy-map",
            "type",
            "quality-of-service" | "copp" | "pbr",
            ..,
        ]
        | ["class-map", "type", "copp" | "pbr", ..]
        | ["service-policy", "type", "quality-of-service" | "pbr", ..]
        | ["qos", "profile", _]
        | ["qos", "map", _, _, "to", ..]
        | ["tx-queue" | "uc-tx-queue" | "mc-tx-queue", _]
        | ["management", "api" | "ssh" | "console" | "security", ..]
        | ["daemon", "TerminAttr"]
        | ["queue-monitor", ..]
        | ["vrf", "instance", _]
        | ["transceiver", "qsfp", "default-mode", ..]
        | ["shape", "rate", ..]
        | ["service", "routing", "protocols", "model", ..] => true,
        ["interface", "Management0" | "Management1"] => true,
        _ => false,
    };
    let shared = matches!(w, ["class-map" | "service-policy", "type", "qos", ..]);
    points(own, shared)
}

fn vrp(w: &[&str], line: &str) -> u32 {
    let own = match w {
        ["traffic", "classifier" | "behavior" | "policy", _, ..]
        | ["traffic-policy", _, "inbound" | "outbound", ..]
        | ["if-match", ..]
        | ["sysname", _]
        | ["ip", "vpn-instance", _]
        | ["acl", "number" | "name", _, ..]
        | ["user-interface", _, ..]
        | ["diffserv", "domain", _]
        | ["port", "link-type", _]
        | ["undo", _, ..]
        | [
            "qos",
            "car" | "wfq" | "queue-profile" | "lr" | "gts" | "queue" | "schedule-profile",
            ..,
        ] => true,
        _ => line.starts_with("!Software Version V"),
    };
    points(own, matches!(w, ["return"] | ["info-center", ..]))
}

/// Whether a name is one of a Junos interface: `ge-0/0/1`.
fn junos_port(name: &str) -> bool {
    let slots = [
        "ge-", "xe-", "et-", "fe-", "so-", "t1-", "e1-", "at-", "sp-",
    ];
    slots
        .iter()
        .any(|s| name.strip_prefix(s).is_some_and(|n| n.contains('/')))
        || ["irb", "fxp0", "em0", "me0", "reth0", "ae0", "ae1"].contains(&name)
}

fn junos(w: &[&str], line: &str) -> u32 {
    const TOPS: [&str; 8] = [
        "chassis",
        "class-of-service",
        "forwarding-options",
        "groups",
        "policy-options",
        "routing-instances",
        "routing-options",
        "security",
    ];
    let own = match w {
        ["set" | "deactivate", "interfaces", port, ..] => junos_port(port),
        ["set", "firewall", "family" | "filter" | "policer", ..] => true,
        ["set" | "deactivate", first, ..] => TOPS.contains(first) || *first == "apply-groups",
        [first, "{"] => TOPS.contains(first) || junos_port(first),
        ["##", "Last", ..] => true,
        _ => false,
    };
    // Statements end so.
    points(own, line.ends_with(';') || shared_by_set(w))
}

/// What Junos and VyOS have in common.
fn shared_by_set(w: &[&str]) -> bool {
    let tops = ["system", "interfaces", "protocols", "firewall", "policy"];
    match w {
        ["set" | "delete" | "deactivate", first, ..] | [first, "{"] => tops.contains(first),
        _ => false,
    }
}

fn vyos(w: &[&str], line: &str) -> u32 {
    const KINDS: [&str; 12] = [
        "bonding",
        "bridge",
        "dummy",
        "ethernet",
        "loopback",
        "openvpn",
        "pppoe",
        "pseudo-ethernet",
        "tunnel",
        "vti",
        "vxlan",
        "wireguard",
    ];
    const TOPS: [&str; 9] = [
        "container",
        "high-availability",
        "load-balancing",
        "nat",
        "qos",
        "qos-policy",
        "service",
        "traffic-policy",
        "vpn",
    ];
    let own = match w {
        ["set" | "delete", "interfaces", kind, ..] => KINDS.contains(kind),
        [
            "set",
            "firewall",
            "name" | "ipv4" | "ipv6" | "group" | "zone" | "global-options" | "all-ping",
            ..,
        ] => true,
        ["set" | "delete", first, ..] => TOPS.contains(first),
        ["loopback", "lo", "{"] | ["traffic-policy" | "qos" | "service" | "nat" | "vpn", "{"] => {
            true
        }
        [
            "shaper" | "limiter" | "shaper-hfsc" | "fair-queue" | "rate-control",
            _,
            "{",
        ] => true,
        [kind, name, "{"] => KINDS.contains(kind) && name.contains(|c: char| c.is_ascii_digit()),
        _ => line.contains("vyos-config-version") || line.contains("vyatta-config-version"),
    };
    points(own, shared_by_set(w))
}

fn is_tc(word: &str) -> bool {
    matches!(word, "tc" | "/sbin/tc" | "/usr/sbin/tc" | "$TC" | "${TC}")
}

fn tc(w: &[&str], _: &str) -> u32 {
    let objects = ["qdisc", "class", "filter", "actions"];
    let own = match w {
        [tc, rest @ ..] if is_tc(tc) => rest.iter().any(|w| objects.contains(w)),
        ["sudo", tc, ..] => is_tc(tc),
        ["qdisc" | "class", "add" | "replace" | "change", "dev", ..]
        | ["filter", "add", "dev", ..] => true,
        ["qdisc" | "class", _, handle, "root" | "parent" | "dev", ..] => handle.contains(':'),
        _ => false,
    };
    points(own, false)
}

fn routeros(w: &[&str], line: &str) -> u32 {
    const SECTIONS: [&str; 9] = [
        "interface",
        "ip",
        "ipv6",
        "ppp",
        "queue",
        "routing",
        "system",
        "tool",
        "user",
    ];
    let own = match w {
        [section, ..] if section.starts_with('/') => SECTIONS.iter().any(|s| {
            let rest = section.strip_prefix('/').and_then(|r| r.strip_prefix(s));
            rest.is_some_and(|r| r.is_empty() || r.starts_with('/'))
        }),
        ["#", ..] => line.contains("RouterOS"),
        ["add", ..] => line.contains('='),
        _ => false,
    };
    points(own, matches!(w, ["set", ..]) && line.contains('='))
}

fn fortios(w: &[&str], line: &str) -> u32 {
    const SECTIONS: [&str; 10] = [
        "antivirus",
        "endpoint-control",
        "firewall",
        "log",
        "router",
        "switch-controller",
        "system",
        "user",
        "vpn",
        "webfilter",
    ];
    let own = match w {
        ["config", section, ..] => SECTIONS.contains(section),
        _ => line.starts_with("#config-version=FG"),
    };
    points(own, matches!(w, ["edit", _] | ["next"] | ["unset", _]))
}

fn sros(w: &[&str], line: &str) -> u32 {
    let own = match w {
        [
            "sap-ingress" | "sap-egress" | "network-queue" | "slope-policy" | "scheduler-policy",
            _,
            ..,
        ]
        | ["exit", "all"]
        | ["/configure", ..]
        | ["configure", "{" | "qos" | "service" | "port" | "router", ..]
        | ["mda" | "card", _, "{"]
        | ["mda-type" | "card-type", _]
        | ["sap", _, "create"] => true,
        [.., "create"] => w.len() > 2,
        _ => line.contains("TiMOS-"),
    };
    points(own, matches!(w, ["configure"] | ["echo", ..]))
}
