//! `police`: rate, bursts and actions, on one line or in its sub-mode.
//!
//! The model's meter has one rate and two colors. A meter of three colors
//! (`violate-action` beside a different `exceed-action`, or a peak rate) is
//! listed, and becomes: with one rate, what is beyond the committed burst
//! meets the *violate* action, since under lasting excess the excess bucket
//! stays empty (RFC 2697 section 2: it fills only while the first is full);
//! with a peak rate, it meets the *exceed* action.

use spillgate_core::{Dur, RateOrPercent, Size};
use spillgate_queueing::spec::PoliceAction;

use super::args::Args;
use super::ast::{At, Origin, Police};
use super::class::precedence_dscp;
use super::fault::{Refusal, unmodelled};

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
pub(crate) struct Parsed<'a> {
    pub(crate) police: Police<'a>,
    /// What of the line was understood but has no effect.
    pub(crate) lost: Vec<String>,
    /// No action stands on the line: the sub-mode follows.
    pub(crate) opens_mode: bool,
}

/// What follows `police`.
pub(crate) fn police<'a>(args: &mut Args<'a>) -> Result<Parsed<'a>, Refusal> {
    #[derive(Clone, Copy, PartialEq)]
    enum Head {
        Rate,
        Aggregate,
    }
    const HEADS: [(&str, Head); 3] = [
        ("cir", Head::Rate),
        ("rate", Head::Rate),
        ("aggregate", Head::Aggregate),
    ];
    let mut lost = Vec::new();
    if args.try_keyword(&HEADS) == Some(Head::Aggregate) {
        return unmodelled("a policer shared by classes is not modelled");
    }
    let in_percent = args.take("percent");
    let rate = if in_percent {
        RateOrPercent::Percent(args.percent()?)
    } else {
        RateOrPercent::Rate(args.bits_per_second()?)
    };
    if args.take("pps") || args.take("cps") {
        return unmodelled("a policer of packets or cells per second is not modelled");
    }
    args.take("bps");
    let mut police = Police {
        rate,
        burst: None,
        excess: false,
        peak: false,
        conform: PoliceAction::Transmit,
        exceed: PoliceAction::Drop,
        violate: None,
    };
    // Classic form: burst and excess burst without keywords.
    if let Some(bytes) = burst(args, rate, &mut lost)? {
        police.burst = Some(bytes);
    }
    let mut excess = args
        .try_number("an excess burst in bytes", BURST)?
        .is_some();
    if excess {
        args.try_exact(&BURST_UNITS);
    }
    let mut opens_mode = true;
    while args.peek().is_some() {
        let what = "bc, be, pir, conform-action, exceed-action or violate-action";
        match args.keyword(&OPTIONS, what)? {
            Part::Bc => {
                if let Some(bytes) = burst(args, rate, &mut lost)? {
                    police.burst = Some(bytes);
                }
            }
            Part::Be | Part::PeakBurst => {
                args.number("an excess burst", BURST)?;
                excess = true;
                args.try_exact(&BURST_UNITS);
            }
            Part::Pir | Part::PeakRate => {
                if args.take("percent") {
                    args.percent()?;
                } else {
                    args.bits_per_second()?;
                    args.take("bps");
                }
                police.peak = true;
            }
            Part::Action(color) => {
                opens_mode = false;
                let origin = Origin::new(args.line(), args.line().first_column());
                apply(&mut police, color, args, origin, &mut lost)?;
            }
        }
    }
    police.excess = excess;
    Ok(Parsed {
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

/// A burst in bytes, or in time at the rate; the latter is not modelled for a rate in percent.
fn burst(
    args: &mut Args<'_>,
    rate: RateOrPercent,
    lost: &mut Vec<String>,
) -> Result<Option<Size>, Refusal> {
    let n = args.try_number("a burst in bytes", BURST)?;
    let Some(n) = n else { return Ok(None) };
    let unit = args.try_exact(&BURST_UNITS);
    let most = *BURST.end();
    Ok(match (unit, rate) {
        (Some(Unit::Bytes(scale)), _) => Some(Size(n.saturating_mul(scale).min(most))),
        (None, RateOrPercent::Rate(_)) => Some(Size(n)),
        (Some(Unit::Time(unit)), RateOrPercent::Rate(rate)) => {
            // An hour is longer than any burst, and within what a duration holds.
            let time = Dur::from_ps(
                unit.as_ps()
                    .saturating_mul(n)
                    .min(Dur::from_secs(3600).as_ps()),
            );
            Some(Size(rate.bytes_in(time).clamp(1, most)))
        }
        (_, RateOrPercent::Percent(_)) => {
            lost.push(
                "bursts in ms of a percentage are not modelled; the default burst holds".into(),
            );
            None
        }
    })
}

/// Reads the action that follows `conform-action` or its kin.
pub(crate) fn apply<'a>(
    police: &mut Police<'a>,
    color: Color,
    args: &mut Args<'a>,
    origin: Origin<'a>,
    lost: &mut Vec<String>,
) -> Result<(), Refusal> {
    let action = action(args, lost)?;
    match color {
        Color::Conform => police.conform = action,
        Color::Exceed => police.exceed = action,
        Color::Violate => {
            police.violate = Some(At {
                value: action,
                origin,
            });
        }
    }
    Ok(())
}

fn action(args: &mut Args<'_>, lost: &mut Vec<String>) -> Result<PoliceAction, Refusal> {
    #[derive(Clone, Copy, PartialEq)]
    enum Action {
        Transmit,
        Drop,
        Dscp,
        Precedence,
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
        ("set-cos-transmit", Action::Foreign { argument: true }),
        (
            "set-discard-class-transmit",
            Action::Foreign { argument: true },
        ),
        (
            "set-dscp-tunnel-transmit",
            Action::Foreign { argument: true },
        ),
        ("set-frde-transmit", Action::Foreign { argument: false }),
        (
            "set-mpls-exp-imposition-transmit",
            Action::Foreign { argument: true },
        ),
        (
            "set-mpls-exp-topmost-transmit",
            Action::Foreign { argument: true },
        ),
        ("set-mpls-exp-transmit", Action::Foreign { argument: true }),
        (
            "set-prec-tunnel-transmit",
            Action::Foreign { argument: true },
        ),
        ("set-qos-transmit", Action::Foreign { argument: true }),
    ];
    const WHAT: &str = "transmit, drop, set-dscp-transmit or set-prec-transmit";
    let text = args.peek().map_or("", |w| w.text);
    Ok(match args.keyword(&ACTIONS, WHAT)? {
        Action::Transmit => PoliceAction::Transmit,
        Action::Drop => PoliceAction::Drop,
        Action::Dscp => PoliceAction::SetDscp(args.dscp()?),
        Action::Precedence => PoliceAction::SetDscp(precedence_dscp(args.precedence()?)),
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

#[cfg(test)]
mod tests {
    use spillgate_core::{Dscp, Percent, Rate};

    use super::super::lexer::lines;
    use super::*;

    fn parse(text: &str) -> Result<Parsed<'_>, Refusal> {
        police(&mut Args::new(lines(text).next().unwrap().words()))
    }

    #[test]
    fn every_form_of_police() {
        use PoliceAction::{Drop, SetDscp, Transmit};
        let bps = |n| RateOrPercent::Rate(Rate::from_bps(n).unwrap());
        let percent = |p: f64| RateOrPercent::Percent(Percent(p / 100.0));
        let af22: Dscp = "af22".parse().unwrap();
        let table = [
            ("8000", bps(8000), None, Transmit, Drop, true),
            ("1m 3125", bps(1_000_000), Some(3125), Transmit, Drop, true),
            (
                "8000 1500 3000 conform-action transmit exceed-action drop",
                bps(8000),
                Some(1500),
                Transmit,
                Drop,
                false,
            ),
            (
                "rate 1 mbps burst 2 kbytes",
                bps(1_000_000),
                Some(2000),
                Transmit,
                Drop,
                true,
            ),
            // 100 ms at 1 Mb/s.
            (
                "cir 1m bc 100 ms",
                bps(1_000_000),
                Some(12_500),
                Transmit,
                Drop,
                true,
            ),
            (
                "cir 15000000 bc 468750",
                bps(15_000_000),
                Some(468_750),
                Transmit,
                Drop,
                true,
            ),
            (
                "rate 1000000 bps burst 2000 bytes",
                bps(1_000_000),
                Some(2000),
                Transmit,
                Drop,
                true,
            ),
            ("cir percent 20", percent(20.0), None, Transmit, Drop, true),
            (
                "cir 8000 conf set-prec-transmit 5 exc set-dscp-transmit af22",
                bps(8000),
                None,
                SetDscp(Dscp::new(40).unwrap()),
                SetDscp(af22),
                false,
            ),
        ];
        for (text, rate, burst, conform, exceed, opens) in table {
            let p = parse(text).ok().unwrap();
            assert_eq!(p.police.rate, rate, "{text}");
            assert_eq!(p.police.burst, burst.map(Size), "{text}");
            assert_eq!(
                (p.police.conform, p.police.exceed),
                (conform, exceed),
                "{text}"
            );
            assert_eq!((p.opens_mode, p.lost.len()), (opens, 0), "{text}");
        }
        let p = parse("cir 8000 bc 1500 pir 16000 be 3000 conform transmit exceed set-qos-transmit 3 violate drop").ok().unwrap();
        assert!(p.police.peak);
        assert_eq!(p.police.violate.unwrap().value, Drop);
        assert_eq!(p.lost.len(), 1);
        assert_eq!(
            parse("cir percent 20 bc 300 ms be 400 ms")
                .ok()
                .unwrap()
                .lost
                .len(),
            1
        );
    }

    #[test]
    fn wrong_arguments_are_located() {
        for (text, column) in [
            ("", 1),
            ("cir", 4),
            ("cir fast", 5),
            ("8000 conform-action", 20),
            ("8000 conform-action explode", 21),
            ("8000 exceed-action set-dscp-transmit 64", 38),
            ("8000 bogus", 6),
            ("cir percent 101", 13),
        ] {
            match parse(text) {
                Err(Refusal::Wrong(f)) => assert_eq!(f.column, column, "{text}: {f:?}"),
                _ => panic!("{text}"),
            }
        }
        assert!(matches!(parse("rate 100 pps"), Err(Refusal::Unmodelled(_))));
    }
}
