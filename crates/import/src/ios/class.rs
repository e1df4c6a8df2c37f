//! What a class of a policy-map does: `bandwidth`, `priority`, `set`.
//! (Its queue is in [`super::queue`].)
//!
//! Units are those of the command reference: `bandwidth` and `priority` in
//! kbit/s with bursts in bytes, `shape` in bit/s with bursts in bits,
//! `queue-limit` in packets unless it says otherwise.

use spillgate_core::{Dscp, RateOrPercent, Size};

use super::args::{Args, Modelled};
use super::ast::{Priority, Remaining};
use super::fault::{Refusal, unmodelled};

/// A value, and what of the line was understood but has no effect.
pub(crate) struct Parsed<T> {
    pub(crate) value: T,
    pub(crate) lost: Option<String>,
}

impl<T> From<T> for Parsed<T> {
    fn from(value: T) -> Self {
        Self { value, lost: None }
    }
}

/// What `bandwidth` reserves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bandwidth {
    Guaranteed(RateOrPercent),
    Remaining(Remaining),
}

const OVERHEAD: &str =
    "overhead accounting: which bytes count is said by `policy_overhead` of the link";

/// `bandwidth {KBPS | percent P | remaining {percent P | ratio R}} [account ...]`.
pub(crate) fn bandwidth(args: &mut Args<'_>) -> Result<Parsed<Bandwidth>, Refusal> {
    // Whether it is a ratio.
    const SHARES: [(&str, bool); 2] = [("percent", false), ("ratio", true)];
    let value = if args.take("percent") {
        Bandwidth::Guaranteed(RateOrPercent::Percent(args.percent()?))
    } else if args.take("remaining") {
        Bandwidth::Remaining(match args.keyword(&SHARES, "percent or ratio")? {
            false => Remaining::Percent(args.percent()?),
            true => {
                Remaining::Ratio(args.number("a ratio of the remaining bandwidth", 1..=1000)? as u32)
            }
        })
    } else {
        Bandwidth::Guaranteed(RateOrPercent::Rate(args.kilobits_per_second()?))
    };
    let lost = account(args)?;
    Ok(Parsed { value, lost })
}

/// What a subscriber's line adds (`account ... aal5 ENCAPSULATION`), as keywords of a link's
/// overhead.
const SUBSCRIBERS: [(&str, &str); 8] = [
    ("mux-1483routed", "ipoa-vcmux"),
    ("mux-dot1q-rbe", "bridged-vcmux ether-vlan"),
    ("mux-pppoa", "pppoa-vcmux"),
    ("mux-rbe", "bridged-vcmux"),
    ("snap-1483routed", "ipoa-llcsnap"),
    ("snap-dot1q-rbe", "bridged-llcsnap ether-vlan"),
    ("snap-pppoa", "pppoa-llc"),
    ("snap-rbe", "bridged-llcsnap"),
];

/// The end of a line that may say which bytes count.
pub(crate) fn account(args: &mut Args<'_>) -> Result<Option<String>, Refusal> {
    if !args.take("account") {
        args.finish()?;
        return Ok(None);
    }
    // The frames between router and DSLAM (dot1q or qinq) are not the subscriber's line.
    let _ = args.take("dot1q") || args.take("qinq");
    let words = match args.take("aal5") {
        true => args.try_exact(&SUBSCRIBERS),
        false => None,
    };
    Ok(Some(match words {
        Some(words) => format!("{OVERHEAD}: write `policy_overhead: {words}` there"),
        None => OVERHEAD.to_owned(),
    }))
}

/// Bursts that the command line of LLQ takes, in bytes.
const PRIORITY_BURST: std::ops::RangeInclusive<u64> = 32..=2_000_000;

/// `priority [level N] [KBPS [BURST] | percent P [BURST]]`.
pub(crate) fn priority(args: &mut Args<'_>) -> Result<Priority, Refusal> {
    let mut level = 1;
    if args.take("level") {
        level = args.number("a priority level", 1..=16)? as u8;
    }
    let rate = if args.take("percent") {
        Some(RateOrPercent::Percent(args.percent()?))
    } else if args.peek().is_some() {
        Some(RateOrPercent::Rate(args.kilobits_per_second()?))
    } else {
        None
    };
    let burst = args.try_number("a burst in bytes", PRIORITY_BURST)?;
    args.finish()?;
    Ok(Priority {
        level,
        rate,
        burst: burst.map(Size),
    })
}

/// What a `set` line sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marking {
    Dscp(Dscp),
    /// EXP bits of the top label.
    Exp(u8),
    /// EXP bits of labels to come.
    Imposition(u8),
    /// Priority of the 802.1Q tag.
    Cos(u8),
    QosGroup(u16),
}

/// `set cos V`, `set qos-group V`;
/// `set [ip] {dscp V | precedence V}`; precedence p is DSCP 8p (RFC 2474 section 4.2.2).
/// `set mpls experimental {imposition | topmost} V`; before IOS 12.2(13)T without either keyword,
/// for what is now called imposition.
pub(crate) fn set(args: &mut Args<'_>) -> Result<Marking, Refusal> {
    let marking = marking(args)?;
    args.finish()?;
    Ok(marking)
}

/// What follows `set`, more words behind it being somebody else's.
pub(crate) fn marking(args: &mut Args<'_>) -> Result<Marking, Refusal> {
    #[derive(Clone, Copy, PartialEq)]
    enum Field {
        Mpls,
        Ip,
        Dscp,
        Precedence,
        Cos,
        QosGroup,
    }
    const DISCARD: Modelled<Field> = Err(
        "the discard class, which chooses drop thresholds inside the router, is not simulated; a QoS group is",
    );
    const TRAFFIC: Modelled<Field> =
        Err("the traffic class, a mark inside the router, is not simulated; a QoS group is");
    const LAYER2: Modelled<Field> = Err("of layer 2, simulated packets have the CoS only");
    const FIELDS: [(&str, Modelled<Field>); 13] = [
        ("ip", Ok(Field::Ip)),
        ("ipv6", Ok(Field::Ip)),
        ("dscp", Ok(Field::Dscp)),
        ("precedence", Ok(Field::Precedence)),
        ("atm-clp", LAYER2),
        ("cos", Ok(Field::Cos)),
        ("cos-inner", LAYER2),
        ("discard-class", DISCARD),
        ("fr-de", LAYER2),
        ("mpls", Ok(Field::Mpls)),
        ("qos-group", Ok(Field::QosGroup)),
        ("traffic-class", TRAFFIC),
        ("vlan", LAYER2),
    ];
    const SOURCES: &str = "atm-clp dscp inner precedence table cos discard-class mpls qos-group \
        tunnel transmit";
    const WHAT: &str = "dscp or precedence";
    let mut field = args.modelled(&FIELDS, WHAT)?;
    if field == Field::Ip {
        field = args.modelled(&FIELDS[2..4], WHAT)?;
    }
    let mut topmost = false;
    if field == Field::Mpls {
        const PLACES: [(&str, bool); 2] = [("imposition", false), ("topmost", true)];
        args.keyword(&[("experimental", ())], "experimental")?;
        topmost = args.try_keyword(&PLACES).unwrap_or(false);
    }
    let mut ahead = *args;
    if ahead.take(SOURCES) {
        return unmodelled(
            "a marking copied from another field, by a table-map or as it is, is not modelled: write a class for each value",
        );
    }
    Ok(match field {
        Field::Precedence => Marking::Dscp(precedence_dscp(args.precedence()?)),
        Field::Mpls if topmost => Marking::Exp(args.exp()?),
        Field::Mpls => Marking::Imposition(args.exp()?),
        Field::Cos => Marking::Cos(args.cos()?),
        Field::QosGroup => Marking::QosGroup(args.qos_group()?),
        _ => Marking::Dscp(args.dscp()?),
    })
}

/// The class selector of a precedence (RFC 2474 section 4.2.2).
pub(crate) fn precedence_dscp(precedence: u8) -> Dscp {
    Dscp::new(precedence << 3).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use spillgate_core::{Percent, Rate};

    use super::super::lexer::lines;
    use super::*;

    fn args(text: &str) -> Args<'_> {
        Args::new(lines(text).next().unwrap().words())
    }

    fn kbps(n: u64) -> RateOrPercent {
        RateOrPercent::Rate(Rate::from_bps(n * 1000).unwrap())
    }

    fn percent(p: f64) -> RateOrPercent {
        RateOrPercent::Percent(Percent(p / 100.0))
    }

    #[track_caller]
    fn wrong<T>(result: Result<T, Refusal>) -> (u32, String) {
        match result {
            Err(Refusal::Wrong(f)) => (f.column, f.message),
            Err(Refusal::Unmodelled(reason) | Refusal::NotUnderstood(reason)) => {
                panic!("listed: {reason}")
            }
            Ok(_) => panic!("taken"),
        }
    }

    #[track_caller]
    fn listed<T>(result: Result<T, Refusal>) {
        assert!(matches!(result, Err(Refusal::Unmodelled(_))));
    }

    #[test]
    fn bandwidth_is_in_kbps() {
        use Bandwidth::{Guaranteed, Remaining as Rest};
        let table = [
            ("15000", Guaranteed(kbps(15_000))),
            ("percent 35", Guaranteed(percent(35.0))),
            ("per 100", Guaranteed(percent(100.0))),
            (
                "remaining percent 20",
                Rest(Remaining::Percent(Percent(0.2))),
            ),
            ("rem ratio 9", Rest(Remaining::Ratio(9))),
        ];
        for (text, expected) in table {
            let got = bandwidth(&mut args(text)).ok().unwrap();
            assert_eq!((got.value, got.lost), (expected, None), "{text}");
        }
        let user = bandwidth(&mut args("1000 account user-defined 4"))
            .ok()
            .unwrap();
        assert_eq!(
            (user.value, user.lost.as_deref()),
            (Guaranteed(kbps(1000)), Some(OVERHEAD))
        );
        let line = bandwidth(&mut args("1000 account dot1q aal5 snap-pppoa"))
            .ok()
            .unwrap();
        let words = format!("{OVERHEAD}: write `policy_overhead: pppoa-llc` there");
        assert_eq!(line.lost, Some(words));
        for (_, words) in SUBSCRIBERS {
            assert!(spillgate_core::overhead::parse_overhead(words).is_ok());
        }
        assert_eq!(
            wrong(bandwidth(&mut args("percent 101"))),
            (9, "`101` is out of range".into())
        );
        assert_eq!(
            wrong(bandwidth(&mut args("percent"))),
            (8, "an argument is missing".into())
        );
        assert_eq!(wrong(bandwidth(&mut args(""))).1, "an argument is missing");
        assert_eq!(wrong(bandwidth(&mut args("0"))).1, "`0` is out of range");
        assert_eq!(
            wrong(bandwidth(&mut args("10 20"))),
            (4, "`20` does not fit here".into())
        );
        assert_eq!(
            wrong(bandwidth(&mut args("ten"))).1,
            "`ten` does not fit here"
        );
        assert_eq!(
            wrong(bandwidth(&mut args("99999999999999999999999"))).1,
            "`99999999999999999999999` is out of range"
        );
    }

    #[test]
    fn priority_forms() {
        let p = |level, rate, burst: Option<u64>| Priority {
            level,
            rate,
            burst: burst.map(Size),
        };
        let table = [
            ("", p(1, None, None)),
            ("15000", p(1, Some(kbps(15_000)), None)),
            ("128 3200", p(1, Some(kbps(128)), Some(3200))),
            ("percent 15", p(1, Some(percent(15.0)), None)),
            ("percent 15 32000", p(1, Some(percent(15.0)), Some(32_000))),
            ("level 2", p(2, None, None)),
            ("level 1 percent 10", p(1, Some(percent(10.0)), None)),
            ("level 2 512 8000", p(2, Some(kbps(512)), Some(8000))),
        ];
        for (text, expected) in table {
            assert_eq!(priority(&mut args(text)), Ok(expected), "{text}");
        }
        assert_eq!(
            wrong(priority(&mut args("128 31"))),
            (5, "`31` is out of range".into())
        );
        assert_eq!(
            wrong(priority(&mut args("level"))).1,
            "an argument is missing"
        );
        assert_eq!(
            wrong(priority(&mut args("level 0"))).1,
            "`0` is out of range"
        );
    }

    #[test]
    fn set_marks_dscp_and_precedence() {
        for (text, value) in [
            ("dscp ef", 46),
            ("ip dscp af41", 34),
            ("precedence 5", 40),
            ("ip precedence critical", 40),
        ] {
            let dscp = Dscp::new(value).unwrap();
            assert_eq!(set(&mut args(text)), Ok(Marking::Dscp(dscp)), "{text}");
        }
        assert_eq!(set(&mut args("cos 5")), Ok(Marking::Cos(5)));
        assert_eq!(set(&mut args("qos-g 99")), Ok(Marking::QosGroup(99)));
        for text in ["cos 8", "qos-group 512", "cos", "cos 1 2"] {
            wrong(set(&mut args(text)));
        }
        for text in [
            "cos dscp table T",
            "discard-class 2",
            "traffic-class 3",
            "dscp cos table T",
            "precedence dscp table T",
            "qos-group precedence",
            "dscp cos",
            "mpls experimental topmost qos-group",
        ] {
            listed(set(&mut args(text)));
        }
        for (text, marking) in [
            ("mpls experimental imposition 5", Marking::Imposition(5)),
            ("mpls exp imp 5", Marking::Imposition(5)),
            ("mpls experimental 3", Marking::Imposition(3)),
            ("mpls experimental topmost 0", Marking::Exp(0)),
        ] {
            assert_eq!(set(&mut args(text)), Ok(marking), "{text}");
        }
        assert_eq!(
            wrong(set(&mut args("mpls experimental topmost 8"))).1,
            "`8` is out of range"
        );
        assert_eq!(wrong(set(&mut args("dscp 64"))).1, "`64` is out of range");
        assert_eq!(
            wrong(set(&mut args("ip ip dscp 1"))).1,
            "`ip` does not fit here"
        );
    }
}
