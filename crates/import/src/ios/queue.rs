//! The queue of a class: `shape`, `queue-limit`, `fair-queue`.

use spillgate_core::{Burst, Dscp, Dur, Limit, Percent, RateOrPercent};

use super::args::{Args, Modelled, out_of_range};
use super::ast::{FairQueue, Shaping};
use super::class::{Parsed, account};
use super::fault::{Refusal, code, unmodelled};
use super::keyword::{Found, find};

/// Be of a shaper without bursts, as much as Bc: `show policy-map interface` prints both, 4 ms
/// each.
pub(crate) const DEFAULT_EXCESS: Burst = Burst::Time(Dur::from_ms(4));

/// `shape {average | peak} {BPS [BC [BE]] | percent P [BC ms [BE ms]]}`, bursts in bits.
///
/// `peak` sends Bc + Be an interval where `average` sends Bc: its rate is BPS (1 + Be / Bc)
/// (Cisco IOS QoS command reference, `shape`). Bursts in ms of a percentage are at its rate.
///
/// The bucket holds Bc + Be, and Be equals Bc unless it is given: `show
/// policy-map interface` prints a byte limit of (Bc + Be) / 8, with equal
/// sustained and excess bits an interval where none was configured.
pub(crate) fn shape(args: &mut Args<'_>) -> Result<Parsed<Shaping>, Refusal> {
    // Whether the rate is the peak.
    const KINDS: [(&str, Modelled<bool>); 6] = [
        ("average", Ok(false)),
        ("peak", Ok(true)),
        ("adaptive", Err("adaptation to BECN is not modelled")),
        ("fecn-adapt", Err("adaptation to FECN is not modelled")),
        (
            "fr-voice-adapt",
            Err("adaptation to voice on frame relay is not modelled"),
        ),
        (
            "max-buffers",
            Err("the shaper's queue has the `queue-limit` of its class"),
        ),
    ];
    // Switches take the rate without a keyword.
    let peak =
        !args.at_number() && { args.modelled(&KINDS, "average or peak and a rate in bit/s")? };
    // At a peak rate, twice the average, 4 ms are Bc and Be together.
    let default_excess = (!peak).then_some(DEFAULT_EXCESS);
    if args.take("percent") {
        let mut percent = args.percent()?;
        let ms = |args: &mut Args<'_>, least| {
            let n = args.try_number("a burst in ms", least..=10_000)?;
            if n.is_some() {
                args.take("ms");
            }
            Ok::<_, Refusal>(n)
        };
        let bc = ms(args, 1)?;
        let be = match bc {
            Some(_) => ms(args, 0)?,
            None => None,
        };
        let lost = account(args)?;
        let burst = bc.map(|bc| Burst::Time(Dur::from_ms(bc)));
        let excess = be.or(bc).filter(|be| *be > 0);
        let excess = excess.map(|be| Burst::Time(Dur::from_ms(be)));
        let excess = bc.map_or(default_excess, |_| excess);
        if peak {
            percent = Percent(percent.0 * peak_factor(bc, be));
        }
        let rate = RateOrPercent::Percent(percent);
        let value = Shaping {
            rate,
            burst,
            excess,
        };
        return Ok(Parsed { value, lost });
    }
    let mut rate = args.bits_per_second()?;
    const BITS: std::ops::RangeInclusive<u64> = 8..=1_000_000_000_000;
    let bc = args.try_number("a burst in bits", BITS)?;
    let be = match bc {
        Some(_) => args.try_number("an excess burst in bits", 0..=*BITS.end())?,
        None => None,
    };
    let lost = account(args)?;
    let burst = bc.map(|bc| Burst::Bytes(bc / 8));
    let excess = be.or(bc).filter(|be| *be > 0);
    let excess = excess.map(|be| Burst::Bytes(be / 8));
    let excess = bc.map_or(default_excess, |_| excess);
    if peak {
        rate = rate.scaled(peak_factor(bc, be));
    }
    let value = Shaping {
        rate: RateOrPercent::Rate(rate),
        burst,
        excess,
    };
    Ok(Parsed { value, lost })
}

/// What `peak` sends for every bit that `average` does: 1 + Be / Bc, Be being Bc unless it is
/// given.
fn peak_factor(bc: Option<u64>, be: Option<u64>) -> f64 {
    1.0 + bc.map_or(1.0, |bc| be.unwrap_or(bc) as f64 / bc as f64)
}

/// Which packets a `queue-limit` is about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LimitOf {
    /// All of the class.
    All,
    /// Those of some DSCPs.
    Dscp(Vec<Dscp>),
    /// Those of some precedences.
    Precedence(Vec<u8>),
}

/// `queue-limit [dscp V... | precedence V...] LIMIT`: a limit, and the packets that it is about.
///
/// The thresholds of weighted tail drop are compared with the whole queue (Cisco ME 2400 and
/// ME 3400 command references, `queue-limit`). IOS takes one value a line, the switches of Catalyst
/// `values V...`, too.
pub(crate) fn queue_limit(args: &mut Args<'_>) -> Result<(LimitOf, Limit), Refusal> {
    let of = limit_of(args)?;
    Ok((of, limit(args)?))
}

/// The field by which a `queue-limit` goes, and its values.
pub(crate) fn limit_of(args: &mut Args<'_>) -> Result<LimitOf, Refusal> {
    #[derive(Clone, Copy, PartialEq)]
    enum Selector {
        Dscp,
        Precedence,
    }
    const LAYER2: Modelled<Selector> =
        Err("thresholds by layer-2 fields are not modelled; the class has one queue-limit");
    const SELECTORS: [(&str, Modelled<Selector>); 9] = [
        ("atm", LAYER2),
        ("clp", LAYER2),
        ("cos", LAYER2),
        (
            "discard-class",
            Err("thresholds by discard class are not modelled"),
        ),
        ("dscp", Ok(Selector::Dscp)),
        (
            "exp",
            Err("thresholds by EXP are not modelled; `precedence` holds for labelled packets, too"),
        ),
        (
            "percent",
            Err("a share of the buffers of a port, which are not known"),
        ),
        ("precedence", Ok(Selector::Precedence)),
        ("qos-group", Err("thresholds by QoS group are not modelled")),
    ];
    let Some(selector) = args.try_keyword(&SELECTORS) else {
        return Ok(LimitOf::All);
    };
    let selector = selector.or_else(unmodelled)?;
    let several = args.take("values");
    // The last number is the limit: a unit or nothing follows it.
    let more = |args: &Args<'_>| several && args.words().nth(1).is_some_and(|w| !is_unit(w.text));
    Ok(match selector {
        Selector::Dscp => LimitOf::Dscp(args.several(Args::dscp, more)?),
        Selector::Precedence => LimitOf::Precedence(args.several(Args::precedence, more)?),
    })
}

fn is_unit(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && !matches!(find(&LIMIT_UNITS, word), Found::None)
}

#[derive(Clone, Copy, PartialEq)]
enum LimitUnit {
    Packets,
    Bytes(u64),
    Ms,
    Us,
}

const LIMIT_UNITS: [(&str, LimitUnit); 6] = [
    ("packets", LimitUnit::Packets),
    ("bytes", LimitUnit::Bytes(1)),
    ("kbytes", LimitUnit::Bytes(1000)),
    ("mbytes", LimitUnit::Bytes(1_000_000)),
    ("ms", LimitUnit::Ms),
    ("us", LimitUnit::Us),
];

/// `N [packets | bytes | kbytes | mbytes | ms | us]`.
fn limit(args: &mut Args<'_>) -> Result<Limit, Refusal> {
    const WHAT: &str = "a queue limit";
    if args.take("percent") {
        return unmodelled("a share of a queue limit is not modelled: write it in packets");
    }
    let word = args.peek();
    let n = args.number(WHAT, 1..=1_000_000_000)?;
    let unit = match args.peek() {
        Some(_) => args.keyword(&LIMIT_UNITS, "packets, bytes, ms or us")?,
        None => LimitUnit::Packets,
    };
    args.finish()?;
    let most: u64 = match unit {
        LimitUnit::Packets | LimitUnit::Ms | LimitUnit::Us => 10_000_000,
        LimitUnit::Bytes(scale) => 1_000_000_000 / scale,
    };
    if let Some(word) = word.filter(|_| n > most) {
        return Err(out_of_range(word, WHAT, 1..=most));
    }
    Ok(match unit {
        LimitUnit::Packets => Limit::Packets(n as u32),
        LimitUnit::Bytes(scale) => Limit::Bytes(n * scale),
        LimitUnit::Ms => Limit::Time(Dur::from_ms(n)),
        LimitUnit::Us => Limit::Time(Dur::from_us(n)),
    })
}

/// `fair-queue [QUEUES]`, `fair-queue {queue-limit | individual-limit} PACKETS`.
///
/// Other defaults are those of flow-based WFQ before HQF (64 packets a
/// conversation); HQF holds a conversation to a quarter of the class's
/// queue-limit instead.
pub(crate) fn fair_queue(args: &mut Args<'_>) -> Result<Parsed<FairQueue>, Refusal> {
    const KINDS: [(&str, Modelled<()>); 6] = [
        ("queue-limit", Ok(())),
        ("individual-limit", Ok(())),
        (
            "aggregate-limit",
            Err("the limit over all conversations is not modelled here"),
        ),
        (
            "precedence",
            Err("weights by precedence are those of flow-based WFQ"),
        ),
        (
            "qos-group",
            Err("router-internal markings are not simulated"),
        ),
        (
            "tos",
            Err("queues by ToS are not modelled; conversations are"),
        ),
    ];
    let mut fair = FairQueue {
        queues: conversations(args)?,
        ..FairQueue::default()
    };
    while args.peek().is_some() {
        if let Err(reason) = args.keyword(&KINDS, "queue-limit and a number of packets")? {
            let lost = Some(reason.to_owned());
            return Ok(Parsed { value: fair, lost });
        }
        let each = args.number("packets a conversation may hold", 1..=4096)?;
        fair.threshold = Some(each as u16);
    }
    Ok(fair.into())
}

/// A number of conversation queues, a power of two, if a number comes next.
pub(crate) fn conversations(args: &mut Args<'_>) -> Result<Option<u16>, Refusal> {
    let word = args.peek();
    let queues = args.try_number("a number of conversation queues", 16..=4096)?;
    match (queues, word) {
        (Some(n), Some(word)) if !n.is_power_of_two() => {
            let message = format!("`{}` is not a power of two", word.text);
            let hint = "write 16, 32, 64, 128, 256, 512, 1024, 2048 or 4096";
            Err(word.fault(code::RANGE, message).hint(hint).into())
        }
        (n, _) => Ok(n.map(|n| n as u16)),
    }
}

#[cfg(test)]
mod tests {
    use spillgate_core::{Percent, Rate};

    use super::super::lexer::lines;
    use super::*;

    fn args(text: &str) -> Args<'_> {
        Args::new(lines(text).next().unwrap().words())
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
    fn thresholds_by_field_have_every_unit() {
        let (af11, af12) = ("af11".parse().unwrap(), "af12".parse().unwrap());
        let table = [
            (
                "dscp af11 40",
                LimitOf::Dscp(vec![af11]),
                Limit::Packets(40),
            ),
            (
                "dscp 10 40 packets",
                LimitOf::Dscp(vec![af11]),
                Limit::Packets(40),
            ),
            (
                "prec 1 20 ms",
                LimitOf::Precedence(vec![1]),
                Limit::Time(Dur::from_ms(20)),
            ),
            (
                "precedence network 9000 bytes",
                LimitOf::Precedence(vec![7]),
                Limit::Bytes(9000),
            ),
            (
                "dscp values af11 12 64 kbytes",
                LimitOf::Dscp(vec![af11, af12]),
                Limit::Bytes(64_000),
            ),
            (
                "precedence values 1 2 30",
                LimitOf::Precedence(vec![1, 2]),
                Limit::Packets(30),
            ),
        ];
        for (text, of, limit) in table {
            assert_eq!(queue_limit(&mut args(text)), Ok((of, limit)), "{text}");
        }
        assert_eq!(
            wrong(queue_limit(&mut args("dscp af11"))),
            (10, "an argument is missing".into())
        );
        assert_eq!(
            wrong(queue_limit(&mut args("dscp 64 10"))),
            (6, "`64` is out of range".into())
        );
        assert_eq!(
            wrong(queue_limit(&mut args("precedence 8 10"))),
            (12, "`8` is out of range".into())
        );
        assert_eq!(
            wrong(queue_limit(&mut args("dscp ef 0"))),
            (9, "`0` is out of range".into())
        );
        for text in [
            "cos 3 40",
            "qos-group 2 40",
            "percent 50",
            "dscp af33 percent 50",
            "precedence 3 percent 50",
            "discard-class 1 10",
        ] {
            listed(queue_limit(&mut args(text)));
        }
    }

    #[test]
    fn shape_bursts_are_bits_and_bc_plus_be() {
        let bps = |n| RateOrPercent::Rate(Rate::from_bps(n).unwrap());
        let table = [
            ("average 100000000", bps(100_000_000), None),
            ("ave 2m", bps(2_000_000), None),
            ("average 1.5M", bps(1_500_000), None),
            ("512000", bps(512_000), None),
            // The byte limit of `show policy-map interface` for 512 kbit/s: 3200.
            ("average 512000 12800", bps(512_000), Some((1600, 1600))),
            (
                "average 512000 12800 12800",
                bps(512_000),
                Some((1600, 1600)),
            ),
            ("average 512000 12800 0", bps(512_000), Some((1600, 0))),
            ("peak 512000", bps(1_024_000), None),
            ("peak 512000 12800 6400", bps(768_000), Some((1600, 800))),
            ("average 10 mbps", bps(10_000_000), None),
            ("average percent 50", percent(50.0), None),
            ("peak percent 20", percent(40.0), None),
        ];
        let some = |n, of: fn(u64) -> Burst| Some(n).filter(|n| *n > 0).map(of);
        for (text, rate, bursts) in table {
            let got = shape(&mut args(text)).ok().unwrap();
            let value = Shaping {
                rate,
                burst: bursts.map(|(bc, _)| Burst::Bytes(bc)),
                excess: bursts.map_or_else(
                    || Some(DEFAULT_EXCESS).filter(|_| !text.starts_with("peak")),
                    |(_, be)| some(be, Burst::Bytes),
                ),
            };
            assert_eq!((got.value, got.lost), (value, None), "{text}");
        }
        for (text, rate, bc, be) in [
            ("average percent 50 400 ms", 50.0, 400, 400),
            ("average percent 50 400 ms 100 ms", 50.0, 400, 100),
            ("average percent 50 400 ms 0 ms", 50.0, 400, 0),
            ("peak percent 20 400 ms 100 ms", 25.0, 400, 100),
        ] {
            let got = shape(&mut args(text)).ok().unwrap();
            let value = Shaping {
                rate: percent(rate),
                burst: Some(Burst::Time(Dur::from_ms(bc))),
                excess: some(be, |n| Burst::Time(Dur::from_ms(n))),
            };
            assert_eq!((got.value, got.lost), (value, None), "{text}");
        }
        listed(shape(&mut args("max-buffers 1000")));
        assert_eq!(
            wrong(shape(&mut args("average 0"))).1,
            "`0` is out of range"
        );
        assert_eq!(
            wrong(shape(&mut args("average 1.5"))).1,
            "`1.5` does not fit here"
        );
        assert_eq!(
            wrong(shape(&mut args("average 1e3k"))).1,
            "`1e3k` does not fit here"
        );
        assert_eq!(
            wrong(shape(&mut args("average 9999g"))).1,
            "`9999g` is out of range"
        );
    }

    #[test]
    fn queue_limits_come_in_four_units() {
        let table = [
            ("64", Limit::Packets(64)),
            ("64 packets", Limit::Packets(64)),
            ("96000 bytes", Limit::Bytes(96_000)),
            ("96 kbytes", Limit::Bytes(96_000)),
            ("20 ms", Limit::Time(Dur::from_ms(20))),
            ("500 us", Limit::Time(Dur::from_us(500))),
        ];
        for (text, limit) in table {
            assert_eq!(
                queue_limit(&mut args(text)),
                Ok((LimitOf::All, limit)),
                "{text}"
            );
        }
        assert_eq!(wrong(queue_limit(&mut args("0"))).1, "`0` is out of range");
        assert_eq!(
            wrong(queue_limit(&mut args("x"))).1,
            "`x` does not fit here"
        );
        assert_eq!(
            wrong(queue_limit(&mut args("  900000000 ms"))),
            (3, "`900000000` is out of range".into())
        );
        assert_eq!(wrong(queue_limit(&mut args("64 furlongs"))).0, 4);
    }

    #[test]
    fn fair_queue_takes_powers_of_two() {
        let fair = |q, t| FairQueue {
            queues: q,
            threshold: t,
        };
        for (text, expected) in [
            ("", fair(None, None)),
            ("512", fair(Some(512), None)),
            ("queue-limit 20", fair(None, Some(20))),
            ("16 queue-limit 20", fair(Some(16), Some(20))),
        ] {
            assert_eq!(
                fair_queue(&mut args(text)).ok().unwrap().value,
                expected,
                "{text}"
            );
        }
        assert_eq!(
            wrong(fair_queue(&mut args("100"))).1,
            "`100` is not a power of two"
        );
        assert_eq!(wrong(fair_queue(&mut args("8"))).1, "`8` is out of range");
    }
}
