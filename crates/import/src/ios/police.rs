//! `police`: rate, bursts and actions, on one line or in its sub-mode.
//!
//! The meter has three colors where a `violate-action` or a peak rate is
//! written (Cisco IOS QoS command reference, `police`: "two token buckets when
//! the violate-action option is specified", `police` (two rates)); else one
//! bucket and two colors. With a peak rate and no `violate-action` what
//! violates meets the exceed action (recalled).

use spillgate_core::{Burst, Dur, RateOrPercent};
use spillgate_queueing::spec::PoliceAction;

use super::args::{Args, Modelled};
use super::ast::Police;
use super::class::{Marking, marking, precedence_dscp};
use super::fault::{Refusal, code, unmodelled};
use super::keyword::abbreviates;

/// Which packets an action is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Color {
    Conform,
    Exceed,
    Violate,
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Bc,
    Be,
    Pir,
    PeakBurst,
    PeakRate,
    Action(Color),
}

const OPTIONS: [(&str, Part); 9] = [
    ("bc", Part::Bc),
    ("burst", Part::Bc),
    ("be", Part::Be),
    ("pir", Part::Pir),
    ("peak-burst", Part::PeakBurst),
    ("peak-rate", Part::PeakRate),
    ("conform-action", Part::Action(Color::Conform)),
    ("exceed-action", Part::Action(Color::Exceed)),
    ("violate-action", Part::Action(Color::Violate)),
];

/// Bursts in bytes that are taken; platforms differ.
const BURST: std::ops::RangeInclusive<u64> = 1..=4_000_000_000;

/// A `police` line.
pub(crate) struct ParsedPolice<'a> {
    pub(crate) police: Police<'a>,
    /// What of the line was understood but has no effect.
    pub(crate) lost: Vec<String>,
    /// No action stands on the line: the sub-mode follows.
    pub(crate) opens_mode: bool,
}

/// What follows `police`.
pub(crate) fn police<'a>(args: &mut Args<'a>) -> Result<ParsedPolice<'a>, Refusal> {
    const HEADS: [(&str, Modelled<()>); 3] = [
        ("cir", Ok(())),
        ("rate", Ok(())),
        (
            "aggregate",
            Err("a policer shared by classes is not modelled"),
        ),
    ];
    let mut lost = Vec::new();
    if let Some(Err(reason)) = args.try_keyword(&HEADS) {
        return unmodelled(reason);
    }
    let in_percent = args.take("percent");
    let rate = if in_percent {
        RateOrPercent::Percent(args.percent()?)
    } else {
        RateOrPercent::Rate(args.bits_per_second()?)
    };
    if args.take("pps cps") {
        return unmodelled("a policer of packets or cells per second is not modelled");
    }
    args.take("bps");
    let mut police = Police {
        rate,
        burst: None,
        excess: None,
        peak: None,
        conform: Vec::new(),
        exceed: Vec::new(),
        violate: Vec::new(),
        conform_color: None,
        exceed_color: None,
    };
    // Classic form: burst and excess burst without keywords.
    if args.at_number() {
        police.burst = Some(burst(args, rate, 1)?);
        if args.at_number() {
            police.excess = Some(burst(args, rate, 0)?);
        }
    }
    let mut opens_mode = true;
    while let Some(word) = args.peek() {
        if abbreviates(word.text, "conform-color", 9) {
            let message = format!("`{}` does not fit here", word.text);
            let fault = word.fault(code::UNEXPECTED, message);
            let hint = "write conform-color and its class-maps on a line below `police`, before the actions";
            return Err(fault.hint(hint).into());
        }
        let what = "bc, be, pir, conform-action, exceed-action or violate-action";
        match args.keyword(&OPTIONS, what)? {
            Part::Bc => police.burst = Some(burst(args, rate, 1)?),
            Part::Be | Part::PeakBurst => {
                police.excess = Some(burst(args, police.peak.unwrap_or(rate), 0)?);
            }
            Part::Pir | Part::PeakRate => {
                police.peak = Some(if args.take("percent") {
                    RateOrPercent::Percent(args.percent()?)
                } else {
                    let peak = args.bits_per_second()?;
                    args.take("bps");
                    RateOrPercent::Rate(peak)
                });
            }
            Part::Action(color) => {
                opens_mode = false;
                apply(&mut police, color, args, &mut lost)?;
            }
        }
    }
    police.burst = police.burst.map(|b| in_bytes(b, rate));
    police.excess = police
        .excess
        .map(|b| in_bytes(b, police.peak.unwrap_or(rate)));
    Ok(ParsedPolice {
        police,
        lost,
        opens_mode,
    })
}

/// What follows the number of a burst.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    /// So many bytes.
    Bytes(u64),
    Time(Dur),
}

/// Units of a burst; those of IOS XR by powers of 1000 (recalled).
const BURST_UNITS: [(&str, Unit); 6] = [
    ("bytes", Unit::Bytes(1)),
    ("kbytes", Unit::Bytes(1000)),
    ("mbytes", Unit::Bytes(1_000_000)),
    ("gbytes", Unit::Bytes(1_000_000_000)),
    ("ms", Unit::Time(Dur::from_ms(1))),
    ("us", Unit::Time(Dur::from_us(1))),
];

/// A burst of at least `least`, in the unit behind it: without one in bytes, or in ms if the rate
/// is a percentage (Cisco IOS QoS command reference, `police (percent)`).
fn burst(args: &mut Args<'_>, rate: RateOrPercent, least: u64) -> Result<Burst, Refusal> {
    let n = args.number("a burst in bytes", least..=*BURST.end())?;
    let unit = args.try_keyword(&BURST_UNITS).unwrap_or(match rate {
        RateOrPercent::Rate(_) => Unit::Bytes(1),
        RateOrPercent::Percent(_) => Unit::Time(Dur::from_ms(1)),
    });
    Ok(match unit {
        Unit::Bytes(scale) => Burst::Bytes(n.saturating_mul(scale).min(*BURST.end())),
        Unit::Time(unit) => {
            // An hour is longer than any burst, and within what a duration holds.
            let most = Dur::from_secs(3600).as_ps();
            Burst::Time(Dur::from_ps(unit.as_ps().saturating_mul(n).min(most)))
        }
    })
}

/// The burst of a bucket whose rate is known, in bytes.
fn in_bytes(burst: Burst, rate: RateOrPercent) -> Burst {
    match rate {
        RateOrPercent::Rate(r) => Burst::Bytes(burst.bytes(r).min(*BURST.end())),
        RateOrPercent::Percent(_) => burst,
    }
}

/// Reads the action that follows `conform-action` or its kin; several of one color add up.
pub(crate) fn apply<'a>(
    police: &mut Police<'a>,
    color: Color,
    args: &mut Args<'a>,
    lost: &mut Vec<String>,
) -> Result<(), Refusal> {
    let action = action(args, lost)?;
    let actions = match color {
        Color::Conform => &mut police.conform,
        Color::Exceed => &mut police.exceed,
        Color::Violate => &mut police.violate,
    };
    let kind = std::mem::discriminant(&action);
    match action {
        // What sends or drops a packet as it is replaces what was said before.
        PoliceAction::Transmit | PoliceAction::Drop => actions.clear(),
        _ => actions.retain(|a| {
            !matches!(a, PoliceAction::Transmit | PoliceAction::Drop)
                && std::mem::discriminant(a) != kind
        }),
    }
    actions.push(action);
    Ok(())
}

/// `conform-color CLASS [exceed-color CLASS]`.
pub(crate) fn colors<'a>(police: &mut Police<'a>, args: &mut Args<'a>) -> Result<(), Refusal> {
    const NAME: &str = "the name of a class-map";
    police.conform_color = Some(args.named(NAME)?);
    police.exceed_color = None;
    if args.take("exceed-color") {
        police.exceed_color = Some(args.named(NAME)?);
    }
    args.finish()
}

fn action(args: &mut Args<'_>, lost: &mut Vec<String>) -> Result<PoliceAction, Refusal> {
    #[derive(Clone, Copy, PartialEq)]
    enum Action {
        Transmit,
        Drop,
        Dscp,
        Precedence,
        Exp,
        Imposition,
        Cos,
        QosGroup,
        Foreign { argument: bool },
    }
    const ACTIONS: [(&str, Action); 16] = [
        ("transmit", Action::Transmit),
        ("drop", Action::Drop),
        ("set-dscp-transmit", Action::Dscp),
        ("set-prec-transmit", Action::Precedence),
        ("policed-dscp-transmit", Action::Foreign { argument: false }),
        ("set-clp-transmit", Action::Foreign { argument: false }),
        ("set-cos-inner-transmit", Action::Foreign { argument: true }),
        ("set-cos-transmit", Action::Cos),
        (
            "set-discard-class-transmit",
            Action::Foreign { argument: true },
        ),
        (
            "set-dscp-tunnel-transmit",
            Action::Foreign { argument: true },
        ),
        ("set-frde-transmit", Action::Foreign { argument: false }),
        ("set-mpls-exp-imposition-transmit", Action::Imposition),
        ("set-mpls-exp-topmost-transmit", Action::Exp),
        // As the first one was called before IOS 12.2(13)T.
        ("set-mpls-exp-transmit", Action::Imposition),
        (
            "set-prec-tunnel-transmit",
            Action::Foreign { argument: true },
        ),
        ("set-qos-transmit", Action::QosGroup),
    ];
    const WHAT: &str = "transmit, drop, set-dscp-transmit or set-prec-transmit";
    let text = args.peek().map_or("", |w| w.text);
    // IOS XR: `conform-action set dscp af31`.
    if text.eq_ignore_ascii_case("set") {
        args.word(WHAT)?;
        return match marking(args) {
            Ok(Marking::Dscp(dscp)) => Ok(PoliceAction::SetDscp(dscp)),
            Ok(Marking::Exp(exp)) => Ok(PoliceAction::SetExp(exp)),
            Ok(Marking::Imposition(exp)) => Ok(PoliceAction::SetExpImposition(exp)),
            Ok(Marking::Cos(cos)) => Ok(PoliceAction::SetCos(cos)),
            Ok(Marking::QosGroup(group)) => Ok(PoliceAction::SetQosGroup(group)),
            Err(Refusal::Unmodelled(reason)) => {
                while args.peek().is_some_and(|w| !w.text.ends_with("-action")) {
                    args.word(WHAT)?;
                }
                lost.push(format!("{reason}: taken as transmit"));
                Ok(PoliceAction::Transmit)
            }
            Err(wrong) => Err(wrong),
        };
    }
    let action = args.keyword(&ACTIONS, WHAT)?;
    let marks = !matches!(
        action,
        Action::Transmit | Action::Drop | Action::Foreign { .. }
    );
    if marks && copies(args)? {
        lost.push(format!(
            "`{text}` of another field, as it is or by a table-map, is not modelled: taken as transmit"
        ));
        return Ok(PoliceAction::Transmit);
    }
    Ok(match action {
        Action::Transmit => PoliceAction::Transmit,
        Action::Drop => PoliceAction::Drop,
        Action::Dscp => PoliceAction::SetDscp(args.dscp()?),
        Action::Precedence => PoliceAction::SetDscp(precedence_dscp(args.precedence()?)),
        Action::Exp => PoliceAction::SetExp(args.exp()?),
        Action::Imposition => PoliceAction::SetExpImposition(args.exp()?),
        Action::Cos => PoliceAction::SetCos(args.cos()?),
        Action::QosGroup => PoliceAction::SetQosGroup(args.qos_group()?),
        Action::Foreign { argument } => {
            if argument {
                args.word("the value to set")?;
            }
            lost.push(format!(
                "`{text}` marks a field that simulated packets do not have: taken as transmit"
            ));
            PoliceAction::Transmit
        }
    })
}

/// Reads the field that a marking is copied from, `FIELD [table NAME]` or `table NAME`; false if a
/// value is to be set.
fn copies(args: &mut Args<'_>) -> Result<bool, Refusal> {
    let field = args.take_exact("cos dscp mpls precedence qos-group");
    let table = args.take_exact("table");
    if table {
        args.name("the name of a table-map")?;
    }
    Ok(field || table)
}

#[cfg(test)]
mod tests {
    use spillgate_core::{Dscp, Percent, Rate};

    use super::super::lexer::lines;
    use super::*;

    fn parse(text: &str) -> Result<ParsedPolice<'_>, Refusal> {
        police(&mut Args::new(lines(text).next().unwrap().words()))
    }

    fn bps(n: u64) -> RateOrPercent {
        RateOrPercent::Rate(Rate::from_bps(n).unwrap())
    }

    fn percent(p: f64) -> RateOrPercent {
        RateOrPercent::Percent(Percent(p / 100.0))
    }

    #[test]
    fn rates_and_bursts_in_every_form() {
        let bytes = |n| Some(Burst::Bytes(n));
        let ms = |n| Some(Burst::Time(Dur::from_ms(n)));
        let m = bps(1_000_000);
        let p20 = percent(20.0);
        let table = [
            ("8000", bps(8000), None, None, None),
            ("1m 3125", m, bytes(3125), None, None),
            ("8000 1500 3000", bps(8000), bytes(1500), None, bytes(3000)),
            ("8000 1500 0", bps(8000), bytes(1500), None, bytes(0)),
            ("rate 1 mbps burst 2 kbytes", m, bytes(2000), None, None),
            (
                "rate 1000000 bps burst 2000 byte peak-rate 2 mbps peak-burst 4 kbyte",
                m,
                bytes(2000),
                Some(bps(2_000_000)),
                bytes(4000),
            ),
            (
                "rate 1000000 bps burst 2000 bytes",
                m,
                bytes(2000),
                None,
                None,
            ),
            // 100 ms at 1 Mb/s.
            ("cir 1m bc 100 ms", m, bytes(12_500), None, None),
            ("cir 1m bc 2000 be 4000", m, bytes(2000), None, bytes(4000)),
            (
                "cir 1m bc 2000 pir 2m be 4000",
                m,
                bytes(2000),
                Some(bps(2_000_000)),
                bytes(4000),
            ),
            // 100 ms at the peak rate, wherever that stands.
            (
                "cir 1m be 100 ms pir 2m",
                m,
                None,
                Some(bps(2_000_000)),
                bytes(25_000),
            ),
            (
                "rate 1 mbps burst 2 kbytes peak-rate 2 mbps peak-burst 4 kbytes",
                m,
                bytes(2000),
                Some(bps(2_000_000)),
                bytes(4000),
            ),
            ("cir percent 20", p20, None, None, None),
            (
                "cir percent 20 bc 300 ms be 400 ms",
                p20,
                ms(300),
                None,
                ms(400),
            ),
            (
                "cir percent 20 bc 300 ms be 400 ms pir percent 40",
                p20,
                ms(300),
                Some(percent(40.0)),
                ms(400),
            ),
            ("rate percent 20 burst 300", p20, ms(300), None, None),
            ("percent 20 30 40", p20, ms(30), None, ms(40)),
        ];
        for (text, rate, burst, peak, excess) in table {
            let p = parse(text).ok().unwrap();
            let got = (
                p.police.rate,
                p.police.burst,
                p.police.peak,
                p.police.excess,
            );
            assert_eq!(got, (rate, burst, peak, excess), "{text}");
            assert!(p.opens_mode && p.lost.is_empty(), "{text}");
        }
    }

    #[test]
    fn actions_by_color() {
        use PoliceAction::{Drop, SetDscp, Transmit};
        let set = |n| SetDscp(Dscp::new(n).unwrap());
        let table = [
            (
                "conform-action transmit exceed-action drop",
                vec![Transmit],
                vec![Drop],
                vec![],
            ),
            (
                "conf set-prec-transmit 5 exc set-dscp-transmit af22 viol drop",
                vec![set(40)],
                vec![set(20)],
                vec![Drop],
            ),
            // One field is set once, and to send a packet as it is takes back what was set.
            (
                "exceed set-dscp-transmit 10 exceed set-dscp-transmit 12 violate set-dscp-transmit 8 violate transmit",
                vec![],
                vec![set(12)],
                vec![Transmit],
            ),
            (
                "exceed drop exceed set-dscp-transmit 12",
                vec![],
                vec![set(12)],
                vec![],
            ),
        ];
        for (text, conform, exceed, violate) in table {
            let text = format!("cir 8000 {text}");
            let p = parse(&text).ok().unwrap();
            let got = (p.police.conform, p.police.exceed, p.police.violate);
            assert_eq!(got, (conform, exceed, violate), "{text}");
            assert!(!p.opens_mode && p.lost.is_empty(), "{text}");
        }
        let p = parse("cir 8000 exceed-action set-discard-class-transmit 3")
            .ok()
            .unwrap();
        assert_eq!((p.police.exceed, p.lost.len()), (vec![Transmit], 1));
        let p =
            parse("cir 8000 conform-action set-cos-transmit 5 exceed-action set-qos-transmit 3")
                .ok()
                .unwrap();
        let (cos, group) = (PoliceAction::SetCos(5), PoliceAction::SetQosGroup(3));
        assert_eq!(
            (p.police.conform, p.police.exceed),
            (vec![cos], vec![group])
        );
    }

    #[test]
    fn actions_as_ios_xr_writes_them() {
        use PoliceAction::{Drop, SetCos, SetDscp, SetExp, SetQosGroup, Transmit};
        let dscp = |v| SetDscp(Dscp::new(v).unwrap());
        for (text, action, lost) in [
            ("set dscp af31", dscp(26), 0),
            ("set precedence 5", dscp(40), 0),
            ("set mpls experimental topmost 4", SetExp(4), 0),
            ("set cos 3", SetCos(3), 0),
            ("set qos-group 7", SetQosGroup(7), 0),
            ("set discard-class 1", Transmit, 1),
        ] {
            let text = format!("rate 8 kbps conform-action {text} exceed-action drop");
            let p = parse(&text).ok().unwrap();
            assert_eq!(p.police.conform, [action], "{text}");
            assert_eq!(p.police.exceed, [Drop], "{text}");
            assert_eq!(p.lost.len(), lost, "{text}");
        }
    }

    /// A switch's markdown table leaves a policer that still meters and drops.
    #[test]
    fn markings_copied_by_a_table_are_listed() {
        let p = parse(
            "200000 pir 60000000 conform-action set-dscp-transmit dscp exceed-action set-dscp-transmit dscp table T violate-action drop",
        );
        let p = p.ok().unwrap();
        assert_eq!(p.police.conform, [PoliceAction::Transmit]);
        assert_eq!(p.police.exceed, [PoliceAction::Transmit]);
        assert_eq!(p.police.violate, [PoliceAction::Drop]);
        assert_eq!(p.lost.len(), 2, "{:?}", p.lost);
        let p = parse(
            "8000 exceed-action set-prec-transmit cos conform-action set-cos-transmit table T",
        );
        assert_eq!(p.ok().unwrap().lost.len(), 2);
    }

    #[test]
    fn wrong_arguments_are_located() {
        for (text, column) in [
            ("8000 exceed-action set-dscp-transmit dscp table", 48),
            ("cir 8000 pir 9000 conform-color GREEN", 19),
            ("", 1),
            ("cir", 4),
            ("cir fast", 5),
            ("8000 conform-action", 20),
            ("8000 conform-action explode", 21),
            ("8000 exceed-action set-dscp-transmit 64", 38),
            ("8000 exceed-action set dscp 64", 29),
            ("8000 exceed-action set", 23),
            ("8000 exceed-action set bogus 1", 24),
            ("8000 bogus", 6),
            ("cir percent 101", 13),
            ("cir 8000 bc", 12),
            ("cir 8000 bc 0", 13),
            ("cir 8000 pir 0", 14),
            ("cir 8000 be fast", 13),
        ] {
            match parse(text) {
                Err(Refusal::Wrong(f)) => assert_eq!(f.column, column, "{text}: {f:?}"),
                _ => panic!("{text}"),
            }
        }
        assert!(matches!(parse("rate 100 pps"), Err(Refusal::Unmodelled(_))));
    }
}
