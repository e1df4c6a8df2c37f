//! Where platforms give the same command different meanings: one table.
//!
//! Each value says where it is from. What is marked *recalled* is from memory
//! of Cisco's documents and unchecked, what is marked *guess* fills a gap.

use spillgate_core::{Cells, Dur, Limit, Overhead, aal5};
use spillgate_queueing::Counting;
use spillgate_queueing::aqm::WredDefaults;
use spillgate_queueing::spec::FlowWeights;
use spillgate_scenario::import::{Framing, RingDefaults, RouterCounting};
use spillgate_scenario::{Diagnostic, Diagnostics, Platform};

use super::fault::code;

/// What percentages of a policy on an interface are of. Inside a shaped class they are of the
/// shaped rate everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    /// The interface's `bandwidth`.
    Bandwidth,
    /// The rate of the line; `bandwidth` is for routing protocols only.
    Line,
}

/// How much waits in a queue whose class has no `queue-limit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefaultLimit {
    /// What the queueing engine has: 64 packets.
    Engine,
    /// So much.
    Fixed(Limit),
    /// Packets of 1500 B that the enclosing rate sends in this time, `least` at least.
    Enclosing { time: Dur, least: u32 },
    /// The bytes that the enclosing rate, not that of the class, sends in this time.
    Around(Dur),
}

/// What `fair-queue` in a class is without arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FairDefaults {
    /// Flow-based WFQ: this many conversations, 64 packets each.
    Conversations { queues: u16 },
    /// Flows share the class's `queue-limit`; each may hold a quarter of it.
    QuarterOfLimit { queues: u16 },
}

/// What one platform makes of the commands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlatformProfile {
    pub(crate) platform: Platform,
    /// The platform in a few words.
    pub(crate) summary: &'static str,
    pub(crate) reference: Reference,
    /// Percent of the interface that `bandwidth` and `priority` may reserve, where
    /// `max-reserved-bandwidth` still counts; none where all may be.
    pub(crate) reservable: Option<u32>,
    /// Percent above which some releases refuse a policy that others take.
    pub(crate) advised: Option<u32>,
    /// What rates count beside the IP packet.
    pub(crate) counted: Counted,
    pub(crate) queue_limit: DefaultLimit,
    pub(crate) priority_limit: DefaultLimit,
    /// Whether the policer of `priority` drops without congestion, too.
    pub(crate) always_polices: bool,
    pub(crate) fair: FairDefaults,
    /// What the share of a flow of `fair-queue` depends on.
    pub(crate) weights: FlowWeights,
    /// Whose thresholds `random-detect` has where no profile says any.
    pub(crate) wred: WredDefaults,
    /// Packets of a transmit ring without `tx-ring-limit`.
    pub(crate) rings: RingDefaults,
    /// Where the values are from; one line each, for `spillgate import`.
    pub(crate) sources: &'static [&'static str],
}

/// Bytes that rates count beside the IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    /// On Ethernet, without a VLAN tag.
    pub(crate) ethernet: i16,
    /// On serial lines (HDLC, PPP).
    pub(crate) serial: i16,
    /// On circuits of ATM: the router's own, beside what the frame has before the IP packet.
    pub(crate) internal: i16,
    /// On circuits of ATM shapers and shares count the cells.
    pub(crate) shapes_cells: bool,
    /// On Ethernet and serial lines never more than the link adds.
    pub(crate) at_most_link: bool,
}

impl Counted {
    /// What is counted on an interface of this name; none if its framing does not follow from the
    /// name.
    fn bytes_on(self, interface: &str) -> Option<Overhead> {
        let per_packet = if interface.contains("Ether") || interface.contains("GigE") {
            // A sub-interface sends tagged frames.
            self.ethernet + if interface.contains('.') { 4 } else { 0 }
        } else if interface.starts_with("Serial") || interface.starts_with("Multilink") {
            self.serial
        } else {
            return None;
        };
        Some(Overhead::new(per_packet, 0, Cells::None))
    }

    /// What is counted on an interface of this name.
    pub(crate) fn on(self, interface: &str) -> RouterCounting {
        let all = self.bytes_on(interface);
        RouterCounting {
            counting: Counting {
                policers: all,
                queues: all,
            },
            at_most_link: self.at_most_link,
        }
    }

    /// What is counted on a circuit of ATM.
    pub(crate) fn on_circuit(self, framing: Framing) -> RouterCounting {
        let frame = framing.overhead().map(|o| {
            // The trailer is the hardware's.
            let header = o.per_packet() - aal5::TRAILER as i16;
            Overhead::new(header + self.internal, 0, Cells::None)
        });
        RouterCounting {
            counting: Counting {
                policers: frame,
                queues: frame.filter(|_| !self.shapes_cells),
            },
            at_most_link: false,
        }
    }

    /// The same for people.
    pub(crate) fn in_words(self) -> String {
        let Self {
            ethernet, serial, ..
        } = self;
        let most = match self.at_most_link {
            true => ", or what the link of the scenario adds where that is less",
            false => "",
        };
        let cells = match self.shapes_cells {
            true => "; `shape` and `bandwidth` count its cells",
            false => "",
        };
        format!(
            "beside each IP packet {ethernet} B on Ethernet ({} B tagged) and {serial} B on serial lines{most}; on a circuit of ATM {} B and what its frames have before the packet, such as 8 B of LLC and SNAP{cells}",
            ethernet + 4,
            self.internal
        )
    }
}

/// Layer-2 headers count, preamble, gap and check sequence do not: 14 B of Ethernet, 4 B of HDLC or
/// PPP; on circuits of ATM 8 B of LLC and SNAP and 4 B of the router's own, not the trailer,
/// padding and cells (Cisco, "What Bytes Are Counted by IP to ATM CoS Queueing?", 10420).
const LAYER_2: Counted = Counted {
    ethernet: 14,
    serial: 4,
    internal: 4,
    shapes_cells: false,
    at_most_link: false,
};

/// What a router's counters have beside each IP packet on an interface of this name; none if it
/// does not follow from the name.
pub(crate) fn layer2_bytes(interface: &str) -> Option<u16> {
    LAYER_2
        .bytes_on(interface)
        .map(|o| o.per_packet().unsigned_abs())
}

/// By the rate of the line, in b/s: "line rate (Mb/s) <" 2, 10, 20, 30, 40 and above, "txcount" 2,
/// 4, 8, 16, 32, 64.
const RING_SIZES: &[(u64, u32)] = &[
    (2_000_000, 2),
    (10_000_000, 4),
    (20_000_000, 8),
    (30_000_000, 16),
    (40_000_000, 32),
];

/// Cisco, "Understanding and Tuning the tx-ring-limit Value", document 6142, which gives the sizes
/// for interfaces and VCs (CSCdk17210). Routers seen agree: 2 on a serial port of a 2811 at
/// 1.5 Mb/s (ipspace.net, "FIFO Queuing"), 64 on a FastEthernet (davidsudjiman.info, "Interface
/// Hardware Queuing (tx_limited)", 2008); others are larger, 128 on some.
const RINGS: RingDefaults = RingDefaults {
    below: RING_SIZES,
    most: 64,
    source: "by line rate, Cisco document 6142",
};

/// What is said of IOS, for platforms of which nothing was found.
const RINGS_AS_ON_IOS: RingDefaults = RingDefaults {
    source: "no source was found for it; as on IOS by line rate, Cisco document 6142",
    ..RINGS
};

const RING_SOURCE: &str = "transmit ring of 2 packets below 2 Mb/s, 4 below 10, 8 below 20, 16 below 30, 32 below 40, else 64, unless `tx-ring-limit` says otherwise: Cisco, \"Understanding and Tuning the tx-ring-limit Value\", 6142";
const RING_GUESS: &str = "transmit ring as on IOS (Cisco, 6142: 2 packets below 2 Mb/s up to 64 from 40 Mb/s on), since no source was found for this platform: guess";
const CIRCUITS: &str = "on circuits of ATM `bandwidth` and `priority` count LLC and SNAP and 4 B of the router's own, not trailer, padding and cells: Cisco, \"What Bytes Are Counted by IP to ATM CoS Queueing?\", document 10420";
const OTHER_FRAMES: &str =
    "`police` and `shape` count the same there, and so do frames without LLC and SNAP: guess";

/// The table.
const PROFILES: [PlatformProfile; 5] = [
    PlatformProfile {
        platform: Platform::Ios,
        summary: "Cisco IOS by its command references, whatever the release",
        reference: Reference::Bandwidth,
        reservable: None,
        advised: Some(75),
        counted: Counted {
            at_most_link: true,
            ..LAYER_2
        },
        queue_limit: DefaultLimit::Engine,
        priority_limit: DefaultLimit::Engine,
        always_polices: false,
        fair: FairDefaults::Conversations { queues: 256 },
        weights: FlowWeights::Precedence,
        wred: WredDefaults::Ios,
        rings: RINGS,
        sources: &[
            RING_SOURCE,
            "percentages, queue limits of 64 packets, policing of `priority` under congestion: Cisco IOS QoS command reference",
            "all of the interface may be reserved, as since 12.4(20)T; more than 75 % or `max-reserved-bandwidth`, which earlier releases refuse, is a warning",
            "256 conversations, a congestive discard threshold of 64 packets, which is no limit (`cdt_policy: worst-sn`): Cisco IOS configuration guide, flow-based WFQ",
            "layer-2 headers count, the check sequence does not: recalled",
            CIRCUITS,
            OTHER_FRAMES,
        ],
    },
    PlatformProfile {
        platform: Platform::IosPreHqf,
        summary: "Cisco IOS before hierarchical queueing, 12.4 and earlier",
        reference: Reference::Bandwidth,
        reservable: Some(75),
        advised: None,
        counted: LAYER_2,
        queue_limit: DefaultLimit::Engine,
        priority_limit: DefaultLimit::Engine,
        always_polices: false,
        fair: FairDefaults::Conversations { queues: 256 },
        weights: FlowWeights::Precedence,
        wred: WredDefaults::Ios,
        rings: RINGS,
        sources: &[
            RING_SOURCE,
            "75 % of the interface may be reserved unless `max-reserved-bandwidth` says otherwise: Cisco IOS QoS command reference",
            "queue limit of 64 packets, policing of `priority` under congestion: Cisco IOS QoS command reference",
            "256 conversations, a congestive discard threshold of 64 packets, which is no limit (`cdt_policy: worst-sn`): Cisco IOS configuration guide, flow-based WFQ",
            "layer-2 headers count, the check sequence does not: recalled",
            CIRCUITS,
            OTHER_FRAMES,
        ],
    },
    PlatformProfile {
        platform: Platform::IosHqf,
        summary: "Cisco IOS with hierarchical queueing, 12.4(20)T and later, 15.x",
        reference: Reference::Bandwidth,
        reservable: None,
        advised: None,
        counted: LAYER_2,
        queue_limit: DefaultLimit::Engine,
        priority_limit: DefaultLimit::Engine,
        always_polices: false,
        fair: FairDefaults::QuarterOfLimit { queues: 256 },
        weights: FlowWeights::Equal,
        wred: WredDefaults::Ios,
        rings: RINGS,
        sources: &[
            RING_SOURCE,
            "`max-reserved-bandwidth` has no effect, all may be reserved: recalled",
            "queue limit of 64 packets, policing of `priority` under congestion: Cisco IOS QoS command reference",
            "a flow of `fair-queue` may hold a quarter of the queue limit and loses what comes then: \"per-flow queue limit\" and \"flowdrops\" of `show policy-map interface`",
            "flows of `fair-queue` share alike, whatever their precedence: measured, \"HQF: intra-class WFQ ignores the IP precedence\", blog.ipspace.net, 2009",
            "256 flow queues: guess",
            "layer-2 headers count, the check sequence does not: recalled",
            CIRCUITS,
            OTHER_FRAMES,
        ],
    },
    PlatformProfile {
        platform: Platform::IosXe,
        summary: "Cisco IOS XE on ASR 1000, ISR 4000 and their kin",
        reference: Reference::Bandwidth,
        reservable: None,
        advised: None,
        counted: Counted {
            shapes_cells: true,
            ..LAYER_2
        },
        queue_limit: DefaultLimit::Enclosing {
            time: Dur::from_ms(50),
            least: 64,
        },
        priority_limit: DefaultLimit::Fixed(Limit::Packets(512)),
        always_polices: false,
        fair: FairDefaults::QuarterOfLimit { queues: 16 },
        weights: FlowWeights::Equal,
        wred: WredDefaults::IosXe,
        rings: RINGS_AS_ON_IOS,
        sources: &[
            RING_GUESS,
            "queue limit of 50 ms of 1500-byte packets, 64 at least; 512 packets for priority classes: QoS Congestion Management Configuration Guide, IOS XE 16, \"Queue depth\"",
            "the 50 ms are at the interface's or the shaper's rate: guess",
            "layer-2 headers count, preamble, gap and check sequence do not: Cisco ASR 1000 QoS FAQ, table 1",
            "on circuits of ATM `shape` and `bandwidth` count whole cells: Cisco ASR 1000 QoS FAQ, table 1",
            "on circuits of ATM `police` and `priority` count as on IOS, not the cells: recalled",
            "policing of `priority` under congestion, a quarter of the queue limit for a flow: recalled",
            "WRED by precedence between a quarter and a half of the queue limit: `show policy-map interface` with limits of 62,500 B, 375,000 B and 562,500 B, in the parser tests of github.com/CiscoTestAutomation/genieparser",
            "WRED by DSCP between the same: guess",
            "flows of `fair-queue` share alike, as with HQF on IOS: guess",
            "16 flow queues: guess",
        ],
    },
    PlatformProfile {
        platform: Platform::IosXr,
        summary: "Cisco IOS XR",
        reference: Reference::Line,
        reservable: None,
        advised: None,
        counted: LAYER_2,
        queue_limit: DefaultLimit::Fixed(Limit::Time(Dur::from_ms(100))),
        priority_limit: DefaultLimit::Around(Dur::from_ms(10)),
        always_polices: true,
        fair: FairDefaults::Conversations { queues: 256 },
        weights: FlowWeights::Precedence,
        wred: WredDefaults::Ios,
        rings: RINGS_AS_ON_IOS,
        sources: &[
            RING_GUESS,
            "queue limit of 100 ms at the guaranteed rate; 10 ms at the interface's rate for priority level 1: IOS XR QoS Command Reference for the CRS Router, release 4.0, `queue-limit`",
            "10 ms for other priority levels, too: guess",
            "percentages are of the line's rate, `bandwidth` of an interface is for routing: recalled",
            "priority classes are policed by `police`, congested or not: recalled",
            "WRED between 20 and 40 packets as on IOS: guess",
            "layer-2 headers count, the check sequence does not, on circuits of ATM as on IOS: guess",
            "`fair-queue` is not a command there; taken as on IOS: guess",
        ],
    },
];

/// Every platform with what it is in a few words.
pub fn platforms() -> impl Iterator<Item = (&'static str, &'static str)> {
    PROFILES.iter().map(|p| (p.platform.name(), p.summary))
}

/// What rates of a platform count on an interface of this name, or on a circuit of ATM with these
/// frames; nothing is known of an interface whose framing does not follow from its name.
pub fn counted(platform: Platform, interface: &str, circuit: Option<Framing>) -> RouterCounting {
    let counted = PlatformProfile::of(platform).counted;
    match circuit {
        Some(framing) => counted.on_circuit(framing),
        None => counted.on(interface),
    }
}

/// The platform of a name.
///
/// # Errors
/// A name that is none of [`platforms`].
pub fn platform_by_name(name: &str) -> Result<Platform, Diagnostics> {
    Platform::by_name(name).ok_or_else(|| {
        let names: Vec<_> = platforms().map(|(name, _)| name).collect();
        Diagnostic::error(code::NO_PLATFORM, format!("there is no platform `{name}`"))
            .hint(format!("platforms: {}", names.join(", ")))
            .into()
    })
}

impl PlatformProfile {
    /// The profile of a platform.
    pub(crate) fn of(platform: Platform) -> &'static Self {
        // Every platform is in the table, which a test checks.
        PROFILES
            .iter()
            .find(|p| p.platform == platform)
            .unwrap_or(&PROFILES[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_platform_has_one_profile_with_sources() {
        for platform in Platform::ALL {
            assert_eq!(PlatformProfile::of(platform).platform, platform);
            assert!(!PlatformProfile::of(platform).sources.is_empty());
        }
        assert_eq!(PROFILES.len(), Platform::ALL.len());
    }

    #[test]
    fn counted_bytes_follow_the_kind_of_interface() {
        let on = |name| {
            LAYER_2
                .bytes_on(name)
                .map(|o| o.per_packet().unsigned_abs())
        };
        assert_eq!(on("GigabitEthernet0/0"), Some(14));
        assert_eq!(on("TenGigabitEthernet0/0.7"), Some(18));
        assert_eq!(on("HundredGigE0/0/0/1"), Some(14));
        assert_eq!(on("Serial0/0/0"), Some(4));
        assert_eq!(on("Tunnel1"), None);
    }
}
