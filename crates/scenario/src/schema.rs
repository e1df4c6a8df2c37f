//! The scenario file as written: the one source of truth from which the JSON
//! Schema, the documentation and the error messages come.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::Dur;
use spillgate_queueing::spec::DisciplineSpec;
use spillgate_voice::spec::VoiceSpec;

use crate::import::Platform;

mod agreement;
mod capture;
mod counting;
mod irregular;
mod literal;
mod measured;
mod pattern;
mod sla;
mod study;
mod topology;
mod traffic;
mod warmup;

pub use agreement::AgreementsSpec;
pub use capture::{CaptureDirection, CaptureGroup, CaptureMatch, CaptureSpec, IpNetSpec};
pub use counting::{PartsSpec, PolicyOverhead};
pub use irregular::{GilbertElliottSpec, LossSpec, ReorderSpec};
pub use literal::Literal;
pub use measured::{Direction, MatrixSpec, MeasuredClassSpec, MeasuredSource, ShowPolicyMapSpec};
pub use pattern::{DiagonalSpec, HotspotSpec, PatternSpec, PermutationSpec};
pub use sla::{Correction, CustomerSpec, Looks, SiteSpec, SlaMetric, SlaSpec, VerdictsSpec};
pub use study::{
    AxisSpec, DesignSpec, DrawnSpec, Each, GivenSpec, Repair, ReplicationSpec, Scale, StudySpec,
    UntilSpec, VariantSpec,
};
pub use topology::{DescribedSpec, FailureSpec, LinkSpec, NodeSpec, RoutingSpec, Topology};
pub use traffic::{CsvSpec, FlowSpec, SessionsSpec, TrafficSpec};
pub use warmup::Warmup;

fn one() -> u32 {
    1
}

/// A scenario: topology, policies, traffic, measurement and requirements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Version of this format. This release reads version 1.
    #[schemars(range(min = 1, max = 1))]
    pub schema_version: u32,
    /// A title for reports.
    #[serde(default)]
    pub name: String,
    /// What the scenario is about.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Nodes and links.
    pub topology: Topology,
    /// Router configurations whose policy-maps join `policies`; paths relative to this file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub configs: Vec<ConfigSpec>,
    /// Policies by name, for `policy` of links and classes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub policies: BTreeMap<String, DisciplineSpec>,
    /// Tables of customers with traffic-conditioning agreements, whose lines become classes of
    /// policies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agreements: Vec<AgreementsSpec>,
    /// The flows.
    pub traffic: Vec<TrafficSpec>,
    /// Classes of service that carry speech: class -> codec and de-jitter buffer of the listener.
    /// Their flows then have a rating `r_factor` and `mos`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub voice: BTreeMap<String, VoiceSpec>,
    /// What is measured, and when.
    #[serde(default)]
    pub measurement: MeasurementSpec,
    /// What the result must satisfy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sla: Vec<SlaSpec>,
    /// How requirements are judged.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub verdicts: VerdictsSpec,
    /// How many independent runs, and their seed.
    #[serde(default)]
    pub runs: RunsSpec,
    /// The same scenario with some values replaced, run under the same seeds and shown side by
    /// side.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<VariantSpec>,
    /// Parameters that are varied: in all combinations with each other and with the variants, or as
    /// `study` says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub axes: Vec<AxisSpec>,
    /// At which points of the axes it is run. Default: at all combinations of their values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub study: Option<StudySpec>,
}

fn is_usual(verdicts: &VerdictsSpec) -> bool {
    *verdicts == VerdictsSpec::default()
}

/// The configuration of a router, or of a Linux host: one of `ios` and `tc`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigSpec {
    /// Path of a configuration of Cisco IOS, relative to the scenario file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ios: Option<String>,
    /// Path of a script of commands of Linux `tc`, relative to the scenario file. The policies of
    /// its devices have their names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tc: Option<String>,
    /// The platform that gives commands of IOS their meaning. Default `ios`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub platform: Platform,
    /// A prefix of the names of its policies in the scenario, such as `core-`, so that several
    /// configurations may have policy-maps of the same names. Default: none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    /// Interfaces whose output service-policy and bandwidth go to a link: interface name -> link
    /// name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub interfaces: BTreeMap<String, String>,
}

/// What a configuration is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    /// Commands of Cisco IOS.
    Ios,
    /// Commands of Linux `tc`.
    Tc,
}

impl Language {
    /// The key of [`ConfigSpec`] that names such a file.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Ios => "ios",
            Self::Tc => "tc",
        }
    }
}

impl ConfigSpec {
    /// Its file and what that is written in; none unless exactly one is named.
    pub fn source(&self) -> Option<(Language, &str)> {
        match (&self.ios, &self.tc) {
            (Some(file), None) => Some((Language::Ios, file)),
            (None, Some(file)) => Some((Language::Tc, file)),
            _ => None,
        }
    }

    /// Its file; empty unless exactly one is named.
    pub fn file(&self) -> &str {
        self.source().map_or("", |(_, file)| file)
    }

    /// Whose meaning its commands have, in words.
    pub fn meaning(&self) -> String {
        match self.source() {
            Some((Language::Tc, _)) => "Linux tc".to_owned(),
            _ => format!("platform {}", self.platform.name()),
        }
    }

    /// The key that names its file.
    pub fn key(&self) -> &'static str {
        self.source().map_or(Language::Ios, |(l, _)| l).key()
    }
}

fn is_default(platform: &Platform) -> bool {
    *platform == Platform::default()
}

/// What is measured, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MeasurementSpec {
    /// Packets sent before this time are carried but not counted. With `auto` a pilot run without a
    /// warm-up finds the time: the run grows longer until the rate and the delay of each class have
    /// settled. Default 5 s.
    pub warmup: Warmup,
    /// Length of the measured period after the warm-up. Default 60 s.
    pub duration: Dur,
    /// How long after the measured period the run waits for its packets and transfers, beside the
    /// propagation delay of their path. The fate of packets that are still in flight then is
    /// unknown, and may leave a verdict undecided. Default: a tenth of the measured period; if that
    /// is less than 1 s, half of the period or 1 s, whichever is less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace: Option<Dur>,
    /// Period of the time series of backlogs and rates. Default 1 s.
    pub interval: Dur,
    /// The links and switches that have time series, by name; a switch has them for its virtual
    /// output queues, and the name of a group stands for all its members. Each takes time and
    /// memory. Default: the 20 links with the highest offered load relative to their rate, and the
    /// first switches with up to 256 queues together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<Vec<String>>,
    /// The period in which the longest time between arrivals of each flow is measured: `gap_max`.
    /// Default: not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gaps: Option<GapsSpec>,
    /// Percentiles beside those of delays, each of which takes time. Default: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub percentiles: Vec<Percentiles>,
}

/// Values with percentiles, beside delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Percentiles {
    /// The backlog of queues over time, in packets and in bytes: `backlog_packets_p95`.
    Backlog,
}

/// The period in which the longest time between arrivals of each flow is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GapsSpec {
    /// When it begins, from the beginning of the run. A gap that is under way then counts from the
    /// last arrival before. Default: with the measured period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Dur>,
    /// When it ends; open gaps end too. Default: with the measured period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Dur>,
}

impl Default for MeasurementSpec {
    fn default() -> Self {
        Self {
            warmup: Warmup::For(Dur::from_secs(5)),
            duration: Dur::from_secs(60),
            grace: None,
            interval: Dur::from_secs(1),
            series: None,
            gaps: None,
            percentiles: Vec::new(),
        }
    }
}

/// Runs and their seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunsSpec {
    /// Independent runs. Default 10; intervals need at least 2.
    #[schemars(range(min = 1, max = 100_000))]
    pub count: u32,
    /// Master seed. Default 1.
    pub seed: u64,
}

impl Default for RunsSpec {
    fn default() -> Self {
        Self { count: 10, seed: 1 }
    }
}
