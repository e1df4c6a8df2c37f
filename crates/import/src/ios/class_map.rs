//! `class-map`: the `match` lines.
//!
//! A class-map without criteria matches nothing (`show class-map` prints
//! `Match none`); without `match-any` all criteria must hold.

use spillgate_queueing::spec::PortRange;

use super::args::{Args, Modelled, unexpected};
use super::ast::{Criterion, Test};
use super::fault::{Refusal, unmodelled};
use super::interface_words::canonical;
use super::keyword::{Found, find};
use super::protocols::known;
use spillgate_core::suggest::nearest;

#[derive(Clone, Copy, PartialEq)]
enum CriterionKind {
    Any,
    Not,
    Ip,
    Ipv6,
    Dscp,
    Precedence,
    AccessGroup,
    Protocol,
    ClassMap,
    Mpls,
    Cos,
    QosGroup,
    Input,
}

type Known = Modelled<CriterionKind>;

const LAYER2: Known = Err("of layer 2, simulated packets have the CoS only");
const INTERNAL: Known = Err("of router-internal markings only the QoS group is simulated");
const DISCARD: Known =
    Err("the discard class is not simulated; a QoS group, set in the same place, is");
const TRAFFIC: Known =
    Err("the traffic class of a router is not simulated; a QoS group, set in the same place, is");

const KINDS: [(&str, Known); 27] = [
    ("access-group", Ok(CriterionKind::AccessGroup)),
    ("any", Ok(CriterionKind::Any)),
    (
        "application",
        Err("applications are recognized by payload, which simulated packets lack"),
    ),
    ("atm", LAYER2),
    ("class-map", Ok(CriterionKind::ClassMap)),
    ("cos", Ok(CriterionKind::Cos)),
    ("destination-address", LAYER2),
    ("discard-class", DISCARD),
    ("dscp", Ok(CriterionKind::Dscp)),
    ("ethernet", LAYER2),
    ("flow", Err("flow attributes are not simulated")),
    ("fr-de", LAYER2),
    ("fr-dlci", LAYER2),
    ("input-interface", Ok(CriterionKind::Input)),
    ("ip", Ok(CriterionKind::Ip)),
    ("ipv6", Ok(CriterionKind::Ipv6)),
    ("mpls", Ok(CriterionKind::Mpls)),
    ("not", Ok(CriterionKind::Not)),
    ("packet", Err("match on packet length is not modelled")),
    ("port-type", INTERNAL),
    ("precedence", Ok(CriterionKind::Precedence)),
    ("protocol", Ok(CriterionKind::Protocol)),
    ("qos-group", Ok(CriterionKind::QosGroup)),
    ("source-address", LAYER2),
    ("traffic-class", TRAFFIC),
    ("vlan", LAYER2),
    ("vlans", LAYER2),
];

#[derive(Clone, Copy, PartialEq)]
enum IpKind {
    Dscp,
    Precedence,
    Rtp,
}

const IP_KINDS: [(&str, IpKind); 3] = [
    ("dscp", IpKind::Dscp),
    ("precedence", IpKind::Precedence),
    ("rtp", IpKind::Rtp),
];

/// A criterion, and a remark if it differs slightly from the meaning on the router.
pub(crate) struct ParsedMatch<'a> {
    pub(crate) criterion: Criterion<'a>,
    /// Column of the name or value that it tests.
    pub(crate) column: u32,
    pub(crate) remark: Option<&'static str>,
}

/// What follows `match`.
pub(crate) fn criterion<'a>(args: &mut Args<'a>) -> Result<ParsedMatch<'a>, Refusal> {
    const WHAT: &str = "what to match: dscp, precedence, access-group, protocol, class-map, any";
    let mut remark = None;
    let mut negated = false;
    let mut word = args.word(WHAT)?;
    let mut kind = resolve(word, WHAT)?;
    if kind == CriterionKind::Not {
        negated = true;
        word = args.word(WHAT)?;
        kind = resolve(word, WHAT)?;
    }
    let mut column = args.peek().map_or(word.column, |w| w.column);
    let test = match kind {
        CriterionKind::Any => Test::Any,
        CriterionKind::Dscp => dscp(args)?,
        CriterionKind::Precedence => precedence(args)?,
        CriterionKind::Ip | CriterionKind::Ipv6 => {
            if kind == CriterionKind::Ipv6 {
                remark = Some("simulated packets have no IP version: taken for every packet");
            }
            match args.keyword(&IP_KINDS, "dscp, precedence or rtp")? {
                IpKind::Dscp => dscp(args)?,
                IpKind::Precedence => precedence(args)?,
                IpKind::Rtp => {
                    remark = Some(
                        "every port of the range is matched, not only the even ones that carry RTP",
                    );
                    rtp(args)?
                }
            }
        }
        CriterionKind::Mpls => exp(args)?,
        CriterionKind::Cos => {
            if args.take("inner") {
                return unmodelled("simulated frames have one tag: there is no inner CoS");
            }
            Test::Cos(args.all(Args::cos)?)
        }
        CriterionKind::QosGroup => Test::QosGroup(args.all(Args::qos_group)?),
        CriterionKind::Input => {
            let first = args.name("the name of an interface")?;
            let mut name = first.text.to_owned();
            // The type and the number may be two words.
            if args.peek().is_some() {
                name.push_str(args.name("the number of the interface")?.text);
            }
            Test::Input(canonical(&name))
        }
        CriterionKind::AccessGroup => {
            if !args.take("name") && args.words().nth(1).is_some() {
                // IOS XR names the family before the list.
                args.take_exact(FAMILIES);
            }
            let name = args.name("the name or number of an access list")?;
            column = name.column;
            Test::Acl(name.text)
        }
        CriterionKind::ClassMap => Test::ClassMap(args.name("the name of a class-map")?.text),
        CriterionKind::Protocol => {
            let name = args.name("the name of a protocol")?;
            let Some(protocol) = known(name.text) else {
                return unmodelled(format!(
                    "protocol `{}` is recognized by payload or outside IP: no well-known port stands for it",
                    name.text
                ));
            };
            if args.peek().is_some() {
                return unmodelled(format!("`{}` of the payload is not simulated", args.rest()));
            }
            Test::Protocol(protocol)
        }
        CriterionKind::Not => return Err(unexpected(word, "one `not` at most")),
    };
    args.finish()?;
    Ok(ParsedMatch {
        criterion: Criterion { negated, test },
        column,
        remark,
    })
}

fn resolve(word: super::lexer::Word<'_>, what: &str) -> Result<CriterionKind, Refusal> {
    match find(&KINDS, word.text) {
        Found::Exact(kind) | Found::Prefix(kind) => kind.or_else(unmodelled),
        Found::Ambiguous(names) => Err(super::args::ambiguous(word, &names)),
        Found::None => {
            let what = match nearest(word.text, KINDS.iter().map(|(name, _)| *name)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => what.to_owned(),
            };
            Err(Refusal::NotUnderstood(format!(
                "`match {}` is not understood; {what}",
                word.text
            )))
        }
    }
}

/// Address families that IOS XR writes before values.
const FAMILIES: &str = "ipv4 ipv6";

fn dscp<'a>(args: &mut Args<'a>) -> Result<Test<'a>, Refusal> {
    args.take_exact(FAMILIES);
    Ok(Test::Dscp(args.all(Args::dscp)?))
}

fn precedence<'a>(args: &mut Args<'a>) -> Result<Test<'a>, Refusal> {
    args.take_exact(FAMILIES);
    Ok(Test::Precedence(args.all(Args::precedence)?))
}

/// `match mpls experimental [topmost] VALUE...`: without the keyword of the top label, too.
fn exp<'a>(args: &mut Args<'a>) -> Result<Test<'a>, Refusal> {
    args.keyword(&[("experimental", ())], "experimental")?;
    args.take("topmost");
    Ok(Test::Exp(args.all(Args::exp)?))
}

/// `match ip rtp FIRST COUNT`: UDP destination ports FIRST to FIRST + COUNT.
fn rtp<'a>(args: &mut Args<'a>) -> Result<Test<'a>, Refusal> {
    let first = args.number("the first UDP port", 2000..=65535)?;
    let count = args.number("the length of the port range", 0..=16383)?;
    let last = (first + count).min(65535);
    Ok(Test::RtpPorts(PortRange {
        first: first as u16,
        last: last as u16,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::lexer::lines;
    use super::*;

    fn parse(text: &str) -> Result<Criterion<'_>, Refusal> {
        let line = lines(text).next().unwrap();
        criterion(&mut Args::new(line.words())).map(|p| p.criterion)
    }

    fn dscps(values: &[&str]) -> Test<'static> {
        Test::Dscp(values.iter().map(|v| v.parse().unwrap()).collect())
    }

    #[test]
    fn every_form_of_match() {
        let table: [(&str, bool, Test<'_>); 26] = [
            ("cos 5", false, Test::Cos(vec![5])),
            ("not cos 0 1 2", true, Test::Cos(vec![0, 1, 2])),
            ("qos-group 99", false, Test::QosGroup(vec![99])),
            ("qos 0 511", false, Test::QosGroup(vec![0, 511])),
            (
                "input-interface gi0/0/1.7",
                false,
                Test::Input("GigabitEthernet0/0/1.7".to_owned()),
            ),
            (
                "not input FastEthernet 0/1",
                true,
                Test::Input("FastEthernet0/1".to_owned()),
            ),
            ("dscp ipv4 ef", false, dscps(&["ef"])),
            ("access-group ipv4 VOICE", false, Test::Acl("VOICE")),
            ("access-group ipv4", false, Test::Acl("ipv4")),
            ("any", false, Test::Any),
            ("dscp ef", false, dscps(&["46"])),
            (
                "dscp AF41 34 cs3 default",
                false,
                dscps(&["34", "34", "24", "0"]),
            ),
            ("ip dscp 46", false, dscps(&["ef"])),
            ("ipv6 dscp 46", false, dscps(&["ef"])),
            ("not dscp ef", true, dscps(&["ef"])),
            ("not ip dscp ef", true, dscps(&["ef"])),
            ("precedence 5", false, Test::Precedence(vec![5])),
            ("ip prec critical net", false, Test::Precedence(vec![5, 7])),
            (
                "precedence flash flash-o",
                false,
                Test::Precedence(vec![3, 4]),
            ),
            ("access-group 101", false, Test::Acl("101")),
            ("access-group name \"my list\"", false, Test::Acl("my list")),
            ("acc name VOICE", false, Test::Acl("VOICE")),
            ("class-map OTHER", false, Test::ClassMap("OTHER")),
            ("not class-map OTHER", true, Test::ClassMap("OTHER")),
            ("protocol SIP", false, Test::Protocol(known("sip").unwrap())),
            (
                "ip rtp 16384 16383",
                false,
                Test::RtpPorts(PortRange {
                    first: 16384,
                    last: 32767,
                }),
            ),
        ];
        for (text, negated, test) in table {
            assert_eq!(parse(text), Ok(Criterion { negated, test }), "{text}");
        }
    }

    #[test]
    fn what_simulated_packets_lack_is_unmodelled() {
        for text in [
            "cos inner 5",
            "discard-class 3",
            "traffic-class 3",
            "protocol youtube",
            "protocol http url \"*.gif\"",
            "vlan 10",
            "fr-dlci 100",
            "bogus 3",
        ] {
            let listed = Refusal::Unmodelled(String::new());
            let bogus = Refusal::NotUnderstood(String::new());
            let expected = if text.starts_with("bogus") {
                bogus
            } else {
                listed
            };
            let same = |r: Refusal| std::mem::discriminant(&r) == std::mem::discriminant(&expected);
            assert!(parse(text).is_err_and(same), "{text}");
        }
    }

    #[test]
    fn wrong_arguments_are_located() {
        let table = [
            ("dscp", 5, "an argument is missing"),
            ("dscp 64", 6, "`64` is out of range"),
            ("dscp af14", 6, "`af14` does not fit here"),
            ("dscp ef xx", 9, "`xx` does not fit here"),
            ("precedence 8", 12, "`8` is out of range"),
            ("mpls experimental topmost 8", 27, "`8` is out of range"),
            ("cos 8", 5, "`8` is out of range"),
            ("cos", 4, "an argument is missing"),
            ("qos-group 512", 11, "`512` is out of range"),
            ("input-interface", 16, "an argument is missing"),
            ("input-interface Gi 0/1 x", 24, "`x` does not fit here"),
            ("mpls experimental", 18, "an argument is missing"),
            ("mpls label 5", 6, "`label` does not fit here"),
            ("precedence fla", 12, "`fla` is ambiguous"),
            ("any thing", 5, "`thing` does not fit here"),
            ("access-group", 13, "an argument is missing"),
            ("class-map \"x", 11, "the quote is never closed"),
            ("not not any", 5, "`not` does not fit here"),
            ("ip rtp 16384 20000", 14, "`20000` is out of range"),
        ];
        for (text, column, message) in table {
            match parse(text) {
                Err(Refusal::Wrong(f)) => {
                    assert_eq!((f.column, f.message.as_str()), (column, message), "{text}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}
