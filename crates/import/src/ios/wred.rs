//! `random-detect`, in a class or on an interface.
//!
//! Without a keyword profiles go by IP precedence; a profile's thresholds are packets unless they
//! say bytes, its denominator 10 unless given (Cisco IOS command reference). All profiles of a
//! class have one unit. `dscp values` and `precedence values` are the same profile for each of
//! several values, `aggregate` beside `dscp-based` or `precedence-based` the profile of all others
//! (Cisco IOS QoS command reference, `random-detect (aggregate)`).

use spillgate_queueing::aqm::{WredBy, WredProfile, WredUnit};

use super::args::{Args, Modelled};
use super::ast::{Origin, Wred};
use super::fault::{Refusal, code, unmodelled};
use super::keyword::abbreviates;

#[derive(Clone, Copy, PartialEq)]
enum WredWord {
    By(WredBy),
    Dscp,
    Precedence,
    Aggregate,
    Weight,
    Ecn,
}

const LAYER2: Modelled<WredWord> = Err("simulated packets have no layer-2 header fields");
const INTERNAL: Modelled<WredWord> = Err("router-internal markings are not simulated");

const KINDS: [(&str, Modelled<WredWord>); 17] = [
    ("aggregate", Ok(WredWord::Aggregate)),
    ("atm-clp-based", LAYER2),
    ("clp", LAYER2),
    ("cos", LAYER2),
    ("cos-based", LAYER2),
    (
        "default",
        Err("the default profile of IOS XR is not modelled"),
    ),
    ("discard-class", INTERNAL),
    ("discard-class-based", INTERNAL),
    ("dscp", Ok(WredWord::Dscp)),
    ("dscp-based", Ok(WredWord::By(WredBy::Dscp))),
    ("ecn", Ok(WredWord::Ecn)),
    ("exponential-weighting-constant", Ok(WredWord::Weight)),
    ("flow", Err("flow-based WRED is not modelled")),
    ("prec-based", Ok(WredWord::By(WredBy::Precedence))),
    ("precedence", Ok(WredWord::Precedence)),
    ("precedence-based", Ok(WredWord::By(WredBy::Precedence))),
    (
        "rsvp",
        Err("packets of RSVP reservations are not simulated"),
    ),
];

/// What follows `random-detect`. On an error or a refusal nothing changes.
pub(crate) fn random_detect<'a>(
    wred: &mut Wred<'a>,
    args: &mut Args<'a>,
    origin: Origin<'a>,
) -> Result<(), Refusal> {
    if args.peek().is_none() {
        wred.by = Some(WredBy::Precedence);
        wred.origin.get_or_insert(origin);
        return Ok(());
    }
    if args.at_number() {
        return unmodelled("one profile for all packets of a class is not modelled");
    }
    match args.modelled(&KINDS, "dscp-based, prec-based, dscp, precedence, ecn")? {
        WredWord::By(by) => {
            if args.take("aggregate") {
                aggregate(wred, args)?;
            }
            args.finish()?;
            wred.by = Some(by);
        }
        WredWord::Aggregate => {
            aggregate(wred, args)?;
            wred.by = Some(WredBy::Precedence);
        }
        WredWord::Dscp if args.take("values") => {
            let (values, value) = group(wred, args, Args::dscp)?;
            let all = values.into_iter().map(|d| (d, origin.at(value)));
            wred.dscp.extend(all);
        }
        WredWord::Precedence if args.take("values") => {
            let (values, value) = group(wred, args, Args::precedence)?;
            let all = values.into_iter().map(|p| (p, origin.at(value)));
            wred.precedence.extend(all);
        }
        WredWord::Dscp => {
            let dscp = args.dscp()?;
            let value = profile(wred, args, false)?;
            wred.dscp.insert(dscp, origin.at(value));
        }
        WredWord::Precedence => {
            if args.take("rsvp") {
                return unmodelled("packets of RSVP reservations are not simulated");
            }
            let precedence = args.precedence()?;
            let value = profile(wred, args, false)?;
            wred.precedence.insert(precedence, origin.at(value));
        }
        WredWord::Weight => {
            let n = args.number("an exponential weighting constant", 1..=16)?;
            args.finish()?;
            wred.weight = Some(n as u8);
        }
        WredWord::Ecn => {
            args.finish()?;
            wred.ecn = true;
        }
    }
    wred.origin.get_or_insert(origin);
    Ok(())
}

const MINIMUM: &str = "minimum-thresh";

/// What follows `aggregate`: the profile of the values that are in no group; without one they have
/// the default.
fn aggregate(wred: &mut Wred<'_>, args: &mut Args<'_>) -> Result<(), Refusal> {
    wred.rest = match args.peek() {
        Some(_) => Some(profile(wred, args, true)?),
        None => None,
    };
    Ok(())
}

/// `VALUE ... minimum-thresh MIN maximum-thresh MAX [mark-prob DENOMINATOR]`.
fn group<'a, T>(
    wred: &mut Wred<'_>,
    args: &mut Args<'a>,
    value: impl Fn(&mut Args<'a>) -> Result<T, Refusal>,
) -> Result<(Vec<T>, WredProfile), Refusal> {
    let values = args.several(value, before_minimum)?;
    Ok((values, profile(wred, args, true)?))
}

/// Whether a value comes next, not the lower threshold.
fn before_minimum(args: &Args<'_>) -> bool {
    args.peek()
        .is_some_and(|w| !abbreviates(w.text, MINIMUM, 2))
}

/// `MIN [UNIT] MAX [UNIT] [DENOMINATOR]`, a unit being packets, bytes, ms or us; `named`: with a
/// keyword in front of each.
fn profile(wred: &mut Wred<'_>, args: &mut Args<'_>, named: bool) -> Result<WredProfile, Refusal> {
    let keyword = |args: &mut Args<'_>, word: &'static str| match named {
        true => args.keyword(&[(word, ())], word),
        false => Ok(()),
    };
    if args.take("percent") {
        return unmodelled(
            "thresholds in percent of a switch's buffer are not modelled; packets, bytes and ms are",
        );
    }
    keyword(args, MINIMUM)?;
    let (min, unit) = threshold(args, "the lower threshold")?;
    keyword(args, "maximum-thresh")?;
    let at = args.peek();
    let (max, upper) = threshold(args, "the upper threshold")?;
    if let Some(word) = at.filter(|_| max < min) {
        let message = format!("the upper threshold is below the lower one, {min}");
        let fault = word.fault(code::RANGE, message);
        return Err(fault.hint(format!("write {min} or more")).into());
    }
    const DENOMINATOR: &str = "a mark probability denominator";
    let denominator = match named && args.peek().is_some() {
        true => {
            keyword(args, "mark-prob")?;
            Some(args.number(DENOMINATOR, 1..=65536)?)
        }
        false => args.try_number(DENOMINATOR, 1..=65536)?,
    };
    args.finish()?;
    let first = wred.unit.unwrap_or(unit);
    if (unit, upper) != (first, first) {
        return unmodelled("the thresholds of a class have one unit: this line has another");
    }
    wred.unit = Some(first);
    Ok(WredProfile {
        min,
        max,
        denominator: denominator.unwrap_or(10) as u32,
    })
}

fn threshold(args: &mut Args<'_>, what: &str) -> Result<(u32, WredUnit), Refusal> {
    // A unit, and how many of what is written make one of it.
    const UNITS: [(&str, Option<(WredUnit, u64)>); 5] = [
        ("packets", Some((WredUnit::Packets, 1))),
        ("bytes", Some((WredUnit::Bytes, 1))),
        ("ms", Some((WredUnit::Ms, 1))),
        ("us", Some((WredUnit::Ms, 1000))),
        ("cells", None),
    ];
    let word = args.peek();
    let n = args.number(what, 1..=u64::from(u32::MAX))?;
    let unit = args.try_keyword(&UNITS);
    let Some((unit, each)) = unit.unwrap_or(Some((WredUnit::Packets, 1))) else {
        return unmodelled("thresholds in cells are not modelled; packets, bytes and ms are");
    };
    if n % each != 0 {
        return unmodelled("thresholds are in whole milliseconds here");
    }
    let most = match unit {
        WredUnit::Packets => 4096,
        WredUnit::Bytes => u32::MAX,
        WredUnit::Ms => 10_000,
    };
    match (u32::try_from(n / each), word) {
        (Ok(n), _) if n <= most => Ok((n, unit)),
        (_, Some(word)) => {
            let most = u64::from(most) * each;
            Err(super::args::out_of_range(word, what, 1..=most))
        }
        (_, None) => unmodelled("no threshold"),
    }
}

/// What follows `no random-detect`.
pub(crate) fn remove<'a>(wred: &mut Wred<'a>, args: &mut Args<'a>) -> Result<(), Refusal> {
    if args.peek().is_none() {
        *wred = Wred::default();
        return Ok(());
    }
    match args.modelled(&KINDS, "dscp-based, prec-based, dscp, precedence, ecn")? {
        WredWord::By(_) | WredWord::Aggregate => *wred = Wred::default(),
        WredWord::Dscp => {
            let several = args.take("values");
            let gone = args.several(Args::dscp, |args| several && before_minimum(args))?;
            wred.dscp.retain(|value, _| !gone.contains(value));
        }
        WredWord::Precedence => {
            let several = args.take("values");
            let gone = args.several(Args::precedence, |args| several && before_minimum(args))?;
            wred.precedence.retain(|value, _| !gone.contains(value));
        }
        WredWord::Weight => wred.weight = None,
        WredWord::Ecn => wred.ecn = false,
    }
    if wred.dscp.is_empty() && wred.precedence.is_empty() {
        wred.unit = None;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::lexer::lines;
    use super::*;

    fn apply(text: &str) -> Result<Wred<'_>, Refusal> {
        let mut wred = Wred::default();
        for line in lines(text) {
            let origin = Origin::new(line, 1);
            random_detect(&mut wred, &mut Args::new(line.words()), origin)?;
        }
        Ok(wred)
    }

    #[test]
    fn every_form_of_random_detect() {
        let w = apply("dscp-based\ndscp af21 24 42\ndscp 22 26 packets 42 packets 20\necn\nexpo 9")
            .ok()
            .unwrap();
        assert_eq!((w.by, w.weight, w.ecn), (Some(WredBy::Dscp), Some(9), true));
        let profiles: Vec<_> = w
            .dscp
            .iter()
            .map(|(d, p)| (d.value(), p.value.min, p.value.max, p.value.denominator))
            .collect();
        assert_eq!(profiles, [(18, 24, 42, 10), (22, 26, 42, 20)]);
        assert_eq!(apply("").ok().unwrap().by, Some(WredBy::Precedence));
        assert_eq!(w.unit, Some(WredUnit::Packets));
        let w = apply("prec-based\nprecedence 2 100 bytes 200 bytes 10")
            .ok()
            .unwrap();
        assert_eq!(w.unit, Some(WredUnit::Bytes));
        assert_eq!(w.precedence[&2].value.max, 200);
        for mixed in [
            "precedence 2 100 bytes 200",
            "precedence 2 1 2\nprecedence 3 1 bytes 2 bytes",
        ] {
            assert!(
                matches!(apply(mixed), Err(Refusal::Unmodelled(_))),
                "{mixed}"
            );
        }
        let w = apply("dscp-based\ndscp 24 400 ms 500 ms 1\ndscp 25 200000 us 250 ms 1");
        let w = w.ok().unwrap();
        assert_eq!(w.unit, Some(WredUnit::Ms));
        let profiles: Vec<_> = w
            .dscp
            .values()
            .map(|p| (p.value.min, p.value.max))
            .collect();
        assert_eq!(profiles, [(400, 500), (200, 250)]);
        let w = apply("prec-based\nprecedence 3 26 40 10").ok().unwrap();
        assert_eq!(w.precedence[&3].value.min, 26);
    }

    /// Groups of values have one profile, and the rest another.
    #[test]
    fn profiles_of_groups() {
        let w = apply(
            "dscp-based aggregate minimum-thresh 5 maximum-thresh 20 mark-prob 4
dscp values 10 af12 minimum-thresh 20 maximum-thresh 40
dscp values 14 minimum-thresh 10 maximum-thresh 30 mark-prob 5",
        );
        let w = w.ok().unwrap();
        let of = |p: &WredProfile| (p.min, p.max, p.denominator);
        let profiles: Vec<_> = w
            .dscp
            .iter()
            .map(|(d, p)| (d.value(), of(&p.value)))
            .collect();
        assert_eq!(
            profiles,
            [(10, (20, 40, 10)), (12, (20, 40, 10)), (14, (10, 30, 5))]
        );
        assert_eq!(w.rest.as_ref().map(of), Some((5, 20, 4)));
        let w = apply("precedence-based aggregate\nprecedence values 1 flash min 20 max 40 mark 8");
        let w = w.ok().unwrap();
        let found: Vec<_> = w
            .precedence
            .iter()
            .map(|(p, at)| (*p, of(&at.value)))
            .collect();
        assert_eq!(
            (found, w.rest),
            (vec![(1, (20, 40, 8)), (3, (20, 40, 8))], None)
        );
    }

    #[test]
    fn wrong_arguments_are_located() {
        for (text, column) in [
            ("dscp values", 12),
            ("dscp values 10", 15),
            ("dscp values 10 64 minimum-thresh 10 maximum-thresh 40", 16),
            ("dscp values 10 minimum-thresh 10 40", 34),
            ("dscp values 10 minimum-thresh 50 maximum-thresh 40", 49),
            ("dscp values 10 minimum-thresh 10 maximum-thresh 40 10", 52),
            (
                "dscp values 10 minimum-thresh 10 maximum-thresh 40 mark-prob",
                61,
            ),
            ("dscp", 5),
            ("dscp af21", 10),
            ("dscp af21 24", 13),
            ("dscp af21 0 40", 11),
            ("dscp af21 42 24", 14),
            ("dscp af21 24 5000", 14),
            ("dscp af21 24 ms 10001 ms", 17),
            ("dscp af21 24 42 0", 17),
            ("precedence 9 1 2", 12),
            ("exponential-weighting-constant 17", 32),
            ("bogus", 1),
        ] {
            match apply(text) {
                Err(Refusal::Wrong(f)) => assert_eq!(f.column, column, "{text}: {f:?}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        for listed in [
            "dscp 10 20 cells 40 cells",
            "dscp 10 1500 us 4000 us",
            "dscp 10 percent 20 40",
            "dscp 10 20 ms 40 packets",
        ] {
            assert!(
                matches!(apply(listed), Err(Refusal::Unmodelled(_))),
                "{listed}"
            );
        }
    }
}
