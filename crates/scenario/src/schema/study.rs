//! Studies: what is varied, at which points, and how often each of them is run.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::units::parse_dur;
use spillgate_core::{Dur, OneOrMany, Percent, textual};

use super::SlaMetric;

/// The scenario with some values replaced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VariantSpec {
    /// Its name in tables and figures.
    pub name: String,
    /// Values by path, as for `--set`: `topology.links.wan.policy: LLQ`.
    pub set: BTreeMap<String, serde_json::Value>,
}

/// An axis of a study: a name, and values that each replace something in the scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AxisSpec {
    /// Its name: a column of the results.
    pub name: String,
    /// The path whose value it replaces, or a list of paths that all get the same value, as for
    /// `--set`: `traffic.calls.count`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<OneOrMany<String>>,
    /// The values at that path, numbers or texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<serde_json::Value>>,
    /// In place of `values`: the least value of a range, a number or a quantity with its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<serde_json::Value>,
    /// The largest value of the range, of the same kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<serde_json::Value>,
    /// Whether values are spaced by equal differences or by equal ratios.
    #[serde(default, skip_serializing_if = "is_linear")]
    pub scale: Scale,
    /// How many values of the range the designs `full` and `paired` take, `from` and `to` among
    /// them. Drawn designs take any value of the range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 1_000_000))]
    pub steps: Option<u32>,
    /// In place of `set` and values: what fails, one after the other, each in a point of its own,
    /// beside a first point without that failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<Each>,
    /// The names of those that fail. Default: every link, or every node at which no flow begins or
    /// ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<Vec<String>>,
    /// When it fails, from the beginning of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Dur>,
    /// When it is repaired, from the beginning of the run, or `never`. Default never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<Repair>,
    /// In place of `set` and values: named values that replace something each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<VariantSpec>>,
}

/// What fails in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Each {
    /// Each link; of a `duplex` link both directions, of a group each member by itself.
    Link,
    /// Each node, with all its links.
    Node,
    /// Each two links together.
    Pair,
}

/// When something that failed is repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// This long after the beginning of the run.
    After(Dur),
    /// Not at all.
    Never,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::After(time) => time.fmt(f),
            Self::Never => f.write_str("never"),
        }
    }
}

textual!(
    Repair,
    "Repair",
    "a time with its unit, or `never`",
    |text: &str| match text {
        "never" => Ok(Repair::Never),
        time => parse_dur(time).map(Repair::After),
    },
    {
        "type": "string",
        "description": "A time from the beginning of the run, or `never`."
    }
);

fn is_linear(scale: &Scale) -> bool {
    *scale == Scale::Linear
}

/// How the values of a range are spaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// By equal differences.
    #[default]
    Linear,
    /// By equal ratios; `from` is above 0.
    Log,
}

/// At which points of its axes a scenario is run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StudySpec {
    /// Which combinations of the values of the axes are run, each with every variant.
    pub design: DesignSpec,
    /// When a point has enough runs. `runs.count` is then the most that a point gets. Default: each
    /// point has `runs.count` runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replication: Option<ReplicationSpec>,
}

/// When a point has enough runs: as soon as all of `until` are known well enough. Run i has the
/// same seeds at every point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplicationSpec {
    /// What is to be known, and how well.
    pub until: Vec<UntilSpec>,
    /// The runs of each point before one looks for the first time, at least 2. Default 5.
    #[serde(default = "five")]
    pub first: u32,
    /// The confidence of the intervals, which hold however often one looks. Default 95 %.
    #[serde(default = "usual")]
    pub confidence: Percent,
}

fn five() -> u32 {
    5
}

fn usual() -> Percent {
    Percent(0.95)
}

/// How well the mean of a metric is to be known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UntilSpec {
    /// Class of service.
    pub class: String,
    /// Its metric.
    pub metric: SlaMetric,
    /// Half the width of its interval, relative to its mean.
    pub within: Percent,
}

/// Which combinations of the values of axes are run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DesignSpec {
    /// All of them. The default.
    #[default]
    Full,
    /// The first values of all axes together, then the second ones, and so on.
    Paired,
    /// Each value drawn by itself.
    Random(DrawnSpec),
    /// Drawn so that each of as many equal parts of each axis as there are points holds one point.
    LatinHypercube(DrawnSpec),
    /// A scrambled Sobol sequence, whose points fill the space of all axes evenly.
    Sobol(DrawnSpec),
    /// Points that another program has chosen.
    Given(GivenSpec),
}

impl DesignSpec {
    /// As it is written.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Paired => "paired",
            Self::Random(_) => "random",
            Self::LatinHypercube(_) => "latin-hypercube",
            Self::Sobol(_) => "sobol",
            Self::Given(_) => "given",
        }
    }

    /// Its settings, if its points are drawn.
    pub const fn drawn(&self) -> Option<DrawnSpec> {
        match self {
            Self::Full | Self::Paired | Self::Given(_) => None,
            Self::Random(d) | Self::LatinHypercube(d) | Self::Sobol(d) => Some(*d),
        }
    }
}

/// How points are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DrawnSpec {
    /// How many points.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub points: u32,
    /// The seed of the points, which has nothing to do with that of the runs. Default 1.
    #[serde(default = "super::one")]
    pub seed: u32,
}

/// Points as their places on the axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GivenSpec {
    /// For each point a number from 0 to 1 for each axis: how far it is along a range, by its
    /// scale, or which of the listed values it has, each of which has an equal part of the axis.
    pub points: Vec<Vec<f64>>,
}
