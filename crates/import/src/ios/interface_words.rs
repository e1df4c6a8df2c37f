//! The words of an interface's block, and the names of interfaces.

use std::sync::LazyLock;

use spillgate_core::Rate;

use super::keyword::{Keywords, abbreviates, table};

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum InterfaceVerb {
    Bandwidth,
    ServicePolicy,
    HoldQueue,
    TxRing,
    MaxReserved,
    FairQueue,
    RandomDetect,
    Ip,
    Mpls,
    /// `nhrp`, `ip nhrp`.
    Nhrp,
    Ppp,
    FrameRelay,
    Encapsulation,
    Switchport,
    /// `speed` of an Ethernet port; of another line it is skipped.
    Speed,
    /// Not modelled, if this word follows (any, if empty); the reason.
    Foreign(&'static str, &'static str),
    /// Opens a circuit of an ATM interface.
    Pvc,
    /// Opens several of an ATM interface, or one that is set up by signaling.
    Circuits,
    /// `class-int`.
    ClassInt,
    /// `atm pvc`, `atm route-bridged`, and what has nothing to do with queueing.
    Atm,
    BridgeGroup,
    Pppoe,
    /// Has nothing to do with queueing.
    Skip,
}

use InterfaceVerb::{Foreign, Skip};

const LEGACY: &str = "only modular QoS (policy-map) is modelled, not the legacy queueing commands";
const SWITCH: &str = "queueing of switch hardware is not modelled";
const CIRCUIT: &str = "the rates of a `pvc` of its own and of a `vc-class atm` are modelled";
const RING: &str = "the queues of a Cisco 7500 are not modelled; `tx-ring-limit` is";

/// A command of SD-WAN only: on other routers `sh` is `shutdown`.
pub(crate) const SHAPING_RATE: (&str, InterfaceVerb) = (
    "shaping-rate",
    Foreign(
        "",
        "the shaper of an SD-WAN interface is not modelled; `shape` in a policy-map is",
    ),
);

/// Commands of an interface. Those without queueing are there so that
/// abbreviations are as ambiguous as on the router.
pub(crate) static INTERFACE: Keywords<InterfaceVerb> = LazyLock::new(|| {
    table(&[
        (
            Foreign("", CIRCUIT),
            "abr cbr class-vc ubr ubr+ vbr-nrt vbr-rt",
        ),
        (
            Skip,
            "access-group arp authentication autodetect backup carrier-delay cdp channel-group \
             clock crypto delay description dialer dialer-group dot1q dot1x down-when-looped \
             duplex full-duplex glbp half-duplex ipv6 isdn isis keepalive l2protocol-tunnel lacp \
             lldp load-interval logging loopback mac mac-address map-group mdix media-type mop \
             mtu multilink-group negotiation ntp peer physical-layer pppoe-client serial \
             shutdown snmp spanning-tree standby timeslot tunnel udld vlan vrf vrrp xconnect \
             zone-member",
        ),
        (InterfaceVerb::Atm, "atm"),
        (
            Foreign(
                "qos",
                "what `auto qos` generates is read, not the command itself",
            ),
            "auto",
        ),
        (InterfaceVerb::Bandwidth, "bandwidth"),
        (
            Foreign(
                "",
                "marking by BGP attributes is not modelled; `set` in a policy-map is",
            ),
            "bgp-policy",
        ),
        (InterfaceVerb::BridgeGroup, "bridge-group"),
        (InterfaceVerb::Circuits, "bundle range svc"),
        (
            Foreign("", "frame-relay map classes are not modelled"),
            "class",
        ),
        (InterfaceVerb::ClassInt, "class-int"),
        (
            Foreign("", "compression is not modelled: packets keep their length"),
            "compress",
        ),
        (Foreign("", LEGACY), "custom-queue-list priority-group"),
        (InterfaceVerb::Encapsulation, "encapsulation"),
        (InterfaceVerb::FairQueue, "fair-queue"),
        (InterfaceVerb::FrameRelay, "frame-relay"),
        (InterfaceVerb::HoldQueue, "hold-queue"),
        (InterfaceVerb::Ip, "ip"),
        (InterfaceVerb::MaxReserved, "max-reserved-bandwidth"),
        (Foreign("qos", SWITCH), "mls"),
        (InterfaceVerb::Mpls, "mpls"),
        (InterfaceVerb::Nhrp, "nhrp"),
        (InterfaceVerb::Ppp, "ppp"),
        (InterfaceVerb::Pppoe, "pppoe"),
        (
            Foreign("", SWITCH),
            "priority-queue queue-set rcv-queue srr-queue storm-control trust wrr-queue",
        ),
        (InterfaceVerb::Pvc, "pvc"),
        (
            Foreign(
                "",
                "classification before encryption or by switch hardware is not modelled",
            ),
            "qos",
        ),
        (InterfaceVerb::RandomDetect, "random-detect"),
        (
            Foreign(
                "",
                "committed access rate is not modelled; `police` in a policy-map is",
            ),
            "rate-limit",
        ),
        (InterfaceVerb::ServicePolicy, "service-policy"),
        (InterfaceVerb::Speed, "speed"),
        (InterfaceVerb::Switchport, "switchport"),
        (
            Foreign(
                "",
                "generic traffic shaping is not modelled; `shape` in a policy-map is",
            ),
            "traffic-shape",
        ),
        (Foreign("", RING), "tx-queue-limit"),
        (InterfaceVerb::TxRing, "tx-ring-limit"),
    ])
});

/// Commands of an interface that the importer reads.
pub(crate) const QUEUEING: [&str; 6] = [
    "bandwidth",
    "fair-queue",
    "hold-queue",
    "random-detect",
    "service-policy",
    "tx-ring-limit",
];

/// How the interfaces of a type are numbered.
#[derive(Clone, Copy, PartialEq)]
enum Numbers {
    /// By slot and port: `1/0`.
    Slots,
    /// By slot and port, or the only number that there is: `0/1`, `0`.
    Any,
    /// One after the other: `1`.
    Units,
    /// By rack, slot, module and port, as on IOS XR: `0/0/0/1`.
    Racks,
}

impl Numbers {
    fn fit(self, number: &str) -> bool {
        match (self, number.matches('/').count()) {
            (Self::Slots, n) => n > 0,
            (Self::Any, _) => true,
            (Self::Units, n) => n == 0,
            (Self::Racks, n) => n == 3,
        }
    }
}

use Numbers::{Any, Racks, Slots, Units};

/// Interface types in full, how they are numbered, and whether the type is meant where letters and
/// number fit several (of which no router has all).
const TYPES: [(&str, Numbers, bool); 36] = [
    ("TenGigE", Racks, true),
    ("FortyGigE", Racks, true),
    ("GigabitEthernet", Any, true),
    ("FastEthernet", Any, true),
    ("TenGigabitEthernet", Slots, true),
    ("TwoGigabitEthernet", Slots, true),
    ("FiveGigabitEthernet", Slots, false),
    ("TwentyFiveGigE", Slots, false),
    ("FortyGigabitEthernet", Slots, true),
    ("HundredGigE", Slots, true),
    ("TwoHundredGigE", Slots, false),
    ("FourHundredGigE", Slots, false),
    ("Ethernet", Any, true),
    ("Serial", Any, true),
    ("Tunnel", Units, true),
    ("Loopback", Units, true),
    ("Port-channel", Units, true),
    ("Vlan", Units, true),
    ("Dialer", Units, true),
    ("Multilink", Units, true),
    ("ATM", Any, true),
    ("POS", Any, false),
    ("BDI", Units, false),
    ("BVI", Units, false),
    ("BRI", Any, false),
    ("Bundle-Ether", Units, false),
    ("Async", Any, false),
    ("Cellular", Any, false),
    ("Group-Async", Units, false),
    ("Service-Engine", Slots, false),
    ("MgmtEth", Racks, false),
    ("Virtual-Access", Any, false),
    ("Virtual-Template", Units, false),
    ("Virtual-PPP", Units, false),
    ("Null", Units, false),
    ("NVE", Units, false),
];

/// The types that letters before a number stand for.
fn types<'n>(
    kind: &'n str,
    number: &'n str,
) -> impl Iterator<Item = &'static (&'static str, Numbers, bool)> + 'n {
    let fits = move |t: &&(&str, Numbers, bool)| abbreviates(kind, t.0, 1) && t.1.fit(number);
    TYPES.iter().filter(fits)
}

/// Whether letters before a number are the beginning of a type of interfaces.
pub(crate) fn is_kind(kind: &str, number: &str) -> bool {
    types(kind, number).next().is_some()
}

/// The full name of an interface: `gi0/1` and `g0/1` are GigabitEthernet0/1. As on the command
/// line, letters stand for the one type that begins so and is numbered so; of several the one is
/// meant that is usual, and where there is none the name stays as it is.
pub fn canonical(name: &str) -> String {
    let split = name
        .find(|c: char| c.is_ascii_digit())
        .unwrap_or(name.len());
    let (kind, number) = name.split_at(split);
    let exact = TYPES.iter().find(|t| t.0.eq_ignore_ascii_case(kind));
    let only = || {
        let mut fit = types(kind, number);
        fit.next().filter(|_| fit.next().is_none())
    };
    let usual = || types(kind, number).find(|t| t.2);
    match exact.or_else(only).or_else(usual) {
        Some((full, ..)) => format!("{full}{number}"),
        None => name.to_owned(),
    }
}

/// Whether an interface of this full name is an Ethernet port, or a sub-interface of one.
pub(crate) fn is_ethernet(name: &str) -> bool {
    name.contains("Ethernet") || name.contains("GigE")
}

/// The interface that a sub-interface belongs to: GigabitEthernet0/1 for GigabitEthernet0/1.20.
pub(crate) fn parent(name: &str) -> Option<&str> {
    name.rsplit_once('.').map(|(parent, _)| parent)
}

/// The `bandwidth` of an interface that has no such command, by its type, in kbit/s: the nominal
/// rate of Ethernet, 1544 of serial lines, 100 of tunnels (recalled). None for types whose rate
/// depends on what is bundled or dialed.
pub fn default_bandwidth(name: &str) -> Option<Rate> {
    const KBPS: [(&str, u64); 15] = [
        ("GigabitEthernet", 1_000_000),
        ("FastEthernet", 100_000),
        ("TenGigabitEthernet", 10_000_000),
        ("TenGigE", 10_000_000),
        ("TwoGigabitEthernet", 2_500_000),
        ("FiveGigabitEthernet", 5_000_000),
        ("TwentyFiveGigE", 25_000_000),
        ("FortyGigabitEthernet", 40_000_000),
        ("FortyGigE", 40_000_000),
        ("HundredGigE", 100_000_000),
        ("Ethernet", 10_000),
        ("Serial", 1544),
        ("Tunnel", 100),
        ("Vlan", 1_000_000),
        ("POS", 155_000),
    ];
    let kind = &name[..name
        .find(|c: char| c.is_ascii_digit())
        .unwrap_or(name.len())];
    let (_, kbps) = KBPS.iter().find(|(n, _)| *n == kind)?;
    Rate::from_bps(kbps * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_a_bandwidth_and_sub_interfaces_a_parent() {
        let kbps = |name| default_bandwidth(name).map(|r| r.bps() / 1000);
        assert_eq!(kbps("GigabitEthernet0/0.7"), Some(1_000_000));
        assert_eq!(kbps("Serial0/0/0:23"), Some(1544));
        assert_eq!(kbps("Dialer1"), None);
        assert_eq!(parent("Serial0/0.100"), Some("Serial0/0"));
        assert_eq!(parent("Serial0/0"), None);
    }

    #[test]
    fn interface_names_are_spelled_out() {
        for (written, full) in [
            ("gi0/0", "GigabitEthernet0/0"),
            ("GigabitEthernet0/0.100", "GigabitEthernet0/0.100"),
            ("gigabitethernet0/0", "GigabitEthernet0/0"),
            ("Te1/1/1", "TenGigabitEthernet1/1/1"),
            ("fa0", "FastEthernet0"),
            ("se0/0/0:23", "Serial0/0/0:23"),
            ("Vlan10", "Vlan10"),
            ("wlan-ap0", "wlan-ap0"),
            ("Po1", "Port-channel1"),
            ("po1/0", "POS1/0"),
            ("g0/0", "GigabitEthernet0/0"),
            ("f0/1", "FastEthernet0/1"),
            ("s0/1/0", "Serial0/1/0"),
            ("S0/1/0.20", "Serial0/1/0.20"),
            ("e0/1", "Ethernet0/1"),
            ("t0/1", "TenGigabitEthernet0/1"),
            ("t1", "Tunnel1"),
            ("tu1", "Tunnel1"),
            ("l0", "Loopback0"),
            ("v10", "Vlan10"),
            ("d1", "Dialer1"),
            ("m1", "Multilink1"),
            ("a0/0/0", "ATM0/0/0"),
            ("te0/0/0/1", "TenGigE0/0/0/1"),
            ("fo1/1/1", "FortyGigabitEthernet1/1/1"),
            ("twe1/0/1", "TwentyFiveGigE1/0/1"),
            ("tw1/0/1", "TwoGigabitEthernet1/0/1"),
            ("b1", "b1"),
            ("bv1", "BVI1"),
            ("virtual-t1", "Virtual-Template1"),
            ("10GE1/0/1", "10GE1/0/1"),
        ] {
            assert_eq!(canonical(written), full);
        }
    }
}
