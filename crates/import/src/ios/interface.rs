//! `interface`: its bandwidth, its output policy, and the queueing that it
//! has without one.

use spillgate_core::Rate;
use spillgate_queueing::spec::FairQueueSpec;

use super::args::{Args, Modelled};
use super::ast::{At, FairQueue, Inside, Interface, InterfaceQueueing, Origin};
use super::circuit::{self, ring, vc};
use super::fault::{Fault, Refusal, code, unmodelled};
use super::globals::{GLOBALS, Global};
use super::interface_words::{
    INTERFACE, InterfaceVerb, QUEUEING, SHAPING_RATE, canonical, is_ethernet,
};
use super::keyword::{Found, abbreviates, find};
use super::parse::{Command, HEADS, Inner, Kind, Mode, Parser, Within, lookup};
use super::queue::conversations;
use super::wred;
use spillgate_core::suggest::nearest;

/// `interface NAME`.
pub(crate) fn header<'a>(p: &mut Parser<'a, '_, '_>, mut c: Command<'a>) -> Kind {
    p.enter(Mode::Global, c.line);
    let first = match c.args.name("the name of an interface") {
        Ok(name) => name,
        Err(refusal) => {
            return p.refuse_block(&c, "interface", "an interface in error", refusal);
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
    let whole = first.text.contains(|c: char| c.is_ascii_digit());
    let number = c.args.peek().filter(|w| !whole && w.is_number());
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
            let origin = Origin::new(c.line, first.column);
            p.config.interfaces.push(Interface {
                name: name.clone(),
                origin,
                ..Interface::default()
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
    mut c: Command<'a>,
    index: usize,
    inner: Option<Inner>,
    leaves: bool,
) -> Option<Kind> {
    if let Some(kind) = inner.and_then(|inner| circuit::line(p, c, index, inner.within)) {
        return Some(kind);
    }
    let found = match SHAPING_RATE {
        (name, verb) if c.word.text.eq_ignore_ascii_case(name) => Found::Exact(verb),
        _ => lookup(&[&INTERFACE], &c),
    };
    let verb = match found {
        Found::Exact(
            InterfaceVerb::Skip
            | InterfaceVerb::Ip
            | InterfaceVerb::Mpls
            | InterfaceVerb::Atm
            | InterfaceVerb::BridgeGroup
            | InterfaceVerb::Pppoe,
        )
        | Found::Prefix(InterfaceVerb::Skip)
            if leaves =>
        {
            return None;
        }
        Found::Exact(verb) | Found::Prefix(verb) => verb,
        Found::Ambiguous(names) if !leaves => {
            // Skipping it must not lose a queueing command in silence.
            let is_queueing_name = |n: &&'static str| {
                !matches!(find(&INTERFACE, n), Found::Exact(InterfaceVerb::Skip))
            };
            if !names.iter().any(is_queueing_name) {
                return Some(Kind::Other);
            }
            let reason = format!("ambiguous: {}", names.join(", "));
            p.report.not_understood(c.origin(), reason);
            return Some(Kind::Queueing);
        }
        // An unknown word of unindented text is taken for one more command of the interface.
        Found::None | Found::Ambiguous(_) => {
            let head = matches!(find(&GLOBALS, c.word.text), Found::Exact(g) if g != Global::Other)
                || matches!(
                    find(&GLOBALS, c.word.text),
                    Found::Prefix(Global::ClassMap | Global::PolicyMap | Global::Interface)
                );
            if leaves || head {
                return None;
            }
            // Other unknown commands are none of ours, unless one is a misspelt one of ours.
            let near = nearest(c.word.text, QUEUEING.into_iter().chain(HEADS));
            return Some(match near.filter(|_| !c.negated) {
                Some(near) => p.not_understood(&c, near),
                None => Kind::Other,
            });
        }
    };
    let origin = c.origin();
    let result = match verb {
        InterfaceVerb::Skip => return Some(Kind::Other),
        InterfaceVerb::ServicePolicy if is_service_instance(&c) => {
            p.mode = other(index, &c);
            return Some(Kind::Other);
        }
        InterfaceVerb::Pvc => return Some(circuit::pvc(p, c, index)),
        InterfaceVerb::Circuits => {
            let atm = p.config.interfaces[index].name.starts_with("ATM");
            if c.negated || !atm {
                return Some(Kind::Other);
            }
            p.mode = other(index, &c);
            unmodelled(circuit::NO_PVC)
        }
        InterfaceVerb::ClassInt => circuit::class_name(c).map(|class| {
            p.config.interfaces[index].vc_class = class;
        }),
        InterfaceVerb::Atm => {
            if c.args.take("route-bridged") {
                bridged(p, index, &c, Inside::Bridged);
                return Some(Kind::Other);
            }
            if !c.args.take("pvc") {
                return Some(Kind::Other);
            }
            circuit::atm_pvc(p, c, index)
        }
        InterfaceVerb::BridgeGroup | InterfaceVerb::Pppoe => {
            let inside = if verb == InterfaceVerb::Pppoe {
                Inside::Pppoe
            } else {
                Inside::Bridged
            };
            bridged(p, index, &c, inside);
            return Some(Kind::Other);
        }
        InterfaceVerb::Ip => {
            const FOREIGN: [(&str, &str); 2] = [
                ("rsvp", "RSVP is not modelled"),
                ("nbar", "protocol discovery changes no packet"),
            ];
            const COMPRESSION: &str =
                "header compression is not modelled: packets keep their length";
            let second = c.args.words().nth(1);
            let follows = |name: &'static str| second.is_some_and(|w| abbreviates(w.text, name, 3));
            match c.args.peek() {
                Some(w) if abbreviates(w.text, "access-list", 8) => return None,
                Some(w) if abbreviates(w.text, "nhrp", 3) => {
                    let mut args = c.args;
                    args.next();
                    if !nhrp_groups(&mut args) {
                        return Some(Kind::Other);
                    }
                    unmodelled(NHRP)
                }
                Some(w) if w.text == "rtp" && follows("header-compression") => {
                    unmodelled(COMPRESSION)
                }
                Some(w) if w.text == "rtp" => {
                    unmodelled("`ip rtp priority` is not modelled; `priority` in a policy-map is")
                }
                Some(w) if w.text == "tcp" && follows("header-compression") => {
                    unmodelled(COMPRESSION)
                }
                _ => match c.args.try_exact(&FOREIGN) {
                    Some(reason) => unmodelled(reason),
                    None => return Some(Kind::Other),
                },
            }
        }
        InterfaceVerb::Encapsulation => {
            let mut args = c.args;
            let tagged = args.take("dot1q") && !c.negated;
            let vlan = args.number("a VLAN", 1..=4094).ok().map(|v| v as u16);
            p.config.interfaces[index].dot1q = tagged.then_some(origin);
            p.config.interfaces[index].vlan = vlan.filter(|_| tagged);
            return Some(Kind::Other);
        }
        InterfaceVerb::Speed => {
            let mut args = c.args;
            let fixed = args.number("a speed in Mb/s", 1..=800_000).ok();
            // `speed auto 10 100` leaves it to negotiation; lines have speeds in b/s.
            let port = is_ethernet(&p.config.interfaces[index].name);
            let fixed = fixed.filter(|_| port && !c.negated && args.peek().is_none());
            let rate = fixed.and_then(|mbps| Rate::from_bps(mbps * 1_000_000));
            p.config.interfaces[index].speed = rate.map(|rate| origin.at(rate));
            return Some(match rate {
                Some(_) => Kind::Queueing,
                None => Kind::Other,
            });
        }
        InterfaceVerb::Switchport => {
            let mut args = c.args;
            if args.take("mode") {
                let trunk = args.take("trunk") && !c.negated;
                p.config.interfaces[index].dot1q = trunk.then_some(origin);
                p.config.interfaces[index].vlan = None;
            }
            return Some(Kind::Other);
        }
        InterfaceVerb::Mpls => {
            let ip = c.args.peek().is_some_and(|w| w.text == "ip");
            if ip && c.args.words().nth(1).is_none() {
                p.config.interfaces[index].labels = (!c.negated).then_some(origin);
            }
            return Some(Kind::Other);
        }
        InterfaceVerb::Nhrp => {
            let mut args = c.args;
            if !nhrp_groups(&mut args) {
                return Some(Kind::Other);
            }
            unmodelled(NHRP)
        }
        InterfaceVerb::Ppp => {
            let mut args = c.args;
            if !args.take("multilink") || !args.take("fragment fragment-delay interleave") {
                return Some(Kind::Other);
            }
            unmodelled("link fragmentation and interleaving is not modelled")
        }
        InterfaceVerb::FrameRelay => {
            const QUEUEING: &str = "class congestion-management de-group fair-queue fragment \
                priority-dlci-group traffic-shaping";
            let mut args = c.args;
            if args.take("interface-dlci") && !c.negated {
                p.mode = other(index, &c);
                return Some(Kind::Other);
            }
            if !args.take(QUEUEING) {
                return Some(Kind::Other);
            }
            unmodelled("queueing of frame-relay circuits is not modelled")
        }
        InterfaceVerb::Foreign(follows, reason) => {
            let mut args = c.args;
            if !follows.is_empty() && args.next().is_none_or(|w| w.text != follows) {
                return Some(Kind::Other);
            }
            unmodelled(reason)
        }
        _ if inner.is_some_and(|i| i.within == Within::Other) => unmodelled(
            "queueing of such a circuit is not modelled; that of interfaces, sub-interfaces and a `pvc` is",
        ),
        InterfaceVerb::Bandwidth => bandwidth(p, c, index),
        InterfaceVerb::ServicePolicy => service_policy(p, c, index),
        InterfaceVerb::HoldQueue => hold_queue(p, c, index),
        InterfaceVerb::TxRing => tx_ring(p, c, index),
        InterfaceVerb::MaxReserved => {
            let percent = |args: &mut Args<'a>| Ok(args.number("a percentage", 1..=100)? as u32);
            c.set(&mut p.config.interfaces[index].max_reserved, percent)
        }
        InterfaceVerb::FairQueue => fair_queue(p, c, index),
        InterfaceVerb::RandomDetect => {
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
        Err(Refusal::Unmodelled(_) | Refusal::NotUnderstood(_)) if c.negated => {}
        Err(refusal) => p.refuse(origin, refusal),
        Ok(()) => {}
    }
    Some(Kind::Queueing)
}

/// The mode of something inside an interface that is not modelled.
fn other<'a>(index: usize, c: &Command<'_>) -> Mode<'a> {
    let depth = c.line.depth;
    Mode::Interface(
        index,
        Some(Inner {
            depth,
            within: Within::Other,
        }),
    )
}

/// What the frames of the interface's circuits carry.
fn bridged<'a>(p: &mut Parser<'a, '_, '_>, index: usize, c: &Command<'a>, inside: Inside) {
    p.config.interfaces[index].inside = (!c.negated).then(|| c.origin().at(inside));
}

const NHRP: &str = "the policies of a tunnel's spokes are not modelled; that of the tunnel is";

/// Whether what follows `nhrp` is about the policies of groups of spokes: `map group G
/// service-policy output P`, `group G` and `attribute group G`.
fn nhrp_groups(args: &mut Args<'_>) -> bool {
    args.take_exact("map attribute");
    args.take("group")
}

/// `service instance N ethernet`: an Ethernet flow point of the interface.
fn is_service_instance(c: &Command<'_>) -> bool {
    c.word.text.eq_ignore_ascii_case("service")
        && c.args
            .peek()
            .is_some_and(|w| abbreviates(w.text, "instance", 3))
}

/// `bandwidth [qos-reference] KBPS`.
fn bandwidth<'a>(
    p: &mut Parser<'a, '_, '_>,
    mut c: Command<'a>,
    index: usize,
) -> Result<(), Refusal> {
    const OTHERS: [(&str, &str); 2] = [
        (
            "inherit",
            "an inherited bandwidth is not modelled; write it on the interface",
        ),
        (
            "receive",
            "a bandwidth of the other direction does not queue packets",
        ),
    ];
    if let Some(reason) = c.args.try_keyword(&OTHERS) {
        return unmodelled(reason);
    }
    let interface = &mut p.config.interfaces[index];
    let bandwidth = match c.args.take("qos-reference") {
        true => &mut interface.qos_reference,
        false => &mut interface.own_bandwidth,
    };
    c.set(bandwidth, Args::kilobits_per_second)
}

/// `service-policy {input | output} NAME` of an interface.
fn service_policy<'a>(
    p: &mut Parser<'a, '_, '_>,
    mut c: Command<'a>,
    index: usize,
) -> Result<(), Refusal> {
    let interface = &mut p.config.interfaces[index];
    let (input, output) = (&mut interface.input_policy, &mut interface.output_policy);
    attach_policy(&mut c, input, output)
}

/// `service-policy {input | output} NAME` of whatever has these two.
pub(crate) fn attach_policy<'a>(
    c: &mut Command<'a>,
    input: &mut Option<At<'a, &'a str>>,
    output: &mut Option<At<'a, &'a str>>,
) -> Result<(), Refusal> {
    const DIRECTIONS: [(&str, Modelled<bool>); 4] = [
        ("input", Ok(true)),
        ("output", Ok(false)),
        ("type", Err("policy-maps of a `type` do not queue packets")),
        ("history", Err("history changes no packet")),
    ];
    let (which, attached) = match c.args.modelled(&DIRECTIONS, "input or output")? {
        true => ("input", input),
        false => ("output", output),
    };
    if c.negated && c.args.peek().is_none() {
        *attached = None;
        return Ok(());
    }
    let name = c.args.named("the name of a policy-map")?;
    c.args.finish()?;
    match *attached {
        Some(first) if c.negated && first.value == name.value => *attached = None,
        _ if c.negated => {}
        // As on the command line: the second is refused; the same again is harmless.
        Some(first) if first.value != name.value => {
            let (old, line) = (first.value, first.origin.line);
            let message =
                format!("policy attached twice: `{old}` is the {which} policy since line {line}");
            let fault = Fault::new(code::ATTACHED_TWICE, name.origin.column, message);
            let hint = format!(
                "remove one of them; `no service-policy {which} {old}` comes before a new one"
            );
            return Err(fault.found(name.value).hint(hint).into());
        }
        Some(_) => {}
        None => *attached = Some(name),
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
        return unmodelled("only output queueing is modelled");
    }
    p.config.interfaces[index].hold_queue = Some(c.origin().at(n as u32));
    Ok(())
}

/// `tx-ring-limit PACKETS`, of an ATM interface also with the circuit that is meant.
fn tx_ring<'a>(
    p: &mut Parser<'a, '_, '_>,
    mut c: Command<'a>,
    index: usize,
) -> Result<(), Refusal> {
    let interface = &mut p.config.interfaces[index];
    if c.negated {
        interface.tx_ring = None;
        return Ok(());
    }
    let value = ring(&mut c.args)?;
    let meant = c.args.next().map(vc).transpose()?;
    c.args.finish()?;
    let at = Some(c.origin().at(value));
    match meant {
        None => interface.tx_ring = at,
        Some(vc) => match interface.circuits.iter_mut().find(|c| c.vc == vc) {
            Some(circuit) => circuit.lines.tx_ring = at,
            None => {
                let reason = format!("{} has no `pvc {vc}` above this line", interface.name);
                return unmodelled(reason);
            }
        },
    }
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
    p.config.interfaces[index].queueing = Some(origin.at(value));
    Ok(())
}

fn fair_arguments(args: &mut Args<'_>) -> Result<(FairQueue, bool), Refusal> {
    let threshold = args.try_number("a congestive discard threshold in packets", 1..=4096)?;
    let queues = conversations(args)?;
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
    fn conversation_queues_follow_bandwidth() {
        let at = |kbps: u64| dynamic_queues(Some(kbps * 1000));
        assert_eq!(
            [64, 65, 128, 256, 512, 513].map(at),
            [16, 32, 32, 64, 128, 256]
        );
        assert_eq!(dynamic_queues(None), 256);
    }
}
