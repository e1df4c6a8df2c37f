//! `random-detect`, in a class or on an interface.
//!
//! Without a keyword profiles go by IP precedence; a profile's thresholds
//! are packets unless they say bytes, its denominator 10 unless given (Cisco IOS command reference).
//! All profiles of a class have one unit.

use spillgate_queueing::aqm::{WredBy, WredProfile, WredUnit};

use super::args::Args;
use super::ast::{At, Origin, Wred};
use super::fault::{Fault, Refusal, code, unmodelled};

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    By(WredBy),
    Dscp,
    Precedence,
    Weight,
    Ecn,
    Foreign(&'static str),
}

const LAYER2: &str = "simulated packets have no layer-2 header fields";
const INTERNAL: &str = "router-internal markings are not simulated";

const KINDS: [(&str, Kind); 17] = [
    (
        "aggregate",
        Kind::Foreign("profiles for groups of values are not modelled"),
    ),
    ("atm-clp-based", Kind::Foreign(LAYER2)),
    ("clp", Kind::Foreign(LAYER2)),
    ("cos", Kind::Foreign(LAYER2)),
    ("cos-based", Kind::Foreign(LAYER2)),
    (
        "default",
        Kind::Foreign("the default profile of IOS XR is not modelled"),
    ),
    ("discard-class", Kind::Foreign(INTERNAL)),
    ("discard-class-based", Kind::Foreign(INTERNAL)),
    ("dscp", Kind::Dscp),
    ("dscp-based", Kind::By(WredBy::Dscp)),
    ("ecn", Kind::Ecn),
    ("exponential-weighting-constant", Kind::Weight),
    ("flow", Kind::Foreign("flow-based WRED is not modelled")),
    ("prec-based", Kind::By(WredBy::Precedence)),
    ("precedence", Kind::Precedence),
    ("precedence-based", Kind::By(WredBy::Precedence)),
    (
        "rsvp",
        Kind::Foreign("packets of RSVP reservations are not simulated"),
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
    if args
        .peek()
        .is_some_and(|w| w.text.starts_with(|c: char| c.is_ascii_digit()))
    {
        return unmodelled("one profile for all packets of a class is not modelled");
    }
    match args.keyword(&KINDS, "dscp-based, prec-based, dscp, precedence, ecn")? {
        Kind::By(by) => {
            if args.take("aggregate") {
                return unmodelled("profiles for groups of values are not modelled");
            }
            args.finish()?;
            wred.by = Some(by);
        }
        Kind::Dscp => {
            if args.take("values") {
                return unmodelled("profiles for groups of values are not modelled");
            }
            let dscp = args.dscp()?;
            let value = profile(wred, args)?;
            wred.dscp.insert(dscp, At { value, origin });
        }
        Kind::Precedence => {
            if args.take("values") {
                return unmodelled("profiles for groups of values are not modelled");
            }
            if args.take("rsvp") {
                return unmodelled("packets of RSVP reservations are not simulated");
            }
            let precedence = args.precedence()?;
            let value = profile(wred, args)?;
            wred.precedence.insert(precedence, At { value, origin });
        }
        Kind::Weight => {
            let n = args.number("an exponential weighting constant", 1..=16)?;
            args.finish()?;
            wred.weight = Some(n as u8);
        }
        Kind::Ecn => {
            args.finish()?;
            wred.ecn = true;
        }
        Kind::Foreign(reason) => return unmodelled(reason),
    }
    wred.origin.get_or_insert(origin);
    Ok(())
}

/// `MIN [UNIT] MAX [UNIT] [DENOMINATOR]`, a unit being packets or bytes.
fn profile(wred: &mut Wred<'_>, args: &mut Args<'_>) -> Result<WredProfile, Refusal> {
    let (min, unit) = threshold(args, "the lower threshold")?;
    let at = args.peek();
    let (max, upper) = threshold(args, "the upper threshold")?;
    if let Some(word) = at.filter(|_| max < min) {
        let message = format!("the upper threshold is below the lower one, {min}");
        return Err(Fault::new(code::RANGE, word.column, message)
            .found(word.text)
            .hint(format!("write {min} or more"))
            .into());
    }
    let denominator = args.try_number("a mark probability denominator", 1..=65536)?;
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
    const UNITS: [(&str, Option<WredUnit>); 5] = [
        ("packets", Some(WredUnit::Packets)),
        ("bytes", Some(WredUnit::Bytes)),
        ("ms", None),
        ("us", None),
        ("cells", None),
    ];
    let word = args.peek();
    let n = args.number(what, 1..=u64::from(u32::MAX))?;
    let Some(unit) = args.try_keyword(&UNITS).unwrap_or(Some(WredUnit::Packets)) else {
        return unmodelled("thresholds in cells or time are not modelled; packets and bytes are");
    };
    let most = match unit {
        WredUnit::Packets => 4096,
        WredUnit::Bytes => u32::MAX,
    };
    match (u32::try_from(n), word) {
        (Ok(n), _) if n <= most => Ok((n, unit)),
        (_, Some(word)) => Err(super::args::out_of_range(word, what, 1..=most.into())),
        (_, None) => unmodelled("no threshold"),
    }
}

/// What follows `no random-detect`.
pub(crate) fn remove<'a>(wred: &mut Wred<'a>, args: &mut Args<'a>) -> Result<(), Refusal> {
    if args.peek().is_none() {
        *wred = Wred::default();
        return Ok(());
    }
    match args.keyword(&KINDS, "dscp-based, prec-based, dscp, precedence, ecn")? {
        Kind::By(_) => *wred = Wred::default(),
        Kind::Dscp => {
            wred.dscp.remove(&args.dscp()?);
        }
        Kind::Precedence => {
            wred.precedence.remove(&args.precedence()?);
        }
        Kind::Weight => wred.weight = None,
        Kind::Ecn => wred.ecn = false,
        Kind::Foreign(reason) => return unmodelled(reason),
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
        let w = apply("prec-based\nprecedence 3 26 40 10").ok().unwrap();
        assert_eq!(w.precedence[&3].value.min, 26);
    }

    #[test]
    fn wrong_arguments_are_located() {
        for (text, column) in [
            ("dscp", 5),
            ("dscp af21", 10),
            ("dscp af21 24", 13),
            ("dscp af21 0 40", 11),
            ("dscp af21 42 24", 14),
            ("dscp af21 24 5000", 14),
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
        assert!(matches!(
            apply("dscp 10 20 ms 40 ms"),
            Err(Refusal::Unmodelled(_))
        ));
    }
}
