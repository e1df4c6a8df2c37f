//! Commands of the global mode, as far as they matter for finding out where
//! a block ends: text need not be indented.

use std::sync::LazyLock;

use super::keyword::{Keywords, table};

/// What a global command is to the importer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Global {
    ClassMap,
    PolicyMap,
    Interface,
    AccessList,
    /// `ip access-list`, or something else of IP.
    Ip,
    /// `ipv4 access-list` of IOS XR.
    Ipv4,
    Ipv6,
    Mac,
    Banner,
    Aaa,
    Macro,
    /// `service-policy` outside an interface, or one of the `service` commands.
    Service,
    /// Queueing that is not modelled; the reason.
    Foreign(&'static str),
    /// The same if `qos` follows.
    Qos(&'static str),
    /// `object-group`.
    ObjectGroup,
    /// `vc-class atm`.
    VcClass,
    /// Opens a mode of its own, whose lines are skipped.
    Block,
    /// Stands alone and is skipped.
    Other,
}

use Global::{Block, Foreign, Other};

const LEGACY: &str = "only modular QoS (policy-map) is modelled, not the legacy queueing lists";
const SWITCH: &str = "queueing of switch hardware is not modelled";

/// Global commands. Those that can begin a line of an interface, too, do not end its block there.
pub(crate) static GLOBALS: Keywords<Global> = LazyLock::new(|| {
    table(&[
        (Global::Aaa, "aaa"),
        (
            Other,
            "access-class alias arp boot boot-end-marker boot-start-marker bridge cdp clns clock \
             cns cts default diagnostic dialer-list do dot1x enable end errdisable exception \
             file frame-relay hostname hw-module isdn license lldp logging login memory \
             memory-size mmi monitor mpls multilink nbar netconf-yang network-clock-participate \
             ntp parser port-channel privilege process prompt radius-server rmon scheduler \
             security snmp snmp-server spanning-tree ssh standby subscriber system tacacs-server \
             terminal tftp-server udld upgrade username version vpdn vtp",
        ),
        (Global::AccessList, "access-list"),
        (
            Block,
            "appfw archive bba-group call control-plane controller crypto dial-peer dot11 event \
             flow gatekeeper ipc isis key l2vpn line map-class parameter-map radius redundancy \
             resource route-map router switch table-map tacacs telephony-service template track \
             virtual-template vlan voice voice-card voice-port vpdn-group vrf webvpn wsma zone \
             zone-pair",
        ),
        (Global::Banner, "banner"),
        (Global::Interface, "interface"),
        (Global::Ip, "ip"),
        (Global::Ipv4, "ipv4"),
        (Global::Ipv6, "ipv6"),
        (Global::Mac, "mac"),
        (Global::Macro, "macro"),
        (Global::Qos(SWITCH), "mls platform"),
        (Global::ObjectGroup, "object-group"),
        (Global::PolicyMap, "policy-map"),
        (
            Foreign(LEGACY),
            "priority-list queue-list random-detect-group",
        ),
        (Foreign(SWITCH), "qos wrr-queue"),
        (Global::Service, "service service-policy"),
        (Global::VcClass, "vc-class"),
        (Global::ClassMap, "class-map"),
    ])
});

/// `service` commands that have nothing to do with policies.
pub(crate) const SERVICES: &str = "alignment call-home compress-config config counters dhcp disable-ip-fast-frag exec-callback \
     exec-wait finger hide-telnet-addresses internal linenumber nagle old-slip-prompts pad \
     password-encryption prompt pt-vty-logging sequence-numbers slave-log tcp-keepalives-in \
     tcp-keepalives-out tcp-small-servers telnet-zeroidle timestamps udp-small-servers \
     unsupported-transceiver";

/// Commands of sub-modes in which `service-policy` stands, to name what it is attached to.
pub(crate) const ATTACHMENTS: &[(&str, &str)] = &[
    ("control-plane", "the control plane"),
    ("map-class", "a frame-relay map class"),
    ("zone-pair", "a zone pair"),
    ("vlan", "a VLAN"),
    ("template", "a template"),
    ("voice-port", "a voice port"),
];

const MAP_CLASS: &str = "queueing of frame-relay map classes is not modelled";
const MARKING: &str = "marking by a route-map is not modelled; `set` in a policy-map is";

/// Lines about queueing in blocks that are skipped: the first word, the words of which one follows
/// (any, if there are none), and why it has no effect.
pub(crate) const IN_BLOCKS: &[(&str, &[&str], &str)] = &[
    (
        "frame-relay",
        &[
            "adaptive-shaping",
            "bc",
            "be",
            "cir",
            "custom-queue-list",
            "fair-queue",
            "fragment",
            "holdq",
            "ip",
            "mincir",
            "priority-group",
            "traffic-rate",
            "voice",
        ],
        MAP_CLASS,
    ),
    (
        "qos",
        &["pre-classify"],
        "classification before encryption is not modelled",
    ),
    (
        "set",
        &["ip", "precedence", "qos-group", "tos", "dscp"],
        MARKING,
    ),
    (
        "shaping-rate",
        &[],
        "the shaper of an SD-WAN interface is not modelled; `shape` in a policy-map is",
    ),
];

/// What follows `set ip` of a route-map if it marks.
pub(crate) const MARKS: [&str; 4] = ["dscp", "precedence", "qos-group", "tos"];
