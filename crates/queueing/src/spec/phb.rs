//! Per-hop behaviors of differentiated services, by name, as shorthand for what a class can say.
//!
//! Sources: RFC 2474 (default and class selectors), RFC 2597 (assured forwarding), RFC 3246
//! (expedited forwarding), RFC 8622 (lower effort). The RFCs say how packets are to be treated, not
//! by which mechanism; the mechanisms here are those of Cisco IOS. The thresholds of assured
//! forwarding are not: those of IOS share a maximum, so that under a load which does not yield what
//! is in profile is dropped with the rest, where RFC 2597 section 2 wants a committed rate to be
//! kept.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer};
use spillgate_core::textual;
use spillgate_core::{Dscp, Limit, Rate, RateOrPercent};

use super::{ClassSpec, MatchSpec, OneOrMany, PrioritySpec};
use crate::aqm::{AqmSpec, WredDefaults, WredSpec, WredUnit};

/// A per-hop behavior.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phb {
    /// Expedited forwarding (RFC 3246): first, ahead of all other classes.
    Ef,
    /// Assured forwarding, class 1..=4, with three drop precedences (RFC 2597).
    Af(u8),
    /// Class selector 1..=7 (RFC 2474 section 4.2.2).
    Cs(u8),
    /// Best effort (RFC 2474 section 4.1); class selector 0 is the same.
    Default,
    /// Lower effort (RFC 8622): what the others leave.
    Le,
}

/// Other names of the default behavior.
const OTHER_NAMES: [&str; 2] = ["be", "cs0"];

/// The share of lower effort: so little that it is none while another class has packets. RFC 8622
/// allows no more than resources that are otherwise unused.
fn scraps() -> Option<RateOrPercent> {
    Rate::from_bps(1).map(RateOrPercent::Rate)
}

impl Phb {
    /// Every behavior, in the order of lists.
    pub fn all() -> impl Iterator<Item = Self> {
        let first = [Self::Default, Self::Le, Self::Ef];
        let af = (1..=4).map(Self::Af);
        let cs = (1..=7).map(Self::Cs);
        first.into_iter().chain(af).chain(cs)
    }

    /// Its code points, the lowest drop precedence first: three of assured forwarding, one of any
    /// other.
    pub fn code_points(self) -> Vec<Dscp> {
        match self {
            Self::Ef => vec![Dscp::EF],
            Self::Af(class) => (1..=3).filter_map(|p| Dscp::af(class, p)).collect(),
            Self::Cs(class) => vec![Dscp::class_selector(class)],
            Self::Default => vec![Dscp::DEFAULT],
            Self::Le => Dscp::new(1).into_iter().collect(),
        }
    }
}

impl ClassSpec {
    /// Fills in what its PHB stands for and the class does not say itself.
    pub(super) fn fill_phb(mut self) -> Self {
        let Some(phb) = self.phb else { return self };
        if self.matching.is_none() && self.name != crate::tree::DEFAULT {
            self.matching = Some(MatchSpec {
                dscp: Some(OneOrMany(phb.code_points())),
                ..MatchSpec::default()
            });
        }
        let own = self.policy.is_some() || self.queueing_keys().any(|(_, set)| set);
        let shared = self.bandwidth.is_some()
            || self.bandwidth_remaining.is_some()
            || self.bandwidth_remaining_ratio.is_some();
        match phb {
            // class-default is told that it cannot have priority.
            Phb::Ef if !own => self.priority = Some(PrioritySpec::default()),
            Phb::Af(_) if self.takes_wred() => {
                let unit = match self.waiting_limit() {
                    Limit::Packets(_) => WredUnit::Packets,
                    Limit::Bytes(_) | Limit::Time(_) => WredUnit::Bytes,
                };
                self.aqm = Some(AqmSpec::Wred(WredSpec {
                    unit,
                    defaults: WredDefaults::Staggered,
                    ..WredSpec::default()
                }));
            }
            Phb::Le if !shared && self.priority.is_none() => self.bandwidth = scraps(),
            Phb::Cs(_) | Phb::Default if !own => self.queue_limit = Some(Limit::Packets(64)),
            _ => {}
        }
        self
    }

    /// Whether its queue has nothing yet that drops by precedence, and WRED can stand before it.
    fn takes_wred(&self) -> bool {
        let decided = self.priority.is_some()
            || self.aqm.is_some()
            || self.policy.is_some()
            || self.flow_queue().is_some();
        !decided && !crate::tree::parts::has_thresholds(self)
    }

    /// Whether it is of lower effort by its PHB alone: its bandwidth is none that anybody wrote.
    pub(crate) fn has_scraps(&self) -> bool {
        self.phb == Some(Phb::Le) && self.bandwidth == scraps()
    }
}

/// Classes, with what their PHBs stand for.
pub(super) fn classes<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<ClassSpec>, D::Error> {
    let written = Vec::<ClassSpec>::deserialize(d)?;
    Ok(written.into_iter().map(ClassSpec::fill_phb).collect())
}

impl fmt::Display for Phb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ef => f.write_str("ef"),
            Self::Af(class) => write!(f, "af{class}"),
            Self::Cs(class) => write!(f, "cs{class}"),
            Self::Default => f.write_str("default"),
            Self::Le => f.write_str("le"),
        }
    }
}

impl FromStr for Phb {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.trim().to_ascii_lowercase();
        let other = OTHER_NAMES.contains(&&*name).then_some(Self::Default);
        let found = other.or_else(|| Self::all().find(|p| p.to_string() == name));
        found.ok_or_else(|| {
            let drop = name.parse::<Dscp>().is_ok_and(|d| {
                Self::all().any(|p| matches!(p, Self::Af(_)) && p.code_points().contains(&d))
            });
            match drop {
                true => format!(
                    "`{text}` is a code point of one drop precedence: the PHB is `{}`",
                    &name[..name.len().min(3)]
                ),
                false => format!(
                    "`{text}` is not a per-hop behavior: write default, le, ef, af1 .. af4 or cs0 .. cs7"
                ),
            }
        })
    }
}

textual!(
    Phb,
    "Phb",
    "a per-hop behavior: default, le, ef, af1 .. af4 or cs0 .. cs7",
    str::parse::<Phb>,
    {
        "type": "string",
        "enum": Phb::all().map(|p| p.to_string()).chain(OTHER_NAMES.map(str::to_owned)).collect::<Vec<_>>(),
        "description": "A per-hop behavior: default, le, ef, af1 .. af4 or cs1 .. cs7."
    }
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::ClassBasedSpec;

    /// The class that `json` is read as.
    fn class(json: &str) -> serde_json::Value {
        let policy: ClassBasedSpec =
            serde_json::from_str(&format!(r#"{{"classes": [{json}]}}"#)).unwrap();
        let written = serde_json::to_value(&policy).unwrap();
        // Read once more it says the same.
        let again: ClassBasedSpec = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(policy, again);
        written["classes"][0].clone()
    }

    #[track_caller]
    fn check(short: &str, long: &str) {
        let mut short = class(short);
        short.as_object_mut().unwrap().remove("phb");
        assert_eq!(short, class(long));
    }

    /// The table of the documentation.
    #[test]
    fn a_phb_stands_for_what_a_class_can_say() {
        check(
            r#"{"name": "v", "phb": "ef"}"#,
            r#"{"name": "v", "match": {"dscp": "ef"}, "priority": {}}"#,
        );
        check(
            r#"{"name": "a", "phb": "af3"}"#,
            r#"{"name": "a", "match": {"dscp": ["af31", "af32", "af33"]}, "aqm": {"wred": {"defaults": "staggered"}}}"#,
        );
        check(
            r#"{"name": "a", "phb": "af1", "queue_limit": "50 ms"}"#,
            r#"{"name": "a", "match": {"dscp": ["af11", "af12", "af13"]}, "queue_limit": "50 ms", "aqm": {"wred": {"defaults": "staggered", "unit": "bytes"}}}"#,
        );
        check(
            r#"{"name": "c", "phb": "cs6"}"#,
            r#"{"name": "c", "match": {"dscp": "cs6"}, "queue_limit": "64 packets"}"#,
        );
        check(
            r#"{"name": "d", "phb": "default"}"#,
            r#"{"name": "d", "match": {"dscp": 0}, "queue_limit": "64 packets"}"#,
        );
        check(
            r#"{"name": "l", "phb": "le"}"#,
            r#"{"name": "l", "match": {"dscp": "le"}, "bandwidth": "1 b/s"}"#,
        );
        check(
            r#"{"name": "class-default", "phb": "cs0"}"#,
            r#"{"name": "class-default", "queue_limit": "64 packets"}"#,
        );
    }

    #[test]
    fn what_a_class_says_itself_stays() {
        for (phb, own) in [
            ("ef", r#""match": {"exp": 5}, "bandwidth": "1 Mb/s""#),
            (
                "ef",
                r#""match": {"dscp": "cs5"}, "priority": {"level": 2}"#,
            ),
            ("af1", r#""match": {"dscp": "af11"}, "aqm": {"rio": {}}"#),
            ("af1", r#""match": {"dscp": "af11"}, "fq_codel": {}"#),
            (
                "af1",
                r#""match": {"dscp": "af11"}, "queue_limit_dscp": {"af12": "9 packets"}"#,
            ),
            (
                "le",
                r#""match": {"dscp": "cs1"}, "bandwidth_remaining": "1 %""#,
            ),
            ("cs3", r#""match": {"dscp": "cs3"}, "fair_queue": {}"#),
        ] {
            let with = format!(r#"{{"name": "x", "phb": "{phb}", {own}}}"#);
            check(&with, &format!(r#"{{"name": "x", {own}}}"#));
        }
    }

    #[test]
    fn names_are_read_back_and_others_refused() {
        for phb in Phb::all() {
            assert_eq!(phb.to_string().parse(), Ok(phb));
        }
        assert_eq!("CS0".parse(), Ok(Phb::Default));
        let e = "af13".parse::<Phb>().unwrap_err();
        assert!(e.ends_with("the PHB is `af1`"), "{e}");
        assert!("af5".parse::<Phb>().is_err());
        assert!("cs8".parse::<Phb>().is_err());
    }
}
