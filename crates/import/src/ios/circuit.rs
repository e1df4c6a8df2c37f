//! `pvc` of an ATM interface and `vc-class atm`: what cells a circuit may send, what is in its
//! frames, and its policies.
//!
//! Rates are in kbit/s and count whole cells of 53 bytes (Cisco, "Understanding the VBR-nrt Service
//! Category and Traffic Shaping for ATM VCs", document 6194). Where no burst is written it is
//! 94 cells.

use std::sync::LazyLock;

use spillgate_nodes::atm::VcSpec;

use super::args::{Args, out_of_range, unexpected};
use super::ast::{At, Circuit, CircuitLines, Inside};
use super::contract::{Category, DEFAULT_MBS, MOST_KBPS, contract, encapsulation, vbr};
use super::fault::{Fault, Refusal, code, unmodelled};
use super::interface::attach_policy;
use super::interface_words::parent;
use super::keyword::{Found, Keywords, find, table};
use super::lexer::Word;
use super::parse::{Command, Inner, Kind, Mode, Parser, Within};

/// What `svc`, `range` and `bundle` open.
pub(crate) const NO_PVC: &str =
    "ranges, bundles and switched circuits are not modelled; those of a `pvc` of its own are";

/// A line of a circuit or of a class of circuits.
#[derive(Clone, Copy, PartialEq)]
enum CircuitVerb {
    Contract(Category),
    Encapsulation,
    Protocol,
    Pppoe,
    ServicePolicy,
    HoldQueue,
    TxRing,
    ClassVc,
    /// Not modelled; the reason.
    Foreign(&'static str),
    Skip,
}

use CircuitVerb::{Contract, Foreign, Skip};

const BUNDLE: &str = "bundles of circuits are not modelled";
const PER_VC: &str =
    "only the service-policy of a circuit is modelled, not the older queueing commands";

static WORDS: Keywords<CircuitVerb> = LazyLock::new(|| {
    table(&[
        (Foreign(PER_VC), "fair-queue random-detect"),
        (
            Foreign(
                "the available bit rate depends on the network's feedback, which is not modelled",
            ),
            "abr",
        ),
        (
            Skip,
            "broadcast create description dialer ilmi inarp oam oam-pvc ppp vcci",
        ),
        (Foreign(BUNDLE), "bump precedence protect"),
        (Contract(Category::Cbr), "cbr"),
        (CircuitVerb::ClassVc, "class-vc"),
        (CircuitVerb::Encapsulation, "encapsulation"),
        (CircuitVerb::Pppoe, "pppoe pppoe-client"),
        (CircuitVerb::Protocol, "protocol"),
        (CircuitVerb::ServicePolicy, "service-policy"),
        (
            Foreign("cells have the priority of their contract"),
            "transmit-priority",
        ),
        (CircuitVerb::TxRing, "tx-ring-limit"),
        (Contract(Category::Ubr), "ubr"),
        (Contract(Category::UbrPlus), "ubr+"),
        (Contract(Category::NrtVbr), "vbr-nrt"),
        (Contract(Category::RtVbr), "vbr-rt"),
        (CircuitVerb::HoldQueue, "vc-hold-queue"),
    ])
});

/// `[no] pvc [NAME] [VPI/]VCI` of an interface.
pub(crate) fn pvc<'a>(p: &mut Parser<'a, '_, '_>, mut c: Command<'a>, index: usize) -> Kind {
    let what = match head(&mut c.args, &p.config.interfaces[index].circuits) {
        Ok((vc, name)) if c.negated => {
            let circuits = &mut p.config.interfaces[index].circuits;
            circuits.retain(|old| old.vc != vc && (name.is_none() || old.name != name));
            return Kind::Queueing;
        }
        Ok((vc, name)) => open(p, &c, index, vc, name),
        Err(refusal) => Err(refusal),
    };
    let within = match what {
        Ok(within) => within,
        Err(refusal) => {
            let path = super::policy_map::path(Mode::Interface(index, None), &p.config);
            p.report.refuse_head(c.origin(), path, refusal);
            Within::LeftOut
        }
    };
    let depth = c.line.depth;
    p.mode = Mode::Interface(index, Some(Inner { depth, within }));
    Kind::Queueing
}

/// Opens a circuit, again or anew.
fn open<'a>(
    p: &mut Parser<'a, '_, '_>,
    c: &Command<'a>,
    index: usize,
    vc: VcSpec,
    name: Option<&'a str>,
) -> Result<Within, Refusal> {
    let mut args = c.args;
    // Those for signaling carry none of the router's packets, those of layer 2 other frames.
    if args.take("ces ilmi l2transport qsaal") {
        return Ok(Within::Other);
    }
    args.finish()?;
    let main = |name: &str| parent(name).unwrap_or(name).to_owned();
    let own = main(&p.config.interfaces[index].name);
    let mut others = p
        .config
        .interfaces
        .iter()
        .enumerate()
        .filter(|(i, _)| *i != index);
    let twin = others.find_map(|(_, other)| {
        let circuit = other.circuits.iter().find(|old| old.vc == vc)?;
        (main(&other.name) == own).then(|| (other.name.clone(), circuit.origin.line))
    });
    if let Some((other, line)) = twin {
        let column = c.args.line().words().last().map_or(1, |w| w.column);
        let message = format!("{other} has the circuit {vc} since line {line}");
        let fault = Fault::new(code::CIRCUIT_TWICE, column, message).found(vc.to_string());
        let hint =
            format!("give one of them another VPI/VCI: all sub-interfaces of {own} share them");
        return Err(fault.hint(hint).into());
    }
    let circuits = &mut p.config.interfaces[index].circuits;
    let found = circuits.iter().position(|old| old.vc == vc);
    Ok(Within::Pvc(found.unwrap_or_else(|| {
        circuits.push(Circuit {
            vc,
            name,
            origin: c.origin(),
            lines: CircuitLines::default(),
            class: None,
        });
        circuits.len() - 1
    })))
}

/// `[NAME] [VPI/]VCI`, or the name of a circuit that has been written.
fn head<'a>(
    args: &mut Args<'a>,
    known: &[Circuit<'a>],
) -> Result<(VcSpec, Option<&'a str>), Refusal> {
    const WHAT: &str = "VPI/VCI, such as 1/32";
    let first = args.name(WHAT)?;
    if first.is_number() {
        return Ok((vc(first)?, None));
    }
    if let Some(word) = args.peek().filter(|w| w.is_number()) {
        args.next();
        return Ok((vc(word)?, Some(first.text)));
    }
    if let Some(old) = known.iter().find(|c| c.name == Some(first.text)) {
        return Ok((old.vc, old.name));
    }
    match args.peek() {
        Some(word) => Err(unexpected(word, WHAT)),
        None => args.word(WHAT).map(|_| (VcSpec::default(), None)),
    }
}

/// `VPI/VCI`, or a VCI of VPI 0.
pub(crate) fn vc(word: Word<'_>) -> Result<VcSpec, Refusal> {
    let (vpi, vci) = word.text.split_once('/').unwrap_or(("0", word.text));
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    if !digits(vpi) || !digits(vci) {
        return Err(unexpected(word, "VPI/VCI, such as 1/32"));
    }
    let vpi = vpi.parse().ok();
    let vci = vci.parse().ok().filter(|n: &u16| *n > 0);
    match (vpi, vci) {
        (Some(vpi), Some(vci)) => Ok(VcSpec { vpi, vci }),
        (None, _) => Err(out_of_range(word, "a VPI before the slash", 0..=255)),
        _ => Err(out_of_range(word, "a VCI", 1..=65535)),
    }
}

/// The old `atm pvc VCD VPI VCI ENCAPSULATION [PEAK AVERAGE [BURST]]`.
pub(crate) fn atm_pvc<'a>(
    p: &mut Parser<'a, '_, '_>,
    mut c: Command<'a>,
    index: usize,
) -> Result<(), Refusal> {
    c.args
        .number("the number of the circuit", 1..=u64::from(u32::MAX))?;
    let vpi = c.args.number("a VPI", 0..=255)? as u8;
    let vci = c.args.number("a VCI", 1..=65535)? as u16;
    let vc = VcSpec { vpi, vci };
    if c.negated {
        p.config.interfaces[index]
            .circuits
            .retain(|old| old.vc != vc);
        return Ok(());
    }
    let origin = c.origin();
    let mut lines = CircuitLines::default();
    let (value, lost) = encapsulation(&mut c.args)?;
    let mut lost: Vec<&str> = lost.into_iter().collect();
    lines.encapsulation = Some(origin.at(value));
    if let Some(peak) = c.args.try_number("a peak rate in kbit/s", 1..=MOST_KBPS)? {
        let column = c.args.peek();
        let average = c.args.number("an average rate in kbit/s", 1..=MOST_KBPS)?;
        if c.args.try_number("a burst", 1..=65535)?.is_some() {
            lost.push("the unit of the burst is the interface's: taken as 94 cells");
        }
        let value = vbr(peak, average, DEFAULT_MBS, false, column)?;
        lines.contract = Some(origin.at(value));
    }
    // What follows is about OAM and ARP.
    let mut head = c;
    head.args = Args::new(c.line.words());
    while head.args.next().is_some() {}
    if let Within::Pvc(circuit) = open(p, &head, index, vc, None)? {
        p.config.interfaces[index].circuits[circuit].lines = lines;
    }
    for reason in lost {
        p.report.unmodelled(origin, reason);
    }
    Ok(())
}

/// A line inside a circuit; none if it is not the circuit's.
pub(crate) fn line<'a>(
    p: &mut Parser<'a, '_, '_>,
    c: Command<'a>,
    index: usize,
    within: Within,
) -> Option<Kind> {
    let verb = known(&c, p, Mode::Interface(index, None))?;
    let circuit = match within {
        Within::Pvc(circuit) => circuit,
        Within::LeftOut => return Some(Kind::Queueing),
        Within::Other => return None,
    };
    if verb == CircuitVerb::ClassVc {
        match class_name(c) {
            Ok(class) => p.config.interfaces[index].circuits.get_mut(circuit)?.class = class,
            Err(refusal) => p.refuse(c.origin(), refusal),
        }
        return Some(Kind::Queueing);
    }
    let mut lines =
        std::mem::take(&mut p.config.interfaces[index].circuits.get_mut(circuit)?.lines);
    let kind = apply(p, c, verb, &mut lines);
    p.config.interfaces[index].circuits[circuit].lines = lines;
    Some(kind)
}

/// A line inside a `vc-class`; none if it is not one of a circuit.
pub(crate) fn class_line<'a>(
    p: &mut Parser<'a, '_, '_>,
    c: Command<'a>,
    name: &'a str,
) -> Option<Kind> {
    let verb = known(&c, p, Mode::VcClass(name))?;
    let mut lines = std::mem::take(p.config.vc_classes.get_mut(name)?);
    let kind = match verb {
        // A class cannot have a class.
        CircuitVerb::ClassVc => Kind::Other,
        _ => apply(p, c, verb, &mut lines),
    };
    if let Some(class) = p.config.vc_classes.get_mut(name) {
        *class = lines;
    }
    Some(kind)
}

/// `vc-class atm NAME`; false if it is of another kind.
pub(crate) fn class<'a>(p: &mut Parser<'a, '_, '_>, mut c: Command<'a>) -> Option<Kind> {
    if !c.args.take("atm") {
        return None;
    }
    p.enter(Mode::Global, c.line);
    let name = c.args.name("the name of the class").and_then(|name| {
        c.args.finish()?;
        Ok(name)
    });
    match name {
        Err(refusal) => {
            p.refuse_block(&c, "vc-class", "a VC class in error", refusal);
        }
        Ok(name) if c.negated => {
            p.config.vc_classes.remove(name.text);
        }
        Ok(name) => {
            p.config.vc_classes.entry(name.text).or_default();
            p.enter(Mode::VcClass(name.text), c.line);
        }
    }
    Some(Kind::Queueing)
}

/// The name behind `class-vc` and `class-int`; none after `no`.
pub(crate) fn class_name<'a>(mut c: Command<'a>) -> Result<Option<At<'a, &'a str>>, Refusal> {
    if c.negated {
        return Ok(None);
    }
    let name = c.args.named("the name of a vc-class")?;
    c.args.finish()?;
    Ok(Some(name))
}

/// The command of a line, if a circuit has it.
fn known(c: &Command<'_>, p: &mut Parser<'_, '_, '_>, mode: Mode<'_>) -> Option<CircuitVerb> {
    match find(&WORDS, c.word.text) {
        Found::Exact(verb) | Found::Prefix(verb) => Some(verb),
        Found::Ambiguous(names) if matches!(mode, Mode::VcClass(_)) => {
            let refusal = super::args::ambiguous(c.word, &names);
            let path = super::policy_map::path(mode, &p.config);
            p.report.refuse(c.origin(), path, refusal);
            Some(Skip)
        }
        Found::Ambiguous(_) | Found::None => None,
    }
}

/// Reads a line into what it is about.
fn apply<'a>(
    p: &mut Parser<'a, '_, '_>,
    mut c: Command<'a>,
    verb: CircuitVerb,
    lines: &mut CircuitLines<'a>,
) -> Kind {
    let origin = c.origin();
    let mut lost = Vec::new();
    let result = match verb {
        Skip | CircuitVerb::ClassVc => return Kind::Other,
        _ if c.negated => {
            remove(&mut c, verb, lines);
            return Kind::Queueing;
        }
        Foreign(reason) => unmodelled(reason),
        CircuitVerb::ServicePolicy => {
            attach_policy(&mut c, &mut lines.input_policy, &mut lines.output_policy)
        }
        CircuitVerb::HoldQueue => {
            let packets =
                |args: &mut Args<'a>| Ok(args.number("a number of packets", 1..=65535)? as u32);
            c.set(&mut lines.hold_queue, packets)
        }
        CircuitVerb::TxRing => c.set(&mut lines.tx_ring, ring),
        CircuitVerb::Encapsulation => encapsulation(&mut c.args).map(|(value, said)| {
            lost.extend(said);
            lines.encapsulation = Some(origin.at(value));
        }),
        CircuitVerb::Protocol => {
            const KINDS: [(&str, Inside); 3] = [
                ("bridge", Inside::Bridged),
                ("ppp", Inside::Ppp),
                ("pppoe", Inside::Pppoe),
            ];
            match c.args.try_exact(&KINDS) {
                Some(value) => lines.inside = Some(origin.at(value)),
                None => return Kind::Other,
            }
            Ok(())
        }
        CircuitVerb::Pppoe => {
            lines.inside = Some(origin.at(Inside::Pppoe));
            Ok(())
        }
        Contract(category) => contract(&mut c.args, category, &mut lost).map(|value| {
            lines.contract = Some(origin.at(value));
        }),
    };
    if let Err(refusal) = result {
        p.refuse(origin, refusal);
    }
    for reason in lost {
        p.report.unmodelled(origin, reason);
    }
    Kind::Queueing
}

/// `no` and a line of a circuit.
fn remove<'a>(c: &mut Command<'a>, verb: CircuitVerb, lines: &mut CircuitLines<'a>) {
    let category = |lines: &CircuitLines<'_>| lines.contract.as_ref().map(|c| c.value.kind());
    match verb {
        Contract(c) if category(lines) == Some(c.name()) => lines.contract = None,
        CircuitVerb::Encapsulation => lines.encapsulation = None,
        CircuitVerb::Protocol | CircuitVerb::Pppoe => lines.inside = None,
        CircuitVerb::HoldQueue => lines.hold_queue = None,
        CircuitVerb::TxRing => lines.tx_ring = None,
        CircuitVerb::ServicePolicy => {
            // Nothing can be wrong with taking away.
            let _ = attach_policy(c, &mut lines.input_policy, &mut lines.output_policy);
        }
        _ => {}
    }
}

/// The packets of `tx-ring-limit`.
pub(crate) fn ring(args: &mut Args<'_>) -> Result<u32, Refusal> {
    args.number("a number of packets", 1..=32_767)
        .map(|n| n as u32)
}
