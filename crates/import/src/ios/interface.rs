//! `interface`: its bandwidth, its output policy, and the queueing that it
//! has without one.

use spillgate_queueing::spec::FairQueueSpec;

use super::args::{Args, nearest};
use super::ast::{At, FairQueue, Interface, InterfaceQueueing, Origin, Wred};
use super::class::power_of_two;
use super::fault::{Fault, Refusal, code};
use super::globals::{GLOBALS, Global};
use super::keyword::{Found, Table, abbreviates, find};
use super::parse::{Command, Kind, Mode, Parser, lookup};
use super::policy_map::path;
use super::wred;

#[derive(Clone, Copy, PartialEq)]
enum Verb {
    Bandwidth,
    ServicePolicy,
    HoldQueue,
    FairQueue,
    RandomDetect,
    Ip,
    Ppp,
    FrameRelay,
    /// Not modelled, if this word follows (any, if empty); the reason.
    Foreign(&'static str, &'static str),
    /// Opens a circuit of the interface.
    Circuit,
    /// Has nothing to do with queueing.
    Skip,
}

use Verb::{Foreign, Skip};

const LEGACY: &str = "only modular QoS (policy-map) is modelled, not the legacy queueing commands";
const SWITCH: &str = "queueing of switch hardware is not modelled";
const RING: &str = "the transmit ring is not modelled: the policy's queue is the only one";

/// Commands of an interface. Those without queueing are there so that
/// abbreviations are as ambiguous as on the router.
const INTERFACE: &Table<Verb> = &[
    ("access-group", Skip),
    ("arp", Skip),
    ("atm", Skip),
    ("authentication", Skip),
    (
        "auto",
        Foreign(
            "qos",
            "what `auto qos` generates is read, not the command itself",
        ),
    ),
    ("autodetect", Skip),
    ("backup", Skip),
    ("bandwidth", Verb::Bandwidth),
    ("bridge-group", Skip),
    ("bundle", Skip),
    ("carrier-delay", Skip),
    ("cdp", Skip),
    ("channel-group", Skip),
    (
        "class",
        Foreign("", "frame-relay map classes are not modelled"),
    ),
    ("clock", Skip),
    ("crypto", Skip),
    ("custom-queue-list", Foreign("", LEGACY)),
    ("delay", Skip),
    ("description", Skip),
    ("dialer", Skip),
    ("dialer-group", Skip),
    ("dot1q", Skip),
    ("dot1x", Skip),
    ("down-when-looped", Skip),
    ("duplex", Skip),
    ("encapsulation", Skip),
    ("fair-queue", Verb::FairQueue),
    ("frame-relay", Verb::FrameRelay),
    ("full-duplex", Skip),
    ("glbp", Skip),
    ("half-duplex", Skip),
    ("hold-queue", Verb::HoldQueue),
    ("ip", Verb::Ip),
    ("ipv6", Skip),
    ("isdn", Skip),
    ("isis", Skip),
    ("keepalive", Skip),
    ("l2protocol-tunnel", Skip),
    ("lacp", Skip),
    ("lldp", Skip),
    ("load-interval", Skip),
    ("logging", Skip),
    ("loopback", Skip),
    ("mac", Skip),
    ("mac-address", Skip),
    ("map-group", Skip),
    (
        "max-reserved-bandwidth",
        Foreign(
            "",
            "all of the link may be reserved; above 75 % there is a warning",
        ),
    ),
    ("mdix", Skip),
    ("media-type", Skip),
    ("mls", Foreign("qos", SWITCH)),
    ("mop", Skip),
    ("mpls", Skip),
    ("mtu", Skip),
    ("multilink-group", Skip),
    ("negotiation", Skip),
    ("ntp", Skip),
    ("peer", Skip),
    ("physical-layer", Skip),
    ("ppp", Verb::Ppp),
    ("pppoe", Skip),
    ("pppoe-client", Skip),
    ("priority-group", Foreign("", LEGACY)),
    ("priority-queue", Foreign("", SWITCH)),
    ("pvc", Verb::Circuit),
    (
        "qos",
        Foreign(
            "",
            "classification before encryption or by switch hardware is not modelled",
        ),
    ),
    ("queue-set", Foreign("", SWITCH)),
    ("random-detect", Verb::RandomDetect),
    (
        "rate-limit",
        Foreign(
            "",
            "committed access rate is not modelled; `police` in a policy-map is",
        ),
    ),
    ("rcv-queue", Foreign("", SWITCH)),
    ("serial", Skip),
    ("service-policy", Verb::ServicePolicy),
    ("shutdown", Skip),
    ("snmp", Skip),
    ("spanning-tree", Skip),
    ("speed", Skip),
    ("srr-queue", Foreign("", SWITCH)),
    ("standby", Skip),
    ("storm-control", Foreign("", SWITCH)),
    ("switchport", Skip),
    ("timeslot", Skip),
    (
        "traffic-shape",
        Foreign(
            "",
            "generic traffic shaping is not modelled; `shape` in a policy-map is",
        ),
    ),
    ("trust", Foreign("", SWITCH)),
    ("tunnel", Skip),
    ("tx-queue-limit", Foreign("", RING)),
    ("tx-ring-limit", Foreign("", RING)),
    ("udld", Skip),
    ("vlan", Skip),
    ("vrf", Skip),
    ("vrrp", Skip),
    ("wrr-queue", Foreign("", SWITCH)),
    ("xconnect", Skip),
    ("zone-member", Skip),
];

/// Commands of an interface that the importer reads.
const QUEUEING: [&str; 5] = [
    "bandwidth",
    "fair-queue",
    "hold-queue",
    "random-detect",
    "service-policy",
];

/// Interface types, in full and as abbreviated in practice; ambiguous ones resolve to the first.
const TYPES: [(&str, usize); 27] = [
    ("GigabitEthernet", 2),
    ("FastEthernet", 2),
    ("TenGigabitEthernet", 2),
    ("TwoGigabitEthernet", 3),
    ("FiveGigabitEthernet", 3),
    ("TwentyFiveGigE", 3),
    ("FortyGigabitEthernet", 2),
    ("HundredGigE", 2),
    ("Ethernet", 2),
    ("Serial", 2),
    ("Tunnel", 2),
    ("Loopback", 2),
    ("Port-channel", 2),
    ("Vlan", 2),
    ("Dialer", 2),
    ("Multilink", 2),
    ("ATM", 2),
    ("POS", 2),
    ("BDI", 2),
    ("BVI", 2),
    ("BRI", 2),
    ("Async", 2),
    ("Cellular", 2),
    ("Group-Async", 2),
    ("Virtual-Template", 9),
    ("Virtual-PPP", 9),
    ("Null", 2),
];

/// The full name of an interface: `gi0/1` is GigabitEthernet0/1.
fn canonical(name: &str) -> String {
    let split = name
        .find(|c: char| c.is_ascii_digit())
        .unwrap_or(name.len());
    let (kind, number) = name.split_at(split);
    match TYPES
        .iter()
        .find(|(full, least)| abbreviates(kind, full, *least))
    {
        Some((full, _)) => format!("{full}{number}"),
        None => name.to_owned(),
    }
}

/// `interface NAME`.
pub(crate) fn header<'a>(p: &mut Parser<'a, '_, '_>, mut c: Command<'a>) -> Kind {
    p.enter(Mode::Global, c.line);
    let first = match c.args.name("the name of an interface") {
        Ok(name) => name,
        Err(refusal) => {
            p.report.refuse(c.origin(), "interface", refusal);
            p.enter(Mode::Block("an interface in error"), c.line);
            return Kind::Queueing;
        }
    };
    if first.text.eq_ignore_ascii_case("range") {
        p.report.unmodelled(
            c.origin(),
            "ranges of interfaces are not read; a running-config lists each",
        );
        p.enter(Mode::Block("a range of interfaces"), c.line);
        return Kind::Queueing;
    }
    let mut name = first.text.to_owned();
    let number = c.args.peek().filter(|w| {
        !first.text.contains(|c: char| c.is_ascii_digit())
            && w.text.starts_with(|c: char| c.is_ascii_digit())
    });
    if let Some(number) = number {
        name.push_str(number.text);
    }
    let name = canonical(&name);
    if c.negated {
        p.config.interface_index.remove(&name);
        return Kind::Other;
    }
    let index = match p.config.interface_index.get(&name) {
        Some(index) => *index,
        None => {
            let index = p.config.interfaces.len();
            p.config.interfaces.push(Interface {
                name: name.clone(),
                origin: Origin::new(c.line, first.column),
                bandwidth: None,
                output_policy: None,
                queueing: None,
                hold_queue: None,
                wred: Wred::default(),
            });
            p.config.interface_index.insert(name, index);
            index
        }
    };
    p.enter(Mode::Interface(index, None), c.line);
    Kind::Queueing
}

/// A line inside an interface; none if it is not the interface's. `leaves`:
/// it is not indented though the block is.
pub(crate) fn command<'a>(
    p: &mut Parser<'a, '_, '_>,
    c: Command<'a>,
    index: usize,
    circuit: Option<usize>,
    leaves: bool,
) -> Option<Kind> {
    let verb = match lookup(&[INTERFACE], &c) {
        Found::Exact(Skip | Verb::Ip) | Found::Prefix(Skip) if leaves => return None,
        Found::Exact(verb) | Found::Prefix(verb) => verb,
        Found::Ambiguous(names) if !leaves => {
            // Skipping it must not lose a queueing command in silence.
            let is_queueing_name =
                |n: &&'static str| !matches!(find(INTERFACE, n), Found::Exact(Skip));
            if !names.iter().any(is_queueing_name) {
                return Some(Kind::Other);
            }
            let reason = format!("ambiguous: {}", names.join(", "));
            p.report.unmodelled(c.origin(), reason);
            return Some(Kind::Queueing);
        }
        // An unknown word of unindented text is taken for one more command of the interface.
        Found::None | Found::Ambiguous(_) => {
            let head = matches!(find(GLOBALS, c.word.text), Found::Exact(g) if g != Global::Other)
                || matches!(
                    find(GLOBALS, c.word.text),
                    Found::Prefix(Global::ClassMap | Global::PolicyMap | Global::Interface)
                );
            if leaves || head {
                return None;
            }
            // Other unknown commands are none of ours, unless one is a misspelt one of ours.
            return Some(match nearest(c.word.text, QUEUEING.into_iter()) {
                Some(near) if !c.negated => {
                    let reason = format!("not understood; did you mean `{near}`?");
                    p.report.unmodelled(c.origin(), reason);
                    Kind::Queueing
                }
                _ => Kind::Other,
            });
        }
    };
    let origin = c.origin();
    let result = match verb {
        Skip => return Some(Kind::Other),
        Verb::Circuit if c.negated => return Some(Kind::Other),
        Verb::ServicePolicy if is_service_instance(&c) => {
            p.mode = Mode::Interface(index, Some(c.line.depth));
            return Some(Kind::Other);
        }
        Verb::Circuit => {
            p.mode = Mode::Interface(index, Some(c.line.depth));
            return Some(Kind::Other);
        }
        Verb::Ip => {
            const FOREIGN: [(&str, &str); 3] = [
                (
                    "rtp",
                    "`ip rtp priority` is not modelled; `priority` in a policy-map is",
                ),
                ("rsvp", "RSVP is not modelled"),
                ("nbar", "protocol discovery changes no packet"),
            ];
            match c.args.peek() {
                Some(w) if abbreviates(w.text, "access-list", 8) => return None,
                Some(w) => match find(&FOREIGN, w.text) {
                    Found::Exact(reason) => Err(Refusal::Unmodelled(reason.to_owned())),
                    _ => return Some(Kind::Other),
                },
                None => return Some(Kind::Other),
            }
        }
        Verb::Ppp => {
            let mut args = c.args;
            const LFI: [(&str, ()); 2] = [("fragment", ()), ("interleave", ())];
            if !args.take("multilink") || args.try_keyword(&LFI).is_none() {
                return Some(Kind::Other);
            }
            Err(Refusal::Unmodelled(
                "link fragmentation and interleaving is not modelled".to_owned(),
            ))
        }
        Verb::FrameRelay => {
            const QUEUEING: [(&str, ()); 7] = [
                ("class", ()),
                ("congestion-management", ()),
                ("de-group", ()),
                ("fair-queue", ()),
                ("fragment", ()),
                ("priority-dlci-group", ()),
                ("traffic-shaping", ()),
            ];
            let mut args = c.args;
            if args.take("interface-dlci") && !c.negated {
                p.mode = Mode::Interface(index, Some(c.line.depth));
                return Some(Kind::Other);
            }
            if args.try_keyword(&QUEUEING).is_none() {
                return Some(Kind::Other);
            }
            Err(Refusal::Unmodelled(
                "queueing of frame-relay circuits is not modelled".to_owned(),
            ))
        }
        Verb::Foreign(follows, reason) => {
            let mut args = c.args;
            if !follows.is_empty() && args.next().is_none_or(|w| w.text != follows) {
                return Some(Kind::Other);
            }
            Err(Refusal::Unmodelled(reason.to_owned()))
        }
        _ if circuit.is_some() => Err(Refusal::Unmodelled(
            "queueing of a circuit is not modelled; that of interfaces and sub-interfaces is"
                .to_owned(),
        )),
        Verb::Bandwidth => bandwidth(p, c, index),
        Verb::ServicePolicy => service_policy(p, c, index),
        Verb::HoldQueue => hold_queue(p, c, index),
        Verb::FairQueue => fair_queue(p, c, index),
        Verb::RandomDetect => {
            let mut args = c.args;
            let wred = &mut p.config.interfaces[index].wred;
            if c.negated {
                wred::remove(wred, &mut args)
            } else {
                wred::random_detect(wred, &mut args, origin)
            }
        }
    };
    match result {
        Err(Refusal::Unmodelled(_)) if c.negated => {}
        Err(refusal) => p.report.refuse(origin, path(p.mode, &p.config), refusal),
        Ok(()) => {}
    }
    Some(Kind::Queueing)
}

/// `service instance N ethernet`: an Ethernet flow point of the interface.
fn is_service_instance(c: &Command<'_>) -> bool {
    c.word.text.eq_ignore_ascii_case("service")
        && c.args
            .peek()
            .is_some_and(|w| abbreviates(w.text, "instance", 3))
}

/// `bandwidth KBPS`.
fn bandwidth<'a>(
    p: &mut Parser<'a, '_, '_>,
    mut c: Command<'a>,
    index: usize,
) -> Result<(), Refusal> {
    const OTHERS: [(&str, &str); 3] = [
        (
            "inherit",
            "an inherited bandwidth is not modelled; write it on the interface",
        ),
        (
            "receive",
            "a bandwidth of the other direction does not queue packets",
        ),
        (
            "qos-reference",
            "a separate reference for percentages is not modelled; write it as `bandwidth`",
        ),
    ];
    if let Some(reason) = c.args.try_keyword(&OTHERS) {
        return Err(Refusal::Unmodelled(reason.to_owned()));
    }
    let interface = &mut p.config.interfaces[index];
    if c.negated {
        interface.bandwidth = None;
        return Ok(());
    }
    let value = c.args.kilobits_per_second()?;
    c.args.finish()?;
    interface.bandwidth = Some(At {
        value,
        origin: c.origin(),
    });
    Ok(())
}

/// `service-policy {input | output} NAME`.
fn service_policy<'a>(
    p: &mut Parser<'a, '_, '_>,
    mut c: Command<'a>,
    index: usize,
) -> Result<(), Refusal> {
    #[derive(Clone, Copy, PartialEq)]
    enum Direction {
        Input,
        Output,
        Type,
        History,
    }
    const DIRECTIONS: [(&str, Direction); 4] = [
        ("input", Direction::Input),
        ("output", Direction::Output),
        ("type", Direction::Type),
        ("history", Direction::History),
    ];
    match c.args.keyword(&DIRECTIONS, "input or output")? {
        Direction::Input => {
            return Err(Refusal::Unmodelled(
                "only output queueing is modelled: an input policy has no queue".to_owned(),
            ));
        }
        Direction::Type => {
            return Err(Refusal::Unmodelled(
                "policy-maps of a `type` do not queue packets".to_owned(),
            ));
        }
        Direction::History => {
            return Err(Refusal::Unmodelled("history changes no packet".to_owned()));
        }
        Direction::Output => {}
    }
    let interface = &mut p.config.interfaces[index];
    if c.negated && c.args.peek().is_none() {
        interface.output_policy = None;
        return Ok(());
    }
    let name = c.args.name("the name of a policy-map")?;
    c.args.finish()?;
    if c.negated {
        if interface
            .output_policy
            .is_some_and(|p| p.value == name.text)
        {
            interface.output_policy = None;
        }
        return Ok(());
    }
    match interface.output_policy {
        // As on the command line: the second is refused; the same again is harmless.
        Some(first) if first.value != name.text => {
            return Err(Fault::new(
                code::ATTACHED_TWICE,
                name.column,
                format!(
                    "policy attached twice: `{}` is the output policy since line {}",
                    first.value, first.origin.line
                ),
            )
            .found(name.text)
            .hint(format!(
                "remove one of them; `no service-policy output {}` comes before a new one",
                first.value
            ))
            .into());
        }
        Some(_) => {}
        None => {
            interface.output_policy = Some(At {
                value: name.text,
                origin: Origin::new(c.line, name.column),
            });
        }
    }
    Ok(())
}

/// `hold-queue N {in | out}`.
fn hold_queue<'a>(
    p: &mut Parser<'a, '_, '_>,
    mut c: Command<'a>,
    index: usize,
) -> Result<(), Refusal> {
    const DIRECTIONS: [(&str, bool); 2] = [("in", false), ("out", true)];
    if c.negated {
        c.args.try_number("packets", 0..=u64::from(u32::MAX))?;
        if c.args.try_keyword(&DIRECTIONS) != Some(false) {
            p.config.interfaces[index].hold_queue = None;
        }
        return Ok(());
    }
    let n = c.args.number("a number of packets", 1..=240_000)?;
    let out = c.args.keyword(&DIRECTIONS, "in or out")?;
    c.args.finish()?;
    if !out {
        return Err(Refusal::Unmodelled(
            "only output queueing is modelled".to_owned(),
        ));
    }
    p.config.interfaces[index].hold_queue = Some(At {
        value: n as u32,
        origin: c.origin(),
    });
    Ok(())
}

/// `fair-queue [THRESHOLD [QUEUES [RESERVABLE]]]`.
fn fair_queue<'a>(
    p: &mut Parser<'a, '_, '_>,
    mut c: Command<'a>,
    index: usize,
) -> Result<(), Refusal> {
    let origin = c.origin();
    let value = if c.negated {
        InterfaceQueueing::Fifo
    } else {
        let (fair, reservable) = fair_arguments(&mut c.args)?;
        if reservable {
            let reason = "queues reserved by RSVP are not modelled; the others are";
            p.report.unmodelled(origin, reason);
        }
        InterfaceQueueing::Fair(fair)
    };
    p.config.interfaces[index].queueing = Some(At { value, origin });
    Ok(())
}

fn fair_arguments(args: &mut Args<'_>) -> Result<(FairQueue, bool), Refusal> {
    let threshold = args.try_number("a congestive discard threshold in packets", 1..=4096)?;
    let word = args.peek();
    let queues = match (
        args.try_number("a number of conversation queues", 16..=4096)?,
        word,
    ) {
        (Some(n), Some(word)) => Some(power_of_two(n, word)?),
        _ => None,
    };
    let reservable = args.try_number("a number of reservable queues", 0..=1000)?;
    args.finish()?;
    let fair = FairQueue {
        queues,
        threshold: threshold.map(|t| t as u16),
    };
    Ok((fair, reservable.is_some_and(|n| n > 0)))
}

/// Conversation queues of an interface by its bandwidth, where none are given
/// (Cisco IOS configuration guide, flow-based WFQ).
pub(crate) fn dynamic_queues(bandwidth_bps: Option<u64>) -> u16 {
    match bandwidth_bps {
        Some(..=64_000) => 16,
        Some(64_001..=128_000) => 32,
        Some(128_001..=256_000) => 64,
        Some(256_001..=512_000) => 128,
        Some(512_001..) | None => FairQueueSpec::default().queues,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        ] {
            assert_eq!(canonical(written), full);
        }
    }

    #[test]
    fn conversation_queues_follow_bandwidth() {
        let at = |kbps: u64| dynamic_queues(Some(kbps * 1000));
        assert_eq!(
            [64, 65, 128, 256, 512, 513].map(at),
            [16, 32, 32, 64, 128, 256]
        );
        assert_eq!(dynamic_queues(None), 256);
    }
}
