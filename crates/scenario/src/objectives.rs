//! Published service objectives: end-to-end requirements of a class.
//!
//! A preset is a list of bounds from a published table, each judged by one
//! metric. A requirement may claim a `share` of them for the part of the way
//! that is simulated. Every bound is multiplied by the share:
//!
//! * delays add up along a way, and so do their means: exact;
//! * losses p of parts in a row add up to 1 - Π(1 - p) <= Σ p: on the safe side, by less than
//!   p²;
//! * delay variations (a quantile less the minimum) do not add up. The sum is what they give if
//!   all parts are slow at once; independent parts give less (ITU-T Y.1541 clause 8.2.4 combines
//!   means, variances and skewness). On the safe side, not a guarantee for parts that depend on
//!   each other with heavy tails.

use spillgate_measure::Metric;

/// Objectives of one publication for one class of service.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preset {
    /// Its name in scenarios.
    pub name: &'static str,
    /// The applications for which it is intended.
    pub summary: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// Its bounds.
    pub objectives: &'static [Objective],
}

/// One bound of a preset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Objective {
    /// The name in its publication.
    pub parameter: &'static str,
    /// The metric that judges it.
    pub metric: Metric,
    /// Upper bound from end to end in the metric's base unit: seconds or a ratio.
    pub max: f64,
}

const fn at_most(parameter: &'static str, metric: Metric, max: f64) -> Objective {
    Objective {
        parameter,
        metric,
        max,
    }
}

const fn preset(
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    objectives: &'static [Objective],
) -> Preset {
    Preset {
        name,
        summary,
        source,
        objectives,
    }
}

/// Mean transfer delay.
const fn iptd(max: f64) -> Objective {
    at_most("IPTD", Metric::OwdMean, max)
}

/// The 1 - 10^-3 quantile less the minimum.
const IPDV: Objective = at_most("IPDV", Metric::Pdv, 0.05);
/// The 1 - 10^-5 quantile less the minimum.
const IPDV_STRICT: Objective = at_most("IPDV", Metric::PdvP99999, 0.05);

/// Loss ratio.
const fn iplr(max: f64) -> Objective {
    at_most("IPLR", Metric::LossRatio, max)
}

const Y1541: &str = "ITU-T Y.1541 (12/2011) Table 1; errors (IPER) are not modelled";
const Y1541_PROVISIONAL: &str = "ITU-T Y.1541 (12/2011) Table 3, provisional; errors (IPER) and reordering (IPRR) are not judged";
const G114: &str = "ITU-T G.114 (05/2003) clause 4, one-way mouth-to-ear delay";
const SRND: &str =
    "Cisco, Enterprise QoS Solution Reference Network Design Guide 3.3 (2005), chapter 1";

const CONVERSATION: &[Objective] = &[
    at_most("latency", Metric::OwdP999, 0.15),
    at_most("jitter", Metric::Jitter, 0.03),
    at_most("loss", Metric::LossRatio, 0.01),
];

/// Every preset.
pub const PRESETS: &[Preset] = &[
    preset(
        "y1541-class-0",
        "real time, sensitive to jitter, highly interactive",
        Y1541,
        &[iptd(0.1), IPDV, iplr(1e-3)],
    ),
    preset(
        "y1541-class-1",
        "real time, sensitive to jitter, interactive",
        Y1541,
        &[iptd(0.4), IPDV, iplr(1e-3)],
    ),
    preset(
        "y1541-class-2",
        "transactions, highly interactive",
        Y1541,
        &[iptd(0.1), iplr(1e-3)],
    ),
    preset(
        "y1541-class-3",
        "transactions, interactive",
        Y1541,
        &[iptd(0.4), iplr(1e-3)],
    ),
    preset(
        "y1541-class-4",
        "low loss only: short transactions, bulk data, video streaming",
        Y1541,
        &[iptd(1.0), iplr(1e-3)],
    ),
    preset(
        "y1541-class-5",
        "traditional applications: states no objective",
        Y1541,
        &[],
    ),
    preset(
        "y1541-class-6",
        "class 0 for high-rate users: digital television, circuit emulation",
        Y1541_PROVISIONAL,
        &[iptd(0.1), IPDV_STRICT, iplr(1e-5)],
    ),
    preset(
        "y1541-class-7",
        "class 1 for high-rate users",
        Y1541_PROVISIONAL,
        &[iptd(0.4), IPDV_STRICT, iplr(1e-5)],
    ),
    preset(
        "g114-preferred",
        "speech: most applications are hardly affected below",
        G114,
        &[at_most("delay", Metric::OwdP999, 0.15)],
    ),
    preset(
        "g114-limit",
        "speech: not to be exceeded in network planning",
        G114,
        &[at_most("delay", Metric::OwdP999, 0.4)],
    ),
    preset(
        "cisco-voice",
        "telephony (EF; RFC 4594 telephony)",
        SRND,
        CONVERSATION,
    ),
    preset(
        "cisco-interactive-video",
        "video conferencing (AF41; RFC 4594 multimedia conferencing)",
        SRND,
        CONVERSATION,
    ),
    preset(
        "cisco-streaming-video",
        "video streaming (CS4; RFC 4594 multimedia streaming)",
        SRND,
        &[
            at_most("latency", Metric::OwdP999, 5.0),
            at_most("loss", Metric::LossRatio, 0.05),
        ],
    ),
];

impl Preset {
    /// The preset of that name.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|p| p.name == name)
    }
}

impl Objective {
    /// The bound of a part of the path that may take `share` of the whole, 0 to 1.
    pub fn part(&self, share: f64) -> f64 {
        // Decimal bounds stay decimal: 10 % of 100 ms is 10 ms, not 10.000000000000002.
        let scaled = self.max * share;
        let digits = format!("{scaled:.12e}");
        digits.parse().unwrap_or(scaled)
    }

    /// The bound as a reader writes it.
    pub fn bound(&self) -> String {
        match self.metric {
            Metric::LossRatio => format!("{} %", self.max * 100.0),
            _ => format!("{} ms", self.max * 1e3),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_have_the_numbers_of_their_tables() {
        // Y.1541 Table 1 and Table 3: IPTD and IPDV in ms, IPLR.
        let table = [
            (0, Some(100.0), Some(50.0), Some(1e-3)),
            (1, Some(400.0), Some(50.0), Some(1e-3)),
            (2, Some(100.0), None, Some(1e-3)),
            (3, Some(400.0), None, Some(1e-3)),
            (4, Some(1000.0), None, Some(1e-3)),
            (5, None, None, None),
            (6, Some(100.0), Some(50.0), Some(1e-5)),
            (7, Some(400.0), Some(50.0), Some(1e-5)),
        ];
        for (class, iptd, ipdv, iplr) in table {
            let preset = Preset::by_name(&format!("y1541-class-{class}")).unwrap();
            let get = |parameter| {
                let found = preset.objectives.iter().find(|o| o.parameter == parameter);
                found.map(|o| o.max)
            };
            assert_eq!(get("IPTD").map(|s| s * 1e3), iptd, "class {class}");
            assert_eq!(get("IPDV").map(|s| s * 1e3), ipdv, "class {class}");
            assert_eq!(get("IPLR"), iplr, "class {class}");
            // The quantile of the variation is finer where losses are.
            let strict = preset
                .objectives
                .iter()
                .any(|o| o.metric == Metric::PdvP99999);
            assert_eq!(strict, class >= 6);
        }
        assert_eq!(Preset::by_name("y1541"), None);
    }

    #[test]
    fn shares_keep_decimal_bounds() {
        assert_eq!(iptd(0.1).part(0.1), 0.01);
        assert_eq!(iptd(0.1).part(1.0), 0.1);
        assert_eq!(iplr(1e-3).part(0.3), 3e-4);
        assert_eq!(IPDV.part(0.35), 0.0175);
        assert_eq!(
            (IPDV.bound(), iplr(1e-3).bound()),
            ("50 ms".to_owned(), "0.1 %".to_owned())
        );
    }
}
