//! Requirements, in the scenario and in files of customers.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dscp, Percent};
use spillgate_measure::{Metric, Tag};

use super::Literal;

/// One requirement: a bound on a metric of a class, or a preset of bounds for a class, or a file of
/// requirements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlaSpec {
    /// Class of service (of `traffic`) that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Counts only packets of the class that arrived or were lost with this code point, for example
    /// those that a policy has marked as in profile. For throughput, losses and one-way delays of a
    /// whole class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Dscp>,
    /// The metric that is bounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<SlaMetric>,
    /// Upper bound, in the metric's unit: a time, a percentage, a rate, a number of transfers, a
    /// number on a scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Literal>,
    /// Lower bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Literal>,
    /// Whether it is to hold for certain, whatever happens, and not only in the mean of the runs:
    /// for an upper bound on a one-way delay or the loss ratio. It is proven where `spillgate
    /// bound` finds nothing above `max`, refuted by a single run that has more. Default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub certain: bool,
    /// In place of metric and bound: published objectives, such as `y1541-class-0`. `spillgate
    /// list objectives` names them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// The share of the preset's end-to-end bounds that the simulated network may use. Default
    /// 100 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<Percent>,
    /// In place of everything else: a file with the requirements of a customer (YAML), or of
    /// several (CSV); path relative to the scenario file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// The requirements of one customer: a file of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CustomerSpec {
    /// The customer's name.
    pub customer: String,
    /// Requirements on all flows of a class, as under `sla` of a scenario.
    #[serde(default)]
    pub objectives: Vec<SlaSpec>,
    /// Requirements on the flows of a site.
    #[serde(default)]
    pub sites: Vec<SiteSpec>,
}

/// A site of a customer: the flows that begin or end there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SiteSpec {
    /// The site's name.
    pub name: String,
    /// Nodes of the topology, or groups of them, that are at the site.
    pub nodes: Vec<String>,
    /// Requirements on its flows, by class.
    pub objectives: Vec<SlaSpec>,
}

/// How requirements are judged.
// What is as always is not written: fingerprints of scenarios are made of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VerdictsSpec {
    /// Whether the confidence level holds for each verdict or for all of them together.
    pub correction: Correction,
    /// The confidence level of verdicts, at least 50 % and below 100 %. Default 95 %.
    #[serde(skip_serializing_if = "is_usual")]
    pub level: Percent,
    /// How often one may look at the verdicts with that level. Default any.
    #[serde(skip_serializing_if = "Looks::is_any")]
    pub looks: Looks,
    /// The variant that the others are compared with, run by run, or `all`: every two variants.
    /// Default: the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
}

impl VerdictsSpec {
    /// What `against` says where every two variants are compared.
    pub const ALL: &str = "all";

    /// The level where nobody says another.
    pub const LEVEL: Percent = Percent(0.95);
}

impl Default for VerdictsSpec {
    fn default() -> Self {
        Self {
            correction: Correction::None,
            level: Self::LEVEL,
            looks: Looks::Any,
            against: None,
        }
    }
}

fn is_usual(level: &Percent) -> bool {
    *level == VerdictsSpec::LEVEL
}

/// The correction for multiple verdicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Correction {
    /// None: each verdict by itself has the level.
    #[default]
    None,
    /// All verdicts together have the level: at 95 % each has `1 - 5 % / number` (Bonferroni).
    Bonferroni,
    /// All verdicts together have the level, step by step from the clearest to the least clear
    /// (Holm 1979): this decides at least as many as Bonferroni.
    Holm,
}

impl Correction {
    /// Its name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Bonferroni => "bonferroni",
            Self::Holm => "holm",
        }
    }
}

/// How often one looks at the verdicts of a study.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Looks {
    /// After any number of runs, and again after more: they hold however often one extends the
    /// study until they tell.
    #[default]
    Any,
    /// Once, after a number of runs that was fixed before: this needs about a third of the runs,
    /// and is wrong far more often than 5 % when one looks, adds runs and looks again.
    Once,
}

impl Looks {
    /// Its name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Once => "once",
        }
    }

    fn is_any(&self) -> bool {
        *self == Self::Any
    }
}

/// Metrics that an SLA can bound.
fn bounded() -> impl Iterator<Item = Metric> {
    let all = Metric::ALL.iter().copied();
    all.filter(|m| m.has(Tag::Required))
}

/// A metric that an SLA can bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlaMetric(Metric);

impl SlaMetric {
    /// The metric itself.
    pub const fn metric(self) -> Metric {
        self.0
    }
}

impl Serialize for SlaMetric {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.0.name())
    }
}

impl<'de> Deserialize<'de> for SlaMetric {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let name = String::deserialize(d)?;
        static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| bounded().map(Metric::name).collect());
        let known = bounded().find(|m| m.name() == name);
        known
            .map(Self)
            .ok_or_else(|| serde::de::Error::unknown_variant(&name, &NAMES))
    }
}

impl JsonSchema for SlaMetric {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SlaMetric".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let one = |m: Metric| serde_json::json!({"type": "string", "const": m.name(), "description": m.summary()});
        schemars::json_schema!({
            "description": "Metrics that an SLA can bound.",
            "oneOf": bounded().map(one).collect::<Vec<_>>(),
        })
    }
}
